//! What stands behind a relay's displays while its server is there, as the runner does in a server.
//!
//! In: what the server says, and commands of displays. Out: what all are shown, on the board; what one is told,
//! in its own queue, left out when that is full; and requests to the server. The loop is [`Office::run`].

use super::control::Control;
use super::ledger::Ledger;
use super::picture::Picture;
use super::upstream::{Heard, PATIENCE, Target, Upstream};
use super::{refuse, wishes};
use crate::answer::{Passed, Refusal, Reply};
use crate::board::NEWS;
use crate::frame::Sort;
use crate::hub::{Client, Hub, Wishes};
use crate::runner::{Command, FIRST_LINES, Joined};
use crate::shot::{Shot, Shown};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

/// How long bodies wait for the marks that belong to them.
const TOGETHER: Duration = Duration::from_millis(10);
/// Time between two looks at displays that had no room.
const AGAIN: Duration = Duration::from_millis(200);

/// What a relay keeps from one connection to the next.
pub(super) struct Office {
    pub(super) target: Target,
    pub(super) ledger: Arc<Ledger>,
    pub(super) board: watch::Sender<Arc<Shown>>,
    pub(super) hub: Hub,
}

/// Why a connection is over.
pub(super) enum Over {
    /// The relay is to end.
    Stop,
    /// The server is gone, or says what it should not.
    Lost(String),
}

/// Where a reply goes.
pub(super) type To = oneshot::Sender<Reply>;

/// What is done when the server has answered.
pub(super) enum Then {
    /// The answer goes to a display.
    Pass(To),
    /// A display wanted something else than before.
    Watched { client: u64, before: Wishes, to: To },
    /// A display asked for control.
    Asked { client: u64, to: To },
    /// A display came that wants control if it is free: it is told first whether it has it.
    Joined { joined: Box<Joined>, reply: oneshot::Sender<Result<Joined, Refusal>> },
    /// A display took control.
    Took { client: u64, to: To },
    /// The sheets are for everybody who waits for them.
    Sheets,
    /// The lines of a new run.
    Lines,
    /// The server has told everything that it tells first.
    Ready,
    /// Nobody waits for it.
    Nothing,
}

/// One connection to the server, and what it said.
pub(super) struct Post<'a> {
    pub(super) office: &'a mut Office,
    pub(super) upstream: Upstream,
    pub(super) welcome: Value,
    pub(super) control: Control,
    /// What the server was told that is wanted.
    wished: Option<Wishes>,
    pub(super) picture: Picture,
    /// The picture is of now: frames have come since they are wanted.
    is_fresh: bool,
    /// When bodies are shown, although their marks did not come.
    hold: Option<Instant>,
    pub(super) shown: Shown,
    pub(super) is_stale: bool,
    pub(super) news: broadcast::Sender<Arc<str>>,
    /// The last lines of the run.
    pub(super) lines: VecDeque<Value>,
    /// Lines were asked for: the next message may hold some of them again.
    pub(super) may_repeat: bool,
    pub(super) run: Option<u64>,
    pub(super) links: Option<Arc<str>>,
    /// What its workers do, as last told.
    pub(super) workers: Option<Arc<str>>,
    sheets: Option<Passed>,
    want_sheets: Vec<To>,
    waiting: BTreeMap<u64, Then>,
    last_id: u64,
    /// The server has told everything that is told first.
    pub(super) is_ready: bool,
}

impl Office {
    /// Serves displays until the connection is lost or the relay is to end.
    pub(super) async fn run(
        &mut self,
        upstream: Upstream,
        commands: &mut mpsc::UnboundedReceiver<Command>,
    ) -> Over {
        let mut post = Post::new(self, upstream);
        let over = post.run(commands).await;
        if let Over::Lost(why) = &over {
            let why = why.clone();
            post.upstream.end(&why);
        }
        over
    }

    /// There is no server: nobody is here, and nothing is shown.
    pub(super) fn lost(&mut self, why: &str) {
        self.hub.clear();
        self.ledger.lost(why);
        self.board.send_replace(Arc::new(Shown::nothing()));
    }
}

