//! What a chain of modules promises, whatever programs stand in it.

mod common;

use common::{Desk, Maker, RESET, kinds, line, smooth};
use proptest::prelude::*;
use swarmyard_modules::{ChainError, Event, Head, How, Link, LinkLimits, Universe, What, fuzz_line};

const POINTS: [&str; 4] =
    ["1 2 10 0 0 0 0 0 0 0 0", "1 2 10 0 0 3 0 0 0 0 0", "1 2 10 0 0 3 0 0 1 0 0", "1 2 10 0 0 1 0 0 1 0 0"];

/// A program made of one function.
fn plain(answer: impl Fn(&str) -> Vec<String> + Clone + 'static) -> Maker {
    Box::new(move || {
        let answer = answer.clone();
        Box::new(move |line| (answer(line), false))
    })
}

/// It passes on what is for others, and answers what is for it.
fn conforming(me: u16, answer: &'static str) -> Maker {
    plain(move |text| {
        let to = line(text).recipient;
        match to {
            _ if to == me => vec![answer.to_owned()],
            0 => vec![text.to_owned()],
            _ => vec![text.to_owned()],
        }
    })
}

#[test]
fn every_number_is_there_once() {
    let mut desk = Desk::new();
    desk.add(2, smooth(2, 3));
    let again = |n| Link::new(n, "again", false, LinkLimits::default());
    assert_eq!(desk.chain.add(again(2)), Err(ChainError::Taken(2, "module".into())));
    assert_eq!(desk.chain.add(again(1)), Err(ChainError::Taken(1, "the source".into())));
    assert_eq!(desk.chain.add(again(0)), Err(ChainError::Reserved(0)));
    assert_eq!(desk.chain.add(again(65535)), Err(ChainError::Reserved(65535)));
    assert_eq!(desk.chain.links().len(), 1);
}

#[test]
fn a_broadcast_is_passed_on_once_whether_or_not_the_program_does() {
    let silent = plain(|text| if line(text).recipient == 65535 { vec![text.to_owned()] } else { vec![] });
    for make in [smooth(2, 3), silent, conforming(2, "2 3 1")] {
        let mut desk = Desk::new();
        desk.add(2, make);
        desk.say(RESET);
        desk.say("0 0 65535 1 0");
        desk.say("4 0 7 1");
        let (out, events) = desk.finish();
        let passed: Vec<&String> = out.iter().filter(|l| l.contains(" 0 ") && !l.starts_with('2')).collect();
        assert_eq!(passed, [RESET, "0 0 65535 1 0", "4 0 7 1"]);
        assert!(events.iter().all(Event::is_fine), "{events:?}");
    }
}

#[test]
fn lines_for_others_are_passed_on_to_the_byte_and_in_their_place() {
    let mut desk = Desk::new();
    desk.add(2, conforming(2, "2 9 1"));
    for text in [RESET, "1  9 4 0.50", "1 2 1", "1 9\t5", "1 2 1", "1 9 6"] {
        desk.say(text);
    }
    let (out, _) = desk.finish();
    assert_eq!(out, [RESET, "1  9 4 0.50", "2 9 1", "1 9\t5", "2 9 1", "1 9 6"]);
}

#[test]
fn a_source_that_does_not_begin_with_a_reset_gets_one() {
    let mut desk = Desk::new();
    desk.say("1 2 3");
    let (out, _) = desk.finish();
    assert_eq!(out, ["0 0 0 -100 -100 -100 100 100 100", "1 2 3"]);
}

#[test]
fn answers_are_stamped_with_the_time_of_their_input() {
    let mut desk = Desk::new();
    desk.add(2, conforming(2, "2 9 1"));
    for text in [RESET, "1 2 1", "0 0 65535 1 0", "1 2 1", "0 0 65535 2 5", "1 2 1"] {
        desk.say(text);
    }
    desk.settle();
    let answers: Vec<i64> =
        desk.out.iter().zip(&desk.times).filter(|(l, _)| *l == "2 9 1").map(|(_, t)| *t).collect();
    assert_eq!(answers, [0, 1_000_000_000, 2_000_000_005]);
    // In the text the tick stands before what it caused.
    assert_eq!(desk.out[2..], ["0 0 65535 1 0", "2 9 1", "0 0 65535 2 5", "2 9 1"]);
}

#[test]
fn time_never_runs_backwards_between_resets() {
    let mut desk = Desk::new();
    for text in [RESET, "0 0 65535 2 0", "0 0 65535 1 0", RESET, "0 0 65535 1 0"] {
        desk.say(text);
    }
    let (out, events) = desk.finish();
    assert_eq!(out.len(), 4);
    assert_eq!(kinds(&events), ["bad-line"]);
}

