//! A WebAssembly module made ready for its sandbox: looked through, and given names for all it keeps.
//!
//! In: the bytes of a module. Out: the same module with every mutable global exported, so that a
//! running copy can be taken as an image and brought back; and what kind of program it is.

use wasmparser::{Parser, Payload};

/// Most bytes of a module.
const MOST_BYTES: usize = 16 << 20;

/// Prefix of the names that are added; no compiler makes such a name.
pub(crate) const GLOBAL: &str = "swarmyard:global:";

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Functions that are called: `robot_setup`, `robot_step`, `robot_stop`.
    Steps,
    /// A program with its own loop around `rio_wait`.
    Loop,
}

/// A module that is ready.
pub(crate) struct Prepared {
    /// The module with its added exports.
    pub(crate) bytes: Vec<u8>,
    /// Number of mutable globals that were exported.
    pub(crate) globals: usize,
    /// Which of them is the stack pointer, as far as can be told.
    pub(crate) stack_pointer: Option<usize>,
    /// Whether memory and globals are all it keeps; otherwise its past is kept instead.
    pub(crate) plain: bool,
}

/// Looks through a module and exports its mutable globals.
///
/// # Errors
/// When it is not a module that can run here; says why.
pub(crate) fn prepare(bytes: &[u8]) -> Result<Prepared, String> {
    if bytes.len() > MOST_BYTES {
        return Err(format!("the module has {} bytes; at most {MOST_BYTES} are taken", bytes.len()));
    }
    let found = look(bytes).map_err(|e| format!("this is not a WebAssembly module: {e}"))?;
    let stack_pointer = found
        .named_stack_pointer
        .and_then(|index| found.globals.iter().position(|g| *g == index))
        // LLVM defines the stack pointer first.
        .or_else(|| (!found.globals.is_empty()).then_some(0));
    Ok(Prepared {
        bytes: add_exports(bytes, &found),
        globals: found.globals.len(),
        stack_pointer,
        plain: found.plain,
    })
}

/// What was found in a module.
struct Found {
    /// Indices of its own mutable globals.
    globals: Vec<u32>,
    named_stack_pointer: Option<u32>,
    plain: bool,
    /// Where the export section stands, with its head; or where it belongs.
    exports: std::ops::Range<usize>,
    /// The entries of the export section, without their count.
    entries: std::ops::Range<usize>,
    count: u32,
}

fn look(bytes: &[u8]) -> Result<Found, wasmparser::BinaryReaderError> {
    let mut found = Found {
        globals: Vec::new(),
        named_stack_pointer: None,
        plain: true,
        exports: 0..0,
        entries: 0..0,
        count: 0,
    };
    let (mut imported, mut place) = (0, None);
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        // Sections come in the order of their numbers; exports (7) stand before start (8), elements,
        // code and data.
        let late = matches!(
            payload,
            Payload::StartSection { .. }
                | Payload::ElementSection(_)
                | Payload::DataCountSection { .. }
                | Payload::CodeSectionStart { .. }
                | Payload::DataSection(_)
        );
        if late && place.is_none() {
            place = payload.as_section().map(|(_, range)| section_start(bytes, range.start));
        }
        match payload {
            Payload::ImportSection(section) => {
                for import in section {
                    imported += u32::from(matches!(import?.ty, wasmparser::TypeRef::Global(_)));
                }
            }
            Payload::GlobalSection(section) => {
                for (k, global) in section.into_iter().enumerate() {
                    let ty = global?.ty;
                    if ty.mutable {
                        found.globals.push(imported + k as u32);
                        found.plain &= !matches!(ty.content_type, wasmparser::ValType::Ref(_));
                    }
                }
            }
            Payload::ExportSection(section) => {
                let range = section.range();
                found.exports = section_start(bytes, range.start)..range.end;
                found.count = section.count();
                let skip = leb_len(found.count, &bytes[range.start..]);
                found.entries = range.start + skip..range.end;
                place = Some(found.exports.start);
                for export in section {
                    let export = export?;
                    if export.name == "__stack_pointer" && export.kind == wasmparser::ExternalKind::Global {
                        found.named_stack_pointer = Some(export.index);
                    }
                }
            }
            Payload::CodeSectionEntry(body) => {
                for operator in body.get_operators_reader()? {
                    found.plain &= !keeps_more(&operator?);
                }
            }
            _ => {}
        }
    }
    if found.exports.is_empty() {
        let at = place.unwrap_or(bytes.len());
        found.exports = at..at;
    }
    Ok(found)
}

