//! Part files: read, written back, edited, put into scenarios; and what is wrong with broken ones.
//!
//! A file in `tests/bad-parts` ends with lines such as `#! expect 3:5 unknown-key`; the place is in the
//! file itself unless another one is named. A `.part` is used by a part, a `.robot` by a type.

use crate::common::{Folder, registry};
use std::collections::BTreeMap;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_base::{Time, Uid};
use swarmyard_formats::blocks::{self, Value};
use swarmyard_formats::{Failed, Loaded, Loader, fuzz_read_blocks, read};
use swarmyard_part_api::{Class, Kind, Param, Sheet};
use swarmyard_scene::Node;

/// The configuration file of section 8.2 of the Virtual Robots paper, with its blank lines and blanks.
const PAPER: &str = "Sensor = {  \n  \n    Height      = 8  \n  \n    Inclination = 45  \n  \n    \
                     Cone Angle  = 30  \n  \n    Precision   = 16  \n  \n    Coverage    = 15  \n  \n    \
                     Max Value   = 255  \n  \n    Error Level = 5  \n  \n}\n";

/// Texts by name.
struct Texts(BTreeMap<&'static str, String>);

impl Texts {
    fn new<const N: usize>(texts: [(&'static str, &str); N]) -> Texts {
        Texts(texts.into_iter().map(|(name, text)| (name, text.to_owned())).collect())
    }
}

impl Loader for Texts {
    fn load(&self, name: &str) -> Result<String, String> {
        self.0.get(name).cloned().ok_or_else(|| "there is no such text".into())
    }
}

fn load(text: &str, texts: &Texts) -> Loaded {
    read("scenario.toml", text, &[], texts, &registry()).unwrap_or_else(|e| panic!("{e}"))
}

fn plain(file: &blocks::File, path: &str) -> String {
    match file.get(path) {
        Some(Value::Plain(plain)) => plain.text(),
        other => panic!("{path}: {other:?}"),
    }
}

/// The children of a type as text: class, name and every parameter, without places.
fn content(node: &Node) -> Vec<String> {
    let params = |n: &Node| n.params.iter().map(|(k, e)| format!("{k}={:?}", e.value)).collect::<Vec<_>>();
    let mut all = vec![format!("{:?}", params(node))];
    all.extend(node.children.iter().map(|c| format!("{} {} {:?}", c.class, c.name, params(c))));
    all
}

#[test]
fn the_file_of_the_paper_is_read_and_written_back_to_the_byte() {
    let file = blocks::parse("paper.part", PAPER).unwrap();
    assert_eq!(file.to_string(), PAPER);
    assert_eq!(file.entries()[0].key(), "Sensor");
    for (key, value) in [("Height", "8"), ("Cone Angle", "30"), ("Max Value", "255"), ("Error Level", "5")] {
        assert_eq!(plain(&file, &format!("Sensor.{key}")), value);
    }
    let keys: Vec<String> = match &file.entries()[0].value() {
        Value::Block(block) => block.entries().iter().map(|e| blocks::normal(e.key())).collect(),
        other => panic!("{other:?}"),
    };
    let wanted = ["height", "inclination", "cone_angle", "precision", "coverage", "max_value", "error_level"];
    assert_eq!(keys, wanted);
}

#[test]
fn comments_lists_quotes_and_units_survive() {
    let text = "\u{feff}# top\r\n/* a\n { block } */ Robot={Radius=12 cm// no\n Size = [ 40 , // forward\n 30,]\n,\
                Name = \"left \\\"eye\\\" {\" Speed = 2 m/s Cone Angle = 30 Empty = {} Inertia = 3 g cm2 End = x\n\
                Sensor\n=\n{ Address = 0x10 }\n Period = 1/60 s # end\n}#last";
    let file = blocks::parse("t", text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(file.to_string(), text);
    for (path, value) in [
        ("robot.radius", "12 cm"),
        ("Robot.Name", "left \"eye\" {"),
        ("Robot.Speed", "2 m/s"),
        ("Robot.cone_angle", "30"),
        ("Robot.Inertia", "3 g cm2"),
        ("Robot.sensor.ADDRESS", "0x10"),
        ("Robot.Period", "1/60 s"),
    ] {
        assert_eq!(plain(&file, path), value, "{path}");
    }
    assert!(matches!(file.get("Robot.Size"), Some(Value::List(list)) if list.items().count() == 2));
}

#[test]
fn setting_one_value_changes_only_that_value() {
    let edited = blocks::set(PAPER, "Sensor.Cone Angle", "35 deg").unwrap();
    assert_eq!(edited, PAPER.replace("= 30  ", "= 35 deg  "));
    let edited = blocks::set(PAPER, "sensor.max_value", "1023").unwrap();
    assert_eq!(edited, PAPER.replace("255", "1023"));
    let edited = blocks::set("S = { A = 1 B = 2 }", "S.A", "3 m").unwrap();
    assert_eq!(edited, "S = { A = 3 m B = 2 }");
    let edited = blocks::set("S = { A = 1 B = 2 }", "S.A", "3 parsec").unwrap();
    assert_eq!(edited, "S = { A = \"3 parsec\" B = 2 }", "quotes keep it apart from the next key");
    let edited = blocks::set("S = { A = [1, 2] }", "S.A", "[3, 4]").unwrap();
    assert_eq!(edited, "S = { A = [3, 4] }");
    let edited = blocks::set("S = { A = x }", "S.A", "two \"words\" \\ # x").unwrap();
    assert_eq!(edited, "S = { A = \"two \\\"words\\\" \\\\ # x\" }");
    assert_eq!(plain(&blocks::parse("t", &edited).unwrap(), "S.A"), "two \"words\" \\ # x");
}

#[test]
fn a_new_key_is_laid_out_like_its_neighbours() {
    let text = "Sensor = {\n    Height = 8 # cm\n}\n";
    let edited = blocks::set(text, "Sensor.Cone Angle", "30").unwrap();
    assert_eq!(edited, "Sensor = {\n    Height = 8 # cm\n    Cone Angle = 30\n}\n");
    assert_eq!(blocks::set("S = { A = 1 }", "S.B", "2").unwrap(), "S = { A = 1 B = 2 }");
    assert_eq!(blocks::set("S = {\r\n}\r\n", "S.B", "2").unwrap(), "S = {\r\n    B = 2\r\n}\r\n");
    let robot = "Robot = {\n  Sensor = { Name = a Range = 1 }\n  Sensor = { Name = b Range = 2 }\n}\n";
    assert_eq!(blocks::set(robot, "Robot.b.Range", "3").unwrap(), robot.replace("Range = 2", "Range = 3"));
}

#[test]
fn an_edit_without_a_place_says_so() {
    for (path, value) in [
        ("Sensr.Height", "3"),
        ("Sensor", "3"),
        ("Sensor.Height.Low", "3"),
        ("Sensor.a=b", "3"),
        ("Sensor.", "3"),
        ("", "3"),
        ("Sensor.Height", "a\nb"),
    ] {
        let failed = blocks::set(PAPER, path, value).expect_err(path);
        assert_eq!(failed.problems.0[0].code, "bad-override", "{path}");
    }
    let robot = "Robot = { Sensor = { Name = a } Sensor = { Name = b } }";
    assert!(blocks::set(robot, "Robot.Sensor.Range", "3").is_err(), "which of them?");
}

const ROBOT: &str = "Robot = {\n    Radius = 12\n    Mass = 2\n    Sensor = {\n        Class = rays\n        Name = eye\n        \
                     Range = 150\n        Count = 12\n        Registers = {\n            \
                     Range = { Address = 0x10  Width = 16  Scale = 0.001 }\n        }\n    }\n    \
                     Actuator = { Class = diff-drive  Name = drive  Max Speed = 80 }\n    \
                     Controller = { Class = follow  Drive = drive }\n}\n";

const IN_TOML: &str = "format = 1\n[type.essex]\nradius = \"12cm\"\nmass = 2\n\
    [[type.essex.part]]\nname = \"eye\"\nclass = \"rays\"\nrange = \"150cm\"\ncount = 12\n\
    [[type.essex.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nmax_speed = \"80cm/s\"\n\
    [type.essex.controller]\nclass = \"follow\"\ndrive = \"drive\"\n\
    [[type.essex.register]]\npart = \"eye\"\nchannel = \"range\"\nat = 0x10\nwidth = 16\nscale = 0.001\n\
    [[robot]]\ntype = \"essex\"\n";

#[test]
fn a_robot_file_means_what_the_scenario_would_say() {
    let texts = Texts::new([("essex.robot", ROBOT)]);
    let scenario = "format = 1\n[type.essex]\nfile = \"essex.robot\"\n[[robot]]\ntype = \"essex\"\n";
    let (file, toml) = (load(scenario, &texts), load(IN_TOML, &texts));
    let essex = |loaded: &Loaded| content(loaded.scene.find("/types/essex").expect("the type"));
    assert_eq!(essex(&file), essex(&toml));
    assert_eq!(file.scene.sources.0[1].name, "essex.robot");
    let eye = file.scene.find("/types/essex/eye").unwrap();
    let place = file.scene.sources.locate(eye.params.span("range").unwrap()).unwrap();
    assert_eq!(place.to_string(), "essex.robot:7:17");
}

#[test]
fn registers_of_a_part_file_are_those_of_the_scenario() {
    let part = "Sensor = {\n Range = 150\n Count = 12\n Class = rays\n \
                Registers = { Range = { Address = 16, Width = 16, Scale = 0.001 } }\n}";
    let texts = Texts::new([("parts/eye.part", part)]);
    let scenario = IN_TOML
        .replace("class = \"rays\"\nrange = \"150cm\"\ncount = 12\n", "file = \"parts/eye.part\"\n")
        .replace("[[type.essex.register]]\npart = \"eye\"\nchannel = \"range\"\nat = 0x10\nwidth = 16\nscale = 0.001\n", "");
    assert!(!scenario.contains("register") && !scenario.contains("rays"));
    let essex = |loaded: &Loaded| content(loaded.scene.find("/types/essex").expect("the type"));
    assert_eq!(essex(&load(&scenario, &texts)), essex(&load(IN_TOML, &texts)));
}

#[test]
fn the_scenario_wins_over_the_robot_file_and_that_over_the_part_file() {
    let robot = "Robot = { Radius = 12 Sensor = { Name = eye File = eye.part Count = 5 } }";
    let part = "Sensor = { Class = rays Range = 150 Count = 7 Period = 0.5 \
                Registers = { Range = { Address = 4 } } }";
    let texts = Texts::new([("lab/essex.robot", robot), ("lab/eye.part", part)]);
    let scenario = "format = 1\n[type.t]\nfile = \"lab/essex.robot\"\nsize = [1, 2]\n[[type.t.part]]\nname = \"eye\"\n\
                    range = 3\n[[type.t.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n[[type.t.register]]\npart = \"eye\"\n\
                    channel = \"range\"\nat = 8\n[[robot]]\ntype = \"t\"\n";
    let loaded = load(scenario, &texts);
    let t = loaded.scene.find("/types/t").unwrap();
    assert!(t.params.has("size") && !t.params.has("radius"), "another outline replaces the file's");
    let names: Vec<&str> = t.children.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["eye", "drive", "eye_range"]);
    let eye = &t.children[0].params;
    assert_eq!((eye.num("range"), eye.int("count")), (3.0, 5));
    assert_eq!((eye.ratio("period").num(), eye.ratio("period").den()), (1, 2));
    assert_eq!(t.children[2].params.int("at"), 8);
}

#[test]
fn overrides_reach_into_part_files_and_may_name_them() {
    let texts = Texts::new([("a.robot", ROBOT), ("b.robot", &ROBOT.replace("Radius = 12", "Radius = 20"))]);
    let scenario = "format = 1\n[type.t]\nfile = \"a.robot\"\n[[robot]]\ntype = \"t\"\n";
    let set = |pairs: &[(&str, &str)]| {
        let pairs: Vec<_> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        read("scenario.toml", scenario, &pairs, &texts, &registry())
    };
    let pairs = [("type.t.part.eye.range", "3m"), ("type.t.file", "b.robot"), ("type.t.mass", "5")];
    let loaded = set(&pairs).unwrap_or_else(|e| panic!("{e}"));
    let t = loaded.scene.find("/types/t").unwrap();
    assert_eq!((t.params.num("radius"), t.params.num("mass")), (0.2, 5.0));
    assert_eq!(t.children[0].params.num("range"), 3.0);
    let failed = set(&[("type.t.part.eyes.range", "3m")]).expect_err("there are no eyes");
    assert_eq!(failed.problems.0[0].code, "bad-override");
    assert!(failed.problems.0[0].help.as_deref().is_some_and(|h| h.contains("`eye`")));
}

#[test]
fn plain_numbers_are_the_laboratorys_and_written_units_count() {
    let of = |body: &str| {
        let texts = Texts::new([("p.part", body)]);
        let loaded = load(
            "format = 1\n[type.t]\nradius = 1\n[[type.t.part]]\nname = \"p\"\nfile = \"p.part\"\n[[robot]]\ntype = \"t\"\n",
            &texts,
        );
        loaded.scene.find("/types/t/p").unwrap().params.clone()
    };
    let plain = of("Actuator = { Class = drift Velocity = [10, -5] Spin = 90 }");
    assert_eq!((plain.nums("velocity"), plain.num("spin")), (&[0.1, -0.05][..], 90.0_f64.to_radians()));
    let units = of("Actuator = { Class = drift\n Velocity = [10 m/s, \"-5 km/h\"]\n Spin = 1rad/s }");
    assert_eq!((units.nums("velocity")[0], units.num("spin")), (10.0, 1.0));
    let rays = of("Sensor = { Class = rays Range = 2 m Period = 50 ms }");
    assert_eq!((rays.num("range"), rays.ratio("period").den()), (2.0, 20));
}

#[test]
fn shares_are_percent() {
    let share = Param::number("error_level", Unit::None, "A share.").within(0.0, 1.0);
    let most = Param::number("max_value", Unit::None, "No share.");
    let sheet = Sheet::new("gauge", Kind::Sensor, "For tests.").param(share).param(most);
    let mut registry = registry();
    registry.add(Class { sheet, build: None });
    let texts = Texts::new([("p.part", "Sensor = { Class = gauge Error Level = 5 Max Value = 255 }")]);
    let loaded = read("scenario.toml", &scenario_for("p.part"), &[], &texts, &registry);
    let scene = loaded.unwrap_or_else(|e| panic!("{e}")).scene;
    let params = &scene.find("/types/t/p").unwrap().params;
    assert_eq!((params.num("error_level"), params.num("max_value")), (0.05, 255.0));
}

#[test]
fn a_name_may_come_from_the_file_and_a_class_from_the_scenario() {
    let texts = Texts::new([
        ("p.part", "Sensor = {\n Name = eye\n Range = 50\n}"),
        ("c.part", "Controller = { Gain = 3 }"),
    ]);
    let loaded = load(
        "format = 1\n[type.t]\nradius = 1\n[[type.t.part]]\nclass = \"rays\"\nfile = \"p.part\"\n\
         [type.t.controller]\nclass = \"follow\"\nfile = \"c.part\"\n[[robot]]\ntype = \"t\"\n",
        &texts,
    );
    assert_eq!(loaded.scene.find("/types/t/eye").unwrap().params.num("range"), 0.5);
    assert_eq!(loaded.scene.find("/types/t/controller").unwrap().params.num("gain"), 3.0);
}

#[test]
fn the_paper_names_no_class_so_the_classes_of_its_kind_are_listed() {
    let texts = Texts::new([("paper.part", PAPER)]);
    let text = "format = 1\n[type.t]\nradius = 1\n[[type.t.part]]\nname = \"p\"\nfile = \"paper.part\"\n[[robot]]\ntype = \"t\"\n";
    let failed = read("scenario.toml", text, &[], &texts, &registry()).expect_err("no class");
    assert_eq!(failed.problems.0.len(), 1, "{failed}");
    assert_eq!(failed.problems.0[0].help.as_deref(), Some("valid here: rays"));
}

#[test]
fn part_files_are_found_next_to_the_file_that_names_them() {
    let types = "[type.t]\nradius = 1\n[[type.t.part]]\nname = \"p\"\nfile = \"../p.part\"\n";
    let texts = Texts::new([("lib/types.toml", types), ("p.part", "Sensor = { Class = rays }")]);
    let scenario = "format = 1\ninclude = [\"lib/types.toml\"]\n[[robot]]\ntype = \"t\"\n";
    assert!(load(scenario, &texts).scene.find("/types/t/p").is_some());
    for outside in ["../p.part", "/p.part", "a/../../p.part", "C:p.part", ""] {
        let text = format!("format = 1\n[type.t]\nfile = \"{outside}\"\n");
        let failed = read("scenario.toml", &text, &[], &texts, &registry()).expect_err(outside);
        assert_eq!(failed.problems.0[0].code, "bad-file", "{outside}");
    }
}

// Broken files.

fn found(failed: &Failed) -> Vec<(String, String)> {
    let place = |d: &swarmyard_base::Diagnostic| d.span.and_then(|s| failed.sources.locate(s));
    let mut all: Vec<_> = failed
        .problems
        .0
        .iter()
        .map(|d| (place(d).map_or("nowhere".into(), |l| l.to_string()), d.code.to_owned()))
        .collect();
    all.sort();
    all
}

fn scenario_for(name: &str) -> String {
    let body = if name.ends_with(".robot") {
        format!("[type.t]\nfile = \"{name}\"")
    } else {
        format!("[type.t]\nradius = 1\n[[type.t.part]]\nname = \"p\"\nfile = \"{name}\"")
    };
    format!("format = 1\n{body}\n[[robot]]\ntype = \"t\"\n")
}

#[test]
fn every_broken_part_file_reports_what_it_says() {
    let folder = Folder::of_tests("bad-parts");
    let mut wrong = Vec::new();
    let mut files = folder.files("part");
    files.extend(folder.files("robot"));
    assert!(files.len() >= 45);
    for (name, text) in files {
        let mut expected: Vec<(String, String)> = text
            .lines()
            .filter_map(|l| l.trim_end().strip_prefix("#! expect "))
            .map(|l| l.split_once(' ').expect("a place and a code"))
            .map(|(place, code)| {
                let own = place.matches(':').count() == 1;
                (if own { format!("{name}:{place}") } else { place.to_owned() }, code.to_owned())
            })
            .collect();
        expected.sort();
        match read("scenario.toml", &scenario_for(&name), &[], &folder, &registry()) {
            Ok(_) => wrong.push(format!("{name}: was read without a problem, expected {expected:?}")),
            Err(failed) => {
                if found(&failed) != expected {
                    wrong.push(format!(
                        "{name}: expected {expected:?}\n     found {:?}\n{failed}",
                        found(&failed)
                    ));
                }
                for d in failed.problems.0.iter() {
                    assert!(d.message.contains('`') && !d.message.ends_with('.'), "{name}: {}", d.message);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn damaged_part_files_are_refused_or_written_back_but_never_panic() {
    const PIECES: [&str; 16] = [
        "{",
        "}",
        "[",
        "]",
        "=",
        "\n",
        "\"",
        "\\",
        "/*",
        "*/",
        "//",
        "#",
        ",",
        " 9 m ",
        "Sensor = {",
        "\u{fffd}",
    ];
    let folder = Folder::of_tests("bad-parts");
    let mut texts = folder.files("part");
    texts.extend(folder.files("robot"));
    texts.extend([("paper".to_owned(), PAPER.to_owned()), ("robot".to_owned(), ROBOT.to_owned())]);
    for (name, text) in texts {
        for end in 0..text.len().min(400) {
            fuzz_read_blocks(&text.as_bytes()[..end]);
        }
        for round in 0..100 {
            let draw = Draw::at(1, Uid::of_path(&name), Purpose::Test, Time::ZERO, round);
            let mut bytes = text.clone().into_bytes();
            let [count, ..] = draw.block(0);
            for k in 0..=count % 4 {
                let [what, place, length, value] = draw.block(k + 1);
                let at = place as usize % (bytes.len() + 1);
                let end = (at + length as usize % 12).min(bytes.len());
                match what % 3 {
                    0 if at < bytes.len() => bytes[at] = value as u8,
                    1 => drop(bytes.drain(at..end)),
                    _ => drop(bytes.splice(at..at, PIECES[value as usize % PIECES.len()].bytes())),
                }
            }
            fuzz_read_blocks(&bytes);
        }
    }
}

#[test]
fn deep_and_wide_part_files_are_refused_politely() {
    let deep = "a={".repeat(100_000);
    let deep_list = format!("a={}", "[".repeat(100_000));
    let wide = "a=1 ".repeat(150_000);
    let wide_list = format!("a=[{}]", "1,".repeat(150_000));
    let long = " ".repeat(blocks::MAX_TEXT + 1);
    let bad = "= ".repeat(100_000) + &"=\n".repeat(100_000);
    for text in [deep, deep_list, wide, wide_list, long, bad] {
        let failed = blocks::parse("t", &text).expect_err("refused");
        assert!(failed.problems.0.len() <= 100);
        fuzz_read_blocks(text.as_bytes());
    }
    let level = |n: usize| format!("{}{}", "a={".repeat(n), "}".repeat(n));
    assert!(blocks::parse("t", &level(blocks::MAX_DEPTH)).is_ok());
    assert!(blocks::parse("t", &level(blocks::MAX_DEPTH + 1)).is_err());
}

#[test]
fn a_file_of_many_keys_takes_no_time_to_speak_of() {
    let keys = |n: usize| (0..n).map(|k| format!("k{k}=1 ")).collect::<String>();
    let channels: String = (0..30_000).map(|k| format!("c{k} = {{ Address = {k} }}\n")).collect();
    for (body, is_good) in [
        (keys(90_000), false),
        ("a=1 ".repeat(90_000), false),
        (format!("Registers = {{ {channels} }}"), true),
        (format!("Registers = {{ a = {{ {} }} }}", keys(90_000)), false),
    ] {
        let texts = Texts::new([("p.part", &format!("Sensor = {{ Class = rays {body} }}"))]);
        let read = read("scenario.toml", &scenario_for("p.part"), &[], &texts, &registry());
        assert_eq!(read.is_ok(), is_good, "{:.40}", body);
        fuzz_read_blocks(texts.0["p.part"].as_bytes());
    }
}

#[test]
fn one_file_used_often_cannot_explode() {
    let part = format!("Sensor = {{ Class = rays Period = [{}] }}", "1,".repeat(90_000));
    let texts = Texts::new([("p.part", &part)]);
    let parts: String =
        (0..50).map(|k| format!("[[type.t.part]]\nname = \"p{k}\"\nfile = \"p.part\"\n")).collect();
    let text = format!("format = 1\n[type.t]\nradius = 1\n{parts}");
    let failed = read("scenario.toml", &text, &[], &texts, &registry()).expect_err("too big");
    assert!(failed.problems.0.iter().any(|d| d.code == "too-big"));
}

#[test]
fn places_are_those_of_values_inside_lists() {
    let texts = Texts::new([("p.part", "Actuator = {\n Class = drift\n Velocity = [1, 2 kg]\n}")]);
    let failed = read("scenario.toml", &scenario_for("p.part"), &[], &texts, &registry()).expect_err("kg");
    assert_eq!(found(&failed), [("p.part:3:17".to_owned(), "wrong-unit".to_owned())]);
}
