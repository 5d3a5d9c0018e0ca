//! What a body with a will of its own does where it meets something that never moves.

use swarmyard_base::Vec2;

/// What a body does at the border, at a wall or at a fixed obstacle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtEdge {
    /// The contact rule decides, and its mover goes on trying.
    #[default]
    Push,
    /// Its velocity is mirrored, at the very moment of the contact and from then on.
    Bounce,
    /// It passes through the border of the world and comes back at the opposite side; anything else that
    /// is fixed is as with [`AtEdge::Push`].
    Wrap,
    /// It stands still for ever.
    Stop,
}

impl AtEdge {
    const ALL: [AtEdge; 4] = [AtEdge::Push, AtEdge::Bounce, AtEdge::Wrap, AtEdge::Stop];

    /// The words used in text.
    pub const WORDS: &'static [&'static str] = &["push", "bounce", "wrap", "stop"];

    /// What a word means.
    #[must_use]
    pub fn of_word(word: &str) -> Option<AtEdge> {
        let place = AtEdge::WORDS.iter().position(|w| *w == word)?;
        Some(AtEdge::ALL[place])
    }

    /// Whether the mover keeps a [`Mirror`] in the first numbers of its private state.
    #[must_use]
    pub fn keeps_mirror(self) -> bool {
        matches!(self, AtEdge::Bounce | AtEdge::Stop)
    }
}

/// What all bounces so far have made of a velocity in the world's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mirror {
    /// What became of the unit vector along x.
    x: Vec2,
    /// What became of the unit vector along y.
    y: Vec2,
    /// What became of a turning speed of one.
    spin: f64,
}

impl Mirror {
    /// Nothing happened yet.
    pub const NONE: Mirror = Mirror { x: Vec2 { x: 1.0, y: 0.0 }, y: Vec2 { x: 0.0, y: 1.0 }, spin: 1.0 };

    /// Nothing moves any more.
    pub const STOPPED: Mirror = Mirror { x: Vec2::ZERO, y: Vec2::ZERO, spin: 0.0 };

    /// How many numbers it is in a state.
    pub const WIDTH: usize = 5;

    /// A mirror that faces along a unit vector.
    #[must_use]
    pub fn facing(normal: Vec2) -> Mirror {
        let image = |v: Vec2| v - normal * (2.0 * normal.dot(v));
        Mirror { x: image(Vec2::new(1.0, 0.0)), y: image(Vec2::new(0.0, 1.0)), spin: 1.0 }
    }

    /// The same, and turning goes the other way.
    #[must_use]
    pub fn turning_back(self) -> Mirror {
        Mirror { spin: -self.spin, ..self }
    }

    /// What becomes of a velocity.
    #[must_use]
    pub fn apply(&self, v: Vec2) -> Vec2 {
        self.x * v.x + self.y * v.y
    }

    /// What becomes of a turning speed.
    #[must_use]
    pub fn apply_spin(&self, spin: f64) -> f64 {
        self.spin * spin
    }

    /// This one, and then another.
    #[must_use]
    pub fn then(&self, next: &Mirror) -> Mirror {
        Mirror { x: next.apply(self.x), y: next.apply(self.y), spin: self.spin * next.spin }
    }

    /// As it stands in a state.
    #[must_use]
    pub fn numbers(&self) -> [f64; Mirror::WIDTH] {
        [self.x.x, self.x.y, self.y.x, self.y.y, self.spin]
    }

    /// From the first numbers of a state; nothing happened yet when they are too few.
    #[must_use]
    pub fn of_numbers(state: &[f64]) -> Mirror {
        let &[a, b, c, d, spin, ..] = state else { return Mirror::NONE };
        Mirror { x: Vec2::new(a, b), y: Vec2::new(c, d), spin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_mirrors_at_a_right_angle_turn_a_velocity_round_and_one_twice_leaves_it() {
        let (east, north) = (Mirror::facing(Vec2::new(1.0, 0.0)), Mirror::facing(Vec2::new(0.0, 1.0)));
        let v = Vec2::new(0.3, -0.4);
        assert_eq!(east.apply(v), Vec2::new(-0.3, -0.4));
        assert_eq!(east.then(&north).apply(v), -v);
        assert_eq!(east.then(&east), Mirror::NONE);
        assert_eq!(Mirror::of_numbers(&east.then(&north).numbers()).apply(v), -v);
        assert_eq!(Mirror::STOPPED.apply(v), Vec2::ZERO);
    }
}
