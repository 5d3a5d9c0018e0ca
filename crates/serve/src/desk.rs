//! What each request does.
//!
//! In: a request of somebody who may make it. Out: an answer. A request that is refused has changed nothing.

use crate::answer::{Answer, Refusal};
use crate::document::Document;
use crate::hub::Wishes;
use crate::message::Request;
use crate::parcel::Parcel;
use crate::runner::Runner;
use crate::show::Show;
use crate::tape::Tape;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use swarmyard_agents::{Elsewhere, Workshop};
use swarmyard_base::units::Unit;
use swarmyard_engine::Model;
use swarmyard_formats::neko;
use swarmyard_part_api::{BadAccess, Detail, Registry};
use swarmyard_record::Recording;
use swarmyard_sim::{Crowd, Error, Folder, Options, Sim, registry_with};

/// What is shown when there is nothing to show.
pub(crate) const EMPTY: &str = "format = 1\ntitle = \"untitled\"\n\n[world]\nmin = [-5, -5]\nmax = [5, 5]\n";

/// What runs may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Means {
    /// Threads; 0 takes all processors for big worlds.
    pub(crate) threads: usize,
    /// How controllers and part models on other hosts are reached.
    pub(crate) elsewhere: Option<Elsewhere>,
}

/// Where the texts and the code of a scenario come from.
pub(crate) struct Setting {
    folder: Folder,
    means: Means,
    registry: Registry,
}

impl Setting {
    /// The setting of scenarios in a folder. What was compiled is kept as long as it is.
    pub(crate) fn at(folder: &Path, means: &Means) -> Setting {
        let workshop = Workshop::in_folder(folder).with_elsewhere(means.elsewhere.clone());
        let registry = registry_with(&Arc::new(workshop));
        Setting { folder: Folder::new(folder), means: means.clone(), registry }
    }

    pub(crate) fn loader(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The same, with every source compiled anew.
    fn fresh(&self) -> Setting {
        Setting::at(self.folder.path(), &self.means)
    }

    /// The run of a text before its first step.
    pub(crate) fn read(&self, name: &str, text: &str) -> Result<Sim, Error> {
        let Means { threads, elsewhere } = self.means.clone();
        let options = Options { threads, elsewhere, ..Options::default() };
        Sim::read(name, text, &self.folder, &self.registry, &options)
    }
}

impl Runner {
    /// Does what a display asks for.
    pub(crate) fn answer(&mut self, client: u64, request: Request) -> Answer {
        use Request as R;
        match request {
            R::Watch { frames, rate, marks, inspect, probes, grid, comms, links, workers } => {
                let wishes = Wishes { frames, rate, marks, inspect, probes, grid, comms, links, workers };
                self.watch(client, wishes)
            }
            R::Value { robot, part, channel, index } => self.value(&robot, &part, &channel, index),
            R::History { from, to, limit } => {
                let lines = self.log.between(from, to.unwrap_or(u64::MAX), limit.unwrap_or(2000));
                Ok(json!({ "events": lines }))
            }
            R::Comms { from_s, to_s, limit } => {
                let mut answer =
                    self.comms.between(from_s, to_s.unwrap_or(f64::INFINITY), limit.unwrap_or(2000));
                answer["run"] = json!(self.number);
                answer["under_way"] = json!(crate::comms::under_way(self.show.live()));
                Ok(answer)
            }
            R::ControlAsk {} => self.hub.ask(client),
            R::ControlTake {} => self.hub.take(client),
            R::ControlGive { to } => self.hub.give(to),
            R::ControlDeny { to } => self.hub.deny(to),
            R::Start {} => {
                self.may_go_on()?;
                self.is_running = true;
                Ok(json!({}))
            }
            R::Pause {} => {
                self.stand();
                Ok(json!({}))
            }
            R::Reset {} => self.reset(),
            R::Exit {} => {
                self.is_leaving = true;
                Ok(json!({}))
            }
            R::Speed { factor } => {
                self.pace.set(factor);
                Ok(json!({}))
            }
            R::Quantum { .. }
            | R::Detail { .. }
            | R::Skip { .. }
            | R::Restart { .. }
            | R::Halt { .. }
            | R::Poke { .. }
            | R::Command { .. } => self.input(request),
            R::Live {} => {
                self.live();
                Ok(json!({}))
            }
            R::Branch {} => self.branch(),
            R::Copy { entries } => self.copy(&entries),
            R::Normalise { class, param, typed } => self.normalise(&class, &param, &typed),
            R::Edit { label, changes, revision } => self.edit(label, changes, revision),
            R::Replace { label, text, revision } => self.replace(label, text, revision),
            R::Paste { fragment, by, revision } => self.paste(&fragment, by, revision),
            R::Undo {} => self.undo(),
            R::Redo {} => self.redo(),
            R::Write { path, text } => self.write(&path, &text),
            R::Open { path } => self.open(&path),
            R::OpenText { name, text } => self.open_text(name, text),
            R::Save { path } => self.save(path),
            R::Hello { .. } => Err(Refusal::new("out-of-order", "`hello` was said already")),
            R::Sheets {}
            | R::Worlds {}
            | R::Files { .. }
            | R::Read { .. }
            | R::Step { .. }
            | R::Seek { .. } => Err(Refusal::new("out-of-order", "this is answered elsewhere")),
        }
    }

