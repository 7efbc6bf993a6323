//! The functions' answers where the card is one that keymark serves. Pointers are the caller's: each
//! function is as unsafe as the one of PC/SC that it answers for.

#![allow(clippy::too_many_arguments, reason = "they are PC/SC's")]

use std::ffi::{CStr, c_char, c_void};

use keymark_shim_protocol::wire::Request;

use crate::memory::{fill, give_back, set, slice};
use crate::status_change;
use crate::types::{
    ATTRIBUTE_ATR, ATTRIBUTE_NAME, CARD_ABSENT, CARD_READY, Code, Context, Dword, EJECT_CARD,
    GET_FEATURE_REQUEST, Handle, IoRequest, LEAVE_CARD, MAX_APDU, PROTOCOL_T1, PROTOCOL_UNDEFINED,
    ReaderState, SHARE_DIRECT, SHARE_EXCLUSIVE, SHARE_SHARED,
};
use crate::virtual_reader::VirtualReader;

/// pcsc-lite's only group.
const GROUP: &str = "SCard$DefaultReaders";

fn code(done: Result<(), Code>) -> Code {
    done.err().unwrap_or(Code::SUCCESS)
}

/// A list of one name, as PC/SC has lists: a second NUL ends it.
fn list(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0, 0]].concat()
}

fn string(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

pub(crate) unsafe fn establish_context(
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
    unsafe { context.write(reader.users().establish()) };
    Code::SUCCESS
}

pub(crate) unsafe fn release_context(reader: &VirtualReader, context: Context) -> Code {
    code(reader.users().release(context))
}

pub(crate) unsafe fn is_valid_context(reader: &VirtualReader, context: Context) -> Code {
    reader.check(context)
}

/// # Safety
/// As `fill`.
unsafe fn names(
    reader: &VirtualReader,
    context: Context,
    name: &str,
    target: *mut c_char,
    length: *mut Dword,
) -> Code {
    if length.is_null() {
        return Code::INVALID_PARAMETER;
    }
    match reader.check(context) {
        // SAFETY: the caller's promises.
        Code::SUCCESS => unsafe { fill(&list(name), target.cast(), length) },
        invalid => invalid,
    }
}

pub(crate) unsafe fn list_readers(
    reader: &VirtualReader,
    context: Context,
    _: *const c_char,
    readers: *mut c_char,
    length: *mut Dword,
) -> Code {
    // SAFETY: PC/SC's promises are those of `names`.
    unsafe { names(reader, context, reader.name(), readers, length) }
}

pub(crate) unsafe fn list_reader_groups(
    reader: &VirtualReader,
    context: Context,
    groups: *mut c_char,
    length: *mut Dword,
) -> Code {
    // SAFETY: PC/SC's promises are those of `names`.
    unsafe { names(reader, context, GROUP, groups, length) }
}

pub(crate) unsafe fn free_memory(
    reader: &VirtualReader,
    context: Context,
    memory: *const c_void,
) -> Code {
    match reader.check(context) {
        Code::SUCCESS => give_back(memory.addr()),
        invalid => invalid,
    }
}

pub(crate) unsafe fn get_status_change(
    reader: &VirtualReader,
    context: Context,
    timeout: Dword,
    states: *mut ReaderState,
    count: Dword,
) -> Code {
    let user = match reader.user(context) {
        Ok(user) => user,
        Err(code) => return code,
    };
    let Ok(count) = usize::try_from(count) else {
        return Code::INVALID_PARAMETER;
    };
    if count == 0 {
        return Code::SUCCESS;
    }
    if states.is_null() {
        return Code::INVALID_PARAMETER;
    }
    // SAFETY: PC/SC wants `states` good for `count` elements, with their names strings.
    unsafe {
        let states = std::slice::from_raw_parts_mut(states, count);
        status_change::wait(reader, &user, timeout, states)
    }
}

pub(crate) unsafe fn cancel(reader: &VirtualReader, context: Context) -> Code {
    code(reader.user(context).map(|user| user.cancel()))
}

/// The served card speaks T=1 alone; a direct connection is for the reader, and needs no protocol.
fn check_terms(share: Dword, protocols: Dword) -> Result<(), Code> {
    match share {
        SHARE_DIRECT => Ok(()),
        SHARE_EXCLUSIVE | SHARE_SHARED if protocols & PROTOCOL_T1 != 0 => Ok(()),
        SHARE_EXCLUSIVE | SHARE_SHARED => Err(Code::PROTO_MISMATCH),
        _ => Err(Code::INVALID_VALUE),
    }
}

pub(crate) unsafe fn connect(
    reader: &VirtualReader,
    context: Context,
    name: *const c_char,
    share: Dword,
    protocols: Dword,
    handle: *mut Handle,
    active: *mut Dword,
) -> Code {
    if handle.is_null() || active.is_null() {
        return Code::INVALID_PARAMETER;
    }
    if name.is_null() {
        return Code::UNKNOWN_READER;
    }
    // SAFETY: PC/SC wants a string there.
    let known = unsafe { CStr::from_ptr(name) }.to_bytes() == reader.name().as_bytes();
    let connected = check_terms(share, protocols).and_then(|()| {
        reader.user(context)?;
        if !known {
            return Err(Code::UNKNOWN_READER);
        }
        reader.connect(context, share)
    });
    code(connected.map(|(connected, present)| {
        let protocol = if present {
            PROTOCOL_T1
        } else {
            PROTOCOL_UNDEFINED
        };
        // SAFETY: PC/SC wants both valid.
        unsafe {
            handle.write(connected);
            active.write(protocol);
        }
    }))
}

pub(crate) unsafe fn reconnect(
    reader: &VirtualReader,
    handle: Handle,
    share: Dword,
    protocols: Dword,
    initialization: Dword,
    active: *mut Dword,
) -> Code {
    if active.is_null() {
        return Code::INVALID_PARAMETER;
    }
    let reconnected = check_terms(share, protocols).and_then(|()| {
        if initialization >= EJECT_CARD {
            return Err(Code::INVALID_VALUE);
        }
        reader.users().share(handle, share)?;
        reader.with(handle, |connection| match initialization {
            LEAVE_CARD => connection.look(),
            _ => connection.reset(),
        })
    });
    code(reconnected.map(|()| {
        // SAFETY: PC/SC wants it valid.
        unsafe { active.write(PROTOCOL_T1) };
    }))
}

pub(crate) unsafe fn disconnect(
    reader: &VirtualReader,
    handle: Handle,
    disposition: Dword,
) -> Code {
    if disposition > EJECT_CARD {
        return Code::INVALID_VALUE;
    }
    code(reader.disconnect(handle, disposition))
}

pub(crate) unsafe fn status(
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
        let looked = connection.look();
        Ok((looked, connection.atr().to_vec()))
    });
    let (looked, answer) = match asked {
        Ok(asked) => asked,
        Err(code) => return code,
    };
    let absent = looked == Err(Code::REMOVED);
    // SAFETY: PC/SC's promises are those of `set` and `fill`.
    unsafe {
        set(state, if absent { CARD_ABSENT } else { CARD_READY });
        set(protocol, PROTOCOL_T1);
        let filled = [
            fill(&string(reader.name()), name.cast(), name_length),
            fill(&answer, atr, atr_length),
        ];
        let failed = filled.into_iter().find(|code| *code != Code::SUCCESS);
        code(looked.and_then(|()| failed.map_or(Ok(()), Err)))
    }
}

