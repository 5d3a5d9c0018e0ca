//! `host`: lends this machine to runs of others, until a signal comes.

use super::fabric::{FabricArgs, identity, lost};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use crate::cli::run::Stop;
use clap::Args;
use serde_json::json;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use swarmyard_cluster::host::{Host, Idle, Lending, Modules, Programs, Relays};
use swarmyard_fabric::access::check_name;
use swarmyard_modules::builtin;

const EXAMPLES: &str = "\
Examples:
  swarmyard host alpha --listen 127.0.0.1:7400                  two workers at most, for this machine only
  swarmyard host alpha --listen 10.0.0.5:7400 --keys keys       for others too, who have certificates
  swarmyard host alpha --idle --slots 8                         while nobody else needs the machine
  swarmyard host alpha --allow plan=/opt/plan --allow-modules   with programs that others may use";

/// Arguments of `host`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct HostArgs {
    /// The name of this host; with --keys there is a certificate for it
    host: String,
    /// How many workers and programs it takes [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    slots: Option<u32>,
    /// What this machine can do that others cannot, such as display,fast-float
    #[arg(long, value_name = "WORDS", value_delimiter = ',', value_parser = capability)]
    can: Vec<String>,
    /// Lend idle time only: workers step back behind everything else, and end when the owner's load rises
    #[arg(long)]
    idle: bool,
    /// With --idle: how many processors others may use before the machine is withdrawn [default: half of them]
    #[arg(long, value_name = "LOAD", requires = "idle", value_parser = load)]
    busy_above: Option<f64>,
    /// With --idle: a file that says the load of the machine, instead of the system
    #[arg(long, value_name = "FILE", requires = "idle", hide = true)]
    load_from: Option<PathBuf>,
    /// A folder whose worlds may start native programs here, or a program that others may use by this name; may be
    /// repeated [default: none]
    #[arg(long, value_name = "DIR or NAME=PATH", value_parser = Allowed::parse)]
    allow: Vec<Allowed>,
    /// Others may use the built-in modules, with files below this folder
    #[arg(long)]
    allow_modules: bool,
    /// Runs that are served elsewhere may be shown here, by a relay at this address [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1", require_equals = true)]
    allow_displays: Option<IpAddr>,
    /// A folder for the last checkpoints of runs whose keepers are lost, to be resumed from [default: none are kept]
    #[arg(long, value_name = "DIR")]
    hold: Option<PathBuf>,
    #[command(flatten)]
    fabric: FabricArgs,
}

/// Reads something that a machine can do: a word, as a scenario writes it.
fn capability(text: &str) -> Result<String, String> {
    let wrong = |_| format!("`{text}` is nothing a machine can do: write words such as display,fast-float");
    check_name(text).map(|()| text.to_owned()).map_err(wrong)
}

/// Reads a load that can be exceeded.
fn load(text: &str) -> Result<f64, String> {
    let load = text.parse().ok().filter(|load: &f64| load.is_finite() && *load > 0.0);
    load.ok_or_else(|| format!("`{text}` is no load: write a number of processors above 0, such as 0.5"))
}

/// What an owner lets others use.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Allowed {
    /// Native programs of worlds below a folder.
    Folder(PathBuf),
    /// A program, by name.
    Program(String, PathBuf),
}

impl Allowed {
    /// Reads `DIR` or `NAME=PATH`. A folder with `=` in its name is written with a `/` before it.
    fn parse(text: &str) -> Result<Allowed, String> {
        let Some((name, path)) = text.split_once('=').filter(|(name, _)| !name.contains('/')) else {
            let folder = PathBuf::from(text);
            let none = || format!("there is no such folder: `{text}`; a program is written NAME=PATH");
            return folder.is_dir().then_some(Allowed::Folder(folder)).ok_or_else(none);
        };
        check_name(name)?;
        let path = std::path::absolute(path).map_err(|e| format!("`{path}`: {e}"))?;
        let none = || format!("there is no such program: `{}`", path.display());
        if path.is_file() { Ok(Allowed::Program(name.to_owned(), path)) } else { Err(none()) }
    }
}

