//! What algorithms do, against what theory says.

mod common;
mod executors;
mod frames;
mod orca;
mod sequential;
mod theory;
mod theory_circle;
mod theory_compass;
mod theory_flocks;
mod theory_gathering;
mod theory_life_line;
mod theory_settling;
mod theory_unreliable;
mod theory_weber;
