//! Who is in the recording and what they look like: written once, enough to draw every frame.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use swarmyard_engine::Model;
use swarmyard_part_api::BodyKind;

/// More bodies than this are taken for damage.
const MAX_BODIES: u64 = 100_000_000;

/// Everything that is drawn. Points are `[x, y]` in metres.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bodies {
    /// Lower left and upper right corner of the world; absent when it is infinite.
    pub bounds: Option<[[f64; 2]; 2]>,
    /// Types in the order in which a frame holds their poses.
    pub types: Vec<BodyType>,
    /// Edges of walls and fixed obstacles.
    pub edges: Vec<Edge>,
    /// Marks on the floor.
    pub tracks: Vec<TrackMark>,
    /// Beacons; left out where there are none, as in recordings made before there were any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beacons: Vec<BeaconMark>,
}

/// One type of robot, or one obstacle that is a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyType {
    /// Its name.
    pub name: String,
    /// `robot` or `obstacle`.
    pub kind: String,
    /// Colour on displays.
    pub colour: Option<String>,
    /// Outline of each body.
    pub outline: Shape,
    /// The topic with its poses.
    pub topic: String,
    /// First of its rows in that topic's messages.
    pub first_row: u64,
    /// Number of bodies.
    pub count: u64,
    /// Their paths.
    pub names: Names,
}

/// The convex hull of some corners, grown by a radius: a disc has one corner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Corners in the body's frame.
    pub corners: Vec<[f64; 2]>,
    /// How far the hull is grown.
    pub round: f64,
}

/// A straight piece of a wall or of a fixed obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// `wall` or `obstacle`.
    pub kind: String,
    /// Which wall or obstacle it belongs to: edges with the same number belong together.
    pub owner: u32,
    /// One end.
    pub a: [f64; 2],
    /// The other.
    pub b: [f64; 2],
}

/// A mark on the floor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackMark {
    /// Its path.
    pub path: String,
    /// Middle of the band, or corners of the area.
    pub points: Vec<[f64; 2]>,
    /// Width of the band; absent for an area.
    pub width: Option<f64>,
    /// Share of light that comes back.
    pub reflectivity: f64,
}

/// A beacon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BeaconMark {
    /// Its path.
    pub path: String,
    /// Its code.
    pub id: u16,
    /// Where it is: x, y in metres and the heading in radians.
    pub pose: [f64; 3],
    /// Full angle of its light, rad.
    pub aperture: f64,
    /// How far it is seen, m.
    pub range: f64,
    /// Height above the floor, m.
    pub height: f64,
}

/// Paths of many bodies; those that are a prefix and consecutive numbers are kept as one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Names(pub Vec<NameRun>);

/// `prefix` followed by `from`, `from + 1`, …; or just `prefix` when there is no number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NameRun {
    /// What comes before the number.
    pub prefix: String,
    /// The first number.
    pub from: Option<u64>,
    /// How many paths.
    pub count: u64,
}

impl Names {
    /// Packs paths.
    pub fn pack<'a>(paths: impl IntoIterator<Item = &'a str>) -> Names {
        let mut runs: Vec<NameRun> = Vec::new();
        for path in paths {
            let digits = path.len() - path.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            let (prefix, number) = path.split_at(path.len() - digits);
            // A number with leading zeros does not print back as it was.
            let number = number.parse::<u64>().ok().filter(|n| n.to_string() == number);
            if let (Some(last), Some(number)) = (runs.last_mut(), number)
                && last.prefix == prefix
                && last.from.and_then(|from| from.checked_add(last.count)) == Some(number)
            {
                last.count += 1;
                continue;
            }
            let prefix = if number.is_some() { prefix } else { path };
            runs.push(NameRun { prefix: prefix.to_owned(), from: number, count: 1 });
        }
        Names(runs)
    }

    /// The path of body `k` of the type.
    #[must_use]
    pub fn get(&self, k: u64) -> Option<String> {
        let mut first = 0_u64;
        for run in &self.0 {
            let within = k.checked_sub(first)?;
            if within < run.count {
                return Some(match run.from {
                    Some(from) => format!("{}{}", run.prefix, from.wrapping_add(within)),
                    None => run.prefix.clone(),
                });
            }
            first = first.saturating_add(run.count);
        }
        None
    }

    /// Which body of the type has this path.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<u64> {
        let mut first = 0_u64;
        for run in &self.0 {
            let within = match (run.from, path.strip_prefix(&run.prefix)) {
                (_, None) => None,
                (None, Some(rest)) => rest.is_empty().then_some(0),
                (Some(from), Some(number)) => {
                    let known = number.parse::<u64>().ok().filter(|n| n.to_string() == number);
                    known.and_then(|n| n.checked_sub(from))
                }
            };
            if let Some(within) = within.filter(|k| *k < run.count) {
                return first.checked_add(within);
            }
            first = first.saturating_add(run.count);
        }
        None
    }

    /// All paths in order.
    pub fn iter(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|run| {
            (0..run.count).map(|k| match run.from {
                Some(from) => format!("{}{}", run.prefix, from.wrapping_add(k)),
                None => run.prefix.clone(),
            })
        })
    }

    fn count(&self) -> Option<u64> {
        self.0.iter().try_fold(0_u64, |sum, run| sum.checked_add(run.count))
    }
}

