//! `diff`: where two recordings part.
//!
//! First the frames are compared as recorded. When they differ and this build can run both again,
//! it does, from the start to the last frame that is equal, and from there on compares the states
//! after each step: so the answer is exact to the tick, the robot and the number, although the
//! recordings hold only poses now and then.

use super::again;
use super::fail::{Exit, Failure};
use super::out::{Out, seconds};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use swarmyard::Sim;
use swarmyard::base::Time;
use swarmyard::engine::Model;
use swarmyard::record::{self, Difference, Recording};

/// Fields of the first robot that are shown.
const SHOWN: usize = 6;

/// Arguments of `diff`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard diff a.mcap b.mcap             exit 0 when they hold the same run, 6 when not\n  swarmyard diff a.mcap b.mcap --json"
)]
pub(crate) struct DiffArgs {
    /// One recording
    a: PathBuf,
    /// The other
    b: PathBuf,
}

/// Compares two recordings.
pub(crate) fn diff(args: &DiffArgs, out: &Out) -> Result<Exit, Failure> {
    let (a, b) = (again::open(&args.a)?, again::open(&args.b)?);
    let found = record::diff(&a, &b)?.unwrap_or_default();
    let same = found.hash.is_none() && found.visible.is_none() && found.lengths.is_none();
    if same {
        let mut text: String = found.notes.iter().map(|n| format!("note: {n}\n")).collect();
        text += &format!(
            "the recordings hold the same run: {} frames, {} ticks\n",
            a.len(),
            again::last_step(&a)
        );
        out.answer("diff", json!({ "same": true, "notes": found.notes }), &text)?;
        return Ok(Exit::Ok);
    }
    let exact = if found.hash.is_some() || found.visible.is_some() { rerun(&a, &b) } else { Ok(None) };
    out.answer("diff", to_json(&found, &exact), &to_text(&found, &exact))?;
    Ok(Exit::Mismatch)
}

/// The first difference of two runs that were made again.
struct Exact {
    tick: u64,
    time: Time,
    /// What differs first: a body's path, or `/run`.
    path: String,
    /// Its fields that differ, with both values.
    fields: Vec<Field>,
    /// Bodies that differ at that tick.
    bodies: usize,
}

/// One number that is not the same in both.
struct Field {
    name: String,
    a: f64,
    b: f64,
}

/// Runs both again and compares their states; or says why that cannot be done.
fn rerun(a: &Recording, b: &Recording) -> Result<Option<Exact>, String> {
    if let Some(why) = again::other_build(a).or_else(|| again::other_build(b)) {
        return Err(why);
    }
    let mut pair = [sim_of(a)?, sim_of(b)?];
    let last = again::last_step(a).min(again::last_step(b));
    let from = last_equal(a, b);
    loop {
        let tick = pair[0].state().stops;
        if tick >= from
            && let Some(found) = compare(&pair[0], &pair[1])
        {
            return Ok(Some(found));
        }
        if tick >= last {
            return Ok(None);
        }
        for sim in &mut pair {
            sim.step().map_err(|e| e.to_string())?;
        }
    }
}

fn sim_of(recording: &Recording) -> Result<Sim, String> {
    again::rebuild(recording, 1)
        .map_err(|f| f.problems.0.iter().map(|d| f.sources.render(d)).collect::<Vec<_>>().join("\n"))
}

/// The last step before the first different hash at which both have the same one.
fn last_equal(a: &Recording, b: &Recording) -> u64 {
    let mut last = 0;
    for mark in a.hashes() {
        let Ok(k) = b.hashes().binary_search_by_key(&mark.step, |m| m.step) else { continue };
        if b.hashes()[k].hash != mark.hash {
            break;
        }
        last = mark.step;
    }
    last
}

