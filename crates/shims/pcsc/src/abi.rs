//! The functions as C programs call them. Each goes to the served card or to the real library.

#![allow(
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    reason = "the interface is PC/SC's, which documents it"
)]

use std::ffi::{CStr, OsStr, c_char, c_void};

use keymark_shim_protocol::READER;
use keymark_shim_protocol::trace::{Apdu, Call};
use keymark_shim_protocol::wire::Request;

use crate::mode::{Mode, mode};
use crate::trace::traced;
use crate::types::{
    AUTOALLOCATE, CARD_ABSENT, CARD_READY, Code, Context, Dword, GET_FEATURE_REQUEST, Handle,
    IoRequest, Long, MAX_ATR, PROTOCOL_RAW, PROTOCOL_T0, PROTOCOL_T1, ReaderState, STATE_IGNORE,
    STATE_UNKNOWN,
};
use crate::virtual_reader::VirtualReader;

const fn protocol_header(protocol: Dword) -> IoRequest {
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

/// Declares the functions and the table of the real library's: `virtually` answers for the served
/// card, under the same promises as the function itself.
macro_rules! interface {
    ($(fn $name:ident = $call:ident($($argument:ident: $type:ty),*), virtually $virtually:path;)*) => {
        /// The real library's functions.
        pub(crate) struct Library {
            $($name: unsafe extern "C" fn($($type),*) -> Long,)*
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
                    Mode::Virtual(reader) => unsafe { $virtually(reader, $($argument),*) },
                    // SAFETY: as above; the function has the type it is called at.
                    Mode::Forward(library) => Code(unsafe { (library.$name)($($argument),*) }),
                    Mode::Missing => Code::NO_SERVICE,
                };
                // SAFETY: the caller's pointers are good until this function returns.
                traced(Call::$call, run, |code| unsafe { kept::$name(code, $($argument),*) })
            }

        )*
    };
}

interface! {
    fn SCardEstablishContext = EstablishContext(scope: Dword, reserved1: *const c_void, reserved2: *const c_void, context: *mut Context), virtually establish_context;
    fn SCardReleaseContext = ReleaseContext(context: Context), virtually release_context;
    fn SCardIsValidContext = IsValidContext(context: Context), virtually is_valid_context;
    fn SCardListReaders = ListReaders(context: Context, groups: *const c_char, readers: *mut c_char, length: *mut Dword), virtually list_readers;
    fn SCardListReaderGroups = ListReaderGroups(context: Context, groups: *mut c_char, length: *mut Dword), virtually list_reader_groups;
    fn SCardFreeMemory = FreeMemory(context: Context, memory: *const c_void), virtually free_memory;
    fn SCardGetStatusChange = GetStatusChange(context: Context, timeout: Dword, states: *mut ReaderState, count: Dword), virtually get_status_change;
    fn SCardCancel = Cancel(context: Context), virtually cancel;
    fn SCardConnect = Connect(context: Context, reader: *const c_char, share: Dword, protocols: Dword, handle: *mut Handle, active: *mut Dword), virtually connect;
    fn SCardReconnect = Reconnect(handle: Handle, share: Dword, protocols: Dword, initialization: Dword, active: *mut Dword), virtually reconnect;
    fn SCardDisconnect = Disconnect(handle: Handle, disposition: Dword), virtually disconnect;
    fn SCardStatus = Status(handle: Handle, reader: *mut c_char, reader_length: *mut Dword, state: *mut Dword, protocol: *mut Dword, atr: *mut u8, atr_length: *mut Dword), virtually status;
    fn SCardBeginTransaction = BeginTransaction(handle: Handle), virtually begin_transaction;
    fn SCardEndTransaction = EndTransaction(handle: Handle, disposition: Dword), virtually end_transaction;
    fn SCardTransmit = Transmit(handle: Handle, send_header: *const IoRequest, send: *const u8, send_length: Dword, receive_header: *mut IoRequest, receive: *mut u8, receive_length: *mut Dword), virtually transmit;
    fn SCardControl = Control(handle: Handle, code: Dword, send: *const c_void, send_length: Dword, receive: *mut c_void, receive_length: Dword, returned: *mut Dword), virtually control;
    fn SCardGetAttrib = GetAttrib(handle: Handle, attribute: Dword, value: *mut u8, length: *mut Dword), virtually get_attrib;
    fn SCardSetAttrib = SetAttrib(handle: Handle, attribute: Dword, value: *const u8, length: Dword), virtually set_attrib;
}

