//! Colours of bodies.

use crate::bodies::Bodies;
use std::collections::BTreeMap;

/// Up to this many robots each has a colour of its own.
const OWN_COLOURS: usize = 60;

/// Colours that can be told apart on white, also by most colour-blind people when few are used.
const PALETTE: [&str; 12] = [
    "#2563eb", "#e11d48", "#059669", "#d97706", "#7c3aed", "#0891b2", "#db2777", "#65a30d", "#ea580c",
    "#4f46e5", "#0d9488", "#9333ea",
];

/// Colours of types for crowds: calm ones first.
const CROWD: [&str; 6] = ["#2563eb", "#e8590c", "#0d9488", "#9333ea", "#ca8a04", "#be185d"];

/// Colour of the trails of what is not a robot.
const OBSTACLE: &str = "#64748b";

/// Which colour each body has.
pub(super) struct Ink {
    colours: Vec<String>,
    /// First colour of each type, and how many shades it has.
    types: Vec<(usize, usize)>,
}

impl Ink {
    pub(super) fn new(bodies: &Bodies) -> Ink {
        let mut ink = Ink { colours: Vec::new(), types: Vec::new() };
        let few = bodies.robots() <= OWN_COLOURS;
        // Colours are shared, or a world with a million obstacles would need as many.
        let mut known: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut crowd = 0;
        for ty in &bodies.types {
            let name = match ty.colour.as_deref().filter(|c| is_colour(c)) {
                Some(given) => given,
                None if ty.kind != "robot" => OBSTACLE,
                None if few => "palette",
                None => {
                    crowd += 1;
                    CROWD[(crowd - 1) % CROWD.len()]
                }
            };
            let place = *known.entry(name).or_insert_with(|| {
                let first = ink.colours.len();
                match name {
                    "palette" => ink.colours.extend(PALETTE.map(str::to_owned)),
                    colour => ink.colours.extend([
                        colour.to_owned(),
                        mixed(colour, 255, 0.28),
                        mixed(colour, 0, 0.22),
                    ]),
                }
                (first, ink.colours.len() - first)
            });
            ink.types.push(place);
        }
        ink
    }

    /// Number of colours.
    pub(super) fn len(&self) -> usize {
        self.colours.len()
    }

    /// Number of the colour of the `k`-th body, of type `ty`.
    pub(super) fn number(&self, k: usize, ty: usize) -> usize {
        let (first, shades) = self.types[ty];
        first + k % shades
    }

    pub(super) fn colour(&self, number: usize) -> &str {
        &self.colours[number]
    }

    pub(super) fn of(&self, k: usize, ty: usize) -> &str {
        self.colour(self.number(k, ty))
    }

    pub(super) fn of_type(&self, ty: usize) -> &str {
        self.colour(self.types[ty].0)
    }
}

/// A colour comes from a file: anything but `#rrggbb` could break out of its attribute.
fn is_colour(text: &str) -> bool {
    text.len() == 7 && text.starts_with('#') && text[1..].bytes().all(|b| b.is_ascii_hexdigit())
}

fn mixed(colour: &str, with: u8, share: f64) -> String {
    let part = |k: usize| {
        let own = u8::from_str_radix(colour.get(k..k + 2).unwrap_or("00"), 16).unwrap_or(0);
        (f64::from(own) * (1.0 - share) + f64::from(with) * share).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", part(1), part(3), part(5))
}

/// Text that may stand in XML.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control()).take(200) {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_colours_are_taken() {
        assert!(is_colour("#c2410c"));
        assert!(
            !is_colour("red") && !is_colour("#12345") && !is_colour("\"/><x") && !is_colour("#1234\u{e9}")
        );
    }

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(escape("a<b & \"c\"\n"), "a&lt;b &amp; &quot;c&quot;");
    }
}
