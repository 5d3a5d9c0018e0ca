//! Who is charged with which part of the plane.
//!
//! The plane is halved again and again, each time so that both sides have work in proportion to their
//! workers. Every point belongs to exactly one worker, also far outside.

use crate::area::Area;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// Along which axis to halve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Across the longer side of what is there: short borders.
    #[default]
    Tree,
    /// Into columns side by side.
    Columns,
    /// Into rows one above the other.
    Rows,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Node {
    /// Below `at` along x (or y) the first, else the second.
    Halved {
        along_x: bool,
        at: f64,
        below: u32,
        above: u32,
    },
    Worker(u32),
}

/// The plane, divided among workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// The first is the root.
    nodes: Vec<Node>,
    workers: u32,
    /// Bodies that stay with a worker wherever they go: (number, worker).
    pins: BTreeMap<u32, u32>,
}

impl Cut {
    /// Divides the plane so that every worker has about the same share of the weight.
    ///
    /// `places` are positions with weights, not negative. The result depends on them as a set of places in
    /// their order, and on nothing else.
    ///
    /// # Panics
    /// When there are no workers.
    #[must_use]
    pub fn even(places: &[(Vec2, f64)], workers: u32, how: How) -> Cut {
        Cut::beside(places, &vec![0.0; workers as usize], how)
    }

    /// The same for workers that have something to do already: so much weight each, wherever in the plane that is.
    ///
    /// # Panics
    /// When there are no workers.
    #[must_use]
    pub fn beside(places: &[(Vec2, f64)], burdens: &[f64], how: How) -> Cut {
        assert!(!burdens.is_empty(), "somebody must do the work");
        let workers = burdens.len() as u32;
        let mut cut = Cut { nodes: Vec::new(), workers, pins: BTreeMap::new() };
        let mut places = places.to_vec();
        cut.halve(&mut places, burdens, 0, how);
        cut
    }

    /// The same cut, with these bodies staying with a worker wherever they go: (number, worker). Such a
    /// worker has to know the whole plane.
    #[must_use]
    pub fn pinned(mut self, pins: impl IntoIterator<Item = (u32, u32)>) -> Cut {
        self.pins.extend(pins.into_iter().filter(|p| p.1 < self.workers));
        self
    }

    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// Divides places among as many workers as there are burdens, from this one on.
    fn halve(&mut self, places: &mut [(Vec2, f64)], burdens: &[f64], start: u32, how: How) -> u32 {
        let here = self.nodes.len() as u32;
        self.nodes.push(Node::Worker(start));
        if burdens.len() == 1 {
            return here;
        }
        let along_x = match how {
            How::Columns => true,
            How::Rows => false,
            How::Tree => is_wide(places),
        };
        let along = |p: &(Vec2, f64)| if along_x { p.0.x } else { p.0.y };
        places.sort_by(|a, b| along(a).total_cmp(&along(b)));
        let (first_half, second_half) = burdens.split_at(burdens.len() / 2);
        let share = first_half.len() as f64 / burdens.len() as f64;
        let all = places.iter().map(|p| p.1).sum::<f64>() + burdens.iter().sum::<f64>();
        let wanted = math::max(all * share - first_half.iter().sum::<f64>(), 0.0);
        let mut sum = 0.0;
        let mut first = places.iter().take_while(|p| {
            sum += p.1;
            sum <= wanted
        });
        let count = first.by_ref().count().min(places.len().saturating_sub(1));
        let at = match (count.checked_sub(1).map(|k| along(&places[k])), places.get(count).map(along)) {
            (Some(a), Some(b)) => a + (b - a) / 2.0,
            (None, Some(b)) => b,
            _ => 0.0,
        };
        let (low, high) = places.split_at_mut(count);
        let below = self.halve(low, first_half, start, how);
        let above = self.halve(high, second_half, start + first_half.len() as u32, how);
        self.nodes[here as usize] = Node::Halved { along_x, at, below, above };
        here
    }

    /// Who is charged with a body that is at a point.
    #[must_use]
    pub fn owner(&self, body: u32, p: Vec2) -> u32 {
        self.pins.get(&body).copied().unwrap_or_else(|| self.at(p))
    }

    /// What each worker has to do with these bodies: (number, place, weight).
    #[must_use]
    pub fn loads(&self, bodies: impl IntoIterator<Item = (u32, Vec2, f64)>) -> Vec<f64> {
        let mut loads = vec![0.0; self.workers as usize];
        for (body, at, weight) in bodies {
            loads[self.owner(body, at) as usize] += weight;
        }
        loads
    }

