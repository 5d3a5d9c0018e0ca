//! A world on its way to a worker: its texts and the code it runs, so that no file has to be there.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swarmyard_agents::{Elsewhere, Workshop};
use swarmyard_engine::{Compiled, Model, compile};
use swarmyard_formats::{Loader, OVERRIDE_SOURCE};
use swarmyard_part_api::Registry;
use swarmyard_scene::{Node, Scene, Value};
use swarmyard_sim::{ElsewhereFigures, Error, Options, Scenario, Sim, registry_with};

/// All that a worker needs to compile a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    /// (name, text); the scenario comes first.
    texts: Vec<(String, String)>,
    /// What was laid over it.
    overrides: Vec<(String, String)>,
    /// (name, bytes) of what was made of the sources of programs.
    code: Vec<(String, Vec<u8>)>,
    /// The project's folder, where native programs are started; `None` for worlds without.
    folder: Option<PathBuf>,
}

/// What native programs may do on a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Natives {
    /// Folders in which worlds with native programs may stand; `None` is anywhere.
    pub allowed: Option<Vec<PathBuf>>,
    /// How those on other hosts are started.
    pub elsewhere: Option<Elsewhere>,
}

impl Natives {
    /// What modules of robots on other hosts cost since this was last asked for.
    pub(crate) fn cost(&self) -> Vec<ElsewhereFigures> {
        self.elsewhere.as_ref().map_or_else(Vec::new, |e| ElsewhereFigures::of(e.prices.take()))
    }
}

/// Names of all classes whose code is not part of this program: it is found, made or started when a world is compiled or run.
fn code_classes() -> BTreeSet<&'static str> {
    let mut registry = Registry::new();
    let structure: BTreeSet<&str> = registry.sheets().map(|sheet| sheet.class).collect();
    swarmyard_agents::register(&mut registry, &Arc::new(Workshop::nowhere()));
    registry.sheets().map(|sheet| sheet.class).filter(|class| !structure.contains(class)).collect()
}

/// What of a scene has code: each with its path, and how many bodies are of its kind.
type Coded<'a> = BTreeMap<String, (&'a Node, usize)>;

/// Everything with a child of such a class, wherever it stands: types with all their parts and registers.
fn coded<'a>(scene: &'a Scene, classes: &BTreeSet<&str>) -> Coded<'a> {
    fn walk<'a>(node: &'a Node, path: &str, found: &mut Coded<'a>, classes: &BTreeSet<&str>) {
        let has_code = |n: &Node| classes.contains(&*n.class);
        if node.children.iter().any(has_code) {
            found.insert(path.to_owned(), (node, 0));
        }
        for child in &node.children {
            walk(child, &format!("{path}/{}", child.name), found, classes);
        }
    }
    fn count(node: &Node, found: &mut Coded<'_>) {
        if let Some(of) = node.proto.as_ref().and_then(|p| found.get_mut(&format!("/types/{}", p.name))) {
            of.1 += 1;
        }
        node.children.iter().for_each(|child| count(child, found));
    }
    let mut found = BTreeMap::new();
    walk(&scene.root, "", &mut found, classes);
    count(&scene.root, &mut found);
    found
}

/// Whether two nodes say the same, wherever they were written.
fn same(a: &Node, b: &Node) -> bool {
    let values = |n: &Node| -> Vec<(String, Value)> {
        n.params.iter().map(|(name, entry)| (name.to_owned(), entry.value.clone())).collect()
    };
    let own = |n: &Node| (n.name.clone(), n.class.clone(), n.section, n.pose);
    own(a) == own(b)
        && values(a) == values(b)
        && a.children.len() == b.children.len()
        && a.children.iter().zip(&b.children).all(|(a, b)| same(a, b))
}

/// Whether a file is just this text; no more of it is read than that takes.
fn is_text_of(path: &Path, text: &str) -> bool {
    let same = || -> std::io::Result<bool> {
        let file = std::fs::File::open(path)?;
        let meta = file.metadata()?;
        if !meta.is_file() || meta.len() != text.len() as u64 {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        file.take(text.len() as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes == text.as_bytes())
    };
    same().unwrap_or(false)
}

struct Texts<'a>(&'a [(String, String)]);

