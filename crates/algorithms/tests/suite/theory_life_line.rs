//! The life line of Pactole (`Volumes/NoCollisionAndPath.v`) as tests: a chain of robots from a base to a robot that
//! goes where it likes, in which nobody meets anybody; its invariants, and what breaks it.

use crate::common::draw;
use std::f64::consts::TAU;
use swarmyard_algorithms::lcm::rules::LifeLine;
use swarmyard_algorithms::lcm::{
    Decision, Frames, Moves, Needs, Robots, Rule, Schedule, Setup, Snapshot, play,
};
use swarmyard_base::chance::Draw;
use swarmyard_base::{Vec2, math};

/// Longest way of a round, m.
const STEP: f64 = 0.1;
/// What rounding may do to a distance.
const BIT: f64 = 1e-10;

/// Where the free robot wants to go.
#[derive(Clone, Copy, Debug)]
enum Walk {
    Straight,
    Circle,
    /// Another direction and length in every round.
    Drunk,
    /// Straight out and straight back, again and again.
    Shuttle,
    /// Onto the nearest robot that has set out.
    Chase,
    /// Onto the highest number that has set out.
    ChaseLast,
    /// Straight out; then back to the nearest one, up to a step, and away from the one behind that.
    Tease,
    /// Each of these for a while.
    Moody,
}

const WALKS: [Walk; 8] = [
    Walk::Straight,
    Walk::Circle,
    Walk::Drunk,
    Walk::Shuttle,
    Walk::Chase,
    Walk::ChaseLast,
    Walk::Tease,
    Walk::Moody,
];

/// A chain in the course of being played.
struct Line {
    rule: LifeLine,
    setup: Setup,
    robots: Robots,
    /// Way of the free robot in a round, m.
    speed: f64,
    walk: Walk,
    /// How often what happened.
    withdrawn: u32,
    stuck: u32,
    set_out: u32,
    /// The least distance of two at any moment, in steps.
    nearest: f64,
}

impl Line {
    fn new(robots: Robots, sees_m: f64, keep: f64, walk: Walk, seed: u64) -> Line {
        let frames = Frames { rotate: true, mirror: true, redraw: true, scale: false };
        Line {
            rule: LifeLine { step_m: STEP, keep, noise_rad: 0.0 },
            setup: Setup { seed, frames, sees_m, names: true, place: true, ..Setup::default() },
            robots,
            speed: STEP,
            walk,
            withdrawn: 0,
            stuck: 0,
            set_out: 0,
            nearest: f64::INFINITY,
        }
    }

    fn waits(&self, k: usize) -> bool {
        let r = &self.robots;
        k > 0 && r.light[k] == LifeLine::FRESH && r.at[k].norm() <= self.setup.same_m
    }

    /// Has set out, and not withdrawn.
    fn lives(&self, k: usize) -> bool {
        !self.waits(k) && self.robots.light[k] != LifeLine::GONE
    }

    fn is_stuck(&self, k: usize) -> bool {
        self.robots.light[k] == LifeLine::STUCK
    }

    fn living(&self) -> Vec<usize> {
        (0..self.robots.len()).filter(|k| self.lives(*k)).collect()
    }

    fn somebody_waits(&self) -> bool {
        (0..self.robots.len()).any(|k| self.waits(k))
    }

    fn far(&self, a: usize, b: usize) -> f64 {
        (self.robots.at[a] - self.robots.at[b]).norm()
    }

