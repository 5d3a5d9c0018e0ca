//! Who carries what.
//!
//! In: what the actuators' hands do ([`Grip`]) and the committed state. Out: who carries what in the
//! coming quantum, the motion of what is carried, and what the hands feel.
//!
//! A worker that has only some of the bodies is told what the hands of the others do ([`Gesture`]), and decides
//! about all of them as everybody else does.
//!
//! Carrier and carried are a *unit*: they never collide with one another, and a contact of one is a
//! contact of all ([`crate::groups`]). Only movable obstacles can be held, and those have no hands, so
//! there are no chains. Picking up is no impact: what is taken moves along at once. What is let go
//! stands where it is.

use crate::act::Intents;
use crate::groups::gap_of;
use crate::model::{Model, PartKind};
use crate::parallel::{CHUNK, Pool};
use crate::resolve::overlap;
use crate::state::{State, TypeColumns};
use crate::step::Scratch;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swarmyard_base::{Pose2, Rot2, Twist2, Uid, Vec2, math};
use swarmyard_motion::Workspace;
use swarmyard_part_api::{Actuator, BodyGrid, Carry, Felt, Grip, Hand, Jaws, Segment};

/// What is let go must not overlap its carrier by more than this: rounding.
const ROUNDING_M: f64 = 1e-10;

/// The hands of one part of one type: by row, then those of ghosts.
pub(crate) struct Hands {
    ty: usize,
    part: usize,
    pub(crate) grips: Vec<Grip>,
    /// Of each ghost what else its hand needs, in the order of slots.
    ghosts: Vec<GhostHand>,
}

/// The hand of a ghost, whose columns are elsewhere.
struct GhostHand {
    slot: u32,
    /// State of the part, committed and next.
    state: Vec<f64>,
    next: Vec<f64>,
}

impl Hands {
    /// The carrier whose hand has this place among the grips.
    fn carrier(&self, model: &Model, place: usize) -> usize {
        let slots = &model.types[self.ty].slots;
        match place.checked_sub(slots.len()) {
            Some(ghost) => self.ghosts[ghost].slot as usize,
            None => slots.start + place,
        }
    }

    /// Place of a carrier's hand among the grips.
    fn place(&self, model: &Model, carrier: usize) -> usize {
        let slots = &model.types[self.ty].slots;
        if slots.contains(&carrier) {
            return carrier - slots.start;
        }
        slots.len() + self.ghosts.partition_point(|g| (g.slot as usize) < carrier)
    }
}

/// What a body of another worker brings to the question who holds what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gesture {
    /// The body's number.
    pub body: u32,
    /// Its velocity in its own frame.
    pub(crate) twist: Twist2,
    /// What touches it, when it can be held.
    touched: Vec<Uid>,
    /// What its hands do.
    hands: Vec<GestureHand>,
}

/// One hand of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct GestureHand {
    part: u32,
    grip: Grip,
    /// State of the part, committed and next.
    state: Vec<f64>,
    next: Vec<f64>,
}

/// What hands do in the coming quantum, and what comes of it.
#[derive(Default)]
pub(crate) struct Carrying {
    is_ready: bool,
    /// By type, then by part.
    pub(crate) hands: Vec<Hands>,
    /// By the carried slot.
    pub(crate) carried: Vec<Carry>,
    /// Who moves as one.
    pub(crate) units: Units,
    /// What touches ghosts that can be held, by slot.
    touched: BTreeMap<u32, Vec<Uid>>,
}

impl Carrying {
    /// Makes room for the hands of all robots. A scratch belongs to one model, so once is enough.
    pub(crate) fn ready(&mut self, model: &Model) {
        if std::mem::replace(&mut self.is_ready, true) {
            return;
        }
        for (t, ty) in model.types.iter().enumerate() {
            let with_hand = |p: &usize| hand_of(model, t, *p).is_some();
            self.hands.extend((0..ty.parts.len()).filter(with_hand).map(|part| Hands {
                ty: t,
                part,
                grips: vec![Grip::default(); ty.slots.len()],
                ghosts: Vec::new(),
            }));
        }
    }

    /// Number of the hand that holds something, and its place among the grips.
    fn place(&self, model: &Model, carry: &Carry) -> (usize, usize) {
        let hand = self.number(model.type_of[carry.carrier as usize] as usize, carry.part as usize);
        (hand, self.hands[hand].place(model, carry.carrier as usize))
    }

