//! Algorithms written one step after another: an `async fn` that waits where a robot waits.
//!
//! ```
//! use swarmyard_algorithms::sequential::{Robot, program};
//! use swarmyard_part_api::{ProtocolModel, ServiceKind};
//!
//! async fn follow_orders(robot: Robot, speed: f64) {
//!     loop {
//!         let (_, (x, y)) = robot.receive::<(f64, f64)>().await;
//!         robot.move_to(swarmyard_base::Vec2::new(x, y), speed, 1.0).await;
//!     }
//! }
//!
//! let model = program(&[ServiceKind::Motion, ServiceKind::Link], 0.5, follow_orders);
//! assert_eq!(model.ports().len(), 2);
//! ```
//!
//! *How it works.* Everything the function wants of the world is a wish, put on a desk that it shares with its
//! node; the node fulfils wishes and hands replies back one at a time, each followed by a poll. So the function
//! holds no reference to the world, and there is no thread, no clock and no executor. Sensors and chance are
//! answered at the same moment; motions, messages, sleeps and push sensors when they happen.
//!
//! *Memory.* A future cannot be written down, but what it was told can: its memory is the value it began with
//! and the journal of all replies since. Taking over a memory runs the function again on the journal, without
//! effects, and checks that it wishes the same; a function that was changed is found out, and the first wish
//! that differs is named. So a function must depend on nothing but its value and its replies.
//!
//! *Cost.* The journal grows for as long as the function runs: 8 bytes for every wish, and every reply. A
//! function that runs for long calls [`Robot::checkpoint`]: it begins again with a new value and an empty journal.

mod desk;
mod node;
mod robot;

pub use desk::News;
pub use robot::{Either, Robot, first};

use node::Node;
use serde::{Serialize, de::DeserializeOwned};
use std::pin::Pin;
use std::sync::Arc;
use swarmyard_part_api::{Microprotocol, PortSpec, ProtocolModel, Query, ServiceKind, from_bytes, to_bytes};

/// What a function that runs on a robot has become.
type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Begins a function with a value, which comes as bytes.
type Begin = dyn Fn(Robot, &[u8]) -> Result<Running, String> + Send + Sync;

/// A function with the value it begins with, without their types.
struct Inner {
    uses: &'static [ServiceKind],
    /// The value it begins with.
    start: Vec<u8>,
    begin: Box<Begin>,
}

/// An algorithm made of an `async fn`.
pub struct Program {
    inner: Arc<Inner>,
    asks: Vec<Query>,
    show: fn(&[u8]) -> (String, String),
}

/// Makes an algorithm of a function, the services it uses and the value it begins with (its settings, say).
///
/// The ports have the names of the services: `motion`, `link`, `broadcast`, `watching`, …
pub fn program<S, F>(
    uses: &'static [ServiceKind],
    start: S,
    run: impl Fn(Robot, S) -> F + Send + Sync + 'static,
) -> Program
where
    S: Serialize + DeserializeOwned,
    F: Future<Output = ()> + Send + 'static,
{
    let begin = move |robot: Robot, value: &[u8]| -> Result<Running, String> {
        Ok(Box::pin(run(robot, from_bytes(value)?)))
    };
    let start = to_bytes(&start);
    let show = |bytes: &[u8]| (String::from("DATA"), format!("{} bytes", bytes.len()));
    Program { inner: Arc::new(Inner { uses, start, begin: Box::new(begin) }), asks: Vec::new(), show }
}

impl Program {
    /// The same, with a function that says type and content of its messages, for logs.
    #[must_use]
    pub fn shown_by(self, show: fn(&[u8]) -> (String, String)) -> Program {
        Program { show, ..self }
    }

    /// The same, with the questions to sensors that it cannot do without.
    #[must_use]
    pub fn asking(self, asks: impl Into<Vec<Query>>) -> Program {
        Program { asks: asks.into(), ..self }
    }
}

impl ProtocolModel for Program {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        self.inner.uses.iter().map(|s| PortSpec::new(s.word(), *s)).collect()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Node::new(&self.inner))
    }

    fn asks(&self) -> Vec<Query> {
        self.asks.clone()
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        (self.show)(bytes)
    }
}
