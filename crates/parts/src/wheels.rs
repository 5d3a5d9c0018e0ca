//! Motion modules of robots that live by events: wheels that turn, then go; and a drive that glides anywhere.

use std::f64::consts::TAU;
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Pose2, Vec2, math};
use swarmyard_part_api::{
    Built, Class, Kind, Motion, MotionModule, MotionPattern, Param, ParamType, Plan, Sheet, TurnWay,
};
use swarmyard_scene::Params;

/// Turns in place and goes straight on.
struct Wheels {
    way: TurnWay,
    most: Most,
}

/// Glides in any direction, whatever the heading.
struct Glider {
    most: Most,
}

/// Greatest speeds.
#[derive(Clone, Copy)]
struct Most {
    speed: f64,
    turn_speed: f64,
}

impl Most {
    fn of(params: &Params) -> Most {
        let num = |name: &str| params.num_or_none(name).unwrap_or(f64::INFINITY);
        Most { speed: num("max_speed"), turn_speed: num("max_turn_speed") }
    }

    /// A speed that this module can do.
    ///
    /// # Errors
    /// When it is no positive number.
    fn speed(self, wanted: f64) -> Result<f64, String> {
        positive(wanted, "a speed").map(|v| math::min(v, self.speed))
    }

    fn turn_speed(self, wanted: f64) -> Result<f64, String> {
        positive(wanted, "a turning speed").map(|v| math::min(v, self.turn_speed))
    }

    /// A pattern's own way; where it would be too fast, it takes longer.
    fn follow(self, from: Pose2, pattern: &dyn MotionPattern) -> Result<Plan, String> {
        Ok(Plan::follow(from, pattern)?.no_faster(self.speed, self.turn_speed))
    }
}

fn positive(x: f64, what: &str) -> Result<f64, String> {
    if x > 0.0 && x.is_finite() { Ok(x) } else { Err(format!("{what} must be positive, not `{x}`")) }
}

fn finite(numbers: &[f64]) -> Result<(), String> {
    match numbers.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => Err(format!("a motion needs finite numbers, not `{x}`")),
    }
}

impl MotionModule for Wheels {
    fn plan(&self, from: Pose2, motion: &Motion) -> Option<Result<Plan, String>> {
        let most = self.most;
        match motion {
            Motion::Turn { by, turn_speed } => Some(finite(&[*by]).and_then(|()| {
                let other_way_round = self.way == TurnWay::CounterClockwise && *by < 0.0;
                let by = if other_way_round { by.rem_euclid(TAU) } else { *by };
                Ok(Plan::turn(from, by, most.turn_speed(*turn_speed)?))
            })),
            Motion::Forward { distance, speed } => Some(
                finite(&[*distance]).and_then(|()| Ok(Plan::forward(from, *distance, most.speed(*speed)?))),
            ),
            Motion::MoveTo { to, speed, turn_speed } => Some(finite(&[to.x, to.y]).and_then(|()| {
                let (speed, turn_speed) = (most.speed(*speed)?, most.turn_speed(*turn_speed)?);
                Ok(Plan::move_to(from, *to, speed, turn_speed, self.way))
            })),
            Motion::Arc { speed, spin, for_s } => Some(arc(most, from, *speed, *spin, *for_s)),
            Motion::Follow(pattern) => Some(most.follow(from, pattern.as_ref())),
            Motion::Velocity { .. } | Motion::Pattern { .. } => None,
        }
    }
}

fn arc(most: Most, from: Pose2, speed: f64, spin: f64, for_s: f64) -> Result<Plan, String> {
    finite(&[speed, spin])?;
    if for_s.is_nan() || for_s <= 0.0 {
        return Err(format!("an arc takes a positive time, not `{for_s}` s"));
    }
    let (speed, spin) = (speed.clamp(-most.speed, most.speed), spin.clamp(-most.turn_speed, most.turn_speed));
    Ok(Plan::arc(from, speed, spin, for_s))
}

impl MotionModule for Glider {
    fn plan(&self, from: Pose2, motion: &Motion) -> Option<Result<Plan, String>> {
        match motion {
            Motion::Velocity { velocity, for_s } => Some(self.glide(from, *velocity, *for_s)),
            Motion::MoveTo { to, speed, .. } => Some(finite(&[to.x, to.y]).and_then(|()| {
                let (way, speed) = (*to - from.at, self.most.speed(*speed)?);
                let distance = way.norm();
                if distance == 0.0 {
                    return Ok(Plan::default());
                }
                let mut plan = Plan::velocity(from, way * (speed / distance), distance / speed);
                plan.phases[0].end.at = *to;
                Ok(plan)
            })),
            Motion::Follow(pattern) => Some(self.most.follow(from, pattern.as_ref())),
            _ => None,
        }
    }
}

