//! Whoever keeps a run is killed after something came from outside: what was shown is not lost, though the last checkpoint is
//! older.

use crate::yard::{AGES, Host, Run, alone, assert_gone, done, folder, signal, swarmyard};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Instant;
use swarmyard::{Options, Sim};

const WORLD: &str = "worlds/forty-wander.toml";

/// A served run as a process.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(world: &str, words: &str) -> Served {
        let words = format!("serve {world} --port 0 {words}");
        let mut child = swarmyard(&[], &words).stdout(Stdio::piped()).spawn().expect("the command");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Served { child, url }
    }

    fn ctl(&self, words: &str) -> Value {
        serde_json::from_str(&done(&format!("ctl --json {} {words}", self.url))).expect("JSON")
    }

    /// Steps, and answers the hash that is shown then.
    fn step(&self, n: u64) -> String {
        let to = self.ctl("status")["stop"].as_u64().expect("a stop") + n;
        self.ctl(&format!("step {n}"));
        let until = Instant::now() + AGES;
        loop {
            let at = self.ctl("status");
            if at["stop"] == to && at["state"] == "paused" {
                return at["hash"].as_str().expect("a hash").to_owned();
            }
            assert!(Instant::now() < until, "it did not come to {to}: {at}");
        }
    }

    fn kill(mut self) {
        self.child.kill().expect("it ran");
        self.child.wait().expect("waited for");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The same run in this process, and the hash of every step.
struct Alone(Sim, Vec<String>);

impl Alone {
    fn of(world: &str) -> Alone {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(world);
        let sim = Sim::load(path, &Options::default()).expect("a world");
        let hash = format!("{:016x}", sim.hash());
        Alone(sim, vec![hash])
    }

    fn step(&mut self, n: u64) -> String {
        for _ in 0..n {
            self.1.push(format!("{:016x}", self.0.step().expect("a step").hash));
        }
        self.1.last().expect("a hash").clone()
    }
}

/// The one file in a folder.
fn file_in(folder: &Path) -> PathBuf {
    let files: Vec<_> = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

/// Hashes that `resume` prints, by tick.
fn resumed(saved: &Path, until: u64, more: &str) -> BTreeMap<u64, String> {
    let said = done(&format!("resume {} --until tick:{until} --hash-every 1 {more}", saved.display()));
    hashes(&said)
}

fn hashes(said: &str) -> BTreeMap<u64, String> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        Some((words.first()?.parse().ok()?, (*words.get(2)?).to_owned()))
    };
    said.lines().filter_map(line).collect()
}

/// Checkpoints are at ticks 64 and 128. Inputs before the first, between both, and after the last one are known to whoever resumes.
fn steered(served: &Served, one: &mut Alone) {
    served.ctl("halt /robots/tug5");
    one.0.halt("/robots/tug5", true).expect("a robot");
    assert_eq!(served.step(70), one.step(70));
    served.ctl("halt /robots/tug3");
    one.0.halt("/robots/tug3", true).expect("a robot");
    assert_eq!(served.step(65), one.step(65));
    served.ctl("halt /robots/tug3 --off");
    one.0.halt("/robots/tug3", false).expect("a robot");
    served.ctl("quantum 20ms");
    one.0.set_quantum(swarmyard::base::Ratio::new(1, 50).expect("a quantum"));
    assert_eq!(served.step(3), one.step(3));
    served.ctl("command /robots/tug2/drive left 0.1");
    one.0.command("/robots/tug2/drive", "left", &[0.1]).expect("a drive");
    assert_eq!(served.step(2), one.step(2));
}

/// What is resumed is the undisturbed run to its end, and its recording can be replayed.
fn goes_on_as(saved: &Path, one: &mut Alone, name: &str) {
    one.step(30);
    let last = one.1.len() as u64 - 1;
    let recording = folder(name).join("rest.mcap");
    for more in [format!("--record {}", recording.display()), "--workers 2".to_owned()] {
        let again = resumed(saved, last, &more);
        assert_eq!(again.keys().next(), Some(&129), "from the last checkpoint on");
        for (tick, hash) in &again {
            assert_eq!(*hash, one.1[*tick as usize], "tick {tick} {more}");
        }
        assert_eq!(again.len() as u64, last - 128);
    }
    let said = done(&format!("replay {} --verify --json", recording.display()));
    let value: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(
        (&value["verified"], &value["hash"]),
        (&Value::Bool(true), &Value::from(one.1[last as usize].as_str()))
    );
}

#[test]
fn inputs_after_the_last_checkpoint_are_with_a_host_when_the_keeper_is_killed() {
    let _alone = alone();
    let kept = folder("inputs-held").join("checkpoints");
    let host = Host::start(&[], "a", &format!("--slots 2 --hold {}", kept.display()));
    let words = format!("--hosts {} --workers 2 --lease 1.5", host.address());
    let (served, mut one) = (Served::start(WORLD, &words), Alone::of(WORLD));
    steered(&served, &mut one);
    // Nothing is waited for: it is there already.
    served.kill();
    goes_on_as(&file_in(&kept), &mut one, "inputs-held-rest");
}

