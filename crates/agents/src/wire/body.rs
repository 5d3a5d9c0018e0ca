//! What the protocols of one process can do: send, wait, speak, and go where their wheels take them.

use super::carriage::{Carriage, OwnPlace};
use super::frame::Frame;
use super::socket::Outlet;
use super::{Ear, MOST_BYTES, Settings};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid};
use swarmyard_part_api::{
    Answer, Ended, Happening, Indication, Loss, Motion, Pending, Query, Request, Robot, Watch,
};
use swarmyard_radio::lab::{Event, What};

/// What becomes of what happens.
pub(super) enum Notes {
    /// Kept for a trace: everything, and what the protocol on top asks and is told.
    Kept { top: u16, events: Vec<Event> },
    /// Told to somebody at once: everything, and what is asked and told by these (node, port). The place in this
    /// list is the event's port.
    Told { uses: Vec<(u16, u16)>, ear: Ear },
}

/// One process, as its protocols reach it.
pub(super) struct Body {
    pub(super) me: u32,
    pub(super) robots: u32,
    pub(super) now: Moment,
    pub(super) outlet: Outlet,
    pub(super) settings: Settings,
    /// What carries it; `None` for a process that is nowhere.
    pub(super) carriage: Option<Carriage>,
    pub(super) draws: u32,
    pub(super) serial: u64,
    /// Timers, motions and watches have numbers of one kind.
    pub(super) next_number: u64,
    /// By time and number: whose.
    pub(super) timers: BTreeMap<(Moment, u64), u16>,
    /// What happens to it after this step, at the same moment.
    pub(super) then: VecDeque<Happening>,
    /// What it was asked for and cannot do.
    pub(super) cannot: Option<String>,
    pub(super) notes: Notes,
}

impl Body {
    pub(super) fn note(&mut self, process: u32, what: What) {
        let event = Event { at: self.now, process, what };
        match &mut self.notes {
            Notes::Kept { events, .. } => events.push(event),
            Notes::Told { ear, .. } => {
                // An ear that has panicked hears no more; its thread's panic is reported anyway.
                if let Ok(mut ear) = ear.lock() {
                    ear(&event);
                }
            }
        }
    }

    /// The port of an event by which it is known what was used; `None` when nobody wants to know.
    fn port_of(&self, node: u16, port: usize) -> Option<u16> {
        match &self.notes {
            Notes::Kept { top, .. } => (node == *top).then_some(port as u16),
            Notes::Told { uses, .. } => uses.iter().position(|u| *u == (node, port as u16)).map(|k| k as u16),
        }
    }

    /// Serial numbers of different processes never meet.
    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        u64::from(self.me) << 40 | self.serial
    }

    fn next(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    fn draw(&mut self, purpose: Purpose) -> Draw {
        let ordinal = self.draws;
        self.draws += 1;
        Draw::at(self.settings.seed, Uid(u64::from(self.me)), purpose, Time::ZERO, ordinal)
    }

    /// Remembers what cannot be done: the process ends after this step, and says so.
    fn refuse(&mut self, why: String) -> String {
        self.cannot.get_or_insert_with(|| why.clone());
        why
    }

    /// The motion under way makes room; whoever wanted it is told.
    fn replace(&mut self) {
        let old = self.carriage.as_mut().and_then(|c| c.stand(self.now));
        if let Some((node, task)) = old {
            self.then.push_back(Happening::Ended { node, task, how: Ended::Replaced });
        }
    }
}

impl Robot for Body {
    fn now(&self) -> Moment {
        self.now
    }

    fn me(&self) -> u32 {
        self.me
    }

    fn robots(&self) -> u32 {
        self.robots
    }

    fn chance(&mut self) -> Draw {
        self.draw(Purpose::Algorithm)
    }

    fn say(&mut self, text: &str) {
        self.note(self.me, What::Said(text.to_owned()));
    }

