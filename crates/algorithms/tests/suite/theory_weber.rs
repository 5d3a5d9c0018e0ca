//! Theorems of Pactole about the Weber point (`Gathering/InR2/Weber`) as tests: robots that go there get onto one line
//! and gather, in full asynchrony and with moves that stop anywhere; and what the theorems exclude.

use crate::common::{self, any_frames, cloud, ring};
use swarmyard_algorithms::geometry::{geometric_median, in_convex, width};
use swarmyard_algorithms::lcm::rules::{Gravity, Weber};
use swarmyard_algorithms::lcm::{Cycle, Moves, Multiplicity, Robots, Rule, Schedule, Script, Setup, play};
use swarmyard_base::{Vec2, math};

/// Robots nearer than this are in one place, and the Weber point that robots see is never farther off than this.
const SAME: f64 = 1e-9;

fn weber(points: &[Vec2]) -> Vec2 {
    let towers = Robots::at(points.to_vec()).towers(SAME);
    geometric_median(&towers.iter().map(|t| (t.0, t.1 as u32)).collect::<Vec<_>>())
}

fn towers(sizes: &[usize]) -> Robots {
    let places = ring(sizes.len().max(3), 2.0, 0.4);
    Robots::at(sizes.iter().zip(places).flat_map(|(n, p)| vec![p; *n]).collect())
}

fn line(xs: &[f64]) -> Robots {
    Robots::at(xs.iter().map(|x| Vec2::new(*x, 0.5 * x)).collect())
}

/// Starts whose Weber point is unique.
fn starts() -> Vec<Robots> {
    let mut starts: Vec<Robots> = (3..11).map(|n| cloud(n, 140 + n as u64)).collect();
    starts.extend((0..4).map(|k| cloud(4, 160 + k)));
    starts.extend((3..9).map(|n| Robots::at(ring(n, 3.0, 0.2))));
    starts.extend([&[1, 2][..], &[3, 1], &[2, 2, 1], &[2, 2, 2], &[1, 1, 1, 1], &[3, 3, 2, 2]].map(towers));
    starts.extend([line(&[0.0, 1.0, 2.0]), line(&[0.0, 0.3, 2.0, 2.2, 9.0]), line(&[0.0, 1.0, 1.0, 5.0])]);
    let mut centred = ring(5, 2.0, 0.0);
    centred.push(Vec2::ZERO);
    starts.push(Robots::at(centred));
    let thin = |n: usize| cloud(n, 170).at.iter().map(|p| Vec2::new(p.x, 0.05 * p.y)).collect();
    starts.extend([Robots::at(thin(5)), Robots::at(thin(8))]);
    starts
}

/// Fair schedules in time, with how many rounds are enough.
fn schedules() -> Vec<(Schedule, f64)> {
    vec![
        (Schedule::Async { wait: 0.5, compute: 0.2, travel: 0.8 }, 120.0),
        // Targets are old when robots set out, and they are on their way for long.
        (Schedule::Async { wait: 0.1, compute: 3.0, travel: 2.0 }, 300.0),
        (Schedule::Async { wait: 1.0, compute: 0.0, travel: 0.1 }, 90.0),
        (Schedule::Random { p: 0.4 }, 160.0),
        (Schedule::Full, 60.0),
    ]
}

fn moves() -> [(Moves, f64); 3] {
    [
        (Moves::Flexible { delta_m: 0.3 }, 0.3),
        (Moves::Flexible { delta_m: 1.5 }, 1.5),
        (Moves::Shortest { delta_m: 0.4 }, 0.4),
    ]
}

/// What the proof keeps count of: where each robot looked last, and whether it stayed there.
struct Count {
    w: Vec2,
    least: f64,
    from: Vec<Vec2>,
    stays: Vec<bool>,
    /// Looks of robots that had not come to rest at the Weber point.
    useful: u32,
    /// How far the Weber point of all robots was ever from where it was.
    drift: f64,
}

impl Count {
    fn new(robots: &Robots, delta: f64) -> Count {
        let (w, n) = (weber(&robots.at), robots.len());
        let least = math::min(delta, 1.0);
        Count { w, least, from: robots.at.clone(), stays: vec![true; n], useful: 0, drift: 0.0 }
    }

    fn is_there(&self, p: Vec2) -> bool {
        (p - self.w).norm() <= SAME
    }

