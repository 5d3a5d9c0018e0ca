//! How a run is spread, for whoever wants to know: counted by the keeper from the reports of its workers.

use crate::message::{Load, Sent};
use crate::staff::Hired;
use crate::world::Given;
use swarmyard_engine::Area;
use swarmyard_fabric::Traffic;
use swarmyard_fabric::gate::Refusals;
use swarmyard_sim::{Statistics, WorkerFigures};

/// How the run is spread now.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// What the workers did so far.
    pub statistics: Statistics,
    /// What went over the keeper's fabric.
    pub traffic: Traffic,
    /// How often the keeper has given away its world: once for every machine.
    pub worlds: Given,
    /// Messages to the keeper, and to workers, that were not let in.
    pub refused: Refusals,
    /// Workers that were given up because they and others did not hear each other.
    pub apart: Vec<u32>,
    /// Which workers were given up because they could not do their part, and why.
    pub unable: Vec<String>,
    /// Which workers keep no checkpoint though they were to, and why.
    pub unkept: Vec<String>,
    /// Places that robots should be at and nobody is.
    pub nowhere: Vec<String>,
    /// What came of the measurements that the first cut was to be made from.
    pub placed: Option<Placed>,
}

/// How much of an earlier run could be used for the first cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Bodies whose cost was known.
    pub known: usize,
    /// Bodies; none in a world that is not divided.
    pub bodies: usize,
}

impl Status {
    /// Somebody was hired.
    pub(super) fn hire(&mut self, number: u32, hired: Option<Hired>) {
        let worker = self.worker(number);
        if let Some(Hired { pid, endpoint, host, .. }) = hired {
            (worker.pid, worker.endpoint, worker.host) = (Some(pid), Some(endpoint), host);
        }
    }

    /// Another run begins: who was hired stays, what was counted goes.
    pub(super) fn count_anew(&mut self) {
        let workers = std::mem::take(&mut self.statistics.workers);
        let anew = |w: WorkerFigures| {
            let WorkerFigures { worker, host, pid, endpoint, .. } = w;
            WorkerFigures { worker, host, pid, endpoint, ..WorkerFigures::default() }
        };
        let lost = std::mem::take(&mut self.statistics.lost);
        let workers = workers.into_iter().filter(|w| !lost.contains(&w.worker)).map(anew).collect();
        self.statistics = Statistics { workers, ..Statistics::default() };
    }

    /// These have a part in the epoch, each with its region of a divided plane.
    pub(super) fn members(&mut self, members: &[u32], regions: Option<Vec<Area>>) {
        for worker in &mut self.statistics.workers {
            (worker.at_work, worker.region) = (false, None);
        }
        for (place, member) in members.iter().enumerate() {
            let region = regions.as_ref().and_then(|r| r.get(place)).map(borders);
            let worker = self.worker(*member);
            (worker.at_work, worker.region) = (true, region);
        }
    }

    /// Adds what a worker reported.
    pub(super) fn add(&mut self, number: u32, load: Load, sent: &[Sent]) {
        crate::worker::add(self.worker(number), load, sent);
        sent.iter().for_each(|s| crate::worker::add_link(&mut self.statistics.links, number, s));
    }

    fn worker(&mut self, number: u32) -> &mut WorkerFigures {
        let all = &mut self.statistics.workers;
        let k = all.partition_point(|w| w.worker < number);
        if all.get(k).is_none_or(|w| w.worker != number) {
            all.insert(k, WorkerFigures { worker: number, ..WorkerFigures::default() });
        }
        &mut all[k]
    }
}

/// The borders of a region: left, lower, right, upper.
fn borders(area: &Area) -> [Option<f64>; 4] {
    [area.min.x, area.min.y, area.max.x, area.max.y].map(|x| x.is_finite().then_some(x))
}
