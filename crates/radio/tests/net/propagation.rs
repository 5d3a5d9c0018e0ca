//! Path loss against ns-3 3.37 (run for these values) and its test suite; shadowing and fading against closed forms.

use crate::{chance, v};
use swarmyard_base::math;
use swarmyard_part_api::NetworkModel;
use swarmyard_radio::net::radio::Access;
use swarmyard_radio::net::radio::propagation::{LIGHT_MPS, PathLoss, from_db, nakagami};
use swarmyard_radio::net::radio::shadowing::Shadowing;
use swarmyard_radio::net::{Flaws, Radio, StillAir};

fn agrees(path: &PathLoss, table: &[(f64, f64)]) {
    for (d, loss) in table {
        let found = path.loss_db(*d);
        assert!((found - loss).abs() < 1e-8, "{path:?} at {d} m: {found}, not {loss}");
    }
}

#[test]
fn friis_is_that_of_ns3() {
    let path = |hz: f64, system_loss| PathLoss::Friis { wavelength_m: LIGHT_MPS / hz, system_loss };
    let table = [
        (0.001, 0.0),
        (0.5, 40.663_327_889),
        (1.0, 46.683_927_803),
        (10.0, 66.683_927_803),
        (37.5, 78.164_553_157),
        (250.0, 94.642_727_976),
        (1000.0, 106.683_927_803),
    ];
    agrees(&path(5.15e9, 1.0), &table);
    agrees(&path(2.4e9, 2.0), &[(1.0, 43.062_308_013), (10.0, 63.062_308_013), (100.0, 83.062_308_013)]);
    // From its test suite: watts received of 0.05035702 W at a wavelength of 0.125 m.
    let path = PathLoss::Friis { wavelength_m: 0.125, system_loss: 1.0 };
    for (d, watts) in [(100.0, 4.98265e-10), (500.0, 1.99306e-11), (1000.0, 4.98265e-12)] {
        let found = 0.050_357_02 * from_db(-path.loss_db(d));
        assert!((found / watts - 1.0).abs() < 2e-6, "{d} m: {found} W, not {watts}");
    }
}

#[test]
fn two_rays_are_those_of_ns3() {
    let path = |hz: f64, system_loss, height_m| PathLoss::TwoRay {
        wavelength_m: LIGHT_MPS / hz,
        system_loss,
        height_m,
    };
    let table = [
        (10.0, 66.683_927_803),
        (100.0, 86.683_927_803),
        (485.0, 100.398_762_575),
        (486.0, 100.421_800_408),
        (1000.0, 112.956_349_638),
    ];
    agrees(&path(5.15e9, 1.0, 1.5), &table);
    let table =
        [(10.0, 63.062_308_013), (100.0, 83.062_308_013), (101.0, 83.183_154_908), (300.0, 102.095_150_145)];
    agrees(&path(2.4e9, 2.0, 1.0), &table);
    let path = PathLoss::TwoRay { wavelength_m: 0.125, system_loss: 1.0, height_m: 1.5 };
    let watts = 0.050_357_02 * from_db(-path.loss_db(500.0));
    assert!((watts / 4.078_918_62e-12 - 1.0).abs() < 1e-7, "{watts}");
    // The two pieces meet at 4 π h²/λ.
    let cross = 226.194_671;
    assert!((path.loss_db(cross - 1e-6) - path.loss_db(cross + 1e-6)).abs() < 1e-6);
}

#[test]
fn log_distance_and_three_log_are_those_of_ns3() {
    let path = PathLoss::LogDistance { exponent: 3.0, reference_m: 1.0, reference_db: 46.6777 };
    let table = [
        (0.5, 46.6777),
        (1.0, 46.6777),
        (1.5, 51.960_437_772),
        (10.0, 76.6777),
        (33.0, 92.233_118_196),
        (100.0, 106.6777),
        (1234.0, 139.417_154_791),
    ];
    agrees(&path, &table);
    let path = PathLoss::LogDistance { exponent: 2.2, reference_m: 2.0, reference_db: 40.0 };
    agrees(&path, &[(1.0, 40.0), (2.0, 40.0), (3.0, 43.874_007_699), (50.0, 70.754_680_191)]);
    let path = PathLoss::ThreeLog {
        distances_m: [1.0, 200.0, 500.0],
        exponents: [1.9, 3.8, 3.8],
        reference_db: 46.6777,
    };
    let table = [
        (0.5, 0.0),
        (1.0, 46.6777),
        (10.0, 65.6777),
        (100.0, 84.6777),
        (200.0, 90.397_269_918),
        (250.0, 94.079_850_412),
        (500.0, 105.518_990_247),
        (600.0, 108.527_877_597),
        (2000.0, 128.397_269_918),
    ];
    agrees(&path, &table);
}

