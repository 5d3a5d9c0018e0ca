//! What can go wrong with any network: a wrapper that every registered class starts in.
//!
//! In: what the wrapped network decides about each message ([`Air::deliver`]).
//! Out: the same, except that copies are lost, doubled, held back or cut off by a partition.
//!
//! A decision is made when the wrapped network decides an arrival, not when the message would arrive: at sending
//! for networks that know the delay then, at the end of the last stage for `metric` and `radio`. The wrapped
//! network never learns of it, so a lost message has used the medium all the same. Per message and receiver the
//! order is: partition, loss, delay, order, duplication.

use super::draws;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Moment, Time, Uid, Vec2, math};
use swarmyard_part_api::{
    Air, Loss, Message, NetFault, Network, Param, ParamType, Sheet, from_bytes, to_bytes,
};
use swarmyard_scene::{Params, Value};

/// Beyond so many robots the links of a partitioned network that reaches everywhere are not listed one by one.
const MOST_LISTED: u32 = 1000;

/// A second copy comes at least so much later than the first: the least step of time, 2⁻³² ns.
const LEAST_S: f64 = 1.0 / 4_294_967_296.0 * 1e-9;

/// What is always wrong with a network: parameters that every class but `reliable` has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flaws {
    /// Seed of all its chance; the run's when there is none.
    pub seed: Option<u64>,
    /// Probability that a copy is lost (outside of bursts).
    pub loss: f64,
    /// Probability that a copy is lost in a burst.
    pub burst_loss: f64,
    /// Probability, per copy, that a burst begins.
    pub burst_begin: f64,
    /// Probability, per copy, that a burst ends.
    pub burst_end: f64,
    /// Probability that a copy arrives twice.
    pub duplicate: f64,
    /// Seconds that every copy takes longer.
    pub extra_delay_s: f64,
    /// Whether copies from one robot to another never overtake each other.
    pub fifo: bool,
}

/// Adds the parameters of [`Flaws`] to a sheet.
#[must_use]
pub fn with_flaws(sheet: Sheet) -> Sheet {
    let share = |name, summary| Param::number(name, Unit::None, summary).within(0.0, 1.0);
    sheet
        .param(Param::new("seed", ParamType::Int { min: 0, max: i64::MAX }, "Seed of all chance of this network; the run's when left out."))
        .param(share("loss", "Probability that a copy of a message is lost, for each receiver.").or_num(0.0))
        .param(share("burst_loss", "Probability that a copy is lost while the pair of robots is in a burst (Gilbert–Elliott); outside of bursts it is `loss`.").or_num(1.0))
        .param(share("burst_begin", "Probability, at each copy, that a burst begins for its pair of robots.").or_num(0.0))
        .param(share("burst_end", "Probability, at each copy, that a burst ends for its pair of robots: bursts are 1/`burst_end` copies long in the mean.").or_num(0.2))
        .param(share("duplicate", "Probability that a copy arrives twice; the second one later, by at most as long as the first one took.").or_num(0.0))
        .param(Param::number("extra_delay", Unit::Second, "How much longer every copy takes.").within(0.0, 1.0e6).or_num(0.0))
        .param(Param::new("fifo", ParamType::Bool, "Whether messages from one robot to another arrive in the order of sending.").or(Value::Bool(false)))
}

impl Flaws {
    /// Random numbers of a message and its receiver: of the network's own seed, if it has one.
    fn chance(&self, air: &dyn Air, message: &Message, to: u32) -> Draw {
        match self.seed {
            None => air.chance(message, to),
            Some(seed) => Draw::at(seed, Uid(message.serial), Purpose::Network, Time::ZERO, to),
        }
    }

    /// Reads them from checked parameters.
    ///
    /// # Errors
    /// When bursts could begin and never end.
    pub fn from_params(p: &Params) -> Result<Flaws, Diagnostic> {
        let flaws = Flaws {
            seed: p.int_or_none("seed").map(|s| s as u64),
            loss: p.num("loss"),
            burst_loss: p.num("burst_loss"),
            burst_begin: p.num("burst_begin"),
            burst_end: p.num("burst_end"),
            duplicate: p.num("duplicate"),
            extra_delay_s: p.num("extra_delay"),
            fifo: p.bool("fifo"),
        };
        if flaws.burst_begin > 0.0 && flaws.burst_end == 0.0 {
            let what = "bursts of loss begin and never end: `burst_end` is `0`";
            let d = Diagnostic::error("out-of-range", what).at(p.span("burst_end"));
            return Err(d.help("let `burst_end` be more than 0"));
        }
        Ok(flaws)
    }

