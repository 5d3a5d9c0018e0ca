//! Marks on the floor by place.
//!
//! In: the tracks of a world. Out: how bright the floor is at a point, exactly. The cells only say
//! which marks are worth looking at; any cell size gives the same answer.

use crate::Track;
use crate::grid::{Cells, bounds, cells_of};
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// Most entries of all cells together; more, and the cells are made larger.
const MAX_ENTRIES: usize = 1 << 22;

/// Piece number of a mark that is an area.
const AREA: u32 = u32::MAX;

/// A piece of a mark: a straight band, or an area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackPiece<'a> {
    /// The two ends of a band's middle, or the corners of an area.
    pub points: &'a [Vec2],
    /// Width of the band, whose ends are round; `None` for an area.
    pub width: Option<f64>,
    /// Share of light that comes back.
    pub reflectivity: f64,
}

/// Which marks lie near a place.
#[derive(Clone, Debug, Default)]
pub struct TrackIndex {
    cells: Cells,
    starts: Vec<u32>,
    /// (track, piece): piece k runs from point k to the next.
    members: Vec<(u32, u32)>,
}

impl TrackIndex {
    /// Sorts marks into cells.
    #[must_use]
    pub fn new(tracks: &[Track]) -> TrackIndex {
        let (min, max) = bounds(tracks.iter().flat_map(|t| t.points.iter().copied()));
        let pieces: usize = tracks.iter().map(|t| t.points.len()).sum();
        let mut wanted = (4 * pieces + 64).clamp(4096, 1 << 20);
        // Cells of at least ten centimetres: a track sensor looks at a patch about that big.
        let mut cells = Cells::over(min, max, wanted, 0.1);
        let mut pairs = entries(&cells, tracks);
        while pairs.is_none() {
            wanted /= 4;
            cells = Cells::over(min, max, wanted, 0.1);
            // One cell that holds everything is always allowed.
            pairs = if wanted > 1 { entries(&cells, tracks) } else { Some(all(tracks)) };
        }
        let mut pairs = pairs.unwrap_or_default();
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0_u32; cells.len() + 1];
        for &(cell, ..) in &pairs {
            starts[cell as usize + 1] += 1;
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        TrackIndex { cells, starts, members: pairs.into_iter().map(|p| (p.1, p.2)).collect() }
    }

    /// Pieces that may reach into a box, each once. `tracks` are those the index was made of.
    #[must_use]
    pub fn pieces<'a>(&self, tracks: &'a [Track], low: Vec2, high: Vec2) -> Vec<TrackPiece<'a>> {
        let mut found: Vec<(u32, u32)> = Vec::new();
        if self.members.is_empty() {
            return Vec::new();
        }
        for row in self.cells.row(low.y)..=self.cells.row(high.y) {
            for column in self.cells.column(low.x)..=self.cells.column(high.x) {
                let cell = self.cells.cell(column, row);
                let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
                found.extend_from_slice(&self.members[range]);
            }
        }
        found.sort_unstable();
        found.dedup();
        let piece = |(t, k): (u32, u32)| {
            let track = &tracks[t as usize];
            let points = if k == AREA { &track.points } else { &track.points[k as usize..k as usize + 2] };
            TrackPiece { points, width: track.width, reflectivity: track.reflectivity }
        };
        found.into_iter().map(piece).collect()
    }

    /// Share of light that comes back from a point of the floor: that of the brightest mark there, or
    /// 0. `tracks` are those the index was made of.
    ///
    /// A band covers what is within half its width of its line, so its ends and corners are round; an
    /// area covers what is inside by the even-odd rule.
    #[must_use]
    pub fn reflectivity_at(&self, tracks: &[Track], point: Vec2) -> f64 {
        if self.members.is_empty() {
            return 0.0;
        }
        let cell = self.cells.cell(self.cells.column(point.x), self.cells.row(point.y));
        let near = &self.members[self.starts[cell] as usize..self.starts[cell + 1] as usize];
        let covered = near.iter().filter(|(t, piece)| covers(&tracks[*t as usize], *piece, point));
        covered.map(|(t, _)| tracks[*t as usize].reflectivity).fold(0.0, math::max)
    }
}

/// (cell, track, piece) of everything; `None` when there are too many.
fn entries(cells: &Cells, tracks: &[Track]) -> Option<Vec<(u32, u32, u32)>> {
    let mut pairs = Vec::new();
    for (t, track) in tracks.iter().enumerate() {
        if let Some(width) = track.width {
            for (k, line) in track.points.windows(2).enumerate() {
                let take = |cell| pairs.push((cell as u32, t as u32, k as u32));
                cells_of(cells, (line[0], line[1]), width / 2.0, take);
            }
        } else {
            let (min, max) = bounds(track.points.iter().copied());
            let (c0, c1) = (cells.column(min.x), cells.column(max.x));
            for row in cells.row(min.y)..=cells.row(max.y) {
                pairs.extend((c0..=c1).map(|c| (cells.cell(c, row) as u32, t as u32, AREA)));
            }
        }
        if pairs.len() > MAX_ENTRIES {
            return None;
        }
    }
    Some(pairs)
}

