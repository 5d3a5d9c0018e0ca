//! Simulated time: integer nanoseconds, and periods as rationals so that tick k is computed, never
//! accumulated (1/60 s and 2048/6 MHz are not whole nanoseconds).

use serde::{Deserialize, Serialize};
use std::fmt;

const NANOS: i128 = 1_000_000_000;

/// A moment of simulated time, in nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub i64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything.
    pub const NEVER: Time = Time(i64::MAX);

    /// The moment in seconds, for formulae and for people.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The moment nearest to a number of seconds.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Time {
        Time((seconds * 1e9).round() as i64)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, n) = if self.0 < 0 { ("-", self.0.unsigned_abs()) } else { ("", self.0.unsigned_abs()) };
        let text = format!("{sign}{}.{:09}", n / 1_000_000_000, n % 1_000_000_000);
        f.pad(&format!("{} s", text.trim_end_matches('0').trim_end_matches('.')))
    }
}

/// A moment between nanoseconds: where an event falls. Exact fixed-point numbers, so that adding and
/// comparing never depends on how far the run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment {
    /// Whole nanoseconds.
    pub time: Time,
    /// The rest, in 2⁻³² ns.
    pub offset: u32,
}

impl Moment {
    /// The start of the run.
    pub const ZERO: Moment = Moment::at(Time::ZERO);
    /// Later than anything.
    pub const NEVER: Moment = Moment { time: Time::NEVER, offset: u32::MAX };

    /// A whole nanosecond.
    #[must_use]
    pub const fn at(time: Time) -> Moment {
        Moment { time, offset: 0 }
    }

    /// This moment and `seconds` more, rounded down to 2⁻³² ns; [`Moment::NEVER`] when that is too far
    /// away or not a number. `seconds` must not be negative: then it is this moment itself.
    #[inline]
    #[must_use]
    pub fn plus(self, seconds: f64) -> Moment {
        let nanos = seconds * 1e9;
        if nanos <= 0.0 {
            return self;
        }
        // About 146 years.
        if nanos.is_nan() || nanos >= 4.6e18 {
            return Moment::NEVER;
        }
        let whole = nanos as i64;
        let rest = ((nanos - whole as f64) * 4_294_967_296.0) as u32;
        let (offset, carry) = self.offset.overflowing_add(rest);
        match self.time.0.checked_add(whole + i64::from(carry)) {
            Some(time) => Moment { time: Time(time), offset },
            None => Moment::NEVER,
        }
    }

    /// Seconds from an earlier (or later) moment to this one.
    #[inline]
    #[must_use]
    pub fn since(self, earlier: Moment) -> f64 {
        let whole = self.time.0.wrapping_sub(earlier.time.0) as f64;
        let rest = (f64::from(self.offset) - f64::from(earlier.offset)) * (1.0 / 4_294_967_296.0);
        (whole + rest) * 1e-9
    }

    /// The first whole nanosecond that is not before it.
    #[must_use]
    pub fn ceil(self) -> Time {
        Time(self.time.0.saturating_add(i64::from(self.offset > 0)))
    }
}

/// A positive rational number of seconds, in lowest terms; what is read from outside is too, or it is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fraction", into = "Fraction")]
pub struct Ratio {
    num: i64,
    den: i64,
}

/// A ratio as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Ratio")]
struct Fraction {
    num: i64,
    den: i64,
}

impl From<Ratio> for Fraction {
    fn from(Ratio { num, den }: Ratio) -> Fraction {
        Fraction { num, den }
    }
}

impl TryFrom<Fraction> for Ratio {
    type Error = String;

    fn try_from(Fraction { num, den }: Fraction) -> Result<Ratio, String> {
        let ratio = Ratio::new(num, den).filter(|r| (r.num, r.den) == (num, den));
        ratio.ok_or_else(|| format!("`{num}/{den}` is no positive ratio in lowest terms"))
    }
}

impl Ratio {
    /// `num / den` in lowest terms; `None` unless both are positive.
    #[must_use]
    pub fn new(num: i64, den: i64) -> Option<Ratio> {
        if num <= 0 || den <= 0 {
            return None;
        }
        let g = gcd(num, den);
        Some(Ratio { num: num / g, den: den / g })
    }

    /// The exact value of a decimal number as people write it: `0.1` is one tenth, not its nearest double.
    #[must_use]
    pub fn from_decimal(value: f64) -> Option<Ratio> {
        if !value.is_finite() || value <= 0.0 {
            return None;
        }
        let text = format!("{value}");
        let (whole, frac) = text.split_once('.').unwrap_or((&text, ""));
        let den = 10_i64.checked_pow(u32::try_from(frac.len()).ok()?)?;
        let num = format!("{whole}{frac}").parse::<i64>().ok()?;
        Ratio::new(num, den)
    }

    /// This ratio times a positive one.
    #[must_use]
    pub fn times(self, other: Ratio) -> Option<Ratio> {
        let (a, b) = (Ratio::new(self.num, other.den)?, Ratio::new(other.num, self.den)?);
        Ratio::new(a.num.checked_mul(b.num)?, a.den.checked_mul(b.den)?)
    }