    /// Whether nothing at all is wrong.
    fn none(&self) -> bool {
        *self == Flaws { burst_loss: self.burst_loss, burst_end: self.burst_end, ..Flaws::default() }
    }
}

/// A network with flaws and faults.
pub struct Faulty {
    inner: Box<dyn Network>,
    robots: u32,
    flaws: Flaws,
    is_flawless: bool,
    state: State,
}

/// What changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// The group of each robot while there is a partition.
    groups: Option<Vec<u32>>,
    /// Probability of loss by a fault.
    loss: f64,
    /// Delay by a fault.
    delay_s: f64,
    /// Pairs (sender, receiver) in a burst of loss.
    bursts: BTreeSet<(u32, u32)>,
    /// When the last copy of each pair arrives, for those that are under way (kept in order only).
    last: BTreeMap<(u32, u32), Moment>,
    /// How many such pairs to keep before those that have arrived are forgotten.
    keep: u64,
    /// When each message was sent of which copies are under way, and how many (where copies are doubled only).
    sent: BTreeMap<u64, (Moment, u64)>,
}

impl Faulty {
    /// Wraps a network for so many robots.
    #[must_use]
    pub fn new(inner: Box<dyn Network>, robots: u32, flaws: Flaws) -> Faulty {
        let is_flawless = flaws.none();
        Faulty { inner, robots, flaws, is_flawless, state: State { keep: 64, ..State::default() } }
    }

    /// Whether messages pass as the wrapped network decides.
    fn calm(&self) -> bool {
        let State { groups, loss, delay_s, .. } = &self.state;
        self.is_flawless && groups.is_none() && *loss == 0.0 && *delay_s == 0.0
    }

    fn with_air(&mut self, air: &mut dyn Air, work: impl FnOnce(&mut dyn Network, &mut dyn Air)) {
        if self.calm() {
            return work(&mut *self.inner, air);
        }
        let mut between = Between { air: Side::Work(air, &mut self.state), flaws: &self.flaws };
        work(&mut *self.inner, &mut between);
    }
}

impl Network for Faulty {
    fn send(&mut self, message: &Message, to: &[u32], air: &mut dyn Air) {
        if self.flaws.duplicate > 0.0 && !to.is_empty() {
            self.state.sent.insert(message.serial, (air.now(), to.len() as u64));
        }
        self.with_air(air, |inner, air| inner.send(message, to, air));
    }

    fn wake(&mut self, token: u64, air: &mut dyn Air) {
        self.with_air(air, |inner, air| inner.wake(token, air));
    }

    fn fault(&mut self, fault: &NetFault) {
        match fault {
            NetFault::Partition(groups) => {
                // The rest is a group of its own: the last number.
                let mut of = vec![u32::MAX; self.robots as usize];
                for (k, group) in groups.iter().enumerate() {
                    for robot in group {
                        if let Some(slot) = of.get_mut(*robot as usize) {
                            *slot = k as u32;
                        }
                    }
                }
                self.state.groups = Some(of);
            }
            NetFault::Heal => self.state.groups = None,
            NetFault::Loss(p) => self.state.loss = p.clamp(0.0, 1.0),
            NetFault::Delay(seconds) => self.state.delay_s = math::max(*seconds, 0.0),
        }
        self.inner.fault(fault);
    }

    fn links(&self, air: &dyn Air) -> Option<Vec<(u32, u32)>> {
        // Who hears whom may hang on chance, which is that of the network's own seed here as well.
        let inner = self.inner.links(&Between { air: Side::Look(air), flaws: &self.flaws });
        let Some(groups) = &self.state.groups else { return inner };
        let together = |a: u32, b: u32| groups.get(a as usize) == groups.get(b as usize);
        match inner {
            Some(mut links) => {
                links.retain(|(a, b)| together(*a, *b));
                Some(links)
            }
            None if self.robots > MOST_LISTED => None,
            None => {
                let pairs = (0..self.robots).flat_map(|a| (a + 1..self.robots).map(move |b| (a, b)));
                Some(pairs.filter(|(a, b)| together(*a, *b)).collect())
            }
        }
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(&(&self.state, self.inner.save()))
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        let (state, inner): (State, Vec<u8>) = from_bytes(image)?;
        if state.groups.as_ref().is_some_and(|g| g.len() != self.robots as usize) {
            return Err("the memory is of a network with another number of robots".to_owned());
        }
        self.inner.load(&inner)?;
        self.state = state;
        Ok(())
    }
}

/// Stands between the wrapped network and the air.
struct Between<'a> {
    air: Side<'a>,
    flaws: &'a Flaws,
}

