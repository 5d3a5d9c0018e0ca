//! The processes of algorithms outside: started when they are first asked, asked together, waited for.
//!
//! In: the open questions of a run. Out: answers for the journal, one for each program that has answered, ended,
//! or been silent for too long; one that failed is ended, and started anew when its robot begins another life.
//! A run whose journal has the answers starts no process at all.

use super::process::{Memory, Native, Question, Spoken};
use super::words;
use crate::crew::{LOOK, Stand, start_when_free};
use crate::process::{Talk, Talked};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use swarmyard_base::Uid;
use swarmyard_engine::InputKind;
use swarmyard_part_api::{from_bytes, to_bytes};

/// How long a program may take for one of the turns that it is led through again.
const AGAIN: Duration = Duration::from_secs(10);
/// How long programs may take to end when they are asked to.
const GRACE: Duration = Duration::from_millis(500);

/// The running processes, by robot and protocol.
#[derive(Default)]
pub(crate) struct Talkers {
    members: BTreeMap<(Uid, u16), Member>,
}

struct Member {
    talk: Talk,
    life: u32,
    /// Turns it has been told of in this life, and since when it works on the last.
    told: u64,
    since: Instant,
}

/// An open question.
struct Open<'a> {
    /// The robot and its protocol.
    key: (Uid, u16),
    /// Number of the robot.
    number: u32,
    native: &'a Native,
    question: Question,
}

impl Talkers {
    /// Asks those whose answers the run waits for, and waits a moment.
    ///
    /// Answers what is to enter the journal at this stop, and whether some are still at work.
    pub(crate) fn ask(&mut self, stand: &Stand<'_>) -> (Vec<InputKind>, bool) {
        let (mut inputs, mut at_work) = (Vec::new(), Vec::new());
        let open = open(stand);
        for open in &open {
            match self.post(stand, open) {
                Ok(()) => at_work.push(open),
                Err(why) => inputs.push(answer(open.key.0, &Spoken::Crashed(why))),
            }
        }
        let until = Instant::now() + LOOK;
        let before = at_work.len() + inputs.len();
        for open in at_work {
            let left = until.saturating_duration_since(Instant::now());
            inputs.extend(self.collect(open, left).map(|spoken| answer(open.key.0, &spoken)));
        }
        let missing = before - inputs.len();
        (inputs, missing > 0)
    }

    /// Sees to it that a program works on its question.
    fn post(&mut self, stand: &Stand<'_>, open: &Open<'_>) -> Result<(), String> {
        let Question { life, turn, text } = &open.question;
        if let Some(member) = self.members.get_mut(&open.key).filter(|m| m.life == *life) {
            if member.told == turn + 1 {
                return Ok(());
            }
            if member.told == *turn {
                member.talk.tell(text);
                (member.told, member.since) = (turn + 1, Instant::now());
                return Ok(());
            }
        }
        // None, one of another life, or one that was told of another past.
        self.members.remove(&open.key);
        let mut talk = begin(open.native)?;
        if *turn > 0 {
            let memory = stand.minds.protocol_memory(open.number, open.key.1).unwrap_or_default();
            lead_through(&mut talk, &from_bytes(&memory)?)?;
        }
        talk.tell(text);
        let member = Member { talk, life: *life, told: turn + 1, since: Instant::now() };
        self.members.insert(open.key, member);
        Ok(())
    }

    /// Looks for one program's answer.
    fn collect(&mut self, open: &Open<'_>, wait: Duration) -> Option<Spoken> {
        let member = self.members.get_mut(&open.key)?;
        let failed = match member.talk.poll(wait, &ends) {
            Talked::Turn(lines, printed) => return Some(Spoken::Lines(lines, printed)),
            Talked::Dead(death) => Spoken::Crashed(death.to_string()),
            Talked::Pending => {
                let patience = open.native.patience.filter(|p| member.since.elapsed() >= *p)?;
                Spoken::Silent(format!("no answer for {} s", patience.as_secs_f64()))
            }
        };
        self.members.remove(&open.key);
        Some(failed)
    }

    /// Ends all programs, which are asked to do so themselves. Answers what they said: (robot, line).
    pub(crate) fn stop(&mut self) -> Vec<(Uid, String)> {
        let mut members = std::mem::take(&mut self.members);
        for member in members.values_mut() {
            member.talk.dismiss();
        }
        let until = Instant::now() + GRACE;
        let said = |((robot, _), member): ((Uid, u16), Member)| {
            member.talk.farewell(until).into_iter().map(move |line| (robot, line))
        };
        members.into_iter().flat_map(said).collect()
    }

    /// Ends all programs at once: they will be started and led through their past again.
    pub(crate) fn forget(&mut self) {
        self.members.clear();
    }

    /// The same for one robot; tells whether there was any.
    pub(crate) fn dismiss(&mut self, robot: Uid) -> bool {
        let before = self.members.len();
        self.members.retain(|key, _| key.0 != robot);
        self.members.len() < before
    }
}

/// The questions without an answer yet.
fn open<'a>(stand: &Stand<'a>) -> Vec<Open<'a>> {
    let (Some(live), Some(members)) = (&stand.state.live, &stand.model.live) else { return Vec::new() };
    let answered = |robot: Uid| {
        stand.inputs.iter().any(|input| matches!(&input.kind, InputKind::Answer(r, _) if *r == robot))
    };
    let mut all = Vec::new();
    for (number, node, question) in &live.asks {
        let slot = members.members[*number as usize] as usize;
        let robot = stand.model.uids[slot];
        let graph = stand.model.type_at(slot).life.as_ref().map(|life| &life.graph);
        let model = graph.and_then(|graph| graph.models().nth(usize::from(*node)));
        let native = model.and_then(|m| m.outside()).and_then(|about| about.downcast_ref::<Native>());
        if let (Some(native), Ok(question), false) = (native, from_bytes(question), answered(robot)) {
            all.push(Open { key: (robot, *node), number: *number, native, question });
        }
    }
    all
}

fn answer(robot: Uid, spoken: &Spoken) -> InputKind {
    InputKind::Answer(robot, to_bytes(spoken))
}

/// Whether a line ends a turn.
fn ends(line: &str) -> Result<bool, String> {
    Ok(words::call(line)?.is_none_or(|said| said.asks))
}

fn begin(native: &Native) -> Result<Talk, String> {
    let launch = native.start.as_ref().map_err(Clone::clone)?;
    start_when_free(|| Talk::start(launch)).map_err(|e| e.to_string())
}

/// Leads a program through what it was told before; it must answer as it did then.
fn lead_through(talk: &mut Talk, memory: &Memory) -> Result<(), String> {
    for (k, (told, answered)) in memory.past.iter().enumerate() {
        talk.tell(told);
        let what = match talk.poll(AGAIN, &ends) {
            Talked::Turn(lines, _) if lines == *answered => continue,
            Talked::Turn(..) => "it says something else".to_owned(),
            Talked::Pending => "it is silent".to_owned(),
            Talked::Dead(death) => death.to_string(),
        };
        return Err(format!(
            "run again from the start, the program does not do in turn {k} what it did: {what}"
        ));
    }
    Ok(())
}
