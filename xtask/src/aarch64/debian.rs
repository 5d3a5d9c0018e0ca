//! A Debian in a folder, with compilers for aarch64, and the build in it.
//!
//! Why not this machine's own compiler: it needs the standard library for aarch64, which Debian has as a package of the very
//! same version as its compiler, for every machine that reaches a Debian mirror.

use crate::{root, run, tools};
use std::path::{Path, PathBuf};

const MIRROR: &str = "http://deb.debian.org/debian";
/// The first release whose compiler is new enough.
const RELEASE: &str = "forky";
const PACKAGES: &str =
    "rustc cargo libstd-rust-dev:arm64 gcc libc6-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user";

/// Makes the folder, unless it is there. The signature of what comes is checked; its date is not, because mirrors may lag.
/// `$1` is the folder, `$2` the release, `$3` the mirror, `$4` the packages.
const MAKE: &str = r#"
set -eu
rm -rf --one-file-system "$1"
debootstrap --variant=minbase "$2" "$1" "$3" /usr/share/debootstrap/scripts/sid
mount -t proc proc "$1/proc"
mount --bind /dev "$1/dev"
echo 'Acquire::Check-Valid-Until "false";' > "$1/etc/apt/apt.conf.d/90late-mirror"
inside() { chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive sh -euc "$2"; }
inside "$1" "dpkg --add-architecture arm64; apt-get -qq update; apt-get -qq install -y --no-install-recommends $4; apt-get clean"
"#;

/// Builds the command in the folder `$1`. `$2` is the workspace, which has the same path inside as outside; `$3` is the
/// registry of crates, `$4` where the build goes. It is linked statically,
/// so that it needs no library of the folder, and has no feature that is not compared.
const BUILD: &str = r#"
set -eu
mkdir -p "$1$2" "$1/root/.cargo/registry"
mount -t proc proc "$1/proc"
mount --bind /dev "$1/dev"
mount --bind "$2" "$1$2"
mount --bind "$3" "$1/root/.cargo/registry"
exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root CARGO_TARGET_DIR="$4" CARGO_INCREMENTAL=0 \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS='-C target-feature=+crt-static' \
    sh -euc 'cd "$1"; exec cargo build --offline --locked --target aarch64-unknown-linux-gnu \
        -p swarmyard --no-default-features --features cluster' sh "$2"
"#;

/// Makes the Debian below this folder, unless it is there and whole.
pub(super) fn make(folder: &Path) -> Result<(), String> {
    let whole = folder.join("debian-is-whole");
    if std::fs::read_to_string(&whole).is_ok_and(|packages| packages == PACKAGES) {
        return Ok(());
    }
    tools::install_of(&[("debootstrap", "debootstrap"), ("unshare", "util-linux"), ("mount", "mount")])?;
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    apart(MAKE, &[&debian(folder), RELEASE, MIRROR, PACKAGES])
        .map_err(|why| format!("{why}; a Debian {RELEASE} could not be made in `{}`", folder.display()))?;
    std::fs::write(&whole, PACKAGES).map_err(|e| e.to_string())
}

/// Builds the command for aarch64; answers where it is.
pub(super) fn build(folder: &Path) -> Result<PathBuf, String> {
    // Brings the crates that only aarch64 needs; the build itself asks nobody.
    run("cargo", &["fetch", "--quiet", "--locked"], &[])?;
    let (build, registry) = (folder.join("build"), cargo_home()?.join("registry"));
    let [source, build_text, registry] = [&root(), &build, &registry].map(|p| p.display().to_string());
    apart(BUILD, &[&debian(folder), &source, &registry, &build_text])?;
    Ok(build.join("aarch64-unknown-linux-gnu/debug/swarmyard"))
}

/// The emulator; it is linked statically, so it runs outside of its Debian too.
pub(super) fn qemu(folder: &Path) -> PathBuf {
    folder.join("debian/usr/bin/qemu-aarch64")
}

fn debian(folder: &Path) -> String {
    folder.join("debian").display().to_string()
}

fn cargo_home() -> Result<PathBuf, String> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let found = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home);
    found.ok_or_else(|| "neither CARGO_HOME nor HOME is set: where are cargo's crates?".to_owned())
}

/// Runs a script whose mounts nobody else sees, and which end with it.
fn apart(script: &str, args: &[&str]) -> Result<(), String> {
    run("unshare", &[&["--mount", "sh", "-c", script, "sh"], args].concat(), &[])
}
