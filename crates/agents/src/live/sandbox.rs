//! A sandbox for one robot's algorithm: one running copy of a module, called for each event.
//!
//! A function of `sdk/c/swarm.h` that reaches the robot notes its call and pauses the module; the call is done
//! outside, what comes of it is written into the module's memory, and the module goes on. So the sandbox never
//! holds the robot. Every call costs fuel by what it moves, so an event cannot cost more than its fuel.

use super::call::{Call, Hands, MOST_BYTES, MOST_CHARS, MOST_DRAWS, Reply};
use super::event::Event;
use crate::image::Image;
use crate::module::{GLOBAL, Prepared, prepare};
use crate::wasm::{Budget, construct, engine};
use std::sync::Arc;
use swarmyard_base::{Moment, Vec2};
use swarmyard_part_api::{Answer, Bytes, Cx, Ended, Every, Motion, Query, Watch, WatchFor};
use wasmi::{
    Caller, Engine, Error, Extern, Global, Linker, Memory, Module, Store, StoreLimits, StoreLimitsBuilder,
    TrapCode, TypedFunc, TypedResumableCall, Val,
};

/// Fuel that a call costs, beside its bytes.
const CALL_FUEL: u64 = 100;
/// Lines that may be said in one event.
const MOST_LINES: u32 = 20;
/// Bytes of a thing seen, and of something pending, in the module's memory.
const SEEN: u32 = 24;
const COMING: u32 = 32;

/// A module, ready to be run for many robots.
pub(super) struct Sandbox {
    engine: Engine,
    module: Module,
    linker: Linker<Host>,
    prepared: Prepared,
    budget: Budget,
    /// Memory of a fresh copy.
    fresh: Vec<u8>,
}

impl Sandbox {
    /// Makes one of a module's bytes.
    ///
    /// # Errors
    /// When it is no module, wants something it cannot have here, or has no `robot_event`.
    pub(super) fn new(bytes: &[u8], budget: Budget) -> Result<Sandbox, String> {
        let prepared = prepare(bytes)?;
        if !prepared.plain {
            return Err(
                "this module changes tables or keeps references: its memory cannot be kept as bytes".into()
            );
        }
        let engine = engine();
        let module =
            Module::new(&engine, &prepared.bytes).map_err(|e| format!("this module cannot run here: {e}"))?;
        let linker = imports(&engine).map_err(|e| format!("the sandbox cannot be set up: {e}"))?;
        let mut sandbox = Sandbox { engine, module, linker, prepared, budget, fresh: Vec::new() };
        // Whatever is missing shows now, not at the first event.
        let live = sandbox.instantiate()?;
        sandbox.fresh = live.memory.map_or_else(Vec::new, |m| m.data(&live.store).to_vec());
        Ok(sandbox)
    }

    /// A fresh copy.
    pub(super) fn instantiate(&self) -> Result<Live, String> {
        let limits = StoreLimitsBuilder::new().memory_size(self.budget.memory).table_elements(65_536).build();
        let mut store = Store::new(&self.engine, Host { limits, ..Host::default() });
        store.limiter(|host| &mut host.limits);
        store.set_fuel(self.budget.fuel).map_err(|e| e.to_string())?;
        let instance =
            self.linker.instantiate_and_start(&mut store, &self.module).map_err(|e| e.to_string())?;
        construct(&mut store, &instance).map_err(|e| format!("its constructors: {e}"))?;
        if store.data().wish.is_some() {
            return Err("it calls the robot before its first event".into());
        }
        let react = instance
            .get_typed_func::<(i32, i32, f64, f64), ()>(&store, "robot_event")
            .map_err(|e| format!("`void robot_event(int kind, int a, double x, double y)`: {e}"))?;
        let named = |k: usize| instance.get_global(&store, &format!("{GLOBAL}{k}"));
        let globals = (0..self.prepared.globals).filter_map(named).collect();
        let memory = instance.get_memory(&store, "memory");
        Ok(Live { store, memory, globals, react })
    }

    /// A copy with this memory.
    pub(super) fn with_image(&self, image: &Image) -> Result<Live, String> {
        let mut live = self.instantiate()?;
        image.put(&mut live.store, live.memory, &live.globals)?;
        Ok(live)
    }

    /// The memory of a copy.
    pub(super) fn image(&self, live: &Live) -> Image {
        Image::of(&live.store, live.memory, &live.globals, &self.fresh)
    }

