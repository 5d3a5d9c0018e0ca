//! Contact groups: connected sets of bodies that may touch in this stretch, played out one event at
//! a time.
//!
//! Events inside a group are taken in the order (time, lower uid, higher uid), and the contact time
//! of a pair is a function of the pair's own segments. So any superset of a group gives the same
//! bits; grouping is a matter of cost only. When a disturbed body leaves its envelope and meets
//! somebody outside, the groups merge and are played again from the start, to a fixed point.

use crate::area::Area;
use crate::meter::{Watch, each_timed};
use crate::model::{BodyModel, ContactRule, Model};
use crate::parallel::Pool;
use crate::resolve::{Field, Unsure, add, contact_of, edges_near, overlap, travel};
use crate::unit::Whole;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use swarmyard_base::{Pose2, Rot2, Twist2, Uid, Vec2, math};
use swarmyard_motion::{Contact, Impact, Material, Mover, SKIN_M, Side, Workspace, gap_at};
use swarmyard_part_api::{AtEdge, BodyKind, Detail, Mirror, Segment, Touch};

/// How contact groups are formed. No result depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// The smallest groups: cheapest.
    #[default]
    Smallest,
    /// Groups are merged at random (by this number): for tests.
    Merged(u64),
    /// Everything that has a candidate pair is one group: for tests.
    One,
}

/// A contact of two things.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactEvent {
    /// Seconds after the beginning of the stretch.
    pub time_s: f64,
    /// The lower uid of two bodies; the body, when the other is fixed.
    pub a: Uid,
    /// The other one: a body, a wall or a fixed obstacle.
    pub b: Uid,
    /// Kind of `b`.
    pub kind: BodyKind,
    /// Where, in the world's frame.
    pub point: Vec2,
    /// Impulse along the normal, N s.
    pub impulse: f64,
    /// Closing speed, m/s.
    pub closing: f64,
}

impl ContactEvent {
    pub(crate) fn order(&self) -> (u64, Uid, Uid) {
        (self.time_s.to_bits(), self.a, self.b)
    }
}

/// The other half of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PairOther {
    /// A body, by slot.
    Body(u32),
    /// A fixed edge, by number.
    Edge(u32),
}

/// Two things that may touch; of two bodies the one with the lower uid comes first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    a: u32,
    b: PairOther,
    contact: Option<Contact>,
}

impl Pair {
    /// Two bodies in either order.
    pub(crate) fn of_bodies(field: &Field<'_>, a: u32, b: u32, work: &mut Workspace) -> Pair {
        let uids = &field.model.uids;
        let (a, b) = if uids[a as usize] < uids[b as usize] { (a, b) } else { (b, a) };
        Pair::new(field, a, PairOther::Body(b), work)
    }

    /// A pair on the intents.
    pub(crate) fn new(field: &Field<'_>, a: u32, b: PairOther, work: &mut Workspace) -> Pair {
        let own = &field.segments[a as usize];
        let still = still();
        let other = match b {
            PairOther::Body(b) => &field.segments[b as usize],
            PairOther::Edge(_) => &still,
        };
        Pair { a, b, contact: pair_contact(field, a, own, b, other, work) }
    }
}

fn still() -> Segment {
    Segment::rest(0.0, Pose2::default(), Rot2::IDENTITY)
}

fn pair_contact(
    field: &Field<'_>,
    a: u32,
    own: &Segment,
    b: PairOther,
    other: &Segment,
    work: &mut Workspace,
) -> Option<Contact> {
    let outline = match b {
        PairOther::Body(b) => field.outline(b),
        PairOther::Edge(e) => &field.model.fixed_outlines[e as usize],
    };
    contact_of(field, (field.outline(a), own), (outline, other), work)
}

/// One body while its group is played out.
pub(crate) struct Track {
    pub(crate) slot: u32,
    /// What it does now.
    pub(crate) segment: Segment,
    /// What it did before that.
    pub(crate) moved: Twist2,
    /// Whether it does anything else than intended.
    pub(crate) disturbed: bool,
    /// When that began, for one of several bodies that move as one.
    pub(crate) first_turn_s: Option<f64>,
    /// What its bounces did to its velocity, for a mover that keeps it.
    pub(crate) mirror: Option<Mirror>,
    pub(crate) envelope: Area,
    impacts: u32,
    /// It exceeded the impact limit and stands for the rest of the stretch.
    fallen: bool,
}

