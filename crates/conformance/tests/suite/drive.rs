//! The differential drive and its odometer through the whole loop; commands that are no numbers.

use std::f64::consts::PI;
use swarmyard::Sim;
use swarmyard_base::{Pose2, Uid, math};
use swarmyard_conformance::Dice;
use swarmyard_engine::{Infinite, RunEvent};
use swarmyard_part_api::Detail;

/// One robot `r` with a drive and, perhaps, more parts.
fn robot(quantum: &str, drive: &str, more: &str, count: usize) -> Sim {
    let text = format!(
        "format = 1\n[run]\nquantum = \"{quantum}\"\nduration = \"1h\"\n[type.t]\nradius = 0.1\n[[type.t.part]]\nname = \"drive\"\n\
         class = \"diff-drive\"\n{drive}\n{more}\n[type.t.controller]\nclass = \"external\"\n[[robot]]\nname = \"r\"\ntype = \"t\"\n\
         count = {count}\nlayout = {{ class = \"row\", step = [0, 50] }}\n"
    );
    Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn wheels(sim: &mut Sim, robot: usize, left: f64, right: f64) {
    let drive = format!("/robots/r{robot}/drive");
    sim.command(&drive, "left", &[left]).expect("takes it");
    sim.command(&drive, "right", &[right]).expect("takes it");
}

fn pose(sim: &Sim, robot: usize) -> Pose2 {
    sim.pose(&format!("/robots/r{robot}")).expect("is there")
}

fn channel(sim: &Sim, part: &str, name: &str) -> f64 {
    sim.channel(&format!("/robots/r1/{part}"), name).expect("channel")[0]
}

#[track_caller]
fn near(pose: Pose2, expected: (f64, f64, f64), tolerance: f64) {
    let turn = math::wrap_angle(pose.heading - expected.2);
    let off =
        math::max(math::max((pose.at.x - expected.0).abs(), (pose.at.y - expected.1).abs()), turn.abs());
    assert!(off < tolerance, "{pose:?} is {off} off {expected:?}");
}

/// Rows 4.1, 4.2 and 4.3.
#[test]
fn arcs_end_where_the_closed_form_says() {
    for (left, right, base, quantum, expected, tolerance) in [
        (1.0, 1.5, "0.5", "1s", (1.051_838_731_0, 0.574_622_117_7, 1.0), 1e-9),
        (-0.2, 0.2, "0.4", "1s", (0.0, 0.0, 1.0), 1e-12),
        (0.2, 0.4, "0.5", "7.853981633974483s", (0.0, 1.5, PI), 1e-9),
    ] {
        let mut sim = robot(quantum, &format!("base = {base}\nmax_speed = 2"), "", 1);
        wheels(&mut sim, 1, left, right);
        sim.step().expect("steps");
        near(pose(&sim, 1), expected, tolerance);
    }
}

/// Row 4.4.
#[test]
fn a_thousand_quanta_end_where_one_does() {
    let mut dice = Dice::new(31);
    for _ in 0..20 {
        let (left, right) = (dice.between(-2.0, 2.0), dice.between(-2.0, 2.0));
        let end = |quantum: &str, steps: usize| {
            let mut sim = robot(quantum, "base = 0.5\nmax_speed = 2", "", 1);
            wheels(&mut sim, 1, left, right);
            for _ in 0..steps {
                sim.step().expect("steps");
            }
            pose(&sim, 1)
        };
        let one = end("1s", 1);
        near(end("1ms", 1000), (one.at.x, one.at.y, one.heading), 1e-9);
        let v = (left + right) / 2.0;
        let w = (right - left) / 0.5;
        near(one, (v / w * math::sin(w), v / w * (1.0 - math::cos(w)), w), 1e-9);
    }
}

#[test]
fn wheels_change_speed_no_faster_than_allowed_and_no_further_than_possible() {
    let mut sim = robot("100ms", "acceleration = 0.5\nmax_speed = 0.8", "", 1);
    wheels(&mut sim, 1, 5.0, -5.0);
    for k in 1..=20 {
        sim.step().expect("steps");
        let expected = math::min(0.05 * f64::from(k), 0.8);
        assert!((channel(&sim, "drive", "left_speed") - expected).abs() < 1e-12, "quantum {k}");
        assert!((channel(&sim, "drive", "right_speed") + expected).abs() < 1e-12, "quantum {k}");
    }
    wheels(&mut sim, 1, 0.0, 0.0);
    for k in 1..=20 {
        sim.step().expect("steps");
        let expected = math::max(0.8 - 0.05 * f64::from(k), 0.0);
        assert!((channel(&sim, "drive", "left_speed") - expected).abs() < 1e-12, "quantum {k}");
    }
    assert!(sim.twist("/robots/r1").expect("is there").is_rest());
    let mut free = robot("100ms", "max_speed = 0.8", "", 1);
    wheels(&mut free, 1, 5.0, 0.3);
    free.step().expect("steps");
    assert_eq!((channel(&free, "drive", "left_speed"), channel(&free, "drive", "right_speed")), (0.8, 0.3));
}

#[test]
fn slip_has_the_stated_deviation_and_is_independent() {
    let (robots, quanta) = (200, 200);
    let mut sim = robot("100ms", "slip = 0.04\nbase = 0.2", "", robots);
    for r in 1..=robots {
        wheels(&mut sim, r, 0.5, 0.5);
    }
    let (mut n, mut sums) = (0.0, [0.0; 6]);
    let mut before = vec![0.0; robots];
    for quantum in 0..quanta {
        sim.step().expect("steps");
        for (r, previous) in before.iter_mut().enumerate() {
            let part = format!("/robots/r{}/drive", r + 1);
            let slip = |name: &str| sim.channel(&part, name).expect("channel")[0];
            let (l, r) = (slip("left_slip"), slip("right_slip"));
            if quantum > 0 {
                n += 1.0;
                for (sum, x) in sums.iter_mut().zip([l, r, l * l, r * r, l * r, l * *previous]) {
                    *sum += x;
                }
            }
            *previous = l;
        }
    }
    let mean = sums.map(|s| s / n);
    let (sigma, error) = (0.04, 5.0 / n.sqrt());
    println!("{n} draws: mean {:e} {:e}, deviation {} {}", mean[0], mean[1], mean[2].sqrt(), mean[3].sqrt());
    assert!(mean[0].abs() < sigma * error && mean[1].abs() < sigma * error, "mean");
    for second in [mean[2], mean[3]] {
        assert!(
            (second / (sigma * sigma) - 1.0).abs() < error * 2.0_f64.sqrt(),
            "deviation {}",
            second.sqrt()
        );
    }
    assert!(mean[4].abs() < sigma * sigma * error, "wheels are independent");
    assert!(mean[5].abs() < sigma * sigma * error, "quanta are independent");
    // What slips is the ground speed: forward speed has the deviation of the mean of two wheels.
    let forward: Vec<f64> =
        (1..=robots).map(|r| sim.twist(&format!("/robots/r{r}")).expect("is there").forward).collect();
    let spread = (forward.iter().map(|f| (f - 0.5) * (f - 0.5)).sum::<f64>() / robots as f64).sqrt();
    assert!((spread / (0.5 * sigma / 2.0_f64.sqrt()) - 1.0).abs() < 0.3, "{spread}");
    sim.set_detail(Detail::Coarse);
    sim.step().expect("steps");
    assert_eq!(channel(&sim, "drive", "left_slip"), 0.0, "the coarse level has no slip");
}

const ODOMETER: &str =
    "[[type.t.part]]\nname = \"odo\"\nclass = \"odometer\"\nbase = 0.5\nwheel_radius = 0.05\ncounts = 2000";

/// Row 2.15: 500 lines, quadrature.
#[test]
fn a_turn_of_the_wheel_is_two_thousand_counts() {
    let around = 2.0 * PI * 0.05;
    for (left, right, expected) in
        [(1.0, 1.0, (2000.0, 2000.0)), (2.0, -1.0, (4000.0, -2001.0)), (0.0, 0.5, (0.0, 1000.0))]
    {
        let mut sim = robot("100ms", "base = 0.5\nmax_speed = 5", ODOMETER, 1);
        // A hair more than a turn, so that rounding does not fall short of the last count.
        let speed = around * (1.0 + 1e-9);
        wheels(&mut sim, 1, left * speed, right * speed);
        for _ in 0..10 {
            sim.step().expect("steps");
        }
        wheels(&mut sim, 1, 0.0, 0.0);
        sim.step().expect("steps");
        assert_eq!((channel(&sim, "odo", "left"), channel(&sim, "odo", "right")), expected);
    }
}

/// Drives about at random; answers the errors of the reckoned position and heading, and how far it went.
fn reckoning(seed: u64, slip: f64) -> (f64, f64, f64) {
    let mut sim = robot("100ms", &format!("base = 0.5\nmax_speed = 2\nslip = {slip}"), ODOMETER, 1);
    let mut dice = Dice::new(seed);
    let mut path = 0.0;
    for _ in 0..300 {
        let (left, right) = (dice.between(-0.5, 1.0), dice.between(-0.5, 1.0));
        wheels(&mut sim, 1, left, right);
        sim.step().expect("steps");
        path += 0.1 * (left.abs() + right.abs()) / 2.0;
    }
    // Readings are of the committed state: one more quantum at rest brings the last one in.
    let truth = pose(&sim, 1);
    wheels(&mut sim, 1, 0.0, 0.0);
    sim.step().expect("steps");
    let (x, y, h) = (channel(&sim, "odo", "x"), channel(&sim, "odo", "y"), channel(&sim, "odo", "heading"));
    let off = math::hypot(truth.at.x - x, truth.at.y - y);
    (off, math::wrap_angle(truth.heading - h).abs(), path)
}

#[test]
fn dead_reckoning_is_as_good_as_its_counts_and_slip_leads_it_astray() {
    let count = 2.0 * PI * 0.05 / 2000.0;
    let (mut worst, mut astray) = (0.0_f64, 0);
    for seed in 0..10 {
        let (off, turned, path) = reckoning(seed, 0.0);
        // Each wheel is known to a count; a heading error of two counts over the base bends the path.
        let heading = 2.0 * count / 0.5;
        assert!(turned <= heading + 1e-9, "heading {turned}, allowed {heading}");
        let allowed = count + heading * path;
        assert!(off <= allowed, "seed {seed}: {off} m off, allowed {allowed}");
        worst = math::max(worst, off / allowed);
        let (slipped, _, _) = reckoning(seed, 0.1);
        astray += usize::from(slipped > allowed);
    }
    println!("worst share of what the counts allow: {worst}; {astray} of 10 go astray with slip");
    assert!(astray >= 9);
}

/// Bits of everything that is known about a robot.
fn bits(sim: &Sim, robot: usize) -> Vec<u64> {
    let (p, t) = (pose(sim, robot), sim.twist(&format!("/robots/r{robot}")).expect("is there"));
    let mut all = vec![p.at.x, p.at.y, p.heading, t.forward, t.left, t.spin];
    for name in ["left", "right", "x", "y", "heading"] {
        all.extend_from_slice(sim.channel(&format!("/robots/r{robot}/odo"), name).expect("channel"));
    }
    all.into_iter().map(f64::to_bits).collect()
}

#[test]
fn a_command_that_is_no_number_halts_its_robot_only() {
    for (bad, wheel) in
        [(f64::NAN, "left"), (f64::INFINITY, "right"), (f64::NEG_INFINITY, "left"), (-f64::NAN, "right")]
    {
        let make = || {
            let mut sim = robot("100ms", "base = 0.5\nmax_speed = 2\nslip = 0.05", ODOMETER, 3);
            for r in 1..=3 {
                wheels(&mut sim, r, 0.5 + 0.1 * r as f64, 0.4);
            }
            for _ in 0..5 {
                sim.step().expect("steps");
            }
            sim
        };
        let (mut sim, mut control) = (make(), make());
        sim.command("/robots/r2/drive", wheel, &[bad]).expect("is taken, and caught at the border");
        let stood = pose(&sim, 2);
        for step in 0..10 {
            let (frame, usual) = (sim.step().expect("steps"), control.step().expect("steps"));
            let reported = RunEvent::NotFinite { robot: Uid::of_path("/robots/r2"), what: Infinite::Command };
            let expected = if step == 0 { vec![reported] } else { Vec::new() };
            assert_eq!(frame.events, expected, "reported once, with nobody else");
            assert_ne!(frame.hash, usual.hash, "the halt is in the hash");
            for other in [1, 3] {
                assert_eq!(bits(&sim, other), bits(&control, other), "robot {other} at step {step}");
            }
            assert_eq!(pose(&sim, 2), stood, "the robot stands");
            // Commands to a halted robot do nothing.
            wheels(&mut sim, 2, 1.0, 1.0);
        }
        assert_eq!(sim.state().halted, [false, true, false]);
        assert_eq!(sim.state().accounts.halts, 1);
        sim.halt("/robots/r2", false).expect("is there");
        wheels(&mut sim, 2, 1.0, 1.0);
        sim.step().expect("steps");
        assert!(pose(&sim, 2) != stood, "and goes on when it is let go");
    }
}

/// A robot of 10 cm that drives towards a wall 40 cm ahead at 0.5 m/s: the front is there after 0.6 s.
fn at_a_wall(drive: &str) -> Sim {
    let more = format!("{ODOMETER}\n[[wall]]\npoints = [[0.4, -1], [0.4, 1]]\n");
    robot("100ms", &format!("base = 0.5\n{drive}"), &more, 1)
}

/// One quantum with both wheels at a speed; answers `stalled` and the speed of the left wheel.
fn push(sim: &mut Sim, speed: f64) -> (f64, f64) {
    wheels(sim, 1, speed, speed);
    sim.step().expect("steps");
    (channel(sim, "drive", "stalled"), channel(sim, "drive", "left_speed"))
}

#[test]
fn a_blocked_robot_stalls_and_says_so_a_quantum_later() {
    let mut sim = at_a_wall("");
    // Six quanta lead to the wall, the seventh is the first that is held up, the eighth tells.
    for quantum in 1..=7 {
        assert_eq!(push(&mut sim, 0.5), (0.0, 0.5), "quantum {quantum}");
    }
    for quantum in 8..=10 {
        assert_eq!(push(&mut sim, 0.5), (1.0, 0.5), "quantum {quantum}");
    }
    assert_eq!(push(&mut sim, 0.0), (1.0, 0.0), "about the quantum before");
    assert_eq!(push(&mut sim, 0.0), (0.0, 0.0), "nobody wants to go");
    assert_eq!(push(&mut sim, -0.5), (0.0, -0.5));
    assert_eq!(push(&mut sim, -0.5), (0.0, -0.5), "and back it goes freely");
    let off = (pose(&sim, 1).at.x - 0.2).abs();
    assert!(off < 3e-5, "{off}");
}

#[test]
fn wheels_that_stall_start_from_rest_and_the_odometer_counts_only_what_rolled() {
    let mut sim = at_a_wall("acceleration = 0.5\nmax_speed = 0.5");
    for _ in 0..30 {
        push(&mut sim, 0.5);
    }
    // However long it pushed, a wheel gets no further than one quantum of acceleration.
    assert_eq!(push(&mut sim, 0.5), (1.0, 0.05));
    assert_eq!(push(&mut sim, -0.5).1, -0.05);
    assert!((push(&mut sim, -0.5).1 + 0.1).abs() < 1e-12);
    push(&mut sim, 0.0);
    push(&mut sim, 0.0);
    push(&mut sim, 0.0);
    // Back by 5, 10 and 5 mm from 30 cm.
    let (truth, reckoned) = (pose(&sim, 1).at.x, channel(&sim, "odo", "x"));
    assert!((truth - 0.28).abs() < 3e-5, "{truth}");
    assert!((truth - reckoned).abs() < 2.0 * PI * 0.05 / 2000.0 + 1e-9, "{truth} {reckoned}");
}

#[test]
fn a_held_wheel_is_a_stall_although_the_other_one_turns() {
    // A long box turns on the spot until its corner meets the wall.
    let text = "format = 1\n[run]\nquantum = \"100ms\"\n[type.t]\nsize = [0.6, 0.2]\n[[type.t.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
                [type.t.controller]\nclass = \"external\"\n[[robot]]\nname = \"r1\"\ntype = \"t\"\n[[wall]]\npoints = [[-1, 0.2], [1, 0.2]]\n";
    let mut sim = Sim::from_text(text).expect("loads");
    for _ in 0..40 {
        wheels(&mut sim, 1, -0.1, 0.1);
        sim.step().expect("steps");
    }
    assert_eq!(channel(&sim, "drive", "stalled"), 1.0);
    assert!(pose(&sim, 1).heading < 1.0, "it is held");
}

#[test]
fn motors_cut_out_after_stalling_for_their_time_until_they_are_let_go() {
    let mut sim = at_a_wall("stall_time = 0.3");
    for _ in 1..=9 {
        assert_eq!(push(&mut sim, 0.5).1, 0.5);
    }
    // Quanta seven, eight and nine were held up: the tenth does not try any more.
    for _ in 10..=15 {
        assert_eq!(push(&mut sim, 0.5), (1.0, 0.0));
    }
    assert_eq!(push(&mut sim, -0.5), (1.0, 0.0), "nor the other way");
    assert_eq!(push(&mut sim, 0.0), (0.0, 0.0), "let go");
    assert_eq!(push(&mut sim, -0.5), (0.0, -0.5));
    let mut free = at_a_wall("");
    for _ in 0..60 {
        assert_eq!(push(&mut free, 0.5).1, 0.5, "without the time it never cuts out");
    }
}

#[test]
fn slip_and_pushes_from_behind_are_no_stall() {
    let mut sim = robot("100ms", "slip = 0.3\nbase = 0.5", "", 1);
    for _ in 0..200 {
        assert_eq!(push(&mut sim, 0.5).0, 0.0);
    }
}

/// Row 4.6, as robots drive it: speed and turning speed scatter by the model's variances around what is
/// commanded, and the odometers notice nothing of it.
#[test]
fn motion_noise_scatters_the_motion_and_not_the_odometer() {
    let noise = "base = 0.5\nmax_speed = 2\nmotion_noise = [0.01, 0.02, 0.03, 0.04, 0.005, 0.006]";
    let odometer = "[[type.t.part]]\nname = \"odometer\"\nclass = \"odometer\"\ncounts = 1000000\n";
    let count = 4000;
    let mut sim = robot("100ms", noise, odometer, count);
    for k in 1..=count {
        // v = 1 m/s, w = 0.5 rad/s
        wheels(&mut sim, k, 0.875, 1.125);
    }
    sim.step().expect("steps");
    let (mut speeds, mut spins) = (Vec::new(), Vec::new());
    for k in 1..=count {
        let twist = sim.twist(&format!("/robots/r{k}")).expect("is there");
        speeds.push(twist.forward - 1.0);
        spins.push(twist.spin - 0.5);
    }
    sim.step().expect("steps");
    let variance = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>() / x.len() as f64;
    // The standard error of a variance from 4000 samples is 2.2 %.
    assert!((variance(&speeds) / 0.015 - 1.0).abs() < 0.1, "{}", variance(&speeds));
    assert!((variance(&spins) / 0.0465 - 1.0).abs() < 0.1, "{}", variance(&spins));
    // One count is 0.19 um: the wheels rolled 87.5 and 112.5 mm in the first quantum, whatever the robot did.
    let per_m = 1_000_000.0 / (2.0 * PI * 0.03);
    for k in [1, 17, 4000] {
        let counts = |name: &str| sim.channel(&format!("/robots/r{k}/odometer"), name).expect("channel")[0];
        let rolled = (counts("left") / per_m, counts("right") / per_m);
        assert!((rolled.0 - 0.0875).abs() < 1e-6 && (rolled.1 - 0.1125).abs() < 1e-6, "{rolled:?}");
    }
}