    /// Lets a copy react to an event.
    ///
    /// # Errors
    /// Why it failed; the copy cannot be used any more then.
    pub(super) fn react(
        &self,
        live: &mut Live,
        event: &Event,
        hands: &mut Hands,
        cx: &mut Cx<'_>,
    ) -> Result<(), String> {
        let (arguments, other, message) = arguments(event);
        let host = live.store.data_mut();
        (host.now, host.me, host.robots) = (cx.now().since(Moment::ZERO), cx.me(), cx.robots());
        (host.other, host.message, host.lines) = (other, message, 0);
        live.store.set_fuel(self.budget.fuel).map_err(|e| e.to_string())?;
        let mut came = live.react.call_resumable(&mut live.store, arguments);
        let done = loop {
            match came {
                Ok(TypedResumableCall::Finished(())) => break Ok(()),
                Ok(TypedResumableCall::OutOfFuel(_)) => break Err(OUT_OF_FUEL.to_owned()),
                Ok(TypedResumableCall::HostTrap(pause)) => {
                    let Some(wish) = live.store.data_mut().wish.take() else {
                        break Err(explain(pause.host_error()));
                    };
                    match live.grant(wish, hands, cx) {
                        Ok(value) => came = pause.resume(&mut live.store, value.as_slice()),
                        Err(why) => break Err(why),
                    }
                }
                Err(e) => break Err(explain(&e)),
            }
        };
        live.store.data_mut().message = Bytes::from([]);
        done
    }
}

const OUT_OF_FUEL: &str = "it ran out of fuel";

fn explain(error: &Error) -> String {
    if error.as_trap_code() == Some(TrapCode::OutOfFuel) { OUT_OF_FUEL.to_owned() } else { error.to_string() }
}

/// A running copy.
pub(super) struct Live {
    store: Store<Host>,
    memory: Option<Memory>,
    globals: Vec<Global>,
    react: TypedFunc<(i32, i32, f64, f64), ()>,
}

impl Live {
    /// Does what the module called for; answers what its function returns.
    fn grant(&mut self, wish: Wish, hands: &mut Hands, cx: &mut Cx<'_>) -> Result<Option<Val>, String> {
        let reply = hands.perform(wish.call, cx);
        let (count, bytes) = written(&reply, wish.most);
        let cost = bytes.len() as u64 + 8 * u64::from(count);
        let left = self.store.get_fuel().unwrap_or(0).checked_sub(cost).ok_or(OUT_OF_FUEL)?;
        self.store.set_fuel(left).map_err(|e| e.to_string())?;
        if !bytes.is_empty() {
            let memory = self.memory.ok_or("it has no memory to write to")?;
            let data = memory.data_mut(&mut self.store);
            let place = data.get_mut(wish.at as usize..).and_then(|d| d.get_mut(..bytes.len()));
            place.ok_or(BAD_POINTER)?.copy_from_slice(&bytes);
        }
        Ok(match wish.returns {
            Returns::Nothing => None,
            Returns::Number => Some(Val::I32(match &reply {
                Reply::Number(n) => *n as u32 as i32,
                _ => 0,
            })),
            Returns::Count => Some(Val::I32(if matches!(reply, Reply::No(_)) { -1 } else { count as i32 })),
            Returns::Between(low, high) => {
                let share = if let Reply::Numbers(n) = &reply { n.first().copied() } else { None };
                Some(Val::F64((low + (high - low) * share.unwrap_or(0.0)).into()))
            }
        })
    }
}

/// How many things a reply has, and the first `most` of them as they stand in a module's memory.
fn written(reply: &Reply, most: u32) -> (u32, Vec<u8>) {
    let mut bytes = Vec::new();
    let first = most as usize;
    match reply {
        Reply::Done | Reply::Number(_) | Reply::No(_) => (0, bytes),
        Reply::Point(at) => {
            if most > 0 {
                bytes.extend(at.x.to_le_bytes());
                bytes.extend(at.y.to_le_bytes());
            }
            (1, bytes)
        }
        Reply::Numbers(numbers) => {
            bytes.extend(numbers.iter().take(first).flat_map(|n| n.to_le_bytes()));
            (numbers.len() as u32, bytes)
        }
        Reply::Seen(seen) => {
            for s in seen.iter().take(first) {
                bytes.extend(s.at.x.to_le_bytes());
                bytes.extend(s.at.y.to_le_bytes());
                bytes.extend(number(s.robot).to_le_bytes());
                bytes.extend(i32::from(s.light).to_le_bytes());
            }
            (seen.len() as u32, bytes)
        }
        Reply::Pending(all) => {
            for coming in all.iter().take(first) {
                bytes.extend(coming.at.since(Moment::ZERO).to_le_bytes());
                bytes.extend(i32::from(coming.conditional).to_le_bytes());
                let mut what = [0; 20];
                // The last byte stays zero.
                for (place, byte) in what[..19].iter_mut().zip(coming.what.bytes()) {
                    *place = byte;
                }
                bytes.extend(what);
            }
            (all.len() as u32, bytes)
        }
    }
}

