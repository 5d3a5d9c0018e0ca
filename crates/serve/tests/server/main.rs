//! The server over real sockets: every request of the protocol, and everything it must refuse.

mod client;
mod control;
mod run;