/// What a wrapped network may do to the air.
enum Side<'a> {
    /// Look at it.
    Look(&'a dyn Air),
    /// Decide what becomes of messages, which changes the state of the flaws.
    Work(&'a mut dyn Air, &'a mut State),
}

impl Between<'_> {
    fn air(&self) -> &dyn Air {
        match &self.air {
            Side::Look(air) => *air,
            Side::Work(air, _) => &**air,
        }
    }
}

impl State {
    fn cut_off(&self, a: u32, b: u32) -> bool {
        self.groups.as_ref().is_some_and(|g| g.get(a as usize) != g.get(b as usize))
    }

    /// Whether chance takes the copy; moves the pair's burst on by one copy.
    fn takes(&mut self, flaws: &Flaws, pair: (u32, u32), draw: Draw) -> bool {
        let Flaws { loss, burst_loss, burst_begin, burst_end, .. } = *flaws;
        let mut chance = loss;
        if burst_begin > 0.0 {
            let turn = draw.uniform(draws::FLAWS + 1);
            let was = self.bursts.contains(&pair);
            let bursting = if was { turn >= burst_end } else { turn < burst_begin };
            if bursting {
                chance = burst_loss;
                self.bursts.insert(pair);
            } else if was {
                self.bursts.remove(&pair);
            }
        }
        // Both ways to be lost are independent of each other.
        let kept = (1.0 - chance) * (1.0 - self.loss);
        kept < 1.0 && draw.uniform(draws::FLAWS) >= kept
    }

    /// Not before the pair's copy before it.
    fn in_order(&mut self, pair: (u32, u32), at: Moment, now: Moment) -> Moment {
        let at = self.last.get(&pair).map_or(at, |last| at.max(*last));
        self.last.insert(pair, at);
        if self.last.len() as u64 > self.keep {
            self.last.retain(|_, last| *last >= now);
            self.keep = 2 * self.last.len().max(32) as u64;
        }
        at
    }

    /// One more copy of a message has met its fate; answers when it was sent, if that is known.
    fn decided(&mut self, serial: u64) -> Option<Moment> {
        let (sent, left) = self.sent.get_mut(&serial)?;
        let sent = *sent;
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.sent.remove(&serial);
        }
        Some(sent)
    }
}

