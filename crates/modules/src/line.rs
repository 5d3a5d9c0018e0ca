//! One message: `Sender Recipient Command [variables]`.
//!
//! In: bytes of a line, from anybody. Out: a [`Line`], or the first thing that is wrong with it and the column.
//!
//! *Invariants:* a line keeps the very text it was read from, so what is passed on is passed on to the byte. No line
//! is longer than [`MOST_BYTES`], and every variable is a finite number.

use crate::control::{self, Control};

/// Longest line, in bytes, without its end.
pub const MOST_BYTES: usize = 2048;
/// Most variables of a line.
pub const MOST_VALUES: usize = 64;
/// Bytes of a bad line that are kept.
const KEPT: usize = 120;

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Who says it; 0 is the controller.
    pub sender: u16,
    /// Whom it is for; 0 is everyone.
    pub recipient: u16,
    /// What is to be done: a number that the recipient knows.
    pub command: u16,
    /// With which numbers.
    pub values: Vec<f64>,
    text: String,
}

/// The field of a line in which something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The first.
    Sender,
    /// The second.
    Recipient,
    /// The third.
    Command,
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Field::Sender => "sender",
            Field::Recipient => "recipient",
            Field::Command => "command",
        })
    }
}

/// Why a line is not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Reason {
    /// There is nothing in it.
    #[error("the line is empty")]
    Empty,
    /// It is longer than lines are.
    #[error("the line is longer than {MOST_BYTES} bytes")]
    TooLong,
    /// A byte that is no printable ASCII.
    #[error("the byte {0:#04x} does not belong into a line")]
    NotText(u8),
    /// It ends too early.
    #[error("the {0} is missing")]
    Missing(Field),
    /// Something else than digits.
    #[error("the {0} is not a whole number")]
    NotWhole(Field),
    /// Beyond 65535.
    #[error("the {0} is greater than 65535")]
    TooGreat(Field),
    /// A variable that is not a number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// A variable that no number can be.
    #[error("`{0}` is not finite")]
    NotFinite(String),
    /// More variables than lines have.
    #[error("there are more than {MOST_VALUES} variables")]
    TooMany,
    /// A command of the chain with the wrong variables.
    #[error("{0}")]
    Shape(&'static str),
    /// A command of the chain from somebody else than the controller.
    #[error("only the controller, sender 0, gives command {0} to {who}", who = if *.0 == 0 { "everyone" } else { "modules" })]
    NotController(u16),
    /// The number that belongs to nobody.
    #[error("65535 is no module's number")]
    Nobody,
    /// A module speaks in somebody else's name.
    #[error("it comes from module {number}, but says that its sender is {sender}")]
    NotItsOwn {
        /// Who said it.
        number: u16,
        /// In whose name.
        sender: u16,
    },
    /// A module spoke without having been asked.
    #[error("the module said it when it had answered everything: no input can have caused it")]
    Unasked,
    /// Time runs forward only.
    #[error("the time of this tick is earlier than that of the one before")]
    TimeBackwards,
    /// Nobody listens any more.
    #[error("the chain has ended")]
    Over,
    /// The chain does not keep up with whoever steers.
    #[error("the chain has too much to do: it has not taken the commands before this one")]
    Busy,
}

/// A line that is not taken: where, why, and what it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("column {column}: {reason}: `{text}`")]
pub struct BadLine {
    /// Byte of the line, from 1, where it is wrong.
    pub column: usize,
    /// What is wrong.
    pub reason: Reason,
    /// Its beginning; what cannot be printed is escaped.
    pub text: String,
}

impl BadLine {
    /// A bad line, of which the beginning is kept.
    #[must_use]
    pub fn new(column: usize, reason: Reason, line: &[u8]) -> BadLine {
        let kept = &line[..line.len().min(KEPT)];
        let more = if kept.len() < line.len() { "…" } else { "" };
        BadLine { column, reason, text: format!("{}{more}", kept.escape_ascii()) }
    }
}

