//! A token as a device.

use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::{Error, StoreIdentity};
use keymark_native::cryptoki::Mechanism;

use super::capabilities::{offered, used_by};
use super::keys::{self, KeyInfo};
use super::token_info::{Login, PinState, TokenInfo};
use super::{FoundToken, Owner};
use crate::access::AccessKind;
use crate::device::{Device, Fact, PublicPart, Run};
use crate::journal::Journal;
use crate::pkcs11::module::modules::Places;
use crate::pkcs11::module::process::{
    DeviceChoice, OpenRequest, ProcessStore, TokenProcess, public_parts,
};
use crate::pkcs11::temporary::ManagedToken;
use crate::pkcs11_uri::{Described, ObjectPart, Pkcs11Uri};
use crate::scheme::Scheme;
use crate::store::{KeyStore, authentications};
use crate::user::{PinSource, TokenId, User};

/// Keys that are named in a list for people.
const KEYS_SHOWN: usize = 6;

/// A token, the user's or one that keymark has made for the run. Its module is in a process of its own.
#[derive(Debug)]
pub(crate) struct TokenDevice {
    by: DeviceChoice,
    found: FoundToken,
    capabilities: Vec<Capability>,
    managed: Option<ManagedToken>,
    /// The process of its module, which starts when it is asked something.
    process: Arc<TokenProcess>,
}

impl TokenDevice {
    /// A token that was found. If a URI names keys of it, they are looked at, for which most tokens want
    /// the PIN.
    pub(crate) fn of(
        found: FoundToken,
        uri: &Pkcs11Uri,
        user: &User,
        by: DeviceChoice,
    ) -> Result<Self, Error> {
        let (user, wanted) = (with_pin_of(uri, user), uri.object.clone());
        let process = TokenProcess::new(&found, Owner::User, user, wanted);
        Ok(Self {
            by,
            capabilities: if uri.object.names_one() {
                named_keys(&process)?
            } else {
                offered(&found.info)
            },
            found,
            managed: None,
            process: Arc::new(process),
        })
    }

    /// Makes the device of a token of keymark's own.
    pub(crate) fn of_managed(own: ManagedToken, by: DeviceChoice) -> Self {
        let (owner, user) = (own.kind.owner(), User::with_pin(own.pin.clone()));
        let process = TokenProcess::new(&own.found, owner, user, ObjectPart::default());
        Self {
            by,
            capabilities: own.capabilities(),
            found: own.found.clone(),
            managed: Some(own),
            process: Arc::new(process),
        }
    }
}

fn named_keys(process: &TokenProcess) -> Result<Vec<Capability>, Error> {
    let keys = process.keys(&process.open.wanted)?;
    let capabilities = keys::capabilities(&keys);
    if !capabilities.is_empty() {
        return Ok(capabilities);
    }
    let all = process.keys(&ObjectPart::default())?;
    let call = format!("looking for the key on token {}", process.open.info.id());
    Err(match keys.first() {
        Some(info) => Error::call(
            call,
            format!("keymark can measure nothing with {}", info.name()),
            "keymark measures RSA, ECDSA, EdDSA and ECDH keys that may sign, decrypt or derive",
        ),
        None if all.is_empty() => {
            let advice = "without a key in the URI, keymark measures test keys";
            Error::call(call, "it has no private key", advice)
        }
        None => {
            let advice = format!("it has {}", named(all.iter()));
            Error::call(call, "no private key has that name", advice)
        }
    })
}

/// The user, with the PIN's file that the URI names, if nothing else says where it is.
fn with_pin_of(uri: &Pkcs11Uri, user: &User) -> User {
    let mut user = user.clone();
    if let (PinSource::Prompt, Some(file)) = (&user.pins.user, &uri.pin_file) {
        user.pins.user = PinSource::File(file.clone());
    }
    user
}

