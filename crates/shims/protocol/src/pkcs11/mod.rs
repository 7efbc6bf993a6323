//! What `libkeymark_pkcs11.so` is told, and what it takes down.

mod calls;
pub mod histogram;
pub mod holder;
pub mod mark;
pub mod settings;
pub mod trace;

pub use calls::{Call, Traced, WITH_PRIVATE_KEY};
