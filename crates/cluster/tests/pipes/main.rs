//! Programs on a host, and the sister processes that stand for them. Host and sisters are threads here, and the fabric
//! does what it is told; the programs are those that every system has.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swarmyard_cluster::host::{Host, Identity, Lending, Piped, ProgramEnd, Programs};
use swarmyard_cluster::sister::{Order, Outcome, Sister};
use swarmyard_cluster::staff::Launch;
use swarmyard_fabric::Fabric;
use swarmyard_fabric::local::Switchboard;

/// The lease where it is to end: longer than somebody who is well waits for a processor on a busy machine.
const LEASE: Duration = Duration::from_secs(2);
/// How long something may take that surely comes.
const AGES: Duration = Duration::from_secs(60);
/// A lease so long that nothing which happens in a test is its doing.
const NEVER: Duration = Duration::from_secs(600);
/// What is kept of a stream on the host, in the pipe and on the way; and something to spare.
const KEPT: u64 = 600 << 10;

fn identity() -> Identity {
    Identity { version: "0.1.0".into(), numerics: 7 }
}

fn lending(slots: u32) -> Lending {
    let named = ["cat", "sh", "yes", "sleep"].map(|n| (n.to_owned(), PathBuf::from(n)));
    Lending {
        name: "a".into(),
        slots,
        can: Vec::new(),
        programs: Programs { named: BTreeMap::from(named), ..Programs::default() },
        identity: identity(),
        launch: Launch {
            program: "/nowhere".into(),
            listen: "127.0.0.1:0".into(),
            keys: None,
            access: None,
            allowed: None,
            hold: None,
            idle: false,
        },
        idle: None,
    }
}

/// A host that is looked after, and what it told its owner.
struct Yard {
    board: Switchboard,
    lease: Duration,
    host: Arc<Mutex<Option<Host>>>,
    news: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
}

impl Yard {
    /// One in which nobody is ever taken for lost who is not.
    fn new(slots: u32) -> Yard {
        Yard::with(slots, NEVER)
    }

    fn with(slots: u32, lease: Duration) -> Yard {
        let board = Switchboard::new(lease);
        let host = Host::open(Arc::new(board.member("a")), lending(slots)).expect("a host");
        let yard = Yard {
            board,
            lease,
            host: Arc::new(Mutex::new(Some(host))),
            news: Arc::default(),
            is_over: Arc::default(),
        };
        let (host, news, is_over) =
            (Arc::clone(&yard.host), Arc::clone(&yard.news), Arc::clone(&yard.is_over));
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let said = host.lock().expect("host").as_ref().map(Host::tend).unwrap_or_default();
                news.lock().expect("news").extend(said);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        yard
    }

    fn open(&self, words: &[&str]) -> Result<Sister, String> {
        self.open_as("sister", words)
    }

    /// A program for a member with this name.
    fn open_as(&self, member: &str, words: &[&str]) -> Result<Sister, String> {
        let order = Order { lease: self.lease, ..order(words) };
        Sister::open(Arc::new(self.board.member(member)) as Arc<dyn Fabric>, "a", order)
    }

    fn programs(&self) -> Vec<Piped> {
        let host = self.host.lock().expect("host");
        host.as_ref().map(|h| h.info().programs).unwrap_or_default()
    }

    fn free(&self) -> u32 {
        self.host.lock().expect("host").as_ref().map_or(0, |h| h.info().free)
    }

