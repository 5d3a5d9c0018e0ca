//! Networks: when, and whether, a message arrives.
//!
//! In: messages that robots hand over, and moments a network asked to be woken at.
//! Out: for every receiver of every message one or more arrivals, or a loss with its reason.
//!
//! One class, one file. Every class is wrapped in [`Faulty`] when it starts, which adds what all of them can do:
//! lose, double and delay messages, keep them in order, and fall apart into partitions. Never does a network look
//! at a clock or keep a generator of random numbers: chance comes from [`Air::chance`] under the indices below.
//!
//! [`Air::chance`]: swarmyard_part_api::Air::chance

mod constant;
pub mod faulty;
mod metric;
mod prompt;
pub mod radio;
mod random;
mod reliable;
pub mod still_air;
mod uniform;

pub use constant::Constant;
pub use faulty::{Faulty, Flaws};
pub use metric::Metric;
pub use radio::Radio;
pub use random::Random;
pub use reliable::Reliable;
pub use still_air::StillAir;
pub use uniform::Uniform;

use swarmyard_part_api::Registry;

/// What the draws of one message and receiver are for: places in the address of chance.
mod draws {
    /// The delay.
    pub(super) const DELAY: u32 = 0;
    /// The wait before another attempt; one for each attempt, of the sender itself.
    pub(super) const BACKOFF: u32 = 0x1_0000;
    /// Loss, burst and duplication.
    pub(super) const FLAWS: u32 = 0x2_0000;
    /// Fading; [`FADINGS`] for each attempt to send.
    pub(super) const FADING: u32 = 0x1000_0000;
    /// More than the rejections of one draw of fading take.
    pub(super) const FADINGS: u32 = 0x1000;
}

/// Registers every network.
pub fn register(registry: &mut Registry) {
    registry.add(constant::class());
    registry.add(metric::class());
    registry.add(radio::class());
    registry.add(random::class());
    registry.add(reliable::class());
    registry.add(uniform::class());
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::Diagnostics;
    use swarmyard_part_api::{Built, Kind, Outline, RegisterMap, TypeLayout};
    use swarmyard_scene::Params;

    #[test]
    fn every_network_has_an_example_and_says_what_its_parameters_mean() {
        let mut registry = Registry::new();
        register(&mut registry);
        let networks: Vec<_> = registry.sheets().filter(|s| s.kind == Kind::Network).collect();
        let names: Vec<_> = networks.iter().map(|s| s.class).collect();
        assert_eq!(names, ["constant", "metric", "radio", "random", "reliable", "uniform"]);
        for sheet in networks {
            assert!(sheet.example.starts_with("[network]\nclass = "), "`{}`", sheet.class);
            for param in &sheet.params {
                assert!(!param.summary.is_empty());
                if let Some(value) = &param.default {
                    assert!(param.check(value).is_ok(), "default of `{}` of `{}`", param.name, sheet.class);
                }
            }
        }
    }

    #[test]
    fn every_network_is_built_from_its_defaults_and_its_example_uses_its_parameters() {
        let mut registry = Registry::new();
        register(&mut registry);
        let (outline, registers) = (Outline::disc(0.1), RegisterMap::default());
        let layout = TypeLayout { outline: &outline, parts: &[], registers: &registers, name: "" };
        for name in ["constant", "metric", "radio", "random", "reliable", "uniform"] {
            let class = registry.of_kind(name, &[Kind::Network]).unwrap();
            let (mut params, mut problems) = (Params::default(), Diagnostics::default());
            class.sheet.complete(&mut params, "network", None, &mut problems);
            assert!(!problems.has_errors(), "{name}");
            let Ok(Built::Network(model)) = class.build.as_ref().unwrap()(&params, &layout) else {
                panic!("`{name}` is not built as a network")
            };
            let (mut network, mut air) = (model.start(2), StillAir::new(2, 1));
            air.send(&mut *network, 0, &[1], b"x");
            air.run(&mut *network, 100.0);
            assert_eq!((air.arrivals, air.losses), (1, 0), "{name}");
            for line in class.sheet.example.lines().skip(1) {
                let key = line.split(" = ").next().unwrap();
                assert!(key == "class" || class.sheet.params.iter().any(|p| p.name == key), "{name}: {key}");
            }
        }
    }
}
