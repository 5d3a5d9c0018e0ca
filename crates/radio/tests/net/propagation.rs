//! Path loss against ns-3 3.37 (run for these values) and its test suite; shadowing and fading against closed forms.

use crate::{chance, v};
use swarmyard_base::math;
use swarmyard_part_api::NetworkModel;
use swarmyard_radio::net::radio::Access;
use swarmyard_radio::net::radio::propagation::{LIGHT_MPS, PathLoss, from_db, nakagami};
use swarmyard_radio::net::{Radio, StillAir};

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
