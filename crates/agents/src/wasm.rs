//! Controllers in a sandbox: one running copy of a WebAssembly module per robot, metered by fuel.
//!
//! A copy sees nothing but its robot's registers, the tick, and a line to print. Its memory is taken
//! as an image (memory and mutable globals); a program with its own loop has a stack that cannot be
//! taken, so its past is kept instead: the values it read, with which it is run again.

use crate::compiler::CompileError;
use crate::image;
use crate::module::{GLOBAL, Prepared, Style, prepare};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swarmyard_base::Diagnostics;
use swarmyard_base::hash::bytes_hash;
use swarmyard_part_api::{
    Cause, Failure, Mind, Occasion, Policy, Program, RegisterFile, Rules, ThinkTime, Thought,
};
use wasmi::{
    Caller, CompilationMode, Config, Engine, Extern, Global, Instance, Linker, Memory, Module, Store,
    StoreLimits, StoreLimitsBuilder, TrapCode, TypedFunc, TypedResumableCall, Val,
};

/// Most lines a program may print in one quantum, and most characters of one.
const MOST_LINES: usize = 20;
const MOST_CHARS: usize = 200;

/// What a program may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Fuel per quantum: about one unit per instruction.
    pub fuel: u64,
    /// Bytes of memory.
    pub memory: usize,
}

/// A module, ready to be run for many robots.
pub struct WasmProgram {
    engine: Engine,
    module: Module,
    linker: Linker<Host>,
    style: Style,
    prepared: Prepared,
    budget: Budget,
    rules: Rules,
    code: u64,
    /// Memory of a fresh copy: images hold only what differs from it.
    fresh: Arc<Vec<u8>>,
    /// The bytes it was made of.
    bytes: Arc<Vec<u8>>,
    origin: Arc<Origin>,
}

/// Where a program came from, and how it is made anew.
pub struct Origin {
    /// The name under which a recording keeps it.
    pub name: String,
    /// The file it was made from.
    pub source: Option<PathBuf>,
    /// Makes its bytes anew.
    pub again: Box<dyn Fn() -> Result<Arc<Vec<u8>>, CompileError> + Send + Sync>,
}

impl WasmProgram {
    /// Makes a program of a module's bytes.
    ///
    /// # Errors
    /// When it is no module, wants something it cannot have here, or has none of the functions.
    pub fn new(
        bytes: &Arc<Vec<u8>>,
        budget: Budget,
        rules: Rules,
        origin: Arc<Origin>,
    ) -> Result<WasmProgram, String> {
        let prepared = prepare(bytes)?;
        let engine = engine();
        let module =
            Module::new(&engine, &prepared.bytes).map_err(|e| format!("this module cannot run here: {e}"))?;
        let linker = imports(&engine).map_err(|e| format!("the sandbox cannot be set up: {e}"))?;
        let has = |name: &str| module.get_export(name).is_some();
        let style = match (has("robot_step"), has("rio_main") || has("main")) {
            (true, _) => Style::Steps,
            (false, true) => Style::Loop,
            _ => return Err("it exports neither `robot_step` nor `main`".into()),
        };
        let code = bytes_hash(bytes);
        let mut program = WasmProgram {
            engine,
            module,
            linker,
            style,
            prepared,
            budget,
            rules,
            code,
            fresh: Arc::default(),
            bytes: Arc::clone(bytes),
            origin,
        };
        // Whatever is missing shows now, not in the first quantum.
        let live = program.instantiate()?;
        program.fresh = Arc::new(live.memory.map_or_else(Vec::new, |m| m.data(&live.store).to_vec()));
        Ok(program)
    }

    /// A program of bytes that only have to run: nobody asks how it is treated, or where it came from.
    pub(crate) fn nameless(bytes: &Arc<Vec<u8>>, budget: Budget) -> Result<WasmProgram, String> {
        let hold = Policy::Hold;
        let rules = Rules {
            think: ThinkTime::Fixed(0),
            on_overrun: hold,
            on_silence: hold,
            on_crash: hold,
            on_bad_register: hold,
        };
        let again = Box::new(|| Err(CompileError::System("it has no source".into())));
        let origin = Arc::new(Origin { name: String::new(), source: None, again });
        WasmProgram::new(bytes, budget, rules, origin)
    }

    /// One that is treated the same, of other code.
    pub(crate) fn of_code(&self, bytes: &Arc<Vec<u8>>) -> Result<WasmProgram, Diagnostics> {
        WasmProgram::new(bytes, self.budget, self.rules, Arc::clone(&self.origin))
            .map_err(|why| CompileError::System(why).into_diagnostics())
    }

