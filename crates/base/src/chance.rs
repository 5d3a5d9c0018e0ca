//! Chance with an address: every random number is a pure function of where it is used.
//!
//! The address is (seed, uid, purpose, time, ordinal, index). No generator is shared and none has
//! state, so neither threads nor machines nor the order of robots can change a draw. The generator
//! is Philox4x32-10 (Salmon et al. 2011); the distributions are our own, so no library update can
//! change them.

use crate::hash::mix64;
use crate::{Time, Uid, math};
use std::f64::consts::PI;

/// The seed of a run whose scenario and command line name none.
pub const DEFAULT_SEED: u64 = 1;

/// What a draw is for. The numbers are part of the address: never reuse or renumber one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Purpose {
    /// Random placement by a generator.
    Placement = 1,
    /// Noise on a range reading.
    RangeNoise = 2,
    /// Slip of a wheel.
    WheelSlip = 3,
    /// A decision of a built-in controller.
    Behaviour = 4,
    /// Noise of an odometer or encoder.
    OdometerNoise = 5,
    /// Tests and tools outside a run.
    Test = 6,
    /// Noise on the range of a sonar.
    SonarNoise = 20,
    /// Noise on the bearing of a beacon.
    BearingNoise = 21,
    /// Noise of a compass.
    CompassNoise = 22,
    /// Noise of a track sensor.
    TrackNoise = 23,
    /// A random number generator on board.
    Dice = 24,
    /// A decision of a robot's algorithm or of one of its protocols.
    Algorithm = 25,
    /// Error of a positioning sensor.
    Positioning = 26,
    /// Delay, loss and fading on a network.
    Network = 27,
    /// Times drawn by a scheduler of look–compute–move cycles.
    Schedule = 28,
    /// Whatever a part modelled outside of this program draws for.
    PartModel = 60,
    /// A value that a sweep gives to a key.
    SweepValue = 90,
}

/// One address of chance; each `index` under it is an independent draw.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    key: [u32; 2],
    time: u64,
    ordinal: u32,
}

impl Draw {
    /// The draws of one entity, for one purpose, at one moment.
    #[inline]
    #[must_use]
    pub fn at(seed: u64, uid: Uid, purpose: Purpose, now: Time, ordinal: u32) -> Draw {
        let folded =
            mix64(mix64(seed ^ 0x5f35_6495_1ae4_9c3b).wrapping_add(uid.0) ^ ((purpose as u64) << 48));
        Draw { key: [folded as u32, (folded >> 32) as u32], time: now.0 as u64, ordinal }
    }

    /// 128 random bits.
    #[inline]
    #[must_use]
    pub fn block(self, index: u32) -> [u32; 4] {
        philox4x32([self.time as u32, (self.time >> 32) as u32, self.ordinal, index], self.key)
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    #[must_use]
    pub fn uniform(self, index: u32) -> f64 {
        let b = self.block(index);
        unit(b[0], b[1])
    }

    /// Uniform in [low, high).
    #[must_use]
    pub fn between(self, index: u32, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform(index)
    }

    /// Exponential with this mean.
    #[must_use]
    pub fn exponential(self, index: u32, mean: f64) -> f64 {
        -mean * math::ln(1.0 - self.uniform(index))
    }

    /// A whole number below `n`; 0 when `n` is 0.
    #[must_use]
    pub fn below(self, index: u32, n: u32) -> u32 {
        let b = self.block(index);
        let bits = u128::from(u64::from(b[0]) << 32 | u64::from(b[1]));
        ((bits * u128::from(n)) >> 64) as u32
    }

    /// Standard normal (Box–Muller on one block).
    #[must_use]
    pub fn normal(self, index: u32) -> f64 {
        let b = self.block(index);
        // 1 − u is in (0, 1], so the logarithm is finite.
        let radius = (-2.0 * math::ln(1.0 - unit(b[0], b[1]))).sqrt();
        radius * math::cos(2.0 * PI * unit(b[2], b[3]))
    }
}

fn unit(lo: u32, hi: u32) -> f64 {
    let bits = (u64::from(hi) << 32 | u64::from(lo)) >> 11;
    bits as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// Philox4x32 with ten rounds.
#[inline]
fn philox4x32(mut c: [u32; 4], mut k: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(c[0]) * 0xD251_1F53;
        let b = u64::from(c[2]) * 0xCD9E_8D57;
        c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
        k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published with Random123 (kat_vectors, philox4x32 10).
    #[test]
    fn philox_gives_the_published_answers() {
        assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox4x32([0xffff_ffff; 4], [0xffff_ffff; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox4x32([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn every_part_of_the_address_matters() {
        let base = Draw::at(1, Uid(2), Purpose::RangeNoise, Time(3), 4).block(5);
        for other in [
            Draw::at(9, Uid(2), Purpose::RangeNoise, Time(3), 4).block(5),
            Draw::at(1, Uid(9), Purpose::RangeNoise, Time(3), 4).block(5),
            Draw::at(1, Uid(2), Purpose::WheelSlip, Time(3), 4).block(5),
            Draw::at(1, Uid(2), Purpose::RangeNoise, Time(9), 4).block(5),
            Draw::at(1, Uid(2), Purpose::RangeNoise, Time(3), 9).block(5),
            Draw::at(1, Uid(2), Purpose::RangeNoise, Time(3), 4).block(9),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn normal_draws_have_the_moments_of_a_normal() {
        let n = 200_000;
        let d = Draw::at(1, Uid(1), Purpose::Test, Time(0), 0);
        let (mut m1, mut m2, mut m4) = (0.0, 0.0, 0.0);
        for i in 0..n {
            let x = d.normal(i);
            m1 += x;
            m2 += x * x;
            m4 += x * x * x * x;
        }
        let n = f64::from(n);
        // Five standard errors: 1/√n, √(2/n), √(96/n).
        assert!((m1 / n).abs() < 5.0 / n.sqrt());
        assert!((m2 / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!((m4 / n - 3.0).abs() < 5.0 * (96.0 / n).sqrt());
    }

    #[test]
    fn uniform_draws_fill_sixteen_bins_evenly() {
        let d = Draw::at(1, Uid(1), Purpose::Test, Time(1), 0);
        let mut bins = [0_f64; 16];
        let n = 160_000;
        for i in 0..n {
            bins[(d.uniform(i) * 16.0) as usize] += 1.0;
        }
        let expected = f64::from(n) / 16.0;
        let chi2: f64 = bins.iter().map(|b| (b - expected) * (b - expected) / expected).sum();
        // 15 degrees of freedom: 99.99 % quantile 44.3.
        assert!(chi2 < 44.3, "chi² = {chi2}");
    }
}