    fn was_told(&self, part: &str) -> bool {
        self.news.lock().expect("news").iter().any(|line| line.contains(part))
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn order(words: &[&str]) -> Order {
    let words = words.iter().map(|w| (*w).to_owned()).collect();
    Order { words, settings: Vec::new(), identity: identity(), lease: NEVER }
}

/// Lets a program run to its end: how it ended, what it said, and its errors.
fn run(sister: &Sister, input: impl Read + Send + 'static) -> (Outcome, Vec<u8>, Vec<u8>) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let outcome = sister.carry(input, &mut out, &mut err);
    (outcome, out, err)
}

#[track_caller]
fn soon(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < AGES, "not so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_there(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Input that never comes and never ends.
struct Silence(Receiver<()>);

impl Read for Silence {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        let _ = self.0.recv();
        Ok(0)
    }
}

/// Whoever holds the first keeps the second silent.
fn silence() -> (std::sync::mpsc::Sender<()>, Silence) {
    let (hold, wait) = channel();
    (hold, Silence(wait))
}

#[test]
fn what_a_program_there_reads_and_writes_is_what_it_would_here() {
    let yard = Yard::new(2);
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let sister = yard.open(&["cat"]).expect("it is allowed");
    let (outcome, out, err) = run(&sister, Cursor::new(bytes.clone()));
    assert_eq!(outcome, Outcome::Ended(ProgramEnd::Exited(0)));
    assert!(out == bytes && err.is_empty(), "{} of {} bytes came back", out.len(), bytes.len());
    drop(sister);
    assert_eq!(yard.free(), 2);
    assert!(yard.was_told("program `cat` begins"));
}

#[test]
fn output_errors_and_the_way_it_ended_come_back() {
    let yard = Yard::new(1);
    let said = |script: &str| {
        let sister = yard.open(&["sh", "-c", script]).expect("it is allowed");
        let (outcome, out, err) = run(&sister, Cursor::new(b"word\n"));
        (outcome, String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"))
    };
    let exited = |code| Outcome::Ended(ProgramEnd::Exited(code));
    assert_eq!(
        said("read x; echo got $x; echo oh >&2; exit 7"),
        (exited(7), "got word\n".into(), "oh\n".into())
    );
    assert_eq!(said("kill -9 $$").0, Outcome::Ended(ProgramEnd::Signal(9)));
    assert_eq!(said("exec <&-; exit 0").0, exited(0), "one that does not read");
}

#[test]
fn what_the_owner_did_not_allow_is_refused_by_name_and_told() {
    let yard = Yard::new(1);
    for wrong in ["/bin/cat", "../cat", "ls", ""] {
        let why = yard.open(&[wrong]).err().expect("it is refused");
        assert!(why.contains(&format!("`{wrong}`")) && why.contains("--allow"), "{why}");
    }
    soon("the owner hears of it", || {
        yard.was_told("a program was refused: its owner allows no program `ls`")
    });
    let old = Order { identity: Identity { version: "0.0.9".into(), ..identity() }, ..order(&["cat"]) };
    let why = Sister::open(Arc::new(yard.board.member("old")), "a", old).err().expect("another version");
    assert!(why.contains("`0.0.9`") && why.contains("`0.1.0`"), "{why}");
    let settings = vec![("LD_PRELOAD".to_owned(), "x".to_owned())];
    let sly = Order { settings, ..order(&["cat"]) };
    assert!(Sister::open(Arc::new(yard.board.member("sly")), "a", sly).is_err());
    assert!(yard.programs().is_empty() && yard.free() == 1, "nothing runs");
    let first = yard.open(&["cat"]).expect("there is a slot");
    let why = yard.open(&["cat"]).err().expect("there is one slot");
    assert!(why.contains("all its 1 slots are taken"), "{why}");
    drop(first);
    soon("there is room again", || yard.free() == 1);
    yard.open(&["cat"]).expect("there is room again");
}

/// Takes what it is given only when it may.
struct Slow {
    may: Arc<AtomicBool>,
    taken: Arc<AtomicU64>,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        while !self.may.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.taken.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_flood_waits_for_its_slow_reader_and_disturbs_nobody() {
    let yard = Yard::with(2, LEASE);
    let (may, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let sister = yard.open_as("slow", &["yes"]).expect("it is allowed");
    let slow = Slow { may: Arc::clone(&may), taken: Arc::clone(&taken) };
    let (hold, silent) = silence();
    let reader = std::thread::spawn(move || sister.carry(silent, slow, std::io::sink()));
    // Much longer than the lease: whoever reads slowly is still there.
    std::thread::sleep(3 * LEASE);
    // The slow one reads nothing before this one is through: it would wait for ever if it had to wait.
    let other = yard.open(&["cat"]).expect("it is allowed");
    assert_eq!(run(&other, Cursor::new(b"hello")).1, b"hello");
    let flood = yard.programs().into_iter().find(|p| p.name == "yes").expect("it was not ended");
    assert!(flood.bytes_out < KEPT, "{} bytes are kept", flood.bytes_out);
    may.store(true, Ordering::Relaxed);
    soon("it goes on when its reader does", || taken.load(Ordering::Relaxed) > 4 * KEPT);
    yard.board.kill("slow");
    assert!(matches!(reader.join().expect("no panic"), Outcome::Lost(_)));
    drop(hold);
}

#[test]
fn a_program_that_does_not_read_holds_up_only_its_own_input() {
    let yard = Yard::with(1, LEASE);
    let sister = yard.open(&["sleep", "1000"]).expect("it is allowed");
    let given = Arc::new(AtomicU64::new(0));
    struct Endless(Arc<AtomicU64>);
    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0.fetch_add(buffer.len() as u64, Ordering::Relaxed);
            Ok(buffer.len())
        }
    }
    let endless = Endless(Arc::clone(&given));
    let pid = sister.pid();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let outcome = sister.carry(endless, std::io::sink(), std::io::sink());
        let _ = tell.send(outcome);
    });
    std::thread::sleep(2 * LEASE);
    let read = given.load(Ordering::Relaxed);
    assert!(read > 0 && read < KEPT, "{read} bytes were read here");
    assert!(is_there(pid) && told.try_recv().is_err());
    yard.board.kill("sister");
    assert!(matches!(told.recv_timeout(AGES), Ok(Outcome::Lost(_))));
    soon("it is ended without its sister", || !is_there(pid) && yard.free() == 1);
}

#[test]
fn a_program_ends_at_once_with_its_sister_and_after_the_lease_when_she_hangs() {
    let yard = Yard::new(2);
    let dropped = yard.open(&["sleep", "1000"]).expect("it is allowed");
    let pid = dropped.pid();
    drop(dropped);
    assert!(!is_there(pid), "dropped");
    let killed = yard.open_as("killed", &["sleep", "1000"]).expect("it is allowed");
    yard.board.kill("killed");
    soon("it ends with her", || !is_there(killed.pid()));
    soon("its owner hears why", || yard.was_told("its sister is gone"));
    let yard = Yard::with(1, LEASE);
    let cut = yard.open_as("cut", &["sleep", "1000"]).expect("it is allowed");
    yard.board.cut("cut");
    soon("it ends without a word of her", || !is_there(cut.pid()));
    soon("there is room again", || yard.free() == 1);
}

#[test]
fn a_host_that_is_killed_is_missed_at_once_and_one_that_hangs_after_the_lease() {
    let yard = Yard::new(1);
    let sister = yard.open(&["cat"]).expect("it is allowed");
    let (hold, silent) = silence();
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(run(&sister, silent).0));
    assert!(told.recv_timeout(Duration::from_millis(500)).is_err(), "nothing happens yet");
    yard.board.kill("a");
    let outcome = told.recv_timeout(AGES).expect("it is missed");
    assert!(matches!(&outcome, Outcome::Lost(_)), "{outcome:?}");
    drop(hold);

