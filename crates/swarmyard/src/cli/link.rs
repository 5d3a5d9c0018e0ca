//! A connection to a server: what `watch` and `ctl` share, and what any display does.
//!
//! In: an address. Out: messages as they come, and replies to requests. The newest `status`, `control` and
//! `world` are kept. *Invariant:* nothing is tried twice: who wants to connect again says so.

use super::fail::{Exit, Failure};
use clap::Args;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};
use swarmyard::base::Diagnostic;
use tungstenite::client::client_with_config;
use tungstenite::handshake::HandshakeError;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{ClientRequestBuilder, Error, Message, WebSocket};

/// The version of the protocol that is spoken here.
const VERSION: u64 = 1;
/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// A message longer than this is none of ours.
const MOST_BYTES: usize = 256 << 20;
/// Messages kept for later while a reply is waited for; older ones go.
const MOST_KEPT: usize = 10_000;

/// Which server.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServerArgs {
    /// Address of the server, as `swarmyard serve` prints it
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:7077/", value_parser = Address::parse)]
    url: Address,
    /// What a server beyond this machine asks for; also taken from the address (?token=…)
    #[arg(long, value_name = "TOKEN", global = true)]
    token: Option<String>,
}

impl ServerArgs {
    /// The server at an address, as it prints it.
    pub(crate) fn at(url: &str) -> Result<ServerArgs, String> {
        Ok(ServerArgs { url: Address::parse(url)?, token: None })
    }
}

/// Host and port of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    host: String,
    port: u16,
    /// What the server wants to be told.
    pub(crate) token: Option<String>,
}

impl Address {
    /// `host:port`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Reads `http://127.0.0.1:7077/`, `127.0.0.1:7077` or `:7077`.
    pub(crate) fn parse(text: &str) -> Result<Address, String> {
        let wrong = || format!("`{text}` is no address of a server: write it as http://127.0.0.1:7077/");
        if text.starts_with("https:") || text.starts_with("wss:") {
            return Err("connections are not encrypted here: use http://, through a tunnel if need be".into());
        }
        let bare = text.strip_prefix("http://").or_else(|| text.strip_prefix("ws://")).unwrap_or(text);
        let (place, rest) = bare.split_at(bare.find(['/', '?']).unwrap_or(bare.len()));
        let token = rest.split(['?', '&']).find_map(|pair| pair.strip_prefix("token=")).map(str::to_owned);
        let (host, port) = place.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]_".contains(c);
        if !host.chars().all(plain) {
            return Err(wrong());
        }
        let host = if host.is_empty() { "127.0.0.1" } else { host };
        Ok(Address { host: host.to_owned(), port, token })
    }
}

/// Something the server said.
#[derive(Debug)]
pub(crate) enum Said {
    /// A message in words.
    Words(Value),
    /// A frame.
    Frame(Vec<u8>),
    /// Nothing in the time that was given, or nothing worth telling.
    Nothing,
    /// It said goodbye, and why; or just went away.
    Gone(Option<String>),
}

/// Why a request was refused.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Value);

/// A connection.
pub(crate) struct Link {
    socket: WebSocket<TcpStream>,
    /// This display's number.
    pub(crate) you: u64,
    /// The newest `status`.
    pub(crate) status: Value,
    /// The newest `control`.
    pub(crate) control: Value,
    /// What came while a reply was waited for.
    kept: VecDeque<Said>,
    last_id: u64,
    goodbye: Option<String>,
}

impl Link {
    /// Connects and says hello. `console` asks for control if nobody has it.
    pub(crate) fn open(server: &ServerArgs, name: &str, console: bool) -> Result<Link, Failure> {
        let token = server.token.as_ref().or(server.url.token.as_ref());
        let place = server.url.place();
        let stream = dial(&place)?;
        let uri = format!("ws://{place}/v1/link").parse().map_err(|e| unreachable(&place, &e))?;
        let mut request = ClientRequestBuilder::new(uri);
        if let Some(token) = token {
            request = request.with_header("Authorization", format!("Bearer {token}"));
        }
        let config =
            WebSocketConfig::default().max_message_size(Some(MOST_BYTES)).max_frame_size(Some(MOST_BYTES));
        let (socket, _) =
            client_with_config(request, stream, Some(config)).map_err(|e| refused(&place, e))?;
        let none = Value::Null;
        let (status, control) = (none.clone(), none);
        let kept = VecDeque::new();
        let mut link = Link { socket, you: 0, status, control, kept, last_id: 0, goodbye: None };
        let hello =
            json!({ "do": "hello", "version": VERSION, "name": name, "console": console, "token": token });
        link.send(&hello)?;
        link.be_welcomed(&place)?;
        Ok(link)
    }

