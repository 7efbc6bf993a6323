//! The family `pkcs11`: tokens behind PKCS#11 modules (PKCS#11 3.1, OASIS), and tokens of keymark's own
//! in software.
//!
//! A module is a library of somebody's, which may crash, hang and print: it is looked at and used in processes of its own
//! ([`process`]). Setting up goes through the crate `cryptoki`; what is timed are the
//! C functions themselves (`keymark-cryptoki`). Sessions are read-only, so that no test key outlives its run, but
//! for those in which test keys are written: for other programs, to a token of keymark's own, which is gone with the
//! run, or to one that its user has named ([`written`]).

mod codes;
mod device;
mod family;
mod for_programs;
mod handle;
mod identity;
mod in_this_process;
mod keys;
mod module;
pub mod modules;
mod needs;
mod offers;
mod own;
mod probe;
pub mod process;
mod says;
mod served;
mod session_keys;
mod store;
mod target;
mod token;
pub mod tpm2_pkcs11;
pub mod uri;
pub mod wrapped;
mod written;

pub use codes::name;
pub use family::Pkcs11Family;
pub use for_programs::{ModuleAccess, ProgramKey, is_known_to_programs, unseen};
pub use in_this_process::TokenHere;
pub use module::ModuleFile;
pub use needs::variables;
pub use own::{OwnKind, OwnPlace};
pub use served::{ServedKey, ServedToken, TokenWatch};
pub use written::journalled_module;
