//! Where two recordings part: the first time, body and field.
//!
//! Frames are compared at steps that both hold, by the path of the body, bit by bit as recorded. The
//! hash covers more than the poses, so it may part earlier; both are told.

use crate::bodies::Bodies;
use crate::error::RecordError;
use crate::recording::{FrameMark, Recording};
use std::collections::BTreeMap;
use std::fmt;
use swarmyard_base::Time;

/// How two recordings differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// What was different before the first step: scenario, seed, build, inputs.
    pub notes: Vec<String>,
    /// The first frame whose hashes differ, as both have it.
    pub hash: Option<(FrameMark, FrameMark)>,
    /// The first difference in what the recordings hold of the bodies.
    pub visible: Option<Visible>,
    /// The last steps, when one run is longer.
    pub lengths: Option<(u64, u64)>,
}

/// A difference in a pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Visible {
    /// Step of the frame.
    pub step: u64,
    /// Its time.
    pub time: Time,
    /// The body.
    pub body: String,
    /// `x`, `y` or `heading`; `presence` when only one recording has the body.
    pub field: &'static str,
    /// The values in the first and in the second recording.
    pub values: (f32, f32),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = self.notes.iter().map(|n| format!("note: {n}")).collect();
        if let Some(v) = &self.visible {
            let (a, b) = v.values;
            lines.push(match v.field {
                "presence" => format!("`{}` is in one recording only", v.body),
                field => format!(
                    "at {} (step {}) {field} of `{}` is {a} in one and {b} in the other",
                    v.time, v.step, v.body
                ),
            });
        }
        if let Some((a, _)) = &self.hash
            && self.visible.as_ref().is_none_or(|v| a.step < v.step)
        {
            lines.push(format!(
                "at {} (step {}) the state differs in something the recordings do not hold: replay both with --verify, or record the channels",
                a.time, a.step
            ));
        }
        if let Some((a, b)) = self.lengths {
            lines.push(format!("one ends at step {a}, the other at step {b}"));
        }
        f.write_str(&lines.join("\n"))
    }
}

/// The first frame that both recordings hold with different hashes.
#[must_use]
pub fn first_hash_difference(a: &Recording, b: &Recording) -> Option<(FrameMark, FrameMark)> {
    common(a, b)
        .map(|(i, j)| (a.hashes()[i], b.hashes()[j]))
        .find(|(x, y)| x.hash != y.hash || x.time != y.time)
}

/// How the recordings differ; `None` when they hold the same run.
///
/// # Errors
/// When one of them cannot be read.
pub fn diff(a: &Recording, b: &Recording) -> Result<Option<Difference>, RecordError> {
    let found = Difference {
        notes: notes(a, b),
        hash: first_hash_difference(a, b),
        visible: visible(a, b)?,
        lengths: Some((last_step(a), last_step(b))).filter(|(a, b)| a != b),
    };
    Ok((found != Difference::default()).then_some(found))
}

/// Numbers of the frames at steps that both hold.
fn common<'a>(a: &'a Recording, b: &'a Recording) -> impl Iterator<Item = (usize, usize)> {
    let mut j = 0;
    a.hashes().iter().enumerate().filter_map(move |(i, mark)| {
        while b.hashes().get(j).is_some_and(|m| m.step < mark.step) {
            j += 1;
        }
        b.hashes().get(j).filter(|m| m.step == mark.step).map(|_| (i, j))
    })
}

fn last_step(r: &Recording) -> u64 {
    r.end().map_or_else(|| r.hashes().last().map_or(0, |m| m.step), |e| e.step)
}

