//! The library's functions, called as C calls them.

use std::ffi::{CStr, c_char, c_long, c_ulong, c_void};
use std::ptr;

use keymark_shim_protocol::pcsc_functions;

use crate::world::library_path;

pub(crate) type Long = c_long;
pub(crate) type Dword = c_ulong;

pub(crate) const SUCCESS: Long = 0;
pub(crate) const CANCELLED: Long = 0x8010_0002;
pub(crate) const INVALID_HANDLE: Long = 0x8010_0003;
pub(crate) const INVALID_PARAMETER: Long = 0x8010_0004;
pub(crate) const INSUFFICIENT_BUFFER: Long = 0x8010_0008;
pub(crate) const UNKNOWN_READER: Long = 0x8010_0009;
pub(crate) const TIMEOUT: Long = 0x8010_000A;
pub(crate) const SHARING_VIOLATION: Long = 0x8010_000B;
pub(crate) const NO_SMARTCARD: Long = 0x8010_000C;
pub(crate) const PROTO_MISMATCH: Long = 0x8010_000F;
pub(crate) const INVALID_VALUE: Long = 0x8010_0011;
pub(crate) const NOT_TRANSACTED: Long = 0x8010_0016;
pub(crate) const NO_SERVICE: Long = 0x8010_001D;
pub(crate) const UNSUPPORTED_FEATURE: Long = 0x8010_001F;
pub(crate) const RESET: Long = 0x8010_0068;
pub(crate) const REMOVED: Long = 0x8010_0069;

pub(crate) const INFINITE: Dword = 0xFFFF_FFFF;
pub(crate) const EXCLUSIVE: Dword = 1;
pub(crate) const SHARED: Dword = 2;
pub(crate) const DIRECT: Dword = 3;
pub(crate) const T0: Dword = 1;
pub(crate) const T1: Dword = 2;
pub(crate) const LEAVE: Dword = 0;
pub(crate) const RESET_CARD: Dword = 1;

/// SCARD_READERSTATE.
#[repr(C)]
#[derive(Clone)]
pub(crate) struct ReaderState {
    reader: *const c_char,
    user_data: *mut c_void,
    pub(crate) current: Dword,
    pub(crate) event: Dword,
    atr_length: Dword,
    atr: [u8; 33],
}

impl ReaderState {
    pub(crate) fn new(reader: &'static CStr, current: Dword) -> Self {
        Self {
            reader: reader.as_ptr(),
            user_data: ptr::null_mut(),
            current,
            event: 0xBAD,
            atr_length: 99,
            atr: [0; 33],
        }
    }

    pub(crate) fn atr(&self) -> &[u8] {
        &self.atr[..usize::try_from(self.atr_length).unwrap()]
    }
}

type Context = Long;
type Handle = Long;
type IoRequest = c_void;

macro_rules! table {
    ($(fn $symbol:ident = $call:ident($($argument:ident: $type:ty),*), $(sharing $share:ident,)? virtually $name:ident($($passed:ident),*), keeping $keeping:ident;)*) => {
        pub(crate) struct Library {
            $(pub(crate) $name: unsafe extern "C" fn($($type),*) -> Long,)*
            _library: libloading::Library,
        }

        impl Library {
            pub(crate) fn load() -> Self {
                // SAFETY: the symbols have the types that winscard.h gives them.
                unsafe {
                    let library = libloading::Library::new(library_path()).unwrap();
                    Self {
                        $($name: *library.get(stringify!($symbol).as_bytes()).unwrap(),)*
                        _library: library,
                    }
                }
            }
        }
    };
}

pcsc_functions!(table);

/// Name of the reader if nobody gives it another.
pub(crate) const READER: &CStr = c"keymark virtual reader 00 00";

impl Library {
    pub(crate) fn context(&self) -> Long {
        let mut context = 0;
        // SAFETY: `context` is valid.
        let code =
            unsafe { (self.establish_context)(2, ptr::null(), ptr::null(), &raw mut context) };
        assert_eq!(code, SUCCESS);
        context
    }

    /// SCardConnect: its code, or handle and protocol.
    pub(crate) fn connect(
        &self,
        context: Long,
        reader: &CStr,
        share: Dword,
        protocols: Dword,
    ) -> Result<(Long, Dword), Long> {
        let (mut handle, mut active) = (0, 0xBAD);
        // SAFETY: the pointers are valid.
        let code = unsafe {
            (self.connect)(
                context,
                reader.as_ptr(),
                share,
                protocols,
                &raw mut handle,
                &raw mut active,
            )
        };
        if code == SUCCESS {
            Ok((handle, active))
        } else {
            Err(code)
        }
    }

    /// A shared connection to the card, in a context of its own.
    pub(crate) fn handle(&self) -> Long {
        self.connect(self.context(), READER, SHARED, T0 | T1)
            .unwrap()
            .0
    }

    /// SCardTransmit into a buffer of `room` octets: its code and the length it tells, or the response.
    pub(crate) fn transmit(
        &self,
        handle: Long,
        command: &[u8],
        room: usize,
    ) -> Result<Vec<u8>, (Long, Dword)> {
        let (mut response, mut length) = (vec![0; room], room as Dword);
        // SAFETY: the pointers are good for the lengths next to them; headers may be null.
        let code = unsafe {
            (self.transmit)(
                handle,
                ptr::null(),
                command.as_ptr(),
                command.len() as Dword,
                ptr::null_mut(),
                response.as_mut_ptr(),
                &raw mut length,
            )
        };
        if code != SUCCESS {
            return Err((code, length));
        }
        response.truncate(usize::try_from(length).unwrap());
        Ok(response)
    }

    /// SCardStatus, everything asked for: its code, state and answer to reset.
    pub(crate) fn state(&self, handle: Long) -> (Long, Dword, Vec<u8>) {
        let (mut atr, mut length, mut state) = (vec![0; 33], 33, 0);
        let none = ptr::null_mut();
        // SAFETY: the pointers are null or good for the lengths next to them.
        let code = unsafe {
            (self.status)(
                handle,
                ptr::null_mut(),
                none,
                &raw mut state,
                none,
                atr.as_mut_ptr(),
                &raw mut length,
            )
        };
        atr.truncate(usize::try_from(length).unwrap());
        (code, state, atr)
    }

    /// SCardGetStatusChange.
    pub(crate) fn changes(
        &self,
        context: Long,
        timeout: Dword,
        states: &mut [ReaderState],
    ) -> Long {
        // SAFETY: `states` is good for its length, its names are constants.
        unsafe {
            (self.get_status_change)(context, timeout, states.as_mut_ptr(), states.len() as Dword)
        }
    }

    /// SCardReconnect.
    pub(crate) fn reconnect(&self, handle: Long, share: Dword, initialization: Dword) -> Long {
        let mut active = 0;
        // SAFETY: `active` is valid.
        unsafe { (self.reconnect)(handle, share, T0 | T1, initialization, &raw mut active) }
    }
}
