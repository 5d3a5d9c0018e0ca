//! The algorithm `look-compute-move`: a rule and a schedule on board of a robot.
//!
//! In: timers, and what a positioning sensor or a view tells at the moment of a look. Out: a light, and a motion
//! that ends when the schedule says. It asks nobody whether it is active: that follows from the seed, the
//! round and its number.

use super::demon::greedy;
use super::flocks::{CuckerSmale, OlfatiSaber, Platoon, Reynolds};
use super::frame::Visible;
use super::rules::{GiveWay, NAMES, Tuning, by_name};
use super::schedule::LEAST_P;
use super::{
    Compass, Cycle, Frames, Moves, Multiplicity, Robots, Rule, Schedule, Script, ScriptError, Setup,
};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Moment, Span, Vec2, math};
use swarmyard_part_api::{
    Answer, Built, Class, Company, Cx, Kind, Microprotocol, Motion, Moving, Param, ParamType, PortSpec,
    ProtocolModel, ProtocolPort, Query, ServiceKind, Sheet, TypeLayout, from_bytes, to_bytes,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);

const SCHEDULERS: &[&str] =
    &["fsync", "random", "one-random", "round-robin", "bounded", "async", "script", "adversary"];

fn sheet() -> Sheet {
    let share = |name, summary| Param::number(name, Unit::None, summary);
    Sheet::new("look-compute-move", Kind::Algorithm, "Oblivious robots: look, decide where to go by a rule, go there, forget. Who looks when is up to a scheduler; what a robot sees, in which frame, and how far its moves carry can be limited as theory does.")
        .param(Param::new("rule", ParamType::Choice(NAMES), "What robots do.").or_text("centre-of-gravity"))
        .param(Param::new("scheduler", ParamType::Choice(SCHEDULERS), "Who is active when: everybody in every round; each with probability `p`; one drawn at random; one after another; with probability `p` but at least once in `bound` rounds; each at times of its own; as written in `script`; whoever keeps robots apart longest, as a greedy adversary sees it, but each at least once in `bound` rounds.").or_text("fsync"))
        .param(Param::number("round", Unit::Second, "Length of a round.").within(1e-6, 1e6).or_num(1.0))
        .param(Param::new("rounds", ParamType::Int { min: 0, max: i64::MAX }, "After so many rounds nobody looks any more; 0 means never.").or(Value::Int(0)))
        .param(share("p", "Probability of being active.").within(0.0, 1.0).or_num(0.5))
        .param(Param::new("bound", ParamType::Int { min: 1, max: 1_000_000 }, "Longest time without being active, in rounds.").or(Value::Int(5)))
        .param(share("wait", "Async: mean time from an arrival to the next look, in rounds.").within(0.0, 1e6).or_num(0.5))
        .param(share("compute", "Async: mean time from a look to the start of the move, in rounds.").within(0.0, 1e6).or_num(0.2))
        .param(share("travel", "Time of a move, in rounds; in async the mean.").within(0.01, 0.99).or_num(0.8))
        .param(Param::new("script", ParamType::Text, "Script: a line for each robot, in it times in rounds: look, start, arrival, look, …").or_text(""))
        .param(Param::new("script_file", ParamType::File("script"), "Script: the name of a file beside the scenario that has it."))
        .param(Param::new("moves", ParamType::Choice(&["rigid", "flexible", "shortest"]), "Whether moves reach their target; else they stop anywhere after `delta`, or right there.").or_text("rigid"))
        .param(Param::number("delta", Unit::Metre, "Least way of a move that is stopped.").within(1e-9, 1e9).or_num(0.1))
        .param(Param::new("frames", ParamType::Choice(&["common", "scaled", "rotated", "any"]), "Private frames: the world's; with units of their own; with axes of their own too; with left and right exchanged too.").or_text("common"))
        .param(Param::new("redraw", ParamType::Bool, "Whether private frames are drawn anew at every look.").or(Value::Bool(false)))
        .param(Param::number("compass", Unit::Radian, "Greatest error of the compass, with common or scaled frames; the rules `compass-…` are made for it.").within(0.0, PI).or_num(0.0))
        .param(Param::new("compass_changes", ParamType::Bool, "Whether the compass errs differently at every look.").or(Value::Bool(false)))
        .param(Param::new("compass_settles", ParamType::Int { min: 0, max: i64::MAX }, "The round (in async, the cycle) from which on compasses show the truth; 0 means never.").or(Value::Int(0)))
        .param(Param::new("multiplicity", ParamType::Choice(&["none", "weak", "strong"]), "What a robot tells about how many are in one place.").or_text("strong"))
        .param(Param::number("visibility", Unit::Metre, "How far robots see, by a view and a gps; everywhere, by a gps, when left out.").within(1e-9, 1e9))
        .param(Param::number("error", Unit::Metre, "Error of the positioning sensor.").within(0.0, 1e9).or_num(0.0))
        .param(Param::number("same", Unit::Metre, "Robots nearer than this are in one place.").within(0.0, 1e9).or_num(1e-6))
        .param(Param::new("lights", ParamType::Int { min: 1, max: 256 }, "How many lights a robot has; it shows the last when a rule wants a higher one.").or(Value::Int(2)))
        .param(Param::new("drive", ParamType::Choice(&["velocity", "move-to"]), "How a robot goes: with a velocity, whatever its heading; or by turning first.").or_text("velocity"))
        .param(Param::number("step", Unit::Metre, "Way of a round, for rules that go in steps.").within(0.0, 1e9).or_num(0.1))
        .param(Param::number("noise", Unit::Radian, "Width of the noise on a heading, or on the direction of a goal.").within(0.0, 2.0 * PI).or_num(0.0))
        .param(share("gain", "Weight of a neighbour in consensus.").within(0.0, 1.0).or_num(0.1))
        .param(Param::new("area", ParamType::Points { min_len: 2 }, "South-western and north-eastern corner of what `lloyd` covers."))
        .param(Param::new("pattern", ParamType::Points { min_len: 1 }, "What `pattern` forms: as many points as there are robots, all different, in any place and size."))
        .param(Param::new("offset", ParamType::Point, "Place of the first follower against the leader.").or(Value::Point(Vec2::new(-1.0, 0.0))))
        .param(Param::new("goals", ParamType::Points { min_len: 1 }, "Where robots go by `orca`, one point for each by its number; one without a goal stays, and makes room."))
        .param(Param::number("speed", Unit::MetrePerSecond, "Speed towards a goal, in `orca`; within the last second it goes more slowly.").within(0.0, 1e6).or_num(1.0))
        .param(Param::number("max_speed", Unit::MetrePerSecond, "Highest speed when making room, in `orca`.").within(0.0, 1e6).or_num(2.0))
        .param(Param::number("radius", Unit::Metre, "Radius of every robot for `orca`; how far its own body reaches when left out.").within(0.0, 1e6))
        .param(Param::number("horizon", Unit::Second, "For how long `orca` looks ahead.").within(1e-6, 1e6).or_num(10.0))
        .param(Param::number("reach", Unit::Metre, "Others further away are not minded by `orca`.").within(0.0, 1e9).or_num(15.0))
        .param(Param::new("neighbours", ParamType::Int { min: 0, max: 1_000_000 }, "How many others `orca` minds at most, the nearest ones.").or(Value::Int(10)))
        .param(share("strength", "How strongly velocities come to agree, in `cucker-smale`.").within(0.0, 1e6).or_num(1.0))
        .param(share("decay", "How fast that fades with the distance, in `cucker-smale`: the exponent of 1 + r², whose sign is changed.").within(0.0, 1e3).or_num(0.4))
        .param(Param::number("spacing", Unit::Metre, "Distance of neighbours, in `olfati-saber-1` and `-2`.").within(1e-6, 1e9).or_num(7.0))
        .param(Param::number("interaction", Unit::Metre, "How far robots mind each other, in `olfati-saber-1` and `-2`; 1.2 times the spacing when left out.").within(1e-6, 1e9))
        .param(share("attraction", "How strongly robots draw each other, in `olfati-saber-1` and `-2`.").within(1e-6, 1e6).or_num(5.0))
        .param(share("repulsion", "How strongly they push each other away; at least as strongly as they draw.").within(1e-6, 1e6).or_num(5.0))
        .param(Param::new("goal", ParamType::Point, "Where `olfati-saber-2` leads.").or(Value::Point(Vec2::ZERO)))
        .param(Param::new("goal_weights", ParamType::Numbers { unit: Unit::None, min_len: 2, max_len: 2 }, "How much being away from the goal counts in `olfati-saber-2`, and how much moving.").or(Value::Nums(vec![0.1, 0.4])))
        .param(share("apart", "Urge away from others, in `reynolds`.").within(0.0, 1e6).or_num(1.0))
        .param(share("alike", "Urge towards the velocity of others, in `reynolds`.").within(0.0, 1e6).or_num(0.1))
        .param(share("together", "Urge towards others, in `reynolds`.").within(0.0, 1e6).or_num(0.02))
        .param(share("gap_gain", "Acceleration per metre of gap too much, in `platoon`, 1/s².").within(0.0, 1e6).or_num(1.0))
        .param(share("speed_gain", "Acceleration per speed that the one before is faster, in `platoon`, 1/s.").within(0.0, 1e6).or_num(1.0))
        .param(Param::number("headway", Unit::Second, "By how much the gap grows with the speed, in `platoon`. Nothing swings up along the platoon when gap_gain headway² + 2 speed_gain headway ≥ 2.").within(0.0, 1e3).or_num(1.0))
        .param(Param::number("gap", Unit::Metre, "Gap at rest, in `platoon`.").within(0.0, 1e6).or_num(1.0))
        .param(Param::new("seed", ParamType::Int { min: 0, max: i64::MAX }, "Seed of what the scheduler, the frames and the rule draw; the same for all robots.").or(Value::Int(1)))
        .param(Param::new("motion", ParamType::Name("protocol"), "What moves the robot; its own body when left out."))
        .example("[[type.demo.part]]\nname = \"glider\"\nclass = \"glider\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[type.demo.algorithm]\nclass = \"look-compute-move\"\nrule = \"centre-of-gravity\"\nscheduler = \"random\"\np = 0.5\nround = \"1s\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let travel = p.num("travel");
    let schedule = match p.text("scheduler") {
        "fsync" => Schedule::Full,
        "random" => Schedule::Random { p: p.num("p") },
        "one-random" => Schedule::OneRandom,
        "round-robin" => Schedule::RoundRobin,
        "bounded" => Schedule::Bounded { p: p.num("p"), k: p.int("bound") as u32 },
        "async" => Schedule::Async { wait: p.num("wait"), compute: p.num("compute"), travel },
        "adversary" => Schedule::Adversary { k: p.int("bound") as u32 },
        _ => Schedule::Script(Script::from_csv(p.text("script")).map_err(|why| bad_script(p, &why))?),
    };
    let delta_m = p.num("delta");
    let moves = match p.text("moves") {
        "flexible" => Moves::Flexible { delta_m },
        "shortest" => Moves::Shortest { delta_m },
        _ => Moves::Rigid,
    };
    let tuning = tuning(p, layout)?;
    let name = p.text("rule");
    let rule = by_name(name, &tuning)
        .ok_or_else(|| Diagnostic::error("unknown-rule", format!("there is no rule `{name}`")))?;
    check_needs(p, rule.as_ref())?;
    check_chance(p)?;
    let settings = Settings {
        setup: setup(p, rule.as_ref()),
        rule,
        schedule,
        moves,
        travel,
        round_s: p.num("round"),
        rounds: p.int("rounds") as u64,
        error_m: p.num("error"),
        lights: p.int("lights") as u32,
        turns: p.text("drive") == "move-to",
    };
    Ok(Built::Protocol(Arc::new(Model(Arc::new(settings)))))
}

/// A script that cannot be read: at its place in its file, when it has one.
fn bad_script(p: &Params, why: &ScriptError) -> Diagnostic {
    let within = |whole: Span| {
        let at = |byte: usize| whole.start.saturating_add(u32::try_from(byte).unwrap_or(u32::MAX));
        Span { source: whole.source, start: at(why.start), end: at(why.end) }
    };
    let (what, place) = if p.has("script_file") {
        (why.what.clone(), p.span("script").map(within))
    } else {
        (why.to_string(), p.span("script"))
    };
    Diagnostic::error("bad-script", format!("the schedule cannot be read: {what}"))
        .at(place)
        .help("a line for each robot: look, start, arrival, look, …, in rounds")
}

/// Whether what robots see and have is enough for the rule, as far as the algorithm's own lines tell.
fn check_needs(p: &Params, rule: &dyn Rule) -> Result<(), Diagnostic> {
    // What each kind of frames leaves of a common unit, common axes, a common left and right.
    const LEFT: [(&str, [bool; 3]); 4] = [
        ("common", [true, true, true]),
        ("scaled", [false, true, true]),
        ("rotated", [false, false, true]),
        ("any", [false, false, false]),
    ];
    let (needs, name) = (rule.needs(), rule.name());
    let wanted = [needs.unit, needs.axes, needs.hand];
    let enough = |left: &[bool; 3]| wanted.iter().zip(left).all(|(want, is)| *is || !want);
    let frames = p.text("frames");
    if LEFT.iter().any(|(word, left)| *word == frames && !enough(left)) {
        let words = ["a common unit of length", "common axes", "a common left and right"];
        let words: Vec<&str> = words.iter().zip(wanted).filter(|w| w.1).map(|w| *w.0).collect();
        let what = format!("the rule `{name}` needs {}, and frames are `{frames}`", words.join(" and "));
        let fitting = LEFT.iter().filter(|(_, left)| enough(left)).map(|(word, _)| *word);
        return Err(Diagnostic::error("rule-needs", what).at(p.span("frames")).suggest("", fitting));
    }
    let lights = p.int("lights");
    if lights < i64::from(needs.lights) {
        let what = format!("the rule `{name}` needs `{}` lights, and robots have `{lights}`", needs.lights);
        let d = Diagnostic::error("rule-needs", what).at(p.span("lights").or_else(|| p.span("rule")));
        return Err(d.help(format!("write `lights = {}`", needs.lights)));
    }
    if name == "pattern" && p.points_or_none("pattern").is_none() {
        let d = Diagnostic::error("rule-needs", "the rule `pattern` needs a `pattern` to form")
            .at(p.span("rule"));
        return Err(d.help("write its points, such as `pattern = [[0, 0], [1, 0], [0, 1]]`"));
    }
    Ok(())
}

/// Whether somebody is ever active.
fn check_chance(p: &Params) -> Result<(), Diagnostic> {
    let (share, scheduler) = (p.num("p"), p.text("scheduler"));
    let never = share == 0.0 && scheduler == "random";
    let hardly = 0.0 < share && share < LEAST_P && matches!(scheduler, "random" | "bounded");
    if !never && !hardly {
        return Ok(());
    }
    let what = format!(
        "with the probability `{share}` robots are {} active",
        if never { "never" } else { "hardly ever" }
    );
    Err(Diagnostic::error("never-active", what).at(p.span("p")).help(format!("at least {LEAST_P} will do")))
}

fn setup(p: &Params, rule: &dyn Rule) -> Setup {
    let frames = p.text("frames");
    let needs = rule.needs();
    Setup {
        seed: p.int("seed") as u64,
        frames: Frames {
            scale: frames != "common",
            rotate: matches!(frames, "rotated" | "any"),
            mirror: frames == "any",
            redraw: p.bool("redraw"),
        },
        compass: Compass {
            error: p.num("compass"),
            dynamic: p.bool("compass_changes"),
            settles: p.int("compass_settles") as u64,
        },
        given: Vec::new(),
        multiplicity: match p.text("multiplicity") {
            "none" => Multiplicity::None,
            "weak" => Multiplicity::Weak,
            _ => Multiplicity::Strong,
        },
        sees_m: p.num_or_none("visibility").unwrap_or(f64::INFINITY),
        names: needs.names,
        place: needs.place,
        same_m: p.num("same"),
    }
}

fn tuning(p: &Params, layout: &TypeLayout<'_>) -> Result<Tuning, Diagnostic> {
    let usual = Tuning::default();
    let area = p.points_or_none("area").map_or(usual.area, |a| (a[0], a[1]));
    if !(area.0.x < area.1.x && area.0.y < area.1.y) {
        let what = "the first corner of `area` is south-west of the second";
        return Err(Diagnostic::error("empty-area", what).at(p.span("area")).help("exchange or move them"));
    }
    let pattern = p.points_or_none("pattern").map_or_else(Vec::new, <[Vec2]>::to_vec);
    if let Some(twice) = pattern.iter().enumerate().find(|(k, q)| pattern[..*k].contains(*q)) {
        let what = format!("two points of `pattern` are in one place: [{}, {}]", twice.1.x, twice.1.y);
        return Err(Diagnostic::error("same-place", what).at(p.span("pattern")).help("move one of them"));
    }
    Ok(Tuning {
        step_m: p.num("step"),
        noise_rad: p.num("noise"),
        gain: p.num("gain"),
        round_s: p.num("round"),
        area,
        offset: p.point("offset"),
        pattern,
        speed: p.num("speed"),
        goals: p.points_or_none("goals").map_or_else(Vec::new, <[Vec2]>::to_vec),
        way: GiveWay {
            radius_m: p.num_or_none("radius").unwrap_or_else(|| layout.outline.reach()),
            horizon_s: p.num("horizon"),
            max_speed: p.num("max_speed"),
            reach_m: p.num("reach"),
            neighbours: p.int("neighbours") as usize,
        },
        compass_rad: p.num("compass"),
        cucker_smale: CuckerSmale { strength: p.num("strength"), decay: p.num("decay") },
        olfati_saber: lattice(p)?,
        reynolds: Reynolds { apart: p.num("apart"), alike: p.num("alike"), together: p.num("together") },
        platoon: Platoon {
            kp: p.num("gap_gain"),
            kd: p.num("speed_gain"),
            headway_s: p.num("headway"),
            length_m: p.num("gap"),
            ..usual.platoon
        },
    })
}

fn lattice(p: &Params) -> Result<OlfatiSaber, Diagnostic> {
    let (a, b) = (p.num("attraction"), p.num("repulsion"));
    if b < a {
        let what = format!("`repulsion` is `{b}`, less than `attraction`, which is `{a}`");
        let place = p.span("repulsion").or_else(|| p.span("attraction"));
        let help = "robots that draw each other more than they push fall onto each other";
        return Err(Diagnostic::error("weak-repulsion", what).at(place).help(help));
    }
    let d = p.num("spacing");
    let weights = p.nums("goal_weights");
    if let Some(bad) = weights.iter().find(|w| **w < 0.0) {
        let what = format!("a weight in `goal_weights` is negative: `{bad}`");
        let help = "0 or more: a goal that pushes away is never reached";
        return Err(Diagnostic::error("out-of-range", what).at(p.span("goal_weights")).help(help));
    }
    let goal = Some((p.point("goal"), Vec2::ZERO, weights[0], weights[1]));
    let r = p.num_or_none("interaction").unwrap_or(1.2 * d);
    Ok(OlfatiSaber { d, r, a, b, goal, ..OlfatiSaber::free() })
}

/// Shared by all robots of a type.
struct Model(Arc<Settings>);

struct Settings {
    rule: Arc<dyn Rule>,
    setup: Setup,
    schedule: Schedule,
    moves: Moves,
    travel: f64,
    round_s: f64,
    rounds: u64,
    error_m: f64,
    lights: u32,
    turns: bool,
}

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Cycler { model: Arc::clone(&self.0), memory: Memory::default() })
    }

    fn asks(&self) -> Vec<Query> {
        let model = &self.0;
        let range = model.setup.sees_m;
        let adversary = matches!(model.schedule, Schedule::Adversary { .. });
        let mut asks = Vec::new();
        if range.is_infinite() || adversary {
            asks.push(Query::GpsAll { error: model.error_m });
        }
        if range.is_finite() {
            asks.extend([Query::View { range }, Query::Gps { error: model.error_m }]);
        }
        asks
    }

    fn misfits(&self, company: &Company<'_>) -> Vec<(&'static str, Diagnostic)> {
        let (robots, rule) = (company.robots, &self.0.rule);
        let mut misfits = Vec::new();
        let needed = rule.needs().robots;
        if needed != 0 && needed != robots {
            let (key, what) = if rule.name() == "pattern" {
                ("pattern", format!("the pattern has `{needed}` points, and there are `{robots}` robots"))
            } else {
                (
                    "rule",
                    format!("the rule `{}` is for `{needed}` robots, and there are `{robots}`", rule.name()),
                )
            };
            let d = Diagnostic::error("rule-needs", what);
            misfits
                .push((key, d.help(format!("have `{needed}` robots that live by events, or another {key}"))));
        }
        if let Schedule::Script(script) = &self.0.schedule
            && let Some(lines) = script.robots().filter(|lines| *lines != robots as usize)
        {
            let what = format!("the script has lines for `{lines}` robots, and there are `{robots}`");
            let d = Diagnostic::error("bad-script", what);
            misfits.push((
                "script",
                d.help("write a line for each robot; one that never looks has an empty line"),
            ));
        }
        misfits
    }
}

