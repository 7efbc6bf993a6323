//! The functions that do more than hand on: what uses a private key takes a twin's time, and mechanisms are
//! those of its device.

#![allow(non_snake_case, reason = "the names are PKCS#11's")]
#![allow(
    clippy::missing_safety_doc,
    reason = "C's callers keep to the standard; what they hand over is handed on"
)]

use std::ffi::c_void;

use cryptoki_sys::{
    CK_ATTRIBUTE, CK_BYTE, CK_INFO, CK_MECHANISM, CK_MECHANISM_INFO, CK_MECHANISM_TYPE,
    CK_OBJECT_HANDLE, CK_RV, CK_SESSION_HANDLE, CK_SLOT_ID, CK_ULONG, CKR_BUFFER_TOO_SMALL, CKR_OK,
};
use keymark_bench::operation::Operation;
use keymark_shim_protocol::pkcs11::{Call, Traced};

use crate::functions::real;
use crate::library::Library;
use crate::trace::traced;
use crate::twin::Use;

pub(crate) unsafe extern "C" fn C_Initialize(arguments: *mut c_void) -> CK_RV {
    traced(Traced::Whole(Call::C_Initialize), |library| {
        alone(library, Call::C_Initialize, || {
            real!(library, C_Initialize(arguments))
        })
    })
}

/// The module says of itself that it is a twin's: else its times would be taken for those of the library below.
pub(crate) unsafe extern "C" fn C_GetInfo(info: *mut CK_INFO) -> CK_RV {
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

pub(crate) unsafe extern "C" fn C_GetMechanismList(
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

pub(crate) unsafe extern "C" fn C_GetMechanismInfo(
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

/// Functions after which another key may have the handle of one that is gone.
macro_rules! forgets {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| {
                if let Some(twin) = &library.twin {
                    twin.forget_keys();
                }
                real!(library, $name($($argument),*))
            })
        }
    )*};
}

forgets! {
    C_Finalize(reserved: *mut c_void);
    C_CloseSession(session: CK_SESSION_HANDLE);
    C_CloseAllSessions(slot: CK_SLOT_ID);
    C_Logout(session: CK_SESSION_HANDLE);
    C_DestroyObject(session: CK_SESSION_HANDLE, object: CK_OBJECT_HANDLE);
}

/// Does what reads or writes the state of a twin's token, while nobody else does.
pub(crate) fn alone(library: &Library, call: Call, real: impl FnOnce() -> CK_RV) -> CK_RV {
    match &library.twin {
        Some(twin) => twin.alone(call, real),
        None => real(),
    }
}

/// Begins what a key is used for, unless a twin's device cannot do it.
fn begin(
    library: &Library,
    (session, key): (CK_SESSION_HANDLE, CK_OBJECT_HANDLE),
    used: Use,
    real: impl FnOnce() -> CK_RV,
) -> CK_RV {
    let Some(twin) = &library.twin else {
        return real();
    };
    match twin.service(&library.target, session, key, used.operation()) {
        Err(refused) => refused,
        Ok(service) => {
            let code = real();
            if code == CKR_OK {
                twin.expect(session, used, service);
            }
            code
        }
    }
}

/// Ends it: this is where the device works.
fn work(
    library: &Library,
    session: CK_SESSION_HANDLE,
    used: Use,
    real: impl FnOnce() -> CK_RV,
) -> CK_RV {
    match library
        .twin
        .as_ref()
        .map(|twin| (twin, twin.expected(session, used)))
    {
        Some((twin, Some(service))) => twin.work(service, real),
        Some((_, None)) | None => real(),
    }
}

/// What takes one call for all.
fn at_once(
    library: &Library,
    (session, key): (CK_SESSION_HANDLE, CK_OBJECT_HANDLE),
    operation: Operation,
    real: impl FnOnce() -> CK_RV,
) -> CK_RV {
    let Some(twin) = &library.twin else {
        return real();
    };
    match twin.service(&library.target, session, key, operation) {
        Err(refused) => refused,
        Ok(Some(service)) => twin.work(service, real),
        Ok(None) => real(),
    }
}

/// A call without room for its result asks for the length.
const fn of(call: Call, result: *mut CK_BYTE) -> Traced {
    if result.is_null() {
        Traced::Length(call)
    } else {
        Traced::Whole(call)
    }
}

