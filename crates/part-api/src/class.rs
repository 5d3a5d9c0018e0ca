//! What a part class provides: a sheet, and models that work on columns.

use crate::{
    ActRows, AtEdge, Beacon, Bodies, Channel, Detail, EventSensor, Felt, FixedIndex, Hand, Mark,
    MotionModule, NetworkModel, Outline, Outside, PortChannel, Program, ProtocolModel, RegisterMap,
    SenseRows, Sheet, ThinkRows, Track, TrackIndex, World,
};
use std::sync::Arc;
use swarmyard_base::{Diagnostic, Pose2, Time, Uid, Vec2};
use swarmyard_scene::Params;

/// Builds a model from parameters that were checked against the sheet.
///
/// A plain function for most; one that closes over what it needs for classes that read files.
pub type Build = Box<dyn Fn(&Params, &TypeLayout<'_>) -> Result<Built, Diagnostic> + Send + Sync>;

/// A class as it is registered.
pub struct Class {
    /// What it says about itself.
    pub sheet: Sheet,
    /// How to make one; `None` for the scenario's own structure.
    pub build: Option<Build>,
}

impl Class {
    /// A class that is built by a function.
    pub fn new(
        sheet: Sheet,
        build: impl Fn(&Params, &TypeLayout<'_>) -> Result<Built, Diagnostic> + Send + Sync + 'static,
    ) -> Class {
        Class { sheet, build: Some(Box::new(build)) }
    }
}

/// A built part or controller.
pub enum Built {
    /// Reads the world.
    Sensor(Box<dyn Sensor>),
    /// Moves its robot, or takes hold of things.
    Actuator(Box<dyn Actuator>),
    /// Decides.
    Controller(Box<dyn Controller>),
    /// Decides, with a memory of its own for each robot.
    Program(Arc<dyn Program>),
    /// Decides outside of this program; its decisions come through the input journal.
    Outside(Box<dyn Outside>),
    /// Moves a robot that lives by events.
    Motions(Arc<dyn MotionModule>),
    /// Senses for a robot that lives by events.
    Senses(Arc<dyn EventSensor>),
    /// A protocol or an algorithm of such a robot.
    Protocol(Arc<dyn ProtocolModel>),
    /// Carries messages.
    Network(Arc<dyn NetworkModel>),
}

/// What a part keeps per robot, in numbers: its channels and its own state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Channels; readings first or mixed, in the order they stand in the columns.
    pub channels: Vec<Channel>,
    /// Initial row of its private state. Its length is the width of the state column.
    pub state: Vec<f64>,
    /// For evenly spaced rays: bearing of the first and step to the next, in the body's frame.
    pub bearings: Option<(f64, f64)>,
    /// For what moves a body: what it does at something fixed. When that [keeps a
    /// mirror](AtEdge::keeps_mirror), the first numbers of `state` are that [`Mirror`](crate::Mirror), and
    /// the engine turns it with every bounce.
    pub at_edge: AtEdge,
    /// For a differential drive: distance between its wheels, in metres.
    pub base: Option<f64>,
    /// For a part whose model can fail: place in its readings of a number that is not 0 when it did.
    pub fault: Option<usize>,
}

impl Layout {
    /// Numbers per robot in the reading column.
    #[must_use]
    pub fn reading_width(&self) -> usize {
        self.channels.iter().filter(|c| !c.command).map(|c| c.len).sum()
    }

    /// Numbers per robot in the command column.
    #[must_use]
    pub fn command_width(&self) -> usize {
        self.channels.iter().filter(|c| c.command).map(|c| c.len).sum()
    }

    /// First index and length of a channel in its column (readings and commands count separately).
    #[must_use]
    pub fn place(&self, name: &str) -> Option<(usize, usize)> {
        let wanted = self.channels.iter().find(|c| c.name == name)?;
        let before = self.channels.iter().take_while(|c| c.name != name);
        Some((before.filter(|c| c.command == wanted.command).map(|c| c.len).sum(), wanted.len))
    }
}

/// What is known about a robot type while its parts are built: the outline, and the parts before.
///
/// Controllers are built after all parts, so they can find any channel.
pub struct TypeLayout<'a> {
    /// Outline of the body.
    pub outline: &'a Outline,
    /// Names, classes and layouts of the parts built so far; the index is the part's number.
    pub parts: &'a [(String, &'static str, Layout)],
    /// The registers; empty while parts are built.
    pub registers: &'a RegisterMap,
    /// Name of the type.
    pub name: &'a str,
}

impl TypeLayout<'_> {
    /// Number of the part called `name`, or of the only part of class `class` when `name` is `None`.
    ///
    /// # Errors
    /// When there is no such part, or more than one; says which there are.
    pub fn part(&self, name: Option<&str>, class: &str) -> Result<usize, Diagnostic> {
        let names = self.parts.iter().map(|p| p.0.as_str());
        if let Some(name) = name {
            return self.parts.iter().position(|p| p.0 == name).ok_or_else(|| {
                Diagnostic::error("unknown-part", format!("this type has no part `{name}`"))
                    .suggest(name, names)
            });
        }
        let mut found = self.parts.iter().enumerate().filter(|(_, p)| p.1 == class).map(|(k, _)| k);
        match (found.next(), found.next()) {
            (Some(k), None) => Ok(k),
            (None, _) => {
                Err(Diagnostic::error("missing-part", format!("this type needs a part of class `{class}`"))
                    .help(format!("add a part with class = \"{class}\", or name another one")))
            }
            (Some(_), Some(_)) => Err(Diagnostic::error(
                "ambiguous-part",
                format!("this type has more than one part of class `{class}`: say which"),
            )
            .suggest("", names)),
        }
    }

    /// Place of a channel of a part: (first index, length) in the part's column.
    ///
    /// # Errors
    /// When the part has no such channel; says which it has.
    pub fn channel(&self, part: usize, name: &str) -> Result<(usize, usize), Diagnostic> {
        let (part_name, _, layout) = &self.parts[part];
        layout.place(name).ok_or_else(|| {
            Diagnostic::error("unknown-channel", format!("part `{part_name}` has no channel `{name}`"))
                .suggest(name, layout.channels.iter().map(|c| c.name))
        })
    }
}

