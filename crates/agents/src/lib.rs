//! Where controllers run that are not part of this program: sandboxed WebAssembly, and processes.
//!
//! In: the latched registers of one robot. Out: what its program poked, what it said, and how long it
//! thought. A program that hangs, crashes or answers garbage costs only its own robot.

pub mod process;
