//! TLS connections by OpenSSL, as it is built in.

use std::io;
use std::net::IpAddr;

use keymark_bench::{Algorithm, Curve, Family};
use mio::net::TcpStream;
use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Public};
use openssl::ssl::{
    ErrorCode, Ssl, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions,
    SslSessionCacheMode, SslStream, SslVerifyMode, SslVersion,
};

use crate::key_exchange::{KeyExchange, TlsVersion};

use super::{Checker, Seen, Weak};

use crate::error::Error;
use crate::failure::{Expectation, Failure, Phase};
use crate::protocol::{Alert, CipherSuite, SuiteExchange};
use crate::target::{Certificate, Expected, Target};

/// `SSL_AD_REASON_OFFSET` of ssl.h: an alert that came in is a reason above it.
const ALERTS: i32 = 1000;
/// `SSL_R_UNEXPECTED_EOF_WHILE_READING` of sslerr.h.
const UNEXPECTED_EOF: i32 = 294;
/// `SSL_R_BAD_SIGNATURE` of sslerr.h.
const BAD_SIGNATURE: i32 = 123;
/// `ERR_LIB_SSL` of err.h.
const LIBRARY_SSL: i32 = 20;

/// The suites of TLS 1.3, in the order of browsers: servers that follow the client's order then do the same work for all
/// clients.
const SUITES: &str = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

/// Why a step of a session did not end.
#[derive(Debug, PartialEq, Eq, derive_more::From)]
pub(crate) enum Stop {
    /// The socket would block.
    Blocked,
    /// There is nothing to wait for.
    Failed(Failure),
}

/// Makes TLS connections, all alike.
#[derive(Debug)]
pub(crate) struct Connector {
    context: SslContext,
    /// For `server_name`, which takes no address (RFC 6066 §3).
    name: Option<String>,
    wanted: KeyExchange,
}

impl Connector {
    pub(crate) fn new(target: &Target, weak: Weak) -> Result<Self, Error> {
        let cannot =
            |what: &str, error: &ErrorStack| Error::Unsupported(format!("{what} ({error})"));
        let expected = &target.expected;
        let mut builder = SslContextBuilder::new(SslMethod::tls_client())
            .map_err(|error| cannot("a context", &error))?;
        settle(&mut builder, weak);
        let version = match expected.version {
            TlsVersion::V1_2 => SslVersion::TLS1_2,
            TlsVersion::V1_3 => SslVersion::TLS1_3,
        };
        builder
            .set_min_proto_version(Some(version))
            .and_then(|()| builder.set_max_proto_version(Some(version)))
            .map_err(|error| cannot("the version", &error))?;
        offer_ciphers(&mut builder, expected)
            .map_err(|error| cannot("the cipher suite", &error))?;
        if let Some(groups) = groups(expected) {
            builder
                .set_groups_list(&groups)
                .map_err(|error| cannot(&format!("the group {groups}"), &error))?;
        }
        if let Certificate::Key(algorithm) = expected.certificate {
            let what = || format!("certificates with {}", algorithm.name());
            let signatures = signatures(algorithm, weak);
            let signatures = signatures.ok_or_else(|| Error::Unsupported(what()))?;
            builder
                .set_sigalgs_list(signatures)
                .map_err(|error| cannot(&what(), &error))?;
        }
        let is_address = target.server_name.parse::<IpAddr>().is_ok();
        Ok(Self {
            context: builder.build(),
            name: (!is_address).then(|| target.server_name.clone()),
            wanted: expected.key_exchange,
        })
    }

    /// A handshake to be made over a connected socket.
    pub(crate) fn open(&self, socket: TcpStream) -> Result<Session, Failure> {
        let open = || {
            let mut ssl = Ssl::new(&self.context)?;
            if let Some(name) = &self.name {
                ssl.set_hostname(name)?;
            }
            SslStream::new(ssl, socket)
        };
        let stream = open().map_err(|error| Failure::Tls(error.to_string()))?;
        Ok(Session {
            stream,
            wanted: self.wanted,
        })
    }
}

fn settle(builder: &mut SslContextBuilder, weak: Weak) {
    // The chain is nobody's concern; the handshake's own signature is verified all the same.
    builder.set_verify(SslVerifyMode::NONE);
    builder.set_session_cache_mode(SslSessionCacheMode::OFF);
    builder.set_options(SslOptions::NO_TICKET);
    // Buffers are given back between records: a thousand connections wait most of the time.
    builder.set_mode(SslMode::RELEASE_BUFFERS);
    match weak {
        Weak::Refused => {}
        Weak::Allowed => builder.set_security_level(0),
    }
}

