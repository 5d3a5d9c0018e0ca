//! No text may make the part file reader panic, hang or allocate without bound, or come back changed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_formats::fuzz_read_blocks(data));