    /// The measure of the proof: way left since the last looks, robots that stay elsewhere, robots that do not rest there.
    fn measure(&self) -> f64 {
        let of = |k: usize| {
            let (stays, there) = (self.stays[k], self.is_there(self.from[k]));
            (self.from[k] - self.w).norm()
                + f64::from(u8::from(stays && !there))
                + f64::from(u8::from(!(stays && there)))
        };
        (0..self.from.len()).map(of).sum()
    }

    fn looked(&mut self, k: usize, robots: &Robots) {
        self.drift = math::max(self.drift, (weber(&robots.at) - self.w).norm());
        for (from, at) in self.from.iter().zip(&robots.at) {
            let on_its_way = if self.is_there(*from) {
                self.is_there(*at)
            } else {
                in_convex(&[*from, self.w], *at, SAME)
            };
            assert!(on_its_way, "everybody stays or goes straight to the Weber point");
        }
        let before = self.measure();
        let rests = self.stays[k] && self.is_there(self.from[k]);
        (self.from[k], self.stays[k]) = (robots.at[k], self.is_there(robots.at[k]));
        let fall = if rests { 0.0 } else { self.least };
        assert!(
            self.measure() <= before - fall + 1e-7,
            "{} after {before}: by {fall} at least",
            self.measure()
        );
        self.useful += u32::from(!rests);
    }
}

// Weber_point.v: `weber_contract`, and `weber_contract_unique`.
#[test]
fn robots_that_come_nearer_to_their_weber_point_leave_it_where_it_is() {
    let (mut worst, mut moved) = (0.0, 0);
    for seed in 0..800 {
        let robots = cloud(3 + seed as usize % 12, 1000 + seed);
        let w = weber(&robots.at);
        let d = common::draw(seed);
        let share = |k: usize| match d.uniform(500 + k as u32) {
            u if u < 0.2 => 0.0,
            u if u < 0.4 => 1.0,
            // Nearly there.
            u if u < 0.6 => 1.0 - math::pow(10.0, -d.between(700 + k as u32, 1.0, 7.0)),
            _ => d.uniform(600 + k as u32),
        };
        let nearer = |c: Vec2| -> Vec<Vec2> {
            let go = |(k, p): (usize, &Vec2)| if share(k) == 1.0 { c } else { *p + (c - *p) * share(k) };
            robots.at.iter().enumerate().map(go).collect()
        };
        worst = math::max(worst, (weber(&nearer(w)) - w).norm());
        let c = robots.centre();
        moved += u32::from((Robots::at(nearer(c)).centre() - c).norm() > 0.01);
    }
    println!(
        "the Weber point moved by {worst:.1e} at most, the centre of gravity by a centimetre in {moved} of 800"
    );
    assert!(worst < SAME);
    assert!(moved > 700, "another centre does move");
}

// Gather_flex_async.v: `weber_correct`, with its invariant and its measure.
#[test]
fn weber_gathers_in_asynchrony_from_every_start_whose_weber_point_is_unique() {
    let (mut drift, mut fullest) = (0.0, 0.0);
    for (s, start) in starts().into_iter().enumerate() {
        for (k, (schedule, rounds)) in schedules().into_iter().enumerate() {
            for (moves, delta) in moves() {
                let setup = any_frames((s + 100 * k) as u64);
                let mut robots = start.clone();
                let mut count = Count::new(&start, delta);
                let most = count.measure() / count.least;
                let how = (&schedule, moves, 0.8);
                play::in_time(&Weber::Gather, &setup, how, &mut robots, rounds, |k, _, now| {
                    count.looked(k, now)
                });
                let what = format!("start {s}, {schedule:?}, {moves:?}");
                assert!(robots.at.iter().all(|p| count.is_there(*p)), "{what}: {:?}", robots.towers(SAME));
                assert_eq!(robots.towers(2.0 * SAME).len(), 1, "{what}");
                assert!(f64::from(count.useful) <= most, "{what}: {} looks of {most}", count.useful);
                drift = math::max(drift, count.drift);
                fullest = math::max(fullest, f64::from(count.useful) / most);
            }
        }
    }
    println!(
        "weber: the Weber point moved by {drift:.1e} at most; {fullest:.2} of the looks that the proof allows"
    );
    assert!(drift < SAME);
}

