//! Changing the document, and the run with it.
//!
//! In: changes, whole texts, steps back and forth. Out: another text that loads, and the run in the world it
//! says; or every problem, and then neither has changed.

use crate::answer::{Answer, Refusal};
use crate::problems::problem_json;
use crate::runner::Runner;
use serde_json::{Value, json};
use swarmyard_engine::{List, Report};
use swarmyard_formats::{
    Change, Document, Edited, Entry, Failed, apply, document, fragment, normalise, paste,
};
use swarmyard_sim::Error;

/// Which way the document goes.
pub(crate) enum Way {
    /// A new step, with its name.
    On(String),
    /// The last step is taken back.
    Undo,
    /// The step that was taken back is taken again.
    Redo,
}

impl From<Box<Failed>> for Refusal {
    fn from(failed: Box<Failed>) -> Refusal {
        Refusal::problems("problems", &failed.sources, &failed.problems)
    }
}

impl Runner {
    /// The document's entries, for the `world` message; none for a recording, or a text that does not load.
    pub(crate) fn entries(&self) -> Value {
        if self.show.is_replay() {
            return json!([]);
        }
        let entries = self.editable().map_or_else(|_| Vec::new(), |document| document.entries);
        entries.iter().map(entry_json).collect()
    }

    fn editable(&self) -> Result<Document, Box<Failed>> {
        let (loader, registry) = (self.setting.loader(), self.setting.registry());
        document(self.document.name(), self.document.text(), loader, registry)
    }

    /// Refuses changes to what somebody has not seen.
    fn check_revision(&self, revision: u64) -> Result<(), Refusal> {
        if revision == self.revision {
            return Ok(());
        }
        let what = format!("the document is at revision {}, not `{revision}`", self.revision);
        Err(Refusal::new("stale", what).help("look at the document as it is now, and try again"))
    }

    pub(crate) fn edit(&mut self, label: String, changes: Vec<Value>, revision: u64) -> Answer {
        self.check_revision(revision)?;
        let changes: Result<Vec<Change>, _> = changes.into_iter().map(serde_json::from_value).collect();
        let changes = changes.map_err(|e| Refusal::new("malformed", format!("this is no change: {e}")))?;
        let Edited { text, made } = apply(&self.editable()?, &changes)?;
        self.go(text, Way::On(named(label, "edit")), made)
    }

    pub(crate) fn replace(&mut self, label: String, text: String, revision: u64) -> Answer {
        self.check_revision(revision)?;
        self.go(text, Way::On(named(label, "edit the text")), Vec::new())
    }

    pub(crate) fn paste(&mut self, piece: &str, by: [f64; 2], revision: u64) -> Answer {
        self.check_revision(revision)?;
        let Edited { text, made } = paste(&self.editable()?, piece, by)?;
        self.go(text, Way::On("paste".into()), made)
    }

    pub(crate) fn copy(&self, entries: &[String]) -> Answer {
        Ok(json!({ "fragment": fragment(&self.editable()?, entries)? }))
    }

    pub(crate) fn undo(&mut self) -> Answer {
        let text = self.document.before();
        let text = text.ok_or_else(|| Refusal::new("nothing", "there is nothing to undo"))?;
        self.go(text, Way::Undo, Vec::new())
    }

    pub(crate) fn redo(&mut self) -> Answer {
        let text = self.document.after();
        let text = text.ok_or_else(|| Refusal::new("nothing", "there is nothing to do again"))?;
        self.go(text, Way::Redo, Vec::new())
    }

    pub(crate) fn normalise(&self, class: &str, param: &str, typed: &str) -> Answer {
        let sheet = self.setting.registry().sheet(class);
        let sheet =
            sheet.ok_or_else(|| Refusal::new("unknown-class", format!("there is no class `{class}`")))?;
        let found = sheet.params.iter().find(|p| p.name == param);
        let found =
            found.ok_or_else(|| Refusal::new("unknown-param", format!("`{class}` has no `{param}`")))?;
        Ok(json!({ "value": normalise(found, typed)? }))
    }

    /// Goes over to another text, if it loads: a run that has not begun is loaded anew, another goes on in
    /// the changed world.
    fn go(&mut self, text: String, way: Way, made: Vec<String>) -> Answer {
        if self.show.is_looking_back() {
            let what = "an earlier moment is shown, where nothing can be changed";
            return Err(Refusal::new("looking-back", what).help("go back with `live`, or `branch` from here"));
        }
        if self.problems.contains_key("open") || self.is_at_start() {
            let sim = self.setting.read(self.document.name(), &text)?;
            self.show.reload(sim);
            self.tape_anew();
            self.problems.remove("open");
        } else {
            self.end_step();
            self.change(&text)?;
        }
        match way {
            Way::On(label) => {
                self.log.say("info", "edit", None, label.clone());
                self.document.change(label, text);
            }
            Way::Undo => {
                self.log.say("info", "edit", None, "undone");
                self.document.undo();
            }
            Way::Redo => {
                self.log.say("info", "edit", None, "done again");
                self.document.redo();
            }
        }
        self.revision += 1;
        self.note_warnings();
        Ok(json!({ "revision": self.revision, "paths": made }))
    }

