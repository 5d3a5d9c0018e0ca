//! What a part model may ask for and answer: the functions of `sdk/c/part.h`.
//!
//! In: calls from the sandbox. They read what was copied here for one step of one robot and write into
//! buffers here; nothing reaches the world before the step has ended well. A call that makes no sense
//! ends the step, with the reason.

use super::config::{Config, normal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_base::{Pose2, Rot2, Time, Twist2, Uid, Vec2, math};
use swarmyard_part_api::{Beacon, BodyKind, Channel, FixedEdge, Mark, MarkShape, Outline, Track, TrackIndex};
use wasmi::{Caller, Engine, Linker, Memory, StoreLimits};

/// Most channels, numbers of all channels, numbers kept, letters of a name and of a meaning, and marks.
const MOST_CHANNELS: usize = 64;
const MOST_NUMBERS: usize = 4096;
const MOST_NAME: usize = 64;
const MOST_WORDS: usize = 400;
const MOST_MARKS: usize = 1024;

/// Channels that the simulator adds.
pub(crate) const RESERVED: [&str; 2] = ["fault", "faults"];

/// Which of its functions runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Describe = 1,
    Setup = 2,
    Step = 4,
    Marks = 8,
    Cleanup = 16,
}

const DESCRIBE: u8 = Phase::Describe as u8;
const SETUP: u8 = Phase::Setup as u8;
const STEP: u8 = Phase::Step as u8;
const MARKS: u8 = Phase::Marks as u8;

/// What a model says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plan {
    pub(crate) channels: Vec<Planned>,
    pub(crate) keep: usize,
    pub(crate) bearings: Option<(f64, f64)>,
    pub(crate) base: Option<f64>,
}

/// A channel as a model declares it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Planned {
    pub(crate) name: String,
    pub(crate) len: usize,
    pub(crate) unit: Unit,
    pub(crate) range: (f64, f64),
    pub(crate) summary: String,
    pub(crate) command: bool,
    /// Where it begins in the column of readings or commands.
    first: usize,
}

impl Plan {
    pub(crate) fn width(&self, command: bool) -> usize {
        self.channels.iter().filter(|c| c.command == command).map(|c| c.len).sum()
    }

    /// Place of a number of a channel in its column.
    fn place(&self, channel: i32, index: i32, command: bool) -> Result<usize, wasmi::Error> {
        let found = usize::try_from(channel).ok().and_then(|c| self.channels.get(c));
        let index = usize::try_from(index).ok();
        match (found.filter(|c| c.command == command), index) {
            (Some(c), Some(k)) if k < c.len => Ok(c.first + k),
            _ => {
                let what = if command { "command" } else { "reading" };
                Err(no(format!("there is no {what} {channel}[{}]", index.map_or(-1, |k| k as i64))))
            }
        }
    }
}

/// What never moves, copied once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statics {
    pub(crate) edges: Vec<FixedEdge>,
    pub(crate) tracks: Vec<Track>,
    pub(crate) index: TrackIndex,
    pub(crate) beacons: Vec<Beacon>,
    pub(crate) outlines: Vec<Outline>,
}

/// What is the same for all robots with the part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) config: Config,
    pub(crate) mount: Pose2,
    pub(crate) reach: f64,
    /// A drive; otherwise a sensor.
    pub(crate) drive: bool,
    /// Number of the part in its type.
    pub(crate) number: u32,
}

/// When a step is.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Occasion {
    pub(crate) now: Time,
    pub(crate) quantum_s: f64,
    pub(crate) gravity: f64,
    /// As in `part.h`: 0 coarse, 1 normal, 2 fine.
    pub(crate) detail: i32,
    pub(crate) seed: u64,
}

/// A body as it is shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Body {
    pub(crate) uid: Uid,
    pub(crate) pose: Pose2,
    pub(crate) rot: Rot2,
    pub(crate) twist: Twist2,
    pub(crate) moved: Twist2,
    pub(crate) kind: BodyKind,
    pub(crate) heights: (f64, f64),
    /// Its outline's number, for corners.
    pub(crate) outline: u32,
    pub(crate) reach: f64,
    pub(crate) round: f64,
    pub(crate) corners: i32,
}

