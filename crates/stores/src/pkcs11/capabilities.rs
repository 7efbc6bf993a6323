//! What can be measured with test keys on a token, by what it says of its mechanisms.

use keymark_bench::algorithm::{Algorithm, Curve, Digest, Family};
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_native::cryptoki::{Mechanism, MechanismInfo};

use super::token_info::TokenInfo;

use crate::scheme::Scheme;

/// The newest SoftHSM2 whose OAEP is known to take no digest but SHA-1: it answers CKR_ARGUMENTS_BAD.
const SOFTHSM_OAEP_SHA1_ONLY: (u8, u8) = (2, 6);

/// What of all that can be asked of its keys can be done in that way. Which digests it takes for OAEP no
/// token says: both are offered where nothing else is known.
pub(super) fn used_by(says: &TokenInfo, scheme: Scheme, all: &[Capability]) -> Vec<Capability> {
    let can = |capability: &&Capability| {
        let mechanism = mechanism_of(**capability, Some(scheme))
            .and_then(|kind| says.mechanism(kind))
            .filter(|mechanism| fits(mechanism, capability.algorithm.family()));
        let uses = |mechanism: MechanismInfo| match capability.operation {
            Operation::Sign => mechanism.sign,
            Operation::Decrypt => mechanism.decrypt,
            Operation::Authenticate | Operation::Decapsulate | Operation::Handshake => false,
        };
        mechanism.is_some_and(uses)
    };
    let sha1_only =
        says.manufacturer.contains("SoftHSM") && says.firmware <= SOFTHSM_OAEP_SHA1_ONLY;
    if scheme == Scheme::Oaep && sha1_only {
        return Vec::new();
    }
    all.iter().filter(can).copied().collect()
}

/// Whether a mechanism of RSA or ECDSA takes keys of that length.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other families have one use each"
)]
fn fits(mechanism: &MechanismInfo, family: Family) -> bool {
    match family {
        Family::Rsa(bits) => takes(mechanism, bits),
        Family::Weierstrass(curve) => takes(mechanism, curve.bits()),
        _ => false,
    }
}

/// The mechanism by which a token does that: as usual, or by a scheme.
pub(super) fn mechanism_of(capability: Capability, scheme: Option<Scheme>) -> Option<Mechanism> {
    let Capability {
        algorithm,
        operation,
    } = capability;
    let family = algorithm.family();
    let Some(scheme) = scheme else {
        return match (family, operation) {
            (Family::Rsa(_), Operation::Sign | Operation::Decrypt) => Some(Mechanism::RsaPkcs),
            (Family::Weierstrass(_), Operation::Sign) => Some(Mechanism::Ecdsa),
            (Family::Ed25519 | Family::Ed448, Operation::Sign) => Some(Mechanism::Eddsa),
            (Family::MlDsa(_), Operation::Sign) => Some(Mechanism::MlDsa),
            (Family::MlKem(_), Operation::Decapsulate) => Some(Mechanism::MlKem),
            (Family::Weierstrass(_) | Family::Cv25519 | Family::Cv448, Operation::Decrypt) => {
                Some(Mechanism::Ecdh)
            }
            (_, Operation::Sign | Operation::Decrypt)
            | (_, Operation::Authenticate | Operation::Decapsulate | Operation::Handshake) => None,
        };
    };
    let of_rsa = matches!(family, Family::Rsa(_));
    let mechanism = match (scheme, algorithm.digest()) {
        (Scheme::Pss, _) => Mechanism::RsaPss,
        (Scheme::Oaep, _) => Mechanism::RsaOaepSha256,
        (Scheme::OaepSha1, _) => Mechanism::RsaOaepSha1,
        (Scheme::PssHashed, _) => Mechanism::Sha256RsaPss,
        (Scheme::Hashed, _) if of_rsa => Mechanism::Sha256RsaPkcs,
        (Scheme::Hashed, Some(Digest::Sha256)) => Mechanism::EcdsaSha256,
        (Scheme::Hashed, Some(Digest::Sha384)) => Mechanism::EcdsaSha384,
        (Scheme::Hashed, Some(Digest::Sha512)) => Mechanism::EcdsaSha512,
        (Scheme::Hashed, None) => return None,
    };
    scheme.is_of(capability).then_some(mechanism)
}

/// All of it. Which curves it has no token says: those of NIST are taken for granted.
pub(super) fn offered(says: &TokenInfo) -> Vec<Capability> {
    let of_algorithm = |algorithm: Algorithm| {
        let operations = operations(says, algorithm.family()).into_iter();
        operations.map(move |operation| Capability {
            algorithm,
            operation,
        })
    };
    Algorithm::all().flat_map(of_algorithm).collect()
}

