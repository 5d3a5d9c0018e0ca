//! Every sheet's example is a scenario that loads and runs.

use swarmyard::{Sim, standard_registry};
use swarmyard_formats::{check_examples, example_scenario};
use swarmyard_part_api::Kind;

#[test]
fn every_example_can_be_read() {
    let problems = check_examples(&standard_registry());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_example_compiles_and_runs_five_quanta() {
    let registry = standard_registry();
    let mut parts = 0;
    for sheet in registry.sheets() {
        assert!(!sheet.example.is_empty(), "`{}` has no example", sheet.class);
        let text = example_scenario(sheet);
        let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("`{}`: {e}\n{text}", sheet.class));
        for _ in 0..5 {
            let frame = sim.step().unwrap_or_else(|e| panic!("`{}`: {e}\n{text}", sheet.class));
            let halted =
                frame.events.iter().any(|e| matches!(e, swarmyard_engine::RunEvent::NotFinite { .. }));
            assert!(!halted, "`{}` halts its robot\n{text}", sheet.class);
        }
        assert_eq!(sim.state().stops, 5);
        let is_part = !matches!(sheet.kind, Kind::Structure | Kind::Layout);
        if is_part {
            parts += 1;
            let used = sim.model().types.iter().any(|t| {
                t.parts.iter().any(|p| p.class == sheet.class)
                    || t.controllers.iter().any(|c| c.class == sheet.class)
            });
            assert!(used, "the example of `{}` does not use it\n{text}", sheet.class);
        }
    }
    assert!(parts >= 10, "{parts}");
}

/// What the two tests above would miss without it: a broken example must be refused.
#[test]
fn a_broken_example_is_refused() {
    let registry = standard_registry();
    let sheet = registry.sheet("cruise").expect("is registered");
    let broken = example_scenario(sheet).replace("left = 0.2", "lefft = 0.2");
    assert!(Sim::from_text(&broken).is_err());
}
