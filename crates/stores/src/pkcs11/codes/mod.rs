//! Return codes of PKCS#11 modules (3.2 §5.1): their names, and what to do.

mod meanings;

use cryptoki::error::{Error as CryptokiError, RvError};
use keymark_bench::error::{Error, ReturnCode};
use keymark_cryptoki::Fault;

use meanings::meaning;

/// From here on codes are a vendor's own (§5.1.7).
const VENDOR_DEFINED: u64 = 0x8000_0000;

/// A call that a module refused, with the name of its code.
pub(super) fn refused(fault: Fault) -> Error {
    let name = name(fault.code);
    let (reason, advice) = meaning(&name);
    // All codes have 32 bits, wherever CK_ULONG has 64.
    let code = ReturnCode::named(name, fault.code as u32);
    Error::refused(fault.call, code, reason, advice)
}

/// The same of RSA-OAEP with SHA-256, which tokens refuse that know no digest but SHA-1.
pub(super) fn refused_oaep(fault: Fault) -> Error {
    let name = name(fault.code);
    match name.as_str() {
        "CKR_ARGUMENTS_BAD" | "CKR_MECHANISM_PARAM_INVALID" => Error::refused(
            fault.call,
            ReturnCode::named(name, fault.code as u32),
            "the token does not take SHA-256 for OAEP",
            "--scheme oaep-sha1 is what older tokens take",
        ),
        _ => refused(fault),
    }
}

/// What went wrong in the crate that calls the module.
pub(super) fn failed(error: &CryptokiError) -> Error {
    let calling = "calling a PKCS#11 module";
    if let CryptokiError::Pkcs11(code, function) = error {
        let name = name_of(*code);
        let (reason, advice) = meaning(&name);
        let code = ReturnCode::named(name, number(*code) as u32);
        Error::refused(format!("C_{function:?}"), code, reason, advice)
    } else if matches!(error, CryptokiError::NullFunctionPointer) {
        let reason = "it lacks a function that every module has";
        Error::call(calling, reason, "is it the right file?")
    } else {
        Error::call(calling, error, "")
    }
}

/// The code itself, where a module has returned one.
pub(super) const fn returned(error: &CryptokiError) -> Option<RvError> {
    if let CryptokiError::Pkcs11(code, _) = error {
        Some(*code)
    } else {
        None
    }
}

/// A code's name, as the specification spells it.
#[must_use]
pub fn name(number: u64) -> String {
    let known = CODES.iter().find(|(code, _)| *code == number);
    match known {
        Some((_, name)) => (*name).to_owned(),
        None if number >= VENDOR_DEFINED => {
            format!("CKR_VENDOR_DEFINED+{:#x}", number - VENDOR_DEFINED)
        }
        None => format!("CKR_{number:#x}"),
    }
}

/// The crate has names of its own for the codes: `PinIncorrect`.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the others are named as in the specification"
)]
fn name_of(code: RvError) -> String {
    match code {
        RvError::VendorDefined(number) | RvError::UnknownErrorCode(number) => name(number),
        code => {
            let mut name = "CKR".to_owned();
            for letter in format!("{code:?}").chars() {
                if letter.is_ascii_uppercase() {
                    name.push('_');
                }
                name.push(letter.to_ascii_uppercase());
            }
            name
        }
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the others have a name in the table"
)]
fn number(code: RvError) -> u64 {
    match code {
        RvError::VendorDefined(number) | RvError::UnknownErrorCode(number) => number,
        code => {
            let name = name_of(code);
            let known = CODES.iter().find(|(_, known)| *known == name);
            known.map_or(0, |(number, _)| *number)
        }
    }
}

