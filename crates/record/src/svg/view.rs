//! From metres to the page: scale, floor, grid, frame and words.

use crate::bodies::Bodies;
use std::fmt::Write as _;
use swarmyard_base::math;

/// Largest width and height of the floor on the page.
const FLOOR: f64 = 880.0;
/// Least of them, for long thin worlds.
const LEAST: f64 = 200.0;
const MARGIN: f64 = 40.0;
const TOP: f64 = 92.0;
const BOTTOM: f64 = 78.0;

/// Where things are on the page.
pub(super) struct View {
    min: [f64; 2],
    /// Width and height in metres.
    size: [f64; 2],
    /// Pixels per metre.
    pub(super) scale: f64,
    /// Width and height of the floor in pixels.
    floor: [f64; 2],
    width: f64,
}

impl View {
    /// Shows the world's bounds; or, when there are none or next to nothing happens in them, where
    /// the bodies were.
    pub(super) fn new(bodies: &Bodies, points: impl Iterator<Item = [f64; 2]>, reach: f64) -> View {
        let seen = bounding(points).map(|(min, max)| grown(min, max, reach));
        let edges = || bounding(bodies.edges.iter().flat_map(|e| [e.a, e.b]));
        let tracks = || bounding(bodies.tracks.iter().flat_map(|t| t.points.iter().copied()));
        let beacons = || bounding(bodies.beacons.iter().map(|b| [b.pose[0], b.pose[1]]));
        let bounds = bodies.bounds.map(|[min, max]| (min, max)).filter(|b| usable(*b));
        let (min, max) = match (bounds, seen) {
            (Some((min, max)), Some(seen)) if small(seen, (min, max)) => seen,
            (Some(bounds), _) => bounds,
            (None, Some(seen)) => [edges(), tracks(), beacons()].into_iter().flatten().fold(seen, joined),
            (None, None) => edges().or_else(tracks).unwrap_or(([-1.0, -1.0], [1.0, 1.0])),
        };
        let (min, max) = if usable((min, max)) { (min, max) } else { ([-1.0, -1.0], [1.0, 1.0]) };
        let size = [max[0] - min[0], max[1] - min[1]];
        let scale = FLOOR / math::max(size[0], size[1]);
        let floor = [math::max(size[0] * scale, LEAST), math::max(size[1] * scale, LEAST)];
        // A thin world stands in the middle of the least floor.
        let min = [0, 1].map(|k| min[k] - (floor[k] / scale - size[k]) / 2.0);
        View {
            min,
            size: floor.map(|f| f / scale),
            scale,
            floor,
            width: math::max(floor[0], 640.0) + 2.0 * MARGIN,
        }
    }

    /// A point on the page.
    pub(super) fn px(&self, p: [f64; 2]) -> (f64, f64) {
        let left = (self.width - self.floor[0]) / 2.0;
        let at = (
            left + (p[0] - self.min[0]) * self.scale,
            TOP + (self.min[1] + self.size[1] - p[1]) * self.scale,
        );
        // Far outside is as good as very far outside.
        (at.0.clamp(-1e5, 1e5), at.1.clamp(-1e5, 1e5))
    }

    /// A point on the page in tenths of a pixel.
    pub(super) fn tenths(&self, p: [f64; 2]) -> (i32, i32) {
        let (x, y) = self.px(p);
        ((x * 10.0).round() as i32, (y * 10.0).round() as i32)
    }

    /// A trail in tenths of a pixel, without steps too small to see.
    pub(super) fn polyline(&self, trail: &[[f32; 2]]) -> Vec<(i32, i32)> {
        let mut out: Vec<(i32, i32)> = Vec::with_capacity(trail.len());
        for p in trail {
            let at = self.tenths([f64::from(p[0]), f64::from(p[1])]);
            if out.last().is_none_or(|l| (l.0 - at.0).abs().max((l.1 - at.1).abs()) >= 6) {
                out.push(at);
            }
        }
        out
    }

