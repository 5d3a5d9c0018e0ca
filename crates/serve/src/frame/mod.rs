//! Frames: the binary messages that show a run, as docs/display-protocol.md lays them down.
//!
//! In: poses and marks of a moment, in metres and radians. Out: bytes, whole ([`Bodies::encode_full`]) or as
//! differences from a message the display has ([`Bodies::encode_since`]); and from bytes back again.
//!
//! *Invariants:* nothing here reads or writes a socket; what is decoded is exactly what was encoded; no bytes
//! make a decoder panic, or take more memory than a few times their length and that of the message before.

mod bodies;
mod gather;
mod grid;
mod marks;
mod wire;

pub use bodies::{Bodies, CARRIED, FAILED, HALTED, IN_CONTACT, MOST_CONTACTS, Row, WAITED_FOR};
pub use gather::{add_marks, rows};
pub use grid::Grid;
pub use marks::{Label, Marks, RobotMarks, Shape};
pub use wire::Unreadable;

use wire::{Reader, Writer};

/// Units of a length in a metre: a display sees tenths of a millimetre.
pub const PER_METRE: f64 = 10_000.0;
/// Units of an angle in a radian.
pub const PER_RADIAN: f64 = 10_000.0;
/// A full turn in units of an angle, to the nearest one.
pub const TURN: i64 = 62_832;
/// Greatest number in a frame, either way. A difference of two is a whole number that JavaScript still
/// holds exactly.
pub const GREATEST: i64 = 1 << 50;

/// What the bytes of a message begin with: kind 1.
const BODIES: u8 = 1;
/// Kind 2.
const BODIES_SINCE: u8 = 2;
/// Kind 3.
const MARKS: u8 = 3;
/// Kind 4.
const MARKS_SINCE: u8 = 4;
/// Kind 5.
const GRID: u8 = 5;

/// What every message begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Number of the message.
    pub serial: u64,
    /// Revision of the world it belongs to.
    pub revision: u64,
    /// Committed steps.
    pub stop: u64,
    /// Simulated time.
    pub time_ns: u64,
}

impl Head {
    fn put(&self, w: &mut Writer, kind: u8, since: Option<u64>) {
        w.byte(kind);
        w.whole(self.serial);
        if let Some(since) = since {
            w.whole(since);
        }
        for number in [self.revision, self.stop, self.time_ns] {
            w.whole(number);
        }
    }

    /// Reads it, the kind already taken; of a message that builds on another, also that one's number.
    fn take(r: &mut Reader<'_>, builds_on: bool) -> Result<(Head, Option<u64>), Unreadable> {
        let serial = r.whole()?;
        let since = if builds_on { Some(r.whole()?) } else { None };
        let (revision, stop, time_ns) = (r.whole()?, r.whole()?, r.whole()?);
        Ok((Head { serial, revision, stop, time_ns }, since))
    }
}

/// A length in units; what is no number is 0, what is beyond all measure is as far as it goes.
#[must_use]
pub fn length(metres: f64) -> i64 {
    units(metres * PER_METRE)
}

/// An angle in units, as it is: a full turn stays one.
#[must_use]
pub fn angle(radians: f64) -> i64 {
    units(radians * PER_RADIAN)
}

/// A heading in units, from −31416 to 31415.
#[must_use]
pub fn heading(radians: f64) -> i64 {
    // First by the true turn: the rounded one would be off by more with every turn.
    turned(units(radians.rem_euclid(std::f64::consts::TAU) * PER_RADIAN))
}

/// The same heading between −31416 and 31415.
fn turned(heading: i64) -> i64 {
    (heading + TURN / 2).rem_euclid(TURN) - TURN / 2
}

fn units(value: f64) -> i64 {
    let bound = GREATEST as f64;
    value.round().clamp(-bound, bound) as i64
}

/// What a display keeps: the newest message of each sort, which the next one may build on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Where everybody is.
    pub bodies: Option<Bodies>,
    /// What the parts draw.
    pub marks: Option<Marks>,
    /// The occupancy grid that was asked for.
    pub grid: Option<Grid>,
}

/// Which sort of message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Bodies.
    Bodies,
    /// Marks.
    Marks,
    /// An occupancy grid.
    Grid,
}

