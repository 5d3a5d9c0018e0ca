//! The scene of a chain of modules, for pages; and their commands, for the head of the chain.
//!
//! In: what the display module shows, what happened to modules, and commands of pages. Out: the newest scene to every
//! page, as often as it can take it; commands, checked, to whoever drives the chain.
//!
//! *Invariants:* the chain never waits for a page. A command that is no line of the controller is refused by name and
//! goes nowhere.

use crate::guard::{Guard, secret};
use crate::page;
use crate::server::StartError;
use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use swarmyard_modules::{Event, Line, Scenery};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

/// Most pages at once.
const MOST_PAGES: usize = 64;
/// Most bytes of a message of a page.
const MOST_BYTES: usize = 8192;
/// Most commands that wait for the chain.
const MOST_COMMANDS: usize = 64;
/// Events that a page which comes late still sees.
const EVENTS: usize = 200;
/// Time between two scenes for one page.
const PACE: Duration = Duration::from_millis(33);
/// How long a page may take for a message, or the chain for a command.
const PATIENCE: Duration = Duration::from_secs(10);

/// A command of a page, and where the answer goes.
pub struct Asked {
    /// The line.
    pub line: String,
    reply: oneshot::Sender<Result<(), String>>,
}

impl Asked {
    /// Tells the page how it went.
    pub fn answer(self, how: Result<(), String>) {
        // The page may have gone meanwhile.
        let _ = self.reply.send(how);
    }
}

/// What is to be seen.
#[derive(Clone, Default)]
struct Board {
    scenery: Arc<str>,
    /// With the number of the first one.
    events: (u64, Arc<Vec<Value>>),
}

struct Desk {
    guard: Guard,
    web: Option<PathBuf>,
    board: watch::Receiver<Board>,
    commands: mpsc::SyncSender<Asked>,
    pages: AtomicUsize,
}

/// A server for the pages that show a chain. Dropping it closes them.
pub struct ModuleServer {
    address: SocketAddr,
    token: Option<String>,
    display: u16,
    board: watch::Sender<Board>,
    commands: mpsc::Receiver<Asked>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl ModuleServer {
    /// Starts a server for the scene of a display with a number. Beyond loopback a token is made up where none is
    /// given.
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn start(
        display: u16,
        wanted: SocketAddr,
        token: Option<String>,
        web: Option<PathBuf>,
    ) -> Result<ModuleServer, StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|e| StartError::new(e.to_string()))?;
        let cannot = |e: std::io::Error| StartError::new(format!("cannot listen on {wanted}: {e}"));
        let listener = runtime.block_on(TcpListener::bind(wanted)).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let token = match token {
            None if !address.ip().is_loopback() => Some(secret().map_err(cannot)?),
            token => token,
        };
        let (board, shown) = watch::channel(Board::default());
        let (sender, commands) = mpsc::sync_channel(MOST_COMMANDS);
        let guard = Guard::new(address, token.clone());
        let desk = Arc::new(Desk { guard, web, board: shown, commands: sender, pages: AtomicUsize::new(0) });
        let router = Router::new()
            .route("/v1/modules", get(open_link))
            .route("/v1/modules/scenery", get(scenery))
            .fallback(page)
            .layer(from_fn_with_state(Arc::clone(&desk), guarded))
            .with_state(desk);
        runtime.spawn(async move {
            // It never fails: errors of single connections are theirs.
            let _ = axum::serve(listener, router).await;
        });
        let server = ModuleServer { address, token, display, board, commands, runtime: Some(runtime) };
        server.show(&Scenery::default());
        Ok(server)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser.
    #[must_use]
    pub fn url(&self) -> String {
        let token = self.token.as_ref().map(|t| format!("?token={t}")).unwrap_or_default();
        format!("http://{}/{token}#/modules", self.address)
    }

    /// Shows a scene in the place of the one before. That costs as much as the whole scene; one that changes with every
    /// line is shown by a [`crate::Screen`].
    pub fn show(&self, scenery: &Scenery) {
        let mut value = json!(scenery);
        value["is"] = json!("scenery");
        value["display"] = json!(self.display);
        value["eye_now"] = json!(scenery.eye_now());
        self.board.send_modify(|board| board.scenery = value.to_string().into());
    }

    /// Tells what happened.
    pub fn tell(&self, event: &Event) {
        let value = json!({
            "number": event.number, "name": event.name, "kind": event.kind(), "at": event.at,
            "is_fine": event.is_fine(), "text": event.to_string(),
        });
        self.board.send_modify(|board| {
            let (first, events) = &mut board.events;
            let events = Arc::make_mut(events);
            events.push(value);
            if events.len() > EVENTS {
                events.remove(0);
                *first += 1;
            }
        });
    }

