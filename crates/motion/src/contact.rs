//! When two bodies on segments first touch.
//!
//! Straight discs have a closed form. Everything else is certified stepping: along the present
//! separating direction, each corner that may touch gives a parabola that the gap cannot undercut,
//! so stepping to the earliest root never passes a contact. A direction that stands on a side turns
//! with that side; one between two corners stays. On straight, unturned motion the parabola is the
//! truth and one step lands on it.

use crate::hull::{Separation, SideOf, separation};
use swarmyard_base::{Rot2, Vec2, math};
use swarmyard_part_api::{Outline, Segment};

/// Bodies are in contact when their outlines are this near. Outlines never overlap: the skin lies
/// outside.
pub const SKIN_M: f64 = 1e-5;

/// How near is a contact, and what closing is only rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skin {
    /// Bodies this near are in contact.
    pub width_m: f64,
    /// Bodies within the skin that close at less than this share of their speeds move along one another.
    pub along: f64,
}

impl Skin {
    /// The skin of bodies that move in quanta.
    pub const STANDARD: Skin = Skin { width_m: SKIN_M, along: 0.0 };

    /// How near to the skin counts as there.
    fn arrived_m(self) -> f64 {
        self.width_m / 16.0
    }

    /// Closing speed that is no contact for bodies within the skin. The nearer they are, the less it is,
    /// so that rounding pushes nobody apart and nobody creeps into another.
    fn free_closing(self, gap: f64, speeds: f64) -> f64 {
        CLOSING_MPS * (gap / self.width_m).clamp(0.0, 1.0) + self.along * speeds
    }

    /// How much of a gap within the skin may go before it is a contact after all: never all of it. The
    /// more may go, the fewer contacts two bodies have that turn while they stay in touch.
    fn creep(self, gap: f64) -> f64 {
        (gap / 8.0).clamp(1e-13, self.width_m / 8.0)
    }
}

/// Slower closing than this, inside the skin, is no contact: it is rounding.
const CLOSING_MPS: f64 = 1e-6;

/// Corners this near to the foremost one touch as well (a side lies flat).
const FLAT_M: f64 = 1e-7;

/// Steps after which the bodies count as touching where they are. Safe: they are still apart.
const MAX_STEPS: usize = 400;

/// A body on a segment.
#[derive(Clone, Copy, Debug)]
pub struct Mover<'a> {
    /// Its outline.
    pub outline: &'a Outline,
    /// Its motion.
    pub segment: &'a Segment,
}

/// A contact of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// When, in seconds after the beginning of the stretch.
    pub time_s: f64,
    /// Where, in the world's frame.
    pub point: Vec2,
    /// Unit vector from the second body to the first.
    pub normal: Vec2,
    /// Gap between the outlines.
    pub gap: f64,
}

/// Buffers for corners, reused from pair to pair.
#[derive(Debug, Default)]
pub struct Workspace {
    a: Vec<Vec2>,
    b: Vec<Vec2>,
}

/// One body at one moment.
struct Posed {
    at: Vec2,
    velocity: Vec2,
    spin: f64,
}

impl Posed {
    fn of(mover: &Mover<'_>, t_s: f64, corners: &mut Vec<Vec2>) -> Posed {
        let rot = if mover.outline.is_disc() && mover.segment.is_straight() {
            Rot2::IDENTITY
        } else {
            mover.segment.rot_at(t_s)
        };
        let at = mover.segment.position_at(t_s);
        corners.clear();
        corners.extend(mover.outline.corners().iter().map(|c| at + rot.apply(*c)));
        Posed { at, velocity: mover.segment.velocity_with(rot), spin: mover.segment.spin }
    }

    #[inline]
    fn point_velocity(&self, p: Vec2) -> Vec2 {
        self.velocity + (p - self.at).perp() * self.spin
    }
}

/// Speed of the fastest corner relative to the body's centre.
fn swing_speed(mover: &Mover<'_>) -> f64 {
    if mover.outline.is_disc() { 0.0 } else { (mover.segment.spin * mover.outline.reach()).abs() }
}

