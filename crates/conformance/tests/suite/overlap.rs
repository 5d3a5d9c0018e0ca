//! Nobody overlaps anybody, passes a wall or leaves the bounds: random worlds under every rule.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use swarmyard::Sim;
use swarmyard_base::Vec2;
use swarmyard_base::math;
use swarmyard_conformance::Dice;
use swarmyard_conformance::generate::{Generated, Wish, command, generate};
use swarmyard_conformance::oracle::{Thing, gap};
use swarmyard_engine::State;
use swarmyard_motion::SKIN_M;
use swarmyard_part_api::Outline;

/// A ten-thousandth of the engine's skin: rounding, and nothing else, may go this deep.
const ROUNDING_M: f64 = SKIN_M * 1e-4;

const RULES: [&str; 3] = ["stop", "impulse", "own"];

/// What was seen on the way.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    worlds: usize,
    quanta: usize,
    contacts: u64,
    limits: u64,
    least_gap: f64,
    carried: usize,
}

/// Checks one state; answers the least gap of any two things.
fn check(sim: &Sim, state: &State, world: &Generated, sides: &[f64]) -> Result<f64, String> {
    let model = sim.model();
    let bodies: Vec<Thing> =
        state.pose.iter().enumerate().map(|(k, p)| Thing::new(model.outline(k), *p)).collect();
    let fixed: Vec<Thing> = model.fixed.edges().iter().map(|e| Thing::line(e.a, e.b)).collect();
    let solids: Vec<Thing> = world.solids.iter().map(|c| Thing::polygon(c)).collect();
    let mut least = f64::INFINITY;
    let mut see = |a: usize, other: &Thing, what: &str| {
        let between = gap(&bodies[a], other);
        least = math::min(least, between);
        if between < -ROUNDING_M {
            return Err(format!("{} overlaps {what} by {}", &model.paths[a], -between));
        }
        Ok(())
    };
    for a in 0..bodies.len() {
        for (b, other) in bodies.iter().enumerate().take(a).filter(|(b, _)| !together(state, a, *b)) {
            see(a, other, &model.paths[b])?;
        }
        fixed.iter().try_for_each(|edge| see(a, edge, "a wall"))?;
        solids.iter().try_for_each(|solid| see(a, solid, "a fixed obstacle"))?;
        let (min, max) = model.bounds.expect("generated worlds are bounded");
        let round = bodies[a].round;
        for p in &bodies[a].corners {
            let inside =
                math::min(math::min(math::min(p.x - min.x, max.x - p.x), p.y - min.y), max.y - p.y) - round;
            if inside < -ROUNDING_M {
                return Err(format!("{} is {} outside of the bounds", &model.paths[a], -inside));
            }
        }
        if let Some(divider) = world.divider
            && side(divider, &bodies[a]) != sides[a]
        {
            return Err(format!("{} passed the wall", &model.paths[a]));
        }
    }
    Ok(least)
}

/// Whether one carries the other, or both are carried by the same: an arm may hold a thing over its
/// own robot.
fn together(state: &State, a: usize, b: usize) -> bool {
    let lead = |slot: usize| {
        state.carried.iter().find(|c| c.object as usize == slot).map_or(slot, |c| c.carrier as usize)
    };
    lead(a) == lead(b)
}

/// On which side of a wall a body is. Its origin may lie outside of its outline; the middle of its
/// corners does not.
fn side((a, b): (Vec2, Vec2), body: &Thing) -> f64 {
    let middle = body.corners.iter().fold(Vec2::ZERO, |sum, c| sum + *c) * (1.0 / body.corners.len() as f64);
    (b - a).cross(middle - a).signum()
}

/// The sides of all bodies at the start; zeros without a wall.
fn sides(sim: &Sim, world: &Generated) -> Vec<f64> {
    let poses = sim.state().pose.iter().enumerate();
    poses
        .map(|(k, p)| world.divider.map_or(0.0, |d| side(d, &Thing::new(sim.model().outline(k), *p))))
        .collect()
}

