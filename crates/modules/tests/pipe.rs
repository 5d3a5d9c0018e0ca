//! Chains of real processes on this machine: what they promise, and that no module can hang them or outlive them.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use swarmyard_modules::pipe::{Here, Patience, Program, Runner, Source};
use swarmyard_modules::{Event, Head, How, LinkLimits, Universe, What};

const RESET: &str = "0 0 0 -10 -10 -10 10 10 10";
/// How long a chain of a test may take on a busy machine.
const LONGEST: Duration = Duration::from_secs(120);

fn program(number: u16, words: &[&str]) -> Program {
    let words = words.iter().map(|w| (*w).to_owned()).collect();
    Program { number, host: "local".into(), words, is_stateless: false }
}

/// A module in the shell: passes on what is not for it, and does `what` (with `$to`, `$line`) for the rest.
fn shell(number: u16, what: &str) -> Program {
    let script = format!(
        "while read -r from to command rest; do line=\"$from $to $command${{rest:+ $rest}}\"; \
         case $to in {number}|0) {what} ;; *) echo \"$line\" ;; esac; done"
    );
    program(number, &["sh", "-c", &script])
}

/// It answers everything that is for it with a count.
fn counter(number: u16) -> Program {
    shell(number, &format!("if [ $to = {number} ]; then n=$((n+1)); echo \"{number} 9 1 $n\"; else n=0; fi"))
}

fn source(lines: &[&str]) -> Program {
    program(1, &["printf", "%b", &lines.iter().map(|l| format!("{l}\\n")).collect::<String>()])
}

fn runner(source: Program, modules: Vec<Program>, limits: LinkLimits, answer: Duration) -> Runner {
    let head = Head::new(1, source.name(), Universe::default());
    let patience = Patience { answer, grace: answer };
    let here = Box::new(Here::new(None));
    let mut runner = Runner::new(head, Source::Program(source), here, limits, patience).expect("it starts");
    for module in modules {
        runner.add(module).expect("it can be added");
    }
    runner
}

fn calm(source: Program, modules: Vec<Program>) -> Runner {
    runner(source, modules, LinkLimits::default(), LONGEST)
}

/// Runs until `enough`, and answers what came out and what happened.
fn until(
    runner: &mut Runner,
    mut enough: impl FnMut(&Runner, &[String], &[Event]) -> bool,
) -> (Vec<String>, Vec<Event>) {
    let (mut out, mut events) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    while !enough(runner, &out, &events) {
        assert!(begun.elapsed() < LONGEST, "the chain hangs: {out:?} {events:?}");
        runner.step(Duration::from_millis(50));
        while let Some(next) = runner.next_output() {
            out.push(next.line.text().to_owned());
        }
        while let Some(event) = runner.next_event() {
            events.push(event);
        }
    }
    (out, events)
}

fn finish(mut runner: Runner) -> (Vec<String>, Vec<Event>, Vec<(u16, How)>) {
    let (out, events) = until(&mut runner, |r, _, _| r.is_over());
    let ends = runner.ends().iter().map(|(n, _, how)| (*n, how.clone())).collect();
    (out, events, ends)
}

/// A file that is not there yet.
fn no_file(name: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("swarmyard-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    file
}

#[test]
fn a_line_that_a_killed_module_did_not_finish_is_none() {
    let flag = no_file("unfinished");
    let shown = flag.display();
    let hasty = format!(
        "if [ -e {shown} ]; then echo '2 9 1 12'; else : > {shown}; printf '2 9 1 1'; kill -9 $$; fi"
    );
    let (out, events, _) =
        finish(calm(source(&[RESET, "1 2 5"]), vec![shell(2, &format!("if [ $to = 2 ]; then {hasty}; fi"))]));
    std::fs::remove_file(&flag).unwrap();
    assert_eq!(out, [RESET, "2 9 1 12"], "{events:?}");
    assert!(kinds(&events).contains(&"died"), "{events:?}");
}

fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::kind).collect()
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}/stat")).exists()
}

