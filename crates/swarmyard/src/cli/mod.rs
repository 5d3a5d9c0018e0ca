//! The command line: one file per command, and what they share.
//!
//! In: arguments. Out: data on stdout, messages and progress on stderr, an exit code that means
//! something ([`Exit`]). With `--json` the data is JSON, problems included.
//!
//! *Invariants:* no command changes a file in place (a new file is renamed over the old one), and
//! nothing here decides a bit of a run: every loop is [`swarmyard::Sim::step`].

mod again;
mod bench;
mod check;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(not(feature = "cluster"))]
#[path = "no_cluster.rs"]
mod cluster;
mod convert;
mod ctl;
mod diff;
mod doctor;
mod export;
mod fail;
mod figures;
mod fmt;
mod header;
mod import;
mod info;
mod init;
mod lines;
mod link;
mod load;
mod modules;
mod out;
mod progress;
mod relay;
mod replay;
mod run;
mod samples;
mod serve;
mod sheets;
mod sweep;
mod talk;
mod verdicts;
mod watch;

use clap::{CommandFactory, Parser, Subcommand};
use fail::{Exit, Failure};
use out::Out;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  swarmyard init my-project                   a project that runs as it is
  swarmyard run my-project/scenario.toml      run it, record it, print its hash
  swarmyard replay scenario.mcap --verify     run it again and compare every hash";

const EXIT_CODES: &str = "\
Exit codes:
  0  all is well                   4  an assertion of the scenario was not met
  1  it could not be done          5  a controller failed, or waits for commands
  2  wrong use of the command      6  replay, comparison or self-test differs
  3  the scenario is not valid     124  wall limit   130  stopped by a signal

`swarmyard COMMAND --help` has examples of each command.";

/// A deterministic simulator for many robots.
#[derive(Parser)]
#[command(name = "swarmyard", version, before_help = EXAMPLES, after_help = EXIT_CODES, max_term_width = 100)]
struct Args {
    /// Print JSON instead of text, problems included
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scenario, and record it
    Run(run::RunArgs),
    /// Say everything that is wrong with scenarios, without running them
    Check(check::CheckArgs),
    /// Explain the classes that can be put into a world
    Describe(sheets::DescribeArgs),
    /// Print the JSON Schema of scenarios, for editors
    Schema,
    /// Format scenarios
    Fmt(fmt::FmtArgs),
    /// Write a configuration of Neko's robot simulator as a scenario
    Convert(convert::ConvertArgs),
    /// Make a recording, or a scenario, from a log of Neko's robot simulator
    Import(import::ImportArgs),
    /// Name the first time, robot and field in which two recordings differ
    Diff(diff::DiffArgs),
    /// Run a recording again, and check that nothing differs
    Replay(replay::ReplayArgs),
    /// Say what a recording is of, and what the workers of its run did
    Info(info::InfoArgs),
    /// Show a run of a server in letters and numbers
    Watch(watch::WatchArgs),
    /// Steer a run of a server: start, pause, step, edit, …
    Ctl(ctl::CtlArgs),
    /// Make a table or a picture from a recording
    Export(export::ExportArgs),
    /// Run a scenario many times, with other parameters and seeds
    Sweep(sweep::SweepArgs),
    /// Let the protocols of a world talk over real sockets, in real time
    Talk(talk::TalkArgs),
    /// Measure how fast this machine simulates
    Bench(bench::BenchArgs),
    /// Write source text from a scenario
    Gen(header::GenArgs),
    /// Let displays show and steer a run: in a browser, or in a program of yours
    Serve(serve::ServeArgs),
    /// Show a run of a server to many displays here, over one connection
    Relay(relay::RelayArgs),
    /// Show a world that runs, in a browser
    Demo(serve::DemoArgs),
    /// Lend this machine to runs of others
    Host(cluster::HostArgs),
    /// Say what hosts lend, and what runs there
    Hosts(cluster::HostsArgs),
    /// Make certificates for runs over several machines
    Keys(cluster::KeysArgs),
    /// Go on with a run on workers from its last checkpoint
    Resume(cluster::ResumeArgs),
    /// Work for a run; hosts and `run --workers` start it
    #[command(hide = true)]
    Worker(cluster::WorkerArgs),
    /// Compute part models and programs of a run elsewhere, between stdin and stdout; hosts start it
    #[command(hide = true)]
    Sandbox,
    /// Run a chain of programs that read and write lines: a source, modules, a display
    Simulate(modules::simulate::SimulateArgs),
    /// Run one module of a chain between stdin and stdout, and look after it
    Pipe(modules::simulate::PipeArgs),
    /// Run a module that comes along, between stdin and stdout
    Module(modules::builtin::ModuleArgs),
    /// Start a project that runs as it is
    Init(init::InitArgs),
    /// Look at this installation, and test it
    Doctor,
    /// Print a completion script for a shell
    Completions(sheets::CompletionsArgs),
}

