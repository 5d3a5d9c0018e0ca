//! A part model whose steps are computed on another host.
//!
//! In: what a model is shown for some robots. Out: what it answers, from a process here that stands for one over there
//! ([`Far`]), where [`compute`] reads the questions. A step is a function of what it is shown, so where it is computed
//! changes no bit; when the host cannot be reached or is lost, it is computed here.

use super::host::{Answer, Facts, Occasion, Shown, Statics};
use super::sandbox::{Fault, Sandbox};
use super::{Model, channel};
use crate::far::line::{Pipes, Talk, Task};
use crate::workshop::Elsewhere;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use swarmyard_part_api::{Beacon, FixedEdge, Outline, Track, TrackIndex};

#[derive(Serialize, Deserialize)]
enum Question<'a> {
    /// From now on this model.
    Model { code: Cow<'a, [u8]>, facts: Cow<'a, Facts>, fuel: u64, memory: u64 },
    /// What never moves.
    World { edges: Vec<FixedEdge>, tracks: Vec<Track>, beacons: Vec<Beacon>, outlines: Vec<Outline> },
    /// What comes of these. Only this has an answer: as many results.
    Steps { moment: Occasion, robots: Cow<'a, [Shown]> },
}

type Results = Vec<Result<Answer, Fault>>;

/// Who computes elsewhere.
pub(super) struct Far {
    elsewhere: Elsewhere,
    on: String,
    line: Mutex<Line>,
}

/// The way there.
enum Line {
    /// Nothing was asked yet.
    Unused,
    Open(Box<Talk>),
    /// It is not tried again.
    Lost,
}

impl Far {
    pub(super) fn new(elsewhere: Elsewhere, on: &str) -> Far {
        Far { elsewhere, on: on.to_owned(), line: Mutex::new(Line::Unused) }
    }

    /// What comes of these steps; nothing when that must be computed here.
    pub(super) fn steps(&self, model: &Model, moment: &Occasion, robots: &[Shown]) -> Option<Results> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*line, Line::Unused) {
            *line = self.open(model).map_or(Line::Lost, |talk| Line::Open(Box::new(talk)));
        }
        let Line::Open(talk) = &mut *line else { return None };
        let results = talk.say(&Question::Steps { moment: *moment, robots: Cow::Borrowed(robots) });
        let results = results.and_then(|()| talk.hear()).ok().filter(|results: &Results| {
            let width = model.sandbox.plan.width(false);
            let fits = |r: &Result<Answer, Fault>| {
                r.as_ref()
                    .map_or(true, |a| a.readings.len() == width && a.state.len() == model.sandbox.plan.keep)
            };
            results.len() == robots.len() && results.iter().all(fits)
        });
        match &results {
            Some(_) => talk.answered(),
            None => *line = Line::Lost,
        }
        results
    }

    /// Starts the process that stands for the one over there, and tells it everything that stays.
    fn open(&self, model: &Model) -> io::Result<Talk> {
        let mut talk = Talk::open(&self.elsewhere, &self.on, Task::PartModels)?;
        let Sandbox { facts, .. } = &model.sandbox;
        let code = model.files.first().map_or(&[][..], |(_, bytes)| bytes.as_slice());
        let (fuel, memory) = model.sandbox.budget();
        let question = Question::Model {
            code: Cow::Borrowed(code),
            facts: Cow::Borrowed(facts),
            fuel,
            memory: memory as u64,
        };
        talk.say(&question)?;
        let Statics { edges, tracks, beacons, outlines, .. } =
            (*model.sandbox.statics(Statics::default)).clone();
        talk.say(&Question::World { edges, tracks, beacons, outlines })?;
        Ok(talk)
    }
}

/// Computes what is asked until there are no more questions.
pub(crate) fn compute(mut pipes: Pipes) -> io::Result<()> {
    let (mut model, mut statics) = (None, Arc::new(Statics::default()));
    while let Some(question) = pipes.hear::<Question<'static>>()? {
        match question {
            Question::Model { code, facts, fuel, memory } => {
                let memory = usize::try_from(memory).unwrap_or(usize::MAX);
                let (mut sandbox, _) = Sandbox::new(&code, Arc::new(facts.into_owned()), (fuel, memory))
                    .map_err(io::Error::other)?;
                sandbox.names = Arc::new(sandbox.plan.channels.iter().map(channel).collect());
                model = Some(sandbox);
            }
            Question::World { edges, tracks, beacons, outlines } => {
                let index = TrackIndex::new(&tracks);
                statics = Arc::new(Statics { edges, tracks, index, beacons, outlines });
            }
            Question::Steps { moment, robots } => {
                let sandbox = model.as_ref().ok_or_else(|| io::Error::other("steps before a model"))?;
                let (commands, keep) = (sandbox.plan.width(true), sandbox.plan.keep);
                if robots.iter().any(|shown| shown.commands.len() != commands || shown.state.len() != keep) {
                    return Err(io::Error::other("what is shown does not fit the model"));
                }
                let statics = sandbox.statics(|| (*statics).clone());
                let mut results = Results::new();
                let mut ready = sandbox.ready(&moment, &statics);
                for shown in robots.iter() {
                    let show = |to: &mut Shown| to.clone_from(shown);
                    let ran = sandbox.step_of(&mut ready, &moment, show);
                    results.push(ran.cloned());
                }
                sandbox.done(ready);
                pipes.say(&results)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far::line::tests::{answers, bytes_of};

    const CODE: &str = r#"(module
        (import "part" "keep" (func $keep (param i32)))
        (memory (export "memory") 1)
        (func (export "part_describe") (call $keep (i32.const 1)))
        (func (export "part_step")))"#;

    fn asked(questions: &[Question<'_>]) -> (io::Result<()>, Vec<u8>) {
        let task = |pipes: &mut Pipes| pipes.say(&Task::PartModels).expect("said");
        let all = |pipes: &mut Pipes| questions.iter().for_each(|q| pipes.say(q).expect("said"));
        answers(bytes_of(&[&task, &all]))
    }

    fn model() -> Question<'static> {
        let facts = Facts {
            config: Default::default(),
            mount: Default::default(),
            reach: 0.0,
            drive: true,
            number: 0,
        };
        let code = wat::parse_str(CODE).expect("a module");
        Question::Model { code: code.into(), facts: Cow::Owned(facts), fuel: 1000, memory: 1 << 16 }
    }

    fn steps(state: Vec<f64>) -> Question<'static> {
        let shown = Shown { state, ..Shown::default() };
        Question::Steps { moment: Occasion::default(), robots: vec![shown].into() }
    }

    #[test]
    fn a_question_has_one_answer_and_the_end_of_questions_is_the_end() {
        let (done, out) = asked(&[model(), steps(vec![7.0])]);
        done.expect("computed");
        let mut pipes = Pipes::new(Box::new(io::Cursor::new(out)), Box::new(io::sink()));
        let results: Results = pipes.hear().expect("whole").expect("an answer");
        assert!(matches!(&results[..], [Ok(answer)] if answer.state == [7.0]), "{results:?}");
        let (done, out) = asked(&[model()]);
        assert!(done.is_ok() && out.is_empty(), "nothing was asked");
    }

    #[test]
    fn nonsense_ends_it_in_words() {
        let why = |questions: &[Question<'_>]| asked(questions).0.unwrap_err().to_string();
        assert!(why(&[steps(vec![7.0])]).contains("before a model"));
        assert!(why(&[model(), steps(Vec::new())]).contains("does not fit"));
    }
}
