//! Shared memory, seen from the simulator.
//!
//! Words (32 bits, little-endian machines only), in this order: the header below, the span table (four
//! words each), the image, and the outbox, in which the program leaves records (`records.rs`) for the
//! simulator. Two counters hand the turn over: whoever has something to say raises the other's counter
//! and wakes it. The simulator reads four things that the program writes (its counter, its version,
//! the length of the outbox, the outbox) and believes none of them.

use super::records::{MORE, QUANTUM, STOP, VALUE, words};
use super::{Launch, Span, VERSION, sys};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// `RIOS`.
const MAGIC: u32 = u32::from_le_bytes(*b"RIOS");

// The header. `sdk/c/rio_process.c` has the same list. Magic and both versions keep their places in
// all versions to come, so that any two can tell each other what they speak.
const H_MAGIC: usize = 0;
const H_VERSION: usize = 1;
const H_WORDS: usize = 2;
const H_TICK_US: usize = 3;
const H_SPANS: usize = 4;
const H_IMAGE_BYTES: usize = 5;
const H_OUTBOX: usize = 6;
const H_OUTBOX_WORDS: usize = 7;
const H_KIND: usize = 8;
const H_TICK_LOW: usize = 9;
const H_TICK_HIGH: usize = 10;
const H_VALUE: usize = 11;
// A cache line of its own for each side.
const H_TO_PROGRAM: usize = 16;
const H_TO_SIMULATOR: usize = 32;
const H_THEIR_VERSION: usize = 33;
const H_FILLED: usize = 34;
const HEADER: usize = 48;

/// Words of the outbox: 1365 pokes between two hand-overs.
const OUTBOX_WORDS: usize = 4096;

/// The simulator's end.
pub(super) struct Memory {
    mapping: sys::Mapping,
    image_at: usize,
    outbox_at: usize,
    /// The program's hand-overs seen so far.
    seen: u32,
}

impl Memory {
    pub(super) fn new(launch: &Launch, spans: &[Span]) -> nix::Result<(Self, OwnedFd)> {
        let image_at = HEADER + 4 * spans.len();
        let outbox_at = image_at + launch.image_len.div_ceil(4);
        let (mapping, file) = sys::Mapping::new(outbox_at + OUTBOX_WORDS)?;
        let memory = Self { mapping, image_at, outbox_at, seen: 0 };
        for (place, value) in [
            (H_MAGIC, MAGIC),
            (H_VERSION, VERSION),
            (H_WORDS, (outbox_at + OUTBOX_WORDS) as u32),
            (H_TICK_US, launch.tick_us),
            (H_SPANS, spans.len() as u32),
            (H_IMAGE_BYTES, launch.image_len as u32),
            (H_OUTBOX, outbox_at as u32),
            (H_OUTBOX_WORDS, OUTBOX_WORDS as u32),
        ] {
            memory.set(place, value);
        }
        for (k, word) in spans.iter().flat_map(words).enumerate() {
            memory.set(HEADER + k, word);
        }
        Ok((memory, file))
    }

    fn word(&self, place: usize) -> &AtomicU32 {
        &self.mapping.words()[place]
    }

    fn set(&self, place: usize, value: u32) {
        self.word(place).store(value, Ordering::Relaxed);
    }

    fn hand_over(&self, kind: u32) {
        self.set(H_KIND, kind);
        self.word(H_TO_PROGRAM).fetch_add(1, Ordering::Release);
        sys::futex_wake(self.word(H_TO_PROGRAM));
    }

    pub(super) fn quantum(&self, tick: u64, image: &[u8]) {
        let words = &self.mapping.words()[self.image_at..self.outbox_at];
        for (word, bytes) in words.iter().zip(image.chunks(4)) {
            let mut four = [0; 4];
            four[..bytes.len()].copy_from_slice(bytes);
            word.store(u32::from_ne_bytes(four), Ordering::Relaxed);
        }
        self.set(H_TICK_LOW, tick as u32);
        self.set(H_TICK_HIGH, (tick >> 32) as u32);
        self.hand_over(QUANTUM);
    }

    pub(super) fn value(&self, value: u32) {
        self.set(H_VALUE, value);
        self.hand_over(VALUE);
    }

    pub(super) fn more(&self) {
        self.hand_over(MORE);
    }

    pub(super) fn stop(&self) {
        self.hand_over(STOP);
    }

    /// The version the program speaks; 0 until it has said so.
    pub(super) fn their_version(&self) -> u32 {
        self.word(H_THEIR_VERSION).load(Ordering::Relaxed)
    }

    /// Copies what the program left into `inbox`, if it handed over since the last call.
    pub(super) fn take(&mut self, inbox: &mut Vec<u8>) -> Result<bool, String> {
        let now = self.word(H_TO_SIMULATOR).load(Ordering::Acquire);
        match now.wrapping_sub(self.seen) {
            0 => return Ok(false),
            1 => self.seen = now,
            n => return Err(format!("it handed over `{n}` times at once")),
        }
        let filled = self.word(H_FILLED).load(Ordering::Relaxed) as usize;
        if filled > OUTBOX_WORDS {
            return Err(format!("its outbox of {OUTBOX_WORDS} words holds `{filled}`"));
        }
        inbox.clear();
        for word in &self.mapping.words()[self.outbox_at..self.outbox_at + filled] {
            inbox.extend(word.load(Ordering::Relaxed).to_ne_bytes());
        }
        Ok(true)
    }

    /// Waits for the program to hand over, at most `longest`; false if it did not.
    ///
    /// Why it does not look some microseconds long before it sleeps: measured on two processors
    /// (`tests/process_speed.rs`), that made a quantum slower by half, since the kernel likes to wake
    /// the program on the very processor that then is busy looking. It also counted as think time.
    pub(super) fn wait(&self, longest: Duration) -> bool {
        let counter = self.word(H_TO_SIMULATOR);
        sys::futex_wait(counter, self.seen, longest);
        counter.load(Ordering::Relaxed) != self.seen
    }
}
