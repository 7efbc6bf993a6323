//! Looking for tokens.
//!
//! Which token is meant is decided before anybody logs in, by what tokens show; a PIN that does not name its token
//! goes to no second one.

use keymark_bench::{Error, StoreKind};

use super::FoundToken;
use super::capabilities::offered;
use super::device::TokenDevice;
use super::identity::library;
use super::selector::{TokenSelector, modules};
use super::token_info::{ModuleInfo, SlotInfo, TokenInfo};
use crate::device::{Device, Looked, Visited, Wish};
use crate::pkcs11::module::ModuleFile;
use crate::pkcs11::module::modules::Places;
use crate::pkcs11::module::process::{DeviceChoice, Readers, look_at};
use crate::pkcs11::temporary::{ManagedKind, ManagedToken};
use crate::pkcs11_uri::{ObjectPart, Pkcs11Uri};
use crate::store::once_each;
use crate::user::{TokenId, TokenName, User};

/// Looks for the devices of the family `pkcs11`.
pub fn look(wish: &Wish, user: &User, looked: &mut Looked) -> Result<(), Error> {
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
        if let Some(target) = TokenSelector::parse(name, places) {
            looked.known.push(name.clone());
            meant.extend(Meant::all(target?, places, user)?);
        }
    }
    let known: Vec<_> = meant.iter().filter_map(Meant::known).collect();
    one_key_of_each(&known)?;
    pin_is_for_one(&known, user)?;
    for device in meant.into_iter().map(|meant| meant.device(user)) {
        let device = device?;
        let name = &device.identity().device;
        let mut known = looked.devices[others..].iter();
        if known.all(|known| known.identity().device != *name) {
            looked.devices.push(Box::new(device));
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
    let unknown = names.iter().filter(|name| !looked.known.contains(name));
    let unknown: Vec<_> = unknown.collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let modules = Places::of_user().modules().into_iter();
    let files = modules.map(|module| module.file).collect();
    let here: Vec<FoundToken> = look_at(files, user, Readers::Shown)
        .iter()
        .filter_map(|(file, said)| Some(found(file, said.as_ref().ok()?)))
        .flatten()
        .filter(|token| !offered(&token.info).is_empty())
        .collect();
    for name in unknown {
        let called = here.iter().filter(|token| is_called(&token.info, name));
        match called.collect::<Vec<_>>().as_slice() {
            [] => {}
            [token] => {
                let (token, uri) = (FoundToken::clone(token), Pkcs11Uri::default());
                let device = TokenDevice::of(token, &uri, user, DeviceChoice::ByName)?;
                looked.devices.push(Box::new(device));
                looked.known.push(name.clone());
            }
            several => {
                let names: Vec<String> = several.iter().map(|token| shown(&token.info)).collect();
                let reason = format!("{} tokens match: {}", names.len(), names.join(", "));
                let call = format!("looking for the token '{name}'");
                return Err(Error::call(call, reason, "name one by its URI"));
            }
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

/// A token that is named.
enum Meant {
    Own(Box<ManagedToken>),
    Known {
        token: Box<FoundToken>,
        uri: Box<Pkcs11Uri>,
    },
}

impl Meant {
    fn all(target: TokenSelector, places: &Places, user: &User) -> Result<Vec<Self>, Error> {
        match target {
            TokenSelector::Own(kind) => {
                let own = ManagedToken::make(&kind, places)?;
                Ok(vec![Self::Own(Box::new(own))])
            }
            TokenSelector::Uri(uri) => {
                let found = matching(&uri, places, user)?.into_iter();
                let known = |token| Self::Known {
                    token: Box::new(token),
                    uri: uri.clone(),
                };
                Ok(found.map(known).collect())
            }
        }
    }

    fn known(&self) -> Option<(&TokenInfo, &Pkcs11Uri)> {
        match self {
            Self::Known { token, uri } => Some((&token.info, &**uri)),
            Self::Own(_) => None,
        }
    }

    fn device(self, user: &User) -> Result<TokenDevice, Error> {
        match self {
            Self::Own(own) => Ok(TokenDevice::of_managed(*own, DeviceChoice::ByName)),
            Self::Known { token, uri } => TokenDevice::of(*token, &uri, user, DeviceChoice::ByName),
        }
    }
}

/// The tokens that a URI means.
fn matching(uri: &Pkcs11Uri, places: &Places, user: &User) -> Result<Vec<FoundToken>, Error> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let (mut blank, mut answered, mut broken) = (false, false, None);
    for (file, said) in look_at(modules(uri, places)?, user, Readers::Shown) {
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
                found.push(FoundToken::of(&file, &said, token));
            } else if !offered(token).is_empty() {
                others.push(shown(token));
            }
        }
    }
    if uri.object.names_one() {
        with_key(&mut found, &uri.object)?;
    }
    match broken.filter(|_| !answered) {
        _ if !found.is_empty() => Ok(found),
        Some(error) => Err(error),
        None => Err(no_token(uri.token_label(), &others, blank)),
    }
}

/// A device is a token with one key that is named, or with its test keys: of a token that is named twice the other key
/// would be missing, without a word.
fn one_key_of_each(known: &[(&TokenInfo, &Pkcs11Uri)]) -> Result<(), Error> {
    for (at, (info, uri)) in known.iter().enumerate() {
        let (id, wanted) = (info.id(), &uri.object);
        let is_other = |(before, named): &(&TokenInfo, &Pkcs11Uri)| {
            let is_same = (&before.label, &named.object) == (&info.label, wanted);
            let names_one = named.object.names_one() || wanted.names_one();
            before.id() == id && !is_same && names_one
        };
        if known[..at].iter().any(is_other) {
            return Err(Error::call(
                "looking for keys",
                format!("several are named on token {id}, but a run uses one key of each token"),
                "measure them one after the other",
            ));
        }
    }
    Ok(())
}

/// A PIN that does not say whose it is, is one token's: of those that are logged in to while one looks for a key on them.
fn pin_is_for_one(known: &[(&TokenInfo, &Pkcs11Uri)], user: &User) -> Result<(), Error> {
    if !user.pins.user.is_for_one() {
        return Ok(());
    }
    let wanting = known.iter().filter(|(info, uri)| {
        uri.object.names_one() && uri.pin_file.is_none() && info.login.pin().is_some()
    });
    let tokens = once_each(wanting.map(|(info, _)| info.id()));
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

fn found(file: &ModuleFile, said: &ModuleInfo) -> impl Iterator<Item = FoundToken> {
    tokens(said).map(move |(_, token)| FoundToken::of(file, said, token))
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
    let modules = places.modules().into_iter();
    let (names, files): (Vec<_>, Vec<_>) = modules.map(|known| (known.name, known.file)).unzip();
    for (name, (file, said)) in names.into_iter().zip(look_at(files, user, Readers::Hidden)) {
        let (uri, among) = (Pkcs11Uri::default(), DeviceChoice::AmongAll);
        for token in said.iter().flat_map(|said| found(&file, said)) {
            if let Ok(device) = TokenDevice::of(token, &uri, user, among)
                && !device.capabilities().is_empty()
            {
                looked.devices.push(Box::new(device));
            }
        }
        looked.visited.push(Visited {
            store: StoreKind::PKCS11,
            name,
            file: file.path,
            said: said.map(|said| summary(&said)),
        });
    }
}

fn summary(said: &ModuleInfo) -> String {
    let useful = tokens(said).filter(|(_, token)| !offered(token).is_empty());
    let tokens = match useful.count() {
        0 => "no token to measure".to_owned(),
        1 => "1 token".to_owned(),
        several => format!("{several} tokens"),
    };
    format!("{}, {tokens}", library(said))
}
