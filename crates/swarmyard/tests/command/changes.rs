//! Recordings of runs whose world changed while they went on.

use crate::yard::{DUEL, Yard};
use std::collections::BTreeMap;
use std::path::Path;
use swarmyard::engine::Model;
use swarmyard::formats::{Loader, OVERRIDE_SOURCE};
use swarmyard::record::{Header, Recorder, Recording, Summary};
use swarmyard::{Options, Scenario, Sim, standard_registry};

/// Files in memory.
struct Files(BTreeMap<&'static str, &'static str>);

impl Loader for Files {
    fn load(&self, name: &str) -> Result<String, String> {
        self.0.get(name).map(|t| (*t).to_owned()).ok_or_else(|| "it is not there".into())
    }
}

fn files() -> Files {
    Files(BTreeMap::from([("walls.toml", "[[wall]]\nname = \"w\"\npoints = [[-2, 2], [2, 2]]\n")]))
}

/// A run that is recorded.
struct Take {
    sim: Sim,
    recorder: Recorder,
}

fn header(model: &Model, overrides: &[(String, String)]) -> Header {
    let mut header = Header::of(model, "duel.toml", overrides);
    header.sources.retain(|s| s.name != OVERRIDE_SOURCE);
    header
}

impl Take {
    fn new(path: &Path) -> Take {
        let overrides = vec![("run.seed".to_owned(), "9".to_owned())];
        let options = Options { overrides, ..Options::default() };
        let sim = Sim::read("duel.toml", DUEL, &files(), &standard_registry(), &options).unwrap();
        let mut recorder =
            Recorder::create(path, &header(sim.model(), sim.overrides()), sim.model()).unwrap();
        recorder.start(sim.model(), sim.state());
        Take { sim, recorder }
    }

    fn change(&mut self, text: &str, overrides: &[(String, String)]) {
        let (loader, registry) = (&files(), &standard_registry());
        let scenario = Scenario { name: "duel.toml", text, overrides, loader, registry };
        self.sim.change(&scenario).unwrap_or_else(|e| panic!("{e}"));
    }

    fn steps(&mut self, steps: usize) {
        for _ in 0..steps {
            let frame = self.sim.step().unwrap();
            let sim = &self.sim;
            for world in sim.worlds_of_step() {
                self.recorder.world(&header(&world.model, &world.overrides), &world.model, sim.state());
            }
            self.recorder.frame(sim.model(), sim.state(), &frame, sim.journal());
        }
    }

    fn finish(self) -> (Sim, Summary) {
        let summary = self.recorder.finish(self.sim.model(), self.sim.state(), self.sim.hash());
        assert_eq!(summary.stopped, None);
        (self.sim, summary)
    }
}

/// The duel with a third robot, an included wall, a program, and a faster drive by an override.
fn changed() -> String {
    let program = "class = \"program\"\ncode = \"void robot_step(void) {}\"";
    let text = DUEL.replace("format = 1", "format = 1\ninclude = [\"walls.toml\"]");
    let text = text.replace("class = \"cruise\"", program);
    text + "[[robot]]\nname = \"aa\"\ntype = \"cart\"\nat = [0, -2]\n"
}

fn faster() -> Vec<(String, String)> {
    vec![("type.cart.part.drive.max_speed".to_owned(), "3".to_owned())]
}

/// Three changes and a way back over one of them.
fn record(path: &Path) -> (Sim, Summary) {
    let mut take = Take::new(path);
    take.steps(7);
    let early = take.sim.snapshot();
    take.steps(3);
    take.change(&changed(), &faster());
    take.steps(10);
    take.sim.restore(&early).unwrap();
    take.steps(3);
    take.change(&changed(), &faster());
    take.steps(5);
    // One goes, the first is put elsewhere, and one is called otherwise.
    let text = changed().replace("at = [-1, 0]", "at = [-2, -1]").replace("name = \"b\"", "name = \"z\"");
    take.change(&text, &[]);
    take.change(&text.replace("at = [0, -2]", "at = [0, 2.5]"), &[]);
    take.steps(6);
    take.change(DUEL, &[]);
    take.steps(6);
    // After the last step: no part of the recording.
    take.change(&text, &[]);
    take.finish()
}

