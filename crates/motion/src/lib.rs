//! Contacts on segments, impacts, and flights from event to event, of planar bodies.
//!
//! In: outlines and the segments they move on. Out: when and where two bodies first touch
//! ([`first_contact`]), and what an impact does to them ([`Impact`]).
//!
//! *Invariant:* a contact time is a function of the two bodies' own outlines and segments, given in
//! a fixed order (lower uid first), and of the end of the stretch — never of "now", of other bodies or of how far somebody has
//! advanced. Any grouping of bodies therefore gives the same bits.

pub mod calendar;
mod contact;
pub mod flights;
mod hull;
mod impact;
mod pages;

pub use contact::{
    Contact, Mover, SKIN_M, Skin, Workspace, contact_at, first_contact, first_contact_between, gap_at,
};
pub use hull::{Separation, SideOf, nearest_points, separation};
pub use impact::{Impact, Impulse, Material, Side};
