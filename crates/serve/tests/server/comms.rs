//! What displays are told about messages of robots.

use crate::client::{Display, Place};
use serde_json::{Value, json};
use swarmyard_record::Recorder;
use swarmyard_serve::again;
use swarmyard_sim::Sim;

/// Three robots that call each other; the third crashes for a while, and a radio knows who hears whom.
fn world(network: &str) -> String {
    format!(
        r#"format = 1
title = "roll call"

[run]
quantum = "500ms"
duration = "600s"

[network]
{network}

[type.caller]
radius = "10cm"

[type.caller.algorithm]
class = "roll-call"
every = "2s"

[[robot]]
name = "a"
type = "caller"
at = [0, 0, 0]

[[robot]]
name = "b"
type = "caller"
at = [1, 0, 0]

[[robot]]
name = "c"
type = "caller"
at = [5, 0, 0]

[[fault]]
at = "6s"
crash = ["c"]

[[fault]]
at = "12s"
recover = ["c"]
"#
    )
}

const RANDOM: &str = "class = \"random\"\nmean = \"300ms\"\nloss = 0.1";
const RADIO: &str = "class = \"radio\"\npath = \"disc\"\nrange = \"3m\"";

fn all(display: &mut Display) -> Vec<Value> {
    let answer = display.done(json!({ "do": "comms" }));
    answer["lines"].as_array().unwrap().clone()
}

fn of<'a>(lines: &'a [Value], what: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["what"] == what)
}

#[test]
fn every_message_is_told_when_it_is_sent_and_when_it_comes_or_is_lost() {
    let place = Place::with(&world(RANDOM));
    let mut console = place.console();
    console.step(40);
    let lines = all(&mut console);
    assert!(lines.windows(2).all(|w| w[0]["t"].as_f64() <= w[1]["t"].as_f64()), "they are in order of time");
    let (mut came, mut lost) = (0, 0);
    for line in &lines {
        match line["what"].as_str().unwrap() {
            "sent" => {
                assert_eq!(line["receivers"], line["to"].as_array().unwrap().len());
                assert_eq!(
                    (&line["protocol"], line["bytes"].as_u64() > Some(0)),
                    (&json!("algorithm"), true)
                );
                assert!(["CALL", "HERE"].contains(&line["label"].as_str().unwrap()), "{line}");
            }
            what @ ("received" | "lost") => {
                let sent = of(&lines, "sent").find(|s| s["serial"] == line["serial"]).expect("it was sent");
                assert_eq!((&line["sent"], &line["from"]), (&sent["t"], &sent["from"]));
                assert_eq!((&line["label"], &line["content"]), (&sent["label"], &sent["content"]));
                assert!(sent["to"].as_array().unwrap().contains(&line["to"][0]));
                if what == "lost" {
                    assert!(["chance", "crashed"].contains(&line["why"].as_str().unwrap()));
                    lost += 1;
                } else {
                    assert!(line["t"].as_f64() > line["sent"].as_f64());
                    came += 1;
                }
            }
            _ => {}
        }
    }
    assert!(came > 20 && lost > 3, "{came} came, {lost} were lost");
    let crash: Vec<_> = of(&lines, "crashed").map(|l| (l["t"].clone(), l["from"].clone())).collect();
    assert_eq!(crash, [(json!(6.0), json!("/robots/c"))]);
    assert_eq!(of(&lines, "recovered").count(), 1);
}

#[test]
fn a_window_holds_what_happened_in_it_also_while_an_earlier_moment_is_shown() {
    let place = Place::with(&world(RANDOM));
    let mut console = place.console();
    console.step(40);
    let lines = all(&mut console);
    console.done(json!({ "do": "seek", "stop": 4 }));
    let window = console.done(json!({ "do": "comms", "from_s": 5.0, "to_s": 7.5 }));
    let wanted: Vec<&Value> =
        lines.iter().filter(|l| (5.0..=7.5).contains(&l["t"].as_f64().unwrap())).collect();
    assert_eq!(window["lines"].as_array().unwrap().iter().collect::<Vec<_>>(), wanted);
    let short = console.done(json!({ "do": "comms", "from_s": 5.0, "to_s": 7.5, "limit": 2 }));
    assert_eq!(short["left_out"], wanted.len() - 2);
    assert_eq!(short["lines"][1], *wanted[wanted.len() - 1]);
    assert_eq!(console.refused(json!({ "do": "comms", "limit": 2001 })), "out-of-range");
}

#[test]
fn a_branch_forgets_the_messages_that_were_not_sent() {
    let place = Place::with(&world(RANDOM));
    let mut console = place.console();
    console.step(40);
    let before = all(&mut console);
    console.done(json!({ "do": "seek", "stop": 10 }));
    console.done(json!({ "do": "branch" }));
    let lines = all(&mut console);
    assert!(lines.iter().all(|l| l["t"].as_f64() <= Some(5.0)) && lines[..] == before[..lines.len()]);
    console.step(30);
    assert_eq!(all(&mut console), before, "what happens again is told again");
    console.done(json!({ "do": "reset" }));
    assert!(all(&mut console).is_empty());
}

