//! Hardware modelled outside: the same as the simulator's own, to the bit; and what becomes of bad models.
//!
//! The models are C, compiled here: these tests need clang and lld.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use swarmyard::agents::Workshop;
use swarmyard::base::Ratio;
use swarmyard::engine::RunEvent;
use swarmyard::formats::NoFiles;
use swarmyard::part_api::{Detail, MarkShape};
use swarmyard::{Options, Sim, registry_with};

/// The folder of the example models.
fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/parts")
}

/// A world whose files are the example models.
fn sim_with(text: &str, threads: usize) -> Result<Sim, swarmyard::Error> {
    let registry = registry_with(&Arc::new(Workshop::in_folder(&models())));
    let options = Options { threads, ..Options::default() };
    Sim::read("test", text, &NoFiles, &registry, &options)
}

fn sim(text: &str) -> Sim {
    sim_with(text, 1).unwrap_or_else(|e| panic!("{e}"))
}

/// Robots on a floor with tapes and walls, that wander into each other; `parts` is TOML.
fn yard(parts: &str, controller: &str) -> String {
    format!(
        r#"
format = 1
[run]
quantum = "50ms"
duration = "60s"
contact = "impulse"
[world]
min = [-2, -2]
max = [2, 2]
[[track]]
name = "bend"
width = "4cm"
points = [[-1.8, -1.5], [0, -1.2], [0.3, 0.2], [1.7, 0.5]]
[[track]]
name = "grey"
width = "20cm"
reflectivity = 0.4
points = [[-1.5, 1], [1.5, -1]]
[type.bot]
radius = "10cm"
{parts}
[[type.bot.part]]
name = "rays"
class = "range-rays"
rays = 5
range = "1m"
spread = "120deg"
{controller}
[[robot]]
name = "r"
type = "bot"
count = 12
layout = {{ class = "grid", columns = 4, spacing = 0.8 }}
"#
    )
}

const WANDER: &str = "[type.bot.controller]\nclass = \"wander\"\ndrive = \"drive\"\nspeed = \"60cm/s\"\n";

/// Looks at nothing, and so runs into everything.
const CRUISE: &str =
    "[type.bot.controller]\nclass = \"cruise\"\ndrive = \"drive\"\nleft = 0.5\nright = 0.4\n";

const OWN_DRIVE: &str = r#"
[[type.bot.part]]
name = "drive"
class = "diff-drive"
base = "16cm"
acceleration = "1.5m/s2"
grip = 0.4
slip = "3%"
"#;

const OUTSIDE_DRIVE: &str = r#"
[[type.bot.part]]
name = "drive"
class = "drive-model"
source = "diff_drive.c"
values = "Base = 16, Acceleration = 150, Grip = 0.4, Slip = 3"
"#;

/// The part file of the paper is in centimetres, degrees and percent.
fn own_eyes(error: f64) -> String {
    format!(
        r#"
[[type.bot.part]]
name = "eyes"
class = "track-sensor"
height = "8cm"
inclination = "45deg"
cone_angle = "30deg"
precision = 16
coverage = 15
max_value = 255
error_level = {error}
count = 5
spacing = "3cm"
mount = [0.02, 0.01, "5deg"]
"#
    )
}

fn outside_eyes(more: &str) -> String {
    format!(
        r#"
[[type.bot.part]]
name = "eyes"
class = "sensor-model"
source = "track_sensor.c"
config = "../../worlds/parts/track.part"
values = "Count = 5, Spacing = 3{more}"
mount = [0.02, 0.01, "5deg"]
"#
    )
}

const PROXIMITY: &str = r#"
[[type.bot.part]]
name = "near"
class = "sensor-model"
source = "proximity.c"
values = "Range = 80, Noise = 1"
reach = "1m"
"#;

fn robots() -> Vec<String> {
    (1..=12).map(|k| format!("/robots/r{k}")).collect()
}

fn values(sim: &Sim, part: &str, channel: &str) -> Vec<u64> {
    let of = |robot: &String| -> Vec<u64> {
        let found = sim.channel(&format!("{robot}/{part}"), channel);
        found.unwrap_or_else(|| panic!("{robot}/{part}.{channel}")).iter().map(|x| x.to_bits()).collect()
    };
    robots().iter().flat_map(of).collect()
}

