//! Changes of a document: what each does to the text, to the byte.

use crate::common::{Folder, registry};
use swarmyard_formats::{
    Change, Document, Entry, NoFiles, apply, document, fragment, outline, paste, read, sheets_json,
};

const YARD: &str = r#"# A yard.
format = 1
title = "Yard" # short

[run]
seed = 3

[world]
min = [-50, -50]
max = [50, 50]

[record]
topics = ["/robots/a", "/robots/a/eye", "/robots/ab"]

[surface.ice]
friction = 0.1

# Scouts see.
[type.scout]
radius = "12cm" # about a hand
surface = "ice"

[[type.scout.part]]
name = "drive"
class = "diff-drive"

# It looks ahead.
[[type.scout.part]]
name = "eye"
class = "rays"

[type.scout.controller]
class = "follow"
drive = "drive"

# The first wall
# has two lines.
[[wall]]
points = [[0, 1.5], [25, "1m"]] # in the east

[[robot]]
name = "a"
type = "scout"
at = [1, 2, "90deg"]

# The second robot.
[[robot]]
name = "ab"
type = "scout"
at = [
    3.25, # east
    -2,
]

[[robot]]
name = "g"
type = "scout"
count = 3
at = [10, 10, 1.5]
layout = { class = "row", step = [2, 0] }

# About everybody.

[[obstacle]]
radius = 0.5
at = [0, -9]

[[assert]]
name = "a stays"
that = "/robots/a.x < 5 && distance(/robots/a, /robots/ab) > 0 && /robots/a/eye.range[0] > 0"

[[assert]]
that = "all(self/eye.range[0] >= 0) && /robots/g2.x > 0 && /robots/ab.y < 9"
# the end
"#;

#[track_caller]
fn doc(text: &str) -> Document {
    document("yard.toml", text, &NoFiles, &registry()).unwrap_or_else(|e| panic!("{e}"))
}

/// The text after changes, which must be a scenario still.
#[track_caller]
fn after(text: &str, changes: &[Change]) -> String {
    let edited = apply(&doc(text), changes).unwrap_or_else(|e| panic!("{e}")).text;
    read("yard.toml", &edited, &[], &NoFiles, &registry()).unwrap_or_else(|e| panic!("{e}\n{edited}"));
    edited
}

/// Checks that a change replaces exactly one piece of the yard by another.
#[track_caller]
fn replaces(change: Change, old: &str, new: &str) {
    assert_eq!(YARD.matches(old).count(), 1, "the test says where: {old}");
    assert_eq!(after(YARD, std::slice::from_ref(&change)), YARD.replacen(old, new, 1));
    // The same in a text of the other newlines.
    let dos = |t: &str| t.replace('\n', "\r\n");
    assert_eq!(after(&dos(YARD), &[change]), dos(&YARD.replacen(old, new, 1)));
}

#[track_caller]
fn refused(text: &str, change: Change, says: &str) {
    let failed = apply(&doc(text), &[change]).expect_err("this should be refused");
    assert!(failed.to_string().contains(says), "{failed}");
}

fn set(entry: &str, key: &str, value: &str) -> Change {
    Change::Set { entry: entry.into(), key: key.into(), value: value.into() }
}

fn unset(entry: &str, key: &str) -> Change {
    Change::Unset { entry: entry.into(), key: key.into() }
}

fn remove(entry: &str) -> Change {
    Change::Remove { entry: entry.into() }
}

fn rename(entry: &str, name: &str) -> Change {
    Change::Rename { entry: entry.into(), name: name.into() }
}

fn add(section: &str, name: Option<&str>, fields: &[(&str, &str)], under: Option<&str>) -> Change {
    Change::Add {
        section: section.into(),
        name: name.map(str::to_owned),
        fields: fields.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        under: under.map(str::to_owned),
    }
}

fn copy(entry: &str, name: Option<&str>, fields: &[(&str, &str)]) -> Change {
    let fields = fields.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Change::Copy { entry: entry.into(), name: name.map(str::to_owned), fields }
}

fn shift(entries: &[&str], by: [f64; 2]) -> Change {
    Change::Move { entries: entries.iter().map(|e| (*e).to_owned()).collect(), by }
}

fn turn(entries: &[&str], by: f64, about: Option<[f64; 2]>) -> Change {
    Change::Turn { entries: entries.iter().map(|e| (*e).to_owned()).collect(), by, about }
}

