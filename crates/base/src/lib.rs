//! The ground floor: what every other crate of Swarmyard stands on.
//!
//! Identity ([`Uid`], [`path`]), integer [`time`], planar poses ([`geom`]), transcendental functions
//! that give the same bits everywhere ([`math`]), chance with an address ([`chance`]), the state hash
//! ([`hash`]), units of measure ([`units`]) and the one kind of message to a person ([`Diagnostic`]).
//!
//! Nothing here reads a clock, a file, the environment or a shared random generator.

pub mod chance;
pub mod diag;
pub mod geom;
pub mod hash;
pub mod math;
pub mod path;
pub mod time;
pub mod uid;
pub mod units;

pub use diag::{Diagnostic, Diagnostics, Severity, SourceId, Sources, Span};
pub use geom::{Pose2, Pose3, Rot2, Twist2, Vec2};
pub use time::{Moment, Period, Ratio, Time};
pub use uid::Uid;
