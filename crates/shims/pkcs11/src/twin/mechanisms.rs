//! Which mechanisms a device has, by the keys in its profile.

use cryptoki_sys::{
    CK_MECHANISM_TYPE, CKM_DH_PKCS_DERIVE, CKM_DH_PKCS_KEY_PAIR_GEN, CKM_DSA_KEY_PAIR_GEN,
    CKM_DSA_SHA3_224, CKM_DSA_SHA3_512, CKM_DSA_SHA512, CKM_EC_EDWARDS_KEY_PAIR_GEN,
    CKM_EC_KEY_PAIR_GEN, CKM_EC_MONTGOMERY_KEY_PAIR_GEN, CKM_ECDH1_COFACTOR_DERIVE,
    CKM_ECDH1_DERIVE, CKM_ECDSA_SHA3_512, CKM_EDDSA, CKM_ML_DSA, CKM_ML_DSA_KEY_PAIR_GEN,
    CKM_ML_KEM, CKM_ML_KEM_KEY_PAIR_GEN, CKM_RSA_PKCS_KEY_PAIR_GEN, CKM_SHA1_RSA_PKCS_PSS,
    CKM_SHA3_224_RSA_PKCS_PSS, CKM_SHA3_256_RSA_PKCS, CKM_SHA224_RSA_PKCS_PSS, CKM_SHA256_RSA_PKCS,
};
use keymark_bench::algorithm::Family;
use keymark_bench::profile::Profile;

/// Which keys a mechanism takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// No private ones, or one kind only: what the module says stands.
    Any,
    /// The shortest and the longest, in bits.
    Bits(u32, u32),
}

/// None: the device has no such keys.
pub(super) fn range(mechanism: CK_MECHANISM_TYPE, profile: &Profile) -> Option<Range> {
    let families = || profile.capabilities().map(|known| known.algorithm.family());
    let among = |bits: &dyn Fn(Family) -> Option<u32>| {
        let (mut known, mut all) = (families().filter_map(bits), families().filter_map(bits));
        let first = known.next()?;
        let smallest = known.fold(first, u32::min);
        Some(Range::Bits(smallest, all.by_ref().fold(first, u32::max)))
    };
    let any = |is: &dyn Fn(Family) -> bool| families().any(is).then_some(Range::Any);
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the other families have mechanisms of their own"
    )]
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
