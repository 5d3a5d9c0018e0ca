//! What a talk says about itself: as text, or as one JSON object.

use super::ledger::Ledger;
use super::place::Place;
use super::world::World;
use super::{Over, TalkArgs};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::{Out, count, seconds};
use crate::cli::verdicts;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use swarmyard::base::Moment;
use swarmyard_radio::check::judge::Verdict;

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
    for (k, pair) in world.uses.pairs().iter().enumerate() {
        let words = [counts(&ledger.asked[k]), counts(&ledger.told[k])];
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| !w.is_empty()).collect();
        if !words.is_empty() {
            let _ = writeln!(text, "{}: {}", pair.name(), words.join(", "));
        }
    }
    text += &verdicts::text(&world.uses, done.verdicts);
    if done.all_here {
        text += &verdicts::not_judged(&world.uses);
    }
    if !done.all_here {
        text += if ledger.docket.has_overflowed() {
            verdicts::TOO_MUCH
        } else {
            "not judged here: write traces with --trace, and judge them together with --judge"
        };
        text.push('\n');
    }
    if let Some(why) = &ledger.file_trouble {
        let _ = writeln!(text, "the trace could not be written to its end: {why}");
    }
    let _ = writeln!(text, "ended after {} s", seconds(done.end.time));
    text
}

fn counts(words: &BTreeMap<&'static str, u64>) -> String {
    let words: Vec<String> = words.iter().map(|(word, n)| format!("{n} {word}")).collect();
    words.join(", ")
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
        .uses
        .pairs()
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
        "judged": done.all_here, "promises": verdicts::json(&world.uses, done.verdicts), "not_judged": verdicts::not_judged_json(&world.uses),
        "trace_trouble": ledger.file_trouble.as_ref().map(ToString::to_string), "exit": done.exit as u8,
    })
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
        let value = json!({ "events": events, "promises": verdicts::json(&world.uses, all), "not_judged": verdicts::not_judged_json(&world.uses), "exit": exit as u8 });
        return out.json("talk-judged", value);
    }
    let mut text = verdicts::text(&world.uses, all) + &verdicts::not_judged(&world.uses);
    let _ = writeln!(text, "judged {}", count(events, "event"));
    out.data(&text)
}
