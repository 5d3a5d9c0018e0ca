//! Classes by name and kind.

use crate::{Class, Kind, Sheet, structure};
use std::collections::BTreeMap;
use swarmyard_base::Diagnostic;

/// Every class that can be put into a world.
///
/// Classes of different kinds may share a name, since they never stand in the same place: `random` is a layout
/// and a network.
pub struct Registry {
    /// By name; those of one name in the order of their kinds.
    classes: BTreeMap<&'static str, Vec<Class>>,
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
    /// When the name is taken within its kind: that is a mistake in the program, not in a scenario.
    pub fn add(&mut self, class: Class) {
        let same = self.classes.entry(class.sheet.class).or_default();
        let taken = same.iter().any(|c| c.sheet.kind == class.sheet.kind);
        assert!(!taken, "class `{}` is registered twice", class.sheet.class);
        same.push(class);
        same.sort_by_key(|c| c.sheet.kind);
    }

    /// The class of that name; the one of the first [`Kind`] when several kinds have it. Where the kind is
    /// known, ask [`Registry::of_kind`].
    #[must_use]
    pub fn get(&self, class: &str) -> Option<&Class> {
        self.classes.get(class)?.first()
    }

    /// The sheet of the class of that name, chosen as [`Registry::get`] does.
    #[must_use]
    pub fn sheet(&self, class: &str) -> Option<&Sheet> {
        self.get(class).map(|c| &c.sheet)
    }

    /// All sheets in the order of their names.
    pub fn sheets(&self) -> impl Iterator<Item = &Sheet> + Clone {
        self.classes.values().flatten().map(|c| &c.sheet)
    }

    /// The class of that name, which must be of one of these kinds; or a diagnostic with the nearest
    /// name of those kinds.
    ///
    /// # Errors
    /// When there is no such class, or it is of another kind.
    pub fn of_kind(&self, class: &str, kinds: &[Kind]) -> Result<&Class, Diagnostic> {
        let words: Vec<&str> = kinds.iter().map(|k| k.word()).collect();
        let same = self.classes.get(class).map_or(&[][..], |c| c);
        if let Some(found) = same.iter().find(|c| kinds.contains(&c.sheet.kind)) {
            return Ok(found);
        }
        match same.first() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_may_have_the_name_of_a_layout_and_each_is_found_in_its_place() {
        let mut registry = Registry::new();
        registry.add(Class { sheet: Sheet::new("random", Kind::Network, "A network."), build: None });
        assert_eq!(registry.of_kind("random", &[Kind::Network]).unwrap().sheet.kind, Kind::Network);
        assert_eq!(registry.of_kind("random", &[Kind::Layout]).unwrap().sheet.kind, Kind::Layout);
        assert_eq!(registry.sheet("random").unwrap().kind, Kind::Layout);
        assert_eq!(registry.sheets().filter(|s| s.class == "random").count(), 2);
        assert!(registry.of_kind("random", &[Kind::Sensor]).is_err());
    }

    #[test]
    #[should_panic(expected = "registered twice")]
    fn two_classes_of_one_name_and_kind_are_refused() {
        let mut registry = Registry::new();
        registry.add(Class { sheet: Sheet::new("random", Kind::Layout, "Another."), build: None });
    }
}