#[test]
fn lines_flow_through_processes_in_order_and_everybody_ends_with_its_code() {
    let lines = [RESET, "1 2 1", "1 3 1", "0 0 65535 1 0", "1 2 1", "1 9 4"];
    let (out, events, ends) = finish(calm(source(&lines), vec![counter(2), counter(3)]));
    assert_eq!(out, [RESET, "2 9 1 1", "3 9 1 1", "0 0 65535 1 0", "2 9 1 1", "1 9 4"]);
    assert_eq!(ends, [(1, How::Exited(0)), (2, How::Exited(0)), (3, How::Exited(0))]);
    assert!(events.iter().all(Event::is_fine), "{events:?}");
}

#[test]
fn a_module_may_flush_at_the_end_and_its_exit_code_is_told() {
    let mut last = shell(2, ":");
    last.words[2].push_str("; echo '2 9 77'; exit 3");
    let (out, events, ends) = finish(calm(source(&[RESET, "1 9 1"]), vec![last, counter(3)]));
    assert_eq!(out, [RESET, "1 9 1", "2 9 77"]);
    assert_eq!(ends, [(1, How::Exited(0)), (2, How::Exited(3)), (3, How::Exited(0))]);
    assert!(!events.iter().all(Event::is_fine));
}

#[test]
fn a_killed_module_is_started_again_and_the_output_is_the_same() {
    let lines: Vec<String> =
        std::iter::once(RESET.to_owned()).chain((0..3000).map(|i| format!("1 {} 1", 2 + i % 2))).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (undisturbed, _, _) = finish(calm(source(&lines), vec![counter(2), counter(3)]));
    assert_eq!(undisturbed.len(), 3001);
    let mut runner = calm(source(&lines), vec![counter(2), counter(3)]);
    let mut kills = 0;
    let (out, events) = until(&mut runner, |r, out, _| {
        let number = 2 + (kills % 2) as u16;
        if kills < 3
            && out.len() > 600 * (kills + 1)
            && let Some(pid) = r.process(number)
        {
            let _ = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
            kills += 1;
        }
        r.is_over()
    });
    assert_eq!(out, undisturbed);
    let kinds = kinds(&events);
    assert_eq!(kinds.iter().filter(|k| **k == "restarted").count(), 3, "{kinds:?}");
    assert!(!kinds.contains(&"differs") && !kinds.contains(&"bad-line"));
}

#[test]
fn a_module_that_hangs_is_named_and_the_chain_goes_on_without_it() {
    let deaf = program(2, &["sleep", "1000"]);
    let limits = LinkLimits { restarts: 1, ..LinkLimits::default() };
    let lines = [RESET, "1 2 1", "1 3 1"];
    let (out, events, ends) =
        finish(runner(source(&lines), vec![deaf, counter(3)], limits, Duration::from_secs(5)));
    assert_eq!(out, [RESET, "3 9 1 1"]);
    let of_two: Vec<&str> = events.iter().filter(|e| e.number == 2).map(Event::kind).collect();
    assert_eq!(of_two, ["started", "hang", "died", "restarted", "hang", "given-up", "dropped"]);
    assert!(matches!(&ends.iter().find(|e| e.0 == 2).unwrap().1, How::Killed(why) if why.contains("hangs")));
}

#[test]
fn bytes_without_an_end_of_line_are_silence() {
    let limits = LinkLimits { restarts: 0, ..LinkLimits::default() };
    for babble in ["cat /dev/zero", "while :; do printf x; sleep 0.2; done"] {
        let module = shell(2, &format!("if [ $to = 2 ]; then {babble}; fi"));
        let lines = [RESET, "1 2 1", "1 9 1"];
        let (out, events, _) = finish(runner(source(&lines), vec![module], limits, Duration::from_secs(2)));
        assert_eq!(out, [RESET, "1 9 1"], "{babble}");
        let kinds = kinds(&events);
        assert!(kinds.contains(&"hang") && kinds.contains(&"given-up"), "{babble}: {kinds:?}");
        // A line that is too long is told at once, although its end never comes.
        assert_eq!(kinds.contains(&"bad-line"), babble.starts_with("cat"), "{babble}: {kinds:?}");
    }
}

