//! Two robots meet although their compasses err, up to the bounds of Izumi, Souissi, Katayama, Inuzuka, Défago,
//! Wada and Yamashita (SIAM J. Comput. 2012).
//!
//! The bounds are the paper's, the rules and the arguments are worked out here. φ is the greatest angle between the
//! x axis of a compass and the true one, so two compasses differ by 2φ at most:
//!
//! | rule | errors | robots | meets for |
//! |---|---|---|---|
//! | `compass-kept` | kept for ever | SSYNC, ASYNC | φ < π/2 |
//! | `compass-changing` | new at every look | SSYNC | φ < π/4 |
//! | `compass-changing-async` | new at every look | ASYNC | φ < π/6 |
//!
//! A rule is made for one φ. It sees the other robot at an angle θ, and has three things to do: *stay*, *go* where the
//! other is, or *step*: against the direction *aim* of its own frame if θ > 0, along it if θ < 0, as far as the
//! other is away. Between stay and go lie the angles of stepping ([`Erring::arcs`]):
//!
//! | rule | stay | go | aim |
//! |---|---|---|---|
//! | `compass-kept` | −w … w | π − w … 2π − w | 0 |
//! | `compass-changing` | −φ−η … φ+η | π−φ−η … π+φ+η | φ |
//! | `compass-changing-async` | −3φ … φ+η | π−φ … π+φ+η | φ |
//!
//! Let b be the true angle at which one robot, B, sees the other, A; A sees B at b + π. Every step of either turns
//! the line between both towards a direction of aim, for it adds to the vector from B to A one of the direction p =
//! aim + error. (If both step, or A steps while B steps or goes, the sum of such vectors decides.) So b never leaves
//! the angles between where it was and the p of the steps made.
//!
//! **Errors that change, SSYNC.** Let b be in [0, π), else exchange names. Both read b with an error of up to φ; say
//! B reads τ and A, which reads its own angle, τ' − π. B stays, steps or goes as τ grows; A goes, steps or stays.
//! * Both stay, or both go, only if τ and τ' differ by π − 2φ − 2η. They differ by 2φ at most. So never, not even in
//!   turn, if 4φ + 2η < π: for φ < π/4 there is such an η > 0. (Beyond π/4 no rule of this kind will do: at
//!   the bearing where they meet one must be sure to stay, so the angles of staying are 2φ wide, and less
//!   than π − 2φ lest both stay.)
//! * Who steps has read τ > φ + η, so b > η, and p = φ + (b − τ) lies between 0 and b − η. So b falls by a share of η
//!   at every step, also when the other goes to where the stepping one has been (then b becomes p), and never below
//!   0. There are finitely many steps.
//! * After the last of them one stays and the other goes.
//!
//! It does not matter how far moves carry, as long as they have a least way.
//!
//! **ASYNC** adds decisions that are carried out late. A late step has a direction p below the b of its look; a late
//! go leads to a place where the stepping robot has been, from which only vectors with such p lead to where it is.
//! So b stays between 0 and what it was, and steps end as before. But B could decide to go while A steps on until A too
//! decides to go: then they change places, and all begins anew. B goes only for b > π − 2φ. There A must be
//! sure to stay: it reads τ' > π − 3φ. So the angles of staying reach down to −3φ, are 4φ + η wide, and leave room
//! for 2φ if 6φ + η < π.
//!
//! **Errors that are kept.** Let their difference be π − h, with h ≥ π − 2φ > 2w: the robots' own angles differ by h
//! or 2π − h for ever, and never do both stay. All steps of one robot have one and the same direction.
//! * Who sees the other at an angle in (w, π − w) steps. A whole step halves its angle. It never comes below 0: a step
//!   leads towards 0, and so does a move of the other to a place where the stepping one has been.
//! * Both go: either they meet, or change places; now both see angles from −w to π − w. The greater of the two comes
//!   below w only to stay, for steps of the other lead to where the other's angle is 0 and this one h. So never do both
//!   go again: as soon as it is within w its robot stays, and the other one, at an angle smaller by h, goes.
//! * One goes, the other steps: the angles of both fall. Either the stepping one stays in the end and the other
//!   comes, or the going one passes −π − w, and both step.
//!
//! Late steps have the same direction as others; a late go leads to where the other has been. So ASYNC adds
//! nothing new, but for one late go of each when they have passed each other: away from each other, where it does no
//! harm.

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, FRAC_PI_6, PI};
use swarmyard_base::chance::Draw;
use swarmyard_base::{Vec2, math};

/// How compasses err.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// Each always by the same angle; SSYNC and ASYNC.
    Kept,
    /// By another at every look; SSYNC.
    Changing,
    /// By another at every look; ASYNC.
    ChangingAsync,
}

impl Errors {
    /// Errors below this angle let robots meet.
    #[must_use]
    pub fn bound(self) -> f64 {
        match self {
            Errors::Kept => FRAC_PI_2,
            Errors::Changing => FRAC_PI_4,
            Errors::ChangingAsync => FRAC_PI_6,
        }
    }
}

/// The rules `compass-kept`, `compass-changing` and `compass-changing-async`; with other than two robots they stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Erring {
    errors: Errors,
    most: f64,
}

/// What is done at which angle; go is from `go.0` over π to `go.1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arcs {
    /// Stay from here to there.
    pub stay: (f64, f64),
    /// Go from here up to π, and from −π up to there.
    pub go: (f64, f64),
    /// Where to step.
    pub aim: f64,
}

/// Nearest to its bound that a rule is made for, rad. The nearer, the more and the longer the steps.
const NEAREST: f64 = 0.01;

impl Erring {
    /// The rule for compasses that err by `most_rad` at most. No rule is made for more than 0.01 below the
    /// bound.
    #[must_use]
    pub fn new(errors: Errors, most_rad: f64) -> Erring {
        Erring { errors, most: math::max(math::min(most_rad, errors.bound() - NEAREST), 0.0) }
    }

    /// What it does at which angle.
    #[must_use]
    pub fn arcs(&self) -> Arcs {
        let most = self.most;
        match self.errors {
            Errors::Kept => {
                let w = 0.5 * (FRAC_PI_2 - most);
                Arcs { stay: (-w, w), go: (PI - w, -w), aim: 0.0 }
            }
            Errors::Changing => {
                let c = most + 0.9 * (FRAC_PI_2 - 2.0 * most);
                Arcs { stay: (-c, c), go: (PI - c, c - PI), aim: most }
            }
            Errors::ChangingAsync => {
                // A tenth of the room on either side is for rounding.
                let room = PI - 6.0 * most;
                let (c, rest) = (most + 0.8 * room, 0.1 * room);
                Arcs { stay: (-3.0 * most - rest, c), go: (PI - most - rest, c - PI), aim: most }
            }
        }
    }
}

impl Rule for Erring {
    fn name(&self) -> &'static str {
        match self.errors {
            Errors::Kept => "compass-kept",
            Errors::Changing => "compass-changing",
            Errors::ChangingAsync => "compass-changing-async",
        }
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let [other] = look.others()[..] else { return Decision::stay(look) };
        let (arcs, angle) = (self.arcs(), other.angle());
        if angle >= arcs.go.0 || angle < arcs.go.1 {
            Decision::go(look, other)
        } else if angle >= arcs.stay.0 && angle <= arcs.stay.1 {
            Decision::stay(look)
        } else {
            let way = if angle > 0.0 { -other.norm() } else { other.norm() };
            Decision::go(look, Vec2::at_angle(arcs.aim) * way)
        }
    }

    fn needs(&self) -> Needs {
        Needs { axes: true, robots: 2, ..Needs::default() }
    }
}
