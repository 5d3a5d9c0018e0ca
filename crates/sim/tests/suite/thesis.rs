//! The log that the cooperative-robots thesis prints comes out of the engine: every motion request of it with the row that
//! follows, and every transition whose two rows are both printed. All columns are compared: times within a
//! millisecond, places and ways within a hundredth, speeds and angles as printed, the condition word by word.

use std::fs;
use std::path::Path;
use swarmyard_base::Moment;
use swarmyard_engine::{Note, Row, RowKind, RunEvent};
use swarmyard_formats::neko::log::{self, Command, Condition, Entry};
use swarmyard_sim::Sim;

/// Radius of the thesis' robots; any would do, as what they hit is placed in touch.
const RADIUS: f64 = 10.0;

/// Degrees per second of somebody who looks there already, but for rounding.
const AT_ONCE: f64 = 1e9;

/// Everything the thesis prints.
fn printed() -> Vec<Entry> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/neko");
    let figure = |number: &str| {
        let name = format!("figure-{number}.log");
        let text = fs::read_to_string(folder.join(&name)).expect("the figure is there");
        log::read(&name, &text).unwrap_or_else(|e| panic!("{:?}", e.problems))
    };
    ["4.12", "5.2", "5.4", "5.6"].into_iter().flat_map(figure).map(|line| line.entry).collect()
}

