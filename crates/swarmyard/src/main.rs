//! probe
use swarmyard::{Options, Sim, bench::World, formats, standard_registry};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let world = World::ALL.iter().find(|w| w.0 == args[1]).unwrap().1;
    let n: usize = args[2].parse().unwrap();
    let threads: usize = args[3].parse().unwrap();
    let steps: usize = args[4].parse().unwrap();
    let reg = standard_registry();
    let t0 = std::time::Instant::now();
    let text = world.scenario(n);
    let mut loaded = formats::read("bench", &text, &[], &formats::NoFiles, &reg).unwrap_or_else(|e| panic!("{:?}", e.problems));
    world.place(&mut loaded.scene);
    let mut sim = Sim::from_scene(&loaded.scene, &reg, &Options { threads, ..Options::default() }).unwrap_or_else(|e| panic!("{e}"));
    println!("load {:?}", t0.elapsed());
    for _ in 0..3 { sim.step().unwrap(); }
    let t1 = std::time::Instant::now();
    for _ in 0..steps { sim.step().unwrap(); }
    let dt = t1.elapsed().as_secs_f64();
    println!("{} robot-steps/s wall, {:.0} ns each, contacts {} hash {:016x}", (n * steps) as f64 / dt, dt * 1e9 / (n * steps) as f64, sim.state().accounts.contacts, sim.hash());
}
