//! Logs of Neko's robot simulator: every line that its thesis prints, and lines that are broken.

use proptest::prelude::*;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Time, Uid, math};
use swarmyard_formats::neko::fuzz_log;
use swarmyard_formats::neko::log::{
    Animation, Comma, Command, Condition, Content, Entry, Line, Message, MessageEvent, Motion, MotionRequest,
    Sensing, SensorEvent, SensorRequest, poses, read, read_line, write,
};

/// The figures of the thesis that print logs.
const FIGURES: [(&str, &str); 4] = [
    ("figure-4.12.log", include_str!("../neko/figure-4.12.log")),
    ("figure-5.2.log", include_str!("../neko/figure-5.2.log")),
    ("figure-5.4.log", include_str!("../neko/figure-5.4.log")),
    ("figure-5.6.log", include_str!("../neko/figure-5.6.log")),
];

fn figures() -> impl Iterator<Item = (&'static str, &'static str, Vec<Line>)> {
    let lines = |name: &str, text: &str| read(name, text).unwrap_or_else(|e| panic!("{e}"));
    FIGURES.into_iter().map(move |(name, text)| (name, text, lines(name, text)))
}

#[test]
fn every_line_of_the_thesis_is_written_back_to_the_byte() {
    let mut counts = [0; 5];
    for (name, text, lines) in figures() {
        assert_eq!(write(&lines), text, "{name}");
        for line in &lines {
            assert_eq!(read_line(&line.to_string()).as_ref(), Ok(line));
            let kind = match &line.entry {
                Entry::Motion(_) => 0,
                Entry::MotionRequest(_) => 1,
                Entry::SensorRequest(_) => 2,
                Entry::Message(m) => {
                    assert!(matches!(m.content, Some(Content::Point(_))), "{line}");
                    3
                }
                Entry::Algorithm(_) => 4,
                other => panic!("{other:?}"),
            };
            counts[kind] += 1;
        }
    }
    // Rows, motion requests, sensor requests, messages, texts: 80 lines.
    assert_eq!(counts, [47, 9, 6, 14, 4]);
}

#[test]
fn lines_say_what_the_thesis_says() {
    let figure = |name: &str| figures().find(|f| f.0 == name).expect("the figure").2;
    let gathering = figure("figure-4.12.log");
    let row = |k: usize| match &gathering[k].entry {
        Entry::Motion(row) => row.clone(),
        other => panic!("{other:?}"),
    };
    let wanted = Motion {
        collision: false,
        time_s: 31.059,
        robot: 3,
        position: [734.769, 518.859],
        destination: [423.319, 425.888],
        angle_deg: 196.621,
        turn_deg: 0.0,
        distance: 325.031,
        turn_speed_deg: 0.0,
        move_speed: 4.57,
        condition: Condition::DoMoveToSequence,
    };
    assert_eq!(row(1), wanted);
    assert_eq!(row(4).condition, Condition::FinishMoveTo);
    let collisions = figure("figure-5.2.log");
    assert!(matches!(&collisions[0].entry, Entry::Motion(m) if m.collision && m.robot == 86));
    assert!(collisions.iter().all(|l| l.prefix.is_none()));
    let comma = |line: &Line| match &line.entry {
        Entry::MotionRequest(MotionRequest { command: Command::MoveTo { comma, .. }, .. }) => Some(*comma),
        _ => None,
    };
    assert!(gathering.iter().filter_map(comma).all(|c| c == Comma::Apart));
    let talk = figure("figure-5.6.log");
    assert!(talk.iter().filter_map(comma).all(|c| c == Comma::Close));
    let Entry::Message(message) = &talk[10].entry else { panic!("{:?}", talk[10]) };
    assert_eq!((message.event, message.from, message.to.len()), (MessageEvent::Receive, 6, 9));
    assert_eq!(message.content, Some(Content::Point([673.296_472_545_646_1, 211.928_160_132_814_98])));
}