fn offer_ciphers(builder: &mut SslContextBuilder, expected: &Expected) -> Result<(), ErrorStack> {
    match expected.version {
        TlsVersion::V1_3 => builder.set_ciphersuites(SUITES),
        TlsVersion::V1_2 => {
            let exchange = match (expected.key_exchange, expected.key_exchange.group()) {
                (KeyExchange::Rsa, _) => "kRSA",
                (_, Some(_)) => "ECDHE",
                (_, None) => "DHE",
            };
            let signer = signer(expected.certificate);
            let list = ["AESGCM", "CHACHA20", "AES"]
                .map(|cipher| format!("{exchange}+{cipher}{signer}"))
                .join(":");
            builder.set_cipher_list(&format!("{list}:!aNULL:!PSK:!SRP"))
        }
    }
}

/// In OpenSSL's cipher strings: which certificates go with the suites.
fn signer(certificate: Certificate) -> &'static str {
    let Certificate::Key(algorithm) = certificate else {
        return "";
    };
    let family = algorithm.family();
    if matches!(family, Family::Rsa(_)) {
        "+aRSA"
    } else if matches!(
        family,
        Family::Weierstrass(_) | Family::Ed25519 | Family::Ed448
    ) {
        "+aECDSA"
    } else if matches!(family, Family::Dsa(_)) {
        "+aDSS"
    } else {
        ""
    }
}

/// The groups to offer; `None` where they have no part in it.
fn groups(expected: &Expected) -> Option<String> {
    let wanted = group(expected.key_exchange, expected.version)?;
    let curves = curves_of_certificate(expected).iter();
    let curves = curves.filter(|curve| **curve != expected.key_exchange);
    let all = curves.filter_map(|curve| group(*curve, expected.version));
    Some(all.fold(wanted, |list, group| format!("{list}:{group}")))
}

fn group(exchange: KeyExchange, version: TlsVersion) -> Option<String> {
    match (exchange.dhe_bits(), version) {
        // The server's own parameters, not a group (RFC 5246 §7.4.3).
        (Some(_), TlsVersion::V1_2) => None,
        (Some(bits), TlsVersion::V1_3) => Some(format!("ffdhe{bits}")),
        (None, _) => exchange.group().map(str::to_owned),
    }
}

/// The curves that a TLS 1.2 client offers besides the group it wants: there the list of groups is that of the
/// certificate's curves as well (RFC 8422 §5.1.1), and a server with a P-256 certificate would refuse a client that has
/// X25519 alone. Which group was used is checked.
fn curves_of_certificate(expected: &Expected) -> &'static [KeyExchange] {
    const BOTH: &[KeyExchange] = &[KeyExchange::EcdheP256, KeyExchange::EcdheP384];
    match (expected.version, expected.certificate) {
        (TlsVersion::V1_3, _) => &[],
        (TlsVersion::V1_2, Certificate::Pinned(_) | Certificate::Any) => BOTH,
        (TlsVersion::V1_2, Certificate::Key(algorithm)) => match algorithm.length() {
            ("nist", 256) => &[KeyExchange::EcdheP256],
            ("nist", 384) => &[KeyExchange::EcdheP384],
            ("nist", 521) => &[KeyExchange::EcdheP521],
            _ => &[],
        },
    }
}

/// Of a key that is not RSA, as OpenSSL calls it.
const SIGNATURES: [(Family, &str); 11] = [
    (Family::Weierstrass(Curve::NistP256), ECDSA),
    (Family::Weierstrass(Curve::NistP384), ECDSA),
    (Family::Weierstrass(Curve::NistP521), ECDSA),
    (
        Family::Weierstrass(Curve::BrainpoolP256r1),
        "ecdsa_brainpoolP256r1tls13_sha256",
    ),
    (
        Family::Weierstrass(Curve::BrainpoolP384r1),
        "ecdsa_brainpoolP384r1tls13_sha384",
    ),
    (
        Family::Weierstrass(Curve::BrainpoolP512r1),
        "ecdsa_brainpoolP512r1tls13_sha512",
    ),
    (Family::Ed25519, "ed25519"),
    (Family::Ed448, "ed448"),
    (Family::MlDsa(44), "mldsa44"),
    (Family::MlDsa(65), "mldsa65"),
    (Family::MlDsa(87), "mldsa87"),
];
const ECDSA: &str = "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512";

fn signatures(algorithm: Algorithm, weak: Weak) -> Option<&'static str> {
    if let Family::Rsa(_) = algorithm.family() {
        return Some(match weak {
            Weak::Refused => {
                "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512"
            }
            Weak::Allowed => "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA+SHA256:RSA+SHA384:RSA+SHA1",
        });
    }
    let known = SIGNATURES
        .iter()
        .find(|(family, _)| *family == algorithm.family());
    known.map(|(_, signatures)| *signatures)
}

/// One TLS connection over a socket that does not block. A step that was blocked is taken again when the socket is
/// ready.
#[derive(Debug)]
pub(crate) struct Session {
    stream: SslStream<TcpStream>,
    wanted: KeyExchange,
}

