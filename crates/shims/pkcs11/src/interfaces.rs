//! The lists of functions: those of the module that calls go to, and those that programs get from this library, by
//! the three functions that they look up in it.

#![allow(non_snake_case, reason = "the names are PKCS#11's")]

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use cryptoki_sys::{
    CK_C_GetFunctionList, CK_C_GetInterfaceList, CK_FLAGS, CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_0,
    CK_FUNCTION_LIST_3_2, CK_INTERFACE, CK_RV, CK_ULONG, CK_UTF8CHAR, CK_VERSION,
    CKR_ARGUMENTS_BAD, CKR_BUFFER_TOO_SMALL, CKR_FUNCTION_FAILED, CKR_GENERAL_ERROR,
    CKR_HOST_MEMORY, CKR_OK,
};
use keymark_shim_protocol::pkcs11::Of;

use crate::functions::list;
use crate::library::library;

/// The module that calls go to.
pub(crate) struct Callee {
    /// The functions of its newest interface; what it lacks is empty. The list of each version begins with that of
    /// the one before.
    pub(crate) functions: CK_FUNCTION_LIST_3_2,
    /// The versions of the standard that it has interfaces of, as they are.
    pub(crate) versions: Vec<CK_VERSION>,
    /// An address in it.
    pub(crate) inside: *const c_void,
}

// SAFETY: the address is of a function, which is there as long as the process.
unsafe impl Send for Callee {}
// SAFETY: as above.
unsafe impl Sync for Callee {}

impl std::fmt::Debug for Callee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Callee")
    }
}

// Each list of functions begins with the one before it.
const _: () = {
    assert!(
        std::mem::offset_of!(CK_FUNCTION_LIST_3_2, C_WaitForSlotEvent)
            == std::mem::offset_of!(CK_FUNCTION_LIST, C_WaitForSlotEvent)
    );
    assert!(
        std::mem::offset_of!(CK_FUNCTION_LIST_3_2, C_MessageVerifyFinal)
            == std::mem::offset_of!(CK_FUNCTION_LIST_3_0, C_MessageVerifyFinal)
    );
};

impl Callee {
    /// Loads it. It stays until the process ends, as the addresses of its functions are handed around.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        // SAFETY: what a module does when it is loaded is its own affair: it is the one that the user wants
        // to be called, and the program would have loaded it itself.
        let library = unsafe { libloading::Library::new(path) };
        let library = library.map_err(|error| without(path, &error.to_string()))?;
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        // SAFETY: the symbol has the type that the standard gives it (§5.4.4).
        let list = unsafe { library.get::<Of<CK_C_GetFunctionList>>(b"C_GetFunctionList\0") };
        let list = list.map_err(|error| error.to_string())?;
        if ptr::fn_addr_eq(*list, C_GetFunctionList as Of<CK_C_GetFunctionList>) {
            return Err("it is this library itself".to_owned());
        }
        let mut plain: *mut CK_FUNCTION_LIST = ptr::null_mut();
        // SAFETY: writes one pointer, and may be called before C_Initialize (§5.4.4).
        let code = unsafe { list(&raw mut plain) };
        if code != CKR_OK || plain.is_null() {
            return Err(format!("C_GetFunctionList returned {code:#x}"));
        }
        // SAFETY: the module's own list, constant while it is loaded.
        let version = unsafe { (*plain).version };
        let mut callee = Self {
            functions: empty(),
            versions: vec![version],
            inside: *list as *const c_void,
        };
        // SAFETY: a list of version 2.40.
        unsafe { callee.take(plain) };
        // SAFETY: as above; many modules do not have it.
        let interfaces =
            unsafe { library.get::<Of<CK_C_GetInterfaceList>>(b"C_GetInterfaceList\0") };
        if let Ok(interfaces) = interfaces {
            // SAFETY: it is called as the standard says (§5.4.5).
            unsafe { callee.take_interfaces(*interfaces) };
        }
        Ok(callee)
    }

    /// # Safety
    /// The list is one of the standard's version that `T` is.
    unsafe fn take<T>(&mut self, list: *const T) {
        let to: *mut CK_FUNCTION_LIST_3_2 = &raw mut self.functions;
        // SAFETY: every version's list begins as the longest does, which is asserted above, and the longest
        // has room for all of it.
        unsafe { ptr::copy_nonoverlapping(list.cast::<u8>(), to.cast::<u8>(), size_of::<T>()) };
    }

    /// # Safety
    /// The function is the module's C_GetInterfaceList.
    unsafe fn take_interfaces(&mut self, list: Of<CK_C_GetInterfaceList>) {
        let none = CK_INTERFACE {
            pInterfaceName: ptr::null_mut(),
            pFunctionList: ptr::null_mut(),
            flags: 0,
        };
        // SAFETY: the list has room for as many as are told.
        let Ok(mut found) = obtain(|to, count| unsafe { list(to, count) }, none) else {
            return;
        };
        found.retain(|interface| {
            if interface.pInterfaceName.is_null() || interface.pFunctionList.is_null() {
                return false;
            }
            // SAFETY: a name ends with a zero (§3.6), and is there as long as the module.
            let name = unsafe { CStr::from_ptr(interface.pInterfaceName.cast()) };
            name == STANDARD
        });
        found.retain(|interface| version(interface).major == 3);
        found.sort_by_key(|interface| version(interface).minor);
        for interface in found {
            let (version, list) = (version(&interface), interface.pFunctionList);
            self.versions.push(version);
            if version.minor >= 2 {
                // SAFETY: lists of 3.2 and later begin like this.
                unsafe { self.take(list.cast::<CK_FUNCTION_LIST_3_2>()) };
            } else {
                // SAFETY: those of 3.0 and 3.1 are the same.
                unsafe { self.take(list.cast::<CK_FUNCTION_LIST_3_0>()) };
            }
        }
    }
}

