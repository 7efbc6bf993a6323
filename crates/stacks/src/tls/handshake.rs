//! Handshakes of cases: the family's dimensions in addition to the key of the certificate, and their values as types.

use std::num::{NonZeroU8, NonZeroU32};
use std::time::Duration;

use keymark_bench::strength;
use keymark_bench::words::words;
use keymark_bench::{Algorithm, Case, Dimension, Error, Parameters, ServerLoad, Strength, Words};
use keymark_load::{KeyExchange, ResumedShare, TlsVersion};
use serde::Deserialize;

/// Dimension of the versions of TLS.
pub const VERSION: Dimension =
    Dimension::of_family("tls", "version of TLS", Words::Listed(TlsVersion::WORDS));
/// Dimension of the key exchanges.
pub const KEY_EXCHANGE: Dimension =
    Dimension::of_family("kex", "key exchange", Words::Listed(KeyExchange::WORDS));
/// Dimension of the second certificate of a host, by the algorithm of its key.
pub const SECOND_CERTIFICATE: Dimension = Dimension::of_family(
    "second-certificate",
    "second certificate",
    Words::of::<Algorithm>(),
)
.usually("none");
/// Dimension of the number of servers behind a balancer.
pub const SERVERS: Dimension =
    Dimension::of_family("servers", "number of servers", Words::of::<NonZeroU8>()).usually("1");
/// Dimension of a balancer's choices.
pub const BALANCE: Dimension =
    Dimension::of_family("balance", "balance", Words::Listed(Balance::WORDS)).usually("none");
/// Dimension of the accidents of servers.
pub const FATE: Dimension =
    Dimension::of_family("fate", "fate of servers", Words::Listed(Fate::WORDS)).usually("all-live");
/// Dimension of searches for the best number of users, by the largest number that is tried.
pub const MOST_USERS: Dimension = Dimension::of_family(
    "most-users",
    "largest number of users",
    Words::of::<NonZeroU32>(),
)
.usually("none");
/// Dimension of searches for the highest rate within a limit of the 99th percentile, in microseconds.
pub const P99_LIMIT: Dimension =
    Dimension::of_family("p99-us", "limit of the 99th percentile", Words::of::<u64>())
        .usually("none");
/// Dimension of the share of connections that resume a session, in percent.
pub const RESUMED: Dimension = Dimension::of_family(
    "resumed-percent",
    "share of resumed sessions",
    Words::of::<ResumedShare>(),
)
.usually("0");
/// Dimension of the clients' certificates, by the algorithm of their key.
pub const CLIENT_CERTIFICATE: Dimension = Dimension::of_family(
    "client-certificate",
    "client certificate",
    Words::of::<Algorithm>(),
)
.usually("none");

/// Search for the number of users with the best rate, made before that number is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saturating {
    /// Maximum number of users.
    pub most: NonZeroU32,
    /// Limit of the 99th percentile, for which the highest rate of arrivals is searched afterwards.
    pub p99: Option<Duration>,
}

/// Handshake that servers are asked for, and the servers behind the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// The version that is negotiated.
    pub version: TlsVersion,
    /// The key exchange that is negotiated.
    pub key_exchange: KeyExchange,
    /// Servers behind the address.
    pub arrangement: Arrangement,
    /// Search in place of a chosen load.
    pub search: Option<Saturating>,
    /// Share of connections that resume a session.
    pub resumed: ResumedShare,
    /// Key of the certificate that clients have to show.
    pub client: Option<Algorithm>,
}

impl Handshake {
    /// Handshake with one server, under a load that is chosen.
    pub const fn one(version: TlsVersion, key_exchange: KeyExchange) -> Self {
        Self {
            version,
            key_exchange,
            arrangement: Arrangement::One,
            search: None,
            resumed: ResumedShare::NONE,
            client: None,
        }
    }

    /// Reads the handshake of a case.
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
        let p99 = parameters.read(&P99_LIMIT)?.map(Duration::from_micros);
        Ok(Self {
            version,
            key_exchange,
            arrangement: Arrangement::read(parameters)?,
            search: parameters
                .read(&MOST_USERS)?
                .map(|most| Saturating { most, p99 }),
            resumed: parameters.read(&RESUMED)?.unwrap_or_default(),
            client: parameters.read(&CLIENT_CERTIFICATE)?,
        })
    }

    /// Returns the reason why a load resumed another share of sessions than this one, if it did.
    pub(super) fn missed_share(&self, load: &ServerLoad) -> Option<Error> {
        let (resumed, all) = load.resumed();
        let (asked, got) = (self.resumed, 100.0 * resumed as f64 / all as f64);
        let reason = format!("asked for {asked} % resumed, got {got:.0} % of {all} sessions");
        let advice = "let the server give tickets that stay valid during the load";
        let is_missed = all > 0 && !asked.is_met(resumed, all);
        is_missed.then(|| Error::call("resuming sessions", reason, advice))
    }

    /// Strength of the weaker one of certificate and key exchange.
    pub fn strength(self, certificate: Algorithm) -> Option<Strength> {
        let own = strength::of_key(certificate)?;
        let both = [own].into_iter().chain(self.key_exchange.strength());
        both.min()
    }
}

