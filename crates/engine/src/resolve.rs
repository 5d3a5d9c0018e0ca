//! Intended motion becomes real motion: who may touch whom, and what comes of it.
//!
//! Broad phase on envelopes (boxes around swept outlines), then exact contact times for the few
//! candidate pairs. Only connected groups with a contact in them are played out
//! ([`crate::groups`]); everybody else simply arrives.

use crate::area::Area;
use crate::carry::{Units, cut_short};
use crate::compile::BORDER;
use crate::groups::{Group, Pair, PairOther, play_groups};
use crate::meter::{Kind, Took, Watch, even, timed};
use crate::model::{ContactRule, Model};
use crate::parallel::{CHUNK, Pool};
use crate::state::State;
use crate::step::{Admitted, Scratch};
use crate::{ContactEvent, RunEvent};
use swarmyard_base::{Twist2, Uid, Vec2, math};
use swarmyard_motion::{Mover, Workspace, first_contact};
use swarmyard_part_api::{AtEdge, BodyGrid, Detail, FixedEdge, Frame, Mirror, Outline, Segment, Touch};

/// What came of the intents.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Position of each body at the end, by slot.
    pub(crate) end: Vec<Vec2>,
    /// Envelope of each body's intent, by slot.
    pub(crate) envelopes: Vec<Area>,
    /// How far a body's envelope reaches from where it is, by slot.
    pub(crate) spans: Vec<f64>,
    /// What each body that was disturbed did in all, sorted by slot.
    pub(crate) disturbed: Vec<(u32, Twist2)>,
    /// What bounces did to bodies that keep a mirror, in the order of groups.
    pub(crate) mirrors: Vec<(u32, Mirror)>,
    /// Contacts as each body feels them.
    pub(crate) touches: Vec<Touch>,
    /// Contacts in the order of (time, uids).
    pub(crate) contacts: Vec<ContactEvent>,
    /// Bodies that exceeded the impact limit.
    pub(crate) limits: Vec<Uid>,
    /// The farthest any own body's envelope reached from where it started, impacts included.
    pub(crate) farthest: f64,
}

/// What lies beyond the horizon may matter to what must come out right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsure;

/// What a worker must be sure of, when it knows only part of the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    /// Nobody unknown comes in here in this stretch.
    pub(crate) sure: Area,
    /// What starts in here must come out right, besides the own bodies.
    pub(crate) needed: Area,
    /// No body's envelope reaches farther than this from where it started.
    pub(crate) leap: f64,
}

/// What the groups look at while they are played out.
pub(crate) struct Field<'a> {
    pub(crate) model: &'a Model,
    pub(crate) detail: Detail,
    pub(crate) grid: &'a BodyGrid,
    pub(crate) segments: &'a [Segment],
    pub(crate) envelopes: &'a [Area],
    /// Who moves as one.
    pub(crate) units: &'a Units,
    pub(crate) max_span: f64,
    pub(crate) until_s: f64,
    /// `None` when the whole world is known.
    pub(crate) horizon: Option<Horizon>,
    /// By which it is measured what it costs, when it is.
    pub(crate) watch: Option<&'a dyn Watch>,
}

impl<'a> Field<'a> {
    /// Outline of the body in `slot` at the level of detail of this stretch.
    pub(crate) fn outline(&self, slot: u32) -> &'a Outline {
        self.model.outline_at(self.detail, slot as usize)
    }
}

