//! The end of a lane: bytes of a connection become messages for a listener.
//!
//! In: a connection that was let in. Out: calls of its listener, one per message, by whichever thread reads.
//!
//! Whoever waits for messages reads them ([`Attendance`]): another thread would have to be woken for each, which takes longer
//! than reading. While nobody waits, the thread of the connection reads, so that a sender's way never stays full.

use super::tls::Line;
use super::{Ear, refused};
use crate::gate::Kind;
use crate::{Heard, MOST_BYTES};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, Thread};
use std::time::Duration;

/// How long the thread of a connection rests when somebody else has been reading: for so long a message may lie there that
/// nobody waits for.
const REST: Duration = Duration::from_millis(1);

/// One connection that was let in.
pub(super) struct Incoming {
    pub(super) key: String,
    ear: Arc<Ear>,
    /// The address of whoever sends.
    peer: String,
    socket: TcpStream,
    reading: Mutex<Reading>,
    is_over: AtomicBool,
    /// Bytes so far, of a message that is not whole as well.
    arrived: AtomicU64,
    /// The thread that reads while nobody waits.
    keeper: Thread,
}

/// How far a message has come.
struct Reading {
    line: Box<dyn Line>,
    head: [u8; 4],
    /// Bytes there are, of head and message.
    count: usize,
    bytes: Vec<u8>,
    /// Bytes that ever came.
    all: u64,
}

/// Who reads: how often somebody has waited for messages, and which time was in vain.
#[derive(Default)]
pub(super) struct Attendance {
    times: AtomicU64,
    in_vain: AtomicU64,
}

impl Attendance {
    /// Somebody begins to wait, and to read. Answers the number of this time.
    pub(super) fn begin(&self) -> u64 {
        self.times.fetch_add(1, SeqCst) + 1
    }

    /// Nothing came: the threads of the connections read again.
    pub(super) fn end_in_vain(&self, time: u64) {
        self.in_vain.store(time, SeqCst);
    }

    /// Whether somebody has read since it was last asked, and may well go on.
    fn is_kept_up(&self, seen: &mut u64) -> bool {
        let times = self.times.load(SeqCst);
        let before = std::mem::replace(seen, times);
        times != before && times != self.in_vain.load(SeqCst)
    }
}

impl Incoming {
    /// A connection whose two sides have greeted; the thread that calls this keeps it.
    pub(super) fn new(
        key: String,
        ear: Arc<Ear>,
        socket: TcpStream,
        line: Box<dyn Line>,
    ) -> io::Result<Self> {
        let peer = refused::peer(&socket);
        socket.set_nonblocking(true)?;
        let reading = Mutex::new(Reading { line, head: [0; 4], count: 0, bytes: Vec::new(), all: 0 });
        let (is_over, arrived) = (AtomicBool::new(false), AtomicU64::new(0));
        Ok(Incoming { key, ear, peer, socket, reading, is_over, arrived, keeper: thread::current() })
    }

    /// Reads whenever nobody else does, until the connection ends.
    pub(super) fn keep(&self, attendance: &Attendance) -> io::Result<()> {
        let mut seen = 0;
        while !self.is_over.load(SeqCst) {
            if attendance.is_kept_up(&mut seen) {
                thread::park_timeout(REST);
                continue;
            }
            match poll(&mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE) {
                Err(Errno::EINTR) => continue,
                other => other?,
            };
            if !attendance.is_kept_up(&mut seen) {
                self.read_all(&mut self.reading.lock().unwrap_or_else(PoisonError::into_inner))?;
            }
        }
        Ok(())
    }

