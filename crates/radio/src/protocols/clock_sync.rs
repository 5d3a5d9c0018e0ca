//! Clocks that agree: every robot has a hardware clock that is a little wrong, and corrects it by messages.
//!
//! In: readings of the others' clocks, in messages whose delay is known to lie between two bounds. Out: what the
//! corrected clock shows, for whoever asks, and how far it may be off.
//!
//! Simulated time is perfect, so the error is made here: the hardware clock shows (1 + drift) · now + offset, and
//! every robot draws its own drift and offset at its first start, up to the greatest that the parameters allow. A
//! hardware clock goes on through a crash. Timers of this protocol run by it as well.
//!
//! Below, u = delay_max − delay_min, ρ is the parameter `drift`, P the parameter `period`.
//!
//! - `way = "average"` (Lundelius and Lynch 1984): in a round everybody tells everybody what its corrected clock
//!   shows. A reading is taken to be (delay_min + delay_max) / 2 old when it comes, which gives the difference of
//!   the two clocks to ± u/2; the correction is the mean of all differences, that of a robot to itself being 0. A
//!   round begins when the first robot's period is over: whoever hears of it joins in. It ends when all have been
//!   heard, and at the latest 2 delay_max after it was joined.
//! - `way = "ask"` (Cristian 1989): everybody asks one robot, the `reference`, several times, and takes the answer
//!   that came soonest: its reading, and half of the round trip.
//!
//! | | |
//! |---|---|
//! | provides | Clock |
//! | uses | Link (`link`; the network when left out) |
//! | guarantees, `average` | with n robots that all hear each other two clocks differ by at most u(1 − 1/n) once all have ended a round and ρ is 0, and no protocol does better; with drift by at most u(1 − 1/n) + 2ρP/(1 − ρ) until the next round begins; at any moment, also while some have ended a round and others have not, by at most 3/2 · u(1 − 1/n) + 2ρ(P/(1 − ρ) + 5 delay_max). The last is what it says as its error, half of it for each of the two |
//! | guarantees, `ask` | after a round trip that took D by its hardware clock, a clock is off the reference by at most D/2 − delay_min when ρ is 0, else by (D/(1 − ρ) − delay_min)(1 + ρ) − D/2, and by 2ρ/(1 − ρ) more for each second since. That is what it says as its error |
//! | assumes | `average`: delays within the bounds, no loss; `ask`: no message faster than delay_min |
//! | messages | `average`: n(n − 1) per period; `ask`: 2 · tries · (n − 1) per period |
//! | model-checked | `average`, 3 robots, one round, ends of rounds at any moment, with and without a crash, exhaustively: 27 000 and 108 000 states; `ask`, 2 robots, two tries, questions and answers lost and doubled, with and without one that crashes and comes back |
//!
//! **Crashes, `average`.** The mean is taken over those heard in the round. When all that live hear the same m
//! robots, themselves among them, the bounds hold with m for n. When one crashes while it tells its clock, some
//! count it and some do not: then two clocks differ by at most u + Δ/m, where Δ is how far they differed before,
//! and the next round mends it. A robot says no error while it does not hear more than half of all robots, nor
//! until it has heard the same ones in three rounds in a row (at the start: from the first, when it hears all). One
//! that comes back listens for a round before it tells its own clock.
//!
//! **Crashes, `ask`.** While the reference is silent robots go on by their hardware clocks from the last answer,
//! and say so in the log; the error that they say grows.
//!
//! A correction may turn a clock back. Who waits for a time is told once, when the clock first shows it.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Moment, math};
use swarmyard_part_api::{
    Built, Class, Company, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec,
    ProtocolModel, ProtocolPort, ReadClock, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes,
    memory_is_serde,
};
use swarmyard_scene::{Params, Value};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// Rounds in a row in which the same robots must have been heard before an error is said.
const STEADY: u32 = 3;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("clock-sync", Kind::Protocol, "Clocks that agree: every robot has a hardware clock with an offset and a drift of its own, and corrects it by what others say. By the mean of all (Lundelius and Lynch) or by asking one (Cristian). Provides clock.")
        .param(Param::new("way", ParamType::Choice(&["average", "ask"]), "How it is corrected: by the mean of all clocks, or by the clock of the reference.").or_text("average"))
        .param(Param::number("period", Unit::Second, "Time between two corrections, by the robot's own clock.").within(1e-6, 1e6).or_num(10.0))
        .param(Param::number("delay_min", Unit::Second, "What a message takes at least.").within(0.0, 1e6).or_num(0.0))
        .param(Param::number("delay_max", Unit::Second, "What a message takes at most. A longer one breaks the promise of `average`.").within(0.0, 1e6).or_num(0.1))
        .param(Param::number("offset", Unit::Second, "By how much a hardware clock is wrong at the start, at most; each draws its own, ahead or behind.").within(0.0, 1e9).or_num(1.0))
        .param(Param::number("drift", Unit::None, "By how much a hardware clock is too fast or too slow, at most: 1e-5 is about a second in a day.").within(0.0, 0.1).or_num(1e-5))
        .param(Param::new("reference", ParamType::Int { min: 0, max: 1_000_000 }, "When asking: number of the robot that is asked.").or(Value::Int(0)))
        .param(Param::new("tries", ParamType::Int { min: 1, max: 1000 }, "When asking: questions each time; the answer that came soonest counts.").or(Value::Int(4)))
        .param(Param::new("link", ParamType::Name("protocol"), "What carries its messages; the network when left out. A link that sends again takes longer than delay_max."))
        .example("[[type.demo.protocol]]\nname = \"time\"\nclass = \"clock-sync\"\nperiod = \"5s\"\ndelay_min = \"10ms\"\ndelay_max = \"50ms\"\noffset = \"2s\"\ndrift = 1e-4")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let number = |name: &str| u32::try_from(p.int(name)).unwrap_or(0);
    let way = match p.text("way") {
        "ask" => Way::Ask { reference: number("reference"), tries: number("tries") },
        _ => Way::Average,
    };
    let sync = ClockSync {
        way,
        period_s: p.num("period"),
        delay_s: (p.num("delay_min"), p.num("delay_max")),
        offset_s: p.num("offset"),
        drift: p.num("drift"),
    };
    let out_of_range = |what: String, help: &str| Err(Diagnostic::error("out-of-range", what).help(help));
    if sync.delay_s.0 > sync.delay_s.1 {
        let what = format!("delay_min is {} s, delay_max only {} s", sync.delay_s.0, sync.delay_s.1);
        return out_of_range(what, "delay_min is what a message takes at least");
    }
    let least_s = sync.busy_s();
    if sync.period_s < least_s {
        let what = format!("the period is {} s, and a correction may take {least_s} s", sync.period_s);
        return out_of_range(what, "make the period longer, or delay_max or tries smaller");
    }
    Ok(Built::Protocol(Arc::new(sync)))
}

