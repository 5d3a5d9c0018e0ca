//! Events, calls and replies as lines of text: what a native program is told, and what it answers.
//!
//! docs/cooperative-programs.md is the specification. Numbers are written so that they come back to the bit.

use super::call::{Call, MOST_BYTES, MOST_CHARS, MOST_DRAWS, Reply};
use super::event::Event;
use std::fmt::Write as _;
use swarmyard_base::{Moment, Vec2};
use swarmyard_part_api::{Answer, Ended, Every, Motion, Query, Seen, Watch, WatchFor};

/// What ends a turn.
pub(super) const END: &str = ".";

/// What a line of a program means; `None` ends its turn.
///
/// # Errors
/// Why it means nothing.
pub(super) fn call(line: &str) -> Result<Option<Call>, String> {
    if line == END {
        return Ok(None);
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    if word == "say" {
        let text = rest.chars().filter(|c| !c.is_control()).take(MOST_CHARS).collect();
        return Ok(Some(Call::Say(text)));
    }
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let found = plain(word, &words).or_else(|| with_numbers(word, &words));
    found.map(Some).ok_or_else(|| {
        let shown: String = line.chars().take(60).collect();
        format!("it said `{shown}`, which is no call")
    })
}

/// Whether a call has an answer, for which the program waits.
pub(super) fn is_question(call: &Call) -> bool {
    matches!(call, Call::Pull(_) | Call::Uniforms(_) | Call::Pending(_))
}

/// Calls whose arguments are whole numbers or bytes.
fn plain(word: &str, words: &[&str]) -> Option<Call> {
    Some(match (word, words) {
        ("halt", []) => Call::Halt,
        ("send", ["all", hex]) => Call::Send { to: None, bytes: bytes(hex)? },
        ("send", [to, hex]) => Call::Send { to: Some(to.parse().ok()?), bytes: bytes(hex)? },
        ("broadcast", [hex]) => Call::Broadcast(bytes(hex)?),
        ("unwatch", [watch]) => Call::Unwatch(watch.parse().ok()?),
        ("cancel", [timer]) => Call::Cancel(timer.parse().ok()?),
        ("shine", [light]) => Call::Shine(light.parse().ok()?),
        ("uniform", []) => Call::Uniforms(1),
        ("uniform", [n]) => Call::Uniforms(n.parse().ok().filter(|n| (1..=MOST_DRAWS).contains(n))?),
        ("pending", [robot]) => Call::Pending(robot.parse().ok()?),
        _ => return None,
    })
}

/// Calls whose arguments are real numbers.
fn with_numbers(word: &str, words: &[&str]) -> Option<Call> {
    let numbers: Option<Vec<f64>> = words.iter().map(|w| w.parse().ok()).collect();
    let every = |s: f64| if s > 0.0 { Every::Interval(s) } else { Every::Exact };
    Some(match (word, &numbers?[..]) {
        ("move_to", &[x, y, speed, turn_speed]) => {
            Call::Go(Motion::MoveTo { to: Vec2::new(x, y), speed, turn_speed })
        }
        ("turn", &[by, turn_speed]) => Call::Go(Motion::Turn { by, turn_speed }),
        ("forward", &[distance, speed]) => Call::Go(Motion::Forward { distance, speed }),
        ("velocity", &[vx, vy, for_s]) => Call::Go(Motion::Velocity { velocity: Vec2::new(vx, vy), for_s }),
        ("arc", &[speed, spin, for_s]) => Call::Go(Motion::Arc { speed, spin, for_s }),
        ("gps", &[]) => Call::Pull(Query::Gps { error: 0.0 }),
        ("gps", &[error]) => Call::Pull(Query::Gps { error }),
        ("gps_all", &[]) => Call::Pull(Query::GpsAll { error: 0.0 }),
        ("gps_all", &[error]) => Call::Pull(Query::GpsAll { error }),
        ("view", &[range]) => Call::Pull(Query::View { range }),
        ("proximity", &[range]) => Call::Pull(Query::Proximity { range }),
        ("watch_near", &[range, s]) => {
            Call::Watch(Watch { what: WatchFor::Near { range }, every: every(s) })
        }
        ("watch_contact", &[s]) => Call::Watch(Watch { what: WatchFor::Contact, every: every(s) }),
        ("timer", &[after_s]) => Call::Timer(after_s),
        _ => return None,
    })
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
    };
    format!("now {}\n{what}\n", now.since(Moment::ZERO))
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
        for bad in ["fly 1 2", "move_to 1 2 3", "move_to a b c d", "send 1 abc", "send 1 zz", "shine 256", "uniform 0", "uniform 9999", "", "gps x", "send -1 00"] {
            assert!(call(bad).is_err(), "{bad:?}");
        }
        let long = format!("send 0 {}", "00".repeat(MOST_BYTES + 1));
        assert!(call(&long).unwrap_err().len() < 100);
    }

    #[test]
    fn bytes_and_numbers_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes(&hex(&all)), Some(all));
        assert_eq!(bytes(&hex(&[])), Some(Vec::new()));
        let Ok(Some(Call::Timer(s))) = call(&format!("timer {}", 0.1 + 0.2)) else { panic!("a timer") };
        assert_eq!(s, 0.1 + 0.2);
    }

    #[test]
    fn only_questions_are_answered() {
        let asks = |line: &str| is_question(&call(line).unwrap().unwrap());
        assert!(asks("gps") && asks("uniform 3") && asks("pending 0") && asks("view 2.5") && asks("gps_all 0.1"));
        assert!(!asks("halt") && !asks("timer 1") && !asks("say hello there") && !asks("send all 00ff"));
    }
}
