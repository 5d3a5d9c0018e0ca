//! What a robot that lives by events may ask of the world, and do in it.
//!
//! The simulator implements [`Robot`]; so do the runner over real sockets and the model checker, as far
//! as they have a world. Algorithms and protocols see it through [`Cx`](crate::Cx).

use crate::{Indication, Motion, MotionModule, Note, Request};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Pose2, Time, Uid, Vec2, math};

/// The world as one robot's algorithm reaches it. Numbers of robots count those that live by events, in
/// the natural order of their paths, from 0.
pub trait Robot {
    /// Now.
    fn now(&self) -> Moment;
    /// This robot's number.
    fn me(&self) -> u32;
    /// How many there are.
    fn robots(&self) -> u32;
    /// Since when a robot is down (crashed and not recovered), where somebody knows: the simulator does, real
    /// sockets do not. For failure detectors that are simulated; no honest protocol asks.
    fn down_since(&self, _robot: u32) -> Option<Moment> {
        None
    }
    /// Random numbers that nobody else draws: a new address with every call.
    fn chance(&mut self) -> Draw;
    /// Says something in the log.
    fn say(&mut self, text: &str);
    /// What decides for it has failed: a program, or an algorithm that lacks something. Told whether or not anybody
    /// reads the log.
    fn failed(&mut self, why: &str) {
        self.say(why);
    }

    /// Tells what was written down about a robot, as if it happened now: for those who play back what happened elsewhere,
    /// see [`ProtocolModel::retells`](crate::ProtocolModel::retells). Nothing comes of it but the note.
    fn retell(&mut self, _robot: u32, _what: Note) {}

    /// Hands a message of a protocol to the network, for these robots.
    fn send(&mut self, protocol: u32, to: &[u32], bytes: Arc<[u8]>);
    /// Wants to be woken after some seconds; answers a number for [`Robot::cancel_timer`].
    fn set_timer(&mut self, node: u16, after_s: f64) -> u64;
    /// Does not want to be woken any more.
    fn cancel_timer(&mut self, timer: u64);

    /// Starts a motion now, in place of the one under way; answers the number of the task.
    ///
    /// # Errors
    /// When no motion module of the robot can do it; says why. The motion under way goes on.
    fn go(&mut self, node: u16, motion: &Motion) -> Result<u64, String>;
    /// Stops where it is.
    fn halt(&mut self);
    /// Asks a pull sensor.
    ///
    /// # Errors
    /// When the robot has no such sensor.
    fn pull(&mut self, query: &Query) -> Result<Answer, String>;
    /// Switches a push sensor on; answers a number for [`Robot::unwatch`].
    ///
    /// # Errors
    /// When the robot has no such sensor, or it cannot watch in that way.
    fn watch(&mut self, node: u16, watch: &Watch) -> Result<u64, String>;
    /// Switches it off.
    fn unwatch(&mut self, watch: u64);
    /// What is going to happen to a robot, unless something comes between.
    fn pending(&self, robot: u32) -> Vec<Pending>;
    /// Shows a light that others see.
    fn shine(&mut self, light: u8);
    /// Asks the program outside of this one that decides for a protocol. The run stops here until the answer is
    /// in the journal; it comes as [`Microprotocol::answered`](crate::Microprotocol::answered).
    fn ask(&mut self, _node: u16, _question: &[u8]) {}

    /// One of its protocols asks something of a protocol below: for whoever keeps a trace.
    fn asked(&mut self, _node: u16, _port: usize, _request: &Request) {}
    /// One of its protocols is told something by a protocol below: for whoever keeps a trace.
    fn told(&mut self, _node: u16, _port: usize, _what: &Indication) {}
}

