//! Whether the protocols of a world kept their promises, by the checkers that their tests use.
//!
//! In: which protocols of a world use which ([`Uses`]), and what they asked each other and were told, of a run in the
//! engine or of a talk over sockets ([`Docket`]). Out: one verdict for each promise of each pair of protocols.
//!
//! Only what all robots were seen to do can be judged. What is kept is bounded: where there is more, nothing is
//! judged, and that can be said.

use super::promises::{self, Given};
use super::{Violations, link};
use crate::lab::{Event, Trace, What};
use swarmyard_base::{Moment, math};
use swarmyard_part_api::{GraphModel, Indication, Request};
use swarmyard_scene::Scene;

/// Events that are kept to be judged, and their bytes.
const MOST_EVENTS: usize = 2_000_000;
const MOST_BYTES: usize = 256 << 20;

/// A protocol that uses another, in robots of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Place of the user in its graph, and of its port.
    pub at: (u16, u16),
    /// The pair it belongs to, in [`Uses::pairs`].
    pub pair: usize,
}

/// A user and its provider, by name: the same in all types of robots, since names are how protocols of different
/// robots know each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Who asks.
    pub user: String,
    /// Who is asked; `network` for the network.
    pub provider: String,
    /// Class of the provider; empty for the network, and where types of robots differ.
    pub class: String,
    /// What its parameters say about its promises.
    pub given: Given,
    /// In how many types of robots.
    types: usize,
    /// By how many ports in one type at most.
    ports: usize,
    /// Whether types of robots differ in what the provider is.
    differs: bool,
}

impl Pair {
    /// Who uses whom, for people.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} by {}", self.provider, self.user)
    }
}

/// Which protocols of a world use which.
pub struct Uses {
    /// Path and type of each robot, by number.
    robots: Vec<(String, usize)>,
    by_type: Vec<Vec<Use>>,
    pairs: Vec<Pair>,
}

impl Uses {
    /// Those of a world: its types of robots that live by events with their names and graphs; its robots in the order of
    /// their numbers, with path and place of their type; and its scene, which knows classes.
    #[must_use]
    pub fn new(types: &[(&str, &GraphModel)], robots: Vec<(String, usize)>, scene: &Scene) -> Uses {
        let mut all = Uses { robots, by_type: Vec::new(), pairs: Vec::new() };
        for (name, graph) in types {
            let uses = all.uses_of(name, graph, scene);
            all.by_type.push(uses);
        }
        all
    }

    fn uses_of(&mut self, ty: &str, graph: &GraphModel, scene: &Scene) -> Vec<Use> {
        let mut uses: Vec<Use> = Vec::new();
        for (node, user) in graph.names().enumerate() {
            for port in 0..graph.ports(node as u16).len() {
                let at = (node as u16, port as u16);
                let Some(provider) = graph.provider_of(at.0, at.1) else { continue };
                let found = scene.find(&format!("/types/{ty}/{provider}"));
                let class = found.map_or(String::new(), |n| n.class.to_string());
                let given = found.map_or(Given::default(), |n| Given {
                    uniform: n.params.bool_or_none("uniform") == Some(true),
                    gives_up: n.params.int_or_none("give_up").is_some_and(|n| n > 0),
                });
                let pair = self.pair(user, provider, class, given);
                let before = uses.iter().filter(|u| u.pair == pair).count();
                let known = &mut self.pairs[pair];
                known.ports = known.ports.max(before + 1);
                known.types += usize::from(before == 0);
                uses.push(Use { at, pair });
            }
        }
        uses
    }

    /// The pair of these names; where types differ in what the provider is, it has no class.
    fn pair(&mut self, user: &str, provider: &str, class: String, given: Given) -> usize {
        if let Some(k) = self.find(user, provider) {
            let pair = &mut self.pairs[k];
            if pair.class != class || pair.given != given {
                pair.class.clear();
                pair.differs = true;
            }
            return k;
        }
        let (user, provider) = (user.to_owned(), provider.to_owned());
        self.pairs.push(Pair { user, provider, class, given, types: 0, ports: 0, differs: false });
        self.pairs.len() - 1
    }

    /// The pair of these names.
    #[must_use]
    pub fn find(&self, user: &str, provider: &str) -> Option<usize> {
        self.pairs.iter().position(|p| p.user == user && p.provider == provider)
    }

    /// All pairs.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// What the protocols of a robot use.
    #[must_use]
    pub fn of_robot(&self, robot: u32) -> &[Use] {
        let ty = self.robots.get(robot as usize).map(|r| r.1);
        ty.and_then(|t| self.by_type.get(t)).map_or(&[], Vec::as_slice)
    }

    /// How many robots there are.
    #[must_use]
    pub fn robots(&self) -> u32 {
        self.robots.len() as u32
    }

    /// Whether all robots have this pair, by one port each: only then a trace says all.
    #[must_use]
    pub fn is_whole(&self, pair: usize) -> bool {
        self.pairs.get(pair).is_some_and(|p| p.types == self.by_type.len() && p.ports == 1)
    }

    /// By pair: whether it can be judged. Everybody must have it, and its provider must promise something.
    #[must_use]
    pub fn judged(&self) -> Vec<bool> {
        let nothing = Trace::new(self.robots());
        let fits = |(k, pair): (usize, &Pair)| {
            self.is_whole(k) && !promises::of(&pair.class, pair.given, &nothing, true).is_empty()
        };
        self.pairs.iter().enumerate().map(fits).collect()
    }