    /// Where the free robot goes in this round: `speed` at most.
    fn free(&self, round: u64) -> Vec2 {
        let d = draw(1000 * self.setup.seed + round);
        let here = self.robots.at[0];
        let onto = |k: Option<usize>| {
            let way = k.map_or(Vec2::ZERO, |k| self.robots.at[k] - here);
            if way.norm() <= self.speed { way } else { way * (self.speed / way.norm()) }
        };
        let ahead = |angle: f64| Vec2::at_angle(angle) * self.speed;
        let others = || self.living().into_iter().filter(|k| *k > 0);
        let nearest = |but: Option<usize>| {
            let others = others().filter(|k| Some(*k) != but);
            others.min_by(|a, b| self.far(0, *a).total_cmp(&self.far(0, *b)))
        };
        let walk = match self.walk {
            Walk::Moody => WALKS[draw(self.setup.seed + round / 17).below(0, 7) as usize],
            walk => walk,
        };
        match walk {
            Walk::Straight | Walk::Moody => ahead(0.4),
            Walk::Circle => ahead(0.4 + round as f64 * self.speed / (2.0 * self.setup.sees_m)),
            Walk::Drunk => ahead(d.between(0, 0.0, TAU)) * d.uniform(1),
            Walk::Shuttle => ahead(if (round / 60).is_multiple_of(2) { 0.4 } else { 0.4 + TAU / 2.0 }),
            Walk::Chase => onto(nearest(None)),
            Walk::Tease if round < 40 => ahead(0.4),
            Walk::Tease => match (nearest(None), nearest(nearest(None))) {
                (Some(first), Some(second)) if self.far(0, first) <= STEP => {
                    ahead((here - self.robots.at[second]).angle())
                }
                (first, _) => onto(first),
            },
            Walk::ChaseLast => onto(others().max()),
        }
    }

    /// One round in which everybody acts; answers what was before.
    fn round(&mut self, rule: &dyn Rule, round: u64) -> Robots {
        let before = self.robots.clone();
        let to = before.at[0] + self.free(round);
        play::round(rule, &self.setup, &Schedule::Full, Moves::Rigid, &mut self.robots, round);
        self.robots.at[0] = to;
        before
    }

    /// Two that live are in one place, at the end of the round.
    fn collision(&self) -> Option<(usize, usize)> {
        let living = self.living();
        let mut pairs = living.iter().flat_map(|a| living.iter().map(move |b| (*a, *b)));
        pairs.find(|(a, b)| a < b && self.far(*a, *b) <= BIT)
    }

    /// One that lives or waits, and has no living one of lower number in sight.
    fn gap(&self) -> Option<usize> {
        let sees = |k: usize| (0..k).any(|j| self.lives(j) && self.far(j, k) <= self.setup.sees_m + BIT);
        (1..self.robots.len()).find(|k| self.robots.light[*k] != LifeLine::GONE && !sees(*k))
    }

    /// Somebody who has set out is near the base: the next one that sets out sees it.
    fn reaches_the_base(&self) -> bool {
        let near = self.setup.sees_m - 2.0 * STEP + BIT;
        self.living().iter().any(|k| self.robots.at[*k].norm() <= near)
    }

    /// What the proof keeps up from round to round, beside the theorem itself.
    fn assert_invariants(&mut self, before: &Robots, what: &str) {
        let now = Line { robots: before.clone(), setup: self.setup.clone(), ..*self };
        assert!(self.reaches_the_base(), "{what}: the base has lost sight of all");
        for k in 1..before.len() {
            let moved = self.robots.at[k] - before.at[k];
            assert!(moved.norm() <= STEP + BIT, "{what}: robot {k} went too far");
            self.set_out += u32::from(now.waits(k) && self.lives(k));
            if now.lives(k) && !self.lives(k) {
                self.withdrawn += 1;
                assert!(now.is_stuck(k), "{what}: robot {k} withdrew without a warning");
                assert_eq!(moved, Vec2::ZERO, "{what}: robot {k} withdrew and moved");
            }
            if now.lives(k) && self.lives(k) {
                self.stuck += u32::from(self.is_stuck(k));
                assert!(!self.is_stuck(k) || moved == Vec2::ZERO, "{what}: robot {k} is stuck and moves");
            }
        }
        let line: &Line = self;
        for k in line.living() {
            let drives_out = line.living().iter().any(|j| *j > k && line.far(*j, k) <= STEP);
            assert!(
                !(drives_out && line.is_stuck(k)),
                "{what}: robot {k} is stuck and drives another one out"
            );
            let lower: Vec<usize> = (0..k).filter(|j| line.lives(*j)).collect();
            let in_sight = |far: f64| lower.iter().filter(move |j| line.far(**j, k) <= far + BIT);
            if k > 0 && in_sight(line.setup.sees_m).all(|j| line.is_stuck(*j)) {
                let near = in_sight(line.setup.sees_m - STEP).next();
                assert!(near.is_some(), "{what}: all that robot {k} sees are stuck and may be lost");
            }
        }
    }

