//! What the conformance suites share: dice, independent geometry, generated worlds ([`generate`]), and the files
//! of the project.
//!
//! The suites themselves are in `tests/`, one file per promise. Nothing here is used by the simulator.
//!
//! The oracles ([`oracle`]) stand on parry2d and on textbook formulae, never on the code under test.

mod dice;
mod files;
mod folder;
pub mod gas;
pub mod generate;
pub mod oracle;
mod shuffle;
mod yard;

pub use dice::Dice;
pub use files::{World, read, root, rust_files, worlds, write};
pub use folder::{Folder, workshop};
pub use shuffle::shuffled;
pub use yard::{Look, Yard};
