//! What a person says to a chain that runs: lines of stdin.

use std::io::BufRead as _;
use std::sync::mpsc::{Receiver, sync_channel};

/// Most lines that wait for the chain.
const MOST: usize = 64;
/// Longest line.
const LONGEST: usize = 8192;

/// Lines of stdin, read by a thread of their own: nobody knows when a person will say something.
pub(super) fn lines() -> Receiver<String> {
    let (said, lines) = sync_channel(MOST);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut line = Vec::new();
        while let Ok(1..) = stdin.read_until(b'\n', &mut line) {
            let text = String::from_utf8_lossy(&line[..line.len().min(LONGEST)]).trim_end().to_owned();
            line.clear();
            if said.send(text).is_err() {
                return;
            }
        }
    });
    lines
}
