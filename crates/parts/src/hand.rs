//! What gripper and arm have in common: jaws that take hold of movable obstacles.

use swarmyard_base::units::Unit;
use swarmyard_base::{Pose2, Vec2, math};
use swarmyard_part_api::{Channel, Felt, Hand, Jaws, Mark, MarkShape, Param, ParamType, Sheet};
use swarmyard_scene::{Params, Value};

/// Adds the keys of a hand.
pub(crate) fn with_params(sheet: Sheet) -> Sheet {
    sheet
        .param(Param::number("reach", Unit::Metre, "How far from the middle of the jaws an outline may be to be gripped. Walls between do not count.").within(0.0, 1.0e3).or_num(0.05))
        .param(Param::number("opening", Unit::Metre, "Greatest width, across the jaws, of what fits between them.").within(1e-4, 1.0e3).or_num(0.2))
        .param(Param::number("max_mass", Unit::Kilogram, "Greatest mass it can hold.").within(1e-6, 1.0e9).or_num(5.0))
        .param(Param::new("auto", ParamType::Bool, "Whether the jaws close by themselves as soon as something is between them; `close` at -0.5 or below opens them.").or(Value::Bool(false)))
}

/// Adds the command channel of a hand.
pub(crate) fn with_commands(sheet: Sheet) -> Sheet {
    sheet.channel(Channel::command("close", 1, Unit::None, (-1.0, 1.0), "0.5 and more closes the jaws, less opens them. Closed on nothing, they must open before they can grip."))
}

/// Adds the readings of a hand; they are the last of the row.
pub(crate) fn with_readings(sheet: Sheet) -> Sheet {
    const YES: (f64, f64) = (0.0, 1.0);
    sheet
        .channel(Channel::reading("holding", 1, Unit::None, YES, "1 while it holds something."))
        .channel(Channel::reading(
            "beam",
            1,
            Unit::None,
            YES,
            "1 when something it could grip was between its open jaws at the start of the quantum.",
        ))
        .channel(Channel::reading(
            "jammed",
            1,
            Unit::None,
            YES,
            "1 when it is told to let go and cannot, because what it holds is over its own robot.",
        ))
        .channel(Channel::reading(
            "touching",
            1,
            Unit::None,
            YES,
            "1 when what it holds touches something else.",
        ))
}

/// How many readings [`with_readings`] adds.
const FELT: usize = 4;

/// The jaws of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clasp {
    pub(crate) hand: Hand,
    auto: bool,
}

impl Clasp {
    /// Reads the keys of a hand.
    pub(crate) fn new(p: &Params) -> Clasp {
        let hand = Hand { reach: p.num("reach"), opening: p.num("opening"), max_mass: p.num("max_mass") };
        Clasp { hand, auto: p.bool("auto") }
    }

    /// What the jaws do, and whether they are shut afterwards (1) or not: the part keeps that number.
    pub(crate) fn jaws(&self, close: f64, was_shut: f64) -> (Jaws, f64) {
        if close >= 0.5 {
            (if was_shut == 0.0 { Jaws::Closing } else { Jaws::Shut }, 1.0)
        } else if self.auto && close > -0.5 {
            (Jaws::Ready, 0.0)
        } else {
            (Jaws::Open, 0.0)
        }
    }

    /// Two lines along what is between the jaws, near to one another while they hold something.
    pub(crate) fn marks(&self, jaws: Pose2, readings: &[f64]) -> Vec<Mark> {
        let holds = readings[readings.len() - FELT] != 0.0;
        let (long, apart) =
            (math::max(self.hand.reach, 0.02), self.hand.opening / if holds { 4.0 } else { 2.0 });
        let line = |(index, y): (usize, f64)| {
            let ends = [Vec2::new(-long, y), Vec2::new(long, y)].map(|p| jaws.point(p));
            Mark { shape: MarkShape::Line(ends.to_vec()), channel: "holding", index }
        };
        [(0, -apart), (0, apart)].map(line).to_vec()
    }
}

/// Writes what a hand feels into the last readings of its row.
pub(crate) fn write(felt: &Felt, readings: &mut [f64]) {
    let first = readings.len() - FELT;
    let number = |yes: bool| f64::from(u8::from(yes));
    let felt = [felt.holding, felt.beam, felt.jammed, felt.touching].map(number);
    readings[first..].copy_from_slice(&felt);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clasp(auto: bool) -> Clasp {
        Clasp { hand: Hand { reach: 0.1, opening: 0.2, max_mass: 1.0 }, auto }
    }

    #[test]
    fn jaws_close_once_and_must_open_before_they_grip_again() {
        let hand = clasp(false);
        assert_eq!(hand.jaws(0.4, 0.0), (Jaws::Open, 0.0));
        assert_eq!(hand.jaws(0.5, 0.0), (Jaws::Closing, 1.0));
        assert_eq!(hand.jaws(1.0, 1.0), (Jaws::Shut, 1.0));
        assert_eq!(hand.jaws(0.0, 1.0), (Jaws::Open, 0.0));
    }

    #[test]
    fn a_hand_that_closes_by_itself_opens_only_when_told() {
        let hand = clasp(true);
        assert_eq!(hand.jaws(0.0, 0.0), (Jaws::Ready, 0.0));
        assert_eq!(hand.jaws(-0.5, 0.0), (Jaws::Open, 0.0));
        assert_eq!(hand.jaws(1.0, 0.0), (Jaws::Closing, 1.0));
    }
}
