//! The family `pkcs11`: tokens behind PKCS#11 modules (PKCS#11 3.1, OASIS), and tokens of keymark's own
//! in software.
//!
//! A module is a library of somebody's, which may crash, hang and print: it is looked at and used in processes of its own
//! ([`process`]). All goes through the crate `cryptoki`; what is timed is one call of each C function
//! ([`keymark_native::cryptoki`]). Sessions are read-only, so that no test key outlives its run, but
//! for those in which test keys are written: for other programs, to a token of keymark's own, which is gone with the
//! run, or to one that its user has named ([`persistent_keys`]).

mod capabilities;
mod codes;
mod device;
mod external_access;
mod family;
mod handle;
mod identity;
mod keys;
mod managed;
mod module;
pub mod modules;
mod new_token;
mod persistent_keys;
pub mod process;
mod selector;
mod served;
mod session_keys;
mod store;
mod testing;
mod token;
mod token_info;
pub mod tpm2_pkcs11;
pub mod wrapped;

pub use crate::access::ProgramKey;
pub use crate::pkcs11_uri as uri;
pub use codes::name;
pub use external_access::{is_known_to_programs, unseen};
pub use family::FAMILY;
pub(crate) use family::called;
pub use managed::{ManagedKind, ManagedPlace};
pub use module::ModuleFile;
pub use modules::variables;
pub use persistent_keys::journalled_module;
pub use served::{ServedKey, ServedToken, TokenWatch};
pub use testing::TokenHere;