    /// Closest approach of living robots during the round, all of which go straight and arrive together: never 0, and
    /// never a step or less of one that moves from one of lower number.
    fn assert_apart_on_the_way(&mut self, before: &Robots, what: &str) {
        let living = self.living();
        for (i, a) in living.iter().enumerate() {
            for b in &living[i + 1..] {
                let (off, end) = (before.at[*b] - before.at[*a], self.robots.at[*b] - self.robots.at[*a]);
                let way = end - off;
                let t = if way.norm2() > 0.0 { (-off.dot(way) / way.norm2()).clamp(0.0, 1.0) } else { 0.0 };
                let least = (off + way * t).norm();
                let moves = self.robots.at[*b] != before.at[*b];
                let bound = if moves { STEP } else { 0.0 };
                assert!(least > bound, "{what}: robots {a} and {b} came to {least}");
                self.nearest = math::min(self.nearest, least / STEP);
            }
        }
    }
}

/// The free robot one step from the base, and all others in it.
fn at_base(n: usize) -> Robots {
    let mut at = vec![Vec2::ZERO; n];
    at[0] = Vec2::new(1.5 * STEP, 0.0);
    Robots::at(at)
}

/// `out` robots that have set out already, on a crooked way from the base, farther than a step from each other and each
/// in sight of the next; the others wait.
fn crooked(n: usize, out: usize, sees: f64, seed: u64) -> Robots {
    let d = draw(900 + seed);
    let mut way: Vec<Vec2> = Vec::new();
    let mut index = 0;
    while way.len() < out {
        let (from, most) = way.last().map_or((Vec2::ZERO, sees - 2.0 * STEP), |last| (*last, sees));
        let next = from
            + Vec2::at_angle(d.between(index, 0.0, TAU)) * d.between(index + 1, 1.1 * STEP, 0.999 * most);
        index += 2;
        if way.iter().all(|p| (*p - next).norm() > 1.01 * STEP) {
            way.push(next);
        }
    }
    way.reverse();
    way.resize(n, Vec2::ZERO);
    Robots::at(way)
}

// `validity_conf_init`: no collision and a path, for ever, as long as somebody waits in the base.
#[test]
fn a_life_line_never_breaks_and_nobody_in_it_ever_meets_anybody() {
    let (mut rounds, mut withdrawn, mut stuck, mut set_out) = (0, 0, 0, 0);
    let mut nearest = f64::INFINITY;
    for walk in WALKS {
        for sees in [7.001 * STEP, 8.0 * STEP, 12.0 * STEP] {
            for keep in [0.0, 0.5, 0.9, 1.0 - 1e-9] {
                for seed in 0..3 {
                    let start =
                        if seed == 0 { at_base(20) } else { crooked(20, 3 + seed as usize * 3, sees, seed) };
                    let mut line = Line::new(start, sees, keep, walk, seed);
                    let rule = line.rule;
                    for r in 0..120 {
                        if !line.somebody_waits() {
                            break;
                        }
                        let what = format!("{walk:?}, sees {sees}, keeps {keep}, seed {seed}, round {r}");
                        let before = line.round(&rule, r);
                        assert_eq!(line.collision(), None, "{what}");
                        assert_eq!(line.gap(), None, "{what}");
                        line.assert_invariants(&before, &what);
                        line.assert_apart_on_the_way(&before, &what);
                        rounds += 1;
                    }
                    withdrawn += line.withdrawn;
                    stuck += line.stuck;
                    set_out += line.set_out;
                    nearest = math::min(nearest, line.nearest);
                }
            }
        }
    }
    println!("life line: {rounds} rounds, {set_out} set out, {stuck} times stuck, {withdrawn} withdrew;");
    println!("life line: never nearer than {nearest:.1e} of a step");
    assert!(set_out > 500 && stuck > 500 && withdrawn > 500, "all of it happens");
}

