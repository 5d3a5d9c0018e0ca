//! Displays on other hosts, as a scenario names them: a relay is started on each, and ends with the server.
//!
//! In: `[[display]]` of a scenario, how hosts are reached, the address of the server. Out: what each relay says, for people.

use crate::cli::lines::{Line, next};
use crate::cli::out::Out;
use std::io::{BufReader, PipeReader};
use std::process::{Command, Stdio};
use swarmyard_agents::Elsewhere;
use swarmyard_agents::process::{Leash, Limits};
use swarmyard_cluster::host::RELAY;

/// Most bytes of a line that a relay says.
const MOST_BYTES: usize = 4096;

/// Relays on other hosts. Dropping this ends them.
#[must_use]
pub(crate) struct Displays {
    _relays: Vec<Leash>,
}

impl Displays {
    /// Starts a relay of the server for each display: (name, host or what it can do).
    pub(crate) fn start(displays: &[(String, String)], way: &Elsewhere, url: &str, out: &Out) -> Displays {
        let start = |(name, on): &(String, String)| match relay(way, on, url) {
            Ok((leash, output, errors)) => {
                let place = format!("display `{name}` on `{on}`");
                for pipe in [output, errors] {
                    let (place, out) = (place.clone(), *out);
                    std::thread::spawn(move || tell(pipe, &place, &out));
                }
                Some(leash)
            }
            Err(e) => {
                out.say(&format!("display `{name}` on `{on}` cannot be started: {e}"));
                None
            }
        };
        Displays { _relays: displays.iter().filter_map(start).collect() }
    }
}

/// Starts the process that stands for a relay on a host; with what it prints.
fn relay(way: &Elsewhere, on: &str, url: &str) -> std::io::Result<(Leash, PipeReader, PipeReader)> {
    let (output, stdout) = std::io::pipe()?;
    let (errors, stderr) = std::io::pipe()?;
    let mut command = Command::new(&way.program);
    command.args(&way.words).args(["--", on, RELAY, url]);
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    Ok((Leash::start(command, &Limits::default())?, output, errors))
}

/// Passes on what a relay says, line by line, until it is gone.
fn tell(pipe: PipeReader, place: &str, out: &Out) {
    let mut pipe = BufReader::new(pipe);
    while let Ok(Some(Line::Whole(line) | Line::Long(line) | Line::Last(line))) = next(&mut pipe, MOST_BYTES)
    {
        out.say(&format!("{place}: {}", String::from_utf8_lossy(&line).trim_end()));
    }
}
