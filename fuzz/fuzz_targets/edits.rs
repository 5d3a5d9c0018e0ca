//! No text and no change may make an edit panic or hang, and what an edit answers is TOML.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_formats::fuzz_edits(data));
