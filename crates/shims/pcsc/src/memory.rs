//! Data that goes through a caller's pointers.

use crate::types::{Code, Dword};

/// # Safety
/// `start` is null or good for reading `length` octets.
pub(crate) unsafe fn slice<'a>(start: *const u8, length: Dword) -> &'a [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, usize::try_from(length).unwrap_or(0)) }
}

/// # Safety
/// `target` is null or valid.
pub(crate) unsafe fn set<T>(target: *mut T, value: T) {
    if !target.is_null() {
        // SAFETY: the caller's promise.
        unsafe { target.write(value) };
    }
}

/// Puts octets where the caller wants them: to a null pointer only their number.
///
/// # Safety
/// `length` is null or valid; `target` is null, or good for `*length` octets.
pub(crate) unsafe fn fill(octets: &[u8], target: *mut u8, length: *mut Dword) -> Result<(), Code> {
    if length.is_null() {
        return if target.is_null() {
            Ok(())
        } else {
            Err(Code::INVALID_PARAMETER)
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        let room = *length;
        *length = octets.len() as Dword;
        if target.is_null() {
            return Ok(());
        }
        if room < octets.len() as Dword {
            return Err(Code::INSUFFICIENT_BUFFER);
        }
        target.copy_from_nonoverlapping(octets.as_ptr(), octets.len());
    }
    Ok(())
}
