//! One helper that knows the machinery: builds C programs, launches them, looks for what is left.
#![allow(dead_code, reason = "every test file uses some of it")]

use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use swarmyard_agents::process::{
    Access, Child, Death, Launch, Limits, Poll, Register, Reply, Span, Transport,
};

/// Long enough for anything that will happen.
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// Long enough to see that nothing happens.
pub(crate) const SHORT: Duration = Duration::from_millis(60);

/// Says that a test does nothing here, and why. In a whole check, where everything is to be there, that is a failure.
pub(crate) fn skipped(why: &str) {
    assert!(std::env::var_os("SWARMYARD_WHOLE").is_none(), "cannot be tested here: {why}");
    // Past whoever keeps what tests print; a message that nobody can read is none.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Compiles `tests/programs/<source>` with the SDK and answers the program. What was compiled from the
/// same files before is taken as it is.
pub(crate) fn build(source: &str, compiler: &str, flags: &[&str]) -> PathBuf {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let sdk = root().join("sdk/c");
    let mut hasher = std::hash::DefaultHasher::new();
    for file in [
        sdk.join("rio.h"),
        sdk.join("rio_process.c"),
        programs().join("echo_body.h"),
        programs().join(source),
    ] {
        std::fs::read(file).expect("a source").hash(&mut hasher);
    }
    let name = format!("{source}-{compiler}-{:016x}", hasher.finish());
    let finished = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if !finished.exists() {
        let out = finished.with_extension(format!("new-{}", std::process::id()));
        let object = out.with_extension("o");
        let common = ["-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];
        run(Command::new("cc")
            .args(["-std=gnu99", "-c", "-o"])
            .args([&object, &sdk.join("rio_process.c")])
            .args(common));
        run(Command::new(compiler)
            .args(flags)
            .args(common)
            .arg("-I")
            .args([&sdk, &programs().join(source)])
            .args(["-x", "none"])
            .arg(&object)
            .arg("-o")
            .arg(&out)
            .arg("-pthread"));
        std::fs::remove_file(object).expect("removed");
        std::fs::rename(out, &finished).expect("renamed");
    }
    finished
}

pub(crate) fn run(command: &mut Command) {
    let output = command.output().expect("the command starts");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Four readings of 16 bits, two commands of 8, one of 32, and a port.
pub(crate) fn launch(program: &Path, transport: Transport, tag: &str) -> Launch {
    let span = |address, bytes, offset, access| Span { address, bytes, offset, access };
    Launch {
        program: program.to_path_buf(),
        args: Vec::new(),
        cwd: std::env::temp_dir(),
        env: vec![("RIO_TEST_TAG".into(), mark(tag))],
        spans: vec![
            span(0x40, 4, 0, Access::Port),
            span(0x10, 8, 0, Access::Read),
            span(0x20, 2, 8, Access::Write),
            span(0x24, 4, 10, Access::Write),
        ],
        registers: vec![Register {
            name: "front mm".into(),
            at: 0x10,
            bytes: 2,
            count: 4,
            signed: false,
            scale: 0.001,
            offset: 0.0,
            unit: "m".into(),
        }],
        image_len: 14,
        transport,
        limits: Limits::default(),
        tick_us: 100_000,
        meter: None,
    }
}

fn mark(tag: &str) -> String {
    format!("{tag}-{}", std::process::id())
}

/// A start that is tried with the one program.
pub(crate) fn start(launch: &Launch) -> Child {
    Child::start(launch).expect("the program starts")
}

/// Processes that carry a tag in their environment: the program's, and all below it.
pub(crate) fn left_over(tag: &str) -> Vec<u32> {
    carry(&format!("RIO_TEST_TAG={}", mark(tag)))
}

/// Processes with this setting in their environment.
pub(crate) fn carry(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc is there").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|&b| b == 0).any(|v| v == mark.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

/// Nothing of a program is left. A killed process may need a moment to vanish from /proc.
pub(crate) fn nothing_left(tag: &str) {
    let start = Instant::now();
    while !left_over(tag).is_empty() {
        assert!(start.elapsed() < LONG, "left running: {:?}", left_over(tag));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The answer to one quantum; port reads get the tick times a thousand.
pub(crate) fn quantum(child: &mut Child, tick: u64, image: &[u8]) -> Reply {
    child.post(tick, image).expect("it is idle");
    let mut before = Vec::new();
    loop {
        match child.poll(LONG) {
            Poll::Ready(mut reply) => {
                before.append(&mut reply.pokes);
                reply.pokes = before;
                return reply;
            }
            Poll::Port(port) => {
                before.extend(port.before);
                child.answer_port(tick as u32 * 1000);
            }
            other => panic!("no answer: {other:?}"),
        }
    }
}

/// How it dies when asked once.
pub(crate) fn death(child: &mut Child) -> Death {
    child.post(0, &[0; 14]).expect("it is idle");
    loop {
        match child.poll(LONG) {
            Poll::Dead(death) => return death,
            Poll::Ready(_) => {}
            other => panic!("alive: {other:?}"),
        }
    }
}
