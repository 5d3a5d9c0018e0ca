//! What displays are shown is what was sent, whole or as differences; and nothing else is believed.

use proptest::prelude::*;
use swarmyard_part_api::{Mark, MarkShape};
use swarmyard_serve::frame::{
    self, Bodies, GREATEST, Grid, Head, Kept, MOST_CONTACTS, Marks, Row, Shape, Sort, TURN, length,
};
use swarmyard_sim::Sim;

fn head() -> impl Strategy<Value = Head> {
    (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(serial, stop, time_ns)| Head {
        serial,
        revision: 3,
        stop,
        time_ns,
    })
}

fn measure() -> impl Strategy<Value = i64> {
    prop_oneof![-1000..1000_i64, Just(GREATEST), Just(-GREATEST), -GREATEST..=GREATEST]
}

fn row() -> impl Strategy<Value = Row> {
    let heading = -TURN / 2..TURN / 2;
    (measure(), measure(), heading, any::<u8>()).prop_map(|(x, y, heading, flags)| Row {
        x,
        y,
        heading,
        flags,
    })
}

/// Two moments of one world: in the second some bodies are where they were.
fn two_moments() -> impl Strategy<Value = (Bodies, Bodies)> {
    let pair = (row(), row(), any::<bool>()).prop_map(|(a, b, moved)| (a, if moved { b } else { a }));
    let contacts = || prop::collection::vec([measure(), measure()], 0..5);
    let all = (head(), head(), any::<u64>(), prop::collection::vec(pair, 0..40), contacts(), contacts());
    all.prop_map(|(first, second, hash, rows, before, after)| {
        let (a, b) = rows.into_iter().unzip();
        let first = Bodies { head: first, hash, rows: a, contacts: before };
        (first, Bodies { head: second, hash: !hash, rows: b, contacts: after })
    })
}

fn mark() -> impl Strategy<Value = Mark> {
    let vec2 = || (-9.0..9.0, -9.0..9.0).prop_map(|(x, y)| swarmyard_base::Vec2::new(x, y));
    let shape = prop_oneof![
        prop::collection::vec(vec2(), 0..4).prop_map(MarkShape::Line),
        (vec2(), 0.0..2.0).prop_map(|(centre, radius)| MarkShape::Circle { centre, radius }),
        (vec2(), 0.0..2.0, -7.0..7.0, -7.0..7.0).prop_map(|(centre, radius, from, to)| MarkShape::Arc {
            centre,
            radius,
            from,
            to
        }),
        (vec2(), "[a-zä☺]{0,6}").prop_map(|(at, text)| MarkShape::Text { at, text }),
    ];
    (shape, 0..9_usize).prop_map(|(shape, index)| Mark { shape, channel: "range", index })
}

fn robots() -> impl Strategy<Value = Vec<Vec<Mark>>> {
    prop::collection::vec(prop::collection::vec(mark(), 0..4), 0..6)
}

fn drawn(head: Head, robots: &[Vec<Mark>]) -> Marks {
    let mut marks = Marks::new(head);
    for (k, robot) in robots.iter().enumerate() {
        marks.add_robot(k as u32 * 7);
        for (part, mark) in robot.iter().enumerate() {
            marks.add(part as u32, 300, mark);
        }
    }
    marks
}

