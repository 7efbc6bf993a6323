//! Versions of TLS and key exchanges, by the words of records.

use keymark_bench::words::words;
use keymark_bench::{Curve, Family, Strength, Table};

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
    /// Agreement of client and server on a secret.
    pub enum KeyExchange("key exchange") {
        /// The client encrypts to the certificate's RSA key (RFC 5246 §7.4.7.1): TLS 1.2 only.
        Rsa = "rsa",
        /// Diffie-Hellman modulo a prime of 1024 bits, as many servers had it.
        Dhe1024 = "dhe-1024",
        /// Diffie-Hellman modulo a prime of 2048 bits.
        Dhe2048 = "dhe-2048",
        /// Diffie-Hellman modulo a prime of 3072 bits.
        Dhe3072 = "dhe-3072",
        /// Diffie-Hellman modulo a prime of 4096 bits.
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
    pub fn dhe_bits(self) -> Option<u16> {
        self.word().strip_prefix("dhe-")?.parse().ok()
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

    /// Its strength by SP 800-57; none of RSA's, which is the certificate's. Of two that are combined the stronger one has to
    /// be broken.
    pub fn strength(self) -> Option<Strength> {
        let table = Table::nist();
        table.of_family(match self {
            Self::Rsa => return None,
            Self::Dhe1024 | Self::Dhe2048 | Self::Dhe3072 | Self::Dhe4096 => {
                return table.of_modulus(self.dhe_bits()?.into());
            }
            Self::EcdheP256 => Family::Weierstrass(Curve::NistP256),
            Self::EcdheP384 => Family::Weierstrass(Curve::NistP384),
            Self::EcdheP521 => Family::Weierstrass(Curve::NistP521),
            Self::X25519 => Family::Cv25519,
            Self::X448 => Family::Cv448,
            Self::X25519MlKem768 | Self::SecP256r1MlKem768 => Family::MlKem(768),
            Self::SecP384r1MlKem1024 => Family::MlKem(1024),
        })
    }

    /// Returns whether ML-KEM is part of it, which TLS 1.2 does not have.
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
        format!("dhe-{bits}").parse().ok()
    }
}
