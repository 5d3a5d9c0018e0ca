//! What happened, as lines for people: bounded, in order, kept for those who come later.

use crate::answer::Refusal;
use serde::Serialize;
use std::collections::VecDeque;
use swarmyard_base::{Time, Uid};
use swarmyard_engine::{Frame, Model, RunEvent};
use swarmyard_record::Event;

/// Lines that are kept.
const MOST_LINES: usize = 20_000;
/// Contacts of one step that are told one by one.
const MOST_CONTACTS: usize = 10;
/// Most characters of a line.
const MOST_TEXT: usize = 2000;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Line {
    pub(crate) stop: u64,
    /// Simulated time, s.
    pub(crate) time: f64,
    pub(crate) level: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) robot: Option<String>,
    pub(crate) text: String,
}

/// All lines of a run.
#[derive(Default)]
pub(crate) struct Log {
    lines: VecDeque<Line>,
    /// Those of the last lines that nobody has been told yet.
    fresh: usize,
    now: (u64, f64),
}

impl Log {
    /// A new run begins: what was is no longer true.
    pub(crate) fn clear(&mut self) {
        self.cut(0);
        self.lines.clear();
        self.fresh = 0;
        self.now = (0, 0.0);
    }

    /// The run goes back: what came after no longer counts.
    pub(crate) fn cut(&mut self, stop: u64) {
        while self.lines.back().is_some_and(|line| line.stop > stop) {
            self.lines.pop_back();
            self.fresh = self.fresh.saturating_sub(1);
        }
    }

    /// Sets the moment at which lines happen that are no part of a step.
    pub(crate) fn at(&mut self, stop: u64, now: Time) {
        self.now = (stop, seconds(now));
    }

    /// Adds a line at the present moment.
    pub(crate) fn say(
        &mut self,
        level: &'static str,
        kind: &'static str,
        robot: Option<String>,
        text: impl Into<String>,
    ) {
        let (stop, time) = self.now;
        let mut text: String = text.into();
        if let Some((end, _)) = text.char_indices().nth(MOST_TEXT) {
            text.truncate(end);
            text.push('…');
        }
        if self.lines.len() >= MOST_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(Line { stop, time, level, kind, robot, text });
        self.fresh = (self.fresh + 1).min(self.lines.len());
    }

    /// Says that something was refused although nobody asked just now.
    pub(crate) fn refused(&mut self, kind: &'static str, refusal: &Refusal) {
        self.say("error", kind, None, refusal.message.clone());
    }

    /// Adds what happened in a step.
    pub(crate) fn step(&mut self, model: &Model, frame: &Frame) {
        self.at(frame.stops, frame.now);
        let mut contacts = 0;
        for event in &frame.events {
            if matches!(event, RunEvent::Contact(_)) {
                contacts += 1;
                if contacts > MOST_CONTACTS {
                    continue;
                }
            }
            self.event(model, event);
        }
        if contacts > MOST_CONTACTS {
            let more = format!("and {} more contacts in this step", contacts - MOST_CONTACTS);
            self.say("info", "contact", None, more);
        }
    }

    fn event(&mut self, model: &Model, event: &RunEvent) {
        let path = |uid: Uid| model.path_of(uid).unwrap_or("something").to_owned();
        match event {
            RunEvent::Contact(c) => {
                let text = format!("{} touches {}", path(c.a), path(c.b));
                self.say("info", "contact", Some(path(c.a)), text);
            }
            RunEvent::NotFinite { robot, what } => {
                let robot = path(*robot);
                self.say(
                    "error",
                    "halt",
                    Some(robot),
                    format!("halted: {} is not a finite number", what.word()),
                );
            }
            RunEvent::ImpactLimit(body) => {
                let text = "more impacts than the limit: it stands for the rest of the quantum";
                self.say("warning", "limit", Some(path(*body)), text);
            }
            RunEvent::AssertFailed(k) => {
                let name = model.asserts.get(*k).map_or("?", |a| a.name.as_str());
                self.say("error", "assert", None, format!("an assertion does not hold: {name}"));
            }
            other => {
                let now = self.now.1;
                if let Some(at) = other.at() {
                    self.now.1 = seconds(at.time);
                }
                self.controller(Event::of_controller(model, other));
                self.now.1 = now;
            }
        }
    }

