//! Two robots with two lights meet under any fair semi-synchronous schedule (Viglietta 2013; Pactole,
//! `Gathering/InR2/Viglietta.v`).
//!
//! | mine | other's | move | light |
//! |---|---|---|---|
//! | 0 | 0 | to the middle | 1 |
//! | 0 | 1 | to the other | 0 |
//! | 1 | 0 | stay | 1 |
//! | 1 | 1 | stay | 0 |

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;

/// The rule `two-lights`.
#[derive(Clone, Copy, Debug)]
pub struct TwoLights;

impl Rule for TwoLights {
    fn name(&self) -> &'static str {
        "two-lights"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        // Together, there is nothing left to do; the lights may stay as they are.
        let Some(other) = look.seen.iter().find(|s| s.at.norm() > look.same) else {
            return Decision::stay(look);
        };
        match (look.light, other.light) {
            (0, 0) => Decision { target: other.at * 0.5, light: 1 },
            (0, _) => Decision { target: other.at, light: 0 },
            (_, 0) => Decision { target: Vec2::ZERO, light: 1 },
            _ => Decision { target: Vec2::ZERO, light: 0 },
        }
    }

    fn needs(&self) -> Needs {
        Needs { lights: 2, robots: 2, ..Needs::default() }
    }
}
