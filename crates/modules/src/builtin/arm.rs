//! A kinematic arm on its mobile base: the station's crane.
//!
//! In: poses of the arm, command 10 (both forms, by count); parameters. Out: the pose for the display, and where the tip
//! of the arm is, as an object of the display: a view point can be attached to it. Where parameters make it another arm,
//! also what it is made of, command 14, so that the display draws that one; it is never said of the usual arm, which every
//! display of 1986 draws.
//!
//! The base slides along x, on the truss; on it stands a turntable that turns about z; then three pitches: shoulder,
//! elbow, wrist, each relative to the link before. Metres and radians.

use super::obstacles::OBJECT;
use super::{Flow, MOVE, Module, whole};
use crate::control::{SET, Universe};
use crate::line::Line;
use serde::Serialize;
use swarmyard_base::math::sin_cos;

/// What the arm is made of, as command of the display: three lengths, and the height of the shoulder.
pub const MADE_OF: u16 = 14;

/// Where an arm is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pose {
    /// How far the base is along the truss, in metres.
    pub base_m: f64,
    /// How far the turntable is turned, in radians.
    pub turn_rad: f64,
    /// Shoulder, elbow and wrist, in radians.
    pub joints_rad: [f64; 3],
}

impl Pose {
    /// The pose of a move, in either form: `BasePos BaseRot Jnt1 Jnt2 Jnt3`, or `d1 d2 BasePos flag BaseRot Jnt1 Jnt2
    /// Jnt3`; and the flag.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<(Pose, f64)> {
        match *values {
            [base_m, turn_rad, a, b, c] => Some((Pose { base_m, turn_rad, joints_rad: [a, b, c] }, 0.0)),
            [_, _, base_m, flag, turn_rad, a, b, c] => {
                Some((Pose { base_m, turn_rad, joints_rad: [a, b, c] }, flag))
            }
            _ => None,
        }
    }
}

/// What an arm is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Arm {
    /// Upper arm, forearm and hand, in metres.
    pub links_m: [f64; 3],
    /// Height of the shoulder above the truss, in metres.
    pub shoulder_m: f64,
}

impl Default for Arm {
    /// 15.3 metres, as the Shuttle's arm had; how they are divided is ours.
    fn default() -> Arm {
        Arm { links_m: [6.4, 7.0, 1.9], shoulder_m: 1.0 }
    }
}

impl Arm {
    /// The arm that four values make: three lengths, and the height of the shoulder.
    ///
    /// # Errors
    /// When there are not four, or one is negative.
    pub fn of(values: &[f64]) -> Result<Arm, String> {
        match *values {
            [a, b, c, shoulder_m] if values.iter().all(|v| *v >= 0.0) => {
                Ok(Arm { links_m: [a, b, c], shoulder_m })
            }
            [_, _, _, _] => Err("a length is not negative".into()),
            _ => Err("an arm is made of 4 lengths: three links, and the height of the shoulder".into()),
        }
    }

    /// Foot, shoulder, elbow, wrist and tip.
    #[must_use]
    pub fn points(&self, pose: &Pose) -> [[f64; 3]; 5] {
        let (sin_turn, cos_turn) = sin_cos(pose.turn_rad);
        let place = |out: f64, up: f64| [pose.base_m + out * cos_turn, out * sin_turn, up];
        let mut points = [place(0.0, 0.0); 5];
        let (mut out, mut up, mut pitch) = (0.0, self.shoulder_m, 0.0);
        points[1] = place(out, up);
        for i in 0..3 {
            pitch += pose.joints_rad[i];
            let (sin, cos) = sin_cos(pitch);
            out += self.links_m[i] * cos;
            up += self.links_m[i] * sin;
            points[i + 2] = place(out, up);
        }
        points
    }

    /// The tip alone.
    #[must_use]
    pub fn tip(&self, pose: &Pose) -> [f64; 3] {
        self.points(pose)[4]
    }
}

/// The arm as a module.
#[derive(Debug)]
pub struct ArmModule {
    me: u16,
    display: u16,
    /// The object of the display that the tip is.
    object: u16,
    arm: Arm,
    pose: Pose,
}

impl ArmModule {
    /// An arm with a number, for a display with a number; its tip is an object with a number.
    #[must_use]
    pub fn new(me: u16, display: u16, object: u16) -> ArmModule {
        ArmModule { me, display, object, arm: Arm::default(), pose: Pose::default() }
    }

    fn say(&self, command: u16, values: &[f64]) -> String {
        Line::new(self.me, self.display, command, values).text().to_owned()
    }

