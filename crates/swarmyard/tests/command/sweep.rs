//! `sweep`, and a controller that is written while its world runs.

use crate::yard::{Done, Yard};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The world of the case study, from anywhere.
fn network() -> String {
    format!("{}/../../worlds/search-network.toml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_case_study_a_track_below_the_designed_width_fails_and_above_it_is_followed_to_every_end() {
    let yard = Yard::new("sweep-case");
    let world = network();
    let done = yard
        .run(&format!(
            "sweep {world} --vary params.tape=4mm,24mm,30mm --vary type.surveyor.part.eyes.coverage=15,50 --seeds 2 --plot tape.svg --json"
        ))
        .exits(0);
    let value = done.json("swarmyard-sweep/1");
    let runs = value["runs"].as_array().unwrap();
    let passed: Vec<(String, String, bool)> = runs
        .iter()
        .map(|r| {
            let set = |key: &str| r["set"][key].as_str().unwrap_or("").to_owned();
            (set("params.tape"), set("type.surveyor.part.eyes.coverage"), r["passed"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(passed.len(), 12);
    for (tape, coverage, passed) in passed {
        assert_eq!(passed, tape != "4mm", "tape {tape}, coverage {coverage}");
    }
    let svg = yard.read("tape.svg");
    assert!(svg.starts_with("<svg") && svg.matches("<polyline").count() == 2, "{svg}");
}

#[test]
fn measures_whose_names_differ_in_odd_letters_have_a_chart_each() {
    let yard = Yard::with_duel("sweep-names");
    let words = [
        "--vary",
        "type.cart.radius=0.1,0.12",
        "--measure",
        "a b=contacts",
        "--measure",
        "a-b=time",
        "--out",
        "all",
    ];
    let mut command = yard.command("sweep duel.toml");
    assert!(command.args(words).output().expect("a sweep").status.success());
    let charts: Vec<_> = std::fs::read_dir(yard.path("all")).expect("results").flatten().collect();
    let named: Vec<String> = charts.iter().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(named.iter().filter(|n| n.starts_with("a-b") && n.ends_with(".svg")).count(), 2, "{named:?}");
}

/// The duel with a sweep: 2 × 2 points, 3 seeds, and what came of them.
fn with_table(name: &str) -> Yard {
    let yard = Yard::with_duel(name);
    let table = r#"
[sweep]
seeds = "2..4"
until = "4s"

[[sweep.axis]]
key = "type.cart.part.drive.slip"
values = [0.0, 0.3]

[[sweep.axis]]
key = "run.quantum"
from = "10ms"
to = "100ms"
count = 2
scale = "log"

[[sweep.measure]]
name = "gap, at least"
of = "distance(/robots/a, /robots/b)"
take = "min"

[[sweep.measure]]
name = "meet"
of = "time"
when = "contacts > 0"
take = "first"
"#;
    yard.write("duel.toml", &format!("{}{table}", crate::yard::DUEL));
    yard
}

const COLUMNS: &str = "run,type.cart.part.drive.slip,run.quantum,run.quantum.si,seed,\"gap, at least\",meet,passed,met,assertions,assert.they meet,contacts,end_s,hash,error";

#[test]
fn a_sweep_is_a_table_in_the_order_of_its_parameters_whoever_finishes_first() {
    let yard = Yard::with_duel("sweep-table");
    let done = yard.run("sweep duel.toml --vary run.duration=1s,5s --seeds 2 --jobs 4").exits(0);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(
        lines[0],
        "run,run.duration,run.duration.si,seed,passed,met,assertions,assert.they meet,contacts,end_s,hash,error"
    );
    let heads: Vec<String> =
        lines[1..].iter().map(|l| l.split(',').take(5).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(heads, ["1,1s,1,1,0", "2,1s,1,2,0", "3,5s,5,1,1", "4,5s,5,2,1"]);
    assert_eq!(
        done.out,
        yard.run("sweep duel.toml --vary run.duration=1s,5s --seeds 2 --jobs 1").exits(0).out
    );
}

#[test]
fn the_scenarios_table_says_what_is_run_and_every_row_is_a_run_of_that_hash() {
    let yard = with_table("sweep-scenario");
    let done = yard.run("sweep duel.toml").exits(0);
    assert!(done.out.ends_with("\r\n") && done.out.matches('\n').count() == 13, "{}", done.out);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines[0], COLUMNS);
    assert!(lines[6].starts_with("6,0,100ms,0.1,4,"), "{}", lines[6]);
    assert!(lines[7].starts_with("7,0.3,10ms,0.01,2,"), "{}", lines[7]);
    let run = "run duel.toml --set type.cart.part.drive.slip=0.3 --set run.quantum=0.01s --set run.duration=4 --seed 2";
    let alone = yard.run(&format!("{run} --no-record --json")).exits(0).json("swarmyard-run/1");
    let hash = alone["hash"].as_str().unwrap().to_owned();
    assert!(lines[7].contains(&hash), "{hash} is not in {}", lines[7]);
    // A wheel that does not slip draws nothing, so seeds change nothing; one that slips differs.
    let cell = |line: usize, k: usize| lines[line].split(',').nth(k).unwrap().to_owned();
    assert_eq!([cell(4, 13), cell(4, 5)], [cell(5, 13), cell(5, 5)]);
    assert_ne!(cell(10, 13), cell(11, 13));
    // Carts of radius 10 cm touch at 20 cm, after 0.9 m at 0.3 m/s.
    let gap: f64 = cell(4, 5).parse().unwrap();
    let meet: f64 = cell(1, 6).parse().unwrap();
    assert!((gap - 0.2).abs() < 1e-4 && (meet - 3.0).abs() < 0.011, "{gap} {meet}");
}

#[test]
fn arguments_win_over_the_table() {
    let yard = with_table("sweep-over");
    let done = yard
        .run("sweep duel.toml --vary run.quantum=50ms --vary run.gravity=1,2 --seeds 1 --until 1s --measure n=tick --json")
        .exits(0)
        .json("swarmyard-sweep/1");
    let runs = done["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().all(|r| r["measures"]["n"] == 20.0 && r["end_s"] == 1.0), "{runs:?}");
    assert_eq!(runs[1]["set"]["run.quantum"], "50ms");
    assert_eq!(runs[1]["set"]["run.gravity"], "2");
    assert_eq!(done["points"][3]["measures"]["n"]["n"], 1);
    let zipped = yard.run(
        "sweep duel.toml --mode zip --vary run.quantum=50ms,20ms --vary type.cart.part.drive.slip=0,0.1 --seeds 7,9 --until 1s --json",
    );
    assert_eq!(zipped.exits(0).json("swarmyard-sweep/1")["runs"].as_array().unwrap().len(), 4);
    let chance = "sweep duel.toml --mode random --samples 3 --vary type.cart.part.drive.slip=uniform:0..0.5 --seeds 1 --until 1s";
    let three = yard.run(chance).exits(0).out;
    let five = yard.run(&chance.replace("samples 3", "samples 5")).exits(0).out;
    assert!(five.starts_with(&three), "{three}{five}");
}

#[test]
fn a_run_that_fails_is_a_row_with_its_error_and_the_others_go_on() {
    let yard = Yard::with_duel("sweep-fails");
    let done = yard.run("sweep duel.toml --vary type.cart.radius=0.1,-1,0.2 --until 1s").exits(1);
    let lines: Vec<&str> = done.out.lines().collect();
    assert!(lines[2].contains("out of range") && lines[2].starts_with("2,-1,1,,,,"), "{}", lines[2]);
    assert!(lines[1].starts_with("1,0.1,1,0,0,1,0,0,1,") && lines[3].starts_with("3,0.2,1,"), "{done:?}");
    assert!(done.err.contains("1 of 3 runs failed"), "{}", done.err);
    yard.write("wait.toml", crate::yard::WAITING);
    let done = yard.run("sweep wait.toml --seeds 2").exits(1);
    assert_eq!(done.out.matches("waits for commands").count(), 2, "{}", done.out);
}

#[test]
fn results_are_the_same_files_for_any_number_of_jobs() {
    let yard = with_table("sweep-files");
    let said = yard.run("sweep duel.toml --jobs 1 --out one").exits(0);
    yard.run("sweep duel.toml --jobs 2 --out two").exits(0);
    let names =
        ["gap--at-least.svg", "meet.svg", "passed.svg", "results.csv", "results.parquet", "summary.txt"];
    for name in names.into_iter().filter(|n| cfg!(feature = "parquet") || !n.ends_with("parquet")) {
        let read = |folder: &str| std::fs::read(yard.path(folder).join(name)).unwrap();
        assert!(read("one") == read("two") && !read("one").is_empty(), "{name}");
    }
    assert_eq!(yard.read("one/results.csv"), yard.run("sweep duel.toml").exits(0).out);
    assert_eq!(said.out, yard.read("one/summary.txt"));
    assert!(said.out.contains("\n  type.cart.part.drive.slip  run.quantum  n"), "{}", said.out);
    let svg = yard.read("one/meet.svg");
    assert!(svg.contains("prefers-color-scheme:dark") && svg.matches("<polyline").count() == 2, "{svg}");
}

#[cfg(feature = "parquet")]
#[test]
fn the_parquet_table_says_what_the_csv_says() {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;
    let yard = with_table("sweep-parquet");
    yard.run("sweep duel.toml --vary type.cart.radius=0.1,-1 --seeds 2 --out out").exits(1);
    let file = std::fs::File::open(yard.path("out/results.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let csv = yard.read("out/results.csv");
    let mut lines = csv.lines();
    let mut names = Vec::new();
    let mut rows = Vec::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let cells = row.get_column_iter().map(|(name, field)| {
            names.push(name.clone());
            let text = match field {
                Field::Null => String::new(),
                Field::Bool(b) => u8::from(*b).to_string(),
                Field::Long(n) => n.to_string(),
                Field::Double(x) => x.to_string(),
                Field::Str(s) => s.clone(),
                other => panic!("{name}: {other:?}"),
            };
            if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
        });
        rows.push(cells.collect::<Vec<_>>().join(","));
    }
    names.truncate(names.len() / rows.len());
    assert_eq!(names.join(","), lines.next().unwrap().replace('"', ""));
    assert_eq!(rows, lines.collect::<Vec<_>>());
    assert_eq!(rows.len(), 16);
}

/// Rows of a journal: all lines but the first.
fn journalled(yard: &Yard) -> usize {
    std::fs::read_to_string(yard.path("out/journal.txt"))
        .map_or(0, |t| t.matches('\n').count().saturating_sub(1))
}

#[test]
fn a_sweep_that_is_killed_goes_on_and_ends_in_the_same_table() {
    let yard = with_table("sweep-killed");
    let words = "sweep duel.toml --seeds 15 --vary run.quantum=1ms,2ms --until 20s --jobs 2";
    let mut child = yard.command(&format!("{words} --out out")).spawn().unwrap();
    let begin = Instant::now();
    while journalled(&yard) < 3 {
        assert!(child.try_wait().unwrap().is_none(), "it was too fast to be killed");
        assert!(begin.elapsed().as_secs() < 120, "nothing came");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = journalled(&yard);
    assert!((3..60).contains(&kept), "{kept} of 60 runs");
    assert!(!yard.path("out/results.csv").exists());
    // As if it had been cut in the middle of a line, and a line had been damaged on the disk.
    let text = yard.read("out/journal.txt");
    let spoilt = text.replacen("\"seed\":", "\"sead\":", 1);
    yard.write("out/journal.txt", &format!("{spoilt}0123456789abcdef {{\"key\":\"half a li"));
    let again = yard.run(&format!("{words} --out out")).exits(0);
    assert!(again.err.contains(&format!("{} of 60 runs are there already", kept - 1)), "{}", again.err);
    assert!(again.err.contains("1 line of the journal cannot be read"), "{}", again.err);
    assert_eq!(yard.read("out/results.csv"), yard.run(words).exits(0).out);
    let third = yard.run(&format!("{words} --out out")).exits(0);
    assert!(third.err.contains("60 of 60 runs are there already"), "{}", third.err);
}

#[test]
fn an_interrupt_ends_a_sweep_between_two_steps_and_says_how_to_go_on() {
    let yard = with_table("sweep-interrupt");
    let words = "sweep duel.toml --seeds 15 --vary run.quantum=1ms,2ms --until 20s --jobs 2 --out out";
    let mut command = yard.command(words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while journalled(&yard) < 3 {
        assert!(begin.elapsed().as_secs() < 120, "nothing came");
        std::thread::sleep(Duration::from_millis(2));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let done = Done::from(child.wait_with_output().unwrap()).exits(130);
    let kept = journalled(&yard);
    assert!(done.err.contains(&format!("ended after {kept} of 60 runs")), "{}", done.err);
    assert!(done.err.contains("the same command goes on from there") && done.out.is_empty(), "{done:?}");
}

/// Two at once would write over one another's lines.
#[test]
fn a_folder_that_another_sweep_writes_to_is_refused() {
    let yard = with_table("sweep-in-use");
    std::fs::create_dir(yard.path("out")).unwrap();
    let file = std::fs::File::create(yard.path("out/journal.txt")).unwrap();
    file.lock().unwrap();
    let refused = yard.run("sweep duel.toml --out out").exits(1);
    assert!(refused.err.contains("another sweep is writing to `out/journal.txt`"), "{}", refused.err);
    file.unlock().unwrap();
    yard.run("sweep duel.toml --seeds 1 --out out").exits(0);
}

#[test]
fn more_seeds_and_other_comments_go_on_but_another_scenario_is_refused() {
    let yard = with_table("sweep-goes-on");
    yard.run("sweep duel.toml --out out").exits(0);
    let table = yard.read("duel.toml");
    // The sweep itself may grow, and comments mean nothing.
    yard.write("duel.toml", &format!("# changed\n{}", table.replace("\"2..4\"", "\"1..4\"")));
    let more = yard.run("sweep duel.toml --out out").exits(0);
    assert!(more.err.contains("12 of 16 runs are there already"), "{}", more.err);
    let before = yard.read("out/journal.txt");
    for (change, to, says) in [
        ("slip = 0.02", "slip = 0.03", "another scenario: `duel.toml` as it was then"),
        ("take = \"min\"", "take = \"max\"", "other measures"),
        ("until = \"4s\"", "until = \"3s\"", "another duration"),
    ] {
        yard.write("duel.toml", &table.replace(change, to));
        let refused = yard.run("sweep duel.toml --out out").exits(1);
        assert!(refused.err.contains(says) && refused.err.contains("--fresh"), "{}", refused.err);
        assert!(refused.err.contains("out/journal.txt"), "{}", refused.err);
        assert_eq!(yard.read("out/journal.txt"), before);
    }
    let fresh = yard.run("sweep duel.toml --out out --fresh").exits(0);
    assert!(!fresh.err.contains("already"), "{}", fresh.err);
    yard.write("out/journal.txt", "my notes\n");
    yard.run("sweep duel.toml --out out").exits(1);
    assert_eq!(yard.read("out/journal.txt"), "my notes\n");
}

#[test]
fn wrong_sweeps_are_refused() {
    let yard = with_table("sweep-wrong");
    yard.write("plain.toml", crate::yard::DUEL);
    yard.run("sweep plain.toml").exits(2);
    yard.run("sweep plain.toml --vary run.duration=1s..5s").exits(2);
    yard.run("sweep plain.toml --vary run.duratoin=1s,2s").exits(3);
    yard.run("sweep plain.toml --vary run.seed=1..1000/1000 --vary run.duration=1..9/1000").exits(2);
    yard.run("sweep plain.toml --vary run.duration=1..9/1000 --vary run.gravity=1..9/1000").exits(2);
    yard.run("sweep duel.toml --samples 4").exits(2);
    yard.run("sweep duel.toml --plot x.svg --plot-of gapp").exits(2);
    yard.run("sweep duel.toml --fresh").exits(2);
    let unknown = yard.run("sweep duel.toml --measure x=/robots/c.x").exits(3);
    assert!(unknown.err.contains("there is nothing at `/robots/c`"), "{}", unknown.err);
    assert!(!yard.path("x.svg").exists());
    yard.write("bad.toml", &yard.read("duel.toml").replace("count = 2", "count = 1"));
    for (change, to, says) in [
        ("/robots/b)", "/robots/c)", "there is nothing at `/robots/c`"),
        ("part.drive.slip", "part.drive.slop", "`slop` is not a key of `diff-drive`"),
    ] {
        yard.write("worse.toml", &yard.read("duel.toml").replace(change, to));
        let worse = yard.run("check worse.toml").exits(3);
        assert!(worse.err.contains(says), "{}", worse.err);
        // In the text of the scenario, not in what an axis lays over it.
        assert!(worse.err.contains("worse.toml:") && !worse.err.contains("--set:"), "{}", worse.err);
    }
    yard.run("check duel.toml").exits(0);
    let bad = yard.run("check bad.toml").exits(3);
    let line = 1 + yard.read("bad.toml").lines().position(|l| l == "count = 1").unwrap();
    assert!(bad.err.contains(&format!("bad.toml:{line}:9")), "{}", bad.err);
}

#[test]
fn the_example_in_the_documents_runs() {
    let yard = Yard::new("sweep-example");
    let world = format!("{}/../../examples/sweeps/crowded-hall.toml", env!("CARGO_MANIFEST_DIR"));
    let done = yard.run(&format!("sweep {world} --seeds 2 --until 10s --out out")).exits(0);
    assert!(done.out.contains("24 runs"), "{}", done.out);
    for name in ["contacts-per-robot.svg", "speed.svg", "first-contact.svg", "results.csv"] {
        assert!(yard.path("out").join(name).exists(), "{name}");
    }
}

/// The mean over runs of a measure, at every point, by the value of a key.
fn means(done: &Done, key: &str, measure: &str) -> Vec<(f64, f64)> {
    let value = done.json("swarmyard-sweep/1");
    let points = value["points"].as_array().unwrap();
    let number = |v: &serde_json::Value| v.as_f64().or_else(|| v.as_str()?.parse().ok());
    let of = |p: &serde_json::Value| {
        let mean = p["measures"][measure]["mean"].as_f64();
        (number(&p["set"][key]).unwrap(), mean.unwrap_or_else(|| panic!("{p}")))
    };
    points.iter().map(of).collect()
}

#[test]
fn a_sweep_over_a_networks_loss_measures_messages() {
    let yard = Yard::new("sweep-messages");
    let world = "format = 1\n[params]\nloss = 0\n[run]\nduration = \"100s\"\nquantum = \"1s\"\n\
        [network]\nclass = \"constant\"\ndelay = \"10ms\"\nloss = \"${loss}\"\n[type.r]\nradius = 0.1\n\
        [type.r.algorithm]\nclass = \"roll-call\"\nevery = \"1s\"\n\
        [[robot]]\nname = \"r\"\ntype = \"r\"\ncount = 6\nlayout = { class = \"row\", step = [1, 0] }\n\
        [[assert]]\nname = \"nothing is lost\"\nthat = \"lost == 0\"\nholds = \"always\"\n\
        [sweep]\nseeds = 2\n[[sweep.axis]]\nkey = \"params.loss\"\nvalues = [0, 0.25, 0.5]\n\
        [[sweep.measure]]\nname = \"share lost\"\nof = \"lost / (delivered + lost)\"\n\
        [[sweep.measure]]\nname = \"messages\"\nof = \"sent\"\n";
    yard.write("calls.toml", world);
    let done = yard.run("sweep calls.toml --json").exits(0);
    for (loss, share) in means(&done, "params.loss", "share lost") {
        // Some thousand copies: four standard deviations of their share.
        assert!((share - loss).abs() < 0.05 && (loss > 0.0 || share == 0.0), "{loss}: {share}");
    }
    let sent = means(&done, "params.loss", "messages");
    // Who hears a call answers: the more is lost, the fewer answers.
    assert!(sent[0].1 > sent[1].1 && sent[1].1 > sent[2].1 && sent[2].1 > 300.0, "{sent:?}");
    let value = done.json("swarmyard-sweep/1");
    for run in value["runs"].as_array().unwrap() {
        assert_eq!(run["passed"] == true, run["set"]["params.loss"] == "0", "{run}");
    }
}

#[test]
fn a_sweep_over_the_noise_of_a_flock_gives_the_order_of_theory() {
    let yard = Yard::new("sweep-flock");
    let world = format!("{}/../../examples/sweeps/flock-noise.toml", env!("CARGO_MANIFEST_DIR"));
    let done = yard
        .run(&format!("sweep {world} --vary params.noise=0,1,2,4 --vary params.draw=1,2 --json"))
        .exits(0);
    let mut points = 0;
    for (noise, squared) in means(&done, "params.noise", "order squared") {
        // All in sight of all: the mean of φ² is s² + (1 - s²)/N with s = sin(η/2)/(η/2).
        let s2 = if noise == 0.0 { 1.0 } else { ((noise / 2.0).sin() / (noise / 2.0)).powi(2) };
        let theory = s2 + (1.0 - s2) / 40.0;
        // Four standard deviations of a mean over 110 rounds, at the worst of these noises.
        assert!((squared - theory).abs() < 0.026, "noise {noise}: {squared}, {theory} in theory");
        println!("noise {noise}: {squared:.4}, in theory {theory:.4}");
        points += 1;
    }
    assert_eq!(points, 8);
}

#[test]
fn a_sweep_over_the_headway_of_a_platoon_finds_where_it_swings_up() {
    let yard = Yard::new("sweep-platoon");
    let world = format!("{}/../../worlds/platoon.toml", env!("CARGO_MANIFEST_DIR"));
    // Quanta of one and a half rounds: cars rest for a moment between two rounds.
    let set = "--set run.quantum=150ms --set run.contact=ghost --set params.round=100ms";
    let take = "--measure first=max:/robots/c0.speed --measure last=max:/robots/c7.speed";
    let done =
        yard.run(&format!("sweep {world} --vary params.headway=0.2,1,1.5 {set} {take} --json")).exits(0);
    let grown: Vec<(f64, f64)> = means(&done, "params.headway", "last")
        .iter()
        .zip(means(&done, "params.headway", "first"))
        .map(|(last, first)| (last.0, last.1 / first.1))
        .collect();
    println!("{grown:?}");
    // Gains of 1: no swing grows along the platoon if and only if h² + 2 h ≥ 2, which is from 0.732 s on. A round is
    // driven in 0.99 of its time.
    assert!(grown[0].1 > 1.2, "{grown:?}");
    assert!(grown[1].1 < 1.02 && grown[2].1 < 1.02, "{grown:?}");
}
