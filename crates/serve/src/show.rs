//! What is shown: a live run or a recorded one, now or at an earlier moment.
//!
//! In: steps, and wishes to look back. Out: a [`Sim`] to show. A recorded run is executed again by its journal,
//! and its hashes are compared on the way; it takes no input and starts no program.

use crate::again;
use crate::answer::Refusal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use swarmyard_base::Time;
use swarmyard_engine::{Frame, Leave};
use swarmyard_record::Recording;
use swarmyard_sim::{Error, Sim, Timeline, View};

/// A run, and what of it is looked at.
pub(crate) struct Show {
    live: Sim,
    hash: u64,
    timeline: Timeline,
    /// The earlier moment that is looked at.
    view: Option<Earlier>,
    replay: Option<Replay>,
    until: Until,
}

/// When a step is to be left under way: people want something meanwhile.
struct Until {
    since: Instant,
    /// Nanoseconds after `since`.
    end_ns: Arc<AtomicU64>,
    leave: Arc<Leave>,
}

impl Until {
    fn new() -> Until {
        let (since, end_ns) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let end = Arc::clone(&end_ns);
        let leave = Arc::new(move || since.elapsed() >= Duration::from_nanos(end.load(Ordering::Relaxed)));
        Until { since, end_ns, leave }
    }

