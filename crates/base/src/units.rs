//! Units of measure: what a plain number means, and what may be written after it.

use crate::Ratio;
use std::f64::consts::PI;

/// The dimension of a quantity. The plain number is always SI; angles are radians.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No dimension.
    None,
    /// Metres.
    Metre,
    /// Seconds.
    Second,
    /// Radians.
    Radian,
    /// Metres per second.
    MetrePerSecond,
    /// Radians per second.
    RadianPerSecond,
    /// Metres per second squared.
    MetrePerSecond2,
    /// Radians per second squared.
    RadianPerSecond2,
    /// Kilograms.
    Kilogram,
    /// Kilogram square metres.
    KilogramMetre2,
    /// Newton seconds.
    NewtonSecond,
    /// Hertz.
    Hertz,
}

impl Unit {
    /// Every dimension.
    pub const ALL: [Unit; 12] = [
        Unit::None,
        Unit::Metre,
        Unit::Second,
        Unit::Radian,
        Unit::MetrePerSecond,
        Unit::RadianPerSecond,
        Unit::MetrePerSecond2,
        Unit::RadianPerSecond2,
        Unit::Kilogram,
        Unit::KilogramMetre2,
        Unit::NewtonSecond,
        Unit::Hertz,
    ];

    /// The SI symbol.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Metre => "m",
            Unit::Second => "s",
            Unit::Radian => "rad",
            Unit::MetrePerSecond => "m/s",
            Unit::RadianPerSecond => "rad/s",
            Unit::MetrePerSecond2 => "m/s2",
            Unit::RadianPerSecond2 => "rad/s2",
            Unit::Kilogram => "kg",
            Unit::KilogramMetre2 => "kg m2",
            Unit::NewtonSecond => "N s",
            Unit::Hertz => "Hz",
        }
    }

    /// Every suffix that may be written, with its factor to SI.
    #[must_use]
    pub fn suffixes(self) -> &'static [(&'static str, f64)] {
        const DEG: f64 = PI / 180.0;
        match self {
            Unit::None => &[("%", 0.01)],
            Unit::Metre => {
                &[("m", 1.0), ("cm", 0.01), ("mm", 0.001), ("km", 1000.0), ("in", 0.0254), ("ft", 0.3048)]
            }
            Unit::Second => {
                &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("min", 60.0), ("h", 3600.0)]
            }
            Unit::Radian => &[("rad", 1.0), ("deg", DEG), ("°", DEG), ("turn", 2.0 * PI)],
            Unit::MetrePerSecond => &[("m/s", 1.0), ("cm/s", 0.01), ("mm/s", 0.001), ("km/h", 1.0 / 3.6)],
            Unit::RadianPerSecond => &[
                ("rad/s", 1.0),
                ("deg/s", DEG),
                ("°/s", DEG),
                ("rpm", 2.0 * PI / 60.0),
                ("turn/s", 2.0 * PI),
            ],
            Unit::MetrePerSecond2 => &[("m/s2", 1.0), ("m/s²", 1.0), ("cm/s2", 0.01), ("cm/s²", 0.01)],
            Unit::RadianPerSecond2 => &[("rad/s2", 1.0), ("rad/s²", 1.0), ("deg/s2", DEG), ("deg/s²", DEG)],
            Unit::Kilogram => &[("kg", 1.0), ("g", 0.001)],
            Unit::KilogramMetre2 => &[("kg m2", 1.0), ("kg m²", 1.0), ("g cm2", 1e-7)],
            Unit::NewtonSecond => &[("N s", 1.0), ("Ns", 1.0)],
            Unit::Hertz => &[("Hz", 1.0), ("kHz", 1000.0), ("MHz", 1e6)],
        }
    }

    /// Reads `90deg`, `25 cm`, `-1.5e3` or `1/60 s` into SI.
    ///
    /// # Errors
    /// Says what is wrong with the text, in words for a person.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        let (number, denominator, factor) = self.split(text)?;
        let value = number / denominator * factor;
        if value.is_finite() { Ok(value) } else { Err(format!("`{text}` is not a finite number")) }
    }

    /// Reads a length of time as an exact rational: `100ms` is 1/10, `1/60 s` is 1/60.
    ///
    /// # Errors
    /// Says what is wrong with the text, in words for a person.
    pub fn parse_ratio(self, text: &str) -> Result<Ratio, String> {
        let (number, denominator, factor) = self.split(text)?;
        let inverse = 1.0 / factor;
        let scale = if inverse > 1.5 {
            Ratio::from_decimal(inverse.round()).and_then(|r| Ratio::new(r.den(), r.num()))
        } else {
            Ratio::from_decimal(factor)
        };
        let exact = || {
            let d = Ratio::from_decimal(denominator)?;
            Ratio::from_decimal(number)?.times(Ratio::new(d.den(), d.num())?)?.times(scale?)
        };
        exact().ok_or_else(|| format!("`{text}` is not a positive length of time that can be kept exactly"))
    }

    /// Splits a text into numerator, denominator and factor to SI.
    fn split(self, text: &str) -> Result<(f64, f64, f64), String> {
        let text = text.trim();
        let end = number_end(text);
        let (number, mut rest) = text.split_at(end);
        let number: f64 = number.parse().map_err(|_| format!("expected a number, found `{text}`"))?;
        let mut denominator = 1.0;
        if let Some(after) = rest.trim_start().strip_prefix('/') {
            let after = after.trim_start();
            let end = number_end(after);
            if end > 0 {
                denominator =
                    after[..end].parse().map_err(|_| format!("expected a number after `/` in `{text}`"))?;
                rest = &after[end..];
            }
        }
        let suffix = rest.trim();
        if suffix.is_empty() {
            return Ok((number, denominator, 1.0));
        }
        match self.suffixes().iter().find(|(s, _)| *s == suffix) {
            Some(&(_, factor)) => Ok((number, denominator, factor)),
            None if self.suffixes().is_empty() => {
                Err(format!("`{suffix}` is not wanted here: write a plain number"))
            }
            None => {
                let valid: Vec<&str> = self.suffixes().iter().map(|s| s.0).collect();
                Err(format!("`{suffix}` is not a unit that fits here (valid: {})", valid.join(", ")))
            }
        }
    }
}

