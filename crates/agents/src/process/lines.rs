//! The line protocol, docs/register-protocol.md: what a program in any language can speak.

use super::events::Event;
use super::{Access, Launch, Span, VERSION};
use std::fmt::Write as _;

/// The longest line a program may send.
pub(super) const LONGEST: usize = 4096;

/// The next line of `bytes`, and its length with the newline. `None`: it is not complete yet.
pub(super) fn next(bytes: &[u8]) -> Result<Option<(Option<Event>, usize)>, String> {
    let Some(end) = bytes.iter().take(LONGEST).position(|&b| b == b'\n') else {
        let long = bytes.len() >= LONGEST;
        return if long { Err(format!("a line of more than {LONGEST} bytes")) } else { Ok(None) };
    };
    let line = String::from_utf8_lossy(&bytes[..end]);
    let line = line.trim_end_matches('\r');
    Ok(Some((event(line)?, end + 1)))
}

/// What a line means; an empty one means nothing.
fn event(line: &str) -> Result<Option<Event>, String> {
    if let Some(text) = line.strip_prefix("log ") {
        return Ok(Some(Event::Log(text.to_owned())));
    }
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let not_understood = || {
        let shown: String = line.chars().take(60).collect();
        format!("the line `{shown}` is not understood (print to stderr what is no answer)")
    };
    let natural = |word: &str| number(word).and_then(|v| u32::try_from(v).ok()).ok_or_else(not_understood);
    let event = match words[..] {
        [] => return Ok(None),
        ["rio", version] => Event::Hello(natural(version)?),
        ["log"] => Event::Log(String::new()),
        // Only the lowest 32 bits are compared, as in the binary records.
        ["done", tick] => Event::Done(tick.parse::<u64>().map_err(|_| not_understood())? as u32),
        [verb, address] => {
            let address = natural(address)?;
            match (width(verb, "peek"), width(verb, "badpeek")) {
                (Some(width), _) => Event::Peek { address, width },
                (_, Some(width)) => Event::BadPeek { address, width },
                _ => return Err(not_understood()),
            }
        }
        [verb, address, value] => {
            let width = width(verb, "poke").ok_or_else(not_understood)?;
            let value = number(value).ok_or_else(not_understood)?;
            let bits = 8 * width;
            let fits = (-(1_i64 << (bits - 1))..1_i64 << bits).contains(&value);
            Event::Poke {
                address: natural(address)?,
                width,
                value: super::records::cut(value as u32, width),
                fits,
            }
        }
        _ => return Err(not_understood()),
    };
    Ok(Some(event))
}

/// `poke16` is 2 bytes.
fn width(verb: &str, stem: &str) -> Option<u32> {
    match verb.strip_prefix(stem)? {
        "8" => Some(1),
        "16" => Some(2),
        "32" => Some(4),
        _ => None,
    }
}

/// `17`, `-5`, `0x1f`.
fn number(word: &str) -> Option<i64> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = match digits.strip_prefix("0x") {
        Some(hex) if !hex.starts_with('+') => i64::from_str_radix(hex, 16).ok()?,
        Some(_) => return None,
        None => digits.parse::<i64>().ok()?,
    };
    Some(if negative { -value } else { value })
}

/// The first message: version, tick length, then the registers by name and all spans.
pub(super) fn table(out: &mut Vec<u8>, launch: &Launch, spans: &[Span]) {
    let mut text = format!("rio {VERSION} tick_us={}\n", launch.tick_us);
    for r in &launch.registers {
        let access = spans.iter().rfind(|s| s.address <= r.at).map_or("r", |s| access(s.access));
        let (name, unit) = (word(&r.name), if r.unit.is_empty() { "1".to_owned() } else { word(&r.unit) });
        let _ = writeln!(
            text,
            "reg {name} at={:#x} bytes={} count={} signed={} scale={} offset={} unit={unit} access={access}",
            r.at,
            r.bytes,
            r.count,
            u32::from(r.signed),
            r.scale,
            r.offset,
        );
    }
    for s in spans {
        let _ = writeln!(text, "span at={:#x} bytes={} access={}", s.address, s.bytes, access(s.access));
    }
    text.push_str("ready\n");
    out.extend(text.bytes());
}

fn access(access: Access) -> &'static str {
    match access {
        Access::Read => "r",
        Access::Write => "rw",
        Access::Port => "port",
    }
}

/// A name as one word: blanks and control characters would break the line.
fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}

/// One quantum: `tick 17 0x10=6400c800 0x20=00`.
pub(super) fn quantum(out: &mut Vec<u8>, tick: u64, image: &[u8], spans: &[Span]) {
    let mut text = format!("tick {tick}");
    for s in spans.iter().filter(|s| s.access != Access::Port) {
        let _ = write!(text, " {:#x}=", s.address);
        for byte in &image[s.offset as usize..(s.offset + s.bytes) as usize] {
            let _ = write!(text, "{byte:02x}");
        }
    }
    text.push('\n');
    out.extend(text.bytes());
}

/// What a port holds.
pub(super) fn value(out: &mut Vec<u8>, value: u32) {
    out.extend(format!("value {value}\n").bytes());
}

/// The end.
pub(super) fn stop(out: &mut Vec<u8>) {
    out.extend(*b"stop\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Result<Option<Event>, String> {
        event(line)
    }

    #[test]
    fn lines_mean_what_they_say() {
        assert_eq!(
            one("poke8 0x20 -5"),
            Ok(Some(Event::Poke { address: 0x20, width: 1, value: 0xfb, fits: true }))
        );
        assert_eq!(
            one(" poke16  32  0xffff "),
            Ok(Some(Event::Poke { address: 32, width: 2, value: 0xffff, fits: true }))
        );
        assert_eq!(one("poke8 1 256"), Ok(Some(Event::Poke { address: 1, width: 1, value: 0, fits: false })));
        assert_eq!(one("peek32 0x30"), Ok(Some(Event::Peek { address: 0x30, width: 4 })));
        assert_eq!(one("log  two  blanks"), Ok(Some(Event::Log(" two  blanks".into()))));
        assert_eq!(one("done 4294967297"), Ok(Some(Event::Done(1))));
        assert_eq!(one("rio 1"), Ok(Some(Event::Hello(1))));
        assert_eq!(one(""), Ok(None));
    }

    #[test]
    fn lines_that_mean_nothing_are_errors() {
        for line in [
            "hello",
            "done",
            "done -1",
            "poke8 1",
            "poke24 1 1",
            "poke8 x 1",
            "peek8 -1",
            "poke8 1 --5",
            "poke8 1 0x+5",
            "poke8 1 2 3",
            "peek8 99999999999",
        ] {
            assert!(one(line).is_err(), "{line}");
        }
        assert!(next(&[b'x'; LONGEST]).is_err());
        assert_eq!(next(b"done 1"), Ok(None));
        assert_eq!(next(b"done 1\r\nx"), Ok(Some((Some(Event::Done(1)), 8))));
    }
}
