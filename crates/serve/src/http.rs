//! The doors: which address leads where, and who may come in.

use crate::guard::Guard;
use crate::link;
use crate::message;
use crate::page;
use crate::runner::{Command, Recorded};
use crate::server::Desk;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{ConnectInfo, DefaultBodyLimit, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use swarmyard_record::Recording;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};

/// Most bytes of a message that is still read to its end, so that it can be refused in words.
const MOST_READ: usize = 4 * message::MOST_BYTES;

/// Most bytes of a recording that is sent here.
pub(crate) const MOST_UPLOAD: usize = 256 << 20;

/// What a handler needs.
#[derive(Clone)]
struct Shared {
    desk: Arc<Desk>,
    /// Held by every link: when the last is gone, the server may go.
    alive: mpsc::Sender<()>,
}

/// How long displays have to hear that the server ends.
const LAST: Duration = Duration::from_secs(3);

/// Serves connections until the runner is gone.
pub(crate) async fn serve(
    listener: TcpListener,
    desk: Arc<Desk>,
    end: watch::Sender<bool>,
    runner_done: oneshot::Receiver<()>,
) {
    let (alive, mut gone) = mpsc::channel(1);
    let shared = Shared { desk, alive };
    let router = Router::new()
        .route("/v1/link", get(open_link))
        .route("/v1/version", get(version))
        .route("/v1/relay", get(relay))
        .route("/v1/status", get(status))
        .route("/v1/scenario", get(scenario))
        .route("/v1/recording.mcap", get(recording))
        .route("/v1/recording", post(upload).layer(DefaultBodyLimit::max(MOST_UPLOAD)))
        .fallback(page)
        .layer(from_fn_with_state(shared.clone(), guarded))
        .with_state(shared);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    // Small messages go at once: waiting to send more together would cost every answer 40 ms.
    let listener = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    let mut ended = end.subscribe();
    let over = async move {
        let _ = runner_done.await;
        end.send_replace(true);
    };
    // Browsers keep connections open on which they never ask for anything: those are not waited for.
    let late = async {
        let _ = ended.changed().await;
        tokio::time::sleep(LAST).await;
    };
    tokio::select! {
        // It never fails: errors of single connections are theirs.
        _ = axum::serve(listener, service).with_graceful_shutdown(over) => {}
        () = late => {}
    }
    // Links hold a sender each; the router's own went with it.
    let _ = tokio::time::timeout(LAST, gone.recv()).await;
}

/// Refuses requests that come from elsewhere, and strangers at `/v1`.
async fn guarded(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let guard = &shared.desk.guard;
    if let Err(why) = guard.check_place(request.headers()) {
        return refused(StatusCode::FORBIDDEN, &why);
    }
    let path = request.uri().path();
    // A link says its token in `hello`.
    if path.starts_with("/v1/") && path != "/v1/link" {
        let token = Guard::token_of(request.headers(), request.uri().query());
        if let Err(why) = guard.check_token(token) {
            return refused(StatusCode::UNAUTHORIZED, &why);
        }
    }
    next.run(request).await
}

fn refused(status: StatusCode, why: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{why}\n")).into_response()
}

async fn open_link(
    State(shared): State<Shared>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let local = peer.ip().to_canonical().is_loopback();
    let upgrade = upgrade.max_message_size(MOST_READ).max_frame_size(MOST_READ);
    upgrade.on_upgrade(move |socket| async move {
        let Shared { desk, alive } = shared;
        link::serve(socket, local, desk).await;
        drop(alive);
    })
}

fn text(kind: &'static str, text: String) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")], text).into_response()
}

const JSON: &str = "application/json";

async fn version() -> Response {
    let build = swarmyard_engine::build_id();
    text(JSON, json!({ "version": crate::PROTOCOL, "build": build }).to_string())
}

async fn status(State(shared): State<Shared>) -> Response {
    let status = shared.desk.shown.borrow().status.to_string();
    text(JSON, status)
}

/// Bytes in and out, where something is relayed.
async fn relay(State(shared): State<Shared>) -> Response {
    match &shared.desk.ledger {
        Some(ledger) => text(JSON, ledger.json().to_string()),
        None => refused(StatusCode::NOT_FOUND, "this is the server itself: nothing is relayed"),
    }
}

async fn scenario(State(shared): State<Shared>) -> Response {
    let document = shared.desk.shown.borrow().text.to_string();
    text("application/toml; charset=utf-8", document)
}

/// The run so far, as a recording.
async fn recording(State(shared): State<Shared>) -> Response {
    let (reply, answer) = oneshot::channel();
    shared.desk.tell(Command::Recording(reply));
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    match answer.await {
        Ok(Ok(Recorded::File(parcel))) => {
            // Said although the body comes in pieces: who reads it knows whether it was cut off.
            let length = (header::CONTENT_LENGTH, HeaderValue::from(parcel.length));
            ([kind, length], Body::from_stream(parcel.pieces())).into_response()
        }
        Ok(Ok(Recorded::Bytes(bytes))) => ([kind], bytes).into_response(),
        Ok(Err(why)) => refused(StatusCode::CONFLICT, &why),
        Err(_) => refused(StatusCode::SERVICE_UNAVAILABLE, "the server ends"),
    }
}

/// A recording to open, from the console.
async fn upload(State(shared): State<Shared>, RawQuery(query): RawQuery, body: Bytes) -> Response {
    let key = query.as_deref().unwrap_or("").split('&').find_map(|pair| pair.strip_prefix("key="));
    let key = key.unwrap_or("").to_owned();
    let bytes = body.clone();
    let opened = tokio::task::spawn_blocking(move || Recording::from_bytes(body.to_vec())).await;
    let recording = match opened {
        Ok(Ok(recording)) => Box::new(recording),
        Ok(Err(e)) => return refused(StatusCode::BAD_REQUEST, &e.to_string()),
        Err(_) => return refused(StatusCode::INTERNAL_SERVER_ERROR, "it could not be read"),
    };
    let (reply, answer) = oneshot::channel();
    shared.desk.tell(Command::Upload { key, recording, bytes, reply });
    match answer.await {
        Ok(Ok(value)) => text(JSON, value.to_string()),
        Ok(Err(refusal)) if refusal.code == "not-console" => refused(StatusCode::FORBIDDEN, &refusal.message),
        Ok(Err(refusal)) => refused(StatusCode::BAD_REQUEST, &refusal.message),
        Err(_) => refused(StatusCode::SERVICE_UNAVAILABLE, "the server ends"),
    }
}

async fn page(State(shared): State<Shared>, headers: HeaderMap, request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let is_gzip_fine = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|v| v.to_str().ok())
        .is_some_and(|v| v.contains("gzip"));
    page::get(&path, is_gzip_fine, shared.desk.web.as_deref())
}
