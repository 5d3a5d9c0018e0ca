//! The files of a project, and nothing else.
//!
//! In: paths as displays name them. Out: texts, and lists of what there is. No path leads out of the
//! project's folder: not by `..`, not by a link, not by being absolute; hidden files are not there.

use crate::answer::Refusal;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use swarmyard_agents::fresh;

/// The file that marks the folder of a project.
const MARK: &str = "swarmyard.project";
/// Most bytes of a text that is read or written.
pub(crate) const MOST_TEXT: u64 = 1 << 20;
/// Most files in one list.
const MOST_FILES: usize = 2000;
/// What may be written, by the ends of names.
const WRITABLE: [&str; 8] = ["c", "h", "cpp", "toml", "part", "robot", "py", "pl"];

/// The folder of a project.
pub(crate) struct Project {
    root: PathBuf,
}

impl Project {
    /// The project that a scenario belongs to: the nearest folder above it with the mark, or its own.
    pub(crate) fn of(scenario: Option<&Path>) -> std::io::Result<Project> {
        let here = || std::env::current_dir();
        let folder = match scenario {
            None => here()?,
            Some(file) => match fs::canonicalize(file) {
                Ok(file) => file.parent().map_or_else(here, |p| Ok(p.to_owned()))?,
                // It is not there; the message about that comes when it is opened.
                Err(_) => here()?,
            },
        };
        let folder = fs::canonicalize(folder)?;
        let marked = folder.ancestors().find(|f| f.join(MARK).is_file()).map(Path::to_owned);
        Ok(Project { root: marked.unwrap_or(folder) })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// How a file is called in the project.
    pub(crate) fn name_of(&self, file: &Path) -> Option<String> {
        let file = fs::canonicalize(file).ok()?;
        Some(file.strip_prefix(&self.root).ok()?.to_str()?.to_owned())
    }

    /// The path of something that exists.
    pub(crate) fn existing(&self, path: &str) -> Result<PathBuf, Refusal> {
        let joined = self.joined(path)?;
        let real = fs::canonicalize(joined).map_err(|e| refuse_io(path, &e))?;
        if !real.starts_with(&self.root) {
            return Err(outside(path));
        }
        Ok(real)
    }

    /// The path of something that may be there or not, in a folder that is.
    fn writable(&self, path: &str) -> Result<PathBuf, Refusal> {
        let joined = self.joined(path)?;
        let end = joined.extension().and_then(|e| e.to_str()).unwrap_or("");
        if !WRITABLE.contains(&end) {
            let what = format!("files like `{path}` are not written");
            return Err(
                Refusal::new("not-writable", what).help(format!("these are: .{}", WRITABLE.join(", .")))
            );
        }
        let folder = joined.parent().unwrap_or(&self.root);
        let folder = fs::canonicalize(folder).map_err(|e| refuse_io(path, &e))?;
        let target = folder.join(joined.file_name().unwrap_or_default());
        if !folder.starts_with(&self.root) {
            return Err(outside(path));
        }
        // A link is followed by whoever reads, so it must not lead out either.
        match fs::symlink_metadata(&target) {
            Ok(about) if about.is_symlink() => self.existing(path),
            Ok(about) if !about.is_file() => Err(Refusal::new("not-a-file", format!("`{path}` is no file"))),
            _ => Ok(target),
        }
    }

    /// A path below the root, as it is written.
    fn joined(&self, path: &str) -> Result<PathBuf, Refusal> {
        if path.contains(['\0', '\\']) {
            return Err(Refusal::new("bad-path", "a path holds no NUL and no backslash"));
        }
        for part in Path::new(path).components() {
            match part {
                Component::Normal(name) if name.to_str().is_some_and(|n| !n.starts_with('.')) => {}
                Component::Normal(_) => {
                    return Err(Refusal::new("bad-path", format!("`{path}`: hidden files are left alone")));
                }
                _ => return Err(outside(path)),
            }
        }
        Ok(self.root.join(path))
    }

    /// The text of a file.
    pub(crate) fn read(&self, path: &str) -> Result<String, Refusal> {
        let real = self.existing(path)?;
        let about = fs::metadata(&real).map_err(|e| refuse_io(path, &e))?;
        if !about.is_file() {
            return Err(Refusal::new("not-a-file", format!("`{path}` is no file")));
        }
        if about.len() > MOST_TEXT {
            let what = format!("`{path}` has {} bytes; at most {MOST_TEXT} are read", about.len());
            return Err(Refusal::new("too-big", what));
        }
        let bytes = fs::read(&real).map_err(|e| refuse_io(path, &e))?;
        String::from_utf8(bytes).map_err(|_| Refusal::new("not-text", format!("`{path}` is no text")))
    }

    /// Writes a file: a new one is renamed over the old one, so nobody ever reads half of it. The new one has a name that nothing had
    /// before, so nothing is written through a link that somebody else put there.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<(), Refusal> {
        if text.len() as u64 > MOST_TEXT {
            let what = format!("a file is written with at most {MOST_TEXT} bytes, not {}", text.len());
            return Err(Refusal::new("too-big", what));
        }
        let target = self.writable(path)?;
        let name = target.file_name().and_then(|n| n.to_str()).unwrap_or("file");
        let folder = target.parent().unwrap_or(&self.root);
        let made = fresh::make(folder, &format!(".{name}"), |path| fs::File::create_new(path));
        let (beside, mut file) = made.map_err(|e| refuse_io(path, &e))?;
        let mut put = || {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            if let Ok(old) = fs::metadata(&target) {
                file.set_permissions(old.permissions())?;
            }
            fs::rename(&beside, &target)
        };
        put().map_err(|e| {
            let _ = fs::remove_file(&beside);
            refuse_io(path, &e)
        })
    }

