//! A token that was found, and one of keymark's own, as devices.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use keymark_bench::case::{DeviceName, Provenance};
use keymark_bench::error::Error;
use keymark_bench::store::{Capability, StoreIdentity};
use keymark_native::cryptoki::Mechanism;

use super::identity::{identity, library};
use super::keys::{self, KeySays};
use super::modules::Places;
use super::offers::{authentications, offered, used_by};
use super::own::OwnToken;
use super::process::{Owner, ProcessStore, TokenProcess};
use super::says::{Login, ModuleSays, PinState, TokenSays};
use super::session_keys::Lifetime;
use super::store::{OutOfReach, TokenStore};
use super::token::{FoundToken, Token};
use super::uri::{ObjectPart, Pkcs11Uri, TokenPart};
use crate::device::{Device, Fact, Reach, Run};
use crate::journal::Journal;
use crate::scheme::Scheme;
use crate::store::KeyStore;
use crate::user::{PinSource, Pins, TokenId, User};

/// Keys that are named in a list for people.
const KEYS_SHOWN: usize = 6;

/// How a device came to be wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// By name: a run without it is none.
    ByName,
    /// As one of all that are here.
    AmongAll,
}

/// A token of the user's.
#[derive(Debug)]
pub(super) struct TokenDevice {
    by: Wanted,
    found: FoundToken,
    identity: StoreIdentity,
    capabilities: Vec<Capability>,
    synonyms: Vec<Capability>,
    wanted: ObjectPart,
    user: User,
    module: Used,
}

/// Where a device's module is loaded when it is first used.
#[derive(Debug)]
pub(super) enum Used {
    /// In this process, which may end with it.
    Here(OnceLock<Arc<Token>>),
    /// In one of its own.
    InProcess(OnceLock<Arc<TokenProcess>>),
}

impl Used {
    pub(super) fn here() -> Self {
        Self::Here(OnceLock::new())
    }

    pub(super) fn in_process() -> Self {
        Self::InProcess(OnceLock::new())
    }
}

impl TokenDevice {
    /// A token that was found. If a URI names keys of it, they are looked at, for which most tokens want
    /// the PIN.
    pub(super) fn of(
        module: &ModuleSays,
        found: FoundToken,
        uri: Option<&Pkcs11Uri>,
        user: &User,
        (by, used): (Wanted, Used),
    ) -> Result<Self, Error> {
        let wanted = uri.map(|uri| uri.object.clone()).unwrap_or_default();
        let mut device = Self {
            by,
            identity: identity(module, &found.says),
            capabilities: offered(&found.says),
            synonyms: Vec::new(),
            found,
            user: with_pin_of(uri, user),
            wanted,
            module: used,
        };
        if device.wanted.names_one() {
            device.capabilities = device.named_keys()?;
        }
        device.synonyms = authentications(&device.capabilities);
        Ok(device)
    }

    /// What can be asked of the keys that are named.
    fn named_keys(&self) -> Result<Vec<Capability>, Error> {
        let keys = self.keys(&self.wanted)?;
        let capabilities = keys.iter().flat_map(KeySays::capabilities);
        let mut capabilities: Vec<Capability> = capabilities.collect();
        capabilities.sort_unstable();
        capabilities.dedup();
        if !capabilities.is_empty() {
            return Ok(capabilities);
        }
        let all = self.keys(&ObjectPart::default())?;
        let call = format!("looking for the key on token {}", self.found.says.id());
        Err(match keys.first() {
            Some(says) => Error::call(
                call,
                format!("keymark can measure nothing with {}", says.name()),
                "keymark measures RSA, ECDSA, EdDSA and ECDH keys that may sign, decrypt or derive",
            ),
            None if all.is_empty() => {
                let advice = "without a key in the URI, keymark measures test keys";
                Error::call(call, "it has no private key", advice)
            }
            None => {
                let names = named(all.iter());
                Error::call(
                    call,
                    "no private key has that name",
                    format!("it has {names}"),
                )
            }
        })
    }

    /// The private keys that are meant by that.
    fn keys(&self, wanted: &ObjectPart) -> Result<Vec<KeySays>, Error> {
        match self.loaded()? {
            Loaded::Here(token) => {
                let keys = token.with_keeper(|session, _| keys::meant(session, wanted))?;
                Ok(keys.into_iter().map(|(_, says)| says).collect())
            }
            Loaded::InProcess(process) => process.keys(wanted),
        }
    }

    fn loaded(&self) -> Result<Loaded, Error> {
        let user = || self.user.clone();
        self.module.loaded(
            || Token::of(&self.found, user()),
            || {
                let meant = (self.wanted.clone(), Lifetime::Session);
                TokenProcess::new(&self.found, Owner::User, user(), &self.identity, meant)
            },
        )
    }
}

/// A token whose module is loaded, or will be when it is asked.
enum Loaded {
    Here(Arc<Token>),
    InProcess(Arc<TokenProcess>),
}

