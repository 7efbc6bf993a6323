//! Specification of a server.

use std::num::NonZeroU16;

use keymark_bench::strength;
use keymark_bench::{Algorithm, Error, Strength};
use keymark_load::{ClientIdentity, KeyExchange, ResumedShare, TlsVersion, Weak};

use crate::tls::servers::identity::{Certificates, Identity};
use crate::tls::servers::impossible;

/// Versions and key exchanges that a server negotiates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshakes {
    /// Key exchange of the clients.
    pub exchange: KeyExchange,
    /// The versions, the older one first.
    pub versions: &'static [TlsVersion],
    /// Ciphers of TLS 1.2, as a cipher string (ciphers(1)) without the level of security, which follows from what is
    /// allowed. Ciphers of TLS 1.3 are the library's own.
    pub ciphers: &'static str,
    /// Groups of ECDHE and TLS 1.3, the preferred one first.
    pub groups: Vec<KeyExchange>,
    /// The prime of DHE.
    pub dh: Option<DhParameters>,
    /// Share of sessions that clients resume: the server gives tickets unless it is none.
    pub resumed: ResumedShare,
}

impl Handshakes {
    /// Nothing but that key exchange, with AES in GCM.
    ///
    /// # Errors
    /// When the version does not have it.
    pub fn of(version: TlsVersion, exchange: KeyExchange) -> Result<Self, Error> {
        let dh = exchange.dhe_bits().and_then(DhParameters::of);
        let ciphers = match (exchange, dh) {
            (KeyExchange::Rsa, _) => "kRSA+AESGCM",
            (_, Some(_)) => "kDHE+AESGCM+aRSA",
            (_, None) => "kECDHE+AESGCM",
        };
        let has_it = match version {
            TlsVersion::V1_2 => !exchange.is_hybrid(),
            TlsVersion::V1_3 => exchange.group().is_some(),
        };
        if !has_it {
            return Err(impossible(format!(
                "{version} does not have {exchange}; choose the other version with --tls, or omit --tls"
            )));
        }
        Ok(Self {
            exchange,
            versions: match version {
                TlsVersion::V1_2 => &[TlsVersion::V1_2],
                TlsVersion::V1_3 => &[TlsVersion::V1_3],
            },
            ciphers,
            groups: match exchange.group() {
                Some(_) => vec![exchange],
                None => vec![KeyExchange::X25519, KeyExchange::EcdheP256],
            },
            dh,
            resumed: ResumedShare::NONE,
        })
    }

    /// Usual offer of today's servers: both versions, ECDHE with AEAD ciphers.
    pub fn usual() -> Self {
        Self {
            exchange: KeyExchange::X25519,
            versions: &[TlsVersion::V1_2, TlsVersion::V1_3],
            ciphers: "ECDHE+AESGCM:ECDHE+CHACHA20",
            groups: vec![
                KeyExchange::X25519,
                KeyExchange::EcdheP256,
                KeyExchange::EcdheP384,
            ],
            dh: None,
            resumed: ResumedShare::NONE,
        }
    }

    /// Word of configurations and records on tickets.
    pub(crate) fn tickets(&self) -> &'static str {
        match self.resumed == ResumedShare::NONE {
            true => "off",
            false => "on",
        }
    }

    /// Returns whether that version is offered.
    pub fn has(&self, version: TlsVersion) -> bool {
        self.versions.contains(&version)
    }
}

/// Parameters of Diffie-Hellman by the length of their prime: as `openssl dhparam` generates them, once and for all that
/// measure, since that takes minutes for long ones. Exponents are as long as the prime. Groups that have a name (RFC 7919)
/// OpenSSL would know again, and take short exponents: seen with nginx on OpenSSL 3.0, 3.9 against 6.0 ms of the server's
/// processor for a handshake with 2048 bits and RSA-2048 (0.8 ms with RSA key exchange).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DhParameters {
    /// Length of the prime.
    pub bits: u16,
    /// The parameters in PEM.
    pub(crate) pem: &'static str,
}

impl DhParameters {
    fn of(bits: u16) -> Option<Self> {
        let pem = match bits {
            1024 => include_str!("dh-parameters/generated1024.pem"),
            2048 => include_str!("dh-parameters/generated2048.pem"),
            3072 => include_str!("dh-parameters/generated3072.pem"),
            4096 => include_str!("dh-parameters/generated4096.pem"),
            _ => return None,
        };
        Some(Self { bits, pem })
    }
}

/// Number of clients that are served at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Capacity {
    /// Processes of nginx and of Apache's MPMs with threads; processors of Caddy. prefork has a process per
    /// connection.
    pub processes: NonZeroU16,
    /// Connections at once.
    pub connections: NonZeroU16,
}

impl Default for Capacity {
    fn default() -> Self {
        Self {
            processes: NonZeroU16::MIN,
            connections: NonZeroU16::MIN.saturating_add(255),
        }
    }
}

