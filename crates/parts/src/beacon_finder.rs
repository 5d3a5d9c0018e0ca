//! A direction finder for beacons: who is where around the robot, but never how far.

use std::f64::consts::PI;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Pose2, Ratio, Vec2, math};
use swarmyard_part_api::{
    Beacon, Built, Channel, Class, Detail, Kind, Layout, Mark, MarkShape, Outline, Param, ParamType,
    SenseRows, Sensor, Sheet, TypeLayout, World,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

/// The code of a slot without beacon.
pub(crate) const NOBODY: f64 = -1.0;

/// How far past the border of an aperture still counts, so that rounding decides nothing there.
const APERTURE_SLACK: f64 = 1e-12;

fn sheet() -> Sheet {
    Sheet::new("beacon-finder", Kind::Sensor, "Direction finder for infrared beacons: bearing and code of each beacon it sees, never the distance. A beacon is seen when it is within its own range and the finder's, each of the two is in the other's aperture, and nothing stands between them.")
        .param(Param::new("slots", ParamType::Int { min: 1, max: 64 }, "Most beacons it reports; of more, those with the lowest codes.").or(Value::Int(4)))
        .param(Param::number("range", Unit::Metre, "Greatest distance at which it sees a beacon, if the beacon reaches that far.").within(1e-3, 1.0e5).or_num(10.0))
        .param(Param::number("aperture", Unit::Radian, "Full angle of view around the mount's heading; all around when left out.").within(0.0, 2.0 * PI).or_num(2.0 * PI))
        .param(Param::new("sectors", ParamType::Int { min: 0, max: 3600 }, "Number of equal sectors of the aperture that it can tell apart: bearings are then the middles of sectors. 0 means exact bearings.").or(Value::Int(0)))
        .param(Param::new("mount", ParamType::Pose, "Where it is fixed on the body; bearings count from its heading.").or(Value::Pose(Pose2::default())))
        .param(Param::number("height", Unit::Metre, "Height above the floor. What is lower than the line to a beacon does not hide it.").within(0.0, 1.0e4).or_num(0.2))
        .param(Param::number("noise", Unit::Radian, "Standard deviation of bearings.").within(0.0, PI).or_num(0.0))
        .param(Param::new("period", ParamType::Period, "Time between readings; every quantum when left out."))
        .channel(Channel::reading("bearing", 4, Unit::Radian, (-PI, PI), "Bearing of each beacon from the mount's heading, in the order of their codes; 0 in empty slots."))
        .channel(Channel::reading("id", 4, Unit::None, (NOBODY, 65_535.0), "Code of each beacon; -1 in empty slots."))
        .channel(Channel::reading("count", 1, Unit::None, (0.0, 64.0), "Number of beacons reported."))
        .level("coarse", "Bearings without noise.")
        .level("normal", "Bearings with noise.")
        .level("fine", "As normal.")
        .marks("a short line towards each beacon it sees, and its code")
        .example("[[type.demo.part]]\nname = \"finder\"\nclass = \"beacon-finder\"\naperture = \"180deg\"\nrange = \"6m\"\nnoise = \"1deg\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Sensor(Box::new(BeaconFinder {
        slots: p.int("slots") as usize,
        range: p.num("range"),
        aperture: p.num("aperture"),
        sectors: p.int("sectors") as f64,
        mount: p.pose("mount"),
        height: p.num("height"),
        noise: p.num("noise"),
        period: p.ratio_or_none("period"),
        number: layout.parts.len() as u32,
    })))
}

struct BeaconFinder {
    slots: usize,
    range: f64,
    aperture: f64,
    sectors: f64,
    mount: Pose2,
    height: f64,
    noise: f64,
    period: Option<Ratio>,
    /// Number of the part in its type: two finders of one robot do not share their noise.
    number: u32,
}

