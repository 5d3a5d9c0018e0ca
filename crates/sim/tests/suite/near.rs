//! What a robot's `proximity` sees among many that move: exactly those that are near, wherever everybody is.

use crate::acting::{Act, Log, MOTION, add};
use swarmyard_base::Vec2;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{Answer, Cx, Motion, Query};
use swarmyard_sim::{Options, Sim, standard_registry};

const RANGE_M: f64 = 1.5;
const RADIUS_M: f64 = 0.1;

/// The distances that those who looked were told.
type Looks = Log<Vec<f64>>;

/// Wanders about, and looks around whenever it sets out.
#[derive(Clone)]
struct Looker(Looks);

impl Act for Looker {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.timer(cx);
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        if let Ok(Answer::Numbers(distances)) = cx.pull(&Query::Proximity { range: RANGE_M }) {
            self.0.write(cx, distances);
        }
        let draw = cx.chance();
        let velocity = Vec2::new(draw.between(0, -2.0, 2.0), draw.between(1, -2.0, 2.0));
        cx.go(MOTION, 0, Motion::Velocity { velocity, for_s: f64::INFINITY });
        cx.set_timer(draw.between(2, 0.2, 2.0));
    }
}

fn world(contact: &str, looks: &Looks) -> Sim {
    let mut registry = standard_registry();
    add(&mut registry, "looker", Looker(looks.clone()));
    let text = format!(
        r#"
format = 1
[run]
quantum = "1s"
duration = "4s"
contact = "{contact}"
[type.r]
radius = {RADIUS_M}
[[type.r.part]]
name = "glider"
class = "glider"
[[type.r.part]]
name = "eye"
class = "proximity"
[type.r.algorithm]
class = "looker"
[[robot]]
name = "r"
type = "r"
count = 60
layout = {{ class = "random", size = [12, 12] }}
"#
    );
    Sim::read("near.toml", &text, &NoFiles, &registry, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn those_that_are_near_are_seen_and_nobody_else() {
    for contact in ["ghost", "stop", "impulse"] {
        let looks = Looks::default();
        let mut sim = world(contact, &looks);
        let (mut looked, mut seen) = (0, 0);
        while !sim.is_over() {
            sim.step_to_event().unwrap_or_else(|e| panic!("{e}"));
            let all: Vec<Vec2> =
                (1..=60).map(|k| sim.pose(&format!("/robots/r{k}")).map_or(Vec2::ZERO, |p| p.at)).collect();
            for (_, me, distances) in looks.take() {
                let others = (0..all.len()).filter(|k| *k != me as usize);
                let mut near: Vec<f64> =
                    others.map(|k| (all[k] - all[me as usize]).norm() - 2.0 * RADIUS_M).collect();
                // Nobody is so near the edge that the last bits matter.
                near.retain(|d| *d <= RANGE_M);
                near.sort_by(f64::total_cmp);
                assert_eq!(distances.len(), near.len(), "{contact} at {}: {distances:?} {near:?}", sim.now());
                let same = |(a, b): (&f64, &f64)| (a - b.max(0.0)).abs() < 1e-9;
                assert!(distances.iter().zip(&near).all(same), "{contact}: {distances:?} {near:?}");
                (looked, seen) = (looked + 1, seen + near.len());
            }
        }
        println!("{contact}: looked {looked} times, saw {seen}");
        assert!(looked > 200 && seen > looked, "{contact}: {looked} looks, {seen} seen");
    }
}
