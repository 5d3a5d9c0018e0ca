//! Who works for a run: sent for, waited for, given up; and what is told of it.

use super::epoch::Now;
use super::office::News;
use super::{Keeper, LOOK_AGAIN, useful};
use crate::message::{KEEPER, Notice, Order, Signed, write};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use swarmyard_engine::Model;
use swarmyard_fabric::gate::Refused;
use swarmyard_sim::{Crowd as _, Error, Run};

/// How often somebody is looked for again before a run ends that was under way, and has nobody left.
const TRIES: u32 = 2;
/// How many epochs may begin because of losses without a single new step, beside one for each worker.
const FRUITLESS: u32 = 8;

impl Keeper {
    /// Looks after the workers: begins a new epoch when something is wrong with this one.
    pub(super) fn tend(&mut self, now: &Now<'_>) -> Result<(), Error> {
        // Who has no part in this epoch would hear nothing otherwise, and leave.
        self.rest();
        self.learn();
        let Some(epoch) = &self.epoch else {
            let members = self.assemble()?;
            return self.begin(members, now);
        };
        let present = self.present();
        self.came.extend(epoch.members.iter().chain(&present));
        let mut lost: Vec<u32> = self.came.difference(&present).copied().collect();
        let (farther, failed) = self.hear();
        let mut again = farther;
        lost.extend(self.unable(failed)?);
        if let Some(worker) = self.epoch.as_ref().and_then(|e| e.apart.worst(Instant::now())) {
            // Whoever came instead might not hear the others either: the run goes on with one fewer.
            self.plan.workers = self.plan.workers.saturating_sub(1).max(1);
            self.note(|status| status.apart.push(worker));
            self.tell(&format!("worker {worker} and another do not hear each other: it is given up"));
            lost.push(worker);
        }
        lost.sort_unstable();
        lost.dedup();
        again |= self.give_up(&lost, &now.run)?;
        if !lost.is_empty() || Instant::now() > self.look_again {
            // Somebody else comes when there is somebody, and joins at a checkpoint; meanwhile the others go on.
            self.hire();
            self.fence_off();
        }
        let present = self.present();
        let joined =
            !again && self.is_near(now.run.state.stops) && self.somebody_joined(&present, now.run.model);
        let recut = self.recut.at.take_if(|at| *at <= now.run.state.stops).is_some()
            && self.is_near(now.run.state.stops);
        if again || joined || recut {
            let members: Vec<u32> = present.into_iter().collect();
            let members = if members.is_empty() { self.assemble()? } else { members };
            self.begin(members, now)?;
            let why = match (again, joined) {
                (true, _) if lost.is_empty() => "a body went farther than was reckoned",
                (true, _) => "of that loss",
                (false, true) => "somebody joined",
                (false, false) => "work was uneven",
            };
            self.tell_epoch(why);
        }
        Ok(())
    }

    /// Hears what workers say of the present epoch. Answers whether a body went farther than the margins say, and who cannot do its part.
    fn hear(&mut self) -> (bool, Vec<(u32, String)>) {
        let (mut farther, mut failed) = (false, Vec::new());
        while let Ok(Signed { epoch: number, worker, notice }) = self.notices.try_recv() {
            let Some(epoch) = self.epoch.as_mut().filter(|e| e.number == number) else { continue };
            if !epoch.members.contains(&worker) {
                self.door.refuse(Refused::UnknownSender(worker));
                continue;
            }
            match notice {
                Notice::Ready => self.has_begun(&[worker]),
                Notice::Blocked { .. } => {}
                Notice::Misses { number, who } => epoch.apart.misses(worker, number, who, Instant::now()),
                Notice::Farther => {
                    self.margins = self.margins.map(|m| m.wider());
                    farther = true;
                }
                Notice::Failed(why) => failed.push((worker, why)),
            }
        }
        (farther, failed)
    }

    /// Whether there is somebody to work who has no part yet.
    fn somebody_joined(&self, alive: &BTreeSet<u32>, model: &Model) -> bool {
        let Some(epoch) = &self.epoch else { return false };
        let wanted = useful(model).min(self.plan.workers as usize);
        epoch.members.len() < wanted && alive.iter().any(|n| !epoch.members.contains(n))
    }

    /// Sends for as many as are missing; the run goes on meanwhile.
    pub(super) fn hire(&mut self) {
        self.look_again = Instant::now() + LOOK_AGAIN;
        let missing = self.plan.workers.saturating_sub(self.staffed.len() as u32);
        if missing > 0 && !self.office.is_hiring() {
            self.nobody = None;
            self.office.hire(self.next..self.next.saturating_add(missing));
        }
    }

    /// Takes note of who was hired.
    pub(super) fn learn(&mut self) {
        while let Some(news) = self.office.news() {
            match news {
                News::Hired { number, hired, places } => {
                    self.hosts.extend(hired.as_ref().and_then(|h| Some((number, h.host.clone()?))));
                    self.note(|status| status.hire(number, hired));
                    self.staffed.insert(number);
                    self.places.insert(number, places);
                    self.next = number + 1;
                }
                News::Nobody { number, why } => (self.next, self.nobody) = (number + 1, Some(why)),
                // Somebody else may have been lost meanwhile.
                News::HiringDone if self.nobody.is_none() => self.look_again = Instant::now(),
                News::HiringDone | News::Dismissed => {}
            }
        }
    }

