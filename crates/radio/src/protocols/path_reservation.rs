//! Collision avoidance by path reservation, after Yared, Défago and Wiesmann.
//!
//! It stands between an algorithm and the wheels: it provides motion and uses motion, so that any algorithm
//! becomes careful without knowing it. A way is cut into chunks. Each chunk's zone, as wide as the robot and a
//! margin, is asked for by a total order broadcast, and is granted when no earlier reservation of another robot
//! that meets it is left. The robot goes along a chunk only when it has its zone, and releases what is behind.
//! Where a robot stands is reserved too, from the start, and nobody moves before all have said where they stand.
//!
//! Every robot keeps the same book (`zones.rs`) from the same messages in the same order, so a grant needs no
//! message. No clock is involved: zones that robots occupy never meet, however long a message or a robot takes.
//!
//! - **Guarantees**: robots that use it never touch each other; nobody is overtaken in the order of asking.
//!   Robots that wait for each other in a circle all find the same circle. If asking in another order helps, one
//!   of them asks again; if they stand in each other's way, they say so, and after `patience` the one with the
//!   highest number gives up: its motion ends as `Replaced`, and its algorithm must think of something else. One that
//!   is hemmed in would do so for ever: who has asked first and has been in a deadlock for forty times as long gives up
//!   as well. So does, after `wait`, if that is given, who waits in the end for a robot that stands and wants nothing.
//! - **Assumes**: a total order broadcast; a `gps`; that a robot's outline is within `radius`, that it strays less
//!   than `margin` from its way, and that a motion below ends as `Replaced` when it is told to halt. A robot that
//!   crashes keeps what it has: others wait outside. Other things than such robots are not seen by it: what the
//!   robot touches is handed up as the motion's end.
//! - **Motions**: `MoveTo`, `Forward`, `Velocity` and `Arc` in chunks; turns in place without asking. Where the
//!   heading is not known yet, and for arcs, the zone is a disc around the robot. Patterns are refused.
//! - **Messages**: two broadcasts per chunk. With no chunk reserved `ahead` a robot advances a chunk of length L in
//!   L/v + T, where T is how long a broadcast takes; with chunks ahead that make up for v·T, at its full speed v.
//! - **Checked** with thousands of runs in the laboratory with random delays and pauses, and model-checked with 2
//!   robots that cross each other's way, over a sequencer and over Lamport's order.

use super::ordering::came_back;
use super::ways::{Way, cut, heading_after, way};
use super::zones::{Book, Zone};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Moment, Vec2};
use swarmyard_part_api::{
    Answer, Broadcast, Built, Class, Cx, Drive, Ended, Indication, Kind, Microprotocol, Moving, Param,
    ParamType, PortSpec, ProtocolModel, ProtocolPort, Query, Request, ServiceKind, Sheet, TypeLayout, User,
    from_bytes, memory_is_serde,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("path-reservation", Kind::Protocol, "Keeps robots from touching each other: cuts every way into chunks, reserves each by a total order broadcast, and moves only where it has a reservation. Provides motion to the algorithm above; needs a gps.")
        .param(Param::number("chunk", Unit::Metre, "Length of the pieces a way is cut into.").within(1e-3, 1e6).or_num(0.5))
        .param(Param::number("margin", Unit::Metre, "How far a robot may stray from its way, and how much more than its outline is reserved.").within(0.0, 1e6).or_num(0.02))
        .param(Param::number("radius", Unit::Metre, "Radius of the robot around its origin; that of its outline when left out.").within(0.0, 1e6))
        .param(Param::new("ahead", ParamType::Int { min: 0, max: 64 }, "How many chunks are asked for before they are needed.").or(Value::Int(1)))
        .param(Param::number("patience", Unit::Second, "How long a robot stays in a deadlock before it gives up its way.").within(1e-3, 1e6).or_num(1.0))
        .param(Param::number("wait", Unit::Second, "How long a robot waits while the last one in the queue before it stands and wants to go nowhere; then it gives up its way. It waits for as long as that takes when left out.").within(1e-3, 1e6))
        .param(Param::new("give_up", ParamType::Bool, "Whether a robot gives up its way in a deadlock; if not, it only says so.").or(Value::Bool(true)))
        .param(Param::new("motion", ParamType::Name("protocol"), "Provider of the motions; the body when left out."))
        .param(Param::new("broadcast", ParamType::Name("protocol"), "Provider of the total order broadcast; the only one there is when left out."))
        .example("[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[[type.demo.protocol]]\nname = \"order\"\nclass = \"lamport-order\"\n\n[[type.demo.protocol]]\nname = \"careful\"\nclass = \"path-reservation\"\nbroadcast = \"order\"\nchunk = \"30cm\"")
}

