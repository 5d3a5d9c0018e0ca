//! One table against one sheet.

use super::Meaning;
use crate::convert::{self, convert};
use crate::tree::{Tree, shortened};
use std::borrow::Cow;
use swarmyard_base::{Diagnostic, Diagnostics};
use swarmyard_part_api::{ParamType, Sheet};
use swarmyard_scene::Params;

impl<'a> Meaning<'_, 'a> {
    /// The sheet of a class of the registry.
    pub(super) fn sheet(&self, class: &str) -> Option<&'a Sheet> {
        self.context.registry.sheet(class)
    }

    /// Reads a table against a sheet: unknown keys, types, units, ranges, missing keys, defaults.
    ///
    /// Keys in `others` belong to the caller; so do tables of a class inside the table.
    pub(super) fn read(&mut self, sheet: &Sheet, table: &Tree, path: &str, others: &[&str]) -> Params {
        let mut params = Params::default();
        let mut failed: Vec<&str> = Vec::new();
        for (key, value) in table.table().unwrap_or_default() {
            let name = key.text.as_str();
            if others.contains(&name) {
                continue;
            }
            let Some(param) = sheet.find(name) else {
                let what = format!("`{}` is not a key of `{}`", shortened(name), sheet.class);
                let valid = sheet.params.iter().map(|p| p.name).chain(others.iter().copied());
                let d = Diagnostic::error("unknown-key", what).at(Some(key.span)).on(path);
                self.context.report(d.suggest(name, valid));
                continue;
            };
            if let ParamType::Inline(_) = param.ty {
                continue;
            }
            match convert(name, value, &param.ty) {
                Ok(converted) => {
                    params.set(name, converted, Some(value.span));
                    self.check_reference(param.ty, value, path);
                }
                Err(d) => {
                    failed.push(param.name);
                    let d = if d.help.is_none() { d.help(param.summary) } else { d };
                    self.context.report(d.on(path));
                }
            }
        }
        // A key whose value was refused is not missing: leave it out of what the sheet demands.
        let mut sheet = Cow::Borrowed(sheet);
        if !failed.is_empty() {
            sheet.to_mut().params.retain(|p| !failed.contains(&p.name));
        }
        let mut problems = Diagnostics::default();
        sheet.complete(&mut params, path, Some(table.span), &mut problems);
        problems.0.into_iter().for_each(|d| self.context.report(d));
        params
    }

    /// Whether a named surface or type exists. Parts are looked up when the type is built.
    fn check_reference(&mut self, ty: ParamType, value: &Tree, path: &str) {
        let ParamType::Name(what) = ty else { return };
        let Some(name) = value.text() else { return };
        let known: Vec<&str>;
        let code = match what {
            "surface" if !self.surfaces.contains_key(name) => {
                known = self.surfaces.keys().map(String::as_str).take(1000).collect();
                "unknown-surface"
            }
            "type" if !self.types.contains_key(name) => {
                known = self.types.keys().map(String::as_str).take(1000).collect();
                "unknown-type"
            }
            _ => return,
        };
        let mut d = Diagnostic::error(code, format!("there is no {what} `{}`", shortened(name)));
        // Comparing names is slow, and past the limit nobody sees the suggestion.
        if !self.context.is_full() {
            d = d.at(Some(value.span)).on(path).suggest(name, known.iter().copied());
        }
        if known.is_empty() {
            d = d.help(format!("add a section `[{what}.{}]`", shortened(name)));
        }
        self.context.report(d);
    }

    /// The table inside a table that chooses a class of its own, as its sheet and parameters.
    pub(super) fn read_inline(&mut self, table: &Tree, key: &str, path: &str) -> Option<(&'a Sheet, Params)> {
        let sheet_of = |sheet: &Sheet| sheet.find(key).map(|p| p.ty);
        let ParamType::Inline(kind) = self.sheet("robot").and_then(sheet_of)? else { return None };
        let value = table.get(key)?;
        if value.table().is_none() {
            self.context.report(convert::wrong_type(key, value, &ParamType::Inline(kind).words()).on(path));
            return None;
        }
        let sheet = self.class_of(value, key, &[kind], path)?;
        let params = self.read(sheet, value, path, &["class"]);
        Some((sheet, params))
    }
}