#[test]
fn a_document_lists_what_can_be_edited_in_the_order_of_the_text() {
    let yard = doc(YARD);
    let keys: Vec<&str> = yard.entries.iter().map(|e| e.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "scenario",
            "run",
            "world",
            "record",
            "surface.ice",
            "type.scout",
            "type.scout.part[0]",
            "type.scout.part[1]",
            "type.scout.controller",
            "wall[0]",
            "robot[0]",
            "robot[1]",
            "robot[2]",
            "obstacle[0]",
            "assert[0]",
            "assert[1]"
        ]
    );
    let entry = |key: &str| yard.entry(key).expect("an entry");
    let eye = entry("type.scout.part[1]");
    assert_eq!(
        (eye.section.as_str(), eye.class.as_str(), eye.name.as_deref()),
        ("part", "rays", Some("eye"))
    );
    assert_eq!((eye.paths[0].path.as_str(), eye.line, eye.count), ("/types/scout/eye", 28, 1));
    let group = entry("robot[2]");
    assert_eq!((group.count, group.class.as_str()), (3, "robot"));
    assert_eq!(group.paths[1].path, "/robots/g2");
    let [x, y, heading] = group.paths[1].pose.expect("it stands somewhere");
    assert!(
        (x - (10.0 + 2.0 * 1.5_f64.cos())).abs() < 1e-12 && (y - (10.0 + 2.0 * 1.5_f64.sin())).abs() < 1e-12
    );
    assert_eq!(heading, 1.5);
    let fields: Vec<(&str, &str, usize)> =
        group.fields.iter().map(|f| (f.name.as_str(), f.text.as_str(), f.line)).collect();
    assert_eq!(fields[0], ("name", "\"g\"", 56));
    assert_eq!(fields[4], ("layout", "{ class = \"row\", step = [2, 0] }", 60));
    assert_eq!(entry("wall[0]").paths[0].points, [[0.0, 1.5], [25.0, 1.0]]);
    assert_eq!(entry("obstacle[0]").paths[0].path, "/obstacles/obstacle1");
    let json = serde_json::to_value(&yard).expect("it can be sent");
    assert_eq!(json["entries"][10]["paths"][0]["path"], "/robots/a");
}

#[test]
fn sections_that_are_not_written_are_listed_and_can_be_set() {
    let text = "format = 1\n";
    let run = doc(text).entry("run").expect("every scenario has one").clone();
    assert_eq!((run.line, run.paths[0].path.as_str()), (0, "/run"));
    assert_eq!(
        after(text, &[set("run", "seed", "4"), set("run", "duration", "5s")]),
        "format = 1\n\n[run]\nseed = 4\nduration = \"5s\"\n"
    );
}

#[test]
fn setting_changes_one_value_or_adds_one_line() {
    replaces(set("run", "seed", "4"), "seed = 3", "seed = 4");
    replaces(set("scenario", "title", "Garden"), "\"Yard\"", "\"Garden\"");
    replaces(set("type.scout", "radius", "10cm"), "\"12cm\" #", "\"10cm\" #");
    replaces(set("type.scout", "mass", "2"), "surface = \"ice\"\n", "surface = \"ice\"\nmass = 2\n");
    replaces(
        set("type.scout.part[0]", "max_speed", "2m/s"),
        "\"diff-drive\"\n",
        "\"diff-drive\"\nmax_speed = \"2m/s\"\n",
    );
    replaces(set("robot[2]", "layout.step", "[0, 2]"), "step = [2, 0]", "step = [0, 2]");
    replaces(
        set("robot[2]", "layout", "{ class = \"circle\", radius = 5 }"),
        "{ class = \"row\", step = [2, 0] }",
        "{ class = \"circle\", radius = 5 }",
    );
    assert_eq!(after(YARD, &[set("run", "seed", "3")]), YARD);
    refused(YARD, set("robot[7]", "type", "scout"), "there is nothing at `robot[7]`");
}

#[test]
fn unsetting_takes_the_line_and_its_comment() {
    replaces(unset("scenario", "title"), "title = \"Yard\" # short\n", "");
    replaces(unset("robot[1]", "at"), "at = [\n    3.25, # east\n    -2,\n]\n", "");
    replaces(unset("type.scout", "surface"), "surface = \"ice\"\n", "");
}

