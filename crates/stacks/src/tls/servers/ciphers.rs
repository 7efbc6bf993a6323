//! What a cipher string stands for, by OpenSSL.

use std::io::{self, Read, Write};

use keymark_bench::error::Error;
use keymark_load::CipherSuite;
use openssl::error::ErrorStack;
use openssl::ssl::{HandshakeError, Ssl, SslContext, SslMethod};

/// The suites of a cipher string, those of TLS 1.3 included: what a client with that string offers.
///
/// # Errors
/// When no suite is left, or the string is none.
pub(crate) fn resolved(ciphers: &str) -> Result<Vec<CipherSuite>, Error> {
    let failed = |error: ErrorStack| {
        let first = error.errors().first().and_then(|error| error.reason());
        let reason = format!("'{ciphers}': {}", first.unwrap_or("no reason given"));
        Error::call("SSL_CTX_set_cipher_list", reason, "")
    };
    let mut context = SslContext::builder(SslMethod::tls_client()).map_err(failed)?;
    context.set_cipher_list(ciphers).map_err(failed)?;
    let ssl = Ssl::new(&context.build()).map_err(failed)?;
    // The crate has no SSL_get1_supported_ciphers; the first message says it as well.
    let octets = match ssl.connect(Nobody::default()) {
        Err(HandshakeError::WouldBlock(stream) | HandshakeError::Failure(stream)) => {
            stream.get_ref().heard.clone()
        }
        Err(HandshakeError::SetupFailure(error)) => return Err(failed(error)),
        Ok(_) => Vec::new(),
    };
    let ssl = SslContext::builder(SslMethod::tls_client())
        .and_then(|context| Ssl::new(&context.build()))
        .map_err(failed)?;
    let offered = offered(&octets).unwrap_or_default();
    let lists = ssl.bytes_to_cipher_list(offered, false).map_err(failed)?;
    let suites = lists.suites.iter();
    let names = suites.filter_map(|suite| suite.standard_name());
    Ok(names.map(CipherSuite).collect())
}

/// The other end of a connection, which says nothing.
#[derive(Debug, Default)]
struct Nobody {
    heard: Vec<u8>,
}

impl Read for Nobody {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl Write for Nobody {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.heard.extend(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `cipher_suites` of a ClientHello (RFC 8446 §4.1.2) in its record (§5.1).
fn offered(record: &[u8]) -> Option<&[u8]> {
    const HEADERS: usize = 5 + 4;
    const VERSION_AND_RANDOM: usize = 2 + 32;
    let behind = record.get(HEADERS + VERSION_AND_RANDOM..)?;
    let (session, behind) = behind.split_first()?;
    let behind = behind.get(usize::from(*session)..)?;
    let (length, suites) = behind.split_first_chunk::<2>()?;
    suites.get(..u16::from_be_bytes(*length).into())
}

#[cfg(test)]
mod tests {
    use keymark_load::{SuiteAuthentication, SuiteExchange, TlsVersion};
    use keymark_testkit::assert_says;

    use super::*;

    fn tls12(ciphers: &str) -> Vec<CipherSuite> {
        let mut suites = resolved(ciphers).unwrap();
        suites.retain(|suite| suite.version() == TlsVersion::V1_2);
        suites
    }

    #[test]
    fn openssl_says_what_a_string_stands_for() {
        let rsa = tls12("kRSA+AESGCM");
        assert!(
            !rsa.is_empty()
                && rsa
                    .iter()
                    .all(|suite| suite.exchange() == SuiteExchange::Rsa)
        );
        let both = tls12("kECDHE+AESGCM");
        let has = |by| both.iter().any(|suite| suite.authentication() == by);
        assert!(has(SuiteAuthentication::Rsa) && has(SuiteAuthentication::Ecdsa));
        let dhe = tls12("kDHE+AESGCM+aRSA");
        assert!(
            !dhe.is_empty()
                && dhe
                    .iter()
                    .all(|suite| suite.exchange() == SuiteExchange::Dhe)
        );
        let error = resolved("NO-SUCH-CIPHER").unwrap_err().to_string();
        assert_says(&error, ["no cipher match"]);
    }
}