/// A part that reads the world.
pub trait Sensor: Send + Sync {
    /// Channels and private state.
    fn layout(&self) -> Layout;

    /// Seconds between readings; `None` means every quantum.
    fn period(&self) -> Option<swarmyard_base::Ratio> {
        None
    }

    /// How far it sees, in metres from the body's centre: decides how wide a neighbour's margin must be.
    fn reach(&self) -> f64;

    /// Fills in the readings of a chunk of robots from the committed world.
    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>);

    /// Ports that work on its private state.
    fn ports(&self) -> Vec<PortChannel> {
        Vec::new()
    }

    /// What a display draws for one robot's readings. `outline` is the body's.
    fn marks(&self, _readings: &[f64], _outline: &Outline) -> Vec<Mark> {
        Vec::new()
    }

    /// What it was made of besides the scenario, by name: a recording keeps it.
    fn made_of(&self) -> Vec<(String, Arc<Vec<u8>>)> {
        Vec::new()
    }

    /// Why its model failed for a robot, in words; asked when the number at [`Layout::fault`] rises.
    fn why(&self, _robot: Uid) -> String {
        String::new()
    }
}

/// What an actuator may look at: its own robots, the clock, and what never moves.
pub struct ActView<'a> {
    /// Start of the stretch.
    pub now: Time,
    /// Length of the quantum in seconds.
    pub quantum_s: f64,
    /// Seed of the run.
    pub seed: u64,
    /// Level of detail.
    pub detail: Detail,
    /// Gravity, m/s².
    pub gravity: f64,
    /// Bounds of the world; `None` when it is infinite.
    pub bounds: Option<(Vec2, Vec2)>,
    /// The bodies (an actuator looks only at its own).
    pub bodies: Bodies<'a>,
    /// Walls and fixed obstacles by place.
    pub fixed: &'a FixedIndex,
    /// Beacons, as a sensor sees them.
    pub beacons: &'a [Beacon],
    /// Marks on the floor.
    pub tracks: &'a [Track],
    /// Marks on the floor by place.
    pub track_index: &'a TrackIndex,
}

/// A part that changes the world.
pub trait Actuator: Send + Sync {
    /// Channels and private state.
    fn layout(&self) -> Layout;

    /// Ports that work on its private state.
    fn ports(&self) -> Vec<PortChannel> {
        Vec::new()
    }

    /// Turns the commands of a chunk of robots into motion segments, or into what their hands do.
    fn act(&self, view: &ActView<'_>, rows: &mut ActRows<'_>);

    /// Whether it moves the body. A type has one such part at most, and any number of others.
    fn moves_body(&self) -> bool {
        true
    }

    /// The greatest speed it gives its body by itself, in metres per second, when that is known: decides how far around its own
    /// bodies a worker looks from the first quantum on. No result depends on it.
    fn top_speed(&self) -> Option<f64> {
        None
    }

    /// The hand it has, if it can hold things.
    fn hand(&self) -> Option<Hand> {
        None
    }

    /// Writes what one robot's hand feels into its readings.
    fn feel(&self, _felt: &Felt, _readings: &mut [f64]) {}

    /// What the hand holds met something, and the hand came to rest after a `share` of the quantum:
    /// sets back one robot's state and readings, and answers where the hand is in the body's frame.
    /// Only asked when the hand moves on its body. `state` is as before the quantum.
    fn cut(&self, _share: f64, _state: &[f64], _next_state: &mut [f64], _readings: &mut [f64]) -> Pose2 {
        Pose2::default()
    }

    /// What a display draws for one robot's readings. `outline` is the body's.
    fn marks(&self, _readings: &[f64], _outline: &Outline) -> Vec<Mark> {
        Vec::new()
    }

    /// What it was made of besides the scenario, by name: a recording keeps it.
    fn made_of(&self) -> Vec<(String, Arc<Vec<u8>>)> {
        Vec::new()
    }

    /// Why its model failed for a robot, in words; asked when the number at [`Layout::fault`] rises.
    fn why(&self, _robot: Uid) -> String {
        String::new()
    }
}

/// What a controller may look at besides its readings: the clock, and chance.
pub struct ThinkView {
    /// Now.
    pub now: Time,
    /// Length of the quantum in seconds.
    pub quantum_s: f64,
    /// Seed of the run.
    pub seed: u64,
}

/// What decides: reads channels, writes commands.
pub trait Controller: Send + Sync {
    /// Initial row of its private state.
    fn state(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Whether commands come from outside, and the loop must wait until they are there.
    fn waits(&self) -> bool {
        false
    }

    /// Decides for a chunk of robots.
    fn think(&self, view: &ThinkView, rows: &mut ThinkRows<'_>);
}