/// Share of a disc that one sender in its middle covers, when half of the rim is covered.
fn coverage(exponent: f64, shadowing_db: f64) -> f64 {
    let n = 80_000_u32;
    let path = PathLoss::LogDistance { exponent, reference_m: 1.0e-3, reference_db: 40.0 };
    let rim = 100.0;
    let budget_db = path.loss_db(rim);
    let mut network = Radio { path, budget_db, shadowing_db, ..Radio::default() }.start(n + 1);
    let mut air = StillAir::new(n + 1, 3);
    for k in 1..=n {
        air.put(k, v(rim * ((f64::from(k) - 0.5) / f64::from(n)).sqrt(), 0.0));
    }
    let all: Vec<u32> = (1..=n).collect();
    air.send(&mut *network, 0, &all, b"x");
    air.run(&mut *network, 1.0);
    air.arrivals as f64 / f64::from(n)
}

#[test]
fn shadowing_covers_the_share_of_the_area_that_jakes_found() {
    for (exponent, sigma, expected) in
        [(3.0, 8.0, 0.7332), (4.0, 8.0, 0.7728), (3.0, 6.0, 0.7728), (2.0, 4.0, 0.7728)]
    {
        let share = coverage(exponent, sigma);
        println!("shadowing n = {exponent}, σ = {sigma} dB: {share} of {expected}");
        // Four standard errors of 80 000.
        assert!((share - expected).abs() < 4.0 * (0.2_f64 / 80_000.0).sqrt(), "{share}, not {expected}");
    }
    assert_eq!(coverage(3.0, 0.0), 1.0);
}

#[test]
fn shadowing_is_the_same_both_ways_and_at_any_time() {
    let path = PathLoss::LogDistance { exponent: 3.0, reference_m: 1.0, reference_db: 40.0 };
    let budget_db = path.loss_db(50.0);
    let mut network = Radio { path, budget_db, shadowing_db: 8.0, ..Radio::default() }.start(60);
    let mut air = StillAir::new(60, 5);
    (0..60).for_each(|k| air.put(k, v(f64::from(k) * 2.0, 0.0)));
    let links = network.links(&air).unwrap();
    for second in 1..4_u32 {
        for k in 1..60 {
            air.run(&mut *network, f64::from(second * 100 + k));
            let (from, to) = if second % 2 == 0 { (0, k) } else { (k, 0) };
            let before = air.arrivals;
            air.send(&mut *network, from, &[to], b"x");
            air.run(&mut *network, f64::from(second * 100 + k) + 0.5);
            assert_eq!(air.arrivals > before, links.contains(&(0, k)), "{k}");
        }
    }
    let own = links.iter().filter(|l| l.0 == 0).count();
    assert!(own > 5 && own < 55, "{own}");
}

#[test]
fn shadowing_widens_the_audible_area_as_a_lognormal_does() {
    for (exponent, sigma, expected) in [(3.0, 8.0, 2.1256), (4.0, 8.0, 1.5283), (3.0, 6.0, 1.5283)] {
        // What is audible at distance R e^x is Φ(−x/s) with s = σ ln 10/(10 n): the area is ∫ 2 e^(2x) Φ(−x/s) dx of the
        // disc's without shadowing, e^(2 s²). Robots stand at all x; each counts for its part of the integral.
        let s = sigma * std::f64::consts::LN_10 / (10.0 * exponent);
        assert!((math::exp(2.0 * s * s) - expected).abs() < 5e-5);
        let (n, low, high) = (320_000_u32, -6.0 * s, 6.0 * s);
        let path = PathLoss::LogDistance { exponent, reference_m: 1.0e-3, reference_db: 40.0 };
        let budget_db = path.loss_db(100.0);
        let model = Radio { path, budget_db, shadowing_db: sigma, ..Radio::default() };
        let mut network = model.start(n + 1);
        let mut air = StillAir::new(n + 1, 3);
        let x = |k: u32| low + (high - low) * (f64::from(k) - 0.5) / f64::from(n);
        (1..=n).for_each(|k| air.put(k, v(100.0 * math::exp(x(k)), 0.0)));
        let all: Vec<u32> = (1..=n).collect();
        air.send(&mut *network, 0, &all, b"x");
        air.run(&mut *network, 1.0);
        let part = |k: u32| 2.0 * math::exp(2.0 * x(k)) * (high - low) / f64::from(n);
        let area = air.arrived.iter().map(|a| part(a.to)).sum::<f64>() + math::exp(2.0 * low);
        // The variance of each part is its mean square at most.
        let error = air.arrived.iter().map(|a| part(a.to) * part(a.to)).sum::<f64>().sqrt();
        println!("audible area n = {exponent}, σ = {sigma} dB: {area} of {expected}, ± {error}");
        assert!(error < 0.012 * expected && (area - expected).abs() < 4.0 * error, "{area}, not {expected}");
    }
}

