//! `gen header`: the registers of a robot type as a C header.

use super::fail::{Exit, Failure};
use super::load;
use super::out::Out;
use clap::{Args, Subcommand};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use swarmyard::base::Diagnostic;
use swarmyard::engine::TypeModel;
use swarmyard::part_api::BodyKind;
use swarmyard::part_api::Register;

/// Arguments of `gen`.
#[derive(Args)]
pub(crate) struct GenArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A C header with the addresses of a robot type's registers
    Header(HeaderArgs),
}

#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard gen header world.toml scout            to the terminal\n  swarmyard gen header world.toml scout > scout.h"
)]
struct HeaderArgs {
    /// The scenario
    file: PathBuf,
    /// The robot type; the only one when left out
    r#type: Option<String>,
}

/// Writes what was asked for.
pub(crate) fn generate(args: &GenArgs, out: &Out) -> Result<Exit, Failure> {
    let What::Header(args) = &args.what;
    let sim = load::scenario(&args.file, &[], 1)?;
    let types: Vec<&TypeModel> = sim.model().types.iter().filter(|t| t.kind == BodyKind::Robot).collect();
    let names = types.iter().map(|t| t.name.as_str());
    let found = match &args.r#type {
        Some(name) => types.iter().find(|t| t.name == *name).ok_or_else(|| {
            let d = Diagnostic::error("unknown-type", format!("no robot is of the type `{name}`"));
            Failure::one(Exit::Usage, d.suggest(name, names.clone()))
        })?,
        None if types.len() == 1 => &types[0],
        None => {
            let d = Diagnostic::error("which-type", "say which type, there is more than one or none");
            return Err(Failure::one(Exit::Usage, d.suggest("", names)));
        }
    };
    let text = header(found);
    out.answer("header", json!({ "type": found.name, "header": text }), &text)?;
    Ok(Exit::Ok)
}

/// The header of one type.
fn header(ty: &TypeModel) -> String {
    let guard = format!("{}_REGISTERS_H", identifier(&ty.name));
    let mut text = format!(
        "/* Registers of the robot type `{}`. Made by `swarmyard gen header`; do not edit. */\n#ifndef {guard}\n#define {guard}\n",
        ty.name
    );
    for register in ty.registers.all() {
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