impl BeaconFinder {
    /// Bearing of a beacon from the robot in `slot`; `None` when it is not seen.
    fn see(&self, world: &World<'_>, slot: usize, beacon: &Beacon) -> Option<f64> {
        let (pose, rot) = (world.bodies.pose[slot], world.bodies.rot[slot]);
        let eye = pose.at + rot.apply(self.mount.at);
        let away = beacon.pose.at - eye;
        let reach = math::min(self.range, beacon.range);
        // The cheap tests first: most beacons are too far away.
        if away.norm2() > reach * reach || away.norm2() == 0.0 {
            return None;
        }
        let back = math::wrap_angle((-away).angle() - beacon.pose.heading);
        let bearing = math::wrap_angle(rot.unapply(away).angle() - self.mount.heading);
        let both = within(back, beacon.aperture) && within(bearing, self.aperture);
        let sees = || world.line_of_sight((eye, self.height), (beacon.pose.at, beacon.height), &[slot]);
        (both && sees()).then_some(bearing)
    }

    /// What the receiver makes of a bearing: noise first, then the middle of a sector.
    fn report(&self, bearing: f64, noise: f64) -> f64 {
        let noisy = math::wrap_angle(bearing + noise);
        if self.sectors == 0.0 || self.aperture == 0.0 {
            return noisy;
        }
        let width = self.aperture / self.sectors;
        let sector =
            math::min(math::max(((noisy + self.aperture / 2.0) / width).floor(), 0.0), self.sectors - 1.0);
        (sector + 0.5) * width - self.aperture / 2.0
    }
}

/// Whether an angle off the middle lies in an aperture.
fn within(off: f64, aperture: f64) -> bool {
    off.abs() <= aperture / 2.0 + APERTURE_SLACK
}

impl Sensor for BeaconFinder {
    fn layout(&self) -> Layout {
        let len = |c: &Channel| if c.name == "count" { 1 } else { self.slots };
        let channels = sheet().channels.into_iter().map(|c| Channel { len: len(&c), ..c }).collect();
        Layout { channels, ..Layout::default() }
    }

    fn period(&self) -> Option<Ratio> {
        self.period
    }

    fn reach(&self) -> f64 {
        self.mount.at.norm() + self.range
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        let noisy = self.noise > 0.0 && world.detail != Detail::Coarse;
        for row in 0..rows.len {
            let slot = rows.first_slot + row;
            let draw =
                Draw::at(world.seed, world.bodies.uid[slot], Purpose::BearingNoise, world.now, self.number);
            let (bearings, rest) = rows.out.row(row).split_at_mut(self.slots);
            let (ids, count) = rest.split_at_mut(self.slots);
            bearings.fill(0.0);
            ids.fill(NOBODY);
            let mut seen = 0;
            // The world keeps beacons in the order of their codes, so the first ones are the lowest.
            for beacon in world.beacons {
                if seen == self.slots {
                    break;
                }
                if let Some(bearing) = self.see(world, slot, beacon) {
                    // Addressed by the beacon, so that another one more or less changes nothing here.
                    let noise = if noisy { self.noise * draw.normal(beacon.uid.0 as u32) } else { 0.0 };
                    bearings[seen] = self.report(bearing, noise);
                    ids[seen] = f64::from(beacon.id);
                    seen += 1;
                }
            }
            count[0] = seen as f64;
        }
    }

    fn marks(&self, readings: &[f64], outline: &Outline) -> Vec<Mark> {
        let (bearings, rest) = readings.split_at(self.slots);
        let seen = |k: &usize| rest[*k] != NOBODY;
        let marks = (0..self.slots).filter(seen).flat_map(|index| {
            let to = Vec2::at_angle(self.mount.heading + bearings[index]);
            let end = self.mount.at + to * (3.0 * outline.reach());
            let line = MarkShape::Line(vec![self.mount.at, end]);
            let code = MarkShape::Text { at: end, text: rest[index].to_string() };
            [Mark { shape: line, channel: "bearing", index }, Mark { shape: code, channel: "id", index }]
        });
        marks.collect()
    }
}
