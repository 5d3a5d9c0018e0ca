//! The rules, one file each, and their names.

mod ando;
mod circle;
mod compass;
mod consensus;
mod gather;
mod gravity;
mod leader;
mod life_line;
mod lights;
mod lloyd;
mod midpoint;
mod minbox;
mod orca;
mod pattern;
mod pursuit;
mod scatter;
mod sectors;
mod settling;
mod spread;
mod steered;
mod vicsek;
mod weber;

pub use ando::Ando;
pub use circle::CircleFormation;
pub use compass::{Arcs, Erring, Errors};
pub use consensus::{Consensus, Topology};
pub use gather::GatherR2;
pub use gravity::Gravity;
pub use leader::LeaderFollower;
pub use life_line::LifeLine;
pub use lights::TwoLights;
pub use lloyd::Lloyd;
pub use midpoint::Midpoint;
pub use minbox::MinBox;
pub use orca::{GiveWay, Orca};
pub use pattern::PatternFormation;
pub use pursuit::CyclicPursuit;
pub use scatter::Scatter;
pub use sectors::{Sector, Sectors};
pub use settling::Settling;
pub use spread::Spread;
pub use steered::Steered;
pub use vicsek::Vicsek;
pub use weber::Weber;

use super::Rule;
use super::flocks::{CuckerSmale, OlfatiSaber, Platoon, Reynolds};
use std::sync::Arc;
use swarmyard_base::Vec2;

/// Numbers that rules may need; each takes those that mean something to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Longest way of one round, or the way of every round, m.
    pub step_m: f64,
    /// Width of the noise on a heading, rad.
    pub noise_rad: f64,
    /// Weight of others in consensus.
    pub gain: f64,
    /// Length of a round in the time of rules that steer, s.
    pub round_s: f64,
    /// The rectangle to cover.
    pub area: (Vec2, Vec2),
    /// Place of a follower in the leader's frame of axes, m.
    pub offset: Vec2,
    /// The pattern to form, in any place and size.
    pub pattern: Vec<Vec2>,
    /// Speed towards a goal, m/s.
    pub speed: f64,
    /// Goals in the world, by robot.
    pub goals: Vec<Vec2>,
    /// How robots with goals give way to each other.
    pub way: GiveWay,
    /// Greatest error of a compass, for rules that are made for one, rad.
    pub compass_rad: f64,
    /// The flock of Cucker and Smale.
    pub cucker_smale: CuckerSmale,
    /// That of Olfati-Saber; only algorithm 2 has its goal.
    pub olfati_saber: OlfatiSaber,
    /// Reynolds' boids.
    pub reynolds: Reynolds,
    /// The platoon.
    pub platoon: Platoon,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            step_m: 0.1,
            noise_rad: 0.0,
            gain: 0.1,
            round_s: 0.1,
            area: (Vec2::ZERO, Vec2::new(1.0, 1.0)),
            offset: Vec2::new(-1.0, 0.0),
            pattern: Vec::new(),
            speed: 1.0,
            goals: Vec::new(),
            way: GiveWay::default(),
            compass_rad: 0.0,
            cucker_smale: CuckerSmale::default(),
            olfati_saber: OlfatiSaber::towards(Vec2::ZERO, Vec2::ZERO),
            reynolds: Reynolds::default(),
            platoon: Platoon::default(),
        }
    }
}

/// Names of all rules.
pub const NAMES: &[&str] = &[
    "centre-of-gravity",
    "midpoint",
    "minbox",
    "go-to-the-centre",
    "gather",
    "weber",
    "weber-align",
    "two-lights",
    "sectors",
    "sectors-changing",
    "compass-kept",
    "compass-changing",
    "compass-changing-async",
    "compass-settling",
    "circle",
    "spread",
    "spread-to-midpoint",
    "scatter",
    "pattern",
    "vicsek",
    "cyclic-pursuit",
    "lloyd",
    "consensus",
    "consensus-on-a-ring",
    "consensus-on-a-path",
    "cucker-smale",
    "olfati-saber-1",
    "olfati-saber-2",
    "reynolds",
    "platoon",
    "leader-follower",
    "orca",
    "life-line",
];

/// The rule of that name.
#[must_use]
pub fn by_name(name: &str, tuning: &Tuning) -> Option<Arc<dyn Rule>> {
    let t = tuning.clone();
    let consensus = |topology| Arc::new(Consensus { topology, gain: t.gain }) as Arc<dyn Rule>;
    Some(match name {
        "centre-of-gravity" => Arc::new(Gravity),
        "midpoint" => Arc::new(Midpoint),
        "minbox" => Arc::new(MinBox),
        "go-to-the-centre" => Arc::new(Ando),
        "gather" => Arc::new(GatherR2),
        "weber" => Arc::new(Weber::Gather),
        "weber-align" => Arc::new(Weber::Align),
        "two-lights" => Arc::new(TwoLights),
        "sectors" => Arc::new(Sectors::Fixed),
        "sectors-changing" => Arc::new(Sectors::Changing),
        "compass-kept" => Arc::new(Erring::new(Errors::Kept, t.compass_rad)),
        "compass-changing" => Arc::new(Erring::new(Errors::Changing, t.compass_rad)),
        "compass-changing-async" => Arc::new(Erring::new(Errors::ChangingAsync, t.compass_rad)),
        "compass-settling" => Arc::new(Settling),
        "circle" => Arc::new(CircleFormation),
        "spread" => Arc::new(Spread::HalfWay),
        "spread-to-midpoint" => Arc::new(Spread::ToMidpoint),
        "scatter" => Arc::new(Scatter),
        "pattern" => Arc::new(PatternFormation { pattern: t.pattern }),
        "vicsek" => Arc::new(Vicsek { step_m: t.step_m, noise_rad: t.noise_rad }),
        "cyclic-pursuit" => Arc::new(CyclicPursuit { step_m: t.step_m }),
        "lloyd" => Arc::new(Lloyd { low: t.area.0, high: t.area.1 }),
        "consensus" => consensus(Topology::Complete),
        "consensus-on-a-ring" => consensus(Topology::Ring),
        "consensus-on-a-path" => consensus(Topology::Path),
        "cucker-smale" => {
            let flock = Steered::new("cucker-smale", t.cucker_smale, t.round_s);
            Arc::new(flock.kicked(t.step_m))
        }
        "olfati-saber-1" => {
            let free = OlfatiSaber { goal: None, ..t.olfati_saber };
            Arc::new(Steered::new("olfati-saber-1", free, t.round_s))
        }
        "olfati-saber-2" => Arc::new(Steered::new("olfati-saber-2", t.olfati_saber, t.round_s)),
        "reynolds" => Arc::new(Steered::new("reynolds", t.reynolds, t.round_s)),
        "platoon" => Arc::new(Steered::new("platoon", t.platoon, t.round_s)),
        "leader-follower" => {
            let step = Vec2::new(t.step_m, 0.0);
            Arc::new(LeaderFollower { step, offset: t.offset, foresees: true })
        }
        "orca" => Arc::new(Orca {
            way: t.way,
            speed: t.speed,
            noise_rad: t.noise_rad,
            round_s: t.round_s,
            goals: t.goals,
        }),
        "life-line" => Arc::new(LifeLine { step_m: t.step_m, keep: 0.9, noise_rad: t.noise_rad }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_rule_of_that_name() {
        for name in NAMES {
            let rule = by_name(name, &Tuning::default()).expect(name);
            assert_eq!(rule.name(), *name);
        }
        assert!(by_name("nonsense", &Tuning::default()).is_none());
    }
}
