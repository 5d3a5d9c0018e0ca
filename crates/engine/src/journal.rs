//! The input journal: everything that comes from outside, in the order it entered.
//!
//! A run is a function of scenario, seed, build and this journal; replay is the same journal again.

use serde::{Deserialize, Serialize};
use swarmyard_base::{Ratio, Uid};
use swarmyard_part_api::{Detail, RegisterFile, Thought};

/// One thing that came from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum InputKind {
    /// New commands for a part of a robot, starting at one place of its command row.
    Command {
        /// The robot.
        robot: Uid,
        /// Number of the part.
        part: u32,
        /// First number of the part's command row.
        first: u32,
        /// The numbers.
        values: Vec<f64>,
    },
    /// A new length of the quantum.
    Quantum(Ratio),
    /// A new level of detail.
    Detail(Detail),
    /// Takes a robot out of (`false`) or into (`true`) the halted state.
    Halt(Uid, bool),
    /// Goes on without a robot's commands this once, although its controller waits for them.
    Skip(Uid),
    /// What a controller outside decided.
    Thought {
        /// The robot.
        robot: Uid,
        /// Number of the controller.
        controller: u32,
        /// What it did to its registers, in order; reads stand here only where they count.
        accesses: Vec<BusAccess>,
        /// What else came of it.
        thought: Thought,
        /// Processor time it took, as measured.
        think_ns: u64,
    },
    /// Something is written to a robot's registers from outside.
    Poke(Uid, BusAccess),
    /// A controller of a type goes on with another program.
    Code {
        /// Number of the type.
        ty: u32,
        /// Number of the controller.
        controller: u32,
        /// Hash of the code.
        code: u64,
    },
    /// The world becomes another one, which is known by this hash. Whoever drives the run makes the
    /// change before the step; the step itself has nothing to do.
    World(u64),
    /// What the program outside answered that decides for a robot living by events; questions are answered in
    /// the order in which they were asked.
    Answer(Uid, Vec<u8>),
}

/// One access to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusAccess {
    /// The address.
    pub address: u32,
    /// Bytes: 1, 2 or 4.
    pub bytes: u8,
    /// The value that is written, of which the low bytes count; `None` for a read.
    pub write: Option<u32>,
}

impl BusAccess {
    /// Does it; answers what was read.
    pub fn play(&self, registers: &mut RegisterFile) -> u32 {
        if ![1, 2, 4].contains(&self.bytes) {
            return 0;
        }
        match self.write {
            Some(value) => {
                registers.poke(self.address, u32::from(self.bytes), value);
                0
            }
            None => registers.peek(self.address, u32::from(self.bytes)),
        }
    }
}

/// One journal entry: what came, and at which stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The number of steps committed before it entered.
    pub stop: u64,
    /// What came.
    pub kind: InputKind,
}

/// All inputs of a run, in the order of stops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    inputs: Vec<Input>,
}

impl Journal {
    /// Adds an input that enters at `stop`.
    ///
    /// # Panics
    /// When an earlier stop is written to: what has entered cannot change.
    pub fn push(&mut self, stop: u64, kind: InputKind) {
        assert!(self.inputs.last().is_none_or(|last| last.stop <= stop), "the journal only grows");
        self.inputs.push(Input { stop, kind });
    }

    /// Inputs that enter at `stop` or later, in order.
    #[must_use]
    pub fn since(&self, stop: u64) -> &[Input] {
        &self.inputs[self.inputs.partition_point(|i| i.stop < stop)..]
    }

    /// Inputs that enter at `stop`, in order.
    #[must_use]
    pub fn at(&self, stop: u64) -> &[Input] {
        let since = self.since(stop);
        &since[..since.partition_point(|i| i.stop == stop)]
    }

    /// All inputs.
    #[must_use]
    pub fn all(&self) -> &[Input] {
        &self.inputs
    }

    /// Adds what a journal that began as this one has more: the run it was copied from went on.
    pub fn catch_up(&mut self, longer: &Journal) {
        let more = longer.inputs.get(self.inputs.len()..).unwrap_or_default();
        self.inputs.extend_from_slice(more);
    }

    /// Makes the changes of the world in this journal those that a state has gone through, each at its
    /// stop. They are the same already, up to some at the end, unless the state is of another branch.
    pub fn set_worlds(&mut self, worlds: &[(u64, u64)]) {
        let is_world = |i: &Input| matches!(i.kind, InputKind::World(_));
        let mut known = Vec::new();
        for input in &self.inputs {
            if let InputKind::World(world) = input.kind {
                known.push((input.stop, world));
            }
        }
        let last = self.inputs.last().map_or(0, |i| i.stop);
        if !(worlds.starts_with(&known) && worlds[known.len()..].iter().all(|w| w.0 >= last)) {
            self.inputs.retain(|i| !is_world(i));
            known.clear();
        }
        let rest = worlds[known.len()..].iter();
        self.inputs.extend(rest.map(|&(stop, world)| Input { stop, kind: InputKind::World(world) }));
        // Of one stop a change stands first: what came with it is for the world after it.
        self.inputs.sort_by_key(|i| (i.stop, known.is_empty() && !is_world(i)));
    }

    /// Drops every input from `stop` on: the run was rewound and takes another branch.
    pub fn cut_from(&mut self, stop: u64) {
        self.inputs.retain(|i| i.stop < stop);
    }
}
