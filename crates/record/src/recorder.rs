//! Writes a recording while a run goes on.
//!
//! In: every committed step. Out: a file. Never: a word to the run; an error ends the recording.

use crate::bodies::Bodies;
use crate::budget::{Budget, Pace};
use crate::error::RecordError;
use crate::events::{Event, EventLog, StepEvents};
use crate::header::{End, Header, code_name};
use crate::ros::{self, RosTopics, Wanted};
use crate::sink::{Schema, Sink, message_cost};
use crate::temporary::Temporary;
use crate::wire;
use crate::world::{self, WorldRecord};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Seek, Write};
use std::ops::Range;
use std::path::Path;
use swarmyard_base::Time;
use swarmyard_engine::{Frame, Input, Journal, Model, State, step_hash};

/// What became of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Size of the file.
    pub bytes: u64,
    /// Frames in it.
    pub frames: u64,
    /// Every how many frames were kept at the end; 1 when the budget was never in the way.
    pub thinned: u64,
    /// Why the recording stopped before the run did, if it did. The file is readable up to there.
    pub stopped: Option<String>,
}

/// Writes a recording.
///
/// Frames come at the scenario's rate of simulated time, at most one per quantum. When half of the
/// disk budget is used, the interval between frames doubles, and again each time a quarter of the
/// rest is used. Contacts are written one by one as long as they take no more room than frames,
/// else counted. When the budget is all used (only a long journal can do that), the recording
/// stops. The header and the final records are written in any case.
pub struct Recorder<W: Write + Seek = File> {
    sink: Sink<W>,
    channels: Channels,
    /// Channel and bodies of each pose topic.
    groups: Vec<(u16, Range<usize>)>,
    ros: RosTopics,
    /// The world that groups and topics belong to.
    world: u64,
    /// Hashes of the texts and the code that are in the file.
    written: BTreeSet<u64>,
    pace: Pace,
    budget: Budget,
    /// What of the sink's cost the budget knows already.
    counted: u64,
    frame_cost: u64,
    event_bytes: u64,
    log: EventLog,
    buffer: Vec<u8>,
    frames: u64,
    last: Last,
    stopped: Option<String>,
}

struct Channels {
    hash: u16,
    journal: u16,
    events: u16,
    rewind: u16,
    end: u16,
}

/// The last step seen, and the last that has a frame.
#[derive(Default)]
struct Last {
    step: u64,
    hash: u64,
    framed: Option<u64>,
}

impl Recorder<File> {
    /// Starts a recording in a new file, or in place of an old one.
    ///
    /// # Errors
    /// When a named topic does not exist (nothing is touched then), or the file cannot be written.
    #[expect(clippy::disallowed_methods, reason = "a recording is a file: this is an outer crate")]
    pub fn create(path: &Path, header: &Header, model: &Model) -> Result<Recorder, RecordError> {
        let wanted = ros::resolve(model).map_err(RecordError::Topics)?;
        let file =
            File::create(path).map_err(|source| RecordError::Create { path: path.to_owned(), source })?;
        Recorder::begin(file, header, model, wanted)
    }

    /// Starts a recording that nobody asked to keep, in a file of its own below `folder`: it is gone with the second of what is
    /// answered.
    ///
    /// # Errors
    /// When a named topic does not exist, or the file cannot be written.
    pub fn temporary(
        folder: &Path,
        header: &Header,
        model: &Model,
    ) -> Result<(Recorder, Temporary), RecordError> {
        let wanted = ros::resolve(model).map_err(RecordError::Topics)?;
        let (kept, file) = Temporary::new(folder, "mcap")
            .map_err(|source| RecordError::Create { path: folder.to_owned(), source })?;
        Ok((Recorder::begin(file, header, model, wanted)?, kept))
    }
}

impl<W: Write + Seek> Recorder<W> {
    /// Starts a recording in anything that can be written to.
    ///
    /// # Errors
    /// When a named topic does not exist, or the beginning cannot be written.
    pub fn to(out: W, header: &Header, model: &Model) -> Result<Recorder<W>, RecordError> {
        let wanted = ros::resolve(model).map_err(RecordError::Topics)?;
        Recorder::begin(out, header, model, wanted)
    }

