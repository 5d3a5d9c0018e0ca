//! What a worker has done so far, for who asks.

use super::{HEAVIEST, Worker};
use crate::keeper::costs::Sum;
use crate::message::{Load, Sent};
use std::sync::PoisonError;
use swarmyard_engine::{Paths, Spent};
use swarmyard_sim::{LinkFigures, RobotFigures, WorkerFigures};

impl Worker<'_> {
    /// Takes note of what bodies cost, for who asks.
    pub(super) fn weigh(&mut self, spent: &[(u32, Spent, u32)], paths: &Paths) {
        if spent.is_empty() {
            return;
        }
        self.costs.resize(self.costs.len().max(paths.len()), Sum::default());
        for (body, spent, quanta) in spent {
            if let Some(sum) = self.costs.get_mut(*body as usize) {
                sum.add(*spent, *quanta);
            }
        }
        let heaviest = Sum::heaviest(&self.costs, HEAVIEST).into_iter().filter_map(|(body, sum)| {
            let path = paths.iter().nth(body)?.to_owned();
            let mut robot = RobotFigures { path, worker: self.setup.me, ..RobotFigures::default() };
            sum.write(&mut robot);
            Some(robot)
        });
        let heaviest = heaviest.collect();
        self.figures.lock().unwrap_or_else(PoisonError::into_inner).heaviest = heaviest;
    }
}

/// Adds a step to what a worker has done.
pub(crate) fn add(figures: &mut WorkerFigures, load: Load, sent: &[Sent]) {
    (figures.at_work, figures.bodies, figures.ghosts) = (true, load.own, load.ghosts);
    figures.work_s += f64::from(load.work_us) * 1e-6;
    figures.wait_s += f64::from(load.wait_us) * 1e-6;
    figures.widened += u64::from(load.widened);
    figures.handed_on += u64::from(load.handed_on);
    figures.asked_again += u64::from(load.asked);
    figures.asked_home += u64::from(load.from_home);
    figures.home_s += f64::from(load.home_us) * 1e-6;
    figures.sent += sent.iter().map(|s| u64::from(s.bytes)).sum::<u64>();
}

/// Adds what was sent to what went from one worker to another.
pub(crate) fn add_link(links: &mut Vec<LinkFigures>, from: u32, sent: &Sent) {
    let to = sent.to;
    let k = links.partition_point(|l| (l.from, l.to) < (from, to));
    if links.get(k).is_none_or(|l| (l.from, l.to) != (from, to)) {
        links.insert(k, LinkFigures { from, to, ..LinkFigures::default() });
    }
    links[k].messages += u64::from(sent.messages);
    links[k].bytes += u64::from(sent.bytes);
}
