//! Robots that live by events: motions, contacts, stops at events.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use swarmyard_base::{Ratio, Vec2};
use swarmyard_engine::Frame;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{
    Built, Class, Cx, Ended, Every, Indication, Kind, LookOut, Microprotocol, Motion, Moving, PortSpec,
    ProtocolModel, ProtocolPort, ServiceKind, Sheet, Watch, WatchFor, Watching, memory_is_serde,
};
use swarmyard_sim::{Options, Scenario, Sim, standard_registry};

const PAIR: &str = r#"
format = 1
[run]
quantum = "1s"
duration = "60s"
[type.bot]
radius = 1
[[type.bot.part]]
name = "wheels"
class = "wheels"
[type.bot.algorithm]
class = "random-movement"
min = [0, 0]
max = [20, 20]
speed = [1, 3]
turn_speed = [1, 2]
[[robot]]
name = "r"
type = "bot"
count = 12
at = [10, 10]
layout = { class = "random", size = [18, 18] }
"#;

/// Steps to the end, each left under way as soon as that can be, and gone on with; answers the frames, and how often a step
/// was left. Where the run stands meanwhile, nothing changes.
fn left_and_gone_on_with(sim: &mut Sim) -> (Vec<Frame>, usize) {
    sim.leave_when(Some(Arc::new(|| true)));
    let (mut frames, mut left) = (Vec::new(), 0);
    while !sim.is_over() {
        let (stops, now, hash, poses) = (sim.state().stops, sim.now(), sim.hash(), sim.state().pose.clone());
        let Some(frame) = sim.poll_step().expect("steps") else {
            assert!(sim.is_under_way());
            assert_eq!((sim.state().stops, sim.now(), sim.hash()), (stops, now, hash));
            assert_eq!(sim.state().pose, poses);
            left += 1;
            continue;
        };
        assert!(!sim.is_under_way());
        assert_eq!(sim.hash(), frame.hash);
        frames.push(frame);
    }
    (frames, left)
}

/// Everybody by events, with messages, radio, crashes, zones; and with robots that go by quanta and have just set out.
#[test]
fn a_step_that_is_left_under_way_and_gone_on_with_comes_to_the_same() {
    for (world, quantum, duration, least) in [
        ("random-movement", "30s", "60s", 10),
        ("figure-3-10", "2s", "6s", 5),
        ("radio-relay", "10s", "20s", 1),
        ("reserved-gathering", "20s", "40s", 10),
        ("two-kinds-of-time", "40s", "80s", 1),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../worlds/{world}.toml"));
        let set = |key: &str, value: &str| (format!("run.{key}"), value.to_owned());
        let overrides = vec![set("quantum", quantum), set("duration", duration)];
        let options = Options { overrides, ..Options::default() };
        let make = || {
            let mut sim = Sim::load(&path, &options).unwrap_or_else(|e| panic!("{world}: {e}"));
            sim.take_notes(true);
            sim.keep_dealings(true);
            sim
        };
        let (mut whole, mut other) = (make(), make());
        let mut frames = Vec::new();
        while !whole.is_over() {
            frames.push(whole.step().expect("steps"));
        }
        let (again, left) = left_and_gone_on_with(&mut other);
        assert!(left >= least, "{world} was left {left} times");
        assert!(frames == again, "{world}: other frames");
        assert_eq!(whole.full_hash(), other.full_hash(), "{world}");
        assert_eq!(format!("{:?}", whole.dealings()), format!("{:?}", other.dealings()), "{world}");
    }
}

