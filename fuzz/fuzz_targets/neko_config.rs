//! No text may make the reader of configurations panic, hang or allocate without bound, or mean something
//! else as a scenario.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_formats::neko::fuzz_config(data));