    fn begin(out: W, header: &Header, model: &Model, wanted: Wanted) -> Result<Recorder<W>, RecordError> {
        Recorder::try_begin(out, header, model, wanted).map_err(|e| RecordError::Write(e.to_string()))
    }

    fn try_begin(
        out: W,
        header: &Header,
        model: &Model,
        wanted: Wanted,
    ) -> Result<Recorder<W>, mcap::McapError> {
        let mut sink = Sink::new(out)?;
        let bodies = Bodies::of(model);
        write_header(&mut sink, header, &bodies)?;
        let packed = |name, text| Schema { name, encoding: wire::FIELDS, text };
        let channels = Channels {
            hash: sink.channel(wire::HASH, "swarmyard/hash", packed("swarmyard/Hash", wire::HASH_SCHEMA))?,
            journal: sink.channel(
                wire::JOURNAL,
                "swarmyard/journal",
                packed("swarmyard/Input", wire::JOURNAL_SCHEMA),
            )?,
            events: sink.channel(wire::EVENTS, "json", json_schema("swarmyard/Events"))?,
            rewind: sink.channel(
                wire::REWIND,
                "swarmyard/rewind",
                packed("swarmyard/Rewind", wire::REWIND_SCHEMA),
            )?,
            end: sink.channel(wire::END, "json", json_schema("swarmyard/End"))?,
        };
        let groups = groups(&mut sink, &bodies)?;
        let ros = RosTopics::new(model, wanted, &mut sink)?;
        // From here on even a run that is killed leaves a file that says what it was.
        sink.flush(Time::ZERO)?;
        let reserve = message_cost(1024);
        Ok(Recorder {
            frame_cost: frame_cost(model, groups.len(), &ros),
            budget: Budget::new(model.record.budget_bytes, sink.cost() + reserve),
            counted: sink.cost(),
            sink,
            channels,
            groups,
            ros,
            world: model.world,
            written: world::contents(header).map(|c| c.0).collect(),
            pace: Pace::new(model.record.rate_hz),
            event_bytes: 0,
            log: EventLog::default(),
            buffer: Vec::new(),
            frames: 0,
            last: Last::default(),
            stopped: None,
        })
    }

    /// Records the state before the first step (or the one a resumed run begins with).
    pub fn start(&mut self, model: &Model, state: &State) {
        self.last = Last { step: state.stops, hash: step_hash(model, state), framed: None };
        self.guard(|r| r.write_frame(model, state));
    }

    /// Keeps what entered before the first step that is recorded, of a run that goes on here: a replay starts from the
    /// beginning and needs all of it. Call it before [`Recorder::start`], in the world that the run is in now.
    pub fn earlier(&mut self, state: &State, journal: &Journal) {
        let all = journal.all();
        let entered = all.len() - journal.since(state.stops).len();
        self.guard(|r| r.write_inputs(&all[..entered], state.now));
    }

    /// Notes a committed step: its inputs and events at once, its poses when a frame is due.
    ///
    /// Call it after every step. `journal` is the one the step was made with.
    pub fn frame(&mut self, model: &Model, state: &State, frame: &Frame, journal: &Journal) {
        if self.stopped.is_some() {
            self.last = Last { step: frame.stops, hash: frame.hash, framed: self.last.framed };
            return;
        }
        if model.world != self.world {
            self.stopped = Some(format!("the world has changed before {}, which it was not told", frame.now));
            return;
        }
        self.guard(|r| r.try_frame(model, state, frame, journal));
    }

    /// Notes that the run is in another world: frames hold its bodies from now on. The header is what a
    /// recording that begins in it would have. Does nothing when the run is in it already.
    ///
    /// Call it before the first frame after the change, for each world of several changes at one stop. Rate and budget stay; topics that the new world
    /// asks for and does not have are left out.
    pub fn world(&mut self, header: &Header, model: &Model, state: &State) {
        if self.stopped.is_none() && model.world != self.world {
            self.guard(|r| r.try_world(header, model, state.now));
        }
    }

