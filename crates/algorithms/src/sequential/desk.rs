//! What lies between a function and its node: wishes one way, replies the other.

use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use swarmyard_base::Moment;
use swarmyard_base::hash::bytes_hash;
use swarmyard_part_api::{
    Answer, Bytes, Ended, Indication, Motion, Pending, Query, Request, ServiceKind, Watch,
};

/// What a function wants of the world.
#[derive(Clone, Debug)]
pub(super) enum Wish {
    // These are answered when something happens.
    Go(Motion),
    Sleep(f64),
    Message,
    Push,
    News,
    // These are answered at once.
    Pull(Query),
    Between(Vec<(f64, f64)>),
    Normal,
    Below(u32),
    Pending(u32),
    // These are not answered.
    Halt,
    Send(Vec<u32>, Bytes),
    Broadcast(Bytes),
    Watch(Watch),
    Unwatch(u64),
    Request(ServiceKind, Request),
    Say(String),
    Fail(String),
    Shine(u8),
    Persist(Bytes),
    Checkpoint(Bytes),
    /// Nobody waits for that one any more.
    Forget(u64),
}

impl Wish {
    /// What a journal keeps of it. A motion pattern of one's own counts by what its `Debug` shows.
    pub(super) fn hash(&self) -> u64 {
        bytes_hash(format!("{self:?}").as_bytes())
    }
}

/// What a wish was answered with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    Ended(Ended),
    Slept,
    Message(u32, Vec<u8>),
    Pushed(u64, Answer),
    News(News),
    Sensed(Result<Answer, String>),
    Numbers(Vec<f64>),
    Pending(Vec<Pending>),
}

/// What protocols tell beside messages, ends of motions and pushes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum News {
    /// This robot leads now.
    Leads(u32),
    /// This robot seems to have failed.
    Suspected(u32),
    /// It does not seem so any more.
    Trusted(u32),
    /// An instance of consensus is decided.
    Decided(u64, Vec<u8>),
    /// It is alone until it leaves.
    Entered,
    /// A new view of the group: its number, and who is in it.
    View(u64, Vec<u32>),
    /// Whatever two protocols of one author agree on.
    Custom(Vec<u8>),
    /// What the clock shows, and how far it may be off, s.
    Clock(f64, Option<f64>),
    /// The motion under way has come to an event of its pattern, of this name.
    Passed(String),
}

impl News {
    pub(super) fn of(what: Indication) -> Option<News> {
        Some(match what {
            Indication::Leads(robot) => News::Leads(robot),
            Indication::Suspected(robot) => News::Suspected(robot),
            Indication::Trusted(robot) => News::Trusted(robot),
            Indication::Decided { instance, value } => News::Decided(instance, value.to_vec()),
            Indication::Entered => News::Entered,
            Indication::View { number, members } => News::View(number, members),
            Indication::Custom(bytes) => News::Custom(bytes.to_vec()),
            Indication::Clock { reading_s, error_s } => News::Clock(reading_s, error_s),
            Indication::Passed { name, .. } => News::Passed(name),
            _ => return None,
        })
    }
}

/// The desk itself.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) me: u32,
    pub(super) robots: u32,
    pub(super) now: Moment,
    /// Wishes made so far.
    pub(super) made: u64,
    /// Wishes since the last poll, with their numbers.
    pub(super) wishes: Vec<(u64, Wish)>,
    /// The reply that the present poll is about.
    pub(super) reply: Option<(u64, Reply)>,
}

/// A desk as both sides hold it. Nobody ever waits for it: function and node take turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared(Arc<Mutex<Desk>>);

impl Shared {
    pub(super) fn new(desk: Desk) -> Shared {
        Shared(Arc::new(Mutex::new(desk)))
    }

    pub(super) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a wish that is not answered; answers its number.
    pub(super) fn wish(&self, wish: Wish) -> u64 {
        let mut desk = self.desk();
        let number = desk.made;
        desk.made += 1;
        desk.wishes.push((number, wish));
        number
    }

    /// Makes a wish and waits for the reply.
    pub(super) fn wait(&self, wish: Wish) -> Waiting {
        Waiting { number: self.wish(wish), desk: self.clone(), done: false }
    }
}

/// Waits for the reply to a wish; whoever drops it does not want the reply any more.
#[derive(Debug)]
pub(super) struct Waiting {
    desk: Shared,
    number: u64,
    done: bool,
}

impl Future for Waiting {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Reply> {
        let number = self.number;
        let taken = self.desk.desk().reply.take_if(|r| r.0 == number);
        match taken {
            Some((_, reply)) => {
                self.done = true;
                Poll::Ready(reply)
            }
            None => Poll::Pending,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.done {
            self.desk.wish(Wish::Forget(self.number));
        }
    }
}
