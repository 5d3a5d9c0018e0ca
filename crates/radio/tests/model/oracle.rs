//! A detector or leader service that says what it is told to, at any moment.

use serde::{Deserialize, Serialize};
use swarmyard_part_api::{
    Cx, Indication, Microprotocol, PortSpec, ProtocolModel, ServiceKind, memory_is_serde,
};

/// Says each of these things once, each at any moment: the worst detector or leader service there is.
#[derive(Clone)]
pub(crate) struct AnyMoment {
    pub(crate) provides: ServiceKind,
    /// Says them at the start instead, and nothing to who comes back after a crash: far fewer states.
    pub(crate) at_once: bool,
    /// By process.
    pub(crate) says: Vec<Vec<Word>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Word {
    Suspected(u32),
    Leads(u32),
}

impl Word {
    fn spoken(self) -> Indication {
        match self {
            Word::Suspected(robot) => Indication::Suspected(robot),
            Word::Leads(robot) => Indication::Leads(robot),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Oracle {
    at_once: bool,
    says: Vec<Vec<Word>>,
    /// Timers, and what is said when they run out.
    open: Vec<(u64, Word)>,
}

impl ProtocolModel for AnyMoment {
    fn provides(&self) -> Option<ServiceKind> {
        Some(self.provides)
    }

    fn ports(&self) -> Vec<PortSpec> {
        Vec::new()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Oracle { at_once: self.at_once, says: self.says.clone(), open: Vec::new() })
    }
}

impl Microprotocol for Oracle {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        let says = self.says[cx.me() as usize].clone();
        if !self.at_once {
            self.open = says.into_iter().map(|word| (cx.set_timer(1.0), word)).collect();
        } else if cx.persisted::<bool>().is_none() {
            cx.persist(&true);
            says.into_iter().for_each(|word| cx.tell_all(word.spoken()));
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if let Some(k) = self.open.iter().position(|o| o.0 == timer) {
            cx.tell_all(self.open.remove(k).1.spoken());
        }
    }
}

impl AnyMoment {
    /// A detector by which each of so many processes comes to suspect these.
    pub(crate) fn suspecting(processes: u32, robots: &[u32]) -> AnyMoment {
        let others = |me| robots.iter().copied().filter(move |q| *q != me).map(Word::Suspected).collect();
        let says = (0..processes).map(others).collect();
        AnyMoment { provides: ServiceKind::Detector, at_once: false, says }
    }
}
