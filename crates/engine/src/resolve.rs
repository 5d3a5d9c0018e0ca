//! Intended motion becomes real motion: who may touch whom, and what comes of it.
//!
//! Broad phase on envelopes (boxes around swept outlines), then exact contact times for the few
//! candidate pairs. Only connected groups with a contact in them are played out
//! ([`crate::groups`]); everybody else simply arrives.

use crate::carry::{Units, cut_short};
use crate::compile::BORDER;
use crate::groups::{Group, Pair, PairOther, play_groups};
use crate::model::{ContactRule, Model};
use crate::parallel::{CHUNK, Pool};
use crate::state::State;
use crate::step::{Admitted, Scratch};
use crate::{ContactEvent, RunEvent};
use swarmyard_base::{Twist2, Uid, Vec2, math};
use swarmyard_motion::{Mover, SKIN_M, Workspace, first_contact};
use swarmyard_part_api::{AtEdge, BodyGrid, Detail, FixedEdge, Frame, Mirror, Outline, Segment, Touch};

/// A box in the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Envelope {
    pub(crate) min: Vec2,
    pub(crate) max: Vec2,
}

impl Envelope {
    /// The box around everything the outline sweeps over from the segment's start to `until_s`.
    #[inline]
    pub(crate) fn of(segment: &Segment, reach: f64, end: Vec2, until_s: f64) -> Envelope {
        let start = segment.pose.at;
        let mut margin = reach + 2.0 * SKIN_M;
        if !segment.is_straight() {
            // An arc leaves its chord by at most an eighth of length times angle; past half a turn
            // its whole length will do.
            let dt = until_s - segment.start_s;
            let (length, angle) = (segment.round_speed() * dt, (segment.spin * dt).abs());
            margin += length * if angle < 3.0 { angle / 8.0 } else { 1.0 };
        }
        Envelope {
            min: Vec2::new(start.x.min(end.x) - margin, start.y.min(end.y) - margin),
            max: Vec2::new(start.x.max(end.x) + margin, start.y.max(end.y) + margin),
        }
    }

    #[inline]
    pub(crate) fn meets(&self, other: &Envelope) -> bool {
        self.min.x <= other.max.x
            && self.max.x >= other.min.x
            && self.min.y <= other.max.y
            && self.max.y >= other.min.y
    }

    /// How far the box reaches from a point inside it, along an axis.
    #[inline]
    fn span_from(&self, p: Vec2) -> f64 {
        (p.x - self.min.x).max(self.max.x - p.x).max(p.y - self.min.y).max(self.max.y - p.y)
    }

    pub(crate) fn holds(&self, other: &Envelope) -> bool {
        self.min.x <= other.min.x
            && self.max.x >= other.max.x
            && self.min.y <= other.min.y
            && self.max.y >= other.max.y
    }

    pub(crate) fn join(&self, other: &Envelope) -> Envelope {
        Envelope {
            min: Vec2::new(self.min.x.min(other.min.x), self.min.y.min(other.min.y)),
            max: Vec2::new(self.max.x.max(other.max.x), self.max.y.max(other.max.y)),
        }
    }
}

/// What came of the intents.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Position of each body at the end, by slot.
    pub(crate) end: Vec<Vec2>,
    /// Envelope of each body's intent, by slot.
    pub(crate) envelopes: Vec<Envelope>,
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
}

/// What the groups look at while they are played out.
pub(crate) struct Field<'a> {
    pub(crate) model: &'a Model,
    pub(crate) detail: Detail,
    pub(crate) grid: &'a BodyGrid,
    pub(crate) segments: &'a [Segment],
    pub(crate) envelopes: &'a [Envelope],
    /// Who moves as one.
    pub(crate) units: &'a Units,
    pub(crate) max_span: f64,
    pub(crate) until_s: f64,
}

impl<'a> Field<'a> {
    /// Outline of the body in `slot` at the level of detail of this stretch.
    pub(crate) fn outline(&self, slot: u32) -> &'a Outline {
        self.model.outline_at(self.detail, slot as usize)
    }
}

/// Fills `scratch.outcome`; segments of disturbed bodies are replaced by their last ones.
pub(crate) fn resolve(model: &Model, state: &State, inputs: &Admitted, scratch: &mut Scratch, pool: &Pool) {
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
    };
    let ghosts = model.run.contact == ContactRule::Ghost;
    let pairs = if ghosts { Vec::new() } else { candidates(&field, &outcome.spans, pool) };
    let groups = play_groups(&field, pairs, scratch.grouping, pool);
    outcome.disturbed.clear();
    outcome.mirrors.clear();
    outcome.touches.clear();
    outcome.contacts.clear();
    outcome.limits.clear();
    let mut cuts: Vec<(u32, f64)> = Vec::new();
    for Group { tracks, touches, contacts, limits } in groups {
        for track in tracks.into_iter().filter(|t| t.disturbed) {
            let slot = track.slot as usize;
            cuts.extend(track.first_turn_s.map(|time_s| (track.slot, time_s)));
            outcome.mirrors.extend(track.mirror.map(|mirror| (track.slot, mirror)));
            scratch.intents.segments[slot] = track.segment;
            outcome.end[slot] = track.segment.position_at(until_s);
            outcome.disturbed.push((track.slot, add(track.moved, travel(&track.segment, until_s))));
        }
        outcome.touches.extend(touches);
        outcome.contacts.extend(contacts);
        outcome.limits.extend(limits);
    }
    outcome.disturbed.sort_unstable_by_key(|d| d.0);
    outcome.contacts.sort_by_key(ContactEvent::order);
    outcome.limits.sort_unstable();
    scratch.events.extend(outcome.contacts.iter().map(|c| RunEvent::Contact(*c)));
    scratch.events.extend(outcome.limits.iter().map(|u| RunEvent::ImpactLimit(*u)));
    cuts.sort_unstable_by_key(|c| c.0);
    cut_short(model, state, until_s, &cuts, scratch);
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
    outcome.envelopes.resize(n, Envelope::default());
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
            envelopes[k] = Envelope::of(segment, reach(c * CHUNK + k), ends[k], until_s);
            spans[k] = envelopes[k].span_from(segment.pose.at);
            greatest = greatest.max(spans[k]);
        }
        greatest
    });
    greatest.into_iter().fold(0.0, f64::max)
}

/// All pairs whose envelopes meet, with their first contact.
fn candidates(field: &Field<'_>, spans: &[f64], pool: &Pool) -> Vec<Pair> {
    let n = field.segments.len();
    let chunks: Vec<usize> = (0..n).step_by(CHUNK).collect();
    let found = pool.map(chunks, |first| {
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
                    && overlap(field.model.heights[slot], field.model.heights[other])
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
    });
    found.into_iter().flatten().collect()
}

/// Fixed edges that may meet an envelope, each once.
pub(crate) fn edges_near(field: &Field<'_>, slot: usize, envelope: &Envelope, edges: &mut Vec<u32>) {
    edges.clear();
    field.model.fixed.for_each_in(envelope.min, envelope.max, |k, edge| {
        let around = Envelope {
            min: Vec2::new(edge.a.x.min(edge.b.x), edge.a.y.min(edge.b.y)),
            max: Vec2::new(edge.a.x.max(edge.b.x), edge.a.y.max(edge.b.y)),
        };
        if envelope.meets(&around)
            && overlap(field.model.heights[slot], edge.heights)
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
