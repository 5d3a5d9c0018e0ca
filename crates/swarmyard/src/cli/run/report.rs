//! What a run tells the person: what it is, and what came of it.

use super::judge::Judged;
use super::tape::{Kept, Tape};
use super::{Ending, RunArgs};
use crate::cli::cluster::Spread;
use crate::cli::fail::{Exit, Failure, problem_json};
use crate::cli::figures;
use crate::cli::load::{self, Until};
use crate::cli::out::{Out, bytes, count, seconds, shell_word, three_digits};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;
use swarmyard::engine::{Assertion, Holds, Verdict};
use swarmyard::{Modules, Sim};

/// Robots named one by one in a report.
const NAMED: usize = 10;

/// A run that ended.
pub(super) struct Ended<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) sim: &'a Sim,
    pub(super) ending: Ending,
    pub(super) wall: Duration,
    pub(super) kept: Kept,
    pub(super) spread: Option<Spread>,
    pub(super) judged: Option<Judged>,
}

/// Says what is about to run, and what is worth knowing about it.
pub(super) fn head(
    args: &RunArgs,
    sim: &Sim,
    until: Until,
    tape: &Tape,
    spread: Option<&Spread>,
    out: &Out,
) -> Result<(), Failure> {
    let model = sim.model();
    for d in &sim.warnings().0 {
        out.warn(&model.sources, d);
    }
    if args.quiet || out.json {
        return Ok(());
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}",
        if model.title.is_empty() { args.file.display().to_string() } else { model.title.clone() }
    );
    let robots = model.robots();
    let _ = writeln!(text, "  robots      {robots} of {}", count(load::robot_types(sim), "type"));
    let modules = Modules::of(model);
    let (all, own) = (modules.total(), modules.robots);
    let _ = writeln!(text, "  modules     {all}: {} of every run, {own} of its robots", modules.kernel);
    let _ = writeln!(text, "  seed        {}", model.run.seed);
    let quantum = model.run.quantum;
    let step = if quantum.num() == 1 && quantum.den() > 1 && 1000 % quantum.den() != 0 {
        format!("1/{} s", quantum.den())
    } else {
        format!("{} s", quantum.value())
    };
    let _ = match until {
        Until::Time(end) => writeln!(text, "  until       {end}, in ticks of {step}"),
        Until::Tick(end) => writeln!(text, "  until       tick {end}, in ticks of {step}"),
    };
    let recording = tape.path().map_or_else(|| "none".to_owned(), |p| p.display().to_string());
    let _ = writeln!(text, "  recording   {recording}");
    text.push_str(&spread.map_or_else(String::new, Spread::head));
    tell(args, &text, out)
}

/// Says what came of it; answers the exit code.
pub(super) fn tail(ended: &Ended<'_>, out: &Out) -> Result<Exit, Failure> {
    let exit = ended.exit();
    if out.json {
        out.json("run", ended.json(exit))?;
        return Ok(exit);
    }
    if ended.args.quiet {
        ended.whisper(out);
        if !ended.args.streams() {
            out.data(&ended.hash())?;
        }
        return Ok(exit);
    }
    tell(ended.args, &ended.text(), out)?;
    Ok(exit)
}

/// The report goes to stdout, unless a stream is there already.
fn tell(args: &RunArgs, text: &str, out: &Out) -> Result<(), Failure> {
    if args.streams() {
        out.say(text.trim_end());
        return Ok(());
    }
    out.data(text)
}