impl Bodies {
    /// What a model's recording says about its bodies.
    #[must_use]
    pub fn of(model: &Model) -> Bodies {
        let mut types = Vec::with_capacity(model.types.len());
        let mut obstacle_rows = 0;
        for ty in &model.types {
            let outline = &model.outlines[ty.outline as usize];
            let count = ty.slots.len() as u64;
            // Every obstacle is a type of its own; one message for all of them is cheaper.
            let (topic, first_row) = if ty.kind == BodyKind::Robot {
                (format!("/types/{}/poses", ty.name), 0)
            } else {
                obstacle_rows += count;
                ("/obstacles/poses".to_owned(), obstacle_rows - count)
            };
            types.push(BodyType {
                name: ty.name.clone(),
                kind: ty.kind.word().to_owned(),
                colour: ty.body.colour.clone(),
                outline: Shape {
                    corners: outline.corners().iter().map(|c| [c.x, c.y]).collect(),
                    round: outline.round(),
                },
                topic,
                first_row,
                count,
                names: Names::pack(model.paths.of(ty.slots.clone())),
            });
        }
        Bodies {
            bounds: model.bounds.map(|(min, max)| [[min.x, min.y], [max.x, max.y]]),
            types,
            edges: edges(model),
            tracks: model
                .tracks
                .iter()
                .map(|t| TrackMark {
                    path: t.path.clone(),
                    points: t.points.iter().map(|p| [p.x, p.y]).collect(),
                    width: t.width,
                    reflectivity: t.reflectivity,
                })
                .collect(),
            beacons: model
                .beacons
                .iter()
                .map(|b| BeaconMark {
                    path: b.path.clone(),
                    id: b.id,
                    pose: [b.pose.at.x, b.pose.at.y, b.pose.heading],
                    aperture: b.aperture,
                    range: b.range,
                    height: b.height,
                })
                .collect(),
        }
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.types.iter().map(|t| t.count as usize).sum()
    }

    /// Whether there are no bodies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of robots.
    #[must_use]
    pub fn robots(&self) -> usize {
        self.types.iter().filter(|t| t.kind == "robot").map(|t| t.count as usize).sum()
    }

    /// Where a frame holds the bodies of each type.
    #[must_use]
    pub fn ranges(&self) -> Vec<Range<usize>> {
        let mut first = 0;
        let ranges = self.types.iter().map(|t| {
            let range = first..first + t.count as usize;
            first = range.end;
            range
        });
        ranges.collect()
    }

    /// The path of the body at `index` of a frame.
    #[must_use]
    pub fn path(&self, index: usize) -> Option<String> {
        let mut first = 0;
        for ty in &self.types {
            let within = index.checked_sub(first)?;
            if within < ty.count as usize {
                return ty.names.get(within as u64);
            }
            first += ty.count as usize;
        }
        None
    }

    /// The paths of all bodies, in the order of a frame.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.types.iter().flat_map(|t| t.names.iter())
    }

    /// Pose topics in the order of their first type, each with its number of rows.
    pub(crate) fn groups(&self) -> Vec<(String, usize)> {
        let mut groups: Vec<(String, usize)> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for ty in &self.types {
            let group = *known.entry(&ty.topic).or_insert(groups.len());
            if group == groups.len() {
                groups.push((ty.topic.clone(), 0));
            }
            groups[group].1 += ty.count as usize;
        }
        groups
    }

    /// Says what contradicts itself, in something read from a file.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut total = 0_u64;
        let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
        let mut last_topic = "";
        for ty in &self.types {
            if ty.names.count() != Some(ty.count) {
                return Err(format!("type `{}` does not have as many names as bodies", ty.name));
            }
            total = total.saturating_add(ty.count);
            let row = rows.entry(&ty.topic).or_insert(0);
            // Types that share a topic follow one another, so a frame is its messages in order.
            if ty.first_row != *row || (*row > 0 && last_topic != ty.topic) {
                return Err(format!("the rows of type `{}` do not follow those before it", ty.name));
            }
            *row = row.saturating_add(ty.count);
            last_topic = &ty.topic;
            if ty.outline.corners.is_empty() {
                return Err(format!("type `{}` has no outline", ty.name));
            }
        }
        if total > MAX_BODIES { Err(format!("it claims to hold `{total}` bodies")) } else { Ok(()) }
    }
}

fn edges(model: &Model) -> Vec<Edge> {
    let mut owner = 0;
    let mut last = None;
    let edges = model.fixed.edges().iter().map(|e| {
        if last.is_some_and(|uid| uid != e.owner) {
            owner += 1;
        }
        last = Some(e.owner);
        Edge { kind: e.kind.word().to_owned(), owner, a: [e.a.x, e.a.y], b: [e.b.x, e.b.y] }
    });
    edges.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_numbered_names_are_one_run() {
        let paths: Vec<String> = (1..=10_000).map(|k| format!("/robots/r{k}")).collect();
        let names = Names::pack(paths.iter().map(String::as_str));
        assert_eq!(names.0.len(), 1);
        assert_eq!(names.get(9_999).as_deref(), Some("/robots/r10000"));
        assert_eq!(names.get(10_000), None);
    }

    #[test]
    fn packed_names_print_as_they_were() {
        let paths = [
            "/robots/a",
            "/robots/a1",
            "/robots/a02",
            "/robots/a3",
            "/robots/a4",
            "/robots/b5",
            "/r/99999999999999999999",
        ];
        let names = Names::pack(paths);
        for (k, path) in paths.iter().enumerate() {
            assert_eq!(names.get(k as u64).as_deref(), Some(*path));
            assert_eq!(names.find(path), Some(k as u64), "{path}");
        }
        for other in ["/robots/a2", "/robots/a5", "/robots/a01", "/robots/a+1", "/robots", ""] {
            assert_eq!(names.find(other), None, "{other}");
        }
    }
}