fn poses(sim: &Sim) -> Vec<[u64; 3]> {
    let of = |name: &String| {
        let pose = sim.pose(name).unwrap();
        [pose.at.x.to_bits(), pose.at.y.to_bits(), pose.heading.to_bits()]
    };
    robots().iter().map(of).collect()
}

fn at_detail(sim: &mut Sim, k: usize) {
    match k {
        200 => sim.set_detail(Detail::Coarse),
        260 => sim.set_detail(Detail::default()),
        300 => sim.set_quantum(Ratio::new(1, 33).unwrap()),
        _ => {}
    }
}

#[test]
fn the_track_sensor_from_outside_reads_what_the_own_one_reads_to_the_bit() {
    for (error, more) in [(0.0, ", Error Level = 0"), (5.0, "")] {
        let mut own = sim(&yard(&(OWN_DRIVE.to_owned() + &own_eyes(error)), WANDER));
        let mut outside = sim(&yard(&(OWN_DRIVE.to_owned() + &outside_eyes(more)), WANDER));
        let mut seen = 0;
        for k in 0..400 {
            at_detail(&mut own, k);
            at_detail(&mut outside, k);
            own.step().unwrap();
            outside.step().unwrap();
            for channel in ["detected", "value"] {
                assert_eq!(values(&own, "eyes", channel), values(&outside, "eyes", channel), "{k} {channel}");
            }
            assert!(values(&outside, "eyes", "fault").iter().all(|f| *f == 0));
            for robot in robots() {
                let marks = |sim: &Sim| sim.marks(&robot).into_iter().find(|m| m.0 == "eyes").unwrap().1;
                assert_eq!(marks(&own), marks(&outside));
                seen += marks(&own).len();
            }
        }
        assert!(seen > 500, "{seen} marks: the robots must meet the tracks");
    }
}

#[test]
fn the_drive_from_outside_takes_the_same_course_to_the_bit() {
    for controller in [WANDER, CRUISE] {
        let mut own = sim(&yard(OWN_DRIVE, controller));
        let mut outside = sim(&yard(OUTSIDE_DRIVE, controller));
        let mut contacts = 0;
        for k in 0..600 {
            at_detail(&mut own, k);
            at_detail(&mut outside, k);
            let (a, b) = (own.step().unwrap(), outside.step().unwrap());
            assert_eq!(a.events, b.events);
            contacts += a.events.iter().filter(|e| matches!(e, RunEvent::Contact(_))).count();
            assert_eq!(poses(&own), poses(&outside), "{k}");
            for channel in ["left_speed", "right_speed", "left_slip", "right_slip"] {
                assert_eq!(values(&own, "drive", channel), values(&outside, "drive", channel));
            }
        }
        assert!(controller == WANDER || contacts > 100, "{contacts} contacts: the drive must be disturbed");
    }
}