impl Line {
    /// Reads a line, without the newline at its end.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(line: &[u8]) -> Result<Line, BadLine> {
        let bad = |column: usize, reason| BadLine::new(column + 1, reason, line);
        let line_end = line.strip_suffix(b"\r").unwrap_or(line);
        if line_end.len() > MOST_BYTES {
            return Err(bad(MOST_BYTES, Reason::TooLong));
        }
        let is_text = |b: &u8| *b == b'\t' || (b' '..=b'~').contains(b);
        if let Some(at) = line_end.iter().position(|b| !is_text(b)) {
            return Err(bad(at, Reason::NotText(line_end[at])));
        }
        let text = String::from_utf8_lossy(line_end).into_owned();
        let mut words = words(&text);
        let mut head = [0; 3];
        for (field, place) in [Field::Sender, Field::Recipient, Field::Command].into_iter().zip(&mut head) {
            let Some((at, word)) = words.next() else {
                let nothing = field == Field::Sender;
                let reason = if nothing { Reason::Empty } else { Reason::Missing(field) };
                return Err(bad(text.len(), reason));
            };
            *place = whole(field, word).map_err(|reason| bad(at, reason))?;
        }
        let mut values = Vec::new();
        for (at, word) in words {
            if values.len() == MOST_VALUES {
                return Err(bad(at, Reason::TooMany));
            }
            values.push(value(word).map_err(|reason| bad(at, reason))?);
        }
        let [sender, recipient, command] = head;
        let line = Line { sender, recipient, command, values, text };
        control::check(&line).map_err(|reason| bad(0, reason))?;
        Ok(line)
    }

    /// A line that was not read but is to be said. Values beyond [`MOST_VALUES`] are left out; one that is not
    /// finite is said as zero, so callers check theirs before.
    #[must_use]
    pub fn new(sender: u16, recipient: u16, command: u16, values: &[f64]) -> Line {
        let finite = |v: &f64| if v.is_finite() { *v } else { 0.0 };
        let values: Vec<f64> = values.iter().take(MOST_VALUES).map(finite).collect();
        let mut text = format!("{sender} {recipient} {command}");
        for value in &values {
            text.push(' ');
            text.push_str(&number(*value));
        }
        Line { sender, recipient, command, values, text }
    }

    /// The line as it was read, or as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it means to the chain itself, if anything.
    #[must_use]
    pub fn control(&self) -> Option<Control> {
        Control::of(self)
    }
}

/// A number as it stands in a line: short, and read back to the bit.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e15).contains(&size) { format!("{value}") } else { format!("{value:e}") }
}

/// Words and where they begin.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let begin = at + rest.find(|c| c != ' ' && c != '\t')?;
        let end = text[begin..].find([' ', '\t']).map_or(text.len(), |n| begin + n);
        at = end;
        Some((begin, &text[begin..end]))
    })
}

fn whole(field: Field, word: &str) -> Result<u16, Reason> {
    if !word.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Reason::NotWhole(field));
    }
    let digits = word.bytes().map(|b| u32::from(b - b'0'));
    let number = digits.fold(0_u32, |n, d| n.saturating_mul(10).saturating_add(d));
    u16::try_from(number).map_err(|_| Reason::TooGreat(field))
}

/// A variable: digits, with sign, point and exponent as C prints and reads them.
fn value(word: &str) -> Result<f64, Reason> {
    let is_plain = |b: u8| b.is_ascii_digit() || b"+-.eE".contains(&b);
    let parsed = if word.bytes().all(is_plain) { word.parse::<f64>().ok() } else { None };
    match parsed {
        None => Err(Reason::NotANumber(word.chars().take(KEPT).collect())),
        Some(v) if !v.is_finite() => Err(Reason::NotFinite(word.chars().take(KEPT).collect())),
        Some(v) => Ok(v),
    }
}

/// Cuts a stream of bytes into lines, with a bound on what is held.
#[derive(Debug, Default)]
pub struct Splitter {
    held: Vec<u8>,
    /// The line is too long, which has been told; what is left of it is thrown away.
    is_told: bool,
}

impl Splitter {
    /// Takes bytes, and tells every whole line that is there now; of one that is too long, its beginning, as soon as
    /// it is known to be.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) {
        while let Some(end) = bytes.iter().position(|b| *b == b'\n') {
            self.hold(&bytes[..end], &mut each);
            if !std::mem::take(&mut self.is_told) {
                each(&self.held);
            }
            self.held.clear();
            bytes = &bytes[end + 1..];
        }
        self.hold(bytes, &mut each);
    }

    /// The rest, when the stream has ended without a newline.
    pub fn finish(&mut self, mut each: impl FnMut(&[u8])) {
        if !self.held.is_empty() {
            each(&self.held);
            self.held.clear();
        }
    }

    /// Two bytes more than a line may have are enough to know that it is too long.
    fn hold(&mut self, bytes: &[u8], each: &mut impl FnMut(&[u8])) {
        if self.is_told {
            return;
        }
        let room = (MOST_BYTES + 2).saturating_sub(self.held.len());
        self.held.extend(&bytes[..bytes.len().min(room)]);
        if self.held.len() == MOST_BYTES + 2 {
            each(&self.held);
            self.held.clear();
            self.is_told = true;
        }
    }
}

