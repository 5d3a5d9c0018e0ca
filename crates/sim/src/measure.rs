//! Numbers taken of a run, in the language of conditions.
//!
//! In: a text such as `mean(self.speed)`, looked up once in the model. Out: its value in the state that a
//! run is in, and over the quanta of a run what a [`Take`] asks for. Never: a change of the run.
//!
//! It is judged by the same code as an assertion; `swarmyard/tests/suite/measures.rs` holds the two together.

use crate::Sim;
use swarmyard_base::Diagnostic;
use swarmyard_engine::{Formula, Model};
use swarmyard_scene::expr;
use swarmyard_scene::sweep::{Measure, Take};

/// A number of the world, its names looked up.
#[derive(Clone, Debug)]
pub struct Quantity(Formula);

impl Quantity {
    /// Looks the names of a text up in a model.
    ///
    /// # Errors
    /// What is wrong with the text, or which name is unknown.
    pub fn new(model: &Model, text: &str) -> Result<Quantity, Diagnostic> {
        let wrong = |what: String| Diagnostic::error("bad-condition", format!("in `{text}`: {what}"));
        let parsed = expr::parse(text).map_err(|e| wrong(e.message))?;
        Formula::new(model, &parsed).map(Quantity).map_err(|d| {
            let help = d.help.clone();
            let d = Diagnostic::error(d.code, format!("in `{text}`: {}", d.message));
            help.map_or(d.clone(), |h| d.help(h))
        })
    }

    /// Its value now. Truth is 1 or 0; what does not exist is not a number.
    #[must_use]
    pub fn value(&self, sim: &Sim) -> f64 {
        self.0.value(sim.model(), sim.state())
    }
}

/// What one measure of a sweep has seen of a run.
#[derive(Clone, Debug)]
pub struct Gauge {
    of: Quantity,
    when: Option<Quantity>,
    take: Take,
    seen: u64,
    value: f64,
}

impl Gauge {
    /// A measure of a run that begins.
    ///
    /// # Errors
    /// What is wrong with its texts.
    pub fn new(model: &Model, measure: &Measure) -> Result<Gauge, Diagnostic> {
        Ok(Gauge {
            of: Quantity::new(model, &measure.of)?,
            when: measure.when.as_deref().map(|when| Quantity::new(model, when)).transpose()?,
            take: measure.take,
            seen: 0,
            value: 0.0,
        })
    }

    /// Looks at the run: once after every step.
    pub fn look(&mut self, sim: &Sim) {
        if self.when.as_ref().is_some_and(|when| when.value(sim) == 0.0) {
            return;
        }
        self.seen += 1;
        if self.take == Take::First && self.seen > 1 {
            return;
        }
        let x = self.of.value(sim);
        self.value = match self.take {
            _ if self.seen == 1 => x,
            Take::End | Take::First => x,
            Take::Mean => self.value + x,
            Take::Min => self.value.min(x),
            Take::Max => self.value.max(x),
        };
    }

    /// What came of it; `None` when no quantum counted or it is not a number.
    #[must_use]
    pub fn answer(&self) -> Option<f64> {
        let value = if self.take == Take::Mean { self.value / self.seen as f64 } else { self.value };
        (self.seen > 0 && !value.is_nan()).then_some(value)
    }
}
