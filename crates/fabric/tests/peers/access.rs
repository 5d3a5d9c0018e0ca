//! The access file is obeyed: a member does what its roles allow, and nothing else gets through.

use crate::strangers::{authority, with};
use crate::{AGES, folder, listen, member, reaches, until, watch};
use std::time::Duration;
use swarmyard_fabric::access::Access;
use swarmyard_fabric::mesh::{Mesh, Options};
use swarmyard_fabric::{Fabric, Handle, Lost};

const SHORT: Duration = Duration::from_millis(400);

/// A worker and another member of this role, under the same access file.
fn worker_and(test: &str, role: &str) -> (Mesh, Mesh) {
    let [alpha, desk] = authority(&folder(test), ["alpha", "desk"]);
    let text = format!("[members]\nalpha = [\"worker\"]\ndesk = [{role}]\n");
    let access = Some(Access::parse(&text).expect("an access file"));
    let worker = member(Options { access: access.clone(), ..with(&alpha) }, &[]);
    let other = member(Options { access, ..with(&desk) }, &[&worker]);
    (worker, other)
}

/// Whether a question under this key is answered.
fn is_told(who: &Mesh, key: &str) -> bool {
    match who.ask(key, b"", SHORT) {
        Ok(answer) => answer == [1],
        Err(Lost::Silent { .. }) => false,
        Err(other) => panic!("{key}: {other}"),
    }
}

/// A worker that answers to all of these.
fn answering(worker: &Mesh, keys: &[&str]) -> Vec<Handle> {
    let answer = |key: &&str| worker.answer(key, Box::new(|_, _| Some(vec![1]))).expect("an answer");
    keys.iter().map(answer).collect()
}

const INFO: &str = "swarm/host/alpha/info";
const FIGURES: &str = "swarm/run/1/workers/figures/0";
const START: &str = "swarm/host/alpha/start";
const OPEN: &str = "swarm/host/alpha/open";
const INPUT: &str = "swarm/host/alpha/pipe/0f/in";

#[test]
fn a_display_looks_and_disturbs_nothing() {
    let (worker, display) = worker_and("display", "\"display\"");
    let _answers = answering(&worker, &[INFO, FIGURES, START, OPEN, INPUT]);
    until("it may ask hosts", || is_told(&display, INFO));
    until("it may ask workers what they did", || is_told(&display, FIGURES));
    for key in [START, OPEN, INPUT] {
        assert!(!is_told(&display, key), "a display started something: {key}");
    }
    let (secret, _ear) = listen(&display, "swarm/run/1/workers/**");
    assert!(!reaches(&worker, "swarm/run/1/workers/q/0/1", &secret, SHORT), "a display heard workers");
    let (heard, _ear) = listen(&worker, "swarm/**");
    assert!(!reaches(&display, "swarm/run/1/workers/q/0/1", &heard, SHORT), "a display spoke as a worker");
    assert!(!reaches(&display, "swarm/run/1/workers/order/0", &heard, SHORT), "a display gave orders");
    let (_, _end) = listen(&worker, "swarm/run/1/workers/q/*/1");
    let refused = display.ask("swarm/run/1/workers/lane/0/1", b"", SHORT);
    assert!(matches!(refused, Err(Lost::Silent { .. })), "a display learnt the secret of a lane");
}

#[test]
fn a_module_starts_programs_and_no_workers() {
    let (worker, module) = worker_and("module", "\"module\"");
    let _answers = answering(&worker, &[INFO, FIGURES, START, OPEN, INPUT]);
    for key in [INFO, OPEN, INPUT] {
        until("it may ask for programs", || is_told(&module, key));
    }
    for key in [START, FIGURES] {
        assert!(!is_told(&module, key), "a module asked for more: {key}");
    }
}

#[test]
fn only_who_has_a_program_there_is_seen_and_never_as_a_worker() {
    let (worker, module) = worker_and("live", "\"module\"");
    let (seen, _watch) = watch(&worker, "swarm/**");
    let _forged = module.live("swarm/run/1/live/3").expect("a token");
    let _token = module.live("swarm/host/alpha/pipe/0f/sister").expect("a token");
    assert_eq!(seen.recv_timeout(AGES).expect("it is seen").0, "swarm/host/alpha/pipe/0f/sister");
    assert!(seen.recv_timeout(SHORT).is_err(), "a module was taken for a worker");
    let (back, _watch) = watch(&module, "swarm/host/*/live");
    let _own = worker.live("swarm/host/alpha/live").expect("a token");
    until("it sees the host", || {
        back.recv_timeout(AGES).is_ok_and(|s| s.0 == "swarm/host/alpha/live" && s.1)
    });
}

#[test]
fn a_console_looks_and_asks_hosts_for_everything() {
    let (worker, console) = worker_and("console", "\"console\"");
    let _answers = answering(&worker, &[INFO, FIGURES, START, OPEN, INPUT]);
    for key in [INFO, FIGURES, START, OPEN, INPUT] {
        until("it may ask", || is_told(&console, key));
    }
    let (heard, _ear) = listen(&worker, "swarm/**");
    assert!(!reaches(&console, "swarm/run/1/workers/order/0", &heard, SHORT), "a console gave orders");
}

#[test]
fn who_has_no_role_does_nothing_and_hears_nothing() {
    let (worker, nobody) = worker_and("nobody", "");
    let _answers = answering(&worker, &[INFO]);
    let (heard, _ear) = listen(&worker, "swarm/**");
    let (own, _ear) = listen(&nobody, "swarm/run/1/workers/order/0");
    let order = "swarm/run/1/workers/order/0";
    assert!(!is_told(&nobody, INFO) && !reaches(&nobody, order, &heard, SHORT));
    while own.try_recv().is_ok() {}
    assert!(!reaches(&worker, order, &own, SHORT));
}
