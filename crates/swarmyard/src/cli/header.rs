//! `gen header`: the registers of a robot type as a C header.

use super::fail::{Exit, Failure};
use super::out::Out;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;
use swarmyard::Sim;
use swarmyard::base::Diagnostic;
use swarmyard::engine::TypeModel;
use swarmyard::part_api::BodyKind;

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
    let sim = Sim::load_idle(&args.file).map_err(|e| Failure::from(e).on(args.file.display().to_string()))?;
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
    let text = swarmyard::agents::c_header(&found.name, &found.registers);
    out.answer("header", json!({ "type": found.name, "header": text }), &text)?;
    Ok(Exit::Ok)
}
