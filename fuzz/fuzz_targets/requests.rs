//! Nothing a display says may make the reader of requests panic or allocate without bound.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_serve::fuzz_request(data));
