//! Where there is room: circles and wall segments in a grid of several cell sizes.
//!
//! An item lies in the grid whose cells are just bigger than the item, so a world may hold grains
//! and houses. Whether a circle fits depends only on the set of items, never on their order.

use std::collections::BTreeMap;
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// What takes room.
#[derive(Clone, Copy)]
enum Item {
    Disc { centre: Vec2, radius: f64 },
    Wall { from: Vec2, to: Vec2 },
}

struct Level {
    cell: f64,
    cells: BTreeMap<(i64, i64), Vec<u32>>,
    items: Vec<u32>,
}

/// The room that is left.
#[derive(Default)]
pub(super) struct Room {
    items: Vec<Item>,
    levels: Vec<Level>,
    bounds: Option<(Vec2, Vec2)>,
}

impl Room {
    /// Everywhere, or inside a border.
    pub(super) fn new(bounds: Option<(Vec2, Vec2)>) -> Room {
        Room { bounds, ..Room::default() }
    }

    pub(super) fn add_disc(&mut self, centre: Vec2, radius: f64) {
        self.add(Item::Disc { centre, radius }, centre, radius);
    }

    pub(super) fn add_wall(&mut self, from: Vec2, to: Vec2) {
        let middle = Vec2::new(from.x / 2.0 + to.x / 2.0, from.y / 2.0 + to.y / 2.0);
        self.add(Item::Wall { from, to }, middle, (to - from).norm() / 2.0);
    }

    fn add(&mut self, item: Item, centre: Vec2, radius: f64) {
        let mut cell = 1.0 / 1024.0;
        while cell < 2.0 * radius {
            cell *= 2.0;
        }
        let number = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.items.push(item);
        let at = self.levels.iter().position(|l| l.cell == cell).unwrap_or_else(|| {
            self.levels.push(Level { cell, cells: BTreeMap::new(), items: Vec::new() });
            self.levels.len() - 1
        });
        let level = &mut self.levels[at];
        level.items.push(number);
        level.cells.entry((floor(centre.x / cell), floor(centre.y / cell))).or_default().push(number);
    }

    /// Whether a circle keeps `gap` from everything.
    pub(super) fn fits(&self, centre: Vec2, radius: f64, gap: f64) -> bool {
        let need = radius + gap;
        if let Some((min, max)) = self.bounds {
            let inside = centre.x - need >= min.x && centre.x + need <= max.x;
            if !inside || centre.y - need < min.y || centre.y + need > max.y {
                return false;
            }
        }
        self.levels.iter().all(|level| self.fits_level(level, centre, need))
    }

    fn fits_level(&self, level: &Level, centre: Vec2, need: f64) -> bool {
        let free =
            |number: &u32| self.items.get(*number as usize).is_none_or(|item| item.clear_of(centre, need));
        // An item's centre is at most this far away if it is in the way.
        let reach = need + level.cell / 2.0;
        let range = |x: f64| (floor((x - reach) / level.cell), floor((x + reach) / level.cell));
        let ((x0, x1), (y0, y1)) = (range(centre.x), range(centre.y));
        let cells = (x1 as f64 - x0 as f64 + 1.0) * (y1 as f64 - y0 as f64 + 1.0);
        if cells > level.items.len() as f64 {
            return level.items.iter().all(free);
        }
        (x0..=x1).all(|x| {
            let mut column = level.cells.range((x, y0)..=(x, y1));
            column.all(|(_, numbers)| numbers.iter().all(free))
        })
    }
}

impl Item {
    fn clear_of(self, point: Vec2, distance: f64) -> bool {
        match self {
            Item::Disc { centre, radius } => (centre - point).norm() >= radius + distance,
            Item::Wall { from, to } => {
                let along = to - from;
                let t =
                    ((point - from).dot(along) / math::max(along.norm2(), f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                (from + along * t - point).norm() >= distance
            }
        }
    }
}

fn floor(x: f64) -> i64 {
    x.floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discs_walls_and_the_border_take_room() {
        let mut room = Room::new(Some((Vec2::new(-10.0, -10.0), Vec2::new(10.0, 10.0))));
        room.add_disc(Vec2::new(0.0, 0.0), 3.0);
        room.add_disc(Vec2::new(5.0, 0.0), 0.001);
        room.add_wall(Vec2::new(-9.0, 6.0), Vec2::new(9.0, 6.0));
        let fits = |x: f64, y: f64| room.fits(Vec2::new(x, y), 0.5, 0.1);
        assert!(fits(0.0, 3.7) && !fits(0.0, 3.5));
        assert!(fits(5.0, 0.7) && !fits(5.0, 0.5));
        assert!(fits(8.0, 5.3) && !fits(8.0, 5.5) && !fits(8.0, 6.5));
        assert!(fits(9.3, 9.3) && !fits(9.5, 0.0) && !fits(0.0, -9.5));
    }

    #[test]
    fn absurd_numbers_do_no_harm() {
        let mut room = Room::new(None);
        room.add_wall(Vec2::new(-1e308, 0.0), Vec2::new(1e308, 0.0));
        room.add_disc(Vec2::new(1e300, -1e300), 1e-4);
        let _ = room.fits(Vec2::new(1e300, 5.0), 1e5, 1e300);
        let _ = room.fits(Vec2::new(0.0, 5.0), 1e5, 0.0);
    }
}