impl HostArgs {
    /// Folders whose worlds may start programs, and programs that others may use; `command` has the built-in modules.
    fn allowed(&self, command: &Path) -> (Vec<PathBuf>, Programs) {
        let sandbox = Some(command.to_owned());
        let (mut folders, mut programs) = (Vec::new(), Programs { sandbox, ..Programs::default() });
        for allowed in self.allow.clone() {
            match allowed {
                Allowed::Folder(folder) => folders.push(folder),
                Allowed::Program(name, path) => drop(programs.named.insert(name, path)),
            }
        }
        if self.allow_modules {
            let names = builtin::NAMES.iter().map(|n| (*n).to_owned()).collect();
            programs.modules = Some(Modules { command: command.to_owned(), names });
        }
        programs.relays = self.allow_displays.map(|listen| Relays { command: command.to_owned(), listen });
        (folders, programs)
    }
}

/// Lends this machine.
pub(crate) fn host(args: &HostArgs, out: &Out) -> Result<Exit, Failure> {
    let stop = Stop::install()?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let above = args.busy_above.unwrap_or(f64::from(processors) / 2.0);
    if let Some(dir) = &args.hold {
        std::fs::create_dir_all(dir).map_err(|e| Failure::file("make", dir, &e))?;
    }
    let name = &args.host;
    let mesh = args.fabric.open(name, &[], out)?;
    let mut launch = args.fabric.launch(name)?;
    let (folders, programs) = args.allowed(&launch.program);
    (launch.allowed, launch.hold, launch.idle) = (Some(folders), args.hold.clone(), args.idle);
    let lending = Lending {
        name: name.clone(),
        slots: args.slots.unwrap_or(processors),
        can: args.can.clone(),
        programs,
        identity: identity()?,
        launch,
        idle: args.idle.then(|| match args.load_from.clone() {
            Some(file) => Idle::with(above, Duration::from_millis(500), Box::new(move || load_in(&file))),
            None => Idle::above(above),
        }),
    };
    let slots = lending.slots;
    let endpoints = mesh.endpoints().to_vec();
    let host = Host::open(Arc::new(mesh), lending).map_err(|e| lost(name, &e))?;
    let text = format!("host {name} lends {slots} slots at {}", endpoints.join(" "));
    out.answer("host", json!({ "host": name, "endpoints": endpoints, "slots": slots }), &text)?;
    while !stop.requested() {
        for line in host.tend() {
            out.say(&line);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(host);
    Ok(Exit::Ok)
}

/// The load that a file says.
fn load_in(file: &Path) -> Option<f64> {
    let mut text = String::new();
    std::fs::File::open(file).ok()?.take(64).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_number_and_a_capability_a_word() {
        assert_eq!((load("0.5"), load("3")), (Ok(0.5), Ok(3.0)));
        for wrong in ["nan", "NaN", "inf", "-1", "0", "", "much"] {
            assert!(load(wrong).is_err(), "{wrong}");
        }
        assert_eq!(capability("fast-float"), Ok("fast-float".to_owned()));
        for wrong in ["", " ", "a b", "-x", "*", "a/b"] {
            assert!(capability(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_folder_or_a_named_program_is_allowed() {
        let here = env!("CARGO_MANIFEST_DIR");
        assert_eq!(Allowed::parse(here), Ok(Allowed::Folder(here.into())));
        let file = format!("{here}/Cargo.toml");
        assert_eq!(Allowed::parse(&format!("plan={file}")), Ok(Allowed::Program("plan".into(), file.into())));
        for wrong in ["/no/such/folder", "plan=/no/such/file", "=/bin/sh", "a b=/bin/sh", "plan="] {
            assert!(Allowed::parse(wrong).is_err(), "{wrong}");
        }
    }
}
