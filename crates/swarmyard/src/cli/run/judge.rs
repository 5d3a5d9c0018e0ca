//! Whether the protocols of a run kept their promises.

use super::RunArgs;
use crate::cli::fail::{Exit, Failure};
use crate::cli::{sweep, verdicts};
use serde_json::{Value, json};
use swarmyard::{Sim, Witness};
use swarmyard_radio::check::judge::Verdict;

/// Looks at what protocols do; does nothing when nobody asked.
#[derive(Default)]
pub(super) struct Judge {
    witness: Option<Witness>,
}

/// What came of it.
pub(super) struct Judged {
    witness: Witness,
    verdicts: Vec<Verdict>,
}

impl Judge {
    /// Has the run tell what its protocols do, if that is wanted.
    pub(super) fn open(args: &RunArgs, sim: &mut Sim) -> Result<Judge, Failure> {
        if !args.judge {
            return Ok(Judge::default());
        }
        let scene = sweep::scene(&args.file, &args.overrides())?;
        let witness = Witness::new(sim, &scene).ok_or_else(|| {
            let what = "there are no protocols to judge: no robot of this world lives by events";
            let help =
                "give a type of robots protocols and an algorithm (docs/protocols.md), or leave out --judge";
            Failure::new(Exit::Failed, "judge", what).help(help).on(args.file.display().to_string())
        })?;
        Ok(Judge { witness: Some(witness) })
    }

    /// What was done in one step.
    pub(super) fn look(&mut self, sim: &mut Sim) {
        if let Some(witness) = &mut self.witness {
            witness.look(sim);
        }
    }

    /// The run is over.
    pub(super) fn end(self, sim: &Sim, settle_s: f64) -> Option<Judged> {
        let witness = self.witness?;
        let verdicts = witness.verdicts(sim, settle_s);
        Some(Judged { witness, verdicts })
    }
}

impl Judged {
    /// Whether a promise was broken, or too much happened to be judged.
    pub(super) fn has_failed(&self) -> bool {
        verdicts::failed(&self.verdicts, self.witness.docket().has_overflowed())
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        if self.witness.docket().has_overflowed() {
            return format!("  promises    {}\n", verdicts::TOO_MUCH);
        }
        let uses = self.witness.uses();
        let not_judged = verdicts::not_judged(uses);
        let kept = self.verdicts.iter().filter(|v| v.broken.is_empty()).count();
        let mut text = match self.verdicts.len() {
            0 if not_judged.is_empty() => {
                "none: nobody asked a protocol for anything that is judged".to_owned()
            }
            0 => "none judged".to_owned(),
            all => format!("{kept} of {all} kept"),
        };
        text = format!("  promises    {text}\n");
        for line in (verdicts::text(uses, &self.verdicts) + &not_judged).lines() {
            text += &format!("    {line}\n");
        }
        text
    }

    /// Only what was broken.
    pub(super) fn breaches(&self) -> String {
        if self.witness.docket().has_overflowed() {
            return format!("promises {}", verdicts::TOO_MUCH);
        }
        let broken = self.verdicts.iter().filter(|v| !v.broken.is_empty());
        verdicts::text(self.witness.uses(), broken)
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        json!({
            "judged": !self.witness.docket().has_overflowed(), "events": self.witness.docket().kept().len(),
            "promises": verdicts::json(self.witness.uses(), &self.verdicts),
            "not_judged": verdicts::not_judged_json(self.witness.uses()),
        })
    }
}