/// Fills `scratch.outcome`; segments of disturbed bodies are replaced by their last ones.
///
/// # Errors
/// When what lies beyond the horizon may matter; nothing has changed then.
pub(crate) fn resolve(
    model: &Model,
    state: &State,
    inputs: &Admitted,
    horizon: Option<Horizon>,
    scratch: &mut Scratch,
    pool: &Pool,
) -> Result<(), Unsure> {
    let until_s = inputs.quantum_s();
    let outcome = &mut scratch.outcome;
    let reach = |slot: usize| model.outline_at(inputs.detail, slot).reach();
    let max_span = sweep(&scratch.intents.segments, reach, until_s, outcome, pool);
    let field = Field {
        model,
        detail: inputs.detail,
        grid: &scratch.grid,
        segments: &scratch.intents.segments,
        envelopes: &outcome.envelopes,
        units: &scratch.intents.carrying.units,
        max_span,
        until_s,
        horizon,
        watch: scratch.meter.watch(),
    };
    let ghosts = model.run.contact == ContactRule::Ghost;
    let (pairs, took) = if ghosts { Default::default() } else { candidates(&field, &outcome.spans, pool) };
    let groups = play_groups(&field, pairs, scratch.grouping, pool)?;
    scratch.meter.share(Kind::Contact, took);
    outcome.disturbed.clear();
    outcome.mirrors.clear();
    outcome.touches.clear();
    outcome.contacts.clear();
    outcome.limits.clear();
    let own = model.own as u32;
    outcome.farthest = outcome.spans[..model.own].iter().copied().fold(0.0, math::max);
    let mut cuts: Vec<(u32, f64)> = Vec::new();
    for Group { tracks, touches, contacts, limits, took_ns } in groups {
        let each_ns = even(took_ns, tracks.len());
        tracks.iter().for_each(|t| scratch.meter.add(Kind::Contact, t.slot as usize, each_ns));
        for track in tracks.into_iter().filter(|t| t.disturbed) {
            let slot = track.slot as usize;
            if track.slot < own {
                let start = scratch.intents.segments[slot].pose.at;
                outcome.farthest = math::max(outcome.farthest, track.envelope.span_from(start));
            }
            cuts.extend(track.first_turn_s.map(|time_s| (track.slot, time_s)));
            outcome
                .mirrors
                .extend(track.mirror.filter(|_| track.slot < own).map(|mirror| (track.slot, mirror)));
            scratch.intents.segments[slot] = track.segment;
            outcome.end[slot] = track.segment.position_at(until_s);
            outcome.disturbed.push((track.slot, add(track.moved, travel(&track.segment, until_s))));
        }
        // Of what happens to ghosts their own workers tell.
        outcome.touches.extend(touches.into_iter().filter(|t| t.slot < own));
        outcome.contacts.extend(contacts.into_iter().filter(|c| model.is_own(c.a)));
        outcome.limits.extend(limits.into_iter().filter(|u| model.is_own(*u)));
    }
    outcome.disturbed.sort_unstable_by_key(|d| d.0);
    outcome.contacts.sort_by_key(ContactEvent::order);
    outcome.limits.sort_unstable();
    scratch.events.extend(outcome.contacts.iter().map(|c| RunEvent::Contact(*c)));
    scratch.events.extend(outcome.limits.iter().map(|u| RunEvent::ImpactLimit(*u)));
    cuts.sort_unstable_by_key(|c| c.0);
    cut_short(model, state, until_s, &cuts, scratch);
    Ok(())
}

/// Ends and envelopes of all intents. Answers the greatest span.
fn sweep(
    segments: &[Segment],
    reach: impl Fn(usize) -> f64 + Sync,
    until_s: f64,
    outcome: &mut Outcome,
    pool: &Pool,
) -> f64 {
    let n = segments.len();
    outcome.end.resize(n, Vec2::ZERO);
    outcome.envelopes.resize(n, Area::default());
    outcome.spans.resize(n, 0.0);
    let tasks: Vec<_> = segments
        .chunks(CHUNK)
        .zip(outcome.end.chunks_mut(CHUNK))
        .zip(outcome.envelopes.chunks_mut(CHUNK).zip(outcome.spans.chunks_mut(CHUNK)))
        .enumerate()
        .collect();
    let greatest = pool.map(tasks, |(c, ((segments, ends), (envelopes, spans)))| {
        let mut greatest = 0.0_f64;
        for (k, segment) in segments.iter().enumerate() {
            ends[k] = segment.position_at(until_s);
            envelopes[k] = Area::of(segment, reach(c * CHUNK + k), ends[k], until_s);
            spans[k] = envelopes[k].span_from(segment.pose.at);
            greatest = math::max(greatest, spans[k]);
        }
        greatest
    });
    greatest.into_iter().fold(0.0, math::max)
}

