//! A server in a process of its own, displays that speak with it, and folders for both.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};
use swarmyard_serve::frame::{Bodies, Kept, Sort};
use tungstenite::client::client_with_config;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

/// How long anything may take on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server; it ends with this value, and its folder goes.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    folder: PathBuf,
}

impl Served {
    /// Serves a scenario, in a folder of the test's own.
    pub(crate) fn start(name: &str, scenario: &str) -> Served {
        Served::start_with(name, scenario, &["--port", "0"])
    }

    /// The same with arguments of its own.
    pub(crate) fn start_with(name: &str, scenario: &str, more: &[&str]) -> Served {
        Served::spawn(name, scenario, more, Stdio::inherit())
    }

    /// The same, and what it says to people.
    pub(crate) fn start_heard(name: &str, scenario: &str, more: &[&str]) -> (Served, BufReader<ChildStderr>) {
        let mut served = Served::spawn(name, scenario, more, Stdio::piped());
        let said = BufReader::new(served.child.stderr.take().unwrap());
        (served, said)
    }

    fn spawn(name: &str, scenario: &str, more: &[&str], stderr: Stdio) -> Served {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("displays-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("world.toml"), scenario).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_swarmyard"));
        command.args(["serve", "world.toml"]).args(more).current_dir(&folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Served { child, url, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The command with these words for this server, not started yet: `ctl pause` becomes `ctl URL pause`.
    pub(crate) fn command(&self, words: &str) -> Command {
        let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
        let mut command = Command::new(env!("CARGO_BIN_EXE_swarmyard"));
        command.arg(first).arg(&self.url).args(rest.split_whitespace());
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Runs the command; answers its exit code, what it printed, and what it said.
    #[track_caller]
    pub(crate) fn run(&self, words: &str) -> (i32, String, String) {
        told(&self.command(words).output().unwrap())
    }

    /// Runs the command, which must go well.
    #[track_caller]
    pub(crate) fn done(&self, words: &str) -> String {
        let (code, out, err) = self.run(words);
        assert_eq!(code, 0, "`{words}` said:\n{out}{err}");
        out
    }

    /// Waits until the server has ended by itself.
    pub(crate) fn ended(&mut self) -> bool {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Files and sockets that the server holds open.
    pub(crate) fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Bytes of memory that the server really uses.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Exit code, standard output and standard error.
pub(crate) fn told(o: &Output) -> (i32, String, String) {
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (o.status.code().unwrap_or(-1), text(&o.stdout), text(&o.stderr))
}

/// A display that understands everything.
pub(crate) struct Display {
    socket: WebSocket<TcpStream>,
    pub(crate) kept: Kept,
    pub(crate) status: Value,
    pub(crate) control: Value,
    pub(crate) you: Value,
    /// What was last said about workers.
    pub(crate) workers: Value,
    last_id: u64,
}

/// Connects a socket and says hello; nobody has listened to the answer.
pub(crate) fn connect(url: &str, name: &str, console: bool) -> WebSocket<TcpStream> {
    let place = url.trim_start_matches("http://").trim_end_matches('/');
    let stream = TcpStream::connect(place).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    let link = format!("ws://{place}/v1/link");
    let (mut socket, _) = client_with_config(link, stream, Some(config)).unwrap();
    let hello = json!({ "do": "hello", "version": 1, "name": name, "console": console });
    socket.send(Message::text(hello.to_string())).unwrap();
    socket
}

impl Display {
    /// Joins, and waits until the server has told how things stand.
    pub(crate) fn join(url: &str, name: &str, console: bool) -> Display {
        let socket = connect(url, name, console);
        let (status, control, you, workers) = (Value::Null, Value::Null, Value::Null, Value::Null);
        let mut display =
            Display { socket, kept: Kept::default(), status, control, you, workers, last_id: 0 };
        while [&display.status, &display.control, &display.you].contains(&&Value::Null) {
            display.hear();
        }
        display
    }

    /// Takes the next message: the moment it shows if it is a frame of bodies, and its words if it has some.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> (Option<&Bodies>, Value) {
        match self.socket.read() {
            Ok(Message::Text(text)) => {
                let words: Value = serde_json::from_str(&text).unwrap();
                match words["is"].as_str().unwrap() {
                    "status" => self.status = words.clone(),
                    "control" => self.control = words.clone(),
                    "workers" => self.workers = words.clone(),
                    "welcome" => self.you = words["you"].clone(),
                    _ => {}
                }
                (None, words)
            }
            Ok(Message::Binary(bytes)) => match self.kept.take(&bytes).unwrap() {
                Sort::Bodies => (self.kept.bodies.as_ref(), Value::Null),
                _ => (None, Value::Null),
            },
            Ok(_) => (None, Value::Null),
            Err(e) => panic!("the connection is gone: {e}"),
        }
    }

    /// Asks for something, which must be granted.
    #[track_caller]
    pub(crate) fn ask(&mut self, mut request: Value) -> Value {
        self.last_id += 1;
        request["id"] = json!(self.last_id);
        self.socket.send(Message::text(request.to_string())).unwrap();
        loop {
            let (_, words) = self.hear();
            if words["is"] == "reply" && words["id"] == self.last_id {
                assert!(words["error"].is_null(), "{request}: {words}");
                return words["ok"].clone();
            }
        }
    }

    /// Listens until the status is as wished.
    #[track_caller]
    pub(crate) fn until(&mut self, mut holds: impl FnMut(&Value) -> bool) -> &Value {
        let end = Instant::now() + PATIENCE;
        while !holds(&self.status) {
            assert!(Instant::now() < end, "it never came to that: {}", self.status);
            self.hear();
        }
        &self.status
    }

    /// Reads what is left; answers how many frames of bodies there were.
    pub(crate) fn drain(&mut self, patience: Duration) -> usize {
        self.socket.get_ref().set_read_timeout(Some(patience)).unwrap();
        let mut frames = 0;
        loop {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) => {
                    frames += usize::from(self.kept.take(&bytes) == Ok(Sort::Bodies))
                }
                Ok(_) => {}
                Err(Error::Io(_) | Error::ConnectionClosed | Error::AlreadyClosed | Error::Protocol(_)) => {
                    return frames;
                }
                Err(e) => panic!("{e}"),
            }
        }
    }
}
