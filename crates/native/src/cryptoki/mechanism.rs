//! Mechanisms, with the parameters that some of them take.

use std::ptr;

use cryptoki::context::Pkcs11;
use cryptoki::mechanism::MechanismType;
use cryptoki::slot::Slot;
use cryptoki_sys::{
    CK_MECHANISM, CK_MECHANISM_TYPE, CK_RSA_PKCS_MGF_TYPE, CK_RSA_PKCS_OAEP_PARAMS,
    CK_RSA_PKCS_PSS_PARAMS, CK_ULONG, CKG_MGF1_SHA1, CKG_MGF1_SHA256,
    CKM_EC_MONTGOMERY_KEY_PAIR_GEN, CKM_ECDH1_DERIVE, CKM_ECDSA, CKM_ECDSA_SHA256,
    CKM_ECDSA_SHA384, CKM_ECDSA_SHA512, CKM_EDDSA, CKM_ML_DSA, CKM_ML_DSA_KEY_PAIR_GEN, CKM_ML_KEM,
    CKM_ML_KEM_KEY_PAIR_GEN, CKM_RSA_PKCS, CKM_RSA_PKCS_OAEP, CKM_RSA_PKCS_PSS, CKM_SHA_1,
    CKM_SHA256, CKM_SHA256_RSA_PKCS, CKM_SHA256_RSA_PKCS_PSS, CKR_OK, CKZ_DATA_SPECIFIED,
};
use serde::{Deserialize, Serialize};

use super::Calls;

