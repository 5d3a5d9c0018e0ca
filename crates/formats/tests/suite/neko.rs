//! Configurations of Neko's robot simulator: what they become, and what is wrong with broken ones.
//!
//! A file in `tests/bad-neko` ends with lines such as `#! expect 7:12 unknown-key`; `#! warn` expects a
//! warning. A `.config` in `tests/neko` becomes the `.toml` beside it.

use crate::common::{Folder, registry};
use proptest::prelude::*;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Severity, Time, Uid};
use swarmyard_formats::neko::config::{convert, to_toml};
use swarmyard_formats::neko::fuzz_config;
use swarmyard_formats::{Failed, NoFiles, format, read};

const GOOD: &str = "process.num = 4\nrobot.size = 10\nbornpoint.random = true\nrobot.algorithm = Gathering\n";

fn expected(text: &str) -> Vec<String> {
    let words = |start, mark| move |l: &str| Some(format!("{mark}{}", l.trim_end().strip_prefix(start)?));
    let errors = text.lines().filter_map(words("#! expect ", ""));
    let mut all: Vec<String> = errors.chain(text.lines().filter_map(words("#! warn ", "warning "))).collect();
    all.sort();
    all
}

fn found(failed: &Failed) -> Vec<String> {
    let place = |d: &swarmyard_base::Diagnostic| {
        let place = failed.sources.locate(d.span?)?;
        Some(format!("{}:{}", place.line, place.column))
    };
    let word = |d: &swarmyard_base::Diagnostic| {
        let mark = if d.severity == Severity::Warning { "warning " } else { "" };
        format!("{mark}{} {}", place(d).unwrap_or("nowhere".into()), d.code)
    };
    let mut all: Vec<String> = failed.problems.0.iter().map(word).collect();
    all.sort();
    all
}