/// Mean of a product over so many fields, and its standard error.
fn mean_product(seeds: u64, product: impl Fn(&Shadowing) -> f64) -> (f64, f64) {
    let all: Vec<f64> = (0..seeds).map(|seed| product(&Shadowing::new(chance(seed), 20.0))).collect();
    let mean = all.iter().sum::<f64>() / seeds as f64;
    let variance = all.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>() / seeds as f64;
    (mean, (variance / seeds as f64).sqrt())
}

#[test]
fn shadowing_that_changes_on_the_way_is_correlated_as_gudmundson_found() {
    // One end stays, far away; the other goes d: e^(−d/c). Both go: the product.
    let (a, b) = (v(-300.0, 40.0), v(250.0, -70.0));
    let ways = [
        (0.0, 0.0),
        (0.0, 2.0),
        (0.0, 5.0),
        (0.0, 10.0),
        (0.0, 20.0),
        (0.0, 40.0),
        (0.0, 80.0),
        (7.0, 0.0),
        (10.0, 15.0),
    ];
    for (k, (mine, its)) in ways.into_iter().enumerate() {
        // In another direction each time.
        let step = |d: f64| v(d * math::cos(k as f64), d * math::sin(k as f64));
        let (there, here) = (a + step(mine), b + step(its));
        let (found, error) = mean_product(8_000, |f| f.between(a, b) * f.between(there, here));
        let expected = math::exp(-(mine + its) / 20.0);
        println!("ends go {mine} m and {its} m: {found:.4} of {expected:.4}, ± {error:.4}");
        assert!((found - expected).abs() < 4.0 * error, "{mine} m and {its} m: {found}, not {expected}");
        assert!(error < 0.02);
    }
}

#[test]
fn shadowing_that_changes_on_the_way_is_normal_also_when_the_ends_are_near() {
    for d in [0.0, 1.0, 10.0, 100.0] {
        let (a, b) = (v(3.0, 4.0), v(3.0, 4.0 + d));
        let (mean, error) = mean_product(8_000, |f| f.between(a, b));
        assert!(mean.abs() < 4.0 * error, "{d} m: mean {mean}");
        let (variance, error) = mean_product(8_000, |f| f.between(a, b) * f.between(a, b));
        println!("ends {d} m apart: variance {variance:.4} ± {error:.4}");
        assert!((variance - 1.0).abs() < 4.0 * error, "{d} m: variance {variance}");
        let (beyond, error) = mean_product(8_000, |f| f64::from(u8::from(f.between(a, b).abs() > 2.0)));
        assert!((beyond - 0.0455).abs() < 4.0 * error, "{d} m: {beyond} are beyond 2 σ");
    }
}

