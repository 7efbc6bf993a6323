//! What a private-key operation would cost on a microcontroller that is not here.
//!
//! The compiled code runs in a simulator of the Cortex-M3 and Cortex-M4 ([`machine`]); a model of core
//! and flash ([`timing`]) says how long it would take.

pub mod decode;
pub mod image;
pub mod instruction;
pub mod kernel;
pub mod machine;
pub mod microcontroller;
pub mod predict;
pub mod sensitivity;
pub mod timing;
