//! The server over real sockets: every request of the protocol, and everything it must refuse.

mod cable;
mod client;
mod comms;
mod control;
mod edit;
mod files;
mod hostile;
mod http;
mod random_edits;
mod relay;
mod relay_harm;
mod replay;
mod rewind;
mod run;
mod waiting;
