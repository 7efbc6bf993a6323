//! What is negotiated: versions, cipher suites, groups.

use std::fmt;
use std::str::FromStr;

use crate::servers::dh::{DhBits, DhParameters, Ffdhe};

/// Which versions the server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// TLS 1.2 alone.
    Tls12,
    /// TLS 1.3 alone.
    Tls13,
    /// Both.
    Both,
}

impl Protocol {
    /// Whether TLS 1.2 can be had.
    #[must_use]
    pub const fn has_tls12(self) -> bool {
        match self {
            Self::Tls12 | Self::Both => true,
            Self::Tls13 => false,
        }
    }

    /// Whether TLS 1.3 can be had.
    #[must_use]
    pub const fn has_tls13(self) -> bool {
        match self {
            Self::Tls13 | Self::Both => true,
            Self::Tls12 => false,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tls12 => "TLS 1.2",
            Self::Tls13 => "TLS 1.3",
            Self::Both => "TLS 1.2 and 1.3",
        })
    }
}

/// A group of key exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// X25519 (RFC 7748).
    X25519,
    /// P-256.
    P256,
    /// P-384.
    P384,
    /// P-521.
    P521,
    /// X25519 and ML-KEM-768 together (draft-ietf-tls-ecdhe-mlkem).
    X25519MlKem768,
}

impl Group {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::X25519,
        Self::P256,
        Self::P384,
        Self::P521,
        Self::X25519MlKem768,
    ];

    /// As OpenSSL knows it.
    #[must_use]
    pub const fn openssl(self) -> &'static str {
        match self {
            Self::X25519 => "X25519",
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
            Self::X25519MlKem768 => "X25519MLKEM768",
        }
    }

    /// As it stands in rows.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::X25519 => "x25519",
            Self::P256 => "p256",
            Self::P384 => "p384",
            Self::P521 => "p521",
            Self::X25519MlKem768 => "x25519mlkem768",
        }
    }

    fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.word() == word)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.openssl())
    }
}

/// A cipher string (ciphers(1)) for TLS 1.2. The level of security is not in it: that is [`crate::servers::Weak`]'s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ciphers(String);

/// A word that is none of those known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownWord {
    /// A cipher string has letters, digits and `:+!-_=`.
    #[error(
        "'{0}' is not a cipher string: use letters, digits and :+!-_=; the level of security follows from \
         --allow-weak"
    )]
    Ciphers(String),
    /// Of key exchange.
    #[error(
        "'{0}' is not a key exchange; choose from rsa, dhe-1024 to dhe-4096, dhe-ffdhe2048 to dhe-ffdhe4096, \
         ecdhe-p256, ecdhe-p384, ecdhe-p521, ecdhe-x25519, and with TLS 1.3 x25519, p256, p384, p521, \
         x25519mlkem768"
    )]
    KeyExchange(String),
}

impl FromStr for Ciphers {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let known = |letter: char| letter.is_ascii_alphanumeric() || ":+!-_=".contains(letter);
        if text.is_empty() || !text.chars().all(known) {
            return Err(UnknownWord::Ciphers(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Ciphers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How client and server come to a common secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyExchange {
    /// The client encrypts it to the server's RSA key (TLS 1.2).
    Rsa,
    /// Ephemeral Diffie-Hellman (TLS 1.2).
    Dhe(DhParameters),
    /// The same on an elliptic curve (TLS 1.2).
    Ecdhe(Group),
    /// TLS 1.3 with that group.
    Tls13(Group),
}

impl fmt::Display for KeyExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa => f.write_str("rsa"),
            Self::Dhe(parameters) => write!(f, "dhe-{}", parameters.word()),
            Self::Ecdhe(group) => write!(f, "ecdhe-{}", group.word()),
            Self::Tls13(group) => f.write_str(group.word()),
        }
    }
}

impl FromStr for KeyExchange {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let dhe = DhBits::ALL.map(DhParameters::Generated).into_iter();
        let dhe = dhe.chain(Ffdhe::ALL.map(DhParameters::Named));
        // The post-quantum group is TLS 1.3's alone.
        let ecdhe = |group: &Group| *group != Group::X25519MlKem768;
        let all = [Self::Rsa].into_iter().chain(dhe.map(Self::Dhe));
        let ecdhe = Group::ALL.into_iter().filter(ecdhe).map(Self::Ecdhe);
        let found = all
            .chain(ecdhe)
            .find(|exchange| exchange.to_string() == word);
        found
            .or_else(|| Group::named(word).map(Self::Tls13))
            .ok_or_else(|| UnknownWord::KeyExchange(word.to_owned()))
    }
}

/// What the server negotiates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshakes {
    /// The versions.
    pub protocol: Protocol,
    /// Of TLS 1.2. Those of TLS 1.3 are OpenSSL's own.
    pub ciphers: Ciphers,
    /// Of ECDHE and TLS 1.3, the preferred one first.
    pub groups: Vec<Group>,
    /// Of DHE.
    pub dh: Option<DhParameters>,
}

impl Handshakes {
    /// Nothing but that key exchange, with AES in GCM.
    #[must_use]
    pub fn of(exchange: KeyExchange) -> Self {
        let tls12 = |ciphers: &str| Self {
            protocol: Protocol::Tls12,
            ciphers: Ciphers(ciphers.to_owned()),
            groups: vec![Group::X25519, Group::P256],
            dh: None,
        };
        match exchange {
            KeyExchange::Rsa => tls12("kRSA+AESGCM"),
            KeyExchange::Dhe(parameters) => Self {
                dh: Some(parameters),
                ..tls12("kDHE+AESGCM+aRSA")
            },
            KeyExchange::Ecdhe(group) => Self {
                groups: vec![group],
                ..tls12("kECDHE+AESGCM")
            },
            KeyExchange::Tls13(group) => Self {
                protocol: Protocol::Tls13,
                groups: vec![group],
                ..tls12("kECDHE+AESGCM")
            },
        }
    }

    /// What servers offer today: both versions, ECDHE with AEAD ciphers.
    #[must_use]
    pub fn usual() -> Self {
        Self {
            protocol: Protocol::Both,
            ciphers: Ciphers("ECDHE+AESGCM:ECDHE+CHACHA20".to_owned()),
            groups: vec![Group::X25519, Group::P256, Group::P384],
            dh: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_exchange_has_one_word() {
        for word in [
            "rsa",
            "dhe-1024",
            "dhe-2048",
            "dhe-ffdhe3072",
            "ecdhe-p256",
            "x25519",
            "p384",
            "x25519mlkem768",
        ] {
            let exchange: KeyExchange = word.parse().unwrap();
            assert_eq!(exchange.to_string(), word);
        }
        let dhe: KeyExchange = "dhe-2048".parse().unwrap();
        assert_eq!(
            dhe,
            KeyExchange::Dhe(DhParameters::Generated(DhBits::Dh2048))
        );
        for word in ["dhe", "ecdhe-x25519mlkem768", "RSA", ""] {
            let error = word.parse::<KeyExchange>().unwrap_err().to_string();
            assert!(error.contains("ecdhe-p256"), "{error}");
        }
    }

    #[test]
    fn a_cipher_string_is_no_way_into_the_configuration() {
        let string: Ciphers = "ECDHE+AESGCM:!aNULL".parse().unwrap();
        assert_eq!(string.to_string(), "ECDHE+AESGCM:!aNULL");
        for other in [
            "",
            "HIGH; root /",
            "HIGH\nUser root",
            "\"",
            "ALL:@SECLEVEL=0",
        ] {
            assert!(other.parse::<Ciphers>().is_err(), "{other:?}");
        }
    }
}
