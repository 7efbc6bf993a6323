//! keymark's end: the process of one token.
//!
//! Processes get ready one after another, by a lock on the module's file: SoftHSM2 writes to its token at each
//! login, and does not find a token that is being written while it is initialized.

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::places::keymark_process::{Awaited, EndPolicy, KeymarkProcess};
use keymark_bench::worker;
use keymark_bench::{Clock as _, Error, MonotonicClock};
use keymark_native::cryptoki::under_way::Watched;
use keymark_shim_protocol::pkcs11::Call;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;

use super::{ModuleReply, ModuleRequest, OpenRequest, PipedPin, SUBCOMMAND};
use crate::device::PublicPart;
use crate::journal::Journal;
use crate::pkcs11::module::ModuleFile;
use crate::pkcs11::temporary::new_token::NewToken;
use crate::pkcs11::token::keys::KeyInfo;
use crate::pkcs11::token::token_info::{Login, ModuleInfo};
use crate::pkcs11::token::{FoundToken, Owner, one_keypad};
use crate::pkcs11_uri::ObjectPart;
use crate::user::{Notice, Pin, Pins, TokenId, Unattended, User};

/// A process for a module, with its environment and none of the user's PINs in it.
fn start(file: &ModuleFile, pins: &Pins, readers: Readers) -> Result<KeymarkProcess, Error> {
    let failed = |error: io::Error| Error::call("starting keymark for a PKCS#11 module", error, "");
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command
        .arg(SUBCOMMAND)
        .env_clear()
        .envs(file.environment_without(pins));
    match readers {
        Readers::Shown => {}
        // Where libpcsclite looks for pcscd.
        Readers::Hidden => {
            command.env("PCSCLITE_CSOCK_NAME", "/nonexistent");
        }
    }
    let name = file.path.file_name().unwrap_or(file.path.as_os_str());
    let watch = Watched::new().map_err(failed)?;
    KeymarkProcess::start(command, name.to_string_lossy(), Some(watch))
}

/// Visibility to a module of the cards that are in readers. OpenSC selects applications on all of them to see what
/// they are, which takes from other programs what they have selected and verified there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// The user has named the module or its token.
    Shown,
    /// The module is only being listed.
    Hidden,
}

/// Time for which a module may take to say what it has.
const LIMIT: Duration = Duration::from_secs(10);

/// Asks a module one thing, in a process of its own: nobody knows whether it hangs or crashes.
fn ask(
    file: &ModuleFile,
    pins: &Pins,
    readers: Readers,
    request: ModuleRequest,
) -> Result<KeymarkProcess, Error> {
    let mut process = start(file, pins, readers)?;
    process.send(&request)?;
    Ok(process)
}

fn answered<A: DeserializeOwned>(
    mut process: KeymarkProcess,
    limit: Duration,
    notice: &dyn Notice,
) -> Result<A, Error> {
    let waits = (notice, EndPolicy::BreaksOff);
    let said: ModuleReply = process.receive(Awaited::Answer, Some(limit), waits)?;
    said.answer()
}

/// Looks at all modules at once, for ten seconds at most, each in a process of its own, which gets no PIN to see; and
/// without pcscd unless the user has named the module or token, as OpenSC selects on every card. The answers come in
/// the order of the files.
pub(crate) fn look_at(
    files: Vec<ModuleFile>,
    user: &User,
    readers: Readers,
) -> Vec<(ModuleFile, Result<ModuleInfo, Error>)> {
    let clock = MonotonicClock::new();
    let begin = clock.now();
    let asked = |file: ModuleFile| {
        let request = ModuleRequest::Look(file.clone(), None);
        let asked = ask(&file, &user.pins, readers, request);
        (file, asked)
    };
    let looking: Vec<_> = files.into_iter().map(asked).collect();
    let answers = looking.into_iter().map(|(file, process)| {
        let remaining = LIMIT.saturating_sub(clock.now().since(begin));
        let answer = process.and_then(|asked| answered(asked, remaining, user.notice.as_ref()));
        (file, answer)
    });
    answers.collect()
}

