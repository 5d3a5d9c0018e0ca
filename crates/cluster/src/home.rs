//! Native programs stay where they were started while their robots travel from worker to worker.
//!
//! [`Lodgings`] is the side of the programs. In: questions of workers that have the robots now. Out: what the programs
//! decided. [`Links`] is the side of the robots. In: what programs are to be shown, by worker. Out: their answers.
//!
//! What never happens: a program that answers for an epoch that is over; a worker that waits for a program of another
//! robot before it hands over what its own are to be shown; answers that differ when they are asked for twice.

use crate::door::Door;
use crate::message::{Ask, home_key, read, write};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use swarmyard_agents::{Answer, Away, Shown};
use swarmyard_base::Uid;
use swarmyard_engine::InputKind;
use swarmyard_fabric::{Fabric, Handle, Lost};

/// How long one question waits for programs that are at work.
const WAIT: Duration = Duration::from_millis(50);
/// How long whoever asks waits for an answer.
const PATIENCE: Duration = Duration::from_millis(500);
/// When a question that nobody took is put again.
const AGAIN: Duration = Duration::from_micros(500);
/// Bytes of one question, about: more go in several. And of what programs decided in one answer: who is left over answers
/// the next time.
const MOST_BYTES: usize = 8 << 20;
/// Programs that one question is for, at most.
const MOST_SHOWN: usize = 4096;

/// Programs whose robots are with other workers.
#[derive(Default)]
pub(crate) struct Lodgings {
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    epoch: u32,
    /// Each behind a lock of its own, so that whoever asks for one holds up nobody else.
    away: BTreeMap<Uid, Lodger>,
}

/// Programs of one robot; empty when the robot is back.
type Lodger = Arc<Mutex<Option<Away>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lodgings {
    /// An epoch begins in which everything goes on from where it stands.
    fn go_on(&self, epoch: u32) {
        lock(&self.inside).epoch = epoch;
    }

    /// An epoch begins: all programs of the one before are ended.
    pub(crate) fn begin(&self, epoch: u32) {
        let before = std::mem::replace(&mut *lock(&self.inside), Inside { epoch, away: BTreeMap::new() });
        // Somebody may still ask for one of them.
        before.away.into_values().for_each(|lodger| drop(lock(&lodger).take()));
    }

    /// A robot leaves, and its programs stay.
    pub(crate) fn take_in(&self, away: Away) {
        lock(&self.inside).away.insert(away.robot(), Arc::new(Mutex::new(Some(away))));
    }

    /// The programs of robots that are back.
    pub(crate) fn give_back(&self, is_back: impl Fn(Uid) -> bool) -> Vec<Away> {
        let mut inside = lock(&self.inside);
        let back: Vec<Uid> = inside.away.keys().copied().filter(|robot| is_back(*robot)).collect();
        let back: Vec<Lodger> = back.iter().filter_map(|robot| inside.away.remove(robot)).collect();
        drop(inside);
        back.iter().filter_map(|lodger| lock(lodger).take()).collect()
    }

    /// Answers one question; `None` when it is none, or one of another epoch.
    pub(crate) fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        let Ask { epoch, stop, tick_us, waits, shown } = read(question)?;
        if shown.len() > MOST_SHOWN {
            return None;
        }
        let lodgers: Vec<Option<Lodger>> = {
            let inside = lock(&self.inside);
            if inside.epoch != epoch {
                return None;
            }
            shown.iter().map(|shown| inside.away.get(&shown.robot).cloned()).collect()
        };
        let with = |k: usize, act: &mut dyn FnMut(&mut Away) -> Option<Answer>| match &lodgers[k] {
            Some(lodger) => lock(lodger).as_mut().map_or(Some(Answer::NotHere), act),
            None => Some(Answer::NotHere),
        };
        // All are at work before the first is waited for.
        let mut answers: Vec<Option<Answer>> = shown
            .iter()
            .enumerate()
            .map(|(k, shown)| with(k, &mut |away| away.post(stop, tick_us, shown)))
            .collect();
        let until = Instant::now() + if waits { WAIT } else { Duration::ZERO };
        for (k, shown) in shown.iter().enumerate().filter(|_| waits) {
            if answers[k].is_none() {
                let left = until.saturating_duration_since(Instant::now());
                answers[k] = with(k, &mut |away| Some(away.collect(stop, shown, left)));
            }
        }
        let mut bytes = 0;
        let told = answers.into_iter().map(|answer| {
            let answer = answer.unwrap_or(Answer::AtWork);
            bytes += write(&answer).len();
            // What does not fit is kept, and told when it is asked for again.
            if bytes > MOST_BYTES { Answer::AtWork } else { answer }
        });
        Some(write(&told.collect::<Vec<Answer>>()))
    }
}

/// How a worker asks for programs that run with others, and answers for those that run here.
pub(crate) struct Links {
    fabric: Arc<dyn Fabric>,
    door: Arc<Door>,
    run: u64,
    me: u32,
    pub(crate) lodgings: Arc<Lodgings>,
    /// By who asks: each has a thread of the fabric of its own.
    handles: BTreeMap<u32, Handle>,
}

