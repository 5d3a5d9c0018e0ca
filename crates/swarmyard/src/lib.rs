//! Swarmyard as a library: load a world, step it, read poses and channels, set commands, snapshot.
//!
//! ```
//! use swarmyard::Sim;
//!
//! let mut sim = Sim::from_text(r#"
//!     format = 1
//!     [type.cart]
//!     radius = "10cm"
//!     [[type.cart.part]]
//!     name = "drive"
//!     class = "diff-drive"
//!     base = 0.5
//!     max_speed = 2
//!     [[robot]]
//!     name = "r1"
//!     type = "cart"
//! "#).unwrap();
//! sim.command("/robots/r1/drive", "left", &[1.0]).unwrap();
//! sim.command("/robots/r1/drive", "right", &[1.5]).unwrap();
//! let before = sim.snapshot();
//! for _ in 0..10 {
//!     sim.step().unwrap();
//! }
//! let pose = sim.pose("/robots/r1").unwrap();
//! assert!((pose.at.x - 1.0518387310).abs() < 1e-9 && (pose.heading - 1.0).abs() < 1e-9);
//! sim.restore(&before).unwrap();
//! assert_eq!(sim.pose("/robots/r1").unwrap().at.x, 0.0);
//! ```

pub mod bench;
pub mod gas;
pub mod neko;

pub use swarmyard_agents as agents;
pub use swarmyard_algorithms as algorithms;
pub use swarmyard_base as base;
pub use swarmyard_engine as engine;
pub use swarmyard_formats as formats;
pub use swarmyard_motion as motion;
pub use swarmyard_part_api as part_api;
pub use swarmyard_radio as radio;
pub use swarmyard_record as record;
pub use swarmyard_scene as scene;
pub use swarmyard_sim::{
    Crowd, ElsewhereFigures, Error, Folder, Gauge, KERNEL, LinkFigures, MOST_TEXT, Mapper, Modules, Options,
    Progress, Quantity, RobotFigures, Run, Scenario, Shelf, Shelved, Sim, Statistics, Timeline, View,
    Witness, WorkerFigures, occupancy, read_text, registry_with, standard_registry, witness,
};
