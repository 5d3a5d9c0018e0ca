//! A cable is pulled out and put back. The machines are network namespaces; where those may not be made, this test says so and
//! does nothing.

use crate::nets::lab;
use crate::yard::{Dice, TICKS, alone, seeds};
use std::time::Duration;

/// Seconds of silence after which a worker is lost: so long that nobody is for being slow on a busy machine.
const LEASE_S: f64 = 2.0;

#[test]
fn a_host_whose_cable_is_pulled_out_is_given_up_and_may_come_back() {
    let _alone = alone();
    let Some(lab) = lab("cable", &format!("--lease {LEASE_S}")) else { return };
    for seed in seeds(2) {
        let mut dice = Dice::new(2000 + seed);
        let mut run = lab.run(&format!("cable-{seed}"));
        let tick = dice.roll(10, TICKS / 2);
        run.comes_to(tick);
        let on_b = run.workers().iter().filter(|w| w.host.as_deref() == Some("b")).count();
        assert_eq!(on_b, 1, "one of the two is on the other machine");
        lab.net.cable("down");
        let pause = Duration::from_millis(dice.roll(100, (LEASE_S * 3000.0) as u64));
        println!("seed {seed}: the cable is out at tick {tick} for {pause:?}");
        std::thread::sleep(pause);
        lab.net.cable("up");
        run.ends_as_undisturbed();
    }
}
