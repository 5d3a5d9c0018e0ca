//! What each body has cost, as its workers measured it.
//!
//! In: what bodies cost in quanta that were measured. Out: figures of the whole run for whoever wants to know, and what each
//! body weighs when the plane is cut: what it cost lately, because what a robot does may change.

use swarmyard_engine::{Model, Spent};
use swarmyard_sim::RobotFigures;

/// What each body has cost, as far as it was measured.
#[derive(Default)]
pub(super) struct Costs {
    /// The world that numbers belong to.
    world: u64,
    paths: Vec<String>,
    bodies: Vec<Cost>,
}

#[derive(Clone, Copy, Default)]
struct Cost {
    /// Who had it when it was last measured.
    worker: u32,
    /// In the whole run.
    all: Sum,
    /// Since it was last weighed.
    lately: Sum,
    /// What it weighed then, in microseconds per quantum.
    weight: Option<f64>,
    /// Of that, what its controllers took.
    think_us: f64,
}

/// A sum over quanta that were measured.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sum {
    spent: Spent,
    quanta: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, spent: Spent, quanta: u32) {
        self.spent += spent;
        self.quanta += u64::from(quanta);
    }

    fn mean(&self, sum: u64) -> f64 {
        sum as f64 / self.quanta.max(1) as f64
    }

    fn mean_us(&self, ns: u64) -> f64 {
        self.mean(ns) * 1e-3
    }

    /// As figures of a robot.
    pub(crate) fn write(&self, robot: &mut RobotFigures) {
        let Spent { sense_ns, think_ns, act_ns, contact_ns, fuel } = self.spent;
        robot.quanta = self.quanta;
        robot.cost_us = self.mean_us(self.spent.all_ns());
        (robot.sense_us, robot.think_us) = (self.mean_us(sense_ns), self.mean_us(think_ns));
        (robot.act_us, robot.contact_us) = (self.mean_us(act_ns), self.mean_us(contact_ns));
        robot.fuel = self.mean(fuel);
    }

    /// The heaviest of these by number, the first of them first.
    pub(crate) fn heaviest(all: &[Sum], most: usize) -> Vec<(usize, Sum)> {
        let mut heavy: Vec<(usize, Sum)> =
            all.iter().copied().enumerate().filter(|(_, sum)| sum.quanta > 0).collect();
        let mean = |sum: &Sum| sum.mean(sum.spent.all_ns());
        heavy.sort_by(|a, b| mean(&b.1).total_cmp(&mean(&a.1)));
        heavy.truncate(most);
        heavy
    }
}

impl Costs {
    /// Bodies are those of this model from now on.
    pub(super) fn name(&mut self, model: &Model) {
        if self.world == model.world && self.paths.len() == model.paths.len() {
            return;
        }
        self.world = model.world;
        self.paths = model.paths.iter().map(|p| p.to_string()).collect();
        self.bodies = vec![Cost::default(); self.paths.len()];
    }

    /// What bodies of a worker cost: number, sum, and over how many quanta.
    pub(super) fn add(&mut self, worker: u32, spent: &[(u32, Spent, u32)]) {
        for (body, spent, quanta) in spent {
            if let Some(cost) = self.bodies.get_mut(*body as usize) {
                cost.worker = worker;
                cost.all.add(*spent, *quanta);
                cost.lately.add(*spent, *quanta);
            }
        }
    }

    /// What each body weighs now, by number: what it cost since the last time, or then, when it was not measured since.
    pub(super) fn weigh(&mut self) -> Vec<Option<f64>> {
        let weigh = |cost: &mut Cost| {
            let lately = std::mem::take(&mut cost.lately);
            if lately.quanta > 0 {
                cost.weight = Some(lately.mean_us(lately.spent.all_ns()));
                cost.think_us = lately.mean_us(lately.spent.think_ns);
            }
            cost.weight
        };
        self.bodies.iter_mut().map(weigh).collect()
    }

    /// What a body's controllers took when it was last weighed, in microseconds per quantum.
    pub(super) fn think_us(&self, body: usize) -> f64 {
        self.bodies.get(body).map_or(0.0, |cost| cost.think_us)
    }

    /// Writes down what was measured, when anything was.
    pub(super) fn write(&self, to: &mut Vec<RobotFigures>) {
        if self.bodies.iter().all(|cost| cost.all.quanta == 0) {
            return;
        }
        if to.len() != self.paths.len() || to.iter().zip(&self.paths).any(|(robot, path)| robot.path != *path)
        {
            let robot = |path: &String| RobotFigures { path: path.clone(), ..RobotFigures::default() };
            *to = self.paths.iter().map(robot).collect();
        }
        for (robot, Cost { worker, all, .. }) in to.iter_mut().zip(&self.bodies) {
            robot.worker = *worker;
            all.write(robot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Costs {
        Costs {
            world: 0,
            paths: vec!["/robots/a".to_owned(), "/robots/b".to_owned()],
            bodies: vec![Cost::default(); 2],
        }
    }

    fn thought(think_ns: u64) -> Spent {
        Spent { sense_ns: 500, think_ns, fuel: 2 * think_ns, ..Spent::default() }
    }

    #[test]
    fn figures_are_means_over_the_run_and_weights_what_it_was_lately() {
        let mut costs = two();
        costs.add(3, &[(0, thought(1500), 1), (1, thought(500), 1), (7, thought(1), 1)]);
        assert_eq!(costs.weigh(), [Some(2.0), Some(1.0)], "body 7 does not exist");
        costs.add(4, &[(0, thought(9500), 1)]);
        assert_eq!(costs.weigh(), [Some(10.0), Some(1.0)]);
        assert_eq!(costs.weigh(), [Some(10.0), Some(1.0)], "nothing new was measured");
        assert_eq!([0, 1, 7].map(|body| costs.think_us(body)), [9.5, 0.5, 0.0]);
        let mut robots = Vec::new();
        costs.write(&mut robots);
        let a = &robots[0];
        assert_eq!((a.path.as_str(), a.worker, a.quanta), ("/robots/a", 4, 2));
        assert_eq!((a.sense_us, a.think_us, a.act_us, a.contact_us), (0.5, 5.5, 0.0, 0.0));
        assert_eq!((a.cost_us, a.fuel), (6.0, 11_000.0));
    }

    #[test]
    fn the_heaviest_are_those_with_the_greatest_mean() {
        let mut all = [Sum::default(); 4];
        all[0].add(thought(1500), 1);
        all[1].add(thought(9000), 3);
        all[3].add(thought(7000), 2);
        let heavy: Vec<usize> = Sum::heaviest(&all, 2).into_iter().map(|h| h.0).collect();
        assert_eq!(heavy, [3, 1], "and nobody who was not measured");
    }

    #[test]
    fn nothing_measured_is_nothing_written() {
        let mut robots = Vec::new();
        two().write(&mut robots);
        assert!(robots.is_empty() && two().weigh() == [None, None]);
    }
}
