//! `simulate`, `pipe` and `module`: chains of programs that read and write lines.
//!
//! What they share: how a place and a program are written, and where events go.

pub(crate) mod builtin;
mod control;
pub(crate) mod simulate;

use super::fail::{Exit, Failure};
use super::out::{Out, marked};
use serde_json::json;
use std::net::SocketAddr;
use std::path::PathBuf;
use swarmyard_modules::Event;
use swarmyard_modules::builtin::module_number;
use swarmyard_modules::pipe::{Here, Program, words};
use swarmyard_serve::ModuleServer;

/// Where the page of a chain is, when nothing is said.
const PAGE: &str = "127.0.0.1:7078";

/// This machine, as a place for modules.
fn here() -> Here {
    Here::new(std::env::current_exe().ok())
}

/// A program as it is written on the command line: `[NUMBER@]HOST` and the command.
fn program(place: &str, command: &str, number: u16) -> Result<Program, Failure> {
    let wrong = |what: String| Failure::new(Exit::Usage, "usage", what);
    let (number, host) = match place.split_once('@') {
        Some((digits, host)) => (module_number(digits).map_err(|e| wrong(format!("`{place}`: {e}")))?, host),
        None => (number, place),
    };
    let words = words(command).map_err(wrong)?;
    if words.is_empty() {
        return Err(wrong(format!("there is no program for host `{host}`"))
            .help("simulate HOST SOURCE [HOST MODULE …], each program as one word in quotes"));
    }
    Ok(Program { number, host: host.to_owned(), words, is_stateless: false })
}

/// Tells people, or programs, what happened to a module.
fn tell(event: &Event, out: &Out) {
    if !out.json {
        return out.say(&event.to_string());
    }
    let value = json!({
        "number": event.number, "name": event.name, "kind": event.kind(), "at": event.at,
        "is_fine": event.is_fine(), "message": event.to_string(),
    });
    out.say(&marked("module-event", value).to_string());
}

/// Starts the page of a chain, and says where it is.
fn page(display: u16, address: SocketAddr, web: Option<PathBuf>, out: &Out) -> Result<ModuleServer, Failure> {
    let server = ModuleServer::start(display, address, None, web).map_err(|e| {
        Failure::new(Exit::Failed, "serve", e.to_string()).help("`--serve=ADDRESS:PORT` may name another")
    })?;
    out.say(&format!("listening on {}", server.url()));
    Ok(server)
}
