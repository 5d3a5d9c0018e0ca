//! What happens in a run, as JSON lines: one object per event, with paths and times.

use crate::cli::fail::Failure;
use crate::cli::load::Until;
use crate::cli::out::{marked, seconds};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use swarmyard::Sim;
use swarmyard::base::{Time, Uid};
use swarmyard::engine::{Frame, RunEvent};

/// Writes events; does nothing when nobody asked.
pub(super) struct Events {
    to: Option<BufWriter<Box<dyn Write>>>,
    /// Wall time and simulated time of the last heartbeat.
    last: (f64, Time, u64),
}

impl Events {
    /// Opens the stream: `-` is standard output.
    pub(super) fn open(to: Option<&Path>) -> Result<Events, Failure> {
        let to: Option<Box<dyn Write>> = match to {
            None => None,
            Some(path) if path.as_os_str() == "-" => Some(Box::new(std::io::stdout())),
            Some(path) => Some(Box::new(File::create(path).map_err(|e| Failure::file("write", path, &e))?)),
        };
        Ok(Events { to: to.map(BufWriter::new), last: (0.0, Time::ZERO, 0) })
    }

    /// The events of one step that began at `before`.
    pub(super) fn frame(&mut self, sim: &Sim, before: Time, frame: &Frame) -> Result<(), Failure> {
        if self.to.is_none() || frame.events.is_empty() {
            return Ok(());
        }
        for event in &frame.events {
            self.write(event_json(sim, before, frame, event))?;
        }
        self.flush()
    }

    /// One sign of life per second of wall time.
    pub(super) fn heartbeat(&mut self, sim: &Sim, until: Until, wall_s: f64) -> Result<(), Failure> {
        let (last_wall, last_now, last_tick) = self.last;
        let passed = wall_s - last_wall;
        if self.to.is_none() || passed < 1.0 {
            return Ok(());
        }
        let (now, tick) = (sim.now(), sim.state().stops);
        self.last = (wall_s, now, tick);
        let share = until.share(sim);
        self.write(json!({
            "kind": "heartbeat",
            "tick": tick,
            "time_s": seconds(now),
            "wall_s": wall_s,
            "ticks_per_s": (tick - last_tick) as f64 / passed,
            "rtf": (seconds(now) - seconds(last_now)) / passed,
            "eta_s": (share > 0.0).then(|| wall_s / share * (1.0 - share)),
            "contacts": sim.state().accounts.contacts,
        }))?;
        self.flush()
    }

    /// The last line.
    pub(super) fn end(&mut self, sim: &Sim) -> Result<(), Failure> {
        let hash = format!("{:016x}", sim.hash());
        self.write(
            json!({ "kind": "end", "tick": sim.state().stops, "time_s": seconds(sim.now()), "hash": hash }),
        )?;
        self.flush()
    }

    fn write(&mut self, line: Value) -> Result<(), Failure> {
        if let Some(to) = &mut self.to {
            writeln!(to, "{}", marked("event", line))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.to.as_mut().map_or(Ok(()), Write::flush)?)
    }
}

fn event_json(sim: &Sim, before: Time, frame: &Frame, event: &RunEvent) -> Value {
    let path = |uid: Uid| sim.model().path_of(uid).map_or_else(|| format!("uid {uid}"), str::to_owned);
    let mut line = match event {
        RunEvent::Contact(c) => json!({
            "kind": "contact",
            // Within the step, not at its end.
            "time_s": seconds(before) + c.time_s,
            "a": path(c.a),
            "b": path(c.b),
            "with": c.kind.word(),
            "x": c.point.x,
            "y": c.point.y,
            "impulse_ns": c.impulse,
            "closing_mps": c.closing,
        }),
        RunEvent::NotFinite { robot, what } => {
            json!({ "kind": "halt", "robot": path(*robot), "what": what.word() })
        }
        RunEvent::ImpactLimit(body) => json!({ "kind": "impact-limit", "body": path(*body) }),
        RunEvent::Said { .. }
        | RunEvent::Endless { .. }
        | RunEvent::AlgorithmFailed { .. }
        | RunEvent::Swallowed { .. }
        | RunEvent::Live(_)
        | RunEvent::BadAccess { .. }
        | RunEvent::Quarrel { .. }
        | RunEvent::PartFailed { .. }
        | RunEvent::Failed { .. } => {
            let event = swarmyard::record::Event::of_controller(sim.model(), event);
            serde_json::to_value(event).unwrap_or_default()
        }
        RunEvent::AssertFailed(k) => {
            let assertion = sim.model().asserts.get(*k);
            json!({
                "kind": "assert-failed",
                "name": assertion.map(|a| a.name.as_str()),
                "condition": assertion.map(|a| a.text.as_str()),
            })
        }
    };
    line["tick"] = json!(frame.stops);
    if line.get("time_s").is_none() {
        // Within the step, where that is known.
        line["time_s"] = json!(seconds(event.at().map_or(frame.now, |at| at.time)));
    }
    line
}
