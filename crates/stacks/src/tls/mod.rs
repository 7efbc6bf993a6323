//! TLS servers under load: Apache and nginx with a key in a file or on a PKCS#11 token, driven by keymark's own client.
//!
//! A load is no crew of workers with handles, so that no [`Stack`](keymark_bench::workload::Stack) makes it ready: a
//! case is a server that is started, a load on it, and what came of it ([`Measuring`]).

mod key_use;
mod keys;
mod measuring;
mod outcome;
mod remote;
mod saturating;
mod server;
mod site;
mod trust;

pub use crate::servers::Tracing;
use crate::servers::{Mpm, Software};
use keymark_bench::case::{Case, KeyExchange, StackName, TlsVersion};
use keymark_bench::error::Error;

pub use keys::Keys;
pub use measuring::{Measuring, Watch};
pub use remote::{Address, Asking, CONNECT, Reached, Remote, Tried, Trust};
pub use server::Servers;
pub use site::{Site, Starting};

/// Apache with the MPM that distributions choose.
pub const APACHE: StackName = StackName::of("apache");
const APACHE_PREFORK: StackName = StackName::of("apache-prefork");
const APACHE_WORKER: StackName = StackName::of("apache-worker");
/// nginx.
pub const NGINX: StackName = StackName::of("nginx");

/// The servers that can be measured, by the stacks' names.
pub const SERVERS: [(StackName, Software); 4] = [
    (APACHE, Software::Apache(Mpm::Event)),
    (APACHE_PREFORK, Software::Apache(Mpm::Prefork)),
    (APACHE_WORKER, Software::Apache(Mpm::Worker)),
    (NGINX, Software::Nginx),
];

/// The version of TLS in which a key exchange is measured where nobody says it: 1.2 for what 1.3 has no more.
#[must_use]
pub const fn usual_version(exchange: KeyExchange) -> TlsVersion {
    match exchange {
        KeyExchange::Rsa
        | KeyExchange::Dhe1024
        | KeyExchange::Dhe2048
        | KeyExchange::Dhe3072
        | KeyExchange::Dhe4096 => TlsVersion::V1_2,
        KeyExchange::EcdheP256
        | KeyExchange::EcdheP384
        | KeyExchange::EcdheP521
        | KeyExchange::X25519
        | KeyExchange::X448
        | KeyExchange::X25519MlKem768
        | KeyExchange::SecP256r1MlKem768
        | KeyExchange::SecP384r1MlKem1024 => TlsVersion::V1_3,
    }
}

/// A key exchange in that version, as servers are configured for it.
fn of_server(
    version: TlsVersion,
    exchange: KeyExchange,
) -> Result<crate::servers::KeyExchange, Error> {
    use crate::servers::{DhBits, DhParameters, Group, KeyExchange as OfServer};
    let dhe = |bits| OfServer::Dhe(DhParameters::Generated(bits));
    let of_1_2 = |wanted: OfServer| match version {
        TlsVersion::V1_2 => Ok(wanted),
        TlsVersion::V1_3 => Err(not_in(version, exchange)),
    };
    let group = |group: Group| match version {
        TlsVersion::V1_2 => Ok(OfServer::Ecdhe(group)),
        TlsVersion::V1_3 => Ok(OfServer::Tls13(group)),
    };
    match exchange {
        KeyExchange::Rsa => of_1_2(OfServer::Rsa),
        KeyExchange::Dhe1024 => of_1_2(dhe(DhBits::Dh1024)),
        KeyExchange::Dhe2048 => of_1_2(dhe(DhBits::Dh2048)),
        KeyExchange::Dhe3072 => of_1_2(dhe(DhBits::Dh3072)),
        KeyExchange::Dhe4096 => of_1_2(dhe(DhBits::Dh4096)),
        KeyExchange::EcdheP256 => group(Group::P256),
        KeyExchange::EcdheP384 => group(Group::P384),
        KeyExchange::EcdheP521 => group(Group::P521),
        KeyExchange::X25519 => group(Group::X25519),
        KeyExchange::X25519MlKem768 => match version {
            TlsVersion::V1_2 => Err(not_in(version, exchange)),
            TlsVersion::V1_3 => Ok(OfServer::Tls13(Group::X25519MlKem768)),
        },
        KeyExchange::X448 | KeyExchange::SecP256r1MlKem768 | KeyExchange::SecP384r1MlKem1024 => {
            Err(Error::call(
                "configuring a server",
                format!("keymark does not configure {exchange} yet"),
                "choose x25519, ecdhe-p256, ecdhe-p384, ecdhe-p521 or x25519mlkem768",
            ))
        }
    }
}

fn handshake_of(case: &Case) -> Result<(TlsVersion, KeyExchange), Error> {
    let tls = case.parameters.tls();
    tls.ok_or_else(|| {
        Error::call(
            "starting a server",
            format!("{case} is not a handshake"),
            "",
        )
    })
}

fn not_in(version: TlsVersion, exchange: KeyExchange) -> Error {
    Error::call(
        "configuring a server",
        format!("{version} has no {exchange}"),
        "choose the other version with --tls, or leave it out",
    )
}
