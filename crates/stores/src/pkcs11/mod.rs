//! The family `pkcs11`: tokens behind PKCS#11 modules (PKCS#11 3.1, OASIS), and SoftHSM2 with a token of
//! keymark's own.
//!
//! A module is a library of somebody's: it is looked at in a process of its own first ([`probe`]), and loaded
//! into this one only when a run uses it. Setting up goes through the crate `cryptoki`; what is timed are the
//! C functions themselves (`keymark-cryptoki`). Sessions are read-only, so that no test key outlives its run,
//! but for those in which test keys are written to a token that its user has named ([`written`]).

mod access;
mod codes;
mod device;
mod family;
mod handle;
mod keys;
mod module;
pub mod modules;
mod offers;
pub mod probe;
mod says;
mod session_keys;
mod softhsm;
mod store;
mod target;
mod token;
pub mod uri;
mod written;

pub use access::{ModuleAccess, ModuleErrand};
pub use family::{Pkcs11Family, known_token};
pub use module::ModuleFile;
pub use says::ModuleSays;
pub use written::journalled_module;
