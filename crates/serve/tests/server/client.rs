//! A display for tests: says things, and waits for what must come.

use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use swarmyard_serve::frame::{Bodies, Kept, Sort};
use swarmyard_serve::{Options, Server};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

/// Longer than anything takes; a test that waits so long has failed.
const FOREVER: Duration = Duration::from_secs(60);

/// A folder for one test, gone with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("swarmyard-serve-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("worlds")).unwrap();
        std::fs::write(path.join("swarmyard.project"), "").unwrap();
        Folder(path)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Three robots that wander among walls.
pub(crate) const WORLD: &str = r#"# Three wanderers.
format = 1
title = "three"

[run]
quantum = "50ms"
duration = "600s"

[world]
min = [-3, -3]
max = [3, 3]

[type.scout]
radius = "10cm"

[[type.scout.part]]
name = "drive"
class = "diff-drive"

[[type.scout.part]]
name = "sonar"
class = "range-rays"
rays = 5
start = "10cm"
range = "2m"

[type.scout.controller]
class = "wander"

[[robot]]
name = "r1"
type = "scout"
at = [0, 0, 0] # in the middle

[[robot]]
name = "r2"
type = "scout"
at = [1, 1, "90deg"]

[[robot]]
name = "r3"
type = "scout"
at = [-1, 1, "45deg"]
"#;

pub(crate) fn options(file: &Path) -> Options {
    Options { file: Some(file.to_owned()), port: 0, threads: 1, ..Options::default() }
}

/// A server with [`WORLD`], in a folder of its own.
pub(crate) struct Place {
    pub(crate) server: Option<Server>,
    pub(crate) folder: Folder,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place::with(WORLD)
    }

    pub(crate) fn with(world: &str) -> Place {
        let folder = Folder::new();
        let file = folder.write("worlds/world.toml", world);
        Place { server: Some(Server::start(options(&file)).unwrap()), folder }
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// A display that has control.
    pub(crate) fn console(&self) -> Display {
        let display = self.display("console");
        assert_eq!(display.control["holder"]["id"], display.id);
        display
    }

    /// A display that would take control if it were free.
    pub(crate) fn display(&self, name: &str) -> Display {
        Display::join(self.server(), &json!({ "do": "hello", "version": 1, "name": name, "console": true }))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

/// One end of a connection, before anything was said.
pub(crate) fn connect(server: &Server) -> WebSocket<TcpStream> {
    connect_to(server.address())
}

/// The same at an address.
pub(crate) fn connect_to(address: SocketAddr) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(FOREVER)).unwrap();
    stream.set_nodelay(true).unwrap();
    let request = format!("ws://{address}/v1/link").into_client_request().unwrap();
    tungstenite::client(request, stream).map_err(|e| e.to_string()).unwrap().0
}

/// Reads until the server says goodbye; answers why.
pub(crate) fn goodbye(socket: &mut WebSocket<TcpStream>) -> String {
    loop {
        match socket.read().expect("the server says goodbye before it closes") {
            Message::Text(text) => {
                let message: Value = serde_json::from_str(&text).unwrap();
                if message["is"] == "goodbye" {
                    return message["why"].as_str().unwrap().to_owned();
                }
            }
            Message::Close(_) => panic!("the connection was closed without a reason"),
            _ => {}
        }
    }
}

/// A display and what it knows.
pub(crate) struct Display {
    pub(crate) socket: WebSocket<TcpStream>,
    pub(crate) id: u64,
    pub(crate) key: String,
    last_id: u64,
    pub(crate) status: Value,
    pub(crate) control: Value,
    pub(crate) world: Value,
    pub(crate) problems: Vec<Value>,
    pub(crate) lines: Vec<Value>,
    pub(crate) inspect: Value,
    pub(crate) rows: Vec<Value>,
    /// Lines about messages.
    pub(crate) comms: Vec<Value>,
    pub(crate) links: Value,
    pub(crate) kept: Kept,
    /// Bodies and marks, in the order in which they came.
    pub(crate) kinds: Vec<u8>,
}

impl Display {
    /// Joins, and waits until it has been told everything that is told first.
    pub(crate) fn join(server: &Server, hello: &Value) -> Display {
        Display::join_at(server.address(), hello)
    }

    /// The same at an address.
    pub(crate) fn join_at(address: SocketAddr, hello: &Value) -> Display {
        let mut display = Display {
            socket: connect_to(address),
            id: 0,
            key: String::new(),
            last_id: 0,
            status: Value::Null,
            control: Value::Null,
            world: Value::Null,
            problems: Vec::new(),
            lines: Vec::new(),
            inspect: Value::Null,
            rows: Vec::new(),
            comms: Vec::new(),
            links: Value::Null,
            kept: Kept::default(),
            kinds: Vec::new(),
        };
        display.socket.send(Message::text(hello.to_string())).unwrap();
        let mut order = Vec::new();
        while order.last().is_none_or(|is| is != "problems") {
            let message = display.next().unwrap_or(json!({ "is": "frame" }));
            order.push(message["is"].as_str().unwrap().to_owned());
        }
        assert_eq!(order, ["welcome", "status", "control", "world", "events", "problems"]);
        display
    }