#[test]
fn setting_a_new_key_and_unsetting_it_leaves_no_trace() {
    for (entry, key) in
        [("robot[0]", "count"), ("type.scout", "mass"), ("assert[1]", "name"), ("world", "height")]
    {
        let with = apply(&doc(YARD), &[set(entry, key, "2")]).expect("sets").text;
        let without = apply(&outline("t", &with).expect("TOML"), &[unset(entry, key)]).expect("unsets").text;
        assert_eq!(without, YARD, "{entry} {key}");
    }
    refused(YARD, unset("robot[0]", "tpye"), "did you mean `type`?");
}

#[test]
fn an_added_entry_stands_behind_the_last_of_its_kind() {
    let group = "layout = { class = \"row\", step = [2, 0] }\n";
    replaces(
        add("robot", None, &[("type", "scout"), ("at", "[1, 1]")], None),
        group,
        &format!("{group}\n[[robot]]\nname = \"r1\"\ntype = \"scout\"\nat = [1, 1]\n"),
    );
    replaces(
        add("part", None, &[("class", "rays")], Some("type.scout")),
        "class = \"rays\"\n",
        "class = \"rays\"\n\n[[type.scout.part]]\nname = \"rays\"\nclass = \"rays\"\n",
    );
    replaces(
        add("type", Some("box"), &[("radius", "1")], None),
        "drive = \"drive\"\n",
        "drive = \"drive\"\n\n[type.box]\nradius = 1\n",
    );
    replaces(
        add("beacon", None, &[("id", "4")], None),
        "# the end\n",
        "# the end\n\n[[beacon]]\nname = \"beacon1\"\nid = 4\n",
    );
    replaces(
        add("obstacle", None, &[("radius", "1"), ("at", "[9, 9]")], None),
        "at = [0, -9]\n",
        "at = [0, -9]\n\n[[obstacle]]\nname = \"obstacle2\"\nradius = 1\nat = [9, 9]\n",
    );
    refused(YARD, add("robot", Some("g2"), &[("type", "scout")], None), "the name is taken: `g2`");
    refused(YARD, add("robot", Some("a b"), &[], None), "not a name");
    refused(YARD, add("part", None, &[], None), "belongs to a type");
    refused(YARD, add("run", None, &[], None), "already");
    refused(YARD, add("rowbot", None, &[], None), "not a section");
    assert_eq!(
        apply(&outline("t", "").expect("TOML"), &[add("params", None, &[("n", "1")], None)])
            .expect("adds")
            .text,
        "[params]\nn = 1\n"
    );
}

#[test]
fn what_is_added_can_be_removed_without_a_trace() {
    for text in [
        YARD,
        "format = 1",
        "format = 1\n",
        "",
        "# only a comment",
        "format = 1  \n\n\n",
        "format=1\n[run]\nseed=1\n[world]\n",
    ] {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            for section in ["robot", "obstacle", "type", "wall", "surface", "assert", "use"] {
                let before = outline("t", &text).expect("TOML");
                let with = apply(&before, &[add(section, None, &[("k", "1")], None)]).expect("adds").text;
                let with = outline("t", &with).expect("TOML");
                let keys = |d: &Document| d.entries.iter().map(|e| e.key.clone()).collect::<Vec<_>>();
                let old = keys(&before);
                let new: Vec<String> = keys(&with).into_iter().filter(|k| !old.contains(k)).collect();
                assert_eq!(new.len(), 1, "{section}: {text}");
                assert_eq!(
                    apply(&with, &[remove(&new[0])]).expect("removes").text,
                    text,
                    "{section}: {}",
                    with.text()
                );
            }
        }
    }
}

