//! Calls that the crate `cryptoki` (0.12) lacks for measuring: `C_Sign`, `C_Decrypt` and `C_GetAttributeValue` that
//! write into a buffer which is there, by one call each. Its own call the C function twice, the first time for the
//! length, which some tokens answer by doing the work. Everything else goes through that crate's safe interface.
//!
//! And which of a module's functions have been called and have not returned ([`under_way`]), for observers.

mod mechanism;
pub mod under_way;

pub use mechanism::{Mechanism, MechanismInfo};

use std::ffi::CString;
use std::path::Path;
use std::ptr::{self, NonNull};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Function};
use cryptoki::error::{Result, Rv};
use cryptoki::mechanism::Mechanism as Asked;
use cryptoki::object::{Attribute, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;
use cryptoki_sys::{
    CK_ATTRIBUTE, CK_C_Decrypt, CK_C_GetAttributeValue, CK_C_GetFunctionList, CK_C_GetInfo,
    CK_C_GetMechanismList, CK_C_Sign, CK_FUNCTION_LIST, CK_INFO, CK_ULONG, CKA_VALUE,
    CKR_CRYPTOKI_NOT_INITIALIZED, CKR_OK,
};
use keymark_shim_protocol::pkcs11::{Call, Of};
use libloading::os::unix::{RTLD_LAZY, RTLD_LOCAL};
use under_way::UnderWay;

use crate::NativeError;

/// The addresses of a module's functions. The module stays loaded until the process ends.
#[derive(Clone, Copy, derive_more::Debug)]
#[debug("Calls")]
pub struct Calls {
    get_info: Of<CK_C_GetInfo>,
    sign: Of<CK_C_Sign>,
    decrypt: Of<CK_C_Decrypt>,
    get_attributes: Of<CK_C_GetAttributeValue>,
    mechanism_list: Of<CK_C_GetMechanismList>,
}

impl Calls {
    /// Loads the calls of the module in that file. Loading it runs its initializers: a module that nobody knows is
    /// loaded in a process that may end.
    pub fn of(file: &Path) -> std::result::Result<Self, NativeError> {
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
        Self::found(list)
            .ok_or_else(|| NativeError("it lacks functions of PKCS#11 2.40".to_owned()))
    }

    /// Returns whether a module that the crate cryptoki has initialized is also so for these calls. p11-kit's
    /// proxy and client are another instance for each who asks for their functions, with sessions of its own.
    pub fn are_initialized(&self) -> bool {
        // SAFETY: a structure of numbers and octets, for which zero is a value.
        let mut info: CK_INFO = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is written during the call (§5.4.3).
        let code = unsafe { (self.get_info)(&raw mut info) };
        code != CKR_CRYPTOKI_NOT_INITIALIZED
    }

    fn found(list: &CK_FUNCTION_LIST) -> Option<Self> {
        Some(Self {
            get_info: list.C_GetInfo?,
            sign: list.C_Sign?,
            decrypt: list.C_Decrypt?,
            get_attributes: list.C_GetAttributeValue?,
            mechanism_list: list.C_GetMechanismList?,
        })
    }
}

/// Returns the arguments of `C_Initialize`. Locks of the system's are fine; a module that has none of its own is used
/// from one thread only. The content of `pReserved` is a module's own affair (NSS wants its directory there), and
/// stays until the process ends, as modules may keep the pointer.
pub fn arguments(reserved: Option<&str>) -> std::result::Result<CInitializeArgs, String> {
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

/// A key in a session of its own. Sessions are not shared between threads, which `Session` sees to.
#[derive(derive_more::Debug)]
#[debug("Operator")]
pub struct Operator {
    /// Calls of the session's module.
    pub calls: Calls,
    /// Nobody else's.
    pub session: Session,
    /// The key.
    pub key: ObjectHandle,
    /// PIN of a key that wants it at each use (`CKA_ALWAYS_AUTHENTICATE`): it is sent between the function that
    /// begins an operation and the one that does it (PKCS#11 3.1 §5.6.8, `CKU_CONTEXT_SPECIFIC`).
    pub pin: Option<AuthPin>,
}

impl Operator {
    /// `C_SignInit`, `C_Login` where the key wants it, and `C_Sign`. Returns the signature's length.
    pub fn sign(&self, by: Mechanism, data: &[u8], signature: &mut [u8]) -> Result<usize> {
        let init = || self.session.sign_init(&by.asked(), self.key);
        made(Call::C_SignInit, init)?;
        let operation = (Call::C_Sign, Function::Sign, self.calls.sign);
        self.one_part(operation, data, signature)
    }

    /// `C_DecryptInit`, `C_Login` where the key wants it, and `C_Decrypt`. Returns the plaintext's length.
    pub fn decrypt(&self, by: Mechanism, ciphertext: &[u8], plaintext: &mut [u8]) -> Result<usize> {
        let init = || self.session.decrypt_init(&by.asked(), self.key);
        made(Call::C_DecryptInit, init)?;
        let operation = (Call::C_Decrypt, Function::Decrypt, self.calls.decrypt);
        self.one_part(operation, ciphertext, plaintext)
    }

    /// Does what was begun.
    fn one_part(
        &self,
        (call, function, operation): (Call, Function, Of<CK_C_Sign>),
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        if let Some(pin) = &self.pin {
            let login = || self.session.login(UserType::ContextSpecific, Some(pin));
            made(Call::C_Login, login)?;
        }
        let mut length = output.len() as CK_ULONG;
        made(call, || {
            // SAFETY: the input is read and never written (§5.2); no more of the output is written than the
            // length says, and the length then becomes what was written.
            let code = unsafe {
                operation(
                    self.session.handle(),
                    input.as_ptr().cast_mut(),
                    input.len() as CK_ULONG,
                    output.as_mut_ptr(),
                    &raw mut length,
                )
            };
            Rv::from(code).into_result(function)
        })?;
        Ok(output.len().min(length as usize))
    }

    /// `C_DeriveKey` by `CKM_ECDH1_DERIVE`: the shared secret with the peer, as such an object, for
    /// [`Self::take_value`].
    pub fn derive(&self, peer: &[u8], secret: &[Attribute]) -> Result<ObjectHandle> {
        let by = mechanism::ecdh(peer);
        let derive = || self.session.derive_key(&by, self.key, secret);
        made(Call::C_DeriveKey, derive)
    }

    /// `C_DecapsulateKey` by `CKM_ML_KEM`: the shared secret, as such an object, for [`Self::take_value`].
    pub fn decapsulate(&self, ciphertext: &[u8], secret: &[Attribute]) -> Result<ObjectHandle> {
        made(Call::C_DecapsulateKey, || {
            let session = &self.session;
            session.decapsulate_key(&Asked::MlKem, self.key, secret, ciphertext)
        })
    }

    /// `C_GetAttributeValue` of what was derived, and `C_DestroyObject`. Returns the secret's length.
    pub fn take_value(&self, derived: ObjectHandle, value: &mut [u8]) -> Result<usize> {
        let mut wanted = CK_ATTRIBUTE {
            type_: CKA_VALUE,
            pValue: value.as_mut_ptr().cast(),
            ulValueLen: value.len() as CK_ULONG,
        };
        let read = made(Call::C_GetAttributeValue, || {
            let (session, object) = (self.session.handle(), derived.handle());
            // SAFETY: one attribute; at most its length is written to the buffer that it points at, and
            // its length becomes what was written (§5.7.5).
            let code = unsafe { (self.calls.get_attributes)(session, object, &raw mut wanted, 1) };
            Rv::from(code).into_result(Function::GetAttributeValue)
        });
        let destroy = || self.session.destroy_object(derived);
        let destroyed = made(Call::C_DestroyObject, destroy);
        read.and(destroyed)?;
        Ok(value.len().min(wanted.ulValueLen as usize))
    }
}

/// Makes a call, which observers see until it returns.
#[inline]
fn made<T>(call: Call, function: impl FnOnce() -> Result<T>) -> Result<T> {
    let _under_way = UnderWay::begin(call);
    function()
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
