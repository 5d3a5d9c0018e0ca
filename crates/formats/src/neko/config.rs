//! `robotsim.config`: the scenario of Neko's robot simulator.
//!
//! In: the text of a configuration. Out: the tree that the scenario's own text would have made, so that
//! everything behind the reader is the same; every value of the tree stands where the configuration says
//! it, and so do problems that are found later. All problems are reported at once.
//!
//! λ is a time in seconds: of a random network the mean delay, of a metric network what a message costs
//! its sender and its receiver.

mod born;
mod network;

use super::properties::{self, Entry, MAX_PROBLEMS};
use super::toml;
use crate::tree::{Data, Key, Tree, shortened};
use crate::{FORMAT, Failed};
use born::born_number;
use std::collections::BTreeMap;
use swarmyard_base::{Diagnostic, Diagnostics, SourceId, Sources, Span};

/// Keys that stand at most once.
const KEYS: [&str; 20] = [
    "process.num",
    "robot.size",
    "bornpoint.random",
    "process.initializer",
    "process.initaliaizer",
    "robot.algorithm",
    "animation",
    "animation.framerate",
    "animation.panel.width",
    "animation.panel.height",
    "animation.logpath",
    "ghost_mode",
    "simulation",
    "network",
    "network.lambda",
    "network.multicast",
    "RandomNetwork.lambda",
    "RandomNetwork.seed",
    "handlers",
    "messages.level",
];

/// The initializer printed in the thesis: it sets up `PathReservation`.
const INITIALIZER: &str = "RobotSimInitializer";
/// Rectangle of random born points when the configuration has none.
const PANEL: i64 = 800;

/// The thesis' classes of algorithms, ours, and what a run of them is called.
const ALGORITHMS: [(&str, &str, &str); 4] = [
    ("RandomMovement", "random-movement", "Random movement"),
    ("Gathering", "gathering", "Gathering"),
    ("TestCommunication", "ask-for-help", "Asking for help"),
    ("PathReservation", "path-reservation", "Path reservation"),
];

/// A configuration as a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The scenario's text.
    pub toml: String,
    /// What was left out, and what was assumed.
    pub notes: Diagnostics,
}

/// A configuration as the text of a scenario.
///
/// # Errors
/// All problems at once; their places are in `text`, which is source 0.
pub fn to_toml(text: &str) -> Result<String, Diagnostics> {
    let (tree, problems) = tree(text, SourceId(0));
    tree.map(|t| toml::write(&t)).ok_or(problems)
}

/// A configuration as the text of a scenario, with notes; problems come with the text they are in.
///
/// # Errors
/// All problems at once, in the order of the text.
pub fn convert(name: &str, text: &str) -> Result<Converted, Box<Failed>> {
    let (tree, notes) = tree(text, SourceId(0));
    match tree {
        Some(tree) => Ok(Converted { toml: toml::write(&tree), notes }),
        None => {
            let mut sources = Sources::default();
            sources.add(name, text);
            Err(Box::new(Failed { sources, problems: notes }))
        }
    }
}

/// Reads a configuration; there is no tree when anything in it is an error.
pub(crate) fn tree(text: &str, source: SourceId) -> (Option<Tree>, Diagnostics) {
    let (entries, problems) = properties::read(text, source);
    let start = Span { source, start: 0, end: 0 };
    let mut config = Config { single: BTreeMap::new(), born: BTreeMap::new(), start, problems };
    config.sort(&entries);
    let tree = config.scenario();
    config.problems.sort();
    let sound = !config.problems.has_errors();
    (tree.filter(|_| sound), config.problems)
}

/// A configuration on its way to a scenario.
struct Config<'t> {
    single: BTreeMap<&'t str, &'t Entry<'t>>,
    /// Born points by number, each with all its lines: a repeated key is a list.
    born: BTreeMap<u32, Vec<&'t Entry<'t>>>,
    /// The place of what nobody wrote.
    start: Span,
    problems: Diagnostics,
}

type Entries = Vec<(Key, Tree)>;

