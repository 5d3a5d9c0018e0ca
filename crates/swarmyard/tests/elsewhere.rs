//! Programs on other hosts, with real processes over the loopback interface: modules of a chain, controllers of robots,
//! and any program by a sister process.
#![cfg(target_os = "linux")]

#[path = "common/carts.rs"]
mod carts;

use carts::{Carts, WANDERERS, many};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const BIN: &str = env!("CARGO_BIN_EXE_swarmyard");
/// Seconds of silence after which somebody is lost. Who is killed here is missed at once; nobody else is to be missed, however
/// busy this machine is.
const LEASE: &str = "20";

/// A module that counts what comes for it: whoever is started anew without its past says other numbers.
const COUNTER: &str = r#"#!/bin/sh
n=0
while read -r from to command rest; do
    case $to in
        "$SWARMYARD_MODULE") n=$((n + 1)); echo "$SWARMYARD_MODULE 9 1 $n $rest" ;;
        0) n=0 ;;
        *) echo "$from $to $command${rest:+ $rest}" ;;
    esac
done
"#;

/// A controller that turns by what it has seen so far.
const DRIVER: &str = r#"#!/bin/sh
echo "rio 1"
n=0
while read -r word tick first rest; do
    case $word in
        tick)
            # The first bytes of the sonar, as they came.
            seen=${first#*=}; seen=${seen%"${seen#??}"}
            n=$(( (n + 0x$seen + $1) % 200 ))
            echo "poke16 0x20 $((n + 50))"; echo "poke16 0x22 $((200 - n))"; echo "done $tick" ;;
        stop) exit 0 ;;
    esac
done
"#;

