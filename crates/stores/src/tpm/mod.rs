//! The family `tpm`: TPMs (TPM 2.0 Library, TCG), through tpm2-tss by the crate `tss-esapi`.
//!
//! Nothing is kept in a TPM: test keys are made under a primary key of the owner hierarchy, saved as contexts
//! (Part 1, 30.3), which only this TPM can load until its next start, and loaded for a block at a time, since a TPM
//! holds three keys. A real TPM is used only when it is named.

mod connection;
mod device;
mod handle;
mod keys;

pub use connection::Way;
pub use device::look;
pub(crate) use handle::open;
