//! Generated documents say what the sheets say. `cargo xtask manual` rewrites them.

use std::path::{Path, PathBuf};
use swarmyard::part_api::Kind;
use swarmyard::{formats, standard_registry};

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

fn agrees(name: &str, wanted: &str) {
    let path = docs(name);
    if std::env::var_os("SWARMYARD_BLESS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/{name} is not what the sheets say: run `cargo xtask manual`");
}

#[test]
fn the_reference_manual_is_generated_from_the_sheets() {
    agrees("reference.md", &formats::manual(&standard_registry()));
}

#[test]
fn the_schema_is_generated_from_the_sheets() {
    let schema = formats::schema(&standard_registry());
    assert!(serde_json::from_str::<serde_json::Value>(&schema).is_ok());
    agrees("scenario.schema.json", &schema);
}

#[test]
fn every_sheet_has_a_summary_an_example_and_documented_parameters() {
    for sheet in standard_registry().sheets() {
        assert!(sheet.summary.len() > 20 && !sheet.example.is_empty(), "{}", sheet.class);
        for param in &sheet.params {
            assert!(!param.summary.is_empty(), "{}.{}", sheet.class, param.name);
        }
        // Protocols, algorithms and networks have none: they work alike at every level.
        let part = matches!(sheet.kind, Kind::Sensor | Kind::Actuator | Kind::Controller);
        assert!(!part || !sheet.levels.is_empty(), "{} has no level of detail", sheet.class);
    }
    assert_eq!(formats::check_examples(&standard_registry()), Vec::<String>::new());
}

#[test]
fn examples_are_a_path_of_short_steps_that_the_guide_knows() {
    let guide = std::fs::read_to_string(docs("guide.md")).unwrap();
    let folder = std::fs::read_dir(docs("../crates/swarmyard/examples")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 5);
    for (k, file) in files.iter().enumerate() {
        let (number, name) = (format!("{:02}", k + 1), file.file_name().unwrap().to_str().unwrap());
        let text = std::fs::read_to_string(file).unwrap();
        assert!(name.starts_with(&number) && guide.contains(&format!("`{number}`")), "{name}");
        assert!(text.lines().count() < 60 && text.contains("//! ```text"), "{name}");
        assert!(text.contains(&format!("--example {}`", name.trim_end_matches(".rs"))), "{name}");
    }
}

#[test]
fn the_example_of_new_hardware_is_the_file_that_runs() {
    let code = std::fs::read_to_string(docs("../examples/parts/proximity.c")).unwrap();
    let text = std::fs::read_to_string(docs("new-hardware.md")).unwrap();
    assert!(text.contains(code.trim()), "docs/new-hardware.md does not show examples/parts/proximity.c");
}