impl Glider {
    fn glide(&self, from: Pose2, velocity: Vec2, for_s: f64) -> Result<Plan, String> {
        finite(&[velocity.x, velocity.y])?;
        if for_s.is_nan() || for_s <= 0.0 {
            return Err(format!("a motion takes a positive time, not `{for_s}` s"));
        }
        let speed = velocity.norm();
        let slower = if speed > self.most.speed { velocity * (self.most.speed / speed) } else { velocity };
        Ok(Plan::velocity(from, slower, for_s))
    }
}

fn limits(sheet: Sheet) -> Sheet {
    sheet.level("every", "Everything.").param(
        Param::number(
            "max_speed",
            Unit::MetrePerSecond,
            "Greatest speed; what is asked for beyond is cut down to it. A pattern goes its own way, and takes longer where it would be faster. None when left out.",
        )
        .within(1e-9, 1.0e6),
    )
}

/// The class `wheels`.
pub(crate) fn wheels() -> Class {
    let sheet = limits(Sheet::new(
        "wheels",
        Kind::Actuator,
        "Moves a robot that lives by events: turns in place, goes straight on, goes to a point (a turn, then a straight line), drives an arc, or follows a pattern of its algorithm's.",
    ))
    .param(
        Param::number("max_turn_speed", Unit::RadianPerSecond, "Greatest turning speed, likewise. None when left out.")
            .within(1e-9, 1.0e6),
    )
    .param(
        Param::new("turn", ParamType::Choice(&["shortest", "ccw"]), "Which way it turns towards a point: the `shortest`, or always counter-clockwise (`ccw`), as in the paper. With `ccw` a turn by a negative angle goes the other way round too, to the same heading. Arcs and patterns bend as they are asked to.")
            .or_text("shortest"),
    )
    .example("[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[type.demo.algorithm]\nclass = \"random-movement\"");
    Class::new(sheet, |params, _| {
        let ccw = params.text_or_none("turn") == Some("ccw");
        let way = if ccw { TurnWay::CounterClockwise } else { TurnWay::Shortest };
        Ok(Built::Motions(Arc::new(Wheels { way, most: Most::of(params) })))
    })
}

