//! SCardStatus with every way of asking for its two results of a length.

use std::ptr;

use crate::library::*;
use crate::server::{ATR, Server};
use crate::world::scenario;

const NAME: &[u8] = b"keymark virtual reader 00 00\0";

/// Ways of asking for a result: whether with a buffer, with which length of it by the one that is needed, and the code.
type Way = (bool, Option<fn(Dword) -> Dword>, Long);

const WAYS: [Way; 6] = [
    (false, None, SUCCESS),
    (false, Some(|_| 0), SUCCESS),
    (true, None, INVALID_PARAMETER),
    (true, Some(|needed| needed - 1), INSUFFICIENT_BUFFER),
    (true, Some(|needed| needed), SUCCESS),
    (true, Some(|_| 64), SUCCESS),
];

struct Asked {
    has_buffer: bool,
    buffer: [u8; 64],
    length: Option<Dword>,
    code: Long,
}

impl Asked {
    fn new((has_buffer, length, code): Way, expected: &[u8]) -> Self {
        Self {
            has_buffer,
            buffer: [0xEE; 64],
            length: length.map(|length| length(expected.len() as Dword)),
            code,
        }
    }

    fn target(&mut self) -> *mut u8 {
        match self.has_buffer {
            true => self.buffer.as_mut_ptr(),
            false => ptr::null_mut(),
        }
    }

    fn length(&mut self) -> *mut Dword {
        self.length.as_mut().map_or(ptr::null_mut(), ptr::from_mut)
    }

    /// Afterwards: what was to be written was, and nothing else.
    fn check(&self, expected: &[u8]) {
        let needed = self.length.map(|_| expected.len() as Dword);
        assert_eq!(self.length, needed);
        let is_written = self.has_buffer && self.code == SUCCESS;
        let written = if is_written { expected.len() } else { 0 };
        assert_eq!(self.buffer[..written], expected[..written]);
        assert!(self.buffer[written..].iter().all(|octet| *octet == 0xEE));
    }
}

scenario!(
    every_way_of_asking_is_answered,
    [("KEYMARK_PCSC_CARD", "{}/card")],
    |folder| {
        let _server = Server::start(folder);
        let library = Library::load();
        let handle = library.handle();
        for (name_way, atr_way) in WAYS.iter().flat_map(|name| WAYS.map(|atr| (*name, atr))) {
            for numbers in [false, true] {
                let (mut name, mut atr) = (Asked::new(name_way, NAME), Asked::new(atr_way, &ATR));
                let (mut state, mut protocol) = (0xBAD, 0xBAD);
                let number = |place: &mut Dword| match numbers {
                    true => ptr::from_mut(place),
                    false => ptr::null_mut(),
                };
                // SAFETY: the pointers are null or good for what the lengths say.
                let code = unsafe {
                    (library.status)(
                        handle,
                        name.target().cast(),
                        name.length(),
                        number(&mut state),
                        number(&mut protocol),
                        atr.target(),
                        atr.length(),
                    )
                };
                let mut expected = [name.code, atr.code].into_iter();
                let expected = expected.find(|code| *code != SUCCESS);
                assert_eq!(code, expected.unwrap_or(SUCCESS));
                name.check(NAME);
                atr.check(&ATR);
                let told = if numbers { (0x74, T1) } else { (0xBAD, 0xBAD) };
                assert_eq!((state, protocol), told);
            }
        }
    }
);
