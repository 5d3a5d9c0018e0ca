//! Memory-mapped registers: channels as bytes at addresses.
//!
//! A plain register holds nothing of its own. All plain registers of a robot are latched into an
//! image of bytes at the start of a quantum; a controller peeks from it, whatever it has poked since,
//! and at the quantum's end the commands behind the poked registers take the values poked last. A *port* is different: every write reaches the part in order, and every read is answered
//! at once from the part's own state, as a motion controller chip wants it.
//!
//! Bytes are little-endian. An access that is misaligned, or touches a byte where nothing is mapped,
//! reads zero or writes nothing there, and is kept for the report.

mod far;

pub use far::{Place, Pokes, Reaches};

use crate::Layout;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_scene::{Node, Params};

/// What stands behind a port register: it works on its part's private state.
pub trait Port: Send + Sync {
    /// Answers a read.
    fn read(&self, state: &mut [f64]) -> u32;
    /// Takes a write.
    fn write(&self, state: &mut [f64], value: u32);
}

/// A port as a part declares it.
#[derive(Clone)]
pub struct PortChannel {
    /// Name, such as `data`.
    pub name: &'static str,
    /// What it means.
    pub summary: &'static str,
    /// What it does.
    pub port: Arc<dyn Port>,
}

/// A part's names for its registers to find: its class, its channels, its ports.
pub struct PartEntry<'a> {
    /// Name of the part.
    pub name: &'a str,
    /// Its channels.
    pub layout: &'a Layout,
    /// Its ports.
    pub ports: &'a [PortChannel],
}

/// What a register reaches.
#[derive(Clone)]
pub enum Behind {
    /// A reading; it cannot be written.
    Reading,
    /// A command.
    Command,
    /// A port.
    Port(Arc<dyn Port>),
}

/// One channel of a part at an address.
#[derive(Clone)]
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
    /// What it reaches.
    pub behind: Behind,
    /// Unit of the channel.
    pub unit: &'static str,
    /// What the channel means.
    pub summary: &'static str,
    /// Place of its first byte in the image.
    pub image: usize,
}

impl Register {
    /// One past its last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        u64::from(self.at) + u64::from(self.bytes) * u64::from(self.count)
    }

    /// Whether it is a command, which may be poked.
    #[must_use]
    pub fn is_command(&self) -> bool {
        matches!(self.behind, Behind::Command)
    }

    /// Whether it is a port.
    #[must_use]
    pub fn is_port(&self) -> bool {
        matches!(self.behind, Behind::Port(_))
    }

    /// Least and greatest count.
    #[must_use]
    pub fn range(&self) -> (i64, i64) {
        let bits = self.bytes * 8;
        if self.signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// The count nearest to a value; values beyond the range stick at its end, and what is not a
    /// number reads as zero.
    #[inline]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum BadAccess {
    /// The address is not a multiple of the width.
    Misaligned,
    /// Nothing is mapped at one of the bytes.
    Unmapped,
    /// One of the bytes belongs to a reading, which cannot be written.
    ReadOnly,
    /// The access does not cover exactly one port.
    PartOfPort,
}

impl BadAccess {
    /// What was wrong, in words that follow the address.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            BadAccess::Misaligned => "is not a multiple of the width",
            BadAccess::Unmapped => "has no register",
            BadAccess::ReadOnly => "cannot be written",
            BadAccess::PartOfPort => "is a port, which is read and written whole",
        }
    }
}

/// An access that did less than it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Access {
    /// The address.
    pub address: u32,
    /// Bytes: 1, 2 or 4.
    pub bytes: u8,
    /// Whether it was a write.
    pub write: bool,
    /// What was wrong.
    pub why: BadAccess,
}

/// All registers of a type, by address.
#[derive(Clone, Default)]
pub struct RegisterMap {
    registers: Vec<Register>,
    /// Bytes of the image.
    len: usize,
    /// For each byte of the image, the number of its register.
    owner: Vec<u16>,
    /// For small addresses: place in the image plus one, or 0.
    near: Vec<u16>,
}

