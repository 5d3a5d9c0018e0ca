//! The last stop that all workers have reached and everything is known of: what a run goes back to.

use crate::saved::Image;
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::math;
use swarmyard_engine::{
    Clock, Cut, How, InputKind, Margins, Minds, Model, Parcel, Pool, Scratch, State, Step, restore, step,
};
use swarmyard_sim::{Run, Statistics};

use super::epoch::Now;
use super::status::Placed;
use crate::message::Task;

/// What a body weighs at least, of the mean.
const LEAST: f64 = 0.01;

/// What of a body's weight stays with a worker whoever has the body, because its native programs do: by body, the worker's place and
/// the weight.
pub(super) type Stays = BTreeMap<u32, (u32, f64)>;

/// A run at its last checkpoint, and the hashes of what was shown since.
pub(super) struct Safe {
    image: Image,
    /// What each step since then added up to.
    hashes: BTreeMap<u64, u64>,
    /// Code that came while running: type, controller, bytes.
    code: Vec<(u32, u32, Vec<u8>)>,
    /// The stop up to which the journal was looked through for it.
    learned: u64,
    /// Hashes of it.
    known: BTreeSet<u64>,
    /// What each body weighs in the cut, by number; nothing when nothing is known.
    weights: Vec<f64>,
}

impl Safe {
    /// Where a run stands, with the code that its controllers run now.
    pub(super) fn of(run: &Run<'_>) -> Safe {
        let mut safe = Safe {
            image: Image::of(run.model, run.state, run.minds),
            hashes: BTreeMap::new(),
            code: Vec::new(),
            learned: run.state.stops,
            known: BTreeSet::new(),
            weights: Vec::new(),
        };
        for (ty, codes) in (0..).zip(run.minds.codes()) {
            for (controller, code) in (0..).zip(codes) {
                safe.know(run, (ty, controller, code));
            }
        }
        safe
    }

    /// Takes note of the code that a controller runs, when it came while running; tells whether it is new.
    fn know(&mut self, run: &Run<'_>, (ty, controller, code): (u32, u32, u64)) -> bool {
        let Some(program) = run.code.get(&code).filter(|_| self.known.insert(code)) else { return false };
        self.code.push((ty, controller, program.bytes().1.to_vec()));
        true
    }

    pub(super) fn stop(&self) -> u64 {
        self.image.stop()
    }

    pub(super) fn image(&self) -> &Image {
        &self.image
    }

    pub(super) fn code(&self) -> &[(u32, u32, Vec<u8>)] {
        &self.code
    }

    /// Takes note of code that came while running and that the journal switches to; tells whether any is new.
    pub(super) fn learn(&mut self, now: &Now<'_>) -> bool {
        let run = &now.run;
        // A run that went back may have other inputs now from where it stands.
        let from = self.learned.min(run.state.stops);
        let mut learned = false;
        for input in now.journal().since(from) {
            if let InputKind::Code { ty, controller, code } = input.kind {
                learned |= self.know(run, (ty, controller, code));
            }
        }
        self.learned = run.state.stops;
        learned
    }

    /// What each worker has to do from here on. A world that is not divided is done by all of them.
    pub(super) fn deal(&self, cut: &Cut, margins: &Margins) -> Vec<Task> {
        match &self.image {
            Image::Whole(_, bytes) => vec![Task::Whole(bytes.clone()); cut.workers() as usize],
            Image::Bodies(_, checkpoint) => {
                checkpoint.deal(cut, margins).into_iter().map(Task::Share).collect()
            }
        }
    }

    /// The bodies, when the world is divided.
    pub(super) fn bodies(&self) -> &[Parcel] {
        match &self.image {
            Image::Bodies(_, checkpoint) => checkpoint.bodies(),
            Image::Whole(..) => &[],
        }
    }

    /// Weighs bodies as an earlier run measured them; those it did not have count as the mean of the others.
    pub(super) fn weigh(&mut self, model: &Model, earlier: &Statistics) -> Placed {
        let known = earlier.robots.iter().filter_map(|r| Some((r.path.as_str(), r.known_us()?)));
        let known: BTreeMap<&str, f64> = known.collect();
        let costs: Vec<_> = model.paths.iter().map(|path| known.get(path).copied()).collect();
        let placed = Placed { known: costs.iter().flatten().count(), bodies: self.bodies().len() };
        self.put_weights(&costs);
        placed
    }

    /// Weighs bodies by what they cost. Those of which that is not known count as the mean of the others, and nobody as
    /// nothing: what is not measured, as that they are told of and kept, is done for everybody.
    fn put_weights(&mut self, costs: &[Option<f64>]) {
        let known = costs.iter().flatten();
        let mean = known.clone().sum::<f64>() / known.count().max(1) as f64;
        if mean > 0.0 {
            self.weights = costs.iter().map(|cost| cost.unwrap_or(mean).max(LEAST * mean)).collect();
        }
    }

