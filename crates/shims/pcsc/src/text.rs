//! Texts for result codes, and a function of old PC/SC that takes no part in calls to cards.

#![allow(
    non_snake_case,
    missing_docs,
    reason = "the interface is PC/SC's, which documents it"
)]

use std::ffi::{CStr, c_char};

use crate::abi::SCardIsValidContext;
use crate::mode::{Mode, mode};
use crate::trace::guarded;
use crate::types::{Code, Context, Dword, Long};

const fn text(code: Code) -> &'static CStr {
    match code {
        Code::SUCCESS => c"Command successful.",
        Code::INTERNAL_ERROR => c"Internal error.",
        Code::CANCELLED => c"Command cancelled.",
        Code::INVALID_HANDLE => c"Invalid handle.",
        Code::INVALID_PARAMETER => c"Invalid parameter given.",
        Code::INSUFFICIENT_BUFFER => c"Insufficient buffer.",
        Code::UNKNOWN_READER => c"Unknown reader specified.",
        Code::TIMEOUT => c"Command timeout.",
        Code::SHARING_VIOLATION => c"Sharing violation.",
        Code::NO_SMARTCARD => c"No smart card inserted.",
        Code::PROTO_MISMATCH => c"Card protocol mismatch.",
        Code::INVALID_VALUE => c"Invalid value given.",
        Code::NOT_TRANSACTED => c"Transaction failed.",
        Code::NO_SERVICE => c"Service not available.",
        Code::UNSUPPORTED_FEATURE => c"Feature not supported.",
        Code::UNRESPONSIVE => c"Card is unresponsive.",
        Code::RESET => c"Card was reset.",
        Code::REMOVED => c"Card was removed.",
        _ => c"Unknown error.",
    }
}

/// The text of a code that this library returns. No call to PC/SC, and not taken down as one.
#[unsafe(no_mangle)]
pub extern "C" fn pcsc_stringify_error(code: Long) -> *const c_char {
    text(Code(code)).as_ptr()
}

/// Gone from pcsc-lite; scdaemon still looks for it. As there in its last years it checks the
/// context and does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn SCardSetTimeout(context: Context, _: Dword) -> Long {
    guarded(|| match mode(SCardIsValidContext) {
        Mode::Virtual(reader) => reader.check(context),
        // SAFETY: the function takes a number, and checks it.
        Mode::Forward(library) => Code(unsafe { (library.SCardIsValidContext)(context) }),
        Mode::Missing => Code::NO_SERVICE,
    })
    .0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_text() {
        assert_eq!(text(Code::REMOVED), c"Card was removed.");
        assert_eq!(text(Code(-1)), c"Unknown error.");
        // SAFETY: the texts are constants.
        let timeout = unsafe { CStr::from_ptr(pcsc_stringify_error(0x8010_000A)) };
        assert_eq!(timeout, c"Command timeout.");
    }
}
