//! New hardware modelled outside of this program: the classes `sensor-model` and `drive-model`.
//!
//! In: a model in C, C++ or WebAssembly with SPREAD's three functions (set-up, step, clean-up) and its
//! configuration. Out: a sensor or an actuator like any other. The model runs in a sandbox; one that
//! crashes, hangs or gives nonsense costs its own robot one reading or one quantum of motion, and is
//! reported in the channels `fault` and `faults` and as an event.

mod config;
mod far;
mod host;
mod sandbox;

use crate::program::{code_of, does_not_compile};
use crate::workshop::{Target, Workshop, made_name};
use config::Config;
use far::Far;
pub(crate) use far::compute;
use host::{Answer, Body, Facts, Occasion, Plan, Planned, Shown, Statics};
use sandbox::{Fault, Sandbox};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Pose2, Ratio, Uid, Vec2};
use swarmyard_part_api::{
    ActRows, ActView, Actuator, Bodies, Built, Channel, Class, Detail, FixedEdge, Kind, Layout, Mark,
    Outline, Param, ParamType, Segment, SenseRows, Sensor, Sheet, TypeLayout, World,
};
use swarmyard_scene::{Params, Value};

/// The class of sensors.
#[must_use]
pub(crate) fn sensor_class(workshop: &Arc<Workshop>) -> Class {
    let workshop = Arc::clone(workshop);
    Class::new(sensor_sheet(), move |p, layout| {
        let model = model(&workshop, p, layout, false)?;
        let period = p.ratio_or_none("period");
        Ok(Built::Sensor(Box::new(SensorModel { model, period })))
    })
}

/// The class of drives.
#[must_use]
pub(crate) fn drive_class(workshop: &Arc<Workshop>) -> Class {
    let workshop = Arc::clone(workshop);
    Class::new(drive_sheet(), move |p, layout| {
        let model = model(&workshop, p, layout, true)?;
        Ok(Built::Actuator(Box::new(DriveModel { model, outline: layout.outline.clone() })))
    })
}

fn sensor_sheet() -> Sheet {
    let sheet = Sheet::new(
        "sensor-model",
        Kind::Sensor,
        "A sensor modelled outside of the simulator, in C, C++ or WebAssembly (sdk/c/part.h, docs/new-hardware.md): set-up, a step at the start of each quantum, clean-up. It says itself which channels it has. It runs in a sandbox, metered by fuel, so runs repeat exactly.",
    );
    common(sheet)
        .param(Param::number("reach", Unit::Metre, "How far it sees from the body's centre: what moves or stands within is shown to it. Marks on the floor and beacons are shown wherever they are.").within(0.0, 1.0e6).or_num(0.0))
        .param(Param::new("period", ParamType::Period, "Time between readings; every quantum when left out."))
        .marks("whatever its function `part_marks` draws")
        .example("[[type.demo.part]]\nname = \"light\"\nclass = \"sensor-model\"\nvalues = \"Gain = 2\"\ncode = '''\n#include \"part.h\"\nstatic int level;\nstatic double gain;\nvoid part_describe(void) { level = part_reading(\"level\", 1, \"\", 0, 100, \"Brightness of the floor below.\"); }\nvoid part_setup(void) { gain = part_param(\"Gain\", 1); }\nvoid part_step(void) {\n    part_body me;\n    part_self(&me);\n    part_out(level, 0, gain * part_reflectivity(me.x, me.y));\n}\n'''")
}

fn drive_sheet() -> Sheet {
    let sheet = Sheet::new(
        "drive-model",
        Kind::Actuator,
        "A drive modelled outside of the simulator, in C, C++ or WebAssembly (sdk/c/part.h, docs/new-hardware.md): from commands it makes the motion it wants for the quantum, and finds in the next one what came of it. It runs in a sandbox, metered by fuel, so runs repeat exactly.",
    );
    common(sheet)
        .example("[[type.demo.part]]\nname = \"hover\"\nclass = \"drive-model\"\ncode = '''\n#include \"part.h\"\nstatic int speed;\nvoid part_describe(void) { speed = part_command(\"speed\", 2, \"m/s\", -1, 1, \"Wanted speed forward and to the left.\"); }\nvoid part_step(void) { part_motion(part_in(speed, 0), part_in(speed, 1), 0); }\n'''")
}