#[test]
fn a_module_that_floods_is_named_and_ended() {
    let flood = shell(2, "if [ $to = 2 ]; then yes '2 9 1'; fi");
    let limits = LinkLimits { restarts: 0, per_input: 5000, ..LinkLimits::default() };
    let (out, events, _) = finish(runner(source(&[RESET, "1 2 1", "1 9 1"]), vec![flood], limits, LONGEST));
    assert_eq!(out.len(), 2 + 5000);
    assert_eq!(out.last().unwrap(), "1 9 1");
    let kinds = kinds(&events);
    assert!(kinds.contains(&"flood") && kinds.contains(&"given-up"), "{kinds:?}");
}

#[test]
fn a_flood_without_newlines_costs_no_memory() {
    let flood = shell(2, "if [ $to = 2 ]; then head -c 3000000 /dev/zero | tr '\\0' x; echo; fi");
    let (out, events, _) = finish(calm(source(&[RESET, "1 2 1", "1 9 1"]), vec![flood]));
    assert_eq!(out, [RESET, "1 9 1"]);
    let bad = events.iter().find(|e| e.kind() == "bad-line").expect("it is told").to_string();
    assert!(bad.contains("longer than 2048 bytes") && bad.len() < 400, "{bad}");
}

#[test]
fn nonsense_is_quarantined_with_its_column_and_too_much_of_it_ends_the_module() {
    let talker = shell(2, "if [ $to = 2 ]; then echo 'hello world'; echo '2 9 1'; fi");
    let (out, events, _) = finish(calm(source(&[RESET, "1 2 1", "1 2 1"]), vec![talker]));
    assert_eq!(out, [RESET, "2 9 1", "2 9 1"]);
    let bad: Vec<String> =
        events.iter().filter(|e| e.kind() == "bad-line").map(ToString::to_string).collect();
    assert_eq!(bad.len(), 2);
    assert!(bad[0].contains("column 1: the sender is not a whole number: `hello world`"), "{bad:?}");

    let babbler = program(2, &["yes", "bla"]);
    let limits = LinkLimits { restarts: 0, ..LinkLimits::default() };
    let (out, events, _) = finish(runner(source(&[RESET, "1 9 1"]), vec![babbler], limits, LONGEST));
    assert_eq!(out, [RESET, "1 9 1"]);
    assert!(kinds(&events).contains(&"nonsense"), "{events:?}");
}

#[test]
fn a_module_that_is_not_there_is_named_and_the_chain_goes_on() {
    let missing = program(2, &["/no/such/program"]);
    let (out, events, _) = finish(calm(source(&[RESET, "1 3 1"]), vec![missing, counter(3)]));
    assert_eq!(out, [RESET, "3 9 1 1"]);
    assert!(events.iter().any(|e| e.kind() == "not-started" && e.to_string().contains("/no/such/program")));
}

#[test]
fn a_source_that_speaks_nonsense_or_dies_ends_the_chain_in_order() {
    let (out, events, _) = finish(calm(program(1, &["yes", "bla"]), vec![counter(2)]));
    assert_eq!(out, ["0 0 0 -100 -100 -100 100 100 100"]);
    assert!(kinds(&events).contains(&"nonsense"));
    let dying = program(1, &["sh", "-c", &format!("echo '{RESET}'; echo '1 2 1'; exit 9")]);
    let (out, events, ends) = finish(calm(dying, vec![counter(2)]));
    // Started again, it says the same again: nothing goes on twice.
    assert_eq!(out, [RESET, "2 9 1 1"]);
    assert_eq!(kinds(&events).iter().filter(|k| **k == "died").count(), 3);
    assert_eq!(ends[0], (1, How::Exited(9)));
}

#[test]
fn a_source_that_says_the_end_itself_may_flush_and_its_exit_code_is_told() {
    let saved = no_file("saved");
    // What it says after the end is for nobody, and is more than a pipe holds.
    let says = format!(
        "echo '{RESET}'; echo '0 0 65534'; head -c 200000 /dev/zero | tr '\\0' x; echo x > {}; exit 3",
        saved.display()
    );
    let (out, events, ends) = finish(calm(program(1, &["sh", "-c", &says]), vec![counter(2)]));
    assert_eq!(out, [RESET, "0 0 65534"]);
    assert_eq!(std::fs::read_to_string(&saved).expect("it could flush"), "x\n");
    std::fs::remove_file(&saved).unwrap();
    assert!(ends.contains(&(1, How::Exited(3))) && ends.contains(&(2, How::Exited(0))), "{ends:?}");
    assert!(!kinds(&events).contains(&"bad-line"), "{events:?}");
    // Not for ever, though.
    let idle = program(1, &["sh", "-c", "echo '0 0 65534'; exec yes"]);
    let (_, _, ends) = finish(runner(idle, vec![], LinkLimits::default(), Duration::from_secs(1)));
    assert!(matches!(&ends[0], (1, How::Killed(why)) if why.contains("hangs")), "{ends:?}");
}

