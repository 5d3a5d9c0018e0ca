//! Every sheet's example is a scenario that loads and runs.

use swarmyard::{Sim, standard_registry};
use swarmyard_engine::RunEvent;
use swarmyard_formats::{check_examples, example_scenario};
use swarmyard_part_api::{Kind, Sheet};

#[test]
fn every_example_can_be_read() {
    let problems = check_examples(&standard_registry());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_example_compiles_and_runs_five_quanta() {
    let registry = standard_registry();
    let problems: Vec<String> = registry.sheets().filter_map(|sheet| tried(sheet).err()).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let parts = registry.sheets().filter(|s| !matches!(s.kind, Kind::Structure | Kind::Layout)).count();
    assert!(parts >= 40, "{parts}");
}

/// Runs the example of a sheet; answers what is wrong with it.
fn tried(sheet: &Sheet) -> Result<(), String> {
    let text = example_scenario(sheet);
    let wrong = |what: &str| Err(format!("`{}`: {what}\n{text}", sheet.class));
    if sheet.example.is_empty() {
        return wrong("there is no example");
    }
    let mut sim = match Sim::from_text(&text) {
        Ok(sim) => sim,
        Err(e) => return wrong(&e.to_string()),
    };
    for _ in 0..5 {
        match sim.step() {
            Err(e) => return wrong(&e.to_string()),
            Ok(frame) => {
                let bad = |e: &RunEvent| matches!(e, RunEvent::NotFinite { .. } | RunEvent::Endless { .. });
                if frame.events.iter().any(bad) {
                    return wrong("it halts its robot");
                }
            }
        }
    }
    // What robots that live by events are made of has no names left once it is put together.
    let written = text.contains(&format!("class = \"{}\"", sheet.class));
    let used = match sheet.kind {
        Kind::Structure | Kind::Layout => true,
        Kind::Network | Kind::Protocol | Kind::Algorithm => written,
        Kind::Sensor | Kind::Actuator | Kind::Controller => sim.model().types.iter().any(|t| {
            t.parts.iter().any(|p| p.class == sheet.class)
                || t.controllers.iter().any(|c| c.class == sheet.class)
                || t.life.is_some() && written
        }),
    };
    if used { Ok(()) } else { wrong("the example does not use it") }
}

/// What the two tests above would miss without it: a broken example must be refused.
#[test]
fn a_broken_example_is_refused() {
    let registry = standard_registry();
    let sheet = registry.sheet("cruise").expect("is registered");
    let broken = example_scenario(sheet).replace("left = 0.2", "lefft = 0.2");
    assert!(Sim::from_text(&broken).is_err());
}
