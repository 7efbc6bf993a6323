//! Why a C library did not do what it was asked for.

/// In its own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NativeError {
    /// It cannot be loaded, or is not the library that is meant.
    #[error("{0}")]
    NotLoaded(String),
    /// The installed libcrypto refused.
    #[error("{reason} (the installed libcrypto's error {code:08X})")]
    Libcrypto {
        /// Number of the error.
        code: u64,
        /// Its words for it.
        reason: String,
    },
    /// libgcrypt refused.
    #[error("{reason} (libgcrypt's error {code})")]
    Libgcrypt {
        /// Number of the error, without its source; 0 for what it has no code for.
        code: u32,
        /// Its words for it.
        reason: String,
    },
}

impl From<libloading::Error> for NativeError {
    fn from(error: libloading::Error) -> Self {
        Self::NotLoaded(error.to_string())
    }
}
