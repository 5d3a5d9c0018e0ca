//! Hosts that lend their machines, and who asks them. Workers are shell scripts here: what they would do is of no matter.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swarmyard_cluster::Staff;
use swarmyard_cluster::host::{Host, Identity, Idle, Lending, Programs};
use swarmyard_cluster::staff::{
    Address, Connect, Hired, HostStaff, Hosts, Job, Launch, Processes, SecretBytes, visit,
};
use swarmyard_fabric::local::Switchboard;
use swarmyard_fabric::{Care, Fabric, Handle, Listener, Lost, Replier, Traffic, Watcher};

fn launch() -> Launch {
    Launch {
        program: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lending/worker.sh"),
        listen: "127.0.0.1:0".into(),
        keys: None,
        access: None,
        allowed: None,
        hold: None,
        idle: false,
    }
}

fn identity() -> Identity {
    Identity { version: "0.1.0".into(), numerics: 7 }
}

fn lending(name: &str, slots: u32) -> Lending {
    let (can, idle) = (vec!["display".to_owned()], None);
    let programs = Programs::default();
    Lending { name: name.into(), slots, can, programs, identity: identity(), launch: launch(), idle }
}

/// A host in a place of its own, which nobody else is connected with.
fn host(lending: Lending) -> (Switchboard, Host) {
    let board = Switchboard::default();
    let host = Host::open(Arc::new(board.member(&lending.name)), lending).expect("a host");
    (board, host)
}

fn job() -> Job {
    Job {
        run: 5,
        number: 0,
        connect: vec!["127.0.0.1:7".into()],
        threads: 1,
        lease_s: 1.0,
        reach: Vec::new(),
        secret: SecretBytes::default(),
    }
}

/// What was told of the workers, and what was said of the hosts.
type Notes = (Arc<Mutex<Vec<Hired>>>, Arc<Mutex<Vec<String>>>);

/// Somebody who asks the hosts on these boards: `0:1`, `1:1`, …
fn staff(boards: &[(&str, Switchboard)]) -> (HostStaff, Notes) {
    staff_at(boards, &[])
}

/// The same, for robots that belong to these places.
fn staff_at(boards: &[(&str, Switchboard)], wanted: &[&str]) -> (HostStaff, Notes) {
    let all: Vec<Switchboard> = boards.iter().map(|b| b.1.clone()).collect();
    let connect: Connect = Arc::new(move |endpoint: &str| {
        let k: usize = endpoint.split(':').next().and_then(|k| k.parse().ok()).expect("a number");
        all.get(k).map(|b| Arc::new(b.member("keeper")) as Arc<dyn Fabric>).ok_or("nobody is there".into())
    });
    let address =
        |(k, name): (usize, &&str)| Address { name: Some((*name).into()), endpoint: format!("{k}:1") };
    let names: Vec<&str> = boards.iter().map(|b| b.0).collect();
    let addresses = names.iter().enumerate().map(address).collect();
    let (told, said): Notes = Default::default();
    let (tell, say) = (Arc::clone(&told), Arc::clone(&said));
    let wanted = wanted.iter().map(|place| (*place).to_owned()).collect();
    let staff = HostStaff::new(
        Hosts { addresses, connect, identity: identity(), wanted },
        job(),
        Box::new(move |hired| tell.lock().expect("notes").push(hired.clone())),
        Box::new(move |text| say.lock().expect("notes").push(text.to_owned())),
    );
    (staff, (told, said))
}

fn is_there(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// The members that a worker was told to connect to.
fn connects(pid: u32) -> Vec<String> {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).expect("it runs");
    let words: Vec<String> =
        words.split(|b| *b == 0).map(|w| String::from_utf8_lossy(w).into_owned()).collect();
    words.windows(2).filter(|w| w[0] == "--connect").map(|w| w[1].clone()).collect()
}