/// A group after it was played out.
#[derive(Default)]
pub(crate) struct Group {
    pub(crate) tracks: Vec<Track>,
    pub(crate) touches: Vec<Touch>,
    pub(crate) contacts: Vec<ContactEvent>,
    pub(crate) limits: Vec<Uid>,
    /// What playing it took, when that is measured. What was played in vain is nobody's.
    pub(crate) took_ns: u64,
}

/// Groups that are timed together: the dear clock is read once for all of them.
const TIMED: usize = 16;

/// Plays out every group that has a contact in it, to a fixed point.
///
/// # Errors
/// When somebody beyond the horizon may have a say in it.
pub(crate) fn play_groups(
    field: &Field<'_>,
    pairs: Vec<Pair>,
    grouping: Grouping,
    pool: &Pool,
) -> Result<Vec<Group>, Unsure> {
    if pairs.iter().all(|p| p.contact.is_none()) {
        return if is_sure(field, &[]) { Ok(Vec::new()) } else { Err(Unsure) };
    }
    let mut sets = Sets::default();
    for pair in &pairs {
        sets.touch(pair.a);
        if let PairOther::Body(b) = pair.b {
            sets.join(pair.a, b);
        }
    }
    for unit in field.units.all() {
        unit[1..].iter().for_each(|&slot| sets.join(unit[0], slot));
    }
    enlarge(&mut sets, &pairs, grouping);
    loop {
        let work = sets.active_groups(&pairs);
        let played = match field.watch {
            None => pool.map(work, |group| play(field, group)),
            Some(watch) => play_timed(field, work, watch, pool),
        };
        let mut merges: Vec<(u32, u32)> = Vec::new();
        let mut groups = Vec::new();
        for result in played {
            match result {
                Ok(group) => groups.push(group),
                Err(met) => merges.extend(met),
            }
        }
        merges.extend(strays_that_meet(field, &groups));
        if merges.is_empty() {
            return if is_sure(field, &groups) { Ok(groups) } else { Err(Unsure) };
        }
        for (a, b) in merges {
            sets.join(a, b);
        }
    }
}

type Played = Result<Group, Vec<(u32, u32)>>;

/// Plays out a group of these slots and pairs. Fails with the merges needed when a body meets somebody outside.
fn play(field: &Field<'_>, (slots, pairs): (Vec<u32>, Vec<Pair>)) -> Played {
    Play::new(field, slots, &pairs).run()
}

/// The same for many, with what each took.
fn play_timed(
    field: &Field<'_>,
    work: Vec<(Vec<u32>, Vec<Pair>)>,
    watch: &dyn Watch,
    pool: &Pool,
) -> Vec<Played> {
    let mut work = work.into_iter().peekable();
    let mut batches: Vec<Vec<_>> = Vec::new();
    while work.peek().is_some() {
        batches.push(work.by_ref().take(TIMED).collect());
    }
    let played = pool.map(batches, |batch| {
        let mut played: Vec<Played> = Vec::with_capacity(batch.len());
        let took = each_timed(Some(watch), batch.into_iter(), |group| played.push(play(field, group)));
        for (played, ns) in played.iter_mut().zip(took) {
            if let Ok(group) = played {
                group.took_ns = ns;
            }
        }
        played
    });
    played.into_iter().flatten().collect()
}

