//! Conditions of assertions, as text and as a tree.
//!
//! In: the text of a condition, such as `all(self.speed < 0.5) && time > 2`.
//! Out: an [`Expr`]. Nothing is evaluated and no path is looked up here: the engine does both, and
//! uses the [`Place`] of a leaf to point at what it could not find.
//!
//! Truth is a number: comparisons give 1 or 0, and anything that is not 0 counts as true. A path
//! swallows `-` and `/` that touch it (names may contain `-`), so write spaces around operators.

use swarmyard_base::path::nearest;
use swarmyard_base::units::Unit;

/// Longest text of a condition, in bytes.
pub const MAX_TEXT: usize = 4096;
/// Deepest nesting.
const MAX_DEPTH: usize = 64;
/// Most operators, calls and leaves; long sums nest to the left, so depth alone does not bound them.
const MAX_NODES: usize = 1000;

/// A stretch of bytes in the text of the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// What is wrong with a condition, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprError {
    /// What is wrong, in words for a person.
    pub message: String,
    /// First byte concerned.
    pub start: usize,
    /// One past the last byte concerned.
    pub end: usize,
}

/// A condition or a number computed from the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant, in SI units.
    Number(f64),
    /// A quantity of the whole run.
    Variable(Variable),
    /// A field of a body (`/robots/r1.x`) or a channel of a part (`self/rays.range[3]`).
    Read {
        /// The body or part.
        of: Thing,
        /// Field or channel: `x`, `range`.
        name: String,
        /// Which number of the channel; `None` when no index was written.
        index: Option<u32>,
        /// The whole reading, path, name and index.
        place: Place,
    },
    /// Distance between the centres of two bodies, in metres.
    Distance(Thing, Thing),
    /// 1 when the inner value is 0, else 0.
    Not(Box<Expr>),
    /// The inner value with the other sign.
    Negate(Box<Expr>),
    /// Two values and an operator between them.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A function of numbers. `Abs` and `Sqrt` have one argument, `Min` and `Max` at least one.
    Call(Function, Vec<Expr>),
    /// A value over all robots, each in turn being `self`. Never nested.
    Over(Over, Box<Expr>),
}

/// A quantity of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// Simulated time in seconds.
    Time,
    /// Quanta committed so far.
    Tick,
    /// Contacts so far.
    Contacts,
    /// Number of robots.
    Robots,
    /// Number of halted robots.
    Halted,
    /// Messages handed to the network so far, each once, however many it is for.
    Sent,
    /// Copies of messages that have come to a robot so far.
    Delivered,
    /// Copies of messages that were lost so far.
    Lost,
}

/// A body or a part, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// Whose path it is.
    pub root: Root,
    /// Absolute path such as `/robots/r1/rays`; below `self` the rest, such as `rays`, or empty.
    pub path: String,
    /// Where it stands in the text.
    pub place: Place,
}

/// Where a path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// At the root of the scene.
    Scene,
    /// At the robot that a quantifier looks at.
    Own,
}

/// Operators with two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// Functions of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Size without sign.
    Abs,
    /// Square root.
    Sqrt,
    /// The least argument.
    Min,
    /// The greatest argument.
    Max,
}

/// Ways to sum up a value over all robots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// 1 when it is true for every robot.
    All,
    /// 1 when it is true for at least one.
    Any,
    /// For how many it is true.
    Count,
    /// The mean.
    Mean,
    /// The least.
    Lowest,
    /// The greatest.
    Highest,
}

const VARIABLES: [(&str, Variable); 8] = [
    ("time", Variable::Time),
    ("tick", Variable::Tick),
    ("contacts", Variable::Contacts),
    ("robots", Variable::Robots),
    ("halted", Variable::Halted),
    ("sent", Variable::Sent),
    ("delivered", Variable::Delivered),
    ("lost", Variable::Lost),
];

const FUNCTIONS: [(&str, Function); 4] =
    [("abs", Function::Abs), ("sqrt", Function::Sqrt), ("min", Function::Min), ("max", Function::Max)];

