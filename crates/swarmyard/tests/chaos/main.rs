//! Runs on worker processes and hosts, and harm done to them at random moments: each finished run has the hashes of an
//! undisturbed one, and nothing is left running.
//!
//! `SWARMYARD_CHAOS_SEEDS` says how many runs are disturbed in all (10 by default, 100 by `cargo xtask chaos`).

mod cut_off;
mod frozen;
#[path = "../common/in_step.rs"]
mod in_step;
mod keeper_gone;
mod keeper_with_inputs;
mod killed;
mod late;
mod named;
mod nets;
mod refused;
mod slow_link;
mod talk_across;
mod withdrawn;
mod yard;
