//! Robots with inertia that steer by what they see: flocks and platoons.
//!
//! A [`Steering`] says how one robot accelerates; [`run`] integrates all of them together (Runge–Kutta of the
//! fourth order). As [rules](super::rules::Steered) they are steps of one round.

mod cucker_smale;
mod olfati_saber;
mod platoon;
mod reynolds;

pub use cucker_smale::CuckerSmale;
pub use olfati_saber::OlfatiSaber;
pub use platoon::Platoon;
pub use reynolds::Reynolds;

use swarmyard_base::Vec2;

/// A robot that moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving {
    /// Its number.
    pub robot: u32,
    /// Where it is.
    pub at: Vec2,
    /// Its velocity, m/s.
    pub velocity: Vec2,
}

/// How a robot accelerates.
pub trait Steering: Send + Sync {
    /// Its acceleration, m/s², from what it sees: all others in sight.
    fn accelerate(&self, t: f64, me: &Moving, others: &[Moving]) -> Vec2;
}

/// Moves all robots for so many steps of time `dt` from the time `t`.
pub fn run(steering: &dyn Steering, robots: &mut [Moving], t: f64, dt: f64, steps: u32) {
    for k in 0..steps {
        step(steering, robots, t + f64::from(k) * dt, dt);
    }
}

fn step(steering: &dyn Steering, robots: &mut [Moving], t: f64, dt: f64) {
    let slopes = |state: &[Moving], t: f64| -> Vec<(Vec2, Vec2)> {
        (0..state.len())
            .map(|k| {
                let mut others = state.to_vec();
                let me = others.remove(k);
                (me.velocity, steering.accelerate(t, &me, &others))
            })
            .collect()
    };
    let moved = |by: &[(Vec2, Vec2)], h: f64| -> Vec<Moving> {
        let along = robots.iter().zip(by);
        along.map(|(r, (v, a))| Moving { at: r.at + *v * h, velocity: r.velocity + *a * h, ..*r }).collect()
    };
    let k1 = slopes(robots, t);
    let k2 = slopes(&moved(&k1, 0.5 * dt), t + 0.5 * dt);
    let k3 = slopes(&moved(&k2, 0.5 * dt), t + 0.5 * dt);
    let k4 = slopes(&moved(&k3, dt), t + dt);
    for (k, r) in robots.iter_mut().enumerate() {
        let mean = |f: fn(&(Vec2, Vec2)) -> Vec2| {
            (f(&k1[k]) + f(&k2[k]) * 2.0 + f(&k3[k]) * 2.0 + f(&k4[k])) * (dt / 6.0)
        };
        r.at = r.at + mean(|s| s.0);
        r.velocity = r.velocity + mean(|s| s.1);
    }
}
