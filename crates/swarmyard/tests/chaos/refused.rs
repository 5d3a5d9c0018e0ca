//! Those who do not belong here, and messages that nobody of ours sent: refused and named, and the run does not notice.

use crate::yard::{AGES, Host, Run, TICKS, alone, done, folder, swarmyard, undisturbed};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use swarmyard_cluster::host::{Host as Lender, Identity, Lending, Programs};
use swarmyard_cluster::staff::Launch;
use swarmyard_fabric::envelope::{self, Header};
use swarmyard_fabric::keys::Keys;
use swarmyard_fabric::mesh::{Mesh, Options};
use swarmyard_fabric::outbox::{again_key, lane_key};
use swarmyard_fabric::{Care, Fabric, Secret};
use zenoh::Wait as _;

/// A host of another version, or one that computes otherwise. It could not start anything.
fn stranger(name: &str, version: &str, numerics: u64) -> (String, Lender) {
    let mesh = Mesh::open(&Options::default()).expect("a member");
    let endpoint = mesh.endpoints()[0].clone();
    let launch = Launch {
        program: PathBuf::from("/nowhere/swarmyard"),
        listen: "127.0.0.1:0".into(),
        keys: None,
        access: None,
        allowed: None,
        hold: None,
        idle: false,
    };
    let identity = Identity { version: version.into(), numerics };
    let (can, programs) = (Vec::new(), Programs::default());
    let lending = Lending { name: name.into(), slots: 9, can, programs, identity, launch, idle: None };
    (endpoint, Lender::open(Arc::new(mesh), lending).expect("a host"))
}

#[test]
fn a_host_of_another_version_or_other_numerics_refuses_by_name_and_others_do_the_work() {
    let _alone = alone();
    let own = env!("CARGO_PKG_VERSION");
    let (old, _old) = stranger("old", "0.0.9", 1);
    let (odd, _odd) = stranger("odd", own, 0xbad);
    let good = Host::start(&[], "good", "--slots 2");
    let hosts = format!("--hosts old={},odd={},{} --workers 2", old, odd, good.address());
    let said = Run::start(&[], "versions", &hosts).ends_as_undisturbed();
    let self_test: Value = serde_json::from_str(&done("doctor --json")).expect("JSON");
    let self_test = self_test["self_test"]["hash"].as_str().expect("a hash").to_owned();
    for words in [
        "host `old` refuses",
        "`0.0.9`",
        &format!("`{own}`"),
        "host `odd` refuses",
        "`0000000000000bad`",
        &self_test,
    ] {
        assert!(said.contains(words), "`{words}` is missing: {said}");
    }
}

/// An authority in a folder, and members it vouches for.
fn authority(name: &str, members: &[&str]) -> PathBuf {
    let dir = folder(name);
    done(&format!("keys init {}", dir.display()));
    for member in members {
        done(&format!("keys add {} {member}", dir.display()));
    }
    dir
}

fn with(dir: &Path, name: &str) -> Option<Keys> {
    Some(Keys::of(dir, name).expect("its files"))
}

/// Nobody comes in without a certificate, or with one of another authority.
fn try_door(door: &str, theirs: Option<&Keys>) {
    let enter = |keys: Option<Keys>| {
        let reach = Duration::from_millis(600);
        Mesh::open(&Options { connect: vec![door.to_owned()], reach, keys, ..Options::default() })
    };
    assert!(enter(None).is_err(), "one without a certificate was let in at {door}");
    assert!(enter(theirs.cloned()).is_err(), "one of another authority was let in at {door}");
}

#[test]
fn who_has_no_certificate_of_ours_does_not_come_in() {
    let _alone = alone();
    let (ours, theirs) = (authority("ours", &["keeper", "guest"]), authority("theirs", &["keeper"]));
    let words = format!("--workers 2 --rtf 3 --lease 20 --keys {}", ours.display());
    let mut run = Run::start(&[], "strangers", &words);
    run.comes_to(20);
    let mut doors = vec![run.keeper().1];
    doors.extend(run.workers().iter().map(|w| w.endpoint.clone()));
    assert_eq!(doors.len(), 3, "{doors:?}");
    let friend = Mesh::open(&Options {
        connect: vec![run.keeper().1],
        keys: with(&ours, "guest"),
        reach: AGES,
        ..Options::default()
    });
    assert!(friend.is_ok(), "one of ours was not let in: {:?}", friend.err());
    let theirs = with(&theirs, "keeper");
    std::thread::scope(|scope| {
        for door in &doors {
            scope.spawn(|| try_door(door, theirs.as_ref()));
        }
    });
    run.ends_as_undisturbed();
}

