//! No bytes may make a display's reader of frames panic or allocate without bound, or come back changed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_serve::frame::fuzz(data));
