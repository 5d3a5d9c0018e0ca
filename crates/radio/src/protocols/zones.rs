//! Zones that robots reserve, and the book in which all of them keep the same account.
//!
//! In: reservations and releases in the order of a total order broadcast. Out: who may go where, who waits for
//! whom, and who waits for himself in the end. Two books that read the same messages say the same; nothing
//! here knows about time.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// A capsule: every point within `radius` of the straight line between two points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// One end.
    pub a: Vec2,
    /// The other; the same for a disc.
    pub b: Vec2,
    /// m.
    pub radius: f64,
}

impl Zone {
    /// A disc.
    #[must_use]
    pub fn disc(at: Vec2, radius: f64) -> Zone {
        Zone { a: at, b: at, radius }
    }

    /// Whether two zones have a point in common.
    #[must_use]
    pub fn meets(&self, other: &Zone) -> bool {
        distance(self, other) <= self.radius + other.radius
    }

    /// Whether all its numbers are finite, and its radius is not negative.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.a.is_finite() && self.b.is_finite() && self.radius.is_finite() && self.radius >= 0.0
    }

    /// Distance of a point from its middle line.
    #[must_use]
    pub fn off_line(&self, point: Vec2) -> f64 {
        point_to_line(point, self.a, self.b)
    }
}

/// Distance between the middle lines of two zones.
#[must_use]
pub fn distance(p: &Zone, q: &Zone) -> f64 {
    if cross(p.a, p.b, q.a, q.b) {
        return 0.0;
    }
    let ends = [(p.a, q), (p.b, q), (q.a, p), (q.b, p)];
    ends.iter().map(|(point, zone)| zone.off_line(*point)).fold(f64::INFINITY, math::min)
}

/// Whether two lines cross within both. Where they only touch, an end of one is on the other.
fn cross(a: Vec2, b: Vec2, c: Vec2, d: Vec2) -> bool {
    let (ab, cd) = (b - a, d - c);
    let sides = |p: f64, q: f64| (p > 0.0 && q < 0.0) || (p < 0.0 && q > 0.0);
    sides(ab.cross(c - a), ab.cross(d - a)) && sides(cd.cross(a - c), cd.cross(b - c))
}

fn point_to_line(p: Vec2, a: Vec2, b: Vec2) -> f64 {
    let ab = b - a;
    let long = ab.norm2();
    let share = if long > 0.0 { ((p - a).dot(ab) / long).clamp(0.0, 1.0) } else { 0.0 };
    (p - (a + ab * share)).norm()
}

/// One reservation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) robot: u32,
    /// Its number among the robot's own.
    pub(super) number: u64,
    pub(super) zone: Zone,
    /// Whether the robot stands in it, and does not want to move in it.
    pub(super) stands: bool,
}

/// What every robot has reserved and not released, in the order of the broadcast.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Book {
    entries: Vec<Entry>,
    /// By robot: everything up to this number is released, even what is not entered yet.
    gone: BTreeMap<u32, u64>,
    /// Who has said where it stands.
    here: BTreeSet<u32>,
}

/// Robots that wait for each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Circle {
    /// All that are in it, ascending.
    pub(super) robots: Vec<u32>,
    /// Those that have asked for the way of another too early: it could go at once if they asked again, later.
    pub(super) too_early: Vec<u32>,
    /// Whether some stand in each other's way, so that no order of asking would help.
    pub(super) jam: bool,
}

impl Book {
    /// A robot says where it stands.
    pub(super) fn stand(&mut self, robot: u32, zone: Zone) {
        if self.here.insert(robot) {
            self.entries.push(Entry { robot, number: 0, zone, stands: true });
        }
    }

    /// How many have said so.
    pub(super) fn here(&self) -> usize {
        self.here.len()
    }

    /// A robot wants a zone.
    pub(super) fn reserve(&mut self, robot: u32, number: u64, zone: Zone) {
        let released = self.gone.get(&robot).is_some_and(|gone| number <= *gone);
        let known = self.entries.iter().any(|e| e.robot == robot && e.number == number);
        if !released && !known {
            self.entries.push(Entry { robot, number, zone, stands: false });
        }
    }