fn build(params: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let radius_m = params.num_or_none("radius").unwrap_or_else(|| layout.outline.reach());
    let rules = Rules {
        chunk_m: params.num("chunk"),
        margin_m: params.num("margin"),
        zone_m: radius_m + params.num("margin"),
        ahead: u32::try_from(params.int("ahead")).unwrap_or(0),
        patience_s: params.num("patience"),
        wait_s: params.num_or_none("wait"),
        give_up: params.bool("give_up"),
    };
    Ok(Built::Protocol(Arc::new(PathReservation { rules })))
}

/// After so many times its patience a robot no longer expects that others solve a deadlock it is in.
const HEMMED_IN: f64 = 40.0;

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);
const BROADCAST: ProtocolPort<Broadcast> = ProtocolPort::new(1);

struct PathReservation {
    rules: Rules,
}

impl ProtocolModel for PathReservation {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Motion)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion), PortSpec::new("broadcast", ServiceKind::Broadcast)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Memory { rules: self.rules, ..Memory::default() })
    }

    fn asks(&self) -> Vec<Query> {
        vec![Query::Gps { error: 0.0 }]
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        let ends = |z: &Zone| {
            let end = |p: Vec2| format!("[{:.3},{:.3}]", p.x, p.y);
            if z.a == z.b { end(z.a) } else { format!("{} to {}", end(z.a), end(z.b)) }
        };
        match from_bytes::<Message>(bytes) {
            Ok(Message::Stand(zone)) => ("STAND".into(), ends(&zone)),
            Ok(Message::Reserve(number, zone)) => ("RESERVE".into(), format!("#{number} {}", ends(&zone))),
            Ok(Message::Release(up_to, None)) => ("RELEASE".into(), format!("to #{up_to}")),
            Ok(Message::Release(up_to, Some((_, zone)))) => {
                ("RELEASE".into(), format!("to #{up_to}, stands on {}", ends(&zone)))
            }
            Err(why) => ("BAD".into(), why),
        }
    }
}

/// The parameters.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Rules {
    chunk_m: f64,
    margin_m: f64,
    /// Radius of every zone: the robot and the margin.
    zone_m: f64,
    ahead: u32,
    patience_s: f64,
    wait_s: Option<f64>,
    give_up: bool,
}

/// To all robots, in total order.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Message {
    /// It starts here.
    Stand(Zone),
    /// It wants this zone, under this number.
    Reserve(u64, Zone),
    /// It needs nothing up to this number any more, except this place inside the zone of that number.
    Release(u64, Option<(u64, Zone)>),
}

/// What the user above wants.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Job {
    user: User,
    tag: u64,
    /// What is not cut yet.
    way: Way,
    /// Whether nothing of it is cut yet: then the robot may have to turn first.
    fresh: bool,
}

/// A piece of a way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Chunk {
    /// Its reservation; none when the robot stays in its place.
    zone: Option<(u64, Zone)>,
    /// Where it ends, if that is known before.
    end: Option<Vec2>,
    step: Way,
}

#[derive(Default, Serialize, Deserialize)]
struct Memory {
    rules: Rules,
    /// Back after a crash, or without a gps: it does not move.
    unfit: bool,
    book: Book,
    at: Vec2,
    /// Direction it faces, if known.
    heading: Option<Vec2>,
    /// The last number of a reservation.
    asked: u64,
    /// The last number it has released.
    released: u64,
    /// Number of the zone it stands in.
    stands_in: u64,
    job: Option<Job>,
    /// Chunks that are asked for and not travelled; the first may be under way.
    plan: VecDeque<Chunk>,
    /// The motion under way below.
    task: Option<u64>,
    tasks: u64,
    /// Whether it has told the motion under way to stop, and what comes then.
    stopping: bool,
    next: Option<Job>,
    /// The reservation for which a deadlock was reported, with whom; and the timer to give it up.
    reported: (u64, Vec<u32>),
    timer: Option<u64>,
    /// The reservation that was last in a deadlock, and since when.
    jammed: Option<(u64, Moment)>,
    /// The timer to give up a way that leads, in the end, to somebody who stands and wants nothing.
    in_vain: Option<u64>,
}

