//! A run in the hand of a program: load a world, step it, look at it, steer it, go back.
//!
//! In: scenario text, commands. Out: frames, poses, channels, registers, marks, snapshots. Everything
//! that drives a run (the command, the server, the bindings) goes through [`Sim`], and nothing else
//! calls the engine's step.
//!
//! *Invariant:* this crate knows no display, no recording and no network.

mod crowd;
mod folder;
mod mapper;
mod measure;
mod modules;
pub mod occupancy;
mod sim;
mod statistics;
mod timeline;
pub mod witness;

pub use crowd::{Crowd, Progress, Run, Shelf};
pub use folder::{Folder, MOST_TEXT, read_text};
pub use mapper::Mapper;
pub use measure::{Gauge, Quantity};
pub use modules::{KERNEL, Modules};
pub use sim::{Error, Options, Scenario, Shelved, Sim, registry_with, standard_registry};
pub use statistics::{ElsewhereFigures, LinkFigures, RobotFigures, Statistics, WorkerFigures};
pub use timeline::{Timeline, View};
pub use witness::Witness;