    let yard = Yard::with(1, LEASE);
    let sister = yard.open(&["cat"]).expect("it is allowed");
    let (hold, silent) = silence();
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(run(&sister, silent).0));
    yard.board.freeze("a");
    let outcome = told.recv_timeout(AGES).expect("it is missed");
    assert!(matches!(&outcome, Outcome::Lost(_)), "{outcome:?}");
    drop(hold);
}

#[test]
fn programs_end_with_their_host_and_their_sisters_hear_why() {
    let yard = Yard::new(1);
    let sister = yard.open(&["sleep", "1000"]).expect("it is allowed");
    let pid = sister.pid();
    let (hold, silent) = silence();
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(run(&sister, silent).0));
    std::thread::sleep(Duration::from_millis(250));
    drop(yard.host.lock().expect("host").take());
    assert!(!is_there(pid));
    let outcome = told.recv_timeout(AGES).expect("she hears of it");
    assert!(matches!(&outcome, Outcome::Lost(_)), "{outcome:?}");
    drop(hold);
}

#[test]
fn what_it_costs_is_told() {
    let yard = Yard::new(1);
    let sister = yard.open(&["cat"]).expect("it is allowed");
    /// Says a line whenever the answer to the last has come.
    struct ByTurns(Receiver<()>);
    impl Read for ByTurns {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.recv().is_err() {
                return Ok(0);
            }
            buffer[..5].copy_from_slice(b"line\n");
            Ok(5)
        }
    }
    struct Next(std::sync::mpsc::Sender<()>, u32);
    impl Write for Next {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1 += 1;
            if !bytes.is_empty() && self.1 < 200 {
                let _ = self.0.send(());
            }
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (next, wait) = channel();
    next.send(()).expect("it listens");
    std::thread::spawn(move || sister.carry(ByTurns(wait), Next(next, 0), std::io::sink()));
    soon("200 lines went there and back", || yard.programs().first().is_some_and(|p| p.bytes_out == 1000));
    // She tells what every line took her when she asks for the next; then no line took her less than it took there.
    soon("its sister tells what it took her", || {
        let stats = &yard.programs()[0];
        stats.there_us.zip(stats.whole_us).is_some_and(|(there, whole)| there > 0.0 && whole > there / 2.0)
    });
    let stats = &yard.programs()[0];
    assert_eq!((stats.bytes_in, stats.bytes_out, stats.turns), (1000, 1000, 200));
    println!("one line there and back: {:?} µs, of which {:?} µs there", stats.whole_us, stats.there_us);
}
