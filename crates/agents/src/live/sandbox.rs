//! A sandbox for one robot's algorithm: one running copy of a module, called for each event.
//!
//! A function of `sdk/c/swarm.h` that reaches the robot notes its call and pauses the module; the call is done
//! outside, what comes of it is written into the module's memory, and the module goes on. So the sandbox never
//! holds the robot. Every call costs fuel by what it moves, so an event cannot cost more than its fuel.

use super::Uses;
use super::call::{
    Call, Hands, MOST_ARGS, MOST_ASKS, MOST_BYTES, MOST_CHARS, MOST_DRAWS, MOST_NAME, Reply, too_many_asks,
};
use super::event::Event;
use super::table::{Arg, Gives, Row, Taken, calls};
use crate::image::Image;
use crate::module::{GLOBAL, Prepared, prepare};
use crate::wasm::{Budget, construct, engine};
use std::sync::Arc;
use swarmyard_base::{Moment, Vec2};
use swarmyard_part_api::{Answer, Bytes, Cx, Ended, Seen};
use wasmi::{
    Caller, Engine, Error, Extern, FuncType, Global, Linker, Memory, Module, Store, StoreLimits,
    StoreLimitsBuilder, TrapCode, TypedFunc, TypedResumableCall, Val, ValType,
};

/// Fuel that a call costs, beside its bytes.
const CALL_FUEL: u64 = 100;
/// Lines that may be said in one event.
const MOST_LINES: u32 = 20;
/// Bytes of a thing seen, and of something pending, in the module's memory; of those the bytes of text.
const SEEN: u32 = 24;
const PENDING: u32 = 32;
const PENDING_TEXT: usize = 20;
const COMING: u32 = 64;
const COMING_TEXT: usize = 48;

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
        (hands, uses): (&mut Hands, &Uses),
        cx: &mut Cx<'_>,
    ) -> Result<(), String> {
        let About { arguments, other, message, numbers } = about(event);
        let host = live.store.data_mut();
        (host.now, host.me, host.robots) = (cx.now().since(Moment::ZERO), cx.me(), cx.robots());
        (host.other, host.message, host.numbers) = (other, message, numbers);
        (host.lines, host.asks) = (0, 0);
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
                    match live.grant(wish, (hands, uses), cx) {
                        Ok(value) => came = pause.resume(&mut live.store, value.as_slice()),
                        Err(why) => break Err(why),
                    }
                }
                Err(e) => break Err(explain(&e)),
            }
        };
        let host = live.store.data_mut();
        (host.message, host.numbers) = (Bytes::from([]), Vec::new());
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
    fn grant(
        &mut self,
        wish: Wish,
        (hands, uses): (&mut Hands, &Uses),
        cx: &mut Cx<'_>,
    ) -> Result<Option<Val>, String> {
        let reply = fit(hands.perform(wish.call, uses, cx), wish.gives);
        let (count, bytes) = written(&reply, wish.most);
        let things = if wish.gives == Gives::Bytes { 0 } else { count };
        let cost = bytes.len() as u64 + 8 * u64::from(things);
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
            Returns::Whether => Some(Val::I32(i32::from(!matches!(reply, Reply::No(_))))),
            Returns::Count => Some(Val::I32(if matches!(reply, Reply::No(_)) { -1 } else { count as i32 })),
            Returns::Between(low, high) => {
                let share = if let Reply::Numbers(n) = &reply { n.first().copied() } else { None };
                Some(Val::F64((low + (high - low) * share.unwrap_or(0.0)).into()))
            }
        })
    }
}

/// A reply as the function is declared: there is room for nothing else.
fn fit(reply: Reply, gives: Gives) -> Reply {
    match (gives, reply) {
        (Gives::Any, Reply::Point(at)) => Reply::Numbers(vec![at.x, at.y]),
        (Gives::Any, Reply::Seen(seen)) => Reply::Numbers(flat(&seen)),
        (Gives::Any | Gives::Numbers(_), reply @ Reply::Numbers(_))
        | (Gives::Point, reply @ Reply::Point(_))
        | (Gives::Seen, reply @ Reply::Seen(_))
        | (Gives::Pending, reply @ Reply::Pending(_))
        | (Gives::Coming, reply @ Reply::Coming(_))
        | (Gives::Bytes, reply @ Reply::Bytes(_))
        | (Gives::Nothing | Gives::Number | Gives::Asked, reply)
        | (_, reply @ Reply::No(_)) => reply,
        _ => Reply::No("a sensor answered something else".to_owned()),
    }
}

