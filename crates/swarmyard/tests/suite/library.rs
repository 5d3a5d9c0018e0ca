//! The library as a program uses it.

use swarmyard::base::{Ratio, Time};
use swarmyard::engine::{Infinite, RunEvent};
use swarmyard::part_api::Detail;
use swarmyard::{Error, Modules, Options, Sim};

/// A room with one robot of the given parts.
fn room(parts: &str) -> Sim {
    let text = format!(
        "format = 1\n[world]\nmin = [-4, -2.5]\nmax = [6, 3.5]\n[type.t]\nradius = 0.1\n{parts}\n[[robot]]\nname = \"r1\"\ntype = \"t\"\n"
    );
    Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"))
}

const DRIVE: &str = "[[type.t.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nmax_speed = 5\n";

#[test]
fn a_sensor_with_a_period_reads_only_when_it_is_due() {
    let parts = format!(
        "{DRIVE}[[type.t.part]]\nname = \"eye\"\nclass = \"range-rays\"\nrange = 20\nperiod = \"300ms\"\n[type.t.controller]\nclass = \"cruise\"\nleft = 1\nright = 1"
    );
    let mut sim = room(&parts);
    let mut seen = Vec::new();
    for _ in 0..7 {
        sim.step().unwrap();
        seen.push(sim.channel("/robots/r1/eye", "range").unwrap()[0]);
    }
    // Readings are taken at the start of a quantum of 0.1 s: at 0, 0.3 and 0.6 s, at 1 m/s.
    let expected = [6.0, 6.0, 6.0, 5.7, 5.7, 5.7, 5.4];
    for (s, e) in seen.iter().zip(expected) {
        assert!((s - e).abs() < 1e-9, "{seen:?}");
    }
}

#[test]
fn a_room_is_measured_as_shapely_measures_it() {
    // Box (−4, −2.5)–(6, 3.5) from the origin.
    for (degrees, expected) in [
        (0.0, 6.0),
        (30.0, 6.928_203_230_275_509),
        (45.0, 4.949_747_468_305_833),
        (90.0, 3.5),
        (135.0, 4.949_747_468_305_833),
        (180.0, 4.0),
        (270.0, 2.5),
    ] {
        let eye = format!(
            "[[type.t.part]]\nname = \"eye\"\nclass = \"range-rays\"\nrange = 20\nmount = [0, 0, \"{degrees}deg\"]"
        );
        let mut sim = room(&eye);
        sim.step().unwrap();
        let range = sim.channel("/robots/r1/eye", "range").unwrap()[0];
        assert!((range - expected).abs() < 1e-9, "{degrees}°: {range}");
        assert_eq!(sim.channel("/robots/r1/eye", "hit").unwrap(), [1.0]);
    }
}

#[test]
fn a_step_that_waits_changes_nothing_and_goes_on_when_told() {
    let mut sim = room(&format!("{DRIVE}[type.t.controller]\nclass = \"external\"\nwait = true"));
    let before = sim.full_hash();
    for _ in 0..3 {
        let Err(Error::Blocked(robots)) = sim.step() else { panic!("it should wait") };
        assert_eq!(robots, ["/robots/r1"]);
    }
    assert_eq!(sim.full_hash(), before);
    sim.command("/robots/r1/drive", "left", &[0.5]).unwrap();
    sim.command("/robots/r1/drive", "right", &[0.5]).unwrap();
    sim.step().unwrap();
    assert!((sim.pose("/robots/r1").unwrap().at.x - 0.05).abs() < 1e-12);
    assert!(sim.step().is_err());
    sim.skip("/robots/r1").unwrap();
    sim.step().unwrap();
    assert!((sim.pose("/robots/r1").unwrap().at.x - 0.1).abs() < 1e-12, "skipping keeps the last command");
}

