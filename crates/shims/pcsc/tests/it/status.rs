//! SCardStatus with every way of asking for its two results of a length.

use std::ptr;

use crate::library::*;
use crate::server::{ATR, Server};
use crate::world::scenario;

const NAME: &[u8] = b"keymark virtual reader 00 00\0";

#[derive(Debug, Clone, Copy)]
enum Way {
    NotAtAll,
    LengthOnly,
    WithoutLength,
    Short,
    Exact,
    Roomy,
}

const WAYS: [Way; 6] = [
    Way::NotAtAll,
    Way::LengthOnly,
    Way::WithoutLength,
    Way::Short,
    Way::Exact,
    Way::Roomy,
];

struct Asked {
    way: Way,
    buffer: [u8; 64],
    length: Dword,
}

impl Asked {
    fn new(way: Way, expected: &[u8]) -> Self {
        let needed = expected.len() as Dword;
        Self {
            way,
            buffer: [0xEE; 64],
            length: match way {
                Way::Short => needed - 1,
                Way::Exact => needed,
                Way::Roomy => 64,
                _ => 0,
            },
        }
    }

    fn target(&mut self) -> *mut u8 {
        match self.way {
            Way::NotAtAll | Way::LengthOnly => ptr::null_mut(),
            _ => self.buffer.as_mut_ptr(),
        }
    }

    fn length(&mut self) -> *mut Dword {
        match self.way {
            Way::NotAtAll | Way::WithoutLength => ptr::null_mut(),
            _ => &raw mut self.length,
        }
    }

    fn code(&self) -> Long {
        match self.way {
            Way::Short => INSUFFICIENT_BUFFER,
            Way::WithoutLength => INVALID_PARAMETER,
            _ => SUCCESS,
        }
    }

    /// Afterwards: what was to be written was, and nothing else.
    fn check(&self, expected: &[u8]) {
        let length = usize::try_from(self.length);
        match self.way {
            Way::NotAtAll | Way::WithoutLength => {}
            _ => assert_eq!(length, Ok(expected.len()), "{:?}", self.way),
        }
        let written = match self.way {
            Way::Exact | Way::Roomy => expected.len(),
            _ => 0,
        };
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
                let expected = [name.code(), atr.code()]
                    .into_iter()
                    .find(|code| *code != 0);
                assert_eq!(
                    code,
                    expected.unwrap_or(SUCCESS),
                    "{name_way:?} {atr_way:?}"
                );
                name.check(NAME);
                atr.check(&ATR);
                let told = if numbers { (0x74, T1) } else { (0xBAD, 0xBAD) };
                assert_eq!((state, protocol), told);
            }
        }
    }
);
