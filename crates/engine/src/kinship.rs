//! Who in a new world is who in the old one: bodies by path, parts and controllers by name.
//!
//! In: two models, and the programs that run in the old one. Out: a table to look up slots and numbers.
//! Never: a slot or a number of the one model used in the other without it.

use crate::journal::InputKind;
use crate::minds::Minds;
use crate::model::{ControllerKind, ControllerModel, Model, PartModel, TypeModel};
use std::collections::BTreeMap;
use swarmyard_base::Uid;

/// Who is who in two models.
pub struct Kinship {
    /// New slot of each old body.
    to: Vec<Option<u32>>,
    /// Old slot of each new body.
    from: Vec<Option<u32>>,
    /// By old and new type, for every pair that a body has.
    types: BTreeMap<(u32, u32), TypeKin>,
    old_type: Vec<u32>,
    new_type: Vec<u32>,
}

/// What two types have in common, for a body that is of the one and was of the other.
pub(crate) struct TypeKin {
    /// Old number of each new part that goes on.
    pub(crate) parts: Vec<Option<usize>>,
    /// Old number of each new controller that goes on.
    pub(crate) controllers: Vec<Option<usize>>,
}

impl Kinship {
    /// Compares two models. Which code runs now, the programs know.
    #[must_use]
    pub fn new(old: &Model, new: &Model, minds: &Minds) -> Kinship {
        let slot_in = |model: &Model, path: &str| model.slot_of_path(path).map(|slot| slot as u32);
        let from: Vec<Option<u32>> = new.paths.iter().map(|path| slot_in(old, path)).collect();
        let to = old.paths.iter().map(|path| slot_in(new, path)).collect();
        let mut types = BTreeMap::new();
        for (slot, was) in from.iter().enumerate() {
            let Some(was) = *was else { continue };
            let (t, u) = (old.type_of[was as usize], new.type_of[slot]);
            types.entry((t, u)).or_insert_with(|| TypeKin::new(old, new, minds, (t as usize, u as usize)));
        }
        Kinship { to, from, types, old_type: old.type_of.clone(), new_type: new.type_of.clone() }
    }

    /// The old slot of a body of the new model.
    #[must_use]
    pub fn old_slot(&self, slot: usize) -> Option<usize> {
        self.from[slot].map(|slot| slot as usize)
    }

    /// The new slot of a body of the old model.
    #[must_use]
    pub fn new_slot(&self, slot: usize) -> Option<usize> {
        self.to[slot].map(|slot| slot as usize)
    }

    /// The new number of a part that goes on, of the body in an old slot.
    #[must_use]
    pub fn new_part(&self, slot: usize, part: usize) -> Option<usize> {
        self.of(self.new_slot(slot)?)?.parts.iter().position(|was| *was == Some(part))
    }

    /// The new number of a controller that goes on, of the body in an old slot.
    #[must_use]
    pub fn new_controller(&self, slot: usize, controller: usize) -> Option<usize> {
        self.of(self.new_slot(slot)?)?.controllers.iter().position(|was| *was == Some(controller))
    }

    /// What goes on of the body in a new slot; `None` when it is new.
    pub(crate) fn of(&self, slot: usize) -> Option<&TypeKin> {
        let was = self.old_slot(slot)?;
        self.types.get(&(self.old_type[was], self.new_type[slot]))
    }

    /// Every pair of an old and a new type that some body has, with what they have in common.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = ((usize, usize), &TypeKin)> {
        self.types.iter().map(|(pair, kin)| ((pair.0 as usize, pair.1 as usize), kin))
    }
}

impl TypeKin {
    fn new(old: &Model, new: &Model, minds: &Minds, (t, u): (usize, usize)) -> TypeKin {
        let (was, is): (&TypeModel, &TypeModel) = (&old.types[t], &new.types[u]);
        let part = |p: &PartModel| was.parts.iter().position(|o| is_same_part(o, p));
        let controller = |c: &ControllerModel| {
            let of = |(k, o): (usize, &ControllerModel)| is_same_controller(o, c, minds.code(t, k));
            was.controllers.iter().enumerate().position(of)
        };
        TypeKin {
            parts: is.parts.iter().map(part).collect(),
            controllers: is.controllers.iter().map(controller).collect(),
        }
    }

    /// Whether all parts have the numbers they had.
    pub(crate) fn keeps_part_numbers(&self) -> bool {
        self.parts.iter().enumerate().all(|(k, was)| *was == Some(k))
    }
}

/// Same name, class and channels: its numbers mean the same, whatever its parameters are now.
fn is_same_part(a: &PartModel, b: &PartModel) -> bool {
    let channels = |p: &PartModel| -> Vec<(&'static str, usize, bool)> {
        p.layout.channels.iter().map(|c| (c.name, c.len, c.command)).collect()
    };
    (&a.name, a.class, a.layout.state.len()) == (&b.name, b.class, b.layout.state.len())
        && channels(a) == channels(b)
}

/// Same name and class, and the same code as the one that `runs`.
fn is_same_controller(a: &ControllerModel, b: &ControllerModel, runs: Option<u64>) -> bool {
    let same_code = match (&a.model, &b.model) {
        (ControllerKind::Columns(_), ControllerKind::Columns(_)) => true,
        (ControllerKind::Program(_), ControllerKind::Program(program)) => runs == Some(program.code()),
        (ControllerKind::Outside(was), ControllerKind::Outside(is)) => was.code() == is.code(),
        _ => false,
    };
    same_code && (&a.name, a.class, a.state.len()) == (&b.name, b.class, b.state.len())
}

/// An input that was given in one world, as it is for another: with the numbers that parts and
/// controllers have there. `None` when what it is for is not there, or is not the same any more.
#[must_use]
pub fn renumbered(input: &InputKind, old: &Model, new: &Model) -> Option<InputKind> {
    let types = |robot: Uid| {
        let (was, is) = (old.slot_of(robot)?, new.slot_of(robot)?);
        Some((old.type_at(was), new.type_at(is)))
    };
    let mut input = input.clone();
    match &mut input {
        InputKind::Command { robot, part, .. } => {
            let (was, is) = types(*robot)?;
            let old = was.parts.get(*part as usize)?;
            *part = is.parts.iter().position(|p| is_same_part(old, p))? as u32;
        }
        InputKind::Thought { robot, controller, .. } => {
            let (was, is) = types(*robot)?;
            let old = was.controllers.get(*controller as usize)?;
            *controller = is.controllers.iter().position(|c| is_same_controller(old, c, None))? as u32;
        }
        InputKind::Code { ty, controller, .. } => {
            let was = old.types.get(*ty as usize)?;
            let name = &was.controllers.get(*controller as usize)?.name;
            let t = new.types.iter().position(|t| t.name == was.name)?;
            *controller = new.types[t].controllers.iter().position(|c| c.name == *name)? as u32;
            *ty = t as u32;
        }
        InputKind::Quantum(_)
        | InputKind::Detail(_)
        | InputKind::Halt(..)
        | InputKind::Skip(_)
        | InputKind::Poke(..)
        | InputKind::Answer(..)
        | InputKind::World(_) => {}
    }
    Some(input)
}