    /// Tells the run something. All of it enters its journal, but for a program that is started again.
    fn input(&mut self, request: Request) -> Answer {
        use Request as R;
        match request {
            R::Quantum { value } => {
                let quantum = Unit::Second.parse_ratio(&value).map_err(|e| Refusal::new("bad-value", e))?;
                self.show.live_mut().set_quantum(quantum);
                Ok(json!({}))
            }
            R::Detail { level } => {
                let detail = Detail::of_word(&level).ok_or_else(|| {
                    let what = format!("there is no level of detail `{level}`");
                    Refusal::new("bad-value", what).help(Detail::WORDS.join(", "))
                })?;
                self.show.live_mut().set_detail(detail);
                Ok(json!({}))
            }
            R::Skip { robot } => done(self.show.live_mut().skip(&robot)),
            R::Restart { .. } if self.show.live().is_spread() => {
                let what = "programs run with the workers, and cannot be started again from here";
                Err(Refusal::new("spread", what).help("`reset` starts all of them again"))
            }
            R::Restart { robot } => match self.show.live_mut().restart(&robot)? {
                true => Ok(json!({})),
                false => Err(Refusal::new("no-program", format!("no native program of `{robot}` runs"))),
            },
            R::Halt { robot, on } => done(self.show.live_mut().halt(&robot, on)),
            R::Poke { robot, address, bytes, value } => {
                let bad = self.show.live_mut().poke(&robot, address, bytes, value)?;
                Ok(json!({ "trouble": bad.map(BadAccess::words) }))
            }
            R::Command { part, channel, values } => {
                done(self.show.live_mut().command(&part, &channel, &values))
            }
            _ => Err(Refusal::new("out-of-order", "this is no input")),
        }
    }

    fn watch(&mut self, id: u64, wishes: Wishes) -> Answer {
        let model = self.show.sim().model();
        let robots = wishes.inspect.iter().chain(&wishes.grid);
        if let Some(unknown) = robots.into_iter().find(|r| model.slot_of_path(r).is_none()) {
            // It may come with the next edit: worth a word, no reason to refuse.
            self.log.say("warning", "run", None, format!("there is nothing that moves at `{unknown}`"));
        }
        if let Some(client) = self.hub.get_mut(id) {
            if !wishes.links {
                client.links_seen = None;
            }
            if !wishes.workers {
                client.workers_seen = None;
            }
            if client.wishes.probes != wishes.probes {
                client.rows.clear();
            }
            client.wishes = wishes;
        }
        self.maps.want(&self.hub, self.show.live());
        Ok(json!({}))
    }

    fn value(&self, robot: &str, part: &str, channel: &str, index: usize) -> Answer {
        let sim = self.show.sim();
        let unknown =
            || Refusal::new("unknown-channel", format!("`{robot}/{part}` has no `{channel}[{index}]`"));
        let values = sim.channel(&format!("{robot}/{part}"), channel).ok_or_else(unknown)?;
        let value = values.get(index).ok_or_else(unknown)?;
        let ty = sim.model().slot_of_path(robot).map(|slot| sim.model().type_at(slot)).ok_or_else(unknown)?;
        let channels = ty.parts.iter().filter(|p| p.name == part).flat_map(|p| &p.layout.channels);
        let unit = channels.filter(|c| c.name == channel).map(|c| c.unit.symbol()).next();
        let register = crate::world::register_of(ty, part, channel, index);
        let register = register.map(|(address, bytes)| json!({ "address": address, "bytes": bytes }));
        Ok(json!({ "value": value, "unit": unit, "register": register }))
    }

