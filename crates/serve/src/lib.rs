//! The server: one run and one document, any number of displays.
//!
//! In: a scenario, and the requests of displays over WebSocket (`docs/display-protocol.md`). Out: frames, events and
//! status for each of them, and the page that shows them.
//!
//! Start reading at `runner.rs`: one thread owns the run, takes requests between two steps, and puts what it
//! looks like on a board. Everything else (`link`, `http`) passes messages to it, and takes them from there.
//!
//! *Invariants:* the run never waits for a display. A request that is refused changes nothing. Nothing
//! outside the project's folder is read or written.

pub mod again;
mod answer;
mod board;
mod comms;
mod desk;
mod document;
mod edits;
mod files;
pub mod frame;
mod guard;
mod http;
mod hub;
mod inspect;
mod link;
mod maps;
mod message;
pub mod modules;
mod pace;
mod page;
mod parcel;
mod problems;
mod relay;
mod runner;
mod screen;
mod server;
mod shot;
mod show;
mod tape;
mod tell;
mod workers;
mod world;

pub use message::fuzz_request;
pub use modules::ModuleServer;
pub use relay::{Relay, RelayOptions, Traffic};
pub use screen::Screen;
pub use server::{Options, Server, StartError};

/// Version of the protocol.
pub const PROTOCOL: u32 = 1;
