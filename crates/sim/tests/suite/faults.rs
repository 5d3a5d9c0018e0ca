//! `[[fault]]` lines: what the documents show of them loads, and each does to messages what it says.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use swarmyard_base::Moment;
use swarmyard_engine::{Note, RunEvent};
use swarmyard_part_api::Loss;
use swarmyard_sim::Sim;

/// Robots `r1` to `r9` that call each other.
const ROBOTS: &str = "format = 1\n[network]\nclass = \"constant\"\n[type.dot]\nradius = 0.1\n\
    [type.dot.algorithm]\nclass = \"roll-call\"\n[[robot]]\nname = \"r\"\ntype = \"dot\"\ncount = 9\n";

/// Names and texts of the documents.
fn documents() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(p).unwrap()))
        .collect();
    all.sort();
    all
}

#[track_caller]
fn loads(name: &str, text: &str) {
    if let Err(e) = Sim::from_text(text) {
        panic!("an example of docs/{name} does not load: {e}\n{text}");
    }
}

#[test]
fn every_fault_that_the_documents_show_loads() {
    let (mut examples, mut keys) = (0, 0);
    for (name, text) in documents() {
        let blocks = text.split("```toml\n").skip(1).filter_map(|b| b.split("\n```").next());
        for block in blocks.filter(|b| b.contains("[[fault]]")) {
            let mut whole = if block.contains("format = 1") { String::new() } else { ROBOTS.to_owned() };
            if block.contains("[network]") {
                whole = whole.replace("[network]\nclass = \"constant\"\n", "");
            }
            loads(&name, &(whole + block));
            examples += 1;
        }
        // In the running text: `partition = …`, between backticks.
        for code in text.split('`') {
            if ["crash = ", "recover = ", "partition = ", "heal = "].iter().any(|k| code.starts_with(k)) {
                loads(&name, &format!("{ROBOTS}[[fault]]\nat = 1\n{code}\n"));
                keys += 1;
            }
        }
    }
    println!("{examples} examples, {keys} keys in the text");
    assert!(examples >= 3 && keys >= 2, "{examples} examples, {keys} keys");
}

/// Every second each of four robots calls the three others. Every ten seconds something changes.
fn chatter(network: &str) -> String {
    let mut world =
        format!("format = 1\n[run]\nquantum = \"1s\"\nduration = \"72s\"\n[network]\n{network}\n");
    world += "[type.dot]\nradius = 0.1\n[type.dot.algorithm]\nclass = \"roll-call\"\nevery = \"1s\"\n";
    world += "[[robot]]\nname = \"r\"\ntype = \"dot\"\ncount = 4\n";
    let deeds = [
        "partition = [\"r1 r2\", \"r3\"]",
        "heal = true",
        "loss = 1",
        "loss = 0",
        "delay = 0.2",
        "delay = 0",
    ];
    for (k, deed) in deeds.iter().enumerate() {
        let _ = write!(world, "[[fault]]\nat = {}\n{deed}\n", 10 * (k + 1));
    }
    world
}

/// What became of one copy of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Came { after_s: f64 },
    Lost(Loss),
}

/// When each call was sent and by whom, and what became of its copies by receiver; what robots said, and when.
type Calls = BTreeMap<u64, (f64, u32, BTreeMap<u32, Fate>)>;

fn run(world: &str) -> (Calls, Vec<(f64, String)>) {
    let mut sim = Sim::from_text(world).unwrap_or_else(|e| panic!("{e}"));
    sim.take_notes(true);
    let (mut calls, mut said) = (Calls::new(), Vec::new());
    while !sim.is_over() {
        for event in sim.step().unwrap().events {
            let RunEvent::Live(note) = event else { continue };
            let now_s = note.at.since(Moment::ZERO);
            match note.what {
                Note::Sent { serial, label, .. } if label == "CALL" => {
                    calls.insert(serial, (now_s, note.robot, BTreeMap::new()));
                }
                Note::Received { serial, .. } => {
                    let Some((sent_s, _, fates)) = calls.get_mut(&serial) else { continue };
                    let fate = Fate::Came { after_s: now_s - *sent_s };
                    assert_eq!(fates.insert(note.robot, fate), None, "one fate for each copy");
                }
                Note::Lost { serial, why, .. } => {
                    let Some((_, _, fates)) = calls.get_mut(&serial) else { continue };
                    assert_eq!(fates.insert(note.robot, Fate::Lost(why)), None, "one fate for each copy");
                }
                Note::Said(words) => said.push((now_s, words)),
                _ => {}
            }
        }
    }
    (calls, said)
}

/// Of the calls sent in ten seconds: who reached whom, how long it took at least and at most, and why others were
/// lost.
struct Window {
    came: Vec<(u32, u32)>,
    took_s: (f64, f64),
    lost: Vec<Loss>,
}