fn number(robot: Option<u32>) -> i32 {
    robot.map_or(-1, |r| r as i32)
}

/// The arguments of `robot_event`, the other robot, and the message.
fn arguments(event: &Event) -> ((i32, i32, f64, f64), i32, Bytes) {
    let none = || Bytes::from([]);
    match event {
        Event::Start => ((0, 0, 0.0, 0.0), -1, none()),
        Event::Ended { motion, how } => {
            let (kind, at, other) = match how {
                Ended::Finished => (1, Vec2::ZERO, None),
                Ended::Collided { robot, at, .. } => (2, *at, *robot),
                Ended::Replaced => (3, Vec2::ZERO, None),
                Ended::Swallowed => (4, Vec2::ZERO, None),
            };
            ((kind, *motion as i32, at.x, at.y), number(other), none())
        }
        Event::Message { from, bytes, broadcast } => {
            let kind = if *broadcast { 6 } else { 5 };
            ((kind, *from as i32, bytes.len() as f64, 0.0), *from as i32, Bytes::clone(bytes))
        }
        Event::Timer(timer) => ((7, *timer as i32, 0.0, 0.0), -1, none()),
        Event::Pushed { watch, answer } => {
            let (at, other) = match answer {
                Answer::Point(at) => (*at, None),
                Answer::Seen(seen) => seen.first().map_or((Vec2::ZERO, None), |s| (s.at, s.robot)),
                Answer::Numbers(n) => (Vec2::new(n.first().copied().unwrap_or(0.0), 0.0), None),
            };
            ((8, *watch as i32, at.x, at.y), number(other), none())
        }
    }
}

/// What the sandbox's functions work on.
struct Host {
    now: f64,
    me: u32,
    robots: u32,
    other: i32,
    message: Bytes,
    /// Lines said in this event.
    lines: u32,
    /// What the module wants, while it pauses.
    wish: Option<Wish>,
    limits: StoreLimits,
}

impl Default for Host {
    fn default() -> Host {
        let (message, limits) = (Bytes::from([]), StoreLimits::default());
        Host { now: 0.0, me: 0, robots: 0, other: -1, message, lines: 0, wish: None, limits }
    }
}

/// A call, what its function returns, and where what comes of it is written: at most so many things.
struct Wish {
    call: Call,
    returns: Returns,
    at: u32,
    most: u32,
}

#[derive(Clone, Copy)]
enum Returns {
    Nothing,
    /// The number of a motion, timer or watch; 0 when there is none.
    Number,
    /// How many were found; -1 when nobody can tell.
    Count,
    /// A random number in this range.
    Between(f64, f64),
}

/// The module pauses, and its call is done.
#[derive(Debug)]
struct Pause;

impl std::fmt::Display for Pause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("waits for its robot")
    }
}

impl wasmi::errors::HostError for Pause {}

const BAD_POINTER: &str = "it gave a pointer that leads out of its memory";

type In<'a> = Caller<'a, Host>;

/// Pauses with a call; the function's own type says what it returns.
fn pause<R>(mut c: In<'_>, call: Call, returns: Returns, (at, most): (u32, u32)) -> Result<R, Error> {
    charge(&mut c, CALL_FUEL)?;
    c.data_mut().wish = Some(Wish { call, returns, at, most });
    Err(Error::host(Pause))
}

fn charge(c: &mut In<'_>, cost: u64) -> Result<(), Error> {
    match c.get_fuel()?.checked_sub(cost) {
        Some(left) => c.set_fuel(left),
        None => Err(Error::new(OUT_OF_FUEL)),
    }
}

/// The module's memory.
fn memory(c: &In<'_>) -> Result<Memory, Error> {
    match c.get_export("memory") {
        Some(Extern::Memory(memory)) => Ok(memory),
        _ => Err(Error::new("it does not export its memory")),
    }
}

