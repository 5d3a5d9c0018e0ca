//! The MCAP writer with an account of its bytes.

use mcap::records::MessageHeader;
use mcap::{Attachment, WriteOptions, Writer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use swarmyard_base::Time;

/// A chunk is closed, and flushed to disk, when it has grown to this.
const CHUNK_BYTES: u64 = 1 << 20;
/// Smaller chunks are closed after this much simulated time, so that little is lost in a crash.
const CHUNK_NS: i64 = 5_000_000_000;
/// But not before they have this size.
const CHUNK_LEAST: u64 = 16 << 10;
/// Whatever its size, a chunk is closed when it was open for this long on the clock: a run that is
/// killed loses no more.
const CHUNK_OPEN: Duration = Duration::from_secs(1);

/// Bytes of a message record besides its data, with its share of the message index.
const MESSAGE_COST: u64 = 9 + 22 + 16;

/// Writes records; counts what they cost, with everything the summary will repeat.
pub(crate) struct Sink<W: Write + Seek> {
    writer: Writer<BufWriter<Counted<W>>>,
    on_disk: Arc<AtomicU64>,
    /// Upper bound of the size of the file if it were finished now.
    cost: u64,
    /// Channels by topic and name of the schema.
    channels: BTreeMap<(String, String), u16>,
    chunk: u64,
    chunk_since: Time,
    open_since: Instant,
}

/// The clock on the wall. It decides when bytes go to disk, never which.
#[expect(clippy::disallowed_methods, reason = "how much a crash may cost is a matter of wall time")]
fn clock() -> Instant {
    Instant::now()
}

impl<W: Write + Seek> Sink<W> {
    pub(crate) fn new(out: W) -> Result<Sink<W>, mcap::McapError> {
        let on_disk = Arc::new(AtomicU64::new(0));
        let counted = Counted { out, count: Arc::clone(&on_disk) };
        // Without seeking a chunk is put together in memory and written with its final length, so a
        // torn chunk can still be read up to the tear.
        let options = WriteOptions::new()
            .compression(None)
            .disable_seeking(true)
            .chunk_size(None)
            .profile("")
            .library(concat!("swarmyard ", env!("CARGO_PKG_VERSION")));
        let writer = options.create(BufWriter::with_capacity(1 << 16, counted))?;
        Ok(Sink {
            writer,
            on_disk,
            cost: 1024,
            channels: BTreeMap::new(),
            chunk: 0,
            chunk_since: Time::ZERO,
            open_since: clock(),
        })
    }

    /// A channel with a schema of its own; added unless it is there.
    pub(crate) fn channel(
        &mut self,
        topic: &str,
        encoding: &str,
        schema: Schema<'_>,
    ) -> Result<u16, mcap::McapError> {
        let key = (topic.to_owned(), schema.name.to_owned());
        if let Some(&known) = self.channels.get(&key) {
            return Ok(known);
        }
        let id = self.writer.add_schema(schema.name, schema.encoding, schema.text.as_bytes())?;
        // Both are repeated in the summary.
        self.cost += 2 * (64 + schema.name.len() + schema.encoding.len() + schema.text.len()) as u64;
        self.cost += 2 * (64 + topic.len() + encoding.len()) as u64;
        let id = self.writer.add_channel(id, topic, encoding, &BTreeMap::new())?;
        self.channels.insert(key, id);
        Ok(id)
    }

    pub(crate) fn attach(
        &mut self,
        name: &str,
        media_type: &str,
        data: &[u8],
    ) -> Result<(), mcap::McapError> {
        self.cost += (data.len() + 2 * (128 + name.len() + media_type.len())) as u64;
        self.writer.attach(&Attachment {
            log_time: 0,
            create_time: 0,
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            data: Cow::Borrowed(data),
        })
    }

    pub(crate) fn metadata(
        &mut self,
        name: &str,
        metadata: BTreeMap<String, String>,
    ) -> Result<(), mcap::McapError> {
        self.cost += metadata.iter().map(|(k, v)| 8 + k.len() + v.len()).sum::<usize>() as u64 + 128;
        self.writer.write_metadata(&mcap::records::Metadata { name: name.to_owned(), metadata })
    }

    pub(crate) fn message(&mut self, channel: u16, time: Time, data: &[u8]) -> Result<(), mcap::McapError> {
        let time = time.0.max(0).cast_unsigned();
        let header = MessageHeader { channel_id: channel, sequence: 0, log_time: time, publish_time: time };
        let bytes = message_cost(data.len());
        self.cost += bytes;
        self.chunk += bytes;
        self.writer.write_to_known_channel(&header, data)
    }

    /// Closes the chunk when it is large or old enough.
    pub(crate) fn settle(&mut self, now: Time) -> Result<(), mcap::McapError> {
        let old = now.0.saturating_sub(self.chunk_since.0) >= CHUNK_NS && self.chunk >= CHUNK_LEAST;
        let overdue = clock().duration_since(self.open_since) >= CHUNK_OPEN;
        if self.chunk >= CHUNK_BYTES || old || overdue {
            self.flush(now)?;
        }
        Ok(())
    }

    /// Closes the chunk and hands it to the system.
    pub(crate) fn flush(&mut self, now: Time) -> Result<(), mcap::McapError> {
        // Chunk header, one message index per channel, and the chunk's entry in the summary.
        self.cost += 256 + 32 * self.channels.len() as u64;
        self.chunk = 0;
        self.chunk_since = now;
        self.open_since = clock();
        self.writer.flush()
    }

    /// Writes the summary. Nothing can be written afterwards.
    pub(crate) fn finish(&mut self, now: Time) -> Result<(), mcap::McapError> {
        self.flush(now)?;
        self.writer.finish()?;
        Ok(())
    }

    /// Upper bound of the size of the file if it were finished now.
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    /// Bytes that reached the file.
    pub(crate) fn on_disk(&self) -> u64 {
        self.on_disk.load(Ordering::Relaxed)
    }
}

/// What a message of so many bytes costs.
pub(crate) fn message_cost(data: usize) -> u64 {
    MESSAGE_COST + data as u64
}

/// Name, encoding and text of a schema.
#[derive(Clone, Copy)]
pub(crate) struct Schema<'a> {
    pub(crate) name: &'a str,
    pub(crate) encoding: &'a str,
    pub(crate) text: &'a str,
}

/// Counts the bytes that pass.
struct Counted<W> {
    out: W,
    count: Arc<AtomicU64>,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl<W: Seek> Seek for Counted<W> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.out.seek(to)
    }
}