#[test]
fn a_host_does_for_each_what_its_access_file_says() {
    let _alone = alone();
    let keys = authority("access", &["a", "keeper", "guest", "looks", "starts"]);
    let access = keys.join("access.toml");
    let text = "[members]\na = [\"worker\"]\nkeeper = [\"worker\"]\nguest = []\nlooks = [\"display\"]\nstarts = [\"module\"]\n";
    std::fs::write(&access, text).expect("a file");
    let dir = keys.display();
    let words = format!("--slots 3 --keys {dir} --access {} --allow cat=/bin/cat", access.display());
    let host = Host::start(&[], "a", &words);
    let out = |words: &str| {
        let out = swarmyard(&[], words).stdin(Stdio::null()).output().expect("the command");
        let said = [out.stdout, out.stderr].concat();
        (out.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let asks = format!("hosts {} --keys {dir} --json --name", host.address());
    assert_eq!(
        serde_json::from_str::<Value>(&done(&format!("{asks} keeper"))).expect("JSON")["hosts"][0]["free"],
        3
    );
    let (code, said) = out(&format!("{asks} guest"));
    assert!(code == Some(1) && said.contains("trouble"), "{said}");
    let mut run = Run::start(
        &[],
        "access-run",
        &format!("--hosts {} --workers 2 --keys {dir} --rtf 8", host.address()),
    );
    run.comes_to(20);
    let figures = |name: &str| {
        let said: Value = serde_json::from_str(&done(&format!("{asks} {name}"))).expect("JSON");
        let running = said["hosts"][0]["running"].as_array().cloned().expect("a list");
        (running.len(), running.iter().filter(|r| r["figures"].is_object()).count())
    };
    assert_eq!(figures("looks"), (2, 2), "a display sees what workers did");
    assert_eq!(figures("starts"), (2, 0), "a module does not");
    let pipe = |name: &str| {
        out(&format!("pipe --bytes --hosts {} --keys {dir} --name {name} -- a cat", host.address())).0
    };
    assert_eq!(
        (pipe("starts"), pipe("looks")),
        (Some(0), Some(125)),
        "a module starts programs, a display does not"
    );
    run.ends_as_undisturbed();
    let theirs = authority("access-theirs", &["keeper"]);
    let (code, said) =
        out(&format!("hosts {} --keys {} --name keeper --json", host.address(), theirs.display()));
    assert!(code == Some(1), "{said}");
    let spy = Mesh::open(&Options {
        connect: vec![host.endpoint.clone()],
        keys: with(&keys, "looks"),
        reach: AGES,
        ..Options::default()
    });
    let spy = spy.expect("one of ours");
    let _ear = spy.listen("swarm/run/**", Box::new(|_| {})).expect("a listener");
    let since = Instant::now();
    while !host.said().contains("a: refused: not allowed") && since.elapsed() < AGES {
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = host.said();
    println!("{said}");
    for words in
        ["a: refused: not in the access file, from member ", "a: refused: not allowed, from member looks: "]
    {
        assert!(said.contains(words), "`{words}` is missing: {said}");
    }
    assert!(said.contains("a: refused: wrong certificate"), "{said}");
    for name in ["looks", "starts"] {
        let words = format!("--hosts {} --keys {dir} --name {name}", host.address());
        let (code, said) =
            out(&format!("run worlds/forty-wander.toml --until tick:5 --no-record -q {words}"));
        assert!(code == Some(1) && said.contains("no host takes worker 0"), "{name}: {said}");
    }
}

#[test]
fn only_this_machine_may_be_listened_to_without_certificates() {
    let out = swarmyard(&[], "host a --listen 0.0.0.0:0").output().expect("the command");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(1) && said.contains("swarmyard keys"), "{said}");
}

#[test]
fn a_host_starts_native_programs_only_below_folders_its_owner_allows() {
    let _alone = alone();
    let run = |host: &Host| {
        let words =
            format!("run worlds/python.toml --until tick:5 --no-record -q --hosts {}", host.address());
        let out = swarmyard(&[], &words).output().expect("the command");
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (code, said) = run(&Host::start(&[], "careful", "--slots 1 --allow docs"));
    assert!(code == Some(1) && said.contains("--allow") && said.contains("worlds"), "{code:?} {said}");
    let (code, said) = run(&Host::start(&[], "open", "--slots 1 --allow worlds"));
    // Five ticks are too few for its assertions.
    assert_eq!(code, Some(4), "{said}");
}

/// A run that tells how far it is, and at the end what became of it.
struct Told {
    child: Child,
    log: PathBuf,
    tick: Arc<AtomicU64>,
    report: JoinHandle<Value>,
    said: JoinHandle<String>,
    keys: Option<PathBuf>,
}

/// What became of it.
struct Ended {
    /// How often something was refused, by name.
    refused: BTreeMap<String, u64>,
    /// Messages that came to the keeper over lanes.
    by_lane: u64,
    /// What the run and its workers said on stderr.
    said: String,
}

/// The keeper's number as a sender.
const KEEPER: u32 = u32::MAX - 1;

impl Told {
    fn start(name: &str) -> Told {
        Told::start_with(name, "", None)
    }

    /// The same, with these words; and where the certificates are, if there are any.
    fn start_with(name: &str, more: &str, keys: Option<PathBuf>) -> Told {
        let log = folder(name).join("workers.jsonl");
        let words = format!(
            "run worlds/forty-wander.toml --until tick:{TICKS} --no-record --json --hash-every 1 --lease 20 --rtf 5 --workers 2 --workers-log {} {more}",
            log.display()
        );
        let mut command = swarmyard(&[], &words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command");
        let mut err = child.stderr.take().expect("its errors");
        let said = std::thread::spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).expect("text");
            text
        });
        let (out, tick) = (child.stdout.take().expect("its output"), Arc::new(AtomicU64::new(0)));
        let seen = Arc::clone(&tick);
        let report = std::thread::spawn(move || {
            let mut last = Value::Null;
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                last = serde_json::from_str(&line).expect("JSON");
                seen.store(last["tick"].as_u64().unwrap_or_default(), Ordering::Relaxed);
            }
            last
        });
        Told { child, log, tick, report, said, keys }
    }

    /// The number of the run, and where its keeper and its workers are reached.
    fn doors(&self) -> (u64, Vec<String>) {
        let since = Instant::now();
        while self.tick.load(Ordering::Relaxed) == 0 {
            assert!(since.elapsed() < AGES, "the run did not begin");
            std::thread::sleep(Duration::from_millis(10));
        }
        let text = std::fs::read_to_string(&self.log).expect("a log");
        let log: Vec<Value> = text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
        let run: u64 = log[0]["run"].as_str().and_then(|r| r.parse().ok()).expect("a number");
        let connect = [&log[0]["endpoints"][0], &log[1]["endpoint"], &log[2]["endpoint"]];
        (run, connect.map(|e| e.as_str().expect("an address").to_owned()).to_vec())
    }

    /// The number of the run, and a member that is connected with all of its own.
    fn join(&self) -> (u64, Mesh) {
        let (run, connect) = self.doors();
        let keys = self.keys.as_ref().and_then(|dir| with(dir, "keeper"));
        let mesh = Mesh::open(&Options { connect, keys, lease: AGES, reach: AGES, ..Options::default() });
        (run, mesh.expect("on this machine anybody may join"))
    }

    /// Does harm twenty times a second until the run is over: it has the hash of an undisturbed one, and nobody was lost. `harm`
    /// is told of the stranger, the run and its tick. Answers what was refused, by name.
    fn ends_undisturbed_by(self, harm: impl FnMut(&Mesh, u64, u64)) -> BTreeMap<String, u64> {
        self.ended_undisturbed_by(harm).refused
    }

    /// The same, with all that became of it.
    fn ended_undisturbed_by(mut self, mut harm: impl FnMut(&Mesh, u64, u64)) -> Ended {
        let (run, mesh) = self.join();
        while self.child.try_wait().expect("a child").is_none() {
            harm(&mesh, run, self.tick.load(Ordering::Relaxed));
            std::thread::sleep(Duration::from_millis(50));
        }
        let status = self.child.wait().expect("waited for");
        let report = self.report.join().expect("its output");
        let said = self.said.join().expect("its words");
        assert!(status.success(), "{status}: {report} {said}");
        let hash = undisturbed().lines().last().and_then(|l| l.rsplit(' ').next()).expect("a hash");
        assert_eq!(report["hash"], hash);
        let spread = &report["spread"];
        assert_eq!(spread["lost"], json!([]), "{spread}");
        println!("refused: {}; over lanes: {}\n{said}", spread["refused"], spread["lanes"]);
        let refused = serde_json::from_value(spread["refused"].clone()).expect("counts");
        let by_lane = spread["lanes"]["messages"].as_u64().expect("a count");
        Ended { refused, by_lane, said }
    }
}

