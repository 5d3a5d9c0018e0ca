//! Two robots with compasses that err up to the bounds of Izumi and others 2012: errors that are kept (π/2), that change
//! (π/4), and that change under asynchrony (π/6).
//!
//! Nobody knows any unit and nobody remembers, so the state of two robots between rounds is the bearing of one from
//! the other. Rounds are searched as a graph of bearings: all of a fine grid, with all errors of a grid and all sets of
//! active robots. Asynchrony has more state (what was decided and not yet done): there a lemma is checked over
//! all short runs, and long runs are searched by adversaries that avoid meeting.

use crate::common::draw;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, FRAC_PI_6, PI, TAU};
use swarmyard_algorithms::lcm::rules::{Erring, Errors};
use swarmyard_algorithms::lcm::{
    Compass, Frame, Moves, Robots, Rule, Schedule, Setup, Tuning, by_name, play,
};
use swarmyard_base::Vec2;

/// Where robot `k` goes, looking with that error.
fn target(rule: &dyn Rule, at: [Vec2; 2], k: usize, error: f64) -> Vec2 {
    // Units differ: nobody may rely on them.
    let frame = Frame { turn: error, scale: [1.0, 2.5][k], mirror: false };
    play::decide(rule, &Setup::default(), &Robots::at(at.to_vec()), k, 0, Some(frame)).1
}

fn grid(most: f64, steps: u32) -> Vec<f64> {
    (0..steps).map(|k| most * (2.0 * f64::from(k) / f64::from(steps - 1) - 1.0)).collect()
}

/// All that can happen in one round at a bearing: who was active, as bits, and the new bearing; without what ends
/// in a meeting.
struct Round<'a> {
    at: [Vec2; 2],
    shares: &'a [f64],
    found: Vec<(u8, f64)>,
}

impl Round<'_> {
    fn alone(&mut self, k: usize, to: Vec2) {
        let (here, other) = (self.at[k], self.at[1 - k]);
        if to == here {
            self.found.push((1 << k, (other - here).angle() + if k == 0 { 0.0 } else { PI }));
        } else if to != other {
            for share in self.shares {
                let there = here + (to - here) * *share;
                self.note(1 << k, if k == 0 { other - there } else { there - other });
            }
        }
    }

    fn both(&mut self, to: [Vec2; 2]) {
        let [a, b] = self.at;
        if to[0] == a || to[1] == b {
            // One stays: as if the other were alone, but both were active.
            for (k, there) in to.into_iter().enumerate() {
                if to[1 - k] == self.at[1 - k] {
                    let from = self.found.len();
                    self.alone(k, there);
                    self.found[from..].iter_mut().for_each(|f| f.0 = 3);
                }
            }
            return;
        }
        // If both go, they change places: else they come nearer, and that has an end.
        let whole: &[f64] = &[1.0];
        let shares = if to[0] == b && to[1] == a { whole } else { self.shares };
        for s in shares {
            for t in shares {
                self.note(3, b + (to[1] - b) * *t - a - (to[0] - a) * *s);
            }
        }
    }

    fn note(&mut self, active: u8, apart: Vec2) {
        if apart.norm() > 1e-9 {
            self.found.push((active, apart.angle()));
        }
    }
}

/// The graph of bearings in `cells` parts: what can follow each, as (who was active, cell), where several follow to be on
/// the safe side.
fn bearings(rule: &dyn Rule, errors: [&[f64]; 2], shares: &[f64], cells: usize) -> Vec<Vec<(u8, usize)>> {
    let width = TAU / cells as f64;
    (0..cells)
        .map(|cell| {
            let at = [Vec2::ZERO, Vec2::at_angle((cell as f64 + 0.5) * width)];
            let mut round = Round { at, shares, found: Vec::new() };
            let to: Vec<Vec<Vec2>> =
                (0..2).map(|k| errors[k].iter().map(|e| target(rule, at, k, *e)).collect()).collect();
            (0..2).for_each(|k| to[k].iter().for_each(|t| round.alone(k, *t)));
            to[0].iter().for_each(|a| to[1].iter().for_each(|b| round.both([*a, *b])));
            edges(cell, cells, &round.found)
        })
        .collect()
}

