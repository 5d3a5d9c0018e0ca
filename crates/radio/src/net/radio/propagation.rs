//! How strong a transmission is somewhere: path loss, walls, shadowing, fading, and what a bit rate needs.
//!
//! In: distances, the chance of a message or of a pair of robots. Out: decibels. Nothing here has a memory.

use swarmyard_base::chance::Draw;
use swarmyard_base::math;

/// Speed of light in vacuum, m/s.
pub const LIGHT_MPS: f64 = 299_792_458.0;

/// Thermal noise of 1 Hz at 290 K, in mW.
const THERMAL_MW_PER_HZ: f64 = 1.380_649e-23 * 290.0 * 1.0e3;

/// Nothing is received with more than this against what was sent: bounds what happens at distance 0.
const MOST_GAIN_DB: f64 = 300.0;

/// The greatest value a normal draw can have: the radius of its smallest number, 2⁻⁵³.
pub(super) const MOST_SIGMAS: f64 = 8.6;

/// Ten times the decimal logarithm.
#[must_use]
pub fn to_db(ratio: f64) -> f64 {
    10.0 * math::ln(ratio) / std::f64::consts::LN_10
}

/// The ratio of so many decibels.
#[must_use]
pub fn from_db(db: f64) -> f64 {
    math::exp(db * std::f64::consts::LN_10 / 10.0)
}

/// Loss on a free way, as a function of its length.
#[derive(Clone, Debug, PartialEq)]
pub enum PathLoss {
    /// Everything up to a range. What is left at the receiver, above what it needs, is 10 n log₁₀(R/d) dB, so that
    /// walls shorten the range; n is `exponent`.
    Disc {
        /// The range R.
        range_m: f64,
        /// The exponent n.
        exponent: f64,
    },
    /// L₀ + 10 n log₁₀(d/d₀); L₀ below d₀.
    LogDistance {
        /// The exponent n.
        exponent: f64,
        /// The distance d₀.
        reference_m: f64,
        /// The loss L₀ there.
        reference_db: f64,
    },
    /// Friis: (4 π d/λ)² L, never less than 1.
    Friis {
        /// The wavelength λ.
        wavelength_m: f64,
        /// The loss L in the devices, as a factor.
        system_loss: f64,
    },
    /// Two rays, one from the ground: d⁴ L/h⁴ beyond 4 π h²/λ, Friis up to there.
    TwoRay {
        /// The wavelength λ.
        wavelength_m: f64,
        /// The loss L in the devices, as a factor.
        system_loss: f64,
        /// The height h of both antennas.
        height_m: f64,
    },
    /// Log-distance in three pieces with exponents of their own; nothing below the first distance.
    ThreeLog {
        /// Where the pieces begin, ascending.
        distances_m: [f64; 3],
        /// Their exponents.
        exponents: [f64; 3],
        /// Loss where the first begins.
        reference_db: f64,
    },
}

impl PathLoss {
    /// Loss at a distance, dB. That of a disc is against its range, and negative within it.
    #[must_use]
    pub fn loss_db(&self, distance_m: f64) -> f64 {
        match *self {
            PathLoss::Disc { range_m, exponent } => {
                math::max(exponent * to_db(distance_m / range_m), -MOST_GAIN_DB)
            }
            PathLoss::LogDistance { exponent, reference_m, reference_db } => {
                if distance_m <= reference_m {
                    reference_db
                } else {
                    reference_db + exponent * to_db(distance_m / reference_m)
                }
            }
            PathLoss::Friis { wavelength_m, system_loss } => friis_db(distance_m, wavelength_m, system_loss),
            PathLoss::TwoRay { wavelength_m, system_loss, height_m } => {
                let cross_m = 4.0 * std::f64::consts::PI * height_m * height_m / wavelength_m;
                if distance_m <= cross_m {
                    friis_db(distance_m, wavelength_m, system_loss)
                } else {
                    math::max(4.0 * to_db(distance_m / height_m) + to_db(system_loss), 0.0)
                }
            }
            PathLoss::ThreeLog { distances_m, exponents, reference_db } => {
                if distance_m < distances_m[0] {
                    return 0.0;
                }
                let mut loss = reference_db;
                for piece in 0..3 {
                    let from = distances_m[piece];
                    let until = distances_m.get(piece + 1).copied().unwrap_or(f64::INFINITY);
                    if distance_m > from {
                        loss += exponents[piece] * to_db(math::min(distance_m, until) / from);
                    }
                }
                loss
            }
        }
    }

