//! Bindings to C libraries, each with a safe interface: what the crates that wrap them lack. Unsafe code stands here
//! and in the shims, which C calls, and nowhere else.

pub mod cryptoki;
mod error;
pub mod evp;
pub mod gcrypt;
pub mod libcrypto;
mod loader;

pub use error::NativeError;
