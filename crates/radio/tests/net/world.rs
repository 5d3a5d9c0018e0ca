//! Radio and motion together: links come and go where geometry says, and many robots are connected as often as theory says.

use crate::{chance, v};
use swarmyard_base::math;
use swarmyard_part_api::NetworkModel;
use swarmyard_radio::net::radio::propagation::PathLoss;
use swarmyard_radio::net::{Radio, StillAir};

#[test]
fn a_link_begins_and_ends_when_the_distance_is_the_range() {
    // Two robots pass at 3 m with 2 m/s against each other; within 5 m while |Δx| ≤ 4: from 3 s to 7 s.
    let model = Radio { path: PathLoss::Disc { range_m: 5.0, exponent: 2.0 }, ..Radio::default() };
    let tiny = 1.0e-9;
    for (t, heard) in
        [(3.0 - tiny, false), (3.0 + tiny, true), (5.0, true), (7.0 - tiny, true), (7.0 + tiny, false)]
    {
        let mut network = model.start(2);
        let mut air = StillAir::new(2, 1);
        air.glide(0, v(-5.0, 0.0), v(1.0, 0.0));
        air.glide(1, v(5.0, 3.0), v(-1.0, 0.0));
        air.run(&mut *network, t);
        assert_eq!(network.links(&air).unwrap().len(), usize::from(heard), "{t}");
        air.send(&mut *network, 0, &[1], b"x");
        air.run(&mut *network, t + 1.0);
        assert_eq!(air.arrivals, u64::from(heard), "{t}");
    }
}

#[test]
fn links_are_those_of_all_pairs_looked_at_one_by_one() {
    for shadowing_db in [0.0, 6.0] {
        let path = PathLoss::LogDistance { exponent: 3.0, reference_m: 1.0, reference_db: 40.0 };
        let model =
            Radio { budget_db: path.loss_db(12.0), path, wall_db: 4.0, shadowing_db, ..Radio::default() };
        let mut network = model.start(80);
        let mut air = StillAir::new(80, 1);
        air.wall(v(20.0, -100.0), v(20.0, 100.0));
        for k in 0..80 {
            let draw = chance(u64::from(k));
            air.put(k, v(40.0 * draw.uniform(0), 40.0 * draw.uniform(1)));
        }
        let links = network.links(&air).unwrap();
        let (mut heard, mut second) = (Vec::new(), 0.0);
        for a in 0..80 {
            for b in a + 1..80 {
                let before = air.arrivals;
                air.send(&mut *network, a, &[b], b"x");
                // Long enough that nothing of it is on its way when the next one begins.
                second += 1.0;
                air.run(&mut *network, second);
                if air.arrivals > before {
                    heard.push((a, b));
                }
            }
        }
        assert!(heard.len() > 100 && heard.len() < 3000, "{}", heard.len());
        assert_eq!(links, heard);
    }
}

/// Robots at random places on a torus of side 1, with links of some range.
struct Scattered {
    connected: bool,
    nobody_alone: bool,
    mean_degree: f64,
}

fn scatter(n: u32, range_m: f64, trial: u64) -> Scattered {
    let path = PathLoss::Disc { range_m, exponent: 2.0 };
    let network = Radio { path, ..Radio::default() }.start(9 * n);
    let mut air = StillAir::new(9 * n, 1);
    for k in 0..n {
        let draw = chance(trial << 32 | u64::from(k));
        let (x, y) = (draw.uniform(0), draw.uniform(1));
        // The torus is the robot and its eight images around.
        for image in 0..9 {
            air.put(image * n + k, v(x + f64::from(image % 3), y + f64::from(image / 3)));
        }
    }
    let mut neighbours = vec![std::collections::BTreeSet::new(); n as usize];
    for (a, b) in network.links(&air).unwrap() {
        neighbours[(a % n) as usize].insert(b % n);
        neighbours[(b % n) as usize].insert(a % n);
    }
    let mut seen = vec![false; n as usize];
    let mut open = vec![0];
    while let Some(k) = open.pop() {
        if !std::mem::replace(&mut seen[k as usize], true) {
            open.extend(&neighbours[k as usize]);
        }
    }
    Scattered {
        connected: seen.iter().all(|s| *s),
        nobody_alone: neighbours.iter().all(|l| !l.is_empty()),
        mean_degree: neighbours.iter().map(|l| l.len() as f64).sum::<f64>() / f64::from(n),
    }
}

#[test]
fn robots_at_random_places_are_connected_as_often_as_theory_says() {
    let (n, trials) = (400_u32, 200_u64);
    for c in [0.0, 1.0, 2.0, 4.0] {
        let area = (math::ln(f64::from(n)) + c) / f64::from(n);
        let range = (area / std::f64::consts::PI).sqrt();
        let all: Vec<Scattered> = (0..trials).map(|t| scatter(n, range, t)).collect();
        let share =
            |what: &dyn Fn(&Scattered) -> bool| all.iter().filter(|s| what(s)).count() as f64 / trials as f64;
        let (connected, nobody_alone) = (share(&|s| s.connected), share(&|s| s.nobody_alone));
        let degree = all.iter().map(|s| s.mean_degree).sum::<f64>() / trials as f64;
        let expected = math::exp(-math::exp(-c));
        println!(
            "c = {c}: degree {degree:.4}, nobody alone {nobody_alone:.3}, connected {connected:.3}, limit {expected:.3}"
        );
        // Each pair is a link with probability π r².
        assert!((degree / (f64::from(n - 1) * area) - 1.0).abs() < 0.01, "{degree}");
        // In the limit of many robots both shares are exp(−exp(−c)); being alone gets there soon, being connected slowly
        // and from below. Four standard errors.
        let error = (expected * (1.0 - expected) / trials as f64).sqrt();
        assert!((nobody_alone - expected).abs() < 4.0 * error, "c = {c}: {nobody_alone}, not {expected}");
        assert!(connected <= nobody_alone);
        assert!(c < 4.0 || (connected - expected).abs() < 0.05, "c = {c}: {connected}, not {expected}");
    }
}

/// Few robots fall into parts although nobody is alone; that becomes rarer with more robots, slowly: at c = 0 about .09 of 50
/// robots are connected, .19 of 400, and the limit is .37.
#[test]
fn being_connected_comes_nearer_to_its_limit_with_more_robots() {
    let trials = 400_u64;
    let share = |n: u32| {
        let range = (math::ln(f64::from(n)) / f64::from(n) / std::f64::consts::PI).sqrt();
        (0..trials).filter(|t| scatter(n, range, *t).connected).count() as f64 / trials as f64
    };
    let (few, many, limit) = (share(50), share(400), math::exp(-1.0));
    println!("connected {few:.3} of 50, {many:.3} of 400, limit {limit:.3}");
    assert!(few < many && many < limit, "{few}, {many}, {limit}");
}