    /// What is in a folder.
    pub(crate) fn list(&self, folder: &str) -> Result<Value, Refusal> {
        let real = self.existing(folder)?;
        let entries = fs::read_dir(&real).map_err(|e| refuse_io(folder, &e))?;
        let mut files: Vec<(String, &str)> = Vec::new();
        for entry in entries.flatten().take(MOST_FILES * 4) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{}/{name}", folder.trim_end_matches('/'))
            };
            // What cannot be opened is not listed.
            let Ok(target) = self.existing(&path) else { continue };
            if let Some(kind) = kind(&target) {
                files.push((path, kind));
            }
        }
        files.sort();
        files.truncate(MOST_FILES);
        let files: Vec<Value> =
            files.iter().map(|(path, kind)| json!({ "path": path, "kind": kind })).collect();
        Ok(json!({ "files": files }))
    }

    /// The scenarios in `worlds`, each with its title and the first paragraph of its comment.
    pub(crate) fn worlds(&self) -> Value {
        let listed = self.list("worlds").ok();
        let files = listed.as_ref().and_then(|l| l["files"].as_array()).into_iter().flatten();
        let scenarios = files.filter(|f| f["kind"] == "scenario").filter_map(|f| f["path"].as_str());
        let worlds = scenarios.filter_map(|path| {
            let (title, about) = about(&self.read(path).ok()?);
            Some(json!({ "path": path, "title": title.as_deref().unwrap_or(path), "about": about }))
        });
        json!({ "worlds": worlds.collect::<Vec<_>>() })
    }
}

fn outside(path: &str) -> Refusal {
    Refusal::new("outside", format!("`{path}` leads out of the project"))
        .help("paths are relative to the project's folder")
}

fn refuse_io(path: &str, e: &std::io::Error) -> Refusal {
    let code = if e.kind() == std::io::ErrorKind::NotFound { "no-file" } else { "file" };
    Refusal::new(code, format!("`{path}`: {e}"))
}

fn kind(path: &Path) -> Option<&'static str> {
    if path.is_dir() {
        return Some("folder");
    }
    match path.extension()?.to_str()? {
        "toml" | "config" => Some("scenario"),
        "part" | "robot" => Some("part"),
        "c" | "h" | "cpp" | "py" | "pl" => Some("source"),
        "mcap" => Some("recording"),
        _ => None,
    }
}

