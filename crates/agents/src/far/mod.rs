//! Sandboxes on other hosts: what a run here has computed there, and the process that computes.
//!
//! In: questions over the pipes of a process that stands for one over there ([`line::Talk`]). Out: answers. What is
//! computed is a function of what was told, so where it is changes no bit; whoever asks can go on without the host.
//! [`price`] counts what that costs.
//!
//! Part models (`part/far.rs`) remember nothing over there; programs ([`program`]) have their memory there between steps.

pub(crate) mod line;
pub(crate) mod price;
pub(crate) mod program;
#[cfg(test)]
mod tests;
mod there;

use line::{Pipes, Task};
use std::io::{self, Read, Write};

/// What hosts call the program that computes.
pub const SANDBOX: &str = "sandbox";

/// Computes what is asked until there are no more questions.
///
/// # Errors
/// A pipe that breaks, or something that is no question.
pub fn compute(from: impl Read + Send + 'static, to: impl Write + Send + 'static) -> io::Result<()> {
    let mut pipes = Pipes::new(Box::new(from), Box::new(to));
    match pipes.hear()? {
        None => Ok(()),
        Some(Task::PartModels) => crate::part::compute(pipes),
        Some(Task::Programs) => there::compute(pipes),
    }
}

/// The place that `on` names, when there is one.
///
/// # Errors
/// When it cannot be a place.
pub(crate) fn place(p: &swarmyard_scene::Params) -> Result<Option<&str>, swarmyard_base::Diagnostic> {
    match p.text_or_none("on") {
        Some(on) if on.is_empty() || on.starts_with('-') => {
            let what = "this is no name of a host, and nothing that one can do";
            Err(swarmyard_base::Diagnostic::error("on-host", what).at(p.span("on")))
        }
        on => Ok(on),
    }
}
