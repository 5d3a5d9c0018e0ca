//! A random number generator as a peripheral: every read of its port gives another number.

use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::hash::mix64;
use swarmyard_part_api::{
    Built, Class, Kind, Layout, Port, PortChannel, SenseRows, Sensor, Sheet, TypeLayout, World,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

const VALUE: (&str, &str) =
    ("value", "A fresh random number at every read, as wide as the register. Writing does nothing.");

fn sheet() -> Sheet {
    Sheet::new("dice", Kind::Sensor, "A hardware random number generator, for controllers that need chance. Its register is a port: each read in a quantum gives another number. Numbers come from the run's seed, so runs repeat exactly.")
        .port(VALUE.0, VALUE.1)
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"dice\"\nclass = \"dice\"\n\n[[type.demo.register]]\npart = \"dice\"\nchannel = \"value\"\nat = 0x40\nwidth = 32")
}

fn build(_: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Sensor(Box::new(Dice)))
}

struct Dice;

/// Places in the private state: three pieces of this quantum's seed, and the reads since.
const SEED: usize = 3;
const READS: usize = 3;

impl Sensor for Dice {
    fn layout(&self) -> Layout {
        Layout { state: vec![0.0; SEED + 1], ..Layout::default() }
    }

    fn reach(&self) -> f64 {
        0.0
    }

    fn ports(&self) -> Vec<PortChannel> {
        vec![PortChannel { name: VALUE.0, summary: VALUE.1, port: Arc::new(Value) }]
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        for row in 0..rows.len {
            let uid = world.bodies.uid[rows.first_slot + row];
            let block = Draw::at(world.seed, uid, Purpose::Dice, world.now, 0).block(0);
            let state = rows.next_state.row(row);
            for k in 0..SEED {
                state[k] = f64::from(block[k]);
            }
            state[READS] = 0.0;
        }
    }
}

struct Value;

impl Port for Value {
    fn read(&self, state: &mut [f64]) -> u32 {
        let mut h = state[READS] as u64;
        for piece in &state[..SEED] {
            h = mix64(h ^ *piece as u64).rotate_left(21);
        }
        state[READS] += 1.0;
        (mix64(h) >> 32) as u32
    }

    fn write(&self, _: &mut [f64], _: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_differ_and_are_spread_evenly() {
        let mut state = vec![1.0, 2.0, 3.0, 0.0];
        let draws: Vec<u32> = (0..40_000).map(|_| Value.read(&mut state)).collect();
        assert_eq!(state[READS], 40_000.0);
        let mut faces = [0_i32; 16];
        draws.iter().for_each(|d| faces[(d >> 28) as usize] += 1);
        // 2500 expected in each of 16; chi squared with 15 degrees is below 37.7 in 999 of 1000.
        let chi: f64 = faces.iter().map(|n| f64::from((n - 2500) * (n - 2500)) / 2500.0).sum();
        assert!(chi < 37.7, "{chi}");
    }
}
