//! `key = value` lines as Java reads them, with the place of every key and value.
//!
//! In: text. Out: entries in the order of the text, and every problem. `#` and `!` begin a line of
//! comment, a backslash at the end of a line continues it, and `\t`, `\n`, `\\`, `\u0041` are characters.
//! Nothing here knows what a key means.

use crate::overrides::offset;
use crate::tree::shortened;
use std::ops::Range;
use swarmyard_base::{Diagnostic, Diagnostics, SourceId, Span};

/// Most bytes of one text.
const MAX_TEXT: usize = 16 << 20;
/// Most keys of one text.
const MAX_ENTRIES: usize = 1_000_000;
/// Problems after which nobody reads further.
pub(super) const MAX_PROBLEMS: usize = 1000;

/// One key and its value.
pub(super) struct Entry<'t> {
    pub(super) key: &'t str,
    pub(super) key_span: Span,
    pub(super) value: Value,
}

/// What stands behind an equals sign, without blanks around it.
pub(super) struct Value {
    pub(super) text: String,
    pub(super) span: Span,
    /// Where each byte of `text` was written; empty when it stands there as it is.
    places: Vec<u32>,
}

impl Value {
    /// The parts between commas, without blanks around them, each with its place.
    pub(super) fn items(&self) -> Vec<(&str, Span)> {
        let mut items = Vec::new();
        let mut start = 0;
        for part in self.text.split(',') {
            let inner = start + (part.len() - part.trim_start().len());
            items.push((part.trim(), self.place(inner..inner + part.trim().len())));
            start += part.len() + 1;
        }
        items
    }

    /// Where a stretch of the text was written.
    fn place(&self, range: Range<usize>) -> Span {
        let at = |k: usize| match self.places.get(k) {
            Some(&place) => place,
            None if self.places.is_empty() => self.span.start + offset(k),
            None => self.span.end,
        };
        // Behind the last byte, not at the next one: between them the line may have been continued.
        let end = range.end.checked_sub(1).filter(|last| *last >= range.start).map(|last| at(last) + 1);
        Span { source: self.span.source, start: at(range.start), end: end.unwrap_or(at(range.start)) }
    }
}

/// Reads a text whose places belong to `source`.
pub(super) fn read(text: &str, source: SourceId) -> (Vec<Entry<'_>>, Diagnostics) {
    // Some editors begin a text with a mark of its byte order.
    let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut reader = Reader { text, source, at, problems: Diagnostics::default() };
    let mut entries = Vec::new();
    if text.len() > MAX_TEXT {
        let what = format!("a configuration may have at most `{MAX_TEXT}` bytes, not `{}`", text.len());
        reader.problem("too-big", what, 0..0, None);
        return (entries, reader.problems);
    }
    while reader.at < text.len() && reader.problems.0.len() < MAX_PROBLEMS {
        if entries.len() >= MAX_ENTRIES {
            let what = format!("a configuration may have at most `{MAX_ENTRIES}` keys");
            reader.problem("too-big", what, reader.at..reader.at, None);
            break;
        }
        entries.extend(reader.line());
    }
    (entries, reader.problems)
}

struct Reader<'t> {
    text: &'t str,
    source: SourceId,
    at: usize,
    problems: Diagnostics,
}

