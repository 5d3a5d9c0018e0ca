//! A measure means what the same text means in an assertion.
//!
//! Every number that a measure takes is put into an assertion `text == number` of the same run, and the
//! referee has to agree, to the last bit.

use swarmyard::engine::{Note, RunEvent};
use swarmyard::scene::sweep::Measure;
use swarmyard::{Gauge, Quantity, Sim};

const WORLD: &str = r#"format = 1
[run]
duration = "6s"
contact = "impulse"
[world]
min = [-2, -2]
max = [2, 2]
[type.cart]
radius = 0.1
[[type.cart.part]]
name = "drive"
class = "diff-drive"
slip = 0.05
[[type.cart.part]]
name = "rays"
class = "range-rays"
rays = 5
range = 3
noise = 0.01
[type.cart.controller]
class = "wander"
[type.tug]
size = [0.3, 0.2]
[[type.tug.part]]
name = "drive"
class = "diff-drive"
[[type.tug.part]]
name = "rays"
class = "range-rays"
rays = 3
range = 2
[type.tug.controller]
class = "cruise"
left = 0.1
right = 0.2
[[robot]]
name = "a"
type = "cart"
at = [-1, 0]
[[robot]]
name = "b"
type = "cart"
at = [1, 0, "180deg"]
[[robot]]
name = "t"
type = "tug"
at = [0, 1]
[[obstacle]]
name = "rock"
radius = 0.2
at = [0.3, -0.4]
[[obstacle]]
name = "puck"
radius = 0.1
at = [0.6, 0.02]
movable = true
velocity = [1.5, 0]
[[beacon]]
name = "light"
id = 1
at = [1.5, 1.5]
"#;

const NUMBERS: [&str; 36] = [
    "time",
    "tick",
    "contacts",
    "robots",
    "halted",
    "sent + delivered + lost",
    "/robots/a.vx",
    "/robots/b.vy * 3",
    "/obstacles/puck.vx - /obstacles/puck.vy",
    "mean(self.vx) + mean(self.vy)",
    "sqrt(/robots/b.vx * /robots/b.vx + /robots/b.vy * /robots/b.vy) - /robots/b.speed < 1e-12",
    "/robots/a.x",
    "/robots/a.y * 2 - 1",
    "/robots/b.heading",
    "/robots/t.speed",
    "/robots/t.spin",
    "/obstacles/puck.touching",
    "/obstacles/puck.x",
    "/obstacles/rock.x + /beacons/light.y",
    "/robots/a/rays.range[3]",
    "/robots/a/rays.range",
    "/robots/b/drive.left",
    "distance(/robots/a, /robots/b)",
    "distance(/robots/a, /obstacles/rock) / distance(/beacons/light, /obstacles/puck)",
    "mean(self.speed)",
    "mean(self/rays.range[2])",
    "lowest(distance(self, /obstacles/puck))",
    "highest(self.x) - lowest(self.x)",
    "count(self.x > 0)",
    "all(self.speed < 100)",
    "any(self.y > 0.9) || contacts > 3",
    "!(time > 3) + (tick >= 10 && tick != 11)",
    "-abs(/robots/a.y)",
    "sqrt(/robots/a.x * /robots/a.x)",
    "min(1, /robots/b.x, time) + max(contacts, 2, 1mm)",
    "(time == 6) + (time <= 5) + (1 < 2)",
];

fn ended(text: &str) -> Sim {
    let mut sim = Sim::from_text(text).unwrap_or_else(|e| panic!("{e}"));
    while !sim.is_over() {
        sim.step().unwrap();
    }
    sim
}

#[test]
fn a_measure_means_what_the_same_text_means_in_an_assertion() {
    let sim = ended(WORLD);
    assert!(sim.state().accounts.contacts > 0, "a world without contacts tests little");
    let mut text = WORLD.to_owned();
    for number in NUMBERS {
        let value =
            Quantity::new(sim.model(), number).unwrap_or_else(|d| panic!("{number}: {d:?}")).value(&sim);
        assert!(value.is_finite(), "{number}");
        text += &format!("[[assert]]\nthat = \"({number}) == ({value:?})\"\nholds = \"at-end\"\n");
        // The referee must also be able to disagree.
        text += &format!("[[assert]]\nthat = \"({number}) == ({:?})\"\nholds = \"at-end\"\n", value + 1e-3);
    }
    let judged = ended(&text);
    for (k, (assert, verdict)) in judged.model().asserts.iter().zip(&judged.state().verdicts).enumerate() {
        assert_eq!(assert.met(verdict), k % 2 == 0, "{}", assert.text);
    }
}

