//! `convert`, and configurations where scenarios are expected.

use crate::yard::Yard;
use std::fmt::Write as _;
use std::path::Path;

const CONFIG: &str = "# Ten robots.\nprocess.num = 10\nrobot.size = 10\nbornpoint.random = true\n\
                      process.initializer = lse.neko.robotsim.algorithm.RandomMovement\nmessages.level = FINE\n";

#[test]
fn a_configuration_becomes_a_scenario_in_a_file_or_on_standard_output() {
    let yard = Yard::new("convert");
    yard.write("robotsim.config", CONFIG);
    let done = yard.run("convert robotsim.config").exits(0);
    assert!(done.out.starts_with("format = 1\ntitle = \"Random movement of 10 robots\"\n"), "{}", done.out);
    assert!(done.err.contains("robotsim.config:6:1: warning[no-effect]"), "{}", done.err);
    yard.run("convert robotsim.config -o robots.toml").exits(0);
    assert_eq!(yard.read("robots.toml"), done.out);
    yard.run("fmt --check robots.toml").exits(0);
    let value = yard.run("convert robotsim.config --json").exits(0).json("swarmyard-convert/1");
    assert_eq!(value["content"].as_str(), Some(&*done.out));
    assert_eq!(value["problems"][0]["line"].as_u64(), Some(6));
}

#[test]
fn problems_of_a_configuration_have_their_place_in_every_command() {
    let yard = Yard::new("convert-bad");
    yard.write("bad.config", &CONFIG.replace("process.num", "process.nun").replace("= true", "= maybe"));
    for words in ["convert bad.config", "check bad.config", "run bad.config"] {
        let done = yard.run(words).exits(3);
        for piece in [
            "bad.config:2:1: error[unknown-key]",
            "did you mean `process.num`?",
            "error[missing-key]: a configuration needs the key `process.num`",
        ] {
            assert!(done.err.contains(piece), "{words}: no `{piece}` in {}", done.err);
        }
    }
    yard.run("convert missing.config").exits(3);
}

/// The configurations that the tests of the reader convert, run with everything that is really there: each loads as it is, and does
/// what the thesis says of it.
#[test]
fn every_algorithm_of_the_thesis_runs_from_its_configuration() {
    let yard = Yard::new("convert-run");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/neko");
    let spread =
        "highest(self.x) > 600 && lowest(self.x) < 200 && highest(self.y) > 450 && lowest(self.y) < 150";
    for (name, until, asserts) in [
        ("random-movement", "60s", vec![("always", spread), ("at-end", "contacts > 5")]),
        (
            "gathering",
            "400s",
            vec![("at-end", "highest(self.x) - lowest(self.x) < 1 && highest(self.y) - lowest(self.y) < 1")],
        ),
        ("ask-for-help", "120s", vec![("sometime", "count(self.speed > 0) > 4")]),
        (
            "path-reservation",
            "300s",
            vec![
                ("always", "contacts == 0"),
                ("sometime", "distance(/robots/p0, /robots/p1) > 300"),
                ("sometime", "count(self.speed > 0) == 2"),
            ],
        ),
    ] {
        let config = std::fs::read_to_string(folder.join(name).with_extension("config")).expect(name);
        yard.write("robots.config", &config);
        yard.run("check robots.config").exits(0);
        yard.run("run robots.config --no-record --until 2s").exits(0);
        let mut scenario = yard.run("convert robots.config").exits(0).out;
        for (holds, that) in asserts {
            let _ = write!(scenario, "\n[[assert]]\nthat = \"{that}\"\nholds = \"{holds}\"\n");
        }
        yard.write("robots.toml", &scenario);
        let done = yard.run(&format!("run robots.toml --no-record --until {until}"));
        assert_eq!(done.code, Some(0), "{name}: {}\n{}", done.out, done.err);
    }
}

/// "The system guarantees that they will not collide other robots when they are born."
#[test]
fn random_born_points_never_overlap() {
    let yard = Yard::new("convert-born");
    yard.write("robots.config", &CONFIG.replace("num = 10", "num = 600").replace("size = 10", "size = 8"));
    for seed in 1..=5 {
        yard.run(&format!("run robots.config --until 1s --seed {seed} --record born{seed}.mcap")).exits(0);
        let table = yard.run(&format!("export born{seed}.mcap --to csv")).exits(0).out;
        let number = |cell: Option<&str>| cell.and_then(|c| c.parse::<f64>().ok()).expect("a number");
        let places: Vec<[f64; 2]> = table
            .lines()
            .filter(|l| l.starts_with("0,"))
            .map(|l| l.split(',').skip(2))
            .map(|mut cells| [number(cells.next()), number(cells.next())])
            .collect();
        assert_eq!(places.len(), 600);
        for (k, a) in places.iter().enumerate() {
            for b in &places[..k] {
                assert!((a[0] - b[0]).hypot(a[1] - b[1]) > 15.999, "seed {seed}: {a:?} {b:?}");
            }
        }
    }
}
