//! Servers for the tests: OpenSSL's, in a thread.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use keymark_bench::Load;
use keymark_bench::clock::MonotonicClock;
use keymark_load::{
    Certificate, Expected, Failure, Fingerprint, KeyExchange, LoadSettings, Measurement,
    ResumedShare, Target, TlsVersion, run,
};
use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::rsa::{Rsa, RsaPrivateKeyBuilder};
use openssl::ssl::{Ssl, SslContext, SslContextBuilder, SslMethod, SslSessionCacheMode, SslStream};
use openssl::x509::extension::SubjectAlternativeName;
use openssl::x509::{X509, X509NameBuilder};

pub const BODY: &str = "a body of some bytes";

pub fn p256() -> PKey<Private> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap()
}

pub fn rsa(bits: u32) -> PKey<Private> {
    PKey::from_rsa(Rsa::generate(bits).unwrap()).unwrap()
}

/// A key that passes for the first one, and signs with the other one's private half.
pub fn with_the_private_half_of(key: &PKey<Private>, other: &PKey<Private>) -> PKey<Private> {
    if let (Ok(rsa), Ok(other)) = (key.rsa(), other.rsa()) {
        let own = |number: &openssl::bn::BigNumRef| number.to_owned().unwrap();
        let mixed = RsaPrivateKeyBuilder::new(own(rsa.n()), own(rsa.e()), own(other.d()));
        return PKey::from_rsa(mixed.unwrap().build()).unwrap();
    }
    let (ec, other) = (key.ec_key().unwrap(), other.ec_key().unwrap());
    let mixed = EcKey::from_private_components(ec.group(), other.private_key(), ec.public_key());
    PKey::from_ec_key(mixed.unwrap()).unwrap()
}

/// A certificate for the key, by an authority that nobody asks about.
pub fn certificate(key: &PKey<Private>) -> X509 {
    let mut name = X509NameBuilder::new().unwrap();
    name.append_entry_by_text("CN", "localhost").unwrap();
    let name = name.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    let serial = BigNum::from_u32(7).unwrap().to_asn1_integer().unwrap();
    builder.set_serial_number(&serial).unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(&name).unwrap();
    builder.set_pubkey(key).unwrap();
    let (from, to) = (Asn1Time::days_from_now(0), Asn1Time::days_from_now(2));
    builder.set_not_before(&from.unwrap()).unwrap();
    builder.set_not_after(&to.unwrap()).unwrap();
    let mut names = SubjectAlternativeName::new();
    let names = names
        .dns("localhost")
        .build(&builder.x509v3_context(None, None));
    builder.append_extension(names.unwrap()).unwrap();
    let classic = key.rsa().is_ok() || key.ec_key().is_ok();
    let digest = if classic {
        MessageDigest::sha256()
    } else {
        MessageDigest::null()
    };
    builder.sign(key, digest).unwrap();
    builder.build()
}

/// Behavior of a server.
#[derive(Debug, Clone, Copy)]
pub enum Behaviour {
    /// Right answers, with tickets and a cache of sessions.
    Serve,
    /// Right answers after this time, one connection at a time.
    Slow(Duration),
    /// The first connection after this time, one at a time.
    StallOnce(Duration),
    /// No answer.
    Mute,
    /// A reset after the first bytes.
    Reset,
    /// An end of the connection after the first bytes.
    Close,
    /// The same answer to every request.
    Answer(&'static str),
}

/// A server on a port of its own, which ends with this value.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    pub leaf: Fingerprint,
    /// Handshakes, and those that resumed a session.
    pub seen: Arc<(AtomicU64, AtomicU64)>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A context as servers have it: all versions, groups and old keys, tickets and cache on.
pub fn context(key: &PKey<Private>, leaf: &X509) -> SslContextBuilder {
    let mut builder = SslContext::builder(SslMethod::tls_server()).unwrap();
    builder.set_security_level(0);
    builder.set_certificate(leaf).unwrap();
    builder.set_private_key(key).unwrap();
    builder.set_cipher_list("ALL:@SECLEVEL=0").unwrap();
    builder.set_session_id_context(b"keymark").unwrap();
    builder.set_session_cache_mode(SslSessionCacheMode::SERVER);
    builder.set_groups_list("X25519:P-256:P-384:X448:P-521:ffdhe2048:X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024").unwrap();
    builder
}

impl Server {
    pub fn start(key: &PKey<Private>, behaviour: Behaviour) -> Self {
        Self::with(key, behaviour, |_| {})
    }

