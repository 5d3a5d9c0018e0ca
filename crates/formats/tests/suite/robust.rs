//! Nothing that can be written makes the reader panic or hang.

use crate::common::{Folder, registry};
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Time, Uid};
use swarmyard_formats::{NoFiles, format, fuzz_edits, fuzz_read, read, set};

const ROUNDS: u32 = 100;

/// One to four small damages: bytes changed, cut out, doubled, or the end cut off.
fn damaged(text: &[u8], draw: Draw) -> Vec<u8> {
    const PIECES: [&[u8]; 14] =
        [b"\"", b"[", b"]]", b"{", b"=", b"\n", b"${", b"}", b"-", b"9", b"inf", b"\xc3", b"'''", b"."];
    let mut out = text.to_vec();
    let [count, ..] = draw.block(0);
    for k in 0..=count % 4 {
        let [what, place, length, value] = draw.block(k + 1);
        let at = place as usize % (out.len() + 1);
        let end = (at + length as usize % 12).min(out.len());
        match what % 5 {
            0 if at < out.len() => out[at] = value as u8,
            1 => drop(out.drain(at..end)),
            2 => {
                let piece = out[at..end].to_vec();
                drop(out.splice(at..at, piece));
            }
            3 => drop(out.splice(at..at, PIECES[value as usize % PIECES.len()].iter().copied())),
            _ if value % 8 == 0 => out.truncate(at),
            _ => {}
        }
    }
    out
}

/// The codes of all problems of a text; formatting may move them but not change them.
fn codes(name: &str, text: &str) -> Vec<&'static str> {
    // A damage may turn nine robots into nine million, which is legal but slow.
    let digits = text.as_bytes().windows(5).any(|w| w.iter().all(|b| b.is_ascii_digit() || *b == b'_'));
    if digits {
        return Vec::new();
    }
    let Err(failed) = read(name, text, &[], &NoFiles, &registry()) else { return Vec::new() };
    let mut codes: Vec<&'static str> = failed.problems.0.iter().map(|d| d.code).collect();
    codes.sort_unstable();
    codes
}

#[test]
fn damaged_scenarios_are_refused_or_read_but_never_panic() {
    let mut all = Folder::of_tests("good").files("toml");
    all.extend(Folder::of_tests("bad").files("toml"));
    for (name, text) in all {
        for round in 0..ROUNDS {
            let draw = Draw::at(1, Uid::of_path(&name), Purpose::Test, Time::ZERO, round);
            let bytes = damaged(text.as_bytes(), draw);
            fuzz_read(&bytes);
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(once) = format(&name, &text) {
                let twice = format(&name, &once).unwrap_or_else(|e| panic!("{name} {round}: {e}\n{once}"));
                assert_eq!(once, twice, "{name} {round}:\n{text}");
                assert_eq!(codes(&name, &text), codes(&name, &once), "{name} {round}:\n{text}\n---\n{once}");
            }
            let _ = set(&text, "run.seed", "7");
        }
    }
}

#[test]
fn random_edits_of_damaged_scenarios_never_panic_and_answer_toml() {
    let mut all = Folder::of_tests("good").files("toml");
    all.extend(Folder::of_tests("bad").files("toml"));
    let odd = "robot = [{ a.b = 1 }, {}, ]\ntype.a = { part = [{ name = 'x' }] }\n[type.b]\n#c\n[[type.b.part]]\n[run]";
    all.push(("odd".into(), odd.into()));
    for (name, text) in all {
        // Each round does some thirty edits.
        for round in 0..ROUNDS / 10 {
            let draw = Draw::at(2, Uid::of_path(&name), Purpose::Test, Time::ZERO, round);
            let text =
                if round % 4 == 0 { text.clone().into_bytes() } else { damaged(text.as_bytes(), draw) };
            let mut data: Vec<u8> = vec![8];
            data.extend((100..132).flat_map(|k| draw.block(k)).map(|word| word as u8).take(64));
            data.extend(text);
            fuzz_edits(&data);
        }
    }
}

#[test]
fn every_cut_of_a_scenario_is_survived() {
    for (_, text) in Folder::of_tests("good").files("toml") {
        for end in 0..text.len() {
            fuzz_read(&text.as_bytes()[..end]);
        }
    }
}

#[test]
fn deep_and_wide_texts_are_refused_politely() {
    let deep_header = format!("format = 1\n[{}a]\n", "a.".repeat(100_000));
    let deep_array = format!("format = 1\nx = {}\n", "[".repeat(100_000));
    let deep_inline = format!("format = 1\nx = {}\n", "{a=".repeat(100_000));
    let many_keys: String = (0..20_000).map(|k| format!("k{k} = 1\n")).collect();
    let many_types: String =
        (0..3_000).map(|k| format!("[type.t{k}]\nradius = 1\n[[robot]]\ntype = \"q{k}\"\n")).collect();
    let huge = format!("format = 1\nx = [{}]\n", "0,".repeat(5_000_000));
    for text in [huge, deep_header, deep_array, deep_inline, many_keys, format!("format = 1\n{many_types}")] {
        assert!(read("t.toml", &text, &[], &NoFiles, &registry()).is_err());
    }
}

#[test]
fn templates_cannot_explode() {
    let mut text = String::from("format = 1\n[template.t0]\nobstacle = [{ radius = 1 }]\n");
    for k in 1..8 {
        let inner = vec![format!("{{ template = \"t{}\" }}", k - 1); 20].join(", ");
        text += &format!("[template.t{k}]\nuse = [{inner}]\n");
    }
    text += "[[use]]\ntemplate = \"t7\"\n";
    let failed = read("t.toml", &text, &[], &NoFiles, &registry()).expect_err("too big");
    assert!(failed.problems.0.iter().any(|d| d.code == "too-big"), "{failed}");
    let list = format!("[{}]", vec!["[0, 1]"; 2_000].join(", "));
    let walls = "[[wall]]\npoints = \"${p}\"\n".repeat(500);
    let text = format!("format = 1\n[params]\np = {list}\n{walls}");
    let failed = read("t.toml", &text, &[], &NoFiles, &registry()).expect_err("too big");
    assert!(failed.problems.0.iter().any(|d| d.code == "too-big"));
}

#[test]
fn a_flood_of_problems_is_cut_off() {
    let keys: String = (0..5_000).map(|k| format!("k{k} = 1\n")).collect();
    let failed =
        read("t.toml", &format!("format = 1\n[run]\n{keys}"), &[], &NoFiles, &registry()).expect_err("bad");
    assert_eq!(failed.problems.0.len(), 1001);
    assert!(failed.problems.0.iter().any(|d| d.code == "too-many-problems"));
}
