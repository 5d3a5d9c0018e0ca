//! The fabric between processes and machines, over Eclipse Zenoh.
//!
//! In: what this process puts, asks and says about itself. Out: the same at members it is connected with, directly and with
//! nobody between; and what they say, on threads of our own. Zenoh's receiving threads only fill mailboxes.
//!
//! A member that is killed is gone at once, one that hangs or is cut off after the lease. What is put while two members are not
//! connected is lost, and they connect again by themselves. A worker's messages and a display's have queues of their own
//! on the way, so neither waits for the other; and what one worker sends to another takes a shorter way (`lanes.rs`).

mod config;
mod incoming;
mod lanes;
mod meet;
mod refused;
mod tls;

pub use config::Options;
pub use refused::on_refusal;

use crate::fabric::fits;
use crate::gate::Refusals;
use crate::key::{check_key, check_pattern, is_plain};
use crate::mailbox::{Mailbox, Mood, Room};
use crate::secret::SECRET_BYTES;
use crate::tally::Tally;
use crate::{Care, Fabric, Handle, Heard, Listener, Lost, Replier, RunKey, Traffic, Watcher};
use lanes::{Lanes, Sent};
use std::collections::BTreeSet;
use std::net::{TcpListener, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::query::{ConsolidationMode, Query, QueryTarget, Reply};
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

/// Bytes for the secret of a run, which nobody can guess.
///
/// # Errors
/// The system has no randomness.
pub fn random_secret() -> Result<[u8; SECRET_BYTES], Lost> {
    let mut bytes = [0; SECRET_BYTES];
    bytes.copy_from_slice(&tls::secret()?[..SECRET_BYTES]);
    Ok(bytes)
}

/// How often a free port is looked for: somebody else may take it before we do.
const TRIES: usize = 10;

/// One process, connected with others.
pub struct Mesh {
    lanes: Arc<Lanes>,
    session: Session,
    endpoints: Vec<String>,
    tally: Arc<Tally>,
    /// What Zenoh had refused in this process when this member was opened.
    before: Refusals,
    /// How long a receiving thread waits for a listener that takes nothing.
    wait: Duration,
}

impl Mesh {
    /// Listens, and connects with the members it was told of.
    ///
    /// # Errors
    /// It may not listen there, a member does not answer within [`Options::reach`] or refuses it, or keys are missing.
    pub fn open(options: &Options) -> Result<Mesh, Lost> {
        options.check()?;
        let tally: Arc<Tally> = Arc::default();
        refused::overhear();
        let before = refused::by_zenoh();
        let lanes = Arc::new(Lanes::open(options, &tally)?);
        let mut tries = 0;
        loop {
            let listen = with_ports(&options.listen)?;
            tries += 1;
            match zenoh::open(options.config(&listen)?).wait() {
                Ok(session) => {
                    let wait = options.lease / 2;
                    return Ok(Mesh { lanes, session, endpoints: listen, tally, before, wait });
                }
                Err(_) if tries < TRIES && !are_free(&listen) => {}
                Err(e) => {
                    let to = options.connect.join(", ");
                    let what = format!(
                        "listen on {} and connect to [{to}] (is everyone there, with a certificate of the same authority?)",
                        listen.join(", ")
                    );
                    return Err(failed(&what, &*e));
                }
            }
        }
    }

    /// Where others reach this member, `HOST:PORT`, with the ports that were found free.
    #[must_use]
    pub fn endpoints(&self) -> &[String] {
        &self.endpoints
    }

    fn mailbox<T: Send + 'static>(
        &self,
        name: &str,
        call: impl Fn(T) + Send + 'static,
    ) -> Result<Mailbox<T>, Lost> {
        Mailbox::open(name, Room::usual(Some(self.wait)), call)
            .map_err(|e| Lost::Failed { what: "start a thread".into(), why: e.to_string() })
    }

    fn failed(&self, what: &str, why: &(dyn std::error::Error + Send + Sync)) -> Lost {
        if self.session.is_closed() { Lost::Closed } else { failed(what, why) }
    }

    /// Lets lanes of this pattern end at a listener, when it is one of lanes and somebody can connect to here.
    fn end_lane(&self, pattern: &str, ear: &Arc<Ear>) -> Result<Option<(Handle, Handle)>, Lost> {
        let Some((question, invitation)) = lanes::question(pattern).zip(self.lanes.invitation()) else {
            return Ok(None);
        };
        let end = Handle::new(self.lanes.undo(self.lanes.end_at(pattern, ear.clone())));
        let answer = self.answer(&question, Box::new(move |_, _| Some(invitation.clone())))?;
        Ok(Some((end, answer)))
    }

    /// Asks where the lane of this key ends, and connects; on a thread, because whoever answers may be a stranger who takes his
    /// time. Until there is one, messages go over Zenoh.
    fn lay_lane(&self, key: &str) {
        let Some(question) = lanes::question(key) else { return };
        let (session, tally, patience) = (self.session.clone(), self.tally.clone(), self.wait);
        let ask = move || invitations(&session, tally, &question, patience);
        self.lanes.lay(key, std::iter::once_with(ask).flatten());
    }

    /// Sends a question, and returns where answers come. The channel ends when nobody will answer any more.
    fn send_question(
        &self,
        pattern: &str,
        question: &[u8],
        patience: Duration,
    ) -> Result<mpsc::Receiver<Reply>, Lost> {
        fits(pattern, question)?;
        let (tell, answers) = mpsc::channel();
        // Who asked may have lost patience.
        let sent = ask(&self.session, pattern, question, patience, move |reply| drop(tell.send(reply)));
        sent.map_err(|e| self.failed(&format!("ask `{pattern}`"), &*e))?;
        self.tally.questions.sent(question.len());
        Ok(answers)
    }
}

