//! OpenSSL, as it is built in.

use std::io;
use std::net::IpAddr;

use keymark_bench::algorithm::{Algorithm, Curve, Family};
use mio::net::TcpStream;
use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Public};
use openssl::ssl::{
    ErrorCode, Ssl, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions,
    SslSessionCacheMode, SslStream, SslVerifyMode, SslVersion, cipher_name,
};

use super::{
    Checker, Connector, Engine, FAVOURITE, Handshake, Received, Seen, Session, Stop, WeakSizes,
    curves_of_certificate,
};
use keymark_bench::case::{KeyExchange, TlsVersion};

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

#[derive(Debug)]
struct OpenSsl {
    context: SslContext,
    /// For `server_name`, which takes no address (RFC 6066 §3).
    name: Option<String>,
    wanted: KeyExchange,
}

pub(super) fn connector(target: &Target, weak: WeakSizes) -> Result<Box<dyn Connector>, Error> {
    let cannot = |what: &str, error: &ErrorStack| {
        Error::cannot(Engine::OpenSsl, format!("{what} ({error})"))
    };
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
    offer_ciphers(&mut builder, expected).map_err(|error| cannot("the cipher suite", &error))?;
    if let Some(groups) = groups(expected) {
        builder
            .set_groups_list(&groups)
            .map_err(|error| cannot(&format!("the group {groups}"), &error))?;
    }
    if let Certificate::Key(algorithm) = expected.certificate {
        let what = || format!("certificates with {}", algorithm.name());
        let signatures = signatures(algorithm, weak);
        let signatures = signatures.ok_or_else(|| Error::cannot(Engine::OpenSsl, what()))?;
        builder
            .set_sigalgs_list(signatures)
            .map_err(|error| cannot(&what(), &error))?;
    }
    let is_address = target.server_name.parse::<IpAddr>().is_ok();
    Ok(Box::new(OpenSsl {
        context: builder.build(),
        name: (!is_address).then(|| target.server_name.clone()),
        wanted: expected.key_exchange,
    }))
}

fn settle(builder: &mut SslContextBuilder, weak: WeakSizes) {
    // The chain is nobody's concern; the handshake's own signature is verified all the same.
    builder.set_verify(SslVerifyMode::NONE);
    builder.set_session_cache_mode(SslSessionCacheMode::OFF);
    builder.set_options(SslOptions::NO_TICKET);
    // Buffers are given back between records: a thousand connections wait most of the time.
    builder.set_mode(SslMode::RELEASE_BUFFERS);
    match weak {
        WeakSizes::Refused => {}
        WeakSizes::Allowed => builder.set_security_level(0),
    }
}

fn offer_ciphers(builder: &mut SslContextBuilder, expected: &Expected) -> Result<(), ErrorStack> {
    let iana = expected.cipher.and_then(CipherSuite::name);
    match expected.version {
        TlsVersion::V1_3 => {
            let others = [0x1302, 0x1303].map(CipherSuite).into_iter();
            let all = std::iter::once(FAVOURITE).chain(others);
            let all: Vec<_> = all.filter_map(CipherSuite::name).collect();
            builder.set_ciphersuites(&iana.map_or_else(|| all.join(":"), str::to_owned))
        }
        TlsVersion::V1_2 => match iana {
            Some(name) => builder.set_cipher_list(cipher_name(name)),
            None => {
                let exchange = match expected.key_exchange {
                    KeyExchange::Rsa => "kRSA",
                    KeyExchange::Dhe1024
                    | KeyExchange::Dhe2048
                    | KeyExchange::Dhe3072
                    | KeyExchange::Dhe4096 => "DHE",
                    KeyExchange::EcdheP256
                    | KeyExchange::EcdheP384
                    | KeyExchange::EcdheP521
                    | KeyExchange::X25519
                    | KeyExchange::X448
                    | KeyExchange::X25519MlKem768
                    | KeyExchange::SecP256r1MlKem768
                    | KeyExchange::SecP384r1MlKem1024 => "ECDHE",
                };
                let signer = signer(expected.certificate);
                let list = ["AESGCM", "CHACHA20", "AES"]
                    .map(|cipher| format!("{exchange}+{cipher}{signer}"))
                    .join(":");
                builder.set_cipher_list(&format!("{list}:!aNULL:!PSK:!SRP"))
            }
        },
    }
}

/// In OpenSSL's cipher strings: which certificates go with the suites.
fn signer(certificate: Certificate) -> &'static str {
    match certificate {
        Certificate::Pinned(_) | Certificate::Any => "",
        Certificate::Key(algorithm) => match algorithm.family() {
            Family::Rsa(_) => "+aRSA",
            Family::Weierstrass(_) | Family::Ed25519 | Family::Ed448 => "+aECDSA",
            Family::Dsa(_) => "+aDSS",
            Family::Elgamal(_)
            | Family::Cv25519
            | Family::Cv448
            | Family::MlKem(_)
            | Family::MlDsa(_)
            | Family::SlhDsa(..)
            | Family::KyberComposite(_) => "",
        },
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
    if let Some(bits) = exchange.dhe_bits() {
        // TLS 1.2: the server's own parameters, not a group (RFC 5246 §7.4.3).
        return match version {
            TlsVersion::V1_2 => None,
            TlsVersion::V1_3 => Some(format!("ffdhe{bits}")),
        };
    }
    let name = match exchange {
        KeyExchange::Rsa
        | KeyExchange::Dhe1024
        | KeyExchange::Dhe2048
        | KeyExchange::Dhe3072
        | KeyExchange::Dhe4096 => return None,
        KeyExchange::EcdheP256 => "P-256",
        KeyExchange::EcdheP384 => "P-384",
        KeyExchange::EcdheP521 => "P-521",
        KeyExchange::X25519 => "X25519",
        KeyExchange::X448 => "X448",
        KeyExchange::X25519MlKem768 => "X25519MLKEM768",
        KeyExchange::SecP256r1MlKem768 => "SecP256r1MLKEM768",
        KeyExchange::SecP384r1MlKem1024 => "SecP384r1MLKEM1024",
    };
    Some(name.to_owned())
}

