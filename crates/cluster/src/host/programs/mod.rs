//! Programs that run on a host for somebody elsewhere: whose pipes lead over the fabric.
//!
//! In: questions under `swarm/host/NAME/open` and `…/pipe/ID/…`. Out: programs that run here, and their bytes. The other
//! side is [`crate::sister`].
//!
//! What never happens: a program that the owner did not allow by name; a path from outside; a program whose sister
//! process is gone, or that outlives the host.

mod program;
mod speech;

pub(crate) use program::Program;
pub(crate) use speech::{
    CHUNK, Gift, Give, Given, Open, Opened, Take, Taken, Turns, head_and_bytes, hold, input_key, open_key,
    output_key, sister_key, sister_of, sisters, with_bytes,
};
pub use speech::{Piped, ProgramEnd};

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use swarmyard_agents::SANDBOX;

/// What an owner lets others start.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// Programs by the names under which they are asked for.
    pub named: BTreeMap<String, PathBuf>,
    /// The built-in modules, and the `swarmyard` command that has them.
    pub modules: Option<Modules>,
    /// Whether runs that are served elsewhere may be shown here.
    pub relays: Option<Relays>,
    /// The `swarmyard` command in whose sandbox part models and programs of others run. It is the one that workers
    /// have: nobody has to allow it.
    pub sandbox: Option<PathBuf>,
}

/// What hosts call the program through which a run that is served elsewhere is shown there; its argument is the
/// address of the server.
pub const RELAY: &str = "relay";

/// Runs that are served elsewhere may be shown here.
#[derive(Clone, Debug)]
pub struct Relays {
    /// The command: `COMMAND relay ADDRESS …`.
    pub command: PathBuf,
    /// Where displays reach it.
    pub listen: IpAddr,
}

/// The built-in modules of a command.
#[derive(Clone, Debug)]
pub struct Modules {
    /// The command: `COMMAND module NAME …`.
    pub command: PathBuf,
    /// Their names.
    pub names: Vec<String>,
}