/// The table: each mechanism with its number, the keys it takes, and the parameter that it is used with (3.1 §6.1.9 and
/// §6.1.14 have digest and salt said even where the mechanism's name has them).
macro_rules! mechanisms {
    ($($(#[$doc:meta])* $name:ident = $number:ident, $keys:ident, $parameter:expr;)+) => {
        /// A mechanism that keymark has a use for, with the parameter that it is used with.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Mechanism {
            $($(#[$doc])* $name,)+
        }

        impl Mechanism {
            const ALL: &[Self] = &[$(Self::$name,)+];

            pub(crate) const fn row(self) -> Row {
                let (number, keys, parameter) = match self {
                    $(Self::$name => ($number, Keys::$keys, $parameter),)+
                };
                Row { number, keys, parameter }
            }
        }
    };
}

mechanisms! {
    /// Signs a DigestInfo, and decrypts.
    RsaPkcs = CKM_RSA_PKCS, Rsa, Parameter::None;
    /// Of a SHA-256 digest, with 32 bytes of salt.
    RsaPss = CKM_RSA_PKCS_PSS, Rsa, PSS;
    /// With SHA-256 and MGF1 with it.
    RsaOaepSha256 = CKM_RSA_PKCS_OAEP, Rsa, oaep(CKM_SHA256, CKG_MGF1_SHA256);
    /// The same with SHA-1. Which digests it takes no token says.
    RsaOaepSha1 = CKM_RSA_PKCS_OAEP, Rsa, oaep(CKM_SHA_1, CKG_MGF1_SHA1);
    /// Of a message.
    Sha256RsaPkcs = CKM_SHA256_RSA_PKCS, Rsa, Parameter::None;
    /// Of a message.
    Sha256RsaPss = CKM_SHA256_RSA_PKCS_PSS, Rsa, PSS;
    /// Of a digest.
    Ecdsa = CKM_ECDSA, OfCurve, Parameter::None;
    /// Of a message.
    EcdsaSha256 = CKM_ECDSA_SHA256, OfCurve, Parameter::None;
    /// Of a message.
    EcdsaSha384 = CKM_ECDSA_SHA384, OfCurve, Parameter::None;
    /// Of a message.
    EcdsaSha512 = CKM_ECDSA_SHA512, OfCurve, Parameter::None;
    /// Of a message.
    Eddsa = CKM_EDDSA, OfCurve, Parameter::None;
    /// Without a key derivation function.
    Ecdh = CKM_ECDH1_DERIVE, OfCurve, Parameter::None;
    /// Of a message, hedged or not as the token likes (3.2 §6.67). Which parameter sets it has no token says.
    MlDsa = CKM_ML_DSA, OfParameterSet, Parameter::None;
    /// 3.2 §6.68
    MlKem = CKM_ML_KEM, OfParameterSet, Parameter::None;
    /// There are such keys.
    MlDsaKeys = CKM_ML_DSA_KEY_PAIR_GEN, OfParameterSet, Parameter::None;
    /// There are such keys.
    MlKemKeys = CKM_ML_KEM_KEY_PAIR_GEN, OfParameterSet, Parameter::None;
    /// There are keys of X25519 or X448.
    MontgomeryKeys = CKM_EC_MONTGOMERY_KEY_PAIR_GEN, OfCurve, Parameter::None;
}

/// What the lengths of keys are counted in.
enum Keys {
    /// Bits; by some modules bytes.
    Rsa,
    /// Bits.
    OfCurve,
    /// Nothing: they have no length but their parameter set.
    OfParameterSet,
}

/// With a salt as long as the digest (RFC 8017 §9.1).
const PSS: Parameter = Parameter::Pss(CK_RSA_PKCS_PSS_PARAMS {
    hashAlg: CKM_SHA256,
    mgf: CKG_MGF1_SHA256,
    sLen: 32,
});

/// What a token says of a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MechanismInfo {
    /// Which one.
    pub kind: Mechanism,
    /// Length of the shortest key, in bits; 0 where keys have none.
    pub smallest: u64,
    /// Of the longest.
    pub largest: u64,
    /// `CKF_SIGN`
    pub sign: bool,
    /// `CKF_DECRYPT`
    pub decrypt: bool,
    /// `CKF_DERIVE`
    pub derive: bool,
    /// `CKF_DECAPSULATE`, of a module that has `C_DecapsulateKey`.
    pub decapsulate: bool,
}

impl Calls {
    /// How many mechanisms the token in a slot has, and what it says of those that keymark has a use for.
    pub fn mechanisms(&self, client: &Pkcs11, slot: Slot) -> (usize, Vec<MechanismInfo>) {
        let listed = self.listed(slot);
        let known = Mechanism::ALL.iter().copied();
        let known = known.filter(|kind| listed.contains(&kind.row().number));
        let infos = known.filter_map(|kind| self.info(client, slot, kind));
        (listed.len(), infos.collect())
    }

    fn listed(&self, slot: Slot) -> Vec<CK_MECHANISM_TYPE> {
        let mut count: CK_ULONG = 0;
        // SAFETY: without a list the number is written only (§5.2).
        let code = unsafe { (self.mechanism_list)(slot.into(), ptr::null_mut(), &raw mut count) };
        if code != CKR_OK {
            return Vec::new();
        }
        let mut mechanisms = vec![0; count as usize];
        // SAFETY: no more than `count` numbers are written, which then says how many were.
        let code =
            unsafe { (self.mechanism_list)(slot.into(), mechanisms.as_mut_ptr(), &raw mut count) };
        let there = if code == CKR_OK { count as usize } else { 0 };
        mechanisms.truncate(there);
        mechanisms
    }

    fn info(&self, client: &Pkcs11, slot: Slot, kind: Mechanism) -> Option<MechanismInfo> {
        let asked = MechanismType::try_from(kind.row().number).ok()?;
        let info = client.get_mechanism_info(slot, asked).ok()?;
        let (smallest, largest) = (info.min_key_size() as u64, info.max_key_size() as u64);
        let unit = unit(kind, largest);
        Some(MechanismInfo {
            kind,
            smallest: smallest * unit,
            largest: largest * unit,
            sign: info.sign(),
            decrypt: info.decrypt(),
            derive: info.derive(),
            decapsulate: info.decapsulate() && self.decapsulate.is_some(),
        })
    }
}

/// How many bits the numbers of a token count.
const fn unit(kind: Mechanism, largest: u64) -> u64 {
    // No RSA key has as few bits.
    const FEWEST_BITS: u64 = 1024;
    match kind.row().keys {
        Keys::OfParameterSet => 0,
        Keys::Rsa if largest > 0 && largest < FEWEST_BITS => 8,
        Keys::Rsa | Keys::OfCurve => 1,
    }
}

/// What the table says of a mechanism.
pub(crate) struct Row {
    number: CK_MECHANISM_TYPE,
    keys: Keys,
    parameter: Parameter,
}

enum Parameter {
    None,
    Pss(CK_RSA_PKCS_PSS_PARAMS),
    Oaep(CK_RSA_PKCS_OAEP_PARAMS),
}

impl Row {
    /// As the C functions take it: it points into this, which has to stay where it is until they return.
    pub(crate) const fn mechanism(&mut self) -> CK_MECHANISM {
        let (parameter, length) = match &mut self.parameter {
            Parameter::None => (ptr::null_mut(), 0),
            Parameter::Pss(pss) => (
                ptr::from_mut(pss).cast(),
                size_of::<CK_RSA_PKCS_PSS_PARAMS>(),
            ),
            Parameter::Oaep(oaep) => (
                ptr::from_mut(oaep).cast(),
                size_of::<CK_RSA_PKCS_OAEP_PARAMS>(),
            ),
        };
        CK_MECHANISM {
            mechanism: self.number,
            pParameter: parameter,
            ulParameterLen: length as CK_ULONG,
        }
    }
}

/// Without a label (3.1 §6.1.7, §6.1.8).
const fn oaep(digest: CK_MECHANISM_TYPE, mgf: CK_RSA_PKCS_MGF_TYPE) -> Parameter {
    Parameter::Oaep(CK_RSA_PKCS_OAEP_PARAMS {
        hashAlg: digest,
        mgf,
        source: CKZ_DATA_SPECIFIED,
        pSourceData: ptr::null_mut(),
        ulSourceDataLen: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_as_long_as_they_are_said_to_be() {
        let mut pkcs = Mechanism::Sha256RsaPkcs.row();
        let mechanism = pkcs.mechanism();
        assert!(mechanism.pParameter.is_null() && mechanism.ulParameterLen == 0);
        assert_eq!(mechanism.mechanism, 0x40);
        // Three and five words of eight bytes.
        for (mut row, number, length) in [
            (Mechanism::RsaPss.row(), 0x0d, 24),
            (Mechanism::Sha256RsaPss.row(), 0x43, 24),
            (Mechanism::RsaOaepSha256.row(), 0x09, 40),
        ] {
            let mechanism = row.mechanism();
            assert_eq!(
                (mechanism.mechanism, mechanism.ulParameterLen),
                (number, length)
            );
            assert!(!mechanism.pParameter.is_null());
        }
    }
}
