//! Who works for a run: sent for, waited for, given up.

use super::office::News;
use super::{Keeper, LOOK_AGAIN};
use crate::message::{KEEPER, Order, write};
use std::time::{Duration, Instant};
use swarmyard_sim::{Crowd as _, Error};

/// How often somebody is looked for again before a run ends that was under way, and has nobody left.
const TRIES: u32 = 2;

impl Keeper {
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
