//! Certificates: an authority of one's own, and a key pair for every member it vouches for.
//!
//! In: a folder, and names. Out: PEM files in it, `authority.pem` and `authority.key`, and for each member `NAME.pem` and `NAME.key`.
//! Private keys can be read by their owner only. No file is ever overwritten.

use crate::access::check_name;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use thiserror::Error;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// An authority and what it signs is valid for ten years; a lab that wants less makes new ones.
const VALID: Duration = Duration::from_secs(3650 * 24 * 60 * 60);
/// The name of an authority, in its folder and in its certificate.
const AUTHORITY: &str = "authority";

/// What went wrong with certificates. No file was overwritten, and none was left half written.
#[derive(Debug, Error)]
pub enum KeysError {
    /// A file that would be written is there already.
    #[error("there is a file already, and it is not overwritten: `{0}`")]
    Exists(PathBuf),
    /// A file is missing.
    #[error("there is no such file; make it with `swarmyard keys`: `{0}`")]
    Missing(PathBuf),
    /// Others than its owner can read a private key.
    #[error("others can read this private key; make it private with chmod 600: `{0}`")]
    Open(PathBuf),
    /// The name is none.
    #[error("{0}")]
    Name(String),
    /// The system would not.
    #[error("{source}: `{path}`")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// The certificate could not be made.
    #[error("the certificate could not be made: {0}")]
    Certificate(#[from] rcgen::Error),
}

/// The files by which a member shows who it is, and knows who others are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Certificate of the authority all members trust.
    pub authority: PathBuf,
    /// Certificate of this member.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl Keys {
    /// The files of a member in a folder.
    ///
    /// # Errors
    /// One is missing, or others can read the private key.
    pub fn of(dir: &Path, name: &str) -> Result<Keys, KeysError> {
        check_name(name).map_err(KeysError::Name)?;
        let file = |name: &str, kind: &str| dir.join(format!("{name}.{kind}"));
        let keys = Keys {
            authority: file(AUTHORITY, "pem"),
            certificate: file(name, "pem"),
            key: file(name, "key"),
        };
        for path in [&keys.authority, &keys.certificate, &keys.key] {
            if !path.is_file() {
                return Err(KeysError::Missing(path.clone()));
            }
        }
        check_private(&keys.key)?;
        Ok(keys)
    }
}

/// Makes an authority in a folder, which is made as well where it is missing.
///
/// # Errors
/// There is one already, or the folder cannot be written.
pub fn make_authority(dir: &Path) -> Result<(), KeysError> {
    std::fs::create_dir_all(dir).map_err(|source| KeysError::Io { path: dir.to_owned(), source })?;
    let key = KeyPair::generate()?;
    let certificate = authority().self_signed(&key)?;
    write_pair(dir, AUTHORITY, &certificate.pem(), &key)
}

/// Makes a certificate for a member, signed by the authority in the folder. Its name is what an access file calls it; it is reached
/// at the addresses given, by its name, and on the loopback interface.
///
/// # Errors
/// There is no authority, there is such a certificate already, or a name or address is none.
pub fn make_member(dir: &Path, name: &str, addresses: &[String]) -> Result<Keys, KeysError> {
    check_name(name).map_err(KeysError::Name)?;
    if name == AUTHORITY {
        return Err(KeysError::Name(format!("`{name}` is the name of the authority itself")));
    }
    sign(dir, name, member(name, addresses)?)
}

/// Has the authority of a folder sign a certificate for a member.
fn sign(dir: &Path, name: &str, params: CertificateParams) -> Result<Keys, KeysError> {
    let path = dir.join(format!("{AUTHORITY}.key"));
    if !path.is_file() {
        return Err(KeysError::Missing(path));
    }
    check_private(&path)?;
    let text = std::fs::read_to_string(&path).map_err(|source| KeysError::Io { path, source })?;
    let issuer = Issuer::new(authority(), KeyPair::from_pem(&text)?);
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &issuer)?;
    write_pair(dir, name, &certificate.pem(), &key)?;
    Keys::of(dir, name)
}

