//! One display's connection.
//!
//! In: its messages. Out: answers in the order of its requests, and what lies on the board, as often as it
//! wants and can take it. A display that stops reading fills its own socket and nothing else.

use crate::answer::{Refusal, Reply};
use crate::frame::Grid;
use crate::hub::Wishes;
use crate::message::{self, Asked, Request};
use crate::runner::{Command, Joined};
use crate::server::Desk;
use crate::shot::{Shot, Shown};
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

/// A display must say who it is within this time.
const HELLO: Duration = Duration::from_secs(5);
/// Time between two pings.
const PING: Duration = Duration::from_secs(5);
/// A display that has not been heard of for so long, or does not take a message, is dropped.
const SILENCE: Duration = Duration::from_secs(15);
/// How long answers are still sent when the server ends.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Code of a closed connection: a rule was broken.
const POLICY: u16 = 1008;
/// Code of a closed connection: the server goes away.
const AWAY: u16 = 1001;
/// Code of a refusal: there is no run to show, for now.
pub(crate) const NO_SERVER: &str = "no-server";

type Sink = SplitSink<WebSocket, Message>;

/// Serves one display until it goes, is dropped, or the server ends.
pub(crate) async fn serve(socket: WebSocket, local: bool, desk: Arc<Desk>) {
    let (mut sink, mut stream) = socket.split();
    let joined = match shake_hands(&mut stream, local, &desk).await {
        Ok(Some(joined)) => joined,
        Ok(None) => return,
        Err(ended) => return take_leave(&mut sink, &mut stream, ended).await,
    };
    let id = joined.id;
    let (answers, outgoing) = mpsc::channel(16);
    let (wishes, wished) = watch::channel(joined.wishes.clone());
    let welcome = json!({
        "is": "welcome", "version": crate::PROTOCOL, "build": joined.build, "you": id,
        "key": joined.key, "project": joined.project,
    });
    let mut writer = Writer { sink, sent: Sent::default(), wished, bytes: Arc::clone(&joined.bytes) };
    let reader = read(&mut stream, id, &desk, &answers, &wishes);
    let ended = tokio::select! {
        why = reader => why,
        why = writer.run(welcome.to_string(), joined, outgoing, &desk) => why,
    };
    desk.tell(Command::Leave(id));
    if let Some(ended) = ended {
        take_leave(&mut writer.sink, &mut stream, ended).await;
    }
}

/// Says goodbye, and waits a moment until the other side has closed too.
async fn take_leave(sink: &mut Sink, stream: &mut SplitStream<WebSocket>, (why, code): (String, u16)) {
    goodbye(sink, &why, code).await;
    // A socket that is closed with something unread resets the connection, and the goodbye is lost.
    let _ = timeout(LAST_WORDS, async { while let Some(Ok(_)) = stream.next().await {} }).await;
}

/// Hears who it is, and lets it in. `None` when it went away.
async fn shake_hands(
    stream: &mut SplitStream<WebSocket>,
    local: bool,
    desk: &Desk,
) -> Result<Option<Joined>, (String, u16)> {
    let wrong = |why: &str| (why.to_owned(), POLICY);
    let text = loop {
        match timeout(HELLO, stream.next()).await {
            Err(_) => return Err(wrong("a display says `hello` within five seconds")),
            Ok(None) => return Ok(None),
            Ok(Some(Err(e))) => return Err(wrong(&e.to_string())),
            Ok(Some(Ok(Message::Text(text)))) => break text,
            Ok(Some(Ok(Message::Binary(_)))) => return Err(wrong("a display speaks JSON")),
            Ok(Some(Ok(_))) => {}
        }
    };
    let asked = message::parse(&text).map_err(|(_, refusal)| wrong(&refusal.message))?;
    let Request::Hello { version, name, console, token } = asked.request else {
        return Err(wrong("the first message is `hello`"));
    };
    if version != u64::from(crate::PROTOCOL) {
        return Err(wrong(&format!("this server speaks version {}, not {version}", crate::PROTOCOL)));
    }
    desk.guard.check_token(token.as_deref()).map_err(|why| wrong(&why))?;
    let (reply, answer) = oneshot::channel();
    desk.tell(Command::Join { name: shortened(name), console, local, reply });
    match answer.await {
        Ok(Ok(joined)) => Ok(Some(joined)),
        // It may come back: worth trying again.
        Ok(Err(refusal)) if refusal.code == NO_SERVER => Err((refusal.message, AWAY)),
        Ok(Err(refusal)) => Err(wrong(&refusal.message)),
        Err(_) => Err(("the server ends".into(), AWAY)),
    }
}

