//! A run in the engine before the checkers of protocols.
//!
//! In: what the protocols of its robots ask each other and are told, step by step. Out: for each promise whether it was
//! kept, as a talk over sockets is judged. The run does not notice: no result depends on who looks.

use crate::Sim;
use swarmyard_base::Moment;
use swarmyard_engine::{Deal, Dealing, Model};
use swarmyard_part_api::GraphModel;
use swarmyard_radio::check::judge::{Docket, Kept, Uses, Verdict};
use swarmyard_radio::lab::{Event, Trace, What};
use swarmyard_scene::Scene;

/// Which protocols of a world use which; the scene is the one that the world was compiled from. `None` when nobody
/// lives by events.
#[must_use]
pub fn uses(model: &Model, scene: &Scene) -> Option<Uses> {
    let live = model.live.as_ref()?;
    let mut types: Vec<usize> = Vec::new();
    let mut robots = Vec::new();
    for slot in live.members.iter().map(|slot| *slot as usize) {
        let k = model.type_of[slot] as usize;
        let place = types.iter().position(|t| *t == k).unwrap_or_else(|| {
            types.push(k);
            types.len() - 1
        });
        robots.push((model.paths[slot].to_string(), place));
    }
    let graphs = types.iter().filter_map(|t| {
        let ty = &model.types[*t];
        Some((ty.name.as_str(), ty.life.as_ref()?.graph.as_ref()))
    });
    let graphs: Vec<(&str, &GraphModel)> = graphs.collect();
    Some(Uses::new(&graphs, robots, scene))
}

/// Somebody who has seen what the protocols of a run did, from when it was made.
pub struct Witness {
    uses: Uses,
    /// By pair: whether it is written down.
    wanted: Vec<bool>,
    docket: Docket,
}

impl Witness {
    /// Looks at a run from now on, as far as its protocols promise something: call it before the first step. The scene
    /// is the one that the run was made from. `None` when nobody lives by events.
    #[must_use]
    pub fn new(sim: &mut Sim, scene: &Scene) -> Option<Witness> {
        let uses = uses(sim.model(), scene)?;
        sim.keep_dealings(true);
        Some(Witness { wanted: uses.judged(), uses, docket: Docket::default() })
    }

    /// The same, and all else that protocols do as well, messages of the network too: for checkers of one's own.
    #[must_use]
    pub fn of_everything(sim: &mut Sim, scene: &Scene) -> Option<Witness> {
        let mut witness = Witness::new(sim, scene)?;
        witness.wanted.fill(true);
        Some(witness)
    }

    /// Takes down what has happened since the last look. Look after every step, or what is to be taken down piles up.
    pub fn look(&mut self, sim: &mut Sim) {
        for dealing in sim.dealings() {
            if let Some(kept) = self.testimony(dealing) {
                self.docket.keep(kept);
            }
        }
    }

    fn testimony(&self, Dealing { at, robot, what }: Dealing) -> Option<Kept> {
        let (pair, what) = match what {
            Deal::Down => (None, What::Crashed),
            Deal::Back => (None, What::Recovered),
            Deal::Asked { node, port, request } => {
                let (port, pair) = self.port_of(robot, node, port)?;
                (Some(pair), What::Requested { port, request })
            }
            Deal::Told { node, port, what } => {
                let (port, pair) = self.port_of(robot, node, port)?;
                (Some(pair), What::Indicated { port, what })
            }
        };
        Some(Kept { pair, event: Event { at, process: robot, what } })
    }

    /// Which use of a robot this is, and the pair it belongs to, if it is wanted.
    fn port_of(&self, robot: u32, node: u16, port: u16) -> Option<(u16, usize)> {
        let uses = self.uses.of_robot(robot);
        let k = uses.iter().position(|u| u.at == (node, port))?;
        Some((k as u16, uses[k].pair)).filter(|(_, pair)| self.wanted[*pair])
    }

    /// Who uses whom.
    #[must_use]
    pub fn uses(&self) -> &Uses {
        &self.uses
    }

    /// All that was written down.
    #[must_use]
    pub fn docket(&self) -> &Docket {
        &self.docket
    }

    /// Judges the run up to where it stands. What was asked for in the last `settle_s` seconds is not looked at: it may
    /// still be under way. Nothing is judged where there was too much to keep.
    #[must_use]
    pub fn verdicts(&self, sim: &Sim, settle_s: f64) -> Vec<Verdict> {
        if self.docket.has_overflowed() {
            return Vec::new();
        }
        self.uses.judge(self.docket.kept(), Moment::at(sim.now()), settle_s)
    }

    /// What went between a user and its provider, as a trace for any checker there is.
    #[must_use]
    pub fn trace_of(&self, sim: &Sim, user: &str, provider: &str) -> Option<Trace> {
        let pair = self.uses.find(user, provider)?;
        Some(self.uses.trace_of(pair, self.docket.kept(), Moment::at(sim.now())))
    }
}
