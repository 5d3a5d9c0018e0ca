//! The run as one, in the hand of whoever keeps it together: dealt out to workers, and put together again.

use super::cut::Cut;
use super::margins::Margins;
use super::parcel::{Packer, Parcel};
use super::worker::{Charge, Clock, Part};
use crate::hash::{clock, step_hash};
use crate::journal::{InputKind, Journal};
use crate::minds::Minds;
use crate::model::{ControllerKind, Model, TypeModel};
use crate::referee;
use crate::state::State;
use crate::step::{Frame, RunEvent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use swarmyard_base::Uid;

/// Why a world is not divided among workers: one takes all its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undivided {
    /// Robots live by events: any event may change what any robot does next.
    Events,
}

impl Undivided {
    /// In words, to follow "because".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Undivided::Events => "its robots live by events",
        }
    }
}

/// Why this world is not divided among workers; `None` when it can be.
#[must_use]
pub fn undivided(model: &Model) -> Option<Undivided> {
    model.live.is_some().then_some(Undivided::Events)
}

/// Robots whose controllers wait for commands from outside that have not come for the next step.
#[must_use]
pub fn awaited(model: &Model, state: &State, journal: &Journal) -> Vec<Uid> {
    let told = journal.at(state.stops).iter().filter_map(|input| match input.kind {
        InputKind::Command { robot, .. } | InputKind::Skip(robot) => Some(robot),
        _ => None,
    });
    let told: BTreeSet<Uid> = told.collect();
    let waits = |ty: &&TypeModel| {
        ty.controllers.iter().any(|c| matches!(c.model, ControllerKind::Columns(_)) && c.model.waits())
    };
    let slots = model.types.iter().filter(waits).flat_map(|ty| ty.slots.clone());
    slots.map(|slot| model.uids[slot]).filter(|uid| !told.contains(uid)).collect()
}

/// A whole run at one stop, body by body: what workers are charged from.
#[derive(Clone, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The stop.
    pub clock: Clock,
    /// The code that each controller runs, by type and controller.
    codes: Vec<Vec<u64>>,
    /// Everybody.
    bodies: Vec<Parcel>,
}

impl Checkpoint {
    /// Where a run stands.
    #[must_use]
    pub fn of(model: &Model, state: &State, minds: &Minds) -> Checkpoint {
        let packer = Packer::new(model, state, Some(minds), None);
        let bodies = (0..model.len()).map(|slot| packer.pack(slot)).collect();
        Checkpoint { clock: Clock::of(state), codes: minds.codes(), bodies }
    }

    /// The same run at a later stop, put together of all parcels, packed with the memories of programs.
    #[must_use]
    pub fn later(&self, clock: Clock, bodies: Vec<Parcel>, codes: &[(u32, u32, u64)]) -> Checkpoint {
        let mut later = Checkpoint { clock, codes: self.codes.clone(), bodies };
        for (ty, controller, code) in codes {
            let found = later.codes.get_mut(*ty as usize).and_then(|t| t.get_mut(*controller as usize));
            if let Some(found) = found {
                *found = *code;
            }
        }
        later
    }

    /// The code that each controller runs, by type and controller.
    #[must_use]
    pub fn codes(&self) -> &[Vec<u64>] {
        &self.codes
    }

    /// Everybody.
    #[must_use]
    pub fn bodies(&self) -> &[Parcel] {
        &self.bodies
    }

    /// What each worker is charged with when the run is cut like this.
    #[must_use]
    pub fn deal(&self, cut: &Cut, margins: &Margins) -> Vec<Charge> {
        let known: Vec<_> = cut.regions().iter().map(|region| margins.known(region, 0)).collect();
        let (clock, codes) = (self.clock, &self.codes);
        let empty = |_| Charge { clock, codes: codes.clone(), bodies: Vec::new(), ghosts: Vec::new() };
        let mut charges: Vec<Charge> = known.iter().map(empty).collect();
        for parcel in &self.bodies {
            let at = parcel.seen.pose.at;
            let owner = cut.owner(parcel.number, at) as usize;
            charges[owner].bodies.push(parcel.clone());
            for (worker, area) in known.iter().enumerate() {
                if worker != owner && area.contains(at) {
                    charges[worker].ghosts.push((parcel.number, parcel.seen));
                }
            }
        }
        charges
    }
}

/// The state of the whole run, as far as its keeper has been told.
pub struct Whole<'a> {
    /// What is fixed.
    pub model: &'a Model,
    /// What changes: its clock and accounts always, its bodies when parcels came.
    pub state: &'a mut State,
}

impl Whole<'_> {
    /// Takes over everything about these bodies, which are all there are.
    ///
    /// # Errors
    /// When one does not fit.
    pub fn take(&mut self, parcels: &[Parcel], minds: Option<&mut Minds>) -> Result<(), String> {
        self.state.touches.clear();
        self.state.queue = Default::default();
        let mut minds = minds;
        for parcel in parcels {
            let slot = parcel.number as usize;
            if slot >= self.model.len() {
                return Err(format!("there is no body {slot} in this world"));
            }
            parcel.unpack(self.model, self.state, minds.as_deref_mut(), slot)?;
        }
        self.state.touches.sort_by_key(|t| (t.slot, t.other));
        let slot_of = |number: u32| Some(number as usize).filter(|slot| *slot < self.model.len());
        let carried = parcels.iter().filter_map(|p| p.seen.held?.carry(p.number, slot_of));
        self.state.carried = carried.collect();
        self.state.carried.sort_unstable_by_key(|c| c.object);
        Ok(())
    }

    /// Puts the parts of a step together: one of each worker. `parcels` are everybody's, when somebody
    /// wants to see them (assertions are judged on them).
    ///
    /// # Errors
    /// When the parts do not fit together, or a parcel does not fit.
    pub fn step(
        &mut self,
        parts: Vec<Part>,
        parcels: Option<&[Parcel]>,
        journal: &Journal,
    ) -> Result<Frame, String> {
        let Some(first) = parts.first().map(|p| p.clock) else {
            return Err("nobody did anything".to_owned());
        };
        if parts.iter().any(|p| p.clock != first) || first.stops != self.state.stops + 1 {
            return Err("the parts of a step are of different steps".to_owned());
        }
        let entered = journal.at(self.state.stops).iter();
        self.state.accounts.inputs +=
            entered.filter(|i| !matches!(i.kind, InputKind::World(_))).count() as u64;
        first.set(self.state);
        let mut events: Vec<RunEvent> = Vec::new();
        let mut items = 0_u64;
        for part in parts {
            items = items.wrapping_add(part.items);
            self.state.accounts.contacts += part.accounts.contacts;
            self.state.accounts.halts += part.accounts.halts;
            self.state.accounts.impact_limits += part.accounts.impact_limits;
            self.state.ended |= part.ended;
            events.extend(part.events);
        }
        events.sort_by_key(|event| event.order(self.model));
        if let Some(parcels) = parcels {
            self.take(parcels, None)?;
            events.extend(referee::judge(self.model, self.state).into_iter().map(RunEvent::AssertFailed));
        }
        let hash = clock(self.state).wrapping_add(items);
        if parcels.is_some() {
            debug_assert_eq!(hash, step_hash(self.model, self.state), "the parts do not add up");
        }
        Ok(Frame { now: self.state.now, stops: self.state.stops, hash, events })
    }
}