/// A name that fits into a list.
fn shortened(name: String) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
    if name.trim().is_empty() { "display".into() } else { name }
}

/// Why a connection ends, and the code for it; `None` when the other side is gone.
type Ended = Option<(String, u16)>;

/// Takes requests, one after another.
async fn read(
    stream: &mut SplitStream<WebSocket>,
    id: u64,
    desk: &Desk,
    answers: &mpsc::Sender<String>,
    wishes: &watch::Sender<Wishes>,
) -> Ended {
    loop {
        let text = match timeout(SILENCE, stream.next()).await {
            Err(_) => return Some(("nothing was heard for fifteen seconds".into(), POLICY)),
            Ok(None | Some(Ok(Message::Close(_)))) => return None,
            Ok(Some(Err(e))) => return Some((e.to_string(), POLICY)),
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
            Ok(Some(Ok(Message::Binary(_)))) => {
                return Some(("requests are JSON, not bytes".into(), POLICY));
            }
            Ok(Some(Ok(Message::Text(text)))) => text,
        };
        let (asked, reply) = match message::parse(&text) {
            Err((asked, refusal)) => (asked, Reply::Made(Err(refusal))),
            Ok(Asked { id: asked, request }) => {
                let wanted = Wishes::of(&request);
                let reply = ask(id, request, text, desk).await;
                if let Some(wanted) = wanted.filter(|_| reply.is_ok()) {
                    wishes.send_replace(wanted);
                }
                (asked, reply)
            }
        };
        let Some(words) = reply.words(asked) else { continue };
        if answers.send(words).await.is_err() {
            return None;
        }
    }
}

/// Has a request answered: by the files alone where that is enough, else by the runner.
async fn ask(client: u64, request: Request, text: Utf8Bytes, desk: &Desk) -> Reply {
    match (request, desk.library()) {
        (
            request
            @ (Request::Worlds {} | Request::Files { .. } | Request::Read { .. } | Request::Sheets {}),
            Some(library),
        ) => {
            let answer = tokio::task::spawn_blocking(move || library.answer(&request)).await;
            answer.unwrap_or_else(|_| Err(Refusal::new("system", "the files cannot be read"))).into()
        }
        (request, _) => {
            let (reply, answer) = oneshot::channel();
            desk.tell(Command::Ask { client, request, text, reply });
            answer.await.unwrap_or_else(|_| Err(Refusal::new("gone", "the server ends")).into())
        }
    }
}

/// Says goodbye; a display that does not listen any more is left.
async fn goodbye(sink: &mut Sink, why: &str, code: u16) {
    let message = Message::text(json!({ "is": "goodbye", "why": why }).to_string());
    let reason: String = why.chars().take(40).collect();
    let close = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
    let _ = timeout(Duration::from_secs(1), async {
        sink.send(message).await?;
        sink.send(close).await
    })
    .await;
}

/// What a display has been sent last.
#[derive(Default)]
struct Sent {
    shown: Option<Arc<Shown>>,
    bodies: Option<Arc<Shot>>,
    marks: Option<(Arc<Shot>, crate::message::MarksWanted)>,
    /// Maps, by robot.
    grids: BTreeMap<String, Arc<Grid>>,
    /// What robots were seen to be, and which of them this display wanted.
    inspected: Option<(Arc<crate::shot::Inspected>, Vec<String>)>,
    /// When the next frame may be sent.
    next_frame: Option<Instant>,
}

