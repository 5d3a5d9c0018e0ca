//! x
use swarmyard_part_api::{Registry, Sheet};
/// x
pub fn describe(_s: &Sheet) -> String { String::new() }
/// x
pub fn describe_list(_registry: &Registry) -> String { String::new() }
/// x
pub fn manual(_registry: &Registry) -> String { String::new() }
