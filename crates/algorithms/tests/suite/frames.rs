//! What holds for every rule: its result does not depend on private frames or on the past, and every trace is
//! one that its schedule allows.

use crate::common::{self, cloud, schedules};
use std::collections::BTreeMap;
use swarmyard_algorithms::lcm::{Frames, Moves, NAMES, Robots, Schedule, Setup, Tuning, by_name, play};
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// Rules whose direction is drawn: only the length of their way is the same in every frame.
const DRAWN: &[&str] = &["scatter"];

fn robots(seed: u64, wanted: u32) -> Robots {
    let n = if wanted > 0 { wanted as usize } else { 7 };
    let mut robots = cloud(n, seed);
    if n > 2 {
        robots.at.extend([robots.at[0], robots.at[1]]);
    }
    let n = robots.at.len();
    let mut robots = Robots::at(robots.at);
    robots.moved = cloud(n, seed + 1).at;
    robots
}

fn tuning() -> Tuning {
    Tuning { pattern: cloud(7, 99).at, goals: cloud(9, 98).at, ..Tuning::default() }
}

#[test]
fn every_rule_gives_the_same_result_in_every_frame_it_allows() {
    for name in NAMES {
        let rule = by_name(name, &tuning()).expect("there is such a rule");
        let needs = rule.needs();
        let base = Setup { names: needs.names, place: needs.place, ..Setup::default() };
        let frames = Frames {
            rotate: !needs.axes,
            scale: !needs.unit,
            mirror: !needs.axes && !needs.hand,
            redraw: true,
        };
        let mut moved = 0;
        for seed in 0..30 {
            // A pattern is of robots in different places.
            let robots = if *name == "pattern" { cloud(7, seed) } else { robots(seed, needs.robots) };
            let private = Setup { frames, ..base.clone() };
            for k in 0..robots.len() {
                let plain = play::decide(rule.as_ref(), &base, &robots, k, seed, None).1 - robots.at[k];
                let own = play::decide(rule.as_ref(), &private, &robots, k, seed, None).1 - robots.at[k];
                let off = if DRAWN.contains(name) {
                    (plain.norm() - own.norm()).abs()
                } else {
                    (plain - own).norm()
                };
                assert!(off < 1e-7, "`{name}`, seed {seed}, robot {k}: {plain:?} and {own:?}");
                moved += u32::from(plain.norm() > 1e-9);
            }
        }
        assert!(moved > 0, "`{name}` never moved: this test would prove nothing");
    }
}

#[test]
fn minbox_fails_to_give_the_same_result_in_turned_frames() {
    let rule = by_name("minbox", &Tuning::default()).expect("there is such a rule");
    let turned = Setup { frames: Frames { rotate: true, ..Frames::default() }, ..Setup::default() };
    let robots = robots(1, 0);
    let goals = (0..robots.len()).map(|k| play::decide(rule.as_ref(), &turned, &robots, k, 0, None).1);
    let goals: Vec<Vec2> = goals.collect();
    assert!(goals.iter().any(|g| (*g - goals[0]).norm() > 0.1));
}

#[test]
fn robots_that_start_again_where_they_were_go_on_as_they_would_have() {
    for name in NAMES {
        let rule = by_name(name, &Tuning::default()).expect("there is such a rule");
        let needs = rule.needs();
        let setup = Setup { names: needs.names, place: needs.place, ..Setup::default() };
        let mut through = robots(3, needs.robots);
        let schedule = Schedule::Random { p: 0.6 };
        for r in 0..10 {
            if r == 5 {
                // A new world with nothing but what is there now.
                through = Robots {
                    at: through.at.clone(),
                    light: through.light.clone(),
                    moved: through.moved.clone(),
                };
            }
            let twin = through.clone();
            let mut other = twin.clone();
            play::round(rule.as_ref(), &setup, &schedule, Moves::Rigid, &mut through, r);
            play::round(rule.as_ref(), &setup, &schedule, Moves::Rigid, &mut other, r);
            assert_eq!(through, other, "`{name}`");
            for k in 0..twin.len() {
                let look = play::look(&setup, &twin, k, r, None);
                let d = common::draw(r);
                assert_eq!(rule.decide(&look, d), rule.decide(&look.clone(), d), "`{name}`");
            }
        }
    }
}

#[test]
fn every_move_goes_straight_to_its_target_by_delta_at_least() {
    let (rule, setup) =
        (by_name("centre-of-gravity", &Tuning::default()).expect("it is there"), Setup::default());
    for schedule in schedules() {
        for moves in [Moves::Rigid, Moves::Flexible { delta_m: 0.3 }, Moves::Shortest { delta_m: 0.3 }] {
            let mut robots = cloud(6, 4);
            for r in 0..100 {
                let before = robots.clone();
                let active = play::active(rule.as_ref(), &setup, &schedule, &before, r);
                play::round(rule.as_ref(), &setup, &schedule, moves, &mut robots, r);
                for (k, is_active) in active.into_iter().enumerate() {
                    let went = robots.at[k] - before.at[k];
                    if !is_active {
                        assert_eq!(went, Vec2::ZERO, "who is not active stays");
                        continue;
                    }
                    let way = play::decide(rule.as_ref(), &setup, &before, k, r, None).1 - before.at[k];
                    assert!(went.cross(way).abs() <= 1e-12 * (1.0 + way.norm2()));
                    assert!(went.norm() <= way.norm() + 1e-12 && went.dot(way) >= 0.0);
                    assert!(went.norm() >= math::min(way.norm(), 0.3) - 1e-12, "{moves:?}");
                }
            }
        }
    }
}

#[test]
fn asynchronous_cycles_follow_each_other_and_everybody_looks_again_and_again() {
    let schedule = Schedule::Async { wait: 0.5, compute: 0.3, travel: 0.7 };
    let mut looks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for robot in 0..6 {
        let mut last = None;
        for _ in 0..500 {
            let next = schedule.cycle(3, robot, 6, last.as_ref(), 0.8).expect("there is always another");
            assert!(next.look <= next.start && next.start <= next.end);
            assert!(last.is_none_or(|l| l.end <= next.look), "no look before the arrival");
            looks.entry(robot).or_default().push(next.look);
            last = Some(next);
        }
    }
    let mean: f64 = looks.values().map(|l| l[499] / 500.0).sum::<f64>() / 6.0;
    // 1.5 rounds on average, with a standard error of 0.017.
    assert!((mean - 1.5).abs() < 0.09, "{mean}");
}

#[test]
fn others_are_seen_while_they_move() {
    // Robot 1 goes from 1 to the middle at 0.5 in the time from 0 to 1; robot 0 looks when it is half-way.
    let script =
        swarmyard_algorithms::lcm::Script::from_csv("0.5, 0.5, 0.5\n0, 0, 1\n").expect("it is well written");
    let mut robots = Robots::at(vec![Vec2::ZERO, Vec2::new(1.0, 0.0)]);
    let rule = by_name("midpoint", &Tuning::default()).expect("there is such a rule");
    let how = (&Schedule::Script(script), Moves::Rigid, 0.8);
    let mut seen = Vec::new();
    play::in_time(rule.as_ref(), &Setup::default(), how, &mut robots, 2.0, |k, t, now| {
        seen.push((k, t, now.at[1].x));
    });
    assert_eq!(seen, [(1, 0.0, 1.0), (0, 0.5, 0.75)]);
    assert_eq!(robots.at, [Vec2::new(0.375, 0.0), Vec2::new(0.5, 0.0)]);
}
