//! Assertions: conditions on the run, resolved once and judged at every commit.

use crate::live::LiveState;
use crate::model::{Model, TypeModel};
use crate::state::State;
use swarmyard_base::{Diagnostic, Span, Vec2, math};
use swarmyard_part_api::BodyKind;
use swarmyard_scene::expr::{Binary, Expr, Function, Over, Root, Thing, Variable};

/// When an assertion must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// At every quantum where it is asked for.
    Always,
    /// At one quantum at least.
    Sometime,
    /// At the last quantum where it is asked for.
    AtEnd,
}

/// One assertion.
#[derive(Clone, Debug, PartialEq)]
pub struct Assertion {
    /// What it is about.
    pub name: String,
    /// The condition as written.
    pub text: String,
    /// The condition under which it is asked for, as written.
    pub when_text: Option<String>,
    /// When it must hold.
    pub holds: Holds,
    pub(crate) when: Option<Rule>,
    pub(crate) that: Rule,
}

impl Assertion {
    /// Whether the assertion is met, as things stand.
    #[must_use]
    pub fn met(&self, verdict: &crate::Verdict) -> bool {
        match self.holds {
            Holds::Always => verdict.held == verdict.asked,
            Holds::Sometime => verdict.held > 0,
            Holds::AtEnd => verdict.asked > 0 && verdict.last,
        }
    }
}

/// A number of the world in the language of conditions, its names looked up once.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula(Rule);

impl Formula {
    /// Looks the names of an expression up in a model.
    ///
    /// # Errors
    /// Which name is unknown.
    pub fn new(model: &Model, expr: &Expr) -> Result<Formula, Diagnostic> {
        resolve(model, expr, None).map(Formula)
    }

    /// Its value in a state. Truth is 1 or 0; what does not exist is not a number.
    #[must_use]
    pub fn value(&self, model: &Model, state: &State) -> f64 {
        Eye { model, state, own: None }.value(&self.0)
    }
}

