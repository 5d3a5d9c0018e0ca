//! A host lends idle time only, and its owner comes back.

use crate::yard::{AGES, Host, Run, TICKS, alone, folder, is_there};
use std::time::{Duration, Instant};

/// How far a process steps back behind others: the nineteenth word about it, of which the second is a name in brackets.
fn niceness(pid: u32) -> i64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let (_, rest) = text.rsplit_once(')').expect("a name");
    rest.split_whitespace().nth(16).and_then(|word| word.parse().ok()).expect("a number")
}

#[test]
fn an_idle_host_steps_back_is_withdrawn_from_a_run_and_lent_again() {
    let _alone = alone();
    let load = folder("load").join("load");
    let owner = |busy: &str| std::fs::write(&load, busy).expect("a file");
    owner("0");
    // One that steps back behind everything else may be silent for long on a busy machine; one that is withdrawn is missed at once.
    let idle = format!("--slots 1 --idle --busy-above 1 --lease 20 --load-from {}", load.display());
    let (a, b) = (Host::start(&[], "a", &idle), Host::start(&[], "b", "--slots 1 --lease 20"));
    let hosts = format!("--hosts {},{} --workers 2 --rtf 1 --lease 20", a.address(), b.address());
    let mut run = Run::start(&[], "withdrawn", &hosts);
    let on_a = |run: &Run| -> Vec<u32> {
        run.workers().iter().filter(|w| w.host.as_deref() == Some("a")).map(|w| w.pid).collect()
    };
    run.comes_to(10);
    let lent = on_a(&run);
    assert_eq!(lent.len(), 1);
    assert_eq!(niceness(lent[0]), 19);
    owner("9");
    let since = Instant::now();
    while is_there(lent[0]) {
        assert!(since.elapsed() < AGES, "its worker is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("withdrawn after {:.1} s", since.elapsed().as_secs_f64());
    let info = a.info();
    assert_eq!(info["free"], 0, "{info}");
    let mut tick = 30;
    run.comes_to(tick);
    assert_eq!(on_a(&run).len(), 1, "it was asked though it is withdrawn");
    owner("0");
    let since = Instant::now();
    while on_a(&run).len() == 1 {
        tick += 5;
        assert!(tick < TICKS - 10, "nobody asked it again");
        run.comes_to(tick);
    }
    println!("lent again after {:.1} s, before tick {tick}", since.elapsed().as_secs_f64());
    run.ends_as_undisturbed();
}
