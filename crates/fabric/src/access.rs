//! Who may do what: the access file, and what its words mean.
//!
//! In: TOML that names members, as their certificates do, and gives each its roles:
//!
//! ```toml
//! [members]
//! alpha = ["worker"]
//! "desk.lab" = ["display", "console"]
//! ```
//!
//! Out: which keys each of them may put, hear, ask, answer, live under and watch. Who is not in the file may do nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml_edit::{Document, Item};

/// The longest access file that is read, in bytes.
const MOST: u64 = 1 << 20;

/// What a member is to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Lends its machine, and works on runs: may do everything under `swarm/`.
    Worker,
    /// Looks: may ask hosts what they lend and workers what they have done, and nothing else.
    Display,
    /// Looks, and asks hosts for everything.
    Console,
    /// Has modules, controllers or part models on hosts: may ask these to start programs that their owners allow, and for nothing
    /// else.
    Module,
}

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Sends something under it.
    Put,
    /// Listens to it.
    Hear,
    /// Asks something under it.
    Ask,
    /// Answers questions under it.
    Answer,
    /// Is alive under it.
    Live,
    /// Watches who is alive under it.
    Watch,
}

impl Verb {
    /// All of them.
    pub const ALL: [Verb; 6] = [Verb::Put, Verb::Hear, Verb::Ask, Verb::Answer, Verb::Live, Verb::Watch];
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 4] = [Role::Worker, Role::Display, Role::Console, Role::Module];

    /// Its word in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Role::Worker => "worker",
            Role::Display => "display",
            Role::Console => "console",
            Role::Module => "module",
        }
    }

    /// The patterns of keys with which it may do this.
    #[must_use]
    pub fn may(self, verb: Verb) -> &'static [&'static str] {
        use Verb::{Answer, Ask, Hear, Live, Put, Watch};
        const INFO: &str = "swarm/host/*/info";
        const FIGURES: &str = "swarm/run/*/workers/figures/*";
        match (self, verb) {
            (Role::Worker, _) => &["swarm/**"],
            (_, Watch) => &["swarm/run/*/live/**", "swarm/host/*/live"],
            (_, Hear | Put | Answer) => &[],
            (Role::Display, Ask) => &[INFO, FIGURES],
            (Role::Console, Ask) => &["swarm/host/**", FIGURES],
            (Role::Module, Ask) => &[INFO, "swarm/host/*/open", "swarm/host/*/pipe/**"],
            (Role::Display, Live) => &[],
            // Whoever has a program on a host shows that it is still there.
            (Role::Console | Role::Module, Live) => &["swarm/host/*/pipe/*/sister"],
        }
    }
}

/// What is wrong with an access file. Nobody has got any rights from it.
#[derive(Debug, Error)]
pub enum AccessError {
    /// It cannot be read.
    #[error("the access file cannot be read: {source}: `{path}`")]
    Unreadable {
        /// Where it should be.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It does not say what it should.
    #[error("line {line} of the access file: {what}")]
    Wrong {
        /// Counted from 1.
        line: usize,
        /// What is wrong there, and what would be right.
        what: String,
    },
}

/// Who may do what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    members: BTreeMap<String, Vec<Role>>,
}

impl Access {
    /// Reads an access file.
    ///
    /// # Errors
    /// The file is not there, is too long, or says something that is no access.
    pub fn load(path: &Path) -> Result<Access, AccessError> {
        let unreadable = |source| AccessError::Unreadable { path: path.to_owned(), source };
        let length = std::fs::metadata(path).map_err(unreadable)?.len();
        if length > MOST {
            let what = format!("it has {length} bytes; at most {MOST} are read");
            return Err(AccessError::Wrong { line: 1, what });
        }
        Access::parse(&std::fs::read_to_string(path).map_err(unreadable)?)
    }

    /// Reads the text of an access file.
    ///
    /// # Errors
    /// The first thing in it that is no access.
    pub fn parse(text: &str) -> Result<Access, AccessError> {
        let wrong = |at: Option<std::ops::Range<usize>>, what: String| {
            let before = &text[..at.map_or(0, |r| r.start).min(text.len())];
            AccessError::Wrong { line: before.matches('\n').count() + 1, what }
        };
        let document =
            Document::parse(text).map_err(|e| wrong(e.span(), format!("no TOML: {}", e.message())))?;
        if let Some((key, item)) = document.iter().find(|(key, _)| *key != "members") {
            let what = format!("`{key}` means nothing here; the only table is [members]");
            return Err(wrong(item.span(), what));
        }
        let Some(members) = document.get("members").and_then(Item::as_table_like) else {
            return Err(wrong(None, "there is no table [members]".into()));
        };
        let mut access = Access::default();
        for (name, item) in members.iter() {
            let roles = roles(name, item).map_err(|what| wrong(item.span(), what))?;
            access.members.insert(name.to_owned(), roles);
        }
        Ok(access)
    }

    /// Everyone in the file, with their roles.
    #[must_use]
    pub fn members(&self) -> &BTreeMap<String, Vec<Role>> {
        &self.members
    }

