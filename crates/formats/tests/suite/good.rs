//! What good scenarios become.

use crate::common::{Folder, registry};
use std::f64::consts::PI;
use swarmyard_base::{Ratio, Vec2};
use swarmyard_formats::{Loaded, Loader as _, NoFiles, check_examples, read};
use swarmyard_scene::{Node, Scene, Value};

fn load_with(name: &str, overrides: &[(&str, &str)]) -> Loaded {
    let folder = Folder::of_tests("good");
    let text = folder.load(name).expect("the scenario");
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    read(name, &text, &overrides, &folder, &registry()).unwrap_or_else(|e| panic!("{e}"))
}

fn load(name: &str) -> Scene {
    load_with(name, &[]).scene
}

fn from(text: &str) -> Scene {
    read("test.toml", text, &[], &NoFiles, &registry()).unwrap_or_else(|e| panic!("{e}")).scene
}

#[track_caller]
fn at<'s>(scene: &'s Scene, path: &str) -> &'s Node {
    scene.find(path).unwrap_or_else(|| panic!("nothing at {path}"))
}

fn near(a: Vec2, x: f64, y: f64) -> bool {
    (a - Vec2::new(x, y)).norm() < 1e-9
}

#[test]
fn all_good_scenarios_load_without_a_warning() {
    for (name, _) in Folder::of_tests("good").files("toml") {
        assert!(load_with(&name, &[]).warnings.0.is_empty(), "{name}");
    }
}

#[test]
fn the_scene_has_every_section_in_its_place() {
    let scene = load("arena.toml");
    assert_eq!(scene.root.params.text("title"), "Arena");
    assert_eq!(at(&scene, "/run").params.ratio("quantum"), Ratio::new(1, 60).unwrap());
    assert_eq!(at(&scene, "/run").params.num("duration"), 120.0);
    assert_eq!(at(&scene, "/world").params.point("max"), Vec2::new(5.0, 5.0));
    assert_eq!(at(&scene, "/record").params.texts("topics").len(), 2);
    assert_eq!(at(&scene, "/surfaces/rubber").params.num("friction"), 0.9);
    assert_eq!(at(&scene, "/world/walls/north").params.points("points").len(), 3);
    assert_eq!(at(&scene, "/world/tracks/track1").params.num("width"), 0.02);
    assert_eq!(at(&scene, "/obstacles/crate").pose.at, Vec2::new(1.0, 1.0));
    let drive = at(&scene, "/obstacles/obstacle2/drive");
    assert_eq!((&*drive.class, drive.params.nums("velocity")), ("drift", &[0.3, 0.0][..]));
    assert!((drive.params.num("spin") - PI / 18.0).abs() < 1e-12);
    assert_eq!(at(&scene, "/asserts/assert1").params.text("name"), "nobody leaves");
    let names = |path: &str| at(&scene, path).children.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    assert_eq!(names("/types/scout"), ["drive", "eye", "controller"]);
    assert_eq!(names("/types/box"), ["controller", "second"]);
    assert_eq!(names("/robots"), ["a", "b1", "b2", "b3"]);
    assert_eq!(scene.group("/robots")[3].pose.at, Vec2::new(-2.0, -4.0));
}

#[test]
fn robots_share_their_type_and_have_no_parameters() {
    let scene = load("arena.toml");
    let (a, b) = (at(&scene, "/robots/b1/second"), at(&scene, "/robots/b2/second"));
    assert!(std::ptr::eq(a, b));
    assert!(at(&scene, "/robots/a").params.iter().next().is_none());
    assert_eq!(at(&scene, "/robots/a/eye").params.int("count"), 12);
    assert_eq!(&*at(&scene, "/robots/a").class, "robot");
}

#[test]
fn a_stack_is_its_protocols_under_the_name_of_its_use() {
    let scene = load("stacks.toml");
    let protocols = |path: &str| -> Vec<(String, String, Option<String>)> {
        let all = at(&scene, path).children.iter().filter(|c| c.section == "protocol");
        let link = |n: &Node| n.params.text_or_none("link").map(str::to_owned);
        all.map(|n| (n.name.clone(), n.class.to_string(), link(n))).collect()
    };
    let row = |name: &str, class: &str, link: Option<&str>| {
        (name.to_owned(), class.to_owned(), link.map(str::to_owned))
    };
    assert_eq!(
        protocols("/types/one"),
        [
            row("steps-repeat", "reliable-link", None),
            row("steps-twice", "reliable-link", Some("steps-repeat")),
            row("steps", "lamport-order", Some("steps-twice")),
            row("words-repeat", "reliable-link", None),
            row("words-twice", "reliable-link", Some("words-repeat")),
            row("words", "lamport-order", Some("words-twice")),
            row("above", "lamport-order", Some("words-repeat")),
        ],
        "in the order of the stack, its last one under the name of the use, its own links within it"
    );
    assert_eq!(protocols("/types/two"), [row("order", "reliable-link", Some("network"))]);
    assert_eq!(at(&scene, "/robots/a/steps-repeat").params.num("retry"), 0.3);
    assert_eq!(at(&scene, "/robots/a/algorithm").params.text("broadcast"), "steps");
    assert!(scene.find("/robots/a/steps-order").is_none());
}

