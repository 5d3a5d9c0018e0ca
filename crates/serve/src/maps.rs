//! The maps that robots make with their range finders, for displays that want to see one.
//!
//! A map begins when somebody wants it and is forgotten when nobody does: nothing is reckoned for nobody.

use crate::frame::{self, Grid, Head};
use crate::hub::Hub;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_base::Vec2;
use swarmyard_sim::{Mapper, Sim, occupancy};

/// Time between two messages with a map: they are long.
const EVERY: Duration = Duration::from_millis(250);
/// Cells along the longer side, at most.
const CELLS: f64 = 500.0;
/// No cell is smaller than this, in metres.
const LEAST_CELL: f64 = 0.02;
/// How far around a robot its map reaches in a world without bounds, in metres.
const AROUND: f64 = 10.0;
/// Most maps at once.
const MOST: usize = 8;

/// The maps that somebody wants.
#[derive(Default)]
pub(crate) struct Maps {
    mappers: BTreeMap<String, Mapper>,
    made: BTreeMap<String, Arc<Grid>>,
    last: Option<Instant>,
}

impl Maps {
    /// Forgets everything: another run begins.
    pub(crate) fn forget(&mut self) {
        *self = Maps::default();
    }

    /// Begins maps that are wanted, and forgets those that are not.
    pub(crate) fn want(&mut self, hub: &Hub, sim: &Sim) {
        let wanted: Vec<&String> = hub.all().flat_map(|c| &c.wishes.grid).collect();
        self.mappers.retain(|robot, _| wanted.contains(&robot));
        self.made.retain(|robot, _| wanted.contains(&robot));
        for robot in wanted {
            if !self.mappers.contains_key(robot)
                && self.mappers.len() < MOST
                && let Some(mapper) = begin(sim, robot)
            {
                self.mappers.insert(robot.clone(), mapper);
            }
        }
    }

    /// Takes in what was measured in a step.
    pub(crate) fn look(&mut self, sim: &Sim) {
        for mapper in self.mappers.values_mut() {
            mapper.look(sim);
        }
    }

    /// The maps as messages; made anew now and then.
    pub(crate) fn grids(&mut self, sim: &Sim, head: Head) -> BTreeMap<String, Arc<Grid>> {
        let is_old = self.last.is_none_or(|last| last.elapsed() >= EVERY);
        if is_old && !self.mappers.is_empty() {
            self.last = Some(Instant::now());
            for (robot, mapper) in &self.mappers {
                let Some(slot) = sim.model().slot_of_path(robot) else { continue };
                let grid = mapper.grid();
                let made = Grid {
                    head,
                    body: slot as u32,
                    x: frame::length(grid.min().x),
                    y: frame::length(grid.min().y),
                    cell: frame::length(grid.cell()),
                    columns: grid.size().0 as u32,
                    cells: grid.bytes(),
                };
                self.made.insert(robot.clone(), Arc::new(made));
            }
        }
        self.made.clone()
    }
}

fn begin(sim: &Sim, robot: &str) -> Option<Mapper> {
    let at = sim.pose(robot)?.at;
    let around = (at - Vec2::new(AROUND, AROUND), at + Vec2::new(AROUND, AROUND));
    let (min, max) = sim.model().bounds.unwrap_or(around);
    let side = (max.x - min.x).max(max.y - min.y);
    // A whole number of the units that displays are told: cells stay where they are.
    let cell = ((side / CELLS).max(LEAST_CELL) * frame::PER_METRE).ceil() / frame::PER_METRE;
    let grid = occupancy::Grid::new(min, max, cell).ok()?;
    Mapper::new(sim, robot, grid).ok()
}
