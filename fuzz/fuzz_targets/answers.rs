//! Nothing a native program answers may make its reader panic or stand still.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_agents::fuzz_answers(data));
