//! The functions that programs call, by the table of the protocol: most hand on and do nothing else; what uses a
//! private key takes a twin's time, and mechanisms are those of its device.

#![allow(non_snake_case, reason = "the names are PKCS#11's")]

use std::ffi::c_void;

use cryptoki_sys::{
    CK_ASYNC_DATA, CK_ATTRIBUTE, CK_BBOOL, CK_BYTE, CK_FLAGS, CK_FUNCTION_LIST_3_2, CK_INFO,
    CK_MECHANISM, CK_MECHANISM_INFO, CK_MECHANISM_TYPE, CK_NOTIFY, CK_OBJECT_HANDLE, CK_RV,
    CK_SESSION_HANDLE, CK_SESSION_INFO, CK_SESSION_VALIDATION_FLAGS_TYPE, CK_SLOT_ID, CK_SLOT_INFO,
    CK_TOKEN_INFO, CK_ULONG, CK_USER_TYPE, CK_UTF8CHAR, CK_VERSION, CKR_OK,
};
use keymark_bench::operation::Operation;
use keymark_shim_protocol::pkcs11::{Call, Traced};

use crate::interfaces::{C_GetFunctionList, C_GetInterface, C_GetInterfaceList, hand_out, obtain};
use crate::trace::traced;
use crate::twin::{Closed, Use};

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

macro_rules! at_twin {
    ($library:ident, $twin:ident, $trip:ident, $real:ident, plain $name:ident($($argument:ident),*)) => {{
        let _ = $twin;
        $real()
    }};
    ($library:ident, $twin:ident, $trip:ident, $real:ident, alone $name:ident($($argument:ident),*)) => {
        $twin.alone(Call::$name, $real)
    };
    ($library:ident, $twin:ident, $trip:ident, $real:ident, opens $name:ident($($argument:ident),*)) => {
        $twin.open($real)
    };
    ($library:ident, $twin:ident, $trip:ident, $real:ident, closes($which:ident) $name:ident($($argument:ident),*)) => {
        $twin.close(Closed::$which, $real)
    };
    ($library:ident, $twin:ident, $trip:ident, $real:ident, forgets $name:ident($($argument:ident),*)) => {{
        $twin.forget_keys();
        $real()
    }};
    ($library:ident, $twin:ident, $trip:ident, $real:ident, begins($used:ident) $name:ident($session:ident, $mechanism:ident, $key:ident)) => {
        $twin.begin(&$library.callee, ($session, $key), Use::$used, $real)
    };
    // Without room it is asked for the length, or given a part of the message.
    ($library:ident, $twin:ident, $trip:ident, $real:ident, works($used:ident, $result:ident) $name:ident($session:ident, $($argument:ident),*)) => {
        if $result.is_null() {
            $real()
        } else {
            $twin.end(($session, Use::$used), $trip, $real)
        }
    };
    ($library:ident, $twin:ident, $trip:ident, $real:ident, at_once($operation:ident)
     $name:ident($session:ident, $mechanism:ident, $key:ident, $($argument:ident),*)) => {
        $twin.at_once(
            &$library.callee,
            ($session, $key, Operation::$operation),
            $trip,
            $real,
        )
    };
}

macro_rules! as_traced {
    (works($used:ident, $result:ident) $name:ident) => {
        // A call without room for its result asks for the length.
        if $result.is_null() {
            Traced::Length(Call::$name)
        } else {
            Traced::Whole(Call::$name)
        }
    };
    ($kind:ident $(($operation:ident))? $name:ident) => {
        Traced::Whole(Call::$name)
    };
}

macro_rules! function {
    (own $name:ident($($argument:ident: $type:ty),*)) => {};
    ($kind:ident $(($($of:ident),*))? $name:ident($($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            let what = as_traced!($kind $(($($of),*))? $name);
            traced(what, |library| {
                let real = || real!(library, $name($($argument),*));
                match &library.twin {
                    Some(twin) => twin.sent(what, |trip| {
                        let _ = trip;
                        at_twin!(library, twin, trip, real, $kind $(($($of),*))? $name($($argument),*))
                    }),
                    None => real(),
                }
            })
        }
    };
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

/// A twin has as many sessions as its device.
unsafe extern "C" fn C_GetTokenInfo(slot: CK_SLOT_ID, info: *mut CK_TOKEN_INFO) -> CK_RV {
    traced(Traced::Whole(Call::C_GetTokenInfo), |library| {
        let real = || real!(library, C_GetTokenInfo(slot, info));
        let Some(twin) = &library.twin else {
            return real();
        };
        let code = twin.alone(Call::C_GetTokenInfo, real);
        // SAFETY: the caller's structure, or null.
        if let (Some(most), Some(info)) = (twin.most_sessions(), unsafe { info.as_mut() })
            && code == CKR_OK
        {
            info.ulMaxSessionCount = most.into();
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
        let real = |list, count| real!(library, C_GetMechanismList(slot, list, count));
        let Some(twin) = library.twin.as_ref().filter(|_| !count.is_null()) else {
            return real(list, count);
        };
        match obtain(real, 0) {
            Ok(mut all) => {
                all.retain(|mechanism| twin.has(*mechanism));
                // SAFETY: the caller's pointers.
                unsafe { hand_out(&all, list, count) }
            }
            Err(code) => code,
        }
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
