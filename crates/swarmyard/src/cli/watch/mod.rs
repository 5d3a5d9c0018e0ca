//! `watch`: a display in letters and numbers.
//!
//! In: what a server sends to any display. Out: on a terminal a table that refreshes in place; anywhere else one
//! line per robot and moment, for later analysis. It never asks for control.

mod cast;
mod lines;
mod table;

use super::fail::{Exit, Failure};
use super::link::{Link, Said, ServerArgs, lost};
use super::out::Out;
use cast::{Cast, Number};
use clap::Args;
use lines::Lines;
use serde_json::{Value, json};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};
use swarmyard::base::units::Unit;
use swarmyard_serve::frame::{Bodies, Kept, Sort};
use table::Table;

const EXAMPLES: &str = "\
Examples:
  swarmyard watch                                         a table of everybody
  swarmyard watch --every 100ms --robots r1,r2 > log      lines for later analysis
  swarmyard watch --every tick:1 --channel /robots/r1/sonar.range";

/// Rows of values that are kept for the next moment.
const MOST_ROWS: usize = 20_000;

/// Arguments of `watch`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Simulated time between lines, such as 100ms, or tick:N; a server sends at most 60 moments per second
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = Every::parse)]
    every: Every,
    /// Only these robots, by path or name, with * for any ending [default: all]
    #[arg(long, value_name = "ROBOT,…", value_delimiter = ',')]
    robots: Vec<String>,
    /// Also a channel of a part, such as /robots/r1/sonar.range or /robots/r1/rays.range[3] (may be repeated)
    #[arg(long, value_name = "PART.CHANNEL", value_parser = Number::parse)]
    channel: Vec<Number>,
    /// Also what had happened before
    #[arg(long)]
    history: bool,
    /// Lines on a terminal too
    #[arg(long)]
    plain: bool,
    /// Wait for the server, and connect again when it is gone; without it the display ends with the run
    #[arg(long)]
    keep: bool,
}

/// How often a moment is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Every {
    /// Simulated nanoseconds.
    Time(u64),
    /// Steps.
    Ticks(u64),
}

impl Every {
    /// Reads `100ms` or `tick:10`.
    fn parse(text: &str) -> Result<Every, String> {
        if let Some(ticks) = text.strip_prefix("tick:") {
            let ticks = ticks.parse().ok().filter(|n| *n > 0);
            return ticks.map(Every::Ticks).ok_or_else(|| "write a whole number, such as tick:10".into());
        }
        let seconds =
            Unit::Second.parse(text).map_err(|e| format!("{e}; or write ticks, such as tick:10"))?;
        if !(1e-9..=9e9).contains(&seconds) {
            return Err(format!("nothing can be shown every `{text}`"));
        }
        Ok(Every::Time((seconds * 1e9).round() as u64))
    }

    /// Which of its stretches a moment belongs to.
    fn stretch(self, bodies: &Bodies) -> u64 {
        match self {
            Every::Time(ns) => bodies.head.time_ns / ns,
            Every::Ticks(n) => bodies.head.stop / n,
        }
    }
}

/// One moment, as it is shown.
struct Moment<'a> {
    bodies: &'a Bodies,
    cast: &'a Cast,
    /// The newest values of the channels that were asked for; empty when there are none yet.
    values: &'a [f64],
    status: &'a Value,
}

/// Where it is shown.
enum Sink {
    Lines(Lines),
    Table(Table),
}

/// How a connection ended.
enum End {
    /// The run is over, or the server said goodbye.
    Over,
    /// It went away without a word.
    Lost(Option<String>),
}

