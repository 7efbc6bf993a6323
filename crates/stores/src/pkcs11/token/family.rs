//! Looking for tokens.
//!
//! Which token is meant is decided before anybody logs in, by what tokens show; a PIN that does not name its token
//! goes to no second one.

use std::path::PathBuf;

use keymark_bench::{Error, StoreKind};

use super::FoundToken;
use super::capabilities::offered;
use super::device::TokenDevice;
use super::identity::library;
use super::selector::{TokenSelector, modules};
use super::token_info::{ModuleInfo, SlotInfo, TokenInfo};
use crate::device::{Device, Looked, StoreFamily, Visited, Wish};
use crate::pkcs11::module::ModuleFile;
use crate::pkcs11::module::modules::{KnownModule, Places};
use crate::pkcs11::module::process::DeviceChoice;
use crate::pkcs11::module::process::{Readers, look};
use crate::pkcs11::temporary::{ManagedKind, ManagedToken};
use crate::pkcs11_uri::{ObjectPart, Pkcs11Uri};
use crate::store::once_each;
use crate::user::{TokenId, TokenName, User};

/// The family `pkcs11`.
pub const FAMILY: StoreFamily = StoreFamily {
    store: StoreKind::PKCS11,
    look: wanted,
};

fn wanted(wish: &Wish, user: &User, looked: &mut Looked) -> Result<(), Error> {
    let places = &Places::of_user();
    match wish {
        Wish::Software | Wish::Inserted => {}
        Wish::Default => own(&[ManagedKind::SoftHsm], places, looked),
        Wish::Named(names) => named(names, places, user, looked)?,
        Wish::All => all(places, user, looked),
    }
    Ok(())
}

/// Finds the tokens that are named: one that is not to be had is an error. All are looked for before the first is
/// logged in to, which a key that is named takes.
fn named(names: &[String], places: &Places, user: &User, looked: &mut Looked) -> Result<(), Error> {
    let (mut meant, others) = (Vec::new(), looked.devices.len());
    for name in names {
        let Some(target) = TokenSelector::parse(name, places) else {
            continue;
        };
        looked.known.push(name.clone());
        meant.push(Meant::of(target?, places, user)?);
    }
    one_key_of_each(&meant)?;
    pin_is_for_one(&meant, user)?;
    for device in meant.into_iter().map(|meant| meant.devices(user)) {
        for device in device? {
            let name = &device.identity().device;
            let mut known = looked.devices[others..]
                .iter()
                .map(|known| &known.identity().device);
            if known.all(|known| known != name) {
                looked.devices.push(device);
            }
        }
    }
    Ok(())
}

/// The tokens in modules that are here, for names that no family knows: by label, by serial number, or as results name
/// them.
pub(crate) fn called(wish: &Wish, user: &User, looked: &mut Looked) -> Result<(), Error> {
    let Wish::Named(names) = wish else {
        return Ok(());
    };
    let unknown: Vec<_> = names
        .iter()
        .filter(|name| !looked.known.contains(name))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let files: Vec<ModuleFile> = Places::of_user()
        .modules()
        .iter()
        .map(KnownModule::to_load)
        .collect();
    let said = look(&files, user, Readers::Shown);
    let said: Vec<_> = files
        .iter()
        .zip(said)
        .filter_map(|(file, said)| Some((file, said.ok()?)))
        .collect();
    for name in unknown {
        let of_module = said.iter().flat_map(|(file, said)| {
            let called = tokens(said)
                .filter(|(_, token)| is_called(token, name) && !offered(token).is_empty());
            called.map(|(_, token)| FoundToken::of(file, said, token))
        });
        let mut found: Vec<FoundToken> = of_module.collect();
        if found.len() > 1 {
            let names: Vec<String> = found.iter().map(|token| shown(&token.info)).collect();
            let reason = format!("{} tokens match: {}", names.len(), names.join(", "));
            let call = format!("looking for the token '{name}'");
            return Err(Error::call(call, reason, "name one by its URI"));
        }
        if let Some(token) = found.pop() {
            let uri = Pkcs11Uri::default();
            looked.devices.push(Box::new(TokenDevice::of(
                token,
                &uri,
                user,
                DeviceChoice::ByName,
            )?));
            looked.known.push(name.clone());
        }
    }
    Ok(())
}

