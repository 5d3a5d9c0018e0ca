//! The sandbox of a part model: described once, set up once, then one short life per robot and quantum.
//!
//! In: a module and its facts. Out: what it says about itself, and for each step its readings, its kept
//! numbers and its motion, or a [`Fault`].
//!
//! Every step begins with the memory and globals as set-up left them, so a step is a function of what
//! it is shown: it does not matter which copy runs it, on which thread, or what ran there before.

use super::host::{Answer, Facts, Host, NOT_FINITE, Occasion, Phase, Plan, Shown, Statics, imports};
use crate::image::{bits, from_bits};
use crate::module::{GLOBAL, Prepared, prepare};
use crate::wasm::engine;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use swarmyard_base::Uid;
use swarmyard_part_api::{Channel, Mark};
use wasmi::{
    Engine, Global, Instance, Linker, Memory, Module, Store, StoreLimitsBuilder, TrapCode, TypedFunc,
};

/// Fuel for description and set-up: about a second.
const SETUP_FUEL: u64 = 200_000_000;

/// What went wrong with a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fault {
    /// As it stands in the channel `fault`: 1 crashed, 2 out of fuel, 3 a number that is not finite.
    pub(crate) code: f64,
    pub(crate) why: String,
}

impl Fault {
    fn of(error: &wasmi::Error) -> Fault {
        if error.as_trap_code() == Some(TrapCode::OutOfFuel) {
            return Fault { code: 2.0, why: "ran out of fuel".into() };
        }
        let why = error.to_string();
        if why.starts_with(NOT_FINITE) {
            return Fault { code: 3.0, why: format!("gave what is {why}") };
        }
        Fault { code: 1.0, why: format!("crashed: {why}") }
    }

    fn crash(why: impl std::fmt::Display) -> Fault {
        Fault { code: 1.0, why: format!("crashed: {why}") }
    }
}

/// What set-up depends on, besides what never changes: the bits of the quantum, gravity and detail.
type Key = (u64, u64, i32);

fn key(moment: &Occasion) -> Key {
    (moment.quantum_s.to_bits(), moment.gravity.to_bits(), moment.detail)
}

/// Memory and globals after set-up.
pub(crate) struct Image {
    memory: Vec<u8>,
    globals: Vec<u64>,
}

/// A copy that is ready for a moment, with its image; or why there is none.
pub(crate) type Ready = Result<(Live, Arc<Image>), Fault>;

/// A set-up, and what it was made for.
type SetUp = (Key, Result<Arc<Image>, Fault>);

/// Which costly things a model asks for at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    pub(crate) bodies: bool,
    pub(crate) near: bool,
    pub(crate) edges: bool,
    pub(crate) tracks: bool,
    pub(crate) beacons: bool,
}

/// A model that is ready to be run for many robots.
pub(crate) struct Sandbox {
    engine: Engine,
    module: Module,
    linker: Linker<Host>,
    prepared: Prepared,
    fuel: u64,
    memory: usize,
    pub(crate) facts: Arc<Facts>,
    pub(crate) plan: Arc<Plan>,
    /// Its channels by their numbers; set once it is known.
    pub(crate) names: Arc<Vec<Channel>>,
    pub(crate) uses: Uses,
    /// Set up in a world without anything, for marks: they are drawn from readings alone.
    bare: Option<Arc<Image>>,
    set_up: Mutex<Option<SetUp>>,
    statics: OnceLock<Arc<Statics>>,
    /// Copies that nobody uses now.
    spare: Mutex<Vec<Live>>,
    complaints: Mutex<BTreeMap<Uid, String>>,
}

/// A running copy.
pub(crate) struct Live {
    store: Store<Host>,
    memory: Memory,
    globals: Vec<Global>,
    instance: Instance,
    step: TypedFunc<(), ()>,
}

impl Live {
    pub(crate) fn host(&mut self) -> &mut Host {
        self.store.data_mut()
    }

    /// Calls one of its functions; it is content when there is none.
    fn call(&mut self, phase: Phase, name: &str, fuel: u64) -> Result<(), Fault> {
        let Ok(function) = self.instance.get_typed_func::<(), ()>(&self.store, name) else { return Ok(()) };
        self.run(phase, &function, fuel)
    }

    fn run(&mut self, phase: Phase, function: &TypedFunc<(), ()>, fuel: u64) -> Result<(), Fault> {
        self.store.set_fuel(fuel).map_err(Fault::crash)?;
        self.store.data_mut().phase = phase;
        function.call(&mut self.store, ()).map_err(|e| Fault::of(&e))
    }

    fn image(&self) -> Image {
        Image {
            memory: self.memory.data(&self.store).to_vec(),
            globals: self.globals.iter().map(|g| bits(&g.get(&self.store))).collect(),
        }
    }
}

