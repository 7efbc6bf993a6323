//! Private keys of servers: test keys in files, or keys on a PKCS#11 token.

use std::sync::Arc;

use crate::tls::servers::{Identity, InstalledServer, Purpose, TokenWay, Tracing};
use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Case, Error, Operation, StoreIdentity};
use keymark_stores::access::{Access, Certificate};
use keymark_stores::device::{Device, Run};
use keymark_stores::pkcs11::tpm2_pkcs11;
use keymark_stores::store::{KeyStore, unsupported};

/// The keys of one device.
#[derive(Debug)]
pub struct Keys {
    identity: StoreIdentity,
    store: Arc<dyn KeyStore>,
    tracing: Tracing,
}

impl Keys {
    /// The device, ready.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn of(device: &dyn Device, run: &Run) -> Result<Self, Error> {
        Ok(Self {
            identity: device.identity().clone(),
            store: device.open(run)?,
            tracing: Tracing::Off,
        })
    }

    /// Sets whether the calls of servers to the token are counted.
    pub fn with_tracing(self, tracing: Tracing) -> Self {
        Self { tracing, ..self }
    }

    pub(crate) const fn store(&self) -> &Arc<dyn KeyStore> {
        &self.store
    }

    /// The device.
    pub const fn identity(&self) -> &StoreIdentity {
        &self.identity
    }

    /// Removes what was written for the run.
    ///
    /// # Errors
    /// When something stays.
    pub fn restore(&self) -> Result<(), Error> {
        self.store.restore()
    }

    /// Removes what was written on several devices; returns what stays.
    pub(crate) fn restore_all(keys: &[Self]) -> Vec<Error> {
        keys.iter()
            .filter_map(|keys| keys.restore().err())
            .collect()
    }

    /// The keys of a case's device.
    pub(crate) fn of_case<'k>(keys: &'k [Self], case: &Case) -> Result<&'k Self, Error> {
        let own = keys.iter().find(|keys| keys.identity.device == case.device);
        own.ok_or_else(|| Self::none_of(case))
    }

    /// Error for a case whose device has no keys here.
    pub(super) fn none_of(case: &Case) -> Error {
        let reason = format!("{} is not a device of the plan", case.device);
        Error::call("starting a server", reason, "")
    }

    /// A certificate for a key of the algorithm, and the key as the server gets at it: on a token by that way, or the one
    /// that works.
    pub(super) fn certified(
        &self,
        algorithm: Algorithm,
        server: &InstalledServer,
        way: Option<TokenWay>,
    ) -> Result<Identity, Error> {
        let capability = Capability {
            algorithm,
            operation: Operation::Sign,
        };
        let key = self.store.key(capability)?;
        let module = match self.store.access(&key)? {
            Access::KeyFile(key) => return Identity::in_file(&key, Purpose::Server),
            Access::Module(module) => module,
            Access::Card(..) | Access::Locator(_) => {
                return Err(unsupported("a TLS server", capability));
            }
        };
        let key = module.program_key(Certificate::NotNeeded)?;
        tpm2_pkcs11::check_server(key.module())?;
        let key = key.naming_one()?;
        let openssl = server.openssl()?;
        let way = way.unwrap_or_else(|| openssl.usual_way());
        Ok(Identity {
            tracing: self.tracing,
            ..Identity::on_token(server, algorithm, key, way)?
        })
    }
}
