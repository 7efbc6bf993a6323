//! What the crate `cryptoki` (0.12) lacks for measuring: operations that write into a buffer which is there,
//! by one call each. Its own `sign` and `decrypt` call the C function twice, the first time for the length,
//! which some tokens answer by doing the work. Everything else goes through that crate's safe interface.
//!
//! And which of a module's functions have been called and have not returned ([`under_way`]), for whoever watches.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

mod initialize;
mod mechanism;
mod quantum;
pub mod under_way;

use std::path::Path;
use std::ptr;

pub use cryptoki::object::ObjectHandle;
use cryptoki::session::Session;
use cryptoki_sys::{
    CK_ATTRIBUTE, CK_ATTRIBUTE_TYPE, CK_BBOOL, CK_C_DecapsulateKey, CK_C_Decrypt, CK_C_DecryptInit,
    CK_C_DeriveKey, CK_C_DestroyObject, CK_C_GetAttributeValue, CK_C_GetFunctionList, CK_C_GetInfo,
    CK_C_GetMechanismList, CK_C_Login, CK_C_Sign, CK_C_SignInit, CK_ECDH1_DERIVE_PARAMS, CK_FALSE,
    CK_FUNCTION_LIST, CK_INFO, CK_KEY_TYPE, CK_MECHANISM, CK_OBJECT_CLASS, CK_OBJECT_HANDLE, CK_RV,
    CK_TRUE, CK_ULONG, CKA_CLASS, CKA_EXTRACTABLE, CKA_KEY_TYPE, CKA_SENSITIVE, CKA_TOKEN,
    CKA_VALUE, CKA_VALUE_LEN, CKD_NULL, CKK_GENERIC_SECRET, CKM_ECDH1_DERIVE, CKO_SECRET_KEY,
    CKR_CRYPTOKI_NOT_INITIALIZED, CKR_OK, CKU_CONTEXT_SPECIFIC,
};
use zeroize::Zeroizing;

pub use initialize::arguments;
use keymark_shim_protocol::pkcs11::Call;
use mechanism::Chosen;
pub use mechanism::{Mechanism, MechanismInfo};
use under_way::UnderWay;

use crate::NativeError;
use crate::loader::{self, RTLD_LAZY, RTLD_LOCAL};

/// A call that the module refused: the function as the specification spells it, and the `CK_RV`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// `C_Sign`
    pub call: &'static str,
    /// What it returned.
    pub code: u64,
}

/// The function of an optional one: how the bindings name the types of functions.
trait Function {
    type Type;
}

impl<F> Function for Option<F> {
    type Type = F;
}

type Of<F> = <F as Function>::Type;

/// The addresses of a module's functions. The module stays loaded until the process ends.
#[derive(Clone, Copy, derive_more::Debug)]
#[debug("Calls")]
pub struct Calls {
    get_info: Of<CK_C_GetInfo>,
    login: Of<CK_C_Login>,
    sign_init: Of<CK_C_SignInit>,
    sign: Of<CK_C_Sign>,
    decrypt_init: Of<CK_C_DecryptInit>,
    decrypt: Of<CK_C_Decrypt>,
    derive: Of<CK_C_DeriveKey>,
    get_attributes: Of<CK_C_GetAttributeValue>,
    destroy: Of<CK_C_DestroyObject>,
    mechanism_list: Of<CK_C_GetMechanismList>,
    /// Of modules of PKCS#11 3.2.
    decapsulate: CK_C_DecapsulateKey,
}

impl Calls {
    /// Those of the module in that file. Loading it runs its initialisers: a module that nobody knows is
    /// loaded in a process that may end.
    pub fn of(file: &Path) -> Result<Self, NativeError> {
        let library = loader::load(file, RTLD_LAZY | RTLD_LOCAL)?;
        // SAFETY: the symbol has the type that the standard gives it (PKCS#11 3.1 §5.4.4).
        let give = unsafe { library.get::<Of<CK_C_GetFunctionList>>(b"C_GetFunctionList\0") }?;
        let mut list: *mut CK_FUNCTION_LIST = ptr::null_mut();
        // SAFETY: it writes one pointer, and may be called before C_Initialize (§5.4.4).
        let code = unsafe { give(&raw mut list) };
        if code != CKR_OK || list.is_null() {
            let reason = format!("C_GetFunctionList returned {code:#x}");
            return Err(NativeError::NotLoaded(reason));
        }
        // SAFETY: the list is the module's, constant and there for as long as it is loaded (§5.4.4).
        let list = unsafe { &*list };
        Self::found(list, quantum::decapsulate_of(library))
            .ok_or_else(|| NativeError::NotLoaded("it lacks functions of PKCS#11 2.40".to_owned()))
    }

