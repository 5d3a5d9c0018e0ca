//! One stretch, event by event.

use super::cast::Cast;
use super::note::{Deal, Dealing, LiveNote};
use super::sky::Sky;
use super::state::{LiveEvent, LiveKey, LiveState, Status};
use super::{FaultKind, LiveModel, Zone, ZoneKind};
use crate::groups::ContactEvent;
use crate::model::Model;
use crate::step::RunEvent;
use std::collections::VecDeque;
use std::sync::Arc;
use swarmyard_base::{Moment, Uid, math};
use swarmyard_motion::flights::With;
use swarmyard_part_api::{Ended, Happening, Loss, Message, Note, Touch};

/// Events at one moment of which each is the cause of the next: the robot that has one more counts as endless.
const MOST_IN_A_ROW: u32 = 100_000;
/// Events that one robot may have at one moment which came of others at that moment, in whatever rows: what doubles at every
/// step never gets to a long row.
const MOST_AT_ONCE: u32 = 250_000;
/// After so many events it is asked whether the stretch is to be left. An event may take a millisecond, where a robot
/// looks at a hundred thousand others.
const LOOK_EVERY: u32 = 64;

/// What is wanted of a stretch beside its outcome.
#[derive(Clone, Copy)]
pub(crate) struct Wants<'a> {
    /// Whether it ends after one event.
    pub(crate) one_event: bool,
    /// Whether notes are taken.
    pub(crate) notes: bool,
    /// Whether it is heard what protocols have to do with each other.
    pub(crate) dealings: bool,
    /// Says when the stretch is to be left before its end, between two events, to be gone on with later. No result
    /// depends on it.
    pub(crate) leave: Option<&'a Leave>,
}

/// What a stretch begins with beside the state.
pub(crate) struct Given<'a> {
    /// What programs outside answered, in the order of the questions.
    pub(crate) answers: &'a [Arc<[u8]>],
    /// Bodies that go by quanta and have just set out in another way, by slot.
    pub(crate) set_out: &'a [usize],
    /// What came of it so far, when it was left before its end.
    pub(crate) before: Option<Played>,
}

/// Says whether somebody wants a stretch to be left: asked often, so it has to be quick.
pub type Leave = dyn Fn() -> bool + Send + Sync;

/// What came of a stretch.
#[derive(Default)]
pub(crate) struct Played {
    /// Whether it began a quantum.
    pub(crate) began: bool,
    /// Where it began.
    pub(crate) from: Moment,
    /// Whether it was left before its end: all else is to be gone on with.
    pub(crate) was_left: bool,
    /// How far it got.
    pub(crate) until: Moment,
    /// Contacts, in order.
    pub(crate) contacts: Vec<ContactEvent>,
    /// Contacts as each body feels them.
    pub(crate) touches: Vec<Touch>,
    /// What there is to tell.
    pub(crate) events: Vec<RunEvent>,
    /// Robots that are out of service from now on, by slot.
    pub(crate) halted: Vec<usize>,
    /// What protocols had to do with each other, when it was wanted.
    pub(crate) dealings: Vec<Dealing>,
}

/// A stretch while it is played.
pub(super) struct Play<'a> {
    pub(super) model: &'a Model,
    pub(super) live: &'a LiveModel,
    pub(super) state: &'a mut LiveState,
    pub(super) cast: &'a mut Cast,
    pub(super) sky: &'a mut Sky,
    pub(super) now: Moment,
    /// Whether notes are wanted.
    pub(super) notes: bool,
    /// Whether dealings are.
    pub(super) dealings: bool,
    /// How many events at this moment, one the cause of the next, led to what is happening.
    pub(super) chain: u32,
    /// What follows at once from what is happening: (robot, what).
    pub(super) then: VecDeque<(u32, Happening)>,
    pub(super) out: Played,
}