/// The first body in which two states differ, or else what differs about the run as a whole.
fn compare(a: &Sim, b: &Sim) -> Option<Exact> {
    if a.state() == b.state() && a.model().paths == b.model().paths {
        return None;
    }
    let exact = |path: &str, fields, bodies| Exact {
        tick: a.state().stops,
        time: a.now(),
        path: path.to_owned(),
        fields,
        bodies,
    };
    let clock = numbers("time", &[seconds(a.now())], &[seconds(b.now())]);
    if !clock.is_empty() {
        return Some(exact("/run", clock, 0));
    }
    let mut first: Option<(&str, Vec<Field>)> = None;
    let mut bodies = 0;
    for (slot, path) in a.model().paths.iter().enumerate() {
        let fields = body(a, b, slot, path);
        if !fields.is_empty() {
            bodies += 1;
            first.get_or_insert((path, fields));
        }
    }
    let only_b = b.model().paths.iter().filter(|path| a.model().slot_of_path(path).is_none());
    for path in only_b {
        bodies += 1;
        first.get_or_insert((path, vec![Field { name: "presence".into(), a: 0.0, b: 1.0 }]));
    }
    if let Some((path, fields)) = first {
        return Some(exact(path, fields, bodies));
    }
    let whole = accounts(a, b);
    (!whole.is_empty()).then(|| exact("/run", whole, 0))
}

/// The fields of one body that differ.
fn body(a: &Sim, b: &Sim, slot: usize, path: &str) -> Vec<Field> {
    let Some(other) = b.model().slot_of_path(path) else {
        return vec![Field { name: "presence".into(), a: 1.0, b: 0.0 }];
    };
    let (p, q) = (a.state().pose[slot], b.state().pose[other]);
    let (v, w) = (a.state().twist[slot], b.state().twist[other]);
    let mut fields = Vec::new();
    for (name, x, y) in [
        ("pose.x", p.at.x, q.at.x),
        ("pose.y", p.at.y, q.at.y),
        ("pose.heading", p.heading, q.heading),
        ("twist.forward", v.forward, w.forward),
        ("twist.left", v.left, w.left),
        ("twist.spin", v.spin, w.spin),
        ("halted", truth(a.state().halted[slot]), truth(b.state().halted[other])),
    ] {
        fields.extend(numbers(name, &[x], &[y]));
    }
    for (name, x) in rows(a, slot) {
        match rows(b, other).find(|r| r.0 == name) {
            Some((_, y)) => fields.extend(numbers(&name, x, y)),
            None => fields.push(Field { name: format!("{name} (presence)"), a: 1.0, b: 0.0 }),
        }
    }
    fields
}

/// Every row of numbers of a body's parts and controllers, with a name for people.
fn rows(sim: &Sim, slot: usize) -> impl Iterator<Item = (String, &[f64])> {
    let model: &Model = sim.model();
    let t = model.type_of[slot] as usize;
    let (ty, columns) = (&model.types[t], &sim.state().types[t]);
    let row = slot - ty.slots.start;
    let parts = ty.parts.iter().zip(&columns.parts).flat_map(move |(part, numbers)| {
        let channels = part.layout.channels.iter().filter_map(move |c| {
            let (first, len) = part.layout.place(c.name)?;
            let (column, width) = if c.command {
                (&numbers.commands, part.layout.command_width())
            } else {
                (&numbers.readings, part.layout.reading_width())
            };
            Some((
                format!("channel {}.{}", part.name, c.name),
                column.get(row * width + first..)?.get(..len)?,
            ))
        });
        let width = part.layout.state.len();
        let own = numbers.state.get(row * width..(row + 1) * width).unwrap_or(&[]);
        channels.chain([(format!("state of {}", part.name), own)])
    });
    let controllers = ty.controllers.iter().zip(&columns.controllers).map(move |(controller, column)| {
        let width = controller.state.len();
        let own = column.get(row * width..(row + 1) * width).unwrap_or(&[]);
        (format!("memory of {}", controller.name), own)
    });
    parts.chain(controllers)
}

