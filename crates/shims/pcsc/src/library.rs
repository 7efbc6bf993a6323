//! The real library.

#![allow(non_snake_case, reason = "the names are PC/SC's")]

use std::ffi::{OsStr, c_char, c_void};

use crate::functions::functions;
use crate::types::{Context, Dword, Handle, IoRequest, Long, ReaderState};

/// SCardIsValidContext, by which one library is told from another.
pub(crate) type IsValidContext = unsafe extern "C" fn(Context) -> Long;

macro_rules! table {
    ($(fn $name:ident = $call:ident($($argument:ident: $type:ty),*), virtually $virtually:ident, keeping $keeping:ident;)*) => {
        /// Its functions.
        pub(crate) struct Library {
            $(pub(crate) $name: unsafe extern "C" fn($($type),*) -> Long,)*
            _library: libloading::Library,
        }

        impl Library {
            /// Loads it; `None` when it is not there or lacks a function.
            pub(crate) fn load(path: &OsStr) -> Option<Self> {
                // SAFETY: libpcsclite has no initialisers with preconditions, and the symbols are
                // taken at the types that winscard.h gives them. The library stays loaded as long
                // as the table.
                unsafe {
                    let library = libloading::Library::new(path).ok()?;
                    Some(Self {
                        $($name: *library.get(stringify!($name).as_bytes()).ok()?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

functions!(table);

impl Library {
    /// Whether it is the one with that function.
    pub(crate) fn has(&self, function: IsValidContext) -> bool {
        std::ptr::fn_addr_eq(self.SCardIsValidContext, function)
    }
}
