//! The random network: delays are exponential, so messages overtake each other.

use super::draws;
use super::faulty::{self, Faulty, Flaws};
use super::prompt::Prompt;
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Air, Built, Class, Kind, Message, Network, NetworkModel, Param, Sheet, TypeLayout};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    faulty::with_flaws(
        Sheet::new("random", Kind::Network, "Each copy of a message takes an exponentially distributed time of its own, so messages overtake each other (unless `fifo`).")
            .param(Param::number("mean", Unit::Second, "Mean delay.").within(0.0, 1.0e6).or_num(1.0e-2))
            .param(Param::number("least", Unit::Second, "Added to every delay.").within(0.0, 1.0e6).or_num(0.0)),
    )
    .example("[network]\nclass = \"random\"\nmean = \"10ms\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let (mean_s, least_s) = (p.num("mean"), p.num("least"));
    Ok(Built::Network(Arc::new(Random { mean_s, least_s, flaws: Flaws::from_params(p)? })))
}

/// The random network with its parameters.
#[derive(Clone, Debug, Default)]
pub struct Random {
    /// Mean of the exponential part of a delay.
    pub mean_s: f64,
    /// Added to every delay.
    pub least_s: f64,
    /// What else happens to messages.
    pub flaws: Flaws,
}

impl NetworkModel for Random {
    fn start(&self, robots: u32) -> Box<dyn Network> {
        let (mean_s, least_s) = (self.mean_s, self.least_s);
        let delay_s = move |air: &dyn Air, message: &Message, to| {
            least_s + air.chance(message, to).exponential(draws::DELAY, mean_s)
        };
        Box::new(Faulty::new(Box::new(Prompt(delay_s)), robots, self.flaws.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::StillAir;

    /// Arrival times of messages that all start at 0.
    fn delays(model: &Random, run_seed: u64) -> Vec<f64> {
        let mut network = model.start(2);
        let mut air = StillAir::new(2, run_seed);
        for _ in 0..100 {
            air.send(&mut *network, 0, &[1], b"x");
        }
        air.run(&mut *network, 1.0e6);
        air.arrived.sort_by_key(|a| a.serial);
        air.arrived.iter().map(super::super::still_air::Arrival::seconds).collect()
    }

    #[test]
    fn delays_follow_the_runs_seed_unless_the_network_has_one_of_its_own() {
        let model = Random { mean_s: 1.0, least_s: 0.5, ..Random::default() };
        assert_eq!(delays(&model, 1), delays(&model, 1));
        assert_ne!(delays(&model, 1), delays(&model, 2));
        let own = |seed| Random { flaws: Flaws { seed: Some(seed), ..Flaws::default() }, ..model.clone() };
        assert_eq!(delays(&own(7), 1), delays(&own(7), 2));
        assert_ne!(delays(&own(7), 1), delays(&own(8), 1));
        assert!(delays(&model, 1).iter().all(|d| *d >= 0.5));
    }

    #[test]
    fn messages_overtake_each_other_only_without_fifo() {
        let in_order = |model: &Random| delays(model, 3).windows(2).all(|w| w[0] <= w[1]);
        let model = Random { mean_s: 1.0, ..Random::default() };
        assert!(!in_order(&model));
        assert!(in_order(&Random { flaws: Flaws { fifo: true, ..Flaws::default() }, ..model }));
    }
}
