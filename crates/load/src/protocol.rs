//! Names that the TLS registries and specifications give.

use std::fmt;

use derive_more::Display;

use crate::key_exchange::TlsVersion;

/// A cipher suite by its name in the registry (IANA, "TLS Cipher Suites").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display)]
pub struct CipherSuite(pub &'static str);

/// Key exchange of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuiteExchange {
    /// Nothing: the group is negotiated apart (RFC 8446 §4.1.1).
    Apart,
    /// RSA encryption (RFC 5246 §7.4.7.1).
    Rsa,
    /// Ephemeral finite-field Diffie-Hellman.
    Dhe,
    /// Ephemeral elliptic-curve Diffie-Hellman.
    Ecdhe,
    /// A common secret, or what no server has any more.
    Other,
}

impl CipherSuite {
    /// The version that the suite belongs to: with TLS 1.3 key exchange and certificate are no part of it.
    pub fn version(self) -> TlsVersion {
        match self.means() {
            None => TlsVersion::V1_3,
            Some(_) => TlsVersion::V1_2,
        }
    }

    fn means(self) -> Option<&'static str> {
        let (means, _) = self.0.split_once("_WITH_")?;
        Some(means.trim_start_matches("TLS_"))
    }

    /// Returns the key exchange.
    pub fn exchange(self) -> SuiteExchange {
        let Some(means) = self.means() else {
            return SuiteExchange::Apart;
        };
        match means
            .split_once('_')
            .map_or(means, |(exchange, _)| exchange)
        {
            "RSA" if means == "RSA" => SuiteExchange::Rsa,
            "DHE" => SuiteExchange::Dhe,
            "ECDHE" => SuiteExchange::Ecdhe,
            _ => SuiteExchange::Other,
        }
    }
}

/// Numbers and names.
const ALERTS: &str = include_str!("alerts.csv");

/// An alert's number (RFC 8446 §6; IANA, "TLS Alerts").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alert(pub u8);

impl Alert {
    /// Its name as the RFCs spell it, if it has one.
    pub fn name(self) -> Option<&'static str> {
        let number = self.0.to_string();
        let mut rows = ALERTS.lines().filter_map(|line| line.split_once(','));
        rows.find_map(|(of, name)| (of == number).then_some(name))
    }
}

impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "alert {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_say_their_version_and_exchange() {
        for (name, exchange, version) in [
            (
                "TLS_AES_128_GCM_SHA256",
                SuiteExchange::Apart,
                TlsVersion::V1_3,
            ),
            (
                "TLS_RSA_WITH_AES_256_GCM_SHA384",
                SuiteExchange::Rsa,
                TlsVersion::V1_2,
            ),
            (
                "TLS_DHE_RSA_WITH_AES_128_CCM",
                SuiteExchange::Dhe,
                TlsVersion::V1_2,
            ),
            (
                "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
                SuiteExchange::Ecdhe,
                TlsVersion::V1_2,
            ),
        ] {
            let suite = CipherSuite(name);
            assert_eq!((suite.exchange(), suite.version()), (exchange, version));
        }
    }

    #[test]
    fn alerts_have_their_names() {
        assert_eq!(Alert(40).to_string(), "handshake_failure");
        assert_eq!(Alert(99).to_string(), "alert 99");
    }
}
