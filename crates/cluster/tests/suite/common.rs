//! Workers as threads on a switchboard, and worlds to give them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;
use swarmyard_agents::Workshop;
use swarmyard_cluster::staff::Hired;
use swarmyard_cluster::{Keeper, Natives, Plan, Setup, Staff, Status, work};
use swarmyard_fabric::local::Switchboard;
use swarmyard_sim::{Folder, Options, Sim, read_text, registry_with};

/// Hires threads.
pub(crate) struct Threads {
    pub(crate) board: Switchboard,
    pub(crate) run: u64,
    workers: BTreeMap<u32, (Arc<AtomicBool>, JoinHandle<()>)>,
    /// How many may be hired in all.
    pub(crate) most: u32,
    /// Whether it hires at all: others may come by themselves.
    pub(crate) hires: bool,
    /// Which worker has which place.
    pub(crate) places: Vec<(u32, String)>,
    /// Workers that may start no native programs.
    pub(crate) forbidden: Vec<u32>,
    /// The machine that each is said to be on.
    pub(crate) host: Option<fn(u32) -> &'static str>,
    /// How long a worker waits for a word of its keeper.
    pub(crate) patience: Duration,
    /// How long it takes to hire somebody, from `slow_from` on.
    pub(crate) delay: Duration,
    /// The first number that takes long.
    pub(crate) slow_from: u32,
    /// How long it takes to dismiss somebody.
    pub(crate) farewell: Duration,
}

impl Threads {
    pub(crate) fn new(board: &Switchboard, run: u64) -> Threads {
        Threads {
            board: board.clone(),
            run,
            workers: BTreeMap::new(),
            most: u32::MAX,
            hires: true,
            places: Vec::new(),
            forbidden: Vec::new(),
            host: None,
            patience: Duration::from_secs(20),
            delay: Duration::ZERO,
            slow_from: 1,
            farewell: Duration::ZERO,
        }
    }
}

impl Staff for Threads {
    fn hire(&mut self, number: u32) -> Result<(), String> {
        if number >= self.most {
            return Err("nobody is left".to_owned());
        }
        if !self.hires {
            return Ok(());
        }
        let stop = Arc::new(AtomicBool::new(false));
        let (told, member) = (Arc::clone(&stop), self.board.member(&format!("worker-{number}")));
        if number >= self.slow_from {
            std::thread::sleep(self.delay);
        }
        let (run, patience) = (self.run, self.patience);
        let allowed = self.forbidden.contains(&number).then(Vec::new);
        let thread = std::thread::spawn(move || {
            let fabric = Arc::new(member);
            let setup = Setup {
                fabric,
                run: run.into(),
                me: number,
                threads: 1,
                patience,
                hold: None,
                natives: Natives { allowed, elsewhere: None },
            };
            work(&setup, &told).expect("the switchboard is there");
        });
        self.workers.insert(number, (stop, thread));
        Ok(())
    }

    fn hired(&self, worker: u32) -> Option<Hired> {
        let host = Some((self.host?)(worker).to_owned());
        Some(Hired { worker, pid: 1, endpoint: "there".to_owned(), host })
    }

    fn places(&self, number: u32) -> Vec<String> {
        self.places.iter().filter(|p| p.0 == number).map(|p| p.1.clone()).collect()
    }

    fn dismiss(&mut self, number: u32) {
        std::thread::sleep(self.farewell);
        if let Some((stop, thread)) = self.workers.remove(&number) {
            stop.store(true, Ordering::Relaxed);
            drop(thread);
        }
    }
}

pub(crate) fn world(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../worlds/{name}.toml"))
}

/// A world of the folder. What its programs are made of is made once for all tests.
pub(crate) fn load(name: &str) -> Sim {
    static WORKSHOP: OnceLock<Arc<Workshop>> = OnceLock::new();
    let path = world(name);
    let folder = Folder::of(&path);
    let workshop = WORKSHOP.get_or_init(|| Arc::new(Workshop::in_folder(folder.path())));
    let text = read_text(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
    let registry = registry_with(workshop);
    let sim = Sim::read(&path.display().to_string(), &text, &folder, &registry, &Options::default());
    sim.unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A number for a run that no other test has.
pub(crate) fn fresh_run() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A run of this text on workers, and how it is spread.
pub(crate) fn spread_text(text: &str, plan: Plan) -> (Sim, Arc<std::sync::Mutex<Status>>) {
    let sim = Sim::from_text(text).unwrap_or_else(|e| panic!("{e}"));
    given_to_workers(sim, plan, &Switchboard::default())
}

/// A run on workers, and how it is spread.
pub(crate) fn spread(name: &str, plan: Plan, board: &Switchboard) -> (Sim, Arc<std::sync::Mutex<Status>>) {
    given_to_workers(load(name), plan, board)
}

/// This run on workers, and how it is spread.
pub(crate) fn given_to_workers(
    mut sim: Sim,
    plan: Plan,
    board: &Switchboard,
) -> (Sim, Arc<std::sync::Mutex<Status>>) {
    let run = fresh_run();
    let staff = Threads::new(board, run);
    let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, Box::new(staff)).expect("a keeper");
    let status = keeper.status();
    sim.give_to(Box::new(keeper));
    (sim, status)
}