#[test]
fn the_example_world_keeps_its_promises() {
    let mut sim = Sim::load(models().join("track-line.toml"), &Options::default()).unwrap();
    sim.run_until(60.0).unwrap();
    let asserts = sim.model().asserts.iter().zip(&sim.state().verdicts);
    let broken: Vec<&str> = asserts.filter(|(a, v)| !a.met(v)).map(|(a, _)| a.name.as_str()).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn threads_do_not_matter() {
    let all = OUTSIDE_DRIVE.to_owned() + &outside_eyes("") + PROXIMITY;
    let text = yard(&all, WANDER).replace("count = 12", "count = 300").replace("columns = 4", "columns = 20");
    let text = text.replace("min = [-2, -2]", "min = [-9, -9]").replace("max = [2, 2]", "max = [9, 9]");
    let hash = |threads: usize| {
        let mut sim = sim_with(&text, threads).unwrap_or_else(|e| panic!("{e}"));
        for _ in 0..40 {
            sim.step().unwrap();
        }
        (sim.hash(), sim.full_hash())
    };
    let one = hash(1);
    assert_eq!((hash(2), hash(8)), (one, one));
}

#[test]
fn models_survive_snapshot_and_restore_at_every_quantum() {
    let all = OUTSIDE_DRIVE.to_owned() + &outside_eyes("") + PROXIMITY;
    let text = yard(&all, WANDER);
    let mut straight = sim(&text);
    let (mut hopping, mut other) = (sim(&text), sim(&text));
    for k in 0..60 {
        if k == 30 {
            straight.set_quantum(Ratio::new(1, 33).unwrap());
            hopping.set_quantum(Ratio::new(1, 33).unwrap());
        }
        assert_eq!(straight.step().unwrap(), hopping.step().unwrap());
        other.restore(&hopping.snapshot()).unwrap();
        std::mem::swap(&mut hopping, &mut other);
        assert_eq!(hopping.full_hash(), straight.full_hash());
    }
}

#[test]
fn a_recording_holds_models_and_configuration() {
    let text = yard(&(OUTSIDE_DRIVE.to_owned() + &outside_eyes("")), WANDER);
    let mut first = sim(&text);
    let header = swarmyard::record::Header::of(first.model(), "test", &[]);
    let made = header.code.iter().map(|c| (c.name.clone(), c.bytes.clone())).collect();
    let registry = registry_with(&Arc::new(Workshop::with_made(made)));
    let mut again = Sim::read("test", &text, &NoFiles, &registry, &Options::default()).unwrap();
    for _ in 0..20 {
        assert_eq!(first.step().unwrap(), again.step().unwrap());
    }
}

#[test]
fn models_may_be_cpp_or_modules() {
    let folder = std::env::temp_dir().join(format!("swarmyard-part-models-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let cpp = "#include \"part.h\"\nstruct Lamp { int channel; double level() const { return 3.0; } };\nstatic Lamp lamp;\n\
               void part_describe() { lamp.channel = part_reading(\"x\", 1, \"\", 0, 9, \"\"); }\nvoid part_step() { part_out(lamp.channel, 0, lamp.level()); }\n";
    std::fs::write(folder.join("lamp.cpp"), cpp).unwrap();
    let workshop = Arc::new(Workshop::in_folder(&folder));
    let read = |source: &str| {
        let text = scenario("", &format!("source = \"{source}\""));
        let (start, end) = (text.find("code = '''").unwrap(), text.rfind("'''").unwrap() + 3);
        let text = text[..start].to_owned() + &text[end..];
        let mut sim = Sim::read("test", &text, &NoFiles, &registry_with(&workshop), &Options::default())
            .unwrap_or_else(|e| panic!("{e}"));
        sim.step().unwrap();
        assert_eq!(sim.channel("/robots/r/eye", "x").unwrap(), [3.0]);
    };
    read("lamp.cpp");
    let module = workshop.made().into_iter().find(|(name, _)| name.starts_with("lamp.cpp")).unwrap().1;
    std::fs::write(folder.join("lamp.wasm"), module.as_slice()).unwrap();
    read("lamp.wasm");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn nothing_lasts_in_static_variables() {
    let code = "static int count; static int steps; static double last; void part_describe(void) { count = part_reading(\"count\", 2, \"\", 0, 9, \"\"); part_keep(1); } void part_setup(void) { steps = 5; } void part_step(void) { steps++; part_set_state(0, part_state(0) + 1); part_out(count, 0, steps + last); part_out(count, 1, part_state(0)); last = 3; } void part_cleanup(void) { for (volatile int k = 0;; k++) {} }";
    let mut sim = sensor(code, "");
    for _ in 0..7 {
        sim.step().unwrap();
    }
    assert_eq!(sim.channel("/robots/r/eye", "count").unwrap(), [6.0, 7.0]);
}

#[test]
fn memory_taken_in_a_step_is_gone_in_the_next() {
    let code = "static int size; void part_describe(void) { size = part_reading(\"size\", 1, \"\", 0, 99, \"\"); } void part_step(void) { part_out(size, 0, (double)__builtin_wasm_memory_size(0)); __builtin_wasm_memory_grow(0, 3); }";
    let mut sim = sensor(code, "");
    for _ in 0..5 {
        sim.step().unwrap();
        assert_eq!(sim.channel("/robots/r/eye", "size").unwrap(), [1.0]);
    }
}

/// One robot with a sensor of this code, which glides at 0.1 m/s.
fn scenario(code: &str, extra: &str) -> String {
    format!(
        "format = 1\n[run]\nquantum = \"100ms\"\n[world]\nmin = [-5, -5]\nmax = [5, 5]\n[type.bot]\nradius = 0.1\n\
         [[type.bot.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n[[type.bot.part]]\nname = \"eye\"\nclass = \"sensor-model\"\n{extra}\n\
         code = '''\n#include \"part.h\"\n{code}\n'''\n[type.bot.controller]\nclass = \"cruise\"\nleft = 0.1\nright = 0.1\n[[robot]]\nname = \"r\"\ntype = \"bot\"\n"
    )
}

fn sensor(code: &str, extra: &str) -> Sim {
    Sim::from_text(&scenario(code, extra)).unwrap_or_else(|e| panic!("{e}"))
}

/// A sensor with one reading, and this for a step.
fn stepping(step: &str) -> String {
    format!(
        "static int x; void part_describe(void) {{ x = part_reading(\"x\", 2, \"m\", 0, 5, \"\"); part_keep(2); }} \
         void part_step(void) {{ part_out(x, 0, 1); part_set_state(0, part_now_s()); {step} }}"
    )
}

#[test]
fn a_bad_step_gives_zeros_and_is_reported_once() {
    for (step, code, words) in [
        ("for (volatile int k = 0;; k++) {}", 2.0, "ran out of fuel"),
        ("__builtin_trap();", 1.0, "crashed"),
        ("part_out(x, 1, __builtin_nan(\"\"));", 3.0, "not a finite number: reading 0[1]"),
        ("part_set_state(1, 1 / (part_now_s() - part_now_s()));", 3.0, "not a finite number: kept number 1"),
        ("part_out(x, 2, 1);", 1.0, "there is no reading 0[2]"),
        ("part_out(77, 0, 1);", 1.0, "there is no reading 77[0]"),
        ("part_out(-1, -5, 1);", 1.0, "there is no reading"),
        ("part_set_state(2, 1);", 1.0, "there is no kept number 2"),
        ("part_in(0, 0);", 1.0, "there is no command 0[0]"),
        ("part_motion(1, 0, 0);", 1.0, "a sensor does not move its robot"),
        ("part_keep(3);", 1.0, "`part_keep` can be called only in part_describe"),
        ("part_param(\"a\", 1);", 1.0, "can be called only in part_describe and part_setup"),
        ("part_mark_circle(x, 0, 0, 0, 1);", 1.0, "can be called only in part_marks"),
        ("part_body b; part_body_at(5, &b); part_out(x, 0, b.x);", 1.0, "there is no body 5"),
        ("part_self((part_body *)0xfffffff0u);", 1.0, "a pointer leads out of its memory"),
        ("part_self((part_body *)65500);", 1.0, "a pointer leads out of its memory"),
        ("part_chance(99);", 1.0, "no draws of the kind 99"),
        ("part_refuse(\"I do not want to\");", 1.0, "I do not want to"),
        ("part_refuse((const char *)0xfffffff0u);", 1.0, "a text is longer"),
    ] {
        let mut sim =
            sensor(&stepping(&format!("if (part_now_s() > 0.25 && part_now_s() < 0.55) {{ {step} }}")), "");
        let mut events = Vec::new();
        for k in 0..8 {
            events.extend(sim.step().unwrap().events);
            let bad = (3..6).contains(&k);
            let read = |channel: &str| sim.channel("/robots/r/eye", channel).unwrap();
            assert_eq!(read("fault"), [if bad { code } else { 0.0 }], "{step} {k}");
            assert_eq!(read("x"), [if bad { 0.0 } else { 1.0 }, 0.0], "{step} {k}");
        }
        assert_eq!(sim.channel("/robots/r/eye", "faults").unwrap(), [3.0]);
        let [RunEvent::PartFailed { why, part: 1, .. }] = &events[..] else { panic!("{step}: {events:?}") };
        assert!(why.contains(words), "{step}: {why}");
        assert!((sim.pose("/robots/r").unwrap().at.x - 0.08).abs() < 1e-12, "the robot goes on");
    }
}

#[test]
fn a_drive_that_fails_stands_still_for_that_quantum() {
    let code = "static int v; void part_describe(void) { v = part_command(\"left\", 1, \"m/s\", -1, 1, \"\"); part_command(\"right\", 1, \"m/s\", -1, 1, \"\"); part_wheel_base(0.2); } void part_step(void) { part_motion(part_in(v, 0), 0, part_now_s() > 0.25 && part_now_s() < 0.55 ? __builtin_inf() : 0); }";
    let text = scenario(&stepping(""), "").replace(
        "class = \"diff-drive\"",
        &format!("class = \"drive-model\"\ncode = '''\n#include \"part.h\"\n{code}\n'''"),
    );
    let text = text.replace("class = \"cruise\"", "class = \"cruise\"\ndrive = \"drive\"");
    let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    let events: Vec<RunEvent> = (0..8).flat_map(|_| sim.step().unwrap().events).collect();
    assert!(matches!(&events[..], [RunEvent::PartFailed { part: 0, .. }]), "{events:?}");
    assert!((sim.pose("/robots/r").unwrap().at.x - 0.05).abs() < 1e-12);
    assert_eq!(sim.channel("/robots/r/drive", "faults").unwrap(), [3.0]);
}

#[test]
fn a_model_that_cannot_be_used_is_a_problem_of_the_scenario() {
    let describe = |text: &str| format!("void part_describe(void) {{ {text} }} void part_step(void) {{}}");
    let x = "part_reading(\"x\", 1, \"\", 0, 1, \"\");";
    let setup = |text: &str| format!("{} void part_setup(void) {{ {text} }}", describe(x));
    for (code, extra, words) in [
        ("void part_step(void) {}".to_owned(), "", "it has no function `part_describe`"),
        ("void part_describe(void) {}".to_owned(), "", "it has no function `part_step`"),
        (describe(""), "", "declares no channel"),
        (describe("part_reading(\"x\", 5000, \"\", 0, 1, \"\");"), "", "cannot have 5000 numbers"),
        (describe("part_reading(\"x\", -1, \"\", 0, 1, \"\");"), "", "cannot have -1 numbers"),
        (describe("part_reading(\"x\", 2147483647, \"\", 0, 1, \"\");"), "", "cannot have 2147483647 numbers"),
        (describe("char n[3] = \"aa\"; for (;; n[1]++) { if (n[1] > 'z') { n[0]++; n[1] = 'a'; } part_reading(n, 1, \"\", 0, 1, \"\"); }"), "", "at most 64 channels"),
        (describe("part_keep(100000);"), "", "cannot keep 100000 numbers"),
        (describe("part_reading(\"X y\", 1, \"\", 0, 1, \"\");"), "", "cannot be the name of a channel"),
        (describe("part_reading(\"fault\", 1, \"\", 0, 1, \"\");"), "", "there is a channel `fault` already"),
        (describe(&format!("{x}{x}")), "", "there is a channel `x` already"),
        (describe("part_reading(\"x\", 1, \"ell\", 0, 1, \"\");"), "", "there is no SI unit `ell`"),
        (describe("part_reading(\"x\", 1, \"\", 1, 0, \"\");"), "", "is no range"),
        (describe("part_reading((const char *)70000, 1, \"\", 1, 0, \"\");"), "", "a text is longer"),
        (describe("part_command(\"x\", 1, \"\", 0, 1, \"\");"), "", "a sensor has no commands"),
        (describe("part_quantum_s();"), "", "can be called only in part_setup and part_step"),
        (describe("for (volatile int k = 0;; k++) {}"), "", "part_describe ran out of fuel"),
        (setup("for (volatile int k = 0;; k++) {}"), "", "part_setup ran out of fuel"),
        (setup("__builtin_trap();"), "", "part_setup crashed"),
        (setup("part_refuse(\"too high\");"), "", "too high"),
        (setup("part_param_in(\"a\", \"ell\", 1);"), "", "there is no unit `ell`"),
        (setup("part_param(\"a\", 1);"), "values = \"A = 3cm\"", "`A` must be a plain number"),
        (setup("part_param(\"height\", 1);"), "values = \"Hieght = 3\"", "did you mean `height`"),
        (setup(""), "values = \"nonsense\"", "values:1: `nonsense` is not of the form"),
        (setup(""), "config = \"a.part\"", "there are no files here"),
        (setup(""), "source = \"a.c\"", "one of `source` and `code`"),
        ("void part_describe(void) { oops }".to_owned(), "", "error: use of undeclared identifier 'oops'"),
        ("int printf(const char *, ...); void part_describe(void) { printf(\"\"); } void part_step(void) {}".to_owned(), "", "undefined symbol: printf"),
        ("static char big[3000000]; void part_describe(void) { big[5] = 1; } void part_step(void) { big[7]++; }".to_owned(), "", ""),
    ] {
        let Err(e) = Sim::from_text(&scenario(&code, extra)) else { panic!("it was taken: {code}") };
        assert!(e.to_string().contains(words), "{code}: {e}");
    }
}

#[test]
fn a_set_up_that_fails_only_in_this_world_is_a_fault_of_every_step() {
    let code = "static int x; void part_describe(void) { x = part_reading(\"x\", 1, \"\", 0, 1, \"\"); } void part_setup(void) { if (part_fixed_count() > 0) __builtin_trap(); } void part_step(void) { part_out(x, 0, 1); } void part_cleanup(void) { for (;;) {} }";
    let mut sim = sensor(code, "");
    for k in 1..5 {
        sim.step().unwrap();
        assert_eq!(sim.channel("/robots/r/eye", "fault").unwrap(), [1.0]);
        assert_eq!(sim.channel("/robots/r/eye", "faults").unwrap(), [f64::from(k)]);
    }
}

#[test]
fn a_sensor_sees_the_world_around_it() {
    let mut sim = sim(&yard(&(OWN_DRIVE.to_owned() + PROXIMITY), WANDER).replace(", Noise = 1", ""));
    for _ in 0..200 {
        sim.step().unwrap();
    }
    let before = robots().iter().map(|n| (n.clone(), sim.pose(n).unwrap())).collect::<Vec<_>>();
    sim.step().unwrap();
    for (name, pose) in &before {
        let others =
            before.iter().filter(|(other, _)| other != name).map(|(_, p)| (p.at - pose.at).norm() - 0.2);
        let walls = [2.0 - pose.at.x.abs() - 0.1, 2.0 - pose.at.y.abs() - 0.1];
        let nearest = others.chain(walls).fold(0.8, f64::min).max(0.0);
        let read = sim.channel(&format!("{name}/near"), "distance").unwrap()[0];
        assert!((read - nearest).abs() < 1e-9, "{name}: {read} is not {nearest}");
        let marks = sim.marks(name);
        let lines = marks.iter().flat_map(|m| &m.1).filter(|m| m.channel == "distance");
        assert_eq!(lines.filter(|m| matches!(m.shape, MarkShape::Line(_))).count(), usize::from(read < 0.8));
    }
}

/// Prints what a step costs: cargo test -p swarmyard --release --test suite part_models -- --ignored --nocapture
#[test]
#[ignore = "a measurement, not a fact"]
fn costs() {
    let nothing = "\n[[type.bot.part]]\nname = \"nothing\"\nclass = \"sensor-model\"\ncode = '''\n#include \"part.h\"\nvoid part_describe(void) { part_reading(\"x\", 1, \"\", 0, 1, \"\"); }\nvoid part_step(void) {}\n'''\n";
    let asks = nothing.replace(
        "part_step(void) {}",
        "part_step(void) { for (int k = 0; k < 1000; k++) part_out(0, 0, part_sin(k)); }",
    );
    let us = |parts: &str| {
        let text =
            yard(parts, WANDER).replace("count = 12", "count = 1000").replace("columns = 4", "columns = 40");
        let text =
            text.replace("min = [-2, -2]", "min = [-19, -19]").replace("max = [2, 2]", "max = [19, 19]");
        let mut sim = sim(&text);
        sim.step().unwrap();
        let best = (0..5).map(|_| {
            let begin = std::time::Instant::now();
            for _ in 0..20 {
                sim.step().unwrap();
            }
            begin.elapsed().as_secs_f64() / 20.0 / 1000.0 * 1e6
        });
        best.fold(f64::MAX, f64::min)
    };
    let bare = us(OWN_DRIVE);
    println!("world with own drive: {bare:.2} us per robot and quantum");
    for (name, parts) in [
        ("an empty step", OWN_DRIVE.to_owned() + nothing),
        ("1000 sines and outputs", OWN_DRIVE.to_owned() + &asks),
        ("own track sensor, 5 x 16", OWN_DRIVE.to_owned() + &own_eyes(5.0)),
        ("track_sensor.c, 5 x 16", OWN_DRIVE.to_owned() + &outside_eyes("")),
        ("proximity.c", OWN_DRIVE.to_owned() + PROXIMITY),
        ("diff_drive.c instead", OUTSIDE_DRIVE.to_owned()),
    ] {
        println!("{name}: {:+.2} us", us(&parts) - bare);
    }
}
