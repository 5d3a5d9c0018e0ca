//! What a worker runs: its share of a divided world, or all of one that is not divided.

use crate::bundle::{Bundle, Natives};
use crate::home::{Links, Lodgings};
use crate::message::{Begin, Home, Task};
use crate::watch::ProcessorTime;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_agents::{Crew, Due, Shown, Stand};
use swarmyard_base::Uid;
use swarmyard_engine::{
    Area, Charge, Compiled, ControllerKind, Frame, Input, InputKind, Journal, Minds, Model, Paths, Planned,
    Pool, RunEvent, Scratch, Share, Spent, State, Step, registers_sensed, restore, snapshot, step,
};
use swarmyard_part_api::Program;

/// Why a step did not begin.
pub(crate) enum Stuck {
    /// Programs have decided this: it enters, then try again.
    Came(Vec<InputKind>),
    /// Programs are at work: try again. These workers, where some of them run, did not answer.
    AtWork(Vec<u32>),
    /// Somebody outside has to decide for these robots.
    Waits(Vec<Uid>),
}

/// What a worker runs.
pub(crate) enum Engine {
    /// Its share of a divided world.
    Share(Box<Sharing>),
    /// All of a world that is not divided.
    Whole(Box<Alone>),
}

/// A share, and the native programs of its robots.
pub(crate) struct Sharing {
    pub(crate) share: Share,
    pub(crate) pool: Pool,
    /// Those that run here.
    crew: Crew,
    /// Who runs the others, by robot and controller.
    homes: BTreeMap<(Uid, usize), u32>,
    /// What asking for those took since this was last looked at.
    pub(crate) asking: Asking,
    journal: Journal,
    /// What bodies are called, by number.
    paths: Paths,
}

/// What it took to ask for programs that run with others.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asking {
    /// Decisions that came.
    pub(crate) decided: u32,
    /// How long it took.
    pub(crate) took: Duration,
    /// Of that, how long nothing else was done here.
    pub(crate) waited: Duration,
}

/// A whole run.
pub(crate) struct Alone {
    model: Model,
    state: State,
    minds: Minds,
    scratch: Scratch,
    pool: Pool,
    crew: Crew,
    journal: Journal,
}

impl Engine {
    /// Goes over to an epoch in the same world, with what was compiled for the one before. Answers whether programs go on from where
    /// they are: those that run here and whose robots do not are in the lodgings then.
    pub(crate) fn anew(
        mut old: Box<Sharing>,
        (begin, charge): (&Begin, &Charge),
        borders: Vec<Area>,
        (me, lodgings): (u32, &Lodgings),
    ) -> Result<(Engine, bool), String> {
        let library = library(old.share.model(), &begin.code)?;
        // Who has gone on since has programs that have seen more.
        let homes = begin.homes.as_ref().filter(|_| old.share.clock().stops == charge.clock.stops);
        if homes.is_some() {
            let stay: BTreeSet<u32> = charge.bodies.iter().map(|p| p.number).collect();
            let gone = old.share.own().iter().copied().filter(|number| !stay.contains(number)).collect();
            old.let_go(&gone, me, lodgings);
        } else {
            // Programs are run through their past again when they are asked.
            old.crew.forget();
        }
        old.share = old.share.anew(charge, (begin.margins, borders), library)?;
        old.share.measure(Arc::new(ProcessorTime::default()));
        old.homes.clear();
        old.asking = Asking::default();
        if let Some(homes) = homes {
            old.welcome(homes, (me, &begin.members), lodgings);
        }
        let goes_on = homes.is_some();
        Ok((Engine::Share(old), goes_on))
    }

    /// Begins an epoch in a world.
    pub(crate) fn new(
        (begin, world): (&Begin, &Bundle),
        borders: Vec<Area>,
        threads: usize,
        natives: &Natives,
    ) -> Result<Engine, String> {
        let Compiled { model, .. } = world.compile_within(natives)?;
        if model.world != begin.hash {
            return Err("the world that came is not the one the keeper has".to_owned());
        }
        let library = library(&model, &begin.code)?;
        let pool = Pool::new(threads)?;
        let (crew, journal) = (Crew::default(), Journal::default());
        match &begin.task {
            Task::Share(charge) => {
                let paths = model.paths.clone();
                let mut share = Share::new(model, charge, (begin.margins, borders), library)?;
                share.measure(Arc::new(ProcessorTime::default()));
                Ok(Engine::Share(Box::new(Sharing {
                    share,
                    pool,
                    crew,
                    homes: BTreeMap::new(),
                    asking: Asking::default(),
                    journal,
                    paths,
                })))
            }
            Task::Whole(bytes) => {
                let mut fresh = Minds::new(&model);
                for program in library {
                    fresh.shelve(program);
                }
                let (state, minds) = restore(&model, &fresh, bytes).map_err(|e| e.to_string())?;
                let mut scratch = Scratch::default();
                scratch.measure(Arc::new(ProcessorTime::default()));
                Ok(Engine::Whole(Box::new(Alone { model, state, minds, scratch, pool, crew, journal })))
            }
        }
    }

