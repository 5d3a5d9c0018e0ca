//! C and C++ sources become programs: for the sandbox by clang, for the machine by its own compiler.
//!
//! The compiler runs in the scenario's folder, so that its messages and includes are what the author
//! expects; `rio.h`, `part.h`, `swarm.h` and the type's `registers.h` stand in a folder of their own that is searched too.

use crate::fresh;
use std::path::{Path, PathBuf};
use std::process::Command;
use swarmyard_base::{Diagnostic, Diagnostics};

/// The header every controller includes.
pub const RIO_H: &str = include_str!("../../../sdk/c/rio.h");
/// The header every part model includes.
pub const PART_H: &str = include_str!("../../../sdk/c/part.h");
/// The header of algorithms of robots that live by events.
pub const SWARM_H: &str = include_str!("../../../sdk/c/swarm.h");
/// The native back-end of `rio.h`.
const RIO_PROCESS_C: &str = include_str!("../../../sdk/c/rio_process.c");

/// Bytes of stack a sandboxed program has, below its data: what runs over it traps.
const STACK: &str = "-Wl,-z,stack-size=8192";
/// One page is enough for most programs; ten thousand robots then need little.
const ONE_PAGE: &str = "-Wl,--initial-memory=65536";
/// The functions that are called, as far as a source has them.
const EXPORTS: [&str; 12] = [
    "robot_event",
    "robot_setup",
    "robot_step",
    "robot_stop",
    "rio_main",
    "part_describe",
    "part_setup",
    "part_step",
    "part_cleanup",
    "part_marks",
    "__stack_pointer",
    "__wasm_call_ctors",
];
/// Messages that are kept.
const MOST_MESSAGES: usize = 50;

/// One thing a compiler said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The file, as the compiler names it; empty when it names none.
    pub file: String,
    /// Line, counted from 1; 0 when there is none.
    pub line: u32,
    /// Column, counted from 1; 0 when there is none.
    pub column: u32,
    /// Whether it is an error; a warning otherwise.
    pub error: bool,
    /// What it says.
    pub text: String,
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = if self.error { "error" } else { "warning" };
        if self.line > 0 {
            write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        }
        write!(f, "{severity}: {}", self.text)
    }
}

/// Why a source did not become a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// There is no compiler; says which, and how to get one.
    NoCompiler(String),
    /// The source has errors.
    Source(Vec<Message>),
    /// The system refused something.
    System(String),
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CompileError::NoCompiler(why) | CompileError::System(why) => f.write_str(why),
            CompileError::Source(messages) => {
                let lines: Vec<String> = messages.iter().map(Message::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
        }
    }
}

impl CompileError {
    /// The same as problems of a scenario, one for each message.
    #[must_use]
    pub fn into_diagnostics(self) -> Diagnostics {
        let one = |message: String| Diagnostic::error("bad-program", message);
        Diagnostics(match self {
            CompileError::NoCompiler(why) | CompileError::System(why) => vec![one(why)],
            CompileError::Source(messages) => {
                messages.iter().filter(|m| m.error).map(|m| one(m.to_string())).collect()
            }
        })
    }
}

/// A source, where it stands, and the registers it is made for.
pub struct Source<'a> {
    /// Path of the file, relative to `folder`.
    pub file: &'a str,
    /// The scenario's folder.
    pub folder: &'a Path,
    /// Text of `registers.h`.
    pub registers: &'a str,
}

/// Compiles for the sandbox.
///
/// # Errors
/// When there is no clang, or the source has errors.
pub fn to_wasm(source: &Source<'_>) -> Result<Vec<u8>, CompileError> {
    let room = Room::new()?;
    room.write("rio.h", RIO_H)?;
    room.write("part.h", PART_H)?;
    room.write("swarm.h", SWARM_H)?;
    room.write("registers.h", source.registers)?;
    let out = room.0.join("out.wasm");
    let run = |page: Option<&str>| {
        let mut command = Command::new(if is_cpp(source.file) { "clang++" } else { "clang" });
        command.args([
            "--target=wasm32",
            "-O2",
            "-g0",
            "-nostdlib",
            "-ffreestanding",
            "-mbulk-memory",
            "-mmutable-globals",
        ]);
        command.args(["-fno-math-errno", "-Wall", "-Wextra", "-Dmain=rio_main", "-fdiagnostics-color=never"]);
        if is_cpp(source.file) {
            command.args(["-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]);
        } else {
            command.arg("-std=c11");
        }
        command.args(["-Wl,--no-entry", "-Wl,--stack-first", STACK]).args(page);
        for name in EXPORTS {
            command.arg(format!("-Wl,--export-if-defined={name}"));
        }
        command.arg("-I").arg(&room.0).arg(source.file).arg("-o").arg(&out);
        command.current_dir(source.folder);
        output(command, "clang and lld (Debian: apt install clang lld); or give a .wasm file")
    };
    let (mut ok, mut messages) = run(Some(ONE_PAGE))?;
    if !ok && messages.iter().any(|m| m.text.contains("initial memory too small")) {
        (ok, messages) = run(None)?;
    }
    finish(ok, messages, &out)
}

/// Compiles for this machine, as a program that talks to the simulator.
///
/// # Errors
/// When there is no C compiler, or the source has errors.
pub fn to_native(source: &Source<'_>) -> Result<Vec<u8>, CompileError> {
    let room = Room::new()?;
    room.write("rio.h", RIO_H)?;
    room.write("rio_process.c", RIO_PROCESS_C)?;
    room.write("registers.h", source.registers)?;
    let objects = [room.0.join("controller.o"), room.0.join("rio_process.o")];
    let out = room.0.join("out");
    let cpp = is_cpp(source.file);
    let step = |compiler: &str, arguments: &[&Path], folder: &Path| {
        let mut command = Command::new(compiler);
        command.args(["-O2", "-Wall", "-Wextra", "-fdiagnostics-color=never", "-I"]).arg(&room.0);
        command.args(arguments).current_dir(folder);
        output(command, "a C compiler (Debian: apt install gcc)")
    };
    let c = Path::new("-c");
    let o = Path::new("-o");
    let compiler = if cpp { "c++" } else { "cc" };
    let (ok, mut all) = step(compiler, &[c, Path::new(source.file), o, &objects[0]], source.folder)?;
    if !ok {
        return finish(false, all, &out);
    }
    let (ok, messages) = step("cc", &[c, &room.0.join("rio_process.c"), o, &objects[1]], &room.0)?;
    all.extend(messages);
    if !ok {
        return finish(false, all, &out);
    }
    let (ok, messages) = step(compiler, &[&objects[0], &objects[1], o, &out], &room.0)?;
    all.extend(messages);
    finish(ok, all, &out)
}

fn is_cpp(file: &str) -> bool {
    [".cpp", ".cc", ".cxx"].iter().any(|end| file.ends_with(end))
}

/// Runs a compiler; answers whether it was content, and what it said.
fn output(mut command: Command, what: &str) -> Result<(bool, Vec<Message>), CompileError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            CompileError::NoCompiler(format!("there is no `{name}`; install {what}"))
        }
        _ => CompileError::System(format!("`{name}` cannot be run: {e}")),
    })?;
    let text = String::from_utf8_lossy(&done.stderr);
    Ok((done.status.success(), messages(&text)))
}

