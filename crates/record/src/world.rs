//! What a recording says when the world of a run changes: like a second beginning.
//!
//! The texts and the code of the new world are attachments `world/HASH/NAME`, under the hash of what is
//! in them; what is in the file already is not written again. The message names them all, and a new list
//! of bodies follows it.

use crate::header::{CodeBytes, Header, SourceText, hex};
use crate::wire;
use serde::{Deserialize, Serialize};
use swarmyard_base::hash::bytes_hash;

/// The change to a world, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorldRecord {
    /// The world's hash, as the journal has it.
    #[serde(with = "hex")]
    pub(crate) world: u64,
    /// What a recording that began in it would say.
    pub(crate) header: Header,
    /// Its texts, the scenario first.
    pub(crate) texts: Vec<Named>,
    /// Its code.
    pub(crate) code: Vec<Named>,
}

/// Something in an attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
    /// Hash of the bytes.
    #[serde(with = "hex")]
    pub(crate) bytes: u64,
}

impl WorldRecord {
    pub(crate) fn new(world: u64, header: &Header) -> WorldRecord {
        let text = |s: &SourceText| Named { name: s.name.clone(), bytes: bytes_hash(s.text.as_bytes()) };
        let code = |c: &CodeBytes| Named { name: c.name.clone(), bytes: bytes_hash(&c.bytes) };
        WorldRecord {
            world,
            header: header.clone(),
            texts: header.sources.iter().map(text).collect(),
            code: header.code.iter().map(code).collect(),
        }
    }
}

/// Everything a world is made of: hash, name, bytes.
pub(crate) fn contents(header: &Header) -> impl Iterator<Item = (u64, &str, &[u8])> {
    let texts = header.sources.iter().map(|s| (s.name.as_str(), s.text.as_bytes()));
    let code = header.code.iter().map(|c| (c.name.as_str(), &c.bytes[..]));
    texts.chain(code).map(|(name, bytes)| (bytes_hash(bytes), name, bytes))
}

/// The name of an attachment.
pub(crate) fn attachment(hash: u64, name: &str) -> String {
    format!("{}{hash:016x}/{name}", wire::WORLD_PREFIX)
}

/// The hash in the name of an attachment, when it is one of a world.
pub(crate) fn attached(name: &str) -> Option<u64> {
    let (hash, _) = name.strip_prefix(wire::WORLD_PREFIX)?.split_once('/')?;
    u64::from_str_radix(hash, 16).ok().filter(|_| hash.len() == 16)
}
