//! The running protocols of all robots, and the running network: they stand beside the state, and are taken
//! as bytes for snapshots and the full hash.

use crate::kinship::Kinship;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use swarmyard_base::hash::{bytes_hash, mix64};
use swarmyard_part_api::{Graph, Network};

/// Running protocols by robot, and the network.
#[derive(Default)]
pub(crate) struct Cast {
    /// By number; taken out while it is at work.
    pub(crate) graphs: Vec<Option<Graph>>,
    /// Taken out while it is at work.
    pub(crate) network: Option<Box<dyn Network>>,
}

/// The memories of all of them.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct CastImage {
    graphs: Vec<Vec<u8>>,
    network: Option<Vec<u8>>,
}

impl CastImage {
    /// Bytes of memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let graphs: usize = self.graphs.iter().map(|g| size_of::<Vec<u8>>() + g.len()).sum();
        graphs + self.network.as_ref().map_or(0, Vec::len)
    }
}

impl Cast {
    /// Fresh ones for every robot.
    pub(crate) fn new(model: &Model) -> Cast {
        let Some(live) = &model.live else { return Cast::default() };
        let graph = |slot: &u32| {
            let life = model.type_at(*slot as usize).life.as_ref();
            life.map(|life| Graph::new(&life.graph))
        };
        let network = live.network.as_ref().map(|n| n.start(live.members.len() as u32));
        Cast { graphs: live.members.iter().map(graph).collect(), network }
    }

    /// All memories.
    pub(crate) fn image(&self) -> CastImage {
        CastImage {
            graphs: self.graphs.iter().map(|g| g.as_ref().map(Graph::save).unwrap_or_default()).collect(),
            network: self.network.as_ref().map(|n| n.save()),
        }
    }

    /// Fresh ones with these memories.
    pub(crate) fn with_image(model: &Model, image: &CastImage) -> Result<Cast, String> {
        let mut cast = Cast::new(model);
        if cast.graphs.len() != image.graphs.len() || cast.network.is_some() != image.network.is_some() {
            return Err("the snapshot has other robots that live by events".to_owned());
        }
        for (graph, bytes) in cast.graphs.iter_mut().zip(&image.graphs) {
            if let Some(graph) = graph {
                graph.load(bytes)?;
            }
        }
        if let (Some(network), Some(bytes)) = (&mut cast.network, &image.network) {
            network.load(bytes)?;
        }
        Ok(cast)
    }

    /// Hash of all memories.
    pub(crate) fn hash(&self, model: &Model) -> u64 {
        let Some(live) = &model.live else { return 0 };
        let mut sum = self.network.as_ref().map_or(0, |n| mix64(bytes_hash(&n.save())));
        for (slot, graph) in live.members.iter().zip(&self.graphs) {
            let Some(graph) = graph else { continue };
            let owner = model.uids[*slot as usize].0;
            sum = sum.wrapping_add(mix64(owner ^ mix64(bytes_hash(&graph.save()))));
        }
        sum
    }

    /// Goes over into another world: who is there again with the same protocols keeps its memory. The network
    /// keeps its own when the robots are the same.
    pub(crate) fn move_over(&mut self, old: &Model, new: &Model, kinship: &Kinship) {
        let mut cast = Cast::new(new);
        let (Some(before), Some(after)) = (&old.live, &new.live) else {
            *self = cast;
            return;
        };
        for (n, slot) in after.members.iter().enumerate() {
            let slot = *slot as usize;
            let same = kinship.old_slot(slot).filter(|was| super::graft::goes_on(old, new, *was, slot));
            let was = same.and_then(|s| before.number(s));
            let kept = was.and_then(|w| self.graphs[w as usize].as_ref()).map(Graph::save);
            if let (Some(bytes), Some(graph)) = (kept, &mut cast.graphs[n])
                && graph.load(&bytes).is_err()
            {
                graph.crash();
            }
        }
        let same = before.members.len() == after.members.len();
        if let (true, Some(network), Some(was)) = (same, &mut cast.network, &self.network)
            && network.load(&was.save()).is_err()
            && let Some(model) = &after.network
        {
            *network = model.start(after.members.len() as u32);
        }
        *self = cast;
    }
}
