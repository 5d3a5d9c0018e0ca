//! Memory-mapped registers: channels as bytes at addresses.
//!
//! A register holds nothing of its own. Reading one encodes the channel behind it, writing one
//! decodes into it, so a controller that peeks and pokes sees the same world as one that reads
//! channels. Bytes are little-endian. An access that is misaligned, or touches a byte where nothing
//! is mapped, reads zero or writes nothing there, and says so.

use swarmyard_base::Diagnostic;
use swarmyard_part_api::Layout;
use swarmyard_scene::{Node, Params};

/// One channel of a part at an address.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// Name in generated headers.
    pub name: String,
    /// Address of its first byte.
    pub at: u32,
    /// Bytes of one number: 1, 2 or 4.
    pub bytes: u32,
    /// Numbers in the channel.
    pub count: u32,
    /// Whether counts are two's complement.
    pub signed: bool,
    /// What one count is worth.
    pub scale: f64,
    /// What a count of zero means.
    pub offset: f64,
    /// Number of the part.
    pub part: usize,
    /// First number in the part's reading or command row.
    pub first: usize,
    /// Whether it is a command (may be poked).
    pub command: bool,
    /// Unit of the channel.
    pub unit: &'static str,
    /// What the channel means.
    pub summary: &'static str,
}

impl Register {
    /// One past its last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        u64::from(self.at) + u64::from(self.bytes) * u64::from(self.count)
    }

    /// Least and greatest count.
    #[must_use]
    pub fn range(&self) -> (i64, i64) {
        let bits = self.bytes * 8;
        if self.signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// The count nearest to a value; values beyond the range stick at its end, and what is not a
    /// number reads as zero.
    #[must_use]
    pub fn encode(&self, value: f64) -> u32 {
        let (low, high) = self.range();
        let count = ((value - self.offset) / self.scale).round();
        // A cast turns NaN into zero and cuts at the ends of i64.
        (count as i64).clamp(low, high) as u32 & mask(self.bytes)
    }

    /// The value of a count.
    #[must_use]
    pub fn decode(&self, raw: u32) -> f64 {
        let raw = raw & mask(self.bytes);
        let bits = self.bytes * 8;
        let negative = self.signed && raw >> (bits - 1) & 1 == 1;
        let count = if negative { i64::from(raw) - (1_i64 << bits) } else { i64::from(raw) };
        count as f64 * self.scale + self.offset
    }
}

fn mask(bytes: u32) -> u32 {
    if bytes >= 4 { u32::MAX } else { (1 << (bytes * 8)) - 1 }
}

/// Why an access did less than it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadAccess {
    /// The address is not a multiple of the width.
    Misaligned,
    /// Nothing is mapped at one of the bytes.
    Unmapped,
    /// One of the bytes belongs to a reading, which cannot be written.
    ReadOnly,
}

/// All registers of a type, by address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegisterMap {
    registers: Vec<Register>,
}

impl RegisterMap {
    /// The registers in the order of their addresses.
    #[must_use]
    pub fn all(&self) -> &[Register] {
        &self.registers
    }

    /// The register that holds a byte, the number of the channel, and the byte's place in it.
    fn byte(&self, address: u64) -> Option<(&Register, u32, u32)> {
        let k = self.registers.partition_point(|r| u64::from(r.at) <= address).checked_sub(1)?;
        let register = &self.registers[k];
        let offset = u32::try_from(address - u64::from(register.at)).ok()?;
        (address < register.end()).then_some((register, offset / register.bytes, offset % register.bytes))
    }

    /// Reads `width` bytes. `value` gives the number behind a register: (part, place, command).
    pub fn peek(
        &self,
        address: u32,
        width: u32,
        value: impl Fn(usize, usize, bool) -> f64,
    ) -> (u32, Option<BadAccess>) {
        if !address.is_multiple_of(width) {
            return (0, Some(BadAccess::Misaligned));
        }
        let (mut all, mut bad) = (0, None);
        for k in 0..width {
            let Some((register, number, byte)) = self.byte(u64::from(address) + u64::from(k)) else {
                bad = Some(BadAccess::Unmapped);
                continue;
            };
            let raw =
                register.encode(value(register.part, register.first + number as usize, register.command));
            all |= (raw >> (8 * byte) & 0xff) << (8 * k);
        }
        (all, bad)
    }

