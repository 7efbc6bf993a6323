//! libkeymark_pkcs11.so: a PKCS#11 module that hands every call to another one. It can count the calls, with
//! what each took and without anything of what they carry, and take the time of a device over them: the twin
//! of an HSM, for every program that speaks PKCS#11.
//!
//! It exports what a module has to and nothing else, so that it gets in the way of no other module.

#![allow(
    deprecated,
    reason = "`fetch_update` is called `try_update` from Rust 1.95 on, and 1.90 is promised"
)]

mod abilities;
mod alone;
mod clock;
mod device;
mod environment;
mod functions;
mod interfaces;
mod library;
mod network;
mod trace;
mod twin;
