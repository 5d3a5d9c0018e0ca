//! The server.

pub mod frame;
