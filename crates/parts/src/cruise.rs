//! The simplest controller: always the same wheel speeds.

use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Controller, Kind, Param, ParamType, Sheet, ThinkRows, ThinkView, TypeLayout,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class { sheet: sheet(), build: Some(build) }
}

fn sheet() -> Sheet {
    Sheet::new("cruise", Kind::Controller, "Always the same wheel speeds: straight on, an arc, or a turn in place.")
        .param(Param::new("drive", ParamType::Name("part"), "The drive; the only one when left out."))
        .param(Param::number("left", Unit::MetrePerSecond, "Speed of the left wheel.").within(-1.0e4, 1.0e4).or_num(0.3))
        .param(Param::number("right", Unit::MetrePerSecond, "Speed of the right wheel.").within(-1.0e4, 1.0e4).or_num(0.3))
        .level("full", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[type.demo.controller]\nclass = \"cruise\"\nleft = 0.2\nright = 0.25")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let drive = layout.part(p.text_or_none("drive"), "diff-drive").map_err(|d| d.at(p.span("drive")))?;
    Ok(Built::Controller(Box::new(Cruise { drive, left: p.num("left"), right: p.num("right") })))
}

struct Cruise {
    drive: usize,
    left: f64,
    right: f64,
}

impl Controller for Cruise {
    fn think(&self, _: &ThinkView, rows: &mut ThinkRows<'_>) {
        for row in 0..rows.uids.len() {
            rows.commands[self.drive].row(row).copy_from_slice(&[self.left, self.right]);
        }
    }
}
