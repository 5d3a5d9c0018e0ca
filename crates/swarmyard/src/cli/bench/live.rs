//! `bench --live`: what robots that live by events cost.
//!
//! Messages through a random network (every robot answers what it gets with a message to somebody), ten thousand
//! robots that gather, and the memory of robots that do nothing.

use super::{cpu_seconds, grouped, resident_bytes};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use swarmyard::base::Vec2;
use swarmyard::formats::NoFiles;
use swarmyard::part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, PortSpec, ProtocolModel, ProtocolPort, Registry,
    ServiceKind, Sheet,
};
use swarmyard::{Options, Sim, standard_registry};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);
/// Robots that talk, and messages that each has under way.
const TALKERS: u32 = 100;
const UNDER_WAY: u32 = 10;
/// Slices that are timed, and the messages of each.
const SLICES: usize = 20;
const MESSAGES: u64 = 250_000;
/// Robots that gather.
const GATHERERS: u32 = 10_000;
/// Robots that do nothing.
const IDLERS: u32 = 100_000;

/// Answers every message with one to somebody else; or does nothing at all.
struct Chatter(u32);

impl Chatter {
    fn say(cx: &mut Cx<'_>) {
        let (me, robots) = (cx.me(), cx.robots());
        let to = cx.chance().below(0, robots - 1);
        cx.send_to(LINK, if to >= me { to + 1 } else { to }, &7_u64);
    }
}

impl Microprotocol for Chatter {
    fn start(&mut self, cx: &mut Cx<'_>) {
        for _ in 0..self.0 {
            Chatter::say(cx);
        }
    }

    fn indication(&mut self, _port: usize, _what: Indication, cx: &mut Cx<'_>) {
        Chatter::say(cx);
    }

    fn save(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        self.0 = u32::from_le_bytes(image.try_into().map_err(|_| "four bytes")?);
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
        Box::new(Chatter(self.0))
    }
}

fn registry() -> Registry {
    let mut registry = standard_registry();
    for (name, messages) in [("chatter", UNDER_WAY), ("idler", 0)] {
        let sheet = Sheet::new(name, Kind::Algorithm, "For measuring.");
        registry.add(Class::new(sheet, move |_, _| Ok(Built::Protocol(Arc::new(Chatter(messages))))));
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
    let _ = writeln!(
        text,
        "| {} robots gather, all {seconds:.0} s of it, times real time | {factor:.1} |",
        grouped(f64::from(GATHERERS))
    );
    let _ = writeln!(text, "| bytes per idle robot, of {} | {bytes:.0} |", grouped(f64::from(IDLERS)));
    let answer = json!({
        "messages_per_cpu_s": messages, "middle_slice": middle, "best_slice": best, "gathering_times_real_time": factor, "gathering_s": seconds,
        "bytes_per_idle_robot": bytes,
    });
    out.answer("bench-live", answer, &text)?;
    Ok(Exit::Ok)
}

/// Messages per processor second: over all slices, in the middle slice, in the best.
fn messages() -> Result<[f64; 3], Failure> {
    let mut sim = load(&format!(
        "format = 1\n[run]\nquantum = \"10s\"\n[network]\nclass = \"random\"\nmean = 1\n[type.bot]\nradius = 0.1\n\
         [type.bot.algorithm]\nclass = \"chatter\"\n\
         [[robot]]\ntype = \"bot\"\ncount = {TALKERS}\nlayout = {{ class = \"grid\", spacing = 1 }}\n"
    ))?;
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
        "format = 1\n[run]\nquantum = \"1s\"\n[type.bot]\nradius = 0.1\n[type.bot.algorithm]\nclass = \"idler\"\n\
         [[robot]]\ntype = \"bot\"\ncount = {IDLERS}\nlayout = {{ class = \"grid\", spacing = 1 }}\n"
    ))?;
    for _ in 0..3 {
        sim.step()?;
    }
    Ok(sim)
}
