//! Settings of `libkeymark_pkcs11.so`, and its record of the calls of PKCS#11.

pub mod settings;
pub mod trace;
pub mod twin;

/// Gives a macro the functions of PKCS#11 3.2, in the order of its list, with what the library does at each: those
/// that are `plain` are handed on and nothing else, `alone` are those by which a twin's library reads or writes its
/// token's state, after those that `forget` another key may have the handle of one that is gone, those that `begin` a
/// use name the key and those that `work` return its result by that argument, `at_once` are those of both, and
/// `own` have a twist of their own. The types are those of `cryptoki_sys`.
#[rustfmt::skip]
#[macro_export]
macro_rules! pkcs11_functions {
    ($apply:ident) => { $apply! {
        alone C_Initialize(a: *mut c_void);
        closes(All) C_Finalize(a: *mut c_void);
        own C_GetInfo(a: *mut CK_INFO);
        own C_GetFunctionList(a: *mut *mut CK_FUNCTION_LIST);
        plain C_GetSlotList(a: CK_BBOOL, b: *mut CK_SLOT_ID, c: *mut CK_ULONG);
        plain C_GetSlotInfo(a: CK_SLOT_ID, b: *mut CK_SLOT_INFO);
        own C_GetTokenInfo(a: CK_SLOT_ID, b: *mut CK_TOKEN_INFO);
        own C_GetMechanismList(a: CK_SLOT_ID, b: *mut CK_MECHANISM_TYPE, c: *mut CK_ULONG);
        own C_GetMechanismInfo(a: CK_SLOT_ID, b: CK_MECHANISM_TYPE, c: *mut CK_MECHANISM_INFO);
        alone C_InitToken(a: CK_SLOT_ID, b: *mut CK_UTF8CHAR, c: CK_ULONG, d: *mut CK_UTF8CHAR);
        alone C_InitPIN(a: CK_SESSION_HANDLE, b: *mut CK_UTF8CHAR, c: CK_ULONG);
        alone C_SetPIN(a: CK_SESSION_HANDLE, b: *mut CK_UTF8CHAR, c: CK_ULONG, d: *mut CK_UTF8CHAR, e: CK_ULONG);
        opens C_OpenSession(a: CK_SLOT_ID, b: CK_FLAGS, c: *mut c_void, d: CK_NOTIFY, e: *mut CK_SESSION_HANDLE);
        closes(One) C_CloseSession(a: CK_SESSION_HANDLE);
        closes(All) C_CloseAllSessions(a: CK_SLOT_ID);
        plain C_GetSessionInfo(a: CK_SESSION_HANDLE, b: *mut CK_SESSION_INFO);
        plain C_GetOperationState(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: *mut CK_ULONG);
        plain C_SetOperationState(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: CK_OBJECT_HANDLE, e: CK_OBJECT_HANDLE);
        alone C_Login(a: CK_SESSION_HANDLE, b: CK_USER_TYPE, c: *mut CK_UTF8CHAR, d: CK_ULONG);
        forgets C_Logout(a: CK_SESSION_HANDLE);
        plain C_CreateObject(a: CK_SESSION_HANDLE, b: *mut CK_ATTRIBUTE, c: CK_ULONG, d: *mut CK_OBJECT_HANDLE);
        plain C_CopyObject(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE, c: *mut CK_ATTRIBUTE, d: CK_ULONG, e: *mut CK_OBJECT_HANDLE);
        forgets C_DestroyObject(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE);
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
        begins(Decrypt) C_DecryptInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
        works(Decrypt, d) C_Decrypt(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
        plain C_DecryptUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
        works(Decrypt, b) C_DecryptFinal(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: *mut CK_ULONG);
        plain C_DigestInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM);
        plain C_Digest(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
        plain C_DigestUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
        plain C_DigestKey(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE);
        plain C_DigestFinal(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: *mut CK_ULONG);
        begins(Sign) C_SignInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
        works(Sign, d) C_Sign(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
        plain C_SignUpdate(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
        works(Sign, b) C_SignFinal(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: *mut CK_ULONG);
        begins(SignRecover) C_SignRecoverInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
        works(SignRecover, d) C_SignRecover(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
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
        at_once(Decrypt) C_UnwrapKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_ATTRIBUTE, g: CK_ULONG, h: *mut CK_OBJECT_HANDLE);
        at_once(Decrypt) C_DeriveKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_ATTRIBUTE, e: CK_ULONG, f: *mut CK_OBJECT_HANDLE);
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
        begins(MessageSign) C_MessageSignInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
        works(MessageSign, f) C_SignMessage(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: *mut CK_ULONG);
        plain C_SignMessageBegin(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG);
        works(MessageSign, f) C_SignMessageNext(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: *mut CK_ULONG);
        plain C_MessageSignFinal(a: CK_SESSION_HANDLE);
        plain C_MessageVerifyInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
        plain C_VerifyMessage(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: CK_ULONG);
        plain C_VerifyMessageBegin(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG);
        plain C_VerifyMessageNext(a: CK_SESSION_HANDLE, b: *mut c_void, c: CK_ULONG, d: *mut CK_BYTE, e: CK_ULONG, f: *mut CK_BYTE, g: CK_ULONG);
        plain C_MessageVerifyFinal(a: CK_SESSION_HANDLE);
        plain C_EncapsulateKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_ATTRIBUTE, e: CK_ULONG, f: *mut CK_BYTE, g: *mut CK_ULONG, h: *mut CK_OBJECT_HANDLE);
        at_once(Decapsulate) C_DecapsulateKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE, d: *mut CK_ATTRIBUTE, e: CK_ULONG, f: *mut CK_BYTE, g: CK_ULONG, h: *mut CK_OBJECT_HANDLE);
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
    } };
}

