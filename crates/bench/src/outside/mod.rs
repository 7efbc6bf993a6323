//! Outside input: packets of OpenPGP ([`openpgp`]), limits for files ([`read`]) and safe display of foreign text
//! ([`visible`]).

pub mod openpgp;
pub mod read;
pub mod visible;
