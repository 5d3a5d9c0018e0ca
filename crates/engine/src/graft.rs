//! The world changes while a run goes on: the state of the old model, carried over into a new one.
//!
//! In: a run as it stands, and a freshly compiled world. Out: the state with which it goes on, and a
//! report for people; or who would overlap, and then nothing has changed. Never: a step. Time,
//! accounts and the quantum go on as they are; a change of `[run]` is an input like any other.
//!
//! A body goes on by its path. If its start in the scenario has changed, somebody has put it there:
//! then it stands at its new start. Its parts go on where their channels are the same, its controllers
//! where their code is ([`Kinship`]). A contact goes on where both who touch are as they were; else it
//! is dropped, not looked for: the next stretch finds it again if it is still there.

use crate::carry::hand_of;
use crate::clash::{Clash, clashes, is_inside, is_outside};
use crate::groups::gap_now;
use crate::kinship::Kinship;
use crate::minds::Minds;
use crate::model::Model;
use crate::queue::{Event, EventKey, EventQueue};
use crate::state::{State, Verdict};
use swarmyard_base::{Diagnostic, Diagnostics, Pose2, Twist2, Uid};
use swarmyard_motion::Workspace;
use swarmyard_part_api::{BodyKind, Carry, FixedEdge, Touch};

/// Where the bodies of a world start: all that its start state holds beyond the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// Pose of each body, by slot.
    pub pose: Vec<Pose2>,
    /// Velocity of each body, by slot; empty when all are at rest, as most worlds begin.
    pub twist: Vec<Twist2>,
}

impl Start {
    /// What a state at the start begins with.
    #[must_use]
    pub fn of(state: &State) -> Start {
        let rest = state.twist.iter().all(|twist| twist.is_rest());
        Start { pose: state.pose.clone(), twist: if rest { Vec::new() } else { state.twist.clone() } }
    }

    /// The state at the start.
    fn state(&self, model: &Model) -> State {
        let mut state = State::new(model, self.pose.clone());
        if !self.twist.is_empty() {
            state.twist.clone_from(&self.twist);
        }
        state
    }
}

/// A run as it stands.
#[derive(Clone, Copy)]
pub struct Standing<'a> {
    /// What is fixed.
    pub model: &'a Model,
    /// Where its bodies started.
    pub start: &'a Start,
    /// What changes.
    pub state: &'a State,
    /// The running programs.
    pub minds: &'a Minds,
}

/// A state carried over.
pub struct Graft {
    /// The state with which the run goes on.
    pub state: State,
    /// Who is who.
    pub kinship: Kinship,
    /// What became of everything.
    pub report: Report,
}

/// What became of everything when the world changed, as paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Bodies that go on where they were.
    pub kept: List,
    /// Bodies that were put at their new start.
    pub placed: List,
    /// Bodies, parts and controllers that were not there before.
    pub new: List,
    /// Parts and controllers that begin anew, because they are not what they were.
    pub anew: List,
    /// Bodies, parts and controllers that are no more.
    pub gone: List,
    /// What was carried and is let go.
    pub let_go: List,
}

/// Some paths: how many, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// How many there are.
    pub count: usize,
    /// At most [`List::SHOWN`] of them.
    pub first: Vec<String>,
}

impl List {
    /// More than this nobody reads.
    pub const SHOWN: usize = 20;

    fn add(&mut self, path: impl Into<String>) {
        self.count += 1;
        if self.first.len() < List::SHOWN {
            self.first.push(path.into());
        }
    }
}

/// Carries a run over into a new world.
///
/// # Errors
/// When bodies would overlap, or be outside of the world; all of it is told.
pub fn graft(before: &Standing<'_>, model: &Model, start: &Start) -> Result<Graft, Diagnostics> {
    let kinship = Kinship::new(before.model, model, before.minds);
    let mut grafter = Grafter { before, model, start, kinship: &kinship, report: Report::default() };
    let state = grafter.state();
    grafter.check(&state)?;
    grafter.tell_parts();
    let report = grafter.report;
    Ok(Graft { state, kinship, report })
}

struct Grafter<'a> {
    before: &'a Standing<'a>,
    model: &'a Model,
    start: &'a Start,
    kinship: &'a Kinship,
    report: Report,
}

