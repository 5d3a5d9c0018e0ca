//! Write a sensor of your own: a compass, with its sheet, in one file.
//!
//! ```text
//!        north (y) ▲       reading = heading of the robot against north,
//!                  │  ╱      counter-clockwise, in radians
//!                  │ ╱ robot
//! ```
//!
//! Run it: `cargo run -p swarmyard --example 03_your_own_part`

use swarmyard::base::math::wrap_angle;
use swarmyard::base::units::Unit;
use swarmyard::formats::NoFiles;
use swarmyard::part_api::{Built, Channel, Class, Kind, Layout, SenseRows, Sensor, Sheet, World};
use swarmyard::{Options, Sim, standard_registry};

struct Compass;

fn sheet() -> Sheet {
    Sheet::new("compass", Kind::Sensor, "Heading against north, which is along y.")
        .channel(Channel::reading("north", 1, Unit::Radian, (-3.15, 3.15), "Heading against north."))
        .level("every", "Exact.")
        .example("[[type.demo.part]]\nname = \"compass\"\nclass = \"compass\"")
}

impl Sensor for Compass {
    fn layout(&self) -> Layout {
        Layout { channels: sheet().channels, ..Layout::default() }
    }

    fn reach(&self) -> f64 {
        0.0
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        for row in 0..rows.len {
            let heading = world.bodies.pose[rows.first_slot + row].heading;
            rows.out.row(row)[0] = wrap_angle(heading - std::f64::consts::FRAC_PI_2);
        }
    }
}

fn main() -> Result<(), swarmyard::Error> {
    let mut registry = standard_registry();
    registry.add(Class::new(sheet(), |_, _| Ok(Built::Sensor(Box::new(Compass)))));
    println!("{}", swarmyard::formats::describe(&sheet()));
    let world = swarmyard::formats::example_scenario(&sheet());
    let mut sim = Sim::read("example", &world, &NoFiles, &registry, &Options::default())?;
    sim.step()?;
    println!("the robot looks east, so north is {:?} rad off", sim.channel("/robots/r/compass", "north"));
    Ok(())
}
