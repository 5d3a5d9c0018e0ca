//! A cable is pulled out, put back, or slow. The machines are network namespaces; where those may not be made, these tests
//! say so and do nothing.

use crate::nets::{ADDRESSES, Net};
use crate::yard::{Dice, Host, LEASE_S, Run, TICKS, alone, done, folder, seeds};
use std::path::PathBuf;
use std::time::Duration;

/// A keeper and a host on the first machine, a host on the second, and certificates for all.
struct Lab {
    net: Net,
    keys: PathBuf,
    _hosts: [Host; 2],
    words: String,
}

fn lab(name: &str) -> Option<Lab> {
    let net = match Net::make() {
        Ok(net) => net,
        Err(why) => {
            println!("SKIPPED: network namespaces cannot be made here: {why}");
            return None;
        }
    };
    let keys = folder(&format!("keys-{name}"));
    let dir = keys.display();
    done(&format!("keys init {dir}"));
    for (member, address) in [("a", ADDRESSES[0]), ("b", ADDRESSES[1]), ("keeper", ADDRESSES[0])] {
        done(&format!("keys add {dir} {member} {address}"));
    }
    let host = |k: usize, name: &str| {
        let words = format!("--slots 2 --listen {}:0 --keys {dir}", ADDRESSES[k]);
        Host::start(&net.on(k), name, &words)
    };
    let hosts = [host(0, "a"), host(1, "b")];
    let [a, b] = hosts.each_ref().map(Host::address);
    let words = format!("--hosts {a},{b} --keys {dir} --listen {}:0 --rtf 8", ADDRESSES[0]);
    Some(Lab { net, keys, _hosts: hosts, words })
}

impl Lab {
    fn run(&self, name: &str) -> Run {
        Run::start(&self.net.on(0), name, &self.words)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.keys);
    }
}

#[test]
fn a_host_whose_cable_is_pulled_out_is_given_up_and_may_come_back() {
    let _alone = alone();
    let Some(lab) = lab("cable") else { return };
    for seed in seeds(2) {
        let mut dice = Dice::new(2000 + seed);
        let mut run = lab.run(&format!("cable-{seed}"));
        let tick = dice.roll(10, TICKS / 2);
        run.comes_to(tick);
        let on_b = run.workers().iter().filter(|w| w.host.as_deref() == Some("b")).count();
        assert!(on_b >= 1, "one of the two is on the other machine");
        lab.net.cable("down");
        let pause = Duration::from_millis(dice.roll(100, (LEASE_S * 3000.0) as u64));
        println!("seed {seed}: the cable is out at tick {tick} for {pause:?}");
        std::thread::sleep(pause);
        lab.net.cable("up");
        run.ends_as_undisturbed();
    }
}

#[test]
fn a_slow_cable_changes_nothing() {
    let _alone = alone();
    let Some(lab) = lab("slow") else { return };
    match lab.net.slow() {
        Ok(how) => println!("the cable is slow: {how}"),
        Err(why) => {
            println!("SKIPPED: links cannot be made slow here: {why}");
            return;
        }
    }
    lab.run("slow").ends_as_undisturbed();
}