/// What the trace keeps of each call beside its name and times: something of SCardTransmit only.
mod kept {
    use super::*;

    macro_rules! nothing {
        ($($name:ident($($type:ty),*);)*) => {
            $(pub(super) unsafe fn $name(_: Code, $(_: $type),*) -> Option<Apdu> { None })*
        };
    }

    nothing! {
        SCardEstablishContext(Dword, *const c_void, *const c_void, *mut Context);
        SCardReleaseContext(Context);
        SCardIsValidContext(Context);
        SCardListReaders(Context, *const c_char, *mut c_char, *mut Dword);
        SCardListReaderGroups(Context, *mut c_char, *mut Dword);
        SCardFreeMemory(Context, *const c_void);
        SCardGetStatusChange(Context, Dword, *mut ReaderState, Dword);
        SCardCancel(Context);
        SCardConnect(Context, *const c_char, Dword, Dword, *mut Handle, *mut Dword);
        SCardReconnect(Handle, Dword, Dword, Dword, *mut Dword);
        SCardDisconnect(Handle, Dword);
        SCardStatus(Handle, *mut c_char, *mut Dword, *mut Dword, *mut Dword, *mut u8, *mut Dword);
        SCardBeginTransaction(Handle);
        SCardEndTransaction(Handle, Dword);
        SCardControl(Handle, Dword, *const c_void, Dword, *mut c_void, Dword, *mut Dword);
        SCardGetAttrib(Handle, Dword, *mut u8, *mut Dword);
        SCardSetAttrib(Handle, Dword, *const u8, Dword);
    }

    /// Header, lengths and status word: nothing of what could be secret.
    ///
    /// # Safety
    /// As SCardTransmit.
    pub(super) unsafe fn SCardTransmit(
        code: Code,
        _: Handle,
        _: *const IoRequest,
        send: *const u8,
        send_length: Dword,
        _: *mut IoRequest,
        receive: *mut u8,
        receive_length: *mut Dword,
    ) -> Option<Apdu> {
        let mut apdu = Apdu {
            command: u32::try_from(send_length).unwrap_or(u32::MAX),
            ..Apdu::default()
        };
        // SAFETY: `send` is good for `send_length` octets, and the response for as many as the call
        // has put into `receive_length` if it succeeded.
        unsafe {
            if let Some(header) = slice(send, send_length).first_chunk() {
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
        Some(apdu)
    }
}

/// # Safety
/// `start` is null or good for reading `length` octets.
unsafe fn slice<'a>(start: *const u8, length: Dword) -> &'a [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, usize::try_from(length).unwrap_or(0)) }
}

/// Puts octets where the caller wants them: to a null pointer only their number.
///
/// # Safety
/// `length` is null or valid; `target` is null or good for `*length` octets.
unsafe fn fill(octets: &[u8], target: *mut u8, length: *mut Dword) -> Code {
    if length.is_null() {
        return if target.is_null() {
            Code::SUCCESS
        } else {
            Code::INVALID_PARAMETER
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        let room = *length;
        if room == AUTOALLOCATE {
            return Code::UNSUPPORTED_FEATURE;
        }
        *length = octets.len() as Dword;
        if target.is_null() {
            return Code::SUCCESS;
        }
        if room < octets.len() as Dword {
            return Code::INSUFFICIENT_BUFFER;
        }
        target.copy_from_nonoverlapping(octets.as_ptr(), octets.len());
    }
    Code::SUCCESS
}

/// # Safety
/// `target` is null or valid.
unsafe fn set<T>(target: *mut T, value: T) {
    if !target.is_null() {
        // SAFETY: the caller's promise.
        unsafe { target.write(value) };
    }
}

fn code(done: Result<(), Code>) -> Code {
    done.err().unwrap_or(Code::SUCCESS)
}

/// A list of one name, as PC/SC has lists: a second NUL ends it.
fn list(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0, 0]].concat()
}

