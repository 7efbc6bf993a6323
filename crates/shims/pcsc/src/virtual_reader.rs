//! One reader with a card that keymark serves at a socket.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::connection::Connection;
use crate::contexts::{User, Users};
use crate::types::{
    Code, Context, Dword, Handle, SHARE_DIRECT, STATE_EMPTY, STATE_MUTE, STATE_PRESENT,
};

/// The reader with everybody who uses it.
pub(crate) struct VirtualReader {
    socket: PathBuf,
    name: String,
    users: Mutex<Users>,
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
                Err(_) if connection.is_open() => break,
                Err(_) => *watch = None,
            }
        }
        (STATE_EMPTY, Vec::new())
    }
}
