//! No text may make the reader of logs panic, hang or allocate without bound, or come back changed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_formats::neko::fuzz_log(data));