fn common(sheet: Sheet) -> Sheet {
    sheet
        .param(Param::new("source", ParamType::Text, "The model's source (.c, .cpp) or module (.wasm), in the scenario's folder or below."))
        .param(Param::new("code", ParamType::Text, "C text, instead of a file."))
        .param(Param::new("config", ParamType::Text, "File with the model's parameters, `Sensor = { Height = 8 … }` or lines `Key = value`. What the keys mean, the model says; one it never asks for is an error."))
        .param(Param::new("values", ParamType::Text, "The same as text; wins over `config`."))
        .param(Param::new("mount", ParamType::Pose, "Where it is fixed on the body, seen from above.").or(Value::Pose(Pose2::default())))
        .param(Param::new("fuel", ParamType::Int { min: 1, max: 1_000_000_000_000 }, "Fuel per step and robot, about one unit per instruction.").or(Value::Int(1_000_000)))
        .param(Param::new("memory", ParamType::Int { min: 65_536, max: 268_435_456 }, "Bytes of memory it may have.").or(Value::Int(1_048_576)))
        .param(Param::new("on", ParamType::Text, "A host, or what it can do: the steps are computed there (`run --reach`, docs/many-machines.md). Here when left out, and when no such host can be reached; it changes no result."))
        .channel(Channel::reading("fault", 1, Unit::None, (0.0, 3.0), "0 when the last step went well; 1 when the model crashed, 2 when it ran out of fuel, 3 when it gave a number that is not finite. Its readings are 0 then, and its motion is rest. Added to the channels of the model."))
        .channel(Channel::reading("faults", 1, Unit::None, (0.0, f64::MAX), "How many steps went wrong so far."))
        .level("every", "Whatever the model does; it is told the level (`part_detail`). At `coarse` models should leave out noise and limits.")
}

/// Finds code and configuration, and makes a model of them.
fn model(
    workshop: &Arc<Workshop>,
    p: &Params,
    layout: &TypeLayout<'_>,
    drive: bool,
) -> Result<Model, Diagnostic> {
    let bad = |why: String| Diagnostic::error("bad-part-model", why).at(p.span("source").or(p.span("code")));
    let code = code_of(p)?;
    let bytes = workshop.make(code, Target::Sandbox, "").map_err(|e| does_not_compile(p, code, &e))?;
    let mut files = vec![(made_name(code, Target::Sandbox, ""), Arc::clone(&bytes))];
    let mut config = Config::default();
    if let Some(name) = p.text_or_none("config") {
        let wrong = |why: String| Diagnostic::error("bad-config", why).at(p.span("config"));
        let text = workshop.text(name).map_err(|e| wrong(e.to_string()))?;
        config.read(name, &String::from_utf8_lossy(&text)).map_err(wrong)?;
        files.push((name.to_owned(), text));
    }
    if let Some(text) = p.text_or_none("values") {
        let wrong = |why: String| Diagnostic::error("bad-config", why).at(p.span("values"));
        config.read("values", text).map_err(wrong)?;
    }
    let facts = Arc::new(Facts {
        config,
        mount: p.pose("mount"),
        reach: p.num_or_none("reach").unwrap_or(0.0),
        drive,
        number: layout.parts.len() as u32,
    });
    let budget = (p.int("fuel") as u64, usize::try_from(p.int("memory")).unwrap_or(usize::MAX));
    let (mut sandbox, asked) = Sandbox::new(&bytes, Arc::clone(&facts), budget).map_err(bad)?;
    if let Some(unused) = facts.config.unused(&asked) {
        return Err(unused.at(p.span("values").or(p.span("config"))));
    }
    if !drive && sandbox.plan.channels.is_empty() {
        return Err(bad("its part_describe declares no channel with `part_reading`".into()));
    }
    sandbox.names = Arc::new(sandbox.plan.channels.iter().map(channel).collect());
    let layout = layout_of(&sandbox.plan, &sandbox.names);
    let far = crate::far::place(p)?.zip(workshop.elsewhere());
    let far = far.map(|(on, elsewhere)| Far::new(elsewhere.clone(), on));
    Ok(Model { sandbox, layout, files, far })
}

fn channel(planned: &Planned) -> Channel {
    Channel {
        name: kept(&planned.name),
        len: planned.len,
        unit: planned.unit,
        min: planned.range.0,
        max: planned.range.1,
        command: planned.command,
        summary: kept(&planned.summary),
    }
}

/// A text that lives as long as the program, as channels' do; equal ones are kept once.
fn kept(text: &str) -> &'static str {
    static ALL: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(text) {
        return known;
    }
    let new: &'static str = Box::leak(text.to_owned().into_boxed_str());
    all.insert(new);
    new
}

/// The model's channels and state, and behind them those that are added.
fn layout_of(plan: &Plan, names: &[Channel]) -> Layout {
    let mut channels = names.to_vec();
    let added = drive_sheet().channels.into_iter().filter(|c| host::RESERVED.contains(&c.name));
    channels.extend(added);
    Layout {
        channels,
        state: vec![0.0; plan.keep + 1],
        bearings: plan.bearings,
        base: plan.base,
        fault: Some(plan.width(false)),
        ..Layout::default()
    }
}

