//! A reader with a card that keymark serves at a socket, and who uses it: contexts, which can wait and be cancelled, and
//! handles, which share the card by a connection each.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keymark_shim_protocol::wire::{self, CardRequest, CardResponse};

use crate::trace::note_card_time;
use crate::types::{
    Code, Context, Dword, Handle, RESET_CARD, SHARE_DIRECT, SHARE_EXCLUSIVE, STATE_EMPTY,
    STATE_MUTE, STATE_PRESENT, UNPOWER_CARD,
};

/// Every context and handle of this process.
#[derive(Default)]
pub(crate) struct Users {
    last: Handle,
    contexts: BTreeMap<Context, Arc<User>>,
    cards: BTreeMap<Handle, OpenCard>,
}

#[derive(Default)]
pub(crate) struct User {
    cancels: Mutex<u64>,
    woken: Condvar,
    /// Connection for the card's state. Kept, because a connection for each look would be one the server has to
    /// serve, several a second for as long as scdaemon runs.
    pub(crate) watch: Mutex<Option<CardConnection>>,
}

struct OpenCard {
    context: Context,
    share: Dword,
    connection: Arc<Mutex<CardConnection>>,
}

impl Users {
    fn next(&mut self) -> Handle {
        self.last += 1;
        self.last
    }

    pub(crate) fn establish(&mut self) -> Context {
        let context = self.next();
        self.contexts.insert(context, Arc::default());
        context
    }

    /// Ends a context with its handles, as pcsc-lite does.
    pub(crate) fn release(&mut self, context: Context) -> Result<(), Code> {
        let user = self.contexts.remove(&context).ok_or(Code::INVALID_HANDLE)?;
        user.cancel();
        self.cards.retain(|_, card| card.context != context);
        Ok(())
    }

    pub(crate) fn user(&self, context: Context) -> Result<Arc<User>, Code> {
        let user = self.contexts.get(&context).ok_or(Code::INVALID_HANDLE)?;
        Ok(Arc::clone(user))
    }

    /// An exclusive handle is the only one, within this process: the server knows no shares.
    fn check_share(&self, share: Dword, but: Option<Handle>) -> Result<(), Code> {
        let mut others = self
            .cards
            .iter()
            .filter(|(handle, _)| Some(**handle) != but);
        if others.any(|(_, card)| share == SHARE_EXCLUSIVE || card.share == SHARE_EXCLUSIVE) {
            return Err(Code::SHARING_VIOLATION);
        }
        Ok(())
    }

    pub(crate) fn connect(
        &mut self,
        context: Context,
        share: Dword,
        connection: CardConnection,
    ) -> Result<Handle, Code> {
        // It may have been released meanwhile.
        self.user(context)?;
        self.check_share(share, None)?;
        let handle = self.next();
        let card = OpenCard {
            context,
            share,
            connection: Arc::new(Mutex::new(connection)),
        };
        self.cards.insert(handle, card);
        Ok(handle)
    }

    pub(crate) fn share(&mut self, handle: Handle, share: Dword) -> Result<(), Code> {
        self.card(handle)?;
        self.check_share(share, Some(handle))?;
        if let Some(card) = self.cards.get_mut(&handle) {
            card.share = share;
        }
        Ok(())
    }

    pub(crate) fn card(&self, handle: Handle) -> Result<Arc<Mutex<CardConnection>>, Code> {
        let card = self.cards.get(&handle).ok_or(Code::INVALID_HANDLE)?;
        Ok(Arc::clone(&card.connection))
    }

    pub(crate) fn disconnect(&mut self, handle: Handle) -> Result<(), Code> {
        let removed = self.cards.remove(&handle);
        removed.map(|_| ()).ok_or(Code::INVALID_HANDLE)
    }
}

impl User {
    /// Returns the number of times that its waits were ended, which each begins with: only what comes later ends it.
    pub(crate) fn cancels(&self) -> MutexGuard<'_, u64> {
        self.cancels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the waits under way.
    pub(crate) fn cancel(&self) {
        *self.cancels() += 1;
        self.woken.notify_all();
    }

    /// Returns whether a wait that began with that number was ended before the time was over.
    pub(crate) fn cancelled_within(&self, begun: u64, time: Duration) -> bool {
        let waited = self
            .woken
            .wait_timeout_while(self.cancels(), time, |cancels| *cancels == begun);
        *waited.unwrap_or_else(PoisonError::into_inner).0 != begun
    }
}

/// The reader with everybody who uses it.
pub(crate) struct ServedReader {
    socket: PathBuf,
    users: Mutex<Users>,
}

impl ServedReader {
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self {
            socket,
            users: Mutex::default(),
        }
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
        let mut connection = CardConnection::open(&self.socket)?;
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
        talk: impl FnOnce(&mut CardConnection) -> Result<R, Code>,
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
                *watch = CardConnection::open(&self.socket).ok();
            }
            let Some(connection) = watch.as_mut() else {
                break;
            };
            match connection.look() {
                Ok(()) => return (STATE_PRESENT, connection.atr.clone()),
                Err(Code::RESET) => {}
                Err(Code::NOT_TRANSACTED) => return (STATE_PRESENT | STATE_MUTE, Vec::new()),
                Err(_) if connection.stream.is_some() => break,
                Err(_) => *watch = None,
            }
        }
        (STATE_EMPTY, Vec::new())
    }
}

pub(crate) struct CardConnection {
    /// Broken for good after a torn frame, and then none.
    stream: Option<UnixStream>,
    pub(crate) atr: Vec<u8>,
    /// Transactions begun and not ended.
    transactions: u32,
}

impl CardConnection {
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
    pub(crate) fn ask(&mut self, request: &CardRequest) -> Result<Vec<u8>, Code> {
        let stream = self.stream.as_mut().ok_or(Code::REMOVED)?;
        let answered = wire::write(stream, request).and_then(|()| wire::read(stream));
        match answered {
            Ok(Some(CardResponse::Done { work, bytes })) => {
                note_card_time(work);
                Ok(bytes)
            }
            Ok(Some(CardResponse::Removed)) => Err(Code::REMOVED),
            Ok(Some(CardResponse::Reset)) => Err(Code::RESET),
            Ok(Some(CardResponse::Mute)) => Err(Code::NOT_TRANSACTED),
            Ok(None) | Err(_) => {
                self.stream = None;
                Err(Code::REMOVED)
            }
        }
    }

    /// Looks whether the card is there, and for its answer to reset.
    pub(crate) fn look(&mut self) -> Result<(), Code> {
        self.atr = self.ask(&CardRequest::Status)?;
        Ok(())
    }

    pub(crate) fn reset(&mut self) -> Result<(), Code> {
        self.atr = self.ask(&CardRequest::PowerOn)?;
        Ok(())
    }

    pub(crate) fn dispose(&mut self, disposition: Dword) -> Result<(), Code> {
        match disposition {
            RESET_CARD | UNPOWER_CARD => self.reset(),
            _ => Ok(()),
        }
    }

    pub(crate) const fn begin_transaction(&mut self) {
        self.transactions = self.transactions.saturating_add(1);
    }

    pub(crate) fn end_transaction(&mut self, disposition: Dword) -> Result<(), Code> {
        let left = self.transactions.checked_sub(1);
        self.transactions = left.ok_or(Code::NOT_TRANSACTED)?;
        self.dispose(disposition)
    }
}