/// Checks that `most` things of a size may be written; answers where.
fn room(c: &In<'_>, at: u32, most: i32, size: u32) -> Result<(u32, u32), Error> {
    let most = u32::try_from(most).map_err(|_| Error::new("it gave a negative length"))?;
    let end = u64::from(at) + u64::from(most) * u64::from(size);
    let inside = most == 0 || end <= memory(c)?.data(c).len() as u64;
    if inside { Ok((at, most)) } else { Err(Error::new(BAD_POINTER)) }
}

/// Bytes of a message.
fn taken(c: &mut In<'_>, at: u32, bytes: i32) -> Result<Vec<u8>, Error> {
    let (at, n) = room(c, at, bytes, 1)?;
    if n as usize > MOST_BYTES {
        return Err(Error::new(format!("it sent a message of {n} bytes; at most {MOST_BYTES} are taken")));
    }
    charge(c, u64::from(n))?;
    if n == 0 {
        return Ok(Vec::new());
    }
    Ok(memory(c)?.data(&*c)[at as usize..(at + n) as usize].to_vec())
}

const NOWHERE: (u32, u32) = (0, 0);

/// The functions a program may call: see `sdk/c/swarm.h`.
fn imports(engine: &Engine) -> Result<Linker<Host>, Error> {
    let mut linker = Linker::new(engine);
    facts(&mut linker)?;
    motions(&mut linker)?;
    senses(&mut linker)?;
    messages(&mut linker)?;
    Ok(linker)
}

fn facts(linker: &mut Linker<Host>) -> Result<(), Error> {
    let l = linker;
    l.func_wrap("swarm", "now", |c: In<'_>| c.data().now)?;
    l.func_wrap("swarm", "me", |c: In<'_>| c.data().me as i32)?;
    l.func_wrap("swarm", "robots", |c: In<'_>| c.data().robots as i32)?;
    l.func_wrap("swarm", "other", |c: In<'_>| c.data().other)?;
    l.func_wrap("swarm", "timer", |c: In<'_>, s: f64| {
        pause::<i32>(c, Call::Timer(s), Returns::Number, NOWHERE)
    })?;
    l.func_wrap("swarm", "cancel", |c: In<'_>, timer: u32| {
        pause::<()>(c, Call::Cancel(u64::from(timer)), Returns::Nothing, NOWHERE)
    })?;
    l.func_wrap("swarm", "uniform", |c: In<'_>, low: f64, high: f64| {
        pause::<f64>(c, Call::Uniforms(1), Returns::Between(low, high), NOWHERE)
    })?;
    l.func_wrap("swarm", "uniforms", |c: In<'_>, at: u32, n: i32| {
        let place = room(&c, at, n.min(MOST_DRAWS as i32), 8)?;
        pause::<()>(c, Call::Uniforms(place.1), Returns::Nothing, place)
    })?;
    l.func_wrap("swarm", "shine", |c: In<'_>, light: i32| {
        pause::<()>(c, Call::Shine(light.clamp(0, 255) as u8), Returns::Nothing, NOWHERE)
    })?;
    l.func_wrap("swarm", "pending", |c: In<'_>, robot: u32, at: u32, most: i32| {
        let place = room(&c, at, most, COMING)?;
        pause::<i32>(c, Call::Pending(robot), Returns::Count, place)
    })?;
    l.func_wrap("swarm", "say", say)?;
    Ok(())
}

/// Takes a line from the program's memory: up to a zero byte, bounded.
fn say(mut c: In<'_>, at: u32) -> Result<(), Error> {
    charge(&mut c, CALL_FUEL)?;
    let memory = memory(&c)?;
    let bytes = memory.data(&c).get(at as usize..).filter(|b| !b.is_empty());
    let bytes = bytes.ok_or_else(|| Error::new(BAD_POINTER))?;
    let line = bytes[..bytes.len().min(MOST_CHARS)].split(|b| *b == 0).next().unwrap_or(&[]);
    let text: String = String::from_utf8_lossy(line).chars().filter(|c| !c.is_control()).collect();
    let host = c.data_mut();
    host.lines += 1;
    if host.lines > MOST_LINES {
        return Ok(());
    }
    pause(c, Call::Say(text), Returns::Nothing, NOWHERE)
}