    fn tell(&self, out: &mut Vec<String>) {
        let Pose { base_m, turn_rad, joints_rad: [a, b, c] } = self.pose;
        let [x, y, z] = self.arm.tip(&self.pose);
        out.push(self.say(MOVE, &[base_m, turn_rad, a, b, c]));
        out.push(self.say(OBJECT, &[f64::from(self.object), x, y, z]));
    }
}

impl Module for ArmModule {
    fn reset(&mut self, _: Universe, out: &mut Vec<String>) {
        self.arm = Arm::default();
        self.pose = Pose::default();
        self.tell(out);
    }

    fn take(&mut self, line: &Line, out: &mut Vec<String>) -> Result<Flow, String> {
        match (line.command, &line.values[..]) {
            (MOVE, values) => {
                let (pose, flag) = Pose::of(values).ok_or("a move has 5 or 8 values")?;
                // The interpolator's last word is no pose.
                if flag == -1.0 {
                    return Ok(Flow::On);
                }
                self.pose = pose;
            }
            (SET, &[which, value]) => {
                if value < 0.0 {
                    return Err("a length is not negative".into());
                }
                let before = self.arm;
                match which as u16 {
                    i @ 1..=3 => self.arm.links_m[usize::from(i) - 1] = value,
                    4 => self.arm.shoulder_m = value,
                    5 => self.object = whole(value)?,
                    _ => {
                        return Err(
                            "parameters are 1, 2, 3 (lengths), 4 (height), 5 (object of the tip)".into()
                        );
                    }
                }
                if self.arm != before {
                    let Arm { links_m: [a, b, c], shoulder_m } = self.arm;
                    out.push(self.say(MADE_OF, &[a, b, c, shoulder_m]));
                }
            }
            (command, _) => return Err(format!("the arm does not know command {command}")),
        }
        self.tell(out);
        Ok(Flow::On)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn the_tip_is_where_geometry_says() {
        let cases = [
            ([0.0, 0.0, 0.0, 0.0, 0.0], [15.3, 0.0, 1.0]),
            ([5.0, FRAC_PI_2, 0.0, 0.0, 0.0], [5.0, 15.3, 1.0]),
            ([2.0, 0.0, FRAC_PI_2, -FRAC_PI_2, 0.0], [10.9, 0.0, 7.4]),
        ];
        for (values, tip) in cases {
            let (pose, _) = Pose::of(&values).unwrap();
            let found = Arm::default().tip(&pose);
            for i in 0..3 {
                assert!((found[i] - tip[i]).abs() < 1e-12, "{values:?}: {found:?}");
            }
        }
    }

    #[test]
    fn links_keep_their_lengths_in_every_pose() {
        let arm = Arm::default();
        for k in 0..50 {
            let t = f64::from(k) * 0.37;
            let pose = Pose { base_m: t, turn_rad: 2.0 * t, joints_rad: [t, -1.5 * t, 0.3 * t] };
            let points = arm.points(&pose);
            for (i, length) in arm.links_m.iter().enumerate() {
                let (a, b) = (points[i + 1], points[i + 2]);
                let squared: f64 = (0..3).map(|j| (a[j] - b[j]) * (a[j] - b[j])).sum();
                assert!((squared.sqrt() - length).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_it_is_made_of_is_told_when_that_changes_and_forgotten_at_a_reset() {
        let mut arm = ArmModule::new(3, 4, 1);
        let mut said = |text: &str| {
            let mut out = Vec::new();
            arm.take(&Line::parse(text.as_bytes()).unwrap(), &mut out).unwrap();
            out
        };
        assert_eq!(
            said("0 3 65531 2 8.5"),
            ["3 4 14 6.4 8.5 1.9 1", "3 4 10 0 0 0 0 0", "3 4 12 1 16.8 0 1"]
        );
        // The same again, another object, a move: all that is no other arm.
        assert_eq!(said("0 3 65531 2 8.5").len(), 2);
        assert_eq!(said("0 3 65531 5 8"), ["3 4 10 0 0 0 0 0", "3 4 12 8 16.8 0 1"]);
        assert_eq!(
            said("0 3 65531 4 0.5"),
            ["3 4 14 6.4 8.5 1.9 0.5", "3 4 10 0 0 0 0 0", "3 4 12 8 16.8 0 0.5"]
        );
        let mut out = Vec::new();
        arm.reset(Universe::default(), &mut out);
        assert_eq!(arm.arm, Arm::default());
        assert_eq!(out.len(), 2);
    }

    #[test]
    fn both_forms_of_a_move_mean_the_same() {
        assert_eq!(Pose::of(&[1.0, 2.0, 3.0, 4.0, 5.0]), Pose::of(&[9.0, 9.0, 1.0, 0.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(Pose::of(&[1.0; 6]), None);
    }
}
