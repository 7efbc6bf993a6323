//! What comes from outside: how much of a file is read ([`read`]), and how text is shown that somebody else
//! wrote ([`visible`]).

pub mod read;
pub mod visible;
