//! What a program says, the same over every transport.

/// One thing a program said. Nothing in it is checked yet beyond that it could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// It speaks this version of the interface.
    Hello(u32),
    /// A write. `TooWide` values come with `fits` false.
    Poke { address: u32, width: u32, value: u32, fits: bool },
    /// A read that found nothing mapped, or was misaligned.
    BadPeek { address: u32, width: u32 },
    /// A read of a port; it waits for the answer.
    Peek { address: u32, width: u32 },
    /// A message.
    Log(String),
    /// The quantum with this tick (its lowest 32 bits) is answered.
    Done(u32),
}
