//! Keys, and patterns of keys.
//!
//! A key is a path of chunks, `swarm/run/7/workers/q/0/1`. In a pattern a chunk may be `*` (any one chunk) or `**` (any number
//! of chunks, also none). That is the part of Zenoh's key expressions that is used here, so both fabrics mean the same.
//!
//! The spaces that members of different kinds share, and that an access file speaks of:
//!
//! | keys | who |
//! |---|---|
//! | `swarm/host/<name>/…` | hosts: what they are, what they are asked to start |
//! | `swarm/run/<run>/workers/…` | workers among themselves |
//! | `swarm/run/<run>/show/…` | what displays see, and ask for |
//! | `swarm/run/<run>/console/…` | what a console asks of a run |
//! | `swarm/run/<run>/module/…` | stream modules |
//! | `swarm/run/<run>/live/<kind>/<id>` | who is alive; kinds are `worker`, `display`, `console`, `module` |

use crate::Lost;

/// The longest key, in bytes.
pub const MOST_KEY: usize = 512;

/// Says whether a text is a key.
///
/// # Errors
/// It is empty, too long, has an empty chunk or a character with a meaning of its own.
pub fn check_key(key: &str) -> Result<(), Lost> {
    match fault(key).or_else(|| key.contains('*').then_some("it has a star")) {
        Some(why) => Err(Lost::BadKey { key: shown(key), what: "key", why }),
        None => Ok(()),
    }
}

/// Says whether a text is a pattern; every key is one.
///
/// # Errors
/// As for a key, or it has a star beside other characters, or `**/**` or `**/*`.
pub fn check_pattern(pattern: &str) -> Result<(), Lost> {
    let bad = |why| Err(Lost::BadKey { key: shown(pattern), what: "pattern", why });
    if let Some(why) = fault(pattern) {
        return bad(why);
    }
    let mut before = "";
    for chunk in pattern.split('/') {
        if chunk.contains('*') && chunk != "*" && chunk != "**" {
            return bad("a star stands beside other characters");
        }
        if before == "**" && (chunk == "**" || chunk == "*") {
            return bad("write `*/**`: a star goes before two, and two only once");
        }
        before = chunk;
    }
    Ok(())
}

/// Whether a key matches a pattern.
#[must_use]
pub fn matches(pattern: &str, key: &str) -> bool {
    meets(pattern, key)
}

/// Whether some key matches both patterns.
#[must_use]
pub fn meets(one: &str, other: &str) -> bool {
    let one: Vec<&str> = one.split('/').collect();
    let other: Vec<&str> = other.split('/').collect();
    // `row[j]`: what is left of `one` from here on and `other[j..]` have a key in common.
    let mut row = vec![false; other.len() + 1];
    row[other.len()] = true;
    for j in (0..other.len()).rev() {
        row[j] = other[j] == "**" && row[j + 1];
    }
    for &chunk in one.iter().rev() {
        let below = row.clone();
        row[other.len()] = chunk == "**" && below[other.len()];
        for j in (0..other.len()).rev() {
            row[j] = if chunk == "**" || other[j] == "**" {
                // It stands for nothing here, or for what is opposite.
                below[j] || row[j + 1]
            } else {
                (chunk == "*" || other[j] == "*" || chunk == other[j]) && below[j + 1]
            };
        }
    }
    row[0]
}

/// Whether a pattern is a plain key.
#[must_use]
pub fn is_plain(pattern: &str) -> bool {
    !pattern.contains('*')
}

fn fault(text: &str) -> Option<&'static str> {
    if text.len() > MOST_KEY {
        Some("it is too long")
    } else if text.split('/').any(str::is_empty) {
        Some("a chunk is empty")
    } else if text.chars().any(|c| "$#?@".contains(c) || c.is_whitespace() || c.is_control()) {
        Some("only letters, digits and plain signs may stand in it")
    } else {
        None
    }
}

/// At most 80 characters of a text that may be anything.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_star_is_one_chunk_and_two_are_any_number() {
        for (pattern, key, wanted) in [
            ("a/b", "a/b", true),
            ("a/b", "a/c", false),
            ("a/*", "a/b", true),
            ("a/*", "a", false),
            ("a/*", "a/b/c", false),
            ("a/**", "a", true),
            ("a/**", "a/b/c", true),
            ("**/c", "a/b/c", true),
            ("**/c", "c", true),
            ("**/c", "c/a", false),
            ("a/**/d", "a/d", true),
            ("a/**/d", "a/b/c/d", true),
            ("a/**/d", "a/b/c", false),
            ("**", "a/b", true),
        ] {
            assert_eq!(matches(pattern, key), wanted, "{pattern} and {key}");
        }
    }

    #[test]
    fn patterns_meet_when_some_key_matches_both() {
        assert!(meets("a/*/c", "a/b/*"));
        assert!(meets("a/**", "**/z"));
        assert!(meets("**/b/**", "a/**/c"));
        assert!(!meets("a/*", "b/**"));
        assert!(!meets("a/*/c", "a/*"));
        assert!(meets("**", "a/**"));
    }

    #[test]
    fn what_is_no_key_is_refused_by_name() {
        for bad in ["", "/a", "a/", "a//b", "a b", "a/$*", "a#", "a?b", "@a", "a/*"] {
            assert!(matches!(check_key(bad), Err(Lost::BadKey { .. })), "{bad}");
        }
        for bad in ["a/b*", "**/**", "**/*", "a/***"] {
            assert!(matches!(check_pattern(bad), Err(Lost::BadKey { .. })), "{bad}");
        }
        assert!(check_key(&"k".repeat(MOST_KEY + 1)).is_err());
        assert!(check_key("swarm/run/7/workers/q/0/1").is_ok());
        assert!(check_pattern("swarm/*/**").is_ok());
    }
}
