//! The bytes: what came from the server, and what each display was sent.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a relay has carried so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Whether the server is there.
    pub is_connected: bool,
    /// Why not, if not.
    pub why: Option<String>,
    /// Connections to the server so far.
    pub connections: u64,
    /// Bytes from the server.
    pub received: u64,
    /// Bytes to all displays, those that are gone included.
    pub sent: u64,
    /// The displays that are here: number, name, bytes they were sent.
    pub displays: Vec<(u64, String, u64)>,
}

/// Counts bytes.
pub(crate) struct Ledger {
    server: String,
    received: AtomicU64,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    is_connected: bool,
    why: Option<String>,
    connections: u64,
    /// Bytes to displays that are gone.
    to_gone: u64,
    displays: BTreeMap<u64, (String, Arc<AtomicU64>)>,
}

impl Ledger {
    /// Nothing was carried yet.
    pub(super) fn new(server: String) -> Ledger {
        Ledger { server, received: AtomicU64::new(0), book: Mutex::default() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something came from the server.
    pub(super) fn received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The server is there.
    pub(super) fn connected(&self) {
        let mut book = self.book();
        (book.is_connected, book.why) = (true, None);
        book.connections += 1;
    }

    /// The server is not there, or no more; then no display is either.
    pub(super) fn lost(&self, why: &str) {
        let mut book = self.book();
        (book.is_connected, book.why) = (false, Some(why.to_owned()));
        let gone = std::mem::take(&mut book.displays);
        book.to_gone += gone.values().map(|d| d.1.load(Ordering::Relaxed)).sum::<u64>();
    }

    /// A display comes.
    pub(super) fn join(&self, id: u64, name: &str, bytes: &Arc<AtomicU64>) {
        self.book().displays.insert(id, (name.to_owned(), Arc::clone(bytes)));
    }

    /// It goes.
    pub(super) fn leave(&self, id: u64) {
        let mut book = self.book();
        if let Some((_, bytes)) = book.displays.remove(&id) {
            book.to_gone += bytes.load(Ordering::Relaxed);
        }
    }

    /// What was carried so far.
    pub(super) fn traffic(&self) -> Traffic {
        let book = self.book();
        let displays: Vec<_> = book
            .displays
            .iter()
            .map(|(id, (name, bytes))| (*id, name.clone(), bytes.load(Ordering::Relaxed)))
            .collect();
        Traffic {
            is_connected: book.is_connected,
            why: book.why.clone(),
            connections: book.connections,
            received: self.received.load(Ordering::Relaxed),
            sent: book.to_gone + displays.iter().map(|d| d.2).sum::<u64>(),
            displays,
        }
    }

    /// The answer of `/v1/relay`.
    pub(crate) fn json(&self) -> Value {
        let traffic = self.traffic();
        let display = |(id, name, out): &(u64, String, u64)| json!({ "id": id, "name": name, "out": out });
        json!({
            "server": self.server,
            "connected": traffic.is_connected,
            "why": traffic.why,
            "connections": traffic.connections,
            "in": traffic.received,
            "out": traffic.sent,
            "displays": traffic.displays.iter().map(display).collect::<Vec<_>>(),
        })
    }
}
