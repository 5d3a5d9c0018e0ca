//! The state as bytes, for this build only.

use crate::minds::{Images, Minds};
use crate::model::Model;
use crate::state::State;
use swarmyard_base::hash::{NUMERICS_VERSION, bytes_hash};

const MAGIC: &[u8; 8] = b"SWYSNAP\x09";

/// Why a snapshot cannot be opened. The state in use is untouched in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// It is not a snapshot, or it is cut off.
    NotASnapshot,
    /// It was made by another build; holds that build's id.
    OtherBuild(String),
    /// It belongs to another scenario.
    OtherScenario,
    /// The memory of a controller cannot be brought back; says why.
    Memory(String),
}

impl std::fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SnapshotError::NotASnapshot => write!(f, "this is not a snapshot, or it is cut off"),
            SnapshotError::OtherBuild(id) => {
                write!(
                    f,
                    "the snapshot was made by build `{id}`, this is `{}`; replay the recording instead",
                    build_id()
                )
            }
            SnapshotError::Memory(why) => write!(f, "a controller's memory cannot be brought back: {why}"),
            SnapshotError::OtherScenario => write!(f, "the snapshot belongs to another scenario"),
        }
    }
}

impl std::error::Error for SnapshotError {}

/// Identity of this build, as far as numbers are concerned.
#[must_use]
pub fn build_id() -> String {
    format!("{} numerics {NUMERICS_VERSION}", env!("CARGO_PKG_VERSION"))
}

/// What a snapshot fits to: the bodies, their types and their widths.
fn shape(model: &Model) -> u64 {
    let mut bytes = Vec::new();
    for ty in &model.types {
        bytes.extend_from_slice(ty.name.as_bytes());
        bytes.extend_from_slice(&(ty.slots.len() as u64).to_le_bytes());
    }
    let uids = model.uids.iter().fold(0_u64, |sum, uid| sum.wrapping_add(swarmyard_base::hash::mix64(uid.0)));
    bytes.extend_from_slice(&uids.to_le_bytes());
    bytes_hash(&bytes)
}

/// The state and the memories of all running programs as bytes.
#[must_use]
pub fn snapshot(model: &Model, state: &State, minds: &Minds) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let id = build_id();
    bytes.push(u8::try_from(id.len()).unwrap_or(u8::MAX));
    bytes.extend_from_slice(id.as_bytes());
    let start = bytes.len();
    bytes.extend_from_slice(&model.world.to_le_bytes());
    bytes.extend_from_slice(&shape(model).to_le_bytes());
    // Plain data into a growing buffer cannot fail.
    bytes = postcard::to_extend(&(state, minds.images()), bytes).unwrap_or_default();
    let check = bytes_hash(&bytes[start.min(bytes.len())..]);
    bytes.extend_from_slice(&check.to_le_bytes());
    bytes
}

/// The world that a snapshot was taken in ([`Model::world`]), when the bytes are one.
#[must_use]
pub fn snapshot_world(bytes: &[u8]) -> Option<u64> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (&len, rest) = rest.split_first()?;
    Some(u64::from_le_bytes(*rest.get(usize::from(len)..)?.first_chunk()?))
}

/// The state and the running programs from bytes. Those in use stay as they are.
///
/// # Errors
/// Says why the bytes cannot be used.
pub fn restore(model: &Model, minds: &Minds, bytes: &[u8]) -> Result<(State, Minds), SnapshotError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(SnapshotError::NotASnapshot)?;
    let (&len, rest) = rest.split_first().ok_or(SnapshotError::NotASnapshot)?;
    let (id, rest) = rest.split_at_checked(len as usize).ok_or(SnapshotError::NotASnapshot)?;
    if id != build_id().as_bytes() {
        return Err(SnapshotError::OtherBuild(String::from_utf8_lossy(id).into_owned()));
    }
    let (rest, check) = rest.split_last_chunk().ok_or(SnapshotError::NotASnapshot)?;
    if *check != bytes_hash(rest).to_le_bytes() {
        return Err(SnapshotError::NotASnapshot);
    }
    // The world's hash comes first; whoever has several worlds has looked at it.
    let (_world, rest) = rest.split_first_chunk::<8>().ok_or(SnapshotError::NotASnapshot)?;
    let (fits, body) = rest.split_first_chunk().ok_or(SnapshotError::NotASnapshot)?;
    if *fits != shape(model).to_le_bytes() {
        return Err(SnapshotError::OtherScenario);
    }
    let (state, images): (State, Images) =
        postcard::from_bytes(body).map_err(|_| SnapshotError::NotASnapshot)?;
    if !state.fits(model) {
        return Err(SnapshotError::OtherScenario);
    }
    let minds = minds.with_images(model, &images).map_err(SnapshotError::Memory)?;
    Ok((state, minds))
}