    pub fn with(
        key: &PKey<Private>,
        behaviour: Behaviour,
        change: impl FnOnce(&mut SslContextBuilder),
    ) -> Self {
        let leaf = certificate(key);
        let mut builder = context(key, &leaf);
        change(&mut builder);
        let context = builder.build();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let (stop, seen) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (stop_too, seen_too) = (Arc::clone(&stop), Arc::clone(&seen));
        let serve = move || accept(&listener, &context, behaviour, &stop_too, &seen_too);
        Self {
            address,
            leaf: Fingerprint::of(&leaf.to_der().unwrap()),
            seen,
            stop,
            thread: Some(std::thread::spawn(serve)),
        }
    }

    pub fn target(&self, version: TlsVersion, key_exchange: KeyExchange) -> Target {
        target(self.address, self.leaf, version, key_exchange)
    }
}

/// Target of a client.
pub fn target(
    address: SocketAddr,
    leaf: Fingerprint,
    version: TlsVersion,
    key_exchange: KeyExchange,
) -> Target {
    Target {
        address,
        server_name: "localhost".to_owned(),
        path: "/".to_owned(),
        client: None,
        expected: Expected {
            version,
            key_exchange,
            certificate: Certificate::Pinned(leaf),
            body: Some(BODY.len() as u64),
            resumed: ResumedShare::NONE,
        },
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn accept(
    listener: &TcpListener,
    context: &SslContext,
    behaviour: Behaviour,
    stop: &AtomicBool,
    seen: &(AtomicU64, AtomicU64),
) {
    let mut kept = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((socket, _)) => {
                socket.set_nonblocking(false).unwrap();
                socket
                    .set_read_timeout(Some(Duration::from_secs(2)))
                    .unwrap();
                kept.extend(answer(socket, context, behaviour, seen));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// A connection that is to stay open is handed back.
fn answer(
    socket: TcpStream,
    context: &SslContext,
    behaviour: Behaviour,
    seen: &(AtomicU64, AtomicU64),
) -> Option<TcpStream> {
    let text = match behaviour {
        Behaviour::Mute => return Some(socket),
        Behaviour::Reset | Behaviour::Close => {
            let mut few = [0; 16];
            let all = usize::from(matches!(behaviour, Behaviour::Close)) * 16_000;
            let _ = (&socket).read(&mut few);
            // What was not read makes the kernel reset the connection.
            let _ = (&socket).read(&mut vec![0; all]);
            return None;
        }
        Behaviour::Slow(pause) => {
            std::thread::sleep(pause);
            None
        }
        Behaviour::StallOnce(pause) => {
            if seen.0.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(pause);
            }
            None
        }
        Behaviour::Serve => None,
        Behaviour::Answer(text) => Some(text),
    };
    let usual = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut stream = SslStream::new(Ssl::new(context).unwrap(), socket).unwrap();
    if stream.accept().is_ok() {
        seen.0.fetch_add(1, Ordering::Relaxed);
        seen.1
            .fetch_add(u64::from(stream.ssl().session_reused()), Ordering::Relaxed);
        let mut request = [0; 4096];
        let read = stream.read(&mut request).unwrap_or_default();
        if request[..read].ends_with(b"\r\n\r\n") {
            let _ = stream.write_all(text.unwrap_or(&usual).as_bytes());
        }
        let _ = stream.shutdown();
    }
    None
}

pub fn users(count: u32, milliseconds: u64) -> LoadSettings {
    LoadSettings::new(
        Load::closed(NonZeroU32::new(count).unwrap()),
        Duration::from_millis(milliseconds),
    )
}

pub fn load(target: &Target, settings: &LoadSettings) -> Measurement {
    let (clock, stop) = (MonotonicClock::new(), AtomicBool::new(false));
    run(target, settings, (&clock, &stop), &mut ()).unwrap()
}

/// All that failed did so for one reason, and nothing succeeded.
pub fn only_failure(measured: &Measurement) -> Failure {
    let failures = &measured.failures;
    assert_eq!(measured.load.totals.transactions, 0);
    assert_eq!(failures.len(), 1, "{failures:?}");
    failures.keys().next().unwrap().clone()
}

/// Transactions succeeded, and nothing failed.
pub fn all_well(measured: &Measurement) {
    let failures = &measured.failures;
    assert!(failures.is_empty(), "{failures:?}");
    assert!(measured.load.totals.transactions > 0);
}