/// A question to a pull sensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Query {
    /// Own position, by a `gps`. Each coordinate is off by a normal error with this standard deviation, in
    /// metres.
    Gps {
        /// Standard deviation, m.
        error: f64,
    },
    /// Positions of all robots, in the order of their numbers, by a `gps`.
    GpsAll {
        /// Standard deviation, m.
        error: f64,
    },
    /// Robots whose centre is within the range, by a `view`: the nearest first.
    View {
        /// m.
        range: f64,
    },
    /// Distances from outline to outline of everything within the range, by a `proximity`: the nearest first.
    Proximity {
        /// m.
        range: f64,
    },
    /// For each thing within the range the point of it that is nearest, by a `proximity`, as the paper has it.
    ProximityPoints {
        /// m.
        range: f64,
    },
    /// Whatever a sensor of one's own wants to be asked, by the name of the part.
    Own {
        /// Name of the part.
        sensor: String,
        /// Arguments.
        args: Vec<f64>,
    },
}

impl Query {
    /// What it asks, in words.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self {
            Query::Gps { .. } => "where it is",
            Query::GpsAll { .. } => "where all robots are",
            Query::View { .. } => "which robots are in view",
            Query::Proximity { .. } | Query::ProximityPoints { .. } => "what is near",
            Query::Own { .. } => "a sensor of its own",
        }
    }

    /// The class of parts that answers it, or the name of the part.
    #[must_use]
    pub fn sensor(&self) -> &str {
        match self {
            Query::Gps { .. } | Query::GpsAll { .. } => "gps",
            Query::View { .. } => "view",
            Query::Proximity { .. } | Query::ProximityPoints { .. } => "proximity",
            Query::Own { sensor, .. } => sensor,
        }
    }
}

/// One thing a sensor saw.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The robot's number, when it is one.
    pub robot: Option<u32>,
    /// Where it is.
    pub at: Vec2,
    /// The light it shows.
    pub light: u8,
}

/// What a sensor answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// One position.
    Point(Vec2),
    /// Things seen.
    Seen(Vec<Seen>),
    /// Numbers: distances, or what a sensor of one's own says.
    Numbers(Vec<f64>),
}

/// What a push sensor looks out for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// The condition.
    pub what: WatchFor,
    /// How often it looks.
    pub every: Every,
}

/// The condition of a push sensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WatchFor {
    /// Something comes within the range, outline to outline, by a `proximity`.
    Near {
        /// m.
        range: f64,
    },
    /// Something touches it, by a `contact`.
    Contact,
    /// A sensor of one's own, by the name of the part.
    Own {
        /// Name of the part.
        sensor: String,
        /// Arguments.
        args: Vec<f64>,
    },
}

/// How often a push sensor looks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Every {
    /// At these intervals, in seconds, as the paper has it: it can miss what comes and goes between. A nanosecond at
    /// least.
    Interval(f64),
    /// It misses nothing: it fires at the very moment of the crossing.
    Exact,
}

/// A push sensor fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// The number that switching it on answered.
    pub watch: u64,
    /// What it saw.
    pub answer: Answer,
}

/// Something that is going to happen to a robot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// When.
    pub at: Moment,
    /// Whether it happens only if nothing comes between: arrivals and collisions.
    pub conditional: bool,
    /// What: `finish turn`, `collision with /robots/b`, `timer`, `message`, `sense`, …
    pub what: String,
    /// The robot that a collision is with, when it is one that lives by events.
    pub robot: Option<u32>,
}

