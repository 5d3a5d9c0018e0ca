//! What a person says to a chain that runs: lines of stdin.

use crate::cli::lines::{Line, next};
use std::io::BufRead;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Most lines that wait for the chain.
const MOST: usize = 64;
/// Longest line.
const LONGEST: usize = 8192;

/// Lines of stdin, read by a thread of their own: nobody knows when a person will say something.
pub(super) fn lines() -> Receiver<String> {
    let (said, lines) = sync_channel(MOST);
    std::thread::spawn(move || pass_on(&mut std::io::stdin().lock(), &said));
    lines
}

/// Passes lines on until nobody says or hears any. Of one that is too long the rest is dropped.
fn pass_on(reader: &mut impl BufRead, said: &SyncSender<String>) {
    while let Ok(Some(line)) = next(reader, LONGEST) {
        let is_long = matches!(line, Line::Long(_));
        let (Line::Whole(text) | Line::Long(text) | Line::Last(text)) = line;
        if said.send(String::from_utf8_lossy(&text).trim_end().to_owned()).is_err() {
            return;
        }
        if is_long && reader.skip_until(b'\n').is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_cut_and_the_next_is_whole() {
        let (said, lines) = sync_channel(MOST);
        let text = format!("hello  \r\n{}\nbye", "x".repeat(3 * LONGEST));
        pass_on(&mut text.as_bytes(), &said);
        drop(said);
        let lines: Vec<String> = lines.iter().collect();
        assert_eq!(lines, ["hello".to_owned(), "x".repeat(LONGEST), "bye".to_owned()]);
    }

    #[test]
    fn no_line_is_read_to_its_end_before_it_is_heard() {
        /// A line that goes on; who insists on its end is told that there is none.
        struct Flood(usize);
        impl std::io::Read for Flood {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or(std::io::ErrorKind::OutOfMemory)?;
                into.fill(b'x');
                Ok(into.len())
            }
        }
        let (said, lines) = sync_channel(MOST);
        pass_on(&mut std::io::BufReader::new(Flood(10)), &said);
        assert_eq!(lines.try_recv().map(|line| line.len()), Ok(LONGEST));
    }
}