#[test]
fn a_source_that_has_ended_is_started_anew_by_a_reset_where_the_chain_stays_open() {
    let mut runner = calm(source(&["1 2 1", "1 2 1"]), vec![counter(2)]);
    runner.stay(true);
    let ended = |events: &[Event]| events.iter().any(|e| e.number == 1 && e.kind() == "ended");
    let (out, _) = until(&mut runner, |_, out, events| out.len() == 3 && ended(events));
    assert_eq!(out[1..], ["2 9 1 1", "2 9 1 2"]);
    runner.control("0 2 1").unwrap();
    runner.control(RESET).unwrap();
    let (out, events) = until(&mut runner, |_, out, events| out.len() == 4 && ended(events));
    assert_eq!(out, ["2 9 1 3", RESET, "2 9 1 1", "2 9 1 2"]);
    assert!(events.iter().any(|e| e.number == 1 && e.kind() == "started"), "{events:?}");
    runner.control("0 0 65534").unwrap();
    let (out, _, ends) = finish(runner);
    assert_eq!(out, ["0 0 65534"]);
    assert_eq!(ends, [(1, How::Exited(0)), (2, How::Exited(0))]);
}

#[test]
fn a_reader_that_takes_its_time_holds_everybody_up_and_loses_nothing() {
    let endless =
        program(1, &["sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo \"1 2 1\"; i=$((i+1)); done"]);
    let mut runner = runner(endless, vec![counter(2)], LinkLimits::default(), LONGEST);
    for _ in 0..20 {
        runner.step(Duration::from_millis(20));
    }
    let waiting: usize = std::iter::from_fn(|| runner.next_output()).count();
    assert!(waiting < 3000, "{waiting} lines waited, although nobody read them");
    let (out, events) = until(&mut runner, |r, _, _| r.is_over());
    assert_eq!(waiting + out.len(), 20_001);
    assert!(events.iter().all(Event::is_fine), "{events:?}");
}

#[test]
fn a_module_added_while_lines_flow_gets_the_reset_first() {
    // The rest is said when the module is there.
    let there = no_file("added");
    let shown = there.display();
    let fifo = program(
        1,
        &[
            "sh",
            "-c",
            &format!(
                "echo '{RESET}'; echo '1 2 1'; until [ -e {shown} ]; do sleep 0.05; done; echo '1 3 1'; echo '1 2 1'"
            ),
        ],
    );
    let mut runner = calm(fifo, vec![counter(2)]);
    let (before, _) = until(&mut runner, |_, out, _| out.len() == 2);
    runner.add(shell(3, "echo \"3 9 $command\"")).unwrap();
    let error = runner.add(counter(2)).unwrap_err().to_string();
    assert!(error.contains("number 2 is taken by `sh`"), "{error}");
    std::fs::write(&there, "").unwrap();
    let (after, _) = until(&mut runner, |r, _, _| r.is_over());
    std::fs::remove_file(&there).unwrap();
    assert_eq!(before, [RESET, "2 9 1 1"]);
    // Its first word is about the reset (command 0); those after it had that reset already.
    assert_eq!(after, ["3 9 0", "3 9 1", "2 9 1 2"]);
}

#[test]
fn steering_enters_at_the_head_and_a_reset_starts_the_source_anew() {
    let twice = program(1, &["sh", "-c", "echo '1 2 1'; echo '1 2 1'; sleep 1000"]);
    let mut runner = calm(twice, vec![counter(2)]);
    until(&mut runner, |_, out, _| out.len() == 3);
    runner.control(RESET).unwrap();
    let (out, _) = until(&mut runner, |_, out, _| out.len() == 3);
    assert_eq!(out, [RESET, "2 9 1 1", "2 9 1 2"]);
    runner.control("0 2 1").unwrap();
    let (out, _) = until(&mut runner, |_, out, _| out.len() == 1);
    assert_eq!(out, ["2 9 1 3"]);
    runner.control("0 0 65534").unwrap();
    let (out, _, ends) = finish(runner);
    assert_eq!(out, ["0 0 65534"]);
    assert_eq!(ends, [(1, How::Stopped), (2, How::Exited(0))]);
}

