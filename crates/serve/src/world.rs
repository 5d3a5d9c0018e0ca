//! The `world` message: everything about a world that does not change from step to step.

use crate::files::Project;
use serde_json::{Value, json};
use swarmyard_base::Uid;
use swarmyard_engine::{ControllerKind, Model, PartModel, TypeModel};
use swarmyard_part_api::Register;
use swarmyard_record::Bodies;

/// `drawing` and `types` of the message.
pub(crate) fn world_json(model: &Model, project: &Project) -> (Value, Value) {
    let drawing = serde_json::to_value(Bodies::of(model)).unwrap_or_default();
    (drawing, model.types.iter().map(|ty| type_json(ty, project)).collect())
}

/// Path of each wall and fixed obstacle, by the owner's number that the edges of `drawing` carry.
pub(crate) fn owners(model: &Model) -> Vec<&str> {
    let mut owners: Vec<Uid> = model.fixed.edges().iter().map(|edge| edge.owner).collect();
    owners.dedup();
    owners.into_iter().map(|uid| model.path_of(uid).unwrap_or("/world/border")).collect()
}

fn type_json(ty: &TypeModel, project: &Project) -> Value {
    let parts = ty.parts.iter().map(|part| {
        let channels =
            part.layout.channels.iter().map(
                |c| json!({ "name": c.name, "len": c.len, "unit": c.unit.symbol(), "command": c.command }),
            );
        json!({ "name": part.name, "class": part.class, "channels": channels.collect::<Vec<_>>() })
    });
    let controllers = ty.controllers.iter().map(|c| {
        let source = match &c.model {
            ControllerKind::Program(program) => program.source().and_then(|p| project.name_of(p)),
            _ => None,
        };
        json!({ "name": c.name, "class": c.class, "source": source })
    });
    json!({
        "name": ty.name,
        "parts": parts.collect::<Vec<_>>(),
        "controllers": controllers.collect::<Vec<_>>(),
        "registers": ty.registers.all().iter().flat_map(|r| register_json(ty, r)).collect::<Vec<_>>(),
    })
}

/// One line per number of a register.
fn register_json(ty: &TypeModel, register: &Register) -> Vec<Value> {
    let part = ty.parts.get(register.part);
    let one = |k: u32| {
        let at = register.first + k as usize;
        let channel = part.and_then(|p| channel_at(p, at, register)).map_or((None, 0), |(n, k)| (Some(n), k));
        let name =
            if register.count == 1 { register.name.clone() } else { format!("{}[{k}]", register.name) };
        json!({
            "name": name, "address": register.at + k * register.bytes, "bytes": register.bytes,
            "part": part.map(|p| p.name.as_str()), "channel": channel.0, "index": channel.1,
        })
    };
    (0..register.count).map(one).collect()
}

/// Address and width of the register that holds a number of a channel, if one does.
pub(crate) fn register_of(ty: &TypeModel, part: &str, channel: &str, index: usize) -> Option<(u32, u32)> {
    ty.registers.all().iter().find_map(|register| {
        let own = ty.parts.get(register.part).filter(|p| p.name == part)?;
        let holds =
            |k: &u32| channel_at(own, register.first + *k as usize, register) == Some((channel, index));
        let k = (0..register.count).find(holds)?;
        Some((register.at + k * register.bytes, register.bytes))
    })
}

/// The channel that a place in a part's reading or command row belongs to.
fn channel_at<'a>(part: &'a PartModel, place: usize, register: &Register) -> Option<(&'a str, usize)> {
    if register.is_port() {
        return None;
    }
    let mut first = 0;
    for channel in part.layout.channels.iter().filter(|c| c.command == register.is_command()) {
        if place < first + channel.len {
            return Some((channel.name, place - first));
        }
        first += channel.len;
    }
    None
}
