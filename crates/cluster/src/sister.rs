//! A sister process: a process here that stands for a program on another host.
//!
//! In: the bytes that the program is to read. Out: the bytes that it writes, and how it ended. Whoever starts programs
//! and reads their pipes needs to know nothing of hosts.
//!
//! What never happens: bytes that are lost, doubled or in another order, whatever the fabric does; more than a few chunks
//! on the way, so that a slow reader slows the writer; a host that is gone and is waited for longer than the lease.

use crate::host::head::with_head;
use crate::host::programs::{
    CHUNK, Gift, Give, Given, Open, Opened, Take, Taken, Turns, head_and_bytes, hold, input_key, open_key,
    output_key, sister_key, with_bytes,
};
use crate::host::{Identity, ProgramEnd, live_key};
use crate::message::{read, write};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use swarmyard_fabric::{Fabric, Handle, Lost};

/// How long a host may take to start a program.
const BEGIN: Duration = Duration::from_secs(15);
/// When a question that nobody took is put again.
const AGAIN: Duration = Duration::from_millis(5);

/// What a host is to start.
#[derive(Clone, Debug)]
pub struct Order {
    /// The name under which its owner allows the program, and its arguments.
    pub words: Vec<String>,
    /// Of its environment: `SWARMYARD_MODULE` and `RIO_TRANSPORT` may be set.
    pub settings: Vec<(String, String)>,
    /// What this build computes with.
    pub identity: Identity,
    /// Silence after which host and sister give each other up.
    pub lease: Duration,
}

/// How it came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program ended.
    Ended(ProgramEnd),
    /// The host is lost, or has ended the program; and why.
    Lost(String),
    /// Nobody reads here what the program says; it was ended.
    Unread,
}

/// A program on a host. Dropping this ends it.
pub struct Sister {
    wire: Arc<Wire>,
    _watch: Handle,
    _live: Handle,
}

/// What the threads of a sister share.
struct Wire {
    fabric: Arc<dyn Fabric>,
    host: String,
    id: u64,
    secret: u64,
    lease: Duration,
    pid: u32,
    state: Mutex<State>,
    changed: Condvar,
    /// The host has left.
    is_gone: AtomicBool,
}

struct State {
    heard: Instant,
    /// Since when there is input whose answer has not come.
    asked: Option<Instant>,
    turns: Turns,
    is_over: bool,
}

impl Sister {
    /// Has a program started on a host that is reached over this fabric.
    ///
    /// # Errors
    /// Why the host does not start it. Nothing runs there then, or it ends within the lease.
    pub fn open(fabric: Arc<dyn Fabric>, host: &str, order: Order) -> Result<Sister, String> {
        let (id, secret) = (random(), random());
        let wrong = |e: Lost| e.to_string();
        let live = fabric.live(&sister_key(host, id)).map_err(wrong)?;
        let Order { words, settings, identity, lease } = order;
        let open = Open { identity, id, secret, words, settings, lease_s: lease.as_secs_f64() };
        open.check()?;
        let question = with_head(&open.identity, &open);
        let ask = || fabric.ask(&open_key(host), &question, BEGIN);
        let answer = ask().or_else(|_| ask()).map_err(wrong)?;
        let Opened { pid } = read::<Result<Opened, String>>(&answer).ok_or("its answer is none")??;
        let now = Instant::now();
        let wire = Arc::new(Wire {
            host: host.to_owned(),
            id,
            secret,
            lease,
            pid,
            state: Mutex::new(State { heard: now, asked: None, turns: Turns::default(), is_over: false }),
            changed: Condvar::new(),
            is_gone: AtomicBool::new(false),
            fabric,
        });
        let seen = Arc::clone(&wire);
        // It was there a moment ago; only that it leaves is news.
        let watch = wire.fabric.watch(
            &live_key(host),
            Box::new(move |_, is_alive| seen.is_gone.store(!is_alive, Ordering::Relaxed)),
        );
        let sister = Sister { _watch: watch.map_err(wrong)?, _live: live, wire };
        let signs = Arc::clone(&sister.wire);
        std::thread::spawn(move || signs.give_signs());
        Ok(sister)
    }

    /// The program's process, over there.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.wire.pid
    }

    /// Carries bytes until the program has ended and all that it said has been written.
    pub fn carry(
        &self,
        input: impl Read + Send + 'static,
        mut out: impl Write,
        mut err: impl Write,
    ) -> Outcome {
        let giver = Arc::clone(&self.wire);
        // It may wait for input for ever; then it ends with this process.
        std::thread::spawn(move || giver.give_all(input));
        let (mut out_from, mut err_from) = (0, 0);
        loop {
            let (taken, said, told) = match self.wire.take(out_from, err_from) {
                Ok(taken) => taken,
                Err(why) => return Outcome::Lost(why),
            };
            out_from += said.len() as u64;
            err_from += told.len() as u64;
            // Errors are for people: nobody may read them, and the program goes on.
            let _ = err.write_all(&told).and_then(|()| err.flush());
            if out.write_all(&said).and_then(|()| out.flush()).is_err() {
                return Outcome::Unread;
            }
            match taken.end {
                Some(ProgramEnd::Ended(why)) => return Outcome::Lost(why),
                Some(end) => return Outcome::Ended(end),
                None => {}
            }
        }
    }
}

