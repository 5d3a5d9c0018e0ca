//! `cargo xtask test`: every check, with a count at the end.

use crate::goldens::Golden;
use crate::{cargo, root, run, suites, tools, web};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Counts over all test programs.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
    /// Tests that said that they can do nothing on this machine.
    pub(crate) skipped: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.skipped += other.skipped;
    }
}

/// Runs every check; all of them, even when one fails.
pub(crate) fn all() -> Result<(), String> {
    let python = python_with_packages();
    let mut counts = Counts::default();
    let mut failures = Vec::new();
    let mut check = |name: &str, done: Result<(), String>| match done {
        Ok(()) => println!("ok      {name}"),
        Err(why) => {
            println!("FAILED  {name}: {why}");
            failures.push(name.to_owned());
        }
    };
    check("tools", timed("tools", tools::install));
    let python = python.map_err(|why| check("python", Err(why))).ok();
    check("page", timed("page", || web::check().and_then(|()| web::build())));
    check("format", timed("format", || cargo(&["fmt", "--all", "--check"])));
    let lint = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    check("lints", timed("lints", || cargo(&lint)));
    check("build", timed("build", || cargo(&["test", "--workspace", "--no-run"])));
    // Tests and browsers wait a good deal, for each other and for clocks: what they leave of the processors is enough.
    let release = std::thread::spawn(build_release);
    let mut second_try = Vec::new();
    let tests = timed("tests", || {
        second_try = suites::all(python.as_deref(), &mut counts)?;
        Ok(())
    });
    check("tests", tests);
    let mut page = Counts::default();
    check("page, units", timed("page, units", || web::unit_tests(&mut page)));
    // Browsers need nothing of cargo: what they leave is enough for this too.
    let docs = std::thread::spawn(build_docs);
    check("page, in the browser", timed("page, in the browser", || web::browser_tests(&mut page)));
    let docs = timed("docs", || docs.join().map_err(|_| "rustdoc could not be started")?);
    check("docs", docs);
    let worlds: Vec<String> = worlds();
    // The command that the tests built: built alone, with fewer features of what it stands on, it would be another.
    let command = web::target().join("debug/swarmyard").display().to_string();
    let mut args = vec!["check"];
    args.extend(worlds.iter().map(String::as_str));
    check("worlds", timed("worlds", || run(&command, &args, &[])));
    check("same bits on workers", timed("same bits on workers", || same_bits_on_workers(&command)));
    let in_release = timed("same bits in release", || {
        release.join().map_err(|_| "the release build could not be started")??;
        same_bits_in_release()
    });
    check("same bits in release", in_release);
    let Counts { passed, failed, ignored, skipped } = counts;
    for name in second_try {
        println!("passed only at the second try: {name}");
    }
    println!("\nof the page: {} passed, {} failed, {} ignored", page.passed, page.failed, page.ignored);
    println!(
        "tests: {} passed, {} failed, {} ignored, {skipped} skipped; worlds checked: {}",
        passed + page.passed,
        failed + page.failed,
        ignored + page.ignored,
        worlds.len()
    );
    if failures.is_empty() { Ok(()) } else { Err(format!("failed: {}", failures.join(", "))) }
}

fn timed(name: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    println!("\n==== {name}");
    let start = Instant::now();
    let done = work();
    println!("---- {name} took {:.0} s", start.elapsed().as_secs_f64());
    done
}

/// Builds the documentation, beside the browsers and after them, so that they do not wait for it.
fn build_docs() -> Result<(), String> {
    let build = ["cargo", "doc", "--quiet", "--workspace", "--no-deps"];
    run("nice", &[&["-n", "10"][..], &build].concat(), &[("RUSTDOCFLAGS", "-D warnings")])
}

/// Builds the command as it is shipped, behind everything else that wants a processor. It has no features, which must
/// not change a bit, and so the heavy ones are not built twice.
fn build_release() -> Result<(), String> {
    let build = ["cargo", "build", "--quiet", "--release", "--no-default-features", "-p", "swarmyard"];
    run("nice", &[&["-n", "19"][..], &build].concat(), &[])
}

/// Runs every golden world with the release build and compares the hashes: the tests above ran with the other profile.
fn same_bits_in_release() -> Result<(), String> {
    let command = web::target().join("release/swarmyard");
    Golden::all()?
        .iter()
        .try_for_each(|golden| golden.compare(&mut Command::new(&command), &[], "in release"))
}

/// Runs every golden world on worker processes, in turn on 1, 2, 3 and 5, and compares the hashes.
fn same_bits_on_workers(command: &str) -> Result<(), String> {
    for (golden, workers) in Golden::all()?.iter().zip(["1", "2", "3", "5"].into_iter().cycle()) {
        let more = ["--workers", workers, "--lease", "20"];
        golden.compare(&mut Command::new(command), &more, &format!("on {workers} workers"))?;
    }
    Ok(())
}

/// A Python with the public `mcap` packages, so that recordings are read by something nobody here
/// wrote, and with `websockets`, so that somebody else's display is one.
///
/// # Errors
/// When it cannot be had; says why.
fn python_with_packages() -> Result<String, String> {
    let venv = root().join("target/python");
    let python = venv.join("bin/python");
    let path = python.display().to_string();
    let works = |path: &str| {
        let args = ["-c", "import mcap, mcap_ros2, websockets.sync.client"];
        Command::new(path).args(args).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
    };
    if !works(&path) {
        let folder = venv.display().to_string();
        run("python3", &["-m", "venv", &folder], &[])
            .or_else(|_| {
                tools::apt(&["python3", "python3-venv"])?;
                run("python3", &["-m", "venv", &folder], &[])
            })
            .and_then(|()| {
                let packages = ["mcap", "mcap-ros2-support", "websockets"];
                run(&path, &[&["-m", "pip", "install", "--quiet"][..], &packages].concat(), &[])
            })
            .map_err(|why| format!("no Python with `mcap` and `websockets`: {why}"))?;
    }
    if works(&path) { Ok(path) } else { Err(format!("`mcap` or `websockets` cannot be loaded by {path}")) }
}

fn worlds() -> Vec<String> {
    let mut all: Vec<String> = std::fs::read_dir(root().join("worlds"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| format!("worlds/{}", entry.file_name().to_string_lossy()))
        .filter(|name| name.ends_with(".toml"))
        .collect();
    all.sort();
    all
}