/// A message as a worker sends it, of one who does not know the run's secret.
fn forged(run: u64, (sender, receiver): (u32, u32), quantum: u64, sequence: u64, payload: &[u8]) -> Vec<u8> {
    let header = Header { run, epoch: 1, quantum, sender, receiver, sequence };
    envelope::seal(&header, payload, &Secret::default())
}

/// What comes to the keeper: messages of its workers again, under their own key and that of another; and nonsense.
#[test]
fn messages_that_are_replayed_or_nonsense_are_counted_by_name_and_change_nothing() {
    let _alone = alone();
    let (mut again, mut rounds) = (0, 0);
    let refused = Told::start("replayed").ends_undisturbed_by(|mesh, run, tick| {
        rounds += 1;
        let send = |from: u32, bytes: &[u8]| {
            mesh.put(&lane_key(run, from, KEEPER), bytes, Care::Drop).expect("put");
        };
        let key = again_key(run, 0, KEEPER, tick);
        let ask = |epoch: u32| mesh.ask(&key, &epoch.to_le_bytes(), Duration::from_secs(1)).ok();
        if let Some(bytes) = (1..=4).find_map(ask) {
            again += 1;
            send(0, &bytes);
            send(0, &bytes);
            send(1, &bytes);
            send(77, &bytes);
        }
        send(1, b"no message at all");
        if rounds == 3 {
            send(0, &vec![0x5a; 8 << 20]);
            let most = vec![0; swarmyard_fabric::MOST_BYTES + 1];
            let put = mesh.put(&lane_key(run, 0, KEEPER), &most, Care::Drop);
            assert!(put.is_err(), "longer than any message");
        }
    });
    println!("{rounds} rounds, {again} messages had again");
    let count = |name: &str| refused.get(name).copied().unwrap_or_default();
    assert!(again > 0 && count("replayed") + count("unwanted quantum") >= again, "{refused:?}");
    for name in ["forged sender", "not ours"] {
        assert!(count(name) > 0, "{name}: {refused:?}");
    }
}

