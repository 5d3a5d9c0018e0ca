//! Obstacles and objects: what is in the universe besides the arm.
//!
//! In: a file of boxes and objects; commands 11 and 12 that change them. Out: the same commands for the display, all of
//! them at a reset.

use super::{Flow, Module, whole};
use crate::control::Universe;
use crate::line::Line;
use std::collections::BTreeMap;

/// A box, as command: number and two corners.
pub const BOX: u16 = 11;
/// An object, as command: number and place.
pub const OBJECT: u16 = 12;

/// Obstacles and objects as a module.
#[derive(Debug)]
pub struct Obstacles {
    me: u16,
    display: u16,
    at_reset: Things,
    now: Things,
}

/// Numbers of a command, by command and number of the thing.
type Things = BTreeMap<(u16, u16), Vec<f64>>;

impl Obstacles {
    /// What a text says, a thing on each line: `box N x y z X Y Z` or `object N x y z`; `#` begins a comment.
    ///
    /// # Errors
    /// Line, and what is wrong in it.
    pub fn parse(text: &str, me: u16, display: u16) -> Result<Obstacles, String> {
        let mut things = Things::new();
        for (i, line) in text.lines().enumerate() {
            let plain = line.split('#').next().unwrap_or("").trim();
            if plain.is_empty() {
                continue;
            }
            let wrong = |why: &str| format!("line {}: {why}: `{plain}`", i + 1);
            let mut words = plain.split_whitespace();
            let command = match words.next() {
                Some("box") => BOX,
                Some("object") => OBJECT,
                _ => return Err(wrong("a thing is a `box` or an `object`")),
            };
            let values: Option<Vec<f64>> =
                words.map(|w| w.parse().ok().filter(|v: &f64| v.is_finite())).collect();
            let values = values.ok_or_else(|| wrong("this is not a number"))?;
            let number = check(command, &values).map_err(|why| wrong(&why))?;
            if things.insert((command, number), values).is_some() {
                return Err(wrong("there is one with this number already"));
            }
        }
        Ok(Obstacles { me, display, at_reset: things.clone(), now: things })
    }

    fn say(&self, command: u16, values: &[f64]) -> String {
        Line::new(self.me, self.display, command, values).text().to_owned()
    }
}

impl Module for Obstacles {
    fn reset(&mut self, _: Universe, out: &mut Vec<String>) {
        self.now.clone_from(&self.at_reset);
        out.extend(self.now.iter().map(|((command, _), values)| self.say(*command, values)));
    }

    fn take(&mut self, line: &Line, out: &mut Vec<String>) -> Result<Flow, String> {
        if ![BOX, OBJECT].contains(&line.command) {
            return Err(format!("obstacles do not know command {}", line.command));
        }
        let number = check(line.command, &line.values)?;
        self.now.insert((line.command, number), line.values.clone());
        out.push(self.say(line.command, &line.values));
        Ok(Flow::On)
    }
}

/// The number of the thing, if its values can be.
pub(crate) fn check(command: u16, values: &[f64]) -> Result<u16, String> {
    match (command, values) {
        (BOX, &[n, a, b, c, d, e, f]) if a <= d && b <= e && c <= f => whole(n),
        (BOX, [_, _, _, _, _, _, _]) => Err("the first corner of the box is beyond the second".into()),
        (BOX, _) => Err("a box has a number and two corners: 7 values".into()),
        (_, &[n, _, _, _]) => whole(n),
        _ => Err("an object has a number and a place: 4 values".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_told_at_a_reset_and_changes_are_forgotten() {
        let mut things = Obstacles::parse("object 4 1 2 3\nbox 1 0 0 0 1 1 1 # a crate\n", 5, 3).unwrap();
        let mut out = Vec::new();
        things.reset(Universe::default(), &mut out);
        assert_eq!(out, ["5 3 11 1 0 0 0 1 1 1", "5 3 12 4 1 2 3"]);
        let mut moved = Vec::new();
        things.take(&Line::new(0, 5, OBJECT, &[4.0, 9.0, 9.0, 9.0]), &mut moved).unwrap();
        assert_eq!(moved, ["5 3 12 4 9 9 9"]);
        let mut again = Vec::new();
        things.reset(Universe::default(), &mut again);
        assert_eq!(again, out);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for bad in ["wall 1", "box 1 0 0 0 1 1", "box 1 2 0 0 1 1 1", "object 1.5 0 0 0", "object 1 0 0 inf"]
        {
            let text = format!("\n{bad}\n");
            assert!(Obstacles::parse(&text, 5, 3).unwrap_err().starts_with("line 2: "), "{bad}");
        }
        assert!(Obstacles::parse("object 1 0 0 0\nobject 1 0 0 0", 5, 3).is_err());
    }
}
