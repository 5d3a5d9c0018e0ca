//! Members of the mesh that die, hang, lie or come from elsewhere. One file for each.

mod access;
mod child;
mod frozen_peer;
mod killed_peer;
mod lanes;
mod lanes_of_strangers;
mod oversized_message;
mod refused;
mod strangers;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use swarmyard_fabric::mesh::{Mesh, Options};
use swarmyard_fabric::{Care, Fabric, Handle, Heard};

/// Longer than anything here takes on a busy machine.
pub(crate) const AGES: Duration = Duration::from_secs(60);

/// Tries again until it is true.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < AGES, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Options of those who do not hang: on a busy machine they are not to be taken for such, and reach each other in the end.
pub(crate) fn patient() -> Options {
    Options { lease: AGES, reach: AGES, ..Options::default() }
}

/// A member with these options, connected to those before it.
pub(crate) fn member(options: Options, before: &[&Mesh]) -> Mesh {
    let connect = before.iter().flat_map(|m| m.endpoints().to_vec()).collect();
    Mesh::open(&Options { connect, ..options }).expect("a member")
}

/// Everything under these keys that is heard.
pub(crate) fn listen(mesh: &Mesh, pattern: &str) -> (Receiver<Vec<u8>>, Handle) {
    let (tell, heard) = channel();
    let hear = move |h: Heard<'_>| drop(tell.send(h.bytes.to_vec()));
    (heard, mesh.listen(pattern, Box::new(hear)).expect("a listener"))
}

/// Whether what one member puts is heard by a listener of another within a while.
pub(crate) fn reaches(speaker: &Mesh, key: &str, heard: &Receiver<Vec<u8>>, patience: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < patience {
        speaker.put(key, b"hello", Care::Block).expect("put");
        if heard.recv_timeout(Duration::from_millis(20)).is_ok() {
            return true;
        }
    }
    false
}

/// Everything a watcher sees, and when.
pub(crate) fn watch(mesh: &Mesh, pattern: &str) -> (Receiver<(String, bool, Instant)>, Handle) {
    let (tell, seen) = channel();
    let note = move |key: &str, is_alive| drop(tell.send((key.to_owned(), is_alive, Instant::now())));
    (seen, mesh.watch(pattern, Box::new(note)).expect("a watcher"))
}

/// An empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fabric-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