    /// Whether a module that the crate cryptoki has initialised is so for these calls as well. p11-kit's proxy and
    /// client are another instance for each who asks for their functions, with sessions of its own.
    pub fn are_initialized(&self) -> bool {
        // SAFETY: a structure of numbers and octets, for which zero is a value.
        let mut info: CK_INFO = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is written during the call (§5.4.3).
        let code = unsafe { (self.get_info)(&raw mut info) };
        code != CKR_CRYPTOKI_NOT_INITIALIZED
    }

    fn found(list: &CK_FUNCTION_LIST, decapsulate: CK_C_DecapsulateKey) -> Option<Self> {
        Some(Self {
            get_info: list.C_GetInfo?,
            login: list.C_Login?,
            sign_init: list.C_SignInit?,
            sign: list.C_Sign?,
            decrypt_init: list.C_DecryptInit?,
            decrypt: list.C_Decrypt?,
            derive: list.C_DeriveKey?,
            get_attributes: list.C_GetAttributeValue?,
            destroy: list.C_DestroyObject?,
            mechanism_list: list.C_GetMechanismList?,
            decapsulate,
        })
    }
}

/// The PIN for a key that wants it at each use (`CKA_ALWAYS_AUTHENTICATE`).
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
pub struct PinEachUse(Zeroizing<Vec<u8>>);

impl PinEachUse {
    /// The one that the token has accepted.
    pub fn new(pin: &str) -> Self {
        Self(Zeroizing::new(pin.as_bytes().to_vec()))
    }
}

/// A key in a session of its own. Sessions are not shared between threads, which `Session` sees to.
#[derive(derive_more::Debug)]
#[debug("Operator")]
pub struct Operator {
    calls: Calls,
    session: Session,
    key: ObjectHandle,
    pin: Option<PinEachUse>,
}

/// The function that begins an operation, the one that does it, and their names.
struct Steps {
    init: (Call, Of<CK_C_SignInit>),
    operation: (Call, Of<CK_C_Sign>),
}

impl Operator {
    /// The key, by a session of the module that the calls are of.
    pub const fn new(calls: Calls, session: Session, key: ObjectHandle) -> Self {
        Self {
            calls,
            session,
            key,
            pin: None,
        }
    }

    /// The same, for a key that wants the PIN at each use: it is sent between the function that begins an
    /// operation and the one that does it (PKCS#11 3.1 §5.6.8, `CKU_CONTEXT_SPECIFIC`).
    pub fn with_pin(self, pin: PinEachUse) -> Self {
        Self {
            pin: Some(pin),
            ..self
        }
    }

    /// `C_SignInit`, `C_Login` where the key wants it, and `C_Sign`. Returns the signature's length.
    pub fn sign(
        &mut self,
        by: Mechanism,
        data: &[u8],
        signature: &mut [u8],
    ) -> Result<usize, Fault> {
        let steps = Steps {
            init: (Call::C_SignInit, self.calls.sign_init),
            operation: (Call::C_Sign, self.calls.sign),
        };
        self.one_part(by.chosen(), &steps, data, signature)
    }

    /// `C_DecryptInit`, `C_Login` where the key wants it, and `C_Decrypt`. Returns the plaintext's length.
    pub fn decrypt(
        &mut self,
        by: Mechanism,
        ciphertext: &[u8],
        plaintext: &mut [u8],
    ) -> Result<usize, Fault> {
        let steps = Steps {
            init: (Call::C_DecryptInit, self.calls.decrypt_init),
            operation: (Call::C_Decrypt, self.calls.decrypt),
        };
        self.one_part(by.chosen(), &steps, ciphertext, plaintext)
    }

