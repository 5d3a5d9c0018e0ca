//! Text to blocks.
//!
//! After a mistake the reader goes on behind the line, to report them all. The tree is answered only
//! when there was none, so recovery need not keep the text.

use super::{Block, Entry, File, List, MAX_DEPTH, MAX_TEXT, MAX_VALUES, Plain, Value};
use crate::overrides::offset;
use crate::tree::shortened;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Diagnostics, SourceId, Span};

/// Problems after which nobody reads further.
const MAX_PROBLEMS: usize = 100;

/// Reads a text whose places belong to `source`.
pub(crate) fn read(text: &str, source: SourceId) -> Result<File, Diagnostics> {
    let mut reader =
        Reader { text, source, at: 0, values: 0, problems: Diagnostics::default(), stopped: false };
    if text.len() > MAX_TEXT {
        let what = format!("a part file may have at most `{MAX_TEXT}` bytes, not `{}`", text.len());
        reader.problem("too-big", what, 0..0);
        return Err(reader.problems);
    }
    let (entries, after) = reader.entries(0);
    if reader.problems.0.is_empty() {
        return Ok(File { entries, after });
    }
    reader.problems.sort();
    Err(reader.problems)
}

/// What a key may be made of, apart from the blanks between its words.
pub(super) fn is_key_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// A blank that does not end the line.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\n'
}

struct Reader<'t> {
    text: &'t str,
    source: SourceId,
    at: usize,
    values: usize,
    problems: Diagnostics,
    /// Whether we gave up: what is open then is not a mistake.
    stopped: bool,
}

impl<'t> Reader<'t> {
    /// Entries up to the closing brace, which stays, or the end.
    fn entries(&mut self, depth: usize) -> (Vec<Entry>, String) {
        let mut entries: Vec<Entry> = Vec::new();
        let mut is_first = true;
        loop {
            let start = self.at;
            self.layout();
            if self.peek() == Some(',') && !is_first {
                self.at += 1;
                self.layout();
            }
            is_first = false;
            let before = self.text[start..self.at].to_owned();
            match self.peek() {
                None => return (entries, before),
                Some('}') if depth > 0 => return (entries, before),
                Some('}') => {
                    self.problem("syntax", "`}` closes nothing", self.at..self.at + 1);
                    self.at += 1;
                }
                Some(_) => entries.extend(self.entry(before, depth)),
            }
        }
    }

    fn entry(&mut self, before: String, depth: usize) -> Option<Entry> {
        let start = self.at;
        let key = self.key();
        if key.is_empty() {
            let found = self.peek().unwrap_or(' ');
            let what = format!("expected a key, found `{}`", found.escape_debug());
            self.problem("syntax", what, start..start + found.len_utf8());
            self.skip_line();
            return None;
        }
        self.count(start)?;
        let key_range = start..self.at;
        let behind = self.at;
        self.layout();
        let mut sign = behind;
        if self.peek() == Some('=') {
            sign = self.at;
            self.at += 1;
        } else {
            let what = format!("expected `=` after `{}`", shortened(key));
            let here = self.peek() == Some('{');
            if !here {
                self.at = behind;
            }
            self.problem_with("syntax", what, key_range.clone(), "a text of several words needs quotes");
            if !here {
                self.skip_line();
                return None;
            }
        }
        let value_line = self.at;
        let between = self.layout();
        let opens = matches!(self.peek(), Some('{' | '['));
        // Only a brace or bracket may stand on a later line: else the next key would be the value.
        if between.contains('\n') && !opens {
            self.at = value_line;
        }
        let ends = matches!(self.peek(), None | Some('}' | ',' | '=' | ']'));
        if ends || (between.contains('\n') && !opens) {
            self.problem("syntax", format!("`{}` has no value", shortened(key)), sign..sign + 1);
            if matches!(self.peek(), Some('=' | ']')) {
                self.skip_line();
            }
            return None;
        }
        let equals = self.text[behind..self.at].to_owned();
        let value = self.value(depth)?;
        Some(Entry { before, key: key.to_owned(), key_span: self.span(key_range), equals, value })
    }