/// First round in which the theorem fails, of all walks and seeds.
fn first_failure(rule: &dyn Rule, sees: f64, speed: f64, walks: &[Walk]) -> Option<(u64, String)> {
    let mut first: Option<(u64, String)> = None;
    for walk in walks {
        for seed in 0..8 {
            let start = if seed == 0 { at_base(20) } else { crooked(20, 3 + seed as usize % 10, sees, seed) };
            let mut line = Line::new(start, sees, 0.9, *walk, seed);
            line.speed = speed;
            for r in 0..120 {
                if !line.somebody_waits() || first.as_ref().is_some_and(|f| f.0 <= r) {
                    break;
                }
                line.round(rule, r);
                let met = line.collision().map(|pair| format!("{walk:?}, {seed}: {pair:?} meet"));
                let lost = line.gap().map(|k| format!("{walk:?}, {seed}: {k} sees nobody"));
                if let Some(why) = met.or(lost) {
                    first = Some((r, why));
                }
            }
        }
    }
    first
}

fn plain() -> LifeLine {
    LifeLine { step_m: STEP, keep: 0.9, noise_rad: 0.0 }
}

/// A rule without one of its lights.
struct Without {
    light: u8,
    instead: u8,
}

impl Rule for Without {
    fn name(&self) -> &'static str {
        "without"
    }
    fn decide(&self, look: &Snapshot, chance: Draw) -> Decision {
        let decision = plain().decide(look, chance);
        if decision.light == self.light { Decision { light: self.instead, ..decision } } else { decision }
    }
    fn needs(&self) -> Needs {
        plain().needs()
    }
}

#[test]
fn a_life_line_fails_when_the_free_robot_is_faster() {
    let found = first_failure(&plain(), 8.0 * STEP, 1.3 * STEP, &[Walk::Straight]);
    println!("faster by 0.3: {found:?}");
    assert!(found.is_some());
    assert_eq!(first_failure(&plain(), 8.0 * STEP, STEP, &[Walk::Straight]), None);
}

#[test]
fn a_life_line_in_which_nobody_withdraws_fails() {
    let stays = Without { light: LifeLine::GONE, instead: LifeLine::STUCK };
    let found = first_failure(&stays, 8.0 * STEP, STEP, &[Walk::Chase]);
    println!("nobody withdraws: {found:?}");
    assert!(found.is_some_and(|f| f.1.contains("meet")));
    assert_eq!(first_failure(&plain(), 8.0 * STEP, STEP, &[Walk::Chase]), None);
}

#[test]
fn a_life_line_without_the_light_that_warns_fails() {
    let dark = Without { light: LifeLine::STUCK, instead: LifeLine::GOES };
    let found = first_failure(&dark, 7.001 * STEP, STEP, &[Walk::Tease]);
    println!("without the warning: {found:?}");
    assert!(found.is_some());
    assert_eq!(first_failure(&plain(), 7.001 * STEP, STEP, &[Walk::Tease]), None);
}

#[test]
fn a_life_line_of_robots_that_see_too_short_a_way_fails() {
    let found = first_failure(&plain(), 4.0 * STEP, STEP, &[Walk::Drunk, Walk::Tease]);
    println!("sees four steps: {found:?}");
    assert!(found.is_some());
}

#[test]
fn a_life_line_fails_to_reach_the_base_when_nobody_waits_there_any_more() {
    let mut line = Line::new(at_base(4), 8.0 * STEP, 0.9, Walk::Straight, 1);
    let rule = line.rule;
    let lost = (0..200).find(|r| {
        let waited = line.somebody_waits();
        line.round(&rule, *r);
        assert_eq!((line.collision(), line.gap()), (None, None));
        assert!(line.reaches_the_base() || !waited);
        !line.reaches_the_base()
    });
    println!("three in the base: it is lost in round {lost:?}");
    assert!(lost.is_some());
}
