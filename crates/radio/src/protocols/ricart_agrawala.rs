//! Mutual exclusion by asking everybody: Ricart and Agrawala's algorithm.
//!
//! Who wants in asks all others with its clock and enters when all have agreed. Who is inside, or wants in with
//! an earlier (clock, robot), answers when it leaves. Each user on top has its own critical section, the same
//! on every robot.
//!
//! - **Guarantees**: never two inside; in the order of (clock, robot), so nobody waits for ever.
//! - **Assumes**: no message is lost (put `reliable-link` below otherwise). When a robot crashes nobody else gets
//!   in any more; never two at once, all the same. Links may reorder and duplicate: an answer says which question
//!   it is for.
//! - **Messages**: 2(n−1) for each time inside.
//! - **Model-checked** exhaustively with 3 robots that each go in once, links that reorder, with and without a
//!   crash.

use super::ordering::came_back;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Built, Class, Cx, Exclusion, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec,
    ProtocolModel, ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("ricart-agrawala", Kind::Protocol, "Mutual exclusion by asking all others (Ricart and Agrawala): 2(n-1) messages each time. Needs reliable links; when a robot crashes nobody gets in any more, but never two.")
        .param(Param::new("link", ParamType::Name("protocol"), "Provider of the link; the network when left out."))
        .example("[[type.demo.protocol]]\nname = \"alone\"\nclass = \"ricart-agrawala\"")
}

fn build(_: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(RicartAgrawala)))
}

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class with its parameters: it has none.
#[derive(Clone, Copy, Debug)]
struct RicartAgrawala;

impl ProtocolModel for RicartAgrawala {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Mutex)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Memory::default())
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes::<Message>(bytes) {
            Ok(Message::May { clock, .. }) => ("MAY".into(), format!("clock {clock}")),
            Ok(Message::Yes { clock, .. }) => ("YES".into(), format!("to clock {clock}")),
            Err(why) => ("BAD".into(), why),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Message {
    /// Wants in.
    May { user: User, clock: u64 },
    /// Has nothing against the question with that clock.
    Yes { user: User, clock: u64 },
}

/// Where a robot is with respect to one critical section.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
enum Place {
    #[default]
    Outside,
    /// Has asked with this clock, and waits for these.
    Waiting(u64, BTreeSet<u32>),
    Inside,
}

#[derive(Default, Serialize, Deserialize)]
struct Section {
    place: Place,
    /// Who waits for an answer: robot and the clock of its last question.
    held_up: BTreeMap<u32, u64>,
}

#[derive(Default, Serialize, Deserialize)]
struct Memory {
    retired: bool,
    clock: u64,
    sections: BTreeMap<User, Section>,
}

impl Microprotocol for Memory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.retired = came_back(cx);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Mutex(wish) = request else { return };
        if self.retired {
            return;
        }
        let section = self.sections.entry(user).or_default();
        match (wish, &section.place) {
            (Exclusion::Enter, Place::Outside) => {
                self.clock += 1;
                let others = cx.others();
                section.place = Place::Waiting(self.clock, others.iter().copied().collect());
                if !others.is_empty() {
                    cx.send(LINK, others, &Message::May { user, clock: self.clock });
                }
                enter_if_agreed(section, user, cx);
            }
            (Exclusion::Enter, _) => cx.say("wants in twice: the second time does not count"),
            (Exclusion::Leave, Place::Outside) => cx.say("leaves without being inside: nothing happens"),
            (Exclusion::Leave, _) => {
                section.place = Place::Outside;
                for (robot, clock) in std::mem::take(&mut section.held_up) {
                    cx.send_to(LINK, robot, &Message::Yes { user, clock });
                }
            }
        }
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        if self.retired || from == cx.me() || from >= cx.robots() {
            return;
        }
        match from_bytes(&bytes) {
            Ok(Message::May { user, clock }) => {
                self.clock = self.clock.max(clock);
                let section = self.sections.entry(user).or_default();
                let wait = match section.place {
                    Place::Outside => false,
                    Place::Waiting(own, _) => (own, cx.me()) < (clock, from),
                    Place::Inside => true,
                };
                if wait {
                    let last = section.held_up.entry(from).or_insert(clock);
                    *last = (*last).max(clock);
                } else {
                    cx.send_to(LINK, from, &Message::Yes { user, clock });
                }
            }
            Ok(Message::Yes { user, clock }) => {
                if let Some(section) = self.sections.get_mut(&user)
                    && let Place::Waiting(own, missing) = &mut section.place
                    && *own == clock
                {
                    missing.remove(&from);
                    enter_if_agreed(section, user, cx);
                }
            }
            Err(_) => {}
        }
    }

    memory_is_serde!();
}

fn enter_if_agreed(section: &mut Section, user: User, cx: &mut Cx<'_>) {
    if matches!(&section.place, Place::Waiting(_, missing) if missing.is_empty()) {
        section.place = Place::Inside;
        cx.indicate(user, Indication::Entered);
    }
}
