//! Where the code of controllers comes from: files of a project, texts in the scenario, or a recording.
//!
//! Everything that was made is kept by name, so that a recording can hold it and a replay needs
//! neither the source nor a compiler.

use crate::compiler::{self, CompileError, Room, Source};
use crate::far::price::Prices;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use swarmyard_base::hash::bytes_hash;

/// Most bytes of one file of code.
const MOST_BYTES: u64 = 64 << 20;

/// The file that marks the folder of a project; what is in it does not matter.
pub(crate) const PROJECT: &str = "swarmyard.project";

/// The place where code is found and made.
#[derive(Default)]
pub struct Workshop {
    folder: Option<PathBuf>,
    /// By name and target: what was made here, or what a recording brought.
    made: Mutex<BTreeMap<String, Arc<Vec<u8>>>>,
    elsewhere: Option<Elsewhere>,
    /// Whether it has all the code that it will ever have.
    closed: bool,
}

/// How programs on other hosts are started: a command whose process stands for one of them. Its words go before `--`, the
/// host, the program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The command.
    pub program: PathBuf,
    /// Its words.
    pub words: Vec<String>,
    /// What comes of it is counted here.
    pub prices: Prices,
}

/// What code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The sandbox.
    Sandbox,
    /// This machine.
    Native,
}

/// Where a controller's code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code<'a> {
    /// A file, relative to the scenario.
    File(&'a str),
    /// C text in the scenario itself.
    Text(&'a str),
}

/// The same, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OwnedCode {
    File(String),
    Text(String),
}

impl Code<'_> {
    pub(crate) fn to_owned(self) -> OwnedCode {
        match self {
            Code::File(name) => OwnedCode::File(name.to_owned()),
            Code::Text(text) => OwnedCode::Text(text.to_owned()),
        }
    }
}

impl OwnedCode {
    pub(crate) fn borrow(&self) -> Code<'_> {
        match self {
            OwnedCode::File(name) => Code::File(name),
            OwnedCode::Text(text) => Code::Text(text),
        }
    }
}

impl Workshop {
    /// A workshop without files: only code in the scenario itself.
    #[must_use]
    pub fn nowhere() -> Workshop {
        Workshop::default()
    }

    /// A workshop for the files of one folder, and those below it.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Workshop {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Workshop { folder: Some(folder.to_owned()), ..Workshop::default() }
    }

    /// A workshop that has only what was made before.
    #[must_use]
    pub fn with_made(made: Vec<(String, Vec<u8>)>) -> Workshop {
        let made = made.into_iter().map(|(name, bytes)| (name, Arc::new(bytes))).collect();
        Workshop { made: Mutex::new(made), ..Workshop::default() }
    }

    /// The same, which makes nothing: for worlds of strangers, whose texts are not for the compiler of this machine.
    #[must_use]
    pub fn closed(self) -> Workshop {
        Workshop { closed: true, ..self }
    }

    /// The same, for programs on other hosts as well.
    #[must_use]
    pub fn with_elsewhere(self, elsewhere: Option<Elsewhere>) -> Workshop {
        Workshop { elsewhere, ..self }
    }

    /// How programs on other hosts are started, when anybody said so.
    pub(crate) fn elsewhere(&self) -> Option<&Elsewhere> {
        self.elsewhere.as_ref()
    }

    /// Everything that was made so far, by name.
    #[must_use]
    pub fn made(&self) -> Vec<(String, Arc<Vec<u8>>)> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().map(|(name, bytes)| (name.clone(), Arc::clone(bytes))).collect()
    }

    /// The path of a file of the project.
    ///
    /// # Errors
    /// When there are no files here, or the name leads out of the project.
    pub fn path(&self, name: &str) -> Result<PathBuf, CompileError> {
        let Some(folder) = &self.folder else {
            return Err(CompileError::System(format!("there are no files here to find `{name}` in")));
        };
        path_in_project(folder, name).ok_or_else(|| {
            CompileError::System(format!(
                "`{name}` leads out of the project; that is the scenario's folder, or the one above it with a file `{PROJECT}`"
            ))
        })
    }

    /// The scenario's folder.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The text of a file of the project, as it is or as it was before.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text(&self, name: &str) -> Result<Arc<Vec<u8>>, CompileError> {
        let known = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(bytes) = known.filter(|_| self.folder.is_none()) {
            return Ok(bytes);
        }
        let path = self.path(name)?;
        readable(&path, name)?;
        let bytes =
            std::fs::read(&path).map_err(|e| CompileError::System(format!("cannot read `{name}`: {e}")))?;
        let bytes = Arc::new(bytes);
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::clone(&bytes));
        Ok(bytes)
    }

    /// The program of some code: made now, or as it was made before. `registers` is the text of
    /// `registers.h`.
    ///
    /// # Errors
    /// When it cannot be read or compiled.
    pub fn make(
        &self,
        code: Code<'_>,
        target: Target,
        registers: &str,
    ) -> Result<Arc<Vec<u8>>, CompileError> {
        let name = made_name(code, target, registers);
        let known = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
        match known {
            Some(bytes) => Ok(bytes),
            None => self.remake(code, target, registers),
        }
    }

    /// The same, although it was made before: the source may have changed.
    ///
    /// # Errors
    /// When it cannot be read or compiled.
    pub fn remake(
        &self,
        code: Code<'_>,
        target: Target,
        registers: &str,
    ) -> Result<Arc<Vec<u8>>, CompileError> {
        let bytes = Arc::new(self.fresh(code, target, registers)?);
        let name = made_name(code, target, registers);
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(name, Arc::clone(&bytes));
        Ok(bytes)
    }

    fn fresh(&self, code: Code<'_>, target: Target, registers: &str) -> Result<Vec<u8>, CompileError> {
        if self.closed {
            return Err(CompileError::System("its code did not come with the world".to_owned()));
        }
        let compile = |source: &Source<'_>| match target {
            Target::Sandbox => compiler::to_wasm(source),
            Target::Native => compiler::to_native(source),
        };
        match code {
            Code::File(name) if is_source(name) => {
                let path = self.path(name)?;
                readable(&path, name)?;
                let folder = self.folder.as_deref().unwrap_or(Path::new("."));
                compile(&Source { file: name, folder, registers })
            }
            Code::File(name) => {
                let path = self.path(name)?;
                readable(&path, name)?;
                std::fs::read(&path).map_err(|e| CompileError::System(format!("cannot read `{name}`: {e}")))
            }
            Code::Text(text) => {
                let room = Room::new()?;
                room.write("controller.c", text)?;
                compile(&Source { file: "controller.c", folder: &room.0, registers })
            }
        }
    }
}

