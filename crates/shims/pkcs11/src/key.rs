//! Which algorithm a key of the module has.

use cryptoki_sys::{
    CK_ATTRIBUTE, CK_ATTRIBUTE_TYPE, CK_OBJECT_HANDLE, CK_RV, CK_SESSION_HANDLE, CK_ULONG,
    CKA_CLASS, CKA_EC_PARAMS, CKA_KEY_TYPE, CKA_MODULUS, CKA_PARAMETER_SET, CKK_EC, CKK_EC_EDWARDS,
    CKK_EC_MONTGOMERY, CKK_ML_DSA, CKK_ML_KEM, CKK_RSA, CKO_PRIVATE_KEY, CKP_ML_DSA_44,
    CKP_ML_DSA_65, CKP_ML_DSA_87, CKP_ML_KEM_512, CKP_ML_KEM_768, CKP_ML_KEM_1024,
};
use keymark_bench::algorithm::{Algorithm, Family};

use crate::target::Target;

/// Longest attribute that is asked for: a modulus of RSA-16384 with a zero before it.
const LONGEST: usize = 2049;

/// What a key is, as far as a device's time goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// No private key: what is done with it is none of a twin's.
    NotPrivate,
    Private(Algorithm),
    /// Of an algorithm or a length that keymark does not know.
    Unknown,
}

/// What is asked of a key, at once: programs wait for it.
const ASKED: [CK_ATTRIBUTE_TYPE; 5] = [
    CKA_CLASS,
    CKA_KEY_TYPE,
    CKA_MODULUS,
    CKA_EC_PARAMS,
    CKA_PARAMETER_SET,
];

/// Of keys that have no length: type, parameter set, and what that is.
const PARAMETER_SETS: [(CK_ULONG, CK_ULONG, Family); 6] = [
    (CKK_ML_DSA, CKP_ML_DSA_44, Family::MlDsa(44)),
    (CKK_ML_DSA, CKP_ML_DSA_65, Family::MlDsa(65)),
    (CKK_ML_DSA, CKP_ML_DSA_87, Family::MlDsa(87)),
    (CKK_ML_KEM, CKP_ML_KEM_512, Family::MlKem(512)),
    (CKK_ML_KEM, CKP_ML_KEM_768, Family::MlKem(768)),
    (CKK_ML_KEM, CKP_ML_KEM_1024, Family::MlKem(1024)),
];

/// Asks the module.
pub(crate) fn describe(target: &Target, session: CK_SESSION_HANDLE, key: CK_OBJECT_HANDLE) -> Key {
    let attributes = attributes(target, session, key);
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
            let mut known = PARAMETER_SETS.iter();
            let known = known.find(|known| (known.0, Some(known.1)) == (kind, set));
            known.map(|(.., family)| *family)
        }
        None => None,
    };
    family
        .and_then(Algorithm::of)
        .map_or(Key::Unknown, Key::Private)
}

/// In the order of what is asked; none of what the key does not have, or does not say.
fn attributes(
    target: &Target,
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
    let Some(get) = target.functions.C_GetAttributeValue else {
        return values.map(|_| None);
    };
    // The code says whether it has all, which no key does; what it has is there all the same (§5.7.5).
    // SAFETY: each attribute has room for its value, of which no more than that is written.
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