unsafe fn establish_context(
    reader: &VirtualReader,
    _: Dword,
    _: *const c_void,
    _: *const c_void,
    context: *mut Context,
) -> Code {
    if context.is_null() {
        return Code::INVALID_PARAMETER;
    }
    // SAFETY: PC/SC wants it valid.
    unsafe { context.write(reader.establish()) };
    Code::SUCCESS
}

unsafe fn release_context(reader: &VirtualReader, context: Context) -> Code {
    reader.release(context)
}

unsafe fn is_valid_context(reader: &VirtualReader, context: Context) -> Code {
    reader.check(context)
}

unsafe fn list_readers(
    reader: &VirtualReader,
    context: Context,
    _: *const c_char,
    readers: *mut c_char,
    length: *mut Dword,
) -> Code {
    match reader.check(context) {
        // SAFETY: PC/SC's promises are those of `fill`.
        Code::SUCCESS => unsafe { fill(&list(READER), readers.cast(), length) },
        invalid => invalid,
    }
}

unsafe fn list_reader_groups(
    reader: &VirtualReader,
    context: Context,
    groups: *mut c_char,
    length: *mut Dword,
) -> Code {
    match reader.check(context) {
        // SAFETY: PC/SC's promises are those of `fill`.
        Code::SUCCESS => unsafe { fill(&list("SCard$DefaultReaders"), groups.cast(), length) },
        invalid => invalid,
    }
}

unsafe fn free_memory(_: &VirtualReader, _: Context, _: *const c_void) -> Code {
    // Nothing is ever allocated for the caller.
    Code::INVALID_PARAMETER
}

unsafe fn get_status_change(
    reader: &VirtualReader,
    context: Context,
    timeout: Dword,
    states: *mut ReaderState,
    count: Dword,
) -> Code {
    let checked = reader.check(context);
    if checked != Code::SUCCESS || states.is_null() {
        return checked;
    }
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: PC/SC wants `states` good for `count` elements, with their names valid or null.
    let states = unsafe { std::slice::from_raw_parts_mut(states, count) };
    let mut code = Code::TIMEOUT;
    for state in states {
        if state.current & STATE_IGNORE != 0 || state.reader.is_null() {
            state.event = STATE_IGNORE;
            continue;
        }
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(state.reader) };
        if name.to_bytes() != READER.as_bytes() {
            // Among them PC/SC's "\\?PnP?\Notification": no reader ever comes or goes.
            state.event = STATE_UNKNOWN;
            continue;
        }
        match reader.wait_for_change(state.current, timeout) {
            Ok((event, atr)) => {
                state.event = event;
                let length = atr.len().min(MAX_ATR);
                state.atr[..length].copy_from_slice(&atr[..length]);
                state.atr_length = length as Dword;
                code = Code::SUCCESS;
            }
            Err(ended) => {
                state.event = state.current;
                code = ended;
            }
        }
    }
    code
}

unsafe fn cancel(reader: &VirtualReader, context: Context) -> Code {
    reader.cancel();
    reader.check(context)
}

unsafe fn connect(
    reader: &VirtualReader,
    context: Context,
    name: *const c_char,
    _: Dword,
    protocols: Dword,
    handle: *mut Handle,
    active: *mut Dword,
) -> Code {
    if name.is_null() || handle.is_null() || protocols & PROTOCOL_T1 == 0 {
        return Code::INVALID_PARAMETER;
    }
    // SAFETY: PC/SC wants a string there.
    if unsafe { CStr::from_ptr(name) }.to_bytes() != READER.as_bytes() {
        return Code::UNKNOWN_READER;
    }
    code(reader.connect(context).map(|connected| {
        // SAFETY: PC/SC wants both valid.
        unsafe {
            handle.write(connected);
            set(active, PROTOCOL_T1);
        }
    }))
}

