//! The log that the cooperative-robots thesis prints comes out of the engine: every transition whose two rows
//! are both printed. Times agree within a millisecond, positions within a hundredth.

use swarmyard_engine::{Note, Row, RowKind, RunEvent};
use swarmyard_sim::Sim;

/// Radius of the thesis' robots; any would do, as what they hit is placed in touch.
const RADIUS: f64 = 10.0;

/// A row of the log: time, position, angle in degrees.
struct Printed {
    time: f64,
    at: [f64; 2],
    angle: f64,
}

/// Runs one robot from a printed row on: towards `to`, with speeds in units and degrees per second; something
/// may stand in its way. Answers the rows of its motion with their times.
fn play(
    from: &Printed,
    to: [f64; 2],
    speed: f64,
    turn_speed: f64,
    stands_at: Option<[f64; 2]>,
) -> Vec<(f64, Row)> {
    let stop = stands_at.map_or(String::new(), |at| {
        format!("[[obstacle]]\nname = \"other\"\nradius = {RADIUS}\nat = [{}, {}]\n", at[0], at[1])
    });
    let text = format!(
        "format = 1\n[run]\nquantum = \"1s\"\nduration = \"200s\"\n[type.robot]\nradius = {RADIUS}\n\
         [[type.robot.part]]\nname = \"wheels\"\nclass = \"wheels\"\nturn = \"ccw\"\n\
         [type.robot.algorithm]\nclass = \"scripted\"\n\
         moves = [[{}, {}, {}, {speed}, \"{turn_speed} deg/s\"]]\n\
         [[robot]]\nname = \"p\"\ntype = \"robot\"\nat = [{}, {}, \"{} deg\"]\n{stop}",
        from.time, to[0], to[1], from.at[0], from.at[1], from.angle
    );
    let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    sim.take_notes(true);
    let mut rows = Vec::new();
    while !sim.is_over() {
        for event in sim.step().expect("steps").events {
            if let RunEvent::Live(note) = event
                && let Note::Row(row) = note.what
            {
                rows.push((note.at.since(swarmyard_base::Moment::ZERO), row));
            }
        }
    }
    rows
}

fn close(found: &(f64, Row), printed: &Printed) {
    let (time, row) = found;
    assert!((time - printed.time).abs() < 0.001, "at {time}, printed {}", printed.time);
    let off = (row.at.x - printed.at[0]).hypot(row.at.y - printed.at[1]);
    assert!(off < 0.01, "at {:?}, printed {:?}", row.at, printed.at);
    let angle = row.heading.to_degrees().rem_euclid(360.0);
    assert!((angle - printed.angle).abs() < 0.01, "heading {angle}, printed {}", printed.angle);
}

fn finish(rows: &[(f64, Row)]) -> &(f64, Row) {
    rows.iter().find(|r| r.1.kind == RowKind::Finish).expect("it arrives")
}

/// Straight motions that arrive: robots 1, 5 and 4.
#[test]
fn three_arrivals() {
    for (from, speed, to) in [
        (
            Printed { time: 65.851, at: [379.148, 448.388], angle: 333.006 },
            5.964,
            Printed { time: 74.163, at: [423.319, 425.888], angle: 333.006 },
        ),
        (
            Printed { time: 85.831, at: [401.356, 373.418], angle: 64.279 },
            5.452,
            Printed { time: 92.728, at: [417.676, 407.296], angle: 64.279 },
        ),
        (
            Printed { time: 93.673, at: [417.046, 410.886], angle: 167.120 },
            3.106,
            Printed { time: 96.240, at: [409.272, 412.664], angle: 167.120 },
        ),
    ] {
        // It looks there already, but for rounding; a fast turn takes care of that.
        let rows = play(&from, to.at, speed, 1e9, None);
        close(finish(&rows), &to);
    }
}

/// Turns, which go counter-clockwise only: robots 28 and 8.
#[test]
fn two_turns() {
    for (from, to, turn_speed, after) in [
        (
            Printed { time: 62.840, at: [417.171, 22.293], angle: 263.158 },
            [759.919, 127.097],
            8.784,
            Printed { time: 75.800, at: [417.171, 22.293], angle: 17.002 },
        ),
        (
            Printed { time: 80.433, at: [419.290, 386.045], angle: 35.148 },
            [407.641, 411.715],
            6.413,
            Printed { time: 92.793, at: [419.290, 386.045], angle: 114.408 },
        ),
    ] {
        let rows = play(&from, to, 5.0, turn_speed, None);
        close(rows.iter().find(|r| r.1.kind == RowKind::Next).expect("it has turned"), &after);
    }
}

/// Motions that end at a contact: robots 28, 73 and 40. What they hit stands in touch with where they stopped.
#[test]
fn three_collision_stops() {
    for (from, to, speed, stop) in [
        (
            Printed { time: 75.800, at: [417.171, 22.293], angle: 17.002 },
            [759.919, 127.097],
            7.687,
            Printed { time: 95.948, at: [565.279, 67.588], angle: 17.002 },
        ),
        (
            Printed { time: 64.504, at: [559.749, 285.555], angle: 196.482 },
            [70.128, 140.692],
            5.245,
            Printed { time: 75.573, at: [504.075, 269.083], angle: 196.482 },
        ),
        (
            Printed { time: 80.947, at: [24.364, 472.005], angle: 321.443 },
            [411.861, 163.148],
            10.115,
            Printed { time: 85.940, at: [63.864, 440.521], angle: 321.443 },
        ),
    ] {
        let ahead = stop.angle.to_radians();
        let other = [stop.at[0] + 2.0 * RADIUS * ahead.cos(), stop.at[1] + 2.0 * RADIUS * ahead.sin()];
        let rows = play(&from, to, speed, 1e9, Some(other));
        let hit = rows.iter().find(|r| matches!(r.1.kind, RowKind::Collision(..))).expect("it is stopped");
        close(hit, &stop);
        assert!(!rows.iter().any(|r| r.1.kind == RowKind::Finish), "its arrival is cancelled");
    }
}
