//! Elections: on a ring (Chang and Roberts 1979), or by the strongest (the bully of Garcia-Molina 1982).
//!
//! In: wishes for an election (`Elect`), suspicions of a detector if there is one. Out: `Leads`. The robot with
//! the highest number that takes part wins.
//!
//! *Ring:* whoever stands sends its number around; a robot passes on higher numbers, replaces lower ones by its
//! own if it does not stand yet, and swallows them if it does; the number that comes home has won, and goes
//! around once more to be known. *Bully:* who stands asks all with higher numbers; one that answers takes over;
//! who gets no answer within the timeout has won and tells all lower ones.
//!
//! With a detector, a suspected leader means a new election, and so does any suspicion while one is under way;
//! suspected robots are left out of the ring. Each election has a number, and of two results that of the later
//! election counts, then the higher robot. So wrong suspicions may make two leaders, but not for good.
//!
//! | | |
//! |---|---|
//! | provides | Leader |
//! | uses | Link (`link`), Detector (`detector`, optional) |
//! | guarantees | ring, without crashes: exactly one leader, the highest, under any delay. Bully: the same if an answer takes less than `timeout`. With crashes and a detector that is eventually right (◇P): eventually the highest that lives leads everywhere |
//! | assumes | links that lose nothing between robots that live; the bully also a bound on delays |
//! | messages | ring, when all stand: 3n − 1 at best (numbers rise along the ring), n(n + 1)/2 + n at worst (they fall), n H_n + n on average; n of them make it known. Bully: n − 1 when the highest stands, n² − 1 when the lowest does |
//! | model-checked | ring: n ≤ 5, every order of numbers and of messages. The bully fails there, as it must: the checker keeps no time |

use super::bully::Bully;
use super::chang_roberts::ChangRoberts;
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Kind, Link, Param, ParamType, PortSpec, ProtocolPort, ServiceKind, Sheet, TypeLayout,
};
use swarmyard_scene::{Params, Value};

pub(crate) const LINK: ProtocolPort<Link> = ProtocolPort::new(0);
pub(crate) const DETECTOR: usize = 1;

/// The class.
#[must_use]
pub fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("leader-election", Kind::Protocol, "Elects the robot with the highest number: on a ring (Chang–Roberts) or by the strongest (bully). With a detector it elects anew when the leader fails. Provides leader.")
        .param(Param::new("way", ParamType::Choice(&["ring", "bully"]), "How.").or_text("ring"))
        .param(Param::new("at_start", ParamType::Bool, "Whether everybody stands at the start; else when somebody wants an election.").or(Value::Bool(true)))
        .param(Param::number("timeout", Unit::Second, "For the bully: how long it waits for an answer, more than there and back again takes.").within(1e-6, 1e6).or_num(0.5))
        .param(Param::new("order", ParamType::Numbers { unit: Unit::None, min_len: 1, max_len: 100_000 }, "For the ring: the robots' numbers in the order of the ring; rising when left out."))
        .param(Param::new("link", ParamType::Name("protocol"), "What carries its messages; the network when left out."))
        .param(Param::new("detector", ParamType::Name("protocol"), "Who says which robots have failed; the only detector when left out, if there is one."))
        .example("[[type.demo.protocol]]\nname = \"leader\"\nclass = \"leader-election\"\nway = \"ring\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let at_start = p.bool("at_start");
    if p.text("way") == "bully" {
        return Ok(Built::Protocol(Arc::new(Bully { at_start, timeout_s: p.num("timeout") })));
    }
    let mut order = Vec::new();
    for number in p.nums_or_none("order").unwrap_or(&[]) {
        let robot = *number as u32;
        if f64::from(robot) != *number || order.contains(&robot) {
            let what = format!("`order` must name each robot's number once, not `{number}` so");
            return Err(Diagnostic::error("out-of-range", what).help("whole numbers from 0, each once"));
        }
        order.push(robot);
    }
    Ok(Built::Protocol(Arc::new(ChangRoberts { at_start, order })))
}

/// The ports both kinds have.
pub(crate) fn ports() -> Vec<PortSpec> {
    vec![PortSpec::new("link", ServiceKind::Link), PortSpec::optional("detector", ServiceKind::Detector)]
}