    /// Robots have come here whose programs go on where they are; `me` has just begun.
    pub(crate) fn find_homes(&mut self, begin: &Begin, me: u32, lodgings: &Lodgings) {
        if let (Engine::Share(engine), Some(homes)) = (self, &begin.homes) {
            engine.welcome(homes, (me, &begin.members), lodgings);
        }
    }

    /// What bodies are called, by number.
    pub(crate) fn paths(&self) -> &Paths {
        match self {
            Engine::Share(engine) => &engine.paths,
            Engine::Whole(engine) => &engine.model.paths,
        }
    }

    /// Where the native programs of its robots run.
    pub(crate) fn homes(&self, me: u32) -> Vec<Home> {
        let Engine::Share(engine) = self else { return Vec::new() };
        let here = engine.crew.running().map(|program| (program, me));
        let there = engine.homes.iter().map(|(program, worker)| (*program, *worker));
        let home = |((robot, controller), worker)| Home { robot, controller: controller as u32, worker };
        here.chain(there).map(home).collect()
    }

    /// Stops so far.
    pub(crate) fn stops(&self) -> u64 {
        match self {
            Engine::Share(engine) => engine.share.clock().stops,
            Engine::Whole(engine) => engine.state.stops,
        }
    }

    /// Whether its robots are shared out and some have programs outside.
    pub(crate) fn asks_outside(&self) -> bool {
        matches!(self, Engine::Share(engine) if engine.share.model().asks_outside())
    }

    /// Lets bodies decide, with these inputs; a whole world takes its step at once, and answers its frame.
    /// Programs that run with others are asked over `links`.
    pub(crate) fn begin_step(
        &mut self,
        inputs: &[InputKind],
        epoch: u32,
        links: &Links,
    ) -> Result<Option<Frame>, Stuck> {
        let stop = self.stops();
        let mut journal = Journal::default();
        for kind in inputs {
            journal.push(stop, kind.clone());
        }
        match self {
            Engine::Share(engine) => engine.plan(journal, epoch, links).map(|()| None),
            Engine::Whole(engine) => engine.step(journal).map(Some),
        }
    }

    /// What each body cost in the step just taken, by number; nothing when that was not measured.
    pub(crate) fn take_spent(&mut self) -> Vec<(u32, Spent)> {
        match self {
            Engine::Share(engine) => engine.share.take_spent(),
            Engine::Whole(engine) => (0..).zip(engine.scratch.take_spent()).collect(),
        }
    }

    /// All of it as bytes; nothing for a share.
    pub(crate) fn snapshot(&self) -> Vec<u8> {
        match self {
            Engine::Share(_) => Vec::new(),
            Engine::Whole(engine) => snapshot(&engine.model, &engine.state, &engine.minds),
        }
    }
}

impl Sharing {
    fn plan(&mut self, journal: Journal, epoch: u32, links: &Links) -> Result<(), Stuck> {
        self.journal = journal;
        match self.share.plan(&self.journal, &self.pool) {
            Planned::Ready => Ok(()),
            Planned::Blocked(robots) => Err(self.ask(robots, epoch, links)),
        }
    }

    /// Asks the programs of robots that the step waits for, wherever they run.
    fn ask(&mut self, robots: Vec<Uid>, epoch: u32, links: &Links) -> Stuck {
        let Sharing { share, crew, homes, asking, journal, .. } = self;
        let (model, state, minds) = (share.model(), share.state(), share.minds());
        let stand = stand(model, state, minds, journal);
        let mut here: Vec<Due> = Vec::new();
        let mut there: BTreeMap<u32, Vec<Shown>> = BTreeMap::new();
        for due in stand.due(&robots) {
            match homes.get(&(due.robot, due.controller)) {
                Some(home) => {
                    let shown = stand.shown(&due, &share.registers_sensed(due.slot));
                    there.entry(*home).or_default().push(shown);
                }
                None => here.push(due),
            }
        }
        let mut ask_here = || crew.ask(&stand, &here, |slot| share.registers_sensed(slot));
        if there.is_empty() {
            return stuck(ask_here(), robots, Vec::new());
        }
        let began = Instant::now();
        let moment = (epoch, state.stops, stand.tick_us);
        let (asked, ((mut came, mut at_work), busy)) =
            links.ask(moment, there, || (ask_here(), began.elapsed()));
        let took = began.elapsed();
        asking.decided += asked.decided.len() as u32;
        asking.took += took;
        asking.waited += took.saturating_sub(busy);
        for program in &asked.not_there {
            // It is started here the next time.
            homes.remove(program);
            at_work = true;
        }
        came.extend(asked.decided);
        stuck((came, at_work || asked.at_work), robots, asked.silent)
    }

