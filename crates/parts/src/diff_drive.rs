//! Two driven wheels side by side: the exact arc of their speeds, every quantum.
//!
//! Wheels that something holds up do not spin on: after a contact they turn as the floor passes under
//! them, so a robot that stands at a wall starts from rest again and again. That is a stall, and it is
//! reported.

use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::math::approach;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Twist2, math};
use swarmyard_part_api::{
    ActRows, ActView, Actuator, Built, Channel, Class, Detail, Kind, Layout, Param, ParamType, Segment,
    Sheet, TypeLayout,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    const FAST: (f64, f64) = (f64::MIN, f64::MAX);
    Sheet::new("diff-drive", Kind::Actuator, "Two driven wheels side by side. Wheel speeds change at the start of a quantum and then stay, so the motion is an exact arc.")
        .param(Param::number("base", Unit::Metre, "Distance between the wheels.").within(1e-4, 1.0e3).or_num(0.2))
        .param(Param::number("max_speed", Unit::MetrePerSecond, "Greatest wheel speed; commands beyond it are cut.").within(0.0, 1.0e4).or_num(1.0))
        .param(Param::number("acceleration", Unit::MetrePerSecond2, "Greatest change of a wheel's speed per second. Unlimited when left out.").within(0.0, 1.0e6))
        .param(Param::number("grip", Unit::None, "Friction of the wheels on the floor: limits how fast the drive gets its robot back on course after an impact, and sideways sliding. Unlimited when left out.").within(0.0, 100.0))
        .param(Param::number("slip", Unit::None, "Standard deviation of wheel slip, as a share of the wheel's speed, drawn per wheel and quantum.").within(0.0, 1.0).or_num(0.0))
        .param(Param::new("motion_noise", ParamType::Numbers { unit: Unit::None, min_len: 6, max_len: 6 }, "Thrun's velocity motion model, a1 to a6: the speed is off by a variance of a1 v² + a2 w², the turning speed by a3 v² + a4 w² and a further a5 v² + a6 w², drawn per quantum. The wheels do not notice, so the odometer does not either; a wheel that stands holds its side."))
        .param(Param::number("stall_speed", Unit::MetrePerSecond, "How much slower than a wheel wants to turn the floor must pass under it for a stall.").within(1e-9, 1.0e4).or_num(1e-3))
        .param(Param::number("stall_time", Unit::Second, "Time of stalling after which the motors cut out, until both wheels are commanded to stand. Never when left out.").within(0.0, 1.0e6))
        .channel(Channel::command("left", 1, Unit::MetrePerSecond, FAST, "Wanted speed of the left wheel."))
        .channel(Channel::command("right", 1, Unit::MetrePerSecond, FAST, "Wanted speed of the right wheel."))
        .channel(Channel::reading("left_speed", 1, Unit::MetrePerSecond, FAST, "Speed of the left wheel."))
        .channel(Channel::reading("right_speed", 1, Unit::MetrePerSecond, FAST, "Speed of the right wheel."))
        .channel(Channel::reading("left_slip", 1, Unit::None, (-1.0, 1.0), "Slip of the left wheel in this quantum."))
        .channel(Channel::reading("right_slip", 1, Unit::None, (-1.0, 1.0), "Slip of the right wheel in this quantum."))
        .channel(Channel::reading("stalled", 1, Unit::None, (0.0, 1.0), "1 when a wheel was held up in the quantum before this one, or the motors are cut out."))
        .level("coarse", "Limit of speed only.")
        .level("normal", "Limits of speed, acceleration and grip; slip.")
        .level("fine", "As normal.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nbase = \"16cm\"\nacceleration = \"0.5m/s2\"\nslip = \"2%\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Actuator(Box::new(DiffDrive {
        base: p.num("base"),
        max_speed: p.num("max_speed"),
        acceleration: p.num_or_none("acceleration").unwrap_or(f64::INFINITY),
        grip: p.num_or_none("grip").unwrap_or(f64::INFINITY),
        slip: p.num("slip"),
        motion_noise: p.nums_or_none("motion_noise").and_then(|a| a.try_into().ok()),
        stall_speed: p.num("stall_speed"),
        stall_time: p.num_or_none("stall_time").unwrap_or(f64::INFINITY),
    })))
}

struct DiffDrive {
    base: f64,
    max_speed: f64,
    acceleration: f64,
    grip: f64,
    slip: f64,
    motion_noise: Option<[f64; 6]>,
    stall_speed: f64,
    stall_time: f64,
}

/// Variances of speed, of turning speed, and of the further turning, by Thrun's velocity motion model.
fn variances(a: &[f64; 6], forward: f64, spin: f64) -> [f64; 3] {
    let (v, w) = (forward * forward, spin * spin);
    [a[0] * v + a[1] * w, a[2] * v + a[3] * w, a[4] * v + a[5] * w]
}

/// Places in the private state: the wheels' own speeds, the motion that was issued for them and for how
/// long, the time they stall already, and whether the motors are cut out.
const WHEEL: usize = 0;
const ISSUED: usize = 2;
const LENGTH: usize = 4;
const STALLING: usize = 5;
const CUT: usize = 6;
const STATE: usize = 7;

impl DiffDrive {
    /// How much a wheel's speed may change in one quantum.
    fn most_change(&self, view: &ActView<'_>) -> (f64, f64) {
        if view.detail == Detail::Coarse {
            return (f64::INFINITY, f64::INFINITY);
        }
        // Without a limit, zero gravity must not make one: ∞ · 0 is not a number.
        let grip = if self.grip.is_finite() { self.grip * view.gravity } else { f64::INFINITY };
        (math::min(self.acceleration, grip) * view.quantum_s, grip * view.quantum_s)
    }

