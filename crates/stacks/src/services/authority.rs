//! A timestamping authority that runs already.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::Case;
use keymark_bench::clock::Clock;
use keymark_bench::error::Error;
use keymark_bench::plan::Plan;
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::Observer;
use keymark_bench::server_load::ServerLoad;
use keymark_load::{Exchange as _, Service, Timeouts, ask, key_of_certificate};
use openssl::x509::X509;

use super::rfc3161::{CONTENT_TYPE, trusted};
use super::timestamp::{self, Timestamps};
use crate::tls::measuring::{Client, Told, Watch, one_after_the_other};
use crate::tls::outcome::Loaded;
use crate::tls::rounds::Stretch;
use crate::tls::{Address, saturating};

/// One that has answered.
#[derive(Debug)]
pub struct RunningAuthority {
    service: Service,
    /// Of its key.
    pub algorithm: Algorithm,
    told: BTreeMap<String, String>,
}

impl RunningAuthority {
    /// Asks for one timestamp, whose signer is the only one that counts from then on: one that the authorities in that
    /// file, in PEM, have certified, or whoever it is.
    ///
    /// # Errors
    /// When it is to be had at none of the addresses, or its answer is not one to the request.
    pub fn reach(
        address: &Address,
        path: &str,
        (addresses, authority): (&[SocketAddr], Option<&PathBuf>),
        (clock, stop): (&dyn Clock, &AtomicBool),
    ) -> Result<Self, Error> {
        let call = format!("asking {address} for a timestamp at {path}");
        let failed = |why: &dyn std::fmt::Display| {
            let advice =
                "is a timestamping authority (RFC 3161) running there, and is that its --path?";
            Error::call(&call, why, advice)
        };
        let authorities = authority.map(|file| {
            let certificates = std::fs::read(file).map_err(|error| error.to_string());
            let read = |pem: Vec<u8>| X509::stack_from_pem(&pem).and_then(trusted);
            let store = certificates.and_then(|pem| read(pem).map_err(|error| error.to_string()));
            store.map_err(|why| Error::call(format!("reading {}", file.display()), why, ""))
        });
        let authorities = authorities.transpose()?;
        let known = addresses.iter().map(|address| asked(*address, path));
        let mut last = failed(&"it has no address");
        for service in known {
            let (number, answer) = match ask(&service, &Timeouts::ALONE, (clock, stop)) {
                Ok(answered) => answered,
                Err(error) => {
                    last = failed(&error);
                    continue;
                }
            };
            let signer = timestamp::signer(&answer);
            let wrong = |wrong| failed(&format!("not as expected: {wrong}"));
            let signer = signer.map_err(wrong)?;
            let der = signer.to_der().map_err(|error| failed(&error))?;
            let exchange = Timestamps {
                key: signer.public_key().map_err(|error| failed(&error))?,
                authorities,
            };
            exchange.check(number, &answer).map_err(wrong)?;
            let unknown = || failed(&"keymark does not know the algorithm of its key");
            let trust = match authority {
                None => "the certificate as presented, pinned for the run".to_owned(),
                Some(file) => format!("certified by an authority in {}", file.display()),
            };
            return Ok(Self {
                told: [
                    ("server", "ran already".to_owned()),
                    ("address", service.address.to_string()),
                    ("path", path.to_owned()),
                    ("trust", trust),
                ]
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
                service: Service {
                    host: address.host().to_owned(),
                    exchange: Arc::new(exchange),
                    ..service
                },
                algorithm: key_of_certificate(&der).ok_or_else(unknown)?,
            });
        }
        Err(last)
    }

    /// Measures the cases of the plan one after the other.
    pub fn run(
        &self,
        plan: &Plan,
        client: Client<'_>,
        observer: &mut dyn Observer,
        watch: &mut dyn Watch,
    ) -> Vec<CaseRecord> {
        one_after_the_other(plan, client.interrupt, observer, |case| {
            let load = self.load(case, plan.settings.seed, client, watch);
            load.map(Loaded::from)
        })
    }

    fn load(
        &self,
        case: &Case,
        seed: u64,
        client: Client<'_>,
        watch: &mut dyn Watch,
    ) -> Result<ServerLoad, Error> {
        let stretch = Stretch::alone(client.duration, seed);
        let demand = saturating::demand(case.load);
        let measured = client.drive(&self.service, demand, stretch, &mut Told::of(case, watch))?;
        Ok(measured.record(self.told.clone()))
    }
}

/// Before anybody knows its key.
fn asked(address: SocketAddr, path: &str) -> Service {
    Service {
        address,
        host: address.ip().to_string(),
        method: "POST",
        path: path.to_owned(),
        content_type: CONTENT_TYPE,
        exchange: Arc::new(timestamp::Requests),
    }
}
