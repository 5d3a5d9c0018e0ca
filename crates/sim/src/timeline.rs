//! Looking at a run as it was at any earlier stop, and going on from there.
//!
//! In: the live run, after every step. Out: views of it at earlier stops, each made from the nearest
//! keyframe by stepping on with the live run's journal; and a view made the live run, as a branch.
//!
//! Keyframes stay within a budget of bytes: older ones are thinned out. A view never disturbs the live
//! run, starts no native program and takes no input. Nothing here reads a clock.

use crate::sim::{Error, Sim};
use std::ops::Deref;
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_engine::{Frame, Kept, Model};

/// Fewest stops between two keyframes: a view that needs so few steps is made in a tenth of a second
/// even of ten thousand robots.
const LEAST_GAP: u64 = 5;
/// Most stops between a keyframe and the next, as long as the budget allows it.
const MOST_GAP: u64 = 200;
/// Keeping may take so small a part of the time that stepping takes: a tenth.
const SHARE: u64 = 10;
/// When fewer keyframes than this fit the budget, they are taken more seldom: each would soon be
/// thinned out for the next.
const PLENTY: usize = 16;
/// Most keyframes, however small they are: each new one looks through all of them when one has to go.
const MOST: usize = 1_000;

/// Keyframes of a live run.
pub struct Timeline {
    budget: usize,
    /// By stop.
    keyframes: Vec<Keyframe>,
    /// Bytes of all keyframes.
    bytes: usize,
    /// The stop that is due next.
    due: u64,
    /// Grows whenever the run takes another branch: older views are of another run then.
    branch: u64,
}

struct Keyframe {
    model: Arc<Model>,
    kept: Kept,
}

/// A live run as it was at an earlier stop. Everything can be read as from a [`Sim`], but nothing can be
/// told to it: make it the live run first, by [`Timeline::branch`].
pub struct View {
    sim: Sim,
    branch: u64,
    /// The live run stood here when the view last heard of it.
    until: u64,
}

impl Deref for View {
    type Target = Sim;

    fn deref(&self) -> &Sim {
        &self.sim
    }
}

impl View {
    /// Steps on as the live run did.
    ///
    /// # Errors
    /// When the view has come to where the live run stood when [`Timeline::view`] or
    /// [`Timeline::seek`] was last called.
    pub fn step(&mut self) -> Result<Frame, Error> {
        // Beyond, nobody answers for native programs, and they would be started.
        if self.sim.state().stops >= self.until {
            let what = format!("the live run was not known to go on after stop `{}`", self.until);
            let help = "ask the timeline to go on, or branch the run here";
            return Err(Error::Wrong(Diagnostic::error("end-of-view", what).help(help)));
        }
        self.sim.step()
    }
}

impl Timeline {
    /// A budget for most: 70 keyframes of 10 000 robots with 12 rays, which take 3.8 MB each and a
    /// seventh of a step's time, or 1 000 of 700 robots.
    pub const BUDGET: usize = 256 << 20;

    /// No keyframes yet. What is kept takes at most `budget` bytes, the first keyframe alone excepted.
    #[must_use]
    pub fn new(budget: usize) -> Timeline {
        Timeline { budget, keyframes: Vec::new(), bytes: 0, due: 0, branch: 0 }
    }

    /// Takes a keyframe of the live run, when one is due. Call it before the first step and after each. Of a run
    /// that others take the steps of, it waits for a stop of which everything is at hand.
    pub fn keep(&mut self, live: &mut Sim) {
        if !self.keyframes.is_empty() && live.state().stops < self.due {
            return;
        }
        // When it cannot be brought home, the next step says why.
        if !live.is_near() || live.gather().is_err() {
            return;
        }
        let kept = live.keep();
        self.due = kept.stop() + gap(&kept, self.budget);
        self.bytes += kept.bytes();
        self.keyframes.push(Keyframe { model: Arc::clone(live.model()), kept });
        while self.bytes > self.budget || self.keyframes.len() > MOST {
            let stops: Vec<u64> = self.stops().collect();
            let Some(k) = superfluous(&stops) else { break };
            self.bytes -= self.keyframes.remove(k).kept.bytes();
        }
    }

    /// The live run as it was at `stop`.
    ///
    /// # Errors
    /// When the live run has not come there, or there is no keyframe before it.
    pub fn view(&self, live: &Sim, stop: u64) -> Result<View, Error> {
        let now = live.state().stops;
        let nearest = self.keyframe(stop).filter(|_| stop <= now).ok_or_else(|| self.no_stop(live, stop))?;
        let sim = live.replay_from(&nearest.model, &nearest.kept)?;
        let mut view = View { sim, branch: self.branch, until: now };
        view.step_to(stop)?;
        Ok(view)
    }

    /// Brings a view to another stop: by stepping on, unless a keyframe is much nearer.
    ///
    /// # Errors
    /// As [`Timeline::view`].
    pub fn seek(&self, live: &Sim, view: &mut View, stop: u64) -> Result<(), Error> {
        let (here, now) = (view.state().stops, live.state().stops);
        // What a keyframe takes to come back from is worth some steps.
        let spared = |k: &Keyframe| k.kept.stop().saturating_sub(here) > gap(&k.kept, usize::MAX);
        let anew = view.branch != self.branch || stop < here || self.keyframe(stop).is_none_or(spared);
        if anew || stop > now {
            *view = self.view(live, stop)?;
            return Ok(());
        }
        view.sim.catch_up(live);
        view.until = now;
        view.step_to(stop)
    }

