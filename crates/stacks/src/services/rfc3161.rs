//! sigstore's timestamping authority (RFC 3161), with a key in a file.

use std::process::Command;
use std::sync::Arc;

use keymark_bench::{Case, Error};
use keymark_load::Service;
use keymark_stores::access::Access;
use keymark_stores::places::program;
use keymark_stores::store::unsupported;
use openssl::error::ErrorStack;
use openssl::pkey::PKey;

use super::running::{RunningService, ServiceLoads};
use super::signers::{Certified, failed};
use super::timestamp::Timestamps;
use super::{InstalledService, RFC3161, ServiceKind};
use crate::installed::{BroughtBy, Program};
use crate::programs::write_private;
use crate::tls::servers::{Purpose, private_key};

/// RFC 3161 §3.4.
pub(super) const CONTENT_TYPE: &str = "application/timestamp-query";

pub(super) const KIND: ServiceKind = ServiceKind {
    stack: RFC3161,
    program: Program {
        name: "timestamp-authority",
        files: &["keymark-rfc3161"],
        brought_by: BroughtBy::Other("install it with 'make services'"),
        version: &[("-version", "timestamp-authority v")],
    },
    dimensions: &[],
    start,
};

fn start(
    found: &InstalledService,
    case: &Case,
    loads: &ServiceLoads,
) -> Result<RunningService, Error> {
    let store = loads.store(case)?;
    let Access::KeyFile(file) = store.access(&store.key(case.capability())?)? else {
        return Err(unsupported("timestamp-authority", case.capability()));
    };
    let key = private_key(&file)?;
    let made = || -> Result<_, ErrorStack> {
        let public = PKey::public_key_from_der(&key.public_key_to_der()?)?;
        Ok((public, key.private_key_to_pem_pkcs8()?))
    };
    let (public, pem) = made().map_err(failed)?;
    let Certified { signers, chain, .. } =
        Certified::by_new_authority(case.algorithm, public, Purpose::Timestamping)?;
    let exchange = Arc::new(Timestamps(signers));
    let service = Service::post("/api/v1/timestamp", CONTENT_TYPE, exchange);
    let mut running = RunningService::start("timestamp-authority", service, |directory, port| {
        let named = |name: &str| directory.private.path().join(name);
        let (key, certificates) = (named("key.pem"), named("chain.pem"));
        write_private(&key, &pem)?;
        write_private(&certificates, &chain)?;
        let mut command: Command = program::command(&found.program);
        command.arg("-port").arg(port.to_string());
        command.arg("-key").arg(key).arg("-chain").arg(certificates);
        Ok(command)
    })?;
    running.tell("server_version", &found.version);
    running.tell("request", "SHA-256, nonce and certificate");
    Ok(running)
}
