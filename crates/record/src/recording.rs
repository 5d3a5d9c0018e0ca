//! Reads a recording back: whole, cut off, or damaged.
//!
//! Opening walks through the file once and keeps where things are; frames and events are read when
//! they are asked for. Memory grows with the number of frames, not with the number of robots.

use crate::bodies::Bodies;
use crate::error::RecordError;
use crate::events::StepEvents;
use crate::header::{CodeBytes, End, FORMAT, Header, SourceText};
use crate::scan::{Place, Record, Scan, Stop};
use crate::wire;
use crate::world::{self, Named, WorldRecord};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use swarmyard_base::Time;
use swarmyard_base::hash::bytes_hash;
use swarmyard_engine::{Input, Journal};

/// Most bytes of one text or JSON record.
const MAX_TEXT: u64 = 64 << 20;
/// Most bytes of all scenario texts together.
const MAX_TEXTS: u64 = 128 << 20;
/// Most bytes of one journal entry.
const MAX_INPUT: u64 = 1 << 20;

/// A recording that was opened.
pub struct Recording {
    source: Mutex<Source>,
    header: Header,
    eras: Vec<Era>,
    marks: Vec<FrameMark>,
    /// Where the pose messages of each frame begin in `places`.
    firsts: Vec<usize>,
    /// Where the pose messages of the frames are.
    places: Vec<Place>,
    worlds: Vec<WorldRecord>,
    /// Where texts and code are, by hash.
    contents: BTreeMap<u64, Place>,
    journal: Journal,
    events: Vec<(Time, Place)>,
    end: Option<End>,
    placement: Option<String>,
    damage: Option<String>,
}

/// Frames that hold the same bodies: from one on, to the next era.
struct Era {
    first: usize,
    bodies: Bodies,
}

/// One recorded frame, without its poses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameMark {
    /// Steps committed.
    pub step: u64,
    /// Simulated time.
    pub time: Time,
    /// Hash of the committed step.
    pub hash: u64,
}

/// One recorded frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Steps committed.
    pub step: u64,
    /// Simulated time.
    pub time: Time,
    /// Hash of the committed step.
    pub hash: u64,
    /// x, y and heading of every body, type after type; [`Bodies::ranges`] says where each begins.
    pub poses: Vec<[f32; 3]>,
}

enum Source {
    File(File),
    Bytes(Cursor<Vec<u8>>),
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Source::File(f) => f.read(out),
            Source::Bytes(b) => b.read(out),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match self {
            Source::File(f) => f.seek(to),
            Source::Bytes(b) => b.seek(to),
        }
    }
}

impl Recording {
    /// Opens a recording.
    ///
    /// # Errors
    /// When there is no such file, or it does not hold at least a header and the bodies. A file that
    /// is cut off or damaged after that is opened up to there; see [`Recording::damage`].
    #[expect(clippy::disallowed_methods, reason = "a recording is a file: this is an outer crate")]
    pub fn open(path: &Path) -> Result<Recording, RecordError> {
        let file = File::open(path).map_err(|source| RecordError::Open { path: path.to_owned(), source })?;
        Recording::of(Source::File(file))
    }