fn play(wish: &Wish, quanta: usize, tally: &mut Tally) -> Result<(), String> {
    let world = generate(wish);
    let mut sim = Sim::from_text(&world.text).map_err(|e| format!("does not load: {e}\n{}", world.text))?;
    let sides = sides(&sim, &world);
    check(&sim, sim.state(), &world, &sides).map_err(|why| format!("at the start: {why}"))?;
    let mut dice = Dice::new(wish.seed ^ 0xc0de);
    for quantum in 0..quanta {
        command(&mut sim, &world, &mut dice, wish.speed);
        sim.step().map_err(|e| e.to_string())?;
        let least = check(&sim, sim.state(), &world, &sides)
            .map_err(|why| format!("quantum {quantum} of {wish:?}: {why}"))?;
        tally.least_gap = math::min(tally.least_gap, least);
        tally.quanta += 1;
        tally.carried += sim.state().carried.len();
    }
    tally.worlds += 1;
    tally.contacts += sim.state().accounts.contacts;
    tally.limits += sim.state().accounts.impact_limits;
    Ok(())
}

/// Random worlds, the same in every run of the suite; a failing one is made as small as possible.
fn many(cases: u32, cell: f64, bodies: std::ops::Range<usize>, quanta: usize, hands: bool) -> Tally {
    let wishes = (any::<u32>(), bodies, 0..3_usize, 0..4_usize, 0..4_usize).prop_map(
        move |(seed, bodies, rule, speed, quantum)| Wish {
            seed: u64::from(seed),
            bodies,
            rule: RULES[rule],
            speed: [0.3, 3.0, 20.0, 100.0][speed],
            quantum: ["10ms", "100ms", "0.5s", "1s"][quantum],
            cell,
            hands,
        },
    );
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let tally = std::cell::Cell::new(Tally { least_gap: f64::INFINITY, ..Tally::default() });
    let run = |wish: Wish| {
        let mut now = tally.get();
        let result = play(&wish, quanta, &mut now);
        tally.set(now);
        result.map_err(TestCaseError::fail)
    };
    if let Err(e) = runner.run(&wishes, run) {
        panic!("{e}");
    }
    println!("{:?}", tally.get());
    tally.get()
}

#[test]
fn in_random_worlds_nobody_overlaps_passes_a_wall_or_leaves() {
    let tally = many(300, 1.2, 2..14, 20, false);
    assert!(tally.contacts > 10_000 && tally.limits > 20, "{tally:?}");
}

#[test]
fn in_dense_packs_nobody_overlaps_passes_a_wall_or_leaves() {
    let tally = many(25, 0.9, 20..50, 20, false);
    assert!(tally.contacts > 5_000, "{tally:?}");
}

#[test]
fn who_carries_something_overlaps_nobody_with_it_either() {
    let tally = many(200, 1.0, 4..20, 25, true);
    assert!(tally.contacts > 10_000 && tally.carried > 3_000, "{tally:?}");
}

/// In a corridor too narrow to pass one another, the order can never change.
#[test]
fn in_a_narrow_corridor_the_order_stays() {
    for (k, rule) in RULES.into_iter().enumerate() {
        let mut text = format!(
            "format = 1\n[run]\nquantum = \"1s\"\ncontact = \"{rule}\"\n[world]\nmin = [-10, -0.3]\nmax = [10, 0.3]\n\
             [type.a]\nradius = 0.2\n[[type.a.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nmax_speed = 100\n\
             [type.b]\nsize = [0.4, 0.3]\non_contact = \"stop\"\n[[type.b.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nmax_speed = 100\n"
        );
        for r in 0..12 {
            let ty = if r % 3 == 0 { "b" } else { "a" };
            text += &format!(
                "[[robot]]\nname = \"r{r}\"\ntype = \"{ty}\"\nat = [{}, 0]\n",
                f64::from(r) * 1.5 - 8.0
            );
        }
        let mut sim = Sim::from_text(&text).expect("loads");
        let mut dice = Dice::new(k as u64);
        for _ in 0..60 {
            for r in 0..12 {
                let speed = dice.between(-100.0, 100.0);
                for wheel in ["left", "right"] {
                    sim.command(&format!("/robots/r{r}/drive"), wheel, &[speed + dice.between(-0.02, 0.02)])
                        .expect("takes it");
                }
            }
            sim.step().expect("steps");
            let x = |r: i32| sim.pose(&format!("/robots/r{r}")).expect("is there").at.x;
            assert!((1..12).all(|r| x(r - 1) < x(r)), "{rule}: {:?}", (0..12).map(x).collect::<Vec<_>>());
        }
        assert!(sim.state().accounts.contacts > 100, "{rule}");
    }
}