/// Most that the velocity of any corner changes per second.
fn corner_acceleration(mover: &Mover<'_>) -> f64 {
    mover.segment.turn_acceleration() + swing_speed(mover) * mover.segment.spin.abs()
}

/// Bounds on how much closing speeds can change per second, for each way to look at a pair.
struct Bends {
    /// Along a direction that stays.
    still: f64,
    /// Along a side of the first body, which turns with it.
    on_first: f64,
    /// Along a side of the second body.
    on_second: f64,
}

impl Bends {
    fn new(a: &Mover<'_>, b: &Mover<'_>, start: f64, until_s: f64) -> Bends {
        let (va, vb) = (a.segment.top_speed(), b.segment.top_speed());
        let apart = (a.segment.position_at(start) - b.segment.position_at(start)).norm()
            + (va + vb) * (until_s - start);
        // Seen from a frame that turns at ω, a point at distance r with relative speed v has at most
        // the acceleration |a| + 2 ω v + ω² r.
        let from = |frame: &Mover<'_>, other: &Mover<'_>| {
            let spin = frame.segment.spin.abs();
            let far = apart + if other.outline.is_disc() { 0.0 } else { other.outline.reach() };
            corner_acceleration(other)
                + frame.segment.turn_acceleration()
                + 2.0 * spin * (va + vb + swing_speed(other))
                + spin * spin * far
        };
        Bends {
            still: corner_acceleration(a) + corner_acceleration(b),
            on_first: from(a, b),
            on_second: from(b, a),
        }
    }
}

/// Gap between the outlines at `t_s`.
#[must_use]
pub fn gap_at(a: &Mover<'_>, b: &Mover<'_>, t_s: f64, work: &mut Workspace) -> f64 {
    Pair::at(a, b, t_s, Skin::STANDARD, work).gap
}

/// How and how fast the bodies meet if they are in contact at `t_s`: the contact, and their closing speed.
#[must_use]
pub fn contact_at(
    a: &Mover<'_>,
    b: &Mover<'_>,
    t_s: f64,
    skin: Skin,
    work: &mut Workspace,
) -> (Contact, f64) {
    let pair = Pair::at(a, b, t_s, skin, work);
    let contact = pair.contact(t_s);
    (contact, -pair.rate(contact.point))
}

/// Greatest speeds of any points of the two, together; zero where the skin does not ask for them.
fn speeds(a: &Mover<'_>, b: &Mover<'_>, skin: Skin) -> f64 {
    if skin.along == 0.0 {
        return 0.0;
    }
    a.segment.top_speed() + swing_speed(a) + b.segment.top_speed() + swing_speed(b)
}

/// The first contact of `a` and `b` up to `until_s`, from the later of their segments' starts.
///
/// A contact is the moment the gap shrinks to the skin; or, for bodies that begin within the skin,
/// the first moment they would come nearer.
#[must_use]
pub fn first_contact(a: &Mover<'_>, b: &Mover<'_>, until_s: f64, work: &mut Workspace) -> Option<Contact> {
    let start = math::max(a.segment.start_s, b.segment.start_s);
    first_contact_between(a, b, (start, until_s), Skin::STANDARD, work)
}

/// The same for the part of the stretch from `start` (not before their segments') to `until_s`, with a skin of one's own.
#[must_use]
pub fn first_contact_between(
    a: &Mover<'_>,
    b: &Mover<'_>,
    (start, until_s): (f64, f64),
    skin: Skin,
    work: &mut Workspace,
) -> Option<Contact> {
    if start >= until_s || (a.segment.is_rest() && b.segment.is_rest()) {
        return None;
    }
    let apart = a.segment.position_at(start) - b.segment.position_at(start);
    let travel = (a.segment.top_speed() + b.segment.top_speed()) * (until_s - start);
    let near = a.outline.reach() + b.outline.reach() + travel + skin.width_m;
    if apart.norm2() > near * near {
        return None;
    }
    if a.outline.is_disc() && b.outline.is_disc() && a.segment.is_straight() && b.segment.is_straight() {
        return straight_discs(a, b, (start, until_s), apart, skin);
    }
    certified(a, b, (start, until_s), skin, work)
}

