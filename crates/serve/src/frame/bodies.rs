//! Where everybody is: kinds 1 and 2.

use super::wire::{Reader, Unreadable, Writer};
use super::{BODIES, BODIES_SINCE, GREATEST, Head, base, turned};

/// The body is halted.
pub const HALTED: u8 = 1;
/// Its controller failed.
pub const FAILED: u8 = 2;
/// It touches something.
pub const IN_CONTACT: u8 = 4;
/// Somebody carries it.
pub const CARRIED: u8 = 8;
/// The run waits for its commands.
pub const WAITED_FOR: u8 = 16;

/// Places of contacts in one message; the rest is left out.
pub const MOST_CONTACTS: usize = 256;

/// One body, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// East.
    pub x: i64,
    /// North.
    pub y: i64,
    /// Heading, from −31416 to 31415.
    pub heading: i64,
    /// [`HALTED`] and so on, added up.
    pub flags: u8,
}

/// All bodies at one moment, in the order of the world's types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bodies {
    /// Which message, which moment.
    pub head: Head,
    /// Hash of the step.
    pub hash: u64,
    /// Every body.
    pub rows: Vec<Row>,
    /// Places of contacts since the message before; at most [`MOST_CONTACTS`] are sent.
    pub contacts: Vec<[i64; 2]>,
}

impl Bodies {
    /// The message by itself.
    #[must_use]
    pub fn encode_full(&self) -> Vec<u8> {
        let mut w = Writer::with_room(64 + self.rows.len() * 10);
        self.head.put(&mut w, BODIES, None);
        w.bytes(&self.hash.to_le_bytes());
        w.whole(self.rows.len() as u64);
        for row in &self.rows {
            w.signed(row.x);
            w.signed(row.y);
            w.signed(row.heading);
            w.byte(row.flags);
        }
        self.put_contacts(&mut w);
        w.0
    }

    /// The message as differences; none when `earlier` shows another world.
    #[must_use]
    pub fn encode_since(&self, earlier: &Bodies) -> Option<Vec<u8>> {
        if earlier.head.revision != self.head.revision || earlier.rows.len() != self.rows.len() {
            return None;
        }
        let mut w = Writer::with_room(64 + self.rows.len() * 8);
        self.head.put(&mut w, BODIES_SINCE, Some(earlier.head.serial));
        w.bytes(&self.hash.to_le_bytes());
        w.whole(self.rows.len() as u64);
        for (now, before) in self.rows.chunks(8).zip(earlier.rows.chunks(8)) {
            let changed = now.iter().zip(before).enumerate().map(|(bit, (a, b))| u8::from(a != b) << bit);
            w.byte(changed.sum());
        }
        for (now, before) in self.rows.iter().zip(&earlier.rows).filter(|(now, before)| now != before) {
            w.signed(now.x - before.x);
            w.signed(now.y - before.y);
            w.signed(turned(now.heading - before.heading));
            w.byte(now.flags);
        }
        self.put_contacts(&mut w);
        Some(w.0)
    }

    fn put_contacts(&self, w: &mut Writer) {
        let contacts = &self.contacts[..self.contacts.len().min(MOST_CONTACTS)];
        w.whole(contacts.len() as u64);
        for at in contacts {
            w.signed(at[0]);
            w.signed(at[1]);
        }
    }

    /// Reads either message; `earlier` is the one of this sort that came before it.
    ///
    /// # Errors
    /// When the bytes are no such message, or build on another than `earlier`.
    pub fn decode(bytes: &[u8], earlier: Option<&Bodies>) -> Result<Bodies, Unreadable> {
        let mut r = Reader::new(bytes);
        let builds_on = match r.byte()? {
            BODIES => false,
            BODIES_SINCE => true,
            _ => return Err(Unreadable { at: 0, what: "the message does not hold bodies" }),
        };
        let (head, since) = Head::take(&mut r, builds_on)?;
        let earlier = base(&r, earlier, |e: &Bodies| e.head, (head, since))?;
        let hash = r.bytes(8)?.try_into().map_or(0, u64::from_le_bytes);
        let rows = match earlier {
            Some(earlier) => rows_since(&mut r, &earlier.rows)?,
            None => all_rows(&mut r)?,
        };
        let count = r.count(2)?;
        if count > MOST_CONTACTS {
            return Err(r.wrong("there are too many contacts"));
        }
        let contacts = (0..count).map(|_| Ok([r.measure(0)?, r.measure(0)?])).collect::<Result<_, _>>()?;
        r.end()?;
        Ok(Bodies { head, hash, rows, contacts })
    }
}

fn all_rows(r: &mut Reader<'_>) -> Result<Vec<Row>, Unreadable> {
    let count = r.count(4)?;
    let mut rows = Vec::with_capacity(count);
    for _ in 0..count {
        rows.push(row(r, Row::default())?);
    }
    Ok(rows)
}

fn rows_since(r: &mut Reader<'_>, earlier: &[Row]) -> Result<Vec<Row>, Unreadable> {
    if r.whole()? != earlier.len() as u64 {
        return Err(r.wrong("it holds another number of bodies than the message it builds on"));
    }
    let changed = r.bytes(earlier.len().div_ceil(8))?;
    let mut rows = earlier.to_vec();
    for (k, body) in rows.iter_mut().enumerate() {
        if changed[k / 8] >> (k % 8) & 1 == 1 {
            *body = row(r, *body)?;
        }
    }
    Ok(rows)
}

fn row(r: &mut Reader<'_>, from: Row) -> Result<Row, Unreadable> {
    let (x, y) = (r.measure(from.x)?, r.measure(from.y)?);
    let heading = turned(r.measure(from.heading)?);
    Ok(Row { x, y, heading, flags: r.byte()? })
}

impl Row {
    /// A body where it is, in metres and radians.
    #[must_use]
    pub fn at(x: f64, y: f64, heading: f64, flags: u8) -> Row {
        Row { x: super::length(x), y: super::length(y), heading: super::heading(heading), flags }
    }
}

const _: () = assert!(GREATEST < i64::MAX / 4, "the difference of two numbers is a number");
