//! A run at one stop, kept in memory to come back to.
//!
//! In: the state and the running programs. Out: both again, as often as wanted, and what keeping them
//! costs. Other than a snapshot it never becomes bytes, which would take five times as long where
//! robots have no programs of their own.

use crate::minds::{Images, Minds, StaffImage};
use crate::model::Model;
use crate::snapshot::SnapshotError;
use crate::state::State;

/// Nanoseconds to copy eight bytes of the state into new memory.
const COPY_NS: u64 = 3;
/// Nanoseconds to take one byte of a program's image or memo.
const IMAGE_NS: u64 = 2;
/// Nanoseconds to look through the memory of one program in the sandbox.
const SANDBOX_NS: u64 = 8_000;
/// Nanoseconds of one step, for each body.
const STEP_NS: u64 = 1_000;

/// The state and the memories of all programs at one stop.
pub struct Kept {
    state: State,
    images: Images,
    state_bytes: usize,
    image_bytes: usize,
}

impl Kept {
    /// Keeps this state and these programs.
    #[must_use]
    pub fn new(state: &State, minds: &Minds) -> Kept {
        let images = minds.images();
        let programs: usize = images.staffs.iter().flatten().map(StaffImage::bytes).sum();
        let image_bytes = programs + images.cast.bytes();
        Kept { state: state.clone(), images, state_bytes: state.bytes(), image_bytes }
    }

    /// The stop.
    #[must_use]
    pub fn stop(&self) -> u64 {
        self.state.stops
    }

    /// Bytes of memory this takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.state_bytes + self.image_bytes
    }

    /// About how many steps take as long as keeping this did, times `times`.
    ///
    /// It is reckoned from figures that were measured once, not from a clock: what is kept must not
    /// depend on how busy the machine is.
    #[must_use]
    pub fn in_steps(&self, times: u64) -> u64 {
        let sandboxes: usize = self.images.staffs.iter().flatten().map(StaffImage::sandboxes).sum();
        let taking = self.state_bytes as u64 / 8 * COPY_NS
            + self.image_bytes as u64 * IMAGE_NS
            + sandboxes as u64 * SANDBOX_NS;
        (taking * times).div_ceil(self.state.pose.len().max(1) as u64 * STEP_NS)
    }

    /// The state and the running programs as they were. Code comes from `model` and the shelf of `minds`.
    ///
    /// # Errors
    /// When the code of a program is not there.
    pub fn bring_back(&self, model: &Model, minds: &Minds) -> Result<(State, Minds), SnapshotError> {
        if !self.state.fits(model) {
            return Err(SnapshotError::OtherScenario);
        }
        let minds = minds.with_images(model, &self.images).map_err(SnapshotError::Memory)?;
        Ok((self.state.clone(), minds))
    }
}
