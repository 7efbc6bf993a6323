//! The calls of PKCS#11 that are taken down.

/// Declares the calls with their names.
macro_rules! calls {
    ($($name:ident,)+) => {
        /// A function of PKCS#11 3.2, as the specification spells it. What stands there later than a record
        /// of it is never moved: the place is the number in a trace.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(non_camel_case_types, missing_docs, reason = "the names are the specification's")]
        #[repr(u16)]
        pub enum Call {
            $($name,)+
        }

        impl Call {
            /// Every call, in the order of the function list.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }
        }
    };
}

calls! {
    C_Initialize,
    C_Finalize,
    C_GetInfo,
    C_GetFunctionList,
    C_GetSlotList,
    C_GetSlotInfo,
    C_GetTokenInfo,
    C_GetMechanismList,
    C_GetMechanismInfo,
    C_InitToken,
    C_InitPIN,
    C_SetPIN,
    C_OpenSession,
    C_CloseSession,
    C_CloseAllSessions,
    C_GetSessionInfo,
    C_GetOperationState,
    C_SetOperationState,
    C_Login,
    C_Logout,
    C_CreateObject,
    C_CopyObject,
    C_DestroyObject,
    C_GetObjectSize,
    C_GetAttributeValue,
    C_SetAttributeValue,
    C_FindObjectsInit,
    C_FindObjects,
    C_FindObjectsFinal,
    C_EncryptInit,
    C_Encrypt,
    C_EncryptUpdate,
    C_EncryptFinal,
    C_DecryptInit,
    C_Decrypt,
    C_DecryptUpdate,
    C_DecryptFinal,
    C_DigestInit,
    C_Digest,
    C_DigestUpdate,
    C_DigestKey,
    C_DigestFinal,
    C_SignInit,
    C_Sign,
    C_SignUpdate,
    C_SignFinal,
    C_SignRecoverInit,
    C_SignRecover,
    C_VerifyInit,
    C_Verify,
    C_VerifyUpdate,
    C_VerifyFinal,
    C_VerifyRecoverInit,
    C_VerifyRecover,
    C_DigestEncryptUpdate,
    C_DecryptDigestUpdate,
    C_SignEncryptUpdate,
    C_DecryptVerifyUpdate,
    C_GenerateKey,
    C_GenerateKeyPair,
    C_WrapKey,
    C_UnwrapKey,
    C_DeriveKey,
    C_SeedRandom,
    C_GenerateRandom,
    C_GetFunctionStatus,
    C_CancelFunction,
    C_WaitForSlotEvent,
    C_GetInterfaceList,
    C_GetInterface,
    C_LoginUser,
    C_SessionCancel,
    C_MessageEncryptInit,
    C_EncryptMessage,
    C_EncryptMessageBegin,
    C_EncryptMessageNext,
    C_MessageEncryptFinal,
    C_MessageDecryptInit,
    C_DecryptMessage,
    C_DecryptMessageBegin,
    C_DecryptMessageNext,
    C_MessageDecryptFinal,
    C_MessageSignInit,
    C_SignMessage,
    C_SignMessageBegin,
    C_SignMessageNext,
    C_MessageSignFinal,
    C_MessageVerifyInit,
    C_VerifyMessage,
    C_VerifyMessageBegin,
    C_VerifyMessageNext,
    C_MessageVerifyFinal,
    C_EncapsulateKey,
    C_DecapsulateKey,
    C_VerifySignatureInit,
    C_VerifySignature,
    C_VerifySignatureUpdate,
    C_VerifySignatureFinal,
    C_GetSessionValidationFlags,
    C_AsyncComplete,
    C_AsyncGetID,
    C_AsyncJoin,
    C_WrapKeyAuthenticated,
    C_UnwrapKeyAuthenticated,
}

/// What works with a private key; a twin's time is in these.
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

/// What of a call is taken down by itself.
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
const WITH_LENGTH: [Call; 5] = [
    Call::C_Sign,
    Call::C_SignFinal,
    Call::C_SignRecover,
    Call::C_Decrypt,
    Call::C_DecryptFinal,
];

impl Traced {
    /// How many there are.
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

    /// For people.
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
