//! What carries a robot over sockets: dead reckoning by its own motion modules.
//!
//! In: motions. Out: where it is at a moment, and when the phase under way ends. What never happens: it touches
//! something, or learns where another robot is. There is no world here, only its own wheels.

use std::collections::VecDeque;
use swarmyard_base::chance::Draw;
use swarmyard_base::{Moment, Pose2, Uid, Vec2};
use swarmyard_part_api::{Answer, Equipment, Motion, Phase, Plan, Query, Surroundings, Watch, WatchFor};

/// A robot's place and its way.
pub(super) struct Carriage {
    equipment: Equipment,
    /// Where it was at `since`.
    pose: Pose2,
    since: Moment,
    journey: Option<Journey>,
}

/// A motion under way; its first phase is the present one.
struct Journey {
    node: u16,
    task: u64,
    phases: VecDeque<Phase>,
    until: Moment,
}

impl Carriage {
    /// It stands there.
    pub(super) fn new(pose: Pose2, equipment: Equipment) -> Carriage {
        Carriage { equipment, pose, since: Moment::ZERO, journey: None }
    }

    /// Where it is.
    pub(super) fn pose_at(&self, now: Moment) -> Pose2 {
        match self.journey.as_ref().and_then(|j| j.phases.front()) {
            Some(phase) => phase.segment(self.pose).pose_at(now.since(self.since)),
            None => self.pose,
        }
    }

    /// When the phase under way ends.
    pub(super) fn due(&self) -> Moment {
        self.journey.as_ref().map_or(Moment::NEVER, |j| j.until)
    }

    /// The plan of a motion that begins now.
    ///
    /// # Errors
    /// When no motion module of the robot can do it; says why.
    pub(super) fn plan(&self, now: Moment, motion: &Motion) -> Result<Plan, String> {
        let pose = self.pose_at(now);
        let planned = self.equipment.modules.iter().find_map(|(_, module)| module.plan(pose, motion));
        let plan =
            planned.unwrap_or_else(|| Err("no motion module of this robot knows this motion".to_owned()))?;
        let sound = |p: &Phase| p.twist.is_finite() && p.end.is_finite() && p.duration_s >= 0.0;
        if plan.phases.iter().all(sound) {
            Ok(plan)
        } else {
            Err("the motion is not a finite one".to_owned())
        }
    }

    /// Sets out; a plan without phases leaves it standing.
    pub(super) fn set_out(&mut self, now: Moment, node: u16, task: u64, plan: Plan) {
        self.stand(now);
        let mut journey = Journey { node, task, phases: plan.phases.into(), until: Moment::NEVER };
        if let Some(phase) = journey.phases.front() {
            journey.until = now.plus(phase.duration_s);
            self.journey = Some(journey);
        }
    }

    /// Stops where it is; answers (node, task) of the motion that was under way.
    pub(super) fn stand(&mut self, now: Moment) -> Option<(u16, u64)> {
        (self.pose, self.since) = (self.pose_at(now), now);
        self.journey.take().map(|j| (j.node, j.task))
    }

    /// The phase under way ends; answers (node, task) when that was the last one.
    pub(super) fn arrive(&mut self) -> Option<(u16, u64)> {
        let journey = self.journey.as_mut()?;
        let phase = journey.phases.pop_front()?;
        // The next phase begins when this one was to end, not when somebody looked at the clock.
        (self.pose, self.since) = (phase.end, journey.until);
        if let Some(next) = journey.phases.front() {
            journey.until = self.since.plus(next.duration_s);
            return None;
        }
        self.journey.take().map(|j| (j.node, j.task))
    }

    /// Asks a pull sensor.
    ///
    /// # Errors
    /// What cannot be done: anything but asking for its own place.
    pub(super) fn pull(&self, query: &Query, place: &OwnPlace) -> Result<Answer, String> {
        let what = match query {
            Query::Gps { .. } => {
                let mut sensors = self.equipment.sensors.iter();
                let answer = sensors.find_map(|(_, sensor)| sensor.pull(query, place));
                return answer.ok_or_else(|| "it has no `gps`".to_owned());
            }
            Query::GpsAll { .. } => "ask where all robots are".to_owned(),
            Query::View { .. } => "look which robots are in its view".to_owned(),
            Query::Proximity { .. } | Query::ProximityPoints { .. } => "look what is near".to_owned(),
            Query::Own { sensor, .. } => format!("ask its sensor `{sensor}`"),
        };
        Err(format!("cannot {what}: over sockets a robot knows only its own place"))
    }

