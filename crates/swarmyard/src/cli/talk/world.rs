//! What of a world can talk: its robots that live by events, and which of their protocols uses which.

use crate::cli::fail::{Exit, Failure};
use crate::cli::load::SetArgs;
use crate::cli::out::count;
use crate::cli::{load, sweep};
use std::path::Path;
use swarmyard::Sim;
use swarmyard::agents::wire::{MOST_PROCESSES, Script, Talker};
use swarmyard::base::hash::mix64;
use swarmyard::engine::FaultKind;
use swarmyard::part_api::GraphModel;
use swarmyard::witness;
use swarmyard_radio::check::judge::Uses;

/// A robot that can talk; its place in the list is its number.
pub(super) struct Robot {
    pub(super) path: String,
    slot: usize,
}

/// What of a world can talk.
pub(super) struct World {
    sim: Sim,
    pub(super) robots: Vec<Robot>,
    /// Which of their protocols uses which.
    pub(super) uses: Uses,
    /// A number that all processes that have loaded this world share.
    pub(super) run: u64,
}

impl World {
    /// Loads a scenario.
    pub(super) fn load(file: &Path, set: &SetArgs) -> Result<World, Failure> {
        let sim = load::scenario(file, &set.set, 1)?;
        let scene = sweep::scene(file, &set.set)?;
        let name = file.display().to_string();
        let (Some(live), Some(uses)) = (&sim.model().live, witness::uses(sim.model(), &scene)) else {
            let what = "nobody can talk: no robot of this world lives by events";
            let help = "give a type of robots protocols and an algorithm (docs/protocols.md)";
            return Err(Failure::new(Exit::Failed, "nobody-talks", what).help(help).on(name));
        };
        let n = live.members.len();
        if n > MOST_PROCESSES {
            let what = format!("{n} robots cannot talk over sockets: at most {MOST_PROCESSES} can");
            return Err(Failure::new(Exit::Failed, "too-many", what).on(name));
        }
        let slots = live.members.iter().map(|slot| *slot as usize);
        let robots = slots.map(|slot| Robot { path: sim.model().paths[slot].to_string(), slot }).collect();
        let world = World { robots, uses, run: mix64(sweep::meaning(&scene, &sim)), sim };
        world.refuse_outside().map_err(|failure| failure.on(name))?;
        Ok(world)
    }

    /// An algorithm that a process outside decides for cannot talk.
    fn refuse_outside(&self) -> Result<(), Failure> {
        let model = self.sim.model();
        for ty in self.robots.iter().map(|robot| model.type_at(robot.slot)) {
            if let Some(name) = ty.life.as_ref().and_then(|life| outside(&life.graph)) {
                let what = format!(
                    "`{name}` of type `{}` is decided by a process outside, which is told of events of a run only",
                    ty.name
                );
                let help =
                    "over sockets run algorithms of the library, or C in the sandbox (class `program`)";
                return Err(Failure::new(Exit::Failed, "outside", what).help(help));
            }
        }
        Ok(())
    }

    /// Title of the world.
    pub(super) fn title(&self) -> &str {
        &self.sim.model().title
    }

    /// Its seed.
    pub(super) fn seed(&self) -> u64 {
        self.sim.model().run.seed
    }

    /// Number of the robot with this path, or this name.
    pub(super) fn number(&self, path: &str) -> Result<u32, Failure> {
        let whole = if path.starts_with('/') { path.to_owned() } else { format!("/robots/{path}") };
        let found = self.robots.iter().position(|r| r.path == whole);
        found.map(|k| k as u32).ok_or_else(|| {
            let what = format!("`{path}` is no robot of this world that lives by events");
            let names: Vec<&str> = self.robots.iter().take(10).map(|r| r.path.as_str()).collect();
            Failure::new(Exit::Usage, "unknown-robot", what).help(format!("there are {}", names.join(", ")))
        })
    }

    /// These robots, ready to talk.
    pub(super) fn talkers(&self, here: &[u32]) -> Vec<Talker> {
        let model = self.sim.model();
        let talker = |number: &u32| {
            let robot = &self.robots[*number as usize];
            let life = model.type_at(robot.slot).life.as_ref()?;
            Some(Talker {
                number: *number,
                graph: std::sync::Arc::clone(&life.graph),
                uses: self.uses.of_robot(*number).iter().map(|u| u.at).collect(),
                start: self.sim.pose(&robot.path)?,
                equipment: life.equipment.clone(),
            })
        };
        here.iter().filter_map(talker).collect()
    }

    /// Crashes and recoveries of the scenario.
    pub(super) fn script(&self) -> Script {
        let mut script = Script::default();
        let faults = self.sim.model().live.as_ref().map_or(&[][..], |live| &live.faults[..]);
        for fault in faults {
            let at = fault.at.seconds();
            match &fault.what {
                FaultKind::Crash(who) => who.iter().for_each(|r| script.crash(at, *r)),
                FaultKind::Recover(who) => who.iter().for_each(|r| script.recover(at, *r)),
                FaultKind::Network(_) => {}
            }
        }
        script
    }

    /// What the world has and nobody here takes notice of.
    pub(super) fn left_out(&self) -> Vec<String> {
        let model = self.sim.model();
        let mut all = Vec::new();
        let mut add = |n: usize, noun: &str| all.extend((n > 0).then(|| count(n, noun)));
        add(model.robots() - self.robots.len(), "other robot");
        add(model.fixed.edges().len(), "wall edge");
        if let Some(live) = &model.live {
            add(live.zones.len(), "zone");
            let network = |f: &&swarmyard::engine::Fault| matches!(f.what, FaultKind::Network(_));
            add(live.faults.iter().filter(network).count(), "network fault");
        }
        all
    }

    /// Names of protocols by their ids.
    pub(super) fn protocol(&self, id: u32) -> String {
        let lives = self.sim.model().types.iter().filter_map(|t| t.life.as_ref());
        let name = lives.filter_map(|life| life.graph.name_of(id)).next();
        name.map_or_else(|| format!("{id:08x}"), str::to_owned)
    }
}

/// A protocol that is decided by a process outside.
fn outside(graph: &GraphModel) -> Option<&str> {
    graph.names().zip(graph.models()).find(|(_, model)| model.outside().is_some()).map(|(name, _)| name)
}