proptest! {
    #[test]
    fn bodies_come_back_as_they_were_sent((_, bodies) in two_moments()) {
        prop_assert_eq!(Bodies::decode(&bodies.encode_full(), None), Ok(bodies));
    }

    #[test]
    fn differences_lead_to_the_same_as_the_whole((earlier, later) in two_moments()) {
        let since = later.encode_since(&earlier).expect("it is one world");
        prop_assert_eq!(Bodies::decode(&since, Some(&earlier)), Ok(later));
    }

    #[test]
    fn marks_come_back_as_they_were_sent(head in head(), robots in robots()) {
        let marks = drawn(head, &robots);
        prop_assert_eq!(marks.len(), robots.len());
        prop_assert_eq!(Marks::decode(&marks.encode_full(), None), Ok(marks));
    }

    #[test]
    fn marks_that_move_appear_and_go_are_the_same_as_whole_ones(
        heads in (head(), head()), before in robots(), after in robots(), keep in 0..7_usize, nudge in -1.0..1.0
    ) {
        // The first few robots keep their shapes and move them; the others are drawn anew.
        let mut after = after;
        for (new, old) in after.iter_mut().zip(&before).take(keep) {
            new.clone_from(old);
            for mark in new {
                if let MarkShape::Line(points) = &mut mark.shape {
                    points.iter_mut().for_each(|p| p.x += nudge);
                }
            }
        }
        let (earlier, later) = (drawn(heads.0, &before), drawn(heads.1, &after));
        let since = later.encode_since(&earlier).expect("it is one world");
        prop_assert_eq!(Marks::decode(&since, Some(&earlier)), Ok(later));
    }

    #[test]
    fn grids_come_back_as_they_were_sent(
        head in head(), corner in [measure(), measure()], columns in 0..9_u32, rows in 0..9_u32, cell in any::<u8>()
    ) {
        let cells = (0..columns * rows).map(|k| cell.wrapping_add(k as u8)).collect();
        let grid = Grid { head, body: 5, x: corner[0], y: corner[1], cell: 500, columns, cells };
        prop_assert_eq!(Grid::decode(&grid.encode()), Ok(grid));
    }

    #[test]
    fn any_bytes_are_a_frame_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        frame::fuzz(&bytes);
    }

    #[test]
    fn a_damaged_frame_never_does_harm(
        (earlier, later) in two_moments(), marks in robots(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()
    ) {
        let mut kept = Kept { bodies: Some(earlier.clone()), ..Kept::default() };
        let messages = [
            later.encode_full(),
            later.encode_since(&earlier).expect("it is one world"),
            drawn(later.head, &marks).encode_full(),
        ];
        for mut bytes in messages {
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            // Whatever comes of it, it is no panic; and what is refused changes nothing.
            let before = kept.clone();
            if kept.take(&bytes).is_err() {
                prop_assert_eq!(&kept, &before);
            }
        }
    }
}

#[test]
fn a_frame_is_written_as_the_protocol_says() {
    let bodies = Bodies {
        head: Head { serial: 1, revision: 2, stop: 3, time_ns: 300 },
        hash: 0x0807_0605_0403_0201,
        rows: vec![Row::at(0.0001, -0.0001, 0.0064, 4)],
        contacts: vec![[1, 2]],
    };
    let whole = [1, 1, 2, 3, 0xac, 2, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 1, 0x80, 1, 4, 1, 2, 4];
    assert_eq!(bodies.encode_full(), whole);
    let mut later = bodies.clone();
    later.head.serial = 9;
    later.contacts.clear();
    later.rows[0].x += 3;
    let since = [2, 9, 1, 2, 3, 0xac, 2, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0b1, 6, 0, 0, 4, 0];
    assert_eq!(later.encode_since(&bodies).as_deref(), Some(&since[..]));
}

#[test]
fn a_heading_goes_the_short_way_round() {
    let frame = |heading: f64| Bodies { rows: vec![Row::at(0.0, 0.0, heading, 0)], ..Bodies::default() };
    let nearly = std::f64::consts::PI - 0.0006;
    let (before, after) = (frame(nearly), frame(-nearly));
    let since = after.encode_since(&before).expect("it is one world");
    assert_eq!(Bodies::decode(&since, Some(&before)), Ok(after.clone()));
    // Twelve units are one byte; nearly a full turn would be three.
    assert_eq!(since.len(), before.encode_since(&before).expect("it is one world").len() + 4);
}

#[test]
fn differences_from_another_world_are_never_made_and_never_taken() {
    let mut a = Bodies { rows: vec![Row::default(); 3], ..Bodies::default() };
    let b = Bodies { head: Head { serial: 1, ..Head::default() }, ..a.clone() };
    let since = b.encode_since(&a).expect("it is one world");
    assert!(Bodies::decode(&since, None).is_err(), "nothing to build on");
    a.head.serial = 7;
    assert!(Bodies::decode(&since, Some(&a)).is_err(), "another message than it builds on");
    a.head.revision = 1;
    assert_eq!(b.encode_since(&a), None, "another revision");
    a.head.revision = 0;
    a.rows.pop();
    assert_eq!(b.encode_since(&a), None, "another number of bodies");
    let (m, n) = (Marks::new(a.head), Marks::new(Head { revision: 1, ..a.head }));
    assert_eq!(m.encode_since(&n), None, "marks of another revision");
}