/// What a robot remembers: where it is in its cycle, and where it saw others last. Rules see of the latter only
/// displacements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Memory {
    cycle: Option<Cycle>,
    /// The timer it waits for.
    timer: u64,
    /// Way and light of the move that is about to start.
    decided: Option<(Vec2, u8)>,
    light: u8,
    /// (robot, where), ascending.
    before: Vec<(u32, Vec2)>,
}

struct Cycler {
    model: Arc<Settings>,
    memory: Memory,
}

impl Microprotocol for Cycler {
    fn start(&mut self, cx: &mut Cx<'_>) {
        let model = Arc::clone(&self.model);
        let now = cx.now().since(Moment::ZERO) / model.round_s;
        // One that comes back after a crash may still show a light it does not remember.
        cx.shine(self.memory.light);
        let next = |last: Option<&Cycle>, cx: &Cx<'_>| {
            model.schedule.cycle(model.setup.seed, cx.me(), cx.robots(), last, model.travel)
        };
        // It has missed some cycles too.
        let mut cycle = next(None, cx);
        while let Some(missed) = cycle.filter(|c| c.look < now) {
            cycle = next(Some(&missed), cx);
        }
        self.wait_for(cycle, cx);
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if timer != self.memory.timer {
            return;
        }
        let Some(cycle) = self.memory.cycle else { return };
        if self.memory.decided.is_some() {
            self.depart(cycle, cx);
            return;
        }
        match self.look(cycle, cx) {
            Ok(Some(decided)) => {
                self.memory.decided = Some(decided);
                self.memory.timer = cx.set_timer((cycle.start - cycle.look) * self.model.round_s);
            }
            Ok(None) => self.wait_for_next(cycle, cx),
            Err(why) => cx.failed(&format!("cannot look, and stops: {why}")),
        }
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(&self.memory)
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        self.memory = from_bytes(image)?;
        Ok(())
    }
}