impl Grafter<'_> {
    fn state(&mut self) -> State {
        let old = self.before.state;
        let mut state = State {
            now: old.now,
            stops: old.stops,
            quantum_index: old.quantum_index,
            quantum: old.quantum,
            detail: old.detail,
            accounts: old.accounts.clone(),
            ended: old.ended,
            worlds: old.worlds.clone(),
            ..self.start.state(self.model)
        };
        state.worlds.push((old.stops, self.model.world));
        self.bodies(&mut state);
        self.columns(&mut state);
        state.carried = self.carried(&mut state);
        state.touches = old.touches.iter().filter_map(|touch| self.touch(touch)).collect();
        state.touches.sort_by_key(|t| (t.slot, t.other));
        state.queue = self.queue();
        let placed = |slot: usize, was: usize| self.is_placed(slot, was);
        state.live = crate::live::graft((self.before.model, old), (self.model, &state), self.kinship, placed);
        state.verdicts = self.verdicts();
        state
    }

    fn bodies(&mut self, state: &mut State) {
        let old = self.before.state;
        for (slot, path) in self.model.paths.iter().enumerate() {
            let Some(was) = self.kinship.old_slot(slot) else {
                self.report.new.add(path);
                continue;
            };
            state.halted[slot] = old.halted[was];
            if self.is_placed(slot, was) {
                state.twist[slot] = Twist2::REST;
                self.report.placed.add(path);
            } else {
                state.pose[slot] = old.pose[was];
                state.twist[slot] = old.twist[was];
                self.keep_moved(state, slot, old.moved_of(was));
                self.report.kept.add(path);
            }
        }
        for (slot, path) in self.before.model.paths.iter().enumerate() {
            if self.kinship.new_slot(slot).is_none() {
                self.report.gone.add(path);
            }
        }
    }

    /// Where all live by events, only what is not rest is worth a column.
    fn keep_moved(&self, state: &mut State, slot: usize, moved: Twist2) {
        if state.moved.is_empty() && !moved.is_rest() {
            state.moved = vec![Twist2::REST; self.model.len()];
        }
        if let Some(place) = state.moved.get_mut(slot) {
            *place = moved;
        }
    }

    /// Whether somebody has put a body elsewhere: its start is not where it was.
    fn is_placed(&self, slot: usize, was: usize) -> bool {
        self.start.pose[slot] != self.before.start.pose[was]
    }

    /// Numbers of parts and controllers that go on.
    fn columns(&self, state: &mut State) {
        for (u, (ty, columns)) in self.model.types.iter().zip(&mut state.types).enumerate() {
            for (row, slot) in ty.slots.clone().enumerate() {
                let (Some(was), Some(kin)) = (self.kinship.old_slot(slot), self.kinship.of(slot)) else {
                    continue;
                };
                let t = self.before.model.type_of[was] as usize;
                let (old, first) = (&self.before.state.types[t], self.before.model.types[t].slots.start);
                let copy = |to: &mut [f64], from: &[f64], width: usize| {
                    let (at, from_at) = (row * width, (was - first) * width);
                    to[at..at + width].copy_from_slice(&from[from_at..from_at + width]);
                };
                for (p, q) in kin.parts.iter().enumerate().filter_map(|(p, q)| Some((p, (*q)?))) {
                    let layout = &self.model.types[u].parts[p].layout;
                    let (to, from) = (&mut columns.parts[p], &old.parts[q]);
                    copy(&mut to.readings, &from.readings, layout.reading_width());
                    copy(&mut to.commands, &from.commands, layout.command_width());
                    copy(&mut to.state, &from.state, layout.state.len());
                }
                for (c, d) in kin.controllers.iter().enumerate().filter_map(|(c, d)| Some((c, (*d)?))) {
                    copy(&mut columns.controllers[c], &old.controllers[d], ty.controllers[c].state.len());
                }
            }
        }
    }

    /// What is carried on, by the carried slot. A load goes along with a carrier that was put elsewhere;
    /// a load that was itself put elsewhere is let go.
    fn carried(&mut self, state: &mut State) -> Vec<Carry> {
        let old = self.before;
        let mut all = Vec::new();
        for carry in &old.state.carried {
            let (was_object, was_carrier) = (carry.object as usize, carry.carrier as usize);
            let goes_on = || {
                let object = self.kinship.new_slot(was_object)?;
                let carrier = self.kinship.new_slot(was_carrier)?;
                let part = self.kinship.new_part(was_carrier, carry.part as usize)?;
                hand_of(self.model, self.model.type_of[carrier] as usize, part)?;
                let stays = self.model.is_movable(object) && !self.is_placed(object, was_object);
                stays.then_some((object, carrier, part))
            };
            let Some((object, carrier, part)) = goes_on() else {
                self.report.let_go.add(&old.model.paths[was_object]);
                continue;
            };
            if self.is_placed(carrier, was_carrier) {
                let (from, to) = (old.state.pose[was_carrier], state.pose[carrier]);
                state.pose[object] = moved_along(from, to, old.state.pose[was_object]);
                state.twist[object] = Twist2::REST;
                self.keep_moved(state, object, Twist2::REST);
            }
            let (object, carrier, part) = (object as u32, carrier as u32, part as u32);
            all.push(Carry { object, carrier, part, offset: carry.offset });
        }
        all.sort_by_key(|c| c.object);
        all
    }

    /// A contact goes on where both who touch are as they were.
    fn touch(&self, touch: &Touch) -> Option<Touch> {
        let was = touch.slot as usize;
        let slot = self.kinship.new_slot(was).filter(|&slot| self.stands_as_before(slot, was))?;
        let other_goes_on = match self.before.model.slot_of(touch.other) {
            Some(was) => self.kinship.new_slot(was).is_some_and(|slot| self.stands_as_before(slot, was)),
            None => edges(self.before.model, touch.other).eq(edges(self.model, touch.other)),
        };
        other_goes_on.then_some(Touch { slot: slot as u32, ..*touch })
    }

    fn stands_as_before(&self, slot: usize, was: usize) -> bool {
        !self.is_placed(slot, was) && self.model.outline(slot) == self.before.model.outline(was)
    }

    /// Commands that take effect later, of parts and controllers that go on.
    fn queue(&self) -> EventQueue {
        self.before.state.queue.renamed(|key, event| {
            let Event::Command { part, first, values } = event;
            let was = self.before.model.slot_of(key.low)?;
            let part = self.kinship.new_part(was, *part as usize)? as u32;
            let controller = self.kinship.new_controller(was, (key.sequence >> 48) as usize)? as u64;
            let sequence = EventKey::sequence_of(controller, part, *first);
            Some((
                EventKey { sequence, ..*key },
                Event::Command { part, first: *first, values: values.clone() },
            ))
        })
    }

    /// Assertions with the same words go on; the others begin.
    fn verdicts(&self) -> Vec<Verdict> {
        let old = &self.before.model.asserts;
        let mut used = vec![false; old.len()];
        let verdicts = self.model.asserts.iter().map(|assertion| {
            let words = |k: usize| {
                let (a, b) = (&old[k], assertion);
                (&a.name, &a.text, &a.when_text, a.holds) == (&b.name, &b.text, &b.when_text, b.holds)
            };
            let found = (0..old.len()).find(|&k| !used[k] && words(k));
            found.map_or_else(Verdict::default, |k| {
                used[k] = true;
                self.before.state.verdicts[k]
            })
        });
        verdicts.collect()
    }

    /// Nobody may stand where there is no room. Who overlapped before in the same way may go on: at
    /// the level `coarse` outlines may, and what is carried may overlap its carrier.
    fn check(&self, state: &State) -> Result<(), Diagnostics> {
        let found = clashes(self.model, state.detail, &state.pose, |clash| !self.is_old(state, clash));
        if found.is_empty() {
            return Ok(());
        }
        let tell = |clash: Clash| {
            let (Clash::Outside(slot) | Clash::Overlap(slot, _) | Clash::Inside(slot, _)) = clash;
            let (path, p) = (&self.model.paths[slot], state.pose[slot].at);
            let other = |uid: Uid| self.model.path_of(uid).unwrap_or("something fixed").to_owned();
            let at = format!("where it is now, at `({:.3}, {:.3})`", p.x, p.y);
            let d = match clash {
                Clash::Outside(_) => {
                    Diagnostic::error("outside", format!("`{path}` is outside of the new world {at}"))
                }
                Clash::Overlap(_, uid) => {
                    Diagnostic::error("overlap", format!("`{path}` overlaps `{}` {at}", other(uid)))
                }
                Clash::Inside(_, uid) => {
                    Diagnostic::error("overlap", format!("`{path}` is inside of `{}` {at}", other(uid)))
                }
            };
            d.on(path).help("leave room for it there, or give it another start: then it is put there")
        };
        Err(Diagnostics(found.into_iter().map(tell).collect()))
    }

    /// Whether a clash is none of the change's: it was there before, or is of one unit.
    fn is_old(&self, state: &State, clash: Clash) -> bool {
        let old = self.before;
        let stood = |slot: usize| {
            let was = self.kinship.old_slot(slot)?;
            self.stands_as_before(slot, was).then_some(was)
        };
        match clash {
            Clash::Outside(slot) => stood(slot).is_some_and(|was| is_outside(old.model, old.state.pose[was])),
            Clash::Overlap(slot, other) => {
                let second = self.model.slot_of(other);
                if second.is_some_and(|second| is_unit(&state.carried, slot as u32, second as u32)) {
                    return true;
                }
                let (Some(was), true) = (stood(slot), second.is_none_or(|slot| stood(slot).is_some())) else {
                    return false;
                };
                let (detail, poses) = (old.state.detail, &old.state.pose);
                let gap = gap_now(old.model, detail, poses, (was, other), &mut Workspace::default());
                gap.is_some_and(|gap| gap <= 0.0)
            }
            Clash::Inside(slot, other) => stood(slot).is_some_and(|was| {
                let polygon: Vec<FixedEdge> = edges(old.model, other).copied().collect();
                is_inside(&polygon, old.state.pose[was].at)
            }),
        }
    }

    /// Tells which parts and controllers go on, type by type.
    fn tell_parts(&mut self) {
        for ((t, u), kin) in self.kinship.pairs() {
            let (was, is) = (&self.before.model.types[t], &self.model.types[u]);
            let owner = match is.kind {
                BodyKind::Robot => format!("/types/{}", is.name),
                _ => self.model.paths[is.slots.start].to_string(),
            };
            let old: Vec<&str> = was.parts.iter().map(|p| p.name.as_str()).collect();
            let new: Vec<(&str, bool)> =
                is.parts.iter().zip(&kin.parts).map(|(p, from)| (p.name.as_str(), from.is_some())).collect();
            self.tell(&owner, &old, &new);
            let old: Vec<&str> = was.controllers.iter().map(|c| c.name.as_str()).collect();
            let new: Vec<(&str, bool)> = is
                .controllers
                .iter()
                .zip(&kin.controllers)
                .map(|(c, from)| (c.name.as_str(), from.is_some()))
                .collect();
            self.tell(&owner, &old, &new);
        }
    }

    /// Tells of names that are new, no more, or not what they were: (name, whether it goes on).
    fn tell(&mut self, owner: &str, old: &[&str], new: &[(&str, bool)]) {
        for (name, _) in new.iter().filter(|(_, goes_on)| !goes_on) {
            let list = if old.contains(name) { &mut self.report.anew } else { &mut self.report.new };
            list.add(format!("{owner}/{name}"));
        }
        for name in old.iter().filter(|name| new.iter().all(|n| n.0 != **name)) {
            self.report.gone.add(format!("{owner}/{name}"));
        }
    }
}

/// Where a load comes to when its carrier is put from one pose to another.
fn moved_along(from: Pose2, to: Pose2, load: Pose2) -> Pose2 {
    let place = to.point(from.rot().unapply(load.at - from.at));
    let heading = swarmyard_base::math::wrap_angle(to.heading + (load.heading - from.heading));
    Pose2 { at: place, heading }
}

/// Whether two bodies are a carrier and its load, or two loads of one carrier.
fn is_unit(carried: &[Carry], a: u32, b: u32) -> bool {
    let carrier = |slot: u32| carried.iter().find(|c| c.object == slot).map_or(slot, |c| c.carrier);
    carrier(a) == carrier(b)
}

/// The edges of something fixed.
fn edges(model: &Model, owner: Uid) -> impl Iterator<Item = &FixedEdge> {
    model.fixed.edges().iter().filter(move |e| e.owner == owner)
}
