//! Abilities of a device, by the keys in its profile: which algorithm a key of the module has, and which mechanisms it
//! takes.

use std::collections::BTreeSet;

use cryptoki_sys::{
    CK_ATTRIBUTE, CK_ATTRIBUTE_TYPE, CK_MECHANISM_TYPE, CK_OBJECT_HANDLE, CK_RV, CK_SESSION_HANDLE,
    CK_ULONG, CKA_CLASS, CKA_EC_PARAMS, CKA_KEY_TYPE, CKA_MODULUS, CKA_PARAMETER_SET, CKK_EC,
    CKK_EC_EDWARDS, CKK_EC_MONTGOMERY, CKK_ML_DSA, CKK_ML_KEM, CKK_RSA, CKM_DH_PKCS_DERIVE,
    CKM_DH_PKCS_KEY_PAIR_GEN, CKM_DSA_KEY_PAIR_GEN, CKM_DSA_SHA3_224, CKM_DSA_SHA3_512,
    CKM_DSA_SHA512, CKM_EC_EDWARDS_KEY_PAIR_GEN, CKM_EC_KEY_PAIR_GEN,
    CKM_EC_MONTGOMERY_KEY_PAIR_GEN, CKM_ECDH1_COFACTOR_DERIVE, CKM_ECDH1_DERIVE,
    CKM_ECDSA_SHA3_512, CKM_EDDSA, CKM_ML_DSA, CKM_ML_DSA_KEY_PAIR_GEN, CKM_ML_KEM,
    CKM_ML_KEM_KEY_PAIR_GEN, CKM_RSA_PKCS_KEY_PAIR_GEN, CKM_SHA1_RSA_PKCS_PSS,
    CKM_SHA3_224_RSA_PKCS_PSS, CKM_SHA3_256_RSA_PKCS, CKM_SHA224_RSA_PKCS_PSS, CKM_SHA256_RSA_PKCS,
    CKO_PRIVATE_KEY, CKP_ML_DSA_44, CKP_ML_DSA_65, CKP_ML_DSA_87, CKP_ML_KEM_512, CKP_ML_KEM_768,
    CKP_ML_KEM_1024,
};
use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::profile::Profile;

use crate::interfaces::Callee;

/// Longest attribute that is asked for: a modulus of RSA-16384 with a zero before it.
const LONGEST: usize = 2049;

/// Kind of a key, as far as a device's time goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// No private key: what is done with it is none of a twin's.
    NotPrivate,
    Private(Algorithm),
    /// Algorithm or length that keymark does not know.
    Unknown,
}

/// Attributes of a key that are read at once: programs wait for them.
const ASKED: [CK_ATTRIBUTE_TYPE; 5] = [
    CKA_CLASS,
    CKA_KEY_TYPE,
    CKA_MODULUS,
    CKA_EC_PARAMS,
    CKA_PARAMETER_SET,
];

const PARAMETER_SETS: [(CK_ULONG, CK_ULONG, Family); 6] = [
    (CKK_ML_DSA, CKP_ML_DSA_44, Family::MlDsa(44)),
    (CKK_ML_DSA, CKP_ML_DSA_65, Family::MlDsa(65)),
    (CKK_ML_DSA, CKP_ML_DSA_87, Family::MlDsa(87)),
    (CKK_ML_KEM, CKP_ML_KEM_512, Family::MlKem(512)),
    (CKK_ML_KEM, CKP_ML_KEM_768, Family::MlKem(768)),
    (CKK_ML_KEM, CKP_ML_KEM_1024, Family::MlKem(1024)),
];

/// Asks the module.
pub(crate) fn describe(callee: &Callee, session: CK_SESSION_HANDLE, key: CK_OBJECT_HANDLE) -> Key {
    let attributes = attributes(callee, session, key);
    let octets = |kind: CK_ATTRIBUTE_TYPE| {
        let at = ASKED.iter().position(|asked| *asked == kind)?;
        attributes[at].as_deref()
    };
    let number = |kind| {
        let octets: [u8; size_of::<CK_ULONG>()] = octets(kind)?.try_into().ok()?;
        Some(CK_ULONG::from_ne_bytes(octets))
    };
    match number(CKA_CLASS) {
        Some(CKO_PRIVATE_KEY) => {}
        Some(_) => return Key::NotPrivate,
        None => return Key::Unknown,
    }
    let family = match number(CKA_KEY_TYPE) {
        Some(CKK_RSA) => octets(CKA_MODULUS).and_then(|modulus| {
            let zeroes = modulus.iter().take_while(|octet| **octet == 0).count();
            let bits = 8 * (modulus.len() - zeroes);
            u32::try_from(bits).ok().map(Family::Rsa)
        }),
        Some(CKK_EC | CKK_EC_EDWARDS | CKK_EC_MONTGOMERY) => {
            octets(CKA_EC_PARAMS).and_then(Family::of_ec_parameters)
        }
        Some(kind) => {
            let set = number(CKA_PARAMETER_SET);
            let known = PARAMETER_SETS
                .iter()
                .find(|known| (known.0, Some(known.1)) == (kind, set));
            known.map(|(.., family)| *family)
        }
        None => None,
    };
    family
        .and_then(Algorithm::of)
        .map_or(Key::Unknown, Key::Private)
}