    /// A new run of the document, from its start; a recording is shown from its start.
    fn reset(&mut self) -> Answer {
        let show = match self.show.recording() {
            Some(recording) => Show::replay(recording, self.setting.means.threads)?,
            None => {
                let setting = self.setting.fresh();
                let sim = setting.read(self.document.name(), self.document.text())?;
                self.setting = setting;
                Show::new(sim)
            }
        };
        self.begin(show);
        self.log.say("info", "run", None, "reset");
        Ok(json!({ "run": self.number }))
    }

    /// Goes on with another run.
    fn begin(&mut self, show: Show) {
        self.stand();
        let is_same_world = Arc::ptr_eq(self.show.sim().model(), show.sim().model());
        let crowd = self.show.live_mut().release().or_else(|| self.parked.take());
        self.show = show;
        self.spread(crowd);
        // The world may be another although the text is the same: it may have been looked at as it was.
        self.revision += u64::from(!is_same_world);
        self.number += 1;
        self.went_on = None;
        self.log.clear();
        self.comms.clear();
        self.board.forget();
        self.maps.forget();
        self.maps.want(&self.hub, self.show.live());
        self.tape_anew();
        self.problems.remove("open");
        self.problems.remove("code");
        self.note_warnings();
    }

    /// Gives the run to the workers, when there are some. A recording is run again here: they wait.
    fn spread(&mut self, crowd: Option<Box<dyn Crowd>>) {
        let Some(crowd) = crowd else { return };
        if self.show.is_replay() {
            self.parked = Some(crowd);
            return;
        }
        self.show.live_mut().give_to(crowd);
        if self.show.live().model().live.is_some() {
            let what = "what robots tell each other is not shown of a run on workers";
            self.log.say("info", "run", None, what);
        }
    }

    /// Records the live run from here on; a recording is not recorded.
    pub(crate) fn tape_anew(&mut self) {
        // The old file goes first.
        self.tape = None;
        let wanted = !self.show.is_replay();
        self.tape = wanted.then(|| Tape::new(self.show.live(), self.document.name()));
    }

    /// The recording of the run so far.
    pub(crate) fn recording(&mut self) -> Result<Parcel, String> {
        match &mut self.tape {
            Some(tape) => tape.file(self.show.live()),
            None => Err("a recording is shown: it is a file already".into()),
        }
    }

    /// Shows another moment. Answers how many steps a replay has to take before.
    pub(crate) fn seek(&mut self, stop: u64) -> Result<u64, Refusal> {
        let before = Arc::clone(self.show.sim().model());
        let was_running = self.is_running;
        let left = self.show.seek(stop)?;
        self.stand();
        self.went_on.get_or_insert(was_running);
        self.show_world(&before);
        Ok(left)
    }

    /// Back to the newest moment, paused or running as before.
    fn live(&mut self) {
        let before = Arc::clone(self.show.sim().model());
        self.show.come_back();
        self.show_world(&before);
        self.is_running = self.went_on.take().unwrap_or(self.is_running) && self.may_go_on().is_ok();
    }

    /// The moment that is shown becomes the newest.
    fn branch(&mut self) -> Answer {
        let stop = self.show.branch()?;
        self.went_on = None;
        self.number += 1;
        self.log.cut(stop);
        self.comms.cut(stop);
        // What displays had not been told yet they ask for: it may not have happened.
        self.hub.all_mut().for_each(|client| client.comms_seen = self.comms.count());
        self.log.at(stop, self.show.live().now());
        self.log.say("info", "run", None, format!("a new run goes on from stop {stop}"));
        self.maps.forget();
        self.maps.want(&self.hub, self.show.live());
        // The document is that of the world that goes on.
        let text = self.show.live().model().sources.0.first().map(|s| s.text.to_string());
        if let Some(text) = text.filter(|text| text != self.document.text()) {
            self.document.change(format!("go back to stop {stop}"), text);
            self.revision += 1;
        }
        Ok(json!({ "run": self.number, "stop": stop }))
    }

    /// Tells displays about the world that is shown, when it is another.
    fn show_world(&mut self, before: &Arc<Model>) {
        if !Arc::ptr_eq(before, self.show.sim().model()) {
            self.revision += 1;
        }
    }

    pub(crate) fn note_warnings(&mut self) {
        let sim = self.show.live();
        // A topic that is not there costs the recording, not the run.
        let topics = swarmyard_record::check_topics(sim.model());
        let all = sim.warnings().0.iter().chain(&topics.0);
        let list: Vec<Value> = all.map(|d| crate::problems::problem_json(&sim.model().sources, d)).collect();
        self.problems.insert("document", list);
    }

