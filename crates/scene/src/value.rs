//! Parameters of a node: values with the place they were written at.

use std::collections::BTreeMap;
use swarmyard_base::{Pose2, Ratio, Span, Vec2};

/// One parameter value, already in SI units.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Num(f64),
    /// A text, a choice or a name.
    Text(String),
    /// A list of numbers.
    Nums(Vec<f64>),
    /// A list of texts.
    Texts(Vec<String>),
    /// A point.
    Point(Vec2),
    /// A list of points.
    Points(Vec<Vec2>),
    /// Rows of numbers, all of the same length.
    Rows(Vec<Vec<f64>>),
    /// Position and heading.
    Pose(Pose2),
    /// An exact length of time in seconds.
    Ratio(Ratio),
}

/// A value and where it was written; `None` for a default or a value set by program.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub span: Option<Span>,
}

/// The parameters of one node, by name.
///
/// The typed getters come in two forms: `num_or_none` answers `None` when the parameter is absent;
/// `num` is for parameters that the class's sheet guarantees (required, or with a default), and
/// panics when that guarantee was broken by skipping `Sheet::complete`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params(BTreeMap<String, Entry>);

macro_rules! getters {
    ($($maybe:ident, $sure:ident, $variant:ident, $out:ty, $conv:expr;)*) => {$(
        #[doc = concat!("The parameter as `", stringify!($variant), "`, if it is there and of that kind.")]
        #[must_use]
        pub fn $maybe(&self, name: &str) -> Option<$out> {
            match self.value(name) {
                Some(Value::$variant(v)) => Some(($conv)(v)),
                _ => None,
            }
        }
        #[doc = concat!("The parameter as `", stringify!($variant), "`, which the sheet guarantees.")]
        ///
        /// # Panics
        /// When the node was not checked against its sheet.
        #[must_use]
        pub fn $sure(&self, name: &str) -> $out {
            let Some(v) = self.$maybe(name) else {
                panic!("parameter `{name}` is missing: the node was not completed from its sheet")
            };
            v
        }
    )*};
}

impl Params {
    /// Sets a parameter by program.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Params {
        self.set(name, value, None);
        self
    }

    /// Sets a parameter.
    pub fn set(&mut self, name: &str, value: Value, span: Option<Span>) {
        self.0.insert(name.to_owned(), Entry { value, span });
    }

    /// The entry, with its place.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.0.get(name)
    }

    /// The value.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|e| &e.value)
    }

    /// Where the parameter was written.
    #[must_use]
    pub fn span(&self, name: &str) -> Option<Span> {
        self.0.get(name).and_then(|e| e.span)
    }

    /// Whether the parameter is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// All parameters in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    getters! {
        bool_or_none, bool, Bool, bool, |v: &bool| *v;
        int_or_none, int, Int, i64, |v: &i64| *v;
        num_or_none, num, Num, f64, |v: &f64| *v;
        text_or_none, text, Text, &str, |v| -> &str { v };
        nums_or_none, nums, Nums, &[f64], |v| -> &[f64] { v };
        texts_or_none, texts, Texts, &[String], |v| -> &[String] { v };
        point_or_none, point, Point, Vec2, |v: &Vec2| *v;
        points_or_none, points, Points, &[Vec2], |v| -> &[Vec2] { v };
        rows_or_none, rows, Rows, &[Vec<f64>], |v| -> &[Vec<f64>] { v };
        pose_or_none, pose, Pose, Pose2, |v: &Pose2| *v;
        ratio_or_none, ratio, Ratio, Ratio, |v: &Ratio| *v;
    }
}