#[test]
fn removing_takes_the_comment_above_and_all_below() {
    replaces(
        remove("robot[1]"),
        "\n# The second robot.\n[[robot]]\nname = \"ab\"\ntype = \"scout\"\nat = [\n    3.25, # east\n    -2,\n]\n",
        "",
    );
    replaces(
        remove("type.scout.part[1]"),
        "\n# It looks ahead.\n[[type.scout.part]]\nname = \"eye\"\nclass = \"rays\"\n",
        "",
    );
    let scout = &YARD[YARD.find("\n# Scouts see.").unwrap()..YARD.find("\n# The first wall").unwrap()];
    let text = apply(&doc(YARD), &[remove("type.scout")]).expect("removes").text;
    assert_eq!(text, YARD.replacen(scout, "", 1));
    let text = apply(&doc(YARD), &[remove("robot[0]"), remove("robot[1]"), remove("robot[2]")])
        .expect("removes")
        .text;
    let robots = &YARD[YARD.find("\n[[robot]]").unwrap()..YARD.find("\n# About everybody").unwrap()];
    assert_eq!(text, YARD.replacen(robots, "", 1));
    refused(YARD, remove("scenario"), "cannot be taken away");
}

#[test]
fn one_gap_stays_where_something_was_removed() {
    let gone = |text: &str, key: &str| {
        apply(&outline("t", text).expect("TOML"), &[remove(key)]).expect("removes").text
    };
    assert_eq!(gone("[run]\na = 1\n\n[world]\nb = 1\n", "run"), "[world]\nb = 1\n");
    assert_eq!(gone("[run]\na = 1\n\n[world]\nb = 1\n", "world"), "[run]\na = 1\n");
    assert_eq!(gone("[run]\na = 1\n\n[world]\n[record]\n", "world"), "[run]\na = 1\n\n[record]\n");
    assert_eq!(gone("[run]\n[world]\n[record]\n", "world"), "[run]\n[record]\n");
    assert_eq!(gone("[run]\n[world]", "world"), "[run]");
}

#[test]
fn a_copy_has_a_new_name_and_the_other_keys() {
    let group = "layout = { class = \"row\", step = [2, 0] }\n";
    replaces(
        copy("robot[1]", None, &[("at", "[7, 7]")]),
        group,
        &format!("{group}\n[[robot]]\nname = \"ab2\"\ntype = \"scout\"\nat = [7, 7]\n"),
    );
    replaces(
        copy("robot[2]", None, &[("at", "[20, 20]")]),
        group,
        &format!("{group}\n[[robot]]\nname = \"g4\"\ntype = \"scout\"\ncount = 3\nat = [20, 20]\n{group}"),
    );
    let text = after(
        YARD,
        &[
            copy("type.scout", Some("spy"), &[("radius", "1")]),
            copy("obstacle[0]", None, &[("at", "[9, 9]")]),
        ],
    );
    let spy = "[type.spy]\nradius = 1 # about a hand\nsurface = \"ice\"\n\n[[type.spy.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n# It looks ahead.\n[[type.spy.part]]\nname = \"eye\"\nclass = \"rays\"\n\n[type.spy.controller]\nclass = \"follow\"\ndrive = \"drive\"\n";
    assert!(text.contains(&format!("drive = \"drive\"\n\n{spy}\n# The first wall")), "{text}");
    assert!(text.contains("[[obstacle]]\nradius = 0.5\nat = [9, 9]\nname = \"obstacle2\"\n"), "{text}");
    refused(YARD, copy("run", None, &[]), "only one");
    refused(YARD, copy("type.scout.controller", None, &[]), "second controller");
}

#[test]
fn renaming_finds_every_reference_and_only_whole_names() {
    let renamed = after(YARD, &[rename("robot[0]", "z")]);
    let expected = YARD
        .replace("name = \"a\"", "name = \"z\"")
        .replace("\"/robots/a\"", "\"/robots/z\"")
        .replace("/robots/a/eye", "/robots/z/eye")
        .replace("/robots/a.x", "/robots/z.x")
        .replace("distance(/robots/a,", "distance(/robots/z,");
    assert_eq!(renamed, expected);
    assert_eq!(
        after(YARD, &[rename("robot[2]", "q")]),
        YARD.replace("name = \"g\"", "name = \"q\"").replace("/robots/g2", "/robots/q2")
    );
    assert_eq!(
        after(YARD, &[rename("type.scout", "spy")]),
        YARD.replace("type.scout", "type.spy").replace("type = \"scout\"", "type = \"spy\"")
    );
    assert_eq!(
        after(YARD, &[rename("surface.ice", "wet.ice")]),
        YARD.replace("[surface.ice]", "[surface.\"wet.ice\"]")
            .replace("surface = \"ice\"", "surface = \"wet.ice\"")
    );
    assert_eq!(
        after(YARD, &[rename("type.scout.part[0]", "motor"), rename("type.scout.part[1]", "lens")]),
        YARD.replace("name = \"drive\"", "name = \"motor\"")
            .replace("drive = \"drive\"", "drive = \"motor\"")
            .replace("\"eye\"", "\"lens\"")
            .replace("a/eye", "a/lens")
            .replace("self/eye", "self/lens")
    );
    assert_eq!(
        after(YARD, &[rename("obstacle[0]", "rock")]),
        YARD.replace("at = [0, -9]\n", "at = [0, -9]\nname = \"rock\"\n")
    );
    refused(YARD, rename("robot[0]", "g3"), "taken");
    refused(YARD, rename("run", "x"), "no name");
}

