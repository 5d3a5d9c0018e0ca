//! The interpolator of 1986 as it stands in print, mistakes and all.
//!
//! It reads numbers, not lines, as `scanf` does, and that shows: nothing reads the six numbers of a reset, so the next
//! message begins with them; what it passes on loses its newline; and since the old point is kept after the new one has
//! been read, nothing is ever led over in steps. It is here to be compared with, not to be used: in a chain it is soon
//! ended for nonsense.
//!
//! One thing is not as printed: where the input ends in the middle of a line that is passed on, the program of 1986
//! would write for ever, and this one ends.

use super::smooth::{LAST, Point};
use std::io::{self, Read, Write};

/// Runs it until its input ends, or a point has flag 1.
///
/// # Errors
/// When the streams fail.
pub fn run(me: u16, display: u16, input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut scan = Scan { bytes: io::BufReader::new(input).bytes(), next: None };
    let (me, display, command_out) = (i32::from(me), i32::from(display), 10);
    let mut has_point = false;
    while let Some([from, to, command]) = scan.three()? {
        if to != 0 && to != me {
            write!(output, "{from} {to} {command}")?;
            while let Some(byte) = scan.get()?
                && byte != b'\n'
            {
                output.write_all(&[byte])?;
            }
            output.flush()?;
            continue;
        }
        match command {
            0 => {
                has_point = false;
                writeln!(output, "{}", Point::default().text(me, display, command_out))?;
            }
            10 => {
                let point = scan.point()?;
                if point.flag == 1 {
                    writeln!(output, "{me} {display} {command_out} {LAST}")?;
                    return output.flush();
                }
                if !has_point {
                    writeln!(output, "{}", point.text(me, display, command_out))?;
                    has_point = true;
                }
                // As printed, the old point is the new one here: there is never anything to lead over.
            }
            _ => {}
        }
        output.flush()?;
    }
    output.flush()
}

/// What `scanf` and `getchar` see.
struct Scan<R: Read> {
    bytes: io::Bytes<R>,
    next: Option<u8>,
}

impl<R: Read> Scan<R> {
    fn get(&mut self) -> io::Result<Option<u8>> {
        match self.next.take() {
            Some(byte) => Ok(Some(byte)),
            None => self.bytes.next().transpose(),
        }
    }

    /// Blanks are skipped; then bytes are taken while they can be part of the number.
    fn word(&mut self, belongs: fn(u8) -> bool) -> io::Result<String> {
        let mut word = String::new();
        while let Some(byte) = self.get()? {
            let is_blank = byte.is_ascii_whitespace();
            if is_blank && word.is_empty() {
                continue;
            }
            if is_blank || !belongs(byte) || word.len() > 40 {
                self.next = Some(byte);
                break;
            }
            word.push(char::from(byte));
        }
        Ok(word)
    }

    fn whole(&mut self) -> io::Result<Option<i32>> {
        Ok(self.word(|b| b.is_ascii_digit() || b == b'-' || b == b'+')?.parse().ok())
    }

    fn single(&mut self) -> io::Result<f32> {
        let word = self.word(|b| b.is_ascii_digit() || b"+-.eE".contains(&b))?;
        Ok(word.parse().unwrap_or(0.0))
    }

    fn three(&mut self) -> io::Result<Option<[i32; 3]>> {
        let (from, to, command) = (self.whole()?, self.whole()?, self.whole()?);
        Ok(from.zip(to).zip(command).map(|((f, t), c)| [f, t, c]))
    }

    fn point(&mut self) -> io::Result<Point> {
        let d = [self.single()?, self.single()?];
        let base = self.single()?;
        let flag = self.whole()?.unwrap_or(0);
        let v = [base, self.single()?, self.single()?, self.single()?, self.single()?];
        Ok(Point { d, flag, v })
    }
}
