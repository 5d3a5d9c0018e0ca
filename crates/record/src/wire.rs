//! Topics and packed encodings. Everything is little endian; each schema text says the same.

use swarmyard_base::{Pose2, Time};
use swarmyard_engine::{Input, InputKind};

pub(crate) const HEADER: &str = "/swarmyard/header";
pub(crate) const BODIES: &str = "/swarmyard/bodies";
pub(crate) const HASH: &str = "/swarmyard/hash";
pub(crate) const JOURNAL: &str = "/swarmyard/journal";
pub(crate) const EVENTS: &str = "/swarmyard/events";
pub(crate) const REWIND: &str = "/swarmyard/rewind";
pub(crate) const WORLD: &str = "/swarmyard/world";
pub(crate) const END: &str = "/swarmyard/end";

/// Scenario texts are attachments under this name.
pub(crate) const SCENARIO_PREFIX: &str = "scenario/";

/// Code of controllers is in attachments under this name.
pub(crate) const CODE_PREFIX: &str = "code/";
/// The attachment that says how the run was spread over workers.
pub(crate) const PLACEMENT: &str = "placement.json";

/// Texts and code of worlds that came while running are in attachments under this name.
pub(crate) const WORLD_PREFIX: &str = "world/";

/// Encoding of packed messages' schemas: JSON that lists the fields in order.
pub(crate) const FIELDS: &str = "swarmyard/fields";

/// Schema of `swarmyard/poses`.
pub(crate) const POSES_SCHEMA: &str = r#"{
  "order": "little endian, no padding",
  "fields": [
    {"name": "step", "type": "u64", "about": "steps committed"},
    {"name": "hash", "type": "u64", "about": "hash of the committed step"},
    {"name": "count", "type": "u32", "about": "number of rows"}
  ],
  "rows": [
    {"name": "x", "type": "f32", "unit": "m"},
    {"name": "y", "type": "f32", "unit": "m"},
    {"name": "heading", "type": "f32", "unit": "rad", "about": "counter-clockwise from x, in (-pi, pi]"}
  ],
  "names": "row k is a body of /swarmyard/bodies: the type with this topic and first_row <= k"
}"#;

/// Schema of `swarmyard/hash`.
pub(crate) const HASH_SCHEMA: &str = r#"{
  "order": "little endian, no padding",
  "fields": [
    {"name": "step", "type": "u64", "about": "steps committed"},
    {"name": "hash", "type": "u64", "about": "hash of the committed step"},
    {"name": "time", "type": "i64", "unit": "ns"}
  ]
}"#;

/// Schema of `swarmyard/rewind`.
pub(crate) const REWIND_SCHEMA: &str = r#"{
  "order": "little endian, no padding",
  "about": "frames after this step, inputs from it on and events after this time no longer count",
  "fields": [
    {"name": "step", "type": "u64", "about": "steps committed"},
    {"name": "time", "type": "i64", "unit": "ns"}
  ]
}"#;

/// Schema of `swarmyard/journal`.
pub(crate) const JOURNAL_SCHEMA: &str = r#"{
  "order": "little endian, no padding",
  "fields": [
    {"name": "stop", "type": "u64", "about": "steps committed before it entered"},
    {"name": "length", "type": "u8", "about": "length of the kind"},
    {"name": "kind", "type": "ascii", "about": "command, quantum, detail, halt, skip, thought, poke, code or world"},
    {"name": "input", "type": "postcard", "about": "the input, in the encoding of the postcard crate"}
  ]
}"#;

/// Bytes before the rows of a pose message.
pub(crate) const POSES_HEAD: usize = 20;
/// Bytes per row of a pose message.
pub(crate) const POSES_ROW: usize = 12;

