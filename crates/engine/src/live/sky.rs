//! What is known of the bodies' ways beside the state: which two touch next, and how everybody moves, in one column. Made from the
//! paths alone, so it can be made anew any time.

use super::going::{Course, Going};
use super::state::LiveState;
use crate::model::{ContactRule, Model};
use std::sync::OnceLock;
use swarmyard_base::{Moment, Vec2};
use swarmyard_motion::flights::{Flights, Flyer, Meeting, Shape, Space, Told, With};

/// The bodies in flight, and the state they belong to.
#[derive(Default)]
pub(crate) struct Sky {
    flights: Option<Flights>,
    /// How each body moves, by slot, once somebody has asked where everybody is.
    courses: OnceLock<Vec<Course>>,
    /// The stop it belongs to.
    of: Option<u64>,
}

impl Sky {
    /// Belongs to another state from now on.
    pub(crate) fn forget(&mut self) {
        *self = Sky::default();
    }

    /// Is ready for the state at a stop.
    pub(crate) fn ready(&mut self, model: &Model, state: &LiveState, stops: u64) {
        if self.of == Some(stops) && self.flights.is_some() {
            return;
        }
        *self = Sky {
            flights: Some(flights_of(model, state, state.now)),
            courses: OnceLock::new(),
            of: Some(stops),
        };
    }

    /// Belongs to the stop that was just committed.
    pub(crate) fn committed(&mut self, stops: u64) {
        self.of = Some(stops);
    }

    /// The next contact, not after `bound`.
    pub(super) fn next(&mut self, bound: Moment) -> Option<Meeting> {
        self.flights.as_mut()?.next(bound)
    }

    /// A body moves in another way.
    pub(crate) fn set(&mut self, slot: usize, going: &Going) {
        if let Some(flights) = &mut self.flights {
            flights.set(slot as u32, &going.path());
        }
        if let Some(courses) = self.courses.get_mut() {
            courses[slot] = going.course();
        }
    }

    /// How each body of this state moves, by slot.
    pub(super) fn courses(&self, state: &LiveState) -> &[Course] {
        self.courses.get_or_init(|| state.going.iter().map(Going::course).collect())
    }

    /// A body is gone.
    pub(super) fn remove(&mut self, slot: usize) {
        if let Some(flights) = &mut self.flights {
            flights.remove(slot as u32);
        }
    }

    /// Slots of all bodies whose centre is not farther than `radius` from a point, ascending, and perhaps of some
    /// that are: where somebody is to the last bit is for the state to say, and places are reckoned in another way here.
    pub(super) fn near(&self, bodies: usize, at: Vec2, radius: f64, now: Moment) -> Vec<usize> {
        let Some(flights) = &self.flights else { return (0..bodies).collect() };
        let slack = 1e-6 * (1.0 + radius + at.norm());
        let mut slots = Vec::new();
        flights.within(at, radius + slack, now, |body, _| slots.push(body as usize));
        slots.sort_unstable();
        slots
    }

    /// Contacts that were told and not answered.
    pub(super) fn open(&self) -> Vec<(u32, bool, u32)> {
        let open = self.flights.as_ref().map(|f| f.told().open).unwrap_or_default();
        let numbers = open.into_iter().map(|(a, with)| match with {
            With::Body(b) => (a, true, b),
            With::Edge(e) => (a, false, e),
        });
        numbers.collect()
    }
}

/// The bodies on their paths, with all contacts before `now` told.
fn flights_of(model: &Model, state: &LiveState, now: Moment) -> Flights {
    let ghost = model.run.contact == ContactRule::Ghost;
    let gone = |slot: usize| {
        let number = model.live.as_ref().and_then(|l| l.number(slot));
        number.is_some_and(|n| state.robots[n as usize].status == super::Status::Gone)
    };
    let flyer = |slot: usize| {
        let outline = model.outline(slot);
        let shape =
            if outline.is_disc() { Shape::Disc(outline.reach()) } else { Shape::Hull(outline.clone()) };
        Flyer {
            shape,
            rank: model.live.as_ref().map_or(slot as u32, |l| l.ranks[slot]),
            path: state.going[slot].path(),
            ghost: ghost || gone(slot),
        }
    };
    let flyers: Vec<Flyer> = (0..model.len()).map(flyer).collect();
    let with = |body: bool, k: u32| if body { With::Body(k) } else { With::Edge(k) };
    let open = state.open.iter().map(|&(a, body, k)| (a, with(body, k))).collect();
    Flights::resume(Space::Plane, &flyers, model.fixed.clone(), &Told { moment: now, open })
}
