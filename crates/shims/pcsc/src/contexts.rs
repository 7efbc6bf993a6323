//! Who uses the reader: contexts, which can wait and be cancelled, and handles, which share a card.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::connection::Connection;
use crate::types::{Code, Context, Dword, Handle, SHARE_EXCLUSIVE};

/// Every context and handle of this process.
#[derive(Default)]
pub(crate) struct Users {
    last: i64,
    contexts: BTreeMap<Context, Arc<User>>,
    cards: BTreeMap<Handle, OpenCard>,
}

/// What a context has of its own.
#[derive(Default)]
pub(crate) struct User {
    waiting: Mutex<Waiting>,
    woken: Condvar,
    /// For the card's state. Kept, because a connection for each look would be one the server has to
    /// serve, several a second for as long as scdaemon runs.
    pub(crate) watch: Mutex<Option<Connection>>,
}

#[derive(Default)]
struct Waiting {
    calls: u32,
    cancelled: bool,
}

struct OpenCard {
    context: Context,
    share: Dword,
    connection: Arc<Mutex<Connection>>,
}

impl Users {
    fn next(&mut self) -> i64 {
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
        connection: Connection,
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

    pub(crate) fn card(&self, handle: Handle) -> Result<Arc<Mutex<Connection>>, Code> {
        let card = self.cards.get(&handle).ok_or(Code::INVALID_HANDLE)?;
        Ok(Arc::clone(&card.connection))
    }

    pub(crate) fn disconnect(&mut self, handle: Handle) -> Result<(), Code> {
        let removed = self.cards.remove(&handle);
        removed.map(|_| ()).ok_or(Code::INVALID_HANDLE)
    }
}

impl User {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the waits under way; without any, nothing, so that no later one ends by it.
    pub(crate) fn cancel(&self) {
        let mut waiting = self.waiting();
        waiting.cancelled = waiting.calls > 0;
        self.woken.notify_all();
    }

    /// A call that can be cancelled until it is dropped.
    pub(crate) fn begin_wait(&self) -> Wait<'_> {
        self.waiting().calls += 1;
        Wait(self)
    }
}

/// A call that waits.
pub(crate) struct Wait<'a>(&'a User);

impl Wait<'_> {
    /// Whether the call was cancelled before the time was over.
    pub(crate) fn cancelled_within(&self, time: Duration) -> bool {
        let waiting = self
            .0
            .woken
            .wait_timeout_while(self.0.waiting(), time, |waiting| !waiting.cancelled);
        waiting.unwrap_or_else(PoisonError::into_inner).0.cancelled
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        waiting.calls -= 1;
        if waiting.calls == 0 {
            waiting.cancelled = false;
        }
    }
}