    /// Writes `width` bytes: answers the numbers that change, as (part, place, value), in the order
    /// of their addresses. A number of which only some bytes are written keeps the others.
    pub fn poke(
        &self,
        address: u32,
        width: u32,
        raw: u32,
        value: impl Fn(usize, usize, bool) -> f64,
    ) -> (Vec<(usize, usize, f64)>, Option<BadAccess>) {
        if !address.is_multiple_of(width) {
            return (Vec::new(), Some(BadAccess::Misaligned));
        }
        let mut changed: Vec<(&Register, usize, u32)> = Vec::new();
        let mut bad = None;
        for k in 0..width {
            let Some((register, number, byte)) = self.byte(u64::from(address) + u64::from(k)) else {
                bad = Some(BadAccess::Unmapped);
                continue;
            };
            if !register.command {
                bad = Some(BadAccess::ReadOnly);
                continue;
            }
            let place = register.first + number as usize;
            let known = changed.last().is_some_and(|(r, p, _)| std::ptr::eq(*r, register) && *p == place);
            if !known {
                changed.push((register, place, register.encode(value(register.part, place, true))));
            }
            if let Some((_, _, bytes)) = changed.last_mut() {
                *bytes = *bytes & !(0xff << (8 * byte)) | (raw >> (8 * k) & 0xff) << (8 * byte);
            }
        }
        (changed.into_iter().map(|(r, place, bytes)| (r.part, place, r.decode(bytes))).collect(), bad)
    }
}