    /// The next command of a page, if there is one.
    #[must_use]
    pub fn next_command(&self) -> Option<Asked> {
        self.commands.try_recv().ok()
    }

    /// The next command of a page; waits at most so long.
    #[must_use]
    pub fn wait_command(&self, wait: Duration) -> Option<Asked> {
        self.commands.recv_timeout(wait).ok()
    }
}

impl Drop for ModuleServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_millis(500));
        }
    }
}

/// Refuses requests that come from elsewhere, and strangers at `/v1`.
async fn guarded(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    if let Err(why) = desk.guard.check_place(request.headers()) {
        return refused(StatusCode::FORBIDDEN, &why);
    }
    if request.uri().path().starts_with("/v1/") {
        let token = Guard::token_of(request.headers(), request.uri().query());
        if let Err(why) = desk.guard.check_token(token) {
            return refused(StatusCode::UNAUTHORIZED, &why);
        }
    }
    next.run(request).await
}

fn refused(status: StatusCode, why: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{why}\n")).into_response()
}

async fn scenery(State(desk): State<Arc<Desk>>) -> Response {
    let text = desk.board.borrow().scenery.to_string();
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], text).into_response()
}

async fn page(State(desk): State<Arc<Desk>>, headers: HeaderMap, request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|v| v.to_str().ok());
    page::get(&path, accepted.is_some_and(|v| v.contains("gzip")), desk.web.as_deref())
}

async fn open_link(State(desk): State<Arc<Desk>>, upgrade: WebSocketUpgrade) -> Response {
    if desk.pages.load(Ordering::Relaxed) >= MOST_PAGES {
        return refused(StatusCode::SERVICE_UNAVAILABLE, &format!("there are {MOST_PAGES} pages already"));
    }
    let upgrade = upgrade.max_message_size(MOST_BYTES).max_frame_size(MOST_BYTES);
    upgrade.on_upgrade(move |socket| async move {
        desk.pages.fetch_add(1, Ordering::Relaxed);
        serve_page(socket, &desk).await;
        desk.pages.fetch_sub(1, Ordering::Relaxed);
    })
}

/// One page, until it goes or does not keep up.
async fn serve_page(mut socket: WebSocket, desk: &Desk) {
    let mut board = desk.board.clone();
    board.mark_changed();
    let mut seen = 0;
    let mut next_scene = Instant::now();
    loop {
        let text = tokio::select! {
            changed = async { sleep_until(next_scene).await; board.changed().await } => {
                if changed.is_err() {
                    return;
                }
                next_scene = Instant::now() + PACE;
                let shown = board.borrow_and_update().clone();
                if !tell_events(&mut socket, &shown, &mut seen).await {
                    return;
                }
                shown.scenery.to_string()
            }
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => asked(desk, text.as_str()).await.to_string(),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
        };
        if !send(&mut socket, text).await {
            return;
        }
    }
}

async fn tell_events(socket: &mut WebSocket, board: &Board, seen: &mut u64) -> bool {
    let (first, events) = &board.events;
    let skip = usize::try_from(seen.saturating_sub(*first)).unwrap_or(usize::MAX);
    let new: Vec<&Value> = events.iter().skip(skip).collect();
    *seen = first + events.len() as u64;
    new.is_empty() || send(socket, json!({ "is": "events", "lines": new }).to_string()).await
}

async fn send(socket: &mut WebSocket, text: String) -> bool {
    matches!(timeout(PATIENCE, socket.send(Message::Text(text.into()))).await, Ok(Ok(())))
}

/// A command of a page: `{"id": 1, "line": "0 3 2 60"}`.
async fn asked(desk: &Desk, text: &str) -> Value {
    let message: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let how = match message["line"].as_str() {
        Some(line) => command(desk, line).await,
        None => Err("a message has a `line`".into()),
    };
    match how {
        Ok(()) => json!({ "is": "answer", "id": message["id"], "ok": true }),
        Err(why) => json!({ "is": "answer", "id": message["id"], "ok": false, "why": why }),
    }
}

async fn command(desk: &Desk, line: &str) -> Result<(), String> {
    let parsed = Line::parse(line.as_bytes()).map_err(|e| e.to_string())?;
    if parsed.sender != 0 {
        return Err("commands come from the controller: sender 0".into());
    }
    let (reply, answer) = oneshot::channel();
    let asked = Asked { line: line.to_owned(), reply };
    desk.commands.try_send(asked).map_err(|_| "the chain has too much to do, or has ended")?;
    match timeout(PATIENCE, answer).await {
        Ok(Ok(how)) => how,
        Ok(Err(_)) => Err("the chain has ended".into()),
        Err(_) => Err("the chain has too much to do: it has not taken this yet".into()),
    }
}
