//! What happened, as a person or a program would ask for it: with paths, not with uids.

use crate::live::LiveLine;
use serde::{Deserialize, Serialize};
use swarmyard_base::{Time, Uid};
use swarmyard_engine::{ContactEvent, Model, RunEvent};

/// Contacts written one by one between two frames; the rest is counted.
///
/// Why a bound: ten thousand robots in a crowd touch thousands of times per quantum, and nobody
/// looks at each. The count stays exact, and a replay has them all.
pub(crate) const MAX_CONTACTS: u32 = 500;

/// What happened in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepEvents {
    /// Steps committed, this one included.
    pub step: u64,
    /// Simulated time, in nanoseconds.
    pub time: Time,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Event {
    /// Two things touched.
    Contact(Contact),
    /// Contacts since the frame before that were counted only.
    MoreContacts {
        /// How many.
        count: u64,
    },
    /// A robot was halted because something was not a finite number.
    Halt {
        /// The robot.
        robot: String,
        /// What was not finite.
        what: String,
    },
    /// A body exceeded its impact limit and was stopped for the rest of the quantum.
    ImpactLimit {
        /// The body.
        body: String,
    },
    /// An assertion that must always hold does not, for the first time.
    AssertFailed {
        /// Its name.
        name: String,
        /// Its condition.
        condition: String,
    },
    /// A controller printed a line.
    Said {
        /// Its robot.
        robot: String,
        /// The line.
        text: String,
    },
    /// A controller used a register as it cannot be used; each site once.
    BadRegister {
        /// Its robot.
        robot: String,
        /// What was wrong.
        what: String,
    },
    /// Two controllers of a robot wrote different values to one command; reported once.
    Quarrel {
        /// Their robot.
        robot: String,
        /// The command, as PART.CHANNEL.
        command: String,
    },
    /// The model of a part failed for a robot, after it had not.
    PartFailed {
        /// Path of the part.
        part: String,
        /// What went wrong.
        what: String,
    },
    /// A controller failed.
    Failed {
        /// Its robot.
        robot: String,
        /// Name of the controller.
        controller: String,
        /// What went wrong.
        what: String,
        /// What followed: `hold`, `halt`, `restart` or `end`.
        then: String,
        /// What it printed last.
        lines: Vec<String>,
    },
    /// The protocols of a robot never came to rest at one moment: it was stopped.
    Endless {
        /// The robot.
        robot: String,
        /// The protocol that was at work; empty in recordings of earlier builds when the whole robot was.
        protocol: String,
    },
    /// What decides for a robot that lives by events failed: a program outside, or an algorithm that asked for something
    /// that cannot be.
    AlgorithmFailed {
        /// The robot.
        robot: String,
        /// What went wrong, and what follows.
        what: String,
    },
    /// A robot fell into a hole and is gone.
    Swallowed {
        /// The robot.
        robot: String,
    },
    /// Something happened to a robot that lives by events.
    Live(Box<LiveLine>),
}

impl Event {
    /// The word for its kind, as it is written.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Event::Contact(_) => "contact",
            Event::MoreContacts { .. } => "more-contacts",
            Event::Halt { .. } => "halt",
            Event::ImpactLimit { .. } => "impact-limit",
            Event::AssertFailed { .. } => "assert-failed",
            Event::Said { .. } => "said",
            Event::BadRegister { .. } => "bad-register",
            Event::Quarrel { .. } => "quarrel",
            Event::PartFailed { .. } => "part-failed",
            Event::Failed { .. } => "failed",
            Event::Endless { .. } => "endless",
            Event::AlgorithmFailed { .. } => "algorithm-failed",
            Event::Swallowed { .. } => "swallowed",
            Event::Live(_) => "live",
        }
    }

    /// An event that concerns a controller, a part's model or a protocol, in words; none for the others.
    #[must_use]
    pub fn of_controller(model: &Model, event: &RunEvent) -> Option<Event> {
        let name = |robot: Uid| path(model, robot, "robot");
        match event {
            RunEvent::Endless { robot, protocol, .. } => {
                Some(Event::Endless { robot: name(*robot), protocol: protocol.clone() })
            }
            RunEvent::AlgorithmFailed { robot, why } => {
                Some(Event::AlgorithmFailed { robot: name(*robot), what: why.clone() })
            }
            RunEvent::Swallowed { robot } => Some(Event::Swallowed { robot: name(*robot) }),
            RunEvent::Live(note) => Some(Event::Live(Box::new(LiveLine::new(model, note)))),
            RunEvent::Said { robot, text, .. } => {
                Some(Event::Said { robot: name(*robot), text: text.clone() })
            }
            RunEvent::BadAccess { robot, access: a, .. } => {
                let verb = if a.write { "poke" } else { "peek" };
                let what = format!("{verb}{} at {:#x}, which {}", 8 * a.bytes, a.address, a.why.words());
                Some(Event::BadRegister { robot: name(*robot), what })
            }
            RunEvent::Quarrel { robot, part, place, .. } => {
                let command = command_name(model, *robot, *part as usize, *place as usize);
                Some(Event::Quarrel { robot: name(*robot), command })
            }
            RunEvent::PartFailed { robot, part, why } => {
                let ty = model.slot_of(*robot).map(|slot| &model.types[model.type_of[slot] as usize]);
                let named = ty.and_then(|ty| ty.parts.get(*part as usize)).map_or("?", |p| p.name.as_str());
                Some(Event::PartFailed { part: format!("{}/{named}", name(*robot)), what: why.clone() })
            }
            RunEvent::Failed { robot, controller, failure, then, lines } => {
                let ty = model.slot_of(*robot).map(|slot| &model.types[model.type_of[slot] as usize]);
                let named = ty.and_then(|ty| ty.controllers.get(*controller as usize));
                let words = failure.cause.words();
                let what = match failure.message.as_str() {
                    "" => words.to_owned(),
                    why => format!("{words}: {why}"),
                };
                Some(Event::Failed {
                    robot: name(*robot),
                    controller: named.map_or_else(String::new, |c| c.name.clone()),
                    what,
                    then: then.word().to_owned(),
                    lines: lines.clone(),
                })
            }
            _ => None,
        }
    }
}

