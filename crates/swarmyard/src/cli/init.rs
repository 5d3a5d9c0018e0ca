//! `init`: a project that runs as it is.

use super::fail::{Exit, Failure};
use super::out::{Out, shell_word, write_file};
use clap::Args;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use swarmyard::{formats, standard_registry};

const SCENARIO: &str = include_str!("init/scenario.toml");
const README: &str = include_str!("init/README.md");

/// Arguments of `init`.
#[derive(Args)]
#[command(before_help = "Examples:\n  swarmyard init my-project\n  swarmyard run my-project/scenario.toml")]
pub(crate) struct InitArgs {
    /// The folder; made when it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the files of a new project. A folder with something in it is left alone.
pub(crate) fn init(args: &InitArgs, out: &Out) -> Result<Exit, Failure> {
    let folder = &args.folder;
    let failed = |e: std::io::Error| Failure::file("make", folder, &e);
    if let Ok(mut entries) = fs::read_dir(folder)
        && entries.next().is_some()
    {
        let shown = folder.display().to_string();
        return Err(Failure::new(Exit::Failed, "not-empty", format!("the folder `{shown}` is not empty"))
            .help("name a new folder; nothing was written")
            .on(shown));
    }
    fs::create_dir_all(folder).map_err(failed)?;
    let schema = formats::schema(&standard_registry());
    let files = [
        ("scenario.toml", SCENARIO),
        ("swarmyard.schema.json", &schema),
        ("README.md", README),
        (".gitignore", "*.mcap\n"),
    ];
    for (name, text) in files {
        write_file(&folder.join(name), text.as_bytes())?;
    }
    let scenario = shell_word(&folder.join("scenario.toml").display().to_string());
    let text = format!(
        "{} is ready: scenario.toml, its schema for editors, README.md\nnow try: swarmyard run {scenario}\n",
        folder.display()
    );
    let names: Vec<&str> = files.iter().map(|f| f.0).collect();
    out.answer("init", json!({ "folder": folder, "files": names }), &text)?;
    Ok(Exit::Ok)
}
