//! What recording costs. `cargo test -p swarmyard-record --test cost -- --ignored --nocapture` measures.
#![expect(clippy::disallowed_methods, reason = "a measurement needs a clock, a file is what is measured")]

mod common;

use common::{Setup, world};
use std::path::Path;
use std::time::Instant;
use swarmyard_base::{Time, Vec2};
use swarmyard_engine::{ContactEvent, Frame, Journal, RunEvent};
use swarmyard_part_api::BodyKind;
use swarmyard_record::{Header, Recorder, Recording};

const FRAMES: i64 = 500;

/// Records frames of ten thousand robots, each with so many contacts; answers seconds per frame, in the middle.
fn measure(contacts: usize) -> f64 {
    let mut compiled = world(&Setup { robots: 10_000, ..Setup::default() });
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cost-{contacts}.mcap"));
    let header = Header::of(&compiled.model, "yard.toml", &[]);
    let mut recorder = Recorder::create(&path, &header, &compiled.model).unwrap();
    recorder.start(&compiled.model, &compiled.state);
    let contact = |k: usize| ContactEvent {
        time_s: 0.01,
        a: compiled.model.uids[k],
        b: compiled.model.uids[k + 1],
        kind: BodyKind::Robot,
        point: Vec2::new(k as f64 / 7.0, 1.0 / 3.0),
        impulse: 0.1,
        closing: 0.3,
    };
    let events: Vec<RunEvent> = (0..contacts).map(|k| RunEvent::Contact(contact(k))).collect();
    let mut times = Vec::new();
    for k in 1..=FRAMES {
        compiled.state.now = Time(k * 100_000_000);
        compiled.state.stops = k as u64;
        let frame = Frame { now: compiled.state.now, stops: k as u64, hash: 1, events: events.clone() };
        let begin = Instant::now();
        recorder.frame(&compiled.model, &compiled.state, &frame, &Journal::default());
        times.push(begin.elapsed().as_secs_f64());
    }
    // The mean has the writing of chunks in it, which waits for the disk and for other programs.
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    times.sort_by(f64::total_cmp);
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    let summary = recorder.finish(&compiled.model, &compiled.state, 1);
    let begin = Instant::now();
    let recording = Recording::open(&path).unwrap();
    let opened = begin.elapsed().as_secs_f64();
    let poses: usize = recording.frames().map(|f| f.unwrap().poses.len()).sum();
    println!(
        "{contacts} contacts: {:.3} ms per frame in the mean, {:.3} in the middle, worst {:.1} ms; {} MB opened in {:.1} ms, {poses} poses read in {:.0} ms",
        mean * 1e3,
        median * 1e3,
        worst * 1e3,
        summary.bytes >> 20,
        opened * 1e3,
        (begin.elapsed().as_secs_f64() - opened) * 1e3
    );
    std::fs::remove_file(&path).unwrap();
    median
}

#[test]
#[ignore = "a measurement, not a fact: depends on the machine"]
fn ten_thousand_robots_every_quantum_take_less_than_half_a_millisecond() {
    assert!(measure(0) < 0.0005);
    assert!(measure(5_000) < 0.0005);
}