    /// A robot needs nothing up to a number any more, except, perhaps, one place to stand on inside a zone
    /// that it has.
    pub(super) fn release(&mut self, robot: u32, up_to: u64, stands: Option<(u64, Zone)>) {
        let gone = self.gone.entry(robot).or_insert(0);
        if up_to < *gone {
            return; // An older release that came late.
        }
        *gone = up_to;
        for entry in self.entries.iter_mut().filter(|e| e.robot == robot) {
            if let Some((number, zone)) = stands
                && entry.number == number
            {
                (entry.zone, entry.stands) = (zone, true);
            }
        }
        let kept = |e: &Entry| stands.is_some_and(|s| s.0 == e.number);
        self.entries.retain(|e| e.robot != robot || e.number > up_to || kept(e));
    }

    /// Earlier reservations of others that a reservation must wait for.
    fn before(&self, place: usize) -> impl Iterator<Item = &Entry> {
        let wanted = &self.entries[place];
        self.entries[..place].iter().filter(move |e| e.robot != wanted.robot && e.zone.meets(&wanted.zone))
    }

    /// Whether a robot has a zone: it is entered, and nobody before it is in the way.
    pub(super) fn granted(&self, robot: u32, number: u64) -> bool {
        let place = self.entries.iter().position(|e| e.robot == robot && e.number == number);
        place.is_some_and(|place| self.before(place).next().is_none())
    }

    /// The reservation a robot needs next, by its place in the book and its number.
    pub(super) fn next_of(&self, robot: u32) -> Option<(usize, u64)> {
        let wishes = self.entries.iter().enumerate().filter(|(_, e)| e.robot == robot && !e.stands);
        wishes.map(|(place, e)| (place, e.number)).min_by_key(|w| w.1)
    }

    /// The robots that a robot waits for, each with whether it stands in the way; nobody when it can go.
    pub(super) fn waits_for(&self, robot: u32) -> BTreeMap<u32, bool> {
        let mut robots = BTreeMap::new();
        if let Some((place, _)) = self.next_of(robot) {
            for entry in self.before(place) {
                *robots.entry(entry.robot).or_insert(false) |= entry.stands;
            }
        }
        robots
    }

    /// Of some robots the one whose next reservation was asked for first.
    pub(super) fn eldest(&self, robots: &[u32]) -> Option<u32> {
        let asked = robots.iter().filter_map(|r| Some((self.next_of(*r)?.0, *r)));
        asked.min().map(|(_, robot)| robot)
    }

    /// One that stands, wants nothing, and must go before this robot can: it waits for it, or for somebody who does.
    pub(super) fn waits_in_vain(&self, robot: u32) -> Option<u32> {
        let (mut known, mut open) = (BTreeSet::from([robot]), vec![robot]);
        while let Some(one) = open.pop() {
            open.extend(self.waits_for(one).into_keys().filter(|other| known.insert(*other)));
        }
        known.into_iter().find(|r| *r != robot && self.next_of(*r).is_none())
    }

    /// Robots whose starting places meet that of this one.
    pub(super) fn crowded(&self, robot: u32) -> Vec<u32> {
        let own = self.entries.iter().find(|e| e.robot == robot && e.number == 0);
        let meets = |e: &&Entry| e.robot != robot && own.is_some_and(|o| o.zone.meets(&e.zone));
        self.entries.iter().filter(meets).map(|e| e.robot).collect()
    }

    /// The circle of robots that wait for each other in which this one is.
    ///
    /// Every robot in it finds the same one, as soon as it has read the same messages. Who travels waits for
    /// nobody, even when what it needs after that is not free yet.
    pub(super) fn circle(&self, robot: u32) -> Option<Circle> {
        let mut waits: BTreeMap<u32, BTreeMap<u32, bool>> = BTreeMap::new();
        let mut open = vec![robot];
        while let Some(one) = open.pop() {
            waits.entry(one).or_insert_with(|| {
                let others = self.waits_for(one);
                open.extend(others.keys());
                others
            });
        }
        // Who, of all that it waits for in the end, waits for it.
        let mut back = BTreeSet::new();
        let mut open = vec![robot];
        while let Some(one) = open.pop() {
            for (other, others) in &waits {
                if others.contains_key(&one) && back.insert(*other) {
                    open.push(*other);
                }
            }
        }
        if !back.contains(&robot) {
            return None;
        }
        let too_early = self.too_early(&back, &waits);
        // Who stands in nobody's way is taken out, one after the other; what is left stands in a circle.
        let mut left = back.clone();
        let free = |r: &u32, left: &BTreeSet<u32>| !waits[r].iter().any(|(q, s)| *s && left.contains(q));
        while let Some(robot) = left.iter().copied().find(|r| free(r, &left)) {
            left.remove(&robot);
        }
        Some(Circle { robots: back.into_iter().collect(), too_early, jam: !left.is_empty() })
    }

