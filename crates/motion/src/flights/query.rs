//! Who is where at a moment, and when two would meet.
//!
//! In: a place and a moment, or two paths. Out: the bodies near it, or a moment. Nothing changes by asking.

use super::bend::{self, Bent};
use super::{AWAY, Body, Flights, GHOST, Path, Space, disc_meeting, edge_meeting};
use swarmyard_base::{Moment, Pose2, Rot2, Vec2};
use swarmyard_part_api::{Outline, Segment};

impl Flights {
    /// When two bodies meet on a plane if they go on as they go, not before `after` and not after `until`: the moment
    /// at which flights would let them meet. The one with the lower rank comes first.
    ///
    /// Whoever asks for pairs that turn, go round bends or have corners gives a bound: two that never meet are
    /// followed all the way.
    #[must_use]
    pub fn first_meeting(
        a: (&Path, &Outline),
        b: (&Path, &Outline),
        after: Moment,
        until: Moment,
    ) -> Option<Moment> {
        if is_plain(a) && is_plain(b) {
            let met = disc_meeting((a.0, a.1.reach()), (b.0, b.1.reach()), Vec2::ZERO);
            return met.filter(|m| *m >= after && *m <= until);
        }
        bend::first(bent(a), bent(b), after, until)
    }

    /// When a body meets the line between two points: see [`Flights::first_meeting`].
    #[must_use]
    pub fn first_meeting_with_edge(
        body: (&Path, &Outline),
        ends: (Vec2, Vec2),
        after: Moment,
        until: Moment,
    ) -> Option<Moment> {
        if is_plain(body) {
            return edge_meeting((body.0, body.1.reach()), ends).filter(|m| *m >= after && *m <= until);
        }
        let line = Outline::line(ends.0, ends.1);
        let segment = Segment::rest(0.0, Pose2::default(), Rot2::IDENTITY);
        let edge = Bent { start: body.0.start(), segment, outline: &line };
        bend::first(bent(body), edge, after, until)
    }
}

/// Whether the closed form applies.
pub(super) fn is_plain((path, outline): (&Path, &Outline)) -> bool {
    outline.is_disc() && path.line().is_some()
}

/// A body as certified stepping has it.
pub(super) fn bent<'a>((path, outline): (&Path, &'a Outline)) -> Bent<'a> {
    Bent { start: path.start(), segment: path.segment_from(0.0), outline }
}

impl Flights {
    /// Where a body's centre is at a moment, not before its path's start.
    #[inline]
    #[must_use]
    pub fn position_at(&self, body: Body, moment: Moment) -> Vec2 {
        self.place(body as usize, moment)
    }

    /// The velocity of a body's centre at a moment.
    #[inline]
    #[must_use]
    pub fn velocity_at(&self, body: Body, moment: Moment) -> Vec2 {
        let flying = &self.bodies[body as usize];
        if flying.is_plain() {
            return flying.velocity;
        }
        let segment = &self.bends.segments[body as usize];
        segment.velocity_with(segment.rot_at(moment.since(flying.start())))
    }

    /// Pose of a body with corners or on a bend at a moment; `None` for a disc on a line, whose heading is not kept.
    #[must_use]
    pub fn pose_at(&self, body: Body, moment: Moment) -> Option<Pose2> {
        let flying = &self.bodies[body as usize];
        if flying.is_plain() {
            return None;
        }
        Some(self.bends.segments[body as usize].pose_at(moment.since(flying.start())))
    }

    /// Calls `f` with every body that is there, ghosts too, and its position at a moment.
    pub fn for_each(&self, moment: Moment, mut f: impl FnMut(Body, Vec2)) {
        for k in 0..self.bodies.len() {
            if self.bodies[k].link != AWAY {
                f(k as Body, self.place(k, moment));
            }
        }
    }

    /// Calls `f` once, in any order, with every body (ghosts too) whose centre is not farther than `radius` from
    /// `point` at a moment, and with the position of its nearest copy.
    pub fn within(&self, point: Vec2, radius: f64, moment: Moment, mut f: impl FnMut(Body, Vec2)) {
        let mut test = |k: usize| {
            let at = self.place(k, moment);
            let apart = point - at;
            let shift = self.copy(apart);
            if (apart - shift).norm2() <= radius * radius {
                f(k as Body, at + shift);
            }
        };
        // Cells hold bodies by where they were when the clock stood still last.
        let drift = self.top_speed2.sqrt() * moment.since(self.clock).abs();
        let reach = radius + drift * (1.0 + 1e-12) + 2.0 * self.cells.margin();
        let (low, high) = (point - Vec2::new(reach, reach), point + Vec2::new(reach, reach));
        let ([x0, y0], [x1, y1]) = (self.cells.of(low), self.cells.of(high));
        let around = self.cells.around.map(i64::from);
        let wide =
            i64::from(x1) - i64::from(x0) + 1 >= around[0] || i64::from(y1) - i64::from(y0) + 1 >= around[1];
        if wide || !reach.is_finite() {
            (0..self.bodies.len()).filter(|k| self.bodies[*k].link != AWAY).for_each(test);
            return;
        }
        let plane = self.space == Space::Plane;
        for y in y0..=y1 {
            for x in x0..=x1 {
                self.cells.for_each(&self.bodies, self.cells.row(y) + self.cells.column(x), |k| {
                    // On a plane, far cells share a place.
                    if !plane || self.bodies[k as usize].cell == [x, y] {
                        test(k as usize);
                    }
                });
            }
        }
        if self.meeting < self.bodies.len() {
            (0..self.bodies.len()).filter(|k| self.bodies[*k].link == GHOST).for_each(test);
        }
    }
}
