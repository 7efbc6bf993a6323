//! `C_DecapsulateKey` of PKCS#11 3.2: whether a module has it, and the one call that is timed.

use std::ptr;

use cryptoki_sys::{
    CK_C_DecapsulateKey, CK_C_GetInterface, CK_FUNCTION_LIST_3_2, CK_INTERFACE, CK_OBJECT_HANDLE,
    CK_ULONG, CK_VERSION, CKR_OK,
};
use libloading::os::unix::Library;

use super::under_way::UnderWay;
use super::{Derived, Fault, Mechanism, Of, Operator, checked, secret_template};
use keymark_shim_protocol::pkcs11::Call;

/// `C_DecapsulateKey` of a module that has the interface of 3.2 (§5.4.6).
pub(crate) fn decapsulate_of(library: &Library) -> CK_C_DecapsulateKey {
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

impl Operator {
    /// `C_DecapsulateKey` by `CKM_ML_KEM`: the shared secret of that length, as an object of the session, for
    /// [`Self::take_value`].
    pub fn decapsulate(&mut self, ciphertext: &[u8], length: usize) -> Result<Derived, Fault> {
        const CALL: &str = Call::C_DecapsulateKey.name();
        let decapsulate = self.calls.decapsulate.ok_or(Fault {
            call: CALL,
            code: cryptoki_sys::CKR_FUNCTION_NOT_SUPPORTED,
        })?;
        let mut chosen = Mechanism::MlKem.chosen();
        let mut mechanism = chosen.mechanism();
        let length = length as CK_ULONG;
        let mut template = secret_template(&length);
        let mut derived: CK_OBJECT_HANDLE = 0;
        let under_way = UnderWay::begin(Call::C_DecapsulateKey);
        // SAFETY: mechanism, template and ciphertext live until the call returns, which reads them and
        // writes none of them; the handle of the new object is written to `derived`.
        let code = unsafe {
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
        };
        drop(under_way);
        checked(CALL, code)?;
        Ok(Derived(derived))
    }
}
