//! Commands of the chain itself: what the controller, sender 0, says to every module, whatever it does.
//!
//! | line | meaning |
//! |---|---|
//! | `0 0 0 Xmin Ymin Zmin Xmax Ymax Zmax` | reset: start over, in this box |
//! | `0 0 65535 SECONDS NANOSECONDS` | tick: simulated time is now so much |
//! | `0 0 65534` | end: say your last, pass this on, end |
//! | `0 N 65533` | switch module N on (0: all) |
//! | `0 N 65532` | switch module N off (0: all) |
//! | `0 N 65531 PARAMETER VALUE …` | change a parameter of module N |
//! | `0 65535 65535 K` | a mark: for nobody, so everybody passes it on |
//!
//! Why these numbers: command numbers belong to each module, and people begin to count at 1; so the chain's own are
//! at the other end. From 65280 on they are the chain's.

use crate::line::{Line, Reason};
use serde::Serialize;
use swarmyard_base::Time;

/// Everyone, as recipient; the controller, as sender.
pub const EVERYONE: u16 = 0;
/// The number that no module has: lines for it are passed on by all.
pub const NOBODY: u16 = 65535;
/// Reset, as command to everyone.
pub const RESET: u16 = 0;
/// Simulated time.
pub const TICK: u16 = 65535;
/// The termination sequence.
pub const END: u16 = 65534;
/// Switch on.
pub const ON: u16 = 65533;
/// Switch off.
pub const OFF: u16 = 65532;
/// Change a parameter.
pub const SET: u16 = 65531;
/// Commands from here on belong to the chain.
pub const FIRST_OF_CHAIN: u16 = 65280;

/// Two corners of the box in which everything is, in metres: front lower left, and rear upper right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Universe {
    /// Least x, y, z.
    pub low: [f64; 3],
    /// Greatest x, y, z.
    pub high: [f64; 3],
}

impl Default for Universe {
    /// A hundred metres in every direction.
    fn default() -> Universe {
        Universe { low: [-100.0; 3], high: [100.0; 3] }
    }
}

impl Universe {
    /// The reset with this box.
    #[must_use]
    pub fn reset(&self) -> Line {
        let [a, b, c] = self.low;
        let [d, e, f] = self.high;
        Line::new(0, EVERYONE, RESET, &[a, b, c, d, e, f])
    }
}

/// What a line means to the chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// Start over.
    Reset(Universe),
    /// It is now so late.
    Tick(Time),
    /// End.
    End,
    /// The recipient is switched on.
    On,
    /// The recipient is switched off.
    Off,
    /// A parameter of the recipient changes.
    Set(u16),
    /// To be passed on, by all.
    Mark(u64),
}

impl Control {
    /// What a line means, if it is the chain's. Its shape has been checked when it was read.
    pub(crate) fn of(line: &Line) -> Option<Control> {
        if line.sender != 0 {
            return None;
        }
        match (line.recipient, line.command, &line.values[..]) {
            (EVERYONE, RESET, &[a, b, c, d, e, f]) => {
                Some(Control::Reset(Universe { low: [a, b, c], high: [d, e, f] }))
            }
            (EVERYONE, TICK, &[s, ns]) => Some(Control::Tick(Time(s as i64 * SECOND + ns as i64))),
            (EVERYONE, END, []) => Some(Control::End),
            (NOBODY, TICK, &[k]) => Some(Control::Mark(k as u64)),
            (NOBODY, _, _) => None,
            (_, ON, []) => Some(Control::On),
            (_, OFF, []) => Some(Control::Off),
            (_, SET, [which, ..]) => Some(Control::Set(*which as u16)),
            _ => None,
        }
    }
}

const SECOND: i64 = 1_000_000_000;
/// Greatest second that a moment can have.
const MOST_SECONDS: f64 = 9_000_000_000.0;

/// The line of a tick.
#[must_use]
pub fn tick(now: Time) -> Line {
    let now = now.0.max(0);
    Line::new(0, EVERYONE, TICK, &[(now / SECOND) as f64, (now % SECOND) as f64])
}

