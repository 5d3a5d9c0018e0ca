//! What a program outside may call for and what it is told, one row each.
//!
//! The functions of the sandbox, the words of the lines and the ports with their keys come from these rows, and a test
//! holds `sdk/c/swarm.h`, `sdk/python/swarm.py` and `docs/cooperative-programs.md` to them. So a new service is one row
//! of [`SERVICES`], and a line in each of those three.
//!
//! Not here, because they are about the event at hand or unlike in C and in lines: `now`, `me`, `robots`, `other`,
//! `message`, `numbers`, `say`, `uniform` and `uniforms` (`sandbox.rs`, `words.rs`).

use super::call::Call;
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_part_api::{
    Bytes, Elect, Every, Exclusion, Group, Indication, Monitor, Motion, Private, Propose, Query, ReadClock,
    Request, ServiceKind, Watch, WatchFor,
};

/// A call.
pub(super) struct Row {
    /// Its word in lines and its function in the sandbox; in C with `swarm_` before it.
    pub(super) word: &'static str,
    pub(super) takes: &'static [Arg],
    pub(super) gives: Gives,
    /// The call; `None` when its arguments make none.
    pub(super) make: fn(&mut Taken) -> Option<Call>,
}

impl Row {
    /// How it is written as a line.
    pub(super) fn line(&self) -> String {
        let word = if self.word == "send_all" { "send all" } else { self.word };
        self.takes.iter().fold(word.to_owned(), |line, arg| match arg {
            Arg::Real(name) | Arg::Whole(name) | Arg::Byte(name) | Arg::Name(name) => {
                format!("{line} {}", name.to_uppercase())
            }
            Arg::RealOr0(name) => format!("{line} [{}]", name.to_uppercase()),
            Arg::Bytes(_) => format!("{line} HEX"),
            Arg::Reals(name) => format!("{line} {} …", name.to_uppercase()),
        })
    }
}