    /// Speeds of the floor under the wheels for a motion.
    fn under_wheels(&self, motion: Twist2) -> [f64; 2] {
        let swing = motion.spin * self.base / 2.0;
        [motion.forward - swing, motion.forward + swing]
    }

    /// The slip with which wheels of these speeds give a motion that is off by the motion noise.
    fn astray(&self, noise: &[f64; 6], wheels: [f64; 2], slip: [f64; 2], draw: Draw) -> [f64; 2] {
        let ground = [0, 1].map(|k| wheels[k] * (1.0 + slip[k]));
        let (forward, spin) = ((ground[0] + ground[1]) / 2.0, (ground[1] - ground[0]) / self.base);
        let [v, w, more] = variances(noise, forward, spin).map(f64::sqrt);
        let off = Twist2 {
            forward: forward + v * draw.normal(2),
            left: 0.0,
            spin: spin + w * draw.normal(3) + more * draw.normal(4),
        };
        let ground = self.under_wheels(off);
        // A wheel that stands holds its side of the robot.
        [0, 1].map(|k| if wheels[k] == 0.0 { 0.0 } else { ground[k] / wheels[k] - 1.0 })
    }

    /// Whether something held up a wheel in the last quantum: the floor passed slower under it than the
    /// issued motion has it, or the wrong way. Slip is part of what was issued, so it is no stall.
    fn stalled(&self, state: &[f64], moved: Twist2) -> bool {
        let length = state[LENGTH];
        let issued = self.under_wheels(Twist2::new(state[ISSUED], 0.0, state[ISSUED + 1]));
        let rolled = self.under_wheels(moved);
        (0..2).any(|k| {
            let short = issued[k].signum() * (issued[k] * length - rolled[k]);
            issued[k] != 0.0 && short > self.stall_speed * length
        })
    }

    /// Time the wheels stall already, and whether the motors are cut out.
    fn protect(&self, state: &[f64], stalled: bool, command: &[f64]) -> (f64, bool) {
        let stalling = if stalled { state[STALLING] + state[LENGTH] } else { 0.0 };
        let released = command[0] == 0.0 && command[1] == 0.0;
        // A few nanoseconds less than the time is the time: quanta are summed.
        let cut = !released && (state[CUT] != 0.0 || (stalled && stalling >= self.stall_time - 1e-9));
        (stalling, cut)
    }
}

impl Actuator for DiffDrive {
    fn layout(&self) -> Layout {
        Layout {
            channels: sheet().channels,
            state: vec![0.0; STATE],
            base: Some(self.base),
            ..Layout::default()
        }
    }

    fn top_speed(&self) -> Option<f64> {
        Some(self.max_speed * (1.0 + self.slip))
    }

    fn act(&self, view: &ActView<'_>, rows: &mut ActRows<'_>) {
        let (change, slide_change) = self.most_change(view);
        let noisy = (self.slip > 0.0 || self.motion_noise.is_some()) && view.detail != Detail::Coarse;
        for row in 0..rows.segments.len() {
            let slot = rows.first_slot + row;
            let twist = view.bodies.twist[slot];
            let state = rows.state.row(row);
            // Undisturbed, the wheels turn as they did; after an impact they turn as the floor
            // passes under them.
            let undisturbed = twist.forward == state[ISSUED] && twist.spin == state[ISSUED + 1];
            let wheels =
                if undisturbed { [state[WHEEL], state[WHEEL + 1]] } else { self.under_wheels(twist) };
            let command = rows.commands.row(row);
            let stalled = self.stalled(state, view.bodies.moved[slot]);
            let (stalling, cut) = self.protect(state, stalled, command);
            let wanted = |k: usize| if cut { 0.0 } else { command[k].clamp(-self.max_speed, self.max_speed) };
            let left = approach(wheels[0], wanted(0), change);
            let right = approach(wheels[1], wanted(1), change);
            let mut slip = [0.0, 0.0];
            if noisy {
                let draw = Draw::at(view.seed, view.bodies.uid[slot], Purpose::WheelSlip, view.now, 0);
                slip = [0_u32, 1].map(|k| (self.slip * draw.normal(k)).clamp(-1.0, 1.0));
                if let Some(noise) = &self.motion_noise {
                    slip = self.astray(noise, [left, right], slip, draw);
                }
            }
            let (ground_left, ground_right) = (left * (1.0 + slip[0]), right * (1.0 + slip[1]));
            let motion = Twist2 {
                forward: (ground_left + ground_right) / 2.0,
                left: approach(twist.left, 0.0, slide_change),
                spin: (ground_right - ground_left) / self.base,
            };
            let held = f64::from(u8::from(stalled || cut));
            rows.out.row(row).copy_from_slice(&[left, right, slip[0], slip[1], held]);
            rows.next_state.row(row).copy_from_slice(&[
                left,
                right,
                motion.forward,
                motion.spin,
                view.quantum_s,
                stalling,
                f64::from(u8::from(cut)),
            ]);
            rows.segments[row] = Segment::arc(0.0, view.bodies.pose[slot], view.bodies.rot[slot], motion);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row 4.6.
    #[test]
    fn motion_noise_has_the_variances_of_the_velocity_model() {
        let got = variances(&[0.01, 0.02, 0.03, 0.04, 0.005, 0.006], 1.0, 0.5);
        for (got, expected) in got.into_iter().zip([0.015, 0.04, 0.0065]) {
            assert!((got - expected).abs() < 1e-12, "{got} {expected}");
        }
    }
}