#[test]
fn a_module_added_late_gets_the_current_reset_first() {
    let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let log = seen.clone();
    let mut desk = Desk::new();
    desk.add(2, smooth(2, 3));
    desk.say("0 0 0 0 0 0 1 1 1");
    desk.say(RESET);
    desk.say(POINTS[0]);
    desk.settle();
    let before = desk.out.clone();
    desk.add(
        3,
        plain(move |text| {
            log.borrow_mut().push(text.to_owned());
            if line(text).recipient == 65535 { vec![text.to_owned()] } else { vec![] }
        }),
    );
    desk.settle();
    assert_eq!(desk.out, before, "those after it had the reset already");
    desk.say(POINTS[1]);
    desk.settle();
    let seen: Vec<String> = seen.borrow().iter().filter(|l| !l.starts_with("0 65535")).cloned().collect();
    assert_eq!(seen[0], RESET);
    assert_eq!(seen.len(), 1 + 4);
    assert_eq!(
        desk.chain.add(Link::new(3, "x", false, LinkLimits::default())).unwrap_err(),
        ChainError::Taken(3, "module".into())
    );
}

#[test]
fn switched_off_a_module_hears_only_resets() {
    let mut desk = Desk::new();
    desk.add(2, conforming(2, "2 9 1"));
    for text in [RESET, "1 2 1", "0 2 65532", "1 2 1", "0 0 65535 1 0", "1 9 4", "0 2 65533", "1 2 1"] {
        desk.say(text);
    }
    let (out, events) = desk.finish();
    assert_eq!(out, [RESET, "2 9 1", "0 0 65535 1 0", "1 9 4", "2 9 1"]);
    assert_eq!(kinds(&events), ["off", "dropped", "on", "started", "ended"]);
}

#[test]
fn the_termination_sequence_comes_after_the_last_words() {
    let make: Maker = Box::new(|| {
        Box::new(|text| {
            let l = line(text);
            match l.command {
                65534 => (vec!["2 9 99".into(), text.to_owned()], true),
                _ if l.recipient == 65535 => (vec![text.to_owned()], false),
                _ => (vec![], false),
            }
        })
    });
    let mut desk = Desk::new();
    desk.add(2, make);
    desk.add(3, conforming(3, "3 9 1"));
    for text in [RESET, "1 3 1", "0 0 65534", "1 3 1"] {
        desk.say(text);
    }
    let (out, events) = desk.finish();
    assert_eq!(out, [RESET, "3 9 1", "2 9 99", "0 0 65534"]);
    let ended: Vec<u16> = events.iter().filter(|e| e.kind() == "ended").map(|e| e.number).collect();
    assert_eq!(ended, [2, 3]);
}

#[test]
fn a_death_while_it_says_its_last_words_loses_none_and_doubles_none() {
    let make: Maker = Box::new(|| {
        Box::new(|text| {
            let l = line(text);
            let last: Vec<String> = (1..=5).map(|i| format!("2 9 {i}")).collect();
            match l.command {
                65534 => (last, true),
                _ if l.recipient == 65535 => (vec![text.to_owned()], false),
                _ => (vec![], false),
            }
        })
    });
    let mut desk = Desk::new();
    desk.add(2, make);
    desk.say(RESET);
    desk.say("0 0 65534");
    while desk.out.len() < 3 {
        desk.step();
    }
    desk.kill(0);
    let (out, events) = desk.finish();
    assert_eq!(out, [RESET, "2 9 1", "2 9 2", "2 9 3", "2 9 4", "2 9 5", "0 0 65534"]);
    assert_eq!(kinds(&events), ["started", "died", "restarted", "ended"]);
}

#[test]
fn a_module_that_ends_by_itself_ends_the_chain() {
    let mut desk = Desk::new();
    desk.add(2, smooth(2, 3));
    desk.add(3, conforming(3, "3 9 1"));
    for text in [RESET, POINTS[0], "1 2 10 0 0 2 1 0 0 0 0", POINTS[1], "1 3 1"] {
        desk.say(text);
    }
    desk.settle();
    assert!(desk.chain.is_over());
    assert_eq!(desk.out, [RESET, "3 9 1", "3 9 1", "3 9 1"]);
}

