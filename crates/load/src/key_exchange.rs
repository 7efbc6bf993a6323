//! How client and server agree on a secret.

use std::fmt;
use std::str::FromStr;

use crate::target::Unknown;

/// A key exchange, with its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyExchange {
    /// The client encrypts to the certificate's RSA key (RFC 5246 §7.4.7.1): TLS 1.2 only.
    Rsa,
    /// Finite-field Diffie-Hellman; in TLS 1.3 with the group of that size of RFC 7919.
    Dhe {
        /// Length of the prime.
        bits: u16,
    },
    /// secp256r1 (RFC 8422).
    EcdheP256,
    /// secp384r1 (RFC 8422).
    EcdheP384,
    /// secp521r1 (RFC 8422).
    EcdheP521,
    /// X25519 (RFC 7748).
    X25519,
    /// X448 (RFC 7748).
    X448,
    /// X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem).
    X25519MlKem768,
    /// SecP256r1MLKEM768 (draft-ietf-tls-ecdhe-mlkem).
    SecP256r1MlKem768,
    /// SecP384r1MLKEM1024 (draft-ietf-tls-ecdhe-mlkem).
    SecP384r1MlKem1024,
}

/// Those whose name has no number in it.
const NAMES: [(KeyExchange, &str); 9] = [
    (KeyExchange::Rsa, "rsa"),
    (KeyExchange::EcdheP256, "ecdhe-p256"),
    (KeyExchange::EcdheP384, "ecdhe-p384"),
    (KeyExchange::EcdheP521, "ecdhe-p521"),
    (KeyExchange::X25519, "x25519"),
    (KeyExchange::X448, "x448"),
    (KeyExchange::X25519MlKem768, "x25519mlkem768"),
    (KeyExchange::SecP256r1MlKem768, "secp256r1mlkem768"),
    (KeyExchange::SecP384r1MlKem1024, "secp384r1mlkem1024"),
];

impl fmt::Display for KeyExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Dhe { bits } = self {
            return f.pad(&format!("dhe-{bits}"));
        }
        let known = NAMES.iter().find(|(exchange, _)| exchange == self);
        f.pad(known.map_or("", |(_, name)| name))
    }
}

impl FromStr for KeyExchange {
    type Err = Unknown;

    fn from_str(word: &str) -> Result<Self, Unknown> {
        let unknown = || Unknown::new("key exchange", word);
        if let Some(bits) = word.strip_prefix("dhe-") {
            let bits = bits.parse().map_err(|_| unknown())?;
            return Ok(Self::Dhe { bits });
        }
        let known = NAMES.iter().find(|(_, name)| *name == word);
        known.map(|(exchange, _)| *exchange).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for (exchange, name) in NAMES {
            assert_eq!(name.parse(), Ok(exchange));
            assert_eq!(exchange.to_string(), name);
        }
        assert_eq!("dhe-2048".parse(), Ok(KeyExchange::Dhe { bits: 2048 }));
        assert_eq!(KeyExchange::Dhe { bits: 1024 }.to_string(), "dhe-1024");
        assert!("dhe-".parse::<KeyExchange>().is_err());
        assert!("RSA".parse::<KeyExchange>().is_err());
    }
}