/// Where a cell leads to, by what follows its middle.
fn edges(cell: usize, cells: usize, found: &[(u8, f64)]) -> Vec<(u8, usize)> {
    let width = TAU / cells as f64;
    let mut next: Vec<(u8, usize)> = Vec::new();
    for (active, bearing) in found {
        let cells_on = bearing.rem_euclid(TAU) / width - 0.5;
        if (cells_on - cell as f64).abs() < 1e-9 {
            next.push((*active, cell));
            continue;
        }
        let low = cells_on.floor().rem_euclid(cells as f64) as usize;
        for there in [low % cells, (low + 1) % cells] {
            // A move that does not leave the cell is no progress: it counts as one back.
            next.push((*active, if there == cell { (cell + 1) % cells } else { there }));
        }
    }
    next.sort_unstable();
    next.dedup();
    next
}

/// The greatest number of moves before robots meet; `None` when an adversary that lets everybody act again and
/// again can keep them apart: by going round in circles, or by letting both stay.
fn longest(graph: &[Vec<(u8, usize)>]) -> Option<usize> {
    let n = graph.len();
    let stays = |cell: usize| graph[cell].iter().filter(|e| e.1 == cell).fold(0, |all, e| all | e.0);
    if (0..n).any(|cell| stays(cell) == 3) {
        return None;
    }
    let mut before = vec![0_usize; n];
    let moves = |cell: usize| graph[cell].iter().map(|e| e.1).filter(move |c| *c != cell);
    (0..n).for_each(|cell| moves(cell).for_each(|c| before[c] += 1));
    let mut ready: Vec<usize> = (0..n).filter(|c| before[*c] == 0).collect();
    let (mut done, mut length) = (0, vec![0; n]);
    while let Some(cell) = ready.pop() {
        done += 1;
        for next in moves(cell) {
            length[next] = length[next].max(length[cell] + 1);
            before[next] -= 1;
            if before[next] == 0 {
                ready.push(next);
            }
        }
    }
    (done == n).then(|| length.into_iter().max().unwrap_or(0))
}

/// Longest way to a meeting for all pairs of kept errors.
fn kept(rule: &dyn Rule, most: f64) -> Option<usize> {
    let errors = grid(most, 5);
    let pairs = errors.iter().flat_map(|a| errors.iter().map(move |b| (*a, *b)));
    let all = pairs.map(|(a, b)| longest(&bearings(rule, [&[a], &[b]], &[0.25, 1.0], 8192)));
    all.collect::<Option<Vec<usize>>>()?.into_iter().max()
}

#[test]
fn compasses_that_keep_errors_below_half_of_pi_let_robots_meet_under_every_schedule() {
    for most in [0.0, 0.5, 1.0, FRAC_PI_2 - 0.1, FRAC_PI_2 - 0.02] {
        let moves = kept(&Erring::new(Errors::Kept, most), most);
        println!(
            "compass-kept, errors up to {most:.4}: {moves:?} moves at most, with moves cut to a quarter"
        );
        assert!(moves.is_some(), "error {most}");
    }
    // One rule for all: what is made for great errors does for small ones.
    assert!(kept(&Erring::new(Errors::Kept, 1.2), 0.3).is_some());
}