/// Things seen as numbers: x, y, robot and light of each.
fn flat(seen: &[Seen]) -> Vec<f64> {
    let each = |s: &Seen| [s.at.x, s.at.y, f64::from(number(s.robot)), f64::from(s.light)];
    seen.iter().flat_map(each).collect()
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
                bytes.extend(text::<PENDING_TEXT>(&coming.what));
            }
            (all.len() as u32, bytes)
        }
        Reply::Coming(all) => {
            for coming in all.iter().take(first) {
                bytes.extend(coming.at.since(Moment::ZERO).to_le_bytes());
                bytes.extend(i32::from(coming.conditional).to_le_bytes());
                bytes.extend(number(coming.robot).to_le_bytes());
                bytes.extend(text::<COMING_TEXT>(&coming.what));
            }
            (all.len() as u32, bytes)
        }
        Reply::Bytes(all) => {
            bytes.extend(all.iter().take(first));
            (all.len() as u32, bytes)
        }
    }
}

/// The beginning of a text; the last byte is zero.
fn text<const N: usize>(what: &str) -> [u8; N] {
    let mut text = [0; N];
    for (place, byte) in text[..N - 1].iter_mut().zip(what.bytes()) {
        *place = byte;
    }
    text
}

fn number(robot: Option<u32>) -> i32 {
    robot.map_or(-1, |r| r as i32)
}

/// What a module is told of an event: the arguments of `robot_event`, and what it may ask for.
struct About {
    arguments: (i32, i32, f64, f64),
    other: i32,
    message: Bytes,
    numbers: Vec<f64>,
}