/// Addresses below this are looked up in a table; higher ones are searched for.
const NEAR: u64 = 0x1000;

impl RegisterMap {
    fn new(mut registers: Vec<Register>) -> RegisterMap {
        registers.sort_by_key(|r| r.at);
        let (mut len, mut owner, mut near) = (0, Vec::new(), Vec::new());
        for (k, register) in registers.iter_mut().enumerate() {
            register.image = len;
            let bytes = (register.bytes * register.count) as usize;
            owner.resize(len + bytes, k as u16);
            for byte in 0..bytes {
                let address = register.at as usize + byte;
                if (address as u64) < NEAR {
                    near.resize(near.len().max(address + 1), 0);
                    near[address] = (len + byte + 1) as u16;
                }
            }
            len += bytes;
        }
        RegisterMap { registers, len, owner, near }
    }

    /// The registers in the order of their addresses.
    #[must_use]
    pub fn all(&self) -> &[Register] {
        &self.registers
    }

    /// Bytes of the image.
    #[must_use]
    pub fn image_len(&self) -> usize {
        self.len
    }

    /// Place of a byte in the image.
    #[inline]
    fn place(&self, address: u64) -> Option<usize> {
        if address < NEAR {
            let place = *self.near.get(address as usize)?;
            return usize::from(place).checked_sub(1);
        }
        let k = self.registers.partition_point(|r| u64::from(r.at) <= address).checked_sub(1)?;
        let register = &self.registers[k];
        (address < register.end()).then(|| register.image + (address - u64::from(register.at)) as usize)
    }

    #[inline]
    fn owner(&self, place: usize) -> &Register {
        &self.registers[usize::from(self.owner[place])]
    }
}

/// Accesses kept for the report in one quantum; a controller may make millions.
const MOST_BAD: usize = 8;

/// One robot's registers during one quantum, as one controller sees them.
#[derive(Clone, Default)]
pub struct RegisterFile {
    map: Arc<RegisterMap>,
    /// Latched bytes, then the same with pokes over them, then whether each was poked (1) or not: in one
    /// piece, because there may be ten thousand files and each piece is another miss of the cache.
    bytes: Vec<u8>,
    /// Private states of parts with ports: (part, state).
    ports: Vec<(usize, Vec<f64>)>,
    bad: Vec<Access>,
}

impl RegisterFile {
    /// An empty file for a type's registers.
    #[must_use]
    pub fn new(map: Arc<RegisterMap>) -> RegisterFile {
        let bytes = vec![0; 3 * map.len];
        RegisterFile { map, bytes, ports: Vec::new(), bad: Vec::new() }
    }

    /// The map behind it.
    #[must_use]
    pub fn map(&self) -> &Arc<RegisterMap> {
        &self.map
    }

    /// The latched bytes.
    #[must_use]
    pub fn image(&self) -> &[u8] {
        &self.bytes[..self.map.len]
    }

    /// Latches every plain register. `value` gives the number behind one: (part, place, command).
    pub fn latch(&mut self, value: impl Fn(usize, usize, bool) -> f64) {
        self.bad.clear();
        let len = self.map.len;
        let (image, rest) = self.bytes.split_at_mut(len);
        for register in &self.map.registers {
            let command = match register.behind {
                Behind::Port(_) => continue,
                Behind::Command => true,
                Behind::Reading => false,
            };
            let bytes = register.bytes as usize;
            for k in 0..register.count as usize {
                let raw = register.encode(value(register.part, register.first + k, command));
                let at = register.image + k * bytes;
                image[at..at + bytes].copy_from_slice(&raw.to_le_bytes()[..bytes]);
            }
        }
        let (written, poked) = rest.split_at_mut(len);
        written.copy_from_slice(image);
        poked.fill(0);
    }

