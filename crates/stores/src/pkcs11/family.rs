//! Looking for tokens.

use std::path::PathBuf;

use keymark_bench::case::StoreKind;
use keymark_bench::error::Error;

use super::device::{OwnDevice, TokenDevice, Wanted, library};
use super::module::{Module, ModuleFile};
use super::modules::{KnownModule, Places};
use super::offers::offered;
use super::own::{OwnKind, OwnToken};
use super::probe::{self, Readers};
use super::says::{self, ModuleSays, SlotSays, TokenSays, TokenState};
use super::target::Target;
use super::token::FoundToken;
use super::uri::Pkcs11Uri;
use crate::device::{Device, Looked, StoreFamily, Visited, Wish};
use crate::user::User;

/// The family `pkcs11`.
#[derive(Debug)]
pub struct Pkcs11Family;

impl StoreFamily for Pkcs11Family {
    fn look(&self, wish: &Wish, user: &User) -> Result<Looked, Error> {
        match wish {
            Wish::Software | Wish::Inserted => Ok(Looked::default()),
            Wish::Default => Ok(own(&[OwnKind::SoftHsm], &Places::of_user())),
            Wish::Named(names) => named(names, &Places::of_user(), user),
            Wish::All => Ok(all(&Places::of_user(), user)),
        }
    }
}

/// Those that are named: one that is not to be had is an error.
fn named(names: &[String], places: &Places, user: &User) -> Result<Looked, Error> {
    let mut looked = Looked::default();
    for name in names {
        let Some(target) = Target::parse(name, places) else {
            continue;
        };
        looked.known.push(name.clone());
        for device in devices(&target?, places, user)? {
            let name = &device.identity().device;
            let mut known = looked.devices.iter().map(|known| &known.identity().device);
            if known.all(|known| known != name) {
                looked.devices.push(device);
            }
        }
    }
    Ok(looked)
}

fn devices(target: &Target, places: &Places, user: &User) -> Result<Vec<Box<dyn Device>>, Error> {
    if let Target::Own(kind) = target {
        let token = OwnToken::make(kind, places)?;
        return Ok(vec![Box::new(OwnDevice::of(token, Wanted::ByName))]);
    }
    let files: Vec<ModuleFile> = target
        .modules(places)?
        .into_iter()
        .map(ModuleFile::new)
        .collect();
    let looked = files
        .iter()
        .zip(probe::look(&files, &user.pins, Readers::Shown));
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    let (mut others, mut broken) = (Vec::new(), None);
    for (file, said) in looked {
        let said = match said {
            Ok(said) => said,
            // Of several modules one that does not work is in nobody's way.
            Err(error) => {
                broken = broken.or(Some(error));
                continue;
            }
        };
        for (slot, token) in tokens(&said) {
            if target
                .uri()
                .is_some_and(|uri| !uri.matches(&said, slot, token))
            {
                if !offered(token).is_empty() {
                    others.push(token.id().to_string());
                }
                continue;
            }
            let found = FoundToken {
                file: file.clone(),
                says: token.clone(),
            };
            let device = TokenDevice::of(&said, found, target.uri(), user, Wanted::ByName)?;
            devices.push(Box::new(device));
        }
    }
    match (devices.is_empty(), broken) {
        (false, _) => Ok(devices),
        (true, Some(error)) if others.is_empty() => Err(error),
        (true, _) => Err(no_token(&others)),
    }
}

fn no_token(others: &[String]) -> Error {
    let call = "looking for a PKCS#11 token";
    if others.is_empty() {
        let reason = "the module has none that is initialised";
        return Error::call(call, reason, "pkcs11-tool --init-token makes one");
    }
    let reason = format!("none matches; there is {}", others.join(", "));
    Error::call(call, reason, "'keymark devices' shows each with its URI")
}

/// Those that have a PIN and keys, or could.
fn tokens(said: &ModuleSays) -> impl Iterator<Item = (&SlotSays, &TokenSays)> {
    let slots = said.slots.iter();
    let tokens = slots.filter_map(|slot| Some((slot, slot.token.as_ref().ok()?)));
    tokens.filter(|(_, token)| match token.state {
        TokenState::Initialized => true,
        TokenState::Blank => false,
    })
}

/// The token that a URI means, of a module that is known to work: it is loaded into this process at once.
///
/// # Errors
/// When the module does not load, or has no such token.
pub fn known_token(
    file: &ModuleFile,
    uri: &Pkcs11Uri,
    user: &User,
) -> Result<Box<dyn Device>, Error> {
    let module = Module::load(file)?;
    let said = says::ask(&module.client, &module.calls)?;
    let meant = |(slot, token): &(&SlotSays, &TokenSays)| uri.matches(&said, slot, token);
    let (_, token) = tokens(&said).find(meant).ok_or_else(|| no_token(&[]))?;
    let found = FoundToken {
        file: file.clone(),
        says: token.clone(),
    };
    let device = TokenDevice::of(&said, found, Some(uri), user, Wanted::ByName)?;
    Ok(Box::new(device))
}

/// A token of keymark's own in a place that somebody keeps, which is made by this process: its environment is what
/// the library is to find.
///
/// # Errors
/// When the library does not load, or makes no token.
pub fn own_token(kind: &OwnKind, file: &ModuleFile) -> Result<Box<dyn Device>, Error> {
    let token = OwnToken::make_here(kind, file)?;
    Ok(Box::new(OwnDevice::of(token, Wanted::ByName)))
}

/// Those tokens of keymark's own that can be made here.
fn own(kinds: &[OwnKind], places: &Places) -> Looked {
    let mut looked = Looked::default();
    for kind in kinds {
        if let Ok(token) = OwnToken::make(kind, places) {
            looked.known.push(kind.name());
            let device = OwnDevice::of(token, Wanted::AmongAll);
            looked.devices.push(Box::new(device));
        }
    }
    looked
}

/// Everything that is there. What does not work is said, and in nobody's way.
fn all(places: &Places, user: &User) -> Looked {
    let mut looked = own(&OwnKind::all(), places);
    let modules = places.modules();
    let files: Vec<ModuleFile> = modules
        .iter()
        .map(|module| ModuleFile::new(&module.file))
        .collect();
    let said = probe::look(&files, &user.pins, Readers::Hidden);
    for ((KnownModule { name, file }, of), said) in modules.into_iter().zip(files).zip(said) {
        if let Ok(said) = &said {
            let found = tokens(said).map(|(_, token)| FoundToken {
                file: of.clone(),
                says: token.clone(),
            });
            let devices = found.filter_map(|found| {
                TokenDevice::of(said, found, None, user, Wanted::AmongAll).ok()
            });
            let useful = devices.filter(|device| !device.capabilities().is_empty());
            looked
                .devices
                .extend(useful.map(|device| Box::new(device) as Box<dyn Device>));
        }
        looked.visited.push(visited(name, file, said));
    }
    looked
}

fn visited(name: String, file: PathBuf, said: Result<ModuleSays, Error>) -> Visited {
    let summary = |said: ModuleSays| {
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
