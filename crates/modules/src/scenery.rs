//! What the display module shows: view point, arm, obstacles, objects.
//!
//! In: lines for the display, commands 1, 2, 10 (both forms), 11, 12, 13, 14. Out: a plain value that a page draws.
//!
//! | command | values |
//! |---|---|
//! | 1 | `ViewX ViewY ViewZ TowardsX TowardsY TowardsZ` |
//! | 2 | field of view, in degrees |
//! | 10 | `BasePos BaseRot Jnt1 Jnt2 Jnt3`, or `d1 d2 BasePos flag BaseRot Jnt1 Jnt2 Jnt3` |
//! | 11 | number and two corners of an obstacle |
//! | 12 | number and place of an object |
//! | 13 | number of the object that the view point is attached to; 0 for none |
//! | 14 | three lengths of the arm, and the height of its shoulder; ours, not of 1986 |

use crate::builtin::arm::{Arm, MADE_OF, Pose};
use crate::builtin::obstacles::{BOX, OBJECT, check};
use crate::builtin::{Flow, MOVE, Module, whole};
use crate::control::Universe;
use crate::line::Line;
use serde::Serialize;
use std::collections::BTreeMap;
use swarmyard_base::Time;

/// Everything that the display knows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenery {
    /// The box in which everything is.
    pub universe: Universe,
    /// Simulated time, in nanoseconds.
    pub at: Time,
    /// Where the eye is, unless it is attached to an object.
    pub eye: [f64; 3],
    /// Where it looks.
    pub towards: [f64; 3],
    /// How much it sees, in degrees.
    pub field_deg: f64,
    /// The object that the eye is attached to.
    pub attached: Option<u16>,
    /// What the arm is made of.
    pub made_of: Arm,
    /// The arm, once there was a move.
    pub arm: Option<ArmShown>,
    /// Obstacles: two corners each.
    pub boxes: BTreeMap<u16, [[f64; 3]; 2]>,
    /// Objects: where they are.
    pub objects: BTreeMap<u16, [f64; 3]>,
    /// The interpolator has said its last.
    pub is_done: bool,
    /// How many lines were shown since the last reset.
    pub lines: u64,
}

/// The arm as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ArmShown {
    /// Its pose.
    pub pose: Pose,
    /// Foot, shoulder, elbow, wrist and tip.
    pub points: [[f64; 3]; 5],
}

impl Default for Scenery {
    fn default() -> Scenery {
        Scenery {
            universe: Universe::default(),
            at: Time::ZERO,
            eye: [25.0, -25.0, 18.0],
            towards: [5.0, 0.0, 3.0],
            field_deg: 45.0,
            attached: None,
            made_of: Arm::default(),
            arm: None,
            boxes: BTreeMap::new(),
            objects: BTreeMap::new(),
            is_done: false,
            lines: 0,
        }
    }
}

impl Scenery {
    /// Where the eye is now: at the object that it is attached to, if that is there.
    #[must_use]
    pub fn eye_now(&self) -> [f64; 3] {
        self.attached.and_then(|n| self.objects.get(&n)).copied().unwrap_or(self.eye)
    }

    /// Shows a line.
    ///
    /// # Errors
    /// Why it cannot be shown. Nothing has changed then.
    pub fn show(&mut self, line: &Line) -> Result<(), String> {
        match (line.command, &line.values[..]) {
            (1, &[a, b, c, d, e, f]) => {
                if [a, b, c] == [d, e, f] {
                    return Err("the view point cannot be where it looks".into());
                }
                (self.eye, self.towards) = ([a, b, c], [d, e, f]);
                self.attached = None;
            }
            (1, _) => return Err("a view has 6 values: where the eye is, and where it looks".into()),
            (2, &[degrees]) if degrees > 0.0 && degrees < 180.0 => self.field_deg = degrees,
            (2, _) => return Err("a field of view lies between 0 and 180 degrees".into()),
            (MOVE, values) => {
                let (pose, flag) = Pose::of(values).ok_or("a move has 5 or 8 values")?;
                self.is_done = flag == -1.0;
                if !self.is_done {
                    self.arm = Some(ArmShown { pose, points: self.made_of.points(&pose) });
                }
            }
            (BOX, values) => {
                let number = check(BOX, values)?;
                let corner = |i: usize| [values[i], values[i + 1], values[i + 2]];
                self.boxes.insert(number, [corner(1), corner(4)]);
            }
            (OBJECT, values) => {
                let number = check(OBJECT, values)?;
                self.objects.insert(number, [values[1], values[2], values[3]]);
            }
            (13, &[n]) => self.attached = Some(whole(n)?).filter(|n| *n != 0),
            (13, _) => return Err("a view point is attached to one object".into()),
            (MADE_OF, values) => {
                self.made_of = Arm::of(values)?;
                if let Some(arm) = &mut self.arm {
                    arm.points = self.made_of.points(&arm.pose);
                }
            }
            (command, _) => return Err(format!("the display does not know command {command}")),
        }
        self.lines += 1;
        Ok(())
    }

