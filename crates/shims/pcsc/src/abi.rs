//! The functions as C programs call them. Each goes to the served card or to the real library.

#![allow(
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    reason = "the interface is PC/SC's, which documents it"
)]

use std::ffi::{OsStr, c_char, c_void};

use keymark_shim_protocol::trace::{Apdu, Call};

use crate::memory::slice;
use crate::mode::{Mode, mode};
use crate::served;
use crate::trace::traced;
use crate::types::{
    Code, Context, Dword, Handle, IoRequest, Long, PROTOCOL_RAW, PROTOCOL_T0, PROTOCOL_T1,
    ReaderState,
};

pub(crate) const fn protocol_header(protocol: Dword) -> IoRequest {
    IoRequest {
        protocol,
        length: size_of::<IoRequest>() as Dword,
    }
}

#[unsafe(no_mangle)]
pub static g_rgSCardT0Pci: IoRequest = protocol_header(PROTOCOL_T0);
#[unsafe(no_mangle)]
pub static g_rgSCardT1Pci: IoRequest = protocol_header(PROTOCOL_T1);
#[unsafe(no_mangle)]
pub static g_rgSCardRawPci: IoRequest = protocol_header(PROTOCOL_RAW);

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

/// Declares the functions and the table of the real library's. `virtually` answers for the served
/// card, under the same promises as the function itself; `keeping` is what the trace has of it.
macro_rules! interface {
    ($(fn $name:ident = $call:ident($($argument:ident: $type:ty),*), virtually $virtually:ident, keeping $keeping:ident;)*) => {
        /// The real library's functions.
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

        $(
            /// # Safety
            /// As PC/SC has it: pointers are null or valid for what the lengths beside them say.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> Long {
                let run = || match mode() {
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

interface! {
    fn SCardEstablishContext = EstablishContext(scope: Dword, reserved1: *const c_void, reserved2: *const c_void, context: *mut Context), virtually establish_context, keeping nothing;
    fn SCardReleaseContext = ReleaseContext(context: Context), virtually release_context, keeping nothing;
    fn SCardIsValidContext = IsValidContext(context: Context), virtually is_valid_context, keeping nothing;
    fn SCardListReaders = ListReaders(context: Context, groups: *const c_char, readers: *mut c_char, length: *mut Dword), virtually list_readers, keeping nothing;
    fn SCardListReaderGroups = ListReaderGroups(context: Context, groups: *mut c_char, length: *mut Dword), virtually list_reader_groups, keeping nothing;
    fn SCardFreeMemory = FreeMemory(context: Context, memory: *const c_void), virtually free_memory, keeping nothing;
    fn SCardGetStatusChange = GetStatusChange(context: Context, timeout: Dword, states: *mut ReaderState, count: Dword), virtually get_status_change, keeping nothing;
    fn SCardCancel = Cancel(context: Context), virtually cancel, keeping nothing;
    fn SCardConnect = Connect(context: Context, reader: *const c_char, share: Dword, protocols: Dword, handle: *mut Handle, active: *mut Dword), virtually connect, keeping nothing;
    fn SCardReconnect = Reconnect(handle: Handle, share: Dword, protocols: Dword, initialization: Dword, active: *mut Dword), virtually reconnect, keeping nothing;
    fn SCardDisconnect = Disconnect(handle: Handle, disposition: Dword), virtually disconnect, keeping nothing;
    fn SCardStatus = Status(handle: Handle, reader: *mut c_char, reader_length: *mut Dword, state: *mut Dword, protocol: *mut Dword, atr: *mut u8, atr_length: *mut Dword), virtually status, keeping nothing;
    fn SCardBeginTransaction = BeginTransaction(handle: Handle), virtually begin_transaction, keeping nothing;
    fn SCardEndTransaction = EndTransaction(handle: Handle, disposition: Dword), virtually end_transaction, keeping nothing;
    fn SCardTransmit = Transmit(handle: Handle, send_header: *const IoRequest, send: *const u8, send_length: Dword, receive_header: *mut IoRequest, receive: *mut u8, receive_length: *mut Dword), virtually transmit, keeping header;
    fn SCardControl = Control(handle: Handle, code: Dword, send: *const c_void, send_length: Dword, receive: *mut c_void, receive_length: Dword, returned: *mut Dword), virtually control, keeping nothing;
    fn SCardGetAttrib = GetAttrib(handle: Handle, attribute: Dword, value: *mut u8, length: *mut Dword), virtually get_attrib, keeping nothing;
    fn SCardSetAttrib = SetAttrib(handle: Handle, attribute: Dword, value: *const u8, length: Dword), virtually set_attrib, keeping nothing;
}

impl Library {
    /// Whether the library that was named is this very one, which would call itself for ever.
    pub(crate) fn is_this_one(&self) -> bool {
        let own: unsafe extern "C" fn(Context) -> Long = SCardIsValidContext;
        std::ptr::fn_addr_eq(self.SCardIsValidContext, own)
    }
}

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
