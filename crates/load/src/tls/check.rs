//! Check of a handshake against its expectations.
//!
//! OpenSSL's security level does not look at the certificate's key where no chain is verified, so this does. In TLS
//! 1.2 the list of groups is that of the certificate's curves, too (RFC 8422 §5.1.1): the client offers P-256
//! with X25519, and whether the server took X25519 is checked here.

use keymark_bench::Algorithm;

use super::{Weak, key_of_certificate};
use crate::key_exchange::{KeyExchange, TlsVersion};

use crate::failure::{Expectation, Failure};
use crate::protocol::CipherSuite;
use crate::resumption::ResumedShare;
use crate::target::{Certificate, Expected, Fingerprint};

/// Result of a handshake as the library reports it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// A session of an earlier handshake was resumed.
    pub(crate) is_resumed: bool,
    pub(crate) version: Option<TlsVersion>,
    pub(crate) cipher: Option<CipherSuite>,
    pub(crate) key_exchange: Option<KeyExchange>,
    /// The server's certificate in DER.
    pub(crate) leaf: &'a [u8],
}

/// Checks handshakes. A certificate is read once, while it stays the same.
#[derive(Debug)]
pub(crate) struct Checker {
    expected: Expected,
    weak: Weak,
    leaf: Vec<u8>,
    fingerprint: Fingerprint,
    key: Option<Algorithm>,
}

impl Checker {
    pub(crate) fn new(expected: Expected, weak: Weak) -> Self {
        Self {
            expected,
            weak,
            leaf: Vec::new(),
            fingerprint: Fingerprint::of(&[]),
            key: None,
        }
    }

    pub(crate) fn check(&mut self, seen: Seen<'_>) -> Result<(), Failure> {
        self.compare(seen).map_err(Failure::Unexpected)
    }

    fn compare(&mut self, seen: Seen<'_>) -> Result<(), Expectation> {
        let wanted = &self.expected;
        if seen.is_resumed && wanted.resumed == ResumedShare::NONE {
            return Err(Expectation::FullHandshake);
        }
        let version = seen.version.filter(|version| *version == wanted.version);
        let version = version.ok_or(Expectation::Version)?;
        let agrees = |cipher: &CipherSuite| cipher.version() == version;
        seen.cipher.filter(agrees).ok_or(Expectation::Cipher)?;
        // A resumed session of TLS 1.2 has no key exchange (RFC 5246 §7.3).
        let has_exchange = !seen.is_resumed || version == TlsVersion::V1_3;
        if has_exchange && seen.key_exchange != Some(wanted.key_exchange) {
            return Err(Expectation::KeyExchange);
        }
        self.check_leaf(seen.leaf)
    }

    fn check_leaf(&mut self, leaf: &[u8]) -> Result<(), Expectation> {
        if leaf.is_empty() {
            return Err(Expectation::Certificate);
        }
        if leaf != self.leaf {
            leaf.clone_into(&mut self.leaf);
            self.fingerprint = Fingerprint::of(leaf);
            self.key = key_of_certificate(leaf);
        }
        let right = match self.expected.certificate {
            Certificate::Pinned(pin) => self.fingerprint == pin,
            Certificate::Key(algorithm) => self.key == Some(algorithm),
            // The offer leaves the server no other.
            Certificate::Rsa | Certificate::Curve | Certificate::Any => true,
        };
        if !right {
            return Err(Expectation::Certificate);
        }
        // OpenSSL's security level looks at keys of certificates only where it verifies the chain.
        let size = self.key.map(Algorithm::length);
        match (size, self.weak) {
            (Some(("rsa", ..2048)), Weak::Refused) => Err(Expectation::KeySize),
            (_, Weak::Refused | Weak::Allowed) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLDER: CipherSuite = CipherSuite("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");

    fn expected() -> Expected {
        Expected {
            version: TlsVersion::V1_3,
            key_exchange: KeyExchange::EcdheP256,
            certificate: Certificate::Pinned(Fingerprint::of(b"leaf")),
            body: None,
            resumed: ResumedShare::NONE,
        }
    }

    fn seen() -> Seen<'static> {
        Seen {
            is_resumed: false,
            version: Some(TlsVersion::V1_3),
            cipher: Some(CipherSuite("TLS_AES_256_GCM_SHA384")),
            key_exchange: Some(KeyExchange::EcdheP256),
            leaf: b"leaf",
        }
    }

    fn verdict(expected: Expected, seen: Seen<'_>) -> Result<(), Failure> {
        Checker::new(expected, Weak::Refused).check(seen)
    }

    #[test]
    fn each_difference_has_its_class() {
        assert_eq!(verdict(expected(), seen()), Ok(()));
        type Change = fn(&mut Seen<'static>);
        let cases: [(Change, Expectation); 7] = [
            (|seen| seen.is_resumed = true, Expectation::FullHandshake),
            (
                |seen| seen.version = Some(TlsVersion::V1_2),
                Expectation::Version,
            ),
            (|seen| seen.cipher = None, Expectation::Cipher),
            (|seen| seen.cipher = Some(OLDER), Expectation::Cipher),
            (
                |seen| seen.key_exchange = Some(KeyExchange::X25519),
                Expectation::KeyExchange,
            ),
            (|seen| seen.leaf = b"other", Expectation::Certificate),
            (|seen| seen.leaf = b"", Expectation::Certificate),
        ];
        for (change, class) in cases {
            let mut seen = seen();
            change(&mut seen);
            let failure = Err(Failure::Unexpected(class));
            assert_eq!(verdict(expected(), seen), failure);
        }
    }

    #[test]
    fn a_resumed_session_has_a_key_exchange_in_tls_1_3_alone() {
        let resuming = |version| Expected {
            version,
            resumed: "80".parse().unwrap(),
            ..expected()
        };
        let resumed = Seen {
            is_resumed: true,
            key_exchange: None,
            ..seen()
        };
        let older = Seen {
            version: Some(TlsVersion::V1_2),
            cipher: Some(OLDER),
            ..resumed
        };
        assert_eq!(verdict(resuming(TlsVersion::V1_2), older), Ok(()));
        let full = Seen {
            is_resumed: false,
            ..older
        };
        let missing = Err(Failure::Unexpected(Expectation::KeyExchange));
        assert_eq!(verdict(resuming(TlsVersion::V1_2), full), missing);
        assert_eq!(verdict(resuming(TlsVersion::V1_3), resumed), missing);
        assert_eq!(verdict(resuming(TlsVersion::V1_3), seen()), Ok(()));
    }
}
