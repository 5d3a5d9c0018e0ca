//! A simple network for laboratories: delays, loss, duplicates, order. Every random number belongs to one
//! message and receiver.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swarmyard_base::Moment;
use swarmyard_base::chance::Draw;
use swarmyard_part_api::{Air, Loss, Message, Network, NetworkModel, from_bytes, to_bytes};

/// How long a message takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Delay {
    /// Always so many seconds.
    Fixed(f64),
    /// Evenly between two numbers of seconds.
    Uniform(f64, f64),
    /// Exponential with this mean in seconds.
    Exponential(f64),
}

impl Delay {
    fn draw(self, draw: Draw, index: u32) -> f64 {
        match self {
            Delay::Fixed(seconds) => seconds,
            Delay::Uniform(low, high) => draw.between(index, low, high),
            Delay::Exponential(mean) => draw.exponential(index, mean),
        }
    }
}

/// A network with the same wire between any two processes, unless some are slower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wires {
    /// How long a message takes.
    pub delay: Delay,
    /// How likely it is lost.
    pub loss: f64,
    /// How likely it arrives twice.
    pub duplicate: f64,
    /// Whether messages between two processes arrive in the order they were sent.
    pub fifo: bool,
    /// Additional seconds from one process to another: (from, to, seconds).
    pub slow: Vec<(u32, u32, f64)>,
}

impl Wires {
    /// A network that loses nothing and may reorder.
    #[must_use]
    pub fn new(delay: Delay) -> Wires {
        Wires { delay, loss: 0.0, duplicate: 0.0, fifo: false, slow: Vec::new() }
    }

    /// Loses some messages.
    #[must_use]
    pub fn losing(self, loss: f64) -> Wires {
        Wires { loss, ..self }
    }

    /// Doubles some messages.
    #[must_use]
    pub fn doubling(self, duplicate: f64) -> Wires {
        Wires { duplicate, ..self }
    }

    /// Keeps the order between any two processes.
    #[must_use]
    pub fn in_order(self) -> Wires {
        Wires { fifo: true, ..self }
    }

    /// Makes the wire from one process to another slower by some seconds.
    #[must_use]
    pub fn slower(mut self, from: u32, to: u32, seconds: f64) -> Wires {
        self.slow.push((from, to, seconds));
        self
    }
}

impl NetworkModel for Wires {
    fn start(&self, _robots: u32) -> Box<dyn Network> {
        Box::new(At { wires: self.clone(), last: BTreeMap::new() })
    }
}

/// Wires at work.
struct At {
    wires: Wires,
    /// When the last message between two processes arrives; only kept when their order is.
    last: BTreeMap<(u32, u32), Moment>,
}

impl Network for At {
    fn send(&mut self, message: &Message, to: &[u32], air: &mut dyn Air) {
        for &to in to {
            let draw = air.chance(message, to);
            if draw.uniform(0) < self.wires.loss {
                air.lose(message, to, Loss::Chance);
                continue;
            }
            let twice = draw.uniform(1) < self.wires.duplicate;
            let extra: f64 =
                self.wires.slow.iter().filter(|s| s.0 == message.from && s.1 == to).map(|s| s.2).sum();
            for copy in 0..=u32::from(twice) {
                let mut at = air.now().plus(self.wires.delay.draw(draw, 2 + copy) + extra);
                if self.wires.fifo {
                    let last = self.last.entry((message.from, to)).or_default();
                    at = at.max(*last);
                    *last = at;
                }
                air.deliver(message, to, at);
            }
        }
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(&self.last)
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        self.last = from_bytes(image)?;
        Ok(())
    }
}
