//! The one thread that owns the run.
//!
//! In: commands of displays, over a channel. Out: steps, and what they look like, on the [`Board`]. The loop is
//! [`Runner::run`]: what people want, then steps for a moment, then what there is to show. It never waits
//! for a display: what it publishes lies there for whoever looks.

use crate::answer::{Answer, Refusal, Reply};
use crate::board::{Board, Fresh};
use crate::comms::Comms;
use crate::desk::{Means, Setting};
use crate::document::Document;
use crate::files::Project;
use crate::hub::{Client, Hub, Wishes};
use crate::inspect;
use crate::maps::Maps;
use crate::message::Request;
use crate::pace::Pace;
use crate::parcel::Parcel;
use crate::show::{Show, Tried};
use crate::tape::Tape;
use crate::tell::{Log, seconds};
use crate::workers::Workers;
use axum::body::Bytes;
use axum::extract::ws::Utf8Bytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use swarmyard_engine::{Frame, RunEvent};
use swarmyard_record::Recording;
use swarmyard_sim::Crowd;
use tokio::sync::{broadcast, mpsc, oneshot};

/// How long the run goes on between two looks at what people want.
const SLICE: Duration = Duration::from_millis(10);
/// How long to sleep when nothing is to do.
const REST: Duration = Duration::from_millis(500);
/// How long to sleep when commands are waited for.
const NAP: Duration = Duration::from_millis(20);
/// Programs may take that long without being called slow.
const SLOW: Duration = Duration::from_millis(200);
/// A request to step is answered after this time, although it is not done.
const PATIENCE: Duration = Duration::from_secs(1);
/// Lines a display is told when it joins.
pub(crate) const FIRST_LINES: usize = 500;

/// What the runner is told.
pub(crate) enum Command {
    /// A display comes.
    Join { name: String, console: bool, local: bool, reply: oneshot::Sender<Result<Joined, Refusal>> },
    /// It goes.
    Leave(u64),
    /// It asks for something.
    Ask { client: u64, request: Request, text: Utf8Bytes, reply: oneshot::Sender<Reply> },
    /// Somebody wants the recording of the run.
    Recording(oneshot::Sender<Result<Recorded, String>>),
    /// The console, if that is its key, sends a recording to open: read, and as it came.
    Upload { key: String, recording: Box<Recording>, bytes: Bytes, reply: oneshot::Sender<Answer> },
    /// Somebody wants the server to end.
    Stop,
}

/// The recording of a run.
pub(crate) enum Recorded {
    /// It lies in a file.
    File(Parcel),
    /// All of it.
    Bytes(Bytes),
}

/// What a display gets when it joins.
pub(crate) struct Joined {
    pub(crate) id: u64,
    pub(crate) key: String,
    /// The build that runs the run.
    pub(crate) build: String,
    /// The project's folder.
    pub(crate) project: String,
    /// Counts what it is sent.
    pub(crate) bytes: Arc<AtomicU64>,
    pub(crate) wishes: Wishes,
    /// What happened so far, as a message.
    pub(crate) events: String,
    /// What happens from now on.
    pub(crate) news: broadcast::Receiver<Arc<str>>,
    /// What is meant for it alone.
    pub(crate) personal: mpsc::Receiver<Arc<str>>,
}

/// Steps that were asked for, and who waits for them.
struct Stepping {
    left: u64,
    reply: Option<oneshot::Sender<Reply>>,
    until: Instant,
}

/// The run, the document, and everybody who looks.
pub(crate) struct Runner {
    pub(crate) commands: Receiver<Command>,
    pub(crate) project: Arc<Project>,
    pub(crate) setting: Setting,
    pub(crate) document: Document,
    pub(crate) show: Show,
    pub(crate) hub: Hub,
    pub(crate) log: Log,
    pub(crate) comms: Comms,
    pub(crate) pace: Pace,
    pub(crate) board: Board,
    /// What is wrong, by where it comes from.
    pub(crate) problems: BTreeMap<&'static str, Vec<Value>>,
    pub(crate) maps: Maps,
    pub(crate) workers: Workers,
    /// Who would take the steps, while a recording is shown.
    pub(crate) parked: Option<Box<dyn Crowd>>,
    /// The recording of a live run.
    pub(crate) tape: Option<Tape>,
    pub(crate) is_running: bool,
    /// Whether the run was going on when somebody first looked back.
    pub(crate) went_on: Option<bool>,
    stepping: Option<Stepping>,
    /// Since when the step is waited for.
    waiting: Option<Instant>,
    pub(crate) is_leaving: bool,
    /// Number of the run.
    pub(crate) number: u64,
    /// Number of the world that is shown.
    pub(crate) revision: u64,
}