fn without(path: &Path, reason: &str) -> String {
    let name = format!("{}: ", path.display());
    reason.strip_prefix(&name).unwrap_or(reason).to_owned()
}

/// A list without any function.
fn empty() -> CK_FUNCTION_LIST_3_2 {
    // SAFETY: a version of zeroes, and functions that are none, which is what the null pointer means in an
    // `Option` of a function pointer.
    unsafe { std::mem::zeroed() }
}

/// The name of the interfaces that are the standard's (PKCS#11 3.1 §5.4.5).
const STANDARD: &CStr = c"PKCS 11";

fn version(interface: &CK_INTERFACE) -> CK_VERSION {
    // SAFETY: every list begins with its version (§3.6), and is there as long as the module.
    unsafe { *interface.pFunctionList.cast() }
}

/// The interfaces that are handed out, as many as the module has.
struct Interfaces(Vec<CK_INTERFACE>);

// SAFETY: the pointers in it are to constants, which are never freed.
unsafe impl Send for Interfaces {}
// SAFETY: as above.
unsafe impl Sync for Interfaces {}

fn interfaces() -> Option<&'static [CK_INTERFACE]> {
    static INTERFACES: OnceLock<Option<Interfaces>> = OnceLock::new();
    let made = INTERFACES.get_or_init(|| {
        let versions = library()?.callee.versions.iter();
        let interfaces = versions.map(|version| CK_INTERFACE {
            pInterfaceName: STANDARD.as_ptr().cast_mut().cast(),
            pFunctionList: ptr::from_mut(Box::leak(Box::new(list(*version)))).cast(),
            flags: 0,
        });
        Some(Interfaces(interfaces.collect()))
    });
    made.as_ref().map(|made| made.0.as_slice())
}

/// No list that a module has is longer.
const MOST: CK_ULONG = 4096;

/// All that a function of the standard has in a list: without room it tells how many (§5.2).
pub(crate) fn obtain<T: Copy>(
    ask: impl Fn(*mut T, *mut CK_ULONG) -> CK_RV,
    none: T,
) -> Result<Vec<T>, CK_RV> {
    let done = |code| if code == CKR_OK { Ok(()) } else { Err(code) };
    let mut count: CK_ULONG = 0;
    done(ask(ptr::null_mut(), &raw mut count))?;
    if count > MOST {
        return Err(CKR_HOST_MEMORY);
    }
    let mut all = vec![none; count as usize];
    done(ask(all.as_mut_ptr(), &raw mut count))?;
    all.truncate(count as usize);
    Ok(all)
}

/// Gives a list to a caller as the standard's functions do (§5.2).
///
/// # Safety
/// The second is null or has room for as many as the third says, which is null or to be read and written.
pub(crate) unsafe fn hand_out<T: Copy>(all: &[T], to: *mut T, count: *mut CK_ULONG) -> CK_RV {
    if count.is_null() {
        return CKR_ARGUMENTS_BAD;
    }
    // SAFETY: the caller's pointer: the room there is, and then how many there are.
    let room = unsafe { count.replace(all.len() as CK_ULONG) } as usize;
    if to.is_null() {
        return CKR_OK;
    }
    if room < all.len() {
        return CKR_BUFFER_TOO_SMALL;
    }
    // SAFETY: there is room for as many.
    unsafe { ptr::copy_nonoverlapping(all.as_ptr(), to, all.len()) };
    CKR_OK
}

/// PKCS#11 2.40 and later §5.4.4.
///
/// # Safety
/// As the standard says: the pointer is null, or one to write to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetFunctionList(to: *mut *mut CK_FUNCTION_LIST) -> CK_RV {
    let Some(first) = interfaces().and_then(<[CK_INTERFACE]>::first) else {
        return CKR_GENERAL_ERROR;
    };
    if to.is_null() {
        return CKR_ARGUMENTS_BAD;
    }
    // SAFETY: the caller's pointer. The longer list begins as the shorter does.
    unsafe { *to = first.pFunctionList.cast() };
    CKR_OK
}

/// PKCS#11 3.0 and later §5.4.5.
///
/// # Safety
/// As the standard says: an array of as many as the second says, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterfaceList(to: *mut CK_INTERFACE, count: *mut CK_ULONG) -> CK_RV {
    match interfaces() {
        // SAFETY: the caller's pointers.
        Some(interfaces) => unsafe { hand_out(interfaces, to, count) },
        None => CKR_GENERAL_ERROR,
    }
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
    let Some(interfaces) = interfaces() else {
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
    let fits = |interface: &&CK_INTERFACE| {
        let CK_VERSION { major, minor } = self::version(interface);
        wanted.is_none_or(|wanted| (wanted.major, wanted.minor) == (major, minor))
    };
    let Some(found) = interfaces.iter().rfind(fits) else {
        return CKR_FUNCTION_FAILED;
    };
    // SAFETY: the caller's pointer.
    unsafe { *to = ptr::from_ref(found).cast_mut() };
    CKR_OK
}
