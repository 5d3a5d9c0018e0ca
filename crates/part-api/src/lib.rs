//! What an author of a part needs, and nothing else.
//!
//! A part class is a [`Sheet`] that describes it, and a function that builds a [`Sensor`],
//! [`Actuator`] or [`Controller`] from parameters. It works on columns: one call per robot type,
//! phase and chunk of robots, never one per robot. Registering it is one line.
//!
//! *Invariant:* this crate knows nothing about the engine, about text formats or about files. A
//! sensor sees the committed world only ([`World`]); an actuator sees only its own robots.

pub mod chord;
mod class;
mod columns;
mod cone;
mod edge;
mod going;
mod graph;
mod grid;
mod grip;
mod mark;
mod mind;
mod network;
mod note;
mod outline;
mod protocol;
mod rays;
pub mod registers;
mod registry;
mod robot;
mod segment;
mod sheet;
mod sight;
pub mod structure;
mod track;
mod world;

pub use class::{ActView, Actuator, Build, Built, Class, Controller, Layout, Sensor, ThinkView, TypeLayout};
pub use columns::{ActRows, Channels, Column, ColumnMut, SenseRows, ThinkRows};
pub use cone::Cone;
pub use edge::{AtEdge, Mirror};
pub use going::{Ended, Motion, MotionModule, MotionPattern, Phase, Plan, TurnWay};
pub use graph::{Endless, Graph, GraphModel, Happening, MOST_STEPS, NodeSpec, protocol_id};
pub use grid::{BodyGrid, Entry, FixedEdge, FixedIndex};
pub use grip::{Carry, Felt, Grip, Hand, Jaws};
pub use mark::{Mark, MarkShape};
pub use mind::{Cause, Failure, Mind, Occasion, Outside, Policy, Program, Rules, ThinkTime, Thought};
pub use network::{Air, Loss, Message, NetFault, Network, NetworkModel};
pub use note::{Note, Row, RowKind};
pub use outline::{MAX_CORNERS, Outline, signed_area};
pub use protocol::Port as ProtocolPort;
pub use protocol::{
    Broadcast, Bytes, Clock, Company, Consensus, Custom, Cx, Detector, Drive, Elect, Exclusion, Group,
    Indication, Leader, Link, LookOut, Membership, Microprotocol, Monitor, Moving, Mutex, PortSpec, Private,
    Propose, ProtocolModel, ReadClock, Recipients, Request, Service, ServiceKind, ToAll, ToRobots, User,
    Watching, from_bytes, to_bytes, to_shared,
};
pub use rays::{Fan, SWEEP_FROM};
pub use registers::{
    Access, BadAccess, Place, Pokes, Port, PortChannel, Reaches, Register, RegisterFile, RegisterMap,
};
pub use registry::Registry;
pub use robot::{
    Answer, Equipment, EventSensor, Every, Pending, Push, Query, Robot, Seen, Surroundings, Watch, WatchFor,
};
pub use segment::{Frame, Segment};
pub use sheet::{Channel, Kind, Level, Param, ParamType, Sheet};
pub use track::{TrackIndex, TrackPiece};
pub use world::{Beacon, Bodies, BodyKind, Detail, Touch, Track, World};