impl Cycler {
    fn wait_for(&mut self, cycle: Option<Cycle>, cx: &mut Cx<'_>) {
        let within = |c: &Cycle| self.model.rounds == 0 || c.look < self.model.rounds as f64;
        self.memory.cycle = cycle.filter(within);
        self.memory.decided = None;
        if let Some(cycle) = self.memory.cycle {
            let now = cx.now().since(Moment::ZERO);
            self.memory.timer = cx.set_timer(math::max(cycle.look * self.model.round_s - now, 0.0));
        }
    }

    /// Looks and decides: the way to go, and the light to show; nothing when an adversary does not let it.
    fn look(&mut self, cycle: Cycle, cx: &mut Cx<'_>) -> Result<Option<(Vec2, u8)>, String> {
        let me = cx.me();
        let model = Arc::clone(&self.model);
        let all = self.sight(cx)?;
        let here = all.iter().find(|v| v.robot == me).map_or(Vec2::ZERO, |v| v.at);
        let mut before: Vec<(u32, Vec2)> = all.iter().map(|v| (v.robot, v.at)).collect();
        before.sort_by_key(|b| b.0);
        if let Schedule::Adversary { k } = model.schedule {
            let robots = self.everybody(cx)?;
            // It looks in every round, at all: what moves is known of everybody.
            before = robots.at.iter().enumerate().map(|(k, at)| (k as u32, *at)).collect();
            if !greedy(model.rule.as_ref(), &model.setup, k, &robots, cycle.round)[me as usize] {
                self.memory.before = before;
                return Ok(None);
            }
        }
        self.memory.before = before;
        let frame = model.setup.frame(me, cycle.round);
        let (decision, target) = model.setup.decide(model.rule.as_ref(), me, &all, cycle.round, frame);
        let way = target - here;
        if !way.is_finite() {
            return Err(format!("the rule `{}` has no finite target here", model.rule.name()));
        }
        let part = model.moves.share(model.setup.seed, me, cycle.round, way.norm());
        let light = u32::from(decision.light).min(model.lights - 1) as u8;
        Ok(Some((way * part, light)))
    }

