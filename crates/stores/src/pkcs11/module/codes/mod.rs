//! Return codes of PKCS#11 modules (3.2 §5.1): their names, and what to do.

use std::ffi::c_ulong;

use cryptoki::error::{Error as CryptokiError, Rv, RvError};
use keymark_bench::{Error, ReturnCode};
use keymark_shim_protocol::pkcs11::twin::CKR_TWIN_TOO_FAST;

use crate::sayings;

const VENDOR_DEFINED: u32 = 0x8000_0000;

/// A line for codes that mean the same: their names, what that is, and what to do.
const MEANINGS: &str = include_str!("../../../../../../data/pkcs11/codes.txt");

fn meaning(name: &str) -> (&'static str, &'static str) {
    sayings::meaning(MEANINGS, name).unwrap_or((
        "a code defined by its maker",
        "see the module's manual or its own log",
    ))
}

/// Explains a failure of the crate that calls the module: most often a call that the module refused, with the name of
/// its code.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the others have words of their own"
)]
pub(crate) fn failed(error: CryptokiError) -> Error {
    let calling = "calling a PKCS#11 module";
    match error {
        CryptokiError::Pkcs11(code, function) => {
            let code = number(code);
            let name = name(code);
            let (reason, advice) = meaning(&name);
            let code = ReturnCode::named(name, code);
            Error::refused(format!("C_{function:?}"), code, reason, advice)
        }
        CryptokiError::NullFunctionPointer => {
            let reason = "it lacks a function that every module has";
            Error::call(calling, reason, "is it the right file?")
        }
        error => Error::call(calling, error, ""),
    }
}

/// Explains a failure of RSA-OAEP with SHA-256, which tokens refuse that know no digest but SHA-1.
pub(crate) fn refused_oaep(error: CryptokiError) -> Error {
    let by_digest = matches!(
        returned(&error),
        Some(RvError::ArgumentsBad | RvError::MechanismParamInvalid)
    );
    match (by_digest, failed(error)) {
        (true, Error::Refused { call, code, .. }) => Error::refused(
            call,
            code,
            "the token does not accept SHA-256 for OAEP",
            "older tokens accept --scheme oaep-sha1",
        ),
        (_, error) => error,
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
    let newer = NEWER.iter().find(|(code, _)| *code == number);
    match (newer, rv(number)) {
        (Some((_, name)), _) => (*name).to_owned(),
        (None, Rv::Error(RvError::VendorDefined(_))) => {
            format!("CKR_VENDOR_DEFINED+{:#x}", number - VENDOR_DEFINED)
        }
        (None, Rv::Ok | Rv::Error(RvError::UnknownErrorCode(_))) => format!("CKR_{number:#x}"),
        (None, Rv::Error(code)) => spelled(code),
    }
}

/// All codes have 32 bits, wherever CK_RV has 64.
fn rv(number: u32) -> Rv {
    Rv::from(c_ulong::from(number))
}

/// The crate has names of its own for the codes: `PinIncorrect`.
fn spelled(code: RvError) -> String {
    let mut name = "CKR".to_owned();
    for letter in format!("{code:?}").chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// The crate does not give the numbers of its codes, which are its own matching of them.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the others are found by their number"
)]
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

/// Codes of PKCS#11 3.0 to 3.2, and of keymark's own module, that the crate has no names for.
const NEWER: &[(u32, &str)] = &[
    (CKR_TWIN_TOO_FAST, "CKR_TWIN_TOO_FAST"),
    (0x042, "CKR_AEAD_DECRYPT_FAILED"),
    (0x201, "CKR_TOKEN_RESOURCE_EXCEEDED"),
    (0x202, "CKR_OPERATION_CANCEL_FAILED"),
    (0x203, "CKR_KEY_EXHAUSTED"),
    (0x204, "CKR_PENDING"),
    (0x205, "CKR_SESSION_ASYNC_NOT_SUPPORTED"),
    (0x206, "CKR_SEED_RANDOM_REQUIRED"),
    (0x207, "CKR_OPERATION_NOT_VALIDATED"),
    (0x208, "CKR_TOKEN_NOT_INITIALIZED"),
    (0x209, "CKR_PARAMETER_SET_NOT_SUPPORTED"),
];

