//! Whether a server can be what it is to be, before anything is started.

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::strength::{self, Strength};
use keymark_stores::user::Pin;

use crate::servers::ciphers::{self, Authentication, Exchange, Suite};
use crate::servers::error::{Impossible, ServerError};
use crate::servers::handshakes::{Group, Handshakes, Protocol};
use crate::servers::identity::{KeyPlace, TokenWay};
use crate::servers::software::{Installed, Software};
use crate::servers::spec::{SecurityLevel, ServerSpec, Weak};
use crate::servers::version::Version;

/// Whether it can be.
pub(crate) fn check(server: &Installed, spec: &ServerSpec) -> Result<(), ServerError> {
    match server.software {
        Software::Apache(_) => {}
        Software::Nginx => {
            let two = spec.certificates.iter().count() > 1;
            if two && !server.version.is_at_least(1, 11, 0) {
                return Err(Impossible::TwoCertificates(server.version.clone()).into());
            }
        }
        Software::Haproxy => return Err(Impossible::NoTlsServer(server.software).into()),
    }
    weakness(spec)?;
    new_algorithms(&server.openssl.version, spec)?;
    one_module(spec)?;
    if spec.handshakes.protocol.has_tls12() {
        cipher_string(server, spec)?;
    }
    Ok(())
}

/// Less than 112 bits of security (NIST SP 800-57 part 1, table 2).
fn weakness(spec: &ServerSpec) -> Result<(), Impossible> {
    match (spec.weak, spec.weaknesses().into_iter().next()) {
        (Weak::Refused, Some(weak)) => Err(Impossible::Weak(weak)),
        (Weak::Refused, None) | (Weak::Allowed, _) => Ok(()),
    }
}

/// Whether a key has less than 112 bits of security.
pub(crate) fn is_weak(algorithm: Algorithm) -> bool {
    strength::of_key(algorithm).is_some_and(Strength::is_weak)
}

/// What came with OpenSSL 3.5, and what came with TLS 1.3.
fn new_algorithms(openssl: &Version, spec: &ServerSpec) -> Result<(), Impossible> {
    let has_3_5 = openssl.is_at_least(3, 5, 0);
    let tls12_only = spec.handshakes.protocol == Protocol::Tls12;
    for identity in spec.certificates.iter() {
        let algorithm = identity.algorithm;
        if matches!(algorithm.family(), Family::MlDsa(_)) {
            if !has_3_5 {
                return Err(Impossible::SignatureTooNew {
                    algorithm,
                    openssl: openssl.clone(),
                });
            }
            if tls12_only {
                return Err(Impossible::NeedsTls13(algorithm.to_string()));
            }
        }
    }
    for group in &spec.handshakes.groups {
        if *group == Group::X25519MlKem768 {
            if !has_3_5 {
                return Err(Impossible::GroupTooNew {
                    group: *group,
                    openssl: openssl.clone(),
                });
            }
            if tls12_only {
                return Err(Impossible::NeedsTls13(group.to_string()));
            }
        }
    }
    Ok(())
}

fn one_module(spec: &ServerSpec) -> Result<(), Impossible> {
    let mut tokens = spec
        .certificates
        .iter()
        .filter_map(|identity| identity.token())
        .map(|(key, way)| (key.module(), way, key.pin().map(Pin::expose)));
    let first = tokens.next();
    if tokens.all(|token| Some(token) == first) {
        Ok(())
    } else {
        Err(Impossible::TwoModules)
    }
}

/// Whether the cipher string leaves something for each certificate.
fn cipher_string(server: &Installed, spec: &ServerSpec) -> Result<(), ServerError> {
    let Handshakes {
        ciphers,
        dh,
        protocol,
        ..
    } = &spec.handshakes;
    // What this OpenSSL does not know, the server's may: it says so itself when it starts.
    let Ok(suites) = ciphers::resolved(&with_level(&ciphers.to_string(), spec.level())) else {
        return Ok(());
    };
    let tls12 = |suite: &&Suite| suite.exchange != Exchange::Any;
    for identity in spec.certificates.iter() {
        let algorithm = identity.algorithm;
        let fits = |suite: &&Suite| fits(suite.authentication, algorithm.family());
        let left: Vec<&Suite> = suites.iter().filter(tls12).filter(fits).collect();
        if left.is_empty() && *protocol == Protocol::Tls12 {
            return Err(Impossible::NoCipher {
                ciphers: ciphers.to_string(),
                algorithm,
            }
            .into());
        }
        let all = |exchange| !left.is_empty() && left.iter().all(|one| one.exchange == exchange);
        if *protocol != Protocol::Tls12 {
            continue;
        }
        let by_engine = identity.key_place() == KeyPlace::Token(TokenWay::Engine);
        let openssl = &server.openssl.version;
        if by_engine && all(Exchange::Rsa) && openssl.is_at_least(3, 0, 0) {
            return Err(Impossible::RsaExchangeByEngine {
                openssl: openssl.clone(),
            }
            .into());
        }
        if all(Exchange::Dhe) && dh.is_none() && server.software == Software::Nginx {
            return Err(Impossible::NoDhParameters(ciphers.to_string()).into());
        }
    }
    Ok(())
}