    /// Numerator.
    #[must_use]
    pub fn num(self) -> i64 {
        self.num
    }

    /// Denominator.
    #[must_use]
    pub fn den(self) -> i64 {
        self.den
    }

    /// As a length of time: whole microseconds, at least one.
    #[must_use]
    pub fn micros(self) -> u32 {
        (self.value() * 1e6).round().clamp(1.0, f64::from(u32::MAX)) as u32
    }

    /// The nearest double.
    #[must_use]
    pub fn value(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Evenly spaced moments: tick k is `origin + k · length`, rounded down to a nanosecond each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Time of tick 0.
    pub origin: Time,
    /// Length in seconds.
    pub length: Ratio,
}

impl Period {
    /// A period that starts with the run.
    #[must_use]
    pub fn new(length: Ratio) -> Period {
        Period { origin: Time::ZERO, length }
    }

    /// Time of tick `k`. Past the end of time (292 years) it stays at [`Time::NEVER`].
    #[must_use]
    pub fn tick(self, k: u64) -> Time {
        let exact = i128::from(k) * i128::from(self.length.num) * NANOS / i128::from(self.length.den);
        i64::try_from(exact + i128::from(self.origin.0)).map_or(Time::NEVER, Time)
    }

    /// How many ticks have happened by `now`, counting tick 0: the first k with `tick(k) > now`.
    #[must_use]
    pub fn ticks_by(self, now: Time) -> u64 {
        if now < self.origin {
            return 0;
        }
        let since = i128::from(now.0 - self.origin.0);
        let unit = i128::from(self.length.num) * NANOS;
        // tick(k) <= now  ⇔  floor(k·unit/den) <= since  ⇔  k·unit < (since + 1)·den.
        let k = ((since + 1) * i128::from(self.length.den) - 1) / unit;
        u64::try_from(k + 1).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_add_up_and_differ_by_what_was_added() {
        let start = Moment::at(Time(5));
        let later = start.plus(1.25e-9);
        assert_eq!(later, Moment { time: Time(6), offset: 1 << 30 });
        assert_eq!(later.since(start), 1.25e-9);
        assert_eq!(start.since(later), -1.25e-9);
        assert_eq!((later.ceil(), start.ceil()), (Time(7), Time(5)));
        assert_eq!(start.plus(-1.0), start);
        assert_eq!(start.plus(f64::NAN).max(start.plus(f64::INFINITY)), Moment::NEVER);
        assert_eq!(Moment { time: Time(1), offset: u32::MAX }.plus(0.5e-9).time, Time(2));
    }

    #[test]
    fn sixty_hertz_does_not_drift() {
        let p = Period::new(Ratio::new(1, 60).unwrap());
        assert_eq!(p.tick(1), Time(16_666_666));
        assert_eq!(p.tick(60), Time(1_000_000_000));
        assert_eq!(p.tick(60 * 3600 * 24), Time(86_400_000_000_000));
    }

    #[test]
    fn the_lm628_sample_interval_is_exact() {
        let p = Period::new(Ratio::new(2048, 6_000_000).unwrap());
        assert_eq!(p.tick(3), Time(1_024_000));
        assert_eq!(p.tick(1), Time(341_333));
    }

    #[test]
    fn counting_ticks_inverts_ticking() {
        for (n, d) in [(1, 60), (1, 10), (2048, 6_000_000), (7, 3)] {
            let p = Period { origin: Time(17), length: Ratio::new(n, d).unwrap() };
            for k in [0, 1, 2, 59, 60, 61, 12_345] {
                assert_eq!(p.ticks_by(p.tick(k)), k + 1);
                assert_eq!(p.ticks_by(Time(p.tick(k).0 - 1)), k);
            }
        }
    }

    #[test]
    fn decimals_are_taken_at_their_word() {
        assert_eq!(Ratio::from_decimal(0.1), Ratio::new(1, 10));
        assert_eq!(Ratio::from_decimal(0.02), Ratio::new(1, 50));
        assert_eq!(Ratio::from_decimal(25.0), Ratio::new(25, 1));
        assert_eq!(Ratio::from_decimal(0.0), None);
        assert_eq!(Ratio::from_decimal(f64::NAN), None);
    }

    #[test]
    fn a_ratio_from_outside_is_positive_and_in_lowest_terms() {
        use serde::de::value::{Error, MapDeserializer};
        let read = |num: i64, den: i64| {
            let fields = [("num", num), ("den", den)].into_iter();
            Ratio::deserialize(MapDeserializer::<_, Error>::new(fields)).ok()
        };
        assert_eq!(read(1, 60), Ratio::new(1, 60));
        for (num, den) in [(1, 0), (0, 1), (-1, 60), (1, -60), (-1, -60), (2, 120)] {
            assert_eq!(read(num, den), None, "{num}/{den}");
        }
    }

    #[test]
    fn time_prints_without_trailing_zeros() {
        assert_eq!(Time(1_500_000_000).to_string(), "1.5 s");
        assert_eq!(Time(0).to_string(), "0 s");
        assert_eq!(Time(-250_000_000).to_string(), "-0.25 s");
    }
}