/// What differs about the run as a whole, when no body does.
fn accounts(a: &Sim, b: &Sim) -> Vec<Field> {
    let (x, y) = (&a.state().accounts, &b.state().accounts);
    let mut fields = Vec::new();
    for (name, p, q) in [
        ("contacts", x.contacts, y.contacts),
        ("halts", x.halts, y.halts),
        ("impact limits", x.impact_limits, y.impact_limits),
        ("inputs", x.inputs, y.inputs),
        ("touching", a.state().touches.len() as u64, b.state().touches.len() as u64),
    ] {
        fields.extend(numbers(name, &[p as f64], &[q as f64]));
    }
    fields
}

/// The numbers of two rows that differ, as the hash sees them.
fn numbers(name: &str, a: &[f64], b: &[f64]) -> Vec<Field> {
    if a.len() != b.len() {
        return vec![Field { name: format!("{name} (length)"), a: a.len() as f64, b: b.len() as f64 }];
    }
    let indexed =
        |k: usize| if a.len() > 1 || name.contains(' ') { format!("{name}[{k}]") } else { name.to_owned() };
    let differ = |x: f64, y: f64| x != y && !(x.is_nan() && y.is_nan());
    let all = a.iter().zip(b).enumerate().filter(|(_, (x, y))| differ(**x, **y));
    all.map(|(k, (x, y))| Field { name: indexed(k), a: *x, b: *y }).collect()
}

fn truth(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// One line about a field; `width` is that of the longest name.
fn field_line(f: &Field, width: usize) -> String {
    match f.name.as_str() {
        "presence" if f.a > f.b => "  it is in the first run only".into(),
        "presence" => "  it is in the second run only".into(),
        name => format!("  {name:width$}  {:?} | {:?}", f.a, f.b),
    }
}

fn to_text(found: &Difference, exact: &Result<Option<Exact>, String>) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Ok(Some(e)) = exact {
        lines.extend(found.notes.iter().map(|n| format!("note: {n}")));
        lines.push(format!("the runs part at {} (tick {}): `{}`", e.time, e.tick, e.path));
        let width = e.fields.iter().take(SHOWN).map(|f| f.name.len()).max().unwrap_or(0);
        lines.extend(e.fields.iter().take(SHOWN).map(|f| field_line(f, width)));
        if e.fields.len() > SHOWN {
            lines.push(format!("  and {} more fields", e.fields.len() - SHOWN));
        }
        if e.bodies > 1 {
            lines.push(format!("{} bodies differ at that tick", e.bodies));
        }
        if let Some((a, b)) = found.lengths {
            lines.push(format!("one ends at tick {a}, the other at tick {b}"));
        }
    } else {
        lines.push(found.to_string());
        match exact {
            Err(why) => lines.push(format!("they could not be run again for an exact answer: {why}")),
            Ok(_) if found.hash.is_some() || found.visible.is_some() => lines.push(
                "run again with this build they do not differ: one was made by another program, or is damaged".into(),
            ),
            Ok(_) => {}
        }
    }
    lines.join("\n")
}

fn to_json(found: &Difference, exact: &Result<Option<Exact>, String>) -> Value {
    let field = |f: &Field| json!({ "field": f.name, "a": f.a, "b": f.b });
    let first = exact.as_ref().ok().and_then(Option::as_ref).map(|e| {
        json!({
            "tick": e.tick, "time_s": seconds(e.time), "path": e.path, "bodies": e.bodies,
            "field": e.fields.first().map(|f| f.name.as_str()),
            "a": e.fields.first().map(|f| f.a), "b": e.fields.first().map(|f| f.b),
            "fields": e.fields.iter().map(field).collect::<Vec<_>>(),
        })
    });
    let visible = found.visible.as_ref().map(|v| {
        json!({
            "tick": v.step, "time_s": seconds(v.time), "path": v.body, "field": v.field,
            "a": v.values.0, "b": v.values.1,
        })
    });
    json!({
        "same": false, "notes": found.notes, "first": first, "first_recorded": visible,
        "first_hash_tick": found.hash.map(|(a, _)| a.step), "not_rerun": exact.as_ref().err(),
        "ticks": found.lengths.map(|(a, b)| [a, b]),
    })
}