/// How a clock is corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// By the mean of all clocks.
    Average,
    /// By the clock of one robot.
    Ask {
        /// Its number.
        reference: u32,
        /// Questions each time.
        tries: u32,
    },
}

/// Clocks that agree, with these settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockSync {
    /// How they are corrected.
    pub way: Way,
    /// Time between two corrections, s.
    pub period_s: f64,
    /// What a message takes at least and at most, s.
    pub delay_s: (f64, f64),
    /// How wrong a hardware clock is at most at the start, s.
    pub offset_s: f64,
    /// How much too fast or too slow it is at most: seconds per second.
    pub drift: f64,
}

impl ClockSync {
    /// How long a correction may take, with some room.
    fn busy_s(&self) -> f64 {
        match self.way {
            Way::Average => 4.0 * self.delay_s.1,
            Way::Ask { tries, .. } => 2.5 * f64::from(tries) * self.delay_s.1,
        }
    }

    /// How long to wait for what takes two delays, by the robot's own clock. It is a little longer, so that what
    /// comes at the last moment is not late because of rounding.
    fn two_delays_s(&self) -> f64 {
        2.0 * self.delay_s.1 * (1.0 + self.drift) * (1.0 + 1e-6) + 1e-9
    }

    /// What a robot may say as its error when it was corrected by the mean of this many: half of what two differ
    /// by at most.
    fn mean_error_s(&self, heard: usize) -> f64 {
        let (least_s, most_s) = self.delay_s;
        let spread_s = (most_s - least_s) * (1.0 - 1.0 / heard as f64);
        let apart_s = 2.0 * self.drift * (self.period_s / (1.0 - self.drift) + 5.0 * most_s);
        f64::midpoint(1.5 * spread_s, apart_s)
    }