/// Whoever asks is given what one worker sent to another; put under the key of the keeper, it would use up the number of the
/// report that is to come.
#[test]
fn messages_for_a_worker_that_are_put_under_the_key_of_the_keeper_do_not_stop_the_run() {
    let _alone = alone();
    let (mut redirected, mut epoch) = (0, 1);
    let refused = Told::start("redirected").ends_undisturbed_by(|mesh, run, tick| {
        // Messages of a worker to another count twice as fast as its reports: these numbers are yet to come.
        for quantum in (2 * tick + 1..2 * tick + 40).step_by(2) {
            let ask = |epoch: u32| {
                let key = again_key(run, 0, 1, quantum);
                mesh.ask(&key, &epoch.to_le_bytes(), Duration::from_millis(200)).ok()
            };
            let found = (epoch..epoch + 3).find_map(|epoch| ask(epoch).map(|bytes| (epoch, bytes)));
            let Some((found, bytes)) = found else { break };
            epoch = found;
            mesh.put(&lane_key(run, 0, KEEPER), &bytes, Care::Drop).expect("put");
            redirected += 1;
        }
    });
    let count = refused.get("other receiver").copied().unwrap_or_default();
    assert!(redirected > 0 && count > 0, "{redirected} redirected: {refused:?}");
}

/// Everything about them is right, number, epoch, quantum and sender, but for the seal.
#[test]
fn messages_as_a_worker_sends_them_are_not_taken_from_one_who_does_not_know_the_secret() {
    let _alone = alone();
    let mut sequence = 1000;
    let refused = Told::start("forged").ends_undisturbed_by(|mesh, run, tick| {
        for ahead in 0..8 {
            sequence += 1;
            for (from, to, quantum) in
                [(0, 1, 2 * tick + ahead), (1, 0, 2 * tick + ahead), (0, KEEPER, tick + ahead)]
            {
                let bytes = forged(run, (from, to), quantum, sequence, b"\0\0\0");
                mesh.put(&lane_key(run, from, to), &bytes, Care::Drop).expect("put");
            }
        }
    });
    let count = refused.get("wrong seal").copied().unwrap_or_default();
    assert!(count > 100, "{refused:?}");
}

