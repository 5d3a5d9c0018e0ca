//! Whoever keeps a run is killed, or told to end: its workers end as well, wherever they are.

use crate::yard::{AGES, Host, Run, TICKS, alone, assert_gone, done, folder, signal, undisturbed};
use std::path::Path;
use std::time::Instant;

#[test]
fn a_keeper_that_is_killed_leaves_no_worker_not_even_a_frozen_one() {
    let _alone = alone();
    // So long that nobody is given up before the keeper is gone.
    let mut run = Run::start(&[], "keeper-killed", "--workers 3 --rtf 8 --lease 20");
    run.comes_to(20);
    signal(run.at_work().last().expect("somebody").pid, "STOP");
    let (_, workers) = run.ended_by("KILL");
    assert_eq!(workers.len(), 3, "{workers:?}");
    assert_gone(&workers, AGES);
}

#[test]
fn an_interrupt_ends_a_run_on_workers_in_order() {
    let _alone = alone();
    let mut run = Run::start(&[], "interrupted", "--workers 2 --rtf 5");
    run.comes_to(20);
    let (code, workers) = run.ended_by("INT");
    assert_eq!(code, Some(130));
    assert_gone(&workers, AGES);
}

/// The rest of the run, from a checkpoint, is that of an undisturbed one.
fn resumes_as_undisturbed(saved: &Path) {
    let words = format!("resume {} --until tick:{TICKS} --hash-every 1", saved.display());
    let said = done(&words);
    let steps: Vec<&str> = said.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).collect();
    assert!(steps.len() > 10, "{said}");
    let all: Vec<&str> = undisturbed().lines().collect();
    assert_eq!(steps, all[all.len() - steps.len()..]);
}

#[test]
fn a_run_whose_keeper_was_killed_is_resumed_from_its_file() {
    let _alone = alone();
    let saved = folder("saved").join("run.saved");
    let mut run = Run::start(&[], "saves", &format!("--workers 2 --rtf 8 --save {}", saved.display()));
    run.comes_to(140);
    let (_, workers) = run.ended_by("KILL");
    assert_gone(&workers, AGES);
    resumes_as_undisturbed(&saved);
}

#[test]
fn a_checkpoint_stands_beside_the_recording_until_the_run_has_ended() {
    let _alone = alone();
    let folder = folder("beside");
    let record = folder.join("run.mcap");
    let (saved, words) =
        (folder.join("run.saved"), format!("--workers 2 --rtf 8 --record {}", record.display()));
    let mut run = Run::start(&[], "beside", &words);
    run.comes_to(140);
    assert!(saved.exists());
    let (_, workers) = run.ended_by("KILL");
    assert_gone(&workers, AGES);
    resumes_as_undisturbed(&saved);
    done(&format!(
        "run worlds/forty-wander.toml --until tick:80 -q --workers 2 --record {}",
        record.display()
    ));
    assert!(!saved.exists() && record.exists());
}

#[test]
fn workers_on_a_host_give_up_a_keeper_that_is_gone_and_one_of_them_has_the_last_checkpoint() {
    let _alone = alone();
    // Only one of two hosts has a folder for it, which is made.
    let kept = folder("kept").join("checkpoints");
    let other = Host::start(&[], "b", "--slots 1");
    let host = Host::start(&[], "a", &format!("--slots 1 --hold {}", kept.display()));
    let hosts = format!("--hosts {},{} --workers 2 --rtf 5 --lease 2", other.address(), host.address());
    let mut run = Run::start(&[], "keeper-of-host", &hosts);
    run.comes_to(150);
    let since = Instant::now();
    let (_, workers) = run.ended_by("KILL");
    assert_eq!(workers.len(), 2, "{workers:?}");
    assert_gone(&workers, AGES);
    println!("they gave up after {:.1} s", since.elapsed().as_secs_f64());
    let files: Vec<_> = std::fs::read_dir(&kept).expect("a folder").flatten().map(|e| e.path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    resumes_as_undisturbed(&files[0]);
    let until = Instant::now() + AGES;
    while host.info()["free"] != 1 {
        assert!(Instant::now() < until, "the slots are not free again: {}", host.info());
    }
    Run::start(&[], "next-on-host", &format!("--hosts {}", host.address())).ends_as_undisturbed();
}
