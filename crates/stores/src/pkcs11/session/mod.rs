//! Sessions of a token: its keys in them, and what is timed.

pub(crate) mod handle;
pub(crate) mod session_keys;
pub(crate) mod token_keys;
