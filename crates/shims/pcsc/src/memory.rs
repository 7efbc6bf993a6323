//! Data that goes through a caller's pointers, and memory that is allocated for callers that ask for that
//! (SCARD_AUTOALLOCATE).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::types::{AUTOALLOCATE, Code, Dword};

/// An allocation that a caller holds, and gives back with SCardFreeMemory.
struct Lent(*mut [u8]);

// SAFETY: it is the only owner of its allocation, as a box would be; C may free in any thread.
unsafe impl Send for Lent {}

/// Everything lent, by address. A context has no part in it: SCardFreeMemory of pcsc-lite frees
/// whatever the context.
static LENT: Mutex<BTreeMap<usize, Lent>> = Mutex::new(BTreeMap::new());

fn lend(octets: &[u8]) -> *mut u8 {
    let lent = Box::into_raw(Box::<[u8]>::from(octets));
    let start = lent.cast::<u8>();
    let mut known = LENT.lock().unwrap_or_else(PoisonError::into_inner);
    known.insert(start.addr(), Lent(lent));
    start
}

/// Frees what was lent. Another address is refused, so that no mistake of the caller's becomes one
/// of the allocator's.
pub(crate) fn give_back(address: usize) -> Result<(), Code> {
    let known = LENT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&address);
    match known {
        Some(Lent(lent)) => {
            // SAFETY: it came from `Box::into_raw` and has just been taken from the table, so that
            // it is freed once.
            drop(unsafe { Box::from_raw(lent) });
            Ok(())
        }
        None => Err(Code::INVALID_PARAMETER),
    }
}

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

/// Puts octets where the caller wants them: to a null pointer only their number, and allocated if
/// the length asks for that.
///
/// # Safety
/// `length` is null or valid; `target` is null, or good for `*length` octets, or for a pointer if
/// `*length` is SCARD_AUTOALLOCATE.
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
        if room == AUTOALLOCATE && target.is_null() {
            return Err(Code::INVALID_PARAMETER);
        }
        *length = octets.len() as Dword;
        if target.is_null() {
            return Ok(());
        }
        if room == AUTOALLOCATE {
            target.cast::<*mut u8>().write_unaligned(lend(octets));
            return Ok(());
        }
        if room < octets.len() as Dword {
            return Err(Code::INSUFFICIENT_BUFFER);
        }
        target.copy_from_nonoverlapping(octets.as_ptr(), octets.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn what_is_lent_is_taken_back_once() {
        let mut start: *mut u8 = ptr::null_mut();
        let mut length = AUTOALLOCATE;
        // SAFETY: `start` has room for the pointer that AUTOALLOCATE asks for.
        let code = unsafe { fill(b"lent", (&raw mut start).cast(), &raw mut length) };
        assert_eq!((code, length), (Ok(()), 4));
        // SAFETY: `fill` has allocated four octets.
        assert_eq!(unsafe { slice(start, length) }, b"lent");
        assert_eq!(give_back(start.addr()), Ok(()));
        assert_eq!(give_back(start.addr()), Err(Code::INVALID_PARAMETER));
        assert_eq!(give_back(0), Err(Code::INVALID_PARAMETER));
    }

    #[test]
    fn lengths_are_told_before_anything_is_written() {
        let (mut target, mut length) = ([7_u8; 3], 3);
        // SAFETY: `target` has three octets, as `length` says.
        let code = unsafe { fill(b"four", target.as_mut_ptr(), &raw mut length) };
        assert_eq!(
            (code, length, target),
            (Err(Code::INSUFFICIENT_BUFFER), 4, [7; 3])
        );
        // SAFETY: null pointers are allowed.
        unsafe {
            assert_eq!(fill(b"four", ptr::null_mut(), &raw mut length), Ok(()));
            assert_eq!(fill(b"", ptr::null_mut(), ptr::null_mut()), Ok(()));
            assert_eq!(
                fill(b"", target.as_mut_ptr(), ptr::null_mut()),
                Err(Code::INVALID_PARAMETER)
            );
            length = AUTOALLOCATE;
            assert_eq!(
                fill(b"four", ptr::null_mut(), &raw mut length),
                Err(Code::INVALID_PARAMETER)
            );
        }
    }
}
