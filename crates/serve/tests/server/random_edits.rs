//! Any edits, undone: every byte is back, and every text on the way loads.

use crate::client::{Display, Place, WORLD};
use serde_json::{Value, json};
use swarmyard_sim::Sim;

const SWARM: &str = include_str!("../../../../worlds/forty-wander.toml");

/// A small generator of the test's own: which edits are tried must not depend on the program under test.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn metres(&mut self) -> f64 {
        (self.below(61) as f64 - 30.0) / 20.0
    }
}

/// Some change of some entry; it may be refused.
fn any_change(chance: &mut Chance, entries: &[Value]) -> Value {
    let placed = ["robot", "obstacle", "wall", "track", "beacon"];
    let things: Vec<&str> = entries
        .iter()
        .filter(|e| placed.iter().any(|p| e["section"] == *p) && e["fixed"].is_null())
        .filter_map(|e| e["key"].as_str())
        .collect();
    let one = things.get(chance.below(things.len().max(1))).copied().unwrap_or("robot[0]");
    let (x, y) = (chance.metres(), chance.metres());
    match chance.below(8) {
        0 | 1 => json!([{ "op": "move", "entries": [one], "by": [x, y] }]),
        2 => json!([{ "op": "turn", "entries": [one], "by": x }]),
        3 => json!([{ "op": "copy", "entry": one, "fields": [["at", format!("[{x}, {y}]")]] }]),
        4 => json!([{ "op": "remove", "entry": one }]),
        5 => {
            let fields = json!([["at", format!("[{x}, {y}]")], ["radius", "0.05"]]);
            json!([{ "op": "add", "section": "obstacle", "fields": fields }])
        }
        6 => json!([{ "op": "set", "entry": one, "key": "colour", "value": "#123456" }]),
        _ => {
            let quantum = format!("{}ms", 10 + chance.below(5) * 10);
            json!([{ "op": "set", "entry": "run", "key": "quantum", "value": quantum }])
        }
    }
}

fn text_at(console: &mut Display, answer: &Value) -> String {
    let revision = answer["revision"].clone();
    console.until("that world", |d| d.world["revision"] == revision);
    console.world["text"].as_str().unwrap().to_owned()
}

fn edits_and_undos(world: &str, seed: u64) {
    let place = Place::with(world);
    let mut console = place.console();
    let mut chance = Chance(seed);
    let mut texts = vec![world.to_owned()];
    for _ in 0..40 {
        let entries = console.world["entries"].as_array().unwrap().clone();
        let changes = any_change(&mut chance, &entries);
        let revision = console.world["revision"].clone();
        let asked = json!({ "do": "edit", "label": "any", "changes": changes, "revision": revision });
        match console.ask(asked) {
            Err(refusal) => assert!(!refusal["message"].as_str().unwrap().is_empty()),
            Ok(answer) => {
                let text = text_at(&mut console, &answer);
                Sim::from_text(&text)
                    .unwrap_or_else(|e| panic!("{changes} left what does not load: {e}\n{text}"));
                texts.push(text);
            }
        }
    }
    assert!(texts.len() > 10, "most edits are possible: {}", texts.len());
    for before in texts.iter().rev().skip(1) {
        let answer = console.done(json!({ "do": "undo" }));
        assert_eq!(text_at(&mut console, &answer), *before);
    }
    assert_eq!(console.refused(json!({ "do": "undo" })), "nothing");
    for after in texts.iter().skip(1) {
        let answer = console.done(json!({ "do": "redo" }));
        assert_eq!(text_at(&mut console, &answer), *after);
    }
}

#[test]
fn any_edits_are_undone_and_redone_to_the_byte_and_every_text_loads() {
    for seed in [0x9e37_79b9, 0x1234_5678, 0xdead_beef] {
        edits_and_undos(WORLD, seed);
    }
    edits_and_undos(SWARM, 0x0bad_cafe);
}