#[test]
fn more_contacts_than_fit_are_left_out() {
    let bodies = Bodies { contacts: vec![[1, 1]; MOST_CONTACTS + 50], ..Bodies::default() };
    let shown = Bodies::decode(&bodies.encode_full(), None).expect("a frame");
    assert_eq!(shown.contacts.len(), MOST_CONTACTS);
}

#[test]
fn claims_that_the_length_cannot_hold_are_refused_at_once() {
    let claim = |kind: u8, rest: &[u8]| [&[kind, 0, 0, 0, 0][..], rest].concat();
    let million = [0xc0, 0x84, 0x3d];
    let mut kept = Kept::default();
    for bytes in [
        claim(1, &[&[0; 8][..], &million].concat()),
        claim(3, &million),
        claim(3, &[&[1, 0][..], &million].concat()),
        claim(3, &[&[1, 0, 1, 0, 0, 0, 0][..], &million].concat()),
        claim(3, &[&[1, 0, 1, 3, 0, 0, 0, 0, 0][..], &million].concat()),
        claim(5, &[&[0, 0, 0, 0][..], &million, &million].concat()),
    ] {
        assert!(kept.take(&bytes).is_err(), "{bytes:?}");
    }
}

const WORLD: &str = r#"
format = 1
[world]
min = [0, 0]
max = [4, 4]
[type.bot]
radius = 0.1
[[type.bot.part]]
class = "diff-drive"
name = "drive"
base = 0.1
[[type.bot.part]]
class = "range-rays"
name = "rays"
rays = 3
range = 2.0
[type.bot.controller]
class = "cruise"
left = 0.2
right = 0.3
[[robot]]
type = "bot"
name = "a"
at = [1.0, 1.0, 0.5]
[[robot]]
type = "bot"
name = "b"
at = [3.0, 3.0, -0.5]
"#;

#[test]
fn a_run_is_shown_to_a_tenth_of_a_millimetre_with_what_its_parts_draw() {
    let mut sim = Sim::from_text(WORLD).expect("the world loads");
    let mut kept = Kept::default();
    for serial in 1..50 {
        let now = sim.step().expect("it steps");
        let head = Head { serial, revision: 1, stop: now.stops, time_ns: now.now.0 as u64 };
        let bodies = Bodies { head, hash: now.hash, rows: frame::rows(sim.state()), contacts: Vec::new() };
        let mut marks = Marks::new(head);
        (0..2).for_each(|slot| frame::add_marks(&mut marks, sim.model(), sim.state(), slot));
        let since = kept.bodies.as_ref().and_then(|k| bodies.encode_since(k));
        assert_eq!(kept.take(&since.unwrap_or_else(|| bodies.encode_full())), Ok(Sort::Bodies));
        let since = kept.marks.as_ref().and_then(|k| marks.encode_since(k));
        assert_eq!(kept.take(&since.unwrap_or_else(|| marks.encode_full())), Ok(Sort::Marks));
    }
    let (shown, marks) = (kept.bodies.expect("bodies"), kept.marks.expect("marks"));
    let pose = sim.pose("/robots/b").expect("it is there");
    assert_eq!([shown.rows[1].x, shown.rows[1].y], [length(pose.at.x), length(pose.at.y)]);
    assert_eq!((shown.head.stop, shown.hash), (49, sim.hash()));
    let robot = marks.robots().nth(1).expect("two robots");
    assert_eq!((robot.body, robot.labels.len()), (1, 3));
    assert!(robot.labels.iter().all(|l| l.shape == Shape::Line && l.part == 1), "{robot:?}");
    let drawn = sim.marks("/robots/b");
    let MarkShape::Line(points) = &drawn[0].1[0].shape else { panic!("a ray is a line") };
    assert_eq!(robot.numbers[..2], [length(points[0].x), length(points[0].y)]);
}
