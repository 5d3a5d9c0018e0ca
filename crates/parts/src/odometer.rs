//! Wheel encoders, and the dead reckoning they allow.

use std::f64::consts::PI;
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Pose2, Twist2, math};
use swarmyard_part_api::{
    Built, Channel, Class, Kind, Layout, Param, ParamType, Port, PortChannel, Segment, SenseRows, Sensor,
    Sheet, TypeLayout, World,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

const RESET: (&str, &str) = ("reset", "Writing anything sets counts and reckoning back to zero. Reads zero.");

fn sheet() -> Sheet {
    const ANY: (f64, f64) = (f64::MIN, f64::MAX);
    Sheet::new("odometer", Kind::Sensor, "Encoders on both wheels of a differential drive: cumulative counts, and the pose reckoned from them. Counts follow the wheels, so slip leads the reckoning astray as on a real robot.")
        .param(Param::new("drive", ParamType::Name("part"), "The drive whose wheels are counted; the only one when left out."))
        .param(Param::number("base", Unit::Metre, "Distance between the wheels, as the reckoning believes it; the drive's own when left out.").within(1e-4, 1.0e3))
        .param(Param::number("wheel_radius", Unit::Metre, "Radius of the wheels.").within(1e-4, 1.0e3).or_num(0.03))
        .param(Param::new("counts", ParamType::Int { min: 1, max: 10_000_000 }, "Counts per turn of a wheel (four per line of a quadrature encoder).").or(Value::Int(2000)))
        .channel(Channel::reading("left", 1, Unit::None, ANY, "Counts of the left wheel since the start."))
        .channel(Channel::reading("right", 1, Unit::None, ANY, "Counts of the right wheel since the start."))
        .channel(Channel::reading("x", 1, Unit::Metre, ANY, "Reckoned position forward of the start."))
        .channel(Channel::reading("y", 1, Unit::Metre, ANY, "Reckoned position left of the start."))
        .channel(Channel::reading("heading", 1, Unit::Radian, (-PI, PI), "Reckoned heading relative to the start."))
        .port(RESET.0, RESET.1)
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.demo.part]]\nname = \"odometer\"\nclass = \"odometer\"\ncounts = 500")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let drive = layout.part(p.text_or_none("drive"), "diff-drive").map_err(|d| d.at(p.span("drive")))?;
    let slip = layout.channel(drive, "left_slip")?.0;
    let base = layout.parts[drive].2.base.unwrap_or(1.0);
    Ok(Built::Sensor(Box::new(Odometer {
        drive,
        slip,
        base,
        believed_base: p.num_or_none("base").unwrap_or(base),
        counts_per_m: p.int("counts") as f64 / (2.0 * PI * p.num("wheel_radius")),
    })))
}

struct Odometer {
    drive: usize,
    slip: usize,
    base: f64,
    believed_base: f64,
    counts_per_m: f64,
}

struct Reset;

impl Port for Reset {
    fn read(&self, _: &mut [f64]) -> u32 {
        0
    }

    fn write(&self, state: &mut [f64], _: u32) {
        state.fill(0.0);
    }
}

impl Sensor for Odometer {
    fn layout(&self) -> Layout {
        // Private state: metres that each wheel has rolled (counts are made from it, never re-rounded),
        // then the last counts and the reckoned pose.
        Layout { channels: sheet().channels, state: vec![0.0; 7], ..Layout::default() }
    }

    fn reach(&self) -> f64 {
        0.0
    }

    fn ports(&self) -> Vec<PortChannel> {
        vec![PortChannel { name: RESET.0, summary: RESET.1, port: Arc::new(Reset) }]
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        for row in 0..rows.len {
            let moved = world.bodies.moved[rows.first_slot + row];
            let slip = &rows.siblings.row(self.drive, row)[self.slip..self.slip + 2];
            let (rolled, old) = rows.next_state.row(row).split_at_mut(2);
            let swing = moved.spin * self.base / 2.0;
            for (k, ground) in [moved.forward - swing, moved.forward + swing].into_iter().enumerate() {
                // A wheel that slips by s moves the robot by (1 + s) of what it rolls.
                rolled[k] += if slip[k] > -0.999 { ground / (1.0 + slip[k]) } else { 0.0 };
            }
            let counts = [0, 1].map(|k| (rolled[k] * self.counts_per_m).floor());
            let step = [0, 1].map(|k| (counts[k] - old[k]) / self.counts_per_m);
            let twist = Twist2::new((step[0] + step[1]) / 2.0, 0.0, (step[1] - step[0]) / self.believed_base);
            let before = Pose2::new(old[2], old[3], old[4]);
            let pose = Segment::arc(0.0, before, before.rot(), twist).pose_at(1.0);
            old.copy_from_slice(&[
                counts[0],
                counts[1],
                pose.at.x,
                pose.at.y,
                math::wrap_angle(pose.heading),
            ]);
            rows.out.row(row).copy_from_slice(old);
        }
    }
}