    /// Opens a recording that is in memory.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Recording, RecordError> {
        Recording::of(Source::Bytes(Cursor::new(bytes)))
    }

    fn of(mut source: Source) -> Result<Recording, RecordError> {
        let index = Index::read(&mut source)?;
        let (Some(mut header), false) = (index.header, index.eras.is_empty()) else {
            let why = index.damage.unwrap_or_else(|| "it has no header".to_owned());
            return Err(RecordError::NotARecording(why));
        };
        header.sources = index.texts;
        header.code = index.code;
        let mut journal = Journal::default();
        for input in index.inputs {
            journal.push(input.stop, input.kind);
        }
        Ok(Recording {
            source: Mutex::new(source),
            header,
            eras: index.eras,
            marks: index.marks,
            placement: index.placement,
            firsts: index.firsts,
            places: index.places,
            worlds: index.worlds,
            contents: index.contents,
            journal,
            events: index.events,
            end: index.end,
            damage: index.damage,
        })
    }

    /// Where the recording came from.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Who is in it at its beginning, and what they look like.
    #[must_use]
    pub fn bodies(&self) -> &Bodies {
        &self.eras[0].bodies
    }

    /// Whose poses frame `k` holds: another list where the world changed before it.
    #[must_use]
    pub fn bodies_of(&self, k: usize) -> &Bodies {
        &self.eras[self.era_of(k)].bodies
    }

    /// Who was there at a step, as the last frame up to it has it.
    #[must_use]
    pub fn bodies_at(&self, step: u64) -> &Bodies {
        self.bodies_of(self.marks.partition_point(|m| m.step <= step).saturating_sub(1))
    }

    /// Numbers frames by the list of bodies they hold: frames of one era hold the same ones.
    pub(crate) fn era_of(&self, k: usize) -> usize {
        self.eras.partition_point(|era| era.first <= k).saturating_sub(1)
    }

    /// Hashes of the worlds that came while running, each once.
    pub fn worlds(&self) -> impl Iterator<Item = u64> {
        self.worlds.iter().map(|w| w.world)
    }

    /// How the run was spread over workers, as JSON; `None` when it was not.
    #[must_use]
    pub fn placement(&self) -> Option<&str> {
        self.placement.as_deref()
    }

    /// What a recording that begins in that world would have as its header, with texts and code.
    ///
    /// # Errors
    /// When the file does not hold it, or cannot be read any more.
    pub fn world(&self, world: u64) -> Result<Header, RecordError> {
        let missing =
            |what: &str| RecordError::Damaged(format!("it does not hold {what} of world {world:016x}"));
        let record = self.worlds.iter().find(|w| w.world == world).ok_or_else(|| missing("anything"))?;
        let read = |named: &Named| {
            let place = self.contents.get(&named.bytes).ok_or_else(|| missing(&named.name))?;
            let bytes = self.read(*place)?;
            if bytes_hash(&bytes) == named.bytes { Ok(bytes) } else { Err(missing(&named.name)) }
        };
        let mut header = record.header.clone();
        for named in &record.texts {
            let text = String::from_utf8(read(named)?).map_err(|_| missing(&named.name))?;
            header.sources.push(SourceText { name: named.name.clone(), text });
        }
        for named in &record.code {
            header.code.push(CodeBytes { name: named.name.clone(), bytes: read(named)? });
        }
        Ok(header)
    }

    /// Every input of the run, for a replay.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Step, time and hash of every frame.
    #[must_use]
    pub fn hashes(&self) -> &[FrameMark] {
        &self.marks
    }

    /// How the run ended; `None` when the file was cut off.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Why the file cannot be read to its end, if so.
    #[must_use]
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether there is no frame.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// All frames, read one by one.
    pub fn frames(&self) -> impl Iterator<Item = Result<Frame, RecordError>> {
        (0..self.len()).map(|k| self.frame(k))
    }

    /// Frame `k`.
    ///
    /// # Errors
    /// When the file cannot be read any more.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn frame(&self, k: usize) -> Result<Frame, RecordError> {
        let mark = self.marks[k];
        let mut poses = Vec::new();
        let end = self.firsts.get(k + 1).map_or(self.places.len(), |first| *first);
        for place in &self.places[self.firsts[k]..end] {
            poses.extend(wire::pose_rows(&self.read(*place)?));
        }
        Ok(Frame { step: mark.step, time: mark.time, hash: mark.hash, poses })
    }

    /// What happened, step by step, read one by one.
    pub fn events(&self) -> impl Iterator<Item = Result<StepEvents, RecordError>> {
        self.events.iter().map(|(time, place)| {
            let bytes = self.read(*place)?;
            serde_json::from_slice(&bytes)
                .map_err(|e| RecordError::Damaged(format!("the events at {time}: {e}")))
        })
    }

    /// Reads a place that was found within the file when it was opened.
    fn read(&self, place: Place) -> Result<Vec<u8>, RecordError> {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        source.seek(SeekFrom::Start(place.at))?;
        let mut bytes = vec![0; place.len as usize];
        source.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// What the walk through the file gathers.
#[derive(Default)]
struct Index {
    header: Option<Header>,
    eras: Vec<Era>,
    worlds: Vec<WorldRecord>,
    /// A change of the world was told, and its list of bodies not yet.
    changes: bool,
    contents: BTreeMap<u64, Place>,
    texts: Vec<SourceText>,
    texts_len: u64,
    code: Vec<CodeBytes>,
    topics: BTreeMap<u16, String>,
    /// Number of each pose topic.
    group_of: BTreeMap<String, usize>,
    /// Rows of each pose topic.
    groups: Vec<usize>,
    marks: Vec<FrameMark>,
    firsts: Vec<usize>,
    places: Vec<Place>,
    /// Pose messages since the last whole frame: step, hash, place, by group.
    open: Vec<Option<(u64, u64, Place)>>,
    inputs: Vec<Input>,
    events: Vec<(Time, Place)>,
    end: Option<End>,
    placement: Option<String>,
    damage: Option<String>,
}

impl Index {
    fn read(source: &mut Source) -> Result<Index, RecordError> {
        let Some(mut scan) = Scan::new(source)? else {
            return Err(RecordError::NotARecording("it is not an MCAP file".to_owned()));
        };
        let mut index = Index::default();
        loop {
            let taken = match scan.next()? {
                Err(Stop::End) => break,
                Err(Stop::Cut(why)) => Err(RecordError::Damaged(why)),
                Ok(record) => index.take(&mut scan, record),
            };
            match taken {
                Ok(()) => {}
                // Up to here it can be used; whoever opens it is told.
                Err(RecordError::Damaged(why)) => {
                    index.damage = Some(why);
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        Ok(index)
    }

    fn take<R: Read + Seek>(&mut self, scan: &mut Scan<R>, record: Record) -> Result<(), RecordError> {
        match record {
            Record::Channel { id, topic } => {
                self.topics.insert(id, topic);
                Ok(())
            }
            Record::Attachment { name, data } => self.attachment(scan, &name, data),
            Record::Message { channel, time, data } => self.message(scan, channel, time, data),
        }
    }

    fn attachment<R: Read + Seek>(
        &mut self,
        scan: &mut Scan<R>,
        name: &str,
        data: Place,
    ) -> Result<(), RecordError> {
        if let Some(hash) = world::attached(name) {
            // They are read when they are asked for.
            if data.len > MAX_TEXT {
                return Err(bad("a text of a world"));
            }
            self.contents.insert(hash, data);
            return Ok(());
        }
        self.texts_len = self.texts_len.saturating_add(data.len);
        if let Some(name) = name.strip_prefix(wire::CODE_PREFIX) {
            let bytes = scan.read(data, MAX_TEXT)?.filter(|_| self.texts_len <= MAX_TEXTS);
            let bytes = bytes.ok_or_else(|| bad("the code of a controller"))?;
            self.contents.insert(bytes_hash(&bytes), data);
            self.code.push(CodeBytes { name: name.to_owned(), bytes });
            return Ok(());
        }
        if name == wire::PLACEMENT {
            let bytes = scan.read(data, MAX_TEXT)?;
            self.placement = bytes.and_then(|b| String::from_utf8(b).ok());
            return Ok(());
        }
        let Some(name) = name.strip_prefix(wire::SCENARIO_PREFIX) else { return Ok(()) };
        let bytes = scan.read(data, MAX_TEXT)?.filter(|_| self.texts_len <= MAX_TEXTS);
        let text = bytes.and_then(|b| String::from_utf8(b).ok()).ok_or_else(|| bad("a scenario text"))?;
        self.contents.insert(bytes_hash(text.as_bytes()), data);
        self.texts.push(SourceText { name: name.to_owned(), text });
        Ok(())
    }

    fn message<R: Read + Seek>(
        &mut self,
        scan: &mut Scan<R>,
        channel: u16,
        time: u64,
        data: Place,
    ) -> Result<(), RecordError> {
        let Some(topic) = self.topics.get(&channel) else {
            return Err(bad("a message on a channel that was never opened"));
        };
        match topic.as_str() {
            wire::HEADER => self.header = Some(read_header(scan, data)?),
            wire::BODIES => {
                let bodies: Bodies = read_json(scan, data, "the list of bodies")?;
                bodies.check().map_err(RecordError::Damaged)?;
                self.bodies(bodies)?;
            }
            wire::WORLD => {
                let record: WorldRecord = read_json(scan, data, "a change of the world")?;
                self.changes = true;
                if self.worlds.iter().all(|w| w.world != record.world) {
                    self.worlds.push(record);
                }
            }
            wire::HASH => self.hash(&read_small(scan, data, 24)?)?,
            wire::JOURNAL => self.input(&read_small(scan, data, MAX_INPUT)?)?,
            wire::REWIND => self.rewind(&read_small(scan, data, 16)?)?,
            wire::EVENTS if data.len <= MAX_TEXT => self.events.push((Time(time.cast_signed()), data)),
            wire::END => self.end = Some(read_json(scan, data, "the end record")?),
            _ => {
                if let Some(&group) = self.group_of.get(topic) {
                    self.poses(scan, group, data)?;
                }
            }
        }
        Ok(())
    }

    /// From here on frames hold these bodies.
    fn bodies(&mut self, bodies: Bodies) -> Result<(), RecordError> {
        // Without a word of change a second list would make the frames so far mean something else.
        if !self.eras.is_empty() && !std::mem::take(&mut self.changes) {
            return Err(bad("a second list of bodies"));
        }
        let groups = bodies.groups();
        self.groups = groups.iter().map(|g| g.1).collect();
        self.group_of = groups.into_iter().enumerate().map(|(k, g)| (g.0, k)).collect();
        self.open = vec![None; self.groups.len()];
        let first = self.marks.len();
        self.eras.retain(|era| era.first < first);
        self.eras.push(Era { first, bodies });
        Ok(())
    }

    /// Keeps the place of a pose message, once its length is what it must be.
    fn poses<R: Read + Seek>(
        &mut self,
        scan: &mut Scan<R>,
        group: usize,
        data: Place,
    ) -> Result<(), RecordError> {
        let rows = self.groups[group];
        let head = scan.read(
            Place { at: data.at, len: data.len.min(wire::POSES_HEAD as u64) },
            wire::POSES_HEAD as u64,
        )?;
        let Some((step, hash, count)) = head.as_deref().and_then(wire::poses_head) else {
            return Err(bad("a pose message"));
        };
        if count as usize != rows || data.len != (wire::POSES_HEAD + wire::POSES_ROW * rows) as u64 {
            return Err(bad("the length of a pose message"));
        }
        self.open[group] = Some((step, hash, data));
        Ok(())
    }

    /// A hash message closes a frame.
    fn hash(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        let (step, hash, time) = wire::unpack_hash(bytes).ok_or_else(|| bad("a hash"))?;
        if self.eras.is_empty() {
            return Err(bad("a frame before the list of bodies"));
        }
        if self.marks.last().is_some_and(|last| last.step >= step || last.time > time) {
            return Err(bad("the order of frames"));
        }
        let before = self.places.len();
        for open in &mut self.open {
            match open.take() {
                Some((s, h, place)) if (s, h) == (step, hash) => self.places.push(place),
                _ => {
                    self.places.truncate(before);
                    return Err(bad("a frame that is not whole"));
                }
            }
        }
        self.firsts.push(before);
        self.marks.push(FrameMark { step, time, hash });
        Ok(())
    }

    fn input(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        let input = wire::unpack_input(bytes).ok_or_else(|| bad("a journal entry"))?;
        if self.inputs.last().is_some_and(|last| last.stop > input.stop) {
            return Err(bad("the order of the journal"));
        }
        self.inputs.push(input);
        Ok(())
    }

    fn rewind(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        let (step, time) = wire::unpack_rewind(bytes).ok_or_else(|| bad("a rewind"))?;
        self.marks.truncate(self.marks.partition_point(|m| m.step <= step));
        let left = self.marks.len();
        self.places.truncate(self.firsts.get(left).map_or(self.places.len(), |first| *first));
        self.firsts.truncate(left);
        // The bodies in force stay: a run that is back in another world says so by itself.
        if let Some(mut now) = self.eras.pop() {
            now.first = now.first.min(left);
            self.eras.retain(|era| era.first < now.first);
            self.eras.push(now);
        }
        self.inputs.truncate(self.inputs.partition_point(|i| i.stop < step));
        self.events.retain(|(at, _)| *at <= time);
        Ok(())
    }
}

fn bad(what: &str) -> RecordError {
    RecordError::Damaged(format!("{what} makes no sense"))
}

fn read_small<R: Read + Seek>(scan: &mut Scan<R>, data: Place, most: u64) -> Result<Vec<u8>, RecordError> {
    scan.read(data, most)?.ok_or_else(|| bad("the length of a message"))
}

fn read_json<T: DeserializeOwned, R: Read + Seek>(
    scan: &mut Scan<R>,
    data: Place,
    what: &str,
) -> Result<T, RecordError> {
    let bytes = read_small(scan, data, MAX_TEXT)?;
    serde_json::from_slice(&bytes).map_err(|e| RecordError::Damaged(format!("{what}: {e}")))
}

fn read_header<R: Read + Seek>(scan: &mut Scan<R>, data: Place) -> Result<Header, RecordError> {
    /// The one field that every format has.
    #[derive(serde::Deserialize)]
    struct Version {
        format: u32,
    }
    let version: Version = read_json(scan, data, "the header")?;
    if version.format > FORMAT {
        return Err(RecordError::NewerFormat { found: version.format, known: FORMAT });
    }
    read_json(scan, data, "the header")
}

/// Opens and reads anything; for fuzzing. Never panics.
pub fn fuzz_open(bytes: &[u8]) {
    let Ok(recording) = Recording::from_bytes(bytes.to_vec()) else { return };
    for frame in recording.frames().take(1000) {
        let _ = frame.map(|f| f.poses.len());
    }
    let _ = recording.events().take(1000).filter_map(Result::ok).count();
    let _ = crate::diff(&recording, &recording);
    let _ = crate::to_csv(&recording, &mut std::io::sink());
    let _ = crate::to_svg(&recording, &mut std::io::sink());
}