#[test]
fn a_command_that_is_not_a_number_halts_that_robot_and_is_reported_once() {
    let mut sim = room(DRIVE);
    sim.command("/robots/r1/drive", "left", &[f64::NAN]).unwrap();
    let frame = sim.step().unwrap();
    assert!(
        matches!(frame.events[..], [RunEvent::NotFinite { what: Infinite::Command, .. }]),
        "{:?}",
        frame.events
    );
    sim.command("/robots/r1/drive", "left", &[1.0]).unwrap();
    assert_eq!(sim.step().unwrap().events, []);
    assert_eq!(sim.pose("/robots/r1").unwrap().at.x, 0.0);
    assert_eq!(sim.state().accounts.halts, 1);
    sim.halt("/robots/r1", false).unwrap();
    sim.command("/robots/r1/drive", "left", &[1.0]).unwrap();
    sim.command("/robots/r1/drive", "right", &[1.0]).unwrap();
    sim.step().unwrap();
    assert!(sim.pose("/robots/r1").unwrap().at.x > 0.09);
}

#[test]
fn quantum_and_detail_change_while_running_and_replay_from_the_journal() {
    let parts =
        format!("{}slip = 0.1\n[type.t.controller]\nclass = \"cruise\"\nleft = 0.2\nright = 0.21", DRIVE);
    let mut sim = room(&parts);
    let mut hashes = Vec::new();
    for k in 0..20 {
        if k == 5 {
            sim.set_quantum(Ratio::new(1, 60).unwrap());
        }
        if k == 9 {
            sim.set_detail(Detail::Coarse);
        }
        hashes.push(sim.step().unwrap().hash);
    }
    assert_eq!(sim.now(), Time(500_000_000 + 250_000_000));
    let mut again = room(&parts);
    again.set_journal(sim.journal().clone()).unwrap();
    let second: Vec<u64> = (0..20).map(|_| again.step().unwrap().hash).collect();
    assert_eq!(hashes, second);
}

#[test]
fn wrong_names_get_the_nearest_right_one() {
    let mut sim = room(DRIVE);
    for (part, channel, help) in [
        ("/robots/r1/drvie", "left", "did you mean `drive`?"),
        ("/robots/r1/drive", "lef", "did you mean `left`?"),
        ("/robots/r2/drive", "left", "did you mean `/robots/r1`?"),
    ] {
        let Err(Error::Wrong(d)) = sim.command(part, channel, &[1.0]) else { panic!("{part} {channel}") };
        assert_eq!(d.help.as_deref(), Some(help));
    }
    assert!(sim.command("/robots/r1/drive", "left", &[1.0, 2.0]).is_err());
    assert!(sim.command("/robots/r1/drive", "left_speed", &[1.0]).is_err(), "readings cannot be commanded");
    assert!(sim.journal().all().is_empty(), "nothing wrong enters the journal");
}

#[test]
fn a_snapshot_opens_only_where_it_fits() {
    let mut sim = room(DRIVE);
    sim.step().unwrap();
    let good = sim.snapshot();
    let mut other = room("");
    assert!(other.restore(&good).is_err());
    for cut in (0..good.len()).step_by(7) {
        assert!(sim.restore(&good[..cut]).is_err());
    }
    for place in (0..good.len()).step_by(3) {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        assert!(sim.restore(&bad).is_err(), "byte {place}");
    }
    let hash = sim.full_hash();
    sim.restore(&good).unwrap();
    assert_eq!(sim.full_hash(), hash);
}

