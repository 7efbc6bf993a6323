//! Types and numbers of pcsc-lite's interface on Linux (wintypes.h, pcsclite.h, reader.h). The crate
//! `pcsc-sys` has them too, but links the library that this one replaces.

use std::ffi::{c_char, c_long, c_ulong, c_void};
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
pub(crate) const PROTOCOL_T1: Dword = 2;

pub(crate) const INFINITE: Dword = 0xFFFF_FFFF;

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

/// Return code of a call: 32 bits without a sign, in a LONG that has 64 bits, or 32 with a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) Long);

impl Code {
    pub(crate) const SUCCESS: Self = Self(0);
    pub(crate) const INTERNAL_ERROR: Self = Self::from_number(0x8010_0001);
    pub(crate) const CANCELLED: Self = Self::from_number(0x8010_0002);
    pub(crate) const INVALID_HANDLE: Self = Self::from_number(0x8010_0003);
    pub(crate) const INVALID_PARAMETER: Self = Self::from_number(0x8010_0004);
    pub(crate) const INSUFFICIENT_BUFFER: Self = Self::from_number(0x8010_0008);
    pub(crate) const UNKNOWN_READER: Self = Self::from_number(0x8010_0009);
    pub(crate) const TIMEOUT: Self = Self::from_number(0x8010_000A);
    pub(crate) const SHARING_VIOLATION: Self = Self::from_number(0x8010_000B);
    pub(crate) const NO_SMARTCARD: Self = Self::from_number(0x8010_000C);
    pub(crate) const PROTO_MISMATCH: Self = Self::from_number(0x8010_000F);
    pub(crate) const INVALID_VALUE: Self = Self::from_number(0x8010_0011);
    pub(crate) const NOT_TRANSACTED: Self = Self::from_number(0x8010_0016);
    pub(crate) const NO_SERVICE: Self = Self::from_number(0x8010_001D);
    pub(crate) const UNSUPPORTED_FEATURE: Self = Self::from_number(0x8010_001F);
    pub(crate) const UNRESPONSIVE: Self = Self::from_number(0x8010_0066);
    pub(crate) const RESET: Self = Self::from_number(0x8010_0068);
    pub(crate) const REMOVED: Self = Self::from_number(0x8010_0069);

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
