//! Robots that live by events: nothing happens between events, motion is a formula.
//!
//! In: the committed [`LiveState`], the running protocols ([`Cast`]), and how far this stretch may go.
//! Out: the state at the end of it, contacts, and what there is to tell. Events are played one after
//! another in one total order, on one thread: (moment, kind, uid, own sequence). Contacts come first.
//!
//! Never: a look at all robots for an event that concerns two; a prediction that depends on anything but
//! the two paths it is about. What is predicted stands in [`Sky`], which can be made anew at any moment.

mod agenda;
mod ahead;
mod air;
mod cast;
mod deed;
mod going;
mod graft;
mod ground;
mod journey;
mod model;
mod note;
mod play;
mod sky;
mod state;
mod touch;
mod watch;

pub use agenda::Agenda;
pub(crate) use air::links;
pub(crate) use cast::{Cast, CastImage};
pub use going::{Footing, Going, Journey};
pub(crate) use graft::graft;
pub use model::{Block, Fault, FaultKind, Life, LiveModel, Zone, ZoneKind};
pub use note::{Deal, Dealing, LiveNote};
pub use play::Leave;
pub(crate) use play::{Given, Played, Wants, play};
pub(crate) use sky::Sky;
pub use state::{Inner, Instant, LiveEvent, LiveKey, LiveState, Status, Watching};
pub use swarmyard_part_api::{Note, Row, RowKind};
