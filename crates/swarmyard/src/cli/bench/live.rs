//! `bench --live`: what robots that live by events cost.
//!
//! Messages through a random network (every robot answers what it gets with a message to somebody), also while ever more
//! messages or timers are pending, ten thousand robots that gather, and the memory of robots that do nothing.

use super::{cpu_seconds, grouped, resident_bytes};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use swarmyard::base::Vec2;
use swarmyard::formats::NoFiles;
use swarmyard::part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, Registry, ServiceKind, Sheet,
};
use swarmyard::scene::Value;
use swarmyard::{Options, Sim, standard_registry};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);
/// Robots that talk, and messages that each has under way.
const TALKERS: u32 = 100;
const UNDER_WAY: u32 = 10;
/// Slices that are timed, and the messages of each.
const SLICES: usize = 20;
const MESSAGES: u64 = 250_000;
/// What each robot has pending, and how long a quantum is, s, where it is seen what many pending events cost: at every stop
/// all of them are hashed, so a quantum has to hold as many.
const PENDING: [(u32, u32); 3] = [(10, 10), (1_000, 1), (10_000, 1)];
/// Events that are timed there, at least.
const TIMED: u64 = 2_000_000;
/// Robots that gather.
const GATHERERS: u32 = 10_000;
/// Robots that do nothing.
const IDLERS: u32 = 100_000;

/// Has something pending, always the same number: answers every message with one to somebody else, or sets a timer anew; or
/// nothing at all.
#[derive(Clone)]
struct Chatter {
    pending: u32,
    /// Timers instead of messages.
    by_timer: bool,
}

impl Chatter {
    fn say(&self, cx: &mut Cx<'_>) {
        let chance = cx.chance();
        if self.by_timer {
            cx.set_timer(chance.exponential(0, 1.0));
            return;
        }
        let (me, robots) = (cx.me(), cx.robots());
        let to = chance.below(0, robots - 1);
        cx.send_to(LINK, if to >= me { to + 1 } else { to }, &7_u64);
    }
}

impl Microprotocol for Chatter {
    fn start(&mut self, cx: &mut Cx<'_>) {
        for _ in 0..self.pending {
            self.say(cx);
        }
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        self.say(cx);
    }

    fn indication(&mut self, _port: usize, _what: Indication, cx: &mut Cx<'_>) {
        self.say(cx);
    }

    fn save(&self) -> Vec<u8> {
        self.pending.to_le_bytes().to_vec()
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        self.pending = u32::from_le_bytes(image.try_into().map_err(|_| "four bytes")?);
        Ok(())
    }
}

impl ProtocolModel for Chatter {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::optional("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(self.clone())
    }
}

fn registry() -> Registry {
    let mut registry = standard_registry();
    for (name, by_timer) in [("chatter", false), ("ticker", true)] {
        let pending = ParamType::Int { min: 0, max: 1_000_000 };
        let pending = Param::new("pending", pending, "What is under way at any time.");
        let sheet = Sheet::new(name, Kind::Algorithm, "For measuring.").param(pending.or(Value::Int(0)));
        registry.add(Class::new(sheet, move |p, _| {
            Ok(Built::Protocol(Arc::new(Chatter { pending: p.int("pending") as u32, by_timer })))
        }));
    }
    registry
}

fn load(text: &str) -> Result<Sim, Failure> {
    Ok(Sim::read("bench", text, &NoFiles, &registry(), &Options::default())?)
}

/// Measures, and prints a table.
pub(super) fn live(out: &Out) -> Result<Exit, Failure> {
    out.say("messages");
    let [messages, middle, best] = messages()?;
    let mut pending = Vec::new();
    for (each, quantum_s) in PENDING {
        let count = each * TALKERS;
        out.say(&format!("{count} pending"));
        let (messages, timers) =
            (kept_pending("chatter", each, quantum_s)?, kept_pending("ticker", each, quantum_s)?);
        pending.push((count, messages, timers));
    }
    out.say("gathering");
    let (factor, seconds) = gathering()?;
    out.say("memory");
    let bytes = idle_bytes()?;
    let mut text = String::from("| what | figure |\n|---|--:|\n");
    let _ = writeln!(
        text,
        "| messages per processor second, {TALKERS} robots, random network | {} |\n| the same, middle slice | {} |\n| the same, best slice | {} |",
        grouped(messages),
        grouped(middle),
        grouped(best)
    );
    for (count, messages, timers) in &pending {
        let count = grouped(f64::from(*count));
        for (what, rate) in [("messages", messages), ("timers", timers)] {
            let rate = grouped(*rate);
            let _ = writeln!(text, "| {what} per processor second while {count} are pending | {rate} |");
        }
    }
    let pending = pending.iter().map(|(count, messages, timers)| {
        json!({ "pending": count, "messages_per_cpu_s": messages, "timers_per_cpu_s": timers })
    });
    let _ = writeln!(
        text,
        "| {} robots gather, all {seconds:.0} s of it, times real time | {factor:.1} |",
        grouped(f64::from(GATHERERS))
    );
    let _ = writeln!(text, "| bytes per idle robot, of {} | {bytes:.0} |", grouped(f64::from(IDLERS)));
    let answer = json!({
        "messages_per_cpu_s": messages, "middle_slice": middle, "best_slice": best, "gathering_times_real_time": factor, "gathering_s": seconds,
        "bytes_per_idle_robot": bytes, "pending": pending.collect::<Vec<_>>(),
    });
    out.answer("bench-live", answer, &text)?;
    Ok(Exit::Ok)
}