/// All pairs whose envelopes meet, with their first contact; and what it took to find them.
fn candidates(field: &Field<'_>, spans: &[f64], pool: &Pool) -> (Vec<Pair>, Vec<Took>) {
    let n = field.segments.len();
    let chunks: Vec<usize> = (0..n).step_by(CHUNK).collect();
    let find = |first: usize| {
        let mut work = Workspace::default();
        let mut pairs = Vec::new();
        let mut edges: Vec<u32> = Vec::new();
        for slot in first..(first + CHUNK).min(n) {
            let envelope = field.envelopes[slot];
            let still = field.segments[slot].is_rest();
            // A pair is found from its body of greater span: the other starts within that span of
            // the envelope, so one fast body does not make everybody look far.
            let span = Vec2::new(spans[slot], spans[slot]);
            field.grid.for_each_in(envelope.min - span, envelope.max + span, |entry| {
                let other = entry.slot as usize;
                let mine = spans[other] < spans[slot] || (spans[other] == spans[slot] && slot < other);
                if mine
                    && envelope.meets(&field.envelopes[other])
                    && !(still && field.segments[other].is_rest())
                    && !field.units.together(slot as u32, other as u32)
                    && overlap(field.model.heights_of(slot), field.model.heights_of(other))
                {
                    pairs.push(Pair::of_bodies(field, slot as u32, other as u32, &mut work));
                }
            });
            if !still {
                edges_near(field, slot, &envelope, &mut edges);
                pairs.extend(
                    edges.iter().map(|&e| Pair::new(field, slot as u32, PairOther::Edge(e), &mut work)),
                );
            }
        }
        pairs
    };
    let found = pool.map(chunks, |first| {
        let (pairs, ns) = timed(field.watch, || find(first));
        (pairs, (first..(first + CHUNK).min(n), ns))
    });
    let (pairs, took): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    (pairs.into_iter().flatten().collect(), took)
}

/// Fixed edges that may meet an envelope, each once.
pub(crate) fn edges_near(field: &Field<'_>, slot: usize, envelope: &Area, edges: &mut Vec<u32>) {
    edges.clear();
    field.model.fixed.for_each_in(envelope.min, envelope.max, |k, edge| {
        let around = Area {
            min: Vec2::new(math::min(edge.a.x, edge.b.x), math::min(edge.a.y, edge.b.y)),
            max: Vec2::new(math::max(edge.a.x, edge.b.x), math::max(edge.a.y, edge.b.y)),
        };
        if envelope.meets(&around)
            && overlap(field.model.heights_of(slot), edge.heights)
            && !passes(field.model, slot, edge)
        {
            edges.push(k as u32);
        }
    });
    edges.sort_unstable();
    edges.dedup();
}

/// Whether a body passes through an edge that stops others: the border, when it wraps around.
pub(crate) fn passes(model: &Model, slot: usize, edge: &FixedEdge) -> bool {
    model.type_at(slot).at_edge() == AtEdge::Wrap && edge.owner == Uid::of_path(BORDER)
}

/// Whether two height intervals share more than a point.
#[inline]
pub(crate) fn overlap(a: (f64, f64), b: (f64, f64)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

/// The first contact of a body on a segment with a fixed edge or another body.
pub(crate) fn contact_of(
    field: &Field<'_>,
    a: (&Outline, &Segment),
    b: (&Outline, &Segment),
    work: &mut Workspace,
) -> Option<swarmyard_motion::Contact> {
    let (a, b) = (Mover { outline: a.0, segment: a.1 }, Mover { outline: b.0, segment: b.1 });
    first_contact(&a, &b, field.until_s, work)
}

/// What a body does on its segment until `until_s`, in its own frame: metres forward, metres to the
/// left, radians turned.
#[inline]
pub(crate) fn travel(segment: &Segment, until_s: f64) -> Twist2 {
    let dt = until_s - segment.start_s;
    let v = match segment.frame {
        Frame::Body => segment.velocity,
        Frame::World => {
            let v = segment.rot.unapply(segment.velocity);
            if segment.spin == 0.0 {
                v
            } else {
                // The mean of the velocity over the turn, seen from the turning body.
                let (sinc, cosc) = math::sinc_cosc(segment.spin * dt);
                let mean = Vec2::new(sinc * v.x + cosc * v.y, sinc * v.y - cosc * v.x);
                if segment.centre == Vec2::ZERO { mean } else { mean - segment.centre.perp() * segment.spin }
            }
        }
    };
    Twist2::new(v.x * dt, v.y * dt, segment.spin * dt)
}

pub(crate) fn add(a: Twist2, b: Twist2) -> Twist2 {
    Twist2::new(a.forward + b.forward, a.left + b.left, a.spin + b.spin)
}
