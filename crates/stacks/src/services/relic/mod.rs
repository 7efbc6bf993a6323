//! relic: signs programs, archives and packages by a key in a file, behind a PKCS#11 module, or on a card, for clients with
//! a certificate.

mod jar;
mod packages;
mod patch;
mod pe;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use askama::Template;
use keymark_bench::{Case, Dimension, Error, Family, KeyRef, Scope, Words};
use keymark_load::{Exchange, Service};
use keymark_stores::access::{Access, Certificate, ProgramKey};
use keymark_stores::pkcs11::is_known_to_programs;
use keymark_stores::places::program;
use keymark_stores::store::unsupported;
use keymark_stores::user::Pin;
use openssl::pkey::PKey;
use openssl::sha::sha256;
use openssl::x509::X509;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use super::running::Running;
use super::signers::{Certified, Signers, failed};
use super::{Found, Means, RELIC, ServiceKind};
use crate::gnupg::signatures::Signer;
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
    dimensions: &[FORM],
    start,
};

/// What is signed.
pub(super) const FORM: Dimension = Dimension {
    name: "form",
    kind: "form of what is signed",
    words: Words::Listed(&["pe", "jar", "deb", "rpm"]),
    usual: Some("pe"),
    scope: Scope::Family,
};

/// One form: adding one is a file and a line in [`FORMS`].
struct Form {
    word: &'static str,
    path: &'static str,
    told: &'static str,
    exchange: MadeFor,
}

/// By whose signatures answers are checked.
#[derive(Clone, Copy)]
enum MadeFor {
    X509(fn(Signers) -> Arc<dyn Exchange>),
    OpenPgp(fn(Signer) -> Arc<dyn Exchange>),
}

const FORMS: [Form; 4] = [
    Form {
        word: "pe",
        path: "/sign?key=keymark&filename=program.exe&sigtype=pe-coff",
        told: "a program in PE form, SHA-256",
        exchange: MadeFor::X509(|signers| Arc::new(pe::Programs(signers))),
    },
    Form {
        word: "jar",
        path: "/sign?key=keymark&filename=archive.jar&sigtype=jar",
        told: "a Java archive, SHA-256",
        exchange: MadeFor::X509(|signers| Arc::new(jar::Archives(signers))),
    },
    Form {
        word: "deb",
        path: "/sign?key=keymark&filename=package.deb&sigtype=deb",
        told: "a Debian package, SHA-256",
        exchange: MadeFor::OpenPgp(|signer| Arc::new(packages::Debs(signer))),
    },
    Form {
        word: "rpm",
        path: "/sign?key=keymark&filename=package.rpm&sigtype=rpm",
        told: "an RPM package, SHA-256; two signatures each",
        exchange: MadeFor::OpenPgp(|signer| Arc::new(packages::Rpms(signer))),
    },
];

#[derive(Template)]
#[template(path = "relic.yml", escape = "none")]
struct Configuration<'c> {
    port: u16,
    /// SHA-256 of its public key.
    client: &'c str,
    directory: std::path::Display<'c>,
    access: &'c KeyAccess,
    /// Whether there is an OpenPGP key.
    openpgp: bool,
}

/// How relic gets at a key.
enum KeyAccess {
    /// In PEM.
    File(Vec<u8>),
    Token(Box<ProgramKey>),
    /// By the scdaemon that listens there.
    Card(PathBuf, Pin),
}

impl KeyAccess {
    fn of(case: &Case, means: &Means<'_>, access: Access) -> Result<Self, Error> {
        if let Some(file) = &access.file {
            let pem = private_key(file)?.private_key_to_pem_pkcs8();
            return Ok(Self::File(pem.map_err(failed)?));
        }
        if let Some((card, _)) = &access.card {
            let home = means.homes()?;
            let home = home.home_of(case, means.keys.store().as_ref())?;
            return Ok(Self::Card(home.home.scdaemon_socket()?, card.user_pin()?));
        }
        let module = access
            .module
            .ok_or_else(|| unsupported("relic", case.capability()))?;
        let key = module.program_key(Certificate::NotNeeded)?;
        Ok(Self::Token(Box::new(key)))
    }
}

