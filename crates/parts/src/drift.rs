//! A velocity that is kept, or a script of velocities: moving obstacles.

use swarmyard_base::math::approach;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2, math};
use swarmyard_part_api::structure::keeps_moving;
use swarmyard_part_api::{
    ActRows, ActView, Actuator, AtEdge, Built, Class, Kind, Layout, Mirror, Param, ParamType, Segment, Sheet,
    TypeLayout,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    let sheet = Sheet::new("drift", Kind::Actuator, "Keeps a velocity in the world's frame, or follows a script of them, and returns to it after an impact. What moves moving obstacles.")
        .param(
            Param::new("velocity", ParamType::Numbers { unit: Unit::MetrePerSecond, min_len: 2, max_len: 2 }, "Velocity in the world's frame.")
                .or(Value::Nums(vec![0.0, 0.0])),
        )
        .param(Param::number("spin", Unit::RadianPerSecond, "Turning speed.").within(-1.0e4, 1.0e4).or_num(0.0))
        .param(Param::number("acceleration", Unit::MetrePerSecond2, "How fast it returns to its velocity after an impact. At once when left out.").within(0.0, 1.0e6));
    keeps_moving(sheet)
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"drift\"\nvelocity = [0.3, 0]\nspin = \"10deg/s\"\nat_edge = \"bounce\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let v = p.nums("velocity");
    let script = match p.rows_or_none("script") {
        Some(rows) => {
            for key in ["velocity", "spin"] {
                if let Some(span) = p.span(key) {
                    let what = format!("the key does nothing here: `{key}` beside a `script`");
                    return Err(Diagnostic::error("unused-key", what).at(Some(span)));
                }
            }
            Script::new(rows, p.num_or_none("repeat")).map_err(|d| d.at(p.span("script")))?
        }
        None => Script {
            legs: vec![Leg { from: 0.0, velocity: Vec2::new(v[0], v[1]), spin: p.num("spin") }],
            repeat: None,
        },
    };
    Ok(Built::Actuator(Box::new(Drift {
        script,
        acceleration: p.num_or_none("acceleration").unwrap_or(f64::INFINITY),
        at_edge: p.text_or_none("at_edge").and_then(AtEdge::of_word).unwrap_or_default(),
    })))
}

/// From a time on, a velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Leg {
    from: f64,
    velocity: Vec2,
    spin: f64,
}

/// Velocities by time.
#[derive(Clone, Debug, PartialEq)]
struct Script {
    /// In the order of time. Before the first it stands.
    legs: Vec<Leg>,
    repeat: Option<f64>,
}

impl Script {
    fn new(rows: &[Vec<f64>], repeat: Option<f64>) -> Result<Script, Diagnostic> {
        let leg = |r: &Vec<f64>| Leg { from: r[0], velocity: Vec2::new(r[1], r[2]), spin: r[3] };
        let legs: Vec<Leg> = rows.iter().map(leg).collect();
        let late = |t: f64| repeat.is_some_and(|r| t >= r);
        for (k, leg) in legs.iter().enumerate() {
            let why = if leg.from < 0.0 {
                "begins before the run"
            } else if k > 0 && leg.from <= legs[k - 1].from {
                "is not after the one before it"
            } else if late(leg.from) {
                "is not before the end of `repeat`"
            } else {
                continue;
            };
            let what = format!("a row of the `script` {why}: `{}`", leg.from);
            return Err(Diagnostic::error("bad-script", what));
        }
        Ok(Script { legs, repeat })
    }

    /// Mean velocity and turning speed from one time to another.
    fn mean(&self, from: f64, length: f64) -> (Vec2, f64) {
        let start = self.repeat.map_or(from, |r| from - r * (from / r).floor());
        let end = start + length;
        let over = self.repeat.map_or(1.0, |r| (end / r).floor());
        let (way, turn) = match self.repeat {
            Some(r) if over >= 1.0 => {
                let (first, whole, last) =
                    (self.sum(start, r), self.sum(0.0, r), self.sum(0.0, end - over * r));
                let all = |a: f64, b: f64, c: f64| a + b * (over - 1.0) + c;
                let x = all(first.0.x, whole.0.x, last.0.x);
                let y = all(first.0.y, whole.0.y, last.0.y);
                (Vec2::new(x, y), all(first.1, whole.1, last.1))
            }
            _ => {
                // Within one leg nothing is summed, so nothing is rounded.
                let k = self.legs.partition_point(|leg| leg.from <= start);
                let only = self.legs.get(k).is_none_or(|next| next.from >= end);
                if let (true, Some(leg)) = (only, k.checked_sub(1).map(|k| self.legs[k])) {
                    return (leg.velocity, leg.spin);
                }
                self.sum(start, end)
            }
        };
        (way * (1.0 / length), turn / length)
    }

    /// Way and turn from one time to another, both within one round.
    fn sum(&self, from: f64, to: f64) -> (Vec2, f64) {
        let (mut way, mut turn) = (Vec2::ZERO, 0.0);
        for (k, leg) in self.legs.iter().enumerate() {
            let end = self.legs.get(k + 1).map_or(f64::INFINITY, |next| next.from);
            let length = math::max(math::min(end, to) - math::max(leg.from, from), 0.0);
            way = way + leg.velocity * length;
            turn += leg.spin * length;
        }
        (way, turn)
    }
}

