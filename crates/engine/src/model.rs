//! The compiled scenario: everything that does not change from step to step.

use crate::live::{Life, LiveModel};
use crate::paths::Paths;
use crate::referee::Assertion;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use swarmyard_base::hash::{bytes_hash, mix64};
use swarmyard_base::{Ratio, Sources, Time, Uid, Vec2};
use swarmyard_motion::Material;
use swarmyard_part_api::{
    Actuator, AtEdge, Beacon, BodyKind, Controller, Detail, FixedIndex, Layout, Outline, Outside, Program,
    RegisterMap, Rules, Sensor, Track, TrackIndex,
};

/// What happens when two bodies touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactRule {
    /// The motion of both ends.
    Stop,
    /// They exchange an impulse.
    Impulse,
    /// Each body brings its own of the two rules above.
    Own,
    /// They pass through one another.
    Ghost,
}

/// Settings of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// Length of a quantum at the start.
    pub quantum: Ratio,
    /// End of the run.
    pub duration: Time,
    /// Seed.
    pub seed: u64,
    /// Contact rule.
    pub contact: ContactRule,
    /// Level of detail at the start.
    pub detail: Detail,
    /// Gravity, m/s².
    pub gravity: f64,
    /// Friction of passive bodies on the floor.
    pub floor_friction: f64,
    /// Closing speed below which nothing bounces, m/s.
    pub rest_speed: f64,
    /// Impacts of one body in one stretch before it falls back to `stop`.
    pub impact_limit: u32,
}

/// What is fixed about one body that can move.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyModel {
    /// One over the mass.
    pub inverse_mass: f64,
    /// One over the moment of inertia.
    pub inverse_inertia: f64,
    /// Number of its surface.
    pub surface: u32,
    /// Whether its own rule is `stop` (used under [`ContactRule::Own`]).
    pub own_stop: bool,
    /// Colour on displays.
    pub colour: Option<String>,
}

/// One part of a type.
pub struct PartModel {
    /// Name of the part.
    pub name: String,
    /// Name of its class.
    pub class: &'static str,
    /// Its channels and state.
    pub layout: Layout,
    /// Its model.
    pub kind: PartKind,
    /// Whether controllers reach its state through ports.
    pub has_ports: bool,
}

/// The model of a part.
pub enum PartKind {
    /// Reads the world, every quantum or with a period of its own.
    Sensor(Box<dyn Sensor>, Option<Ratio>),
    /// Moves the body, or takes hold of things.
    Actuator(Box<dyn Actuator>),
}

/// One controller of a type.
pub struct ControllerModel {
    /// Name of the controller.
    pub name: String,
    /// Name of its class.
    pub class: &'static str,
    /// Initial private state.
    pub state: Vec<f64>,
    /// Its model.
    pub model: ControllerKind,
}

/// The model of a controller.
pub enum ControllerKind {
    /// Works on columns of many robots.
    Columns(Box<dyn Controller>),
    /// A program with a running copy per robot.
    Program(Arc<dyn Program>),
    /// Decides outside; its decisions come through the journal.
    Outside(Box<dyn Outside>),
}

impl ControllerKind {
    /// Initial private state of one robot.
    #[must_use]
    pub fn state(&self) -> Vec<f64> {
        match self {
            ControllerKind::Columns(model) => model.state(),
            ControllerKind::Program(_) | ControllerKind::Outside(_) => crate::minds::ROW.to_vec(),
        }
    }

    /// Whether the loop must wait for something from outside.
    #[must_use]
    pub fn waits(&self) -> bool {
        match self {
            ControllerKind::Columns(model) => model.waits(),
            ControllerKind::Program(_) => false,
            ControllerKind::Outside(_) => true,
        }
    }

    /// How it is treated, when it is a program.
    #[must_use]
    pub fn rules(&self) -> Option<Rules> {
        match self {
            ControllerKind::Columns(_) => None,
            ControllerKind::Program(program) => Some(program.rules()),
            ControllerKind::Outside(outside) => Some(outside.rules()),
        }
    }
}

