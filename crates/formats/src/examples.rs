//! The examples of sheets as whole scenarios, and entries for tools that test this crate.

use crate::{Limits, Loader, NoFiles, blocks, read, read_within};
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

/// Reads anything as a part file, as a part's and as a robot's; for fuzzing. It must never panic, and
/// what can be read must be written back to the byte.
pub fn fuzz_read_blocks(data: &[u8]) {
    struct Same<'t>(&'t str);
    impl Loader for Same<'_> {
        fn load(&self, _name: &str) -> Result<String, String> {
            Ok(self.0.to_owned())
        }
    }
    let text = String::from_utf8_lossy(data);
    if let Ok(file) = blocks::parse("fuzz.part", &text) {
        assert_eq!(file.to_string(), text, "a part file is written back as it was");
        for entry in file.entries() {
            let _ = blocks::set(&text, &format!("{}.Name", entry.key()), "2 m");
        }
    }
    let scenario = "format = 1\n[type.a]\nfile = \"a.robot\"\n[type.b]\nradius = 1\n\
                    [[type.b.part]]\nname = \"p\"\nfile = \"b.part\"\n";
    let _ = read_within(Limits::SMALL, ("fuzz.toml", scenario), &[], &Same(&text), &Registry::new());
}
