//! TLS connections by OpenSSL, as it is built in.

use std::io;
use std::net::IpAddr;

use keymark_bench::Family;
use keymark_native::sessions::ClientContext;
use mio::net::TcpStream;
use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Public};
use openssl::ssl::{
    ErrorCode, ShutdownState, SslContextBuilder, SslMethod, SslMode, SslOptions,
    SslSessionCacheMode, SslStream, SslVerifyMode, SslVersion,
};

use crate::key_exchange::{KeyExchange, TlsVersion};

use super::{Checker, Seen, Weak};

use crate::error::LoadError;
use crate::failure::{Expectation, Failure, Phase};
use crate::probe::Shaken;
use crate::protocol::{Alert, CipherSuite};
use crate::resumption::{ResumedShare, ResumptionTurns};
use crate::target::{Certificate, ClientOffer};

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

/// Makes TLS connections, all alike but for resumed sessions.
#[derive(Debug)]
pub(crate) struct Connector {
    context: ClientContext,
    turns: ResumptionTurns,
    /// Name in `server_name`, which takes no address (RFC 6066 §3).
    name: Option<String>,
    wanted: Option<KeyExchange>,
}

impl Connector {
    pub(crate) fn new(
        server_name: &str,
        offer: &ClientOffer,
        weak: Weak,
    ) -> Result<Self, LoadError> {
        let cannot =
            |what: &str, error: &ErrorStack| LoadError::Unsupported(format!("{what} ({error})"));
        let mut builder = SslContextBuilder::new(SslMethod::tls_client())
            .map_err(|error| cannot("a context", &error))?;
        settle(&mut builder, weak, offer.resumed);
        if let Some(client) = &offer.client {
            builder
                .set_certificate(&client.certificate)
                .and_then(|()| builder.set_private_key(&client.key))
                .map_err(|error| cannot("the client's certificate", &error))?;
        }
        let version = offer.version.map(of_openssl);
        builder
            .set_min_proto_version(version)
            .and_then(|()| builder.set_max_proto_version(version))
            .map_err(|error| cannot("the version", &error))?;
        offer_ciphers(&mut builder, offer).map_err(|error| cannot("the cipher suite", &error))?;
        if let Some(groups) = groups(offer) {
            builder
                .set_groups_list(&groups)
                .map_err(|error| cannot(&format!("the group {groups}"), &error))?;
        }
        if let Some(signatures) = signatures(offer.certificate, weak)? {
            builder
                .set_sigalgs_list(signatures)
                .map_err(|error| cannot(&format!("the signatures {signatures}"), &error))?;
        }
        let is_address = server_name.parse::<IpAddr>().is_ok();
        Ok(Self {
            context: ClientContext::new(builder),
            turns: ResumptionTurns::of(offer.resumed),
            name: (!is_address).then(|| server_name.to_owned()),
            wanted: offer.key_exchange,
        })
    }

    /// A handshake to be made over a connected socket.
    pub(crate) fn open(&mut self, socket: TcpStream) -> Result<Session, Failure> {
        let is_turn = self.turns.is_next_resumed();
        let open = || {
            let resumed = is_turn.then(|| self.context.resumed());
            let resumed = resumed.transpose()?.flatten();
            let is_offered = resumed.is_some();
            let mut ssl = resumed.map_or_else(|| self.context.fresh(), Ok)?;
            if let Some(name) = &self.name {
                ssl.set_hostname(name)?;
            }
            Ok((SslStream::new(ssl, socket)?, is_offered))
        };
        let opened = open().map_err(|error: ErrorStack| Failure::Tls(error.to_string()));
        let (stream, is_offered) = opened?;
        self.turns.begin(is_offered);
        Ok(Session {
            stream,
            wanted: self.wanted,
        })
    }
}

fn settle(builder: &mut SslContextBuilder, weak: Weak, resumed: ResumedShare) {
    // The chain is nobody's concern; the handshake's own signature is verified all the same.
    builder.set_verify(SslVerifyMode::NONE);
    let mut cache = SslSessionCacheMode::CLIENT | SslSessionCacheMode::NO_INTERNAL;
    if resumed == ResumedShare::NONE {
        cache = SslSessionCacheMode::OFF;
        builder.set_options(SslOptions::NO_TICKET);
    }
    builder.set_session_cache_mode(cache);
    // Buffers are given back between records: a thousand connections wait most of the time.
    builder.set_mode(SslMode::RELEASE_BUFFERS);
    match weak {
        Weak::Refused => {}
        Weak::Allowed => builder.set_security_level(0),
    }
}

fn offer_ciphers(builder: &mut SslContextBuilder, offer: &ClientOffer) -> Result<(), ErrorStack> {
    if offer.version != Some(TlsVersion::V1_2) {
        builder.set_ciphersuites(SUITES)?;
    }
    if offer.version == Some(TlsVersion::V1_3) {
        return Ok(());
    }
    let signer = signer(offer.certificate);
    let list = match offer.key_exchange {
        None => format!("ALL{signer}"),
        Some(exchange) => {
            let exchange = match (exchange, exchange.group()) {
                (KeyExchange::Rsa, _) => "kRSA",
                (_, Some(_)) => "ECDHE",
                (_, None) => "DHE",
            };
            ["AESGCM", "CHACHA20", "AES"]
                .map(|cipher| format!("{exchange}+{cipher}{signer}"))
                .join(":")
        }
    };
    builder.set_cipher_list(&format!("{list}:!aNULL:!PSK:!SRP"))
}

