//! Capabilities of a token with test keys, by its mechanisms.

use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Digest, Family, Operation};
use keymark_native::cryptoki::{Mechanism, MechanismInfo};

use super::keys::secret_length;
use super::token_info::TokenInfo;
use crate::scheme::Scheme;

/// The newest SoftHSM2 whose OAEP is known to take no digest but SHA-1: it answers CKR_ARGUMENTS_BAD.
const SOFTHSM_OAEP_SHA1_ONLY: (u8, u8) = (2, 6);

/// Work that a key is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Sign(Mechanism),
    Decrypt(Mechanism),
    /// A shared secret of that length.
    Derive(usize),
    /// Shared secret of that length, by a key encapsulation.
    Decapsulate(usize),
}

impl Work {
    /// The table of what is done by which mechanism: as usual, or by a scheme.
    pub(crate) fn of(capability: Capability, scheme: Option<Scheme>) -> Option<Self> {
        use Family::{Cv448, Cv25519, Ed448, Ed25519, MlDsa, MlKem, Rsa, Weierstrass};
        use Operation::{Decapsulate, Decrypt, Sign};
        use Scheme::{Hashed, Oaep, OaepSha1, Pss, PssHashed};
        let asked = asked_for(capability);
        let family = asked.algorithm.family();
        Some(match (family, asked.operation, scheme) {
            (Rsa(_), Decrypt, None) => Self::Decrypt(Mechanism::RsaPkcs),
            (Rsa(_), Decrypt, Some(Oaep)) => Self::Decrypt(Mechanism::RsaOaepSha256),
            (Rsa(_), Decrypt, Some(OaepSha1)) => Self::Decrypt(Mechanism::RsaOaepSha1),
            (Rsa(_), Sign, None) => Self::Sign(Mechanism::RsaPkcs),
            (Rsa(_), Sign, Some(Pss)) => Self::Sign(Mechanism::RsaPss),
            (Rsa(_), Sign, Some(Hashed)) => Self::Sign(Mechanism::Sha256RsaPkcs),
            (Rsa(_), Sign, Some(PssHashed)) => Self::Sign(Mechanism::Sha256RsaPss),
            (Weierstrass(_), Sign, None) => Self::Sign(Mechanism::Ecdsa),
            (Weierstrass(_), Sign, Some(Hashed)) => Self::Sign(match asked.algorithm.digest()? {
                Digest::Sha256 => Mechanism::EcdsaSha256,
                Digest::Sha384 => Mechanism::EcdsaSha384,
                Digest::Sha512 => Mechanism::EcdsaSha512,
            }),
            (Ed25519 | Ed448, Sign, None) => Self::Sign(Mechanism::Eddsa),
            (MlDsa(_), Sign, None) => Self::Sign(Mechanism::MlDsa),
            (Weierstrass(_) | Cv25519 | Cv448, Decrypt, None) => {
                Self::Derive(secret_length(family))
            }
            (MlKem(_), Decapsulate, None) => Self::Decapsulate(secret_length(family)),
            _ => return None,
        })
    }

    /// Returns whether a token says that it does this with keys of the family.
    fn is_possible(self, info: &TokenInfo, family: Family) -> bool {
        let (kind, allows): (_, fn(&MechanismInfo) -> bool) = match self {
            Self::Sign(kind) => (kind, |said| said.sign),
            Self::Decrypt(kind) => (kind, |said| said.decrypt),
            Self::Derive(_) => (Mechanism::Ecdh, |said| said.derive),
            Self::Decapsulate(_) => (Mechanism::MlKem, |said| said.decapsulate),
        };
        // Which keys these are, is said where they are made.
        let is_montgomery = matches!(family, Family::Cv25519 | Family::Cv448);
        let kind_of_keys = if is_montgomery {
            Mechanism::MontgomeryKeys
        } else {
            kind
        };
        let (said, of_keys) = (info.mechanism(kind), info.mechanism(kind_of_keys));
        said.is_some_and(|said| allows(&said)) && of_keys.is_some_and(|said| takes(&said, family))
    }
}

/// Returns the capabilities that can be used in that way. Which digests it takes for OAEP no
/// token says: both are offered where nothing else is known.
pub(crate) fn used_by(info: &TokenInfo, scheme: Scheme, all: &[Capability]) -> Vec<Capability> {
    let sha1_only =
        info.manufacturer.contains("SoftHSM") && info.firmware <= SOFTHSM_OAEP_SHA1_ONLY;
    if scheme == Scheme::Oaep && sha1_only {
        return Vec::new();
    }
    let can = |can: &Capability| {
        let work = Work::of(*can, Some(scheme));
        work.is_some_and(|work| work.is_possible(info, can.algorithm.family()))
    };
    all.iter().copied().filter(can).collect()
}

/// All of it. Which curves it has no token says: those of NIST are taken for granted.
pub(crate) fn offered(info: &TokenInfo) -> Vec<Capability> {
    let can = |can: &Capability| {
        let family = can.algorithm.family();
        let is_other_curve = family.curve().is_some() && !family.is_of_nist();
        let work = Work::of(*can, None).filter(|_| !is_other_curve);
        work.is_some_and(|work| work.is_possible(info, family))
    };
    Algorithm::all()
        .flat_map(Capability::of)
        .filter(can)
        .collect()
}

/// Returns the capability that the token is asked for.
pub(crate) const fn asked_for(capability: Capability) -> Capability {
    Capability {
        algorithm: capability.algorithm,
        operation: match capability.operation {
            Operation::Authenticate => Operation::Sign,
            Operation::Decrypt
            | Operation::Sign
            | Operation::Decapsulate
            | Operation::Handshake => capability.operation,
        },
    }
}

