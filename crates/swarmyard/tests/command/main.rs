//! The command, from outside: what it prints, where, and with which exit code.

mod bench;
#[cfg(feature = "cluster")]
#[path = "../common/carts.rs"]
mod carts;
mod changes;
mod check;
mod convert;
mod demo;
mod header;
#[path = "../common/in_step.rs"]
mod in_step;
mod neko;
mod project;
mod recordings;
mod run;
mod signals;
mod sweep;
mod talk;
#[cfg(feature = "cluster")]
mod workers;
mod yard;
