//! A connection to the card that keymark serves.

use std::os::unix::net::UnixStream;
use std::path::Path;

use keymark_shim_protocol::wire::{Request, Response};

use crate::trace::note_card_time;
use crate::types::{Code, Dword, RESET_CARD, UNPOWER_CARD};

/// One connection to the card.
pub(crate) struct Connection {
    /// None once it is broken: what follows a torn frame is no frame.
    stream: Option<UnixStream>,
    atr: Vec<u8>,
    /// Transactions begun and not ended.
    transactions: u32,
}

impl Connection {
    /// A server that is not there is a reader without a card.
    pub(crate) fn open(socket: &Path) -> Result<Self, Code> {
        let stream = UnixStream::connect(socket).map_err(|_| Code::NO_SMARTCARD)?;
        Ok(Self {
            stream: Some(stream),
            atr: Vec::new(),
            transactions: 0,
        })
    }

    /// A server that is gone is a card that was pulled out.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Vec<u8>, Code> {
        let stream = self.stream.as_mut().ok_or(Code::REMOVED)?;
        let answered = request.write(stream).and_then(|()| Response::read(stream));
        match answered {
            Ok(Response::Done { work, bytes }) => {
                note_card_time(work);
                Ok(bytes)
            }
            Ok(Response::Removed) => Err(Code::REMOVED),
            Ok(Response::Reset) => Err(Code::RESET),
            Ok(Response::Mute) => Err(Code::NOT_TRANSACTED),
            Err(_) => {
                self.stream = None;
                Err(Code::REMOVED)
            }
        }
    }

    /// Looks whether the card is there, and for its answer to reset.
    pub(crate) fn look(&mut self) -> Result<(), Code> {
        self.atr = self.ask(&Request::Status)?;
        Ok(())
    }

    pub(crate) fn reset(&mut self) -> Result<(), Code> {
        self.atr = self.ask(&Request::PowerOn)?;
        Ok(())
    }

    /// What SCardDisconnect and SCardEndTransaction are told to do with the card.
    pub(crate) fn dispose(&mut self, disposition: Dword) -> Result<(), Code> {
        match disposition {
            RESET_CARD | UNPOWER_CARD => self.reset(),
            _ => Ok(()),
        }
    }

    /// One command at a time goes to the card in any case; nobody is kept out for longer.
    pub(crate) const fn begin_transaction(&mut self) {
        self.transactions = self.transactions.saturating_add(1);
    }

    pub(crate) fn end_transaction(&mut self, disposition: Dword) -> Result<(), Code> {
        let left = self.transactions.checked_sub(1);
        self.transactions = left.ok_or(Code::NOT_TRANSACTED)?;
        self.dispose(disposition)
    }

    /// Whether the server still answers.
    pub(crate) const fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    pub(crate) fn atr(&self) -> &[u8] {
        &self.atr
    }
}
