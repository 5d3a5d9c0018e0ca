//! Sheets: what a class says about itself.
//!
//! The scenario checker, `describe`, the JSON schema, the reference manual and the editor's property
//! panel are readings of the same sheet; nobody else knows a parameter's unit, range or default.

use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Diagnostics};
use swarmyard_scene::{Params, Value};

/// Where a class may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A section of the scenario: the world, a wall, a robot, the run's settings.
    Structure,
    /// A way to place many robots.
    Layout,
    /// A part that reads the world.
    Sensor,
    /// A part that changes the world.
    Actuator,
    /// What decides.
    Controller,
    /// A microprotocol of robots that live by events.
    Protocol,
    /// What such a robot does: the top of its protocols.
    Algorithm,
    /// How messages travel.
    Network,
}

impl Kind {
    /// The kinds that may stand in a section of a type; all of them when nobody said which.
    #[must_use]
    pub fn of_section(section: &str) -> &'static [Kind] {
        match section {
            "part" => &[Kind::Sensor, Kind::Actuator],
            "controller" => &[Kind::Controller],
            "protocol" => &[Kind::Protocol],
            "algorithm" => &[Kind::Algorithm],
            _ => &[Kind::Sensor, Kind::Actuator, Kind::Controller, Kind::Protocol, Kind::Algorithm],
        }
    }

    /// The word used in text.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Structure => "structure",
            Kind::Layout => "layout",
            Kind::Sensor => "sensor",
            Kind::Actuator => "actuator",
            Kind::Controller => "controller",
            Kind::Protocol => "protocol",
            Kind::Algorithm => "algorithm",
            Kind::Network => "network",
        }
    }
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamType {
    /// Yes or no.
    Bool,
    /// A whole number in a range, both ends included.
    Int {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// A number with a unit in a range, both ends included.
    Number {
        /// Unit of the plain number.
        unit: Unit,
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// Free text.
    Text,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// The name of something else in the scenario: `surface`, `type`, `part`.
    Name(&'static str),
    /// The name of a file beside the scenario, whose text becomes the value of this other key.
    File(&'static str),
    /// A list of numbers with a unit.
    Numbers {
        /// Unit of the plain numbers.
        unit: Unit,
        /// Fewest.
        min_len: usize,
        /// Most.
        max_len: usize,
    },
    /// A list of texts.
    Texts,
    /// A value for a key elsewhere, or a list of such values: a number, a text, yes or no. It is kept as a
    /// text (or texts), because only that key knows what it is to be.
    Loose,
    /// A point `[x, y]` in metres.
    Point,
    /// A list of at least so many points in metres.
    Points {
        /// Fewest.
        min_len: usize,
    },
    /// A list of at least one row of numbers, each column with its name and unit.
    Rows(&'static [(&'static str, Unit)]),
    /// `[x, y]` or `[x, y, heading]`.
    Pose,
    /// An exact positive length of time.
    Period,
    /// An inline table that is itself of a class of this kind, chosen by its `class` key.
    Inline(Kind),
}

impl ParamType {
    /// The type in words, for people.
    #[must_use]
    pub fn words(&self) -> String {
        let with_unit =
            |unit: Unit| if unit == Unit::None { String::new() } else { format!(" [{}]", unit.symbol()) };
        match self {
            ParamType::Bool => "true or false".into(),
            ParamType::Int { .. } => "whole number".into(),
            ParamType::Number { unit, .. } => format!("number{}", with_unit(*unit)),
            ParamType::Text => "text".into(),
            ParamType::Choice(words) => format!("one of {}", words.join(" | ")),
            ParamType::Name(what) => format!("name of a {what}"),
            ParamType::File(key) => format!("name of a file with the text of `{key}`"),
            ParamType::Numbers { unit, .. } => format!("list of numbers{}", with_unit(*unit)),
            ParamType::Texts => "list of texts".into(),
            ParamType::Loose => "number, text, or a list of them".into(),
            ParamType::Point => "point [x, y] [m]".into(),
            ParamType::Points { .. } => "list of points [[x, y], …] [m]".into(),
            ParamType::Rows(columns) => {
                let names: Vec<&str> = columns.iter().map(|c| c.0).collect();
                let units: Vec<&str> = columns.iter().map(|c| c.1.symbol()).collect();
                format!("list of rows [[{}], …] [{}]", names.join(", "), units.join(", "))
            }
            ParamType::Pose => "pose [x, y, heading] [m, m, rad]".into(),
            ParamType::Period => "length of time [s], exact".into(),
            ParamType::Inline(kind) => format!("table of a {} class", kind.word()),
        }
    }

    /// The allowed range in words; empty when there is none.
    #[must_use]
    pub fn range_words(&self) -> String {
        fn ends<T: PartialOrd + std::fmt::Display>(min: T, max: T, least: T, most: T) -> String {
            match (min > least, max < most) {
                (true, true) => format!("{min} to {max}"),
                (true, false) => format!("at least {min}"),
                (false, true) => format!("at most {max}"),
                (false, false) => String::new(),
            }
        }
        match *self {
            ParamType::Int { min, max } => ends(min, max, i64::MIN, i64::MAX),
            ParamType::Number { min, max, .. } => ends(min, max, f64::MIN, f64::MAX),
            ParamType::Numbers { min_len, max_len, .. } if max_len < usize::MAX => {
                if min_len == max_len {
                    format!("exactly {min_len}")
                } else {
                    format!("{min_len} to {max_len} of them")
                }
            }
            ParamType::Points { min_len } => format!("at least {min_len} of them"),
            ParamType::Rows(_) => "at least 1 of them".into(),
            _ => String::new(),
        }
    }
}

/// One parameter of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// Its type.
    pub ty: ParamType,
    /// Its value when not given; `None` means there is none, and see `required`.
    pub default: Option<Value>,
    /// Whether it must be given.
    pub required: bool,
    /// What it means.
    pub summary: &'static str,
}

impl Param {
    /// An optional parameter without default.
    #[must_use]
    pub fn new(name: &'static str, ty: ParamType, summary: &'static str) -> Param {
        Param { name, ty, default: None, required: false, summary }
    }

    /// A number of a unit, unlimited until [`Param::within`] says otherwise.
    #[must_use]
    pub fn number(name: &'static str, unit: Unit, summary: &'static str) -> Param {
        Param::new(name, ParamType::Number { unit, min: f64::MIN, max: f64::MAX }, summary)
    }

    /// Limits a number, ends included.
    #[must_use]
    pub fn within(mut self, low: f64, high: f64) -> Param {
        if let ParamType::Number { min, max, .. } = &mut self.ty {
            (*min, *max) = (low, high);
        }
        self
    }

    /// Gives it a default.
    #[must_use]
    pub fn or(mut self, value: Value) -> Param {
        self.default = Some(value);
        self
    }

    /// Gives it a number as default.
    #[must_use]
    pub fn or_num(self, value: f64) -> Param {
        self.or(Value::Num(value))
    }

    /// Gives it a text as default.
    #[must_use]
    pub fn or_text(self, value: &str) -> Param {
        self.or(Value::Text(value.to_owned()))
    }

    /// Checks that a value is of its type and in its range.
    ///
    /// # Errors
    /// Says what is wrong, and what is allowed.
    pub fn check(&self, value: &Value) -> Result<(), Diagnostic> {
        check_value(self, value)
    }

    /// Demands it.
    #[must_use]
    pub fn required(mut self) -> Param {
        self.required = true;
        self
    }
}

/// One channel of a part: the one truth that registers, messages and observations encode.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Name, such as `range`.
    pub name: &'static str,
    /// How many numbers it has (a fan of 12 rays has 12).
    pub len: usize,
    /// Unit.
    pub unit: Unit,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Whether a controller writes it (`true`) or reads it.
    pub command: bool,
    /// What it means.
    pub summary: &'static str,
}