fn notes(a: &Recording, b: &Recording) -> Vec<String> {
    let (x, y) = (a.header(), b.header());
    let mut notes = Vec::new();
    if x.sources != y.sources {
        let texts = x.sources.iter().zip(&y.sources).find(|(s, t)| s != t);
        let name = texts.map_or(x.scenario.as_str(), |(s, _)| s.name.as_str());
        notes.push(format!("the scenarios differ, first in `{name}`"));
    }
    if x.overrides != y.overrides {
        let list = |all: &[(String, String)]| {
            let pairs: Vec<String> = all.iter().map(|(k, v)| format!("{k}={v}")).collect();
            if pairs.is_empty() { "none".to_owned() } else { format!("`{}`", pairs.join(" ")) }
        };
        notes.push(format!("the overrides differ: {} and {}", list(&x.overrides), list(&y.overrides)));
    }
    if x.seed != y.seed {
        notes.push(format!("the seeds differ: {} and {}", x.seed, y.seed));
    }
    if (x.numerics, &x.build) != (y.numerics, &y.build) {
        notes.push(format!("the builds differ: `{}` and `{}`", x.build, y.build));
    }
    let (p, q) = (a.journal().all(), b.journal().all());
    let first = p.iter().zip(q).find(|(i, j)| i != j).map(|(i, j)| i.stop.min(j.stop));
    let rest = p.get(q.len()).or(q.get(p.len())).map(|i| i.stop);
    // Inputs after the end of the shorter run are no difference of their own.
    if let Some(stop) = first.or(rest).filter(|stop| *stop < last_step(a).min(last_step(b))) {
        notes.push(format!("the inputs differ, first at step {stop}"));
    }
    notes
}

fn visible(a: &Recording, b: &Recording) -> Result<Option<Visible>, RecordError> {
    let mut known: Option<((usize, usize), Pairs)> = None;
    for (i, j) in common(a, b) {
        let (f, g) = (a.frame(i)?, b.frame(j)?);
        // Only now is it certain that the files really hold as many bodies as they say.
        let eras = (a.era_of(i), b.era_of(j));
        if known.as_ref().is_none_or(|k| k.0 != eras) {
            known = match pairs(a.bodies_of(i), b.bodies_of(j)) {
                Ok(pairs) => Some((eras, pairs)),
                Err(body) => {
                    let (field, values) = ("presence", (0.0, 0.0));
                    return Ok(Some(Visible { step: f.step, time: f.time, body, field, values }));
                }
            };
        }
        let pairs = known.as_ref().map_or(&[][..], |k| &k.1);
        let pose = |(k, l): &(usize, usize)| {
            let (p, q) = (f.poses.get(*k)?, g.poses.get(*l)?);
            let field = (0..3).find(|&n| p[n].to_bits() != q[n].to_bits())?;
            Some((*k, field, (p[field], q[field])))
        };
        if let Some((k, field, values)) = pairs.iter().find_map(pose) {
            let body = a.bodies_of(i).path(k).unwrap_or_default();
            let field = ["x", "y", "heading"][field];
            return Ok(Some(Visible { step: f.step, time: f.time, body, field, values }));
        }
    }
    Ok(None)
}

type Pairs = Vec<(usize, usize)>;

/// The places of each body in both recordings' frames; or the first body that only one has.
fn pairs(x: &Bodies, y: &Bodies) -> Result<Pairs, String> {
    if x.types.iter().map(|t| &t.names).eq(y.types.iter().map(|t| &t.names)) {
        return Ok((0..x.len()).map(|k| (k, k)).collect());
    }
    let index = |bodies: &Bodies| -> BTreeMap<String, usize> {
        bodies.paths().enumerate().map(|(k, path)| (path, k)).collect()
    };
    let (left, right) = (index(x), index(y));
    if let Some(name) = right.keys().find(|name| !left.contains_key(*name)) {
        return Err(name.clone());
    }
    let find = |(name, k): (&String, &usize)| right.get(name).map(|l| (*k, *l)).ok_or_else(|| name.clone());
    let mut pairs: Vec<(usize, usize)> = left.iter().map(find).collect::<Result<_, _>>()?;
    pairs.sort_unstable();
    Ok(pairs)
}
