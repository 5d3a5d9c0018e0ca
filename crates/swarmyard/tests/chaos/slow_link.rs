//! A cable gets slow in the middle of a run, and is as before again. The machines are network namespaces; where those may not
//! be made, or not be slowed down, this test says so and does nothing.

use crate::nets::{lab, skipped};
use crate::yard::{Dice, TICKS, alone, seeds};
use std::time::Instant;

#[test]
fn a_cable_that_is_slow_for_a_while_changes_nothing() {
    let _alone = alone();
    let Some(lab) = lab("slow", "") else { return };
    for seed in seeds(1) {
        let mut dice = Dice::new(3000 + seed);
        let mut run = lab.run(&format!("slow-{seed}"));
        let tick = dice.roll(10, TICKS / 2);
        run.comes_to(tick);
        let how = match lab.net.slow() {
            Ok(how) => how,
            Err(why) => return skipped(&format!("links cannot be made slow here: {why}")),
        };
        let (since, until) = (Instant::now(), dice.roll(tick + 20, TICKS - 20));
        run.comes_to(until);
        lab.net.normal();
        let took = since.elapsed().as_secs_f64();
        println!("seed {seed}: the cable was slow ({how}) from tick {tick} to {until}, for {took:.1} s");
        run.ends_as_undisturbed();
    }
}
