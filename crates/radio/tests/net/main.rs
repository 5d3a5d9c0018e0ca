//! Networks against closed forms, published numbers and another simulator.

mod access;
mod delays;
mod memory;
mod propagation;
mod speed;
mod world;

use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Time, Uid, Vec2};

fn v(x: f64, y: f64) -> Vec2 {
    Vec2 { x, y }
}

/// Draws for the tests themselves.
fn chance(number: u64) -> Draw {
    Draw::at(11, Uid(number), Purpose::Test, Time::ZERO, 0)
}
