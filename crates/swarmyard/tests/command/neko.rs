//! Logs of Neko's robot simulator: written by `run`, read back by `import`.

use crate::yard::Yard;
use std::collections::{BTreeMap, BTreeSet};
use swarmyard::Sim;
use swarmyard::base::{Moment, Time};
use swarmyard::formats::neko::log::{self, Condition, Entry, Line, MessageEvent};

const HEAD: &str = "format = 1\n[run]\nquantum = \"1s\"\nduration = \"400s\"\ncontact = \"CONTACT\"\n\
    [type.robot]\nradius = 10\n[[type.robot.part]]\nname = \"wheels\"\nclass = \"wheels\"\nturn = \"ccw\"\n\
    [[type.robot.part]]\nname = \"gps\"\nclass = \"gps\"\n\
    [[robot]]\nname = \"p\"\ntype = \"robot\"\ncount = 10\nfirst = 0\nat = [400, 400]\n\
    layout = { class = \"random\", size = [790, 790] }\n";

fn world(contact: &str, rest: &str) -> String {
    HEAD.replace("CONTACT", contact) + rest
}

fn gathering() -> String {
    world(
        "ghost",
        "[type.robot.algorithm]\nclass = \"gathering\"\nnear = 0.01\nspeed = [3, 6]\nturn_speed = [\"3deg/s\", \"9deg/s\"]\n",
    )
}

fn moving() -> String {
    world(
        "stop",
        "[type.robot.algorithm]\nclass = \"random-movement\"\nmin = [0, 0]\nmax = [800, 800]\nspeed = [20, 40]\nturn_speed = [\"30deg/s\", \"60deg/s\"]\n",
    )
}

fn helping() -> String {
    let parameters =
        "min = [0, 0]\nmax = [700, 700]\nspeed = [3, 13]\nturn_speed = [\"6deg/s\", \"36deg/s\"]\n";
    let network = "[network]\nclass = \"random\"\nmean = \"10s\"\n";
    world("ghost", &format!("{network}[type.robot.algorithm]\nclass = \"ask-for-help\"\n{parameters}"))
}

/// Runs a world, and answers the lines of its log, which must be written back to the byte.
fn logged(yard: &Yard, world: &str) -> Vec<Line> {
    yard.write("world.toml", world);
    yard.run("run world.toml --no-record -q --neko-log world.log").exits(0);
    let text = yard.read("world.log");
    let lines = log::read("world.log", &text).unwrap_or_else(|e| panic!("{:?}", e.problems));
    assert_eq!(log::write(&lines), text);
    assert!(text.starts_with(log::HEADER));
    lines
}

/// What kind of line it is, as far as figure 4.12 tells lines apart.
fn kind(line: &Line) -> &'static str {
    match &line.entry {
        Entry::Motion(row) => match row.condition {
            Condition::DoMoveToSequence if row.turn_speed_deg > 0.0 => "turns",
            Condition::DoMoveToSequence => "goes",
            Condition::FinishMoveToSequence => "has turned",
            Condition::FinishMoveTo => "has arrived",
            _ => "another row",
        },
        Entry::SensorRequest(_) => "asks",
        Entry::MotionRequest(_) => "wants",
        _ => "another line",
    }
}