const QUANTIFIERS: [(&str, Over); 6] = [
    ("all", Over::All),
    ("any", Over::Any),
    ("count", Over::Count),
    ("mean", Over::Mean),
    ("lowest", Over::Lowest),
    ("highest", Over::Highest),
];

/// Operators by how tightly they bind, loosest first; longer spellings before their beginnings.
const LEVELS: [&[(&str, Binary)]; 5] = [
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[
        ("<=", Binary::LessEqual),
        (">=", Binary::GreaterEqual),
        ("==", Binary::Equal),
        ("!=", Binary::NotEqual),
        ("<", Binary::Less),
        (">", Binary::Greater),
    ],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide)],
];

/// The level of the comparisons, which cannot be chained.
const COMPARISONS: usize = 2;

/// Reads a condition.
///
/// # Errors
/// Says what is wrong and at which bytes of `text`.
pub fn parse(text: &str) -> Result<Expr, ExprError> {
    let mut parser = Parser { text, at: 0, depth: 0, nodes: 0, quantified: false };
    if text.len() > MAX_TEXT {
        return Err(parser.error(0, text.len(), format!("a condition may have at most {MAX_TEXT} bytes")));
    }
    let expr = parser.level(0)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.unexpected("an operator or the end"));
    }
    Ok(expr)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    nodes: usize,
    /// Whether we are inside a quantifier, where `self` means something.
    quantified: bool,
}

impl<'a> Parser<'a> {
    /// Operators of one level, grouping to the left.
    fn level(&mut self, level: usize) -> Result<Expr, ExprError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        let mut compared = false;
        while let Some((op, start)) = self.operator(operators) {
            if level == COMPARISONS && compared {
                let what = "comparisons cannot be chained: join two with `&&`";
                return Err(self.error(start, self.at, what));
            }
            compared = true;
            self.node(start)?;
            let right = self.level(level + 1)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[(&str, Binary)]) -> Option<(Binary, usize)> {
        self.skip_space();
        let start = self.at;
        let &(spelling, op) = operators.iter().find(|(s, _)| self.rest().starts_with(s))?;
        self.at += spelling.len();
        Some((op, start))
    }

