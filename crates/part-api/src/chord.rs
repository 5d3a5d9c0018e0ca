//! What a straight line from one point to another crosses, and how much of it is inside of something solid.
//!
//! One rule for all: a line has its beginning and not its end, and so has an edge. So of lines one behind the other each crossing
//! counts once, and so does a corner.

use swarmyard_base::Vec2;

/// Where the line from `a` to `b` crosses the edge from `c` to `d`, as a share of the line; `None` also along it.
#[must_use]
pub fn crossing(a: Vec2, b: Vec2, c: Vec2, d: Vec2) -> Option<f64> {
    let (way, e, from) = (b - a, d - c, c - a);
    let det = way.cross(e);
    if det == 0.0 {
        return None;
    }
    let (t, u) = (from.cross(e) / det, from.cross(way) / det);
    ((0.0..1.0).contains(&t) && (0.0..1.0).contains(&u)).then_some(t)
}

/// How often the line from `a` to `b` crosses the edge of a disc, and the share of it that is inside.
#[must_use]
pub fn through_disc(a: Vec2, b: Vec2, centre: Vec2, radius: f64) -> (u32, f64) {
    let (way, from) = (b - a, a - centre);
    let (qa, qb, qc) = (way.norm2(), from.dot(way), from.norm2() - radius * radius);
    let d = qb * qb - qa * qc;
    if qa == 0.0 || d <= 0.0 {
        return (0, 0.0);
    }
    let (near, far) = ((-qb - d.sqrt()) / qa, (-qb + d.sqrt()) / qa);
    let edges = [near, far].iter().filter(|t| (0.0..1.0).contains(*t)).count() as u32;
    (edges, far.clamp(0.0, 1.0) - near.clamp(0.0, 1.0))
}

/// The same for a polygon, by its edges.
#[must_use]
pub fn through_polygon(a: Vec2, b: Vec2, edges: impl Iterator<Item = (Vec2, Vec2)> + Clone) -> (u32, f64) {
    let mut cuts: Vec<f64> = edges.clone().filter_map(|(c, d)| crossing(a, b, c, d)).collect();
    let crossed = cuts.len() as u32;
    cuts.extend([0.0, 1.0]);
    cuts.sort_by(f64::total_cmp);
    let middle = |pair: &[f64]| a + (b - a) * (0.5 * (pair[0] + pair[1]));
    let inside = cuts.windows(2).filter(|pair| holds(edges.clone(), middle(pair)));
    (crossed, inside.map(|pair| pair[1] - pair[0]).sum())
}

/// The edges of a polygon, by its corners.
pub fn edges_of(corners: &[Vec2]) -> impl Iterator<Item = (Vec2, Vec2)> + Clone {
    corners.iter().copied().zip(corners.iter().copied().cycle().skip(1))
}

/// Whether a point is inside of a polygon (even–odd rule).
pub fn holds(edges: impl Iterator<Item = (Vec2, Vec2)>, p: Vec2) -> bool {
    let right = |(c, d): &(Vec2, Vec2)| {
        (c.y > p.y) != (d.y > p.y) && p.x < (d.x - c.x) * (p.y - c.y) / (d.y - c.y) + c.x
    };
    edges.filter(right).count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(x: f64, y: f64) -> Vec2 {
        Vec2 { x, y }
    }

    #[test]
    fn of_lines_one_behind_the_other_each_crossing_counts_once() {
        let square = [v(0.0, 0.0), v(2.0, 0.0), v(2.0, 2.0), v(0.0, 2.0)];
        // They meet on the border of a disc of radius 1 about (1, 1), and on an edge of the square.
        for middle in [v(0.0, 1.0), v(2.0, 1.0), v(1.0, 1.0), v(-1.0, 1.0)] {
            let (a, b) = (v(-3.0, 1.0), v(5.0, 1.0));
            for through in [
                |a, b| through_disc(a, b, v(1.0, 1.0), 1.0),
                |a, b| through_polygon(a, b, edges_of(&[v(0.0, 0.0), v(2.0, 0.0), v(2.0, 2.0), v(0.0, 2.0)])),
            ] {
                let (first, second) = (through(a, middle), through(middle, b));
                assert_eq!(first.0 + second.0, 2, "{middle:?}");
                let inside = first.1 * (middle - a).norm() + second.1 * (b - middle).norm();
                assert!((inside - 2.0).abs() < 1e-12, "{middle:?}: {inside}");
            }
        }
        // Through two corners of the square.
        assert_eq!(through_polygon(v(-1.0, -1.0), v(4.0, 4.0), edges_of(&square)).0, 2);
        assert!(holds(edges_of(&square), v(1.0, 1.0)) && !holds(edges_of(&square), v(3.0, 1.0)));
    }
}