    /// Number of the hands of a part.
    fn number(&self, ty: usize, part: usize) -> usize {
        self.hands.partition_point(|h| (h.ty, h.part) < (ty, part))
    }

    /// What the body in `slot`, known elsewhere as `number`, tells others; nothing when that is nothing.
    pub(crate) fn gesture(
        &self,
        model: &Model,
        state: &State,
        next: &[TypeColumns],
        (slot, number): (usize, u32),
    ) -> Option<Gesture> {
        let t = model.type_of[slot] as usize;
        let hand = |hands: &Hands| {
            let row = hands.place(model, slot);
            let width = model.types[t].parts[hands.part].layout.state.len();
            let own = |columns: &TypeColumns| {
                columns.parts[hands.part].state[row * width..(row + 1) * width].to_vec()
            };
            let (state, next) = (own(&state.types[t]), own(&next[t]));
            GestureHand { part: hands.part as u32, grip: hands.grips[row], state, next }
        };
        let hands: Vec<GestureHand> = self.hands.iter().filter(|h| h.ty == t).map(hand).collect();
        let touched =
            if model.is_movable(slot) { touching(state, slot as u32).collect() } else { Vec::new() };
        let silent = hands.is_empty() && touched.is_empty();
        (!silent).then(|| Gesture { body: number, twist: state.twist[slot], touched, hands })
    }

    /// Forgets what ghosts did.
    pub(crate) fn drop_ghosts(&mut self, model: &Model) {
        self.touched.clear();
        for hands in &mut self.hands {
            hands.grips.truncate(model.types[hands.ty].slots.len());
            hands.ghosts.clear();
        }
    }

    /// Takes note of what all ghosts do, by their gestures. A hand of which nothing fits was told stays open.
    pub(crate) fn take_note(&mut self, model: &Model, gestures: &BTreeMap<usize, &Gesture>) {
        self.ready(model);
        for slot in model.own..model.len() {
            let (t, gesture) = (model.type_of[slot] as usize, gestures.get(&slot));
            for hands in self.hands.iter_mut().filter(|h| h.ty == t) {
                let width = model.types[t].parts[hands.part].layout.state.len();
                let told = gesture.and_then(|g| g.hands.iter().find(|h| h.part as usize == hands.part));
                let told = told.filter(|h| h.state.len() == width && h.next.len() == width);
                let open =
                    GestureHand { state: vec![0.0; width], next: vec![0.0; width], ..GestureHand::default() };
                let GestureHand { grip, state, next, .. } = told.cloned().unwrap_or(open);
                hands.grips.push(grip);
                hands.ghosts.push(GhostHand { slot: slot as u32, state, next });
            }
            let touched = gesture.map(|g| g.touched.clone()).filter(|touched| !touched.is_empty());
            self.touched.extend(touched.map(|touched| (slot as u32, touched)));
        }
    }

    /// Whether something else than its carrier touched what is held in the last quantum.
    fn is_touched(&self, model: &Model, state: &State, carry: &Carry) -> bool {
        let carrier = model.uids[carry.carrier as usize];
        let elsewhere = self.touched.get(&carry.object).into_iter().flatten().copied();
        touching(state, carry.object).chain(elsewhere).any(|other| other != carrier)
    }

    fn grip(&self, model: &Model, carry: &Carry) -> Grip {
        let (hand, place) = self.place(model, carry);
        self.hands[hand].grips[place]
    }
}

/// The actuator of a part.
fn actuator(model: &Model, ty: usize, part: usize) -> Option<&dyn Actuator> {
    match &model.types[ty].parts.get(part)?.kind {
        PartKind::Actuator(actuator) => Some(actuator.as_ref()),
        PartKind::Sensor(..) => None,
    }
}

/// The hand of a part, if it has one.
pub(crate) fn hand_of(model: &Model, ty: usize, part: usize) -> Option<Hand> {
    actuator(model, ty, part)?.hand()
}

/// Bodies that move as one: a carrier and all it carries.
#[derive(Default)]
pub(crate) struct Units {
    /// (slot, number of its unit), sorted.
    of: Vec<(u32, u32)>,
    /// Slots of each unit: the carrier, then what it carries in the order of uids.
    members: Vec<Vec<u32>>,
}