    fn set(&self, end: Instant) {
        let ns = end.saturating_duration_since(self.since).as_nanos();
        self.end_ns.store(u64::try_from(ns).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

struct Earlier {
    view: View,
    hash: u64,
}

/// What is known about a recorded run.
struct Replay {
    recording: Arc<Recording>,
    /// Its last step, and the time of it.
    last: (u64, Time),
    /// Number of the next hash to compare.
    next: usize,
    verified: u64,
    /// The first step that came to something else.
    differs: Option<u64>,
}

/// What came of trying to take a step.
pub(crate) enum Tried {
    /// It was committed.
    Stepped(Frame),
    /// Native programs are at work: try again at once, it waits by itself.
    AtWork,
    /// It takes longer, and goes on where it is when it is tried again.
    UnderWay,
    /// Commands are waited for that somebody has to give.
    Blocked,
    /// There is nothing more to do.
    Over,
    /// Something went wrong.
    Failed(Error),
}

impl Show {
    /// Shows a run from its start.
    pub(crate) fn new(mut live: Sim) -> Show {
        let mut timeline = Timeline::default();
        timeline.keep(&mut live);
        Show { hash: live.hash(), live, timeline, view: None, replay: None, until: Until::new() }
    }

    /// Shows a recorded run from its start.
    pub(crate) fn replay(recording: Arc<Recording>, threads: usize) -> Result<Show, Refusal> {
        let live = again::rebuild(&recording, threads)?;
        let last = again::last_step(&recording);
        let seen = recording.hashes().last().map(|m| m.time);
        let time = recording.end().map(|e| e.time).or(seen).unwrap_or(Time::ZERO);
        let replay = Replay { recording, last: (last, time), next: 0, verified: 0, differs: None };
        let mut show = Show { replay: Some(replay), ..Show::new(live) };
        show.compare();
        Ok(show)
    }

    /// The recording that is shown, if one is.
    pub(crate) fn recording(&self) -> Option<Arc<Recording>> {
        self.replay.as_ref().map(|r| Arc::clone(&r.recording))
    }

    /// The run as it is shown.
    pub(crate) fn sim(&self) -> &Sim {
        self.view.as_ref().map_or(&self.live, |earlier| &earlier.view)
    }

    /// The run at its newest moment.
    pub(crate) fn live(&self) -> &Sim {
        &self.live
    }

    /// The run at its newest moment, to steer it.
    pub(crate) fn live_mut(&mut self) -> &mut Sim {
        &mut self.live
    }

    /// Puts another run in the place of one that has not begun.
    pub(crate) fn reload(&mut self, mut live: Sim) {
        if let Some(crowd) = self.live.release() {
            live.give_to(crowd);
        }
        *self = Show::new(live);
    }

    /// The live run is in another world now.
    pub(crate) fn changed(&mut self) {
        self.hash = self.live.hash();
    }

    /// Hash of what is shown.
    pub(crate) fn hash(&self) -> u64 {
        self.view.as_ref().map_or(self.hash, |earlier| earlier.hash)
    }

    /// `live` or `replay`.
    pub(crate) fn mode(&self) -> &'static str {
        if self.is_replay() { "replay" } else { "live" }
    }

    pub(crate) fn is_replay(&self) -> bool {
        self.replay.is_some()
    }

    /// Whether an earlier moment is shown.
    pub(crate) fn is_looking_back(&self) -> bool {
        self.view.is_some()
    }

    /// Stop and time of the newest moment that can be shown.
    pub(crate) fn newest(&self) -> (u64, Time) {
        match &self.replay {
            Some(replay) => replay.last,
            None => (self.live.state().stops, self.live.now()),
        }
    }

    /// Steps of a recording whose hash was compared and is the same.
    pub(crate) fn verified(&self) -> u64 {
        self.replay.as_ref().map_or(0, |r| r.verified)
    }

    /// Now, and when the next step ends.
    pub(crate) fn next_stop(&self) -> (Time, Time) {
        let state = self.live.state();
        (state.now, state.quantum.tick(state.quantum_index + 1))
    }

    pub(crate) fn is_over(&self) -> bool {
        match &self.replay {
            Some(replay) => self.live.state().stops >= replay.last.0 || replay.differs.is_some(),
            None => self.live.is_over(),
        }
    }

    /// Tries to take a step; one that can be left under way goes on until then.
    pub(crate) fn step(&mut self, until: Instant) -> Tried {
        if self.is_over() {
            return Tried::Over;
        }
        // Edits may bring the first robot that lives by events.
        let has_notes = self.live.model().live.is_some();
        self.live.take_notes(has_notes);
        self.until.set(until);
        self.live.leave_when(Some(Arc::clone(&self.until.leave)));
        match self.live.poll_step() {
            Ok(Some(frame)) => {
                self.hash = frame.hash;
                self.timeline.keep(&mut self.live);
                match self.compare() {
                    Some(differs) => Tried::Failed(differs),
                    None => Tried::Stepped(frame),
                }
            }
            Ok(None) if self.live.is_under_way() => Tried::UnderWay,
            Ok(None) => Tried::AtWork,
            Err(Error::Blocked(_)) => Tried::Blocked,
            Err(other) => Tried::Failed(other),
        }
    }

    /// Compares the hash of a replay with the recorded one, where there is one.
    fn compare(&mut self) -> Option<Error> {
        let replay = self.replay.as_mut()?;
        let (stop, now) = (self.live.state().stops, self.live.now());
        let marks = replay.recording.hashes();
        while marks.get(replay.next).is_some_and(|m| m.step < stop) {
            replay.next += 1;
        }
        let mark = marks.get(replay.next).filter(|m| m.step == stop)?;
        replay.next += 1;
        if mark.hash == self.hash && mark.time == now {
            replay.verified += 1;
            return None;
        }
        replay.differs = Some(stop);
        let what = format!(
            "the replay differs from the recording at stop {stop}: {:016x}, recorded {:016x}",
            self.hash, mark.hash
        );
        Some(Error::System(what))
    }

    /// Shows an earlier moment. Answers how many steps a replay still has to take to get there.
    pub(crate) fn seek(&mut self, stop: u64) -> Result<u64, Refusal> {
        let here = self.live.state().stops;
        let (newest, _) = self.newest();
        if stop > newest {
            let what = format!("the run has come to stop {newest}, not to `{stop}`");
            return Err(Refusal::new("no-stop", what));
        }
        if stop >= here {
            self.view = None;
            return Ok(stop - here);
        }
        let view = match self.view.take() {
            Some(Earlier { mut view, .. }) => {
                self.timeline.seek(&self.live, &mut view, stop)?;
                view
            }
            None => self.timeline.view(&self.live, stop)?,
        };
        self.view = Some(Earlier { hash: view.hash(), view });
        Ok(0)
    }

    /// Back to the newest moment.
    pub(crate) fn come_back(&mut self) {
        self.view = None;
    }

    /// Makes the moment that is shown the newest.
    pub(crate) fn branch(&mut self) -> Result<u64, Refusal> {
        let Some(Earlier { view, hash }) = self.view.take() else {
            let what = "the newest moment is shown: there is nothing to branch from";
            return Err(Refusal::new("not-looking-back", what).help("go to an earlier one with `seek`"));
        };
        let stop = view.state().stops;
        self.timeline.branch(&mut self.live, view)?;
        self.hash = hash;
        Ok(stop)
    }
}