/// The path of a file as a scenario in `folder` names it; `None` when it leads out of the project, be it by a link. The project is the
/// nearest folder above with a file `swarmyard.project`, or the scenario's own.
#[must_use]
pub fn path_in_project(folder: &Path, name: &str) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let path = folder.join(name);
    let is_inside = plain(&path)?.starts_with(plain(&project_of(folder))?);
    (is_inside && !Path::new(name).is_absolute()).then_some(path)
}

/// The folder of the project that a scenario's folder belongs to.
fn project_of(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let marked = absolute.ancestors().find(|f| f.join(PROJECT).is_file());
    marked.unwrap_or(&absolute).to_owned()
}

/// A path without `.` and `..` and links, as far as it exists.
fn plain(path: &Path) -> Option<PathBuf> {
    // What is there is where the system finds it: `..` after a link is not the folder that the link stands in.
    if let Ok(real) = std::fs::canonicalize(path) {
        return Some(real);
    }
    let absolute = std::path::absolute(path).ok()?;
    let mut out = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    Some(std::fs::canonicalize(&out).unwrap_or(out))
}

/// Whether a file is C or C++.
#[must_use]
pub fn is_source(name: &str) -> bool {
    [".c", ".cpp", ".cc", ".cxx"].iter().any(|end| name.ends_with(end))
}

/// The name under which something made is kept: two types may make different things of one source,
/// because their registers differ.
pub(crate) fn made_name(code: Code<'_>, target: Target, registers: &str) -> String {
    let end = if target == Target::Sandbox { "wasm" } else { "native" };
    match code {
        Code::File(name) if is_source(name) => {
            format!("{name}.{:08x}.{end}", bytes_hash(registers.as_bytes()) as u32)
        }
        Code::File(name) => name.to_owned(),
        Code::Text(text) => {
            let all = [text.as_bytes(), registers.as_bytes()].concat();
            format!("code.{:016x}.{end}", bytes_hash(&all))
        }
    }
}

fn readable(path: &Path, name: &str) -> Result<(), CompileError> {
    let about =
        std::fs::metadata(path).map_err(|e| CompileError::System(format!("cannot read `{name}`: {e}")))?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return Err(CompileError::System(format!("`{name}` is not a file of at most {MOST_BYTES} bytes")));
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn neither_a_link_nor_what_is_beside_its_target_is_in_the_project() {
        let room = Room::new().expect("a folder");
        let (inside, outside) = (room.0.join("inside"), room.0.join("outside/deep"));
        std::fs::create_dir_all(&inside).expect("a folder");
        std::fs::create_dir_all(&outside).expect("a folder");
        for file in ["inside/own.c", "outside/secret.c", "outside/deep/other.c"] {
            std::fs::write(room.0.join(file), "int x;").expect("a file");
        }
        std::os::unix::fs::symlink(&outside, inside.join("link")).expect("a link");
        let found = |name: &str| path_in_project(&inside, name).is_some();
        assert!(found("own.c") && found("not-there.c") && found("./own.c"));
        assert!(!found("link/other.c"), "what a link leads to");
        assert!(!found("link/../secret.c"), "what is beside the target of a link");
        assert!(!found("../outside/secret.c") && !found("/etc/passwd"));
        std::fs::write(room.0.join(PROJECT), "").expect("a mark");
        assert!(found("link/../secret.c") && found("../outside/secret.c"), "now it is all one project");
    }
}
