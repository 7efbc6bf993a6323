//! A server that is quicker than the client, with which to see what one core of the client can do:
//! `serve 127.0.0.1:8445`, TLS 1.3 with a P-256 certificate of its own, no tickets.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "for trying out")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const THREADS: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("serve ADDRESS")?;
    let key = support::p256();
    let leaf = CertificateDer::from(support::certificate(&key).to_der()?);
    let key = PrivateKeyDer::try_from(key.private_key_to_pkcs8()?)?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![leaf], key)?;
    config.send_tls13_tickets = 0;
    let (config, listener) = (Arc::new(config), TcpListener::bind(address)?);
    println!("serving at {}", listener.local_addr()?);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| serve(&listener, &config));
        }
    });
    Ok(())
}

fn serve(listener: &TcpListener, config: &Arc<ServerConfig>) {
    while let Ok((mut socket, _)) = listener.accept() {
        let _ = socket.set_nodelay(true);
        let Ok(mut connection) = ServerConnection::new(Arc::clone(config)) else {
            return;
        };
        let mut stream = Stream::new(&mut connection, &mut socket);
        let mut request = [0; 2048];
        if stream.read(&mut request).is_ok() {
            let _ = stream.write_all(ANSWER);
        }
    }
}
