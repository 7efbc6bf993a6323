//! What the crate `cryptoki` (0.12) lacks for measuring: operations that write into a buffer which is there,
//! by one call each. Its own `sign` and `decrypt` call the C function twice, the first time for the length,
//! which some tokens answer by doing the work. Everything else goes through that crate's safe interface.
//!
//! And which of a module's functions have been called and have not returned ([`under_way`]), for whoever watches.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")
)]

mod mechanism;
pub mod under_way;

pub use cryptoki::object::ObjectHandle;
pub use mechanism::{Mechanism, MechanismInfo};

use std::ffi::CString;
use std::path::Path;
use std::ptr::{self, NonNull};

use cryptoki::context::{CInitializeArgs, CInitializeFlags};
use cryptoki::session::Session;
use cryptoki_sys::{
    CK_ATTRIBUTE, CK_ATTRIBUTE_TYPE, CK_BBOOL, CK_C_DecapsulateKey, CK_C_Decrypt, CK_C_DecryptInit,
    CK_C_DeriveKey, CK_C_DestroyObject, CK_C_GetAttributeValue, CK_C_GetFunctionList, CK_C_GetInfo,
    CK_C_GetInterface, CK_C_GetMechanismList, CK_C_Login, CK_C_Sign, CK_C_SignInit,
    CK_ECDH1_DERIVE_PARAMS, CK_FALSE, CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_2, CK_INFO,
    CK_INTERFACE, CK_KEY_TYPE, CK_MECHANISM, CK_OBJECT_CLASS, CK_OBJECT_HANDLE, CK_RV, CK_TRUE,
    CK_ULONG, CK_VERSION, CKA_CLASS, CKA_EXTRACTABLE, CKA_KEY_TYPE, CKA_SENSITIVE, CKA_TOKEN,
    CKA_VALUE, CKA_VALUE_LEN, CKD_NULL, CKK_GENERIC_SECRET, CKM_ECDH1_DERIVE, CKO_SECRET_KEY,
    CKR_CRYPTOKI_NOT_INITIALIZED, CKR_OK, CKU_CONTEXT_SPECIFIC,
};
use keymark_shim_protocol::pkcs11::{Call, Of};
use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use under_way::UnderWay;
use zeroize::Zeroizing;

use crate::NativeError;

/// A call that the module refused: the function as the specification spells it, and the `CK_RV`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// `C_Sign`
    pub call: &'static str,
    /// What it returned.
    pub code: u64,
}

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
        let library = crate::load(file, RTLD_LAZY | RTLD_LOCAL)?;
        // SAFETY: the symbol has the type that the standard gives it (PKCS#11 3.1 §5.4.4).
        let give = unsafe { library.get::<Of<CK_C_GetFunctionList>>(b"C_GetFunctionList\0") }?;
        let mut list: *mut CK_FUNCTION_LIST = ptr::null_mut();
        // SAFETY: it writes one pointer, and may be called before C_Initialize (§5.4.4).
        let code = unsafe { give(&raw mut list) };
        if code != CKR_OK || list.is_null() {
            let reason = format!("C_GetFunctionList returned {code:#x}");
            return Err(NativeError(reason));
        }
        // SAFETY: the list is the module's, constant and there for as long as it is loaded (§5.4.4).
        let list = unsafe { &*list };
        Self::found(list, decapsulate_of(library))
            .ok_or_else(|| NativeError("it lacks functions of PKCS#11 2.40".to_owned()))
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

/// What `C_Initialize` is told. Locks of the system's are fine; a module that has none of its own is used from one thread
/// only. What stands in `pReserved` is a module's own affair (NSS wants its directory there), and stays until the process
/// ends, as modules may keep the pointer.
pub fn arguments(reserved: Option<&str>) -> Result<CInitializeArgs, String> {
    let flags = CInitializeFlags::OS_LOCKING_OK;
    let text = reserved.map(CString::new).transpose();
    let text = text.map_err(|_| "x-init-reserved contains a zero byte".to_owned())?;
    Ok(match text.and_then(|text| NonNull::new(text.into_raw())) {
        None => CInitializeArgs::new(flags),
        // SAFETY: a string that ends with a zero and is never freed; modules that want anything there want that
        // (pkcs11.conf(5), x-init-reserved).
        Some(text) => unsafe { CInitializeArgs::new_with_reserved(flags, text.cast()) },
    })
}

/// `C_DecapsulateKey` of a module that has the interface of 3.2 (§5.4.6).
fn decapsulate_of(library: &Library) -> CK_C_DecapsulateKey {
    // SAFETY: the symbol has the type that the standard gives it.
    let give = unsafe { library.get::<Of<CK_C_GetInterface>>(b"C_GetInterface\0") }.ok()?;
    let mut version = CK_VERSION { major: 3, minor: 2 };
    let mut interface: *mut CK_INTERFACE = ptr::null_mut();
    let name = c"PKCS 11".as_ptr().cast_mut().cast();
    // SAFETY: name and version are read during the call, and one pointer is
    // written. It may be called before C_Initialize.
    let code = unsafe { give(name, &raw mut version, &raw mut interface, 0) };
    if code != CKR_OK || interface.is_null() {
        return None;
    }
    // SAFETY: the interface is the module's, constant and there for as long as it is loaded.
    let list = unsafe { (*interface).pFunctionList };
    if list.is_null() {
        return None;
    }
    // SAFETY: every list of functions begins with its version (§3.6).
    let CK_VERSION { major, minor } = unsafe { *list.cast::<CK_VERSION>() };
    if (major, minor) < (3, 2) {
        return None;
    }
    // SAFETY: later lists only add to the end of that of 3.2, which this one is at least.
    unsafe { (*list.cast::<CK_FUNCTION_LIST_3_2>()).C_DecapsulateKey }
}

