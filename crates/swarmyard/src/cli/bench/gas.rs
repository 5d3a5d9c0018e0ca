//! `bench --gas`: how many collisions of discs in flight a processor second holds.
//!
//! Gases of hard discs on tori, half of each covered. They run until every disc has collided some times, then they are timed
//! in slices, in turn, so that whatever else the machine does falls on all of them alike; pressure and collision rate stand
//! beside the figures, so that a wrong gas is seen.

use super::{cpu_seconds, grouped};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use serde_json::json;
use std::fmt::Write as _;
use std::time::Instant;
use swarmyard::gas::Gas;

/// Share of the area that the discs cover.
const PACKING: f64 = 0.5;
/// How many discs, and the two that are compared.
const DISCS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const COMPARED: [usize; 2] = [1, 3];
/// Slices that are timed, and the collisions of each.
const SLICES: usize = 20;
const COLLISIONS: u64 = 100_000;

/// A gas with the processor seconds of its slices.
struct Timed {
    gas: Gas,
    start_s: f64,
    virial: f64,
    seconds: Vec<f64>,
}

impl Timed {
    fn new(discs: usize) -> Timed {
        let mut gas = Gas::new(discs, PACKING, 1);
        gas.run((3 * discs as u64).max(100_000));
        let (start_s, virial) = (gas.seconds(), gas.virial);
        Timed { gas, start_s, virial, seconds: Vec::new() }
    }

    fn slice(&mut self) {
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        self.gas.run(COLLISIONS);
        let wall_s = wall.elapsed().as_secs_f64();
        self.seconds.push(cpu.and_then(|then| Some(cpu_seconds()? - then)).unwrap_or(wall_s).max(1e-9));
    }

    /// Collisions per processor second: over all slices, in the middle slice, in the best.
    fn rates(&self) -> [f64; 3] {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let mean = sorted.iter().sum::<f64>() / SLICES as f64;
        [mean, sorted[SLICES / 2], sorted[0]].map(|s| COLLISIONS as f64 / s)
    }

    /// Compressibility, and collisions per disc and second.
    fn physics(&self) -> (f64, f64) {
        let (count, passed) = (self.gas.count() as f64, self.gas.seconds() - self.start_s);
        let collisions = (SLICES as u64 * COLLISIONS) as f64;
        (1.0 + (self.gas.virial - self.virial) / (2.0 * count * passed), 2.0 * collisions / (count * passed))
    }
}

/// Measures, and prints a table.
pub(super) fn gas(out: &Out) -> Result<Exit, Failure> {
    let mut gases = DISCS.map(|discs| {
        out.say(&format!("{discs} discs"));
        Timed::new(discs)
    });
    for slice in 0..SLICES {
        out.say(&format!("slice {} of {SLICES}", slice + 1));
        gases.iter_mut().for_each(Timed::slice);
    }
    let mut text = String::from(
        "| discs | collisions per processor second | middle slice | best slice | Z (4.107) | collisions per disc and second (7.012) |\n|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut rows = Vec::new();
    for timed in &gases {
        let ([mean, middle, best], (z, rate)) = (timed.rates(), timed.physics());
        let [shown, m, mid, b] = [timed.gas.count() as f64, mean, middle, best].map(grouped);
        let _ = writeln!(text, "| {shown} | {m} | {mid} | {b} | {z:.3} | {rate:.3} |");
        rows.push(json!({
            "discs": timed.gas.count(), "collisions_per_cpu_s": mean, "middle_slice": middle, "best_slice": best,
            "z": z, "rate": rate,
        }));
    }
    let [few, many] = COMPARED.map(|k| gases[k].rates());
    let ratios = [0, 1, 2].map(|k| few[k] / many[k]);
    let [all, middle, best] = ratios;
    let _ = writeln!(
        text,
        "\nA collision among {} discs takes {all:.2} times as long as among {} (middle slices {middle:.2}, best {best:.2}).",
        grouped(DISCS[COMPARED[1]] as f64),
        grouped(DISCS[COMPARED[0]] as f64),
    );
    out.answer(
        "bench-gas",
        json!({ "rows": rows, "slower": all, "slower_in_middle_slices": middle }),
        &text,
    )?;
    Ok(Exit::Ok)
}