/// What a model is shown for one step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shown {
    /// The robot, and what is near.
    pub(crate) me: Option<Body>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) near: Vec<FixedEdge>,
    pub(crate) commands: Vec<f64>,
    /// The numbers it keeps, from the step before.
    pub(crate) state: Vec<f64>,
}

/// What it answers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) readings: Vec<f64>,
    pub(crate) state: Vec<f64>,
    pub(crate) motion: Option<Twist2>,
}

/// What the sandbox's functions work on.
pub(crate) struct Host {
    pub(crate) limits: StoreLimits,
    pub(crate) memory: Option<Memory>,
    pub(crate) phase: Phase,
    pub(crate) facts: Arc<Facts>,
    pub(crate) plan: Arc<Plan>,
    /// Keys it asked for.
    pub(crate) asked: BTreeSet<String>,
    pub(crate) statics: Arc<Statics>,
    pub(crate) moment: Occasion,
    pub(crate) shown: Shown,
    pub(crate) answer: Answer,
    pub(crate) purpose: Option<Purpose>,
    pub(crate) names: Arc<Vec<Channel>>,
    pub(crate) marks: Vec<Mark>,
}

impl Host {
    pub(crate) fn new(limits: StoreLimits, facts: Arc<Facts>) -> Host {
        Host {
            limits,
            memory: None,
            phase: Phase::Describe,
            facts,
            plan: Arc::default(),
            asked: BTreeSet::new(),
            statics: Arc::default(),
            moment: Occasion::default(),
            shown: Shown::default(),
            answer: Answer::default(),
            purpose: None,
            names: Arc::default(),
            marks: Vec::new(),
        }
    }

    fn need(&self, phases: u8, what: &str) -> Said<()> {
        if self.phase as u8 & phases != 0 {
            return Ok(());
        }
        let names =
            [(DESCRIBE, "part_describe"), (SETUP, "part_setup"), (STEP, "part_step"), (MARKS, "part_marks")];
        let allowed: Vec<&str> = names.iter().filter(|(p, _)| phases & p != 0).map(|(_, n)| *n).collect();
        Err(no(format!("`{what}` can be called only in {}", allowed.join(" and "))))
    }

    fn draw(&self) -> Said<Draw> {
        self.need(STEP, "part_uniform, part_normal")?;
        let me = self.me()?;
        let purpose = self.purpose.unwrap_or(Purpose::PartModel);
        // The wheels of the simulator's own drives draw under number 0, everything else under its own.
        let number = if purpose == Purpose::WheelSlip { 0 } else { self.facts.number };
        Ok(Draw::at(self.moment.seed, me.uid, purpose, self.moment.now, number))
    }

    fn me(&self) -> Said<&Body> {
        self.shown.me.as_ref().ok_or_else(|| no("there is no robot now"))
    }

    fn body(&self, k: i32) -> Said<&Body> {
        self.need(STEP, "part_body_at")?;
        at(&self.shown.bodies, k, "body")
    }

    fn corner(&self, k: i32, corner: i32) -> Said<Vec2> {
        let body = self.body(k)?;
        let outline = self.statics.outlines.get(body.outline as usize);
        at(outline.map_or(&[][..], Outline::corners), corner, "corner").copied()
    }

    fn mark(&mut self, channel: i32, index: i32, shape: MarkShape) -> Said<()> {
        self.need(MARKS, "part_mark_…")?;
        self.plan.place(channel, index, false)?;
        let finite = match &shape {
            MarkShape::Line(points) => points.iter().all(|p| p.is_finite()),
            MarkShape::Circle { centre, radius } => centre.is_finite() && radius.is_finite(),
            MarkShape::Arc { centre, radius, from, to } => {
                centre.is_finite() && radius.is_finite() && from.is_finite() && to.is_finite()
            }
            MarkShape::Text { at, .. } => at.is_finite(),
        };
        if !finite {
            return Err(no("a mark has a number that is not finite"));
        }
        if self.marks.len() >= MOST_MARKS {
            return Err(no(format!("there are more than {MOST_MARKS} marks")));
        }
        let channel = at(&self.names, channel, "reading")?.name;
        self.marks.push(Mark { shape, channel, index: index as usize });
        Ok(())
    }
}