    /// One that is made anew from its source.
    pub(crate) fn remade(&self) -> Result<WasmProgram, Diagnostics> {
        self.of_code(&(self.origin.again)().map_err(CompileError::into_diagnostics)?)
    }

    /// Whether a copy can be brought to this memory.
    ///
    /// # Errors
    /// Why it cannot, as [`Mind::restore`] says it.
    pub(crate) fn takes(&self, image: &[u8]) -> Result<(), String> {
        match postcard::from_bytes(image).map_err(|e| e.to_string())? {
            Image::Plain { .. } => self.start().restore(image),
            // It is run through again, whatever it was.
            Image::Past(_) => Ok(()),
        }
    }

    fn instantiate(&self) -> Result<Live, String> {
        let limits = StoreLimitsBuilder::new().memory_size(self.budget.memory).table_elements(65_536).build();
        let mut store = Store::new(&self.engine, Host { limits, ..Host::default() });
        store.limiter(|host| &mut host.limits);
        store.set_fuel(self.budget.fuel).map_err(|e| e.to_string())?;
        let instance =
            self.linker.instantiate_and_start(&mut store, &self.module).map_err(|e| e.to_string())?;
        construct(&mut store, &instance).map_err(|e| format!("its constructors: {e}"))?;
        Live::new(store, &instance, self)
    }
}

impl Program for WasmProgram {
    fn rules(&self) -> Rules {
        self.rules
    }

    fn code(&self) -> u64 {
        self.code
    }

    fn allowance(&self) -> (u64, u64) {
        (self.budget.fuel, self.budget.memory as u64)
    }

    fn bytes(&self) -> (&str, &[u8]) {
        (&self.origin.name, &self.bytes)
    }

    fn source(&self) -> Option<&Path> {
        self.origin.source.as_deref()
    }

    fn renewed(&self) -> Result<Arc<dyn Program>, Diagnostics> {
        Ok(Arc::new(self.remade()?))
    }

    fn with_code(&self, code: &[u8]) -> Result<Arc<dyn Program>, Diagnostics> {
        Ok(Arc::new(self.of_code(&Arc::new(code.to_vec()))?))
    }

    fn start(&self) -> Box<dyn Mind> {
        let live = self.instantiate().map_err(|why| Failure { cause: Cause::Crash, message: why });
        Box::new(WasmMind {
            live,
            fuel: self.budget.fuel,
            plain: self.prepared.plain && self.style == Style::Steps,
            fresh: Arc::clone(&self.fresh),
            past: Vec::new(),
        })
    }
}

/// What runs modules here: metered, and with a stack that is bounded.
pub(crate) fn engine() -> Engine {
    let mut config = Config::default();
    // A small stack to begin with: there may be ten thousand of them.
    config.consume_fuel(true).set_min_stack_height(1024).set_max_cached_stacks(0);
    config.set_max_recursion_depth(1000).set_max_stack_height(1 << 20);
    // Translated when it is first called, a function would cost whoever calls it first more fuel than the others.
    config.compilation_mode(CompilationMode::Eager);
    Engine::new(&config)
}

/// Runs the constructors of C++ globals, under the names that linkers give them.
pub(crate) fn construct<T>(store: &mut Store<T>, instance: &Instance) -> Result<(), wasmi::Error> {
    for name in ["__wasm_call_ctors", "_initialize"] {
        if let Ok(construct) = instance.get_typed_func::<(), ()>(&*store, name) {
            construct.call(&mut *store, ())?;
        }
    }
    Ok(())
}

/// What the sandbox's functions work on.
#[derive(Default)]
struct Host {
    registers: RegisterFile,
    tick: u64,
    tick_us: u32,
    said: Vec<String>,
    limits: StoreLimits,
    /// Values read in this quantum, when the past is kept.
    heard: Vec<u32>,
    /// Values to read instead of registers, when the past is run again.
    again: Option<std::vec::IntoIter<u32>>,
    keeps: bool,
}

impl Host {
    fn peek(&mut self, address: u32, bytes: u32) -> u32 {
        if let Some(again) = &mut self.again {
            return again.next().unwrap_or(0);
        }
        let value = self.registers.peek(address, bytes);
        if self.keeps {
            self.heard.push(value);
        }
        value
    }

