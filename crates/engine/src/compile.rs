//! Scene → Model + State: every name resolved once, every class built, every start checked.

use crate::clash::{Clash, clashes};
use crate::model::{
    BodyModel, ContactRule, ControllerKind, ControllerModel, Model, PartKind, PartModel, RecordSettings,
    RunSettings, TypeModel,
};
use crate::paths::Paths;
use crate::referee::{self, Assertion, Holds};
use crate::state::State;
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::path::natural_cmp;
use swarmyard_base::{Diagnostic, Diagnostics, Pose2, Ratio, Time, Twist2, Uid, Vec2, math};
use swarmyard_motion::Material;
use swarmyard_part_api::{
    Beacon, BodyKind, Built, Detail, Equipment, FixedEdge, FixedIndex, Kind, Layout, Outline, PortChannel,
    RegisterMap, Registry, Track, TrackIndex, TypeLayout, registers,
};
use swarmyard_scene::{Node, Params, Scene, Value, expr};

mod live;

/// A compiled scenario.
pub struct Compiled {
    /// What is fixed.
    pub model: Model,
    /// The state at the start.
    pub state: State,
    /// What is allowed, and hardly meant.
    pub warnings: Diagnostics,
}

/// Compiles a scene.
///
/// # Errors
/// All problems found, not only the first.
pub fn compile(scene: &Scene, registry: &Registry) -> Result<Compiled, Diagnostics> {
    let mut c = Compiler {
        scene,
        registry,
        problems: Diagnostics::default(),
        surfaces: BTreeMap::new(),
        materials: Vec::new(),
    };
    let run = c.run();
    c.read_surfaces();
    let mut fixed = Fixed::default();
    c.fixed(&mut fixed);
    let mut found = c.robots();
    found.extend(c.obstacles());
    let (mut model, poses) = c.assemble(run, fixed, found);
    model.live = c.live(&model);
    if c.problems.has_errors() {
        c.problems.sort();
        return Err(c.problems);
    }
    c.check_start(&model, &poses);
    model.asserts = c.asserts(&model);
    if c.problems.has_errors() {
        c.problems.sort();
        return Err(c.problems);
    }
    model.world = model.world_hash();
    model.hosts = c.hosts(&model);
    model.displays = c.displays();
    let mut state = State::new(&model, poses);
    c.first_motion(&model, &mut state);
    c.check_zones(&model, &state.pose);
    c.problems.sort();
    Ok(Compiled { model, state, warnings: c.problems })
}

/// Path of the border of the world.
pub(crate) const BORDER: &str = "/world/border";

/// One type with its bodies, before slots are given out.
struct Found {
    ty: TypeModel,
    outline: Outline,
    heights: (f64, f64),
    /// In the natural order of paths.
    bodies: Placed,
}

/// Paths and poses of bodies.
type Placed = Vec<(Box<str>, Pose2)>;

struct Compiler<'a> {
    scene: &'a Scene,
    registry: &'a Registry,
    problems: Diagnostics,
    surfaces: BTreeMap<String, u32>,
    materials: Vec<Material>,
}

