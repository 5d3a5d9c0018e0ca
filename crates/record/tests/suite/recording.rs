//! What goes into a recording comes out again.

use crate::world::{Disk, Run, Setup, open, record, world};
use swarmyard_base::Time;
use swarmyard_record::{Event, Header, RecordError, Recorder, diff, first_hash_difference, to_csv};

#[test]
fn everything_a_run_is_a_function_of_is_in_the_header() {
    let (bytes, summary, _) = record(&Setup::default(), 10);
    assert_eq!(summary.bytes, bytes.len() as u64);
    let recording = open(bytes);
    let header = recording.header();
    assert_eq!((header.scenario.as_str(), header.seed), ("yard.toml", 7));
    assert_eq!(header.overrides, [("run.seed".to_owned(), "7".to_owned())]);
    assert_eq!(header.build, swarmyard_engine::build_id());
    let names: Vec<&str> = header.sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["yard.toml", "parts.toml"]);
    assert!(header.sources[0].text.starts_with("# a scenario with 3 robots"));
}

#[test]
fn frames_hold_every_pose_to_single_precision_and_the_hash() {
    let disk = Disk::new(usize::MAX);
    let mut run = Run::new(&Setup::default(), disk.clone());
    let mut states = vec![run.world.state.clone()];
    for _ in 0..20 {
        run.steps(1);
        states.push(run.world.state.clone());
    }
    let hashes = run.hashes.clone();
    let paths = run.world.model.paths.clone();
    let summary = run.finish();
    let recording = open(disk.contents());
    assert_eq!((summary.frames, summary.stopped, recording.len()), (21, None, 21));
    for (k, frame) in recording.frames().enumerate() {
        let frame = frame.unwrap();
        assert_eq!((frame.step, frame.time), (k as u64, states[k].now));
        assert!(k == 0 || frame.hash == hashes[k - 1]);
        let expected: Vec<[f32; 3]> =
            states[k].pose.iter().map(|p| [p.at.x as f32, p.at.y as f32, p.heading as f32]).collect();
        assert_eq!(frame.poses, expected);
    }
    let found: Vec<String> = recording.bodies().paths().collect();
    assert!(found.iter().map(String::as_str).eq(paths.iter()), "{found:?}");
    assert_eq!((recording.bodies().robots(), recording.bodies().len()), (3, 4), "a fixed disc is a body too");
    let end = recording.end().unwrap();
    assert_eq!((end.step, end.time, end.hash, end.frames), (20, Time(2_000_000_000), hashes[19], 21));
    assert_eq!(recording.damage(), None);
}

#[test]
fn frames_come_at_the_rate_asked_for_and_the_last_step_always_has_one() {
    let (bytes, ..) = record(&Setup { rate_hz: 2.0, ..Setup::default() }, 23);
    let steps: Vec<u64> = open(bytes).hashes().iter().map(|m| m.step).collect();
    assert_eq!(steps, [0, 5, 10, 15, 20, 23]);
}

#[test]
fn the_journal_comes_back_as_it_was() {
    let disk = Disk::new(usize::MAX);
    let mut run = Run::new(&Setup { rate_hz: 1.0, ..Setup::default() }, disk.clone());
    run.command("/robots/r1", 0.1, -0.0);
    run.steps(3);
    run.command("/robots/r2", f64::MIN_POSITIVE, 0.3);
    run.command("/robots/r1", 0.2, 0.1);
    run.steps(2);
    let journal = run.journal.clone();
    run.finish();
    assert_eq!(open(disk.contents()).journal(), &journal);
}

#[test]
fn contacts_are_recorded_with_paths() {
    let setup = Setup { spin: 0.0, speed: 1.0, ..Setup::default() };
    let (bytes, ..) = record(&setup, 60);
    let recording = open(bytes);
    let all: Vec<Event> = recording.events().flat_map(|e| e.unwrap().events).collect();
    let contact = all.iter().find_map(|e| if let Event::Contact(c) = e { Some(c) } else { None }).unwrap();
    assert!(contact.a.starts_with("/robots/r") && contact.x.is_finite(), "{contact:?}");
    assert_eq!(all.len() as u64, recording.end().unwrap().contacts);
}

#[test]
fn too_many_contacts_are_counted() {
    let setup = Setup {
        robots: 900,
        spacing: 0.5,
        speed: 2.0,
        spin: 0.0,
        mixed: true,
        furnished: false,
        rate_hz: 1.0,
        ..Setup::default()
    };
    let (bytes, ..) = record(&setup, 25);
    let recording = open(bytes);
    let (mut single, mut counted) = (0, 0);
    for event in recording.events().flat_map(|e| e.unwrap().events) {
        match event {
            Event::Contact(_) => single += 1,
            Event::MoreContacts { count } => counted += count,
            _ => {}
        }
    }
    assert!(counted > 0 && single <= 500 * 4, "{single} {counted}");
    assert_eq!(single + counted, recording.end().unwrap().contacts);
}