/// Every code of PKCS#11 3.2, by its number.
const CODES: &[(u64, &str)] = &[
    (0x001, "CKR_CANCEL"),
    (0x002, "CKR_HOST_MEMORY"),
    (0x003, "CKR_SLOT_ID_INVALID"),
    (0x005, "CKR_GENERAL_ERROR"),
    (0x006, "CKR_FUNCTION_FAILED"),
    (0x007, "CKR_ARGUMENTS_BAD"),
    (0x008, "CKR_NO_EVENT"),
    (0x009, "CKR_NEED_TO_CREATE_THREADS"),
    (0x00a, "CKR_CANT_LOCK"),
    (0x010, "CKR_ATTRIBUTE_READ_ONLY"),
    (0x011, "CKR_ATTRIBUTE_SENSITIVE"),
    (0x012, "CKR_ATTRIBUTE_TYPE_INVALID"),
    (0x013, "CKR_ATTRIBUTE_VALUE_INVALID"),
    (0x01b, "CKR_ACTION_PROHIBITED"),
    (0x020, "CKR_DATA_INVALID"),
    (0x021, "CKR_DATA_LEN_RANGE"),
    (0x030, "CKR_DEVICE_ERROR"),
    (0x031, "CKR_DEVICE_MEMORY"),
    (0x032, "CKR_DEVICE_REMOVED"),
    (0x040, "CKR_ENCRYPTED_DATA_INVALID"),
    (0x041, "CKR_ENCRYPTED_DATA_LEN_RANGE"),
    (0x042, "CKR_AEAD_DECRYPT_FAILED"),
    (0x050, "CKR_FUNCTION_CANCELED"),
    (0x051, "CKR_FUNCTION_NOT_PARALLEL"),
    (0x054, "CKR_FUNCTION_NOT_SUPPORTED"),
    (0x060, "CKR_KEY_HANDLE_INVALID"),
    (0x062, "CKR_KEY_SIZE_RANGE"),
    (0x063, "CKR_KEY_TYPE_INCONSISTENT"),
    (0x064, "CKR_KEY_NOT_NEEDED"),
    (0x065, "CKR_KEY_CHANGED"),
    (0x066, "CKR_KEY_NEEDED"),
    (0x067, "CKR_KEY_INDIGESTIBLE"),
    (0x068, "CKR_KEY_FUNCTION_NOT_PERMITTED"),
    (0x069, "CKR_KEY_NOT_WRAPPABLE"),
    (0x06a, "CKR_KEY_UNEXTRACTABLE"),
    (0x070, "CKR_MECHANISM_INVALID"),
    (0x071, "CKR_MECHANISM_PARAM_INVALID"),
    (0x082, "CKR_OBJECT_HANDLE_INVALID"),
    (0x090, "CKR_OPERATION_ACTIVE"),
    (0x091, "CKR_OPERATION_NOT_INITIALIZED"),
    (0x0a0, "CKR_PIN_INCORRECT"),
    (0x0a1, "CKR_PIN_INVALID"),
    (0x0a2, "CKR_PIN_LEN_RANGE"),
    (0x0a3, "CKR_PIN_EXPIRED"),
    (0x0a4, "CKR_PIN_LOCKED"),
    (0x0b0, "CKR_SESSION_CLOSED"),
    (0x0b1, "CKR_SESSION_COUNT"),
    (0x0b3, "CKR_SESSION_HANDLE_INVALID"),
    (0x0b4, "CKR_SESSION_PARALLEL_NOT_SUPPORTED"),
    (0x0b5, "CKR_SESSION_READ_ONLY"),
    (0x0b6, "CKR_SESSION_EXISTS"),
    (0x0b7, "CKR_SESSION_READ_ONLY_EXISTS"),
    (0x0b8, "CKR_SESSION_READ_WRITE_SO_EXISTS"),
    (0x0c0, "CKR_SIGNATURE_INVALID"),
    (0x0c1, "CKR_SIGNATURE_LEN_RANGE"),
    (0x0d0, "CKR_TEMPLATE_INCOMPLETE"),
    (0x0d1, "CKR_TEMPLATE_INCONSISTENT"),
    (0x0e0, "CKR_TOKEN_NOT_PRESENT"),
    (0x0e1, "CKR_TOKEN_NOT_RECOGNIZED"),
    (0x0e2, "CKR_TOKEN_WRITE_PROTECTED"),
    (0x0f0, "CKR_UNWRAPPING_KEY_HANDLE_INVALID"),
    (0x0f1, "CKR_UNWRAPPING_KEY_SIZE_RANGE"),
    (0x0f2, "CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT"),
    (0x100, "CKR_USER_ALREADY_LOGGED_IN"),
    (0x101, "CKR_USER_NOT_LOGGED_IN"),
    (0x102, "CKR_USER_PIN_NOT_INITIALIZED"),
    (0x103, "CKR_USER_TYPE_INVALID"),
    (0x104, "CKR_USER_ANOTHER_ALREADY_LOGGED_IN"),
    (0x105, "CKR_USER_TOO_MANY_TYPES"),
    (0x110, "CKR_WRAPPED_KEY_INVALID"),
    (0x112, "CKR_WRAPPED_KEY_LEN_RANGE"),
    (0x113, "CKR_WRAPPING_KEY_HANDLE_INVALID"),
    (0x114, "CKR_WRAPPING_KEY_SIZE_RANGE"),
    (0x115, "CKR_WRAPPING_KEY_TYPE_INCONSISTENT"),
    (0x120, "CKR_RANDOM_SEED_NOT_SUPPORTED"),
    (0x121, "CKR_RANDOM_NO_RNG"),
    (0x130, "CKR_DOMAIN_PARAMS_INVALID"),
    (0x140, "CKR_CURVE_NOT_SUPPORTED"),
    (0x150, "CKR_BUFFER_TOO_SMALL"),
    (0x160, "CKR_SAVED_STATE_INVALID"),
    (0x170, "CKR_INFORMATION_SENSITIVE"),
    (0x180, "CKR_STATE_UNSAVEABLE"),
    (0x190, "CKR_CRYPTOKI_NOT_INITIALIZED"),
    (0x191, "CKR_CRYPTOKI_ALREADY_INITIALIZED"),
    (0x1a0, "CKR_MUTEX_BAD"),
    (0x1a1, "CKR_MUTEX_NOT_LOCKED"),
    (0x1b0, "CKR_NEW_PIN_MODE"),
    (0x1b1, "CKR_NEXT_OTP"),
    (0x1b5, "CKR_EXCEEDED_MAX_ITERATIONS"),
    (0x1b6, "CKR_FIPS_SELF_TEST_FAILED"),
    (0x1b7, "CKR_LIBRARY_LOAD_FAILED"),
    (0x1b8, "CKR_PIN_TOO_WEAK"),
    (0x1b9, "CKR_PUBLIC_KEY_INVALID"),
    (0x200, "CKR_FUNCTION_REJECTED"),
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
    use super::meanings::MEANINGS;
    use cryptoki::error::Rv;

    use super::*;

    #[test]
    fn every_code_has_its_name_and_its_number_by_both_ways() {
        for (code, name) in CODES {
            let fault = Fault {
                call: "C_Sign",
                code: *code,
            };
            let direct = refused(fault);
            let Rv::Error(through) = Rv::from(*code) else {
                panic!("{name} is an error");
            };
            let through = failed(&CryptokiError::Pkcs11(
                through,
                cryptoki::context::Function::Sign,
            ));
            assert_eq!(direct, through);
            let known = direct.code().unwrap();
            assert_eq!(
                (known.name.as_ref(), u64::from(known.number)),
                (*name, *code)
            );
        }
    }

    #[test]
    fn what_has_a_meaning_is_a_code() {
        for name in MEANINGS.iter().flat_map(|(names, ..)| *names) {
            assert!(CODES.iter().any(|(_, known)| known == name), "{name}");
        }
    }

    #[test]
    fn every_code_says_what_it_means_and_what_to_do_in_few_words() {
        let own = [0x8000_0123, 0x3ff];
        for code in CODES.iter().map(|(code, _)| *code).chain(own) {
            let name = name(code);
            let (meaning, advice) = meaning(&name);
            assert!(!meaning.is_empty() && !advice.is_empty(), "{name}");
            let known = MEANINGS
                .iter()
                .filter(|(names, ..)| names.contains(&name.as_str()));
            assert_eq!(known.count(), usize::from(!own.contains(&code)), "{name}");
            // Two lines of a terminal of 100 columns, with the function before it.
            assert!(meaning.len() + advice.len() + name.len() < 180, "{name}");
        }
    }

    #[test]
    fn codes_of_vendors_and_of_the_future_keep_their_number() {
        let said = |code| {
            refused(Fault {
                call: "C_Login",
                code,
            })
            .to_string()
        };
        assert!(said(0x8000_0123).contains("CKR_VENDOR_DEFINED+0x123"));
        assert!(said(0x3ff).contains("CKR_0x3ff"));
    }

    #[test]
    fn a_token_without_sha_256_for_oaep_says_what_it_takes() {
        let fault = |code| Fault {
            call: "C_DecryptInit",
            code,
        };
        for code in [0x07, 0x71] {
            let said = refused_oaep(fault(code)).to_string();
            assert!(
                said.contains("CKR_") && said.contains("oaep-sha1"),
                "{said}"
            );
        }
        assert_eq!(refused_oaep(fault(0x30)), refused(fault(0x30)));
    }

    #[test]
    fn a_wrong_pin_says_what_to_do() {
        let fault = Fault {
            call: "C_Login",
            code: 0xa0,
        };
        let said = refused(fault).to_string();
        for part in [
            "C_Login failed: CKR_PIN_INCORRECT",
            "sent once",
            "gives back the tries",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
}
