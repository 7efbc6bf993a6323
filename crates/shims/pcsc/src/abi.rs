//! The functions as C programs call them, in one list, and where their calls go: to the served card or to the real
//! library.

#![allow(
    non_snake_case,
    missing_docs,
    reason = "the interface is PC/SC's, which documents it"
)]

use std::ffi::{OsStr, c_char, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use keymark_shim_protocol::trace::{Apdu, Call};
use keymark_shim_protocol::{CARD, LIBRARY, SHARED, pcsc_functions};

use crate::memory::slice;
use crate::reader::ServedReader;
use crate::served;
use crate::trace::traced;
use crate::types::{
    Code, Context, Dword, Handle, IoRequest, Long, ReaderState, SHARE_EXCLUSIVE, SHARE_SHARED,
};

macro_rules! nothing {
    ($($argument:ident),*) => {
        |_| None
    };
}

macro_rules! header {
    ($handle:ident, $sent:ident, $send:ident, $send_length:ident, $received:ident, $receive:ident, $receive_length:ident) => {
        // SAFETY: the caller's pointers are good until the function returns.
        |code| Some(unsafe { kept(code, $send, $send_length, $receive, $receive_length) })
    };
}

/// Declares the functions. `virtually` answers for the served card, under the same promises as the
/// function itself; `keeping` is what the trace has of it.
macro_rules! exported {
    ($(fn $name:ident = $call:ident($($argument:ident: $type:ty),*), $(sharing $share:ident,)? virtually $virtually:ident($($passed:ident),*), keeping $keeping:ident;)*) => {
        $(
            /// # Safety
            /// As PC/SC has it: pointers are null or valid for what the lengths next to them say.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> Long {
                let run = || match mode() {
                    // SAFETY: the caller's promises are those the callee asks for.
                    Mode::Virtual(reader) => Code::of(unsafe { served::$virtually(reader, $($passed),*) }),
                    Mode::Forward(library) => {
                        $(let $share = shared($share);)?
                        // SAFETY: as above; the function has the type it is called at.
                        Code(unsafe { (library.$name)($($argument),*) })
                    }
                    Mode::Missing => Code::NO_SERVICE,
                };
                traced(Call::$call, run, $keeping!($($argument),*))
            }
        )*
    };
}

pcsc_functions!(exported);

macro_rules! table {
    ($(fn $name:ident = $call:ident($($argument:ident: $type:ty),*), $(sharing $share:ident,)? virtually $virtually:ident($($passed:ident),*), keeping $keeping:ident;)*) => {
        /// Its functions.
        struct PcscLibrary {
            $($name: unsafe extern "C" fn($($type),*) -> Long,)*
            _library: libloading::Library,
        }

        impl PcscLibrary {
            /// Loads it; `None` when it is not there or lacks a function.
            fn load(path: &OsStr) -> Option<Self> {
                // SAFETY: libpcsclite has no initializers with preconditions, and the symbols are
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

pcsc_functions!(table);

/// # Safety
/// `send` is null or good for `send_length` octets; `receive_length` is null or valid, and after
/// success `receive` null or good for as many octets as it says.
unsafe fn kept(
    code: Code,
    send: *const u8,
    send_length: Dword,
    receive: *const u8,
    receive_length: *const Dword,
) -> Apdu {
    let mut apdu = Apdu {
        command: u32::try_from(send_length).unwrap_or(u32::MAX),
        ..Apdu::default()
    };
    // SAFETY: the caller's promises.
    unsafe {
        // No further: a length that the library refused, such as -1, has nothing behind it.
        if let Some(header) = slice(send, send_length.min(4)).first_chunk() {
            apdu.header = *header;
        }
        if code == Code::SUCCESS && !receive_length.is_null() {
            let response = slice(receive, *receive_length);
            apdu.response = u32::try_from(response.len()).unwrap_or(u32::MAX);
            if let Some(status) = response.last_chunk() {
                apdu.status = u16::from_be_bytes(*status);
            }
        }
    }
    apdu
}

/// pcsc-lite's own name, without which nothing of PC/SC works on Linux.
const PCSCLITE: &str = "libpcsclite.so.1";

enum Mode {
    /// A card that keymark serves.
    Virtual(ServedReader),
    /// The real library.
    Forward(PcscLibrary),
    /// There is none.
    Missing,
}

/// Decided once, by the environment.
fn mode() -> &'static Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    MODE.get_or_init(|| {
        if let Some(socket) = std::env::var_os(CARD) {
            return Mode::Virtual(ServedReader::new(PathBuf::from(socket)));
        }
        let library = std::env::var_os(LIBRARY).unwrap_or_else(|| PCSCLITE.into());
        // This very library would call itself for ever if it was the one that is named.
        let own: unsafe extern "C" fn(Context) -> Long = SCardReleaseContext;
        let library = PcscLibrary::load(&library)
            .filter(|library| !std::ptr::fn_addr_eq(library.SCardReleaseContext, own));
        library.map_or(Mode::Missing, Mode::Forward)
    })
}

/// Returns the share mode in which a card is asked for in place of a program's: shared with keymark, where that is
/// wanted. scdaemon can share cards itself (its option `pcsc-shared`), but then behaves otherwise than with its usual
/// configuration: it verifies PIN 81 anew though it knows the PIN, and caches none.
fn shared(share: Dword) -> Dword {
    static IS_SHARED: OnceLock<bool> = OnceLock::new();
    match share {
        SHARE_EXCLUSIVE if *IS_SHARED.get_or_init(|| std::env::var_os(SHARED).is_some()) => {
            SHARE_SHARED
        }
        other => other,
    }
}