/// Sends a question to all who answer such keys.
fn ask(
    session: &Session,
    pattern: &str,
    question: &[u8],
    patience: Duration,
    take: impl Fn(Reply) + Send + Sync + 'static,
) -> zenoh::Result<()> {
    session
        .get(pattern)
        .payload(question)
        .target(QueryTarget::All)
        .consolidation(ConsolidationMode::None)
        .congestion_control(CongestionControl::Block)
        .priority(Priority::DataHigh)
        .timeout(patience)
        .callback(take)
        .wait()
}

/// What is answered to one who asks where a lane ends.
fn invitations(
    session: &Session,
    tally: Arc<Tally>,
    question: &str,
    patience: Duration,
) -> impl Iterator<Item = Vec<u8>> + use<> {
    let (tell, answers) = mpsc::channel();
    let until = Instant::now() + patience;
    // Who cannot ask now is told nothing, and asks later.
    if ask(session, question, b"", patience, move |reply| drop(tell.send(reply))).is_ok() {
        tally.questions.sent(0);
    }
    std::iter::from_fn(move || {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let reply: Reply = answers.recv_timeout(left).ok()?;
            if let Some((_, invitation)) = take_answer(&tally, reply) {
                return Some(invitation);
            }
        }
    })
}

/// An answer with its key; an error of the fabric is none.
fn take_answer(tally: &Tally, reply: Reply) -> Option<(String, Vec<u8>)> {
    let sample = reply.into_result().ok()?;
    let bytes = sample.payload().to_bytes().into_owned();
    tally.answers.came(bytes.len());
    Some((sample.key_expr().as_str().to_owned(), bytes))
}

/// A listener, called by one thread at a time, whichever way a message came.
struct Ear {
    hear: Listener,
    turn: Mutex<()>,
    is_open: AtomicBool,
    tally: Arc<Tally>,
}

impl Ear {
    fn new(hear: Listener, tally: Arc<Tally>) -> Ear {
        Ear { hear, turn: Mutex::default(), is_open: AtomicBool::new(true), tally }
    }

