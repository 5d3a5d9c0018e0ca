//! `init` and `doctor`.

use crate::yard::Yard;

#[test]
fn a_new_project_checks_runs_and_is_formatted() {
    let yard = Yard::new("init");
    let done = yard.run("init my-project").exits(0);
    assert!(done.out.contains("swarmyard run my-project/scenario.toml"), "{}", done.out);
    assert!(yard.read("my-project/scenario.toml").starts_with("#:schema ./swarmyard.schema.json\n"));
    let schema = yard.read("my-project/swarmyard.schema.json");
    assert!(serde_json::from_str::<serde_json::Value>(&schema).is_ok());
    yard.run("check my-project/scenario.toml").exits(0);
    yard.run("fmt --check my-project/scenario.toml").exits(0);
    let done = yard.run("run my-project/scenario.toml").exits(0);
    assert!(done.out.contains("2 of 2 met"), "{}", done.out);
    yard.run("replay scenario.mcap --verify").exits(0);
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let yard = Yard::with_duel("init-full");
    assert!(yard.run("init .").exits(1).err.contains("not empty"));
    assert_eq!(yard.files(), ["duel.toml"]);
}

/// What hosts match by is a module; what people read is its text.
#[test]
fn the_program_of_the_self_test_is_what_its_text_comes_to() {
    let text = include_str!("../../src/cli/doctor/self-test.wat");
    let module = include_bytes!("../../src/cli/doctor/self-test.wasm");
    assert!(wat::parse_str(text).expect("a module") == module);
}

/// With `SWARMYARD_BLESS` set, the present hash of the self-test becomes the one it should have.
#[test]
fn the_doctor_finds_this_build_in_order() {
    let yard = Yard::new("doctor");
    if std::env::var_os("SWARMYARD_BLESS").is_some() {
        let value = yard.run("doctor --json").json("swarmyard-doctor/1");
        let hash = value["self_test"]["hash"].as_str().unwrap();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cli/doctor/self-test.hash");
        std::fs::write(file, format!("{hash}\n")).unwrap();
        return;
    }
    assert!(yard.run("doctor").exits(0).out.contains("as it should be"));
    let value = yard.run("doctor --json").exits(0).json("swarmyard-doctor/1");
    assert_eq!((value["self_test"]["ok"].as_bool(), value["writable"].as_bool()), (Some(true), Some(true)));
    assert_eq!(yard.files(), [""; 0]);
}
