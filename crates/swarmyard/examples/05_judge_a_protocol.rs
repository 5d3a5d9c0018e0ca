//! Have the protocols of a run judged: did they keep what they promise?
//!
//! ```text
//!   five robots, three steps each, all in one order        order: Lamport's
//!
//!     order ── network                     20 % of all messages are lost,
//!                                          50 ms on the way in the mean:  broken
//!     order ── reliable-link ── network    sends again after 100 ms:      kept
//! ```
//!
//! Run it: `cargo run -p swarmyard --example 05_judge_a_protocol`

use swarmyard::{Error, Options, Sim, Witness, formats, standard_registry};

const WORLD: &str = r#"
format = 1
run = { quantum = "1s", duration = "40s", contact = "ghost" }
network = { class = "random", mean = "50ms", loss = 0.2 }
[type.dot]
radius = 0.1
part = [{ name = "wheels", class = "wheels" }, { name = "gps", class = "gps" }]
algorithm = { class = "in-step", broadcast = "order", steps = 3, step = 2, speed = [2, 4] }
[[robot]]
name = "r"
type = "dot"
count = 5
[[type.dot.protocol]]
name = "order"
class = "lamport-order"
"#;

const SURE: &str =
    "link = \"sure\"\n[[type.dot.protocol]]\nname = \"sure\"\nclass = \"reliable-link\"\nretry = \"100ms\"\n";

fn judge(text: &str) -> Result<(), Error> {
    let registry = standard_registry();
    let loaded = formats::read("example", text, &[], &formats::NoFiles, &registry)
        .map_err(|failed| Error::Scenario(failed.sources, failed.problems))?;
    let mut sim = Sim::from_scene(&loaded.scene, &registry, &Options::default())?;
    let Some(mut witness) = Witness::new(&mut sim, &loaded.scene) else { return Ok(()) };
    while !sim.is_over() {
        sim.step()?;
        witness.look(&mut sim);
    }
    // What was asked for in the last 8 s may still be under way.
    for verdict in witness.verdicts(&sim, 8.0) {
        let outcome = if verdict.broken.is_empty() { "kept  " } else { "BROKEN" };
        println!("{outcome}  {}: {}", witness.uses().pairs()[verdict.pair].name(), verdict.promise);
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    println!("over the network alone:");
    judge(WORLD)?;
    println!("over a reliable link:");
    judge(&format!("{WORLD}{SURE}"))
}