/// What the thesis prints.
fn figure(number: &str) -> Vec<Line> {
    let name = format!("figure-{number}.log");
    let path = format!("{}/../formats/tests/neko/{name}", env!("CARGO_MANIFEST_DIR"));
    log::read(&name, &std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The words of a line, with `#` for every number; without time and process, which two figures leave out. Places in
/// requests are written in two ways there.
fn shape(line: &Line) -> String {
    let text = Line::bare(line.entry.clone()).to_string().replace(" ,", ",");
    let mut shape = String::new();
    let mut within = false;
    for (k, c) in text.char_indices() {
        let next = text[k + 1..].starts_with(|n: char| n.is_ascii_digit());
        let goes_on = within && (c.is_ascii_digit() || (c == '.' && next));
        if !goes_on && (c.is_ascii_digit() || (c == '-' && next)) {
            shape.push('#');
        } else if !goes_on {
            shape.push(c);
        }
        within = goes_on || c.is_ascii_digit() || (c == '-' && next);
    }
    shape
}

/// The shapes of all lines that the thesis prints.
fn printed() -> BTreeSet<String> {
    ["4.12", "5.2", "5.4", "5.6"].iter().flat_map(|n| figure(n)).map(|l| shape(&l)).collect()
}

/// The robot whose line it is.
fn whose(line: &Line) -> u32 {
    match &line.entry {
        Entry::Motion(row) => row.robot,
        Entry::MotionRequest(request) => request.robot,
        Entry::SensorRequest(request) => request.robot,
        _ => line.prefix.unwrap().process,
    }
}

fn of(lines: &[Line], process: u32) -> Vec<&'static str> {
    lines.iter().filter(|l| l.prefix.is_some_and(|p| p.process == process)).map(kind).collect()
}

#[test]
fn the_log_of_a_gathering_has_the_shape_of_figure_4_12() {
    let yard = Yard::new("neko-gathering");
    let lines = logged(&yard, &gathering());
    let figure = include_str!("../../../formats/tests/neko/figure-4.12.log");
    let figure = log::read("figure-4.12.log", figure).unwrap();
    // Robot 1 turns, goes, arrives, asks, and sets out again; that is all the figure shows of one robot.
    let printed = of(&figure, 1);
    assert_eq!(printed, ["has turned", "goes", "has arrived", "asks", "wants", "turns"]);
    for process in 0..10 {
        let mut own = of(&lines, process);
        // Who is in the middle already asks again until the middle has moved.
        own.dedup_by(|a, b| *a == "asks" && *b == "asks");
        assert_eq!(own[..3], ["asks", "wants", "turns"], "robot {process} begins");
        let rounds = own[3..].windows(printed.len()).step_by(printed.len());
        for round in rounds {
            assert_eq!(round, printed, "robot {process}");
        }
        assert!(own.len() >= 3 + printed.len(), "robot {process}: {own:?}");
    }
    let words = "Positioning with errorFactor 0.0";
    assert!(yard.read("world.log").contains(&format!("SensorRequest: ROBOT# 4 | {words}")));
    for line in &lines {
        let Entry::Motion(row) = &line.entry else { continue };
        assert!((0.0..360.0).contains(&row.angle_deg), "{line}");
        assert!((0.0..=360.0).contains(&row.turn_deg), "{line}");
    }
}

#[test]
fn the_log_of_ask_for_help_has_the_shape_of_figure_5_6() {
    let lines = logged(&Yard::new("neko-help"), &helping())[1..].to_vec();
    let figure = figure("5.6");
    let sent = |lines: &[Line], k: usize| match &lines[k].entry {
        Entry::Message(m) if m.event == MessageEvent::Send => (m.from, m.to.clone()),
        _ => panic!("not sent: {}", lines[k]),
    };
    // At one moment robots have their turns in an order of their own, the same in every run.
    let mut first = lines[..10].to_vec();
    first.sort_by_key(whose);
    for k in 0..10 {
        assert_eq!(shape(&first[k]), shape(&figure[k]));
        assert_eq!(sent(&first, k), sent(&figure, k), "to whom");
        assert_eq!(first[k].prefix, figure[k].prefix, "when, and who");
    }
    // What follows the first order that comes, in the figure and here.
    let follows = |lines: &[Line], process: u32| -> Vec<String> {
        let said = |l: &Line| matches!(l.entry, Entry::Algorithm(_)) && whose(l) == process;
        let said = lines.iter().position(said).unwrap();
        assert!(lines[said - 1..said + 3].iter().all(|l| whose(l) == process), "{process} is interrupted");
        lines[said - 1..said + 3].iter().map(shape).collect()
    };
    for process in 0..10 {
        // The receivers differ from robot to robot only by numbers.
        assert_eq!(follows(&lines, process), follows(&figure, 1));
    }
    let printed = printed();
    let mut orders = Vec::new();
    let (mut came, mut taken) = (0, 0);
    for line in &lines {
        assert!(printed.contains(&shape(line)), "the thesis has no such line: {line}");
        match &line.entry {
            Entry::Message(m) if m.event == MessageEvent::Send => orders.push(m.clone()),
            Entry::Message(m) => {
                assert!(matches!(m.content, Some(log::Content::Point(_))), "{line}");
                let order = log::Message { event: MessageEvent::Send, ..m.clone() };
                assert!(orders.contains(&order), "sent otherwise than it came: {line}");
                came += 1;
            }
            Entry::Algorithm(words) => {
                let place = words.strip_prefix("Someone told me to go to: (").unwrap();
                let ordered = orders.iter().any(|o| o.to_string().contains(&place[..place.len() - 1]));
                assert!(ordered, "nobody did: {line}");
                taken += 1;
            }
            Entry::MotionRequest(request) => assert_eq!(request.task, 1, "as the figures have it"),
            _ => {}
        }
    }
    println!("{} orders to 9 robots each, {came} came, {taken} taken up", orders.len());
    assert!(came > 90 && taken > 20);
}

#[test]
fn the_log_of_random_movement_has_the_shape_of_figure_5_2() {
    let lines = logged(&Yard::new("neko-movement"), &moving())[1..].to_vec();
    let printed = printed();
    for line in &lines {
        assert!(printed.contains(&shape(line)), "the thesis has no such line: {line}");
    }
    // What comes after what for one robot.
    let steps = |lines: &[Line]| {
        let mut last: BTreeMap<u32, &str> = BTreeMap::new();
        let mut steps = BTreeSet::new();
        for line in lines {
            let collision = matches!(&line.entry, Entry::Motion(row) if row.collision);
            let kind = if collision { "collides" } else { kind(line) };
            if let Some(before) = last.insert(whose(line), kind) {
                steps.insert((before, kind));
            }
        }
        steps
    };
    let figure = figure("5.2");
    let thesis = steps(&figure);
    assert_eq!(
        thesis,
        BTreeSet::from([
            ("has arrived", "wants"),
            ("wants", "turns"),
            ("turns", "has turned"),
            ("has turned", "goes"),
            ("goes", "collides"),
        ])
    );
    let ours = steps(&lines);
    assert!(thesis.is_subset(&ours), "{ours:?}");
    // The excerpt shows nobody who arrives from a way it shows, is hit while turning, or goes on after a collision.
    let more = [("goes", "has arrived"), ("turns", "collides"), ("collides", "wants")];
    let unknown: Vec<_> = ours.difference(&thesis).filter(|s| !more.contains(s)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for row in lines
        .iter()
        .chain(&figure)
        .filter_map(|l| if let Entry::Motion(row) = &l.entry { Some(row) } else { None })
    {
        if row.collision {
            let left = [row.turn_deg, row.distance, row.turn_speed_deg, row.move_speed];
            assert_eq!(left, [0.0; 4], "who collides has nothing left to do: {row}");
        }
    }
}

#[test]
fn collisions_and_messages_are_in_the_log() {
    let yard = Yard::new("neko-others");
    let lines = logged(&yard, &moving());
    let rows = lines.iter().filter_map(|l| if let Entry::Motion(row) = &l.entry { Some(row) } else { None });
    let stops = rows.filter(|row| row.collision).count();
    assert!(stops > 3, "{stops} collisions");
    assert!(yard.read("world.log").contains("Do_MoveTo_Sequence(Collision)"));
    let talking = world(
        "ghost",
        "[network]\nclass = \"random\"\nmean = \"1s\"\n[type.robot.algorithm]\nclass = \"roll-call\"\nevery = \"20s\"\n[[fault]]\nat = \"30s\"\ncrash = [\"p3\"]\n",
    );
    let lines = logged(&yard, &talking);
    let messages =
        || lines.iter().filter_map(|l| if let Entry::Message(m) = &l.entry { Some((l, m)) } else { None });
    let sent = messages().find(|(_, m)| m.event == MessageEvent::Send && m.kind == "CALL").unwrap();
    assert_eq!(sent.1.to.len(), 9);
    assert_eq!(sent.0.prefix.unwrap().process, sent.1.from);
    let came = messages().find(|(_, m)| m.event == MessageEvent::Receive).unwrap();
    assert_eq!(came.1.to.len(), 9, "all it is for");
    assert!(came.1.to.contains(&came.0.prefix.unwrap().process));
    assert!(lines.iter().any(|l| matches!(&l.entry, Entry::Algorithm(t) if t.contains("did not answer"))));
}

/// What is written into a log is no word of a controller: it neither shows at the terminal nor uses up the lines that
/// words may take there.
#[test]
fn a_log_says_nothing_at_the_terminal_and_takes_no_words_away() {
    let yard = Yard::new("neko-quiet");
    // When the log has some hundreds of lines, somebody falls into a hole beside the field.
    let late = "[[zone]]\nname = \"hole\"\nkind = \"swallow\"\npoints = [[950, -9], [990, -9], [990, 9], [950, 9]]\n\
        [type.late]\nradius = 10\n[[type.late.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\
        [type.late.algorithm]\nclass = \"scripted\"\nmoves = [[390, 1000, 0, 50, 1]]\n\
        [[robot]]\nname = \"late\"\ntype = \"late\"\nat = [900, 0]\n";
    yard.write("world.toml", &(gathering() + late));
    let done = yard.run("run world.toml --no-record --neko-log world.log").exits(0);
    let log = yard.read("world.log");
    let before = log.lines().position(|l| l.contains("swallowed")).unwrap();
    assert!(before > 250, "{before} lines come first");
    let said: Vec<&str> = done.err.lines().filter(|l| l.starts_with("   ")).collect();
    assert!(said.len() == 1 && said[0].ends_with("/robots/late: fell into a hole"), "{}", done.err);
}

/// How far the robots of an imported log are from where its rows say, at most.
fn farthest(yard: &Yard, lines: &[Line]) -> f64 {
    yard.run("import world.log -o back.toml").exits(0);
    let mut sim = Sim::from_text(&yard.read("back.toml")).unwrap();
    let mut moments = vec![(Time::ZERO, sim.state().live.as_ref().unwrap().going.clone())];
    while !sim.is_over() {
        sim.step_to_event().unwrap();
        moments.push((sim.now(), sim.state().live.as_ref().unwrap().going.clone()));
    }
    let (mut worst, mut rows) = (0.0f64, 0);
    for line in lines {
        let Entry::Motion(row) = &line.entry else { continue };
        let slot = sim.model().slot_of_path(&format!("/robots/p{}", row.robot)).unwrap();
        let at = Moment::ZERO.plus(row.time_s);
        let after = moments.partition_point(|m| Moment::at(m.0) <= at);
        let pose = moments[after - 1].1[slot].pose_at(at);
        worst = worst.max((pose.at.x - row.position[0]).hypot(pose.at.y - row.position[1]));
        rows += 1;
    }
    assert!(rows > 50, "{rows} rows");
    worst
}

#[test]
fn an_imported_log_has_every_robot_where_its_rows_say() {
    let yard = Yard::new("neko-import");
    for world in [gathering(), moving()] {
        let lines = logged(&yard, &world);
        let worst = farthest(&yard, &lines);
        println!("at most {worst:.6} away");
        assert!(worst < 0.01, "{worst}");
    }
}

#[test]
fn an_imported_log_is_a_recording_that_replays() {
    let yard = Yard::new("neko-recording");
    logged(&yard, &gathering());
    let done = yard.run("import world.log -o back.mcap --json").exits(0).json("swarmyard-import/1");
    assert_eq!(done["robots"], 10);
    yard.run("replay back.mcap --verify").exits(0);
}

#[test]
fn the_printed_figures_can_be_imported_though_they_are_excerpts() {
    let yard = Yard::new("neko-figures");
    for figure in ["4.12", "5.2"] {
        let path = format!("{}/../formats/tests/neko/figure-{figure}.log", env!("CARGO_MANIFEST_DIR"));
        yard.write("figure.log", &std::fs::read_to_string(path).unwrap());
        yard.run("import figure.log -o figure.toml").exits(0);
        yard.run("check figure.toml").exits(0);
    }
}

#[test]
fn what_cannot_be_imported_is_named() {
    let yard = Yard::new("neko-bad");
    yard.write("bad.log", "31.059 p3 Event: nonsense\n");
    let done = yard.run("import bad.log -o bad.mcap").exits(3);
    assert!(done.err.contains("bad.log:1:"), "{}", done.err);
    yard.write("empty.log", "0.000 p0 Algorithm: hello\n");
    let done = yard.run("import empty.log -o empty.mcap").exits(3);
    assert!(done.err.contains("no line of the log says where a robot is"), "{}", done.err);
    assert!(done.err.contains("rows begin with `Event:`"), "{}", done.err);
    yard.run("import empty.log -o empty.txt").exits(2);
    // A digit too many would be a hundred years of pictures.
    let row = |t: &str| {
        format!(
            "{t} p0 Event: | {t} | 0 | [1.000,2.000] | [1.000,2.000] | 0.000 | 0.000 | 0.000 | 0.000 | 0.000 | Finish_MoveTo\n"
        )
    };
    yard.write("far.log", &(row("1.000") + &row("3000000000.000")));
    let done = yard.run("import far.log -o far.mcap").exits(3);
    assert!(
        done.err.contains("lasts until `3000000000` s") && done.err.contains("`3000000000.000 p0 Event:"),
        "{}",
        done.err
    );
    assert!(!yard.files().contains(&"far.mcap".to_owned()));
    yard.run("import missing.log -o x.mcap").exits(3);
}