    fn call(&self, heard: Heard<'_>) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_open.load(Relaxed) {
            (self.hear)(heard);
        }
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        // Others see at once that it is gone; should this fail, they see it when the connection ends.
        let _ = self.session.close().wait();
    }
}

impl Fabric for Mesh {
    fn put(&self, key: &str, bytes: &[u8], care: Care) -> Result<(), Lost> {
        check_key(key)?;
        fits(key, bytes)?;
        if care == Care::Block && lanes::is_lane(key) {
            match self.lanes.send(key, bytes) {
                Sent::Over => {
                    self.tally.work.sent(bytes.len());
                    self.tally.lanes.sent(bytes.len());
                    return Ok(());
                }
                Sent::Wanting => self.lay_lane(key),
                Sent::Otherwise => {}
            }
        }
        let (control, priority) = match care {
            Care::Block => (CongestionControl::Block, Priority::InteractiveHigh),
            Care::Drop => (CongestionControl::Drop, Priority::DataLow),
        };
        let put = self.session.put(key, bytes).congestion_control(control).priority(priority).wait();
        put.map_err(|e| self.failed(&format!("put `{key}`"), &*e))?;
        self.tally.put(care).sent(bytes.len());
        Ok(())
    }

    fn listen(&self, pattern: &str, hear: Listener) -> Result<Handle, Lost> {
        check_pattern(pattern)?;
        let ear = Arc::new(Ear::new(hear, self.tally.clone()));
        let called = ear.clone();
        let mailbox = self.mailbox(pattern, move |sample: Sample| {
            called.call(Heard { key: sample.key_expr(), bytes: &sample.payload().to_bytes() });
        })?;
        let (inside, tally) = (mailbox.clone(), self.tally.clone());
        let take = move |sample: Sample| {
            let care = match sample.congestion_control() {
                CongestionControl::Drop => Care::Drop,
                _ => Care::Block,
            };
            let bytes = sample.payload().len();
            tally.put(care).came(bytes);
            if sample.kind() == SampleKind::Put && !inside.post(sample, bytes, care) {
                tally.dropped.fetch_add(1, Relaxed);
            }
        };
        let subscriber = self.session.declare_subscriber(pattern).callback(take).wait();
        let subscriber = subscriber.map_err(|e| self.failed(&format!("listen to `{pattern}`"), &*e))?;
        let lane = self.end_lane(pattern, &ear)?;
        Ok(Handle::new(move || {
            ear.is_open.store(false, SeqCst);
            mailbox.set(Mood::Closed);
            drop((subscriber, lane));
        }))
    }

    fn answer(&self, pattern: &str, reply: Replier) -> Result<Handle, Lost> {
        check_pattern(pattern)?;
        let (own, tally) = (pattern.to_owned(), self.tally.clone());
        let mailbox = self.mailbox(pattern, move |query: Query| {
            let asked = query.key_expr().as_str();
            let key = if is_plain(asked) { asked } else { own.as_str() };
            let question = query.payload().map(|p| p.to_bytes()).unwrap_or_default();
            tally.questions.came(question.len());
            let answer = reply(key, &question);
            if let Some(answer) = answer.filter(|a| fits(key, a).is_ok()) {
                tally.answers.sent(answer.len());
                // Who asked may be gone.
                let _ = query.reply(key, answer).wait();
            }
        })?;
        let inside = mailbox.clone();
        let take = move |query: Query| {
            let bytes = query.payload().map_or(0, |p| p.len());
            // A question nobody takes ends as silence.
            let _ = inside.post(query, bytes, Care::Drop);
        };
        let queryable = self.session.declare_queryable(pattern).callback(take).wait();
        let queryable = queryable.map_err(|e| self.failed(&format!("answer `{pattern}`"), &*e))?;
        Ok(Handle::new(move || {
            mailbox.set(Mood::Closed);
            drop(queryable);
        }))
    }