// Align_flex_async.v: `weber_correct`: from every start, and for ever.
#[test]
fn weber_align_brings_robots_onto_one_line_in_asynchrony_and_they_stay_on_it() {
    let mut starts = starts();
    starts.extend([line(&[0.0, 1.0, 2.0, 3.0]), towers(&[2, 2]), towers(&[1, 1])]);
    let mut apart = 0;
    for (s, start) in starts.into_iter().enumerate() {
        for (k, (schedule, rounds)) in schedules().into_iter().enumerate() {
            for (moves, _) in moves() {
                let setup = any_frames((s + 100 * k) as u64);
                let mut robots = start.clone();
                let mut last = width(&start.at);
                let how = (&schedule, moves, 0.8);
                play::in_time(&Weber::Align, &setup, how, &mut robots, rounds, |_, _, now| {
                    let now = width(&now.at);
                    assert!(now <= last + 1e-12, "start {s}, {schedule:?}: from {last} to {now}");
                    last = now;
                });
                assert!(width(&robots.at) <= 1.001 * SAME, "start {s}, {schedule:?}: {:?}", robots.at);
                apart += u32::from(robots.towers(SAME).len() > 2);
            }
        }
    }
    println!("weber-align: {apart} runs ended on a line with robots in three places or more");
    assert!(apart > 0, "it does less than gather");
}

/// Robot 0 looks first of all and sets out when all others have long been active; those, in every round from 1 to 40.
fn late(n: usize) -> Schedule {
    let cycle = |look: f64, start: f64, end: f64, round: u64| Cycle { look, start, end, round };
    let mut times = vec![vec![cycle(0.0, 50.0, 51.0, 0)]];
    let busy = |r: u64| cycle(r as f64, r as f64 + 0.1, r as f64 + 0.9, r);
    times.extend((1..n).map(|_| (1..40).map(busy).collect()));
    Schedule::Script(Script::Times(times))
}

#[test]
fn a_target_seen_long_ago_is_still_the_weber_point_and_no_longer_the_centre_of_gravity() {
    for n in 3..10 {
        for (rule, meets) in [(&Weber::Gather as &dyn Rule, true), (&Gravity as &dyn Rule, false)] {
            let mut robots = cloud(n, 30 + n as u64);
            // Its way must not be short: the first robot is far away from the others.
            robots.at[0] = Vec2::new(20.0, 3.0);
            let how = (&late(n), Moves::Rigid, 0.8);
            play::in_time(rule, &any_frames(n as u64), how, &mut robots, 60.0, |_, _, _| {});
            assert_eq!(robots.diameter() < SAME, meets, "`{}`, {n} robots: {:?}", rule.name(), robots.at);
        }
    }
}

#[test]
fn weber_fails_to_gather_an_even_number_of_robots_on_a_line_that_have_many_weber_points() {
    let mut starts =
        vec![line(&[0.0, 1.0]), line(&[0.0, 1.0, 2.0, 3.0]), line(&[0.0, 0.2, 1.0, 2.0, 3.0, 5.0])];
    starts.extend([towers(&[2, 2]), towers(&[1, 1]), towers(&[3, 3])]);
    for (s, start) in starts.into_iter().enumerate() {
        let mut robots = start;
        for r in 0..400 {
            common::rescale(&mut robots);
            let setup = Setup { same_m: 1e-12, ..Setup::default() };
            play::round(&Weber::Gather, &setup, &Schedule::RoundRobin, Moves::Rigid, &mut robots, r);
            assert!(robots.diameter() > 1e-3, "start {s} gathered in round {r}");
        }
    }
    // One robot off the line, and there is only one.
    let mut robots = line(&[0.0, 1.0, 2.0, 3.0]);
    robots.at[1] = Vec2::new(1.0, 1.0);
    let how = (&Schedule::RoundRobin, Moves::Rigid);
    play::rounds(&Weber::Gather, &Setup::default(), how, &mut robots, 4, |_| false);
    assert_eq!(robots.towers(SAME).len(), 1);
}

#[test]
fn weber_fails_without_multiplicity() {
    for sizes in [&[1, 2][..], &[3, 1]] {
        let mut robots = towers(sizes);
        let setup = Setup { multiplicity: Multiplicity::None, ..Setup::default() };
        for r in 0..600 {
            common::rescale(&mut robots);
            play::round(&Weber::Gather, &setup, &Schedule::RoundRobin, Moves::Rigid, &mut robots, r);
            assert!(robots.diameter() > 1e-3, "{sizes:?} gathered in round {r}");
        }
    }
}
