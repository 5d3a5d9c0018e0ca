//! What the workers of a run do, for displays that show it.
//!
//! In: the figures of a run that is spread, and what its modules on other hosts cost. Out: the message `workers`, to those who asked
//! for it: only when it is another than before, and at most twice a second. Of a run in this process there are only the latter.

use crate::hub::Hub;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_sim::{ElsewhereFigures, Sim, Statistics};

/// Time between two messages.
const EVERY: Duration = Duration::from_millis(500);
/// Robots that are named: the heaviest.
const HEAVIEST: usize = 10;
/// Links that are named: those that carried most.
const MOST_LINKS: usize = 1000;

/// What was told last.
#[derive(Default)]
pub(crate) struct Workers {
    told: Option<Told>,
    began: Option<Instant>,
}

struct Told {
    /// When the figures were last looked at.
    at: Instant,
    run: u64,
    figures: (Option<Statistics>, Vec<ElsewhereFigures>),
    text: Arc<str>,
}

impl Workers {
    /// Tells displays that asked.
    pub(crate) fn send(&mut self, hub: &mut Hub, run: u64, live: &Sim) {
        if !hub.all().any(|c| c.wishes.workers) {
            self.told = None;
            return;
        }
        if self.told.as_ref().is_none_or(|told| told.at.elapsed() >= EVERY) {
            self.look(run, live);
        }
        let Some(Told { text, .. }) = &self.told else { return };
        for client in hub.all_mut().filter(|c| c.wishes.workers) {
            if client.workers_seen.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, text)) {
                continue;
            }
            if let Ok(place) = client.personal.try_reserve() {
                place.send(Arc::clone(text));
                client.workers_seen = Some(Arc::clone(text));
            }
        }
    }
}

impl Workers {
    /// Looks at the figures; a message that says the same is not made anew.
    fn look(&mut self, run: u64, live: &Sim) {
        let (at, figures) = (Instant::now(), (live.statistics(), live.elsewhere()));
        if let Some(told) = self.told.as_mut().filter(|told| told.run == run && told.figures == figures) {
            told.at = at;
            return;
        }
        let wall_s = self.began.get_or_insert(at).elapsed().as_secs_f64();
        let text = Arc::from(message(run, wall_s, figures.0.as_ref(), &figures.1).to_string());
        self.told = Some(Told { at, run, figures, text });
    }
}

/// The `workers` message; `wall_s` is a clock to reckon rates by.
fn message(run: u64, wall_s: f64, statistics: Option<&Statistics>, elsewhere: &[ElsewhereFigures]) -> Value {
    let Some(s) = statistics else {
        return json!({
            "is": "workers", "run": run, "wall_s": wall_s, "spread": null, "elsewhere": elsewhere,
        });
    };
    let mut links: Vec<_> = s.links.iter().collect();
    links.sort_by_key(|l| std::cmp::Reverse(l.bytes));
    links.truncate(MOST_LINKS);
    json!({
        "is": "workers", "run": run, "wall_s": wall_s, "elsewhere": elsewhere,
        "spread": {
            "epochs": s.epochs, "again": s.again, "lost": s.lost, "undivided": s.undivided,
            "workers": s.workers, "links": links, "heaviest": s.heaviest(HEAVIEST),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_sim::{LinkFigures, RobotFigures};

    #[test]
    fn a_message_is_bounded_and_names_the_heaviest() {
        let robot = |k: u32| RobotFigures {
            path: format!("/robots/r{k}"),
            cost_us: f64::from(k),
            think_us: f64::from(k),
            ..RobotFigures::default()
        };
        let link = |k: u32| LinkFigures { from: k, to: 0, messages: 1, bytes: u64::from(k) };
        let statistics = Statistics {
            robots: (0..50).map(robot).collect(),
            links: (0..2000).map(link).collect(),
            ..Statistics::default()
        };
        let told = message(1, 2.0, Some(&statistics), &[]);
        assert_eq!(told["spread"]["heaviest"].as_array().map(Vec::len), Some(HEAVIEST));
        assert_eq!(told["spread"]["heaviest"][0]["path"], "/robots/r49");
        assert_eq!(told["spread"]["heaviest"][0]["think_us"], 49.0);
        assert_eq!(told["spread"]["links"].as_array().map(Vec::len), Some(MOST_LINKS));
        assert_eq!(told["spread"]["links"][0]["from"], 1999);
        let price = ElsewhereFigures { place: "alpha".into(), answers: 7, ..ElsewhereFigures::default() };
        let alone = message(1, 0.0, None, &[price]);
        assert_eq!(alone["spread"], Value::Null);
        assert_eq!(
            (&alone["elsewhere"][0]["place"], &alone["elsewhere"][0]["answers"]),
            (&json!("alpha"), &json!(7))
        );
    }
}
