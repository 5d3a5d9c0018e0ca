//! The access file is obeyed: a member does what its roles allow, and nothing else gets through.

use crate::strangers::{authority, with};
use crate::{AGES, folder, listen, member, reaches, until, watch};
use std::time::Duration;
use swarmyard_fabric::access::Access;
use swarmyard_fabric::mesh::{Mesh, Options};
use swarmyard_fabric::{Fabric, Lost};

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

#[test]
fn a_display_sees_what_is_shown_and_disturbs_nothing() {
    let (worker, display) = worker_and("display", "\"display\"");
    let (seen, _ear) = listen(&display, "swarm/run/1/show/**");
    assert!(reaches(&worker, "swarm/run/1/show/frame", &seen, AGES), "a display sees nothing");
    let _answer = worker.answer("swarm/run/1/show/world", Box::new(|_, _| Some(vec![1]))).expect("an answer");
    until("it may ask", || display.ask("swarm/run/1/show/world", b"", SHORT) == Ok(vec![1]));

    let (secret, _ear) = listen(&display, "swarm/run/1/workers/**");
    assert!(!reaches(&worker, "swarm/run/1/workers/q/0/1", &secret, SHORT), "a display heard workers");
    let (heard, _ear) = listen(&worker, "swarm/**");
    assert!(!reaches(&display, "swarm/run/1/workers/q/0/1", &heard, SHORT), "a display spoke as a worker");
    assert!(!reaches(&display, "swarm/run/1/console/stop", &heard, SHORT), "a display gave orders");
    let (_, _end) = listen(&worker, "swarm/run/1/workers/q/*/1");
    let refused = display.ask("swarm/run/1/workers/lane/0/1", b"", SHORT);
    assert!(matches!(refused, Err(Lost::Silent { .. })), "a display learnt the secret of a lane");
    let _answer = worker.answer("swarm/host/alpha/start", Box::new(|_, _| Some(vec![2]))).expect("an answer");
    let refused = display.ask("swarm/host/alpha/start", b"", SHORT);
    assert!(matches!(refused, Err(Lost::Silent { .. })), "a display started something: {refused:?}");
}

#[test]
fn a_display_is_seen_as_a_display_only() {
    let (worker, display) = worker_and("live", "\"display\"");
    let (seen, _watch) = watch(&worker, "swarm/run/*/live/**");
    let _forged = display.live("swarm/run/1/live/worker/3").expect("a token");
    let _token = display.live("swarm/run/1/live/display/3").expect("a token");
    assert_eq!(seen.recv_timeout(AGES).expect("it is seen").0, "swarm/run/1/live/display/3");
    assert!(seen.recv_timeout(SHORT).is_err(), "a display was taken for a worker");
    let (back, _watch) = watch(&display, "swarm/run/*/live/worker/*");
    let _own = worker.live("swarm/run/1/live/worker/0").expect("a token");
    // It sees its own token as well; nobody else does.
    until("it sees the worker", || {
        back.recv_timeout(AGES).is_ok_and(|s| s.0 == "swarm/run/1/live/worker/0" && s.1)
    });
}

#[test]
fn a_console_directs_and_asks_hosts() {
    let (worker, console) = worker_and("console", "\"console\"");
    let (heard, _ear) = listen(&worker, "swarm/run/1/console/**");
    assert!(reaches(&console, "swarm/run/1/console/pause", &heard, AGES), "a console is not obeyed");
    let _answer = worker.answer("swarm/host/alpha/start", Box::new(|_, _| Some(vec![2]))).expect("an answer");
    until("it may ask hosts", || console.ask("swarm/host/alpha/start", b"", SHORT) == Ok(vec![2]));
}

#[test]
fn who_has_no_role_does_nothing_and_hears_nothing() {
    let (worker, nobody) = worker_and("nobody", "");
    let (heard, _ear) = listen(&worker, "swarm/**");
    let (own, _ear) = listen(&nobody, "swarm/run/1/show/frame");
    assert!(!reaches(&nobody, "swarm/run/1/show/frame", &heard, SHORT));
    while own.try_recv().is_ok() {}
    let show = "swarm/run/1/show/frame";
    assert!(!reaches(&worker, show, &own, SHORT));
}
