//! No text may make the scenario reader panic, hang or allocate without bound.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_formats::fuzz_read(data));