/// An argument, with its name.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "names are compared with the header, the module and the document")
)]
#[derive(Clone, Copy, Debug)]
pub(super) enum Arg {
    /// A real number.
    Real(&'static str),
    /// One that is 0 when a line leaves it out.
    RealOr0(&'static str),
    /// A whole number that is not negative: of a robot, a watch, …
    Whole(&'static str),
    /// A whole number from 0 to 255; in C the nearest one.
    Byte(&'static str),
    /// Hexadecimal digits; in C a pointer and a length.
    Bytes(&'static str),
    /// One word; in C text that ends with a zero.
    Name(&'static str),
    /// Real numbers to the end of the line; in C a pointer and how many.
    Reals(&'static str),
}

/// What comes of a call at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    Nothing,
    /// The number of a motion, timer or watch.
    Number,
    /// Nothing; in C whether there is a protocol to ask.
    Asked,
    Point,
    Seen,
    /// Numbers, as they are called in C.
    Numbers(&'static str),
    /// Whatever a sensor of one's own answers; in C as numbers.
    Any,
    /// What is going to happen, in 32 bytes each: for modules that were compiled before there were numbers of robots.
    Pending,
    /// What is going to happen.
    Coming,
    Bytes,
}

impl Gives {
    /// Whether a process waits for the answer.
    pub(super) fn is_answer(self) -> bool {
        !matches!(self, Gives::Nothing | Gives::Number | Gives::Asked)
    }
}

/// The arguments of a call, by kind and in order.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) reals: Vec<f64>,
    pub(super) wholes: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    pub(super) name: String,
    /// Those of [`Arg::Reals`].
    pub(super) list: Vec<f64>,
}

impl Taken {
    fn real(&self, k: usize) -> f64 {
        self.reals.get(k).copied().unwrap_or(0.0)
    }

    fn whole(&self) -> u64 {
        self.wholes.first().copied().unwrap_or(0)
    }

    fn robot(&self) -> Option<u32> {
        u32::try_from(self.whole()).ok()
    }

    fn bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// A name and numbers.
    fn own(&mut self) -> (String, Vec<f64>) {
        (std::mem::take(&mut self.name), std::mem::take(&mut self.list))
    }
}

/// The row of a word.
pub(super) fn row(word: &str) -> Option<&'static Row> {
    calls().find(|row| row.word == word)
}

/// All calls.
pub(super) fn calls() -> impl Iterator<Item = &'static Row> {
    OWN.iter().chain(SERVICES.iter().flat_map(|service| service.calls))
}

/// What the robot itself and the network do.
const OWN: &[Row] = {
    use Arg::{Byte, Bytes, Name, Real, RealOr0, Reals, Whole};
    &[
        Row {
            word: "move_to",
            takes: &[Real("x"), Real("y"), Real("speed"), Real("turn_speed")],
            gives: Gives::Number,
            make: |t| {
                let to = Vec2::new(t.real(0), t.real(1));
                Some(Call::Go(Motion::MoveTo { to, speed: t.real(2), turn_speed: t.real(3) }))
            },
        },
        Row {
            word: "turn",
            takes: &[Real("by"), Real("turn_speed")],
            gives: Gives::Number,
            make: |t| Some(Call::Go(Motion::Turn { by: t.real(0), turn_speed: t.real(1) })),
        },
        Row {
            word: "forward",
            takes: &[Real("distance"), Real("speed")],
            gives: Gives::Number,
            make: |t| Some(Call::Go(Motion::Forward { distance: t.real(0), speed: t.real(1) })),
        },
        Row {
            word: "velocity",
            takes: &[Real("vx"), Real("vy"), Real("for_s")],
            gives: Gives::Number,
            make: |t| {
                let velocity = Vec2::new(t.real(0), t.real(1));
                Some(Call::Go(Motion::Velocity { velocity, for_s: t.real(2) }))
            },
        },
        Row {
            word: "arc",
            takes: &[Real("speed"), Real("spin"), Real("for_s")],
            gives: Gives::Number,
            make: |t| Some(Call::Go(Motion::Arc { speed: t.real(0), spin: t.real(1), for_s: t.real(2) })),
        },
        Row {
            word: "pattern",
            takes: &[Name("name"), Reals("args")],
            gives: Gives::Number,
            make: |t| {
                let (name, args) = t.own();
                Some(Call::Go(Motion::Pattern { name, args }))
            },
        },
        Row { word: "halt", takes: &[], gives: Gives::Nothing, make: |_| Some(Call::Halt) },
        Row {
            word: "gps",
            takes: &[RealOr0("error")],
            gives: Gives::Point,
            make: |t| Some(Call::Pull(Query::Gps { error: t.real(0) })),
        },
        Row {
            word: "gps_all",
            takes: &[RealOr0("error")],
            gives: Gives::Seen,
            make: |t| Some(Call::Pull(Query::GpsAll { error: t.real(0) })),
        },
        Row {
            word: "view",
            takes: &[Real("range")],
            gives: Gives::Seen,
            make: |t| Some(Call::Pull(Query::View { range: t.real(0) })),
        },
        Row {
            word: "proximity",
            takes: &[Real("range")],
            gives: Gives::Numbers("distances"),
            make: |t| Some(Call::Pull(Query::Proximity { range: t.real(0) })),
        },
        Row {
            word: "proximity_points",
            takes: &[Real("range")],
            gives: Gives::Seen,
            make: |t| Some(Call::Pull(Query::ProximityPoints { range: t.real(0) })),
        },
        Row {
            word: "sense",
            takes: &[Name("sensor"), Reals("args")],
            gives: Gives::Any,
            make: |t| {
                let (sensor, args) = t.own();
                Some(Call::Pull(Query::Own { sensor, args }))
            },
        },
        Row {
            word: "watch_near",
            takes: &[Real("range"), Real("interval")],
            gives: Gives::Number,
            make: |t| Some(watch(WatchFor::Near { range: t.real(0) }, t.real(1))),
        },
        Row {
            word: "watch_contact",
            takes: &[Real("interval")],
            gives: Gives::Number,
            make: |t| Some(watch(WatchFor::Contact, t.real(0))),
        },
        Row {
            word: "watch_own",
            takes: &[Name("sensor"), Real("interval"), Reals("args")],
            gives: Gives::Number,
            make: |t| {
                let (sensor, args) = t.own();
                Some(watch(WatchFor::Own { sensor, args }, t.real(0)))
            },
        },
        Row {
            word: "unwatch",
            takes: &[Whole("watch")],
            gives: Gives::Nothing,
            make: |t| Some(Call::Unwatch(t.whole())),
        },
        Row {
            word: "send",
            takes: &[Whole("to"), Bytes("data")],
            gives: Gives::Nothing,
            make: |t| Some(Call::Send { to: Some(t.robot()?), bytes: t.bytes() }),
        },
        Row {
            word: "send_all",
            takes: &[Bytes("data")],
            gives: Gives::Nothing,
            make: |t| Some(Call::Send { to: None, bytes: t.bytes() }),
        },
        Row {
            word: "broadcast",
            takes: &[Bytes("data")],
            gives: Gives::Nothing,
            make: |t| Some(Call::Broadcast(t.bytes())),
        },
        Row {
            word: "timer",
            takes: &[Real("after_s")],
            gives: Gives::Number,
            make: |t| Some(Call::Timer(t.real(0))),
        },
        Row {
            word: "cancel",
            takes: &[Whole("timer")],
            gives: Gives::Nothing,
            make: |t| Some(Call::Cancel(t.whole())),
        },
        Row {
            word: "shine",
            takes: &[Byte("light")],
            gives: Gives::Nothing,
            make: |t| Some(Call::Shine(u8::try_from(t.whole()).ok()?)),
        },
        Row {
            word: "pending",
            takes: &[Whole("robot")],
            gives: Gives::Pending,
            make: |t| Some(Call::Pending(t.robot()?)),
        },
        Row {
            word: "coming",
            takes: &[Whole("robot")],
            gives: Gives::Coming,
            make: |t| Some(Call::Coming(t.robot()?)),
        },
        Row {
            word: "persist",
            takes: &[Bytes("data")],
            gives: Gives::Nothing,
            make: |t| Some(Call::Persist(t.bytes())),
        },
        Row { word: "persisted", takes: &[], gives: Gives::Bytes, make: |_| Some(Call::Persisted) },
    ]
};

fn watch(what: WatchFor, interval: f64) -> Call {
    let every = if interval > 0.0 { Every::Interval(interval) } else { Every::Exact };
    Call::Watch(Watch { what, every })
}

/// A service of a protocol, which the algorithm uses when the scenario names one for it.
pub(super) struct Service {
    /// Its word is the key in the scenario.
    pub(super) kind: ServiceKind,
    /// What the reference manual says about that key.
    pub(super) key: &'static str,
    pub(super) calls: &'static [Row],
    pub(super) news: &'static [News],
}

/// Something that a protocol or the body tells beside messages, ends of motions, timers and pushes.
#[derive(Debug)]
pub(super) struct News {
    /// `kind` of `robot_event`; its name in C is the word in capitals, with `SWARM_` before it.
    pub(super) kind: i32,
    pub(super) word: &'static str,
    /// What a line says after the word.
    pub(super) says: &'static [Field],
    /// What it is made of; `None` when that is something else.
    pub(super) of: fn(&Indication) -> Option<Told>,
}

/// A place in the line of some news, with its name.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "names are compared with the header, the module and the document")
)]
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    /// [`Told::a`].
    A(&'static str),
    /// [`Told::x`].
    X(&'static str),
    /// [`Told::y`].
    Y(&'static str),
    /// [`Told::bytes`], as hexadecimal digits.
    Hex,
    /// The same as text, to the end of the line.
    Text(&'static str),
    /// How many there are in [`Told::list`], and those.
    List(&'static str),
}

/// What some news say: `a`, `x` and `y` of `robot_event`, and the rest.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) a: u64,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) robot: Option<u32>,
    pub(super) bytes: Bytes,
    pub(super) list: Vec<u32>,
}

impl Told {
    fn number(a: u64) -> Told {
        Told { a, x: 0.0, y: 0.0, robot: None, bytes: Bytes::from([]), list: Vec::new() }
    }

    fn robot(robot: u32) -> Told {
        Told { robot: Some(robot), ..Told::number(u64::from(robot)) }
    }

    /// `x` is the length.
    fn with(self, bytes: impl Into<Bytes>) -> Told {
        let bytes = bytes.into();
        Told { x: bytes.len() as f64, bytes, ..self }
    }
}

/// A motion under way has come to an event of its pattern.
pub(super) const PASSED: &News = &News {
    kind: 9,
    word: "passed",
    says: &[Field::A("MOTION"), Field::Text("NAME")],
    of: |what| match what {
        Indication::Passed { tag, name } => Some(Told::number(*tag).with(name.as_bytes())),
        _ => None,
    },
};

fn ask(kind: ServiceKind, request: impl Into<Request>) -> Option<Call> {
    Some(Call::Ask(kind, request.into()))
}

/// The services beyond motion, link, broadcast and watching, in the order of their ports.
pub(super) const SERVICES: &[Service] = {
    use Arg::{Bytes, Real, Whole};
    &[
        Service {
            kind: ServiceKind::Consensus,
            key: "Who makes robots agree on values (`propose`, `decided`); without a name there is none.",
            calls: &[Row {
                word: "propose",
                takes: &[Whole("instance"), Bytes("value")],
                gives: Gives::Asked,
                make: |t| {
                    let (instance, value) = (t.whole(), t.bytes().into());
                    ask(ServiceKind::Consensus, Propose { instance, value })
                },
            }],
            news: &[News {
                kind: 10,
                word: "decided",
                says: &[Field::A("INSTANCE"), Field::Hex],
                of: |what| match what {
                    Indication::Decided { instance, value } => {
                        Some(Told { y: *instance as f64, ..Told::number(*instance).with(Arc::clone(value)) })
                    }
                    _ => None,
                },
            }],
        },
        Service {
            kind: ServiceKind::Detector,
            key: "Who tells which robots seem to have failed (`suspected`, `trusted`); without a name there is none.",
            calls: &[Row {
                word: "monitor",
                takes: &[],
                gives: Gives::Asked,
                make: |_| ask(ServiceKind::Detector, Monitor),
            }],
            news: &[
                News {
                    kind: 11,
                    word: "suspected",
                    says: &[Field::A("ROBOT")],
                    of: |what| match what {
                        Indication::Suspected(robot) => Some(Told::robot(*robot)),
                        _ => None,
                    },
                },
                News {
                    kind: 12,
                    word: "trusted",
                    says: &[Field::A("ROBOT")],
                    of: |what| match what {
                        Indication::Trusted(robot) => Some(Told::robot(*robot)),
                        _ => None,
                    },
                },
            ],
        },
        Service {
            kind: ServiceKind::Leader,
            key: "Who tells which robot leads (`elect`, `leads`); without a name there is none.",
            calls: &[Row {
                word: "elect",
                takes: &[],
                gives: Gives::Asked,
                make: |_| ask(ServiceKind::Leader, Elect),
            }],
            news: &[News {
                kind: 13,
                word: "leads",
                says: &[Field::A("ROBOT")],
                of: |what| match what {
                    Indication::Leads(robot) => Some(Told::robot(*robot)),
                    _ => None,
                },
            }],
        },
        Service {
            kind: ServiceKind::Mutex,
            key: "Who lets one robot in at a time (`enter`, `entered`, `leave`); without a name there is none.",
            calls: &[
                Row {
                    word: "enter",
                    takes: &[],
                    gives: Gives::Asked,
                    make: |_| ask(ServiceKind::Mutex, Exclusion::Enter),
                },
                Row {
                    word: "leave",
                    takes: &[],
                    gives: Gives::Asked,
                    make: |_| ask(ServiceKind::Mutex, Exclusion::Leave),
                },
            ],
            news: &[News {
                kind: 14,
                word: "entered",
                says: &[],
                of: |what| matches!(what, Indication::Entered).then(|| Told::number(0)),
            }],
        },
        Service {
            kind: ServiceKind::Membership,
            key: "Who keeps a group of robots (`join`, `quit`, `exclude`, `cast`, `view`); without a name there is none.",
            calls: &[
                Row {
                    word: "join",
                    takes: &[],
                    gives: Gives::Asked,
                    make: |_| ask(ServiceKind::Membership, Group::Join),
                },
                Row {
                    word: "quit",
                    takes: &[],
                    gives: Gives::Asked,
                    make: |_| ask(ServiceKind::Membership, Group::Quit),
                },
                Row {
                    word: "exclude",
                    takes: &[Whole("robot")],
                    gives: Gives::Asked,
                    make: |t| ask(ServiceKind::Membership, Group::Exclude(t.robot()?)),
                },
                Row {
                    word: "cast",
                    takes: &[Bytes("data")],
                    gives: Gives::Asked,
                    make: |t| ask(ServiceKind::Membership, Group::Cast(t.bytes().into())),
                },
            ],
            news: &[
                News {
                    kind: 15,
                    word: "view",
                    says: &[Field::A("NUMBER"), Field::List("ROBOT")],
                    of: |what| match what {
                        Indication::View { number, members } => {
                            let (x, list) = (members.len() as f64, members.clone());
                            Some(Told { x, list, ..Told::number(*number) })
                        }
                        _ => None,
                    },
                },
                News {
                    kind: 16,
                    word: "cast",
                    says: &[Field::A("FROM"), Field::Hex],
                    of: |what| match what {
                        Indication::Delivered { from, bytes } => {
                            Some(Told::robot(*from).with(Arc::clone(bytes)))
                        }
                        _ => None,
                    },
                },
            ],
        },
        Service {
            kind: ServiceKind::Clock,
            key: "Who has a clock that is the same for all robots (`clock`, `clock_at`); without a name there is none.",
            calls: &[
                Row {
                    word: "clock",
                    takes: &[],
                    gives: Gives::Asked,
                    make: |_| ask(ServiceKind::Clock, ReadClock::Now),
                },
                Row {
                    word: "clock_at",
                    takes: &[Real("reading")],
                    gives: Gives::Asked,
                    make: |t| ask(ServiceKind::Clock, ReadClock::At(t.real(0))),
                },
            ],
            news: &[News {
                kind: 17,
                word: "clock",
                says: &[Field::X("READING"), Field::Y("ERROR")],
                of: |what| match what {
                    Indication::Clock { reading_s, error_s } => {
                        Some(Told { x: *reading_s, y: error_s.unwrap_or(-1.0), ..Told::number(0) })
                    }
                    _ => None,
                },
            }],
        },
        Service {
            kind: ServiceKind::Custom,
            key: "A protocol of your own that is asked in bytes (`private`) and tells bytes (`custom`); without a name there is none.",
            calls: &[Row {
                word: "private",
                takes: &[Bytes("data")],
                gives: Gives::Asked,
                make: |t| ask(ServiceKind::Custom, Private(t.bytes().into())),
            }],
            news: &[News {
                kind: 18,
                word: "custom",
                says: &[Field::Hex],
                of: |what| match what {
                    Indication::Custom(bytes) => Some(Told::number(0).with(Arc::clone(bytes))),
                    _ => None,
                },
            }],
        },
    ]
};

#[cfg(test)]
mod tests;
