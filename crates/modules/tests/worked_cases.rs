//! The interpolator of 1986 gives its worked cases, to the byte; and as printed it has the mistakes that it had.

use swarmyard_modules::builtin::smooth::Smooth;
use swarmyard_modules::builtin::{Module as _, Station, literal};
use swarmyard_modules::{Control, Line};

/// What the algorithm itself says: without what a module passes on.
fn said(lines: &[&str]) -> Vec<String> {
    let mut smooth = Smooth::new(2, 3);
    let mut out = Vec::new();
    for text in lines {
        let line = Line::parse(text.as_bytes()).unwrap();
        if let Some(Control::Reset(universe)) = line.control() {
            smooth.reset(universe, &mut out);
        } else if smooth.take(&line, &mut out).unwrap() == swarmyard_modules::builtin::Flow::End {
            break;
        }
    }
    out
}

fn literally(text: &str) -> String {
    let mut out = Vec::new();
    literal::run(2, 3, text.as_bytes(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const RESET: &str = "0 0 0 -10 -10 -10 10 10 10";
const ZERO: &str = "2 3 10 0.000000 0.000000 0.000000 0 0.000000 0.000000 0.000000 0.000000";

fn with(v0: &str, v2: &str) -> String {
    format!("2 3 10 0.000000 0.000000 {v0} 0 0.000000 {v2} 0.000000 0.000000")
}

#[test]
fn case_1_the_base_goes_by_metres() {
    let out = said(&[RESET, "1 2 10 0 0 0 0 0 0 0 0", "1 2 10 0 0 3 0 0 0 0 0"]);
    let mut wanted = vec![ZERO.to_owned(), ZERO.to_owned()];
    wanted.extend(["0.000000", "1.000000", "2.000000", "3.000000"].map(|v| with(v, "0.000000")));
    assert_eq!(out, wanted);
}

#[test]
fn case_2_a_target_between_two_steps_is_never_sent() {
    let out = said(&[RESET, "1 2 10 0 0 5 0 0 0 0 0", "1 2 10 0 0 5 0 0 0.5 0 0"]);
    let mut wanted = vec![ZERO.to_owned(), with("5.000000", "0.000000")];
    wanted.extend(["0.000000", "0.200000", "0.400000"].map(|v| with("5.000000", v)));
    assert_eq!(out, wanted);
}

#[test]
fn case_5_a_point_with_flag_1_ends_it() {
    let lines = ["1 2 10 0 0 1 0 0 0 0 0", "1 2 10 0 0 2 1 0 0 0 0", "1 2 10 0 0 3 0 0 0 0 0"];
    let wanted = [with("1.000000", "0.000000"), "2 3 10 0. 0. 0. -1 0. 0. 0. 0.".to_owned()];
    assert_eq!(said(&lines), wanted);
    // Also as a whole module: the third line is not read.
    let mut station = Station::new(2, Smooth::new(2, 3));
    assert!(!station.take(lines[0].as_bytes()).is_end);
    let step = station.take(lines[1].as_bytes());
    assert!(step.is_end);
    assert_eq!(step.out, wanted[1..]);
}

#[test]
fn case_6_a_joint_reaches_both_ends_in_single_precision() {
    let lines = ["1 2 10 0 0 0 0 0 0 0 0", "1 2 10 0 0 0 0 0 1 0 0", "1 2 10 0 0 0 0 0 0 0 0"];
    let up = ["0.000000", "0.200000", "0.400000", "0.600000", "0.800000", "1.000000"];
    let mut wanted = vec![ZERO.to_owned()];
    wanted.extend(up.map(|v| with("0.000000", v)));
    wanted.extend(up.iter().rev().map(|v| with("0.000000", v)));
    assert_eq!(said(&lines), wanted);
}

#[test]
fn only_the_first_change_is_led_over_and_small_ones_are_none() {
    let out = said(&["1 2 10 0 0 0 0 0 0 0 0", "1 2 10 0 0 1 0 0 0 0 5", "1 2 10 0 0 1.01 0 0 0 0 5"]);
    // The last joint keeps its old value during the sweep; an unchanged point says nothing.
    assert_eq!(out, [ZERO.to_owned(), ZERO.to_owned(), with("1.000000", "0.000000")]);
}

#[test]
fn a_point_that_can_never_be_reached_is_refused() {
    for far in ["1 2 10 0 0 1e9 0 0 0 0 0", "1 2 10 0 0 0 0 0 3e38 0 0"] {
        let mut smooth = Smooth::new(2, 3);
        let mut out = Vec::new();
        smooth.take(&Line::parse(b"1 2 10 0 0 0 0 0 0 0 0").unwrap(), &mut out).unwrap();
        assert!(smooth.take(&Line::parse(far.as_bytes()).unwrap(), &mut out).is_err(), "{far}");
        assert_eq!(out.len(), 1);
    }
}

#[test]
fn a_point_that_is_refused_changes_nothing_also_when_a_step_is_lost_on_the_way() {
    // A step of 1 is lost between 16777216 and 16777217: not at either end of this sweep.
    let mut smooth = Smooth::new(2, 3);
    let mut out = Vec::new();
    let mut take = |text: &str| {
        out.clear();
        let how = smooth.take(&Line::parse(text.as_bytes()).unwrap(), &mut out).map(|_| ());
        (how, out.len())
    };
    assert_eq!(take("1 2 10 16777210 0 0 0 0"), (Ok(()), 1));
    let (how, said) = take("1 2 10 16777226 0 0 0 0");
    assert!(how.unwrap_err().contains("lost") && said == 0);
    assert_eq!(take("1 2 10 16777212 0 0 0 0"), (Ok(()), 3), "it is where it was");
    // A sweep is never a flood: the chain takes more lines than that for one input.
    let flood = swarmyard_modules::LinkLimits::default().per_input;
    assert_eq!(take("1 2 10 16727213 0 0 0 0").0, Ok(()));
    let (how, said) = take("1 2 10 16627213 0 0 0 0");
    assert!(how.is_err() && said == 0);
    let (how, said) = take("1 2 10 16677213 0 0 0 0");
    assert!(how.is_ok() && said == 50_001 && (said as u64) < flood);
}

#[test]
fn a_step_beyond_single_precision_is_none() {
    let mut smooth = Smooth::new(2, 3);
    for text in ["0 2 65531 1 1e300", "0 2 65531 2 0", "0 2 65531 2 1e-300", "0 2 65531 3 -1"] {
        assert!(smooth.take(&Line::parse(text.as_bytes()).unwrap(), &mut Vec::new()).is_err(), "{text}");
    }
}

#[test]
fn as_a_module_it_passes_on_what_is_not_its_own() {
    let mut station = Station::new(2, Smooth::new(2, 3));
    assert_eq!(station.take(b"4 3 12 1 2 3 4").out, ["4 3 12 1 2 3 4"]);
    assert_eq!(station.take(RESET.as_bytes()).out, [RESET, ZERO]);
    assert_eq!(station.take(b"0 0 65535 1 0").out, ["0 0 65535 1 0"]);
    assert_eq!(station.take(b"0 65535 65535 9").out, ["0 65535 65535 9"]);
    let bad = station.take(b"1 2 nonsense");
    assert!(bad.out.is_empty() && bad.said.unwrap().contains("column 5"));
    assert_eq!(station.take(b"0 0 65534").out, ["0 0 65534"]);
}

#[test]
fn parameters_change_steps_until_the_next_reset() {
    let out = said(&["1 2 10 0 0 0 0 0 0 0 0", "0 2 65531 1 2", "1 2 10 0 0 4 0 0 0 0 0"]);
    assert_eq!(out[1..], ["0.000000", "2.000000", "4.000000"].map(|v| with(v, "0.000000")));
    let again = said(&["0 2 65531 1 2", RESET, "1 2 10 0 0 0 0 0 0 0 0", "1 2 10 0 0 2 0 0 0 0 0"]);
    assert_eq!(again.len(), 2 + 3);
}

#[test]
fn switched_off_it_only_passes_on() {
    let mut station = Station::new(2, Smooth::new(2, 3));
    assert!(station.take(b"0 2 65532").out.is_empty());
    assert!(station.take(b"1 2 10 0 0 1 0 0 0 0 0").out.is_empty());
    assert_eq!(station.take(b"1 3 10 0 0 0 0 0").out, ["1 3 10 0 0 0 0 0"]);
    assert!(station.take(b"0 2 65533").out.is_empty());
    assert_eq!(station.take(b"1 2 10 0 0 1 0 0 0 0 0").out, [with("1.000000", "0.000000")]);
}

#[test]
fn as_printed_it_leads_nothing_over() {
    let text = "1 2 10 0 0 0 0 0 0 0 0\n1 2 10 0 0 3 0 0 0 0 0\n";
    assert_eq!(literally(text), format!("{ZERO}\n"));
}

#[test]
fn as_printed_it_takes_the_numbers_of_a_reset_for_a_message() {
    let text = format!("{RESET}\n");
    assert_eq!(literally(&text), format!("{ZERO}\n-10 -10 -10 10 10 10"));
}

#[test]
fn as_printed_it_glues_what_it_passes_on() {
    assert_eq!(literally("1 3 10 1\n2 3 10 2\n"), "1 3 10 12 3 10 2");
}

#[test]
fn as_printed_it_ends_at_flag_1_as_well() {
    let text = "1 2 10 0 0 1 0 0 0 0 0\n1 2 10 0 0 2 1 0 0 0 0\n1 2 10 0 0 3 0 0 0 0 0\n";
    let first = with("1.000000", "0.000000");
    assert_eq!(literally(text), format!("{first}\n2 3 10 0. 0. 0. -1 0. 0. 0. 0.\n"));
}
