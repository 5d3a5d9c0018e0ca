//! Marks: what a part draws on displays, in the body's frame, so that new hardware shows itself.

use swarmyard_base::Vec2;

/// One thing to draw, with the number behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What to draw.
    pub shape: MarkShape,
    /// The channel it shows, such as `range`.
    pub channel: &'static str,
    /// Which number of the channel.
    pub index: usize,
}

/// Shapes in the body's frame: metres and radians, x forward, y left, counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub enum MarkShape {
    /// Straight lines from point to point.
    Line(Vec<Vec2>),
    /// A circle.
    Circle {
        /// Its centre.
        centre: Vec2,
        /// Its radius.
        radius: f64,
    },
    /// A piece of a circle.
    Arc {
        /// Its centre.
        centre: Vec2,
        /// Its radius.
        radius: f64,
        /// Where it begins.
        from: f64,
        /// Where it ends, counter-clockwise of `from`.
        to: f64,
    },
    /// Words.
    Text {
        /// Where they begin.
        at: Vec2,
        /// What they say.
        text: String,
    },
}
