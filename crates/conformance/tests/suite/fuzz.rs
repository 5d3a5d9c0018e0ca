//! The fuzz targets of `fuzz/` compile and hold on a few hundred inputs, so that `cargo xtask fuzz` finds them in order.
//!
//! Here they are modules: this program stands for the crate of the fuzzer, whose macro they use. That takes neither its library nor a
//! second build of all that the targets stand on.

use std::collections::BTreeSet;
use swarmyard_conformance::{Dice, read, root, worlds};

/// What the fuzzer's macro makes of a target: here a function of the input.
macro_rules! fuzz_target {
    (|$data:ident: &[u8]| $body:expr) => {
        pub(crate) fn run($data: &[u8]) {
            $body;
        }
    };
}
pub(crate) use fuzz_target;

macro_rules! targets {
    ($($name:ident)*) => {
        #[allow(unused_attributes, reason = "a target of the fuzzer has no `main` of its own")]
        #[path = "../../../../fuzz/fuzz_targets"]
        mod targets {
            $(pub(crate) mod $name;)*
        }
        /// Every target, by the name of its file.
        const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($name), targets::$name::run)),*];
    };
}

targets! { answers blocks edits envelope frames module_line neko_config neko_log program recording requests scenario }

/// Files that a target may get as they are, cut off, or with some bytes changed; and noise.
fn inputs() -> Vec<Vec<u8>> {
    const LONGEST: usize = 2000;
    let files = [
        "crates/formats/tests/neko/figure-5.2.log",
        "crates/formats/tests/neko/gathering.config",
        "worlds/parts/surveyor.robot",
        "crates/conformance/goldens.txt",
        "examples/modules/points.txt",
        "sdk/c/rio.h",
    ];
    let texts = files.iter().map(|file| read(&root().join(file)));
    let texts = texts.chain(worlds().into_iter().step_by(9).map(|world| world.text));
    let mut dice = Dice::new(12);
    let mut all = vec![Vec::new(), b"\0asm\x01\0\0\0".to_vec(), br#"{"type":"hello"}"#.to_vec()];
    for text in texts {
        let whole = &text.as_bytes()[..text.len().min(LONGEST)];
        all.push(whole.to_vec());
        for _ in 0..8 {
            let mut changed = whole[..dice.below(whole.len())].to_vec();
            for _ in 0..dice.below(4).min(changed.len()) {
                let at = dice.below(changed.len());
                changed[at] = dice.below(256) as u8;
            }
            all.push(changed);
        }
    }
    all.extend((0..100).map(|_| (0..dice.below(200)).map(|_| dice.below(256) as u8).collect::<Vec<u8>>()));
    all
}

#[test]
fn every_target_takes_what_comes() {
    let inputs = inputs();
    assert!(inputs.len() > 150);
    for (_, run) in TARGETS {
        inputs.iter().for_each(|input| run(input));
    }
}

/// A target that is not in all three places would never be fuzzed, or never be compiled here.
#[test]
fn every_target_has_a_file_and_a_program_that_stand_on_what_they_use() {
    let here: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let folder = root().join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(&folder).expect("targets").flatten().map(|entry| entry.path());
    let files: BTreeSet<String> =
        files.filter_map(|p| Some(p.file_stem()?.to_string_lossy().into_owned())).collect();
    assert_eq!(here, files);
    let manifest = read(&root().join("fuzz/Cargo.toml"));
    let (dependencies, programs) = manifest.split_once("[[bin]]").expect("programs");
    assert_eq!(programs.matches("\npath = ").count(), here.len());
    for name in &here {
        let program = format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        assert!(programs.contains(&program), "no program `{name}`");
        let text = read(&folder.join(format!("{name}.rs")));
        let uses = text.split("swarmyard_").nth(1).and_then(|rest| rest.split("::").next());
        let uses = uses.expect("a crate of ours").replace('_', "-");
        let path = format!("swarmyard-{uses} = {{ path = \"../crates/{uses}\" }}");
        assert!(dependencies.contains(&path), "`{name}` stands on `{uses}`");
        assert!(root().join("crates").join(&uses).join("Cargo.toml").is_file(), "{uses}");
    }
}
