//! Editing the worlds that come with the program: what a document lists, and what random edits touch.

use crate::common::{self, Folder};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use swarmyard_formats::{Change, Document, Edited, Entry, apply, document, fragment, paste, read};
use swarmyard_part_api::Registry;
use swarmyard_scene::Node;

/// All parts and controllers.
static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut registry = swarmyard_parts::standard_registry();
    swarmyard_radio::register(&mut registry);
    swarmyard_algorithms::register(&mut registry);
    swarmyard_agents::register(&mut registry, &Arc::new(swarmyard_agents::Workshop::nowhere()));
    registry
});

static WORLDS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| folder().files("toml"));

fn folder() -> Folder {
    Folder::of_tests("../../../worlds")
}

fn doc(name: &str, text: &str) -> Document {
    document(name, text, &folder(), &REGISTRY).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn is_scenario(name: &str, text: &str) -> Result<(), String> {
    read(name, text, &[], &folder(), &REGISTRY).map(|_| ()).map_err(|e| e.to_string())
}

#[test]
fn a_world_with_unknown_parts_has_no_document() {
    let (name, text) = &WORLDS[0];
    let failed = document(name, text, &folder(), &common::registry()).expect_err("parts are missing");
    assert!(failed.problems.0.iter().any(|d| d.code == "unknown-class"), "{failed}");
}

#[test]
fn the_document_of_every_world_lists_every_path_of_its_scene() {
    assert!(WORLDS.len() > 20);
    for (name, text) in WORLDS.iter() {
        let scene = read(name, text, &[], &folder(), &REGISTRY).unwrap_or_else(|e| panic!("{e}")).scene;
        let all = doc(name, text);
        // By path: how many entries that can be edited make it, and how many that cannot.
        let mut owners: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for entry in &all.entries {
            for made in &entry.paths {
                let owner = owners.entry(&made.path).or_default();
                *(if entry.fixed.is_none() { &mut owner.0 } else { &mut owner.1 }) += 1;
            }
        }
        let check = |path: String| {
            let (free, fixed) = owners.get(path.as_str()).copied().unwrap_or_default();
            assert!(free == 1 || (free == 0 && fixed == 1), "{name}: {path} has {free} and {fixed} owners");
        };
        for group in
            ["/surfaces", "/types", "/world/walls", "/obstacles", "/world/tracks", "/beacons", "/asserts"]
        {
            scene.group(group).iter().for_each(|n| check(format!("{group}/{}", n.name)));
        }
        for node in scene.group("/types") {
            node.children.iter().for_each(|p: &Node| check(format!("/types/{}/{}", node.name, p.name)));
        }
        scene.group("/robots").iter().take(900).for_each(|n| check(format!("/robots/{}", n.name)));
        let robots = scene.group("/robots").len();
        let listed: usize = all.entries.iter().filter(|e| e.section == "robot").map(|e| e.count).sum();
        assert_eq!(listed, robots, "{name}");
    }
}

/// The lines of an entry, from 0: up to the next entry.
fn lines_of(all: &Document, entry: &Entry) -> Range<usize> {
    let next = all.entries.iter().map(|e| e.line).filter(|l| *l > entry.line).min();
    // Comments directly above the next header belong to it, but no change here goes that far.
    entry.line - 1..next.map_or(usize::MAX, |l| l - 1)
}

/// The lines of the old text that differ in the new one.
fn changed(old: &str, new: &str) -> Range<usize> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let least = old.len().min(new.len());
    let start = (0..least).find(|k| old[*k] != new[*k]).unwrap_or(least);
    let same = (0..least - start).find(|k| old[old.len() - 1 - k] != new[new.len() - 1 - k]);
    start..old.len() - same.unwrap_or(least - start)
}

fn comments(text: &str) -> Vec<&str> {
    let mut all: Vec<&str> = text.lines().filter(|l| l.trim_start().starts_with('#')).collect();
    all.sort_unstable();
    all
}