fn number_end(text: &str) -> usize {
    let b = text.as_bytes();
    let mut k = usize::from(matches!(b.first(), Some(b'+' | b'-')));
    while k < b.len() && (b[k].is_ascii_digit() || b[k] == b'.' || b[k] == b'_') {
        k += 1;
    }
    // An exponent only when digits follow: `2e3`, but not the unit in `2 e`.
    if k > 0 && k < b.len() && (b[k] == b'e' || b[k] == b'E') {
        let sign = usize::from(matches!(b.get(k + 1), Some(b'+' | b'-')));
        let digits = b[k + 1 + sign..].iter().take_while(|c| c.is_ascii_digit()).count();
        if digits > 0 {
            k += 1 + sign + digits;
        }
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_converted_to_si() {
        assert_eq!(Unit::Radian.parse("90deg").unwrap(), 90.0 * (PI / 180.0));
        assert_eq!(Unit::Metre.parse("25cm").unwrap(), 0.25);
        assert_eq!(Unit::Metre.parse("-1.5e2 mm").unwrap(), -0.15);
        assert_eq!(Unit::MetrePerSecond.parse("3.6 km/h").unwrap(), 3.6 * (1.0 / 3.6));
        assert_eq!(Unit::Second.parse("1/4 s").unwrap(), 0.25);
        assert_eq!(Unit::None.parse("15%").unwrap(), 0.15);
    }

    #[test]
    fn lengths_of_time_are_exact() {
        assert_eq!(Unit::Second.parse_ratio("100ms").unwrap(), Ratio::new(1, 10).unwrap());
        assert_eq!(Unit::Second.parse_ratio("1/60 s").unwrap(), Ratio::new(1, 60).unwrap());
        assert_eq!(Unit::Second.parse_ratio("0.02").unwrap(), Ratio::new(1, 50).unwrap());
        assert_eq!(Unit::Second.parse_ratio("2 min").unwrap(), Ratio::new(120, 1).unwrap());
        assert!(Unit::Second.parse_ratio("0").is_err() && Unit::Second.parse_ratio("-1ms").is_err());
    }

    #[test]
    fn a_wrong_unit_is_named() {
        let why = Unit::Metre.parse("3kg").unwrap_err();
        assert!(why.contains("`kg`") && why.contains("cm"), "{why}");
        assert!(
            Unit::Metre.parse("").is_err()
                && Unit::Metre.parse("m").is_err()
                && Unit::Metre.parse("1e999").is_err()
        );
    }
}
