//! What robots tell each other, by time: bounded, in order, for charts and pictures of messages.
//!
//! In: the notes of every step. Out: a stretch of time for whoever asks ([`Comms::between`]), what is new for
//! displays that follow ([`Comms::send`]), and who could hear whom ([`Comms::send_links`]). A display that does
//! not keep up misses lines, and is told how many.

use crate::hub::{Client, Hub};
use crate::tell::seconds;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_engine::{Frame, LiveNote, Model, Note, RunEvent};
use swarmyard_sim::Sim;

/// Lines that are kept.
const MOST_LINES: usize = 20_000;
/// Lines of one message to a display.
const MOST_FRESH: usize = 2000;
/// Receivers of a message that are named.
const MOST_NAMED: usize = 64;
/// Most characters of what is in a message.
const MOST_CONTENT: usize = 200;
/// Most characters of a protocol's or a message's name.
const MOST_NAME: usize = 80;
/// Messages under way, and links, that are told at once.
const MOST_PAIRS: usize = 20_000;
/// Time between two looks at the links.
const LINKS: Duration = Duration::from_millis(100);

/// One line: a message was sent, came or was lost, or a robot crashed or recovered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Comm {
    #[serde(skip)]
    stop: u64,
    /// Simulated time, s.
    pub(crate) t: f64,
    /// `sent`, `received`, `lost`, `crashed`, `recovered`.
    pub(crate) what: &'static str,
    /// The sender, or who crashed or recovered.
    from: Arc<str>,
    /// The receivers, or the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    to: Vec<Arc<str>>,
    /// How many receivers there are.
    #[serde(skip_serializing_if = "is_zero")]
    receivers: usize,
    /// The message.
    #[serde(flatten)]
    message: Option<Arc<Told>>,
    /// When it was sent, s, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<f64>,
    /// Why it was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

/// A message, as all its lines tell it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Told {
    serial: u64,
    protocol: String,
    label: String,
    content: String,
    bytes: usize,
    #[serde(skip)]
    sent: f64,
}

/// All lines of a run.
#[derive(Default)]
pub(crate) struct Comms {
    lines: VecDeque<Comm>,
    /// How many lines there have been; the newest has this number less one.
    count: u64,
    /// Messages that were sent, by number: the newest.
    told: BTreeMap<u64, Arc<Told>>,
    /// Lines before this moment were forgotten.
    since: f64,
    /// Paths of robots, by number.
    paths: Vec<Arc<str>>,
    links: Option<Links>,
}

/// The links that were told last.
struct Links {
    at: Instant,
    text: Arc<str>,
}

impl Comms {
    /// A new run begins.
    pub(crate) fn clear(&mut self) {
        // The number goes on, so that displays that follow know what is new.
        *self = Comms { count: self.count, ..Comms::default() };
    }

    /// The run goes back: what came after no longer counts.
    pub(crate) fn cut(&mut self, stop: u64) {
        while self.lines.back().is_some_and(|line| line.stop > stop) {
            self.lines.pop_back();
        }
        let sent: BTreeMap<u64, Arc<Told>> = std::mem::take(&mut self.told);
        let end = self.lines.back().map_or(f64::NEG_INFINITY, |line| line.t);
        self.told = sent.into_iter().filter(|(_, told)| told.sent <= end).collect();
    }

    /// How many lines there have been.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds what happened in a step.
    pub(crate) fn step(&mut self, model: &Model, frame: &Frame) {
        let notes = frame.events.iter().filter_map(|event| match event {
            RunEvent::Live(note) => Some(note),
            _ => None,
        });
        let mut is_named = false;
        for note in notes {
            if !is_named {
                self.name(model);
                is_named = true;
            }
            if let Some(line) = self.line(frame.stops, note) {
                self.push(line);
            }
        }
    }

    /// Knows the robots of a model by number.
    fn name(&mut self, model: &Model) {
        let Some(live) = &model.live else { return };
        let paths = live.members.iter().map(|slot| &model.paths[*slot as usize]);
        if !paths.clone().eq(self.paths.iter().map(|p| &**p)) {
            self.paths = paths.map(Arc::from).collect();
        }
    }

    fn path(&self, robot: u32) -> Arc<str> {
        self.paths.get(robot as usize).map_or_else(|| Arc::from(format!("robot {robot}")), Arc::clone)
    }

