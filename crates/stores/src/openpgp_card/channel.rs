//! The way to a card, below every protocol of it.

use std::fmt::Debug;

use keymark_bench::Error;

/// Connection to a card; commands and responses are as the card sees them.
pub trait Channel: Send + Sync {
    /// Sends a command APDU and puts the response APDU, status word last, into `response`.
    fn transmit(&mut self, command: &[u8], response: &mut Vec<u8>) -> Result<(), Error>;
}

/// Place of a card, from which connections to it can be had.
pub trait Port: Debug + Send + Sync {
    /// A connection, shared with others.
    fn connect(&self) -> Result<Box<dyn Channel>, Error>;

    /// Name of the reader.
    fn reader(&self) -> String;

    /// Switches the card off and on, unless another program shares it: no PIN is verified any more then.
    fn reset(&self) -> Result<Reset, Error>;

    /// Number of the reader's channel (PC/SC part 3, SCARD_ATTR_CHANNEL_ID), where it has one.
    fn channel_id(&self) -> Option<u32> {
        None
    }
}

/// Result of a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reset {
    /// The card was reset.
    Done,
    /// Another program uses it.
    Shared,
}
