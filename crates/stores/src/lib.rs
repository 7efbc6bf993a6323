//! Stores of private keys. One folder a family; [`registry`] has the list.

pub mod access;
pub mod answer;
pub mod card;
pub mod certificate;
pub mod challenge;
pub mod device;
mod emulator;
pub mod journal;
#[cfg(feature = "cards")]
pub mod openpgp_card;
pub mod pkcs11;
pub mod pkcs11_uri;
pub mod places;
pub mod public_key;
pub mod registry;
mod sayings;
pub mod scheme;
pub mod software;
pub mod store;
pub mod test_key;
pub mod tokens;
#[cfg(feature = "tpm")]
pub mod tpm;
pub mod user;
pub mod worker;