/// What came of asking.
#[derive(Default)]
pub(crate) struct Asked {
    /// What programs decided.
    pub(crate) decided: Vec<InputKind>,
    /// Programs that do not run where they were thought to: (robot, controller).
    pub(crate) not_there: Vec<(Uid, usize)>,
    /// Whether some are still at work, or have not heard the question.
    pub(crate) at_work: bool,
    /// Workers that did not answer.
    pub(crate) silent: Vec<u32>,
}

impl Links {
    pub(crate) fn new(fabric: Arc<dyn Fabric>, door: Arc<Door>, run: u64, me: u32) -> Links {
        Links { fabric, door, run, me, lodgings: Arc::default(), handles: BTreeMap::new() }
    }

    /// An epoch begins: these may ask from now on, and nobody else. All programs of the one before are ended, unless they go on.
    pub(crate) fn begin(&mut self, epoch: u32, asking: &[u32], goes_on: bool) -> Result<(), Lost> {
        if goes_on {
            self.lodgings.go_on(epoch);
        } else {
            self.lodgings.begin(epoch);
        }
        self.handles.retain(|who, _| asking.contains(who));
        for &who in asking {
            if !self.handles.contains_key(&who) {
                let lodgings = Arc::clone(&self.lodgings);
                let reply = self.door.replier(move |question| lodgings.answer(question));
                let key = home_key(self.run, self.me, who);
                self.handles.insert(who, self.fabric.answer(&key, reply)?);
            }
        }
        Ok(())
    }

    /// Asks workers for what their programs decide at a stop, all of them at once, and does something else meanwhile.
    pub(crate) fn ask<T>(
        &self,
        (epoch, stop, tick_us): (u32, u64, u32),
        shown: BTreeMap<u32, Vec<Shown>>,
        meanwhile: impl FnOnce() -> T,
    ) -> (Asked, T) {
        let one = |home: u32, shown: Vec<Shown>| {
            let mut asked = Asked::default();
            let mut parts = parts(shown);
            let last = parts.pop().unwrap_or_default();
            // All are at work before the last part is waited for.
            for (shown, waits) in parts.into_iter().map(|part| (part, false)).chain([(last, true)]) {
                self.ask_one(home, Ask { epoch, stop, tick_us, waits, shown }, &mut asked);
            }
            asked
        };
        std::thread::scope(|scope| {
            let all: Vec<_> =
                shown.into_iter().map(|(home, shown)| scope.spawn(move || one(home, shown))).collect();
            let done = meanwhile();
            let mut asked = Asked::default();
            for thread in all {
                // One that broke down has heard nothing: it is asked again.
                let Ok(part) = thread.join() else {
                    asked.at_work = true;
                    continue;
                };
                asked.decided.extend(part.decided);
                asked.not_there.extend(part.not_there);
                asked.silent.extend(part.silent);
                asked.at_work |= part.at_work;
            }
            (asked, done)
        })
    }

    /// Asks once, and takes note of what came.
    fn ask_one(&self, home: u32, ask: Ask, asked: &mut Asked) {
        let key = home_key(self.run, home, self.me);
        let answers: Option<Vec<Answer>> = self.door.ask(&*self.fabric, &key, &ask, PATIENCE).ok().flatten();
        let Some(answers) = answers.filter(|answers| answers.len() == ask.shown.len()) else {
            // It may be about to end, or an epoch behind; whoever keeps the run finds out.
            asked.at_work = true;
            asked.silent.push(home);
            std::thread::sleep(AGAIN);
            return;
        };
        for (shown, answer) in ask.shown.iter().zip(answers) {
            match answer {
                Answer::Decided(input) if is_of(&input, shown) => asked.decided.push(input),
                Answer::NotHere => asked.not_there.push((shown.robot, shown.controller as usize)),
                Answer::Decided(_) | Answer::AtWork => asked.at_work = true,
            }
        }
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        // Whoever asks keeps the lodgings for a moment longer; no program stays with them.
        self.lodgings.begin(u32::MAX);
    }
}

/// Whether something was decided by the program that was asked.
fn is_of(input: &InputKind, shown: &Shown) -> bool {
    matches!(input, InputKind::Thought { robot, controller, .. } if (*robot, *controller) == (shown.robot, shown.controller))
}

/// The same, in parts that are not too long.
fn parts(all: Vec<Shown>) -> Vec<Vec<Shown>> {
    let (mut parts, mut bytes) = (vec![Vec::new()], 0);
    for shown in all {
        bytes += shown.bytes();
        match parts.last_mut() {
            Some(part) if bytes <= MOST_BYTES && part.len() < MOST_SHOWN => part.push(shown),
            _ => {
                bytes = shown.bytes();
                parts.push(vec![shown]);
            }
        }
    }
    parts
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