#[test]
fn things_move_by_their_numbers_alone() {
    replaces(shift(&["robot[0]"], [0.1, 0.2]), "[1, 2, \"90deg\"]", "[1.1, 2.2, \"90deg\"]");
    replaces(shift(&["robot[0]"], [0.0, 1.0]), "[1, 2, \"90deg\"]", "[1, 3, \"90deg\"]");
    replaces(shift(&["robot[1]"], [0.75, 0.0]), "3.25, # east", "4.0, # east");
    replaces(shift(&["wall[0]"], [0.1, -0.1]), "[[0, 1.5], [25, \"1m\"]]", "[[0.1, 1.4], [25.1, 0.9]]");
    replaces(shift(&["robot[2]"], [1e-7, 0.0]), "at = [10, 10, 1.5]", "at = [10, 10, 1.5]");
    let text = after(YARD, &[shift(&["robot[0]", "robot[2]", "obstacle[0]"], [1.0, 1.0])]);
    assert_eq!(
        text,
        YARD.replace("[1, 2, \"90deg\"]", "[2, 3, \"90deg\"]")
            .replace("[10, 10, 1.5]", "[11, 11, 1.5]")
            .replace("[0, -9]", "[1, -8]")
    );
    refused(YARD, shift(&["type.scout"], [1.0, 0.0]), "does not stand anywhere");
    refused(YARD, shift(&["robot[0]"], [f64::NAN, 0.0]), "finite");
    refused(YARD, shift(&["robot[0]"], [1e300, 0.0]), "too far");
}

#[test]
fn a_heading_keeps_its_unit() {
    let right = -std::f64::consts::FRAC_PI_2;
    replaces(turn(&["robot[0]"], right, None), "[1, 2, \"90deg\"]", "[1, 2, \"0deg\"]");
    replaces(turn(&["robot[0]"], right, Some([0.0, 0.0])), "[1, 2, \"90deg\"]", "[2, -1, \"0deg\"]");
    replaces(turn(&["robot[2]"], 0.25, None), "[10, 10, 1.5]", "[10, 10, 1.75]");
    replaces(turn(&["obstacle[0]"], 0.5 * right, None), "[0, -9]", "[0, -9, \"-45deg\"]");
    replaces(
        turn(&["wall[0]"], right, Some([0.0, 0.0])),
        "[[0, 1.5], [25, \"1m\"]]",
        "[[1.5, 0.0], [1, -25]]",
    );
}

#[test]
fn a_place_that_a_parameter_says_is_not_moved() {
    let text =
        "format = 1\n[params]\nx = 1\n[type.a]\nradius = 1\n[[robot]]\ntype = \"a\"\nat = [\"${x}\", 2]\n";
    refused(text, shift(&["robot[0]"], [1.0, 0.0]), "a parameter says where it is");
    let bare = "format = 1\n[type.a]\nradius = 1\n[[robot]]\ntype = \"a\"\n";
    assert_eq!(after(bare, &[shift(&["robot[0]"], [1.0, 0.5])]), format!("{bare}at = [1, 0.5]\n"));
}

