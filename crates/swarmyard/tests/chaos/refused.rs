//! Those who do not belong here, and messages that nobody of ours sent: refused and named, and the run does not notice.

use crate::yard::{AGES, Host, Run, TICKS, alone, done, folder, swarmyard, undisturbed};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use swarmyard_cluster::host::{Host as Lender, Identity, Lending, Programs};
use swarmyard_cluster::staff::Launch;
use swarmyard_fabric::envelope::{Header, seal};
use swarmyard_fabric::keys::Keys;
use swarmyard_fabric::mesh::{Mesh, Options};
use swarmyard_fabric::outbox::{again_key, lane_key};
use swarmyard_fabric::{Care, Fabric};

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

#[test]
fn who_has_no_certificate_of_ours_does_not_come_in() {
    let _alone = alone();
    let (ours, theirs) = (authority("ours", &["keeper", "guest"]), authority("theirs", &["keeper"]));
    let words = format!("--workers 2 --rtf 3 --keys {}", ours.display());
    let mut run = Run::start(&[], "strangers", &words);
    run.comes_to(20);
    let mut doors = vec![run.keeper().1];
    doors.extend(run.workers().iter().map(|w| w.endpoint.clone()));
    assert!(doors.len() >= 3, "{doors:?}");
    let friend = Mesh::open(&Options {
        connect: vec![run.keeper().1],
        keys: with(&ours, "guest"),
        reach: AGES,
        ..Options::default()
    });
    assert!(friend.is_ok(), "one of ours was not let in: {:?}", friend.err());
    let theirs = with(&theirs, "keeper");
    let try_door = |door: &String| {
        let enter = |keys: Option<Keys>| {
            let reach = Duration::from_millis(600);
            Mesh::open(&Options { connect: vec![door.clone()], reach, keys, ..Options::default() })
        };
        assert!(enter(None).is_err(), "one without a certificate was let in at {door}");
        assert!(enter(theirs.clone()).is_err(), "one of another authority was let in at {door}");
    };
    std::thread::scope(|scope| {
        for door in &doors {
            scope.spawn(|| try_door(door));
        }
    });
    run.ends_as_undisturbed();
}

#[test]
fn a_host_starts_nothing_for_those_its_access_file_does_not_name() {
    let _alone = alone();
    let keys = authority("access", &["a", "keeper", "guest"]);
    let access = keys.join("access.toml");
    std::fs::write(&access, "[members]\na = [\"worker\"]\nkeeper = [\"worker\"]\nguest = [\"display\"]\n")
        .expect("a file");
    let dir = keys.display();
    let host = Host::start(&[], "a", &format!("--slots 2 --keys {dir} --access {}", access.display()));
    let asks = format!("hosts {} --keys {dir} --name", host.address());
    assert!(done(&format!("{asks} keeper")).contains("2 of 2 free"));
    let guest = swarmyard(&[], &format!("{asks} guest")).output().expect("the command");
    let said = String::from_utf8_lossy(&guest.stdout);
    assert!(guest.status.code() == Some(1) && said.contains("NOT THERE"), "{said}");
    let words = format!("--hosts {} --workers 2 --keys {dir}", host.address());
    Run::start(&[], "access-run", &words).ends_as_undisturbed();
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
}

impl Told {
    fn start() -> Told {
        let log = folder("forged").join("workers.jsonl");
        let words = format!(
            "run worlds/forty-wander.toml --until tick:{TICKS} --no-record --json --hash-every 1 --lease 20 --rtf 5 --workers 2 --workers-log {}",
            log.display()
        );
        let mut child = swarmyard(&[], &words).stdout(Stdio::piped()).spawn().expect("the command");
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
        Told { child, log, tick, report }
    }

    /// The number of the run, and a member that is connected with all of its own.
    fn join(&self) -> (u64, Mesh) {
        let since = Instant::now();
        while self.tick.load(Ordering::Relaxed) == 0 {
            assert!(since.elapsed() < AGES, "the run did not begin");
            std::thread::sleep(Duration::from_millis(10));
        }
        let text = std::fs::read_to_string(&self.log).expect("a log");
        let log: Vec<Value> = text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
        let run: u64 = log[0]["run"].as_str().and_then(|r| r.parse().ok()).expect("a number");
        let connect = [&log[0]["endpoints"][0], &log[1]["endpoint"], &log[2]["endpoint"]];
        let connect = connect.map(|e| e.as_str().expect("an address").to_owned()).to_vec();
        let mesh = Mesh::open(&Options { connect, lease: AGES, reach: AGES, ..Options::default() });
        (run, mesh.expect("on this machine anybody may join"))
    }
}

/// What comes to the keeper: messages of its workers again, and others that nobody of ours sent.
#[test]
fn messages_that_are_replayed_forged_or_nonsense_are_counted_by_name_and_change_nothing() {
    let _alone = alone();
    let mut told = Told::start();
    let (run, mesh) = told.join();
    let keeper = u32::MAX - 1;
    let forged = |sender: u32, sequence: u64| {
        seal(&Header { run, epoch: 1, quantum: 5, sender, sequence }, b"nonsense")
    };
    let send = |from: u32, to: u32, bytes: &[u8]| {
        mesh.put(&lane_key(run, from, to), bytes, Care::Drop).expect("put");
    };
    let mut again = 0;
    let mut rounds = 0;
    while told.child.try_wait().expect("a child").is_none() {
        rounds += 1;
        let tick = told.tick.load(Ordering::Relaxed);
        let ask = |epoch: u32| {
            let key = again_key(run, 0, keeper, tick);
            mesh.ask(&key, &epoch.to_le_bytes(), Duration::from_secs(1)).ok()
        };
        if let Some(bytes) = (1..=4).find_map(ask) {
            again += 1;
            send(0, keeper, &bytes);
            send(0, keeper, &bytes);
        }
        send(0, keeper, &forged(1, rounds));
        send(77, keeper, &forged(77, rounds));
        send(0, 1, &forged(1, rounds));
        send(1, keeper, b"no message at all");
        if rounds == 3 {
            send(0, keeper, &vec![0x5a; 8 << 20]);
            let most = vec![0; swarmyard_fabric::MOST_BYTES + 1];
            assert!(
                mesh.put(&lane_key(run, 0, keeper), &most, Care::Drop).is_err(),
                "longer than any message"
            );
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(told.child.wait().expect("waited for").success());
    let report = told.report.join().expect("its output");
    let hash = undisturbed().lines().last().and_then(|l| l.rsplit(' ').next()).expect("a hash");
    assert_eq!(report["hash"], hash);
    let refused = &report["spread"]["refused"];
    println!("{rounds} rounds, {again} messages had again; refused: {refused}");
    let count = |name: &str| refused[name].as_u64().unwrap_or_default();
    assert!(again > 0 && count("replayed") + count("unwanted quantum") >= again, "{refused}");
    for name in ["forged sender", "unknown sender", "not ours"] {
        assert!(count(name) > 0, "{name}: {refused}");
    }
}