fn motions(linker: &mut Linker<Host>) -> Result<(), Error> {
    fn go(c: In<'_>, motion: Motion) -> Result<i32, Error> {
        pause(c, Call::Go(motion), Returns::Number, NOWHERE)
    }
    let l = linker;
    l.func_wrap("swarm", "move_to", |c: In<'_>, x: f64, y: f64, speed: f64, turn_speed: f64| {
        go(c, Motion::MoveTo { to: Vec2::new(x, y), speed, turn_speed })
    })?;
    l.func_wrap("swarm", "turn", |c: In<'_>, by: f64, turn_speed: f64| {
        go(c, Motion::Turn { by, turn_speed })
    })?;
    l.func_wrap("swarm", "forward", |c: In<'_>, distance: f64, speed: f64| {
        go(c, Motion::Forward { distance, speed })
    })?;
    l.func_wrap("swarm", "velocity", |c: In<'_>, vx: f64, vy: f64, for_s: f64| {
        go(c, Motion::Velocity { velocity: Vec2::new(vx, vy), for_s })
    })?;
    l.func_wrap("swarm", "arc", |c: In<'_>, speed: f64, spin: f64, for_s: f64| {
        go(c, Motion::Arc { speed, spin, for_s })
    })?;
    l.func_wrap("swarm", "halt", |c: In<'_>| pause::<()>(c, Call::Halt, Returns::Nothing, NOWHERE))?;
    Ok(())
}

fn senses(linker: &mut Linker<Host>) -> Result<(), Error> {
    fn pull(c: In<'_>, query: Query, at: u32, most: i32, size: u32) -> Result<i32, Error> {
        let place = room(&c, at, most, size)?;
        pause(c, Call::Pull(query), Returns::Count, place)
    }
    fn watch(c: In<'_>, what: WatchFor, interval: f64) -> Result<i32, Error> {
        let every = if interval > 0.0 { Every::Interval(interval) } else { Every::Exact };
        pause(c, Call::Watch(Watch { what, every }), Returns::Number, NOWHERE)
    }
    let l = linker;
    l.func_wrap("swarm", "gps", |c: In<'_>, error: f64, at: u32| pull(c, Query::Gps { error }, at, 1, 16))?;
    l.func_wrap("swarm", "gps_all", |c: In<'_>, error: f64, at: u32, most: i32| {
        pull(c, Query::GpsAll { error }, at, most, SEEN)
    })?;
    l.func_wrap("swarm", "view", |c: In<'_>, range: f64, at: u32, most: i32| {
        pull(c, Query::View { range }, at, most, SEEN)
    })?;
    l.func_wrap("swarm", "proximity", |c: In<'_>, range: f64, at: u32, most: i32| {
        pull(c, Query::Proximity { range }, at, most, 8)
    })?;
    l.func_wrap("swarm", "watch_near", |c: In<'_>, range: f64, interval: f64| {
        watch(c, WatchFor::Near { range }, interval)
    })?;
    l.func_wrap("swarm", "watch_contact", |c: In<'_>, interval: f64| watch(c, WatchFor::Contact, interval))?;
    l.func_wrap("swarm", "unwatch", |c: In<'_>, watch: u32| {
        pause::<()>(c, Call::Unwatch(u64::from(watch)), Returns::Nothing, NOWHERE)
    })?;
    Ok(())
}

fn messages(linker: &mut Linker<Host>) -> Result<(), Error> {
    let l = linker;
    l.func_wrap("swarm", "send", |mut c: In<'_>, to: u32, at: u32, bytes: i32| {
        let bytes = taken(&mut c, at, bytes)?;
        pause::<()>(c, Call::Send { to: Some(to), bytes }, Returns::Nothing, NOWHERE)
    })?;
    l.func_wrap("swarm", "send_all", |mut c: In<'_>, at: u32, bytes: i32| {
        let bytes = taken(&mut c, at, bytes)?;
        pause::<()>(c, Call::Send { to: None, bytes }, Returns::Nothing, NOWHERE)
    })?;
    l.func_wrap("swarm", "broadcast", |mut c: In<'_>, at: u32, bytes: i32| {
        let bytes = taken(&mut c, at, bytes)?;
        pause::<()>(c, Call::Broadcast(bytes), Returns::Nothing, NOWHERE)
    })?;
    l.func_wrap("swarm", "message", |mut c: In<'_>, at: u32, most: i32| {
        let (at, most) = room(&c, at, most, 1)?;
        let message = Arc::clone(&c.data().message);
        let n = message.len().min(most as usize);
        charge(&mut c, n as u64)?;
        if n > 0 {
            memory(&c)?.data_mut(&mut c)[at as usize..at as usize + n].copy_from_slice(&message[..n]);
        }
        Ok::<i32, Error>(message.len() as i32)
    })?;
    Ok(())
}