    /// The world that frames are taken in, as it was told.
    #[must_use]
    pub fn in_world(&self) -> u64 {
        self.world
    }

    /// Keeps the code of a controller that came while the run goes on.
    pub fn code(&mut self, code: u64, bytes: &[u8]) {
        if self.stopped.is_none() {
            self.guard(|r| write_code(&mut r.sink, &code_name(code), bytes));
        }
    }

    /// Keeps how the run was spread over workers, as JSON: another run can start from it.
    pub fn placement(&mut self, json: &str) {
        if self.stopped.is_none() {
            self.guard(|r| r.sink.attach(wire::PLACEMENT, "application/json", json.as_bytes()));
        }
    }

    /// Hands everything so far to the system: a copy of the file reads as a recording that was cut off now.
    pub fn flush(&mut self, now: Time) {
        if self.stopped.is_none() {
            self.guard(|r| r.sink.flush(now));
        }
    }

    /// Whether something is still being recorded; else why not.
    #[must_use]
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// Writes the last frame and the end, and closes the file. `final_hash` is what the run reports
    /// as its hash.
    ///
    /// A change of the world after the last step is no part of the recording.
    pub fn finish(mut self, model: &Model, state: &State, final_hash: u64) -> Summary {
        let changed = model.world != self.world;
        // After a budget that ran out the file can still be closed properly; after a write error not.
        if self.stopped.is_none() && !changed && self.last.framed != Some(state.stops) {
            self.last =
                Last { step: state.stops, hash: self.hash_of(model, state), framed: self.last.framed };
            self.guard(|r| r.write_frame(model, state));
        }
        let end = End {
            step: state.stops,
            time: state.now,
            hash: if changed { self.last.hash } else { final_hash },
            frames: self.frames,
            contacts: state.accounts.contacts,
            halts: state.accounts.halts,
            impact_limits: state.accounts.impact_limits,
            inputs: state.accounts.inputs,
            thinned: self.pace.every(),
            stopped: self.stopped.clone(),
        };
        let closed = self.close(&end, state.now);
        if let Err(e) = closed {
            self.stopped.get_or_insert_with(|| match e {
                mcap::McapError::Io(e) => e.to_string(),
                other => other.to_string(),
            });
        }
        Summary {
            bytes: self.sink.on_disk(),
            frames: self.frames,
            thinned: self.pace.every(),
            stopped: self.stopped,
        }
    }

    fn hash_of(&self, model: &Model, state: &State) -> u64 {
        if self.last.step == state.stops { self.last.hash } else { step_hash(model, state) }
    }

    fn close(&mut self, end: &End, now: Time) -> Result<(), mcap::McapError> {
        if let Some(event) = self.log.next_interval() {
            self.write_events(end.step, now, vec![event])?;
        }
        self.json(self.channels.end, now, end)?;
        self.sink.finish(now)
    }

    /// Runs something that writes; the first error ends the recording.
    fn guard(&mut self, write: impl FnOnce(&mut Self) -> Result<(), mcap::McapError>) {
        if let Err(e) = write(self) {
            self.stopped.get_or_insert_with(|| match e {
                mcap::McapError::Io(e) => e.to_string(),
                other => other.to_string(),
            });
        }
    }

    fn try_frame(
        &mut self,
        model: &Model,
        state: &State,
        frame: &Frame,
        journal: &Journal,
    ) -> Result<(), mcap::McapError> {
        let before = frame.stops.saturating_sub(1);
        if before < self.last.step {
            self.rewind(before, state)?;
        }
        self.last = Last { step: frame.stops, hash: frame.hash, framed: self.last.framed };
        self.write_inputs(journal.at(before), frame.now)?;
        if self.stopped.is_some() {
            return Ok(());
        }
        let mut events = self.log.take(model, &frame.events, self.room_for_contacts());
        let due = self.pace.due(frame.now) && self.has_room(self.frame_cost);
        if due {
            events.extend(self.log.next_interval());
        }
        if !events.is_empty() {
            self.write_events(frame.stops, frame.now, events)?;
        }
        if due { self.write_frame(model, state) } else { Ok(()) }
    }

