//! Scenario text in and out.
//!
//! In: TOML text, and a [`Loader`] for what it includes. Out: a [`Scene`], or every problem that was
//! found, each with its place. Text becomes a tree with spans (`tree`), part files are put into it
//! (`blocks`, `files`), includes, parameters and templates are worked out on the tree (`expand`), and
//! then the tree is read against the sheets of the registry (`mean`). A configuration of Neko becomes
//! such a tree as well (`neko`).
//!
//! *Invariant:* this crate touches no file, clock or environment, and knows no part by name. All
//! sizes are bounded before anything is allocated.

pub mod blocks;
mod convert;
mod document;
mod edit;
mod examples;
mod expand;
mod files;
mod include;
mod mean;
pub mod neko;
mod normalise;
mod overrides;
mod schema;
mod sheets;
mod sheets_json;
mod tidy;
mod tree;

pub use document::{
    Change, Document, Edited, Entry, Field, MAX_PATHS, Made, apply, document, fragment, outline, paste,
};
pub use edit::set;
pub use examples::{check_examples, example_scenario, fuzz_edits, fuzz_read, fuzz_read_blocks};
pub use normalise::normalise;
pub use schema::schema;
pub use sheets::{describe, describe_list, manual};
pub use sheets_json::{sheet_json, sheets_json};
pub use tidy::format;

use swarmyard_base::{Diagnostic, Diagnostics, Severity, SourceId, Sources, Span};
use swarmyard_part_api::Registry;
use swarmyard_scene::Scene;
use tree::Tree;

/// Newest version of the format that this program reads.
pub const FORMAT: i64 = 1;

/// Name of the little source texts that overrides become, so that mistakes in them have a place.
pub const OVERRIDE_SOURCE: &str = "--set";

/// Where included texts come from.
pub trait Loader {
    /// The text of that name, relative to the folder of the scenario; it never leaves that folder.
    ///
    /// # Errors
    /// Says in words why there is no text.
    fn load(&self, name: &str) -> Result<String, String>;
}

/// A loader that has no files.
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _name: &str) -> Result<String, String> {
        Err("there are no files to include here".into())
    }
}

/// A scenario that was read.
#[derive(Debug)]
pub struct Loaded {
    /// The scene, with every text it was read from.
    pub scene: Scene,
    /// What is worth knowing.
    pub warnings: Diagnostics,
}

/// A scenario that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Every text that was read, for showing the places.
    pub sources: Sources,
    /// Everything that was found, warnings too, in the order of the text.
    pub problems: Diagnostics,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: Vec<String> = self.problems.0.iter().map(|d| self.sources.render(d)).collect();
        f.write_str(&shown.join("\n"))
    }
}

impl std::error::Error for Failed {}

/// Reads a scenario: text, then tree, then scene.
///
/// `overrides` are pairs such as `("run.seed", "3")` that replace what the text says.
///
/// # Errors
/// All problems at once, in the order of the text.
pub fn read(
    name: &str,
    text: &str,
    overrides: &[(String, String)],
    loader: &dyn Loader,
    registry: &Registry,
) -> Result<Loaded, Box<Failed>> {
    read_within(Limits::NORMAL, (name, text), overrides, loader, registry)
}

/// How much a text may ask for.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of all texts together.
    pub(crate) text: usize,
    /// Robots.
    pub(crate) robots: usize,
    /// Values made by templates and parameters.
    pub(crate) nodes: usize,
}

impl Limits {
    pub(crate) const NORMAL: Limits = Limits { text: 64 << 20, robots: 10_000_000, nodes: 1_000_000 };
    /// For fuzzing: a few bytes may not cost seconds.
    pub(crate) const SMALL: Limits = Limits { text: 1 << 20, robots: 2_000, nodes: 20_000 };
}