    /// Takes the next message; answers it if it is text.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let text = match self.socket.read().expect("there is a next message") {
            Message::Text(text) => text,
            Message::Binary(bytes) => {
                self.kinds.push(bytes[0]);
                self.kept.take(&bytes).unwrap();
                return None;
            }
            _ => return None,
        };
        let message: Value = serde_json::from_str(&text).unwrap();
        match message["is"].as_str().unwrap() {
            "welcome" => {
                assert_eq!(message["version"], 1);
                self.id = message["you"].as_u64().unwrap();
                self.key = message["key"].as_str().unwrap().to_owned();
            }
            "status" => self.status = message.clone(),
            "control" => self.control = message.clone(),
            "world" => self.world = message.clone(),
            "problems" => {
                self.problems.retain(|p| p["from"] != message["from"]);
                self.problems.push(message.clone());
            }
            "events" => self.lines.extend(message["lines"].as_array().unwrap().iter().cloned()),
            "inspect" => self.inspect = message.clone(),
            "samples" => self.rows.extend(message["rows"].as_array().unwrap().iter().cloned()),
            "comms" => self.comms.extend(message["lines"].as_array().unwrap().iter().cloned()),
            "links" => self.links = message.clone(),
            "reply" | "goodbye" => {}
            other => panic!("what is `{other}`?"),
        }
        Some(message)
    }

    /// Asks for something, and waits for the answer.
    pub(crate) fn ask(&mut self, request: Value) -> Result<Value, Value> {
        self.last_id += 1;
        let id = self.last_id;
        let mut request = request;
        request["id"] = json!(id);
        self.socket.send(Message::text(request.to_string())).unwrap();
        loop {
            let Some(message) = self.next() else { continue };
            if message["is"] == "reply" && message["id"] == id {
                return match message.get("ok") {
                    Some(ok) => Ok(ok.clone()),
                    None => Err(message["error"].clone()),
                };
            }
        }
    }

    /// Asks for something that must be granted.
    pub(crate) fn done(&mut self, request: Value) -> Value {
        let asked = request.to_string();
        self.ask(request).unwrap_or_else(|e| panic!("{asked} was refused: {e}"))
    }

    /// Asks for something that must be refused; answers the code.
    pub(crate) fn refused(&mut self, request: Value) -> String {
        let asked = request.to_string();
        match self.ask(request) {
            Ok(answer) => panic!("{asked} was granted: {answer}"),
            Err(error) => {
                assert!(!error["message"].as_str().unwrap().is_empty(), "{asked} was refused without words");
                error["code"].as_str().unwrap().to_owned()
            }
        }
    }

    /// Waits until something is true.
    pub(crate) fn until(&mut self, what: &str, is_true: impl Fn(&Display) -> bool) {
        let start = std::time::Instant::now();
        while !is_true(self) {
            assert!(start.elapsed() < FOREVER, "it never came: {what}; {}", self.status);
            self.next();
        }
    }

    /// Waits until the status says so.
    pub(crate) fn until_state(&mut self, state: &str) {
        self.until(state, |d| d.status["state"] == state);
    }

    /// Takes steps; answers the hash after them.
    pub(crate) fn step(&mut self, n: u64) -> String {
        let answer = self.done(json!({ "do": "step", "n": n }));
        assert_eq!(answer["left"], 0);
        self.hash_at(answer["stop"].as_u64().unwrap())
    }

    /// The hash at a stop, once that is shown.
    pub(crate) fn hash_at(&mut self, stop: u64) -> String {
        self.until("that stop", |d| d.status["stop"] == stop);
        self.status["hash"].as_str().unwrap().to_owned()
    }

    /// The bodies at a stop of the world as it is now, once they are shown.
    pub(crate) fn bodies_at(&mut self, stop: u64) -> &Bodies {
        self.until("that frame", |d| {
            let is_it = |b: &Bodies| b.head.stop == stop && d.world["revision"] == b.head.revision;
            d.kept.bodies.as_ref().is_some_and(is_it)
        });
        self.kept.bodies.as_ref().unwrap()
    }

    /// Waits for the next message of a sort.
    pub(crate) fn next_frame(&mut self, sort: Sort) {
        let (first, count) = match sort {
            Sort::Bodies => (1, 2),
            Sort::Marks => (3, 2),
            Sort::Grid => (5, 1),
        };
        let seen = self.kinds.len();
        self.until("a frame", |d| d.kinds[seen..].iter().any(|k| (first..first + count).contains(k)));
    }
}