#[test]
fn compasses_that_change_by_less_than_a_quarter_of_pi_let_robots_meet_whatever_they_show() {
    for (most, made_for) in [
        (0.0, 0.0),
        (0.3, 0.3),
        (0.6, 0.6),
        (0.3, 0.7),
        (FRAC_PI_4 - 0.05, FRAC_PI_4 - 0.05),
        (0.7654, 0.7654),
    ] {
        let errors = grid(most, 9);
        let rule = Erring::new(Errors::Changing, made_for);
        let moves = longest(&bearings(&rule, [&errors, &errors], &[0.25, 1.0], 4096));
        println!(
            "compass-changing, errors up to {most:.4}: {moves:?} moves at most, with moves cut to a quarter"
        );
        assert!(moves.is_some(), "error {most}");
    }
}

#[test]
fn the_rule_for_asynchrony_does_in_rounds_too_below_a_sixth_of_pi() {
    for most in [0.0, 0.3, FRAC_PI_6 - 0.05, FRAC_PI_6 - 0.02] {
        let errors = grid(most, 9);
        let rule = Erring::new(Errors::ChangingAsync, most);
        let moves = longest(&bearings(&rule, [&errors, &errors], &[0.25, 1.0], 4096));
        println!("compass-changing-async, errors up to {most:.4}, in rounds: {moves:?} moves at most");
        assert!(moves.is_some(), "error {most}");
    }
}

#[test]
fn compasses_that_change_by_a_quarter_of_pi_or_more_fail_two_robots() {
    // Whatever error a rule is made for, at the bound an adversary finds a way.
    for made_for in [0.0, 0.2, 0.4, 0.6, FRAC_PI_4] {
        for most in [FRAC_PI_4, FRAC_PI_4 + 0.1, 1.2] {
            for errors in [Errors::Changing, Errors::ChangingAsync] {
                let rule = Erring::new(errors, made_for);
                let grid = grid(most, 9);
                let graph = bearings(&rule, [&grid, &grid], &[1.0], 1024);
                assert_eq!(longest(&graph), None, "{errors:?} made for {made_for}, error {most}");
            }
        }
    }
    // And robots really wait for ever: both at the angle π/2, which each compass shows as within its stay.
    let rule = Erring::new(Errors::Changing, FRAC_PI_4);
    let at = [Vec2::ZERO, Vec2::new(0.0, 1.0)];
    assert_eq!(target(&rule, at, 0, FRAC_PI_4), at[0]);
    assert_eq!(target(&rule, at, 1, -FRAC_PI_4), at[1]);
}

#[test]
fn compasses_that_keep_errors_of_half_of_pi_fail_two_robots() {
    for made_for in [0.0, 0.5, 1.0, FRAC_PI_2] {
        let rule = Erring::new(Errors::Kept, made_for);
        let graph = bearings(&rule, [&[FRAC_PI_2], &[-FRAC_PI_2]], &[1.0], 1024);
        assert_eq!(longest(&graph), None, "made for {made_for}");
    }
    // A rule that is made for less than there is fails too.
    assert!(kept(&Erring::new(Errors::Kept, 0.5), FRAC_PI_2 - 0.02).is_none());
}

/// Two robots in asynchrony: where they are, and what each has decided and not yet done.
#[derive(Clone, PartialEq)]
struct Duel {
    at: [Vec2; 2],
    goal: [Option<Vec2>; 2],
}

impl Duel {
    fn from(bearing: f64) -> Duel {
        Duel { at: [Vec2::ZERO, Vec2::at_angle(bearing)], goal: [None; 2] }
    }

    /// A look. Who stays has done with it.
    fn look(&mut self, rule: &dyn Rule, k: usize, error: f64) {
        let to = target(rule, self.at, k, error);
        self.goal[k] = (to != self.at[k]).then_some(to);
    }

    /// A part of the way that is left; the whole of it, or being stopped, ends the cycle.
    fn go(&mut self, k: usize, share: f64, stopped: bool) {
        let Some(to) = self.goal[k] else { return };
        self.at[k] = if share >= 1.0 { to } else { self.at[k] + (to - self.at[k]) * share };
        if share >= 1.0 || stopped {
            self.goal[k] = None;
        }
        // The world as it looks from robot 0, with a distance that numbers can bear.
        let (origin, apart) = (self.at[0], (self.at[1] - self.at[0]).norm());
        let unit = if (1e-3..1e3).contains(&apart) || apart < 1e-9 { 1.0 } else { 1.0 / apart };
        let seen = |p: Vec2| (p - origin) * unit;
        (self.at, self.goal) = (self.at.map(seen), self.goal.map(|g| g.map(seen)));
    }

