//! The engine: `Model` (fixed), `State` (changes), and one loop.
//!
//! Start reading at [`step()`]: the whole simulator hangs on that one function.
//!
//! *Invariants:* only `commit` writes [`State`]. No phase depends on the number of threads, on slots
//! or on the order of the scenario file. This crate knows no part, no text format, no file, no clock.

mod act;
mod area;
mod carry;
mod clash;
mod commit;
mod compile;
mod graft;
mod groups;
mod hash;
mod journal;
mod kept;
mod kinship;
mod live;
mod meter;
mod minds;
mod model;
mod parallel;
mod paths;
mod queue;
mod referee;
mod resolve;
mod rows;
mod sense;
mod share;
mod snapshot;
mod state;
pub mod step;
mod think;
mod unit;
mod wrap;

pub use area::Area;
pub use compile::{Compiled, compile};
pub use graft::{Graft, List, Report, Standing, Start, graft};
pub use groups::{ContactEvent, Grouping};
pub use hash::{full_hash, step_hash};
pub use journal::{BusAccess, Input, InputKind, Journal};
pub use kept::Kept;
pub use kinship::{Kinship, renumbered};
pub use live::{
    Agenda, Block, Deal, Dealing, Fault, FaultKind, Footing, Going, Inner, Instant, Journey, Leave, Life,
    LiveEvent, LiveKey, LiveModel, LiveNote, LiveState, Note, Row, RowKind, Status, Watching, Zone, ZoneKind,
};
pub use meter::{Spent, Watch};
pub use minds::{Heard, Minds, has_failed, is_due};
pub use model::{
    BodyModel, ContactRule, ControllerKind, ControllerModel, Model, PartKind, PartModel, RecordSettings,
    RunSettings, TypeModel,
};
pub use parallel::Pool;
pub use paths::Paths;
pub use queue::{Event, EventKey, EventQueue};
pub use referee::{Assertion, Formula, Holds};
pub use share::{
    Charge, Checkpoint, Clock, Cut, Gesture, Held, How, Intent, Margins, Parcel, Part, Planned, Settled,
    Share, Sighting, Undivided, Whole, awaited, undivided,
};
pub use snapshot::{SnapshotError, build_id, restore, snapshot, snapshot_world};
pub use state::{Accounts, PartColumns, State, TypeColumns, Verdict};
pub use step::{Frame, Infinite, RunEvent, Scratch, Step, Stride, step};
pub use swarmyard_part_api::{Beacon, Track};
pub use think::{registers_now, registers_sensed};
