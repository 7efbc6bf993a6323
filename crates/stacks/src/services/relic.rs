//! relic: signs programs by a key in a file or behind a PKCS#11 module, for clients with a certificate.

use std::sync::Arc;

use askama::Template;
use keymark_bench::store::Capability;
use keymark_bench::{Case, Error, KeyRef};
use keymark_stores::access::{Certificate, ProgramKey};
use keymark_stores::pkcs11::is_known_to_programs;
use keymark_stores::places::program;
use keymark_stores::store::{KeyStore, unsupported};
use openssl::pkey::PKey;
use openssl::sha::sha256;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use super::pe::Programs;
use super::running::{Asking, Running};
use super::signers::{Certified, failed};
use super::{Found, Means, RELIC, ServiceKind};
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

#[derive(Template)]
#[template(path = "relic.yml", escape = "none")]
struct Configuration<'c> {
    port: u16,
    /// SHA-256 of its public key.
    client: &'c str,
    directory: std::path::Display<'c>,
    access: &'c KeyAccess,
}

/// How relic gets at a key.
enum KeyAccess {
    /// In PEM.
    File(Vec<u8>),
    Token(Box<ProgramKey>),
}

impl KeyAccess {
    fn of(store: &dyn KeyStore, key: &KeyRef, capability: Capability) -> Result<Self, Error> {
        let access = store.access(key)?;
        if let Some(file) = &access.file {
            let pem = private_key(file)?.private_key_to_pem_pkcs8();
            return Ok(Self::File(pem.map_err(failed)?));
        }
        let module = access
            .module
            .ok_or_else(|| unsupported("relic", capability))?;
        let key = module.program_key(Certificate::NotNeeded)?;
        Ok(Self::Token(Box::new(key)))
    }
}

fn start(found: &Found, case: &Case, means: &Means<'_>) -> Result<Running, Error> {
    let capability = case.capability();
    if !is_known_to_programs(case.algorithm.family()) {
        return Err(unsupported("relic", capability));
    }
    let store = means.keys.store();
    let key = store.key(capability)?;
    let access = KeyAccess::of(store.as_ref(), &key, capability)?;
    let public = store.public_key(&key)?.spki_der();
    let public = public
        .and_then(|der| PKey::public_key_from_der(&der))
        .map_err(failed)?;
    let Certified {
        signers,
        chain,
        authority,
    } = Certified::by_new_authority(case.algorithm, public, Purpose::CodeSigning)?;
    // Any client's certificate will do.
    let told = percent_encode(&authority.to_pem().map_err(failed)?, NON_ALPHANUMERIC).to_string();
    let client = authority
        .public_key()
        .and_then(|key| key.public_key_to_der());
    let client = hex::encode(sha256(&client.map_err(failed)?));
    let asking = Asking {
        path: "/sign?key=keymark&filename=program.exe&sigtype=pe-coff",
        content_type: "application/octet-stream",
        headers: vec![
            ("X-Forwarded-For", "127.0.0.1".to_owned()),
            ("Ssl-Client-Cert", told),
        ],
        exchange: Arc::new(Programs(signers)),
    };
    let mut running = Running::start("relic", asking, |directory, port| {
        let place = directory.private.path();
        write_private(&place.join("chain.pem"), &chain)?;
        let configuration = Configuration {
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
                command.envs(key.environment.iter().map(|(name, value)| (name, value)));
            }
        }
        Ok(command)
    })?;
    running.tell("server_version", &found.version);
    running.tell("request", "a program in PE form, SHA-256");
    Ok(running)
}
