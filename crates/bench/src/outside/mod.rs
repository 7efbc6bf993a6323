//! Outside input: limits for files ([`read`]) and safe display of foreign text ([`visible`]).

pub mod read;
pub mod visible;
