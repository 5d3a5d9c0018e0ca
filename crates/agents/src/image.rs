//! The memory of a running copy of a module, as plain data: what differs from a fresh copy.

use serde::{Deserialize, Serialize};
use wasmi::{Global, Memory, Store, Val};

/// Bytes compared at once.
const PIECE: usize = 64;

/// Bits of the globals, size of the memory, and the pieces that differ from a fresh copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Image {
    globals: Vec<u64>,
    size: u64,
    pieces: Vec<(u32, Vec<u8>)>,
}

impl Image {
    /// Takes it.
    pub(crate) fn of<T>(store: &Store<T>, memory: Option<Memory>, globals: &[Global], fresh: &[u8]) -> Image {
        let globals = globals.iter().map(|g| bits(&g.get(store))).collect();
        let data = memory.map_or(&[][..], |m| m.data(store));
        Image { globals, size: data.len() as u64, pieces: pieces(data, fresh) }
    }

    /// Brings it into a fresh copy.
    pub(crate) fn put<T>(
        &self,
        store: &mut Store<T>,
        memory: Option<Memory>,
        globals: &[Global],
    ) -> Result<(), String> {
        if self.globals.len() != globals.len() {
            return Err("it has other globals".into());
        }
        for (global, bits) in globals.iter().zip(&self.globals) {
            let value = from_bits(&global.get(&*store), *bits);
            global.set(&mut *store, value).map_err(|e| e.to_string())?;
        }
        let Some(memory) = memory else { return Ok(()) };
        let now = memory.data(&*store).len() as u64;
        if self.size > now {
            let pages = (self.size - now).div_ceil(65_536);
            memory.grow(&mut *store, pages).map_err(|e| e.to_string())?;
        }
        let data = memory.data_mut(store);
        for (at, bytes) in &self.pieces {
            let at = *at as usize;
            let place = data.get_mut(at..at + bytes.len()).ok_or("it has less memory")?;
            place.copy_from_slice(bytes);
        }
        Ok(())
    }
}

/// The pieces of a memory that differ from a fresh one; what is beyond the fresh one counts from zero.
fn pieces(data: &[u8], fresh: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut all: Vec<(u32, Vec<u8>)> = Vec::new();
    for (k, piece) in data.chunks(PIECE).enumerate() {
        let at = k * PIECE;
        let same = match fresh.get(at..at + piece.len()) {
            Some(old) => old == piece,
            None => piece.iter().all(|b| *b == 0),
        };
        if same {
            continue;
        }
        match all.last_mut().filter(|(start, bytes)| *start as usize + bytes.len() == at) {
            Some((_, bytes)) => bytes.extend_from_slice(piece),
            None => all.push((at as u32, piece.to_vec())),
        }
    }
    all
}

pub(crate) fn bits(value: &Val) -> u64 {
    match value {
        Val::I32(v) => u64::from(*v as u32),
        Val::I64(v) => *v as u64,
        Val::F32(v) => u64::from(v.to_bits()),
        Val::F64(v) => v.to_bits(),
        _ => 0,
    }
}

pub(crate) fn from_bits(like: &Val, bits: u64) -> Val {
    match like {
        Val::I32(_) => Val::I32(bits as u32 as i32),
        Val::I64(_) => Val::I64(bits as i64),
        Val::F32(_) => Val::F32(wasmi::F32::from_bits(bits as u32)),
        Val::F64(_) => Val::F64(wasmi::F64::from_bits(bits)),
        other => other.clone(),
    }
}
