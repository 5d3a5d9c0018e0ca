//! A small world with parts of its own, and a run through it.

use std::io::Cursor;
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Pose2, Rot2, Sources, Twist2, Vec2, math};
use swarmyard_engine::{Compiled, InputKind, Journal, Minds, Pool, Scratch, Step, compile, step};
use swarmyard_part_api::{
    ActRows, ActView, Actuator, Built, Channel, Class, Kind, Layout, Param, Registry, Segment, SenseRows,
    Sensor, Sheet, TypeLayout, World,
};
use swarmyard_record::{Header, Recorder, Recording, Summary};
use swarmyard_scene::{Node, Params, Scene, Value};

/// Bearing of ray 0 and step of the test rays.
pub(crate) const RAYS: (f64, f64, usize) = (-0.5, 0.25, 5);

/// Drives on an arc of its own; commands are added to it.
struct Drive {
    speed: f64,
    spin: f64,
}

impl Actuator for Drive {
    fn layout(&self) -> Layout {
        let twist = Channel::command("twist", 2, Unit::None, (-10.0, 10.0), "Added speed and spin.");
        let odo = Channel::reading("driven", 1, Unit::Metre, (0.0, 1e9), "Speed as driven.");
        Layout { channels: vec![twist, odo], ..Layout::default() }
    }

    fn act(&self, view: &ActView<'_>, rows: &mut ActRows<'_>) {
        for row in 0..rows.segments.len() {
            let slot = rows.first_slot + row;
            let command = rows.commands.row(row);
            let (speed, spin) = (self.speed + command[0], self.spin + command[1]);
            let pose = view.bodies.pose[slot];
            rows.segments[row] =
                Segment::arc(0.0, pose, Rot2::new(pose.heading), Twist2::new(speed, 0.0, spin));
            rows.out.row(row)[0] = speed;
        }
    }
}

/// Reads numbers that a test can predict: ray k reads k + 1, ray 1 meets nothing.
struct Rays(usize);

impl Sensor for Rays {
    fn layout(&self) -> Layout {
        let n = self.0;
        let range = Channel::reading("range", n, Unit::Metre, (0.1, 8.0), "Ranges.");
        let hit = Channel::reading("hit", n, Unit::None, (0.0, 3.0), "What was hit.");
        Layout { channels: vec![range, hit], bearings: Some((RAYS.0, RAYS.1)), ..Layout::default() }
    }

    fn reach(&self) -> f64 {
        8.0
    }

    fn sense(&self, _: &World<'_>, rows: &mut SenseRows<'_>) {
        let n = self.0;
        for row in 0..rows.len {
            let out = rows.out.row(row);
            for k in 0..n {
                out[k] = k as f64 + 1.0;
                out[n + k] = f64::from(u8::from(k != 1));
            }
        }
    }
}

fn drive(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Actuator(Box::new(Drive { speed: p.num("speed"), spin: p.num("spin") })))
}

fn rays(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Sensor(Box::new(Rays(p.num("count") as usize))))
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    let number = |name| Param::number(name, Unit::None, "For tests.").within(-100.0, 100.0).or_num(0.0);
    let sheet =
        Sheet::new("test-drive", Kind::Actuator, "For tests.").param(number("speed")).param(number("spin"));
    registry.add(Class::new(sheet, drive));
    let sheet = Sheet::new("test-rays", Kind::Sensor, "For tests.").param(number("count"));
    registry.add(Class::new(sheet, rays));
    registry
}

/// What a test may choose about its world.
pub(crate) struct Setup {
    pub(crate) robots: usize,
    pub(crate) speed: f64,
    pub(crate) spin: f64,
    pub(crate) seed: i64,
    pub(crate) rate_hz: f64,
    pub(crate) budget: f64,
    pub(crate) topics: Vec<&'static str>,
    /// Metres between neighbours on the grid where they start.
    pub(crate) spacing: f64,
    pub(crate) contact: &'static str,
    /// Whether they look around in a pattern, or all along x.
    pub(crate) mixed: bool,
    /// Whether there are walls, tracks, obstacles and a beacon.
    pub(crate) furnished: bool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            robots: 3,
            speed: 0.5,
            spin: 0.25,
            seed: 7,
            rate_hz: 10.0,
            budget: 2e9,
            topics: Vec::new(),
            spacing: 1.0,
            contact: "stop",
            mixed: false,
            furnished: true,
        }
    }
}

