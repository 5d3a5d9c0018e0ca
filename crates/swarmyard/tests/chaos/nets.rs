//! Two machines with a cable between them: network namespaces of this one, made by the test.

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