fn about(event: &Event) -> About {
    let told = |kind, a, at: Vec2, other| About {
        arguments: (kind, a, at.x, at.y),
        other: number(other),
        message: Bytes::from([]),
        numbers: Vec::new(),
    };
    match event {
        Event::Start => told(0, 0, Vec2::ZERO, None),
        Event::Ended { motion, how } => {
            let (kind, at, other) = match how {
                Ended::Finished => (1, Vec2::ZERO, None),
                Ended::Collided { robot, at, .. } => (2, *at, *robot),
                Ended::Replaced => (3, Vec2::ZERO, None),
                Ended::Swallowed => (4, Vec2::ZERO, None),
            };
            told(kind, *motion as i32, at, other)
        }
        Event::Message { from, bytes, broadcast } => {
            let kind = if *broadcast { 6 } else { 5 };
            let length = Vec2::new(bytes.len() as f64, 0.0);
            About { message: Bytes::clone(bytes), ..told(kind, *from as i32, length, Some(*from)) }
        }
        Event::Timer(timer) => told(7, *timer as i32, Vec2::ZERO, None),
        Event::Pushed { watch, answer } => {
            let (at, other, numbers) = match answer {
                Answer::Point(at) => (*at, None, vec![at.x, at.y]),
                Answer::Seen(seen) => {
                    let (at, other) = seen.first().map_or((Vec2::ZERO, None), |s| (s.at, s.robot));
                    (at, other, flat(seen))
                }
                Answer::Numbers(n) => (Vec2::new(n.first().copied().unwrap_or(0.0), 0.0), None, n.clone()),
            };
            About { numbers, ..told(8, *watch as i32, at, other) }
        }
        Event::News { news, told: said } => {
            let numbers = said.list.iter().map(|robot| f64::from(*robot)).collect();
            let at = Vec2::new(said.x, said.y);
            About {
                message: Bytes::clone(&said.bytes),
                numbers,
                ..told(news.kind, said.a as i32, at, said.robot)
            }
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
    numbers: Vec<f64>,
    /// Lines said in this event.
    lines: u32,
    /// Times that protocols were asked in this event.
    asks: u32,
    /// What the module wants, while it pauses.
    wish: Option<Wish>,
    limits: StoreLimits,
}

impl Default for Host {
    fn default() -> Host {
        let (message, numbers, limits) = (Bytes::from([]), Vec::new(), StoreLimits::default());
        Host {
            now: 0.0,
            me: 0,
            robots: 0,
            other: -1,
            message,
            numbers,
            lines: 0,
            asks: 0,
            wish: None,
            limits,
        }
    }
}

/// A call, what its function returns, and where what comes of it is written: at most so many things.
struct Wish {
    call: Call,
    gives: Gives,
    returns: Returns,
    at: u32,
    most: u32,
}

#[derive(Clone, Copy)]
enum Returns {
    Nothing,
    /// The number of a motion, timer or watch; 0 when there is none.
    Number,
    /// Whether somebody was asked.
    Whether,
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
fn pause<R>(mut c: In<'_>, call: Call, (gives, returns): (Gives, Returns), place: Place) -> Result<R, Error> {
    charge(&mut c, CALL_FUEL)?;
    let (at, most) = place;
    c.data_mut().wish = Some(Wish { call, gives, returns, at, most });
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
    Ok(memory(c)?.data(&*c)[at as usize..at as usize + n as usize].to_vec())
}

/// A name: up to a zero byte, bounded.
fn name(c: &mut In<'_>, at: u32) -> Result<String, Error> {
    let memory = memory(c)?;
    let bytes = memory.data(&*c).get(at as usize..).filter(|b| !b.is_empty());
    let bytes = bytes.ok_or_else(|| Error::new(BAD_POINTER))?;
    let end = bytes.iter().take(MOST_NAME + 1).position(|b| *b == 0);
    let end = end.ok_or_else(|| Error::new(format!("it gave a name of more than {MOST_NAME} bytes")))?;
    let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
    charge(c, end as u64)?;
    Ok(name)
}

/// Numbers that go with a name.
fn reals(c: &mut In<'_>, at: u32, count: i32) -> Result<Vec<f64>, Error> {
    let (at, n) = room(c, at, count, 8)?;
    if n as usize > MOST_ARGS {
        return Err(Error::new(format!("it gave {n} numbers with a name; at most {MOST_ARGS} are taken")));
    }
    charge(c, 8 * u64::from(n))?;
    if n == 0 {
        return Ok(Vec::new());
    }
    let bytes = &memory(c)?.data(&*c)[at as usize..at as usize + 8 * n as usize];
    Ok(bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

/// Where in the module's memory what comes of a call is written, and how many things at most.
type Place = (u32, u32);

const NOWHERE: Place = (0, 0);

/// The functions a program may call: see `sdk/c/swarm.h`.
fn imports(engine: &Engine) -> Result<Linker<Host>, Error> {
    let mut linker = Linker::new(engine);
    for row in calls() {
        add(&mut linker, row)?;
    }
    facts(&mut linker)?;
    Ok(linker)
}

/// The function of a row: arguments in their order, then where to write what comes of it.
fn add(linker: &mut Linker<Host>, row: &'static Row) -> Result<(), Error> {
    let mut takes = Vec::new();
    for arg in row.takes {
        match arg {
            Arg::Real(_) | Arg::RealOr0(_) => takes.push(ValType::F64),
            Arg::Whole(_) | Arg::Byte(_) | Arg::Name(_) => takes.push(ValType::I32),
            Arg::Bytes(_) | Arg::Reals(_) => takes.extend([ValType::I32; 2]),
        }
    }
    let (returns, written) = match row.gives {
        Gives::Nothing => (Returns::Nothing, 0),
        Gives::Number => (Returns::Number, 0),
        Gives::Asked => (Returns::Whether, 0),
        Gives::Point => (Returns::Count, 1),
        _ => (Returns::Count, 2),
    };
    takes.extend(std::iter::repeat_n(ValType::I32, written));
    let answers = (row.gives != Gives::Nothing).then_some(ValType::I32);
    let ty = FuncType::new(takes, answers);
    linker.func_new("swarm", row.word, ty, move |mut c, given, _| {
        let mut given = given.iter();
        let mut taken = take(&mut c, row.takes, &mut given)?;
        let (at, most) = (whole(given.next()), whole(given.next()) as i32);
        let place = match row.gives {
            Gives::Nothing | Gives::Number | Gives::Asked => NOWHERE,
            Gives::Point => room(&c, at, 1, 16)?,
            Gives::Seen => room(&c, at, most, SEEN)?,
            Gives::Numbers(_) | Gives::Any => room(&c, at, most, 8)?,
            Gives::Pending => room(&c, at, most, PENDING)?,
            Gives::Coming => room(&c, at, most, COMING)?,
            Gives::Bytes => room(&c, at, most, 1)?,
        };
        c.data_mut().asks += u32::from(row.gives == Gives::Asked);
        if c.data().asks > MOST_ASKS {
            return Err(Error::new(too_many_asks()));
        }
        let nonsense = || Error::new(format!("`swarm_{}` cannot be called so", row.word));
        let call = (row.make)(&mut taken).ok_or_else(nonsense)?;
        pause(c, call, (row.gives, returns), place)
    })?;
    Ok(())
}

/// The arguments of a row's function, as far as they are not about where to write.
fn take(c: &mut In<'_>, takes: &[Arg], given: &mut std::slice::Iter<'_, Val>) -> Result<Taken, Error> {
    let mut taken = Taken::default();
    for arg in takes {
        match arg {
            Arg::Real(_) | Arg::RealOr0(_) => {
                taken.reals.push(given.next().and_then(Val::f64).map_or(0.0, f64::from));
            }
            Arg::Whole(_) => taken.wholes.push(u64::from(whole(given.next()))),
            Arg::Byte(_) => taken.wholes.push((whole(given.next()) as i32).clamp(0, 255) as u64),
            Arg::Bytes(_) => {
                let (at, bytes) = (whole(given.next()), whole(given.next()) as i32);
                taken.bytes = self::taken(c, at, bytes)?;
            }
            Arg::Name(_) => taken.name = name(c, whole(given.next()))?,
            Arg::Reals(_) => {
                let (at, count) = (whole(given.next()), whole(given.next()) as i32);
                taken.list = reals(c, at, count)?;
            }
        }
    }
    Ok(taken)
}

fn whole(value: Option<&Val>) -> u32 {
    value.and_then(Val::i32).unwrap_or(0) as u32
}

/// Functions about the event at hand, and those that have no row.
fn facts(linker: &mut Linker<Host>) -> Result<(), Error> {
    let l = linker;
    l.func_wrap("swarm", "now", |c: In<'_>| c.data().now)?;
    l.func_wrap("swarm", "me", |c: In<'_>| c.data().me as i32)?;
    l.func_wrap("swarm", "robots", |c: In<'_>| c.data().robots as i32)?;
    l.func_wrap("swarm", "other", |c: In<'_>| c.data().other)?;
    l.func_wrap("swarm", "uniform", |c: In<'_>, low: f64, high: f64| {
        pause::<f64>(c, Call::Uniforms(1), (Gives::Numbers(""), Returns::Between(low, high)), NOWHERE)
    })?;
    l.func_wrap("swarm", "uniforms", |c: In<'_>, at: u32, n: i32| {
        let place = room(&c, at, n.min(MOST_DRAWS as i32), 8)?;
        pause::<()>(c, Call::Uniforms(place.1), (Gives::Numbers(""), Returns::Nothing), place)
    })?;
    l.func_wrap("swarm", "say", say)?;
    l.func_wrap("swarm", "message", |mut c: In<'_>, at: u32, most: i32| {
        let (at, most) = room(&c, at, most, 1)?;
        let message = Arc::clone(&c.data().message);
        put(&mut c, at, &message[..message.len().min(most as usize)])?;
        Ok::<i32, Error>(message.len() as i32)
    })?;
    l.func_wrap("swarm", "numbers", |mut c: In<'_>, at: u32, most: i32| {
        let (at, most) = room(&c, at, most, 8)?;
        let first = c.data().numbers.iter().take(most as usize);
        let bytes: Vec<u8> = first.flat_map(|n| n.to_le_bytes()).collect();
        put(&mut c, at, &bytes)?;
        Ok::<i32, Error>(c.data().numbers.len() as i32)
    })?;
    Ok(())
}

/// Writes bytes to a place that has room for them.
fn put(c: &mut In<'_>, at: u32, bytes: &[u8]) -> Result<(), Error> {
    charge(c, bytes.len() as u64)?;
    if !bytes.is_empty() {
        memory(c)?.data_mut(&mut *c)[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    }
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
    pause(c, Call::Say(text), (Gives::Nothing, Returns::Nothing), NOWHERE)
}