    /// Whether a push sensor can be switched on: one for contacts can, and never fires.
    ///
    /// # Errors
    /// What cannot be done.
    pub(super) fn watch(watch: &Watch) -> Result<(), String> {
        let what = match &watch.what {
            WatchFor::Contact => return Ok(()),
            WatchFor::Near { .. } => "look out for what comes near".to_owned(),
            WatchFor::Own { sensor, .. } => format!("look out by its sensor `{sensor}`"),
        };
        Err(format!("cannot {what}: over sockets a robot knows only its own place"))
    }
}

/// The world as a robot's `gps` sees it: itself.
pub(super) struct OwnPlace {
    pub(super) now: Moment,
    pub(super) me: u32,
    pub(super) robots: u32,
    pub(super) pose: Pose2,
    pub(super) chance: Draw,
}

impl Surroundings for OwnPlace {
    fn now(&self) -> Moment {
        self.now
    }

    fn me(&self) -> u32 {
        self.me
    }

    fn robots(&self) -> u32 {
        self.robots
    }

    fn pose(&self, robot: u32) -> Option<Pose2> {
        (robot == self.me).then_some(self.pose)
    }

    fn light(&self, _robot: u32) -> u8 {
        0
    }

    fn near(&self, _at: Vec2, _range: f64) -> Vec<(Uid, Option<u32>, Vec2, f64)> {
        Vec::new()
    }

    fn radius(&self, _robot: u32) -> f64 {
        0.0
    }

    fn chance(&self) -> Draw {
        self.chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use swarmyard_part_api::{MotionModule, TurnWay};

    struct Wheels;

    impl MotionModule for Wheels {
        fn plan(&self, from: Pose2, motion: &Motion) -> Option<Result<Plan, String>> {
            match motion {
                Motion::MoveTo { to, speed, turn_speed } => {
                    Some(Ok(Plan::move_to(from, *to, *speed, *turn_speed, TurnWay::Shortest)))
                }
                _ => None,
            }
        }
    }

    fn carriage() -> Carriage {
        let modules: Vec<(String, Arc<dyn MotionModule>)> = vec![("wheels".to_owned(), Arc::new(Wheels))];
        let start = Pose2 { at: Vec2::new(1.0, 0.0), heading: 0.0 };
        Carriage::new(start, Equipment { modules, sensors: Vec::new() })
    }

    fn ahead(carriage: &mut Carriage, at: Moment, x: f64) {
        let motion = Motion::MoveTo { to: Vec2::new(x, 0.0), speed: 2.0, turn_speed: 1.0 };
        let plan = carriage.plan(at, &motion).unwrap();
        carriage.set_out(at, 3, 7, plan);
    }

    #[test]
    fn it_is_half_way_at_half_time_and_exactly_there_at_the_end() {
        let mut carriage = carriage();
        ahead(&mut carriage, Moment::ZERO, 5.0);
        assert_eq!(carriage.arrive(), None, "the turn, which takes no time");
        assert_eq!(carriage.pose_at(Moment::ZERO.plus(1.0)).at, Vec2::new(3.0, 0.0));
        assert_eq!(carriage.due(), Moment::ZERO.plus(2.0));
        assert_eq!(carriage.arrive(), Some((3, 7)));
        assert_eq!(
            (carriage.pose_at(Moment::ZERO.plus(9.0)).at, carriage.due()),
            (Vec2::new(5.0, 0.0), Moment::NEVER)
        );
    }

    #[test]
    fn another_motion_begins_where_the_first_was_broken_off() {
        let mut carriage = carriage();
        ahead(&mut carriage, Moment::ZERO, 5.0);
        carriage.arrive();
        assert_eq!(carriage.stand(Moment::ZERO.plus(0.5)), Some((3, 7)));
        assert_eq!(carriage.pose_at(Moment::ZERO.plus(4.0)).at, Vec2::new(2.0, 0.0));
        assert_eq!(carriage.stand(Moment::ZERO.plus(5.0)), None);
    }

    #[test]
    fn what_it_cannot_do_is_named() {
        let carriage = carriage();
        let draw =
            Draw::at(1, Uid(0), swarmyard_base::chance::Purpose::Positioning, swarmyard_base::Time::ZERO, 0);
        let place = OwnPlace { now: Moment::ZERO, me: 0, robots: 2, pose: carriage.pose, chance: draw };
        let why = carriage.pull(&Query::View { range: 1.0 }, &place).unwrap_err();
        assert_eq!(
            why,
            "cannot look which robots are in its view: over sockets a robot knows only its own place"
        );
        assert_eq!(carriage.pull(&Query::Gps { error: 0.0 }, &place).unwrap_err(), "it has no `gps`");
        let turn = Motion::Turn { by: 1.0, turn_speed: 1.0 };
        assert!(carriage.plan(Moment::ZERO, &turn).unwrap_err().contains("knows this motion"));
    }
}
