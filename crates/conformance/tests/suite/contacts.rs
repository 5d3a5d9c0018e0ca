//! Contact times on segments against an independent oracle.
//!
//! The oracle advances by what the gap allows at the greatest speed any point of the two bodies can
//! have, with gaps measured by parry2d and poses from the textbook form of the arc. It cannot pass a
//! contact either, and shares no code with the one under test.

use swarmyard_base::{Pose2, Twist2, Vec2, math};
use swarmyard_conformance::Dice;
use swarmyard_conformance::oracle::{Thing, gap};
use swarmyard_motion::{Contact, Mover, SKIN_M, Workspace, first_contact, gap_at};
use swarmyard_part_api::{Frame, Outline, Segment};

/// How far above the skin a contact may be called one.
const ARRIVED_M: f64 = SKIN_M / 16.0;

/// Rounding of the two ways to compute a gap at coordinates of some metres.
const ROUNDING_M: f64 = 1e-11;

/// A body and its motion.
struct Body {
    outline: Outline,
    segment: Segment,
}

impl Body {
    fn mover(&self) -> Mover<'_> {
        Mover { outline: &self.outline, segment: &self.segment }
    }

    /// Pose by the textbook: (v/ω)(sin(θ + ωt) − sin θ, cos θ − cos(θ + ωt)) for each component; a glide
    /// about a point moves that point straight.
    fn pose(&self, t: f64) -> Pose2 {
        let s = &self.segment;
        let (dt, h) = (t - s.start_s, s.pose.heading);
        let at = if s.frame == Frame::World || s.spin == 0.0 {
            let point = |h: f64, c: Vec2| {
                let (sin, cos) = math::sin_cos(h);
                Vec2::new(cos * c.x - sin * c.y, sin * c.x + cos * c.y)
            };
            let centre = s.pose.at + point(h, s.centre) + s.velocity * dt;
            centre - point(h + s.spin * dt, s.centre)
        } else {
            let (v, w) = (s.velocity, s.spin);
            let (s0, c0) = math::sin_cos(h);
            let (s1, c1) = math::sin_cos(h + w * dt);
            s.pose.at
                + Vec2::new(v.x * (s1 - s0) + v.y * (c1 - c0), v.x * (c0 - c1) + v.y * (s1 - s0)) * (1.0 / w)
        };
        Pose2 { at, heading: h + s.spin * dt }
    }

    fn thing(&self, t: f64) -> Thing {
        Thing::new(&self.outline, self.pose(t))
    }

    /// Greatest speed of any of its points.
    fn speed(&self) -> f64 {
        let swing = if self.outline.is_disc() { 0.0 } else { self.outline.reach() * self.segment.spin.abs() };
        self.segment.velocity.norm() + swing + self.segment.centre.norm() * self.segment.spin.abs()
    }
}

struct Case {
    a: Body,
    b: Body,
    until: f64,
}

enum Oracle {
    /// The gap reaches the level at this time (and never before).
    At(f64),
    Never,
    /// They stay so near for so long that small steps do not end.
    Undecided,
}

impl Case {
    fn start(&self) -> f64 {
        math::max(self.a.segment.start_s, self.b.segment.start_s)
    }

    fn gap(&self, t: f64) -> f64 {
        gap(&self.a.thing(t), &self.b.thing(t))
    }

    fn contact(&self, work: &mut Workspace) -> Option<Contact> {
        first_contact(&self.a.mover(), &self.b.mover(), self.until, work)
    }

    /// First time the gap is down to `level`.
    fn reaches(&self, level: f64) -> Oracle {
        let fastest = self.a.speed() + self.b.speed();
        let mut t = self.start();
        for _ in 0..20_000 {
            let room = self.gap(t) - level;
            if room <= ROUNDING_M {
                return Oracle::At(t);
            }
            t += room / fastest;
            if t >= self.until {
                return Oracle::Never;
            }
        }
        Oracle::Undecided
    }

