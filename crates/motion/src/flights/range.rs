//! When the distance of two centres crosses a range, or that of outlines: for sensors that notice at once, and for links.
//!
//! In: two paths and a range. Out: the next moment of a crossing, and its direction. Of centres it is a function of
//! the two paths and the range alone; asking from another moment finds the same crossings.

use super::bend::{Bent, SKIN, Together, fastest};
use super::query::{bent, is_plain};
use super::{Flights, Path, edge_meeting};
use crate::contact::{Workspace, first_contact_between, gap_at};
use swarmyard_base::{Moment, Vec2, math};
use swarmyard_part_api::Outline;

/// What has been within the range is outside again when it is so much farther away, m: on bends and among corners
/// nearer goings and comings are not told apart.
pub const CLEAR_M: f64 = 1e-3;

/// Outlines nearer to each other than this touch, m: bodies that turn, go round bends or have corners stop at a skin's
/// width, or a little more.
pub const TOUCHING_M: f64 = 2.0 * SKIN.width_m;

/// Nearer to the range than this counts as there where there is no closed form, m.
const THERE_M: f64 = 1e-6;

impl Flights {
    /// When a body's outline, which is not within `range` of any of several others now, comes within it, after `after` and not
    /// after `until`. Of two that move on lines without turning it is found to the last bits; else to a micrometre.
    #[must_use]
    pub fn approach(
        body: (&Path, &Outline),
        things: &[(Path, Outline)],
        range: f64,
        after: Moment,
        until: Moment,
    ) -> Option<Moment> {
        let grown = body.1.grown(range);
        let me = (body.0, &grown);
        let from = after.max(latest(body.0, things));
        let first = |thing: &(Path, Outline)| match (is_plain(me), ends_at_rest(thing)) {
            (true, Some(ends)) => edge_meeting((me.0, grown.reach()), ends).filter(|m| *m >= from),
            _ => touch(bent(me), bent((&thing.0, &thing.1)), from, until),
        };
        things.iter().filter_map(first).min().filter(|m| *m <= until && *m > after)
    }

    /// When a body's outline has left the `range` of all of several others, by [`CLEAR_M`], not before `from` and not after
    /// `until`. They count as one thing: while it is within the range of any, it has not.
    #[must_use]
    pub fn departure(
        body: (&Path, &Outline),
        things: &[(Path, Outline)],
        range: f64,
        from: Moment,
        until: Moment,
    ) -> Option<Moment> {
        let grown = body.1.grown(range);
        let me = (body.0, &grown);
        let mut work = Workspace::default();
        let speeds = things.iter().map(|t| fastest(&bent((&t.0, &t.1))));
        let speed = fastest(&bent(me)) + speeds.fold(0.0, math::max);
        let mut now = from.max(latest(body.0, things));
        let mut apart = least_gap(me, things, now, &mut work);
        while apart < 0.999 * CLEAR_M {
            // It cannot be free sooner.
            now = now.plus((CLEAR_M - apart) / speed);
            if now > until || now == Moment::NEVER {
                return None;
            }
            apart = least_gap(me, things, now, &mut work);
        }
        Some(now)
    }

    /// How much farther than `range` a body's outline is from the nearest of several others at a moment; negative when it is
    /// within.
    #[must_use]
    pub fn gap_to(body: (&Path, &Outline), things: &[(Path, Outline)], range: f64, now: Moment) -> f64 {
        least_gap((body.0, &body.1.grown(range)), things, now, &mut Workspace::default())
    }
}

/// When the last of these paths starts.
fn latest(path: &Path, things: &[(Path, Outline)]) -> Moment {
    things.iter().map(|t| t.0.start()).fold(path.start(), Moment::max)
}

/// The gap between a body and the nearest of several others at a moment.
fn least_gap(me: (&Path, &Outline), things: &[(Path, Outline)], now: Moment, work: &mut Workspace) -> f64 {
    let gap_to = |thing: &(Path, Outline)| {
        let both = Together::new(bent(me), bent((&thing.0, &thing.1)), Vec2::ZERO);
        let (a, b) = both.movers();
        gap_at(&a, &b, now.since(both.start), work)
    };
    things.iter().map(gap_to).fold(f64::INFINITY, math::min)
}

/// The ends of a line that stays where it is.
fn ends_at_rest((path, outline): &(Path, Outline)) -> Option<(Vec2, Vec2)> {
    let &[a, b] = outline.corners() else { return None };
    matches!(path, Path::Straight { position, velocity, heading, .. }
        if *position == Vec2::ZERO && *velocity == Vec2::ZERO && *heading == 0.0)
    .then_some((a, b))
}

