//! The functions of PKCS#11 3.2 in the order of its list. Those that are `plain` are handed on and nothing
//! else; `alone` are those by which a twin's library reads or writes its token's state; those with a twist of their own
//! are in [`crate::operations`] and [`crate::exports`].

#![allow(non_snake_case, reason = "the names are PKCS#11's")]

use std::ffi::c_void;

use cryptoki_sys::{
    CK_ASYNC_DATA, CK_ATTRIBUTE, CK_BBOOL, CK_BYTE, CK_FLAGS, CK_FUNCTION_LIST_3_2, CK_MECHANISM,
    CK_NOTIFY, CK_OBJECT_HANDLE, CK_RV, CK_SESSION_HANDLE, CK_SESSION_INFO,
    CK_SESSION_VALIDATION_FLAGS_TYPE, CK_SLOT_ID, CK_SLOT_INFO, CK_TOKEN_INFO, CK_ULONG,
    CK_USER_TYPE, CK_UTF8CHAR, CK_VERSION,
};
use keymark_shim_protocol::pkcs11::{Call, Traced};

use crate::exports::{C_GetFunctionList, C_GetInterface, C_GetInterfaceList};
#[allow(clippy::wildcard_imports, reason = "they are functions of the list")]
use crate::operations::*;
use crate::trace::traced;

/// Calls a function of the module by its name, if it has it.
macro_rules! real {
    ($library:expr, $name:ident($($argument:expr),*)) => {
        match $library.target.functions.$name {
            // SAFETY: the arguments are the caller's, handed on as they are.
            Some(function) => unsafe { function($($argument),*) },
            None => cryptoki_sys::CKR_FUNCTION_NOT_SUPPORTED,
        }
    };
}
pub(crate) use real;

