//! Places inside a quoted text: from a byte of what it says to the byte where that is written.

use crate::tree::{Data, Tree};
use swarmyard_base::{Sources, Span};

/// The place of bytes `start..end` of the text that `value` says; the whole value when the text was
/// put together from parameters.
pub(crate) fn inside(sources: &Sources, value: &Tree, start: usize, end: usize) -> Span {
    let whole = value.span;
    let (Data::Str(_), Some(source)) = (&value.data, sources.get(whole.source)) else { return whole };
    let Some(raw) = source.text.get(whole.start as usize..whole.end as usize) else { return whole };
    let Some(offsets) = offsets(raw) else { return whole };
    let find = |at: usize| offsets.iter().find(|o| o.0 >= at).map_or(raw.len(), |o| o.1);
    let (start, end) = (find(start), find(end));
    let place = |k: usize| whole.start + u32::try_from(k).unwrap_or(0);
    Span { source: whole.source, start: place(start), end: place(end.max(start)) }
}

/// For each character (and the end) of a quoted text: its byte in what is said, and in what is written.
fn offsets(raw: &str) -> Option<Vec<(usize, usize)>> {
    let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let fence = if raw.len() >= 6 && raw.starts_with(&triple) { 3 } else { 1 };
    let mut at = fence;
    if fence == 3 {
        let body = &raw[fence..];
        at += if body.starts_with("\r\n") { 2 } else { usize::from(body.starts_with('\n')) };
    }
    let close = raw.len().checked_sub(fence).filter(|c| *c >= at)?;
    let mut said = 0;
    let mut offsets = Vec::new();
    while at < close {
        let c = raw[at..].chars().next()?;
        offsets.push((said, at));
        let (written, spoken) =
            if c == '\\' && quote == '"' { escape(&raw[at..]) } else { (c.len_utf8(), c.len_utf8()) };
        at += written;
        said += spoken;
    }
    offsets.push((said, close));
    Some(offsets)
}

/// Bytes an escape takes in the file, and bytes of what it says.
fn escape(raw: &str) -> (usize, usize) {
    let digits = match raw.as_bytes().get(1) {
        Some(b'u') => 4,
        Some(b'U') => 8,
        Some(b'x') => 2,
        // A backslash at the end of a line swallows all white space up to the next character.
        Some(b' ' | b'\t' | b'\r' | b'\n') => {
            let rest = raw[1..].trim_start();
            return (raw.len() - rest.len(), 0);
        }
        _ => return (2, 1),
    };
    let code = raw.get(2..2 + digits).and_then(|d| u32::from_str_radix(d, 16).ok()).and_then(char::from_u32);
    (2 + digits, code.map_or(1, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn finds(text: &str, raw_mark: &str, said: usize) {
        let mut sources = Sources::default();
        let source = sources.add("a", text);
        let tree = crate::tree::parse(text, source).unwrap();
        let span = inside(&sources, tree.get("a").unwrap(), said, said + 1);
        assert_eq!(span.start as usize, text.find(raw_mark).unwrap(), "{text}");
    }

    #[test]
    fn escapes_and_fences_are_counted() {
        finds("a = \"x + y\"", "y", 4);
        finds("a = 'x + y'", "y", 4);
        finds("a = \"\"\"\nx + y\"\"\"", "y", 4);
        finds("a = \"\\u0020\\t+y\"", "y", 3);
        finds("a = \"ß\\u00df+y\"", "y", 5);
        finds("a = \"\"\"x \\\n   + y\"\"\"", "y", 4);
    }
}