/// When two that are apart touch.
fn touch(a: Bent<'_>, b: Bent<'_>, from: Moment, until: Moment) -> Option<Moment> {
    let mut work = Workspace::default();
    let speed = fastest(&a) + fastest(&b);
    if speed <= 0.0 {
        return None;
    }
    let both = Together::new(a, b, Vec2::ZERO);
    let (a, b) = both.movers();
    let length = math::max(a.outline.reach() / speed, 1e-6);
    let (mut t, last) = (from.since(both.start), until.since(both.start));
    while t <= last {
        // Too far away for a while: a little less than that, for rounding.
        let gap = gap_at(&a, &b, t, &mut work) - 2.0 * SKIN.width_m;
        t += math::max(gap * (1.0 - 1e-9), 0.0) / speed;
        match first_contact_between(&a, &b, (t, t + length), SKIN, &mut work) {
            Some(contact) if contact.gap <= THERE_M => return Some(both.start.plus(contact.time_s)),
            // Many small steps without getting there.
            Some(contact) => t = math::max(contact.time_s, t + FINEST_S),
            None => t += length,
        }
    }
    None
}

/// The next moment after `after` and not after `until` at which the distance of the two centres crosses `range`, and
/// whether they come within it. Touching the range without crossing it does not count.
///
/// Paths count from the later of their two starts on.
#[must_use]
pub fn crossing(a: &Path, b: &Path, range: f64, after: Moment, until: Moment) -> Option<(Moment, bool)> {
    let start = a.start().max(b.start());
    if range <= 0.0 || range.is_nan() || after >= until {
        return None;
    }
    if let (Some(a), Some(b)) = (a.line(), b.line()) {
        return straight(start, a, b, range).into_iter().flatten().find(|c| c.0 > after && c.0 <= until);
    }
    bend(a, b, range, start, after, until)
}

/// Both crossings of two straight lines from their start on: into the range, and out of it.
fn straight(
    start: Moment,
    a: (Moment, Vec2, Vec2),
    b: (Moment, Vec2, Vec2),
    range: f64,
) -> [Option<(Moment, bool)>; 2] {
    let at = |(own, at, v): (Moment, Vec2, Vec2)| at + v * start.since(own);
    let (r, v) = (at(a) - at(b), a.2 - b.2);
    let (aa, bb, c) = (v.norm2(), r.dot(v), r.norm2() - range * range);
    let under_root = bb * bb - aa * c;
    if under_root <= 0.0 || under_root.is_nan() {
        return [None, None];
    }
    let root = under_root.sqrt();
    // Of the two roots one adds what the other cancels; the other is found through their product.
    let (t0, t1) =
        if bb < 0.0 { (c / (root - bb), (root - bb) / aa) } else { ((-root - bb) / aa, -c / (root + bb)) };
    let moment = |t: f64, enters: bool| (t >= 0.0).then(|| (start.plus(t), enters));
    [moment(t0, true), moment(t1, false)]
}

/// How finely two crossings are told apart on bends, in seconds.
const FINEST_S: f64 = 1e-10;

/// Distance minus range of a pair over time, with bounds on how fast it and its rate change.
struct Gap<'a> {
    a: &'a Path,
    b: &'a Path,
    range: f64,
    start: Moment,
    /// Greatest rate of the squared distance is 2 · (distance) · speed.
    speed: f64,
    /// Greatest change of the relative velocity per second.
    bend: f64,
}

impl Gap<'_> {
    fn at(&self, t: f64) -> (Vec2, Vec2) {
        let moment = self.start.plus(t);
        (
            self.a.position_at(moment) - self.b.position_at(moment),
            self.a.velocity_at(moment) - self.b.velocity_at(moment),
        )
    }

    fn inside(&self, t: f64) -> bool {
        self.at(t).0.norm2() <= self.range * self.range
    }

    /// The first crossing in an interval, at whose beginning the pair is `inside` the range or not.
    fn first(&self, from: f64, to: f64, inside: bool) -> Option<f64> {
        let half = (to - from) / 2.0;
        let middle = from + half;
        let (r, v) = self.at(middle);
        let distance = r.norm();
        let gap = distance - self.range;
        if gap.abs() > self.speed * half {
            // Too far from the range to reach it: all of the interval lies on one side.
            return ((gap < 0.0) != inside).then_some(from);
        }
        if half <= FINEST_S {
            return (self.inside(to) != inside).then(|| self.bisect(from, to, inside));
        }
        // The rate of half the squared distance is r·v; its own rate is at most v² + r·bend.
        let farthest = distance + self.speed * half;
        let change = self.speed * self.speed + farthest * self.bend;
        if r.dot(v).abs() > change * half {
            // The distance only grows or only shrinks here: at most one crossing.
            return (self.inside(to) != inside).then(|| self.bisect(from, to, inside));
        }
        if let Some(t) = self.first(from, middle, inside) {
            return Some(t);
        }
        self.first(middle, to, inside)
    }

    fn bisect(&self, mut from: f64, mut to: f64, inside: bool) -> f64 {
        loop {
            let middle = from + (to - from) / 2.0;
            if middle <= from || middle >= to {
                return to;
            }
            if self.inside(middle) == inside {
                from = middle;
            } else {
                to = middle;
            }
        }
    }
}