#[test]
fn peeks_and_pokes_reach_the_channels() {
    use swarmyard::part_api::BadAccess;
    let registers = "[[type.t.register]]\nname = \"MOTOR_L\"\npart = \"drive\"\nchannel = \"left\"\nat = 0x20\nwidth = 8\nsigned = true\nscale = 0.01\n\
        [[type.t.register]]\npart = \"drive\"\nchannel = \"right\"\nat = 0x21\nwidth = 8\nsigned = true\nscale = 0.01\n\
        [[type.t.register]]\npart = \"eye\"\nchannel = \"range\"\nat = 0x10\nwidth = 16\nscale = 0.001\n";
    let eye = "[[type.t.part]]\nname = \"eye\"\nclass = \"range-rays\"\nrays = 4\nrange = 20\n";
    let mut sim = room(&format!("{DRIVE}{eye}{registers}"));
    assert_eq!(sim.poke("/robots/r1", 0x20, 2, 50 | 50 << 8).unwrap(), None);
    assert_eq!(sim.peek("/robots/r1", 0x21, 1).unwrap(), (50, None), "a poke can be read back at once");
    for _ in 0..2 {
        sim.step().unwrap();
    }
    // After two quanta at 0.5 m/s; the readings are those of the start of the second.
    assert!((sim.pose("/robots/r1").unwrap().at.x - 0.1).abs() < 1e-12);
    assert_eq!(sim.peek("/robots/r1", 0x10, 2).unwrap(), (5950, None));
    assert_eq!(sim.peek("/robots/r1", 0x12, 2).unwrap(), (3500, None));
    assert_eq!(sim.peek("/robots/r1", 0x11, 2).unwrap(), (0, Some(BadAccess::Misaligned)));
    assert_eq!(sim.peek("/robots/r1", 0x40, 4).unwrap(), (0, Some(BadAccess::Unmapped)));
    assert_eq!(sim.poke("/robots/r1", 0x10, 2, 1).unwrap(), Some(BadAccess::ReadOnly));
    assert!(sim.peek("/robots/r1", 0x10, 3).is_err() && sim.peek("/robots/r9", 0x10, 2).is_err());
}

#[test]
fn registers_that_do_not_fit_are_refused_with_their_place() {
    let register = |keys: &str| format!("{DRIVE}[[type.t.register]]\npart = \"drive\"\n{keys}\n");
    for (keys, code) in [
        ("channel = \"lef\"\nat = 0", "unknown-channel"),
        ("channel = \"left\"\nat = 1", "misaligned"),
        ("channel = \"left\"\nat = 0\nwidth = 12", "out-of-range"),
        (
            "channel = \"left\"\nat = 0\n[[type.t.register]]\npart = \"drive\"\nchannel = \"right\"\nat = 1\nwidth = 8",
            "register-overlap",
        ),
    ] {
        let text = format!("format = 1\n[type.t]\nradius = 0.1\n{}[[robot]]\ntype = \"t\"\n", register(keys));
        let Err(Error::Scenario(_, problems)) = Sim::from_text(&text) else { panic!("{keys}") };
        assert_eq!(problems.0.iter().map(|d| d.code).collect::<Vec<_>>(), [code], "{keys}");
        assert!(problems.0[0].span.is_some());
    }
}

#[test]
fn a_part_shows_what_it_senses_in_the_frame_of_its_robot() {
    use swarmyard::base::Vec2;
    use swarmyard::part_api::MarkShape;
    let eye = "[[type.t.part]]\nname = \"eye\"\nclass = \"range-rays\"\nrange = 20\nmount = [0.05, 0]\nstart = 0.05\n";
    let bumper = "[[type.t.part]]\nname = \"bumper\"\nclass = \"bumper\"\n";
    let mut sim =
        room(&format!("{DRIVE}{eye}{bumper}[type.t.controller]\nclass = \"cruise\"\nleft = 5\nright = 5"));
    sim.step().unwrap();
    let marks = sim.marks("/robots/r1");
    assert_eq!((marks[0].0, marks[1].0), ("eye", "bumper"));
    let MarkShape::Line(line) = &marks[0].1[0].shape else { panic!("{marks:?}") };
    assert_eq!(line[0], Vec2::new(0.1, 0.0));
    assert!((line[1].x - 6.0).abs() < 1e-9, "the ray ends at the wall: {line:?}");
    assert!(marks[1].1.is_empty());
    sim.run_until(2.0).unwrap();
    let marks = sim.marks("/robots/r1");
    let [pressed] = &marks[1].1[..] else { panic!("{marks:?}") };
    assert_eq!((pressed.channel, pressed.index), ("pressed", 0), "it drove into the wall in front");
    assert!(sim.marks("/robots/r9").is_empty());
}

