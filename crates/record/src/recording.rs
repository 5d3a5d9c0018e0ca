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
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use swarmyard_base::{Ratio, Time};
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
    bodies: Bodies,
    marks: Vec<FrameMark>,
    /// Where the pose messages of the frames are: as many per frame as there are pose topics.
    places: Vec<Place>,
    groups: usize,
    journal: Journal,
    events: Vec<(Time, Place)>,
    end: Option<End>,
    damage: Option<String>,
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
        let groups = index.groups.len();
        let (Some(mut header), Some(bodies)) = (index.header, index.bodies) else {
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
            bodies,
            marks: index.marks,
            places: index.places,
            groups,
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

    /// Who is in it and what they look like.
    #[must_use]
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
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
        let mut poses = Vec::with_capacity(self.bodies.len());
        for place in &self.places[k * self.groups..(k + 1) * self.groups] {
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
    bodies: Option<Bodies>,
    texts: Vec<SourceText>,
    texts_len: u64,
    code: Vec<CodeBytes>,
    topics: BTreeMap<u16, String>,
    /// Number of each pose topic.
    group_of: BTreeMap<String, usize>,
    /// Rows of each pose topic.
    groups: Vec<usize>,
    marks: Vec<FrameMark>,
    places: Vec<Place>,
    /// Pose messages since the last whole frame: step, hash, place, by group.
    open: Vec<Option<(u64, u64, Place)>>,
    inputs: Vec<Input>,
    events: Vec<(Time, Place)>,
    end: Option<End>,
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
        self.texts_len = self.texts_len.saturating_add(data.len);
        if let Some(name) = name.strip_prefix(wire::CODE_PREFIX) {
            let bytes = scan.read(data, MAX_TEXT)?.filter(|_| self.texts_len <= MAX_TEXTS);
            let bytes = bytes.ok_or_else(|| bad("the code of a controller"))?;
            self.code.push(CodeBytes { name: name.to_owned(), bytes });
            return Ok(());
        }
        let Some(name) = name.strip_prefix(wire::SCENARIO_PREFIX) else { return Ok(()) };
        let bytes = scan.read(data, MAX_TEXT)?.filter(|_| self.texts_len <= MAX_TEXTS);
        let text = bytes.and_then(|b| String::from_utf8(b).ok()).ok_or_else(|| bad("a scenario text"))?;
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
                let groups = bodies.groups();
                self.groups = groups.iter().map(|g| g.1).collect();
                self.group_of = groups.into_iter().enumerate().map(|(k, g)| (g.0, k)).collect();
                self.open = vec![None; self.groups.len()];
                // A second list would make the frames so far mean something else.
                if self.bodies.replace(bodies).is_some() {
                    return Err(bad("a second list of bodies"));
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
        if self.bodies.is_none() {
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
        self.places.truncate(self.marks.len() * self.groups.len());
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
    let header: Header = read_json(scan, data, "the header")?;
    if Ratio::new(header.quantum.num(), header.quantum.den()) != Some(header.quantum) {
        return Err(bad("the quantum"));
    }
    Ok(header)
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
