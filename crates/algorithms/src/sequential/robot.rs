//! The robot as a sequential function has it.

use super::desk::{News, Reply, Shared, Wish};
use serde::{Serialize, de::DeserializeOwned};
use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::task::Poll;
use swarmyard_base::{Moment, Vec2};
use swarmyard_part_api::{
    Answer, Ended, Motion, MotionPattern, Pending, Query, Request, Seen, ServiceKind, Watch, from_bytes,
    to_bytes,
};

/// The robot that a function runs on. What is `async` is waited for; everything else happens at once.
///
/// When the robot has no such sensor, a question to it is a failure of the algorithm and is never answered; use
/// [`Robot::ask`] to be told instead. A motion that nobody waits for any more goes on.
#[derive(Clone, Debug)]
pub struct Robot {
    pub(super) desk: Shared,
}

impl Robot {
    /// Now.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.desk.desk().now
    }

    /// This robot's number.
    #[must_use]
    pub fn me(&self) -> u32 {
        self.desk.desk().me
    }

    /// How many robots there are.
    #[must_use]
    pub fn robots(&self) -> u32 {
        self.desk.desk().robots
    }

    /// All robots but this one.
    #[must_use]
    pub fn others(&self) -> Vec<u32> {
        let me = self.me();
        (0..self.robots()).filter(|r| *r != me).collect()
    }

    /// Turns towards a point and goes straight there: m/s, rad/s.
    pub async fn move_to(&self, to: Vec2, speed: f64, turn_speed: f64) -> Ended {
        self.go(Motion::MoveTo { to, speed, turn_speed }).await
    }

    /// Turns in place: rad, rad/s.
    pub async fn turn(&self, by: f64, turn_speed: f64) -> Ended {
        self.go(Motion::Turn { by, turn_speed }).await
    }

    /// Goes straight on: m, m/s.
    pub async fn forward(&self, distance: f64, speed: f64) -> Ended {
        self.go(Motion::Forward { distance, speed }).await
    }

    /// Goes with a velocity in the world's frame: m/s, for some seconds.
    pub async fn velocity(&self, velocity: Vec2, for_s: f64) -> Ended {
        self.go(Motion::Velocity { velocity, for_s }).await
    }

    /// Goes forward and turns at once: m/s, rad/s, for some seconds.
    pub async fn arc(&self, speed: f64, spin: f64, for_s: f64) -> Ended {
        self.go(Motion::Arc { speed, spin, for_s }).await
    }

    /// Follows a pattern of its own; its `Debug` is how a journal knows it again.
    pub async fn follow(&self, pattern: std::sync::Arc<dyn MotionPattern>) -> Ended {
        self.go(Motion::Follow(pattern)).await
    }

    /// Makes any motion.
    pub async fn go(&self, motion: Motion) -> Ended {
        match self.desk.wait(Wish::Go(motion)).await {
            Reply::Ended(how) => how,
            _ => pending().await,
        }
    }

    /// Stops where it is.
    pub fn halt(&self) {
        self.desk.wish(Wish::Halt);
    }

    /// The next message of this type; what came before is kept until it is asked for, first in, first out.
    /// Messages that cannot be read are skipped, and the log says so.
    pub async fn receive<T: DeserializeOwned>(&self) -> (u32, T) {
        loop {
            let Reply::Message(from, bytes) = self.desk.wait(Wish::Message).await else {
                return pending().await;
            };
            match from_bytes(&bytes) {
                Ok(message) => return (from, message),
                Err(why) => self.say(&format!("a message from {from} is skipped: {why}")),
            }
        }
    }

    /// The next message, if one comes within some seconds.
    pub async fn receive_within<T: DeserializeOwned>(&self, seconds: f64) -> Option<(u32, T)> {
        match first(self.receive(), self.sleep(seconds)).await {
            Either::First(message) => Some(message),
            Either::Second(()) => None,
        }
    }

    /// Lets some seconds pass.
    pub async fn sleep(&self, seconds: f64) {
        self.desk.wait(Wish::Sleep(seconds)).await;
    }

    /// Where it is, with an error of that standard deviation, by a `gps`.
    pub async fn gps(&self, error: f64) -> Vec2 {
        match self.sense(Query::Gps { error }).await {
            Answer::Point(at) => at,
            _ => pending().await,
        }
    }

    /// Where all are, by a `gps`.
    pub async fn gps_all(&self, error: f64) -> Vec<Seen> {
        self.seen(Query::GpsAll { error }).await
    }

    /// Robots within a range, the nearest first, by a `view`.
    pub async fn view(&self, range: f64) -> Vec<Seen> {
        self.seen(Query::View { range }).await
    }

    /// Distances of everything within a range, outline to outline, the nearest first, by a `proximity`.
    pub async fn proximity(&self, range: f64) -> Vec<f64> {
        match self.sense(Query::Proximity { range }).await {
            Answer::Numbers(distances) => distances,
            _ => pending().await,
        }
    }

    /// Asks any pull sensor.
    ///
    /// # Errors
    /// When the robot has no such sensor.
    pub async fn ask(&self, query: Query) -> Result<Answer, String> {
        match self.desk.wait(Wish::Pull(query)).await {
            Reply::Sensed(answer) => answer,
            _ => pending().await,
        }
    }

    async fn seen(&self, query: Query) -> Vec<Seen> {
        match self.sense(query).await {
            Answer::Seen(seen) => seen,
            _ => pending().await,
        }
    }

    async fn sense(&self, query: Query) -> Answer {
        let asked = format!("{query:?}");
        match self.ask(query).await {
            Ok(answer) => answer,
            Err(why) => {
                self.desk.wish(Wish::Fail(format!("cannot go on: {asked}: {why}")));
                pending().await
            }
        }
    }

    /// What is going to happen to a robot.
    pub async fn pending(&self, robot: u32) -> Vec<Pending> {
        match self.desk.wait(Wish::Pending(robot)).await {
            Reply::Pending(all) => all,
            _ => pending().await,
        }
    }

    /// Sends a message to some robots.
    pub fn send<M: Serialize>(&self, to: &[u32], message: &M) {
        self.desk.wish(Wish::Send(to.to_vec(), to_bytes(message).into()));
    }

    /// Sends a message to all robots, this one among them, with the guarantees of whoever carries it.
    pub fn broadcast<M: Serialize>(&self, message: &M) {
        self.desk.wish(Wish::Broadcast(to_bytes(message).into()));
    }

    /// A random number of a range.
    pub async fn uniform(&self, low: f64, high: f64) -> f64 {
        let [x] = self.draw([(low, high)]).await;
        x
    }

    /// Random numbers of several ranges, drawn at one address: as a state machine does with one `chance()`.
    pub async fn draw<const N: usize>(&self, ranges: [(f64, f64); N]) -> [f64; N] {
        let numbers = self.numbers(Wish::Between(ranges.to_vec())).await;
        match <[f64; N]>::try_from(numbers) {
            Ok(numbers) => numbers,
            Err(_) => pending().await,
        }
    }

    /// A standard normal number.
    pub async fn normal(&self) -> f64 {
        self.numbers(Wish::Normal).await.first().copied().unwrap_or(0.0)
    }

    /// A whole number below `n`.
    pub async fn below(&self, n: u32) -> u32 {
        self.numbers(Wish::Below(n)).await.first().map_or(0, |x| *x as u32)
    }

    async fn numbers(&self, wish: Wish) -> Vec<f64> {
        match self.desk.wait(wish).await {
            Reply::Numbers(numbers) => numbers,
            _ => pending().await,
        }
    }

    /// Says something in the log.
    pub fn say(&self, text: &str) {
        self.desk.wish(Wish::Say(text.to_owned()));
    }

    /// Shows a light that others see.
    pub fn shine(&self, light: u8) {
        self.desk.wish(Wish::Shine(light));
    }

    /// Switches a push sensor on; answers its number.
    #[must_use = "the number says which sensor a push is of"]
    pub fn watch(&self, watch: Watch) -> u64 {
        self.desk.wish(Wish::Watch(watch))
    }

    /// Switches a push sensor off.
    pub fn unwatch(&self, watch: u64) {
        self.desk.wish(Wish::Unwatch(watch));
    }

    /// The next push: number of the sensor, and what it saw. Of pushes that nobody waits for the newest of each
    /// sensor is kept.
    pub async fn next_push(&self) -> (u64, Answer) {
        match self.desk.wait(Wish::Push).await {
            Reply::Pushed(watch, answer) => (watch, answer),
            _ => pending().await,
        }
    }

    /// What protocols tell beside messages: who leads, who failed, what was decided. First in, first out.
    pub async fn next_news(&self) -> News {
        match self.desk.wait(Wish::News).await {
            Reply::News(news) => news,
            _ => pending().await,
        }
    }

    /// Asks something else of a protocol below.
    pub fn request(&self, service: ServiceKind, request: impl Into<Request>) {
        self.desk.wish(Wish::Request(service, request.into()));
    }

    /// Writes down what survives a crash: the robot that comes back begins with this value.
    pub fn persist<S: Serialize>(&self, value: &S) {
        self.desk.wish(Wish::Persist(to_bytes(value).into()));
    }

    /// Begins the function again with this value and an empty journal; it never comes back. Messages, news and
    /// pushes that nobody has asked for yet are kept, push sensors stay on, a motion under way goes on.
    pub async fn checkpoint<S: Serialize>(&self, value: &S) -> Infallible {
        self.desk.wait(Wish::Checkpoint(to_bytes(value).into())).await;
        pending().await
    }
}

/// Which of two things came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The first one.
    First(A),
    /// The second one.
    Second(B),
}

/// Waits for one of two things; the other one is not waited for any more. If both could be had, it is the first.
pub async fn first<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> Either<A, B> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|cx| {
        if let Poll::Ready(x) = a.as_mut().poll(cx) {
            return Poll::Ready(Either::First(x));
        }
        b.as_mut().poll(cx).map(Either::Second)
    })
    .await
}