/// Shows a run until it ends.
pub(crate) fn watch(args: &WatchArgs, out: &Out) -> Result<Exit, Failure> {
    let terminal = std::io::stdout().is_terminal() && !args.plain && !out.json;
    let mut sink = if terminal { Sink::Table(Table::default()) } else { Sink::Lines(Lines::start(*out)?) };
    let mut waiting = false;
    loop {
        match Link::open(&args.server, "swarmyard watch", false) {
            Ok(link) => {
                waiting = false;
                match (Display::new(args, link, &mut sink).run()?, args.keep) {
                    (End::Over, false) => return Ok(Exit::Ok),
                    (End::Lost(why), false) => return Err(lost(why)),
                    (_, true) => {}
                }
            }
            Err(failure) if !args.keep => return Err(failure),
            Err(failure) => {
                if !waiting {
                    out.failure(&failure);
                    out.say("waiting for a server");
                }
                waiting = true;
            }
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// One connection and what is shown of it.
struct Display<'a> {
    args: &'a WatchArgs,
    link: Link,
    sink: &'a mut Sink,
    kept: Kept,
    cast: Cast,
    /// Rows of the channels that were asked for: time, then values.
    rows: Vec<Vec<f64>>,
    /// A moment that waits for its values.
    due: bool,
    /// The stretch and the stop that were shown last.
    shown: Option<(u64, u64)>,
    /// The first lines tell what was before.
    old_lines: bool,
}

impl<'a> Display<'a> {
    fn new(args: &'a WatchArgs, link: Link, sink: &'a mut Sink) -> Display<'a> {
        let (kept, cast) = (Kept::default(), Cast::default());
        let old_lines = true;
        Display { args, link, sink, kept, cast, rows: Vec::new(), due: false, shown: None, old_lines }
    }

    fn run(mut self) -> Result<End, Failure> {
        let mut over_since: Option<Instant> = None;
        loop {
            match self.link.next(Duration::from_millis(100))? {
                Said::Words(words) => self.hear(&words)?,
                Said::Frame(bytes) => self.see(&bytes)?,
                Said::Nothing => self.show_due()?,
                Said::Gone(None) => return Ok(End::Lost(None)),
                Said::Gone(Some(_)) => {
                    self.show_last()?;
                    return Ok(End::Over);
                }
            }
            if self.link.status["state"] != "ended" {
                over_since = None;
                continue;
            }
            // The last moment may still be on its way; with --keep somebody may start again.
            let last = self.kept.bodies.as_ref().is_some_and(|b| self.link.status["stop"] == b.head.stop);
            let late = over_since.get_or_insert_with(Instant::now).elapsed() > Duration::from_secs(10);
            if !self.args.keep && (last && self.cast.is_told || late) {
                self.show_last()?;
                self.link.close();
                return Ok(End::Over);
            }
        }
    }

    fn hear(&mut self, words: &Value) -> Result<(), Failure> {
        match words["is"].as_str() {
            Some("world") => {
                self.cast = Cast::of(words, &self.args.robots, &self.args.channel)?;
                self.rows.clear();
                let rate = if matches!(self.sink, Sink::Table(_)) { 10 } else { 60 };
                let wish = json!({ "do": "watch", "rate": rate, "probes": self.cast.probes() });
                self.link.ask(wish)??;
            }
            Some("samples") => {
                for row in words["rows"].as_array().into_iter().flatten() {
                    self.rows.push(row.as_array().into_iter().flatten().filter_map(Value::as_f64).collect());
                }
                // Those of the moment that is shown next are among the last.
                self.rows.drain(..self.rows.len().saturating_sub(MOST_ROWS));
                if self.due && self.is_current() {
                    self.show_due()?;
                }
            }
            Some("events") => {
                let old = std::mem::take(&mut self.old_lines);
                if !old || self.args.history {
                    let lines = words["lines"].as_array().map_or(&[][..], Vec::as_slice);
                    match &mut self.sink {
                        Sink::Lines(out) => out.events(lines)?,
                        Sink::Table(table) => table.events(lines),
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn see(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // Whoever is shown next must not take the place of one that waits.
        self.show_due()?;
        let failed = |e: &dyn std::fmt::Display| Failure::new(Exit::Failed, "frame", e.to_string());
        if self.kept.take(bytes).map_err(|e| failed(&e))? != Sort::Bodies {
            return Ok(());
        }
        let Some(bodies) = &self.kept.bodies else { return Ok(()) };
        let stretch = self.args.every.stretch(bodies);
        let stop = bodies.head.stop;
        let new = match self.shown {
            // Back in time is another run, or a look at an earlier moment.
            Some((before, last)) => stretch != before || stop < last,
            None => true,
        };
        self.due = new || matches!(self.sink, Sink::Table(_));
        if self.due && self.is_current() {
            self.show_due()?;
        }
        Ok(())
    }

    /// Whether the values of the channels are those of the newest frame.
    fn is_current(&self) -> bool {
        let Some(bodies) = &self.kept.bodies else { return false };
        let now = bodies.head.time_ns as f64 * 1e-9;
        self.cast.numbers.is_empty()
            || self.rows.last().and_then(|row| row.first()).is_some_and(|t| *t >= now - 1e-9)
    }

    fn show_last(&mut self) -> Result<(), Failure> {
        let stop = self.kept.bodies.as_ref().map(|b| b.head.stop);
        self.due |= stop.is_some() && stop != self.shown.map(|(_, stop)| stop);
        self.show_due()
    }

    fn show_due(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.due) {
            return Ok(());
        }
        let Some(bodies) = &self.kept.bodies else { return Ok(()) };
        // A frame of a world that is no longer told of, or not yet.
        if bodies.rows.len() != self.cast.bodies || bodies.head.revision != self.cast.revision {
            return Ok(());
        }
        let now = bodies.head.time_ns as f64 * 1e-9;
        let upto = self.rows.iter().take_while(|row| row.first().is_some_and(|t| *t <= now + 1e-9)).count();
        self.rows.drain(..upto.saturating_sub(1));
        let values = if upto == 0 { &[][..] } else { self.rows[0].get(1..).unwrap_or_default() };
        let moment = Moment { bodies, cast: &self.cast, values, status: &self.link.status };
        self.shown = Some((self.args.every.stretch(bodies), bodies.head.stop));
        match &mut self.sink {
            Sink::Lines(out) => out.moment(&moment),
            Sink::Table(table) => table.moment(&moment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_by_time_or_by_tick() {
        assert_eq!(Every::parse("100ms"), Ok(Every::Time(100_000_000)));
        assert_eq!(Every::parse("tick:5"), Ok(Every::Ticks(5)));
        for wrong in ["tick:0", "tick:", "-1s", "0s", "often"] {
            assert!(Every::parse(wrong).is_err(), "{wrong}");
        }
        let mut bodies = Bodies::default();
        (bodies.head.stop, bodies.head.time_ns) = (11, 1_100_000_000);
        assert_eq!(Every::Ticks(5).stretch(&bodies), 2);
        assert_eq!(Every::Time(500_000_000).stretch(&bodies), 2);
    }
}