/// Whether nobody beyond the horizon can have a say in what must come out right.
///
/// Whoever comes near the horizon may meet somebody unknown there, and then do something else than was
/// played; so may everybody whom that one may meet, and so on. Under the rule `stop` bodies at least stay
/// on their way; else one that is hit may go anywhere within a leap.
fn is_sure(field: &Field<'_>, groups: &[Group]) -> bool {
    let Some(horizon) = field.horizon else { return true };
    let mut envelopes = field.envelopes.to_vec();
    for track in groups.iter().flat_map(|g| &g.tracks) {
        envelopes[track.slot as usize] = track.envelope;
    }
    let leaps = !matches!(field.model.run.contact, ContactRule::Stop | ContactRule::Ghost);
    let mut open: Vec<bool> = envelopes.iter().map(|e| !horizon.sure.holds(e)).collect();
    let mut next: Vec<u32> = (0..open.len() as u32).filter(|&k| open[k as usize]).collect();
    let far = Vec2::new(math::max(field.max_span, horizon.leap), math::max(field.max_span, horizon.leap));
    while let Some(slot) = next.pop() {
        let at = field.segments[slot as usize].pose.at;
        let own = envelopes[slot as usize];
        let range = if leaps { own.join(&Area { min: at, max: at }.grown(horizon.leap)) } else { own };
        field.grid.for_each_in(range.min - far, range.max + far, |entry| {
            let other = entry.slot as usize;
            if !open[other] && range.meets(&envelopes[other]) {
                open[other] = true;
                next.push(entry.slot);
            }
        });
    }
    let must = |slot: usize| slot < field.model.own || horizon.needed.contains(field.segments[slot].pose.at);
    !(0..open.len()).any(|slot| open[slot] && must(slot))
}

/// Merges groups beyond need, for tests that no result depends on it.
fn enlarge(sets: &mut Sets, pairs: &[Pair], grouping: Grouping) {
    for (k, two) in pairs.windows(2).enumerate() {
        let merge = match grouping {
            Grouping::Smallest => false,
            Grouping::Merged(seed) => swarmyard_base::hash::mix64(seed ^ k as u64) & 3 == 0,
            Grouping::One => true,
        };
        if merge {
            sets.join(two[0].a, two[1].a);
        }
    }
}

/// Bodies of different groups that left their envelopes and may have met out there.
fn strays_that_meet(field: &Field<'_>, groups: &[Group]) -> Vec<(u32, u32)> {
    let mut strays: Vec<(usize, u32, Area)> = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        let left = |t: &&Track| !field.envelopes[t.slot as usize].holds(&t.envelope);
        strays.extend(group.tracks.iter().filter(left).map(|t| (g, t.slot, t.envelope)));
    }
    strays.sort_by(|a, b| a.2.min.x.total_cmp(&b.2.min.x));
    let mut met = Vec::new();
    for (k, a) in strays.iter().enumerate() {
        for b in strays[k + 1..].iter().take_while(|b| b.2.min.x <= a.2.max.x) {
            if a.0 != b.0 && a.2.meets(&b.2) {
                met.push((a.1, b.1));
            }
        }
    }
    met
}

/// Disjoint sets of slots: only slots that occur in a pair, or were merged in, are members.
#[derive(Default)]
struct Sets {
    parent: BTreeMap<u32, u32>,
}

impl Sets {
    fn touch(&mut self, slot: u32) {
        self.parent.entry(slot).or_insert(slot);
    }

    fn root(&mut self, slot: u32) -> u32 {
        self.touch(slot);
        let mut at = slot;
        while self.parent[&at] != at {
            at = self.parent[&at];
        }
        self.parent.insert(slot, at);
        at
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent.insert(a.max(b), a.min(b));
    }

    /// Members and pairs of every set that has a contact in it.
    fn active_groups(&mut self, pairs: &[Pair]) -> Vec<(Vec<u32>, Vec<Pair>)> {
        let active: BTreeSet<u32> =
            pairs.iter().filter(|p| p.contact.is_some()).map(|p| self.root(p.a)).collect();
        let mut groups: BTreeMap<u32, (Vec<u32>, Vec<Pair>)> = BTreeMap::new();
        for pair in pairs {
            let root = self.root(pair.a);
            if active.contains(&root) {
                groups.entry(root).or_default().1.push(*pair);
            }
        }
        let slots: Vec<u32> = self.parent.keys().copied().collect();
        for slot in slots {
            let root = self.root(slot);
            if active.contains(&root) {
                groups.entry(root).or_default().0.push(slot);
            }
        }
        groups.into_values().collect()
    }
}