struct Writer {
    sink: Sink,
    sent: Sent,
    wished: watch::Receiver<Wishes>,
    /// How many bytes it was sent.
    bytes: Arc<AtomicU64>,
}

/// The display is gone, or does not listen.
struct Gone;

impl Writer {
    async fn run(
        &mut self,
        welcome: String,
        mut joined: Joined,
        mut answers: mpsc::Receiver<String>,
        desk: &Desk,
    ) -> Ended {
        let (mut shown, mut ending) = (desk.shown.clone(), desk.ending.clone());
        let mut ping = tokio::time::interval(PING);
        if self.begin(welcome, joined.events, &mut shown).await.is_err() {
            return None;
        }
        loop {
            let due = self.sent.next_frame;
            let done = tokio::select! {
                biased;
                Some(answer) = answers.recv() => self.text(answer).await,
                news = joined.news.recv() => match news {
                    Ok(news) => self.text(&*news).await,
                    Err(broadcast::error::RecvError::Lagged(n)) => self.text(left_out(n)).await,
                    Err(broadcast::error::RecvError::Closed) => return self.last_words(&mut answers, desk).await,
                },
                Some(own) = joined.personal.recv() => self.text(&*own).await,
                changed = shown.changed() => match changed {
                    Ok(()) => {
                        let now = Arc::clone(&shown.borrow_and_update());
                        self.look(&now).await
                    }
                    Err(_) => return self.last_words(&mut answers, desk).await,
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    self.sent.next_frame = None;
                    let now = Arc::clone(&shown.borrow());
                    self.look(&now).await
                }
                Ok(()) = self.wished.changed() => {
                    let now = Arc::clone(&shown.borrow());
                    self.look(&now).await
                }
                _ = ping.tick() => self.send(Message::Ping(Bytes::new())).await,
                _ = ending.changed() => return self.last_words(&mut answers, desk).await,
            };
            if done.is_err() {
                return None;
            }
        }
    }

    /// The run has ended: answers that are on their way are still sent.
    async fn last_words(&mut self, answers: &mut mpsc::Receiver<String>, desk: &Desk) -> Ended {
        while let Ok(Some(answer)) = timeout(LAST_WORDS, answers.recv()).await {
            if self.text(answer).await.is_err() {
                return None;
            }
        }
        Some((desk.farewell.into(), AWAY))
    }

    /// What every display is told first.
    async fn begin(
        &mut self,
        welcome: String,
        events: String,
        shown: &mut watch::Receiver<Arc<Shown>>,
    ) -> Result<(), Gone> {
        let now = Arc::clone(&shown.borrow_and_update());
        self.text(welcome).await?;
        for message in [&now.status, &now.control, &now.world] {
            self.text(&**message).await?;
        }
        self.text(events).await?;
        for problems in now.problems.iter() {
            self.text(&**problems).await?;
        }
        self.sent.shown = Some(Arc::clone(&now));
        self.look(&now).await
    }

