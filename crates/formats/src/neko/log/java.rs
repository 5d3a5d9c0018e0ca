//! Numbers as Java's `Double.toString` writes them.

/// A number as Java writes it: the shortest digits that mean it, at least one behind the point, and
/// `1.0E7` from ten million on and below a thousandth.
#[must_use]
pub fn java_double(x: f64) -> String {
    if x.is_nan() {
        return "NaN".into();
    }
    let sign = if x.is_sign_negative() { "-" } else { "" };
    let size = x.abs();
    if size.is_infinite() {
        return format!("{sign}Infinity");
    }
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{x:?}");
    }
    let shortest = format!("{size:e}");
    // Two digits at least, and the nearest such: the least number of all is 4.9E-324, not 5.0E-324.
    let digits = if shortest.contains('.') { shortest } else { format!("{size:.1e}") };
    format!("{sign}{}", digits.replace('e', "E"))
}

/// Reads a number that is written so, and no other way.
pub(super) fn read_java_double(text: &str) -> Option<f64> {
    // The longest is `-2.2250738585072014E-308`.
    let x: f64 = (text.len() <= 32).then(|| text.parse().ok())??;
    (java_double(x) == text).then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_java_writes_them() {
        for (x, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (100.0, "100.0"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.234_567_8e10, "1.2345678E10"),
            (0.001, "0.001"),
            (0.000_999, "9.99E-4"),
            (-2.5e-5, "-2.5E-5"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::from_bits(1), "4.9E-324"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (673.296_472_545_646_1, "673.2964725456461"),
        ] {
            assert_eq!(java_double(x), text);
            assert_eq!(read_java_double(text), Some(x));
        }
        assert_eq!(java_double(f64::NAN), "NaN");
    }

    #[test]
    fn other_ways_to_write_a_number_are_not_taken_for_it() {
        for text in ["1", "1.50", "01.0", "1e3", "+1.0", "1.0e7", "10000000.0", "inf", "nan", "", "0x1"] {
            assert_eq!(read_java_double(text), None, "{text}");
        }
    }
}