/// A place of a command row in words.
fn command_name(model: &Model, robot: Uid, part: usize, place: usize) -> String {
    let ty = model.slot_of(robot).map(|slot| &model.types[model.type_of[slot] as usize]);
    let Some(part) = ty.and_then(|ty| ty.parts.get(part)) else { return String::new() };
    let mut before = 0;
    for channel in part.layout.channels.iter().filter(|c| c.command) {
        if place < before + channel.len {
            return format!("{}.{}", part.name, channel.name);
        }
        before += channel.len;
    }
    part.name.clone()
}

/// A contact of two things.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// A body.
    pub a: String,
    /// The other one: a body, a wall or a fixed obstacle.
    pub b: String,
    /// What the other one is: `wall`, `robot` or `obstacle`.
    pub with: String,
    /// Where, in the world's frame.
    pub x: f64,
    /// Where, in the world's frame.
    pub y: f64,
    /// Impulse along the normal, N s.
    pub impulse: f64,
    /// Closing speed, m/s.
    pub closing: f64,
}

/// Gathers events, and counts contacts that are too many.
#[derive(Default)]
pub(crate) struct EventLog {
    contacts: u32,
    more: u64,
}

impl EventLog {
    /// The events of one step, as they are written; none when there is nothing to write.
    ///
    /// Without `room` contacts are only counted.
    pub(crate) fn take(&mut self, model: &Model, events: &[RunEvent], room: bool) -> Vec<Event> {
        let mut out = Vec::new();
        for event in events {
            match event {
                RunEvent::Contact(_) if !room || self.contacts >= MAX_CONTACTS => self.more += 1,
                RunEvent::Contact(c) => {
                    self.contacts += 1;
                    out.push(Event::Contact(contact(model, c)));
                }
                RunEvent::NotFinite { robot, what } => {
                    out.push(Event::Halt {
                        robot: path(model, *robot, "robot"),
                        what: what.word().to_owned(),
                    });
                }
                RunEvent::ImpactLimit(body) => {
                    out.push(Event::ImpactLimit { body: path(model, *body, "body") })
                }
                RunEvent::Said { .. }
                | RunEvent::Endless { .. }
                | RunEvent::AlgorithmFailed { .. }
                | RunEvent::Swallowed { .. }
                | RunEvent::Live(_)
                | RunEvent::BadAccess { .. }
                | RunEvent::Quarrel { .. }
                | RunEvent::PartFailed { .. }
                | RunEvent::Failed { .. } => out.extend(Event::of_controller(model, event)),
                RunEvent::AssertFailed(k) => out.extend(
                    model
                        .asserts
                        .get(*k)
                        .map(|a| Event::AssertFailed { name: a.name.clone(), condition: a.text.clone() }),
                ),
            }
        }
        out
    }

    /// Starts the next interval; answers the contacts that were only counted.
    pub(crate) fn next_interval(&mut self) -> Option<Event> {
        let count = std::mem::take(&mut self.more);
        self.contacts = 0;
        (count > 0).then_some(Event::MoreContacts { count })
    }
}

fn contact(model: &Model, c: &ContactEvent) -> Contact {
    // JSON has no word for what is not finite.
    let plain = |x: f64| if x.is_finite() { x } else { 0.0 };
    Contact {
        a: path(model, c.a, "robot"),
        b: path(model, c.b, c.kind.word()),
        with: c.kind.word().to_owned(),
        x: plain(c.point.x),
        y: plain(c.point.y),
        impulse: plain(c.impulse),
        closing: plain(c.closing),
    }
}

/// The path behind a uid; for something fixed that the model keeps no path of, what it is.
fn path(model: &Model, uid: Uid, word: &str) -> String {
    match model.path_of(uid) {
        Some(path) => path.to_owned(),
        None if uid == Uid::of_path("/world/border") => "/world/border".to_owned(),
        None => format!("{word} {uid}"),
    }
}
