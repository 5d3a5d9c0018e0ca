//! `bench --gas`: how many collisions of discs in flight a processor second holds.
//!
//! A gas of hard discs on a torus, half of it covered. It runs until every disc has collided some times, then it is timed
//! in slices; pressure and collision rate stand beside the figures, so that a wrong gas is seen.

use super::{cpu_seconds, grouped};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use serde_json::json;
use std::fmt::Write as _;
use std::time::Instant;
use swarmyard::gas::Gas;

/// Share of the area that the discs cover.
const PACKING: f64 = 0.5;
/// Slices that are timed, and the collisions of each.
const SLICES: usize = 20;
const COLLISIONS: u64 = 50_000;

/// Measures, and prints a table.
pub(super) fn gas(out: &Out) -> Result<Exit, Failure> {
    let mut text = String::from(
        "| discs | collisions per processor second | best slice | Z (4.107) | collisions per disc and second (7.012) |\n|--:|--:|--:|--:|--:|\n",
    );
    let mut rows = Vec::new();
    for discs in [1_000, 10_000, 100_000, 1_000_000] {
        out.say(&format!("{discs} discs"));
        let mut gas = Gas::new(discs, PACKING, 1);
        gas.run((3 * discs as u64).max(100_000));
        let (start, virial, before) = (gas.seconds(), gas.virial, gas.collisions);
        let (mut best, mut seconds) = (0.0_f64, 0.0);
        for _ in 0..SLICES {
            let (cpu, wall) = (cpu_seconds(), Instant::now());
            gas.run(COLLISIONS);
            let wall_s = wall.elapsed().as_secs_f64();
            let cpu_s = cpu.and_then(|then| Some(cpu_seconds()? - then)).unwrap_or(wall_s).max(1e-9);
            best = best.max(COLLISIONS as f64 / cpu_s);
            seconds += cpu_s;
        }
        let (count, passed) = (gas.count() as f64, gas.seconds() - start);
        let collisions = (gas.collisions - before) as f64;
        let pressure = 1.0 + (gas.virial - virial) / (2.0 * count * passed);
        let (each, rate) = (collisions / seconds, 2.0 * collisions / (count * passed));
        let shown = grouped(count);
        let _ =
            writeln!(text, "| {shown} | {} | {} | {pressure:.3} | {rate:.3} |", grouped(each), grouped(best));
        rows.push(json!({
            "discs": gas.count(), "collisions_per_cpu_s": each, "best_slice": best, "z": pressure, "rate": rate,
        }));
    }
    out.answer("bench-gas", json!({ "rows": rows }), &text)?;
    Ok(Exit::Ok)
}
