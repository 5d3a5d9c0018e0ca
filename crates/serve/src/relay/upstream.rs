//! The one connection to the server, and single files of it.
//!
//! In: where the server is. Out: what it says, message by message ([`Heard`]), and a way to say something to
//! it. Every length is bounded before memory is taken; a server that falls silent, or does not listen, is gone.

use super::ledger::Ledger;
use crate::link::wire_bytes;
use axum::body::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// How long a server may take to let us in.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// A server says something every five seconds, if only that it is there.
const SILENCE: Duration = Duration::from_secs(15);
/// A message longer than this is none of ours.
const MOST_BYTES: usize = 256 << 20;
/// Messages that are on their way to the server at once: one for each display, and what the relay says itself.
const OUT: usize = 1024;
/// Messages that were read and not yet looked at; after that the server has to wait, and leaves out frames.
const IN: usize = 64;
/// Most bytes of the head of an answer to HTTP.
const MOST_HEAD: usize = 64 << 10;
/// How long a whole file may take.
const FILE: Duration = Duration::from_secs(120);

/// Where the server is.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// `host:port`.
    pub(super) place: String,
    pub(super) token: Option<String>,
}

/// What the server says.
pub(super) enum Heard {
    Text(Utf8Bytes),
    Frame(Bytes),
    /// Nothing comes any more, and why.
    Gone(String),
}

/// The connection.
pub(super) struct Upstream {
    pub(super) heard: mpsc::Receiver<Heard>,
    out: mpsc::Sender<Message>,
    reader: JoinHandle<()>,
}

type Socket = WebSocketStream<TcpStream>;

impl Upstream {
    /// Connects and says hello.
    pub(super) async fn connect(target: &Target, ledger: &Arc<Ledger>) -> Result<Upstream, String> {
        let silent = || format!("the server at `{}` does not answer", target.place);
        let mut socket = timeout(PATIENCE, dial(target)).await.map_err(|_| silent())??;
        let hello = json!({
            "do": "hello", "version": crate::PROTOCOL, "name": "relay", "console": false, "token": target.token,
        });
        socket.send(Message::text(hello.to_string())).await.map_err(|e| lost(&e))?;
        let (sink, stream) = socket.split();
        let (out, outgoing) = mpsc::channel(OUT);
        let (tell, heard) = mpsc::channel(IN);
        // Two tasks: a server that waits until it is read may not keep us from reading.
        tokio::spawn(write(sink, outgoing));
        let reader = tokio::spawn(read(stream, tell, Arc::clone(ledger)));
        Ok(Upstream { heard, out, reader })
    }

    /// Says something to the server.
    ///
    /// # Errors
    /// When it does not listen.
    pub(super) fn say(&self, text: String) -> Result<(), String> {
        let deaf = |_| "the server does not take what it is told".to_owned();
        self.out.try_send(Message::text(text)).map_err(deaf)
    }

    /// Ends the connection, and says why.
    pub(super) fn end(self, why: &str) {
        let reason: String = why.chars().take(40).collect();
        let close = CloseFrame { code: CloseCode::Policy, reason: reason.into() };
        let _ = self.out.try_send(Message::Close(Some(close)));
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn dial(target: &Target) -> Result<Socket, String> {
    let place = &target.place;
    let stream = TcpStream::connect(place).await;
    let stream = stream.map_err(|e| format!("there is no server at `{place}`: {e}"))?;
    // Requests are small and waited for. A system that cannot do this still works.
    let _ = stream.set_nodelay(true);
    let request = format!("ws://{place}/v1/link").into_client_request();
    let request = request.map_err(|e| format!("`{place}` is no address of a server: {e}"))?;
    let config =
        WebSocketConfig::default().max_message_size(Some(MOST_BYTES)).max_frame_size(Some(MOST_BYTES));
    match client_async_with_config(request, stream, Some(config)).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(answer)) => {
            let said = answer.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            let said: String = said.trim().chars().take(300).collect();
            Err(format!("the server at `{place}` refuses the connection ({}): {said}", answer.status()))
        }
        Err(e) => Err(format!("what is at `{place}` is no server of ours: {e}")),
    }
}

fn lost(why: &dyn std::fmt::Display) -> String {
    format!("the connection to the server is lost: {why}")
}

async fn read(mut stream: SplitStream<Socket>, tell: mpsc::Sender<Heard>, ledger: Arc<Ledger>) {
    loop {
        let heard = match timeout(SILENCE, stream.next()).await {
            Err(_) => Heard::Gone("nothing was heard of the server for fifteen seconds".into()),
            Ok(None) => Heard::Gone(lost(&"it was closed")),
            Ok(Some(Err(e))) => Heard::Gone(lost(&e)),
            Ok(Some(Ok(message))) => {
                ledger.received(wire_bytes(message.len()));
                match message {
                    Message::Text(text) => Heard::Text(text),
                    Message::Binary(bytes) => Heard::Frame(bytes),
                    Message::Close(_) => Heard::Gone(lost(&"the server closed it")),
                    _ => continue,
                }
            }
        };
        let is_over = matches!(heard, Heard::Gone(_));
        if tell.send(heard).await.is_err() || is_over {
            return;
        }
    }
}

async fn write(mut sink: SplitSink<Socket, Message>, mut outgoing: mpsc::Receiver<Message>) {
    while let Some(message) = outgoing.recv().await {
        match timeout(SILENCE, sink.send(message)).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
    // The other side may be gone already; then there is nobody to take leave of.
    let _ = timeout(Duration::from_secs(1), sink.close()).await;
}

/// Asks the server for a file, or sends it one. Answers with the status and the body, of at most `most` bytes.
pub(super) async fn exchange(
    target: &Target,
    (method, path): (&str, &str),
    body: &[u8],
    most: usize,
    ledger: &Ledger,
) -> Result<(u16, Bytes), String> {
    let asked = async {
        let mut stream = TcpStream::connect(&target.place).await?;
        let mut head = format!("{method} {path} HTTP/1.0\r\nHost: {}\r\n", target.place);
        if let Some(token) = &target.token {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        head += &format!("Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body).await?;
        let mut whole = Vec::new();
        stream.take((most + MOST_HEAD) as u64).read_to_end(&mut whole).await?;
        Ok::<_, std::io::Error>(whole)
    };
    let whole = match timeout(FILE, asked).await {
        Ok(Ok(whole)) => whole,
        Ok(Err(e)) => return Err(lost(&e)),
        Err(_) => return Err("the server takes too long".into()),
    };
    ledger.received(whole.len() as u64);
    parse_answer(whole).ok_or_else(|| "the answer of the server is not whole".into())
}

/// Splits an answer to HTTP; `None` when it is none, or was cut off.
fn parse_answer(whole: Vec<u8>) -> Option<(u16, Bytes)> {
    let searched = &whole[..whole.len().min(MOST_HEAD)];
    let end = searched.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&whole[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    let length = lines.filter_map(|line| line.split_once(':'));
    let mut length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let said: usize = length.next()?.1.trim().parse().ok()?;
    let body = Bytes::from(whole).slice(end + 4..);
    (body.len() == said).then_some((status, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_was_cut_off_is_none() {
        let whole = b"HTTP/1.0 200 OK\r\nContent-length: 3\r\nx: y\r\n\r\nabc";
        assert_eq!(parse_answer(whole.to_vec()), Some((200, Bytes::from_static(b"abc"))));
        for wrong in [
            &whole[..whole.len() - 1],
            b"",
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/2 200\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 two\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        ] {
            assert_eq!(parse_answer(wrong.to_vec()), None);
        }
    }
}
