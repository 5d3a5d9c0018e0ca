//! Ground that slows robots down or swallows them: what it does from one edge to the next.
//!
//! In: the zones, and a motion. Out: when its centre comes to an edge of a zone next, and what counts until then. Between
//! two edges nothing changes, so the middle of the way says which side it is on: nothing depends on how an edge itself
//! is rounded. The edge belongs to no zone.

use super::{Zone, ZoneKind};
use swarmyard_base::{Vec2, math};
use swarmyard_part_api::Segment;

/// What the ground does to a robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ground {
    /// It lets it go as fast as this, as a share of what it would be.
    Firm(f64),
    /// It swallows it.
    Hole,
}

/// Nearer to an edge than this is on it, m.
const EDGE_M: f64 = 1e-9;

/// What the ground does at a point: a hole comes before any river, and of several rivers the first counts.
pub(super) fn at(zones: &[Zone], point: Vec2) -> Ground {
    let mut slow = None;
    for zone in zones.iter().filter(|z| z.holds(point) && !on_edge_of(z, point)) {
        match zone.kind {
            ZoneKind::Swallow => return Ground::Hole,
            ZoneKind::Slow(factor) => slow = slow.or(Some(factor)),
        }
    }
    Ground::Firm(slow.unwrap_or(1.0))
}

fn on_edge_of(zone: &Zone, point: Vec2) -> bool {
    zone.edges().any(|(a, b)| {
        let along = ((point - a).dot(b - a) / (b - a).norm2()).clamp(0.0, 1.0);
        (a + (b - a) * along - point).norm2() <= EDGE_M * EDGE_M
    })
}

/// What the ground does to a motion from its start on, and for how many seconds, if that changes before `end_s`.
pub(super) fn ahead(zones: &[Zone], segment: &Segment, end_s: f64) -> (Ground, Option<f64>) {
    if zones.is_empty() {
        return (Ground::Firm(1.0), None);
    }
    let border = next_border(zones, segment, end_s);
    // Where it meets no edge any more, a metre of the way is as good as all of it.
    let way_s = border.unwrap_or_else(|| math::min(end_s, 1.0 / segment.top_speed()));
    let middle = if way_s.is_finite() { 0.5 * way_s } else { 0.0 };
    (at(zones, segment.position_at(middle)), border)
}

/// When the centre comes to an edge of a zone next, in seconds, before `end_s`.
pub(super) fn next_border(zones: &[Zone], segment: &Segment, end_s: f64) -> Option<f64> {
    // The edge it is on does not count again; how exactly it is on it depends on where that is.
    let least_m = 2.0 * EDGE_M + 16.0 * f64::EPSILON * segment.pose.at.norm();
    let least_s = least_m / segment.top_speed();
    let mut first: Option<f64> = None;
    for (a, b) in zones.iter().flat_map(Zone::edges) {
        let found = if segment.is_straight() {
            straight_crossing(segment, (a, b), least_s)
        } else {
            bent_crossing(segment, (a, b), least_s)
        };
        if let Some(t) = found.filter(|t| *t < end_s && first.is_none_or(|f| *t < f)) {
            first = Some(t);
        }
    }
    first
}

fn straight_crossing(segment: &Segment, (a, b): (Vec2, Vec2), least_s: f64) -> Option<f64> {
    let (v, e) = (segment.velocity_with(segment.rot), b - a);
    let det = v.cross(e);
    if det == 0.0 {
        return None;
    }
    let from = a - segment.pose.at;
    let (t, u) = (from.cross(e) / det, from.cross(v) / det);
    (t > least_s && is_along(u, e)).then_some(t)
}