#[test]
fn nothing_is_left_running_when_a_chain_is_dropped() {
    let stubborn = shell(2, "if [ $to = 2 ]; then trap '' TERM; sleep 1000 & echo \"2 9 1 $!\"; fi");
    let waits = program(1, &["sh", "-c", "echo '1 2 1'; sleep 1000"]);
    let mut runner = calm(waits, vec![stubborn]);
    let (out, _) = until(&mut runner, |_, out, _| out.len() == 2);
    let grandchild: u32 = out[1].split(' ').nth(3).unwrap().parse().unwrap();
    let all = [runner.process(1).unwrap(), runner.process(2).unwrap(), grandchild];
    assert!(all.iter().all(|pid| is_alive(*pid)));
    drop(runner);
    assert!(!all.iter().any(|pid| is_alive(*pid)));
}

#[test]
fn an_unknown_host_is_refused_before_anything_starts() {
    let mut runner = calm(source(&[RESET]), vec![]);
    let mut far = counter(2);
    far.host = "iris".into();
    let error = runner.add(far).unwrap_err().to_string();
    assert!(error.contains("`iris`") && error.contains("--hosts"), "{error}");
}

#[test]
fn a_program_is_not_started_before_its_first_line() {
    let (go, ran) = (no_file("go"), no_file("ran"));
    let (go_shown, ran_shown) = (go.display(), ran.display());
    let says = format!("until [ -e {go_shown} ]; do sleep 0.05; done; echo '{RESET}'; echo '1 2 1'");
    let mut late = counter(2);
    late.words[2].insert_str(0, &format!(": > {ran_shown}; "));
    let mut runner = calm(program(1, &["sh", "-c", &says]), vec![late]);
    let mut steps = 0;
    let (out, events) = until(&mut runner, |_, _, _| {
        steps += 1;
        steps > 20
    });
    assert!(out.is_empty(), "{out:?}");
    assert!(!ran.exists() && runner.process(2).is_none(), "it runs although nothing was said to it");
    assert!(events.iter().all(|e| e.number == 1), "{events:?}");
    std::fs::write(&go, "").unwrap();
    let (out, _, ends) = finish(runner);
    assert_eq!(out, [RESET, "2 9 1 1"]);
    assert_eq!(ends[1], (2, How::Exited(0)));
    assert!(ran.exists());
    std::fs::remove_file(&go).unwrap();
    std::fs::remove_file(&ran).unwrap();
}

#[test]
fn a_killed_module_without_state_says_the_same_without_its_past() {
    let lines: Vec<String> =
        std::iter::once(RESET.to_owned()).chain((0..2000).map(|i| format!("1 2 1 {i}"))).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let echo = |is_stateless| {
        let echo = shell(2, "if [ $to = 2 ]; then echo \"2 9 1 $rest\"; fi");
        Program { is_stateless, ..echo }
    };
    let (undisturbed, _, _) = finish(calm(source(&lines), vec![echo(true)]));
    assert_eq!(undisturbed.len(), 2001);
    for is_stateless in [true, false] {
        let mut runner = calm(source(&lines), vec![echo(is_stateless)]);
        let mut is_killed = false;
        let (out, events) = until(&mut runner, |r, out, _| {
            if !is_killed
                && out.len() > 1000
                && let Some(pid) = r.process(2)
            {
                is_killed = true;
                let _ = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
            }
            r.is_over()
        });
        assert!(out == undisturbed, "{} lines of {}: {events:?}", out.len(), undisturbed.len());
        let again = events.iter().find_map(|e| match e.what {
            What::Restarted { inputs } => Some(inputs),
            _ => None,
        });
        let again = again.expect("it was killed");
        // The reset is what every module gets first.
        assert!(if is_stateless { again == 1 } else { again > 1000 }, "{again} inputs again");
    }
}
