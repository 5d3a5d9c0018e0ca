//! Occupancy grids: how likely something stands in each cell of the floor, by what a robot's range
//! finders reported.
//!
//! In: echoes, each a cone or a ray with what came back. Out: odds for every cell, and one byte per cell
//! for displays. Each echo adds its evidence by Bayes' rule in log-odds, so their order does not matter.
//! Nothing here changes a run.
//!
//! The sensor's model is Murphy's form of Elfes' and Moravec's: before the echo the cone is free, on the
//! arc it is occupied, and both the less surely the farther away and the farther from the axis.

use std::f64::consts::PI;
use swarmyard_base::{Diagnostic, Vec2, math};

/// Most cells of a grid.
pub const MOST_CELLS: usize = 4_000_000;
/// No single echo makes surer than this, of something or of nothing.
const MOST_SURE: f64 = 0.98;

/// What came back to a range finder, in the frame of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Echo {
    /// Where it stands, in metres.
    pub origin: Vec2,
    /// Where it looks, in radians.
    pub direction: f64,
    /// Half of the opening angle of its cone in radians; 0 for a single ray.
    pub half_angle: f64,
    /// The distance it reported, in metres.
    pub range: f64,
    /// The greatest distance it can report, in metres.
    pub reach: f64,
    /// Whether there was something at `range`; otherwise it is free up to there.
    pub hit: bool,
}

/// How sure an echo makes about a place at a distance from the sensor and an angle from its axis, as the
/// probability of what it says: half when it says nothing. A ray has the opening 0, and no angle.
#[must_use]
pub fn sureness(distance: f64, angle: f64, reach: f64, half_angle: f64) -> f64 {
    let near = (reach - distance) / reach;
    let central = if half_angle > 0.0 { (half_angle - angle) / half_angle } else { 1.0 };
    (near + central) / 2.0
}

/// A rectangle of square cells with the log-odds that something is in each.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    min: Vec2,
    cell: f64,
    columns: usize,
    rows: usize,
    /// Row by row from the lower left.
    odds: Vec<f64>,
}

impl Grid {
    /// Cells of side `cell` that cover the rectangle from `min` to `max`; nothing is known of any.
    ///
    /// # Errors
    /// When the rectangle is empty or not finite, or there would be more than [`MOST_CELLS`].
    pub fn new(min: Vec2, max: Vec2, cell: f64) -> Result<Grid, Diagnostic> {
        let size = max - min;
        let sound = size.x > 0.0 && size.y > 0.0 && cell > 0.0;
        if !sound || ![min.x, min.y, size.x, size.y, cell].iter().all(|n| n.is_finite()) {
            let what = format!("a grid has a width, a height and cells, not `{size:?}` in cells of `{cell}`");
            return Err(Diagnostic::error("bad-grid", what));
        }
        // A hair less, so that a rectangle of whole cells does not get one more by rounding.
        let count = |length: f64| (length / cell - 1e-9).ceil().max(1.0);
        let (columns, rows) = (count(size.x), count(size.y));
        if columns * rows > MOST_CELLS as f64 {
            let what = format!("a grid has at most {MOST_CELLS} cells, not `{columns} × {rows}`");
            return Err(Diagnostic::error("bad-grid", what).help("take larger cells or a smaller rectangle"));
        }
        let (columns, rows) = (columns as usize, rows as usize);
        Ok(Grid { min, cell, columns, rows, odds: vec![0.0; columns * rows] })
    }

    /// The lower left corner.
    #[must_use]
    pub fn min(&self) -> Vec2 {
        self.min
    }