impl Compiler<'_> {
    /// Parameters of a node, checked against its sheet and completed with defaults.
    ///
    /// Text formats have done this already; scenes built by program have not.
    fn params(&mut self, node: Option<&Node>, class: &str, path: &str) -> Params {
        let mut params = node.map(|n| n.params.clone()).unwrap_or_default();
        if let Some(sheet) = self.registry.sheet(class) {
            sheet.complete(&mut params, path, node.and_then(|n| n.span), &mut self.problems);
        }
        params
    }

    fn run(&mut self) -> RunSettings {
        let p = self.params(self.scene.find("/run"), "run", "/run");
        let tenth = || Ratio::new(1, 10).unwrap_or_else(|| unreachable!("one tenth is a ratio"));
        let num = |name: &str| p.num_or_none(name).unwrap_or(0.0);
        RunSettings {
            quantum: p.ratio_or_none("quantum").unwrap_or_else(tenth),
            duration: Time::from_seconds(num("duration")),
            seed: p.int_or_none("seed").unwrap_or(0) as u64,
            contact: match p.text_or_none("contact") {
                Some("impulse") => ContactRule::Impulse,
                Some("own") => ContactRule::Own,
                Some("ghost") => ContactRule::Ghost,
                _ => ContactRule::Stop,
            },
            detail: p.text_or_none("detail").and_then(Detail::of_word).unwrap_or_default(),
            gravity: num("gravity"),
            floor_friction: num("floor_friction"),
            rest_speed: num("rest_speed"),
            impact_limit: p.int_or_none("impact_limit").and_then(|n| u32::try_from(n).ok()).unwrap_or(64),
        }
    }

    fn read_surfaces(&mut self) {
        let plain = self.params(None, "surface", "/surfaces");
        let material = |p: &Params| Material {
            restitution: p.num_or_none("restitution").unwrap_or(0.0),
            friction: p.num_or_none("friction").unwrap_or(0.0),
        };
        self.materials.push(material(&plain));
        for node in self.scene.group("/surfaces") {
            let p = self.params(Some(node), "surface", &format!("/surfaces/{}", node.name));
            self.surfaces.insert(node.name.clone(), self.materials.len() as u32);
            self.materials.push(material(&p));
        }
    }

    fn surface(&mut self, params: &Params, path: &str) -> u32 {
        let Some(name) = params.text_or_none("surface") else { return 0 };
        if let Some(&k) = self.surfaces.get(name) {
            return k;
        }
        let d = Diagnostic::error("unknown-surface", format!("there is no surface `{name}`"))
            .at(params.span("surface"))
            .on(path)
            .suggest(name, self.surfaces.keys().map(String::as_str));
        self.problems.push(d);
        0
    }

    /// Border, walls and fixed polygonal obstacles as edges.
    fn fixed(&mut self, fixed: &mut Fixed) {
        let world = self.params(self.scene.find("/world"), "world", "/world");
        if let (Some(min), Some(max)) = (world.point_or_none("min"), world.point_or_none("max")) {
            let corners = [min, Vec2::new(max.x, min.y), max, Vec2::new(min.x, max.y)];
            let heights = (0.0, world.num_or_none("height").unwrap_or(1.0));
            let surface = self.surface(&world, "/world");
            fixed.chain(BORDER, &corners, true, (BodyKind::Wall, heights, surface));
        }
        for node in self.scene.group("/world/walls") {
            let path = format!("/world/walls/{}", node.name);
            let p = self.params(Some(node), "wall", &path);
            let surface = self.surface(&p, &path);
            let points = p.points_or_none("points").unwrap_or(&[]);
            let closed = p.bool_or_none("closed").unwrap_or(false);
            fixed.chain(&path, points, closed, (BodyKind::Wall, heights_of(&p), surface));
        }
        for node in self.scene.group("/obstacles").iter().filter(|n| is_fixed_polygon(n)) {
            let path = format!("/obstacles/{}", node.name);
            let p = self.params(Some(node), "obstacle", &path);
            let surface = self.surface(&p, &path);
            let corners: Vec<Vec2> = polygon_of(&p).iter().map(|c| node.pose.point(*c)).collect();
            fixed.chain(&path, &corners, true, (BodyKind::Obstacle, heights_of(&p), surface));
            fixed.places.push((Uid::of_path(&path), node.pose.at));
        }
    }

    fn robots(&mut self) -> Vec<Found> {
        let mut by_type: BTreeMap<&str, (&Node, Placed)> = BTreeMap::new();
        for robot in self.scene.group("/robots") {
            let Some(proto) = robot.proto.as_deref() else {
                let d = Diagnostic::error("missing-key", format!("robot `{}` has no type", robot.name))
                    .at(robot.span);
                self.problems.push(d);
                continue;
            };
            let entry = by_type.entry(&proto.name).or_insert_with(|| (proto, Vec::new()));
            entry.1.push((format!("/robots/{}", robot.name).into_boxed_str(), robot.pose));
        }
        let mut types: Vec<_> = by_type.into_values().collect();
        types.sort_by(|a, b| natural_cmp(&a.0.name, &b.0.name));
        let found = types.into_iter().filter_map(|(node, mut bodies)| {
            if !bodies.is_sorted_by(|a, b| natural_cmp(&a.0, &b.0).is_lt()) {
                bodies.sort_by(|a, b| natural_cmp(&a.0, &b.0));
            }
            let path = format!("/types/{}", node.name);
            let p = self.params(Some(node), "type", &path);
            let heights = type_heights(&p);
            let (ty, outline) = self.body_type(node, &p, &path, BodyKind::Robot)?;
            Some(Found { ty, outline, heights, bodies })
        });
        found.collect()
    }

    /// Displays elsewhere, in the order of their names.
    fn displays(&self) -> Vec<(String, String)> {
        let display = |node: &Node| Some((node.name.clone(), node.params.text_or_none("on")?.to_owned()));
        let mut all: Vec<_> = self.scene.group("/displays").iter().filter_map(display).collect();
        all.sort_by(|a, b| natural_cmp(&a.0, &b.0));
        all
    }

    /// Where robots are to be simulated that say so themselves.
    fn hosts(&self, model: &Model) -> BTreeMap<u32, String> {
        let place = |node: &Node| {
            let on = node.params.text_or_none("on")?;
            Some((model.slot_of_path(&format!("/robots/{}", node.name))? as u32, on.to_owned()))
        };
        self.scene.group("/robots").iter().filter_map(place).collect()
    }

    /// Obstacles that are bodies: moving, movable, or fixed discs.
    fn obstacles(&mut self) -> Vec<Found> {
        let mut nodes: Vec<&Node> =
            self.scene.group("/obstacles").iter().filter(|n| !is_fixed_polygon(n)).collect();
        nodes.sort_by(|a, b| natural_cmp(&a.name, &b.name));
        let mut all = Vec::new();
        for node in nodes {
            let path = format!("/obstacles/{}", node.name);
            // An obstacle of a robot's type is made like such a robot.
            let (made, class) = node.proto.as_deref().map_or((node, "obstacle"), |proto| (proto, "type"));
            let p = self.params(Some(made), class, &path);
            let Some((mut ty, outline)) = self.body_type(made, &p, &path, BodyKind::Obstacle) else {
                continue;
            };
            ty.name = format!("obstacle {}", node.name);
            if !moves(node) {
                (ty.body.inverse_mass, ty.body.inverse_inertia) = (0.0, 0.0);
            }
            let bodies = vec![(path.into_boxed_str(), node.pose)];
            let heights = if node.proto.is_some() { type_heights(&p) } else { heights_of(&p) };
            all.push(Found { ty, outline, heights, bodies });
        }
        all
    }

    /// Movable obstacles start with the velocity they were given; everything else starts at rest.
    fn first_motion(&self, model: &Model, state: &mut State) {
        for node in self.scene.group("/obstacles").iter().filter(|n| n.children.is_empty() && moves(n)) {
            let slot = model.slot_of_path(&format!("/obstacles/{}", node.name));
            if let (Some(slot), Some(&[x, y])) = (slot, node.params.nums_or_none("velocity")) {
                let v = state.pose[slot].rot().unapply(Vec2::new(x, y));
                state.twist[slot] = Twist2::new(v.x, v.y, node.params.num_or_none("spin").unwrap_or(0.0));
            }
        }
    }

    /// Outline, mass, parts and controllers of a robot type or an obstacle.
    fn body_type(
        &mut self,
        node: &Node,
        p: &Params,
        path: &str,
        kind: BodyKind,
    ) -> Option<(TypeModel, Outline)> {
        let outline = match outline_of(p) {
            Ok(outline) => outline,
            Err(why) => {
                self.problems
                    .push(Diagnostic::error("bad-outline", why).at(p.span("polygon").or(node.span)).on(path));
                return None;
            }
        };
        let mass = p.num_or_none("mass").unwrap_or(1.0);
        let inertia = p.num_or_none("inertia").unwrap_or(mass * outline.inertia_per_mass());
        let body = BodyModel {
            inverse_mass: 1.0 / mass,
            inverse_inertia: 1.0 / inertia,
            surface: self.surface(p, path),
            own_stop: p.text_or_none("on_contact") == Some("stop"),
            colour: p.text_or_none("colour").map(str::to_owned),
        };
        let (parts, controllers, registers, equipment) = self.parts(node, &outline, path);
        let life = self.life(node, &outline, path, equipment);
        let drives = |part: &PartModel| matches!(&part.kind, PartKind::Actuator(a) if a.moves_body());
        let mover = parts.iter().position(drives);
        let movers = parts.iter().filter(|part| drives(part)).count();
        if movers > 1 {
            let what = format!("`{}` has {movers} parts that move the body; it can have one", node.name);
            self.problems.push(Diagnostic::error("two-drives", what).at(node.span).on(path));
        }
        let ty = TypeModel {
            name: node.name.clone(),
            slots: 0..0,
            body,
            outline: 0,
            kind,
            parts,
            controllers,
            mover,
            registers,
            on: p.text_or_none("on").map(str::to_owned),
            life,
        };
        Some((ty, outline))
    }

    /// Parts first, then registers, then controllers: each may look for what was built before.
    fn parts(
        &mut self,
        node: &Node,
        outline: &Outline,
        path: &str,
    ) -> (Vec<PartModel>, Vec<ControllerModel>, Arc<RegisterMap>, Equipment) {
        let is_controller = |n: &&Node| self.kind_of(n) == Some(Kind::Controller);
        let own: Vec<&Node> = node.children.iter().filter(|n| !self.is_protocol(n)).collect();
        let (registers, parted): (Vec<&Node>, Vec<&Node>) =
            own.into_iter().partition(|n| &*n.class == "register");
        let mut equipment = Equipment::default();
        let (last, mut first): (Vec<&Node>, Vec<&Node>) = parted.into_iter().partition(is_controller);
        // An odometer needs its drive, wherever that stands in the file.
        let is_sensor = |n: &&Node| self.kind_of(n) == Some(Kind::Sensor);
        first.sort_by_key(is_sensor);
        let errors = self.problems.0.len();
        let mut layouts: Vec<(String, &'static str, Layout)> = Vec::new();
        let (mut parts, mut controllers, mut ports) = (Vec::new(), Vec::new(), Vec::new());
        let none = RegisterMap::default();
        for child in first {
            let known = TypeLayout { outline, parts: &layouts, registers: &none, name: &node.name };
            let Some((class, built)) = self.build(child, &known, path) else { continue };
            let (layout, kind, channels) = match built {
                Built::Sensor(sensor) => {
                    let (layout, period, ports) = (sensor.layout(), sensor.period(), sensor.ports());
                    (layout, PartKind::Sensor(sensor, period), ports)
                }
                Built::Actuator(actuator) => {
                    let (layout, ports) = (actuator.layout(), actuator.ports());
                    (layout, PartKind::Actuator(actuator), ports)
                }
                Built::Motions(module) => {
                    equipment.modules.push((child.name.clone(), module));
                    continue;
                }
                Built::Senses(sensor) => {
                    equipment.sensors.push((child.name.clone(), sensor));
                    continue;
                }
                _ => continue,
            };
            layouts.push((child.name.clone(), class, layout.clone()));
            let has_ports = !channels.is_empty();
            ports.push(channels);
            parts.push(PartModel { name: child.name.clone(), class, layout, kind, has_ports });
        }
        let registers = self.registers(&registers, &layouts, &ports, path);
        // What is wrong with parts would show in controllers once more, in other words.
        let last = if self.problems.0.len() > errors { Vec::new() } else { last };
        for child in last {
            let known = TypeLayout { outline, parts: &layouts, registers: &registers, name: &node.name };
            let Some((class, built)) = self.build(child, &known, path) else { continue };
            let model = match built {
                Built::Controller(model) => ControllerKind::Columns(model),
                Built::Program(program) => ControllerKind::Program(program),
                Built::Outside(outside) => ControllerKind::Outside(outside),
                _ => continue,
            };
            let (name, state) = (child.name.clone(), model.state());
            controllers.push(ControllerModel { name, class, state, model });
        }
        (parts, controllers, registers, equipment)
    }

    /// Builds one part or controller; problems are kept.
    fn build(&mut self, child: &Node, known: &TypeLayout<'_>, path: &str) -> Option<(&'static str, Built)> {
        self.build_of(Kind::of_section(child.section), child, known, path)
    }

    /// What kind of thing a child of a type is.
    fn kind_of(&self, child: &Node) -> Option<Kind> {
        let class = self.registry.of_kind(&child.class, Kind::of_section(child.section)).ok()?;
        Some(class.sheet.kind)
    }

    /// The same for other kinds: one name may exist once per kind.
    fn build_of(
        &mut self,
        kinds: &[Kind],
        child: &Node,
        known: &TypeLayout<'_>,
        path: &str,
    ) -> Option<(&'static str, Built)> {
        let path = format!("{path}/{}", child.name);
        let registry = self.registry;
        let class = match registry.of_kind(&child.class, kinds) {
            Ok(class) => class,
            Err(d) => {
                self.problems.push(d.at(child.span).on(path));
                return None;
            }
        };
        let errors = self.problems.0.len();
        let mut params = child.params.clone();
        class.sheet.complete(&mut params, &path, child.span, &mut self.problems);
        let build = class.build.as_ref().filter(|_| self.problems.0.len() == errors)?;
        match build(&params, known) {
            Ok(built) => Some((class.sheet.class, built)),
            Err(d) => {
                let span = d.span.or(child.span);
                self.problems.push(d.at(span).on(path));
                None
            }
        }
    }

    fn registers(
        &mut self,
        nodes: &[&Node],
        layouts: &[(String, &'static str, Layout)],
        ports: &[Vec<PortChannel>],
        path: &str,
    ) -> Arc<RegisterMap> {
        let mut completed = Vec::new();
        for node in nodes {
            completed.push((*node, self.params(Some(node), "register", path)));
        }
        let parts: Vec<registers::PartEntry<'_>> = layouts
            .iter()
            .zip(ports)
            .map(|((name, _, layout), ports)| registers::PartEntry { name, layout, ports })
            .collect();
        Arc::new(registers::compile(&completed, &parts).unwrap_or_else(|problems| {
            self.problems.0.extend(problems.into_iter().map(|d| d.on(path)));
            RegisterMap::default()
        }))
    }

    /// Gives out slots and puts everything together.
    fn assemble(&mut self, run: RunSettings, fixed: Fixed, found: Vec<Found>) -> (Model, Vec<Pose2>) {
        let n = found.iter().map(|f| f.bodies.len()).sum();
        let mut model = self.empty_model(run, fixed);
        let mut poses = Vec::with_capacity(n);
        for Found { mut ty, outline, heights, bodies } in found {
            let outline = match model.outlines.iter().position(|o| *o == outline) {
                Some(k) => k,
                None => {
                    model.discs.push(outline.inscribed());
                    model.outlines.push(outline);
                    model.outlines.len() - 1
                }
            };
            let first = poses.len();
            for (path, mut pose) in bodies {
                pose.heading = swarmyard_base::math::wrap_angle(pose.heading);
                model.uids.push(Uid::of_path(&path));
                if !model.paths.push(&path) {
                    let d = Diagnostic::error("too-large", "the names of all bodies have more than 4 GiB");
                    self.problems.push(d.help("give them shorter names"));
                    return (model, poses);
                }
                poses.push(pose);
            }
            ty.slots = first..poses.len();
            ty.outline = outline as u32;
            let t = model.types.len() as u32;
            model.type_of.resize(poses.len(), t);
            model.outline_of.resize(poses.len(), outline as u32);
            model.kinds.resize(poses.len(), ty.kind);
            model.heights.push(heights);
            model.types.push(ty);
        }
        model.paths.shrink();
        let Model { uids, by_uid, .. } = &mut model;
        by_uid.extend(0..uids.len() as u32);
        by_uid.sort_unstable_by_key(|slot| (uids[*slot as usize], *slot));
        model.own = model.uids.len();
        let uid = |slot: u32| model.uids[slot as usize];
        for two in model.by_uid.windows(2).filter(|w| uid(w[0]) == uid(w[1])) {
            let (a, b) = (&model.paths[two[0] as usize], &model.paths[two[1] as usize]);
            let d = if a == b {
                Diagnostic::error("duplicate-name", format!("there are two of `{a}`"))
            } else {
                Diagnostic::error("uid-collision", format!("`{a}` and `{b}` have the same uid"))
                    .help("rename one of them")
            };
            self.problems.push(d);
        }
        (model, poses)
    }

    fn empty_model(&mut self, run: RunSettings, mut fixed: Fixed) -> Model {
        fixed.paths.sort();
        fixed.places.sort_by_key(|p| p.0);
        let world = self.params(self.scene.find("/world"), "world", "/world");
        let record = self.params(self.scene.find("/record"), "record", "/record");
        let bounds = world.point_or_none("min").zip(world.point_or_none("max"));
        if let Some((min, max)) = bounds
            && !(min.x < max.x && min.y < max.y)
        {
            let d = Diagnostic::error("out-of-range", "`min` must be below and left of `max`");
            self.problems.push(d.at(world.span("min")).on("/world"));
        }
        let tracks = self.tracks();
        Model {
            title: self.scene.root.params.text_or_none("title").unwrap_or("").to_owned(),
            run,
            bounds,
            outlines: Vec::new(),
            discs: Vec::new(),
            surfaces: self.materials.clone(),
            fixed_outlines: fixed.edges.iter().map(|e| Outline::line(e.a, e.b)).collect(),
            fixed: FixedIndex::new(fixed.edges),
            fixed_paths: fixed.paths,
            fixed_places: fixed.places,
            track_index: TrackIndex::new(&tracks),
            tracks,
            beacons: self.beacons(),
            live: None,
            types: Vec::new(),
            paths: Paths::default(),
            uids: Vec::new(),
            type_of: Vec::new(),
            outline_of: Vec::new(),
            kinds: Vec::new(),
            heights: Vec::new(),
            hosts: BTreeMap::new(),
            by_uid: Vec::new(),
            own: 0,
            here: None,
            displays: Vec::new(),
            asserts: Vec::new(),
            record: RecordSettings {
                rate_hz: record.num_or_none("rate").unwrap_or(10.0),
                budget_bytes: record.num_or_none("budget").unwrap_or(2e9) as u64,
                topics: record.texts_or_none("topics").unwrap_or(&[]).to_vec(),
            },
            sources: self.scene.sources.clone(),
            world: 0,
        }
    }

    fn tracks(&mut self) -> Vec<Track> {
        let mut tracks = Vec::new();
        for node in self.scene.group("/world/tracks") {
            let path = format!("/world/tracks/{}", node.name);
            let p = self.params(Some(node), "track", &path);
            tracks.push(Track {
                path,
                points: p.points_or_none("points").unwrap_or(&[]).to_vec(),
                width: p.num_or_none("width"),
                reflectivity: p.num_or_none("reflectivity").unwrap_or(1.0),
            });
        }
        tracks
    }

    /// Sorted by code and uid, so that who reads them in order needs no sorting and no file order.
    fn beacons(&mut self) -> Vec<Beacon> {
        let mut beacons = Vec::new();
        for node in self.scene.group("/beacons") {
            let path = format!("/beacons/{}", node.name);
            let p = self.params(Some(node), "beacon", &path);
            beacons.push(Beacon {
                uid: Uid::of_path(&path),
                path,
                pose: node.pose,
                id: p.int_or_none("id").and_then(|id| u16::try_from(id).ok()).unwrap_or(0),
                aperture: p.num_or_none("aperture").unwrap_or(0.0),
                range: p.num_or_none("range").unwrap_or(0.0),
                height: p.num_or_none("height").unwrap_or(0.0),
            });
        }
        beacons.sort_by_key(|b| (b.id, b.uid));
        beacons
    }

    fn asserts(&mut self, model: &Model) -> Vec<Assertion> {
        let mut asserts = Vec::new();
        for node in self.scene.group("/asserts") {
            let path = format!("/asserts/{}", node.name);
            let p = self.params(Some(node), "assert", &path);
            let mut condition = |key: &str| {
                let text = p.text_or_none(key)?;
                let parsed = expr::parse(text)
                    .map_err(|e| Diagnostic::error("bad-condition", e.message).at(p.span(key)));
                match parsed.and_then(|e| referee::resolve(model, &e, p.span(key))) {
                    Ok(rule) => Some(rule),
                    Err(d) => {
                        self.problems.push(d.on(path.clone()));
                        None
                    }
                }
            };
            let (Some(that), when) = (condition("that"), condition("when")) else { continue };
            asserts.push(Assertion {
                name: p.text_or_none("name").unwrap_or(&node.name).to_owned(),
                text: p.text_or_none("that").unwrap_or("").to_owned(),
                when_text: p.text_or_none("when").map(str::to_owned),
                holds: match p.text_or_none("holds") {
                    Some("sometime") => Holds::Sometime,
                    Some("at-end") => Holds::AtEnd,
                    _ => Holds::Always,
                },
                when,
                that,
            });
        }
        asserts
    }

    /// Nothing may overlap, or be outside of the bounds, at the start.
    fn check_start(&mut self, model: &Model, poses: &[Pose2]) {
        for clash in clashes(model, Detail::Normal, poses, |_| true) {
            let (Clash::Outside(slot) | Clash::Overlap(slot, _) | Clash::Inside(slot, _)) = clash;
            let path = &model.paths[slot];
            let other = |uid: Uid| model.path_of(uid).unwrap_or("something fixed");
            let (code, what, place) = match clash {
                Clash::Outside(_) => {
                    let p = poses[slot].at;
                    let what = format!("`{path}` starts outside of the world, at `({}, {})`", p.x, p.y);
                    ("outside", what, path)
                }
                Clash::Overlap(_, uid) => {
                    ("overlap", format!("`{path}` overlaps `{}` at the start", other(uid)), path)
                }
                Clash::Inside(_, uid) => {
                    ("overlap", format!("`{path}` starts inside of `{}`", other(uid)), other(uid))
                }
            };
            let span = self.scene.find(place).and_then(|node| node.span);
            self.problems.push(Diagnostic::error(code, what).at(span).on(path));
        }
    }
}

fn moves(node: &Node) -> bool {
    node.proto.is_some() || !node.children.is_empty() || node.params.bool_or_none("movable") == Some(true)
}

fn is_fixed_polygon(node: &Node) -> bool {
    !moves(node) && node.params.value("radius").is_none()
}

fn type_heights(p: &Params) -> (f64, f64) {
    (0.0, p.num_or_none("height").unwrap_or(0.3))
}

fn heights_of(p: &Params) -> (f64, f64) {
    (p.num_or_none("from").unwrap_or(0.0), p.num_or_none("to").unwrap_or(1.0))
}

/// Corners of a rectangle or polygon, in the body's frame.
fn polygon_of(p: &Params) -> Vec<Vec2> {
    match (p.value("size"), p.value("polygon")) {
        (Some(Value::Nums(s)), _) if s.len() == 2 => Outline::rectangle(s[0], s[1]).corners().to_vec(),
        (_, Some(Value::Points(points))) => points.clone(),
        _ => vec![Vec2::ZERO],
    }
}

fn outline_of(p: &Params) -> Result<Outline, String> {
    if let Some(r) = p.num_or_none("radius") {
        return Ok(Outline::disc(r));
    }
    if let Some(&[length, width]) = p.nums_or_none("size") {
        if math::min(length, width) < 1e-4 {
            return Err("the sides of `size` must be at least 0.1 mm".into());
        }
        return Ok(Outline::rectangle(length, width));
    }
    match p.points_or_none("polygon") {
        Some(points) => Outline::polygon(points),
        None => Err("a body needs one of `radius`, `size`, `polygon`".into()),
    }
}

/// Everything that never moves.
#[derive(Default)]
struct Fixed {
    edges: Vec<FixedEdge>,
    paths: Vec<(Uid, String)>,
    places: Vec<(Uid, Vec2)>,
}

impl Fixed {
    /// Adds the edges along a chain of points.
    fn chain(
        &mut self,
        path: &str,
        points: &[Vec2],
        closed: bool,
        (kind, heights, surface): (BodyKind, (f64, f64), u32),
    ) {
        let n = points.len();
        let owner = Uid::of_path(path);
        self.paths.push((owner, path.to_owned()));
        for k in 0..if closed { n } else { n.saturating_sub(1) } {
            let (a, b) = (points[k], points[(k + 1) % n]);
            let uid = Uid::of_path(&format!("{path}/{k}"));
            self.edges.push(FixedEdge { a, b, uid, owner, kind, heights, surface });
        }
    }
}
