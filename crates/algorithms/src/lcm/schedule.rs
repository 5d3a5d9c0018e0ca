//! Who is active when: fully, semi- and asynchronous schedules, and how far moves carry.
//!
//! Everything is a pure function of (seed, robot, round). A schedule by rounds says who is active in a round;
//! a schedule by times says when each robot looks, starts and arrives. [`Schedule::cycle`] reads both kinds as
//! times.

use super::frame::{chance, draws};
use serde::{Deserialize, Serialize};
use swarmyard_base::math;

/// Most rows and numbers that a written schedule may have.
pub const MOST_ENTRIES: usize = 1_000_000;

/// The least probability, other than 0, with which robots are active.
pub const LEAST_P: f64 = 1e-6;

/// An event that happens once in so many rounds on average is missing in a hundred times as many once in e¹⁰⁰ cases.
const LONG_ODDS: f64 = 100.0;

/// A schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Schedule {
    /// FSYNC: everybody in every round.
    Full,
    /// SSYNC: each with this probability.
    Random {
        /// Probability.
        p: f64,
    },
    /// SSYNC: exactly one in every round, drawn at random.
    OneRandom,
    /// SSYNC: one after another.
    RoundRobin,
    /// SSYNC: each with this probability, but at least once in any `k` rounds one after another.
    Bounded {
        /// Probability.
        p: f64,
        /// Longest time to wait, in rounds.
        k: u32,
    },
    /// ASYNC: each robot at its own times; others are seen while they move. Times are exponential with these
    /// means, in rounds.
    Async {
        /// Mean time between an arrival and the next look.
        wait: f64,
        /// Mean time between a look and the start of the move.
        compute: f64,
        /// Mean time of a move.
        travel: f64,
    },
    /// As written down.
    Script(Script),
    /// SSYNC: whoever the [greedy](super::demon::greedy) adversary wants, but each at least once in any `k` rounds.
    /// It must be asked who is active: that depends on where robots are.
    Adversary {
        /// Longest time to wait, in rounds.
        k: u32,
    },
}

/// A schedule that was written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Script {
    /// Who is active, round by round; nobody after the last.
    Rounds(Vec<Vec<u32>>),
    /// Times of each robot's cycles, in rounds.
    Times(Vec<Vec<Cycle>>),
}

/// One cycle of a robot, in time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycle {
    /// When it looks.
    pub look: f64,
    /// When it starts to move.
    pub start: f64,
    /// When it arrives.
    pub end: f64,
    /// Address of its chance: the number of the round, or of the cycle.
    pub round: u64,
}

/// How far a move carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Moves {
    /// To the target.
    #[default]
    Rigid,
    /// Anywhere between a least way and the target, drawn evenly.
    Flexible {
        /// The least way, m; nearer targets are reached.
        delta_m: f64,
    },
    /// As short as an adversary may make it.
    Shortest {
        /// The way, m; nearer targets are reached.
        delta_m: f64,
    },
}

impl Moves {
    /// Which share of a way of this length is made.
    #[must_use]
    pub fn share(&self, seed: u64, robot: u32, round: u64, way_m: f64) -> f64 {
        match *self {
            Moves::Flexible { delta_m } if way_m > delta_m => {
                chance(seed, robot, round, draws::MOVE).between(0, delta_m / way_m, 1.0)
            }
            Moves::Shortest { delta_m } if way_m > delta_m => delta_m / way_m,
            _ => 1.0,
        }
    }
}

impl Schedule {
    /// Whether robots act in rounds; else at times of their own.
    #[must_use]
    pub fn in_rounds(&self) -> bool {
        !matches!(self, Schedule::Async { .. } | Schedule::Script(Script::Times(_)))
    }

