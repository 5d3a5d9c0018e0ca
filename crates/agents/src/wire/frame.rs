//! What travels: a fixed head and bounded bytes, and nothing believed that was not looked at.
//!
//! ```text
//! 0  4  magic        4  8  number of the run    12  4  sender       16  4  protocol
//! 20 8  serial      28  8  time of sending, ns   36  4  length      40  …  bytes
//! ```
//! All numbers are little-endian.

use super::MOST_BYTES;

const MAGIC: [u8; 4] = *b"SWY1";
/// Bytes before the message itself.
pub(super) const HEAD: usize = 40;

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) run: u64,
    pub(super) from: u32,
    pub(super) protocol: u32,
    pub(super) serial: u64,
    pub(super) sent_ns: i64,
    pub(super) bytes: Vec<u8>,
}

impl Frame {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD + self.bytes.len());
        out.extend(MAGIC);
        out.extend(self.run.to_le_bytes());
        out.extend(self.from.to_le_bytes());
        out.extend(self.protocol.to_le_bytes());
        out.extend(self.serial.to_le_bytes());
        out.extend(self.sent_ns.to_le_bytes());
        out.extend((self.bytes.len() as u32).to_le_bytes());
        out.extend(&self.bytes);
        out
    }

    /// The frame that a datagram is: all of it, of this run, from this sender; else `None`.
    pub(super) fn whole(data: &[u8], run: u64, from: u32) -> Option<Frame> {
        match Frame::first(data, run, from) {
            Ok(Some((frame, used))) if used == data.len() => Some(frame),
            _ => None,
        }
    }

    /// The frame a stream begins with, and its length; `None` when there is more to come.
    ///
    /// # Errors
    /// When it is no frame of this run and sender: the stream makes no sense from here on.
    pub(super) fn first(data: &[u8], run: u64, from: u32) -> Result<Option<(Frame, usize)>, ()> {
        let known = data.len().min(MAGIC.len());
        if data[..known] != MAGIC[..known] {
            return Err(());
        }
        if data.len() < HEAD {
            return Ok(None);
        }
        let length = u32::from_le_bytes(part(data, 36)) as usize;
        let frame = Frame {
            run: u64::from_le_bytes(part(data, 4)),
            from: u32::from_le_bytes(part(data, 12)),
            protocol: u32::from_le_bytes(part(data, 16)),
            serial: u64::from_le_bytes(part(data, 20)),
            sent_ns: i64::from_le_bytes(part(data, 28)),
            bytes: Vec::new(),
        };
        if length > MOST_BYTES || frame.run != run || frame.from != from {
            return Err(());
        }
        match data.get(HEAD..HEAD + length) {
            Some(bytes) => Ok(Some((Frame { bytes: bytes.to_vec(), ..frame }, HEAD + length))),
            None => Ok(None),
        }
    }
}

fn part<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&data[at..at + N]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::hash::mix64;

    fn frame() -> Frame {
        Frame { run: 7, from: 2, protocol: 9, serial: 4, sent_ns: 123, bytes: b"hello".to_vec() }
    }

    #[test]
    fn a_frame_comes_back_as_it_was() {
        let data = frame().encode();
        assert_eq!(Frame::whole(&data, 7, 2), Some(frame()));
        assert_eq!(Frame::first(&[&data[..], b"more"].concat(), 7, 2), Ok(Some((frame(), data.len()))));
    }

    #[test]
    fn half_a_frame_is_waited_for_in_a_stream_and_dropped_as_a_datagram() {
        let data = frame().encode();
        for cut in 0..data.len() {
            assert_eq!(Frame::first(&data[..cut], 7, 2), Ok(None), "{cut}");
            assert_eq!(Frame::whole(&data[..cut], 7, 2), None);
        }
        assert_eq!(Frame::whole(&[&data[..], b"x"].concat(), 7, 2), None);
    }

    #[test]
    fn frames_of_other_runs_and_senders_and_of_absurd_lengths_are_refused() {
        let data = frame().encode();
        assert_eq!(Frame::first(&data, 8, 2), Err(()));
        assert_eq!(Frame::first(&data, 7, 1), Err(()));
        let mut long = data.clone();
        long[36..40].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Frame::first(&long, 7, 2), Err(()));
        let mut other = data;
        other[0] ^= 1;
        assert_eq!(Frame::first(&other, 7, 2), Err(()));
    }

    #[test]
    fn no_bytes_make_the_reader_stumble() {
        let good = frame().encode();
        for seed in 0..20_000_u64 {
            let mut data = good.clone();
            data.truncate((mix64(seed) % 48) as usize);
            for k in 0..4 {
                let r = mix64(seed * 4 + k + 1);
                if let Some(byte) = data.get_mut((r % 48) as usize) {
                    *byte = (r >> 32) as u8;
                }
            }
            let _ = Frame::whole(&data, 7, 2);
            if let Ok(Some((frame, used))) = Frame::first(&data, 7, 2) {
                assert!(used <= data.len() && frame.bytes.len() <= MOST_BYTES);
            }
        }
    }
}