impl Units {
    fn new(model: &Model, carried: &[Carry]) -> Units {
        let mut pairs: Vec<(u32, Uid, u32)> =
            carried.iter().map(|c| (c.carrier, model.uids[c.object as usize], c.object)).collect();
        pairs.sort_unstable();
        let mut units = Units::default();
        for unit in pairs.chunk_by(|a, b| a.0 == b.0) {
            let slots: Vec<u32> = std::iter::once(unit[0].0).chain(unit.iter().map(|c| c.2)).collect();
            units.of.extend(slots.iter().map(|&slot| (slot, units.members.len() as u32)));
            units.members.push(slots);
        }
        units.of.sort_unstable();
        units
    }

    /// All units.
    pub(crate) fn all(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// The unit a body belongs to; `None` for one that is alone.
    pub(crate) fn of(&self, slot: u32) -> Option<&[u32]> {
        let k = self.of.binary_search_by_key(&slot, |u| u.0).ok()?;
        Some(&self.members[self.of[k].1 as usize])
    }

    /// Whether two bodies belong to the same unit.
    #[inline]
    pub(crate) fn together(&self, a: u32, b: u32) -> bool {
        !self.of.is_empty() && self.of(a).is_some_and(|unit| unit.contains(&b))
    }
}

/// Lets hands let go and take hold, and gives what is carried its motion.
pub(crate) fn carry(model: &Model, state: &State, quantum_s: f64, scratch: &mut Scratch, pool: &Pool) {
    let Scratch { intents, next, rot, grid, .. } = scratch;
    let Intents { segments, carrying } = intents;
    if carrying.hands.is_empty() {
        return;
    }
    let mut felt: Vec<Vec<Felt>> =
        carrying.hands.iter().map(|h| vec![Felt::default(); h.grips.len()]).collect();
    let mut carried = Vec::new();
    let mut work = Workspace::default();
    for carry in &state.carried {
        let (hand, place) = carrying.place(model, carry);
        let felt = &mut felt[hand][place];
        if carrying.hands[hand].grips[place].jaws == Jaws::Open {
            if has_room(model, state, carry, &mut work) {
                let object = carry.object as usize;
                segments[object] = Segment::rest(0.0, state.pose[object], rot[object]);
                continue;
            }
            felt.jammed = true;
        }
        felt.holding = true;
        felt.touching = carrying.is_touched(model, state, carry);
        carried.push(*carry);
    }
    take_hold(model, &Reachable { model, state, rot, grid }, carrying, &mut felt, &mut carried, pool);
    for (hands, felt) in carrying.hands.iter().zip(&felt) {
        let Some(actuator) = actuator(model, hands.ty, hands.part) else { continue };
        let readings = &mut next[hands.ty].parts[hands.part].readings;
        let width = model.types[hands.ty].parts[hands.part].layout.reading_width();
        for (felt, row) in felt.iter().zip(readings.chunks_mut(width.max(1))) {
            actuator.feel(felt, row);
        }
    }
    carried.sort_unstable_by_key(|c| c.object);
    carrying.units = Units::new(model, &carried);
    carrying.carried = carried;
    move_along(model, state, quantum_s, rot, carrying, segments);
}

/// What touched a body in the last quantum.
fn touching(state: &State, slot: u32) -> impl Iterator<Item = Uid> + '_ {
    let first = state.touches.partition_point(|t| t.slot < slot);
    state.touches[first..].iter().take_while(move |t| t.slot == slot).map(|t| t.other)
}

/// Whether what is held stands clear of its carrier and of what else that carries. An arm may hold it
/// over them, but not let it go there.
fn has_room(model: &Model, state: &State, carry: &Carry, work: &mut Workspace) -> bool {
    let others = state.carried.iter().filter(|c| c.carrier == carry.carrier && c.object != carry.object);
    let mut near = others.map(|c| c.object).chain([carry.carrier]);
    near.all(|other| {
        let (a, b) = (carry.object as usize, other as usize);
        !overlap(model.heights_of(a), model.heights_of(b))
            || gap_of(model, state.detail, &state.pose, (a, b), work) >= -ROUNDING_M
    })
}

/// What hands can reach: the committed world.
struct Reachable<'a> {
    model: &'a Model,
    state: &'a State,
    rot: &'a [Rot2],
    grid: &'a BodyGrid,
}

