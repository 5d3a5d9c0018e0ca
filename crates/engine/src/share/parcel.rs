//! All there is about one body: on its way to another worker, or into a checkpoint.

use crate::minds::{Minds, Packed};
use crate::model::Model;
use crate::queue::{Event, EventKey};
use crate::state::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swarmyard_base::{Pose2, Twist2, Uid};
use swarmyard_part_api::{Carry, Touch};

/// One body with its parts, registers and controllers.
#[derive(Clone, Serialize, Deserialize)]
pub struct Parcel {
    /// Its slot in the whole model.
    pub number: u32,
    /// Where it is and how it moves.
    pub seen: Sighting,
    halted: bool,
    /// Its row of the columns of its type.
    row: Vec<f64>,
    minds: Vec<Packed>,
    touches: Vec<Touch>,
    queue: Vec<(EventKey, Event)>,
}

/// What others can see of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// Where it is.
    pub pose: Pose2,
    /// Its velocity in its own frame.
    pub twist: Twist2,
    /// What it did in the last stretch, in its own frame.
    pub moved: Twist2,
    /// Who carries it.
    pub held: Option<Held>,
}

/// How a body is carried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// Number of who carries it.
    carrier: u32,
    /// Number of the carrier's part that holds it.
    part: u32,
    /// Where it is in the hand's frame.
    offset: Pose2,
}

impl Held {
    /// As it is written down where bodies have other slots; nothing when one of both is not there.
    pub(crate) fn carry(&self, object: u32, slot_of: impl Fn(u32) -> Option<usize>) -> Option<Carry> {
        let (object, carrier) = (slot_of(object)? as u32, slot_of(self.carrier)? as u32);
        Some(Carry { object, carrier, part: self.part, offset: self.offset })
    }
}

impl Sighting {
    /// What can be seen of the body in `slot`. `number` tells the number of who is in a slot.
    pub(crate) fn of(state: &State, slot: usize, number: impl Fn(u32) -> u32) -> Sighting {
        let held = state.carried.binary_search_by_key(&(slot as u32), |c| c.object).ok().map(|k| {
            let Carry { carrier, part, offset, .. } = state.carried[k];
            Held { carrier: number(carrier), part, offset }
        });
        Sighting { pose: state.pose[slot], twist: state.twist[slot], moved: state.moved[slot], held }
    }
}

/// Packs bodies of one state.
pub(crate) struct Packer<'a> {
    model: &'a Model,
    state: &'a State,
    /// With them the memories of programs are packed as well.
    minds: Option<&'a Minds>,
    /// Numbers of the bodies by slot; `None` where those are the same.
    numbers: Option<&'a [u32]>,
    pending: BTreeMap<Uid, Vec<(EventKey, Event)>>,
}

impl<'a> Packer<'a> {
    pub(crate) fn new(
        model: &'a Model,
        state: &'a State,
        minds: Option<&'a Minds>,
        numbers: Option<&'a [u32]>,
    ) -> Packer<'a> {
        let mut pending: BTreeMap<Uid, Vec<(EventKey, Event)>> = BTreeMap::new();
        for (key, event) in state.queue.all() {
            pending.entry(key.low).or_default().push((*key, event.clone()));
        }
        Packer { model, state, minds, numbers, pending }
    }

    /// Packs the body in `slot`.
    pub(crate) fn pack(&self, slot: usize) -> Parcel {
        let Packer { model, state, minds, numbers, pending } = self;
        let number = |slot: u32| numbers.map_or(slot, |numbers| numbers[slot as usize]);
        let t = model.type_of[slot] as usize;
        let (ty, columns) = (&model.types[t], &state.types[t]);
        let (rows, k) = (ty.slots.len(), slot - ty.slots.start);
        let first = state.touches.partition_point(|t| (t.slot as usize) < slot);
        let touches = state.touches[first..].iter().take_while(|t| t.slot as usize == slot);
        let uid = model.uids[slot];
        Parcel {
            number: number(slot as u32),
            seen: Sighting::of(state, slot, number),
            halted: state.halted[slot],
            row: columns.row(rows, k),
            minds: minds.map_or_else(Vec::new, |minds| minds.pack(t, k)),
            touches: touches.copied().collect(),
            queue: pending.get(&uid).cloned().unwrap_or_default(),
        }
    }
}

impl Parcel {
    /// Unpacks it into `slot`. Contacts are added at the end: sort them when all is unpacked.
    ///
    /// # Errors
    /// When it does not fit, or a memory cannot be brought back.
    pub(crate) fn unpack(
        &self,
        model: &Model,
        state: &mut State,
        minds: Option<&mut Minds>,
        slot: usize,
    ) -> Result<(), String> {
        let t = model.type_of[slot] as usize;
        let (ty, columns) = (&model.types[t], &mut state.types[t]);
        let (rows, k) = (ty.slots.len(), slot - ty.slots.start);
        if !columns.put_row(rows, k, &self.row) {
            return Err(format!("the parcel of body {} does not fit this world", self.number));
        }
        state.pose[slot] = self.seen.pose;
        state.twist[slot] = self.seen.twist;
        state.moved[slot] = self.seen.moved;
        state.halted[slot] = self.halted;
        if let Some(minds) = minds {
            minds.unpack(t, k, &self.minds)?;
        }
        state.touches.extend(self.touches.iter().map(|t| Touch { slot: slot as u32, ..*t }));
        for (key, event) in &self.queue {
            state.queue.push(*key, event.clone());
        }
        Ok(())
    }
}