#[test]
fn a_run_with_changes_replays_to_the_same_hashes() {
    let yard = Yard::new("changes-replay");
    let (sim, _) = record(&yard.path("a.mcap"));
    assert_eq!(sim.state().stops, 27);
    let done = yard.run("replay a.mcap --verify").exits(0);
    assert!(done.out.contains("27 ticks") && done.out.contains("all the same"), "{}", done.out);
    yard.run("replay a.mcap --verify --threads 2").exits(0);
}

#[test]
fn frames_belong_to_the_bodies_in_force_at_their_time() {
    let yard = Yard::new("changes-bodies");
    record(&yard.path("a.mcap"));
    let recording = Recording::open(&yard.path("a.mcap")).unwrap();
    assert_eq!(recording.damage(), None);
    let paths = |step: u64| recording.bodies_at(step).paths().collect::<Vec<_>>();
    assert_eq!(paths(10), ["/robots/a", "/robots/b"]);
    assert_eq!(paths(11), ["/robots/a", "/robots/aa", "/robots/b"]);
    assert_eq!(paths(16), ["/robots/a", "/robots/aa", "/robots/z"]);
    assert_eq!(paths(22), ["/robots/a", "/robots/b"]);
    for (k, frame) in recording.frames().enumerate() {
        assert_eq!(frame.unwrap().poses.len(), recording.bodies_of(k).len(), "frame {k}");
    }
    let steps: Vec<u64> = recording.hashes().iter().map(|m| m.step).collect();
    assert_eq!(steps, (0..=27).collect::<Vec<u64>>());
    // Two worlds at one stop: the first was never stepped in, and is in the journal all the same.
    let worlds: Vec<u64> = recording.worlds().collect();
    let first = recording.world(worlds[0]).unwrap();
    let names: Vec<&str> = first.sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!((names, first.overrides), (vec!["duel.toml", "walls.toml"], faster()));
    assert_eq!(first.code.len(), 1, "a replay needs no compiler");
}

#[test]
fn tables_pictures_and_differences_go_across_a_change() {
    let yard = Yard::new("changes-export");
    record(&yard.path("a.mcap"));
    let table = yard.run("export a.mcap --to csv").exits(0).out;
    let times = |robot: &str| {
        let rows = table.lines().filter(|l| l.contains(&format!(",/robots/{robot},")));
        rows.map(|l| l.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((times("a").len(), times("aa").len(), times("z").len()), (28, 11, 6));
    assert_eq!(times("aa")[0], "1.1");
    let picture = yard.run("export a.mcap --to svg").exits(0).out;
    assert!(picture.contains("2 robots"), "as it is at the end");
    yard.run("diff a.mcap a.mcap").exits(0);

    let mut take = Take::new(&yard.path("b.mcap"));
    take.steps(27);
    take.finish();
    let value = yard.run("diff a.mcap b.mcap --json").exits(6).json("swarmyard-diff/1");
    assert_eq!(
        (value["first"]["tick"].as_u64(), value["first"]["path"].as_str()),
        (Some(11), Some("/robots/a"))
    );
    assert_eq!(value["first_recorded"]["field"], "presence");
}

#[test]
fn a_recorder_that_is_not_told_stops_and_what_it_has_stays() {
    let yard = Yard::new("changes-untold");
    let mut take = Take::new(&yard.path("a.mcap"));
    take.steps(5);
    take.change(&changed(), &[]);
    let frame = take.sim.step().unwrap();
    take.recorder.frame(take.sim.model(), take.sim.state(), &frame, take.sim.journal());
    assert!(take.recorder.stopped().is_some_and(|why| why.contains("not told")));
    let Take { sim, recorder } = take;
    recorder.finish(sim.model(), sim.state(), sim.hash());
    let recording = Recording::open(&yard.path("a.mcap")).unwrap();
    assert_eq!((recording.len(), recording.damage()), (6, None));
}

#[test]
fn a_recording_cut_off_anywhere_is_read_up_to_the_cut() {
    let yard = Yard::new("changes-cut");
    record(&yard.path("a.mcap"));
    let bytes = std::fs::read(yard.path("a.mcap")).unwrap();
    let mut frames = 0;
    for cut in (0..bytes.len()).step_by(97) {
        let Ok(recording) = Recording::from_bytes(bytes[..cut].to_vec()) else { continue };
        frames = frames.max(recording.len());
        for (k, frame) in recording.frames().enumerate() {
            assert_eq!(frame.unwrap().poses.len(), recording.bodies_of(k).len());
        }
        for world in recording.worlds() {
            assert!(recording.world(world).is_ok(), "its texts stand before it");
        }
    }
    assert_eq!(frames, 28);
}