    fn controller(&mut self, event: Option<Event>) {
        match event {
            Some(Event::Said { robot, text }) => self.say("info", "print", Some(robot), text),
            Some(Event::BadRegister { robot, what }) => self.say("warning", "fault", Some(robot), what),
            Some(Event::Quarrel { robot, command }) => {
                let text = format!("two controllers write `{command}`; the later one's value holds");
                self.say("warning", "fault", Some(robot), text);
            }
            Some(Event::PartFailed { part, what }) => {
                let robot = part.rsplit_once('/').map(|(robot, _)| robot.to_owned());
                self.say("warning", "fault", robot, format!("{part}: the model {what}"));
            }
            Some(Event::Failed { robot, controller, what, then, lines }) => {
                let mut text = format!("controller `{controller}` {what} (policy: {then})");
                for line in lines {
                    text.push_str("\nit said: ");
                    text.push_str(&line);
                }
                self.say("error", "fault", Some(robot), text);
            }
            Some(Event::Endless { robot, protocol }) => {
                let text = format!("`{protocol}` never came to rest at one moment: the robot was stopped");
                self.say("error", "fault", Some(robot), text);
            }
            Some(Event::AlgorithmFailed { robot, what }) => self.say("error", "fault", Some(robot), what),
            Some(Event::Swallowed { robot }) => self.say("warning", "fault", Some(robot), "fell into a hole"),
            // Messages and motions have a place of their own; here is what robots say.
            Some(Event::Live(line)) => match line.what.as_str() {
                "said" => self.say("info", "print", Some(line.robot), line.text),
                "crashed" | "recovered" => {
                    self.say("warning", "fault", Some(line.robot), line.what);
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// What nobody has been told yet.
    pub(crate) fn take_fresh(&mut self) -> Vec<Line> {
        let first = self.lines.len() - self.fresh;
        self.fresh = 0;
        self.lines.range(first..).cloned().collect()
    }

    /// The last lines, oldest first.
    pub(crate) fn last(&self, most: usize) -> Vec<&Line> {
        self.lines.range(self.lines.len().saturating_sub(most)..).collect()
    }

    /// Lines of a stretch of stops; the last ones, if there are more than `limit`.
    pub(crate) fn between(&self, from: u64, to: u64, limit: usize) -> Vec<&Line> {
        let wanted = self.lines.iter().rev().filter(|l| (from..=to).contains(&l.stop)).take(limit);
        let mut lines: Vec<&Line> = wanted.collect();
        lines.reverse();
        lines
    }
}

/// Seconds as people write them: the quotient is the nearest number, `120` and not `120.00000000000001`.
pub(crate) fn seconds(time: Time) -> f64 {
    time.0 as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_bounded_and_tells_each_line_once() {
        let mut log = Log::default();
        for k in 0..MOST_LINES as u64 + 10 {
            log.at(k, Time::ZERO);
            log.say("info", "run", None, "x");
        }
        assert_eq!(log.take_fresh().len(), MOST_LINES);
        assert!(log.take_fresh().is_empty());
        assert_eq!(log.between(20, 29, 5).iter().map(|l| l.stop).collect::<Vec<_>>(), [25, 26, 27, 28, 29]);
    }

    #[test]
    fn what_came_after_a_branch_is_forgotten() {
        let mut log = Log::default();
        for k in 0..10 {
            log.at(k, Time::ZERO);
            log.say("info", "run", None, "x");
        }
        log.cut(4);
        assert_eq!(log.last(100).len(), 5);
        assert_eq!(log.take_fresh().len(), 5);
    }
}
