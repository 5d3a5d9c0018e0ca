//! Facts about the radio that need its inside.

use super::*;
use crate::net::StillAir;
use swarmyard_base::Vec2;
use swarmyard_part_api::Loss;

fn v(x: f64, y: f64) -> Vec2 {
    Vec2 { x, y }
}

fn read(text: &[(&str, Value)]) -> Result<Radio, Diagnostic> {
    let mut params = Params::default();
    for param in &sheet().params {
        if let Some(value) = &param.default {
            params.set(param.name, value.clone(), None);
        }
    }
    for (name, value) in text {
        params.set(name, value.clone(), None);
    }
    from_params(&params)
}

fn word(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn the_defaults_of_the_sheet_are_those_of_the_structure() {
    let sheet = Radio { flaws: Flaws::default(), ..read(&[]).unwrap() };
    assert_eq!(format!("{sheet:?}"), format!("{:?}", Radio::default()));
    for (word, access) in Access::WORDS.iter().zip(Access::ALL) {
        assert_eq!(read(&[("access", Value::Text((*word).to_owned()))]).unwrap().access, access);
    }
}

#[test]
fn a_faster_rate_shortens_the_range_of_every_path() {
    for path in ["disc", "log-distance", "friis", "two-ray", "three-log"] {
        let range = |rate: f64| {
            let given = [("path", word(path)), ("rate", Value::Num(rate)), ("range_rate", Value::Num(1.0e6))];
            read(&given).unwrap().range_m()
        };
        assert!(range(1.0e6) > range(11.0e6) && range(11.0e6) > range(54.0e6), "{path}");
    }
    let range = |rate: f64| read(&[("rate", Value::Num(rate))]).unwrap().range_m();
    assert_eq!((range(1.0e6), range(54.0e6)), (10.0, 10.0), "without `range_rate` a disc is a disc");
}

#[test]
fn a_table_of_rates_says_what_each_needs() {
    let rows = Value::Rows(vec![vec![54.0e6, -65.0], vec![6.0e6, -82.0], vec![24.0e6, -74.0]]);
    let at = |rate: f64| {
        let given = [("path", word("log-distance")), ("rates", rows.clone()), ("rate", Value::Num(rate))];
        read(&given).map(|r| 16.0206 - r.budget_db)
    };
    assert!((at(6.0e6).unwrap() + 82.0).abs() < 1e-9);
    assert!((at(9.0e6).unwrap() + 74.0).abs() < 1e-9);
    assert!((at(54.0e6).unwrap() + 65.0).abs() < 1e-9);
    assert!(at(55.0e6).is_err());
}

#[test]
fn impossible_paths_are_refused() {
    let backwards = Value::Nums(vec![200.0, 1.0, 500.0]);
    assert!(read(&[("path", word("three-log")), ("distances", backwards)]).is_err());
    let narrow = [("path", word("friis")), ("bandwidth", Value::Num(1.0)), ("rate", Value::Num(1.0e12))];
    assert!(read(&narrow).is_err());
    let narrow =
        [("bandwidth", Value::Num(1.0)), ("rate", Value::Num(1.0e12)), ("range_rate", Value::Num(1.0))];
    assert!(read(&narrow).is_err());
}

#[test]
fn a_frame_takes_its_bits_over_the_rate_and_its_way_over_the_speed_of_light() {
    let model = Radio { path: PathLoss::Disc { range_m: 1.0e6, exponent: 2.0 }, ..Radio::default() };
    let mut network = model.start(3);
    let mut air = StillAir::new(3, 1);
    air.put(1, v(LIGHT_MPS * 1.0e-3, 0.0));
    air.put(2, v(LIGHT_MPS * 2.0e-3, 0.0));
    air.send(&mut *network, 0, &[2, 1], &[0; 93]);
    air.run(&mut *network, 1.0);
    // 32 + 93 bytes are 1000 bits: 1 ms at 1 Mbit/s.
    let times: Vec<(f64, u32)> = air.arrived.iter().map(|a| ((a.seconds() * 1e9).round(), a.to)).collect();
    assert_eq!(times, [(2.0e6, 1), (3.0e6, 2)]);
}

#[test]
fn walls_and_thick_obstacles_shorten_the_range() {
    let model = Radio {
        path: PathLoss::Disc { range_m: 100.0, exponent: 2.0 },
        wall_db: 6.0,
        solid_db_per_m: 2.0,
        ..Radio::default()
    };
    // 20 log₁₀(100/d) must be at least the loss: two edges of 6 dB and 1 m of 2 dB leave 100 · 10^(−14/20) m.
    let limit = 100.0 * swarmyard_base::math::pow(10.0, -14.0 / 20.0);
    let heard = |d: f64, thick: f64| {
        let mut network = model.start(2);
        let mut air = StillAir::new(2, 1);
        air.put(1, v(d, 0.0));
        if thick > 0.0 {
            air.block(&[v(1.0, -1.0), v(1.0 + thick, -1.0), v(1.0 + thick, 1.0), v(1.0, 1.0)]);
        }
        air.send(&mut *network, 0, &[1], b"x");
        air.run(&mut *network, 1.0);
        assert_eq!(air.arrivals + air.losses, 1);
        assert!(air.lost.iter().all(|l| l.why == Loss::Range));
        assert_eq!(network.links(&air).unwrap().len() as u64, air.arrivals);
        air.arrivals == 1
    };
    assert!(heard(100.0, 0.0) && !heard(100.0 + 1e-9, 0.0));
    assert!(heard(limit - 1e-6, 1.0) && !heard(limit + 1e-6, 1.0));
    assert!(!heard(limit - 1e-6, 1.001));
}

#[test]
fn who_sends_cannot_hear_and_who_is_far_does_not_disturb() {
    let model = Radio { access: Access::Aloha, ..Radio::default() };
    let mut air = StillAir::new(4, 1);
    let mut network = model.start(4);
    // 0 and 1 talk to each other at once; 2 talks to 3 far away.
    air.put(1, v(5.0, 0.0));
    air.put(2, v(100.0, 0.0));
    air.put(3, v(105.0, 0.0));
    air.send(&mut *network, 0, &[1], b"x");
    air.send(&mut *network, 1, &[0], b"x");
    air.send(&mut *network, 2, &[3], b"x");
    air.run(&mut *network, 1.0);
    assert_eq!(air.arrived.iter().map(|a| a.to).collect::<Vec<_>>(), [3]);
    assert!(air.lost.iter().all(|l| l.why == Loss::Collision) && air.losses == 2);
}

#[test]
fn hidden_robots_collide_although_they_listen_and_the_nearer_one_is_captured() {
    let run = |capture_db| {
        let model =
            Radio { capture_db, path: PathLoss::Disc { range_m: 10.0, exponent: 2.0 }, ..Radio::default() };
        let mut air = StillAir::new(3, 1);
        // 0 and 2 do not hear each other; 1 between them hears both, 0 at 4 m, 2 at 8 m: 6.02 dB apart.
        air.put(1, v(4.0, 0.0));
        air.put(2, v(12.0, 0.0));
        let mut network = model.start(3);
        air.send(&mut *network, 0, &[1], b"x");
        air.run(&mut *network, 1.0e-4);
        air.send(&mut *network, 2, &[1], b"x");
        air.run(&mut *network, 1.0);
        air.arrived.iter().map(|a| a.from).collect::<Vec<_>>()
    };
    assert_eq!(run(None), []);
    assert_eq!(run(Some(6.0)), [0]);
    assert_eq!(run(Some(6.1)), []);
}

#[test]
fn carrier_sensing_waits_for_its_neighbours() {
    for access in [Access::Csma, Access::CsmaPersistent] {
        let mut network = Radio { access, ..Radio::default() }.start(3);
        let mut air = StillAir::new(3, 1);
        air.send(&mut *network, 0, &[2], b"x");
        air.run(&mut *network, 1.0e-4);
        air.send(&mut *network, 1, &[2], b"x");
        air.run(&mut *network, 1.0);
        assert_eq!((air.arrivals, air.losses), (2, 0));
        let gap = air.arrived[1].seconds() - air.arrived[0].seconds();
        let frame = 33.0 * 8.0e-6;
        if access == Access::CsmaPersistent {
            assert!((gap - frame).abs() < 1e-12, "begins where the other ends: {gap}");
        } else {
            assert!(gap >= frame, "{gap}");
        }
    }
}

#[test]
fn a_full_queue_and_an_air_that_is_never_free_lose_messages() {
    let mut network = Radio { queue: 2, ..Radio::default() }.start(2);
    let mut air = StillAir::new(2, 1);
    for _ in 0..5 {
        air.send(&mut *network, 0, &[1], b"x");
    }
    air.run(&mut *network, 1.0);
    assert_eq!((air.arrivals, air.losses), (3, 2));
    assert!(air.lost.iter().all(|l| l.why == Loss::Full));

    let mut network = Radio { retries: 0, ..Radio::default() }.start(3);
    let mut air = StillAir::new(3, 1);
    air.send(&mut *network, 0, &[2], b"x");
    air.run(&mut *network, 1.0e-4);
    for _ in 0..3 {
        air.send(&mut *network, 1, &[2], b"x");
    }
    air.run(&mut *network, 1.0);
    assert_eq!((air.arrivals, air.losses), (1, 3));
    assert!(air.lost.iter().all(|l| l.why == Loss::Busy));
}

#[test]
fn judged_at_both_ends_a_frame_is_lost_when_its_receiver_drives_away() {
    let run = |judged_at_end| {
        // A frame of 1 s; the receiver leaves the range half-way.
        let model = Radio { judged_at_end, rate_bps: 33.0 * 8.0, ..Radio::default() };
        let mut network = model.start(2);
        let mut air = StillAir::new(2, 1);
        air.glide(1, v(9.5, 0.0), v(1.0, 0.0));
        air.send(&mut *network, 0, &[1], b"x");
        air.run(&mut *network, 3.0);
        (air.arrivals, air.lost.first().map(|l| l.why))
    };
    assert_eq!(run(false), (1, None));
    assert_eq!(run(true), (0, Some(Loss::Range)));
}

#[test]
fn robots_that_are_gone_neither_send_nor_hear() {
    let mut network = Radio::default().start(3);
    let mut air = StillAir::new(3, 1);
    air.remove(1);
    air.send(&mut *network, 0, &[1, 2], b"x");
    air.send(&mut *network, 1, &[2], b"x");
    air.run(&mut *network, 1.0);
    assert_eq!((air.arrivals, air.losses), (1, 2));
    assert_eq!(network.links(&air), Some(vec![(0, 2)]));
    let memory = network.save();
    assert!(memory.len() < 200, "nothing is left of the traffic: {} bytes", memory.len());
}

#[test]
fn tokens_that_nobody_asked_for_do_nothing() {
    let mut network = Radio::default().start(2);
    let mut air = StillAir::new(2, 1);
    for token in [0, 1, u64::MAX, 1 << 62, (1 << 62) + 7, (2 << 62) + 9, (3 << 62) + 5] {
        network.wake(token, &mut air);
    }
    assert_eq!(air.arrivals + air.losses, 0);
}

fn dcf() -> Radio {
    Radio { access: Access::Dcf, slot_s: 20.0e-6, retries: 4, ..Radio::default() }
}

#[test]
fn under_dcf_frames_that_collided_are_repeated_until_they_arrive() {
    // A window of one slot: both send at the same moment, collide, and draw from a wider one.
    let mut network = Radio { window: 1, retries: 16, ..dcf() }.start(3);
    let mut air = StillAir::new(3, 1);
    air.send(&mut *network, 0, &[2], b"x");
    air.send(&mut *network, 1, &[2], b"x");
    air.run(&mut *network, 1.0);
    assert_eq!((air.arrivals, air.losses), (2, 0));
    let frame = 33.0 * 8.0e-6;
    assert!(air.arrived[0].seconds() > 2.0 * frame, "the first attempts collide");
    assert!(air.arrived[1].seconds() - air.arrived[0].seconds() > frame, "one after the other");
}

#[test]
fn under_dcf_a_frame_out_of_range_is_repeated_and_then_lost() {
    let mut network = dcf().start(3);
    let mut air = StillAir::new(3, 1);
    air.put(1, v(11.0, 0.0));
    air.send(&mut *network, 0, &[1], b"x");
    air.send(&mut *network, 0, &[2], b"x");
    air.run(&mut *network, 1.0);
    assert_eq!((air.arrivals, air.losses), (1, 1));
    let attempt = 33.0 * 8.0e-6 + 300.0e-6 + 50.0e-6;
    assert_eq!(air.lost[0].why, Loss::Range);
    let known = air.lost[0].at.since(swarmyard_base::Moment::ZERO);
    assert!(known >= 5.0 * attempt, "five attempts: {known}");
    assert!(air.arrived[0].seconds() > known, "the next one waits for it");
}

#[test]
fn under_dcf_a_frame_to_many_is_sent_once() {
    let mut network = dcf().start(3);
    let mut air = StillAir::new(3, 1);
    air.put(1, v(11.0, 0.0));
    air.send(&mut *network, 0, &[1, 2], b"x");
    air.run(&mut *network, 1.0);
    assert_eq!((air.arrivals, air.losses), (1, 1));
    assert!(air.lost[0].at < air.arrived[0].at, "known when it begins");
}

#[test]
fn under_dcf_a_queue_counts_what_waits_behind_the_frame_in_the_air() {
    let mut network = Radio { queue: 2, ..dcf() }.start(2);
    let mut air = StillAir::new(2, 1);
    air.send(&mut *network, 0, &[1], b"x");
    // In the air, or waiting for its acknowledgement.
    air.run(&mut *network, 800.0e-6);
    for _ in 0..4 {
        air.send(&mut *network, 0, &[1], b"x");
    }
    air.run(&mut *network, 1.0);
    assert_eq!((air.arrivals, air.losses), (3, 2));
}
