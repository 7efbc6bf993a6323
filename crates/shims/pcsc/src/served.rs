//! The functions' answers where the card is one that keymark serves. Pointers are the caller's: each
//! function is as unsafe as the one of PC/SC that it answers for.

#![allow(clippy::too_many_arguments, reason = "they are PC/SC's")]

use std::ffi::{CStr, c_char};
use std::time::Duration;

use keymark_shim_protocol::READER;
use keymark_shim_protocol::wire::CardRequest;

use crate::memory::{fill, set, slice};
use crate::reader::{ServedReader, User};
use crate::trace::now;
use crate::types::{
    CARD_ABSENT, CARD_READY, Code, Context, Dword, EJECT_CARD, GET_FEATURE_REQUEST, Handle,
    INFINITE, IoRequest, LEAVE_CARD, MAX_APDU, MAX_ATR, PROTOCOL_T1, PROTOCOL_UNDEFINED,
    ReaderState, SHARE_DIRECT, SHARE_EXCLUSIVE, SHARE_SHARED, STATE_CHANGED, STATE_EMPTY,
    STATE_IGNORE, STATE_MUTE, STATE_PRESENT, STATE_UNAWARE, STATE_UNKNOWN,
};

type Done = Result<(), Code>;

/// Refuses a null pointer.
fn not_null<T>(pointer: *const T) -> Done {
    if pointer.is_null() {
        return Err(Code::INVALID_PARAMETER);
    }
    Ok(())
}

/// The reader's name with that number of NULs behind it: one ends a string, a second one PC/SC's lists.
fn terminated(nuls: usize) -> Vec<u8> {
    [READER.as_bytes(), &[0; 2][..nuls]].concat()
}

pub(crate) unsafe fn establish_context(reader: &ServedReader, context: *mut Context) -> Done {
    not_null(context)?;
    // SAFETY: PC/SC wants it valid.
    unsafe { context.write(reader.users().establish()) };
    Ok(())
}

pub(crate) unsafe fn release_context(reader: &ServedReader, context: Context) -> Done {
    reader.users().release(context)
}

pub(crate) unsafe fn list_readers(
    reader: &ServedReader,
    context: Context,
    readers: *mut c_char,
    length: *mut Dword,
) -> Done {
    not_null(length)?;
    reader.user(context)?;
    // SAFETY: PC/SC's promises are those of `fill`.
    unsafe { fill(&terminated(2), readers.cast(), length) }
}

pub(crate) unsafe fn get_status_change(
    reader: &ServedReader,
    context: Context,
    timeout: Dword,
    states: *mut ReaderState,
    count: Dword,
) -> Done {
    let user = reader.user(context)?;
    let count = usize::try_from(count).map_err(|_| Code::INVALID_PARAMETER)?;
    if count == 0 {
        return Ok(());
    }
    not_null(states)?;
    // SAFETY: PC/SC wants `states` good for `count` elements, with their names strings.
    unsafe {
        let states = std::slice::from_raw_parts_mut(states, count);
        wait(reader, &user, timeout, states)
    }
}

pub(crate) unsafe fn cancel(reader: &ServedReader, context: Context) -> Done {
    reader.user(context)?.cancel();
    Ok(())
}

/// The served card speaks T=1 alone; a direct connection is for the reader, and needs no protocol.
fn check_terms(share: Dword, protocols: Dword) -> Done {
    match share {
        SHARE_DIRECT => Ok(()),
        SHARE_EXCLUSIVE | SHARE_SHARED if protocols & PROTOCOL_T1 != 0 => Ok(()),
        SHARE_EXCLUSIVE | SHARE_SHARED => Err(Code::PROTO_MISMATCH),
        _ => Err(Code::INVALID_VALUE),
    }
}

pub(crate) unsafe fn connect(
    reader: &ServedReader,
    context: Context,
    name: *const c_char,
    share: Dword,
    protocols: Dword,
    handle: *mut Handle,
    active: *mut Dword,
) -> Done {
    not_null(handle)?;
    not_null(active)?;
    if name.is_null() {
        return Err(Code::UNKNOWN_READER);
    }
    // SAFETY: PC/SC wants a string there.
    let known = unsafe { CStr::from_ptr(name) }.to_bytes() == READER.as_bytes();
    check_terms(share, protocols)?;
    reader.user(context)?;
    if !known {
        return Err(Code::UNKNOWN_READER);
    }
    let (connected, present) = reader.connect(context, share)?;
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
    Ok(())
}

pub(crate) unsafe fn reconnect(
    reader: &ServedReader,
    handle: Handle,
    share: Dword,
    protocols: Dword,
    initialization: Dword,
    active: *mut Dword,
) -> Done {
    not_null(active)?;
    check_terms(share, protocols)?;
    if initialization >= EJECT_CARD {
        return Err(Code::INVALID_VALUE);
    }
    reader.users().share(handle, share)?;
    reader.with(handle, |connection| match initialization {
        LEAVE_CARD => connection.look(),
        _ => connection.reset(),
    })?;
    // SAFETY: PC/SC wants it valid.
    unsafe { active.write(PROTOCOL_T1) };
    Ok(())
}

pub(crate) unsafe fn disconnect(reader: &ServedReader, handle: Handle, disposition: Dword) -> Done {
    if disposition > EJECT_CARD {
        return Err(Code::INVALID_VALUE);
    }
    reader.disconnect(handle, disposition)
}

