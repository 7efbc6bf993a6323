//! A server that shows a certificate and signs with another key, which OpenSSL will not do.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use keymark_bench::case::{KeyExchange, TlsVersion};
use keymark_load::{Fingerprint, Target};
use openssl::pkey::{Id, PKey, Private};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, ServerConnection};

#[derive(Debug)]
struct Always(Arc<CertifiedKey>);

impl ResolvesServerCert for Always {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

/// It ends with this value.
#[derive(Debug)]
pub struct Impostor {
    address: SocketAddr,
    leaf: Fingerprint,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Impostor {
    /// With a certificate for the key, which it has not: one of the same kind instead.
    pub fn start(key: &PKey<Private>) -> Self {
        let leaf = super::certificate(key).to_der().unwrap();
        let other = if key.id() == Id::RSA {
            super::rsa(2048)
        } else {
            super::p256()
        };
        let other = PrivateKeyDer::try_from(other.private_key_to_pkcs8().unwrap()).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let signer = provider.key_provider.load_private_key(other).unwrap();
        let certified = CertifiedKey::new(vec![CertificateDer::from(leaf.clone())], signer);
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS12, &rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Always(Arc::new(certified))));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (config, told) = (Arc::new(config), Arc::clone(&stop));
        let serve = move || serve(&listener, &config, &told);
        Self {
            address,
            leaf: Fingerprint::of(&leaf),
            stop,
            thread: Some(std::thread::spawn(serve)),
        }
    }

    pub fn target(&self, version: TlsVersion, key_exchange: KeyExchange) -> Target {
        super::target(self.address, self.leaf, version, key_exchange)
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(listener: &TcpListener, config: &Arc<ServerConfig>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let Ok((mut socket, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_micros(200));
            continue;
        };
        socket.set_nonblocking(false).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(2)))
            .unwrap();
        let mut connection = ServerConnection::new(Arc::clone(config)).unwrap();
        let mut stream = rustls::Stream::new(&mut connection, &mut socket);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
    }
}
