//! Numbers as bytes: whole ones in base 128, lowest first; signed ones folded so that small stays short.

use super::GREATEST;
use std::fmt;

/// Why bytes are not a frame. Nothing of them counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The byte at which it was seen.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a frame cannot be read at byte {}: {}; connect again for a whole one", self.at, self.what)
    }
}

impl std::error::Error for Unreadable {}

/// Bytes that are being written.
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn with_room(bytes: usize) -> Writer {
        Writer(Vec::with_capacity(bytes))
    }

    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    #[inline]
    pub(super) fn whole(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    #[inline]
    pub(super) fn signed(&mut self, n: i64) {
        self.whole(((n << 1) ^ (n >> 63)) as u64);
    }
}

/// Bytes that are being read; where reading has got to.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    pub(super) fn wrong(&self, what: &'static str) -> Unreadable {
        Unreadable { at: self.at, what }
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Unreadable> {
        let byte = *self.bytes.get(self.at).ok_or(self.wrong("it ends too early"))?;
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], Unreadable> {
        if len > self.left() {
            return Err(self.wrong("it ends too early"));
        }
        let bytes = &self.bytes[self.at..self.at + len];
        self.at += len;
        Ok(bytes)
    }

    #[inline]
    pub(super) fn whole(&mut self) -> Result<u64, Unreadable> {
        let mut n = 0_u64;
        for k in 0..10 {
            let byte = self.byte()?;
            // The tenth byte holds the last of 64 bits.
            if k == 9 && byte > 1 {
                break;
            }
            n |= u64::from(byte & 0x7f) << (7 * k);
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(self.wrong("a whole number has more than 64 bits"))
    }

    /// A whole number that counts things inside one frame.
    pub(super) fn small(&mut self) -> Result<u32, Unreadable> {
        u32::try_from(self.whole()?).map_err(|_| self.wrong("a number is greater than anything it can mean"))
    }

    /// How many things follow that take at least `each` bytes.
    pub(super) fn count(&mut self, each: usize) -> Result<usize, Unreadable> {
        let n = self.whole()?;
        match usize::try_from(n) {
            Ok(n) if n <= self.left() / each => Ok(n),
            _ => Err(self.wrong("it claims to hold more than its length can")),
        }
    }

    #[inline]
    pub(super) fn signed(&mut self) -> Result<i64, Unreadable> {
        let n = self.whole()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// A length or an angle: `from` and what is added to it.
    #[inline]
    pub(super) fn measure(&mut self, from: i64) -> Result<i64, Unreadable> {
        let by = self.signed()?;
        match from.checked_add(by) {
            Some(n) if (-GREATEST..=GREATEST).contains(&n) => Ok(n),
            _ => Err(self.wrong("a length or an angle is beyond all measure")),
        }
    }

    /// Nothing may follow.
    pub(super) fn end(&self) -> Result<(), Unreadable> {
        if self.left() == 0 { Ok(()) } else { Err(self.wrong("something follows the end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_documented() {
        let mut w = Writer::with_room(0);
        w.whole(0);
        w.whole(300);
        w.signed(-1);
        w.signed(64);
        assert_eq!(w.0, [0, 0xac, 0x02, 1, 0x80, 0x01]);
    }

    #[test]
    fn the_greatest_numbers_come_back() {
        for n in [i64::MIN, i64::MAX, -1, 0, 1] {
            let mut w = Writer::with_room(0);
            w.signed(n);
            w.whole(n as u64);
            let mut r = Reader::new(&w.0);
            assert_eq!((r.signed(), r.whole(), r.end()), (Ok(n), Ok(n as u64), Ok(())));
        }
    }

    #[test]
    fn a_number_without_end_is_refused() {
        assert_eq!(Reader::new(&[0xff; 11]).whole().map_err(|e| e.at), Err(10));
        assert_eq!(Reader::new(&[0xff; 3]).whole().map_err(|e| e.at), Err(3));
    }
}
