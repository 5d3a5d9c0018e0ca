//! A planar arm with a hand at its tip.
//!
//! The links are above everything that stands on the floor and collide with nothing; what the hand
//! holds is at its own height and does. Joints are strong: they move as told, whatever they carry, and
//! push nobody back. Over a quantum every joint turns evenly, and what is held moves straight from where
//! it is to where the hand will be; when it meets something on the way, the joints stop there as well.

use crate::hand::{self, Clasp};
use std::f64::consts::PI;
use swarmyard_base::math::approach;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Pose2, Vec2};
use swarmyard_part_api::{
    ActRows, ActView, Actuator, Built, Channel, Class, Felt, Grip, Hand, Kind, Layout, Mark, MarkShape,
    Outline, Param, ParamType, Sheet, TypeLayout,
};
use swarmyard_scene::{Params, Value};

/// Most joints.
const MOST: usize = 16;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    const TURN: (f64, f64) = (-1.0e3, 1.0e3);
    const PLACE: (f64, f64) = (f64::MIN, f64::MAX);
    let sheet = Sheet::new("arm", Kind::Actuator, "A planar arm: links with a joint at the beginning of each, and jaws at the tip that work as those of a gripper. The links are above everything and collide with nothing; what the jaws hold does, and when it meets something the joints stop too. Over its own robot it can hold something but not let it go.")
        .param(Param::new("links", ParamType::Numbers { unit: Unit::Metre, min_len: 1, max_len: MOST }, "Length of each link, from the body to the tip.").required())
        .param(Param::new("mount", ParamType::Pose, "The first joint on the body, and where the arm points when all angles are zero.").or(Value::Pose(Pose2::default())))
        .param(
            Param::new("limits", ParamType::Numbers { unit: Unit::Radian, min_len: 2, max_len: 2 * MOST }, "Least and greatest angle: one pair for all joints, or a pair for each. Set-points beyond are cut.")
                .or(Value::Nums(vec![-PI, PI])),
        )
        .param(Param::number("speed", Unit::RadianPerSecond, "Greatest turning speed of a joint.").within(0.0, 1.0e3).or_num(1.0));
    let sheet = hand::with_commands(hand::with_params(sheet).channel(Channel::command(
        "joint",
        2,
        Unit::Radian,
        TURN,
        "Set-point of each joint, from the direction of the link before.",
    )))
    .channel(Channel::reading("angle", 2, Unit::Radian, TURN, "Angle of each joint."))
    .channel(Channel::reading("tip", 2, Unit::Metre, PLACE, "Middle of the jaws in the body's frame: x, y."))
    .channel(Channel::reading(
        "at_target",
        1,
        Unit::None,
        (0.0, 1.0),
        "1 when every joint is at its set-point, as far as limits allow.",
    ));
    hand::with_readings(sheet)
        .level("every", "Everything.")
        .marks("its links, and the two jaws")
        .example("[[type.demo.part]]\nname = \"arm\"\nclass = \"arm\"\nlinks = [\"30cm\", \"25cm\"]\nlimits = [\"-90deg\", \"90deg\", \"-150deg\", \"150deg\"]\nspeed = \"45deg/s\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let (links, limits) = (p.nums("links").to_vec(), p.nums("limits"));
    if let Some(bad) = links.iter().find(|l| **l < 0.0) {
        let d = Diagnostic::error("out-of-range", format!("a link cannot be `{bad}` long"));
        return Err(d.at(p.span("links")));
    }
    if limits.len() != 2 && limits.len() != 2 * links.len() {
        let what = format!("`limits` has {} numbers; it needs 2, or {}", limits.len(), 2 * links.len());
        return Err(Diagnostic::error("wrong-length", what).at(p.span("limits")));
    }
    let limits: Vec<(f64, f64)> = limits.chunks(2).cycle().take(links.len()).map(|l| (l[0], l[1])).collect();
    if let Some((low, high)) = limits.iter().find(|(low, high)| low > high) {
        let what = format!("the least angle `{low}` is above the greatest, `{high}`");
        return Err(Diagnostic::error("out-of-range", what).at(p.span("limits")));
    }
    let (mount, speed) = (p.pose("mount"), p.num("speed"));
    Ok(Built::Actuator(Box::new(Arm { links, mount, limits, speed, clasp: Clasp::new(p) })))
}

struct Arm {
    links: Vec<f64>,
    mount: Pose2,
    limits: Vec<(f64, f64)>,
    speed: f64,
    clasp: Clasp,
}

impl Arm {
    /// Where each joint is, and the hand last, in the body's frame. Headings are sums of angles.
    fn joints(&self, angles: &[f64]) -> Vec<Pose2> {
        let mut at = self.mount;
        let mut all = vec![at];
        for (link, angle) in self.links.iter().zip(angles) {
            let heading = at.heading + angle;
            at = Pose2 { at: at.at + Vec2::at_angle(heading) * *link, heading };
            all.push(at);
        }
        all
    }

    fn hand_at(&self, angles: &[f64]) -> Pose2 {
        self.joints(angles).last().copied().unwrap_or(self.mount)
    }

    /// Writes where the arm is.
    fn report(&self, angles: &[f64], tip: Vec2, at_target: bool, readings: &mut [f64]) {
        let n = self.links.len();
        readings[..n].copy_from_slice(angles);
        readings[n..n + 3].copy_from_slice(&[tip.x, tip.y, f64::from(u8::from(at_target))]);
    }
}