impl Microprotocol for Memory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.unfit = came_back(cx);
        if self.unfit {
            return;
        }
        match here(cx) {
            Ok(at) => {
                self.at = at;
                cx.broadcast(BROADCAST, &Message::Stand(Zone::disc(at, self.rules.zone_m)));
            }
            Err(why) => {
                self.unfit = true;
                cx.say(&format!("does not know where it stands ({why}): nobody will move"));
            }
        }
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let wanted = match request {
            Request::Motion(Drive::Halt) => None,
            Request::Motion(Drive::Go { tag, motion }) => match way(&motion) {
                Ok(way) if !self.unfit => Some(Job { user, tag, way, fresh: true }),
                Ok(_) => return cx.indicate(user, Indication::Ended { tag, how: Ended::Replaced }),
                Err(why) => {
                    cx.say(&format!("cannot reserve a path: {why}"));
                    return cx.indicate(user, Indication::Ended { tag, how: Ended::Replaced });
                }
            },
            _ => return,
        };
        if self.task.is_some() {
            // It stands, and knows where, when the motion under way has ended.
            if let Some(Job { user, tag, .. }) = std::mem::replace(&mut self.next, wanted) {
                cx.indicate(user, Indication::Ended { tag, how: Ended::Replaced });
            }
            if !self.stopping {
                self.stopping = true;
                cx.request(MOTION, Drive::Halt);
            }
            return;
        }
        self.wait_no_more(cx);
        self.drop_plan(cx);
        self.end(Ended::Replaced, cx);
        self.job = wanted;
        self.advance(cx);
    }

    fn indication(&mut self, port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Delivered { from, bytes } if port == BROADCAST.number => {
                if let Ok(message) = from_bytes(&bytes) {
                    self.read(from, message, cx);
                }
            }
            Indication::Ended { tag, how } if self.task == Some(tag) => self.ended(how, cx),
            _ => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if self.timer == Some(timer) {
            self.timer = None;
            if self.task.is_none()
                && let Some(circle) = self.book.circle(cx.me())
                && circle.jam
                && circle.robots.last() == Some(&cx.me())
            {
                return self.give_up("gives up its way", cx);
            }
            // The circle is open now, or another. When it closes again, that is news.
            self.reported = (0, Vec::new());
            self.advance(cx);
        } else if self.in_vain == Some(timer) {
            self.in_vain = None;
            if let Some(who) = self.book.waits_in_vain(cx.me()) {
                self.give_up(&format!("gives up its way: robot {who} stands there and wants nothing"), cx);
            }
        }
    }

    memory_is_serde!();
}

impl Memory {
    /// Enters a message into the book, and goes on if that makes a difference.
    fn read(&mut self, from: u32, message: Message, cx: &mut Cx<'_>) {
        match message {
            Message::Stand(zone) if zone.is_sound() => {
                self.book.stand(from, zone);
                let crowd = if self.is_ready(cx) { self.book.crowded(cx.me()) } else { Vec::new() };
                if !crowd.is_empty() {
                    cx.say(&format!(
                        "starts too near to {crowd:?} to ever get a way: make the margin smaller"
                    ));
                }
            }
            Message::Reserve(number, zone) if zone.is_sound() => self.book.reserve(from, number, zone),
            Message::Release(up_to, stands) if stands.is_none_or(|s| s.1.is_sound()) => {
                self.book.release(from, up_to, stands);
            }
            _ => return,
        }
        self.advance(cx);
    }

    /// Whether everybody has said where it stands.
    fn is_ready(&self, cx: &Cx<'_>) -> bool {
        self.book.here() == cx.robots() as usize
    }

