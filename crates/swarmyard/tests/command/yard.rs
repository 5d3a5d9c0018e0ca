//! A folder of its own for each test, and the command to run in it.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Two robots that drive at each other and a wall between; one assertion each way.
pub(crate) const DUEL: &str = r#"format = 1
title = "Duel"

[run]
duration = "5s"
seed = 3

[world]
min = [-3, -3]
max = [3, 3]

[type.cart]
radius = 0.1

[[type.cart.part]]
name = "drive"
class = "diff-drive"
slip = 0.02

[type.cart.controller]
class = "cruise"

[[robot]]
name = "a"
type = "cart"
at = [-1, 0]

[[robot]]
name = "b"
type = "cart"
at = [1, 0, "180deg"]

[[assert]]
name = "they meet"
that = "contacts > 0"
holds = "sometime"
"#;

/// A robot that waits for commands.
pub(crate) const WAITING: &str = r#"format = 1
[type.cart]
radius = 0.1
[[type.cart.part]]
name = "drive"
class = "diff-drive"
[type.cart.controller]
class = "external"
wait = true
[[robot]]
name = "r"
type = "cart"
"#;

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// The exit code must be this one.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Done {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Standard output as one JSON object with that schema.
    #[track_caller]
    pub(crate) fn json(&self, schema: &str) -> Value {
        let value: Value = serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:#?}"));
        assert_eq!(value["schema"], schema, "{self:#?}");
        value
    }

    /// Standard output as JSON lines.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
    }
}

impl From<Output> for Done {
    fn from(o: Output) -> Done {
        let text = |b: Vec<u8>| String::from_utf8(b).unwrap();
        Done { code: o.status.code(), out: text(o.stdout), err: text(o.stderr) }
    }
}

/// A folder that is removed at the end.
pub(crate) struct Yard(PathBuf);

impl Yard {
    /// An empty folder; the name must be the test's own.
    pub(crate) fn new(name: &str) -> Yard {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Yard(folder)
    }

    /// A folder with `duel.toml` in it.
    pub(crate) fn with_duel(name: &str) -> Yard {
        let yard = Yard::new(name);
        yard.write("duel.toml", DUEL);
        yard
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command with these words, not started yet.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_swarmyard"));
        command.args(words.split_whitespace()).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// Runs the command.
    pub(crate) fn run(&self, words: &str) -> Done {
        self.command(words).output().unwrap().into()
    }

    /// Names of the files in the folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