#[test]
fn run_world_and_record_exist_in_an_empty_scenario() {
    let scene = from("format = 1\n");
    assert_eq!(at(&scene, "/run").params.int("seed"), 1);
    assert_eq!(at(&scene, "/record").params.num("rate"), 10.0);
    for group in [
        "/world/walls",
        "/world/tracks",
        "/types",
        "/surfaces",
        "/robots",
        "/obstacles",
        "/beacons",
        "/asserts",
    ] {
        let node = at(&scene, group);
        assert!(node.class.is_empty() && node.children.is_empty(), "{group}");
    }
}

#[test]
fn templates_move_turn_and_name_what_they_hold() {
    let scene = load("templates.toml");
    // The gate stands at (10, 0) turned left, so its "left" pillar is to the west, its core north of that.
    assert!(near(at(&scene, "/obstacles/gate.left.core").pose.at, 8.0, 1.0));
    assert!(near(at(&scene, "/obstacles/gate.right.core").pose.at, 12.0, 1.0));
    assert_eq!(at(&scene, "/obstacles/gate.left.core").params.num("radius"), 0.2);
    assert_eq!(at(&scene, "/obstacles/gate.right.core").params.num("radius"), 0.3);
    let wall = at(&scene, "/world/walls/gate.left.wall1").params.points("points");
    assert!(near(wall[0], 8.0, 0.0) && near(wall[1], 7.0, 0.0));
    assert_eq!(scene.group("/robots").len(), 4);
    let guard = at(&scene, "/robots/gate.guard1");
    assert!(near(guard.pose.at, 10.25, 4.75), "{:?}", guard.pose);
    assert!((guard.pose.heading - PI / 2.0).abs() < 1e-12);
    let lamp = at(&scene, "/beacons/east.beacon1");
    assert!(near(lamp.pose.at, 3.0, 1.0) && (lamp.pose.heading - PI).abs() < 1e-12, "{:?}", lamp.pose);
    assert_eq!((lamp.params.int("id"), lamp.params.pose("at")), (5, lamp.pose));
    assert_eq!(at(&scene, "/world/walls/corner").params.points("points").len(), 3);
    assert!(scene.find("/world/walls/north").is_some(), "from the included file");
    assert_eq!(scene.sources.0.len(), 2);
}

#[test]
fn overrides_reach_every_kind_of_place() {
    let scene = load_with(
        "arena.toml",
        &[
            ("run.seed", "99"),
            ("type.scout.part.drive.max_speed", "2m/s"),
            ("type.scout.part.1.count", "3"),
            ("type.scout.controller.gain", "5"),
            ("robot.b.count", "2"),
            ("obstacle.0.at", "[3, 3]"),
            ("title", "Other"),
            ("world.min", "[-9, -9]"),
        ],
    )
    .scene;
    assert_eq!(at(&scene, "/run").params.int("seed"), 99);
    assert_eq!(at(&scene, "/types/scout/drive").params.num("max_speed"), 2.0);
    assert_eq!(at(&scene, "/types/scout/eye").params.int("count"), 3);
    assert_eq!(at(&scene, "/types/scout/controller").params.num("gain"), 5.0);
    assert_eq!(scene.group("/robots").len(), 3);
    assert_eq!(at(&scene, "/obstacles/crate").pose.at, Vec2::new(3.0, 3.0));
    assert_eq!(scene.root.params.text("title"), "Other");
    let scene = load_with("templates.toml", &[("params.n", "9"), ("run.seed", "5")]).scene;
    assert_eq!(scene.group("/robots").len(), 9);
    assert_eq!(at(&scene, "/run").params.int("seed"), 5);
}

#[test]
fn layouts_put_robots_where_they_say() {
    let scene = load("swarm.toml");
    let ring = |k: usize| at(&scene, &format!("/robots/ring{k}")).pose;
    assert!(near(ring(1).at, 7.0, -5.0) && near(ring(3).at, 5.0, -3.0));
    assert!((ring(3).heading + PI / 2.0).abs() < 1e-12, "they look in");
    let grid = |k: usize| at(&scene, &format!("/robots/grid{k}")).pose.at - Vec2::new(-8.0, -8.0);
    let off = (grid(5) - Vec2::new(-0.75, 0.0)).norm();
    assert!(off > 0.0 && off < 0.015, "jitter is at most a centimetre each way: {off}");
}

#[test]
fn random_robots_keep_their_distance() {
    let scene = load("swarm.toml");
    let all = scene.group("/robots");
    for (k, a) in all.iter().enumerate().filter(|(_, r)| r.name.starts_with("free")) {
        let p = a.pose.at;
        assert!(p.x.abs() <= 9.85 && p.y.abs() <= 9.85);
        assert!((p - Vec2::new(0.0, 5.0)).norm() >= 2.15);
        assert!(p.y.abs() >= 0.15 || p.x.abs() >= 5.1);
        for (j, b) in all.iter().enumerate() {
            assert!(j == k || (b.pose.at - p).norm() >= 0.25 - 1e-12, "{} and {}", a.name, b.name);
        }
    }
}

