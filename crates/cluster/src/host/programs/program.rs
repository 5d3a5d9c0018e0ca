//! One program that runs here for somebody elsewhere.
//!
//! In: questions of its sister process: bytes for its input, and what it said from a place on. Out: the answers. Three
//! threads carry bytes between its pipes and bounded queues; who asks waits in those queues only, and not for long.
//!
//! What never happens: more than [`ROOM`] bytes of a stream are kept; a program that does not read, or that nobody
//! listens to, holds up anybody but itself; a program that outlives its sister by more than her lease.

use super::speech::{
    CHUNK, Gift, Give, Given, Open, Piped, ProgramEnd, Take, Taken, Turns, head_and_bytes, hold, with_bytes,
};
use crate::message::{read, write};
use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use swarmyard_agents::process::{Cause, Leash, Limits};

/// Most bytes of a stream that are kept here.
const ROOM: usize = 256 << 10;
/// Between two looks at a program that says nothing any more.
const LOOK: Duration = Duration::from_millis(2);

/// A running program.
pub(crate) struct Program {
    pub(crate) id: u64,
    secret: u64,
    name: String,
    pid: u32,
    lease: Duration,
    began: Instant,
    flow: Mutex<Flow>,
    changed: Condvar,
}

/// What is on its way to and from it.
struct Flow {
    leash: Leash,
    end: Option<ProgramEnd>,
    /// Whether its owner was told of the end.
    is_told: bool,
    input: VecDeque<u8>,
    /// Bytes of its input that came here.
    have: u64,
    is_last: bool,
    out: Said,
    err: Said,
    /// When its sister was heard of.
    heard: Instant,
    /// Since when there is input that it has not answered.
    asked: Option<Instant>,
    there: Turns,
    whole: Turns,
}

/// A stream that it writes.
#[derive(Default)]
struct Said {
    /// Number of the first byte that is kept.
    from: u64,
    bytes: VecDeque<u8>,
    is_over: bool,
}

impl Said {
    /// Bytes from a place on. Those before it have arrived, and are forgotten.
    fn take(&mut self, from: u64, most: usize) -> Vec<u8> {
        let known = usize::try_from(from.saturating_sub(self.from)).unwrap_or(usize::MAX);
        let known = known.min(self.bytes.len());
        self.bytes.drain(..known);
        self.from += known as u64;
        self.bytes.iter().take(most).copied().collect()
    }
}

impl Program {
    /// Starts a program.
    pub(crate) fn start(mut command: Command, open: &Open) -> Result<Arc<Program>, String> {
        let name = open.words.first().cloned().unwrap_or_default();
        let failed = |e: std::io::Error| format!("`{name}` cannot be started: {e}");
        let (stdin, input) = std::io::pipe().map_err(failed)?;
        let (out, stdout) = std::io::pipe().map_err(failed)?;
        let (err, stderr) = std::io::pipe().map_err(failed)?;
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        let leash = Leash::start(command, &Limits::default()).map_err(failed)?;
        let now = Instant::now();
        let program = Arc::new(Program {
            id: open.id,
            secret: open.secret,
            pid: leash.pid(),
            lease: Duration::from_secs_f64(open.lease_s),
            began: now,
            flow: Mutex::new(Flow {
                leash,
                end: None,
                is_told: false,
                input: VecDeque::new(),
                have: 0,
                is_last: false,
                out: Said::default(),
                err: Said::default(),
                heard: now,
                asked: None,
                there: Turns::default(),
                whole: Turns::default(),
            }),
            changed: Condvar::new(),
            name: name.clone(),
        });
        let thread = |what: &str, carry: Box<dyn FnOnce(&Program) + Send>| {
            let program = Arc::clone(&program);
            let named = std::thread::Builder::new().name(format!("{what} {}", program.pid));
            named.spawn(move || carry(&program)).map(drop).map_err(failed)
        };
        thread("in", Box::new(move |p| p.write_input(input)))?;
        thread("out", Box::new(move |p| p.read(out, |flow| &mut flow.out)))?;
        thread("err", Box::new(move |p| p.read(err, |flow| &mut flow.err)))?;
        Ok(program)
    }

