//! The bully of `leader-election`: the strongest that answers leads.

use super::leader_election::{DETECTOR, LINK, ports};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use swarmyard_part_api::{
    Cx, Indication, Microprotocol, PortSpec, ProtocolModel, Request, ServiceKind, User, from_bytes,
    memory_is_serde,
};

/// An election by the strongest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bully {
    /// Whether everybody stands at the start.
    pub at_start: bool,
    /// How long it waits for an answer, s.
    pub timeout_s: f64,
}

/// What they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Word {
    /// To the stronger: does one of you live?
    Election,
    /// To the weaker: I do, leave it to me.
    Answer,
    /// To the weaker: I lead.
    Victory,
}

impl ProtocolModel for Bully {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Leader)
    }

    fn ports(&self) -> Vec<PortSpec> {
        ports()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Candidate {
            settings: self.clone(),
            suspects: BTreeSet::new(),
            state: State::Idle,
            timer: None,
            leader: None,
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        let kind = match from_bytes(bytes) {
            Ok(Word::Election) => "ELECTION",
            Ok(Word::Answer) => "ANSWER",
            Ok(Word::Victory) => "VICTORY",
            Err(why) => return (String::from("BAD"), why),
        };
        (kind.to_owned(), String::new())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Idle,
    /// It stands, and no stronger one has answered yet.
    Stands,
    /// A stronger one has answered, and is to win.
    Waits,
}

/// A robot in elections.
#[derive(Serialize, Deserialize)]
struct Candidate {
    settings: Bully,
    suspects: BTreeSet<u32>,
    state: State,
    timer: Option<u64>,
    leader: Option<u32>,
}

impl Microprotocol for Candidate {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.settings.at_start {
            self.elect(cx);
        }
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        match (request, self.leader) {
            (Request::Leader(_), Some(leader))
                if self.state == State::Idle && !self.suspects.contains(&leader) =>
            {
                cx.indicate(user, Indication::Leads(leader));
            }
            (Request::Leader(_), _) if self.state == State::Idle => self.elect(cx),
            _ => {}
        }
    }

    fn indication(&mut self, port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Suspected(robot) if port == DETECTOR => {
                self.suspects.insert(robot);
                if self.leader == Some(robot) || self.state != State::Idle {
                    self.elect(cx);
                }
            }
            Indication::Trusted(robot) if port == DETECTOR => {
                self.suspects.remove(&robot);
                if self.leader.is_some_and(|leader| leader < robot) {
                    self.elect(cx);
                }
            }
            Indication::Delivered { from, bytes } if from < cx.robots() => match from_bytes(&bytes) {
                // Who leads already has nothing to win again.
                Ok(Word::Election)
                    if from < cx.me() && self.leader == Some(cx.me()) && self.state == State::Idle =>
                {
                    cx.send_to(LINK, from, &Word::Victory);
                }
                Ok(Word::Election) if from < cx.me() => {
                    cx.send_to(LINK, from, &Word::Answer);
                    if self.state == State::Idle {
                        self.elect(cx);
                    }
                }
                Ok(Word::Answer) if from > cx.me() && self.state == State::Stands => {
                    self.state = State::Waits;
                    self.wait(cx);
                }
                Ok(Word::Victory) if from > cx.me() => self.settle(from, cx),
                _ => {}
            },
            _ => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if self.timer != Some(timer) {
            return;
        }
        self.timer = None;
        match self.state {
            State::Stands => self.win(cx),
            // The one that answered did not win: it has crashed since.
            State::Waits => self.elect(cx),
            State::Idle => {}
        }
    }
}

impl Candidate {
    fn elect(&mut self, cx: &mut Cx<'_>) {
        let stronger: Vec<u32> = (cx.me() + 1..cx.robots()).collect();
        if stronger.is_empty() {
            return self.win(cx);
        }
        self.state = State::Stands;
        cx.send(LINK, stronger, &Word::Election);
        self.wait(cx);
    }

    fn wait(&mut self, cx: &mut Cx<'_>) {
        if let Some(timer) = self.timer.take() {
            cx.cancel_timer(timer);
        }
        // A stronger one needs its own time to win, and so does each above it.
        let above = f64::from(cx.robots() - cx.me());
        let rounds = if self.state == State::Waits { 2.0 * above } else { 1.0 };
        self.timer = Some(cx.set_timer(rounds * self.settings.timeout_s));
    }

    fn win(&mut self, cx: &mut Cx<'_>) {
        let weaker: Vec<u32> = (0..cx.me()).collect();
        if !weaker.is_empty() {
            cx.send(LINK, weaker, &Word::Victory);
        }
        self.settle(cx.me(), cx);
    }

    fn settle(&mut self, leader: u32, cx: &mut Cx<'_>) {
        self.state = State::Idle;
        if let Some(timer) = self.timer.take() {
            cx.cancel_timer(timer);
        }
        if self.leader != Some(leader) {
            self.leader = Some(leader);
            cx.tell_all(Indication::Leads(leader));
        }
    }
}