    /// How far the reference's clock may be from its answer and half of the round trip, which took so many seconds
    /// by the robot's own clock.
    fn asked_error_s(&self, round_trip_s: f64) -> f64 {
        let least_s = self.delay_s.0;
        let more = (round_trip_s / (1.0 - self.drift) - least_s) * (1.0 + self.drift) - 0.5 * round_trip_s;
        let less = 0.5 * round_trip_s - least_s * (1.0 - self.drift);
        // Below 0 only when a message was faster than delay_min.
        math::max(math::max(more, less), 0.0)
    }
}

impl ProtocolModel for ClockSync {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Clock)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn misfits(&self, company: &Company<'_>) -> Vec<(&'static str, Diagnostic)> {
        let Way::Ask { reference, .. } = self.way else { return Vec::new() };
        company.stranger("reference", reference).map(|d| ("reference", d)).into_iter().collect()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Timepiece {
            settings: self.clone(),
            hardware: Hardware { rate: 1.0, offset_s: 0.0 },
            correction_s: 0.0,
            claim: None,
            turn: None,
            limit: None,
            round: Round::default(),
            asking: Asking::default(),
            alarms: Vec::new(),
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Word::Shows { round, reading_s }) => {
                ("SHOWS".into(), format!("{reading_s:.6} s, round {round}"))
            }
            Ok(Word::Ask { .. }) => ("ASK".into(), String::new()),
            Ok(Word::Answer { reading_s, .. }) => ("ANSWER".into(), format!("{reading_s:.6} s")),
            Err(why) => ("BAD".into(), why),
        }
    }
}

/// What it says to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    /// In this round my clock shows that.
    Shows { round: u64, reading_s: f64 },
    /// What does yours show? My hardware clock shows that: it comes back with the answer, so nothing has to be
    /// remembered, and an answer to a question from before a crash does no harm.
    Ask { asked_s: f64 },
    /// That.
    Answer { asked_s: f64, reading_s: f64 },
}

/// A clock that nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Hardware {
    /// Its seconds per second.
    rate: f64,
    offset_s: f64,
}

impl Hardware {
    fn draw(settings: &ClockSync, cx: &mut Cx<'_>) -> Hardware {
        let draw = cx.chance();
        let within = |index, most: f64| draw.between(index, -most, most);
        Hardware { rate: 1.0 + within(0, settings.drift), offset_s: within(1, settings.offset_s) }
    }

    fn reading_s(&self, cx: &Cx<'_>) -> f64 {
        self.rate * cx.now().since(Moment::ZERO) + self.offset_s
    }
}

/// How far the clock may be off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Claim {
    error_s: f64,
    /// What the hardware clock showed then.
    since_s: f64,
    /// How much the error grows for each second of it.
    growth: f64,
}

/// A round of taking the mean.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Round {
    /// Its number, from 1.
    number: u64,
    open: bool,
    /// Whether this robot only listens, because it has come back from a crash.
    listens: bool,
    /// By how much the others' clocks are ahead.
    ahead_s: BTreeMap<u32, f64>,
    /// Who was heard in the last round, and in how many rounds in a row.
    heard: BTreeSet<u32>,
    same: u32,
}

/// A row of questions to the reference.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Asking {
    /// Questions so far.
    asked: u32,
    /// What the hardware clock showed at the last one.
    asked_s: f64,
    /// The best answer: its round trip, the correction by it, and what the hardware clock showed when it came.
    best: Option<(f64, f64, f64)>,
    silent: bool,
}

/// Somebody waits until the clock shows a time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Alarm {
    user: User,
    at_s: f64,
    timer: u64,
}

/// A robot's clock.
#[derive(Serialize, Deserialize)]
struct Timepiece {
    settings: ClockSync,
    hardware: Hardware,
    /// What is added to the hardware clock.
    correction_s: f64,
    claim: Option<Claim>,
    /// Timer of the next correction.
    turn: Option<u64>,
    /// Timer that ends the waiting for others.
    limit: Option<u64>,
    round: Round,
    asking: Asking,
    alarms: Vec<Alarm>,
}

