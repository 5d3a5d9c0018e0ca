//! The class `program` of algorithms: an algorithm in a sandbox, from C, C++ or WebAssembly.

use super::call::Hands;
use super::event::Event;
use super::sandbox::{Live, Sandbox};
use super::{Status, Then, Uses, with_ports};
use crate::image::Image;
use crate::program::{budget, code_of, does_not_compile};
use crate::workshop::{Target, Workshop, made_name};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ServiceKind, Sheet, from_bytes, to_bytes,
};
use swarmyard_scene::{Params, Value};

/// The class, which finds its code in `workshop`.
pub(super) fn class(workshop: &Arc<Workshop>) -> Class {
    let workshop = Arc::clone(workshop);
    Class::new(sheet(), move |p, _| build(&workshop, p))
}

pub(super) fn sheet() -> Sheet {
    let sheet = Sheet::new("program", Kind::Algorithm, "A program in a sandbox, one running copy per robot, called for every event: C and C++ are compiled to WebAssembly when the run starts, a .wasm file is taken as it is (sdk/c/swarm.h, docs/cooperative-programs.md). Metered by fuel, so runs repeat exactly.")
        .param(Param::new("source", ParamType::Text, "The source (.c, .cpp) or module (.wasm), in the project."))
        .param(Param::new("code", ParamType::Text, "C text, instead of a file."))
        .param(Param::new("fuel", ParamType::Int { min: 1, max: 1_000_000_000 }, "Fuel per event, about one unit per instruction; a call costs 100 units and one for each byte that it moves.").or(Value::Int(1_000_000)))
        .param(Param::new("memory", ParamType::Int { min: 65_536, max: 4_294_967_296 }, "Bytes of memory it may have.").or(Value::Int(1_048_576)))
        .param(Param::new("on", ParamType::Text, "Not for algorithms in the sandbox, which call the robot many times for each event: they run where the robot does. Give the type a place instead (`[type.NAME] on = …`, docs/many-machines.md), or take the class `process`."))
        .param(Then::param("on_failure", "What follows when it runs out of fuel, crashes, or gives a bad pointer. Under `halt` the robot stays where it is; under `restart` the program starts again after a second, with an empty memory."));
    with_ports(sheet).level("every", "Everything.").example("[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[type.demo.algorithm]\nclass = \"program\"\ncode = '''\n#include \"swarm.h\"\nvoid robot_event(int kind, int a, double x, double y)\n{\n    (void)a, (void)x, (void)y;\n    if (kind == SWARM_START || kind == SWARM_FINISHED)\n        swarm_move_to(swarm_uniform(0, 2), swarm_uniform(0, 2), 0.5, 1.0);\n}\n'''")
}

fn build(workshop: &Workshop, p: &Params) -> Result<Built, Diagnostic> {
    if p.text_or_none("on").is_some() {
        let what = "an algorithm in the sandbox runs where its robot does";
        let help = "give the type a place, `[type.NAME] on = …`, or write the algorithm as a `process`, which may be on another host";
        return Err(Diagnostic::error("on-host", what).at(p.span("on")).help(help));
    }
    let code = code_of(p)?;
    let bytes = workshop.make(code, Target::Sandbox, "").map_err(|e| does_not_compile(p, code, &e))?;
    let bad = |why: String| Diagnostic::error("bad-program", why).at(p.span("source").or(p.span("code")));
    let sandbox = Arc::new(Sandbox::new(&bytes, budget(p)).map_err(bad)?);
    let name = made_name(code, Target::Sandbox, "");
    let (then, uses) = (Then::of(p, "on_failure"), Uses::of(p));
    Ok(Built::Protocol(Arc::new(Model { sandbox, then, uses, name, bytes })))
}

struct Model {
    sandbox: Arc<Sandbox>,
    then: Then,
    uses: Uses,
    /// What it was made of, for recordings.
    name: String,
    bytes: Arc<Vec<u8>>,
}

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        self.uses.ports()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        let (sandbox, then) = (Arc::clone(&self.sandbox), self.then);
        Box::new(Running {
            live: sandbox.instantiate(),
            sandbox,
            then,
            uses: self.uses.clone(),
            hands: Hands::default(),
            status: Status::Runs,
        })
    }

    fn made_of(&self) -> Option<(&str, &[u8])> {
        Some((&self.name, &self.bytes))
    }
}

/// One robot's copy.
struct Running {
    sandbox: Arc<Sandbox>,
    then: Then,
    uses: Uses,
    /// Or why there is none.
    live: Result<Live, String>,
    hands: Hands,
    status: Status,
}

/// Its memory.
#[derive(Serialize, Deserialize)]
struct Memory {
    hands: Hands,
    status: Status,
    image: Result<Image, String>,
}

impl Running {
    fn react(&mut self, event: &Event, cx: &mut Cx<'_>) {
        if self.status != Status::Runs {
            return;
        }
        let Running { sandbox, live, hands, uses, .. } = self;
        let done = match live {
            Ok(live) => sandbox.react(live, event, (hands, uses), cx),
            Err(why) => Err(why.clone()),
        };
        if let Err(why) = done {
            self.hands.let_go(cx);
            self.status = Status::after(self.then.follow(&why, cx));
            self.live = Err(why);
        }
    }
}

impl Microprotocol for Running {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.react(&Event::Start, cx);
    }

    fn indication(&mut self, port: usize, what: Indication, cx: &mut Cx<'_>) {
        if let Some(event) = self.hands.event(port, what, &self.uses) {
            self.react(&event, cx);
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if self.status == Status::Again(timer) {
            self.live = self.sandbox.instantiate();
            self.status = Status::Runs;
            self.react(&Event::Start, cx);
        } else if let Some(event) = self.hands.timer(timer) {
            self.react(&event, cx);
        }
    }

    fn save(&self) -> Vec<u8> {
        let image = self.live.as_ref().map(|live| self.sandbox.image(live)).map_err(Clone::clone);
        to_bytes(&Memory { hands: self.hands.clone(), status: self.status, image })
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        let memory: Memory = from_bytes(image)?;
        self.live = match &memory.image {
            Ok(image) => Ok(self.sandbox.with_image(image)?),
            Err(why) => Err(why.clone()),
        };
        (self.hands, self.status) = (memory.hands, memory.status);
        Ok(())
    }
}