impl Reachable<'_> {
    /// The nearest thing between the jaws of an empty hand, and its distance; of two at the same
    /// distance that with the lower uid.
    fn nearest(&self, hand: &Hand, jaws: Pose2) -> Option<(f64, u32)> {
        let Reachable { model, state, .. } = self;
        let far = hand.reach + self.grid.max_reach();
        let span = Vec2::new(far, far);
        let mut best: Option<(f64, u32)> = None;
        self.grid.for_each_in(jaws.at - span, jaws.at + span, |entry| {
            let slot = entry.slot as usize;
            if !model.is_movable(slot)
                || 1.0 / model.body(slot).inverse_mass > hand.max_mass * (1.0 + 1e-12)
                || state.carried.binary_search_by_key(&entry.slot, |c| c.object).is_ok()
            {
                return;
            }
            let found = hand.distance(jaws, model.outline(slot), entry.at, self.rot[slot]);
            let Some(distance) = found else { return };
            let before = |b: (f64, u32)| {
                distance < b.0 || (distance == b.0 && model.uids[slot] < model.uids[b.1 as usize])
            };
            if best.is_none_or(before) {
                best = Some((distance, entry.slot));
            }
        });
        best
    }

    /// The same for some of one part's hands; nothing for those that are full or shut.
    fn nearest_of(&self, hands: &Hands, felt: &[Felt], first: usize) -> Vec<Option<(f64, u32)>> {
        let Some(hand) = hand_of(self.model, hands.ty, hands.part) else { return Vec::new() };
        let places = first..(first + CHUNK).min(hands.grips.len());
        let look = |place: usize| {
            if felt[place].holding || hands.grips[place].jaws == Jaws::Shut {
                return None;
            }
            let carrier = self.state.pose[hands.carrier(self.model, place)];
            self.nearest(&hand, carrier.then(hands.grips[place].from))
        };
        places.map(look).collect()
    }
}

/// Gives everything between closing jaws to the nearest hand; of two as near to that of the lower uid.
/// Who comes away empty has closed on nothing.
fn take_hold(
    model: &Model,
    world: &Reachable<'_>,
    carrying: &Carrying,
    felt: &mut [Vec<Felt>],
    carried: &mut Vec<Carry>,
    pool: &Pool,
) {
    /// What a hand reaches for: (object's uid, distance, carrier's uid, hand), place, object.
    type Wish = ((Uid, u64, Uid, usize), usize, u32);
    let mut wishes: Vec<Wish> = Vec::new();
    for (h, hands) in carrying.hands.iter().enumerate() {
        let chunks: Vec<usize> = (0..hands.grips.len()).step_by(CHUNK).collect();
        let found = pool.map(chunks, |first| world.nearest_of(hands, &felt[h], first));
        for (place, found) in found.into_iter().flatten().enumerate() {
            let Some((distance, object)) = found else { continue };
            let jaws = hands.grips[place].jaws;
            felt[h][place].beam = jaws != Jaws::Closing;
            if jaws != Jaws::Open {
                let carrier = model.uids[hands.carrier(model, place)];
                // Distances are not negative, so their bits are in their order.
                wishes.push(((model.uids[object as usize], distance.to_bits(), carrier, h), place, object));
            }
        }
    }
    wishes.sort_unstable();
    wishes.dedup_by_key(|w| w.2);
    for ((_, _, _, h), place, object) in wishes {
        let hands = &carrying.hands[h];
        let carrier = hands.carrier(model, place);
        let jaws = world.state.pose[carrier].then(hands.grips[place].from);
        let offset = seen_from(jaws, world.state.pose[object as usize]);
        let carry = Carry { object, carrier: carrier as u32, part: hands.part as u32, offset };
        let touching = carrying.is_touched(model, world.state, &carry);
        felt[h][place] = Felt { holding: true, touching, ..Felt::default() };
        carried.push(carry);
    }
}

/// A pose as seen from another.
fn seen_from(frame: Pose2, pose: Pose2) -> Pose2 {
    let heading = math::wrap_angle(pose.heading - frame.heading);
    Pose2 { at: frame.rot().unapply(pose.at - frame.at), heading }
}