/// Poses and points by path.
fn places(all: &Document) -> BTreeMap<String, Vec<f64>> {
    let numbers = |m: &swarmyard_formats::Made| {
        m.pose.into_iter().flatten().chain(m.points.iter().flatten().copied()).collect()
    };
    all.entries.iter().flat_map(|e| &e.paths).map(|m| (m.path.clone(), numbers(m))).collect()
}

/// One edit, as numbers that pick what is there.
#[derive(Clone, Debug)]
struct Pick {
    what: u8,
    entry: prop::sample::Index,
    key: prop::sample::Index,
    by: [i32; 2],
}

fn pick() -> impl Strategy<Value = Pick> {
    let by = [-5_000_000..5_000_000_i32, -5_000_000..5_000_000_i32];
    (0..7_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), by)
        .prop_map(|(what, entry, key, by)| Pick { what, entry, key, by })
}

/// The change that a pick means in a document.
fn change(all: &Document, pick: &Pick) -> Option<(Entry, Change)> {
    let here: Vec<&Entry> = all.entries.iter().filter(|e| e.line > 0 && e.key != "scenario").collect();
    let entry = (*here.get(pick.entry.index(here.len().max(1)))?).clone();
    let at = entry.key.clone();
    let by = pick.by.map(|x| f64::from(x) * 1e-6);
    let change = match pick.what {
        0 => {
            let field = entry.fields.get(pick.key.index(entry.fields.len().max(1)))?;
            Change::Set { entry: at, key: field.name.clone(), value: "\"7\"".into() }
        }
        1 => {
            let field = entry.fields.get(pick.key.index(entry.fields.len().max(1)))?;
            Change::Unset { entry: at, key: field.name.clone() }
        }
        2 => Change::Move { entries: vec![at], by },
        3 => Change::Turn { entries: vec![at], by: by[0], about: None },
        4 => Change::Remove { entry: at },
        5 => Change::Copy { entry: at, name: None, fields: Vec::new() },
        _ => Change::Rename { entry: at, name: "renamed".into() },
    };
    Some((entry, change))
}

/// What must be true of any change that was not refused.
fn touches_only_what_it_must(all: &Document, entry: &Entry, change: &Change, edited: &Edited) {
    let old = all.text();
    let inside = |lines: Range<usize>| {
        // A value that was that already.
        if *old == edited.text {
            return;
        }
        let changed = changed(old, &edited.text);
        let ok = changed.is_empty() && changed.start <= lines.end
            || changed.start >= lines.start && changed.end <= lines.end;
        assert!(ok, "{change:?} changed lines {changed:?}, not in {lines:?}:\n{}", edited.text);
    };
    match change {
        Change::Set { .. } | Change::Unset { .. } | Change::Move { .. } | Change::Turn { .. } => {
            inside(lines_of(all, entry));
            assert_eq!(comments(old), comments(&edited.text), "{change:?}");
        }
        Change::Copy { .. } => {
            // Nothing is taken away: the old text is what is left without what was put in.
            let place = changed(old, &edited.text);
            assert!(place.is_empty(), "{change:?} changed lines {place:?}");
            // What has no name of its own is not named.
            let has_name = !["assert", "fault"].contains(&entry.section.as_str());
            assert_eq!(edited.made.len(), usize::from(has_name), "{change:?}");
        }
        Change::Rename { .. } => assert_eq!(comments(old), comments(&edited.text), "{change:?}"),
        Change::Remove { .. } => {
            let kept: Vec<&str> = edited.text.lines().collect();
            let mut rest = old.lines();
            assert!(
                kept.iter().all(|l| rest.any(|o| o == *l)),
                "{change:?} wrote something:\n{}",
                edited.text
            );
        }
        _ => {}
    }
}

