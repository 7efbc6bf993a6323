//! Parameters of ephemeral Diffie-Hellman.

/// Groups that have a name (RFC 7919). OpenSSL knows them again and takes short exponents with them, which makes them
/// faster than parameters of the same size that somebody has generated: seen with nginx on OpenSSL 3.0, 3.9 against
/// 6.0 ms of the server's processor for a handshake with 2048 bits and RSA-2048 (0.8 ms with RSA key exchange). It checks
/// the client's value by a power with a long exponent, since it knows the order of these groups; that is what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ffdhe {
    /// ffdhe2048
    Ffdhe2048,
    /// ffdhe3072
    Ffdhe3072,
    /// ffdhe4096
    Ffdhe4096,
}

impl Ffdhe {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Ffdhe2048, Self::Ffdhe3072, Self::Ffdhe4096];
}

/// Sizes of those that were generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DhBits {
    /// 80 bits of security: as many servers had, and weak.
    Dh1024,
    /// 112 bits of security.
    Dh2048,
    /// 128 bits of security.
    Dh3072,
    /// 152 bits of security.
    Dh4096,
}

impl DhBits {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Dh1024, Self::Dh2048, Self::Dh3072, Self::Dh4096];
}

/// Whose parameters, and of which size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DhParameters {
    /// A group with a name.
    Named(Ffdhe),
    /// As `openssl dhparam` generates them, once and for all that measure: that takes minutes for large ones.
    Generated(DhBits),
}

impl DhParameters {
    /// Bits of the prime.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Generated(DhBits::Dh1024) => 1024,
            Self::Named(Ffdhe::Ffdhe2048) | Self::Generated(DhBits::Dh2048) => 2048,
            Self::Named(Ffdhe::Ffdhe3072) | Self::Generated(DhBits::Dh3072) => 3072,
            Self::Named(Ffdhe::Ffdhe4096) | Self::Generated(DhBits::Dh4096) => 4096,
        }
    }

    /// As it stands in rows, behind `dhe-`.
    pub(crate) fn word(self) -> String {
        match self {
            Self::Named(_) => format!("ffdhe{}", self.bits()),
            Self::Generated(_) => self.bits().to_string(),
        }
    }

    /// What it is, for the record.
    #[must_use]
    pub fn kind(self) -> String {
        let bits = self.bits();
        match self {
            Self::Named(_) => format!("ffdhe{bits}, named: short exponents"),
            Self::Generated(_) => {
                format!("{bits} bits by openssl dhparam: exponents as long as the prime")
            }
        }
    }

    /// In PEM.
    pub(crate) const fn pem(self) -> &'static str {
        match self {
            Self::Named(Ffdhe::Ffdhe2048) => include_str!("dh-parameters/ffdhe2048.pem"),
            Self::Named(Ffdhe::Ffdhe3072) => include_str!("dh-parameters/ffdhe3072.pem"),
            Self::Named(Ffdhe::Ffdhe4096) => include_str!("dh-parameters/ffdhe4096.pem"),
            Self::Generated(DhBits::Dh1024) => include_str!("dh-parameters/generated1024.pem"),
            Self::Generated(DhBits::Dh2048) => include_str!("dh-parameters/generated2048.pem"),
            Self::Generated(DhBits::Dh3072) => include_str!("dh-parameters/generated3072.pem"),
            Self::Generated(DhBits::Dh4096) => include_str!("dh-parameters/generated4096.pem"),
        }
    }
}

#[cfg(test)]
mod tests {
    use openssl::bn::{BigNum, BigNumContext};
    use openssl::dh::Dh;

    use super::*;

    #[test]
    fn primes_are_safe_and_of_their_size() {
        let mut context = BigNumContext::new().unwrap();
        let named = Ffdhe::ALL.map(DhParameters::Named);
        let generated = DhBits::ALL.map(DhParameters::Generated);
        for parameters in named.into_iter().chain(generated) {
            let dh = Dh::params_from_pem(parameters.pem().as_bytes()).unwrap();
            let p = dh.prime_p();
            assert_eq!(p.num_bits().unsigned_abs(), parameters.bits());
            let mut half = BigNum::new().unwrap();
            half.rshift1(p).unwrap();
            let mut is_prime = |number: &BigNum| number.is_prime(8, &mut context).unwrap();
            assert!(is_prime(&half), "{parameters:?}");
            assert!(is_prime(&p.to_owned().unwrap()), "{parameters:?}");
        }
    }
}
