//! The build for aarch64, run by qemu.
//!
//! It starts processes of itself (a host starts workers), so the kernel must know what to do with such a program. That is
//! told to `binfmt_misc` of a namespace that each command here has for itself; other processes never see it.

use std::path::Path;
use std::process::{Command, Stdio};

/// What programs for aarch64 begin with, and which of its bits count.
const MAGIC: &str = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00";
const MASK: &str = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff";

/// Tells the kernel (`$1`) and becomes the program that follows.
const BECOME: &str = r#"
set -eu
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
printf %s "$1" > /proc/sys/fs/binfmt_misc/register
shift
exec "$@"
"#;

/// A program for aarch64, and how the kernel is told to run it.
pub(super) struct Emulated {
    registration: String,
    program: String,
}

impl Emulated {
    /// Tries it, too: kernels before 6.7 have one `binfmt_misc` for everybody, and that is left alone.
    pub(super) fn new(qemu: &Path, program: &Path) -> Result<Emulated, String> {
        let qemu = qemu.display().to_string();
        if qemu.contains(':') {
            return Err(format!("the kernel does not take a path with a colon in it: `{qemu}`"));
        }
        let registration = format!(":swarmyard-aarch64:M::{MAGIC}:{MASK}:{qemu}:F");
        let emulated = Emulated { registration, program: program.display().to_string() };
        let tried = emulated.command().arg("--version").stdout(Stdio::null()).status();
        match tried {
            Ok(status) if status.success() => Ok(emulated),
            Ok(status) => Err(format!(
                "`{}` cannot be run by qemu ({status}); this needs Linux 6.7 or newer, and the right to make user namespaces",
                emulated.program
            )),
            Err(e) => Err(format!("cannot run `unshare`: {e}")),
        }
    }

    /// The start of a command line; whoever kills it kills the program itself.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", BECOME, "sh"]);
        command.args([&self.registration, &self.program]);
        command
    }
}