/// The class `glider`.
pub(crate) fn glider() -> Class {
    let sheet = limits(Sheet::new(
        "glider",
        Kind::Actuator,
        "Moves a robot that lives by events in any direction without turning: with a velocity, or straight to a point; or along a pattern of its algorithm's.",
    ))
    .example("[[type.demo.part]]\nname = \"glider\"\nclass = \"glider\"\n\n[type.demo.algorithm]\nclass = \"random-movement\"");
    Class::new(sheet, |params, _| Ok(Built::Motions(Arc::new(Glider { most: Most::of(params) }))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const FREE: Most = Most { speed: f64::INFINITY, turn_speed: f64::INFINITY };

    fn move_to(way: TurnWay, from: Pose2, to: Vec2) -> Plan {
        let motion = Motion::MoveTo { to, speed: 2.0, turn_speed: 0.5 };
        Wheels { way, most: FREE }.plan(from, &motion).expect("known").expect("possible")
    }

    #[test]
    fn a_move_is_a_turn_and_a_straight_line_that_ends_exactly_there() {
        let plan = move_to(TurnWay::Shortest, Pose2::new(1.0, 1.0, 0.0), Vec2::new(1.0, -3.0));
        let [turn, go] = &plan.phases[..] else { panic!("two phases") };
        assert_eq!((turn.twist.spin, turn.duration_s), (-0.5, PI));
        assert_eq!((go.duration_s, go.end.at), (2.0, Vec2::new(1.0, -3.0)));
    }

    #[test]
    fn the_papers_robots_turn_counter_clockwise_only() {
        let plan = move_to(TurnWay::CounterClockwise, Pose2::new(1.0, 1.0, 0.0), Vec2::new(1.0, -3.0));
        assert_eq!((plan.phases[0].twist.spin, plan.phases[0].duration_s), (0.5, 3.0 * PI));
    }

    /// TURN as well: to the same heading, the other way round.
    #[test]
    fn a_turn_by_a_negative_angle_goes_counter_clockwise_where_all_do() {
        let turn = |way: TurnWay, by: f64| {
            let motion = Motion::Turn { by, turn_speed: 0.5 };
            let wheels = Wheels { way, most: FREE };
            let plan = wheels.plan(Pose2::default(), &motion).expect("known").expect("possible");
            let phase = &plan.phases[0];
            (phase.twist.spin, phase.duration_s, phase.end.heading)
        };
        assert_eq!(turn(TurnWay::Shortest, -1.0), (-0.5, 2.0, -1.0));
        for by in [-1.0, -1.0 - TAU] {
            let (spin, duration, heading) = turn(TurnWay::CounterClockwise, by);
            assert_eq!(spin, 0.5);
            assert!((duration - 2.0 * (TAU - 1.0)).abs() < 1e-12 && (heading + 1.0).abs() < 1e-12);
        }
        assert_eq!(turn(TurnWay::CounterClockwise, 7.0).1, 14.0);
    }

    /// Two metres at 1 m/s, then two at 4 m/s.
    #[derive(Debug)]
    struct Hurry;

    impl MotionPattern for Hurry {
        fn duration_s(&self) -> f64 {
            2.5
        }

        fn pose_at(&self, t_s: f64) -> Pose2 {
            let x = if t_s < 2.0 { t_s } else { 2.0 + 4.0 * (t_s - 2.0) };
            Pose2::new(x, 0.0, 0.0)
        }

        fn events(&self) -> Vec<(f64, String)> {
            vec![(2.0, "hurry".to_owned())]
        }
    }

    /// Where it is too fast it takes longer: two metres at 2 m/s are a second instead of half of one.
    #[test]
    fn a_pattern_is_no_faster_than_its_robot() {
        let motion = Motion::Follow(Arc::new(Hurry));
        let most = Most { speed: 2.0, turn_speed: 1.0 };
        let wheels = Wheels { way: TurnWay::Shortest, most };
        let modules: [&dyn MotionModule; 2] = [&wheels, &Glider { most }];
        for module in modules {
            let plan = module.plan(Pose2::default(), &motion).expect("known").expect("possible");
            let fastest = plan.phases.iter().map(|p| p.twist.linear().norm()).fold(0.0, math::max);
            let takes: f64 = plan.phases.iter().map(|p| p.duration_s).sum();
            let end = plan.phases[plan.phases.len() - 1].end;
            assert!((fastest - 2.0).abs() < 1e-9 && (takes - 3.0).abs() < 1e-9, "{fastest} m/s, {takes} s");
            assert_eq!((end, &plan.events[..]), (Pose2::new(4.0, 0.0, 0.0), &[(4, "hurry".to_owned())][..]));
        }
        // A turn of one radian in 0.1 s.
        #[derive(Debug)]
        struct Whirl;
        impl MotionPattern for Whirl {
            fn duration_s(&self) -> f64 {
                0.1
            }
            fn pose_at(&self, t_s: f64) -> Pose2 {
                Pose2::new(0.0, 0.0, 10.0 * t_s)
            }
        }
        let plan = wheels.plan(Pose2::default(), &Motion::Follow(Arc::new(Whirl))).expect("known");
        let takes: f64 = plan.expect("possible").phases.iter().map(|p| p.duration_s).sum();
        assert!((takes - 1.0).abs() < 1e-9, "{takes} s");
    }

    #[test]
    fn impossible_motions_say_why() {
        let wheels = Wheels { way: TurnWay::Shortest, most: FREE };
        let bad = [
            Motion::Forward { distance: 1.0, speed: 0.0 },
            Motion::Forward { distance: f64::NAN, speed: 1.0 },
            Motion::Turn { by: 1.0, turn_speed: -1.0 },
            Motion::Arc { speed: 1.0, spin: 1.0, for_s: 0.0 },
        ];
        for motion in bad {
            assert!(wheels.plan(Pose2::default(), &motion).expect("known").is_err(), "{motion:?}");
        }
        let sideways = Motion::Velocity { velocity: Vec2::new(0.0, 1.0), for_s: 1.0 };
        assert!(wheels.plan(Pose2::default(), &sideways).is_none());
    }
}