/// Computes until there are no more questions.
fn sandbox() -> Result<fail::Exit, fail::Failure> {
    swarmyard_agents::compute(std::io::stdin(), std::io::stdout())?;
    Ok(fail::Exit::Ok)
}

/// Reads the arguments, does what they say, and answers with the exit code.
pub(crate) fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(e) => return usage(&e),
    };
    let out = Out { json: args.json };
    let done = match &args.command {
        Command::Run(args) => run::run(args, &out),
        Command::Check(args) => check::check(args, &out),
        Command::Describe(args) => sheets::describe(args, &out),
        Command::Schema => sheets::schema(&out),
        Command::Fmt(args) => fmt::fmt(args, &out),
        Command::Convert(args) => convert::convert(args, &out),
        Command::Import(args) => import::import(args, &out),
        Command::Diff(args) => diff::diff(args, &out),
        Command::Replay(args) => replay::replay(args, &out),
        Command::Info(args) => info::info(args, &out),
        Command::Watch(args) => watch::watch(args, &out),
        Command::Ctl(args) => ctl::ctl(args, &out),
        Command::Export(args) => export::export(args, &out),
        Command::Sweep(args) => sweep::sweep(args, &out),
        Command::Talk(args) => talk::talk(args, &out),
        Command::Bench(args) => bench::bench(args, &out),
        Command::Gen(args) => header::generate(args, &out),
        Command::Serve(args) => serve::serve(args, &out),
        Command::Relay(args) => relay::relay(args, &out),
        Command::Demo(args) => serve::demo(args, &out),
        Command::Host(args) => cluster::host(args, &out),
        Command::Hosts(args) => cluster::hosts(args, &out),
        Command::Keys(args) => cluster::keys(args, &out),
        Command::Resume(args) => cluster::resume(args, &out),
        Command::Worker(args) => cluster::worker(args, &out),
        Command::Sandbox => sandbox(),
        Command::Simulate(args) => modules::simulate::simulate(args, &out),
        Command::Pipe(args) => modules::simulate::pipe(args, &out),
        Command::Module(args) => modules::builtin::module(args, &out),
        Command::Init(args) => init::init(args, &out),
        Command::Doctor => doctor::doctor(&out),
        Command::Completions(args) => sheets::completions(args, &mut Args::command(), &out),
    };
    let exit = done.unwrap_or_else(|failure| {
        out.failure(&failure);
        failure.exit
    });
    ExitCode::from(exit as u8)
}

/// Help, version and wrong usage. The rest of the arguments was not understood, so whether JSON is
/// wanted is looked up by hand.
fn usage(e: &clap::Error) -> ExitCode {
    let json = std::env::args_os().any(|a| a == "--json");
    if !json || !e.use_stderr() {
        // Nothing can be done about an output that is closed.
        let _ = e.print();
        return ExitCode::from(if e.use_stderr() { Exit::Usage } else { Exit::Ok } as u8);
    }
    let text = e.render().to_string();
    let message = text.lines().next().unwrap_or("wrong use of the command").trim_start_matches("error: ");
    let mut failure = Failure::new(Exit::Usage, "usage", message);
    let rest: Vec<&str> = text
        .lines()
        .skip(1)
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("Usage:") && !l.starts_with("For more information"))
        .collect();
    if !rest.is_empty() {
        failure = failure.help(rest.join("; "));
    }
    Out { json }.failure(&failure);
    ExitCode::from(Exit::Usage as u8)
}