/// The key's certificates, and the check of what it signs.
struct Certificates {
    exchange: Arc<dyn Exchange>,
    chain: Vec<u8>,
    /// An OpenPGP key.
    openpgp: Option<Vec<u8>>,
    /// Any client's certificate will do.
    authority: X509,
}

impl Certificates {
    fn of(case: &Case, means: &Means<'_>, key: &KeyRef, form: MadeFor) -> Result<Self, Error> {
        let store = means.keys.store();
        let public = store.public_key(key)?.spki_der();
        let public = public.and_then(|der| PKey::public_key_from_der(&der));
        let public = public.map_err(failed)?;
        let Certified {
            signers,
            chain,
            authority,
        } = Certified::by_new_authority(case.algorithm, public, Purpose::CodeSigning)?;
        let (exchange, openpgp) = match form {
            MadeFor::X509(exchange) => (exchange(signers), None),
            MadeFor::OpenPgp(exchange) => {
                let home = means.homes()?.home_of(case, store.as_ref())?;
                let (signer, certificate) = home.signer()?;
                (exchange(signer), Some(certificate))
            }
        };
        Ok(Self {
            exchange,
            chain,
            openpgp,
            authority,
        })
    }

    fn write(&self, place: &Path) -> Result<(), Error> {
        write_private(&place.join("chain.pem"), &self.chain)?;
        match &self.openpgp {
            Some(openpgp) => write_private(&place.join("openpgp.key"), openpgp),
            None => Ok(()),
        }
    }

    /// SHA-256 of the public key that a client's certificate has.
    fn client(&self) -> Result<String, Error> {
        let key = self.authority.public_key();
        let key = key.and_then(|key| key.public_key_to_der());
        Ok(hex::encode(sha256(&key.map_err(failed)?)))
    }

    fn service(&self, form: &Form) -> Result<Service, Error> {
        let client = self.authority.to_pem().map_err(failed)?;
        let told = percent_encode(&client, NON_ALPHANUMERIC).to_string();
        let exchange = Arc::clone(&self.exchange);
        Ok(Service {
            headers: vec![
                ("X-Forwarded-For", "127.0.0.1".to_owned()),
                ("Ssl-Client-Cert", told),
            ],
            ..Service::post(form.path, "application/octet-stream", exchange)
        })
    }
}

fn form_of(case: &Case) -> Result<&'static Form, Error> {
    let word: Option<String> = case.parameters.read(&FORM)?;
    let form = FORMS.iter().find(|form| word.as_deref() == Some(form.word));
    Ok(form.unwrap_or(&FORMS[0]))
}

fn start(found: &Found, case: &Case, means: &Means<'_>) -> Result<Running, Error> {
    let capability = case.capability();
    if !is_known_to_programs(case.algorithm.family()) {
        return Err(unsupported("relic", capability));
    }
    let form = form_of(case)?;
    let key = means.keys.store().key(capability)?;
    let access = means.keys.store().access(&key)?;
    let rsa = matches!(case.algorithm.family(), Family::Rsa(_));
    let needs_rsa = matches!(form.exchange, MadeFor::OpenPgp(_)) || access.card.is_some();
    if needs_rsa && !rsa {
        return Err(Error::call(
            "starting relic",
            "for packages, and by cards, it signs with RSA keys alone",
            "choose --algorithm rsa2048, or --parameter form=pe with a key in a file or a PKCS#11 token",
        ));
    }
    let access = KeyAccess::of(case, means, access)?;
    let certificates = Certificates::of(case, means, &key, form.exchange)?;
    let client = certificates.client()?;
    let service = certificates.service(form)?;
    let mut running = Running::start("relic", service, |directory, port| {
        let place = directory.private.path();
        certificates.write(place)?;
        let configuration = Configuration {
            port,
            client: &client,
            directory: place.display(),
            access: &access,
            openpgp: certificates.openpgp.is_some(),
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
            KeyAccess::Card(..) => {}
        }
        Ok(command)
    })?;
    running.tell("server_version", &found.version);
    running.tell("request", form.told);
    Ok(running)
}
