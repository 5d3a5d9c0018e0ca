//! Text in and out: good and bad scenarios, edits, part files, files of Neko.
#![expect(clippy::disallowed_methods, reason = "the tests read their texts from files")]

mod bad;
mod common;
mod edit_worlds;
mod edits;
mod good;
mod neko;
mod neko_log;
mod part_files;
mod robust;
mod tools;