/// Robots on a circle around a sender where half of all frames arrive: how often two at a distance have the same fate, in
/// the mean over seeds, and its standard error.
fn same_fate(apart_m: f64, length_m: f64, seeds: u64) -> (f64, f64) {
    let (n, radius) = (30_u32, 1000.0);
    let path = PathLoss::LogDistance { exponent: 3.0, reference_m: 1.0, reference_db: 40.0 };
    let budget_db = path.loss_db(radius * (1.0 + 1e-12));
    let model =
        Radio { path, budget_db, shadowing_db: 6.0, shadowing_correlation_m: length_m, ..Radio::default() };
    // The chord of twice the angle whose sine is half of it over the radius.
    let turn = 2.0 * math::asin(apart_m / (2.0 * radius));
    let share = |seed: u64| {
        let mut network = model.start(2 * n + 1);
        let mut air = StillAir::new(2 * n + 1, seed);
        for k in 0..n {
            let angle = f64::from(k) * 2.0 * std::f64::consts::PI / f64::from(n);
            for (robot, angle) in [(2 * k + 1, angle), (2 * k + 2, angle + turn)] {
                air.put(robot, v(radius * math::cos(angle), radius * math::sin(angle)));
            }
        }
        let all: Vec<u32> = (1..=2 * n).collect();
        air.send(&mut *network, 0, &all, b"x");
        air.run(&mut *network, 1.0);
        let came: Vec<u32> = air.arrived.iter().map(|a| a.to).collect();
        let same = (0..n).filter(|k| came.contains(&(2 * k + 1)) == came.contains(&(2 * k + 2)));
        same.count() as f64 / f64::from(n)
    };
    let all: Vec<f64> = (0..seeds).map(share).collect();
    let mean = all.iter().sum::<f64>() / seeds as f64;
    let variance = all.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>() / seeds as f64;
    (mean, (variance / seeds as f64).sqrt())
}

#[test]
fn neighbours_share_their_fate_as_often_as_sheppard_found() {
    // Two normal variables of correlation ρ have the same sign with probability 1/2 + asin(ρ)/π.
    for (apart, length, correlation) in [
        (5.0, 50.0, math::exp(-0.1)),
        (50.0, 50.0, math::exp(-1.0)),
        (100.0, 50.0, math::exp(-2.0)),
        (5.0, 0.0, 0.0),
    ] {
        let (found, error) = same_fate(apart, length, 600);
        let expected = 0.5 + math::asin(correlation) / std::f64::consts::PI;
        println!("{apart} m apart, correlation length {length} m: {found:.4} of {expected:.4}, ± {error:.4}");
        assert!((found - expected).abs() < 4.0 * error, "{apart} m: {found}, not {expected}");
        assert!(error < 0.01);
    }
}

#[test]
fn shadowing_that_changes_on_the_way_makes_a_link_come_and_go_and_come_back() {
    let path = PathLoss::LogDistance { exponent: 3.0, reference_m: 1.0, reference_db: 40.0 };
    let budget_db = path.loss_db(1000.0);
    let model = |shadowing_correlation_m: f64| {
        let path = path.clone();
        Radio { path, budget_db, shadowing_db: 6.0, shadowing_correlation_m, ..Radio::default() }
    };
    // Twice around a circle, in 50 steps each, with a frame at each step, there and back in turn.
    let fates = |length_m: f64, robot: u32| -> Vec<bool> {
        let mut network = model(length_m).start(3);
        let mut air = StillAir::new(3, 5);
        let fate = |k: u32| {
            let angle = f64::from(k % 50) * std::f64::consts::PI / 25.0;
            air.put(robot, v(1000.0 * math::cos(angle), 1000.0 * math::sin(angle)));
            let both = network.links(&air).unwrap().contains(&(0, robot));
            let before = air.arrivals;
            let (from, to) = if k.is_multiple_of(2) { (0, robot) } else { (robot, 0) };
            air.send(&mut *network, from, &[to], b"x");
            air.run(&mut *network, f64::from(k + 1));
            assert_eq!(air.arrivals > before, both, "what is drawn is what counts");
            both
        };
        (0..100).map(fate).collect()
    };
    let one = fates(100.0, 1);
    let heard = one.iter().filter(|f| **f).count();
    assert!((20..80).contains(&heard), "{heard} of 100");
    assert_eq!(one[..50], one[50..], "the same place is the same shadowing at any time");
    assert_eq!(one, fates(100.0, 2), "whoever stands there");
    let fixed = fates(0.0, 1);
    assert!(fixed.iter().all(|f| *f == fixed[0]), "without a length it does not change as they move");
}