/// The registers among a type's children.
pub(crate) fn compile(
    nodes: &[(&Node, Params)],
    parts: &[(String, &'static str, Layout)],
) -> Result<RegisterMap, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut registers = Vec::new();
    for (node, p) in nodes {
        match register(node, p, parts) {
            Ok(register) => registers.push((register, node.span)),
            Err(d) => {
                let span = d.span.or(node.span);
                problems.push(d.at(span));
            }
        }
    }
    registers.sort_by_key(|(r, _)| r.at);
    for two in registers.windows(2) {
        let ((a, _), (b, span)) = (&two[0], &two[1]);
        if a.end() > u64::from(b.at) {
            let what = format!(
                "register `{}` at {:#x} overlaps `{}`, which ends at {:#x}",
                b.name,
                b.at,
                a.name,
                a.end()
            );
            problems.push(Diagnostic::error("register-overlap", what).at(*span));
        }
    }
    if problems.is_empty() {
        Ok(RegisterMap { registers: registers.into_iter().map(|(r, _)| r).collect() })
    } else {
        Err(problems)
    }
}

fn register(
    node: &Node,
    p: &Params,
    parts: &[(String, &'static str, Layout)],
) -> Result<Register, Diagnostic> {
    let (name, channel) = (p.text_or_none("part").unwrap_or(""), p.text_or_none("channel").unwrap_or(""));
    let part = parts.iter().position(|q| q.0 == name).ok_or_else(|| {
        Diagnostic::error("unknown-part", format!("this type has no part `{name}`"))
            .at(p.span("part"))
            .suggest(name, parts.iter().map(|q| q.0.as_str()))
    })?;
    let layout = &parts[part].2;
    let found = layout.channels.iter().find(|c| c.name == channel).ok_or_else(|| {
        Diagnostic::error("unknown-channel", format!("part `{name}` has no channel `{channel}`"))
            .at(p.span("channel"))
            .suggest(channel, layout.channels.iter().map(|c| c.name))
    })?;
    let width = p.int_or_none("width").unwrap_or(16);
    if ![8, 16, 32].contains(&width) {
        let d = Diagnostic::error("out-of-range", format!("`width` must be 8, 16 or 32: `{width}`"));
        return Err(d.at(p.span("width")));
    }
    let bytes = width as u32 / 8;
    let at = p.int_or_none("at").and_then(|a| u32::try_from(a).ok()).unwrap_or(0);
    if !at.is_multiple_of(bytes) {
        let d = Diagnostic::error(
            "misaligned",
            format!("`at` must be a multiple of {bytes} for {width} bits: `{at:#x}`"),
        );
        return Err(d.at(p.span("at")));
    }
    Ok(Register {
        name: node.name.clone(),
        at,
        bytes,
        count: found.len as u32,
        signed: p.bool_or_none("signed").unwrap_or(false),
        scale: p.num_or_none("scale").unwrap_or(1.0),
        offset: p.num_or_none("offset").unwrap_or(0.0),
        part,
        first: layout.place(channel).map_or(0, |place| place.0),
        command: found.command,
        unit: found.unit.symbol(),
        summary: found.summary,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(at: u32, bytes: u32, signed: bool, first: usize, count: u32, command: bool) -> Register {
        Register {
            name: format!("r{at}"),
            at,
            bytes,
            count,
            signed,
            scale: 0.01,
            offset: 0.0,
            part: 0,
            first,
            command,
            unit: "",
            summary: "",
        }
    }

    #[test]
    fn every_count_survives_decoding_and_encoding() {
        for (bytes, signed) in [(1, false), (1, true), (2, false), (2, true)] {
            let r = register(0, bytes, signed, 0, 1, true);
            for raw in 0..1_u32 << (8 * bytes) {
                assert_eq!(r.encode(r.decode(raw)), raw, "{bytes} {signed} {raw}");
            }
        }
        let r = register(0, 4, true, 0, 1, true);
        for raw in [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff] {
            assert_eq!(r.encode(r.decode(raw)), raw);
        }
    }

    #[test]
    fn values_beyond_the_range_stick_at_its_end() {
        let r = register(0, 1, true, 0, 1, true);
        assert_eq!((r.encode(99.0), r.encode(-99.0), r.encode(f64::NAN)), (127, 128, 0));
        assert_eq!(register(0, 2, false, 0, 1, true).encode(-1.0), 0);
    }

    #[test]
    fn bytes_are_little_endian_and_wide_accesses_join_neighbours() {
        let map = RegisterMap {
            registers: vec![register(0x10, 1, false, 0, 2, false), register(0x12, 2, false, 2, 1, true)],
        };
        let values = [0.17, 0.34, 5.13];
        let value = |_: usize, place: usize, _: bool| values[place];
        assert_eq!(map.peek(0x10, 1, value), (17, None));
        assert_eq!(map.peek(0x10, 2, value), (17 | 34 << 8, None));
        assert_eq!(map.peek(0x10, 4, value), (17 | 34 << 8 | 513 << 16, None));
        assert_eq!(map.peek(0x13, 1, value), (513 >> 8, None));
        assert_eq!(map.peek(0x14, 1, value), (0, Some(BadAccess::Unmapped)));
        assert_eq!(map.peek(0x11, 2, value), (0, Some(BadAccess::Misaligned)));
        assert_eq!(map.peek(0xffff_fffc, 4, value), (0, Some(BadAccess::Unmapped)));
    }

    #[test]
    fn a_poke_of_one_byte_keeps_the_other() {
        let map = RegisterMap {
            registers: vec![register(0x10, 1, false, 0, 2, false), register(0x12, 2, false, 2, 1, true)],
        };
        let value = |_: usize, _: usize, _: bool| 5.13;
        assert_eq!(map.poke(0x12, 1, 0xff, value), (vec![(0, 2, 7.67)], None));
        assert_eq!(map.poke(0x10, 4, 0x0001_0203, value), (vec![(0, 2, 0.01)], Some(BadAccess::ReadOnly)));
        assert_eq!(map.poke(0x20, 1, 1, value), (vec![], Some(BadAccess::Unmapped)));
    }
}