impl<'a> Post<'a> {
    fn new(office: &'a mut Office, upstream: Upstream) -> Post<'a> {
        Post {
            office,
            upstream,
            welcome: Value::Null,
            control: Control::default(),
            wished: None,
            picture: Picture::default(),
            is_fresh: false,
            hold: None,
            shown: Shown::nothing(),
            is_stale: false,
            news: broadcast::Sender::new(NEWS),
            lines: VecDeque::new(),
            may_repeat: false,
            run: None,
            links: None,
            workers: None,
            sheets: None,
            want_sheets: Vec::new(),
            waiting: BTreeMap::new(),
            last_id: 0,
            is_ready: false,
        }
    }

    /// The loop.
    async fn run(&mut self, commands: &mut mpsc::UnboundedReceiver<Command>) -> Over {
        let greeting = Instant::now() + PATIENCE;
        let mut again = tokio::time::interval(AGAIN);
        loop {
            let hold = self.hold;
            let done = tokio::select! {
                heard = self.upstream.heard.recv() => match heard {
                    None => Err("the connection to the server is lost".to_owned()),
                    Some(Heard::Gone(why)) => Err(why),
                    Some(Heard::Text(text)) => self.hear(&text),
                    Some(Heard::Frame(bytes)) => self.see(&bytes),
                },
                command = commands.recv() => match command {
                    None | Some(Command::Stop) => return Over::Stop,
                    Some(command) => self.take(command),
                },
                () = sleep_until(hold.unwrap_or(greeting)), if hold.is_some() => {
                    self.show();
                    Ok(())
                }
                _ = again.tick() => {
                    self.tell_again();
                    if self.is_ready || Instant::now() < greeting {
                        Ok(())
                    } else {
                        Err("the server does not say what it shows".into())
                    }
                }
            };
            if let Err(why) = done {
                return Over::Lost(why);
            }
            if self.is_stale {
                self.publish();
            }
        }
    }

    /// Puts everything on the board.
    fn publish(&mut self) {
        self.is_stale = false;
        let control = self.control.json(&self.office.hub).to_string();
        if *self.shown.control != *control {
            self.shown.control = Arc::from(control);
        }
        self.office.board.send_replace(Arc::new(self.shown.clone()));
    }

    /// Takes a frame.
    fn see(&mut self, bytes: &[u8]) -> Result<(), String> {
        let sort = self.picture.take(bytes).map_err(|e| format!("the server sends wrong bytes: {e}"))?;
        self.is_fresh = self.wished.as_ref().is_some_and(|w| w.frames);
        let wants_marks = self.wished.as_ref().is_some_and(Wishes::wants_marks);
        if sort == Sort::Bodies && wants_marks {
            self.hold = Some(Instant::now() + TOGETHER);
        } else {
            self.show();
        }
        Ok(())
    }

    /// Shows what the frames told.
    pub(super) fn show(&mut self) {
        self.hold = None;
        self.is_stale = true;
        let wishes = self.office.hub.all().map(|c| &c.wishes);
        let shot = if self.is_fresh { self.picture.shot(wishes) } else { Shot::default() };
        self.shown.shot = Arc::new(shot);
    }

    /// Asks the server for something.
    pub(super) fn ask(&mut self, request: &Value, then: Then) -> Result<(), String> {
        self.pass(&request.to_string(), then)
    }

    /// Passes a request on: the text of an object, with a number of ours.
    fn pass(&mut self, text: &str, then: Then) -> Result<(), String> {
        self.last_id += 1;
        self.waiting.insert(self.last_id, then);
        self.upstream.say(with_id(text, self.last_id))
    }

    fn take(&mut self, command: Command) -> Result<(), String> {
        match command {
            command if !self.is_ready => {
                refuse(command, "it has only just connected");
                Ok(())
            }
            Command::Join { name, console, local, reply } => {
                let joined = self.join(name, console, local);
                match joined {
                    Ok(joined) if console && self.control.is_free() => {
                        let (client, joined) = (joined.id, Box::new(joined));
                        self.ask_for_control(client, Then::Joined { joined, reply })?;
                    }
                    // Whoever has gone away meanwhile is noticed when its link ends.
                    joined => drop(reply.send(joined)),
                }
                self.wish()
            }
            Command::Leave(id) => self.leave(id),
            Command::Ask { client, request, text, reply } => self.asked(client, request, &text, reply),
            Command::Recording(reply) => {
                self.fetch_recording(reply);
                Ok(())
            }
            Command::Upload { key, bytes, reply, .. } => {
                self.send_recording(&key, bytes, reply);
                Ok(())
            }
            Command::Stop => Ok(()),
        }
    }

    fn join(&mut self, name: String, console: bool, local: bool) -> Result<Joined, Refusal> {
        let key = crate::guard::secret().map_err(|e| Refusal::new("system", e.to_string()))?;
        let wishes = Wishes { frames: true, rate: 30, ..Wishes::default() };
        let (personal, received) = mpsc::channel(16);
        let client = Client {
            name: name.clone(),
            local,
            key: key.clone(),
            wishes: wishes.clone(),
            personal,
            rows: Vec::new(),
            comms_seen: u64::MAX,
            links_seen: None,
            workers_seen: None,
        };
        let id = self.office.hub.join(client, console && self.control.is_mine())?;
        let bytes = Arc::<AtomicU64>::default();
        self.office.ledger.join(id, &name, &bytes);
        // It is told who is there before it is told anything else: also that it is itself.
        self.publish();
        let text = |what: &str| self.welcome[what].as_str().unwrap_or_default().to_owned();
        Ok(Joined {
            id,
            key,
            build: text("build"),
            project: text("project"),
            bytes,
            wishes,
            events: json!({ "is": "events", "lines": self.lines }).to_string(),
            news: self.news.subscribe(),
            personal: received,
        })
    }

    fn leave(&mut self, id: u64) -> Result<(), String> {
        let held = self.office.hub.holds(id);
        self.office.ledger.leave(id);
        self.is_stale |= self.office.hub.leave(id);
        if held {
            self.let_go(Then::Nothing)?;
        }
        self.wish()
    }

    /// Tells the server that nothing is wanted yet. It answers after it has told everything that it tells first.
    pub(super) fn wish_for_nothing(&mut self) -> Result<(), String> {
        self.wish_for(Wishes { rate: 30, ..Wishes::default() }, Then::Ready)
    }

    /// Tells the server what is wanted, if that is something else than before.
    fn wish(&mut self) -> Result<(), String> {
        // Less than was granted already cannot be too much.
        let Ok(union) = wishes::union(self.office.hub.all().map(|c| &c.wishes)) else { return Ok(()) };
        self.wish_for(union, Then::Nothing)
    }

    fn wish_for(&mut self, union: Wishes, then: Then) -> Result<(), String> {
        if self.wished.as_ref() == Some(&union) {
            self.answered(then, None)
        } else {
            let request = wishes::request(&union);
            if !union.links {
                self.links = None;
            }
            if !union.workers {
                self.workers = None;
            }
            if !union.frames {
                self.is_fresh = false;
                self.show();
            }
            self.wished = Some(union);
            self.ask(&request, then)
        }
    }

    /// A display wants something else.
    pub(super) fn watch(&mut self, client: u64, wishes: Wishes, to: To) -> Result<(), String> {
        let Some(display) = self.office.hub.get_mut(client) else { return Ok(()) };
        if wishes.comms && !display.wishes.comms {
            // From here on, whatever was before.
            display.comms_seen = u64::MAX;
        }
        if !wishes.links {
            display.links_seen = None;
        }
        if !wishes.workers {
            display.workers_seen = None;
        }
        if display.wishes.probes != wishes.probes {
            display.rows.clear();
        }
        let before = std::mem::replace(&mut display.wishes, wishes);
        match wishes::union(self.office.hub.all().map(|c| &c.wishes)) {
            Ok(union) => {
                // What the server showed last may hold what is wanted now.
                if self.hold.is_none() {
                    self.show();
                    self.publish();
                }
                self.wish_for(union, Then::Watched { client, before, to })
            }
            Err(refusal) => {
                self.unwatch(client, before);
                let _ = to.send(Err(refusal).into());
                Ok(())
            }
        }
    }

    fn unwatch(&mut self, client: u64, before: Wishes) {
        if let Some(display) = self.office.hub.get_mut(client) {
            display.wishes = before;
        }
    }

    /// Answers with the sheets: asked for once, they are the same for as long as the server is.
    pub(super) fn sheets(&mut self, to: To) -> Result<(), String> {
        if let Some(sheets) = &self.sheets {
            let _ = to.send(Reply::Passed(sheets.clone()));
            return Ok(());
        }
        self.want_sheets.push(to);
        match self.want_sheets.len() {
            1 => self.ask(&json!({ "do": "sheets" }), Then::Sheets),
            _ => Ok(()),
        }
    }

    /// Passes a request of a display on.
    pub(super) fn pass_on(&mut self, text: &str, to: To) -> Result<(), String> {
        self.pass(text, Then::Pass(to))
    }

    /// Takes a reply of the server.
    pub(super) fn replied(&mut self, text: &str, reply: &Value) -> Result<(), String> {
        let known = reply["id"].as_u64().and_then(|id| Some((id, self.waiting.remove(&id)?)));
        let Some((id, then)) = known else {
            return Err("the server answers what it was not asked".into());
        };
        let passed = Passed { id, is_ok: reply.get("ok").is_some(), text: Arc::from(text) };
        self.answered(then, Some((passed, &reply["ok"])))
    }

    /// Does what an answer was waited for; without one, the server need not be asked.
    fn answered(&mut self, then: Then, answer: Option<(Passed, &Value)>) -> Result<(), String> {
        let is_ok = answer.as_ref().is_none_or(|(passed, _)| passed.is_ok);
        let ok = answer.as_ref().map_or(&Value::Null, |(_, ok)| *ok);
        let passed = answer.as_ref().map(|(passed, _)| passed.clone());
        let reply = || passed.clone().map_or_else(|| Reply::Made(Ok(json!({}))), Reply::Passed);
        match then {
            Then::Nothing => {}
            Then::Ready => {
                self.is_ready = true;
                self.office.ledger.connected();
            }
            // Whoever asked may have gone away: then nobody needs the answer.
            Then::Pass(to) => drop(to.send(reply())),
            Then::Watched { client, before, to } => {
                let _ = to.send(reply());
                if !is_ok {
                    self.unwatch(client, before);
                    return self.wish();
                }
                self.tell_again();
            }
            Then::Asked { client, to } => {
                self.control_asked(ok)?;
                let holds = json!({ "holds": self.office.hub.holds(client) });
                let _ = to.send(if is_ok { Reply::Made(Ok(holds)) } else { reply() });
            }
            Then::Joined { joined, reply } => {
                self.control_asked(ok)?;
                // It does not wait for control; it may have got it.
                let _ = self.office.hub.deny(joined.id);
                self.publish();
                let _ = reply.send(Ok(*joined));
            }
            Then::Took { client, to } => return self.control_taken(client, reply(), to),
            Then::Sheets => {
                for to in std::mem::take(&mut self.want_sheets) {
                    let _ = to.send(reply());
                }
                self.sheets = passed.filter(|p| p.is_ok);
            }
            Then::Lines => {
                if let Some(lines) = ok["events"].as_array() {
                    self.lines = lines.iter().take(FIRST_LINES).cloned().collect();
                    self.may_repeat = true;
                }
            }
        }
        Ok(())
    }
}

/// The text of an object, with a number. It stands last: of two members with the same name that one counts,
/// and the rest need not be read and written again, which may change the last digit of a number.
fn with_id(text: &str, id: u64) -> String {
    let open = text.trim_end().strip_suffix('}').unwrap_or(text);
    format!(r#"{open},"id":{id}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_passed_on_word_for_word_with_another_number() {
        let text = r#"{"id": 7, "do": "command", "part": "p", "channel": "c", "values": [0.30000000000000004441]}  "#;
        let passed = with_id(text, 12);
        assert!(passed.contains("0.30000000000000004441"));
        assert_eq!(crate::message::parse(&passed).unwrap().id, Some(12));
        assert_eq!(crate::message::parse(&with_id(r#"{"do":"undo"}"#, 3)).unwrap().id, Some(3));
    }
}
