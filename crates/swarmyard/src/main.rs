//! The `swarmyard` command.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