/// Gives everything that is carried its motion. On a hand that stays on its body it is the carrier's
/// own, seen from another point; on one that moves it is straight, from where it is to where it ends.
fn move_along(
    model: &Model,
    state: &State,
    quantum_s: f64,
    rot: &[Rot2],
    carrying: &Carrying,
    segments: &mut [Segment],
) {
    for unit in carrying.units.all() {
        let carrier = unit[0] as usize;
        if model.types[model.type_of[carrier] as usize].mover.is_none() {
            segments[carrier] = coast_as_one(model, state, quantum_s, rot, unit);
        }
    }
    for carry in &carrying.carried {
        let (object, grip) = (carry.object as usize, carrying.grip(model, carry));
        let carrier = segments[carry.carrier as usize];
        let (pose, rot) = (state.pose[object], rot[object]);
        segments[object] = if grip.from == grip.to {
            carrier.carried(pose, rot, grip.from.then(carry.offset))
        } else {
            let end = carrier.pose_at(quantum_s).then(grip.to).then(carry.offset);
            let spin = carrier.spin + (grip.to.heading - grip.from.heading) / quantum_s;
            Segment::glide(0.0, pose, rot, (end.at - pose.at) * (1.0 / quantum_s), spin)
        };
    }
}

/// A carrier without a drive coasts, with all it carries, about the centre of mass of the unit.
fn coast_as_one(model: &Model, state: &State, quantum_s: f64, rot: &[Rot2], unit: &[u32]) -> Segment {
    let carrier = unit[0] as usize;
    let (pose, rot, twist) = (state.pose[carrier], rot[carrier], state.twist[carrier]);
    let (mut mass, mut moment) = (0.0, Vec2::ZERO);
    for &slot in unit {
        let own = 1.0 / model.body(slot as usize).inverse_mass;
        mass += own;
        moment = moment + (state.pose[slot as usize].at - pose.at) * own;
    }
    let centre = rot.unapply(moment * (1.0 / mass));
    let v = twist.linear() + centre.perp() * twist.spin;
    let slower = crate::act::slowed(model, quantum_s, carrier, Twist2::new(v.x, v.y, twist.spin));
    Segment::glide(0.0, pose, rot, rot.apply(slower.linear()), slower.spin).glide_about(centre)
}

/// Sets back hands that were stopped on the way, because their unit met something: `cuts` has the
/// carriers and when.
///
/// The load went straight where the hand would have gone round, so it sits a little differently in the
/// hand now: the offset is taken anew from where both are.
pub(crate) fn cut_short(
    model: &Model,
    state: &State,
    quantum_s: f64,
    cuts: &[(u32, f64)],
    scratch: &mut Scratch,
) {
    let Scratch { intents: Intents { segments, carrying }, next, .. } = scratch;
    for k in 0..carrying.carried.len() {
        let carry = carrying.carried[k];
        let cut = cuts.binary_search_by_key(&carry.carrier, |c| c.0);
        let (h, place) = carrying.place(model, &carry);
        let hands = &mut carrying.hands[h];
        let grip = &mut hands.grips[place];
        let (Ok(cut), true) = (cut, grip.from != grip.to) else { continue };
        let (Some(actuator), part) = (actuator(model, hands.ty, hands.part), hands.part) else { continue };
        let ty = &model.types[hands.ty];
        let (w_state, w_read) = (ty.parts[part].layout.state.len(), ty.parts[part].layout.reading_width());
        let share = cuts[cut].1 / quantum_s;
        grip.to = if let Some(ghost) = place.checked_sub(ty.slots.len()) {
            let GhostHand { state, next, .. } = &mut hands.ghosts[ghost];
            actuator.cut(share, state, next, &mut vec![0.0; w_read])
        } else {
            let columns = &mut next[hands.ty].parts[part];
            let (own, readings) =
                (place * w_state..(place + 1) * w_state, place * w_read..(place + 1) * w_read);
            actuator.cut(
                share,
                &state.types[hands.ty].parts[part].state[own.clone()],
                &mut columns.state[own],
                &mut columns.readings[readings],
            )
        };
        let hand = segments[carry.carrier as usize].pose_at(quantum_s).then(grip.to);
        carrying.carried[k].offset = seen_from(hand, segments[carry.object as usize].pose_at(quantum_s));
    }
}

/// Puts everything that is carried exactly where its hand is, so that nothing drifts.
pub(crate) fn pin(model: &Model, state: &mut State, scratch: &mut Scratch) {
    let carrying = &scratch.intents.carrying;
    for carry in &carrying.carried {
        let hand = carrying.grip(model, carry).to;
        let mut pose = state.pose[carry.carrier as usize].then(hand).then(carry.offset);
        pose.heading = math::wrap_angle(pose.heading);
        state.pose[carry.object as usize] = pose;
        scratch.rot[carry.object as usize] = pose.rot();
    }
    state.carried.clone_from(&carrying.carried);
}