/// What a call answers; an error ends the step.
type Said<T> = Result<T, wasmi::Error>;
type Call<'a> = Caller<'a, Host>;

/// Ends the call, and the step with it.
fn no(why: impl Into<String>) -> wasmi::Error {
    wasmi::Error::new(why.into())
}

fn at<'a, T>(all: &'a [T], k: i32, what: &str) -> Said<&'a T> {
    let found = usize::try_from(k).ok().and_then(|k| all.get(k));
    found.ok_or_else(|| no(format!("there is no {what} {k}, of {}", all.len())))
}

fn finite(value: f64, what: impl FnOnce() -> String) -> Said<f64> {
    if value.is_finite() { Ok(value) } else { Err(no(format!("{NOT_FINITE}: {}", what()))) }
}

/// How the message of a number that is not finite begins.
pub(crate) const NOT_FINITE: &str = "not a finite number";

/// The text at an address of the sandbox, up to its zero byte.
fn text(caller: &Call<'_>, address: u32, most: usize) -> Said<String> {
    let memory = caller.data().memory.ok_or_else(|| no("it has no memory"))?;
    let bytes = memory.data(caller).get(address as usize..).unwrap_or(&[]);
    let bytes = &bytes[..bytes.len().min(most + 1)];
    let Some(end) = bytes.iter().position(|b| *b == 0) else {
        return Err(no(format!("a text is longer than {most} bytes")));
    };
    let text = String::from_utf8_lossy(&bytes[..end]);
    Ok(text.chars().filter(|c| !c.is_control()).collect())
}

/// Writes numbers, and whole numbers behind them, as a C struct.
fn put(caller: &mut Call<'_>, address: u32, doubles: &[f64], ints: &[i32]) -> Said<()> {
    let memory = caller.data().memory.ok_or_else(|| no("it has no memory"))?;
    let mut bytes = [0_u8; 160];
    for (place, x) in bytes.chunks_exact_mut(8).zip(doubles) {
        place.copy_from_slice(&x.to_le_bytes());
    }
    for (place, x) in bytes[8 * doubles.len()..].chunks_exact_mut(4).zip(ints) {
        place.copy_from_slice(&x.to_le_bytes());
    }
    let len = 8 * doubles.len() + 4 * ints.len();
    memory.write(caller, address as usize, &bytes[..len]).map_err(|_| no("a pointer leads out of its memory"))
}

/// The functions a model may call.
pub(crate) fn imports(engine: &Engine) -> Result<Linker<Host>, wasmi::Error> {
    let mut linker = Linker::new(engine);
    describing(&mut linker)?;
    configuring(&mut linker)?;
    fixed_things(&mut linker)?;
    stepping(&mut linker)?;
    moving_things(&mut linker)?;
    marking(&mut linker)?;
    mathematics(&mut linker)?;
    Ok(linker)
}

fn describing(linker: &mut Linker<Host>) -> Said<()> {
    linker.func_wrap(
        "part",
        "reading",
        |mut c: Call<'_>, name: u32, count: i32, unit: u32, least: f64, most: f64, meaning: u32| {
            declare(&mut c, false, (name, unit, meaning), count, (least, most))
        },
    )?;
    linker.func_wrap(
        "part",
        "command",
        |mut c: Call<'_>, name: u32, count: i32, unit: u32, least: f64, most: f64, meaning: u32| {
            declare(&mut c, true, (name, unit, meaning), count, (least, most))
        },
    )?;
    linker.func_wrap("part", "keep", |mut c: Call<'_>, numbers: i32| -> Said<()> {
        c.data().need(DESCRIBE, "part_keep")?;
        let keep = usize::try_from(numbers).ok().filter(|n| *n <= MOST_NUMBERS);
        let keep =
            keep.ok_or_else(|| no(format!("it cannot keep {numbers} numbers: 0 to {MOST_NUMBERS}")))?;
        Arc::make_mut(&mut c.data_mut().plan).keep = keep;
        Ok(())
    })?;
    linker.func_wrap("part", "bearings", |mut c: Call<'_>, first: f64, step: f64| -> Said<()> {
        c.data().need(DESCRIBE, "part_bearings")?;
        let all = (finite(first, || "part_bearings".into())?, finite(step, || "part_bearings".into())?);
        Arc::make_mut(&mut c.data_mut().plan).bearings = Some(all);
        Ok(())
    })?;
    linker.func_wrap("part", "wheel_base", |mut c: Call<'_>, base: f64| -> Said<()> {
        c.data().need(DESCRIBE, "part_wheel_base")?;
        if !(base.is_finite() && base > 0.0) {
            return Err(no(format!("a wheel base is a positive number, not {base}")));
        }
        Arc::make_mut(&mut c.data_mut().plan).base = Some(base);
        Ok(())
    })?;
    Ok(())
}