/// What sensors and drives have in common.
struct Model {
    sandbox: Sandbox,
    layout: Layout,
    files: Vec<(String, Arc<Vec<u8>>)>,
    /// Who computes its steps, when that is somebody elsewhere.
    far: Option<Far>,
}

impl Model {
    /// Runs a step for each of some robots: `show` says what one is shown, `done` gets what came of it.
    fn steps(
        &self,
        moment: &Occasion,
        statics: impl FnOnce() -> Statics,
        robots: usize,
        show: impl Fn(usize, &mut Shown),
        mut done: impl FnMut(usize, Result<&Answer, &Fault>),
    ) {
        let statics = self.sandbox.statics(statics);
        if let Some(far) = &self.far {
            let mut all = vec![Shown::default(); robots];
            all.iter_mut().enumerate().for_each(|(k, shown)| show(k, shown));
            if let Some(results) = far.steps(self, moment, &all) {
                results.iter().enumerate().for_each(|(k, result)| done(k, result.as_ref()));
                return;
            }
        }
        let mut ready = self.sandbox.ready(moment, &statics);
        for k in 0..robots {
            let ran = self.sandbox.step_of(&mut ready, moment, |shown| show(k, shown));
            done(k, ran.as_ref().copied());
        }
        self.sandbox.done(ready);
    }

    /// Writes down what came of a step.
    fn take(&self, result: Result<&Answer, &Fault>, row: Row<'_>) {
        let (faults, width) = (row.next_state.len() - 1, row.out.len() - 2);
        row.next_state.copy_from_slice(row.state);
        row.out.fill(0.0);
        match result {
            Ok(answer) => {
                row.out[..width].copy_from_slice(&answer.readings);
                row.next_state[..faults].copy_from_slice(&answer.state);
            }
            Err(fault) => {
                row.out[width] = fault.code;
                row.next_state[faults] += 1.0;
                self.sandbox.complain(row.robot, fault);
            }
        }
        row.out[width + 1] = row.next_state[faults];
    }
}

/// The rows of one robot.
struct Row<'a> {
    robot: Uid,
    state: &'a [f64],
    next_state: &'a mut [f64],
    out: &'a mut [f64],
}

/// The level as `part.h` numbers it.
fn detail(detail: Detail) -> i32 {
    detail as i32
}

fn body(bodies: &Bodies<'_>, slot: usize, outline: &Outline, number: u32) -> Body {
    Body {
        uid: bodies.uid[slot],
        pose: bodies.pose[slot],
        rot: bodies.rot[slot],
        twist: bodies.twist[slot],
        moved: bodies.moved[slot],
        kind: bodies.kind[slot],
        heights: bodies.heights_of(slot),
        outline: number,
        reach: outline.reach(),
        round: outline.round(),
        corners: outline.corners().len() as i32,
    }
}

struct SensorModel {
    model: Model,
    period: Option<Ratio>,
}

impl SensorModel {
    fn statics(&self, world: &World<'_>) -> Statics {
        let uses = self.model.sandbox.uses;
        Statics {
            edges: if uses.edges { world.fixed.edges().to_vec() } else { Vec::new() },
            tracks: if uses.tracks { world.tracks.to_vec() } else { Vec::new() },
            index: if uses.tracks { world.track_index.clone() } else { Default::default() },
            beacons: if uses.beacons { world.beacons.to_vec() } else { Vec::new() },
            outlines: if uses.bodies { world.outlines.to_vec() } else { Vec::new() },
        }
    }

    /// Everything that moves within reach, in the order of uids.
    fn bodies_near(&self, world: &World<'_>, slot: usize, near: &mut Vec<Body>) {
        near.clear();
        let reach = self.model.sandbox.facts.reach;
        let centre = world.bodies.pose[slot].at;
        let far = reach + world.grid.max_reach();
        let far = Vec2::new(far, far);
        world.grid.for_each_in(centre - far, centre + far, |entry| {
            let other = entry.slot as usize;
            if other == slot || (entry.at - centre).norm() - entry.reach <= reach {
                let number = world.bodies.outline[other];
                near.push(body(&world.bodies, other, &world.outlines[number as usize], number));
            }
        });
        near.sort_unstable_by_key(|b| b.uid);
    }