#[test]
fn inputs_after_the_last_checkpoint_are_in_the_file_when_the_keeper_is_killed() {
    let _alone = alone();
    let saved = folder("inputs-saved").join("run.saved");
    let (served, mut one) = (
        Served::start(WORLD, &format!("--workers 2 --lease 20 --save {}", saved.display())),
        Alone::of(WORLD),
    );
    steered(&served, &mut one);
    served.kill();
    goes_on_as(&saved, &mut one, "inputs-saved-rest");
}

#[test]
fn inputs_are_not_lost_when_the_host_that_kept_them_goes_before_the_keeper() {
    let _alone = alone();
    let (first, second) = (folder("inputs-first"), folder("inputs-second"));
    let a = Host::start(&[], "a", &format!("--slots 1 --hold {}", first.display()));
    let b = Host::start(&[], "b", &format!("--slots 1 --hold {}", second.display()));
    let words = format!("--hosts {},{} --workers 2 --lease 1.5", a.address(), b.address());
    let (served, mut one) = (Served::start(WORLD, &words), Alone::of(WORLD));
    steered(&served, &mut one);
    let (gone, left, kept) = if std::fs::read_dir(&first).expect("a folder").count() == 1 {
        (a, b, second)
    } else {
        (b, a, first)
    };
    assert_eq!(std::fs::read_dir(&kept).expect("a folder").count(), 0, "one keeps it");
    signal(gone.pid(), "KILL");
    // A step without any input: the other one has everything then.
    assert_eq!(served.step(1), one.step(1));
    served.kill();
    goes_on_as(&file_in(&kept), &mut one, "inputs-second-rest");
    drop(left);
}

#[test]
fn an_edit_of_the_world_is_not_lost_with_the_keeper_and_its_recording_is_replayed() {
    let _alone = alone();
    let folder = folder("edited");
    let (saved, recording) = (folder.join("run.saved"), folder.join("rest.mcap"));
    let served = Served::start(WORLD, &format!("--workers 2 --lease 20 --save {}", saved.display()));
    served.step(10);
    served.ctl("halt /robots/tug4");
    served.step(10);
    served.ctl("edit run.duration \"700s\"");
    served.step(5);
    served.ctl("halt /robots/tug5");
    let mut shown = BTreeMap::new();
    for tick in 26..=30 {
        shown.insert(tick, served.step(1));
    }
    served.kill();
    let again = resumed(&saved, 40, &format!("--record {}", recording.display()));
    assert!(shown.iter().all(|(tick, hash)| again.get(tick) == Some(hash)), "{shown:?} {again:?}");
    done(&format!("replay {} --verify", recording.display()));
}

/// Two robots whose programs throw real dice: what they decided cannot be computed again.
const DICE: &str = r#"format = 1

[run]
quantum = "50ms"
duration = "600s"

[world]
min = [-50, -50]
max = [50, 50]

[type.cart]
radius = 0.1

[[type.cart.part]]
name = "drive"
class = "diff-drive"

[[type.cart.register]]
part = "drive"
channel = "left"
at = 0x20
signed = true
scale = 0.001

[type.cart.controller]
class = "process"
think = 0
patience = 60
code = '''
#include <stdio.h>
#include "rio.h"
#include "registers.h"
void robot_setup(void) {}
void robot_step(void)
{
    FILE *f = fopen("/dev/urandom", "r");
    int16_t v = f ? (int16_t)(fgetc(f) * 4) : 0;
    if (f) fclose(f);
    rio_pokes16(DRIVE_LEFT, v);
}
'''

[[robot]]
name = "r"
type = "cart"
count = 2
layout = { class = "row", step = [3, 0] }
"#;

#[test]
fn what_programs_decided_and_was_shown_is_known_to_whoever_resumes() {
    let _alone = alone();
    let (project, kept) = (folder("dice"), folder("dice-kept"));
    let world = project.join("dice.toml");
    std::fs::write(&world, DICE).expect("a file");
    let allow = format!("--slots 2 --allow {} --hold {}", project.display(), kept.display());
    let host = Host::start(&[], "a", &allow);
    let words = format!("--hosts {} --workers 2 --rtf 8 --lease 1.5", host.address());
    let world: &'static str = Box::leak(world.display().to_string().into_boxed_str());
    let mut run = Run::start_in(world, &[], "dice-run", &words);
    run.comes_to(100);
    let shown = hashes(run.printed());
    let (_, workers) = run.ended_by("KILL");
    let again = resumed(&file_in(&kept), 100, "");
    assert_eq!(again.len(), 36);
    assert!(again.iter().all(|(tick, hash)| shown.get(tick) == Some(hash)), "{shown:?} {again:?}");
    assert_gone(&workers, AGES);
}

#[test]
fn a_host_keeps_nothing_of_a_run_that_has_ended() {
    let _alone = alone();
    let kept = folder("ended-kept");
    let host = Host::start(&[], "a", &format!("--slots 1 --hold {}", kept.display()));
    let mut run = Run::start(&[], "ended", &format!("--hosts {} --rtf 20", host.address()));
    run.comes_to(20);
    file_in(&kept);
    run.ends_as_undisturbed();
    assert_eq!(std::fs::read_dir(&kept).expect("a folder").count(), 0);
}
