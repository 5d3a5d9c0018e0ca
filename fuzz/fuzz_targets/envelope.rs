//! No bytes may make the reader of workers' envelopes panic or allocate, or be taken when a bit of them was changed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_fabric::envelope::fuzz(data));
