//! Recordings: what a run was, on disk, in MCAP.
//!
//! In: the compiled [`Model`](swarmyard_engine::Model) and every committed step ([`Recorder`]).
//! Out: a file that Foxglove and the Python `mcap` package open without help, and that
//! [`Recording`] reads back for replay, [`diff`] and export ([`to_csv`], [`to_svg`]).
//!
//! | topic | encoding | what |
//! |---|---|---|
//! | `/swarmyard/header` | json | scenario name, overrides, seed, build, quantum; first in the file |
//! | `/swarmyard/bodies` | json | types, names, outlines, walls, tracks, beacons: enough to draw without the scenario |
//! | `/types/NAME/poses`, `/obstacles/poses` | `swarmyard/poses` | one packed message per robot type and frame |
//! | `/swarmyard/hash` | `swarmyard/hash` | step, hash, time; written last, so it says that the frame is whole |
//! | `/swarmyard/journal` | `swarmyard/journal` | every input, as it entered |
//! | `/swarmyard/events` | json | contacts, halts, limits, failed assertions |
//! | `/swarmyard/rewind` | `swarmyard/rewind` | the run went back: what lies after that step no longer counts |
//! | `/swarmyard/world` | json | the world changed: what a header would say, and its texts and code; a new list of bodies follows |
//! | `/swarmyard/end` | json | last step, time, hash, counts; absent when the file was cut off |
//! | `/robots/…`, `/tf` | cdr | ROS 2 messages, for the paths under `[record] topics` |
//!
//! The scenario's texts are attachments `scenario/NAME`, written before anything else; those of worlds that
//! came while running are `world/HASH/NAME`, written when they came. Log time is
//! simulated nanoseconds. Every packed encoding is described by its schema record.
//!
//! *Invariants:* a recorder never ends or changes a run; a full disk ends the recording only. A
//! file cut off at any byte is read up to the cut. Nothing read from a file is trusted: lengths are
//! checked before anything is allocated, and a bad file is an error, never a panic.

mod bodies;
mod budget;
mod cdr;
mod csv;
mod diff;
mod error;
mod events;
mod header;
mod live;
mod recorder;
mod recording;
mod ros;
mod ros_schemas;
mod scan;
mod sink;
mod svg;
mod temporary;
mod wire;
mod world;

pub use bodies::{BeaconMark, Bodies, BodyType, Edge, NameRun, Names, Shape, TrackMark};
pub use csv::to_csv;
pub use diff::{Difference, Visible, diff, first_hash_difference};
pub use error::RecordError;
pub use events::{Contact, Event, StepEvents};
pub use header::{CodeBytes, End, Header, SourceText, code_name};
pub use live::LiveLine;
pub use recorder::{Recorder, Summary};
pub use recording::{Frame, FrameMark, Recording, fuzz_open};
pub use ros::check_topics;
pub use svg::to_svg;
pub use temporary::Temporary;