    /// Every edge within reach, in the order of uids.
    fn edges_near(&self, world: &World<'_>, slot: usize, near: &mut Vec<FixedEdge>) {
        near.clear();
        let reach = self.model.sandbox.facts.reach;
        let centre = world.bodies.pose[slot].at;
        let far = Vec2::new(reach, reach);
        world.fixed.for_each_in(centre - far, centre + far, |_, edge| {
            let along = edge.b - edge.a;
            let length2 = along.norm2();
            let share =
                if length2 > 0.0 { ((centre - edge.a).dot(along) / length2).clamp(0.0, 1.0) } else { 0.0 };
            if (edge.a + along * share - centre).norm2() <= reach * reach {
                near.push(*edge);
            }
        });
        near.sort_unstable_by_key(|e| e.uid);
        near.dedup_by_key(|e| e.uid);
    }
}

impl Sensor for SensorModel {
    fn layout(&self) -> Layout {
        self.model.layout.clone()
    }

    fn period(&self) -> Option<Ratio> {
        self.period
    }

    fn reach(&self) -> f64 {
        self.model.sandbox.facts.reach
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        let moment = Occasion {
            now: world.now,
            quantum_s: world.quantum_s,
            gravity: world.gravity,
            detail: detail(world.detail),
            seed: world.seed,
        };
        let (uses, keep) = (self.model.sandbox.uses, self.model.sandbox.plan.keep);
        let (first, state) = (rows.first_slot, &rows.state);
        let show = |k: usize, shown: &mut Shown| {
            let slot = first + k;
            let number = world.bodies.outline[slot];
            shown.me = Some(body(&world.bodies, slot, &world.outlines[number as usize], number));
            shown.state.extend_from_slice(&state.row(k)[..keep]);
            if uses.bodies {
                self.bodies_near(world, slot, &mut shown.bodies);
            }
            if uses.near {
                self.edges_near(world, slot, &mut shown.near);
            }
        };
        let (next_state, out) = (&mut rows.next_state, &mut rows.out);
        self.model.steps(
            &moment,
            || self.statics(world),
            rows.len,
            show,
            |k, result| {
                let robot = world.bodies.uid[first + k];
                let row = Row { robot, state: state.row(k), next_state: next_state.row(k), out: out.row(k) };
                self.model.take(result, row);
            },
        );
    }

    fn marks(&self, readings: &[f64], _: &Outline) -> Vec<Mark> {
        self.model.sandbox.marks(readings)
    }

    fn made_of(&self) -> Vec<(String, Arc<Vec<u8>>)> {
        self.model.files.clone()
    }

    fn why(&self, robot: Uid) -> String {
        self.model.sandbox.complaint(robot)
    }
}

struct DriveModel {
    model: Model,
    outline: Outline,
}

impl Actuator for DriveModel {
    fn layout(&self) -> Layout {
        self.model.layout.clone()
    }

    fn act(&self, view: &ActView<'_>, rows: &mut ActRows<'_>) {
        let moment = Occasion {
            now: view.now,
            quantum_s: view.quantum_s,
            gravity: view.gravity,
            detail: detail(view.detail),
            seed: view.seed,
        };
        let uses = self.model.sandbox.uses;
        let statics = || Statics {
            edges: if uses.edges { view.fixed.edges().to_vec() } else { Vec::new() },
            tracks: if uses.tracks { view.tracks.to_vec() } else { Vec::new() },
            index: if uses.tracks { view.track_index.clone() } else { Default::default() },
            beacons: if uses.beacons { view.beacons.to_vec() } else { Vec::new() },
            outlines: vec![self.outline.clone()],
        };
        let keep = self.model.sandbox.plan.keep;
        let (first, state, commands) = (rows.first_slot, &rows.state, &rows.commands);
        let show = |k: usize, shown: &mut Shown| {
            let me = body(&view.bodies, first + k, &self.outline, 0);
            shown.commands.extend_from_slice(commands.row(k));
            shown.state.extend_from_slice(&state.row(k)[..keep]);
            shown.bodies.clear();
            shown.bodies.push(me.clone());
            shown.me = Some(me);
        };
        let (next_state, out, segments) = (&mut rows.next_state, &mut rows.out, &mut rows.segments);
        self.model.steps(&moment, statics, segments.len(), show, |k, result| {
            let slot = first + k;
            let (pose, rot) = (view.bodies.pose[slot], view.bodies.rot[slot]);
            let rest = Segment::rest(0.0, pose, rot);
            let motion = result.ok().and_then(|answer| answer.motion);
            segments[k] = motion.map_or(rest, |motion| Segment::arc(0.0, pose, rot, motion));
            let robot = view.bodies.uid[slot];
            let row = Row { robot, state: state.row(k), next_state: next_state.row(k), out: out.row(k) };
            self.model.take(result, row);
        });
    }

    fn made_of(&self) -> Vec<(String, Arc<Vec<u8>>)> {
        self.model.files.clone()
    }

    fn why(&self, robot: Uid) -> String {
        self.model.sandbox.complaint(robot)
    }
}
