//! Binary records: what travels in pipes, and stands in the outbox of shared memory.
//!
//! A record is three little-endian words: `operation | width << 8`, and two arguments. Only `LOG` is
//! longer: its text follows, padded with zeros to whole words. Whoever reads trusts nothing: an
//! unknown operation, a width that is none or a length beyond the limit is an error, never a guess.

use super::events::Event;
use super::{Access, Launch, Transport, VERSION};

/// Program → simulator.
const HELLO: u32 = 1;
const POKE: u32 = 2;
const BAD_PEEK: u32 = 3;
const PEEK: u32 = 4;
const LOG: u32 = 5;
const DONE: u32 = 6;

/// Simulator → program.
const TABLE: u32 = 16;
pub(super) const QUANTUM: u32 = 17;
pub(super) const VALUE: u32 = 18;
pub(super) const STOP: u32 = 19;
/// Shared memory only: the outbox was full and has been read.
pub(super) const MORE: u32 = 20;

/// Bytes of a record without text.
const RECORD: usize = 12;
/// The longest text of one `LOG`.
const LONGEST: usize = 1024;

/// The next record of `bytes`, and its length. `None`: it is not complete yet.
pub(super) fn next(bytes: &[u8]) -> Result<Option<(Event, usize)>, String> {
    let Some(head) = bytes.first_chunk::<RECORD>() else { return Ok(None) };
    let word = |k: usize| u32::from_le_bytes([head[k], head[k + 1], head[k + 2], head[k + 3]]);
    let (operation, width, a, b) = (word(0) & 0xff, word(0) >> 8, word(4), word(8));
    if matches!(operation, POKE | BAD_PEEK | PEEK) && !matches!(width, 1 | 2 | 4) {
        return Err(format!("a width of `{width}` bytes"));
    }
    let event = match operation {
        HELLO => Event::Hello(a),
        POKE => Event::Poke { address: a, width, value: cut(b, width), fits: true },
        BAD_PEEK => Event::BadPeek { address: a, width },
        PEEK => Event::Peek { address: a, width },
        DONE => Event::Done(a),
        LOG => {
            let length = a as usize;
            if length > LONGEST {
                return Err(format!("a message of `{length}` bytes"));
            }
            let whole = RECORD + length.next_multiple_of(4);
            let Some(text) = bytes.get(RECORD..whole) else { return Ok(None) };
            return Ok(Some((Event::Log(String::from_utf8_lossy(&text[..length]).into_owned()), whole)));
        }
        _ => return Err(format!("an unknown record `{:#010x} {a:#010x} {b:#010x}`", word(0))),
    };
    Ok(Some((event, RECORD)))
}

/// The lowest bytes of a value.
pub(super) fn cut(value: u32, width: u32) -> u32 {
    if width >= 4 { value } else { value & ((1 << (8 * width)) - 1) }
}

/// One record for a program.
fn record(out: &mut Vec<u8>, operation: u32, a: u32, b: u32) {
    for word in [operation, a, b] {
        out.extend(word.to_le_bytes());
    }
}

/// The first message: version, tick length, image length and all spans.
pub(super) fn table(out: &mut Vec<u8>, launch: &Launch, spans: &[super::Span]) {
    debug_assert_eq!(launch.transport, Transport::Pipes);
    record(out, TABLE, VERSION, spans.len() as u32);
    out.extend(launch.tick_us.to_le_bytes());
    out.extend((launch.image_len as u32).to_le_bytes());
    for word in spans.iter().flat_map(words) {
        out.extend(word.to_le_bytes());
    }
}

/// A span as four words.
pub(super) fn words(span: &super::Span) -> [u32; 4] {
    let access = match span.access {
        Access::Read => 0,
        Access::Write => 1,
        Access::Port => 2,
    };
    [span.address, span.bytes, span.offset, access]
}

/// One quantum: the tick, then the image.
pub(super) fn quantum(out: &mut Vec<u8>, tick: u64, image: &[u8]) {
    record(out, QUANTUM, tick as u32, (tick >> 32) as u32);
    out.extend(image);
}

/// What a port holds.
pub(super) fn value(out: &mut Vec<u8>, value: u32) {
    record(out, VALUE, value, 0);
}

/// The end.
pub(super) fn stop(out: &mut Vec<u8>) {
    record(out, STOP, 0, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    #[test]
    fn records_are_read_one_after_the_other() {
        let mut all = bytes(&[POKE | 2 << 8, 0x20, 0x12_fffb, LOG, 5, 0]);
        all.extend(*b"hello\0\0\0");
        let (event, n) = next(&all).unwrap().unwrap();
        assert_eq!(event, Event::Poke { address: 0x20, width: 2, value: 0xfffb, fits: true });
        assert_eq!(next(&all[n..]).unwrap(), Some((Event::Log("hello".into()), 20)));
        assert_eq!(next(&all[n..n + 19]).unwrap(), None);
        assert_eq!(next(&all[..11]).unwrap(), None);
    }

    #[test]
    fn no_bytes_make_the_readers_panic_or_stand_still() {
        let mut chance = 1_u32;
        let mut all = Vec::new();
        for _ in 0..60_000 {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Mostly small numbers and line ends, so that much of it can be read.
            let likely = b"\n 01peokdn\x02\x05\0\0\0";
            let byte = (chance >> 16) as u8;
            all.push(if chance >> 30 == 0 { byte } else { likely[usize::from(byte) % likely.len()] });
        }
        for from in 0..all.len() - 2000 {
            let bytes = &all[from..from + 2000];
            assert!(!matches!(next(bytes), Ok(Some((_, 0)))));
            assert!(!matches!(super::super::lines::next(bytes), Ok(Some((_, 0)))));
        }
    }

    #[test]
    fn garbage_is_an_error() {
        for words in [[0, 0, 0], [0xffff_ffff; 3], [POKE | 3 << 8, 0, 0], [PEEK, 0, 0], [LOG, 1025, 0]] {
            assert!(next(&bytes(&words)).is_err(), "{words:x?}");
        }
    }
}
