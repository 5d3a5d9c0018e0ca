//! Forming a pattern, fully synchronous, with a common left and right (after Suzuki and Yamashita 1999).
//!
//! Robots without any common direction can form a pattern F from where they are, P, exactly when the
//! symmetricity of P divides that of F. The rule finds for each robot its place among those that see the same as
//! it does:
//!
//! 1. Everything is seen from the centre of the smallest enclosing circle, as wide as 1.
//! 2. Of all points not at the centre, those with the least *view* (what is around, counter-clockwise from
//!    oneself) are the axes; there are as many as the symmetricity, and each divides the plane alike.
//! 3. Sectors begin at the axes. The m-th point of a sector of P goes to the m-th point of that sector of F.
//!
//! A robot at the centre of a P that has rotations steps aside first: it alone can.

use crate::geometry::{Circle, rotations, smallest_enclosing_circle, symmetricity};
use crate::lcm::{Decision, Needs, Rule, Snapshot};
use std::cmp::Ordering;
use std::f64::consts::TAU;
use swarmyard_base::chance::Draw;
use swarmyard_base::{Rot2, Vec2, math};

/// The rule `pattern`. Robots stay when there are more or fewer of them than points, when two are in one place,
/// or when the pattern cannot be formed.
#[derive(Clone, Debug)]
pub struct PatternFormation {
    /// The points, all different.
    pub pattern: Vec<Vec2>,
}

/// Differences below this are none, where the circle's radius is 1.
const ALIKE: f64 = 1e-7;

impl Rule for PatternFormation {
    fn name(&self) -> &'static str {
        "pattern"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let towers = look.towers();
        let circle = smallest_enclosing_circle(&look.places());
        if towers.len() != self.pattern.len() || towers.iter().any(|t| t.1 > 1) || circle.radius <= look.same
        {
            return Decision::stay(look);
        }
        let places = normal(&look.places(), circle);
        let wanted = normal(&self.pattern, smallest_enclosing_circle(&self.pattern));
        let me = normal(&[Vec2::ZERO], circle)[0];
        let (order, can) = (symmetricity(&places, ALIKE), symmetricity(&wanted, ALIKE));
        if !can.is_multiple_of(order) {
            return Decision::stay(look);
        }
        let centred = places.iter().any(|p| p.norm() <= ALIKE);
        if centred && rotations(&places, ALIKE) > 1 {
            let aside = Vec2::new(circle.radius / 3.0, 0.0);
            let formed =
                targets(&places, &wanted, order).iter().all(|(from, to)| (*from - *to).norm() < ALIKE);
            return if me.norm() <= ALIKE && !formed {
                Decision::go(look, aside)
            } else {
                Decision::stay(look)
            };
        }
        let goal =
            targets(&places, &wanted, order).into_iter().find(|(from, _)| (*from - me).norm() <= ALIKE);
        match goal {
            Some((from, to)) if (from - to).norm() > ALIKE => {
                Decision::go(look, circle.centre + to * circle.radius)
            }
            _ => Decision::stay(look),
        }
    }

    fn needs(&self) -> Needs {
        Needs { hand: true, robots: self.pattern.len() as u32, ..Needs::default() }
    }
}

/// Points as seen from the centre of their circle, which has the radius 1.
fn normal(points: &[Vec2], circle: Circle) -> Vec<Vec2> {
    points.iter().map(|p| (*p - circle.centre) * (1.0 / circle.radius)).collect()
}

/// Who goes where.
fn targets(places: &[Vec2], wanted: &[Vec2], order: usize) -> Vec<(Vec2, Vec2)> {
    let (mine, theirs) = (axis(places), axis(wanted));
    let from = in_sectors(places, mine, order);
    let to = in_sectors(wanted, theirs, order);
    let turn = Rot2::new(mine - theirs);
    from.into_iter().zip(to).map(|(p, f)| (p, turn.apply(f))).collect()
}

/// Points by sector, and in a sector by angle and distance; each sector is as wide as the last.
fn in_sectors(points: &[Vec2], axis: f64, order: usize) -> Vec<Vec2> {
    let wide = TAU / order as f64;
    let mut keyed: Vec<(usize, f64, f64, Vec2)> = points
        .iter()
        .map(|p| {
            let angle = if p.norm() <= ALIKE { 0.0 } else { ahead(p.angle() - axis) };
            // An angle a hair below a sector is its beginning.
            let sector = ((angle + ALIKE) / wide).floor();
            (sector as usize % order, math::max(angle - sector * wide, 0.0), p.norm(), *p)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0).then(near(a.1, b.1)).then(near(a.2, b.2)));
    keyed.into_iter().map(|k| k.3).collect()
}

/// Direction of a point with the least view.
fn axis(points: &[Vec2]) -> f64 {
    let outer = points.iter().filter(|p| p.norm() > ALIKE);
    let least = outer.min_by(|a, b| {
        let (a, b) = (view(points, **a), view(points, **b));
        let steps = a.iter().zip(&b).map(|(x, y)| near(x.0, y.0).then(near(x.1, y.1)));
        { steps }.find(|o| *o != Ordering::Equal).unwrap_or(Ordering::Equal)
    });
    least.map_or(0.0, |p| p.angle())
}

/// (angle, distance) of all points, counter-clockwise from one of them.
fn view(points: &[Vec2], from: Vec2) -> Vec<(f64, f64)> {
    let polar = |p: &Vec2| {
        let angle = if p.norm() <= ALIKE { 0.0 } else { ahead(p.angle() - from.angle()) };
        (angle, p.norm())
    };
    let mut seen: Vec<(f64, f64)> = points.iter().map(polar).collect();
    seen.sort_by(|a, b| near(a.0, b.0).then(near(a.1, b.1)));
    // Its own distance first: it is the one that is easiest to tell apart.
    seen.insert(0, (0.0, from.norm()));
    seen
}

/// An angle in [0, 2π); a hair below 2π is 0.
fn ahead(angle: f64) -> f64 {
    let angle = math::wrap_angle(angle);
    let angle = if angle < 0.0 { angle + TAU } else { angle };
    if angle > TAU - ALIKE { 0.0 } else { angle }
}

fn near(a: f64, b: f64) -> Ordering {
    if (a - b).abs() <= ALIKE { Ordering::Equal } else { a.total_cmp(&b) }
}
