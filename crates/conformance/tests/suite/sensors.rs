//! Sensors of the Virtual Robots through the whole simulator, from scenario text to channels.

use std::f64::consts::PI;
use swarmyard::Sim;
use swarmyard_base::{Vec2, math};
use swarmyard_engine::PartKind;
use swarmyard_part_api::{Mark, MarkShape};

/// One robot at the origin with one part called `s`, one step later.
fn sensed(world: &str, robot: &str, part: &str) -> Sim {
    let text = format!(
        "format = 1\n{world}\n[type.bot]\nradius = 0.1\n[[type.bot.part]]\nname = \"s\"\n{part}\n\
         [[robot]]\nname = \"r\"\ntype = \"bot\"\n{robot}\n"
    );
    let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    sim.step().expect("steps");
    sim
}

fn reading(sim: &Sim, channel: &str) -> Vec<f64> {
    sim.channel("/robots/r/s", channel).expect("channel").to_vec()
}

fn refused(part: &str) -> String {
    let text = format!(
        "format = 1\n[type.bot]\nradius = 0.1\n[[type.bot.part]]\nname = \"s\"\n{part}\n[[robot]]\ntype = \"bot\"\n"
    );
    match Sim::from_text(&text) {
        Ok(_) => panic!("it loads:\n{text}"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn eight_sonars_sit_on_a_ring_and_measure_from_there() {
    let part = "class = \"sonar\"\ncount = 8\nring = 0.1\ncone_angle = \"10deg\"\nrange = 6";
    let sim = sensed("[world]\nmin = [-3, -2]\nmax = [4, 5]\n", "", part);
    let range = reading(&sim, "range");
    for (k, expected) in [(0, 3.9), (2, 4.9), (4, 2.9), (6, 1.9)] {
        assert!((range[k] - expected).abs() < 1e-9, "{k}: {range:?}");
    }
    // To the south-west the border is nearest at the edge of the cone that turns towards the south.
    let south_west = (2.0 - 0.1 * 0.5_f64.sqrt()) / math::cos(40.0_f64.to_radians());
    assert!((range[5] - south_west).abs() < 1e-9, "{range:?}");
    assert_eq!(reading(&sim, "hit"), [1.0; 8]);
}

#[test]
fn a_coarse_sonar_is_one_ray() {
    let part = "class = \"sonar\"\ncone_angle = \"30deg\"\nrange = 6\nnoise = 0.1";
    let world = "[[obstacle]]\nat = [2, 0.3]\nradius = 0.1\n[[wall]]\npoints = [[4, -1], [4, 1]]\n";
    let full = sensed(world, "", part);
    let coarse = sensed(&format!("[run]\ndetail = \"coarse\"\n{world}"), "", part);
    assert!((reading(&full, "range")[0] - 1.92).abs() < 0.5 && reading(&full, "hit") == [3.0]);
    assert_eq!((reading(&coarse, "range"), reading(&coarse, "hit")), (vec![4.0], vec![1.0]));
}

#[test]
fn a_compass_reads_the_heading_against_north() {
    let at = "at = [0, 0, \"30deg\"]";
    let plain = sensed("", at, "class = \"compass\"");
    assert!((reading(&plain, "heading")[0] - PI / 6.0).abs() < 1e-12);
    let turned = sensed("", at, "class = \"compass\"\nnorth = \"-170deg\"");
    assert!((reading(&turned, "heading")[0] + 160.0 * PI / 180.0).abs() < 1e-12, "wrapped into one turn");
    let noisy = sensed("", at, "class = \"compass\"\nnoise = \"5deg\"");
    let off = (reading(&noisy, "heading")[0] - PI / 6.0).abs();
    assert!(off > 1e-6 && off < 0.6);
}

const FINDER: &str =
    "class = \"beacon-finder\"\nmount = [0, 0, \"90deg\"]\nrange = 5\naperture = \"270deg\"\nslots = 3";

#[test]
fn a_finder_reports_bearings_in_the_order_of_codes() {
    let world =
        "[[beacon]]\nname = \"b\"\nid = 9\nat = [0, 2]\n[[beacon]]\nname = \"a\"\nid = 4\nat = [2, 0]\n";
    let sim = sensed(world, "", FINDER);
    assert_eq!(reading(&sim, "id"), [4.0, 9.0, -1.0]);
    let bearing = reading(&sim, "bearing");
    assert!(
        (bearing[0] + PI / 2.0).abs() < 1e-12 && bearing[1].abs() < 1e-12 && bearing[2] == 0.0,
        "{bearing:?}"
    );
    assert_eq!(reading(&sim, "count"), [2.0]);
}

#[test]
fn of_more_beacons_than_slots_the_lowest_codes_are_reported() {
    let beacon = |id: usize| format!("[[beacon]]\nid = {id}\nat = [1, 0.{id}]\n");
    let world: String = [7, 3, 8, 1, 5].map(beacon).concat();
    assert_eq!(reading(&sensed(&world, "", FINDER), "id"), [1.0, 3.0, 5.0]);
}

#[test]
fn a_beacon_is_seen_only_within_both_ranges_and_both_apertures_and_in_line_of_sight() {
    let wall = "[[wall]]\npoints = [[1, -1], [1, 1]]\nto = 0.3\n";
    let cases = [
        ("in the open", "", "at = [2, 0]", true),
        ("beyond its own range", "", "at = [2, 0]\nrange = 1.9", false),
        ("within its own range", "", "at = [2, 0]\nrange = 2.1", true),
        ("beyond the finder's range", "", "at = [5.1, 0]\nrange = 9", false),
        ("shining this way", "", "at = [2, 0, \"170deg\"]\naperture = \"21deg\"", true),
        ("shining past", "", "at = [2, 0, \"170deg\"]\naperture = \"19deg\"", false),
        ("behind the finder", "", "at = [0.3, -2]", false),
        ("just inside the finder's aperture", "", "at = [2, -1.9]", true),
        ("just outside of it", "", "at = [2, -2.1]", false),
        ("behind a wall", wall, "at = [2, 0]", false),
        ("beside the wall", wall, "at = [2, 2.1]", true),
        ("high above the wall", wall, "at = [2, 0]\nheight = 0.5", true),
        ("on the wall", wall, "at = [1, 0]", true),
        ("behind another body", "[[obstacle]]\nat = [1, 0]\nradius = 0.2\n", "at = [2, 0.1]", false),
    ];
    for (what, world, beacon, seen) in cases {
        let sim = sensed(&format!("{world}[[beacon]]\nid = 2\n{beacon}\n"), "", FINDER);
        assert_eq!(reading(&sim, "count")[0] == 1.0, seen, "{what}");
    }
}

#[test]
fn a_finder_with_sectors_tells_only_sectors_apart() {
    let part = "class = \"beacon-finder\"\naperture = \"120deg\"\nsectors = 4";
    for (y, expected_deg) in [(0.1, 15.0), (1.0, 45.0), (-0.1, -15.0), (-1.5, -45.0)] {
        let sim = sensed(&format!("[[beacon]]\nid = 1\nat = [1, {y}]\n"), "", part);
        assert!((reading(&sim, "bearing")[0].to_degrees() - expected_deg).abs() < 1e-9, "{y}");
    }
}

#[test]
fn a_template_turns_its_beacons_with_it() {
    let world = "[template.gate]\n[[template.gate.beacon]]\nname = \"lamp\"\nid = 3\nat = [1, 0, \"180deg\"]\naperture = \"20deg\"\n\
                 [[use]]\ntemplate = \"gate\"\nname = \"g\"\nat = [0, 1, \"90deg\"]\n";
    let sim = sensed(world, "", FINDER);
    let beacon = &sim.model().beacons[0];
    assert_eq!(beacon.path, "/beacons/g.lamp");
    assert!((beacon.pose.at.x).abs() < 1e-12 && (beacon.pose.at.y - 2.0).abs() < 1e-12);
    assert_eq!(reading(&sim, "id")[0], 3.0, "it shines down on the robot");
    assert_eq!(sim.model().path_of(beacon.uid), Some("/beacons/g.lamp"));
}

const TRACKER: &str = "class = \"track-sensor\"\nheight = 0.08\ninclination = \"45deg\"\ncone_angle = \"30deg\"\nprecision = 16\n\
                       coverage = 15\nmax_value = 255\nerror_level = 0";

#[test]
fn a_track_sensor_counts_the_segments_that_lie_on_a_track() {
    // Everything; then all of the left half; then nothing, because the patch begins 4.6 cm ahead.
    let half = "[[track]]\npoints = [[-1, 0], [1, 0], [1, 1], [-1, 1]]\n";
    let all = "[[track]]\npoints = [[-1, -1], [1, -1], [1, 1], [-1, 1]]\n";
    let behind = "[[track]]\npoints = [[-1, 0], [0.04, 0]]\nwidth = 0.01\n";
    let grey = "[[track]]\npoints = [[-1, -1], [1, -1], [1, 1], [-1, 1]]\nreflectivity = 0.4\n";
    for (track, detected, value) in
        [(all, 1.0, 255.0), (half, 1.0, 128.0), (behind, 0.0, 0.0), (grey, 1.0, 102.0)]
    {
        let sim = sensed(track, "", TRACKER);
        assert_eq!((reading(&sim, "detected")[0], reading(&sim, "value")[0]), (detected, value), "{track}");
    }
}

#[test]
fn a_row_of_track_sensors_sees_a_track_on_its_left_with_its_first_ones() {
    let track = "[[track]]\npoints = [[-1, 0.1], [1, 0.1]]\nwidth = 0.02\n";
    let sim = sensed(track, "", &format!("{TRACKER}\ncount = 3\nspacing = 0.1"));
    assert_eq!(reading(&sim, "detected"), [1.0, 0.0, 0.0]);
    let turned =
        sensed(track, "", &format!("{TRACKER}\ncount = 3\nspacing = 0.1\nmount = [0, 0, \"180deg\"]"));
    assert_eq!(reading(&turned, "detected"), [0.0, 0.0, 1.0], "looking back, left is right");
}

#[test]
fn a_coarse_track_sensor_looks_at_one_point() {
    let narrow = "[run]\ndetail = \"coarse\"\n[[track]]\npoints = [[0.08, -1], [0.08, 1]]\nwidth = 0.002\n";
    let sim = sensed(narrow, "", TRACKER);
    assert_eq!((reading(&sim, "detected"), reading(&sim, "value")), (vec![1.0], vec![255.0]), "8 cm ahead");
}

#[test]
fn noise_of_a_track_sensor_stays_within_its_error_level() {
    let text = "format = 1\n[[track]]\npoints = [[-1, 0], [1, 0], [1, 1], [-1, 1]]\n[type.bot]\nradius = 0.1\n[[type.bot.part]]\n\
                name = \"s\"\nclass = \"track-sensor\"\nerror_level = 10\n[[robot]]\nname = \"r\"\ntype = \"bot\"\n";
    let mut sim = Sim::from_text(text).expect("loads");
    let mut values = Vec::new();
    for _ in 0..500 {
        sim.step().expect("steps");
        values.push(reading(&sim, "value")[0]);
    }
    let (least, most) =
        values.iter().fold((255.0_f64, 0.0_f64), |(a, b), v| (math::min(a, *v), math::max(b, *v)));
    assert!(least >= 102.0 && most <= 153.0, "{least} to {most}");
    assert!(least < 107.0 && most > 148.0, "and uses all of it: {least} to {most}");
}

#[test]
fn two_parts_of_one_class_do_not_share_their_noise() {
    let mut sim = Sim::from_text(
        "format = 1\n[type.bot]\nradius = 0.1\n[[type.bot.part]]\nname = \"a\"\nclass = \"compass\"\nnoise = 0.1\n\
         [[type.bot.part]]\nname = \"b\"\nclass = \"compass\"\nnoise = 0.1\n[[robot]]\nname = \"r\"\ntype = \"bot\"\n",
    )
    .expect("loads");
    sim.step().expect("steps");
    let read = |part: &str| sim.channel(part, "heading").expect("channel")[0];
    assert_ne!(read("/robots/r/a"), read("/robots/r/b"));
}

#[test]
fn what_cannot_be_built_is_refused_with_a_reason() {
    let horizon = refused("class = \"track-sensor\"\ninclination = \"70deg\"\ncone_angle = \"50deg\"");
    assert!(horizon.contains("does not meet the floor"), "{horizon}");
    let percent = refused("class = \"track-sensor\"\ncoverage = \"15%\"");
    assert!(percent.contains("percentage already"), "{percent}");
    let lone = refused(
        "class = \"track-sensor\"\n[[type.bot.part]]\nname = \"d\"\nclass = \"diff-drive\"\n\
         [type.bot.controller]\nclass = \"track-follow\"",
    );
    assert!(lone.contains("two or more"), "{lone}");
}

/// The marks of the part `s` for some readings.
fn marks(sim: &Sim, readings: &[f64]) -> Vec<Mark> {
    let ty = &sim.model().types[0];
    let PartKind::Sensor(sensor, _) = &ty.parts[0].kind else { panic!("a sensor") };
    sensor.marks(readings, &sim.model().outlines[ty.outline as usize])
}

#[test]
fn sensors_draw_what_they_see() {
    let sonar = sensed("", "", "class = \"sonar\"\nring = 0.1\ncone_angle = \"60deg\"");
    let drawn = marks(&sonar, &[2.0, 1.0]);
    let MarkShape::Arc { centre, radius, from, to } = drawn[1].shape else { panic!("{drawn:?}") };
    assert_eq!((centre, radius, drawn[1].channel), (Vec2::new(0.1, 0.0), 2.0, "range"));
    assert!((from + PI / 6.0).abs() < 1e-12 && (to - PI / 6.0).abs() < 1e-12);
    let MarkShape::Line(edges) = &drawn[0].shape else { panic!("{drawn:?}") };
    assert!((edges[2] - Vec2::new(0.1 + 3.0_f64.sqrt(), 1.0)).norm() < 1e-12, "{edges:?}");

    let finder = sensed("", "", FINDER);
    let drawn = marks(&finder, &[0.0, 0.0, 0.0, 7.0, -1.0, -1.0, 1.0]);
    assert_eq!(drawn.len(), 2, "a line and a code for one beacon: {drawn:?}");
    assert!(matches!(&drawn[1].shape, MarkShape::Text { text, .. } if text == "7"));

    let tracker = sensed("", "", &format!("{TRACKER}\ncount = 2"));
    let drawn = marks(&tracker, &[0.0, 1.0, 0.0, 99.0]);
    let radii: Vec<f64> = drawn
        .iter()
        .map(|m| if let MarkShape::Circle { radius, .. } = m.shape { radius } else { panic!("{m:?}") })
        .collect();
    assert!(
        radii.len() == 2 && radii[0] == 2.0 * radii[1],
        "two concentric circles where it detects: {drawn:?}"
    );
    assert!(drawn.iter().all(|m| m.index == 1));

    let needle = marks(&sensed("", "", "class = \"compass\""), &[PI / 2.0]);
    let MarkShape::Line(points) = &needle[0].shape else { panic!("{needle:?}") };
    assert!(
        (points[1] - Vec2::new(0.0, -0.08)).norm() < 1e-12,
        "north is to the right of who is turned left of it"
    );
}

/// The SICK LMS200 in its two modes: 361 or 181 readings over half a turn, 401 over 100 degrees at a
/// quarter; 13 bits of millimetres end at 8.191 m, of centimetres at 81.91 m.
#[test]
fn a_laser_scanner_has_the_counts_and_steps_of_its_data_sheet() {
    let scanner = |rays: usize, spread: f64, range: f64, step: f64| {
        let part = format!(
            "class = \"range-rays\"\nrays = {rays}\nspread = \"{spread}deg\"\nrange = {range}\nresolution = {step}"
        );
        let world = "[[wall]]\npoints = [[3.3337, -1], [3.3337, 1]]\n";
        let sim = sensed(world, "", &part);
        (reading(&sim, "range"), sim)
    };
    for (rays, spread, degrees) in [(361, 180.0, 0.5), (181, 180.0, 1.0), (401, 100.0, 0.25)] {
        let (ranges, sim) = scanner(rays, spread, 8.191, 0.001);
        assert_eq!(ranges.len(), rays);
        let (first, step) = sim.model().types[0].parts[0].layout.bearings.unwrap();
        assert!(
            (step.to_degrees() - degrees).abs() < 1e-12 && (first.to_degrees() + spread / 2.0).abs() < 1e-12
        );
        assert!((ranges[rays / 2] - 3.334).abs() < 1e-12, "{}", ranges[rays / 2]);
        assert!((ranges[0] - 8.191).abs() < 1e-12, "nothing is there: {}", ranges[0]);
    }
    let (ranges, _) = scanner(181, 180.0, 81.919, 0.01);
    assert!(
        (ranges[0] - 81.91).abs() < 1e-12 && (ranges[90] - 3.33).abs() < 1e-12,
        "{} {}",
        ranges[0],
        ranges[90]
    );
}
