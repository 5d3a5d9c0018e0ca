//! No file may make the recording reader panic, hang or allocate without bound.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_record::fuzz_open(data));
