//! Path reservation through every schedule: two robots that cross each other's way.

use crate::adaptor::{Net, Snapshot, System, at_rest, system};
use serde::{Deserialize, Serialize};
use stateright::{Checker, Expectation, Model};
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_part_api::{
    Cx, Drive, Ended, Indication, Microprotocol, Motion, Moving, PortSpec, ProtocolModel, ProtocolPort,
    Registry, Request, ServiceKind, User, memory_is_serde,
};
use swarmyard_radio::lab::{PROBE, Stack, Trace, What};
use swarmyard_radio::protocols::zones::Zone;
use swarmyard_scene::Value;

/// Where robot 0 and robot 1 start on a grid of metres, and where they want to be.
const WAYS: [((u8, u8), (u8, u8)); 2] = [((0, 1), (2, 1)), ((1, 0), (1, 2))];

/// What the light says of the way it is going: nothing, or one metre to one of four sides.
const SIDES: [(i32, i32); 5] = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)];

/// Wheels that go a metre at a time and show by the light where they are and where they go.
struct Wheels;

#[derive(Default, Serialize, Deserialize)]
struct WheelsMemory {
    at: (u8, u8),
    /// User, tag and side.
    under_way: Option<(User, u64, u8)>,
}

impl WheelsMemory {
    fn shine(&self, cx: &mut Cx<'_>) {
        let side = self.under_way.map_or(0, |u| u.2);
        cx.shine(self.at.0 | self.at.1 << 3 | side << 5);
    }
}

impl ProtocolModel for Wheels {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Motion)
    }
    fn ports(&self) -> Vec<PortSpec> {
        Vec::new()
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(WheelsMemory::default())
    }
}

impl Microprotocol for WheelsMemory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.at = WAYS[cx.me() as usize].0;
        self.shine(cx);
    }
    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Motion(Drive::Go { tag, motion }) = request else { return };
        assert!(self.under_way.is_none() && matches!(motion, Motion::MoveTo { .. } | Motion::Forward { .. }));
        // Both go straight on all the time: robot 0 to the right, robot 1 up.
        self.under_way = Some((user, tag, if cx.me() == 0 { 1 } else { 3 }));
        self.shine(cx);
        cx.set_timer(1.0);
    }
    fn timer(&mut self, _: u64, cx: &mut Cx<'_>) {
        if let Some((user, tag, side)) = self.under_way.take() {
            let (dx, dy) = SIDES[side as usize];
            self.at = ((i32::from(self.at.0) + dx) as u8, (i32::from(self.at.1) + dy) as u8);
            self.shine(cx);
            cx.indicate(user, Indication::Ended { tag, how: Ended::Finished });
        }
    }
    memory_is_serde!();
}

/// An algorithm that goes where it wants.
struct Goer;

#[derive(Serialize, Deserialize)]
struct GoerMemory {}

impl ProtocolModel for Goer {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }
    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion)]
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(GoerMemory {})
    }
}

impl Microprotocol for GoerMemory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        let (x, y) = WAYS[cx.me() as usize].1;
        let to = Vec2::new(f64::from(x), f64::from(y));
        cx.go(ProtocolPort::<Moving>::new(0), 1, Motion::MoveTo { to, speed: 1.0, turn_speed: 1.0 });
    }
    memory_is_serde!();
}

/// What a robot occupies.
fn zone(state: &Snapshot, robot: usize) -> Zone {
    let light = state.actor_states[robot].light;
    let a = Vec2::new(f64::from(light & 7), f64::from(light >> 3 & 3));
    let (dx, dy) = SIDES[usize::from(light >> 5)];
    Zone { a, b: a + Vec2::new(f64::from(dx), f64::from(dy)), radius: 0.12 }
}

fn arrived(state: &Snapshot) -> bool {
    (0..2).all(|r| {
        let to = WAYS[r].1;
        zone(state, r) == Zone::disc(Vec2::new(f64::from(to.0), f64::from(to.1)), 0.12)
    })
}

/// Each robot goes two chunks: four ends in all.
fn four_ends(trace: &Trace) -> Vec<String> {
    let is_end = |w: &What| matches!(w, What::Said(text) if text.contains("Ended"));
    match trace.events.iter().filter(|e| is_end(&e.what)).count() {
        4 => Vec::new(),
        some => vec![format!("{some} of 4 chunks were travelled")],
    }
}

fn crossing(order: &str, ahead: i64) -> System {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let params = [
        ("chunk", Value::Num(1.0)),
        ("ahead", Value::Int(ahead)),
        ("motion", Value::Text("wheels".into())),
        ("broadcast", Value::Text("order".into())),
    ];
    let graph = Stack::new(&registry)
        .model("wheels", Arc::new(Wheels), &[])
        .class("order", order, &[])
        // The trace follows the one with the name of the probe.
        .class(PROBE, "path-reservation", &params)
        .model("go", Arc::new(Goer), &[("motion", PROBE)])
        .build()
        .unwrap();
    system(&graph, vec![vec![], vec![]], Net::Unordered)
        .property(Expectation::Always, "apart", |_, s| !zone(s, 0).meets(&zone(s, 1)))
        .property(Expectation::Sometimes, "both arrive", |_, s| arrived(s))
        .property(Expectation::Always, "nobody waits for ever", |m, s| at_rest(m, s, four_ends))
}

#[test]
fn two_that_cross_each_others_way_stay_apart_and_arrive_in_every_schedule() {
    for (order, ahead) in [("sequencer-order", 0), ("sequencer-order", 1), ("lamport-order", 0)] {
        let checker = crossing(order, ahead).checker().threads(2).spawn_dfs().join();
        println!("path-reservation over {order}, {ahead} ahead: {} states", checker.unique_state_count());
        checker.assert_properties();
    }
}

#[test]
fn over_a_fake_order_there_is_a_schedule_in_which_they_meet() {
    crossing("fake-order", 0).checker().spawn_bfs().join().assert_any_discovery("apart");
}
