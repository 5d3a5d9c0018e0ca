//! One process over sockets: its protocols, its timers, its clock.

use super::body::{Body, Notes};
use super::carriage::Carriage;
use super::frame::Frame;
use super::socket::Outlet;
use super::{Settings, Step, WireError};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use swarmyard_base::{Moment, Time};
use swarmyard_part_api::{Ended, Endless, Graph, GraphModel, Happening, Loss};
use swarmyard_radio::lab::{Event, What, service_of, top};

/// A sender's clock may be ahead by so much and is still believed.
const MOST_AHEAD_NS: i64 = 1_000_000_000;
/// How often it looks whether all are to stop.
const GLANCE: Duration = Duration::from_millis(50);
/// Motions that may end at one moment, one because of the other.
const MOST_FOLLOW: u32 = 100_000;

/// One process.
pub(super) struct Runner {
    graph: Graph,
    body: Body,
    epoch: Instant,
    end: Moment,
    up: bool,
    /// What is left of the script, with the port of each request.
    steps: VecDeque<(Moment, Step, usize)>,
}

/// Who a process is, and when.
pub(super) struct Who {
    /// Its number.
    pub(super) me: u32,
    /// How many there are.
    pub(super) robots: u32,
    /// When the run began.
    pub(super) epoch: Instant,
    /// How long it takes.
    pub(super) end: Moment,
}

impl Runner {
    pub(super) fn new(
        model: &Arc<GraphModel>,
        who: &Who,
        (outlet, carriage): (Outlet, Option<Carriage>),
        (settings, notes): (Settings, Notes),
        script: Vec<(Moment, Step)>,
    ) -> Result<Runner, WireError> {
        let ports = model.ports(top(model));
        let mut steps = VecDeque::new();
        for (at, step) in script {
            let port = match &step {
                Step::Ask(request) => {
                    let service = service_of(request);
                    let port = ports.iter().position(|p| p.service == service);
                    port.ok_or(WireError::NoPort { process: who.me, service: service.word() })?
                }
                Step::Crash | Step::Recover => 0,
            };
            steps.push_back((at, step, port));
        }
        let body = Body {
            me: who.me,
            robots: who.robots,
            now: Moment::ZERO,
            outlet,
            settings,
            carriage,
            draws: 0,
            serial: 0,
            next_number: 0,
            timers: BTreeMap::new(),
            then: VecDeque::new(),
            cannot: None,
            notes,
        };
        Ok(Runner { graph: Graph::new(model), body, epoch: who.epoch, end: who.end, up: true, steps })
    }

    /// Its whole life: until its time is up, or all are to stop. Answers what it kept, and when it ended.
    pub(super) fn live(
        mut self,
        frames: &Receiver<Frame>,
        halt: &AtomicBool,
    ) -> Result<(Vec<Event>, Moment), WireError> {
        let outcome = self.live_on(frames, halt);
        if outcome.is_err() {
            halt.store(true, Ordering::Relaxed);
        }
        outcome?;
        let events = match self.body.notes {
            Notes::Kept { events, .. } => events,
            Notes::Told { .. } => Vec::new(),
        };
        Ok((events, self.body.now.min(self.end)))
    }

    fn live_on(&mut self, frames: &Receiver<Frame>, halt: &AtomicBool) -> Result<(), WireError> {
        self.step(|graph, body| graph.on(Happening::Start, body))?;
        loop {
            self.look_at_the_clock();
            if self.body.now >= self.end || halt.load(Ordering::Relaxed) {
                return Ok(());
            }
            let next = self.next_due().min(self.end);
            if next > self.body.now {
                let wait = Duration::from_secs_f64(next.since(self.body.now)).min(GLANCE);
                match frames.recv_timeout(wait) {
                    Ok(frame) => self.hear(frame)?,
                    Err(RecvTimeoutError::Timeout) => {}
                    // Nobody can be heard any more; timers and the script go on.
                    Err(RecvTimeoutError::Disconnected) => std::thread::sleep(wait),
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

    fn next_timer(&self) -> Moment {
        self.body.timers.keys().next().map_or(Moment::NEVER, |k| k.0)
    }

    fn next_arrival(&self) -> Moment {
        self.body.carriage.as_ref().map_or(Moment::NEVER, Carriage::due)
    }

    fn next_due(&self) -> Moment {
        let script = self.steps.front().map_or(Moment::NEVER, |s| s.0);
        script.min(self.next_timer()).min(self.next_arrival())
    }

    fn do_what_is_due(&mut self) -> Result<(), WireError> {
        let due = self.next_due();
        if self.next_arrival() == due {
            return match self.body.carriage.as_mut().and_then(Carriage::arrive) {
                Some((node, task)) => {
                    let how = Ended::Finished;
                    self.step(|graph, body| graph.on(Happening::Ended { node, task, how }, body))
                }
                None => Ok(()),
            };
        }
        if self.next_timer() == due {
            let Some(((_, timer), node)) = self.body.timers.pop_first() else { return Ok(()) };
            return self.step(|graph, body| graph.on(Happening::Timer { node, timer }, body));
        }
        match self.steps.pop_front() {
            Some((_, Step::Ask(request), port)) if self.up => {
                let top = top(self.graph.model());
                self.step(|graph, body| graph.request(top, port, request, body))
            }
            Some((_, Step::Crash, _)) if self.up => {
                self.up = false;
                self.graph.crash();
                self.body.timers.clear();
                if let Some(carriage) = &mut self.body.carriage {
                    carriage.stand(self.body.now);
                }
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
        if said.saturating_sub(self.body.now.time.0) < MOST_AHEAD_NS {
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
        self.body.note(self.body.me, what);
    }

    /// One step, and what follows from it at the same moment.
    fn step(
        &mut self,
        work: impl FnOnce(&mut Graph, &mut Body) -> Result<(), Endless>,
    ) -> Result<(), WireError> {
        let process = self.body.me;
        let endless = |e: Endless| WireError::Endless { process, protocol: e.protocol };
        work(&mut self.graph, &mut self.body).map_err(endless)?;
        let mut follow = 0;
        while let Some(happening) = self.body.then.pop_front() {
            follow += 1;
            if follow > MOST_FOLLOW {
                let protocol = self.graph.model().at_work(&happening).to_owned();
                return Err(WireError::Endless { process, protocol });
            }
            self.graph.on(happening, &mut self.body).map_err(endless)?;
        }
        match self.body.cannot.take() {
            Some(what) => Err(WireError::Cannot { process, what }),
            None => Ok(()),
        }
    }
}