impl Ended<'_> {
    fn exit(&self) -> Exit {
        match self.ending {
            Ending::Signal => Exit::Signal,
            Ending::WallLimit => Exit::WallLimit,
            Ending::Finished if self.kept.no_picture.is_some() || self.breaches().is_some() => Exit::Failed,
            Ending::Finished if all_met(self.sim) => Exit::Ok,
            Ending::Finished => Exit::Assertion,
        }
    }

    /// What was judged, if a promise was broken, or if it could not be judged.
    fn breaches(&self) -> Option<&Judged> {
        self.judged.as_ref().filter(|judged| judged.has_failed())
    }

    fn hash(&self) -> String {
        format!("{:016x}", self.sim.hash())
    }

    /// Paths of the robots that are halted.
    fn halted(&self) -> impl Iterator<Item = &str> {
        let halted = self.sim.state().halted.iter().enumerate().filter(|(_, h)| **h);
        halted.map(|(slot, _)| &self.sim.model().paths[slot])
    }

    /// Simulated seconds per second.
    fn rtf(&self) -> f64 {
        seconds(self.sim.now()) / self.wall.as_secs_f64().max(1e-9)
    }

    /// The command that gives the same hash again.
    fn reproduce(&self) -> String {
        // What came from outside is only in the recording.
        if self.sim.state().accounts.inputs > 0
            && let Some((path, _)) = &self.kept.file
        {
            return format!("swarmyard replay {}", shell_word(&path.display().to_string()));
        }
        let mut words = vec!["swarmyard run".to_owned(), shell_word(&self.args.file.display().to_string())];
        words.extend(
            self.args.set.set.iter().map(|(k, v)| format!("--set {}", shell_word(&format!("{k}={v}")))),
        );
        words.push(format!("--seed {}", self.sim.model().run.seed));
        let until = match (self.ending, self.args.until) {
            (Ending::Finished, None) => None,
            (Ending::Finished, Some(Until::Time(end))) => Some(end.to_string().replace(' ', "")),
            _ => Some(format!("tick:{}", self.sim.state().stops)),
        };
        words.extend(until.map(|u| format!("--until {u}")));
        words.join(" ")
    }

    /// With `-q` only what went wrong is told.
    fn whisper(&self, out: &Out) {
        for (a, v) in assertions(self.sim).filter(|(a, v)| !a.met(v)) {
            out.say(&format!("assertion not met: {}{}", a.name, remark(a, v)));
        }
        if let Some(judged) = self.breaches() {
            out.say(judged.breaches().trim_end());
        }
        if let Some(trouble) = &self.kept.trouble {
            out.say(&format!("the recording is not complete: {trouble}"));
        }
        if let Some(why) = &self.kept.no_picture {
            out.say(&format!("there is no picture: {why}"));
        }
    }

    fn text(&self) -> String {
        let (sim, state) = (self.sim, self.sim.state());
        let mut text = String::from("\n");
        let how = match self.ending {
            Ending::Finished => "finished",
            Ending::Signal => "stopped by a signal",
            Ending::WallLimit => "stopped by the wall limit",
        };
        let _ = writeln!(text, "{how} at {}, after {}", sim.now(), count(state.stops as usize, "tick"));
        let wall = self.wall.as_secs_f64();
        let _ = writeln!(text, "  wall time   {wall:.3} s, {} x real time", three_digits(self.rtf()));
        let _ = writeln!(text, "  contacts    {}", state.accounts.contacts);
        if state.accounts.impact_limits > 0 {
            let _ =
                writeln!(text, "  impacts     {} times over a body's limit", state.accounts.impact_limits);
        }
        let _ = writeln!(text, "  halted      {}", named(self.halted()));
        text.push_str(&assertions_text(sim, self.ending == Ending::Finished));
        self.recording_text(&mut text);
        text.push_str(&self.spread.as_ref().map_or_else(String::new, Spread::text));
        text.push_str(&figures::elsewhere(&sim.elsewhere()));
        text.push_str(&self.judged.as_ref().map_or_else(String::new, Judged::text));
        let _ = writeln!(text, "  hash        {}", self.hash());
        let _ = writeln!(text, "reproduce with: {}", self.reproduce());
        text
    }

    fn recording_text(&self, text: &mut String) {
        if let Some((path, summary)) = &self.kept.file {
            let thinned = if summary.thinned > 1 {
                format!(", thinned to every {}th", summary.thinned)
            } else {
                String::new()
            };
            let size = bytes(summary.bytes);
            let _ = writeln!(
                text,
                "  recording   {}, {} frames, {size}{thinned}",
                path.display(),
                summary.frames
            );
        }
        if let Some(trouble) = &self.kept.trouble {
            let _ = writeln!(text, "  NOT WHOLE   the recording stopped, the run did not: {trouble}");
        }
        if let Some(picture) = &self.kept.picture {
            let _ = writeln!(text, "  picture     {}", picture.display());
        }
        if let Some(why) = &self.kept.no_picture {
            let _ = writeln!(text, "  NO PICTURE  {why}");
        }
    }

    fn json(&self, exit: Exit) -> Value {
        let (model, state) = (self.sim.model(), self.sim.state());
        let recording = self.kept.file.as_ref().map(
            |(path, s)| json!({ "path": path, "bytes": s.bytes, "frames": s.frames, "thinned": s.thinned }),
        );
        let warnings = self.sim.warnings().0.iter();
        json!({
            "scenario": self.args.file, "title": model.title, "robots": model.robots(), "seed": model.run.seed,
            "modules": load::modules_json(Modules::of(model)),
            "ended": match self.ending {
                Ending::Finished => "finished",
                Ending::Signal => "signal",
                Ending::WallLimit => "wall-limit",
            },
            "exit": exit as u8,
            "ticks": state.stops, "time_s": seconds(self.sim.now()),
            "wall_s": self.wall.as_secs_f64(), "rtf": self.rtf(),
            "contacts": state.accounts.contacts, "impact_limits": state.accounts.impact_limits,
            "halted": self.halted().collect::<Vec<_>>(),
            "assertions": assertions_json(self.sim),
            "recording": recording, "recording_trouble": self.kept.trouble, "picture": self.kept.picture, "picture_trouble": self.kept.no_picture,
            "spread": self.spread.as_ref().map(Spread::json), "elsewhere": figures::elsewhere_json(&self.sim.elsewhere()),
            "judged": self.judged.as_ref().map(Judged::json),
            "hash": self.hash(), "reproduce": self.reproduce(),
            "warnings": warnings.map(|d| problem_json(&model.sources, d, None)).collect::<Vec<_>>(),
        })
    }
}