/// Messages per processor second: over all slices, in the middle slice, in the best.
fn messages() -> Result<[f64; 3], Failure> {
    let mut sim = talkers("chatter", UNDER_WAY, 10)?;
    let so_far = |sim: &Sim| sim.state().live.as_ref().map_or(0, |l| l.delivered);
    sim.step()?;
    let mut slices = Vec::new();
    for _ in 0..SLICES {
        let (before, cpu) = (so_far(&sim), cpu_seconds().unwrap_or(0.0));
        while so_far(&sim) - before < MESSAGES {
            sim.step()?;
        }
        let seconds = cpu_seconds().unwrap_or(1.0) - cpu;
        slices.push((so_far(&sim) - before, seconds));
    }
    let rate = |messages: u64, seconds: f64| messages as f64 / seconds.max(1e-9);
    let mean = rate(slices.iter().map(|s| s.0).sum(), slices.iter().map(|s| s.1).sum());
    let mut rates: Vec<f64> = slices.iter().map(|s| rate(s.0, s.1)).collect();
    rates.sort_by(f64::total_cmp);
    Ok([mean, rates[SLICES / 2], rates[SLICES - 1]])
}

fn talkers(class: &str, pending: u32, quantum_s: u32) -> Result<Sim, Failure> {
    load(&format!(
        "format = 1\n[run]\nquantum = \"{quantum_s}s\"\n[network]\nclass = \"random\"\nmean = 1\n[type.bot]\nradius = 0.1\n\
         [type.bot.algorithm]\nclass = \"{class}\"\npending = {pending}\n\
         [[robot]]\ntype = \"bot\"\ncount = {TALKERS}\nlayout = {{ class = \"grid\", spacing = 1 }}\n"
    ))
}

/// Messages or timers per processor second while each robot has so many pending.
fn kept_pending(class: &str, each: u32, quantum_s: u32) -> Result<f64, Failure> {
    let mut sim = talkers(class, each, quantum_s)?;
    // A timer takes a number for its chance and one for itself; a message for its chance only.
    let numbers = if class == "ticker" { 2 } else { 1 };
    let so_far = |sim: &Sim| {
        let robots = sim.state().live.iter().flat_map(|live| &live.robots);
        robots.map(|robot| robot.ordinal).sum::<u64>() / numbers
    };
    sim.step()?;
    let (before, cpu) = (so_far(&sim), cpu_seconds().unwrap_or(0.0));
    while so_far(&sim) - before < TIMED {
        sim.step()?;
    }
    Ok((so_far(&sim) - before) as f64 / (cpu_seconds().unwrap_or(1.0) - cpu).max(1e-9))
}

/// Robots that set out for the middle of all, as in the world `gathering-10000`, until the last is there: how many times faster than
/// real time, and how many seconds that is.
fn gathering() -> Result<(f64, f64), Failure> {
    const NEAR_M: f64 = 10.0;
    const LONGEST_S: f64 = 600.0;
    let cpu = cpu_seconds().unwrap_or(0.0);
    let mut sim = load(&format!(
        "format = 1\n[run]\nquantum = \"1s\"\ncontact = \"ghost\"\n[type.bot]\nradius = 1\n\
         [[type.bot.part]]\nname = \"wheels\"\nclass = \"wheels\"\n[[type.bot.part]]\nname = \"gps\"\nclass = \"gps\"\n\
         [type.bot.algorithm]\nclass = \"gathering\"\nnear = {NEAR_M}\nspeed = [8, 20]\nturn_speed = [\"120deg/s\", \"180deg/s\"]\n\
         [[robot]]\ntype = \"bot\"\ncount = {GATHERERS}\nlayout = {{ class = \"grid\", spacing = 8, jitter = 2, heading = \"random\" }}\n"
    ))?;
    let mut seconds = 0.0;
    // Who sees itself near the middle stays; the middle moves on a little while others come.
    while spread(&sim) > 2.0 * NEAR_M {
        if seconds >= LONGEST_S {
            let why = format!("after {LONGEST_S} s robots are still {:.0} m from their middle", spread(&sim));
            return Err(Failure::new(Exit::Failed, "bench", why));
        }
        sim.step()?;
        seconds += 1.0;
    }
    Ok((seconds / (cpu_seconds().unwrap_or(1.0) - cpu), seconds))
}

/// How far from the middle of all the farthest robot is.
fn spread(sim: &Sim) -> f64 {
    let places = || sim.state().pose.iter().map(|p| p.at);
    let middle = places().fold(Vec2::ZERO, |sum, at| sum + at) * (1.0 / f64::from(GATHERERS));
    places().fold(0.0, |most: f64, at| most.max((at - middle).norm()))
}

fn resident() -> f64 {
    resident_bytes().unwrap_or(0) as f64
}

/// What one more world of idle robots takes, on average: the loading of one leaves room that the next uses.
fn idle_bytes() -> Result<f64, Failure> {
    const MORE: u32 = 8;
    let mut worlds = vec![idlers()?];
    let before = resident();
    for _ in 0..MORE {
        worlds.push(idlers()?);
    }
    Ok((resident() - before).max(0.0) / f64::from(MORE * IDLERS))
}

fn idlers() -> Result<Sim, Failure> {
    let mut sim = load(&format!(
        "format = 1\n[run]\nquantum = \"1s\"\n[type.bot]\nradius = 0.1\n[type.bot.algorithm]\nclass = \"chatter\"\n\
         [[robot]]\ntype = \"bot\"\ncount = {IDLERS}\nlayout = {{ class = \"grid\", spacing = 1 }}\n"
    ))?;
    for _ in 0..3 {
        sim.step()?;
    }
    Ok(sim)
}