fn signatures(algorithm: Algorithm, weak: WeakSizes) -> Option<&'static str> {
    match algorithm.family() {
        Family::Rsa(_) => Some(match weak {
            WeakSizes::Refused => {
                "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512"
            }
            WeakSizes::Allowed => "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA+SHA256:RSA+SHA384:RSA+SHA1",
        }),
        Family::Weierstrass(Curve::NistP256 | Curve::NistP384 | Curve::NistP521) => {
            Some("ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512")
        }
        Family::Weierstrass(Curve::BrainpoolP256r1) => Some("ecdsa_brainpoolP256r1tls13_sha256"),
        Family::Weierstrass(Curve::BrainpoolP384r1) => Some("ecdsa_brainpoolP384r1tls13_sha384"),
        Family::Weierstrass(Curve::BrainpoolP512r1) => Some("ecdsa_brainpoolP512r1tls13_sha512"),
        Family::Ed25519 => Some("ed25519"),
        Family::Ed448 => Some("ed448"),
        Family::MlDsa(44) => Some("mldsa44"),
        Family::MlDsa(65) => Some("mldsa65"),
        Family::MlDsa(87) => Some("mldsa87"),
        Family::Weierstrass(Curve::Secp256k1)
        | Family::Dsa(_)
        | Family::Elgamal(_)
        | Family::Cv25519
        | Family::Cv448
        | Family::MlKem(_)
        | Family::MlDsa(_)
        | Family::SlhDsa(..)
        | Family::KyberComposite(_) => None,
    }
}

impl Connector for OpenSsl {
    fn open(&self, socket: TcpStream) -> Result<Box<dyn Session>, Failure> {
        let open = || {
            let mut ssl = Ssl::new(&self.context)?;
            if let Some(name) = &self.name {
                ssl.set_hostname(name)?;
            }
            SslStream::new(ssl, socket)
        };
        let stream = open().map_err(|error| Failure::Tls(error.to_string()))?;
        Ok(Box::new(OfOpenSsl {
            stream,
            wanted: self.wanted,
        }))
    }
}

#[derive(Debug)]
struct OfOpenSsl {
    stream: SslStream<TcpStream>,
    wanted: KeyExchange,
}

impl OfOpenSsl {
    fn exchange(&self, cipher: CipherSuite) -> Option<KeyExchange> {
        let group = || self.stream.ssl().peer_tmp_key().ok();
        match cipher.exchange()? {
            SuiteExchange::Rsa => Some(KeyExchange::Rsa),
            SuiteExchange::Dhe | SuiteExchange::Ecdhe => of_key(&group()?),
            // OpenSSL keeps no share of a KEM. One group was offered, and it refuses a share in another
            // (RFC 8446 §4.2.8).
            SuiteExchange::Apart => {
                Some(group().and_then(|key| of_key(&key)).unwrap_or(self.wanted))
            }
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

impl Session for OfOpenSsl {
    fn handshake(&mut self) -> Result<(), Stop> {
        self.stream
            .connect()
            .map_err(|error| stop(&error, Phase::Handshake))
    }

    fn show(&self, checker: &mut Checker) -> Result<(), Failure> {
        let ssl = self.stream.ssl();
        let leaf = ssl.peer_certificate().and_then(|leaf| leaf.to_der().ok());
        let cipher = ssl.current_cipher();
        let cipher = cipher.map(|cipher| CipherSuite(u16::from_be_bytes(cipher.protocol_id())));
        checker.check(Seen {
            handshake: if ssl.session_reused() {
                Handshake::Resumed
            } else {
                Handshake::Full
            },
            version: ssl.version2().and_then(version),
            cipher,
            key_exchange: cipher.and_then(|cipher| self.exchange(cipher)),
            leaf: leaf.as_deref().unwrap_or_default(),
        })
    }

    fn chain(&self) -> Vec<Vec<u8>> {
        let chain = self.stream.ssl().peer_cert_chain();
        let certificates = chain.into_iter().flatten();
        certificates.filter_map(|one| one.to_der().ok()).collect()
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        // Without partial writes all is written or nothing is.
        let written = self.stream.ssl_write(bytes);
        written
            .map(drop)
            .map_err(|error| stop(&error, Phase::FirstByte))
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, Stop> {
        match self.stream.ssl_read(buffer) {
            Ok(read) => Ok(Received::Bytes(read)),
            Err(error) if error.code() == ErrorCode::ZERO_RETURN => Ok(Received::End),
            Err(error) => Err(stop(&error, Phase::Whole)),
        }
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