/// Whether an instruction changes something besides memory and globals.
fn keeps_more(operator: &wasmparser::Operator<'_>) -> bool {
    use wasmparser::Operator as O;
    matches!(
        operator,
        O::TableSet { .. }
            | O::TableGrow { .. }
            | O::TableFill { .. }
            | O::TableCopy { .. }
            | O::TableInit { .. }
            | O::ElemDrop { .. }
            | O::DataDrop { .. }
            | O::MemoryInit { .. }
    )
}

/// First byte of the section whose content begins at `content`: one byte of number, then its length.
fn section_start(bytes: &[u8], content: usize) -> usize {
    // The length is a LEB128 number of up to five bytes; only its last byte has a clear top bit, and
    // the byte before the first of it is the section's number.
    let mut at = content - 1;
    while at > 0 && content - at < 6 && bytes[at - 1] & 0x80 != 0 {
        at -= 1;
    }
    at - 1
}

/// Bytes that a count took in the module: compilers may pad LEB128 numbers.
fn leb_len(_: u32, bytes: &[u8]) -> usize {
    bytes.iter().position(|b| b & 0x80 == 0).map_or(1, |k| k + 1)
}

fn push_leb(out: &mut Vec<u8>, mut value: u32) {
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(byte);
            return;
        }
        out.push(byte | 0x80);
    }
}

fn add_exports(bytes: &[u8], found: &Found) -> Vec<u8> {
    if found.globals.is_empty() {
        return bytes.to_vec();
    }
    let mut content = Vec::new();
    push_leb(&mut content, found.count + found.globals.len() as u32);
    content.extend_from_slice(&bytes[found.entries.clone()]);
    for (k, index) in found.globals.iter().enumerate() {
        let name = format!("{GLOBAL}{k}");
        push_leb(&mut content, name.len() as u32);
        content.extend_from_slice(name.as_bytes());
        content.push(3);
        push_leb(&mut content, *index);
    }
    let mut out = bytes[..found.exports.start].to_vec();
    out.push(7);
    push_leb(&mut out, content.len() as u32);
    out.extend_from_slice(&content);
    out.extend_from_slice(&bytes[found.exports.end..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exports(bytes: &[u8]) -> Vec<String> {
        let engine = wasmi::Engine::default();
        let module = wasmi::Module::new(&engine, bytes).unwrap();
        let mut names: Vec<String> = module.exports().map(|e| e.name().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn mutable_globals_get_names_and_the_module_stays_valid() {
        let with = "(module (import \"a\" \"b\" (global i32)) (global i32 (i32.const 1))
            (global $sp (mut i32) (i32.const 7)) (global (mut f64) (f64.const 2))
            (func (export \"robot_step\")) (export \"__stack_pointer\" (global $sp)))";
        let prepared = prepare(&wat::parse_str(with).unwrap()).unwrap();
        assert_eq!((prepared.globals, prepared.stack_pointer, prepared.plain), (2, Some(0), true));
        let names = ["__stack_pointer", "robot_step", "swarmyard:global:0", "swarmyard:global:1"];
        assert_eq!(exports(&prepared.bytes), names);
    }

    #[test]
    fn a_module_without_exports_gets_a_section_in_the_right_place() {
        for with in [
            "(module (global (mut i32) (i32.const 7)))",
            "(module (global (mut i32) (i32.const 7)) (func) (start 0))",
            "(module (memory 1) (global (mut i32) (i32.const 7)) (data (i32.const 0) \"x\"))",
            "(module (table 1 funcref) (global (mut i32) (i32.const 7)) (func $f) (elem (i32.const 0) $f))",
        ] {
            let prepared = prepare(&wat::parse_str(with).unwrap()).unwrap();
            assert_eq!(exports(&prepared.bytes), ["swarmyard:global:0"], "{with}");
        }
    }

    #[test]
    fn a_module_that_changes_its_tables_is_not_plain() {
        let with = "(module (table 2 funcref) (func (export \"robot_step\")
            (table.fill (i32.const 0) (ref.null func) (i32.const 1))))";
        assert!(!prepare(&wat::parse_str(with).unwrap()).unwrap().plain);
    }

    #[test]
    fn garbage_is_refused_and_never_panics() {
        assert!(prepare(b"").is_err() && prepare(b"int main").is_err());
        let good = wat::parse_str("(module (global (mut i32) (i32.const 7)) (func (export \"f\")))").unwrap();
        for cut in 0..good.len() {
            let _ = prepare(&good[..cut]);
            let mut bent = good.clone();
            bent[cut] ^= 0x55;
            let _ = prepare(&bent);
        }
    }
}
