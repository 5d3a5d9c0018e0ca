//! What lodgings answer, whoever asks how often. The programs are C, compiled here.

use super::*;
use crate::bundle::{Bundle, Natives};
use swarmyard_agents::{Crew, Due, Stand};
use swarmyard_engine::{Journal, Minds, Model, Pool, Scratch, State, Step, registers_sensed, step};
use swarmyard_sim::Sim;

/// A run in one process whose robots' programs poke the number of quanta they were shown.
struct Run {
    model: Model,
    state: State,
    minds: Minds,
    scratch: Scratch,
    pool: Pool,
    journal: Journal,
    crew: Crew,
}

fn run(robots: usize, code: &str) -> Run {
    let text = format!(
        r#"
format = 1
[type.bot]
radius = 0.1
[[type.bot.part]]
name = "drive"
class = "diff-drive"
[[type.bot.register]]
part = "drive"
channel = "left"
at = 0x20
signed = true
scale = 0.001
[type.bot.controller]
class = "process"
think = 0
patience = 60
code = '''
#include <unistd.h>
#include "rio.h"
#include "registers.h"
static int n;
void robot_step(void) {{ {code} rio_pokes16(DRIVE_LEFT, (int16_t)++n); }}
'''
[[robot]]
name = "r"
type = "bot"
count = {robots}
layout = {{ class = "row", step = [1, 0] }}
"#
    );
    let sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    let bundle = Bundle::of(sim.model(), &[]);
    let compiled = bundle.compile_within(&Natives::default()).expect("a world");
    let (model, state) = (compiled.model, compiled.state);
    Run {
        minds: Minds::new(&model),
        model,
        state,
        scratch: Scratch::default(),
        pool: Pool::new(1).expect("a thread"),
        journal: Journal::default(),
        crew: Crew::default(),
    }
}

impl Run {
    /// What programs are to be shown at the present stop, by robot.
    fn shown(&mut self) -> Vec<Shown> {
        self.ask(|stand, due, scratch, _| {
            let registers = |d: &Due| registers_sensed(stand.model, stand.state, scratch, d.slot);
            due.iter().map(|d| stand.shown(d, &registers(d))).collect()
        })
    }

    fn ask<T>(&mut self, act: impl FnOnce(&Stand<'_>, &[Due], &Scratch, &mut Crew) -> T) -> T {
        let Run { model, state, minds, scratch, pool, journal, crew } = self;
        let Step::Blocked(robots) = step(model, state, minds, journal, scratch, pool) else {
            panic!("nobody is waited for")
        };
        let inputs = journal.at(state.stops);
        let stand = Stand { model, state, minds, journal, inputs, tick_us: 100_000 };
        act(&stand, &stand.due(&robots), scratch, crew)
    }

    /// Takes a step with programs that run here.
    fn step(&mut self) {
        let robots = self.model.len();
        let mut told = 0;
        while told < robots {
            let (came, _) = self.ask(|stand, due, scratch, crew| {
                crew.ask(stand, due, |slot| registers_sensed(stand.model, stand.state, scratch, slot))
            });
            told += came.len();
            came.into_iter().for_each(|kind| self.journal.push(self.state.stops, kind));
        }
        self.go_on(Vec::new());
    }

    /// Takes a step with what programs decided elsewhere.
    fn go_on(&mut self, decided: Vec<InputKind>) {
        let stop = self.state.stops;
        decided.into_iter().for_each(|kind| self.journal.push(stop, kind));
        let Run { model, state, minds, scratch, pool, journal, .. } = self;
        assert!(matches!(step(model, state, minds, journal, scratch, pool), Step::Done(_)));
    }

    /// All robots leave.
    fn leave(&mut self, lodgings: &Lodgings) {
        for robot in self.model.uids.clone() {
            let away = self.crew.part_with(&self.model, robot, self.state.stops);
            lodgings.take_in(away.expect("its program runs"));
        }
    }
}

const EPOCH: u32 = 3;

fn lodgings() -> Lodgings {
    let lodgings = Lodgings::default();
    lodgings.begin(EPOCH);
    lodgings
}

fn question(epoch: u32, stop: u64, shown: &[Shown]) -> Vec<u8> {
    write(&Ask { epoch, stop, tick_us: 100_000, waits: true, shown: shown.to_vec() })
}

/// Asks until nobody is at work any more.
fn answers(lodgings: &Lodgings, stop: u64, shown: &[Shown]) -> Vec<Answer> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let answer = lodgings.answer(&question(EPOCH, stop, shown)).expect("an answer");
        let answers: Vec<Answer> = read(&answer).expect("answers");
        if !answers.contains(&Answer::AtWork) {
            return answers;
        }
        assert!(Instant::now() < until, "they do not answer");
    }
}