/// Plays events until `bound`, or one event only; answers what came of it. The state is where it got to.
pub(crate) fn play(
    model: &Model,
    state: &mut LiveState,
    cast: &mut Cast,
    sky: &mut Sky,
    bound: Moment,
    Wants { one_event, notes, dealings, leave }: Wants<'_>,
    Given { answers, set_out, before }: Given<'_>,
) -> Played {
    let Some(live) = &model.live else { return Played::default() };
    let now = state.now;
    let mut out = before.unwrap_or_else(|| Played { began: !state.mid, from: now, ..Played::default() });
    out.was_left = false;
    let then = VecDeque::new();
    let mut play = Play { model, live, state, cast, sky, now, notes, dealings, chain: 0, then, out };
    let mut until = bound;
    play.hurry(set_out.iter().map(|slot| play.state.going[*slot].speed()).fold(0.0, math::max));
    for slot in set_out {
        play.path_changed(*slot);
    }
    for ((robot, node, _), answer) in std::mem::take(&mut play.state.asks).into_iter().zip(answers) {
        play.state.begin(now, None);
        play.set_chain(play.state.robots[robot as usize].at_once + 1);
        play.tell(robot, Happening::Answered { node, answer: Arc::clone(answer) });
        play.follow_up();
    }
    if !play.state.asks.is_empty() {
        until = now;
    }
    let mut unlooked = 0;
    while play.state.asks.is_empty()
        && let Some(moment) = play.next(bound)
    {
        // Who asks outside cannot go on before there is an answer.
        if one_event || !play.state.asks.is_empty() {
            until = moment;
            break;
        }
        unlooked += 1;
        if unlooked == LOOK_EVERY {
            unlooked = 0;
            if leave.is_some_and(|leave| leave()) {
                play.state.now = moment;
                play.out.was_left = true;
                return play.out;
            }
        }
    }
    play.out.until = until;
    play.state.now = until;
    play.state.past(until);
    let asks = !play.state.asks.is_empty();
    play.state.mid = until < bound || asks || one_event && play.pending_by(bound);
    play.state.open = play.sky.open();
    play.out
}