    /// Waits until the server has told who we are, how the run stands and who holds control.
    fn be_welcomed(&mut self, place: &str) -> Result<(), Failure> {
        let end = Instant::now() + PATIENCE;
        while self.you == 0 || self.status.is_null() || self.control.is_null() {
            match self.read(end.saturating_duration_since(Instant::now()))? {
                Said::Words(words) if words["is"] == "welcome" => {
                    self.you = words["you"].as_u64().unwrap_or(0);
                }
                Said::Words(words) if words["is"] == "reply" && !words["error"].is_null() => {
                    return Err(Refused(words["error"].clone()).into());
                }
                Said::Gone(why) => {
                    let why = why.unwrap_or_else(|| "it closed the connection".into());
                    return Err(Failure::new(
                        Exit::Failed,
                        "refused",
                        format!("the server at `{place}` says: {why}"),
                    ));
                }
                Said::Nothing if Instant::now() >= end => {
                    return Err(unreachable(place, &"it does not say hello"));
                }
                Said::Nothing => {}
                said => self.keep(said),
            }
        }
        Ok(())
    }

    /// The next message; those that were kept come first.
    pub(crate) fn next(&mut self, wait: Duration) -> Result<Said, Failure> {
        match self.kept.pop_front() {
            Some(said) => Ok(said),
            None => self.read(wait),
        }
    }

    /// Asks for something and waits for the reply; everything else is kept for [`Link::next`].
    pub(crate) fn ask(&mut self, mut request: Value) -> Result<Result<Value, Refused>, Failure> {
        self.last_id += 1;
        request["id"] = json!(self.last_id);
        self.send(&request)?;
        let end = Instant::now() + PATIENCE;
        loop {
            match self.read(end.saturating_duration_since(Instant::now()))? {
                Said::Words(mut words) if words["is"] == "reply" && words["id"] == self.last_id => {
                    return Ok(match words["error"].take() {
                        Value::Null => Ok(words["ok"].take()),
                        error => Err(Refused(error)),
                    });
                }
                // What ends the server ends the connection; that is an answer too.
                Said::Gone(_) if request["do"] == "exit" => return Ok(Ok(json!({}))),
                Said::Gone(why) => return Err(lost(why)),
                Said::Nothing if Instant::now() < end => {}
                Said::Nothing => {
                    let order = request["do"].as_str().unwrap_or_default();
                    let what = format!("the server does not answer `{order}`");
                    return Err(
                        Failure::new(Exit::Failed, "silent", what).help("whether it was done is not known")
                    );
                }
                said => self.keep(said),
            }
        }
    }

    /// Whether this display holds control.
    pub(crate) fn is_console(&self) -> bool {
        self.control["holder"]["id"] == self.you
    }

    /// Waits until `done` holds; answers whether it did in time.
    pub(crate) fn wait_until(
        &mut self,
        time: Duration,
        mut done: impl FnMut(&Link) -> bool,
    ) -> Result<bool, Failure> {
        let end = Instant::now() + time;
        while !done(self) {
            let left = end.saturating_duration_since(Instant::now());
            match self.read(left)? {
                Said::Gone(why) => return Err(lost(why)),
                Said::Nothing if left.is_zero() => return Ok(false),
                Said::Nothing => {}
                said => self.keep(said),
            }
        }
        Ok(true)
    }

    /// Leaves as one should: the server has read everything before it.
    pub(crate) fn close(mut self) {
        // It may be gone already; then there is nobody to take leave of.
        let _ = self.socket.close(None);
        let end = Instant::now() + Duration::from_secs(1);
        while Instant::now() < end
            && matches!(self.read(Duration::from_millis(200)), Ok(Said::Words(_) | Said::Frame(_)))
        {}
    }

    fn keep(&mut self, said: Said) {
        if self.kept.len() >= MOST_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(said);
    }

    fn send(&mut self, words: &Value) -> Result<(), Failure> {
        self.socket.send(Message::text(words.to_string())).map_err(|e| lost(Some(e.to_string())))
    }

    fn read(&mut self, wait: Duration) -> Result<Said, Failure> {
        // A wait of nothing means for ever to the system.
        let wait = wait.max(Duration::from_millis(1));
        self.socket.get_ref().set_read_timeout(Some(wait)).map_err(|e| lost(Some(e.to_string())))?;
        match self.socket.read() {
            Ok(Message::Text(text)) => {
                let words: Value = serde_json::from_str(&text)
                    .map_err(|e| lost(Some(format!("the server says something that is no JSON: {e}"))))?;
                match words["is"].as_str() {
                    Some("status") => self.status = words.clone(),
                    Some("control") => self.control = words.clone(),
                    Some("goodbye") => self.goodbye = words["why"].as_str().map(str::to_owned),
                    _ => {}
                }
                Ok(Said::Words(words))
            }
            Ok(Message::Binary(bytes)) => Ok(Said::Frame(bytes.into())),
            Ok(_) => Ok(Said::Nothing),
            Err(Error::Io(e)) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Ok(Said::Nothing)
            }
            Err(_) => Ok(Said::Gone(self.goodbye.take())),
        }
    }
}