#[test]
fn displays_that_follow_get_every_line_once_and_others_none() {
    let place = Place::with(&world(RANDOM));
    let mut console = place.console();
    let mut other = place.display("other");
    console.done(json!({ "do": "watch", "comms": true }));
    for _ in 0..20 {
        console.step(2);
    }
    let lines = all(&mut console);
    console.until("all lines", |d| d.comms.len() >= lines.len());
    assert_eq!(console.comms, lines);
    other.done(json!({ "do": "watch" }));
    assert!(other.comms.is_empty());
    console.done(json!({ "do": "watch" }));
    console.step(10);
    console.done(json!({ "do": "watch", "comms": true }));
    console.step(1);
    let after = all(&mut console);
    console.done(json!({ "do": "watch" }));
    assert!(console.comms.len() < after.len(), "what came meanwhile is asked for, not sent");
}

#[test]
fn messages_under_way_are_told_with_the_moment_at_which_they_come() {
    let place = Place::with(&world("class = \"constant\"\ndelay = \"700ms\""));
    let mut console = place.console();
    console.step(8);
    let under_way = console.done(json!({ "do": "comms" }))["under_way"].as_array().unwrap().clone();
    assert!(!under_way.is_empty());
    console.step(4);
    let lines = all(&mut console);
    for way in under_way {
        let came = of(&lines, "received").find(|l| l["serial"] == way[0] && l["to"][0] == way[1]);
        assert_eq!(came.expect("it came")["t"], way[2]);
    }
}

#[test]
fn links_are_those_who_could_hear_each_other_and_follow_what_is_shown() {
    let place = Place::with(&world(RADIO));
    let mut console = place.console();
    assert!(console.links.is_null());
    console.done(json!({ "do": "watch", "links": true }));
    console.until("links", |d| d.links["pairs"] == json!([[0, 1]]));
    let revision = console.status["revision"].as_u64().unwrap();
    let change = json!([{ "op": "set", "entry": "robot[2]", "key": "at", "value": "[2, 0, 0]" }]);
    console.done(json!({ "do": "edit", "changes": change, "revision": revision }));
    console.until("all links", |d| d.links["pairs"].as_array().map(Vec::len) == Some(3));
    assert_eq!(console.links["revision"], console.world["revision"]);
}

#[test]
fn a_network_without_places_has_everybody_linked_and_a_world_without_one_nobody() {
    let place = Place::with(&world(RANDOM));
    let mut console = place.console();
    console.done(json!({ "do": "watch", "links": true }));
    console.until("links", |d| d.links["is"] == "links");
    assert!(console.links["pairs"].is_null());
    let place = Place::new();
    let mut console = place.console();
    console.done(json!({ "do": "watch", "links": true, "comms": true }));
    console.until("links", |d| d.links["pairs"] == json!([]));
    console.step(5);
    assert!(all(&mut console).is_empty());
}

#[test]
fn a_recording_tells_the_messages_as_far_as_it_was_shown() {
    let place = Place::with(&world(RANDOM));
    let mut console = place.console();
    console.step(40);
    let lines = all(&mut console);
    crate::replay::download(&place, "run.mcap");
    console.done(json!({ "do": "open", "path": "run.mcap" }));
    console.until("the recording", |d| d.status["mode"] == "replay" && d.status["stop"] == 0);
    assert!(all(&mut console).is_empty());
    console.done(json!({ "do": "seek", "stop": 40 }));
    console.until("its end", |d| d.status["stop"] == 40);
    assert_eq!(all(&mut console), lines);
    console.done(json!({ "do": "seek", "stop": 3 }));
    assert_eq!(all(&mut console), lines, "also while an earlier moment is shown");
}

#[test]
fn the_recording_of_an_imported_log_tells_its_messages_and_words() {
    let text = include_str!("../../../formats/tests/neko/figure-5.6.log");
    let lines = swarmyard_formats::neko::log::read("figure.log", text).unwrap();
    let played = swarmyard_formats::neko::playback::scenario(&lines, "figure", 10.0, 0.01).unwrap();
    let place = Place::new();
    let mut sim = Sim::from_text(&played.text).unwrap();
    let header = again::header(&sim, "scenario", &[]);
    let file = place.folder.0.join("figure.mcap");
    let mut recorder = Recorder::create(&file, &header, sim.model()).unwrap();
    recorder.start(sim.model(), sim.state());
    while !sim.is_over() {
        let frame = sim.step().unwrap();
        recorder.frame(sim.model(), sim.state(), &frame, sim.journal());
    }
    let end = sim.state().stops;
    assert_eq!(recorder.finish(sim.model(), sim.state(), sim.hash()).stopped, None);
    let mut console = place.console();
    console.done(json!({ "do": "open", "path": "figure.mcap" }));
    console.done(json!({ "do": "seek", "stop": end }));
    console.until("its end", |d| d.status["stop"] == end);
    let told = all(&mut console);
    assert_eq!((of(&told, "sent").count(), of(&told, "received").count(), told.len()), (10, 4, 14));
    // The first that comes, as the figure has it, with the moment it was sent: an arrow of the chart.
    let first = of(&told, "received").next().unwrap();
    assert!((first["t"].as_f64().unwrap() - 0.031).abs() < 1e-12 && first["sent"] == 0.0, "{first}");
    assert_eq!((&first["from"], &first["to"]), (&json!("/robots/p6"), &json!(["/robots/p1"])));
    assert_eq!((&first["label"], &first["protocol"]), (&json!("GOTO"), &json!("messages")));
    let words: Vec<&Value> = console.lines.iter().filter(|l| l["robot"] == "/robots/p5").collect();
    assert!(words.iter().any(|l| l["text"].as_str().unwrap().contains("go to: (328.1183")), "{words:?}");
    // Looked at once more, from an earlier moment.
    console.done(json!({ "do": "seek", "stop": 0 }));
    assert_eq!(all(&mut console), told);
}
