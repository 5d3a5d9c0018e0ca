//! Write an algorithm of your own, for robots that live by events: whoever has the word goes a metre and passes it on.
//!
//! ```text
//!   r1 ●── 1 m ──▶          the word goes r1 → r2 → r3 → r1 …, 10 ms each time
//!   r2 ●── 1 m ──▶          a metre at 0.5 m/s takes 2 s: after 12 s all have
//!   r3 ●── 1 m ──▶          gone two, but for the time the word took
//! ```
//!
//! Run it: `cargo run -p swarmyard --example 04_your_own_algorithm`

use std::sync::Arc;
use swarmyard::algorithms::sequential::{Robot, program};
use swarmyard::formats::NoFiles;
use swarmyard::part_api::{Built, Class, Kind, ServiceKind, Sheet};
use swarmyard::{Options, Sim, standard_registry};

/// It waits where the robot waits, and may depend on nothing but its value and what it is told.
async fn pass_it_on(robot: Robot, speed_mps: f64) {
    let next = (robot.me() + 1) % robot.robots();
    let mut steps = 0_u32;
    if robot.me() != 0 {
        (_, steps) = robot.receive().await;
    }
    loop {
        robot.forward(1.0, speed_mps).await;
        robot.send(&[next], &(steps + 1));
        (_, steps) = robot.receive().await;
    }
}

const WORLD: &str = r#"
format = 1
network = { class = "constant", delay = "10ms" }
[type.cart]
radius = "20cm"
part = [{ name = "wheels", class = "wheels" }]
algorithm = { class = "pass-it-on" }
[[robot]]
name = "r"
type = "cart"
count = 3
layout = { class = "row", step = [0, -1] }
"#;

fn main() -> Result<(), swarmyard::Error> {
    let mut registry = standard_registry();
    let sheet = Sheet::new("pass-it-on", Kind::Algorithm, "Goes a metre when it has the word.");
    let algorithm = || program(&[ServiceKind::Motion, ServiceKind::Link], 0.5, pass_it_on);
    registry.add(Class::new(sheet, move |_, _| Ok(Built::Protocol(Arc::new(algorithm())))));
    let mut sim = Sim::read("example", WORLD, &NoFiles, &registry, &Options::default())?;
    sim.run_until(12.0)?;
    for robot in ["/robots/r1", "/robots/r2", "/robots/r3"] {
        println!("{robot}: {:?}", sim.pose(robot).map(|pose| pose.at));
    }
    Ok(())
}