/// Packs the poses of one group into `out`.
pub(crate) fn pack_poses(out: &mut Vec<u8>, step: u64, hash: u64, poses: &[Pose2]) {
    out.clear();
    out.extend_from_slice(&step.to_le_bytes());
    out.extend_from_slice(&hash.to_le_bytes());
    out.extend_from_slice(&u32::try_from(poses.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.resize(POSES_HEAD + POSES_ROW * poses.len(), 0);
    for (row, pose) in out[POSES_HEAD..].chunks_exact_mut(POSES_ROW).zip(poses) {
        row[..4].copy_from_slice(&(pose.at.x as f32).to_le_bytes());
        row[4..8].copy_from_slice(&(pose.at.y as f32).to_le_bytes());
        row[8..].copy_from_slice(&(pose.heading as f32).to_le_bytes());
    }
}

/// Step, hash and count of a pose message.
pub(crate) fn poses_head(bytes: &[u8]) -> Option<(u64, u64, u32)> {
    Some((u64_at(bytes, 0)?, u64_at(bytes, 8)?, u32::from_le_bytes(bytes.get(16..20)?.try_into().ok()?)))
}

/// The rows of a pose message.
pub(crate) fn pose_rows(bytes: &[u8]) -> impl Iterator<Item = [f32; 3]> {
    let number = |row: &[u8], k: usize| f32::from_le_bytes([row[k], row[k + 1], row[k + 2], row[k + 3]]);
    bytes
        .get(POSES_HEAD..)
        .unwrap_or(&[])
        .chunks_exact(POSES_ROW)
        .map(move |row| [number(row, 0), number(row, 4), number(row, 8)])
}

/// A hash message.
pub(crate) fn pack_hash(step: u64, hash: u64, time: Time) -> [u8; 24] {
    let mut out = [0; 24];
    out[..8].copy_from_slice(&step.to_le_bytes());
    out[8..16].copy_from_slice(&hash.to_le_bytes());
    out[16..].copy_from_slice(&time.0.to_le_bytes());
    out
}

/// Step, hash and time of a hash message.
pub(crate) fn unpack_hash(bytes: &[u8]) -> Option<(u64, u64, Time)> {
    Some((u64_at(bytes, 0)?, u64_at(bytes, 8)?, Time(u64_at(bytes, 16)? as i64)))
}

/// A rewind message.
pub(crate) fn pack_rewind(step: u64, time: Time) -> [u8; 16] {
    let mut out = [0; 16];
    out[..8].copy_from_slice(&step.to_le_bytes());
    out[8..].copy_from_slice(&time.0.to_le_bytes());
    out
}

/// Step and time of a rewind message.
pub(crate) fn unpack_rewind(bytes: &[u8]) -> Option<(u64, Time)> {
    Some((u64_at(bytes, 0)?, Time(u64_at(bytes, 8)? as i64)))
}

/// A journal message.
pub(crate) fn pack_input(out: &mut Vec<u8>, input: &Input) -> Result<(), postcard::Error> {
    out.clear();
    out.extend_from_slice(&input.stop.to_le_bytes());
    let kind = kind_word(&input.kind);
    out.push(kind.len() as u8);
    out.extend_from_slice(kind.as_bytes());
    *out = postcard::to_extend(input, std::mem::take(out))?;
    Ok(())
}

/// The input of a journal message; `None` when it cannot be one.
pub(crate) fn unpack_input(bytes: &[u8]) -> Option<Input> {
    let kind = usize::from(*bytes.get(8)?);
    let input: Input = postcard::from_bytes(bytes.get(9 + kind..)?).ok()?;
    (u64_at(bytes, 0)? == input.stop).then_some(input)
}

/// The word for a kind of input.
fn kind_word(kind: &InputKind) -> &'static str {
    match kind {
        InputKind::Command { .. } => "command",
        InputKind::Quantum(_) => "quantum",
        InputKind::Detail(_) => "detail",
        InputKind::Halt(..) => "halt",
        InputKind::Skip(_) => "skip",
        InputKind::Thought { .. } => "thought",
        InputKind::Poke(..) => "poke",
        InputKind::Code { .. } => "code",
        InputKind::World(_) => "world",
        InputKind::Answer(..) => "answer",
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::Ratio;

    #[test]
    fn a_quantum_is_two_numbers_and_one_that_nothing_can_be_divided_by_is_no_input() {
        let quantum = Ratio::new(1, 50).expect("positive");
        let mut bytes = Vec::new();
        pack_input(&mut bytes, &Input { stop: 3, kind: InputKind::Quantum(quantum) }).expect("memory");
        assert_eq!(unpack_input(&bytes).map(|input| input.stop), Some(3));
        // Signed numbers are written with their sign in the lowest bit.
        let two = bytes.len() - 2;
        assert_eq!(bytes[two..], [2, 100]);
        bytes[two + 1] = 0;
        assert!(unpack_input(&bytes).is_none(), "1/0");
        let json = serde_json::to_string(&quantum).expect("plain data");
        assert_eq!(json, r#"{"num":1,"den":50}"#, "as headers have always said it");
    }
}
