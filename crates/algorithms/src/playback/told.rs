//! One note as a text: when, of whom, and what, with blanks between.
//!
//! | word | what belongs to it |
//! |---|---|
//! | `said` | the text, up to the end |
//! | `became` | `crashed`, `recovered`, `endless`, `swallowed` |
//! | `sent` | number of the message, receivers with commas between, type, content up to the end |
//! | `received` | number of the message, sender, type, content up to the end |
//! | `wanted` | number of the task, then `turn ANGLE SPEED`, `forward WAY SPEED` or `move-to X Y SPEED TURNING` |
//! | `begins`, `begins-first`, `next`, `finished`, `passed`, `collided`, `collided-on` | name of the motion, x, y, target x, target y, heading, angle to turn, way to go, turning speed, speed; `-first` and `-on` of a motion of several phases |
//! | `asked` | `gps ERROR`, `view RANGE`, `proximity RANGE` or `own SENSOR ARGUMENTS` |
//! | `looks-out` | `near RANGE`, `contact` or `own SENSOR ARGUMENTS` |
//! | `pushed` | how many points, their x and y, then as after `looks-out` |
//!
//! Everything in SI units.

use swarmyard_base::{Uid, Vec2};
use swarmyard_part_api::{Every, Motion, Note, Query, Row, RowKind, Watch, WatchFor};

/// The name under which messages of a log go: it does not say which protocol they are of, and calls their lines so.
const PROTOCOL: &str = "messages";
/// Most points that a push sensor found.
const MOST_POINTS: usize = 1_000_000;

/// A note with its time and its robot.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) time_s: f64,
    pub(super) robot: u32,
    pub(super) what: Note,
}

impl Told {
    /// Reads a text.
    pub(super) fn read(text: &str) -> Result<Told, String> {
        let mut words = Words(Some(text));
        let time_s = words.number("a time")?;
        if time_s < 0.0 {
            return Err(format!("the time is negative: {time_s}"));
        }
        let robot = words.whole("the number of a robot")?;
        let what = note(&mut words)?;
        if let Some(more) = words.0 {
            return Err(format!("there is more than belongs to it: {more}"));
        }
        Ok(Told { time_s, robot, what })
    }
}

fn note(words: &mut Words<'_>) -> Result<Note, String> {
    let word = words.word("what happened")?;
    Ok(match word {
        "said" => Note::Said(words.rest()),
        "became" => Note::Became(state(words.word("what it became")?)?),
        "sent" => {
            let serial = words.whole("the number of a message")?;
            let to = words.word("receivers")?.split(',');
            let to = to.map(|n| n.parse().map_err(|_| format!("{n} is no receiver")));
            let (to, protocol) = (to.collect::<Result<_, _>>()?, PROTOCOL.to_owned());
            let (label, content) = (words.word("a type")?.to_owned(), words.rest());
            Note::Sent { serial, to, protocol, label, content, bytes: 0 }
        }
        "received" => {
            let serial = words.whole("the number of a message")?;
            let from = words.whole("the number of its sender")?;
            let (label, protocol) = (words.word("a type")?.to_owned(), PROTOCOL.to_owned());
            Note::Received { serial, from, protocol, label, content: words.rest() }
        }
        "wanted" => Note::Wanted { task: words.whole("the number of a task")?, motion: motion(words)? },
        "asked" => Note::Asked(query(words)?),
        "looks-out" => Note::Watched(Some(Watch { what: watch(words)?, every: Every::Exact })),
        "pushed" => {
            let count: usize = words.whole("how many points")?;
            if count > MOST_POINTS {
                return Err(format!("at most {MOST_POINTS} points can be found"));
            }
            let found: Result<Vec<Vec2>, String> = (0..count).map(|_| words.point()).collect();
            let (found, what) = (found?, watch(words)?);
            Note::Pushed { text: format!("{what:?} | {found:?}"), what, found }
        }
        _ => Note::Row(row(kind(word)?, words)?),
    })
}

fn state(word: &str) -> Result<&'static str, String> {
    let known = ["crashed", "recovered", "endless", "swallowed"];
    known.into_iter().find(|k| *k == word).ok_or_else(|| format!("no robot becomes {word}"))
}

fn kind(word: &str) -> Result<RowKind, String> {
    Ok(match word {
        "begins" => RowKind::Begin(false),
        "begins-first" => RowKind::Begin(true),
        "next" => RowKind::Next,
        "finished" => RowKind::Finish,
        "passed" => RowKind::Passed,
        // With whom nobody wrote down.
        "collided" => RowKind::Collision(Uid(0), false),
        "collided-on" => RowKind::Collision(Uid(0), true),
        _ => return Err(format!("nothing is called {word}")),
    })
}

fn row(kind: RowKind, words: &mut Words<'_>) -> Result<Row, String> {
    let motion = words.word("the name of a motion")?.to_owned();
    let (at, to) = (words.point()?, words.point()?);
    let heading = words.number("a heading")?;
    let turn = words.number("an angle to turn")?;
    let distance = words.number("a way to go")?;
    let turn_speed = words.number("a turning speed")?;
    Ok(Row { motion, kind, at, to, heading, turn, distance, turn_speed, speed: words.number("a speed")? })
}

