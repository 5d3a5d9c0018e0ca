//! The envelope that every message between workers travels in.
//!
//! In: a header and a payload. Out: bytes that say whose they are, and whether they are whole. All numbers are little endian:
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | `SWYF` |
//! | 4–5 | version of the envelope |
//! | 6–7 | zero |
//! | 8–15 | run |
//! | 16–19 | epoch |
//! | 20–23 | sender |
//! | 24–27 | receiver |
//! | 28–31 | length of the payload |
//! | 32–39 | quantum |
//! | 40–47 | sequence |
//! | 48–55 | seal of everything else |
//! | 56– | payload |
//!
//! The seal ([`crate::secret`]) finds accidents, and whoever does not know the run's secret; who may send at all is a matter of
//! certificates, and what is let in of the [`crate::gate`].

use crate::secret::Secret;
use thiserror::Error;

/// Version of the envelope.
pub const VERSION: u16 = 3;
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 56;

const MAGIC: [u8; 4] = *b"SWYF";
/// Where the seal begins.
const SEAL: usize = 48;

/// What stands on an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which run it belongs to.
    pub run: u64,
    /// Which attempt at that run: a new one begins when a worker was lost.
    pub epoch: u32,
    /// Which quantum it is about.
    pub quantum: u64,
    /// Number of the worker that sent it.
    pub sender: u32,
    /// Number of the one it is for: to nobody else it means anything.
    pub receiver: u32,
    /// Counts what that worker sent to this receiver in this epoch.
    pub sequence: u64,
}

/// Why bytes are no message. Nothing of them was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Broken {
    /// Something else than an envelope.
    #[error("this is no message of a worker")]
    NotOurs,
    /// An envelope of another version of the program.
    #[error("this message has version {0} of the envelope, and {VERSION} is spoken here")]
    OtherVersion(u16),
    /// The end is missing, or something follows it.
    #[error("this message has {is} bytes and says it has {says}")]
    CutOff {
        /// Bytes there are.
        is: usize,
        /// Bytes the header speaks of.
        says: usize,
    },
    /// Longer than the receiver takes.
    #[error("this message has {is} bytes, and at most {most} are taken")]
    TooLong {
        /// Bytes of payload.
        is: usize,
        /// The limit.
        most: usize,
    },
    /// Bytes were changed on the way, or it was sent by somebody who does not know the run's secret.
    #[error("the seal of this message is wrong")]
    WrongSeal,
}