    /// Whether a member may do this with keys of this pattern.
    #[must_use]
    pub fn allows(&self, name: &str, verb: Verb, key: &str) -> bool {
        let roles = self.members.get(name).map_or(&[][..], Vec::as_slice);
        roles.iter().flat_map(|r| r.may(verb)).any(|pattern| crate::key::matches(pattern, key))
    }
}

/// The roles of one member.
fn roles(name: &str, item: &Item) -> Result<Vec<Role>, String> {
    check_name(name)?;
    let known = || Role::ALL.map(Role::word).join(", ");
    let Some(list) = item.as_array() else {
        return Err(format!("`{name}` must be a list of roles, such as [\"worker\"]; roles are {}", known()));
    };
    let mut roles = Vec::new();
    for value in list {
        let word = value.as_str().unwrap_or_default();
        let Some(role) = Role::ALL.into_iter().find(|r| r.word() == word) else {
            let shown = value.to_string();
            return Err(format!("`{name}` has the unknown role {}; roles are {}", shown.trim(), known()));
        };
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    Ok(roles)
}

/// Says whether a text can be the name of a member: it stands in certificates, in file names and in keys.
///
/// # Errors
/// What is wrong with it.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) || name.starts_with(['.', '-']) {
        let shown: String = name.chars().take(80).collect();
        return Err(format!(
            "`{shown}` is no name of a member: 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_who_may_do_what() {
        let text = "# ours\n[members]\nalpha = [\"worker\"]\n\"desk.lab\" = [\"display\", \"console\"]\nnobody = []\n";
        let access = Access::parse(text).expect("an access file");
        assert_eq!(access.members().len(), 3);
        let (work, info) = ("swarm/run/7/workers/q/0/1", "swarm/host/alpha/info");
        assert!(access.allows("alpha", Verb::Put, work) && access.allows("alpha", Verb::Answer, info));
        assert!(access.allows("desk.lab", Verb::Ask, info) && !access.allows("desk.lab", Verb::Answer, info));
        assert!(!access.allows("desk.lab", Verb::Hear, work) && !access.allows("desk.lab", Verb::Put, work));
        assert!(access.allows("desk.lab", Verb::Ask, "swarm/host/alpha/start"));
        for verb in Verb::ALL {
            assert!(!access.allows("nobody", verb, info) && !access.allows("stranger", verb, info));
        }
    }

    /// What is asked of hosts and workers, and by whom.
    #[test]
    fn a_display_looks_and_a_module_starts_programs_and_neither_does_more() {
        let text = "[members]\nlooks = [\"display\"]\nstarts = [\"module\"]\n";
        let access = Access::parse(text).expect("an access file");
        for (key, looks, starts) in [
            ("swarm/host/alpha/info", true, true),
            ("swarm/run/7/workers/figures/0", true, false),
            ("swarm/host/alpha/open", false, true),
            ("swarm/host/alpha/pipe/00ff/in", false, true),
            ("swarm/host/alpha/start", false, false),
            ("swarm/host/alpha/stop", false, false),
            ("swarm/run/7/workers/near/0", false, false),
            ("swarm/run/7/workers/keep/0", false, false),
            ("swarm/run/7/workers/lane/0/1", false, false),
        ] {
            let may = |who| access.allows(who, Verb::Ask, key);
            assert_eq!((may("looks"), may("starts")), (looks, starts), "{key}");
            for (who, verb) in ["looks", "starts"]
                .iter()
                .flat_map(|w| [Verb::Put, Verb::Hear, Verb::Answer].map(|verb| (*w, verb)))
            {
                assert!(!access.allows(who, verb, key), "{who} {verb:?} {key}");
            }
        }
        let sister = "swarm/host/alpha/pipe/00ff/sister";
        assert!(access.allows("starts", Verb::Live, sister) && !access.allows("looks", Verb::Live, sister));
        assert!(!access.allows("starts", Verb::Live, "swarm/run/7/live/0"));
    }

    #[test]
    fn every_mistake_is_reported_with_its_line() {
        for (text, line, word) in [
            ("[members]\nalpha = [\"worker\"]\nbeta = [\"displai\"]", 3, "unknown role \"displai\""),
            ("[members]\nalpha = \"worker\"", 2, "must be a list"),
            ("[members]\nalpha = [1]", 2, "unknown role 1"),
            ("[members]\n\n\"a b\" = [\"worker\"]", 3, "no name"),
            ("[members]\n\"../x\" = [\"worker\"]", 2, "no name"),
            ("[members]\n\n[extra]\nx = 1", 3, "only table is [members]"),
            ("", 1, "no table [members]"),
            ("[members]\nalpha = [", 2, "no TOML"),
        ] {
            let error = Access::parse(text).expect_err(text);
            assert!(matches!(error, AccessError::Wrong { line: l, .. } if l == line), "{text}: {error}");
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Access::load(Path::new("/no/such/access.toml")).expect_err("it is not there");
        assert!(error.to_string().contains("`/no/such/access.toml`"), "{error}");
    }

    #[test]
    fn what_a_role_may_do_are_patterns() {
        for role in Role::ALL {
            for pattern in Verb::ALL.iter().flat_map(|v| role.may(*v)) {
                assert!(crate::key::check_pattern(pattern).is_ok(), "{pattern}");
            }
        }
    }
}
