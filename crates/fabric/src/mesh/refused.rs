//! What Zenoh refuses, counted and told: a wrong certificate, what the access file does not allow, a message that is too long, a
//! connection that is none of a member.
//!
//! In: what Zenoh writes to its log, which goes nowhere else. It has no other way to say that it refused something. Out: counts by
//! kind for the whole process, because Zenoh does not say which member of a process it speaks of; and lines for whoever wants
//! to be told ([`on_refusal`]).
//!
//! What never happens: a flood. Each kind of refusal of each peer is told the first time, the tenth, the hundredth, and so on; so many peers
//! are told apart and no more. Most of what Zenoh has to say is never put into words: a call site that says nothing of
//! refusals is switched off for good, and what turns out to be something else is given up at the first piece of it.
//!
//! The words are those of the version of Zenoh that is pinned in Cargo.toml; `tests/peers/refused.rs` makes it say each of them.

use crate::Care;
use crate::gate::{Kind, Refusals};
use crate::mailbox::{Mailbox, Room};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Write as _};
use std::net::TcpStream;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Dispatch, Event, Level, LevelFilter, Metadata, Subscriber, dispatcher};

/// Peers that are told apart for each process.
const MOST_PEERS: usize = 64;
/// Bytes of what Zenoh says that are looked at.
const MOST_WORDS: usize = 400;
/// Lines that wait to be told.
const MOST_LINES: usize = 64;

/// What was refused in this process.
#[derive(Default)]
struct Book {
    /// By Zenoh.
    counts: Refusals,
    /// How often, by kind and peer.
    peers: BTreeMap<(Kind, String), u64>,
    teller: Option<Mailbox<String>>,
}

static BOOK: Mutex<Option<Book>> = Mutex::new(None);

fn book<T>(with: impl FnOnce(&mut Book) -> T) -> T {
    let mut book: MutexGuard<'_, Option<Book>> = BOOK.lock().unwrap_or_else(PoisonError::into_inner);
    with(book.get_or_insert_default())
}

/// From now on, tells of what this process refuses at its connections: once for each kind and peer, and then ever more rarely. It
/// is called on a thread of its own; what it is too slow for is counted and not told.
pub fn on_refusal(teller: Box<dyn Fn(&str) + Send>) {
    let room = Room { letters: MOST_LINES, ..Room::usual(None) };
    // A system without threads has other troubles; refusals are counted all the same.
    let mailbox = Mailbox::open("refusals", room, move |line: String| teller(&line)).ok();
    book(|book| book.teller = mailbox);
}

/// What Zenoh has refused in this process so far.
pub(super) fn by_zenoh() -> Refusals {
    book(|book| book.counts)
}

/// Tells of something that was refused to a peer.
pub(super) fn tell(kind: Kind, peer: &str, why: &str) {
    book(|book| book.tell(kind, peer, why));
}

/// The address of the other side, without its port: that is another for each connection.
pub(super) fn peer(stream: &TcpStream) -> String {
    stream.peer_addr().map_or_else(|_| String::new(), |at| at.ip().to_string())
}

impl Book {
    fn tell(&mut self, kind: Kind, peer: &str, why: &str) {
        let known = (kind, peer.to_owned());
        let is_room = self.peers.len() < MOST_PEERS || self.peers.contains_key(&known);
        let (peer, known) = if is_room { (peer, known) } else { ("others", (kind, "others".to_owned())) };
        let count = self.peers.entry(known).or_default();
        *count += 1;
        if !is_power_of_ten(*count) {
            return;
        }
        let from = if peer.is_empty() { String::new() } else { format!(", from {peer}") };
        let times = if *count == 1 { String::new() } else { format!(", for the {count}th time") };
        if let Some(teller) = &self.teller {
            // A key may be anything, such as what moves the cursor of whoever reads this.
            let clean = |text: &str| text.replace(char::is_control, "?");
            teller.post(clean(&format!("refused: {}{from}: {why}{times}", kind.word())), 0, Care::Drop);
        }
    }
}