/// Puts a payload in an envelope, with the seal of a run.
///
/// # Panics
/// When the payload is longer than a `u32` can say; a fabric carries far less.
#[must_use]
pub fn seal(header: &Header, payload: &[u8], secret: &Secret) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a payload a fabric carries");
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 2]);
    bytes.extend(header.run.to_le_bytes());
    bytes.extend(header.epoch.to_le_bytes());
    bytes.extend(header.sender.to_le_bytes());
    bytes.extend(header.receiver.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(header.quantum.to_le_bytes());
    bytes.extend(header.sequence.to_le_bytes());
    bytes.extend(secret.seal(&[&bytes, payload]).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// Takes a payload of at most `limit` bytes out of its envelope. Nothing is copied.
///
/// # Errors
/// Whatever is not exactly what [`seal`] makes.
pub fn open<'a>(bytes: &'a [u8], limit: usize, secret: &Secret) -> Result<(Header, &'a [u8]), Broken> {
    if !bytes.starts_with(&MAGIC) {
        return Err(Broken::NotOurs);
    }
    let cut = |says| Broken::CutOff { is: bytes.len(), says };
    let version = u16::from_le_bytes(field(bytes, 4).ok_or(cut(HEADER_BYTES))?);
    if version != VERSION {
        return Err(Broken::OtherVersion(version));
    }
    let (head, payload) = bytes.split_at_checked(HEADER_BYTES).ok_or(cut(HEADER_BYTES))?;
    let number = |at| field(head, at).map(u64::from_le_bytes).unwrap_or_default();
    let short = |at| field(head, at).map(u32::from_le_bytes).unwrap_or_default();
    let length = short(28) as usize;
    if length > limit {
        return Err(Broken::TooLong { is: length, most: limit });
    }
    if payload.len() != length {
        return Err(cut(HEADER_BYTES + length));
    }
    if head[6..8] != [0; 2] || number(SEAL) != secret.seal(&[&head[..SEAL], payload]) {
        return Err(Broken::WrongSeal);
    }
    let header = Header {
        run: number(8),
        epoch: short(16),
        sender: short(20),
        receiver: short(24),
        quantum: number(32),
        sequence: number(40),
    };
    Ok((header, payload))
}

/// The bytes from a place on, when there are as many.
fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// For fuzzing: no bytes may make the reader of envelopes panic, and what it takes is what would be written.
pub fn fuzz(data: &[u8]) {
    const LIMIT: usize = 1 << 16;
    let secret = Secret::default();
    if let Ok((header, payload)) = open(data, LIMIT, &secret) {
        assert!(payload.len() <= LIMIT);
        assert_eq!(seal(&header, payload, &secret), data, "an envelope is written as it was read");
    }
    // Envelopes that are whole but for one place, so that the fuzzer gets past the seal.
    let header = Header { run: 1, epoch: 2, quantum: 3, sender: 4, receiver: 5, sequence: data.len() as u64 };
    let mut sealed = seal(&header, data, &secret);
    assert_eq!(open(&sealed, data.len(), &secret), Ok((header, data)));
    if let [first, second, ..] = *data {
        let at = usize::from(u16::from_le_bytes([first, second])) % sealed.len();
        sealed[at] ^= first | 1;
        assert!(open(&sealed, usize::MAX, &secret).is_err(), "a change at {at} was not seen");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::hash::mix64;

    fn seal(header: &Header, payload: &[u8]) -> Vec<u8> {
        super::seal(header, payload, &Secret::default())
    }

    fn open(bytes: &[u8], limit: usize) -> Result<(Header, &[u8]), Broken> {
        super::open(bytes, limit, &Secret::default())
    }

    const HEADER: Header =
        Header { run: u64::MAX - 1, epoch: 7, quantum: 1 << 40, sender: 3, receiver: 5, sequence: 9 };

    #[test]
    fn what_was_sealed_is_opened_as_it_was() {
        for length in [0, 1, 31, 32, 33, 70_000] {
            let payload: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let sealed = seal(&HEADER, &payload);
            assert_eq!(sealed.len(), HEADER_BYTES + payload.len());
            assert_eq!(open(&sealed, 70_000), Ok((HEADER, payload.as_slice())));
        }
    }

    #[test]
    fn every_broken_envelope_is_refused_by_name() {
        let sealed = seal(&HEADER, b"payload");
        assert_eq!(open(b"", 100), Err(Broken::NotOurs));
        assert_eq!(open(b"HTTP/1.1 200 OK", 100), Err(Broken::NotOurs));
        let mut other = sealed.clone();
        other[4] = 2;
        assert_eq!(open(&other, 100), Err(Broken::OtherVersion(2)));
        assert_eq!(open(&sealed, 6), Err(Broken::TooLong { is: 7, most: 6 }));
        for cut in 4..sealed.len() {
            assert!(matches!(open(&sealed[..cut], 100), Err(Broken::CutOff { .. })), "cut at {cut}");
        }
        let longer = [sealed.as_slice(), b"x"].concat();
        assert_eq!(open(&longer, 100), Err(Broken::CutOff { is: 64, says: 63 }));
    }

    #[test]
    fn a_length_from_outside_is_bounded_before_anything_else() {
        let mut sealed = seal(&HEADER, b"");
        sealed[28..32].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(open(&sealed, 1000), Err(Broken::TooLong { is: u32::MAX as usize, most: 1000 }));
    }

    #[test]
    fn every_bit_of_an_envelope_counts() {
        let sealed = seal(&HEADER, b"payload");
        for bit in 0..sealed.len() * 8 {
            let mut other = sealed.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&other, 100).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn who_does_not_know_the_secret_can_seal_nothing() {
        let ours = Secret::of([5; 16]);
        let sealed = super::seal(&HEADER, b"payload", &ours);
        assert_eq!(super::open(&sealed, 100, &ours), Ok((HEADER, b"payload".as_slice())));
        for other in [Secret::default(), Secret::of([6; 16])] {
            let forged = super::seal(&HEADER, b"payload", &other);
            assert_eq!(super::open(&forged, 100, &ours), Err(Broken::WrongSeal));
        }
    }

    #[test]
    fn the_fuzzed_function_takes_whatever_comes() {
        let sealed = seal(&HEADER, b"payload");
        for cut in 0..=sealed.len() {
            fuzz(&sealed[..cut]);
            fuzz(&sealed[cut..]);
        }
        for seed in 0..2000_u64 {
            let length = mix64(seed) as usize % 200;
            let bytes: Vec<u8> = (0..length).map(|n| mix64(seed << 32 | n as u64) as u8).collect();
            fuzz(&bytes);
        }
    }
}