    /// Takes bytes that were latched elsewhere, as if they had been here; tells whether they fit.
    #[must_use]
    pub fn bring_image(&mut self, latched: &[u8]) -> bool {
        let len = self.map.len;
        if latched.len() != len {
            return false;
        }
        self.bad.clear();
        self.bytes[..len].copy_from_slice(latched);
        self.bytes[len..2 * len].copy_from_slice(latched);
        self.bytes[2 * len..].fill(0);
        true
    }

    /// Lets peeks see what was poked so far, and forgets what was wrong with it: the registers as they
    /// will be when the pokes have had their effect.
    pub fn refresh(&mut self) {
        let len = self.map.len;
        self.bytes.copy_within(len..2 * len, 0);
        self.bad.clear();
    }

    /// Brings in the private states of parts with ports, by part number.
    pub fn bring_ports<'a>(&mut self, state: impl Fn(usize) -> &'a [f64]) {
        self.ports.clear();
        for register in self.map.registers.iter().filter(|r| r.is_port()) {
            if self.ports.iter().all(|p| p.0 != register.part) {
                self.ports.push((register.part, state(register.part).to_vec()));
            }
        }
    }

    /// The private states of parts with ports, after reads and writes.
    #[must_use]
    pub fn ports(&self) -> &[(usize, Vec<f64>)] {
        &self.ports
    }

    /// Reads `bytes` bytes (1, 2 or 4).
    #[inline]
    pub fn peek(&mut self, address: u32, bytes: u32) -> u32 {
        if !address.is_multiple_of(bytes) {
            self.report(address, bytes, false, BadAccess::Misaligned);
            return 0;
        }
        let mut all = 0;
        for k in 0..bytes {
            let Some(place) = self.map.place(u64::from(address) + u64::from(k)) else {
                self.report(address, bytes, false, BadAccess::Unmapped);
                continue;
            };
            if self.map.owner(place).is_port() {
                return self.port(address, bytes, None);
            }
            all |= u32::from(self.bytes[place]) << (8 * k);
        }
        all
    }

    /// Writes the low `bytes` bytes (1, 2 or 4) of `value`.
    #[inline]
    pub fn poke(&mut self, address: u32, bytes: u32, value: u32) {
        if !address.is_multiple_of(bytes) {
            self.report(address, bytes, true, BadAccess::Misaligned);
            return;
        }
        for k in 0..bytes {
            let Some(place) = self.map.place(u64::from(address) + u64::from(k)) else {
                self.report(address, bytes, true, BadAccess::Unmapped);
                continue;
            };
            let owner = self.map.owner(place);
            if owner.is_command() {
                let len = self.map.len;
                self.bytes[len + place] = (value >> (8 * k)) as u8;
                self.bytes[2 * len + place] = 1;
            } else if owner.is_port() {
                self.port(address, bytes, Some(value));
                return;
            } else {
                self.report(address, bytes, true, BadAccess::ReadOnly);
            }
        }
    }

    /// One whole access to a port.
    fn port(&mut self, address: u32, bytes: u32, write: Option<u32>) -> u32 {
        let map = Arc::clone(&self.map);
        let found = map.registers.iter().find(|r| r.at == address && r.bytes == bytes);
        let (Some(register), Some(Behind::Port(port))) = (found, found.map(|r| &r.behind)) else {
            self.report(address, bytes, write.is_some(), BadAccess::PartOfPort);
            return 0;
        };
        let Some((_, state)) = self.ports.iter_mut().find(|p| p.0 == register.part) else { return 0 };
        match write {
            Some(value) => {
                port.write(state, value & mask(bytes));
                0
            }
            None => port.read(state) & mask(bytes),
        }
    }

    #[cold]
    fn report(&mut self, address: u32, bytes: u32, write: bool, why: BadAccess) {
        let access = Access { address, bytes: bytes as u8, write, why };
        if self.bad.len() < MOST_BAD && !self.bad.contains(&access) {
            self.bad.push(access);
        }
    }

    /// Accesses since the latch that did less than they said: each site once, at most a few.
    #[must_use]
    pub fn bad(&self) -> &[Access] {
        &self.bad
    }

    /// The commands that were poked: (part, place, value), in the order of their addresses.
    pub fn commands(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let (written, poked) = self.bytes[self.map.len..].split_at(self.map.len);
        self.map.registers.iter().filter(|r| r.is_command()).flat_map(move |r| {
            let bytes = r.bytes as usize;
            (0..r.count as usize).filter_map(move |k| {
                let at = r.image + k * bytes;
                if !poked[at..at + bytes].contains(&1) {
                    return None;
                }
                let mut raw = [0; 4];
                raw[..bytes].copy_from_slice(&written[at..at + bytes]);
                Some((r.part, r.first + k, r.decode(u32::from_le_bytes(raw))))
            })
        })
    }
}

