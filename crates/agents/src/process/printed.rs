//! What a program logs and prints: bounded, whatever it does.

use super::Limits;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::read;
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Lines kept for a death notice.
const KEPT: usize = 50;
/// Longest line; the rest of a longer one is thrown away.
const LONGEST: usize = 1000;
/// Most bytes read in one go, so that a flood cannot hold the simulator.
const AT_ONCE: usize = 1 << 20;

/// The reading end of a program's stderr (and stdout, if it answers elsewhere).
pub(super) struct Printed {
    pipe: Option<OwnedFd>,
    /// The line being printed.
    partial: Vec<u8>,
    last: VecDeque<String>,
    /// Said in this quantum. Logged and printed lines reach us on different ways; how they mix depends
    /// on the moment, so they are kept apart and answered one after the other.
    logged: Said,
    printed: Said,
    most: Most,
}

/// How much one quantum may say.
#[derive(Clone, Copy)]
struct Most {
    lines: usize,
    bytes: usize,
}

/// The first lines of a quantum, and how many more there were.
#[derive(Default)]
struct Said {
    lines: Vec<String>,
    bytes: usize,
    dropped: u64,
}

impl Said {
    fn push(&mut self, line: String, most: Most) {
        // After the first that finds no room, all are dropped: what is kept is a beginning.
        if self.dropped == 0 && self.lines.len() < most.lines && self.bytes + line.len() <= most.bytes {
            self.bytes += line.len();
            self.lines.push(line);
        } else {
            self.dropped += 1;
        }
    }
}

impl Printed {
    pub(super) fn new(pipe: OwnedFd, limits: &Limits) -> nix::Result<Self> {
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let most = |limit: Option<u32>| limit.map_or(usize::MAX, |n| n as usize);
        Ok(Self {
            pipe: Some(pipe),
            partial: Vec::new(),
            last: VecDeque::new(),
            logged: Said::default(),
            printed: Said::default(),
            most: Most { lines: most(limits.said_lines), bytes: most(limits.said_bytes) },
        })
    }

    /// Becomes readable when something was printed; `None` once it is closed.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(|p| p.as_fd())
    }

    /// Reads what was printed, without waiting.
    pub(super) fn drain(&mut self) {
        let mut buffer = [0; 16_384];
        let mut total = 0;
        while total < AT_ONCE
            && let Some(pipe) = &self.pipe
        {
            match read(pipe, &mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(n) => {
                    total += n;
                    self.take(&buffer[..n]);
                }
                Err(nix::Error::EINTR) => {}
                Err(_) => break,
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&b| b == b'\n') {
            let (text, whole) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            let room = LONGEST - self.partial.len();
            self.partial.extend(&text[..text.len().min(room)]);
            if whole {
                let line = String::from_utf8_lossy(&self.partial).trim_end_matches('\r').to_owned();
                self.partial.clear();
                self.printed.push(line.clone(), self.most);
                self.remember(line);
            }
        }
    }

    /// Something logged, perhaps of several lines.
    pub(super) fn log(&mut self, text: &str) {
        for line in text.trim_end_matches('\n').split('\n') {
            let line: String = line.chars().take(LONGEST).collect();
            self.logged.push(line.clone(), self.most);
            self.remember(line);
        }
    }

    fn remember(&mut self, line: String) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// What was said since the last call.
    pub(super) fn take_said(&mut self) -> Vec<String> {
        let (mut said, printed) = (std::mem::take(&mut self.logged), std::mem::take(&mut self.printed));
        for line in printed.lines {
            said.push(line, self.most);
        }
        let dropped = said.dropped + printed.dropped;
        if dropped > 0 {
            said.lines.push(format!("({dropped} more lines were thrown away)"));
        }
        said.lines
    }

    /// The last lines of all, with the one that was not finished.
    pub(super) fn last_words(&mut self) -> Vec<String> {
        if !self.partial.is_empty() {
            self.take(b"\n");
        }
        self.last.iter().cloned().collect()
    }
}