/// |d + v t| = R, by the root that does not cancel.
fn straight_discs(
    a: &Mover<'_>,
    b: &Mover<'_>,
    (start, until_s): (f64, f64),
    apart: Vec2,
    skin: Skin,
) -> Option<Contact> {
    let radii = a.outline.round() + b.outline.round();
    let drift = a.segment.velocity_with(a.segment.rot) - b.segment.velocity_with(b.segment.rot);
    let closing = apart.dot(drift);
    let distance = apart.norm();
    let gap = distance - radii;
    let within = gap <= skin.width_m + skin.arrived_m();
    let wait = if within && closing < -skin.free_closing(gap, speeds(a, b, skin)) * distance {
        // Already there, and coming nearer.
        0.0
    } else {
        // On the way to the skin; or there already and free to go, but not to creep on.
        let reach = radii + if within { gap - 2.0 * skin.creep(gap) } else { skin.width_m };
        let c = apart.norm2() - reach * reach;
        let under_root = closing * closing - drift.norm2() * c;
        if closing >= 0.0 || under_root < 0.0 {
            return None;
        }
        c / (under_root.sqrt() - closing)
    };
    let time_s = start + wait;
    if time_s >= until_s {
        return None;
    }
    let (pa, pb) = (a.segment.position_at(time_s), b.segment.position_at(time_s));
    let between = pa - pb;
    let d = between.norm();
    let normal = if d > 0.0 { between * (1.0 / d) } else { Vec2::new(1.0, 0.0) };
    let gap = d - radii;
    let point = pb + normal * (b.outline.round() + gap / 2.0);
    Some(Contact { time_s, point, normal, gap })
}

fn certified(
    a: &Mover<'_>,
    b: &Mover<'_>,
    (start, until_s): (f64, f64),
    skin: Skin,
    work: &mut Workspace,
) -> Option<Contact> {
    let bends = Bends::new(a, b, start, until_s);
    let mut t = start;
    let (mut target, mut arrived) = (skin.width_m, skin.arrived_m());
    for step in 0..MAX_STEPS {
        let pair = Pair::at(a, b, t, skin, work);
        if pair.gap <= target + arrived {
            let first = step == 0;
            if first && pair.gap < -skin.width_m && (is_polygon(a) || is_polygon(b)) {
                return first_contact_of_overlapping(a, b, (start, until_s), skin, work);
            }
            if !first || pair.closes() {
                return Some(pair.contact(t));
            }
            // Within the skin but not closing: free to go, as long as it does not creep nearer.
            arrived = skin.creep(pair.gap);
            target = pair.gap - 2.0 * arrived;
        }
        t += pair.safe_step(target, &bends);
        if t.is_nan() || t >= until_s {
            return None;
        }
    }
    Some(Pair::at(a, b, t, skin, work).contact(t))
}

fn is_polygon(mover: &Mover<'_>) -> bool {
    mover.outline.corners().len() > 2
}

