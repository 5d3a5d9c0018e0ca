//! Paths: the one name of a thing, and the order of things.

use std::cmp::Ordering;

/// Longest name of one node, in bytes.
pub const MAX_NAME: usize = 64;

/// Whether a name may stand between two slashes: a letter or digit first, then letters, digits, `_`, `-`, `.`.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    name.len() <= MAX_NAME
        && chars.next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Natural order of paths: runs of digits compare as numbers, so `r2` comes before `r10`.
///
/// This is a total order that is equal only for equal strings (`r01` and `r1` differ).
#[must_use]
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a.as_bytes(), b.as_bytes());
    while let (Some(&p), Some(&q)) = (x.first(), y.first()) {
        if p.is_ascii_digit() && q.is_ascii_digit() {
            let (m, n) = (digits(x), digits(y));
            let (s, t) = (trim_zeros(&x[..m]), trim_zeros(&y[..n]));
            let order = s.len().cmp(&t.len()).then_with(|| s.cmp(t));
            if order != Ordering::Equal {
                return order;
            }
            (x, y) = (&x[m..], &y[n..]);
        } else if p != q {
            return p.cmp(&q);
        } else {
            (x, y) = (&x[1..], &y[1..]);
        }
    }
    x.len().cmp(&y.len()).then_with(|| a.cmp(b))
}

fn digits(s: &[u8]) -> usize {
    s.iter().take_while(|b| b.is_ascii_digit()).count()
}

fn trim_zeros(s: &[u8]) -> &[u8] {
    let zeros = s.iter().take_while(|&&b| b == b'0').count();
    &s[zeros..]
}

/// The candidate nearest in spelling to `wrong`, if one is near enough to be what was meant; or else the only one that goes on
/// after it with another word, as `power_dbm` does after `power`.
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    // Names from outside may be long; past this length a suggestion would not help anyone.
    if wrong.len() > 2 * MAX_NAME {
        return None;
    }
    let goes_on = |c: &&str| c.strip_prefix(wrong).is_some_and(|rest| rest.starts_with(['_', '-']));
    let mut longer = candidates.clone().into_iter().filter(|c| wrong.len() > 2 && goes_on(c));
    let only = longer.next().filter(|_| longer.next().is_none());
    candidates
        .into_iter()
        .map(|c| (distance(&wrong.to_lowercase(), &c.to_lowercase()), c))
        .filter(|&(d, c)| d <= 1 + wrong.len().max(c.len()) / 4)
        .min_by_key(|&(d, c)| (d, c.to_owned()))
        .map(|(_, c)| c)
        .or(only)
}

/// Edits (insert, delete, replace, swap of neighbours) between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut d = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = d;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_compare_as_numbers() {
        let mut names = vec!["r10", "r2", "r1", "q9", "r2a", "r02"];
        names.sort_by(|a, b| natural_cmp(a, b));
        assert_eq!(names, ["q9", "r1", "r02", "r2", "r2a", "r10"]);
    }

    #[test]
    fn only_equal_strings_are_equal() {
        assert_ne!(natural_cmp("r01", "r1"), Ordering::Equal);
        assert_eq!(natural_cmp("r01", "r1"), natural_cmp("r1", "r01").reverse());
    }

    #[test]
    fn the_nearest_name_is_found() {
        let all = ["radius", "range", "rate", "restitution"];
        assert_eq!(nearest("raduis", all), Some("radius"));
        assert_eq!(nearest("Range", all), Some("range"));
        assert_eq!(nearest("colour", all), None);
        let longer = ["power_dbm", "path", "solid_loss_db", "solid_loss_db_per_m"];
        assert_eq!(nearest("power", longer), Some("power_dbm"));
        assert_eq!(
            (nearest("solid", longer), nearest("po", longer)),
            (None, None),
            "two go on, and too short"
        );
    }

    #[test]
    fn names_are_plain() {
        assert!(is_name("r1") && is_name("north-wall") && is_name("_x.2"));
        assert!(
            !is_name("") && !is_name("a/b") && !is_name("-x") && !is_name("a b") && !is_name(&"x".repeat(65))
        );
    }
}
