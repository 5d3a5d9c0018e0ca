//! The browser page: its packages, its build, its checks.

use crate::tests::Counts;
use crate::{root, tools};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Builds the page into `web/dist`, where the server's build finds it.
pub(crate) fn build() -> Result<(), String> {
    install()?;
    npm(&["run", "--silent", "build"])
}

/// Types and format of the page's sources.
pub(crate) fn check() -> Result<(), String> {
    install()?;
    npm(&["run", "--silent", "check"])
}

/// Tests of the page's own logic, without a browser.
pub(crate) fn unit_tests(counts: &mut Counts) -> Result<(), String> {
    counted("unit", &[], &[], counts)
}

/// Tests in a real browser against real servers; the command must be built.
pub(crate) fn browser_tests(counts: &mut Counts) -> Result<(), String> {
    let command = target().join("debug/swarmyard").display().to_string();
    counted("test", &[], &[("SWARMYARD_BIN", &command)], counts)
}

/// Pictures of the page for the guide.
pub(crate) fn pictures() -> Result<(), String> {
    let command = target().join("debug/swarmyard").display().to_string();
    counted("pictures", &[], &[("SWARMYARD_BIN", &command)], &mut Counts::default())
}

/// Brings the packages that `package-lock.json` names, unless they are there.
fn install() -> Result<(), String> {
    tools::node()?;
    let web = root().join("web");
    let wanted = std::fs::read(web.join("package-lock.json")).map_err(|e| e.to_string())?;
    let stamp = web.join("node_modules/.as-locked");
    if std::fs::read(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    npm(&["ci", "--no-audit", "--no-fund", "--loglevel=error"])?;
    std::fs::write(&stamp, wanted).map_err(|e| e.to_string())
}

fn npm(args: &[&str]) -> Result<(), String> {
    let status = Command::new("npm").args(args).current_dir(root().join("web")).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`npm {}` failed ({status})", args.join(" "))),
        Err(e) => Err(format!("cannot run npm: {e}")),
    }
}

/// Runs a script of the page's package, passes its output on, and adds up its counts.
fn counted(script: &str, args: &[&str], envs: &[(&str, &str)], counts: &mut Counts) -> Result<(), String> {
    let mut child = Command::new("npm")
        .args(["run", "--silent", script, "--"])
        .args(args)
        .envs(envs.iter().copied())
        .env("NO_COLOR", "1")
        .env("CI", "1")
        .current_dir(root().join("web"))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run npm: {e}"))?;
    let output = child.stdout.take().ok_or("npm has no output")?;
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        // Vitest: `Tests  3 failed | 12 passed (15)`; Playwright: one line `  12 passed (1.0m)` per word.
        let line = line.trim();
        let summary = line.strip_prefix("Tests").unwrap_or(line);
        if line.starts_with("Tests ")
            || line.split_whitespace().next().is_some_and(|w| w.parse::<u64>().is_ok())
        {
            counts.passed += number_before(summary, "passed");
            counts.failed += number_before(summary, "failed");
            counts.ignored += number_before(summary, "skipped");
        }
        println!("{line}");
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("`npm run {script}` failed ({status})")) }
}

/// The number right before a word, or 0.
pub(crate) fn number_before(text: &str, word: &str) -> u64 {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || "|();,".contains(c)).filter(|w| !w.is_empty()).collect();
    let found = words.windows(2).find(|pair| pair[1] == word);
    found.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}