/// EdDSA certificates go with the suites of ECDSA (RFC 8422 §5.3).
fn fits(by: Authentication, family: Family) -> bool {
    match by {
        Authentication::Rsa => matches!(family, Family::Rsa(_)),
        Authentication::Ecdsa => matches!(family, Family::Weierstrass(_) | Family::Ed25519),
        Authentication::Any | Authentication::Other => false,
    }
}

/// The cipher string as the server gets it: RSA-1024 and DH-1024 are refused at the usual level 2.
pub(crate) fn with_level(ciphers: &str, level: SecurityLevel) -> String {
    match level {
        SecurityLevel::One => format!("{ciphers}:@SECLEVEL=1"),
        SecurityLevel::Distributions => ciphers.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::servers::dh::{DhBits, DhParameters};
    use crate::servers::handshakes::KeyExchange;
    use crate::servers::identity::{Certificates, Identity};
    use crate::servers::linked::LinkedOpenSsl;
    use crate::servers::software::Mpm;

    fn server(software: Software, version: &str) -> Installed {
        let ssl = "\0OpenSSL 3.0.19 x\0";
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("libcrypto");
        std::fs::write(&file, ssl).unwrap();
        Installed {
            software,
            program: PathBuf::from("/nonexistent"),
            version: Version::read(version).unwrap(),
            openssl: LinkedOpenSsl::of(Path::new(&file)).unwrap(),
            modules: None,
        }
    }

    fn identity(word: &str) -> Identity {
        Identity::generate(word.parse().unwrap()).unwrap()
    }

    fn refused(server: &Installed, spec: &ServerSpec) -> String {
        check(server, spec).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_is_said_before_anything_starts() {
        let nginx = server(Software::Nginx, "1.22.1");
        let of = |word: &str, exchange| {
            ServerSpec::new(Certificates::one(identity(word)), Handshakes::of(exchange))
        };
        let pq = refused(&nginx, &of("mldsa65", KeyExchange::Tls13(Group::X25519)));
        assert!(
            pq.contains("needs OpenSSL 3.5") && pq.contains("3.0.19"),
            "{pq}"
        );
        let group = of("nistp256", KeyExchange::Tls13(Group::X25519MlKem768));
        assert!(refused(&nginx, &group).contains("needs OpenSSL 3.5"));
        let weak = of("rsa1024", KeyExchange::Rsa);
        assert!(refused(&nginx, &weak).contains("rsa1024 is weak"));
        let dh = KeyExchange::Dhe(DhParameters::Generated(DhBits::Dh1024));
        assert!(refused(&nginx, &of("rsa2048", dh)).contains("DHE with 1024 bits is weak"));
        let none = of("nistp256", KeyExchange::Rsa);
        assert!(refused(&nginx, &none).contains("no cipher for a certificate of nistp256"));
        let mut without = of("rsa2048", dh);
        without.handshakes.dh = None;
        assert!(refused(&nginx, &without).contains("nginx needs parameters"));
        check(&server(Software::Apache(Mpm::Event), "2.4.71"), &without).unwrap();
    }

    #[test]
    fn two_certificates_want_a_younger_nginx() {
        let pair = Certificates::rsa_and_ecdsa(identity("rsa2048"), identity("nistp256")).unwrap();
        let spec = ServerSpec::new(pair, Handshakes::usual());
        check(&server(Software::Nginx, "1.11.0"), &spec).unwrap();
        let old = refused(&server(Software::Nginx, "1.10.3"), &spec);
        assert!(old.contains("since 1.11.0"), "{old}");
        let haproxy = refused(&server(Software::Haproxy, "2.6.12"), &spec);
        assert!(haproxy.contains("none itself"), "{haproxy}");
        let wrong = Certificates::rsa_and_ecdsa(identity("nistp256"), identity("rsa2048"));
        assert!(
            wrong
                .unwrap_err()
                .to_string()
                .contains("not nistp256 and rsa2048")
        );
    }
}
