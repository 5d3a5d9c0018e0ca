//! `relay`: the displays of this machine over one connection to a server elsewhere.

use super::fail::{Exit, Failure};
use super::link::Address;
use super::out::Out;
use super::serve::{Place, open};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};
use swarmyard_serve::{Relay, RelayOptions, Traffic};

const EXAMPLES: &str = "\
Examples:
  swarmyard relay http://10.0.0.1:7077/?token=T    as `serve` printed it; displays open http://127.0.0.1:7078/
  swarmyard relay :7077 --port 8000                of a server on this machine, or through a tunnel";

/// The port of a relay, unless another is wanted.
const PORT: u16 = 7078;
/// Time between two looks at the bytes.
const LOOK: Duration = Duration::from_millis(200);
/// Time between two lines about them where there is no terminal, if anything has changed.
const LINE: Duration = Duration::from_secs(10);

/// Arguments of `relay`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct RelayArgs {
    /// Address of the server, as `swarmyard serve` prints it
    #[arg(value_name = "URL", value_parser = Address::parse)]
    url: Address,
    /// What the server asks for; also taken from the address (?token=…)
    #[arg(long, value_name = "TOKEN")]
    server_token: Option<String>,
    #[command(flatten)]
    place: Place,
}

/// Relays until it is told to end.
pub(crate) fn relay(args: &RelayArgs, out: &Out) -> Result<Exit, Failure> {
    let options = RelayOptions {
        server: args.url.place(),
        server_token: args.server_token.clone().or(args.url.token.clone()),
        listen: args.place.listen,
        port: args.place.port.unwrap_or(PORT),
        token: args.place.token.clone(),
        web: args.place.web.clone(),
    };
    let failed = |e: &dyn std::fmt::Display| Failure::new(Exit::Failed, "relay", e.to_string());
    let relay = Relay::start(options).map_err(|e| failed(&e).help("another `--port` may be free"))?;
    ctrlc::set_handler(relay.stopper()).map_err(|e| failed(&e))?;
    let url = relay.url();
    out.answer("listening", json!({ "url": url }), &format!("listening on {url}\n"))?;
    if args.place.open {
        open(&url, out);
    }
    let mut shown = Shown::new();
    while !relay.is_over() {
        shown.show(&relay.traffic(), out);
        std::thread::sleep(LOOK);
    }
    shown.end(&relay.traffic(), out);
    Ok(Exit::Ok)
}

/// The line with the bytes: one that changes on a terminal, elsewhere one now and then.
struct Shown {
    bar: Option<ProgressBar>,
    said: Option<(Instant, Traffic)>,
}

impl Shown {
    fn new() -> Shown {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg}");
            // The template is a constant: if it were wrong the line would have the default look.
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Shown { bar, said: None }
    }

    fn show(&mut self, now: &Traffic, out: &Out) {
        if let Some(bar) = &self.bar {
            bar.set_message(line(now));
            return;
        }
        let is_due = match &self.said {
            None => true,
            Some((at, before)) => {
                let is_news = before.is_connected != now.is_connected || before.why != now.why;
                is_news || (at.elapsed() >= LINE && before != now)
            }
        };
        if is_due {
            out.say(&line(now));
            self.said = Some((Instant::now(), now.clone()));
        }
    }

    fn end(&self, now: &Traffic, out: &Out) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        out.say(&line(now));
    }
}

fn line(traffic: &Traffic) -> String {
    let displays = match traffic.displays.len() {
        1 => "1 display".to_owned(),
        n => format!("{n} displays"),
    };
    let bytes = format!("{} in, {} out, {displays}", megabytes(traffic.received), megabytes(traffic.sent));
    match &traffic.why {
        _ if traffic.is_connected => bytes,
        Some(why) => format!("{bytes}; no server: {why}"),
        None => format!("{bytes}; connecting"),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.3} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_bytes_both_ways_and_why_there_is_no_server() {
        let displays = vec![(3, "page".into(), 2_500_000)];
        let there = Traffic {
            is_connected: true,
            received: 1_250_000,
            sent: 2_500_000,
            displays,
            ..Traffic::default()
        };
        assert_eq!(line(&there), "1.250 MB in, 2.500 MB out, 1 display");
        let gone = Traffic { why: Some("it is gone".into()), ..Traffic::default() };
        assert_eq!(line(&gone), "0.000 MB in, 0.000 MB out, 0 displays; no server: it is gone");
    }
}