    fn unary(&mut self) -> Result<Expr, ExprError> {
        self.skip_space();
        let start = self.at;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(start, start + 1, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        self.node(start)?;
        let expr = if self.eat("!") {
            Expr::Not(Box::new(self.unary()?))
        } else if self.eat("-") {
            Expr::Negate(Box::new(self.unary()?))
        } else {
            self.operand()?
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn operand(&mut self) -> Result<Expr, ExprError> {
        match self.rest().bytes().next() {
            Some(b'(') => {
                self.at += 1;
                let inner = self.level(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(b'/') => self.reading(),
            Some(c) if c.is_ascii_digit() || c == b'.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => self.word(),
            _ => Err(self.unexpected("a number, a path or a name")),
        }
    }

    fn word(&mut self) -> Result<Expr, ExprError> {
        let start = self.at;
        let word = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if word == "self" {
            self.at = start;
            return self.reading();
        }
        if let Some(&(_, variable)) = VARIABLES.iter().find(|v| v.0 == word) {
            return Ok(Expr::Variable(variable));
        }
        if word == "distance" {
            self.expect("(")?;
            let a = self.thing()?;
            self.expect(",")?;
            let b = self.thing()?;
            self.expect(")")?;
            return Ok(Expr::Distance(a, b));
        }
        if let Some(&(_, over)) = QUANTIFIERS.iter().find(|q| q.0 == word) {
            if self.quantified {
                let what = format!("`{word}` cannot stand inside another function over all robots");
                return Err(self.error(start, self.at, what));
            }
            self.expect("(")?;
            self.quantified = true;
            let inner = self.level(0)?;
            self.quantified = false;
            self.expect(")")?;
            return Ok(Expr::Over(over, Box::new(inner)));
        }
        if let Some(&(_, function)) = FUNCTIONS.iter().find(|f| f.0 == word) {
            return self.call(function, word, start);
        }
        let words = VARIABLES.iter().map(|v| v.0).chain(FUNCTIONS.iter().map(|f| f.0));
        let words = words.chain(QUANTIFIERS.iter().map(|q| q.0)).chain(["distance", "self"]);
        let hint = nearest(word, words.clone()).map_or_else(
            || format!("; there are {}", words.collect::<Vec<_>>().join(", ")),
            |n| format!(", did you mean `{n}`?"),
        );
        Err(self.error(start, self.at, format!("unknown name `{word}`{hint}")))
    }

    fn call(&mut self, function: Function, word: &str, start: usize) -> Result<Expr, ExprError> {
        self.expect("(")?;
        let mut arguments = vec![self.level(0)?];
        self.skip_space();
        while self.eat(",") {
            arguments.push(self.level(0)?);
            self.skip_space();
        }
        self.expect(")")?;
        let single = matches!(function, Function::Abs | Function::Sqrt);
        if single && arguments.len() != 1 {
            let what = format!("`{word}` takes one argument, not {}", arguments.len());
            return Err(self.error(start, self.at, what));
        }
        Ok(Expr::Call(function, arguments))
    }

    /// A number, and a unit that touches it.
    fn number(&mut self) -> Result<Expr, ExprError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digits =
            |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        let mut end = start + digits(start);
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent =
                bytes[(end + 1 + sign).min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        self.at = end;
        let Some(number) = self.text[start..end].parse::<f64>().ok().filter(|x| x.is_finite()) else {
            return Err(self.error(start, end, format!("`{}` is not a number", &self.text[start..end])));
        };
        Ok(Expr::Number(number * self.unit_factor()?))
    }

    /// The factor of the longest unit that is written right here; 1 when nothing touches the number.
    fn unit_factor(&mut self) -> Result<f64, ExprError> {
        let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '²';
        let rest = self.rest();
        let fits = |suffix: &str| {
            rest.strip_prefix(suffix).is_some_and(|after| suffix == "%" || !after.starts_with(is_letter))
        };
        // A suffix with a blank in it cannot be told from two words here.
        let suffixes = Unit::ALL.iter().flat_map(|u| u.suffixes());
        let all = suffixes.filter(|(s, _)| !s.contains(' ') && fits(s));
        if let Some(&(suffix, factor)) = all.max_by_key(|(s, _)| s.len()) {
            self.at += suffix.len();
            return Ok(factor);
        }
        if !rest.starts_with(is_letter) && !rest.starts_with('°') {
            return Ok(1.0);
        }
        let start = self.at;
        let wrong = self.take_while(|c| is_letter(c) || c == '°');
        Err(self.error(start, self.at, format!("`{wrong}` is not a unit")))
    }

    /// A path, then `.` and the name of a field or channel, then perhaps an index.
    fn reading(&mut self) -> Result<Expr, ExprError> {
        let start = self.at;
        let taken = self.take_while(is_path_char);
        // The last dot before a letter ends the path; what follows the name goes back to the text.
        let dot = taken.char_indices().rev().find(|&(k, c)| {
            c == '.' && taken[k + 1..].starts_with(|n: char| n.is_ascii_alphabetic() || n == '_')
        });
        let Some((dot, _)) = dot else {
            let what = format!("`{taken}` needs a field, such as `{taken}.x`");
            return Err(self.error(start, self.at, what));
        };
        let name: String =
            taken[dot + 1..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let of = self.thing_from(start, &taken[..dot])?;
        self.at = start + dot + 1 + name.len();
        let mut index = None;
        if self.eat("[") {
            self.skip_space();
            let from = self.at;
            let digits = self.take_while(|c| c.is_ascii_digit());
            let Ok(k) = digits.parse::<u32>() else {
                return Err(self.error(from, self.at.max(from + 1), "an index is a whole number, from 0"));
            };
            index = Some(k);
            self.expect("]")?;
        }
        Ok(Expr::Read { of, name, index, place: Place { start, end: self.at } })
    }

    /// A body named by its path, with no field.
    fn thing(&mut self) -> Result<Thing, ExprError> {
        self.skip_space();
        let start = self.at;
        if !self.rest().starts_with('/') && !self.rest().starts_with("self") {
            return Err(self.unexpected("a path such as `/robots/r1`, or `self`"));
        }
        let taken = self.take_while(is_path_char);
        self.thing_from(start, taken)
    }

    fn thing_from(&self, start: usize, written: &str) -> Result<Thing, ExprError> {
        let place = Place { start, end: start + written.len() };
        let bad = |what: String| self.error(place.start, place.end, what);
        let (root, path) = match written.strip_prefix("self") {
            Some("") => (Root::Own, ""),
            Some(rest) if rest.starts_with('/') => (Root::Own, &rest[1..]),
            Some(_) => return Err(bad(format!("unknown name `{written}`"))),
            None => (Root::Scene, written),
        };
        if root == Root::Own && !self.quantified {
            return Err(bad(
                "`self` has a meaning only inside `all(…)`, `any(…)`, `count(…)` and the like".into()
            ));
        }
        let names = path.strip_prefix('/').unwrap_or(path);
        let empty_own = root == Root::Own && written == "self";
        if !empty_own && !names.split('/').all(swarmyard_base::path::is_name) {
            return Err(bad(format!("`{written}` is not a path")));
        }
        Ok(Thing { root, path: path.to_owned(), place })
    }

    fn node(&mut self, start: usize) -> Result<(), ExprError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(self.error(
                start,
                start + 1,
                format!("longer than {MAX_NODES} operators and values"),
            ));
        }
        Ok(())
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), ExprError> {
        self.skip_space();
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(&format!("`{token}`"))) }
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !keep(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn unexpected(&self, wanted: &str) -> ExprError {
        match self.rest().chars().next() {
            Some(c) => self.error(self.at, self.at + c.len_utf8(), format!("expected {wanted}, found `{c}`")),
            None => self.error(self.at, self.at, format!("expected {wanted}, found the end")),
        }
    }

    fn error(&self, start: usize, end: usize, message: impl Into<String>) -> ExprError {
        ExprError {
            message: message.into(),
            start: start.min(self.text.len()),
            end: end.min(self.text.len()),
        }
    }
}

fn is_path_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree as text with every group in parentheses.
    fn show(e: &Expr) -> String {
        let thing = |t: &Thing| match t.root {
            Root::Scene => t.path.clone(),
            Root::Own => format!("self:{}", t.path),
        };
        match e {
            Expr::Number(x) => x.to_string(),
            Expr::Variable(v) => format!("{v:?}"),
            Expr::Read { of, name, index, .. } => {
                format!("{}|{name}{}", thing(of), index.map_or(String::new(), |i| format!("[{i}]")))
            }
            Expr::Distance(a, b) => format!("distance({}, {})", thing(a), thing(b)),
            Expr::Not(x) => format!("!{}", show(x)),
            Expr::Negate(x) => format!("-{}", show(x)),
            Expr::Binary(op, a, b) => format!("({} {op:?} {})", show(a), show(b)),
            Expr::Call(f, v) => format!("{f:?}({})", v.iter().map(show).collect::<Vec<_>>().join(", ")),
            Expr::Over(o, x) => format!("{o:?}({})", show(x)),
        }
    }

    #[track_caller]
    fn reads(text: &str, shown: &str) {
        assert_eq!(show(&parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"))), shown);
    }

    #[track_caller]
    fn refuses(text: &str, start: usize, end: usize, word: &str) {
        let e = parse(text).expect_err(text);
        assert!(e.message.contains(word), "{}", e.message);
        assert_eq!((e.start, e.end), (start, end), "{}", e.message);
    }

    #[test]
    fn operators_bind_as_everywhere() {
        reads("1 + 2 * 3 < 10 && 1 || 0", "((((1 Add (2 Multiply 3)) Less 10) And 1) Or 0)");
        reads("1 - 2 - 3", "((1 Subtract 2) Subtract 3)");
        reads("-(1 + 2) * -3", "(-(1 Add 2) Multiply -3)");
        reads("!(time >= 2) && tick != 4", "(!(Time GreaterEqual 2) And (Tick NotEqual 4))");
    }

    #[test]
    fn numbers_may_carry_units() {
        reads("0.2m", "0.2");
        reads("100ms", "0.1");
        reads("180deg == 3.141592653589793", "(3.141592653589793 Equal 3.141592653589793)");
        reads("2m/s2", "2");
        reads("50cm/s", "0.5");
        reads("10% + 1e-3", "(0.1 Add 0.001)");
        reads("3min / 2", "(180 Divide 2)");
        reads("all(3m/self.speed < 2)", "All(((3 Divide self:|speed) Less 2))");
    }

    #[test]
    fn the_last_dot_separates_the_field() {
        reads("/robots/r1.x < 1", "(/robots/r1|x Less 1)");
        reads("/robots/p1.crate.heading", "/robots/p1.crate|heading");
        reads("/robots/r1/rays.range[3] > 0.5", "(/robots/r1/rays|range[3] Greater 0.5)");
        reads("/robots/r-1.y-1", "(/robots/r-1|y Subtract 1)");
        reads("/robots/r1.x/2", "(/robots/r1|x Divide 2)");
        reads("/robots/r1.x/0.5", "(/robots/r1|x Divide 0.5)");
    }

    #[test]
    fn quantifiers_bind_self() {
        reads("all(self.speed < 0.5)", "All((self:|speed Less 0.5))");
        reads("count(self/rays.range[0] < 1) == robots", "(Count((self:rays|range[0] Less 1)) Equal Robots)");
        reads("any(distance(self, /obstacles/p1.a) < 1)", "Any((distance(self:, /obstacles/p1.a) Less 1))");
        reads(
            "mean(self.x) - lowest(self.x) < max(1, 2, abs(-3))",
            "((Mean(self:|x) Subtract Lowest(self:|x)) Less Max(1, 2, Abs(-3)))",
        );
    }

    #[test]
    fn errors_point_at_the_trouble() {
        refuses("", 0, 0, "the end");
        refuses("1 <", 3, 3, "the end");
        refuses("(1", 2, 2, "`)`");
        refuses("1 2", 2, 3, "operator");
        refuses("1 < 2 < 3", 6, 7, "chained");
        refuses("tme > 1", 0, 3, "`time`");
        refuses("self.x", 0, 4, "self");
        refuses("all(any(self.x))", 4, 7, "inside another");
        refuses("/robots/r1 < 1", 0, 10, "needs a field");
        refuses("/robots//r1.x", 0, 11, "not a path");
        refuses("3parsec", 1, 7, "unit");
        refuses("1e999", 0, 5, "not a number");
        refuses("abs(1, 2)", 0, 9, "one argument");
        refuses("distance(1, 2)", 9, 10, "path");
        refuses("/robots/a.x[-1]", 12, 13, "index");
        refuses("1 + ß", 4, 6, "ß");
        refuses("time = 1", 5, 6, "=");
    }

    #[test]
    fn size_and_depth_are_bounded() {
        assert!(parse(&"(".repeat(5000)).is_err());
        assert!(parse(&format!("{}1{}", "(".repeat(100), ")".repeat(100))).is_err());
        assert!(parse(&format!("{}1", "!".repeat(100))).is_err());
        assert!(parse(&format!("1{}", "+1".repeat(900))).is_err());
        assert!(parse(&format!("1{}", "+1".repeat(100))).is_ok());
    }

    #[test]
    fn cut_texts_never_panic() {
        let text = "all(self/rays.range[0]<1.5e+2m/s²)||distance(/robots/a.b,/robots/ß)>=3°&&!halted";
        for (k, _) in text.char_indices() {
            let _ = parse(&text[..k]);
            let _ = parse(&text[k..]);
        }
    }
}
