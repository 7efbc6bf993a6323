//! What programs look up in this library: the three functions that give out the others.

#![allow(non_snake_case, reason = "the names are PKCS#11's")]

use std::ffi::CStr;
use std::ptr;
use std::sync::OnceLock;

use cryptoki_sys::{
    CK_FLAGS, CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_2, CK_INTERFACE, CK_RV, CK_ULONG, CK_UTF8CHAR,
    CK_VERSION, CKR_ARGUMENTS_BAD, CKR_BUFFER_TOO_SMALL, CKR_FUNCTION_FAILED, CKR_GENERAL_ERROR,
    CKR_OK,
};

use crate::functions::list;
use crate::library::library;

/// The name of the interfaces that are the standard's (PKCS#11 3.1 §5.4.5).
pub(crate) const STANDARD: &CStr = c"PKCS 11";

/// The lists and interfaces that are handed out, as many as the module has.
struct Lists {
    interfaces: Vec<CK_INTERFACE>,
    lists: Vec<&'static CK_FUNCTION_LIST_3_2>,
}

// SAFETY: the pointers in it are to constants, which are never freed.
unsafe impl Send for Lists {}
// SAFETY: as above.
unsafe impl Sync for Lists {}

fn lists() -> Option<&'static Lists> {
    static LISTS: OnceLock<Option<Lists>> = OnceLock::new();
    let made = LISTS.get_or_init(|| {
        let versions = library()?.target.versions.iter();
        let lists: Vec<&'static CK_FUNCTION_LIST_3_2> = versions
            .map(|version| &*Box::leak(Box::new(list(*version))))
            .collect();
        let interfaces = lists.iter().map(|list| CK_INTERFACE {
            pInterfaceName: STANDARD.as_ptr().cast_mut().cast(),
            pFunctionList: ptr::from_ref(*list).cast_mut().cast(),
            flags: 0,
        });
        Some(Lists {
            interfaces: interfaces.collect(),
            lists,
        })
    });
    made.as_ref()
}

/// PKCS#11 2.40 and later §5.4.4.
///
/// # Safety
/// As the standard says: the pointer is null, or one to write to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetFunctionList(to: *mut *mut CK_FUNCTION_LIST) -> CK_RV {
    let Some(first) = lists().and_then(|lists| lists.lists.first()) else {
        return CKR_GENERAL_ERROR;
    };
    if to.is_null() {
        return CKR_ARGUMENTS_BAD;
    }
    // SAFETY: the caller's pointer. The longer list begins as the shorter does.
    unsafe { *to = ptr::from_ref(*first).cast_mut().cast() };
    CKR_OK
}

/// PKCS#11 3.0 and later §5.4.5.
///
/// # Safety
/// As the standard says: an array of as many as the second says, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterfaceList(to: *mut CK_INTERFACE, count: *mut CK_ULONG) -> CK_RV {
    let Some(lists) = lists() else {
        return CKR_GENERAL_ERROR;
    };
    if count.is_null() {
        return CKR_ARGUMENTS_BAD;
    }
    let there = lists.interfaces.len();
    // SAFETY: the caller's pointer.
    let room = unsafe { *count.cast_const() } as usize;
    // SAFETY: as above.
    unsafe { *count = there as CK_ULONG };
    if to.is_null() {
        return CKR_OK;
    }
    if room < there {
        return CKR_BUFFER_TOO_SMALL;
    }
    // SAFETY: there is room for as many.
    unsafe { ptr::copy_nonoverlapping(lists.interfaces.as_ptr(), to, there) };
    CKR_OK
}

/// PKCS#11 3.0 and later §5.4.6: the newest, if no version is wanted.
///
/// # Safety
/// As the standard says: name and version are null or to be read, the third is written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterface(
    name: *mut CK_UTF8CHAR,
    version: *mut CK_VERSION,
    to: *mut *mut CK_INTERFACE,
    flags: CK_FLAGS,
) -> CK_RV {
    let Some(lists) = lists() else {
        return CKR_GENERAL_ERROR;
    };
    if to.is_null() {
        return CKR_ARGUMENTS_BAD;
    }
    // SAFETY: a string that ends with a zero, or null.
    let other = !name.is_null() && unsafe { CStr::from_ptr(name.cast()) } != STANDARD;
    // What has flags set (fork safety) is not promised.
    if other || flags != 0 {
        return CKR_FUNCTION_FAILED;
    }
    // SAFETY: a version, or null.
    let wanted = unsafe { version.as_ref() };
    let fits = |list: &&CK_FUNCTION_LIST_3_2| {
        let CK_VERSION { major, minor } = list.version;
        wanted.is_none_or(|wanted| (wanted.major, wanted.minor) == (major, minor))
    };
    let Some(at) = lists.lists.iter().rposition(fits) else {
        return CKR_FUNCTION_FAILED;
    };
    // SAFETY: the caller's pointer.
    unsafe { *to = ptr::from_ref(&lists.interfaces[at]).cast_mut() };
    CKR_OK
}
