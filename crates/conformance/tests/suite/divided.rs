//! A world divided among workers goes the same way as in one process, to the bit: whoever has which body,
//! however the plane is cut, however often bodies change hands.

use swarmyard::{Options, Sim, registry_with};
use swarmyard_base::math;
use swarmyard_conformance::generate::{Wish, command, generate};
use swarmyard_conformance::{Dice, Folder, workshop, worlds};
use swarmyard_engine::{
    Checkpoint, Compiled, Cut, Frame, Gesture, How, Intent, Journal, Margins, Minds, Model, Part, Planned,
    Pool, Scratch, Settled, Share, State, Step, Whole, compile, step, step_hash, undivided,
};

fn load(name: &str, text: &str) -> Compiled {
    let registry = registry_with(workshop());
    let read = swarmyard_formats::read(name, text, &[], &Folder, &registry);
    let loaded = read.unwrap_or_else(|e| panic!("{name}: {:?}", e.problems));
    compile(&loaded.scene, &registry).unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

/// How a run is divided.
#[derive(Clone, Copy, Debug)]
struct Way {
    workers: u32,
    how: How,
    /// Quanta after which bodies change hands.
    period: u64,
}

struct Divided {
    whole: Model,
    state: State,
    shares: Vec<Share>,
    cut: Cut,
    way: Way,
    widened: u32,
    moved: usize,
    /// The last state all were sure of, and what else it takes to go on from there.
    safe: (State, Checkpoint),
    margins: Margins,
    name: String,
    text: String,
}

impl Divided {
    fn new(name: &str, text: &str, way: Way) -> Divided {
        let Compiled { model, state, .. } = load(name, text);
        let minds = Minds::new(&model);
        let margins = Margins::of(&model, &state, way.period);
        let mut divided = Divided {
            cut: Cut::even(&[], 1, How::Tree),
            safe: (state.clone(), Checkpoint::of(&model, &state, &minds)),
            state,
            whole: model,
            shares: Vec::new(),
            way,
            widened: 0,
            moved: 0,
            margins,
            name: name.to_owned(),
            text: text.to_owned(),
        };
        divided.deal();
        divided
    }

    /// Deals the bodies out anew from the last state all were sure of.
    fn deal(&mut self) {
        self.state = self.safe.0.clone();
        self.cut = cut(&self.state, self.way);
        let charges = self.safe.1.deal(&self.cut, &self.margins);
        let regions = self.cut.regions();
        let borders = |me: usize| {
            let others = regions.iter().enumerate().filter(|(k, _)| *k != me);
            others.map(|(_, region)| self.margins.known(region, 0)).collect()
        };
        self.shares = charges
            .iter()
            .enumerate()
            .map(|(me, charge)| {
                let model = load(&self.name, &self.text).model;
                Share::new(model, charge, (self.margins, borders(me)), Vec::new()).expect("the charge fits")
            })
            .collect();
    }

    fn step(&mut self, journal: &Journal, pool: &Pool) -> Frame {
        loop {
            match self.try_step(journal, pool) {
                Some(frame) => return frame,
                None => {
                    self.margins = self.margins.wider();
                    let stop = self.state.stops;
                    self.deal();
                    while self.state.stops < stop {
                        assert!(self.try_step(journal, pool).is_some(), "it was sure of this before");
                    }
                }
            }
        }
    }

    fn try_step(&mut self, journal: &Journal, pool: &Pool) -> Option<Frame> {
        let mut told: Vec<Vec<Intent>> = Vec::new();
        for share in &mut self.shares {
            assert_eq!(share.plan(journal, pool), Planned::Ready);
            told.push(share.intents_near());
        }
        for (share, told) in self.shares.iter_mut().zip(&mut told) {
            share.plan_inside(pool);
            let all: Vec<Intent> = share.intents().collect();
            assert!(told.iter().all(|near| all.contains(near)), "what was told first holds");
            *told = all;
        }
        let gestures: Vec<Vec<Gesture>> = self.shares.iter().map(Share::gestures).collect();
        let regions = self.cut.regions();
        let mut parts: Vec<Part> = Vec::new();
        for (me, region) in regions.iter().enumerate() {
            let mut widening = 0;
            loop {
                let known = self.margins.known(region, widening);
                let others: Vec<Intent> = told
                    .iter()
                    .enumerate()
                    .filter(|(k, _)| *k != me)
                    .flat_map(|(_, all)| all.iter().filter(|i| known.contains(i.segment.pose.at)))
                    .copied()
                    .collect();
                let hands = gestures.iter().enumerate().filter(|(k, _)| *k != me);
                let hands: Vec<Gesture> = hands.flat_map(|(_, all)| all.iter().cloned()).collect();
                match self.shares[me].settle((&others, &hands), region, widening, pool) {
                    Settled::Done(part) => break parts.push(part),
                    Settled::Farther => return None,
                    Settled::Unsure => widening += 1,
                }
                self.widened += 1;
                assert!(widening < 30, "the whole world is known, and it is still unsure");
            }
        }
        let parcels: Vec<_> = self.shares.iter().flat_map(|s| s.parcels(false)).collect();
        let mut whole = Whole { model: &self.whole, state: &mut self.state };
        let frame = whole.step(parts, Some(&parcels), journal).expect("the parts fit");
        if frame.stops.is_multiple_of(self.way.period) {
            self.change_hands();
        }
        Some(frame)
    }

    fn change_hands(&mut self) {
        self.cut = cut(&self.state, self.way);
        let regions = self.cut.regions();
        let mut leaving: Vec<_> = (0..self.shares.len()).map(|_| Vec::new()).collect();
        for (me, share) in self.shares.iter().enumerate() {
            for (owner, parcel) in share.leaving(&self.cut, me as u32) {
                self.moved += 1;
                leaving[owner as usize].push(parcel);
            }
        }
        let seen: Vec<_> =
            self.shares.iter().flat_map(|s| s.sightings(&swarmyard_engine::Area::EVERYWHERE)).collect();
        for (me, share) in self.shares.iter_mut().enumerate() {
            let known = self.margins.known(&regions[me], 0);
            let ghosts: Vec<_> = seen.iter().filter(|s| known.contains(s.1.pose.at)).copied().collect();
            share.change_hands((&self.cut, me as u32), &leaving[me], &ghosts).expect("the parcels fit");
        }
    }
}

fn cut(state: &State, way: Way) -> Cut {
    let places: Vec<_> = state.pose.iter().map(|p| (p.at, 1.0)).collect();
    Cut::even(&places, way.workers, way.how)
}

/// What came of dividing a run.
#[derive(Default)]
struct Tally {
    /// How often a worker had to know more than it was told.
    widened: u32,
    /// Bodies that changed hands.
    moved: usize,
    /// Things that were carried, over all steps.
    carried: usize,
    /// Things that were carried by robots of another worker.
    across: usize,
    /// Bodies that came back on the other side.
    wrapped: usize,
    /// Bodies that waited outside for room there, over all steps.
    waited: usize,
}

/// Takes `steps` steps both ways, and compares every hash and every event.
fn compare(name: &str, text: &str, journal: &Journal, way: Way, steps: u64) -> Tally {
    let pool = Pool::new(1).expect("one thread");
    let Compiled { model, mut state, .. } = load(name, text);
    let (mut minds, mut scratch) = (Minds::new(&model), Scratch::default());
    let mut divided = Divided::new(name, text, way);
    let mut tally = Tally::default();
    for _ in 0..steps {
        let before = state.pose.clone();
        let Step::Done(one) = step(&model, &mut state, &mut minds, journal, &mut scratch, &pool) else {
            panic!("{name} waits for somebody");
        };
        let width = model.bounds.map_or(f64::INFINITY, |(min, max)| math::min(max.x - min.x, max.y - min.y));
        let jumped =
            |(a, b): &(&swarmyard_base::Pose2, &swarmyard_base::Pose2)| (a.at - b.at).norm() > width / 2.0;
        let bounds = model.bounds.unwrap_or_default();
        let outside = |p: &&swarmyard_base::Pose2| p.at.x < bounds.0.x || p.at.x > bounds.1.x;
        tally.waited += state.pose.iter().filter(outside).count();
        tally.wrapped += before.iter().zip(&state.pose).filter(jumped).count();
        tally.carried += state.carried.len();
        let owner = |slot: u32| divided.shares.iter().position(|s| s.own().contains(&slot));
        tally.across += state.carried.iter().filter(|c| owner(c.object) != owner(c.carrier)).count();
        let many = divided.step(journal, &pool);
        assert!(one.events == many.events, "{name} {way:?} at {:?}: other events", one.now);
        assert_eq!(
            one.hash,
            many.hash,
            "{name} {way:?} at {:?}: {}",
            one.now,
            differs(&model, &state, &divided)
        );
        if one.stops > 0 && state.ended {
            break;
        }
    }
    assert_eq!(step_hash(&model, &state), step_hash(&model, &divided.state), "{name} {way:?}");
    (tally.widened, tally.moved) = (divided.widened, divided.moved);
    tally
}

/// The first body that differs.
fn differs(model: &Model, state: &State, divided: &Divided) -> String {
    let other = &divided.state;
    let body = (0..model.len()).find(|&k| state.pose[k] != other.pose[k] || state.twist[k] != other.twist[k]);
    format!("{:?}", body.map(|k| (&model.paths[k], state.pose[k], other.pose[k])))
}

#[test]
fn every_divisible_world_has_the_same_hashes_on_several_workers() {
    let mut divided = 0;
    for world in worlds() {
        let model = load(&world.name, &world.text).model;
        let waits = model.types.iter().flat_map(|ty| &ty.controllers).any(|c| c.model.waits());
        if undivided(&model).is_some() || waits {
            continue;
        }
        divided += 1;
        let way = Way { workers: 3, how: How::Tree, period: 4 };
        let tally = compare(&world.name, &world.text, &Journal::default(), way, 40);
        println!("{}: widened {} times, {} bodies changed hands", world.name, tally.widened, tally.moved);
    }
    assert!(divided >= 16, "{divided}");
}

/// Robots with grippers and arms that random commands drive about, close together.
#[test]
fn what_hands_do_is_the_same_whoever_has_hand_and_thing() {
    let mut all = Tally::default();
    for (seed, rule) in (0..12).zip(["stop", "impulse", "own"].into_iter().cycle()) {
        let wish = Wish { seed, bodies: 30, rule, speed: 2.0, quantum: "100ms", cell: 0.95, hands: true };
        let world = generate(&wish);
        let name = format!("carriers {seed}");
        let mut sim = Sim::read(&name, &world.text, &Folder, &registry_with(workshop()), &Options::default())
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut dice = Dice::new(seed);
        for _ in 0..40 {
            command(&mut sim, &world, &mut dice, wish.speed);
            sim.step().expect("nobody is waited for");
        }
        let way = Way {
            workers: dice.below(4) as u32 + 2,
            how: dice.pick(&[How::Tree, How::Columns, How::Rows]),
            period: dice.below(5) as u64 + 1,
        };
        let tally = compare(&name, &world.text, sim.journal(), way, 40);
        all.carried += tally.carried;
        all.across += tally.across;
        all.moved += tally.moved;
    }
    println!(
        "{} carried, {} of them by another worker's, {} changed hands",
        all.carried, all.across, all.moved
    );
    assert!(all.carried > 500 && all.across > 50 && all.moved > 50);
}

/// Things that drift over the border, and robots that look at them.
fn torus(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = "format = 1\n[run]\nquantum = \"100ms\"\ncontact = \"impulse\"\n[world]\nmin = [-3, -2]\nmax = [3, 2]\n\
        [type.scout]\nradius = 0.12\n[[type.scout.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n[[type.scout.part]]\n\
        name = \"rays\"\nclass = \"range-rays\"\nrays = 16\nrange = 2\n[type.scout.controller]\nclass = \"wander\"\n"
        .to_owned();
    for k in 0..70_u32 {
        let at = format!("[{}, {}]", f64::from(k % 10) * 0.6 - 2.7, f64::from(k / 10) * 0.55 - 1.65);
        text += &if k % 9 == 4 {
            format!("[[robot]]\nname = \"r{k}\"\ntype = \"scout\"\nat = {at}\n")
        } else {
            let (vx, vy) = (dice.between(-1.5, 1.5), dice.between(-1.5, 1.5));
            let radius = dice.between(0.05, 0.2);
            format!(
                "[[obstacle]]\nname = \"d{k}\"\nat = {at}\nradius = {radius}\nvelocity = [{vx}, {vy}]\nat_edge = \"wrap\"\n"
            )
        };
    }
    text
}

/// A crowd on a torus, so dense that some have to wait for room on the other side.
#[test]
fn who_comes_back_on_the_other_side_is_the_same_whoever_has_it() {
    let mut all = Tally::default();
    for (k, how) in [How::Tree, How::Columns, How::Rows].into_iter().enumerate() {
        let text = torus(k as u64);
        let way = Way { workers: k as u32 + 2, how, period: 1 + 3 * k as u64 };
        let tally = compare("torus", &text, &Journal::default(), way, 120);
        all.wrapped += tally.wrapped;
        all.waited += tally.waited;
        all.moved += tally.moved;
    }
    let Tally { wrapped, waited, moved, .. } = all;
    println!(
        "{wrapped} came back on the other side, some after {waited} steps of waiting, {moved} changed hands"
    );
    assert!(wrapped > 30 && waited > 30 && moved > 50);
}