    fn ask(&self, key: &str, question: &[u8], patience: Duration) -> Result<Vec<u8>, Lost> {
        check_key(key)?;
        let until = Instant::now() + patience;
        let answers = self.send_question(key, question, patience)?;
        while let Ok(reply) = answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if let Some((_, answer)) = take_answer(&self.tally, reply) {
                return Ok(answer);
            }
        }
        Err(Lost::Silent { key: key.into() })
    }

    fn ask_all(
        &self,
        pattern: &str,
        question: &[u8],
        patience: Duration,
    ) -> Result<Vec<(String, Vec<u8>)>, Lost> {
        check_pattern(pattern)?;
        let until = Instant::now() + patience;
        let answers = self.send_question(pattern, question, patience)?;
        let mut all = Vec::new();
        while let Ok(reply) = answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
            all.extend(take_answer(&self.tally, reply));
        }
        all.sort();
        Ok(all)
    }

    fn live(&self, key: &str) -> Result<Handle, Lost> {
        check_key(key)?;
        let token = self.session.liveliness().declare_token(key).wait();
        let token = token.map_err(|e| self.failed(&format!("live under `{key}`"), &*e))?;
        Ok(Handle::new(move || drop(token)))
    }

    fn watch(&self, pattern: &str, seen: Watcher) -> Result<Handle, Lost> {
        check_pattern(pattern)?;
        // Zenoh may say twice that somebody is alive.
        let alive: Mutex<BTreeSet<String>> = Mutex::default();
        let mailbox = self.mailbox(pattern, move |(key, is_alive): (String, bool)| {
            let mut alive = alive.lock().unwrap_or_else(PoisonError::into_inner);
            let is_news = if is_alive { alive.insert(key.clone()) } else { alive.remove(&key) };
            drop(alive);
            if is_news {
                seen(&key, is_alive);
            }
        })?;
        let inside = mailbox.clone();
        let take = move |sample: Sample| {
            inside.post_always((sample.key_expr().as_str().to_owned(), sample.kind() == SampleKind::Put));
        };
        let liveliness = self.session.liveliness();
        let watcher = liveliness.declare_subscriber(pattern).history(true).callback(take).wait();
        let watcher = watcher.map_err(|e| self.failed(&format!("watch `{pattern}`"), &*e))?;
        Ok(Handle::new(move || {
            mailbox.set(Mood::Closed);
            drop(watcher);
        }))
    }

    fn trust(&self, run: &RunKey) {
        self.lanes.trust(run);
    }

    fn attend(&self, until: Instant, is_done: &dyn Fn() -> bool) {
        self.lanes.attend(until, is_done);
    }

    fn arrived(&self, key: &str) -> u64 {
        self.lanes.arrived(key)
    }

    fn traffic(&self) -> Traffic {
        let mut traffic = self.tally.traffic();
        traffic.refused.add(&refused::by_zenoh().since(&self.before));
        traffic
    }
}

fn failed(what: &str, why: &(dyn std::error::Error + Send + Sync)) -> Lost {
    // Zenoh ends its messages with the place in its source.
    let why = why.to_string();
    Lost::Failed { what: what.into(), why: why.split(" at /").next().unwrap_or_default().to_owned() }
}

/// The same addresses, with a free port where there was port 0. Zenoh does not tell which port it got, so it is
/// chosen here.
fn with_ports(listen: &[String]) -> Result<Vec<String>, Lost> {
    let mut found = Vec::new();
    for address in listen {
        match address.strip_suffix(":0") {
            Some(host) => {
                let port = free_port(address).map_err(|e| Lost::Failed {
                    what: format!("listen on `{address}`"),
                    why: e.to_string(),
                })?;
                found.push(format!("{host}:{port}"));
            }
            None => found.push(address.clone()),
        }
    }
    Ok(found)
}

fn free_port(address: &str) -> std::io::Result<u16> {
    let all: Vec<_> = address.to_socket_addrs()?.collect();
    Ok(TcpListener::bind(all.as_slice())?.local_addr()?.port())
}

/// Whether nobody else listens on these addresses.
fn are_free(listen: &[String]) -> bool {
    listen.iter().all(|a| free_port(a).is_ok())
}
