//! What a case of TLS is besides the key of its certificate: the family's dimensions, and what their words mean.

use std::fmt;
use std::num::NonZeroU8;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use keymark_bench::strength;
use keymark_bench::words::{as_text, words};
use keymark_bench::{Algorithm, Case, Dimension, Error, Parameters, Scope, Strength, Words};
use keymark_load::{KeyExchange, TlsVersion};
use serde::Deserialize;

/// The dimension of versions.
pub const VERSION: Dimension = Dimension {
    name: "tls",
    kind: "version of TLS",
    words: Words::Listed(TlsVersion::WORDS),
    usual: None,
    scope: Scope::Family,
};
/// That of key exchanges.
pub const KEY_EXCHANGE: Dimension = Dimension {
    name: "kex",
    kind: "key exchange",
    words: Words::Listed(KeyExchange::WORDS),
    usual: None,
    scope: Scope::Family,
};
/// That of arrangements, which are more than can be listed.
pub const ARRANGEMENT: Dimension = Dimension {
    name: "arrangement",
    kind: "arrangement of servers",
    words: Words::Formed(|word| word.parse::<Arrangement>().is_ok()),
    usual: Some("one"),
    scope: Scope::Family,
};

/// That of searches for what a server can do, in place of a load that somebody chose.
pub const SEARCH: Dimension = Dimension {
    name: "search",
    kind: "search for a server's limits",
    words: Words::Formed(|word| word.parse::<Saturating>().is_ok()),
    usual: Some("none"),
    scope: Scope::Family,
};

/// Search for the number of users with the best rate, made before that number is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saturating {
    /// Maximum number of users.
    pub most: NonZeroU32,
    /// Limit of the 99th percentile, for which the highest rate of arrivals is searched afterwards.
    pub p99: Option<Duration>,
}

/// `up to 256 users`, `up to 256 users p99 0.05 s`
impl fmt::Display for Saturating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "up to {} users", self.most)?;
        let limit = self
            .p99
            .map(|limit| write!(f, " p99 {} s", limit.as_secs_f64()));
        limit.unwrap_or(Ok(()))
    }
}

impl FromStr for Saturating {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let none = || format!("'{text}' is no search for a server's limits");
        let (most, p99) = match text.split(' ').collect::<Vec<_>>().as_slice() {
            ["up", "to", most, "users"] => (most.parse(), None),
            ["up", "to", most, "users", "p99", seconds, "s"] => {
                let seconds = seconds.parse().map_err(|_| none())?;
                let limit = Duration::try_from_secs_f64(seconds).map_err(|_| none())?;
                (most.parse(), Some(limit))
            }
            _ => return Err(none()),
        };
        let most = most.map_err(|_| none())?;
        Ok(Self { most, p99 })
    }
}

/// What servers of TLS are asked for, and how they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// The version that is negotiated.
    pub version: TlsVersion,
    /// How client and server agree on a secret.
    pub key_exchange: KeyExchange,
    /// What stands behind the address.
    pub arrangement: Arrangement,
    /// What is looked for, if nobody chose a load.
    pub search: Option<Saturating>,
}

impl Handshake {
    /// With one server, under a load that is chosen.
    pub const fn one(version: TlsVersion, key_exchange: KeyExchange) -> Self {
        Self {
            version,
            key_exchange,
            arrangement: Arrangement::One,
            search: None,
        }
    }

    /// That of a case.
    ///
    /// # Errors
    /// When it has none, or its words are none of these.
    pub fn of(case: &Case) -> Result<Self, Error> {
        let parameters = &case.parameters;
        let version = parameters.read(&VERSION)?;
        let Some((version, key_exchange)) = version.zip(parameters.read(&KEY_EXCHANGE)?) else {
            let reason = format!("{case} is not a handshake");
            return Err(Error::call("starting a server", reason, ""));
        };
        let arrangement = parameters.read(&ARRANGEMENT)?;
        Ok(Self {
            version,
            key_exchange,
            arrangement: arrangement.unwrap_or_default(),
            search: parameters.read(&SEARCH)?,
        })
    }

    /// Of certificate and key exchange the weaker one.
    pub fn strength(self, certificate: Algorithm) -> Option<Strength> {
        let own = strength::of_key(certificate)?;
        let both = [own].into_iter().chain(self.key_exchange.strength());
        both.min()
    }
}

impl From<Handshake> for Parameters {
    fn from(handshake: Handshake) -> Self {
        let set = Self::of(&VERSION, handshake.version)
            .with(&KEY_EXCHANGE, handshake.key_exchange)
            .with(&ARRANGEMENT, handshake.arrangement);
        match handshake.search {
            Some(search) => set.with(&SEARCH, search),
            None => set,
        }
    }
}

/// What stands behind the address that clients ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
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
    /// What clients of a case ask.
    pub fn of(case: &Case) -> Self {
        Handshake::of(case).map_or(Self::One, |handshake| handshake.arrangement)
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

as_text!(Arrangement);

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
    fn a_handshake_is_as_strong_as_its_weaker_half() {
        for (certificate, exchange, bits) in [
            ("rsa3072", "rsa", 128),
            ("rsa3072", "dhe-1024", 80),
            ("rsa2048", "x25519", 112),
            ("nistp384", "x25519", 128),
            ("nistp384", "ecdhe-p384", 192),
            ("nistp256", "x25519mlkem768", 128),
            ("mldsa65", "x25519mlkem768", 192),
        ] {
            let asked = Handshake::one(TlsVersion::V1_3, exchange.parse().unwrap());
            let strength = asked.strength(certificate.parse().unwrap());
            assert_eq!(strength, Some(Strength(bits)), "{certificate} {exchange}");
        }
    }

    #[test]
    fn searches_are_read_back_as_they_are_written() {
        for text in [
            "up to 1 users",
            "up to 256 users p99 0.05 s",
            "up to 8 users p99 2 s",
        ] {
            let read: Saturating = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        for bad in [
            "",
            "none",
            "up to 0 users",
            "up to 8 users p99",
            "up to 8 users p99 x s",
            "up to 8 users p99 -1 s",
        ] {
            assert!(bad.parse::<Saturating>().is_err(), "{bad}");
        }
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
