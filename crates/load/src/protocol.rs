//! Numbers of the TLS registries with the names that the specifications give them.

use std::fmt;
use std::str::FromStr;

use keymark_bench::case::TlsVersion;

use crate::target::Unknown;

/// A cipher suite by its number (IANA, "TLS Cipher Suites").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CipherSuite(pub u16);

/// The suites that OpenSSL has, as IANA writes them.
const SUITES: [(u16, &str); 41] = [
    (0x1301, "TLS_AES_128_GCM_SHA256"),
    (0x1302, "TLS_AES_256_GCM_SHA384"),
    (0x1303, "TLS_CHACHA20_POLY1305_SHA256"),
    (0x1304, "TLS_AES_128_CCM_SHA256"),
    (0x1305, "TLS_AES_128_CCM_8_SHA256"),
    (0xC02B, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
    (0xC02C, "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
    (0xCCA9, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
    (0xC0AC, "TLS_ECDHE_ECDSA_WITH_AES_128_CCM"),
    (0xC0AD, "TLS_ECDHE_ECDSA_WITH_AES_256_CCM"),
    (0xC009, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"),
    (0xC00A, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"),
    (0xC023, "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"),
    (0xC024, "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"),
    (0xC02F, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    (0xC030, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
    (0xCCA8, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
    (0xC013, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
    (0xC014, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
    (0xC027, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"),
    (0xC028, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384"),
    (0x009E, "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256"),
    (0x009F, "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384"),
    (0xCCAA, "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
    (0xC09E, "TLS_DHE_RSA_WITH_AES_128_CCM"),
    (0xC09F, "TLS_DHE_RSA_WITH_AES_256_CCM"),
    (0x0033, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA"),
    (0x0039, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA"),
    (0x0067, "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256"),
    (0x006B, "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256"),
    (0x0045, "TLS_DHE_RSA_WITH_CAMELLIA_128_CBC_SHA"),
    (0x0088, "TLS_DHE_RSA_WITH_CAMELLIA_256_CBC_SHA"),
    (0x009C, "TLS_RSA_WITH_AES_128_GCM_SHA256"),
    (0x009D, "TLS_RSA_WITH_AES_256_GCM_SHA384"),
    (0xC09C, "TLS_RSA_WITH_AES_128_CCM"),
    (0xC09D, "TLS_RSA_WITH_AES_256_CCM"),
    (0x002F, "TLS_RSA_WITH_AES_128_CBC_SHA"),
    (0x0035, "TLS_RSA_WITH_AES_256_CBC_SHA"),
    (0x003C, "TLS_RSA_WITH_AES_128_CBC_SHA256"),
    (0x003D, "TLS_RSA_WITH_AES_256_CBC_SHA256"),
    (0x000A, "TLS_RSA_WITH_3DES_EDE_CBC_SHA"),
];

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
    /// IANA's name, if it is known here.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        let known = SUITES.iter().find(|(number, _)| *number == self.0);
        known.map(|(_, name)| *name)
    }

    /// The version that the suite belongs to.
    #[must_use]
    pub const fn version(self) -> TlsVersion {
        // RFC 8446 §B.4: suites of TLS 1.3 are 0x13, and older ones are not.
        if self.0 >> 8 == 0x13 {
            TlsVersion::V1_3
        } else {
            TlsVersion::V1_2
        }
    }

    pub(crate) fn exchange(self) -> Option<SuiteExchange> {
        let name = self.name()?;
        Some(if name.starts_with("TLS_RSA_WITH") {
            SuiteExchange::Rsa
        } else if name.starts_with("TLS_DHE_") {
            SuiteExchange::Dhe
        } else if name.starts_with("TLS_ECDHE_") {
            SuiteExchange::Ecdhe
        } else {
            SuiteExchange::Apart
        })
    }
}

impl fmt::Display for CipherSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "{:#06x}", self.0),
        }
    }
}

impl FromStr for CipherSuite {
    type Err = Unknown;

    fn from_str(word: &str) -> Result<Self, Unknown> {
        let known = SUITES.iter().find(|(_, name)| *name == word);
        known
            .map(|(number, _)| Self(*number))
            .ok_or_else(|| Unknown::new("cipher suite", word))
    }
}

/// An alert's number (RFC 8446 §6; IANA, "TLS Alerts").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alert(pub u8);

impl Alert {
    /// Its name as the RFCs spell it, if it has one.
    #[must_use]
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
        for (number, name) in SUITES {
            let suite = CipherSuite(number);
            assert_eq!(name.parse(), Ok(suite));
            let apart = suite.exchange() == Some(SuiteExchange::Apart);
            assert_eq!(apart, suite.version() == TlsVersion::V1_3, "{name}");
        }
        assert_eq!(
            CipherSuite(0x009D).exchange(),
            Some(SuiteExchange::Rsa),
            "RSA encrypts"
        );
        assert_eq!(CipherSuite(0xFFFF).to_string(), "0xffff");
    }

    #[test]
    fn alerts_have_their_names() {
        assert_eq!(Alert(40).to_string(), "handshake_failure");
        assert_eq!(Alert(99).to_string(), "alert 99");
    }
}