/// All robots (or moving obstacles) of one kind: same outline, same parts, neighbouring slots.
pub struct TypeModel {
    /// Name of the type; for a lone moving obstacle, the obstacle's.
    pub name: String,
    /// Its robots' slots, in the natural order of their paths.
    pub slots: Range<usize>,
    /// What is fixed about each of its bodies.
    pub body: BodyModel,
    /// Number of the outline.
    pub outline: u32,
    /// Robot or obstacle.
    pub kind: BodyKind,
    /// Parts in the order of the scenario.
    pub parts: Vec<PartModel>,
    /// Controllers in the order of the scenario.
    pub controllers: Vec<ControllerModel>,
    /// The part that moves the body; without one it is passive.
    pub mover: Option<usize>,
    /// Channels as memory-mapped registers.
    pub registers: Arc<RegisterMap>,
    /// Where its robots are simulated when the run is spread: the name of a host, or what one can do.
    pub on: Option<String>,
    /// What makes its robots live by events; `None` for those that live by quanta.
    pub life: Option<Life>,
}

impl TypeModel {
    /// What its bodies do at something fixed.
    #[must_use]
    pub fn at_edge(&self) -> AtEdge {
        self.mover.map_or(AtEdge::Push, |mover| self.parts[mover].layout.at_edge)
    }
}

/// What the recording holds.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordSettings {
    /// Frames per simulated second.
    pub rate_hz: f64,
    /// Most bytes on disk.
    pub budget_bytes: u64,
    /// Paths recorded as ROS 2 messages.
    pub topics: Vec<String>,
}

/// The compiled scenario. Never changes; shared by every copy of a run. A run whose world changes goes on
/// with another one.
pub struct Model {
    /// Title of the scenario.
    pub title: String,
    /// Settings of the run.
    pub run: RunSettings,
    /// Bounds of the world; `None` when it is infinite.
    pub bounds: Option<(Vec2, Vec2)>,
    /// Outlines by number.
    pub outlines: Vec<Outline>,
    /// What stands for them at the level `coarse`, by the same number.
    pub discs: Vec<Outline>,
    /// Surfaces by number.
    pub surfaces: Vec<Material>,
    /// Walls, borders and fixed obstacles.
    pub fixed: FixedIndex,
    /// Outline of each fixed edge, in the world's frame.
    pub fixed_outlines: Vec<Outline>,
    /// (uid, path) of each wall and fixed obstacle, sorted by uid.
    pub fixed_paths: Vec<(Uid, String)>,
    /// Where fixed polygonal obstacles stand, sorted by uid.
    pub fixed_places: Vec<(Uid, Vec2)>,
    /// Marks on the floor.
    pub tracks: Vec<Track>,
    /// Marks on the floor by place.
    pub track_index: TrackIndex,
    /// Beacons in the order of their codes, those of one code in the order of uids.
    pub beacons: Vec<Beacon>,
    /// What is fixed about robots that live by events, when there are any.
    pub live: Option<LiveModel>,
    /// Types; their slots are ascending and cover all bodies.
    pub types: Vec<TypeModel>,
    /// Path of each body, by slot.
    pub paths: Paths,
    /// Uid of each body, by slot.
    pub uids: Vec<Uid>,
    /// Number of the type of each body, by slot.
    pub type_of: Vec<u32>,
    /// Outline of each body, by slot.
    pub outline_of: Vec<u32>,
    /// Kind of each body, by slot.
    pub kinds: Vec<BodyKind>,
    /// Heights above the floor between which its bodies are solid, by type.
    pub heights: Vec<(f64, f64)>,
    /// Where single robots are to be simulated, by slot; others are where their type says.
    pub hosts: BTreeMap<u32, String>,
    /// Slots in the order of uids.
    pub by_uid: Vec<u32>,
    /// Bodies below this slot are its own; those above are ghosts, whose steps a worker elsewhere takes.
    pub own: usize,
    /// Where a worker has the bodies of the whole run; `None` in a whole model.
    pub(crate) here: Option<Here>,
    /// Displays elsewhere, by name: the host on which they are, or what it can do.
    pub displays: Vec<(String, String)>,
    /// Assertions.
    pub asserts: Vec<Assertion>,
    /// What the recording holds.
    pub record: RecordSettings,
    /// The texts the scenario was read from.
    pub sources: Sources,
    /// Hash of these texts (overrides are among them) and of the code that is run: the world's name in
    /// a journal, a snapshot and a recording.
    pub world: u64,
}