fn window(calls: &Calls, from_s: f64) -> Window {
    let mut window = Window { came: Vec::new(), took_s: (f64::INFINITY, 0.0), lost: Vec::new() };
    for (_, from, fates) in calls.values().filter(|c| (from_s..from_s + 10.0).contains(&c.0)) {
        assert_eq!(fates.len(), 3, "a call is for three");
        for (to, fate) in fates {
            match *fate {
                Fate::Came { after_s } => {
                    window.came.push((*from, *to));
                    window.took_s = (window.took_s.0.min(after_s), window.took_s.1.max(after_s));
                }
                Fate::Lost(why) => window.lost.push(why),
            }
        }
    }
    window
}

#[test]
fn partitions_loss_and_delay_begin_and_end_when_the_scenario_says() {
    for network in [
        "class = \"constant\"\ndelay = \"10ms\"",
        "class = \"reliable\"\ndelay = \"10ms\"",
        "class = \"random\"\nmean = \"5ms\"",
        "class = \"uniform\"\nleast = \"1ms\"\nmost = \"20ms\"",
        "class = \"metric\"\nlambda = 1\nunit = \"1ms\"",
    ] {
        let (calls, said) = run(&chatter(network));
        let windows: Vec<Window> = (0..7).map(|k| window(&calls, 10.0 * f64::from(k))).collect();
        for (k, w) in windows.iter().enumerate() {
            println!(
                "{network:?}: from {} s {} came after {:.4} to {:.4} s, {} lost",
                10 * k,
                w.came.len(),
                w.took_s.0,
                w.took_s.1,
                w.lost.len()
            );
            // Ten calls of four robots to three others.
            assert_eq!(w.came.len() + w.lost.len(), 120);
        }
        for k in [0, 2, 4, 5, 6] {
            assert_eq!(windows[k].came.len(), 120, "nothing is lost from {} s on", 10 * k);
        }
        let apart = &windows[1];
        assert_eq!(apart.came.len(), 20, "only the two on one side reach each other");
        assert!(apart.came.iter().all(|pair| [(0, 1), (1, 0)].contains(pair)), "{:?}", apart.came);
        assert!(apart.lost.iter().all(|why| *why == Loss::Partition));
        assert!(windows[3].lost.iter().all(|why| *why == Loss::Chance));
        assert_eq!(windows[3].lost.len(), 120, "a loss of 1 loses all");
        for k in [0, 1, 2, 4, 6] {
            assert!(windows[k].took_s.1 < 0.1, "no delay from {} s on", 10 * k);
        }
        let (least, most) = windows[5].took_s;
        assert!(least >= 0.2 && most < 0.3, "0.2 s more, not {least} to {most}");
        // Robots notice, in the round after.
        for (at_s, words) in said {
            let expected = (10.0..21.5).contains(&at_s) || (30.0..41.5).contains(&at_s);
            assert!(expected || at_s > 71.0, "at {at_s}: {words}");
        }
    }
}

#[test]
fn a_delay_is_added_to_what_the_network_takes() {
    let (calls, _) = run(&chatter("class = \"constant\"\ndelay = \"10ms\""));
    for (k, wanted_s) in [(0, 0.01), (5, 0.21), (6, 0.01)] {
        let (least, most) = window(&calls, 10.0 * f64::from(k)).took_s;
        assert!((least - wanted_s).abs() < 1e-9 && (most - wanted_s).abs() < 1e-9, "{least} to {most}");
    }
}

/// What protocols say about robots by their numbers must be about robots that have them: otherwise nobody would answer.
#[test]
fn a_protocol_that_names_a_robot_which_is_not_there_is_refused() {
    let world = |class: &str, more: &str| {
        format!(
            "format = 1\n[network]\nclass = \"constant\"\n[type.dot]\nradius = 0.1\n\
             [[type.dot.protocol]]\nname = \"p\"\nclass = \"{class}\"\n{more}\n\
             [[robot]]\nname = \"r\"\ntype = \"dot\"\ncount = 4\nlayout = {{ class = \"circle\", radius = 2 }}\n"
        )
    };
    for (class, more, what) in [
        ("sequencer-order", "sequencer = 77", "`sequencer` names robot `77`"),
        ("leader-election", "order = [0, 1]", "`order` leaves out robot `2`"),
        ("leader-election", "order = [0, 1, 2, 3, 4]", "`order` names robot `4`"),
        ("clock-sync", "way = \"ask\"\nreference = 4", "`reference` names robot `4`"),
    ] {
        let text = world(class, more);
        let problem = Sim::from_text(&text).err().unwrap_or_else(|| panic!("was taken:\n{text}")).to_string();
        assert!(problem.contains(what) && problem.contains("robots 0 to 3 have it"), "{problem}");
        // At the place of the value: the last line of the protocol.
        let (line, column) = (8 + more.lines().count(), more.lines().last().unwrap().find("= ").unwrap() + 3);
        assert!(problem.contains(&format!(":{line}:{column}")), "{problem}");
    }
    for (class, more) in [
        ("sequencer-order", "sequencer = 3"),
        ("leader-election", "order = [3, 1, 0, 2]"),
        ("clock-sync", "reference = 4"),
    ] {
        loads("a test", &world(class, more));
    }
}
