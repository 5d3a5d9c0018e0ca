//! Stream modules: programs in a chain, each reading and writing lines `Sender Recipient Command [variables]`.
//!
//! In: a source of lines and any number of programs. Out: what comes out of the last one, and what happened on the way.
//!
//! Start reading at [`link`]: one module and its place in the chain, without its process. [`chain`] puts them in order,
//! [`pipe`] gives them processes on one machine or, by [`pipe::Places`], elsewhere. `docs/modules.md` is for people.
//!
//! *Invariants:* the output of a chain of programs that answer the same to the same input is a function of what the
//! source and the controller said; speed, deaths and restarts of modules change no byte of it. Bad lines are kept,
//! counted and told; they never go on.

pub mod builtin;
pub mod chain;
pub mod control;
pub mod event;
pub mod head;
pub mod line;
pub mod link;
pub mod pipe;
pub mod scenery;

pub use chain::{Chain, ChainError};
pub use control::{Control, Universe};
pub use event::{Event, How, Trouble, What};
pub use head::Head;
pub use line::{BadLine, Line, Reason, Splitter, fuzz_line};
pub use link::{Ending, Link, LinkLimits, Stamped};
pub use scenery::Scenery;