fn finish(ok: bool, messages: Vec<Message>, out: &Path) -> Result<Vec<u8>, CompileError> {
    if !ok {
        return Err(CompileError::Source(messages));
    }
    std::fs::read(out).map_err(|e| CompileError::System(e.to_string()))
}

/// The messages in what a compiler printed: `file:line:column: error: text`, and the linker's.
fn messages(text: &str) -> Vec<Message> {
    let one = |line: &str| {
        let (head, error, text) =
            [("fatal error: ", true), ("error: ", true), ("warning: ", false)]
                .iter()
                .find_map(|(word, error)| line.split_once(word).map(|(head, text)| (head, *error, text)))?;
        let mut parts = head.trim_end_matches([' ', ':']).rsplitn(3, ':');
        let (column, row, file) = (parts.next(), parts.next(), parts.next());
        let number = |t: Option<&str>| t.and_then(|t| t.trim().parse().ok()).unwrap_or(0);
        let known = number(row) > 0;
        Some(Message {
            file: if known { file.unwrap_or("").to_owned() } else { String::new() },
            line: number(row),
            column: if known { number(column) } else { 0 },
            error,
            text: text.to_owned(),
        })
    };
    // The driver's own last words only say that there were others.
    let noise = |m: &Message| m.text.starts_with("linker command failed");
    text.lines().filter_map(one).filter(|m| !noise(m)).take(MOST_MESSAGES).collect()
}

/// A folder for one compilation, gone afterwards.
pub(crate) struct Room(pub(crate) PathBuf);

impl Room {
    pub(crate) fn new() -> Result<Room, CompileError> {
        Room::below(&std::env::temp_dir())
    }

    /// A room that nobody else made, and nobody else may enter: what is compiled in it is run afterwards.
    fn below(folder: &Path) -> Result<Room, CompileError> {
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let made = fresh::make(folder, "swarmyard", |path| builder.create(path));
        let (path, ()) = made.map_err(|e| CompileError::System(e.to_string()))?;
        Ok(Room(path))
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), CompileError> {
        std::fs::write(self.0.join(name), text).map_err(|e| CompileError::System(e.to_string()))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_places() {
        let text = "a/b.c:12:5: error: expected ';' after expression\n    x = 1\n        ^\n\
                    a/b.c:3:1: warning: unused variable 'y' [-Wunused-variable]\n\
                    wasm-ld: error: /tmp/x.o: undefined symbol: sin\n\
                    clang: error: linker command failed with exit code 1\n1 error generated.\n";
        let found = messages(text);
        let shown: Vec<String> = found.iter().map(Message::to_string).collect();
        assert_eq!(
            shown,
            [
                "a/b.c:12:5: error: expected ';' after expression",
                "a/b.c:3:1: warning: unused variable 'y' [-Wunused-variable]",
                "error: /tmp/x.o: undefined symbol: sin",
            ]
        );
        assert_eq!((found[1].line, found[1].column, found[1].error), (3, 1, false));
    }

    #[cfg(unix)]
    #[test]
    fn a_room_is_never_a_folder_that_somebody_else_made() {
        use std::os::unix::fs::PermissionsExt as _;
        let outer = Room::new().expect("a folder");
        let first = Room::below(&outer.0).expect("a room");
        let mode = std::fs::metadata(&first.0).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let number = |room: &Room| -> u64 {
            let name = room.0.file_name().and_then(|n| n.to_str()).expect("a name");
            name.rsplit('-').next().and_then(|n| n.parse().ok()).expect("a number")
        };
        let taken = number(&first) + 1..number(&first) + 100;
        for n in taken.clone() {
            let name = format!("swarmyard-{}-{n}", std::process::id());
            std::fs::create_dir(outer.0.join(name)).expect("a folder of somebody else");
        }
        assert!(!taken.contains(&number(&Room::below(&outer.0).expect("a room"))));
    }
}