/// The printed row of a robot at a time with a condition.
fn row(time: f64, robot: u32, condition: &Condition) -> log::Motion {
    let found = printed().into_iter().find_map(|entry| match entry {
        Entry::Motion(m) if m.robot == robot && m.time_s == time && m.condition == *condition => Some(m),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no row of robot {robot} at {time} with {condition}"))
}

/// What stands in the way.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    Nothing,
    Obstacle([f64; 2]),
    /// A robot that has nothing to do.
    Robot([f64; 2]),
}

/// Runs one robot from a printed row on: to `to`, with these speeds (units and degrees per second). Answers the rows
/// of its motion, as the log has them.
fn play(from: &log::Motion, to: [f64; 2], speed: f64, turn_speed: f64, other: Other) -> Vec<log::Motion> {
    let other = match other {
        Other::Nothing => String::new(),
        Other::Obstacle([x, y]) => {
            format!("[[obstacle]]\nname = \"other\"\nradius = {RADIUS}\nat = [{x}, {y}]\n")
        }
        Other::Robot([x, y]) => format!(
            "[type.still]\nradius = {RADIUS}\n[[type.still.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\
             [type.still.algorithm]\nclass = \"scripted\"\nmoves = [[1e6, 0, 0, 1, 1]]\n\
             [[robot]]\nname = \"other\"\ntype = \"still\"\nat = [{x}, {y}]\n"
        ),
    };
    let text = format!(
        "format = 1\n[run]\nquantum = \"1s\"\nduration = \"200s\"\n[type.robot]\nradius = {RADIUS}\n\
         [[type.robot.part]]\nname = \"wheels\"\nclass = \"wheels\"\nturn = \"ccw\"\n\
         [type.robot.algorithm]\nclass = \"scripted\"\n\
         moves = [[{}, {}, {}, {speed}, \"{turn_speed} deg/s\"]]\n\
         [[robot]]\nname = \"p\"\ntype = \"robot\"\nat = [{}, {}, \"{} deg\"]\n{other}",
        from.time_s, to[0], to[1], from.position[0], from.position[1], from.angle_deg
    );
    let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    sim.take_notes(true);
    let mut rows = Vec::new();
    while !sim.is_over() {
        for event in sim.step().expect("steps").events {
            if let RunEvent::Live(note) = event
                && let Note::Row(row) = note.what
            {
                rows.push(logged(note.at.since(Moment::ZERO), from.robot, &row));
            }
        }
    }
    rows
}

/// A row of a move, in the log's columns and units.
fn logged(time_s: f64, robot: u32, row: &Row) -> log::Motion {
    assert_eq!(row.motion, "MoveTo");
    log::Motion {
        collision: matches!(row.kind, RowKind::Collision(..)),
        time_s,
        robot,
        position: [row.at.x, row.at.y],
        destination: [row.to.x, row.to.y],
        angle_deg: row.heading.to_degrees().rem_euclid(360.0),
        turn_deg: row.turn.to_degrees(),
        distance: row.distance,
        turn_speed_deg: row.turn_speed.to_degrees(),
        move_speed: row.speed,
        condition: match row.kind {
            RowKind::Begin(_) | RowKind::Collision(..) => Condition::DoMoveToSequence,
            RowKind::Next => Condition::FinishMoveToSequence,
            RowKind::Finish | RowKind::Passed => Condition::FinishMoveTo,
        },
    }
}

/// Two rows say the same, column by column; `turn` may be off by so much.
#[track_caller]
fn same(found: &log::Motion, printed: &log::Motion, turn: f64) {
    let near = |a: f64, b: f64, most: f64| (a - b).abs() < most;
    let apart = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let columns = [
        ("time", near(found.time_s, printed.time_s, 0.001)),
        ("R#", found.robot == printed.robot),
        ("pos", apart(found.position, printed.position) < 0.01),
        ("des", apart(found.destination, printed.destination) < 0.01),
        ("angle", near(found.angle_deg, printed.angle_deg, 0.01)),
        ("turn", near(found.turn_deg, printed.turn_deg, turn)),
        ("distance", near(found.distance, printed.distance, 0.01)),
        ("tSpeed", near(found.turn_speed_deg, printed.turn_speed_deg, 0.0005)),
        ("mSpeed", near(found.move_speed, printed.move_speed, 0.0005)),
        ("condition", (found.collision, &found.condition) == (printed.collision, &printed.condition)),
    ];
    for (column, is_same) in columns {
        assert!(is_same, "{column}: {found}\nis not what is printed: {printed}");
    }
}

/// As far as three decimals go.
const AS_PRINTED: f64 = 0.0011;

/// All motion requests of the thesis, each with the row that follows it: how far the robot has to turn (counter-clockwise
/// only), and how fast.
///
/// Eight of nine turns are the formula's to a thousandth of a degree. Robot 4 is printed with 22.803°, and its printed
/// places, 5 units apart, give 22.809°: a thousandth of a unit there is a hundredth of a degree.
#[test]
fn nine_requests() {
    let mut requests = 0;
    let all = printed();
    for (k, entry) in all.iter().enumerate() {
        let Entry::MotionRequest(request) = entry else { continue };
        let Command::MoveTo { to, turn_speed_deg, move_speed, .. } = request.command else {
            panic!("the thesis prints moves only")
        };
        let Entry::Motion(begins) = &all[k + 1] else { panic!("its row follows a request") };
        assert_eq!((begins.robot, begins.time_s), (request.robot, request.time_s));
        let rows = play(begins, to, move_speed, turn_speed_deg, Other::Nothing);
        let rounding = request.robot == 4 && request.time_s == 96.240;
        same(&rows[0], begins, if rounding { 0.0065 } else { AS_PRINTED });
        assert_eq!(rounding, (rows[0].turn_deg - begins.turn_deg).abs() > AS_PRINTED);
        requests += 1;
    }
    assert_eq!(requests, 9);
}

/// Straight motions that arrive: robots 1, 5 and 4.
#[test]
fn three_arrivals() {
    for (robot, begins, ends) in [(1, 65.851, 74.163), (5, 85.831, 92.728), (4, 93.673, 96.240)] {
        let (turned, begins) = (
            row(begins, robot, &Condition::FinishMoveToSequence),
            row(begins, robot, &Condition::DoMoveToSequence),
        );
        let rows = play(&begins, begins.destination, begins.move_speed, AT_ONCE, Other::Nothing);
        let [_, ours, goes, arrives] = &rows[..] else { panic!("{rows:?}") };
        same(ours, &turned, AS_PRINTED);
        same(goes, &begins, AS_PRINTED);
        same(arrives, &row(ends, robot, &Condition::FinishMoveTo), AS_PRINTED);
    }
}

/// Turns, which go counter-clockwise only: robots 28 and 8; and how they set out then.
#[test]
fn two_turns() {
    for (robot, begins, ends, speed) in [(28, 62.840, 75.800, 7.687), (8, 80.433, 92.793, 3.517)] {
        let goes = row(ends, robot, &Condition::DoMoveToSequence);
        let begins = row(begins, robot, &Condition::DoMoveToSequence);
        let rows = play(&begins, goes.destination, speed, begins.turn_speed_deg, Other::Nothing);
        same(&rows[0], &begins, AS_PRINTED);
        same(&rows[1], &row(ends, robot, &Condition::FinishMoveToSequence), AS_PRINTED);
        same(&rows[2], &goes, AS_PRINTED);
    }
}

/// Motions that end at a contact: robots 28, 73 and 40. What they hit stands in touch with where they stopped; whether it
/// is an obstacle or a robot makes no difference.
#[test]
fn three_collision_stops() {
    for (robot, begins, ends) in [(28, 75.800, 95.948), (73, 64.504, 75.573), (40, 80.947, 85.940)] {
        let begins = row(begins, robot, &Condition::DoMoveToSequence);
        let stop = row(ends, robot, &Condition::DoMoveToSequence);
        assert!(stop.collision);
        let ahead = stop.angle_deg.to_radians();
        let [x, y] = stop.position;
        let other = [x + 2.0 * RADIUS * ahead.cos(), y + 2.0 * RADIUS * ahead.sin()];
        for other in [Other::Obstacle(other), Other::Robot(other)] {
            let rows = play(&begins, begins.destination, begins.move_speed, AT_ONCE, other);
            let [_, _, goes, hit] = &rows[..] else { panic!("its arrival is cancelled: {rows:?}") };
            same(goes, &begins, AS_PRINTED);
            same(hit, &stop, AS_PRINTED);
        }
    }
}