/// What a member's certificate says.
fn member(name: &str, addresses: &[String]) -> Result<CertificateParams, KeysError> {
    let mut reached: Vec<String> = ["localhost", "127.0.0.1", "::1", name].map(str::to_owned).into();
    reached.extend(addresses.iter().filter(|a| !reached.contains(a)).cloned().collect::<Vec<_>>());
    let mut params = named(name, CertificateParams::new(reached)?);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

/// What every authority's certificate says; they differ in their keys.
fn authority() -> CertificateParams {
    let mut params = named("swarmyard authority", CertificateParams::default());
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn named(name: &str, mut params: CertificateParams) -> CertificateParams {
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, name);
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    // Clocks of machines differ: it is valid from yesterday on.
    params.not_before = epoch + since_1970.saturating_sub(DAY);
    params.not_after = epoch + (since_1970 + VALID);
    params
}

/// Writes a certificate and its key, or neither.
fn write_pair(dir: &Path, name: &str, certificate: &str, key: &KeyPair) -> Result<(), KeysError> {
    let (pem, private) = (dir.join(format!("{name}.pem")), dir.join(format!("{name}.key")));
    write_new(&private, &key.serialize_pem())?;
    write_new(&pem, certificate).inspect_err(|_| {
        // It was made a moment ago and belongs to no certificate.
        let _ = std::fs::remove_file(&private);
    })
}

fn write_new(path: &Path, text: &str) -> Result<(), KeysError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let io = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists => KeysError::Exists(path.to_owned()),
        _ => KeysError::Io { path: path.to_owned(), source },
    };
    let mut file = options.open(path).map_err(io)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|source| {
        let _ = std::fs::remove_file(path);
        io(source)
    })
}

fn check_private(path: &Path) -> Result<(), KeysError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let metadata =
            std::fs::metadata(path).map_err(|source| KeysError::Io { path: path.to_owned(), source })?;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(KeysError::Open(path.to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("swarmyard-keys-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn private_keys_are_private_and_nothing_is_overwritten() {
        let dir = folder("fresh");
        make_authority(&dir).expect("an authority");
        let keys = make_member(&dir, "alpha", &["10.0.0.1".into()]).expect("a certificate");
        #[cfg(unix)]
        for path in [&keys.key, &keys.certificate, &dir.join("authority.key")] {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(path).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
        let before = std::fs::read(&keys.key).expect("a key");
        assert!(matches!(make_authority(&dir), Err(KeysError::Exists(_))));
        assert!(matches!(make_member(&dir, "alpha", &[]), Err(KeysError::Exists(_))));
        assert_eq!(std::fs::read(&keys.key).expect("a key"), before);
        std::fs::remove_file(&keys.key).expect("removed");
        assert!(matches!(make_member(&dir, "alpha", &[]), Err(KeysError::Exists(_))));
        assert!(!keys.key.exists(), "a key without a certificate was left behind");
        std::fs::remove_dir_all(&dir).expect("removed");
    }

    /// Of our own authority, with the right name, and out of date since yesterday.
    #[test]
    fn a_certificate_whose_time_is_over_lets_nobody_in_and_is_believed_by_nobody() {
        use crate::mesh::{Mesh, Options};
        let dir = folder("late");
        make_authority(&dir).expect("an authority");
        let [alpha, beta] =
            ["alpha", "beta"].map(|name| make_member(&dir, name, &[]).expect("a certificate"));
        let mut params = member("late", &[]).expect("a certificate");
        params.not_after = params.not_before;
        params.not_before -= DAY;
        let late = sign(&dir, "late", params).expect("a certificate");
        let open = |keys: &Keys, to: &[String], seconds| {
            let reach = Duration::from_secs(seconds);
            Mesh::open(&Options {
                keys: Some(keys.clone()),
                connect: to.to_vec(),
                reach,
                ..Options::default()
            })
        };
        let home = open(&alpha, &[], 60).expect("a member");
        assert!(open(&late, home.endpoints(), 1).is_err(), "it was let in");
        assert!(open(&beta, home.endpoints(), 60).is_ok());
        let overdue = open(&late, &[], 60).expect("nobody is asked");
        assert!(open(&beta, overdue.endpoints(), 1).is_err(), "it was believed");
        std::fs::remove_dir_all(&dir).expect("removed");
    }

    #[test]
    fn what_is_missing_or_open_is_named() {
        let dir = folder("missing");
        assert!(
            matches!(make_member(&dir, "alpha", &[]), Err(KeysError::Missing(p)) if p.ends_with("authority.key"))
        );
        make_authority(&dir).expect("an authority");
        assert!(matches!(Keys::of(&dir, "alpha"), Err(KeysError::Missing(p)) if p.ends_with("alpha.pem")));
        for bad in ["", "../x", "a/b", "authority", "a b"] {
            assert!(matches!(make_member(&dir, bad, &[]), Err(KeysError::Name(_))), "{bad}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let keys = make_member(&dir, "alpha", &[]).expect("a certificate");
            std::fs::set_permissions(&keys.key, std::fs::Permissions::from_mode(0o644)).expect("set");
            assert!(matches!(Keys::of(&dir, "alpha"), Err(KeysError::Open(_))));
        }
        std::fs::remove_dir_all(&dir).expect("removed");
    }
}
