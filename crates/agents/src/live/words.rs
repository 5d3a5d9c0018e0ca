//! Events, calls and replies as lines of text: what a native program is told, and what it answers.
//!
//! docs/cooperative-programs.md is the specification. Numbers are written so that they come back to the bit.

use super::call::{Call, MOST_ARGS, MOST_BYTES, MOST_CHARS, MOST_DRAWS, MOST_NAME, Reply};
use super::event::Event;
use super::table::{Arg, Field, News, Taken, Told, row};
use std::fmt::Write as _;
use swarmyard_base::Moment;
use swarmyard_part_api::{Answer, Ended, Seen};

/// What ends a turn.
pub(super) const END: &str = ".";

/// A call that a line is.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) call: Call,
    /// Whether it has an answer, for which the program waits.
    pub(super) asks: bool,
}

/// What a line of a program means; `None` ends its turn.
///
/// # Errors
/// Why it means nothing.
pub(super) fn call(line: &str) -> Result<Option<Said>, String> {
    if line == END {
        return Ok(None);
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    if word == "say" {
        let text = rest.chars().filter(|c| !c.is_control()).take(MOST_CHARS).collect();
        return Ok(Some(Said { call: Call::Say(text), asks: false }));
    }
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let found = match (word, &words[..]) {
        ("uniform", []) => uniforms("1"),
        ("uniform", [n]) => uniforms(n),
        ("send", ["all", hex]) => by_table("send_all", &[*hex]),
        _ => by_table(word, &words),
    };
    found.map(Some).ok_or_else(|| {
        let shown: String = line.chars().take(60).collect();
        let should = row(word).map_or_else(String::new, |row| format!(": `{}` is one", row.line()));
        format!("it said `{shown}`, which is no call{should}")
    })
}

fn uniforms(n: &str) -> Option<Said> {
    let n = n.parse().ok().filter(|n| (1..=MOST_DRAWS).contains(n))?;
    Some(Said { call: Call::Uniforms(n), asks: true })
}

/// A call that has a row.
fn by_table(word: &str, words: &[&str]) -> Option<Said> {
    let row = row(word)?;
    let (mut taken, mut words) = (Taken::default(), words.iter());
    for arg in row.takes {
        match arg {
            Arg::Real(_) => taken.reals.push(words.next()?.parse().ok()?),
            Arg::RealOr0(_) => taken.reals.push(words.next().map_or(Some(0.0), |w| w.parse().ok())?),
            Arg::Whole(_) => taken.wholes.push(words.next()?.parse().ok()?),
            Arg::Byte(_) => taken.wholes.push(u64::from(words.next()?.parse::<u8>().ok()?)),
            Arg::Bytes(_) => taken.bytes = bytes(words.next()?)?,
            Arg::Name(_) => taken.name = (*words.next()?).to_owned(),
            Arg::Reals(_) if words.len() > MOST_ARGS => return None,
            Arg::Reals(_) => {
                taken.list = words.by_ref().map(|w| w.parse::<f64>().ok()).collect::<Option<_>>()?
            }
        }
    }
    if words.next().is_some() || taken.name.len() > MOST_NAME {
        return None;
    }
    Some(Said { call: (row.make)(&mut taken)?, asks: row.gives.is_answer() })
}

/// Bytes from their hexadecimal digits; `-` is none.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    if hex == "-" {
        return Some(Vec::new());
    }
    let digits = hex.as_bytes();
    if !digits.len().is_multiple_of(2) || digits.len() > 2 * MOST_BYTES {
        return None;
    }
    let digit = |d: u8| char::from(d).to_digit(16);
    digits.chunks(2).map(|pair| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8)).collect()
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, b| {
        let _ = write!(text, "{b:02x}");
        text
    })
}

/// The first line of all.
pub(super) fn hello(me: u32, robots: u32) -> String {
    format!("swarm 1 {me} {robots}\n")
}

/// The lines that tell of an event.
pub(super) fn told(now: Moment, event: &Event) -> String {
    let what = match event {
        Event::Start => "start".to_owned(),
        Event::Ended { motion, how: Ended::Finished } => format!("ended {motion} finished"),
        Event::Ended { motion, how: Ended::Replaced } => format!("ended {motion} replaced"),
        Event::Ended { motion, how: Ended::Swallowed } => format!("ended {motion} swallowed"),
        Event::Ended { motion, how: Ended::Collided { robot, at, .. } } => {
            format!("ended {motion} collided {} {} {}", number(*robot), at.x, at.y)
        }
        Event::Message { from, bytes, broadcast: false } => format!("message {from} {}", hex(bytes)),
        Event::Message { from, bytes, broadcast: true } => format!("broadcast {from} {}", hex(bytes)),
        Event::Timer(timer) => format!("timer {timer}"),
        Event::Pushed { watch, answer } => {
            let reply = match answer.clone() {
                Answer::Point(at) => Reply::Point(at),
                Answer::Seen(seen) => Reply::Seen(seen),
                Answer::Numbers(numbers) => Reply::Numbers(numbers),
            };
            format!("pushed {watch} {}", answer_line(&reply))
        }
        Event::News { news, told } => news_line(news, told),
    };
    format!("now {}\n{what}\n", now.since(Moment::ZERO))
}

