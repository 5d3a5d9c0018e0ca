//! A run shared among workers: each takes the steps of its own bodies and knows those around as ghosts.
//!
//! In: a compiled world, and the bodies one worker is charged with ([`Charge`]). Out: what its bodies
//! intend in a quantum, for its neighbours; and, once it has heard what theirs intend, its part of the
//! step ([`Part`]). The parts of all workers put together are the step as one process takes it, to the bit:
//!
//! - sensing reads the committed state; around its own bodies a worker has everybody within reach;
//! - the contact time of a pair is a function of the pair's own segments, so a worker plays out every group
//!   that one of its bodies may be in, ghosts included, and gets what everybody else gets;
//! - when such a group may reach beyond what it knows, it says so ([`Settled::Unsure`]) and asks for more.
//!
//! A ghost near enough to be sensed comes out right as well, so one message per neighbour and quantum
//! will do: what bodies intend. Never: a socket, a clock, a decision about who does what.
//!
//! [`Cut`] says who is charged with which part of the plane; [`Margins`] how far around it a worker must
//! know; [`Parcel`] is all there is about one body, on its way to another worker or into a checkpoint.

mod cut;
mod margins;
mod parcel;
mod whole;
mod worker;

pub use crate::carry::Gesture;
pub use cut::{Cut, How};
pub use margins::Margins;
pub use parcel::{Held, Parcel, Sighting};
pub use whole::{Checkpoint, Undivided, Whole, awaited, undivided};
pub use worker::{Charge, Clock, Intent, Part, Planned, Settled, Share};