struct Drift {
    script: Script,
    acceleration: f64,
    at_edge: AtEdge,
}

impl Drift {
    /// Whether a body that wraps around waits outside of the world for room to come back.
    fn waits(&self, view: &ActView<'_>, slot: usize) -> bool {
        let p = view.bodies.pose[slot].at;
        let outside = |(min, max): (Vec2, Vec2)| p.x < min.x || p.x > max.x || p.y < min.y || p.y > max.y;
        self.at_edge == AtEdge::Wrap && view.bounds.is_some_and(outside)
    }
}

impl Actuator for Drift {
    fn layout(&self) -> Layout {
        let state = if self.at_edge.keeps_mirror() { Mirror::NONE.numbers().to_vec() } else { Vec::new() };
        Layout { state, at_edge: self.at_edge, ..Layout::default() }
    }

    fn top_speed(&self) -> Option<f64> {
        Some(self.script.legs.iter().map(|leg| leg.velocity.norm()).fold(0.0, math::max))
    }

    fn act(&self, view: &ActView<'_>, rows: &mut ActRows<'_>) {
        let most = self.acceleration * view.quantum_s;
        let (velocity, spin) = self.script.mean(view.now.seconds(), view.quantum_s);
        for (row, segment) in rows.segments.iter_mut().enumerate() {
            let slot = rows.first_slot + row;
            if self.waits(view, slot) {
                continue;
            }
            let mirror = Mirror::of_numbers(rows.state.row(row));
            let (wanted, wanted_spin) = (mirror.apply(velocity), mirror.apply_spin(spin));
            let (rot, twist) = (view.bodies.rot[slot], view.bodies.twist[slot]);
            let now = rot.apply(twist.linear());
            let missing = wanted - now;
            let gap = missing.norm();
            let velocity = if gap <= most { wanted } else { now + missing * (most / gap) };
            let spin = approach(twist.spin, wanted_spin, most);
            *segment = Segment::glide(0.0, view.bodies.pose[slot], rot, velocity, spin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(rows: &[[f64; 4]], repeat: Option<f64>) -> Script {
        let rows: Vec<Vec<f64>> = rows.iter().map(|r| r.to_vec()).collect();
        Script::new(&rows, repeat).expect("a script")
    }

    #[track_caller]
    fn is_near(found: (Vec2, f64), expected: (f64, f64, f64)) {
        let off = (found.0 - Vec2::new(expected.0, expected.1)).norm() + (found.1 - expected.2).abs();
        assert!(off < 1e-12, "{found:?} is not {expected:?}");
    }

    #[test]
    fn the_mean_over_a_change_weighs_both_sides() {
        let s = script(&[[1.0, 2.0, 0.0, 0.5], [3.0, 0.0, -4.0, 0.0]], None);
        is_near(s.mean(0.0, 1.0), (0.0, 0.0, 0.0));
        is_near(s.mean(0.5, 1.0), (1.0, 0.0, 0.25));
        assert_eq!(s.mean(1.5, 0.7), (Vec2::new(2.0, 0.0), 0.5), "within a leg to the bit");
        is_near(s.mean(2.0, 4.0), (0.5, -3.0, 0.125));
        is_near(s.mean(100.0, 0.1), (0.0, -4.0, 0.0));
    }

    #[test]
    fn a_script_that_repeats_goes_round_any_number_of_times() {
        // One round of 4 s: 1 m/s for 3 s, then −2 m/s for 1 s.
        let s = script(&[[0.0, 1.0, 0.0, 0.0], [3.0, -2.0, 0.0, 0.0]], Some(4.0));
        is_near(s.mean(4.0, 3.0), (1.0, 0.0, 0.0));
        is_near(s.mean(3.5, 1.0), (-0.5, 0.0, 0.0));
        is_near(s.mean(8000.0, 4.0), (0.25, 0.0, 0.0));
        is_near(s.mean(2.0, 11.0), ((1.0 - 2.0 + 1.0 + 1.0 + 1.0) / 11.0, 0.0, 0.0));
        let late = script(&[[1.0, 6.0, 0.0, 0.0]], Some(2.0));
        is_near(late.mean(2.0, 2.0), (3.0, 0.0, 0.0));
    }

    #[test]
    fn rows_out_of_order_are_refused() {
        let bad = |rows: &[[f64; 4]], repeat: Option<f64>| {
            let rows: Vec<Vec<f64>> = rows.iter().map(|r| r.to_vec()).collect();
            Script::new(&rows, repeat).expect_err("refused").message
        };
        assert!(bad(&[[-1.0, 0.0, 0.0, 0.0]], None).contains("before the run"));
        assert!(bad(&[[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]], None).contains("not after"));
        assert!(bad(&[[5.0, 0.0, 0.0, 0.0]], Some(5.0)).contains("`repeat`"));
    }
}
