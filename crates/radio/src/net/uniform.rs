//! The uniform network: delays between a least and a greatest, all equally likely.

use super::draws;
use super::faulty::{self, Faulty, Flaws};
use super::prompt::Prompt;
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Air, Built, Class, Kind, Message, Network, NetworkModel, Param, Sheet, TypeLayout};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    faulty::with_flaws(
        Sheet::new("uniform", Kind::Network, "Each copy of a message takes a time of its own between a least and a greatest, all equally likely.")
            .param(Param::number("least", Unit::Second, "Least delay.").within(0.0, 1.0e6).or_num(0.0))
            .param(Param::number("most", Unit::Second, "Greatest delay.").within(0.0, 1.0e6).or_num(1.0e-2)),
    )
    .example("[network]\nclass = \"uniform\"\nleast = \"1ms\"\nmost = \"5ms\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let (least_s, most_s) = (p.num("least"), p.num("most"));
    if most_s < least_s {
        let what = format!("the greatest delay `{most_s}` s is less than the least, `{least_s}` s");
        let d = Diagnostic::error("out-of-range", what).at(p.span("most").or(p.span("least")));
        return Err(d.help("let `most` be at least `least`"));
    }
    Ok(Built::Network(Arc::new(Uniform { least_s, most_s, flaws: Flaws::from_params(p)? })))
}

/// The uniform network with its parameters.
#[derive(Clone, Debug, Default)]
pub struct Uniform {
    /// Least delay.
    pub least_s: f64,
    /// Greatest delay.
    pub most_s: f64,
    /// What else happens to messages.
    pub flaws: Flaws,
}

impl NetworkModel for Uniform {
    fn start(&self, robots: u32) -> Box<dyn Network> {
        let (least_s, most_s) = (self.least_s, self.most_s);
        let delay_s = move |air: &dyn Air, message: &Message, to| {
            air.chance(message, to).between(draws::DELAY, least_s, most_s)
        };
        Box::new(Faulty::new(Box::new(Prompt(delay_s)), robots, self.flaws.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::StillAir;

    #[test]
    fn delays_lie_between_least_and_most_with_the_moments_of_a_uniform() {
        let mut network = Uniform { least_s: 2.0, most_s: 6.0, ..Uniform::default() }.start(2);
        let mut air = StillAir::new(2, 5);
        let n = 40_000;
        for _ in 0..n {
            air.send(&mut *network, 0, &[1], b"x");
        }
        air.run(&mut *network, 100.0);
        let n = f64::from(n);
        let times: Vec<f64> = air.arrived.iter().map(|a| a.seconds()).collect();
        assert!(times.iter().all(|t| (2.0..6.0).contains(t)));
        let mean = times.iter().sum::<f64>() / n;
        let variance = times.iter().map(|t| (t - mean) * (t - mean)).sum::<f64>() / n;
        // Mean 4, variance 16/12; five standard errors.
        assert!((mean - 4.0).abs() < 5.0 * (16.0 / 12.0 / n).sqrt(), "{mean}");
        assert!(
            (variance - 16.0 / 12.0).abs() < 5.0 * (0.8_f64 * 16.0 / 12.0 * 16.0 / 12.0 / n).sqrt(),
            "{variance}"
        );
    }

    #[test]
    fn the_least_must_not_be_more_than_the_most() {
        use swarmyard_scene::Value;
        let sheet = sheet();
        let mut params = Params::default();
        for param in &sheet.params {
            if let Some(value) = &param.default {
                params.set(param.name, value.clone(), None);
            }
        }
        assert!(Flaws::from_params(&params).is_ok());
        params.set("least", Value::Num(1.0), None);
        let outline = swarmyard_part_api::Outline::disc(0.1);
        let registers = swarmyard_part_api::RegisterMap::default();
        let layout = TypeLayout { outline: &outline, parts: &[], registers: &registers, name: "" };
        assert!(build(&params, &layout).is_err());
    }
}