    /// Words on one line, without the blanks around them.
    fn key(&mut self) -> &'t str {
        let start = self.at;
        loop {
            self.skip_while(is_key_char);
            let end = self.at;
            self.skip_while(is_blank);
            if end == self.at || !self.peek().is_some_and(is_key_char) {
                self.at = end;
                return &self.text[start..end];
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.peek()? {
            '{' => self.block(depth).map(Value::Block),
            '[' => self.list(depth).map(Value::List),
            '"' => self.quoted().map(Value::Plain),
            found => {
                let start = self.at;
                self.word();
                if self.at == start {
                    let what = format!("expected a value, found `{}`", found.escape_debug());
                    self.problem("syntax", what, start..start + found.len_utf8());
                    self.at += found.len_utf8();
                    return None;
                }
                if is_number(&self.text[start..self.at]) {
                    self.unit();
                }
                Some(Value::Plain(self.plain(start)))
            }
        }
    }

    fn plain(&self, start: usize) -> Plain {
        Plain { raw: self.text[start..self.at].to_owned(), span: self.span(start..self.at) }
    }

    /// A run of characters that mean nothing of their own.
    fn word(&mut self) -> &'t str {
        let start = self.at;
        while let Some(c) = self.peek() {
            let rest = &self.text[self.at..];
            let ends = c.is_whitespace() || c.is_control() || "={}[],\"#".contains(c);
            if ends || rest.starts_with("//") || rest.starts_with("/*") {
                break;
            }
            self.at += c.len_utf8();
        }
        &self.text[start..self.at]
    }

    /// The unit behind a number, if there is one: `2 m` at the end of a line, and also before another
    /// key if the word is a unit that we know, as in `Range = 2 m Rays = 3`.
    fn unit(&mut self) {
        let mut ends = [self.at; 3];
        let (mut words, mut all) = (0, self.at);
        loop {
            self.skip_while(is_blank);
            if self.word().is_empty() {
                break;
            }
            all = self.at;
            words += 1;
            if words < ends.len() {
                ends[words] = self.at;
            }
        }
        let start = ends[0];
        if self.peek() != Some('=') {
            self.at = all;
            return;
        }
        // The last word is the next key.
        let most = words.saturating_sub(1).min(2);
        let known = (1..=most).rev().find(|&k| is_unit(self.text[start..ends[k]].trim()));
        self.at = known.map_or(start, |k| ends[k]);
    }

    fn quoted(&mut self) -> Option<Plain> {
        let start = self.at;
        self.at += 1;
        let mut good = true;
        while let Some(c) = self.peek() {
            match c {
                '\n' => break,
                '"' => {
                    self.at += 1;
                    return good.then(|| self.plain(start));
                }
                '\\' => {
                    let next = self.text[self.at + 1..].chars().next();
                    if !matches!(next, Some('"' | '\\')) {
                        good = false;
                        let place = self.at..self.at + 1;
                        let what = "only `\\\"` and `\\\\` may stand behind a backslash";
                        self.problem("syntax", what, place);
                        self.at += 1;
                        continue;
                    }
                    self.at += 2;
                }
                c => self.at += c.len_utf8(),
            }
        }
        self.problem("syntax", "the text in quotes `\"` does not end on its line", start..self.at);
        None
    }

    fn block(&mut self, depth: usize) -> Option<Block> {
        let open = self.open(depth)?;
        let (entries, after) = self.entries(depth + 1);
        if self.peek() != Some('}') {
            self.problem("syntax", "`{` is never closed", open..open + 1);
            return None;
        }
        self.at += 1;
        Some(Block { entries, after, span: self.span(open..self.at) })
    }

