//! The golden hashes of all worlds, and what a build of the command makes of them.

use crate::root;
use std::process::{Command, Stdio};

/// One line of `goldens.txt`.
pub(crate) struct Golden {
    /// The world; `name+key=value` is a world with something laid over it.
    pub(crate) name: String,
    /// How far it goes.
    pub(crate) quanta: String,
    /// Its hash there, in hexadecimal digits.
    pub(crate) hash: String,
}

impl Golden {
    /// All of them; at least one.
    pub(crate) fn all() -> Result<Vec<Golden>, String> {
        let file = root().join("crates/conformance/goldens.txt");
        let text = std::fs::read_to_string(file).map_err(|e| format!("cannot read the goldens: {e}"))?;
        let lines = text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty());
        let goldens: Vec<Golden> = lines.map(Golden::of).collect::<Result<_, _>>()?;
        if goldens.is_empty() { Err("there are no goldens".to_owned()) } else { Ok(goldens) }
    }

    fn of(line: &str) -> Result<Golden, String> {
        let [name, quanta, hash] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err(format!("cannot read the golden `{line}`"));
        };
        let [name, quanta, hash] = [name, quanta, hash].map(str::to_owned);
        Ok(Golden { name, quanta, hash })
    }

    /// Where its scenario is.
    fn world(&self) -> String {
        format!("worlds/{}.toml", self.name.split('+').next().unwrap_or(&self.name))
    }

    /// Whether some of its robots are driven by programs outside of the sandbox.
    pub(crate) fn has_native_programs(&self) -> bool {
        std::fs::read_to_string(root().join(self.world()))
            .is_ok_and(|text| text.contains("class = \"process\""))
    }

    /// What is wrong with the hash that this command comes to, told where it runs.
    pub(crate) fn compare(&self, command: &mut Command, more: &[&str], place: &str) -> Result<(), String> {
        let found = self.hash_by(command, more)?;
        let Golden { name, quanta, hash } = self;
        if found == *hash {
            return Ok(());
        }
        Err(format!("`{name}` after {quanta} quanta has `{found}` {place}, golden `{hash}`"))
    }

    /// The hash that this command comes to, with more words behind the others: it is the start of a command line, up to the name of the
    /// program. When it comes to none, what it says.
    pub(crate) fn hash_by(&self, command: &mut Command, more: &[&str]) -> Result<String, String> {
        let (world, pieces) = (self.world(), self.name.split('+').skip(1));
        let out = command
            .args(["run", &world, "--until", &format!("tick:{}", self.quanta)])
            .args(pieces.flat_map(|piece| ["--set", piece]))
            .args(["--no-record", "-q"])
            .args(more)
            .current_dir(root())
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("cannot run {command:?}: {e}"))?;
        // Worlds that are stopped early do not meet their assertions, so an exit code of failure says nothing here.
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let hash = text(&out.stdout);
        if hash.is_empty() { Err(text(&out.stderr)) } else { Ok(hash) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_a_golden_and_others_are_refused_by_their_words() {
        assert!(Golden::all().is_ok_and(|all| all.iter().any(|g| g.name.contains('+'))));
        let native = Golden::all().unwrap_or_default().into_iter().filter(Golden::has_native_programs);
        assert_eq!(native.map(|g| g.name).collect::<Vec<_>>(), ["prolog", "python", "python-help"]);
        let refused = Golden::of("arm 200").err();
        assert_eq!(refused.as_deref(), Some("cannot read the golden `arm 200`"));
    }

    #[test]
    fn a_hash_counts_whatever_the_exit_code_and_without_one_there_is_what_was_said() {
        let golden = Golden::of("arm 200 00ff").unwrap_or_else(|why| panic!("{why}"));
        let mut fails = Command::new("sh");
        fails.args(["-c", "echo no such world >&2; exit 3", "sh"]);
        assert_eq!(golden.hash_by(&mut fails, &[]), Err("no such world".to_owned()));
        let mut unmet = Command::new("sh");
        unmet.args(["-c", "echo 00ff; echo assertion not met >&2; exit 3", "sh"]);
        assert_eq!(golden.hash_by(&mut unmet, &[]), Ok("00ff".to_owned()));
        let mut goes = Command::new("sh");
        goes.args(["-c", "echo \"$@\"", "sh"]);
        let words = "run worlds/arm.toml --until tick:200 --no-record -q --workers 2";
        assert_eq!(golden.hash_by(&mut goes, &["--workers", "2"]), Ok(words.to_owned()));
    }
}