#[test]
fn speaking_in_another_name_or_unasked_is_quarantined() {
    let make = plain(|text| match line(text).recipient {
        2 => vec!["7 9 1".into(), "0 0 0 1 1 1 2 2 2".into(), "2 9 1".into()],
        65535 => vec![text.to_owned(), "2 9 55".into()],
        _ => vec![],
    });
    let mut desk = Desk::new();
    desk.add(2, make);
    desk.say(RESET);
    desk.settle();
    desk.say("1 2 1");
    desk.settle();
    assert_eq!(desk.out, [RESET, "2 9 1"]);
    assert_eq!(desk.chain.links()[0].bad_lines(), 4);
    let shown: Vec<String> = desk.chain.links()[0].quarantined().map(ToString::to_string).collect();
    assert!(shown[1].contains("says that its sender is 7"), "{shown:?}");
    assert!(shown[2].contains("says that its sender is 0"), "{shown:?}");
    assert!(shown[3].contains("answered everything"), "{shown:?}");
}

#[test]
fn a_flood_and_nonsense_cost_only_the_module_itself() {
    let flood = plain(|text| match line(text).recipient {
        2 => vec!["2 9 1".into(); 2000],
        _ => vec![text.to_owned()],
    });
    let nonsense = plain(|text| match line(text).recipient {
        2 => vec!["hello".into(); 200],
        _ => vec![text.to_owned()],
    });
    for (make, kind, lines) in [(flood, "flood", 500), (nonsense, "nonsense", 0)] {
        let limits = LinkLimits { per_input: 500, restarts: 1, ..LinkLimits::default() };
        let mut desk = Desk::new();
        desk.add_link(Link::new(2, "bad", false, limits), make);
        for text in [RESET, "1 2 1", "1 9 7", "0 0 65535 1 0", "1 2 1"] {
            desk.say(text);
        }
        let (out, events) = desk.finish();
        // What was said before the flood was noticed has gone on, once.
        let others: Vec<&String> = out.iter().filter(|l| *l != "2 9 1").collect();
        assert_eq!(others, [RESET, "1 9 7", "0 0 65535 1 0"]);
        assert_eq!(out.len() - others.len(), lines);
        let kinds = kinds(&events);
        assert!(
            kinds.contains(&kind) && kinds.contains(&"given-up") && kinds.contains(&"dropped"),
            "{kinds:?}"
        );
    }
}

#[test]
fn a_reset_gives_a_module_that_was_given_up_another_chance() {
    let limits = LinkLimits { restarts: 0, ..LinkLimits::default() };
    let mut desk = Desk::new();
    desk.add_link(Link::new(2, "m", false, limits), conforming(2, "2 9 1"));
    desk.say(RESET);
    desk.settle();
    desk.kill(0);
    desk.say("1 2 1");
    desk.settle();
    assert!(desk.chain.links()[0].is_given_up());
    for text in [RESET, "1 2 1"] {
        desk.say(text);
    }
    let (out, _) = desk.finish();
    assert_eq!(out, [RESET, RESET, "2 9 1"]);
}

#[test]
fn a_program_that_answers_otherwise_after_a_restart_is_named() {
    let starts = std::cell::Cell::new(0);
    let make: Maker = Box::new(move || {
        starts.set(starts.get() + 1);
        let mine = format!("2 9 {}", starts.get());
        Box::new(move |text| {
            let answer = if line(text).recipient == 2 { mine.clone() } else { text.to_owned() };
            (vec![answer], false)
        })
    });
    let mut desk = Desk::new();
    desk.add(2, make);
    desk.say(RESET);
    desk.say("1 2 1");
    desk.settle();
    desk.kill(0);
    desk.say("1 2 1");
    let (out, events) = desk.finish();
    assert_eq!(out, [RESET, "2 9 1", "2 9 2"]);
    assert!(events.iter().any(|e| e.what == What::Differs { input: 1 }), "{events:?}");
}

#[test]
fn a_stateless_module_does_not_get_old_inputs_again() {
    let run = |is_stateless| {
        let mut desk = Desk::new();
        desk.add_link(Link::new(2, "m", is_stateless, LinkLimits::default()), smooth(2, 3));
        for text in [RESET, POINTS[0], POINTS[1]] {
            desk.say(text);
        }
        desk.settle();
        desk.kill(0);
        desk.settle();
        desk.events.iter().find_map(|e| match e.what {
            What::Restarted { inputs } => Some(inputs),
            _ => None,
        })
    };
    assert_eq!((run(false), run(true)), (Some(3), Some(1)));
}

#[test]
fn a_stateless_module_gets_its_parameters_again() {
    let run = |kills: bool| {
        let mut desk = Desk::new();
        desk.add_link(Link::new(2, "m", true, LinkLimits::default()), set_and_said());
        for text in [RESET, "1 2 1", "0 2 65531 1 0.25", "1 2 1", "0 0 65531 2 7", "1 2 1"] {
            desk.say(text);
        }
        desk.settle();
        if kills {
            desk.kill(0);
        }
        desk.say("1 2 1");
        desk.finish()
    };
    let (out, events) = run(true);
    assert_eq!(out, run(false).0);
    assert_eq!(out.last().unwrap(), "2 9 1 0.25 7");
    // The reset and two parameters, but none of the lines between.
    assert!(events.iter().any(|e| e.what == What::Restarted { inputs: 3 }), "{events:?}");
}

