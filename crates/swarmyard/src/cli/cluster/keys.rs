//! `keys`: certificates for members of runs over several machines.

use super::names::{PORT, note};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;
use swarmyard_fabric::keys::{KeysError, make_authority, make_member};

const EXAMPLES: &str = "\
Examples:
  swarmyard keys init keys                      an authority of one's own
  swarmyard keys add keys alpha 10.0.0.5        a certificate for the host alpha at that address
  swarmyard keys add keys keeper 10.0.0.1       one for whoever starts runs";

/// Arguments of `keys`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make an authority, in a folder of its own
    Init {
        /// The folder; made when it is not there
        dir: PathBuf,
    },
    /// Make a certificate for a member
    Add {
        /// The folder of the authority
        dir: PathBuf,
        /// The member's name
        name: String,
        /// Addresses and names by which others reach it, besides this machine's own
        addresses: Vec<String>,
        /// The port at which it lends its machine, for the list of hosts
        #[arg(long, value_name = "N", default_value_t = PORT)]
        port: u16,
    },
}

/// Makes certificates, and notes where members are. No file is ever overwritten.
pub(crate) fn keys(args: &KeysArgs, out: &Out) -> Result<Exit, Failure> {
    let failed = |e: KeysError| Failure::new(Exit::Failed, "keys", e.to_string());
    match &args.what {
        What::Init { dir } => {
            make_authority(dir).map_err(failed)?;
            let text = format!(
                "an authority is in `{}`; keep its key `authority.key` there, and give nobody a copy",
                dir.display()
            );
            out.answer("keys", json!({ "authority": dir.join("authority.pem") }), &text)?;
        }
        What::Add { dir, name, addresses, port } => {
            let keys = make_member(dir, name, addresses).map_err(failed)?;
            let host = addresses.first().map(|address| note(dir, name, address, *port)).transpose()?;
            let mut text = format!(
                "`{name}` has a certificate; on its machine it needs these files:\n  {}\n  {}\n  {}",
                keys.authority.display(),
                keys.certificate.display(),
                keys.key.display()
            );
            if let Some(host) = &host {
                text += &format!(
                    "\nas a host it is `{host}`: `--hosts {name} --keys {}` finds it",
                    dir.display()
                );
            }
            let value = json!({
                "name": name, "authority": keys.authority, "certificate": keys.certificate, "key": keys.key,
                "host": host,
            });
            out.answer("keys", value, &text)?;
        }
    }
    Ok(Exit::Ok)
}