/// The registers among a type's children.
///
/// # Errors
/// All problems: unknown parts and channels, bad widths, overlaps.
pub fn compile(nodes: &[(&Node, Params)], parts: &[PartEntry<'_>]) -> Result<RegisterMap, Vec<Diagnostic>> {
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
    let bytes: u64 = registers.iter().map(|(r, _)| r.end() - u64::from(r.at)).sum();
    if bytes > MOST_BYTES {
        let what = format!("the registers have `{bytes}` bytes; at most {MOST_BYTES} can be mapped");
        problems.push(Diagnostic::error("too-many-registers", what));
    }
    if problems.is_empty() {
        Ok(RegisterMap::new(registers.into_iter().map(|(r, _)| r).collect()))
    } else {
        Err(problems)
    }
}

/// Most bytes of registers of one robot.
const MOST_BYTES: u64 = 0x8000;

fn register(node: &Node, p: &Params, parts: &[PartEntry<'_>]) -> Result<Register, Diagnostic> {
    let (name, channel) = (p.text_or_none("part").unwrap_or(""), p.text_or_none("channel").unwrap_or(""));
    let part = parts.iter().position(|q| q.name == name).ok_or_else(|| {
        Diagnostic::error("unknown-part", format!("this type has no part `{name}`"))
            .at(p.span("part"))
            .suggest(name, parts.iter().map(|q| q.name))
    })?;
    let entry = &parts[part];
    let (behind, count, first, unit, summary) = behind(entry, channel).ok_or_else(|| {
        let channels = entry.layout.channels.iter().map(|c| c.name);
        Diagnostic::error("unknown-channel", format!("part `{name}` has no channel `{channel}`"))
            .at(p.span("channel"))
            .suggest(channel, channels.chain(entry.ports.iter().map(|q| q.name)))
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
        count,
        signed: p.bool_or_none("signed").unwrap_or(false),
        scale: p.num_or_none("scale").unwrap_or(1.0),
        offset: p.num_or_none("offset").unwrap_or(0.0),
        part,
        first,
        behind,
        unit,
        summary,
        image: 0,
    })
}

/// What a name of a part stands for: what it reaches, how many numbers, the first of them, unit, summary.
fn behind(entry: &PartEntry<'_>, channel: &str) -> Option<(Behind, u32, usize, &'static str, &'static str)> {
    if let Some(c) = entry.layout.channels.iter().find(|c| c.name == channel) {
        let behind = if c.command { Behind::Command } else { Behind::Reading };
        let first = entry.layout.place(channel).map_or(0, |place| place.0);
        return Some((behind, c.len as u32, first, c.unit.symbol(), c.summary));
    }
    let port = entry.ports.iter().find(|q| q.name == channel)?;
    Some((Behind::Port(Arc::clone(&port.port)), 1, 0, "", port.summary))
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
            behind: if command { Behind::Command } else { Behind::Reading },
            unit: "",
            summary: "",
            image: 0,
        }
    }

    /// Two bytes of readings at 0x10, a 16-bit command at 0x12, another far away.
    fn file() -> RegisterFile {
        let map = RegisterMap::new(vec![
            register(0x10, 1, false, 0, 2, false),
            register(0x12, 2, false, 2, 1, true),
            register(0xffff_ff00, 4, true, 3, 1, true),
        ]);
        let mut file = RegisterFile::new(Arc::new(map));
        file.latch(|_, place, _| [0.17, 0.34, 5.13, -0.05][place]);
        file
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
        let mut file = file();
        assert_eq!(file.peek(0x10, 1), 17);
        assert_eq!(file.peek(0x10, 2), 17 | 34 << 8);
        assert_eq!(file.peek(0x10, 4), 17 | 34 << 8 | 513 << 16);
        assert_eq!(file.peek(0x13, 1), 513 >> 8);
        assert_eq!(file.peek(0xffff_ff00, 4), -5_i32 as u32);
        assert!(file.bad().is_empty());
        assert_eq!((file.peek(0x14, 1), file.peek(0x11, 2), file.peek(0xffff_fffc, 4)), (0, 0, 0));
        let why: Vec<_> = file.bad().iter().map(|a| (a.address, a.why)).collect();
        let expected =
            [(0x14, BadAccess::Unmapped), (0x11, BadAccess::Misaligned), (0xffff_fffc, BadAccess::Unmapped)];
        assert_eq!(why, expected);
    }

    #[test]
    fn a_poke_of_one_byte_keeps_the_other_and_is_not_read_before_the_next_quantum() {
        let mut file = file();
        file.poke(0x12, 1, 0xff);
        assert_eq!(file.commands().collect::<Vec<_>>(), [(0, 2, 7.67)]);
        assert_eq!(file.peek(0x12, 2), 513);
        file.poke(0x10, 4, 0x0001_0203);
        assert_eq!(file.commands().collect::<Vec<_>>(), [(0, 2, 0.01)]);
        let read_only = Access { address: 0x10, bytes: 4, write: true, why: BadAccess::ReadOnly };
        assert_eq!(file.bad(), [read_only]);
        file.poke(0x20, 1, 1);
        assert_eq!(file.bad().len(), 2);
        file.refresh();
        assert_eq!((file.peek(0x12, 2), file.bad()), (1, &[][..]));
        file.latch(|_, _, _| 0.0);
        assert!(file.bad().is_empty() && file.commands().next().is_none());
    }

    /// Counts writes in its first number, keeps the last in its second; a read clears the count.
    struct Counter;

    impl Port for Counter {
        fn read(&self, state: &mut [f64]) -> u32 {
            std::mem::take(&mut state[0]) as u32
        }
        fn write(&self, state: &mut [f64], value: u32) {
            state[0] += 1.0;
            state[1] = f64::from(value);
        }
    }

    #[test]
    fn a_port_gets_every_write_and_answers_at_once() {
        let port = Register {
            behind: Behind::Port(Arc::new(Counter)),
            part: 3,
            ..register(0x30, 2, false, 0, 1, false)
        };
        let mut file = RegisterFile::new(Arc::new(RegisterMap::new(vec![port])));
        file.latch(|_, _, _| unreachable!("a port is not latched"));
        let before = [0.0, 9.0];
        file.bring_ports(|part| {
            assert_eq!(part, 3);
            &before
        });
        file.poke(0x30, 2, 7);
        file.poke(0x30, 2, 0x1_0008);
        assert_eq!((file.peek(0x30, 2), file.peek(0x30, 2)), (2, 0));
        assert_eq!(file.ports(), [(3, vec![0.0, 8.0])]);
        assert_eq!(file.peek(0x30, 1), 0);
        assert_eq!(file.bad()[0].why, BadAccess::PartOfPort);
    }

    #[test]
    fn the_report_of_bad_accesses_is_bounded() {
        let mut file = file();
        for k in 0..1000 {
            file.poke(0x100 + k * 4, 4, 0);
            file.poke(0x100, 4, 0);
        }
        assert_eq!(file.bad().len(), MOST_BAD);
    }
}
