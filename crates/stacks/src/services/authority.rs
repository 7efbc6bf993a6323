//! A timestamping authority that runs already.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use keymark_bench::{Algorithm, Clock, Error};
use keymark_load::{Exchange, Service, ask, key_of_certificate};
use openssl::pkey::{PKey, Public};
use openssl::x509::X509;

use super::rfc3161::CONTENT_TYPE;
use super::running::RunningService;
use super::signers::{self, Signers, failed, trusted};
use super::timestamp::{self, Timestamps};
use crate::tls::Address;
use crate::tls::remote::{NO_ADDRESS, first_of};
use crate::tls::servers::Purpose;
use crate::tls::trust;

/// Running authority that has answered.
#[derive(Debug)]
pub struct RunningAuthority {
    service: Service,
    /// Algorithm of its key.
    pub algorithm: Algorithm,
    told: BTreeMap<String, String>,
}

impl RunningAuthority {
    /// Asks for one timestamp, whose signer is the only one that counts from then on: one that the authorities in that
    /// file, in PEM, have certified, or any.
    ///
    /// # Errors
    /// When it is to be had at none of the addresses, or its answer is not one to the request.
    pub fn reach(
        address: &Address,
        path: &str,
        (addresses, authority): (&[SocketAddr], Option<&PathBuf>),
        until: (&dyn Clock, &AtomicBool),
    ) -> Result<Self, Error> {
        let by = |key: Option<PKey<Public>>| -> Result<Arc<dyn Exchange>, Error> {
            let trusted = |file: &PathBuf| {
                let trusted = trusted(trust::authorities(file)?, Purpose::Timestamping);
                trusted.map_err(failed)
            };
            let authorities = authority.map(trusted);
            let authorities = authorities.transpose()?;
            Ok(Arc::new(Timestamps(Signers { key, authorities })))
        };
        let mut service = Service {
            host: address.host().to_owned(),
            ..Service::post(path, CONTENT_TYPE, by(None)?)
        };
        let asked = first_of(addresses, NO_ADDRESS.to_owned(), |socket| {
            service.address = socket;
            first(&service, until)
        });
        let (signer, algorithm) = asked.map_err(|why| {
            let call = format!("asking {address} for a timestamp at {path}");
            let advice =
                "is a timestamping authority (RFC 3161) running there, and is that its --path?";
            Error::call(call, why, advice)
        })?;
        service.exchange = by(signer.public_key().ok())?;
        Ok(Self::told(service, algorithm, authority))
    }

    fn told(service: Service, algorithm: Algorithm, authority: Option<&PathBuf>) -> Self {
        let told = [
            ("server", "ran already".to_owned()),
            ("address", service.address.to_string()),
            ("path", service.path.clone()),
            ("trust", trust::told(authority.map(PathBuf::as_path))),
        ];
        Self {
            told: told.map(|(name, value)| (name.to_owned(), value)).into(),
            service,
            algorithm,
        }
    }

    /// Returns it in the form of a started service.
    pub(super) fn running(&self) -> RunningService {
        RunningService {
            process: None,
            service: self.service.clone(),
            told: self.told.clone(),
            agents: None,
        }
    }
}

/// Its first answer: the signer's certificate, and the algorithm of the key in it.
fn first(service: &Service, until: (&dyn Clock, &AtomicBool)) -> Result<(X509, Algorithm), String> {
    let answered = ask(service, until);
    let (number, answer) = answered.map_err(|error| error.to_string())?;
    let signer = service.exchange.check(number, &answer);
    let signer = signer.and_then(|()| signers::signer(&timestamp::token(&answer)?));
    let signer = signer.map_err(|wrong| {
        let refusal = timestamp::refusal(&answer);
        refusal.unwrap_or_else(|| format!("not as expected: {wrong}"))
    })?;
    let der = signer.to_der().map_err(|error| error.to_string())?;
    let algorithm = key_of_certificate(&der);
    Ok((
        signer,
        algorithm.ok_or("keymark does not know the algorithm of its key")?,
    ))
}