    /// Where all robots are, however far this one sees: for the adversary.
    fn everybody(&self, cx: &mut Cx<'_>) -> Result<Robots, String> {
        let Answer::Seen(seen) = cx.pull(&Query::GpsAll { error: 0.0 })? else {
            return Err("the sensor does not tell where robots are".to_owned());
        };
        if seen.len() != cx.robots() as usize {
            return Err("the sensor does not tell where all robots are".to_owned());
        }
        let mut robots = Robots::at(seen.iter().map(|s| s.at).collect());
        robots.light = seen.iter().map(|s| s.light).collect();
        for (robot, at) in &self.memory.before {
            let robot = *robot as usize;
            robots.moved[robot] = robots.at[robot] - *at;
        }
        Ok(robots)
    }

    /// Everybody in sight, itself included.
    fn sight(&self, cx: &mut Cx<'_>) -> Result<Vec<Visible>, String> {
        let (me, error) = (cx.me(), self.model.error_m);
        let range = self.model.setup.sees_m;
        let everywhere = range.is_infinite();
        let query = if everywhere { Query::GpsAll { error } } else { Query::View { range } };
        let Answer::Seen(seen) = cx.pull(&query)? else {
            return Err("the sensor does not tell where robots are".to_owned());
        };
        let before = |robot: u32| {
            let known = self.memory.before.binary_search_by_key(&robot, |b| b.0);
            known.ok().map(|k| self.memory.before[k].1)
        };
        let visible = |robot: u32, at: Vec2, light: u8| Visible {
            robot,
            at,
            light,
            moved: before(robot).map_or(Vec2::ZERO, |b| at - b),
        };
        // A gps lists all in the order of their numbers; a view names them, and may leave out the robot itself.
        let number = |k: usize, named: Option<u32>| named.or(everywhere.then_some(k as u32));
        let mut all: Vec<Visible> = seen
            .iter()
            .enumerate()
            .filter_map(|(k, s)| Some(visible(number(k, s.robot)?, s.at, s.light)))
            .filter(|v| everywhere || v.robot != me)
            .collect();
        if !all.iter().any(|v| v.robot == me) {
            let Answer::Point(at) = cx.pull(&Query::Gps { error })? else {
                return Err("the gps does not tell where the robot is".to_owned());
            };
            all.push(visible(me, at, self.memory.light));
        }
        if let Some(own) = all.iter_mut().find(|v| v.robot == me) {
            own.light = self.memory.light;
        }
        all.sort_by_key(|v| v.robot);
        Ok(all)
    }