#[test]
fn what_comes_while_a_step_is_under_way_counts_from_its_end() {
    let text = PAIR.replace("quantum = \"1s\"", "quantum = \"20s\"");
    let mut sim = Sim::from_text(&text).expect("loads");
    sim.leave_when(Some(Arc::new(|| true)));
    assert_eq!(sim.poll_step().expect("steps"), None);
    let here = sim.hash();
    sim.set_quantum(Ratio::new(7, 1).expect("a ratio"));
    let robot = sim.model().paths[0].to_string();
    sim.halt(&robot, true).expect("halts");
    let registry = standard_registry();
    let scenario =
        Scenario { name: "other", text: &text, overrides: &[], loader: &NoFiles, registry: &registry };
    let refused = sim.change(&scenario).expect_err("it is under way").to_string();
    assert!(refused.contains("under way"), "{refused}");
    assert_eq!(sim.hash(), here);
    assert!(sim.journal().all().iter().all(|input| input.stop == 1), "{:?}", sim.journal().all());
    let frames = left_and_gone_on_with(&mut sim).0;
    let ends: Vec<i64> = frames.iter().map(|f| f.now.0 / 1_000_000_000).collect();
    assert_eq!(ends[..3], [20, 27, 34]);
    // The journal says the same to a run that is never left.
    let mut again = Sim::from_text(&text).expect("loads");
    again.set_journal(sim.journal().clone()).expect("fits");
    let whole: Vec<Frame> = (0..frames.len()).map(|_| again.step().expect("steps")).collect();
    assert!(whole == frames);
}

/// Given up in the middle, a run can go back to where it was.
#[test]
fn a_step_under_way_is_forgotten_when_a_snapshot_is_opened() {
    let text = PAIR.replace("quantum = \"1s\"", "quantum = \"20s\"");
    let whole = hashes(&mut Sim::from_text(&text).expect("loads"), false);
    let mut sim = Sim::from_text(&text).expect("loads");
    sim.step().expect("steps");
    let snapshot = sim.snapshot();
    sim.leave_when(Some(Arc::new(|| true)));
    assert_eq!(sim.poll_step().expect("steps"), None);
    sim.restore(&snapshot).expect("opens");
    assert!(!sim.is_under_way());
    assert_eq!(hashes(&mut sim, false), whole[1..]);
}

fn hashes(sim: &mut Sim, by_event: bool) -> Vec<(i64, u64)> {
    let mut all = Vec::new();
    while !sim.is_over() {
        let frame = if by_event { sim.step_to_event() } else { sim.step() }.expect("steps");
        if !sim.state().is_mid() {
            all.push((frame.now.0, sim.hash()));
        }
    }
    all
}

#[test]
fn stopping_at_every_event_changes_nothing() {
    let whole = hashes(&mut Sim::from_text(PAIR).expect("loads"), false);
    let mut sim = Sim::from_text(PAIR).expect("loads");
    let by_event = hashes(&mut sim, true);
    assert_eq!(whole, by_event);
    assert!(sim.state().accounts.contacts > 3, "{} contacts", sim.state().accounts.contacts);
    assert!(sim.state().stops > 2 * whole.len() as u64, "it stopped at events");
}

#[test]
fn a_snapshot_taken_at_any_event_goes_on_the_same() {
    let text = PAIR.replace("60s", "12s");
    let whole = hashes(&mut Sim::from_text(&text).expect("loads"), false);
    let mut sim = Sim::from_text(&text).expect("loads");
    let mut tried = 0;
    while !sim.is_over() {
        sim.step_to_event().expect("steps");
        let bytes = sim.snapshot();
        let mut other = Sim::from_text(&text).expect("loads");
        other.restore(&bytes).expect("restores");
        let rest = hashes(&mut other, false);
        assert_eq!(rest[..], whole[whole.len() - rest.len()..]);
        tried += 1;
    }
    assert!(tried > 30, "{tried} events");
}

/// Takes a snapshot at every event of a run; each, restored, goes on for four events with the same hashes, and every
/// fiftieth to the end. Answers how many there were.
fn goes_on_from_every_event(name: &str, make: impl Fn() -> Sim) -> usize {
    let mut sim = make();
    let mut stops = Vec::new();
    while !sim.is_over() {
        stops.push((sim.snapshot(), sim.hash()));
        sim.step_to_event().expect("steps");
    }
    let end = sim.hash();
    let mut other = make();
    for (k, (bytes, hash)) in stops.iter().enumerate() {
        other.restore(bytes).expect("restores");
        assert_eq!(other.hash(), *hash, "{name}: restored at event {k}");
        for (j, (_, hash)) in stops.iter().enumerate().skip(k + 1).take(4) {
            other.step_to_event().expect("steps");
            assert_eq!(other.hash(), *hash, "{name}: from event {k}, at event {j}");
        }
        if k % 50 == 0 {
            while !other.is_over() {
                other.step_to_event().expect("steps");
            }
            assert_eq!(other.hash(), end, "{name}: from event {k}, at the end");
        }
    }
    println!("{name}: {} events", stops.len());
    stops.len()
}

