//! A token in use: its sessions and its PIN. No other place logs in. This is the one place that logs in.
//!
//! OpenSC's slots of one card share its number, so a token is found again by number and label. Which token is in
//! the slot is asked before each login.

pub(crate) mod capabilities;
pub(crate) mod device;
pub(crate) mod external_access;
pub(crate) mod family;
pub(crate) mod identity;
pub(crate) mod keys;
pub(crate) mod persistent_keys;
pub(crate) mod public_half;
pub(crate) mod selector;
pub(crate) mod token_info;

use std::sync::Arc;

use cryptoki::error::RvError;
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use keymark_bench::{Error, StoreIdentity};
use keymark_native::cryptoki::under_way::UnderWay;
use keymark_shim_protocol::pkcs11::Call;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use self::identity::identity;
use self::token_info::{Login, ModuleInfo, PinState, TokenInfo};
use crate::journal::RunJournal;
use crate::pkcs11::module::codes::{failed, returned};
use crate::pkcs11::module::{Module, ModuleFile};
use crate::pkcs11_uri::ObjectPart;
use crate::test_key::TestKey;
use crate::user::{Pin, PinKind, PinRules, PinWords, Refusal, TokenId, User};

const WORDS: PinWords = PinWords {
    call: "C_Login",
    blocked: "CKF_USER_PIN_LOCKED",
    advice: "the right PIN, entered in any program (pkcs11-tool --login), resets the tries",
};

/// A token that a module has told of.
#[derive(Debug, Clone)]
pub struct FoundToken {
    pub file: ModuleFile,
    pub info: TokenInfo,
    pub identity: StoreIdentity,
}

impl FoundToken {
    /// Returns the token of a module's description.
    pub(crate) fn of(file: &ModuleFile, module: &ModuleInfo, info: &TokenInfo) -> Self {
        Self {
            file: file.clone(),
            info: info.clone(),
            identity: identity(module, info),
        }
    }
}

/// A token, for as long as a run uses it.
#[derive(derive_more::Debug)]
#[debug("OpenToken({id})")]
pub(crate) struct OpenToken {
    pub(crate) file: ModuleFile,
    pub(crate) module: Arc<Module>,
    pub(crate) id: TokenId,
    label: String,
    login: Login,
    rules: PinRules,
    pub(crate) user: User,
    pub(crate) journal: RunJournal,
    /// The session that has logged in, which all others of this process profit from (PKCS#11 3.1 §5.6.8). Test keys
    /// are in it, and gone with it.
    keeper: Mutex<Option<Result<Session, Error>>>,
    pub(crate) owner: Owner,
    /// Test keys that other programs may also use: those that were written onto a token of keymark's own, each with
    /// what finds it.
    pub(crate) written: Mutex<Vec<(Arc<TestKey>, ObjectPart)>>,
    /// The `CKA_ID`s of keys to which keymark has added a certificate.
    pub(crate) certified: Mutex<Vec<Vec<u8>>>,
}

/// Owner of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Owner {
    /// Test keys are also written onto it, and gone with it after the run.
    Keymark,
    /// Also keymark's, which takes no key from outside and keeps no objects of sessions: it makes its test keys
    /// itself.
    Generator,
    /// Test keys are in keymark's session alone: no other program sees them, and they leave nothing.
    User,
}

impl OpenToken {
    /// The token that was found, in this process.
    pub(crate) fn new(
        file: ModuleFile,
        info: &TokenInfo,
        owner: Owner,
        user: User,
    ) -> Result<Self, Error> {
        let id = info.id();
        let device = format!("token {}", id.serial());
        Ok(Self {
            module: Module::load(&file)?,
            rules: PinRules::in_words(user.pins.of(&id), device, WORDS),
            file,
            id,
            label: info.label.clone(),
            login: info.login,
            user,
            journal: RunJournal::default(),
            keeper: Mutex::default(),
            owner,
            written: Mutex::default(),
            certified: Mutex::default(),
        })
    }