/// The worlds that random edits are tried on: placing a crowd at random again and again takes too long.
static SMALL: LazyLock<Vec<(String, String)>> =
    LazyLock::new(|| WORLDS.iter().filter(|w| !w.1.contains("count = 1000")).cloned().collect());

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_touch_only_what_they_must(world in any::<prop::sample::Index>(), picks in prop::collection::vec(pick(), 1..10)) {
        let (name, text) = world.get(&SMALL);
        let mut text = text.clone();
        for pick in &picks {
            let all = doc(name, &text);
            let Some((entry, change)) = change(&all, pick) else { continue };
            let Ok(edited) = apply(&all, std::slice::from_ref(&change)) else { continue };
            touches_only_what_it_must(&all, &entry, &change, &edited);
            match is_scenario(name, &edited.text) {
                Ok(()) => text = edited.text,
                // The document does not change; but a copy or a move can never be the reason, a name that is taken can.
                Err(why) => {
                    let names = matches!(&change, Change::Set { key, .. } | Change::Unset { key, .. } if key == "name");
                    prop_assert!((names || !why.contains("duplicate-name")) && !why.contains("syntax"), "{change:?}: {why}");
                }
            }
        }
    }

    #[test]
    fn there_and_back_is_where_it_was(world in any::<prop::sample::Index>(), pick in pick()) {
        let (name, text) = world.get(&SMALL);
        let all = doc(name, text);
        let by = pick.by.map(|x| f64::from(x) * 1e-6);
        let placed = |e: &&Entry| matches!(e.section.as_str(), "robot" | "wall" | "track" | "obstacle" | "beacon" | "use");
        let entries: Vec<String> =
            all.entries.iter().filter(placed).filter(|e| e.fixed.is_none() && e.line > 0).map(|e| e.key.clone()).collect();
        let there = apply(&all, &[Change::Move { entries: entries.clone(), by }]);
        let Ok(there) = there else { return Ok(()) };
        let outline = swarmyard_formats::outline(name, &there.text).expect("TOML");
        let back = apply(&outline, &[Change::Move { entries, by: by.map(|x| -x) }]).unwrap_or_else(|e| panic!("{e}"));
        prop_assert_eq!(comments(text), comments(&back.text));
        prop_assert_eq!(text.matches('#').count(), back.text.matches('#').count());
        let (before, after) = (places(&all), places(&doc(name, &back.text)));
        prop_assert!(before.keys().eq(after.keys()));
        for (path, numbers) in &before {
            let same = numbers.iter().zip(&after[path]).all(|(a, b)| (a - b).abs() <= 1.000_001e-6);
            prop_assert!(same, "{path}: {numbers:?} became {:?}", after[path]);
        }
    }

    #[test]
    fn what_is_copied_and_pasted_or_added_has_a_free_name(world in any::<prop::sample::Index>(), pick in pick()) {
        let (name, text) = world.get(&SMALL);
        let all = doc(name, text);
        let here: Vec<&Entry> = all.entries.iter().filter(|e| e.line > 0 && e.fixed.is_none()).collect();
        let entry = pick.entry.get(&here);
        if let Ok(piece) = fragment(&all, std::slice::from_ref(&entry.key)) {
            let pasted = match paste(&all, &piece, [0.0, 0.0]) {
                Ok(pasted) => pasted,
                Err(e) if matches!(entry.section.as_str(), "controller" | "algorithm") && e.to_string().contains(" already") => return Ok(()),
                Err(e) => panic!("{}: {e}\n{piece}", entry.key),
            };
            if let Err(why) = is_scenario(name, &pasted.text) {
                prop_assert!(!why.contains("duplicate-name") && !why.contains("syntax"), "{}: {why}", entry.key);
            }
        }
        let add = Change::Add { section: entry.section.clone(), name: None, fields: Vec::new(), under: None };
        if let Ok(with) = apply(&all, &[add]) {
            let with = swarmyard_formats::outline(name, &with.text).expect("TOML");
            let new = with.entries.iter().find(|e| e.section == entry.section && e.fields.len() <= 1 && all.entries.iter().all(|o| o.key != e.key));
            let new = new.expect("the new entry").key.clone();
            prop_assert_eq!(apply(&with, &[Change::Remove { entry: new }]).expect("removes").text, text.as_str());
        }
    }
}