    /// Whether whoever asks knows the secret.
    pub(crate) fn is_of(&self, secret: u64) -> bool {
        self.secret == secret
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Takes input, or a sign of life, or ends it; no answer for strangers.
    pub(crate) fn give(&self, question: &[u8]) -> Option<Vec<u8>> {
        let (give, bytes) = head_and_bytes::<Give>(question).filter(|(g, _)| self.is_of(g.secret))?;
        let mut flow = self.lock();
        flow.heard = Instant::now();
        match give.what {
            Gift::Sign => {}
            Gift::Kill => {
                drop(flow);
                self.end("its sister ended it");
                flow = self.lock();
            }
            Gift::Input { from, is_last } => {
                let until = Instant::now() + hold(self.lease);
                while flow.input.len() >= ROOM && flow.end.is_none() && Instant::now() < until {
                    flow = self.wait(flow, until);
                }
                flow.take_input(from, bytes, is_last);
                self.changed.notify_all();
            }
        }
        Some(write(&Given { have: flow.have }))
    }

    /// Says what it said, or waits a while until it says something; no answer for strangers.
    pub(crate) fn take(&self, question: &[u8]) -> Option<Vec<u8>> {
        let take = read::<Take>(question).filter(|t| self.is_of(t.secret))?;
        let until = Instant::now() + hold(self.lease);
        let mut flow = self.lock();
        flow.whole = take.turns;
        loop {
            flow.heard = Instant::now();
            let out = flow.out.take(take.out_from, CHUNK);
            let err = flow.err.take(take.err_from, CHUNK);
            // There may be room again for what it wants to say.
            self.changed.notify_all();
            let is_all = out.is_empty() && err.is_empty();
            let is_over = is_all && flow.out.is_over && flow.err.is_over;
            let end = if is_over { flow.ended() } else { None };
            if !is_all || end.is_some() || Instant::now() >= until {
                return Some(with_bytes(&Taken { out: out.len() as u32, end }, &[&out, &err]));
            }
            let look = if is_over { until.min(Instant::now() + LOOK) } else { until };
            flow = self.wait(flow, look);
        }
    }

    /// Whether it is still there.
    pub(crate) fn is_running(&self) -> bool {
        self.lock().ended().is_none()
    }

    /// Looks after it: ends it when its sister is gone. Answers whether it can be forgotten, and what is to be told.
    pub(crate) fn tend(&self) -> (bool, Option<String>) {
        let is_alone = self.lock().heard.elapsed() > self.lease;
        if is_alone && self.is_running() {
            self.end("nothing was heard of its sister");
        }
        let mut flow = self.lock();
        let end = flow.ended().filter(|_| !flow.is_told);
        flow.is_told |= end.is_some();
        let is_forgotten = is_alone && flow.is_told;
        drop(flow);
        let told = end.map(|end| format!("program {}, has ended: {end}", self.stats()));
        (is_forgotten, told)
    }

    /// Ends it with all that it started.
    pub(crate) fn end(&self, why: &str) {
        let mut flow = self.lock();
        if flow.ended().is_none() {
            flow.end = Some(ProgramEnd::Ended(why.to_owned()));
            flow.leash.kill();
        }
        self.changed.notify_all();
    }

    /// What it has done so far.
    pub(crate) fn stats(&self) -> Piped {
        let flow = self.lock();
        let said = |s: &Said| s.from + s.bytes.len() as u64;
        Piped {
            name: self.name.clone(),
            pid: self.pid,
            seconds: self.began.elapsed().as_secs_f64(),
            bytes_in: flow.have,
            bytes_out: said(&flow.out) + said(&flow.err),
            turns: flow.there.count,
            there_us: flow.there.mean_us(),
            whole_us: flow.whole.mean_us(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, flow: MutexGuard<'a, Flow>, until: Instant) -> MutexGuard<'a, Flow> {
        let left = until.saturating_duration_since(Instant::now());
        self.changed.wait_timeout(flow, left).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Carries its input until the last byte, or until it is gone or reads no more.
    fn write_input(&self, mut pipe: PipeWriter) {
        loop {
            let mut flow = self.lock();
            while flow.input.is_empty() && !flow.is_last && flow.end.is_none() {
                flow = self.changed.wait(flow).unwrap_or_else(PoisonError::into_inner);
            }
            if flow.end.is_some() || flow.input.is_empty() {
                return;
            }
            let most = flow.input.len().min(CHUNK);
            let chunk: Vec<u8> = flow.input.iter().take(most).copied().collect();
            drop(flow);
            let is_read = pipe.write_all(&chunk).is_ok();
            let mut flow = self.lock();
            // Forgotten only now, so that what waits for a slow program is bounded by the queue alone. What one
            // that does not read any more is given goes nowhere, as it would here.
            let gone = if is_read { most } else { flow.input.len() };
            flow.input.drain(..gone);
            self.changed.notify_all();
        }
    }

    /// Carries what it says until the end of the stream, no faster than it is taken.
    fn read(&self, mut pipe: PipeReader, which: impl Fn(&mut Flow) -> &mut Said) {
        let mut buffer = vec![0; CHUNK];
        loop {
            let n = match pipe.read(&mut buffer) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Ok(n) => n,
                Err(_) => 0,
            };
            let mut flow = self.lock();
            while which(&mut flow).bytes.len() >= ROOM && flow.end.is_none() {
                flow = self.changed.wait(flow).unwrap_or_else(PoisonError::into_inner);
            }
            let said = which(&mut flow);
            said.bytes.extend(&buffer[..n]);
            said.is_over = n == 0;
            if n > 0
                && let Some(asked) = flow.asked.take()
            {
                flow.there.add(asked.elapsed());
            }
            self.changed.notify_all();
            if n == 0 {
                return;
            }
        }
    }
}

impl Flow {
    /// Takes what is new of these bytes, as far as there is room.
    fn take_input(&mut self, from: u64, bytes: &[u8], is_last: bool) {
        let Some(known) = self.have.checked_sub(from).and_then(|n| usize::try_from(n).ok()) else {
            return;
        };
        let new = bytes.get(known..).unwrap_or(&[]);
        let fits =
            if self.end.is_some() { new.len() } else { new.len().min(ROOM - self.input.len().min(ROOM)) };
        if fits > 0 {
            self.asked.get_or_insert_with(Instant::now);
        }
        if self.end.is_none() {
            self.input.extend(&new[..fits]);
        }
        self.have += fits as u64;
        self.is_last |= is_last && fits == new.len() && known <= bytes.len();
    }

    /// How it ended, once it has.
    fn ended(&mut self) -> Option<ProgramEnd> {
        if self.end.is_none() {
            self.end = self.leash.end().map(|cause| match cause {
                Cause::Exited(code) => ProgramEnd::Exited(code),
                Cause::Signal(signal) => ProgramEnd::Signal(signal),
                cause => ProgramEnd::Limit(cause.to_string()),
            });
        }
        self.end.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Identity;

    fn cat() -> Arc<Program> {
        let identity = Identity { version: "1".into(), numerics: 1 };
        let words = vec!["cat".to_owned()];
        let open = Open { identity, id: 1, secret: 5, words, settings: Vec::new(), lease_s: 2.0 };
        Program::start(Command::new("cat"), &open).expect("it is everywhere")
    }

    fn give(program: &Program, secret: u64, what: Gift, bytes: &[u8]) -> Option<u64> {
        let answer = program.give(&with_bytes(&Give { secret, what }, &[bytes]))?;
        read::<Given>(&answer).map(|g| g.have)
    }

    fn take(program: &Program, out_from: u64) -> (Vec<u8>, Option<ProgramEnd>) {
        let take = Take { secret: 5, out_from, err_from: 0, turns: Turns::default() };
        let answer = program.take(&write(&take)).expect("an answer");
        let (taken, bytes): (Taken, _) = head_and_bytes(&answer).expect("a message");
        (bytes[..taken.out as usize].to_vec(), taken.end)
    }

    #[test]
    fn questions_that_come_twice_or_in_another_order_change_nothing() {
        let program = cat();
        let input = |from, is_last| Gift::Input { from, is_last };
        assert_eq!(give(&program, 5, input(0, false), b"abc"), Some(3));
        assert_eq!(give(&program, 5, input(0, false), b"abc"), Some(3), "the same again");
        assert_eq!(give(&program, 5, input(1, false), b"bcde"), Some(5), "half of it is new");
        assert_eq!(give(&program, 5, input(9, true), b"xyz"), Some(5), "something is missing before it");
        let mut said = Vec::new();
        while said.len() < 5 {
            let (bytes, end) = take(&program, said.len() as u64);
            assert_eq!(end, None);
            assert_eq!(take(&program, said.len() as u64).0[..bytes.len()], bytes, "asked for twice");
            said.extend(bytes);
        }
        assert_eq!(said, b"abcde");
        assert_eq!(give(&program, 5, input(5, true), b""), Some(5));
        while take(&program, 5).1.is_none() {}
        assert_eq!(take(&program, 5), (Vec::new(), Some(ProgramEnd::Exited(0))), "also when asked again");
        assert_eq!(program.stats().bytes_in, 5);
    }

    #[test]
    fn a_stranger_gets_no_answer() {
        let program = cat();
        assert_eq!(give(&program, 6, Gift::Kill, b""), None);
        let take = Take { secret: 6, out_from: 0, err_from: 0, turns: Turns::default() };
        assert_eq!(program.take(&write(&take)), None);
        assert!(program.give(b"").is_none() && program.take(b"\xff\xff").is_none());
        assert!(program.is_running());
        assert_eq!(give(&program, 5, Gift::Kill, b""), Some(0));
        assert!(!program.is_running());
    }
}
