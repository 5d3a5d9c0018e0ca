//! One body for several algorithms, one after another, none of which knows of the others.
//!
//! It provides motion and uses motion. The algorithms take turns in a given order: by time, by how many motions
//! they have finished, or until the one whose turn it is halts. A motion is never interrupted: a turn ends with
//! the motion that is under way then, so motions must be finite. What an algorithm asks for out of its turn is
//! kept, the last thing it asked for, and begins with its turn; until then it simply takes long. The last turn has
//! no end, unless the first comes again.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2};
use swarmyard_part_api::{
    Built, Class, Company, Cx, Drive, Ended, Indication, Kind, Microprotocol, Motion, Moving, Param,
    ParamType, PortSpec, ProtocolModel, ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User,
    from_bytes, protocol_id, to_bytes,
};
use swarmyard_scene::{Params, Value};

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);

/// When a turn is over.
#[derive(Clone, Copy)]
enum Until {
    Time(f64),
    Motions(u64),
    Halt,
}

struct Settings {
    /// Names of the algorithms, and their ids.
    names: Vec<String>,
    order: Vec<u32>,
    until: Until,
    repeat: bool,
}

/// A motion as plain data: all but those that an algorithm brings along.
#[derive(Clone, Serialize, Deserialize)]
enum Kept {
    Turn(f64, f64),
    Forward(f64, f64),
    MoveTo(Vec2, f64, f64),
    Velocity(Vec2, f64),
    Arc(f64, f64, f64),
    Pattern(String, Vec<f64>),
}

impl Kept {
    fn of(motion: Motion) -> Option<Kept> {
        Some(match motion {
            Motion::Turn { by, turn_speed } => Kept::Turn(by, turn_speed),
            Motion::Forward { distance, speed } => Kept::Forward(distance, speed),
            Motion::MoveTo { to, speed, turn_speed } => Kept::MoveTo(to, speed, turn_speed),
            Motion::Velocity { velocity, for_s } => Kept::Velocity(velocity, for_s),
            Motion::Arc { speed, spin, for_s } => Kept::Arc(speed, spin, for_s),
            Motion::Pattern { name, args } => Kept::Pattern(name, args),
            Motion::Follow(_) => return None,
        })
    }

    fn motion(self) -> Motion {
        match self {
            Kept::Turn(by, turn_speed) => Motion::Turn { by, turn_speed },
            Kept::Forward(distance, speed) => Motion::Forward { distance, speed },
            Kept::MoveTo(to, speed, turn_speed) => Motion::MoveTo { to, speed, turn_speed },
            Kept::Velocity(velocity, for_s) => Motion::Velocity { velocity, for_s },
            Kept::Arc(speed, spin, for_s) => Motion::Arc { speed, spin, for_s },
            Kept::Pattern(name, args) => Motion::Pattern { name, args },
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Memory {
    /// Whose turn it is, as a place in the order.
    turn: usize,
    /// Motions finished in this turn.
    finished: u64,
    /// Whether the turn ends with the motion under way.
    over: bool,
    /// The motion under way: (who, the user's tag, our tag).
    going: Option<(u32, u64, u64)>,
    /// What was asked for out of turn: (who, tag, what).
    kept: Vec<(u32, u64, Kept)>,
    motions: u64,
    timer: u64,
}

struct InTurn {
    settings: Arc<Settings>,
    memory: Memory,
}

impl InTurn {
    fn whose(&self) -> Option<u32> {
        self.settings.order.get(self.memory.turn).copied()
    }

    fn go(&mut self, user: u32, tag: u64, motion: Motion, cx: &mut Cx<'_>) {
        // One of its own that is under way makes room, and it is told so.
        if let Some((_, old, _)) = self.memory.going.take() {
            cx.indicate(User(user), Indication::Ended { tag: old, how: Ended::Replaced });
        }
        self.memory.motions += 1;
        self.memory.going = Some((user, tag, self.memory.motions));
        cx.go(MOTION, self.memory.motions, motion);
    }

    /// Whether this turn is the last, and has no end.
    fn is_last(&self) -> bool {
        !self.settings.repeat && self.memory.turn + 1 >= self.settings.order.len()
    }

    /// The turn of the next one begins, now that nothing is under way.
    fn next_turn(&mut self, cx: &mut Cx<'_>) {
        let next = self.memory.turn + 1;
        self.memory.turn = if next < self.settings.order.len() { next } else { 0 };
        self.begin_turn(cx);
    }

    fn begin_turn(&mut self, cx: &mut Cx<'_>) {
        (self.memory.finished, self.memory.over) = (0, false);
        if let Until::Time(seconds) = self.settings.until {
            self.memory.timer = cx.set_timer(seconds);
        }
        let whose = self.whose();
        if let Some(k) = self.memory.kept.iter().position(|w| Some(w.0) == whose) {
            let (user, tag, kept) = self.memory.kept.remove(k);
            self.go(user, tag, kept.motion(), cx);
        }
    }

    fn turn_is_over(&mut self, cx: &mut Cx<'_>) {
        self.memory.over = !self.is_last();
        if self.memory.over && self.memory.going.is_none() {
            self.next_turn(cx);
        }
    }
}

impl Microprotocol for InTurn {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.begin_turn(cx);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Motion(drive) = request else { return };
        let its_turn = self.whose() == Some(user.0) && !self.memory.over;
        match drive {
            Drive::Go { tag, motion } if its_turn => self.go(user.0, tag, motion, cx),
            Drive::Go { tag, motion } => match Kept::of(motion) {
                Some(kept) => {
                    self.memory.kept.retain(|w| w.0 != user.0);
                    self.memory.kept.push((user.0, tag, kept));
                }
                None => {
                    cx.say("a pattern that an algorithm brings along cannot wait for its turn");
                    cx.indicate(user, Indication::Ended { tag, how: Ended::Replaced });
                }
            },
            Drive::Halt if its_turn => {
                if self.memory.going.is_some() {
                    cx.request(MOTION, Drive::Halt);
                }
                if matches!(self.settings.until, Until::Halt) {
                    self.turn_is_over(cx);
                }
            }
            Drive::Halt => self.memory.kept.retain(|w| w.0 != user.0),
        }
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        if let (Indication::Passed { tag, name }, Some((user, theirs, ours))) = (&what, self.memory.going)
            && *tag == ours
        {
            cx.indicate(User(user), Indication::Passed { tag: theirs, name: name.clone() });
        }
        let Indication::Ended { tag, how } = what else { return };
        let Some((user, theirs, _)) = self.memory.going.take_if(|g| g.2 == tag) else { return };
        cx.indicate(User(user), Indication::Ended { tag: theirs, how });
        if how == Ended::Finished {
            self.memory.finished += 1;
        }
        if matches!(self.settings.until, Until::Motions(n) if self.memory.finished >= n) {
            self.memory.over = !self.is_last();
        }
        if self.memory.over {
            self.next_turn(cx);
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if timer == self.memory.timer {
            self.turn_is_over(cx);
        }
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(&self.memory)
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        self.memory = from_bytes(image)?;
        Ok(())
    }
}

struct Model(Arc<Settings>);

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Motion)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(InTurn { settings: Arc::clone(&self.0), memory: Memory::default() })
    }

