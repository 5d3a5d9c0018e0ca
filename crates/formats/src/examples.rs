//! The examples of sheets as whole scenarios, and entries for tools that test this crate.

use crate::{Limits, NoFiles, read, read_within};
use swarmyard_part_api::{Kind, Registry, Sheet};

/// A complete scenario around the example of a sheet.
///
/// Examples of structure and layouts are whole pieces. Those of parts and controllers are sections
/// of a type called `demo`, which is added, with a robot of that type. A sheet without an example
/// gets the shortest use of it.
#[must_use]
pub fn example_scenario(sheet: &Sheet) -> String {
    let example = sheet.example.trim();
    match sheet.kind {
        Kind::Structure | Kind::Layout => format!("format = 1\n\n{example}\n"),
        Kind::Sensor | Kind::Actuator | Kind::Controller => {
            let shortest = if sheet.kind == Kind::Controller {
                format!("[type.demo.controller]\nclass = \"{}\"", sheet.class)
            } else {
                format!("[[type.demo.part]]\nname = \"{0}\"\nclass = \"{0}\"", sheet.class)
            };
            let example = if example.is_empty() { &shortest } else { example };
            format!("format = 1\n\n[type.demo]\nradius = 0.1\n\n{example}\n\n[[robot]]\ntype = \"demo\"\n")
        }
    }
}

/// Reads the example of every sheet of a registry; answers what went wrong, one text per sheet.
#[must_use]
pub fn check_examples(registry: &Registry) -> Vec<String> {
    registry
        .sheets()
        .filter_map(|sheet| {
            let text = example_scenario(sheet);
            let name = format!("example of {}", sheet.class);
            let failed = read(&name, &text, &[], &NoFiles, registry).err()?;
            Some(format!("{failed}\n{text}"))
        })
        .collect()
}

/// Reads anything; for fuzzing. It must never panic, and take time in proportion to the data.
pub fn fuzz_read(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = read_within(Limits::SMALL, ("fuzz.toml", &text), &[], &NoFiles, &Registry::new());
}
