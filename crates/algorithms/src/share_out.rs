//! A group that shares out a piece of work: a row of beds, each to be dug once.
//!
//! Nobody is in charge. Every member has the same table of beds, and divides those that are free among the members of
//! its view: so all divide alike, and no message says who does what. That is what view synchrony is for. Whoever goes
//! from one view to the next with me has heard the same words in between, so our tables are the same when the next view
//! begins, and the new division is the same as well.
//!
//! Who begins with a bed says `Takes` to the group, and digs when it has heard itself: then whoever is in the next view
//! knows of it too. When a view begins, beds that were taken by robots that are not in it are free again.
//!
//! Who joins knows nothing yet, so everybody says its table in a new view, and the first to be heard is taken. Words
//! that came before it are added: a bed only goes from free to taken to dug within a view, so their order does not
//! matter.

use crate::random_movement::{pair, speeds};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Answer, Built, Class, Cx, Drive, Ended, Group, Indication, Kind, Membership, Microprotocol, Motion,
    Moving, Param, ParamType, PortSpec, ProtocolModel, ProtocolPort, Query, ServiceKind, Sheet, from_bytes,
    memory_is_serde, to_shared,
};
use swarmyard_scene::Value;

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);
const GROUP: ProtocolPort<Membership> = ProtocolPort::new(1);

#[derive(Clone, Serialize, Deserialize)]
struct Settings {
    from: Vec2,
    to: Vec2,
    beds: u32,
    dig_s: f64,
    home: f64,
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

impl Settings {
    /// How far along the row a bed is: 0 at its beginning, 1 at its end.
    fn part(&self, bed: u32) -> f64 {
        (f64::from(bed) + 0.5) / f64::from(self.beds)
    }
}

/// In the order in which it goes on within a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Bed {
    Free,
    Taken(u32),
    Dug,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Word {
    /// I begin with this bed. Counts in this view only: in the next it may be somebody else's.
    Takes { view: u64, bed: u32 },
    /// It is done.
    Dug { bed: u32 },
    /// What I knew of all beds when this view began.
    Table { view: u64, beds: Vec<Bed> },
}

/// What a robot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Job {
    None,
    /// It has said that it takes this bed.
    Asks(u32),
    GoesTo(u32),
    /// Until this timer runs out.
    Digs(u32, u64),
    /// Everything is done.
    GoesHome,
}

#[derive(Serialize, Deserialize)]
struct Member {
    settings: Settings,
    /// Where it is beside the row: it digs from a lane of its own.
    aside: Vec2,
    view: u64,
    members: Vec<u32>,
    /// `None` while it has joined and not heard a table yet.
    beds: Option<Vec<Bed>>,
    /// What it has heard of beds in this view, before it had a table.
    heard: Vec<(u32, Bed)>,
    /// Its share of this view.
    share: VecDeque<u32>,
    job: Job,
    motions: u64,
}

impl Microprotocol for Member {
    fn start(&mut self, cx: &mut Cx<'_>) {
        match cx.pull(&Query::Gps { error: 0.0 }) {
            Ok(Answer::Point(at)) => self.aside = self.aside_of(at),
            _ => return cx.failed("share-out needs a part of class `gps`, and the robot stays where it is"),
        }
        // Who comes back after a crash is in no group, and has forgotten what was done.
        if cx.persisted::<bool>().is_some() {
            self.beds = None;
            cx.request(GROUP, Group::Join);
        }
        cx.persist(&true);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::View { number, members } => self.view_begins(number, members, cx),
            Indication::Delivered { from, bytes } => {
                if let Ok(word) = from_bytes(&bytes) {
                    self.heard(from, word, cx);
                }
            }
            Indication::Ended { tag, how } if tag == self.motions => match (how, self.job) {
                (Ended::Finished, Job::GoesTo(bed)) => {
                    self.job = Job::Digs(bed, cx.set_timer(self.settings.dig_s));
                }
                (Ended::Finished, _) => {}
                // Something is in the way: tried again after a while.
                _ => {
                    cx.set_timer(1.0);
                }
            },
            _ => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        match self.job {
            Job::Digs(bed, until) if until == timer => {
                cx.say(&format!("has dug bed {bed}"));
                self.cast(&Word::Dug { bed }, cx);
                self.job = Job::None;
                self.next(cx);
            }
            Job::GoesTo(bed) => self.go(self.settings.part(bed), cx),
            Job::GoesHome => self.go(self.settings.home, cx),
            _ => {}
        }
    }