impl Session {
    fn exchange(&self, cipher: CipherSuite) -> Option<KeyExchange> {
        let group = || self.stream.ssl().peer_tmp_key().ok();
        match cipher.exchange() {
            SuiteExchange::Other => None,
            SuiteExchange::Rsa => Some(KeyExchange::Rsa),
            SuiteExchange::Dhe | SuiteExchange::Ecdhe => of_key(&group()?),
            // OpenSSL keeps no share of a KEM. One group was offered, and it refuses a share in another
            // (RFC 8446 §4.2.8).
            SuiteExchange::Apart => {
                Some(group().and_then(|key| of_key(&key)).unwrap_or(self.wanted))
            }
        }
    }

    /// Goes on with the handshake. The client's last flight may go out with what is sent first.
    pub(crate) fn handshake(&mut self) -> Result<(), Stop> {
        self.stream
            .connect()
            .map_err(|error| stop(&error, Phase::Handshake))
    }

    /// Shows the handshake, which has ended, to who checks it.
    pub(crate) fn show(&self, checker: &mut Checker) -> Result<(), Failure> {
        let ssl = self.stream.ssl();
        let leaf = ssl.peer_certificate().and_then(|leaf| leaf.to_der().ok());
        let cipher = ssl.current_cipher();
        let cipher = cipher.and_then(|cipher| cipher.standard_name().map(CipherSuite));
        checker.check(Seen {
            is_resumed: ssl.session_reused(),
            version: ssl.version2().and_then(version),
            cipher,
            key_exchange: cipher.and_then(|cipher| self.exchange(cipher)),
            leaf: leaf.as_deref().unwrap_or_default(),
        })
    }

    /// The certificates that the server sent, in DER, its own first.
    pub(crate) fn chain(&self) -> Vec<Vec<u8>> {
        let chain = self.stream.ssl().peer_cert_chain();
        let certificates = chain.into_iter().flatten();
        certificates.filter_map(|one| one.to_der().ok()).collect()
    }

    /// Sends all of `bytes`; after a block the same bytes are handed in again, from the start.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        // Without partial writes all is written or nothing is.
        let written = self.stream.ssl_write(bytes);
        written
            .map(drop)
            .map_err(|error| stop(&error, Phase::FirstByte))
    }

    /// Receives some bytes of the answer; none when the peer has said that this was all.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, Stop> {
        match self.stream.ssl_read(buffer) {
            Err(error) if error.code() == ErrorCode::ZERO_RETURN => Ok(0),
            read => read.map_err(|error| stop(&error, Phase::Whole)),
        }
    }
}

fn of_key(key: &PKey<Public>) -> Option<KeyExchange> {
    match key.id() {
        Id::DH => u16::try_from(key.bits()).ok().and_then(KeyExchange::dhe),
        Id::X25519 => Some(KeyExchange::X25519),
        Id::X448 => Some(KeyExchange::X448),
        Id::EC => match key.ec_key().ok()?.group().curve_name()? {
            Nid::X9_62_PRIME256V1 => Some(KeyExchange::EcdheP256),
            Nid::SECP384R1 => Some(KeyExchange::EcdheP384),
            Nid::SECP521R1 => Some(KeyExchange::EcdheP521),
            _ => None,
        },
        _ => None,
    }
}

fn version(version: SslVersion) -> Option<TlsVersion> {
    if version == SslVersion::TLS1_2 {
        Some(TlsVersion::V1_2)
    } else if version == SslVersion::TLS1_3 {
        Some(TlsVersion::V1_3)
    } else {
        None
    }
}

fn stop(error: &openssl::ssl::Error, phase: Phase) -> Stop {
    match error.code() {
        ErrorCode::WANT_READ | ErrorCode::WANT_WRITE => return Stop::Blocked,
        ErrorCode::ZERO_RETURN => return Failure::Closed(phase).into(),
        _ => {}
    }
    if let Some(error) = error.io_error() {
        return Failure::of_socket(error, phase).into();
    }
    let Some(stack) = error.ssl_error() else {
        return Failure::of_socket(&io::ErrorKind::UnexpectedEof.into(), phase).into();
    };
    Stop::Failed(of_stack(stack, phase))
}

fn of_stack(stack: &ErrorStack, phase: Phase) -> Failure {
    let of_tls = stack.errors().iter();
    for error in of_tls.filter(|error| error.library_code() == LIBRARY_SSL) {
        let reason = error.reason_code();
        if let Some(alert) = reason
            .checked_sub(ALERTS)
            .and_then(|alert| u8::try_from(alert).ok())
        {
            return Failure::Alert(Alert(alert));
        }
        if reason == UNEXPECTED_EOF {
            return Failure::Closed(phase);
        }
        if reason == BAD_SIGNATURE {
            return Failure::Unexpected(Expectation::Signature);
        }
    }
    let last = stack
        .errors()
        .last()
        .and_then(openssl::error::Error::reason);
    Failure::Tls(last.unwrap_or("no reason given").to_owned())
}
