//! Where controllers and part models run that are not part of this program: sandboxed WebAssembly, and
//! processes.
//!
//! In: the latched registers of one robot. Out: what its program poked, what it said, and how long it
//! thought. A program that hangs, crashes or answers garbage costs only its own robot.
//!
//! And where protocols of robots run that are: [`wire`] is their runner over real sockets.

pub mod compiler;
mod crew;
mod far;
pub mod fresh;
mod header;
mod image;
mod live;
mod module;
mod native;
mod part;
pub mod process;
mod program;
pub mod wasm;
pub mod wire;
mod workshop;

pub use compiler::CompileError;
pub use crew::{Answer, Away, Crew, Due, Shown, Stand};
pub use far::price::{Meter, Price, Prices};
pub use far::{SANDBOX, compute};
pub use header::c_header;
pub use workshop::{Code, Elsewhere, Target, Workshop, is_source, path_in_project};

use std::sync::Arc;
use swarmyard_part_api::{Built, Class, Controller, Registry, ThinkRows, ThinkView};

/// For fuzzing: no bytes may make the sandbox panic, hang or allocate without bound.
pub fn fuzz_program(data: &[u8]) {
    wasm::fuzz(data);
}

/// For fuzzing: nothing a native program answers may make its reader panic or stand still.
pub fn fuzz_answers(data: &[u8]) {
    process::fuzz(data);
}

/// Registers the same classes without code: their controllers do nothing. For whoever wants to know about
/// a scenario whose programs are not written yet.
pub fn register_idle(registry: &mut Registry) {
    struct Idle;
    impl Controller for Idle {
        fn think(&self, _: &ThinkView, _: &mut ThinkRows<'_>) {}
    }
    for sheet in [native::sheet(), program::sheet()] {
        registry.add(Class::new(sheet, |_, _| Ok(Built::Controller(Box::new(Idle)))));
    }
    live::register_idle(registry);
}

/// Registers the controllers, algorithms and part models of this crate, which find their code in `workshop`.
pub fn register(registry: &mut Registry, workshop: &Arc<Workshop>) {
    registry.add(native::class(workshop));
    registry.add(program::class(workshop));
    live::register(registry, workshop);
    registry.add(part::sensor_class(workshop));
    registry.add(part::drive_class(workshop));
}