    /// Whether an answer for bodies that begin outside of the skin keeps every promise.
    fn check(&self, answer: Option<Contact>, tally: &mut Tally) -> Result<(), String> {
        let latest = self.reaches(SKIN_M - ROUNDING_M);
        let Some(contact) = answer else {
            return match latest {
                Oracle::At(t) if t < self.until => {
                    Err(format!("missed the contact at {t}, gap {}", self.gap(t)))
                }
                Oracle::Undecided => {
                    tally.undecided += 1;
                    Ok(())
                }
                _ => Ok(()),
            };
        };
        tally.contacts += 1;
        let real = self.gap(contact.time_s);
        tally.least_gap = math::min(tally.least_gap, real);
        tally.worst_gap = math::max(tally.worst_gap, (real - contact.gap).abs());
        if (real - contact.gap).abs() > 1e-9 {
            return Err(format!("gap {} is really {real}", contact.gap));
        }
        if !(real > 0.0 && real <= SKIN_M + ARRIVED_M + ROUNDING_M) {
            return Err(format!("gap {real} at the contact, time {}", contact.time_s));
        }
        match latest {
            Oracle::At(t) if contact.time_s > t + 1e-9 => {
                return Err(format!("late: {} after {t}", contact.time_s));
            }
            Oracle::At(t) => tally.earliest = math::max(tally.earliest, t - contact.time_s),
            Oracle::Never => tally.grazes += 1,
            Oracle::Undecided => tally.undecided += 1,
        }
        // The point is on both rims, and the normal is a unit vector from b to a.
        let (a, b) = (self.a.thing(contact.time_s), self.b.thing(contact.time_s));
        let off = math::max(a.rim_distance(contact.point), b.rim_distance(contact.point));
        let aside = (contact.normal.norm() - 1.0).abs();
        if off > SKIN_M || aside > 1e-12 {
            return Err(format!("the point is {off} off the rims; the normal {aside} off a unit"));
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Tally {
    contacts: usize,
    grazes: usize,
    undecided: usize,
    earliest: f64,
    least_gap: f64,
    worst_gap: f64,
}

fn outline(dice: &mut Dice) -> Outline {
    let size = dice.scale(0.03, 1.0);
    let corners = dice.below(6) + 3;
    match dice.below(4) {
        0 | 1 => Outline::disc(size),
        2 => Outline::rectangle(size, dice.scale(0.02, size)),
        _ => Outline::polygon(&dice.convex(corners, size)).expect("convex"),
    }
}

/// A motion whose path crosses the middle about half-way.
fn motion(dice: &mut Dice, start_s: f64, arcs: bool) -> Segment {
    let speed = dice.scale(0.01, 100.0);
    let bearing = dice.angle();
    let pose = Pose2 {
        at: Vec2::at_angle(bearing) * -dice.between(0.3, 1.0) * math::min(speed, 8.0),
        heading: dice.angle(),
    };
    let aim = bearing + dice.between(-0.3, 0.3);
    let spin = if arcs { dice.between(-12.0, 12.0) } else { 0.0 };
    match dice.below(4) {
        0 => Segment::rest(start_s, pose, pose.rot()),
        1 => Segment::glide(start_s, pose, pose.rot(), Vec2::at_angle(aim) * speed, spin),
        _ => {
            let pose = Pose2 { heading: aim, ..pose };
            let left = if dice.chance(0.2) { dice.between(-0.5, 0.5) * speed } else { 0.0 };
            let spin = if arcs { dice.between(-3.0, 3.0) } else { 0.0 };
            Segment::arc(start_s, pose, pose.rot(), Twist2::new(speed, left, spin))
        }
    }
}

fn wall(dice: &mut Dice) -> Body {
    let (middle, half) = (dice.point(2.0), Vec2::at_angle(dice.angle()) * dice.scale(0.05, 4.0));
    let still = Segment::rest(0.0, Pose2::default(), Pose2::default().rot());
    Body { outline: Outline::line(middle - half, middle + half), segment: still }
}

/// A random pair that begins apart.
fn case(dice: &mut Dice, arcs: bool) -> Case {
    loop {
        let later = if dice.chance(0.3) { dice.between(0.0, 0.5) } else { 0.0 };
        let a = Body { outline: outline(dice), segment: motion(dice, later, arcs) };
        let b = if dice.chance(0.3) {
            wall(dice)
        } else {
            Body { outline: outline(dice), segment: motion(dice, 0.0, arcs) }
        };
        let case = Case { a, b, until: dice.between(0.6, 1.0) };
        if case.gap(case.start()) > 4.0 * SKIN_M {
            return case;
        }
    }
}

/// The same with glides about a point up to some metres away: what a load does after an impact.
fn case_of_loads(dice: &mut Dice) -> Case {
    loop {
        let mut case = case(dice, true);
        for body in [&mut case.a, &mut case.b] {
            if body.segment.frame == Frame::World {
                let far = dice.scale(0.01, 3.0);
                body.segment = body.segment.glide_about(dice.point(far));
            }
        }
        let turns = |body: &Body| body.segment.centre != Vec2::ZERO;
        if (turns(&case.a) || turns(&case.b)) && case.gap(case.start()) > 4.0 * SKIN_M {
            return case;
        }
    }
}

fn check_many(seed: u64, case: impl Fn(&mut Dice) -> Case, count: usize) -> Tally {
    let mut dice = Dice::new(seed);
    let mut tally = Tally { least_gap: f64::INFINITY, ..Tally::default() };
    let mut work = Workspace::default();
    for k in 0..count {
        let case = case(&mut dice);
        let answer = case.contact(&mut work);
        case.check(answer, &mut tally).unwrap_or_else(|why| {
            panic!(
                "case {k}: {why}\n{:?}\n{:?}\n{:?}\n{:?}\n{answer:?}",
                case.a.outline, case.a.segment, case.b.outline, case.b.segment
            )
        });
    }
    println!("{count} pairs: {tally:?}");
    assert!(tally.contacts > count / 10 && tally.undecided < count / 200, "{tally:?}");
    tally
}

#[test]
fn straight_motions_touch_when_the_oracle_says_and_never_later() {
    check_many(11, |dice| case(dice, false), 20_000);
}

#[test]
fn arcs_and_spinning_bodies_touch_when_the_oracle_says_and_never_later() {
    check_many(12, |dice| case(dice, true), 20_000);
}

#[test]
fn bodies_that_turn_about_a_point_elsewhere_touch_when_the_oracle_says_and_never_later() {
    check_many(17, case_of_loads, 10_000);
}

#[test]
fn asking_again_changes_no_bit() {
    let mut dice = Dice::new(13);
    let (mut used, mut asked, mut differ) = (Workspace::default(), 0, 0);
    let mut last = None;
    for _ in 0..20_000 {
        let case = case(&mut dice, true);
        let first = case.contact(&mut Workspace::default());
        // Whatever was asked in between, and with whatever left in the buffers.
        let between = gap_at(&case.a.mover(), &case.b.mover(), dice.unit(), &mut used);
        assert!(between.is_finite());
        assert_eq!(case.contact(&mut used), first);
        assert_eq!(case.contact(&mut used), first);
        asked += usize::from(first.is_some());
        differ += usize::from(first != last);
        last = first;
    }
    assert!(asked > 2_000 && differ > 2_000, "{asked} contacts, {differ} different ones");
}

/// The end of the stretch decides whether a contact belongs to it, not when it is.
#[test]
fn asking_further_ahead_finds_the_same_contact() {
    let mut dice = Dice::new(16);
    let (mut work, mut asked, mut worst) = (Workspace::default(), 0, 0.0_f64);
    for _ in 0..20_000 {
        let case = case(&mut dice, true);
        let Some(first) = case.contact(&mut work) else { continue };
        for until in [case.until * 2.0, case.until * 50.0] {
            let again =
                first_contact(&case.a.mover(), &case.b.mover(), until, &mut work).expect("is there as well");
            let apart = (again.time_s - first.time_s).abs() * (case.a.speed() + case.b.speed());
            let graze = (again.gap - first.gap).abs();
            worst = math::max(worst, graze);
            assert!(graze <= ARRIVED_M + ROUNDING_M && apart < 0.01, "until {until}: {first:?} {again:?}");
            asked += 1;
        }
        let sooner = first_contact(&case.a.mover(), &case.b.mover(), first.time_s - 1e-4, &mut work);
        assert_eq!(sooner, None, "what comes later does not belong to this stretch");
    }
    println!("{asked} asked, gaps differ by at most {worst:e}");
    assert!(asked > 4_000);
}

/// Bodies that begin within the skin: nearer means a contact at once, otherwise they may go but not
/// creep.
#[test]
fn bodies_within_the_skin_never_come_to_overlap() {
    let mut dice = Dice::new(14);
    let mut work = Workspace::default();
    let (mut at_once, mut later, mut free, mut least) = (0, 0, 0, f64::INFINITY);
    for k in 0..20_000 {
        let mut case = case(&mut dice, true);
        let Some(contact) = case.contact(&mut work) else { continue };
        // Both begin again where they touched, with new motions.
        let t = contact.time_s;
        for body in [&mut case.a, &mut case.b] {
            let pose = body.pose(t);
            let still = body.outline.corners().len() == 2 || dice.chance(0.2);
            let velocity =
                if still { Vec2::ZERO } else { Vec2::at_angle(dice.angle()) * dice.scale(1e-4, 10.0) };
            let spin = if still { 0.0 } else { dice.between(-4.0, 4.0) };
            body.segment = Segment::glide(t, pose, pose.rot(), velocity, spin);
        }
        let begin = case.gap(t);
        match case.contact(&mut work) {
            Some(c) => {
                *(if c.time_s == t { &mut at_once } else { &mut later }) += 1;
                least = math::min(least, case.gap(c.time_s));
                assert!(case.gap(c.time_s) > 0.0, "case {k}: overlap {c:?}");
            }
            None => {
                free += 1;
                let nearest = (0..=400)
                    .map(|s| case.gap(t + (case.until - t) * f64::from(s) / 400.0))
                    .fold(begin, math::min);
                least = math::min(least, nearest);
                assert!(nearest > begin - 2.0 * ARRIVED_M, "case {k}: from {begin} down to {nearest}");
            }
        }
    }
    println!("{at_once} at once, {later} later, {free} free, least gap {least}");
    assert!(at_once > 500 && later > 50 && free > 500);
}

/// The checks must be able to fail.
#[test]
fn the_check_refuses_early_late_missed_and_invented_contacts() {
    let mut dice = Dice::new(15);
    let mut work = Workspace::default();
    let mut refused = 0;
    while refused < 200 {
        let case = case(&mut dice, true);
        let Some(good) = case.contact(&mut work) else { continue };
        // Only head-on contacts change the gap fast enough to tell.
        let rate = (case.gap(good.time_s) - case.gap(good.time_s - 1e-4)) / 1e-4;
        if rate > -0.5 || good.time_s < case.start() + 1e-3 {
            continue;
        }
        let at = |time_s: f64| Some(Contact { time_s, gap: case.gap(time_s), ..good });
        let mut tally = Tally::default();
        assert!(case.check(Some(good), &mut tally).is_ok());
        assert!(case.check(at(good.time_s - 1e-4), &mut tally).is_err(), "early");
        assert!(case.check(at(good.time_s + 1e-5), &mut tally).is_err(), "late");
        assert!(case.check(None, &mut tally).is_err(), "missed");
        assert!(case.check(Some(Contact { gap: good.gap + 1e-7, ..good }), &mut tally).is_err(), "wrong gap");
        refused += 1;
    }
}
