//! Outlines, points and heights: what a sheet cannot say about them.

use super::Meaning;
use crate::tree::{Data, Tree, shortened};
use swarmyard_base::{Diagnostic, Vec2, math};
use swarmyard_part_api::Outline;
use swarmyard_part_api::structure::SHAPE_KEYS;
use swarmyard_scene::Params;

/// Most corners of a fixed obstacle: the test for crossing sides is quadratic.
const MAX_FIXED_CORNERS: usize = 256;

impl Meaning<'_, '_> {
    /// Checks the outline of a body and gives the radius of the circle around it.
    pub(super) fn shape(&mut self, table: &Tree, params: &Params, path: &str, moves: bool) -> Option<f64> {
        let entries = table.table().unwrap_or_default();
        let mut given = entries.iter().filter(|(k, _)| SHAPE_KEYS.contains(&k.text.as_str()));
        let Some((first, value)) = given.next() else {
            let d =
                Diagnostic::error("missing-key", "a body needs one of the keys `radius`, `size`, `polygon`");
            self.context.report(d.at(Some(table.span)).on(path));
            return None;
        };
        for (key, _) in given {
            self.unused(path, key, &format!("`{}` says already which outline it is", first.text));
        }
        self.colour(table, params, path);
        match first.text.as_str() {
            "radius" => params.num_or_none("radius"),
            "size" => {
                let &[length, width] = params.nums_or_none("size")? else { return None };
                if length > 0.0 && width > 0.0 {
                    return Some(math::hypot(length, width) / 2.0);
                }
                let what = format!("`size` is out of range: `[{length}, {width}]`");
                let d = Diagnostic::error("out-of-range", what).at(Some(value.span)).on(path);
                self.context.report(d.help("both must be greater than 0"));
                None
            }
            _ => self.polygon(table, value, params, path, moves),
        }
    }

    fn polygon(
        &mut self,
        table: &Tree,
        value: &Tree,
        params: &Params,
        path: &str,
        moves: bool,
    ) -> Option<f64> {
        let points = params.points_or_none("polygon").filter(|p| p.len() >= 3)?;
        if !self.distinct_points(table, "polygon", params, true, path) {
            return None;
        }
        let checked = if moves { Outline::polygon(points).map(|_| ()) } else { simple(points) };
        if let Err(why) = checked {
            let d = Diagnostic::error("bad-outline", format!("`polygon` cannot be used: {why}"));
            self.context.report(d.at(Some(value.span)).on(path));
            return None;
        }
        Some(points.iter().map(|p| p.norm()).fold(0.0, math::max))
    }

    /// Checks that no point repeats the one before it (nor, in a ring, the last the first).
    pub(super) fn distinct_points(
        &mut self,
        table: &Tree,
        key: &str,
        params: &Params,
        ring: bool,
        path: &str,
    ) -> bool {
        let Some(points) = params.points_or_none(key) else { return true };
        let Some(value) = table.get(key) else { return true };
        let n = points.len();
        let mut good = true;
        for k in 0..n {
            let repeats = (k > 0 && points[k] == points[k - 1])
                || (ring && k + 1 == n && n > 2 && points[k] == points[0]);
            if !repeats {
                continue;
            }
            good = false;
            let span = if let Data::Array(items) = &value.data { items.get(k).map(|t| t.span) } else { None };
            let what = format!("`{key}` repeats a neighbouring point: `[{}, {}]`", points[k].x, points[k].y);
            let d = Diagnostic::error("degenerate", what).at(span.or(Some(value.span))).on(path);
            self.context.report(d.help("take one of the two out"));
        }
        good
    }

    /// Checks that three or more points enclose something.
    pub(super) fn area(&mut self, params: &Params, path: &str, help: &str) {
        let Some(points) = params.points_or_none("points").filter(|p| p.len() > 2) else { return };
        if !has_area(points) {
            let d = Diagnostic::error("bad-outline", "`points` cannot be used: they enclose no area");
            self.context.report(d.at(params.span("points")).on(path).help(help));
        }
    }

    /// Checks that a thing ends above where it begins.
    pub(super) fn heights(&mut self, table: &Tree, params: &Params, path: &str) {
        let (Some(from), Some(to)) = (params.num_or_none("from"), params.num_or_none("to")) else { return };
        if from < to {
            return;
        }
        let value = table.get("to").or_else(|| table.get("from"));
        let what = format!("it has no height: it is from `{from}` to `{to}`");
        let d = Diagnostic::error("degenerate", what).at(value.map(|v| v.span)).on(path);
        self.context.report(d.help("`to` must be above `from`"));
    }

    fn colour(&mut self, table: &Tree, params: &Params, path: &str) {
        let Some(colour) = params.text_or_none("colour") else { return };
        let hex =
            colour.strip_prefix('#').filter(|h| h.len() == 6 && h.bytes().all(|b| b.is_ascii_hexdigit()));
        if hex.is_none() {
            let d = Diagnostic::error("bad-colour", format!("not a colour: `{}`", shortened(colour)));
            let span = table.get("colour").map(|t| t.span);
            self.context.report(d.at(span).on(path).help("write it as `#rrggbb`, such as `#ff8800`"));
        }
    }
}

/// Whether a ring of points encloses an area without crossing itself.
fn simple(points: &[Vec2]) -> Result<(), String> {
    let n = points.len();
    if n > MAX_FIXED_CORNERS {
        return Err(format!("it may have at most `{MAX_FIXED_CORNERS}` corners, not `{n}`"));
    }
    if !has_area(points) {
        return Err("it has no area".into());
    }
    for i in 0..n {
        for j in i + 1..n {
            let neighbours = j == i + 1 || (i == 0 && j == n - 1);
            let (a, b, c, d) = (points[i], points[(i + 1) % n], points[j], points[(j + 1) % n]);
            if !neighbours && cross(a, b, c, d) {
                return Err(format!("side {} crosses side {}", i + 1, j + 1));
            }
        }
    }
    Ok(())
}

fn has_area(points: &[Vec2]) -> bool {
    let n = points.len();
    let area = (0..n).map(|k| points[k].cross(points[(k + 1) % n])).sum::<f64>() / 2.0;
    area.is_finite() && area.abs() > 1e-12
}

/// Whether two segments have a point in common.
fn cross(a: Vec2, b: Vec2, c: Vec2, d: Vec2) -> bool {
    let side = |p: Vec2, q: Vec2, r: Vec2| {
        let s = (q - p).cross(r - p);
        if s > 0.0 { 1 } else { -i32::from(s < 0.0) }
    };
    let within = |p: Vec2, q: Vec2, r: Vec2| {
        r.x >= math::min(p.x, q.x)
            && r.x <= math::max(p.x, q.x)
            && r.y >= math::min(p.y, q.y)
            && r.y <= math::max(p.y, q.y)
    };
    let (o1, o2, o3, o4) = (side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b));
    (o1 != o2 && o3 != o4)
        || (o1 == 0 && within(a, b, c))
        || (o2 == 0 && within(a, b, d))
        || (o3 == 0 && within(c, d, a))
        || (o4 == 0 && within(c, d, b))
}
