//! What a talk says about itself: as text, or as one JSON object.

use super::judge::Verdict;
use super::ledger::Ledger;
use super::place::Place;
use super::world::{Pair, World};
use super::{Over, TalkArgs};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::{Out, count, seconds};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use swarmyard::base::Moment;

/// Breaches of one promise that are shown to people.
const SHOWN: usize = 5;

/// A talk that is over.
pub(super) struct Done<'a> {
    pub(super) ledger: &'a Ledger,
    pub(super) end: Moment,
    pub(super) verdicts: &'a [Verdict],
    /// Whether all was seen here, so that it could be judged.
    pub(super) all_here: bool,
    pub(super) exit: Exit,
}

impl Over {
    fn word(self) -> &'static str {
        match self {
            Over::Udp => "udp",
            Over::Tcp => "tcp",
        }
    }
}

/// Says what is going to happen, to people.
pub(super) fn begins(args: &TalkArgs, world: &World, place: &Place, out: &Out) -> Result<(), Failure> {
    if out.json {
        return Ok(());
    }
    let mut text = String::new();
    if !world.title().is_empty() {
        let _ = writeln!(text, "{}", world.title());
    }
    let who = count(place.here.len(), "robot");
    let all = world.robots.len();
    let who = if place.here.len() == all { who } else { format!("{who} of {all}") };
    let over = args.over.word().to_uppercase();
    let _ = writeln!(text, "{who} over {over}, {} s of real time", args.long);
    text += "each goes where its own wheels take it: it touches nothing and knows no place but its own\n";
    let left_out = world.left_out();
    if !left_out.is_empty() {
        let _ = writeln!(text, "left out: {}", left_out.join(", "));
    }
    out.data(&text)
}

/// Says what has happened.
pub(super) fn ends(
    args: &TalkArgs,
    world: &World,
    place: &Place,
    done: &Done<'_>,
    out: &Out,
) -> Result<(), Failure> {
    if out.json {
        out.json("talk", as_json(args, world, place, done))
    } else {
        out.data(&as_text(world, done))
    }
}

fn as_text(world: &World, done: &Done<'_>) -> String {
    let ledger = done.ledger;
    let mut text = String::new();
    if ledger.more_words > 0 {
        let _ = writeln!(text, "and {} were not kept", count(ledger.more_words as usize, "more word"));
    }
    let _ = writeln!(
        text,
        "\n{:<20} {:>9} {:>12} {:>9} {:>12}",
        "protocol", "sent", "bytes", "received", "bytes"
    );
    for (id, t) in &ledger.protocols {
        let name = world.protocol(*id);
        let _ = writeln!(
            text,
            "{name:<20} {:>9} {:>12} {:>9} {:>12}",
            t.sent, t.sent_bytes, t.received, t.received_bytes
        );
    }
    if ledger.lost > 0 {
        let _ = writeln!(text, "lost on the way out: {}", ledger.lost);
    }
    text.push('\n');
    for (k, pair) in world.pairs.iter().enumerate() {
        let words = [counts(&ledger.asked[k]), counts(&ledger.told[k])];
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| !w.is_empty()).collect();
        if !words.is_empty() {
            let _ = writeln!(text, "{}: {}", name(pair), words.join(", "));
        }
    }
    text += &verdicts(world, done.verdicts);
    if !done.all_here {
        text += if ledger.too_much {
            "not judged: there was too much to keep\n"
        } else {
            "not judged here: write traces with --trace, and judge them together with --judge\n"
        };
    }
    if let Some(why) = &ledger.file_trouble {
        let _ = writeln!(text, "the trace could not be written to its end: {why}");
    }
    let _ = writeln!(text, "ended after {} s", seconds(done.end.time));
    text
}

/// Who uses whom.
fn name(pair: &Pair) -> String {
    format!("{} by {}", pair.provider, pair.user)
}

fn counts(words: &BTreeMap<&'static str, u64>) -> String {
    let words: Vec<String> = words.iter().map(|(word, n)| format!("{n} {word}")).collect();
    words.join(", ")
}

fn verdicts(world: &World, verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    for v in verdicts {
        let pair = &world.pairs[v.pair];
        let outcome = if v.broken.is_empty() { "kept  " } else { "BROKEN" };
        let _ = writeln!(text, "{outcome}  {} ({}): {}", name(pair), pair.class, v.promise);
        for what in v.broken.iter().take(SHOWN) {
            let _ = writeln!(text, "        {what}");
        }
        if v.broken.len() > SHOWN {
            let _ = writeln!(text, "        and {} more", v.broken.len() - SHOWN);
        }
    }
    text
}

fn as_json(args: &TalkArgs, world: &World, place: &Place, done: &Done<'_>) -> Value {
    let ledger = done.ledger;
    let path = |r: u32| world.robots[r as usize].path.as_str();
    let protocols: Vec<Value> = ledger
        .protocols
        .iter()
        .map(|(id, t)| {
            json!({
                "name": world.protocol(*id), "sent": t.sent, "sent_bytes": t.sent_bytes,
                "received": t.received, "received_bytes": t.received_bytes,
            })
        })
        .collect();
    let uses: Vec<Value> = world
        .pairs
        .iter()
        .enumerate()
        .map(|(k, pair)| {
            json!({
                "user": pair.user, "provider": pair.provider, "class": pair.class,
                "asked": ledger.asked[k], "told": ledger.told[k],
            })
        })
        .collect();
    let said: Vec<Value> = ledger
        .words
        .iter()
        .map(|(at, robot, text)| json!({ "time_s": seconds(at.time), "robot": path(*robot), "text": text }))
        .collect();
    json!({
        "over": args.over.word(), "time_s": seconds(done.end.time), "robots": world.robots.len(),
        "here": place.here.iter().map(|r| path(*r)).collect::<Vec<_>>(), "left_out": world.left_out(),
        "protocols": protocols, "lost": ledger.lost, "uses": uses, "said": said, "more_said": ledger.more_words,
        "judged": done.all_here, "promises": promises_json(world, done.verdicts),
        "trace_trouble": ledger.file_trouble.as_ref().map(ToString::to_string), "exit": done.exit as u8,
    })
}

fn promises_json(world: &World, verdicts: &[Verdict]) -> Vec<Value> {
    let verdict = |v: &Verdict| {
        let pair = &world.pairs[v.pair];
        json!({
            "user": pair.user, "provider": pair.provider, "class": pair.class, "promise": v.promise,
            "kept": v.broken.is_empty(), "broken": v.broken,
        })
    };
    verdicts.iter().map(verdict).collect()
}

/// Says how traces were judged.
pub(super) fn judged(
    world: &World,
    all: &[Verdict],
    events: usize,
    exit: Exit,
    out: &Out,
) -> Result<(), Failure> {
    if out.json {
        let value = json!({ "events": events, "promises": promises_json(world, all), "exit": exit as u8 });
        return out.json("talk-judged", value);
    }
    let mut text = verdicts(world, all);
    let _ = writeln!(text, "judged {}", count(events, "event"));
    out.data(&text)
}