impl Runner {
    /// Opens a scenario, or an empty world when it cannot be opened: then its problems are shown.
    pub(crate) fn new(
        commands: Receiver<Command>,
        project: Arc<Project>,
        (file, means): (Option<&PathBuf>, Means),
        board: Board,
        crowd: Option<Box<dyn Crowd>>,
    ) -> Result<Runner, Refusal> {
        let setting = Setting::at(project.root(), &means);
        let document = Document::unsaved("untitled".into(), crate::desk::EMPTY.into());
        let mut show = Show::new(setting.read(document.name(), document.text())?);
        if let Some(crowd) = crowd {
            show.live_mut().give_to(crowd);
        }
        let mut runner = Runner {
            commands,
            project,
            setting,
            document,
            show,
            hub: Hub::default(),
            log: Log::default(),
            comms: Comms::default(),
            pace: Pace::new(),
            board,
            problems: BTreeMap::new(),
            maps: Maps::default(),
            workers: Workers::default(),
            parked: None,
            tape: None,
            is_running: false,
            went_on: None,
            stepping: None,
            waiting: None,
            is_leaving: false,
            number: 0,
            revision: 1,
        };
        runner.tape_anew();
        if let Some(file) = file {
            runner.open_first(file);
        }
        // What could not be opened is a run all the same: of an empty world.
        runner.number = 1;
        runner.publish(true);
        Ok(runner)
    }

