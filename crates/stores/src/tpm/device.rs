//! The devices `tpm` and `swtpm-esys`.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::workload::KeyHandle;
use keymark_bench::{DeviceName, Error, KeyRef, Provenance, StoreIdentity, StoreKind};
use parking_lot::Mutex;
use tss_esapi::Context;
use tss_esapi::constants::PropertyTag;
use tss_esapi::utils::get_tpm_vendor;

use super::connection::{self, Swtpm, Way, refused};
use super::handle::open;
use super::keys::{self, SavedKey};
use crate::access::{Access, AccessKind, KeyLocator};
use crate::device::{Device, Fact, Looked, Run, Wish};
use crate::emulator::LIBTPMS;
use crate::public_key::PublicKey;
use crate::scheme::Scheme;
use crate::store::{KeyStore, as_usual, unsupported};
use crate::user::User;

const TPM: &str = "tpm";
/// swtpm, by the same way.
const SWTPM: &str = "swtpm-esys";

/// Looks for the devices of the family `tpm`.
pub fn look(wish: &Wish, _: &User, looked: &mut Looked) -> Result<(), Error> {
    let mut found = |name: &str, device: TpmDevice| {
        looked.known.push(name.to_owned());
        looked.devices.push(Box::new(device));
    };
    match wish {
        Wish::Software | Wish::Inserted | Wish::Default => {}
        Wish::Named(names) => {
            for name in names {
                match name.as_str() {
                    TPM => found(name, TpmDevice::of_machine()?),
                    SWTPM => found(name, TpmDevice::emulated()?),
                    _ => {}
                }
            }
        }
        // A real one is used only when it is named.
        Wish::All => {
            if let Ok(device) = TpmDevice::emulated() {
                found(SWTPM, device);
            }
        }
    }
    Ok(())
}

/// A TPM.
#[derive(Debug)]
struct TpmDevice {
    way: Way,
    identity: StoreIdentity,
    capabilities: Vec<Capability>,
    _emulator: Option<Swtpm>,
}

impl TpmDevice {
    fn of_machine() -> Result<Self, Error> {
        Self::of(TPM, connection::device()?, None)
    }

    fn emulated() -> Result<Self, Error> {
        let emulator = Swtpm::start()?;
        Self::of(SWTPM, Way::Emulator(emulator.port), Some(emulator))
    }

    fn of(name: &str, way: Way, emulator: Option<Swtpm>) -> Result<Self, Error> {
        let mut context = way.connect()?;
        let asked = refused("TPM2_GetCapability");
        let vendor = get_tpm_vendor(&mut context).map_err(asked)?;
        let provenance = match &emulator {
            Some(_) => Provenance::Virtual,
            None if vendor.contains(LIBTPMS) => Provenance::Virtual,
            None => Provenance::Measured,
        };
        let product = match &emulator {
            Some(_) => "swtpm on this CPU, through tpm2-tss".to_owned(),
            None => format!("TPM 2.0 of this machine, {vendor}"),
        };
        let firmware = firmware(&mut context).map_err(asked)?;
        Ok(Self {
            identity: StoreIdentity {
                versions: BTreeMap::from([("firmware".to_owned(), firmware)]),
                ..StoreIdentity::new(DeviceName::new(name), StoreKind::TPM, provenance, product)
            },
            capabilities: keys::offered(&mut context),
            way,
            _emulator: emulator,
        })
    }
}

/// Four numbers, of which makers mean the first two or all.
fn firmware(context: &mut Context) -> tss_esapi::Result<String> {
    let mut parts = Vec::new();
    for tag in [PropertyTag::FirmwareVersion1, PropertyTag::FirmwareVersion2] {
        let number = context.get_tpm_property(tag)?.unwrap_or_default();
        parts.extend([number >> 16, number & 0xffff].map(|part| part.to_string()));
    }
    Ok(parts.join("."))
}

impl Device for TpmDevice {
    fn identity(&self) -> &StoreIdentity {
        &self.identity
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn access(&self) -> AccessKind {
        AccessKind::Locator
    }

    fn facts(&self) -> Vec<Fact> {
        vec![Fact::new(
            "keys",
            "made for the run, in the TPM while in use",
        )]
    }

    fn open(&self, _: &Run) -> Result<Arc<dyn KeyStore>, Error> {
        Ok(Arc::new(TpmStore {
            device: self.identity.device.clone(),
            capabilities: self.capabilities.clone(),
            way: self.way,
            test_keys: Mutex::default(),
        }))
    }
}

/// A TPM as a key store.
#[derive(Debug)]
struct TpmStore {
    device: DeviceName,
    capabilities: Vec<Capability>,
    way: Way,
    test_keys: Mutex<HashMap<Capability, SavedKey>>,
}

impl TpmStore {
    fn test_key(&self, key: &KeyRef) -> Result<SavedKey, Error> {
        let made = self.test_keys.lock();
        let found = made.get(&key.capability()).cloned();
        found.ok_or_else(|| unsupported(self.device.to_string(), key.capability()))
    }
}

impl KeyStore for TpmStore {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        Ok(self.capabilities.clone())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        if !self.capabilities.contains(&capability) {
            return Err(unsupported(self.device.to_string(), capability));
        }
        let mut all = self.test_keys.lock();
        if let Entry::Vacant(place) = all.entry(capability) {
            place.insert(keys::make(&mut self.way.connect()?, capability)?);
        }
        let label = format!("test key of {}, made by the TPM", capability.algorithm);
        Ok(KeyRef::new(capability, label))
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        Ok(self.test_key(key)?.public)
    }

    fn access(&self, key: &KeyRef) -> Result<Access, Error> {
        let saved = self.test_key(key)?.saved;
        Ok(Access::Locator(KeyLocator::Tpm(self.way, saved)))
    }

    fn open(&self, key: &KeyRef, scheme: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        as_usual(key, scheme)?;
        open(self.way, key.capability(), self.test_key(key)?.saved)
    }
}
