//! SCardGetStatusChange: what changed since a state that the caller knows, now or within a time.

use std::ffi::CStr;
use std::time::Duration;

use crate::contexts::User;
use crate::trace::now;
use crate::types::{
    Code, Dword, INFINITE, MAX_ATR, ReaderState, STATE_CHANGED, STATE_EMPTY, STATE_IGNORE,
    STATE_MUTE, STATE_PRESENT, STATE_UNAWARE, STATE_UNKNOWN,
};
use crate::virtual_reader::VirtualReader;

/// How often a wait looks for a change. The server tells of none by itself.
const STEP: Duration = Duration::from_millis(100);
/// Stands for the list of readers, which never changes here.
const NOTIFICATION: &[u8] = br"\\?PnP?\Notification";

/// What a caller's element names.
enum Subject {
    Ignored,
    Reader,
    Notification,
    Unknown,
}

fn subject(reader: &VirtualReader, state: &ReaderState) -> Subject {
    if state.current & STATE_IGNORE != 0 {
        return Subject::Ignored;
    }
    // SAFETY: it is not null, as was checked, and PC/SC wants a string there.
    let name = unsafe { CStr::from_ptr(state.reader) }.to_bytes();
    if name == reader.name().as_bytes() {
        Subject::Reader
    } else if name.eq_ignore_ascii_case(NOTIFICATION) {
        Subject::Notification
    } else {
        Subject::Unknown
    }
}

/// Fills the caller's elements, and returns once one of them has changed.
///
/// # Safety
/// The elements' names are null or strings.
pub(crate) unsafe fn wait(
    reader: &VirtualReader,
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
    let waiting = user.begin_wait();
    let begin = now();
    let patience =
        (timeout != INFINITE && timeout != Dword::MAX).then(|| Duration::from_millis(timeout));
    loop {
        if update(reader, user, states)? {
            return Ok(());
        }
        let waited = Duration::from_nanos(now().saturating_sub(begin));
        let left = patience.map_or(STEP, |patience| patience.saturating_sub(waited));
        if left.is_zero() {
            return Err(Code::TIMEOUT);
        }
        if waiting.cancelled_within(left.min(STEP)) {
            return Err(Code::CANCELLED);
        }
    }
}

/// Sets every element to what is; whether one of them differs from what the caller knew.
fn update(reader: &VirtualReader, user: &User, states: &mut [ReaderState]) -> Result<bool, Code> {
    let mut changed = false;
    for state in states {
        match subject(reader, state) {
            Subject::Ignored => state.event = STATE_IGNORE,
            Subject::Notification => state.event = STATE_UNAWARE,
            Subject::Unknown => {
                state.event = STATE_UNKNOWN;
                return Err(Code::UNKNOWN_READER);
            }
            Subject::Reader => {
                let (is, atr) = reader.state(user);
                let known = state.current & (STATE_EMPTY | STATE_PRESENT | STATE_MUTE);
                let differs = known != is;
                state.event = is | if differs { STATE_CHANGED } else { 0 };
                let length = atr.len().min(MAX_ATR);
                state.atr[..length].copy_from_slice(&atr[..length]);
                state.atr_length = length as Dword;
                changed |= differs;
            }
        }
    }
    Ok(changed)
}
