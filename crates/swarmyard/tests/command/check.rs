//! `check`, `fmt`, `describe`, `schema`, `completions`, and wrong usage.

use crate::yard::{DUEL, WAITING, Yard};

#[test]
fn a_good_file_is_one_line() {
    let yard = Yard::with_duel("check-good");
    yard.write("w.toml", WAITING);
    let done = yard.run("check duel.toml w.toml").exits(0);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(
        lines,
        [
            "duel.toml: ok, 2 robots of 1 type, 0 walls, 1 assertion, tier 1 (rerun-identical)",
            "w.toml: ok, 1 robot of 1 type, 0 walls, 0 assertions, tier 2 (replay-identical)",
        ]
    );
}

#[test]
fn every_problem_of_every_file_has_its_place() {
    let yard = Yard::with_duel("check-bad");
    yard.write("bad.toml", "format = 1\n[run]\nquantumm = \"1s\"\n[[robot]]\ntype = \"ghost\"\n");
    yard.write("torn.toml", "format = \n");
    let done = yard.run("check bad.toml torn.toml duel.toml missing.toml").exits(3);
    for piece in [
        "bad.toml:3:1: error[unknown-key]",
        "bad.toml:5:8: error[",
        "torn.toml:1:",
        "missing.toml",
        "did you mean `quantum`?",
    ] {
        assert!(done.err.contains(piece), "no `{piece}` in {}", done.err);
    }
    assert!(done.out.starts_with("duel.toml: ok"), "{}", done.out);
}

#[test]
fn topics_to_record_are_checked_as_a_run_checks_them() {
    let yard = Yard::new("check-topics");
    let topics = "[record]\ntopics = [\"/robots/a\", \"/robots/bb\", \"/robots/a/drve\"]\n";
    yard.write("w.toml", &format!("{DUEL}\n{topics}"));
    let done = yard.run("check w.toml").exits(3);
    for piece in ["error[unknown-topic]", "did you mean `/robots/b`?", "did you mean `/robots/a/drive`?"] {
        assert!(done.err.contains(piece), "no `{piece}` in {}", done.err);
    }
    let run = yard.run("run w.toml").exits(3);
    assert!(run.err.contains("unknown-topic"), "{}", run.err);
    yard.write("w.toml", &format!("{DUEL}\n{}", topics.replace("bb", "b").replace("drve", "drive")));
    yard.run("check w.toml").exits(0);
}

#[test]
fn problems_as_json_have_all_fields() {
    let yard = Yard::new("check-json");
    yard.write("bad.toml", "format = 1\n[run]\nquantumm = \"1s\"\n");
    let value = yard.run("check bad.toml --json").exits(3).json("swarmyard-check/1");
    let problem = &value["files"][0]["problems"][0];
    assert_eq!((problem["code"].as_str(), problem["file"].as_str()), (Some("unknown-key"), Some("bad.toml")));
    assert_eq!((problem["line"].as_u64(), problem["column"].as_u64()), (Some(3), Some(1)));
    assert!(problem["help"].is_string() && problem["message"].is_string() && problem.get("path").is_some());
    let error = yard.run("run bad.toml --json").exits(3).json("swarmyard-error/1");
    assert_eq!((error["code"].as_str(), error["line"].as_u64()), (Some("unknown-key"), Some(3)));
    let error = yard.run("run nothing.toml --json").exits(3).json("swarmyard-error/1");
    assert_eq!((error["code"].as_str(), error["file"].as_str()), (Some("no-file"), Some("nothing.toml")));
}

#[test]
fn an_override_is_checked_like_the_file() {
    let yard = Yard::with_duel("check-set");
    let done = yard.run("check duel.toml --set run.sede=4").exits(3);
    assert!(done.err.contains("sede") && done.err.contains("did you mean `seed`?"), "{}", done.err);
    yard.run("check duel.toml --set nonsense").exits(2);
}