pub(crate) unsafe fn status(
    reader: &ServedReader,
    handle: Handle,
    name: *mut c_char,
    name_length: *mut Dword,
    state: *mut Dword,
    protocol: *mut Dword,
    atr: *mut u8,
    atr_length: *mut Dword,
) -> Done {
    let (looked, answer) = reader.with(handle, |connection| {
        let looked = connection.look();
        Ok((looked, connection.atr.clone()))
    })?;
    let absent = looked == Err(Code::REMOVED);
    // SAFETY: PC/SC's promises are those of `set` and `fill`.
    unsafe {
        set(state, if absent { CARD_ABSENT } else { CARD_READY });
        set(protocol, PROTOCOL_T1);
        let name = fill(&terminated(1), name.cast(), name_length);
        let answer = fill(&answer, atr, atr_length);
        looked.and(name).and(answer)
    }
}

pub(crate) unsafe fn begin_transaction(reader: &ServedReader, handle: Handle) -> Done {
    reader.with(handle, |connection| {
        connection.begin_transaction();
        Ok(())
    })
}

pub(crate) unsafe fn end_transaction(
    reader: &ServedReader,
    handle: Handle,
    disposition: Dword,
) -> Done {
    if disposition > EJECT_CARD {
        return Err(Code::INVALID_VALUE);
    }
    reader.with(handle, |connection| connection.end_transaction(disposition))
}

pub(crate) unsafe fn transmit(
    reader: &ServedReader,
    handle: Handle,
    send: *const u8,
    send_length: Dword,
    receive_header: *mut IoRequest,
    receive: *mut u8,
    receive_length: *mut Dword,
) -> Done {
    not_null(send)?;
    not_null(receive)?;
    not_null(receive_length)?;
    if send_length > MAX_APDU {
        return Err(Code::INSUFFICIENT_BUFFER);
    }
    // SAFETY: PC/SC wants `send` good for `send_length` octets.
    let command = unsafe { slice(send, send_length) }.to_vec();
    let response = reader.with(handle, |connection| {
        connection.ask(&CardRequest::Transmit(command))
    })?;
    // SAFETY: PC/SC wants `receive` good for `*receive_length` octets.
    unsafe {
        set(receive_header, IoRequest::of(PROTOCOL_T1));
        *receive_length = (*receive_length).min(MAX_APDU);
        fill(&response, receive, receive_length)
    }
}

/// No PIN pad, no features.
pub(crate) unsafe fn control(
    reader: &ServedReader,
    handle: Handle,
    control_code: Dword,
    returned: *mut Dword,
) -> Done {
    // SAFETY: PC/SC wants it null or valid.
    unsafe { set(returned, 0) };
    reader.with(handle, |_| match control_code {
        GET_FEATURE_REQUEST => Ok(()),
        _ => Err(Code::UNSUPPORTED_FEATURE),
    })
}

/// Interval at which a wait looks for a change. The server tells of none by itself.
const STEP: Duration = Duration::from_millis(100);
/// Name of the list of readers, which never changes here.
const NOTIFICATION: &[u8] = br"\\?PnP?\Notification";

/// Fills the caller's elements, and returns once one of them has changed.
///
/// # Safety
/// The elements' names are null or strings.
unsafe fn wait(
    reader: &ServedReader,
    user: &User,
    timeout: Dword,
    states: &mut [ReaderState],
) -> Result<(), Code> {
    if states.iter().any(|state| state.reader.is_null()) {
        return Err(Code::INVALID_VALUE);
    }
    if states.iter().all(|state| state.current & STATE_IGNORE != 0) {
        for state in states {
            state.event = STATE_IGNORE;
        }
        return Ok(());
    }
    let begun = *user.cancels();
    let begin = now();
    #[allow(
        clippy::useless_conversion,
        reason = "a DWORD has 32 bits on some architectures"
    )]
    let patience = (timeout != INFINITE && timeout != Dword::MAX)
        .then(|| Duration::from_millis(u64::from(timeout)));
    loop {
        if update(reader, user, states)? {
            return Ok(());
        }
        let waited = Duration::from_nanos(now().saturating_sub(begin));
        let left = patience.map_or(STEP, |patience| patience.saturating_sub(waited));
        if left.is_zero() {
            return Err(Code::TIMEOUT);
        }
        if user.cancelled_within(begun, left.min(STEP)) {
            return Err(Code::CANCELLED);
        }
    }
}

/// Sets every element to what is; whether one of them differs from what the caller knew.
fn update(reader: &ServedReader, user: &User, states: &mut [ReaderState]) -> Result<bool, Code> {
    let mut changed = false;
    for state in states {
        // SAFETY: it is not null, as was checked, and PC/SC wants a string there.
        let name = unsafe { CStr::from_ptr(state.reader) }.to_bytes();
        if state.current & STATE_IGNORE != 0 {
            state.event = STATE_IGNORE;
        } else if name.eq_ignore_ascii_case(NOTIFICATION) {
            state.event = STATE_UNAWARE;
        } else if name == READER.as_bytes() {
            let (is, atr) = reader.state(user);
            let known = state.current & (STATE_EMPTY | STATE_PRESENT | STATE_MUTE);
            let differs = known != is;
            state.event = is | if differs { STATE_CHANGED } else { 0 };
            let length = atr.len().min(MAX_ATR);
            state.atr[..length].copy_from_slice(&atr[..length]);
            state.atr_length = length as Dword;
            changed |= differs;
        } else {
            state.event = STATE_UNKNOWN;
            return Err(Code::UNKNOWN_READER);
        }
    }
    Ok(changed)
}