impl<'t> Config<'t> {
    /// Puts every entry where it belongs, and reports those that belong nowhere.
    fn sort(&mut self, entries: &'t [Entry<'t>]) {
        for entry in entries {
            // There can be no more notes than that, so something is an error.
            if self.problems.0.len() >= 2 * MAX_PROBLEMS {
                return;
            }
            let shown = shortened(entry.key);
            if let Some(number) = born_number(entry.key) {
                self.born.entry(number).or_default().push(entry);
            } else if is_logging(entry.key) {
                self.no_effect(format!("`{shown}` changes nothing: logging is not configured here"), entry);
            } else if let Some(key) = KEYS.iter().find(|k| **k == entry.key) {
                if self.single.insert(key, entry).is_some() {
                    let what = format!("the key is written twice: `{shown}`");
                    self.error("duplicate-key", what, entry.key_span);
                }
            } else {
                let what = format!("`{shown}` is not a key of a configuration");
                let known = KEYS.into_iter().filter(|k| *k != "process.initaliaizer").chain(["bornpoint1"]);
                let d = Diagnostic::error("unknown-key", what).at(Some(entry.key_span));
                self.problems.push(d.suggest(entry.key, known));
            }
        }
    }

    fn scenario(&mut self) -> Option<Tree> {
        self.unused_settings();
        let count = self.count();
        let radius = self.positive("robot.size", "the robot's radius");
        let panel = [self.panel("animation.panel.width"), self.panel("animation.panel.height")];
        let ghosts = self.truth("ghost_mode");
        let algorithm = self.algorithm();
        let network = self.network(algorithm);
        let robots = count.and_then(|n| self.robots(n, panel));
        let (n, radius, (class, place)) = (count?, radius?, algorithm?);
        let words = ALGORITHMS.iter().find(|a| a.1 == class).map_or("", |a| a.2);
        let title = format!("{words} of {n} {}", if n == 1 { "robot" } else { "robots" });
        let mut entries = vec![
            self.plain("format", Data::Int(FORMAT)),
            self.plain("title", Data::Str(title)),
            self.run(ghosts),
        ];
        entries.extend(network);
        entries.push(self.robot_type(radius, class, place));
        entries.push(robots?);
        Some(Tree { span: self.start, data: Data::Table(entries) })
    }

    fn run(&self, ghosts: Option<(bool, Span)>) -> (Key, Tree) {
        let (rule, place) = match ghosts {
            Some((true, span)) => ("ghost", span),
            Some((false, span)) => ("stop", span),
            None => ("stop", self.start),
        };
        let inner = vec![
            self.plain("quantum", text("1s")),
            self.plain("duration", text("1000s")),
            entry("contact", place, text(rule)),
        ];
        entry("run", place, Data::Table(inner))
    }

    /// The type of all robots: what the thesis' algorithm moves with, asks and sends, with the numbers of its source.
    fn robot_type(&self, radius: Tree, class: &str, place: Span) -> (Key, Tree) {
        let here = radius.span;
        let size = match radius.data {
            Data::Int(n) => n as f64,
            Data::Float(x) => x,
            _ => 1.0,
        };
        let table = |span: Span, entries: Vec<(&str, Data)>| {
            let entries = entries.into_iter().map(|(key, data)| entry(key, span, data)).collect();
            Tree { span, data: Data::Table(entries) }
        };
        let mut parts = vec![table(
            self.start,
            vec![("name", text("wheels")), ("class", text("wheels")), ("turn", text("ccw"))],
        )];
        if ["gathering", "path-reservation"].contains(&class) {
            parts.push(table(self.start, vec![("name", text("gps")), ("class", text("gps"))]));
        }
        let mut inner = vec![
            (Key { text: "radius".into(), span: here }, radius),
            entry("part", here, Data::Array(parts)),
        ];
        let mut moves = class;
        let mut more = Vec::new();
        if class == "path-reservation" {
            // The thesis prints the stack and not what its robots want: here they want to go anywhere.
            let order = vec![("name", text("abcast")), ("class", text("lamport-order"))];
            let reservation = vec![
                ("name", text("path_reservation")),
                ("class", text(class)),
                ("broadcast", text("abcast")),
                ("chunk", Data::Float(2.5 * size)),
                ("margin", Data::Float(0.1 * size)),
            ];
            let protocols = vec![table(place, order), table(place, reservation)];
            inner.push(entry("protocol", place, Data::Array(protocols)));
            (moves, more) = ("random-movement", vec![("motion", text("path_reservation"))]);
        }
        let mut algorithm = vec![("class", text(moves))];
        algorithm.extend(more);
        algorithm.extend(numbers_of(moves, place));
        inner.push((Key { text: "algorithm".into(), span: place }, table(place, algorithm)));
        entry("type", here, Data::Table(vec![entry("robot", here, Data::Table(inner))]))
    }

    /// Settings that are read, and checked, but change nothing.
    fn unused_settings(&mut self) {
        self.truth("animation");
        if self.single.contains_key("animation.framerate") {
            self.positive("animation.framerate", "pictures per simulated second");
        }
        if let Some((false, span)) = self.truth("simulation") {
            let d =
                Diagnostic::error("unsupported", "`simulation` must be `true`: no real network is used here");
            self.problems.push(d.at(Some(span)).help("write `simulation = true`, or leave it out"));
        }
    }

    fn count(&mut self) -> Option<i64> {
        let Some(entry) = self.single.get("process.num") else {
            self.missing("process.num", "how many robots there are, such as `process.num = 10`");
            return None;
        };
        match entry.value.text.parse::<i64>() {
            Ok(n) if n > 0 => Some(n),
            _ => {
                let help = "it is the number of robots";
                self.wrong(entry, "a whole number greater than 0", help);
                None
            }
        }
    }

    /// A number greater than zero that must be there.
    fn positive(&mut self, key: &str, about: &str) -> Option<Tree> {
        let Some(entry) = self.single.get(key).copied() else {
            self.missing(key, &format!("it is {about}"));
            return None;
        };
        let number = number(&entry.value.text).filter(|x| x.1 > 0.0);
        let Some((data, _)) = number else {
            self.wrong(entry, "a number greater than 0", &format!("it is {about}"));
            return None;
        };
        Some(Tree { span: entry.value.span, data })
    }

    fn panel(&mut self, key: &str) -> Option<Tree> {
        if self.single.contains_key(key) {
            return self.positive(key, "a side of the rectangle in which robots are born at random");
        }
        Some(Tree { span: self.start, data: Data::Int(PANEL) })
    }

    /// Whether a switch is on; nothing when it is not there, or broken.
    fn truth(&mut self, key: &str) -> Option<(bool, Span)> {
        let entry = self.single.get(key).copied()?;
        match entry.value.text.to_ascii_lowercase().as_str() {
            "true" => Some((true, entry.value.span)),
            "false" => Some((false, entry.value.span)),
            _ => {
                self.wrong(entry, "`true` or `false`", "a comment needs a line of its own");
                None
            }
        }
    }

    /// Our class of algorithm, and where it was named.
    fn algorithm(&mut self) -> Option<(&'static str, Span)> {
        let initializer = self.initializer();
        let Some(entry) = self.single.get("robot.algorithm").copied() else {
            let Some((class, span)) = initializer? else {
                let help =
                    "name the class, such as `robot.algorithm = Gathering`; the thesis does so in Java";
                self.missing("robot.algorithm", help);
                return None;
            };
            let last = last_name(&self.initializer_entry()?.value.text).to_owned();
            if last == INITIALIZER {
                let what = format!("`{INITIALIZER}` does not say what robots do: taken as `PathReservation`");
                let d = Diagnostic::warning("assumed", what).at(Some(span));
                self.problems
                    .push(d.help("that is the one in the thesis; `robot.algorithm = …` names another"));
            }
            return Some((class, span));
        };
        let Some(class) = algorithm_class(&entry.value.text) else {
            let what = format!("there is no algorithm `{}`", shortened(&entry.value.text));
            let d = Diagnostic::error("unknown-class", what).at(Some(entry.value.span));
            self.problems.push(d.suggest(last_name(&entry.value.text), ALGORITHMS.iter().map(|a| a.0)));
            return None;
        };
        Some((class, entry.value.span))
    }

    fn initializer_entry(&self) -> Option<&'t Entry<'t>> {
        let spellings = ["process.initializer", "process.initaliaizer"];
        spellings.iter().find_map(|key| self.single.get(key)).copied()
    }

    /// The algorithm that the initializer stands for; the outer `None` is a mistake in it.
    fn initializer(&mut self) -> Option<Option<(&'static str, Span)>> {
        let spellings = ["process.initializer", "process.initaliaizer"];
        if let [Some(first), Some(second)] = spellings.map(|key| self.single.get(key).copied()) {
            let later = if first.key_span > second.key_span { first } else { second };
            let what = format!("the key is written twice, in both spellings: `{}`", later.key);
            self.error("duplicate-key", what, later.key_span);
        }
        let Some(entry) = self.initializer_entry() else { return Some(None) };
        let name = entry.value.text.as_str();
        if name == INITIALIZER || name.strip_prefix("lse.neko.robotsim.") == Some(INITIALIZER) {
            return Some(Some(("path-reservation", entry.value.span)));
        }
        if let Some(class) = algorithm_class(name) {
            return Some(Some((class, entry.value.span)));
        }
        let what = format!("there is no initializer `{}`", shortened(name));
        let known = ALGORITHMS.iter().map(|a| a.0).chain([INITIALIZER]);
        let d = Diagnostic::error("unknown-class", what).at(Some(entry.value.span));
        self.problems.push(d.suggest(last_name(name), known));
        None
    }

    /// Notes that an entry does nothing, unless there are notes enough.
    fn no_effect(&mut self, what: String, entry: &Entry<'_>) {
        if self.problems.0.len() < MAX_PROBLEMS {
            self.problems.push(Diagnostic::warning("no-effect", what).at(Some(entry.key_span)));
        }
    }

    fn missing(&mut self, key: &str, help: &str) {
        let d = Diagnostic::error("missing-key", format!("a configuration needs the key `{key}`"));
        self.problems.push(d.at(Some(self.start)).help(help));
    }

    fn wrong(&mut self, entry: &Entry<'_>, wanted: &str, help: &str) {
        let what = format!("`{}` must be {wanted}, not `{}`", entry.key, shortened(&entry.value.text));
        self.problems.push(Diagnostic::error("wrong-type", what).at(Some(entry.value.span)).help(help));
    }

    fn error(&mut self, code: &'static str, what: String, span: Span) {
        self.problems.push(Diagnostic::error(code, what).at(Some(span)));
    }

    /// A key that nobody wrote.
    fn plain(&self, key: &str, data: Data) -> (Key, Tree) {
        entry(key, self.start, data)
    }
}

