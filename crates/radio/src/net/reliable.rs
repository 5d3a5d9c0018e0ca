//! The reliable network: nothing is lost, doubled or overtaken.
//!
//! It is the constant network without flaws. A run's faults (partitions, loss, delay) still count: whoever
//! writes them into a scenario means them.

use super::constant::always;
use super::faulty::{Faulty, Flaws};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Kind, Network, NetworkModel, Param, Sheet, TypeLayout};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("reliable", Kind::Network, "Every message arrives, once, in the order of sending, after a small constant time. Only faults of the run disturb it.")
        .param(Param::number("delay", Unit::Second, "How long a message takes; 0 is allowed.").within(0.0, 1.0e6).or_num(1.0e-3))
        .example("[network]\nclass = \"reliable\"\ndelay = \"1ms\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Network(Arc::new(Reliable { delay_s: p.num("delay") })))
}

/// The reliable network with its parameter.
#[derive(Clone, Debug)]
pub struct Reliable {
    /// How long a message takes.
    pub delay_s: f64,
}

impl NetworkModel for Reliable {
    fn start(&self, robots: u32) -> Box<dyn Network> {
        let flaws = Flaws { fifo: true, ..Flaws::default() };
        Box::new(Faulty::new(always(self.delay_s), robots, flaws))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::StillAir;
    use swarmyard_part_api::NetFault;

    #[test]
    fn messages_arrive_once_and_in_order_even_when_a_delay_ends() {
        let mut network = Reliable { delay_s: 0.0 }.start(2);
        let mut air = StillAir::new(2, 1);
        network.fault(&NetFault::Delay(1.0));
        air.send(&mut *network, 0, &[1], b"first");
        network.fault(&NetFault::Delay(0.0));
        air.send(&mut *network, 0, &[1], b"second");
        air.run(&mut *network, 5.0);
        let serials: Vec<u64> = air.arrived.iter().map(|a| a.serial).collect();
        assert_eq!(serials, [0, 1]);
        assert!(air.arrived.iter().all(|a| a.seconds() == 1.0));
        assert!(air.lost.is_empty());
    }
}