#[test]
fn a_run_that_went_back_is_recorded_as_the_branch_it_took() {
    let disk = Disk::new(usize::MAX);
    let mut run = Run::new(&Setup::default(), disk.clone());
    run.steps(5);
    let back = run.world.state.clone();
    run.command("/robots/r1", 1.0, 0.0);
    run.steps(5);
    run.rewind(back);
    run.command("/robots/r2", 0.5, 0.0);
    run.steps(3);
    let (journal, last) = (run.journal.clone(), run.hashes[12]);
    run.finish();
    let recording = open(disk.contents());
    let steps: Vec<u64> = recording.hashes().iter().map(|m| m.step).collect();
    assert_eq!(steps, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(recording.journal(), &journal);
    assert_eq!(recording.hashes()[8].hash, last);
}

#[test]
fn a_topic_that_does_not_exist_is_refused_with_the_nearest_one() {
    for (topic, near) in [("/robots/r11", "/robots/r1"), ("/robots/r1/ray", "/robots/r1/rays")] {
        let compiled = world(&Setup { topics: vec![topic], ..Setup::default() });
        let header = Header::of(&compiled.model, "yard.toml", &[]);
        let result = Recorder::to(Disk::new(usize::MAX), &header, &compiled.model);
        let Err(RecordError::Topics(problems)) = result.map(|_| ()) else { panic!("`{topic}` was taken") };
        assert_eq!(problems.0[0].code, "unknown-topic");
        assert_eq!(problems.0[0].help.as_deref(), Some(format!("did you mean `{near}`?").as_str()));
    }
}

#[test]
fn a_long_run_stays_within_its_budget_and_covers_all_of_it() {
    let setup = Setup { budget: 65_536.0, ..Setup::default() };
    let (bytes, summary, _) = record(&setup, 6000);
    assert!(bytes.len() <= 65_536, "{}", bytes.len());
    assert!(summary.thinned >= 8 && summary.stopped.is_none(), "{summary:?}");
    let recording = open(bytes);
    let steps: Vec<u64> = recording.hashes().iter().map(|m| m.step).collect();
    assert_eq!(steps.last(), Some(&6000));
    assert!(
        steps.windows(2).all(|w| w[1] - w[0] <= 2 * summary.thinned),
        "no gap is larger than the thinned interval"
    );
    assert_eq!(recording.end().unwrap().step, 6000);
}

#[test]
fn the_same_run_has_no_difference() {
    let (a, ..) = record(&Setup::default(), 30);
    let (b, ..) = record(&Setup { rate_hz: 3.0, ..Setup::default() }, 30);
    let found = diff(&open(a.clone()), &open(b)).unwrap();
    assert_eq!(found, None, "frames are compared where both have one");
    let again = record(&Setup::default(), 30).0;
    assert!(a == again, "the same run is the same file, byte for byte");
}

#[test]
fn the_first_difference_is_named() {
    let make = |command: bool| {
        let disk = Disk::new(usize::MAX);
        let mut run = Run::new(&Setup::default(), disk.clone());
        run.steps(10);
        if command {
            run.command("/robots/r2", 0.0, 0.5);
        }
        run.steps(10);
        run.finish();
        open(disk.contents())
    };
    let (a, b) = (make(false), make(true));
    let found = diff(&a, &b).unwrap().unwrap();
    let visible = found.visible.as_ref().unwrap();
    assert_eq!((visible.step, visible.body.as_str(), visible.field), (11, "/robots/r2", "x"));
    assert_eq!(first_hash_difference(&a, &b).unwrap().0.step, 11);
    assert!(found.notes.iter().any(|n| n.contains("inputs differ, first at step 10")), "{:?}", found.notes);
    assert!(found.to_string().contains("at 1.1 s (step 11) x of `/robots/r2` is"), "{found}");
}

#[test]
fn a_difference_the_recording_does_not_hold_is_said_to_be_one() {
    let make = |speed: f64| {
        let disk = Disk::new(usize::MAX);
        let mut run = Run::new(&Setup { speed: 0.0, spin: 0.0, ..Setup::default() }, disk.clone());
        run.steps(2);
        run.command("/robots/r2", speed, 0.0);
        run.steps(2);
        run.finish();
        open(disk.contents())
    };
    let text = diff(&make(1e-12), &make(2e-12)).unwrap().unwrap().to_string();
    assert!(text.contains("the state differs in something the recordings do not hold"), "{text}");
}

#[test]
fn another_seed_and_scenario_are_notes() {
    let (a, ..) = record(&Setup::default(), 3);
    let (b, ..) = record(&Setup { seed: 8, robots: 4, ..Setup::default() }, 3);
    let found = diff(&open(a), &open(b)).unwrap().unwrap();
    assert!(found.notes.iter().any(|n| n == "the seeds differ: 7 and 8"), "{:?}", found.notes);
    assert!(found.notes.iter().any(|n| n.contains("first in `yard.toml`")));
    assert_eq!(found.visible.unwrap().field, "presence");
}

#[test]
fn the_table_has_a_row_per_frame_and_body() {
    let (bytes, ..) = record(&Setup::default(), 2);
    let mut out = Vec::new();
    to_csv(&open(bytes), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "time,robot,x,y,heading");
    assert_eq!(lines.len(), 1 + 3 * 4);
    assert!(lines[5].starts_with("0.1,/robots/"), "{}", lines[5]);
}
