//! `describe`, `schema` and `completions`: what the program knows about itself.

use super::fail::{Exit, Failure};
use super::out::Out;
use clap::Args;
use clap_complete::Shell;
use serde_json::{Value as Json, json};
use swarmyard::base::Diagnostic;
use swarmyard::part_api::Sheet;
use swarmyard::{formats, standard_registry};

/// Arguments of `describe`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard describe                the list of all classes\n  swarmyard describe diff-drive     one class: parameters, channels, example\n  swarmyard describe --manual       the reference manual, as Markdown"
)]
pub(crate) struct DescribeArgs {
    /// The class to explain; all are listed when left out
    class: Option<String>,
    /// Print the reference manual of all classes, as Markdown
    #[arg(long, conflicts_with = "class")]
    manual: bool,
}

/// Explains one class, or lists all.
pub(crate) fn describe(args: &DescribeArgs, out: &Out) -> Result<Exit, Failure> {
    let registry = standard_registry();
    if args.manual {
        let text = formats::manual(&registry);
        out.answer("manual", json!({ "markdown": text }), &text)?;
        return Ok(Exit::Ok);
    }
    let (sheets, text): (Vec<&Sheet>, String) = match &args.class {
        None => {
            let list = formats::describe_list(&registry);
            (
                registry.sheets().collect(),
                format!("{list}\n`swarmyard describe CLASS` explains one of them.\n"),
            )
        }
        Some(name) => {
            // Classes of different kinds may share a name: then all of them.
            let found: Vec<&Sheet> = registry.sheets().filter(|s| s.class == name).collect();
            if found.is_empty() {
                let d = Diagnostic::error("unknown-class", format!("there is no class `{name}`"));
                return Err(Failure::one(Exit::Usage, d.suggest(name, registry.sheets().map(|s| s.class))));
            }
            let texts: Vec<String> = found.iter().map(|s| formats::describe(s)).collect();
            (found, texts.join("\n"))
        }
    };
    out.answer(
        "describe",
        json!({ "classes": sheets.into_iter().map(formats::sheet_json).collect::<Vec<_>>() }),
        &text,
    )?;
    Ok(Exit::Ok)
}

/// Prints the schema of scenarios.
pub(crate) fn schema(out: &Out) -> Result<Exit, Failure> {
    let text = formats::schema(&standard_registry());
    let document: Json = serde_json::from_str(&text).unwrap_or(Json::Null);
    out.answer("schema", json!({ "document": document }), &text)?;
    Ok(Exit::Ok)
}

/// Arguments of `completions`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard completions bash > ~/.local/share/bash-completion/completions/swarmyard\n  swarmyard completions zsh > ~/.zfunc/_swarmyard\n  swarmyard completions fish > ~/.config/fish/completions/swarmyard.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints a completion script.
pub(crate) fn completions(
    args: &CompletionsArgs,
    command: &mut clap::Command,
    out: &Out,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "swarmyard", &mut script);
    let script = String::from_utf8_lossy(&script);
    out.answer("completions", json!({ "shell": args.shell.to_string(), "script": script }), &script)?;
    Ok(Exit::Ok)
}
