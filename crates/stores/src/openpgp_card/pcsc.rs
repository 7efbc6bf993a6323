//! Cards in readers, through pcscd.
//!
//! A connection never resets the card when it ends, as the crate `pcsc` does by default.

use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::{Error, ReturnCode};
use pcsc::{Attribute, Context, Disposition, Protocols, ReaderState, Scope, ShareMode, State};

use super::channel::{Channel, Port, Reset};
use crate::sayings;

/// Longest response APDU that is waited for: extended Le.
const RESPONSE: usize = pcsc::MAX_BUFFER_SIZE_EXTENDED;

/// The cards in all readers.
#[derive(Debug, Default)]
pub struct InReaders {
    /// Cards that can be connected to.
    pub ports: Vec<Arc<dyn Port>>,
    /// Readers whose card another program has to itself, by their names.
    pub occupied: Vec<String>,
}

/// Looks into all readers, without a connection to any card: pcscd knows what is in them.
pub fn in_readers() -> Result<InReaders, Error> {
    let context = context()?;
    let readers = match context.list_readers_owned() {
        Err(pcsc::Error::NoReadersAvailable) => Vec::new(),
        listed => listed.map_err(|error| failed("SCardListReaders", error))?,
    };
    let mut found = InReaders::default();
    for reader in readers {
        // A reader may have been unplugged since.
        let Ok(seen) = seen(&context, &reader) else {
            continue;
        };
        if seen.event_state().contains(State::EXCLUSIVE) {
            found.occupied.push(reader.to_string_lossy().into_owned());
        } else if !seen.atr().is_empty() {
            found.ports.push(Arc::new(PcscPort { reader }));
        }
    }
    Ok(found)
}

/// The state of a reader as pcscd has it.
fn seen(context: &Context, reader: &CStr) -> Result<ReaderState, pcsc::Error> {
    let mut states = [ReaderState::new(reader, State::UNAWARE)];
    context.get_status_change(Duration::ZERO, &mut states)?;
    let [state] = states;
    Ok(state)
}

/// Returns whether a connection failed because another program has the card to itself.
pub(super) fn is_occupied(error: &Error) -> bool {
    let violation = pcsc::Error::SharingViolation as u32;
    error.code().is_some_and(|code| code.number == violation)
}

fn context() -> Result<Context, Error> {
    Context::establish(Scope::User).map_err(|error| failed("SCardEstablishContext", error))
}

/// A reader that pcscd knows.
#[derive(Debug)]
struct PcscPort {
    reader: CString,
}

impl PcscPort {
    fn connection(&self) -> Result<PcscCard, Error> {
        let card = context()?
            .connect(&self.reader, ShareMode::Shared, Protocols::ANY)
            .map_err(|error| failed("SCardConnect", error))?;
        Ok(PcscCard(Some(card)))
    }
}

impl Port for PcscPort {
    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        Ok(Box::new(PcscChannel {
            connection: self.connection()?,
            buffer: vec![0; RESPONSE].into(),
        }))
    }

    fn reader(&self) -> String {
        CStr::to_string_lossy(&self.reader).into_owned()
    }

    fn reset(&self) -> Result<Reset, Error> {
        // Only who has a card alone takes nothing from anybody by resetting it.
        match context()?.connect(&self.reader, ShareMode::Exclusive, Protocols::ANY) {
            Ok(card) => card
                .disconnect(Disposition::ResetCard)
                .map(|()| Reset::Done)
                .map_err(|(_, error)| failed("SCardDisconnect", error)),
            Err(pcsc::Error::SharingViolation) => Ok(Reset::Shared),
            Err(error) => Err(failed("SCardConnect", error)),
        }
    }

    fn channel_id(&self) -> Option<u32> {
        let connection = self.connection().ok()?;
        let bytes = connection
            .card()
            .ok()?
            .get_attribute_owned(Attribute::ChannelId)
            .ok()?;
        Some(u32::from_ne_bytes(*bytes.first_chunk()?))
    }
}

/// A connection that leaves the card as it is: by default a card is reset, and its PINs forgotten, when
/// a program is done with it.
struct PcscCard(Option<pcsc::Card>);

impl PcscCard {
    /// Always there until it is dropped.
    fn card(&self) -> Result<&pcsc::Card, Error> {
        let card = self.0.as_ref();
        card.ok_or_else(|| failed("SCardConnect", pcsc::Error::InvalidHandle))
    }
}

impl Drop for PcscCard {
    fn drop(&mut self) {
        let disconnected = self
            .0
            .take()
            .map(|card| card.disconnect(Disposition::LeaveCard));
        if let Some(Err((card, _))) = disconnected {
            // Dropped, it would be disconnected again, with a reset.
            std::mem::forget(card);
        }
    }
}

struct PcscChannel {
    connection: PcscCard,
    buffer: Box<[u8]>,
}

impl Channel for PcscChannel {
    fn transmit(&mut self, command: &[u8], response: &mut Vec<u8>) -> Result<(), Error> {
        let received = self
            .connection
            .card()?
            .transmit(command, &mut self.buffer)
            .map_err(|error| failed("SCardTransmit", error))?;
        response.clear();
        response.extend_from_slice(received);
        Ok(())
    }
}

/// A line for codes that mean the same.
const MEANINGS: &str = include_str!("../../../../data/pcsc.txt");

fn failed(call: &str, error: pcsc::Error) -> Error {
    let name = format!("{error:?}");
    let meaning = sayings::meaning(MEANINGS, &name);
    let code = ReturnCode::named(name, error as u32);
    match meaning {
        Some((reason, advice)) => Error::refused(call, code, reason, advice),
        None => Error::refused(call, code, error, ""),
    }
}
