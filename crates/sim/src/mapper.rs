//! A map that one robot makes with its range finders, whatever they are.
//!
//! In: the run, after every step. Out: an occupancy [`Grid`].
//!
//! It is read from what parts draw: an arc of the channel `range` is a cone with something on the arc, a
//! line of two points is a ray. So a range finder that shows itself is understood, the simulator's own
//! or one from outside. The map is made with true poses: it shows what the sensors tell, not what a
//! robot could know.

use crate::occupancy::{Echo, Grid};
use crate::sim::{Error, Sim};
use swarmyard_base::{Diagnostic, Pose2};
use swarmyard_engine::PartKind;
use swarmyard_part_api::{Mark, MarkShape};

/// Something nearer than the greatest distance by this share of it counts as hit, where a part does not
/// say what it hit.
const SHORT: f64 = 1e-6;

/// A robot's map, as far as it has come.
pub struct Mapper {
    robot: String,
    grid: Grid,
    last: Option<Last>,
}

/// The last stop that was seen: readings after a step are those of its start.
struct Last {
    stop: u64,
    pose: Pose2,
    /// Parts that take a reading there.
    due: Vec<usize>,
}

impl Mapper {
    /// Begins a map of a robot, by path, on an empty grid.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn new(sim: &Sim, robot: &str, grid: Grid) -> Result<Mapper, Error> {
        if sim.pose(robot).is_none() {
            let d = Diagnostic::error("unknown-path", format!("there is nothing that moves at `{robot}`"));
            return Err(Error::Wrong(d));
        }
        let mut mapper = Mapper { robot: robot.to_owned(), grid, last: None };
        mapper.last = mapper.see(sim);
        Ok(mapper)
    }

    /// The map.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Takes in what the robot measured in the last step. Call it after every step; readings of steps
    /// that it did not see are left out, since nobody knows where they were taken.
    pub fn look(&mut self, sim: &Sim) {
        let now = self.see(sim);
        let last = std::mem::replace(&mut self.last, now);
        let Some(last) = last.filter(|last| last.stop + 1 == sim.state().stops) else { return };
        for echo in echoes(sim, &self.robot, &last) {
            self.grid.add(&echo);
        }
    }

    fn see(&self, sim: &Sim) -> Option<Last> {
        let (model, state) = (sim.model(), sim.state());
        let slot = model.slot_of_path(&self.robot)?;
        let parts = model.types[model.type_of[slot] as usize].parts.iter().enumerate();
        let due = parts.filter(|(_, part)| state.is_fresh(&part.kind)).map(|(p, _)| p).collect();
        Some(Last { stop: state.stops, pose: state.pose[slot], due })
    }
}

/// What came back to a robot's range finders in the last step.
fn echoes(sim: &Sim, robot: &str, last: &Last) -> Vec<Echo> {
    let model = sim.model();
    let Some(slot) = model.slot_of_path(robot) else { return Vec::new() };
    let parts = &model.types[model.type_of[slot] as usize].parts;
    let mut all = Vec::new();
    for (name, marks) in sim.marks(robot) {
        let Some(p) = parts.iter().position(|part| part.name == name) else { continue };
        let PartKind::Sensor(sensor, _) = &parts[p].kind else { continue };
        if !last.due.contains(&p) {
            continue;
        }
        let found: Vec<(usize, Echo)> = marks.iter().filter_map(|m| Some((m.index, drawn(m)?))).collect();
        // A sensor says how far from the middle of its body it reaches, from the outermost of its cones.
        let outermost = found.iter().map(|(_, echo)| echo.origin.norm()).fold(0.0, f64::max);
        let reach = sensor.reach() - outermost;
        let hits = sim.channel(&format!("{robot}/{name}"), "hit");
        let rot = last.pose.rot();
        all.extend(found.into_iter().map(|(index, echo)| {
            let told = hits.and_then(|hits| hits.get(index)).map(|hit| *hit != 0.0);
            Echo {
                origin: last.pose.at + rot.apply(echo.origin),
                direction: last.pose.heading + echo.direction,
                reach,
                hit: told.unwrap_or(echo.range < reach * (1.0 - SHORT)),
                ..echo
            }
        }));
    }
    all
}

/// The echo that a mark shows, in the robot's frame; its reach and whether it hit are not in the mark.
fn drawn(mark: &Mark) -> Option<Echo> {
    if mark.channel != "range" {
        return None;
    }
    let (origin, direction, half_angle, range) = match &mark.shape {
        MarkShape::Arc { centre, radius, from, to } => {
            (*centre, (from + to) / 2.0, (to - from) / 2.0, *radius)
        }
        MarkShape::Line(points) => match points[..] {
            [from, to] if from != to => (from, (to - from).angle(), 0.0, (to - from).norm()),
            // The edges of a cone; or a ray that has no length, and so no direction.
            _ => return None,
        },
        _ => return None,
    };
    Some(Echo { origin, direction, half_angle, range, reach: 0.0, hit: false })
}