/// The first contact of two that overlap by more than rounding: the moment their centres would come nearer.
///
/// It cannot come to this but by raising the level of detail while discs stood where polygons have no
/// room. The way out of a deep overlap is anybody's guess, so nobody is pushed: discs around the centres
/// that are just in touch now stand for the outlines, until those are free of each other. They may
/// turn, go along or go apart. A wall has no centre and stays what it is.
fn first_contact_of_overlapping(
    a: &Mover<'_>,
    b: &Mover<'_>,
    (start, until_s): (f64, f64),
    skin: Skin,
    work: &mut Workspace,
) -> Option<Contact> {
    let (pa, pb) = (a.segment.position_at(start), b.segment.position_at(start));
    let room = |distance: f64| math::max(distance - skin.width_m, 0.0);
    let (disc_a, disc_b);
    if is_line(b) {
        let line = Pair::at(&Mover { outline: &Outline::disc(0.0), ..*a }, b, start, skin, work);
        disc_a = Outline::disc(room(line.gap));
        disc_b = b.outline.clone();
    } else {
        let share = a.outline.reach() / (a.outline.reach() + b.outline.reach());
        let room = room((pa - pb).norm());
        disc_a = Outline::disc(room * share);
        disc_b = Outline::disc(room * (1.0 - share));
    }
    let (a, b) = (Mover { outline: &disc_a, ..*a }, Mover { outline: &disc_b, ..*b });
    first_contact_between(&a, &b, (start, until_s), skin, work)
}

fn is_line(mover: &Mover<'_>) -> bool {
    mover.outline.corners().len() == 2
}

/// Two bodies at one moment, with their separation.
struct Pair<'w> {
    work: &'w Workspace,
    pa: Posed,
    pb: Posed,
    sep: Separation,
    gap: f64,
    radii: (f64, f64),
    skin: Skin,
    speeds: f64,
}

impl<'w> Pair<'w> {
    fn at(a: &Mover<'_>, b: &Mover<'_>, t_s: f64, skin: Skin, work: &'w mut Workspace) -> Pair<'w> {
        let pa = Posed::of(a, t_s, &mut work.a);
        let pb = Posed::of(b, t_s, &mut work.b);
        let sep = separation(&work.a, &work.b);
        let radii = (a.outline.round(), b.outline.round());
        let gap = sep.distance - (radii.0 + radii.1);
        Pair { work, pa, pb, sep, gap, radii, skin, speeds: speeds(a, b, skin) }
    }

    /// How long the gap stays above `target` for certain.
    fn safe_step(&self, target: f64, bends: &Bends) -> f64 {
        let n = self.sep.normal;
        let (front_a, front_b) = self.fronts();
        let slack = self.radii.0 + self.radii.1 + target;
        let mut least = f64::INFINITY;
        match self.sep.side {
            SideOf::Second => {
                for &p in &self.work.a {
                    least = math::min(
                        least,
                        first_root(n.dot(p) - front_b - slack, self.rate(p), bends.on_second),
                    );
                }
            }
            SideOf::First => {
                for &q in &self.work.b {
                    least = math::min(
                        least,
                        first_root(front_a - n.dot(q) - slack, self.rate(q), bends.on_first),
                    );
                }
            }
            SideOf::Neither => {
                for &p in &self.work.a {
                    let (place_a, rate_a) = (n.dot(p), n.dot(self.pa.point_velocity(p)));
                    for &q in &self.work.b {
                        let rate = rate_a - n.dot(self.pb.point_velocity(q));
                        least = math::min(least, first_root(place_a - n.dot(q) - slack, rate, bends.still));
                    }
                }
            }
        }
        // A step must move time on, or the loop would stand still on rounding.
        math::max(least, 1e-12)
    }

    /// Places along the normal of the foremost corners of both.
    fn fronts(&self) -> (f64, f64) {
        let n = self.sep.normal;
        let front_a = self.work.a.iter().map(|p| n.dot(*p)).fold(f64::INFINITY, math::min);
        let front_b = self.work.b.iter().map(|p| n.dot(*p)).fold(f64::NEG_INFINITY, math::max);
        (front_a, front_b)
    }

    /// Speed at which the bodies part at a point.
    fn rate(&self, p: Vec2) -> f64 {
        self.sep.normal.dot(self.pa.point_velocity(p) - self.pb.point_velocity(p))
    }

    /// The stretch where the bodies touch: one point twice, or the ends of two sides that lie flat.
    fn touching(&self) -> (Vec2, Vec2) {
        let n = self.sep.normal;
        let along = n.perp();
        let (front_a, front_b) = self.fronts();
        let extent = |hull: &[Vec2], touches: &dyn Fn(f64) -> bool| {
            let touching = hull.iter().filter(|p| touches(n.dot(**p))).map(|p| along.dot(*p));
            touching
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (math::min(lo, x), math::max(hi, x)))
        };
        let (a0, a1) = extent(&self.work.a, &|x| x <= front_a + FLAT_M);
        let (b0, b1) = extent(&self.work.b, &|x| x >= front_b - FLAT_M);
        let (low, high) = (math::max(a0, b0), math::min(a1, b1));
        let level = (front_a - self.radii.0 + front_b + self.radii.1) / 2.0;
        let place = |x: f64| along * x + n * level;
        if high <= low {
            let middle = place((low + high) / 2.0);
            return (middle, middle);
        }
        (place(low), place(high))
    }