    memory_is_serde!();
}

impl Member {
    fn view_begins(&mut self, number: u64, members: Vec<u32>, cx: &mut Cx<'_>) {
        (self.view, self.members) = (number, members);
        self.heard.clear();
        self.share.clear();
        cx.shine(self.members.len() as u8);
        if !self.members.contains(&cx.me()) {
            // They took it for dead. What it was doing is somebody else's now.
            (self.job, self.beds) = (Job::None, None);
            cx.request(MOTION, Drive::Halt);
            return cx.request(GROUP, Group::Join);
        }
        if matches!(self.job, Job::Asks(_)) {
            self.job = Job::None;
        }
        let Some(beds) = &mut self.beds else { return };
        for bed in beds.iter_mut() {
            if matches!(bed, Bed::Taken(by) if !self.members.contains(by)) {
                *bed = Bed::Free;
            }
        }
        if number > 0 {
            let word = Word::Table { view: number, beds: beds.clone() };
            self.cast(&word, cx);
        }
        self.divide(cx);
    }

    fn heard(&mut self, from: u32, word: Word, cx: &mut Cx<'_>) {
        match word {
            Word::Takes { view, bed } if view == self.view => {
                self.mark(bed, Bed::Taken(from));
                if self.job == Job::Asks(bed) && from == cx.me() {
                    self.job = Job::GoesTo(bed);
                    self.go(self.settings.part(bed), cx);
                }
            }
            Word::Dug { bed } => self.mark(bed, Bed::Dug),
            Word::Table { view, beds }
                if view == self.view && self.beds.is_none() && beds.len() == self.settings.beds as usize =>
            {
                self.beds = Some(beds);
                self.divide(cx);
                for (bed, what) in std::mem::take(&mut self.heard) {
                    self.mark(bed, what);
                }
            }
            _ => {}
        }
        self.next(cx);
    }

    /// A bed is at least so far.
    fn mark(&mut self, bed: u32, what: Bed) {
        match &mut self.beds {
            Some(beds) => {
                if let Some(known) = beds.get_mut(bed as usize) {
                    *known = what.max(*known);
                }
            }
            None => self.heard.push((bed, what)),
        }
    }

    /// Takes its share of the free beds: a run of them for each member, in the order of their numbers.
    fn divide(&mut self, cx: &mut Cx<'_>) {
        let Some(beds) = &self.beds else { return };
        let free: Vec<u32> = (0..self.settings.beds).filter(|b| beds[*b as usize] == Bed::Free).collect();
        let Some(rank) = self.members.iter().position(|m| *m == cx.me()) else { return };
        let edge = |rank: usize| rank * free.len() / self.members.len();
        self.share = free[edge(rank)..edge(rank + 1)].iter().copied().collect();
        cx.say(&format!(
            "view {}: {} members, {} beds are mine",
            self.view,
            self.members.len(),
            self.share.len()
        ));
        self.next(cx);
    }

    /// The next bed of its share; home when all beds are dug.
    fn next(&mut self, cx: &mut Cx<'_>) {
        let Some(beds) = &self.beds else { return };
        if self.job != Job::None {
            return;
        }
        if let Some(bed) = self.share.pop_front() {
            self.job = Job::Asks(bed);
            self.cast(&Word::Takes { view: self.view, bed }, cx);
        } else if beds.iter().all(|b| *b == Bed::Dug) {
            self.job = Job::GoesHome;
            self.go(self.settings.home, cx);
        }
    }

    fn cast(&self, word: &Word, cx: &mut Cx<'_>) {
        cx.request(GROUP, Group::Cast(to_shared(word)));
    }