#[test]
fn what_the_thesis_names_but_does_not_print_has_lines_too() {
    let motion = |command| Entry::MotionRequest(MotionRequest { time_s: 1.5, robot: 2, task: 3, command });
    let sensor = |sensing| Entry::SensorRequest(SensorRequest { robot: 4, sensing });
    let event = |found| {
        let sensing = Sensing::Proximity { view_size: 50.0 };
        Entry::SensorEvent(SensorEvent { time_s: 12.5, robot: 4, sensing, found })
    };
    let message = |event, to: &[u32], content| {
        Entry::Message(Message { event, from: 0, to: to.to_vec(), kind: "ACK".into(), content })
    };
    for (entry, wanted) in [
        (Entry::Header, "time | R# | pos | des | angle | turn | distance | tSpeed | mSpeed | condition"),
        (
            motion(Command::Turn { by_deg: 90.0, turn_speed_deg: 4.5 }),
            "MotionRequest: TIME: 1.500 | ROBOT# 2 Task ID = 3 | Turn: 90.000 with turnSpeed = 4.500",
        ),
        (
            motion(Command::Forward { distance: 7.0, move_speed: 0.25 }),
            "MotionRequest: TIME: 1.500 | ROBOT# 2 Task ID = 3 | Forward: 7.000 with moveSpeed = 0.250",
        ),
        (sensor(Sensing::View { view_size: 1e7 }), "SensorRequest: ROBOT# 4 | View with viewSize 1.0E7"),
        (sensor(Sensing::Contact), "SensorRequest: ROBOT# 4 | Contact"),
        (sensor(Sensing::Other("Sonar at 3".into())), "SensorRequest: ROBOT# 4 | Sonar at 3"),
        (event(vec![]), "SensorEvent: TIME: 12.500 | ROBOT# 4 | Proximity with viewSize 50.0 | []"),
        (
            event(vec![[1.0, 2.0], [3.0, -4.0]]),
            "SensorEvent: TIME: 12.500 | ROBOT# 4 | Proximity with viewSize 50.0 | [[1.000,2.000], [3.000,-4.000]]",
        ),
        (message(MessageEvent::NetworkSend, &[1, 2], None), "messages e ns p0 p1,p2 ACK"),
        (
            message(MessageEvent::NetworkReceive, &[1], Some(Content::Text("null".into()))),
            "messages e nr p0 p1 ACK null",
        ),
        (message(MessageEvent::Send, &[], Some(Content::Text(String::new()))), "messages e s p0  ACK "),
    ] {
        let line = Line::bare(entry);
        assert_eq!(line.to_string(), wanted);
        assert_eq!(read_line(wanted).as_ref(), Ok(&line));
    }
}

#[test]
fn texts_of_programs_cannot_end_a_line() {
    let line = Line::at(1.0, 2, Entry::Algorithm("one\r\ntwo".into()));
    assert_eq!(line.to_string(), "1.000 p2 Algorithm: one  two");
    let message = Message {
        event: MessageEvent::Send,
        from: 1,
        to: vec![2],
        kind: "two words".into(),
        content: Some(Content::Text("a\nb".into())),
    };
    let written = Line::bare(Entry::Message(message)).to_string();
    assert_eq!(written, "messages e s p1 p2 two_words a b");
    let sensing = Sensing::Other("a | b".into());
    let written = Line::bare(Entry::SensorRequest(SensorRequest { robot: 1, sensing })).to_string();
    assert!(read_line(&written).is_ok(), "{written}");
}

/// A good row with one of its columns replaced.
fn row_with(column: usize, text: &str) -> String {
    let row = "1.000 | 2 | [3.000,4.000] | [5.000,6.000] | 7.000 | 8.000 | 9.000 | 10.000 | 11.000 | Do_Turn";
    let mut fields: Vec<&str> = row.split(" | ").collect();
    fields[column] = text;
    format!("Event: | {}", fields.join(" | "))
}

