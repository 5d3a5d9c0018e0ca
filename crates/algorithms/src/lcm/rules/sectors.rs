//! Two robots meet although their compasses differ by as much as π/4 (after Souissi, Défago, Yamashita 2006).
//!
//! Each divides the plane by its own compass into four sectors, counter-clockwise from its x axis: north
//! (3π/4 wide), west (π/4), south (π/2), east (π/2). The widths are the paper's; what is done in each sector is
//! worked out here:
//!
//! | the other is in my | I |
//! |---|---|
//! | north | stay |
//! | south, east | go where it is |
//! | west | step back, so that it is in my north |
//!
//! Why it works for compasses that keep their error, in semi-synchrony with rigid moves. If I see the other at
//! the angle α, it sees me at α + π + d with |d| ≤ π/4, so never do both see each other in one sector: each is
//! narrower than π − |d| or just as wide and half open.
//! * north with south or east: one waits, the other arrives.
//! * south with east: if one is active, it arrives; if both, they change places, and the angles are those of
//!   north and west with north.
//! * west with anything: stepping back by the distance between both, in the direction opposite the middle of
//!   north, turns the angle to one between 9π/16 and 11π/16 if the other stays, and to 3π/8 if it comes to
//!   where I was: north for me, and south or east for it.
//!
//! With compasses that differ by more both can see each other in the north, and wait for ever.
//!
//! [`Sectors::Changing`] is for compasses that err differently at every look, by less than π/8 each. It has three
//! sectors: north (from π/4 to π) stays, south (from π to 7π/4) goes, east steps back far to the south. North
//! and south are 3π/4 wide, so again no two robots are in one sector; and after a step back the line between both
//! is within π/8 of the true north, so both see it within π/4 of their own: in north and south, whatever their
//! compasses show by then. The step is twenty times the distance, which costs 0.05 rad of the π/8.

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use std::f64::consts::{FRAC_PI_4, PI, TAU};
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;

/// The rules `sectors` and `sectors-changing`; with other than two robots they stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sectors {
    /// For compasses that keep their error.
    Fixed,
    /// For compasses that do not.
    Changing,
}

/// How many times the distance of the other a robot steps back under [`Sectors::Changing`].
const FAR: f64 = 20.0;

/// Where the other robot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Sector {
    North,
    West,
    South,
    East,
}

impl Sector {
    /// The sector of a direction.
    #[must_use]
    pub fn of(direction: Vec2) -> Sector {
        let angle = direction.angle();
        let angle = if angle < 0.0 { angle + TAU } else { angle };
        if angle < 0.75 * PI {
            Sector::North
        } else if angle < PI {
            Sector::West
        } else if angle < 1.5 * PI {
            Sector::South
        } else {
            Sector::East
        }
    }
}

impl Rule for Sectors {
    fn name(&self) -> &'static str {
        match self {
            Sectors::Fixed => "sectors",
            Sectors::Changing => "sectors-changing",
        }
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let [other] = look.others()[..] else { return Decision::stay(look) };
        if *self == Sectors::Changing {
            let angle = other.angle();
            return if (FRAC_PI_4..PI).contains(&angle) {
                Decision::stay(look)
            } else if (-FRAC_PI_4..FRAC_PI_4).contains(&angle) {
                Decision::go(look, Vec2::new(0.0, -FAR * other.norm()))
            } else {
                Decision::go(look, other)
            };
        }
        match Sector::of(other) {
            Sector::North => Decision::stay(look),
            Sector::South | Sector::East => Decision::go(look, other),
            Sector::West => Decision::go(look, Vec2::at_angle(0.375 * PI) * -other.norm()),
        }
    }

    fn needs(&self) -> Needs {
        Needs { axes: true, robots: 2, ..Needs::default() }
    }
}
