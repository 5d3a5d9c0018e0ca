//! Who is shown: the robots and channels that were asked for, found in the world that the server tells of.

use crate::cli::fail::{Exit, Failure};
use serde_json::{Value, json};
use swarmyard::base::Diagnostic;
use swarmyard::record::Bodies as Drawing;

/// Most numbers that a server follows for one display.
const MOST_NUMBERS: usize = 64;

/// A number of a channel: `/robots/r1/rays.range[3]`; without an index, all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    path: String,
    channel: String,
    index: Option<usize>,
}

impl Number {
    /// Reads `PART.CHANNEL` or `PART.CHANNEL[INDEX]`.
    pub(super) fn parse(text: &str) -> Result<Number, String> {
        let wrong = || "write it as /robots/r1/sonar.range, or /robots/r1/rays.range[3]".to_owned();
        let (name, index) = match text.strip_suffix(']').and_then(|t| t.split_once('[')) {
            Some((name, index)) => (name, Some(index.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let (path, channel) =
            name.rsplit_once('.').filter(|(p, c)| p.starts_with('/') && !c.is_empty()).ok_or_else(wrong)?;
        Ok(Number { path: path.to_owned(), channel: channel.to_owned(), index })
    }

    /// As it is printed.
    pub(super) fn name(&self) -> String {
        match self.index {
            Some(k) => format!("{}.{}[{k}]", self.path, self.channel),
            None => format!("{}.{}", self.path, self.channel),
        }
    }
}

/// Who is shown.
#[derive(Default)]
pub(super) struct Cast {
    /// Whether a world was told of at all.
    pub(super) is_told: bool,
    /// The world's.
    pub(super) revision: u64,
    /// How many bodies a frame has.
    pub(super) bodies: usize,
    /// Number and path of each body that is shown.
    pub(super) paths: Vec<(usize, String)>,
    /// The numbers that are shown, each with its index.
    pub(super) numbers: Vec<Number>,
}

impl Cast {
    /// Finds who was asked for.
    pub(super) fn of(world: &Value, robots: &[String], channels: &[Number]) -> Result<Cast, Failure> {
        let drawing: Drawing = serde_json::from_value(world["drawing"].clone()).map_err(|e| {
            Failure::new(
                Exit::Failed,
                "world",
                format!("the server tells of a world that cannot be read: {e}"),
            )
        })?;
        let mut cast = Cast {
            revision: world["revision"].as_u64().unwrap_or(0),
            bodies: drawing.len(),
            is_told: true,
            ..Cast::default()
        };
        let mut all = Vec::new();
        for (ty, range) in drawing.types.iter().zip(drawing.ranges()) {
            for (k, path) in range.zip(ty.names.iter()) {
                let wanted = match robots {
                    [] => ty.kind == "robot",
                    some => some.iter().any(|r| is_meant(r, &path)),
                };
                if wanted {
                    cast.paths.push((k, path.clone()));
                }
                all.push(path);
            }
        }
        if let Some(stranger) = robots.iter().find(|r| !all.iter().any(|path| is_meant(r, path))) {
            let what = format!("there is no robot `{stranger}` in this world");
            let names = all.iter().take(10_000).map(String::as_str);
            return Err(Failure::one(
                Exit::Usage,
                Diagnostic::error("unknown-path", what).suggest(stranger, names),
            ));
        }
        for number in channels {
            cast.add(world, &drawing, number)?;
        }
        Ok(cast)
    }

    /// Adds a number, or all of its channel.
    fn add(&mut self, world: &Value, drawing: &Drawing, number: &Number) -> Result<(), Failure> {
        let len = length(world, drawing, number).ok_or_else(|| {
            let what = format!("there is no channel `{}` in this world", number.name());
            Failure::new(Exit::Usage, "unknown-channel", what)
                .help("write it as PART.CHANNEL, such as /robots/r1/sonar.range")
        })?;
        let wanted = number.index.map_or(0..len, |k| k..k.saturating_add(1));
        if wanted.end > len || self.numbers.len() + wanted.len() > MOST_NUMBERS {
            let what =
                format!("`{}` is beyond its channel, or more than {MOST_NUMBERS} in all", number.name());
            return Err(Failure::new(Exit::Usage, "too-many", what).help("say which: rays.range[3]"));
        }
        self.numbers.extend(wanted.map(|k| Number { index: Some(k), ..number.clone() }));
        Ok(())
    }

    /// What is asked of the server.
    pub(super) fn probes(&self) -> Vec<Value> {
        let probes = self.numbers.iter();
        probes.map(|n| json!({ "path": n.path, "channel": n.channel, "index": n.index })).collect()
    }
}

/// Whether `/robots/r1` is meant by `/robots/r1`, `r1` or `r*`.
fn is_meant(word: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match word.strip_suffix('*') {
        Some(start) => path.starts_with(start) || name.starts_with(start),
        None => path == word || name == word,
    }
}

/// How many numbers a channel has.
fn length(world: &Value, drawing: &Drawing, number: &Number) -> Option<usize> {
    let type_of = |path: &str| drawing.types.iter().position(|t| t.names.iter().any(|name| name == path));
    if ["x", "y", "heading"].contains(&number.channel.as_str()) && type_of(&number.path).is_some() {
        return Some(1);
    }
    let (robot, part) = number.path.rsplit_once('/')?;
    let parts = world["types"][type_of(robot)?]["parts"].as_array()?;
    let channels = parts.iter().find(|p| p["name"] == part)?["channels"].as_array()?;
    let len = channels.iter().find(|c| c["name"] == number.channel.as_str())?["len"].as_u64()?;
    usize::try_from(len).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard::Sim;

    fn world() -> Value {
        let text = "format = 1\n[world]\nmin = [0, 0]\nmax = [9, 9]\n[type.bot]\nradius = 0.1\n[[robot]]\ntype = \"bot\"\nname = \"r1\"\nat = [1, 1, 0]\n[[robot]]\ntype = \"bot\"\nname = \"r2\"\nat = [2, 2, 0]\n[[obstacle]]\nname = \"box\"\nradius = 0.1\nat = [5, 5, 0]\nmovable = true\n";
        let sim = Sim::from_text(text).expect("the world loads");
        let channel = json!({ "name": "range", "len": 3 });
        let bot = json!({ "name": "bot", "parts": [{ "name": "rays", "channels": [channel] }] });
        let drawing = serde_json::to_value(Drawing::of(sim.model())).expect("a drawing");
        let first = drawing["types"][0]["name"] == "bot";
        let types = if first { json!([bot, {}]) } else { json!([{}, bot]) };
        json!({ "revision": 4, "drawing": drawing, "types": types })
    }

    fn cast(robots: &[&str], channels: &[&str]) -> Result<Cast, Failure> {
        let robots: Vec<String> = robots.iter().map(|r| (*r).to_owned()).collect();
        let channels: Vec<Number> = channels.iter().map(|c| Number::parse(c).expect("a channel")).collect();
        Cast::of(&world(), &robots, &channels)
    }

    fn paths(cast: &Cast) -> Vec<&str> {
        cast.paths.iter().map(|(_, path)| path.as_str()).collect()
    }

    #[test]
    fn all_robots_are_shown_when_nobody_is_named() {
        let cast = cast(&[], &[]).expect("a cast");
        assert_eq!(paths(&cast), ["/robots/r1", "/robots/r2"]);
        assert_eq!((cast.bodies, cast.revision), (3, 4));
    }

    #[test]
    fn robots_are_named_by_path_name_or_beginning() {
        assert_eq!(paths(&cast(&["r2"], &[]).expect("a cast")), ["/robots/r2"]);
        assert_eq!(paths(&cast(&["/robots/r*"], &[]).expect("a cast")), ["/robots/r1", "/robots/r2"]);
        let failure = cast(&["r9"], &[]).err().expect("a stranger");
        assert_eq!(failure.exit, Exit::Usage);
    }

    #[test]
    fn a_channel_without_an_index_is_all_its_numbers() {
        let cast = cast(&[], &["/robots/r1/rays.range", "/robots/r2.x"]).expect("a cast");
        let names: Vec<String> = cast.numbers.iter().map(Number::name).collect();
        assert_eq!(names[1..], ["/robots/r1/rays.range[1]", "/robots/r1/rays.range[2]", "/robots/r2.x[0]"]);
        assert_eq!(cast.probes()[1], json!({ "path": "/robots/r1/rays", "channel": "range", "index": 1 }));
    }

    #[test]
    fn channels_that_are_not_there_are_refused() {
        for wrong in [
            "/robots/r1/rays.range[3]",
            "/robots/r1/rays.rang",
            "/robots/r3/rays.range",
            "/robots/r1/eye.range",
        ] {
            assert!(cast(&[], &[wrong]).is_err(), "{wrong}");
        }
        assert!(Number::parse("range").is_err() && Number::parse("/robots/r1/rays.range[x]").is_err());
    }
}