    fn one_part(
        &self,
        mut chosen: Chosen,
        steps: &Steps,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Fault> {
        let session = self.session.handle();
        let mut mechanism = chosen.mechanism();
        let (call, init) = steps.init;
        let under_way = UnderWay::begin(call);
        // SAFETY: the mechanism and its parameter live until the call returns, and are read during it only
        // (§5.2.1); a session or an object that is gone is refused with a return code (§5.1.2).
        let code = unsafe { init(session, &raw mut mechanism, self.key.handle()) };
        drop(under_way);
        checked(call.name(), code)?;
        if let Some(PinEachUse(pin)) = &self.pin {
            let (text, length) = (pin.as_ptr().cast_mut(), pin.len() as CK_ULONG);
            let under_way = UnderWay::begin(Call::C_Login);
            // SAFETY: the PIN is read during the call and never written (§5.6.8).
            let code = unsafe { (self.calls.login)(session, CKU_CONTEXT_SPECIFIC, text, length) };
            drop(under_way);
            checked(Call::C_Login.name(), code)?;
        }
        let (call, operation) = steps.operation;
        let under_way = UnderWay::begin(call);
        let mut length = output.len() as CK_ULONG;
        // SAFETY: the input is read and never written (§5.2); no more of the output is written than the
        // length says, and the length then becomes what was written.
        let code = unsafe {
            operation(
                session,
                input.as_ptr().cast_mut(),
                input.len() as CK_ULONG,
                output.as_mut_ptr(),
                &raw mut length,
            )
        };
        drop(under_way);
        checked(call.name(), code)?;
        Ok(output.len().min(length as usize))
    }

    /// `C_DeriveKey` by `CKM_ECDH1_DERIVE` without a key derivation function: the shared secret of that
    /// length with the peer, as an object of the session, for [`Self::take_value`].
    pub fn derive(&mut self, peer: &[u8], length: usize) -> Result<Derived, Fault> {
        let mut parameter = CK_ECDH1_DERIVE_PARAMS {
            kdf: CKD_NULL,
            ulSharedDataLen: 0,
            pSharedData: ptr::null_mut(),
            ulPublicDataLen: peer.len() as CK_ULONG,
            pPublicData: peer.as_ptr().cast_mut(),
        };
        let mut mechanism = CK_MECHANISM {
            mechanism: CKM_ECDH1_DERIVE,
            pParameter: (&raw mut parameter).cast(),
            ulParameterLen: size_of::<CK_ECDH1_DERIVE_PARAMS>() as CK_ULONG,
        };
        let length = length as CK_ULONG;
        let mut template = secret_template(&length);
        let mut derived: CK_OBJECT_HANDLE = 0;
        let under_way = UnderWay::begin(Call::C_DeriveKey);
        // SAFETY: mechanism, parameter, peer and template live until the call returns, which reads them and
        // writes none of them; the handle of the new object is written to `derived`.
        let code = unsafe {
            (self.calls.derive)(
                self.session.handle(),
                &raw mut mechanism,
                self.key.handle(),
                template.as_mut_ptr(),
                template.len() as CK_ULONG,
                &raw mut derived,
            )
        };
        drop(under_way);
        checked(Call::C_DeriveKey.name(), code)?;
        Ok(Derived(derived))
    }

    /// `C_GetAttributeValue` of what was derived, and `C_DestroyObject`. Returns the secret's length.
    pub fn take_value(&mut self, derived: Derived, value: &mut [u8]) -> Result<usize, Fault> {
        let session = self.session.handle();
        let mut wanted = CK_ATTRIBUTE {
            type_: CKA_VALUE,
            pValue: value.as_mut_ptr().cast(),
            ulValueLen: value.len() as CK_ULONG,
        };
        let under_way = UnderWay::begin(Call::C_GetAttributeValue);
        // SAFETY: one attribute; no more than its length is written to the buffer that it points at, and
        // its length becomes what was written (§5.7.5).
        let read = unsafe { (self.calls.get_attributes)(session, derived.0, &raw mut wanted, 1) };
        // SAFETY: takes two numbers; an object that is gone is refused.
        let destroyed = unsafe { (self.calls.destroy)(session, derived.0) };
        drop(under_way);
        checked("C_GetAttributeValue", read)?;
        checked("C_DestroyObject", destroyed)?;
        Ok(value.len().min(wanted.ulValueLen as usize))
    }
}

/// A secret that was derived and is still in its token.
#[derive(Debug)]
pub struct Derived(CK_OBJECT_HANDLE);

/// What a shared secret becomes: an object of the session, whose value may be read.
const fn secret_template(length: &CK_ULONG) -> [CK_ATTRIBUTE; 6] {
    const CLASS: &CK_OBJECT_CLASS = &CKO_SECRET_KEY;
    const KIND: &CK_KEY_TYPE = &CKK_GENERIC_SECRET;
    const YES: &CK_BBOOL = &CK_TRUE;
    const NO: &CK_BBOOL = &CK_FALSE;
    [
        attribute(CKA_CLASS, CLASS),
        attribute(CKA_KEY_TYPE, KIND),
        attribute(CKA_TOKEN, NO),
        attribute(CKA_SENSITIVE, NO),
        attribute(CKA_EXTRACTABLE, YES),
        attribute(CKA_VALUE_LEN, length),
    ]
}

/// An attribute that points at its value, for a call that reads it.
const fn attribute<T>(kind: CK_ATTRIBUTE_TYPE, value: &T) -> CK_ATTRIBUTE {
    CK_ATTRIBUTE {
        type_: kind,
        pValue: ptr::from_ref(value).cast_mut().cast(),
        ulValueLen: size_of::<T>() as CK_ULONG,
    }
}

const fn checked(call: &'static str, code: CK_RV) -> Result<(), Fault> {
    match code {
        CKR_OK => Ok(()),
        code => Err(Fault { call, code }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_is_refused_with_the_reason() {
        for (file, expected) in [
            ("/nonexistent/module.so", "/nonexistent/module.so"),
            ("/etc/passwd", "ELF"),
            ("libm.so.6", "C_GetFunctionList"),
        ] {
            let refused = Calls::of(Path::new(file)).unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