#[test]
fn part_files_give_the_same_run_as_the_scenario_that_says_it_all() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/part-files");
    let load = |name: &str| {
        Sim::load(folder.join(name), &swarmyard::Options::default()).unwrap_or_else(|e| panic!("{e}"))
    };
    let (mut files, mut plain) = (load("files.toml"), load("plain.toml"));
    for _ in 0..50 {
        files.step().unwrap();
        plain.step().unwrap();
    }
    assert_eq!((files.hash(), files.full_hash()), (plain.hash(), plain.full_hash()));
    // Seven rays of two bytes from 0x10 to 0x1d, then the wheels.
    for address in [0x10, 0x1c, 0x20, 0x21] {
        let bytes = if address < 0x20 { 2 } else { 1 };
        let peek = |sim: &Sim| sim.peek("/robots/r1", address, bytes).unwrap();
        assert_eq!(peek(&files), peek(&plain));
        assert!(peek(&files).1.is_none(), "there is a register at {address:#x}");
    }
    let millimetres = f64::from(files.peek("/robots/r1", 0x10, 2).unwrap().0);
    let range = files.channel("/robots/r1/eye", "range").unwrap()[0];
    assert!((millimetres / 1000.0 - range).abs() <= 0.001, "{millimetres} {range}");
}

#[test]
fn a_register_of_a_channel_that_is_none_is_reported_in_the_part_file() {
    struct Eye;
    impl swarmyard::formats::Loader for Eye {
        fn load(&self, _: &str) -> Result<String, String> {
            Ok("Sensor = {\n  Class = range-rays\n  Range = 90\n  Registers = { Rnge = { Address = 8 } }\n}\n".into())
        }
    }
    let text = "format = 1\n[type.t]\nradius = 1\n[[type.t.part]]\nname = \"eye\"\nfile = \"eye.part\"\n[[robot]]\ntype = \"t\"\n";
    let registry = swarmyard::standard_registry();
    let scene = swarmyard::formats::read("t.toml", text, &[], &Eye, &registry).unwrap().scene;
    let failed =
        Sim::from_scene(&scene, &registry, &swarmyard::Options::default()).err().expect("no such channel");
    assert!(failed.to_string().starts_with("eye.part:4:17: error[unknown-channel]"), "{failed}");
}

#[test]
fn one_that_pushes_does_not_hold_the_one_that_leaves() {
    let mut sim = Sim::from_text(
        "format = 1\n[type.t]\nradius = 0.1\n[[type.t.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
         [[robot]]\nname = \"a\"\ntype = \"t\"\n[[robot]]\nname = \"b\"\ntype = \"t\"\nat = [0.25, 0]\n",
    )
    .unwrap();
    let drive = |sim: &mut Sim, robot: &str, speed: f64| {
        for wheel in ["left", "right"] {
            sim.command(&format!("/robots/{robot}/drive"), wheel, &[speed]).unwrap();
        }
    };
    drive(&mut sim, "a", 0.5);
    drive(&mut sim, "b", 0.1);
    for _ in 0..20 {
        sim.step().unwrap();
    }
    let (a, b) = (sim.pose("/robots/a").unwrap().at.x, sim.pose("/robots/b").unwrap().at.x);
    // The pusher catches up and stops again and again; the other keeps its 0.1 m/s but for the
    // quanta in which it is caught anew.
    assert!(b > 0.25 + 0.09 && b - a >= 0.2, "a {a} b {b}");
}

#[test]
fn modules_are_counted_as_in_table_10_1() {
    let table =
        [(1, 13), (5, 41), (10, 76), (15, 111), (20, 146), (25, 181), (30, 216), (35, 251), (40, 286)];
    for (robots, processes) in table {
        let overrides = vec![("params.robots".to_owned(), robots.to_string())];
        let options = Options { overrides, ..Options::default() };
        let world = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds/table-10-1.toml");
        let sim = Sim::load(world, &options).unwrap_or_else(|e| panic!("{e}"));
        let modules = Modules::of(sim.model());
        assert_eq!(modules, Modules { kernel: 6, robots: 7 * robots });
        assert_eq!(modules.total(), processes);
    }
}