pub(crate) unsafe fn begin_transaction(reader: &VirtualReader, handle: Handle) -> Code {
    code(reader.with(handle, |connection| {
        connection.begin_transaction();
        Ok(())
    }))
}

pub(crate) unsafe fn end_transaction(
    reader: &VirtualReader,
    handle: Handle,
    disposition: Dword,
) -> Code {
    if disposition > EJECT_CARD {
        return Code::INVALID_VALUE;
    }
    code(reader.with(handle, |connection| connection.end_transaction(disposition)))
}

pub(crate) unsafe fn transmit(
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
    if send_length > MAX_APDU {
        return Code::INSUFFICIENT_BUFFER;
    }
    // SAFETY: PC/SC wants `send` good for `send_length` octets.
    let command = unsafe { slice(send, send_length) }.to_vec();
    match reader.with(handle, |connection| {
        connection.ask(&Request::Transmit(command))
    }) {
        Err(code) => code,
        // SAFETY: PC/SC wants `receive` good for `*receive_length` octets. It does not allocate here:
        // what asks for that elsewhere is a buffer for anything.
        Ok(response) => unsafe {
            set(receive_header, IoRequest::of(PROTOCOL_T1));
            *receive_length = (*receive_length).min(MAX_APDU);
            fill(&response, receive, receive_length)
        },
    }
}

/// No PIN pad, no features.
pub(crate) unsafe fn control(
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
    code(reader.with(handle, |_| match control_code {
        GET_FEATURE_REQUEST => Ok(()),
        _ => Err(Code::UNSUPPORTED_FEATURE),
    }))
}

pub(crate) unsafe fn get_attrib(
    reader: &VirtualReader,
    handle: Handle,
    attribute: Dword,
    value: *mut u8,
    length: *mut Dword,
) -> Code {
    if length.is_null() {
        return Code::INVALID_PARAMETER;
    }
    let asked = reader.with(handle, |connection| match attribute {
        ATTRIBUTE_ATR => Ok(connection.atr().to_vec()),
        ATTRIBUTE_NAME => Ok(string(reader.name())),
        _ => Err(Code::UNSUPPORTED_FEATURE),
    });
    match asked {
        // SAFETY: PC/SC's promises are those of `fill`.
        Ok(octets) => unsafe { fill(&octets, value, length) },
        Err(code) => code,
    }
}

pub(crate) unsafe fn set_attrib(
    reader: &VirtualReader,
    handle: Handle,
    _: Dword,
    _: *const u8,
    _: Dword,
) -> Code {
    code(reader.with(handle, |_| Err(Code::UNSUPPORTED_FEATURE)))
}
