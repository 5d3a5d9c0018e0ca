//! One run on many machines.
//!
//! Start reading at [`Keeper`], who keeps a run together, and at [`work`], which is all that a worker does. The
//! numbers come from the engine ([`swarmyard_engine::Share`]); here is who does what, and what happens when one is
//! lost. Workers come from [`staff`]: processes of this machine, or of a [`host`] that lends another. A
//! [`sister`] stands for one program on a host, and [`reach`] finds one.
//!
//! *Invariants:* no result depends on the fabric, on who has which body, or on who was lost. A report of an epoch that
//! is over is not used.

mod bundle;
mod door;
mod engine;
mod home;
pub mod host;
mod keeper;
mod message;
mod parcel;
pub mod reach;
mod saved;
mod shelf;
pub mod sister;
pub mod staff;
mod watch;
mod worker;
mod world;

pub use bundle::{Bundle, Natives};
pub use keeper::{Keeper, Placed, Plan, Save, Staff, Status, Teller};
pub use parcel::Lengths;
pub use saved::Saved;
pub use watch::ProcessorTime;
pub use worker::{Ended, Setup, work};
pub use world::Given;