/// Returns whether a user means a token.
fn is_called(token: &TokenInfo, name: &str) -> bool {
    let id = token.id();
    let is_id = TokenName::parse(name).is_ok_and(|name| id.is_called(&name));
    is_id || token.label.eq_ignore_ascii_case(name)
}

enum Meant {
    Own(Box<ManagedToken>),
    Tokens(Box<Pkcs11Uri>, Vec<FoundToken>),
}

impl Meant {
    fn of(target: TokenSelector, places: &Places, user: &User) -> Result<Self, Error> {
        let uri = match target {
            TokenSelector::Own(kind) => {
                return Ok(Self::Own(Box::new(ManagedToken::make(&kind, places)?)));
            }
            TokenSelector::Uri(uri) => uri,
        };
        let files = modules(&uri, places)?;
        let looked = files.iter().zip(look(&files, user, Readers::Shown));
        let (mut found, mut others) = (Vec::new(), Vec::new());
        let (mut blank, mut answered, mut broken) = (false, false, None);
        for (file, said) in looked {
            let said = match said {
                Ok(said) => said,
                // Of several modules one that does not work is in nobody's way.
                Err(error) => {
                    broken = broken.or(Some(error));
                    continue;
                }
            };
            answered = true;
            blank |= !said.slots.is_empty();
            for (slot, token) in tokens(&said) {
                if uri.matches(&said, slot, token) {
                    found.push(FoundToken::of(file, &said, token));
                } else if !offered(token).is_empty() {
                    others.push(shown(token));
                }
            }
        }
        if uri.object.names_one() {
            with_key(&mut found, &uri.object)?;
        }
        match broken.filter(|_| !answered) {
            _ if !found.is_empty() => Ok(Self::Tokens(uri, found)),
            Some(error) => Err(error),
            None => Err(no_token(uri.token_label(), &others, blank)),
        }
    }

    fn devices(self, user: &User) -> Result<Vec<Box<dyn Device>>, Error> {
        match self {
            Self::Own(own) => {
                let device = TokenDevice::of_managed(*own, DeviceChoice::ByName);
                Ok(vec![Box::new(device)])
            }
            Self::Tokens(uri, found) => {
                let devices = found.into_iter().map(|found| {
                    let device = TokenDevice::of(found, &uri, user, DeviceChoice::ByName)?;
                    Ok(Box::new(device) as Box<dyn Device>)
                });
                devices.collect()
            }
        }
    }

    /// The tokens that are logged in to while one looks for a key on them.
    fn logged_in_to(&self) -> Vec<TokenId> {
        match self {
            Self::Tokens(uri, found) if uri.object.names_one() && uri.pin_file.is_none() => {
                let wanting = found.iter().map(|found| &found.info);
                let wanting = wanting.filter(|info| info.login.pin().is_some());
                wanting.map(TokenInfo::id).collect()
            }
            Self::Tokens(..) | Self::Own(_) => Vec::new(),
        }
    }
}

/// A device is a token with one key that is named, or with its test keys: of a token that is named twice the other key
/// would be missing, without a word.
fn one_key_of_each(meant: &[Meant]) -> Result<(), Error> {
    let mut keys: Vec<(TokenId, &str, &ObjectPart)> = Vec::new();
    for named in meant {
        let Meant::Tokens(uri, found) = named else {
            continue;
        };
        let wanted = &uri.object;
        for token in found {
            let (id, label) = (token.info.id(), token.info.label.as_str());
            let is_other = keys.iter().any(|(known, known_label, object)| {
                let is_same = (*known_label, *object) == (label, wanted);
                *known == id && !is_same && (object.names_one() || wanted.names_one())
            });
            if is_other {
                return Err(Error::call(
                    "looking for keys",
                    format!(
                        "several are named on token {id}, but a run uses one key of each token"
                    ),
                    "measure them one after the other",
                ));
            }
            keys.push((id, label, wanted));
        }
    }
    Ok(())
}

