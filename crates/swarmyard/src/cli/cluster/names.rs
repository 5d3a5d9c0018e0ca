//! Hosts as people name them.
//!
//! In: `NAME`, `NAME=HOST:PORT`, `HOST:PORT`, or `@FILE`. Out: where each of them is. A name alone is looked up in a list: the file
//! that `SWARMYARD_HOSTS` names, or else the file `hosts` in the folder of `--keys`, to which `keys add` adds every member that has
//! an address.

use crate::cli::fail::{Exit, Failure};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use swarmyard::base::Diagnostic;
use swarmyard_cluster::staff::Address;

/// The port of a host when nobody says another.
pub(super) const PORT: u16 = 7400;
/// The list in a folder of keys.
const LIST: &str = "hosts";
/// Says where the list is.
const VARIABLE: &str = "SWARMYARD_HOSTS";
/// The longest file of hosts that is read, in bytes.
const MOST: u64 = 1 << 20;

/// The hosts that are named, as words: names and addresses.
pub(super) fn words(texts: &[String], keys: Option<&Path>) -> Result<Vec<String>, Failure> {
    Ok(addresses(texts, keys)?.iter().map(ToString::to_string).collect())
}

/// The hosts that are named, in files as well.
pub(super) fn addresses(texts: &[String], keys: Option<&Path>) -> Result<Vec<Address>, Failure> {
    let mut all = Vec::new();
    for text in texts {
        if let Some(path) = text.strip_prefix('@') {
            all.extend(list(Path::new(path))?);
        } else if is_name(text) {
            let place = std::env::var_os(VARIABLE).map(PathBuf::from);
            all.push(look_up(text, place.or_else(|| keys.map(|keys| keys.join(LIST))))?);
        } else {
            all.push(Address::parse(text).map_err(wrong)?);
        }
    }
    Ok(all)
}

/// Adds a member to the list in a folder of keys; answers how it stands there.
pub(super) fn note(keys: &Path, name: &str, address: &str, port: u16) -> Result<String, Failure> {
    let path = keys.join(LIST);
    let failed = |e: std::io::Error| Failure::file("write", &path, &e);
    let host = if address.parse::<Ipv6Addr>().is_ok() { format!("[{address}]") } else { address.to_owned() };
    let line = format!("{name}={host}:{port}");
    let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
    file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
    Ok(line)
}

fn wrong(what: String) -> Failure {
    Failure::new(Exit::Usage, "hosts", what)
}

/// Whether this can only be a name.
fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(['=', ':'])
}

/// Where the host of that name is.
fn look_up(name: &str, path: Option<PathBuf>) -> Result<Address, Failure> {
    let name = name.trim();
    let Some(path) = path else {
        let what = format!("nobody says where host `{name}` is");
        let help = format!(
            "write {name}=HOST:PORT, give the folder of --keys, or name a list of hosts in {VARIABLE}"
        );
        return Err(wrong(what).help(help));
    };
    let known = list(&path)?;
    // Who was moved stands there twice: the last word counts.
    if let Some(found) = known.iter().rev().find(|a| a.name.as_deref() == Some(name)) {
        return Ok(found.clone());
    }
    let problem = Diagnostic::error("hosts", format!("no host is called `{name}` in `{}`", path.display()));
    let names: Vec<&str> = known.iter().filter_map(|a| a.name.as_deref()).collect();
    Err(Failure::one(Exit::Usage, problem.suggest(name, names)))
}

/// A list of hosts: one per line.
fn list(path: &Path) -> Result<Vec<Address>, Failure> {
    let failed = |e: std::io::Error| Failure::file("read", path, &e);
    if std::fs::metadata(path).map_err(failed)?.len() > MOST {
        return Err(wrong(format!("a list of hosts has at most {MOST} bytes: `{}`", path.display())));
    }
    let mut all = Vec::new();
    for (k, line) in std::fs::read_to_string(path).map_err(failed)?.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            let place = |e| wrong(format!("{}:{}: {e}", path.display(), k + 1));
            all.push(Address::parse(line).map_err(place)?);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("swarmyard-names-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        path
    }

    #[test]
    fn hosts_are_named_in_words_or_in_a_file() {
        let folder = folder("file");
        let path = folder.join("list");
        std::fs::write(&path, "# ours\na=10.0.0.1:7000\n\n10.0.0.2:7000 # the other\n").expect("a file");
        let all = addresses(&["c=10.0.0.3:7".into(), format!("@{}", path.display())], None).expect("hosts");
        let all: Vec<_> = all.iter().map(|a| (a.name.as_deref(), a.endpoint.as_str())).collect();
        let right = [(Some("c"), "10.0.0.3:7"), (Some("a"), "10.0.0.1:7000"), (None, "10.0.0.2:7000")];
        assert_eq!(all, right);
        std::fs::write(&path, "a=10.0.0.1:7000\nnonsense\n").expect("a file");
        let wrong = addresses(&[format!("@{}", path.display())], None).expect_err("no host");
        assert!(wrong.problems.0[0].message.contains(":2: "), "{wrong:?}");
        std::fs::remove_dir_all(&folder).expect("it was there");
    }

    #[test]
    fn a_name_alone_is_in_the_list_of_the_folder_of_keys() {
        let keys = folder("keys");
        assert_eq!(note(&keys, "alpha", "10.0.0.5", PORT).ok().as_deref(), Some("alpha=10.0.0.5:7400"));
        assert_eq!(note(&keys, "beta", "fd00::6", 7401).ok().as_deref(), Some("beta=[fd00::6]:7401"));
        let found = words(&["beta".into(), "alpha".into(), "x=h:1".into()], Some(&keys)).expect("hosts");
        assert_eq!(found, ["beta=[fd00::6]:7401", "alpha=10.0.0.5:7400", "x=h:1"]);
        let wrong = words(&["alhpa".into()], Some(&keys)).expect_err("nobody");
        assert_eq!(wrong.problems.0[0].help.as_deref(), Some("did you mean `alpha`?"), "{wrong:?}");
        note(&keys, "alpha", "10.0.0.9", PORT).expect("it was moved");
        assert_eq!(words(&["alpha".into()], Some(&keys)).expect("a host"), ["alpha=10.0.0.9:7400"]);
        let wrong = words(&["alpha".into()], None).expect_err("no list");
        assert!(wrong.problems.0[0].message.contains("nobody says where host `alpha` is"), "{wrong:?}");
        std::fs::remove_dir_all(&keys).expect("it was there");
    }
}