    fn poke(&mut self, address: u32, bytes: u32, value: u32) {
        if self.again.is_none() {
            self.registers.poke(address, bytes, value);
        }
    }
}

/// A program with its own loop waits for the next quantum.
#[derive(Debug)]
struct Wait;

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("waits for the next quantum")
    }
}

impl wasmi::errors::HostError for Wait {}

/// The functions a program may call: see `sdk/c/rio.h`.
fn imports(engine: &Engine) -> Result<Linker<Host>, wasmi::Error> {
    let mut linker = Linker::new(engine);
    linker.func_wrap("rio", "peek8", |mut c: Caller<'_, Host>, a: u32| c.data_mut().peek(a, 1))?;
    linker.func_wrap("rio", "peek16", |mut c: Caller<'_, Host>, a: u32| c.data_mut().peek(a, 2))?;
    linker.func_wrap("rio", "peek32", |mut c: Caller<'_, Host>, a: u32| c.data_mut().peek(a, 4))?;
    linker.func_wrap("rio", "poke8", |mut c: Caller<'_, Host>, a: u32, v: u32| c.data_mut().poke(a, 1, v))?;
    linker
        .func_wrap("rio", "poke16", |mut c: Caller<'_, Host>, a: u32, v: u32| c.data_mut().poke(a, 2, v))?;
    linker
        .func_wrap("rio", "poke32", |mut c: Caller<'_, Host>, a: u32, v: u32| c.data_mut().poke(a, 4, v))?;
    linker.func_wrap("rio", "ticks", |c: Caller<'_, Host>| c.data().tick as u32)?;
    linker.func_wrap("rio", "tick_us", |c: Caller<'_, Host>| c.data().tick_us)?;
    linker.func_wrap("rio", "log", log)?;
    linker.func_wrap("rio", "init", |_: Caller<'_, Host>| 1_u32)?;
    linker.func_wrap("rio", "wait", |_: Caller<'_, Host>| -> Result<u32, wasmi::Error> {
        Err(wasmi::Error::host(Wait))
    })?;
    linker.func_wrap("rio", "done", |_: Caller<'_, Host>| ())?;
    Ok(linker)
}

/// Takes a line from the program's memory: up to a zero byte, bounded.
fn log(mut caller: Caller<'_, Host>, at: u32) {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return };
    let bytes = memory.data(&caller).get(at as usize..).unwrap_or(&[]);
    let line = bytes[..bytes.len().min(MOST_CHARS)].split(|b| *b == 0).next().unwrap_or(&[]);
    let text: String = String::from_utf8_lossy(line).chars().filter(|c| !c.is_control()).collect();
    let host = caller.data_mut();
    if host.again.is_none() && host.said.len() < MOST_LINES {
        host.said.push(text);
    }
}

/// A running copy.
struct Live {
    store: Store<Host>,
    memory: Option<Memory>,
    globals: Vec<Global>,
    stack_pointer: Option<(Global, Val)>,
    body: Body,
}

/// The functions of a running copy, and where a loop stands.
enum Body {
    Steps {
        setup: Option<TypedFunc<(), ()>>,
        step: TypedFunc<(), ()>,
        stop: Option<TypedFunc<(), ()>>,
        started: bool,
    },
    Loop(LoopState),
}

enum LoopState {
    Fresh(TypedFunc<(), i32>),
    Waits(Box<wasmi::TypedResumableCallHostTrap<i32>>),
    Hungry(Box<wasmi::TypedResumableCallOutOfFuel<i32>>),
    Ended(String),
}

impl Live {
    fn new(store: Store<Host>, instance: &Instance, program: &WasmProgram) -> Result<Live, String> {
        let function = |name: &str| instance.get_typed_func::<(), ()>(&store, name);
        let body = match program.style {
            Style::Steps => {
                let step = function("robot_step").map_err(|e| format!("`robot_step`: {e}"))?;
                let (setup, stop) = (function("robot_setup").ok(), function("robot_stop").ok());
                Body::Steps { setup, step, stop, started: false }
            }
            Style::Loop => {
                let name = if instance.get_func(&store, "rio_main").is_some() { "rio_main" } else { "main" };
                let main = instance.get_typed_func::<(), i32>(&store, name);
                Body::Loop(LoopState::Fresh(main.map_err(|e| format!("`main`: {e}"))?))
            }
        };
        let named = |k: usize| instance.get_global(&store, &format!("{GLOBAL}{k}"));
        let globals: Vec<Global> = (0..program.prepared.globals).filter_map(named).collect();
        let pointer = program.prepared.stack_pointer.and_then(|k| globals.get(k).copied());
        let stack_pointer = pointer.map(|g| (g, g.get(&store)));
        let memory = instance.get_memory(&store, "memory");
        Ok(Live { store, memory, globals, stack_pointer, body })
    }

    /// Runs for one quantum; answers what went wrong.
    fn run(&mut self, fuel: u64) -> Option<Failure> {
        if self.store.set_fuel(fuel).is_err() {
            return Some(Failure { cause: Cause::Crash, message: "it cannot be metered".into() });
        }
        match &mut self.body {
            Body::Steps { setup, step, started, .. } => {
                let first = if *started { None } else { setup.as_ref() };
                let store = &mut self.store;
                let ran = first.map_or(Ok(()), |setup| setup.call(&mut *store, ()));
                *started |= ran.is_ok();
                let failure = ran.and_then(|()| step.call(store, ())).err().map(|e| explain(&e));
                if failure.is_some()
                    && let Some((pointer, value)) = &self.stack_pointer
                {
                    // The calls that were cut off will not put it back.
                    let _ = pointer.set(&mut self.store, value.clone());
                }
                failure
            }
            Body::Loop(state) => run_loop(state, &mut self.store, 1),
        }
    }

    /// Lets it say good-bye: `robot_stop`, or a last round in which `rio_wait` answers 0.
    fn end(&mut self, fuel: u64) {
        if self.store.set_fuel(fuel).is_err() {
            return;
        }
        match &mut self.body {
            Body::Steps { stop: Some(stop), started: true, .. } => {
                // Nobody is left to be told what goes wrong now.
                let _ = stop.call(&mut self.store, ());
            }
            Body::Steps { .. } => {}
            Body::Loop(state) => {
                let _ = run_loop(state, &mut self.store, 0);
            }
        }
    }
}

/// Lets a program with its own loop go on until it waits. `answer` is what the `rio_wait` it stands in
/// returns. The first `rio_wait` begins the first quantum, so it is passed at once.
fn run_loop(state: &mut LoopState, store: &mut Store<Host>, answer: i32) -> Option<Failure> {
    let first = matches!(state, LoopState::Fresh(_));
    let failure = resume(state, store, answer);
    let waits = matches!(state, LoopState::Waits(_));
    if first && waits { resume(state, store, answer) } else { failure }
}

fn resume(state: &mut LoopState, store: &mut Store<Host>, answer: i32) -> Option<Failure> {
    let now = std::mem::replace(state, LoopState::Ended("it has crashed before".into()));
    let came = match now {
        LoopState::Fresh(main) => main.call_resumable(&mut *store, ()),
        LoopState::Waits(call) => call.resume(&mut *store, &[Val::I32(answer)]),
        LoopState::Hungry(call) => call.resume(&mut *store),
        LoopState::Ended(why) => {
            *state = LoopState::Ended(why.clone());
            return Some(Failure { cause: Cause::Crash, message: why });
        }
    };
    match came {
        Ok(TypedResumableCall::HostTrap(call)) if call.host_error().downcast_ref::<Wait>().is_some() => {
            *state = LoopState::Waits(Box::new(call));
            None
        }
        Ok(TypedResumableCall::OutOfFuel(call)) => {
            *state = LoopState::Hungry(Box::new(call));
            Some(Failure { cause: Cause::Overrun, message: String::new() })
        }
        Ok(TypedResumableCall::HostTrap(call)) => Some(explain(call.host_error())),
        Ok(TypedResumableCall::Finished(code)) => {
            *state = LoopState::Ended(format!("its main function returned {code}"));
            let message = format!("its main function returned {code}");
            Some(Failure { cause: Cause::Crash, message })
        }
        Err(e) => Some(explain(&e)),
    }
}

fn explain(error: &wasmi::Error) -> Failure {
    if error.as_trap_code() == Some(TrapCode::OutOfFuel) {
        return Failure { cause: Cause::Overrun, message: String::new() };
    }
    Failure { cause: Cause::Crash, message: error.to_string() }
}

/// One robot's copy.
struct WasmMind {
    live: Result<Live, Failure>,
    fuel: u64,
    /// Whether its memory can be taken as an image.
    plain: bool,
    fresh: Arc<Vec<u8>>,
    /// What it read in each quantum, when it cannot.
    past: Vec<Quantum>,
}

/// What a program read in one quantum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Quantum {
    tick: u64,
    tick_us: u32,
    heard: Vec<u32>,
}

/// A memory as bytes.
#[derive(Serialize, Deserialize)]
enum Image {
    /// Whether it was set up, and what differs from a fresh copy.
    Plain { started: bool, image: image::Image },
    /// Everything it read so far.
    Past(Vec<Quantum>),
}

impl Mind for WasmMind {
    fn think(&mut self, moment: &Occasion, registers: &mut RegisterFile) -> Thought {
        let live = match &mut self.live {
            Ok(live) => live,
            Err(failure) => return Thought { failure: Some(failure.clone()), ..Thought::default() },
        };
        let host = live.store.data_mut();
        host.tick = moment.tick;
        host.tick_us = moment.tick_us;
        host.keeps = !self.plain;
        // The sandbox's functions need what they work on to live in the store.
        std::mem::swap(&mut host.registers, registers);
        let failure = live.run(self.fuel);
        let left = live.store.get_fuel().unwrap_or(0);
        let host = live.store.data_mut();
        std::mem::swap(&mut host.registers, registers);
        if !self.plain {
            let heard = std::mem::take(&mut host.heard);
            self.past.push(Quantum { tick: moment.tick, tick_us: moment.tick_us, heard });
        }
        let said = std::mem::take(&mut host.said);
        Thought { fuel: self.fuel.saturating_sub(left), said, failure }
    }

    fn stop(&mut self) -> Vec<String> {
        let Ok(live) = &mut self.live else { return Vec::new() };
        live.end(self.fuel);
        std::mem::take(&mut live.store.data_mut().said)
    }

    fn image(&self) -> Vec<u8> {
        let image = match &self.live {
            Ok(live) if self.plain => {
                let started = matches!(live.body, Body::Steps { started: true, .. });
                let image = image::Image::of(&live.store, live.memory, &live.globals, &self.fresh);
                Image::Plain { started, image }
            }
            _ => Image::Past(self.past.clone()),
        };
        // Plain data into a growing buffer cannot fail.
        postcard::to_allocvec(&image).unwrap_or_default()
    }

    fn restore(&mut self, image: &[u8]) -> Result<(), String> {
        let image: Image = postcard::from_bytes(image).map_err(|e| e.to_string())?;
        let Ok(live) = &mut self.live else { return Ok(()) };
        match image {
            Image::Plain { started, image } => {
                image.put(&mut live.store, live.memory, &live.globals)?;
                if let Body::Steps { started: now, .. } = &mut live.body {
                    *now = started;
                }
            }
            Image::Past(past) => {
                for quantum in &past {
                    let host = live.store.data_mut();
                    (host.tick, host.tick_us) = (quantum.tick, quantum.tick_us);
                    host.again = Some(quantum.heard.clone().into_iter());
                    let _ = live.run(self.fuel);
                }
                live.store.data_mut().again = None;
                self.past = past;
            }
        }
        Ok(())
    }
}

/// Runs bytes as a program for two quanta, and brings its memory to a fresh copy.
pub(crate) fn fuzz(data: &[u8]) {
    let budget = Budget { fuel: 20_000, memory: 1 << 20 };
    let Ok(program) = WasmProgram::nameless(&Arc::new(data.to_vec()), budget) else { return };
    let mut mind = program.start();
    let mut registers = RegisterFile::default();
    for tick in 0..2 {
        let moment = Occasion { robot: swarmyard_base::Uid(1), tick, tick_us: 1000 };
        let _ = mind.think(&moment, &mut registers);
        let image = mind.image();
        let mut other = program.start();
        assert!(other.restore(&image).is_ok(), "an image fits its own program");
        assert!(other.image() == image, "a memory comes back whole");
    }
    let _ = mind.stop();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_that_runs_first_uses_as_much_fuel_as_the_next() {
        let code = "(module (func $work (drop (i32.const 7))) (func (export \"robot_step\") (call $work)))";
        let bytes = Arc::new(wat::parse_str(code).expect("a module"));
        let program =
            WasmProgram::nameless(&bytes, Budget { fuel: 1000, memory: 1 << 16 }).expect("a program");
        let moment = Occasion { robot: swarmyard_base::Uid(1), tick: 0, tick_us: 1000 };
        let fuel = |_| program.start().think(&moment, &mut RegisterFile::default()).fuel;
        let [first, second] = [0, 1].map(fuel);
        assert!(first == second && first > 0, "{first}, then {second}");
    }
}