    /// Whether the run could as well be loaded anew.
    fn is_at_start(&self) -> bool {
        let live = self.show.live();
        live.state().stops == 0 && live.journal().all().is_empty()
    }

    /// Changes the world of a run that goes on.
    fn change(&mut self, text: &str) -> Result<(), Refusal> {
        let (loader, registry) = (self.setting.loader(), self.setting.registry());
        let scenario =
            swarmyard_sim::Scenario { name: self.document.name(), text, overrides: &[], loader, registry };
        let report = self.show.live_mut().change(&scenario)?;
        self.show.changed();
        self.tell_report(&report);
        Ok(())
    }

    /// Says what could not be carried over.
    fn tell_report(&mut self, report: &Report) {
        let told: [(&'static str, &str, &List); 5] = [
            ("info", "put at the start", &report.placed),
            ("info", "new", &report.new),
            ("warning", "begins anew", &report.anew),
            ("info", "gone", &report.gone),
            ("warning", "let go", &report.let_go),
        ];
        for (level, what, list) in told.into_iter().filter(|t| t.2.count > 0) {
            let more = if list.count > list.first.len() { ", …" } else { "" };
            self.log.say(level, "edit", None, format!("{what}: {}{more}", list.first.join(", ")));
        }
    }

    /// Writes a source, and goes on with controllers that are made of it.
    pub(crate) fn write(&mut self, path: &str, text: &str) -> Answer {
        if self.document.file() == Some(path) {
            let what = "the document is written by `save`";
            return Err(Refusal::new("not-writable", what).help("change it with `edit` or `replace`"));
        }
        self.project.write(path, text)?;
        if self.show.is_replay() || self.show.is_looking_back() {
            return Ok(json!({ "reloaded": [], "problems": [] }));
        }
        let mut reloaded = Vec::new();
        let mut problems = Vec::new();
        for (ty, controller) in self.made_of(path) {
            match self.show.live_mut().reload(&ty, &controller) {
                Ok(_) => reloaded.push(format!("{ty}.{controller}")),
                Err(Error::Scenario(sources, found)) => {
                    problems.extend(found.0.iter().map(|d| problem_json(&sources, d)));
                }
                Err(other) => problems.push(Refusal::from(other).json()),
            }
        }
        if !reloaded.is_empty() {
            self.log.say(
                "info",
                "code",
                None,
                format!("{path}: its new code runs in {}", reloaded.join(", ")),
            );
        }
        if !problems.is_empty() {
            self.log.say("error", "code", None, format!("{path} does not compile: the old code goes on"));
        }
        self.problems.insert("code", problems.clone());
        Ok(json!({ "reloaded": reloaded, "problems": problems }))
    }

    /// Controllers whose code is made of a file: of itself, or of a source that a header stands beside.
    fn made_of(&self, path: &str) -> Vec<(String, String)> {
        let Ok(file) = self.project.existing(path) else { return Vec::new() };
        let is_header = path.ends_with(".h");
        let sim = self.show.live();
        let mut found = Vec::new();
        for ty in &sim.model().types {
            for controller in &ty.controllers {
                let source = sim.source(&ty.name, &controller.name).and_then(|s| s.canonicalize().ok());
                let uses = source.is_some_and(|s| s == file || is_header && s.parent() == file.parent());
                if uses {
                    found.push((ty.name.clone(), controller.name.clone()));
                }
            }
        }
        found
    }
}

/// One entry, as displays read it.
fn entry_json(entry: &Entry) -> Value {
    let fields = entry.fields.iter().map(|f| json!({ "key": f.name, "text": f.text, "line": f.line }));
    let points = entry.paths.iter().map(|m| (!m.points.is_empty()).then_some(&m.points));
    json!({
        "key": entry.key,
        "section": entry.section,
        "class": entry.class,
        "name": entry.name,
        "paths": entry.paths.iter().map(|m| &m.path).collect::<Vec<_>>(),
        "poses": entry.paths.iter().map(|m| m.pose).collect::<Vec<_>>(),
        "points": points.collect::<Vec<_>>(),
        "count": entry.count,
        "line": entry.line,
        "fields": fields.collect::<Vec<_>>(),
        "fixed": entry.fixed,
    })
}

fn named(label: String, otherwise: &str) -> String {
    if label.trim().is_empty() { otherwise.to_owned() } else { label }
}