    fn send(&mut self, protocol: u32, to: &[u32], bytes: Arc<[u8]>) {
        let serial = self.next_serial();
        self.note(self.me, What::Sent { serial, protocol, to: to.to_vec(), bytes: Arc::clone(&bytes) });
        let fits = bytes.len() <= MOST_BYTES;
        let (run, from, sent_ns) = (self.outlet.run, self.me, self.now.time.0);
        let bytes = if fits { bytes.to_vec() } else { Vec::new() };
        let frame = Frame { run, from, protocol, serial, sent_ns, bytes }.encode();
        let draw =
            Draw::at(self.settings.seed, Uid(u64::from(self.me)), Purpose::Network, Time(serial as i64), 0);
        for &to in to {
            if draw.uniform(to) < self.settings.loss {
                self.note(to, What::Lost { serial, why: Loss::Chance });
            } else if !fits || !self.outlet.send(to, &frame) {
                self.note(to, What::Lost { serial, why: Loss::Full });
            }
        }
    }

    fn set_timer(&mut self, node: u16, after_s: f64) -> u64 {
        let timer = self.next();
        self.timers.insert((self.now.plus(after_s.max(0.0)), timer), node);
        timer
    }

    fn cancel_timer(&mut self, timer: u64) {
        self.timers.retain(|key, _| key.1 != timer);
    }

    fn go(&mut self, node: u16, motion: &Motion) -> Result<u64, String> {
        let Some(carriage) = &self.carriage else { return Err("a process has nowhere to go".to_owned()) };
        let plan = carriage.plan(self.now, motion)?;
        self.replace();
        let task = self.next();
        if plan.phases.is_empty() {
            self.then.push_back(Happening::Ended { node, task, how: Ended::Finished });
        } else if let Some(carriage) = &mut self.carriage {
            carriage.set_out(self.now, node, task, plan);
        }
        Ok(task)
    }

    fn halt(&mut self) {
        self.replace();
    }

    fn pull(&mut self, query: &Query) -> Result<Answer, String> {
        let chance = self.draw(Purpose::Positioning);
        let Some(carriage) = &self.carriage else { return Err("a process has no sensors".to_owned()) };
        let pose = carriage.pose_at(self.now);
        let place = OwnPlace { now: self.now, me: self.me, robots: self.robots, pose, chance };
        carriage.pull(query, &place).map_err(|why| self.refuse(why))
    }

    fn watch(&mut self, _node: u16, watch: &Watch) -> Result<u64, String> {
        if self.carriage.is_none() {
            return Err("a process has no sensors".to_owned());
        }
        Carriage::watch(watch).map_err(|why| self.refuse(why))?;
        Ok(self.next())
    }

    fn unwatch(&mut self, _watch: u64) {}

    /// Of itself it knows its timers and when its way ends, of others nothing.
    fn pending(&self, robot: u32) -> Vec<Pending> {
        if robot != self.me {
            return Vec::new();
        }
        let timer = |at: Moment| Pending { at, conditional: false, what: "timer".to_owned(), robot: None };
        let mut all: Vec<Pending> = self.timers.keys().map(|k| timer(k.0)).collect();
        let due = self.carriage.as_ref().map_or(Moment::NEVER, Carriage::due);
        if due != Moment::NEVER {
            all.push(Pending { at: due, conditional: true, what: "finish".to_owned(), robot: None });
            all.sort_by_key(|p| p.at);
        }
        all
    }

    /// Nobody sees it.
    fn shine(&mut self, _light: u8) {}

    fn ask(&mut self, _node: u16, _question: &[u8]) {
        self.refuse("cannot ask a program outside: over sockets nobody answers for one".to_owned());
    }

    fn asked(&mut self, node: u16, port: usize, request: &Request) {
        if let Some(port) = self.port_of(node, port) {
            self.note(self.me, What::Requested { port, request: request.clone() });
        }
    }

    fn told(&mut self, node: u16, port: usize, what: &Indication) {
        if let Some(port) = self.port_of(node, port) {
            self.note(self.me, What::Indicated { port, what: what.clone() });
        }
    }
}
