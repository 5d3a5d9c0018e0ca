//! What the workers of a run did: plain data, for reports, displays and recordings.
//!
//! In: what a crowd measured. Out: figures per worker, link and robot. None of it enters a state: two runs with the same
//! hash may have any statistics.

use serde::{Deserialize, Serialize};
use swarmyard_agents::Price;

/// How a run was spread, and what it cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Epochs so far.
    pub epochs: u32,
    /// Steps that were taken again after something went wrong.
    pub again: u64,
    /// Workers that were lost.
    pub lost: Vec<u32>,
    /// Why the world is not divided, when it is not.
    pub undivided: Option<String>,
    /// Every worker so far, by number.
    pub workers: Vec<WorkerFigures>,
    /// Who told whom how much, by sender and receiver.
    pub links: Vec<LinkFigures>,
    /// What each body cost, in the order of the model; empty as long as nothing was measured.
    pub robots: Vec<RobotFigures>,
    /// What modules of robots on other hosts cost, by place.
    #[serde(default)]
    pub elsewhere: Vec<ElsewhereFigures>,
}

/// What one worker did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerFigures {
    /// Its number.
    pub worker: u32,
    /// The host that lends its machine; `None` is the keeper's own.
    pub host: Option<String>,
    /// Its process there, if it is one.
    pub pid: Option<u32>,
    /// Where others reach it, if it is a process.
    pub endpoint: Option<String>,
    /// Whether it has a part in the present epoch.
    pub at_work: bool,
    /// Bodies it has.
    pub bodies: u32,
    /// Bodies of others that it knows.
    pub ghosts: u32,
    /// Seconds at work.
    pub work_s: f64,
    /// Seconds of waiting for neighbours.
    pub wait_s: f64,
    /// Bytes it sent to neighbours.
    pub sent: u64,
    /// How often it asked for more than it was told, because a group of bodies had grown.
    pub widened: u64,
    /// How often a body of its own went to another worker, because it had come into that one's region.
    #[serde(default)]
    pub handed_on: u64,
    /// How often it asked again for what had not come.
    pub asked_again: u64,
    /// Decisions that it asked other workers for, because they run the native program of a robot that it has.
    #[serde(default)]
    pub asked_home: u64,
    /// Seconds that this took.
    #[serde(default)]
    pub home_s: f64,
    /// The part of the plane it has now: left, lower, right and upper border; `None` is unbounded.
    pub region: Option<[Option<f64>; 4]>,
}

/// What went from one worker to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkFigures {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Messages.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// What one body cost, as the mean over the quanta that were measured.
///
/// Recordings of older versions have nothing but the sum, the same for all bodies of a worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RobotFigures {
    /// Its path.
    pub path: String,
    /// Who has it.
    pub worker: u32,
    /// Microseconds per quantum, all in all.
    pub cost_us: f64,
    /// Of these, microseconds of its sensors.
    #[serde(default)]
    pub sense_us: f64,
    /// Microseconds of its controllers; of native programs the processor time that they took.
    #[serde(default)]
    pub think_us: f64,
    /// Microseconds of its actuators.
    #[serde(default)]
    pub act_us: f64,
    /// Microseconds of finding and playing out its contacts.
    #[serde(default)]
    pub contact_us: f64,
    /// Fuel that its programs used per quantum, where it is metered.
    #[serde(default)]
    pub fuel: f64,
    /// Quanta that were measured.
    #[serde(default)]
    pub quanta: u64,
}

impl RobotFigures {
    /// What it cost, in microseconds per quantum; nothing when it was not measured, or by somebody who cannot count.
    #[must_use]
    pub fn known_us(&self) -> Option<f64> {
        let measured = self.quanta > 0 || self.cost_us > 0.0;
        (measured && self.cost_us.is_finite() && self.cost_us >= 0.0).then_some(self.cost_us)
    }
}

impl Statistics {
    /// The bodies that cost most, the heaviest first; of equals the first in the model.
    #[must_use]
    pub fn heaviest(&self, most: usize) -> Vec<&RobotFigures> {
        let mut all: Vec<&RobotFigures> = self.robots.iter().collect();
        all.sort_by(|a, b| b.cost_us.total_cmp(&a.cost_us));
        all.truncate(most);
        all
    }
}

/// What everything cost that robots have on another host: controllers of both classes, algorithms, part models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElsewhereFigures {
    /// The host, as the robots call it: its name, or what it can do.
    pub place: String,
    /// Answers that came from there, but for the first of each process, which takes as long as it takes to start. One
    /// may be about many robots.
    pub answers: u64,
    /// Seconds from each question to its answer, added up.
    pub waited_s: f64,
    /// Bytes that went there.
    pub sent: u64,
    /// Bytes that came from there.
    pub received: u64,
}

impl ElsewhereFigures {
    /// The mean time from a question to its answer, in microseconds.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        self.waited_s * 1e6 / self.answers.max(1) as f64
    }

    /// What was counted, by place.
    #[must_use]
    pub fn of(prices: Vec<(String, Price)>) -> Vec<ElsewhereFigures> {
        let figures = |(place, price): (String, Price)| ElsewhereFigures {
            place,
            answers: price.answers,
            waited_s: price.waited.as_secs_f64(),
            sent: price.sent,
            received: price.received,
        };
        prices.into_iter().map(figures).collect()
    }

    /// Adds these to others, by place.
    pub fn add(all: &mut Vec<ElsewhereFigures>, more: &[ElsewhereFigures]) {
        for new in more {
            let k = all.partition_point(|e| e.place < new.place);
            if all.get(k).is_none_or(|e| e.place != new.place) {
                all.insert(k, ElsewhereFigures { place: new.place.clone(), ..ElsewhereFigures::default() });
            }
            let sum = &mut all[k];
            sum.answers += new.answers;
            sum.waited_s += new.waited_s;
            sum.sent += new.sent;
            sum.received += new.received;
        }
    }
}
