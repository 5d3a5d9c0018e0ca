//! Sensors of robots that live by events: `gps`, `view`, `proximity` and `contact`.
//!
//! The first three are asked; `proximity` and `contact` also look out by themselves.

use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;
use swarmyard_part_api::{
    Answer, Built, Class, EventSensor, Kind, Query, Seen, Sheet, Surroundings, WatchFor,
};

/// Positions, by satellite.
struct Gps;
/// Robots within a range.
struct View;
/// What is near, outline to outline.
struct Proximity;
/// What touches.
struct Contact;

/// The error of a position: normal in each coordinate.
fn error_of(robot: u32, error: f64, chance: Draw) -> Vec2 {
    Vec2::new(chance.normal(2 * robot), chance.normal(2 * robot + 1)) * error
}

impl EventSensor for Gps {
    fn pull(&self, query: &Query, world: &dyn Surroundings) -> Option<Answer> {
        match query {
            Query::Gps { error } => {
                let (me, at) = (world.me(), world.pose(world.me())?.at);
                Some(Answer::Point(if *error == 0.0 {
                    at
                } else {
                    at + error_of(me, *error, world.chance())
                }))
            }
            Query::GpsAll { error } => {
                let mut all = world.everybody();
                if *error != 0.0 {
                    let chance = world.chance();
                    for Seen { robot, at, .. } in &mut all {
                        *at = *at + error_of(robot.unwrap_or_default(), *error, chance);
                    }
                }
                Some(Answer::Seen(all))
            }
            _ => None,
        }
    }
}

impl EventSensor for View {
    fn pull(&self, query: &Query, world: &dyn Surroundings) -> Option<Answer> {
        let Query::View { range } = query else { return None };
        let own = world.pose(world.me())?.at;
        Some(Answer::Seen(world.in_sight(own, *range)))
    }
}

/// What is within a range of the robot's outline: (number, nearest point, distance from outline to outline).
fn near(world: &dyn Surroundings, range: f64) -> Vec<(Option<u32>, Vec2, f64)> {
    world.around(range).into_iter().map(|(_, robot, at, distance)| (robot, at, distance)).collect()
}

/// One of these, with the light it shows.
fn seen(world: &dyn Surroundings, (robot, at, _): (Option<u32>, Vec2, f64)) -> Seen {
    Seen { robot, at, light: robot.map_or(0, |r| world.light(r)) }
}

impl EventSensor for Proximity {
    fn pull(&self, query: &Query, world: &dyn Surroundings) -> Option<Answer> {
        match query {
            Query::Proximity { range } => {
                Some(Answer::Numbers(near(world, *range).into_iter().map(|n| n.2).collect()))
            }
            Query::ProximityPoints { range } => {
                Some(Answer::Seen(near(world, *range).into_iter().map(|n| seen(world, n)).collect()))
            }
            _ => None,
        }
    }

    fn push(&self, what: &WatchFor, world: &dyn Surroundings) -> Option<Option<Answer>> {
        let WatchFor::Near { range } = what else { return None };
        let answer = self.pull(&Query::ProximityPoints { range: *range }, world)?;
        let empty = matches!(&answer, Answer::Seen(seen) if seen.is_empty());
        Some((!empty).then_some(answer))
    }

    fn exact(&self, what: &WatchFor) -> Option<f64> {
        if let WatchFor::Near { range } = what { Some(*range) } else { None }
    }
}

/// Nearer than this counts as touching, for a contact sensor that looks at intervals, m: what has corners or comes round a
/// bend stops at a skin of 1e-9 m, or a little more.
const TOUCHING_M: f64 = 2e-9;

impl EventSensor for Contact {
    fn push(&self, what: &WatchFor, world: &dyn Surroundings) -> Option<Option<Answer>> {
        if *what != WatchFor::Contact {
            return None;
        }
        let touching: Vec<Seen> = near(world, TOUCHING_M).into_iter().map(|n| seen(world, n)).collect();
        Some((!touching.is_empty()).then_some(Answer::Seen(touching)))
    }

    fn exact(&self, what: &WatchFor) -> Option<f64> {
        (*what == WatchFor::Contact).then_some(0.0)
    }
}

fn class(name: &'static str, summary: &'static str, sensor: impl EventSensor + 'static) -> Class {
    let example = match name {
        "gps" => {
            "[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[type.demo.algorithm]\nclass = \"gathering\""
        }
        "view" => {
            "[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"view\"\nclass = \"view\"\n\n[type.demo.algorithm]\nclass = \"random-movement\""
        }
        "proximity" => {
            "[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"proximity\"\nclass = \"proximity\"\n\n[type.demo.algorithm]\nclass = \"random-movement\""
        }
        _ => {
            "[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"contact\"\nclass = \"contact\"\n\n[type.demo.algorithm]\nclass = \"random-movement\""
        }
    };
    let sensor = Arc::new(sensor);
    let sheet = Sheet::new(name, Kind::Sensor, summary).level("every", "Everything.").example(example);
    Class::new(sheet, move |_, _| Ok(Built::Senses(Arc::clone(&sensor) as Arc<dyn EventSensor>)))
}

/// The classes of this file.
pub(crate) fn classes() -> [Class; 4] {
    [
        class(
            "gps",
            "Tells a robot that lives by events where it is, or where all robots are, when it asks. Each coordinate is off by a normal error whose standard deviation is given with the question.",
            Gps,
        ),
        class(
            "view",
            "Tells a robot that lives by events which robots have their centre within a range, the nearest first, when it asks; also robots that go by quanta, which have no number.",
            View,
        ),
        class(
            "proximity",
            "Tells a robot that lives by events how far away things within a range are, outline to outline, or their nearest points, when it asks; or tells it by itself when something comes within a range: looking at intervals, or at the very moment.",
            Proximity,
        ),
        class(
            "contact",
            "Tells a robot that lives by events by itself when something touches it: looking at intervals, or at the very moment.",
            Contact,
        ),
    ]
}
