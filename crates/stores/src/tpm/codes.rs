//! What a TPM refuses, and what to do (TPM 2.0 Library, Part 2, 6.6).

use keymark_bench::error::Error;
use tss_esapi::Error as TssError;
use tss_esapi::constants::response_code::Tss2ResponseCodeKind as Kind;

/// A call as the specification spells it, that came to nothing.
pub(super) fn refused(call: &'static str) -> impl Fn(TssError) -> Error + Copy {
    move |error| match error {
        TssError::Tss2Error(code) => {
            let kind = code.kind();
            let name = kind.map(|kind| format!("{kind:?} ")).unwrap_or_default();
            Error::call(call, format!("{name}({code})"), advice(kind))
        }
        TssError::WrapperError(kind) => Error::call(call, kind, ""),
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "for the others nobody knows more than the code says"
)]
fn advice(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::ObjectMemory | Kind::ObjectHandles) => {
            "a TPM holds three keys at a time: use a smaller --concurrency or --processes"
        }
        Some(Kind::AuthFail | Kind::BadAuth) => {
            "the owner of this TPM has set a password, which keymark does not ask for"
        }
        Some(Kind::Lockout) => "the TPM is locked after wrong passwords: wait, or ask its owner",
        Some(Kind::Hierarchy) => "the owner hierarchy is switched off in the firmware's setup",
        _ => "",
    }
}
