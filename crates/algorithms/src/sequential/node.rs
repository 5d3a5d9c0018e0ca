//! A sequential function on board of a robot: fulfils its wishes, and keeps the journal that is its memory.

use super::desk::{Desk, News, Reply, Shared, Wish};
use super::{Inner, Robot, Running};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Waker};
use swarmyard_base::Moment;
use swarmyard_part_api::{
    Answer, Broadcast, Clock, Consensus, Custom, Cx, Detector, Drive, Indication, Leader, Link, LookOut,
    Membership, Microprotocol, Moving, Mutex, ProtocolPort, Request, Service, ServiceKind, ToAll, ToRobots,
    Watching, from_bytes, to_bytes,
};

/// Replies at one moment in one step after which a function counts as endless.
const MOST_REPLIES: usize = 100_000;

/// A function on one robot.
pub(super) struct Node {
    program: Arc<Inner>,
    running: Option<Running>,
    desk: Shared,
    memory: Memory,
}

/// All that is known about it, as plain data.
#[derive(Default, Serialize, Deserialize)]
struct Memory {
    /// When and with what it began.
    begun: Option<Begun>,
    /// Replies since: number of the wish, when, what.
    journal: Vec<(u64, Moment, Reply)>,
    /// Hashes of all wishes since.
    wishes: Vec<u64>,
    /// Wishes that wait for something to happen.
    waiting: Vec<(u64, For)>,
    /// Messages that nobody has asked for yet.
    inbox: VecDeque<(u32, Vec<u8>)>,
    news: VecDeque<News>,
    /// The newest unread push of each sensor.
    pushes: Vec<(u64, Answer)>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Begun {
    me: u32,
    robots: u32,
    at: Moment,
    /// Wishes made before, up to the last checkpoint: no two wishes have the same number.
    made: u64,
    value: Vec<u8>,
}

/// What a wish waits for.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum For {
    Motion,
    /// The timer with this number.
    Time(u64),
    Message,
    Push,
    News,
}

impl Node {
    pub(super) fn new(program: &Arc<Inner>) -> Node {
        Node {
            program: Arc::clone(program),
            running: None,
            desk: Shared::default(),
            memory: Memory::default(),
        }
    }

    /// Begins the function, up to its first wish.
    fn launch(&mut self, begun: &Begun) -> Result<(), String> {
        let Begun { me, robots, at, made, .. } = *begun;
        self.desk = Shared::new(Desk { me, robots, now: at, made, ..Desk::default() });
        let robot = Robot { desk: self.desk.clone() };
        self.running = Some((self.program.begin)(robot, &begun.value)?);
        Ok(())
    }

    /// Lets the function go on, with a reply or for the first time; answers what it wishes now.
    fn poll(&mut self, reply: Option<(u64, Moment, Reply)>) -> Vec<(u64, Wish)> {
        if let Some((number, now, reply)) = reply {
            let mut desk = self.desk.desk();
            desk.now = now;
            desk.reply = Some((number, reply));
        }
        if let Some(running) = &mut self.running
            && running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
        {
            self.running = None;
        }
        let mut desk = self.desk.desk();
        desk.reply = None;
        std::mem::take(&mut desk.wishes)
    }

    /// Begins the function with a value, or hands replies over, one after another; and fulfils what it wishes
    /// in turn until it waits for something to happen.
    fn run(&mut self, mut begin: Option<Vec<u8>>, mut ready: VecDeque<(u64, Reply)>, cx: &mut Cx<'_>) {
        for _ in 0..MOST_REPLIES {
            let wishes = if let Some(value) = begin.take() {
                let made = self.desk.desk().made;
                let begun = Begun { me: cx.me(), robots: cx.robots(), at: cx.now(), made, value };
                if let Err(why) = self.launch(&begun) {
                    cx.failed(&format!("cannot begin: {why}"));
                    return;
                }
                self.memory.begun = Some(begun);
                self.poll(None)
            } else if let Some((number, reply)) = ready.pop_front() {
                let now = cx.now();
                self.memory.journal.push((number, now, reply.clone()));
                self.poll(Some((number, now, reply)))
            } else {
                return;
            };
            for (number, wish) in wishes {
                self.memory.wishes.push(wish.hash());
                match wish {
                    Wish::Checkpoint(value) => {
                        self.clear(&mut ready, cx);
                        begin = Some(value.to_vec());
                        break;
                    }
                    Wish::Forget(number) => self.forget(number, &mut ready, cx),
                    wish => ready.extend(self.fulfil(number, wish, cx).map(|reply| (number, reply))),
                }
            }
        }
        cx.failed("this function never waits: it is stopped");
        self.running = None;
    }