/// A PIN that does not say whose it is, is one token's.
fn pin_is_for_one(meant: &[Meant], user: &User) -> Result<(), Error> {
    if !user.pins.user.is_for_one() {
        return Ok(());
    }
    let tokens = once_each(meant.iter().flat_map(Meant::logged_in_to));
    let [first, _, ..] = tokens.as_slice() else {
        return Ok(());
    };
    let names: Vec<&str> = tokens.iter().map(TokenId::as_str).collect();
    Err(Error::call(
        "choosing a PIN",
        format!(
            "the given PIN is for one token, but keys are named on {}",
            names.join(" and ")
        ),
        format!("write --pin-env {first}=VARIABLE, once for each token"),
    ))
}

fn with_key(found: &mut Vec<FoundToken>, wanted: &ObjectPart) -> Result<(), Error> {
    if found.len() > 1 {
        // Not one that can do nothing, such as p11-kit's list of certificates.
        found.retain(|token| !offered(&token.info).is_empty());
    }
    if found.len() > 1 {
        let names: Vec<String> = found.iter().map(|token| shown(&token.info)).collect();
        found.retain(|token| token.info.keys.iter().any(|key| key.is_called(wanted)));
        if found.is_empty() {
            return Err(Error::call(
                "looking for the token with that key",
                format!("it may be on {}", names.join(" or ")),
                "name the token in the URI: token=LABEL or serial=NUMBER",
            ));
        }
    }
    Ok(())
}

/// Label and name of a token.
fn shown(token: &TokenInfo) -> String {
    format!("'{}' ({})", token.label, token.id())
}

pub(crate) fn no_token(wanted: Option<&str>, others: &[String], blank: bool) -> Error {
    let call = "looking for a PKCS#11 token";
    let wanted = wanted.map_or_else(
        || "no token matches".to_owned(),
        |label| format!("there is no token '{label}'"),
    );
    if !others.is_empty() {
        let reason = format!("{wanted}; these are here: {}", others.join(", "));
        return Error::call(call, reason, "'keymark devices' shows each with its URI");
    }
    if blank {
        let reason = "the module has no initialized token";
        return Error::call(call, reason, "pkcs11-tool --init-token makes one");
    }
    Error::call(
        call,
        "the module has no token in any slot",
        "is it plugged in? a card in a reader needs a running pcscd",
    )
}

/// Returns tokens that have a PIN and keys, or could.
pub(crate) fn tokens(said: &ModuleInfo) -> impl Iterator<Item = (&SlotInfo, &TokenInfo)> {
    said.slots
        .iter()
        .filter_map(|slot| Some((slot, slot.token.as_ref().ok()?)))
}

fn own(kinds: &[ManagedKind], places: &Places, looked: &mut Looked) {
    for kind in kinds {
        if let Ok(token) = ManagedToken::make(kind, places) {
            looked.known.push(kind.name());
            let device = TokenDevice::of_managed(token, DeviceChoice::AmongAll);
            looked.devices.push(Box::new(device));
        }
    }
}

/// Everything that is there. What does not work is said, and in nobody's way.
fn all(places: &Places, user: &User, looked: &mut Looked) {
    own(&ManagedKind::all(), places, looked);
    let modules = places.modules();
    let files: Vec<ModuleFile> = modules.iter().map(KnownModule::to_load).collect();
    let said = look(&files, user, Readers::Hidden);
    for ((KnownModule { name, file, .. }, of), said) in modules.into_iter().zip(files).zip(said) {
        if let Ok(said) = &said {
            let devices = tokens(said).filter_map(|(_, token)| {
                let found = FoundToken::of(&of, said, token);
                TokenDevice::of(found, &Pkcs11Uri::default(), user, DeviceChoice::AmongAll).ok()
            });
            let useful = devices.filter(|device| !device.capabilities().is_empty());
            looked
                .devices
                .extend(useful.map(|device| Box::new(device) as Box<dyn Device>));
        }
        looked.visited.push(visited(name, file, said));
    }
}

fn visited(name: String, file: PathBuf, said: Result<ModuleInfo, Error>) -> Visited {
    let summary = |said: ModuleInfo| {
        let useful = tokens(&said).filter(|(_, token)| !offered(token).is_empty());
        let tokens = match useful.count() {
            0 => "no token to measure".to_owned(),
            1 => "1 token".to_owned(),
            several => format!("{several} tokens"),
        };
        format!("{}, {tokens}", library(&said))
    };
    Visited {
        store: StoreKind::PKCS11,
        name,
        file,
        said: said.map(summary),
    }
}