/// A signature that authenticates is no other work than a signature.
pub(super) fn authentications(offered: &[Capability]) -> Vec<Capability> {
    let signs = offered
        .iter()
        .filter(|can| can.operation == Operation::Sign);
    let same = signs.map(|can| Capability {
        operation: Operation::Authenticate,
        ..*can
    });
    same.filter(|can| can.algorithm.has(can.operation))
        .collect()
}

/// What is asked of the token for it.
pub(super) const fn asked_for(capability: Capability) -> Capability {
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

fn operations(says: &TokenInfo, family: Family) -> Vec<Operation> {
    let fits = |kind, bits: &[u32]| {
        let fits = |mechanism: &MechanismInfo| bits.iter().any(|bits| takes(mechanism, *bits));
        says.mechanism(kind).filter(fits)
    };
    let signs = |mechanism: Option<MechanismInfo>| {
        mechanism
            .filter(|mechanism| mechanism.sign)
            .map(|_| Operation::Sign)
    };
    let derives = |mechanism: Option<MechanismInfo>| {
        let derives = mechanism.filter(|mechanism| mechanism.derive);
        derives.map(|_| Operation::Decrypt)
    };
    let montgomery = |bits: &[u32]| {
        let keys = fits(Mechanism::MontgomeryKeys, bits);
        keys.and_then(|_| says.mechanism(Mechanism::Ecdh))
    };
    let only = |kind, uses: fn(&MechanismInfo) -> bool, operation| {
        let mechanism = says.mechanism(kind).filter(uses);
        mechanism.map(|_| operation)
    };
    let (decrypt, sign) = match family {
        Family::MlDsa(_) => (
            None,
            only(Mechanism::MlDsa, |said| said.sign, Operation::Sign),
        ),
        Family::MlKem(_) => {
            let uses = |said: &MechanismInfo| said.decapsulate;
            let operation = Operation::Decapsulate;
            (only(Mechanism::MlKem, uses, operation), None)
        }
        Family::Rsa(bits) => {
            let mechanism = fits(Mechanism::RsaPkcs, &[bits]);
            let decrypts = mechanism.filter(|mechanism| mechanism.decrypt);
            (decrypts.map(|_| Operation::Decrypt), signs(mechanism))
        }
        Family::Weierstrass(curve @ (Curve::NistP256 | Curve::NistP384 | Curve::NistP521)) => {
            let bits = [curve.bits()];
            let ecdh = fits(Mechanism::Ecdh, &bits);
            (derives(ecdh), signs(fits(Mechanism::Ecdsa, &bits)))
        }
        // Some count the bits of the field, some those of the string.
        Family::Ed25519 => (None, signs(fits(Mechanism::Eddsa, &[255, 256]))),
        Family::Ed448 => (None, signs(fits(Mechanism::Eddsa, &[448, 456]))),
        Family::Cv25519 => (derives(montgomery(&[255, 256])), None),
        Family::Cv448 => (derives(montgomery(&[448])), None),
        Family::Weierstrass(
            Curve::BrainpoolP256r1
            | Curve::BrainpoolP384r1
            | Curve::BrainpoolP512r1
            | Curve::Secp256k1,
        )
        | Family::Dsa(_)
        | Family::Elgamal(_)
        | Family::SlhDsa(..)
        | Family::KyberComposite(_) => (None, None),
    };
    decrypt.into_iter().chain(sign).collect()
}

/// Where a token says no length, it takes any.
fn takes(mechanism: &MechanismInfo, bits: u32) -> bool {
    let MechanismInfo {
        smallest, largest, ..
    } = *mechanism;
    smallest <= u64::from(bits) && (u64::from(bits) <= largest || largest == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pkcs11::token_info::{Login, TokenState};

    fn token(mechanisms: &[MechanismInfo]) -> TokenInfo {
        TokenInfo {
            label: String::new(),
            manufacturer: String::new(),
            model: String::new(),
            serial: String::new(),
            firmware: (0, 0),
            state: TokenState::Initialized,
            login: Login::NotNeeded,
            sessions: None,
            mechanisms: mechanisms.to_vec(),
            mechanism_count: mechanisms.len(),
            keys: Vec::new(),
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

    fn offers(mechanisms: &[MechanismInfo]) -> Vec<String> {
        let offered = offered(&token(mechanisms)).into_iter();
        offered
            .map(
                |Capability {
                     algorithm,
                     operation,
                 }| format!("{algorithm} {operation}"),
            )
            .collect()
    }

    #[test]
    fn only_what_the_token_says_is_offered() {
        assert!(offers(&[]).is_empty());
        let rsa = mechanism(Mechanism::RsaPkcs, 2048, 3072);
        assert_eq!(
            offers(&[rsa]),
            [
                "rsa2048 decrypt",
                "rsa2048 sign",
                "rsa3072 decrypt",
                "rsa3072 sign"
            ]
        );
        let signs_only = MechanismInfo {
            decrypt: false,
            ..rsa
        };
        assert_eq!(offers(&[signs_only]), ["rsa2048 sign", "rsa3072 sign"]);
        let ecdsa = mechanism(Mechanism::Ecdsa, 256, 384);
        assert_eq!(offers(&[ecdsa]), ["nistp256 sign", "nistp384 sign"]);
        let eddsa = mechanism(Mechanism::Eddsa, 255, 255);
        assert_eq!(offers(&[eddsa]), ["ed25519 sign"]);
    }

    #[test]
    fn keys_without_lengths_are_offered_in_all_parameter_sets() {
        let (dsa, kem) = (
            mechanism(Mechanism::MlDsa, 0, 0),
            mechanism(Mechanism::MlKem, 0, 0),
        );
        assert_eq!(
            offers(&[dsa]),
            ["mldsa44 sign", "mldsa65 sign", "mldsa87 sign"]
        );
        let kems = offers(&[kem]);
        assert_eq!(kems.len(), 3, "{kems:?}");
        assert!(kems.contains(&"mlkem768 decapsulate".to_owned()));
        let encapsulates = MechanismInfo {
            decapsulate: false,
            ..kem
        };
        assert!(offers(&[encapsulates]).is_empty());
    }

    #[test]
    fn schemes_are_offered_by_their_mechanisms() {
        let token = |mechanisms: &[MechanismInfo]| TokenInfo {
            manufacturer: "Kryoptic".to_owned(),
            ..token(mechanisms)
        };
        let all: Vec<Capability> = ["rsa2048", "rsa4096", "nistp384", "ed25519"]
            .into_iter()
            .flat_map(|name| Capability::of(name.parse().unwrap()))
            .collect();
        let names = |says: &TokenInfo, scheme| -> Vec<String> {
            let used = used_by(says, scheme, &all).into_iter();
            used.map(|can| format!("{} {}", can.algorithm, can.operation))
                .collect()
        };
        let pss = mechanism(Mechanism::RsaPss, 2048, 3072);
        assert_eq!(names(&token(&[pss]), Scheme::Pss), ["rsa2048 sign"]);
        assert!(names(&token(&[pss]), Scheme::PssHashed).is_empty());
        let hashed = [
            mechanism(Mechanism::Sha256RsaPkcs, 1024, 4096),
            mechanism(Mechanism::EcdsaSha256, 256, 521),
            mechanism(Mechanism::EcdsaSha384, 256, 521),
        ];
        assert_eq!(
            names(&token(&hashed), Scheme::Hashed),
            ["rsa2048 sign", "rsa4096 sign", "nistp384 sign"]
        );
        let oaep = [Mechanism::RsaOaepSha256, Mechanism::RsaOaepSha1];
        let oaep = token(&oaep.map(|kind| mechanism(kind, 1024, 2048)));
        assert_eq!(names(&oaep, Scheme::Oaep), ["rsa2048 decrypt"]);
        let of_softhsm = |firmware| TokenInfo {
            manufacturer: "SoftHSM project".to_owned(),
            firmware,
            ..oaep.clone()
        };
        assert!(names(&of_softhsm((2, 6)), Scheme::Oaep).is_empty());
        assert_eq!(names(&of_softhsm((2, 6)), Scheme::OaepSha1).len(), 1);
        assert_eq!(names(&of_softhsm((2, 7)), Scheme::Oaep).len(), 1);
    }

    #[test]
    fn keys_of_montgomery_curves_are_offered_where_they_can_be_made() {
        let ecdh = mechanism(Mechanism::Ecdh, 112, 521);
        let montgomery = mechanism(Mechanism::MontgomeryKeys, 255, 255);
        let nist = ["nistp256 decrypt", "nistp384 decrypt", "nistp521 decrypt"];
        assert_eq!(offers(&[ecdh]), nist);
        assert!(offers(&[ecdh, montgomery]).contains(&"cv25519 decrypt".to_owned()));
        assert!(!offers(&[ecdh, montgomery]).contains(&"cv448 decrypt".to_owned()));
        assert!(offers(&[montgomery]).is_empty());
    }
}