    fn line(&mut self, stop: u64, note: &LiveNote) -> Option<Comm> {
        let t = note.at.since(swarmyard_base::Moment::ZERO);
        let me = self.path(note.robot);
        let of = |told: Option<Arc<Told>>, from: Arc<str>| {
            let sent = told.as_ref().map(|m| m.sent);
            Comm { stop, t, what: "", from, to: Vec::new(), receivers: 0, message: told, sent, why: None }
        };
        Some(match &note.what {
            Note::Sent { serial, to, protocol, label, content, bytes } => {
                let told = Arc::new(Told {
                    serial: *serial,
                    protocol: cut(protocol, MOST_NAME),
                    label: cut(label, MOST_NAME),
                    content: cut(content, MOST_CONTENT),
                    bytes: *bytes,
                    sent: t,
                });
                self.remember(&told);
                let named = to.iter().take(MOST_NAMED).map(|r| self.path(*r)).collect();
                Comm { what: "sent", to: named, receivers: to.len(), sent: None, ..of(Some(told), me) }
            }
            Note::Received { serial, from, protocol, label, content } => {
                let told = self.told.get(serial).map(Arc::clone);
                let sent = told.as_ref().map(|m| m.sent);
                let told = told.unwrap_or_else(|| {
                    let (protocol, label) = (cut(protocol, MOST_NAME), cut(label, MOST_NAME));
                    let content = cut(content, MOST_CONTENT);
                    Arc::new(Told { serial: *serial, protocol, label, content, bytes: 0, sent: t })
                });
                Comm { what: "received", to: vec![me], sent, ..of(Some(told), self.path(*from)) }
            }
            Note::Lost { serial, from, why } => {
                let told = self.told.get(serial).map(Arc::clone);
                let line = of(told, self.path(*from));
                Comm { what: "lost", to: vec![me], why: Some(why.word()), ..line }
            }
            Note::Became(word @ ("crashed" | "recovered")) => Comm { what: word, ..of(None, me) },
            _ => return None,
        })
    }

    fn remember(&mut self, told: &Arc<Told>) {
        self.told.insert(told.serial, Arc::clone(told));
        if self.told.len() > MOST_LINES {
            self.told.pop_first();
        }
    }

    fn push(&mut self, line: Comm) {
        if self.lines.len() >= MOST_LINES
            && let Some(oldest) = self.lines.pop_front()
        {
            self.since = oldest.t;
        }
        self.lines.push_back(line);
        self.count += 1;
    }

    /// The answer to `comms`: lines of a stretch of time, the last ones if there are more than `limit`.
    pub(crate) fn between(&self, from_s: f64, to_s: f64, limit: usize) -> Value {
        let first = self.lines.partition_point(|line| line.t < from_s);
        let end = self.lines.partition_point(|line| line.t <= to_s).max(first);
        let start = end.saturating_sub(limit).max(first);
        let lines: Vec<&Comm> = self.lines.range(start..end).collect();
        json!({ "lines": lines, "left_out": start - first, "since": self.since, "next": self.count })
    }

    /// Sends what is new to a display that follows, if it has room. Otherwise it waits for the next time.
    pub(crate) fn send(&self, client: &mut Client, run: u64, live: &Sim) {
        if !client.wishes.comms {
            client.comms_seen = self.count;
            return;
        }
        let fresh = self.count.saturating_sub(client.comms_seen);
        if fresh == 0 {
            return;
        }
        let Ok(place) = client.personal.try_reserve() else { return };
        let fresh = usize::try_from(fresh).unwrap_or(usize::MAX);
        let told = fresh.min(MOST_FRESH).min(self.lines.len());
        let lines: Vec<&Comm> = self.lines.range(self.lines.len() - told..).collect();
        let message = json!({
            "is": "comms", "run": run, "time": seconds(live.now()), "lines": lines, "left_out": fresh - told,
            "under_way": under_way(live), "next": self.count,
        });
        place.send(Arc::from(message.to_string()));
        client.comms_seen = self.count;
    }

