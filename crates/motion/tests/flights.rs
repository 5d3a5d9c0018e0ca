//! What bodies in flight cost, and that the way they are kept never shows.

use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Pose2, Time, Twist2, Uid, Vec2};
use swarmyard_motion::flights::{Flights, Flyer, Meeting, Path, Shape, Space, With};
use swarmyard_part_api::{FixedIndex, Segment};

fn disc(rank: u32, at: Vec2, velocity: Vec2) -> Flyer {
    let path = Path::straight(Moment::ZERO, at, velocity);
    Flyer { shape: Shape::Disc(0.4), rank, path, ghost: false }
}

/// Discs in a square, one metre apart, at some speed.
fn discs(row: u32, speed: f64) -> Vec<Flyer> {
    let draw = Draw::at(1, Uid(7), Purpose::Test, Time::ZERO, 0);
    let velocity = |k: u32| Vec2::new(draw.normal(2 * k), draw.normal(2 * k + 1)) * speed;
    let place = |k: u32| Vec2::new(f64::from(k % row), f64::from(k / row));
    (0..row * row).map(|k| disc(k, place(k), velocity(k))).collect()
}

#[test]
fn a_body_at_rest_takes_ninety_bytes() {
    for row in [100, 317] {
        let bodies = discs(row, 0.0);
        let mut flights = Flights::new(Space::Plane, &bodies, FixedIndex::default());
        assert_eq!(flights.next(Moment::NEVER), None);
        let each = flights.bytes() as f64 / bodies.len() as f64;
        println!("{} bodies: {each:.1} bytes each", bodies.len());
        assert!(each < 90.0, "{each}");
    }
}

/// The two swap velocities.
fn answer(flights: &mut Flights, bodies: &mut [Flyer], meeting: &Meeting) {
    let With::Body(other) = meeting.with else { return };
    let (a, b) = (meeting.body, other);
    let [va, vb] = [a, b].map(|body| flights.velocity_at(body, meeting.moment));
    for (body, velocity) in [(a, vb), (b, va)] {
        let at = flights.position_at(body, meeting.moment);
        let path = Path::straight(meeting.moment, at, velocity);
        bodies[body as usize].path = path;
        flights.set(body, &path);
    }
}

/// Cells are tight until somebody goes round a bend, and then get room; who began with a bend has room from the start.
#[test]
fn the_first_bend_changes_nothing_but_the_path() {
    let mut bodies = discs(9, 0.3);
    let mut flights = Flights::new(Space::Plane, &bodies, FixedIndex::default());
    for _ in 0..60 {
        let meeting = flights.next(Moment::NEVER).expect("they are close");
        answer(&mut flights, &mut bodies, &meeting);
    }
    let told = flights.told();
    let pose = Pose2 { at: flights.position_at(40, told.moment), heading: 0.3 };
    let arc = Segment::arc(0.0, pose, pose.rot(), Twist2::new(0.8, 0.0, 0.5));
    bodies[40].path = Path::along(told.moment, &arc);
    assert_eq!(bodies[40].path.line(), None);
    flights.set(40, &bodies[40].path);
    let mut anew = Flights::resume(Space::Plane, &bodies, FixedIndex::default(), &told);
    let mut on_the_bend = 0;
    for _ in 0..60 {
        let meeting = flights.next(Moment::NEVER);
        assert_eq!(meeting, anew.next(Moment::NEVER));
        let meeting = meeting.expect("they are close");
        if meeting.body == 40 || meeting.with == With::Body(40) {
            on_the_bend += 1;
            continue;
        }
        answer(&mut flights, &mut bodies, &meeting);
        answer(&mut anew, &mut bodies, &meeting);
    }
    assert!(on_the_bend > 0);
}
