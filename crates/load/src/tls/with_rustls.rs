//! rustls with aws-lc-rs.

use std::io::{self, Read, Write};
use std::sync::Arc;

use keymark_bench::algorithm::Family;
use mio::net::TcpStream;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConnection, Resumption};
use rustls::crypto::aws_lc_rs::{self, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, HandshakeKind, NamedGroup,
    ProtocolVersion, SignatureAlgorithm, SignatureScheme, SupportedCipherSuite,
    SupportedProtocolVersion,
};

use super::{
    Checker, Connector, Engine, FAVOURITE, Handshake, Received, Seen, Session, Stop,
    curves_of_certificate,
};
use keymark_bench::case::{KeyExchange, TlsVersion};

use crate::error::Error;
use crate::failure::{Expectation, Failure, Phase};
use crate::protocol::{Alert, CipherSuite};
use crate::target::{Certificate, Expected, Target};

#[derive(Debug)]
struct Rustls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

pub(super) fn connector(target: &Target) -> Result<Box<dyn Connector>, Error> {
    let cannot = |what: String| Error::cannot(Engine::Rustls, what);
    let expected = &target.expected;
    let provider = Arc::new(provider(expected)?);
    let schemes = schemes(expected.certificate, &provider)?;
    let verifier = OfSignatures {
        algorithms: provider.signature_verification_algorithms,
        schemes,
    };
    let version: &[&SupportedProtocolVersion] = match expected.version {
        TlsVersion::V1_2 => &[&rustls::version::TLS12],
        TlsVersion::V1_3 => &[&rustls::version::TLS13],
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(version)
        .map_err(|error| cannot(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    let name = ServerName::try_from(target.server_name.clone());
    let name = name.map_err(|_| cannot(format!("the server name {:?}", target.server_name)))?;
    Ok(Box::new(Rustls {
        config: Arc::new(config),
        name,
    }))
}

/// Only what is expected is offered.
fn provider(expected: &Expected) -> Result<CryptoProvider, Error> {
    let cannot = |what: String| Error::cannot(Engine::Rustls, what);
    let wanted = expected.key_exchange;
    let group = group(wanted).ok_or_else(|| cannot(format!("the key exchange {wanted}")))?;
    let curves = curves_of_certificate(expected).iter();
    let curves = curves.filter(|curve| **curve != wanted);
    let mut provider = aws_lc_rs::default_provider();
    provider.kx_groups = vec![group];
    provider
        .kx_groups
        .extend(curves.filter_map(|curve| self::group(*curve)));
    let offered = |suite: &SupportedCipherSuite| {
        let number = CipherSuite(u16::from(suite.suite()));
        expected.cipher.is_none_or(|wanted| wanted == number)
            && number.version() == expected.version
            && signer(expected.certificate)
                .is_none_or(|signer| suite.usable_for_signature_algorithm(signer))
    };
    provider.cipher_suites.retain(offered);
    // The stable sort keeps rustls' order of the others.
    let number = |suite: &SupportedCipherSuite| CipherSuite(u16::from(suite.suite()));
    let favourite = |suite: &SupportedCipherSuite| number(suite) != FAVOURITE;
    provider.cipher_suites.sort_by_key(favourite);
    if provider.cipher_suites.is_empty() {
        let wanted = expected
            .cipher
            .map_or("any".to_owned(), |suite| suite.to_string());
        return Err(cannot(format!("the cipher suite {wanted} there")));
    }
    Ok(provider)
}

fn group(exchange: KeyExchange) -> Option<&'static dyn SupportedKxGroup> {
    match exchange {
        KeyExchange::EcdheP256 => Some(kx_group::SECP256R1),
        KeyExchange::EcdheP384 => Some(kx_group::SECP384R1),
        KeyExchange::X25519 => Some(kx_group::X25519),
        KeyExchange::X25519MlKem768 => Some(kx_group::X25519MLKEM768),
        KeyExchange::SecP256r1MlKem768 => Some(kx_group::SECP256R1MLKEM768),
        KeyExchange::Rsa
        | KeyExchange::Dhe1024
        | KeyExchange::Dhe2048
        | KeyExchange::Dhe3072
        | KeyExchange::Dhe4096
        | KeyExchange::EcdheP521
        | KeyExchange::X448
        | KeyExchange::SecP384r1MlKem1024 => None,
    }
}

/// The part of RFC 8446 §4.2.3 that a certificate of the expected kind signs with.
fn signer(certificate: Certificate) -> Option<SignatureAlgorithm> {
    match certificate {
        Certificate::Pinned(_) | Certificate::Any => None,
        Certificate::Key(algorithm) => match algorithm.family() {
            Family::Rsa(_) => Some(SignatureAlgorithm::RSA),
            Family::Weierstrass(_) => Some(SignatureAlgorithm::ECDSA),
            // RFC 8422 §5.10: Ed25519 certificates go with suites of ECDSA.
            Family::Ed25519 => Some(SignatureAlgorithm::ECDSA),
            Family::Dsa(_)
            | Family::Elgamal(_)
            | Family::Cv25519
            | Family::Cv448
            | Family::Ed448
            | Family::MlKem(_)
            | Family::MlDsa(_)
            | Family::SlhDsa(..)
            | Family::KyberComposite(_) => None,
        },
    }
}

fn schemes(
    certificate: Certificate,
    provider: &CryptoProvider,
) -> Result<Vec<SignatureScheme>, Error> {
    let mut schemes = provider
        .signature_verification_algorithms
        .supported_schemes();
    if let Certificate::Key(algorithm) = certificate {
        let family = algorithm.family();
        schemes.retain(|scheme| is_of(*scheme, family));
        if schemes.is_empty() {
            let what = format!("certificates with {}", algorithm.name());
            return Err(Error::cannot(Engine::Rustls, what));
        }
    }
    Ok(schemes)
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "schemes have no end, and Debug names them"
)]
fn is_of(scheme: SignatureScheme, family: Family) -> bool {
    match scheme {
        SignatureScheme::ED25519 => family == Family::Ed25519,
        SignatureScheme::ECDSA_NISTP256_SHA256
        | SignatureScheme::ECDSA_NISTP384_SHA384
        | SignatureScheme::ECDSA_NISTP521_SHA512 => matches!(family, Family::Weierstrass(_)),
        SignatureScheme::RSA_PKCS1_SHA256
        | SignatureScheme::RSA_PKCS1_SHA384
        | SignatureScheme::RSA_PKCS1_SHA512
        | SignatureScheme::RSA_PSS_SHA256
        | SignatureScheme::RSA_PSS_SHA384
        | SignatureScheme::RSA_PSS_SHA512 => matches!(family, Family::Rsa(_)),
        _ => false,
    }
}

/// Verifies that the server has the key of the certificate that it shows; which certificate that is, is compared
/// afterwards ([`Checker`]), and nobody vouches for it.
#[derive(Debug)]
struct OfSignatures {
    algorithms: WebPkiSupportedAlgorithms,
    schemes: Vec<SignatureScheme>,
}

impl ServerCertVerifier for OfSignatures {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

impl Connector for Rustls {
    fn open(&self, socket: TcpStream) -> Result<Box<dyn Session>, Failure> {
        let connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map_err(|error| Failure::Tls(error.to_string()))?;
        Ok(Box::new(OfRustls {
            connection,
            socket,
            sending: Sending::Nothing,
        }))
    }
}

/// Whether the bytes of [`Session::send`] are with rustls already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sending {
    Nothing,
    Buffered,
}

#[derive(Debug)]
struct OfRustls {
    connection: ClientConnection,
    socket: TcpStream,
    sending: Sending,
}

impl OfRustls {
    fn flush(&mut self, phase: Phase) -> Result<(), Stop> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) => return Err(stop(&error, phase)),
            }
        }
        Ok(())
    }

    /// Reads once and works on it; the number of bytes, none at the end.
    fn pull(&mut self, phase: Phase) -> Result<usize, Stop> {
        let read = match self.connection.read_tls(&mut self.socket) {
            Ok(read) => read,
            Err(error) => return Err(stop(&error, phase)),
        };
        if let Err(error) = self.connection.process_new_packets() {
            // The alert that says why; nobody may be there to read it.
            let _ = self.connection.write_tls(&mut self.socket);
            return Err(of_rustls(&error).into());
        }
        Ok(read)
    }
}