#[test]
fn formatting_twice_is_formatting_once() {
    let yard = Yard::new("fmt");
    yard.write("a.toml", &DUEL.replace("seed = 3", "seed=3   # three"));
    assert!(yard.run("fmt a.toml --check").exits(1).err.contains("a.toml: would be changed"));
    yard.run("fmt a.toml").exits(0);
    let once = yard.read("a.toml");
    assert!(once.contains("seed = 3") && once.contains("# three"), "{once}");
    yard.run("fmt a.toml").exits(0);
    assert_eq!(yard.read("a.toml"), once);
    yard.run("fmt a.toml --check").exits(0);
    assert_eq!(yard.files(), ["a.toml"]);
    yard.write("torn.toml", "x = [");
    let value = yard.run("fmt torn.toml --json").exits(3).json("swarmyard-fmt/1");
    assert_eq!(value["files"][0]["problems"][0]["line"], 1);
    assert_eq!(yard.read("torn.toml"), "x = [");
}

#[test]
fn classes_describe_themselves() {
    let yard = Yard::new("describe");
    assert!(yard.run("describe").exits(0).out.contains("diff-drive"));
    assert!(yard.run("describe diff-drive").exits(0).out.contains("max_speed"));
    assert!(yard.run("describe dif-drive").exits(2).err.contains("did you mean `diff-drive`?"));
    let value = yard.run("describe range-rays --json").exits(0).json("swarmyard-describe/1");
    let sheet = &value["classes"][0];
    assert_eq!((&sheet["class"], &sheet["ports"]), (&"range-rays".into(), &serde_json::json!([])));
    let range = &sheet["channels"][0];
    assert_eq!((range["len"].as_u64(), range["command"].as_bool()), (Some(1), Some(false)));
    assert!(range["min"] == 0.0 && range["max"].is_null(), "{range}");
    assert!(yard.run("describe --manual").exits(0).out.starts_with("# "));
    let schema: serde_json::Value = serde_json::from_str(&yard.run("schema").exits(0).out).unwrap();
    assert!(schema["properties"]["robot"].is_object());
    yard.run("schema --json").exits(0).json("swarmyard-schema/1");
    assert!(yard.run("completions bash").exits(0).out.contains("swarmyard"));
}

#[test]
fn wrong_usage_is_exit_2_with_a_suggestion() {
    let yard = Yard::new("usage");
    assert!(yard.run("chek x").exits(2).err.contains("check"));
    let value = yard.run("run x --sed 3 --json").exits(2).json("swarmyard-error/1");
    assert_eq!(value["code"], "usage");
    yard.run("").exits(2);
}

#[test]
fn help_begins_with_examples_and_ends_with_exit_codes() {
    let yard = Yard::new("help");
    let done = yard.run("--help").exits(0);
    assert!(done.out.starts_with("Examples:") && done.out.contains("Exit codes:") && done.err.is_empty());
    assert!(!done.out.contains('\u{1b}'));
    for command in
        ["run", "check", "describe", "fmt", "diff", "replay", "export", "bench", "init", "completions"]
    {
        assert!(yard.run(&format!("{command} --help")).exits(0).out.starts_with("Examples:"), "{command}");
    }
}

#[test]
fn modules_are_told_to_programs() {
    let yard = Yard::with_duel("check-modules");
    let checked = yard.run("check duel.toml --json").exits(0).json("swarmyard-check/1");
    let modules = &checked["files"][0]["modules"];
    let number = |key: &str| modules[key].as_u64().unwrap_or(0);
    assert_eq!((number("kernel"), number("total")), (6, 6 + number("robots")));
    assert!(number("robots") > 0, "{modules}");
    let ran = yard.run("run duel.toml --no-record --json").exits(0).json("swarmyard-run/1");
    assert_eq!(&ran["modules"], modules);
}

/// Three robots that look, start and arrive when a script says so; `script` is the line about it.
fn scheduled(script: &str) -> String {
    format!(
        "format = 1\n[run]\nduration = \"20s\"\nquantum = \"1s\"\ncontact = \"ghost\"\n[type.bot]\nradius = 0.1\n\
        [[type.bot.part]]\nname = \"glider\"\nclass = \"glider\"\n[[type.bot.part]]\nname = \"gps\"\nclass = \"gps\"\n\
        [type.bot.algorithm]\nclass = \"look-compute-move\"\nscheduler = \"script\"\n{script}\n\
        [[robot]]\nname = \"r\"\ntype = \"bot\"\ncount = 3\nlayout = {{ class = \"row\", step = [1, 0.3] }}\n"
    )
}