    /// Asks for what it needs, and goes if it may.
    fn advance(&mut self, cx: &mut Cx<'_>) {
        if self.unfit || self.stopping || self.job.is_none() {
            return;
        }
        self.ask(cx);
        if self.task.is_some() {
            return;
        }
        let Some(chunk) = self.plan.front().copied() else {
            if self.is_done() {
                self.end(Ended::Finished, cx);
            }
            return;
        };
        if chunk.zone.is_none_or(|(number, _)| self.book.granted(cx.me(), number)) {
            self.go(&chunk, cx);
            self.ask(cx);
        } else {
            self.look_for_deadlock(cx);
        }
    }

    /// Cuts chunks off the way and asks for them, as many as it wants to have.
    fn ask(&mut self, cx: &mut Cx<'_>) {
        while self.plan.len() <= self.rules.ahead as usize {
            let from = match self.plan.back() {
                None => self.at,
                Some(Chunk { end: Some(end), .. }) => *end,
                Some(Chunk { end: None, .. }) => return,
            };
            let Some(job) = &mut self.job else { return };
            let mut left = job.way;
            let Some(piece) = cut(&mut left, from, self.heading, job.fresh, self.rules.chunk_m) else {
                return;
            };
            if piece.moves && self.book.here() < cx.robots() as usize {
                return;
            }
            (job.way, job.fresh) = (left, false);
            let zone = piece.moves.then(|| {
                self.asked += 1;
                let b = piece.end.unwrap_or(from);
                (self.asked, Zone { a: from, b, radius: self.rules.zone_m + piece.reach })
            });
            if let Some((number, zone)) = zone {
                cx.broadcast(BROADCAST, &Message::Reserve(number, zone));
            }
            self.plan.push_back(Chunk { zone, end: piece.end, step: piece.step });
        }
    }

    fn is_done(&self) -> bool {
        self.job.is_some_and(|mut job| {
            cut(&mut job.way, self.at, self.heading, job.fresh, self.rules.chunk_m).is_none()
        })
    }

    /// Begins the motion of a chunk, whose zone it has.
    fn go(&mut self, chunk: &Chunk, cx: &mut Cx<'_>) {
        const NO_MATTER: f64 = 1e-9;
        let strayed = chunk.zone.is_some_and(|(_, zone)| (self.at - zone.a).norm() > NO_MATTER);
        let step = match (chunk.step, chunk.end, self.job.map(|j| j.way)) {
            (Way::Forward { speed, .. }, Some(to), Some(Way::To { turn_speed, .. })) if strayed => {
                Way::To { to, speed, turn_speed, cut: false }
            }
            (step, ..) => step,
        };
        self.tasks += 1;
        self.task = Some(self.tasks);
        if let Some(timer) = self.timer.take() {
            cx.cancel_timer(timer);
        }
        self.wait_no_more(cx);
        cx.go(MOTION, self.tasks, step.motion());
    }

    /// The motion below has ended: releases what it does not need, and goes on.
    fn ended(&mut self, how: Ended, cx: &mut Cx<'_>) {
        self.task = None;
        let Some(chunk) = self.plan.pop_front() else { return };
        let was = self.at;
        if let Ok(at) = here(cx) {
            self.at = at;
        } else if let (Some(end), Ended::Finished) = (chunk.end, how) {
            self.at = end;
        }
        self.heading = heading_after(self.heading, &chunk.step, how, self.at - was);
        if let Some((number, _)) = chunk.zone {
            self.stands_in = number;
        }
        if how == Ended::Finished && !self.stopping {
            self.leave(&chunk, cx);
            return self.advance(cx);
        }
        self.stopping = false;
        self.drop_plan(cx);
        if how == Ended::Swallowed {
            self.unfit = true;
            cx.broadcast(BROADCAST, &Message::Release(self.asked, None));
        }
        let how = if how == Ended::Finished { Ended::Replaced } else { how };
        self.end(how, cx);
        self.job = self.next.take();
        self.advance(cx);
    }

    /// Releases the chunk it has travelled: all of it when it goes on at once, else all but where it stands.
    fn leave(&mut self, chunk: &Chunk, cx: &mut Cx<'_>) {
        let Some((number, _)) = chunk.zone else { return };
        let strayed = |zone: &Zone| zone.off_line(self.at) > self.rules.margin_m;
        match self.plan.front().and_then(|next| next.zone) {
            Some((_, zone)) if strayed(&zone) => {
                cx.say("has strayed from its way by more than the margin, and asks anew");
                self.drop_plan(cx);
            }
            Some((next, _)) if self.book.granted(cx.me(), next) => {
                self.released = number;
                cx.broadcast(BROADCAST, &Message::Release(number, None));
            }
            _ => self.release(number, cx),
        }
    }