impl Used {
    fn loaded(
        &self,
        here: impl FnOnce() -> Result<Token, Error>,
        process: impl FnOnce() -> TokenProcess,
    ) -> Result<Loaded, Error> {
        match self {
            Self::Here(known) => {
                let token = known.get().cloned();
                let token = token.map_or_else(|| here().map(Arc::new), Ok)?;
                Ok(Loaded::Here(Arc::clone(known.get_or_init(|| token))))
            }
            Self::InProcess(known) => {
                let process = known.get_or_init(|| Arc::new(process()));
                Ok(Loaded::InProcess(Arc::clone(process)))
            }
        }
    }
}

/// The user, with the PIN's file that the URI names, if nothing else says where it is.
fn with_pin_of(uri: Option<&Pkcs11Uri>, user: &User) -> User {
    let file = uri.and_then(|uri| uri.pin_file.clone());
    match (&user.pins.user, file) {
        (PinSource::Prompt, Some(file)) => User {
            pins: Pins {
                user: PinSource::File(file),
                ..user.pins.clone()
            },
            ..user.clone()
        },
        _ => user.clone(),
    }
}

fn named<'k>(keys: impl ExactSizeIterator<Item = &'k KeySays>) -> String {
    let more = keys.len().saturating_sub(KEYS_SHOWN);
    let names: Vec<String> = keys.take(KEYS_SHOWN).map(KeySays::name).collect();
    let names = names.join(", ");
    if more > 0 {
        format!("{names} and {more} more")
    } else {
        names
    }
}