/// Specification of a server. Caches of sessions are always off.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// Its certificates.
    pub certificates: Certificates,
    /// Its versions and key exchanges.
    pub handshakes: Handshakes,
    /// Certificate of the clients, whose authority they have to have; none where it asks for no certificate.
    pub client: Option<Identity>,
    /// Acceptance of keys and parameters with 80 bits of security, for which OpenSSL's level of security is lowered
    /// to 1.
    pub weak: Weak,
    /// Number of its clients.
    pub capacity: Capacity,
    /// Port on 127.0.0.1; none means a free one.
    pub port: Option<NonZeroU16>,
    /// Bytes of the file that it serves.
    pub body: u32,
}

impl ServerSpec {
    /// Creates a specification with these certificates and key exchanges, and everything else as usual.
    pub fn new(certificates: Certificates, handshakes: Handshakes) -> Self {
        Self {
            certificates,
            handshakes,
            client: None,
            weak: Weak::default(),
            capacity: Capacity::default(),
            port: None,
            body: 4096,
        }
    }

    /// Requires such certificates of its clients. With TLS 1.2 the groups are the curves of these certificates as well
    /// (RFC 8422 §5.1.1).
    pub fn requiring(mut self, client: Identity) -> Self {
        let curve = match client.algorithm.length() {
            ("nist", 256) => Some(KeyExchange::EcdheP256),
            ("nist", 384) => Some(KeyExchange::EcdheP384),
            _ => None,
        };
        let curve = curve.filter(|_| self.handshakes.has(TlsVersion::V1_2));
        let groups = &mut self.handshakes.groups;
        let missing = curve.filter(|curve| !groups.contains(curve));
        groups.extend(missing);
        self.client = Some(client);
        self
    }

    /// The certificate as its clients have it, if it asks for one.
    pub fn client_identity(&self) -> Option<ClientIdentity> {
        self.client.as_ref().and_then(Identity::client)
    }

    /// Algorithms of the keys of its certificates and its clients'.
    pub(crate) fn algorithms(&self) -> impl Iterator<Item = Algorithm> {
        let all = self.certificates.iter().chain(&self.client);
        all.map(|one| one.algorithm)
    }

    /// Names its parts with less than 112 bits of security.
    pub fn weaknesses(&self) -> Vec<String> {
        let keys = self
            .algorithms()
            .filter(|algorithm| is_weak(*algorithm))
            .map(|algorithm| algorithm.to_string());
        let dh = self.handshakes.dh.filter(|dh| dh.bits < 2048);
        let dh = dh.map(|dh| format!("DHE with {} bits", dh.bits));
        keys.chain(dh).collect()
    }

    /// Returns whether OpenSSL's level of security has to be 1 (80 bits, SSL_CTX_set_security_level(3)): RSA-1024 and
    /// DH-1024 are refused at 2, the level of distributions.
    pub(crate) fn is_weakened(&self) -> bool {
        self.weak == Weak::Allowed && !self.weaknesses().is_empty()
    }

    /// The cipher string as the server gets it.
    pub(crate) fn cipher_string(&self) -> String {
        let level = if self.is_weakened() {
            ":@SECLEVEL=1"
        } else {
            ""
        };
        format!("{}{level}", self.handshakes.ciphers)
    }
}

/// Returns whether a key has less than 112 bits of security (NIST SP 800-57 part 1, table 2).
pub(crate) fn is_weak(algorithm: Algorithm) -> bool {
    strength::of_key(algorithm).is_some_and(Strength::is_weak)
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;
    use openssl::bn::{BigNum, BigNumContext};
    use openssl::dh::Dh;

    use super::*;

    #[test]
    fn a_version_offers_what_it_has() {
        for (version, exchange) in [
            (TlsVersion::V1_3, KeyExchange::Rsa),
            (TlsVersion::V1_3, KeyExchange::Dhe2048),
            (TlsVersion::V1_2, KeyExchange::X25519MlKem768),
        ] {
            let error = Handshakes::of(version, exchange).unwrap_err().to_string();
            assert_says(&error, ["--tls"]);
        }
        for exchange in KeyExchange::ALL {
            let handshakes = Handshakes::of(exchange.usual_version(), *exchange).unwrap();
            let bits = handshakes.dh.map(|dh| dh.bits);
            assert_eq!(bits, exchange.dhe_bits());
        }
    }

    #[test]
    fn primes_are_safe_and_of_their_size() {
        let mut context = BigNumContext::new().unwrap();
        for length in [1024, 2048, 3072, 4096] {
            let DhParameters { bits, pem } = DhParameters::of(length).unwrap();
            let dh = Dh::params_from_pem(pem.as_bytes()).unwrap();
            let p = dh.prime_p();
            assert_eq!(p.num_bits(), i32::from(bits));
            let mut half = BigNum::new().unwrap();
            half.rshift1(p).unwrap();
            let mut is_prime = |number: &BigNum| number.is_prime(8, &mut context).unwrap();
            assert!(is_prime(&half), "{bits}");
            assert!(is_prime(&p.to_owned().unwrap()), "{bits}");
        }
    }
}
