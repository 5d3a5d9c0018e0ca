//! What all displays of a relay want together: that is what the relay wants.
//!
//! In: the wishes of each. Out: the least that holds them all, or why the server would not grant so much.

use crate::answer::Refusal;
use crate::hub::Wishes;
use crate::message::{MOST_GRIDS, MOST_INSPECTED, MOST_LIST, MOST_PROBES, MarksWanted, MarksWord, Probe};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Everything that somebody wants.
///
/// # Errors
/// When that is more than the server shows to one display.
pub(super) fn union<'a>(all: impl Iterator<Item = &'a Wishes> + Clone) -> Result<Wishes, Refusal> {
    let watching = all.clone().filter(|w| w.frames);
    let inspect: BTreeSet<&String> = all.clone().flat_map(|w| &w.inspect).collect();
    let grid: BTreeSet<&String> = all.clone().flat_map(|w| &w.grid).collect();
    let mut probes: Vec<Probe> = Vec::new();
    for probe in all.clone().flat_map(|w| &w.probes) {
        if !probes.contains(probe) {
            probes.push(probe.clone());
        }
    }
    within("robots that are looked into", inspect.len(), MOST_INSPECTED)?;
    within("numbers that are followed", probes.len(), MOST_PROBES)?;
    within("maps", grid.len(), MOST_GRIDS)?;
    let owned = |names: BTreeSet<&String>| names.into_iter().cloned().collect();
    Ok(Wishes {
        frames: watching.clone().next().is_some(),
        rate: watching.clone().map(|w| w.rate).max().unwrap_or(30),
        marks: marks(watching),
        inspect: owned(inspect),
        probes,
        grid: owned(grid),
        comms: all.clone().any(|w| w.comms),
        links: all.clone().any(|w| w.links),
        workers: all.clone().any(|w| w.workers),
    })
}

fn marks<'a>(all: impl Iterator<Item = &'a Wishes>) -> MarksWanted {
    let mut robots = BTreeSet::new();
    for wishes in all {
        match &wishes.marks {
            MarksWanted::Word(MarksWord::All) => return MarksWanted::Word(MarksWord::All),
            MarksWanted::Robots(some) => robots.extend(some),
            MarksWanted::Word(MarksWord::None) | MarksWanted::Unsaid => {}
        }
    }
    match robots.len() {
        0 => MarksWanted::Word(MarksWord::None),
        n if n > MOST_LIST => MarksWanted::Word(MarksWord::All),
        _ => MarksWanted::Robots(robots.into_iter().cloned().collect()),
    }
}

fn within(what: &str, n: usize, most: usize) -> Result<(), Refusal> {
    if n <= most {
        return Ok(());
    }
    let what = format!("the displays of this relay together have at most {most} {what}, not {n}");
    Err(Refusal::new("out-of-range", what).help("connect this display to the server itself"))
}

/// The request that says so.
pub(super) fn request(wishes: &Wishes) -> Value {
    let Wishes { frames, rate, marks, inspect, probes, grid, comms, links, workers } = wishes;
    let marks = match marks {
        MarksWanted::Word(word) => json!(word),
        MarksWanted::Robots(robots) => json!(robots),
        MarksWanted::Unsaid => json!("none"),
    };
    json!({
        "do": "watch", "frames": frames, "rate": rate, "marks": marks, "inspect": inspect, "probes": probes,
        "grid": grid, "comms": comms, "links": links, "workers": workers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Request, parse};

    fn wants(rate: u32, robots: &[&str]) -> Wishes {
        let robots: Vec<String> = robots.iter().map(|r| (*r).to_owned()).collect();
        let marks = MarksWanted::Robots(robots.clone());
        Wishes { frames: true, rate, marks, inspect: robots.clone(), grid: robots, ..Wishes::default() }
    }

    #[test]
    fn everybody_gets_what_he_wants_and_nothing_is_wanted_twice() {
        let all = [wants(10, &["b", "a"]), wants(60, &["b"]), Wishes::default()];
        let union = union(all.iter()).unwrap();
        assert_eq!(union, wants(60, &["a", "b"]));
    }

    #[test]
    fn nobody_wants_nothing() {
        let union = union([].iter()).unwrap();
        assert!(!union.frames && !union.wants_marks() && !union.comms && !union.links && !union.workers);
    }

    #[test]
    fn all_marks_hold_those_of_some() {
        let everything = Wishes { marks: MarksWanted::Word(MarksWord::All), ..wants(1, &[]) };
        let union = union([wants(1, &["a"]), everything].iter()).unwrap();
        assert_eq!(union.marks, MarksWanted::Word(MarksWord::All));
    }

    #[test]
    fn more_than_a_server_grants_is_refused_in_words() {
        let names: Vec<String> = (0..=MOST_INSPECTED).map(|k| format!("/robots/r{k}")).collect();
        let each: Vec<Wishes> =
            names.iter().map(|r| Wishes { inspect: vec![r.clone()], ..Wishes::default() }).collect();
        assert_eq!(union(each.iter()).unwrap_err().code, "out-of-range");
        assert!(union(each[1..].iter()).is_ok());
    }

    #[test]
    fn the_server_understands_the_request() {
        let probe = Probe { path: "p".into(), channel: "c".into(), index: 2 };
        let wishes = Wishes { probes: vec![probe], comms: true, workers: true, ..wants(7, &["a"]) };
        let Request::Watch { frames, rate, marks, inspect, probes, grid, comms, links, workers } =
            parse(&request(&wishes).to_string()).unwrap().request
        else {
            panic!("it is another request");
        };
        assert_eq!(Wishes { frames, rate, marks, inspect, probes, grid, comms, links, workers }, wishes);
    }
}