fn motion(words: &mut Words<'_>) -> Result<Motion, String> {
    Ok(match words.word("a motion")? {
        "turn" => Motion::Turn { by: words.number("an angle")?, turn_speed: words.number("a speed")? },
        "forward" => Motion::Forward { distance: words.number("a way")?, speed: words.number("a speed")? },
        "move-to" => Motion::MoveTo {
            to: words.point()?,
            speed: words.number("a speed")?,
            turn_speed: words.number("a turning speed")?,
        },
        other => return Err(format!("no motion is called {other}")),
    })
}

fn query(words: &mut Words<'_>) -> Result<Query, String> {
    Ok(match words.word("a question")? {
        "gps" => Query::Gps { error: words.number("an error")? },
        "view" => Query::View { range: words.number("a range")? },
        "proximity" => Query::Proximity { range: words.number("a range")? },
        "own" => {
            let (sensor, args) = words.own()?;
            Query::Own { sensor, args }
        }
        other => return Err(format!("no question is called {other}")),
    })
}

fn watch(words: &mut Words<'_>) -> Result<WatchFor, String> {
    Ok(match words.word("what it looks out for")? {
        "near" => WatchFor::Near { range: words.number("a range")? },
        "contact" => WatchFor::Contact,
        "own" => {
            let (sensor, args) = words.own()?;
            WatchFor::Own { sensor, args }
        }
        other => return Err(format!("nobody looks out for {other}")),
    })
}

/// What is left of a text; nothing when its last word was taken.
struct Words<'t>(Option<&'t str>);

impl<'t> Words<'t> {
    fn word(&mut self, what: &str) -> Result<&'t str, String> {
        let rest = self.0.ok_or_else(|| format!("{what} is missing"))?;
        let (word, rest) = rest.split_once(' ').map_or((rest, None), |(word, rest)| (word, Some(rest)));
        self.0 = rest;
        if word.is_empty() { Err(format!("{what} is missing, or a blank too many")) } else { Ok(word) }
    }

    fn rest(&mut self) -> String {
        self.0.take().unwrap_or_default().to_owned()
    }

    fn number(&mut self, what: &str) -> Result<f64, String> {
        let word = self.word(what)?;
        word.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| format!("{word} is not {what}"))
    }

    fn whole<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| format!("{word} is not {what}"))
    }

    fn point(&mut self) -> Result<Vec2, String> {
        Ok(Vec2::new(self.number("an x")?, self.number("a y")?))
    }

    /// A sensor of one's own, and numbers up to the end.
    fn own(&mut self) -> Result<(String, Vec<f64>), String> {
        let sensor = self.word("a sensor")?.to_owned();
        let mut args = Vec::new();
        while self.0.is_some() {
            args.push(self.number("an argument")?);
        }
        Ok((sensor, args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_with_everything_that_belongs_to_them() {
        let what =
            |text: &str| format!("{:?}", Told::read(text).unwrap_or_else(|e| panic!("{text}: {e}")).what);
        assert_eq!(what("0 3 said a  b "), r#"Said("a  b ")"#);
        assert_eq!(what("0 3 said"), r#"Said("")"#);
        assert_eq!(what("0 3 became crashed"), r#"Became("crashed")"#);
        let sent = what("0.031 0 sent 12 1,4 GOTO (1, 2)");
        assert!(sent.contains("serial: 12, to: [1, 4]") && sent.contains(r#"content: "(1, 2)""#), "{sent}");
        let came = what("1 4 received 12 0 GOTO");
        assert!(came.contains("from: 0") && came.contains(r#"content: """#), "{came}");
        assert!(what("1 4 wanted 1 move-to 1 2 3 4").contains("speed: 3.0, turn_speed: 4.0"));
        let row = what("1 4 collided-on MoveTo 1 2 3 4 5 6 7 8 9");
        assert!(row.contains("Collision(") && row.contains("true") && row.contains("speed: 9.0"), "{row}");
        assert!(what("1 4 pushed 1 2 3 own eye 4 5").contains(r#"sensor: "eye", args: [4.0, 5.0]"#));
        assert!(what("1 4 asked proximity 0.5").contains("range: 0.5"));
        assert!(what("1 4 looks-out contact").contains("Contact"));
    }

    #[test]
    fn what_is_no_note_is_refused_in_words() {
        for (text, word) in [
            ("", "a time"),
            ("soon 3 said", "soon"),
            ("-1 3 said", "negative"),
            ("inf 3 said", "inf"),
            ("0 -3 said", "-3"),
            ("0  3 said", "blank"),
            ("0 3", "what happened"),
            ("0 3 shouted x", "shouted"),
            ("0 3 became king", "king"),
            ("0 3 became crashed twice", "twice"),
            ("0 3 sent 1 2,x GOTO", "x is no receiver"),
            ("0 3 sent 1 2", "a type"),
            ("0 3 wanted 1 jump", "jump"),
            ("0 3 next MoveTo 1 2 3", "a y"),
            ("0 3 pushed 9999999 1 2", "at most"),
            ("0 3 pushed 1 2 3 near", "a range"),
        ] {
            let why = Told::read(text).expect_err(text);
            assert!(why.contains(word), "{text}: {why}");
        }
    }
}