#[test]
fn workers_are_spread_over_all_hosts_and_each_hears_of_all_before_it() {
    let ((one, a), (other, b)) = (host(lending("a", 1)), host(lending("b", 3)));
    let (mut staff, (told, _)) = staff(&[("a", one), ("b", other)]);
    for number in 0..4 {
        staff.hire(number).expect("a worker");
    }
    let told = told.lock().expect("notes").clone();
    let places: Vec<&str> = told.iter().filter_map(|h| h.host.as_deref()).collect();
    assert_eq!(places, ["b", "a", "b", "b"], "one on each, before one has two");
    let endpoints: Vec<&str> = told.iter().map(|h| h.endpoint.as_str()).collect();
    assert_eq!(endpoints, ["127.0.0.1:7000", "127.0.0.1:7001", "127.0.0.1:7002", "127.0.0.1:7003"]);
    assert_eq!(connects(told[3].pid), ["127.0.0.1:7", "127.0.0.1:7000", "127.0.0.1:7001", "127.0.0.1:7002"]);
    assert_eq!((a.info().free, b.info().free, b.info().running.len()), (0, 0, 3));
    let mut places = staff.places(1);
    places.sort();
    assert_eq!(places, ["a", "display"]);
    let why = staff.hire(4).expect_err("all slots are taken");
    assert!(why.contains("`a`") && why.contains("`b`"), "{why}");
    staff.dismiss(0);
    assert!(!is_there(told[0].pid) && b.info().free == 1);
    staff.hire(5).expect("there is room again");
    drop(staff);
    assert_eq!((a.info().free, b.info().free), (1, 3), "nobody needs them any more");
}

#[test]
fn fewer_workers_than_hosts_begin_where_robots_belong() {
    let can = |name: &str, slots, can: &str| Lending { can: vec![can.to_owned()], ..lending(name, slots) };
    let hosts = [
        host(can("a", 9, "x")),
        host(can("b", 1, "x")),
        host(can("c", 2, "fast")),
        host(can("d", 3, "fast")),
    ];
    let names = ["a", "b", "c", "d"];
    let boards: Vec<(&str, Switchboard)> =
        names.into_iter().zip(&hosts).map(|(name, host)| (name, host.0.clone())).collect();
    let (mut staff, (told, _)) = staff_at(&boards, &["b", "fast", "nowhere"]);
    for number in 0..3 {
        staff.hire(number).expect("a worker");
    }
    let places: Vec<String> = told.lock().expect("notes").iter().filter_map(|h| h.host.clone()).collect();
    assert_eq!(places, ["d", "b", "a"], "one that is fast, the one that is called so, then anybody");
}

#[test]
fn a_host_that_refuses_is_passed_over_and_it_is_said_once_why() {
    let old = Lending { identity: Identity { version: "0.0.9".into(), ..identity() }, ..lending("old", 9) };
    let ((one, old), (other, _b)) = (host(old), host(lending("b", 2)));
    let (mut staff, (told, said)) = staff(&[("old", one), ("b", other)]);
    staff.hire(0).expect("a worker");
    staff.hire(1).expect("a worker");
    assert!(told.lock().expect("notes").iter().all(|h| h.host.as_deref() == Some("b")));
    let said = said.lock().expect("notes").clone();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("`old`") && said[0].contains("`0.0.9`") && said[0].contains("`0.1.0`"),
        "{said:?}"
    );
    assert!(old.tend().iter().any(|line| line.contains("refused")), "its owner is told as well");
}