fn attributes(
    callee: &Callee,
    session: CK_SESSION_HANDLE,
    key: CK_OBJECT_HANDLE,
) -> [Option<Vec<u8>>; ASKED.len()] {
    let mut values = ASKED.map(|_| vec![0_u8; LONGEST]);
    let mut wanted = ASKED.map(|kind| CK_ATTRIBUTE {
        type_: kind,
        pValue: std::ptr::null_mut(),
        ulValueLen: LONGEST as CK_ULONG,
    });
    for (attribute, value) in wanted.iter_mut().zip(&mut values) {
        attribute.pValue = value.as_mut_ptr().cast();
    }
    let Some(get) = callee.functions.C_GetAttributeValue else {
        return values.map(|_| None);
    };
    // The code says whether it has all, which no key does; what it has is there all the same (§5.7.5).
    // SAFETY: each attribute has room for its value, of which at most that is written.
    let _: CK_RV = unsafe { get(session, key, wanted.as_mut_ptr(), wanted.len() as CK_ULONG) };
    let mut lengths = wanted.iter().map(|attribute| attribute.ulValueLen);
    values.map(|mut value| {
        // What there is not has the length of all ones; what was not looked at still has the length given.
        let length = usize::try_from(lengths.next()?).ok()?;
        (length < LONGEST).then(|| {
            value.truncate(length);
            value
        })
    })
}

/// Keys that a mechanism takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    /// No private ones, or one kind only: the module is believed.
    Any,
    /// The shortest and the longest, in bits.
    Bits(u32, u32),
}

pub(crate) fn range(mechanism: CK_MECHANISM_TYPE, profile: &Profile) -> Option<Range> {
    let families = || profile.capabilities().map(|known| known.algorithm.family());
    let among = |bits: &dyn Fn(Family) -> Option<u32>| {
        let known: BTreeSet<u32> = families().filter_map(bits).collect();
        Some(Range::Bits(*known.first()?, *known.last()?))
    };
    let any = |is: &dyn Fn(Family) -> bool| families().any(is).then_some(Range::Any);
    #[allow(clippy::wildcard_enum_match_arm, reason = "others have their own")]
    match mechanism {
        // Those of one kind of keys have numbers that follow each other.
        CKM_RSA_PKCS_KEY_PAIR_GEN..=CKM_SHA1_RSA_PKCS_PSS
        | CKM_SHA256_RSA_PKCS..=CKM_SHA224_RSA_PKCS_PSS
        | CKM_SHA3_256_RSA_PKCS..=CKM_SHA3_224_RSA_PKCS_PSS => among(&|family| match family {
            Family::Rsa(bits) => Some(bits),
            _ => None,
        }),
        CKM_EC_KEY_PAIR_GEN..=CKM_ECDSA_SHA3_512 | CKM_ECDH1_DERIVE | CKM_ECDH1_COFACTOR_DERIVE => {
            among(&|family| match family {
                Family::Weierstrass(curve) => Some(curve.bits()),
                Family::Cv25519 => Some(255),
                _ => None,
            })
        }
        CKM_DSA_KEY_PAIR_GEN..=CKM_DSA_SHA512 | CKM_DSA_SHA3_224..=CKM_DSA_SHA3_512 => {
            any(&|family| matches!(family, Family::Dsa(_)))
        }
        // Of keys that keymark does not know no profile has a time.
        CKM_DH_PKCS_KEY_PAIR_GEN | CKM_DH_PKCS_DERIVE => None,
        CKM_EC_EDWARDS_KEY_PAIR_GEN | CKM_EDDSA => {
            any(&|family| matches!(family, Family::Ed25519 | Family::Ed448))
        }
        CKM_EC_MONTGOMERY_KEY_PAIR_GEN => {
            any(&|family| matches!(family, Family::Cv25519 | Family::Cv448))
        }
        CKM_ML_DSA | CKM_ML_DSA_KEY_PAIR_GEN => any(&|family| matches!(family, Family::MlDsa(_))),
        CKM_ML_KEM | CKM_ML_KEM_KEY_PAIR_GEN => any(&|family| matches!(family, Family::MlKem(_))),
        _ => Some(Range::Any),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mechanisms_are_those_of_the_keys_in_the_profile() {
        let text = "schema=1\nname='x'\nproduct='X'\nsource='here'\nstore='pkcs11'\n\
             [[service]]\nalgorithm='rsa1024'\noperation='decrypt'\nconstant_s=0.1\n\
             [[service]]\nalgorithm='rsa2048'\noperation='decrypt'\nconstant_s=0.2\n";
        let profile = Profile::parse(text, "x").unwrap();
        let of = |mechanism| range(mechanism, &profile);
        use cryptoki_sys::{
            CKM_DSA_SHA256, CKM_ECDSA, CKM_MD5_RSA_PKCS, CKM_RSA_PKCS_PSS, CKM_SHA256,
        };
        assert_eq!(of(CKM_RSA_PKCS_PSS), Some(Range::Bits(1024, 2048)));
        // It lies among the mechanisms of DSA.
        assert_eq!((of(CKM_ML_KEM), of(CKM_ML_DSA)), (None, None));
        assert_eq!(of(CKM_SHA256_RSA_PKCS), Some(Range::Bits(1024, 2048)));
        assert_eq!(of(CKM_MD5_RSA_PKCS), Some(Range::Bits(1024, 2048)));
        assert_eq!((of(CKM_DSA_SHA256), of(CKM_DH_PKCS_DERIVE)), (None, None));
        assert_eq!(of(CKM_ECDSA), None);
        assert_eq!(of(CKM_EDDSA), None);
        assert_eq!(of(CKM_SHA256), Some(Range::Any));
    }
}
