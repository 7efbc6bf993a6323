//! Names that the TLS registries and specifications give.

use std::fmt;

use derive_more::Display;

use crate::key_exchange::TlsVersion;

/// A cipher suite by its name in the registry (IANA, "TLS Cipher Suites").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display)]
pub struct CipherSuite(pub &'static str);

impl CipherSuite {
    /// The version that the suite belongs to: with TLS 1.3 key exchange and certificate are no part of it.
    pub fn version(self) -> TlsVersion {
        match self.means() {
            None => TlsVersion::V1_3,
            Some(_) => TlsVersion::V1_2,
        }
    }

    /// Key exchange and certificate of TLS 1.2: `ECDHE_RSA`; none with TLS 1.3.
    pub(crate) fn means(self) -> Option<&'static str> {
        let (means, _) = self.0.split_once("_WITH_")?;
        Some(means.trim_start_matches("TLS_"))
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
    fn alerts_have_their_names() {
        assert_eq!(Alert(40).to_string(), "handshake_failure");
        assert_eq!(Alert(99).to_string(), "alert 99");
    }
}
