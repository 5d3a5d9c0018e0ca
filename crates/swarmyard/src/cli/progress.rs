//! A bar on a terminal; nothing anywhere else.

use super::load::Until;
use super::out::three_digits;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use swarmyard::Sim;

/// The bar has this many steps, whatever a run is measured in.
const PARTS: u64 = 1000;
/// Seconds between two looks at the bar.
const INTERVAL_S: f64 = 0.2;

/// Shows how far a run has got.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    /// Wall time, simulated seconds and ticks when it was last drawn.
    last: (f64, f64, u64),
}

impl Progress {
    /// A bar on stderr, when that is a terminal.
    pub(crate) fn new(wanted: bool) -> Progress {
        let bar = (wanted && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}");
            // The template is a constant: if it were wrong the bar would have the default look.
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar
        });
        Progress { bar, last: (0.0, 0.0, 0) }
    }

    /// Brings the bar up to date, a few times per second.
    pub(crate) fn show(&mut self, sim: &Sim, until: Until, wall_s: f64) {
        let Some(bar) = &self.bar else { return };
        let passed = wall_s - self.last.0;
        if passed < INTERVAL_S {
            return;
        }
        let (now, ticks) = (sim.now().seconds(), sim.state().stops);
        let rate = (ticks - self.last.2) as f64 / passed;
        let rtf = (now - self.last.1) / passed;
        self.last = (wall_s, now, ticks);
        let share = until.share(sim);
        let left = if share > 0.0 { duration(wall_s / share * (1.0 - share)) } else { "?".into() };
        let rtf = three_digits(rtf);
        bar.set_message(format!("at {now:.1} s, {left} left, {rate:.0} ticks/s, {rtf} x real time"));
        bar.set_position((share * PARTS as f64) as u64);
    }

    /// Prints a line above the bar.
    pub(crate) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A length of wall time, for people.
fn duration(seconds: f64) -> String {
    let s = seconds.round() as u64;
    match s {
        0..100 => format!("{s} s"),
        100..6000 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}