impl Device for TokenDevice {
    fn identity(&self) -> &StoreIdentity {
        &self.identity
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn synonyms(&self) -> &[Capability] {
        &self.synonyms
    }

    /// Test keys are on no token but for a run, and where it may be written to.
    fn present(&self) -> &[Capability] {
        if self.wanted.names_one() || self.user.consent.may_write(&self.found.says.id()) {
            &self.capabilities
        } else {
            &[]
        }
    }

    fn schemes(&self) -> Vec<(Scheme, Vec<Capability>)> {
        schemes(&self.found.says, &self.capabilities)
    }

    fn reach(&self) -> Reach {
        Reach::Module
    }

    fn facts(&self) -> Vec<Fact> {
        let FoundToken { says, file } = &self.found;
        let file = &file.path;
        let known = Places::of_user().modules();
        let is_known = known.iter().any(|known| known.file == *file);
        let uri = Pkcs11Uri {
            token: TokenPart {
                label: Some(says.label.clone()),
                serial: Some(says.serial.clone()).filter(|serial| !serial.is_empty()),
                ..TokenPart::default()
            },
            // One of those that are known is found without.
            module_path: (!is_known).then(|| file.clone()),
            ..Pkcs11Uri::default()
        };
        let mut lines = vec![
            Fact::new("token", says.id().as_str()),
            Fact::new("file", file.display().to_string()),
            Fact::new("URI", uri.to_string()),
            Fact::new("PIN", pin_line(says.login)),
        ];
        lines.extend(
            says.sessions
                .map(|most| Fact::new("sessions", format!("at most {most}"))),
        );
        lines.push(mechanisms(says));
        if !says.keys.is_empty() {
            lines.push(Fact::new("keys", named(says.keys.iter())));
        }
        lines
    }

    fn token(&self) -> Option<TokenId> {
        Some(self.found.says.id())
    }

    fn undo(&self, left: Journal) -> Result<(), Error> {
        match self.loaded()? {
            Loaded::Here(token) => token.undo(left).and(token.leave()),
            Loaded::InProcess(process) => process.undo(left),
        }
    }

    fn open(&self, run: &Run) -> Result<Arc<dyn KeyStore>, Error> {
        let wanted = self.wanted.clone();
        opened(
            self.loaded(),
            self.by,
            (&self.identity, &self.capabilities, wanted),
            Lifetime::Session,
            run,
        )
    }
}

/// A token in a run. Whoever has to enter a PIN does so before anything is measured.
fn opened(
    loaded: Result<Loaded, Error>,
    by: Wanted,
    (identity, capabilities, wanted): (&StoreIdentity, &[Capability], ObjectPart),
    lifetime: Lifetime,
    run: &Run,
) -> Result<Arc<dyn KeyStore>, Error> {
    let (identity, capabilities) = (identity.clone(), capabilities.to_vec());
    let store = loaded.and_then(|loaded| -> Result<Arc<dyn KeyStore>, Error> {
        let token = match loaded {
            Loaded::Here(token) => token,
            Loaded::InProcess(process) => {
                let store = ProcessStore::open(process, identity.clone(), &capabilities, run)?;
                return Ok(Arc::new(store));
            }
        };
        if let Some((journals, name)) = &run.journals {
            token.journal_to(journals.clone(), name);
        }
        token.with_keeper(|_, _| Ok(()))?;
        Ok(Arc::new(TokenStore {
            identity: identity.clone(),
            capabilities: capabilities.clone(),
            token,
            wanted,
            lifetime,
            test_keys: Arc::clone(&run.test_keys),
            placed: Mutex::default(),
        }))
    });
    match (store, by) {
        (Ok(store), _) => Ok(store),
        (Err(error), Wanted::ByName) => Err(error),
        (Err(error), Wanted::AmongAll) => Ok(Arc::new(OutOfReach {
            identity,
            capabilities,
            error,
        })),
    }
}

fn schemes(says: &TokenSays, all: &[Capability]) -> Vec<(Scheme, Vec<Capability>)> {
    let by = |scheme: &Scheme| (*scheme, used_by(says, *scheme, all));
    Scheme::ALL.iter().map(by).collect()
}

fn pin_line(login: Login) -> String {
    let state = |state| match state {
        PinState::Fine => "",
        PinState::NotSet => "; it is not set yet",
        PinState::TriesUsed => "; a wrong one was tried",
        PinState::LastTry => "; ONE TRY IS LEFT, which keymark does not use",
        PinState::Locked => "; it is LOCKED",
    };
    match login {
        Login::NotNeeded => "not needed".to_owned(),
        Login::Pin(pin) => format!("needed{}", state(pin)),
        Login::OnToken(pin) => format!("entered on the token's keypad{}", state(pin)),
    }
}

/// What keymark has a use for, and how many there are.
fn mechanisms(says: &TokenSays) -> Fact {
    let range = |name: &str, kind| {
        let mechanism = says.mechanism(kind)?;
        Some(format!(
            "{name} {}-{} bits",
            mechanism.smallest, mechanism.largest
        ))
    };
    let ranges = [
        range("RSA", Mechanism::RsaPkcs),
        range("ECDSA", Mechanism::Ecdsa),
        range("EdDSA", Mechanism::Eddsa),
        range("ECDH", Mechanism::Ecdh),
    ];
    let ranges: Vec<String> = ranges.into_iter().flatten().collect();
    let count = says.mechanism_count;
    Fact::new("mechanisms", format!("{count}; {}", ranges.join(", ")))
}

/// A token of keymark's own.
#[derive(Debug)]
pub(super) struct OwnDevice {
    by: Wanted,
    own: OwnToken,
    identity: StoreIdentity,
    capabilities: Vec<Capability>,
    synonyms: Vec<Capability>,
    module: Used,
}

impl OwnDevice {
    pub(super) fn of(own: OwnToken, by: Wanted, module: Used) -> Self {
        let profile = own.kind.profile();
        let mut versions = BTreeMap::from([("module".to_owned(), library(&own.says))]);
        versions.extend(profile.map(|profile| ("profile".to_owned(), profile.source.clone())));
        let identity = StoreIdentity {
            device: DeviceName::new(own.kind.name()),
            product: own.kind.product(),
            provenance: match profile {
                None => Provenance::Virtual,
                Some(_) => Provenance::Twin,
            },
            serial: None,
            versions,
            assumed: profile
                .iter()
                .flat_map(|profile| profile.assumed())
                .collect(),
            ..identity(&own.says, &own.found.says)
        };
        let mut capabilities = offered(&own.found.says);
        capabilities.retain(|capability| own.kind.can(*capability));
        Self {
            by,
            identity,
            synonyms: authentications(&capabilities),
            capabilities,
            own,
            module,
        }
    }

    fn loaded(&self) -> Result<Loaded, Error> {
        let known = PinSource::Known(self.own.pin.clone());
        let user = User {
            pins: Pins {
                user: known.clone(),
                admin: known,
            },
            ..User::of_made_device()
        };
        let found = &self.own.found;
        self.module.loaded(
            || Token::own(found, user.clone()),
            || {
                let meant = (ObjectPart::default(), self.own.kind.test_keys());
                TokenProcess::new(found, Owner::Keymark, user.clone(), &self.identity, meant)
            },
        )
    }
}

impl Device for OwnDevice {
    fn identity(&self) -> &StoreIdentity {
        &self.identity
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn synonyms(&self) -> &[Capability] {
        &self.synonyms
    }

    fn schemes(&self) -> Vec<(Scheme, Vec<Capability>)> {
        schemes(&self.own.found.says, &self.capabilities)
    }

    fn reach(&self) -> Reach {
        Reach::Module
    }

    fn facts(&self) -> Vec<Fact> {
        vec![mechanisms(&self.own.found.says)]
    }

    fn open(&self, run: &Run) -> Result<Arc<dyn KeyStore>, Error> {
        let of = (
            &self.identity,
            self.capabilities.as_slice(),
            ObjectPart::default(),
        );
        opened(self.loaded(), self.by, of, self.own.kind.test_keys(), run)
    }
}
