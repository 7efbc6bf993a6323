//! The module that calls go to.

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::ptr;

use cryptoki_sys::{
    CK_C_GetFunctionList, CK_C_GetInterfaceList, CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_0,
    CK_FUNCTION_LIST_3_2, CK_INTERFACE, CK_ULONG, CK_VERSION, CKR_OK,
};

use crate::exports;

/// Its functions.
pub(crate) struct Target {
    /// Those of its newest interface; what it lacks is empty. The list of each version begins with that of
    /// the one before.
    pub(crate) functions: CK_FUNCTION_LIST_3_2,
    /// The versions of the standard that it has interfaces of, as they are.
    pub(crate) versions: Vec<CK_VERSION>,
    /// An address in it.
    pub(crate) inside: *const c_void,
}

// SAFETY: the address is of a function, which is there as long as the process.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Target")
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

impl Target {
    /// Loads it. It stays until the process ends, as the addresses of its functions are handed around.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        // SAFETY: what a module does when it is loaded is its own affair: it is the one that the user wants
        // to be called, and the program would have loaded it itself.
        let library = unsafe { libloading::Library::new(path) };
        let library = library.map_err(|error| without(path, &error.to_string()))?;
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        // SAFETY: the symbol has the type that the standard gives it (§5.4.4).
        let list = unsafe {
            library.get::<<CK_C_GetFunctionList as Inner>::Function>(b"C_GetFunctionList\0")
        };
        let list = list.map_err(|error| error.to_string())?;
        if ptr::fn_addr_eq(
            *list,
            exports::C_GetFunctionList as <CK_C_GetFunctionList as Inner>::Function,
        ) {
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
        let mut target = Self {
            functions: empty(),
            versions: vec![version],
            inside: *list as *const c_void,
        };
        // SAFETY: a list of version 2.40.
        unsafe { target.take(plain) };
        // SAFETY: as above; many modules do not have it.
        let interfaces = unsafe {
            library.get::<<CK_C_GetInterfaceList as Inner>::Function>(b"C_GetInterfaceList\0")
        };
        if let Ok(interfaces) = interfaces {
            // SAFETY: it is called as the standard says (§5.4.5).
            unsafe { target.take_interfaces(*interfaces) };
        }
        Ok(target)
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
    unsafe fn take_interfaces(&mut self, list: <CK_C_GetInterfaceList as Inner>::Function) {
        let mut count: CK_ULONG = 0;
        // SAFETY: without a list it tells how long it is.
        if unsafe { list(ptr::null_mut(), &raw mut count) } != CKR_OK || count > 64 {
            return;
        }
        let none = CK_INTERFACE {
            pInterfaceName: ptr::null_mut(),
            pFunctionList: ptr::null_mut(),
            flags: 0,
        };
        let mut found = vec![none; count as usize];
        // SAFETY: the list has room for as many as were told.
        if unsafe { list(found.as_mut_ptr(), &raw mut count) } != CKR_OK {
            return;
        }
        found.truncate(count as usize);
        found.retain(|interface| {
            if interface.pInterfaceName.is_null() || interface.pFunctionList.is_null() {
                return false;
            }
            // SAFETY: a name ends with a zero (§3.6), and is there as long as the module.
            let name = unsafe { CStr::from_ptr(interface.pInterfaceName.cast()) };
            name == exports::STANDARD
        });
        let mut lists: Vec<(CK_VERSION, *const CK_VERSION)> = found
            .iter()
            .map(|interface| {
                let list: *const CK_VERSION = interface.pFunctionList.cast();
                // SAFETY: every list begins with its version (§3.6).
                (unsafe { *list }, list)
            })
            .filter(|(version, _)| version.major == 3)
            .collect();
        lists.sort_by_key(|(version, _)| version.minor);
        for (version, list) in lists {
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

/// What the loader says, without the file's name before it.
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

/// The function of an optional one: how the bindings name types.
pub(crate) trait Inner {
    type Function;
}

impl<F> Inner for Option<F> {
    type Function = F;
}
