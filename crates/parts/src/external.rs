//! Commands come from the program that runs the simulation: a notebook, a learner, a person.

use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Built, Class, Controller, Kind, Param, ParamType, Sheet, ThinkRows, ThinkView, TypeLayout,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("external", Kind::Controller, "Commands come from outside, through the input journal. They stay in effect until the next ones.")
        .param(
            Param::new("wait", ParamType::Bool, "Whether each step waits until commands for this robot have come.")
                .or(Value::Bool(false)),
        )
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[type.demo.controller]\nclass = \"external\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Controller(Box::new(External { wait: p.bool("wait") })))
}

struct External {
    wait: bool,
}

impl Controller for External {
    fn waits(&self) -> bool {
        self.wait
    }

    fn think(&self, _: &ThinkView, _: &mut ThinkRows<'_>) {}
}