/// Where a worker has the bodies of a run.
#[derive(Default)]
pub(crate) struct Here {
    /// Uids of all bodies of the run, by number: their slot in the whole model.
    pub(crate) uids: Vec<Uid>,
    /// Their slots here, by number.
    pub(crate) slots: Vec<u32>,
}

impl Here {
    /// The slot of a body that is not here.
    pub(crate) const ELSEWHERE: u32 = u32::MAX;

    /// Where the body of that number is.
    pub(crate) fn slot_of(&self, number: u32) -> Option<usize> {
        let slot = *self.slots.get(number as usize)?;
        (slot != Here::ELSEWHERE).then_some(slot as usize)
    }
}

impl Model {
    /// Number of bodies that can move.
    #[must_use]
    pub fn len(&self) -> usize {
        self.uids.len()
    }

    /// Whether nothing can move.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.uids.is_empty()
    }

    /// Number of robots.
    #[must_use]
    pub fn robots(&self) -> usize {
        self.types.iter().filter(|t| t.kind == BodyKind::Robot).map(|t| t.slots.len()).sum()
    }

    /// Where a body is to be simulated, if anybody said so: a host, or what it can do.
    #[must_use]
    pub fn host_of(&self, slot: usize) -> Option<&str> {
        self.hosts.get(&(slot as u32)).map(String::as_str).or(self.type_at(slot).on.as_deref())
    }

    /// Whether some bodies leave the world on one side and come back on the other.
    #[must_use]
    pub fn wraps(&self) -> bool {
        self.types.iter().any(|ty| ty.at_edge() == AtEdge::Wrap)
    }

    /// Whether some robots take hold of things.
    #[must_use]
    pub fn has_hands(&self) -> bool {
        let holds = |part: &PartModel| match &part.kind {
            PartKind::Actuator(actuator) => actuator.hand().is_some(),
            PartKind::Sensor(..) => false,
        };
        self.types.iter().flat_map(|ty| &ty.parts).any(holds)
    }

    /// Whether somebody outside decides in a run: then it is a function of its journal too.
    #[must_use]
    pub fn asks_outside(&self) -> bool {
        let waits = self.types.iter().flat_map(|ty| &ty.controllers).any(|c| c.model.waits());
        let lives = self.types.iter().filter_map(|ty| ty.life.as_ref());
        waits || lives.flat_map(|life| life.graph.models()).any(|protocol| protocol.outside().is_some())
    }

    /// The code of all programs and part models, each once: (name, bytes).
    #[must_use]
    pub fn code(&self) -> Vec<(String, Vec<u8>)> {
        let mut all: Vec<(String, Vec<u8>)> = Vec::new();
        let mut add = |name: &str, bytes: &[u8]| {
            if all.iter().all(|c| c.0 != name) {
                all.push((name.to_owned(), bytes.to_vec()));
            }
        };
        for controller in self.types.iter().flat_map(|ty| &ty.controllers) {
            if let ControllerKind::Program(program) = &controller.model {
                let (name, bytes) = program.bytes();
                add(name, bytes);
            }
        }
        for life in self.types.iter().filter_map(|ty| ty.life.as_ref()) {
            for (name, bytes) in life.graph.models().filter_map(|protocol| protocol.made_of()) {
                add(name, bytes);
            }
        }
        for part in self.types.iter().flat_map(|ty| &ty.parts) {
            let made = match &part.kind {
                PartKind::Sensor(sensor, _) => sensor.made_of(),
                PartKind::Actuator(actuator) => actuator.made_of(),
            };
            for (name, bytes) in made {
                add(&name, &bytes);
            }
        }
        all
    }

    /// What [`Model::world`] is to be.
    pub(crate) fn world_hash(&self) -> u64 {
        let word = |sum: u64, bytes: &[u8]| mix64(sum ^ bytes_hash(bytes));
        let texts = self.sources.0.iter();
        let sum =
            texts.fold(0, |sum, source| word(word(sum, source.name.as_bytes()), source.text.as_bytes()));
        self.code().iter().fold(sum, |sum, (name, bytes)| word(word(sum, name.as_bytes()), bytes))
    }

    /// Slot of the body with that uid.
    #[must_use]
    pub fn slot_of(&self, uid: Uid) -> Option<usize> {
        let uids = self.here.as_ref().map_or(&self.uids, |here| &here.uids);
        let k = self.by_uid.binary_search_by_key(&uid, |slot| uids[*slot as usize]).ok()?;
        let slot = self.by_uid[k];
        match &self.here {
            None => Some(slot as usize),
            Some(here) => here.slot_of(slot),
        }
    }

    /// Slot of the body with that uid, unless it is a ghost.
    #[must_use]
    pub(crate) fn own_slot_of(&self, uid: Uid) -> Option<usize> {
        self.slot_of(uid).filter(|&slot| slot < self.own)
    }

    /// Whether a body is here, and no ghost.
    #[must_use]
    pub(crate) fn is_own(&self, uid: Uid) -> bool {
        self.own == self.len() || self.own_slot_of(uid).is_some()
    }

    /// Slot of the body with that path, such as `/robots/r1`.
    #[must_use]
    pub fn slot_of_path(&self, path: &str) -> Option<usize> {
        self.slot_of(Uid::of_path(path)).filter(|&slot| &self.paths[slot] == path)
    }

    /// Type of the body in `slot`.
    #[inline]
    #[must_use]
    pub fn type_at(&self, slot: usize) -> &TypeModel {
        &self.types[self.type_of[slot] as usize]
    }

    /// What is fixed about the body in `slot`.
    #[inline]
    #[must_use]
    pub fn body(&self, slot: usize) -> &BodyModel {
        &self.types[self.type_of[slot] as usize].body
    }

    /// Heights above the floor between which the body in `slot` is solid.
    #[inline]
    #[must_use]
    pub fn heights_of(&self, slot: usize) -> (f64, f64) {
        self.heights[self.type_of[slot] as usize]
    }

    /// Whether the body in `slot` is a passive obstacle, which others can push and carry.
    #[must_use]
    pub fn is_movable(&self, slot: usize) -> bool {
        let ty = &self.types[self.type_of[slot] as usize];
        ty.kind == BodyKind::Obstacle && ty.mover.is_none() && ty.body.inverse_mass > 0.0
    }

    /// The true outline of the body in `slot`, whatever the level of detail.
    #[inline]
    #[must_use]
    pub fn outline(&self, slot: usize) -> &Outline {
        &self.outlines[self.outline_of[slot] as usize]
    }

    /// Outlines by number, as they are at a level of detail.
    #[inline]
    #[must_use]
    pub fn outlines_at(&self, detail: Detail) -> &[Outline] {
        if detail == Detail::Coarse { &self.discs } else { &self.outlines }
    }

    /// Outline of the body in `slot` at a level of detail.
    #[inline]
    #[must_use]
    pub fn outline_at(&self, detail: Detail, slot: usize) -> &Outline {
        &self.outlines_at(detail)[self.outline_of[slot] as usize]
    }

    /// Where a fixed obstacle or a beacon stands, by path.
    #[must_use]
    pub fn place_of(&self, path: &str) -> Option<Vec2> {
        let uid = Uid::of_path(path);
        let fixed = self.fixed_places.binary_search_by_key(&uid, |p| p.0).ok();
        let beacon = || self.beacons.iter().find(|b| b.uid == uid).map(|b| b.pose.at);
        fixed.map(|k| self.fixed_places[k].1).or_else(beacon)
    }

    /// The path of anything with a uid: a body, a wall, a fixed obstacle or a beacon.
    #[must_use]
    pub fn path_of(&self, uid: Uid) -> Option<&str> {
        if let Some(slot) = self.slot_of(uid) {
            return Some(&self.paths[slot]);
        }
        if let Ok(k) = self.fixed_paths.binary_search_by_key(&uid, |p| p.0) {
            return Some(&self.fixed_paths[k].1);
        }
        self.beacons.iter().find(|b| b.uid == uid).map(|b| b.path.as_str())
    }
}