/// It answers with the parameters that it has.
fn set_and_said() -> Maker {
    Box::new(|| {
        let mut parameters = [1.0, 2.0];
        Box::new(move |text| {
            let l = line(text);
            match (l.command, &l.values[..]) {
                (65531, [which, value]) => {
                    parameters[*which as usize - 1] = *value;
                    (vec![], false)
                }
                _ if l.recipient == 2 => (vec![format!("2 9 1 {} {}", parameters[0], parameters[1])], false),
                _ => (vec![text.to_owned()], false),
            }
        })
    })
}

#[test]
fn a_journal_that_is_full_is_told_and_the_module_is_not_started_again() {
    let limits = LinkLimits { journal: 2, ..LinkLimits::default() };
    let mut desk = Desk::new();
    desk.add_link(Link::new(2, "m", false, limits), conforming(2, "2 9 1"));
    for text in [RESET, "1 2 1", "1 2 1", "1 2 1"] {
        desk.say(text);
    }
    desk.settle();
    desk.kill(0);
    desk.settle();
    assert_eq!(kinds(&desk.events), ["started", "journal-full", "given-up"]);
}

#[test]
fn commands_of_whoever_steers_enter_at_the_head() {
    let mut head = Head::new(1, "source", Universe::default());
    assert!(head.control("1 2 3").unwrap_err().to_string().contains("only the controller"));
    assert!(head.control("0 65535 65535 1").is_err());
    assert!(head.control("nonsense").is_err());
    assert!(!head.starts_anew());
    head.control(RESET).unwrap();
    assert!(head.starts_anew() && !head.starts_anew());
    head.control("0 1 65532").unwrap();
    assert!(!head.wants_output(), "a source that is off is not read");
    head.control("0 1 65533").unwrap();
    assert!(head.wants_output());
    head.end();
    assert!(head.control(RESET).unwrap_err().to_string().contains("the chain has ended"));
    assert!(!head.starts_anew());
}

#[test]
fn a_chain_that_stays_takes_a_reset_after_its_source_has_ended() {
    let mut desk = Desk::new();
    desk.add(2, conforming(2, "2 9 1"));
    desk.chain.head.stay(true);
    desk.say("1 2 1");
    assert!(!desk.chain.head.source_ended(How::Exited(0)), "it is not started again by itself");
    desk.settle();
    assert_eq!(desk.out, ["0 0 0 -100 -100 -100 100 100 100", "2 9 1"]);
    assert!(desk.chain.head.is_dry() && !desk.chain.is_over());
    desk.chain.head.control("0 2 1").unwrap();
    desk.chain.head.control(RESET).unwrap();
    assert!(desk.chain.head.starts_anew() && !desk.chain.head.is_dry());
    desk.say("1 2 1");
    desk.settle();
    assert_eq!(desk.out[2..], ["2 9 1", RESET, "2 9 1"]);
    // When nobody can steer any more, the end of the source is that of the chain.
    assert!(!desk.chain.head.source_ended(How::Exited(0)));
    desk.chain.head.stay(false);
    desk.settle();
    assert!(desk.chain.is_over());
}

#[test]
fn a_source_that_begins_with_the_reset_it_was_given_says_nothing_new() {
    let mut desk = Desk::new();
    desk.chain.head.control(RESET).unwrap();
    desk.chain.head.control("0 2 65531 1 0.5").unwrap();
    assert!(desk.chain.head.starts_anew());
    // The parameter was set after this reset, and stays.
    for text in [RESET, "1 2 1", RESET] {
        desk.say(text);
    }
    let (out, _) = desk.finish();
    assert_eq!(out, [RESET, "0 2 65531 1 0.5", "1 2 1", RESET], "a later one is a new one");
    let mut desk = Desk::new();
    desk.chain.head.begin();
    desk.say(RESET);
    let (out, _) = desk.finish();
    assert_eq!(out, ["0 0 0 -100 -100 -100 100 100 100", RESET], "another box is another reset");
}

