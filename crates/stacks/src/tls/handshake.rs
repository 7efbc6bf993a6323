//! What a TLS handshake is besides its certificate.

use std::fmt;
use std::num::NonZeroU8;
use std::str::FromStr;

use super::parameters::{Dimension, Parameters, Scope};
use crate::algorithm::Algorithm;
use crate::error::Error;
use crate::words::words;

/// The dimension of versions.
pub const VERSION: Dimension = Dimension {
    name: "tls",
    kind: "version of TLS",
    words: TlsVersion::WORDS,
    usual: None,
    scope: Scope::Family,
};
/// That of key exchanges.
pub const KEY_EXCHANGE: Dimension = Dimension {
    name: "kex",
    kind: "key exchange",
    words: KeyExchange::WORDS,
    usual: None,
    scope: Scope::Family,
};
/// That of arrangements, which are more than can be listed.
pub const ARRANGEMENT: Dimension = Dimension {
    name: "arrangement",
    kind: "arrangement of servers",
    words: &[],
    usual: Some("one"),
    scope: Scope::Family,
};

/// What servers of TLS are asked for, and how they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// The version that is negotiated.
    pub version: TlsVersion,
    /// How client and server agree on a secret.
    pub key_exchange: KeyExchange,
    /// What stands behind the address.
    pub arrangement: Arrangement,
}

impl Handshake {
    /// That of a case; none of what is no handshake.
    ///
    /// # Errors
    /// When its words are none of these.
    pub fn of(parameters: &Parameters) -> Result<Option<Self>, Error> {
        let version = parameters.read(&VERSION)?;
        let Some((version, key_exchange)) = version.zip(parameters.read(&KEY_EXCHANGE)?) else {
            return Ok(None);
        };
        let arrangement = parameters.read(&ARRANGEMENT)?;
        Ok(Some(Self {
            version,
            key_exchange,
            arrangement: arrangement.unwrap_or_default(),
        }))
    }
}

impl From<Handshake> for Parameters {
    fn from(handshake: Handshake) -> Self {
        Self::of(&VERSION, handshake.version)
            .with(&KEY_EXCHANGE, handshake.key_exchange)
            .with(&ARRANGEMENT, handshake.arrangement)
    }
}

words! {
    /// A version of TLS.
    pub enum TlsVersion("version of TLS") {
        /// RFC 5246.
        V1_2 = "tls1.2",
        /// RFC 8446.
        V1_3 = "tls1.3",
    }
}

words! {
    /// How client and server agree on a secret.
    pub enum KeyExchange("key exchange") {
        /// The client encrypts to the certificate's RSA key (RFC 5246 §7.4.7.1): TLS 1.2 only.
        Rsa = "rsa",
        /// Diffie-Hellman modulo a prime of 1024 bits, as many servers had it.
        Dhe1024 = "dhe-1024",
        /// The same with 2048 bits.
        Dhe2048 = "dhe-2048",
        /// With 3072.
        Dhe3072 = "dhe-3072",
        /// With 4096.
        Dhe4096 = "dhe-4096",
        /// secp256r1 (RFC 8422).
        EcdheP256 = "ecdhe-p256",
        /// secp384r1 (RFC 8422).
        EcdheP384 = "ecdhe-p384",
        /// secp521r1 (RFC 8422).
        EcdheP521 = "ecdhe-p521",
        /// RFC 7748.
        X25519 = "x25519",
        /// RFC 7748.
        X448 = "x448",
        /// draft-ietf-tls-ecdhe-mlkem.
        X25519MlKem768 = "x25519mlkem768",
        /// draft-ietf-tls-ecdhe-mlkem.
        SecP256r1MlKem768 = "secp256r1mlkem768",
        /// draft-ietf-tls-ecdhe-mlkem.
        SecP384r1MlKem1024 = "secp384r1mlkem1024",
    }
}

impl KeyExchange {
    /// Length of the prime of Diffie-Hellman, in bits; none of the others.
    pub const fn dhe_bits(self) -> Option<u16> {
        match self {
            Self::Dhe1024 => Some(1024),
            Self::Dhe2048 => Some(2048),
            Self::Dhe3072 => Some(3072),
            Self::Dhe4096 => Some(4096),
            Self::Rsa
            | Self::EcdheP256
            | Self::EcdheP384
            | Self::EcdheP521
            | Self::X25519
            | Self::X448
            | Self::X25519MlKem768
            | Self::SecP256r1MlKem768
            | Self::SecP384r1MlKem1024 => None,
        }
    }