/// The line that ends the chain.
#[must_use]
pub fn end() -> Line {
    Line::new(0, EVERYONE, END, &[])
}

/// A line for nobody.
pub(crate) fn mark(k: u64) -> Line {
    Line::new(0, NOBODY, TICK, &[k as f64])
}

/// Whether a line that looks like the chain's is one.
pub(crate) fn check(line: &Line) -> Result<(), Reason> {
    let (to, command, values) = (line.recipient, line.command, &line.values[..]);
    if line.sender == NOBODY {
        return Err(Reason::Nobody);
    }
    let is_reset = to == EVERYONE && command == RESET;
    if !is_reset && command < FIRST_OF_CHAIN && to != NOBODY {
        return Ok(());
    }
    if line.sender != 0 {
        return Err(if to == NOBODY { Reason::Nobody } else { Reason::NotController(command) });
    }
    let is_whole = |v: f64, most: f64| v >= 0.0 && v <= most && v.fract() == 0.0;
    let fine = match (to, command, values) {
        (EVERYONE, RESET, &[a, b, c, d, e, f]) => a <= d && b <= e && c <= f,
        (EVERYONE, RESET, _) => return Err(Reason::Shape("a reset has six numbers: two corners of a box")),
        (EVERYONE, TICK, &[s, ns]) => is_whole(s, MOST_SECONDS) && is_whole(ns, 999_999_999.0),
        (NOBODY, TICK, &[k]) => is_whole(k, 9e15),
        (NOBODY, _, _) => return Err(Reason::Nobody),
        (EVERYONE, END, []) | (_, ON | OFF, []) => true,
        (_, SET, [which, _, ..]) => is_whole(*which, 65535.0),
        _ => return Err(Reason::Shape("commands from 65280 on are the chain's: see the table of them")),
    };
    match command {
        _ if fine => Ok(()),
        RESET => Err(Reason::Shape("the first corner of the box is beyond the second")),
        SET => Err(Reason::Shape("a parameter's number is whole, up to 65535")),
        _ => Err(Reason::Shape("a tick has whole seconds, and nanoseconds up to 999999999")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_chain_is_understood_and_written() {
        let read = |t: &str| Line::parse(t.as_bytes()).unwrap().control();
        let box_ = Universe { low: [-10.0; 3], high: [10.0; 3] };
        assert_eq!(read("0 0 0 -10 -10 -10 10 10 10"), Some(Control::Reset(box_)));
        assert_eq!(box_.reset().text(), "0 0 0 -10 -10 -10 10 10 10");
        assert_eq!(read("0 0 65535 3 500000000"), Some(Control::Tick(Time(3_500_000_000))));
        assert_eq!(tick(Time(3_500_000_000)).text(), "0 0 65535 3 500000000");
        assert_eq!(read("0 0 65534"), Some(Control::End));
        assert_eq!(read("0 2 65533"), Some(Control::On));
        assert_eq!(read("0 0 65532"), Some(Control::Off));
        assert_eq!(read("0 2 65531 1 0.25"), Some(Control::Set(1)));
        assert_eq!(read("0 65535 65535 7"), Some(Control::Mark(7)));
        assert_eq!(read("0 2 10 1 2 3"), None);
        assert_eq!(read("1 2 0"), None);
    }

    #[test]
    fn ticks_are_exact_over_centuries() {
        for ns in [0, 1, 999_999_999, 8_999_999_999_999_999_999] {
            assert_eq!(tick(Time(ns)).control(), Some(Control::Tick(Time(ns))));
        }
    }

    #[test]
    fn commands_of_the_chain_with_wrong_variables_are_refused() {
        for bad in [
            "0 0 65535 1",
            "0 0 65535 1 1e9",
            "0 0 65535 0.5 0",
            "0 0 65534 1",
            "0 2 65531 1",
            "0 2 65300",
            "0 2 65535 0 0",
        ] {
            assert!(
                matches!(Line::parse(bad.as_bytes()), Err(e) if matches!(e.reason, Reason::Shape(_))),
                "{bad}"
            );
        }
    }
}