    /// The slot that it is in now, and how one logs in: a PIN is for one token, wherever it is.
    fn slot(&self) -> Result<(Slot, Login), Error> {
        let _under_way = UnderWay::begin(Call::C_GetTokenInfo);
        let client = &self.module.client;
        let slots = client.get_slots_with_token().map_err(failed)?;
        let here = |slot| {
            let (id, label, login) = token_info::identified(client, slot).ok()?;
            (id == self.id && label == self.label).then_some((slot, login))
        };
        slots.into_iter().find_map(here).ok_or_else(|| {
            Error::call(
                format!("looking for token {}", self.id),
                "it is no longer there",
                "is it plugged in? 'keymark devices' lists the tokens that are there",
            )
        })
    }

    /// A session of its own for a worker. It cannot write to the token.
    pub(crate) fn session(&self) -> Result<Session, Error> {
        self.with_keeper(|_| Ok(()))?;
        self.open(self.slot()?.0)
    }

    /// Reads the token's description anew.
    pub(crate) fn info(&self) -> Result<TokenInfo, Error> {
        token_info::ask_token(&self.module, self.slot()?.0)
    }

    fn open(&self, slot: Slot) -> Result<Session, Error> {
        let _under_way = UnderWay::begin(Call::C_OpenSession);
        let session = self.module.client.open_ro_session(slot);
        session.map_err(|error| match returned(&error) {
            Some(RvError::SessionCount) => self.too_many(slot, failed(error)),
            Some(_) | None => failed(error),
        })
    }

    fn too_many(&self, slot: Slot, refused: Error) -> Error {
        let Error::Refused { call, code, .. } = &refused else {
            return refused;
        };
        let Ok(Some(most)) = token_info::most_sessions(&self.module.client, slot) else {
            return refused;
        };
        let reason = format!(
            "token {} allows {most} sessions at a time",
            self.id.serial()
        );
        let advice = format!(
            "keymark keeps one for itself: --workers {} at most, fewer if other programs use it",
            most.saturating_sub(1).max(1)
        );
        Error::refused(call.clone(), code.clone(), reason, advice)
    }

    /// Returns whether the token says that its sessions are counted: those of cases that wait for their turn would be
    /// missing for the others.
    pub(crate) fn counts_sessions(&self) -> Result<bool, Error> {
        let most = token_info::most_sessions(&self.module.client, self.slot()?.0);
        most.map(|most| most.is_some())
    }

