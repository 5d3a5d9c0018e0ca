//! One process over sockets: its protocols, its timers, its clock.

use super::frame::Frame;
use super::socket::Outlet;
use super::{MOST_BYTES, Settings, Step, WireError};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid};
use swarmyard_part_api::{
    Answer, Endless, Graph, GraphModel, Happening, Indication, Loss, Motion, Pending, Query, Request, Robot,
    Watch,
};
use swarmyard_radio::lab::{Event, What, service_of, top};

/// A sender's clock may be ahead by so much and is still believed.
const MOST_AHEAD_NS: i64 = 1_000_000_000;

/// One process.
pub(super) struct Runner {
    graph: Graph,
    body: Body,
    epoch: Instant,
    end: Moment,
    up: bool,
    /// What is left of the script, with the port of each request.
    steps: VecDeque<(Moment, Step, usize)>,
    pub(super) events: Vec<Event>,
}

/// What its protocols can do.
struct Body {
    me: u32,
    robots: u32,
    top: u16,
    now: Moment,
    outlet: Outlet,
    settings: Settings,
    draws: u32,
    serial: u64,
    next_timer: u64,
    /// By time and number: whose.
    timers: BTreeMap<(Moment, u64), u16>,
    noted: Vec<Event>,
}

impl Runner {
    pub(super) fn new(
        model: &Arc<GraphModel>,
        (me, robots): (u32, u32),
        outlet: Outlet,
        (epoch, end): (Instant, Moment),
        settings: Settings,
        script: Vec<(Moment, Step)>,
    ) -> Result<Runner, WireError> {
        let top = top(model);
        let ports = model.ports(top);
        let mut steps = VecDeque::new();
        for (at, step) in script {
            let port = match &step {
                Step::Ask(request) => {
                    let service = service_of(request);
                    let port = ports.iter().position(|p| p.service == service);
                    port.ok_or(WireError::NoPort { process: me, service: service.word() })?
                }
                Step::Crash | Step::Recover => 0,
            };
            steps.push_back((at, step, port));
        }
        let body = Body {
            me,
            robots,
            top,
            now: Moment::ZERO,
            outlet,
            settings,
            draws: 0,
            serial: 0,
            next_timer: 0,
            timers: BTreeMap::new(),
            noted: Vec::new(),
        };
        Ok(Runner { graph: Graph::new(model), body, epoch, end, up: true, steps, events: Vec::new() })
    }