#[test]
fn a_gauge_takes_end_first_mean_least_and_greatest() {
    let mut sim = Sim::from_text(WORLD).unwrap();
    let gauge = |text: &str, when: Option<&str>| {
        let measure = Measure { when: when.map(str::to_owned), ..Measure::parse(text).unwrap() };
        Gauge::new(sim.model(), &measure).unwrap()
    };
    // 60 quanta of 100 ms: their ends are at 0.1, 0.2, … 6 s.
    let mut gauges = [
        gauge("m=time", None),
        gauge("m=first:time", None),
        gauge("m=mean:time", None),
        gauge("m=min:time", Some("time > 2.05")),
        gauge("m=max:-time", Some("tick > 30 && tick <= 40")),
        gauge("m=mean:tick", Some("tick > 30 && tick <= 40")),
        gauge("m=time", Some("tick < 10")),
        gauge("m=time", Some("time > 100")),
        gauge("m=0 / 0", None),
        gauge("m=1 / 0", None),
    ];
    while !sim.is_over() {
        sim.step().unwrap();
        gauges.iter_mut().for_each(|g| g.look(&sim));
    }
    let near = |x: Option<f64>| x.map(|x| (x * 1e9).round() / 1e9);
    let wanted = [6.0, 0.1, 3.05, 2.1, -3.1, 35.5, 0.9].map(Some);
    assert_eq!(gauges[..7].iter().map(|g| near(g.answer())).collect::<Vec<_>>(), wanted);
    assert_eq!(gauges[7..].iter().map(Gauge::answer).collect::<Vec<_>>(), [None, None, Some(f64::INFINITY)]);
}

#[test]
fn a_name_that_is_not_there_is_said_with_the_nearest() {
    let sim = Sim::from_text(WORLD).unwrap();
    for (text, code, word) in [
        ("/robots/aa.x", "unknown-path", "/robots/a"),
        ("/robots/a.xx", "unknown-field", "x"),
        ("/robots/a/ray.range", "unknown-part", "rays"),
        ("/robots/a/rays.rnge", "unknown-channel", "range"),
        ("/robots/a/rays.range[5]", "out-of-range", "5 numbers"),
        ("mean(self/rays.range[4])", "out-of-range", "3 numbers"),
        ("/beacons/light.speed", "unknown-field", "never moves"),
        ("tme", "bad-condition", "time"),
    ] {
        let d = Quantity::new(sim.model(), text).expect_err(text);
        assert_eq!(d.code, code, "{text}");
        assert!(format!("{} {:?}", d.message, d.help).contains(word), "{text}: {d:?}");
    }
}

/// Five robots that call each other over a network that loses, doubles and delays; one of them crashes for a while.
const CALLING: &str = r#"format = 1
[run]
duration = "60s"
quantum = "500ms"
[network]
class = "random"
mean = "200ms"
loss = 0.2
[type.caller]
radius = 0.1
[type.caller.algorithm]
class = "roll-call"
every = "1s"
[[robot]]
name = "r"
type = "caller"
count = 5
layout = { class = "row", step = [1, 0] }
[[fault]]
at = "10s"
crash = ["r2"]
[[fault]]
at = "30s"
recover = ["r2"]
"#;

/// The notes of a run are counted here one by one; what the engine counts is another matter.
#[test]
fn messages_are_counted_as_the_notes_of_the_run_tell_them() {
    let mut sim = Sim::from_text(CALLING).unwrap();
    sim.take_notes(true);
    let numbers = ["sent", "delivered", "lost"].map(|n| Quantity::new(sim.model(), n).unwrap());
    let (mut told, mut under_way, mut most) = ([0.0; 3], 0_i64, 0);
    while !sim.is_over() {
        for event in sim.step().unwrap().events {
            let RunEvent::Live(note) = event else { continue };
            match note.what {
                Note::Sent { to, .. } => {
                    told[0] += 1.0;
                    under_way += to.len() as i64;
                }
                Note::Received { .. } => (told[1], under_way) = (told[1] + 1.0, under_way - 1),
                Note::Lost { .. } => (told[2], under_way) = (told[2] + 1.0, under_way - 1),
                _ => {}
            }
        }
        assert_eq!(numbers.each_ref().map(|n| n.value(&sim)), told, "after {}", sim.now());
        // A copy is under way until it has come or is lost.
        assert_eq!(under_way, sim.under_way().count() as i64);
        most = most.max(under_way);
    }
    println!("sent, delivered, lost: {told:?}; under way at most {most}");
    assert!(told[0] > 100.0 && told[1] > 200.0 && told[2] > 50.0 && most > 0);
    // The referee counts alike, to the last one.
    let mut text = CALLING.to_owned();
    for (name, count) in ["sent", "delivered", "lost"].iter().zip(told) {
        text += &format!("[[assert]]\nthat = \"{name} == {count}\"\nholds = \"at-end\"\n");
        text += &format!("[[assert]]\nthat = \"{name} == {}\"\nholds = \"at-end\"\n", count + 1.0);
    }
    let judged = ended(&text);
    for (k, (assert, verdict)) in judged.model().asserts.iter().zip(&judged.state().verdicts).enumerate() {
        assert_eq!(assert.met(verdict), k % 2 == 0, "{}", assert.text);
    }
}
