//! Robots that live by events: motions, contacts, stops at events.

use swarmyard_sim::Sim;

const PAIR: &str = r#"
format = 1
[run]
quantum = "1s"
duration = "60s"
[type.bot]
radius = 1
[[type.bot.part]]
name = "wheels"
class = "wheels"
[type.bot.algorithm]
class = "random-movement"
min = [0, 0]
max = [20, 20]
speed = [1, 3]
turn_speed = [1, 2]
[[robot]]
name = "r"
type = "bot"
count = 12
at = [10, 10]
layout = { class = "random", size = [18, 18] }
"#;

fn hashes(sim: &mut Sim, by_event: bool) -> Vec<(i64, u64)> {
    let mut all = Vec::new();
    while !sim.is_over() {
        let frame = if by_event { sim.step_to_event() } else { sim.step() }.expect("steps");
        if !sim.state().is_mid() {
            all.push((frame.now.0, sim.hash()));
        }
    }
    all
}

#[test]
fn stopping_at_every_event_changes_nothing() {
    let whole = hashes(&mut Sim::from_text(PAIR).expect("loads"), false);
    let mut sim = Sim::from_text(PAIR).expect("loads");
    let by_event = hashes(&mut sim, true);
    assert_eq!(whole, by_event);
    assert!(sim.state().accounts.contacts > 3, "{} contacts", sim.state().accounts.contacts);
    assert!(sim.state().stops > 2 * whole.len() as u64, "it stopped at events");
}

#[test]
fn a_snapshot_taken_at_any_event_goes_on_the_same() {
    let text = PAIR.replace("60s", "12s");
    let whole = hashes(&mut Sim::from_text(&text).expect("loads"), false);
    let mut sim = Sim::from_text(&text).expect("loads");
    let mut tried = 0;
    while !sim.is_over() {
        sim.step_to_event().expect("steps");
        let bytes = sim.snapshot();
        let mut other = Sim::from_text(&text).expect("loads");
        other.restore(&bytes).expect("restores");
        let rest = hashes(&mut other, false);
        assert_eq!(rest[..], whole[whole.len() - rest.len()..]);
        tried += 1;
    }
    assert!(tried > 30, "{tried} events");
}