#[test]
fn a_source_that_says_other_lines_after_its_death_is_named() {
    let run = |again: &[&str]| {
        let mut desk = Desk::new();
        for text in [RESET, "1 2 1", "1 2 2"] {
            desk.say(text);
        }
        assert!(desk.chain.head.source_ended(How::Signal(9)));
        for text in again {
            desk.say(text);
        }
        assert!(!desk.chain.head.source_ended(How::Exited(0)));
        let (out, events) = desk.finish();
        (out.len(), kinds(&events))
    };
    assert_eq!(run(&[RESET, "1 2 1", "1 2 2", "1 2 3"]), (4, vec!["died", "ended"]));
    assert_eq!(run(&[RESET, "1 2 7", "1 2 2", "1 2 3"]), (4, vec!["died", "differs", "ended"]));
    // Also one that says less.
    assert_eq!(run(&[RESET, "1 2 1"]), (3, vec!["died", "differs", "ended"]));
}

#[test]
fn whoever_steers_without_pause_keeps_nobody_out_and_waits_without_growing() {
    let mut desk = Desk::new();
    desk.add(2, conforming(2, "2 9 1"));
    let (mut sent, mut refused) = (0, 0);
    for _ in 0..100_000 {
        match desk.chain.head.control("0 2 65531 1 1") {
            Ok(()) => sent += 1,
            Err(why) => {
                assert!(why.to_string().contains("too much to do"), "{why}");
                refused += 1;
            }
        }
    }
    assert!(sent < 1000 && refused > 99_000, "{sent} commands wait");
    assert!(desk.chain.head.wants_output(), "the source has room of its own");
    desk.say("1 9 4");
    desk.settle();
    assert!(desk.chain.head.wants_control());
    assert_eq!(desk.out.last().unwrap(), "1 9 4");
    // And a source that talks without pause keeps nobody from steering.
    while desk.chain.head.wants_output() {
        desk.say("1 9 4");
    }
    assert!(desk.chain.head.wants_control());
}

#[test]
fn bad_lines_of_a_source_count_between_two_resets_as_those_of_a_module() {
    let mut desk = Desk::new();
    for _ in 0..5 {
        desk.say(RESET);
        for _ in 0..90 {
            desk.say("nonsense");
        }
    }
    assert!(desk.chain.head.must_end().is_none());
    for _ in 0..11 {
        desk.say("nonsense");
    }
    assert!(desk.chain.head.must_end().is_some());
}

#[test]
fn marks_of_a_chain_around_this_one_go_through_in_their_place() {
    let mut desk = Desk::new();
    desk.chain.head = Head::new(1, "stdin", Universe::default()).with_marks();
    desk.add(2, conforming(2, "2 9 1"));
    let lines = [RESET, "0 65535 65535 1", "1 2 1", "0 65535 65535 2", "1 9 4", "0 65535 65535 3"];
    for text in lines {
        desk.say(text);
    }
    let (out, events) = desk.finish();
    assert_eq!(out, [RESET, lines[1], "2 9 1", lines[3], "1 9 4", lines[5]]);
    assert!(events.iter().all(Event::is_fine), "{events:?}");
}

/// Whole streams: what is said, and after how many steps whose program is killed.
fn streams() -> impl Strategy<Value = (Vec<usize>, Vec<(usize, usize)>)> {
    (prop::collection::vec(0_usize..9, 1..30), prop::collection::vec((0_usize..2, 1_usize..40), 0..6))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_upset_the_reader(data in prop::collection::vec(any::<u8>(), 0..3000), words in "([0-9.eE +-]{0,12}\n){0,20}") {
        fuzz_line(&data);
        fuzz_line(words.as_bytes());
    }

    #[test]
    fn deaths_change_no_byte((says, kills) in streams()) {
        let lines = [POINTS[0], POINTS[1], POINTS[2], POINTS[3], RESET, "0 2 65531 1 0.5", "1 9 1", "4 0 8 2", "1 3 10 0 0 2 0 0 0 0 0"];
        let run = |kills: &[(usize, usize)]| {
            let limits = LinkLimits { restarts: 100, ahead: 3, ..LinkLimits::default() };
            let mut desk = Desk::new();
            desk.add_link(Link::new(2, "a", false, limits), smooth(2, 3));
            desk.add_link(Link::new(3, "b", false, limits), smooth(3, 4));
            desk.say(RESET);
            for i in &says {
                desk.say(lines[*i]);
            }
            for (whose, steps) in kills {
                for _ in 0..*steps {
                    desk.step();
                }
                desk.kill(*whose);
            }
            desk.finish()
        };
        let (calm, _) = run(&[]);
        let (disturbed, events) = run(&kills);
        prop_assert_eq!(calm, disturbed);
        prop_assert!(!kinds(&events).contains(&"differs") && !kinds(&events).contains(&"bad-line"), "{:?}", events);
    }
}