    /// Goes to a part of the row, on its own lane.
    fn go(&mut self, part: f64, cx: &mut Cx<'_>) {
        let Settings { from, to, speed, turn_speed, .. } = self.settings;
        let draw = cx.chance();
        let to = from + (to - from) * part + self.aside;
        let (speed, turn_speed) =
            (draw.between(0, speed.0, speed.1), draw.between(1, turn_speed.0, turn_speed.1));
        self.motions += 1;
        cx.go(MOTION, self.motions, Motion::MoveTo { to, speed, turn_speed });
    }

    /// How far a place is from the line of the row.
    fn aside_of(&self, at: Vec2) -> Vec2 {
        let along = self.settings.to - self.settings.from;
        let from_start = at - self.settings.from;
        let square = along.dot(along);
        if square > 0.0 { from_start - along * (from_start.dot(along) / square) } else { from_start }
    }
}

struct Model(Settings);

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![
            PortSpec::new("motion", ServiceKind::Motion),
            PortSpec::new("membership", ServiceKind::Membership),
        ]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Member {
            settings: self.0.clone(),
            aside: Vec2::ZERO,
            view: 0,
            members: Vec::new(),
            beds: Some(vec![Bed::Free; self.0.beds as usize]),
            heard: Vec::new(),
            share: VecDeque::new(),
            job: Job::None,
            motions: 0,
        })
    }

    fn asks(&self) -> Vec<Query> {
        vec![Query::Gps { error: 0.0 }]
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Word::Takes { bed, .. }) => ("TAKES".into(), format!("bed {bed}")),
            Ok(Word::Dug { bed }) => ("DUG".into(), format!("bed {bed}")),
            Ok(Word::Table { view, beds }) => {
                let dug = beds.iter().filter(|b| **b == Bed::Dug).count();
                ("TABLE".into(), format!("view {view}: {dug} of {} beds are dug", beds.len()))
            }
            Err(why) => ("BAD".into(), why),
        }
    }
}

/// The class `share-out`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("share-out", Kind::Algorithm, "Digs a row of beds together with all others of its group: whoever is in the view does a share of what is left, and each bed is dug once. Its light is the number of members. Needs a membership.")
        .param(Param::new("from", ParamType::Point, "Where the row begins.").or(Value::Point(Vec2::ZERO)))
        .param(Param::new("to", ParamType::Point, "Where it ends.").or(Value::Point(Vec2::new(10.0, 0.0))))
        .param(Param::new("beds", ParamType::Int { min: 1, max: 10_000 }, "How many beds it has, all of the same length.").or(Value::Int(20)))
        .param(Param::number("dig", Unit::Second, "How long it takes to dig one.").within(1e-6, 1e6).or_num(1.0))
        .param(Param::number("home", Unit::None, "Where they go when all beds are dug: 0 is the beginning of the row, 1 its end.").within(-1e3, 1e3).or_num(1.1))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .param(Param::new("membership", ParamType::Name("protocol"), "Who says who is in the group; the only such protocol when left out."));
    let sheet = speeds(sheet, [0.5, 1.0], [2.0, 4.0]).example(
        "[network]\nclass = \"random\"\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[[type.demo.protocol]]\nname = \"heart\"\nclass = \"heartbeat\"\n\n[[type.demo.protocol]]\nname = \"agree\"\nclass = \"chandra-toueg\"\n\n[[type.demo.protocol]]\nname = \"spread\"\nclass = \"reliable-broadcast\"\n\n[[type.demo.protocol]]\nname = \"group\"\nclass = \"membership\"\n\n[type.demo.algorithm]\nclass = \"share-out\"",
    );
    Class::new(sheet, |params, _| {
        let point = |name: &str| params.point_or_none(name).unwrap_or(Vec2::ZERO);
        Ok(Built::Protocol(Arc::new(Model(Settings {
            from: point("from"),
            to: point("to"),
            beds: u32::try_from(params.int("beds")).unwrap_or(1),
            dig_s: params.num("dig"),
            home: params.num("home"),
            speed: pair(params, "speed")?,
            turn_speed: pair(params, "turn_speed")?,
        }))))
    })
}