/// Title and first paragraph of the comment that a scenario begins with.
fn about(text: &str) -> (Option<String>, String) {
    let comment = text.lines().take_while(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#').trim());
    let paragraph: Vec<&str> = comment.skip_while(|l| l.is_empty()).take_while(|l| !l.is_empty()).collect();
    let head = text.lines().map(str::trim).take_while(|l| !l.starts_with('['));
    let title = head.filter_map(|l| l.strip_prefix("title")?.trim_start().strip_prefix('=')).next();
    let title = title.map(str::trim).and_then(|t| match t.strip_prefix('\'') {
        Some(literal) => literal.split('\'').next().map(str::to_owned),
        // A basic string of one line is written as JSON writes it; a comment may follow.
        None => serde_json::Deserializer::from_str(t).into_iter::<String>().next()?.ok(),
    });
    (title, paragraph.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project in a folder of its own, gone with the test; beside it lies a secret.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> (Place, Project) {
            let folder = std::env::temp_dir().join(format!("swarmyard-files-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(folder.join("project/sub")).unwrap();
            fs::write(folder.join("secret.toml"), "secret").unwrap();
            fs::write(folder.join("project").join(MARK), "").unwrap();
            fs::write(folder.join("project/a.toml"), "# About.\n\n# More.\ntitle = \"A\" # x\n").unwrap();
            fs::write(folder.join("project/.hidden.toml"), "hidden").unwrap();
            let project = Project::of(Some(&folder.join("project/a.toml"))).unwrap();
            (Place(folder), project)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn no_path_leads_out_of_the_project() {
        let (place, project) = Place::new("out");
        std::os::unix::fs::symlink(place.0.join("secret.toml"), place.0.join("project/link.toml")).unwrap();
        std::os::unix::fs::symlink(&place.0, place.0.join("project/up")).unwrap();
        let secret = place.0.join("secret.toml");
        let absolute = secret.to_str().unwrap();
        for path in [
            "../secret.toml",
            "sub/../../secret.toml",
            absolute,
            "link.toml",
            "up/secret.toml",
            "%2e%2e/secret.toml",
            "..%2fsecret.toml",
            "a.toml\0",
            "..\\secret.toml",
            ".hidden.toml",
            "sub/../.hidden.toml",
            "~/secret.toml",
            "./../secret.toml",
        ] {
            assert!(project.read(path).is_err(), "{path:?} was read");
            assert!(project.write(path, "x").is_err(), "{path:?} was written");
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        let listed = project.list("").unwrap().to_string();
        assert!(!listed.contains("secret") && !listed.contains("link") && !listed.contains("up"), "{listed}");
        assert!(project.list("..").is_err() && project.list("up").is_err());
    }

    #[test]
    fn only_texts_of_a_project_are_written() {
        let (place, project) = Place::new("write");
        for path in ["sub/new.c", "a.toml", "sub/x.py"] {
            project.write(path, "text").unwrap();
            assert_eq!(project.read(path).unwrap(), "text");
        }
        for path in ["sub", "x.sh", "x", "swarmyard.project", "nowhere/x.c", "", "sub/"] {
            assert!(project.write(path, "text").is_err(), "{path}");
        }
        assert_eq!(project.write("big.c", &"x".repeat(1 + MOST_TEXT as usize)).unwrap_err().code, "too-big");
        let left = fs::read_dir(place.0.join("project/sub")).unwrap().count();
        assert_eq!(left, 2, "nothing half-written is left");
    }

    #[test]
    fn nothing_is_written_through_a_link_that_was_put_where_a_file_is_made() {
        let (place, project) = Place::new("planted");
        let (secret, id) = (place.0.join("secret.toml"), std::process::id());
        let names = (0..100).map(|n| format!(".a.toml-{id}-{n}")).chain([format!(".a.toml.{id}")]);
        let links: Vec<PathBuf> = names.map(|name| place.0.join("project").join(name)).collect();
        links.iter().for_each(|link| std::os::unix::fs::symlink(&secret, link).unwrap());
        project.write("a.toml", "text").unwrap();
        assert_eq!(project.read("a.toml").unwrap(), "text");
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        assert!(links.iter().all(|link| link.is_symlink()), "what somebody else put there stays");
        let entries = fs::read_dir(place.0.join("project")).unwrap().count();
        assert_eq!(entries, links.len() + 4, "nothing half-written is left");
    }

    #[test]
    fn a_file_that_is_too_big_or_no_text_is_not_read() {
        let (place, project) = Place::new("read");
        fs::write(place.0.join("project/big.toml"), vec![b' '; 1 + MOST_TEXT as usize]).unwrap();
        fs::write(place.0.join("project/bytes.toml"), [0xff, 0xfe]).unwrap();
        assert_eq!(project.read("big.toml").unwrap_err().code, "too-big");
        assert_eq!(project.read("bytes.toml").unwrap_err().code, "not-text");
        assert_eq!(project.read("nothing.toml").unwrap_err().code, "no-file");
        assert_eq!(project.read("sub").unwrap_err().code, "not-a-file");
    }

    #[test]
    fn a_scenario_says_what_it_is_about() {
        let (_place, project) = Place::new("about");
        assert_eq!(about(&project.read("a.toml").unwrap()), (Some("A".into()), "About.".into()));
        assert_eq!(about("title = 'B'\n[x]\ntitle = \"C\"\n"), (Some("B".into()), String::new()));
        assert_eq!(about("#\n# One\n# two.\n#\n# Three\n"), (None, "One two.".into()));
    }
}