#[test]
fn worlds_with_messages_protocols_and_radio_go_on_from_any_event() {
    for (world, duration, least) in
        [("ask-for-help", "5s", 50), ("figure-3-10", "3s", 100), ("radio-relay", "12s", 30)]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../worlds/{world}.toml"));
        let overrides = vec![("run.duration".to_owned(), duration.to_owned())];
        let options = Options { overrides, ..Options::default() };
        let events =
            goes_on_from_every_event(world, || Sim::load(&path, &options).unwrap_or_else(|e| panic!("{e}")));
        assert!(events > least, "{world}: {events} events");
    }
}

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);
const WATCH: ProtocolPort<Watching> = ProtocolPort::new(1);

/// Glides about, and turns elsewhere whenever something comes near.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Shy {
    met: u32,
}

impl Shy {
    fn elsewhere(&self, cx: &mut Cx<'_>) {
        let draw = cx.chance();
        let velocity = Vec2::new(draw.between(0, -2.0, 2.0), draw.between(1, -2.0, 2.0));
        let bent = Motion::Arc { speed: 1.0, spin: velocity.x, for_s: 3.0 };
        let motion = if draw.below(2, 2) == 0 { bent } else { Motion::Velocity { velocity, for_s: 3.0 } };
        cx.go(MOTION, u64::from(self.met), motion);
    }
}

impl Microprotocol for Shy {
    fn start(&mut self, cx: &mut Cx<'_>) {
        let watch = Watch { what: WatchFor::Near { range: 0.4 }, every: Every::Exact };
        cx.request(WATCH, LookOut::On { tag: 1, watch });
        self.elsewhere(cx);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        let stands = |how: &Ended| matches!(how, Ended::Finished | Ended::Collided { .. });
        if matches!(&what, Indication::Ended { how, .. } if stands(how))
            || matches!(what, Indication::Pushed { .. })
        {
            self.met += 1;
            self.elsewhere(cx);
        }
    }

    memory_is_serde!();
}

impl ProtocolModel for Shy {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion), PortSpec::new("watching", ServiceKind::Watching)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(self.clone())
    }
}

/// Discs and rectangles between walls, all with exact watches.
#[test]
fn a_world_with_exact_watches_goes_on_from_any_event() {
    let mut registry = standard_registry();
    let sheet = Sheet::new("shy", Kind::Algorithm, "For this test.");
    registry.add(Class::new(sheet, |_, _| Ok(Built::Protocol(Arc::new(Shy::default())))));
    let mut text = String::from(
        "format = 1\n[run]\nquantum = \"1s\"\nduration = \"10s\"\n[world]\nmin = [-4, -4]\nmax = [4, 4]\n\
         [[wall]]\nname = \"w\"\npoints = [[-2, 0], [2, 0.5]]\n",
    );
    for (ty, outline, y) in [("disc", "radius = 0.3", 2.5), ("brick", "size = [0.8, 0.4]", -2.5)] {
        text.push_str(&format!("[type.{ty}]\n{outline}\n[type.{ty}.algorithm]\nclass = \"shy\"\n"));
        for part in ["wheels", "glider", "proximity"] {
            text.push_str(&format!("[[type.{ty}.part]]\nname = \"{part}\"\nclass = \"{part}\"\n"));
        }
        text.push_str(&format!(
            "[[robot]]\nname = \"{ty}\"\ntype = \"{ty}\"\ncount = 4\nat = [0, {y}]\n\
             layout = {{ class = \"random\", size = [7, 2] }}\n"
        ));
    }
    let make = || {
        let sim = Sim::read("shy.toml", &text, &NoFiles, &registry, &Options::default());
        sim.unwrap_or_else(|e| panic!("{e}\n{text}"))
    };
    let events = goes_on_from_every_event("exact watches", make);
    assert!(events > 50, "{events} events");
}
