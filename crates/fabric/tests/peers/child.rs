//! A member in a process of its own: this test program again, told by its environment what to be.

use crate::AGES;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use swarmyard_fabric::mesh::{Mesh, Options};
use swarmyard_fabric::{Care, Fabric};

/// Set in a child: address to connect to, and its lease in milliseconds.
const TO: &str = "SWARMYARD_FABRIC_CHILD";

/// A child that is alive under `live/child`, answers `child`, hears `to/**`, is at the end of lanes to worker 1, and says every 5 ms under `from/child` how much it
/// has heard. It is killed when dropped.
pub(crate) struct Peer(Child);

impl Peer {
    /// Starts one that connects to this address.
    pub(crate) fn start(address: &str, lease: Duration) -> Peer {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "child::act", "--ignored", "--nocapture"]);
        command.env(TO, format!("{address} {}", lease.as_millis()));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a child");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let is_ready = lines.any(|line| line.is_ok_and(|l| l.contains("the child is ready")));
        assert!(is_ready, "the child ended before it was ready");
        Peer(child)
    }

    /// Kills it, as the system does: it cannot say good-bye.
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("waited for");
    }

    /// Sends it `STOP` or `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(status.expect("the command kill").success());
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "what children of other tests do"]
fn act() {
    let text = std::env::var(TO).expect("it was started by another test");
    let (address, lease) = text.split_once(' ').expect("address and lease");
    let lease = Duration::from_millis(lease.parse().expect("a number"));
    let options = Options { connect: vec![address.into()], lease, reach: AGES, ..Options::default() };
    let mesh = Mesh::open(&options).expect("a member");
    mesh.trust(&crate::lanes::run());
    let count = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let heard = count.clone();
    let hear = move |_: swarmyard_fabric::Heard<'_>| {
        heard.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let _ear = mesh.listen("to/**", Box::new(hear)).expect("a listener");
    let _end = mesh.listen("swarm/run/1/workers/q/*/1", Box::new(|_| {})).expect("a listener");
    let _answer = mesh.answer("child", Box::new(|_, _| Some(b"here".to_vec()))).expect("an answer");
    let _token = mesh.live("live/child").expect("a token");
    println!("the child is ready");
    // Its parent kills it; should the parent die, it ends by itself.
    let start = std::time::Instant::now();
    while start.elapsed() < 3 * AGES {
        let heard = count.load(std::sync::atomic::Ordering::Relaxed);
        mesh.put("from/child", &heard.to_le_bytes(), Care::Drop).expect("put");
        std::thread::sleep(Duration::from_millis(5));
    }
}