impl Play<'_> {
    /// Plays the next event, not after `bound`; answers when it was.
    fn next(&mut self, bound: Moment) -> Option<Moment> {
        let first = self.state.queue.first();
        let limit = first.map_or(bound, |at| at.min(bound));
        if let Some(meeting) = self.sky.next(limit) {
            self.now = meeting.moment.max(self.now);
            self.state.begin(self.now, None);
            // Who goes on into a contact meets it again in no time.
            let other = if let With::Body(b) = meeting.with { self.had(b) } else { 0 };
            self.set_chain(other.max(self.had(meeting.body)));
            self.meet(&meeting);
            self.follow_up();
            return Some(self.now);
        }
        if first.is_none_or(|at| at > bound) {
            return None;
        }
        let (key, event) = self.state.queue.pop_first()?;
        self.now = key.at.max(self.now);
        let chain = self.state.begin(self.now, Some(&key));
        self.set_chain(chain);
        self.happen(key, event);
        self.follow_up();
        Some(self.now)
    }

    /// What happens now has so many causes at this moment, and what comes of it one more.
    fn set_chain(&mut self, chain: u32) {
        self.chain = chain;
        self.state.instant.next = chain + 1;
    }

    /// Events that a body has had at this moment which came of others.
    fn had(&self, slot: u32) -> u32 {
        self.live.number(slot as usize).map_or(0, |robot| self.state.robots[robot as usize].at_once)
    }

    /// Whether something is still to come by `bound`: only asked when stopping after every event.
    fn pending_by(&mut self, bound: Moment) -> bool {
        self.state.queue.first().is_some_and(|at| at <= bound) || self.now < bound
    }

    fn happen(&mut self, key: LiveKey, event: LiveEvent) {
        match event {
            LiveEvent::Fault(k) => self.fault(k as usize),
            LiveEvent::Start(robot) => self.start(robot),
            LiveEvent::Arrive(slot) => self.arrive(slot as usize),
            LiveEvent::Zone(slot) => self.cross_zone(slot as usize),
            LiveEvent::Crossing { watch, slot, entering } => self.crossed(key, watch, slot, entering),
            LiveEvent::Wake(token) => {
                self.with_network(|network, air| network.wake(token, air));
            }
            LiveEvent::Deliver { to, from, protocol, serial, bytes } => {
                let message = Message { serial, from, protocol, bytes };
                self.deliver(to, message);
            }
            LiveEvent::Timer { robot, node, timer } => {
                self.state.timers.remove(&(robot, timer));
                self.tell(robot, Happening::Timer { node, timer });
            }
            LiveEvent::Look(watch) => self.look(key, watch),
        }
    }

    /// A robot starts, unless it was put into a hole.
    fn start(&mut self, robot: u32) {
        let slot = self.live.members[robot as usize] as usize;
        let gone = self.state.robots[robot as usize].status == Status::Gone;
        let place = self.state.going[slot].place_at(self.now);
        if !gone && self.live.is_hole(place) {
            self.swallow(slot);
        } else {
            self.tell(robot, Happening::Start);
        }
    }

    fn deliver(&mut self, to: u32, message: Message) {
        if self.state.robots[to as usize].status != Status::Well {
            self.state.lost += 1;
            self.note_lost(&message, to, Loss::Crashed);
            return;
        }
        self.state.delivered += 1;
        if self.notes {
            let (protocol, label, content) = self.shown(message.from, message.protocol, &message.bytes);
            let (serial, from) = (message.serial, message.from);
            self.note(to, Note::Received { serial, from, protocol, label, content });
        }
        let Message { from, protocol, bytes, .. } = message;
        self.tell(to, Happening::Message { protocol, from, bytes });
    }

    pub(super) fn note_lost(&mut self, message: &Message, to: u32, why: Loss) {
        if self.notes {
            self.note(to, Note::Lost { serial: message.serial, from: message.from, why });
        }
    }

    /// Name of a protocol of a robot, and type and content of one of its messages.
    pub(super) fn shown(&self, robot: u32, protocol: u32, bytes: &[u8]) -> (String, String, String) {
        let slot = self.live.members[robot as usize] as usize;
        let Some(life) = &self.model.type_at(slot).life else { return Default::default() };
        let (label, content) = life.graph.show(protocol, bytes);
        (life.graph.name_of(protocol).unwrap_or("?").to_owned(), label, content)
    }

    /// Lets a robot react, and then to what follows at once.
    pub(super) fn tell(&mut self, robot: u32, happening: Happening) {
        if self.state.robots[robot as usize].status != Status::Well {
            return;
        }
        let endless = self.chain > MOST_IN_A_ROW || self.chain > 0 && self.state.count(robot) > MOST_AT_ONCE;
        let Some(mut graph) = self.cast.graphs[robot as usize].take() else { return };
        if endless {
            let protocol = graph.model().at_work(&happening).to_owned();
            self.cast.graphs[robot as usize] = Some(graph);
            self.is_endless(robot, protocol);
            return;
        }
        let result = graph.on(happening, &mut super::deed::Deed { play: self, robot });
        self.cast.graphs[robot as usize] = Some(graph);
        if let Err(endless) = result {
            self.is_endless(robot, endless.protocol);
        }
    }

    /// What follows at once from what happened.
    fn follow_up(&mut self) {
        while !self.then.is_empty() {
            self.set_chain(self.chain + 1);
            for _ in 0..self.then.len() {
                if let Some((robot, happening)) = self.then.pop_front() {
                    self.tell(robot, happening);
                }
            }
        }
    }

    fn is_endless(&mut self, robot: u32, protocol: String) {
        let slot = self.live.members[robot as usize] as usize;
        self.out_of_service(robot, Status::Endless, "endless");
        self.out.halted.push(slot);
        let (robot, at) = (self.model.uids[slot], self.now);
        self.out.events.push(RunEvent::Endless { robot, protocol, at });
    }

    /// A robot stops where it is and hears nothing any more.
    fn out_of_service(&mut self, robot: u32, status: Status, word: &'static str) {
        let slot = self.live.members[robot as usize] as usize;
        let own = self.state.watches.range((robot, 0)..=(robot, u64::MAX));
        for watch in own.map(|(key, _)| key.1).collect::<Vec<u64>>() {
            self.unwatch(robot, watch);
        }
        // Before it stands: nobody looks out any more for who is gone.
        self.state.robots[robot as usize].status = status;
        self.stand(slot);
        self.state.down.insert(robot, self.now);
        self.note(robot, Note::Became(word));
        self.hear(robot, || Deal::Down);
    }

    fn fault(&mut self, k: usize) {
        let Some(fault) = self.live.faults.get(k) else { return };
        match &fault.what {
            FaultKind::Crash(robots) => {
                for &robot in robots {
                    self.crash(robot);
                }
            }
            FaultKind::Recover(robots) => {
                for &robot in robots {
                    self.recover(robot);
                }
            }
            FaultKind::Network(fault) => {
                let fault = fault.clone();
                if let Some(network) = &mut self.cast.network {
                    network.fault(&fault);
                }
            }
        }
    }

    fn crash(&mut self, robot: u32) {
        if self.state.robots[robot as usize].status != Status::Well {
            return;
        }
        self.out_of_service(robot, Status::Crashed, "crashed");
        if let Some(graph) = &mut self.cast.graphs[robot as usize] {
            graph.crash();
        }
        // Its timers are part of its memory.
        let own = self.state.timers.range((robot, 0)..=(robot, u64::MAX));
        for timer in own.map(|(key, _)| key.1).collect::<Vec<u64>>() {
            self.drop_timer(robot, timer);
        }
    }

    /// A timer is not going to run out.
    pub(super) fn drop_timer(&mut self, robot: u32, timer: u64) {
        if let Some(at) = self.state.timers.remove(&(robot, timer)) {
            let (who, kind) = (self.uid(robot), LiveEvent::Timer { robot, node: 0, timer }.kind());
            self.state.queue.remove(&LiveKey { at, kind, who, sequence: timer });
        }
    }

    fn recover(&mut self, robot: u32) {
        if self.state.robots[robot as usize].status != Status::Crashed {
            return;
        }
        self.state.robots[robot as usize].status = Status::Well;
        self.state.down.remove(&robot);
        self.note(robot, Note::Became("recovered"));
        self.hear(robot, || Deal::Back);
        self.tell(robot, Happening::Start);
    }

    /// A body stands from now on; the motion it was told to make has ended.
    pub(super) fn stand(&mut self, slot: usize) {
        self.end_journey(slot);
        let pose = self.state.going[slot].pose_at(self.now);
        self.set_going(slot, super::Going::rest(self.now, pose));
    }

    /// A body falls into a hole.
    pub(super) fn swallow(&mut self, slot: usize) {
        let ended = self.state.going[slot].journey().map(|j| (j.node, j.task));
        self.stand(slot);
        self.sky.remove(slot);
        let Some(robot) = self.live.number(slot) else { return };
        if let Some((node, task)) = ended {
            self.tell(robot, Happening::Ended { node, task, how: Ended::Swallowed });
        }
        self.out_of_service(robot, Status::Gone, "swallowed");
        self.out.halted.push(slot);
        self.out.events.push(RunEvent::Swallowed { robot: self.model.uids[slot] });
    }

    /// Tells whoever wants to know; not of a robot that only plays back what is told of it.
    pub(super) fn note(&mut self, robot: u32, what: Note) {
        if self.notes && !self.is_retold(robot) {
            self.tell_of(robot, what);
        }
    }

    fn is_retold(&self, robot: u32) -> bool {
        let slot = self.live.members[robot as usize] as usize;
        self.model.type_at(slot).life.as_ref().is_some_and(|life| life.graph.retells())
    }

    /// Tells of a robot, whoever says so.
    pub(super) fn tell_of(&mut self, robot: u32, what: Note) {
        if self.notes {
            let note = LiveNote { at: self.now, robot, what };
            self.out.events.push(RunEvent::Live(Box::new(note)));
        }
    }

    /// Tells whoever judges protocols.
    #[inline]
    pub(super) fn hear(&mut self, robot: u32, what: impl FnOnce() -> Deal) {
        if self.dealings {
            self.out.dealings.push(Dealing { at: self.now, robot, what: what() });
        }
    }

    /// Somebody is going to be so fast, m/s, on ordinary ground.
    pub(super) fn hurry(&mut self, speed: f64) {
        let quickest = |most: f64, zone: &Zone| match zone.kind {
            ZoneKind::Slow(factor) => math::max(most, factor),
            ZoneKind::Swallow => most,
        };
        let speed = self.live.zones.iter().fold(1.0, quickest) * speed;
        if speed > self.state.fastest {
            // By powers of two, so that it is seldom.
            self.state.fastest = power_of_two_above(speed);
            self.aim_everything();
        }
    }

    /// The uid of a robot.
    pub(super) fn uid(&self, robot: u32) -> Uid {
        self.model.uids[self.live.members[robot as usize] as usize]
    }
}

/// The least power of two that is not below a positive number.
fn power_of_two_above(x: f64) -> f64 {
    let (exponent, rest) = (x.to_bits() >> 52, x.to_bits() & ((1 << 52) - 1));
    if rest == 0 { x } else { f64::from_bits((exponent + 1) << 52) }
}