impl Kept {
    /// Takes the next message.
    ///
    /// # Errors
    /// When it is no frame, or builds on one that is not here; what is kept stays as it was.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Sort, Unreadable> {
        match bytes.first() {
            Some(&(BODIES | BODIES_SINCE)) => {
                self.bodies = Some(Bodies::decode(bytes, self.bodies.as_ref())?);
                Ok(Sort::Bodies)
            }
            Some(&(MARKS | MARKS_SINCE)) => {
                self.marks = Some(Marks::decode(bytes, self.marks.as_ref())?);
                Ok(Sort::Marks)
            }
            Some(&GRID) => {
                self.grid = Some(Grid::decode(bytes)?);
                Ok(Sort::Grid)
            }
            _ => Err(Unreadable { at: 0, what: "the message is of no known kind" }),
        }
    }
}

/// Finds the message that one builds on.
fn base<'a, T>(
    r: &Reader<'_>,
    earlier: Option<&'a T>,
    head: impl Fn(&T) -> Head,
    (new, since): (Head, Option<u64>),
) -> Result<Option<&'a T>, Unreadable> {
    let Some(since) = since else { return Ok(None) };
    match earlier.filter(|e| head(e).serial == since && head(e).revision == new.revision) {
        Some(earlier) => Ok(Some(earlier)),
        None => Err(r.wrong("it builds on a message that is not here")),
    }
}

/// Takes anything as messages, one after another; for fuzzing. Never panics, and what was understood is
/// written back to the same meaning.
pub fn fuzz(data: &[u8]) {
    let mut kept = Kept::default();
    // The first byte says how long the first message is: the rest may build on it.
    let Some((&len, data)) = data.split_first() else { return };
    let (first, second) = data.split_at(usize::from(len).min(data.len()));
    for message in [first, second] {
        let before = kept.clone();
        if kept.take(message).is_err() {
            assert_eq!(kept, before, "a message that cannot be read changes nothing");
        }
        if let Some(bodies) = &kept.bodies {
            assert_eq!(Bodies::decode(&bodies.encode_full(), None).as_ref(), Ok(bodies));
            let since = before.bodies.as_ref().and_then(|b| Some((b, bodies.encode_since(b)?)));
            if let Some((earlier, since)) = since {
                assert_eq!(Bodies::decode(&since, Some(earlier)).as_ref(), Ok(bodies));
            }
        }
        if let Some(marks) = &kept.marks {
            assert_eq!(Marks::decode(&marks.encode_full(), None).as_ref(), Ok(marks));
            let since = before.marks.as_ref().and_then(|m| Some((m, marks.encode_since(m)?)));
            if let Some((earlier, since)) = since {
                assert_eq!(Marks::decode(&since, Some(earlier)).as_ref(), Ok(marks));
            }
        }
        if let Some(grid) = &kept.grid {
            assert_eq!(Grid::decode(&grid.encode()).as_ref(), Ok(grid));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_shown_to_a_tenth_of_a_millimetre() {
        assert_eq!([0.0, 0.00014, 1.0, -2.50006].map(length), [0, 1, 10_000, -25_001]);
        assert_eq!([f64::NAN, f64::INFINITY, -1e300].map(length), [0, GREATEST, -GREATEST]);
    }

    #[test]
    fn a_heading_is_the_same_after_any_number_of_turns() {
        use std::f64::consts::{PI, TAU};
        assert_eq!([0.0, 1.0, -1.0, PI, -PI].map(heading), [0, 10_000, -10_000, -31_416, -31_416]);
        for turns in [-1_000_000.0, -1.0, 1.0, 1_000_000.0] {
            assert_eq!(heading(1.0 + turns * TAU), 10_000);
        }
        assert_eq!([f64::NAN, f64::INFINITY].map(heading), [0, 0]);
    }

    #[test]
    fn a_full_circle_stays_one() {
        assert_eq!(angle(std::f64::consts::TAU), TURN);
    }

    #[test]
    fn what_is_no_frame_is_refused_and_changes_nothing() {
        let mut kept = Kept::default();
        for bytes in [&[][..], &[0], &[6, 1, 1, 1, 1], b"{\"is\":\"status\"}"] {
            assert_eq!(kept.take(bytes).map_err(|e| e.at), Err(0));
        }
        assert_eq!(kept, Kept::default());
    }
}
