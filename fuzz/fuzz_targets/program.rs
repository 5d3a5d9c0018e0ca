//! No module may make the sandbox panic, hang or allocate without bound, or lose a memory.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swarmyard_agents::fuzz_program(data));