    fn write_inputs(&mut self, inputs: &[Input], now: Time) -> Result<(), mcap::McapError> {
        for input in inputs {
            if wire::pack_input(&mut self.buffer, input).is_err()
                || !self.has_room(message_cost(self.buffer.len()))
            {
                let limit = self.budget.limit();
                self.stopped = Some(format!("the disk budget of {limit} bytes is used up at {now}"));
                return Ok(());
            }
            self.sink.message(self.channels.journal, now, &self.buffer)?;
            self.account();
        }
        Ok(())
    }

    fn try_world(&mut self, header: &Header, model: &Model, now: Time) -> Result<(), mcap::McapError> {
        let new: BTreeMap<u64, (&str, &[u8])> = world::contents(header)
            .filter(|c| !self.written.contains(&c.0))
            .map(|(hash, name, bytes)| (hash, (name, bytes)))
            .collect();
        let bodies = Bodies::of(model);
        let json = |value: serde_json::Result<Vec<u8>>| value.map_err(std::io::Error::from);
        let record = json(serde_json::to_vec(&WorldRecord::new(model.world, header)))?;
        let list = json(serde_json::to_vec(&bodies))?;
        let bytes = new.values().map(|(name, bytes)| 512 + 2 * name.len() + bytes.len()).sum::<usize>();
        if !self.has_room((bytes + record.len() + list.len()) as u64 + 4 * message_cost(256)) {
            let limit = self.budget.limit();
            self.stopped =
                Some(format!("the disk budget of {limit} bytes has no room for a new world at {now}"));
            return Ok(());
        }
        // Attachments stand between chunks.
        self.sink.flush(now)?;
        for (hash, (name, bytes)) in new {
            self.sink.attach(&world::attachment(hash, name), "application/octet-stream", bytes)?;
            self.written.insert(hash);
        }
        let channel = self.sink.channel(wire::WORLD, "json", json_schema("swarmyard/World"))?;
        self.sink.message(channel, now, &record)?;
        let channel = self.sink.channel(wire::BODIES, "json", json_schema("swarmyard/Bodies"))?;
        self.sink.message(channel, now, &list)?;
        self.groups = groups(&mut self.sink, &bodies)?;
        self.ros = RosTopics::new(model, ros::resolve_known(model), &mut self.sink)?;
        self.frame_cost = frame_cost(model, self.groups.len(), &self.ros);
        self.world = model.world;
        self.account();
        Ok(())
    }

    /// Says that what lies after a step no longer counts.
    fn rewind(&mut self, step: u64, state: &State) -> Result<(), mcap::McapError> {
        let time = state.quantum.tick(state.quantum_index.saturating_sub(1));
        self.pace.rewind(time);
        self.last.framed = self.last.framed.filter(|framed| *framed <= step);
        self.sink.message(self.channels.rewind, time, &wire::pack_rewind(step, time))
    }

    fn write_frame(&mut self, model: &Model, state: &State) -> Result<(), mcap::McapError> {
        let (step, hash, now) = (self.last.step, self.last.hash, state.now);
        for (channel, bodies) in &self.groups {
            wire::pack_poses(&mut self.buffer, step, hash, &state.pose[bodies.clone()]);
            self.sink.message(*channel, now, &self.buffer)?;
        }
        self.ros.write(model, state, now, &mut self.sink)?;
        // Last, so that a reader knows that the frame is whole.
        self.sink.message(self.channels.hash, now, &wire::pack_hash(step, hash, now))?;
        self.sink.settle(now)?;
        self.pace.kept(now);
        self.last.framed = Some(step);
        self.frames += 1;
        self.account();
        Ok(())
    }

    fn write_events(&mut self, step: u64, time: Time, events: Vec<Event>) -> Result<(), mcap::McapError> {
        let all = StepEvents { step, time, events };
        // Events are the first to go: a replay makes them again.
        if self.has_room(message_cost(256 * all.events.len()) + self.frame_cost) {
            self.json(self.channels.events, time, &all)?;
            self.event_bytes += message_cost(self.buffer.len());
            self.account();
        }
        Ok(())
    }