impl Sandbox {
    /// Makes a model of a module's bytes: it is described, and set up in an empty world to see whether
    /// it can be. Answers also the keys it asked for.
    ///
    /// # Errors
    /// Why it cannot be used, in words.
    pub(crate) fn new(
        bytes: &[u8],
        facts: Arc<Facts>,
        (fuel, memory): (u64, usize),
    ) -> Result<(Sandbox, BTreeSet<String>), String> {
        let prepared = prepare(bytes)?;
        if !prepared.plain {
            return Err("it changes its tables or drops its data, which a part model cannot".into());
        }
        let engine = engine();
        let module =
            Module::new(&engine, &prepared.bytes).map_err(|e| format!("this module cannot run here: {e}"))?;
        for name in ["part_describe", "part_step"] {
            if module.get_export(name).is_none() {
                return Err(format!("it has no function `{name}`"));
            }
        }
        let linker = imports(&engine).map_err(|e| format!("the sandbox cannot be set up: {e}"))?;
        let uses = uses(&module);
        let mut sandbox = Sandbox {
            engine,
            module,
            linker,
            prepared,
            fuel,
            memory,
            facts,
            plan: Arc::default(),
            names: Arc::default(),
            uses,
            bare: None,
            set_up: Mutex::default(),
            statics: OnceLock::new(),
            spare: Mutex::default(),
            complaints: Mutex::default(),
        };
        let mut live = sandbox.fresh().map_err(|f| f.why)?;
        live.call(Phase::Describe, "part_describe", SETUP_FUEL)
            .map_err(|f| format!("part_describe {}", f.why))?;
        sandbox.plan = Arc::clone(&live.host().plan);
        live.host().moment = Occasion { quantum_s: 0.1, gravity: 9.81, detail: 1, ..Occasion::default() };
        live.call(Phase::Setup, "part_setup", SETUP_FUEL).map_err(|f| format!("part_setup {}", f.why))?;
        sandbox.bare = Some(Arc::new(live.image()));
        let asked = std::mem::take(&mut live.host().asked);
        Ok((sandbox, asked))
    }

    /// What never moves; `make` is called once, before the first set-up.
    pub(crate) fn statics(&self, make: impl FnOnce() -> Statics) -> Arc<Statics> {
        Arc::clone(self.statics.get_or_init(|| Arc::new(make())))
    }

    /// The set-up that fits the moment: made now, if it is another than last time.
    pub(crate) fn set_up(&self, moment: &Occasion, statics: &Arc<Statics>) -> Result<Arc<Image>, Fault> {
        let mut last = lock(&self.set_up);
        match &*last {
            Some((made_for, image)) if *made_for == key(moment) => image.clone(),
            _ => {
                let image = self.image_for(moment, statics).map(Arc::new);
                *last = Some((key(moment), image.clone()));
                image
            }
        }
    }

    fn image_for(&self, moment: &Occasion, statics: &Arc<Statics>) -> Result<Image, Fault> {
        let mut live = self.fresh()?;
        live.call(Phase::Describe, "part_describe", SETUP_FUEL)?;
        let host = live.host();
        host.moment = *moment;
        host.statics = Arc::clone(statics);
        live.call(Phase::Setup, "part_setup", SETUP_FUEL)?;
        Ok(live.image())
    }

    /// A copy nobody else uses.
    pub(crate) fn take(&self) -> Result<Live, Fault> {
        let spare = lock(&self.spare).pop();
        spare.map_or_else(|| self.fresh(), Ok)
    }

    /// Gives a copy back.
    pub(crate) fn give(&self, mut live: Live) {
        live.host().marks.clear();
        lock(&self.spare).push(live);
    }

    /// Makes a copy as set-up left it, ready to be shown a robot.
    pub(crate) fn reset(&self, live: &mut Live, image: &Image) -> Result<(), Fault> {
        let now = live.memory.data(&live.store).len();
        if now > image.memory.len() {
            // It has taken more memory in its last step, and memory cannot be given back.
            let statics = Arc::clone(&live.host().statics);
            *live = self.fresh()?;
            live.host().statics = statics;
        }
        let now = live.memory.data(&live.store).len();
        if now < image.memory.len() {
            let pages = (image.memory.len() - now) as u64 / 65_536;
            live.memory.grow(&mut live.store, pages).map_err(Fault::crash)?;
        }
        live.memory.data_mut(&mut live.store).copy_from_slice(&image.memory);
        for (global, bits) in live.globals.iter().zip(&image.globals) {
            let value = from_bits(&global.get(&live.store), *bits);
            global.set(&mut live.store, value).map_err(Fault::crash)?;
        }
        let host = live.store.data_mut();
        host.plan = Arc::clone(&self.plan);
        host.names = Arc::clone(&self.names);
        host.answer.readings.clear();
        host.answer.readings.resize(self.plan.width(false), 0.0);
        host.answer.motion = None;
        host.shown.commands.clear();
        host.shown.state.clear();
        host.purpose = None;
        Ok(())
    }