/// Restriction of OpenSSL's cipher strings to suites for a certificate.
fn signer(certificate: Certificate) -> &'static str {
    let family = match certificate {
        Certificate::Key(algorithm) => algorithm.family(),
        Certificate::Rsa => return "+aRSA",
        Certificate::Curve => return "+aECDSA",
        Certificate::Pinned(_) | Certificate::Any => return "",
    };
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
fn groups(offer: &ClientOffer) -> Option<String> {
    let (version, exchange) = offer.version.zip(offer.key_exchange)?;
    let wanted = group(exchange, version)?;
    let list = curves_of_certificate(version, offer.certificate)
        .iter()
        .filter(|curve| **curve != exchange)
        .filter_map(|curve| group(*curve, version))
        .fold(wanted, |list, group| format!("{list}:{group}"));
    Some(list)
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
fn curves_of_certificate(version: TlsVersion, certificate: Certificate) -> &'static [KeyExchange] {
    const BOTH: &[KeyExchange] = &[KeyExchange::EcdheP256, KeyExchange::EcdheP384];
    match (version, certificate) {
        (TlsVersion::V1_3, _) | (TlsVersion::V1_2, Certificate::Rsa) => &[],
        (TlsVersion::V1_2, Certificate::Pinned(_) | Certificate::Curve | Certificate::Any) => BOTH,
        (TlsVersion::V1_2, Certificate::Key(algorithm)) => match algorithm.length() {
            ("nist", 256) => &[KeyExchange::EcdheP256],
            ("nist", 384) => &[KeyExchange::EcdheP384],
            ("nist", 521) => &[KeyExchange::EcdheP521],
            _ => &[],
        },
    }
}

/// Signature algorithms for keys other than RSA, by OpenSSL's names.
const SIGNATURES: &str = include_str!("../signatures.csv");
/// Signatures on every curve that servers have.
const CURVE: &str = "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:ed448";

/// Signature algorithms for a certificate; none where OpenSSL's own list is offered.
fn signatures(certificate: Certificate, weak: Weak) -> Result<Option<&'static str>, LoadError> {
    let algorithm = match certificate {
        Certificate::Key(algorithm) => algorithm,
        Certificate::Rsa => return Ok(Some(rsa_signatures(weak))),
        Certificate::Curve => return Ok(Some(CURVE)),
        Certificate::Pinned(_) | Certificate::Any => return Ok(None),
    };
    if let Family::Rsa(_) = algorithm.family() {
        return Ok(Some(rsa_signatures(weak)));
    }
    let name = algorithm.name();
    let mut rows = SIGNATURES.lines().filter_map(|line| line.split_once(','));
    let known = rows.find(|(known, _)| *known == name);
    let unknown = || LoadError::Unsupported(format!("certificates with {name}"));
    known
        .map(|(_, signatures)| Some(signatures))
        .ok_or_else(unknown)
}

const fn rsa_signatures(weak: Weak) -> &'static str {
    match weak {
        Weak::Refused => {
            "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512"
        }
        Weak::Allowed => {
            "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512:RSA+SHA1"
        }
    }
}

/// TLS connection over a socket that does not block. A blocked step is taken again when the socket is ready.
#[derive(Debug)]
pub(crate) struct Session {
    stream: SslStream<TcpStream>,
    wanted: Option<KeyExchange>,
}

impl Drop for Session {
    /// Keeps its session from being invalidated: the connection ends without the client's alert.
    fn drop(&mut self) {
        self.stream.set_shutdown(ShutdownState::SENT);
    }
}

impl Session {
    /// Returns whether the server has resumed a session.
    pub(crate) fn is_resumed(&self) -> bool {
        self.stream.ssl().session_reused()
    }

    fn exchange(&self, cipher: CipherSuite) -> Option<KeyExchange> {
        let key = self.stream.ssl().peer_tmp_key().ok();
        let group = key.and_then(|key| of_key(&key));
        match cipher.means() {
            // OpenSSL keeps no share of a KEM. One group was offered, and it refuses a share in another
            // (RFC 8446 §4.2.8).
            None => group.or(self.wanted),
            Some("RSA") => Some(KeyExchange::Rsa),
            // No group with a common secret, or with what no server has any more.
            Some(_) => group,
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
        checker.check(Seen {
            is_resumed: self.is_resumed(),
            version: self.version(),
            cipher: self.cipher(),
            key_exchange: self.key_exchange(),
            leaf: leaf.as_deref().unwrap_or_default(),
        })
    }

    fn cipher(&self) -> Option<CipherSuite> {
        let cipher = self.stream.ssl().current_cipher()?;
        cipher.standard_name().map(CipherSuite)
    }

    fn version(&self) -> Option<TlsVersion> {
        let version = self.stream.ssl().version2()?;
        let mut known = TlsVersion::ALL.iter().copied();
        known.find(|one| of_openssl(*one) == version)
    }

    fn key_exchange(&self) -> Option<KeyExchange> {
        self.cipher().and_then(|cipher| self.exchange(cipher))
    }

    /// The server's choice.
    pub(crate) fn shaken(&self) -> Shaken {
        let chain = self.stream.ssl().peer_cert_chain();
        let certificates = chain.into_iter().flatten();
        Shaken {
            version: self.version(),
            key_exchange: self.key_exchange(),
            cipher: self.cipher(),
            chain: certificates.filter_map(|one| one.to_der().ok()).collect(),
        }
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

const fn of_openssl(version: TlsVersion) -> SslVersion {
    match version {
        TlsVersion::V1_2 => SslVersion::TLS1_2,
        TlsVersion::V1_3 => SslVersion::TLS1_3,
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