    /// Sends what is new on the board.
    async fn look(&mut self, now: &Arc<Shown>) -> Result<(), Gone> {
        let before = self.sent.shown.replace(Arc::clone(now)).unwrap_or_else(|| Arc::clone(now));
        // The world first: frames belong to it.
        for (old, new) in
            [(&before.world, &now.world), (&before.status, &now.status), (&before.control, &now.control)]
        {
            if !Arc::ptr_eq(old, new) {
                self.text(&**new).await?;
            }
        }
        for (k, problems) in now.problems.iter().enumerate() {
            if before.problems.get(k).map(|p| &**p) != Some(&**problems) {
                self.text(&**problems).await?;
            }
        }
        let wishes = self.wished.borrow_and_update().clone();
        let is_sent = self
            .sent
            .inspected
            .as_ref()
            .is_some_and(|(seen, robots)| Arc::ptr_eq(seen, &now.inspected) && *robots == wishes.inspect);
        if !wishes.inspect.is_empty() && !is_sent {
            self.sent.inspected = Some((Arc::clone(&now.inspected), wishes.inspect.clone()));
            let seen = wishes.inspect.iter().filter_map(|r| now.inspected.robots.get(r).map(String::as_str));
            let robots = seen.collect::<Vec<_>>().join(",");
            let stop = now.inspected.stop;
            self.text(format!(r#"{{"is":"inspect","stop":{stop},"robots":[{robots}]}}"#)).await?;
        }
        if wishes.frames && self.sent.next_frame.is_none() {
            self.frame(&now.shot, &wishes).await
        } else {
            Ok(())
        }
    }

    /// Sends a frame, built on the one before.
    async fn frame(&mut self, shot: &Arc<Shot>, wishes: &Wishes) -> Result<(), Gone> {
        let is_known = |old: &Arc<Shot>| old.serial() == shot.serial();
        if shot.serial() == 0 {
            return Ok(());
        }
        if !self.sent.bodies.as_ref().is_some_and(is_known) {
            let bytes = shot.bodies_since(self.sent.bodies.as_deref());
            self.send(Message::Binary(bytes)).await?;
            self.sent.bodies = Some(Arc::clone(shot));
            self.sent.next_frame = Some(Instant::now() + Duration::from_secs(1) / wishes.rate.max(1));
        }
        if wishes.wants_marks() {
            let earlier = self.sent.marks.take().filter(|m| m.1 == wishes.marks).map(|m| m.0);
            if !earlier.as_ref().is_some_and(is_known)
                && let Some(bytes) = shot.marks_since(&wishes.marks, earlier.as_deref())
            {
                self.send(Message::Binary(bytes.into())).await?;
                self.sent.marks = Some((Arc::clone(shot), wishes.marks.clone()));
            } else {
                self.sent.marks = earlier.map(|e| (e, wishes.marks.clone()));
            }
        }
        self.sent.grids.retain(|robot, _| wishes.grid.contains(robot));
        for robot in &wishes.grid {
            let is_sent =
                |grid: &&Arc<Grid>| self.sent.grids.get(robot).is_some_and(|s| Arc::ptr_eq(s, grid));
            if let Some(grid) = shot.grids.get(robot).filter(|grid| !is_sent(grid)) {
                self.send(Message::Binary(grid.encode().into())).await?;
                self.sent.grids.insert(robot.clone(), Arc::clone(grid));
            }
        }
        Ok(())
    }

    async fn text(&mut self, text: impl Into<String>) -> Result<(), Gone> {
        self.send(Message::text(text.into())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        let bytes = match &message {
            Message::Text(text) => wire_bytes(text.len()),
            Message::Binary(bytes) => wire_bytes(bytes.len()),
            _ => wire_bytes(0),
        };
        match timeout(SILENCE, self.sink.send(message)).await {
            Ok(Ok(())) => {
                self.bytes.fetch_add(bytes, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(Gone),
        }
    }
}

/// Bytes of a message on the wire, its head included.
pub(crate) fn wire_bytes(len: usize) -> u64 {
    let head = match len {
        0..126 => 2,
        126..65_536 => 4,
        _ => 10,
    };
    len as u64 + head
}

/// Says that a display was too slow for some lines.
fn left_out(messages: u64) -> String {
    let text = format!("{messages} messages with lines were left out: this display did not keep up");
    let line =
        json!({ "stop": 0, "time": 0.0, "level": "warning", "kind": "run", "robot": null, "text": text });
    json!({ "is": "events", "lines": [line] }).to_string()
}

impl Wishes {
    /// What a request says is wanted, if it says so.
    fn of(request: &Request) -> Option<Wishes> {
        let Request::Watch { frames, rate, marks, inspect, probes, grid, comms, links, workers } =
            request.clone()
        else {
            return None;
        };
        Some(Wishes { frames, rate, marks, inspect, probes, grid, comms, links, workers })
    }
}