    /// Side of a cell in metres.
    #[must_use]
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// Cells from left to right, and from bottom to top.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.columns, self.rows)
    }

    /// The cell at a point, as column and row.
    #[must_use]
    pub fn cell_at(&self, point: Vec2) -> Option<(usize, usize)> {
        let at = (point - self.min) * (1.0 / self.cell);
        let inside = at.x >= 0.0 && at.y >= 0.0 && at.x < self.columns as f64 && at.y < self.rows as f64;
        inside.then_some((at.x as usize, at.y as usize))
    }

    /// The middle of a cell.
    #[must_use]
    pub fn middle(&self, (column, row): (usize, usize)) -> Vec2 {
        self.min + Vec2::new(column as f64 + 0.5, row as f64 + 0.5) * self.cell
    }

    /// How likely something is in a cell: half when nothing is known, or there is no such cell.
    #[must_use]
    pub fn probability(&self, cell: (usize, usize)) -> f64 {
        let odds = self.place(cell).map_or(0.0, |k| self.odds[k]);
        1.0 / (1.0 + math::exp(-odds))
    }

    /// One byte per cell, row by row from the lower left: 1 surely free, 128 unknown, 255 surely occupied.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let byte = |odds: &f64| (128.0 + 127.0 * (2.0 / (1.0 + math::exp(-odds)) - 1.0)).round() as u8;
        self.odds.iter().map(byte).collect()
    }

    /// Takes in that something is in a cell with this probability, by what was observed just now.
    pub fn observe(&mut self, cell: (usize, usize), probability: f64) {
        if let Some(k) = self.place(cell) {
            self.odds[k] += math::ln(probability / (1.0 - probability));
        }
    }

    /// Takes in an echo. One that is not finite, or has no reach, says nothing.
    pub fn add(&mut self, echo: &Echo) {
        let Echo { origin, direction, half_angle, range, reach, .. } = *echo;
        let numbers = [origin.x, origin.y, direction, half_angle, range, reach];
        if numbers.iter().any(|n| !n.is_finite()) || reach <= 0.0 || range < 0.0 || half_angle < 0.0 {
            return;
        }
        if half_angle > 0.0 { self.add_cone(echo) } else { self.add_ray(echo) }
    }

    /// Every cell whose middle is in the cone: on the arc when it is within a cell's side of it.
    fn add_cone(&mut self, echo: &Echo) {
        let far = echo.range + self.cell;
        let extent = Vec2::new(far, far);
        let (axis, widest) = (Vec2::at_angle(echo.direction), math::cos(echo.half_angle.min(PI)));
        let (low, high) = (self.nearest_cell(echo.origin - extent), self.nearest_cell(echo.origin + extent));
        for row in low.1..=high.1 {
            for column in low.0..=high.0 {
                let to = self.middle((column, row)) - echo.origin;
                let distance = to.norm();
                // Most cells of the square are outside, and a product tells that sooner than an angle.
                if distance > far || to.dot(axis) < distance * widest {
                    continue;
                }
                let angle = math::wrap_angle(to.angle() - echo.direction).abs();
                let sure = sureness(distance, angle, echo.reach, echo.half_angle);
                if distance < echo.range - self.cell {
                    self.clear((column, row), sure);
                } else if echo.hit {
                    self.fill((column, row), sure);
                }
            }
        }
    }

    /// Every cell the ray goes through, from side to side; occupied is the one it ends in.
    fn add_ray(&mut self, echo: &Echo) {
        let along = Vec2::at_angle(echo.direction);
        let end = self.cell_at(echo.origin + along * echo.range).filter(|_| echo.hit);
        let Some((mut from, until)) = self.clip(echo.origin, along, echo.range) else { return };
        let mut cell = self.nearest_cell(echo.origin + along * from);
        // At most one step per column and per row.
        for _ in 0..self.columns + self.rows {
            let leaves = |at: f64, step: f64, number: usize, min: f64| {
                let side = min + (number as f64 + if step > 0.0 { 1.0 } else { 0.0 }) * self.cell;
                if step == 0.0 { f64::INFINITY } else { (side - at) / step }
            };
            let x = leaves(echo.origin.x, along.x, cell.0, self.min.x);
            let y = leaves(echo.origin.y, along.y, cell.1, self.min.y);
            let to = x.min(y);
            if Some(cell) == end {
                break;
            }
            // A cell that is only touched is not gone through.
            if to.min(until) > from {
                let sure = sureness((from + to.min(until)) / 2.0, 0.0, echo.reach, 0.0);
                self.clear(cell, sure);
                from = to;
            }
            if to >= until {
                break;
            }
            let (axis, step) = if x <= y { (&mut cell.0, along.x) } else { (&mut cell.1, along.y) };
            let Some(next) = axis.checked_add_signed(if step > 0.0 { 1 } else { -1 }) else { break };
            *axis = next;
        }
        if let Some(cell) = end {
            self.fill(cell, sureness(echo.range, 0.0, echo.reach, 0.0));
        }
    }

    /// The piece of a ray that lies over the grid, as distances from its origin.
    fn clip(&self, origin: Vec2, along: Vec2, range: f64) -> Option<(f64, f64)> {
        let max = self.min + Vec2::new(self.columns as f64, self.rows as f64) * self.cell;
        let (mut from, mut until) = (0.0_f64, range);
        for (at, step, low, high) in
            [(origin.x, along.x, self.min.x, max.x), (origin.y, along.y, self.min.y, max.y)]
        {
            if step == 0.0 {
                if at < low || at > high {
                    return None;
                }
                continue;
            }
            let (a, b) = ((low - at) / step, (high - at) / step);
            from = from.max(a.min(b));
            until = until.min(a.max(b));
        }
        (from < until).then_some((from, until))
    }

    fn nearest_cell(&self, point: Vec2) -> (usize, usize) {
        let at = (point - self.min) * (1.0 / self.cell);
        // What is negative becomes 0.
        ((at.x as usize).min(self.columns - 1), (at.y as usize).min(self.rows - 1))
    }

    /// The cell is free, with this sureness.
    ///
    /// Why never less than half: at the rim of the cone the formula falls below, which would turn "I can
    /// hardly tell that it is free" into "it is occupied".
    fn clear(&mut self, cell: (usize, usize), sure: f64) {
        self.observe(cell, 1.0 - sure.clamp(0.5, MOST_SURE));
    }

    /// The cell is occupied, with this sureness.
    fn fill(&mut self, cell: (usize, usize), sure: f64) {
        self.observe(cell, (sure * MOST_SURE).clamp(0.5, MOST_SURE));
    }

    fn place(&self, (column, row): (usize, usize)) -> Option<usize> {
        (column < self.columns && row < self.rows).then(|| row * self.columns + column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 m by 12 m around the origin, in cells of half a metre whose middles are at quarters.
    fn field() -> Grid {
        Grid::new(Vec2::new(-6.0, -6.0), Vec2::new(6.0, 6.0), 0.5).unwrap()
    }

    fn near(a: f64, b: f64, by: f64) {
        assert!((a - b).abs() <= by, "{a} is not {b}");
    }

    const DEGREE: f64 = PI / 180.0;

    #[test]
    fn the_sonar_model_gives_murphys_numbers() {
        // Murphy's worked examples: R = 10, beta = 15 degrees, Max = 0.98.
        let occupied = sureness(6.0, 5.0 * DEGREE, 10.0, 15.0 * DEGREE) * MOST_SURE;
        near(occupied, 0.52, 0.005);
        near(1.0 - occupied, 0.48, 0.005);
        near(sureness(3.5, 0.0, 10.0, 15.0 * DEGREE), 0.825, 1e-9);
    }

    #[test]
    fn a_cone_puts_these_numbers_into_the_cells() {
        // A cell whose middle is 6 m ahead and 5 degrees aside, and one 3.5 m ahead on the axis.
        let at = |distance: f64, angle: f64| {
            let place = Vec2::at_angle(angle) * distance;
            let corner = place - Vec2::new(0.05, 0.05);
            let mut grid = Grid::new(corner, corner + Vec2::new(0.1, 0.1), 0.1).unwrap();
            let echo = Echo {
                origin: Vec2::new(0.0, 0.0),
                direction: 0.0,
                half_angle: 15.0 * DEGREE,
                range: 6.0,
                reach: 10.0,
                hit: true,
            };
            grid.add(&echo);
            grid.probability((0, 0))
        };
        near(at(6.0, 5.0 * DEGREE), 0.98 * (0.4 + 2.0 / 3.0) / 2.0, 1e-9);
        near(at(3.5, 0.0), 1.0 - 0.825, 1e-9);
        near(at(6.0, 16.0 * DEGREE), 0.5, 0.0);
        near(at(6.5, 0.0), 0.5, 0.0);
        // At the rim of the arc it says nothing, not the opposite.
        near(at(6.0, 14.0 * DEGREE), 0.5, 0.0);
    }

    #[test]
    fn evidence_adds_up_by_bayes_and_in_any_order() {
        let mut grid = field();
        for p in [0.8, 0.8, 0.8] {
            grid.observe((3, 4), p);
        }
        near(grid.probability((3, 4)), 0.984_615_385, 1e-9);
        grid.observe((3, 4), 0.3);
        near(grid.probability((3, 4)), 0.964_824_121, 1e-9);
        grid.observe((3, 4), 0.5);
        near(grid.probability((3, 4)), 0.964_824_121, 1e-9);
        grid.observe((7, 7), 0.5);
        assert_eq!(grid.probability((7, 7)), 0.5);

        let echo = |k: u32| Echo {
            origin: Vec2::new(0.1 * f64::from(k), -0.2),
            direction: 0.7 * f64::from(k),
            half_angle: if k.is_multiple_of(2) { 0.3 } else { 0.0 },
            range: 1.0 + 0.3 * f64::from(k),
            reach: 6.0,
            hit: !k.is_multiple_of(5),
        };
        let (mut one, mut other) = (field(), field());
        (0..12).for_each(|k| one.add(&echo(k)));
        (0..12).rev().for_each(|k| other.add(&echo(k)));
        assert!(one.odds.iter().zip(&other.odds).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(one.odds.iter().filter(|l| **l != 0.0).count() > 50, "the echoes say something");
    }

    #[test]
    fn a_ray_clears_the_cells_it_goes_through_and_fills_the_one_it_ends_in() {
        let echo = Echo {
            origin: Vec2::new(-0.75, 0.25),
            direction: 0.0,
            half_angle: 0.0,
            range: 2.0,
            reach: 4.0,
            hit: true,
        };
        let mut grid = field();
        grid.add(&echo);
        let row: Vec<f64> = (9..=16).map(|column| grid.probability((column, 12))).collect();
        assert!(row[0] == 0.5 && row[1..=4].iter().all(|p| *p < 0.35), "{row:?}");
        assert!(row[1..=4].is_sorted(), "the nearer, the surer: {row:?}");
        near(row[5], 0.98 * 0.75, 1e-9);
        assert_eq!(row[6..], [0.5, 0.5]);
        assert_eq!(grid.odds.iter().filter(|l| **l != 0.0).count(), 5);
        // Without a hit the last cell is free too.
        let mut grid = field();
        grid.add(&Echo { hit: false, ..echo });
        assert!(grid.probability((14, 12)) < 0.5);
        // One that begins on the side between two cells goes only through that ahead.
        let mut grid = field();
        grid.add(&Echo { origin: Vec2::new(0.0, 0.25), direction: PI, range: 0.75, ..echo });
        let row: Vec<f64> = (9..=12).map(|column| grid.probability((column, 12))).collect();
        assert!(row[0] == 0.5 && row[1] > 0.5 && row[2] < 0.5 && row[3] == 0.5, "{row:?}");
        // From outside, and far beyond, only what is over the grid is touched.
        let mut grid = field();
        grid.add(&Echo { origin: Vec2::new(-1e6, 0.25), range: 3e6, reach: 4e6, ..echo });
        assert_eq!(grid.odds.iter().filter(|l| **l != 0.0).count(), 24);
        let mut grid = field();
        grid.add(&Echo { origin: Vec2::new(-1e6, 9.0), range: 3e6, reach: 4e6, ..echo });
        grid.add(&Echo { range: f64::NAN, ..echo });
        grid.add(&Echo { reach: 0.0, ..echo });
        assert_eq!(grid, field());
    }

    #[test]
    fn every_ray_goes_from_cell_to_neighbouring_cell() {
        for k in 0..360 {
            let direction = f64::from(k) * DEGREE;
            let origin = Vec2::new(0.25, -0.25);
            let mut grid = field();
            grid.add(&Echo { origin, direction, half_angle: 0.0, range: 5.0, reach: 10.0, hit: true });
            let told: Vec<(usize, usize)> = (0..24)
                .flat_map(|row| (0..24).map(move |column| (column, row)))
                .filter(|cell| grid.probability(*cell) != 0.5)
                .collect();
            let end = grid.cell_at(origin + Vec2::at_angle(direction) * 5.0).unwrap();
            let start = grid.cell_at(origin).unwrap();
            let steps = start.0.abs_diff(end.0) + start.1.abs_diff(end.1);
            // Through a corner it may go in one step instead of two.
            assert!(told.len() <= steps + 1 && 2 * told.len() > steps, "{k}: {told:?}");
            assert!(grid.probability(end) > 0.5 && grid.probability(start) < 0.5, "{k}");
            let occupied = told.iter().filter(|cell| grid.probability(**cell) > 0.5).count();
            assert_eq!(occupied, 1, "{k}");
        }
    }

    #[test]
    fn bytes_say_free_unknown_and_occupied() {
        let mut grid = Grid::new(Vec2::new(0.0, 0.0), Vec2::new(0.3, 0.1), 0.1).unwrap();
        assert_eq!(grid.size(), (3, 1));
        for _ in 0..20 {
            grid.observe((0, 0), 0.02);
            grid.observe((2, 0), 0.98);
        }
        assert_eq!(grid.bytes(), [1, 128, 255]);
    }

    #[test]
    fn grids_that_cannot_be_are_refused_before_they_are_made() {
        let o = Vec2::new(0.0, 0.0);
        for (max, cell) in [
            (Vec2::new(1.0, 1.0), 0.0),
            (Vec2::new(1.0, 1.0), f64::NAN),
            (Vec2::new(-1.0, 1.0), 0.1),
            (Vec2::new(f64::INFINITY, 1.0), 0.1),
            (Vec2::new(2001.0, 2000.0), 1.0),
            (Vec2::new(1e300, 1e300), 1e-300),
        ] {
            assert_eq!(Grid::new(o, max, cell).unwrap_err().code, "bad-grid", "{max:?} {cell}");
        }
        assert_eq!(Grid::new(o, Vec2::new(2000.0, 2000.0), 1.0).unwrap().size(), (2000, 2000));
    }
}
