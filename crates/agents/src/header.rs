//! The registers of a robot type as a C header.

use std::fmt::Write as _;
use swarmyard_part_api::{Register, RegisterMap};

/// The header of the type called `name`.
#[must_use]
pub fn c_header(name: &str, registers: &RegisterMap) -> String {
    let guard = format!("{}_REGISTERS_H", identifier(name));
    let mut text = format!(
        "/* Registers of the robot type `{name}`. Made by `swarmyard gen header`; do not edit. */\n#ifndef {guard}\n#define {guard}\n"
    );
    for register in registers.all() {
        let name = identifier(&register.name);
        let _ = write!(text, "\n{}#define {name} {:#06x}u\n", comment(register), register.at);
        if register.count > 1 {
            let _ = writeln!(text, "#define {name}_COUNT {}u", register.count);
            let _ = writeln!(text, "#define {name}_AT(k) ({name} + {}u * (k))", register.bytes);
        }
    }
    let _ = write!(text, "\n#endif\n");
    text
}

fn comment(r: &Register) -> String {
    let (low, high) = r.range();
    let access = match (r.is_command(), r.is_port()) {
        (true, _) => "write",
        (_, true) => "port",
        _ => "read",
    };
    let sign = if r.signed { "signed" } else { "unsigned" };
    let unit = if r.unit.is_empty() { String::new() } else { format!(" {}", r.unit) };
    let offset = if r.offset == 0.0 { String::new() } else { format!(" + {}", r.offset) };
    format!(
        "/* {} [{access}, {} bits {sign}, {low} to {high}, value = count * {}{offset}{unit}] */\n",
        r.summary,
        r.bytes * 8,
        r.scale
    )
}

/// The name as a C macro.
fn identifier(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("R_{plain}") } else { plain }
}
