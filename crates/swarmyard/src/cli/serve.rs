//! `serve` and `demo`: a run that displays show and steer.

use super::cluster::{Displays, ServeSpreadArgs};
use super::fail::{Exit, Failure};
use super::load::How;
use super::out::Out;
use super::samples;
use clap::Args;
use serde_json::json;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use swarmyard::{Crowd, Sim};
use swarmyard_agents::Elsewhere;
use swarmyard_serve::{Options, Server};

const EXAMPLES: &str = "\
Examples:
  swarmyard serve arena.toml --open          edit and run it in a browser
  swarmyard serve arena.toml --start         the run begins at once
  swarmyard serve arena.toml --workers 4     the run is spread over four processes
  swarmyard serve --listen 0.0.0.0           reachable from other machines, with a token";

/// The port of a server, unless another is wanted.
const PORT: u16 = 7077;
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
    spread: ServeSpreadArgs,
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
pub(super) struct Place {
    /// Address to listen on; beyond this machine displays need a token
    #[arg(id = "address", long = "listen", value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(super) listen: IpAddr,
    /// Port; 0 takes a free one [default: 7077; of a relay 7078]
    #[arg(long, value_name = "N")]
    pub(super) port: Option<u16>,
    /// What displays must know [default: made up when listening beyond this machine]
    #[arg(long, value_name = "TEXT", value_parser = token)]
    pub(super) token: Option<String>,
    /// Open the page in a browser
    #[arg(long)]
    pub(super) open: bool,
    /// Take the page from this folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) web: Option<PathBuf>,
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
    let elsewhere = args.spread.args.elsewhere()?;
    // The world is known here for a look at the robots of an earlier run and at its displays only; one with problems is
    // shown with them.
    let is_asked = args.spread.args.is_placed() || elsewhere.is_some();
    let scenario = args.file.as_deref().filter(|_| is_asked).map(Sim::load_idle);
    let model = scenario.as_ref().and_then(|loaded| loaded.as_ref().ok()).map(|sim| &**sim.model());
    // Somebody may change the run at any stop: nobody runs ahead, and bodies are home at each.
    let how = How { show_every: 1, ahead: 0, threads: 1 };
    let crowd = args.spread.args.crowd(model, &how, out)?;
    let displays = model.map(|model| model.displays.clone()).unwrap_or_default();
    let company = Company { crowd, elsewhere, displays };
    run((args.file.clone(), args.start), (args.place.open, &args.place), company, out)
}

/// Serves a world that runs: of this project, or of the example project, which is unpacked here.
pub(crate) fn demo(args: &DemoArgs, out: &Out) -> Result<Exit, Failure> {
    let file = samples::world(DEMO, out)?;
    run((Some(file), true), (args.place.open || !args.stay, &args.place), Company::default(), out)
}

/// Who else has a part in a run that is served.
#[derive(Default)]
struct Company {
    crowd: Option<Box<dyn Crowd>>,
    /// How other hosts are reached.
    elsewhere: Option<Elsewhere>,
    /// Displays there: names and hosts.
    displays: Vec<(String, String)>,
}

fn run(
    (file, start): (Option<PathBuf>, bool),
    (show, place): (bool, &Place),
    Company { crowd, elsewhere, displays }: Company,
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
        port: place.port.unwrap_or(PORT),
        token: place.token.clone(),
        start,
        web: place.web.clone(),
        threads: 0,
        elsewhere: elsewhere.clone(),
    };
    let failed = |e: &dyn std::fmt::Display| Failure::new(Exit::Failed, "serve", e.to_string());
    let server =
        Server::start_with(options, crowd).map_err(|e| failed(&e).help("another `--port` may be free"))?;
    ctrlc::set_handler(server.stopper()).map_err(|e| failed(&e))?;
    let url = server.url();
    out.answer("listening", json!({ "url": url }), &format!("listening on {url}\n"))?;
    if show {
        open(&url, out);
    }
    if place.listen.is_unspecified() && !displays.is_empty() {
        out.say("displays on other hosts must know where this server is: give `--listen` an address of this machine");
    }
    let shown = elsewhere.map(|way| Displays::start(&displays, &way, &url, out));
    server.wait();
    drop(shown);
    Ok(Exit::Ok)
}

/// Opens a page in the browser of this desktop, if there is one.
pub(super) fn open(url: &str, out: &Out) {
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
