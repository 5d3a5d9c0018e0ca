//! What a robot's `proximity` sees among many that move: exactly those that are near, wherever everybody is.

use std::sync::{Arc, Mutex};
use swarmyard_base::Vec2;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{
    Answer, Built, Class, Cx, Kind, Microprotocol, Motion, Moving, PortSpec, ProtocolModel, ProtocolPort,
    Query, ServiceKind, Sheet,
};
use swarmyard_sim::{Options, Sim, standard_registry};

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);
const RANGE_M: f64 = 1.5;
const RADIUS_M: f64 = 0.1;

/// Who looked, and the distances it was told.
type Looks = Arc<Mutex<Vec<(u32, Vec<f64>)>>>;

/// Wanders about, and looks around whenever it sets out.
#[derive(Clone)]
struct Looker(Looks);

impl Microprotocol for Looker {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.timer(0, cx);
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        if let Ok(Answer::Numbers(distances)) = cx.pull(&Query::Proximity { range: RANGE_M }) {
            self.0.lock().expect("one thread").push((cx.me(), distances));
        }
        let draw = cx.chance();
        let velocity = Vec2::new(draw.between(0, -2.0, 2.0), draw.between(1, -2.0, 2.0));
        cx.go(MOTION, 0, Motion::Velocity { velocity, for_s: f64::INFINITY });
        cx.set_timer(draw.between(2, 0.2, 2.0));
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, _image: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

impl ProtocolModel for Looker {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(self.clone())
    }
}

fn world(contact: &str, looks: &Looks) -> Sim {
    let mut registry = standard_registry();
    let looker = Looker(Arc::clone(looks));
    let sheet = Sheet::new("looker", Kind::Algorithm, "For this test.");
    registry.add(Class::new(sheet, move |_, _| Ok(Built::Protocol(Arc::new(looker.clone())))));
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
            for (me, distances) in std::mem::take(&mut *looks.lock().expect("one thread")) {
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