#[test]
fn links_that_are_drawn_are_those_of_the_networks_own_seed() {
    let path = PathLoss::LogDistance { exponent: 3.0, reference_m: 1.0, reference_db: 40.0 };
    let budget_db = path.loss_db(50.0);
    for length_m in [0.0, 10.0] {
        let flaws = Flaws { seed: Some(77), ..Flaws::default() };
        let path = path.clone();
        let model = Radio {
            path,
            budget_db,
            shadowing_db: 8.0,
            shadowing_correlation_m: length_m,
            flaws,
            ..Radio::default()
        };
        let mut network = model.start(60);
        let mut air = StillAir::new(60, 5);
        (0..60).for_each(|k| air.put(k, v(f64::from(k) * 2.0, 0.0)));
        let links = network.links(&air).unwrap();
        let others: Vec<u32> = (1..60).collect();
        air.send(&mut *network, 0, &others, b"x");
        air.run(&mut *network, 1.0);
        let mut heard: Vec<(u32, u32)> = air.arrived.iter().map(|a| (0, a.to)).collect();
        heard.sort_unstable();
        let drawn: Vec<(u32, u32)> = links.into_iter().filter(|l| l.0 == 0).collect();
        assert_eq!(drawn, heard, "correlation length {length_m} m");
        assert!(heard.len() > 5 && heard.len() < 55);
    }
}

#[test]
fn nakagami_fading_has_its_moments() {
    for m in [0.5, 0.75, 1.0, 1.5, 4.0, 50.0] {
        let n = 200_000_u32;
        let draws: Vec<f64> = (0..n).map(|k| nakagami(chance(u64::from(k)), 7, m)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
        // Mean 1, variance 1/m; the variance of the squared deviation is (2 + 6/m)/m².
        assert!((mean - 1.0).abs() < 5.0 / (m * f64::from(n)).sqrt(), "m = {m}: mean {mean}");
        let error = ((2.0 + 6.0 / m) / (m * m) / f64::from(n)).sqrt();
        assert!((variance - 1.0 / m).abs() < 5.0 * error, "m = {m}: variance {variance}");
    }
}

#[test]
fn rayleigh_fading_loses_the_share_of_an_exponential() {
    for margin_db in [-3.0, 0.0, 3.0, 10.0] {
        let n = 40_000_u32;
        let path = PathLoss::LogDistance { exponent: 2.0, reference_m: 1.0, reference_db: 0.0 };
        let model =
            Radio { path, budget_db: margin_db, nakagami: 1.0, access: Access::Aloha, ..Radio::default() };
        let mut network = model.start(2);
        let mut air = StillAir::new(2, 9);
        for k in 0..n {
            air.run(&mut *network, f64::from(k));
            air.send(&mut *network, 0, &[1], b"x");
        }
        air.run(&mut *network, 1.0e6);
        let lost = air.losses as f64 / f64::from(n);
        let expected = 1.0 - math::exp(-from_db(-margin_db));
        assert!(
            (lost - expected).abs() < 5.0 * (expected * (1.0 - expected) / f64::from(n)).sqrt(),
            "{margin_db} dB: {lost}, not {expected}"
        );
    }
}

/// With ns-3's bands: m = 1.5 below 80 m and 0.75 beyond. A frame that is just strong enough in the mean comes through with
/// the probability that a gamma variable of mean 1 is above its mean: Q(m, m).
#[test]
fn nakagami_fading_has_another_shape_from_a_distance_on() {
    for (metres, expected) in [(79.0, 0.391_625), (81.0, 0.348_407), (250.0, 0.348_407)] {
        let n = 40_000_u32;
        let path = PathLoss::LogDistance { exponent: 2.0, reference_m: 1000.0, reference_db: 0.0 };
        let nakagami_far = vec![(80.0, 0.75), (200.0, 0.75)];
        let access = Access::Aloha;
        let model = Radio { path, budget_db: 0.0, nakagami: 1.5, nakagami_far, access, ..Radio::default() };
        let mut network = model.start(2);
        let mut air = StillAir::new(2, 9);
        air.put(1, v(metres, 0.0));
        for k in 0..n {
            air.run(&mut *network, f64::from(k));
            air.send(&mut *network, 0, &[1], b"x");
        }
        air.run(&mut *network, 1.0e6);
        let came = air.arrivals as f64 / f64::from(n);
        let error = (expected * (1.0 - expected) / f64::from(n)).sqrt();
        assert!((came - expected).abs() < 4.0 * error, "{metres} m: {came}, not {expected}");
    }
}
