//! Jaws fixed on the body: they take hold of movable obstacles and carry them.

use crate::hand::{self, Clasp};
use swarmyard_base::{Diagnostic, Pose2};
use swarmyard_part_api::{
    ActRows, ActView, Actuator, Built, Class, Felt, Grip, Hand, Kind, Layout, Mark, Outline, Param,
    ParamType, Sheet, TypeLayout,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    let sheet = Sheet::new("gripper", Kind::Actuator, "Jaws on the body. Closing, they take the nearest movable obstacle within reach; it then moves with the robot, and what touches it touches both. Opening, they let it go where it is. The robot's own sensors do not see what it holds. Of two grippers that close on the same thing the nearer gets it.")
        .param(Param::new("mount", ParamType::Pose, "The middle of the jaws on the body, and where they point; at the front of the outline when left out."));
    hand::with_readings(hand::with_commands(hand::with_params(sheet)))
        .level("every", "Everything.")
        .marks("two jaws, nearer to one another while they hold something")
        .example("[[type.demo.part]]\nname = \"gripper\"\nclass = \"gripper\"\nmount = [\"12cm\", 0]\nreach = \"3cm\"\nopening = \"10cm\"\n\n[[obstacle]]\nname = \"puck\"\nradius = 0.04\nmass = 0.1\nat = [0.18, 0]\nmovable = true")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let mount = p.pose_or_none("mount").unwrap_or(Pose2::new(layout.outline.reach(), 0.0, 0.0));
    Ok(Built::Actuator(Box::new(Gripper { mount, clasp: Clasp::new(p) })))
}

struct Gripper {
    mount: Pose2,
    clasp: Clasp,
}

impl Actuator for Gripper {
    fn layout(&self) -> Layout {
        // Private state: whether the jaws are shut.
        Layout { channels: sheet().channels, state: vec![0.0], ..Layout::default() }
    }

    fn act(&self, _: &ActView<'_>, rows: &mut ActRows<'_>) {
        for row in 0..rows.len {
            let (jaws, shut) = self.clasp.jaws(rows.commands.row(row)[0], rows.state.row(row)[0]);
            rows.next_state.row(row)[0] = shut;
            rows.grips[row] = Grip { from: self.mount, to: self.mount, jaws };
        }
    }

    fn moves_body(&self) -> bool {
        false
    }

    fn hand(&self) -> Option<Hand> {
        Some(self.clasp.hand)
    }

    fn feel(&self, felt: &Felt, readings: &mut [f64]) {
        hand::write(felt, readings);
    }

    fn marks(&self, readings: &[f64], _: &Outline) -> Vec<Mark> {
        self.clasp.marks(self.mount, readings)
    }
}