#[test]
fn order_of_the_scenario_file_does_not_matter() {
    let entry = |name: &str, extra: &str| {
        format!(
            "[[robot]]\nname = \"{name}\"\ntype = \"dot\"\ncount = 40\nlayout = {{ class = \"random\", size = [6, 6] }}\n{extra}\n"
        )
    };
    let head = "format = 1\n[type.dot]\nradius = 0.1\n";
    let one = from(&format!("{head}{}{}", entry("a", ""), entry("b", "")));
    let two = from(&format!("{head}{}{}", entry("b", ""), entry("a", "")));
    for robot in one.group("/robots") {
        assert_eq!(robot.pose, at(&two, &format!("/robots/{}", robot.name)).pose);
    }
}

#[test]
fn the_seed_decides_random_places() {
    let place = |seed: &str| load_with("swarm.toml", &[("run.seed", seed)]).scene.group("/robots").to_vec();
    let poses = |robots: Vec<Node>| robots.into_iter().map(|r| r.pose).collect::<Vec<_>>();
    assert_eq!(poses(place("1")), poses(load("swarm.toml").group("/robots").to_vec()));
    assert_ne!(poses(place("1")), poses(place("2")));
}

#[test]
fn values_keep_the_place_where_they_were_written() {
    let scene = load("templates.toml");
    let radius = |path: &str| {
        let span = at(&scene, path).params.span("radius").expect("a place");
        scene.sources.locate(span).expect("a location").to_string()
    };
    assert_eq!(radius("/obstacles/gate.left.core"), "templates.toml:13:16", "the default");
    assert_eq!(radius("/obstacles/gate.right.core"), "templates.toml:34:5", "the value given at the use");
    let robot = at(&scene, "/robots/gate.guard1").span.expect("a place");
    assert_eq!(scene.sources.locate(robot).expect("a location").to_string(), "templates.toml:36:1");
}

#[test]
fn an_unused_type_is_a_warning_in_the_main_file_only() {
    let text = "format = 1\n[type.dot]\nradius = 0.1\n";
    let loaded = read("t.toml", text, &[], &NoFiles, &registry()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loaded.warnings.0[0].code, "unused-type");
}

#[test]
fn a_dollar_can_be_escaped() {
    assert_eq!(
        from("format = 1\ntitle = \"cost $${x}\"\n").root.params.value("title"),
        Some(&Value::Text("cost ${x}".into()))
    );
}

#[test]
fn every_example_loads() {
    let wrong = check_examples(&registry());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sweep_is_read_with_its_axes_and_measures() {
    use swarmyard_scene::sweep::{Axis, Measure, Mode, Sweep, Take};
    let sweep = Sweep::read(at(&load("sweep.toml"), "/sweep")).unwrap();
    assert_eq!((sweep.mode, sweep.samples, sweep.draw_seed), (Mode::Random, Some(40), 9));
    assert_eq!((sweep.seeds.as_slice(), sweep.until_s), (&[3, 4, 5, 6, 7][..], Some(90.0)));
    let flags = [
        "params.gap=log-uniform:1mm..1cm",
        "run.contact=stop,impulse",
        "world.max=[1, 2],[\"3m\", 4.5]",
        "run.gravity=1..5+2",
    ];
    // A table says the same as a word of the command line.
    assert_eq!(sweep.axes, flags.map(|f| Axis::parse(f).unwrap()));
    let measure =
        Measure { when: Some("contacts > 0".into()), ..Measure::parse("time to meet=first:time").unwrap() };
    assert_eq!((measure.take, &sweep.measures), (Take::First, &vec![measure.clone()]));
}

#[test]
fn a_scenario_without_a_sweep_has_no_such_node() {
    assert!(load("arena.toml").find("/sweep").is_none());
}

#[test]
fn numbered_robots_may_begin_with_zero_and_random_ones_may_look_the_same_way() {
    let text = |more: &str| {
        format!(
            "format = 1\n[type.dot]\nradius = 0.1\n[[robot]]\nname = \"p\"\ntype = \"dot\"\ncount = 3\n\
             at = [5, 6, 1]\n{more}\n"
        )
    };
    let names = |scene: &Scene| scene.group("/robots").iter().map(|r| r.name.clone()).collect::<Vec<_>>();
    let row = from(&text("first = 0"));
    assert_eq!(names(&row), ["p0", "p1", "p2"]);
    assert!(near(at(&row, "/robots/p0").pose.at, 5.0, 6.0));
    assert_eq!(names(&from(&text("first = 1"))), names(&from(&text(""))));
    let same = from(&text("first = 0\nlayout = { class = \"random\", size = [4, 4], heading = \"same\" }"));
    assert!(same.group("/robots").iter().all(|r| r.pose.heading == 1.0));
    let random = from(&text("layout = { class = \"random\", size = [4, 4] }"));
    assert!(random.group("/robots").iter().all(|r| r.pose.heading != 1.0));
}
