//! Where everybody is, as the server told it: decoded, so that it can be coded anew for each display.
//!
//! In: frames, whole or as differences. Out: a [`Shot`] as the server's own would be, with the marks and maps
//! that each display wants. What cannot be read changes nothing.

use crate::frame::{Grid, Kept, Marks, Sort, Unreadable};
use crate::hub::Wishes;
use crate::message::{MOST_GRIDS, MarksWanted};
use crate::shot::{Contacts, Shot};
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_record::BodyType;

/// What the server showed last.
#[derive(Default)]
pub(super) struct Picture {
    kept: Kept,
    contacts: Contacts,
    /// Maps, by the number of the body.
    grids: BTreeMap<u32, Arc<Grid>>,
    /// Who the bodies are.
    types: Vec<BodyType>,
    /// Number of the world.
    revision: u64,
}

impl Picture {
    /// The world is another.
    pub(super) fn world(&mut self, revision: u64, types: Vec<BodyType>) {
        (self.revision, self.types) = (revision, types);
        self.contacts = Contacts::default();
        self.grids.clear();
    }

    /// Takes a frame.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Sort, Unreadable> {
        let sort = self.kept.take(bytes)?;
        match (sort, &mut self.kept) {
            (Sort::Bodies, Kept { bodies: Some(bodies), .. }) => {
                self.contacts.told(bodies.head.serial, &bodies.contacts);
                self.contacts.forget_before(bodies.head.serial);
            }
            (Sort::Grid, Kept { grid, .. }) => {
                if let Some(grid) = grid.take() {
                    if self.grids.len() >= MOST_GRIDS && !self.grids.contains_key(&grid.body) {
                        self.grids.clear();
                    }
                    self.grids.insert(grid.body, Arc::new(grid));
                }
            }
            _ => {}
        }
        Ok(sort)
    }

    /// What displays with these wishes are shown; nothing before the first frame.
    pub(super) fn shot<'a>(&self, wishes: impl Iterator<Item = &'a Wishes>) -> Shot {
        // A frame of another world would be shown with this one.
        let current = self.kept.bodies.as_ref().filter(|b| b.head.revision == self.revision);
        let Some(bodies) = current.cloned() else { return Shot::default() };
        // Marks of an earlier moment were shown with that one.
        let marks = self.kept.marks.as_ref().filter(|m| m.head.serial == bodies.head.serial);
        let mut drawn: Vec<(MarksWanted, Marks)> = Vec::new();
        let mut grids = BTreeMap::new();
        for wishes in wishes {
            if let Some(marks) = marks.filter(|_| wishes.frames && wishes.wants_marks())
                && !drawn.iter().any(|d| d.0 == wishes.marks)
            {
                drawn.push((wishes.marks.clone(), self.marks_for(&wishes.marks, marks)));
            }
            for robot in &wishes.grid {
                if let Some(grid) = self.body(robot).and_then(|body| self.grids.get(&body)) {
                    grids.insert(robot.clone(), Arc::clone(grid));
                }
            }
        }
        Shot::told(bodies, &self.contacts, drawn, grids)
    }

    fn marks_for(&self, wanted: &MarksWanted, marks: &Marks) -> Marks {
        match wanted {
            MarksWanted::Robots(robots) => {
                let bodies: Vec<u32> = robots.iter().filter_map(|robot| self.body(robot)).collect();
                marks.only(&bodies)
            }
            MarksWanted::Word(_) | MarksWanted::Unsaid => marks.clone(),
        }
    }

    /// The number of a body.
    fn body(&self, path: &str) -> Option<u32> {
        let mut first = 0_u64;
        for ty in &self.types {
            if let Some(k) = ty.names.find(path) {
                return first.checked_add(k).and_then(|n| u32::try_from(n).ok());
            }
            first = first.saturating_add(ty.count);
        }
        None
    }
}