    fn met(&self) -> bool {
        self.goal == [None; 2] && (self.at[1] - self.at[0]).norm() < 1e-9
    }
}

/// Tries to keep two robots apart: any order of looks, starts, stops half-way and arrivals, any errors; but nobody waits
/// for more than `patience` events. Answers after how many events they met all the same.
fn evade(rule: &dyn Rule, bearing: f64, errors: [&[f64]; 2], seed: u64, most: u32) -> Option<u32> {
    let d = draw(seed);
    let mut duel = Duel::from(bearing);
    let patience = 2 + d.below(0, 40);
    let (mut idle, mut parts) = ([0_u32; 2], [0_u32; 2]);
    for event in 1..=most {
        let mut tried = None;
        // The first of a few at random that does not end in a meeting.
        for attempt in 0..6 {
            let address = 32 * event + 4 * attempt;
            let k = (0..2).find(|k| idle[*k] >= patience).unwrap_or(d.below(address, 2) as usize);
            let (mut next, pick) = (duel.clone(), d.below(address + 1, 4));
            match duel.goal[k] {
                None => next.look(rule, k, errors[k][d.below(address + 2, errors[k].len() as u32) as usize]),
                // A move is seen half-way twice at most, and stopped only when it is not short.
                Some(_) if pick == 0 && parts[k] < 2 => next.go(k, 0.5, false),
                Some(to) if pick == 1 && (to - duel.at[k]).norm() > 0.3 => next.go(k, 0.6, true),
                Some(_) => next.go(k, 1.0, false),
            }
            let met = next.met();
            tried = Some((k, next));
            if !met {
                break;
            }
        }
        let (k, next) = tried?;
        parts[k] = if next.goal[k].is_some() { parts[k] + u32::from(duel.goal[k].is_some()) } else { 0 };
        duel = next;
        idle = [0, 1].map(|j| if j == k { 0 } else { idle[j] + 1 });
        if duel.met() {
            return Some(event);
        }
    }
    None
}

#[test]
fn asynchronous_robots_meet_whatever_changing_compasses_show_below_a_sixth_of_pi() {
    let mut longest = 0;
    for most in [0.0, 0.3, FRAC_PI_6 - 0.1, FRAC_PI_6 - 0.02] {
        let (rule, errors) = (Erring::new(Errors::ChangingAsync, most), grid(most, 7));
        for seed in 0..3000_u64 {
            let met = evade(&rule, 0.0021 * seed as f64, [&errors, &errors], seed, 20_000);
            longest = longest.max(met.unwrap_or_else(|| panic!("error {most}, seed {seed}: they never met")));
        }
    }
    println!("compass-changing-async: 12000 adversaries, {longest} events at most");
}

#[test]
fn asynchronous_robots_meet_with_kept_compasses_below_half_of_pi() {
    let mut longest = 0;
    for most in [0.3, 1.0, FRAC_PI_2 - 0.1, FRAC_PI_2 - 0.02] {
        let (rule, steps) = (Erring::new(Errors::Kept, most), grid(most, 5));
        for seed in 0..3000_u64 {
            let (a, b) = (steps[seed as usize % 5], steps[seed as usize / 5 % 5]);
            let met = evade(&rule, 0.0021 * seed as f64, [&[a], &[b]], seed, 20_000);
            longest =
                longest.max(met.unwrap_or_else(|| panic!("errors {a}, {b}, seed {seed}: they never met")));
        }
    }
    println!("compass-kept, async: 12000 adversaries, {longest} events at most");
}