    /// Its whole life.
    pub(super) fn live(&mut self, frames: &Receiver<Frame>) -> Result<(), WireError> {
        self.step(|graph, body| graph.on(Happening::Start, body))?;
        loop {
            self.look_at_the_clock();
            if self.body.now >= self.end {
                return Ok(());
            }
            let next = self.next_due().min(self.end);
            if next > self.body.now {
                match frames.recv_timeout(Duration::from_secs_f64(next.since(self.body.now))) {
                    Ok(frame) => self.hear(frame)?,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        // Nobody can be heard any more; timers and the script go on.
                        std::thread::sleep(Duration::from_secs_f64(next.since(self.body.now)));
                    }
                }
                continue;
            }
            self.do_what_is_due()?;
        }
    }

    /// Time never stands still or goes back from one step to the next.
    fn look_at_the_clock(&mut self) {
        let clock = Moment::at(Time(i64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(i64::MAX)));
        self.body.now = clock.max(self.body.now.plus(1e-9));
    }

    fn next_due(&self) -> Moment {
        let timer = self.body.timers.keys().next().map_or(Moment::NEVER, |k| k.0);
        self.steps.front().map_or(Moment::NEVER, |s| s.0).min(timer)
    }

    fn do_what_is_due(&mut self) -> Result<(), WireError> {
        let timer = self.body.timers.keys().next().copied();
        let script = self.steps.front().map_or(Moment::NEVER, |s| s.0);
        if let Some((at, timer)) = timer.filter(|t| t.0 <= script) {
            let node = self.body.timers.remove(&(at, timer)).unwrap_or_default();
            return self.step(|graph, body| graph.on(Happening::Timer { node, timer }, body));
        }
        match self.steps.pop_front() {
            Some((_, Step::Ask(request), port)) if self.up => {
                let top = self.body.top;
                self.step(|graph, body| graph.request(top, port, request, body))
            }
            Some((_, Step::Crash, _)) if self.up => {
                self.up = false;
                self.graph.crash();
                self.body.timers.clear();
                self.note(What::Crashed);
                Ok(())
            }
            Some((_, Step::Recover, _)) if !self.up => {
                self.up = true;
                self.note(What::Recovered);
                self.step(|graph, body| graph.on(Happening::Start, body))
            }
            _ => Ok(()),
        }
    }

    fn hear(&mut self, frame: Frame) -> Result<(), WireError> {
        self.look_at_the_clock();
        // What is heard was said before: the trace is sorted by time.
        let said = frame.sent_ns.saturating_add(1);
        if said - self.body.now.time.0 < MOST_AHEAD_NS {
            self.body.now = self.body.now.max(Moment::at(Time(said)));
        }
        if !self.up {
            self.note(What::Lost { serial: frame.serial, why: Loss::Crashed });
            return Ok(());
        }
        let (serial, protocol, from) = (frame.serial, frame.protocol, frame.from);
        let bytes: Arc<[u8]> = frame.bytes.into();
        self.note(What::Received { serial, protocol, from, bytes: Arc::clone(&bytes) });
        self.step(|graph, body| graph.on(Happening::Message { protocol, from, bytes }, body))
    }

    fn note(&mut self, what: What) {
        self.events.push(Event { at: self.body.now, process: self.body.me, what });
    }

    fn step(
        &mut self,
        work: impl FnOnce(&mut Graph, &mut Body) -> Result<(), Endless>,
    ) -> Result<(), WireError> {
        let outcome = work(&mut self.graph, &mut self.body);
        self.events.append(&mut self.body.noted);
        outcome.map_err(|e| WireError::Endless { process: self.body.me, protocol: e.protocol })
    }
}

impl Body {
    fn note(&mut self, process: u32, what: What) {
        self.noted.push(Event { at: self.now, process, what });
    }

    /// Serial numbers of different processes never meet.
    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        u64::from(self.me) << 40 | self.serial
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
        let ordinal = self.draws;
        self.draws += 1;
        Draw::at(self.settings.seed, Uid(u64::from(self.me)), Purpose::Algorithm, Time::ZERO, ordinal)
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
        let timer = self.next_timer;
        self.next_timer += 1;
        self.timers.insert((self.now.plus(after_s), timer), node);
        timer
    }

    fn cancel_timer(&mut self, timer: u64) {
        self.timers.retain(|key, _| key.1 != timer);
    }

    fn go(&mut self, _node: u16, _motion: &Motion) -> Result<u64, String> {
        Err("a process has nowhere to go".to_owned())
    }

    fn halt(&mut self) {}

    fn pull(&mut self, _query: &Query) -> Result<Answer, String> {
        Err("a process has no sensors".to_owned())
    }

    fn watch(&mut self, _node: u16, _watch: &Watch) -> Result<u64, String> {
        Err("a process has no sensors".to_owned())
    }

    fn unwatch(&mut self, _watch: u64) {}

    fn pending(&self, _robot: u32) -> Vec<Pending> {
        Vec::new()
    }

    fn shine(&mut self, _light: u8) {}

    fn asked(&mut self, node: u16, port: usize, request: &Request) {
        if node == self.top {
            self.note(self.me, What::Requested { port: port as u16, request: request.clone() });
        }
    }

    fn told(&mut self, node: u16, port: usize, what: &Indication) {
        if node == self.top {
            self.note(self.me, What::Indicated { port: port as u16, what: what.clone() });
        }
    }
}