    /// Whether the bodies come nearer where they touch.
    fn closes(&self) -> bool {
        let (low, high) = self.touching();
        math::min(self.rate(low), self.rate(high)) < -self.skin.free_closing(self.gap, self.speeds)
    }

    /// The contact: the point of touch, or the middle of two sides that lie flat on one another,
    /// or that end of them which closes alone.
    fn contact(&self, time_s: f64) -> Contact {
        let (low, high) = self.touching();
        let free = self.skin.free_closing(self.gap, self.speeds);
        let point = match (self.rate(low) < -free, self.rate(high) < -free) {
            (true, false) => low,
            (false, true) => high,
            _ => (low + high) * 0.5,
        };
        Contact { time_s, point, normal: self.sep.normal, gap: self.gap }
    }
}

/// First τ > 0 with room + rate·τ − bend·τ²/2 = 0; infinite when there is none.
#[inline]
fn first_root(room: f64, rate: f64, bend: f64) -> f64 {
    let room = math::max(room, 0.0);
    let root = (rate * rate + 2.0 * bend * room).sqrt();
    if rate < 0.0 {
        2.0 * room / (root - rate)
    } else if bend > 0.0 {
        (rate + root) / bend
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::{Pose2, Twist2};

    fn glide(x: f64, y: f64, vx: f64, vy: f64, spin: f64) -> Segment {
        Segment::glide(0.0, Pose2::new(x, y, 0.0), Rot2::IDENTITY, Vec2::new(vx, vy), spin)
    }

    #[test]
    fn two_discs_meet_when_the_closed_form_says() {
        let disc = Outline::disc(0.5);
        let (s, t) = (glide(0.0, 0.0, 1.0, 0.0, 0.0), glide(4.0, 0.0, -1.0, 0.0, 0.0));
        let c = first_contact(
            &Mover { outline: &disc, segment: &s },
            &Mover { outline: &disc, segment: &t },
            9.0,
            &mut Workspace::default(),
        )
        .unwrap();
        assert!((c.time_s - (1.5 - SKIN_M / 2.0)).abs() < 1e-12);
        assert_eq!(c.normal, Vec2::new(-1.0, 0.0));
    }

    #[test]
    fn stepping_agrees_with_the_closed_form_on_grazing_discs() {
        let disc = Outline::disc(0.5);
        let mut work = Workspace::default();
        for k in 0..2000 {
            let offset = f64::from(k) * 0.0005;
            let (s, t) = (glide(0.0, offset, 3.0, 0.1, 0.0), glide(4.0, 0.0, -1.0, 0.0, 0.0));
            let (a, b) = (Mover { outline: &disc, segment: &s }, Mover { outline: &disc, segment: &t });
            let apart = s.pose.at - t.pose.at;
            let exact = straight_discs(&a, &b, (0.0, 5.0), apart, Skin::STANDARD).map(|c| c.time_s);
            let stepped = certified(&a, &b, (0.0, 5.0), Skin::STANDARD, &mut work).map(|c| c.time_s);
            match (exact, stepped) {
                // Arriving within the tolerance is a little early, never late.
                (Some(e), Some(s)) => assert!(s <= e + 1e-12 && e - s < 1e-3, "{offset}: {e} {s}"),
                (None, Some(_)) => assert!(offset > 0.99),
                (e, s) => assert_eq!(e, s, "{offset}"),
            }
        }
    }

    #[test]
    fn nothing_tunnels_at_any_speed() {
        let disc = Outline::disc(0.05);
        let wall = Outline::line(Vec2::new(0.0, -5.0), Vec2::new(0.0, 5.0));
        let still = glide(0.0, 0.0, 0.0, 0.0, 0.0);
        for speed in [0.1, 10.0, 1e3, 1e6] {
            let s = glide(-3.0, 0.2, speed, speed * 0.3, 0.0);
            let c = first_contact(
                &Mover { outline: &disc, segment: &s },
                &Mover { outline: &wall, segment: &still },
                100.0,
                &mut Workspace::default(),
            )
            .unwrap();
            assert!((c.time_s * speed - (2.95 - SKIN_M)).abs() < 1e-6, "{speed}: {c:?}");
        }
    }

    #[test]
    fn a_turning_square_touches_with_its_corner() {
        // Half diagonal √2/2: the corner reaches 0.6 when cos(45° − θ)·√2/2 = 0.6.
        let square = Outline::rectangle(1.0, 1.0);
        let wall = Outline::line(Vec2::new(0.6 + SKIN_M, -5.0), Vec2::new(0.6 + SKIN_M, 5.0));
        let (s, still) = (glide(0.0, 0.0, 0.0, 0.0, 1.0), glide(0.0, 0.0, 0.0, 0.0, 0.0));
        let c = first_contact(
            &Mover { outline: &square, segment: &s },
            &Mover { outline: &wall, segment: &still },
            3.0,
            &mut Workspace::default(),
        )
        .unwrap();
        let exact = std::f64::consts::FRAC_PI_4 - swarmyard_base::math::acos(0.6 / 0.5_f64.sqrt());
        assert!((c.time_s - exact).abs() < 5e-6, "{} {exact}", c.time_s);
    }

    #[test]
    fn an_arc_into_a_wall_stops_at_the_skin() {
        let disc = Outline::disc(0.1);
        let wall = Outline::line(Vec2::new(-5.0, 0.5), Vec2::new(5.0, 0.5));
        let pose = Pose2::default();
        let arc = Segment::arc(0.0, pose, pose.rot(), Twist2::new(1.0, 0.0, 1.0));
        let still = glide(0.0, 0.0, 0.0, 0.0, 0.0);
        let (a, b) = (Mover { outline: &disc, segment: &arc }, Mover { outline: &wall, segment: &still });
        let c = first_contact(&a, &b, 3.0, &mut Workspace::default()).unwrap();
        // y = 1 − cos t = 0.4 − skin
        let exact = swarmyard_base::math::acos(0.6 + SKIN_M);
        assert!((c.time_s - exact).abs() < 1e-5 && c.gap >= SKIN_M - 1e-12 && c.gap <= SKIN_M * 17.0 / 16.0);
    }

    #[test]
    fn a_body_in_the_skin_may_leave_but_not_come_nearer() {
        let disc = Outline::disc(0.1);
        let wall = Outline::line(Vec2::new(-5.0, 0.0), Vec2::new(5.0, 0.0));
        let still = glide(0.0, 0.0, 0.0, 0.0, 0.0);
        let b = Mover { outline: &wall, segment: &still };
        let mut work = Workspace::default();
        let y = 0.1 + SKIN_M;
        for (vy, touches) in [(-1.0, true), (-1e-3, true), (0.0, false), (1.0, false)] {
            let s = glide(0.0, y, 1.0, vy, 0.0);
            let c = first_contact(&Mover { outline: &disc, segment: &s }, &b, 1.0, &mut work);
            assert_eq!(c.is_some_and(|c| c.time_s == 0.0), touches, "vy = {vy}: {c:?}");
            assert_eq!(c.is_some(), touches, "vy = {vy}: {c:?}");
        }
    }
}