/// Takes a channel into the plan; answers its number.
fn declare(
    caller: &mut Call<'_>,
    command: bool,
    words: (u32, u32, u32),
    count: i32,
    range: (f64, f64),
) -> Said<i32> {
    caller.data().need(DESCRIBE, "part_reading, part_command")?;
    let name = text(caller, words.0, MOST_NAME)?;
    let unit = text(caller, words.1, MOST_NAME)?;
    let summary = text(caller, words.2, MOST_WORDS)?;
    let host = caller.data_mut();
    let plan = Arc::make_mut(&mut host.plan);
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(plain) {
        return Err(no(format!("`{name}` cannot be the name of a channel: small letters, digits and `_`")));
    }
    if RESERVED.contains(&name.as_str()) || plan.channels.iter().any(|c| c.name == name) {
        return Err(no(format!("there is a channel `{name}` already")));
    }
    let Some(unit) = Unit::ALL.into_iter().find(|u| u.symbol() == unit) else {
        let known: Vec<&str> = Unit::ALL.iter().map(|u| u.symbol()).filter(|s| !s.is_empty()).collect();
        return Err(no(format!("`{name}`: there is no SI unit `{unit}`; there are {}", known.join(", "))));
    };
    if range.0.is_nan() || range.1.is_nan() || range.0 > range.1 {
        return Err(no(format!("`{name}`: {} to {} is no range", range.0, range.1)));
    }
    let total = plan.width(true) + plan.width(false);
    let len = usize::try_from(count).unwrap_or(0);
    if len == 0 || total + len > MOST_NUMBERS || plan.channels.len() >= MOST_CHANNELS {
        return Err(no(format!(
            "`{name}` cannot have {count} numbers: a model has at most {MOST_CHANNELS} channels and {MOST_NUMBERS} numbers"
        )));
    }
    if command && !host.facts.drive {
        return Err(no(format!("`{name}`: a sensor has no commands")));
    }
    let first = plan.width(command);
    plan.channels.push(Planned { name, len, unit, range, summary, command, first });
    Ok(plan.channels.len() as i32 - 1)
}

fn configuring(linker: &mut Linker<Host>) -> Said<()> {
    fn key(caller: &mut Call<'_>, address: u32) -> Said<String> {
        caller.data().need(DESCRIBE | SETUP, "part_param")?;
        let key = text(caller, address, MOST_NAME)?;
        caller.data_mut().asked.insert(normal(&key));
        Ok(key)
    }
    linker.func_wrap("part", "param", |mut c: Call<'_>, name: u32, default: f64| -> Said<f64> {
        let key = key(&mut c, name)?;
        Ok(c.data().facts.config.number(&key).map_err(no)?.unwrap_or(default))
    })?;
    linker.func_wrap(
        "part",
        "param_in",
        |mut c: Call<'_>, name: u32, unit: u32, default: f64| -> Said<f64> {
            let key = key(&mut c, name)?;
            let unit = text(&c, unit, MOST_NAME)?;
            c.data().facts.config.number_in(&key, &unit, default).map_err(no)
        },
    )?;
    linker.func_wrap("part", "has", |mut c: Call<'_>, name: u32| -> Said<i32> {
        let key = key(&mut c, name)?;
        Ok(i32::from(c.data().facts.config.has(&key)))
    })?;
    linker.func_wrap("part", "mount", |mut c: Call<'_>, to: u32| -> Said<()> {
        let m = c.data().facts.mount;
        let rot = m.rot();
        put(&mut c, to, &[m.at.x, m.at.y, m.heading, rot.c, rot.s], &[])
    })?;
    linker.func_wrap("part", "refuse", |c: Call<'_>, why: u32| -> Said<()> {
        Err(no(text(&c, why, MOST_WORDS)?))
    })?;
    linker.func_wrap("part", "reach", |c: Call<'_>| c.data().facts.reach)?;
    Ok(())
}