    /// Who is charged with a point.
    fn at(&self, p: Vec2) -> u32 {
        let mut node = 0;
        loop {
            match self.nodes[node as usize] {
                Node::Worker(worker) => return worker,
                Node::Halved { along_x, at, below, above } => {
                    node = if (if along_x { p.x } else { p.y }) < at { below } else { above };
                }
            }
        }
    }

    /// The part of the plane around which each worker must know everybody.
    #[must_use]
    pub fn regions(&self) -> Vec<Area> {
        let mut regions = vec![Area::EVERYWHERE; self.workers as usize];
        let mut open = vec![(0_u32, Area::EVERYWHERE)];
        while let Some((node, area)) = open.pop() {
            match self.nodes[node as usize] {
                Node::Worker(worker) => regions[worker as usize] = area,
                Node::Halved { along_x, at, below, above } => {
                    let (mut low, mut high) = (area, area);
                    if along_x {
                        (low.max.x, high.min.x) = (at, at);
                    } else {
                        (low.max.y, high.min.y) = (at, at);
                    }
                    open.extend([(below, low), (above, high)]);
                }
            }
        }
        for worker in self.pins.values() {
            regions[*worker as usize] = Area::EVERYWHERE;
        }
        regions
    }

    /// Whether it came from somewhere it should not have: nodes that are not there, or go in circles.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let later = |from: usize, to: u32| (to as usize) > from && (to as usize) < self.nodes.len();
        let sound = |(k, node): (usize, &Node)| match *node {
            Node::Worker(worker) => worker < self.workers,
            Node::Halved { below, above, .. } => later(k, below) && later(k, above),
        };
        !self.nodes.is_empty()
            && self.pins.values().all(|w| *w < self.workers)
            && self.nodes.iter().enumerate().all(sound)
    }
}

/// Whether places spread farther along x than along y.
fn is_wide(places: &[(Vec2, f64)]) -> bool {
    let spread = |along: fn(&Vec2) -> f64| {
        let all = places.iter().map(|p| along(&p.0));
        let (min, max) =
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (math::min(a, x), math::max(b, x)));
        max - min
    };
    spread(|p| p.x) >= spread(|p| p.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd(n: usize) -> Vec<(Vec2, f64)> {
        (0..n).map(|k| (Vec2::new((k * 37 % n) as f64, (k * 11 % n) as f64 * 0.5), 1.0)).collect()
    }

    #[test]
    fn every_worker_gets_about_its_share_whatever_the_way() {
        let places = crowd(1000);
        for how in [How::Tree, How::Columns, How::Rows] {
            for workers in [1, 2, 3, 5, 8] {
                let cut = Cut::even(&places, workers, how);
                let mut counts = vec![0_usize; workers as usize];
                for p in &places {
                    counts[cut.at(p.0) as usize] += 1;
                }
                let fair = 1000 / workers as usize;
                assert!(counts.iter().all(|&c| c.abs_diff(fair) <= fair / 5 + 2), "{how:?} {counts:?}");
                assert!(cut.is_sound());
            }
        }
    }

    #[test]
    fn a_region_holds_exactly_the_points_of_its_worker() {
        let cut = Cut::even(&crowd(100), 5, How::Tree);
        let regions = cut.regions();
        for k in 0..2000 {
            let p = Vec2::new(f64::from(k * 7 % 400) - 150.0, f64::from(k * 13 % 300) - 120.0);
            assert!(regions[cut.at(p) as usize].contains(p));
        }
    }

    #[test]
    fn who_has_something_to_do_already_gets_less_of_the_plane() {
        let places = crowd(900);
        for how in [How::Tree, How::Columns, How::Rows] {
            let cut = Cut::beside(&places, &[200.0, 0.0, 100.0, 1000.0], how);
            let mut counts = [0_usize; 4];
            for p in &places {
                counts[cut.at(p.0) as usize] += 1;
            }
            // The last has more than its share: the plane is for the others, as far as halving goes.
            assert!(counts[3] <= 2, "{how:?} {counts:?}");
            let cut = Cut::beside(&places, &[200.0, 0.0, 100.0], how);
            let loads = cut.loads((0..).zip(&places).map(|(k, p)| (k, p.0, p.1)));
            let all: Vec<f64> = loads.iter().zip([200.0, 0.0, 100.0]).map(|(own, more)| own + more).collect();
            assert!(all.iter().all(|load| (load - 400.0).abs() < 20.0), "{how:?} {all:?}");
        }
    }

    #[test]
    fn places_all_at_one_point_do_not_hang_it() {
        let cut = Cut::even(&[(Vec2::ZERO, 1.0); 10], 3, How::Tree);
        assert!(cut.at(Vec2::ZERO) < 3);
        assert_eq!(Cut::even(&[], 4, How::Rows).regions().len(), 4);
    }
}
