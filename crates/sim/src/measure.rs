//! Numbers taken of a run, in the language of conditions.
//!
//! In: a text such as `mean(self.speed)`, looked up once in the model. Out: its value in the state that a
//! run is in, and over the quanta of a run what a [`Take`] asks for. Never: a change of the run.
//!
//! It means what the same text means in an assertion; `swarmyard/tests/measures.rs` holds the two together.

use crate::Sim;
use swarmyard_base::{Diagnostic, Vec2};
use swarmyard_engine::{Model, State};
use swarmyard_part_api::BodyKind;
use swarmyard_scene::expr::{self, Binary, Expr, Function, Over, Root, Thing, Variable};
use swarmyard_scene::sweep::{Measure, Take};

/// A number of the world, its names looked up.
#[derive(Clone, Debug)]
pub struct Quantity(Term);

impl Quantity {
    /// Looks the names of a text up in a model.
    ///
    /// # Errors
    /// What is wrong with the text, or which name is unknown.
    pub fn new(model: &Model, text: &str) -> Result<Quantity, Diagnostic> {
        let wrong = |what: String| Diagnostic::error("bad-condition", format!("in `{text}`: {what}"));
        let parsed = expr::parse(text).map_err(|e| wrong(e.message))?;
        resolve(model, &parsed).map(Quantity).map_err(|d| {
            let help = d.help.clone();
            let d = Diagnostic::error(d.code, format!("in `{text}`: {}", d.message));
            help.map_or(d.clone(), |h| d.help(h))
        })
    }

    /// Its value now. Truth is 1 or 0; what does not exist is not a number.
    #[must_use]
    pub fn value(&self, sim: &Sim) -> f64 {
        Eye { model: sim.model(), state: sim.state(), own: None }.value(&self.0)
    }
}

/// What one measure of a sweep has seen of a run.
#[derive(Clone, Debug)]
pub struct Gauge {
    of: Quantity,
    when: Option<Quantity>,
    take: Take,
    seen: u64,
    value: f64,
}

impl Gauge {
    /// A measure of a run that begins.
    ///
    /// # Errors
    /// What is wrong with its texts.
    pub fn new(model: &Model, measure: &Measure) -> Result<Gauge, Diagnostic> {
        Ok(Gauge {
            of: Quantity::new(model, &measure.of)?,
            when: measure.when.as_deref().map(|when| Quantity::new(model, when)).transpose()?,
            take: measure.take,
            seen: 0,
            value: 0.0,
        })
    }

    /// Looks at the run: once after every step.
    pub fn look(&mut self, sim: &Sim) {
        if self.when.as_ref().is_some_and(|when| when.value(sim) == 0.0) {
            return;
        }
        self.seen += 1;
        if self.take == Take::First && self.seen > 1 {
            return;
        }
        let x = self.of.value(sim);
        self.value = match self.take {
            _ if self.seen == 1 => x,
            Take::End | Take::First => x,
            Take::Mean => self.value + x,
            Take::Min => self.value.min(x),
            Take::Max => self.value.max(x),
        };
    }

    /// What came of it; `None` when no quantum counted or it is not a number.
    #[must_use]
    pub fn answer(&self) -> Option<f64> {
        let value = if self.take == Take::Mean { self.value / self.seen as f64 } else { self.value };
        (self.seen > 0 && !value.is_nan()).then_some(value)
    }
}

#[derive(Clone, Debug)]
enum Term {
    Number(f64),
    Variable(Variable),
    Field(Body, Field),
    /// By type: part, whether it is a command, and place in the row.
    Channel(Body, Vec<Option<(usize, bool, usize)>>),
    Distance(Body, Body),
    Not(Box<Term>),
    Negate(Box<Term>),
    Binary(Binary, Box<Term>, Box<Term>),
    Call(Function, Vec<Term>),
    Over(Over, Box<Term>),
}

#[derive(Clone, Copy, Debug)]
enum Body {
    Slot(usize),
    Own,
    /// Something that never moves.
    Place(Vec2),
}

#[derive(Clone, Copy, Debug)]
enum Field {
    X,
    Y,
    Heading,
    Speed,
    Spin,
    Touching,
}

const FIELDS: [(&str, Field); 6] = [
    ("x", Field::X),
    ("y", Field::Y),
    ("heading", Field::Heading),
    ("speed", Field::Speed),
    ("spin", Field::Spin),
    ("touching", Field::Touching),
];