impl<'t> Reader<'t> {
    /// One line, with those that continue it.
    fn line(&mut self) -> Option<Entry<'t>> {
        let rest = &self.text[self.at..];
        let line = rest.split('\n').next().unwrap_or(rest);
        let start = self.at + (line.len() - line.trim_start().len());
        let next = (self.at + line.len() + 1).min(self.text.len());
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '!']) {
            self.at = next;
            return None;
        }
        let Some(equals) = line.find(['=', ':']) else {
            let what = format!("expected `key = value`, found `{}`", shortened(line));
            self.problem(
                "syntax",
                what,
                start..start + line.len(),
                Some("a line of comment begins with `#`"),
            );
            self.at = next;
            return None;
        };
        let key = line[..equals].trim_end();
        let key_place = start..start + key.len();
        self.at = start + equals + 1;
        if key.is_empty() {
            self.problem("syntax", "a key must stand before `=`", start..start + 1, None);
        }
        let value = self.value();
        Some(Entry { key, key_span: self.span(key_place), value }).filter(|e| !e.key.is_empty())
    }

    /// The value that begins here; goes on behind its last line.
    fn value(&mut self) -> Value {
        self.skip_blanks();
        let start = self.at;
        let mut value = Value { text: String::new(), span: self.span(start..start), places: Vec::new() };
        let mut plain = true;
        let mut end = start;
        while let Some(c) = self.text[self.at..].chars().next() {
            let from = self.at;
            self.at += c.len_utf8();
            let c = match c {
                '\n' => break,
                '\\' => {
                    plain = false;
                    match self.escaped(from) {
                        Some(c) => c,
                        None => continue,
                    }
                }
                c => c,
            };
            value.text.push(c);
            value.places.resize(value.text.len(), offset(from));
            // Blanks at the end do not belong to it.
            if !c.is_whitespace() {
                end = self.at;
            }
        }
        let length = value.text.trim_end().len();
        value.text.truncate(length);
        value.places.truncate(if plain { 0 } else { length });
        value.span = self.span(start..end);
        value
    }

    /// The character behind a backslash at `from`; none when it continues the line or is broken.
    fn escaped(&mut self, from: usize) -> Option<char> {
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        match c {
            '\n' => self.skip_blanks(),
            '\r' if self.text[self.at..].starts_with('\n') => {
                self.at += 1;
                self.skip_blanks();
            }
            't' => return Some('\t'),
            'n' => return Some('\n'),
            'r' => return Some('\r'),
            'f' => return Some('\u{c}'),
            'u' => {
                let digits =
                    self.text[self.at..].get(..4).filter(|d| d.chars().all(|c| c.is_ascii_hexdigit()));
                let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok()).and_then(char::from_u32);
                if code.is_some() {
                    self.at += 4;
                    return code;
                }
                let help = "write a backslash itself as `\\\\`";
                self.problem("syntax", "`\\u` needs four hexadecimal digits", from..self.at, Some(help));
            }
            other => return Some(other),
        }
        None
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c: char| !c.is_whitespace() || c == '\n').unwrap_or(rest.len());
    }

    fn problem(&mut self, code: &'static str, what: impl Into<String>, at: Range<usize>, help: Option<&str>) {
        let mut d = Diagnostic::error(code, what).at(Some(self.span(at)));
        d.help = help.map(str::to_owned);
        self.problems.push(d);
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span { source: self.source, start: offset(range.start), end: offset(range.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let (entries, problems) = read(text, SourceId(0));
        assert!(problems.0.is_empty(), "{problems:?}");
        entries.iter().map(|e| (e.key.to_owned(), e.value.text.clone())).collect()
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn keys_and_values_are_read_as_java_reads_them() {
        let text = "# one\r\n! two\n\n  a.b = 1 \r\nc:2\nd=\ne = x=y # no comment\nf = \\u0041\\tB\\\\\n";
        let wanted = [
            pair("a.b", "1"),
            pair("c", "2"),
            pair("d", ""),
            pair("e", "x=y # no comment"),
            pair("f", "A\tB\\"),
        ];
        assert_eq!(pairs(text), wanted);
    }

    #[test]
    fn a_backslash_at_the_end_continues_the_line() {
        assert_eq!(pairs("a = 1, \\\n    2\\\r\n,3\nb = 4\\"), [pair("a", "1, 2,3"), pair("b", "4")]);
    }

    #[test]
    fn items_stand_where_they_were_written() {
        for text in ["p = 12 , 3.5", "p = 1\\\n2 , \\u0033.5", "p = ä, b", "p =", "p = ,"] {
            let (entries, _) = read(text, SourceId(0));
            for (item, span) in entries[0].value.items() {
                let written = &text[span.start as usize..span.end as usize];
                let plain = written.replace("\\\n", "");
                assert!(plain == item || written.starts_with('\\'), "{text:?}: {item:?} at {written:?}");
            }
        }
        let (entries, _) = read("p = 12 , 3.5", SourceId(0));
        assert_eq!(entries[0].value.items()[1].1.start, 9);
    }

    #[test]
    fn every_broken_line_is_reported() {
        let (entries, problems) = read("good = 1\nno equals\n= 2\nbad = \\u12\nlast = 3", SourceId(0));
        let places: Vec<u32> = problems.0.iter().filter_map(|d| d.span).map(|s| s.start).collect();
        assert_eq!(places, [9, 19, 29]);
        assert_eq!(entries.len(), 3);
    }
}
