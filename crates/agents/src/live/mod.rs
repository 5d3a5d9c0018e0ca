//! Algorithms of robots that live by events whose code is not part of this program.
//!
//! In: what happens to one robot ([`event::Event`]). Out: calls ([`call::Call`]), which are done by one pair of
//! [`call::Hands`] wherever they come from: a program in a sandbox (`program.rs`), or a native one that writes
//! lines (`process.rs`, and `talkers.rs` for the processes themselves). `table.rs` lists what there is, for all of them.
//! A program that fails costs only its robot.

mod call;
mod event;
mod process;
mod program;
mod sandbox;
mod table;
mod talkers;
mod words;

pub(crate) use talkers::Talkers;

use crate::workshop::Workshop;
use std::sync::Arc;
use swarmyard_part_api::{
    Built, Class, Cx, Microprotocol, Param, ParamType, PortSpec, ProtocolModel, Registry, ServiceKind, Sheet,
    memory_is_serde,
};
use swarmyard_scene::Params;
use table::{SERVICES, Service};

/// Registers the algorithms, which find their code in `workshop`.
pub(crate) fn register(registry: &mut Registry, workshop: &Arc<Workshop>) {
    registry.add(program::class(workshop));
    registry.add(process::class(workshop));
}

/// Registers the same classes without code: they do nothing.
pub(crate) fn register_idle(registry: &mut Registry) {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Idle;
    impl Microprotocol for Idle {
        memory_is_serde!();
    }
    struct IdleModel(Uses);
    impl ProtocolModel for IdleModel {
        fn provides(&self) -> Option<ServiceKind> {
            None
        }
        fn ports(&self) -> Vec<PortSpec> {
            self.0.ports()
        }
        fn start(&self) -> Box<dyn Microprotocol> {
            Box::new(Idle)
        }
    }
    for sheet in [program::sheet(), process::sheet()] {
        registry.add(Class::new(sheet, |p, _| Ok(Built::Protocol(Arc::new(IdleModel(Uses::of(p)))))));
    }
}

/// What every such algorithm uses, in the order of the ports of [`call`].
const ALWAYS: [PortSpec; 4] = [
    PortSpec::new("motion", ServiceKind::Motion),
    PortSpec::optional("link", ServiceKind::Link),
    PortSpec::optional("broadcast", ServiceKind::Broadcast),
    PortSpec::new("watching", ServiceKind::Watching),
];

/// The services that the scenario names a protocol for, in the order of their ports after [`ALWAYS`].
///
/// Why only those: a program that was written without them is not told what it does not know, whatever protocols its robot
/// has.
#[derive(Clone)]
struct Uses(Arc<[&'static Service]>);

impl Uses {
    fn of(p: &Params) -> Uses {
        Uses(SERVICES.iter().filter(|service| p.text_or_none(service.kind.word()).is_some()).collect())
    }

    fn ports(&self) -> Vec<PortSpec> {
        let named = self.0.iter().map(|service| PortSpec::new(service.kind.word(), service.kind));
        ALWAYS.into_iter().chain(named).collect()
    }

    /// The port of a service.
    fn port(&self, kind: ServiceKind) -> Option<usize> {
        self.0.iter().position(|service| service.kind == kind).map(|k| ALWAYS.len() + k)
    }

    /// The service at a port.
    fn at(&self, port: usize) -> Option<&'static Service> {
        self.0.get(port.checked_sub(ALWAYS.len())?).copied()
    }
}

/// The parameters for them.
fn with_ports(sheet: Sheet) -> Sheet {
    let name = ParamType::Name("protocol");
    let sheet = sheet
        .param(Param::new("motion", name, "Who moves the robot; its motion modules when left out."))
        .param(Param::new("link", name, "Who carries messages to named robots; the network when left out."))
        .param(Param::new("broadcast", name, "Who carries messages to all robots; the only protocol that does so when left out. Without one they go nowhere."))
        .param(Param::new("watching", name, "Who looks out; its sensors when left out."));
    SERVICES.iter().fold(sheet, |sheet, s| sheet.param(Param::new(s.kind.word(), name, s.key)))
}

/// What follows when a program fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The robot stops and does nothing any more.
    Halt,
    /// The robot stops; after a second the program starts again with an empty memory.
    Restart,
}

impl Then {
    const WORDS: &'static [&'static str] = &["halt", "restart"];

    fn param(name: &'static str, summary: &'static str) -> Param {
        Param::new(name, ParamType::Choice(Then::WORDS), summary).or_text("halt")
    }

    fn of(p: &Params, name: &str) -> Then {
        if p.text_or_none(name) == Some("restart") { Then::Restart } else { Then::Halt }
    }

    /// Tells of a failure; answers the timer after which the program starts again.
    fn follow(self, why: &str, cx: &mut Cx<'_>) -> Option<u64> {
        match self {
            Then::Halt => {
                cx.failed(&format!("the program failed, and the robot stays where it is: {why}"));
                None
            }
            Then::Restart => {
                cx.failed(&format!("the program failed, and starts again in a second: {why}"));
                Some(cx.set_timer(1.0))
            }
        }
    }
}

/// How a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Status {
    /// It runs.
    Runs,
    /// It has failed for good.
    Failed,
    /// It starts again when this timer has run out.
    Again(u64),
}

impl Status {
    fn after(timer: Option<u64>) -> Status {
        timer.map_or(Status::Failed, Status::Again)
    }
}
