//! The device `softhsm`: SoftHSM2 as it is installed, with a token of keymark's in a private directory.

use std::fs;
use std::path::{Path, PathBuf};

use cryptoki::session::UserType;
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use keymark_bench::error::Error;
use keymark_places::private_dir::PrivateDir;

use super::codes::failed;
use super::module::{Module, ModuleFile};
use super::modules::Places;
use super::probe::{self, Readers};
use super::says::{self, ModuleSays, TokenState};
use super::token::FoundToken;
use crate::user::{Pin, User};

/// The name of the device.
pub const NAME: &str = "softhsm";
/// And of its token.
const LABEL: &str = "keymark";
/// The library's registration with p11-kit, or the name of its product.
const MODULE: &str = "softhsm2";

/// Where SoftHSM2 has its configuration and its tokens, for as long as this is there.
#[derive(Debug)]
pub(super) struct SoftHsm {
    file: ModuleFile,
    _place: PrivateDir,
    /// What the library says, before there is a token.
    pub(super) says: ModuleSays,
}

impl SoftHsm {
    /// The installed library, looked at.
    pub(super) fn look(places: &Places, user: &User) -> Result<Self, Error> {
        let library = installed(places)?;
        let place = PrivateDir::new()?;
        let tokens = place.subdirectory("tokens")?;
        let configuration = place.path().join("softhsm2.conf");
        let written = fs::write(&configuration, configuration_for(&tokens));
        written.map_err(|error| {
            Error::call(format!("writing {}", configuration.display()), error, "")
        })?;
        let file = ModuleFile {
            path: library,
            configuration: Some(configuration),
        };
        let mut said = probe::look(std::slice::from_ref(&file), &user.pins, Readers::Hidden);
        let says = said.pop().unwrap_or_else(|| Err(nothing_said()))?;
        Ok(Self {
            file,
            _place: place,
            says,
        })
    }

    /// What any token of it offers: the blank one is not initialised for being asked.
    pub(super) fn blank(&self) -> Result<says::TokenSays, Error> {
        let slots = self.says.slots.iter();
        let mut tokens = slots.filter_map(|slot| slot.token.clone().ok());
        tokens.next().ok_or_else(nothing_said)
    }

    /// Initialises a token with PINs that nobody knows. Returns it with the user's.
    pub(super) fn make(&self) -> Result<(FoundToken, Pin), Error> {
        let module = Module::load(&self.file)?;
        let client = &module.client;
        let ask = |slot: Slot| says::ask_token(client, &module.calls, slot);
        let slots = || {
            client
                .get_slots_with_token()
                .map_err(|error| failed(&error))
        };
        let is_blank = |slot: &Slot| ask(*slot).is_ok_and(|says| says.state == TokenState::Blank);
        let blank = slots()?
            .into_iter()
            .find(is_blank)
            .ok_or_else(nothing_said)?;
        let (officer, user) = (random_pin()?, random_pin()?);
        let own = |slot: Slot| {
            let says = ask(slot).ok()?;
            (says.label == LABEL && says.state == TokenState::Initialized).then_some((slot, says))
        };
        let label = LABEL;
        client
            .init_token(blank, &sent(&officer), label)
            .map_err(|error| failed(&error))?;
        let (slot, _) = slots()?
            .into_iter()
            .find_map(own)
            .ok_or_else(nothing_said)?;
        let session = client
            .open_rw_session(slot)
            .map_err(|error| failed(&error))?;
        session
            .login(UserType::So, Some(&sent(&officer)))
            .and_then(|()| session.init_pin(&sent(&user)))
            .and_then(|()| session.logout())
            .map_err(|error| failed(&error))?;
        let found = FoundToken {
            file: self.file.clone(),
            says: ask(slot)?,
        };
        Ok((found, user))
    }
}

fn sent(pin: &Pin) -> AuthPin {
    AuthPin::from(pin.expose().to_owned())
}

fn nothing_said() -> Error {
    Error::call(
        "asking SoftHSM2 for a token",
        "it has none that is blank",
        "",
    )
}

/// The library's file.
pub(super) fn installed(places: &Places) -> Result<PathBuf, Error> {
    let module = places.named(MODULE).filter(|module| module.file.exists());
    module
        .map(|module| module.file)
        .ok_or_else(|| Error::Missing {
            what: "SoftHSM2".to_owned(),
            reason: "there is no libsofthsm2.so where it usually is".to_owned(),
            advice: "apt-get install softhsm2 brings it".to_owned(),
        })
}

fn configuration_for(tokens: &Path) -> String {
    format!(
        "directories.tokendir = {}\nobjectstore.backend = file\nlog.level = ERROR\nslots.removable = false\n",
        tokens.display()
    )
}

/// Of 16 letters.
fn random_pin() -> Result<Pin, Error> {
    let mut octets = [0; 8];
    openssl::rand::rand_bytes(&mut octets).map_err(|error| Error::call("RAND_bytes", error, ""))?;
    Ok(Pin::new(format!("{:016x}", u64::from_be_bytes(octets))))
}