impl Microprotocol for Timepiece {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        let before = cx.persisted::<Hardware>();
        self.hardware = before.unwrap_or_else(|| Hardware::draw(&self.settings, cx));
        cx.persist(&self.hardware);
        match self.settings.way {
            Way::Average if before.is_some() => {
                self.round.listens = true;
                self.turn = Some(self.wait(2.0 * self.settings.period_s, cx));
            }
            Way::Average => {
                // In the first round everybody is expected: who hears all may say its error at once.
                self.round.heard = cx.others().into_iter().collect();
                self.round.same = STEADY - 1;
                self.join(1, cx);
            }
            Way::Ask { reference, .. } if reference == cx.me() => {
                self.claim = Some(Claim { error_s: 0.0, since_s: 0.0, growth: 0.0 });
            }
            Way::Ask { reference, .. } => {
                if reference >= cx.robots() {
                    cx.say(&format!("there is no robot {reference} to ask for the time"));
                }
                self.begin_asking(cx);
            }
        }
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        match request {
            Request::Clock(ReadClock::At(at_s)) if at_s > self.reading_s(cx) => {
                let timer = self.wait(at_s - self.reading_s(cx), cx);
                self.alarms.push(Alarm { user, at_s, timer });
            }
            Request::Clock(_) => self.tell(user, cx),
            _ => {}
        }
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        if from == cx.me() || from >= cx.robots() {
            return;
        }
        match (from_bytes(&bytes), self.settings.way) {
            (Ok(Word::Shows { round, reading_s }), Way::Average) if reading_s.is_finite() => {
                self.hear(from, round, reading_s, cx);
            }
            (Ok(Word::Ask { asked_s }), Way::Ask { reference, .. }) if reference == cx.me() => {
                let reading_s = self.reading_s(cx);
                cx.send_to(LINK, from, &Word::Answer { asked_s, reading_s });
            }
            (Ok(Word::Answer { asked_s, reading_s }), Way::Ask { reference, .. })
                if reference == from && asked_s.is_finite() && reading_s.is_finite() =>
            {
                self.take_answer(asked_s, reading_s, cx);
            }
            _ => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if self.turn == Some(timer) {
            self.turn = None;
            match self.settings.way {
                Way::Average => {
                    // Nobody was heard for so long: then somebody has to begin.
                    self.round.listens = false;
                    self.join(self.round.number + 1, cx);
                }
                Way::Ask { .. } => self.begin_asking(cx),
            }
        } else if self.limit == Some(timer) {
            self.limit = None;
            match self.settings.way {
                Way::Average => self.end_round(cx),
                Way::Ask { .. } => self.ask_again(cx),
            }
        } else if let Some(k) = self.alarms.iter().position(|a| a.timer == timer) {
            let alarm = self.alarms.remove(k);
            self.tell(alarm.user, cx);
        }
    }
}

impl Timepiece {
    fn reading_s(&self, cx: &Cx<'_>) -> f64 {
        self.hardware.reading_s(cx) + self.correction_s
    }

    /// A timer by the hardware clock.
    fn wait(&self, seconds: f64, cx: &mut Cx<'_>) -> u64 {
        cx.set_timer(math::max(seconds, 0.0) / self.hardware.rate)
    }

    fn tell(&self, user: User, cx: &mut Cx<'_>) {
        let grown = |c: Claim| c.error_s + c.growth * (self.hardware.reading_s(cx) - c.since_s);
        let what = Indication::Clock { reading_s: self.reading_s(cx), error_s: self.claim.map(grown) };
        cx.indicate(user, what);
    }

    /// Changes the clock; who waits for a time waits for it on the changed one.
    fn correct(&mut self, correction_s: f64, cx: &mut Cx<'_>) {
        self.correction_s = correction_s;
        let reading_s = self.reading_s(cx);
        for mut alarm in std::mem::take(&mut self.alarms) {
            cx.cancel_timer(alarm.timer);
            if alarm.at_s > reading_s {
                alarm.timer = self.wait(alarm.at_s - reading_s, cx);
                self.alarms.push(alarm);
            } else {
                self.tell(alarm.user, cx);
            }
        }
    }

    fn stop_waiting(&mut self, cx: &mut Cx<'_>) {
        if let Some(timer) = self.limit.take() {
            cx.cancel_timer(timer);
        }
    }

    /// The next correction begins a period from now.
    fn schedule(&mut self, cx: &mut Cx<'_>) {
        if let Some(timer) = self.turn.take() {
            cx.cancel_timer(timer);
        }
        self.turn = Some(self.wait(self.settings.period_s, cx));
    }
}

