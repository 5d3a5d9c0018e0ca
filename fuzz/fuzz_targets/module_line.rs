//! No bytes may make the reader of module lines panic or allocate without bound, or come back changed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_modules::fuzz_line(data));