/// A pair inside a group; `a` and `Body` are numbers of tracks here.
struct Meeting {
    a: usize,
    b: Opponent,
    contact: Option<Contact>,
    version: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opponent {
    Body(usize),
    Edge(u32),
}

/// (time, lower uid, higher uid), meeting, version.
type Due = Reverse<((u64, Uid, Uid), usize, u32)>;

/// A group while it is played out.
struct Play<'a> {
    field: &'a Field<'a>,
    /// Sorted by slot.
    tracks: Vec<Track>,
    meetings: Vec<Meeting>,
    /// Meetings of each track.
    of_track: Vec<Vec<usize>>,
    /// Tracks that move as one with a track, itself included, the carrier first; nothing for those
    /// that are alone.
    units: BTreeMap<usize, Vec<usize>>,
    due: BinaryHeap<Due>,
    work: Workspace,
    group: Group,
}

impl<'a> Play<'a> {
    fn new(field: &'a Field<'a>, slots: Vec<u32>, pairs: &[Pair]) -> Play<'a> {
        let tracks: Vec<Track> = slots
            .iter()
            .map(|&slot| Track {
                slot,
                segment: field.segments[slot as usize],
                moved: Twist2::REST,
                disturbed: false,
                first_turn_s: None,
                mirror: None,
                envelope: field.envelopes[slot as usize],
                impacts: 0,
                fallen: false,
            })
            .collect();
        let of_track = vec![Vec::new(); tracks.len()];
        let mut play = Play {
            field,
            tracks,
            meetings: Vec::new(),
            of_track,
            units: BTreeMap::new(),
            due: BinaryHeap::new(),
            work: Workspace::default(),
            group: Group::default(),
        };
        for (k, &slot) in slots.iter().enumerate() {
            let unit = field.units.of(slot).map(|unit| unit.iter().filter_map(|&s| play.number(s)).collect());
            play.units.extend(unit.map(|unit| (k, unit)));
        }
        for pair in pairs {
            if let Some(a) = play.number(pair.a) {
                let b = match pair.b {
                    PairOther::Body(b) => play.number(b).map(Opponent::Body),
                    PairOther::Edge(e) => Some(Opponent::Edge(e)),
                };
                if let Some(b) = b {
                    play.add(a, b, pair.contact);
                }
            }
        }
        play
    }

    fn number(&self, slot: u32) -> Option<usize> {
        self.tracks.binary_search_by_key(&slot, |t| t.slot).ok()
    }

    fn uid(&self, track: usize) -> Uid {
        self.field.model.uids[self.tracks[track].slot as usize]
    }

    fn add(&mut self, a: usize, b: Opponent, contact: Option<Contact>) {
        let number = self.meetings.len();
        self.meetings.push(Meeting { a, b, contact, version: 0 });
        self.of_track[a].push(number);
        if let Opponent::Body(b) = b {
            self.of_track[b].push(number);
        }
        self.schedule(number);
    }

    fn schedule(&mut self, number: usize) {
        let meeting = &self.meetings[number];
        let Some(contact) = meeting.contact else { return };
        let other = match meeting.b {
            Opponent::Body(b) => self.uid(b),
            Opponent::Edge(e) => self.field.model.fixed.edges()[e as usize].uid,
        };
        self.due.push(Reverse((
            (contact.time_s.to_bits(), self.uid(meeting.a), other),
            number,
            meeting.version,
        )));
    }

    /// Plays all events. Fails with the merges needed when a body meets somebody outside.
    fn run(mut self) -> Result<Group, Vec<(u32, u32)>> {
        while let Some(Reverse((_, number, version))) = self.due.pop() {
            let meeting = &self.meetings[number];
            let Some(contact) = meeting.contact.filter(|_| meeting.version == version) else { continue };
            let (a, b) = (meeting.a, meeting.b);
            for changed in self.respond(a, b, &contact).into_iter().flatten() {
                match self.units.get(&changed).cloned() {
                    None => self.follow(changed)?,
                    Some(unit) => unit.into_iter().try_for_each(|track| self.follow(track))?,
                }
            }
        }
        self.group.tracks = self.tracks;
        Ok(self.group)
    }

    /// Lets both react to the contact. Answers the tracks that now move differently.
    fn respond(&mut self, a: usize, b: Opponent, contact: &Contact) -> [Option<usize>; 2] {
        let model = self.field.model;
        let bodies = [Some(a), if let Opponent::Body(b) = b { Some(b) } else { None }];
        for track in bodies.into_iter().flatten() {
            let track = self.lead(track);
            self.tracks[track].impacts += 1;
            if self.tracks[track].impacts > model.run.impact_limit && !self.tracks[track].fallen {
                self.tracks[track].fallen = true;
                let uid = self.uid(track);
                self.group.limits.push(uid);
            }
        }
        let (side_a, stop_a) = self.side(a, contact);
        let (side_b, stop_b, surface_b) = match b {
            Opponent::Body(b) => {
                let (side, stop) = self.side(b, contact);
                (side, stop, self.body(b).surface)
            }
            Opponent::Edge(e) => (immovable(Vec2::ZERO, 0.0), false, model.fixed.edges()[e as usize].surface),
        };
        let mut impact = Impact { a: side_a, b: side_b, normal: contact.normal };
        let closing = impact.closing();
        // A body that stops is a wall to the one that does not.
        if stop_a {
            impact.a = immovable(impact.a.point_velocity(), 0.0);
        }
        if stop_b {
            impact.b = immovable(impact.b.point_velocity(), 0.0);
        }
        let own_way = [
            self.own_way(a, b, contact.normal, &side_a),
            if let Opponent::Body(b) = b {
                self.own_way(b, Opponent::Body(a), -contact.normal, &side_b)
            } else {
                None
            },
        ];
        if own_way.iter().any(Option::is_some) {
            self.report(a, b, contact, 0.0, closing);
            return [0, 1].map(|k| self.bounce(bodies[k]?, contact.time_s, own_way[k]?));
        }
        let fixed_b = matches!(b, Opponent::Edge(_));
        let bounces = !(stop_a && (stop_b || fixed_b));
        let mut material =
            mixed(model.surfaces[self.body(a).surface as usize], model.surfaces[surface_b as usize]);
        if closing < model.run.rest_speed {
            material.restitution = 0.0;
        }
        let impulse = impact.impulse(material, recovery(contact.gap, closing));
        let (after_a, after_b) = impact.apply(impulse);
        let strength = if bounces { impulse.normal } else { 0.0 };
        self.report(a, b, contact, strength, closing);
        // Where bodies stood in touch before, only who moves into the contact stops: who is leaving
        // may go, or one that pushes would hold the other for ever.
        let away_a = self.point_velocity(a, contact).dot(contact.normal) >= 0.0;
        let away_b = match b {
            Opponent::Body(b) => self.point_velocity(b, contact).dot(contact.normal) <= 0.0,
            Opponent::Edge(_) => true,
        };
        let may_go = |away: bool, stops: bool| stops && away && contact.time_s == 0.0;
        let first = if may_go(away_a, stop_a && !self.tracks[self.lead(a)].fallen) {
            None
        } else {
            self.turn(a, contact.time_s, (!stop_a).then_some(&after_a))
        };
        let second = match b {
            Opponent::Body(b) if !may_go(away_b, stop_b && !self.tracks[self.lead(b)].fallen) => {
                self.turn(b, contact.time_s, (!stop_b).then_some(&after_b))
            }
            _ => None,
        };
        [first, second]
    }

    fn body(&self, track: usize) -> &'a BodyModel {
        self.field.model.body(self.tracks[track].slot as usize)
    }

    /// The track that answers for the unit of a track: its carrier, or itself.
    fn lead(&self, track: usize) -> usize {
        self.units.get(&track).map_or(track, |unit| unit[0])
    }

    /// The unit of a track put together; `None` for a body that is alone.
    fn whole(&self, track: usize, time_s: f64) -> Option<Whole> {
        let unit = self.units.get(&track)?;
        let parts: Vec<_> = unit.iter().map(|&k| (self.body(k), self.tracks[k].segment)).collect();
        Some(Whole::of(&parts, time_s))
    }

    /// A body alone at a contact.
    fn alone(&self, track: usize, contact: &Contact) -> Side {
        let body = self.body(track);
        let segment = &self.tracks[track].segment;
        Side {
            velocity: segment.velocity_with(segment.rot_at(contact.time_s)),
            spin: segment.spin,
            arm: contact.point - segment.position_at(contact.time_s),
            inverse_mass: body.inverse_mass,
            inverse_inertia: body.inverse_inertia,
        }
    }

    /// Velocity of the point of contact as the body itself has it: an arm moves its load otherwise
    /// than the whole moves.
    fn point_velocity(&self, track: usize, contact: &Contact) -> Vec2 {
        self.alone(track, contact).point_velocity()
    }

    /// A body at a contact, with all that moves with it, and whether the contact ends its motion.
    fn side(&self, track: usize, contact: &Contact) -> (Side, bool) {
        let whole = self.whole(track, contact.time_s);
        let side = whole.map_or_else(|| self.alone(track, contact), |whole| whole.side(contact.point));
        let track = self.lead(track);
        let (body, track) = (self.body(track), &self.tracks[track]);
        let stops = match self.field.model.run.contact {
            ContactRule::Stop => true,
            ContactRule::Impulse | ContactRule::Ghost => false,
            ContactRule::Own => body.own_stop,
        };
        (side, stops || track.fallen)
    }

    /// What a body does at something fixed by its own will, whatever the contact rule; `None` when the rule
    /// decides. `away` points from the other one to it.
    fn own_way(&self, track: usize, other: Opponent, away: Vec2, side: &Side) -> Option<(Mirror, Side)> {
        let model = self.field.model;
        let type_of = |track: usize| model.type_at(self.tracks[track].slot as usize);
        let fixed = match other {
            Opponent::Edge(_) => true,
            Opponent::Body(b) => self.body(b).inverse_mass == 0.0 && type_of(b).mover.is_none(),
        };
        let at_edge = type_of(track).at_edge();
        if !fixed || self.tracks[track].fallen || !at_edge.keeps_mirror() {
            return None;
        }
        if at_edge == AtEdge::Stop {
            return Some((Mirror::STOPPED, Side { velocity: Vec2::ZERO, spin: 0.0, ..*side }));
        }
        let mut mirror = Mirror::NONE;
        let mut after = *side;
        if side.velocity.dot(away) < 0.0 {
            mirror = Mirror::facing(away);
            after.velocity = mirror.apply(side.velocity);
        }
        // A corner that comes in by turning alone is thrown back by turning the other way.
        if after.point_velocity().dot(away) < 0.0 {
            mirror = mirror.turning_back();
            after.spin = -after.spin;
        }
        Some((mirror, after))
    }

    /// Lets a track go its own way from `time_s` on.
    fn bounce(&mut self, number: usize, time_s: f64, (mirror, after): (Mirror, Side)) -> Option<usize> {
        if mirror == Mirror::NONE {
            return None;
        }
        let before = self.tracks[number].mirror.unwrap_or(Mirror::NONE);
        self.tracks[number].mirror = Some(before.then(&mirror));
        self.turn(number, time_s, (mirror != Mirror::STOPPED).then_some(&after))
    }

    /// Gives a track, and all that moves with it, its new motion from `time_s` on: rest, or what the
    /// impulse left it with.
    fn turn(&mut self, number: usize, time_s: f64, after: Option<&Side>) -> Option<usize> {
        let Some(whole) = self.whole(number, time_s) else { return self.turn_alone(number, time_s, after) };
        let unit = self.units.get(&number).cloned().unwrap_or_default();
        if after.is_none() && unit.iter().all(|&k| self.tracks[k].segment.is_rest()) {
            return None;
        }
        for &k in &unit {
            self.turn_alone(k, time_s, after);
            let track = &mut self.tracks[k];
            let centre = track.segment.rot.unapply(whole.centre - track.segment.pose.at);
            track.segment = track.segment.glide_about(centre);
            track.first_turn_s = track.first_turn_s.or(Some(time_s));
            // Who stood still while an arm moved its load: it stays, and all share what happened.
            track.disturbed = true;
        }
        Some(number)
    }

    fn turn_alone(&mut self, number: usize, time_s: f64, after: Option<&Side>) -> Option<usize> {
        let track = &mut self.tracks[number];
        let old = track.segment;
        if after.is_none() && old.is_rest() {
            return None;
        }
        let mut pose = old.pose_at(time_s);
        let rot = old.rot_at(time_s);
        pose.heading = swarmyard_base::math::wrap_angle(pose.heading);
        track.moved = add(track.moved, travel(&old, time_s));
        track.disturbed = true;
        track.segment = match after {
            None => Segment::rest(time_s, pose, rot),
            Some(side) => Segment::glide(time_s, pose, rot, side.velocity, side.spin),
        };
        Some(number)
    }

    /// Recomputes the meetings of a track that moves differently now.
    fn follow(&mut self, number: usize) -> Result<(), Vec<(u32, u32)>> {
        let field = self.field;
        for k in 0..self.of_track[number].len() {
            let m = self.of_track[number][k];
            let (a, b) = (self.meetings[m].a, self.meetings[m].b);
            self.meetings[m].contact = self.contact(a, b);
            self.meetings[m].version += 1;
            self.schedule(m);
        }
        let slot = self.tracks[number].slot;
        let segment = self.tracks[number].segment;
        let reach = field.outline(slot).reach();
        let swept = Area::of(&segment, reach, segment.position_at(field.until_s), field.until_s);
        if self.tracks[number].envelope.holds(&swept) {
            return Ok(());
        }
        // The whole joined box is asked, not only what is new of it: a later deflection may stay
        // inside the box and still go where no earlier leg went.
        let joined = self.tracks[number].envelope.join(&swept);
        self.tracks[number].envelope = joined;
        self.meet_new(number, &joined)
    }

    /// Finds whom a track may meet outside of its former envelope.
    fn meet_new(&mut self, number: usize, swept: &Area) -> Result<(), Vec<(u32, u32)>> {
        let field = self.field;
        let slot = self.tracks[number].slot;
        let far = Vec2::new(field.max_span, field.max_span);
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        field.grid.for_each_in(swept.min - far, swept.max + far, |entry| {
            let heights = |slot: u32| field.model.heights_of(slot as usize);
            if entry.slot == slot
                || !overlap(heights(slot), heights(entry.slot))
                || field.units.together(slot, entry.slot)
            {
                return;
            }
            match self.number(entry.slot) {
                Some(other) => inside.push(other),
                None if swept.meets(&field.envelopes[entry.slot as usize]) => {
                    outside.push((slot, entry.slot))
                }
                None => {}
            }
        });
        // Members may have wandered off from where the grid has them: ask those as well.
        let lead = self.lead(number);
        inside.extend((0..self.tracks.len()).filter(|&k| self.lead(k) != lead && self.tracks[k].disturbed));
        inside.sort_unstable();
        inside.dedup();
        if !outside.is_empty() {
            return Err(outside);
        }
        for other in inside {
            if swept.meets(&self.tracks[other].envelope) {
                let (a, b) =
                    if self.uid(number) < self.uid(other) { (number, other) } else { (other, number) };
                self.meet(a, Opponent::Body(b));
            }
        }
        let mut edges = Vec::new();
        edges_near(field, slot as usize, swept, &mut edges);
        for e in edges {
            self.meet(number, Opponent::Edge(e));
        }
        Ok(())
    }

    /// Adds a meeting unless it exists.
    fn meet(&mut self, a: usize, b: Opponent) {
        if !self.of_track[a].iter().any(|&m| self.meetings[m].a == a && self.meetings[m].b == b) {
            let contact = self.contact(a, b);
            self.add(a, b, contact);
        }
    }

    fn contact(&mut self, a: usize, b: Opponent) -> Option<Contact> {
        let still = still();
        let (other, segment) = match b {
            Opponent::Body(b) => (PairOther::Body(self.tracks[b].slot), self.tracks[b].segment),
            Opponent::Edge(e) => (PairOther::Edge(e), still),
        };
        pair_contact(
            self.field,
            self.tracks[a].slot,
            &self.tracks[a].segment,
            other,
            &segment,
            &mut self.work,
        )
    }

    /// Notes the contact for both sides and for the log.
    fn report(&mut self, a: usize, b: Opponent, contact: &Contact, impulse: f64, closing: f64) {
        let model = self.field.model;
        let (other, kind) = match b {
            Opponent::Body(b) => (self.uid(b), model.kinds[self.tracks[b].slot as usize]),
            Opponent::Edge(e) => {
                let edge = &model.fixed.edges()[e as usize];
                (edge.owner, edge.kind)
            }
        };
        let uid = self.uid(a);
        self.feel(a, other, kind, contact, impulse);
        if let Opponent::Body(b) = b {
            self.feel(b, uid, model.kinds[self.tracks[a].slot as usize], contact, impulse);
        }
        let time_s = contact.time_s;
        self.group.contacts.push(ContactEvent {
            time_s,
            a: uid,
            b: other,
            kind,
            point: contact.point,
            impulse,
            closing,
        });
    }

    fn feel(&mut self, track: usize, other: Uid, kind: BodyKind, contact: &Contact, impulse: f64) {
        let track = &self.tracks[track];
        let rot = track.segment.rot_at(contact.time_s);
        let point = rot.unapply(contact.point - track.segment.position_at(contact.time_s));
        self.group.touches.push(Touch { slot: track.slot, other, kind, point, impulse });
    }
}

