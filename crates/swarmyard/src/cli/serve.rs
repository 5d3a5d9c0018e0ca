//! `serve` and `demo`: a run that displays show and steer.

use super::fail::{Exit, Failure};
use super::out::Out;
use super::samples;
use clap::Args;
use serde_json::json;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use swarmyard_serve::{Options, Server};

const EXAMPLES: &str = "\
Examples:
  swarmyard serve arena.toml --open          edit and run it in a browser
  swarmyard serve arena.toml --start         the run begins at once
  swarmyard serve --listen 0.0.0.0           reachable from other machines, with a token";

/// What `demo` shows.
const DEMO: &str = "fig-7-2.toml";

/// Arguments of `serve`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The scenario, or a recording [default: an empty world]
    file: Option<PathBuf>,
    /// Start the run at once
    #[arg(long)]
    start: bool,
    #[command(flatten)]
    place: Place,
}

/// Arguments of `demo`.
#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Print the address only; do not start a browser
    #[arg(long = "no-open", conflicts_with = "open")]
    stay: bool,
    #[command(flatten)]
    place: Place,
}

/// Where a server is, and for whom.
#[derive(Args)]
struct Place {
    /// Address to listen on; beyond this machine displays need a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    listen: IpAddr,
    /// Port; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 7077)]
    port: u16,
    /// What displays must know [default: made up when listening beyond this machine]
    #[arg(long, value_name = "TEXT", value_parser = token)]
    token: Option<String>,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    /// Take the page from this folder
    #[arg(long, value_name = "FOLDER")]
    web: Option<PathBuf>,
}

fn token(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
    if text.len() >= 8 && text.len() <= 128 && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("a token has 8 to 128 letters, digits and -_.~".into())
}

/// Serves a scenario until a console ends it.
pub(crate) fn serve(args: &ServeArgs, out: &Out) -> Result<Exit, Failure> {
    run((args.file.clone(), args.start), args.place.open, &args.place, out)
}

/// Serves a world that runs: of this project, or of the example project, which is unpacked here.
pub(crate) fn demo(args: &DemoArgs, out: &Out) -> Result<Exit, Failure> {
    let file = samples::world(DEMO, out)?;
    run((Some(file), true), args.place.open || !args.stay, &args.place, out)
}

fn run(
    (file, start): (Option<PathBuf>, bool),
    show: bool,
    place: &Place,
    out: &Out,
) -> Result<Exit, Failure> {
    if let Some(missing) = file.as_deref().filter(|f| !f.is_file()) {
        let what = format!("there is no file `{}`", missing.display());
        return Err(Failure::new(Exit::Failed, "no-file", what)
            .help("make a project with a scenario that runs: swarmyard init my-project"));
    }
    let options = Options {
        file,
        listen: place.listen,
        port: place.port,
        token: place.token.clone(),
        start,
        web: place.web.clone(),
        threads: 0,
    };
    let failed = |e: &dyn std::fmt::Display| Failure::new(Exit::Failed, "serve", e.to_string());
    let server = Server::start(options).map_err(|e| failed(&e).help("another `--port` may be free"))?;
    ctrlc::set_handler(server.stopper()).map_err(|e| failed(&e))?;
    let url = server.url();
    out.answer("listening", json!({ "url": url }), &format!("listening on {url}\n"))?;
    if show {
        open(&url, out);
    }
    server.wait();
    Ok(Exit::Ok)
}

/// Opens a page in the browser of this desktop, if there is one.
fn open(url: &str, out: &Out) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let opener = std::env::split_paths(&path).map(|folder| folder.join("xdg-open")).find(|p| p.is_file());
    let started = opener.as_deref().map(|opener: &Path| {
        let mut command = std::process::Command::new(opener);
        command.arg(url).stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null()).spawn()
    });
    if !matches!(started, Some(Ok(_))) {
        out.say("no browser could be started: open the address above in yours");
    }
}
