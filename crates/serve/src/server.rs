//! The server as a whole: its socket, its threads, and what they share.

use crate::answer::{Answer, Refusal};
use crate::board::Board;
use crate::desk::Means;
use crate::files::Project;
use crate::guard::{Guard, secret};
use crate::message::Request;
use crate::relay::Ledger;
use crate::runner::{Command, Runner};
use crate::shot::Shown;
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use swarmyard_agents::Elsewhere;
use swarmyard_sim::{Crowd, standard_registry};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long displays are given to hear that the server ends.
pub(crate) const GOODBYE: Duration = Duration::from_secs(2);

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The scenario or recording to open; without one an empty world is shown.
    pub file: Option<PathBuf>,
    /// Where to listen.
    pub listen: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// What displays must know. Beyond loopback one is made up when there is none.
    pub token: Option<String>,
    /// Whether the run begins at once.
    pub start: bool,
    /// Take the page from this folder, not from the program.
    pub web: Option<PathBuf>,
    /// Threads; they never change a result. 0 takes all processors for big worlds.
    pub threads: usize,
    /// How controllers and part models on other hosts are reached.
    pub elsewhere: Option<Elsewhere>,
}

impl Default for Options {
    fn default() -> Options {
        let listen = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Options {
            file: None,
            listen,
            port: 7077,
            token: None,
            start: false,
            web: None,
            threads: 0,
            elsewhere: None,
        }
    }
}

/// Why a server could not be started.
#[derive(Debug)]
pub struct StartError(String);

impl StartError {
    pub(crate) fn new(why: String) -> StartError {
        StartError(why)
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

/// What all connections share.
pub(crate) struct Desk {
    pub(crate) guard: Guard,
    /// The project's files; without them the runner answers for them too.
    pub(crate) project: Option<Arc<Project>>,
    pub(crate) web: Option<PathBuf>,
    pub(crate) shown: watch::Receiver<Arc<Shown>>,
    /// Changes when the server ends.
    pub(crate) ending: watch::Receiver<bool>,
    /// What displays are told when there is nothing more to show.
    pub(crate) farewell: &'static str,
    /// Who gets how many bytes, where that is shown.
    pub(crate) ledger: Option<Arc<Ledger>>,
    pub(crate) commands: Box<dyn Fn(Command) + Send + Sync>,
}

impl Desk {
    /// Tells the runner something. When it is gone, whoever waits for an answer learns it that way.
    pub(crate) fn tell(&self, command: Command) {
        (self.commands)(command);
    }

    /// What can be answered without the runner, if the files are here.
    pub(crate) fn library(&self) -> Option<Library> {
        self.project.as_ref().map(|project| Library(Arc::clone(project)))
    }
}

/// The project's files, for those who only read.
pub(crate) struct Library(Arc<Project>);

impl Library {
    /// Answers what files alone can answer.
    pub(crate) fn answer(&self, request: &Request) -> Answer {
        match request {
            Request::Worlds {} => Ok(self.0.worlds()),
            Request::Files { folder } => self.0.list(folder),
            Request::Read { path } => {
                let text = self.0.read(path)?;
                let revision = format!("{:016x}", swarmyard_base::hash::bytes_hash(text.as_bytes()));
                Ok(json!({ "text": text, "revision": revision }))
            }
            Request::Sheets {} => {
                Ok(json!({ "sheets": swarmyard_formats::sheets_json(&standard_registry()) }))
            }
            _ => Err(Refusal::new("unknown", "files do not answer that")),
        }
    }
}

/// A server that runs.
pub struct Server {
    address: SocketAddr,
    token: Option<String>,
    commands: mpsc::Sender<Command>,
    runner: JoinHandle<()>,
    sockets: JoinHandle<()>,
}

impl Server {
    /// Starts a server. When this comes back, it listens and its scenario is open.
    ///
    /// # Errors
    /// When it cannot listen there. A scenario with problems is no reason: displays show them.
    pub fn start(options: Options) -> Result<Server, StartError> {
        Server::start_with(options, None)
    }

    /// The same; the steps of every run it shows are taken by this crowd, when there is one. It must bring bodies home
    /// at every stop.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start_with(options: Options, crowd: Option<Box<dyn Crowd>>) -> Result<Server, StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|e| StartError(e.to_string()))?;
        let wanted = SocketAddr::new(options.listen, options.port);
        let (listener, address, token) = runtime.block_on(listen(wanted, options.token))?;
        let project = Project::of(options.file.as_deref()).map_err(|e| StartError(e.to_string()))?;
        let project = Arc::new(project);
        let (commands, received) = mpsc::channel();
        let (board, shown) = Board::new();
        let (end, ending) = watch::channel(false);
        let runner = start_runner(
            received,
            Arc::clone(&project),
            options.file,
            (options.start, Means { threads: options.threads, elsewhere: options.elsewhere }),
            (board, crowd),
        )?;
        let guard = Guard::new(address, token.clone());
        let told = commands.clone();
        let desk = Desk {
            guard,
            project: Some(project),
            web: options.web,
            shown,
            ending,
            farewell: "the run and the server have ended",
            ledger: None,
            commands: Box::new(move |command| {
                let _ = told.send(command);
            }),
        };
        let sockets = std::thread::Builder::new().name("sockets".into());
        let (done, runner_done) = tokio::sync::oneshot::channel();
        let runner = std::thread::spawn(move || {
            // A runner that panicked is as gone as one that ended.
            let _ = runner.join();
            let _ = done.send(());
        });
        let sockets = sockets
            .spawn(move || {
                runtime.block_on(crate::http::serve(listener, Arc::new(desk), end, runner_done));
                runtime.shutdown_timeout(GOODBYE);
            })
            .map_err(|e| StartError(e.to_string()))?;
        Ok(Server { address, token, commands, runner, sockets })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.address, self.token.as_deref())
    }