    /// The loop.
    pub(crate) fn run(mut self) {
        while !self.is_leaving {
            let rest = self.advance();
            let rest = rest.min(self.publish(false));
            match self.commands.recv_timeout(rest) {
                Ok(command) => self.take(command),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Ok(command) = self.commands.try_recv() {
                self.take(command);
            }
        }
        self.publish(true);
    }

    fn take(&mut self, command: Command) {
        match command {
            Command::Join { name, console, local, reply } => {
                // Whoever has gone away meanwhile is noticed when its link ends.
                let _ = reply.send(self.join(name, console, local));
            }
            Command::Leave(id) => {
                self.hub.leave(id);
                self.publish(true);
            }
            Command::Ask { client, request, reply, .. } => self.asked(client, request, reply),
            Command::Recording(reply) => {
                let _ = reply.send(self.recording().map(Recorded::File));
            }
            Command::Upload { key, recording, reply, .. } => {
                let answer = match self.hub.is_console_key(&key) {
                    true => self.open_recording(None, *recording),
                    false => Err(Refusal::new("not-console", "only the console sends recordings")),
                };
                self.publish(true);
                let _ = reply.send(answer);
            }
            Command::Stop => self.is_leaving = true,
        }
    }

    fn join(&mut self, name: String, console: bool, local: bool) -> Result<Joined, Refusal> {
        let key = crate::guard::secret().map_err(|e| Refusal::new("system", e.to_string()))?;
        let wishes = Wishes { frames: true, rate: 30, ..Wishes::default() };
        let (personal, received) = mpsc::channel(16);
        let client = Client {
            name,
            local,
            key: key.clone(),
            wishes: wishes.clone(),
            personal,
            rows: Vec::new(),
            comms_seen: self.comms.count(),
            links_seen: None,
            workers_seen: None,
        };
        let id = self.hub.join(client, console)?;
        self.publish(true);
        let lines = self.log.last(FIRST_LINES);
        Ok(Joined {
            id,
            key,
            build: swarmyard_engine::build_id().to_string(),
            project: self.project.root().display().to_string(),
            bytes: Arc::default(),
            wishes,
            events: json!({ "is": "events", "lines": lines }).to_string(),
            news: self.board.news(),
            personal: received,
        })
    }

    fn asked(&mut self, client: u64, request: Request, reply: oneshot::Sender<Reply>) {
        let allowed = if request.needs_control() { self.hub.check(client) } else { Ok(()) };
        let answer = match (allowed, request) {
            (Err(refusal), _) => Err(refusal),
            (Ok(()), request) if request.changes_run() && self.show.is_replay() => {
                Err(Refusal::new("replay", "a recording is shown: it cannot be changed")
                    .help("open a scenario to change something"))
            }
            (Ok(()), request) if request.is_input() && self.show.is_looking_back() => {
                Err(Refusal::new("looking-back", "an earlier moment is shown, where nothing can be changed")
                    .help("go back with `live`, or `branch` from here"))
            }
            (Ok(()), Request::Seek { stop }) => match self.seek(stop) {
                Ok(0) => Ok(json!({ "stop": stop, "left": 0 })),
                Ok(left) => {
                    self.stepping =
                        Some(Stepping { left, reply: Some(reply), until: Instant::now() + PATIENCE });
                    return;
                }
                Err(refusal) => Err(refusal),
            },
            (Ok(()), Request::Step { n }) => match self.may_step() {
                Ok(()) => {
                    self.stepping =
                        Some(Stepping { left: n, reply: Some(reply), until: Instant::now() + PATIENCE });
                    return;
                }
                Err(refusal) => Err(refusal),
            },
            (Ok(()), request) => self.answer(client, request),
        };
        self.publish(true);
        // Whoever asked may have gone away: then nobody needs the answer.
        let _ = reply.send(answer.into());
    }

    fn may_step(&self) -> Result<(), Refusal> {
        if self.is_running || self.stepping.is_some() {
            return Err(Refusal::new("running", "the run is not paused").help("pause it first"));
        }
        self.may_go_on()
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn may_go_on(&self) -> Result<(), Refusal> {
        if self.problems.contains_key("open") {
            return Err(Refusal::new("problems", "the document does not load")
                .help("mend it with `replace`, or open another"));
        }
        if self.show.is_looking_back() {
            return Err(Refusal::new("looking-back", "an earlier moment is shown")
                .help("go back with `live`, or `branch` from here"));
        }
        if self.show.is_over() {
            return Err(Refusal::new("ended", "the run has ended").help("`reset` it, or go back with `seek`"));
        }
        Ok(())
    }

    /// Lets the run stand still.
    pub(crate) fn stand(&mut self) {
        self.is_running = false;
        self.waiting = None;
        self.pace.stop();
        self.end_stepping();
    }

    fn end_stepping(&mut self) {
        let Some(stepping) = self.stepping.take() else { return };
        self.publish(true);
        self.answer_stepping(stepping.reply, stepping.left);
    }

    fn answer_stepping(&self, reply: Option<oneshot::Sender<Reply>>, left: u64) {
        if let Some(reply) = reply {
            let answer = Ok(json!({ "stop": self.show.sim().state().stops, "left": left }));
            let _ = reply.send(answer.into());
        }
    }

    /// Takes steps for a moment, as many as are due. Answers how long nothing is to do.
    fn advance(&mut self) -> Duration {
        if !self.is_running && self.stepping.is_none() {
            self.rest();
            return REST;
        }
        let until = Instant::now() + SLICE;
        loop {
            let wall = Instant::now();
            if let Some(stepping) = &mut self.stepping {
                if wall > stepping.until && stepping.reply.is_some() {
                    let (reply, left) = (stepping.reply.take(), stepping.left);
                    self.answer_stepping(reply, left);
                }
            } else {
                let (now, next) = self.show.next_stop();
                let ahead = self.pace.ahead(wall, now, next);
                if !ahead.is_zero() {
                    return ahead;
                }
            }
            match self.show.step(until) {
                Tried::Stepped(frame) => self.stepped(wall, &frame),
                Tried::AtWork => {
                    self.waiting.get_or_insert(wall);
                    return Duration::ZERO;
                }
                Tried::UnderWay => {
                    self.waiting = None;
                    return Duration::ZERO;
                }
                Tried::Blocked => {
                    self.waiting.get_or_insert(wall);
                    return NAP;
                }
                Tried::Over => {
                    self.stand();
                    self.log.say("info", "run", None, "the run has ended");
                    self.publish(true);
                    return REST;
                }
                Tried::Failed(error) => {
                    self.stand();
                    self.log.refused("run", &error.into());
                    self.publish(true);
                    return REST;
                }
            }
            if !self.is_running && self.stepping.is_none() {
                return REST;
            }
            if Instant::now() >= until {
                return Duration::ZERO;
            }
        }
    }

    /// Takes a step to its end that was left under way: before what cannot be done meanwhile.
    pub(crate) fn end_step(&mut self) {
        while self.show.live().is_under_way() {
            let wall = Instant::now();
            match self.show.step(wall + SLICE) {
                Tried::Stepped(frame) => self.stepped(wall, &frame),
                Tried::UnderWay => {}
                Tried::AtWork | Tried::Blocked | Tried::Over | Tried::Failed(_) => return,
            }
        }
    }

    /// Nothing is to do: those who take the steps are told that they are still needed.
    fn rest(&mut self) {
        self.show.live_mut().rest();
        if let Some(crowd) = &mut self.parked {
            crowd.rest();
        }
    }

    /// Tells everybody who looks at every step.
    fn stepped(&mut self, wall: Instant, frame: &Frame) {
        self.waiting = None;
        let sim = self.show.sim();
        self.log.step(sim.model(), frame);
        self.comms.step(sim.model(), frame);
        for event in &frame.events {
            if let RunEvent::Contact(contact) = event {
                self.board.contact(contact.point);
            }
        }
        for client in self.hub.all_mut() {
            inspect::sample(sim, client);
        }
        self.maps.look(sim);
        if let Some(tape) = &mut self.tape {
            tape.frame(sim, frame);
        }
        self.pace.note(wall, sim.now());
        self.board.touch();
        if let Some(stepping) = &mut self.stepping {
            stepping.left -= 1;
            if stepping.left == 0 {
                self.end_stepping();
            }
        }
    }

    /// Puts on the board what has changed, if it is time or `urgent`. Answers how long the next time is off.
    pub(crate) fn publish(&mut self, urgent: bool) -> Duration {
        // Also when nothing else is new: it may have been too early for them the last time.
        self.comms.send_links(&mut self.hub, self.revision, self.show.sim());
        self.workers.send(&mut self.hub, self.number, self.show.live());
        let wait = self.board.wait(urgent, self.waiting.is_some());
        if !wait.is_zero() {
            return wait;
        }
        self.board.tell(&self.log.take_fresh());
        for client in self.hub.all_mut() {
            inspect::send_samples(client);
            self.comms.send(client, self.number, self.show.live());
        }
        let world = (!self.board.has_world(self.revision)).then(|| self.world());
        let status = self.board.is_calm_due().then(|| self.status());
        let fresh = Fresh {
            show: &self.show,
            hub: &self.hub,
            maps: &mut self.maps,
            problems: &self.problems,
            revision: self.revision,
            status,
            world,
        };
        self.board.put(fresh);
        self.board.wait(false, self.waiting.is_some())
    }

    /// The `status` message.
    fn status(&self) -> Value {
        let (shown, live) = (self.show.sim(), self.show.live());
        let wall = Instant::now();
        let slow = self.waiting.filter(|since| wall.duration_since(*since) >= SLOW);
        let waiting: Vec<Value> = slow.map_or_else(Vec::new, |since| {
            let seconds = wall.duration_since(since).as_secs_f64();
            let robots = live.waiting().take(1000).map(|slot| &live.model().paths[slot]);
            robots.map(|robot| json!({ "robot": robot, "seconds": seconds })).collect()
        });
        let goes = self.is_running || self.stepping.is_some();
        let state = match () {
            () if self.problems.contains_key("open") => "error",
            () if goes && slow.is_some() => "waiting",
            () if goes => "running",
            () if self.show.is_over() && !self.show.is_looking_back() => "ended",
            () => "paused",
        };
        let (undo, redo) = self.document.next_steps();
        json!({
            "is": "status",
            "state": state,
            "mode": self.show.mode(),
            "stop": shown.state().stops,
            "time": seconds(shown.now()),
            "newest": self.show.newest().0,
            "newest_time": seconds(self.show.newest().1),
            "looking_back": self.show.is_looking_back(),
            "duration": seconds(shown.model().run.duration),
            "speed": self.pace.speed(),
            "rtf": if goes { self.pace.measured(wall, live.now()) } else { 0.0 },
            "quantum": shown.state().quantum.length.value(),
            "detail": shown.state().detail.word(),
            "waiting": waiting,
            "hash": format!("{:016x}", self.show.hash()),
            "file": self.document.file(),
            "title": shown.model().title,
            "dirty": self.document.is_dirty(),
            "revision": self.revision,
            "undo": undo,
            "redo": redo,
            "undo_depth": self.document.undo_depth(),
            "run": self.number,
            "verified": self.show.verified(),
            "spread": live.is_spread(),
        })
    }

    /// The `world` message.
    fn world(&self) -> Value {
        let model = self.show.sim().model();
        let (drawing, types) = crate::world::world_json(model, &self.project);
        json!({
            "is": "world",
            "revision": self.revision,
            "file": self.document.file(),
            "title": model.title,
            "mode": self.show.mode(),
            "drawing": drawing,
            "owners": crate::world::owners(model),
            "types": types,
            "entries": self.entries(),
            "text": self.document.text(),
        })
    }
}