/// For fuzzing: no bytes may make the reader panic, and what it takes is written back to the byte and read again.
pub fn fuzz_line(data: &[u8]) {
    let mut splitter = Splitter::default();
    let mut lines = Vec::new();
    splitter.push(data, |line| lines.push(line.to_vec()));
    splitter.finish(|line| lines.push(line.to_vec()));
    for bytes in lines {
        match Line::parse(&bytes) {
            Ok(line) => {
                assert_eq!(line.text().as_bytes(), bytes.strip_suffix(b"\r").unwrap_or(&bytes));
                let again = Line::new(line.sender, line.recipient, line.command, &line.values);
                let read = Line::parse(again.text().as_bytes()).expect("what is written is a line");
                let bits = |l: &Line| l.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&read), bits(&line));
                assert_eq!(read.control(), line.control());
            }
            Err(bad) => assert!(bad.column <= bytes.len() + 1, "the column is in the line"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(line: &str) -> (usize, Reason) {
        let bad = Line::parse(line.as_bytes()).unwrap_err();
        (bad.column, bad.reason)
    }

    #[test]
    fn a_line_is_read_and_kept_to_the_byte() {
        let line = Line::parse(b"1  2\t10 0. -1.5e1 +3 \r").unwrap();
        assert_eq!((line.sender, line.recipient, line.command), (1, 2, 10));
        assert_eq!(line.values, [0.0, -15.0, 3.0]);
        assert_eq!(line.text(), "1  2\t10 0. -1.5e1 +3 ");
    }

    #[test]
    fn every_reason_has_its_column() {
        assert_eq!(wrong(""), (1, Reason::Empty));
        assert_eq!(wrong("  "), (3, Reason::Empty));
        assert_eq!(wrong("1"), (2, Reason::Missing(Field::Recipient)));
        assert_eq!(wrong("1 2 "), (5, Reason::Missing(Field::Command)));
        assert_eq!(wrong("1 -2 3"), (3, Reason::NotWhole(Field::Recipient)));
        assert_eq!(wrong("1 2 3.0"), (5, Reason::NotWhole(Field::Command)));
        assert_eq!(wrong("65536 2 3"), (1, Reason::TooGreat(Field::Sender)));
        assert_eq!(wrong("99999999999999999999 2 3"), (1, Reason::TooGreat(Field::Sender)));
        assert_eq!(wrong("1 2 3 4 x"), (9, Reason::NotANumber("x".into())));
        assert_eq!(wrong("1 2 3 nan"), (7, Reason::NotANumber("nan".into())));
        assert_eq!(wrong("1 2 3 inf"), (7, Reason::NotANumber("inf".into())));
        assert_eq!(wrong("1 2 3 1e999"), (7, Reason::NotFinite("1e999".into())));
        assert_eq!(wrong("1 2 3 \u{e9}"), (7, Reason::NotText(0xc3)));
        assert_eq!(wrong("1 2 3\u{7}"), (6, Reason::NotText(7)));
        assert_eq!(wrong(&format!("1 2 3{}", " 0".repeat(65))), (135, Reason::TooMany));
        assert_eq!(wrong(&"1 ".repeat(2000)), (2049, Reason::TooLong));
    }

    #[test]
    fn what_the_controller_alone_may_say_is_refused_from_others() {
        assert_eq!(wrong("1 0 0 0 0 0 1 1 1").1, Reason::NotController(0));
        assert_eq!(wrong("7 0 65535 0 0").1, Reason::NotController(65535));
        assert_eq!(wrong("65535 1 1").1, Reason::Nobody);
        assert!(matches!(wrong("0 0 0 1 2 3").1, Reason::Shape(_)));
        assert!(matches!(wrong("0 0 0 9 0 0 1 1 1").1, Reason::Shape(_)));
    }

    #[test]
    fn the_longest_line_that_can_be_written_can_be_read() {
        let line = Line::new(65534, 65534, 65000, &[-1.234_567_890_123_456_7e-300; MOST_VALUES]);
        assert_eq!(Line::parse(line.text().as_bytes()), Ok(line));
    }

    #[test]
    fn numbers_are_short_and_exact() {
        assert_eq!([0.0, -0.5, 1e-9, 3.0, 1e300].map(number), ["0", "-0.5", "1e-9", "3", "1e300"]);
    }

    #[test]
    fn a_stream_is_cut_into_lines_wherever_its_pieces_end() {
        let text = format!("1 2 3\n{}\n\n4 5 6\nlast", "9".repeat(5000));
        for piece in [1, 7, 1000, 9000] {
            let mut splitter = Splitter::default();
            let mut lines: Vec<Vec<u8>> = Vec::new();
            for bytes in text.as_bytes().chunks(piece) {
                splitter.push(bytes, |l| lines.push(l.to_vec()));
            }
            splitter.finish(|l| lines.push(l.to_vec()));
            assert_eq!(lines.len(), 5);
            assert_eq!((&lines[0][..], lines[1].len()), (&b"1 2 3"[..], MOST_BYTES + 2));
            assert_eq!(lines[2..], [b"".to_vec(), b"4 5 6".to_vec(), b"last".to_vec()]);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_told_at_once_and_only_once() {
        let mut splitter = Splitter::default();
        let mut told = Vec::new();
        for _ in 0..10 {
            splitter.push(&[b'9'; 500], |l| told.push(l.len()));
        }
        assert_eq!(told, [MOST_BYTES + 2], "although no end of it is in sight");
        splitter.push(b"99\n1 2 3\n", |l| told.push(l.len()));
        splitter.finish(|l| told.push(l.len()));
        assert_eq!(told, [MOST_BYTES + 2, 5]);
    }
}