#[test]
fn another_version_is_named_though_what_it_says_means_nothing_here() {
    let head = |version: &str| {
        let length = [version.len() as u8];
        [&b"SWYH"[..], &7_u64.to_le_bytes(), &length, version.as_bytes(), &[0xff; 40]].concat()
    };
    let (there, here) = ("`9.9.9`", format!("`{}`", env!("CARGO_PKG_VERSION")));
    let board = Switchboard::default();
    let (strange, says) = (board.member("strange"), head("9.9.9"));
    let _info =
        strange.answer("swarm/host/strange/info", Box::new(move |_, _| Some(says.clone()))).expect("heard");
    let connect: Connect = Arc::new(move |_: &str| Ok(Arc::new(board.member("keeper")) as Arc<dyn Fabric>));
    let address = Address { name: Some("strange".into()), endpoint: "0:1".into() };
    let why = visit(&connect, &address).err().expect("it cannot be read");
    assert!(why.contains(there) && why.contains(&here), "{why}");
    // The other way round: one of such a version asks a host of ours.
    let (board, _a) = host(lending("a", 1));
    for what in ["start", "open"] {
        let asked = board.member("keeper").ask(
            &format!("swarm/host/a/{what}"),
            &head("9.9.9"),
            Duration::from_secs(60),
        );
        let said = String::from_utf8_lossy(&asked.expect("an answer")).into_owned();
        assert!(said.contains(there) && said.contains("`0.1.0`"), "{said}");
    }
}

/// A connection that is there, and on which nobody answers any more.
struct Deaf {
    inside: Arc<dyn Fabric>,
    is_deaf: Arc<AtomicBool>,
}

impl Fabric for Deaf {
    fn put(&self, key: &str, bytes: &[u8], care: Care) -> Result<(), Lost> {
        self.inside.put(key, bytes, care)
    }
    fn listen(&self, pattern: &str, hear: Listener) -> Result<Handle, Lost> {
        self.inside.listen(pattern, hear)
    }
    fn answer(&self, pattern: &str, reply: Replier) -> Result<Handle, Lost> {
        self.inside.answer(pattern, reply)
    }
    fn ask(&self, key: &str, question: &[u8], patience: Duration) -> Result<Vec<u8>, Lost> {
        match self.is_deaf.load(Ordering::Relaxed) {
            true => Err(Lost::Silent { key: key.to_owned() }),
            false => self.inside.ask(key, question, patience),
        }
    }
    fn ask_all(
        &self,
        pattern: &str,
        question: &[u8],
        patience: Duration,
    ) -> Result<Vec<(String, Vec<u8>)>, Lost> {
        self.inside.ask_all(pattern, question, patience)
    }
    fn live(&self, key: &str) -> Result<Handle, Lost> {
        self.inside.live(key)
    }
    fn watch(&self, pattern: &str, seen: Watcher) -> Result<Handle, Lost> {
        self.inside.watch(pattern, seen)
    }
    fn traffic(&self) -> Traffic {
        self.inside.traffic()
    }
}

