//! A worker's part in an epoch: what it takes steps with, how far it may go, and what it has counted since it last told.

use crate::engine::Engine;
use crate::message::{Begin, Grant, Sent};
use std::collections::BTreeMap;
use swarmyard_engine::{Area, Input, InputKind, Spent};

/// An epoch in which a worker has a part.
pub(super) struct Epoch {
    pub(super) begin: Begin,
    /// Its place in the cut.
    pub(super) place: u32,
    pub(super) engine: Engine,
    pub(super) grant: Grant,
    /// What enters at stops to come.
    pub(super) inputs: BTreeMap<u64, Vec<InputKind>>,
    pub(super) neighbours: Vec<u32>,
    /// Stops of which it is remembered what bodies intended.
    pub(super) remembers: usize,
    pub(super) regions: Vec<Area>,
    /// What was sent since the last report, by place.
    pub(super) sent: Vec<Sent>,
    /// Bodies that went to others since then.
    pub(super) handed_on: u32,
    /// What bodies cost since that was told, by number: sum, quanta.
    pub(super) spent: Vec<(Spent, u32)>,
    /// Whether that was ever told.
    pub(super) is_told: bool,
}

impl Epoch {
    /// Takes note of how far it may go and what enters on the way.
    pub(super) fn take(&mut self, grant: Grant) {
        let now = self.engine.stops();
        for stop in grant.from.max(now)..grant.until {
            let entered = grant.inputs.iter().filter(|i| i.stop == stop);
            self.inputs.insert(stop, entered.map(|Input { kind, .. }| kind.clone()).collect());
        }
        if grant.until >= self.grant.until {
            self.grant = grant;
        }
    }

    /// What bodies cost since it was last told: told at checkpoints, when it counts, and the first time, so that a short run knows
    /// something too. All that the keeper reads takes time from workers on its machine.
    pub(super) fn take_spent(&mut self, kept: bool) -> Vec<(u32, Spent, u32)> {
        for (body, spent) in self.engine.take_spent() {
            let body = body as usize;
            if self.spent.len() <= body {
                self.spent.resize(body + 1, (Spent::default(), 0));
            }
            let sum = &mut self.spent[body];
            sum.0 += spent;
            sum.1 += 1;
        }
        if self.spent.is_empty() || (self.is_told && !kept) {
            return Vec::new();
        }
        self.is_told = true;
        let all = (0..).zip(std::mem::take(&mut self.spent));
        all.filter(|(_, (_, quanta))| *quanta > 0).map(|(body, (sum, quanta))| (body, sum, quanta)).collect()
    }

    /// What was sent since this was last asked.
    pub(super) fn take_sent(&mut self) -> Vec<Sent> {
        let sent = self.sent.iter().filter(|s| s.messages > 0).copied().collect();
        for to in &mut self.sent {
            (to.messages, to.bytes) = (0, 0);
        }
        sent
    }
}

/// Counts a message to the one at that place.
pub(super) fn note(sent: &mut [Sent], place: usize, bytes: usize) {
    let sent = &mut sent[place];
    sent.messages += 1;
    sent.bytes = sent.bytes.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
}
