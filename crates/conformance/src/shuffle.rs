//! A scenario with its entries in another order.

use crate::Dice;

/// The text with the blocks of each `[[kind]]` in a random order.
///
/// A block reaches from its header to the next header that is not its own sub-table. Obstacles and
/// walls without a `name` are numbered by their place, so those stay where they are.
#[must_use]
pub fn shuffled(text: &str, kinds: &[&str], seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut blocks = blocks(text, kinds);
    for kind in kinds {
        let free: Vec<usize> = (0..blocks.len())
            .filter(|&k| blocks[k].0 == Some(*kind) && may_move(kind, &blocks[k].1))
            .collect();
        let order = dice.order(free.len());
        let texts: Vec<String> = order.iter().map(|&k| blocks[free[k]].1.clone()).collect();
        for (&place, text) in free.iter().zip(texts) {
            blocks[place].1 = text;
        }
    }
    blocks.into_iter().map(|b| b.1).collect()
}

fn may_move(kind: &str, block: &str) -> bool {
    kind == "robot" || block.lines().any(|l| l.trim_start().starts_with("name"))
}

/// The text cut into blocks: those of a kind, and what is between them.
fn blocks<'k>(text: &str, kinds: &[&'k str]) -> Vec<(Option<&'k str>, String)> {
    let mut blocks: Vec<(Option<&'k str>, String)> = vec![(None, String::new())];
    for line in text.lines() {
        let header = line.trim();
        if header.starts_with('[') && !header.starts_with("[[ ") && is_header(header) {
            let own = kinds.iter().find(|k| header.starts_with(&format!("[[{k}]]")));
            let inside = blocks.last().and_then(|b| b.0).is_some_and(|k| {
                header.starts_with(&format!("[{k}.")) || header.starts_with(&format!("[[{k}."))
            });
            if !inside {
                blocks.push((own.copied(), String::new()));
            }
        }
        if let Some(last) = blocks.last_mut() {
            last.1.push_str(line);
            last.1.push('\n');
        }
    }
    blocks
}

/// Whether a trimmed line that begins with a bracket is a table header, not a line of an array.
fn is_header(line: &str) -> bool {
    let inner = line.trim_start_matches('[');
    inner.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
        && line.contains(']')
        && !inner.starts_with("true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_change_places_and_nothing_is_lost() {
        let text = "format = 1\n[[robot]]\nname = \"a\"\nat = [\n  [1, 2],\n]\n[robot.layout]\nx = 1\n[run]\nq = 1\n[[robot]]\nname = \"b\"\n[[robot]]\nname = \"c\"\n[[wall]]\npoints = []\n";
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..40 {
            let other = shuffled(text, &["robot", "wall"], seed);
            let (mut a, mut b): (Vec<&str>, Vec<&str>) = (text.lines().collect(), other.lines().collect());
            a.sort_unstable();
            b.sort_unstable();
            assert_eq!(a, b);
            assert!(other.contains("[robot.layout]\nx = 1\n"), "a sub-table goes with its block");
            seen.insert(other);
        }
        assert_eq!(seen.len(), 6, "all orders of three blocks come up");
    }

    #[test]
    fn obstacles_without_a_name_keep_their_number() {
        let text = "[[obstacle]]\nradius = 1\n[[obstacle]]\nname = \"b\"\n[[obstacle]]\nname = \"c\"\n";
        for seed in 0..10 {
            assert!(shuffled(text, &["obstacle"], seed).starts_with("[[obstacle]]\nradius = 1\n"));
        }
    }
}