#[test]
fn a_group_is_taken_apart_into_robots_where_they_start() {
    let text = after(YARD, &[Change::Split { entry: "robot[2]".into() }]);
    let yard = doc(&text);
    let robots: Vec<&Entry> = yard.entries.iter().filter(|e| e.section == "robot").collect();
    assert_eq!(robots.len(), 5);
    assert!(text.contains("[[robot]]\nname = \"g2\"\ntype = \"scout\"\nat = [10.141474, 11.99499, 1.5]\n\n[[robot]]\nname = \"g3\""), "{text}");
    let old = doc(YARD);
    let before: Vec<_> = old.entry("robot[2]").expect("the group").paths.clone();
    for (robot, before) in robots[2..].iter().zip(&before) {
        let (now, then) = (robot.paths[0].pose.expect("a pose"), before.pose.expect("a pose"));
        assert_eq!(robot.paths[0].path, before.path);
        assert!(now.iter().zip(then).all(|(a, b)| (a - b).abs() <= 1e-6));
    }
    let from_zero = YARD.replace("count = 3", "count = 3\nfirst = 0");
    let text = after(&from_zero, &[Change::Split { entry: "robot[2]".into() }]);
    assert!(text.contains("name = \"g0\"") && !text.contains("name = \"g3\"") && !text.contains("first ="));
    refused(YARD, Change::Split { entry: "robot[0]".into() }, "one robot already");
    refused(
        &YARD.replace("count = 3", "count = 501"),
        Change::Split { entry: "robot[2]".into() },
        "cannot be taken apart",
    );
}

#[test]
fn a_batch_speaks_about_the_original_text_and_conflicts_are_refused() {
    let text = after(
        YARD,
        &[
            remove("robot[0]"),
            set("robot[1]", "type", "scout"),
            shift(&["robot[2]"], [1.0, 0.0]),
            add("robot", Some("new"), &[("type", "scout")], None),
            set("assert[0]", "that", "time >= 0"),
            set("assert[1]", "that", "time >= 0"),
            set("record", "topics", "[]"),
        ],
    );
    assert!(
        text.contains("[11, 10, 1.5]") && text.contains("name = \"new\"") && !text.contains("name = \"a\"\n")
    );
    let yard = doc(YARD);
    for pair in [
        [set("run", "seed", "4"), set("run", "seed", "5")],
        [remove("robot[1]"), set("robot[1]", "type", "x")],
        [shift(&["robot[0]"], [1.0, 0.0]), turn(&["robot[0]"], 1.0, Some([0.0, 0.0]))],
    ] {
        let failed = apply(&yard, &pair).expect_err("a conflict");
        assert!(failed.to_string().contains("two changes want the same place"), "{failed}");
    }
}

const ODD: &str = r#"format = 1
run.seed = 1 # dotted
run.gravity = 2
robot = [{ name = "x", type = "a", at = [0, 0] }, { type = "a", name = "y", layout.class = "row", layout.step = [1, 0], count = 2, at = [5, 5] }]
surface = { ice = { friction = 1 }, mud = { friction = 2 } }

[type]
a.radius = 0.2
a.mass = 3

[[wall]]
points = [[9, 9], [9, 8]]

[[type.a.part]]
name = "drive"
class = "diff-drive"

[[wall]]
name = "second"
points = [[8, 9], [8, 8]]
"#;

