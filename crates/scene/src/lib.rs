//! The scene tree: named nodes addressed by paths. Data only.
//!
//! Every format (TOML scenario, S-expression scene, part file) becomes a [`Scene`]; the engine
//! compiles a scene and knows nothing about text. A node says which class it is and carries its
//! parameters; what the class means is somebody else's business.
//!
//! | path | class |
//! |---|---|
//! | `/run`, `/world`, `/record` | `run`, `world`, `record` |
//! | `/surfaces/NAME` | `surface` |
//! | `/world/walls/NAME`, `/world/tracks/NAME` | `wall`, `track` |
//! | `/beacons/NAME` | `beacon` |
//! | `/types/NAME` with one child per part or controller | `type` |
//! | `/robots/NAME`, sharing the subtree of its type | `robot` |
//! | `/obstacles/NAME`, with a child `drive` when it moves | `obstacle` |
//! | `/asserts/NAME` | `assert` |
//! | `/sweep` with one child per axis and measure, when there is one | `sweep`, `axis`, `measure` |

pub mod expr;
mod node;
pub mod sweep;
mod value;

pub use node::{Node, Scene};
pub use value::{Entry, Params, Value};