/// The words of a worker that cannot go on (`Failed`) and of a keeper that is done (`End`), as they are written, with a seal of
/// our own making or none.
#[test]
fn a_run_is_not_ended_by_one_who_does_not_know_the_secret() {
    let _alone = alone();
    let refused = Told::start("ended").ends_undisturbed_by(|mesh, run, _| {
        let (failed, end): (&[u8], &[u8]) = (&[1, 0, 4, 3, b'b', b'a', b'd'], &[3]);
        for (key, words) in [
            (format!("swarm/run/{run}/workers/notice/0"), failed),
            (format!("swarm/run/{run}/workers/order/1"), end),
        ] {
            let seal = Secret::default().seal(&[key.as_bytes(), b"", words]);
            let sealed = [&seal.to_le_bytes(), words].concat();
            for bytes in [words, sealed.as_slice()] {
                mesh.put(&key, bytes, Care::Block).expect("put");
            }
        }
    });
    let count = refused.get("wrong seal").copied().unwrap_or_default();
    assert!(count > 40, "{refused:?}");
}

/// What a worker refuses stands in the report of the run.
#[test]
fn what_is_forged_for_a_worker_is_counted_by_the_run() {
    let _alone = alone();
    let mut sent = 0;
    let refused = Told::start("counted").ends_undisturbed_by(|mesh, run, _| {
        if sent < 10 {
            sent += 1;
            let key = format!("swarm/run/{run}/workers/order/1");
            mesh.put(&key, b"no order of ours", Care::Block).expect("put");
        }
    });
    assert_eq!(refused.get("wrong seal"), Some(&10), "{refused:?}");
}

/// A member with these keys that is none of our making: it sends whatever it likes.
fn rogue(keys: &Keys, door: &str) -> zenoh::Session {
    let mut config = zenoh::Config::default();
    let endpoint = format!("[\"tls/{door}\"]");
    let shows = format!(
        "{{root_ca_certificate: {:?}, connect_certificate: {:?}, connect_private_key: {:?}, enable_mtls: true}}",
        keys.authority, keys.certificate, keys.key
    );
    for (key, value) in [
        ("mode", "\"client\""),
        ("connect/endpoints", endpoint.as_str()),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
        ("transport/link/tls", shows.as_str()),
    ] {
        config.insert_json5(key, value).expect("a setting");
    }
    zenoh::open(config).wait().expect("it has a certificate")
}

/// Somebody without a certificate, with one of another authority, with one of ours and no role, and with a role for other things;
/// and one who sends more than anybody takes. Each is counted in the report of the run and told.
#[test]
fn who_is_not_let_in_by_certificates_and_access_stands_in_the_report_and_is_told() {
    let _alone = alone();
    let keys = authority("turned-away-keys", &["keeper", "looks", "guest"]);
    let theirs = with(&authority("turned-away-theirs", &["keeper"]), "keeper");
    let access = keys.join("access.toml");
    let text = "[members]\nkeeper = [\"worker\"]\nlooks = [\"display\"]\n";
    std::fs::write(&access, text).expect("a file");
    let words = format!("--keys {} --access {}", keys.display(), access.display());
    let mut round = 0;
    let (guest, looks) = (with(&keys, "guest"), with(&keys, "looks"));
    let (mut kept, mut held) = (Vec::new(), None);
    let told = Told::start_with("turned-away", &words, Some(keys.clone()));
    let (_, doors) = told.doors();
    let Ended { refused, by_lane, said } = told.ended_undisturbed_by(|_, run, _| {
        round += 1;
        if round > 3 {
            return;
        }
        let open = |keys: Option<Keys>, reach: u64| {
            let reach = Duration::from_millis(reach);
            Mesh::open(&Options { connect: doors.to_vec(), reach, keys, ..Options::default() })
        };
        match round {
            1 => std::thread::scope(|scope| {
                for door in &doors {
                    scope.spawn(|| try_door(door, theirs.as_ref()));
                }
            }),
            2 => kept.push(open(guest.clone(), 5000).expect("one of ours")),
            _ => {
                // One of ours says what it wants to hear; one that is not ours sends what it may not, and too much.
                let display = open(looks.clone(), 5000).expect("one of ours");
                let heard = display.listen(&format!("swarm/run/{run}/workers/**"), Box::new(|_| {}));
                let rogue = rogue(looks.as_ref().expect("its files"), &doors[0]);
                let key = format!("swarm/run/{run}/workers/notice/1");
                let block = zenoh::qos::CongestionControl::Block;
                for bytes in
                    [&b"no notice of ours"[..], &vec![7_u8; swarmyard_fabric::MOST_BYTES + (1 << 20)]]
                {
                    rogue.put(&key, bytes).congestion_control(block).wait().expect("put");
                    std::thread::sleep(Duration::from_millis(100));
                }
                held = Some((heard, rogue));
                kept.push(display);
            }
        }
    });
    drop((kept, held));
    let kinds =
        ["wrong certificate", "strange connection", "not in the access file", "not allowed", "too long"];
    for name in kinds {
        assert!(refused.get(name).is_some_and(|n| *n > 0), "{name}: {refused:?}");
        assert!(said.contains(&format!("keeper: refused: {name}")), "{name}: {said}");
    }
    for worker in ["worker 0", "worker 1"] {
        assert!(said.contains(&format!("{worker}: refused: wrong certificate")), "{said}");
    }
    assert!(said.contains("from member looks"), "{said}");
    assert_eq!(refused.get("wrong seal"), None, "what was forbidden was heard: {refused:?}");
    assert!(by_lane > 0);
    assert!(said.lines().count() < 60, "a flood: {said}");
}