/// Everything in the first cell.
fn all(tracks: &[Track]) -> Vec<(u32, u32, u32)> {
    let pieces = |track: &Track| if track.width.is_some() { track.points.len().saturating_sub(1) } else { 0 };
    let of = |(t, track): (usize, &Track)| {
        let area = track.width.is_none().then_some((0, t as u32, AREA));
        (0..pieces(track)).map(move |k| (0, t as u32, k as u32)).chain(area)
    };
    tracks.iter().enumerate().flat_map(of).collect()
}

/// The exact test.
fn covers(track: &Track, piece: u32, point: Vec2) -> bool {
    let points = &track.points;
    let (Some(width), false) = (track.width, piece == AREA) else { return is_inside(points, point) };
    let (a, b) = (points[piece as usize], points[piece as usize + 1]);
    let along = b - a;
    let length2 = along.norm2();
    let share = if length2 > 0.0 { ((point - a).dot(along) / length2).clamp(0.0, 1.0) } else { 0.0 };
    (a + along * share - point).norm2() <= width * width / 4.0
}

fn is_inside(corners: &[Vec2], p: Vec2) -> bool {
    let n = corners.len();
    (0..n).fold(false, |inside, k| {
        let (a, b) = (corners[k], corners[(k + 1) % n]);
        let crosses = (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x);
        inside != crosses
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::chance::{Draw, Purpose};
    use swarmyard_base::{Time, Uid};

    fn track(points: &[(f64, f64)], width: Option<f64>, reflectivity: f64) -> Track {
        let points = points.iter().map(|p| Vec2::new(p.0, p.1)).collect();
        Track { path: String::new(), points, width, reflectivity }
    }

    #[test]
    fn a_band_ends_at_half_its_width_and_an_area_at_its_sides() {
        let tracks = [
            track(&[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0)], Some(0.1), 0.5),
            track(&[(1.0, -1.0), (1.5, -1.0), (1.5, 1.0), (1.0, 1.0)], None, 0.9),
        ];
        let index = TrackIndex::new(&tracks);
        let at = |x: f64, y: f64| index.reflectivity_at(&tracks, Vec2::new(x, y));
        assert_eq!([at(0.5, 0.0499), at(0.5, 0.0501), at(0.5, -0.0499)], [0.5, 0.0, 0.5]);
        assert_eq!(
            [at(2.0499, 1.0), at(2.0501, 1.0), at(2.0, 2.0499), at(2.0, 2.0501)],
            [0.5, 0.0, 0.5, 0.0]
        );
        assert_eq!([at(-0.0499, 0.0), at(-0.04, 0.04)], [0.5, 0.0], "ends are round");
        assert_eq!([at(1.25, 0.9), at(1.25, 0.0), at(1.25, 1.1)], [0.9, 0.9, 0.0], "the brighter one counts");
    }

    #[test]
    fn hundreds_of_marks_by_place_answer_as_one_by_one() {
        let dice = Draw::at(7, Uid(1), Purpose::Test, Time(0), 0);
        let mut next = 0;
        let mut unit = || {
            next += 1;
            dice.uniform(next)
        };
        let mut tracks = Vec::new();
        for k in 0..300 {
            let (x, y, size) = (unit() * 20.0 - 10.0, unit() * 20.0 - 10.0, 0.05 + 2.0 * unit());
            let n = 3 + k % 4;
            let points: Vec<(f64, f64)> =
                (0..n).map(|_| (x + size * (unit() - 0.5), y + size * (unit() - 0.5))).collect();
            let width = (k % 3 != 0).then(|| 0.01 + 0.3 * unit());
            tracks.push(track(&points, width, 0.1 + 0.9 * unit()));
        }
        let index = TrackIndex::new(&tracks);
        let mut lit = 0;
        for _ in 0..20_000 {
            let p = Vec2::new(unit() * 24.0 - 12.0, unit() * 24.0 - 12.0);
            let pieces =
                |t: &Track| if t.width.is_some() { 0..t.points.len() as u32 - 1 } else { AREA..AREA };
            let on = |t: &&Track| {
                if t.width.is_none() { is_inside(&t.points, p) } else { pieces(t).any(|k| covers(t, k, p)) }
            };
            let slow = tracks.iter().filter(on).map(|t| t.reflectivity).fold(0.0, math::max);
            assert_eq!(index.reflectivity_at(&tracks, p), slow, "{p:?}");
            lit += usize::from(slow > 0.0);
        }
        assert!((1_000..19_000).contains(&lit), "{lit}");
    }

    #[test]
    fn a_floor_without_marks_is_dark() {
        assert_eq!(TrackIndex::new(&[]).reflectivity_at(&[], Vec2::new(1.0, 1.0)), 0.0);
    }
}
