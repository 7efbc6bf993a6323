//! relic: signs programs in PE form with a key in a file, behind a PKCS#11 module, or on a card, for clients with a
//! certificate.

mod pe;

use std::path::PathBuf;
use std::sync::Arc;

use askama::Template;
use keymark_bench::{Case, Error, Family};
use keymark_load::{Exchange, Service};
use keymark_stores::access::{Access, Certificate, ProgramKey};
use keymark_stores::pkcs11::is_known_to_programs;
use keymark_stores::places::program;
use keymark_stores::store::unsupported;
use keymark_stores::user::Pin;
use openssl::error::ErrorStack;
use openssl::pkey::PKey;
use openssl::sha::sha256;
use openssl::x509::X509;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use super::running::{RunningService, ServiceLoads};
use super::signers::{Certified, failed};
use super::{InstalledService, RELIC, ServiceKind};
use crate::installed::{BroughtBy, Program};
use crate::programs::write_private;
use crate::templates::{Comments, written};
use crate::tls::servers::{Purpose, private_key};

pub(super) const KIND: ServiceKind = ServiceKind {
    stack: RELIC,
    program: Program {
        name: "relic",
        files: &["keymark-relic"],
        brought_by: BroughtBy::Other("install it with 'make services'"),
        version: &[("--version", "relic version v")],
    },
    dimensions: &[],
    start,
};

/// Path of a request for a signed program.
const PATH: &str = "/sign?key=keymark&filename=program.exe&sigtype=pe-coff";

#[derive(Template)]
#[template(path = "relic.yml", escape = "none")]
struct RelicConfig<'c> {
    port: u16,
    /// SHA-256 of its public key.
    client: &'c str,
    directory: std::path::Display<'c>,
    access: &'c KeyAccess,
}

/// Access of relic to a key.
enum KeyAccess {
    /// A key in PEM.
    File(Vec<u8>),
    Token(Box<ProgramKey>),
    /// A card, by the socket of its scdaemon.
    Card(PathBuf, Pin),
}

impl KeyAccess {
    fn of(case: &Case, loads: &ServiceLoads, access: Access) -> Result<Self, Error> {
        match access {
            Access::KeyFile(file) => {
                let pem = private_key(&file)?.private_key_to_pem_pkcs8();
                Ok(Self::File(pem.map_err(failed)?))
            }
            Access::Card(card, _) => {
                let home = loads.homes()?.home_of(case, &**loads.store(case)?)?;
                Ok(Self::Card(home.home.scdaemon_socket()?, card.user_pin()?))
            }
            Access::Module(module) => {
                let key = module.program_key(Certificate::NotNeeded)?;
                Ok(Self::Token(Box::new(key)))
            }
            Access::Locator(_) => Err(unsupported("relic", case.capability())),
        }
    }
}

/// The service for a client with that certificate, and SHA-256 of the public key in it.
fn service_for(
    client: &X509,
    exchange: Arc<dyn Exchange>,
) -> Result<(Service, String), ErrorStack> {
    let told = percent_encode(&client.to_pem()?, NON_ALPHANUMERIC).to_string();
    let service = Service {
        headers: vec![
            ("X-Forwarded-For", "127.0.0.1".to_owned()),
            ("Ssl-Client-Cert", told),
        ],
        ..Service::post(PATH, "application/octet-stream", exchange)
    };
    let key = client.public_key()?.public_key_to_der()?;
    Ok((service, hex::encode(sha256(&key))))
}

fn start(
    found: &InstalledService,
    case: &Case,
    loads: &ServiceLoads,
) -> Result<RunningService, Error> {
    let capability = case.capability();
    if !is_known_to_programs(case.algorithm.family()) {
        return Err(unsupported("relic", capability));
    }
    let store = loads.store(case)?;
    let key = store.key(capability)?;
    let access = store.access(&key)?;
    let rsa = matches!(case.algorithm.family(), Family::Rsa(_));
    if matches!(access, Access::Card(..)) && !rsa {
        return Err(Error::call(
            "starting relic",
            "on cards it signs with RSA keys alone",
            "choose --algorithm rsa2048, or a key in a file or on a PKCS#11 token",
        ));
    }
    let access = KeyAccess::of(case, loads, access)?;
    let public = store.public_key(&key)?.spki_der();
    let public = public.and_then(|der| PKey::public_key_from_der(&der));
    let public = public.map_err(failed)?;
    let certified = Certified::by_new_authority(case.algorithm, public, Purpose::CodeSigning)?;
    // Any client's certificate will do.
    let exchange = Arc::new(pe::Programs(certified.signers));
    let (service, client) = service_for(&certified.authority, exchange).map_err(failed)?;
    let mut running = RunningService::start("relic", service, |directory, port| {
        let place = directory.private.path();
        write_private(&place.join("chain.pem"), &certified.chain)?;
        let configuration = RelicConfig {
            port,
            client: &client,
            directory: place.display(),
            access: &access,
        };
        let text = written(&configuration, Comments::Left)?;
        write_private(&directory.configuration, text.as_bytes())?;
        let mut command = program::command(&found.program);
        command
            .env("NO_COLOR", "1")
            .args(["serve", "--config"])
            .arg(&directory.configuration);
        match &access {
            KeyAccess::File(pem) => write_private(&place.join("key.pem"), pem)?,
            KeyAccess::Token(key) => {
                command.envs(key.environment.clone());
            }
            KeyAccess::Card(..) => {}
        }
        Ok(command)
    })?;
    running.tell("server_version", &found.version);
    running.tell("request", "a program in PE form, SHA-256");
    Ok(running)
}