    /// Pairs whose provider promises something that cannot be judged, and why.
    #[must_use]
    pub fn not_judged(&self) -> Vec<(usize, &'static str)> {
        let nothing = Trace::new(self.robots());
        let why = |(k, pair): (usize, &Pair)| {
            let promises = !promises::of(&pair.class, pair.given, &nothing, true).is_empty();
            if pair.differs {
                Some((k, "it is not the same protocol in all types of robots"))
            } else if promises && pair.types < self.by_type.len() {
                Some((k, "not all types of robots have it"))
            } else {
                (promises && pair.ports > 1).then_some((k, "it is used by more than one port"))
            }
        };
        self.pairs.iter().enumerate().filter_map(why).collect()
    }

    /// Judges what was kept of a run that ended then. What was asked for in the last `settle_s` seconds is not looked at.
    #[must_use]
    pub fn judge(&self, kept: &[Kept], end: Moment, settle_s: f64) -> Vec<Verdict> {
        let until = Moment::ZERO.plus(math::max(end.since(Moment::ZERO) - settle_s, 0.0));
        let judged = self.judged();
        let mut verdicts = Vec::new();
        for (k, pair) in self.pairs.iter().enumerate().filter(|(k, _)| judged[*k]) {
            let trace = self.trace_of(k, kept, end);
            let is_fault = |e: &Event| matches!(e.what, What::Crashed | What::Recovered);
            // Nobody used it; but a detector that keeps silent after a crash has something to answer for.
            let detects = pair.class.ends_with("heartbeat") && !trace.events.is_empty();
            if trace.events.iter().all(is_fault) && !detects {
                continue;
            }
            let quiet = !trace.events.iter().any(|e| is_fault(e) && e.at > until);
            let trace = promises::settled(&promises::told_apart(&trace), until);
            for promise in promises::of(&pair.class, pair.given, &trace, quiet) {
                let broken = (promise.check)(&trace).into_iter().map(|w| self.with_paths(w)).collect();
                verdicts.push(Verdict { pair: k, promise: promise.name, broken });
            }
        }
        verdicts
    }

    /// What was kept of one pair as a trace, with all crashes: for any checker there is.
    #[must_use]
    pub fn trace_of(&self, pair: usize, kept: &[Kept], end: Moment) -> Trace {
        let of_pair = |kept: &&Kept| kept.pair.is_none_or(|p| p == pair);
        let mut events: Vec<Event> = kept.iter().filter(of_pair).map(|k| k.event.clone()).collect();
        events.sort_by_key(|e| e.at);
        Trace { processes: self.robots(), events, end }
    }

    /// Messages that came out of the network and had not gone in, by any protocol that was kept.
    #[must_use]
    pub fn made_up(&self, kept: &[Kept], end: Moment) -> Violations {
        let networks = self.pairs.iter().enumerate().filter(|(_, p)| p.provider == "network");
        let found = networks.flat_map(|(k, _)| link::nothing_made_up(&self.trace_of(k, kept, end)));
        found.map(|words| self.with_paths(words)).collect()
    }

    /// Paths in place of numbers.
    fn with_paths(&self, words: String) -> String {
        let mut words = words;
        // The highest first, so that `process 1` does not take the beginning of `process 12`.
        for (number, (path, _)) in self.robots.iter().enumerate().rev() {
            words = words.replace(&format!("process {number}"), path);
        }
        words
    }
}

/// What became of one promise.
pub struct Verdict {
    /// The pair of protocols, in [`Uses::pairs`].
    pub pair: usize,
    /// What was promised.
    pub promise: &'static str,
    /// In words; empty when it was kept.
    pub broken: Violations,
}

/// An event that is to be judged, and of which pair of protocols; `None` for what concerns all.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The pair.
    pub pair: Option<usize>,
    /// What happened.
    pub event: Event,
}

/// Events that are to be judged, as they happen; no more than can be.
#[derive(Clone, Debug, Default)]
pub struct Docket {
    kept: Vec<Kept>,
    bytes: usize,
    overflowed: bool,
}

impl Docket {
    /// Keeps an event, while there is room.
    pub fn keep(&mut self, kept: Kept) {
        let bytes = size(&kept.event.what);
        if self.kept.len() >= MOST_EVENTS || self.bytes + bytes > MOST_BYTES {
            self.overflowed = true;
            return;
        }
        self.bytes += bytes;
        self.kept.push(kept);
    }

    /// What was kept, in the order it came.
    #[must_use]
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Whether there was more than can be judged.
    #[must_use]
    pub fn has_overflowed(&self) -> bool {
        self.overflowed
    }
}

fn size(what: &What) -> usize {
    match what {
        What::Requested { request, .. } => match request {
            Request::Broadcast(all) => all.0.len(),
            Request::Consensus(p) => p.value.len(),
            Request::Link(message) => message.bytes.len(),
            _ => 0,
        },
        What::Indicated { what: Indication::Delivered { bytes, .. }, .. } => bytes.len(),
        What::Indicated { what: Indication::Decided { value, .. }, .. } => value.len(),
        _ => 0,
    }
}