    /// Whether a robot looks in a round, and is active then unless an adversary says otherwise; never for schedules by
    /// times.
    #[must_use]
    pub fn active(&self, seed: u64, round: u64, robot: u32, robots: u32) -> bool {
        let draw = || chance(seed, robot, round, draws::ACTIVE).uniform(0);
        match self {
            Schedule::Full | Schedule::Adversary { .. } => true,
            Schedule::Random { p } => draw() < *p,
            Schedule::OneRandom => {
                // An address that all robots share.
                chance(seed, u32::MAX, round, draws::ACTIVE).below(0, robots) == robot
            }
            Schedule::RoundRobin => round % u64::from(robots.max(1)) == u64::from(robot),
            Schedule::Bounded { p, k } => {
                let turn = chance(seed, robot, u64::MAX, draws::ACTIVE).below(0, *k);
                round % u64::from((*k).max(1)) == u64::from(turn) || draw() < *p
            }
            Schedule::Script(Script::Rounds(rounds)) => {
                usize::try_from(round).ok().and_then(|r| rounds.get(r)).is_some_and(|r| r.contains(&robot))
            }
            Schedule::Async { .. } | Schedule::Script(Script::Times(_)) => false,
        }
    }

    /// The next cycle of a robot after `last`, its first when that is `None`; times in rounds. In schedules by
    /// rounds a move takes the share `travel` of its round, in its middle. `None` when it never looks again.
    #[must_use]
    pub fn cycle(
        &self,
        seed: u64,
        robot: u32,
        robots: u32,
        last: Option<&Cycle>,
        travel: f64,
    ) -> Option<Cycle> {
        match self {
            Schedule::Async { wait, compute, travel } => {
                let round = last.map_or(0, |c| c.round + 1);
                let d = chance(seed, robot, round, draws::CYCLE);
                let look = last.map_or(0.0, |c| c.end) + d.exponential(0, *wait);
                let start = look + d.exponential(1, *compute);
                Some(Cycle { look, start, end: start + d.exponential(2, *travel), round })
            }
            Schedule::Script(Script::Times(times)) => {
                let k = last.map_or(0, |c| c.round + 1);
                times.get(robot as usize)?.get(usize::try_from(k).ok()?).copied()
            }
            _ => {
                let from = last.map_or(0, |c| c.round + 1);
                let round = self.next_active(seed, robot, robots, from)?;
                let look = round as f64;
                let start = look + 0.5 * (1.0 - travel);
                Some(Cycle { look, start, end: start + travel, round })
            }
        }
    }
}

impl Schedule {
    /// The first round from `from` on in which a robot looks; `None` when there is none. Where each round is left to
    /// chance it is looked for that long that missing it is out of the question ([`LONG_ODDS`]).
    fn next_active(&self, seed: u64, robot: u32, robots: u32, from: u64) -> Option<u64> {
        let within =
            |rounds: u64| (from..from.saturating_add(rounds)).find(|r| self.active(seed, *r, robot, robots));
        match self {
            Schedule::Full | Schedule::Adversary { .. } => Some(from),
            Schedule::Random { p } if *p <= 0.0 => None,
            Schedule::Random { p } => within((LONG_ODDS / math::max(*p, LEAST_P)) as u64),
            Schedule::OneRandom => within(LONG_ODDS as u64 * u64::from(robots.max(1))),
            Schedule::RoundRobin if robot >= robots => None,
            Schedule::RoundRobin => Some(next_turn(from, robot, robots)),
            Schedule::Bounded { p, k } => {
                let turn = chance(seed, robot, u64::MAX, draws::ACTIVE).below(0, *k);
                let turn = next_turn(from, turn, *k);
                if *p > 0.0 { within(turn - from).or(Some(turn)) } else { Some(turn) }
            }
            Schedule::Script(Script::Rounds(rounds)) => within((rounds.len() as u64).saturating_sub(from)),
            Schedule::Async { .. } | Schedule::Script(Script::Times(_)) => None,
        }
    }
}

/// The first round from `from` on whose number leaves `turn` when divided by `every`.
fn next_turn(from: u64, turn: u32, every: u32) -> u64 {
    let (turn, every) = (u64::from(turn), u64::from(every.max(1)));
    from.saturating_add((turn + every - from % every) % every)
}

impl Script {
    /// How many robots it has times for; empty lines at its end are nobody's.
    #[must_use]
    pub fn robots(&self) -> Option<usize> {
        match self {
            Script::Rounds(_) => None,
            Script::Times(times) => Some(times.iter().rposition(|t| !t.is_empty()).map_or(0, |k| k + 1)),
        }
    }