fn fixed_things(linker: &mut Linker<Host>) -> Said<()> {
    fn statics<'a>(caller: &'a Call<'_>, what: &str) -> Said<&'a Statics> {
        caller.data().need(SETUP | STEP, what)?;
        Ok(&caller.data().statics)
    }
    fn put_edge(caller: &mut Call<'_>, to: u32, e: &FixedEdge) -> Said<()> {
        let doubles = [e.a.x, e.a.y, e.b.x, e.b.y, e.heights.0, e.heights.1];
        put(caller, to, &doubles, &[e.kind as i32])
    }
    linker.func_wrap("part", "quantum_s", |c: Call<'_>| -> Said<f64> {
        c.data().need(SETUP | STEP, "part_quantum_s")?;
        Ok(c.data().moment.quantum_s)
    })?;
    linker.func_wrap("part", "gravity", |c: Call<'_>| -> Said<f64> {
        c.data().need(SETUP | STEP, "part_gravity")?;
        Ok(c.data().moment.gravity)
    })?;
    linker.func_wrap("part", "detail", |c: Call<'_>| -> Said<i32> {
        c.data().need(SETUP | STEP, "part_detail")?;
        Ok(c.data().moment.detail)
    })?;
    linker.func_wrap("part", "fixed_count", |c: Call<'_>| -> Said<i32> {
        Ok(statics(&c, "part_fixed_count")?.edges.len() as i32)
    })?;
    linker.func_wrap("part", "fixed", |mut c: Call<'_>, k: i32, to: u32| -> Said<()> {
        let edge = *at(&statics(&c, "part_fixed")?.edges, k, "fixed edge")?;
        put_edge(&mut c, to, &edge)
    })?;
    linker.func_wrap("part", "near_count", |c: Call<'_>| -> Said<i32> {
        c.data().need(STEP, "part_near_count")?;
        Ok(c.data().shown.near.len() as i32)
    })?;
    linker.func_wrap("part", "near", |mut c: Call<'_>, k: i32, to: u32| -> Said<()> {
        c.data().need(STEP, "part_near")?;
        let edge = *at(&c.data().shown.near, k, "near edge")?;
        put_edge(&mut c, to, &edge)
    })?;
    linker.func_wrap("part", "track_count", |c: Call<'_>| -> Said<i32> {
        Ok(statics(&c, "part_track_count")?.tracks.len() as i32)
    })?;
    linker.func_wrap("part", "track", |mut c: Call<'_>, k: i32, to: u32| -> Said<()> {
        let t = at(&statics(&c, "part_track_at")?.tracks, k, "track")?;
        let (doubles, points) = ([t.width.unwrap_or(0.0), t.reflectivity], t.points.len() as i32);
        put(&mut c, to, &doubles, &[points])
    })?;
    linker.func_wrap("part", "track_x", |c: Call<'_>, k: i32, point: i32| -> Said<f64> {
        let track = at(&statics(&c, "part_track_x")?.tracks, k, "track")?;
        Ok(at(&track.points, point, "point")?.x)
    })?;
    linker.func_wrap("part", "track_y", |c: Call<'_>, k: i32, point: i32| -> Said<f64> {
        let track = at(&statics(&c, "part_track_y")?.tracks, k, "track")?;
        Ok(at(&track.points, point, "point")?.y)
    })?;
    linker.func_wrap("part", "reflectivity", |c: Call<'_>, x: f64, y: f64| -> Said<f64> {
        let statics = statics(&c, "part_reflectivity")?;
        Ok(statics.index.reflectivity_at(&statics.tracks, Vec2::new(x, y)))
    })?;
    linker.func_wrap("part", "beacon_count", |c: Call<'_>| -> Said<i32> {
        Ok(statics(&c, "part_beacon_count")?.beacons.len() as i32)
    })?;
    linker.func_wrap("part", "beacon", |mut c: Call<'_>, k: i32, to: u32| -> Said<()> {
        let b = at(&statics(&c, "part_beacon_at")?.beacons, k, "beacon")?;
        let (p, id) = (b.pose, i32::from(b.id));
        let doubles = [p.at.x, p.at.y, p.heading, b.aperture, b.range, b.height];
        put(&mut c, to, &doubles, &[id])
    })?;
    Ok(())
}