    /// Cuts the plane for that many workers. Robots that belong to a place are shared out among those who are there, and stay
    /// with them; the plane is for the others, and who has more of the former gets less of it.
    ///
    /// `on` finds the workers that are at a place which the scenario names.
    pub(super) fn cut(
        &self,
        model: &Model,
        workers: u32,
        how: How,
        on: &mut dyn FnMut(&str) -> Vec<u32>,
    ) -> Cut {
        let mut found: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        let (mut free, mut pinned) = (Vec::new(), Vec::new());
        for parcel in self.bodies() {
            let (number, weight) = (parcel.number, self.weight(parcel.number));
            let host = model.host_of(number as usize);
            let there = host.map_or(&[][..], |host| found.entry(host).or_insert_with(|| on(host)));
            if there.is_empty() {
                free.push((parcel.seen.pose.at, weight));
            } else {
                pinned.push((number, weight, there.to_vec()));
            }
        }
        // By number, so that most stay where they are when the plane is cut anew.
        pinned.sort_unstable_by_key(|p| p.0);
        let (mut burdens, mut pins) = (vec![0.0; workers as usize], Vec::new());
        for (number, weight, there) in pinned {
            let least = |a: &u32, b: &u32| f64::total_cmp(&burdens[*a as usize], &burdens[*b as usize]);
            if let Some(worker) = there.into_iter().min_by(least) {
                burdens[worker as usize] += weight;
                pins.push((number, worker));
            }
        }
        Cut::beside(&free, &burdens, how).pinned(pins)
    }

    /// What each worker would have to do with such a cut, as far as bodies were weighed.
    pub(super) fn loads(&self, cut: &Cut, stays: &Stays) -> Vec<f64> {
        let travels = |body: u32| {
            let all = self.weight(body);
            math::max(all - stays.get(&body).map_or(0.0, |(_, weight)| *weight), LEAST * all)
        };
        let mut loads =
            cut.loads(self.bodies().iter().map(|p| (p.number, p.seen.pose.at, travels(p.number))));
        for (place, weight) in stays.values() {
            if let Some(load) = loads.get_mut(*place as usize) {
                *load += weight;
            }
        }
        loads
    }

    fn weight(&self, body: u32) -> f64 {
        self.weights.get(body as usize).copied().unwrap_or(1.0)
    }

    /// Takes note of what a step added up to.
    pub(super) fn took(&mut self, stop: u64, hash: u64) {
        self.hashes.insert(stop, hash);
    }

    /// Whether a step that was taken again came out as before.
    pub(super) fn agrees(&self, stop: u64, hash: u64) -> bool {
        self.hashes.get(&stop).is_none_or(|before| *before == hash)
    }

    /// A new checkpoint: everybody, with the memories of programs, at the stop that the run is at; and what bodies cost
    /// lately.
    pub(super) fn take(&mut self, now: &Now<'_>, bodies: Vec<Parcel>, costs: &[Option<f64>]) {
        let Image::Bodies(state, checkpoint) = &mut self.image else { return };
        let run = &now.run;
        let switched = now.journal().since(state.stops).iter();
        let switched = switched.filter_map(|i| match i.kind {
            InputKind::Code { ty, controller, code } => Some((ty, controller, code)),
            _ => None,
        });
        let switched: Vec<_> = switched.collect();
        *checkpoint = checkpoint.later(Clock::of(run.state), bodies, &switched);
        **state = run.state.clone();
        self.hashes = self.hashes.split_off(&(run.state.stops + 1));
        self.put_weights(costs);
    }

    /// The state of a whole world came: it is shown, and kept when it is due.
    pub(super) fn take_whole(&mut self, run: &mut Run<'_>, bytes: Vec<u8>, keep: bool) -> Result<(), String> {
        let (state, minds) = restore(run.model, run.minds, &bytes).map_err(|e| e.to_string())?;
        (*run.state, *run.minds) = (state, minds);
        if keep {
            self.hashes = self.hashes.split_off(&(run.state.stops + 1));
            self.image = Image::Whole(run.state.stops, bytes);
        }
        Ok(())
    }

    /// The run where it stands, by taking the steps from here on again in this process.
    pub(super) fn at(&self, run: &Run<'_>) -> Result<(State, Minds), String> {
        let (mut state, mut minds) = self.image.open(run.model, run.minds)?;
        let (mut scratch, pool) = (Scratch::default(), Pool::new(1)?);
        let seen = run.seen(self.stop());
        let journal = seen.as_ref().unwrap_or(run.journal);
        while state.stops < run.state.stops {
            match step(run.model, &mut state, &mut minds, journal, &mut scratch, &pool) {
                Step::Done(_) | Step::UnderWay => {}
                Step::Blocked(_) => return Err("the journal of the run has a gap".to_owned()),
            }
        }
        Ok((state, minds))
    }
}
