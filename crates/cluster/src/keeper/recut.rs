//! Whether the plane is cut anew, and when.
//!
//! In: at every checkpoint, how long each worker was at work since the last one, and what the greatest load would be with another
//! cut. Out: whether that is worth it. Where one robot has more to do than all others together, no cut helps: then
//! nothing is done, and it is thought of less and less often.

use super::Keeper;
use super::safe::{Safe, Stays};
use std::collections::BTreeSet;
use swarmyard_base::math;
use swarmyard_engine::{Cut, Model};

/// Work is uneven when one has this part more to do than the mean: a quarter.
const UNEVEN: u64 = 4;
/// Less work than this since the last checkpoint says nothing, in microseconds.
const LEAST_US: u64 = 50_000;
/// What another cut must take off the greatest load.
const WORTH: f64 = 0.1;
/// Checkpoints after which it is thought of again, at most.
const LONGEST: u32 = 64;

/// When the plane is cut anew.
pub(super) struct Recut {
    /// The stop at which it is, when it was decided: workers go no farther.
    pub(super) at: Option<u64>,
    /// Checkpoints that pass before it is thought of again.
    rest: u32,
    /// How many that will be the next time.
    pause: u32,
}

impl Keeper {
    /// How the plane is cut for these workers, and which places that robots belong to nobody is at.
    pub(super) fn cut(&self, safe: &Safe, members: &[u32], model: &Model) -> (Cut, Vec<String>) {
        let (workers, mut nowhere) = (members.len() as u32, BTreeSet::new());
        let mut on = |place: &str| {
            let is_there =
                |m: &u32| self.places.get(m).is_some_and(|all| all.iter().any(|word| word == place));
            let there: Vec<u32> = (0..).zip(members).filter(|(_, m)| is_there(m)).map(|(k, _)| k).collect();
            if there.is_empty() {
                nowhere.insert(place.to_owned());
            }
            there
        };
        let cut = safe.cut(model, workers, self.plan.how, &mut on);
        (cut, nowhere.into_iter().collect())
    }

    /// What stays where it is when the plane is cut anew for these: native programs, as far as it is known where they run.
    fn stays(&self, members: &[u32], model: &Model) -> Stays {
        let mut stays = Stays::new();
        for home in &self.homes.1 {
            let place = members.iter().position(|m| *m == home.worker);
            if let (Some(body), Some(place)) = (model.slot_of(home.robot), place) {
                stays.insert(body as u32, (place as u32, self.costs.think_us(body)));
            }
        }
        stays
    }

    /// Sees whether work was even, decides when to cut anew if it was not, and begins to count anew.
    pub(super) fn at_checkpoint(&mut self, model: &Model) {
        let mut recut = std::mem::take(&mut self.recut);
        if let (Some(epoch), Some(safe)) = (&self.epoch, &self.safe)
            && epoch.divided
            && epoch.begun < epoch.reached
            && recut.at.is_none()
        {
            // What a native program takes is taken where it runs: no cut changes that.
            let stays = self.stays(&epoch.members, model);
            let greatest = |cut: &Cut| safe.loads(cut, &stays).into_iter().fold(0.0, math::max);
            let loads = || (greatest(&epoch.cut), greatest(&self.cut(safe, &epoch.members, model).0));
            if recut.is_worth_it(epoch.work.values().copied(), loads) {
                // Programs outside would be led through their past if workers had gone on: then it is announced.
                let is_announced = model.asks_outside() && epoch.granted > epoch.reached;
                // Here is a checkpoint now; later there is one at every so many stops.
                let later = || epoch.granted.next_multiple_of(self.plan.keep_every.max(1));
                recut.at = Some(if is_announced { later() } else { epoch.reached });
            }
        }
        self.recut = recut;
        self.measure();
    }
}

impl Default for Recut {
    fn default() -> Recut {
        Recut { at: None, rest: 0, pause: 1 }
    }
}

impl Recut {
    /// Whether another cut is worth it at a checkpoint. `work` has microseconds at work since the last one; `greatest` answers the
    /// greatest load now, and with another cut.
    pub(super) fn is_worth_it(
        &mut self,
        work: impl Iterator<Item = u64> + Clone,
        greatest: impl FnOnce() -> (f64, f64),
    ) -> bool {
        if !is_uneven(work) {
            (self.rest, self.pause) = (0, (self.pause / 2).max(1));
            return false;
        }
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        // Whatever comes of it: when work is still uneven after that, the next time is later.
        (self.rest, self.pause) = (self.pause, (2 * self.pause).min(LONGEST));
        let (now, then) = greatest();
        then < now * (1.0 - WORTH)
    }
}

/// Whether some had much more to do than others.
fn is_uneven(work: impl Iterator<Item = u64> + Clone) -> bool {
    let mean = work.clone().sum::<u64>() / work.clone().count().max(1) as u64;
    mean > LEAST_US && work.max().is_some_and(|most| most > mean + mean / UNEVEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNEVEN: [u64; 2] = [100_000, 900_000];
    const EVEN: [u64; 2] = [500_000, 510_000];

    /// At which of so many checkpoints it is worth it.
    fn cuts(recut: &mut Recut, work: [u64; 2], (now, then): (f64, f64), checkpoints: u32) -> Vec<u32> {
        let is_one = |_: &u32| recut.is_worth_it(work.into_iter(), || (now, then));
        (0..checkpoints).filter(is_one).collect()
    }

    #[test]
    fn a_cut_that_takes_nothing_off_the_greatest_load_is_not_made() {
        assert!(cuts(&mut Recut::default(), UNEVEN, (10.0, 10.0), 100).is_empty());
        assert!(cuts(&mut Recut::default(), UNEVEN, (10.0, 9.1), 100).is_empty());
        assert_eq!(cuts(&mut Recut::default(), UNEVEN, (10.0, 8.9), 1), [0]);
    }

    #[test]
    fn what_promises_much_and_keeps_nothing_is_tried_less_and_less_often() {
        let mut recut = Recut::default();
        assert_eq!(cuts(&mut recut, UNEVEN, (10.0, 1.0), 100), [0, 2, 5, 10, 19, 36, 69]);
        assert!(cuts(&mut recut, EVEN, (10.0, 1.0), 10).is_empty());
        assert_eq!(cuts(&mut recut, UNEVEN, (10.0, 1.0), 3), [0, 2], "it went well for a while");
    }

    #[test]
    fn little_work_says_nothing() {
        assert!(cuts(&mut Recut::default(), [10, 90_000], (10.0, 1.0), 10).is_empty());
        assert!(!Recut::default().is_worth_it(std::iter::empty(), || (1.0, 0.0)));
    }
}
