//! The ring of `leader-election`: numbers go around, and the highest comes home.

use super::leader_election::{DETECTOR, LINK, ports};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Company, Cx, Indication, Microprotocol, PortSpec, ProtocolModel, Request, ServiceKind, User, from_bytes,
    memory_is_serde,
};

/// An election on a ring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangRoberts {
    /// Whether everybody stands at the start.
    pub at_start: bool,
    /// The robots' numbers in the order of the ring; rising when empty. Robots it does not name take no part.
    pub order: Vec<u32>,
}

/// What goes around.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    /// In this election this robot stands.
    Stands { election: u64, robot: u32 },
    /// In this election this robot has won.
    Won { election: u64, robot: u32 },
}

impl ProtocolModel for ChangRoberts {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Leader)
    }

    fn ports(&self) -> Vec<PortSpec> {
        ports()
    }

    fn misfits(&self, company: &Company<'_>) -> Vec<(&'static str, Diagnostic)> {
        if self.order.is_empty() {
            return Vec::new();
        }
        let stranger = self.order.iter().find_map(|robot| company.stranger("order", *robot));
        let left_out = company.peers.iter().find(|robot| !self.order.contains(robot)).map(|robot| {
            let what = format!("`order` leaves out robot `{robot}`, which would never hear who leads");
            Diagnostic::error("unknown-robot", what).help(company.those())
        });
        stranger.or(left_out).map(|d| ("order", d)).into_iter().collect()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Place {
            settings: self.clone(),
            suspects: BTreeSet::new(),
            election: 0,
            stands: false,
            running: false,
            leader: None,
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Word::Stands { election, robot }) => {
                (String::from("STANDS"), format!("election {election} robot {robot}"))
            }
            Ok(Word::Won { election, robot }) => {
                (String::from("WON"), format!("election {election} robot {robot}"))
            }
            Err(why) => (String::from("BAD"), why),
        }
    }
}

/// A robot's place on the ring.
#[derive(Serialize, Deserialize)]
struct Place {
    settings: ChangRoberts,
    suspects: BTreeSet<u32>,
    /// The latest election it knows of; 0 before the first.
    election: u64,
    /// Whether it stands in it.
    stands: bool,
    /// Whether it is under way.
    running: bool,
    /// Who won, and in which election.
    leader: Option<(u64, u32)>,
}

impl Microprotocol for Place {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        // An election it may have begun before a crash must not be begun twice.
        self.election = cx.persisted::<u64>().unwrap_or(0);
        if self.settings.at_start {
            self.elect(cx);
        }
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        match (request, self.leader) {
            (Request::Leader(_), Some((_, robot))) if !self.running && !self.suspects.contains(&robot) => {
                cx.indicate(user, Indication::Leads(robot));
            }
            (Request::Leader(_), _) if !self.running => self.elect(cx),
            (Request::Leader(_), _) if !self.stands => self.stand(cx),
            _ => {}
        }
    }

    fn indication(&mut self, port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Suspected(robot) if port == DETECTOR => {
                self.suspects.insert(robot);
                if self.running || self.leader.is_some_and(|(_, leader)| leader == robot) {
                    self.elect(cx);
                }
            }
            Indication::Trusted(robot) if port == DETECTOR => {
                self.suspects.remove(&robot);
                // It was left out: whoever is stronger than the leader has a right to stand.
                if self.leader.is_some_and(|(_, leader)| leader < robot) {
                    self.elect(cx);
                }
            }
            Indication::Delivered { bytes, .. } => match from_bytes(&bytes) {
                Ok(Word::Stands { election, robot }) => self.stands(election, robot, cx),
                Ok(Word::Won { election, robot }) => self.won(election, robot, cx),
                Err(_) => {}
            },
            _ => {}
        }
    }
}

impl Place {
    /// The next robot on the ring that is not suspected; itself when there is none.
    fn next(&self, cx: &Cx<'_>) -> u32 {
        let all = if self.settings.order.is_empty() { cx.all() } else { self.settings.order.clone() };
        let me = all.iter().position(|r| *r == cx.me()).unwrap_or(0);
        let around = all[me + 1..].iter().chain(&all[..me]);
        let mut living = around.filter(|r| **r < cx.robots() && !self.suspects.contains(r));
        living.next().copied().unwrap_or(cx.me())
    }

    fn pass_on(&self, word: &Word, cx: &mut Cx<'_>) {
        let next = self.next(cx);
        cx.send_to(LINK, next, word);
    }

    /// Begins an election of its own.
    fn elect(&mut self, cx: &mut Cx<'_>) {
        self.begin(self.election + 1, cx);
        self.stand(cx);
    }

    fn begin(&mut self, election: u64, cx: &mut Cx<'_>) {
        (self.election, self.stands, self.running) = (election, false, true);
        cx.persist(&election);
    }

    fn stand(&mut self, cx: &mut Cx<'_>) {
        self.stands = true;
        self.pass_on(&Word::Stands { election: self.election, robot: cx.me() }, cx);
    }

    fn stands(&mut self, election: u64, robot: u32, cx: &mut Cx<'_>) {
        if election > self.election {
            self.begin(election, cx);
        }
        if election < self.election || !self.running {
            return;
        }
        if robot == cx.me() {
            let word = Word::Won { election, robot };
            self.know(election, robot, cx);
            self.pass_on(&word, cx);
        } else if robot > cx.me() {
            self.stands = true;
            self.pass_on(&Word::Stands { election, robot }, cx);
        } else if !self.stands {
            self.stand(cx);
        }
    }

    fn won(&mut self, election: u64, robot: u32, cx: &mut Cx<'_>) {
        if election > self.election {
            self.begin(election, cx);
        }
        if robot != cx.me() && self.know(election, robot, cx) {
            self.pass_on(&Word::Won { election, robot }, cx);
        }
    }

    /// Takes note of a result; answers whether it counts.
    fn know(&mut self, election: u64, robot: u32, cx: &mut Cx<'_>) -> bool {
        if self.leader.is_some_and(|known| known >= (election, robot)) {
            return false;
        }
        let before = self.leader.replace((election, robot));
        if election == self.election {
            self.running = false;
        }
        if before.is_none_or(|(_, leader)| leader != robot) {
            cx.tell_all(Indication::Leads(robot));
        }
        true
    }
}