/// A key in a session of its own. Sessions are not shared between threads, which `Session` sees to.
#[derive(derive_more::Debug)]
#[debug("Operator")]
pub struct Operator {
    /// Of the module that the session is of.
    pub calls: Calls,
    /// Nobody else's.
    pub session: Session,
    /// The key.
    pub key: ObjectHandle,
    /// Of a key that wants it at each use (`CKA_ALWAYS_AUTHENTICATE`): it is sent between the function that begins an
    /// operation and the one that does it (PKCS#11 3.1 §5.6.8, `CKU_CONTEXT_SPECIFIC`).
    pub pin: Option<Zeroizing<String>>,
}

impl Operator {
    /// `C_SignInit`, `C_Login` where the key wants it, and `C_Sign`. Returns the signature's length.
    pub fn sign(
        &mut self,
        by: Mechanism,
        data: &[u8],
        signature: &mut [u8],
    ) -> Result<usize, Fault> {
        let init = (Call::C_SignInit, self.calls.sign_init);
        self.one_part(by, init, (Call::C_Sign, self.calls.sign), data, signature)
    }

    /// `C_DecryptInit`, `C_Login` where the key wants it, and `C_Decrypt`. Returns the plaintext's length.
    pub fn decrypt(
        &mut self,
        by: Mechanism,
        ciphertext: &[u8],
        plaintext: &mut [u8],
    ) -> Result<usize, Fault> {
        let init = (Call::C_DecryptInit, self.calls.decrypt_init);
        let operation = (Call::C_Decrypt, self.calls.decrypt);
        self.one_part(by, init, operation, ciphertext, plaintext)
    }

    /// By the function that begins an operation and the one that does it.
    fn one_part(
        &self,
        by: Mechanism,
        (begin, init): (Call, Of<CK_C_SignInit>),
        (call, operation): (Call, Of<CK_C_Sign>),
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Fault> {
        let session = self.session.handle();
        let mut row = by.row();
        let mut mechanism = row.mechanism();
        // SAFETY: the mechanism and its parameter live until the call returns, and are read during it only
        // (§5.2.1); a session or an object that is gone is refused with a return code (§5.1.2).
        made(begin, || unsafe {
            init(session, &raw mut mechanism, self.key.handle())
        })?;
        if let Some(pin) = &self.pin {
            let (text, length) = (pin.as_ptr().cast_mut(), pin.len() as CK_ULONG);
            // SAFETY: the PIN is read during the call and never written (§5.6.8).
            made(Call::C_Login, || unsafe {
                (self.calls.login)(session, CKU_CONTEXT_SPECIFIC, text, length)
            })?;
        }
        let mut length = output.len() as CK_ULONG;
        // SAFETY: the input is read and never written (§5.2); no more of the output is written than the
        // length says, and the length then becomes what was written.
        made(call, || unsafe {
            operation(
                session,
                input.as_ptr().cast_mut(),
                input.len() as CK_ULONG,
                output.as_mut_ptr(),
                &raw mut length,
            )
        })?;
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
        // SAFETY: mechanism, parameter, peer and template live until the call returns, which reads them and
        // writes none of them; the handle of the new object is written to `derived`.
        made(Call::C_DeriveKey, || unsafe {
            (self.calls.derive)(
                self.session.handle(),
                &raw mut mechanism,
                self.key.handle(),
                template.as_mut_ptr(),
                template.len() as CK_ULONG,
                &raw mut derived,
            )
        })?;
        Ok(Derived(derived))
    }

    /// `C_DecapsulateKey` by `CKM_ML_KEM`: the shared secret of that length, as an object of the session, for
    /// [`Self::take_value`].
    pub fn decapsulate(&mut self, ciphertext: &[u8], length: usize) -> Result<Derived, Fault> {
        let decapsulate = self.calls.decapsulate.ok_or(Fault {
            call: Call::C_DecapsulateKey.name(),
            code: cryptoki_sys::CKR_FUNCTION_NOT_SUPPORTED,
        })?;
        let mut row = Mechanism::MlKem.row();
        let mut mechanism = row.mechanism();
        let length = length as CK_ULONG;
        let mut template = secret_template(&length);
        let mut derived: CK_OBJECT_HANDLE = 0;
        // SAFETY: mechanism, template and ciphertext live until the call returns, which reads them and
        // writes none of them; the handle of the new object is written to `derived`.
        made(Call::C_DecapsulateKey, || unsafe {
            decapsulate(
                self.session.handle(),
                &raw mut mechanism,
                self.key.handle(),
                template.as_mut_ptr(),
                template.len() as CK_ULONG,
                ciphertext.as_ptr().cast_mut(),
                ciphertext.len() as CK_ULONG,
                &raw mut derived,
            )
        })?;
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
        // SAFETY: one attribute; no more than its length is written to the buffer that it points at, and
        // its length becomes what was written (§5.7.5).
        let read = made(Call::C_GetAttributeValue, || unsafe {
            (self.calls.get_attributes)(session, derived.0, &raw mut wanted, 1)
        });
        // SAFETY: takes two numbers; an object that is gone is refused.
        let destroyed = made(Call::C_DestroyObject, || unsafe {
            (self.calls.destroy)(session, derived.0)
        });
        read.and(destroyed)?;
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

/// Makes a call, of which whoever watches is told until it returns.
#[inline]
fn made(call: Call, function: impl FnOnce() -> CK_RV) -> Result<(), Fault> {
    let under_way = UnderWay::begin(call);
    let code = function();
    drop(under_way);
    match code {
        CKR_OK => Ok(()),
        code => Err(Fault {
            call: call.name(),
            code,
        }),
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