fn news_line(news: &News, told: &Told) -> String {
    let mut line = news.word.to_owned();
    for field in news.says {
        let _ = match field {
            Field::A(_) => write!(line, " {}", told.a),
            Field::X(_) => write!(line, " {}", told.x),
            Field::Y(_) => write!(line, " {}", told.y),
            Field::Hex => write!(line, " {}", hex(&told.bytes)),
            Field::Text(_) => {
                write!(line, " {}", String::from_utf8_lossy(&told.bytes).replace(char::is_control, " "))
            }
            Field::List(_) => {
                let _ = write!(line, " {}", told.list.len());
                told.list.iter().try_for_each(|robot| write!(line, " {robot}"))
            }
        };
    }
    line
}

/// The line that answers a question.
pub(super) fn answered(reply: &Reply) -> String {
    format!("{}\n", answer_line(reply))
}

fn answer_line(reply: &Reply) -> String {
    match reply {
        Reply::Done => "done".to_owned(),
        Reply::Number(n) => format!("number {n}"),
        Reply::Point(at) => format!("point {} {}", at.x, at.y),
        Reply::Numbers(all) => all.iter().fold(format!("numbers {}", all.len()), |mut text, x| {
            let _ = write!(text, " {x}");
            text
        }),
        Reply::Seen(all) => all.iter().fold(format!("seen {}", all.len()), |mut text, s| {
            let Seen { robot, at, light } = s;
            let _ = write!(text, " {} {} {} {light}", number(*robot), at.x, at.y);
            text
        }),
        Reply::Pending(all) => all.iter().fold(format!("pending {}", all.len()), |mut text, p| {
            let what = p.what.replace(char::is_whitespace, "-");
            let (at, conditional) = (p.at.since(Moment::ZERO), u8::from(p.conditional));
            let _ = write!(text, " {at} {conditional} {what}");
            text
        }),
        Reply::Coming(all) => all.iter().fold(format!("coming {}", all.len()), |mut text, p| {
            let what = p.what.replace(char::is_whitespace, "-");
            let (at, conditional) = (p.at.since(Moment::ZERO), u8::from(p.conditional));
            let _ = write!(text, " {at} {conditional} {} {what}", number(p.robot));
            text
        }),
        Reply::Bytes(bytes) => format!("bytes {}", hex(bytes)),
        Reply::No(why) => format!("no {}", why.replace(char::is_control, " ")),
    }
}

fn number(robot: Option<u32>) -> i64 {
    robot.map_or(-1, i64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_mean_nothing_are_named() {
        for bad in [
            "fly 1 2",
            "move_to 1 2 3",
            "move_to a b c d",
            "send 1 abc",
            "send 1 zz",
            "shine 256",
            "uniform 0",
            "uniform 9999",
            "",
            "gps x",
            "send -1 00",
            "propose 00",
            "propose -1 00",
            "propose 1 00 00",
            "propose 18446744073709551616 00",
            "elect 1",
            "exclude 4294967296",
            "cast",
            "clock_at",
            "clock_at soon",
            "pattern",
            "pattern square x",
            "sense",
            "watch_own nose",
            "persist 0",
            "decided 1 00",
        ] {
            assert!(call(bad).is_err(), "{bad:?}");
        }
        let long = format!("send 0 {}", "00".repeat(MOST_BYTES + 1));
        assert!(call(&long).unwrap_err().len() < 130);
        assert!(call("propose 1").unwrap_err().ends_with("no call: `propose INSTANCE HEX` is one"));
        // Bounds of what names and numbers there may be.
        let name = "n".repeat(MOST_NAME);
        assert!(call(&format!("sense {name}")).is_ok() && call(&format!("sense {name}n")).is_err());
        let args = " 1".repeat(MOST_ARGS);
        assert!(call(&format!("pattern p{args}")).is_ok() && call(&format!("pattern p{args} 1")).is_err());
        let big = "00".repeat(MOST_BYTES + 1);
        for word in ["propose 1", "cast", "private", "persist"] {
            assert!(call(&format!("{word} {big}")).is_err(), "{word}");
        }
    }

    #[test]
    fn bytes_and_numbers_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes(&hex(&all)), Some(all));
        assert_eq!(bytes(&hex(&[])), Some(Vec::new()));
        let said = call(&format!("timer {}", 0.1 + 0.2)).unwrap().unwrap();
        let Call::Timer(s) = said.call else { panic!("a timer") };
        assert_eq!(s, 0.1 + 0.2);
    }

    #[test]
    fn only_questions_are_answered() {
        let asks = |line: &str| call(line).unwrap().unwrap().asks;
        assert!(
            asks("gps") && asks("uniform 3") && asks("pending 0") && asks("view 2.5") && asks("gps_all 0.1")
        );
        assert!(
            asks("coming 0") && asks("sense nose 1 2") && asks("persisted") && asks("proximity_points 1")
        );
        assert!(
            !asks("propose 1 00") && !asks("elect") && !asks("clock_at 2.5") && !asks("pattern square 1 2")
        );
        assert!(!asks("halt") && !asks("timer 1") && !asks("say hello there") && !asks("send all 00ff"));
    }
}
