//! Cards in readers, through pcscd.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use keymark_bench::error::Error;
use pcsc::{Attribute, Context, Disposition, Protocols, Scope, ShareMode};

use super::channel::{Channel, Port};

/// Longest response APDU that is waited for: extended Le.
const RESPONSE: usize = pcsc::MAX_BUFFER_SIZE_EXTENDED;

/// Every reader with a card in it.
///
/// # Errors
/// When pcscd does not answer. No reader at all is no error.
pub fn ports() -> Result<Vec<Arc<dyn Port>>, Error> {
    let context = match context() {
        Err(pcsc::Error::NoService | pcsc::Error::ServiceStopped) => {
            return Err(Error::Missing {
                what: "pcscd".to_owned(),
                reason: "SCardEstablishContext finds no service".to_owned(),
                advice: "apt-get install pcscd brings it on Debian and Ubuntu".to_owned(),
            });
        }
        established => established.map_err(|error| failed("SCardEstablishContext", error))?,
    };
    let readers = match context.list_readers_owned() {
        Err(pcsc::Error::NoReadersAvailable) => Vec::new(),
        listed => listed.map_err(|error| failed("SCardListReaders", error))?,
    };
    let ports = readers.into_iter().map(|reader| PcscPort { reader });
    Ok(ports
        .filter(|port| port.atr().is_ok())
        .map(|port| Arc::new(port) as Arc<dyn Port>)
        .collect())
}

fn context() -> Result<Context, pcsc::Error> {
    Context::establish(Scope::User)
}

/// A reader that pcscd knows.
#[derive(Debug)]
struct PcscPort {
    reader: CString,
}

impl PcscPort {
    fn card(&self) -> Result<pcsc::Card, Error> {
        let context = context().map_err(|error| failed("SCardEstablishContext", error))?;
        context
            .connect(&self.reader, ShareMode::Shared, Protocols::ANY)
            .map_err(|error| failed("SCardConnect", error))
    }

    fn attribute(&self, attribute: Attribute) -> Option<Vec<u8>> {
        self.card().ok()?.get_attribute_owned(attribute).ok()
    }
}

impl Port for PcscPort {
    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        Ok(Box::new(PcscChannel {
            card: Some(self.card()?),
            buffer: vec![0; RESPONSE].into(),
        }))
    }

    fn reader(&self) -> String {
        CStr::to_string_lossy(&self.reader).into_owned()
    }

    fn atr(&self) -> Result<Vec<u8>, Error> {
        let status = self.card()?.status2_owned();
        status
            .map(|status| status.atr().to_vec())
            .map_err(|error| failed("SCardStatus", error))
    }

    fn channel_id(&self) -> Option<u32> {
        let bytes = self.attribute(Attribute::ChannelId)?;
        Some(u32::from_ne_bytes(*bytes.first_chunk()?))
    }
}

struct PcscChannel {
    /// Always there until it is dropped.
    card: Option<pcsc::Card>,
    buffer: Box<[u8]>,
}

impl Channel for PcscChannel {
    fn transmit(&mut self, command: &[u8], response: &mut Vec<u8>) -> Result<(), Error> {
        let Some(card) = &self.card else {
            return Err(failed("SCardTransmit", pcsc::Error::InvalidHandle));
        };
        let received = card
            .transmit(command, &mut self.buffer)
            .map_err(|error| failed("SCardTransmit", error))?;
        response.clear();
        response.extend_from_slice(received);
        Ok(())
    }
}

impl Drop for PcscChannel {
    fn drop(&mut self) {
        // By default a card is reset, and its PINs forgotten, when somebody is done with it.
        if let Some(card) = self.card.take() {
            let _ = card.disconnect(Disposition::LeaveCard);
        }
    }
}

fn failed(call: &str, error: pcsc::Error) -> Error {
    let (reason, advice) = match error {
        pcsc::Error::RemovedCard | pcsc::Error::NoSmartcard => (
            "the card was pulled out of its reader".to_owned(),
            "put it back in and measure this case again",
        ),
        pcsc::Error::ResetCard => (
            "the card was reset by another program, and its PIN is no longer verified".to_owned(),
            "end the programs that use the card, and measure this case again",
        ),
        pcsc::Error::SharingViolation => (
            "another program has the card to itself".to_owned(),
            "gpgconf --kill scdaemon makes GnuPG let go of it",
        ),
        pcsc::Error::ReaderUnavailable | pcsc::Error::UnknownReader => {
            ("the reader is gone".to_owned(), "plug it in again")
        }
        pcsc::Error::NoService | pcsc::Error::ServiceStopped => {
            ("pcscd is gone".to_owned(), "systemctl restart pcscd")
        }
        other => (other.to_string(), ""),
    };
    Error::call(call, format!("{reason} ({error:?})"), advice)
}
