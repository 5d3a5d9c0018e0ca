//! Look–compute–move without an engine: points, rounds, and times.
//!
//! In: a rule, a setup, a schedule (or a demon) and where the robots are. Out: where they are later. Nothing
//! else moves them.

use super::demon::greedy;
use super::frame::Visible;
use super::schedule::{Cycle, Moves, Schedule};
use super::{Decision, Demon, Frame, Rule, Setup, Snapshot};
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// Where all robots are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    /// Where.
    pub at: Vec<Vec2>,
    /// Their lights.
    pub light: Vec<u8>,
    /// Their displacements during the last round.
    pub moved: Vec<Vec2>,
}

impl Robots {
    /// Robots at rest, with light 0.
    #[must_use]
    pub fn at(at: Vec<Vec2>) -> Robots {
        let n = at.len();
        Robots { at, light: vec![0; n], moved: vec![Vec2::ZERO; n] }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Greatest distance of two of them.
    #[must_use]
    pub fn diameter(&self) -> f64 {
        let far = |p: &Vec2| self.at.iter().map(|q| (*q - *p).norm()).fold(0.0, math::max);
        self.at.iter().map(far).fold(0.0, math::max)
    }

    /// Their centre of gravity.
    #[must_use]
    pub fn centre(&self) -> Vec2 {
        self.at.iter().fold(Vec2::ZERO, |s, p| s + *p) * (1.0 / self.len().max(1) as f64)
    }

    /// Sum of the squared distances from their centre of gravity.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let c = self.centre();
        self.at.iter().map(|p| (*p - c).norm2()).sum()
    }

    /// The places where they are, with how many in each, in the order of the first robot there.
    #[must_use]
    pub fn towers(&self, same_m: f64) -> Vec<(Vec2, usize)> {
        let mut towers: Vec<(Vec2, usize)> = Vec::new();
        for p in &self.at {
            match towers.iter_mut().find(|t| (t.0 - *p).norm() <= same_m) {
                Some(tower) => tower.1 += 1,
                None => towers.push((*p, 1)),
            }
        }
        towers
    }

    fn visible(&self) -> Vec<Visible> {
        (0..self.len())
            .map(|k| Visible { robot: k as u32, at: self.at[k], light: self.light[k], moved: self.moved[k] })
            .collect()
    }
}

/// What one robot sees, in the frame of that round or in a given one.
#[must_use]
pub fn look(setup: &Setup, robots: &Robots, robot: usize, round: u64, frame: Option<Frame>) -> Snapshot {
    let frame = frame.unwrap_or_else(|| setup.frame(robot as u32, round));
    setup.snapshot(robot as u32, &robots.visible(), frame)
}

/// What one robot decides: the decision in its own frame, and the target in the world.
#[must_use]
pub fn decide(
    rule: &dyn Rule,
    setup: &Setup,
    robots: &Robots,
    robot: usize,
    round: u64,
    frame: Option<Frame>,
) -> (Decision, Vec2) {
    let frame = frame.unwrap_or_else(|| setup.frame(robot as u32, round));
    setup.decide(rule, robot as u32, &robots.visible(), round, frame)
}

/// Who is active in a round of a schedule by rounds.
#[must_use]
pub fn active(rule: &dyn Rule, setup: &Setup, schedule: &Schedule, robots: &Robots, round: u64) -> Vec<bool> {
    let n = robots.len() as u32;
    match schedule {
        Schedule::Adversary { k } => greedy(rule, setup, *k, robots, round),
        _ => (0..n).map(|r| schedule.active(setup.seed, round, r, n)).collect(),
    }
}

/// One round of a schedule by rounds.
pub fn round(
    rule: &dyn Rule,
    setup: &Setup,
    schedule: &Schedule,
    moves: Moves,
    robots: &mut Robots,
    round: u64,
) {
    let active = active(rule, setup, schedule, robots, round);
    step(rule, setup, robots, round, &active, &mut |_, _| None, &mut |robot, target, robots| {
        let way = (target - robots.at[robot]).norm();
        moves.share(setup.seed, robot as u32, round, way)
    });
}

/// Rounds of a schedule by rounds, from round 0; stops before a round when `done` says so. Answers how many
/// rounds were played.
pub fn rounds(
    rule: &dyn Rule,
    setup: &Setup,
    (schedule, moves): (&Schedule, Moves),
    robots: &mut Robots,
    most: u64,
    done: impl FnMut(&Robots) -> bool,
) -> u64 {
    until(done, robots, most, |robots, r| round(rule, setup, schedule, moves, robots, r))
}

/// Plays rounds until it is done, or `most`; answers how many.
fn until(
    mut done: impl FnMut(&Robots) -> bool,
    robots: &mut Robots,
    most: u64,
    mut play: impl FnMut(&mut Robots, u64),
) -> u64 {
    for r in 0..most {
        if done(robots) {
            return r;
        }
        play(robots, r);
    }
    most
}

