//! A source: points of the arm from a file.
//!
//! In: a text with a point on each line, `BasePos BaseRot Jnt1 Jnt2 Jnt3 [seconds]`; `#` begins a comment. Out: the
//! reset, then for each point its tick, where it has a time, and the move.

use super::MOVE;
use super::arm::Pose;
use crate::control::{Universe, tick};
use crate::line::Line;
use swarmyard_base::Time;

/// Most points of a file.
pub const MOST_POINTS: usize = 1_000_000;

/// A trajectory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    points: Vec<(Option<Time>, Pose)>,
}

impl Trajectory {
    /// Reads a text.
    ///
    /// # Errors
    /// Line, and what is wrong in it.
    pub fn parse(text: &str) -> Result<Trajectory, String> {
        let mut points: Vec<(Option<Time>, Pose)> = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let plain = line.split('#').next().unwrap_or("").trim();
            if plain.is_empty() {
                continue;
            }
            if points.len() == MOST_POINTS {
                return Err(format!("line {}: there are more than {MOST_POINTS} points", i + 1));
            }
            points.push(point(plain).map_err(|why| format!("line {}: {why}: `{plain}`", i + 1))?);
        }
        let times: Vec<Time> = points.iter().filter_map(|p| p.0).collect();
        if !times.is_sorted() {
            return Err("times do not run backwards".into());
        }
        Ok(Trajectory { points })
    }

    /// The lines it is said by: the reset, and a group for each point.
    pub fn lines(&self, me: u16, to: u16, universe: Universe) -> impl Iterator<Item = Vec<Line>> + '_ {
        let moves = self.points.iter().map(move |(time, pose)| {
            let Pose { base_m, turn_rad, joints_rad: [a, b, c] } = *pose;
            let mut lines: Vec<Line> = time.iter().map(|t| tick(*t)).collect();
            lines.push(Line::new(me, to, MOVE, &[0.0, 0.0, base_m, 0.0, turn_rad, a, b, c]));
            lines
        });
        std::iter::once(vec![universe.reset()]).chain(moves)
    }
}

fn point(text: &str) -> Result<(Option<Time>, Pose), String> {
    let numbers: Result<Vec<f64>, String> = text
        .split_whitespace()
        .map(|w| match w.parse::<f64>() {
            Ok(v) if v.is_finite() => Ok(v),
            _ => Err(format!("`{w}` is not a number")),
        })
        .collect();
    let numbers = numbers?;
    let time = numbers.get(5).copied();
    if time.is_some_and(|t| !(0.0..=9e9).contains(&t)) {
        return Err("a time lies between 0 and 9e9 seconds".into());
    }
    match Pose::of(numbers.get(..5).unwrap_or(&[])) {
        Some((pose, _)) if numbers.len() <= 6 => Ok((time.map(Time::from_seconds), pose)),
        _ => Err("a point has 5 numbers, and perhaps a time".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_become_a_reset_ticks_and_moves() {
        let t = Trajectory::parse("# a path\n0 0 0 0 0\n\n3 0.5 0 0 0 1.25  # later\n").unwrap();
        let lines: Vec<String> =
            t.lines(1, 2, Universe::default()).flatten().map(|l| l.text().to_owned()).collect();
        assert_eq!(
            lines,
            [
                "0 0 0 -100 -100 -100 100 100 100",
                "1 2 10 0 0 0 0 0 0 0 0",
                "0 0 65535 1 250000000",
                "1 2 10 0 0 3 0 0.5 0 0 0",
            ]
        );
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        assert!(Trajectory::parse("0 0 0 0 0\n1 2 x 4 5").unwrap_err().starts_with("line 2: `x`"));
        assert!(Trajectory::parse("1 2 3 4").unwrap_err().starts_with("line 1: a point has 5"));
        assert!(Trajectory::parse("1 2 3 4 5 6 7").is_err());
        assert!(Trajectory::parse("1 2 3 4 5 -1").is_err());
        assert!(Trajectory::parse("1 2 3 4 5 2\n1 2 3 4 5 1").is_err());
    }
}
