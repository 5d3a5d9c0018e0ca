//! Drive one robot by hand and see where it gets.
//!
//! ```text
//!            y [m]
//!     0.57 ┤        ● after 1 s, heading 1 rad
//!          │     .
//!          │  .          left wheel 1.0 m/s, right wheel 1.5 m/s,
//!        0 ●─────────▶   wheels 0.5 m apart: v = 1.25 m/s, ω = 1 rad/s
//!          0       1.05  x [m]
//! ```
//!
//! Run it: `cargo run -p swarmyard --example 01_drive_an_arc`

use swarmyard::Sim;

const WORLD: &str = r#"
format = 1

[type.cart]
radius = "20cm"

[[type.cart.part]]
name = "drive"
class = "diff-drive"
base = "50cm"
max_speed = "2m/s"

[[robot]]
name = "r1"
type = "cart"
"#;

fn main() -> Result<(), swarmyard::Error> {
    let mut sim = Sim::from_text(WORLD)?;
    sim.command("/robots/r1/drive", "left", &[1.0])?;
    sim.command("/robots/r1/drive", "right", &[1.5])?;
    for _ in 0..10 {
        sim.step()?;
        if let Some(pose) = sim.pose("/robots/r1") {
            println!(
                "{:>6}: x {:.4} m, y {:.4} m, heading {:.4} rad",
                sim.now(),
                pose.at.x,
                pose.at.y,
                pose.heading
            );
        }
    }
    println!("hash {:016x}", sim.hash());
    Ok(())
}