/// Plays all orders of so many events, with these errors and moves seen half-way; `check` sees every state.
fn all_orders(rule: &dyn Rule, duel: &Duel, errors: [&[f64]; 2], events: u32, check: &mut dyn FnMut(&Duel)) {
    if events == 0 {
        return;
    }
    for (k, own) in errors.into_iter().enumerate() {
        let mut nexts: Vec<Duel> = Vec::new();
        if duel.goal[k].is_none() {
            for error in own {
                let mut next = duel.clone();
                next.look(rule, k, *error);
                // A look of one that stays changes nothing.
                if next != *duel && !nexts.contains(&next) {
                    nexts.push(next);
                }
            }
        } else {
            for share in [0.5, 1.0] {
                let mut next = duel.clone();
                next.go(k, share, false);
                nexts.push(next);
            }
        }
        for next in nexts {
            check(&next);
            all_orders(rule, &next, errors, events - 1, check);
        }
    }
}

/// The graph of bearings at moments when both robots are at rest, with all orders of so many events in between.
fn rests(rule: &dyn Rule, errors: [&[f64]; 2], events: u32, cells: usize) -> Vec<Vec<(u8, usize)>> {
    (0..cells)
        .map(|cell| {
            let start = Duel::from((cell as f64 + 0.5) * TAU / cells as f64);
            let mut found = Vec::new();
            all_orders(rule, &start, errors, events, &mut |duel| {
                if duel.goal == [None; 2] && !duel.met() {
                    found.push((3, (duel.at[1] - duel.at[0]).angle()));
                }
            });
            edges(cell, cells, &found)
        })
        .collect()
}

#[test]
fn no_order_of_looks_and_moves_leads_from_rest_to_rest_in_a_circle() {
    let most = FRAC_PI_6 - 0.05;
    let errors = [-most, 0.0, most];
    let graph = rests(&Erring::new(Errors::ChangingAsync, most), [&errors, &errors], 7, 128);
    let edges: usize = graph.iter().map(Vec::len).sum();
    println!("compass-changing-async: {:?} rests at most, {edges} edges", longest(&graph));
    assert!(longest(&graph).is_some());
    // Errors that are kept: one look for each.
    for (a, b) in [(1.2, -1.2), (-1.2, 1.2), (0.0, 0.0), (1.2, 0.3), (-0.4, -1.0)] {
        let graph = rests(&Erring::new(Errors::Kept, 1.2), [&[a], &[b]], 8, 128);
        println!("compass-kept, errors {a} and {b}: {:?} rests at most", longest(&graph));
        assert!(longest(&graph).is_some(), "errors {a}, {b}");
    }
    // The search does find what there is to find: the rule for rounds goes round in circles.
    let most = PI / 5.0;
    let errors = [-most, -0.55, 0.0, most];
    let graph = rests(&Erring::new(Errors::Changing, most), [&errors, &errors], 6, 128);
    assert_eq!(longest(&graph), None);
}

#[test]
fn late_moves_never_turn_the_line_beyond_where_it_was() {
    // The lemma of asynchrony: the angle at which the upper robot is seen stays between 0 and what it was.
    let most = FRAC_PI_6 - 0.02;
    let (rule, errors) = (Erring::new(Errors::ChangingAsync, most), [-most, 0.0, most]);
    let mut states = 0_u64;
    for k in 0..20 {
        let bearing = PI * (f64::from(k) + 0.5) / 20.0;
        all_orders(&rule, &Duel::from(bearing), [&errors, &errors], 8, &mut |duel| {
            states += 1;
            let apart = duel.at[1] - duel.at[0];
            let now = apart.angle();
            assert!(
                apart.norm() < 1e-9 || (now > -1e-9 && now < bearing + 1e-9),
                "from {bearing} to {now}: {:?}",
                duel.goal
            );
        });
    }
    println!("compass-changing-async: {states} states");
    assert!(states > 100_000);
}