impl Channel {
    /// A channel that a controller reads.
    #[must_use]
    pub fn reading(
        name: &'static str,
        len: usize,
        unit: Unit,
        range: (f64, f64),
        summary: &'static str,
    ) -> Channel {
        Channel { name, len, unit, min: range.0, max: range.1, command: false, summary }
    }

    /// A channel that a controller writes.
    #[must_use]
    pub fn command(
        name: &'static str,
        len: usize,
        unit: Unit,
        range: (f64, f64),
        summary: &'static str,
    ) -> Channel {
        Channel { command: true, ..Channel::reading(name, len, unit, range, summary) }
    }
}

/// One level of detail a class can be simulated at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// `coarse`, `normal` or `fine`, as in the run's settings; `every` when they do not differ.
    pub name: &'static str,
    /// What is and is not modelled at this level.
    pub summary: &'static str,
}

/// What a class says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Name of the class.
    pub class: &'static str,
    /// Where it may stand.
    pub kind: Kind,
    /// What it is, in one or two sentences.
    pub summary: &'static str,
    /// Its parameters, in the order a person wants to read them.
    pub params: Vec<Param>,
    /// Its channels with their usual length; an instance may have more or fewer numbers in one.
    pub channels: Vec<Channel>,
    /// Its ports, with what they do.
    pub ports: Vec<(&'static str, &'static str)>,
    /// Its levels of detail; at least one for parts.
    pub levels: Vec<Level>,
    /// What it draws on a display, in words.
    pub marks: &'static str,
    /// A piece of a scenario that uses it and loads as it stands (see `formats::example_scenario`).
    pub example: &'static str,
}

