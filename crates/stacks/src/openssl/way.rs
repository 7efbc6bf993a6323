//! How OpenSSL gets at a key: what the stack distinguishes.

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

words! {
    /// How OpenSSL, in whatever program, gets at a key on a token.
    pub enum TokenWay("way of OpenSSL to a token") {
        /// libp11's engine.
        Engine = "engine",
        /// pkcs11-provider.
        Provider = "provider",
    }
}

impl OpenSslWay {
    /// The parameters of a case that goes this way.
    pub fn parameters(self) -> Parameters {
        Parameters::of(&WAY, self)
    }

    /// To a token; none where there is a file.
    pub const fn to_token(self) -> Option<TokenWay> {
        match self {
            Self::File => None,
            Self::Engine => Some(TokenWay::Engine),
            Self::Provider => Some(TokenWay::Provider),
        }
    }
}