    /// Of a circle: all that hold up one robot in whose way nobody stands, only by having asked before it. They
    /// cannot go themselves, as they are in the circle; when they give way, that robot moves. That is why this
    /// comes to an end, which giving way to anybody else need not.
    fn too_early(&self, circle: &BTreeSet<u32>, waits: &BTreeMap<u32, BTreeMap<u32, bool>>) -> Vec<u32> {
        let could_go = |r: &&u32| waits[*r].iter().all(|(q, stands)| !stands && circle.contains(q));
        circle.iter().find(could_go).map_or_else(Vec::new, |r| waits[r].keys().copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::chance::{Draw, Purpose};
    use swarmyard_base::{Time, Uid};

    fn zone(a: (f64, f64), b: (f64, f64), radius: f64) -> Zone {
        Zone { a: Vec2::new(a.0, a.1), b: Vec2::new(b.0, b.1), radius }
    }

    /// The least distance between many points on two lines.
    fn sampled(p: &Zone, q: &Zone, steps: u32) -> f64 {
        let on = |z: &Zone, k: u32| z.a + (z.b - z.a) * (f64::from(k) / f64::from(steps));
        let pairs = (0..=steps).flat_map(|i| (0..=steps).map(move |k| (i, k)));
        pairs.map(|(i, k)| (on(p, i) - on(q, k)).norm()).fold(f64::INFINITY, math::min)
    }

    #[test]
    fn distances_of_capsules_are_those_of_dense_samples() {
        const STEPS: u32 = 60;
        let mut crossed = 0;
        for k in 0..2000 {
            let draw = Draw::at(5, Uid(1), Purpose::Dice, Time(k), 0);
            let point = |i: u32| (draw.between(2 * i, -1.0, 1.0), draw.between(2 * i + 1, -1.0, 1.0));
            let (p, q) = (zone(point(0), point(1), 0.1), zone(point(2), point(3), 0.2));
            let (exact, dense) = (distance(&p, &q), sampled(&p, &q, STEPS));
            let gap = ((p.b - p.a).norm() + (q.b - q.a).norm()) / (2.0 * f64::from(STEPS));
            assert!(exact <= dense + 1e-12 && dense <= exact + gap, "{p:?} {q:?}: {exact} {dense}");
            assert!((exact - distance(&q, &p)).abs() < 1e-15);
            crossed += u32::from(exact == 0.0);
        }
        assert!((300..700).contains(&crossed), "{crossed} of 2000 cross");
    }

    #[test]
    fn lines_that_touch_run_along_each_other_or_are_points_have_the_distance_they_should() {
        let line = zone((0.0, 0.0), (4.0, 0.0), 1.0);
        assert_eq!(distance(&line, &zone((2.0, 0.0), (2.0, 3.0), 0.0)), 0.0);
        assert_eq!(distance(&line, &zone((3.0, 0.0), (9.0, 0.0), 0.0)), 0.0);
        assert_eq!(distance(&line, &zone((1.0, 2.0), (3.0, 2.0), 0.0)), 2.0);
        assert_eq!(distance(&line, &zone((7.0, 4.0), (7.0, 4.0), 0.0)), 5.0);
        assert!(line.meets(&Zone::disc(Vec2::new(2.0, 1.5), 0.5)), "what touches, meets");
        assert!(!line.meets(&Zone::disc(Vec2::new(2.0, 1.5), 0.499)));
    }

    /// Robots of radius 1 that stand on the x axis.
    fn standing(at: &[f64]) -> Book {
        let mut book = Book::default();
        for (robot, x) in at.iter().enumerate() {
            book.stand(robot as u32, zone((*x, 0.0), (*x, 0.0), 1.0));
        }
        book
    }

    #[test]
    fn the_earlier_reservation_has_the_zone_and_the_later_one_gets_it_after_the_release() {
        let mut book = standing(&[0.0, 10.0]);
        book.reserve(0, 1, zone((0.0, 0.0), (6.0, 0.0), 1.0));
        book.reserve(1, 1, zone((10.0, 0.0), (5.0, 0.0), 1.0));
        assert!(book.granted(0, 1) && !book.granted(1, 1));
        assert_eq!(book.circle(1), None, "robot 0 travels: it waits for nobody");
        book.release(0, 1, Some((1, zone((2.0, 0.0), (2.0, 0.0), 1.0))));
        assert!(book.granted(1, 1));
    }

    #[test]
    fn a_release_that_overtakes_its_reservation_counts_and_an_old_one_does_not() {
        let mut book = standing(&[0.0, 10.0]);
        book.release(0, 2, Some((0, zone((0.0, 0.0), (0.0, 0.0), 1.0))));
        book.reserve(0, 2, zone((0.0, 0.0), (9.0, 0.0), 1.0));
        assert_eq!(book.next_of(0), None);
        book.reserve(0, 3, zone((0.0, 0.0), (3.0, 0.0), 1.0));
        book.release(0, 3, Some((3, zone((3.0, 0.0), (3.0, 0.0), 1.0))));
        book.release(0, 1, None);
        book.reserve(1, 1, zone((10.0, 0.0), (4.0, 0.0), 1.0));
        assert!(!book.granted(1, 1), "robot 0 still stands on 3");
    }

    #[test]
    fn two_that_want_to_change_places_are_in_a_deadlock_and_both_see_it() {
        let mut book = standing(&[0.0, 10.0]);
        book.reserve(0, 1, zone((0.0, 0.0), (10.0, 0.0), 1.0));
        assert_eq!(book.circle(0), None, "robot 1 may still go away");
        book.reserve(1, 1, zone((10.0, 0.0), (0.0, 0.0), 1.0));
        let circle = Circle { robots: vec![0, 1], too_early: vec![], jam: true };
        assert_eq!((book.circle(0), book.circle(1)), (Some(circle.clone()), Some(circle)));
    }

    #[test]
    fn who_waits_in_the_end_for_one_that_wants_nothing_waits_in_vain() {
        let mut book = standing(&[0.0, 5.0, 10.0]);
        book.reserve(1, 1, zone((5.0, 0.0), (10.0, 0.0), 1.0));
        book.reserve(0, 1, zone((0.0, 0.0), (5.0, 0.0), 1.0));
        assert_eq!(
            (book.waits_in_vain(0), book.waits_in_vain(1), book.waits_in_vain(2)),
            (Some(2), Some(2), None)
        );
        assert_eq!(book.circle(0), None);
        book.reserve(2, 1, zone((10.0, 0.0), (20.0, 0.0), 1.0));
        assert_eq!((book.waits_in_vain(0), book.waits_in_vain(1)), (None, None), "robot 2 may go");
    }

    #[test]
    fn one_that_only_asked_too_early_is_told_from_one_that_stands_in_the_way() {
        let mut book = standing(&[0.0, 10.0]);
        // Robot 0 wants to where robot 1 stands, which wants to cross the way that robot 0 has asked for.
        book.reserve(0, 1, zone((0.0, 0.0), (10.0, 0.0), 1.0));
        book.reserve(1, 1, zone((10.0, 0.0), (10.0, 9.0), 1.0));
        let circle = Some(Circle { robots: vec![0, 1], too_early: vec![0], jam: false });
        assert_eq!((book.circle(0), book.circle(1)), (circle.clone(), circle));
        book.release(0, 1, Some((0, zone((0.0, 0.0), (0.0, 0.0), 1.0))));
        book.reserve(0, 2, zone((0.0, 0.0), (10.0, 0.0), 1.0));
        assert!(book.granted(1, 1) && book.circle(0).is_none());
    }
}
