//! Names that the TLS registries and specifications give.

use std::fmt;

use crate::key_exchange::TlsVersion;

/// A cipher suite by its name in the registry (IANA, "TLS Cipher Suites").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CipherSuite(pub &'static str);

/// What a suite says of the key exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuiteExchange {
    /// Nothing: the group is negotiated apart (RFC 8446 §4.1.1).
    Apart,
    /// RSA encryption (RFC 5246 §7.4.7.1).
    Rsa,
    /// Ephemeral finite-field Diffie-Hellman.
    Dhe,
    /// Ephemeral elliptic-curve Diffie-Hellman.
    Ecdhe,
}

impl CipherSuite {
    /// The version that the suite belongs to: with TLS 1.3 key exchange and certificate are no part of it.
    pub fn version(self) -> TlsVersion {
        match self.exchange() {
            SuiteExchange::Apart => TlsVersion::V1_3,
            SuiteExchange::Rsa | SuiteExchange::Dhe | SuiteExchange::Ecdhe => TlsVersion::V1_2,
        }
    }

    pub(crate) fn exchange(self) -> SuiteExchange {
        if self.0.starts_with("TLS_RSA_WITH") {
            SuiteExchange::Rsa
        } else if self.0.starts_with("TLS_DHE_") {
            SuiteExchange::Dhe
        } else if self.0.starts_with("TLS_ECDHE_") {
            SuiteExchange::Ecdhe
        } else {
            SuiteExchange::Apart
        }
    }
}

impl fmt::Display for CipherSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// An alert's number (RFC 8446 §6; IANA, "TLS Alerts").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alert(pub u8);

impl Alert {
    /// Its name as the RFCs spell it, if it has one.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "close_notify",
            10 => "unexpected_message",
            20 => "bad_record_mac",
            21 => "decryption_failed_RESERVED",
            22 => "record_overflow",
            30 => "decompression_failure_RESERVED",
            40 => "handshake_failure",
            41 => "no_certificate_RESERVED",
            42 => "bad_certificate",
            43 => "unsupported_certificate",
            44 => "certificate_revoked",
            45 => "certificate_expired",
            46 => "certificate_unknown",
            47 => "illegal_parameter",
            48 => "unknown_ca",
            49 => "access_denied",
            50 => "decode_error",
            51 => "decrypt_error",
            52 => "too_many_cids_requested",
            60 => "export_restriction_RESERVED",
            70 => "protocol_version",
            71 => "insufficient_security",
            80 => "internal_error",
            86 => "inappropriate_fallback",
            90 => "user_canceled",
            100 => "no_renegotiation_RESERVED",
            109 => "missing_extension",
            110 => "unsupported_extension",
            111 => "certificate_unobtainable_RESERVED",
            112 => "unrecognized_name",
            113 => "bad_certificate_status_response",
            114 => "bad_certificate_hash_value_RESERVED",
            115 => "unknown_psk_identity",
            116 => "certificate_required",
            117 => "general_error",
            120 => "no_application_protocol",
            121 => "ech_required",
            _ => return None,
        })
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