    /// Reads a schedule of times as the simulator oblot-sim has them: a line for each robot, in it times that
    /// never fall, separated by commas, in turn of a look, a start and an arrival.
    ///
    /// # Errors
    /// Says what is wrong, and where.
    pub fn from_csv(text: &str) -> Result<Script, ScriptError> {
        let mut robots = Vec::new();
        let (mut entries, mut begins) = (0, 0);
        for (k, whole) in text.split_inclusive('\n').enumerate() {
            let wrong = |part: &str, what: String| {
                // Where a piece of the line stands in the text.
                let start = begins + part.as_ptr().addr() - whole.as_ptr().addr();
                ScriptError { what, line: k + 1, start, end: start + part.len() }
            };
            let line = whole.trim_end_matches(['\n', '\r']);
            let mut times: Vec<f64> = Vec::new();
            for field in line.split(',').map(str::trim).filter(|f| !f.is_empty()) {
                let time: f64 =
                    field.parse().map_err(|_| wrong(field, format!("`{}` is not a time", short(field))))?;
                if !(time.is_finite() && time >= times.last().copied().unwrap_or(0.0)) {
                    let what = format!("times start at 0 and never fall: `{}`", short(field));
                    return Err(wrong(field, what));
                }
                times.push(time);
                entries += 1;
                if entries > MOST_ENTRIES {
                    return Err(wrong(field, format!("a schedule has at most `{MOST_ENTRIES}` times")));
                }
            }
            if !times.len().is_multiple_of(3) {
                let what = "a robot's times come in threes: look, start, arrival";
                return Err(wrong(line.trim(), format!("{what}; there are `{}`", times.len())));
            }
            if robots.len() >= MOST_ENTRIES {
                return Err(wrong(line, format!("a schedule has at most `{MOST_ENTRIES}` lines")));
            }
            let cycles = times.chunks(3).enumerate();
            robots.push(
                cycles.map(|(c, t)| Cycle { look: t[0], start: t[1], end: t[2], round: c as u64 }).collect(),
            );
            begins += whole.len();
        }
        Ok(Script::Times(robots))
    }
}

/// What is wrong with a schedule that was written down, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// What.
    pub what: String,
    /// The line, from 1.
    pub line: usize,
    /// First byte concerned.
    pub start: usize,
    /// One past the last byte concerned.
    pub end: usize,
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, in line {}", self.what, self.line)
    }
}

impl std::error::Error for ScriptError {}