    /// Tells who could hear whom to displays that show it: only when it is another than before, and at most
    /// ten times a second.
    pub(crate) fn send_links(&mut self, hub: &mut Hub, revision: u64, shown: &Sim) {
        if !hub.all().any(|c| c.wishes.links) {
            self.links = None;
            return;
        }
        // While a step is under way, those of its start stay.
        let is_due = |links: &Links| links.at.elapsed() >= LINKS && !shown.is_under_way();
        if self.links.as_ref().is_none_or(is_due) {
            let links = shown.links().map(|mut pairs| {
                pairs.truncate(MOST_PAIRS);
                pairs
            });
            let text = json!({ "is": "links", "revision": revision, "pairs": links }).to_string();
            let same = self.links.take().map(|links| links.text).filter(|old| **old == *text);
            self.links = Some(Links { at: Instant::now(), text: same.unwrap_or_else(|| Arc::from(text)) });
        }
        let Some(Links { text, .. }) = &self.links else { return };
        for client in hub.all_mut().filter(|c| c.wishes.links) {
            if client.links_seen.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, text)) {
                continue;
            }
            if let Ok(place) = client.personal.try_reserve() {
                place.send(Arc::clone(text));
                client.links_seen = Some(Arc::clone(text));
            }
        }
    }
}

/// Messages whose arrival is decided and to come: number, receiver, when.
pub(crate) fn under_way(live: &Sim) -> Vec<Value> {
    let paths = &live.model().paths;
    live.under_way().take(MOST_PAIRS).map(|(serial, slot, at)| json!([serial, paths[slot], at])).collect()
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::Moment;

    /// A run in which robot 0 sends one message to robot 1 at every stop.
    fn filled(stops: u64) -> Comms {
        let mut comms =
            Comms { paths: vec![Arc::from("/robots/a"), Arc::from("/robots/b")], ..Comms::default() };
        for k in 0..stops {
            let what = Note::Sent {
                serial: k,
                to: vec![1],
                protocol: "p".into(),
                label: "L".into(),
                content: "ü".repeat(300),
                bytes: 3,
            };
            let note = LiveNote { at: Moment::ZERO.plus(k as f64), robot: 0, what };
            let line = comms.line(k, &note).unwrap();
            comms.push(line);
        }
        comms
    }

    #[test]
    fn the_store_is_bounded_and_says_since_when_it_is_whole() {
        let comms = filled(MOST_LINES as u64 + 10);
        assert_eq!((comms.lines.len(), comms.told.len()), (MOST_LINES, MOST_LINES));
        let answer = comms.between(0.0, 1e9, 5);
        assert_eq!((&answer["since"], &answer["left_out"]), (&json!(9.0), &json!(MOST_LINES - 5)));
        assert_eq!(answer["lines"][4]["t"], MOST_LINES as f64 + 9.0);
        assert_eq!(answer["lines"][4]["content"].as_str().unwrap().chars().count(), MOST_CONTENT + 1);
    }

    #[test]
    fn a_stretch_of_time_holds_both_its_ends() {
        let comms = filled(10);
        let times = |from: f64, to: f64| {
            let answer = comms.between(from, to, 100);
            let lines = answer["lines"].as_array().unwrap().clone();
            lines.iter().map(|l| l["t"].as_f64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(times(2.0, 4.0), [2.0, 3.0, 4.0]);
        assert!(times(4.5, 3.0).is_empty());
        assert!(times(f64::INFINITY, f64::NEG_INFINITY).is_empty());
    }

    #[test]
    fn what_was_sent_after_a_branch_is_forgotten() {
        let mut comms = filled(10);
        comms.cut(4);
        assert_eq!((comms.lines.len(), comms.told.len(), comms.count()), (5, 5, 10));
    }

    #[test]
    fn a_message_whose_sending_was_forgotten_is_told_without_its_time() {
        let mut comms = filled(1);
        let what = Note::Received {
            serial: 7,
            from: 0,
            protocol: "p".into(),
            label: "L".into(),
            content: "c".into(),
        };
        let line = comms.line(1, &LiveNote { at: Moment::ZERO.plus(5.0), robot: 1, what }).unwrap();
        assert_eq!(line.sent, None);
        let what = Note::Lost { serial: 0, from: 0, why: swarmyard_part_api::Loss::Chance };
        let line = comms.line(1, &LiveNote { at: Moment::ZERO.plus(5.0), robot: 1, what }).unwrap();
        assert_eq!(
            (line.sent, line.why, &line.message.as_ref().unwrap().label[..]),
            (Some(0.0), Some("chance"), "L")
        );
    }
}
