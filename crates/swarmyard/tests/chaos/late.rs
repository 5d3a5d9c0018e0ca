//! Hosts that come late, and hosts that come back.

use crate::yard::{Host, Run, TICKS, alone, signal};
use std::net::TcpListener;

/// A port that is free now, and that nobody is given who asks for any: those begin at 32768.
fn port() -> u16 {
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).expect("it is less");
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (first..32_768).find(is_free).expect("a port")
}

#[test]
fn a_host_that_comes_late_is_asked_and_one_that_comes_back_is_asked_again() {
    let _alone = alone();
    let a = Host::start(&[], "a", "--slots 1");
    let late = format!("127.0.0.1:{}", port());
    let hosts = format!("--hosts {},b={late} --rtf 1", a.address());
    let mut run = Run::start(&[], "late", &hosts);
    let on_b = |run: &Run| run.workers().iter().filter(|w| w.host.as_deref() == Some("b")).count();
    run.comes_to(20);
    assert_eq!(on_b(&run), 0, "b is not there yet");
    let b = Host::start(&[], "b", &format!("--slots 1 --listen {late}"));
    let mut tick = 20;
    while on_b(&run) == 0 {
        tick += 10;
        assert!(tick < 200, "nobody asked b, which came late");
        run.comes_to(tick);
    }
    println!("b came at tick 20 and was asked before tick {tick}");
    signal(b.pid(), "KILL");
    drop(b);
    let before = on_b(&run);
    run.comes_to(tick + 10);
    let _b = Host::start(&[], "b", &format!("--slots 1 --listen {late}"));
    while on_b(&run) == before {
        tick += 10;
        assert!(tick < TICKS - 10, "nobody asked b again, which came back");
        run.comes_to(tick);
    }
    println!("b came back and was asked again before tick {tick}");
    let said = run.ends_as_undisturbed();
    assert!(said.contains("host `b`"), "{said}");
}
