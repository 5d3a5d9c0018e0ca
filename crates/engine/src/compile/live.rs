//! What robots need that live by events: protocols connected, the network, faults and zones.

use super::Compiler;
use crate::live::{Block, Fault, FaultKind, Life, LiveModel, Zone, ZoneKind};
use crate::model::{ContactRule, Model, PartKind, TypeModel};
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::path::natural_cmp;
use swarmyard_base::{Diagnostic, Diagnostics, Pose2, Time, Uid};
use swarmyard_part_api::{
    AtEdge, BodyKind, Built, Equipment, GraphModel, Kind, NetFault, NetworkModel, NodeSpec, Outline,
    RegisterMap, TypeLayout,
};
use swarmyard_scene::{Node, Params};

impl Compiler<'_> {
    /// Whether a child of a type is a protocol or an algorithm.
    pub(super) fn is_protocol(&self, node: &Node) -> bool {
        matches!(self.kind_of(node), Some(Kind::Protocol | Kind::Algorithm))
    }

    /// The protocols and algorithms of a type, connected; `None` when it has none.
    pub(super) fn life(
        &mut self,
        node: &Node,
        outline: &Outline,
        path: &str,
        equipment: Equipment,
    ) -> Option<Life> {
        let children: Vec<&Node> = node.children.iter().filter(|n| self.is_protocol(n)).collect();
        if children.is_empty() {
            if let Some((part, what)) = idle_part(&equipment) {
                let what = format!("the {what} `{part}` does nothing: this type has no algorithm");
                self.problems.push(Diagnostic::error("unused-part", what).at(node.span).on(path));
            }
            return None;
        }
        let none = RegisterMap::default();
        let known = TypeLayout { outline, parts: &[], registers: &none, name: &node.name };
        let mut specs = Vec::new();
        for child in &children {
            let Some((_, Built::Protocol(model))) = self.build(child, &known, path) else { continue };
            let named =
                |port: &swarmyard_part_api::PortSpec| child.params.text_or_none(port.name).map(str::to_owned);
            let ports = model.ports().iter().map(named).collect();
            specs.push(NodeSpec { name: child.name.clone(), model, ports });
        }
        if specs.len() < children.len() {
            return None;
        }
        match GraphModel::new(specs) {
            Ok(graph) => Some(Life { graph: Arc::new(graph), equipment }),
            Err(problems) => {
                self.place(problems, node, path);
                None
            }
        }
    }

    /// Problems that a graph has on `name.parameter`, where these are in the scenario.
    fn place(&mut self, problems: Diagnostics, node: &Node, path: &str) {
        for d in problems.0 {
            let child = d.path.split_once('.').map(|(a, b)| (a.to_owned(), b.to_owned()));
            let child = child.as_ref();
            let found = child.and_then(|(name, _)| node.children.iter().find(|c| c.name == *name));
            let span = found.and_then(|c| child.and_then(|(_, key)| c.params.span(key)).or(c.span));
            let on = format!("{path}/{}", d.path);
            self.problems.push(d.at(span.or(node.span)).on(on));
        }
    }

    /// Whether protocols and algorithms have the sensors they need, and the company: they know each other by name.
    fn check_needs(&mut self, model: &Model, number_of: &[u32]) {
        let scene = self.scene;
        let mut peers: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for ty in &model.types {
            for name in ty.life.iter().flat_map(|l| l.graph.names()) {
                peers.entry(name).or_default().extend(ty.slots.clone().map(|slot| number_of[slot]));
            }
        }
        peers.values_mut().for_each(|numbers| numbers.sort_unstable());
        let robots = number_of.iter().filter(|n| **n != LiveModel::NOBODY).count() as u32;
        for ty in &model.types {
            let path = format!("/types/{}", ty.name);
            let (Some(life), Some(node)) = (&ty.life, scene.find(&path)) else { continue };
            let mut problems = life.graph.misfits(robots, |name| peers.get(name).map_or(&[], Vec::as_slice));
            let mut lacking: Vec<(String, String)> = Vec::new();
            for (name, query) in life.graph.asks().filter(|(_, q)| !life.equipment.answers(q)) {
                let sensor = query.sensor();
                if lacking.iter().any(|l| l.0 == name && l.1 == sensor) {
                    continue;
                }
                lacking.push((name.to_owned(), sensor.to_owned()));
                let what =
                    format!("`{name}` asks {}, and no sensor of `{}` tells it", query.words(), ty.name);
                let d = Diagnostic::error("missing-sensor", what).on(format!("{name}.class"));
                problems.push(d.help(format!("add a part with `class = \"{sensor}\"`")));
            }
            self.place(problems, node, &path);
        }
    }

    /// What is fixed about all robots that live by events; `None` when there are none.
    pub(super) fn live(&mut self, model: &Model) -> Option<LiveModel> {
        let mut members: Vec<u32> = Vec::new();
        for ty in model.types.iter().filter(|t| t.life.is_some()) {
            members.extend(ty.slots.clone().map(|slot| slot as u32));
        }
        if members.is_empty() {
            // Where a protocol or an algorithm is wrong, that is the only thing to say.
            let is_meant =
                self.scene.group("/types").iter().any(|t| t.children.iter().any(|n| self.is_protocol(n)));
            let any = model.robots() > 0 && !is_meant;
            for (what, group) in [("fault", "/faults"), ("zone", "/world/zones")] {
                for node in self.scene.group(group).iter().filter(|_| any) {
                    let text = format!("this {what} does nothing: no robot lives by events");
                    self.problems.push(Diagnostic::error("unused-section", text).at(node.span));
                }
            }
            return None;
        }
        members.sort_by(|a, b| natural_cmp(&model.paths[*a as usize], &model.paths[*b as usize]));
        let mut number_of = vec![LiveModel::NOBODY; model.len()];
        for (n, slot) in members.iter().enumerate() {
            number_of[*slot as usize] = n as u32;
        }
        let mut ranks = vec![0; model.len()];
        for (rank, slot) in model.by_uid.iter().enumerate() {
            ranks[*slot as usize] = rank as u32;
        }
        self.check_company(model);
        self.check_needs(model, &number_of);
        self.check_names(model);
        let network = self.network(model);
        let faults = self.faults(model, &number_of);
        let zones = self.zones();
        let all = members.len() == model.len();
        let is_obstacle = |slot: &u32| model.kinds[*slot as usize] == BodyKind::Obstacle;
        let bodies = (0..model.len() as u32).filter(is_obstacle).collect();
        let blocks = Block::all(model.fixed.edges());
        let mut firsts = BTreeMap::new();
        let edges = model.fixed.edges().iter().enumerate();
        let first_edges = edges.map(|(k, edge)| *firsts.entry(edge.owner).or_insert(k as u32)).collect();
        Some(LiveModel {
            members,
            number_of,
            ranks,
            network,
            faults,
            zones,
            bodies,
            blocks,
            first_edges,
            all,
        })
    }

    /// What cannot stand in one world with robots that live by events.
    fn check_company(&mut self, model: &Model) {
        let mut refuse = |ty: &TypeModel, child: Option<&str>, what: &str, help: &str| {
            let text = format!("`{}` {what}, which does not go with robots that live by events", ty.name);
            let path =
                child.map_or(format!("/types/{}", ty.name), |name| format!("/types/{}/{name}", ty.name));
            let span = self.scene.find(&path).and_then(|n| n.span);
            self.problems.push(Diagnostic::error("mixed-time", text).at(span).on(path).help(help));
        };
        for ty in &model.types {
            let hand =
                |p: &&crate::model::PartModel| matches!(&p.kind, PartKind::Actuator(a) if a.hand().is_some());
            if let Some(part) = ty.parts.iter().find(hand) {
                let help = "leave the hand out, or give all robots controllers instead of algorithms";
                refuse(ty, Some(&part.name), "has a hand that can hold things", help);
            }
            if ty.at_edge() != AtEdge::Push {
                let help = "leave the key `edge` out, or put it into a world of its own";
                refuse(ty, None, "bounces, stops or wraps around at the edge", help);
            }
            if let Some(mover) = ty.mover.filter(|_| ty.life.is_some()) {
                let help = "motion modules move it: `wheels`, `glider` or one of your own";
                let part = ty.parts.get(mover).map(|part| &*part.name);
                refuse(ty, part, "has a drive that goes by quanta beside its algorithm", help);
            }
            if let Some(controller) = ty.controllers.first().filter(|_| ty.life.is_some()) {
                let help = "a robot has an algorithm or controllers: take one of the two out";
                refuse(ty, Some(&controller.name), "has a controller beside its algorithm", help);
            }
        }
        if model.run.contact == ContactRule::Own {
            let d = Diagnostic::error("mixed-time", "the contact rule `own` is for robots that go by quanta");
            let span = self.scene.find("/run").and_then(|n| n.params.span("contact").or(n.span));
            self.problems.push(d.at(span).on("/run").suggest("", ["stop", "impulse", "ghost"]));
        }
    }

    /// Robots of two types that run the same class under two names do not hear each other.
    fn check_names(&mut self, model: &Model) {
        let alive = |t: &&TypeModel| t.life.is_some() && !t.slots.is_empty();
        let types: Vec<&TypeModel> = model.types.iter().filter(alive).collect();
        for (k, ty) in types.iter().enumerate() {
            for other in &types[k + 1..] {
                self.compare_names(&ty.name, &other.name);
            }
        }
    }

    /// Protocols of two types that are of one class, and have names that the other type does not know.
    fn compare_names(&mut self, one: &str, two: &str) {
        let (Some(one_node), Some(two_node)) =
            (self.scene.find(&format!("/types/{one}")), self.scene.find(&format!("/types/{two}")))
        else {
            return;
        };
        let is_protocol = |n: &&Node| self.kind_of(n) == Some(Kind::Protocol);
        let unknown = |n: &&Node, other: &Node| !other.children.iter().any(|c| c.name == n.name);
        let mut warnings = Vec::new();
        for node in one_node.children.iter().filter(is_protocol).filter(|n| unknown(n, two_node)) {
            let alike = |n: &&Node| n.class == node.class && unknown(n, one_node);
            let Some(other) = two_node.children.iter().filter(is_protocol).find(alike) else { continue };
            let (name, known_as) = (&node.name, &other.name);
            let what = format!(
                "`{name}` of `{one}` and `{known_as}` of `{two}` do not hear each other: protocols know each other by name"
            );
            let d = Diagnostic::warning("other-name", what).at(other.span);
            let help = format!("call both `{name}`, if they are to talk to each other");
            warnings.push(d.on(format!("/types/{two}/{known_as}")).help(help));
        }
        warnings.into_iter().for_each(|d| self.problems.push(d));
    }

    fn network(&mut self, model: &Model) -> Option<Arc<dyn NetworkModel>> {
        let needs = model.types.iter().find_map(|t| Some((&t.name, t.life.as_ref()?.graph.needs_network()?)));
        let Some(node) = self.scene.find("/network") else {
            if let Some((ty, protocol)) = needs {
                let what = format!("`{protocol}` sends messages, and there is no network");
                let d = Diagnostic::error("no-network", what).on(format!("/types/{ty}/{protocol}"));
                self.problems.push(d.help("add a section such as `[network]` with `class = \"constant\"`"));
            }
            return None;
        };
        let outline = Outline::disc(1.0);
        let none = RegisterMap::default();
        let known = TypeLayout { outline: &outline, parts: &[], registers: &none, name: "network" };
        match self.build_of(&[Kind::Network], node, &known, "") {
            Some((_, Built::Network(network))) => Some(network),
            _ => None,
        }
    }

    fn faults(&mut self, model: &Model, number_of: &[u32]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for node in self.scene.group("/faults") {
            let path = format!("/faults/{}", node.name);
            let p = self.params(Some(node), "fault", &path);
            let at = Time::from_seconds(p.num_or_none("at").unwrap_or(0.0));
            if let Some(what) = self.fault_of(model, number_of, &p, &path) {
                faults.push(Fault { at, what });
            }
        }
        faults.sort_by_key(|f| f.at);
        faults
    }

    fn fault_of(&mut self, model: &Model, number_of: &[u32], p: &Params, path: &str) -> Option<FaultKind> {
        let mut robots = |text: &str, key: &str| -> Vec<u32> {
            let mut numbers = Vec::new();
            for name in text.split_whitespace() {
                let slot = model.slot_of(Uid::of_path(&format!("/robots/{name}")));
                match slot.map(|s| number_of[s]).filter(|n| *n != LiveModel::NOBODY) {
                    Some(number) => numbers.push(number),
                    None => {
                        let what = format!("`{name}` is no robot that lives by events");
                        let d = Diagnostic::error("unknown-robot", what).at(p.span(key)).on(path);
                        self.problems.push(d);
                    }
                }
            }
            numbers
        };
        for key in ["crash", "recover"] {
            if let Some(names) = p.texts_or_none(key) {
                let numbers = names.iter().flat_map(|n| robots(n, key)).collect();
                return Some(if key == "crash" {
                    FaultKind::Crash(numbers)
                } else {
                    FaultKind::Recover(numbers)
                });
            }
        }
        let net = if let Some(sides) = p.texts_or_none("partition") {
            NetFault::Partition(sides.iter().map(|side| robots(side, "partition")).collect())
        } else if p.bool_or_none("heal") == Some(true) {
            NetFault::Heal
        } else if let Some(loss) = p.num_or_none("loss") {
            NetFault::Loss(loss)
        } else {
            NetFault::Delay(p.num_or_none("delay")?)
        };
        Some(FaultKind::Network(net))
    }

    /// Robots that are swallowed before they do anything, and robots that zones do nothing to.
    pub(super) fn check_zones(&mut self, model: &Model, poses: &[Pose2]) {
        let Some(live) = model.live.as_ref().filter(|live| !live.zones.is_empty()) else { return };
        let in_hole = |slot: &&u32| live.is_hole(poses[**slot as usize].at);
        let mut lost = live.members.iter().filter(in_hole);
        if let Some(first) = lost.next() {
            let (path, more) = (&model.paths[*first as usize], lost.count());
            let others = if more == 0 { String::new() } else { format!(" and {more} more") };
            let what = format!("`{path}`{others} starts in a hole, and is swallowed at once");
            let span = self.scene.find(path).and_then(|node| node.span);
            self.problems.push(Diagnostic::warning("in-a-hole", what).at(span).on(path));
        }
        for ty in model.types.iter().filter(|t| t.life.is_none() && t.mover.is_some()) {
            let path = format!("/types/{}", ty.name);
            let what = format!("zones do nothing to `{}`, whose robots go by quanta", ty.name);
            let span = self.scene.find(&path).and_then(|n| n.span);
            let d = Diagnostic::warning("no-effect", what).at(span).on(path.as_str());
            self.problems.push(d.help(
                "zones are for robots that live by events; give these an algorithm, or put a wall there",
            ));
        }
    }

    fn zones(&mut self) -> Vec<Zone> {
        let mut zones = Vec::new();
        for node in self.scene.group("/world/zones") {
            let path = format!("/world/zones/{}", node.name);
            let p = self.params(Some(node), "zone", &path);
            let kind = match p.text_or_none("kind") {
                Some("swallow") => ZoneKind::Swallow,
                _ => ZoneKind::Slow(p.num_or_none("factor").unwrap_or(0.5)),
            };
            zones.push(Zone { path, points: p.points_or_none("points").unwrap_or(&[]).to_vec(), kind });
        }
        zones
    }
}

/// A part that only an algorithm could use.
fn idle_part(equipment: &Equipment) -> Option<(&str, &'static str)> {
    let module = equipment.modules.first().map(|m| (m.0.as_str(), "motion module"));
    module.or_else(|| equipment.sensors.first().map(|s| (s.0.as_str(), "sensor")))
}