impl Programs {
    /// What there is to ask for, for people.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let modules = self.modules.iter().flat_map(|m| m.names.iter().cloned());
        self.named.keys().cloned().chain(modules).collect()
    }

    /// The command of a program; `steps_back` behind everything else that runs here.
    pub(super) fn command(&self, open: &Open, steps_back: bool) -> Result<Command, String> {
        let (name, arguments) = open.words.split_first().ok_or("there is no program to start")?;
        let command = |program: &Path| {
            if !steps_back {
                return Command::new(program);
            }
            // Program and `nice` are one process: it becomes what it starts.
            let mut nice = Command::new("nice");
            nice.args(["-n", "19"]).arg(program);
            nice
        };
        let modules = self.modules.as_ref().filter(|m| m.names.contains(name));
        let sandbox = self.sandbox.as_ref().filter(|_| name == SANDBOX && arguments.is_empty());
        let relays = self.relays.as_ref().filter(|_| name == RELAY);
        let mut command = match (self.named.get(name), relays, sandbox, modules) {
            (Some(path), ..) => command(path),
            (None, Some(relays), ..) => {
                is_address(arguments)?;
                let mut command = command(&relays.command);
                command.args([RELAY, "--port", "0", "--listen"]).arg(relays.listen.to_string());
                command
            }
            (None, None, Some(sandbox), _) => {
                let mut command = command(sandbox);
                command.arg(SANDBOX);
                command
            }
            (None, None, None, Some(modules)) => {
                harmless(arguments)?;
                let mut command = command(&modules.command);
                command.arg("module").arg(name);
                command
            }
            (None, None, None, None) => {
                let shown: String = name.chars().take(80).collect();
                return Err(format!(
                    "its owner allows no program `{}` there; they can with `swarmyard host --allow NAME=PATH`, `--allow-modules` and `--allow-displays`",
                    shown.escape_default()
                ));
            }
        };
        command.args(arguments);
        // Python holds back what it prints into a pipe, and answers must come at once.
        command.env("PYTHONUNBUFFERED", "1").env_remove("SWARMYARD_MODULE");
        command.envs(open.settings.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}

/// Refuses what is no address of a server.
fn is_address(arguments: &[String]) -> Result<(), String> {
    match arguments {
        [url] if url.starts_with("http://") && url.len() < 1000 => Ok(()),
        _ => Err("a relay is told the address of a server, and nothing else".to_owned()),
    }
}

/// Refuses arguments with which a built-in module would show, or tell, more than belongs to a chain: it opens no port
/// here, and reads files below the host's own folder only.
fn harmless(arguments: &[String]) -> Result<(), String> {
    if let Some(wrong) = arguments.iter().find(|a| a.starts_with("--serve") || a.starts_with("--web")) {
        return Err(format!("a module opens no port there: `{}`", wrong.escape_default()));
    }
    let leads_out = |a: &&String| {
        let inside = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
        !a.starts_with('-') && !Path::new(a.as_str()).components().all(inside)
    };
    match arguments.iter().find(leads_out) {
        Some(wrong) => {
            Err(format!("a module reads files below the host's folder only: `{}`", wrong.escape_default()))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Identity;

    fn asked(programs: &Programs, words: &[&str]) -> Result<Vec<String>, String> {
        let identity = Identity { version: "1".into(), numerics: 1 };
        let words = words.iter().map(|w| (*w).to_owned()).collect();
        let open = Open { identity, id: 1, secret: 1, words, settings: Vec::new(), lease_s: 1.0 };
        let command = programs.command(&open, false)?;
        let all = std::iter::once(command.get_program()).chain(command.get_args());
        Ok(all.map(|w| w.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn a_program_is_asked_for_by_name_and_never_by_path() {
        let named = BTreeMap::from([("sums".to_owned(), PathBuf::from("/opt/sums"))]);
        let programs = Programs { named, ..Programs::default() };
        assert_eq!(asked(&programs, &["sums", "-x", "/y"]).unwrap(), ["/opt/sums", "-x", "/y"]);
        for wrong in ["", "/opt/sums", "./sums", "sh", "smooth"] {
            let why = asked(&programs, &[wrong]).unwrap_err();
            assert!(why.contains("allows no program"), "{why}");
        }
        assert!(asked(&programs, &[]).is_err());
    }

    #[test]
    fn the_sandbox_is_there_for_whoever_may_use_programs() {
        let programs = Programs { sandbox: Some("/bin/s".into()), ..Programs::default() };
        assert_eq!(asked(&programs, &[SANDBOX]).unwrap(), ["/bin/s", SANDBOX]);
        assert!(asked(&programs, &[SANDBOX, "--help"]).is_err());
    }

    #[test]
    fn a_relay_is_told_an_address_and_nothing_else() {
        let relays = Relays { command: "/bin/s".into(), listen: IpAddr::from([10, 0, 0, 6]) };
        let programs = Programs { relays: Some(relays), ..Programs::default() };
        let right = asked(&programs, &[RELAY, "http://10.0.0.1:7077/?token=t"]).unwrap();
        assert_eq!(
            right,
            ["/bin/s", "relay", "--port", "0", "--listen", "10.0.0.6", "http://10.0.0.1:7077/?token=t"]
        );
        for wrong in [&[RELAY][..], &[RELAY, "--web=/"], &[RELAY, "http://a", "--listen=0.0.0.0"]] {
            assert!(asked(&programs, wrong).is_err(), "{wrong:?}");
        }
        assert!(asked(&Programs::default(), &[RELAY, "http://10.0.0.1:7077"]).is_err());
    }

    #[test]
    fn built_in_modules_open_no_port_and_read_only_what_is_below() {
        let modules =
            Modules { command: "/bin/s".into(), names: vec!["trajectory".into(), "display".into()] };
        let programs = Programs { modules: Some(modules), ..Programs::default() };
        let right = asked(&programs, &["trajectory", "a/points.txt", "--stay", "--to", "9"]).unwrap();
        assert_eq!(right, ["/bin/s", "module", "trajectory", "a/points.txt", "--stay", "--to", "9"]);
        for wrong in ["/etc/passwd", "../secret", "a/../../b"] {
            assert!(asked(&programs, &["trajectory", wrong]).is_err(), "{wrong}");
        }
        for wrong in ["--serve", "--serve=0.0.0.0:80", "--web", "--web=/"] {
            assert!(asked(&programs, &["display", wrong]).is_err(), "{wrong}");
        }
    }
}