/// The public keys and certificates that a token shows without a PIN, by a process of its own.
pub(crate) fn public_parts(
    file: &ModuleFile,
    token: &TokenId,
    user: &User,
) -> Result<Vec<PublicPart>, Error> {
    let request = ModuleRequest::PublicParts(file.clone(), token.clone());
    let process = ask(file, &user.pins, Readers::Shown, request)?;
    answered(process, LIMIT, user.notice.as_ref())
}

/// Initializes the module's first blank token in a process of its own, and looks at what there is then.
pub(crate) fn initialize_token(file: &ModuleFile, token: NewToken) -> Result<ModuleInfo, Error> {
    let request = ModuleRequest::Look(file.clone(), Some(token));
    let process = ask(file, &Pins::factory(), Readers::Hidden, request)?;
    answered(process, LIMIT, &Unattended)
}

/// The process of one token, started when it is first asked for something, and again when it has died.
#[derive(derive_more::Debug)]
#[debug("TokenProcess({})", open.info.id())]
pub(crate) struct TokenProcess {
    pub(crate) open: OpenRequest,
    pub(crate) user: User,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    process: Option<KeymarkProcess>,
    /// Number of processes until now.
    generation: u32,
    journals: Option<(PathBuf, String)>,
    pin: Option<Pin>,
    /// Why nobody logs in any more: a PIN is not sent twice for one that was refused, or whose fate is not known.
    ended: Option<Error>,
    /// True if the run goes on without the token.
    given_up: bool,
    workers: u32,
}

impl TokenProcess {
    /// Makes one for the token that was found; nothing is started before it is asked for something.
    pub(crate) fn new(found: &FoundToken, owner: Owner, user: User, wanted: ObjectPart) -> Self {
        let token = found.info.id();
        let write = user.consent.may_write(&token).then(|| token.name());
        let open = OpenRequest {
            file: found.file.clone(),
            info: found.info.clone(),
            device: found.identity.device.clone(),
            owner,
            write,
            wanted,
            journals: None,
        };
        Self {
            open,
            user,
            state: Mutex::default(),
        }
    }

    /// The private keys that are meant by that.
    pub(crate) fn keys(&self, wanted: &ObjectPart) -> Result<Vec<KeyInfo>, Error> {
        self.request(ModuleRequest::Keys(wanted.clone()))
    }

    /// Undoes what the journal says. Nobody else has it meanwhile but for a moment, in which it is handed over.
    pub(crate) fn undo(&self, journal: Journal) -> Result<(), Error> {
        let path = journal.path().to_owned();
        drop(journal);
        self.request(ModuleRequest::Restore(Some(path)))
    }

    /// Another process for the token and the key that is meant, which logs in by the PIN that was accepted.
    pub(super) fn another(&self, wanted: ObjectPart) -> Result<Self, Error> {
        let info = &self.open.info;
        if let Login::OnToken(_) = info.login {
            return Err(one_keypad(&info.id()));
        }
        let open = OpenRequest {
            write: None,
            wanted,
            ..self.open.clone()
        };
        let pin = self.state.lock().pin.clone();
        Ok(Self {
            open,
            user: self.user.clone(),
            state: Mutex::new(State {
                pin,
                ..State::default()
            }),
        })
    }

    /// Logs in, and keeps the journal there from now on.
    pub(super) fn begin_run(&self, journals: Option<(PathBuf, String)>) -> Result<(), Error> {
        let mut state = self.state.lock();
        state.journals = journals;
        match state.process {
            Some(_) => self.opened(&mut state),
            None => self.ready(&mut state),
        }
    }

    /// A number that no other workers have.
    pub(super) fn next_workers(&self) -> u32 {
        let mut state = self.state.lock();
        state.workers += 1;
        state.workers
    }

    pub(super) fn generation(&self) -> Result<u32, Error> {
        let mut state = self.state.lock();
        self.ready(&mut state)?;
        Ok(state.generation)
    }

    /// Returns whether there is no process any more.
    pub(super) fn has_died(&self) -> bool {
        self.state.lock().process.is_none()
    }