    /// A line for people: time, arm and what else there is.
    #[must_use]
    pub fn summary(&self) -> String {
        let arm = self.arm.map_or("no arm yet".to_owned(), |arm| {
            let [x, y, z] = arm.points[4];
            let Pose { base_m, turn_rad, joints_rad: [a, b, c] } = arm.pose;
            format!(
                "base {base_m:.3} m, turn {turn_rad:.3}, joints {a:.3} {b:.3} {c:.3} rad, tip ({x:.3}, {y:.3}, {z:.3}) m"
            )
        });
        let (boxes, objects) = (self.boxes.len(), self.objects.len());
        format!("{}: {arm}; {boxes} obstacles, {objects} objects", self.at)
    }
}

impl Module for Scenery {
    fn reset(&mut self, universe: Universe, _: &mut Vec<String>) {
        *self = Scenery { universe, ..Scenery::default() };
    }

    fn take(&mut self, line: &Line, _: &mut Vec<String>) -> Result<Flow, String> {
        self.show(line).map(|()| Flow::On)
    }

    fn tick(&mut self, now: Time, _: &mut Vec<String>) {
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::arm::ArmModule;

    fn shown(lines: &[&str]) -> Scenery {
        let mut scenery = Scenery::default();
        for line in lines {
            scenery.show(&Line::parse(line.as_bytes()).unwrap()).unwrap();
        }
        scenery
    }

    #[test]
    fn every_command_of_the_display_is_shown() {
        let s = shown(&[
            "0 3 1 1 2 3 4 5 6",
            "0 3 2 60",
            "2 3 10 5 0 0 0 0",
            "5 3 11 1 0 0 0 1 1 1",
            "5 3 12 7 8 9 10",
        ]);
        assert_eq!((s.eye, s.towards, s.field_deg), ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], 60.0));
        let tip = s.arm.unwrap().points[4];
        assert!((tip[0] - 20.3).abs() < 1e-12 && tip[1] == 0.0 && tip[2] == 1.0, "{tip:?}");
        assert_eq!(s.boxes[&1], [[0.0; 3], [1.0; 3]]);
        assert_eq!((s.objects[&7], s.lines), ([8.0, 9.0, 10.0], 5));
    }

    #[test]
    fn both_forms_of_a_move_show_the_same() {
        let five = shown(&["2 3 10 5 0.1 0.2 0.3 0.4"]);
        let eight = shown(&["2 3 10 0. 0. 5.000000 0 0.100000 0.200000 0.300000 0.400000"]);
        assert_eq!(five.arm, eight.arm);
    }

    #[test]
    fn the_arm_is_drawn_as_it_is_made_also_when_that_changes_in_its_place() {
        let straight = "2 3 10 5 0 0 0 0";
        let tip = |s: &Scenery| s.arm.unwrap().points[4];
        let before = shown(&["3 4 14 1 2 3 0.5", straight]);
        assert_eq!(tip(&before), [11.0, 0.0, 0.5]);
        assert_eq!(shown(&[straight, "3 4 14 1 2 3 0.5"]).arm, before.arm);
        // What the arm says when it is given other lengths is what is drawn.
        let (mut arm, mut said) = (ArmModule::new(3, 4, 1), Vec::new());
        arm.take(&Line::parse(b"0 3 65531 1 2.5").unwrap(), &mut said).unwrap();
        arm.take(&Line::parse(b"2 3 10 1 0.3 0.2 -0.4 0.1").unwrap(), &mut said).unwrap();
        let lines: Vec<&str> = said.iter().map(String::as_str).collect();
        let s = shown(&lines);
        assert_eq!((s.made_of.links_m[0], tip(&s)), (2.5, s.objects[&1]));
    }

    #[test]
    fn the_last_word_of_the_interpolator_moves_nothing() {
        let s = shown(&["2 3 10 5 0 0 0 0", "2 3 10 0. 0. 0. -1 0. 0. 0. 0."]);
        assert!(s.is_done);
        assert_eq!(s.arm.unwrap().pose.base_m, 5.0);
    }

    #[test]
    fn an_attached_eye_goes_where_its_object_goes() {
        let mut s = shown(&["0 3 12 7 1 1 1", "0 3 13 7"]);
        assert_eq!(s.eye_now(), [1.0; 3]);
        s.show(&Line::parse(b"0 3 12 7 2 2 2").unwrap()).unwrap();
        assert_eq!(s.eye_now(), [2.0; 3]);
        s.show(&Line::parse(b"0 3 13 0").unwrap()).unwrap();
        assert_eq!(s.eye_now(), Scenery::default().eye);
    }

    #[test]
    fn what_cannot_be_shown_changes_nothing() {
        let mut s = Scenery::default();
        let bad = [
            "0 3 1 1 2 3 1 2 3",
            "0 3 1 1",
            "0 3 2 0",
            "0 3 2 180",
            "0 3 10 1 2 3",
            "0 3 11 1 1 1 1 0 0 0",
            "0 3 12 1 1",
            "0 3 13 0.5",
            "0 3 13",
            "0 3 14 1 2 3",
            "0 3 14 1 2 -3 1",
            "0 3 99",
        ];
        for line in bad {
            assert!(s.show(&Line::parse(line.as_bytes()).unwrap()).is_err(), "{line}");
            assert_eq!(s, Scenery::default());
        }
    }
}