fn named<'k>(keys: impl ExactSizeIterator<Item = &'k KeyInfo>) -> String {
    let more = keys.len().saturating_sub(KEYS_SHOWN);
    let names: Vec<String> = keys.take(KEYS_SHOWN).map(KeyInfo::name).collect();
    match (names.join(", "), more) {
        (names, 0) => names,
        (names, more) => format!("{names} and {more} more"),
    }
}

impl Device for TokenDevice {
    fn identity(&self) -> &StoreIdentity {
        &self.found.identity
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn synonyms(&self) -> Vec<Capability> {
        authentications(&self.capabilities)
    }

    /// Test keys are on no token but for a run, and where it may be written to.
    fn present(&self) -> &[Capability] {
        let OpenRequest { wanted, write, .. } = &self.process.open;
        if self.managed.is_some() || wanted.names_one() || write.is_some() {
            &self.capabilities
        } else {
            &[]
        }
    }

    fn schemes(&self) -> Vec<(Scheme, Vec<Capability>)> {
        schemes(&self.found.info, &self.capabilities)
    }

    fn access(&self) -> AccessKind {
        AccessKind::Module
    }

    fn facts(&self) -> Vec<Fact> {
        let FoundToken { info, file, .. } = &self.found;
        if self.managed.is_some() {
            return vec![mechanisms(info)];
        }
        let file = &file.path;
        let known = Places::of_user().modules();
        let is_known = known.iter().any(|known| known.file.path == *file);
        let serial = Some(info.serial.clone()).filter(|serial| !serial.is_empty());
        let uri = Pkcs11Uri {
            described: [(Described::Token, info.label.clone())]
                .into_iter()
                .chain(serial.map(|serial| (Described::Serial, serial)))
                .collect(),
            // One of those that are known is found without.
            module_path: (!is_known).then(|| file.clone()),
            ..Pkcs11Uri::default()
        };
        let mut lines = vec![
            Fact::new("token", info.id().as_str()),
            Fact::new("file", file.display().to_string()),
            Fact::new("URI", uri.to_string()),
            Fact::new("PIN", pin_line(info.login)),
        ];
        let sessions = |most| Fact::new("sessions", format!("at most {most}"));
        lines.extend(info.sessions.map(sessions));
        lines.push(mechanisms(info));
        if !info.keys.is_empty() {
            lines.push(Fact::new("keys", named(info.keys.iter())));
        }
        lines
    }

    fn public_parts(&self) -> Result<Vec<PublicPart>, Error> {
        if self.managed.is_some() {
            return Ok(Vec::new());
        }
        let FoundToken { file, info, .. } = &self.found;
        public_parts(file, &info.id(), &self.process.user)
    }

    fn token(&self) -> Option<TokenId> {
        // Nobody misses one that keymark has made.
        let is_users = self.managed.is_none();
        is_users.then(|| self.found.info.id())
    }

    fn undo(&self, left: Journal) -> Result<(), Error> {
        self.process.undo(left)
    }

    fn open(&self, run: &Run) -> Result<Arc<dyn KeyStore>, Error> {
        let process = Arc::clone(&self.process);
        let store = ProcessStore::open(process, &self.capabilities, run, self.by)?;
        Ok(Arc::new(store))
    }
}

pub(crate) fn schemes(info: &TokenInfo, all: &[Capability]) -> Vec<(Scheme, Vec<Capability>)> {
    let by = |scheme: &Scheme| (*scheme, used_by(info, *scheme, all));
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

fn mechanisms(info: &TokenInfo) -> Fact {
    let range = |name: &str, kind| {
        let said = info.mechanism(kind)?;
        Some(format!("{name} {}-{} bits", said.smallest, said.largest))
    };
    let ranges = [
        range("RSA", Mechanism::RsaPkcs),
        range("ECDSA", Mechanism::Ecdsa),
        range("EdDSA", Mechanism::Eddsa),
        range("ECDH", Mechanism::Ecdh),
    ];
    let ranges: Vec<String> = ranges.into_iter().flatten().collect();
    let count = info.mechanism_count;
    Fact::new("mechanisms", format!("{count}; {}", ranges.join(", ")))
}