    /// A copy, and the image it begins each step with.
    pub(crate) fn ready(&self, moment: &Occasion, statics: &Arc<Statics>) -> Ready {
        let image = self.set_up(moment, statics)?;
        let mut live = self.take()?;
        live.host().statics = Arc::clone(statics);
        Ok((live, image))
    }

    /// Lets a copy work for one robot and quantum; `show` says what it is shown.
    pub(crate) fn step_of<'a>(
        &self,
        ready: &'a mut Ready,
        moment: &Occasion,
        show: impl FnOnce(&mut Shown),
    ) -> Result<&'a Answer, Fault> {
        let (live, image) = ready.as_mut().map_err(|fault| fault.clone())?;
        self.reset(live, image)?;
        let host = live.host();
        host.moment = *moment;
        show(&mut host.shown);
        host.answer.state.clone_from(&host.shown.state);
        let step = live.step;
        live.run(Phase::Step, &step, self.fuel)?;
        Ok(&live.host().answer)
    }

    /// The copy is not needed any more.
    pub(crate) fn done(&self, ready: Ready) {
        if let Ok((live, _)) = ready {
            self.give(live);
        }
    }

    /// Fuel and memory of a step.
    pub(crate) fn budget(&self) -> (u64, usize) {
        (self.fuel, self.memory)
    }

    /// What it draws for some readings; nothing when it fails.
    pub(crate) fn marks(&self, readings: &[f64]) -> Vec<Mark> {
        let drawn = || {
            let bare = self.bare.as_ref()?;
            let mut live = self.take().ok()?;
            self.reset(&mut live, bare).ok()?;
            let host = live.host();
            let width = host.answer.readings.len();
            host.answer.readings.copy_from_slice(readings.get(..width)?);
            let done = live.call(Phase::Marks, "part_marks", self.fuel);
            let marks = std::mem::take(&mut live.host().marks);
            self.give(live);
            done.ok().map(|()| marks)
        };
        drawn().unwrap_or_default()
    }

    /// Keeps the reason of a fault until somebody asks.
    pub(crate) fn complain(&self, robot: Uid, fault: &Fault) {
        lock(&self.complaints).insert(robot, fault.why.clone());
    }

    /// The reason of the last fault for a robot.
    pub(crate) fn complaint(&self, robot: Uid) -> String {
        lock(&self.complaints).get(&robot).cloned().unwrap_or_default()
    }

    fn fresh(&self) -> Result<Live, Fault> {
        let limits = StoreLimitsBuilder::new().memory_size(self.memory).table_elements(65_536).build();
        let mut store = Store::new(&self.engine, Host::new(limits, Arc::clone(&self.facts)));
        store.limiter(|host| &mut host.limits);
        store.set_fuel(SETUP_FUEL).map_err(Fault::crash)?;
        let instance =
            self.linker.instantiate_and_start(&mut store, &self.module).map_err(|e| Fault::of(&e))?;
        crate::wasm::construct(&mut store, &instance).map_err(|e| Fault::of(&e))?;
        let memory =
            instance.get_memory(&store, "memory").ok_or_else(|| Fault::crash("it exports no memory"))?;
        let step = instance.get_typed_func::<(), ()>(&store, "part_step").map_err(Fault::crash)?;
        let named = |k: usize| instance.get_global(&store, &format!("{GLOBAL}{k}"));
        let globals = (0..self.prepared.globals).filter_map(named).collect();
        store.data_mut().memory = Some(memory);
        Ok(Live { store, memory, globals, instance, step })
    }
}

impl Drop for Sandbox {
    /// The third function: the run is over.
    fn drop(&mut self) {
        let image = lock(&self.set_up).take().and_then(|(_, image)| image.ok());
        if let (Some(image), Ok(mut live)) = (image, self.take())
            && self.reset(&mut live, &image).is_ok()
        {
            // Whatever it does, nobody is there any more to hear of it.
            let _ = live.call(Phase::Cleanup, "part_cleanup", self.fuel);
        }
    }
}

/// A mutex is poisoned only by a panic elsewhere, and what these hold is whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn uses(module: &Module) -> Uses {
    let imports: BTreeSet<&str> = module.imports().map(|i| i.name()).collect();
    let any = |names: &[&str]| names.iter().any(|n| imports.contains(n));
    Uses {
        bodies: any(&["body_count", "body", "corner_x", "corner_y"]),
        near: any(&["near_count", "near"]),
        edges: any(&["fixed_count", "fixed"]),
        tracks: any(&["track_count", "track", "track_x", "track_y", "reflectivity"]),
        beacons: any(&["beacon_count", "beacon"]),
    }
}
