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
use swarmyard::part_api::{GraphModel, ServiceKind};
use swarmyard::scene::Scene;

/// A protocol that uses another, in robots of one type.
pub(super) struct Use {
    /// Place of the user and of its port.
    pub(super) at: (u16, u16),
    /// The pair it belongs to, in [`World::pairs`].
    pub(super) pair: usize,
}

/// A user and its provider, by name: the same in all types of robots, since names are how protocols of different
/// robots know each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) user: String,
    pub(super) provider: String,
    /// Of the provider; empty for the network.
    pub(super) class: String,
    /// The provider's parameter of that name.
    pub(super) uniform: bool,
    /// In how many types of robots, and by how many ports in one at most.
    pub(super) types: usize,
    pub(super) ports: usize,
}

/// A robot that can talk; its place in the list is its number.
pub(super) struct Robot {
    pub(super) path: String,
    slot: usize,
    /// Place of its type in [`World::uses`].
    pub(super) ty: usize,
}

/// What of a world can talk.
pub(super) struct World {
    sim: Sim,
    pub(super) robots: Vec<Robot>,
    /// By type of robots that live by events.
    pub(super) uses: Vec<Vec<Use>>,
    pub(super) pairs: Vec<Pair>,
    /// A number that all processes that have loaded this world share.
    pub(super) run: u64,
}

impl World {
    /// Loads a scenario.
    pub(super) fn load(file: &Path, set: &SetArgs) -> Result<World, Failure> {
        let sim = load::scenario(file, &set.set, 1)?;
        let scene = sweep::scene(file, &set.set)?;
        let name = file.display().to_string();
        let Some(live) = sim.model().live.as_ref() else {
            let what = "nobody can talk: no robot of this world lives by events";
            let help = "give a type of robots protocols and an algorithm (docs/protocols.md)";
            return Err(Failure::new(Exit::Failed, "nobody-talks", what).help(help).on(name));
        };
        let n = live.members.len();
        if n > MOST_PROCESSES {
            let what = format!("{n} robots cannot talk over sockets: at most {MOST_PROCESSES} can");
            return Err(Failure::new(Exit::Failed, "too-many", what).on(name));
        }
        let mut world = World {
            robots: Vec::new(),
            uses: Vec::new(),
            pairs: Vec::new(),
            run: mix64(sweep::meaning(&scene, &sim)),
            sim,
        };
        world.take_types(&scene).map_err(|failure| failure.on(name))?;
        Ok(world)
    }

    fn take_types(&mut self, scene: &Scene) -> Result<(), Failure> {
        let model = std::sync::Arc::clone(self.sim.model());
        let live = model.live.as_ref().map_or(&[][..], |live| &live.members[..]);
        let mut types = Vec::new();
        for slot in live.iter().map(|slot| *slot as usize) {
            let k = model.types.iter().position(|t| t.slots.contains(&slot)).unwrap_or_default();
            let ty = types.iter().position(|t| *t == k).unwrap_or_else(|| {
                types.push(k);
                types.len() - 1
            });
            self.robots.push(Robot { path: model.paths[slot].to_string(), slot, ty });
        }
        for k in types {
            let ty = &model.types[k];
            let Some(life) = &ty.life else { continue };
            if let Some(name) = outside(&life.graph) {
                let what = format!(
                    "`{name}` of type `{}` is decided by a process outside, which is told of events of a run only",
                    ty.name
                );
                let help =
                    "over sockets run algorithms of the library, or C in the sandbox (class `program`)";
                return Err(Failure::new(Exit::Failed, "outside", what).help(help));
            }
            let uses = self.uses_of(&life.graph, scene, &ty.name);
            self.uses.push(uses);
        }
        Ok(())
    }

    fn uses_of(&mut self, graph: &GraphModel, scene: &Scene, ty: &str) -> Vec<Use> {
        let mut uses: Vec<Use> = Vec::new();
        for (node, user) in graph.names().enumerate() {
            for (port, spec) in graph.ports(node as u16).into_iter().enumerate() {
                let path = format!("/types/{ty}/{user}");
                let named = scene.find(&path).and_then(|n| n.params.text_or_none(spec.name));
                let Some(provider) = provider(graph, node, spec.service, named) else { continue };
                let found = scene.find(&format!("/types/{ty}/{provider}"));
                let class = found.map_or(String::new(), |n| n.class.to_string());
                let uniform = found.and_then(|n| n.params.bool_or_none("uniform")) == Some(true);
                let pair = self.pair(user, provider, class, uniform);
                let before = uses.iter().filter(|u| u.pair == pair).count();
                let known = &mut self.pairs[pair];
                known.ports = known.ports.max(before + 1);
                known.types += usize::from(before == 0);
                uses.push(Use { at: (node as u16, port as u16), pair });
            }
        }
        uses
    }

    /// The pair of these names; where types differ in what the provider is, it has no class.
    fn pair(&mut self, user: &str, provider: &str, class: String, uniform: bool) -> usize {
        let known = self.pairs.iter().position(|p| p.user == user && p.provider == provider);
        if let Some(k) = known {
            let pair = &mut self.pairs[k];
            if pair.class != class || pair.uniform != uniform {
                pair.class.clear();
            }
            return k;
        }
        let (user, provider) = (user.to_owned(), provider.to_owned());
        self.pairs.push(Pair { user, provider, class, uniform, types: 0, ports: 0 });
        self.pairs.len() - 1
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
                uses: self.uses[robot.ty].iter().map(|u| u.at).collect(),
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

/// Who provides a service to a protocol: the one that is named, or the only one; the network for links. Motion and
/// sensors are the robot's own.
fn provider<'a>(
    graph: &'a GraphModel,
    me: usize,
    service: ServiceKind,
    named: Option<&'a str>,
) -> Option<&'a str> {
    if named.is_some() {
        return named;
    }
    match service {
        ServiceKind::Link => Some("network"),
        ServiceKind::Motion | ServiceKind::Watching => None,
        _ => {
            let mut all = graph.names().zip(graph.models()).enumerate();
            all.find(|(k, (_, model))| *k != me && model.provides() == Some(service))
                .map(|(_, (name, _))| name)
        }
    }
}