/// Strangers where the lanes of a run end, twenty times a second a handful: without a greeting, with a wrong one, with an enormous
/// length, with all that may be known but the secret; and one who says that all lanes end at his place. The workers use theirs.
#[test]
fn strangers_at_the_ends_of_lanes_do_not_keep_workers_from_them() {
    let _alone = alone();
    let mut crowd = VecDeque::new();
    let trap = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let bait = [&[7; 32][..], trap.local_addr().expect("its address").to_string().as_bytes()].concat();
    std::thread::spawn(move || trap.incoming().flatten().collect::<Vec<TcpStream>>());
    let mut lie = None;
    let told = Told::start("lanes");
    let (_, doors) = told.doors();
    let Ended { refused, by_lane, said } = told.ended_undisturbed_by(|mesh, run, _| {
        // At the other doors too there are some who say nothing.
        crowd.extend(doors.iter().flat_map(TcpStream::connect));
        let bait = bait.clone();
        lie.get_or_insert_with(|| {
            let all = format!("swarm/run/{run}/workers/lane/*/*");
            mesh.answer(&all, Box::new(move |_, _| Some(bait.clone()))).expect("an answer")
        });
        for (from, to) in [(0, KEEPER), (1, KEEPER), (1, 0), (0, 1)] {
            let (lane, end) = (lane_key(run, from, to), format!("swarm/run/{run}/workers/lane/{from}/{to}"));
            let Ok(all) = mesh.ask_all(&end, b"", Duration::from_millis(200)) else { continue };
            for invitation in all.iter().map(|a| &a.1).filter(|i| i[..32] != [7; 32]) {
                let address = String::from_utf8(invitation[32..].to_vec()).expect("an address");
                let key = [&(lane.len() as u16).to_le_bytes(), lane.as_bytes()].concat();
                for greeting in [
                    Vec::new(),
                    b"GET / HTTP/1.1\r\n\r\n".to_vec(),
                    b"SWYL\x02\x00\xff\xff".to_vec(),
                    [b"SWYL\x02\x00", key.as_slice()].concat(),
                    // And a proof that was made without the secret.
                    [b"SWYL\x02\x00", key.as_slice(), &[9; 24]].concat(),
                ] {
                    let Ok(mut stream) = TcpStream::connect(&address) else { continue };
                    // It may be refused before everything is sent.
                    let _ = stream.write_all(&greeting);
                    crowd.push_back(stream);
                }
            }
        }
        crowd.drain(..crowd.len().saturating_sub(200));
    });
    let strange = refused.get("strange lane").copied().unwrap_or_default();
    assert!(strange > 100, "{refused:?}");
    assert!(said.contains("refused: strange lane, from 127.0.0.1"), "{said}");
    // Each worker reports each step to the keeper.
    assert!(by_lane > 2 * TICKS * 9 / 10, "{by_lane} of {} reports came over lanes", 2 * TICKS);
}