macro_rules! function {
    (plain $name:ident($($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| real!(library, $name($($argument),*)))
        }
    };
    (alone $name:ident($($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            traced(Traced::Whole(Call::$name), |library| {
                alone(library, Call::$name, || real!(library, $name($($argument),*)))
            })
        }
    };
    (own $name:ident($($argument:ident: $type:ty),*)) => {};
}

macro_rules! functions {
    ($($kind:ident $name:ident($($argument:ident: $type:ty),*);)*) => {
        $(function!($kind $name($($argument: $type),*));)*

        /// The list that is handed out.
        pub(crate) fn list(version: CK_VERSION) -> CK_FUNCTION_LIST_3_2 {
            CK_FUNCTION_LIST_3_2 { version, $($name: Some($name),)* }
        }
    };
}

#[rustfmt::skip]
functions! {
    own C_Initialize(a: *mut c_void);
    own C_Finalize(a: *mut c_void);
    own C_GetInfo(a: *mut CK_INFO);
    own C_GetFunctionList(a: *mut *mut CK_FUNCTION_LIST);
    plain C_GetSlotList(a: CK_BBOOL, b: *mut CK_SLOT_ID, c: *mut CK_ULONG);
    plain C_GetSlotInfo(a: CK_SLOT_ID, b: *mut CK_SLOT_INFO);
    alone C_GetTokenInfo(a: CK_SLOT_ID, b: *mut CK_TOKEN_INFO);
    own C_GetMechanismList(a: CK_SLOT_ID, b: *mut CK_MECHANISM_TYPE, c: *mut CK_ULONG);
    own C_GetMechanismInfo(a: CK_SLOT_ID, b: CK_MECHANISM_TYPE, c: *mut CK_MECHANISM_INFO);
    alone C_InitToken(a: CK_SLOT_ID, b: *mut CK_UTF8CHAR, c: CK_ULONG, d: *mut CK_UTF8CHAR);
    alone C_InitPIN(a: CK_SESSION_HANDLE, b: *mut CK_UTF8CHAR, c: CK_ULONG);
    alone C_SetPIN(a: CK_SESSION_HANDLE, b: *mut CK_UTF8CHAR, c: CK_ULONG, d: *mut CK_UTF8CHAR, e: CK_ULONG);
    plain C_OpenSession(a: CK_SLOT_ID, b: CK_FLAGS, c: *mut c_void, d: CK_NOTIFY, e: *mut CK_SESSION_HANDLE);
    own C_CloseSession(a: CK_SESSION_HANDLE);
    own C_CloseAllSessions(a: CK_SLOT_ID);
    plain C_GetSessionInfo(a: CK_SESSION_HANDLE, b: *mut CK_SESSION_INFO);
    plain C_GetOperationState(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: *mut CK_ULONG);
    plain C_SetOperationState(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: CK_OBJECT_HANDLE, e: CK_OBJECT_HANDLE);
    alone C_Login(a: CK_SESSION_HANDLE, b: CK_USER_TYPE, c: *mut CK_UTF8CHAR, d: CK_ULONG);
    own C_Logout(a: CK_SESSION_HANDLE);
    plain C_CreateObject(a: CK_SESSION_HANDLE, b: *mut CK_ATTRIBUTE, c: CK_ULONG, d: *mut CK_OBJECT_HANDLE);
    plain C_CopyObject(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE, c: *mut CK_ATTRIBUTE, d: CK_ULONG, e: *mut CK_OBJECT_HANDLE);
    own C_DestroyObject(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE);
    plain C_GetObjectSize(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE, c: *mut CK_ULONG);
    plain C_GetAttributeValue(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE, c: *mut CK_ATTRIBUTE, d: CK_ULONG);
    plain C_SetAttributeValue(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE, c: *mut CK_ATTRIBUTE, d: CK_ULONG);
    plain C_FindObjectsInit(a: CK_SESSION_HANDLE, b: *mut CK_ATTRIBUTE, c: CK_ULONG);
    plain C_FindObjects(a: CK_SESSION_HANDLE, b: *mut CK_OBJECT_HANDLE, c: CK_ULONG, d: *mut CK_ULONG);
    plain C_FindObjectsFinal(a: CK_SESSION_HANDLE);
    plain C_EncryptInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    plain C_Encrypt(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_EncryptUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_EncryptFinal(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: *mut CK_ULONG);
    own C_DecryptInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    own C_Decrypt(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_DecryptUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    own C_DecryptFinal(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: *mut CK_ULONG);
    plain C_DigestInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM);
    plain C_Digest(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_DigestUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
    plain C_DigestKey(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE);
    plain C_DigestFinal(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: *mut CK_ULONG);
    own C_SignInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    own C_Sign(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_SignUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
    own C_SignFinal(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: *mut CK_ULONG);
    own C_SignRecoverInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    own C_SignRecover(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_VerifyInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    plain C_Verify(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG);
    plain C_VerifyUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
    plain C_VerifyFinal(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
    plain C_VerifyRecoverInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    plain C_VerifyRecover(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_DigestEncryptUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_DecryptDigestUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_SignEncryptUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_DecryptVerifyUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    plain C_GenerateKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: *mut CK_ATTRIBUTE, d: CK_ULONG, e: *mut CK_OBJECT_HANDLE);
    plain C_GenerateKeyPair(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: *mut CK_ATTRIBUTE, d: CK_ULONG, e: *mut CK_ATTRIBUTE, f: CK_ULONG, g: *mut CK_OBJECT_HANDLE, h: *mut CK_OBJECT_HANDLE);
    plain C_WrapKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: CK_OBJECT_HANDLE, e: *mut CK_BYTE, f: *mut CK_ULONG);
    own C_UnwrapKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_ATTRIBUTE, g: CK_ULONG, h: *mut CK_OBJECT_HANDLE);
    own C_DeriveKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_ATTRIBUTE, e: CK_ULONG, f: *mut CK_OBJECT_HANDLE);
    plain C_SeedRandom(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
    plain C_GenerateRandom(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
    plain C_GetFunctionStatus(a: CK_SESSION_HANDLE);
    plain C_CancelFunction(a: CK_SESSION_HANDLE);
    plain C_WaitForSlotEvent(a: CK_FLAGS, b: *mut CK_SLOT_ID, c: *mut c_void);
    own C_GetInterfaceList(a: *mut CK_INTERFACE, b: *mut CK_ULONG);
    own C_GetInterface(a: *mut CK_UTF8CHAR, b: *mut CK_VERSION, c: *mut *mut CK_INTERFACE, d: CK_FLAGS);
    alone C_LoginUser(a: CK_SESSION_HANDLE, b: CK_USER_TYPE, c: *mut CK_UTF8CHAR, d: CK_ULONG, e: *mut CK_UTF8CHAR, f: CK_ULONG);
    plain C_SessionCancel(a: CK_SESSION_HANDLE, b: CK_FLAGS);
    plain C_MessageEncryptInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    plain C_EncryptMessage(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: CK_ULONG, h: *mut CK_BYTE, i: *mut CK_ULONG);
    plain C_EncryptMessageBegin(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG);
    plain C_EncryptMessageNext(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: *mut CK_ULONG, h: CK_FLAGS);
    plain C_MessageEncryptFinal(a: CK_SESSION_HANDLE);
    plain C_MessageDecryptInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    plain C_DecryptMessage(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: CK_ULONG, h: *mut CK_BYTE, i: *mut CK_ULONG);
    plain C_DecryptMessageBegin(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG);
    plain C_DecryptMessageNext(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: *mut CK_ULONG, h: CK_FLAGS);
    plain C_MessageDecryptFinal(a: CK_SESSION_HANDLE);
    own C_MessageSignInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    own C_SignMessage(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: *mut CK_ULONG);
    plain C_SignMessageBegin(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG);
    own C_SignMessageNext(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: *mut CK_ULONG);
    plain C_MessageSignFinal(a: CK_SESSION_HANDLE);
    plain C_MessageVerifyInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    plain C_VerifyMessage(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: CK_ULONG);
    plain C_VerifyMessageBegin(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG);
    plain C_VerifyMessageNext(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: CK_ULONG);
    plain C_MessageVerifyFinal(a: CK_SESSION_HANDLE);
    plain C_EncapsulateKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_ATTRIBUTE, e: CK_ULONG, f: *mut CK_BYTE, g: *mut CK_ULONG, h: *mut CK_OBJECT_HANDLE);
    own C_DecapsulateKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_ATTRIBUTE, e: CK_ULONG, f: *mut CK_BYTE, g: CK_ULONG, h: *mut CK_OBJECT_HANDLE);
    plain C_VerifySignatureInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_BYTE, e: CK_ULONG);
    plain C_VerifySignature(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
    plain C_VerifySignatureUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
    plain C_VerifySignatureFinal(a: CK_SESSION_HANDLE);
    plain C_GetSessionValidationFlags(a: CK_SESSION_HANDLE, b: CK_SESSION_VALIDATION_FLAGS_TYPE, c: *mut CK_FLAGS);
    plain C_AsyncComplete(a: CK_SESSION_HANDLE, b: *mut CK_UTF8CHAR, c: *mut CK_ASYNC_DATA);
    plain C_AsyncGetID(a: CK_SESSION_HANDLE, b: *mut CK_UTF8CHAR, c: *mut CK_ULONG);
    plain C_AsyncJoin(a: CK_SESSION_HANDLE, b: *mut CK_UTF8CHAR, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG);
    plain C_WrapKeyAuthenticated(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: CK_OBJECT_HANDLE, e: *mut CK_BYTE, f: CK_ULONG, g: *mut CK_BYTE, h: *mut CK_ULONG);
    plain C_UnwrapKeyAuthenticated(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_ATTRIBUTE, g: CK_ULONG, h: *mut CK_BYTE, i: CK_ULONG, j: *mut CK_OBJECT_HANDLE);
}
