//! Formatting, editing by program, and the readings of sheets.

use crate::common::{Folder, registry};
use swarmyard_formats::{describe, describe_list, format, manual, read, schema, set};
use swarmyard_scene::Node;

#[test]
fn formatting_is_canonical() {
    let messy = "# head\n\n\n\nformat=1\n[ run ]   # how\n  seed   =  3#three\n\n\n  # why\n  quantum=\"1s\"\n[[ wall ]]\npoints=[[0,0] ,[ 1,0 ]]\n# two\n[ surface . ice ]\nfriction=1\n[[wall]]\npoints = [\n[0,1],   # first\n      # alone\n [1,1]\n  ]\n[[robot]]\nlayout={class=\"row\",step=[1,0]}\ntype=\"a\"\n\n# end\n\n";
    let tidy = "# head\n\nformat = 1\n\n[run] # how\nseed = 3 #three\n\n# why\nquantum = \"1s\"\n\n[[wall]]\npoints = [[0, 0], [1, 0]]\n\n# two\n[surface.ice]\nfriction = 1\n\n[[wall]]\npoints = [\n    [0, 1], # first\n    # alone\n    [1, 1],\n]\n\n[[robot]]\nlayout = { class = \"row\", step = [1, 0] }\ntype = \"a\"\n\n# end\n";
    assert_eq!(format("t.toml", messy).expect("formats"), tidy);
    assert_eq!(format("t.toml", tidy).expect("formats"), tidy);
    assert_eq!(format("t.toml", &messy.replace('\n', "\r\n")).expect("formats"), tidy);
}

#[test]
fn formatting_keeps_the_order_of_dotted_keys() {
    let text = "# one\nrun.seed = 1\n# two\nworld.min = [0, 0]\n# three\nrun.gravity = 2\n";
    assert_eq!(format("t.toml", text).expect("formats"), text);
    let text = "[run]\nx = 1\n\n[type.a]\nradius = 1\n\n[[type.a.part]]\nname = \"b\"\n\n[type.b]\nradius = 1\n\n[[type.a.part]]\nname = \"c\"\n\n[type]\n";
    assert_eq!(format("t.toml", text).expect("formats"), text);
}

#[test]
fn good_scenarios_are_formatted_already() {
    for (name, text) in Folder::of_tests("good").files("toml") {
        assert_eq!(format(&name, &text).expect("formats"), text, "{name}");
    }
}

/// The tree without places.
fn shown(node: &Node) -> String {
    let params: Vec<String> = node.params.iter().map(|(k, e)| std::format!("{k}={:?}", e.value)).collect();
    let children: Vec<String> = node.children.iter().map(shown).collect();
    std::format!("{}:{}{:?}{params:?}{children:?}", node.name, node.class, node.pose)
}

#[test]
fn formatting_keeps_the_meaning() {
    let folder = Folder::of_tests("good");
    for (name, text) in folder.files("toml") {
        let squeezed = text.replace(" = ", "=").replace(", ", ",").replace("\n\n", "\n\n\n\n");
        let tidy = format(&name, &squeezed).expect("formats");
        let scene =
            |text: &str| read(&name, text, &[], &folder, &registry()).unwrap_or_else(|e| panic!("{e}")).scene;
        assert_eq!(shown(&scene(&text).root), shown(&scene(&tidy).root));
    }
}

#[test]
fn a_text_that_is_not_toml_is_not_formatted() {
    let failed = format("t.toml", "a = \n").expect_err("no value");
    assert_eq!(failed.problems.0[0].code, "syntax");
}

const SMALL: &str = "format = 1 # version\n\n[run] # how\nseed   = 3   # lucky\n\n[type.a]\nradius = 0.1\n\n[[type.a.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[robot]]\ntype = \"a\"\nlayout = { class = \"row\" }\n# the end\n";

#[track_caller]
fn sets(path: &str, value: &str, old: &str, new: &str) {
    assert!(SMALL.contains(old));
    assert_eq!(set(SMALL, path, value).unwrap_or_else(|e| panic!("{e}")), SMALL.replacen(old, new, 1));
}

#[test]
fn setting_a_value_changes_nothing_else() {
    sets("run.seed", "44", "seed   = 3 ", "seed   = 44 ");
    sets("type.a.radius", "20cm", "radius = 0.1", "radius = \"20cm\"");
    sets("type.a.part.drive.class", "rays", "\"diff-drive\"", "\"rays\"");
    sets("type.a.part.0.name", "\"motor\"", "\"drive\"", "\"motor\"");
    sets("robot.0.layout.class", "grid", "\"row\"", "\"grid\"");
    sets("format", "2", "format = 1", "format = 2");
}

#[test]
fn setting_a_new_key_adds_a_line_to_its_section() {
    sets("run.duration", "5s", "# lucky\n", "# lucky\nduration = \"5s\"\n");
    sets("type.a.part.drive.max_speed", "2", "\"diff-drive\"\n", "\"diff-drive\"\nmax_speed = 2\n");
    sets("type.a.mass", "2kg", "radius = 0.1\n", "radius = 0.1\nmass = \"2kg\"\n");
    sets("robot.0.layout.step", "[1, 0]", "\"row\" }", "\"row\", step = [1, 0] }");
    sets("title", "Hi", "# version\n", "# version\ntitle = \"Hi\"\n");
    sets("record.rate", "5Hz", "# the end\n", "# the end\n\n[record]\nrate = \"5Hz\"\n");
    assert_eq!(set("", "format", "1").expect("sets"), "format = 1\n");
}

#[test]
fn setting_in_a_place_that_is_not_there_is_an_error() {
    for path in
        ["type.b.radius", "type.a.part.drvie.class", "run", "type.a.part", "", "run.seed.x", "robot.7.type"]
    {
        let failed = set(SMALL, path, "1").expect_err(path);
        assert_eq!(failed.problems.0[0].code, "bad-override", "{path}");
    }
}

#[test]
fn a_sheet_is_described_with_all_it_says() {
    let registry = registry();
    let text = describe(registry.sheet("diff-drive").expect("a sheet"));
    for part in
        ["diff-drive (actuator)", "max_speed", "[m/s]", "0 to 100", "default 1", "wheels[2]", "80cm/s"]
    {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let list = describe_list(&registry);
    assert!(list.starts_with("structure\n") && list.contains("\ncontroller\n  follow"), "{list}");
}

#[test]
fn manual_and_schema_name_every_parameter() {
    let registry = registry();
    let (manual, schema) = (manual(&registry), schema(&registry));
    for sheet in registry.sheets() {
        assert!(manual.contains(&std::format!("### `{}`", sheet.class)));
        for param in &sheet.params {
            assert!(manual.contains(&std::format!("| `{}` |", param.name)), "{}", param.name);
            assert!(schema.contains(&std::format!("\"{}\":", param.name)), "{}", param.name);
        }
    }
    let read: serde_json::Value = serde_json::from_str(&schema).expect("the schema is JSON");
    assert!(read["$schema"].as_str().is_some_and(|s| s.contains("draft-07")));
    assert!(schema.matches('{').count() > 100);
}
