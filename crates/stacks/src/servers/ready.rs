//! Whether a server answers: a full handshake and one download, by a client in this process that takes whatever there is.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use openssl::ssl::{Ssl, SslContext, SslMethod, SslVerifyMode};
use openssl::x509::X509;

use crate::servers::directory::DOCUMENT;

/// For each of connecting, reading and writing: a slow token takes seconds for a signature with a long key.
const LIMIT: Duration = Duration::from_secs(15);

/// What a server has to answer with.
pub(crate) struct Expected<'s> {
    /// One of these.
    pub(crate) certificates: &'s [X509],
    /// Bytes of the body.
    pub(crate) body: u32,
}

/// Asks once; why not, if it did not.
pub(crate) fn answers(address: SocketAddr, expected: &Expected<'_>) -> Result<(), String> {
    let socket = TcpStream::connect_timeout(&address, LIMIT).map_err(|error| error.to_string())?;
    let limits = socket
        .set_read_timeout(Some(LIMIT))
        .and_then(|()| socket.set_write_timeout(Some(LIMIT)));
    limits.map_err(|error| error.to_string())?;
    let ssl = client().map_err(|error| error.to_string())?;
    let mut stream = ssl
        .connect(socket)
        .map_err(|error| format!("handshake: {error}"))?;
    let der = |certificate: &X509| certificate.to_der().ok();
    let theirs = stream.ssl().peer_certificate();
    let is_ours = theirs.is_some_and(|theirs| {
        let mut ours = expected.certificates.iter();
        ours.any(|ours| der(ours) == der(&theirs))
    });
    if !is_ours {
        return Err("another server answers at that port".to_owned());
    }
    let request = format!("GET /{DOCUMENT} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    let mut answer = Vec::new();
    stream
        .write_all(request.as_bytes())
        .map_err(|error| error.to_string())?;
    // A server that ends without a word has said all the same.
    let _ = stream.read_to_end(&mut answer);
    judged(&answer, expected.body)
}

fn client() -> Result<Ssl, openssl::error::ErrorStack> {
    let mut context = SslContext::builder(SslMethod::tls_client())?;
    context.set_verify(SslVerifyMode::NONE);
    // Weak keys are the server's business.
    context.set_cipher_list("ALL:@SECLEVEL=0")?;
    let mut ssl = Ssl::new(&context.build())?;
    ssl.set_hostname("localhost")?;
    Ok(ssl)
}

fn judged(answer: &[u8], body: u32) -> Result<(), String> {
    let text = String::from_utf8_lossy(answer);
    let status = text.lines().next().unwrap_or("nothing");
    if status.split(' ').nth(1) != Some("200") {
        return Err(format!(
            "it answers '{}'",
            crate::servers::log::visible(status)
        ));
    }
    let got = text
        .split_once("\r\n\r\n")
        .map_or(0, |(_, body)| body.len());
    if got == body as usize {
        Ok(())
    } else {
        Err(format!("it sends {got} bytes of {body}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_judged_by_status_and_length() {
        judged(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nxyz", 3).unwrap();
        let missing = judged(b"HTTP/1.1 403 Forbidden\r\n\r\n", 3).unwrap_err();
        assert_eq!(missing, "it answers 'HTTP/1.1 403 Forbidden'");
        let short = judged(b"HTTP/1.1 200 OK\r\n\r\nx", 3).unwrap_err();
        assert_eq!(short, "it sends 1 bytes of 3");
        assert_eq!(judged(b"", 3).unwrap_err(), "it answers 'nothing'");
    }
}
