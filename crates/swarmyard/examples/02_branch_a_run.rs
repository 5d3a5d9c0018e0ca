//! Take a snapshot, go on in two ways, and see when the two runs part.
//!
//! ```text
//!            ┌── as before ────────▶ same hash, bit for bit
//!   0 s ── 2 s
//!            └── r1 turns left ────▶ another hash from the next step on
//! ```
//!
//! Run it: `cargo run -p swarmyard --example 02_branch_a_run`

use swarmyard::{Options, Sim};

fn main() -> Result<(), swarmyard::Error> {
    let world = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds/one-robot.toml");
    let mut sim = Sim::load(world, &Options::default())?;
    sim.run_until(2.0)?;
    let here = sim.snapshot();

    sim.run_until(4.0)?;
    println!("went on:      {} {:016x} at {:?}", sim.now(), sim.hash(), sim.pose("/robots/r1").map(|p| p.at));

    sim.restore(&here)?;
    sim.run_until(4.0)?;
    println!("once more:    {} {:016x} at {:?}", sim.now(), sim.hash(), sim.pose("/robots/r1").map(|p| p.at));

    sim.restore(&here)?;
    while sim.now().seconds() < 4.0 {
        // A command from outside lies over what the controller decides, for this step.
        sim.command("/robots/r1/drive", "left", &[-0.2])?;
        sim.command("/robots/r1/drive", "right", &[0.2])?;
        sim.step()?;
    }
    println!("took a turn:  {} {:016x} at {:?}", sim.now(), sim.hash(), sim.pose("/robots/r1").map(|p| p.at));
    Ok(())
}
