//! The functions that programs call, by the table of the protocol: most hand on and do nothing else; what uses a
//! private key takes a twin's time, and mechanisms are those of its device.

#![allow(non_snake_case, reason = "the names are PKCS#11's")]

use std::ffi::c_void;

use cryptoki_sys::{
    CK_ASYNC_DATA, CK_ATTRIBUTE, CK_BBOOL, CK_BYTE, CK_FLAGS, CK_FUNCTION_LIST_3_2, CK_INFO,
    CK_MECHANISM, CK_MECHANISM_INFO, CK_MECHANISM_TYPE, CK_NOTIFY, CK_OBJECT_HANDLE, CK_RV,
    CK_SESSION_HANDLE, CK_SESSION_INFO, CK_SESSION_VALIDATION_FLAGS_TYPE, CK_SLOT_ID, CK_SLOT_INFO,
    CK_TOKEN_INFO, CK_ULONG, CK_USER_TYPE, CK_UTF8CHAR, CK_VERSION, CKR_BUFFER_TOO_SMALL, CKR_OK,
};
use keymark_bench::operation::Operation;
use keymark_shim_protocol::pkcs11::{Call, Traced};

use crate::interfaces::{C_GetFunctionList, C_GetInterface, C_GetInterfaceList};
use crate::trace::traced;
use crate::twin::Use;

/// Calls a function of the module by its name, if it has it.
macro_rules! real {
    ($library:expr, $name:ident($($argument:expr),*)) => {
        match $library.callee.functions.$name {
            // SAFETY: the arguments are the caller's, handed on as they are.
            Some(function) => unsafe { function($($argument),*) },
            None => cryptoki_sys::CKR_FUNCTION_NOT_SUPPORTED,
        }
    };
}

/// One function, by what the library does at it.
macro_rules! function {
    (plain $name:ident($($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| real!(library, $name($($argument),*)))
        }
    };
    (alone $name:ident($($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| {
                let real = || real!(library, $name($($argument),*));
                match &library.twin {
                    Some(twin) => twin.alone(Call::$name, real),
                    None => real(),
                }
            })
        }
    };
    (forgets $name:ident($($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| {
                if let Some(twin) = &library.twin {
                    twin.forget_keys();
                }
                real!(library, $name($($argument),*))
            })
        }
    };
    (begins($used:ident)
     $name:ident($session:ident: $a:ty, $mechanism:ident: $b:ty, $key:ident: $c:ty)) => {
        unsafe extern "C" fn $name($session: $a, $mechanism: $b, $key: $c) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| {
                let real = || real!(library, $name($session, $mechanism, $key));
                match &library.twin {
                    Some(twin) => twin.begin(&library.callee, ($session, $key), Use::$used, real),
                    None => real(),
                }
            })
        }
    };
    (works($used:ident, $result:ident)
     $name:ident($session:ident: $a:ty, $($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($session: $a, $($argument: $type),*) -> CK_RV {
            traced(of(Call::$name, $result), |library| {
                let real = || real!(library, $name($session, $($argument),*));
                match &library.twin {
                    // Without room it is asked for the length, or given a part of the message.
                    Some(twin) if !$result.is_null() => twin.end($session, Use::$used, real),
                    _ => real(),
                }
            })
        }
    };
    (at_once($operation:ident)
     $name:ident($session:ident: $a:ty, $mechanism:ident: $b:ty, $key:ident: $c:ty, $($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($session: $a, $mechanism: $b, $key: $c, $($argument: $type),*) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| {
                let real = || real!(library, $name($session, $mechanism, $key, $($argument),*));
                match &library.twin {
                    Some(twin) => {
                        twin.at_once(&library.callee, ($session, $key), Operation::$operation, real)
                    }
                    None => real(),
                }
            })
        }
    };
    (own $name:ident($($argument:ident: $type:ty),*)) => {};
}

macro_rules! functions {
    ($($kind:ident $(($($of:ident),*))? $name:ident($($argument:ident: $type:ty),*);)*) => {
        $(function!($kind $(($($of),*))? $name($($argument: $type),*));)*

        /// The list that is handed out.
        pub(crate) fn list(version: CK_VERSION) -> CK_FUNCTION_LIST_3_2 {
            CK_FUNCTION_LIST_3_2 { version, $($name: Some($name),)* }
        }
    };
}

keymark_shim_protocol::pkcs11_functions!(functions);

/// The module says of itself that it is a twin's: else its times would be taken for those of the library below.
unsafe extern "C" fn C_GetInfo(info: *mut CK_INFO) -> CK_RV {
    traced(Traced::Whole(Call::C_GetInfo), |library| {
        let code = real!(library, C_GetInfo(info));
        // SAFETY: the caller's structure, or null.
        if let (Some(twin), Some(info)) = (&library.twin, unsafe { info.as_mut() })
            && code == CKR_OK
        {
            info.libraryDescription = twin.description();
        }
        code
    })
}

unsafe extern "C" fn C_GetMechanismList(
    slot: CK_SLOT_ID,
    list: *mut CK_MECHANISM_TYPE,
    count: *mut CK_ULONG,
) -> CK_RV {
    traced(Traced::Whole(Call::C_GetMechanismList), |library| {
        let Some(twin) = &library.twin else {
            return real!(library, C_GetMechanismList(slot, list, count));
        };
        let mut there: CK_ULONG = 0;
        let none = std::ptr::null_mut();
        let code = real!(library, C_GetMechanismList(slot, none, &raw mut there));
        if code != CKR_OK || count.is_null() {
            return real!(library, C_GetMechanismList(slot, list, count));
        }
        let mut all = vec![0; there as usize];
        let code = real!(
            library,
            C_GetMechanismList(slot, all.as_mut_ptr(), &raw mut there)
        );
        if code != CKR_OK {
            return code;
        }
        all.truncate(there as usize);
        all.retain(|mechanism| twin.has(*mechanism));
        // SAFETY: the caller's count, which is not null: the room there is, and then how many there are.
        let room = unsafe { count.replace(all.len() as CK_ULONG) };
        if list.is_null() {
            return CKR_OK;
        }
        if (room as usize) < all.len() {
            return CKR_BUFFER_TOO_SMALL;
        }
        // SAFETY: the caller's list has room for as many.
        unsafe { std::ptr::copy_nonoverlapping(all.as_ptr(), list, all.len()) };
        CKR_OK
    })
}

unsafe extern "C" fn C_GetMechanismInfo(
    slot: CK_SLOT_ID,
    mechanism: CK_MECHANISM_TYPE,
    info: *mut CK_MECHANISM_INFO,
) -> CK_RV {
    traced(Traced::Whole(Call::C_GetMechanismInfo), |library| {
        let code = real!(library, C_GetMechanismInfo(slot, mechanism, info));
        // SAFETY: the caller's structure, or null.
        match (&library.twin, unsafe { info.as_mut() }) {
            (Some(twin), Some(info)) if code == CKR_OK => twin.limit(mechanism, info),
            _ => code,
        }
    })
}

/// A call without room for its result asks for the length.
const fn of(call: Call, result: *mut CK_BYTE) -> Traced {
    if result.is_null() {
        Traced::Length(call)
    } else {
        Traced::Whole(call)
    }
}
