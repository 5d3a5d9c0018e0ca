//! Transcendental functions with the same bits on every platform.
//!
//! The standard library calls the platform's libm, whose last bits differ (3 % of sines, 13 % of
//! hypotenuses). `+ - * /` and `sqrt` are exact by IEEE 754 and may be used directly.

use std::f64::consts::PI;

/// Sine of an angle in radians.
#[inline]
#[must_use]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine of an angle in radians.
#[inline]
#[must_use]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Sine and cosine of an angle in radians.
#[inline]
#[must_use]
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// Tangent of an angle in radians.
#[inline]
#[must_use]
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

/// Arc sine, in radians.
#[inline]
#[must_use]
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}

/// Arc cosine, in radians.
#[inline]
#[must_use]
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// Angle of the point (x, y), in radians in (−π, π].
#[inline]
#[must_use]
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// Length of the vector (x, y), without overflow.
#[inline]
#[must_use]
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

/// e to the power x.
#[inline]
#[must_use]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm.
#[inline]
#[must_use]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// x to the power y.
#[inline]
#[must_use]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// The greater of the two; the first where they are equal, as zeros of either sign are. A value that is not a number
/// gives way to the other.
///
/// `f64::max` may give either of two zeros, and does: it depends on the processor, the compiler and even the optimisation
/// level. Hashes take both for one, but a division, `atan2`, `copysign` and what is stored as bytes do not.
#[inline]
#[must_use]
pub fn max(a: f64, b: f64) -> f64 {
    // In this form it is the very code that x86-64 has for `f64::max`.
    let greater = if b > a { b } else { a };
    if a.is_nan() { b } else { greater }
}

/// The lesser of the two; the first where they are equal, as zeros of either sign are. A value that is not a number
/// gives way to the other.
#[inline]
#[must_use]
pub fn min(a: f64, b: f64) -> f64 {
    let lesser = if b < a { b } else { a };
    if a.is_nan() { b } else { lesser }
}

/// The same angle in (−π, π].
#[inline]
#[must_use]
pub fn wrap_angle(angle_rad: f64) -> f64 {
    if angle_rad > -PI && angle_rad <= PI {
        return angle_rad;
    }
    let turns = (angle_rad / (2.0 * PI)).round();
    let wrapped = angle_rad - turns * (2.0 * PI);
    if wrapped <= -PI {
        wrapped + 2.0 * PI
    } else if wrapped > PI {
        wrapped - 2.0 * PI
    } else {
        wrapped
    }
}

/// `(sin x / x, (1 − cos x) / x)`, without cancellation near zero.
///
/// These two numbers turn a constant twist into a displacement. A quantum turns a robot by a small
/// angle, so the series is the common path; it agrees with the functions to the last bit or two.
#[inline]
#[must_use]
pub fn sinc_cosc(x: f64) -> (f64, f64) {
    if x.abs() < 0.25 {
        let q = x * x;
        let sinc = 1.0
            + q * (-1.0 / 6.0
                + q * (1.0 / 120.0
                    + q * (-1.0 / 5040.0 + q * (1.0 / 362_880.0 + q * (-1.0 / 39_916_800.0)))));
        let cosc = x
            * (0.5
                + q * (-1.0 / 24.0
                    + q * (1.0 / 720.0
                        + q * (-1.0 / 40_320.0 + q * (1.0 / 3_628_800.0 + q * (-1.0 / 479_001_600.0))))));
        (sinc, cosc)
    } else {
        let (s, c) = sin_cos(x);
        (s / x, (1.0 - c) / x)
    }
}

/// Moves `value` toward `target` by at most `step` (which must not be negative).
#[inline]
#[must_use]
pub fn approach(value: f64, target: f64, step: f64) -> f64 {
    let gap = target - value;
    if gap.abs() <= step { target } else { value + step.copysign(gap) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_wrap_into_the_half_open_turn() {
        assert_eq!(wrap_angle(PI), PI);
        assert_eq!(wrap_angle(-PI), PI);
        assert!((wrap_angle(3.0 * PI) - PI).abs() < 1e-15);
        assert!((wrap_angle(7.0) - (7.0 - 2.0 * PI)).abs() < 1e-15);
        for k in -50..50 {
            let w = wrap_angle(f64::from(k) * 0.37);
            assert!(w > -PI && w <= PI);
        }
    }

    #[test]
    fn of_two_zeros_the_first_is_both_the_greater_and_the_lesser() {
        // Hidden from the compiler, which would reckon at once what the processor is to show.
        for (a, b) in [(0.0, -0.0), (-0.0, 0.0)].map(std::hint::black_box) {
            assert_eq!(max(a, b).to_bits(), f64::to_bits(a), "max({a:?}, {b:?})");
            assert_eq!(min(a, b).to_bits(), f64::to_bits(a), "min({a:?}, {b:?})");
        }
    }

    #[test]
    fn the_greater_and_the_lesser_are_found_and_what_is_no_number_gives_way() {
        for (a, b) in [(1.0, 2.0), (-1.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0), (-0.0, 5e-324)] {
            assert_eq!((max(a, b), max(b, a), min(a, b), min(b, a)), (b, b, a, a));
        }
        for x in [0.0, -3.0, f64::INFINITY] {
            assert_eq!((max(f64::NAN, x), max(x, f64::NAN)), (x, x));
            assert_eq!((min(f64::NAN, x), min(x, f64::NAN)), (x, x));
        }
        assert!(max(f64::NAN, f64::NAN).is_nan() && min(f64::NAN, f64::NAN).is_nan());
    }

    #[test]
    fn the_series_meets_the_functions_at_its_border() {
        for k in 1..1000 {
            let x = f64::from(k) * 0.000_25;
            let (s, c) = sinc_cosc(x);
            // The half-angle form has no cancellation, so it is the independent oracle here.
            let half = sin(x / 2.0);
            assert!((s - sin(x) / x).abs() < 3e-16, "sinc at {x}");
            assert!((c - 2.0 * half * half / x).abs() < 1e-16, "cosc at {x}");
        }
        assert_eq!(sinc_cosc(0.0), (1.0, 0.0));
    }
}