fn resolve(model: &Model, expr: &Expr) -> Result<Term, Diagnostic> {
    let inner = |e: &Expr| resolve(model, e).map(Box::new);
    Ok(match expr {
        Expr::Number(x) => Term::Number(*x),
        Expr::Variable(v) => Term::Variable(*v),
        Expr::Read { of, name, index, .. } => read(model, of, name, *index)?,
        Expr::Distance(a, b) => Term::Distance(body(model, a)?.0, body(model, b)?.0),
        Expr::Not(e) => Term::Not(inner(e)?),
        Expr::Negate(e) => Term::Negate(inner(e)?),
        Expr::Binary(op, a, b) => Term::Binary(*op, inner(a)?, inner(b)?),
        Expr::Call(f, args) => {
            Term::Call(*f, args.iter().map(|a| resolve(model, a)).collect::<Result<_, _>>()?)
        }
        Expr::Over(over, e) => Term::Over(*over, inner(e)?),
    })
}

/// The body a path starts with, and the rest of the path: a part's name, or nothing.
fn body<'t>(model: &Model, thing: &'t Thing) -> Result<(Body, &'t str), Diagnostic> {
    if thing.root == Root::Own {
        return Ok((Body::Own, thing.path.trim_start_matches('/')));
    }
    if let Some(slot) = model.slot_of_path(&thing.path) {
        return Ok((Body::Slot(slot), ""));
    }
    if let Some((parent, part)) = thing.path.rsplit_once('/')
        && let Some(slot) = model.slot_of_path(parent)
    {
        return Ok((Body::Slot(slot), part));
    }
    if let Some(at) = model.place_of(&thing.path) {
        return Ok((Body::Place(at), ""));
    }
    let near = model.paths.iter().take(10_000).map(|p| &**p);
    Err(Diagnostic::error("unknown-path", format!("there is nothing at `{}`", thing.path))
        .suggest(&thing.path, near))
}

fn read(model: &Model, of: &Thing, name: &str, index: Option<u32>) -> Result<Term, Diagnostic> {
    let (body, part) = body(model, of)?;
    if part.is_empty() {
        let field = FIELDS.iter().find(|f| f.0 == name).ok_or_else(|| {
            Diagnostic::error("unknown-field", format!("a body has no field `{name}`"))
                .suggest(name, FIELDS.iter().map(|f| f.0))
        })?;
        if matches!(body, Body::Place(_)) && !matches!(field.1, Field::X | Field::Y) {
            let what = format!("`{}` never moves: it has only `x` and `y`", of.path);
            return Err(Diagnostic::error("unknown-field", what));
        }
        return Ok(Term::Field(body, field.1));
    }
    let mut places = Vec::with_capacity(model.types.len());
    for (t, ty) in model.types.iter().enumerate() {
        let wanted = match body {
            Body::Slot(slot) => model.type_of[slot] as usize == t,
            Body::Own => ty.kind == BodyKind::Robot,
            Body::Place(_) => false,
        };
        places.push(if wanted { Some(channel(model, t, part, name, index)?) } else { None });
    }
    Ok(Term::Channel(body, places))
}

fn channel(
    model: &Model,
    t: usize,
    part: &str,
    name: &str,
    index: Option<u32>,
) -> Result<(usize, bool, usize), Diagnostic> {
    let ty = &model.types[t];
    let p = ty.parts.iter().position(|p| p.name == part).ok_or_else(|| {
        Diagnostic::error("unknown-part", format!("type `{}` has no part `{part}`", ty.name))
            .suggest(part, ty.parts.iter().map(|p| p.name.as_str()))
    })?;
    let layout = &ty.parts[p].layout;
    let (first, len) = layout.place(name).ok_or_else(|| {
        Diagnostic::error("unknown-channel", format!("part `{part}` has no channel `{name}`"))
            .suggest(name, layout.channels.iter().map(|c| c.name))
    })?;
    let k = index.unwrap_or(0) as usize;
    if k >= len {
        let what = format!("channel `{name}` has {len} numbers, there is no `[{k}]`");
        return Err(Diagnostic::error("out-of-range", what));
    }
    let command = layout.channels.iter().any(|c| c.name == name && c.command);
    Ok((p, command, first + k))
}

/// The state, and the robot that is `self`.
struct Eye<'a> {
    model: &'a Model,
    state: &'a State,
    own: Option<usize>,
}

