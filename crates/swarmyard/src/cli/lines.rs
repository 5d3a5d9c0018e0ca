//! Lines of somebody else, of whom nobody knows how long they are.

use std::io::{BufRead, Read as _, Result};

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line that has its end; without it.
    Whole(Vec<u8>),
    /// As much of a line as was wanted, and it goes on: the next of it comes next, unless it is [skipped](BufRead::skip_until).
    Long(Vec<u8>),
    /// What stood after the last end of a line.
    Last(Vec<u8>),
}

/// The next line, of at most `most` bytes with its end; `None` when nothing comes any more.
pub(crate) fn next(reader: &mut impl BufRead, most: usize) -> Result<Option<Line>> {
    let mut line = Vec::new();
    reader.take(most as u64).read_until(b'\n', &mut line)?;
    Ok(match line.pop() {
        None => None,
        Some(b'\n') => Some(Line::Whole(line)),
        Some(last) => {
            line.push(last);
            Some(if line.len() < most { Line::Last(line) } else { Line::Long(line) })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, repeat};

    #[test]
    fn a_line_comes_with_or_without_its_end() {
        let mut text = &b"one\n\nlong line\nend"[..];
        let mut next = |most: usize| next(&mut text, most).unwrap();
        assert_eq!(next(8), Some(Line::Whole(b"one".to_vec())));
        assert_eq!(next(8), Some(Line::Whole(Vec::new())));
        assert_eq!(next(8), Some(Line::Long(b"long lin".to_vec())));
        assert_eq!(next(8), Some(Line::Whole(b"e".to_vec())));
        assert_eq!(next(8), Some(Line::Last(b"end".to_vec())));
        assert_eq!(next(8), None);
    }

    #[test]
    fn no_more_is_read_of_a_line_without_end_than_was_wanted() {
        let mut without_end = BufReader::new(repeat(b'x'));
        assert_eq!(next(&mut without_end, 1000).unwrap(), Some(Line::Long(vec![b'x'; 1000])));
    }
}