    /// Nothing is waited for, and the journal is empty.
    fn clear(&mut self, ready: &mut VecDeque<(u64, Reply)>, cx: &mut Cx<'_>) {
        let waiting = self.memory.waiting.iter().map(|w| w.0).chain(ready.iter().map(|r| r.0));
        for number in waiting.collect::<Vec<u64>>() {
            self.forget(number, ready, cx);
        }
        self.memory.journal.clear();
        self.memory.wishes.clear();
    }

    /// Nobody waits for this any more. What it would have got is there for the next who asks.
    fn forget(&mut self, number: u64, ready: &mut VecDeque<(u64, Reply)>, cx: &mut Cx<'_>) {
        if let Some(k) = self.memory.waiting.iter().position(|w| w.0 == number)
            && let (_, For::Time(timer)) = self.memory.waiting.remove(k)
        {
            cx.cancel_timer(timer);
        }
        let Some(k) = ready.iter().position(|r| r.0 == number) else { return };
        match ready.remove(k) {
            Some((_, Reply::Message(from, bytes))) => self.memory.inbox.push_front((from, bytes)),
            Some((_, Reply::News(news))) => self.memory.news.push_front(news),
            Some((_, Reply::Pushed(watch, answer))) => self.memory.pushes.insert(0, (watch, answer)),
            _ => {}
        }
    }

    /// Fulfils a wish; answers the reply when there is one already.
    fn fulfil(&mut self, number: u64, wish: Wish, cx: &mut Cx<'_>) -> Option<Reply> {
        match wish {
            Wish::Pull(query) => return Some(Reply::Sensed(cx.pull(&query))),
            Wish::Pending(robot) => return Some(Reply::Pending(cx.pending(robot))),
            Wish::Between(ranges) => {
                let draw = cx.chance();
                let numbers = (0..).zip(ranges).map(|(k, (low, high))| draw.between(k, low, high));
                return Some(Reply::Numbers(numbers.collect()));
            }
            Wish::Normal => return Some(Reply::Numbers(vec![cx.chance().normal(0)])),
            Wish::Below(n) => return Some(Reply::Numbers(vec![f64::from(cx.chance().below(0, n))])),
            Wish::Message => match self.memory.inbox.pop_front() {
                Some((from, bytes)) => return Some(Reply::Message(from, bytes)),
                None => self.memory.waiting.push((number, For::Message)),
            },
            Wish::News => match self.memory.news.pop_front() {
                Some(news) => return Some(Reply::News(news)),
                None => self.memory.waiting.push((number, For::News)),
            },
            Wish::Push if self.memory.pushes.is_empty() => self.memory.waiting.push((number, For::Push)),
            Wish::Push => {
                let (watch, answer) = self.memory.pushes.remove(0);
                return Some(Reply::Pushed(watch, answer));
            }
            Wish::Sleep(seconds) => {
                let timer = cx.set_timer(seconds);
                self.memory.waiting.push((number, For::Time(timer)));
            }
            Wish::Go(motion) => {
                self.memory.waiting.push((number, For::Motion));
                self.ask::<Moving>(Drive::Go { tag: number, motion }, cx);
            }
            Wish::Halt => self.ask::<Moving>(Drive::Halt, cx),
            Wish::Send(to, bytes) => self.ask::<Link>(ToRobots { to: to.into(), bytes }, cx),
            Wish::Broadcast(bytes) => self.ask::<Broadcast>(ToAll(bytes), cx),
            Wish::Watch(watch) => self.ask::<Watching>(LookOut::On { tag: number, watch }, cx),
            Wish::Unwatch(watch) => self.ask::<Watching>(LookOut::Off { tag: watch }, cx),
            Wish::Request(service, request) => self.ask_any(service, request, cx),
            Wish::Say(text) => cx.say(&text),
            Wish::Fail(why) => cx.failed(&why),
            Wish::Shine(light) => cx.shine(light),
            Wish::Persist(value) => cx.persist(&value.to_vec()),
            Wish::Checkpoint(_) | Wish::Forget(_) => {}
        }
        None
    }

    fn port(&self, service: ServiceKind, cx: &mut Cx<'_>) -> Option<usize> {
        let port = self.program.uses.iter().position(|s| *s == service);
        if port.is_none() {
            cx.say(&format!("this algorithm does not say that it uses {}", service.word()));
        }
        port
    }

    fn ask<S: Service>(&self, request: S::Request, cx: &mut Cx<'_>) {
        if let Some(port) = self.port(S::KIND, cx) {
            cx.request(ProtocolPort::<S>::new(port), request);
        }
    }

