//! Robots with limited sight gather once their compasses agree, and until then nobody is lost (after Souissi,
//! Défago, Yamashita 2009, and Flocchini, Prencipe, Santoro, Widmayer 2005).
//!
//! From the papers is the plan: leftmost robots go right and down, and wait for those that are behind. The ways are
//! worked out here. V is how far robots see.
//!
//! | in sight | a robot |
//! |---|---|
//! | somebody to the left, or straight above | stays |
//! | some straight below, and nobody else | goes to the nearest of them |
//! | some to the right, and nobody else | goes right, until the first of them is straight above or below |
//! | some straight below and some to the right | goes right as far as it may, at most until the first of those is straight above or below, and down as little as it must |
//!
//! *As it may* is said by the discs of Ando and others: two robots that see each other stay within V/2 of
//! the middle between them. The first two moves are along, or within, the circle over the line between both, so
//! always in all discs. So nobody who sees somebody loses him in SSYNC, whatever the compasses show: the swarm
//! stays connected until they settle, and after.
//!
//! The last way leads right by half of the way at least: let the first on the right be at x. The point x/2 to the
//! right and (V − √(V² − x²))/2 down is in all discs, for it is on the border of the worst two: of a robot V below, and
//! of one at x and √(V² − x²) above.
//!
//! **Why there are finitely many moves once the compasses agree**, in SSYNC with moves that arrive. Nobody goes left or
//! up, nobody passes the rightmost axis or comes below the lowest robot, so all places converge. Late moves are short,
//! and so is the way to the first on the right: it is at most twice the move.
//! * Down by less than a whole way to another robot goes only who is held by somebody straight below it, at more than
//!   √(V² − 4t²) for a way t to the right; late, by one that is in the end exactly V below.
//! * Take robots that end in one place such that none ends V below it. Late, they come to no new heights but those of
//!   each other, and never up: after finitely many moves all have their last height.
//! * Take those that end V above such a place. Who sees one there is at most V higher, so it has its last height
//!   too and goes down no more; so again no new heights. And so on, upwards: finitely many moves lead down.
//! * A way to the right that is cut short leads down: else it could be longer, for the way straight to the
//!   right is inside all discs of those to the right. So in the end all ways lead to the axis of some robot, no
//!   new axes come about, and nobody goes left: finitely many moves lead right.
//!
//! The topmost of the leftmost can always go as long as it sees anybody in another place. So in the end it sees
//! nobody, and as all are still connected all are there.

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use swarmyard_base::chance::Draw;
use swarmyard_base::{Vec2, math};

/// The rule `compass-settling`.
#[derive(Clone, Copy, Debug)]
pub struct Settling;

impl Rule for Settling {
    fn name(&self) -> &'static str {
        "compass-settling"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let others = look.others();
        let above = |p: &Vec2| p.x <= look.same && p.y > 0.0;
        if others.iter().any(|p| p.x < -look.same || above(p)) {
            return Decision::stay(look);
        }
        let below = others.iter().filter(|p| p.x <= look.same).max_by(|a, b| a.y.total_cmp(&b.y));
        let right = others.iter().map(|p| p.x).filter(|x| *x > look.same).min_by(f64::total_cmp);
        match (below, right) {
            (None, None) => Decision::stay(look),
            (Some(below), None) => Decision::go(look, *below),
            (None, Some(right)) => Decision::go(look, Vec2::new(right, 0.0)),
            (Some(_), Some(right)) => Decision::go(look, aslant(&others, right, look.sees)),
        }
    }

    fn needs(&self) -> Needs {
        Needs { axes: true, ..Needs::default() }
    }
}

/// The rightmost point in all discs, up to an axis; of those on that axis the highest that is not above the robot.
fn aslant(others: &[Vec2], right: f64, sees: f64) -> Vec2 {
    let point = |x: f64| highest(others, x, sees).map(|y| Vec2::new(x, y));
    if let Some(there) = point(right) {
        return there;
    }
    let mut best = Vec2::new(0.5 * right, 0.5 * (math::max(sees * sees - right * right, 0.0).sqrt() - sees));
    let mut end = right;
    // The discs' common part is convex, so its points on the way right come first, then none.
    for _ in 0..50 {
        let x = 0.5 * (best.x + end);
        match point(x) {
            Some(there) => best = there,
            None => end = x,
        }
    }
    best
}

/// How high one may be on an axis, at most at 0; `None` when the axis misses what all discs have in common.
fn highest(others: &[Vec2], x: f64, sees: f64) -> Option<f64> {
    let (mut low, mut high) = (f64::NEG_INFINITY, 0.0);
    for other in others {
        let middle = *other * 0.5;
        let reach = 0.25 * sees * sees - (x - middle.x) * (x - middle.x);
        if reach < 0.0 {
            return None;
        }
        low = math::max(low, middle.y - reach.sqrt());
        high = math::min(high, middle.y + reach.sqrt());
    }
    (low <= high).then_some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_way_is_always_in_all_discs_and_sometimes_no_more() {
        let sees = 2.0;
        for k in 1..40 {
            let x = sees * f64::from(k) / 40.0;
            let up = (sees * sees - x * x).sqrt();
            let others = [Vec2::new(0.0, -sees), Vec2::new(x, up)];
            let there = aslant(&others, x, sees);
            assert!((there.x - 0.5 * x).abs() < 1e-6, "{x}: {there:?}");
            assert!((there.y + 0.5 * (sees - up)).abs() < 1e-6, "{x}: {there:?}");
            // One that is a little nearer lets it go further.
            let nearer = [others[0] * 0.9, others[1]];
            assert!(aslant(&nearer, x, sees).x > 0.5 * x + 1e-6);
        }
    }

    #[test]
    fn the_way_ends_on_the_axis_of_the_first_to_the_right_if_nobody_is_lost() {
        let others = [Vec2::new(0.0, -0.5), Vec2::new(0.25, -0.5), Vec2::new(0.75, 0.25)];
        assert_eq!(aslant(&others, 0.25, 1.0), Vec2::new(0.25, 0.0));
        assert_eq!(aslant(&others, 0.25, f64::INFINITY), Vec2::new(0.25, 0.0));
    }
}