/// The number of quanta that a program had been shown when it decided this.
fn counted(answer: &Answer) -> Option<u32> {
    match answer {
        Answer::Decided(InputKind::Thought { accesses, .. }) => accesses.last().and_then(|a| a.write),
        _ => None,
    }
}

fn decided(answers: &[Answer]) -> Vec<InputKind> {
    let decided = |a: &Answer| match a {
        Answer::Decided(kind) => kind.clone(),
        other => panic!("{other:?}"),
    };
    answers.iter().map(decided).collect()
}

#[test]
fn who_asks_again_gets_the_same_answer_and_the_program_is_shown_each_stop_once() {
    let (mut run, lodgings) = (run(2, ""), lodgings());
    run.step();
    run.leave(&lodgings);
    for stop in 1..4 {
        let shown = run.shown();
        let first = answers(&lodgings, stop, &shown);
        assert_eq!(first.iter().map(counted).collect::<Vec<_>>(), [Some(stop as u32 + 1); 2]);
        assert_eq!(answers(&lodgings, stop, &shown), first);
        run.go_on(decided(&first));
    }
    // They are back, and go on here.
    for away in lodgings.give_back(|_| true) {
        run.crew.take_back(away, |_| true);
    }
    assert_eq!(answers(&lodgings, 4, &run.shown()), [Answer::NotHere, Answer::NotHere]);
    run.step();
    let last = run.journal.at(4).iter().map(|i| counted(&Answer::Decided(i.kind.clone())));
    assert_eq!(last.collect::<Vec<_>>(), [Some(5); 2]);
}

#[test]
fn questions_that_are_old_foreign_or_none_do_no_harm() {
    let (mut run, lodgings) = (run(1, ""), lodgings());
    run.step();
    run.leave(&lodgings);
    let shown = run.shown();
    for epoch in [0, EPOCH - 1, EPOCH + 1] {
        assert_eq!(lodgings.answer(&question(epoch, 1, &shown)), None, "epoch {epoch}");
    }
    let whole = question(EPOCH, 1, &shown);
    for cut in 0..whole.len() {
        assert_eq!(lodgings.answer(&whole[..cut]), None, "cut at {cut}");
    }
    let robot = run.model.uids[0];
    let forged = |robot: Uid, controller: u32, image: Vec<u8>| -> Shown {
        let ports: Vec<(u32, Vec<f64>)> = Vec::new();
        read(&write(&(robot, controller, false, image, ports))).expect("what is shown")
    };
    let bad = [
        forged(robot, 0, vec![0; 1]),
        forged(robot, 0, vec![0; 70_000]),
        forged(robot, 7, vec![0; 2]),
        forged(Uid(5), 0, vec![0; 2]),
    ];
    assert!(answers(&lodgings, 1, &bad).iter().all(|a| *a == Answer::NotHere));
    assert_eq!(
        answers(&lodgings, 0, &shown),
        [Answer::NotHere],
        "it had answered that before its robot left"
    );
    assert_eq!(counted(&answers(&lodgings, 1, &shown)[0]), Some(2), "it has seen nothing of all this");
    assert_eq!(counted(&answers(&lodgings, 5, &shown)[0]), Some(3));
    assert_eq!(
        answers(&lodgings, 4, &shown),
        [Answer::NotHere],
        "somebody who has gone on does not ask this"
    );
    lodgings.begin(EPOCH + 1);
    let answer = lodgings.answer(&question(EPOCH + 1, 6, &shown)).expect("an answer");
    assert_eq!(
        read::<Vec<Answer>>(&answer),
        Some(vec![Answer::NotHere]),
        "nothing of the last epoch is left"
    );
}

#[test]
fn programs_that_are_asked_together_work_together() {
    const ROBOTS: usize = 10;
    const EACH: Duration = Duration::from_secs(2);
    let (mut run, lodgings) = (run(ROBOTS, "if (n > 0) sleep(2);"), lodgings());
    run.step();
    run.leave(&lodgings);
    let (shown, began) = (run.shown(), Instant::now());
    let all = answers(&lodgings, 1, &shown);
    let took = began.elapsed();
    println!("{ROBOTS} programs of {EACH:?} each took {took:?} together");
    assert!(all.iter().all(|answer| counted(answer) == Some(2)), "{all:?}");
    assert!(took >= EACH && took < EACH * ROBOTS as u32 / 2, "{took:?}");
}