    /// A way to end the server from another thread.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let commands = self.commands.clone();
        move || {
            let _ = commands.send(Command::Stop);
        }
    }

    /// Waits until a console ends the server.
    pub fn wait(self) {
        let _ = self.runner.join();
        let _ = self.sockets.join();
    }

    /// Ends the server.
    pub fn stop(self) {
        let _ = self.commands.send(Command::Stop);
        self.wait();
    }
}

/// Listens at an address. Beyond loopback a token is made up when there is none.
pub(crate) async fn listen(
    wanted: SocketAddr,
    token: Option<String>,
) -> Result<(TcpListener, SocketAddr, Option<String>), StartError> {
    let cannot = |e: std::io::Error| StartError(format!("cannot listen on {wanted}: {e}"));
    let listener = TcpListener::bind(wanted).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let token = match token {
        None if !address.ip().is_loopback() => Some(secret().map_err(cannot)?),
        token => token,
    };
    Ok((listener, address, token))
}

/// What to open in a browser for a server at an address.
pub(crate) fn url(address: SocketAddr, token: Option<&str>) -> String {
    match token {
        None => format!("http://{address}/"),
        Some(token) => format!("http://{address}/?token={token}"),
    }
}

/// Starts the thread that owns the run, and waits until its scenario is open.
fn start_runner(
    commands: mpsc::Receiver<Command>,
    project: Arc<Project>,
    file: Option<PathBuf>,
    (start, means): (bool, Means),
    (board, crowd): (Board, Option<Box<dyn Crowd>>),
) -> Result<JoinHandle<()>, StartError> {
    let (ready, is_ready) = mpsc::channel();
    let run = move || match Runner::new(commands, project, (file.as_ref(), means), board, crowd) {
        Ok(mut runner) => {
            runner.is_running = start && runner.may_go_on().is_ok();
            runner.publish(true);
            let _ = ready.send(Ok(()));
            runner.run();
        }
        Err(refusal) => {
            let _ = ready.send(Err(StartError(refusal.message)));
        }
    };
    let runner = std::thread::Builder::new().name("runner".into()).spawn(run);
    let runner = runner.map_err(|e| StartError(e.to_string()))?;
    is_ready.recv().map_err(|_| StartError("the run could not be started".into()))??;
    Ok(runner)
}