    /// The file the server was started with. One that cannot be used is shown with its problems.
    pub(crate) fn open_first(&mut self, file: &Path) {
        let opened = match self.project.name_of(file) {
            Some(name) => self.open(&name),
            None => Err(Refusal::new("no-file", format!("there is no file `{}`", file.display()))),
        };
        if let Err(refusal) = opened {
            let problems =
                if refusal.problems.is_empty() { vec![refusal.json()] } else { refusal.problems.clone() };
            self.log.refused("run", &refusal);
            // The text is there to be mended, if it is there.
            if let Some(name) = self.project.name_of(file).filter(|n| n.ends_with(".toml"))
                && let Ok(text) = self.project.read(&name)
            {
                self.setting = self.setting_of(&name);
                self.document = Document::opened(name, text);
                self.revision += 1;
            }
            self.problems.insert("open", problems);
        }
    }

    fn setting_of(&self, file: &str) -> Setting {
        let path = self.project.root().join(file);
        Setting::at(path.parent().unwrap_or(self.project.root()), &self.setting.means)
    }

    fn open(&mut self, path: &str) -> Answer {
        if path.ends_with(".mcap") {
            let file = self.project.existing(path)?;
            let recording = Recording::open(&file);
            let recording = recording.map_err(|e| Refusal::new("not-a-recording", e.to_string()))?;
            return self.open_recording(Some(path), recording);
        }
        let text = self.project.read(path)?;
        let setting = self.setting_of(path);
        if let Some(stem) = path.strip_suffix(".config") {
            return self.open_config(setting, stem, &text);
        }
        let sim = setting.read(path, &text)?;
        self.adopt(setting, Document::opened(path.to_owned(), text), Show::new(sim));
        Ok(json!({ "run": self.number, "revision": self.revision }))
    }

    /// Shows a configuration of Neko as the scenario that it is: a document that was never saved.
    fn open_config(&mut self, setting: Setting, stem: &str, text: &str) -> Answer {
        let converted = neko::config::convert(&format!("{stem}.config"), text)
            .map_err(|failed| Error::Scenario(failed.sources, failed.problems))?;
        let name = format!("{stem}.toml");
        let sim = setting.read(&name, &converted.toml)?;
        self.adopt(setting, Document::unsaved(name, converted.toml), Show::new(sim));
        for note in converted.notes.0 {
            self.log.say("warning", "run", None, note.message);
        }
        Ok(json!({ "run": self.number, "revision": self.revision }))
    }

    fn open_text(&mut self, name: String, text: String) -> Answer {
        let setting = Setting::at(self.project.root(), &self.setting.means);
        let sim = setting.read(&name, &text)?;
        self.adopt(setting, Document::unsaved(name, text), Show::new(sim));
        Ok(json!({ "run": self.number, "revision": self.revision }))
    }

    /// Shows a recording: its run is executed again.
    pub(crate) fn open_recording(&mut self, path: Option<&str>, recording: Recording) -> Answer {
        let text = recording.header().sources.first().map_or_else(String::new, |s| s.text.clone());
        let damage = recording.damage().map(str::to_owned);
        let show = Show::replay(Arc::new(recording), self.setting.means.threads)?;
        let name = path.unwrap_or("recording").to_owned();
        let document = match path {
            Some(path) => Document::opened(path.to_owned(), text),
            None => Document::unsaved(name, text),
        };
        self.adopt(self.setting.fresh(), document, show);
        if let Some(damage) = damage {
            self.log.say("warning", "run", None, format!("the recording is not whole: {damage}"));
        }
        Ok(json!({ "run": self.number, "revision": self.revision }))
    }

    fn adopt(&mut self, setting: Setting, document: Document, show: Show) {
        let opened = format!("opened {}", document.name());
        (self.setting, self.document) = (setting, document);
        self.begin(show);
        self.log.say("info", "run", None, opened);
    }

    fn save(&mut self, path: Option<String>) -> Answer {
        let Some(path) = path.or_else(|| self.document.file().map(str::to_owned)) else {
            return Err(Refusal::new("no-name", "this document has no file yet").help("name a `path`"));
        };
        if !path.ends_with(".toml") {
            return Err(Refusal::new("not-writable", "a scenario is saved in a file `….toml`"));
        }
        self.project.write(&path, self.document.text())?;
        self.document.saved_as(path.clone());
        Ok(json!({ "path": path }))
    }
}

fn done(result: Result<(), Error>) -> Answer {
    result.map(|()| json!({})).map_err(Refusal::from)
}