/// Rounds against a demon. Stops as [`rounds`].
pub fn against(
    rule: &dyn Rule,
    setup: &Setup,
    demon: &mut dyn Demon,
    robots: &mut Robots,
    most: u64,
    done: impl FnMut(&Robots) -> bool,
) -> u64 {
    until(done, robots, most, |robots, r| {
        let before = robots.clone();
        let active = demon.active(&before, r);
        let frames: Vec<Option<Frame>> = (0..before.len()).map(|k| demon.frame(&before, r, k)).collect();
        step(rule, setup, robots, r, &active, &mut |k, _| frames[k], &mut |k, target, robots| {
            demon.share(robots, k, target).unwrap_or(1.0)
        });
    })
}

/// All active robots look at the same moment, then all of them have moved.
fn step(
    rule: &dyn Rule,
    setup: &Setup,
    robots: &mut Robots,
    round: u64,
    active: &[bool],
    frame: &mut dyn FnMut(usize, &Robots) -> Option<Frame>,
    share: &mut dyn FnMut(usize, Vec2, &Robots) -> f64,
) {
    let mut next = robots.clone();
    for (k, acts) in active.iter().enumerate() {
        if *acts {
            let (decision, target) = decide(rule, setup, robots, k, round, frame(k, robots));
            let part = share(k, target, robots);
            let from = robots.at[k];
            next.at[k] = if part >= 1.0 { target } else { from + (target - from) * part };
            next.light[k] = decision.light;
        }
        next.moved[k] = next.at[k] - robots.at[k];
    }
    *robots = next;
}

/// A robot on its way, in time.
#[derive(Clone, Copy, Debug)]
struct Way {
    from: Vec2,
    to: Vec2,
    start: f64,
    end: f64,
}

impl Way {
    fn at(&self, t: f64) -> Vec2 {
        if t <= self.start {
            self.from
        } else if t >= self.end {
            self.to
        } else {
            self.from + (self.to - self.from) * ((t - self.start) / (self.end - self.start))
        }
    }
}

/// Plays in time, measured in rounds, until a time: any schedule. Robots see others where they are at the
/// moment of the look, on their way or not. In schedules by rounds a move takes the share `travel` of it. A new
/// light is seen from the start of the move on.
///
/// `watch` is told after every look who looked, when, and where all robots are then.
pub fn in_time(
    rule: &dyn Rule,
    setup: &Setup,
    (schedule, moves, travel): (&Schedule, Moves, f64),
    robots: &mut Robots,
    until: f64,
    mut watch: impl FnMut(usize, f64, &Robots),
) {
    let n = robots.len() as u32;
    let mut ways: Vec<Way> =
        robots.at.iter().map(|p| Way { from: *p, to: *p, start: 0.0, end: 0.0 }).collect();
    let next = |k: u32, last: Option<&Cycle>| schedule.cycle(setup.seed, k, n, last, travel);
    let mut cycles: Vec<Option<Cycle>> = (0..n).map(|k| next(k, None)).collect();
    // Where each robot was seen at the looks of each other one before: displacements are as long as a cycle.
    let mut seen_before: Vec<Option<Vec<Vec2>>> = vec![None; robots.len()];
    let mut lights: Vec<(f64, u8)> = robots.light.iter().map(|l| (0.0, *l)).collect();
    loop {
        let due = (0..robots.len()).filter(|k| cycles[*k].is_some_and(|c| c.look < until));
        let time = |k: &usize| cycles[*k].map_or(f64::INFINITY, |c| c.look);
        let Some(k) = due.min_by(|a, b| time(a).total_cmp(&time(b)).then(a.cmp(b))) else { break };
        let Some(cycle) = cycles[k] else { break };
        robots.at = ways.iter().map(|w| w.at(cycle.look)).collect();
        show(&mut robots.light, &lights, cycle.look);
        let before = seen_before[k].replace(robots.at.clone());
        let mut view = robots.clone();
        view.moved = match before {
            Some(before) => robots.at.iter().zip(&before).map(|(a, b)| *a - *b).collect(),
            None => vec![Vec2::ZERO; robots.len()],
        };
        if let Schedule::Adversary { k: bound } = schedule
            && !greedy(rule, setup, *bound, &view, cycle.round)[k]
        {
            watch(k, cycle.look, robots);
            cycles[k] = next(k as u32, Some(&cycle));
            continue;
        }
        let (decision, target) = decide(rule, setup, &view, k, cycle.round, None);
        let from = robots.at[k];
        let part = moves.share(setup.seed, k as u32, cycle.round, (target - from).norm());
        let to = if part >= 1.0 { target } else { from + (target - from) * part };
        ways[k] = Way { from, to, start: cycle.start, end: cycle.end };
        lights[k] = (cycle.start, decision.light);
        watch(k, cycle.look, robots);
        cycles[k] = next(k as u32, Some(&cycle));
    }
    robots.at = ways.iter().map(|w| w.at(until)).collect();
    show(&mut robots.light, &lights, until);
    robots.moved = vec![Vec2::ZERO; robots.len()];
}

/// Lights that are due.
fn show(shown: &mut [u8], lights: &[(f64, u8)], now: f64) {
    for (light, (from, to)) in shown.iter_mut().zip(lights) {
        if *from <= now {
            *light = *to;
        }
    }
}