fn dial(place: &str) -> Result<TcpStream, Failure> {
    let all = place.to_socket_addrs().map_err(|e| unreachable(place, &e))?;
    let mut last = String::from("there is no such place");
    for address in all {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                // Requests are small and waited for. A system that cannot do this still works.
                let _ = stream.set_nodelay(true);
                // A server that is there but silent must not hold the command.
                let limits =
                    stream.set_read_timeout(Some(PATIENCE)).and(stream.set_write_timeout(Some(PATIENCE)));
                limits.map_err(|e| unreachable(place, &e))?;
                return Ok(stream);
            }
            Err(e) => last = e.to_string(),
        }
    }
    Err(unreachable(place, &last))
}

fn unreachable(place: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Failed, "no-server", format!("there is no server at `{place}`: {why}"))
        .help("start one: swarmyard serve FILE")
}

fn refused<R: tungstenite::handshake::HandshakeRole>(place: &str, e: HandshakeError<R>) -> Failure {
    let HandshakeError::Failure(Error::Http(answer)) = e else {
        return unreachable(place, &"it does not speak this protocol");
    };
    let said = answer.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    let said: String = said.trim().chars().take(300).collect();
    let what = format!("the server at `{place}` refuses the connection ({}): {said}", answer.status());
    Failure::new(Exit::Failed, "refused", what).help("a server beyond this machine needs its --token")
}

/// The connection is no more.
pub(crate) fn lost(why: Option<String>) -> Failure {
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    Failure::new(Exit::Failed, "lost", format!("the connection to the server is lost{why}"))
}

/// A refusal in words, with every problem that was found.
impl From<Refused> for Failure {
    fn from(Refused(error): Refused) -> Failure {
        let text = |v: &Value| v.as_str().map(str::to_owned);
        let message = text(&error["message"]).unwrap_or_else(|| "it could not be done".into());
        let (code, exit) = match error["code"].as_str() {
            Some("malformed") => ("malformed", Exit::Usage),
            Some("not-console") => ("not-console", Exit::Failed),
            Some("stale") => ("stale", Exit::Failed),
            Some("problems") => ("problems", Exit::Scenario),
            _ => ("refused", Exit::Failed),
        };
        let problems = error["problems"].as_array().map_or(&[][..], Vec::as_slice);
        // The message of a text with problems is that of the first one.
        if exit != Exit::Scenario || problems.is_empty() {
            let mut d = Diagnostic::error(code, message);
            d.help = text(&error["help"]);
            return Failure::one(exit, d);
        }
        let told = problems.iter().map(|p| {
            let place = match (p["file"].as_str(), p["line"].as_u64(), p["column"].as_u64()) {
                (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
                _ => String::new(),
            };
            let mut d = Diagnostic::error(code, format!("{place}{}", p["message"].as_str().unwrap_or("?")));
            d.help = text(&p["help"]);
            d.path = text(&p["path"]).unwrap_or_default();
            d
        });
        let mut failure = Failure::new(exit, code, "");
        failure.problems.0 = told.collect();
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_in_many_ways() {
        let local = |port, token: Option<&str>| {
            Ok(Address { host: "127.0.0.1".into(), port, token: token.map(str::to_owned) })
        };
        assert_eq!(Address::parse("http://127.0.0.1:7077/"), local(7077, None));
        assert_eq!(Address::parse("ws://127.0.0.1:1/v1/link"), local(1, None));
        assert_eq!(Address::parse(":7078"), local(7078, None));
        assert_eq!(Address::parse("127.0.0.1:7077/?a=b&token=x1"), local(7077, Some("x1")));
        assert_eq!(Address::parse("[::1]:80").map(|a| a.host), Ok("[::1]".into()));
        for wrong in ["", "start", "host", "host:port", "host:99999", "a b:1", "https://a:1/", "x@y:1"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_refusal_with_problems_names_each_of_them() {
        let problem = |line: u64| json!({ "file": "a.toml", "line": line, "column": 3, "message": "wrong" });
        let error = json!({ "code": "problems", "message": "wrong", "problems": [problem(1), problem(2)] });
        let failure = Failure::from(Refused(error));
        assert_eq!(failure.exit, Exit::Scenario);
        let told: Vec<&str> = failure.problems.0.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(told, ["a.toml:1:3: wrong", "a.toml:2:3: wrong"]);
    }
}
