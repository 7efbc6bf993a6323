//! The functions as C programs call them. Each goes to the served card or to the real library.

#![allow(
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    reason = "the interface is PC/SC's, which documents it"
)]

use std::ffi::{c_char, c_void};

use keymark_shim_protocol::trace::{Apdu, Call};

use crate::functions::functions;
use crate::memory::slice;
use crate::mode::{Mode, mode};
use crate::served;
use crate::trace::traced;
use crate::types::{
    Code, Context, Dword, Handle, IoRequest, Long, PROTOCOL_RAW, PROTOCOL_T0, PROTOCOL_T1,
    ReaderState,
};

#[unsafe(no_mangle)]
pub static g_rgSCardT0Pci: IoRequest = IoRequest::of(PROTOCOL_T0);
#[unsafe(no_mangle)]
pub static g_rgSCardT1Pci: IoRequest = IoRequest::of(PROTOCOL_T1);
#[unsafe(no_mangle)]
pub static g_rgSCardRawPci: IoRequest = IoRequest::of(PROTOCOL_RAW);

/// What the trace keeps of most calls beside their name and times.
macro_rules! nothing {
    ($($argument:ident),*) => {
        |_| None
    };
}

/// What it keeps of SCardTransmit: header, lengths and status word, nothing of what could be secret.
macro_rules! header {
    ($handle:ident, $sent:ident, $send:ident, $send_length:ident, $received:ident, $receive:ident, $receive_length:ident) => {
        // SAFETY: the caller's pointers are good until the function returns.
        |code| Some(unsafe { kept(code, $send, $send_length, $receive, $receive_length) })
    };
}

/// Declares the functions. `virtually` answers for the served card, under the same promises as the
/// function itself; `keeping` is what the trace has of it.
macro_rules! exported {
    ($(fn $name:ident = $call:ident($($argument:ident: $type:ty),*), virtually $virtually:ident, keeping $keeping:ident;)*) => {
        $(
            /// # Safety
            /// As PC/SC has it: pointers are null or valid for what the lengths beside them say.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> Long {
                let run = || match mode(SCardIsValidContext) {
                    // SAFETY: the caller's promises are those the callee asks for.
                    Mode::Virtual(reader) => unsafe { served::$virtually(reader, $($argument),*) },
                    // SAFETY: as above; the function has the type it is called at.
                    Mode::Forward(library) => Code(unsafe { (library.$name)($($argument),*) }),
                    Mode::Missing => Code::NO_SERVICE,
                };
                traced(Call::$call, run, $keeping!($($argument),*))
            }
        )*
    };
}

functions!(exported);

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
