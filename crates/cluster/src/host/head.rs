//! What stands before everything that a host is asked to start, and before what it says of itself: who speaks.
//!
//! In: bytes of a program of any version. Out: its version and what its self-test came to, which every version finds in the same
//! place; and the rest, which may mean anything in another version and is read only when they are the same.
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | `SWYH` |
//! | 4–11 | what the self-test came to, little endian |
//! | 12 | length of the version |
//! | 13– | the version, then the rest |

use super::{Identity, Info};
use crate::message::{read, write};
use serde::Serialize;
use serde::de::DeserializeOwned;

const MAGIC: [u8; 4] = *b"SWYH";
/// The longest version that is shown.
const LONGEST: usize = 64;

/// Puts a head before something.
pub(crate) fn with_head<T: Serialize>(who: &Identity, said: &T) -> Vec<u8> {
    let version = &who.version.as_bytes()[..who.version.len().min(LONGEST)];
    let mut bytes = MAGIC.to_vec();
    bytes.extend(who.numerics.to_le_bytes());
    bytes.push(version.len() as u8);
    bytes.extend(version);
    bytes.extend(write(said));
    bytes
}

/// Takes the head off.
fn split(bytes: &[u8]) -> Option<(Identity, &[u8])> {
    let (numerics, rest) = bytes.strip_prefix(&MAGIC)?.split_first_chunk()?;
    let (length, rest) = rest.split_first()?;
    let (version, rest) = rest.split_at_checked(usize::from(*length)).filter(|v| v.0.len() <= LONGEST)?;
    let is_plain = |c: char| c.is_ascii_graphic();
    let version = std::str::from_utf8(version).ok().filter(|v| v.chars().all(is_plain))?.to_owned();
    Some((Identity { version, numerics: u64::from_le_bytes(*numerics) }, rest))
}

/// What somebody asks a host for that computes like this.
///
/// # Errors
/// Its version or its numerics are others, or it is nothing that can be asked for.
pub(crate) fn asked<T: DeserializeOwned>(own: &Identity, bytes: &[u8], what: &str) -> Result<T, String> {
    let none = || format!("what was asked is no {what}: who asks has another version, or is none of ours");
    let (who, rest) = split(bytes).ok_or_else(none)?;
    own.refuse(&who)?;
    read(rest).ok_or_else(none)
}

/// What a host says of itself.
///
/// # Errors
/// It is of a version that says something else, or no host.
pub(crate) fn told(bytes: &[u8]) -> Result<Info, String> {
    let older = "what answers there is no host, or one of an older version: install the same version on both";
    let (who, rest) = split(bytes).ok_or(older)?;
    read(rest).ok_or_else(|| {
        let (theirs, own) = (who.version, env!("CARGO_PKG_VERSION"));
        format!("versions differ: `{theirs}` there, `{own}` here; install the same")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(version: &str, numerics: u64) -> Identity {
        Identity { version: version.into(), numerics }
    }

    #[test]
    fn what_was_said_is_read_behind_its_head() {
        let own = who("0.1.0", 7);
        let bytes = with_head(&own, &(1_u32, "two".to_owned()));
        assert_eq!(asked::<(u32, String)>(&own, &bytes, "order"), Ok((1, "two".to_owned())));
        for cut in 0..13 {
            assert!(split(&bytes[..cut]).is_none(), "{cut}");
        }
        assert!(asked::<(u32, String)>(&own, b"", "order").is_err_and(|why| why.contains("no order")));
        // Nothing that would disturb a terminal.
        assert!(split(&with_head(&who("\u{1b}[2J", 7), &0_u8)).is_none());
    }

    #[test]
    fn another_version_is_named_whatever_follows() {
        let (own, other) = (who("0.1.0", 7), who("9.9.9", 7));
        for tail in [&b""[..], b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"no order of this version"] {
            let bytes = [&with_head(&other, &())[..], tail].concat();
            let why = asked::<(u64, Vec<String>)>(&own, &bytes, "order").expect_err("another version");
            assert!(why.contains("`9.9.9`") && why.contains("`0.1.0`"), "{why}");
            let why = told(&bytes).expect_err("no such words here");
            assert!(why.contains("`9.9.9`") && why.contains(env!("CARGO_PKG_VERSION")), "{why}");
        }
        let why = asked::<()>(&own, &with_head(&who("0.1.0", 8), &()), "order").expect_err("other numerics");
        assert!(why.contains("self-test"), "{why}");
        assert!(told(b"anything").is_err_and(|why| why.contains("older version")));
    }
}