/// Returns whether a mechanism takes keys of the family, by their lengths in bits. Where a token says none, it takes
/// any.
#[allow(clippy::wildcard_enum_match_arm, reason = "others have no lengths")]
fn takes(mechanism: &MechanismInfo, family: Family) -> bool {
    let takes = |bits: u32| {
        let (bits, largest) = (u64::from(bits), mechanism.largest);
        mechanism.smallest <= bits && (bits <= largest || largest == 0)
    };
    match family {
        Family::Rsa(bits) => takes(bits),
        Family::Weierstrass(curve) => takes(curve.bits()),
        // Some count the bits of the field, some those of the string.
        Family::Cv25519 | Family::Ed25519 => takes(255) || takes(256),
        Family::Ed448 => takes(448) || takes(456),
        Family::Cv448 => takes(448),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(mechanisms: &[MechanismInfo]) -> TokenInfo {
        TokenInfo {
            mechanisms: mechanisms.to_vec(),
            ..TokenInfo::example("Kryoptic")
        }
    }

    fn mechanism(kind: Mechanism, smallest: u64, largest: u64) -> MechanismInfo {
        MechanismInfo {
            kind,
            smallest,
            largest,
            sign: true,
            decrypt: true,
            derive: true,
            decapsulate: true,
        }
    }

    fn offers(mechanisms: &[MechanismInfo]) -> String {
        names(offered(&token(mechanisms)))
    }

    fn names(capabilities: Vec<Capability>) -> String {
        let name = |can: Capability| format!("{} {}", can.algorithm, can.operation);
        let names: Vec<_> = capabilities.into_iter().map(name).collect();
        names.join(", ")
    }

    #[test]
    fn only_what_the_token_says_is_offered() {
        let rsa = mechanism(Mechanism::RsaPkcs, 2048, 3072);
        let signs_only = MechanismInfo {
            decrypt: false,
            ..rsa
        };
        let kem = mechanism(Mechanism::MlKem, 0, 0);
        let encapsulates = MechanismInfo {
            decapsulate: false,
            ..kem
        };
        let ecdh = mechanism(Mechanism::Ecdh, 112, 521);
        let montgomery = mechanism(Mechanism::MontgomeryKeys, 255, 255);
        for (mechanisms, offered) in [
            (&[][..], ""),
            (
                &[rsa],
                "rsa2048 decrypt, rsa2048 sign, rsa3072 decrypt, rsa3072 sign",
            ),
            (&[signs_only], "rsa2048 sign, rsa3072 sign"),
            (
                &[mechanism(Mechanism::Ecdsa, 256, 384)],
                "nistp256 sign, nistp384 sign",
            ),
            (&[mechanism(Mechanism::Eddsa, 255, 255)], "ed25519 sign"),
            // Keys without lengths in all parameter sets.
            (
                &[mechanism(Mechanism::MlDsa, 0, 0)],
                "mldsa44 sign, mldsa65 sign, mldsa87 sign",
            ),
            (
                &[kem],
                "mlkem512 decapsulate, mlkem768 decapsulate, mlkem1024 decapsulate",
            ),
            (&[encapsulates], ""),
            (
                &[ecdh],
                "nistp256 decrypt, nistp384 decrypt, nistp521 decrypt",
            ),
            (&[montgomery], ""),
        ] {
            assert_eq!(offers(mechanisms), offered, "{mechanisms:?}");
        }
        // Keys of Montgomery curves, where they can be made.
        let both = offers(&[ecdh, montgomery]);
        assert!(
            both.contains("cv25519 decrypt") && !both.contains("cv448"),
            "{both}"
        );
    }

    #[test]
    fn schemes_are_offered_by_their_mechanisms() {
        let all: Vec<Capability> = ["rsa2048", "rsa4096", "nistp384", "ed25519"]
            .into_iter()
            .flat_map(|name| Capability::of(name.parse().unwrap()))
            .collect();
        let used = |info: &TokenInfo, scheme| names(used_by(info, scheme, &all));
        let pss = token(&[mechanism(Mechanism::RsaPss, 2048, 3072)]);
        assert_eq!(used(&pss, Scheme::Pss), "rsa2048 sign");
        assert_eq!(used(&pss, Scheme::PssHashed), "");
        let hashed = token(&[
            mechanism(Mechanism::Sha256RsaPkcs, 1024, 4096),
            mechanism(Mechanism::EcdsaSha256, 256, 521),
            mechanism(Mechanism::EcdsaSha384, 256, 521),
        ]);
        let signs = "rsa2048 sign, rsa4096 sign, nistp384 sign";
        assert_eq!(used(&hashed, Scheme::Hashed), signs);
        let oaep = [Mechanism::RsaOaepSha256, Mechanism::RsaOaepSha1];
        let oaep = token(&oaep.map(|kind| mechanism(kind, 1024, 2048)));
        assert_eq!(used(&oaep, Scheme::Oaep), "rsa2048 decrypt");
        let of_softhsm = |firmware| TokenInfo {
            manufacturer: "SoftHSM project".to_owned(),
            firmware,
            ..oaep.clone()
        };
        assert_eq!(used(&of_softhsm((2, 6)), Scheme::Oaep), "");
        assert_eq!(
            used(&of_softhsm((2, 6)), Scheme::OaepSha1),
            "rsa2048 decrypt"
        );
        assert_eq!(used(&of_softhsm((2, 7)), Scheme::Oaep), "rsa2048 decrypt");
    }
}
