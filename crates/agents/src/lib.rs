//! Where controllers and part models run that are not part of this program: sandboxed WebAssembly, and
//! processes.
//!
//! In: the latched registers of one robot. Out: what its program poked, what it said, and how long it
//! thought. A program that hangs, crashes or answers garbage costs only its own robot.

pub mod compiler;
mod header;
mod module;
mod part;
mod program;
pub mod wasm;
mod workshop;

pub use compiler::CompileError;
pub use header::c_header;
pub use workshop::{Code, Target, Workshop, is_source};

use std::sync::Arc;
use swarmyard_part_api::Registry;

/// Registers the controllers and part models of this crate, which find their code in `workshop`.
pub fn register(registry: &mut Registry, workshop: &Arc<Workshop>) {
    registry.add(program::class(workshop));
    registry.add(part::sensor_class(workshop));
    registry.add(part::drive_class(workshop));
}
