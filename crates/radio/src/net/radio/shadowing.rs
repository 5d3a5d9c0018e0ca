//! Shadowing that changes as robots move: a Gaussian random field over the places of both ends of a link.
//!
//! In: the chance of a run, a correlation length. Out: a number for two places, of mean 0 and variance 1 over all seeds.
//! Nothing here has a memory: the same places always give the same number, whoever stands there and whenever.
//!
//! When one end moves by d, the correlation with what was before is e^(−d/c) (Gudmundson 1991); when both move, it is the
//! product of both. Sums of sinusoids have exactly this covariance when wave vectors are drawn from its spectrum, which
//! for e^(−r/c) in the plane is k c²/(1 + c²k²)^(3/2) along the radius: its integral can be inverted.
//!
//! Why both ends, and not a field at each place of which a link gets the sum: then half of a link's shadowing would never
//! change, however far one end goes.

use super::propagation::MOST_SIGMAS;
use swarmyard_base::chance::Draw;
use swarmyard_base::{Vec2, math};

/// Sinusoids. The sum's fourth moment is 3 − 3/2 of their number instead of 3.
const MODES: usize = 64;
/// Draws that a sinusoid takes: two wave vectors and a phase.
const DRAWS: u32 = 5;
/// Shortest waves, as a share of the correlation length: beyond them is a millionth of the variance.
const MOST_TURNS: f64 = 1.0e6;

/// A wave in the place of one end, and in that of the other.
#[derive(Clone, Copy, Debug)]
struct Mode {
    one: Vec2,
    other: Vec2,
    phase: f64,
}

/// The field of one run.
#[derive(Clone, Debug)]
pub struct Shadowing {
    modes: Vec<Mode>,
    length_m: f64,
}

impl Shadowing {
    /// The field with this correlation length, of this chance.
    #[must_use]
    pub fn new(chance: Draw, length_m: f64) -> Shadowing {
        // Lengths of waves are spread evenly over their distribution, one in each of as many parts: fewer are needed then.
        // Which part of one end goes with which of the other is left to chance, so that both are independent.
        let modes = MODES as u64;
        let shift = (chance.uniform(MODES as u32 * DRAWS) * MODES as f64) as u64;
        let vector = |part: u64, first: u32| {
            let share = (part as f64 + chance.uniform(first)) / MODES as f64;
            let left = 1.0 - share;
            let turns = math::min((1.0 / (left * left) - 1.0).sqrt(), MOST_TURNS);
            Vec2::at_angle(2.0 * std::f64::consts::PI * chance.uniform(first + 1)) * (turns / length_m)
        };
        let mode = |k: u64| {
            let first = k as u32 * DRAWS;
            let one = vector(k, first);
            let other = vector((37 * k + shift) % modes, first + 2);
            Mode { one, other, phase: 2.0 * std::f64::consts::PI * chance.uniform(first + 4) }
        };
        Shadowing { modes: (0..modes).map(mode).collect(), length_m }
    }

    /// What a link between two places has, in standard deviations: the same both ways, to the bit.
    #[must_use]
    pub fn between(&self, a: Vec2, b: Vec2) -> f64 {
        // The two sums have the covariance q² with each other: near ends are alike.
        let q = math::exp(-(b - a).norm() / self.length_m);
        let sum = self.one_way(a, b) + self.one_way(b, a);
        let found = sum / (2.0 * (1.0 + q * q)).sqrt();
        math::max(math::min(found, MOST_SIGMAS), -MOST_SIGMAS)
    }

    fn one_way(&self, a: Vec2, b: Vec2) -> f64 {
        let wave = |m: &Mode| math::cos(m.one.dot(a) + m.other.dot(b) + m.phase);
        let sum: f64 = self.modes.iter().map(wave).sum();
        sum * (2.0 / MODES as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::chance::Purpose;
    use swarmyard_base::{Time, Uid};

    fn field(seed: u64) -> Shadowing {
        Shadowing::new(Draw::at(seed, Uid(0), Purpose::Test, Time::ZERO, 0), 20.0)
    }

    #[test]
    fn it_is_a_function_of_the_two_places_alone_and_the_same_both_ways() {
        for k in 0..200 {
            let (a, b) = (Vec2::new(f64::from(k) * 1.7, -3.0), Vec2::new(-5.0, f64::from(k * k) * 0.01));
            assert_eq!(field(3).between(a, b).to_bits(), field(3).between(b, a).to_bits());
            assert_ne!(field(3).between(a, b), field(4).between(a, b));
        }
    }

    #[test]
    fn it_stays_within_its_bound_far_away_and_in_one_place() {
        for k in 0..200 {
            let far = Vec2::new(1.0e9 + f64::from(k), -1.0e9);
            for b in [far, Vec2::ZERO] {
                let found = field(1).between(far, b);
                assert!(found.is_finite() && found.abs() <= MOST_SIGMAS, "{found}");
            }
        }
    }
}
