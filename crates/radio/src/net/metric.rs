//! The metric network: processors and one shared network take their time, and messages queue for them.
//!
//! The contention-aware model of Urbán, Défago and Schiper: a message needs its sender's processor for λ, then the
//! network, of which there is one, for 1, then the receiver's processor for λ, in units of `unit`. Each of them
//! serves one message after the other, in the order they came. Sending and receiving share a processor.
//!
//! A message for many robots is one message on the sender's processor and on the network when `multicast`, and one
//! for each receiver, in the order given, when not.

use super::faulty::{self, Faulty, Flaws};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Air, Built, Class, Kind, Loss, Message, Network, NetworkModel, Param, ParamType, Sheet, TypeLayout,
    from_bytes, to_bytes,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    faulty::with_flaws(
        Sheet::new("metric", Kind::Network, "Contention for processors and for one shared network: a message takes `lambda` units on the sender's processor, 1 unit on the network, `lambda` units on the receiver's processor, and queues for each of them. Alone it takes 2 `lambda` + 1 units.")
            .param(Param::number("lambda", Unit::None, "Time on a processor, in units.").within(0.0, 1.0e6).or_num(1.0))
            .param(Param::number("unit", Unit::Second, "Time on the network: the unit.").within(1.0e-9, 1.0e6).or_num(1.0e-3))
            .param(Param::new("multicast", ParamType::Bool, "Whether a message to many robots takes sender and network once, or once for each of them.").or(Value::Bool(false)))
            .param(Param::new("queue", ParamType::Int { min: 1, max: 100_000_000 }, "Messages that may wait for a processor or for the network; more are lost.").or(Value::Int(1_000_000))),
    )
    .example("[network]\nclass = \"metric\"\nlambda = 0.5\nunit = \"1ms\"\nmulticast = true")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Network(Arc::new(Metric {
        lambda: p.num("lambda"),
        unit_s: p.num("unit"),
        multicast: p.bool("multicast"),
        queue: p.int("queue") as u64,
        flaws: Flaws::from_params(p)?,
    })))
}

/// The metric network with its parameters.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Time on a processor, in units.
    pub lambda: f64,
    /// The unit: time on the network.
    pub unit_s: f64,
    /// Whether a message to many takes sender and network once.
    pub multicast: bool,
    /// How many may wait for each processor and for the network.
    pub queue: u64,
    /// What else happens to messages.
    pub flaws: Flaws,
}

impl Default for Metric {
    fn default() -> Metric {
        Metric { lambda: 1.0, unit_s: 1.0e-3, multicast: false, queue: 1_000_000, flaws: Flaws::default() }
    }
}

impl NetworkModel for Metric {
    fn start(&self, robots: u32) -> Box<dyn Network> {
        let servers = vec![VecDeque::new(); robots as usize + 1];
        let flaws = self.flaws.clone();
        Box::new(Faulty::new(Box::new(Running { model: self.clone(), servers }), robots, flaws))
    }
}

/// The number of the network among the servers; that of robot k's processor is k + 1.
const NETWORK: usize = 0;

struct Running {
    model: Metric,
    /// What each server has to do; the first is being done.
    servers: Vec<VecDeque<Job>>,
}

/// A message at one of its stages: still to send, or received by its only receiver.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Job {
    message: Message,
    to: Vec<u32>,
    received: bool,
}

impl Running {
    /// A job comes to a server. The token of its end is the server's number.
    fn queue(&mut self, server: usize, job: Job, air: &mut dyn Air) {
        let Some(queue) = self.servers.get_mut(server) else { return };
        if queue.len() as u64 > self.model.queue {
            for to in &job.to {
                air.lose(&job.message, *to, Loss::Full);
            }
            return;
        }
        queue.push_back(job);
        if queue.len() == 1 {
            self.serve(server, air);
        }
    }

    fn serve(&self, server: usize, air: &mut dyn Air) {
        let units = if server == NETWORK { 1.0 } else { self.model.lambda };
        air.wake(air.now().plus(units * self.model.unit_s), server as u64);
    }
}

impl Network for Running {
    fn send(&mut self, message: &Message, to: &[u32], air: &mut dyn Air) {
        let server = message.from as usize + 1;
        let copies = if self.model.multicast { to.len().max(1) } else { 1 };
        for some in to.chunks(copies) {
            let job = Job { message: message.clone(), to: some.to_vec(), received: false };
            self.queue(server, job, air);
        }
    }

    fn wake(&mut self, token: u64, air: &mut dyn Air) {
        let server = token as usize;
        let Some(queue) = self.servers.get_mut(server) else { return };
        let Some(job) = queue.pop_front() else { return };
        if !queue.is_empty() {
            self.serve(server, air);
        }
        if job.received {
            for to in &job.to {
                air.deliver(&job.message, *to, air.now());
            }
        } else if server == NETWORK {
            for to in &job.to {
                let job = Job { message: job.message.clone(), to: vec![*to], received: true };
                self.queue(*to as usize + 1, job, air);
            }
        } else {
            self.queue(NETWORK, job, air);
        }
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(&self.servers)
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        let servers: Vec<VecDeque<Job>> = from_bytes(image)?;
        if servers.len() != self.servers.len() {
            return Err("the memory is of a network with another number of robots".to_owned());
        }
        self.servers = servers;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::StillAir;

    #[test]
    fn sending_and_receiving_share_a_processor() {
        // Both send at 0; each processor is free again at 2, when it takes the first that has come: at 3 and 4.
        let mut network = Metric { lambda: 2.0, unit_s: 1.0, ..Metric::default() }.start(2);
        let mut air = StillAir::new(2, 1);
        air.send(&mut *network, 0, &[1], b"a");
        air.send(&mut *network, 1, &[0], b"b");
        air.run(&mut *network, 100.0);
        let times: Vec<(f64, u64)> = air.arrived.iter().map(|a| (a.seconds(), a.serial)).collect();
        assert_eq!(times, [(5.0, 0), (6.0, 1)]);
    }

    #[test]
    fn a_full_queue_loses_what_comes_too_much() {
        let mut network = Metric { unit_s: 1.0, queue: 2, ..Metric::default() }.start(2);
        let mut air = StillAir::new(2, 1);
        for _ in 0..5 {
            air.send(&mut *network, 0, &[1], b"x");
        }
        air.run(&mut *network, 100.0);
        // One is being served and two wait.
        assert_eq!((air.arrivals, air.losses), (3, 2));
        assert!(air.lost.iter().all(|l| l.why == Loss::Full));
    }
}