    fn json(
        &mut self,
        channel: u16,
        time: Time,
        value: &impl serde::Serialize,
    ) -> Result<(), mcap::McapError> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, value).map_err(std::io::Error::from)?;
        self.sink.message(channel, time, &self.buffer)
    }

    /// Contacts may take as much as the frames, and a share that lets a small world have them all.
    fn room_for_contacts(&self) -> bool {
        self.event_bytes <= self.frames * self.frame_cost + self.budget.limit() / 16
    }

    fn has_room(&self, bytes: u64) -> bool {
        self.budget.has_room(bytes)
    }

    /// Tells the budget what was written, and keeps fewer frames when it says so.
    fn account(&mut self) {
        let cost = self.sink.cost();
        if self.budget.spend(cost - self.counted) {
            self.pace.thin();
        }
        self.counted = cost;
    }
}

/// A channel for each pose topic, and the bodies it holds.
fn groups<W: Write + Seek>(
    sink: &mut Sink<W>,
    bodies: &Bodies,
) -> Result<Vec<(u16, Range<usize>)>, mcap::McapError> {
    let (mut groups, mut first) = (Vec::new(), 0);
    for (topic, rows) in bodies.groups() {
        let schema = Schema { name: "swarmyard/Poses", encoding: wire::FIELDS, text: wire::POSES_SCHEMA };
        groups.push((sink.channel(&topic, "swarmyard/poses", schema)?, first..first + rows));
        first += rows;
    }
    Ok(groups)
}

/// About how many bytes one frame takes.
fn frame_cost(model: &Model, groups: usize, ros: &RosTopics) -> u64 {
    let poses = wire::POSES_ROW * model.len() + groups * wire::POSES_HEAD;
    poses as u64 + groups as u64 * message_cost(0) + message_cost(24) + ros.cost(model)
}

/// Texts first, then what they meant: a file that is cut off keeps them.
fn write_header<W: Write + Seek>(
    sink: &mut Sink<W>,
    header: &Header,
    bodies: &Bodies,
) -> Result<(), mcap::McapError> {
    for source in &header.sources {
        let name = format!("{}{}", wire::SCENARIO_PREFIX, source.name);
        sink.attach(&name, "text/plain", source.text.as_bytes())?;
    }
    for code in &header.code {
        write_code(sink, &code.name, &code.bytes)?;
    }
    let pairs = [
        ("scenario", header.scenario.clone()),
        ("title", header.title.clone()),
        ("seed", header.seed.to_string()),
        ("build", header.build.clone()),
        ("numerics", header.numerics.to_string()),
        ("quantum_s", format!("{}/{}", header.quantum.num(), header.quantum.den())),
    ];
    let mut map: BTreeMap<String, String> = pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    map.extend(header.overrides.iter().map(|(k, v)| (format!("override {k}"), v.clone())));
    sink.metadata("swarmyard", map)?;
    let json = |value: serde_json::Result<Vec<u8>>| value.map_err(std::io::Error::from);
    let channel = sink.channel(wire::HEADER, "json", json_schema("swarmyard/Header"))?;
    sink.message(channel, Time::ZERO, &json(serde_json::to_vec(header))?)?;
    let channel = sink.channel(wire::BODIES, "json", json_schema("swarmyard/Bodies"))?;
    sink.message(channel, Time::ZERO, &json(serde_json::to_vec(bodies))?)
}

fn write_code<W: Write + Seek>(sink: &mut Sink<W>, name: &str, bytes: &[u8]) -> Result<(), mcap::McapError> {
    sink.attach(&format!("{}{name}", wire::CODE_PREFIX), "application/octet-stream", bytes)
}

/// JSON describes itself; tools want a schema all the same.
fn json_schema(name: &str) -> Schema<'_> {
    Schema { name, encoding: "jsonschema", text: r#"{"type": "object"}"# }
}
