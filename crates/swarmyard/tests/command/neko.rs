//! Logs of Neko's robot simulator: written by `run`, read back by `import`.

use crate::yard::Yard;
use std::collections::{BTreeMap, BTreeSet};
use swarmyard::Sim;
use swarmyard::base::{Moment, Time};
use swarmyard::formats::neko::log::{self, Condition, Entry, Line, MessageEvent};
use swarmyard::record::{Event, LiveLine, Recording};

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
    for figure in ["4.12", "5.2", "5.4"] {
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
    assert!(done.err.contains("rows begin with `Event:`, messages with `messages`"), "{}", done.err);
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

/// What a recording tells of robots that live by events.
fn told(yard: &Yard, recording: &str) -> Vec<LiveLine> {
    let recording = Recording::open(&yard.path(recording)).unwrap();
    let events = recording.events().flat_map(|step| step.unwrap().events);
    let lines = events.filter_map(|e| if let Event::Live(line) = e { Some(*line) } else { None });
    lines.collect()
}

/// The same of a line of a run and of its log: all but the moment, the protocol and what only three decimals tell.
fn same(line: &LiveLine) -> LiveLine {
    let words = matches!(&*line.what, "said" | "pushed");
    let text = if words { line.text.clone() } else { String::new() };
    LiveLine { t: 0.0, protocol: String::new(), text, row: Vec::new(), ..line.clone() }
}

/// Runs a world with its log and its recording, imports the log, and answers what both recordings tell. A log has no
/// line for what is lost.
fn both(yard: &Yard, world: &str) -> [Vec<LiveLine>; 2] {
    yard.write("world.toml", world);
    yard.run("run world.toml -q --record own.mcap --neko-log world.log").exits(0);
    yard.run("import world.log -o back.mcap").exits(0);
    let mut own = told(yard, "own.mcap");
    own.retain(|line| line.what != "lost");
    [own, told(yard, "back.mcap")]
}

#[test]
fn an_imported_log_tells_what_the_recording_of_its_run_tells_at_the_same_times() {
    let yard = Yard::new("neko-told");
    let crash = "[[fault]]\nat = \"30s\"\ncrash = [\"p3\"]\n[[fault]]\nat = \"60s\"\nrecover = [\"p3\"]\n";
    let talking = world(
        "ghost",
        "[network]\nclass = \"random\"\nmean = \"1s\"\n[type.robot.algorithm]\nclass = \"roll-call\"\nevery = \"20s\"\n",
    ) + crash;
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for world in [helping(), talking, moving(), gathering()] {
        let [own, back] = both(&yard, &world);
        assert_eq!(own.len(), back.len());
        for (a, b) in own.iter().zip(&back) {
            // The last of three decimals.
            assert!((a.t - b.t).abs() < 5.001e-4, "{a:?}\n{b:?}");
            let (mut a, mut b) = (a.clone(), b.clone());
            for (x, y) in a.row.iter().zip(&b.row) {
                let apart = (x - y).abs();
                assert!(apart < 1e-3 || (apart - std::f64::consts::TAU).abs() < 1e-3, "{a:?}\n{b:?}");
            }
            if a.what == "wanted" {
                // Neko counts the tasks of a robot otherwise.
                (a.serial, b.serial) = (None, None);
            }
            assert_eq!(same(&a), same(&b));
            *kinds.entry(a.what).or_default() += 1;
        }
    }
    println!("{kinds:?}");
    for what in
        ["sent", "received", "said", "crashed", "recovered", "wanted", "began", "next", "finished", "asked"]
    {
        assert!(kinds[what] > 0, "{what}: {kinds:?}");
    }
    assert!(kinds["sent"] > 90 && kinds["received"] > 500 && kinds["collided"] > 3, "{kinds:?}");
}

#[test]
fn an_imported_log_is_written_again_to_the_byte() {
    let yard = Yard::new("neko-again");
    let mut there = 0;
    for world in [helping(), moving(), gathering()] {
        logged(&yard, &world);
        yard.run("import world.log -o back.toml").exits(0);
        yard.run("run back.toml --no-record -q --neko-log again.log").exits(0);
        let (first, again) = (yard.read("world.log"), yard.read("again.log"));
        for (a, b) in first.lines().zip(again.lines()) {
            assert_eq!(a, b);
        }
        assert_eq!(first.len(), again.len());
        there += first.lines().count();
    }
    assert!(there > 2000, "{there} lines");
}

/// As the thesis prints it, but for the blank before a comma.
fn plain(mut line: Line) -> Line {
    if let Entry::MotionRequest(request) = &mut line.entry
        && let log::Command::MoveTo { comma, .. } = &mut request.command
    {
        *comma = log::Comma::Apart;
    }
    line
}

#[test]
fn the_messages_and_words_that_the_thesis_prints_are_in_the_recording_and_come_out_again() {
    let yard = Yard::new("neko-figure");
    let path = format!("{}/../formats/tests/neko/figure-5.6.log", env!("CARGO_MANIFEST_DIR"));
    yard.write("figure.log", &std::fs::read_to_string(path).unwrap());
    let done = yard.run("import figure.log -o figure.mcap --json").exits(0).json("swarmyard-import/1");
    assert_eq!([&done["robots"], &done["sent"], &done["received"]], [10, 10, 4], "{done}");
    assert_eq!([&done["words"], &done["left_out"]], [4, 0], "{done}");
    let told = told(&yard, "figure.mcap");
    let of = |what: &str| told.iter().filter(|l| l.what == what).collect::<Vec<_>>();
    let sent = of("sent");
    assert_eq!((sent.len(), sent[6].robot.as_str(), sent[6].peers.len()), (10, "/robots/p6", 9));
    // The first that comes: from robot 6 to robot 1, at 0.031.
    let came = of("received")[0];
    assert_eq!((came.robot.as_str(), came.peers[0].as_str()), ("/robots/p1", "/robots/p6"));
    assert!((came.t - 0.031).abs() < 1e-12, "{}", came.t);
    assert_eq!((came.serial, came.label.as_str()), (sent[6].serial, "GOTO"));
    assert_eq!(came.content, "(673.2964725456461, 211.92816013281498)");
    assert_eq!(of("said")[3].text, "Someone told me to go to: (392.3105851072991, 358.1539584410355)");
    let info = yard.run("info figure.mcap --json").exits(0).json("swarmyard-info/1");
    assert_eq!([&info["events"]["sent"], &info["events"]["received"], &info["events"]["said"]], [10, 4, 4]);
    let exported = yard.run("export figure.mcap --to events").exits(0).out;
    assert_eq!(exported.lines().filter(|l| l.contains(r#""what":"received""#)).count(), 4, "{exported}");
    yard.run("import figure.log -o figure.toml").exits(0);
    yard.run("run figure.toml --no-record -q --neko-log again.log").exits(0);
    let again = log::read("again.log", &yard.read("again.log")).unwrap();
    let printed: Vec<Line> = figure("5.6").into_iter().map(plain).collect();
    assert_eq!(log::write(&again[1..]), log::write(&printed));
}

#[test]
fn what_a_log_says_of_sensors_and_of_odd_things_is_told_too() {
    let yard = Yard::new("neko-odd");
    let row = "0.000 p2 Event: | 0.000 | 2 | [1.000,2.000] | [1.000,2.000] | 0.000 | 0.000 | 0.000 | 0.000 | 0.000 | Finish_MoveTo";
    let log = [
        row,
        // Without a time: that of the line before, and of the robot it names.
        "SensorRequest: ROBOT# 2 | View with viewSize 100.0",
        "1.000 p2 SensorRequest: ROBOT# 2 | Own eye [1.0, 2.5]",
        "1.000 p2 SensorRequest: ROBOT# 2 | Contact",
        "1.500 p2 SensorEvent: TIME: 1.500 | ROBOT# 2 | Proximity with viewSize 50.0 | [[61.379,510.807], [70.128,140.692]]",
        "1.500 p2 SensorEvent: TIME: 1.500 | ROBOT# 2 | Something else | []",
        // Doubled, and never sent.
        "1.600 p2 messages e s p2 p4 HELLO ${x} \"quoted\"",
        "1.700 p2 messages e ns p2 p4 HELLO ${x} \"quoted\"",
        "1.700 p4 messages e r p2 p4 HELLO ${x} \"quoted\"",
        "1.800 p4 messages e r p2 p4 HELLO ${x} \"quoted\"",
        "1.900 p4 messages e r p7 p4 WHO",
        "1.900 p4 Algorithm: crashed",
        // Nobody's.
        "Algorithm: hello",
        "2.000 p2 Event: | 2.000 | 2 | [1.000,2.000] | [1.000,2.000] | 0.000 | 0.000 | 0.000 | 0.000 | 0.000 | Do_Spiral_Sequence",
    ];
    yard.write("odd.log", &(log.join("\n") + "\n"));
    let done = yard.run("import odd.log -o odd.mcap --json").exits(0).json("swarmyard-import/1");
    // One has a row; two more are named by messages.
    assert_eq!([&done["robots"], &done["sent"], &done["received"], &done["left_out"]], [3, 1, 3, 2]);
    let told = told(&yard, "odd.mcap");
    let brief: Vec<String> = told
        .iter()
        .map(|l| format!("{:.3} {} {} {:?} {}{}", l.t, &l.robot[7..], l.what, l.serial, l.content, l.text))
        .collect();
    let starts = [
        "0.000 /p2 finished None MoveTo",
        "0.000 /p2 asked None View { range: 100.0 }",
        "1.000 /p2 asked None Own { sensor: \"eye\", args: [1.0, 2.5] }",
        "1.000 /p2 watched None Watch { what: Contact, every: Exact }",
        "1.500 /p2 pushed None Near { range: 50.0 } | [Vec2 { x: 61.379, y: 510.807 }",
        "1.500 /p2 pushed None Own { sensor: \"Something_else\", args: [] } | []",
        "1.600 /p2 sent Some(0) ${x} \"quoted\"",
        "1.700 /p4 received Some(0) ${x} \"quoted\"",
        "1.800 /p4 received Some(0) ${x} \"quoted\"",
        "1.900 /p4 received Some(1) ",
        "1.900 /p4 crashed None ",
        "2.000 /p2 began None Spiral",
    ];
    assert_eq!(brief.len(), starts.len(), "{brief:#?}");
    for (line, start) in brief.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\n{start}");
    }
    // Who has no row stands aside, within the picture, and is shown there.
    yard.run("import odd.log -o odd.toml").exits(0);
    let sim = Sim::from_text(&yard.read("odd.toml")).unwrap();
    let places = ["p2", "p4", "p7"].map(|p| sim.pose(&format!("/robots/{p}")).unwrap().at);
    assert!(
        places[1].y < -18.0 && places[1].y == places[2].y && places[2].x - places[1].x >= 30.0,
        "{places:?}"
    );
    yard.run("replay odd.mcap --verify").exits(0);
}

/// Logs of Neko's other programs have messages, and no robots.
#[test]
fn a_log_of_messages_alone_is_a_recording_too() {
    let yard = Yard::new("neko-messages");
    let log = "0.000 p0 messages e s p0 p1,p2 SYNC hello\n0.000 p0 messages e ns p0 p1,p2 SYNC hello\n\
        1.250 p1 messages e r p0 p1,p2 SYNC hello\n1.500 p2 messages e r p0 p1,p2 SYNC hello\n";
    yard.write("sync.log", log);
    let done = yard.run("import sync.log -o sync.mcap").exits(0);
    assert!(
        done.out.contains("1 message sent, 2 received") && done.out.contains("left out: 1 line"),
        "{}",
        done.out
    );
    let came: Vec<(f64, String)> = told(&yard, "sync.mcap")
        .into_iter()
        .filter(|l| l.what == "received")
        .map(|l| (l.t, l.robot))
        .collect();
    assert_eq!(came, [(1.25, "/robots/p1".to_owned()), (1.5, "/robots/p2".to_owned())]);
}

#[test]
fn a_note_that_cannot_be_read_is_named_in_its_scenario() {
    let yard = Yard::new("neko-note");
    yard.write(
        "bad.toml",
        "format = 1\n[type.p]\nradius = 1\n[[type.p.part]]\nname = \"g\"\nclass = \"glider\"\n[type.p.algorithm]\nclass = \"playback\"\nrows = [[0, 0, 0, 0, 0]]\nnotes = [\"1 0 said a\", \"0 0 said b\"]\n[[robot]]\nname = \"p\"\ntype = \"p\"\n",
    );
    let done = yard.run("check bad.toml").exits(3);
    assert!(
        done.err.contains("bad.toml:10:") && done.err.contains("it comes before the one before it"),
        "{}",
        done.err
    );
    assert!(done.err.contains("`0 0 said b`"), "{}", done.err);
}
