//! x
use swarmyard::Sim;
use swarmyard_conformance::Dice;
use swarmyard_conformance::generate::{Wish, command, generate};
use swarmyard_engine::RunEvent;
#[test]
fn dbg() {
    let wish = Wish { seed: 3500376407, bodies: 40, rule: "impulse", speed: 100.0, quantum: "10ms", cell: 0.9 };
    let world = generate(&wish);
    let mut sim = Sim::from_text(&world.text).unwrap();
    let mut dice = Dice::new(wish.seed ^ 0xc0de);
    let (a, b) = world.divider.unwrap();
    let side = |p: swarmyard_base::Vec2| (b - a).cross(p - a) / (b - a).norm();
    println!("{:?}", world.divider);
    for q in 0..13 {
        command(&mut sim, &world, &mut dice, wish.speed);
        let before = sim.state().clone();
        let f = sim.step().unwrap();
        let o8 = sim.model().slot_of_path("/obstacles/o8").unwrap();
        if q >= 11 {
            println!("q {q} {:?} {:?} {:?} side {} limit {} halted {}", before.pose[o8], before.twist[o8], sim.model().outline(o8), side(before.pose[o8].at), sim.model().run.impact_limit, sim.state().halted[o8]);
            println!("  after {:?} {:?} side {}", sim.state().pose[o8], sim.state().twist[o8], side(sim.state().pose[o8].at));
            let uid = sim.model().uids[o8];
            for e in &f.events {
                match e {
                    RunEvent::Contact(c) if c.a == uid || c.b == uid => println!("  {} {:?} {:?} at {:?} imp {} closing {}", c.time_s, sim.model().path_of(c.a), sim.model().path_of(c.b), c.point, c.impulse, c.closing),
                    RunEvent::Contact(_) => {}
                    e => println!("  {e:?}"),
                }
            }
        }
    }
    println!("{}", world.text.lines().skip_while(|l| !l.contains("\"o8\"")).take(8).collect::<Vec<_>>().join("\n"));
}