/// A body that is deflected twice in one quantum must see what stands on its third leg, although
/// that lies inside the box around the first two.
#[test]
fn after_two_deflections_in_one_quantum_nothing_is_overlooked() {
    let scenario = |target: &str| {
        format!(
            "format = 1\n[run]\nquantum = \"1s\"\ncontact = \"impulse\"\nfloor_friction = 0\n[surface.mirror]\nrestitution = 1\nfriction = 0\n\
             [[wall]]\nname = \"first\"\nsurface = \"mirror\"\npoints = [[4.15, -1], [6.15, 1]]\n\
             [[wall]]\nname = \"second\"\nsurface = \"mirror\"\npoints = [[4, 2.3], [6, 4.3]]\n\
             [[obstacle]]\nname = \"ball\"\nradius = 0.1\nat = [0, 0]\nvelocity = [10, 0]\nsurface = \"mirror\"\n{target}"
        )
    };
    let wall = "[[wall]]\nname = \"third\"\npoints = [[5.7, 2], [5.7, 4]]\n";
    let crate_ = "[[obstacle]]\nname = \"third\"\nsize = [0.2, 2]\nat = [5.8, 3]\nmovable = true\n";
    for target in [wall, crate_] {
        let mut sim = Sim::from_text(&scenario(target)).expect("loads");
        let frame = sim.step().expect("steps");
        let contacts = frame.events.len();
        let ball = sim.pose("/obstacles/ball").expect("is there").at;
        assert!(contacts >= 3 && ball.x < 5.7, "{contacts} contacts, the ball is at {ball:?}");
    }
    let mut free = Sim::from_text(&scenario("")).expect("loads");
    free.step().expect("steps");
    assert!(
        free.pose("/obstacles/ball").expect("is there").at.x > 6.0,
        "without the third the ball gets there"
    );
}

/// A body whose arc turns far in one quantum has an envelope that reaches farther than its path is
/// long. Whoever it is pushed into there must have been looked for that far.
#[test]
fn a_body_pushed_off_its_arc_meets_who_comes_from_far() {
    // Many things far away make the cells small, so that no one is found by luck.
    let mut far = String::new();
    for k in 0..1600 {
        let (x, y) = (f64::from(k % 40) * 0.5 - 9.75, f64::from(k / 40) * 0.5 - 10.0);
        if x.abs() > 4.0 || y.abs() > 4.0 {
            far += &format!("[[obstacle]]\nname = \"far{k}\"\nradius = 0.05\nat = [{x}, {y}]\n");
        }
    }
    let mut met = 0;
    for from in 0..20 {
        let text = format!(
            "format = 1\n[run]\nquantum = \"1s\"\ncontact = \"impulse\"\n[surface.s]\nrestitution = 0\nfriction = 0\n\
             [type.arc]\nradius = 0.1\nsurface = \"s\"\n[[type.arc.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
             base = 0.2\nmax_speed = 2\n[type.arc.controller]\nclass = \"cruise\"\nleft = 0.68\nright = 1.32\n\
             [[robot]]\nname = \"a\"\ntype = \"arc\"\nat = [0, -0.02]\n\
             [[obstacle]]\nname = \"b\"\nradius = 0.1\nat = [{}, 1.48]\nvelocity = [-1.05, 0]\nsurface = \"s\"\n\
             [[obstacle]]\nname = \"pusher\"\nradius = 0.1\nmass = 1000\nat = [0.06, -0.23]\nvelocity = [0, 1.4]\nsurface = \"s\"\n{far}",
            1.2 + f64::from(from) * 0.05
        );
        let mut sim = Sim::from_text(&text).expect("loads");
        let frame = sim.step().expect("steps");
        let thing = |path: &str| Thing::new(&Outline::disc(0.1), sim.pose(path).expect("is there"));
        let between = gap(&thing("/robots/a"), &thing("/obstacles/b"));
        assert!(between > 0.0, "they overlap by {} after {} contacts", -between, frame.events.len());
        met += usize::from(frame.events.len() >= 2);
    }
    assert!(met >= 3, "only {met} met");
}

