//! What the library does as the command uses it: worlds that change, programs, part models, rewinding.

mod change;
#[path = "../common/mod.rs"]
mod common;
mod documents;
mod library;
mod mapper;
mod measures;
mod part_models;
mod programs;
mod timeline;
