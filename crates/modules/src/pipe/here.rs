//! This machine, as a place for modules.

use super::{PlaceError, Placed, Places, Process, Program};
use crate::builtin;
use crate::event::How;
use nix::fcntl::OFlag;
use nix::unistd::pipe2;
use std::path::PathBuf;
use std::process::Command;
use swarmyard_agents::process::{Cause, Leash, Limits};

/// Starts modules on this machine.
#[derive(Clone, Debug)]
pub struct Here {
    /// The `swarmyard` command, for modules that are part of it.
    command: Option<PathBuf>,
    limits: Limits,
}

impl Here {
    /// This machine, with the program that has the built-in modules.
    #[must_use]
    pub fn new(command: Option<PathBuf>) -> Here {
        Here { command, limits: Limits::default() }
    }

    /// What the system lets one module use up: memory, tasks, files, processor time.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Here {
        self.limits = limits;
        self
    }

    fn command(&self, program: &Program) -> Result<Command, PlaceError> {
        let (name, arguments) = program.words.split_first().ok_or(PlaceError::NoProgram)?;
        let mut command = match &self.command {
            Some(own) if builtin::NAMES.contains(&name.as_str()) => {
                let mut command = Command::new(own);
                command.arg("module").arg(name);
                command
            }
            _ => Command::new(name),
        };
        command.args(arguments);
        command.env("SWARMYARD_MODULE", program.number.to_string());
        // Python holds back what it prints into a pipe, and a module's answers must come at once.
        command.env("PYTHONUNBUFFERED", "1");
        Ok(command)
    }
}

impl Places for Here {
    fn check(&self, host: &str) -> Result<(), PlaceError> {
        let is_here = ["local", "-"].contains(&host);
        if is_here { Ok(()) } else { Err(PlaceError::UnknownHost(host.to_owned())) }
    }

    fn start(&mut self, program: &Program) -> Result<Placed, PlaceError> {
        self.check(&program.host)?;
        let mut command = self.command(program)?;
        let failed = |error: std::io::Error| PlaceError::Start {
            program: program.words.first().cloned().unwrap_or_default(),
            error,
        };
        let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(|e| failed(e.into()));
        let (input_end, input) = pipe()?;
        let (output, output_end) = pipe()?;
        let (errors, errors_end) = pipe()?;
        command.stdin(input_end).stdout(output_end).stderr(errors_end);
        let leash = Leash::start(command, &self.limits).map_err(failed)?;
        Ok(Placed { input, output, errors: Some(errors), process: Box::new(Child(leash)) })
    }
}

struct Child(Leash);

impl Process for Child {
    fn ended(&mut self) -> Option<How> {
        Some(match self.0.end()? {
            Cause::Exited(code) => How::Exited(code),
            Cause::Signal(signal) => How::Signal(signal),
            cause => How::Killed(cause.to_string()),
        })
    }

    fn kill(&mut self) {
        self.0.kill();
    }

    fn id(&self) -> Option<u32> {
        Some(self.0.pid())
    }
}

/// The words of a command, as a shell would cut it: at blanks, but not inside quotes.
///
/// # Errors
/// When a quote is not closed.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    if let Some(q) = quote {
        return Err(format!("the quote {q} is not closed in `{text}`"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_cut_at_blanks_outside_quotes() {
        assert_eq!(words("cat  'my file' \"a b\"c ''").unwrap(), ["cat", "my file", "a bc", ""]);
        assert_eq!(words("  ").unwrap(), [""; 0]);
        assert!(words("cat 'x").is_err());
    }

    #[test]
    fn only_this_machine_is_known() {
        let here = Here::new(None);
        assert!(here.check("local").is_ok() && here.check("-").is_ok());
        let refused = here.check("iris").unwrap_err().to_string();
        assert!(refused.contains("`iris`") && refused.contains("--hosts"), "{refused}");
    }
}
