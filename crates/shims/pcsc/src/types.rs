//! Types and numbers of pcsc-lite's interface on Linux (wintypes.h, pcsclite.h, reader.h). The crate
//! `pcsc-sys` has them too, but links the library that this one replaces.

use std::ffi::{CStr, c_char, c_long, c_ulong, c_void};
use std::mem::offset_of;

pub(crate) type Long = c_long;
pub(crate) type Dword = c_ulong;
pub(crate) type Context = Long;
pub(crate) type Handle = Long;

/// SCARD_IO_REQUEST.
#[repr(C)]
pub struct IoRequest {
    pub(crate) protocol: Dword,
    pub(crate) length: Dword,
}

impl IoRequest {
    pub(crate) const fn of(protocol: Dword) -> Self {
        Self {
            protocol,
            length: size_of::<Self>() as Dword,
        }
    }
}

/// SCARD_READERSTATE.
#[repr(C)]
pub struct ReaderState {
    pub(crate) reader: *const c_char,
    pub(crate) user_data: *mut c_void,
    pub(crate) current: Dword,
    pub(crate) event: Dword,
    pub(crate) atr_length: Dword,
    pub(crate) atr: [u8; MAX_ATR],
}

// What a C compiler makes of pcsclite.h on Linux, in words of 32 or 64 bits: another layout would be another ABI.
const WORD: usize = size_of::<Dword>();
const _: () = assert!(
    size_of::<ReaderState>() == (5 * WORD + MAX_ATR).next_multiple_of(WORD)
        && offset_of!(ReaderState, current) == 2 * WORD
        && offset_of!(ReaderState, event) == 3 * WORD
        && offset_of!(ReaderState, atr_length) == 4 * WORD
        && offset_of!(ReaderState, atr) == 5 * WORD
        && size_of::<IoRequest>() == 2 * WORD
);

pub(crate) const MAX_ATR: usize = 33;
/// MAX_BUFFER_SIZE_EXTENDED: the longest command or response that pcsc-lite takes.
pub(crate) const MAX_APDU: Dword = 4 + 3 + (1 << 16) + 3 + 2;

/// SCARD_PROTOCOL_*.
pub(crate) const PROTOCOL_UNDEFINED: Dword = 0;
pub(crate) const PROTOCOL_T0: Dword = 1;
pub(crate) const PROTOCOL_T1: Dword = 2;
pub(crate) const PROTOCOL_RAW: Dword = 4;

pub(crate) const INFINITE: Dword = 0xFFFF_FFFF;
pub(crate) const AUTOALLOCATE: Dword = Dword::MAX;

/// SCARD_STATE_*, of current and event states.
pub(crate) const STATE_UNAWARE: Dword = 0x00;
pub(crate) const STATE_IGNORE: Dword = 0x01;
pub(crate) const STATE_CHANGED: Dword = 0x02;
pub(crate) const STATE_UNKNOWN: Dword = 0x04;
pub(crate) const STATE_EMPTY: Dword = 0x10;
pub(crate) const STATE_PRESENT: Dword = 0x20;
pub(crate) const STATE_MUTE: Dword = 0x200;

/// SCARD_PRESENT, SCARD_POWERED, SCARD_NEGOTIABLE, SCARD_SPECIFIC of SCardStatus; SCARD_ABSENT.
pub(crate) const CARD_READY: Dword = 0x04 | 0x10 | 0x20 | 0x40;
pub(crate) const CARD_ABSENT: Dword = 0x02;

/// SCARD_SHARE_*.
pub(crate) const SHARE_EXCLUSIVE: Dword = 1;
pub(crate) const SHARE_SHARED: Dword = 2;
pub(crate) const SHARE_DIRECT: Dword = 3;

/// SCARD_LEAVE_CARD to SCARD_EJECT_CARD, of the end of a connection or transaction.
pub(crate) const LEAVE_CARD: Dword = 0;
pub(crate) const RESET_CARD: Dword = 1;
pub(crate) const UNPOWER_CARD: Dword = 2;
pub(crate) const EJECT_CARD: Dword = 3;

/// CM_IOCTL_GET_FEATURE_REQUEST (PC/SC part 10 §2.2).
pub(crate) const GET_FEATURE_REQUEST: Dword = 0x4200_0000 + 3400;

/// SCARD_ATTR_ATR_STRING and SCARD_ATTR_DEVICE_FRIENDLY_NAME_A.
pub(crate) const ATTRIBUTE_ATR: Dword = 0x0009_0303;
pub(crate) const ATTRIBUTE_NAME: Dword = 0x7FFF_0003;

/// Return code of a call: 32 bits without a sign, in a LONG that has 64 bits, or 32 with a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) Long);

impl Code {
    pub(crate) const SUCCESS: Self = Self(0);

    const fn from_number(number: u32) -> Self {
        Self(number as Long)
    }

    /// As records have it: the same number on every architecture.
    pub(crate) const fn number(self) -> i64 {
        (self.0 as Dword) as i64
    }

    pub(crate) fn of(done: Result<(), Self>) -> Self {
        done.err().unwrap_or(Self::SUCCESS)
    }
}

/// Declares the codes of what fails, with their texts.
macro_rules! codes {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        impl Code {
            $(pub(crate) const $name: Self = Self::from_number($code);)*

            pub(crate) const fn text(self) -> &'static CStr {
                match self {
                    Self::SUCCESS => c"Command successful.",
                    $(Self::$name => $text,)*
                    _ => c"Unknown error.",
                }
            }
        }
    };
}

codes! {
    INTERNAL_ERROR = 0x8010_0001, c"Internal error.";
    CANCELLED = 0x8010_0002, c"Command cancelled.";
    INVALID_HANDLE = 0x8010_0003, c"Invalid handle.";
    INVALID_PARAMETER = 0x8010_0004, c"Invalid parameter given.";
    INSUFFICIENT_BUFFER = 0x8010_0008, c"Insufficient buffer.";
    UNKNOWN_READER = 0x8010_0009, c"Unknown reader specified.";
    TIMEOUT = 0x8010_000A, c"Command timeout.";
    SHARING_VIOLATION = 0x8010_000B, c"Sharing violation.";
    NO_SMARTCARD = 0x8010_000C, c"No smart card inserted.";
    PROTO_MISMATCH = 0x8010_000F, c"Card protocol mismatch.";
    INVALID_VALUE = 0x8010_0011, c"Invalid value given.";
    NOT_TRANSACTED = 0x8010_0016, c"Transaction failed.";
    NO_SERVICE = 0x8010_001D, c"Service not available.";
    UNSUPPORTED_FEATURE = 0x8010_001F, c"Feature not supported.";
    UNRESPONSIVE = 0x8010_0066, c"Card is unresponsive.";
    RESET = 0x8010_0068, c"Card was reset.";
    REMOVED = 0x8010_0069, c"Card was removed.";
}
