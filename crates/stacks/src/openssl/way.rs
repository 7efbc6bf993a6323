//! How the program gets at a key: what the stack distinguishes.

use keymark_bench::case::{Dimension, Parameters, Scope, Words};
use keymark_bench::words::words;

/// Each case says one.
pub const WAY: Dimension = Dimension {
    name: "openssl",
    kind: "way of OpenSSL to a key",
    words: Words::Listed(OpenSslWay::WORDS),
    usual: None,
    scope: Scope::Family,
};

words! {
    /// How the program `openssl` gets at a key.
    pub enum OpenSslWay("way of OpenSSL to a key") {
        /// A file with the key in it (`-keyform PEM`).
        File = "file",
        /// libp11's engine for a PKCS#11 token (`-engine pkcs11`).
        Engine = "engine",
        /// A provider for a PKCS#11 token (`pkcs11-provider`).
        Provider = "provider",
    }
}

impl OpenSslWay {
    /// The parameters of a case that goes this way.
    pub fn parameters(self) -> Parameters {
        Parameters::of(&WAY, self)
    }
}
