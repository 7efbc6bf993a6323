//! The real binary as its users call it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod cards;
mod command_line;
mod directories;
#[cfg(all(feature = "pkcs11", feature = "openpgp-card"))]
mod documents;
mod hostile;
mod interruption;
mod kills;
mod libraries;
mod mcu;
#[cfg(feature = "pkcs11")]
mod pkcs11;
mod processes;
#[cfg(feature = "pkcs11")]
mod programs;
mod run;
mod series;
mod sharing;
mod site;
mod ssh;
#[cfg(feature = "pkcs11")]
mod tls;
#[cfg(feature = "tpm")]
mod tpm;
mod trace;
mod virtual_cards;

const KEYMARK: &str = env!("CARGO_BIN_EXE_keymark");