    /// Makes a view the live run, from its stop on: inputs after it and keyframes after it are
    /// forgotten. Native programs are ended, and run again through their past when they are asked next.
    ///
    /// # Errors
    /// When the run has taken another branch since the view was made; the live run stays then.
    pub fn branch(&mut self, live: &mut Sim, mut view: View) -> Result<(), Error> {
        if view.branch != self.branch {
            let what = "the run has taken another branch since the view was made";
            return Err(Error::Wrong(Diagnostic::error("old-view", what).help("ask for a new view")));
        }
        view.sim.catch_up(live);
        view.sim.go_live();
        view.sim.take_crowd(live);
        self.cut(view.sim.state().stops);
        *live = view.sim;
        Ok(())
    }

    /// Forgets keyframes after `stop`: the live run has gone back there by itself. Views made before are
    /// of another run now.
    pub fn cut(&mut self, stop: u64) {
        self.branch += 1;
        self.keyframes.retain(|k| k.kept.stop() <= stop);
        self.bytes = self.keyframes.iter().map(|k| k.kept.bytes()).sum();
        self.due = self.keyframes.last().map_or(0, |k| k.kept.stop() + gap(&k.kept, self.budget));
    }

    /// The stop of the nearest keyframe at or before `stop`: from there a view has to be stepped on.
    #[must_use]
    pub fn nearest(&self, stop: u64) -> Option<u64> {
        self.keyframe(stop).map(|k| k.kept.stop())
    }

    /// The stops of all keyframes.
    pub fn stops(&self) -> impl Iterator<Item = u64> {
        self.keyframes.iter().map(|k| k.kept.stop())
    }

    /// Bytes that all keyframes take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn keyframe(&self, stop: u64) -> Option<&Keyframe> {
        let after = self.keyframes.partition_point(|k| k.kept.stop() <= stop);
        after.checked_sub(1).map(|k| &self.keyframes[k])
    }

    fn no_stop(&self, live: &Sim, stop: u64) -> Error {
        let what = format!("the run cannot be looked at, at stop `{stop}`");
        let d = Diagnostic::error("no-stop", what);
        Error::Wrong(match self.keyframes.first() {
            Some(first) => {
                d.help(format!("it can from stop {} to {}", first.kept.stop(), live.state().stops))
            }
            None => d.help("nothing was kept of it"),
        })
    }
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline::new(Timeline::BUDGET)
    }
}

impl View {
    fn step_to(&mut self, stop: u64) -> Result<(), Error> {
        while self.sim.state().stops < stop {
            self.step()?;
        }
        Ok(())
    }
}

/// Stops until the next keyframe is due, after this one.
fn gap(kept: &Kept, budget: usize) -> u64 {
    let by_cost = kept.in_steps(SHARE).clamp(LEAST_GAP, MOST_GAP);
    let fitting = (budget / kept.bytes().max(1)).clamp(1, PLENTY);
    by_cost * (PLENTY / fitting) as u64
}

/// Which keyframe to do without: never the first. The last stays as long as there are others between;
/// `None` when the first is alone.
///
/// It is the one whose loss leaves the smallest gap for its age, counted as the square of the gap over
/// the age. So gaps come to grow as the root of the age: near the present they are far smaller than
/// even ones would be, and the oldest are hardly twice as wide. With gaps in proportion to the age, as
/// backups are often thinned out, the beginning of a long run would be out of reach.
fn superfluous(stops: &[u64]) -> Option<usize> {
    let last = *stops.last()?;
    let score = |k: usize| {
        let gap = u128::from(stops[k + 1] - stops[k - 1]);
        let age = u128::from(last - stops[k]);
        (gap.saturating_mul(gap), age)
    };
    let between = 1..stops.len() - 1;
    let worst = between.min_by(|&a, &b| {
        let ((gap_a, age_a), (gap_b, age_b)) = (score(a), score(b));
        gap_a.saturating_mul(age_b).cmp(&gap_b.saturating_mul(age_a))
    });
    worst.or_else(|| (stops.len() == 2).then_some(1))
}

#[cfg(test)]
mod tests {
    use super::superfluous;

    /// Stops of the keyframes that are left of a run of so many stops, when one is taken at every fifth
    /// and so many fit.
    fn left(run: u64, fitting: usize) -> Vec<u64> {
        let mut stops = Vec::new();
        for stop in (0..=run).step_by(5) {
            stops.push(stop);
            if stops.len() > fitting {
                stops.remove(superfluous(&stops).unwrap());
            }
        }
        stops
    }

    #[test]
    fn the_first_and_the_last_stay_and_gaps_grow_with_age() {
        for fitting in [3, 10, 60, 300] {
            let run = 20_000;
            let stops = left(run, fitting);
            assert_eq!((stops.len(), stops[0], stops[fitting - 1]), (fitting, 0, run));
            let gaps: Vec<u64> = stops.windows(2).map(|w| w[1] - w[0]).collect();
            let even = run / fitting as u64;
            assert!(gaps.iter().all(|gap| *gap <= 5 * even), "{fitting}: {gaps:?}");
            if fitting >= 10 {
                let newest = gaps[fitting - 2];
                assert!(newest * 4 <= even, "{fitting}: {newest} against {even}");
                let half = |part: &[u64]| part.iter().sum::<u64>() / part.len() as u64;
                let (old, young) = gaps.split_at(gaps.len() / 2);
                assert!(half(old) > 2 * half(young), "{fitting}: {gaps:?}");
            }
        }
    }

    #[test]
    fn of_two_the_first_stays_and_one_is_never_superfluous() {
        assert_eq!(superfluous(&[0, 7]), Some(1));
        assert_eq!(superfluous(&[0]), None);
        assert_eq!(superfluous(&[]), None);
    }
}
