//! One reader with a card that keymark serves at a socket.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keymark_shim_protocol::wire::{Request, Response};

use crate::trace::note_card_time;
use crate::types::{
    Code, Context, Dword, Handle, INFINITE, RESET_CARD, STATE_CHANGED, STATE_EMPTY, STATE_PRESENT,
    UNPOWER_CARD,
};

/// How often a wait for a change looks for one.
const STEP: Duration = Duration::from_millis(50);

/// The reader with everybody who uses it.
pub(crate) struct VirtualReader {
    socket: PathBuf,
    users: Mutex<Users>,
    cancelled: AtomicBool,
}

#[derive(Default)]
struct Users {
    last: i64,
    contexts: BTreeSet<Context>,
    cards: BTreeMap<Handle, Arc<Mutex<Connection>>>,
}

/// One connection to the card.
pub(crate) struct Connection {
    stream: UnixStream,
    atr: Vec<u8>,
}

impl Connection {
    fn open(socket: &PathBuf) -> Result<Self, Code> {
        let stream = UnixStream::connect(socket).map_err(|_| Code::NO_SMARTCARD)?;
        let mut connection = Self {
            stream,
            atr: Vec::new(),
        };
        connection.atr = connection
            .ask(&Request::Status)
            .map_err(|code| match code {
                Code::REMOVED => Code::NO_SMARTCARD,
                other => other,
            })?;
        Ok(connection)
    }

    /// A server that is gone is a card that was pulled out.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Vec<u8>, Code> {
        let answered = request
            .write(&mut self.stream)
            .and_then(|()| Response::read(&mut self.stream));
        match answered {
            Ok(Response::Done { work, bytes }) => {
                note_card_time(work);
                Ok(bytes)
            }
            Ok(Response::Removed) | Err(_) => Err(Code::REMOVED),
            Ok(Response::Reset) => Err(Code::RESET),
            Ok(Response::Mute) => Err(Code::NOT_TRANSACTED),
        }
    }

    pub(crate) fn atr(&self) -> &[u8] {
        &self.atr
    }
}

impl VirtualReader {
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self {
            socket,
            users: Mutex::default(),
            cancelled: AtomicBool::new(false),
        }
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn establish(&self) -> Context {
        let mut users = self.users();
        users.last += 1;
        let context = users.last;
        users.contexts.insert(context);
        context
    }

    pub(crate) fn release(&self, context: Context) -> Code {
        if self.users().contexts.remove(&context) {
            Code::SUCCESS
        } else {
            Code::INVALID_HANDLE
        }
    }

    pub(crate) fn check(&self, context: Context) -> Code {
        if self.users().contexts.contains(&context) {
            Code::SUCCESS
        } else {
            Code::INVALID_HANDLE
        }
    }

    pub(crate) fn connect(&self, context: Context) -> Result<Handle, Code> {
        let checked = self.check(context);
        if checked != Code::SUCCESS {
            return Err(checked);
        }
        let connection = Connection::open(&self.socket)?;
        let mut users = self.users();
        users.last += 1;
        let handle = users.last;
        users.cards.insert(handle, Arc::new(Mutex::new(connection)));
        Ok(handle)
    }

    /// Uses a connection; other handles are not kept waiting.
    pub(crate) fn with<R>(
        &self,
        handle: Handle,
        talk: impl FnOnce(&mut Connection) -> Result<R, Code>,
    ) -> Result<R, Code> {
        let card = self.users().cards.get(&handle).map(Arc::clone);
        let card = card.ok_or(Code::INVALID_HANDLE)?;
        let mut connection = card.lock().unwrap_or_else(PoisonError::into_inner);
        talk(&mut connection)
    }

    pub(crate) fn reset(&self, handle: Handle) -> Result<(), Code> {
        self.with(handle, |connection| {
            connection.atr = connection.ask(&Request::PowerOn)?;
            Ok(())
        })
    }

    pub(crate) fn disconnect(&self, handle: Handle, disposition: Dword) -> Code {
        if matches!(disposition, RESET_CARD | UNPOWER_CARD) {
            // Of a card that is gone there is nothing to reset.
            let _ = self.reset(handle);
        }
        match self.users().cards.remove(&handle) {
            Some(_) => Code::SUCCESS,
            None => Code::INVALID_HANDLE,
        }
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    /// State of the reader and the card's answer to reset.
    fn state(&self) -> (Dword, Vec<u8>) {
        match Connection::open(&self.socket) {
            Ok(connection) => (STATE_PRESENT, connection.atr),
            Err(_) => (STATE_EMPTY, Vec::new()),
        }
    }

    /// Waits until the state is another than `current`.
    pub(crate) fn wait_for_change(
        &self,
        current: Dword,
        timeout_ms: Dword,
    ) -> Result<(Dword, Vec<u8>), Code> {
        let mut waited = Duration::ZERO;
        let patience = (timeout_ms != INFINITE).then(|| Duration::from_millis(timeout_ms));
        loop {
            let (state, atr) = self.state();
            if current & (STATE_PRESENT | STATE_EMPTY) != state {
                return Ok((state | STATE_CHANGED, atr));
            }
            if self.cancelled.swap(false, Ordering::AcqRel) {
                return Err(Code::CANCELLED);
            }
            if patience.is_some_and(|patience| waited >= patience) {
                return Err(Code::TIMEOUT);
            }
            std::thread::sleep(STEP);
            waited += STEP;
        }
    }
}
