//! A velocity that is kept: moving obstacles.

use swarmyard_base::math::approach;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2};
use swarmyard_part_api::{
    ActRows, ActView, Actuator, Built, Class, Kind, Layout, Param, ParamType, Segment, Sheet, TypeLayout,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class { sheet: sheet(), build: Some(build) }
}

fn sheet() -> Sheet {
    Sheet::new("drift", Kind::Actuator, "Keeps a velocity in the world's frame, and returns to it after an impact. What moves moving obstacles.")
        .param(
            Param::new("velocity", ParamType::Numbers { unit: Unit::MetrePerSecond, min_len: 2, max_len: 2 }, "Velocity in the world's frame.")
                .or(Value::Nums(vec![0.0, 0.0])),
        )
        .param(Param::number("spin", Unit::RadianPerSecond, "Turning speed.").within(-1.0e4, 1.0e4).or_num(0.0))
        .param(Param::number("acceleration", Unit::MetrePerSecond2, "How fast it returns to its velocity after an impact. At once when left out.").within(0.0, 1.0e6))
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"drift\"\nvelocity = [0.3, 0]\nspin = \"10deg/s\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let v = p.nums("velocity");
    Ok(Built::Actuator(Box::new(Drift {
        velocity: Vec2::new(v[0], v[1]),
        spin: p.num("spin"),
        acceleration: p.num_or_none("acceleration").unwrap_or(f64::INFINITY),
    })))
}

struct Drift {
    velocity: Vec2,
    spin: f64,
    acceleration: f64,
}

impl Actuator for Drift {
    fn layout(&self) -> Layout {
        Layout::default()
    }

    fn act(&self, view: &ActView<'_>, rows: &mut ActRows<'_>) {
        let most = self.acceleration * view.quantum_s;
        for (row, segment) in rows.segments.iter_mut().enumerate() {
            let slot = rows.first_slot + row;
            let (rot, twist) = (view.bodies.rot[slot], view.bodies.twist[slot]);
            let now = rot.apply(twist.linear());
            let missing = self.velocity - now;
            let gap = missing.norm();
            let velocity = if gap <= most { self.velocity } else { now + missing * (most / gap) };
            let spin = approach(twist.spin, self.spin, most);
            *segment = Segment::glide(0.0, view.bodies.pose[slot], rot, velocity, spin);
        }
    }
}
