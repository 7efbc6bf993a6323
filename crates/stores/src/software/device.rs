//! The device of this CPU.

use std::collections::BTreeMap;
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::{DeviceName, Environment, Error, Provenance, StoreIdentity, StoreKind};

use super::SoftwareStore;
use crate::access::AccessKind;
use crate::device::{Device, Fact, Looked, Run, Wish};
use crate::scheme::Scheme;
use crate::store::{KeyStore, authentications};
use crate::user::User;

/// Looks for the one device of the family `software`.
pub fn look(wish: &Wish, _: &User, looked: &mut Looked) -> Result<(), Error> {
    let device = DeviceName::software();
    let wanted = match wish {
        Wish::Software | Wish::Default | Wish::All => true,
        Wish::Inserted => false,
        Wish::Named(names) => names.iter().any(|name| name == device.as_str()),
    };
    if wanted {
        has_default_provider()?;
        let openssl = SoftwareStore::library_version().to_owned();
        let (kind, provenance) = (StoreKind::SOFTWARE, Provenance::Measured);
        looked.known.push(device.to_string());
        looked.devices.push(Box::new(Cpu {
            identity: StoreIdentity {
                versions: BTreeMap::from([("openssl".to_owned(), openssl)]),
                ..StoreIdentity::new(device, kind, provenance, "this CPU")
            },
            capabilities: SoftwareStore::default().capabilities()?,
        }));
    }
    Ok(())
}

/// A configuration that activates other providers alone leaves OpenSSL without random numbers, ciphers and keys.
fn has_default_provider() -> Result<(), Error> {
    openssl::rand::rand_bytes(&mut [0; 1]).map_err(|error| {
        let named = std::env::var_os("OPENSSL_CONF");
        let file = named.map_or_else(
            || "its openssl.cnf".to_owned(),
            |path| format!("OPENSSL_CONF={}", path.display()),
        );
        let advice = format!(
            "{file} leaves out the provider 'default': activate it there, or unset OPENSSL_CONF"
        );
        Error::call("RAND_bytes", error, advice)
    })
}

#[derive(Debug)]
struct Cpu {
    identity: StoreIdentity,
    capabilities: Vec<Capability>,
}

impl Device for Cpu {
    fn identity(&self) -> &StoreIdentity {
        &self.identity
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn synonyms(&self) -> Vec<Capability> {
        authentications(&self.capabilities)
    }

    fn schemes(&self) -> Vec<(Scheme, Vec<Capability>)> {
        let of = |scheme: &Scheme| {
            let can = self.capabilities.iter().filter(|can| scheme.is_of(**can));
            (*scheme, can.copied().collect())
        };
        Scheme::ALL.iter().map(of).collect()
    }

    fn access(&self) -> AccessKind {
        AccessKind::KeyFile
    }

    fn facts(&self) -> Vec<Fact> {
        let environment = Environment::capture("");
        let cores = environment.cores;
        let model = environment
            .cpu_model
            .into_iter()
            .map(|model| Fact::new("processor", format!("{model}, {cores} cores")));
        // Missing ones are said where their stack is.
        let libraries = super::libraries().filter_map(|library| {
            let loaded = super::load(library).ok()?;
            Some(Fact::new(library.word(), loaded.version()))
        });
        model.chain(libraries).collect()
    }

    fn open(&self, run: &Run) -> Result<Arc<dyn KeyStore>, Error> {
        Ok(Arc::clone(&run.test_keys) as Arc<dyn KeyStore>)
    }
}
