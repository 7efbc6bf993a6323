//! One reader with a card that keymark serves at a socket.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use keymark_shim_protocol::wire::{Request, Response};

use crate::contexts::{User, Users};
use crate::trace::note_card_time;
use crate::types::{
    Code, Context, Dword, Handle, RESET_CARD, SHARE_DIRECT, STATE_EMPTY, STATE_MUTE, STATE_PRESENT,
    UNPOWER_CARD,
};

/// The reader with everybody who uses it.
pub(crate) struct VirtualReader {
    socket: PathBuf,
    name: String,
    users: Mutex<Users>,
}

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
    fn open(socket: &Path) -> Result<Self, Code> {
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

    pub(crate) fn atr(&self) -> &[u8] {
        &self.atr
    }
}

impl VirtualReader {
    pub(crate) fn new(socket: PathBuf, name: String) -> Self {
        Self {
            socket,
            name,
            users: Mutex::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Locked for bookkeeping only, never while a card is asked.
    pub(crate) fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn user(&self, context: Context) -> Result<Arc<User>, Code> {
        self.users().user(context)
    }

    pub(crate) fn check(&self, context: Context) -> Code {
        self.user(context).err().unwrap_or(Code::SUCCESS)
    }

    /// Connects to the card; directly, also to a reader that has none.
    pub(crate) fn connect(&self, context: Context, share: Dword) -> Result<(Handle, bool), Code> {
        self.user(context)?;
        let mut connection = Connection::open(&self.socket)?;
        let looked = match connection.look() {
            // What was reset before this connection had anything to lose does not concern it.
            Err(Code::RESET) => connection.look(),
            looked => looked,
        };
        let present = match looked {
            Ok(()) => true,
            Err(_) if share == SHARE_DIRECT => false,
            Err(Code::REMOVED) => return Err(Code::NO_SMARTCARD),
            Err(Code::NOT_TRANSACTED) => return Err(Code::UNRESPONSIVE),
            Err(other) => return Err(other),
        };
        let handle = self.users().connect(context, share, connection)?;
        Ok((handle, present))
    }

    /// Uses a connection; other handles are not kept waiting.
    pub(crate) fn with<R>(
        &self,
        handle: Handle,
        talk: impl FnOnce(&mut Connection) -> Result<R, Code>,
    ) -> Result<R, Code> {
        let card = self.users().card(handle)?;
        let mut connection = card.lock().unwrap_or_else(PoisonError::into_inner);
        talk(&mut connection)
    }

    pub(crate) fn disconnect(&self, handle: Handle, disposition: Dword) -> Result<(), Code> {
        // Of a card that is gone there is nothing to reset.
        let _ = self.with(handle, |connection| connection.dispose(disposition));
        self.users().disconnect(handle)
    }

    /// State of the reader and the card's answer to reset.
    pub(crate) fn state(&self, user: &User) -> (Dword, Vec<u8>) {
        let mut watch = user.watch.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that broke is replaced once: the server may have been started anew.
        for _ in 0..2 {
            if watch.is_none() {
                *watch = Connection::open(&self.socket).ok();
            }
            let Some(connection) = watch.as_mut() else {
                break;
            };
            match connection.look() {
                Ok(()) => return (STATE_PRESENT, connection.atr().to_vec()),
                Err(Code::RESET) => {}
                Err(Code::NOT_TRANSACTED) => return (STATE_PRESENT | STATE_MUTE, Vec::new()),
                Err(_) if connection.stream.is_some() => break,
                Err(_) => *watch = None,
            }
        }
        (STATE_EMPTY, Vec::new())
    }
}