    /// The greatest distance with at most this loss; 0 when there is none. Loss grows with distance.
    #[must_use]
    pub fn reach_m(&self, loss_db: f64) -> f64 {
        let (mut near, mut far) = (0.0, 1.0e12);
        if self.loss_db(far) <= loss_db {
            return f64::INFINITY;
        }
        for _ in 0..2000 {
            let middle = 0.5 * (near + far);
            if middle <= near || middle >= far {
                break;
            }
            if self.loss_db(middle) <= loss_db {
                near = middle;
            } else {
                far = middle;
            }
        }
        near
    }
}

fn friis_db(distance_m: f64, wavelength_m: f64, system_loss: f64) -> f64 {
    let turns = 4.0 * std::f64::consts::PI * distance_m / wavelength_m;
    if turns <= 0.0 {
        return 0.0;
    }
    math::max(2.0 * to_db(turns) + to_db(system_loss), 0.0)
}

/// Signal over noise that a bit rate needs in a bandwidth, as a ratio: 2^(rate/bandwidth) − 1, Shannon's bound, where
/// R = B log₂(1 + SNR).
#[must_use]
pub fn needed_snr(rate_bps: f64, bandwidth_hz: f64) -> f64 {
    math::exp(rate_bps / bandwidth_hz * std::f64::consts::LN_2) - 1.0
}

/// The weakest signal that carries a bit rate, dBm: thermal noise in the bandwidth, the noise figure, what Shannon's
/// bound needs, and the gap to that bound.
#[must_use]
pub fn sensitivity_dbm(rate_bps: f64, bandwidth_hz: f64, noise_figure_db: f64, gap_db: f64) -> f64 {
    to_db(THERMAL_MW_PER_HZ * bandwidth_hz)
        + noise_figure_db
        + to_db(needed_snr(rate_bps, bandwidth_hz))
        + gap_db
}

/// Range of a disc at one rate when it is known at another, by the same bound and a path-loss exponent.
#[must_use]
pub fn range_at_rate(
    range_m: f64,
    range_rate_bps: f64,
    rate_bps: f64,
    bandwidth_hz: f64,
    exponent: f64,
) -> f64 {
    let ratio = needed_snr(range_rate_bps, bandwidth_hz) / needed_snr(rate_bps, bandwidth_hz);
    range_m * math::pow(ratio, 1.0 / exponent)
}

/// A factor on the received power under Nakagami fading: gamma distributed with shape m and mean 1 (Marsaglia and Tsang
/// 2000). Uses draws from `first` on.
#[must_use]
pub fn nakagami(draw: Draw, first: u32, m: f64) -> f64 {
    // Below shape 1: Γ(m) = Γ(m + 1) U^(1/m).
    let (shape, boost) =
        if m < 1.0 { (m + 1.0, math::pow(1.0 - draw.uniform(first), 1.0 / m)) } else { (m, 1.0) };
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    // One in 25 is rejected at most, so the bound is never met; it keeps the draws inside their range.
    for k in 0..1000 {
        let x = draw.normal(first + 1 + 2 * k);
        let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
        if v <= 0.0 {
            continue;
        }
        let u = 1.0 - draw.uniform(first + 2 + 2 * k);
        if math::ln(u) < 0.5 * x * x + d - d * v + d * math::ln(v) {
            return boost * d * v / m;
        }
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_inverts_loss() {
        let path = PathLoss::LogDistance { exponent: 3.0, reference_m: 1.0, reference_db: 46.6777 };
        // L₀ + 60 dB is 100 m.
        assert!((path.reach_m(106.6777) - 100.0).abs() < 1e-9);
        assert_eq!(path.reach_m(40.0), 0.0);
        let disc = PathLoss::Disc { range_m: 7.5, exponent: 2.0 };
        assert_eq!(disc.reach_m(0.0), 7.5);
    }

    #[test]
    fn shannons_bound_gives_one_bit_per_hertz_at_zero_decibels() {
        assert!((needed_snr(20.0e6, 20.0e6) - 1.0).abs() < 1e-15);
        assert!((needed_snr(40.0e6, 20.0e6) - 3.0).abs() < 1e-14);
        // −174 dBm/Hz + 73 dB is −101 dBm.
        assert!((sensitivity_dbm(20.0e6, 20.0e6, 0.0, 0.0) + 100.965).abs() < 1e-3);
        assert!((range_at_rate(30.0, 1.0e6, 1.0e6, 2.0e6, 2.0) - 30.0).abs() < 1e-12);
        // Twice the bandwidth's rate needs three times the power: 1/√3 of the range in free space.
        let far = range_at_rate(30.0, 1.0e6, 2.0e6, 1.0e6, 2.0);
        assert!((far - 30.0 / 3.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn decibels_go_there_and_back() {
        for db in [-120.0, -3.0, 0.0, 0.1, 60.0] {
            assert!((to_db(from_db(db)) - db).abs() < 1e-12);
        }
    }
}