fn stepping(linker: &mut Linker<Host>) -> Said<()> {
    linker.func_wrap("part", "now_s", |c: Call<'_>| -> Said<f64> {
        c.data().need(STEP, "part_now_s")?;
        Ok(c.data().moment.now.seconds())
    })?;
    linker.func_wrap("part", "out", |mut c: Call<'_>, channel: i32, k: i32, value: f64| -> Said<()> {
        let host = c.data_mut();
        host.need(STEP, "part_out")?;
        let place = host.plan.place(channel, k, false)?;
        host.answer.readings[place] = finite(value, || format!("reading {channel}[{k}]"))?;
        Ok(())
    })?;
    linker.func_wrap("part", "in", |c: Call<'_>, channel: i32, k: i32| -> Said<f64> {
        c.data().need(STEP, "part_in")?;
        Ok(c.data().shown.commands[c.data().plan.place(channel, k, true)?])
    })?;
    linker.func_wrap("part", "state", |c: Call<'_>, k: i32| -> Said<f64> {
        c.data().need(STEP, "part_state")?;
        at(&c.data().answer.state, k, "kept number").copied()
    })?;
    linker.func_wrap("part", "set_state", |mut c: Call<'_>, k: i32, value: f64| -> Said<()> {
        let host = c.data_mut();
        host.need(STEP, "part_set_state")?;
        at(&host.answer.state, k, "kept number")?;
        host.answer.state[k as usize] = finite(value, || format!("kept number {k}"))?;
        Ok(())
    })?;
    linker.func_wrap(
        "part",
        "motion",
        |mut c: Call<'_>, forward: f64, left: f64, spin: f64| -> Said<()> {
            let host = c.data_mut();
            host.need(STEP, "part_motion")?;
            if !host.facts.drive {
                return Err(no("a sensor does not move its robot"));
            }
            let motion = Twist2::new(forward, left, spin);
            finite(if motion.is_finite() { 0.0 } else { f64::NAN }, || "the motion".into())?;
            host.answer.motion = Some(motion);
            Ok(())
        },
    )?;
    linker.func_wrap("part", "uniform", |c: Call<'_>, k: u32| -> Said<f64> {
        Ok(c.data().draw()?.uniform(k))
    })?;
    linker
        .func_wrap("part", "normal", |c: Call<'_>, k: u32| -> Said<f64> { Ok(c.data().draw()?.normal(k)) })?;
    linker.func_wrap("part", "chance", |mut c: Call<'_>, purpose: i32| -> Said<()> {
        c.data().need(STEP, "part_chance")?;
        let known = [
            Purpose::RangeNoise,
            Purpose::WheelSlip,
            Purpose::OdometerNoise,
            Purpose::SonarNoise,
            Purpose::BearingNoise,
            Purpose::CompassNoise,
            Purpose::TrackNoise,
        ];
        let found = known.into_iter().find(|p| *p as i32 == purpose);
        if found.is_none() && purpose != 0 {
            return Err(no(format!("there are no draws of the kind {purpose}")));
        }
        c.data_mut().purpose = found;
        Ok(())
    })?;
    Ok(())
}