    /// These bodies leave. Their programs stay and answer whoever has the robot; answers where each of them runs.
    pub(crate) fn let_go(&mut self, gone: &BTreeSet<u32>, me: u32, lodgings: &Lodgings) -> Vec<Home> {
        let Sharing { share, crew, homes, .. } = self;
        let (model, stop) = (share.model(), share.clock().stops);
        let robots = share.own().iter().zip(&model.uids).filter(|(number, _)| gone.contains(number));
        let mut all = Vec::new();
        for (_, &robot) in robots {
            let mut note = |controller: usize, worker: u32| {
                all.push(Home { robot, controller: controller as u32, worker });
            };
            let elsewhere: Vec<_> = homes.range((robot, 0)..=(robot, usize::MAX)).map(|h| *h.0).collect();
            for program in elsewhere {
                homes.remove(&program).into_iter().for_each(|worker| note(program.1, worker));
            }
            if let Some(away) = crew.part_with(model, robot, stop) {
                away.controllers().for_each(|controller| note(controller, me));
                lodgings.take_in(away);
            }
        }
        all
    }

    /// Bodies have come whose programs run there: those that run here are its own again. A program of which nobody says
    /// where it runs is started when it is asked.
    pub(crate) fn welcome(&mut self, come: &[Home], (me, members): (u32, &[u32]), lodgings: &Lodgings) {
        let Sharing { share, crew, homes, .. } = self;
        let model = share.model();
        let is_own = |robot: Uid| model.slot_of(robot).is_some_and(|slot| slot < model.own);
        for away in lodgings.give_back(is_own) {
            let robot = away.robot();
            let is_here = |h: &Home, c: usize| (h.robot, h.controller as usize, h.worker) == (robot, c, me);
            crew.take_back(away, |c| come.iter().any(|home| is_here(home, c)));
        }
        for Home { robot, controller, worker } in come {
            if *worker != me && members.contains(worker) && is_own(*robot) {
                homes.insert((*robot, *controller as usize), *worker);
            }
        }
    }
}

impl Alone {
    fn step(&mut self, journal: Journal) -> Result<Frame, Stuck> {
        self.journal = journal;
        let Alone { model, state, minds, scratch, pool, crew, journal } = self;
        match step(model, state, minds, journal, scratch, pool) {
            Step::Done(mut frame) => {
                frame.events.retain(|event| !matches!(event, RunEvent::Live(_)));
                Ok(frame)
            }
            // Nobody says when to leave it.
            Step::UnderWay => Err(stuck((Vec::new(), true), Vec::new(), Vec::new())),
            Step::Blocked(robots) => {
                let stand = stand(model, state, minds, journal);
                let asked = crew
                    .ask(&stand, &stand.due(&robots), |slot| registers_sensed(model, state, scratch, slot));
                Err(stuck(asked, robots, Vec::new()))
            }
        }
    }
}

fn stand<'a>(model: &'a Model, state: &'a State, minds: &'a Minds, journal: &'a Journal) -> Stand<'a> {
    let inputs: &[Input] = journal.at(state.stops);
    Stand { model, state, minds, journal, inputs, tick_us: state.quantum.length.micros() }
}

fn stuck((came, at_work): (Vec<InputKind>, bool), robots: Vec<Uid>, silent: Vec<u32>) -> Stuck {
    match (came.is_empty(), at_work) {
        (false, _) => Stuck::Came(came),
        (true, true) => Stuck::AtWork(silent),
        (true, false) => Stuck::Waits(robots),
    }
}

/// Programs that came while running.
fn library(model: &Model, code: &[(u32, u32, Vec<u8>)]) -> Result<Vec<Arc<dyn Program>>, String> {
    let program = |(ty, controller, bytes): &(u32, u32, Vec<u8>)| {
        let found = model.types.get(*ty as usize).and_then(|t| t.controllers.get(*controller as usize));
        let Some(ControllerKind::Program(program)) = found.map(|c| &c.model) else {
            return Err("code came for a controller that has none".to_owned());
        };
        program.with_code(bytes).map_err(|d| format!("code that came while running cannot run: {d:?}"))
    };
    code.iter().map(program).collect()
}
