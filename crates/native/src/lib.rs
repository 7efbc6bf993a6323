//! Bindings to C libraries, each with a safe interface: what the crates that wrap them lack. Unsafe code is here
//! and in the shims, which C calls, and nowhere else.

pub mod cryptoki;
pub mod evp;
pub mod gcrypt;
pub mod libcrypto;
pub mod sessions;

use std::ffi::{OsStr, c_int};

use libloading::os::unix::Library;

/// Why a C library did not do what it was asked for, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NativeError(String);

impl From<libloading::Error> for NativeError {
    fn from(error: libloading::Error) -> Self {
        Self(error.to_string())
    }
}

/// Loads an installed library by the name that programs ask the system's loader for; keymark runs without it. It is
/// never unloaded: the addresses of its functions stay good.
fn load(file: impl AsRef<OsStr>, flags: c_int) -> Result<&'static Library, NativeError> {
    // SAFETY: the libraries of this crate do nothing in their initializers that depends on the state of this process;
    // those of a PKCS#11 module may do anything, which is what loading a module of the user's choice means.
    let library = unsafe { Library::open(Some(file.as_ref()), flags) }?;
    Ok(Box::leak(Box::new(library)))
}

/// The functions of a library that are called, with the types that its headers declare.
macro_rules! calls {
    ($flags:expr; $($name:ident = $symbol:literal: $type:ty,)+) => {
        /// Their addresses.
        struct Calls {
            $($name: $type,)+
        }

        impl Calls {
            /// Loads the library and looks the functions up.
            fn load(file: impl AsRef<std::ffi::OsStr>) -> Result<Self, $crate::NativeError> {
                let library = $crate::load(file, $flags)?;
                // SAFETY: the types are those that the headers declare for the symbols, unchanged over the
                // life of the ABI whose number is part of the file's name.
                unsafe { Ok(Self { $($name: *library.get::<$type>($symbol)?,)+ }) }
            }
        }
    };
}

use calls;