impl Session for OfRustls {
    fn handshake(&mut self) -> Result<(), Stop> {
        while self.connection.is_handshaking() {
            self.flush(Phase::Handshake)?;
            if self.connection.wants_read() && self.pull(Phase::Handshake)? == 0 {
                return Err(Failure::Closed(Phase::Handshake).into());
            }
        }
        Ok(())
    }

    fn show(&self, checker: &mut Checker) -> Result<(), Failure> {
        let connection = &self.connection;
        let handshake = match connection.handshake_kind() {
            Some(HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest) => Handshake::Full,
            Some(HandshakeKind::Resumed) | None => Handshake::Resumed,
        };
        let leaf = connection.peer_certificates().and_then(<[_]>::first);
        let suite = connection.negotiated_cipher_suite();
        let group = connection.negotiated_key_exchange_group();
        checker.check(Seen {
            handshake,
            version: connection.protocol_version().and_then(version),
            cipher: suite.map(|suite| CipherSuite(u16::from(suite.suite()))),
            key_exchange: group.and_then(|group| exchange(group.name())),
            leaf: leaf.map_or(&[], |leaf| leaf.as_ref()),
        })
    }

    fn chain(&self) -> Vec<Vec<u8>> {
        let certificates = self.connection.peer_certificates().unwrap_or_default();
        certificates.iter().map(|one| one.to_vec()).collect()
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        if self.sending == Sending::Nothing {
            self.connection
                .writer()
                .write_all(bytes)
                .map_err(|error| Failure::Tls(error.to_string()))?;
            self.sending = Sending::Buffered;
        }
        self.flush(Phase::FirstByte)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, Stop> {
        loop {
            match self.connection.reader().read(buffer) {
                Ok(0) => return Ok(Received::End),
                Ok(read) => return Ok(Received::Bytes(read)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(stop(&error, Phase::Whole)),
            }
            self.pull(Phase::Whole)?;
        }
    }
}

fn stop(error: &io::Error, phase: Phase) -> Stop {
    if error.kind() == io::ErrorKind::WouldBlock {
        Stop::Blocked
    } else {
        Stop::Failed(Failure::of_socket(error, phase))
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the errors of rustls have no end"
)]
fn of_rustls(error: &rustls::Error) -> Failure {
    match error {
        rustls::Error::AlertReceived(alert) => Failure::Alert(Alert(u8::from(*alert))),
        rustls::Error::InvalidCertificate(CertificateError::BadSignature) => {
            Failure::Unexpected(Expectation::Signature)
        }
        other => Failure::Tls(other.to_string()),
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "others are never offered")]
const fn version(version: ProtocolVersion) -> Option<TlsVersion> {
    match version {
        ProtocolVersion::TLSv1_2 => Some(TlsVersion::V1_2),
        ProtocolVersion::TLSv1_3 => Some(TlsVersion::V1_3),
        _ => None,
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "others are never offered")]
fn exchange(group: NamedGroup) -> Option<KeyExchange> {
    match group {
        NamedGroup::secp256r1 => Some(KeyExchange::EcdheP256),
        NamedGroup::secp384r1 => Some(KeyExchange::EcdheP384),
        NamedGroup::X25519 => Some(KeyExchange::X25519),
        NamedGroup::X25519MLKEM768 => Some(KeyExchange::X25519MlKem768),
        NamedGroup::secp256r1MLKEM768 => Some(KeyExchange::SecP256r1MlKem768),
        _ => None,
    }
}