fn assertions(sim: &Sim) -> impl Iterator<Item = (&Assertion, &Verdict)> {
    sim.model().asserts.iter().zip(&sim.state().verdicts)
}

/// Whether all assertions of a run are met.
pub(crate) fn all_met(sim: &Sim) -> bool {
    assertions(sim).all(|(a, v)| a.met(v))
}

/// How assertions stand, a line each; nothing where there are none.
pub(crate) fn assertions_text(sim: &Sim, is_finished: bool) -> String {
    let (mut text, all) = (String::new(), sim.model().asserts.len());
    if all == 0 {
        return text;
    }
    let met = assertions(sim).filter(|(a, v)| a.met(v)).count();
    let so_far = if is_finished { "" } else { " so far" };
    let _ = writeln!(text, "  assertions  {met} of {all} met{so_far}");
    for (a, v) in assertions(sim) {
        let word = if a.met(v) { "met    " } else { "NOT MET" };
        let _ = writeln!(text, "    {word}  {}{}", a.name, remark(a, v));
    }
    text
}

/// The same for programs.
pub(crate) fn assertions_json(sim: &Sim) -> Vec<Value> {
    let all = assertions(sim).map(|(a, v)| {
        let failed = v.first_failure.filter(|_| a.holds == Holds::Always);
        json!({
            "name": a.name, "condition": a.text, "holds": word(a.holds), "met": a.met(v),
            "asked": v.asked, "held": v.held, "first_failure_s": failed.map(seconds),
        })
    });
    all.collect()
}

/// Why an assertion stands as it does, where that is not plain.
fn remark(a: &Assertion, v: &Verdict) -> String {
    match (a.holds, a.met(v)) {
        (_, true) if v.asked == 0 => " (its `when` never held)".into(),
        (_, true) => String::new(),
        (Holds::Always, false) => v.first_failure.map_or_else(String::new, |t| format!(", first at {t}")),
        (Holds::Sometime, false) => ", it never held".into(),
        (Holds::AtEnd, false) if v.asked == 0 => ", its `when` never held".into(),
        (Holds::AtEnd, false) => ", it did not hold at the end".into(),
    }
}

fn word(holds: Holds) -> &'static str {
    match holds {
        Holds::Always => "always",
        Holds::Sometime => "sometime",
        Holds::AtEnd => "at-end",
    }
}

/// The first few of a list, and how many more there are.
fn named<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.collect();
    match all.len() {
        0 => "none".into(),
        n if n <= NAMED => all.join(", "),
        n => format!("{n} robots: {}, …", all[..NAMED].join(", ")),
    }
}
