//! The sample modules in C and Python: the worked cases of 1986 to the byte, the commands of the chain in plain pipes, and
//! `kill -9` in the middle of a stream.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use swarmyard_modules::builtin::Station;
use swarmyard_modules::builtin::smooth::Smooth;
use swarmyard_modules::pipe::{Here, Patience, Program, Runner, Source};
use swarmyard_modules::{Event, Head, How, LinkLimits, Universe};

const RESET: &str = "0 0 0 -10 -10 -10 10 10 10";
const Z: &str = "0.000000";
/// How long a chain of a test may take on a busy machine.
const LONGEST: Duration = Duration::from_secs(120);

/// The programs that are to be tried: their language, and the words that start them.
fn samples() -> [(&'static str, Vec<String>); 2] {
    static BUILT: OnceLock<String> = OnceLock::new();
    let sdk = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sdk");
    let c = BUILT.get_or_init(|| {
        let built = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("smooth_module").display().to_string();
        let code = sdk.join("c/smooth_module.c").display().to_string();
        let status = Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", &code, "-o", &built, "-lm"])
            .status();
        assert!(status.expect("there is a C compiler").success());
        built
    });
    let python = sdk.join("python/smooth_module.py").display().to_string();
    [("C", vec![c.clone()]), ("Python", vec!["python3".into(), python])]
}

/// What a program says to these lines in plain pipes. Its input stays open unless `ends`: a program that must end by itself
/// has to do so all the same.
fn piped(words: &[String], lines: &[&str], ends: bool) -> Vec<String> {
    piped_as("2", words, &lines.iter().map(|l| l.as_bytes()).collect::<Vec<_>>(), ends)
}

/// The same with a number, and with lines that need not be text.
fn piped_as(number: &str, words: &[String], lines: &[&[u8]], ends: bool) -> Vec<String> {
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .env("SWARMYARD_MODULE", number)
        .env_remove("DISPLAY_MODULE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    for line in lines {
        input.write_all(&[*line, &b"\n"[..]].concat()).expect("it reads");
    }
    let open = (!ends).then_some(input);
    let out = output.lines().map(|l| l.expect("text")).collect();
    assert!(child.wait().expect("it ends").success());
    drop(open);
    out
}

/// A move that a sample says, with these values of the base and the first joint.
fn at(base: &str, joint: &str) -> String {
    format!("2 3 10 {Z} {Z} {base} 0 {Z} {joint} {Z} {Z}")
}

#[test]
fn the_worked_cases_come_of_both_samples_to_the_byte() {
    let up = [Z, "0.200000", "0.400000", "0.600000", "0.800000", "1.000000"];
    let case_1 = [RESET, "1 2 10 0 0 0 0 0 0 0 0", "1 2 10 0 0 3 0 0 0 0 0"];
    let mut wanted_1 = vec![RESET.to_owned(), at(Z, Z), at(Z, Z)];
    wanted_1.extend([Z, "1.000000", "2.000000", "3.000000"].map(|v| at(v, Z)));
    let case_2 = [RESET, "1 2 10 0 0 5 0 0 0 0 0", "1 2 10 0 0 5 0 0 0.5 0 0"];
    let mut wanted_2 = vec![RESET.to_owned(), at(Z, Z), at("5.000000", Z)];
    wanted_2.extend(up[..3].iter().map(|v| at("5.000000", v)));
    let case_5 = ["1 2 10 0 0 1 0 0 0 0 0", "1 2 10 0 0 2 1 0 0 0 0", "1 2 10 0 0 3 0 0 0 0 0"];
    let wanted_5 = vec![at("1.000000", Z), "2 3 10 0. 0. 0. -1 0. 0. 0. 0.".to_owned()];
    let case_6 = ["1 2 10 0 0 0 0 0 0 0 0", "1 2 10 0 0 0 0 0 1 0 0", "1 2 10 0 0 0 0 0 0 0 0"];
    let mut wanted_6 = vec![at(Z, Z)];
    wanted_6.extend(up.iter().chain(up.iter().rev()).map(|v| at(Z, v)));
    for (language, words) in samples() {
        assert_eq!(piped(&words, &case_1, true), wanted_1, "case 1 in {language}");
        assert_eq!(piped(&words, &case_2, true), wanted_2, "case 2 in {language}");
        // It ends by itself, and its third line is never read.
        assert_eq!(piped(&words, &case_5, false), wanted_5, "case 5 in {language}");
        assert_eq!(piped(&words, &case_6, true), wanted_6, "case 6 in {language}");
    }
}

#[test]
fn the_termination_sequence_ends_both_samples_and_goes_on() {
    for (language, words) in samples() {
        let out = piped(&words, &["1 9 4", "0 0 65534", "1 9 5"], false);
        assert_eq!(out, ["1 9 4", "0 0 65534"], "{language}");
    }
}

/// Everything that a module is told in plain pipes, where no chain looks after it.
const STEERED: [&str; 19] = [
    RESET,
    "1 2 10 0 0 0 0 0",
    "0 2 65531 1 0.5",
    "1 2 10 2 0 0 0 0",
    "0 2 65532",
    "1 2 10 9 0 0 0 0",
    "0 2 65531 1 3",
    "7 9 12 1 2 3 4",
    "0 2 65533",
    "1 2 10 3 0 0 0 0",
    "0 0 65531 2 0.5",
    "1 2 10 3 1 0 0 0",
    "0 0 65532",
    "1 2 10 3 2 0 0 0",
    "0 0 65533",
    "1 0 10 3 0 0 0 0",
    "0 2 65531 3 4",
    "1 2 10 5 0 0 0 0",
    RESET,
];

#[test]
fn on_off_and_parameters_mean_to_both_samples_what_they_mean_to_the_module_that_comes_along() {
    let mut station = Station::new(2, Smooth::new(2, 3));
    let wanted: Vec<String> = STEERED.iter().flat_map(|line| station.take(line.as_bytes()).out).collect();
    for (language, words) in samples() {
        assert_eq!(piped(&words, &STEERED, true), wanted, "{language}");
    }
    // Half steps to 2, nothing while it is off, half steps to 3 by the old parameter; half radians there and back.
    let bases = |text: &String| text.starts_with("2 3 10").then(|| text.split(' ').nth(5).map(str::to_owned));
    let bases: Vec<String> = wanted.iter().filter_map(bases).flatten().collect();
    let halves = [0.0, 0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 0.0];
    assert_eq!(bases, halves.map(|v: f64| format!("{v:.6}")));
}

#[test]
fn what_both_samples_are_told_wrongly_goes_nowhere_and_stops_nothing() {
    let long = format!("1 9 6 {}", "1 ".repeat(2000));
    let many = format!("1 9 6{}", " 1".repeat(65));
    let lines: [&[u8]; 22] = [
        RESET.as_bytes(),
        b"1 9 6 nonsense",
        b"1 70000 6",
        b"1 9",
        b"",
        b"1 9 \xff",
        b"1 9 6\x007",
        b"1 9 6 inf",
        b"1 9 6 0x10",
        b"1 9 6 1e999",
        b"+1 9 6",
        b"65535 9 6",
        long.as_bytes(),
        many.as_bytes(),
        b"1  9\t6 1. .5 -1e3 +2 \r",
        b"1 5 10 16777210 0 0 0 0",
        // A step of 1 is lost on the way, but at neither end of it.
        b"1 5 10 16777226 0 0 0 0",
        b"1 5 10 16877210 0 0 0 0",
        b"1 5 10 1e300 0 0 0 0",
        b"0 5 65531 1 1e300",
        b"1 5 10 16777212 0 0 0 0",
        b"1 9 8",
    ];
    let mut station = Station::new(5, Smooth::new(5, 6));
    let wanted: Vec<String> = lines.iter().flat_map(|line| station.take(line).out).collect();
    // The reset and its move, the one good line, the first point, three steps, and the last line.
    assert_eq!(wanted.len(), 2 + 1 + 1 + 3 + 1, "{wanted:?}");
    for (language, words) in samples() {
        // They speak to the next number, as the module does that comes along.
        assert_eq!(piped_as("5", &words, &lines, true), wanted, "{language}");
    }
}

/// A chain of a source with many points and one sample, to its end. A program that is asked to is killed when so many
/// lines have come out; answers the output and what happened.
fn chain(words: &[String], points: &[String], kill_at: &[usize]) -> (Vec<String>, Vec<Event>, How) {
    let said: String = points.iter().map(|l| format!("{l}\\n")).collect();
    let program = |number, words| Program { number, host: "local".into(), words, is_stateless: false };
    let source = program(1, vec!["printf".into(), "%b".into(), said]);
    let head = Head::new(1, source.name(), Universe::default());
    let patience = Patience { answer: LONGEST, grace: LONGEST };
    let here = Box::new(Here::new(None));
    let mut runner =
        Runner::new(head, Source::Program(source), here, LinkLimits::default(), patience).expect("it starts");
    runner.add(program(2, words.to_vec())).expect("it can be added");
    let (mut out, mut events, begun) = (Vec::new(), Vec::new(), Instant::now());
    let mut kills = 0;
    while !runner.is_over() {
        assert!(begun.elapsed() < LONGEST, "the chain hangs: {events:?}");
        runner.step(Duration::from_millis(50));
        while let Some(line) = runner.next_output() {
            out.push(line.line.text().to_owned());
        }
        events.extend(std::iter::from_fn(|| runner.next_event()));
        let restarted = events.iter().filter(|e: &&Event| e.kind() == "restarted").count();
        if kill_at.get(kills).is_some_and(|n| out.len() >= *n && restarted == kills)
            && let Some(pid) = runner.process(2)
        {
            let status = Command::new("kill").args(["-9", &pid.to_string()]).status();
            assert!(status.expect("kill").success());
            kills += 1;
        }
    }
    let how = runner.ends().iter().find(|(n, _, _)| *n == 2).map(|(_, _, how)| how.clone());
    (out, events, how.expect("it has ended"))
}

#[test]
fn both_samples_can_be_killed_in_the_middle_of_a_stream() {
    // To and fro, so that what is said depends on the point before; and lines for others between.
    let mut points = vec![RESET.to_owned()];
    for k in 0..200 {
        points.push(format!("1 2 10 {} 0 0 0 0", if k % 2 == 0 { 30 + k } else { k }));
        points.push(format!("1 9 12 1 {k} 0 0"));
    }
    for (language, words) in samples() {
        let (undisturbed, events, how) = chain(&words, &points, &[]);
        assert!(events.iter().all(Event::is_fine), "{language}: {events:?}");
        assert_eq!(how, How::Exited(0), "{language}");
        let third = undisturbed.len() / 3;
        let (out, events, how) = chain(&words, &points, &[third, 2 * third]);
        assert!(out == undisturbed, "{language}: {} lines, {} undisturbed", out.len(), undisturbed.len());
        assert_eq!(how, How::Exited(0), "{language}");
        let kinds: Vec<&str> = events.iter().map(Event::kind).collect();
        let count = |kind: &str| kinds.iter().filter(|k| **k == kind).count();
        assert_eq!((count("died"), count("restarted")), (2, 2), "{language}: {kinds:?}");
        assert_eq!((count("differs"), count("bad-line")), (0, 0), "{language}: {kinds:?}");
        println!("{language}: killed twice in {} lines", out.len());
    }
}
