//! Where calls go: to a served card, or to the real library.

use std::path::PathBuf;
use std::sync::OnceLock;

use keymark_shim_protocol::{CARD, LIBRARY, READER, SHARED};

use crate::abi::{IsValidContext, Library};
use crate::types::{Dword, SHARE_EXCLUSIVE, SHARE_SHARED};
use crate::virtual_reader::VirtualReader;

/// pcsc-lite's own name, without which nothing of PC/SC works on Linux.
const PCSCLITE: &str = "libpcsclite.so.1";
/// Another name for the reader of the served card.
const READER_NAME: &str = "KEYMARK_PCSC_READER";

pub(crate) enum Mode {
    /// A card that keymark serves.
    Virtual(VirtualReader),
    /// The real library.
    Forward(Library),
    /// There is none.
    Missing,
}

/// Decided once, by the environment. `own` is the function of this very library, which would call
/// itself for ever if it was the one that is named.
pub(crate) fn mode(own: IsValidContext) -> &'static Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    MODE.get_or_init(|| {
        if let Some(socket) = std::env::var_os(CARD) {
            let name = std::env::var(READER_NAME).ok();
            let name = name.filter(|name| !name.is_empty());
            return Mode::Virtual(VirtualReader::new(
                PathBuf::from(socket),
                name.unwrap_or_else(|| READER.to_owned()),
            ));
        }
        let library = std::env::var_os(LIBRARY).unwrap_or_else(|| PCSCLITE.into());
        let library = Library::load(&library).filter(|library| !library.has(own));
        library.map_or(Mode::Missing, Mode::Forward)
    })
}

/// How a card is asked for that a program asks for in that way: shared with keymark, where that is wanted. scdaemon can
/// share cards itself (its option `pcsc-shared`), but then behaves otherwise than with its usual configuration: it
/// verifies PIN 81 anew though it knows the PIN, and caches none.
pub(crate) fn shared(share: Dword) -> Dword {
    static IS_SHARED: OnceLock<bool> = OnceLock::new();
    match share {
        SHARE_EXCLUSIVE if *IS_SHARED.get_or_init(|| std::env::var_os(SHARED).is_some()) => {
            SHARE_SHARED
        }
        other => other,
    }
}