fn entry(key: &str, span: Span, data: Data) -> (Key, Tree) {
    (Key { text: key.to_owned(), span }, Tree { span, data })
}

fn text(text: &str) -> Data {
    Data::Str(text.to_owned())
}

fn list_of(item: Tree) -> Data {
    Data::Array(vec![item])
}

/// Where the thesis' algorithms go and how fast, as their source in its chapter 5 has it.
fn numbers_of(class: &str, span: Span) -> Vec<(&'static str, Data)> {
    let list = |items: [Data; 2]| Data::Array(items.map(|data| Tree { span, data }).into());
    let pair = |a: i64, b: i64| list([Data::Int(a), Data::Int(b)]);
    let turns = |a: &str, b: &str| list([text(a), text(b)]);
    let (field, speed, turn) = match class {
        "gathering" => {
            let turn = turns("3deg/s", "9deg/s");
            return vec![("near", Data::Float(0.01)), ("speed", pair(3, 6)), ("turn_speed", turn)];
        }
        "ask-for-help" => (700, pair(3, 13), turns("6deg/s", "36deg/s")),
        _ => (800, pair(3, 13), turns("3deg/s", "16deg/s")),
    };
    vec![("min", pair(0, 0)), ("max", pair(field, field)), ("speed", speed), ("turn_speed", turn)]
}

/// A finite number as Java writes them, whole or not.
fn number(text: &str) -> Option<(Data, f64)> {
    if !text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'+' | b'-' | b'e' | b'E')) {
        return None;
    }
    let x: f64 = text.parse().ok().filter(|x: &f64| x.is_finite())?;
    Some((text.parse().map_or(Data::Float(x), Data::Int), x))
}

/// Whether a key configures Java's logging.
fn is_logging(key: &str) -> bool {
    let ends = [".level", ".handlers", ".formatter", ".useParentHandlers"];
    key == "handlers" || key.starts_with("java.util.logging.") || ends.iter().any(|e| key.ends_with(e))
}

/// Our class of an algorithm that is named in full, by its last name, or as we call it.
fn algorithm_class(name: &str) -> Option<&'static str> {
    let last = name.strip_prefix("lse.neko.robotsim.algorithm.").unwrap_or(name);
    ALGORITHMS.iter().find(|a| a.0 == last || a.1 == name).map(|a| a.1)
}

fn last_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
