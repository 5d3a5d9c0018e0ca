//! Programs that the tests need and cargo cannot bring, from Debian's packages.

use crate::run;
use std::process::{Command, Stdio};

/// A program, and the package it is in.
const TOOLS: [(&str, &str); 6] = [
    ("clang", "clang"),
    ("ld.lld", "lld"),
    ("wasm-ld", "lld"),
    ("qemu-system-arm", "qemu-system-arm"),
    ("swipl", "swi-prolog-nox"),
    ("chromium", "chromium"),
];

/// Installs what is missing; nothing when all is there.
pub(crate) fn install() -> Result<(), String> {
    install_of(&TOOLS)
}

/// The same for what it takes to compile controllers.
pub(crate) fn compiler() -> Result<(), String> {
    install_of(&TOOLS[..3])
}

/// The same for what builds the browser page.
pub(crate) fn node() -> Result<(), String> {
    install_of(&[("node", "nodejs"), ("npm", "npm")])
}

/// The same for these programs and their packages.
pub(crate) fn install_of(tools: &[(&str, &'static str)]) -> Result<(), String> {
    let packages = missing(tools);
    if packages.is_empty() {
        return Ok(());
    }
    println!("installing {}", packages.join(" "));
    apt(&packages)?;
    match missing(tools) {
        left if left.is_empty() => Ok(()),
        left => Err(format!("the programs of {} are still not found", left.join(" "))),
    }
}

/// Installs Debian packages: as root, or else by sudo if that asks for no password.
pub(crate) fn apt(packages: &[&str]) -> Result<(), String> {
    let by_hand =
        format!("apt-get update && apt-get install -y --no-install-recommends {}", packages.join(" "));
    let before: &[&str] = if is_root() {
        &[]
    } else if answers("sudo", &["-n", "true"]) {
        &["sudo", "-n"]
    } else {
        return Err(format!("no right to install packages: run this as root, then try again:\n  {by_hand}"));
    };
    let apt_get = |args: &[&str]| {
        let words = [before, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], args].concat();
        run(words[0], &words[1..], &[])
    };
    let install = ["install", "-y", "-qq", "--no-install-recommends"];
    apt_get(&["update", "-qq"]).and_then(|()| apt_get(&[&install, packages].concat())).map_err(|why| {
        format!("{why}; on Debian this should work, elsewhere install these by hand:\n  {by_hand}")
    })
}

/// Packages whose programs are not in the path, each once.
fn missing(tools: &[(&str, &'static str)]) -> Vec<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |program: &str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let mut packages: Vec<&'static str> =
        tools.iter().filter(|(p, _)| !there(p)).map(|(_, package)| *package).collect();
    packages.dedup();
    packages
}

pub(crate) fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

fn answers(program: &str, args: &[&str]) -> bool {
    let quiet = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}