/// What a sensor of a robot that lives by events may look at.
pub trait Surroundings {
    /// Now.
    fn now(&self) -> Moment;
    /// Number of the asking robot.
    fn me(&self) -> u32;
    /// How many robots there are.
    fn robots(&self) -> u32;
    /// Pose of a robot now; `None` when it is gone.
    fn pose(&self, robot: u32) -> Option<Pose2>;
    /// Its light.
    fn light(&self, robot: u32) -> u8;
    /// Where all robots are now, in the order of their numbers; who is gone is not there.
    fn everybody(&self) -> Vec<Seen> {
        let seen = |robot| {
            let at = self.pose(robot)?.at;
            Some(Seen { robot: Some(robot), at, light: self.light(robot) })
        };
        (0..self.robots()).filter_map(seen).collect()
    }
    /// Robots but the asking one whose centre is within `range` of a point, the nearest first, ties by number; also those
    /// that go by quanta, which have no number.
    fn in_sight(&self, at: Vec2, range: f64) -> Vec<Seen> {
        let others = self.everybody().into_iter().filter(|s| s.robot != Some(self.me()));
        let apart = others.map(|s| ((s.at - at).norm(), s));
        let mut seen: Vec<(f64, Seen)> = apart.filter(|(distance, _)| *distance <= range).collect();
        seen.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.robot.cmp(&b.1.robot)));
        seen.into_iter().map(|s| s.1).collect()
    }
    /// Everything but the robot itself whose outline is within `range` of a point: (uid, number if it is a
    /// robot, nearest point of its outline, distance to it), the nearest first, ties by uid.
    fn near(&self, at: Vec2, range: f64) -> Vec<(Uid, Option<u32>, Vec2, f64)>;
    /// Everything whose outline is within `range` of the robot's own: (uid, number if it is a robot, nearest point of
    /// its outline, distance from outline to outline), the nearest first, ties by uid.
    fn around(&self, range: f64) -> Vec<(Uid, Option<u32>, Vec2, f64)> {
        let Some(pose) = self.pose(self.me()) else { return Vec::new() };
        let radius = self.radius(self.me());
        let found = self.near(pose.at, range + radius).into_iter();
        found.map(|(uid, robot, at, apart)| (uid, robot, at, math::max(apart - radius, 0.0))).collect()
    }
    /// Radius of the robot's outline.
    fn radius(&self, robot: u32) -> f64;
    /// Random numbers of this question.
    fn chance(&self) -> Draw;
}

/// A sensor of robots that live by events: asked, or looking out at intervals.
pub trait EventSensor: Send + Sync {
    /// Answers a question; `None` when it is not one for this sensor.
    fn pull(&self, _query: &Query, _world: &dyn Surroundings) -> Option<Answer> {
        None
    }

    /// Whether such a question is one for this sensor: whether a robot that is alone in the world is answered.
    fn answers(&self, query: &Query) -> bool {
        self.pull(query, &Alone).is_some()
    }

    /// Looks whether the condition is met; `None` when it is not one for this sensor, `Some(None)` when there
    /// is nothing to report. It is asked at every interval while it is switched on.
    fn push(&self, _what: &WatchFor, _world: &dyn Surroundings) -> Option<Option<Answer>> {
        None
    }

    /// Whether a condition can be watched exactly: within which distance, outline to outline, something must
    /// come. `None` when only intervals will do.
    fn exact(&self, _what: &WatchFor) -> Option<f64> {
        None
    }
}

/// A world with one robot in it, to try a sensor in.
struct Alone;

impl Surroundings for Alone {
    fn now(&self) -> Moment {
        Moment::ZERO
    }
    fn me(&self) -> u32 {
        0
    }
    fn robots(&self) -> u32 {
        1
    }
    fn pose(&self, robot: u32) -> Option<Pose2> {
        (robot == 0).then_some(Pose2::new(0.0, 0.0, 0.0))
    }
    fn light(&self, _robot: u32) -> u8 {
        0
    }
    fn near(&self, _at: Vec2, _range: f64) -> Vec<(Uid, Option<u32>, Vec2, f64)> {
        Vec::new()
    }
    fn radius(&self, _robot: u32) -> f64 {
        0.0
    }
    fn chance(&self) -> Draw {
        Draw::at(0, Uid(0), Purpose::Positioning, Time::ZERO, 0)
    }
}

/// What a type of robots that live by events is made of, beside its protocols.
#[derive(Clone, Default)]
pub struct Equipment {
    /// By name of the part.
    pub modules: Vec<(String, Arc<dyn MotionModule>)>,
    /// By name of the part.
    pub sensors: Vec<(String, Arc<dyn EventSensor>)>,
}

impl Equipment {
    /// Whether one of the sensors answers such a question.
    #[must_use]
    pub fn answers(&self, query: &Query) -> bool {
        let meant = |name: &str| !matches!(query, Query::Own { sensor, .. } if sensor != name);
        self.sensors.iter().any(|(name, sensor)| meant(name) && sensor.answers(query))
    }
}