    /// These say that they cannot do their part, and why. Others may be able to: what one host forbids another may allow. Answers
    /// who is given up.
    ///
    /// # Errors
    /// Nobody else is left.
    pub(super) fn unable(&mut self, failed: Vec<(u32, String)>) -> Result<Vec<u32>, Error> {
        let Some((first, reason)) = failed.first() else { return Ok(Vec::new()) };
        let numbers: Vec<u32> = failed.iter().map(|f| f.0).collect();
        if self.staffed.iter().all(|worker| numbers.contains(worker)) && !self.office.is_hiring() {
            let epoch = self.epochs;
            let why = format!("worker {first} cannot do its part in epoch {epoch}: {reason}");
            return Err(Error::System(why));
        }
        for (worker, why) in &failed {
            // Whoever came instead might be sent to the same place.
            self.plan.workers = self.plan.workers.saturating_sub(1).max(1);
            let text = format!("{} cannot do its part: {why}", self.named(*worker));
            self.tell(&text);
            self.note(|status| status.unable.push(text));
        }
        Ok(numbers)
    }

    /// These are lost. Answers whether the epoch was theirs.
    ///
    /// # Errors
    /// The run does not come past its checkpoint any more.
    pub(super) fn give_up(&mut self, lost: &[u32], run: &Run<'_>) -> Result<bool, Error> {
        if lost.is_empty() {
            return Ok(false);
        }
        let stop = run.state.stops;
        for number in lost {
            self.tell(&format!("{} is lost at step {stop}", self.named(*number)));
        }
        self.note(|status| status.statistics.lost.extend(lost));
        let again = self.epoch.as_ref().is_some_and(|e| e.members.iter().any(|m| lost.contains(m)));
        for number in lost {
            self.dismiss(*number);
        }
        self.fruitless += u32::from(again);
        if self.fruitless > FRUITLESS + self.plan.workers {
            let (fruitless, from) = (self.fruitless, self.safe.as_ref().map_or(0, |safe| safe.stop()));
            return Err(Error::System(format!(
                "{fruitless} times in a row workers were lost between the checkpoint at step {from} and step {}: something in these steps ends them; look at what they say, and go on from a checkpoint with `swarmyard resume`",
                stop + 1
            )));
        }
        Ok(again)
    }

    /// Tells that an epoch has begun.
    pub(super) fn tell_epoch(&mut self, why: &str) {
        let Some(epoch) = &self.epoch else { return };
        let (number, begun, workers) = (epoch.number, epoch.begun, epoch.members.len());
        let workers = if workers == 1 { "1 worker".to_owned() } else { format!("{workers} workers") };
        self.tell(&format!("epoch {number} begins at step {begun} with {workers}, because {why}"));
    }

    pub(super) fn tell(&mut self, text: &str) {
        if let Some(teller) = &mut self.teller {
            teller(text);
        }
    }

    /// A worker, and where it is.
    fn named(&self, worker: u32) -> String {
        match self.hosts.get(&worker) {
            Some(host) => format!("worker {worker} on host `{host}`"),
            None => format!("worker {worker}"),
        }
    }

    pub(super) fn dismiss(&mut self, number: u32) {
        self.staffed.remove(&number);
        self.came.remove(&number);
        self.places.remove(&number);
        self.hosts.remove(&number);
        self.office.dismiss(number);
    }

    /// Tells those who come back after they were given up that they are not needed.
    pub(super) fn fence_off(&self) {
        let order = write(&Order::End);
        // Who is just being hired may be there before that is known here.
        for number in self.alive().difference(&self.staffed).filter(|n| **n < self.next) {
            // One that does not hear it ends when it has heard nothing for long enough.
            let _ = self.say(*number, &order);
        }
    }

    /// Waits until as many workers are there as are wanted, or as many as come. When the run was under way already, the first
    /// is enough: the others join later.
    pub(super) fn assemble(&mut self) -> Result<Vec<u32>, Error> {
        self.hire();
        let (mut since, mut tries) = (Instant::now(), 0);
        loop {
            self.learn();
            let present = self.present();
            if self.epochs > 0 && !present.is_empty() {
                return Ok(present.into_iter().collect());
            }
            if self.office.is_hiring() {
                since = Instant::now();
            } else if self.staffed.is_empty() && self.epochs > 0 && tries < TRIES {
                // Who was to be connected with others that were just killed could not begin.
                tries += 1;
                self.hire();
            } else if self.staffed.is_empty() {
                let why = self.nobody.take().unwrap_or_else(|| "no worker was hired".to_owned());
                return Err(Error::System(why));
            } else {
                let patient = since.elapsed() < self.plan.patience;
                if present.len() >= self.staffed.len() || (!patient && !present.is_empty()) {
                    return Ok(present.into_iter().collect());
                }
                if !patient {
                    return Err(Error::System("no worker came; look at what the hosts say".to_owned()));
                }
            }
            self.rest();
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Who has the world for one of these: the first of them on its machine, or the keeper for that one.
    pub(super) fn source(&self, member: u32, members: &[u32]) -> u32 {
        let host = self.hosts.get(&member);
        let first = members.iter().find(|m| host.is_some() && self.hosts.get(m) == host);
        first.copied().filter(|first| *first != member).unwrap_or(KEEPER)
    }
}