#[cfg(test)]
mod tests {
    use cryptoki::context::Function;

    use super::*;

    fn refused(function: Function, code: u32) -> CryptokiError {
        rv(code).into_result(function).unwrap_err()
    }

    fn codes() -> impl Iterator<Item = (u32, String)> {
        let numbers = (1..HIGHEST).chain([CKR_TWIN_TOO_FAST]);
        let named = numbers.map(|number| (number, name(number)));
        named.filter(|(number, name)| *name != format!("CKR_{number:#x}"))
    }

    #[test]
    fn every_code_has_its_name_and_its_number() {
        // Of PKCS#11 3.2 §5.1, the first, the last, and some between.
        for (number, spelled) in [
            (0x001, "CKR_CANCEL"),
            (0x0a4, "CKR_PIN_LOCKED"),
            (0x121, "CKR_RANDOM_NO_RNG"),
            (0x191, "CKR_CRYPTOKI_ALREADY_INITIALIZED"),
            (0x1b1, "CKR_NEXT_OTP"),
            (0x1b6, "CKR_FIPS_SELF_TEST_FAILED"),
            (0x201, "CKR_TOKEN_RESOURCE_EXCEEDED"),
            (0x209, "CKR_PARAMETER_SET_NOT_SUPPORTED"),
        ] {
            assert_eq!(name(number), spelled);
        }
        assert_eq!(codes().count(), 104);
        for (code, name) in codes() {
            let said = failed(refused(Function::Sign, code));
            let known = said.code().unwrap();
            assert_eq!((known.name.as_ref(), known.number), (name.as_str(), code));
        }
    }

    #[test]
    fn what_has_a_meaning_is_a_code() {
        for name in sayings::rows(MEANINGS).flat_map(|(names, ..)| names.split(' ')) {
            assert!(codes().any(|(_, known)| known == name), "{name}");
        }
    }

    #[test]
    fn every_code_says_what_it_means_and_what_to_do_in_few_words() {
        let own = [0x8000_0123, 0x3ff];
        for code in codes().map(|(code, _)| code).chain(own) {
            let name = name(code);
            let (meaning, advice) = meaning(&name);
            assert!(!meaning.is_empty() && !advice.is_empty(), "{name}");
            let known = sayings::rows(MEANINGS)
                .filter(|(names, ..)| names.split(' ').any(|known| known == name));
            assert_eq!(known.count(), usize::from(!own.contains(&code)), "{name}");
            // Two lines of a terminal of 100 columns, with the function before it.
            assert!(meaning.len() + advice.len() + name.len() < 180, "{name}");
        }
    }

    #[test]
    fn codes_of_vendors_and_of_the_future_keep_their_number() {
        let said = |code| failed(refused(Function::Login, code)).to_string();
        assert!(said(0x8000_0123).contains("CKR_VENDOR_DEFINED+0x123"));
        assert!(said(0x3ff).contains("CKR_0x3ff"));
    }

    #[test]
    fn a_token_without_sha_256_for_oaep_says_what_it_takes() {
        let error = |code| refused(Function::DecryptInit, code);
        for code in [0x07, 0x71] {
            let said = refused_oaep(error(code)).to_string();
            assert!(
                said.contains("CKR_") && said.contains("oaep-sha1"),
                "{said}"
            );
        }
        assert_eq!(refused_oaep(error(0x30)), failed(error(0x30)));
    }

    #[test]
    fn a_wrong_pin_says_what_to_do() {
        let said = failed(refused(Function::Login, 0xa0)).to_string();
        for part in [
            "C_Login failed: CKR_PIN_INCORRECT",
            "sent once",
            "resets the tries",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
}