#[test]
fn every_broken_line_is_reported_at_its_place() {
    let place = |text: &str| {
        let problems = read_line(text).expect_err(text);
        let starts = problems.0.iter().map(|d| (d.span.map_or(0, |s| s.start), d.code));
        starts.collect::<Vec<_>>()
    };
    for (text, wanted) in [
        ("Evnt: | 1.000", (0, "unknown-entry")),
        ("1.000 p3 Evnt: | 1.000", (9, "unknown-entry")),
        ("1.000 p3", (0, "bad-line")),
        ("1.0 p3 Algorithm: x", (0, "bad-line")),
        ("1.000 q3 Algorithm: x", (6, "bad-line")),
        ("1.000 p03 Algorithm: x", (7, "bad-line")),
        ("Algorithm:", (10, "bad-line")),
        ("Algorithm: a\rb", (12, "syntax")),
        ("Event: | 1.000 | 2", (7, "bad-line")),
        ("Event: 1.000", (7, "bad-line")),
        (&row_with(0, "1.00"), (9, "bad-line")),
        (&row_with(1, "-2"), (17, "bad-line")),
        (&row_with(2, "3.000,4.000"), (21, "bad-line")),
        (&row_with(2, "[3.000, 4.000]"), (28, "bad-line")),
        (&row_with(4, "1e3"), (53, "bad-line")),
        (&row_with(4, "2000000000000.000"), (53, "bad-line")),
        (&row_with(9, ""), (95, "bad-line")),
        (&row_with(9, "Do_Turn(Collision)"), (95, "bad-line")),
        (&row_with(9, "Do Turn"), (95, "bad-line")),
        (&format!("Collision{}", row_with(9, "Do_Turn")), (104, "bad-line")),
        ("SensorRequest: ROBOT# 9", (15, "bad-line")),
        ("SensorRequest: ROBOT 9 | Contact", (15, "bad-line")),
        ("SensorRequest: ROBOT# 9 | Positioning with errorFactor 0", (55, "bad-line")),
        ("SensorRequest: ROBOT# 9 | a | b", (26, "bad-line")),
        ("SensorEvent: TIME: 1.000 | ROBOT# 4 | Contact", (13, "bad-line")),
        ("SensorEvent: TIME: 1.000 | ROBOT# 4 | Contact | 1", (48, "bad-line")),
        ("SensorEvent: TIME: 1.000 | ROBOT# 4 | Contact | [[1.000]]", (49, "bad-line")),
        ("MotionRequest: TIME: 1.000", (15, "bad-line")),
        (
            "MotionRequest: TIME: 1.000 | ROBOT# 1 Task = 1 | Turn: 1.000 with turnSpeed = 1.000",
            (36, "bad-line"),
        ),
        ("MotionRequest: TIME: 1.000 | ROBOT# 1 Task ID = 1 | MovTo: ( 1", (52, "unknown-entry")),
        ("MotionRequest: TIME: 1.000 | ROBOT# 1 Task ID = 1 | MoveTo: ( 1.000 ) with", (62, "bad-line")),
        ("MotionRequest: TIME: 1.000 | ROBOT# 1 Task ID = 1 | Turn: 1.000", (52, "bad-line")),
        ("messages s p0 p1 X", (9, "bad-line")),
        ("messages e s p0 p1", (9, "bad-line")),
        ("messages e q p0 p1 X", (11, "unknown-entry")),
        ("messages e s p0 p1,2 X", (19, "bad-line")),
        ("messages e s p0 p1  X", (19, "bad-line")),
    ] {
        assert_eq!(place(text), [wanted], "{text}");
    }
}

#[test]
fn all_problems_of_a_log_are_reported_with_line_and_column() {
    let bad = row_with(0, "x").replace("11.000", "fast").replace("[5.000,", "[5,");
    let text = format!("{}\r\n\n{bad}\nAlgoritm: x\n1.000 p1 Algorithm: fine\n", row_with(1, "2"));
    let failed = read("robots.log", &text).expect_err("broken lines");
    let place =
        |d: &swarmyard_base::Diagnostic| failed.sources.locate(d.span.expect("a place")).expect("a text");
    let places: Vec<String> = failed.problems.0.iter().map(|d| place(d).to_string()).collect();
    assert_eq!(places, ["robots.log:3:10", "robots.log:3:35", "robots.log:3:79", "robots.log:4:1"]);
    assert_eq!(failed.problems.0[3].help.as_deref(), Some("did you mean `Algorithm:`?"));
    for d in &failed.problems.0 {
        assert!(d.message.contains('`') && !d.message.ends_with('.'), "{}", d.message);
    }
}

#[test]
fn a_robot_is_where_its_next_row_says() {
    let (mut checked, mut worst) = (0, 0.0_f64);
    for (_, _, lines) in figures() {
        let stretches = poses(&lines).expect("few rows");
        let animation = Animation::of(&lines).expect("few rows");
        for (robot, stretches) in &stretches {
            for pair in stretches.windows(2) {
                let [before, after] = pair else { unreachable!("windows of two") };
                // Other rows stand between two that have no motion between them.
                if before.going_s == 0.0 && before.turning_s == 0.0 {
                    continue;
                }
                let pose = before.pose_at(after.from_s);
                let off = (pose.at - after.position).norm();
                let turned = swarmyard_base::math::wrap_angle(pose.heading - after.heading_rad).abs();
                assert!(turned < 2e-4, "robot {robot}: {turned} rad");
                let shown = animation.pose_at(*robot, after.from_s - 1e-9).expect("it has rows");
                assert!((shown.at - pose.at).norm() < 1e-6);
                worst = math::max(worst, off);
                checked += 1;
            }
        }
    }
    println!("{checked} rows, at most {worst:.4} from where the row before leads");
    assert_eq!(checked, 8);
    assert!(worst < 0.01, "{worst}");
}