impl Loader for Texts<'_> {
    fn load(&self, name: &str) -> Result<String, String> {
        let found = self.0.iter().find(|t| t.0 == name);
        found.map(|t| t.1.clone()).ok_or_else(|| "it did not come with the world".into())
    }
}

impl Bundle {
    /// Packs a compiled world.
    #[must_use]
    pub fn of(model: &Model, overrides: &[(String, String)]) -> Bundle {
        let texts = model.sources.0.iter().filter(|s| s.name != OVERRIDE_SOURCE);
        let texts: Vec<_> = texts.map(|s| (s.name.clone(), s.text.to_string())).collect();
        let folder = texts.first().filter(|_| model.asks_outside()).map(|(name, _)| {
            let folder = Path::new(name).parent().filter(|p| !p.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf())
        });
        Bundle { texts, overrides: overrides.to_vec(), code: model.code(), folder }
    }

    /// A run of it, before its first step.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn sim(&self, threads: usize, elsewhere: Option<Elsewhere>) -> Result<Sim, Error> {
        let no_text = || Error::System("the world has no text".to_owned());
        let (name, text) = self.texts.first().ok_or_else(no_text)?;
        let registry = self.registry(elsewhere.clone());
        let options = Options { overrides: self.overrides.clone(), threads, elsewhere, ..Options::default() };
        Sim::read(name, text, &Texts(&self.texts[1..]), &registry, &options)
    }

    /// Puts it on the shelf of a run that goes over to it.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn shelve(&self, sim: &mut Sim, elsewhere: Option<Elsewhere>) -> Result<u64, Error> {
        let no_text = || Error::System("the world has no text".to_owned());
        let (name, text) = self.texts.first().ok_or_else(no_text)?;
        let (loader, registry) = (Texts(&self.texts[1..]), self.registry(elsewhere));
        let overrides = &self.overrides;
        sim.shelve_world(&Scenario { name, text, overrides, loader: &loader, registry: &registry })
    }

    fn registry(&self, elsewhere: Option<Elsewhere>) -> Registry {
        let workshop = match &self.folder {
            Some(folder) => Workshop::in_folder(folder),
            // All its code came with it: nobody's text is given to a compiler here.
            None => Workshop::with_made(self.code.clone()).closed(),
        };
        registry_with(&Arc::new(workshop.with_elsewhere(elsewhere)))
    }

    /// Compiles it, where the owner of the machine may let native programs run only in some folders. What may be started is what stands
    /// in those folders: a world that came with other texts than theirs could start anything.
    ///
    /// # Errors
    /// It has native programs and stands elsewhere, or its texts are not those of the folder; nothing of it was compiled or started
    /// then. Or it cannot be compiled.
    pub fn compile_within(&self, natives: &Natives) -> Result<Compiled, String> {
        let registry = self.registry(natives.elsewhere.clone());
        let scene = self.scene(&self.overrides, &registry)?;
        if let Some(allowed) = &natives.allowed
            && let Some(folder) = &self.folder
        {
            let shown = folder.display();
            // What links point to counts, not where they stand.
            let folder =
                folder.canonicalize().map_err(|e| format!("its folder is not here: {e}: `{shown}`"))?;
            let is_inside = |a: &PathBuf| a.canonicalize().is_ok_and(|a| folder.starts_with(a));
            if !allowed.iter().any(is_inside) {
                return Err(format!(
                    "this machine's owner does not let programs of this folder run; they can allow it with `swarmyard host --allow`: `{shown}`"
                ));
            }
            self.stands_in(&folder)?;
            self.keeps_programs(&scene, &registry)?;
        }
        let compiled = compile(&scene, &registry).map_err(|problems| render(&scene.sources, &problems))?;
        if natives.allowed.is_some() && self.folder.is_none() && compiled.model.asks_outside() {
            return Err("the world has native programs and does not say in which folder".to_owned());
        }
        Ok(compiled)
    }

    /// Whether the programs of a scene of this world are those of its texts alone: what was laid over them may change everything but what
    /// is found, made and started, and of that there may not be more. It is not asked which keys were set: a parameter can
    /// stand for the name of a program.
    fn keeps_programs(&self, scene: &Scene, registry: &Registry) -> Result<(), String> {
        if self.overrides.is_empty() {
            return Ok(());
        }
        let (plain, classes) = (self.scene(&[], registry)?, code_classes());
        let (before, after) = (coded(&plain, &classes), coded(scene, &classes));
        let differs = |(path, (node, bodies)): &(&String, &(&Node, usize))| {
            before.get(*path).is_none_or(|(was, were)| !same(was, node) || bodies > were)
        };
        let Some((path, (_, bodies))) = after.iter().find(differs) else { return Ok(()) };
        let keys: Vec<&str> = self.overrides.iter().map(|(key, _)| key.as_str()).collect();
        Err(format!(
            "of a world with native programs nothing can be set that changes what has code or has more of it run: with `{}` set, `{path}` ({bodies} of it) is not as in the file here; write it into the scenario",
            keys.join("`, `")
        ))
    }

    /// Whether all its texts are those of a folder of this machine.
    fn stands_in(&self, folder: &Path) -> Result<(), String> {
        for (k, (name, text)) in self.texts.iter().enumerate() {
            let name = Path::new(name);
            // The scenario is named as its user wrote it, what it takes in by its place below it.
            let place = if k == 0 { name.file_name().map(Path::new) } else { Some(name) };
            let here =
                place.and_then(|p| folder.join(p).canonicalize().ok()).filter(|p| p.starts_with(folder));
            if !here.is_some_and(|path| is_text_of(&path, text)) {
                return Err(format!(
                    "a world with native programs must be the same file here as where the run was started; it is not, or not there: `{}`",
                    place.unwrap_or(name).display()
                ));
            }
        }
        Ok(())
    }

    /// What it means with something laid over it; nothing is compiled or looked for.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn scene(&self, overrides: &[(String, String)], registry: &Registry) -> Result<Scene, String> {
        let (name, text) = self.texts.first().ok_or("the world has no text")?;
        let loaded = swarmyard_formats::read(name, text, overrides, &Texts(&self.texts[1..]), registry);
        loaded.map(|l| l.scene).map_err(|failed| render(&failed.sources, &failed.problems))
    }
}

