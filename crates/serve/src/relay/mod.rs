//! The relay: what many displays need crosses the network once.
//!
//! In: one connection to a server, as one display. Out: the same protocol at an address of its own, for any
//! number of displays. Frames and everything that all are shown come once and are coded for each display by the
//! very code the server has (`link`, `shot`); what one display asks for passes through, and the answer goes to it.
//!
//! Start reading at `post.rs`: it stands where the runner stands in a server. *Invariants:* what comes from the
//! server does not depend on how many displays look; a display that is stuck costs the others nothing; whatever
//! the server says, the relay goes on: it ends that connection, says why, and connects again.

mod control;
mod hear;
mod ledger;
mod picture;
mod post;
mod requests;
mod upstream;
mod wishes;

pub(crate) use ledger::Ledger;
pub use ledger::Traffic;

use crate::answer::Refusal;
use crate::guard::Guard;
use crate::hub::Hub;
use crate::link::NO_SERVER;
use crate::runner::Command;
use crate::server::{Desk, GOODBYE, StartError, listen, url};
use crate::shot::Shown;
use post::{Office, Over};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};
use upstream::{Target, Upstream};

/// The first wait after a loss; it doubles with every loss after that.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// A connection that held so long was a good one: the waits begin anew.
const GOOD: Duration = Duration::from_secs(5);

/// How a relay is started.
#[derive(Clone, Debug)]
pub struct RelayOptions {
    /// The server's host and port.
    pub server: String,
    /// What the server wants to be told.
    pub server_token: Option<String>,
    /// Where to listen.
    pub listen: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// What displays must know. Beyond loopback one is made up when there is none.
    pub token: Option<String>,
    /// Take the page from this folder, not from the program.
    pub web: Option<PathBuf>,
}

impl Default for RelayOptions {
    fn default() -> RelayOptions {
        RelayOptions {
            server: "127.0.0.1:7077".into(),
            server_token: None,
            listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 7078,
            token: None,
            web: None,
        }
    }
}

/// A relay that runs.
pub struct Relay {
    address: SocketAddr,
    token: Option<String>,
    ledger: Arc<Ledger>,
    commands: mpsc::UnboundedSender<Command>,
    sockets: JoinHandle<()>,
}

impl Relay {
    /// Starts a relay. When this comes back it listens; the server need not be there yet.
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn start(options: RelayOptions) -> Result<Relay, StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|e| StartError::new(e.to_string()))?;
        let wanted = SocketAddr::new(options.listen, options.port);
        let (listener, address, token) = runtime.block_on(listen(wanted, options.token))?;
        let ledger = Arc::new(Ledger::new(options.server.clone()));
        // Every display waits for the answer to its last request: there are never more commands than displays.
        let (commands, received) = mpsc::unbounded_channel();
        let (board, shown) = watch::channel(Arc::new(Shown::nothing()));
        let (end, ending) = watch::channel(false);
        let told = commands.clone();
        let desk = Desk {
            guard: Guard::new(address, token.clone()),
            project: None,
            web: options.web,
            shown,
            ending,
            farewell: "the relay has lost its server, or ends",
            ledger: Some(Arc::clone(&ledger)),
            commands: Box::new(move |command| {
                let _ = told.send(command);
            }),
        };
        // Its own displays have odd numbers: see `control`.
        let hub = Hub::numbered(1, 2);
        let target = Target { place: options.server, token: options.server_token };
        let office = Office { target, ledger: Arc::clone(&ledger), board, hub };
        let (done, is_done) = oneshot::channel();
        runtime.spawn(async move {
            relay(office, received).await;
            let _ = done.send(());
        });
        let sockets = std::thread::Builder::new().name("sockets".into());
        let sockets = sockets
            .spawn(move || {
                runtime.block_on(crate::http::serve(listener, Arc::new(desk), end, is_done));
                runtime.shutdown_timeout(GOODBYE);
            })
            .map_err(|e| StartError::new(e.to_string()))?;
        Ok(Relay { address, token, ledger, commands, sockets })
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

    /// What it has carried so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.ledger.traffic()
    }

    /// A way to end the relay from another thread.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let commands = self.commands.clone();
        move || {
            let _ = commands.send(Command::Stop);
        }
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.sockets.is_finished()
    }

    /// Ends the relay.
    pub fn stop(self) {
        let _ = self.commands.send(Command::Stop);
        let _ = self.sockets.join();
    }
}

/// Connects to the server, again and again, until the relay is to end.
async fn relay(mut office: Office, mut commands: mpsc::UnboundedReceiver<Command>) {
    let mut wait = FIRST_WAIT;
    let mut why = "it has not connected yet".to_owned();
    loop {
        let (target, ledger) = (office.target.clone(), Arc::clone(&office.ledger));
        let begun = Instant::now();
        let connected = Upstream::connect(&target, &ledger);
        match refusing(&mut commands, &why, connected).await {
            None => return,
            Some(Ok(upstream)) => match office.run(upstream, &mut commands).await {
                Over::Stop => return,
                Over::Lost(lost) => why = lost,
            },
            Some(Err(lost)) => why = lost,
        }
        if begun.elapsed() >= GOOD {
            wait = FIRST_WAIT;
        }
        office.lost(&why);
        if refusing(&mut commands, &why, tokio::time::sleep(wait)).await.is_none() {
            return;
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Waits for something, and refuses displays meanwhile. `None` when the relay is to end.
async fn refusing<T>(
    commands: &mut mpsc::UnboundedReceiver<Command>,
    why: &str,
    awaited: impl Future<Output = T>,
) -> Option<T> {
    let mut awaited = std::pin::pin!(awaited);
    loop {
        tokio::select! {
            done = &mut awaited => return Some(done),
            command = commands.recv() => match command {
                None | Some(Command::Stop) => return None,
                Some(command) => refuse(command, why),
            },
        }
    }
}

/// Refuses what cannot be done without a server. Who asked may be gone: then nobody needs to know.
fn refuse(command: Command, why: &str) {
    let refusal = || Refusal::new(NO_SERVER, format!("this relay has no server: {why}"));
    match command {
        Command::Join { reply, .. } => drop(reply.send(Err(refusal()))),
        Command::Ask { reply, .. } => drop(reply.send(Err(refusal()).into())),
        Command::Recording(reply) => drop(reply.send(Err(refusal().message))),
        Command::Upload { reply, .. } => drop(reply.send(Err(refusal()))),
        Command::Leave(_) | Command::Stop => {}
    }
}
