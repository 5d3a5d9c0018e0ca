//! What processes say to each other before they talk: who is where, and whether all have met.
//!
//! ```text
//! 0  4  magic     4  8  number of the run    12  4  sender    16  4  receiver
//! 20 2  port at which the sender listens     22  1  bits: 1 has met all, 2 is an answer
//! ```
//! All numbers are little-endian. A greeting has exactly this length.

const MAGIC: [u8; 4] = *b"SWYH";
/// Bytes of a greeting.
pub(super) const GREETING: usize = 23;

/// A greeting of one robot for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    pub(super) run: u64,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) port: u16,
    /// Whether the sender's process has heard from all others.
    pub(super) met: bool,
    /// Whether it answers another one: answers are not answered.
    pub(super) answer: bool,
}

impl Greeting {
    pub(super) fn encode(&self) -> [u8; GREETING] {
        let mut out = [0; GREETING];
        out[..4].copy_from_slice(&MAGIC);
        out[4..12].copy_from_slice(&self.run.to_le_bytes());
        out[12..16].copy_from_slice(&self.from.to_le_bytes());
        out[16..20].copy_from_slice(&self.to.to_le_bytes());
        out[20..22].copy_from_slice(&self.port.to_le_bytes());
        out[22] = u8::from(self.met) | u8::from(self.answer) << 1;
        out
    }

    /// The greeting that these bytes are; else `None`.
    pub(super) fn read(data: &[u8]) -> Option<Greeting> {
        let data: &[u8; GREETING] = data.try_into().ok()?;
        let number = |at: usize| u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        let bits = data[22];
        (data[..4] == MAGIC && bits < 4).then(|| Greeting {
            run: u64::from(number(4)) | u64::from(number(8)) << 32,
            from: number(12),
            to: number(16),
            port: u16::from_le_bytes([data[20], data[21]]),
            met: bits & 1 != 0,
            answer: bits & 2 != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_comes_back_as_it_was_and_nothing_else_is_one() {
        let greeting = Greeting { run: u64::MAX - 5, from: 3, to: 1, port: 65_000, met: true, answer: false };
        let data = greeting.encode();
        assert_eq!(Greeting::read(&data), Some(greeting));
        assert_eq!(Greeting::read(&data[..22]), None);
        assert_eq!(Greeting::read(&[&data[..], b"x"].concat()), None);
        for (at, byte) in [(0, b'X'), (22, 4)] {
            let mut other = data;
            other[at] = byte;
            assert_eq!(Greeting::read(&other), None);
        }
    }
}