    /// Does something in the session that is kept, once logged in. A login that failed is not tried again.
    pub(crate) fn with_keeper<T>(
        &self,
        run: impl FnOnce(&Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut keeper = self.keeper.lock();
        match keeper.get_or_insert_with(|| self.log_in()) {
            Ok(session) => run(session),
            Err(error) => Err(error.clone()),
        }
    }

    /// Does something in a session that may write to the token, which is closed then.
    pub(crate) fn with_writer<T>(
        &self,
        run: impl FnOnce(&Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.with_keeper(|_| {
            let session = self.module.client.open_rw_session(self.slot()?.0);
            run(&session.map_err(failed)?)
        })
    }

    fn log_in(&self) -> Result<Session, Error> {
        let (slot, login) = self.slot()?;
        let session = self.open(slot)?;
        if login.pin() == Some(PinState::NotSet) {
            return Err(Error::call(
                format!("C_Login on token {}", self.id.serial()),
                "it has no user PIN yet",
                "its security officer sets one: pkcs11-tool --init-pin --login-type so",
            ));
        }
        match login {
            Login::NotNeeded => {}
            Login::Pin(state) => {
                let send = |pin: &Pin| send(&session, Some(pin));
                self.rules.verify(PinKind::User, state.tries(), send)?;
            }
            Login::OnToken(state) => {
                self.rules.allowed(PinKind::User, state.tries())?;
                let serial = self.id.serial();
                let text = format!("token {serial} has a keypad: enter its PIN there now");
                self.user.notice.tell(&text);
                send(&session, None).map_err(Refusal::into_error)?;
            }
        }
        Ok(session)
    }

    /// Returns whether a user logs in, who alone sees its private objects then.
    pub(crate) fn has_login(&self) -> bool {
        self.login.pin().is_some()
    }

    /// The PIN that the token has accepted, for a process of keymark's that also opens it; none where
    /// none is needed.
    pub(crate) fn accepted_pin(&self) -> Result<Option<Pin>, Error> {
        match self.login {
            Login::NotNeeded => Ok(None),
            Login::Pin(_) => self.rules.accepted_user_pin().map(Some),
            Login::OnToken(_) => Err(one_keypad(&self.id)),
        }
    }

    /// The PIN that the token has accepted, for a key that wants it at each use.
    pub(crate) fn pin_each_use(&self) -> Result<Pin, Error> {
        match self.login {
            Login::Pin(_) => self.rules.accepted_user_pin(),
            Login::NotNeeded | Login::OnToken(_) => Err(Error::call(
                format!("using a key of token {}", self.id.serial()),
                "it needs the PIN at each use, but keymark has none to send",
                "name another key: entering the PIN on the token's keypad would be timed as well",
            )),
        }
    }

    /// Checks whether that PIN may go on being sent: nobody has used up its tries since.
    pub(crate) fn may_send_again(&self) -> Result<(), Error> {
        let tries = self.slot()?.1.pin().map_or(0, PinState::tries);
        self.rules.again(PinKind::User, tries)
    }

    /// Checks whether it was refused to any worker of this process.
    pub(crate) fn was_not_refused(&self) -> Result<(), Error> {
        self.rules.again(PinKind::User, u8::MAX)
    }

    /// A key has refused it.
    pub(crate) fn refused_later(&self, error: &Error) {
        self.rules.refused_later(PinKind::User, error);
    }

    /// Ends what the run began: test keys are gone, and nobody is logged in.
    pub(crate) fn leave(&self) -> Result<(), Error> {
        let mut keeper = self.keeper.lock();
        let Some(Ok(session)) = keeper.take().filter(|_| self.has_login()) else {
            return Ok(());
        };
        session.logout().or_else(|error| match returned(&error) {
            // A token that was pulled out has nobody logged in.
            Some(
                RvError::DeviceRemoved
                | RvError::SessionHandleInvalid
                | RvError::SessionClosed
                | RvError::TokenNotPresent
                | RvError::UserNotLoggedIn,
            ) => Ok(()),
            Some(_) | None => Err(failed(error)),
        })
    }
}

/// Why no other process opens a token that has a keypad.
pub(crate) fn one_keypad(token: &TokenId) -> Error {
    Error::call(
        format!("opening token {} in another process", token.serial()),
        "each process would ask for the PIN on the token's keypad",
        "measure threads: --workers",
    )
}

/// Sends a PIN, once; without one the token asks for it itself.
#[allow(clippy::wildcard_enum_match_arm, reason = "it may have cost a try")]
fn send(session: &Session, pin: Option<&Pin>) -> Result<(), Refusal> {
    let pin = pin.map(|pin| AuthPin::from(pin.expose().to_owned()));
    let _under_way = UnderWay::begin(Call::C_Login);
    let Err(error) = session.login(UserType::User, pin.as_ref()) else {
        return Ok(());
    };
    let code = returned(&error);
    let said = failed(error);
    match code {
        Some(RvError::UserAlreadyLoggedIn) => Ok(()),
        Some(
            RvError::PinIncorrect
            | RvError::PinInvalid
            | RvError::PinLenRange
            | RvError::PinLocked
            | RvError::PinExpired,
        ) => Err(Refusal::Judged(said)),
        Some(
            RvError::ArgumentsBad
            | RvError::CryptokiNotInitialized
            | RvError::SessionHandleInvalid
            | RvError::UserAnotherAlreadyLoggedIn
            | RvError::UserPinNotInitialized
            | RvError::UserTooManyTypes,
        ) => Err(Refusal::Unasked(said)),
        _ => Err(Refusal::Unanswered(said)),
    }
}