    /// Reads what is there, unless somebody else does.
    pub(super) fn look(&self) {
        let mut reading = match self.reading.try_lock() {
            Ok(reading) => reading,
            Err(TryLockError::Poisoned(reading)) => reading.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if self.read_all(&mut reading).is_err() {
            // Its thread clears it away: it may be waiting for more, or resting.
            self.hang_up();
        }
    }

    /// Bytes that have come.
    pub(super) fn arrived(&self) -> u64 {
        self.arrived.load(Relaxed)
    }

    /// Lets the thread of the connection look who reads now.
    pub(super) fn wake(&self) {
        self.keeper.unpark();
    }

    /// Whether its listener still listens.
    pub(super) fn is_heard(&self) -> bool {
        self.ear.is_open.load(SeqCst)
    }

    /// Ends the connection. Its thread does not look whether somebody else reads: nobody does any more.
    pub(super) fn hang_up(&self) {
        self.is_over.store(true, SeqCst);
        // It may have ended by itself.
        let _ = self.socket.shutdown(Shutdown::Both);
        self.wake();
    }

    fn read_all(&self, reading: &mut Reading) -> io::Result<()> {
        let counted = |why: &io::Error| {
            if why.kind() == io::ErrorKind::InvalidData {
                self.ear.tally.refuse(Kind::Lane);
                refused::tell(Kind::Lane, &self.peer, "a length beyond the limit");
            }
        };
        while let Some(bytes) = reading.message().inspect_err(counted)? {
            self.ear.tally.work.came(bytes.len());
            self.ear.tally.lanes.came(bytes.len());
            self.ear.call(Heard { key: &self.key, bytes });
        }
        self.arrived.store(reading.all, Relaxed);
        Ok(())
    }
}

impl Reading {
    /// The next message, when all of it is there.
    fn message(&mut self) -> io::Result<Option<&[u8]>> {
        const HEAD: usize = 4;
        loop {
            let length = u32::from_le_bytes(self.head) as usize;
            let rest = match self.count.checked_sub(HEAD) {
                None => &mut self.head[self.count..],
                Some(_) if length > MOST_BYTES => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "too long"));
                }
                Some(0) if self.bytes.len() != length => {
                    self.bytes.resize(length, 0);
                    continue;
                }
                Some(there) => &mut self.bytes[there..],
            };
            if rest.is_empty() {
                self.count = 0;
                return Ok(Some(&self.bytes));
            }
            match self.line.read(rest) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => (self.count, self.all) = (self.count + more, self.all + more as u64),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(e) => return Err(e),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A connection that gives what it has in pieces of any length, with nothing to read in between.
    struct Piecemeal {
        bytes: Vec<u8>,
        at: usize,
        turn: usize,
    }

    impl Read for Piecemeal {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.turn += 1;
            if self.turn.is_multiple_of(2) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = into.len().min(self.turn % 7 + 1).min(self.bytes.len() - self.at);
            into[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
            self.at += count;
            Ok(count)
        }
    }

    impl Write for Piecemeal {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn reading(bytes: Vec<u8>) -> Reading {
        Reading {
            line: Box::new(Piecemeal { bytes, at: 0, turn: 0 }),
            head: [0; 4],
            count: 0,
            bytes: Vec::new(),
            all: 0,
        }
    }

    #[test]
    fn messages_are_whole_in_whatever_pieces_they_come() {
        let lengths = [0_u32, 1, 3, 0, 200, 4, 5, 1000, 2];
        let message = |k: usize| (0..lengths[k]).map(|n| (n as usize * 31 + k) as u8).collect::<Vec<u8>>();
        let all = (0..lengths.len()).flat_map(|k| [lengths[k].to_le_bytes().to_vec(), message(k)].concat());
        let mut reading = reading(all.collect());
        let mut come = Vec::new();
        let end = loop {
            match reading.message() {
                Ok(Some(bytes)) => come.push(bytes.to_vec()),
                Ok(None) => {}
                Err(end) => break end,
            }
        };
        assert_eq!(come, (0..lengths.len()).map(message).collect::<Vec<_>>());
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_length_beyond_the_limit_takes_no_memory() {
        let mut reading = reading((MOST_BYTES as u32 + 1).to_le_bytes().to_vec());
        let refused = loop {
            match reading.message() {
                Ok(message) => assert!(message.is_none()),
                Err(why) => break why,
            }
        };
        assert_eq!((refused.to_string().as_str(), reading.bytes.capacity()), ("too long", 0));
    }

    #[test]
    fn the_thread_of_a_connection_reads_unless_somebody_keeps_waiting() {
        let (attendance, mut seen) = (Attendance::default(), 0);
        assert!(!attendance.is_kept_up(&mut seen), "nobody ever waited");
        attendance.begin();
        assert!(attendance.is_kept_up(&mut seen));
        assert!(!attendance.is_kept_up(&mut seen), "and has not come back");
        let time = attendance.begin();
        attendance.end_in_vain(time);
        assert!(!attendance.is_kept_up(&mut seen), "went to sleep");
        attendance.begin();
        assert!(attendance.is_kept_up(&mut seen));
    }
}