/// A folder of its own for a test, with the programs in it.
fn folder(name: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("elsewhere-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    for (name, text) in [("counter", COUNTER), ("driver", DRIVER)] {
        std::fs::write(dir.join(name), text).unwrap();
        std::fs::set_permissions(dir.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    dir
}

/// A host as a process, which lends what is in its folder.
struct Host {
    child: Child,
    name: String,
    endpoint: String,
}

impl Host {
    fn start(name: &str, folder: &Path, words: &[&str]) -> Host {
        let allow = |n: &str| format!("--allow={n}={}", folder.join(n).display());
        let mut child = Command::new(BIN)
            .args(["host", name, "--json", "--slots", "9", "--lease", LEASE, "--allow-modules"])
            .args([&allow("counter"), &allow("driver"), "--allow=sh=/bin/sh", "--allow=cat=/bin/cat"])
            .args(words)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: `{line}`"));
        let endpoint = said["endpoints"][0].as_str().unwrap().to_owned();
        Host { child, name: name.to_owned(), endpoint }
    }

    fn address(&self) -> String {
        format!("{}={}", self.name, self.endpoint)
    }

    /// What it says of itself.
    fn info(&self) -> Value {
        let output = run(&["hosts", &self.address(), "--json"], "");
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        all["hosts"][0].clone()
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(arguments: &[&str]) -> Child {
    let mut command = Command::new(BIN);
    command.args(arguments).env_remove("SWARMYARD_MODULE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs the command with some input.
fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = command(arguments);
    let mut stdin = child.stdin.take().unwrap();
    let text = input.to_owned();
    // The command may have ended without reading everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_chain_over_two_hosts_says_what_it_says_here() {
    let dir = folder("chain");
    let points = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/modules/points.txt");
    std::fs::copy(&points, dir.join("points.txt")).unwrap();
    let (a, b) = (Host::start("a", &dir, &["--can", "arms"]), Host::start("b", &dir, &[]));
    let here = format!("trajectory {}", points.display());
    let local = run(&["simulate", "local", &here, "local", "smooth", "local", "arm"], "");
    assert!(local.status.success() && said(&local).lines().count() > 30, "{}", errors(&local));
    let hosts = format!("{},{}", a.address(), b.endpoint);
    let since = Instant::now();
    // One by its name, one by what it can do, and one whose address does not say its name.
    let far =
        run(&["simulate", "--hosts", &hosts, "a", "trajectory points.txt", "b", "smooth", "arms", "arm"], "");
    println!("the chain over two hosts took {:?}", since.elapsed());
    assert!(far.status.success(), "{}", errors(&far));
    assert_eq!(said(&far), said(&local), "{}", errors(&far));
    let unknown = run(&["simulate", "--hosts", &hosts, "legs", "smooth", "b", "smooth"], "");
    assert!(errors(&unknown).contains("no host is, or can: `legs`"), "{}", errors(&unknown));
}

/// A source of so many numbers for the counter, in lines so long that not all of them are on the way at once.
fn numbers(count: u32) -> String {
    let long = "0.123456789 ".repeat(8);
    format!("sh -c 'i=0; while [ $i -lt {count} ]; do i=$((i+1)); echo 1 2 5 $i {long}$i; done'")
}

#[test]
fn a_host_that_is_killed_in_the_middle_of_a_stream_changes_no_byte_of_it() {
    let dir = folder("killed");
    let (mut a, b) = (Host::start("a", &dir, &[]), Host::start("b", &dir, &[]));
    let (source, count) = (numbers(1500), 1500);
    let counter = dir.join("counter").display().to_string();
    let hosts = format!("{},{}", a.address(), b.address());
    let mut child =
        command(&["simulate", "--lease", LEASE, "--hosts", &hosts, "local", &source, "a", "counter"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut out: Vec<String> = lines.by_ref().take(60).collect();
    let programs = a.info()["programs"].clone();
    assert_eq!(programs[0]["name"], "counter", "{programs}");
    assert!(programs[0]["bytes_in"].as_u64() > Some(100) && programs[0]["there_us"].is_f64(), "{programs}");
    let since = Instant::now();
    a.kill();
    out.extend(lines);
    println!("the rest of {} lines {:?} after the host was killed", out.len(), since.elapsed());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let told = errors(&output);
    assert!(told.contains("host `a` is gone") && told.contains("runs on host `b`"), "{told}");
    let local = run(&["simulate", "local", &source, "local", &counter], "");
    assert_eq!(out, said(&local).lines().collect::<Vec<_>>());
    assert!(out.last().unwrap().starts_with(&format!("2 9 1 {count} {count} ")), "{:?}", out.last());
}

#[test]
fn a_host_that_is_frozen_in_the_middle_of_a_stream_changes_no_byte_of_it() {
    let dir = folder("frozen");
    let (a, b) = (Host::start("a", &dir, &[]), Host::start("b", &dir, &[]));
    let source = numbers(1500);
    let counter = dir.join("counter").display().to_string();
    let hosts = format!("{},{}", a.address(), b.address());
    // Here silence is the subject, so the lease is one that passes.
    let mut child =
        command(&["simulate", "--lease", "6", "--hosts", &hosts, "local", &source, "a", "counter"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut out: Vec<String> = lines.by_ref().take(60).collect();
    let since = Instant::now();
    let frozen = Command::new("kill").args(["-STOP", &a.child.id().to_string()]).status().unwrap();
    assert!(frozen.success());
    out.extend(lines);
    println!("the rest of {} lines {:?} after the host was frozen", out.len(), since.elapsed());
    let output = child.wait_with_output().unwrap();
    let told = errors(&output);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("host `a`") && told.contains("runs on host `b`"), "{told}");
    let local = run(&["simulate", "local", &source, "local", &counter], "");
    assert_eq!(out, said(&local).lines().collect::<Vec<_>>());
}

#[test]
fn a_host_that_dies_with_the_source_and_two_modules_changes_no_byte_of_the_stream() {
    let dir = folder("whole-chain");
    let (mut a, b) = (Host::start("a", &dir, &[]), Host::start("b", &dir, &[]));
    // The rest is said when the host is gone, so the source is one of those that were lost.
    let gone = dir.join("gone");
    let source = format!(
        "sh -c 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo 1 $((i % 2 + 2)) 5 $i; \
         [ $i != 200 ] || until [ -e {} ]; do sleep 0.05; done; done'",
        gone.display()
    );
    let hosts = format!("{},{}", a.address(), b.address());
    let chain = ["a", &source, "a", "counter", "a", "counter"];
    let mut child = command(&[&["simulate", "--lease", LEASE, "--hosts", &hosts][..], &chain].concat());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut out: Vec<String> = lines.by_ref().take(60).collect();
    a.kill();
    std::fs::write(gone, "").unwrap();
    out.extend(lines);
    let output = child.wait_with_output().unwrap();
    let told = errors(&output);
    assert!(output.status.success(), "{told}");
    for module in ["1 (sh)", "2 (counter)", "3 (counter)"] {
        assert!(told.contains(&format!("module {module}, 0 s: died: lost: host `a`")), "{told}");
    }
    assert_eq!(told.matches("runs on host `b`").count(), 3, "{told}");
    assert!(!told.contains("others than before") && !told.contains("in another way"), "{told}");
    let counter = dir.join("counter").display().to_string();
    let local = run(&["simulate", "local", &source, "local", &counter, "local", &counter], "");
    assert_eq!(out, said(&local).lines().collect::<Vec<_>>(), "{told}");
    assert_eq!(out.len(), 401);
}

#[test]
fn a_host_that_is_withdrawn_in_the_middle_of_a_stream_changes_no_byte_of_it() {
    let dir = folder("withdrawn");
    let load = dir.join("load").display().to_string();
    std::fs::write(&load, "0").unwrap();
    let idle = ["--idle", "--busy-above", "1", "--load-from", &load];
    let (a, b) = (Host::start("a", &dir, &idle), Host::start("b", &dir, &[]));
    let source = numbers(1500);
    let counter = dir.join("counter").display().to_string();
    let hosts = format!("{},{}", a.address(), b.address());
    let mut child =
        command(&["simulate", "--lease", LEASE, "--hosts", &hosts, "local", &source, "a", "counter"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut out: Vec<String> = lines.by_ref().take(60).collect();
    // The owner comes back; nobody reads on before the host has noticed.
    std::fs::write(&load, "9").unwrap();
    let since = Instant::now();
    while a.info()["free"] != 0 {
        assert!(since.elapsed() < Duration::from_secs(60), "{}", a.info());
    }
    out.extend(lines);
    let output = child.wait_with_output().unwrap();
    let told = errors(&output);
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("lost: its owner needs the machine") && told.contains("runs on host `b`"),
        "{told}"
    );
    let local = run(&["simulate", "local", &source, "local", &counter], "");
    assert_eq!(out, said(&local).lines().collect::<Vec<_>>());
}

#[test]
fn a_module_is_added_on_another_host_while_a_chain_runs() {
    let dir = folder("added");
    let a = Host::start("a", &dir, &["--can", "sums"]);
    let address = a.address();
    let words = [
        "simulate",
        "--control",
        "--lease",
        LEASE,
        "--hosts",
        &address,
        "local",
        "sleep 1000",
        "local",
        "smooth",
    ];
    let mut child = command(&words);
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let reset = "0 0 0 -1 -1 -1 1 1 1";
    writeln!(stdin, "{reset}").unwrap();
    assert_eq!(lines.next().unwrap(), reset);
    assert!(lines.next().unwrap().starts_with("2 3 10 "));
    // By the name of the host, and by what it can do; one that is not there is told and changes nothing.
    writeln!(stdin, "add legs counter\nadd a counter\nadd sums counter").unwrap();
    writeln!(stdin, "0 3 5 1\n0 4 5 2\n0 3 5 3").unwrap();
    let said: Vec<String> = lines.by_ref().take(3).collect();
    assert_eq!(said, ["3 9 1 1 1", "4 9 1 1 2", "3 9 1 2 3"]);
    let programs = a.info()["programs"].clone();
    let names: Vec<_> = programs.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["counter", "counter"], "{programs}");
    writeln!(stdin, "0 0 65534").unwrap();
    assert_eq!(lines.last().unwrap(), "0 0 65534");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("not done: "), "{}", errors(&output));
}

/// Robots that wander for a minute, so that somebody can look on.
fn herd() -> String {
    let robots = many(12, "class = \"grid\", columns = 6, spacing = 1.2");
    Carts { run: "duration = \"60s\"", robots: &robots, ..WANDERERS }.text()
}

#[test]
fn hosts_tell_what_the_workers_of_a_run_under_way_have_done() {
    let dir = folder("figures");
    std::fs::write(dir.join("herd.toml"), herd()).unwrap();
    let a = Host::start("a", &dir, &[]);
    let (file, address) = (dir.join("herd.toml").display().to_string(), a.address());
    let words = ["run", &file, "--no-record", "-q", "--rtf", "1", "--hash-every", "1", "--workers", "2"];
    let mut child = command(&[&words[..], &["--hosts", &address, "--lease", LEASE]].concat());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.by_ref().take(20).count(), 20);
    let (since, running) = (Instant::now(), || a.info()["running"].clone());
    let told = loop {
        let told = running();
        let figures = told.as_array().unwrap().iter().map(|r| &r["figures"]);
        let is_told = |f: &Value| f["work_s"].as_f64() > Some(0.0) && f["sent"].as_u64() > Some(0);
        if figures.clone().count() == 2 && figures.clone().all(is_told) {
            break told;
        }
        assert!(since.elapsed() < Duration::from_secs(40), "{told}");
    };
    let bodies: u64 = told.as_array().unwrap().iter().map(|r| r["figures"]["bodies"].as_u64().unwrap()).sum();
    assert_eq!(bodies, 12, "{told}");
    let text = said(&run(&["hosts", &address], ""));
    assert_eq!(
        text.lines().filter(|l| l.contains(" s at work, ") && l.contains(" sent")).count(),
        2,
        "{text}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn built_in_modules_come_home_when_no_host_is_left() {
    let dir = folder("home");
    let mut a = Host::start("a", &dir, &[]);
    // The rest is said when the host is gone.
    let gone = dir.join("gone");
    let source = format!(
        "sh -c 'for i in 1 2 3 4 5; do echo 1 2 10 0 0 $i 0 0 0 0 0; [ $i != 2 ] || until [ -e {} ]; do sleep 0.05; done; done'",
        gone.display()
    );
    let address = a.address();
    let mut child =
        command(&["simulate", "--lease", LEASE, "--hosts", &address, "local", &source, "a", "smooth"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut out: Vec<String> = lines.by_ref().take(4).collect();
    a.kill();
    std::fs::write(gone, "").unwrap();
    out.extend(lines);
    let output = child.wait_with_output().unwrap();
    assert!(errors(&output).contains("module 2 (smooth) runs on this machine"), "{}", errors(&output));
    let local = run(&["simulate", "local", &source, "local", "smooth"], "");
    assert_eq!(out, said(&local).lines().collect::<Vec<_>>());
}

#[test]
fn a_sister_process_has_the_bytes_and_the_exit_code_of_a_program_elsewhere() {
    let dir = folder("sister");
    let mut a = Host::start("a", &dir, &[]);
    let address = a.address();
    let pipe = |words: &[&str], input: &str| {
        let all: Vec<&str> = ["pipe", "--bytes", "--lease", LEASE, "--hosts", &address, "--", "a"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        let since = Instant::now();
        (run(&all, input), since.elapsed())
    };
    let text = "0123456789abcdef\n".repeat(60_000);
    let (output, took) = pipe(&["cat"], &text);
    println!("a megabyte there and back, with the start of everything: {took:?}");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(said(&output) == text, "{} of {} bytes", output.stdout.len(), text.len());
    let (output, _) = pipe(&["sh", "-c", "read x; echo got $x; echo oh >&2; exit 7"], "word\n");
    assert_eq!(
        (output.status.code(), said(&output), errors(&output)),
        (Some(7), "got word\n".into(), "oh\n".into())
    );
    assert_eq!(pipe(&["sh", "-c", "kill -9 $$"], "").0.status.code(), Some(128 + 9));
    let (output, _) = pipe(&["/bin/cat"], "");
    assert_eq!(output.status.code(), Some(125));
    assert!(
        errors(&output).contains("host `a` refuses: its owner allows no program `/bin/cat`"),
        "{}",
        errors(&output)
    );
    assert_eq!(a.info()["allows"][0], "cat");

    let mut child = command(&["pipe", "--bytes", "--lease", LEASE, "--hosts", &address, "a", "cat"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(b"there?\n").unwrap();
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "there?\n");
    let pid = a.info()["programs"][0]["pid"].as_u64().unwrap();
    let process = PathBuf::from(format!("/proc/{pid}"));
    assert!(process.exists());
    let since = Instant::now();
    a.kill();
    let output = child.wait_with_output().unwrap();
    println!("the sister missed its host after {:?}", since.elapsed());
    assert_eq!(output.status.code(), Some(121), "{}", errors(&output));
    assert!(errors(&output).contains("host `a` is"), "{}", errors(&output));
    while process.exists() {
        assert!(since.elapsed() < Duration::from_secs(60), "it outlives its host");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn certificates_and_the_access_file_say_who_may_use_programs() {
    let dir = folder("keys");
    let keys = dir.join("keys").display().to_string();
    assert!(run(&["keys", "init", &keys], "").status.success());
    for name in ["a", "desk", "hand", "wall"] {
        assert!(run(&["keys", "add", &keys, name], "").status.success(), "{name}");
    }
    let access = dir.join("access.toml");
    let roles = [("a", "worker"), ("desk", "console"), ("hand", "module"), ("wall", "display")];
    let roles: String = roles.iter().map(|(name, role)| format!("{name} = [\"{role}\"]\n")).collect();
    std::fs::write(&access, format!("[members]\n{roles}")).unwrap();
    let a = Host::start("a", &dir, &["--keys", &keys, "--access", &access.display().to_string()]);
    let address = a.address();
    let pipe = |who: &[&str]| {
        let words = ["pipe", "--bytes", "--lease", LEASE, "--hosts", &address];
        let words: Vec<&str> = words.iter().chain(who).chain(&["a", "cat"]).copied().collect();
        run(&words, "hello")
    };
    for name in ["desk", "hand"] {
        let allowed = pipe(&["--keys", &keys, "--name", name]);
        assert_eq!(
            (allowed.status.code(), said(&allowed)),
            (Some(0), "hello".into()),
            "{}",
            errors(&allowed)
        );
    }
    // A display may look at the host, and has nothing started there; a stranger does not even reach it.
    let wall = ["--keys", &keys, "--name", "wall"];
    for (who, why) in [(&wall[..], "host `a` refuses"), (&[], "host `a` at ")] {
        let refused = pipe(who);
        assert_eq!((refused.status.code(), said(&refused)), (Some(125), String::new()), "{who:?}");
        assert!(errors(&refused).contains(why), "{}", errors(&refused));
    }
}

/// A world whose two robots are driven by the program `driver`; `more` is more TOML for their controller.
fn world(more: &str) -> String {
    let register = |part: &str, channel: &str, at: u32, signed: bool| {
        format!(
            "[[type.bot.register]]\npart = \"{part}\"\nchannel = \"{channel}\"\nat = {at}\nsigned = {signed}\nscale = 0.001\n"
        )
    };
    format!(
        "format = 1\n[run]\nquantum = \"100ms\"\nduration = \"2s\"\n[world]\nmin = [-5, -5]\nmax = [5, 5]\n\
         [type.bot]\nradius = \"10cm\"\n[[type.bot.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
         [[type.bot.part]]\nname = \"sonar\"\nclass = \"sonar\"\ncount = 4\nrange = \"3m\"\n{}{}{}\
         [type.bot.controller]\nclass = \"process\"\nsource = \"driver\"\narguments = [\"3\"]\n{more}\n\
         [[robot]]\nname = \"r\"\ntype = \"bot\"\ncount = 2\nlayout = {{ class = \"row\", step = [0, 1] }}\n",
        register("sonar", "range", 0x10, false),
        register("drive", "left", 0x20, true),
        register("drive", "right", 0x22, true),
    )
}

#[test]
fn a_controller_on_another_host_decides_what_it_decides_here() {
    let dir = folder("controller");
    let file = |name: &str, more: &str| {
        std::fs::write(dir.join(name), world(more)).unwrap();
        dir.join(name).display().to_string()
    };
    let here = file("here.toml", "think = 0\npatience = 0");
    let far = file("far.toml", "think = 0\npatience = 0\non = \"a\"");
    let a = Host::start("a", &dir, &["--can", "display"]);
    let address = a.address();
    let hashes = |words: &[&str]| {
        let words: Vec<&str> = ["run", "-q", "--hash-every", "1"].iter().chain(words).copied().collect();
        let since = Instant::now();
        let output = run(&words, "");
        assert!(output.status.success(), "{words:?}: {}", errors(&output));
        (said(&output), since.elapsed())
    };
    let (local, here_took) = hashes(&[&here, "--no-record"]);
    assert_eq!(local.lines().count(), 20, "{local}");
    let tape = dir.join("far.mcap").display().to_string();
    let (there, took) = hashes(&[&far, "--record", &tape, "--reach", &address, "--lease", LEASE]);
    println!("two robots, 20 decisions each on another host: {took:?}, here {here_took:?}");
    assert_eq!(there, local, "the same decisions");
    let (divided, _) = hashes(&[&far, "--no-record", "--reach", &address, "--workers", "2"]);
    assert_eq!(divided, local, "also when workers ask for them");
    // Of workers that were killed the host hears after a lease at the latest.
    let since = Instant::now();
    while !a.info()["programs"].as_array().unwrap().is_empty() {
        assert!(since.elapsed() < Duration::from_secs(60), "something of it is left there: {}", a.info());
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(a);
    let again = run(&["replay", &tape, "--verify"], "");
    assert!(again.status.success(), "a recording needs no host: {}", errors(&again));

    let nowhere = run(&["run", "--no-record", &far], "");
    assert!(format!("{}{}", said(&nowhere), errors(&nowhere)).contains("--reach"), "{}", errors(&nowhere));
    for (more, what) in [
        ("on = \"a\"", "`think` must be given"),
        ("on = \"a\"\nthink = 0\ntransport = \"shared\"", "no memory is shared"),
        ("on = \"\"\nthink = 0", "no name of a host"),
    ] {
        let wrong = run(&["check", &file("wrong.toml", more)], "");
        let told = format!("{}{}", said(&wrong), errors(&wrong));
        assert!(wrong.status.code() == Some(3) && told.contains(what), "{more}: {told}");
    }
}

/// Robots with a drive and a sensor that are modelled outside.
fn modelled(more: &str) -> String {
    format!(
        r#"format = 1
[run]
quantum = "100ms"
duration = "3s"
[[wall]]
points = [[2, -2], [2, 2]]
[[track]]
points = [[-3, 0], [3, 0]]
width = "5cm"
[type.bot]
radius = "10cm"
[[type.bot.part]]
name = "light"
class = "sensor-model"
reach = 3
{more}
code = '''
#include "part.h"
static int level;
void part_describe(void) {{ level = part_reading("level", 2, "", -1000, 1000, "Floor and company."); part_keep(1); }}
void part_step(void) {{
    part_body me;
    part_self(&me);
    part_set_state(0, part_state(0) + part_uniform(0));
    part_out(level, 0, part_reflectivity(me.x, me.y) + part_state(0));
    part_out(level, 1, part_body_count() + part_near_count());
}}
'''
[[type.bot.part]]
name = "hover"
class = "drive-model"
{more}
code = '''
#include "part.h"
void part_describe(void) {{ part_keep(1); }}
void part_step(void) {{
    part_set_state(0, part_state(0) + 0.01);
    part_motion(0.5 + 0.1 * part_normal(1), part_state(0), 0.3);
}}
'''
[[robot]]
name = "r"
type = "bot"
count = 6
layout = {{ class = "grid", spacing = 0.5 }}
"#
    )
}

#[test]
fn a_part_model_on_another_host_answers_what_it_answers_here_and_comes_home_when_the_host_is_lost() {
    let dir = folder("parts");
    let file = |name: &str, more: &str| {
        std::fs::write(dir.join(name), modelled(more)).unwrap();
        dir.join(name).display().to_string()
    };
    let (here, far) = (file("here.toml", ""), file("far.toml", "on = \"a\""));
    let hashes = |words: &[&str]| {
        let words: Vec<&str> =
            ["run", "-q", "--no-record", "--hash-every", "1"].iter().chain(words).copied().collect();
        let output = run(&words, "");
        assert!(output.status.success(), "{words:?}: {}", errors(&output));
        said(&output)
    };
    let local = hashes(&[&here]);
    assert_eq!(local.lines().count(), 30, "{local}");
    let mut a = Host::start("a", &dir, &[]);
    let address = a.address();
    // While such a run goes on, the host says what it computes.
    let slow = ["--rtf", "1", "--until", "tick:6000"];
    let mut running =
        command(&[&["run", "-q", "--no-record", &far, "--reach", &address][..], &slow].concat());
    let since = Instant::now();
    let computes = loop {
        let programs = a.info()["programs"].as_array().unwrap().clone();
        if programs.len() == 2 && programs.iter().all(|p| p["bytes_out"].as_u64() > Some(0)) {
            break programs;
        }
        assert!(
            since.elapsed() < Duration::from_secs(60) && running.try_wait().unwrap().is_none(),
            "{programs:?}"
        );
    };
    assert!(computes.iter().all(|p| p["name"] == "sandbox"), "{computes:?}");
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(hashes(&[&far, "--reach", &address, "--lease", LEASE]), local);
    assert_eq!(hashes(&[&far, "--reach", &address, "--workers", "2"]), local, "also on workers");
    a.kill();
    assert_eq!(
        hashes(&[&far, "--reach", &address, "--lease", LEASE]),
        local,
        "nobody is there: computed here"
    );
    assert_eq!(hashes(&[&far]), local, "and when nobody said where hosts are");
}

/// What a program in the sandbox does: it remembers, says something now and then, and crashes at its 17th step, after
/// which it is started anew. Decisions take as long as their fuel.
const PROGRAM: &str = r#"
static int n, steps, turn[64];
void robot_setup(void) { n = 7; }
void robot_step(void)
{
    steps++;
    n = (n * 31 + rio_peek16(SONAR_RANGE) + (int)rio_ticks()) % 997;
    for (int k = 0; k < n; k++) turn[k % 64] += k;
    if (steps % 5 == 0) rio_log("five more");
    if (steps == 17) __builtin_trap();
    rio_pokes16(DRIVE_LEFT, (int16_t)(150 + n % 100)); rio_pokes16(DRIVE_RIGHT, (int16_t)(150 + turn[n % 64] % 100));
}
void robot_stop(void) { rio_log("good-bye"); }
"#;

/// A world of some robots with that program; `on` is more TOML for their controller.
fn programmed(on: &str, robots: u32) -> String {
    let world = world("").replace("count = 2", &format!("count = {robots}")).replace("[0, 1]", "[0, 0.5]");
    let program = format!(
        "class = \"program\"\nclock = 100_000\non_crash = \"restart\"\n{on}\ncode = '''\n#include \"rio.h\"\n#include \"registers.h\"\n{PROGRAM}'''\n"
    );
    let text = world.replace("class = \"process\"\nsource = \"driver\"\narguments = [\"3\"]\n", &program);
    assert!(text.contains("rio_log") && text.contains(&format!("count = {robots}")), "{text}");
    text.replace("duration = \"2s\"", "duration = \"4s\"")
}

/// `tick time hash` of every step of a run.
fn hashes(words: &[&str]) -> String {
    let words: Vec<&str> = ["run", "-q", "--hash-every", "1"].iter().chain(words).copied().collect();
    let output = run(&words, "");
    assert!(output.status.success(), "{words:?}: {}", errors(&output));
    said(&output)
}

/// The one line of figures about a host, at the end of a run.
fn figures(words: &[&str]) -> Value {
    let words: Vec<&str> = ["run", "--json", "--no-record"].iter().chain(words).copied().collect();
    let output = run(&words, "");
    assert!(output.status.success(), "{words:?}: {}", errors(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["elsewhere"].clone()
}

#[test]
fn a_program_in_the_sandbox_of_another_host_does_what_it_does_here() {
    let dir = folder("sandbox");
    let file = |name: &str, on: &str| {
        std::fs::write(dir.join(name), programmed(on, 6)).unwrap();
        dir.join(name).display().to_string()
    };
    let (here, far) = (file("here.toml", ""), file("far.toml", "on = \"a\""));
    let tape = dir.join("here.mcap").display().to_string();
    let local = hashes(&[&here, "--record", &tape]);
    assert_eq!(local.lines().count(), 40, "{local}");
    // Nobody allowed it: it is a sandbox.
    let a = Host::start("a", &dir, &[]);
    let address = a.address();
    let reach = ["--reach", &address, "--lease", LEASE];
    let far_tape = dir.join("far.mcap").display().to_string();
    let with = |words: &[&str]| -> Vec<String> {
        [&[far.as_str()][..], words, &reach].concat().iter().map(|w| (*w).to_owned()).collect()
    };
    let there = with(&["--record", &far_tape]);
    assert_eq!(hashes(&there.iter().map(String::as_str).collect::<Vec<_>>()), local, "the same decisions");
    let divided = with(&["--no-record", "--workers", "2"]);
    let divided: Vec<&str> = divided.iter().map(String::as_str).collect();
    assert_eq!(hashes(&divided), local, "also when workers ask for them");

    let cost = figures(&[&far, "--reach", &address]);
    println!("six robots elsewhere, 40 quanta: {cost}");
    assert_eq!(cost[0]["place"], "a");
    assert!(cost[0]["answers"].as_u64() >= Some(20) && cost[0]["sent"].as_u64() > Some(1000), "{cost}");
    let spread = figures(&[&far, "--reach", &address, "--workers", "2"]);
    assert!(spread[0]["answers"].as_u64() >= Some(20), "what workers asked for counts: {spread}");
    let output = run(&["run", "--no-record", &far, "--reach", &address], "");
    let (told, heard) = (said(&output), errors(&output));
    let line = told.lines().find(|l| l.starts_with("  elsewhere   a: ")).unwrap_or_else(|| panic!("{told}"));
    assert!(line.contains(" answers of ") && line.contains(" kB out, ") && line.ends_with(" in"), "{line}");
    assert!(heard.contains("five more") && heard.contains("good-bye"), "what it says: {heard}");
    drop(a);

    let again = run(&["replay", &far_tape, "--verify"], "");
    assert!(again.status.success(), "a recording needs no host: {}", errors(&again));
    let differs = run(&["diff", &tape, &far_tape], "");
    assert!(differs.status.success(), "the same recording: {}{}", said(&differs), errors(&differs));
    assert_eq!(
        hashes(&[&far, "--no-record", "--reach", &address, "--lease", LEASE]),
        local,
        "nobody is there"
    );
    assert_eq!(hashes(&[&far, "--no-record"]), local, "nobody said where hosts are");
    assert_eq!(figures(&[&far]), serde_json::json!([]));
}

#[test]
fn a_program_goes_on_here_when_its_host_is_killed() {
    let dir = folder("sandbox-killed");
    for (name, on) in [("here.toml", ""), ("far.toml", "on = \"a\"")] {
        std::fs::write(dir.join(name), programmed(on, 3)).unwrap();
    }
    // Its hashes do not fit into a pipe, so a run is not over as long as nobody has read half of them.
    let until = ["--no-record", "--until", "tick:4000"];
    let here = dir.join("here.toml").display().to_string();
    let local = hashes(&[&[here.as_str()][..], &until].concat());
    assert!(local.len() > 100_000, "{}", local.len());
    let far = dir.join("far.toml").display().to_string();
    for workers in [&[][..], &["--workers", "2"]] {
        let mut a = Host::start("a", &dir, &[]);
        let address = a.address();
        let reach = ["--hash-every", "1", "--reach", &address, "--lease", LEASE];
        let words = [&["run", "-q", &far][..], &until, &reach, workers].concat();
        let mut child = command(&words);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut out: Vec<String> = lines.by_ref().take(60).collect();
        assert!(!a.info()["programs"].as_array().unwrap().is_empty(), "it runs there");
        a.kill();
        out.extend(lines);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        let differs = out.iter().zip(local.lines()).find(|(there, here)| there != here);
        assert_eq!((out.len(), differs), (4000, None), "{workers:?}: {}", errors(&output));
        assert!(errors(&output).contains("on host `a` is lost"), "{}", errors(&output));
    }
}

#[test]
fn a_run_with_programs_elsewhere_is_kept_brought_back_branched_and_given_new_code() {
    use swarmyard::{Options, Sim, Timeline};
    let dir = folder("sandbox-kept");
    let code = |k: u32| {
        format!(
            "#include \"rio.h\"\n#include \"registers.h\"\n{}",
            PROGRAM.replace("n * 31", &format!("n * {k}"))
        )
    };
    let file = dir.join("far.toml");
    let text = programmed("on = \"a\"", 3);
    let (before, rest) = text.split_once("code = '''").unwrap();
    let (_, after) = rest.split_once("'''\n").unwrap();
    std::fs::write(&file, format!("{before}source = \"bot.c\"\n{after}")).unwrap();
    let mut a = Host::start("a", &dir, &[]);
    let words = ["pipe", "--bytes", "--lease", LEASE, "--hosts", &a.address()].map(str::to_owned).to_vec();
    let prices = swarmyard_agents::Prices::default();
    let elsewhere = swarmyard_agents::Elsewhere { program: BIN.into(), words, prices: prices.clone() };
    // The same history, here and there; answers every hash on the way, and those after each way back.
    let history = |options: &Options, mut lose: Option<&mut Host>| {
        std::fs::write(dir.join("bot.c"), code(31)).unwrap();
        let mut sim = Sim::load(&file, options).unwrap_or_else(|e| panic!("{e}"));
        let mut timeline = Timeline::new(1 << 20);
        let mut all = Vec::new();
        let mut go = |sim: &mut Sim, timeline: &mut Timeline, steps: u32| {
            for _ in 0..steps {
                sim.step().unwrap();
                timeline.keep(sim);
                all.push((sim.hash(), sim.full_hash()));
            }
            all.last().copied()
        };
        timeline.keep(&mut sim);
        go(&mut sim, &mut timeline, 9);
        let kept = sim.snapshot();
        let first = go(&mut sim, &mut timeline, 6);
        sim.restore(&kept).unwrap();
        timeline = Timeline::new(1 << 20);
        timeline.keep(&mut sim);
        assert_eq!(go(&mut sim, &mut timeline, 6), first, "brought back, it comes to the same");
        std::fs::write(dir.join("bot.c"), code(33)).unwrap();
        sim.reload("bot", "controller").unwrap();
        go(&mut sim, &mut timeline, 5);
        let view = timeline.view(&sim, 12).unwrap();
        let seen = (view.hash(), view.full_hash());
        timeline.branch(&mut sim, view).unwrap();
        assert_eq!((sim.hash(), sim.full_hash()), seen);
        if let Some(host) = &mut lose {
            host.kill();
        }
        go(&mut sim, &mut timeline, 8);
        all.push(seen);
        all
    };
    let local = history(&Options::default(), None);
    assert_eq!(local.len(), 35);
    let far = Options { elsewhere: Some(elsewhere), ..Options::default() };
    assert_eq!(history(&far, None), local);
    let answers = prices.all()[0].1.answers;
    assert!(answers > 20, "{answers} answers came from there");
    assert_eq!(history(&far, Some(&mut a)), local, "also when the host is lost");
    assert!(prices.all()[0].1.answers > answers + 10);
}

#[test]
fn a_program_elsewhere_needs_the_right_certificate_and_is_computed_here_without() {
    let dir = folder("sandbox-keys");
    std::fs::write(dir.join("far.toml"), programmed("on = \"sums\"", 2)).unwrap();
    let (far, keys) = (dir.join("far.toml").display().to_string(), dir.join("keys").display().to_string());
    for words in [["init", &keys, ""], ["add", &keys, "a"], ["add", &keys, "desk"], ["add", &keys, "wall"]] {
        let words: Vec<&str> = ["keys"].into_iter().chain(words).filter(|w| !w.is_empty()).collect();
        assert!(run(&words, "").status.success(), "{words:?}");
    }
    let access = dir.join("access.toml").display().to_string();
    std::fs::write(&access, "[members]\na = [\"worker\"]\ndesk = [\"console\"]\nwall = [\"display\"]\n")
        .unwrap();
    let a = Host::start("a", &dir, &["--keys", &keys, "--access", &access, "--can", "sums"]);
    let address = a.address();
    let local = hashes(&[&far, "--no-record"]);
    let reach = [far.as_str(), "--reach", &address, "--keys", &keys, "--name"];
    for (who, is_let_in) in [("desk", true), ("wall", false)] {
        let words: Vec<&str> = reach.iter().copied().chain([who]).collect();
        let cost = figures(&words);
        assert_eq!(cost[0]["answers"].as_u64() > Some(0), is_let_in, "{who}: {cost}");
        let words: Vec<&str> = words.into_iter().chain(["--no-record"]).collect();
        assert_eq!(hashes(&words), local, "{who}");
    }
}

#[test]
fn a_served_run_and_a_sweep_reach_hosts_too() {
    let dir = folder("sandbox-served");
    for (name, on) in [("here.toml", ""), ("far.toml", "on = \"a\"")] {
        std::fs::write(dir.join(name), programmed(on, 2)).unwrap();
    }
    let path = |name: &str| dir.join(name).display().to_string();
    let a = Host::start("a", &dir, &[]);
    let address = a.address();
    let is_there = || a.info()["programs"].as_array().unwrap().iter().any(|p| p["name"] == "sandbox");

    let mut server =
        command(&["serve", &path("far.toml"), "--port", "0", "--reach", &address, "--lease", LEASE]);
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
    let ctl = |words: &[&str]| {
        let output = run(&[&["ctl", &url][..], words].concat(), "");
        assert!(output.status.success(), "{words:?}: {}", errors(&output));
        said(&output)
    };
    ctl(&["step", "10"]);
    let since = Instant::now();
    let status = loop {
        let status: Value = serde_json::from_str(&ctl(&["status", "--json"])).unwrap();
        if status["stop"] == 10 {
            break status;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{status}");
    };
    assert!(is_there(), "its programs run there");
    let local = hashes(&[&path("here.toml"), "--no-record"]);
    let tenth = local.lines().nth(9).and_then(|l| l.rsplit_once(' ')).unwrap().1.to_owned();
    assert_eq!(status["hash"], tenth.as_str());
    ctl(&["exit"]);
    assert!(server.wait().unwrap().success());

    let sweep = |words: &[&str]| {
        let all =
            [&["sweep"][..], words, &["--vary", "run.quantum=50ms,100ms", "--seeds", "2", "--jobs", "2"]];
        let output = run(&all.concat(), "");
        assert!(output.status.success(), "{words:?}: {}", errors(&output));
        said(&output)
    };
    let rows = sweep(&[&path("here.toml")]);
    assert_eq!(rows.lines().count(), 5, "{rows}");
    assert_eq!(sweep(&[&path("far.toml"), "--reach", &address, "--lease", LEASE]), rows);
}

#[test]
fn where_a_program_cannot_be_is_said() {
    let dir = folder("sandbox-wrong");
    let check = |text: String, what: &str| {
        std::fs::write(dir.join("wrong.toml"), text).unwrap();
        let wrong = run(&["check", &dir.join("wrong.toml").display().to_string()], "");
        let told = format!("{}{}", said(&wrong), errors(&wrong));
        assert!(wrong.status.code() == Some(3) && told.contains(what), "{told}");
    };
    check(programmed("on = \"\"", 1), "no name of a host");
    let algorithm = "format = 1\n[type.bot]\nradius = \"10cm\"\n[[type.bot.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\
        [type.bot.algorithm]\nclass = \"program\"\non = \"a\"\ncode = '''\n#include \"swarm.h\"\n\
        void robot_event(int kind, int a, double x, double y) { (void)kind, (void)a, (void)x, (void)y; }\n'''\n\
        [[robot]]\nname = \"r\"\ntype = \"bot\"\n";
    check(algorithm.to_owned(), "runs where its robot does");
}