#[test]
fn robots_stand_before_their_first_row_and_when_they_have_arrived() {
    let row = |time_s, turn_deg, distance, turn_speed_deg, move_speed| {
        let motion = Motion {
            collision: false,
            time_s,
            robot: 7,
            position: [10.0, 0.0],
            destination: [10.0, 6.0],
            angle_deg: 90.0,
            turn_deg,
            distance,
            turn_speed_deg,
            move_speed,
            condition: Condition::DoMoveToSequence,
        };
        Line::at(time_s, 7, Entry::Motion(motion))
    };
    let lines =
        [row(2.0, 0.0, 6.0, 0.0, 3.0), row(1.0, -90.0, 0.0, 180.0, 0.0), row(9.0, 0.0, 0.0, 0.0, 0.0)];
    let animation = Animation::of(&lines).expect("few rows");
    assert_eq!(animation.end_s, 9.0);
    let at = |t: f64| {
        let pose = animation.pose_at(7, t).expect("it has rows");
        [pose.at.x, pose.at.y, pose.heading.to_degrees()].map(|x| (x * 1e6).round() / 1e6)
    };
    assert_eq!(at(0.0), [10.0, 0.0, 90.0]);
    assert_eq!(at(1.25), [10.0, 0.0, 45.0]);
    assert_eq!(at(1.75), [10.0, 0.0, 0.0]);
    assert_eq!(at(3.0), [10.0, 3.0, 90.0]);
    assert_eq!(at(8.0), [10.0, 6.0, 90.0]);
    assert_eq!(at(1e9), [10.0, 0.0, 90.0]);
    assert_eq!(animation.pose_at(8, 1.0), None);
}

#[test]
fn damaged_logs_are_refused_or_written_back_to_the_byte() {
    const PIECES: [&[u8]; 10] = [b" | ", b"|", b" ", b"-", b"9", b".", b"[", b"\xc3", b"\r", b"\n"];
    let mut readable = 0;
    for (name, text, _) in figures() {
        for round in 0..2000 {
            let draw = Draw::at(3, Uid::of_path(name), Purpose::Test, Time::ZERO, round);
            let mut bytes = text.as_bytes().to_vec();
            for k in 0..=round % 4 {
                let [what, place, length, value] = draw.block(k);
                let at = place as usize % bytes.len();
                let end = (at + 1 + length as usize % 9).min(bytes.len());
                match what % 3 {
                    0 => bytes[at] = b"0123456789.-| p[],"[value as usize % 18],
                    1 => drop(bytes.drain(at..end)),
                    _ => drop(bytes.splice(at..at, PIECES[value as usize % 10].iter().copied())),
                }
            }
            fuzz_log(&bytes);
            readable += usize::from(read(name, &String::from_utf8_lossy(&bytes)).is_ok());
        }
        for end in 0..text.len() {
            fuzz_log(&text.as_bytes()[..end]);
        }
    }
    assert!(readable > 100, "only {readable} damaged logs could still be read");
}

#[test]
fn long_and_hostile_logs_are_refused_politely() {
    let code = |text: &str| read("t.log", text).expect_err("hostile").problems.0[0].code;
    assert_eq!(code(&"x".repeat(65 << 20)), "too-big");
    assert_eq!(code(&format!("Algorithm: {}", "x".repeat(2 << 20))), "too-big");
    assert_eq!(code(&"Algorithm: x\n".repeat(1_000_001)), "too-big");
    let flood = read("t.log", &"Evnt:\n".repeat(100_000)).expect_err("unknown lines");
    assert_eq!(flood.problems.0.len(), 1000);
    let receivers: Vec<String> = (0..100_000).map(|k| format!("p{k}")).collect();
    assert!(read("t.log", &format!("messages e s p0 {} GOTO x", receivers.join(","))).is_ok());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz_log(text.as_bytes());
        fuzz_log(&bytes);
        for start in ["Event: | ", "MotionRequest: ", "messages e s ", "SensorEvent: ", "1.000 p3 SensorRequest: "] {
            fuzz_log(format!("{start}{text}").as_bytes());
        }
    }

    #[test]
    fn numbers_of_programs_come_back_to_the_bit(x in any::<f64>(), y in any::<f64>()) {
        prop_assume!(!x.is_nan() && !y.is_nan());
        let content = Some(Content::Point([x, y]));
        let message = Message { event: MessageEvent::Send, from: 0, to: vec![1], kind: "GOTO".into(), content };
        let line = Line::bare(Entry::Message(message));
        prop_assert_eq!(read_line(&line.to_string()), Ok(line));
    }
}
