//! Rays.

/// x
#[derive(Clone, Debug)]
pub struct Fan;
/// x
pub struct Hit;