/// Declares the calls with their names.
macro_rules! calls {
    ($($kind:ident $(($($of:ident),*))? $name:ident($($arguments:tt)*);)*) => {
        /// A function of PKCS#11 3.2, as the specification spells it. What was added there later than a record
        /// of it is never moved: the place is the number in a trace.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(non_camel_case_types, missing_docs, reason = "the names are the specification's")]
        #[repr(u16)]
        pub enum Call {
            $($name,)*
        }

        impl Call {
            /// Every call, in the order of the function list.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }
        }
    };
}

pkcs11_functions!(calls);

/// A function of a module's, of the type that the bindings have for one that may be missing.
pub trait Function {
    /// The function's own.
    type Type;
}

impl<F> Function for Option<F> {
    type Type = F;
}

/// The function itself.
pub type Of<F> = <F as Function>::Type;

/// Calls that work with a private key. A twin's time is in these. The first five yield its result themselves.
pub const WITH_PRIVATE_KEY: [Call; 8] = [
    Call::C_Sign,
    Call::C_SignFinal,
    Call::C_SignRecover,
    Call::C_Decrypt,
    Call::C_DecryptFinal,
    Call::C_DeriveKey,
    Call::C_UnwrapKey,
    Call::C_DecapsulateKey,
];

impl Call {
    /// Returns whether a client sends the call to a device behind a network. The others prepare or end these, or describe the
    /// module, which the client does by itself. AWS CloudHSM documents it for `C_GetAttributeValue` (a request for each call,
    /// nothing cached) and `C_FindObjectsInit`; for the others it is an assumption.
    #[rustfmt::skip]
    pub const fn is_remote(self) -> bool {
        matches!(
            self,
            Self::C_OpenSession | Self::C_CloseSession | Self::C_CloseAllSessions | Self::C_Login | Self::C_LoginUser
            | Self::C_Logout | Self::C_InitToken | Self::C_InitPIN | Self::C_SetPIN | Self::C_CreateObject
            | Self::C_CopyObject | Self::C_DestroyObject | Self::C_GetObjectSize | Self::C_GetAttributeValue
            | Self::C_SetAttributeValue | Self::C_FindObjectsInit | Self::C_Encrypt | Self::C_EncryptFinal
            | Self::C_Decrypt | Self::C_DecryptFinal | Self::C_Sign | Self::C_SignFinal | Self::C_SignRecover
            | Self::C_SignMessage | Self::C_SignMessageNext | Self::C_Verify | Self::C_VerifyFinal
            | Self::C_VerifyRecover | Self::C_GenerateKey | Self::C_GenerateKeyPair | Self::C_WrapKey
            | Self::C_UnwrapKey | Self::C_DeriveKey | Self::C_EncapsulateKey | Self::C_DecapsulateKey
            | Self::C_SeedRandom | Self::C_GenerateRandom
        )
    }
}

/// Part of a call that is recorded by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Traced {
    /// Loading the module, before any call: `dlopen` and its list of functions.
    Load,
    /// A call that does what its name says.
    Whole(Call),
    /// A call that asks for the length of the result only (PKCS#11 3.1 §5.2).
    Length(Call),
}

/// Calls that yield a result of a private key, and are often made twice.
const WITH_LENGTH: &[Call] = WITH_PRIVATE_KEY.split_at(5).0;

impl Traced {
    /// Number of counters.
    pub const COUNT: usize = 1 + Call::ALL.len() + WITH_LENGTH.len();

    /// All, in the order of their places.
    pub fn all() -> impl Iterator<Item = Self> {
        let calls = Call::ALL.iter().copied().map(Self::Whole);
        let lengths = WITH_LENGTH.iter().copied().map(Self::Length);
        std::iter::once(Self::Load).chain(calls).chain(lengths)
    }

    /// Its place in a trace. The length of a result that nobody asks for by a call of its own counts as the
    /// call.
    pub fn place(self) -> usize {
        match self {
            Self::Load => 0,
            Self::Whole(call) => 1 + call as usize,
            Self::Length(call) => match WITH_LENGTH.iter().position(|known| *known == call) {
                Some(at) => 1 + Call::ALL.len() + at,
                None => 1 + call as usize,
            },
        }
    }

    /// Returns whether a client sends it to a device behind a network. It knows the length of a result by itself.
    pub fn is_remote(self) -> bool {
        matches!(self, Self::Whole(call) if call.is_remote())
    }

    /// Returns whether it is the work of a private key.
    pub fn is_operation(self) -> bool {
        matches!(self, Self::Whole(call) if WITH_PRIVATE_KEY.contains(&call))
    }

    /// Returns its name for people.
    pub fn name(self) -> String {
        match self {
            Self::Load => "loading the module".to_owned(),
            Self::Whole(call) => call.name().to_owned(),
            Self::Length(call) => format!("{}, its length", call.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_place_of_its_own() {
        let places: Vec<usize> = Traced::all().map(Traced::place).collect();
        assert_eq!(places, (0..Traced::COUNT).collect::<Vec<_>>());
        let digest = Traced::Length(Call::C_Digest);
        assert_eq!(digest.place(), Traced::Whole(Call::C_Digest).place());
    }
}