    /// Its group as OpenSSL calls it; none of RSA, and of Diffie-Hellman, whose group the server chooses in TLS 1.2.
    pub const fn group(self) -> Option<&'static str> {
        match self {
            Self::Rsa | Self::Dhe1024 | Self::Dhe2048 | Self::Dhe3072 | Self::Dhe4096 => None,
            Self::EcdheP256 => Some("P-256"),
            Self::EcdheP384 => Some("P-384"),
            Self::EcdheP521 => Some("P-521"),
            Self::X25519 => Some("X25519"),
            Self::X448 => Some("X448"),
            Self::X25519MlKem768 => Some("X25519MLKEM768"),
            Self::SecP256r1MlKem768 => Some("SecP256r1MLKEM768"),
            Self::SecP384r1MlKem1024 => Some("SecP384r1MLKEM1024"),
        }
    }

    /// Whether ML-KEM is part of it, which TLS 1.2 does not have.
    pub const fn is_hybrid(self) -> bool {
        matches!(
            self,
            Self::X25519MlKem768 | Self::SecP256r1MlKem768 | Self::SecP384r1MlKem1024
        )
    }

    /// The version in which it is measured where nobody says: 1.2 for what servers no longer offer in 1.3.
    pub const fn usual_version(self) -> TlsVersion {
        match self.group() {
            None => TlsVersion::V1_2,
            Some(_) => TlsVersion::V1_3,
        }
    }

    /// Diffie-Hellman modulo a prime of that length.
    pub fn dhe(bits: u16) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|exchange| exchange.dhe_bits() == Some(bits))
    }
}

/// What stands behind the address that clients ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrangement {
    /// One server with one certificate.
    #[default]
    One,
    /// One server with two certificates, for RSA and ECDSA; the client takes but one kind.
    Beside {
        /// The key of the certificate that the client does not take.
        other: Algorithm,
    },
    /// Several servers behind a balancer that passes TCP on, each with a key of its own.
    Balanced {
        /// How many.
        servers: NonZeroU8,
        /// Which is given the next connection.
        balance: Balance,
        /// What becomes of them.
        fate: Fate,
    },
}

impl Arrangement {
    /// Whether it is what everybody expects.
    pub fn is_one(&self) -> bool {
        *self == Self::One
    }

    /// Servers.
    pub const fn servers(self) -> NonZeroU8 {
        match self {
            Self::One | Self::Beside { .. } => NonZeroU8::MIN,
            Self::Balanced { servers, .. } => servers,
        }
    }
}

/// `one`, `beside nistp256`, `2 servers round-robin one-killed`
impl fmt::Display for Arrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("one"),
            Self::Beside { other } => write!(f, "beside {other}"),
            Self::Balanced {
                servers,
                balance,
                fate,
            } => {
                let number = if servers.get() == 1 {
                    "server"
                } else {
                    "servers"
                };
                write!(f, "{servers} {number} {balance}")?;
                match fate {
                    Fate::AllLive => Ok(()),
                    Fate::OneKilled => write!(f, " {fate}"),
                }
            }
        }
    }
}

impl FromStr for Arrangement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let no_arrangement = || format!("'{text}' is no arrangement of servers");
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            ["one"] => Ok(Self::One),
            ["beside", other] => {
                let other = other.parse().map_err(|_| no_arrangement())?;
                Ok(Self::Beside { other })
            }
            [servers, "server" | "servers", balance, fate @ ..] => Ok(Self::Balanced {
                servers: servers.parse().map_err(|_| no_arrangement())?,
                balance: balance.parse().map_err(|_| no_arrangement())?,
                fate: match fate {
                    [] => Fate::AllLive,
                    [fate] => fate.parse().map_err(|_| no_arrangement())?,
                    _ => return Err(no_arrangement()),
                },
            }),
            _ => Err(no_arrangement()),
        }
    }
}

words! {
    /// Which server is given the next connection.
    pub enum Balance("balance") {
        /// Each in its turn.
        RoundRobin = "round-robin",
        /// The one that has the fewest.
        LeastConnections = "least-connections",
    }
}

words! {
    /// What becomes of servers during a load.
    #[derive(Default)]
    pub enum Fate("fate of servers") {
        /// They live.
        #[default]
        AllLive = "all-live",
        /// One is killed in the middle.
        OneKilled = "one-killed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_diffie_hellman_are_those_of_the_names() {
        for bits in [1024, 2048, 3072, 4096] {
            let exchange = KeyExchange::dhe(bits).unwrap();
            assert_eq!(exchange.word(), format!("dhe-{bits}"));
        }
        assert_eq!(KeyExchange::dhe(512), None);
        assert_eq!(KeyExchange::X25519.dhe_bits(), None);
    }

    #[test]
    fn arrangements_are_read_back_as_they_are_written() {
        for text in [
            "one",
            "beside nistp256",
            "1 server round-robin",
            "4 servers least-connections one-killed",
        ] {
            let read: Arrangement = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        for bad in ["", "two", "beside", "beside x", "0 servers round-robin"] {
            assert!(bad.parse::<Arrangement>().is_err(), "{bad}");
        }
    }
}