fn render(sources: &swarmyard_base::Sources, problems: &swarmyard_base::Diagnostics) -> String {
    let all: Vec<String> = problems.0.iter().map(|d| sources.render(d)).collect();
    all.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: &str = r#"format = 1
[type.bot]
radius = 0.1
[[type.bot.part]]
name = "drive"
class = "diff-drive"
[[type.bot.register]]
part = "drive"
channel = "left"
at = 0x20
[type.bot.controller]
class = "process"
code = 'int main(void) { return 0; }'
[[robot]]
name = "r"
type = "bot"
"#;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("swarmyard-bundle-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        folder.canonicalize().expect("a folder")
    }

    fn bundle(folder: &Path, text: &str, overrides: &[(&str, &str)]) -> Bundle {
        let overrides = overrides.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let name = folder.join("world.toml").display().to_string();
        Bundle {
            texts: vec![(name, text.to_owned())],
            overrides,
            code: Vec::new(),
            folder: Some(folder.to_path_buf()),
        }
    }

    #[test]
    fn an_owner_allows_the_programs_of_a_folder_and_not_those_that_come_in_its_name() {
        let here = folder("forged");
        std::fs::write(here.join("world.toml"), WORLD).expect("a file");
        let natives = Natives { allowed: Some(vec![here.clone()]), elsewhere: None };
        let forged = WORLD.replace("return 0;", "return 1;");
        let why = |bundle: Bundle| bundle.stands_in(&here).err();
        assert_eq!(why(bundle(&here, WORLD, &[])), None);
        let told = bundle(&here, &forged, &[]).compile_within(&natives).err().expect("a refusal");
        assert!(told.contains("must be the same file") && told.contains("`world.toml`"), "{told}");
        // Nor by a text more.
        let mut more = bundle(&here, WORLD, &[]);
        more.texts.push(("../parts.toml".to_owned(), String::new()));
        std::fs::write(here.with_file_name("parts.toml"), "").expect("a file");
        assert!(why(more).is_some_and(|t| t.contains("parts.toml")));
        let _ = std::fs::remove_file(here.with_file_name("parts.toml"));
        let _ = std::fs::remove_dir_all(&here);
    }
    /// What is laid over the right text of an owner's folder: why it is refused, if it is. Nothing is compiled.
    fn laid_over(text: &str, overrides: &[(&str, &str)]) -> Option<String> {
        let bundle = bundle(Path::new("/nowhere"), text, overrides);
        let registry = bundle.registry(None);
        let scene = bundle.scene(&bundle.overrides, &registry).expect("a scene");
        bundle.keeps_programs(&scene, &registry).err()
    }

    #[test]
    fn what_is_laid_over_an_allowed_world_changes_no_program_and_starts_no_more_of_them() {
        let row = "name = \"r\"\ncount = COUNT\nlayout = { class = \"row\", step = [1, 0] }\n";
        let world = WORLD
            .replace("code = 'int main(void) { return 0; }'", "source = SOURCE\narguments = [\"-x\"]")
            .replace("name = \"r\"\n", row);
        let plain = world.replace("SOURCE", "\"good.sh\"").replace("COUNT", "2");
        let named = world.replace("SOURCE", "\"${what}.sh\"").replace("COUNT", "\"${n}\"");
        let named = named.replace("format = 1\n", "format = 1\n[params]\nwhat = \"good\"\nn = 2\n");
        for (world, harmless) in [
            (&plain, &[("run.seed", "3"), ("run.duration", "7s")][..]),
            (&plain, &[("robot.r.at", "[1, 2, 0]")]),
            (&plain, &[("type.bot.controller.source", "\"good.sh\"")]),
            (&named, &[("params.n", "1")]),
        ] {
            assert_eq!(laid_over(world, harmless), None, "{harmless:?}");
        }
        let program = "{ class = \"process\", code = 'int main(void) { }' }";
        let other =
            "{ radius = 0.1, controller = { class = \"program\", code = '#include \"/etc/hostname\"' } }";
        for (world, evil) in [
            // A list of harmless sections had `params` in it.
            (&named, &[("run.seed", "3"), ("params.what", "evil")][..]),
            (&named, &[("params.n", "3")]),
            (&plain, &[("robot.r.count", "3")]),
            (&plain, &[("type.bot.controller.arguments", "[\"-c\", \"evil\"]")]),
            (&plain, &[("type.bot.controller.source", "\"evil.sh\"")]),
            (&plain, &[("type.bot.controller", program)]),
            // What a program includes is made of the registers.
            (&plain, &[("type.bot.register.0.at", "64")]),
            (&plain, &[("type.other", other)]),
        ] {
            let told = laid_over(world, evil).unwrap_or_else(|| panic!("{evil:?} was taken"));
            assert!(told.contains("`/types/"), "{evil:?}: {told}");
        }
    }

    #[test]
    fn a_world_that_says_it_has_no_programs_gives_a_host_nothing_to_compile() {
        let natives = Natives { allowed: Some(Vec::new()), elsewhere: None };
        let sandboxed = WORLD.replace("class = \"process\"", "class = \"program\"");
        for text in [WORLD, &sandboxed] {
            let text = text.replace("int main(void) { return 0; }", "#include \"/etc/hostname\"");
            let liar = Bundle { folder: None, ..bundle(Path::new("/nowhere"), &text, &[]) };
            let told = liar.compile_within(&natives).err().expect("a refusal");
            assert!(told.contains("did not come with the world"), "{told}");
        }
    }
}
