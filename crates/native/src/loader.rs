//! The loader of libraries that are installed: keymark runs without them.

use std::ffi::{OsStr, c_int};

use libloading::os::unix::Library;
pub(crate) use libloading::os::unix::{RTLD_LAZY, RTLD_LOCAL, RTLD_NOW};

use crate::NativeError;

/// Loads a library by the name that programs ask the system's loader for. It is never unloaded: the addresses of its
/// functions stay good.
pub(crate) fn load(file: impl AsRef<OsStr>, flags: c_int) -> Result<&'static Library, NativeError> {
    // SAFETY: the libraries of this crate do nothing in their initialisers that depends on the state of this process;
    // those of a PKCS#11 module may do anything, which is what loading a module of the user's choice means.
    let library = unsafe { Library::open(Some(file.as_ref()), flags) }?;
    Ok(Box::leak(Box::new(library)))
}

/// The functions of a library that are called, with the types that its headers declare.
macro_rules! calls {
    ($flags:expr; $($name:ident = $symbol:literal: $type:ty,)+) => {
        /// Their addresses.
        pub struct Calls {
            $(pub $name: $type,)+
        }

        impl Calls {
            /// Loads the library and looks the functions up.
            pub fn load(file: &str) -> Result<Self, $crate::NativeError> {
                let library = $crate::loader::load(file, $flags)?;
                // SAFETY: the types are those that the headers declare for the symbols, unchanged over the
                // life of the ABI whose number is part of the file's name.
                unsafe { Ok(Self { $($name: *library.get::<$type>($symbol)?,)+ }) }
            }
        }
    };
}

pub(crate) use calls;
