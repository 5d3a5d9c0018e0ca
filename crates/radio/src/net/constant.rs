//! The constant network: every message takes the same time.

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
        Sheet::new(
            "constant",
            Kind::Network,
            "Every message takes the same time to every robot, wherever it is.",
        )
        .param(
            Param::number("delay", Unit::Second, "How long a message takes.")
                .within(0.0, 1.0e6)
                .or_num(1.0e-3),
        ),
    )
    .example("[network]\nclass = \"constant\"\ndelay = \"5ms\"\nloss = 0.01")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Network(Arc::new(Constant { delay_s: p.num("delay"), flaws: Flaws::from_params(p)? })))
}

/// The constant network with its parameters.
#[derive(Clone, Debug, Default)]
pub struct Constant {
    /// How long a message takes.
    pub delay_s: f64,
    /// What else happens to messages.
    pub flaws: Flaws,
}

impl NetworkModel for Constant {
    fn start(&self, robots: u32) -> Box<dyn Network> {
        Box::new(Faulty::new(always(self.delay_s), robots, self.flaws.clone()))
    }
}

/// A network on which every message takes so long.
pub(super) fn always(delay_s: f64) -> Box<dyn Network> {
    Box::new(Prompt(move |_: &dyn Air, _: &Message, _| delay_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::StillAir;

    #[test]
    fn every_message_takes_the_delay_to_every_receiver() {
        let mut network = Constant { delay_s: 0.25, ..Constant::default() }.start(3);
        let mut air = StillAir::new(3, 1);
        for k in 0..4_u8 {
            air.run(&mut *network, f64::from(k));
            air.send(&mut *network, 0, &[1, 2], &[k]);
        }
        air.run(&mut *network, 10.0);
        let times: Vec<(f64, u32)> = air.arrived.iter().map(|a| (a.seconds(), a.to)).collect();
        let expected: Vec<(f64, u32)> =
            (0..4).flat_map(|k| [1, 2].map(|to| (f64::from(k) + 0.25, to))).collect();
        assert_eq!(times, expected);
    }
}