unsafe fn reconnect(
    reader: &VirtualReader,
    handle: Handle,
    _: Dword,
    _: Dword,
    initialization: Dword,
    active: *mut Dword,
) -> Code {
    // SAFETY: PC/SC wants it null or valid.
    unsafe { set(active, PROTOCOL_T1) };
    if initialization == 0 {
        return code(reader.with(handle, |_| Ok(())));
    }
    code(reader.reset(handle))
}

unsafe fn disconnect(reader: &VirtualReader, handle: Handle, disposition: Dword) -> Code {
    reader.disconnect(handle, disposition)
}

unsafe fn status(
    reader: &VirtualReader,
    handle: Handle,
    name: *mut c_char,
    name_length: *mut Dword,
    state: *mut Dword,
    protocol: *mut Dword,
    atr: *mut u8,
    atr_length: *mut Dword,
) -> Code {
    let asked = reader.with(handle, |connection| {
        let present = connection.ask(&Request::Status).is_ok();
        Ok((present, connection.atr().to_vec()))
    });
    let (present, answer) = match asked {
        Ok(asked) => asked,
        Err(code) => return code,
    };
    // SAFETY: PC/SC's promises are those of `set` and `fill`.
    unsafe {
        set(state, if present { CARD_READY } else { CARD_ABSENT });
        set(protocol, PROTOCOL_T1);
        let named = fill(&list(READER), name.cast(), name_length);
        let answered = fill(&answer, atr, atr_length);
        if !present {
            return Code::REMOVED;
        }
        if named == Code::SUCCESS {
            answered
        } else {
            named
        }
    }
}

/// One command at a time goes to the card in any case; nobody is kept out for longer.
unsafe fn begin_transaction(reader: &VirtualReader, handle: Handle) -> Code {
    code(reader.with(handle, |_| Ok(())))
}

unsafe fn end_transaction(reader: &VirtualReader, handle: Handle, _: Dword) -> Code {
    code(reader.with(handle, |_| Ok(())))
}

unsafe fn transmit(
    reader: &VirtualReader,
    handle: Handle,
    _: *const IoRequest,
    send: *const u8,
    send_length: Dword,
    receive_header: *mut IoRequest,
    receive: *mut u8,
    receive_length: *mut Dword,
) -> Code {
    if send.is_null() || receive.is_null() || receive_length.is_null() {
        return Code::INVALID_PARAMETER;
    }
    // SAFETY: PC/SC wants `send` good for `send_length` octets.
    let command = unsafe { slice(send, send_length) }.to_vec();
    match reader.with(handle, |connection| {
        connection.ask(&Request::Transmit(command))
    }) {
        Err(code) => code,
        // SAFETY: PC/SC wants `receive` good for `*receive_length` octets.
        Ok(response) => unsafe {
            set(receive_header, protocol_header(PROTOCOL_T1));
            fill(&response, receive, receive_length)
        },
    }
}

/// No PIN pad, no features.
unsafe fn control(
    reader: &VirtualReader,
    handle: Handle,
    control_code: Dword,
    _: *const c_void,
    _: Dword,
    _: *mut c_void,
    _: Dword,
    returned: *mut Dword,
) -> Code {
    // SAFETY: PC/SC wants it null or valid.
    unsafe { set(returned, 0) };
    if control_code != GET_FEATURE_REQUEST {
        return Code::UNSUPPORTED_FEATURE;
    }
    code(reader.with(handle, |_| Ok(())))
}

unsafe fn get_attrib(_: &VirtualReader, _: Handle, _: Dword, _: *mut u8, _: *mut Dword) -> Code {
    Code::UNSUPPORTED_FEATURE
}

unsafe fn set_attrib(_: &VirtualReader, _: Handle, _: Dword, _: *const u8, _: Dword) -> Code {
    Code::UNSUPPORTED_FEATURE
}
