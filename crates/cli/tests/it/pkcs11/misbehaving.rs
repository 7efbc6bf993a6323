//! keymark with a PKCS#11 module in front of SoftHSM2 and does one thing otherwise
//! (`fixtures/pkcs11_module.c` of the testkit says which there are).

use std::path::PathBuf;
use std::process::Command;

use keymark_testkit::place::{Ends, Place, Transcript};
use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken, URI};

/// A place, a token with a key `web`, and the module.
#[derive(Debug)]
pub(crate) struct Misbehaving {
    pub(crate) place: Place,
    pub(crate) token: SoftHsmToken,
    /// The key by its URI, with the module.
    pub(crate) device: String,
}

impl Misbehaving {
    pub(crate) fn new(keymark: impl Into<PathBuf>) -> Self {
        Self::with(keymark, "EC:prime256v1")
    }

    pub(crate) fn with(keymark: impl Into<PathBuf>, key: &str) -> Self {
        let token = SoftHsmToken::new();
        token.make_key(key, "01", "web");
        let module = token.misbehaving_module();
        Self {
            place: Place::new(keymark),
            device: format!("{URI};object=web?module-path={}", module.display()),
            token,
        }
    }

    /// keymark with the user's token, the module in that mode, and logs of its calls.
    pub(crate) fn keymark(&self, mode: &str, arguments: &str) -> Command {
        let mut command = self.place.keymark(arguments);
        command
            .env(CONFIGURATION, self.token.configuration())
            .env("KEYMARK_TEST_MODULE", mode)
            .env("KEYMARK_TEST_LOGINS", self.token.path("logins"))
            .env("KEYMARK_TEST_CALLS", self.token.path("calls"))
            .env("PIN", PIN);
        command
    }

    /// Six operations of each case on that device, which end with that status.
    #[track_caller]
    pub(crate) fn run(
        &self,
        mode: &str,
        pin: &str,
        device: &str,
        more: &str,
        status: i32,
    ) -> Transcript {
        let line =
            format!("bench --format json --device {device} --pin-env PIN --samples 6 {more}");
        self.keymark(mode, &line).env("PIN", pin).ends(status)
    }

    /// Each `C_Login` that the module has seen.
    pub(crate) fn logins(&self) -> String {
        std::fs::read_to_string(self.token.path("logins")).unwrap_or_default()
    }

    /// The processes that have made that call, in its order: `C_Initialize`, or `C_Sign` once each.
    pub(crate) fn processes(&self, call: &str) -> Vec<u32> {
        let calls = std::fs::read_to_string(self.token.path("calls")).unwrap_or_default();
        let of_call = calls.lines().filter_map(|line| line.strip_prefix(call));
        of_call
            .filter_map(|number| number.trim().parse().ok())
            .collect()
    }
}