impl Sheet {
    /// A sheet without parameters.
    #[must_use]
    pub fn new(class: &'static str, kind: Kind, summary: &'static str) -> Sheet {
        Sheet {
            class,
            kind,
            summary,
            params: Vec::new(),
            channels: Vec::new(),
            ports: Vec::new(),
            levels: Vec::new(),
            marks: "",
            example: "",
        }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn param(mut self, param: Param) -> Sheet {
        self.params.push(param);
        self
    }

    /// Adds a channel.
    #[must_use]
    pub fn channel(mut self, channel: Channel) -> Sheet {
        self.channels.push(channel);
        self
    }

    /// Adds a port.
    #[must_use]
    pub fn port(mut self, name: &'static str, summary: &'static str) -> Sheet {
        self.ports.push((name, summary));
        self
    }

    /// Adds a level of detail.
    #[must_use]
    pub fn level(mut self, name: &'static str, summary: &'static str) -> Sheet {
        self.levels.push(Level { name, summary });
        self
    }

    /// Says what it draws.
    #[must_use]
    pub fn marks(mut self, marks: &'static str) -> Sheet {
        self.marks = marks;
        self
    }

    /// Adds the example.
    #[must_use]
    pub fn example(mut self, example: &'static str) -> Sheet {
        self.example = example;
        self
    }

    /// The parameter of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| p.name == name)
    }

    /// Checks parameters (unknown names, kinds of value, ranges, missing ones) and fills in defaults.
    ///
    /// Readers of text call this after converting units; scenes built by program call it too, so
    /// everything behind it may rely on the sheet. Problems are added to `problems` with `path`.
    pub fn complete(
        &self,
        params: &mut Params,
        path: &str,
        span: Option<swarmyard_base::Span>,
        problems: &mut Diagnostics,
    ) {
        for (name, entry) in params.iter() {
            match self.find(name) {
                None => problems.push(
                    Diagnostic::error("unknown-key", format!("`{name}` is not a key of `{}`", self.class))
                        .at(entry.span)
                        .on(path)
                        .suggest(name, self.params.iter().map(|p| p.name)),
                ),
                Some(param) => {
                    if let Err(d) = check_value(param, &entry.value) {
                        problems.push(d.at(entry.span).on(path));
                    }
                }
            }
        }
        for param in &self.params {
            if params.has(param.name) {
                continue;
            }
            if let Some(default) = &param.default {
                params.set(param.name, default.clone(), None);
            } else if param.required {
                problems.push(
                    Diagnostic::error(
                        "missing-key",
                        format!("`{}` needs the key `{}`", self.class, param.name),
                    )
                    .at(span)
                    .on(path)
                    .help(format!("{}: {}", param.ty.words(), param.summary)),
                );
            }
        }
    }
}

/// Checks that a value is of the parameter's type and in its range.
fn check_value(param: &Param, value: &Value) -> Result<(), Diagnostic> {
    let out_of_range = |shown: String| {
        Diagnostic::error("out-of-range", format!("`{}` is out of range: `{shown}`", param.name))
            .help(format!("{} ({})", param.ty.range_words(), param.ty.words()))
    };
    let number = |x: f64| {
        let ParamType::Number { min, max, .. } = param.ty else { return Ok(()) };
        if x.is_nan() || x < min || x > max { Err(out_of_range(x.to_string())) } else { Ok(()) }
    };
    let many = |n: usize, min: usize, max: usize| {
        if n < min || n > max { Err(out_of_range(format!("{n} entries"))) } else { Ok(()) }
    };
    match (param.ty, value) {
        (ParamType::Bool, Value::Bool(_))
        | (ParamType::Text | ParamType::Name(_) | ParamType::File(_), Value::Text(_))
        | (ParamType::Texts, Value::Texts(_))
        | (ParamType::Loose, Value::Text(_) | Value::Texts(_))
        | (ParamType::Period, Value::Ratio(_)) => Ok(()),
        (ParamType::Point, Value::Point(p)) if p.is_finite() => Ok(()),
        (ParamType::Pose, Value::Pose(p)) if p.is_finite() => Ok(()),
        (ParamType::Int { min, max }, Value::Int(i)) => {
            if *i < min || *i > max {
                Err(out_of_range(i.to_string()))
            } else {
                Ok(())
            }
        }
        (ParamType::Number { .. }, Value::Num(x)) => number(*x),
        (ParamType::Choice(words), Value::Text(t)) => {
            if words.contains(&t.as_str()) {
                return Ok(());
            }
            let what = format!("`{}` cannot be `{t}`", param.name);
            Err(Diagnostic::error("unknown-choice", what).suggest(t, words.iter().copied()))
        }
        (ParamType::Numbers { min_len, max_len, .. }, Value::Nums(v)) if v.iter().all(|x| x.is_finite()) => {
            many(v.len(), min_len, max_len)
        }
        (ParamType::Points { min_len }, Value::Points(v)) if v.iter().all(|p| p.is_finite()) => {
            many(v.len(), min_len, usize::MAX)
        }
        (ParamType::Rows(columns), Value::Rows(rows))
            if rows.iter().all(|r| r.len() == columns.len() && r.iter().all(|x| x.is_finite())) =>
        {
            many(rows.len(), 1, usize::MAX)
        }
        _ => Err(Diagnostic::error("wrong-type", format!("`{}` must be: {}", param.name, param.ty.words()))),
    }
}