    fn depart(&mut self, cycle: Cycle, cx: &mut Cx<'_>) {
        let (way, light) = self.memory.decided.unwrap_or_default();
        if light != self.memory.light {
            self.memory.light = light;
            cx.shine(light);
        }
        let time = (cycle.end - cycle.start) * self.model.round_s;
        if way != Vec2::ZERO && time > 0.0 {
            match self.motion(way, time, cx) {
                Ok(motion) => cx.go(MOTION, cycle.round, motion),
                Err(why) => cx.say(&format!("cannot go: {why}")),
            }
        }
        self.wait_for_next(cycle, cx);
    }

    fn wait_for_next(&mut self, cycle: Cycle, cx: &mut Cx<'_>) {
        let m = &self.model;
        let next = m.schedule.cycle(m.setup.seed, cx.me(), cx.robots(), Some(&cycle), m.travel);
        self.wait_for(next, cx);
    }

    fn motion(&self, way: Vec2, time: f64, cx: &mut Cx<'_>) -> Result<Motion, String> {
        if !self.model.turns {
            return Ok(Motion::Velocity { velocity: way * (1.0 / time), for_s: time });
        }
        // A full turn fits into half of the time, so it is there in time whatever way it turns.
        let Answer::Point(at) = cx.pull(&Query::Gps { error: 0.0 })? else {
            return Err("the gps does not tell where the robot is".to_owned());
        };
        Ok(Motion::MoveTo { to: at + way, speed: 2.0 * way.norm() / time, turn_speed: 4.0 * PI / time })
    }
}
