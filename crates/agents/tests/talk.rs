//! Robots that talk from several places: how they meet, and whom they do not listen to.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use swarmyard_agents::wire::{Ear, Listening, Mode, Others, Script, Settings, Talk, Talker, WireError};
use swarmyard_base::{Moment, Pose2};
use swarmyard_part_api::{Equipment, GraphModel, Registry};
use swarmyard_radio::check::{Violations, broadcast};
use swarmyard_radio::lab::{Event, Stack, Trace, top};
use swarmyard_scene::Value;

const RUN: u64 = 0x1234_5678_9abc_def0;
/// How long they talk: long enough for everything on a busy machine.
const LONG: Duration = Duration::from_secs(8);
/// How long somebody is waited for who does not come, in seconds: long enough that a stranger is heard meanwhile.
const IN_VAIN: f64 = 3.0;

fn graph() -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    Stack::new(&registry)
        .class("sure", "reliable-link", &[("retry", Value::Num(0.03)), ("slowest", Value::Num(0.2))])
        .class("rb", "reliable-broadcast", &[("link", Value::Text("sure".to_owned()))])
        .probe(&["rb"])
        .build()
        .unwrap()
}

fn talkers(here: &[u32]) -> Vec<Talker> {
    let graph = graph();
    let talker = |number: &u32| Talker {
        number: *number,
        uses: vec![(top(&graph), 0)],
        graph: Arc::clone(&graph),
        start: Pose2::default(),
        equipment: Equipment::default(),
    };
    here.iter().map(talker).collect()
}

fn free(n: usize) -> Vec<SocketAddr> {
    vec![SocketAddr::from(([127, 0, 0, 1], 0)); n]
}

fn others(known: BTreeMap<u32, SocketAddr>, patience_s: f64) -> Others {
    Others { run: RUN, robots: 3, known, patience: Duration::from_secs_f64(patience_s) }
}

/// Twelve broadcasts of three robots within half a second.
fn twelve() -> Script {
    let mut script = Script::default();
    for k in 0..12 {
        script.broadcast(0.1 + 0.03 * f64::from(k), k % 3, &format!("m{k}"));
    }
    script
}

/// One side of a talk; what happens there is added to the events.
fn side(
    listening: Listening,
    here: &[u32],
    known: BTreeMap<u32, SocketAddr>,
    settings: Settings,
    events: &Arc<Mutex<Vec<Event>>>,
) {
    let met = listening.meet(here, &others(known, 60.0), &|| false).unwrap();
    let events = Arc::clone(events);
    let ear: Ear = Arc::new(Mutex::new(move |event: &Event| events.lock().unwrap().push(event.clone())));
    let talk = Talk::with_others(talkers(here), settings, met);
    talk.run(&twelve(), LONG, &|| false, &ear).unwrap();
}

#[test]
fn two_places_that_know_one_robot_of_each_other_talk_as_one() {
    for mode in [Mode::Udp, Mode::Tcp] {
        let loss = if mode == Mode::Udp { 0.2 } else { 0.0 };
        let settings = Settings::new(mode).losing(loss);
        let events = Arc::new(Mutex::new(Vec::new()));
        let first = Listening::open(mode, &free(2)).unwrap();
        let second = Listening::open(mode, &free(1)).unwrap();
        let known = BTreeMap::from([(2, first.addresses()[1])]);
        std::thread::scope(|scope| {
            scope.spawn(|| side(first, &[0, 2], BTreeMap::new(), settings, &events));
            scope.spawn(|| side(second, &[1], known, settings, &events));
        });
        let mut events = std::mem::take(&mut *events.lock().unwrap());
        events.sort_by_key(|e| e.at);
        let trace = Trace { processes: 3, events, end: Moment::ZERO.plus(LONG.as_secs_f64()) };
        assert_eq!(broadcast::reliable(&trace), Violations::new(), "{mode:?}");
        assert_eq!(trace.indications().count(), 36, "{mode:?}");
    }
}

#[test]
fn who_speaks_of_another_run_is_not_met_and_is_counted() {
    for mode in [Mode::Udp, Mode::Tcp] {
        let first = Listening::open(mode, &free(1)).unwrap();
        let second = Listening::open(mode, &free(2)).unwrap();
        let known = BTreeMap::from([(0, first.addresses()[0])]);
        let (a, b) = std::thread::scope(|scope| {
            let b = scope.spawn(|| {
                let wrong = Others { run: RUN + 1, ..others(known, IN_VAIN) };
                second.meet(&[1, 2], &wrong, &|| false).map(|_| ())
            });
            (first.meet(&[0], &others(BTreeMap::new(), IN_VAIN), &|| false).map(|_| ()), b.join().unwrap())
        });
        let Err(WireError::Missing { who, strangers }) = a else { panic!("{mode:?}: {a:?}") };
        assert!(who.contains(&1) && who.contains(&2) && strangers > 0, "{mode:?}: {who:?}, {strangers}");
        assert!(matches!(b, Err(WireError::Missing { .. })), "{mode:?}: {b:?}");
    }
}

#[test]
fn a_robot_that_is_known_to_be_elsewhere_is_not_believed() {
    let first = Listening::open(Mode::Udp, &free(1)).unwrap();
    let at_home = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    let home = at_home.local_addr().unwrap();
    let impostor = Listening::open(Mode::Udp, &free(2)).unwrap();
    let address = first.addresses()[0];
    let known = BTreeMap::from([(1, home), (2, home)]);
    let a = std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = impostor.meet(&[1, 2], &others(BTreeMap::from([(0, address)]), IN_VAIN), &|| false);
        });
        first.meet(&[0], &others(known, IN_VAIN), &|| false).map(|_| ())
    });
    let Err(WireError::Missing { who, strangers }) = a else { panic!("{a:?}") };
    assert!(who == [1, 2] && strangers > 0);
}

#[test]
fn meeting_ends_when_it_is_told_to() {
    for mode in [Mode::Udp, Mode::Tcp] {
        let listening = Listening::open(mode, &free(1)).unwrap();
        let outcome = listening.meet(&[0], &others(BTreeMap::new(), 60.0), &|| true).map(|_| ());
        assert!(matches!(outcome, Err(WireError::Stopped)), "{outcome:?}");
    }
}