impl From<Handshake> for Parameters {
    fn from(handshake: Handshake) -> Self {
        let mut set = Self::of(&VERSION, handshake.version);
        set = set.with(&KEY_EXCHANGE, handshake.key_exchange);
        set = match handshake.arrangement {
            Arrangement::One => set,
            Arrangement::Beside { other } => set.with(&SECOND_CERTIFICATE, other),
            Arrangement::Balanced {
                servers,
                balance,
                fate,
            } => set
                .with(&SERVERS, servers)
                .with(&BALANCE, balance)
                .with(&FATE, fate),
        };
        set = set.with(&RESUMED, handshake.resumed);
        if let Some(algorithm) = handshake.client {
            set = set.with(&CLIENT_CERTIFICATE, algorithm);
        }
        let Some(Saturating { most, p99 }) = handshake.search else {
            return set;
        };
        set = set.with(&MOST_USERS, most);
        match p99 {
            Some(limit) => set.with(&P99_LIMIT, limit.as_micros()),
            None => set,
        }
    }
}

/// Servers behind the address that clients ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrangement {
    /// Single server with one certificate.
    #[default]
    One,
    /// Single server with two certificates, for RSA and ECDSA, of which the client accepts one kind.
    Beside {
        /// Key of the certificate that the client does not accept.
        other: Algorithm,
    },
    /// Several servers behind a balancer that passes TCP on, each with a key of its own.
    Balanced {
        /// Number of servers.
        servers: NonZeroU8,
        /// Choice of the server for the next connection.
        balance: Balance,
        /// Accident during the load.
        #[serde(default)]
        fate: Fate,
    },
}

impl Arrangement {
    /// Servers of a case.
    pub fn of(case: &Case) -> Self {
        Handshake::of(case).map_or(Self::One, |handshake| handshake.arrangement)
    }

    /// Reads the arrangement from a case's parameters.
    ///
    /// # Errors
    /// When a word is none of these.
    pub fn read(parameters: &Parameters) -> Result<Self, Error> {
        if let Some(other) = parameters.read(&SECOND_CERTIFICATE)? {
            return Ok(Self::Beside { other });
        }
        Ok(match parameters.read(&BALANCE)? {
            None => Self::One,
            Some(balance) => Self::Balanced {
                servers: parameters.read(&SERVERS)?.unwrap_or(NonZeroU8::MIN),
                balance,
                fate: parameters.read(&FATE)?.unwrap_or_default(),
            },
        })
    }

    /// Number of servers.
    pub const fn servers(self) -> NonZeroU8 {
        match self {
            Self::One | Self::Beside { .. } => NonZeroU8::MIN,
            Self::Balanced { servers, .. } => servers,
        }
    }
}

words! {
    /// Choice of the server for the next connection.
    pub enum Balance("balance") {
        /// Each in its turn.
        RoundRobin = "round-robin",
        /// The server with the fewest connections.
        LeastConnections = "least-connections",
    }
}

words! {
    /// Accident of servers during a load.
    #[derive(Default)]
    pub enum Fate("fate of servers") {
        /// No accident.
        #[default]
        AllLive = "all-live",
        /// A server is killed in the middle.
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
    fn handshakes_are_read_back_as_they_are_written() {
        let plain = Handshake::one(TlsVersion::V1_3, KeyExchange::X25519);
        let other = "nistp256".parse().unwrap();
        let arranged = |arrangement| Handshake {
            arrangement,
            ..plain
        };
        let balanced = arranged(Arrangement::Balanced {
            servers: NonZeroU8::new(4).unwrap(),
            balance: Balance::LeastConnections,
            fate: Fate::OneKilled,
        });
        let searched = Handshake {
            search: Some(Saturating {
                most: NonZeroU32::new(64).unwrap(),
                p99: Some(Duration::from_millis(50)),
            }),
            ..plain
        };
        let mutual = Handshake {
            resumed: "80%".parse().unwrap(),
            client: Some(other),
            ..plain
        };
        for (asked, remark) in [
            (plain, ""),
            (
                arranged(Arrangement::Beside { other }),
                " nistp256 second-certificate",
            ),
            (balanced, " 4 servers least-connections one-killed"),
            (searched, " 64 most-users 50000 p99-us"),
            (mutual, " 80 resumed-percent nistp256 client-certificate"),
        ] {
            let case = Case {
                parameters: asked.into(),
                ..keymark_testkit::case("rsa2048").build()
            };
            let expected = format!("tls1.3 x25519{remark}");
            assert_eq!(case.parameters.remark().unwrap(), expected);
            assert_eq!(Handshake::of(&case), Ok(asked));
        }
    }
}
