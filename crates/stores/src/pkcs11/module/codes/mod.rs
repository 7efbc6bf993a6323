//! Return codes of PKCS#11 modules (3.2 §5.1): their names, and what to do.

use std::ffi::c_ulong;

use cryptoki::error::{Error as CryptokiError, Rv, RvError};
use keymark_bench::{Error, ReturnCode};

use crate::sayings;

const VENDOR_DEFINED: u32 = 0x8000_0000;

/// A line for codes that mean the same: their numbers and names, what that is, and what to do.
const MEANINGS: &str = include_str!("../../../../../../data/pkcs11/codes.txt");

/// The code's name, its meaning, and what to do.
fn row(number: u32) -> Option<(&'static str, &'static str, &'static str)> {
    let number = format!("{number:#05x}");
    sayings::rows(MEANINGS).find_map(|(codes, meaning, advice)| {
        let mut words = codes.split(' ');
        words.find(|known| *known == number)?;
        Some((words.next()?, meaning, advice))
    })
}

/// Explains a failure of the crate that calls the module: most often a call that the module refused, with the name of
/// its code.
#[allow(clippy::wildcard_enum_match_arm, reason = "others have own words")]
pub(crate) fn failed(error: CryptokiError) -> Error {
    let calling = "calling a PKCS#11 module";
    match error {
        CryptokiError::Pkcs11(code, function) => {
            let code = number(code);
            let (_, reason, advice) = row(code).unwrap_or((
                "",
                "a code defined by its maker",
                "see the module's manual or its own log",
            ));
            let code = ReturnCode::named(name(code), code);
            Error::refused(format!("C_{function:?}"), code, reason, advice)
        }
        CryptokiError::NullFunctionPointer => {
            let reason = "it lacks a function that every module has";
            Error::call(calling, reason, "is it the right file?")
        }
        error => Error::call(calling, error, ""),
    }
}

/// The code itself, where a module has returned one.
pub(crate) const fn returned(error: &CryptokiError) -> Option<RvError> {
    if let CryptokiError::Pkcs11(code, _) = error {
        Some(*code)
    } else {
        None
    }
}

/// A code's name, as the specification spells it.
pub fn name(number: u32) -> String {
    match (row(number), number.checked_sub(VENDOR_DEFINED)) {
        (Some((name, ..)), _) => name.to_owned(),
        (None, Some(own)) => format!("CKR_VENDOR_DEFINED+{own:#x}"),
        (None, None) => format!("CKR_{number:#x}"),
    }
}

/// All codes have 32 bits, wherever CK_RV has 64.
fn rv(number: u32) -> Rv {
    Rv::from(c_ulong::from(number))
}

/// The crate does not give the numbers of its codes, which are its own matching of them.
#[allow(clippy::wildcard_enum_match_arm, reason = "others are looked up")]
fn number(code: RvError) -> u32 {
    match code {
        RvError::VendorDefined(number) | RvError::UnknownErrorCode(number) => number as u32,
        code => (0..HIGHEST)
            .find(|number| rv(*number) == Rv::Error(code))
            .unwrap_or_default(),
    }
}

/// Beyond the codes of PKCS#11 3.2 (§5.1).
const HIGHEST: u32 = 0x210;

#[cfg(test)]
mod tests {
    use cryptoki::context::Function;
    use keymark_shim_protocol::pkcs11::twin::CKR_TWIN_TOO_FAST;

    use super::*;

    fn refused(function: Function, code: u32) -> CryptokiError {
        rv(code).into_result(function).unwrap_err()
    }

    /// Every code that the crate knows has its name and number, and says what it means in few words.
    #[test]
    fn every_code_has_its_name_its_meaning_and_advice() {
        for number in (1..HIGHEST).chain([CKR_TWIN_TOO_FAST]) {
            let known = !matches!(rv(number), Rv::Error(RvError::UnknownErrorCode(_)));
            let Some((name, meaning, advice)) = row(number) else {
                assert!(!known, "{number:#x}");
                continue;
            };
            let said = failed(refused(Function::Sign, number));
            let code = said.code().unwrap();
            assert_eq!((code.name.as_ref(), code.number), (name, number));
            if let Rv::Error(code) = rv(number)
                && number < HIGHEST
                && known
            {
                let spelled = format!("Ckr{code:?}").to_ascii_lowercase();
                assert_eq!(name.replace('_', "").to_ascii_lowercase(), spelled);
            }
            // Two lines of a terminal of 100 columns, with the function before it.
            assert!(!meaning.is_empty() && !advice.is_empty(), "{name}");
            assert!(meaning.len() + advice.len() + name.len() < 180, "{name}");
        }
        assert_eq!(MEANINGS.matches(" CKR_").count(), 104);
    }

    #[test]
    fn codes_of_vendors_and_of_the_future_keep_their_number() {
        let said = |code| failed(refused(Function::Login, code)).to_string();
        assert!(said(0x8000_0123).contains("CKR_VENDOR_DEFINED+0x123"));
        assert!(said(0x3ff).contains("CKR_0x3ff"));
    }
}
