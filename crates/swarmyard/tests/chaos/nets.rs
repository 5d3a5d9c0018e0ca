//! Two machines with a cable between them: network namespaces of this one, made by the test.

use crate::yard::{Host, Run, done, folder};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// The address of each machine.
pub(crate) const ADDRESSES: [&str; 2] = ["10.213.77.1", "10.213.77.2"];

/// Two machines and their cable, until this is dropped.
pub(crate) struct Net {
    names: [String; 2],
}

impl Net {
    /// Makes them.
    ///
    /// # Errors
    /// Where that is not allowed, or there is no `ip`.
    pub(crate) fn make() -> Result<Net, String> {
        let names = ["a", "b"].map(|end| format!("swarmyard-{}-{end}", std::process::id()));
        // From here on they are removed again, whatever happens.
        let net = Net { names };
        let [a, b] = &net.names;
        ip(&["netns", "add", a])?;
        ip(&["netns", "add", b])?;
        ip(&["link", "add", "cable", "netns", a, "type", "veth", "peer", "name", "cable", "netns", b])?;
        for (name, address) in net.names.iter().zip(ADDRESSES) {
            ip(&["-n", name, "addr", "add", &format!("{address}/24"), "dev", "cable"])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
            ip(&["-n", name, "link", "set", "cable", "up"])?;
        }
        Ok(net)
    }

    /// What starts a program on a machine.
    pub(crate) fn on(&self, machine: usize) -> [String; 4] {
        ["ip".into(), "netns".into(), "exec".into(), self.names[machine].clone()]
    }

    /// Pulls the cable out, or puts it back.
    pub(crate) fn cable(&self, state: &str) {
        ip(&["-n", &self.names[0], "link", "set", "cable", state]).expect("the cable is there");
    }

    /// Makes the cable slow, both ways: each packet is late by 5 ms, or, where the system has no such thing, no more than eight
    /// million bits per second pass, and what waits for them is late. Answers which.
    ///
    /// # Errors
    /// Where the system can do neither.
    pub(crate) fn slow(&self) -> Result<&'static str, String> {
        let late = self.queue("netem delay 5ms").map(|()| "5 ms late");
        late.or_else(|_| self.queue("tbf rate 8mbit burst 4kb latency 2s").map(|()| "8 Mbit/s"))
    }

    /// Makes the cable as fast as it was.
    pub(crate) fn normal(&self) {
        for name in &self.names {
            let args = format!("netns exec {name} tc qdisc del dev cable root");
            ip(&args.split(' ').collect::<Vec<_>>()).expect("it was slow");
        }
    }

    fn queue(&self, what: &str) -> Result<(), String> {
        for name in &self.names {
            let args = format!("netns exec {name} tc qdisc replace dev cable root {what}");
            ip(&args.split(' ').collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for name in &self.names {
            // It may never have been made.
            let _ = ip(&["netns", "del", name]);
        }
    }
}

fn ip(args: &[&str]) -> Result<(), String> {
    let out = Command::new("ip").args(args).output().map_err(|e| format!("ip: {e}"))?;
    if out.status.success() {
        return Ok(());
    }
    Err(format!("ip {}: {}", args.join(" "), String::from_utf8_lossy(&out.stderr).trim()))
}

/// Says that a test does nothing here, and why, past whoever keeps what tests print to himself. Where namespaces may not be
/// made nobody can help it, so this is no failure even in a whole check, which counts these lines.
pub(crate) fn skipped(why: &str) {
    // A message that nobody can read is none.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// A keeper and a host on the first machine, a host on the second, and certificates for all.
pub(crate) struct Lab {
    pub(crate) net: Net,
    keys: PathBuf,
    _hosts: [Host; 2],
    words: String,
}

pub(crate) fn lab(name: &str, lease: &str) -> Option<Lab> {
    let net = match Net::make() {
        Ok(net) => net,
        Err(why) => {
            skipped(&format!("network namespaces cannot be made here: {why}"));
            return None;
        }
    };
    let keys = folder(&format!("keys-{name}"));
    let dir = keys.display();
    done(&format!("keys init {dir}"));
    for (member, address) in [("a", ADDRESSES[0]), ("b", ADDRESSES[1]), ("keeper", ADDRESSES[0])] {
        done(&format!("keys add {dir} {member} {address}"));
    }
    let host = |k: usize, name: &str| {
        let words = format!("--slots 2 --listen {}:0 --keys {dir} {lease}", ADDRESSES[k]);
        Host::start(&net.on(k), name, &words)
    };
    let hosts = [host(0, "a"), host(1, "b")];
    let [a, b] = hosts.each_ref().map(Host::address);
    let words = format!("--hosts {a},{b} --keys {dir} --listen {}:0 --rtf 8 {lease}", ADDRESSES[0]);
    Some(Lab { net, keys, _hosts: hosts, words })
}

impl Lab {
    pub(crate) fn run(&self, name: &str) -> Run {
        Run::start(&self.net.on(0), name, &self.words)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.keys);
    }
}