    /// Uses the token no more, for that reason, and says so to every caller.
    pub(super) fn give_up(&self, error: Error) {
        let mut state = self.state.lock();
        state.ended = Some(error);
        state.given_up = true;
    }

    pub(super) fn was_given_up(&self) -> bool {
        self.state.lock().given_up
    }

    /// Asks, and waits for the answer.
    pub(super) fn request<A: DeserializeOwned>(&self, request: ModuleRequest) -> Result<A, Error> {
        let mut state = self.state.lock();
        self.ready(&mut state)?;
        self.exchange(&mut state, &request)
    }

    /// Sends workers a request, to which they may have no answer.
    pub(super) fn send(&self, workers: u32, request: &worker::Request) -> Result<(), Error> {
        let mut state = self.state.lock();
        let process = state.process.as_mut().ok_or_else(gone)?;
        let sent = process.send(&ModuleRequest::Work(workers, request));
        sent.inspect_err(|_| state.process = None)
    }

    /// Receives the next reply of workers.
    pub(super) fn recv(&self, limit: Option<Duration>) -> Result<worker::Reply, Error> {
        let ending = EndPolicy::BreaksOff;
        self.receive(&mut self.state.lock(), Awaited::Work, limit, ending)
    }

    fn ready(&self, state: &mut State) -> Result<(), Error> {
        if let Some(error) = &state.ended {
            return Err(error.clone());
        }
        if state.process.is_some() {
            return Ok(());
        }
        let file = &self.open.file;
        state.process = Some(start(file, &self.user.pins, Readers::Shown)?);
        state.generation += 1;
        self.opened(state)
            .inspect_err(|error| state.ended = Some(error.clone()))
    }

    fn opened(&self, state: &mut State) -> Result<(), Error> {
        let open = OpenRequest {
            journals: state.journals.clone(),
            ..self.open.clone()
        };
        self.exchange(state, &ModuleRequest::Open(Box::new(open)))
    }

    fn exchange<A: DeserializeOwned>(
        &self,
        state: &mut State,
        request: &ModuleRequest,
    ) -> Result<A, Error> {
        let process = state.process.as_mut().ok_or_else(gone)?;
        let sent = process.send(request);
        sent.inspect_err(|_| state.process = None)?;
        let ending = if matches!(request, ModuleRequest::Restore(_)) {
            EndPolicy::Finishes
        } else {
            EndPolicy::BreaksOff
        };
        self.receive(state, Awaited::Answer, None, ending)
    }

    /// Its answer, with what it wants to know before.
    fn receive<A: DeserializeOwned>(
        &self,
        state: &mut State,
        awaited: Awaited,
        limit: Option<Duration>,
        ending: EndPolicy,
    ) -> Result<A, Error> {
        let waits = (self.user.notice.as_ref(), ending);
        loop {
            let process = state.process.as_mut().ok_or_else(gone)?;
            let said = process.receive(awaited, limit, waits);
            let said = said.inspect_err(|error| {
                state.process = None;
                if sent_a_pin(error) {
                    state.ended = Some(error.clone());
                }
            });
            match said? {
                ModuleReply::WantsPin(what) => {
                    let pin: ModuleRequest = ModuleRequest::Pin(self.pin(state, &what));
                    state.process.as_mut().ok_or_else(gone)?.send(&pin)?;
                }
                ModuleReply::Tell(text) => self.user.notice.tell(&text),
                answer @ ModuleReply::Answer(_) => return answer.answer(),
            }
        }
    }

    /// Fetched once.
    fn pin(&self, state: &mut State, what: &str) -> Result<PipedPin, Error> {
        let pin = match state.pin.take() {
            Some(pin) => pin,
            None => self.user.pins.of(&self.open.info.id()).user.fetch(what)?,
        };
        Ok(PipedPin(state.pin.insert(pin).clone()))
    }
}

/// Returns whether the process has died in the call that sends the PIN: nobody knows whether that has cost a try.
fn sent_a_pin(error: &Error) -> bool {
    matches!(error, Error::Call { call, .. } if call.starts_with(Call::C_Login.name()))
}

fn gone() -> Error {
    Error::call("asking a PKCS#11 module's process", "it has ended", "")
}
