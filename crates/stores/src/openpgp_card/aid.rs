//! Reading the application identifier, by which one card is told from every other (OpenPGP card 3.4.1 §4.2.1).

use keymark_bench::error::Error;
use openpgp_card::ocard::data::ApplicationIdentifier;

use super::backend::whole_response;
use super::channel::Channel;
use crate::card::Aid;

const SELECT: [u8; 12] = [
    0x00, 0xA4, 0x04, 0x00, 0x06, 0xD2, 0x76, 0x00, 0x01, 0x24, 0x01, 0x00,
];
const GET_AID: [u8; 5] = [0x00, 0xCA, 0x00, 0x4F, 0x00];

impl Aid {
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
