//! The interpolator of 1986, corrected: it stands where a control system would.
//!
//! In: points of the arm, command 10. Out: the points between, as moves for the display. Only the first value that has
//! changed is led over in steps, by 1 metre for the base and by 0.2 for everything else; the others jump with the next
//! point. A sweep begins with the old value, and ends with the last step that is not beyond the new one: both are what
//! the program of 1986 did, and its worked cases stand in the tests.
//!
//! What was corrected: the old point is kept before the new one is read; lines that are passed on end with a newline;
//! what is not understood is read to its end; changes are compared as they are, not as whole numbers.

use super::{Flow, MOVE, Module};
use crate::control::{SET, Universe};
use crate::line::Line;

/// A point may not be further away than this many steps: a base sent to a billion would never arrive. Half of what a
/// chain takes for a flood.
const MOST_STEPS: usize = 50_000;

/// What the interpolator can be told to do otherwise: parameters 1, 2 and 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// Of the base, in metres.
    pub base: f32,
    /// Of everything else.
    pub joints: f32,
    /// A change up to this is none.
    pub threshold: f64,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps { base: 1.0, joints: 0.2, threshold: 0.02 }
    }
}

/// The interpolator.
#[derive(Debug)]
pub struct Smooth {
    me: u16,
    display: u16,
    steps: Steps,
    point: Point,
    has_point: bool,
}

/// A message of eight values, in the order in which they are sent. Single precision, as it was: with double precision
/// sweeps would lose their last point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) d: [f32; 2],
    pub(super) flag: i32,
    /// Base position and rotation, three joints.
    pub(super) v: [f32; 5],
}

impl Point {
    /// As `printf` wrote it.
    pub(super) fn text(&self, from: i32, to: i32, command: i32) -> String {
        let Point { d: [d1, d2], flag, v: [a, b, c, d, e] } = self;
        format!("{from} {to} {command} {d1:.6} {d2:.6} {a:.6} {flag} {b:.6} {c:.6} {d:.6} {e:.6}")
    }
}

/// What it says when the flag of a point is 1, before it ends.
pub(super) const LAST: &str = "0. 0. 0. -1 0. 0. 0. 0.";

impl Smooth {
    /// An interpolator with a number, for a display with a number.
    #[must_use]
    pub fn new(me: u16, display: u16) -> Smooth {
        Smooth { me, display, steps: Steps::default(), point: Point::default(), has_point: false }
    }

    fn say(&self, point: &Point) -> String {
        point.text(i32::from(self.me), i32::from(self.display), i32::from(MOVE))
    }

    fn go_to(&mut self, new: Point, out: &mut Vec<String>) -> Result<(), String> {
        let mut between = Point { v: self.point.v, ..new };
        let far = |x: &usize| f64::from((new.v[*x] - between.v[*x]).abs()) > self.steps.threshold;
        let mut sweep = Vec::new();
        if let Some(x) = (0..5).find(far) {
            let size = if x == 0 { self.steps.base } else { self.steps.joints };
            let is_back = new.v[x] < between.v[x];
            let step = if is_back { -size } else { size };
            while if is_back { between.v[x] >= new.v[x] } else { between.v[x] <= new.v[x] } {
                if sweep.len() > MOST_STEPS {
                    return Err(format!("the point is more than {MOST_STEPS} steps away"));
                }
                sweep.push(self.say(&between));
                let before = between.v[x];
                between.v[x] += step;
                // On the way, not only at its ends: steps get lost where numbers get greater.
                if between.v[x] == before {
                    return Err("the step is lost in so great a number".into());
                }
            }
        }
        out.append(&mut sweep);
        self.point = new;
        Ok(())
    }

    fn set(&mut self, which: f64, value: f64) -> Result<Flow, String> {
        if value as f32 <= 0.0 || !(value as f32).is_finite() {
            return Err("steps and threshold are greater than 0, and not beyond single precision".into());
        }
        match which as u16 {
            1 => self.steps.base = value as f32,
            2 => self.steps.joints = value as f32,
            3 => self.steps.threshold = value,
            _ => return Err("parameters are 1 (step of the base), 2 (other steps), 3 (threshold)".into()),
        }
        Ok(Flow::On)
    }
}

impl Module for Smooth {
    fn reset(&mut self, _: Universe, out: &mut Vec<String>) {
        self.point = Point::default();
        self.steps = Steps::default();
        self.has_point = false;
        out.push(self.say(&self.point));
    }

    fn take(&mut self, line: &Line, out: &mut Vec<String>) -> Result<Flow, String> {
        let single = |v: &[f64]| v.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        let new = match (line.command, &line.values[..]) {
            (SET, &[which, value]) => return self.set(which, value),
            (MOVE, values @ [_, _, _, flag, ..]) if values.len() == 8 => {
                let v = single(values);
                Point { d: [v[0], v[1]], flag: *flag as i32, v: [v[2], v[4], v[5], v[6], v[7]] }
            }
            (MOVE, values) if values.len() == 5 => {
                let v = single(values);
                Point { d: [0.0; 2], flag: 0, v: [v[0], v[1], v[2], v[3], v[4]] }
            }
            (MOVE, _) => return Err("a move has 5 or 8 values".into()),
            (command, _) => return Err(format!("the interpolator does not know command {command}")),
        };
        if new.flag == 1 {
            out.push(format!("{} {} {MOVE} {LAST}", self.me, self.display));
            return Ok(Flow::End);
        }
        if new.v.iter().chain(&new.d).any(|v| !v.is_finite()) {
            return Err("the number is too great".into());
        }
        if !self.has_point {
            self.has_point = true;
            self.point = new;
            out.push(self.say(&new));
            return Ok(Flow::On);
        }
        self.go_to(new, out).map(|()| Flow::On)
    }
}
