//! What the program says when it fails.

/// What to do about an operation that failed, with a key that could be loaded before.
pub(super) const ADVICE: &str = "SoftHSM2 writes to its token at each login, and processes that start at the same \
                                 moment may not find it: measure one worker";

/// How libp11, pkcs11-provider and OpenSSL say that the token has judged the PIN.
const REFUSALS: [&str; 5] = [
    "login failed",
    "login to token failed",
    "pin incorrect",
    "pin locked",
    "ckr_pin",
];

/// Whether the token has judged the PIN.
pub(crate) fn refuse_pin(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    REFUSALS.iter().any(|words| said.contains(words))
}

/// The first line that tells a reason; the engine announces itself before.
pub(crate) fn complaint(said: &str) -> &str {
    let mut lines = said.lines().map(str::trim);
    let tells = |line: &&str| !line.is_empty() && !line.starts_with("Engine \"");
    lines.find(tells).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What libp11 0.4.12 says.
    const WRONG_PIN: &str =
        "Engine \"pkcs11\" set.\nLogin failed\nLogin to token failed, returning NULL...\n";

    #[test]
    fn the_reason_stands_behind_what_the_engine_announces() {
        assert_eq!(complaint(WRONG_PIN), "Login failed");
        assert_eq!(complaint("Engine \"pkcs11\" set.\n"), "no reason given");
        assert!(refuse_pin(WRONG_PIN));
        assert!(!refuse_pin(
            "The private key was not found at: pkcs11:token=a\n"
        ));
    }
}