#[test]
fn inline_tables_dotted_keys_and_odd_orders_are_edited_too() {
    let odd = |change: Change, old: &str, new: &str| {
        assert_eq!(ODD.matches(old).count(), 1, "{old}");
        assert_eq!(after(ODD, &[change]), ODD.replacen(old, new, 1));
    };
    odd(set("run", "seed", "9"), "seed = 1", "seed = 9");
    odd(set("run", "duration", "2"), "run.gravity = 2\n", "run.gravity = 2\nrun.duration = 2\n");
    odd(unset("run", "seed"), "run.seed = 1 # dotted\n", "");
    odd(remove("run"), "run.seed = 1 # dotted\nrun.gravity = 2\n", "");
    odd(remove("robot[0]"), "{ name = \"x\", type = \"a\", at = [0, 0] }, ", "");
    odd(
        remove("robot[1]"),
        ", { type = \"a\", name = \"y\", layout.class = \"row\", layout.step = [1, 0], count = 2, at = [5, 5] }",
        "",
    );
    odd(unset("robot[1]", "layout"), "layout.class = \"row\", layout.step = [1, 0], ", "");
    odd(unset("robot[0]", "at"), ", at = [0, 0]", "");
    odd(shift(&["robot[0]"], [1.0, 0.0]), "[0, 0]", "[1, 0]");
    odd(
        copy("robot[0]", None, &[("at", "[2, 2]")]),
        "[5, 5] }",
        "[5, 5] }, { name = \"x2\", type = \"a\", at = [2, 2] }",
    );
    odd(
        add("robot", None, &[("type", "a"), ("at", "[3, 3]")], None),
        "[5, 5] }",
        "[5, 5] }, { name = \"r1\", type = \"a\", at = [3, 3] }",
    );
    odd(
        Change::Split { entry: "robot[1]".into() },
        "{ type = \"a\", name = \"y\", layout.class = \"row\", layout.step = [1, 0], count = 2, at = [5, 5] }",
        "{ type = \"a\", name = \"y1\", at = [5, 5] }, { type = \"a\", name = \"y2\", at = [6, 5] }",
    );
    odd(remove("surface.ice"), "ice = { friction = 1 }, ", "");
    odd(rename("surface.mud", "dirt"), "mud", "dirt");
    odd(remove("type.a.part[0]"), "\n[[type.a.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n", "");
    odd(
        add("wall", None, &[("points", "[[1, 9], [1, 8]]")], None),
        "[[8, 9], [8, 8]]\n",
        "[[8, 9], [8, 8]]\n\n[[wall]]\nname = \"wall2\"\npoints = [[1, 9], [1, 8]]\n",
    );
    odd(set("type.a", "height", "1"), "a.mass = 3\n", "a.mass = 3\na.height = 1\n");
    let renamed = after(ODD, &[rename("type.a", "b")]);
    assert_eq!(
        renamed,
        ODD.replace("a.radius", "b.radius")
            .replace("a.mass", "b.mass")
            .replace("type.a.part", "type.b.part")
            .replace("type = \"a\"", "type = \"b\"")
    );
    let text = after(ODD, &[copy("type.a", None, &[("radius", "0.3")])]);
    assert!(
        text.contains("[type.a2]\nradius = 0.3\nmass = 3\n\n[[type.a2.part]]\nname = \"drive\""),
        "{text}"
    );
}

const TEMPLATES: &str = "format = 1\ninclude = [\"inc/walls.toml\"]\n\n[template.pair]\n\n[[template.pair.obstacle]]\nname = \"post\"\nradius = 0.1\n\n[[use]]\ntemplate = \"pair\"\nname = \"gate\"\nat = [1, 2]\n\n[[use]]\ntemplate = \"pair\"\nat = [5, 5]\n";

#[test]
fn what_comes_from_elsewhere_is_listed_with_the_reason() {
    let folder = Folder::of_tests("good");
    assert!(folder.files("toml").len() > 1, "the included file stands beside these");
    let all = document("t.toml", TEMPLATES, &folder, &registry()).unwrap_or_else(|e| panic!("{e}"));
    let entry = |key: &str| all.entry(key).unwrap_or_else(|| panic!("{key}"));
    assert_eq!(entry("use[0]").paths[0].path, "/obstacles/gate.post");
    assert_eq!(entry("use[1]").paths[0].path, "/obstacles/pair2.post");
    assert_eq!(entry("use[0]").fixed, None);
    let post = entry("template.pair.obstacle[0]");
    assert_eq!(post.paths.len(), 2);
    assert!(post.fixed.as_ref().is_some_and(|why| why.contains("the template `pair`")));
    let elsewhere: Vec<&Entry> = all.entries.iter().filter(|e| e.key.starts_with('/')).collect();
    assert!(!elsewhere.is_empty());
    for entry in elsewhere {
        assert!(entry.fixed.as_ref().is_some_and(|why| why.contains("included file `inc/walls.toml`")));
        let failed = apply(&all, &[remove(&entry.key)]).expect_err("it is not here");
        assert!(failed.to_string().contains("cannot be edited here: it comes from"), "{failed}");
    }
    let failed = apply(&all, &[shift(&["template.pair.obstacle[0]"], [1.0, 0.0])]).expect_err("fixed");
    assert!(failed.to_string().contains("move the use"), "{failed}");
    let moved = apply(&all, &[shift(&["use[0]"], [1.0, 0.0])]).expect("moves").text;
    assert_eq!(moved, TEMPLATES.replace("[1, 2]", "[2, 2]"));
}