    /// Releases everything up to a number, except where it stands.
    fn release(&mut self, up_to: u64, cx: &mut Cx<'_>) {
        self.released = up_to;
        let place = (self.stands_in, Zone::disc(self.at, self.rules.zone_m));
        cx.broadcast(BROADCAST, &Message::Release(up_to, Some(place)));
    }

    /// Gives back what it has asked for and not begun to travel; it stands.
    fn drop_plan(&mut self, cx: &mut Cx<'_>) {
        while let Some(chunk) = self.plan.pop_back() {
            if let Some(job) = &mut self.job {
                job.way.put_back(&chunk.step);
                job.fresh = true;
            }
        }
        if self.released < self.asked {
            self.release(self.asked, cx);
        }
    }

    /// Tells the user that its motion has ended.
    fn end(&mut self, how: Ended, cx: &mut Cx<'_>) {
        if let Some(Job { user, tag, .. }) = self.job.take() {
            cx.indicate(user, Indication::Ended { tag, how });
        }
    }

    /// It stands, and will not go on as it was told.
    fn give_up(&mut self, why: &str, cx: &mut Cx<'_>) {
        cx.say(why);
        self.wait_no_more(cx);
        self.drop_plan(cx);
        self.end(Ended::Replaced, cx);
    }

    fn wait_no_more(&mut self, cx: &mut Cx<'_>) {
        if let Some(timer) = self.in_vain.take() {
            cx.cancel_timer(timer);
        }
    }

    /// It has to wait: for whom, and does that ever end?
    fn look_for_deadlock(&mut self, cx: &mut Cx<'_>) {
        let Some((_, number)) = self.book.next_of(cx.me()) else { return };
        if number <= self.released {
            return; // It has asked anew already.
        }
        self.look_for_idlers(cx);
        let Some(circle) = self.book.circle(cx.me()) else { return };
        if circle.too_early.contains(&cx.me()) {
            self.drop_plan(cx);
            return self.ask(cx);
        }
        if !circle.jam {
            return;
        }
        // A circle that opened and closed again is the same, and the timer may have run out in between: whether
        // it is set does not depend on what was said.
        let gives_way = self.rules.give_up && circle.robots.last() == Some(&cx.me());
        let report = (number, circle.robots);
        if self.reported != report {
            cx.say(&format!("deadlock: robots {:?} stand in each other's way", report.1));
            self.reported = report;
        }
        if self.rules.give_up && self.has_waited_longest(number, cx) {
            return self.give_up("gives up its way: the others do not get out of it", cx);
        }
        if gives_way && self.timer.is_none() {
            self.timer = Some(cx.set_timer(self.rules.patience_s));
        }
    }

    /// Whether, of a circle that stays a deadlock however often its last one gives up, it is the one to give up. No
    /// timer is needed: it is asked whenever the last one has asked again.
    fn has_waited_longest(&mut self, number: u64, cx: &Cx<'_>) -> bool {
        let since = match self.jammed {
            Some((jammed, since)) if jammed == number => since,
            _ => cx.now(),
        };
        self.jammed = Some((number, since));
        let long = cx.now().since(since) > HEMMED_IN * self.rules.patience_s;
        long && self.book.eldest(&self.reported.1) == Some(cx.me())
    }

    /// Measures how long, without a break, its waiting has led to somebody who wants nothing.
    fn look_for_idlers(&mut self, cx: &mut Cx<'_>) {
        let Some(wait_s) = self.rules.wait_s.filter(|_| self.rules.give_up) else { return };
        if self.book.waits_in_vain(cx.me()).is_none() {
            self.wait_no_more(cx);
        } else if self.in_vain.is_none() {
            self.in_vain = Some(cx.set_timer(wait_s));
        }
    }
}

/// Where the robot is.
fn here(cx: &mut Cx<'_>) -> Result<Vec2, String> {
    match cx.pull(&Query::Gps { error: 0.0 })? {
        Answer::Point(at) if at.is_finite() => Ok(at),
        _ => Err("the gps answers no position".to_owned()),
    }
}