    fn list(&mut self, depth: usize) -> Option<List> {
        let open = self.open(depth)?;
        let mut items = Vec::new();
        let (mut good, mut is_first) = (true, true);
        loop {
            let start = self.at;
            self.layout();
            if self.peek() == Some(',') && !is_first {
                self.at += 1;
                self.layout();
            } else if !is_first && !matches!(self.peek(), None | Some(']' | '}' | '=')) {
                let found = self.peek().map_or(1, char::len_utf8);
                let what = "expected `,` or `]` in the list";
                self.problem("syntax", what, self.at..self.at + found);
                good = false;
            }
            is_first = false;
            let before = self.text[start..self.at].to_owned();
            match self.peek() {
                Some(']') => {
                    self.at += 1;
                    let list = List { items, after: before, span: self.span(open..self.at) };
                    return good.then_some(list);
                }
                None | Some('}' | '=') => {
                    self.problem("syntax", "`[` is never closed", open..open + 1);
                    if self.peek() == Some('=') {
                        self.skip_line();
                    }
                    return None;
                }
                Some(',') => {
                    self.problem("syntax", "expected a value, found `,`", self.at..self.at + 1);
                    good = false;
                    continue;
                }
                Some(_) => {}
            }
            self.count(self.at)?;
            match self.value(depth + 1) {
                Some(value) => items.push((before, value)),
                None => good = false,
            }
        }
    }

    /// Steps behind an opening brace or bracket.
    fn open(&mut self, depth: usize) -> Option<usize> {
        let open = self.at;
        if depth >= MAX_DEPTH {
            let what = format!("blocks and lists may be nested at most `{MAX_DEPTH}` levels deep");
            self.problem("too-deep", what, open..open + 1);
            self.stop();
            return None;
        }
        self.at += 1;
        Some(open)
    }

    /// Steps over blanks, line ends and comments.
    fn layout(&mut self) -> &'t str {
        let start = self.at;
        if start == 0 && self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        loop {
            self.skip_while(char::is_whitespace);
            let rest = &self.text[self.at..];
            if rest.starts_with('#') || rest.starts_with("//") {
                self.skip_while(|c| c != '\n');
            } else if let Some(inner) = rest.strip_prefix("/*") {
                let Some(length) = inner.find("*/") else {
                    self.problem("syntax", "the comment `/*` is never closed", self.at..self.at + 2);
                    self.stop();
                    break;
                };
                self.at += length + 4;
            } else {
                break;
            }
        }
        &self.text[start..self.at]
    }

    /// Goes on behind a mistake: at the end of the line, or at the end of the block if that is nearer.
    fn skip_line(&mut self) {
        let mut open = 0_usize;
        while let Some(c) = self.peek() {
            let rest = &self.text[self.at..];
            match c {
                '\n' | '}' if open == 0 => return,
                '#' => {
                    self.skip_while(|c| c != '\n');
                    continue;
                }
                _ if rest.starts_with("//") => {
                    self.skip_while(|c| c != '\n');
                    continue;
                }
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            self.at += c.len_utf8();
        }
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    }

    /// The next character; none at the end, or after giving up.
    fn peek(&self) -> Option<char> {
        if self.stopped { None } else { self.text[self.at..].chars().next() }
    }

    /// Counts a key or value; `None` when there are too many.
    fn count(&mut self, at: usize) -> Option<()> {
        self.values += 1;
        if self.values <= MAX_VALUES {
            return Some(());
        }
        let what = format!("a part file may hold at most `{MAX_VALUES}` keys and values");
        self.problem("too-big", what, at..at);
        self.stop();
        None
    }

    /// Gives up: the rest is not looked at.
    fn stop(&mut self) {
        self.stopped = true;
    }

    fn problem(&mut self, code: &'static str, what: impl Into<String>, range: std::ops::Range<usize>) {
        if self.stopped {
            return;
        }
        let span = self.span(range);
        self.problems.push(Diagnostic::error(code, what).at(Some(span)));
        if self.problems.0.len() >= MAX_PROBLEMS {
            self.stop();
        }
    }

    fn problem_with(
        &mut self,
        code: &'static str,
        what: String,
        range: std::ops::Range<usize>,
        help: &'static str,
    ) {
        let before = self.problems.0.len();
        self.problem(code, what, range);
        if let Some(d) = self.problems.0.get_mut(before) {
            d.help = Some(help.to_owned());
        }
    }

    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span { source: self.source, start: offset(range.start), end: offset(range.end) }
    }
}

fn is_number(word: &str) -> bool {
    word.trim_start_matches(['+', '-', '.']).starts_with(|c: char| c.is_ascii_digit())
}

/// Whether any quantity is measured in it.
fn is_unit(word: &str) -> bool {
    Unit::ALL.iter().any(|u| u.suffixes().iter().any(|(s, _)| *s == word))
}
