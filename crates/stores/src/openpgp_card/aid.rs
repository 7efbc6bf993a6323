//! The application identifier, by which one card is told from every other (OpenPGP card 3.4.1 §4.2.1).

use std::fmt;

use keymark_bench::error::Error;
use openpgp_card::ocard::data::ApplicationIdentifier;

use super::backend::whole_response;
use super::channel::Channel;

/// RID and application of every OpenPGP card.
const OPENPGP: [u8; 6] = [0xD2, 0x76, 0x00, 0x01, 0x24, 0x01];
const SELECT: [u8; 12] = [
    0x00, 0xA4, 0x04, 0x00, 0x06, 0xD2, 0x76, 0x00, 0x01, 0x24, 0x01, 0x00,
];
const GET_AID: [u8; 5] = [0x00, 0xCA, 0x00, 0x4F, 0x00];

/// All of it that is not alike on every card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aid {
    version: u16,
    manufacturer: u16,
    serial: u32,
}

impl Aid {
    /// Takes what a card has answered, without the status word.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&OPENPGP)?;
        let (&[v0, v1, m0, m1, ref serial @ ..], &[_, _]) = rest.split_first_chunk::<8>()? else {
            return None;
        };
        Some(Self {
            version: u16::from_be_bytes([v0, v1]),
            manufacturer: u16::from_be_bytes([m0, m1]),
            serial: u32::from_be_bytes(*serial.first_chunk()?),
        })
    }

    /// That of the card behind a channel, whose application is then selected. It is not selected anew if
    /// it was: that could cost another program its verified PIN (§7.2.1).
    pub(super) fn selected(channel: &mut dyn Channel) -> Result<Self, Error> {
        if let Some(aid) = Self::read(channel)? {
            return Ok(aid);
        }
        let mut response = Vec::new();
        whole_response(channel, &SELECT, &mut response)?;
        match response.as_slice() {
            [.., 0x90, 0x00] => {}
            [.., sw1, sw2] => return Err(super::session::refused("SELECT", [*sw1, *sw2])),
            _ => return Err(Error::call("SELECT", "the response has no status word", "")),
        }
        Self::read(channel)?.ok_or_else(|| {
            let reason = "the card has no application identifier of an OpenPGP card";
            Error::call("GET DATA (4F)", reason, "")
        })
    }

    fn read(channel: &mut dyn Channel) -> Result<Option<Self>, Error> {
        let mut response = Vec::new();
        whole_response(channel, &GET_AID, &mut response)?;
        Ok(response.strip_suffix(&[0x90, 0x00]).and_then(Self::new))
    }
}

impl From<ApplicationIdentifier> for Aid {
    fn from(id: ApplicationIdentifier) -> Self {
        Self {
            version: id.version(),
            manufacturer: id.manufacturer(),
            serial: id.serial(),
        }
    }
}

/// Manufacturer and serial number, as GnuPG prints them: `0006:12345678`.
impl fmt::Display for Aid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:08x}", self.manufacturer, self.serial)
    }
}
