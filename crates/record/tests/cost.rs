//! What recording costs. Run with `--ignored --nocapture --release` to measure.
#![expect(clippy::disallowed_methods, reason = "a measurement needs a clock, a file is what is measured")]

mod common;

use common::{Setup, world};
use std::path::Path;
use std::time::Instant;
use swarmyard_base::Time;
use swarmyard_engine::{Frame, Journal};
use swarmyard_record::{Header, Recorder, Recording};

const FRAMES: i64 = 500;

#[test]
#[ignore = "a measurement, not a fact: depends on the machine"]
fn ten_thousand_robots_every_quantum() {
    let mut compiled = world(&Setup { robots: 10_000, ..Setup::default() });
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cost.mcap");
    let header = Header::of(&compiled.model, "yard.toml", &[]);
    let mut recorder = Recorder::create(&path, &header, &compiled.model).unwrap();
    recorder.start(&compiled.model, &compiled.state);
    let journal = Journal::default();
    let (mut worst, begin) = (0.0_f64, Instant::now());
    for k in 1..=FRAMES {
        compiled.state.now = Time(k * 100_000_000);
        compiled.state.stops = k as u64;
        let frame = Frame { now: compiled.state.now, stops: k as u64, hash: 1, events: Vec::new() };
        let one = Instant::now();
        recorder.frame(&compiled.model, &compiled.state, &frame, &journal);
        worst = worst.max(one.elapsed().as_secs_f64());
    }
    let mean = begin.elapsed().as_secs_f64() / FRAMES as f64;
    let begin_finish = Instant::now();
    let summary = recorder.finish(&compiled.model, &compiled.state, 1);
    println!("{:.3} ms per frame, worst {:.3} ms, finish {:.1} ms", mean * 1e3, worst * 1e3, begin_finish.elapsed().as_secs_f64() * 1e3);
    let begin = Instant::now();
    let recording = Recording::open(&path).unwrap();
    println!("{} MB opened in {:.1} ms, {} frames", summary.bytes >> 20, begin.elapsed().as_secs_f64() * 1e3, recording.len());
    let begin = Instant::now();
    let all: usize = recording.frames().map(|f| f.unwrap().poses.len()).sum();
    println!("{all} poses read in {:.1} ms", begin.elapsed().as_secs_f64() * 1e3);
    assert!(mean < 0.0005, "{mean}");
    std::fs::remove_file(&path).unwrap();
}