pub(crate) fn read_within(
    limits: Limits,
    (name, text): (&str, &str),
    overrides: &[(String, String)],
    loader: &dyn Loader,
    registry: &Registry,
) -> Result<Loaded, Box<Failed>> {
    let mut context = Context::new(limits, loader, registry);
    let scene = include::gather(&mut context, name, text)
        .and_then(|tree| {
            let tree = with_files(&mut context, tree, overrides)?;
            let expanded = expand::expand(&mut context, tree)?;
            Some(mean::mean(&mut context, expanded))
        })
        .unwrap_or_else(|| swarmyard_scene::Node::new("", ""));
    let (sources, problems) = context.finish();
    if problems.has_errors() {
        return Err(Box::new(Failed { sources, problems }));
    }
    Ok(Loaded { scene: Scene { root: scene, sources }, warnings: problems })
}

/// Part files and overrides put into the tree.
///
/// An override that has no place yet may find one in what a part file brings, so it is tried again.
fn with_files(context: &mut Context<'_>, mut tree: Tree, overrides: &[(String, String)]) -> Option<Tree> {
    let open = overrides::apply(context, &mut tree, overrides);
    let complete = files::resolve(context, &mut tree);
    // Without the file it cannot be said whether they have a place.
    if complete {
        overrides::apply_rest(context, &mut tree, &open);
    }
    complete.then_some(tree)
}

/// Problems after which we stop collecting: nobody reads further, and a hostile file could fill memory.
const MAX_PROBLEMS: usize = 1000;

/// What every stage needs: where texts come from, what is allowed, and what went wrong so far.
pub(crate) struct Context<'a> {
    pub(crate) loader: &'a dyn Loader,
    pub(crate) registry: &'a Registry,
    pub(crate) limits: Limits,
    pub(crate) sources: Sources,
    /// The sources that are overrides from the command line.
    pub(crate) overrides: std::ops::Range<u32>,
    /// Bytes of all texts so far.
    bytes: usize,
    problems: Diagnostics,
    dropped: usize,
}

impl<'a> Context<'a> {
    fn new(limits: Limits, loader: &'a dyn Loader, registry: &'a Registry) -> Context<'a> {
        Context {
            loader,
            registry,
            limits,
            sources: Sources::default(),
            overrides: u32::MAX..u32::MAX,
            bytes: 0,
            problems: Diagnostics::default(),
            dropped: 0,
        }
    }

    /// Keeps a text from outside, unless it is too long; says so at the place that asked for it.
    pub(crate) fn add_text(&mut self, name: &str, text: &str, asked: Option<Span>) -> Option<SourceId> {
        self.bytes += text.len();
        let limit = self.limits.text;
        if self.bytes > limit {
            let what = format!("scenario texts may have at most `{limit}` bytes together");
            self.report(Diagnostic::error("too-big", what).at(asked));
            return None;
        }
        Some(self.sources.add(name, text))
    }

    /// Notes a problem.
    pub(crate) fn report(&mut self, mut d: Diagnostic) {
        if d.code == convert::REPORTED {
            return;
        }
        if self.problems.0.len() >= MAX_PROBLEMS {
            self.dropped += usize::from(d.severity == Severity::Error);
            return;
        }
        // A key that came from the command line is not a mistake in the file.
        if d.code == "unknown-key" && d.span.is_some_and(|s| self.overrides.contains(&s.source.0)) {
            d.code = "bad-override";
        }
        self.problems.push(d);
    }

    /// Whether so much went wrong that looking further helps nobody.
    pub(crate) fn is_full(&self) -> bool {
        self.problems.0.len() >= MAX_PROBLEMS
    }

    /// Whether anything so far is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.problems.has_errors()
    }

    /// A place in words, such as `walls.toml:3:1`.
    pub(crate) fn place(&self, span: Span) -> String {
        self.sources.locate(span).map_or_else(|| "another place".to_owned(), |l| l.to_string())
    }

    fn finish(mut self) -> (Sources, Diagnostics) {
        self.problems.sort();
        // A template that is used twice has its mistakes twice, on different paths.
        self.problems.0.dedup_by(|a, b| {
            a.span.is_some() && a.span == b.span && a.code == b.code && a.message == b.message
        });
        if self.dropped > 0 {
            let more = format!("and `{}` more problems that are not shown", self.dropped);
            self.problems.push(Diagnostic::error("too-many-problems", more));
        }
        (self.sources, self.problems)
    }
}