/// A condition with every name resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rule {
    Number(f64),
    Variable(Variable),
    Field(Body, Field),
    /// By type: part, whether it is a command, and place in the row. Of a fixed robot, or of `self`.
    Channel(Body, Vec<Option<(usize, bool, usize)>>),
    Distance(Body, Body),
    Not(Box<Rule>),
    Negate(Box<Rule>),
    Binary(Binary, Box<Rule>, Box<Rule>),
    Call(Function, Vec<Rule>),
    Over(Over, Box<Rule>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Body {
    Slot(usize),
    Own,
    /// Something that never moves.
    Place(Vec2),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field {
    X,
    Y,
    Heading,
    Vx,
    Vy,
    Speed,
    Spin,
    Touching,
}

const FIELDS: [(&str, Field); 8] = [
    ("x", Field::X),
    ("y", Field::Y),
    ("heading", Field::Heading),
    ("vx", Field::Vx),
    ("vy", Field::Vy),
    ("speed", Field::Speed),
    ("spin", Field::Spin),
    ("touching", Field::Touching),
];

/// Resolves the names of a condition. `span` is where its text stands.
pub(crate) fn resolve(model: &Model, expr: &Expr, span: Option<Span>) -> Result<Rule, Diagnostic> {
    let inner = |e: &Expr| resolve(model, e, span).map(Box::new);
    Ok(match expr {
        Expr::Number(x) => Rule::Number(*x),
        Expr::Variable(v) => Rule::Variable(*v),
        Expr::Read { of, name, index, .. } => read(model, of, name, *index, span)?,
        Expr::Distance(a, b) => Rule::Distance(body(model, a, span)?.0, body(model, b, span)?.0),
        Expr::Not(e) => Rule::Not(inner(e)?),
        Expr::Negate(e) => Rule::Negate(inner(e)?),
        Expr::Binary(op, a, b) => Rule::Binary(*op, inner(a)?, inner(b)?),
        Expr::Call(f, args) => {
            Rule::Call(*f, args.iter().map(|a| resolve(model, a, span)).collect::<Result<_, _>>()?)
        }
        Expr::Over(over, e) => Rule::Over(*over, inner(e)?),
    })
}

/// The body a path starts with, and the rest of the path (a part's name, or nothing).
fn body<'t>(model: &Model, thing: &'t Thing, span: Option<Span>) -> Result<(Body, &'t str), Diagnostic> {
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
    let near = model.paths.iter().take(10_000);
    Err(Diagnostic::error("unknown-path", format!("there is nothing at `{}`", thing.path))
        .at(span)
        .suggest(&thing.path, near))
}

fn read(
    model: &Model,
    of: &Thing,
    name: &str,
    index: Option<u32>,
    span: Option<Span>,
) -> Result<Rule, Diagnostic> {
    let (body, part) = body(model, of, span)?;
    if part.is_empty() {
        let field = FIELDS.iter().find(|f| f.0 == name).ok_or_else(|| {
            Diagnostic::error("unknown-field", format!("a body has no field `{name}`"))
                .at(span)
                .suggest(name, FIELDS.iter().map(|f| f.0))
        })?;
        if matches!(body, Body::Place(_)) && !matches!(field.1, Field::X | Field::Y) {
            let what = format!("`{}` never moves: it has only `x` and `y`", of.path);
            return Err(Diagnostic::error("unknown-field", what).at(span));
        }
        return Ok(Rule::Field(body, field.1));
    }
    let wanted = |t: usize, ty: &TypeModel| match body {
        Body::Slot(slot) => model.type_of[slot] as usize == t,
        Body::Own => ty.kind == BodyKind::Robot,
        Body::Place(_) => false,
    };
    let mut places = Vec::new();
    for (t, ty) in model.types.iter().enumerate() {
        places.push(if wanted(t, ty) { Some(channel(ty, part, name, index, span)?) } else { None });
    }
    Ok(Rule::Channel(body, places))
}

fn channel(
    ty: &TypeModel,
    part: &str,
    name: &str,
    index: Option<u32>,
    span: Option<Span>,
) -> Result<(usize, bool, usize), Diagnostic> {
    let p = ty.parts.iter().position(|p| p.name == part).ok_or_else(|| {
        Diagnostic::error("unknown-part", format!("type `{}` has no part `{part}`", ty.name))
            .at(span)
            .suggest(part, ty.parts.iter().map(|p| p.name.as_str()))
    })?;
    let layout = &ty.parts[p].layout;
    let (first, len) = layout.place(name).ok_or_else(|| {
        Diagnostic::error("unknown-channel", format!("part `{part}` has no channel `{name}`"))
            .at(span)
            .suggest(name, layout.channels.iter().map(|c| c.name))
    })?;
    let k = index.unwrap_or(0) as usize;
    if k >= len {
        let what = format!("channel `{name}` has {len} numbers, there is no `[{k}]`");
        return Err(Diagnostic::error("out-of-range", what).at(span));
    }
    let command = layout.channels.iter().any(|c| c.name == name && c.command);
    Ok((p, command, first + k))
}

/// Judges every assertion on the committed state. Answers those that fail for the first time.
pub(crate) fn judge(model: &Model, state: &mut State) -> Vec<usize> {
    let mut failed = Vec::new();
    for (k, assertion) in model.asserts.iter().enumerate() {
        let eye = Eye { model, state, own: None };
        let asked = assertion.when.as_ref().is_none_or(|w| eye.value(w) != 0.0);
        if !asked {
            continue;
        }
        let value = eye.value(&assertion.that);
        let holds = value != 0.0 && !value.is_nan();
        let now = state.now;
        let verdict = &mut state.verdicts[k];
        verdict.asked += 1;
        verdict.last = holds;
        if holds {
            verdict.held += 1;
        } else if verdict.first_failure.is_none() {
            verdict.first_failure = Some(now);
            if assertion.holds == Holds::Always {
                failed.push(k);
            }
        }
    }
    failed
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

    fn value(&self, rule: &Rule) -> f64 {
        match rule {
            Rule::Number(x) => *x,
            Rule::Variable(v) => self.variable(*v),
            Rule::Field(Body::Place(at), Field::X) => at.x,
            Rule::Field(Body::Place(at), Field::Y) => at.y,
            Rule::Field(body, field) => self.slot(*body).map_or(f64::NAN, |slot| self.field(slot, *field)),
            Rule::Channel(body, places) => {
                self.slot(*body).map_or(f64::NAN, |slot| self.channel(slot, places))
            }
            Rule::Distance(a, b) => match (self.at(*a), self.at(*b)) {
                (Some(a), Some(b)) => (a - b).norm(),
                _ => f64::NAN,
            },
            Rule::Not(e) => truth(self.value(e) == 0.0),
            Rule::Negate(e) => -self.value(e),
            Rule::Binary(op, a, b) => self.binary(*op, a, b),
            Rule::Call(f, args) => self.call(*f, args),
            Rule::Over(over, e) => self.over(*over, e),
        }
    }

    fn variable(&self, variable: Variable) -> f64 {
        match variable {
            Variable::Time => self.state.now.seconds(),
            Variable::Tick => self.state.stops as f64,
            Variable::Contacts => self.state.accounts.contacts as f64,
            Variable::Robots => self.model.robots() as f64,
            Variable::Halted => self.state.halted.iter().filter(|h| **h).count() as f64,
            Variable::Sent => self.messages(|live| live.sent),
            Variable::Delivered => self.messages(|live| live.delivered),
            Variable::Lost => self.messages(|live| live.lost),
        }
    }

    /// A count of messages; none where no robot lives by events.
    fn messages(&self, count: fn(&LiveState) -> u64) -> f64 {
        self.state.live.as_deref().map_or(0, count) as f64
    }

    fn field(&self, slot: usize, field: Field) -> f64 {
        let (pose, twist) = (self.state.pose[slot], self.state.twist[slot]);
        match field {
            Field::X => pose.at.x,
            Field::Y => pose.at.y,
            Field::Heading => pose.heading,
            Field::Vx => pose.rot().apply(twist.linear()).x,
            Field::Vy => pose.rot().apply(twist.linear()).y,
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

    fn binary(&self, op: Binary, a: &Rule, b: &Rule) -> f64 {
        let x = self.value(a);
        match op {
            Binary::Or => return truth(x != 0.0 || self.value(b) != 0.0),
            Binary::And => return truth(x != 0.0 && self.value(b) != 0.0),
            _ => {}
        }
        let y = self.value(b);
        match op {
            Binary::Or | Binary::And => f64::NAN,
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

    fn call(&self, function: Function, args: &[Rule]) -> f64 {
        let mut values = args.iter().map(|a| self.value(a));
        match function {
            Function::Abs => values.next().map_or(f64::NAN, f64::abs),
            Function::Sqrt => values.next().map_or(f64::NAN, f64::sqrt),
            Function::Min => values.fold(f64::INFINITY, math::min),
            Function::Max => values.fold(f64::NEG_INFINITY, math::max),
        }
    }

    /// Robots are visited in slot order, which is the order of types and paths: sums of floats do not
    /// depend on threads.
    fn over(&self, over: Over, rule: &Rule) -> f64 {
        let robots =
            self.model.types.iter().filter(|t| t.kind == BodyKind::Robot).flat_map(|t| t.slots.clone());
        let mut values = robots.map(|slot| Eye { own: Some(slot), ..*self }.value(rule));
        match over {
            Over::All => truth(values.all(|v| v != 0.0)),
            Over::Any => truth(values.any(|v| v != 0.0)),
            Over::Count => values.filter(|v| *v != 0.0).count() as f64,
            Over::Mean => {
                let (sum, n) = values.fold((0.0, 0_u64), |(s, n), v| (s + v, n + 1));
                sum / n as f64
            }
            Over::Lowest => values.fold(f64::INFINITY, math::min),
            Over::Highest => values.fold(f64::NEG_INFINITY, math::max),
        }
    }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}
