//! What hosts are asked, and what they answer.

use super::programs::Piped;
use crate::staff::{Address, Job};
use serde::{Deserialize, Serialize};

/// What a build computes with. Hosts match by this, not by binary: two architectures may mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its version.
    pub version: String,
    /// What its self-test came to.
    pub numerics: u64,
}

impl Identity {
    /// Refuses to work with another one, by name and with both values.
    ///
    /// # Errors
    /// In what they differ.
    pub fn refuse(&self, other: &Identity) -> Result<(), String> {
        if self.version != other.version {
            let (own, theirs) = (&self.version, &other.version);
            return Err(format!("versions differ: `{own}` there, `{theirs}` here; install the same"));
        }
        if self.numerics != other.numerics {
            let (own, theirs) = (self.numerics, other.numerics);
            return Err(format!(
                "the numerics self-test differs: `{own:016x}` there, `{theirs:016x}` here; `swarmyard doctor` on both tells which is wrong"
            ));
        }
        Ok(())
    }
}

/// What a host lends, and what runs there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// Its name.
    pub name: String,
    /// What it computes with.
    pub identity: Identity,
    /// How many workers and programs it takes.
    pub slots: u32,
    /// How many it would take now.
    pub free: u32,
    /// Whether its owner needs the machine now.
    pub is_withdrawn: bool,
    /// What it can do that others cannot.
    pub can: Vec<String>,
    /// Load average of the last minute, where the system tells it.
    pub load: Option<f64>,
    /// Its processor's architecture.
    pub arch: String,
    /// Workers.
    pub running: Vec<Running>,
    /// Names of programs that others may start there.
    pub allows: Vec<String>,
    /// Programs that run there for others.
    pub programs: Vec<Piped>,
}

/// A worker on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// The run it works for.
    pub run: u64,
    /// Its number there.
    pub worker: u32,
    /// Its process.
    pub pid: u32,
    /// Where it is reached.
    pub endpoint: String,
    /// Threads it uses.
    pub threads: u32,
}

/// Start a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begin {
    pub(crate) identity: Identity,
    pub(crate) job: Job,
}

/// A worker was started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) endpoint: String,
    pub(crate) pid: u32,
}

/// End a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) run: u64,
    pub(crate) number: u32,
}

/// More members than a run has.
const MOST_MEMBERS: usize = 4096;

impl Begin {
    /// Refuses what cannot be meant: it becomes words of a command.
    pub(crate) fn check(&self) -> Result<(), String> {
        let is_address = |a: &String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || ".:-_[]%".contains(c);
            a.len() <= 256 && a.contains(':') && !a.starts_with('-') && a.chars().all(plain)
        };
        let job = &self.job;
        if job.connect.is_empty() || job.connect.len() > MOST_MEMBERS {
            return Err(format!("a worker is connected with 1 to {MOST_MEMBERS} members"));
        }
        if let Some(wrong) = job.connect.iter().find(|a| !is_address(a)) {
            let shown: String = wrong.chars().take(80).collect();
            return Err(format!("`{}` is no address", shown.escape_default()));
        }
        if job.reach.len() > MOST_MEMBERS {
            return Err(format!("a worker reaches at most {MOST_MEMBERS} hosts"));
        }
        if let Some(wrong) =
            job.reach.iter().find(|a| !Address::parse(a).is_ok_and(|a| is_address(&a.endpoint)))
        {
            let shown: String = wrong.chars().take(80).collect();
            return Err(format!("`{}` is no address of a host", shown.escape_default()));
        }
        if !(0.05..=600.0).contains(&job.lease_s) {
            return Err(format!("a lease of {} s makes no sense", job.lease_s));
        }
        Ok(())
    }
}

pub(crate) fn info_key(name: &str) -> String {
    format!("swarm/host/{name}/info")
}

pub(crate) fn start_key(name: &str) -> String {
    format!("swarm/host/{name}/start")
}

pub(crate) fn stop_key(name: &str) -> String {
    format!("swarm/host/{name}/stop")
}

pub(crate) fn live_key(name: &str) -> String {
    format!("swarm/host/{name}/live")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(connect: &[&str], lease_s: f64) -> Begin {
        let connect = connect.iter().map(|a| (*a).to_owned()).collect();
        let identity = Identity { version: "1".into(), numerics: 1 };
        let secret = crate::staff::SecretBytes::default();
        Begin {
            identity,
            job: Job { run: 1, number: 0, connect, threads: 1, lease_s, reach: Vec::new(), secret },
        }
    }

    #[test]
    fn what_becomes_words_of_a_command_is_an_address() {
        for right in ["127.0.0.1:7000", "[::1]:7000", "host-a.lab:1"] {
            assert_eq!(begin(&[right], 1.0).check(), Ok(()), "{right}");
        }
        for wrong in ["", "host", "--allow=/:1", "a b:1", "$(x):1", "a\n:1", &"a:".repeat(200)] {
            assert!(begin(&["127.0.0.1:1", wrong], 1.0).check().is_err(), "{wrong}");
        }
        assert!(begin(&[], 1.0).check().is_err());
        assert!(begin(&["a:1"], f64::NAN).check().is_err() && begin(&["a:1"], 0.0).check().is_err());
    }

    #[test]
    fn a_difference_is_named_with_both_values() {
        let own = Identity { version: "0.1.0".into(), numerics: 0xab };
        let other = |version: &str, numerics| Identity { version: version.into(), numerics };
        assert_eq!(own.refuse(&other("0.1.0", 0xab)), Ok(()));
        let why = own.refuse(&other("0.2.0", 0xab)).expect_err("another version");
        assert!(why.contains("`0.1.0`") && why.contains("`0.2.0`"), "{why}");
        let why = own.refuse(&other("0.1.0", 0xcd)).expect_err("other numerics");
        assert!(why.contains("`00000000000000ab`") && why.contains("`00000000000000cd`"), "{why}");
    }
}
