//! Look–compute–move: robots that look, decide where to go, go there, and forget.
//!
//! A [`Rule`] is a pure function of one [`Snapshot`]; a [`Schedule`] says who is active when; a [`Setup`] says
//! what robots can see and how far their moves carry. The same rules and schedules are played by [`play`],
//! without an engine, for theory; and by the algorithm `look-compute-move`, for robots in a world.
//!
//! *Invariant:* every decision of a schedule, a frame or a move is a pure function of (seed, robot, round), and of an
//! adversary of (round, where all robots are), so each robot can make its own without asking anybody.

pub mod demon;
pub mod flocks;
pub mod frame;
pub mod play;
mod protocol;
pub mod rules;
pub mod schedule;

pub use demon::{BadDemon, Demon, greedy};
pub use frame::{Compass, Frame, Frames, Multiplicity, Setup};
pub use play::Robots;
pub use rules::{NAMES, Tuning, by_name};
pub use schedule::{Cycle, Moves, Schedule, Script, ScriptError};

use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;
use swarmyard_part_api::Registry;

/// Registers the algorithm `look-compute-move`.
pub fn register(registry: &mut Registry) {
    registry.add(protocol::class());
}

/// One place where a robot sees one robot or several, in its private frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// Where; the looking robot itself is at the origin.
    pub at: Vec2,
    /// How many are there: always 1 without detection of multiplicity, at most 2 when it is weak.
    pub count: u32,
    /// The light they show; robots in one place with different lights are different sightings.
    pub light: u8,
    /// Its displacement during the last round, per round; zero when it is not known.
    pub moved: Vec2,
    /// Number of the robot, when robots have names; then every robot is a sighting of its own.
    pub robot: Option<u32>,
}

/// What a robot sees in one look, itself included, in its private frame, in the order of coordinates: the
/// order tells nothing about who is who.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// What it sees; never empty, for it sees itself.
    pub seen: Vec<Sighting>,
    /// The light it shows itself.
    pub light: u8,
    /// Its own displacement during the last round.
    pub moved: Vec2,
    /// Its own number, when robots have names.
    pub me: Option<u32>,
    /// Where it is in the world, when robots know that.
    pub here: Option<Vec2>,
    /// How far it sees, in its own unit of length; may be infinite.
    pub sees: f64,
    /// Distance below which two places are one, in its own unit of length.
    pub same: f64,
}

impl Snapshot {
    /// All places with how many are there as far as it can tell, its own among them.
    #[must_use]
    pub fn towers(&self) -> Vec<(Vec2, u32)> {
        let mut towers: Vec<(Vec2, u32)> = Vec::new();
        for s in &self.seen {
            // They are in the order of x, so the same place is not far back.
            let back = towers.iter_mut().rev().take_while(|t| t.0.x >= s.at.x - self.same);
            match { back }.find(|t| (t.0 - s.at).norm() <= self.same) {
                Some(tower) => tower.1 += s.count,
                None => towers.push((s.at, s.count)),
            }
        }
        towers
    }

    /// All places, its own among them.
    #[must_use]
    pub fn places(&self) -> Vec<Vec2> {
        self.towers().into_iter().map(|t| t.0).collect()
    }

    /// All places but its own.
    #[must_use]
    pub fn others(&self) -> Vec<Vec2> {
        self.places().into_iter().filter(|p| p.norm() > self.same).collect()
    }

    /// The robot of that name.
    #[must_use]
    pub fn named(&self, robot: u32) -> Option<&Sighting> {
        self.seen.iter().find(|s| s.robot == Some(robot))
    }
}

/// What a robot decides: where to, in its private frame, and which light to show from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Where to.
    pub target: Vec2,
    /// The light.
    pub light: u8,
}

impl Decision {
    /// Stays where it is, with the light it has.
    #[must_use]
    pub fn stay(look: &Snapshot) -> Decision {
        Decision { target: Vec2::ZERO, light: look.light }
    }

    /// Goes there, with the light it has.
    #[must_use]
    pub fn go(look: &Snapshot, target: Vec2) -> Decision {
        Decision { target, light: look.light }
    }
}

/// A rule of oblivious robots: from what one sees to what one does.
///
/// A rule has no memory. `chance` is an address of its own for every decision; rules that do not draw are
/// deterministic.
pub trait Rule: Send + Sync {
    /// Its name in scenarios.
    fn name(&self) -> &'static str;

    /// Decides.
    fn decide(&self, look: &Snapshot, chance: Draw) -> Decision;

    /// What it needs to see.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// What a rule needs to see; without it the rule stays where it is or does something weaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Names of robots.
    pub names: bool,
    /// Common axes: private frames may differ in scale only.
    pub axes: bool,
    /// A common left and right.
    pub hand: bool,
    /// A common unit of length.
    pub unit: bool,
    /// Lights: how many different ones.
    pub lights: u8,
    /// How many robots exactly; 0 when any number will do.
    pub robots: u32,
    /// Where it is in the world.
    pub place: bool,
}