impl Air for Between<'_> {
    fn now(&self) -> Moment {
        self.air().now()
    }

    fn robots(&self) -> u32 {
        self.air().robots()
    }

    fn place(&self, robot: u32) -> Option<Vec2> {
        self.air().place(robot)
    }

    fn obstructed(&self, a: Vec2, b: Vec2) -> (u32, f64) {
        self.air().obstructed(a, b)
    }

    fn chance(&self, message: &Message, to: u32) -> Draw {
        self.flaws.chance(self.air(), message, to)
    }

    fn deliver(&mut self, message: &Message, to: u32, at: Moment) {
        let (draw, flaws, pair) = (self.chance(message, to), self.flaws, (message.from, to));
        let Side::Work(air, state) = &mut self.air else { return };
        let now = air.now();
        let sent = state.decided(message.serial).unwrap_or(now);
        if state.cut_off(message.from, to) {
            return air.lose(message, to, Loss::Partition);
        }
        if state.takes(flaws, pair, draw) {
            return air.lose(message, to, Loss::Chance);
        }
        let mut at = at.plus(flaws.extra_delay_s + state.delay_s);
        if flaws.fifo {
            at = state.in_order(pair, at, now);
        }
        air.deliver(message, to, at);
        if flaws.duplicate > 0.0 && draw.uniform(draws::FLAWS + 2) < flaws.duplicate {
            // Never at the same moment: two arrivals of one message could not be told apart.
            let mut again = at.plus(at.since(sent) * draw.uniform(draws::FLAWS + 3)).max(at.plus(LEAST_S));
            if flaws.fifo {
                again = state.in_order(pair, again, now);
            }
            air.deliver(message, to, again);
        }
    }

    fn lose(&mut self, message: &Message, to: u32, why: Loss) {
        if let Side::Work(air, state) = &mut self.air {
            state.decided(message.serial);
            air.lose(message, to, why);
        }
    }

    fn wake(&mut self, at: Moment, token: u64) {
        if let Side::Work(air, _) = &mut self.air {
            air.wake(at, token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Constant, StillAir};
    use swarmyard_part_api::NetworkModel;

    fn network(robots: u32, flaws: Flaws) -> Box<dyn Network> {
        Constant { delay_s: 1.0, flaws }.start(robots)
    }

    #[test]
    fn a_partition_cuts_groups_off_until_it_heals_and_the_rest_is_a_group() {
        let mut net = network(6, Flaws::default());
        let mut air = StillAir::new(6, 1);
        assert_eq!(net.links(&air), None);
        net.fault(&NetFault::Partition(vec![vec![0, 1], vec![2, 77]]));
        assert_eq!(net.links(&air), Some(vec![(0, 1), (3, 4), (3, 5), (4, 5)]));
        air.send(&mut *net, 0, &[1, 2, 3], b"x");
        air.send(&mut *net, 4, &[5, 0], b"x");
        net.fault(&NetFault::Heal);
        air.send(&mut *net, 0, &[2], b"x");
        air.run(&mut *net, 9.0);
        let got: Vec<(u64, u32)> = air.arrived.iter().map(|a| (a.serial, a.to)).collect();
        assert_eq!(got, [(0, 1), (1, 5), (2, 2)]);
        let lost: Vec<(u64, u32)> = air.lost.iter().map(|l| (l.serial, l.to)).collect();
        assert_eq!(lost, [(0, 2), (0, 3), (1, 0)]);
        assert!(air.lost.iter().all(|l| l.why == Loss::Partition));
    }

    #[test]
    fn faults_add_loss_and_delay_from_then_on() {
        let mut net = network(2, Flaws { loss: 0.2, extra_delay_s: 0.5, ..Flaws::default() });
        let mut air = StillAir::new(2, 1);
        let n = 20_000;
        net.fault(&NetFault::Loss(0.5));
        net.fault(&NetFault::Delay(2.0));
        for _ in 0..n {
            air.send(&mut *net, 0, &[1], b"x");
        }
        air.run(&mut *net, 10.0);
        assert!(air.arrived.iter().all(|a| a.seconds() == 3.5));
        // 0.8 · 0.5 arrive; five standard errors.
        let share = air.arrivals as f64 / f64::from(n);
        assert!((share - 0.4).abs() < 5.0 * (0.24 / f64::from(n)).sqrt(), "{share}");
        assert!(air.lost.iter().all(|l| l.why == Loss::Chance));
        assert_eq!(air.arrivals + air.losses, n as u64);
    }

    #[test]
    fn bursts_have_the_length_and_the_share_of_gilbert_and_elliott() {
        let flaws = Flaws { burst_loss: 1.0, burst_begin: 0.05, burst_end: 0.25, ..Flaws::default() };
        let mut net = network(2, flaws);
        let mut air = StillAir::new(2, 1);
        let n = 100_000;
        for _ in 0..n {
            air.send(&mut *net, 0, &[1], b"x");
        }
        let mut gone = vec![false; n];
        air.lost.iter().for_each(|l| gone[l.serial as usize] = true);
        let bursts = gone.windows(2).filter(|w| !w[0] && w[1]).count() as f64;
        let lost = air.losses as f64;
        // Share of bursts p/(p + q) = 1/6, mean length 1/q = 4; about 4200 bursts, so 2 % is over one standard error.
        assert!((lost / n as f64 - 1.0 / 6.0).abs() < 0.01, "{}", lost / n as f64);
        assert!((lost / bursts - 4.0).abs() < 0.25, "{}", lost / bursts);
    }

    #[test]
    fn a_doubled_message_comes_twice_and_the_second_time_later() {
        let mut net = network(2, Flaws { duplicate: 0.3, ..Flaws::default() });
        let mut air = StillAir::new(2, 1);
        let n = 10_000;
        for _ in 0..n {
            air.send(&mut *net, 0, &[1], b"x");
        }
        air.run(&mut *net, 5.0);
        let twice = air.arrivals - n;
        assert!((twice as f64 - 3000.0).abs() < 5.0 * (0.21 * n as f64).sqrt(), "{twice}");
        assert!(air.arrived.iter().all(|a| (1.0..=2.0).contains(&a.seconds())));
    }

    #[test]
    fn order_is_kept_per_pair_in_bounded_memory() {
        let flaws = Flaws { fifo: true, ..Flaws::default() };
        let mut net = Faulty::new(network(300, Flaws::default()), 300, flaws);
        let mut air = StillAir::new(300, 1);
        for k in 0..5000_u32 {
            air.run(&mut net, f64::from(k));
            air.send(&mut net, k % 300, &[(k * 7 + 1) % 300], b"x");
        }
        assert!(net.state.last.len() < 200, "{}", net.state.last.len());
    }

    #[test]
    fn a_memory_of_other_robots_is_refused() {
        let mut five = network(5, Flaws::default());
        five.fault(&NetFault::Partition(vec![]));
        assert!(network(4, Flaws::default()).load(&five.save()).is_err());
        assert!(network(5, Flaws::default()).load(&five.save()).is_ok());
        assert!(network(5, Flaws::default()).load(b"nonsense").is_err());
    }
}