#[test]
fn every_broken_configuration_reports_what_it_says() {
    let files = Folder::of_tests("bad-neko").files("config");
    assert!(files.len() >= 21);
    let mut wrong = Vec::new();
    for (name, text) in files {
        let expected = expected(&text);
        assert!(expected.iter().any(|e| !e.starts_with("warning")), "{name} is not broken");
        // Both ways in find the same.
        let read = read(&name, &text, &[], &NoFiles, &registry()).err();
        for failed in [read, convert(&name, &text).err()] {
            let found = failed.as_deref().map(found);
            if found.as_ref() != Some(&expected) {
                let shown = failed.map(|f| f.to_string());
                wrong.push(format!("{name}: expected {expected:?}\n     found {found:?}\n{shown:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn every_message_shows_the_value_says_what_now_and_ends_without_a_full_stop() {
    for (name, text) in Folder::of_tests("bad-neko").files("config") {
        let failed = convert(&name, &text).expect_err(&name);
        for d in &failed.problems.0 {
            assert!(d.message.contains('`') && !d.message.ends_with('.'), "{name}: {}", d.message);
            let says_itself = ["no-effect", "duplicate-key", "contradiction", "syntax"].contains(&d.code);
            assert!(d.help.is_some() || says_itself, "{name}: {}", d.message);
        }
    }
}

#[test]
fn near_misses_are_suggested() {
    for (name, hint) in [
        ("unknown-key", "`process.num`"),
        ("unknown-key", "`animation.framerate`"),
        ("unknown-key", "`bornpoint1`"),
        ("unknown-algorithm", "`Gathering`"),
        ("unknown-algorithm", "`PathReservation`"),
        ("unknown-network", "`RandomNetwork`"),
        ("random-network-without-lambda", "in seconds"),
        ("random-network-lambda", "in seconds"),
        ("metric-lambda", "in seconds"),
        ("missing-born-points", "`bornpoint.random = true`"),
    ] {
        let name = format!("{name}.config");
        let all = Folder::of_tests("bad-neko").files("config");
        let (_, text) = all.into_iter().find(|f| f.0 == name).expect("the configuration");
        let failed = convert(&name, &text).expect_err(&name);
        let helps: Vec<&str> = failed.problems.0.iter().filter_map(|d| d.help.as_deref()).collect();
        assert!(helps.iter().any(|h| h.contains(hint)), "{name}: {helps:?}");
    }
}

#[test]
fn every_configuration_becomes_the_scenario_beside_it() {
    let folder = Folder::of_tests("neko");
    let wanted = folder.files("toml");
    let configs = folder.files("config");
    assert_eq!((configs.len(), wanted.len()), (4, 4));
    for ((name, text), (_, toml)) in configs.into_iter().zip(wanted) {
        let converted = convert(&name, &text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(converted.toml, toml, "{name}");
        assert_eq!(to_toml(&text).as_ref(), Ok(&toml));
        assert_eq!(format(&name, &toml).as_ref().ok(), Some(&toml), "{name} is written as `fmt` would");
    }
}

#[test]
fn what_was_assumed_is_said() {
    let notes = |text: &str| -> Vec<String> {
        let converted = convert("t.config", text).unwrap_or_else(|e| panic!("{e}"));
        converted.notes.0.into_iter().map(|d| format!("{} {}", d.code, d.message)).collect()
    };
    assert_eq!(notes(GOOD), Vec::<String>::new());
    let initializer = "process.initializer = RobotSimInitializer";
    let all = notes(&GOOD.replace("robot.algorithm = Gathering", initializer));
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].contains("`PathReservation`") && all[1].contains("reliable"), "{all:?}");
    let both = notes(&format!("{GOOD}{initializer}\nbornpoint1 = 3, 4\n.level = FINE\n"));
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both.iter().all(|n| n.starts_with("no-effect")), "{both:?}");
}

#[test]
fn all_names_of_algorithms_and_networks_are_known() {
    for (name, class) in [
        ("RandomMovement", "random-movement"),
        ("Gathering", "gathering"),
        ("TestCommunication", "ask-for-help"),
        ("PathReservation", "path-reservation"),
    ] {
        for prefix in ["lse.neko.robotsim.algorithm.", ""] {
            for key in ["robot.algorithm", "process.initializer", "process.initaliaizer"] {
                let text = GOOD.replace("robot.algorithm = Gathering", &format!("{key} = {prefix}{name}"));
                let toml = to_toml(&text).unwrap_or_else(|e| panic!("{e:?}"));
                // Path reservation stands between an algorithm and its wheels.
                let (moves, reserved) =
                    if class == "path-reservation" { ("random-movement", true) } else { (class, false) };
                assert!(toml.contains(&format!("[type.robot.algorithm]\nclass = \"{moves}\"\n")), "{toml}");
                let pieces = ["lamport-order", "broadcast = \"abcast\"", "motion = \"path_reservation\""];
                assert_eq!(pieces.map(|piece| toml.contains(piece)), [reserved; 3], "{toml}");
            }
        }
    }
    for (name, section) in [
        ("RandomNetwork", "class = \"random\"\nmean = 2.5\n"),
        ("MetricNetwork", "class = \"metric\"\nlambda = 2.5\nmulticast = false\n"),
        ("ReliableNetwork", "class = \"reliable\"\n"),
        ("BasicNetwork", "class = \"reliable\"\n"),
        ("SimNetwork", "class = \"reliable\"\n"),
    ] {
        for prefix in ["lse.neko.networks.sim.", ""] {
            let toml = to_toml(&format!("{GOOD}network = {prefix}{name}\nnetwork.lambda = 2.5\n")).unwrap();
            assert!(toml.contains(&format!("[network]\n{section}\n")), "{toml}");
        }
    }
}

#[test]
fn problems_found_later_stand_in_the_configuration() {
    let text = GOOD.replace("= 4", "= 20000000");
    let failed = read("robots.config", &text, &[], &NoFiles, &registry()).expect_err("too many robots");
    assert!(found(&failed).contains(&"1:15 out-of-range".to_owned()), "{failed}");
    assert!(failed.to_string().contains("robots.config:1:15"), "{failed}");
    let text = "process.num = 1\nrobot.size = 1e9\nbornpoint1 = 1, 2\nrobot.algorithm = Gathering\n";
    let failed = read("robots.config", text, &[], &NoFiles, &registry()).expect_err("too big a robot");
    assert!(found(&failed).contains(&"2:14 out-of-range".to_owned()), "{failed}");
}

#[test]
fn a_value_from_the_command_line_goes_over_the_configuration() {
    let set = |key: &str, value: &str| {
        let failed = read("t.config", GOOD, &[(key.into(), value.into())], &NoFiles, &registry());
        failed.map(|_| String::new()).unwrap_or_else(|e| e.to_string())
    };
    assert!(set("run.duration", "soon").contains("`duration` cannot be `soon`"));
    assert!(set("type.robot.radius", "far").contains("`radius` cannot be `far`"));
}

/// One to three small damages.
fn damaged(text: &[u8], draw: Draw) -> Vec<u8> {
    const PIECES: [&[u8]; 12] =
        [b"=", b"\\", b"\\u00", b"\n", b",", b"#", b".", b"-", b"9", b"e", b"\xc3", b"bornpoint"];
    let mut out = text.to_vec();
    let [count, ..] = draw.block(0);
    for k in 0..=count % 3 {
        let [what, place, length, value] = draw.block(k + 1);
        let at = place as usize % (out.len() + 1);
        let end = (at + length as usize % 12).min(out.len());
        match what % 4 {
            0 if at < out.len() => out[at] = value as u8,
            1 => drop(out.drain(at..end)),
            2 => {
                let piece = out[at..end].to_vec();
                drop(out.splice(at..at, piece));
            }
            _ => drop(out.splice(at..at, PIECES[value as usize % PIECES.len()].iter().copied())),
        }
    }
    out
}

#[test]
fn damaged_configurations_are_refused_or_mean_what_their_scenario_means() {
    let mut all = Folder::of_tests("neko").files("config");
    all.extend(Folder::of_tests("bad-neko").files("config"));
    let mut read = 0;
    for (name, text) in all {
        for round in 0..400 {
            let draw = Draw::at(1, Uid::of_path(&name), Purpose::Test, Time::ZERO, round);
            let bytes = damaged(text.as_bytes(), draw);
            fuzz_config(&bytes);
            read += usize::from(to_toml(&String::from_utf8_lossy(&bytes)).is_ok());
        }
        for end in 0..text.len() {
            fuzz_config(&text.as_bytes()[..end]);
        }
    }
    assert!(read > 100, "only {read} damaged ones could still be read");
}

#[test]
fn long_and_hostile_texts_are_refused_politely() {
    let flood: String = (0..50_000).map(|k| format!("k{k} = 1\n")).collect();
    let failed = convert("t.config", &flood).expect_err("unknown keys");
    assert!(failed.problems.0.len() <= 2003);
    let born: String = (1..50_000).map(|k| format!("bornpoint{k} = x\n")).collect();
    let text = format!("process.num = 49999\nrobot.size = 1\nrobot.algorithm = Gathering\n{born}");
    assert!(convert("t.config", &text).expect_err("no numbers").problems.0.len() <= 2003);
    let notes = format!("{}{GOOD}", "a.level = FINE\n".repeat(5_000));
    assert_eq!(convert("t.config", &notes).expect("only notes").notes.0.len(), 1000);
    let huge = "#".repeat(17 << 20);
    assert!(convert("t.config", &huge).expect_err("too long").problems.0.iter().any(|d| d.code == "too-big"));
    let many = "a=\n".repeat(1_100_000);
    assert!(convert("t.config", &many).is_err());
    let long = format!("{GOOD}animation.logpath = {}\n", "\\u0041".repeat(100_000));
    assert!(convert("t.config", &long).is_ok());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz_config(text.as_bytes());
        fuzz_config(&bytes);
        fuzz_config(format!("{GOOD}{text}").as_bytes());
    }
}