    fn misfits(&self, company: &Company<'_>) -> Vec<(&'static str, Diagnostic)> {
        let names = &self.0.names;
        let strangers = names.iter().filter(|n| !company.users.contains(&n.as_str())).map(|name| {
            let what = format!("there is no algorithm `{name}` that is moved by this");
            Diagnostic::error("unknown-turn", what).suggest(name, company.users.iter().copied())
        });
        let forgotten = company.users.iter().filter(|u| !names.iter().any(|n| n == *u)).map(|user| {
            let what = format!("`{user}` is moved by this, and has no turn in its `order`");
            Diagnostic::error("missing-turn", what)
                .help(format!("add `{user}`, or have something else move it"))
        });
        strangers.chain(forgotten).map(|d| ("order", d)).collect()
    }
}

fn build(params: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let until = match params.text("until") {
        "motions" => Until::Motions(u64::try_from(params.int("motions")).unwrap_or(1)),
        "halt" => Until::Halt,
        _ => Until::Time(params.num("time")),
    };
    let names = params.texts_or_none("order").unwrap_or(&[]).to_vec();
    let order = names.iter().map(|n| protocol_id(n)).collect();
    let settings = Settings { names, order, until, repeat: params.bool("repeat") };
    Ok(Built::Protocol(Arc::new(Model(Arc::new(settings)))))
}

/// The class `in-turn`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("in-turn", Kind::Protocol, "Lets several algorithms move one robot, one after another; each names it as its `motion` and knows nothing of the others. A motion under way is let finish. Provides motion.")
        .param(Param::new("order", ParamType::Texts, "Names of the algorithms, in the order of their turns.").required())
        .param(Param::new("until", ParamType::Choice(&["time", "motions", "halt"]), "How long a turn lasts: for `time`; for a number of finished `motions`; or until the algorithm halts the robot.").or_text("time"))
        .param(Param::number("time", Unit::Second, "Length of a turn.").within(1e-3, 1e9).or_num(60.0))
        .param(Param::new("motions", ParamType::Int { min: 1, max: 1_000_000_000 }, "Finished motions of a turn.").or(Value::Int(1)))
        .param(Param::new("repeat", ParamType::Bool, "Whether the first comes after the last; else the last one keeps the robot.").or(Value::Bool(false)))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .example("[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[[type.demo.protocol]]\nname = \"turns\"\nclass = \"in-turn\"\norder = [\"gather\", \"scatter\"]\ntime = \"60s\"\n\n[[type.demo.algorithm]]\nname = \"gather\"\nclass = \"gathering\"\nmotion = \"turns\"\n\n[[type.demo.algorithm]]\nname = \"scatter\"\nclass = \"random-movement\"\nmotion = \"turns\"");
    Class::new(sheet, build)
}
