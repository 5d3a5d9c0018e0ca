//! What is written down while robots talk: counts, words, and all that is to be judged.
//!
//! In: every event, as it happens. Nothing grows without bound: words are counted beyond a thousand, and a talk
//! with too much to judge is not judged, which is said.

use super::trace::TraceFile;
use super::world::World;
use std::collections::BTreeMap;
use swarmyard::base::Moment;
use swarmyard::part_api::{Indication, Request};
use swarmyard_radio::check::judge::{Docket, Kept};
use swarmyard_radio::lab::{Event, What};

/// Words that are kept; the rest are counted.
const MOST_WORDS: usize = 1000;

/// Messages of one protocol.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// One for each receiver.
    pub(super) sent: u64,
    pub(super) sent_bytes: u64,
    pub(super) received: u64,
    pub(super) received_bytes: u64,
}

/// All that is written down.
pub(super) struct Ledger {
    /// By robot: the pair of each of its uses.
    pairs_of: Vec<Vec<usize>>,
    /// By pair: whether it is to be judged.
    judged: Vec<bool>,
    /// By id of the protocol.
    pub(super) protocols: BTreeMap<u32, Tally>,
    /// Messages that did not get out, or found nobody.
    pub(super) lost: u64,
    /// By pair, by word: how often something was asked for, or told.
    pub(super) asked: Vec<BTreeMap<&'static str, u64>>,
    pub(super) told: Vec<BTreeMap<&'static str, u64>>,
    /// When, who, what.
    pub(super) words: Vec<(Moment, u32, String)>,
    pub(super) more_words: u64,
    /// What is to be judged.
    pub(super) docket: Docket,
    file: Option<TraceFile>,
    /// Why the file could not be written on.
    pub(super) file_trouble: Option<std::io::Error>,
    /// Says words aloud, with the path of who speaks.
    aloud: Option<Vec<String>>,
}

impl Ledger {
    pub(super) fn new(world: &World, file: Option<TraceFile>, aloud: bool) -> Ledger {
        let pairs_of = |robot| world.uses.of_robot(robot).iter().map(|u| u.pair).collect();
        let pairs_of = (0..world.uses.robots()).map(pairs_of).collect();
        let judged = world.uses.judged();
        let none = || vec![BTreeMap::new(); judged.len()];
        Ledger {
            pairs_of,
            protocols: BTreeMap::new(),
            lost: 0,
            asked: none(),
            told: none(),
            judged,
            words: Vec::new(),
            more_words: 0,
            docket: Docket::default(),
            file,
            file_trouble: None,
            aloud: aloud.then(|| world.robots.iter().map(|r| r.path.clone()).collect()),
        }
    }

    /// Hears of an event.
    pub(super) fn hear(&mut self, event: &Event) {
        match &event.what {
            What::Sent { protocol, to, bytes, .. } => {
                let tally = self.protocols.entry(*protocol).or_default();
                tally.sent += to.len() as u64;
                tally.sent_bytes += (to.len() * bytes.len()) as u64;
            }
            What::Received { protocol, bytes, .. } => {
                let tally = self.protocols.entry(*protocol).or_default();
                tally.received += 1;
                tally.received_bytes += bytes.len() as u64;
            }
            What::Lost { .. } => self.lost += 1,
            What::Said(text) => self.word(event, text.clone()),
            What::Crashed | What::Recovered => {
                let word = if matches!(event.what, What::Crashed) { "(crashes)" } else { "(is back)" };
                self.word(event, word.to_owned());
                self.keep(None, event);
            }
            What::Requested { port, request } => {
                let Some(pair) = self.pair(event.process, *port) else { return };
                *self.asked[pair].entry(asked_word(request)).or_default() += 1;
                self.keep(Some(pair), event);
            }
            What::Indicated { port, what } => {
                let Some(pair) = self.pair(event.process, *port) else { return };
                *self.told[pair].entry(told_word(what)).or_default() += 1;
                self.keep(Some(pair), event);
            }
        }
    }

    /// The talk is over.
    pub(super) fn end(&mut self, end: Moment) {
        if let Some(file) = &mut self.file
            && let Err(why) = file.end(end)
        {
            self.file_trouble.get_or_insert(why);
        }
    }

    fn pair(&self, robot: u32, port: u16) -> Option<usize> {
        self.pairs_of.get(robot as usize)?.get(port as usize).copied()
    }

    fn word(&mut self, event: &Event, text: String) {
        if let Some(path) = self.aloud.as_ref().and_then(|paths| paths.get(event.process as usize)) {
            // A reader that has gone away does not end a talk.
            let _ = std::io::Write::write_fmt(
                &mut std::io::stdout(),
                format_args!("{:>9.3} s  {path}  {text}\n", event.at.time.seconds()),
            );
        }
        if self.words.len() < MOST_WORDS {
            self.words.push((event.at, event.process, text));
        } else {
            self.more_words += 1;
        }
    }

    fn keep(&mut self, pair: Option<usize>, event: &Event) {
        if pair.is_some_and(|pair| !self.judged[pair]) {
            return;
        }
        let kept = Kept { pair, event: event.clone() };
        if let Some(file) = &mut self.file
            && let Err(why) = file.write(&kept)
        {
            self.file = None;
            self.file_trouble = Some(why);
        }
        self.docket.keep(kept);
    }
}

/// What a request is called.
fn asked_word(request: &Request) -> &'static str {
    match request {
        Request::Link(_) => "sends",
        Request::Broadcast(_) => "broadcasts",
        Request::Consensus(_) => "proposals",
        Request::Detector(_) => "monitor",
        Request::Leader(_) => "elections",
        Request::Mutex(_) => "enter or leave",
        Request::Membership(_) => "group",
        Request::Clock(_) => "looks at the clock",
        Request::Motion(_) => "motions",
        Request::Watching(_) => "watches",
        Request::Custom(_) => "own",
    }
}

/// What an indication is called.
fn told_word(what: &Indication) -> &'static str {
    match what {
        Indication::Delivered { .. } => "delivered",
        Indication::Decided { .. } => "decided",
        Indication::Suspected(_) => "suspected",
        Indication::Trusted(_) => "trusted",
        Indication::Leads(_) => "leads",
        Indication::Entered => "entered",
        Indication::View { .. } => "views",
        Indication::Clock { .. } => "clock",
        Indication::Ended { .. } => "ended",
        Indication::Passed { .. } => "passed",
        Indication::Pushed { .. } => "pushed",
        Indication::Custom(_) => "own",
    }
}