fn group(name: &str, children: Vec<Node>) -> Node {
    let mut node = Node::new(name, "");
    node.children = children;
    node
}

fn points(all: &[(f64, f64)]) -> Value {
    Value::Points(all.iter().map(|&(x, y)| Vec2::new(x, y)).collect())
}

fn robot_type(name: &str, setup: &Setup, shape: Params) -> Arc<Node> {
    let mut ty = Node::new(name, "type").with(shape);
    let motion =
        Params::default().with("speed", Value::Num(setup.speed)).with("spin", Value::Num(setup.spin));
    ty.children.push(Node::new("drive", "test-drive").with(motion));
    for (part, count) in [("rays", RAYS.2), ("nose", 1)] {
        ty.children.push(
            Node::new(part, "test-rays").with(Params::default().with("count", Value::Num(count as f64))),
        );
    }
    Arc::new(ty)
}

/// Compiles the world.
pub(crate) fn world(setup: &Setup) -> Compiled {
    let disc = robot_type("disc", setup, Params::default().with("radius", Value::Num(0.15)));
    let size = Value::Nums(vec![0.4, 0.25]);
    let cart = Params::default().with("size", size).with("colour", Value::Text("#c2410c".into()));
    let cart = robot_type("cart", setup, cart);
    let columns = math::max((setup.robots as f64).sqrt().ceil(), 1.0) as usize;
    let rows = setup.robots.div_ceil(columns);
    let half = setup.spacing * columns.max(rows) as f64 / 2.0 + 1.5;
    let robots = (0..setup.robots).map(|k| {
        let mut robot = Node::new(format!("r{}", k + 1), "robot");
        let at = |k: usize, n: usize| (k as f64 - (n as f64 - 1.0) / 2.0) * setup.spacing;
        let heading = if setup.mixed { (k * k) as f64 * 0.7 } else { 0.0 };
        robot.pose = Pose2::new(at(k % columns, columns), at(k / columns, rows), heading);
        robot.proto = Some(Arc::clone(if k % 3 == 2 { &cart } else { &disc }));
        robot
    });
    let robots = robots.collect();
    let world = Params::default()
        .with("min", Value::Point(Vec2::new(-half, -half)))
        .with("max", Value::Point(Vec2::new(half, half)));
    let mut world = Node::new("world", "world").with(world);
    let (mut obstacles, mut beacons) = (Vec::new(), Vec::new());
    if setup.furnished {
        let wall =
            Params::default().with("points", points(&[(-half, half - 0.8), (-half + 1.5, half - 0.8)]));
        world.children.push(group("walls", vec![Node::new("north", "wall").with(wall)]));
        let middle = points(&[(-half + 0.5, -half + 0.4), (0.0, -half + 0.4), (half - 0.5, -half + 1.0)]);
        let track = Params::default().with("points", middle).with("width", Value::Num(0.1));
        world.children.push(group("tracks", vec![Node::new("line", "track").with(track)]));
        let mut block =
            Node::new("block", "obstacle").with(Params::default().with("size", Value::Nums(vec![0.6, 0.3])));
        block.pose = Pose2::new(half - 0.6, half - 0.6, 0.6);
        let mut pillar =
            Node::new("pillar", "obstacle").with(Params::default().with("radius", Value::Num(0.2)));
        pillar.pose = Pose2::new(-half + 0.5, half - 0.4, 0.0);
        obstacles.extend([block, pillar]);
        let mut lamp = Node::new("lamp", "beacon")
            .with(Params::default().with("id", Value::Int(42)).with("aperture", Value::Num(1.0)));
        lamp.pose = Pose2::new(half - 0.3, 0.0, 3.0);
        beacons.push(lamp);
    }
    let run = Params::default()
        .with("contact", Value::Text(setup.contact.into()))
        .with("seed", Value::Int(setup.seed));
    let topics = setup.topics.iter().map(|t| (*t).to_owned()).collect();
    let record = Params::default()
        .with("rate", Value::Num(setup.rate_hz))
        .with("budget", Value::Num(setup.budget))
        .with("topics", Value::Texts(topics));
    let mut root =
        Node::new("", "").with(Params::default().with("title", Value::Text("A small yard".into())));
    root.children = vec![
        Node::new("run", "run").with(run),
        world,
        group("robots", robots),
        group("obstacles", obstacles),
        group("beacons", beacons),
        Node::new("record", "record").with(record),
    ];
    let mut sources = Sources::default();
    sources
        .add("yard.toml", format!("# a scenario with {} robots\ninclude = [\"parts.toml\"]\n", setup.robots));
    sources.add("parts.toml", "# parts\n");
    match compile(&Scene { root, sources }, &registry()) {
        Ok(compiled) => compiled,
        Err(problems) => panic!("the test world does not compile: {problems:?}"),
    }
}