fn bend(
    a: &Path,
    b: &Path,
    range: f64,
    start: Moment,
    after: Moment,
    until: Moment,
) -> Option<(Moment, bool)> {
    let acceleration = |path: &Path| match path {
        Path::Straight { .. } => 0.0,
        Path::Segment { segment, .. } => segment.turn_acceleration(),
    };
    let speed = a.top_speed() + b.top_speed();
    let gap = Gap { a, b, range, start, speed, bend: acceleration(a) + acceleration(b) };
    // Intervals are counted from the start, so that the crossings are the same whenever they are asked for.
    let length = math::max(range / speed, 1e-6);
    let mut window = math::max((after.since(start) / length).floor(), 0.0);
    let last = until.since(start);
    while window * length <= last {
        let (mut from, to) = (window * length, (window + 1.0) * length);
        while from < to {
            let inside = gap.inside(from);
            let Some(t) = gap.first(from, to, inside) else { break };
            let moment = start.plus(t);
            if moment > after {
                return (moment <= until).then_some((moment, !inside));
            }
            // One that lies before: go on behind it.
            from = math::max(t, from + FINEST_S);
        }
        window += 1.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::{Pose2, Twist2};
    use swarmyard_part_api::Segment;

    fn at(s: f64) -> Moment {
        Moment::ZERO.plus(s)
    }

    #[test]
    fn a_straight_pass_enters_and_leaves() {
        let still = Path::rest(Moment::ZERO, Pose2::default());
        let pass = Path::straight(Moment::ZERO, Vec2::new(-5.0, 3.0), Vec2::new(1.0, 0.0));
        let first = crossing(&pass, &still, 5.0, Moment::ZERO, Moment::NEVER).unwrap();
        assert_eq!(first, (at(1.0), true));
        let second = crossing(&pass, &still, 5.0, first.0, Moment::NEVER).unwrap();
        assert_eq!(second, (at(9.0), false));
        assert_eq!(crossing(&pass, &still, 5.0, second.0, Moment::NEVER), None);
        assert_eq!(crossing(&pass, &still, 5.0, Moment::ZERO, at(0.5)), None);
        // Along the rim at distance 3 it only touches.
        assert_eq!(crossing(&pass, &still, 3.0, Moment::ZERO, Moment::NEVER), None);
    }

    /// A circle of radius 1 around (0, 1), seen from (0, −0.5): the distance goes from 0.5 to 2.5 and back each turn.
    #[test]
    fn a_circle_crosses_the_range_twice_a_turn() {
        let pose = Pose2::default();
        let round =
            Path::along(Moment::ZERO, &Segment::arc(0.0, pose, pose.rot(), Twist2::new(1.0, 0.0, 1.0)));
        let still = Path::rest(Moment::ZERO, Pose2::new(0.0, -0.5, 0.0));
        // |(sin t, 1.5 − cos t)|² = 3.25 − 3 cos t = 1 when cos t = 0.75.
        let t = swarmyard_base::math::acos(0.75);
        let turn = 2.0 * std::f64::consts::PI;
        let mut after = Moment::ZERO;
        for (exact, enters) in [(t, false), (turn - t, true), (turn + t, false), (2.0 * turn - t, true)] {
            let found = crossing(&round, &still, 1.0, after, at(100.0)).unwrap();
            assert!(
                (found.0.since(Moment::ZERO) - exact).abs() < 1e-12 && found.1 == enters,
                "{found:?} {exact}"
            );
            after = found.0;
        }
        assert_eq!(crossing(&round, &still, 2.6, Moment::ZERO, at(100.0)), None);
        assert_eq!(crossing(&round, &still, 0.4, Moment::ZERO, at(100.0)), None);
    }
}