    pub(super) fn open(&self, out: &mut String, title: &str) {
        let (w, h) = (self.width, self.floor[1] + TOP + BOTTOM);
        let _ = writeln!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0} {h:.0}" width="{w:.0}" height="{h:.0}" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif">"#
        );
        let _ = writeln!(out, "<title>{title}</title>");
        let _ = writeln!(out, r##"<rect width="100%" height="100%" fill="#f6f5f1"/>"##);
    }

    /// The floor with a faint grid.
    pub(super) fn floor(&self, out: &mut String) {
        let (x, y) = self.px([self.min[0], self.min[1] + self.size[1]]);
        let [w, h] = self.floor;
        let rect = format!(r#"<rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}""#);
        let _ = writeln!(out, r#"<clipPath id="floor">{rect}/></clipPath>"#);
        let _ = writeln!(out, r##"{rect} fill="#fff"/>"##);
        let step = nice(90.0 / self.scale);
        let lines = |k: usize| {
            let first = (self.min[k] / step).ceil();
            let count = (self.size[k] / step).floor().clamp(0.0, 100.0) as usize;
            (0..=count)
                .map(move |n| (first + n as f64) * step)
                .filter(move |v| *v <= self.min[k] + self.size[k])
        };
        let mut d = String::new();
        for v in lines(0) {
            let _ = write!(d, "M{:.1} {y:.1}v{h:.1}", self.px([v, 0.0]).0);
        }
        for v in lines(1) {
            let _ = write!(d, "M{x:.1} {:.1}h{w:.1}", self.px([0.0, v]).1);
        }
        let _ = writeln!(out, r##"<path d="{d}" stroke="#eceae3" stroke-width="1"/>"##);
    }

    pub(super) fn frame(&self, out: &mut String) {
        let (x, y) = self.px([self.min[0], self.min[1] + self.size[1]]);
        let [w, h] = self.floor;
        let _ = writeln!(
            out,
            r##"<rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" fill="none" stroke="#334155" stroke-width="1.6" rx="1.5"/>"##
        );
    }

    pub(super) fn heading(&self, out: &mut String, title: &str, line: &str) {
        let x = (self.width - math::max(self.floor[0], 640.0)) / 2.0;
        let _ = writeln!(
            out,
            r##"<text x="{x:.0}" y="46" font-size="24" font-weight="600" fill="#0f172a">{title}</text>"##
        );
        let _ = writeln!(out, r##"<text x="{x:.0}" y="72" font-size="14" fill="#64748b">{line}</text>"##);
    }

    /// A bar of so many metres below the floor, at the right.
    pub(super) fn scale_bar(&self, out: &mut String, metres: f64) {
        let w = metres * self.scale;
        let right = self.width - (self.width - math::max(self.floor[0], 640.0)) / 2.0;
        let (x, y) = (right - w, TOP + self.floor[1] + 26.0);
        let _ = writeln!(
            out,
            r##"<path d="M{x:.1} {:.1}v8M{x:.1} {y:.1}h{w:.1}m0 -4v8" stroke="#334155" stroke-width="1.6" fill="none"/>"##,
            y - 4.0
        );
        let text =
            if metres >= 1000.0 { format!("{} km", metres / 1000.0) } else { format!("{} m", short(metres)) };
        let _ = writeln!(
            out,
            r##"<text x="{:.1}" y="{:.1}" font-size="13" fill="#334155" text-anchor="middle">{text}</text>"##,
            x + w / 2.0,
            y + 20.0
        );
    }

    /// Marks and what they mean, below the floor, in one or two lines.
    pub(super) fn legend(&self, out: &mut String, entries: &[(String, String)]) {
        let left = (self.width - math::max(self.floor[0], 640.0)) / 2.0;
        let (mut x, mut y) = (left, TOP + self.floor[1] + 30.0);
        let right = self.width - left - 170.0;
        for (mark, text) in entries {
            // Letters are about seven pixels wide; the page is not measured.
            let width = 30.0 + 7.2 * text.replace("&amp;", "&").chars().count() as f64;
            if x > left && x + width > right {
                (x, y) = (left, y + 22.0);
            }
            let _ = writeln!(
                out,
                r##"<g transform="translate({x:.0} {:.0})">{mark}<text x="16" y="4.5" font-size="13" fill="#334155">{text}</text></g>"##,
                y - 4.0
            );
            x += width;
        }
    }
}

/// Adds a line to a path: an absolute start, then steps.
pub(super) fn path(d: &mut String, line: &[(i32, i32)]) {
    let [first, rest @ ..] = line else { return };
    if rest.is_empty() {
        return;
    }
    let _ = write!(d, "M{} {}l", first.0, first.1);
    let mut at = first;
    for (k, p) in rest.iter().enumerate() {
        let (dx, dy) = (p.0 - at.0, p.1 - at.1);
        // A minus separates numbers as well as a blank does.
        let _ = write!(
            d,
            "{}{dx}{}{dy}",
            if k > 0 && dx >= 0 { " " } else { "" },
            if dy >= 0 { " " } else { "" }
        );
        at = p;
    }
}

/// The largest of 1, 2, 5, 10, … (or a tenth, a fifth, …) that is not above `value`.
pub(super) fn nice(value: f64) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return 1.0;
    }
    let mut ten = 1.0_f64;
    while ten > value && ten > 1e-12 {
        ten /= 10.0;
    }
    while ten * 10.0 <= value {
        ten *= 10.0;
    }
    [5.0, 2.0, 1.0].into_iter().map(|k| k * ten).find(|v| *v <= value * (1.0 + 1e-9)).unwrap_or(ten)
}

/// Without the noise of binary fractions.
fn short(value: f64) -> String {
    format!("{value:.9}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

type Area = ([f64; 2], [f64; 2]);

fn bounding(points: impl Iterator<Item = [f64; 2]>) -> Option<Area> {
    points
        .filter(|p| p.iter().all(|v| v.is_finite()))
        .fold(None, |area, p| Some(area.map_or((p, p), |area| joined(area, (p, p)))))
}

fn joined(a: Area, b: Area) -> Area {
    (
        [math::min(a.0[0], b.0[0]), math::min(a.0[1], b.0[1])],
        [math::max(a.1[0], b.1[0]), math::max(a.1[1], b.1[1])],
    )
}

/// The area with a margin.
fn grown(min: [f64; 2], max: [f64; 2], reach: f64) -> Area {
    let margin = math::max(math::max(2.0 * reach, 0.04 * math::max(max[0] - min[0], max[1] - min[1])), 0.01);
    (min.map(|v| v - margin), max.map(|v| v + margin))
}

fn usable((min, max): Area) -> bool {
    let size = [max[0] - min[0], max[1] - min[1]];
    size.iter().all(|s| s.is_finite() && *s > 1e-6 && *s < 1e12)
}

/// Whether one area is so much smaller that it would be a spot in the other.
fn small(inner: Area, outer: Area) -> bool {
    (0..2).all(|k| inner.1[k] - inner.0[k] < 0.12 * (outer.1[k] - outer.0[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nice_lengths_are_one_two_or_five() {
        for (value, expected) in [(1.0, 1.0), (0.7, 0.5), (0.034, 0.02), (49.0, 20.0), (5.1, 5.0), (0.1, 0.1)]
        {
            assert!((nice(value) / expected - 1.0).abs() < 1e-9, "{value} gives {}", nice(value));
        }
        assert_eq!((nice(f64::NAN), nice(0.0)), (1.0, 1.0));
    }

    #[test]
    fn y_is_up() {
        let bodies = Bodies { bounds: Some([[0.0, 0.0], [2.0, 1.0]]), ..Bodies::default() };
        let view = View::new(&bodies, std::iter::empty(), 0.1);
        assert!(view.px([1.0, 1.0]).1 < view.px([1.0, 0.0]).1);
        assert!(view.px([2.0, 0.0]).0 > view.px([0.0, 0.0]).0);
    }
}