/// By the mean.
impl Timepiece {
    fn join(&mut self, number: u64, cx: &mut Cx<'_>) {
        if self.round.open {
            self.end_round(cx);
        }
        self.round.number = number;
        self.round.open = true;
        self.schedule(cx);
        self.limit = Some(self.wait(self.settings.two_delays_s(), cx));
        let others = cx.others();
        if others.is_empty() {
            self.end_round(cx);
        } else if !self.round.listens {
            let reading_s = self.reading_s(cx);
            cx.send(LINK, others, &Word::Shows { round: number, reading_s });
        }
    }

    fn hear(&mut self, from: u32, number: u64, reading_s: f64, cx: &mut Cx<'_>) {
        if number > self.round.number {
            self.join(number, cx);
        }
        if number < self.round.number || !self.round.open {
            return;
        }
        let (least_s, most_s) = self.settings.delay_s;
        let ahead_s = reading_s + f64::midpoint(least_s, most_s) - self.reading_s(cx);
        self.round.ahead_s.entry(from).or_insert(ahead_s);
        if self.round.ahead_s.len() + 1 == cx.robots() as usize {
            self.end_round(cx);
        }
    }

    fn end_round(&mut self, cx: &mut Cx<'_>) {
        self.stop_waiting(cx);
        self.round.open = false;
        let ahead_s = std::mem::take(&mut self.round.ahead_s);
        let with_itself = ahead_s.len() + 1;
        // Who only listened has a clock that says nothing.
        let counted = if self.round.listens { ahead_s.len() } else { with_itself };
        let sum_s: f64 = ahead_s.values().sum();
        let heard: BTreeSet<u32> = ahead_s.into_keys().collect();
        if heard != self.round.heard {
            cx.say(&format!(
                "round {}: hears {} of {} other clocks",
                self.round.number,
                heard.len(),
                cx.robots() - 1
            ));
            self.round.same = 0;
            self.round.heard = heard;
        }
        self.round.same += 1;
        self.round.listens &= counted == 0;
        let sure = self.round.same >= STEADY && 2 * with_itself > cx.robots() as usize;
        let error_s = self.settings.mean_error_s(with_itself);
        self.claim = sure.then_some(Claim { error_s, since_s: 0.0, growth: 0.0 });
        if counted > 0 {
            self.correct(self.correction_s + sum_s / counted as f64, cx);
        }
    }
}

/// By asking.
impl Timepiece {
    fn begin_asking(&mut self, cx: &mut Cx<'_>) {
        self.schedule(cx);
        self.asking = Asking { silent: self.asking.silent, ..Asking::default() };
        self.ask_again(cx);
    }

    /// The next question, or the best answer when there were enough.
    fn ask_again(&mut self, cx: &mut Cx<'_>) {
        self.stop_waiting(cx);
        let Way::Ask { reference, tries } = self.settings.way else { return };
        if self.asking.asked == tries {
            self.end_asking(cx);
        } else if reference < cx.robots() {
            self.asking.asked += 1;
            self.asking.asked_s = self.hardware.reading_s(cx);
            cx.send_to(LINK, reference, &Word::Ask { asked_s: self.asking.asked_s });
            self.limit = Some(self.wait(self.settings.two_delays_s(), cx));
        }
    }

    fn take_answer(&mut self, asked_s: f64, reading_s: f64, cx: &mut Cx<'_>) {
        let now_s = self.hardware.reading_s(cx);
        let round_trip_s = now_s - asked_s;
        if round_trip_s < 0.0 {
            return;
        }
        if self.asking.best.is_none_or(|best| round_trip_s < best.0) {
            self.asking.best = Some((round_trip_s, reading_s + 0.5 * round_trip_s - now_s, now_s));
        }
        // A late answer to an earlier question counts, but somebody waits for the one to the last.
        if self.limit.is_some() && asked_s.total_cmp(&self.asking.asked_s).is_eq() {
            self.ask_again(cx);
        }
    }

    fn end_asking(&mut self, cx: &mut Cx<'_>) {
        let Some((round_trip_s, correction_s, since_s)) = self.asking.best.take() else {
            if !self.asking.silent {
                cx.say("the reference does not answer: goes on by its hardware clock");
            }
            self.asking.silent = true;
            return;
        };
        if std::mem::take(&mut self.asking.silent) {
            cx.say("the reference answers again");
        }
        let drift = self.settings.drift;
        let error_s = self.settings.asked_error_s(round_trip_s);
        self.claim = Some(Claim { error_s, since_s, growth: 2.0 * drift / (1.0 - drift) });
        self.correct(correction_s, cx);
    }
}