/// On a bend. With s = (2/ω) tan(ωt/2) the distance from the line of the edge is a quadratic in s over a positive
/// number; for ω → 0 it is that of the straight line, and nothing is lost on wide bends.
fn bent_crossing(segment: &Segment, (a, b): (Vec2, Vec2), least_s: f64) -> Option<f64> {
    let (v, e, spin) = (segment.velocity_with(segment.rot), b - a, segment.spin);
    let (c0, c1) = ((segment.pose.at - a).cross(e), v.cross(e));
    let c2 = 0.25 * c0 * spin * spin + 0.5 * v.perp().cross(e) * spin;
    let under_root = c1 * c1 - 4.0 * c2 * c0;
    // Who only touches the line stays on its side.
    if under_root <= 0.0 || under_root.is_nan() {
        return None;
    }
    let q = -0.5 * (c1 + under_root.sqrt().copysign(c1));
    let turn_s = std::f64::consts::TAU / spin.abs();
    let when = |s: f64| {
        let t = 2.0 / spin * math::atan2(0.5 * spin * s, 1.0);
        // After a full circle everything comes again.
        let t = if t > least_s { t } else { t + turn_s };
        let along = (segment.position_at(t) - a).dot(e) / e.norm2();
        is_along(along, e).then_some(t)
    };
    match (when(q / c2), when(c0 / q)) {
        (Some(one), Some(other)) => Some(math::min(one, other)),
        (one, other) => one.or(other),
    }
}

/// Whether a share of an edge is on it. Its ends as well, however they are rounded: an edge too many does no harm.
fn is_along(share: f64, e: Vec2) -> bool {
    let slack = EDGE_M / e.norm();
    (-slack..=1.0 + slack).contains(&share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::{Pose2, Twist2};

    fn zone(kind: ZoneKind, corners: &[[f64; 2]]) -> Zone {
        let points = corners.iter().map(|[x, y]| Vec2::new(*x, *y)).collect();
        Zone { path: String::new(), points, kind }
    }

    fn arc(pose: Pose2, speed: f64, spin: f64) -> Segment {
        Segment::arc(0.0, pose, pose.rot(), Twist2::new(speed, 0.0, spin))
    }

    #[test]
    fn from_an_edge_the_way_ahead_decides() {
        let hole = [zone(ZoneKind::Swallow, &[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])];
        for (at, heading) in [([0.0, 1.0], 0.0), ([1.0, 2.0], -1.5), ([2.0, 1.0], 3.0), ([1.0, 0.0], 1.0)] {
            let inward = Pose2::new(at[0], at[1], heading);
            let outward = Pose2::new(at[0], at[1], heading + std::f64::consts::PI);
            for spin in [0.0, 0.1, -0.1] {
                assert_eq!(ahead(&hole, &arc(inward, 1.0, spin), 5.0).0, Ground::Hole, "{at:?} {spin}");
                assert_eq!(ahead(&hole, &arc(outward, 1.0, spin), 5.0).0, Ground::Firm(1.0), "{at:?} {spin}");
            }
            // Turning there is not falling in.
            assert_eq!(ahead(&hole, &arc(inward, 0.0, 1.0), 5.0), (Ground::Firm(1.0), None));
        }
        // A bend that begins along the edge.
        let along = Pose2::new(1.0, 0.0, 0.0);
        assert_eq!(ahead(&hole, &arc(along, 1.0, 1.0), 1.0).0, Ground::Hole);
        assert_eq!(ahead(&hole, &arc(along, 1.0, -1.0), 1.0).0, Ground::Firm(1.0));
    }

    #[test]
    fn holes_come_before_rivers_and_of_rivers_the_first() {
        let wide =
            |kind, half: f64| zone(kind, &[[-half, -half], [half, -half], [half, half], [-half, half]]);
        let zones =
            [wide(ZoneKind::Slow(0.5), 3.0), wide(ZoneKind::Slow(0.25), 2.0), wide(ZoneKind::Swallow, 1.0)];
        assert_eq!(at(&zones, Vec2::new(0.5, 0.0)), Ground::Hole);
        assert_eq!(at(&zones, Vec2::new(1.5, 0.0)), Ground::Firm(0.5));
        assert_eq!(at(&zones, Vec2::new(3.0, 0.0)), Ground::Firm(1.0));
    }
}