#[test]
fn a_fragment_brings_what_it_needs_and_is_pasted_under_free_names() {
    let yard = doc(YARD);
    let piece = fragment(&yard, &["robot[0]".into(), "wall[0]".into()]).expect("a fragment");
    assert!(piece.starts_with("[surface.ice]\nfriction = 0.1\n\n[type.scout]\n"), "{piece}");
    assert!(piece.ends_with("[[wall]]\npoints = [[0, 1.5], [25, \"1m\"]] # in the east\n"), "{piece}");

    let here = paste(&yard, &piece, [0.5, 0.0]).expect("pastes");
    assert_eq!(here.made, ["/robots/a2", "/world/walls/wall2"].map(String::from));
    assert!(
        here.text
            .contains("\n\n[[robot]]\nname = \"a2\"\ntype = \"scout\"\nat = [1.5, 2, \"90deg\"]\n\n# About"),
        "{}",
        here.text
    );
    assert_eq!(here.text.matches("[type.scout]").count(), 1);
    read("t", &here.text, &[], &NoFiles, &registry()).unwrap_or_else(|e| panic!("{e}"));

    let empty = doc("format = 1\n");
    let there = paste(&empty, &piece, [0.0, 0.0]).expect("pastes").text;
    let scene =
        read("t", &there, &[], &NoFiles, &registry()).unwrap_or_else(|e| panic!("{e}\n{there}")).scene;
    assert!(scene.find("/robots/a/eye").is_some() && scene.find("/surfaces/ice").is_some());
    assert!(there.contains("# It looks ahead."));
}

#[test]
fn parts_and_groups_can_be_pasted_and_settings_cannot() {
    let yard = doc(YARD);
    let part = fragment(&yard, &["type.scout.part[1]".into(), "robot[2]".into()]).expect("a fragment");
    // With the robot comes its type, and the part in it.
    assert_eq!(part.matches("name = \"eye\"").count(), 1);
    let part = "[[type.scout.part]]\nname = \"eye\"\nclass = \"rays\"\n";
    let text = paste(&yard, part, [0.0, 0.0]).expect("pastes");
    assert_eq!(text.made, ["/types/scout/eye2"]);
    let group = fragment(&yard, &["robot[2]".into()]).expect("a fragment");
    assert_eq!(paste(&yard, &group, [1.0, 1.0]).expect("pastes").made, ["/robots/g4"]);
    assert!(paste(&yard, "[run]\nseed = 3\n", [0.0, 0.0]).is_err());
    assert!(paste(&yard, "[[type.other.part]]\nname = \"x\"\n", [0.0, 0.0]).is_err());
    assert!(paste(&yard, "not toml", [0.0, 0.0]).is_err());
    assert!(fragment(&yard, &["run".into()]).is_err() && fragment(&yard, &["robot[9]".into()]).is_err());
}

#[test]
fn changes_are_read_from_json() {
    let text = r#"[{"op": "move", "entries": ["robot[0]"], "by": [1, 0]}, {"op": "add", "section": "robot", "fields": [["type", "scout"]]}, {"op": "turn", "entries": [], "by": 1}]"#;
    let changes: Vec<Change> = serde_json::from_str(text).expect("changes");
    assert_eq!(changes[0], shift(&["robot[0]"], [1.0, 0.0]));
    assert_eq!(changes[1], add("robot", None, &[("type", "scout")], None));
    assert!(serde_json::from_str::<Change>(r#"{"op": "remove", "entry": "run", "entri": 1}"#).is_err());
}

#[test]
fn sheets_are_told_as_json() {
    let registry = registry();
    let sheets = sheets_json(&registry);
    let all = sheets.as_array().expect("a list");
    assert_eq!(all.len(), registry.sheets().count());
    let of = |class: &str| all.iter().find(|s| s["class"] == class).expect("a sheet");
    let speed = &of("diff-drive")["params"][0];
    assert_eq!(
        (&speed["kind"], &speed["unit"], &speed["max"], &speed["default"]),
        (&"number".into(), &"m/s".into(), &100.0.into(), &1.0.into())
    );
    assert_eq!(of("diff-drive")["channels"][0]["command"], true);
    assert_eq!(of("rays")["kind"], "sensor");
    let contact = of("run")["params"].as_array().expect("a list").iter().find(|p| p["name"] == "contact");
    assert_eq!(
        contact.expect("a parameter")["choices"],
        serde_json::json!(["stop", "impulse", "own", "ghost"])
    );
    assert!(
        of("robot")["params"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|p| p["kind"] == "inline" && p["of"] == "layout")
    );
}
