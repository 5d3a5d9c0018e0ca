//! The examples of sheets as whole scenarios, and entries for tools that test this crate.

use crate::document::document_within;
use crate::{
    Change, Document, Limits, Loader, NoFiles, apply, blocks, fragment, outline, paste, read, read_within,
};
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
        Kind::Network => {
            let shortest = format!("[network]\nclass = \"{}\"", sheet.class);
            let example = if example.is_empty() { &shortest } else { example };
            format!("format = 1\n\n{example}\n")
        }
        Kind::Sensor | Kind::Actuator | Kind::Controller | Kind::Protocol | Kind::Algorithm => {
            let word = sheet.kind.word();
            let shortest = match sheet.kind {
                Kind::Controller | Kind::Algorithm => {
                    format!("[type.demo.{word}]\nclass = \"{}\"", sheet.class)
                }
                Kind::Protocol => {
                    format!("[[type.demo.protocol]]\nname = \"{0}\"\nclass = \"{0}\"", sheet.class)
                }
                _ => format!("[[type.demo.part]]\nname = \"{0}\"\nclass = \"{0}\"", sheet.class),
            };
            let example = if example.is_empty() { &shortest } else { example };
            // Who talks needs somebody who carries it.
            let talks =
                matches!(sheet.kind, Kind::Protocol | Kind::Algorithm) && !example.contains("[network]");
            let network = if talks { "[network]\nclass = \"constant\"\n\n" } else { "" };
            format!(
                "format = 1\n\n{network}[type.demo]\nradius = 0.1\n\n{example}\n\n[[robot]]\ntype = \"demo\"\n"
            )
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

/// Edits anything; for fuzzing. The first byte says how many changes follow, eight bytes each; the rest is
/// the text. Nothing may panic, and what an edit answers must be TOML.
pub fn fuzz_edits(data: &[u8]) {
    let Some((count, rest)) = data.split_first() else { return };
    let (wanted, text) = rest.split_at((usize::from(count % 9) * 8).min(rest.len()));
    let text = String::from_utf8_lossy(text);
    let read = document_within(Limits::SMALL, ("fuzz.toml", &text), &NoFiles, &Registry::new());
    let Ok(document) = read.or_else(|_| outline("fuzz.toml", &text)) else { return };
    let changes: Vec<Change> = wanted.chunks_exact(8).map(|bytes| change_of(&document, bytes)).collect();
    let batches = changes.iter().map(std::slice::from_ref).chain([&changes[..]]);
    let still_toml = |text: &str| {
        assert!(outline("edited.toml", text).is_ok(), "an edit answers TOML:\n{text}");
    };
    for batch in batches {
        if let Ok(edited) = apply(&document, batch) {
            still_toml(&edited.text);
        }
    }
    let keys: Vec<String> = document.entries.iter().map(|e| e.key.clone()).skip(1).take(8).collect();
    for keys in keys.iter().map(std::slice::from_ref).chain([&keys[..]]) {
        let Ok(piece) = fragment(&document, keys) else { continue };
        still_toml(&piece);
        if let Ok(edited) = paste(&document, &piece, [0.5, -0.25]) {
            still_toml(&edited.text);
        }
    }
}

/// A change made of eight bytes.
fn change_of(document: &Document, bytes: &[u8]) -> Change {
    let pick = |k: usize, n: usize| usize::from(bytes[k]) % n.max(1);
    let entries = &document.entries;
    let entry = &entries[pick(1, entries.len())];
    let own = entry.fields.get(pick(2, entry.fields.len() + 1)).map(|f| f.name.as_str());
    let key = own.unwrap_or(["name", "at", "layout.class", "", "ä b"][pick(3, 5)]).to_owned();
    let value = ["1", "[1, 2]", "\"x\"", "a b", "{ a = 1 }", "]", "", "25cm"][pick(4, 8)].to_owned();
    let name = ["x", "r1", "a.b", "", "ä", "n2"][pick(5, 6)].to_owned();
    let section = ["robot", "wall", "type", "part", "controller", "use", "surface", "run"][pick(6, 8)];
    let by = f64::from(bytes[7]) - 128.0;
    let at = || entry.key.clone();
    match bytes[0] % 9 {
        0 => Change::Set { entry: at(), key, value },
        1 => Change::Unset { entry: at(), key },
        2 => Change::Add {
            section: section.into(),
            name: (bytes[7] > 99).then_some(name),
            fields: vec![(key, value)],
            under: (bytes[3] > 128).then(at),
        },
        3 => Change::Copy { entry: at(), name: (bytes[7] > 99).then_some(name), fields: vec![(key, value)] },
        4 => Change::Remove { entry: at() },
        5 => Change::Rename { entry: at(), name },
        6 => Change::Split { entry: at() },
        7 => Change::Move { entries: vec![at()], by: [by / 3.0, 0.0] },
        _ => Change::Turn { entries: vec![at()], by, about: (bytes[3] > 128).then_some([by, 1.0]) },
    }
}