    fn ask_any(&self, service: ServiceKind, request: Request, cx: &mut Cx<'_>) {
        match request {
            Request::Link(r) => self.ask::<Link>(r, cx),
            Request::Broadcast(r) => self.ask::<Broadcast>(r, cx),
            Request::Consensus(r) => self.ask::<Consensus>(r, cx),
            Request::Detector(r) => self.ask::<Detector>(r, cx),
            Request::Leader(r) => self.ask::<Leader>(r, cx),
            Request::Mutex(r) => self.ask::<Mutex>(r, cx),
            Request::Membership(r) => self.ask::<Membership>(r, cx),
            Request::Clock(r) => self.ask::<Clock>(r, cx),
            Request::Motion(r) => self.ask::<Moving>(r, cx),
            Request::Watching(r) => self.ask::<Watching>(r, cx),
            Request::Custom(r) => {
                if let Some(port) = self.port(service, cx) {
                    cx.request(ProtocolPort::<Custom>::new(port), r);
                }
            }
        }
    }

    /// Something has happened that the first wish of a kind waits for; `Err` when there is none.
    fn answer(&mut self, what: For, reply: Reply, cx: &mut Cx<'_>) -> Result<(), Reply> {
        let Some(k) = self.memory.waiting.iter().position(|w| w.1 == what) else { return Err(reply) };
        let (number, _) = self.memory.waiting.remove(k);
        self.run(None, VecDeque::from([(number, reply)]), cx);
        Ok(())
    }
}

impl Microprotocol for Node {
    fn start(&mut self, cx: &mut Cx<'_>) {
        let value = cx.persisted::<Vec<u8>>().unwrap_or_else(|| self.program.start.clone());
        self.run(Some(value), VecDeque::new(), cx);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        // A function that is over asks for nothing any more.
        if self.running.is_none() {
            return;
        }
        match what {
            Indication::Delivered { from, bytes } => {
                let reply = Reply::Message(from, bytes.to_vec());
                if self.answer(For::Message, reply, cx).is_err() {
                    self.memory.inbox.push_back((from, bytes.to_vec()));
                }
            }
            Indication::Ended { tag, how } => {
                let own = |w: &(u64, For)| *w == (tag, For::Motion);
                if let Some(k) = self.memory.waiting.iter().position(own) {
                    self.memory.waiting.remove(k);
                    self.run(None, VecDeque::from([(tag, Reply::Ended(how))]), cx);
                }
            }
            Indication::Pushed { tag, push } => {
                if let Err(Reply::Pushed(watch, answer)) =
                    self.answer(For::Push, Reply::Pushed(tag, push.answer), cx)
                {
                    self.memory.pushes.retain(|p| p.0 != watch);
                    self.memory.pushes.push((watch, answer));
                }
            }
            other => {
                if let Some(news) = News::of(other)
                    && let Err(Reply::News(news)) = self.answer(For::News, Reply::News(news), cx)
                {
                    self.memory.news.push_back(news);
                }
            }
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        // A timer that nobody waits for any more was cancelled, or is of before a checkpoint.
        let _ = self.answer(For::Time(timer), Reply::Slept, cx);
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(&(self.running.is_some(), &self.memory))
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        let (runs, memory): (bool, Memory) = from_bytes(image)?;
        self.running = None;
        if let (true, Some(begun)) = (runs, &memory.begun) {
            self.launch(begun)?;
            let mut again = Again { was: &memory.wishes, next: 0 };
            again.compare(&self.poll(None))?;
            for (number, at, reply) in &memory.journal {
                again.compare(&self.poll(Some((*number, *at, reply.clone()))))?;
            }
            again.finish()?;
        }
        self.memory = memory;
        Ok(())
    }
}

/// Compares wishes with those of the first time.
struct Again<'a> {
    was: &'a [u64],
    next: usize,
}

impl Again<'_> {
    fn compare(&mut self, wishes: &[(u64, Wish)]) -> Result<(), String> {
        for (_, wish) in wishes {
            if self.was.get(self.next) != Some(&wish.hash()) {
                let n = self.next + 1;
                return Err(format!(
                    "the algorithm is not the one that was saved: wish {n} of its journal was another one than `{wish:?}`"
                ));
            }
            self.next += 1;
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), String> {
        let (made, was) = (self.next, self.was.len());
        if made == was {
            return Ok(());
        }
        Err(format!(
            "the algorithm is not the one that was saved: it made {made} wishes where there were {was}"
        ))
    }
}