/// Functions that name the key.
macro_rules! begins {
    ($($name:ident: $used:expr;)*) => {$(
        pub(crate) unsafe extern "C" fn $name(
            session: CK_SESSION_HANDLE,
            mechanism: *mut CK_MECHANISM,
            key: CK_OBJECT_HANDLE,
        ) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| {
                begin(library, (session, key), $used, || {
                    real!(library, $name(session, mechanism, key))
                })
            })
        }
    )*};
}

begins! {
    C_SignInit: Use::Sign;
    C_SignRecoverInit: Use::SignRecover;
    C_MessageSignInit: Use::MessageSign;
    C_DecryptInit: Use::Decrypt;
}

/// Functions with data and a result.
macro_rules! works {
    ($($name:ident: $used:expr;)*) => {$(
        pub(crate) unsafe extern "C" fn $name(
            session: CK_SESSION_HANDLE,
            data: *mut CK_BYTE,
            data_length: CK_ULONG,
            result: *mut CK_BYTE,
            length: *mut CK_ULONG,
        ) -> CK_RV {
            traced(of(Call::$name, result), |library| {
                let real = || real!(library, $name(session, data, data_length, result, length));
                if result.is_null() {
                    return real();
                }
                work(library, session, $used, real)
            })
        }
    )*};
}

works! {
    C_Sign: Use::Sign;
    C_SignRecover: Use::SignRecover;
    C_Decrypt: Use::Decrypt;
}

/// Functions that end what came in parts.
macro_rules! finishes {
    ($($name:ident: $used:expr;)*) => {$(
        pub(crate) unsafe extern "C" fn $name(
            session: CK_SESSION_HANDLE,
            result: *mut CK_BYTE,
            length: *mut CK_ULONG,
        ) -> CK_RV {
            traced(of(Call::$name, result), |library| {
                let real = || real!(library, $name(session, result, length));
                if result.is_null() {
                    return real();
                }
                work(library, session, $used, real)
            })
        }
    )*};
}

finishes! {
    C_SignFinal: Use::Sign;
    C_DecryptFinal: Use::Decrypt;
}

/// Functions of one message after another (PKCS#11 3.0); without room for the signature they ask for its
/// length, or bring a part of the message.
macro_rules! messages {
    ($($name:ident;)*) => {$(
        pub(crate) unsafe extern "C" fn $name(
            session: CK_SESSION_HANDLE,
            parameter: *mut c_void,
            parameter_length: CK_ULONG,
            data: *mut CK_BYTE,
            data_length: CK_ULONG,
            result: *mut CK_BYTE,
            length: *mut CK_ULONG,
        ) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| {
                let real = || real!(
                    library,
                    $name(session, parameter, parameter_length, data, data_length, result, length)
                );
                if result.is_null() {
                    return real();
                }
                work(library, session, Use::MessageSign, real)
            })
        }
    )*};
}

messages! {
    C_SignMessage;
    C_SignMessageNext;
}

pub(crate) unsafe extern "C" fn C_DeriveKey(
    session: CK_SESSION_HANDLE,
    mechanism: *mut CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    template: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    derived: *mut CK_OBJECT_HANDLE,
) -> CK_RV {
    traced(Traced::Whole(Call::C_DeriveKey), |library| {
        at_once(library, (session, key), Operation::Decrypt, || {
            real!(
                library,
                C_DeriveKey(session, mechanism, key, template, count, derived)
            )
        })
    })
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
pub(crate) unsafe extern "C" fn C_UnwrapKey(
    session: CK_SESSION_HANDLE,
    mechanism: *mut CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    wrapped: *mut CK_BYTE,
    length: CK_ULONG,
    template: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    unwrapped: *mut CK_OBJECT_HANDLE,
) -> CK_RV {
    traced(Traced::Whole(Call::C_UnwrapKey), |library| {
        at_once(library, (session, key), Operation::Decrypt, || {
            real!(
                library,
                C_UnwrapKey(
                    session, mechanism, key, wrapped, length, template, count, unwrapped
                )
            )
        })
    })
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
pub(crate) unsafe extern "C" fn C_DecapsulateKey(
    session: CK_SESSION_HANDLE,
    mechanism: *mut CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    template: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    ciphertext: *mut CK_BYTE,
    length: CK_ULONG,
    decapsulated: *mut CK_OBJECT_HANDLE,
) -> CK_RV {
    traced(Traced::Whole(Call::C_DecapsulateKey), |library| {
        at_once(library, (session, key), Operation::Decapsulate, || {
            real!(
                library,
                C_DecapsulateKey(
                    session,
                    mechanism,
                    key,
                    template,
                    count,
                    ciphertext,
                    length,
                    decapsulated
                )
            )
        })
    })
}