/// A push that moves a resting body by less than the skin is still a push.
#[test]
fn a_slow_push_presses_nobody_into_a_wall_or_another() {
    for (rule, speed) in [("impulse", 1e-4), ("impulse", 1e-5), ("own", 5e-5)] {
        let mut sim = Sim::from_text(&format!(
            "format = 1\n[run]\nquantum = \"100ms\"\ncontact = \"{rule}\"\n[world]\nmin = [-1, -1]\nmax = [1, 1]\n\
             [type.a]\nradius = 0.1\n[[type.a.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n[type.a.controller]\nclass = \"cruise\"\nleft = {speed}\nright = {speed}\n\
             [[robot]]\nname = \"pusher\"\ntype = \"a\"\nat = [0.29995, 0]\n\
             [[obstacle]]\nname = \"first\"\nsize = [0.2, 0.2]\nat = [0.5, 0]\nmovable = true\n\
             [[obstacle]]\nname = \"second\"\nradius = 0.1\nat = [0.70002, 0]\nmovable = true\n\
             [[obstacle]]\nname = \"third\"\nsize = [0.19995, 0.2]\nat = [0.90000, 0]\nmovable = true\n",
        ))
        .expect("loads");
        let none = Generated {
            text: String::new(),
            drives: Vec::new(),
            hands: Vec::new(),
            solids: Vec::new(),
            divider: None,
        };
        for quantum in 0..400 {
            sim.step().expect("steps");
            check(&sim, sim.state(), &none, &[])
                .unwrap_or_else(|why| panic!("{rule} at {speed} m/s, quantum {quantum}: {why}"));
        }
        assert!(sim.state().accounts.contacts > 100);
    }
}

/// However slowly two discs creep toward one another, they never overlap.
#[test]
fn creeping_discs_never_overlap() {
    for speed in [2e-8, 5e-8, 9e-8, 2e-7, 1e-6] {
        let mut sim = Sim::from_text(&format!(
            "format = 1\n[run]\nquantum = \"10s\"\nduration = \"100h\"\n[type.a]\nradius = 0.1\n[[type.a.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
             [type.a.controller]\nclass = \"cruise\"\nleft = {speed}\nright = {speed}\n\
             [[robot]]\nname = \"a\"\ntype = \"a\"\nat = [0, 0]\n[[robot]]\nname = \"b\"\ntype = \"a\"\nat = [0.200015, 0, 3.141592653589793]\n",
        ))
        .expect("loads");
        for quantum in 0..1000 {
            sim.step().expect("steps");
            let x = |who: &str| sim.pose(who).expect("is there").at.x;
            let between = x("/robots/b") - x("/robots/a") - 0.2;
            assert!(between > 0.0, "{speed} m/s, quantum {quantum}: gap {between}");
        }
    }
}

/// The check must be able to fail: somebody is put on somebody else, beyond the border, or through
/// the wall.
#[test]
fn the_check_sees_overlap_escape_and_passing() {
    let wish =
        Wish { seed: 5, bodies: 9, rule: "stop", speed: 1.0, quantum: "100ms", cell: 1.2, hands: false };
    let world = (0..)
        .map(|seed| generate(&Wish { seed, ..wish.clone() }))
        .find(|w| w.divider.is_some())
        .expect("some have a divider");
    let sim = Sim::from_text(&world.text).expect("loads");
    let sides = sides(&sim, &world);
    assert!(check(&sim, sim.state(), &world, &sides).is_ok());
    let moved = |to: Vec2| {
        let mut state = sim.state().clone();
        state.pose[0].at = to;
        check(&sim, &state, &world, &sides)
    };
    assert!(moved(sim.state().pose[1].at + Vec2::new(1e-3, 0.0)).is_err(), "overlap");
    assert!(moved(Vec2::new(50.0, 0.0)).is_err(), "escape");
    let other_side =
        (1..sim.state().pose.len()).find(|&k| sides[k] != sides[0]).expect("both sides are used");
    let mut state = sim.state().clone();
    state.pose.swap(0, other_side);
    assert!(check(&sim, &state, &world, &sides).is_err(), "passing");
}