/// A run with its recorder.
pub(crate) struct Run<W: std::io::Write + std::io::Seek> {
    pub(crate) world: Compiled,
    pub(crate) journal: Journal,
    pub(crate) recorder: Recorder<W>,
    pub(crate) hashes: Vec<u64>,
    scratch: Scratch,
    pool: Pool,
}

impl<W: std::io::Write + std::io::Seek> Run<W> {
    pub(crate) fn new(setup: &Setup, out: W) -> Run<W> {
        let world = world(setup);
        let header = Header::of(&world.model, "yard.toml", &[("run.seed".into(), setup.seed.to_string())]);
        let mut recorder = Recorder::to(out, &header, &world.model).unwrap();
        recorder.start(&world.model, &world.state);
        let pool = Pool::new(1).unwrap();
        Run {
            world,
            journal: Journal::default(),
            recorder,
            hashes: Vec::new(),
            scratch: Scratch::default(),
            pool,
        }
    }

    /// Gives robot `path` a command for its drive, at the current stop.
    pub(crate) fn command(&mut self, path: &str, speed: f64, spin: f64) {
        let robot = swarmyard_base::Uid::of_path(path);
        let kind = InputKind::Command { robot, part: 0, first: 0, values: vec![speed, spin] };
        self.journal.push(self.world.state.stops, kind);
    }

    pub(crate) fn steps(&mut self, n: usize) {
        for _ in 0..n {
            let (model, state) = (&self.world.model, &mut self.world.state);
            let mut minds = Minds::new(model);
            let Step::Done(frame) =
                step(model, state, &mut minds, &self.journal, &mut self.scratch, &self.pool)
            else {
                panic!("nobody waits in this world")
            };
            self.hashes.push(frame.hash);
            self.recorder.frame(model, state, &frame, &self.journal);
        }
    }

    /// Goes back to an earlier state.
    pub(crate) fn rewind(&mut self, state: swarmyard_engine::State) {
        self.journal.cut_from(state.stops);
        self.world.state = state;
        self.scratch.forget();
    }

    pub(crate) fn finish(self) -> Summary {
        let hash = self.hashes.last().copied().unwrap_or(0);
        self.recorder.finish(&self.world.model, &self.world.state, hash)
    }
}

/// Something to write to that can be looked at afterwards, and that is full after `room` bytes.
#[derive(Clone)]
pub(crate) struct Disk {
    pub(crate) bytes: Arc<std::sync::Mutex<Cursor<Vec<u8>>>>,
    pub(crate) room: usize,
}

impl Disk {
    pub(crate) fn new(room: usize) -> Disk {
        Disk { bytes: Arc::default(), room }
    }

    pub(crate) fn contents(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().get_ref().clone()
    }
}

impl std::io::Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut disk = self.bytes.lock().unwrap();
        let left = self.room.saturating_sub(disk.get_ref().len());
        if left == 0 && !bytes.is_empty() {
            return Err(std::io::Error::from(std::io::ErrorKind::StorageFull));
        }
        disk.write(&bytes[..bytes.len().min(left)])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl std::io::Seek for Disk {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        self.bytes.lock().unwrap().seek(to)
    }
}

/// Records so many steps; answers the file's bytes.
pub(crate) fn record(setup: &Setup, steps: usize) -> (Vec<u8>, Summary, Vec<u64>) {
    let disk = Disk::new(usize::MAX);
    let mut run = Run::new(setup, disk.clone());
    run.steps(steps);
    let hashes = run.hashes.clone();
    let summary = run.finish();
    (disk.contents(), summary, hashes)
}

pub(crate) fn open(bytes: Vec<u8>) -> Recording {
    match Recording::from_bytes(bytes) {
        Ok(recording) => recording,
        Err(e) => panic!("{e}"),
    }
}