#[test]
fn who_may_be_gone_to_is_sure_to_stay_under_asynchrony() {
    // From the upper half: as long as a robot may decide to go, the other one stays whatever it reads. So nobody
    // who is gone to goes away.
    let most = FRAC_PI_6 - 0.02;
    let errors = grid(most, 21);
    let both = |rule: &dyn Rule, bearing: f64| {
        let at = [Vec2::ZERO, Vec2::at_angle(bearing)];
        let goes = errors.iter().any(|e| target(rule, at, 0, *e) == at[1]);
        (goes, errors.iter().all(|e| target(rule, at, 1, *e) == at[1]))
    };
    let upper: Vec<f64> = (0..2000).map(|k| PI * (f64::from(k) + 0.5) / 2000.0).collect();
    let asynchronous = Erring::new(Errors::ChangingAsync, most);
    assert!(upper.iter().map(|b| both(&asynchronous, *b)).all(|(goes, stays)| !goes || stays));
    assert!(upper.iter().any(|b| both(&asynchronous, *b).0));
    let in_rounds = Erring::new(Errors::Changing, most);
    assert!(upper.iter().map(|b| both(&in_rounds, *b)).any(|(goes, stays)| goes && !stays));
}

#[test]
fn the_rule_for_rounds_fails_in_asynchrony() {
    // One decides to go and is slow; the other steps, until it may decide to go as well. Then both go, and change
    // places: for ever.
    let most = PI / 5.0;
    let rule = Erring::new(Errors::Changing, most);
    let start = 1.65;
    let mut duel = Duel::from(start);
    for turn in 0..200 {
        let (slow, quick) = (turn % 2, 1 - turn % 2);
        let bearing = |d: &Duel| (d.at[quick] - d.at[slow]).angle();
        assert!((bearing(&duel) - start).abs() < 1e-6, "turn {turn}");
        duel.look(&rule, slow, -most);
        assert_eq!(duel.goal[slow], Some(duel.at[quick]), "it decides to go");
        duel.look(&rule, quick, -0.55);
        assert!(duel.goal[quick].is_some_and(|g| g != duel.at[slow]), "it steps");
        duel.go(quick, 1.0, false);
        duel.look(&rule, quick, 0.0);
        assert_eq!(duel.goal[quick], Some(duel.at[slow]), "now it goes too");
        duel.go(slow, 1.0, false);
        duel.go(quick, 1.0, false);
        assert!(!duel.met());
    }
}

#[test]
fn scheduled_robots_meet_with_rules_by_name() {
    // As scenarios have it: the rule is made for the error that is said.
    let cases = [
        ("compass-kept", FRAC_PI_2 - 0.05, false, true),
        ("compass-changing", FRAC_PI_4 - 0.1, true, false),
        ("compass-changing-async", FRAC_PI_6 - 0.05, true, true),
    ];
    for (name, error, dynamic, asynchronous) in cases {
        let rule = by_name(name, &Tuning { compass_rad: error, ..Tuning::default() }).expect("it is there");
        for seed in 0..100 {
            let compass = Compass { error, dynamic, settles: 0 };
            let setup = Setup { seed, compass, ..Setup::default() };
            let mut robots = Robots::at(vec![Vec2::ZERO, Vec2::at_angle(0.063 * seed as f64)]);
            let moves = [Moves::Rigid, Moves::Flexible { delta_m: 0.2 }][seed as usize % 2];
            let schedule = if asynchronous {
                Schedule::Async { wait: 0.5, compute: 0.5, travel: 1.0 }
            } else {
                Schedule::Bounded { p: 0.3, k: 6 }
            };
            play::in_time(rule.as_ref(), &setup, (&schedule, moves, 0.8), &mut robots, 3000.0, |_, _, _| {});
            assert!(robots.diameter() < 1e-9, "`{name}`, seed {seed}: {}", robots.diameter());
        }
    }
}