impl Actuator for Arm {
    fn layout(&self) -> Layout {
        let n = self.links.len();
        let many =
            |c: Channel| if ["joint", "angle"].contains(&c.name) { Channel { len: n, ..c } } else { c };
        let channels = sheet().channels.into_iter().map(many).collect();
        // Private state: the angles, and whether the jaws are shut. It begins as straight as it can.
        let angles = self.limits.iter().map(|&(low, high)| 0.0_f64.clamp(low, high));
        Layout { channels, state: angles.chain([0.0]).collect(), ..Layout::default() }
    }

    fn act(&self, view: &ActView<'_>, rows: &mut ActRows<'_>) {
        let (n, most) = (self.links.len(), self.speed * view.quantum_s);
        for row in 0..rows.len {
            let (angles, was_shut) = rows.state.row(row).split_at(n);
            let (wanted, close) = rows.commands.row(row).split_at(n);
            let next = rows.next_state.row(row);
            let mut at_target = true;
            for (k, &(low, high)) in self.limits.iter().enumerate() {
                let target = wanted[k].clamp(low, high);
                next[k] = approach(angles[k], target, most);
                at_target &= next[k] == target;
            }
            let (jaws, shut) = self.clasp.jaws(close[0], was_shut[0]);
            next[n] = shut;
            let grip = Grip { from: self.hand_at(angles), to: self.hand_at(&next[..n]), jaws };
            rows.grips[row] = grip;
            self.report(&next[..n], grip.to.at, at_target, rows.out.row(row));
        }
    }

    fn moves_body(&self) -> bool {
        false
    }

    fn hand(&self) -> Option<Hand> {
        Some(self.clasp.hand)
    }

    fn feel(&self, felt: &Felt, readings: &mut [f64]) {
        hand::write(felt, readings);
    }

    fn cut(&self, share: f64, state: &[f64], next_state: &mut [f64], readings: &mut [f64]) -> Pose2 {
        let n = self.links.len();
        for (next, angle) in next_state[..n].iter_mut().zip(state) {
            *next = angle + (*next - angle) * share;
        }
        let hand = self.hand_at(&next_state[..n]);
        self.report(&next_state[..n], hand.at, false, readings);
        hand
    }

    fn marks(&self, readings: &[f64], _: &Outline) -> Vec<Mark> {
        let joints = self.joints(&readings[..self.links.len()]);
        let line = MarkShape::Line(joints.iter().map(|j| j.at).collect());
        let mut marks = vec![Mark { shape: line, channel: "angle", index: 0 }];
        marks.extend(joints.last().into_iter().flat_map(|hand| self.clasp.marks(*hand, readings)));
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(links: &[f64]) -> Arm {
        Arm {
            links: links.to_vec(),
            mount: Pose2::default(),
            limits: vec![(-PI, PI); links.len()],
            speed: 1.0,
            clasp: Clasp::new(
                &Params::default()
                    .with("reach", Value::Num(0.1))
                    .with("opening", Value::Num(0.1))
                    .with("max_mass", Value::Num(1.0))
                    .with("auto", Value::Bool(false)),
            ),
        }
    }

    /// x = l₁ cos a + l₂ cos(a + b), y = l₁ sin a + l₂ sin(a + b).
    #[test]
    fn two_links_are_where_the_closed_form_says() {
        let two = arm(&[0.3, 0.25]);
        for k in 0..200 {
            let (a, b) = (f64::from(k) * 0.31 - 30.0, f64::from(k) * 0.17 - 12.0);
            let hand = two.hand_at(&[a, b]);
            let sum = a + b;
            let x = 0.3 * swarmyard_base::math::cos(a) + 0.25 * swarmyard_base::math::cos(sum);
            let y = 0.3 * swarmyard_base::math::sin(a) + 0.25 * swarmyard_base::math::sin(sum);
            assert!((hand.at.x - x).abs() < 1e-15 && (hand.at.y - y).abs() < 1e-15);
            assert_eq!(hand.heading, sum);
        }
    }

    /// A square of three links of one metre, each turned by a quarter, from (2, 1) looking up: to
    /// (1, 1), (1, 0), (2, 0).
    #[test]
    fn three_quarter_turns_make_a_square() {
        let three = Arm { mount: Pose2::new(2.0, 1.0, PI / 2.0), ..arm(&[1.0, 1.0, 1.0]) };
        let at: Vec<Vec2> = three.joints(&[PI / 2.0; 3]).iter().map(|j| j.at).collect();
        for (is, should) in at.iter().zip([(2.0, 1.0), (1.0, 1.0), (1.0, 0.0), (2.0, 0.0)]) {
            assert!((*is - Vec2::new(should.0, should.1)).norm() < 1e-15, "{at:?}");
        }
    }

    #[test]
    fn joints_that_are_cut_short_come_as_far_as_they_came() {
        let two = arm(&[1.0, 1.0]);
        let (mut next, mut readings) = (vec![1.0, -0.5, 1.0], vec![0.0; 9]);
        let hand = two.cut(0.25, &[0.0, 0.5, 1.0], &mut next, &mut readings);
        assert_eq!(next, [0.25, 0.25, 1.0], "the jaws stay as they are");
        assert_eq!(hand, two.hand_at(&[0.25, 0.25]));
        assert_eq!(readings[..5], [0.25, 0.25, hand.at.x, hand.at.y, 0.0]);
    }
}
