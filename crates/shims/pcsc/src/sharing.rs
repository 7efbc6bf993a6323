//! A card shared with keymark by a program that asks for it alone.
//!
//! scdaemon can share cards itself (its option `pcsc-shared`), but then behaves otherwise than with its
//! usual configuration: it verifies PIN 81 anew though it knows the PIN, and caches none.

#![allow(non_snake_case, reason = "the names are PC/SC's")]

use std::ffi::c_char;
use std::sync::OnceLock;

use crate::library::Library;
use crate::types::{Code, Context, Dword, Handle, Long, SHARE_EXCLUSIVE, SHARE_SHARED};

type Connect =
    unsafe extern "C" fn(Context, *const c_char, Dword, Dword, *mut Handle, *mut Dword) -> Long;
type Reconnect = unsafe extern "C" fn(Handle, Dword, Dword, Dword, *mut Dword) -> Long;

/// The functions that those below stand before.
static REAL: OnceLock<(Connect, Reconnect)> = OnceLock::new();

/// The library with connections shared.
pub(crate) fn sharing(mut library: Library) -> Library {
    REAL.get_or_init(|| (library.SCardConnect, library.SCardReconnect));
    library.SCardConnect = SCardConnect;
    library.SCardReconnect = SCardReconnect;
    library
}

const fn shared(share: Dword) -> Dword {
    match share {
        SHARE_EXCLUSIVE => SHARE_SHARED,
        other => other,
    }
}

/// # Safety
/// As PC/SC has it.
unsafe extern "C" fn SCardConnect(
    context: Context,
    reader: *const c_char,
    share: Dword,
    protocols: Dword,
    handle: *mut Handle,
    active: *mut Dword,
) -> Long {
    let Some((connect, _)) = REAL.get() else {
        return Code::INTERNAL_ERROR.0;
    };
    // SAFETY: the caller's promises are those of the real function.
    unsafe { connect(context, reader, shared(share), protocols, handle, active) }
}

/// # Safety
/// As PC/SC has it.
unsafe extern "C" fn SCardReconnect(
    handle: Handle,
    share: Dword,
    protocols: Dword,
    initialization: Dword,
    active: *mut Dword,
) -> Long {
    let Some((_, reconnect)) = REAL.get() else {
        return Code::INTERNAL_ERROR.0;
    };
    // SAFETY: the caller's promises are those of the real function.
    unsafe { reconnect(handle, shared(share), protocols, initialization, active) }
}