impl Sister {
    /// Ends the program, if it has not ended. Bytes are carried no more.
    pub fn end(&self) {
        let was_over = std::mem::replace(&mut self.wire.lock().is_over, true);
        self.wire.changed.notify_all();
        if !was_over && !self.wire.is_gone.load(Ordering::Relaxed) {
            // A host that does not hear this ends the program when it hears nothing any more.
            let kill = write(&Give { secret: self.wire.secret, what: Gift::Kill });
            let key = input_key(&self.wire.host, self.wire.id);
            let _ = self.wire.fabric.ask(&key, &kill, hold(self.wire.lease));
        }
    }
}

impl Drop for Sister {
    fn drop(&mut self) {
        self.end();
    }
}

impl Wire {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks until there is an answer, or the host is lost.
    fn ask(&self, key: &str, question: &[u8]) -> Result<Vec<u8>, String> {
        let patience = hold(self.lease) + self.lease.min(Duration::from_secs(1));
        loop {
            match self.fabric.ask(key, question, patience) {
                Ok(answer) => {
                    self.lock().heard = Instant::now();
                    return Ok(answer);
                }
                Err(Lost::Silent { .. }) => {}
                Err(e) => return Err(e.to_string()),
            }
            if self.is_gone.load(Ordering::Relaxed) {
                return Err(format!("host `{}` is gone", self.host));
            }
            let silence = self.lock().heard.elapsed();
            if silence > self.lease {
                let seconds = silence.as_secs_f64();
                return Err(format!("host `{}` did not answer for {seconds:.1} s", self.host));
            }
            std::thread::sleep(AGAIN);
        }
    }

    /// What the program said from there on: its output and its errors.
    fn take(&self, out_from: u64, err_from: u64) -> Result<(Taken, Vec<u8>, Vec<u8>), String> {
        let turns = self.lock().turns;
        let take = Take { secret: self.secret, out_from, err_from, turns };
        let answer = self.ask(&output_key(&self.host, self.id), &write(&take))?;
        let wrong = || format!("what host `{}` answers is none", self.host);
        let (taken, bytes) = head_and_bytes::<Taken>(&answer).ok_or_else(wrong)?;
        let (out, err) = bytes.split_at_checked(taken.out as usize).ok_or_else(wrong)?;
        if !out.is_empty() {
            let mut state = self.lock();
            if let Some(asked) = state.asked.take() {
                state.turns.add(asked.elapsed());
            }
        }
        Ok((taken, out.to_vec(), err.to_vec()))
    }

    /// Gives the program its input, to the end.
    fn give_all(&self, mut input: impl Read) {
        let key = input_key(&self.host, self.id);
        let mut buffer = vec![0; CHUNK];
        let mut from = 0;
        loop {
            let n = match input.read(&mut buffer) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Ok(n) => n,
                Err(_) => 0,
            };
            if n > 0 {
                self.lock().asked.get_or_insert_with(Instant::now);
            }
            let mut rest = &buffer[..n];
            loop {
                let what = Gift::Input { from, is_last: n == 0 };
                let give = with_bytes(&Give { secret: self.secret, what }, &[rest]);
                // Who takes its output finds out as well that the host is lost.
                let Ok(answer) = self.ask(&key, &give) else { return };
                let Some(Given { have }) = read(&answer) else { return };
                let Some(new) = have.checked_sub(from).and_then(|n| usize::try_from(n).ok()) else { return };
                from = have;
                rest = rest.get(new..).unwrap_or(&[]);
                if rest.is_empty() {
                    break;
                }
                if self.lock().is_over {
                    return;
                }
            }
            if n == 0 {
                return;
            }
        }
    }

    /// Says now and then that it is still there, however long nobody reads or writes here.
    fn give_signs(&self) {
        let key = input_key(&self.host, self.id);
        let sign = write(&Give { secret: self.secret, what: Gift::Sign });
        let mut state = self.lock();
        while !state.is_over {
            state =
                self.changed.wait_timeout(state, self.lease / 4).unwrap_or_else(PoisonError::into_inner).0;
            if state.is_over {
                return;
            }
            drop(state);
            if let Ok(answer) = self.fabric.ask(&key, &sign, hold(self.lease) + self.lease / 4)
                && read::<Given>(&answer).is_some()
            {
                self.lock().heard = Instant::now();
            }
            state = self.lock();
        }
    }
}

/// A number that nobody else has: the system's randomness, by way of the keys of its maps.
fn random() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id())
}