/// So much of a word as a message shows.
fn short(word: &str) -> String {
    word.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active_rounds(schedule: &Schedule, robot: u32, rounds: u64) -> Vec<u64> {
        (0..rounds).filter(|r| schedule.active(7, *r, robot, 5)).collect()
    }

    #[test]
    fn a_bounded_schedule_lets_nobody_wait_longer_than_k_rounds() {
        for k in [1, 2, 5, 9] {
            let schedule = Schedule::Bounded { p: 0.1, k };
            for robot in 0..5 {
                let rounds = active_rounds(&schedule, robot, 1000);
                assert!(rounds[0] < u64::from(k));
                assert!(rounds.windows(2).all(|w| w[1] - w[0] <= u64::from(k)), "k = {k}");
            }
        }
        // A random schedule without the bound does make somebody wait that long.
        let free = active_rounds(&Schedule::Random { p: 0.1 }, 0, 1000);
        assert!(free.windows(2).any(|w| w[1] - w[0] > 9));
    }

    #[test]
    fn exactly_one_is_active_in_schedules_of_one() {
        for schedule in [Schedule::OneRandom, Schedule::RoundRobin] {
            for round in 0..300 {
                assert_eq!((0..5).filter(|r| schedule.active(7, round, *r, 5)).count(), 1);
            }
            let often = active_rounds(&schedule, 2, 1000).len();
            assert!((150..250).contains(&often), "{often}");
        }
    }

    #[test]
    fn a_random_schedule_activates_with_its_probability() {
        let often = active_rounds(&Schedule::Random { p: 0.3 }, 1, 10_000).len();
        // 3000 expected, standard deviation 46.
        assert!((2770..3230).contains(&often), "{often}");
    }

    #[test]
    fn cycles_of_a_schedule_by_rounds_are_its_active_rounds() {
        let schedule = Schedule::Random { p: 0.3 };
        let mut last: Option<Cycle> = None;
        for round in active_rounds(&schedule, 1, 200) {
            let next = schedule.cycle(7, 1, 5, last.as_ref(), 0.8).expect("there is always another");
            assert_eq!((next.round, next.look), (round, round as f64));
            assert!(next.look < next.start && next.start < next.end && next.end < next.look + 1.0);
            last = Some(next);
        }
    }

    #[test]
    fn a_robot_looks_again_however_late_that_is() {
        let after = |round: u64| Cycle { look: round as f64, start: 0.0, end: 0.0, round };
        let rounds = |schedule: &Schedule, robot: u32, robots: u32| {
            let first = schedule.cycle(7, robot, robots, None, 0.8)?.round;
            Some((first, schedule.cycle(7, robot, robots, Some(&after(first)), 0.8)?.round))
        };
        let (first, second) = rounds(&Schedule::Bounded { p: 0.0, k: 1_000_000 }, 3, 5).expect("in its turn");
        assert!(first < 1_000_000 && second == first + 1_000_000);
        assert!(Schedule::Bounded { p: 0.0, k: 1_000_000 }.active(7, first, 3, 5));
        assert_eq!(rounds(&Schedule::RoundRobin, 299_999, 300_000), Some((299_999, 599_999)));
        for schedule in [Schedule::Random { p: 3e-6 }, Schedule::Bounded { p: 3e-6, k: 900_000 }] {
            let (first, second) = rounds(&schedule, 1, 5).expect("in the end");
            let active: Vec<u64> = (0..=second).filter(|r| schedule.active(7, *r, 1, 5)).collect();
            assert_eq!(active, [first, second]);
            assert!(second > 100_000);
        }
        let (_, second) = rounds(&Schedule::OneRandom, 1, 200_000).expect("in the end");
        assert!(second > 100_000);
        assert_eq!(rounds(&Schedule::Random { p: 0.0 }, 1, 5), None, "never is never");
        let written = Schedule::Script(Script::Rounds(vec![vec![0], vec![1], vec![1], vec![0]]));
        assert_eq!(rounds(&written, 1, 2), Some((1, 2)));
        assert_eq!(written.cycle(7, 1, 2, Some(&after(2)), 0.8), None);
    }

    #[test]
    fn a_move_carries_at_least_delta_and_never_too_far() {
        for round in 0..500 {
            let share = Moves::Flexible { delta_m: 0.5 }.share(1, 0, round, 2.0);
            assert!((0.25..1.0).contains(&share));
        }
        assert_eq!(Moves::Flexible { delta_m: 0.5 }.share(1, 0, 0, 0.4), 1.0);
        assert_eq!(Moves::Shortest { delta_m: 0.5 }.share(1, 0, 0, 2.0), 0.25);
        assert_eq!(Moves::Rigid.share(1, 0, 0, 2.0), 1.0);
    }

    #[test]
    fn a_written_schedule_is_read_and_its_faults_are_named() {
        let Ok(Script::Times(times)) = Script::from_csv("0, 1, 2, 5, 6, 7\n1, 1, 3\n") else {
            panic!("it is well written")
        };
        assert_eq!((times.len(), times[0].len(), times[1].len()), (2, 2, 1));
        assert_eq!(times[0][1], Cycle { look: 5.0, start: 6.0, end: 7.0, round: 1 });
        for (text, word) in [("0, 2, 1", "fall"), ("0, x, 1", "`x`"), ("0, 1", "threes"), ("0,1,inf", "fall")]
        {
            let why = Script::from_csv(text).expect_err(text).to_string();
            assert!(why.contains(word) && why.contains("line 1"), "{why}");
        }
        let text = "0, 1, 2\r\n 1, 1, 3, 4, nine, 5\n";
        let why = Script::from_csv(text).expect_err(text);
        assert_eq!((why.line, &text[why.start..why.end]), (2, "nine"));
    }
}
