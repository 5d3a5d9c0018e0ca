//! What an impact does: Newton's restitution along the normal, Coulomb friction along the tangent.
//!
//! The normal impulse comes first and does not know about friction; then the tangent impulse brings
//! the sliding to rest if the normal one can pay for it. With restitution near one and an oblique,
//! eccentric hit that order could create energy (Kane's paradox); the tangent impulse is then cut
//! down until it does not.

use swarmyard_base::Vec2;
use swarmyard_base::math;

/// How two surfaces bounce and rub.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Share of the closing speed that comes back.
    pub restitution: f64,
    /// Coulomb friction.
    pub friction: f64,
}

/// One of the two bodies, in the world's frame. Immovable when both inverses are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// Velocity of the centre.
    pub velocity: Vec2,
    /// Turning speed.
    pub spin: f64,
    /// From the centre to the point of contact.
    pub arm: Vec2,
    /// One over the mass.
    pub inverse_mass: f64,
    /// One over the moment of inertia.
    pub inverse_inertia: f64,
}

impl Side {
    /// Velocity of the point of contact.
    #[inline]
    #[must_use]
    pub fn point_velocity(&self) -> Vec2 {
        self.velocity + self.arm.perp() * self.spin
    }

    fn softness(&self, direction: Vec2) -> f64 {
        let lever = self.arm.cross(direction);
        self.inverse_mass + lever * lever * self.inverse_inertia
    }

    /// This body after receiving an impulse at the point of contact.
    #[must_use]
    pub fn pushed(&self, impulse: Vec2) -> Side {
        Side {
            velocity: self.velocity + impulse * self.inverse_mass,
            spin: self.spin + self.arm.cross(impulse) * self.inverse_inertia,
            ..*self
        }
    }
}

/// The impulse of an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impulse {
    /// Along the normal, N s.
    pub normal: f64,
    /// Along the tangent, N s.
    pub tangent: f64,
}

/// Two bodies at the moment of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// The first body.
    pub a: Side,
    /// The second body.
    pub b: Side,
    /// Unit vector from the second body to the first.
    pub normal: Vec2,
}

impl Impact {
    /// Speed at which the bodies approach; negative when they part.
    #[must_use]
    pub fn closing(&self) -> f64 {
        -(self.a.point_velocity() - self.b.point_velocity()).dot(self.normal)
    }

    /// The impulse that makes the bodies part at `restitution` times the closing speed, and at least
    /// at `least_parting`; with friction.
    #[must_use]
    pub fn impulse(&self, material: Material, least_parting: f64) -> Impulse {
        let (n, t) = (self.normal, self.normal.perp());
        let slide = (self.a.point_velocity() - self.b.point_velocity()).dot(t);
        let closing = self.closing();
        let softness = self.a.softness(n) + self.b.softness(n);
        if softness <= 0.0 {
            return Impulse { normal: 0.0, tangent: 0.0 };
        }
        let parting = math::max(material.restitution * closing, least_parting);
        let normal = math::max((closing + parting) / softness, 0.0);
        let limit = material.friction * normal;
        let tangent = (-slide / (self.a.softness(t) + self.b.softness(t))).clamp(-limit, limit);
        Impulse { normal, tangent: self.without_gain(normal, tangent) }
    }

    /// Both bodies after the impulse.
    #[must_use]
    pub fn apply(&self, impulse: Impulse) -> (Side, Side) {
        let push = self.normal * impulse.normal + self.normal.perp() * impulse.tangent;
        (self.a.pushed(push), self.b.pushed(-push))
    }

    /// The tangent impulse, cut down so that it adds no energy beyond what the normal one left.
    ///
    /// Energy is quadratic in the tangent impulse: ΔE = q·x²/2 + (slide after the normal impulse)·x.
    fn without_gain(&self, normal: f64, tangent: f64) -> f64 {
        let t = self.normal.perp();
        let (a, b) = self.apply(Impulse { normal, tangent: 0.0 });
        let slide = (a.point_velocity() - b.point_velocity()).dot(t);
        let q = self.a.softness(t) + self.b.softness(t);
        if tangent * (q * tangent / 2.0 + slide) <= 0.0 {
            return tangent;
        }
        // Beyond x = −2·slide/q energy is gained; on the wrong side of zero any x gains.
        let most = -2.0 * slide / q;
        if most * tangent > 0.0 { most } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(m: f64, i: f64, v: (f64, f64), spin: f64, arm: (f64, f64)) -> Side {
        Side {
            velocity: Vec2::new(v.0, v.1),
            spin,
            arm: Vec2::new(arm.0, arm.1),
            inverse_mass: 1.0 / m,
            inverse_inertia: 1.0 / i,
        }
    }

    #[test]
    fn equal_masses_swap_velocities() {
        let hit = Impact {
            a: side(1.0, 1.0, (1.0, 0.0), 0.0, (0.5, 0.0)),
            b: side(1.0, 1.0, (-1.0, 0.0), 0.0, (-0.5, 0.0)),
            normal: Vec2::new(-1.0, 0.0),
        };
        let (a, b) = hit.apply(hit.impulse(Material { restitution: 1.0, friction: 0.0 }, 0.0));
        assert_eq!((a.velocity.x, b.velocity.x), (-1.0, 1.0));
    }

    /// The same numbers come out of Chipmunk (pymunk 7.3.1).
    #[test]
    fn a_heavy_body_hits_a_light_one() {
        let hit = Impact {
            a: side(2.0, 1.0, (3.0, 0.0), 0.0, (0.5, 0.0)),
            b: side(1.0, 1.0, (0.0, 0.0), 0.0, (-0.5, 0.0)),
            normal: Vec2::new(-1.0, 0.0),
        };
        let (a, b) = hit.apply(hit.impulse(Material { restitution: 0.5, friction: 0.0 }, 0.0));
        assert!((a.velocity.x - 1.5).abs() < 1e-12 && (b.velocity.x - 3.0).abs() < 1e-12);
    }

    #[test]
    fn an_eccentric_hit_starts_a_spin() {
        let hit = Impact {
            a: side(2.0, 0.4, (1.0, 0.0), 0.0, (0.5, 0.3)),
            b: side(1.0, 0.2, (0.0, 0.0), 0.0, (-0.5, 0.0)),
            normal: Vec2::new(-1.0, 0.0),
        };
        let j = hit.impulse(Material { restitution: 0.5, friction: 0.0 }, 0.0);
        let (a, b) = hit.apply(j);
        assert!((j.normal - 0.869_565_217).abs() < 1e-9);
        assert!((a.velocity.x - 0.565_217_391).abs() < 1e-9 && (a.spin - 0.652_173_913).abs() < 1e-9);
        assert!((b.velocity.x - 0.869_565_217).abs() < 1e-9);
    }
}
