//! How the processes of one run find and hear each other.
//!
//! In: bytes under keys. Out: the same bytes at whoever listens to such keys; answers to questions; who is alive.
//!
//! Start reading at [`Fabric`], the one trait everything above is written against. [`local`] keeps it inside a process,
//! with faults on purpose; `mesh` (feature `zenoh`) carries it between machines. Above the trait stand the
//! [`envelope`] every worker's message travels in, its seal ([`secret`]), the [`gate`] that refuses what is old, foreign or forged, and
//! [`outbox`] and [`inbox`], which make up for what a fabric loses.
//!
//! *Invariants:* nothing here knows what a robot is. No result may depend on when something arrives: a fabric
//! may lose, delay, double and reorder, and the layer above asks again. Every length from outside is bounded before
//! anything is allocated.

pub mod access;
pub mod envelope;
mod fabric;
pub mod gate;
pub mod inbox;
pub mod key;
#[cfg(feature = "zenoh")]
pub mod keys;
pub mod local;
mod mailbox;
#[cfg(feature = "zenoh")]
pub mod mesh;
pub mod outbox;
pub mod secret;
mod tally;

pub use fabric::{Care, Fabric, Handle, Heard, Listener, Lost, MOST_BYTES, Replier, Watcher};
pub use inbox::{Inbox, Patience, Unmet};
pub use outbox::Outbox;
pub use secret::{RunKey, Secret};
pub use tally::{Flow, Traffic};
