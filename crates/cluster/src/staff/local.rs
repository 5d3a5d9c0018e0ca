//! Workers as processes of this machine.

use super::{Hired, Job, Launch, Process, Tell};
use crate::Staff;
use std::collections::BTreeMap;

/// Starts worker processes here, one after another.
pub struct Processes {
    launch: Launch,
    /// What each is for; the number and the addresses are filled in.
    job: Job,
    workers: BTreeMap<u32, Process>,
    tell: Tell,
}

impl Processes {
    /// Workers for a run. `job.connect` has the addresses of its keeper.
    #[must_use]
    pub fn new(launch: Launch, job: Job, tell: Tell) -> Processes {
        Processes { launch, job, workers: BTreeMap::new(), tell }
    }
}

impl Staff for Processes {
    fn hire(&mut self, number: u32) -> Result<(), String> {
        // Nobody can be connected to one that has ended.
        self.workers.retain(|_, process| process.is_there());
        let mut job = Job { number, ..self.job.clone() };
        job.connect.extend(self.workers.values().map(|w| w.endpoint.clone()));
        let process = self.launch.start(&job)?;
        let endpoint = process.endpoint.clone();
        (self.tell)(&Hired { worker: number, pid: process.pid, endpoint, host: None });
        self.workers.insert(number, process);
        Ok(())
    }

    fn hired(&self, number: u32) -> Option<Hired> {
        let process = self.workers.get(&number)?;
        Some(Hired { worker: number, pid: process.pid, endpoint: process.endpoint.clone(), host: None })
    }

    fn dismiss(&mut self, number: u32) {
        self.workers.remove(&number);
    }
}