#[test]
fn a_host_that_is_alive_and_silent_twice_is_connected_with_anew() {
    let (board, _a) = host(lending("a", 9));
    let (first, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let (deaf, connections) = (Arc::clone(&first), Arc::clone(&count));
    let connect: Connect = Arc::new(move |_: &str| {
        // Only the first connection goes deaf.
        let is_first = connections.fetch_add(1, Ordering::Relaxed) == 0;
        let is_deaf = if is_first { Arc::clone(&deaf) } else { Arc::default() };
        Ok(Arc::new(Deaf { inside: Arc::new(board.member("keeper")), is_deaf }) as Arc<dyn Fabric>)
    });
    let addresses = vec![Address { name: Some("a".into()), endpoint: "0:1".into() }];
    let hosts = Hosts { addresses, connect, identity: identity(), wanted: Vec::new() };
    let mut staff = HostStaff::new(hosts, job(), Box::new(|_| {}), Box::new(|_| {}));
    staff.hire(0).expect("a worker");
    first.store(true, Ordering::Relaxed);
    for number in [1, 2] {
        let why = staff.hire(number).expect_err("nobody answers");
        assert!(why.contains("nobody answered"), "{why}");
    }
    let since = Instant::now();
    while staff.hire(3).is_err() {
        assert!(since.elapsed() < Duration::from_secs(60), "it was not connected with anew");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[test]
fn a_host_that_is_not_there_or_has_another_name_is_named() {
    let (one, _a) = host(lending("a", 1));
    let empty = Switchboard::default();
    let (mut staff, (_, said)) = staff(&[("else", one), ("b", empty)]);
    let why = staff.hire(0).expect_err("nobody is there");
    assert!(why.contains("`else`") && why.contains("`b`"), "{why}");
    assert_eq!(said.lock().expect("notes").len(), 2);
}

#[test]
fn a_worker_that_cannot_begin_is_an_error_and_leaves_its_slot_free() {
    let (one, a) = host(lending("a", 1));
    let (mut staff, _) = staff(&[("a", one)]);
    let why = staff.hire(13).expect_err("number 13 ends at once");
    assert!(why.contains("ended at once"), "{why}");
    assert_eq!(a.info().free, 1);
    let nowhere = Launch { program: "/nowhere/at/all".into(), ..launch() };
    let (one, a) = host(Lending { launch: nowhere, ..lending("a", 1) });
    let (mut staff, _) = self::staff(&[("a", one)]);
    let why = staff.hire(0).expect_err("there is no such program");
    assert!(why.contains("/nowhere/at/all") && a.info().free == 1, "{why}");
}

#[test]
fn a_host_withdraws_its_workers_when_the_owner_needs_it_and_lends_again_later() {
    let load = Arc::new(AtomicU32::new(0));
    let told = Arc::clone(&load);
    let measure = Box::new(move || Some(f64::from(told.load(Ordering::Relaxed))));
    let idle = Some(Idle::with(2.0, Duration::ZERO, measure));
    let (one, host) = host(Lending { idle, ..lending("a", 2) });
    let (mut staff, (told, _)) = staff(&[("a", one)]);
    let tend = |times: usize| (0..times).flat_map(|_| host.tend()).collect::<Vec<String>>();
    staff.hire(0).expect("a worker");
    let pid = told.lock().expect("notes")[0].pid;
    tend(5);
    assert!(is_there(pid));
    load.store(9, Ordering::Relaxed);
    let said = tend(5);
    assert!(said.iter().any(|line| line.contains("1 workers are withdrawn")), "{said:?}");
    assert!(!is_there(pid) && host.info().is_withdrawn && host.info().free == 0);
    assert!(staff.hire(1).is_err());
    load.store(0, Ordering::Relaxed);
    tend(5);
    assert!(!host.info().is_withdrawn && host.info().free == 2);
    staff.hire(2).expect("it is lent again");
}

#[test]
fn what_a_host_has_started_ends_with_it_and_what_ends_by_itself_makes_room() {
    let (one, host) = host(lending("a", 2));
    let (mut staff, (told, _)) = staff(&[("a", one)]);
    staff.hire(0).expect("a worker");
    staff.hire(1).expect("a worker");
    let pids: Vec<u32> = told.lock().expect("notes").iter().map(|h| h.pid).collect();
    let killed = std::process::Command::new("kill").args(["-KILL", &pids[0].to_string()]).status();
    assert!(killed.is_ok_and(|s| s.success()));
    let since = Instant::now();
    while host.info().running.len() == 2 {
        assert!(since.elapsed() < Duration::from_secs(60), "nobody noticed");
        let _ = host.tend();
    }
    assert_eq!(host.info().free, 1);
    drop(host);
    assert!(!is_there(pids[1]));
}

#[test]
fn processes_of_this_machine_end_when_they_are_dismissed_or_nobody_is_left_to_need_them() {
    let told: Arc<Mutex<Vec<Hired>>> = Arc::default();
    let tell = Arc::clone(&told);
    let mut staff =
        Processes::new(launch(), job(), Box::new(move |h| tell.lock().expect("notes").push(h.clone())));
    for number in 0..3 {
        staff.hire(number).expect("a process");
    }
    let pids: Vec<u32> = told.lock().expect("notes").iter().map(|h| h.pid).collect();
    assert_eq!(connects(pids[2]), ["127.0.0.1:7", "127.0.0.1:7000", "127.0.0.1:7001"]);
    staff.dismiss(1);
    assert_eq!(pids.iter().map(|p| is_there(*p)).collect::<Vec<_>>(), [true, false, true]);
    drop(staff);
    assert!(!pids.iter().any(|p| is_there(*p)));
}