fn moving_things(linker: &mut Linker<Host>) -> Said<()> {
    fn put_body(caller: &mut Call<'_>, to: u32, pick: impl Fn(&Host) -> Said<&Body>) -> Said<()> {
        let host = caller.data();
        let b = pick(host)?;
        let own = host.shown.me.as_ref().is_some_and(|me| me.uid == b.uid);
        let doubles = [
            b.pose.at.x,
            b.pose.at.y,
            b.pose.heading,
            b.rot.c,
            b.rot.s,
            b.twist.forward,
            b.twist.left,
            b.twist.spin,
            b.moved.forward,
            b.moved.left,
            b.moved.spin,
            b.reach,
            b.round,
            b.heights.0,
            b.heights.1,
        ];
        let ints = [b.kind as i32, b.corners, i32::from(own)];
        put(caller, to, &doubles, &ints)
    }
    linker.func_wrap("part", "self", |mut c: Call<'_>, to: u32| -> Said<()> {
        c.data().need(STEP, "part_self")?;
        put_body(&mut c, to, Host::me)
    })?;
    linker.func_wrap("part", "body_count", |c: Call<'_>| -> Said<i32> {
        c.data().need(STEP, "part_body_count")?;
        Ok(c.data().shown.bodies.len() as i32)
    })?;
    linker.func_wrap("part", "body", |mut c: Call<'_>, k: i32, to: u32| -> Said<()> {
        put_body(&mut c, to, |host| host.body(k))
    })?;
    linker.func_wrap("part", "corner_x", |c: Call<'_>, k: i32, corner: i32| -> Said<f64> {
        Ok(c.data().corner(k, corner)?.x)
    })?;
    linker.func_wrap("part", "corner_y", |c: Call<'_>, k: i32, corner: i32| -> Said<f64> {
        Ok(c.data().corner(k, corner)?.y)
    })?;
    Ok(())
}

fn marking(linker: &mut Linker<Host>) -> Said<()> {
    linker.func_wrap("part", "reading_value", |c: Call<'_>, channel: i32, k: i32| -> Said<f64> {
        c.data().need(MARKS, "part_reading_value")?;
        Ok(c.data().answer.readings[c.data().plan.place(channel, k, false)?])
    })?;
    linker.func_wrap(
        "part",
        "mark_line",
        |mut c: Call<'_>, channel: i32, k: i32, ax: f64, ay: f64, bx: f64, by: f64| {
            c.data_mut().mark(channel, k, MarkShape::Line(vec![Vec2::new(ax, ay), Vec2::new(bx, by)]))
        },
    )?;
    linker.func_wrap(
        "part",
        "mark_circle",
        |mut c: Call<'_>, channel: i32, k: i32, x: f64, y: f64, radius: f64| {
            c.data_mut().mark(channel, k, MarkShape::Circle { centre: Vec2::new(x, y), radius })
        },
    )?;
    linker.func_wrap(
        "part",
        "mark_arc",
        |mut c: Call<'_>, channel: i32, k: i32, x: f64, y: f64, radius: f64, from: f64, to: f64| {
            c.data_mut().mark(channel, k, MarkShape::Arc { centre: Vec2::new(x, y), radius, from, to })
        },
    )?;
    linker.func_wrap(
        "part",
        "mark_text",
        |mut c: Call<'_>, channel: i32, k: i32, x: f64, y: f64, words: u32| -> Said<()> {
            let text = text(&c, words, MOST_WORDS)?;
            c.data_mut().mark(channel, k, MarkShape::Text { at: Vec2::new(x, y), text })
        },
    )?;
    Ok(())
}

fn mathematics(linker: &mut Linker<Host>) -> Said<()> {
    type OfOne = (&'static str, fn(f64) -> f64);
    type OfTwo = (&'static str, fn(f64, f64) -> f64);
    let of_one: [OfOne; 8] = [
        ("sin", math::sin),
        ("cos", math::cos),
        ("tan", math::tan),
        ("asin", math::asin),
        ("acos", math::acos),
        ("exp", math::exp),
        ("ln", math::ln),
        ("wrap", math::wrap_angle),
    ];
    for (name, f) in of_one {
        linker.func_wrap("part", name, move |_: Call<'_>, x: f64| f(x))?;
    }
    let of_two: [OfTwo; 3] = [("atan2", math::atan2), ("hypot", math::hypot), ("pow", math::pow)];
    for (name, f) in of_two {
        linker.func_wrap("part", name, move |_: Call<'_>, x: f64, y: f64| f(x, y))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_header_promises_the_sandbox_has() {
        let mut linker = imports(&crate::wasm::engine()).unwrap();
        let header = crate::compiler::PART_H;
        let names: Vec<&str> =
            header.split("PART_FROM(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(names.len() > 50, "{names:?}");
        for name in names {
            // A name that is taken cannot be defined again.
            let added = linker.func_wrap("part", name, |_: Call<'_>| ());
            assert!(added.is_err(), "`{name}` is not in the sandbox");
        }
    }
}
