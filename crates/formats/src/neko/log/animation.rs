//! Where robots are between the lines of a log.
//!
//! In: the lines. Out: per robot the stretches from row to row, and its pose at any time. A robot goes or
//! turns until it has done what its row says, and then stands until its next row; before its first row it
//! stands where that says. Memory is bounded by [`MAX_STRETCHES`].

use super::{Entry, Line, Motion};
use std::collections::BTreeMap;
use swarmyard_base::{Diagnostic, Pose2, Vec2, math};

/// Most rows of one animation.
pub const MAX_STRETCHES: usize = 1_000_000;

/// What a robot does from one row to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// When it begins.
    pub from_s: f64,
    /// Where it begins.
    pub position: Vec2,
    /// Where the robot looks then.
    pub heading_rad: f64,
    /// How fast it goes, per second.
    pub velocity: Vec2,
    /// How fast it turns, per second.
    pub turn_rad_s: f64,
    /// How long it goes, if no row comes before.
    pub going_s: f64,
    /// How long it turns, if no row comes before.
    pub turning_s: f64,
}

impl Stretch {
    fn of(row: &Motion) -> Stretch {
        let [position, destination] = [row.position, row.destination].map(|[x, y]| Vec2::new(x, y));
        let heading_rad = row.angle_deg.to_radians();
        let way = destination - position;
        // Three decimals of a place say more about a long way than three decimals of an angle.
        let direction = if way.norm() > 1.0 { way * (1.0 / way.norm()) } else { Vec2::at_angle(heading_rad) };
        let (speed, turn_speed) = (row.move_speed.abs(), row.turn_speed_deg.abs());
        let lasts = |amount: f64, speed: f64| if speed > 0.0 { amount.abs() / speed } else { 0.0 };
        Stretch {
            from_s: row.time_s,
            position,
            heading_rad,
            velocity: direction * speed,
            turn_rad_s: (turn_speed * row.turn_deg.signum()).to_radians(),
            going_s: lasts(row.distance, speed),
            turning_s: lasts(row.turn_deg, turn_speed),
        }
    }

    /// Where the robot is at a time, if no other row comes before.
    #[must_use]
    pub fn pose_at(&self, time_s: f64) -> Pose2 {
        let passed = math::max(time_s - self.from_s, 0.0);
        Pose2 {
            at: self.position + self.velocity * math::min(passed, self.going_s),
            heading: math::wrap_angle(self.heading_rad + self.turn_rad_s * math::min(passed, self.turning_s)),
        }
    }
}

/// The stretches of every robot, in the order of time.
///
/// Of several rows of a robot at one time the last one counts.
///
/// # Errors
/// When there are more than [`MAX_STRETCHES`].
pub fn poses<'l>(
    lines: impl IntoIterator<Item = &'l Line>,
) -> Result<BTreeMap<u32, Vec<Stretch>>, Diagnostic> {
    Animation::of(lines).map(|a| a.robots)
}

/// A log as a moving picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Animation {
    /// The stretches of every robot that has a row, in the order of time.
    pub robots: BTreeMap<u32, Vec<Stretch>>,
    /// The latest time of any line.
    pub end_s: f64,
}

impl Animation {
    /// The animation of a log.
    ///
    /// # Errors
    /// When there are more than [`MAX_STRETCHES`] rows.
    pub fn of<'l>(lines: impl IntoIterator<Item = &'l Line>) -> Result<Animation, Diagnostic> {
        let mut animation = Animation::default();
        let mut total = 0;
        for line in lines {
            animation.end_s = line.time_s().map_or(animation.end_s, |t| math::max(t, animation.end_s));
            let Entry::Motion(row) = &line.entry else { continue };
            let stretches = animation.robots.entry(row.robot).or_default();
            if let Some(last) = stretches.last_mut().filter(|s| s.from_s == row.time_s) {
                *last = Stretch::of(row);
                continue;
            }
            stretches.push(Stretch::of(row));
            total += 1;
            if total > MAX_STRETCHES {
                let what = format!("an animation may have at most `{MAX_STRETCHES}` rows");
                return Err(Diagnostic::error("too-big", what));
            }
        }
        // A log that was put together from several need not be in order.
        for stretches in animation.robots.values_mut() {
            stretches.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
        }
        Ok(animation)
    }

    /// Where a robot is at a time; `None` when it has no row.
    #[must_use]
    pub fn pose_at(&self, robot: u32, time_s: f64) -> Option<Pose2> {
        let stretches = self.robots.get(&robot)?;
        let after = stretches.partition_point(|s| s.from_s <= time_s);
        Some(stretches.get(after.saturating_sub(1))?.pose_at(time_s))
    }
}