const PLAN: &str = "0, 1, 2, 5, 6, 7\n0.5, 0.5, 3\n1, 1.5, 2.5, 2.5, 4, 8\n";

#[test]
fn a_schedule_may_stand_in_a_file_beside_the_scenario() {
    let yard = Yard::new("script-file");
    std::fs::create_dir_all(yard.path("plans")).unwrap();
    yard.write("plans/night.csv", PLAN);
    yard.write("inside.toml", &scheduled(&format!("script = \"\"\"\n{PLAN}\"\"\"")));
    yard.write("beside.toml", &scheduled("script_file = \"plans/night.csv\""));
    let hash = |world: &str| {
        let done = yard.run(&format!("run {world} --no-record --json")).exits(0).json("swarmyard-run/1");
        done["hash"].as_str().unwrap().to_owned()
    };
    let inside = hash("inside.toml");
    assert_eq!(hash("beside.toml"), inside);
    // Another schedule is another run, also when only the file says so, and a key can name another file.
    yard.write("plans/day.csv", &PLAN.replace("0.5, 0.5, 3", "1.5, 1.6, 4"));
    let day = hash("beside.toml --set type.bot.algorithm.script_file=plans/day.csv");
    assert_ne!(day, inside);
    yard.run("run beside.toml -q --record beside.mcap").exits(0);
    // A recording has all it needs.
    std::fs::remove_dir_all(yard.path("plans")).unwrap();
    yard.run("replay beside.mcap --verify").exits(0);
}

#[test]
fn what_is_wrong_with_a_schedule_in_a_file_is_said_at_its_place_there() {
    let yard = Yard::new("script-bad");
    yard.write("world.toml", &scheduled("script_file = \"plan.csv\""));
    let place = |plan: &str| {
        yard.write("plan.csv", plan);
        yard.run("check world.toml").exits(3).err
    };
    for (plan, at, word) in [
        ("0, 1, 2\n0, soon, 2\n0, 1, 2\n", "plan.csv:2:4", "`soon` is not a time"),
        ("0, 1, 2\r\n0, 1, 2\r\n3, 2, 4\r\n", "plan.csv:3:4", "never fall: `2`"),
        ("0, 1, 2\n  0, 1\n0, 1, 2\n", "plan.csv:2:3", "in threes: look, start, arrival; there are `2`"),
        ("0, 1, 2\n0, 1, inf\n", "plan.csv:2:7", "never fall: `inf`"),
        ("0, 1, 2\n0, 1, 2\n", "plan.csv:1:1", "lines for `2` robots, and there are `3`"),
    ] {
        let err = place(plan);
        assert!(err.contains(at) && err.contains(word), "{plan:?}: {err}");
    }
    let long = "1,".repeat(1_000_001);
    assert!(place(&long).contains("at most `1000000` times"));
    let lines = "\n".repeat(1_000_002);
    assert!(place(&lines).contains("at most `1000000` lines"));
    std::fs::remove_file(yard.path("plan.csv")).unwrap();
    let err = yard.run("check world.toml").exits(3).err;
    assert!(err.contains("world.toml:17:15") && err.contains("cannot read `plan.csv`"), "{err}");
    for (line, word) in [
        ("script_file = \"../plan.csv\"", "must be in the scenario's folder: `../plan.csv`"),
        ("script_file = \"/etc/passwd\"", "must be in the scenario's folder: `/etc/passwd`"),
        ("script_file = 3", "name of the script's file"),
        ("script_file = \"plan.csv\"\nscript = \"0,1,2\"", "`script_file` and `script` are both given"),
    ] {
        yard.write("world.toml", &scheduled(line));
        let err = yard.run("check world.toml").exits(3).err;
        assert!(err.contains("world.toml:17:") && err.contains(word), "{line}: {err}");
    }
}