impl Eye<'_> {
    fn slot(&self, body: Body) -> Option<usize> {
        match body {
            Body::Slot(slot) => Some(slot),
            Body::Own => self.own,
            Body::Place(_) => None,
        }
    }

    fn at(&self, body: Body) -> Option<Vec2> {
        match body {
            Body::Place(at) => Some(at),
            _ => self.slot(body).map(|slot| self.state.pose[slot].at),
        }
    }

    fn value(&self, term: &Term) -> f64 {
        match term {
            Term::Number(x) => *x,
            Term::Variable(v) => self.variable(*v),
            Term::Field(Body::Place(at), Field::X) => at.x,
            Term::Field(Body::Place(at), Field::Y) => at.y,
            Term::Field(body, field) => self.slot(*body).map_or(f64::NAN, |slot| self.field(slot, *field)),
            Term::Channel(body, places) => {
                self.slot(*body).map_or(f64::NAN, |slot| self.channel(slot, places))
            }
            Term::Distance(a, b) => match (self.at(*a), self.at(*b)) {
                (Some(a), Some(b)) => (a - b).norm(),
                _ => f64::NAN,
            },
            Term::Not(e) => truth(self.value(e) == 0.0),
            Term::Negate(e) => -self.value(e),
            Term::Binary(op, a, b) => self.binary(*op, a, b),
            Term::Call(f, args) => self.call(*f, args),
            Term::Over(over, e) => self.over(*over, e),
        }
    }

    fn variable(&self, variable: Variable) -> f64 {
        match variable {
            Variable::Time => self.state.now.seconds(),
            Variable::Tick => self.state.stops as f64,
            Variable::Contacts => self.state.accounts.contacts as f64,
            Variable::Robots => self.model.robots() as f64,
            Variable::Halted => self.state.halted.iter().filter(|h| **h).count() as f64,
        }
    }

    fn field(&self, slot: usize, field: Field) -> f64 {
        let (pose, twist) = (self.state.pose[slot], self.state.twist[slot]);
        match field {
            Field::X => pose.at.x,
            Field::Y => pose.at.y,
            Field::Heading => pose.heading,
            Field::Speed => twist.linear().norm(),
            Field::Spin => twist.spin,
            Field::Touching => {
                truth(self.state.touches.binary_search_by_key(&(slot as u32), |t| t.slot).is_ok())
            }
        }
    }

    fn channel(&self, slot: usize, places: &[Option<(usize, bool, usize)>]) -> f64 {
        let t = self.model.type_of[slot] as usize;
        let Some((part, command, place)) = places[t] else { return f64::NAN };
        let row = slot - self.model.types[t].slots.start;
        let layout = &self.model.types[t].parts[part].layout;
        let columns = &self.state.types[t].parts[part];
        if command {
            columns.commands[row * layout.command_width() + place]
        } else {
            columns.readings[row * layout.reading_width() + place]
        }
    }

    fn binary(&self, op: Binary, a: &Term, b: &Term) -> f64 {
        let x = self.value(a);
        // The right side is asked only when it decides.
        if (op == Binary::Or && x != 0.0) || (op == Binary::And && x == 0.0) {
            return truth(op == Binary::Or);
        }
        let y = self.value(b);
        match op {
            Binary::Or | Binary::And => truth(y != 0.0),
            Binary::Less => truth(x < y),
            Binary::LessEqual => truth(x <= y),
            Binary::Greater => truth(x > y),
            Binary::GreaterEqual => truth(x >= y),
            Binary::Equal => truth(x == y),
            Binary::NotEqual => truth(x != y),
            Binary::Add => x + y,
            Binary::Subtract => x - y,
            Binary::Multiply => x * y,
            Binary::Divide => x / y,
        }
    }

    fn call(&self, function: Function, args: &[Term]) -> f64 {
        let mut values = args.iter().map(|a| self.value(a));
        match function {
            Function::Abs => values.next().map_or(f64::NAN, f64::abs),
            Function::Sqrt => values.next().map_or(f64::NAN, f64::sqrt),
            Function::Min => values.fold(f64::INFINITY, f64::min),
            Function::Max => values.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Robots are visited in slot order, so sums are the same every time.
    fn over(&self, over: Over, term: &Term) -> f64 {
        let robots = self.model.types.iter().filter(|t| t.kind == BodyKind::Robot);
        let mut values = robots
            .flat_map(|t| t.slots.clone())
            .map(|slot| Eye { model: self.model, state: self.state, own: Some(slot) }.value(term));
        match over {
            Over::All => truth(values.all(|v| v != 0.0)),
            Over::Any => truth(values.any(|v| v != 0.0)),
            Over::Count => values.filter(|v| *v != 0.0).count() as f64,
            Over::Mean => {
                let (sum, n) = values.fold((0.0, 0_u64), |(s, n), v| (s + v, n + 1));
                sum / n as f64
            }
            Over::Lowest => values.fold(f64::INFINITY, f64::min),
            Over::Highest => values.fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}