fn is_power_of_ten(count: u64) -> bool {
    10_u64.pow(count.ilog10()) == count
}

/// Begins to listen to what Zenoh says, once in a process. Where the program that we are part of listens to logs of its own, it hears
/// of refusals there, and nothing is counted here.
pub(super) fn overhear() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(dispatcher::set_global_default(Dispatch::new(Overhears))));
}

/// The modules of Zenoh that refuse, and the least important thing of theirs that is looked at.
const MODULES: [(&str, Level); 6] = [
    ("zenoh_link_tls::unicast", Level::WARN),
    ("zenoh_transport::unicast::establishment::accept", Level::DEBUG),
    ("zenoh_transport::unicast::manager", Level::TRACE),
    ("zenoh_transport::unicast::universal::link", Level::DEBUG),
    ("zenoh_transport::unicast::universal::rx", Level::TRACE),
    ("zenoh::net::routing::interceptor::access_control", Level::TRACE),
];

/// Hears what Zenoh says.
struct Overhears;

impl Subscriber for Overhears {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let speaks =
            |(module, level): &(&str, Level)| metadata.target() == *module && metadata.level() <= level;
        metadata.is_event() && MODULES.iter().any(speaks)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut words = Words::default();
        event.record(&mut words);
        if let Some(refusal) = meant(event.metadata().target(), &words.text) {
            book(|book| {
                book.counts.count(refusal.kind);
                book.tell(refusal.kind, &refusal.peer, &refusal.why);
            });
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The beginning of what is said.
#[derive(Default)]
struct Words {
    text: String,
}

/// What is nothing to us is not put into words any further: the access file is asked for every message.
const NOTHING: [&str; 2] = ["Received: ", "New transport "];

impl fmt::Write for Words {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let is_allowed = || piece.contains(" is authorized to ") && WORKING_OUT.with_borrow(Option::is_none);
        let is_nothing = NOTHING.iter().any(|n| piece.contains(n)) || is_allowed();
        if is_nothing || self.text.len() + piece.len() > MOST_WORDS {
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // Cut short where it is long, or nothing to us.
            let _ = write!(self, "{value:?}");
        }
    }
}

/// A refusal, from what Zenoh said.
#[derive(Debug, PartialEq, Eq)]
struct Refusal {
    kind: Kind,
    peer: String,
    why: String,
}

/// What these words of a module mean; nothing when nobody was refused.
fn meant(module: &str, words: &str) -> Option<Refusal> {
    let refusal = |kind, peer: &str, why: &str| Some(Refusal { kind, peer: peer.into(), why: why.into() });
    match module {
        "zenoh_link_tls::unicast" => {
            let why = words.strip_suffix(". Hint: increase the system open file limit.")?;
            // One that is gone before it has shown anything is no stranger, and what the system could not do nobody refused.
            let is_ours = why.contains("os error") || why.contains("eof");
            let is_certificate =
                ["certificate", "fatal alert"].iter().any(|word| why.to_lowercase().contains(word));
            let kind = if is_certificate { Kind::Certificate } else { Kind::Stranger };
            if is_ours { None } else { refusal(kind, "", why) }
        }
        "zenoh_transport::unicast::universal::rx" => {
            let why = words.starts_with("Defragmentation buffer full").then(|| sentence(words))?;
            refusal(Kind::TooLong, "", why)
        }
        "zenoh_transport::unicast::universal::link" => {
            let is_nonsense = words.contains("decoding error");
            is_nonsense.then(|| refusal(Kind::Stranger, peer_of(words), "what came was no message"))?
        }
        "zenoh_transport::unicast::manager" if words.starts_with("Failed to accept link") => {
            refusal(Kind::Stranger, "", "it did not greet in time")
        }
        "zenoh_transport::unicast::manager" => {
            let is_crowd =
                words.starts_with("Closing link for preventing") || words.starts_with("Max transports");
            is_crowd.then(|| refusal(Kind::Stranger, peer_of(words), "too many connections at once"))?
        }
        "zenoh_transport::unicast::establishment::accept" => {
            let begins = ["Received ", "Decode error", "Rejecting ", "Read error", "Decoding cookie"];
            let is_strange = begins.iter().any(|b| words.starts_with(b)) || words.contains("Invalid batch");
            is_strange.then(|| refusal(Kind::Stranger, peer_of(words), "it did not greet as members do"))?
        }
        "zenoh::net::routing::interceptor::access_control" => forbidden(words),
        _ => None,
    }
}

/// What is worked out about a key before anybody uses it, in this order, each allowed or not. Nobody has tried any of it.
const BEFOREHAND: [&str; 9] = [
    "Query",
    "Reply",
    "Put",
    "Delete",
    "Declare/Undeclare Subscriber",
    "Declare/Undeclare Queryable",
    "Declare/Undeclare Liveliness Token",
    "Liveliness Query",
    "Declare Liveliness Subscriber",
];

thread_local! {
    /// For which flow and key this thread works that out, and how far it has come.
    static WORKING_OUT: RefCell<Option<(String, String, usize)>> = const { RefCell::new(None) };
}

/// Something that the access file does not allow. What goes from here to a member and is held back (egress) is nothing that he
/// tried.
fn forbidden(words: &str) -> Option<Refusal> {
    if let Some((flow, rest)) = words.strip_prefix("ACL (").and_then(|w| w.split_once("): ")) {
        let key = rest.split_once('`').map_or("", |(_, key)| key.split('`').next().unwrap_or_default());
        WORKING_OUT.set(Some((flow.to_owned(), key.to_owned(), 0)));
        return None;
    }
    if let Some((id, _)) = words.split_once(" did not match any configured ACL subject") {
        let why = "it has a certificate and no role";
        return Some(Refusal { kind: Kind::NotListed, peer: format!("member {id}"), why: why.into() });
    }
    let refused = words.split_once(" is unauthorized to ");
    let (who, what) = refused.or_else(|| words.split_once(" is authorized to "))?;
    let (action, place) = what.split_once(" (")?;
    let (flow, key) = place.split_once(") on ")?;
    let peer = name_of(who);
    if is_beforehand(action, flow, key) || refused.is_none() || flow != "ingress" {
        return None;
    }
    let why = format!("{} `{key}`", action.to_lowercase());
    Some(Refusal { kind: Kind::NotAllowed, peer: format!("member {peer}"), why })
}

/// Names of members, by their numbers.
static NAMES: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Whom Zenoh means by `NUMBER on INTERFACE+CertCommonName(NAME)+tls+NUMBER`, or later by `Using cached result: NUMBER`: his name,
/// which the first says, or else his number.
fn name_of(who: &str) -> String {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((id, more)) = who.split_once(" on ") else {
        let id = who.trim_start_matches("Using cached result: ");
        return names.get(id).map_or(id, String::as_str).to_owned();
    };
    let name =
        more.rsplit('+').nth(2).unwrap_or(id).trim_start_matches("CertCommonName(").trim_end_matches(')');
    if names.len() >= MOST_PEERS && !names.contains_key(id) {
        names.pop_first();
    }
    names.insert(id.to_owned(), name.to_owned());
    name.to_owned()
}

/// Whether this is the next of what is worked out beforehand, or once more the last: for each name a member has.
fn is_beforehand(action: &str, flow: &str, key: &str) -> bool {
    WORKING_OUT.with_borrow_mut(|working_out| {
        let Some((of_flow, of_key, at)) = working_out else { return false };
        let is_next = BEFOREHAND.get(*at) == Some(&action);
        let is_last = at.checked_sub(1).and_then(|last| BEFOREHAND.get(last)) == Some(&action);
        let is_beforehand = of_flow == flow && of_key == key && (is_next || is_last);
        *at += usize::from(is_next);
        if !is_beforehand {
            *working_out = None;
        }
        is_beforehand
    })
}

/// Without the place in the source of Zenoh that its messages end with.
fn sentence(words: &str) -> &str {
    words.split(" at /").next().unwrap_or_default().trim_end_matches('.')
}

/// The host of the other side in what is said of a link, `tcp/HERE => tcp/THERE` or `HERE => THERE`.
fn peer_of(words: &str) -> &str {
    let there = words.split_once(" => ").map_or("", |(_, there)| there);
    let there = ["tcp/", "tls/"].iter().find_map(|p| there.strip_prefix(p)).unwrap_or(there);
    let end = there.find(|c: char| !(c.is_ascii_hexdigit() || ".:[]".contains(c))).unwrap_or(there.len());
    let host = there[..end].trim_end_matches([':', '.']);
    host.rsplit_once(':').map_or(host, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_member_tried_is_forbidden_and_what_is_worked_out_beforehand_is_not() {
        let tried = "0a1b on lo+CertCommonName(desk)+tls+0a1b is unauthorized to Query (ingress) on swarm/host/a/start";
        let refusal = forbidden(tried).expect("it was tried");
        assert_eq!((refusal.kind, refusal.peer.as_str()), (Kind::NotAllowed, "member desk"));
        assert_eq!(refusal.why, "query `swarm/host/a/start`");
        assert_eq!(forbidden(&tried.replace("ingress", "egress")), None);
        // What a key allows is worked out in one go on one thread, and then it is tried.
        assert_eq!(forbidden("ACL (ingress): caching permissions for `swarm/host/a/start` ..."), None);
        for (k, action) in BEFOREHAND.iter().enumerate() {
            let words = tried.replace("Query", action);
            let words = if k % 3 == 0 { words.replace("unauthorized", "authorized") } else { words };
            assert_eq!(forbidden(&words), None, "{words}");
        }
        assert!(forbidden(tried).is_some());
        // Of one who is nobody nothing is worked out: what others try is heard all the same.
        assert_eq!(forbidden("ACL (ingress): caching permissions for `swarm/x` ..."), None);
        assert!(forbidden(tried).is_some());
        let again = "Using cached result: 0a1b is unauthorized to Put (ingress) on swarm/x";
        assert_eq!(forbidden(again).map(|r| r.peer), Some("member desk".into()));
        let of_nobody = again.replace("0a1b", "ffff");
        assert_eq!(forbidden(&of_nobody).map(|r| r.peer), Some("member ffff".into()));
    }

    #[test]
    fn the_other_side_is_its_host() {
        for (words, host) in [
            ("Decode error on link: tcp/127.0.0.1:7447 => tcp/10.0.0.9:4711", "10.0.0.9"),
            ("Read error on TCP link tcp/[::1]:7 => tcp/[::1]:4711: early eof", "[::1]"),
            ("Read error on TCP link 127.0.0.1:7 => 10.0.0.9:4711: early eof at /src/link.rs:7.", "10.0.0.9"),
            ("nothing of the kind", ""),
        ] {
            assert_eq!(peer_of(words), host, "{words}");
        }
    }

    #[test]
    fn a_flood_is_told_ever_more_rarely_and_strangers_are_not_without_number() {
        let (tell, told) = std::sync::mpsc::channel();
        let teller = Mailbox::open("test", Room::usual(None), move |line: String| drop(tell.send(line)));
        let mut book = Book { teller: teller.ok(), ..Book::default() };
        for _ in 0..1000 {
            book.tell(Kind::Stranger, "10.0.0.9", "why");
        }
        let lines: Vec<String> = told.iter().take(4).collect();
        assert_eq!(lines[0], "refused: strange connection, from 10.0.0.9: why");
        assert!(lines[3].ends_with("for the 1000th time"), "{lines:?}");
        for k in 0..10_000 {
            book.tell(Kind::Stranger, &format!("member {k}"), "why");
        }
        assert_eq!(book.peers.len(), MOST_PEERS + 1);
        assert_eq!(book.peers[&(Kind::Stranger, "others".to_owned())], 10_001 - MOST_PEERS as u64);
    }
}
