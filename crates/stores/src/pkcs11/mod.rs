//! The family `pkcs11`: tokens behind PKCS#11 modules (PKCS#11 3.1, OASIS), and tokens of keymark's own
//! in software.
//!
//! A module is a third-party library, which may crash, hang and print: it is looked at and used in processes of its
//! own ([`process`]). All goes through the crate `cryptoki`; what is timed is one call of each C function
//! ([`keymark_native::cryptoki`]). Sessions are read-only, so that no test key outlives its run, but for those in
//! which test keys are written: for other programs, to a token of keymark's own, which is gone with the run, or to
//! one that its user has named (`token/persistent_keys.rs`).

mod module;
mod session;
mod temporary;
mod testing;
mod token;

pub use crate::access::ProgramKey;
pub use crate::pkcs11_uri as uri;
pub use module::codes::name;
pub use module::modules::variables;
pub use module::process::ModuleAccess;
pub use module::{ModuleFile, modules, process, tpm2_pkcs11, wrapped};
pub use temporary::served::{ServedKey, ServedToken};
pub use temporary::{ManagedKind, ManagedPlace};
pub use testing::TokenHere;
pub use token::external_access::{is_known_to_programs, unseen};
pub(crate) use token::family::called;
pub use token::family::look;
pub use token::persistent_keys::journalled_module;