/// Speed at which bodies part at least, after they came nearer than the skin: as much as restores it
/// within a millisecond, and never more than they closed with, so that nothing gains energy.
///
/// Bodies that turn while they stay in touch would otherwise have a contact every few microseconds.
fn recovery(gap: f64, closing: f64) -> f64 {
    const WITHIN_S: f64 = 1e-3;
    let lost = SKIN_M - gap;
    if lost > 1e-2 * SKIN_M { math::max(math::min(lost / WITHIN_S, closing), 0.0) } else { 0.0 }
}

pub(crate) fn immovable(velocity: Vec2, spin: f64) -> Side {
    Side { velocity, spin, arm: Vec2::ZERO, inverse_mass: 0.0, inverse_inertia: 0.0 }
}

/// The greater restitution, and the geometric mean of the frictions.
pub(crate) fn mixed(a: Material, b: Material) -> Material {
    Material {
        restitution: math::max(a.restitution, b.restitution),
        friction: (a.friction * b.friction).sqrt(),
    }
}

/// Gap between two bodies where they are now.
pub(crate) fn gap_of(
    model: &Model,
    detail: Detail,
    poses: &[Pose2],
    (a, b): (usize, usize),
    work: &mut Workspace,
) -> f64 {
    let [rest_a, rest_b] = [a, b].map(|slot| Segment::rest(0.0, poses[slot], poses[slot].rot()));
    let a = Mover { outline: model.outline_at(detail, a), segment: &rest_a };
    gap_at(&a, &Mover { outline: model.outline_at(detail, b), segment: &rest_b }, 0.0, work)
}

/// Gap between a body and something it touched, where they are now; `None` when it is not there.
pub(crate) fn gap_now(
    model: &Model,
    detail: Detail,
    poses: &[Pose2],
    (slot, other): (usize, Uid),
    work: &mut Workspace,
) -> Option<f64> {
    if let Some(other) = model.slot_of(other) {
        return Some(gap_of(model, detail, poses, (slot, other), work));
    }
    let own = Segment::rest(0.0, poses[slot], poses[slot].rot());
    let outline = model.outline_at(detail, slot);
    let a = Mover { outline, segment: &own };
    let far = outline.reach() + 4.0 * SKIN_M;
    let far = Vec2::new(far, far);
    let still = still();
    let mut least: Option<f64> = None;
    model.fixed.for_each_in(own.pose.at - far, own.pose.at + far, |k, edge| {
        if edge.owner == other {
            let gap = gap_at(&a, &Mover { outline: &model.fixed_outlines[k], segment: &still }, 0.0, work);
            least = Some(least.map_or(gap, |l: f64| math::min(l, gap)));
        }
    });
    least
}
