//! Walks through the records of an MCAP file, one after the other, without trusting a length.
//!
//! Why not the reader of the `mcap` crate: we need the place of every message, so that frames can be
//! read one at a time from a file larger than memory, and the records of a chunk that is torn. In
//! an uncompressed chunk the records simply follow one another, so the walk steps into it.

use std::io::{BufReader, Read, Seek, SeekFrom};

const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";

const FOOTER: u8 = 0x02;
const CHANNEL: u8 = 0x04;
const MESSAGE: u8 = 0x05;
const CHUNK: u8 = 0x06;
const ATTACHMENT: u8 = 0x09;
const DATA_END: u8 = 0x0f;

/// Most bytes of a record that is read whole, other than the data of a message.
const MAX_SMALL: u64 = 1 << 20;

/// A stretch of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: u64,
    pub(crate) len: u64,
}

/// What the walk came across.
pub(crate) enum Record {
    Channel { id: u16, topic: String },
    Message { channel: u16, time: u64, data: Place },
    Attachment { name: String, data: Place },
}

/// How the walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Properly.
    End,
    /// The file is cut off, or goes on with something else; says where.
    Cut(String),
}

/// A walk through the records.
pub(crate) struct Scan<R> {
    input: BufReader<R>,
    pos: u64,
    next: u64,
    len: u64,
}

impl<R: Read + Seek> Scan<R> {
    /// Begins; answers `None` when this is no MCAP file.
    pub(crate) fn new(mut input: R) -> std::io::Result<Option<Scan<R>>> {
        let len = input.seek(SeekFrom::End(0))?;
        input.seek(SeekFrom::Start(0))?;
        let mut scan = Scan { input: BufReader::with_capacity(1 << 16, input), pos: 0, next: 8, len };
        if len < 8 {
            return Ok(None);
        }
        let mut magic = [0; 8];
        scan.fill(&mut magic)?;
        Ok((&magic == MAGIC).then_some(scan))
    }

    /// The next record that matters.
    pub(crate) fn next(&mut self) -> std::io::Result<Result<Record, Stop>> {
        loop {
            let (at, len) = (self.next, self.len);
            let cut = |what: &str| Ok(Err(Stop::Cut(format!("{what} at byte {at} of {len}"))));
            if len - at < 9 {
                return cut("it is cut off");
            }
            self.go(at)?;
            let mut head = [0; 9];
            self.fill(&mut head)?;
            let [op, len @ ..] = head;
            let body = Place { at: at + 9, len: u64::from_le_bytes(len) };
            let whole = body.len <= self.len - body.at;
            if op == DATA_END || op == FOOTER {
                return Ok(Err(Stop::End));
            }
            if op == CHUNK {
                match self.chunk(body)? {
                    Ok(records) => self.next = records,
                    Err(what) => return cut(what),
                }
                continue;
            }
            if !whole {
                return cut("it is cut off");
            }
            self.next = body.at + body.len;
            let record = match op {
                CHANNEL => self.channel(body)?,
                MESSAGE => self.message(body)?,
                ATTACHMENT => self.attachment(body)?,
                _ => continue,
            };
            return match record {
                Some(record) => Ok(Ok(record)),
                None => cut("a record is damaged"),
            };
        }
    }

    /// Reads a stretch of the file, which must lie within it and not be larger than `most`.
    pub(crate) fn read(&mut self, place: Place, most: u64) -> std::io::Result<Option<Vec<u8>>> {
        let within = place.at.checked_add(place.len).is_some_and(|end| end <= self.len);
        if !within || place.len > most {
            return Ok(None);
        }
        self.go(place.at)?;
        let mut out = vec![0; place.len as usize];
        self.fill(&mut out)?;
        Ok(Some(out))
    }

    /// Where the records of a chunk begin, even when it is torn.
    fn chunk(&mut self, body: Place) -> std::io::Result<Result<u64, &'static str>> {
        let head = Place { at: body.at, len: body.len.min(self.len - body.at).min(64) };
        let Some(bytes) = self.read(head, 64)? else { return Ok(Err("it is cut off")) };
        let mut fields = Fields(&bytes);
        // Start and end time, size and checksum of the records.
        let Some(()) = fields.skip(8 + 8 + 8 + 4) else { return Ok(Err("it is cut off")) };
        let Some(compression) = fields.text() else { return Ok(Err("it is cut off")) };
        if !compression.is_empty() {
            return Ok(Err("there is a compressed chunk, and recordings have none,"));
        }
        match fields.skip(8) {
            Some(()) => Ok(Ok(body.at + (bytes.len() - fields.0.len()) as u64)),
            None => Ok(Err("it is cut off")),
        }
    }

    fn channel(&mut self, body: Place) -> std::io::Result<Option<Record>> {
        let Some(bytes) = self.read(body, MAX_SMALL)? else { return Ok(None) };
        let mut fields = Fields(&bytes);
        let channel = || {
            let id = fields.u16()?;
            fields.skip(2)?;
            Some(Record::Channel { id, topic: fields.text()?.to_owned() })
        };
        Ok({ channel }())
    }

    fn message(&mut self, body: Place) -> std::io::Result<Option<Record>> {
        const HEAD: u64 = 2 + 4 + 8 + 8;
        if body.len < HEAD {
            return Ok(None);
        }
        let mut head = [0; HEAD as usize];
        self.fill(&mut head)?;
        let channel = u16::from_le_bytes([head[0], head[1]]);
        let time =
            u64::from_le_bytes([head[6], head[7], head[8], head[9], head[10], head[11], head[12], head[13]]);
        Ok(Some(Record::Message { channel, time, data: Place { at: body.at + HEAD, len: body.len - HEAD } }))
    }

    fn attachment(&mut self, body: Place) -> std::io::Result<Option<Record>> {
        // Names are short; the data is read by whoever wants it.
        let Some(bytes) = self.read(Place { at: body.at, len: body.len.min(4096) }, 4096)? else {
            return Ok(None);
        };
        let mut fields = Fields(&bytes);
        let attachment = || {
            fields.skip(16)?;
            let name = fields.text()?.to_owned();
            fields.text()?;
            let len = fields.u64()?;
            let head = (bytes.len() - fields.0.len()) as u64;
            let fits = len <= body.len.checked_sub(head)?;
            fits.then_some(Record::Attachment { name, data: Place { at: body.at + head, len } })
        };
        Ok({ attachment }())
    }

    fn go(&mut self, to: u64) -> std::io::Result<()> {
        // Relative, so that a short way does not throw the buffer away.
        self.input.seek_relative(to.cast_signed() - self.pos.cast_signed())?;
        self.pos = to;
        Ok(())
    }

    fn fill(&mut self, out: &mut [u8]) -> std::io::Result<()> {
        self.input.read_exact(out)?;
        self.pos += out.len() as u64;
        Ok(())
    }
}

/// Fields of a record, taken from the front.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(front)
    }

    fn skip(&mut self, n: usize) -> Option<()> {
        self.take(n).map(|_| ())
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'a str> {
        let len = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        std::str::from_utf8(self.take(len as usize)?).ok()
    }
}
