//! Files that are cut off, damaged or hostile, and disks that are full.

use crate::world::{Disk, Run, Setup, open, record};
use swarmyard_record::{Recording, fuzz_open};

fn busy() -> Setup {
    Setup {
        robots: 5,
        spin: 0.0,
        speed: 1.0,
        topics: vec!["/robots/r1", "/robots/r1/rays"],
        ..Setup::default()
    }
}

#[test]
fn a_file_cut_at_any_byte_is_read_up_to_the_cut() {
    let (bytes, ..) = record(&busy(), 40);
    let whole = open(bytes.clone());
    let all: Vec<_> = whole.frames().map(Result::unwrap).collect();
    let (mut opened, mut most) = (0, 0);
    for cut in (0..bytes.len()).step_by(97) {
        let Ok(recording) = Recording::from_bytes(bytes[..cut].to_vec()) else {
            assert_eq!(opened, 0, "once the header is there, every longer piece can be opened");
            continue;
        };
        opened += 1;
        assert!(recording.header().sources.len() == 2);
        let frames: Vec<_> = recording.frames().map(Result::unwrap).collect();
        assert!(frames.len() >= most && frames[..] == all[..frames.len()], "cut at {cut}");
        most = frames.len();
        assert!(recording.damage().is_some() || recording.end().is_some(), "cut at {cut}");
    }
    assert!(opened > 100 && most == all.len(), "{opened} {most} {}", bytes.len());
}

#[test]
fn a_torn_chunk_gives_its_whole_frames() {
    let (bytes, ..) = record(&busy(), 40);
    let half = open(bytes[..bytes.len() / 2].to_vec());
    assert!(half.len() > 5 && half.len() < 41 && half.end().is_none(), "{}", half.len());
    assert!(half.damage().is_some_and(|d| d.contains("cut off")));
}

/// A fixed sequence of numbers: the same damage in every run of the test.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut k = seed;
    move || {
        k = k.wrapping_add(0x9e37_79b9_7f4a_7c15);
        swarmyard_base::hash::mix64(k)
    }
}

#[test]
fn damaged_files_are_errors_or_shorter_recordings_never_panics() {
    let (bytes, ..) = record(&busy(), 12);
    let mut next = noise(1);
    for _ in 0..1500 {
        let mut copy = bytes.clone();
        for _ in 0..1 + next() % 4 {
            let at = (next() % copy.len() as u64) as usize;
            match next() % 4 {
                0 => copy[at] ^= 1 << (next() % 8),
                1 => copy[at] = 0xff,
                2 => copy[at..].iter_mut().take(8).for_each(|b| *b = 0xff),
                _ => copy.truncate(at.max(8)),
            }
        }
        fuzz_open(&copy);
    }
    for cut in 0..600 {
        fuzz_open(&bytes[..cut]);
    }
    fuzz_open(b"");
    fuzz_open(b"\x89MCAP0\r\n");
}

#[test]
fn a_file_that_claims_millions_of_robots_is_not_believed() {
    let (bytes, ..) = record(&Setup::default(), 3);
    let at = bytes.windows(9).position(|w| w == b"\"count\":2").unwrap();
    let mut hostile = bytes;
    hostile[at + 8] = b'9';
    assert!(Recording::from_bytes(hostile).is_err());
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_run() {
    let (whole, ..) = record(&busy(), 200);
    for room in [whole.len() / 4, whole.len() / 2, whole.len() - 30] {
        let disk = Disk::new(room);
        let mut run = Run::new(&busy(), disk.clone());
        run.steps(200);
        assert_eq!(run.world.state.stops, 200);
        let summary = run.finish();
        assert!(summary.stopped.is_some() && summary.bytes == room as u64, "{summary:?} {room}");
        let recording = open(disk.contents());
        assert!(recording.len() > 10, "{} frames in {room} bytes", recording.len());
    }
}

#[test]
fn a_disk_that_is_full_from_the_start_is_an_error() {
    let world = crate::world::world(&busy());
    let header = swarmyard_record::Header::of(&world.model, "yard.toml", &[]);
    assert!(swarmyard_record::Recorder::to(Disk::new(100), &header, &world.model).is_err());
}

#[test]
fn what_is_not_a_recording_says_so() {
    let error = Recording::from_bytes(b"hello".to_vec()).err().unwrap();
    assert_eq!(error.to_string(), "this is not a Swarmyard recording: it is not an MCAP file");
}

#[test]
fn a_newer_format_is_named() {
    let (mut bytes, ..) = record(&Setup::default(), 3);
    let at = bytes.windows(10).position(|w| w == b"\"format\":1").unwrap();
    bytes[at + 9] = b'9';
    let error = Recording::from_bytes(bytes).err().unwrap();
    assert_eq!(error.to_string(), "the recording has format `9`, this build reads up to `1`");
}

#[test]
fn a_journal_larger_than_the_budget_ends_the_recording_properly() {
    let disk = Disk::new(usize::MAX);
    let mut run = Run::new(&Setup { budget: 65_536.0, ..Setup::default() }, disk.clone());
    for k in 0..2000 {
        run.command("/robots/r1", 1e-9 * f64::from(k), 0.0);
        run.steps(1);
    }
    let summary = run.finish();
    assert!(summary.stopped.as_ref().is_some_and(|why| why.contains("budget of 65536 bytes")), "{summary:?}");
    let recording = open(disk.contents());
    assert!(recording.damage().is_none() && disk.contents().len() < 66_600, "{}", disk.contents().len());
    assert_eq!(recording.end().unwrap().stopped, summary.stopped);
    // The header and the bodies take most of so small a budget.
    let kept = recording.journal().all().len();
    assert!(kept > 50, "{kept}");
}
