//! Classes by name.

use crate::{Class, Kind, Sheet, structure};
use std::collections::BTreeMap;
use swarmyard_base::Diagnostic;

/// Every class that can be put into a world.
pub struct Registry {
    classes: BTreeMap<&'static str, Class>,
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::new()
    }
}

impl Registry {
    /// The classes of the scenario's own structure (world, walls, robots, layouts), and no parts.
    #[must_use]
    pub fn new() -> Registry {
        let mut registry = Registry { classes: BTreeMap::new() };
        for sheet in structure::sheets() {
            registry.add(Class { sheet, build: None });
        }
        registry
    }

    /// Registers a class.
    ///
    /// # Panics
    /// When the name is taken: two parts of one name are a mistake in the program, not in a scenario.
    pub fn add(&mut self, class: Class) {
        let name = class.sheet.class;
        assert!(self.classes.insert(name, class).is_none(), "class `{name}` is registered twice");
    }

    /// The class of that name.
    #[must_use]
    pub fn get(&self, class: &str) -> Option<&Class> {
        self.classes.get(class)
    }

    /// The sheet of the class of that name.
    #[must_use]
    pub fn sheet(&self, class: &str) -> Option<&Sheet> {
        self.get(class).map(|c| &c.sheet)
    }

    /// All sheets in the order of their names.
    pub fn sheets(&self) -> impl Iterator<Item = &Sheet> + Clone {
        self.classes.values().map(|c| &c.sheet)
    }

    /// The class of that name, which must be of one of these kinds; or a diagnostic with the nearest
    /// name of those kinds.
    ///
    /// # Errors
    /// When there is no such class, or it is of another kind.
    pub fn of_kind(&self, class: &str, kinds: &[Kind]) -> Result<&Class, Diagnostic> {
        let words: Vec<&str> = kinds.iter().map(|k| k.word()).collect();
        match self.get(class) {
            Some(found) if kinds.contains(&found.sheet.kind) => Ok(found),
            Some(found) => Err(Diagnostic::error(
                "wrong-class",
                format!("`{class}` is a {}, not a {}", found.sheet.kind.word(), words.join(" or ")),
            )),
            None => {
                let valid = self.sheets().filter(|s| kinds.contains(&s.kind)).map(|s| s.class);
                Err(Diagnostic::error(
                    "unknown-class",
                    format!("there is no {} class `{class}`", words.join(" or ")),
                )
                .suggest(class, valid))
            }
        }
    }
}
