//! One step of a worker, together with its neighbours.
//!
//! In: an epoch, and what enters. Out: what its own bodies intend, to each neighbour; its part of the step, to the keeper; and now and then
//! bodies that have strayed, to whoever has their region.

use super::epoch::{Epoch, note};
use super::{ANSWER, Left, Worker, add, add_link, within};
use crate::engine::{Engine, Stuck};
use crate::message::{Begin, Done, KEEPER, Lane, Load, Near, Notice, Report, Sent, near_key, read};
use crate::parcel::{Coming, Letter, Name, letter};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use swarmyard_engine::{Area, Cut, Gesture, Intent, Part, Settled, Share, Sighting};
use swarmyard_fabric::Unmet;
use swarmyard_fabric::gate::Refusals;

/// Messages that a neighbour may be behind: bodies that change hands and what all intend, of this step and the one before.
const BEHIND: u64 = 4;

impl Worker<'_> {
    /// Takes one step.
    pub(super) fn step(&mut self, epoch: &mut Epoch) -> Result<(), Left> {
        let began = Instant::now();
        let stop = epoch.engine.stops();
        let mut load = Load::default();
        let mut decided = Vec::new();
        let mut waited = Duration::ZERO;
        let done = loop {
            self.look(epoch)?;
            let mut inputs = epoch.inputs.get(&stop).cloned().unwrap_or_default();
            inputs.extend(decided.iter().cloned());
            match epoch.engine.begin_step(&inputs, epoch.begin.epoch, &self.links) {
                Ok(done) => break done,
                Err(Stuck::Came(came)) => decided.extend(came),
                Err(Stuck::AtWork(silent)) if silent.is_empty() => {}
                // It has sent everything up to this stop, and nothing of it.
                Err(Stuck::AtWork(silent)) => self.misses(epoch, 2 * stop, silent)?,
                Err(Stuck::Waits(robots)) => {
                    self.notice(epoch.begin.epoch, Notice::Blocked { stop, robots })?;
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
        };
        let shown = is_due(epoch.grant.show_every, stop + 1);
        let kept = is_due(epoch.grant.keep_every, stop + 1) || epoch.grant.keep_at == Some(stop + 1);
        let done = match done {
            Some(frame) => {
                let bytes = (shown || kept).then(|| epoch.engine.snapshot());
                Done::Whole(frame, bytes)
            }
            None => {
                let part = self.settle(epoch, stop, &mut load, &mut waited)?;
                let Engine::Share(engine) = &mut epoch.engine else {
                    return Err(Left::Failed("a whole world has no parts".to_owned()));
                };
                let asking = std::mem::take(&mut engine.asking);
                (load.from_home, load.home_us) = (asking.decided, micros(asking.took));
                waited += asking.waited;
                let bodies = (shown || kept).then(|| engine.share.parcels(kept));
                (load.own, load.ghosts) = (engine.share.own().len() as u32, engine.share.ghosts() as u32);
                Done::Part(part, bodies)
            }
        };
        load.wait_us = micros(waited);
        load.work_us = micros(began.elapsed().saturating_sub(waited));
        let asked = self.inbox.asked().0;
        load.asked = u32::try_from(asked - self.asked).unwrap_or(u32::MAX);
        self.asked = asked;
        load.handed_on = std::mem::take(&mut epoch.handed_on);
        let links = epoch.take_sent();
        {
            let mut figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
            add(&mut figures.worker, load, &links);
            links.iter().for_each(|sent| add_link(&mut figures.links, self.setup.me, sent));
        }
        let (elsewhere, spent) = (self.setup.natives.cost(), epoch.take_spent(kept));
        self.weigh(&spent, epoch.engine.paths());
        let refused = self.refusals().since(&Refusals::default());
        let holds = self.shelf.is_some();
        let homes = if kept { epoch.engine.homes(self.setup.me) } else { Vec::new() };
        let report = Report { done, inputs: decided, load, links, elsewhere, homes, spent, refused, holds };
        // Inputs are granted from where the keeper stands: it has taken every report up to there.
        self.depot.drop_below(KEEPER, epoch.grant.from + 1);
        let (bytes, _) = letter(&self.depot, (KEEPER, stop + 1), &report, epoch.begin.lengths);
        self.outbox.send(KEEPER, stop + 1, &bytes)?;
        epoch.inputs = epoch.inputs.split_off(&(stop + 1));
        if matches!(epoch.engine, Engine::Share(_)) && is_due(epoch.begin.margins.period, stop + 1) {
            self.change_hands(epoch)?;
        }
        Ok(())
    }

    /// Tells neighbours what own bodies intend, hears theirs, and settles.
    fn settle(
        &mut self,
        epoch: &mut Epoch,
        stop: u64,
        load: &mut Load,
        waited: &mut Duration,
    ) -> Result<Part, Left> {
        let Engine::Share(engine) = &mut epoch.engine else {
            return Err(Left::Failed("a whole world has no neighbours".to_owned()));
        };
        let margins = epoch.begin.margins;
        let near = engine.share.intents_near();
        let gestures = engine.share.gestures();
        for &place in &epoch.neighbours {
            let known = margins.known(&epoch.regions[place as usize], 0);
            let lane = Lane::Intents(within(&near, &known), gestures.clone());
            self.send((&epoch.begin, &mut epoch.sent), place as usize, 2 * stop + 1, &lane)?;
        }
        // While that travels, those inside decide.
        engine.share.plan_inside(&engine.pool);
        let mut all = self.no_longer_told(epoch.remembers);
        all.extend(engine.share.intents());
        for &place in &epoch.neighbours {
            let known = margins.known(&epoch.regions[place as usize], 0);
            debug_assert_eq!(
                within(&near, &known).len(),
                within(&all, &known).len(),
                "somebody was not told of"
            );
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.push_back((epoch.begin.epoch, stop, all));
        drop(told);
        let from: Vec<u32> = epoch.neighbours.iter().map(|p| epoch.begin.members[*p as usize]).collect();
        let since = Instant::now();
        let (mut heard, mut gestures): (Vec<Intent>, Vec<Gesture>) = Default::default();
        for (sender, lane) in self.hear(epoch, 2 * stop + 1, &from)? {
            match lane {
                Lane::Intents(intents, hands) => {
                    heard.extend(intents);
                    gestures.extend(hands);
                }
                Lane::Hands { .. } => {
                    return Err(Left::Failed(format!("worker {sender} speaks out of turn")));
                }
            }
        }
        *waited += since.elapsed();
        let region = epoch.regions[epoch.place as usize];
        let mut widening = 0;
        loop {
            let Engine::Share(engine) = &mut epoch.engine else { return Err(Left::Order) };
            match engine.share.settle((&heard, &gestures), &region, widening, &engine.pool) {
                Settled::Done(part) => return Ok(part),
                Settled::Farther => return Err(Left::Farther),
                Settled::Unsure => {
                    widening += 1;
                    load.widened += 1;
                    let since = Instant::now();
                    heard = self.widen(epoch, stop, &margins.known(&region, widening))?;
                    *waited += since.elapsed();
                }
            }
        }
    }

    /// An empty list, where that of the oldest stop was which nobody asks about any more.
    fn no_longer_told(&self, remembers: usize) -> Vec<Intent> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = if told.len() >= remembers { told.pop_front() } else { None };
        let mut list = oldest.map_or_else(Vec::new, |(.., intents)| intents);
        list.clear();
        list
    }

    /// Sends a message to the one at that place; what is too long is fetched in pieces by whoever gets it.
    fn send(
        &self,
        (begin, sent): (&Begin, &mut [Sent]),
        place: usize,
        number: u64,
        lane: &Lane,
    ) -> Result<(), Left> {
        let to = begin.members[place];
        // Nobody is farther behind: a step needs what was sent in the one before, by both sides.
        self.depot.drop_below(to, number.saturating_sub(BEHIND));
        let (bytes, length) = letter(&self.depot, (to, number), lane, begin.lengths);
        note(sent, place, length);
        Ok(self.outbox.send(to, number, &bytes)?)
    }

    /// What a neighbour said, all of it.
    fn open(&mut self, epoch: &mut Epoch, (from, number): (u32, u64), bytes: &[u8]) -> Result<Lane, Left> {
        let wrong = || Left::Failed(format!("what worker {from} sent is no message"));
        let slip = match read(bytes).ok_or_else(wrong)? {
            Letter::Here(lane) => return Ok(lane),
            Letter::Pieces(slip) => slip,
        };
        let name = Name { epoch: epoch.begin.epoch, to: self.setup.me, number };
        let mut coming = Coming::new(from, name, slip).map_err(Left::Failed)?;
        while !coming.is_here() {
            if !coming.ask((&*self.setup.fabric, &self.door), self.setup.run.number) {
                self.misses(epoch, number, vec![from])?;
            }
            self.look(epoch)?;
        }
        match read(&coming.open().map_err(Left::Failed)?) {
            Some(Letter::Here(lane)) => Ok(lane),
            _ => Err(wrong()),
        }
    }

    /// Waits for one message of each of these.
    fn hear(&mut self, epoch: &mut Epoch, number: u64, from: &[u32]) -> Result<Vec<(u32, Lane)>, Left> {
        loop {
            match self.inbox.wait(number, from) {
                Ok(all) => {
                    let open = |(sender, bytes): (u32, Vec<u8>)| {
                        Ok((sender, self.open(epoch, (sender, number), &bytes)?))
                    };
                    return all.into_iter().map(open).collect();
                }
                Err(Unmet::Missing { who, .. }) => {
                    self.look(epoch)?;
                    self.misses(epoch, number, who)?;
                }
                Err(Unmet::NewEpoch(_)) => return Err(Left::Order),
            }
        }
    }

    /// Asks everybody who may have bodies in a wider area for what those intend.
    fn widen(&mut self, epoch: &mut Epoch, stop: u64, area: &Area) -> Result<Vec<Intent>, Left> {
        let question = Near { epoch: epoch.begin.epoch, stop, area: *area };
        let mut heard = Vec::new();
        for place in 0..epoch.regions.len() {
            let allowed = epoch.begin.margins.allowed(&epoch.regions[place]);
            if place == epoch.place as usize || !allowed.meets(area) {
                continue;
            }
            let key = near_key(self.setup.run.number, epoch.begin.members[place]);
            loop {
                let answer = self.door.ask(&*self.setup.fabric, &key, &question, ANSWER);
                if let Ok(Some(intents)) = answer {
                    let intents: Vec<Intent> = intents;
                    heard.extend(intents);
                    break;
                }
                // It has not decided yet, or does not hear.
                self.look(epoch)?;
                let who = vec![epoch.begin.members[place]];
                self.misses(epoch, 2 * stop + 1, who)?;
                std::thread::sleep(Duration::from_micros(500));
            }
        }
        Ok(heard)
    }

    /// Bodies that have strayed into the regions of others go there.
    fn change_hands(&mut self, epoch: &mut Epoch) -> Result<(), Left> {
        let (cut, members, me) = (&epoch.begin.cut, &epoch.begin.members, epoch.place);
        let margins = epoch.begin.margins;
        let Engine::Share(engine) = &mut epoch.engine else { return Ok(()) };
        let stop = engine.share.clock().stops;
        let mut leaving: Vec<Vec<_>> = members.iter().map(|_| Vec::new()).collect();
        for (place, parcel) in engine.share.leaving(cut, me) {
            leaving[place as usize].push(parcel);
        }
        let (own_number, lodgings) = (self.setup.me, Arc::clone(&self.links.lodgings));
        let mut others = Vec::new();
        for (place, bodies) in leaving.into_iter().enumerate().filter(|(place, _)| *place != me as usize) {
            let seen = engine.share.sightings(&margins.known(&epoch.regions[place], 0));
            epoch.handed_on += bodies.len() as u32;
            // They are there for who asks before anybody can.
            let gone = bodies.iter().map(|p| p.number).collect();
            let homes = engine.let_go(&gone, own_number, &lodgings);
            let lane = Lane::Hands { bodies, seen, homes };
            self.send((&epoch.begin, &mut epoch.sent), place, 2 * stop, &lane)?;
            others.push(members[place]);
        }
        let (mut come, mut come_homes) = (Vec::new(), Vec::new());
        // What own bodies that leave look like is known here.
        let mut ghosts = match &epoch.engine {
            Engine::Share(engine) => leavers(&engine.share, cut, me),
            Engine::Whole(_) => Vec::new(),
        };
        for (sender, lane) in self.hear(epoch, 2 * stop, &others)? {
            match lane {
                Lane::Hands { bodies, seen, homes } => {
                    come.extend(bodies);
                    come_homes.extend(homes);
                    ghosts.extend(seen);
                }
                Lane::Intents(..) => return Err(Left::Failed(format!("worker {sender} speaks out of turn"))),
            }
        }
        let Engine::Share(engine) = &mut epoch.engine else { return Ok(()) };
        engine.share.change_hands((&epoch.begin.cut, me), &come, &ghosts).map_err(Left::Failed)?;
        engine.welcome(&come_homes, (own_number, &epoch.begin.members), &lodgings);
        Ok(())
    }
}

/// What others will see of own bodies that leave: they are ghosts from now on.
fn leavers(share: &Share, cut: &Cut, me: u32) -> Vec<(u32, Sighting)> {
    let all = share.sightings(&Area::EVERYWHERE).into_iter();
    all.filter(|(number, seen)| cut.owner(*number, seen.pose.at) != me).collect()
}

fn micros(time: Duration) -> u32 {
    time.as_micros().min(u128::from(u32::MAX)) as u32
}

/// Whether something is to be done at a stop, every so many stops.
fn is_due(every: u64, stop: u64) -> bool {
    every > 0 && stop.is_multiple_of(every)
}
