//! Mechanisms, with the parameters that some of them take.

use std::ptr;

use cryptoki::context::{Function, Pkcs11};
use cryptoki::mechanism::dsa::{HedgeType, SignAdditionalContext};
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource, PkcsPssParams};
use cryptoki::mechanism::{Mechanism as Asked, MechanismType};
use cryptoki::slot::Slot;
use cryptoki::types::Ulong;
use cryptoki_sys::{CK_MECHANISM_TYPE, CK_ULONG, CKR_OK};
use serde::{Deserialize, Serialize};

use super::Calls;

/// The table: each mechanism as the crate has it, with the parameter that it is used with (3.1 §6.1.9 and §6.1.14
/// have digest and salt said even where the mechanism's name has them), and the keys it takes.
macro_rules! mechanisms {
    ($($(#[$doc:meta])* $name:ident = $asked:expr, $keys:ident;)+) => {
        /// A mechanism that keymark has a use for, with the parameter that it is used with.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Mechanism {
            $($(#[$doc])* $name,)+
        }

        impl Mechanism {
            const ALL: &[Self] = &[$(Self::$name,)+];

            pub(crate) fn asked(self) -> Asked<'static> {
                match self {
                    $(Self::$name => $asked,)+
                }
            }

            const fn keys(self) -> Keys {
                match self {
                    $(Self::$name => Keys::$keys,)+
                }
            }
        }
    };
}

mechanisms! {
    /// Signs a DigestInfo, and decrypts.
    RsaPkcs = Asked::RsaPkcs, Rsa;
    /// Signs a SHA-256 digest, with 32 bytes of salt.
    RsaPss = Asked::RsaPkcsPss(PSS), Rsa;
    /// Decrypts with SHA-256 and MGF1 with it.
    RsaOaepSha256 = oaep(MechanismType::SHA256, PkcsMgfType::MGF1_SHA256), Rsa;
    /// Decrypts with SHA-1 and MGF1 with it. No token says which digests it takes.
    RsaOaepSha1 = oaep(MechanismType::SHA1, PkcsMgfType::MGF1_SHA1), Rsa;
    /// Signs a message.
    Sha256RsaPkcs = Asked::Sha256RsaPkcs, Rsa;
    /// Signs a message.
    Sha256RsaPss = Asked::Sha256RsaPkcsPss(PSS), Rsa;
    /// Signs a digest.
    Ecdsa = Asked::Ecdsa, OfCurve;
    /// Signs a message.
    EcdsaSha256 = Asked::EcdsaSha256, OfCurve;
    /// Signs a message.
    EcdsaSha384 = Asked::EcdsaSha384, OfCurve;
    /// Signs a message.
    EcdsaSha512 = Asked::EcdsaSha512, OfCurve;
    /// Signs a message.
    Eddsa = Asked::Eddsa(EddsaParams::new(EddsaSignatureScheme::Pure)), OfCurve;
    /// Derives with the peer of each derivation.
    Ecdh = ecdh(&[]), OfCurve;
    /// Signs a message, hedged or not as the token likes (3.2 §6.67). No token says which parameter sets it has.
    MlDsa = Asked::MlDsa(SignAdditionalContext::new(HedgeType::Preferred, None)), OfParameterSet;
    /// 3.2 §6.68
    MlKem = Asked::MlKem, OfParameterSet;
    /// There are keys of X25519 or X448.
    MontgomeryKeys = Asked::EccMontgomeryKeyPairGen, OfCurve;
}

/// Unit of key lengths.
enum Keys {
    /// Bits; by some modules bytes.
    Rsa,
    /// Bits.
    OfCurve,
    /// Nothing: they have no length but their parameter set.
    OfParameterSet,
}

const PSS: PkcsPssParams = PkcsPssParams {
    hash_alg: MechanismType::SHA256,
    mgf: PkcsMgfType::MGF1_SHA256,
    s_len: Ulong::new(32),
};

fn oaep(digest: MechanismType, mgf: PkcsMgfType) -> Asked<'static> {
    PkcsOaepParams::new(digest, mgf, PkcsOaepSource::empty()).into()
}

pub(crate) fn ecdh(peer: &[u8]) -> Asked<'_> {
    Asked::Ecdh1Derive(Ecdh1DeriveParams::new(EcKdf::null(), peer))
}

/// Answer of a token about a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MechanismInfo {
    /// The mechanism.
    pub kind: Mechanism,
    /// Length of the shortest key, in bits; 0 where keys have none.
    pub smallest: u64,
    /// Length of the longest key.
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
    /// Returns the number of mechanisms the token in a slot has, and what it says of those that keymark has a use for.
    pub fn mechanisms(&self, client: &Pkcs11, slot: Slot) -> (usize, Vec<MechanismInfo>) {
        let listed = self.listed(slot);
        let known = Mechanism::ALL.iter().copied();
        let known = known.filter(|kind| listed.contains(&kind.asked().mechanism_type()));
        let infos = known.filter_map(|kind| info(client, slot, kind));
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
        // SAFETY: at most `count` numbers are written, which then says how many were.
        let code =
            unsafe { (self.mechanism_list)(slot.into(), mechanisms.as_mut_ptr(), &raw mut count) };
        let there = if code == CKR_OK { count as usize } else { 0 };
        mechanisms.truncate(there);
        mechanisms
    }
}

fn info(client: &Pkcs11, slot: Slot, kind: Mechanism) -> Option<MechanismInfo> {
    let asked = kind.asked().mechanism_type();
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
        decapsulate: info.decapsulate() && client.is_fn_supported(Function::DecapsulateKey),
    })
}

/// Returns the number of bits the numbers of a token count.
const fn unit(kind: Mechanism, largest: u64) -> u64 {
    // No RSA key has as few bits.
    const FEWEST_BITS: u64 = 1024;
    match kind.keys() {
        Keys::OfParameterSet => 0,
        Keys::Rsa if largest > 0 && largest < FEWEST_BITS => 8,
        Keys::Rsa | Keys::OfCurve => 1,
    }
}

#[cfg(test)]
mod tests {
    use cryptoki_sys::CK_MECHANISM;

    use super::*;

    #[test]
    fn parameters_are_as_long_as_they_are_said_to_be() {
        let pkcs = CK_MECHANISM::from(&Mechanism::Sha256RsaPkcs.asked());
        assert!(pkcs.pParameter.is_null() && pkcs.ulParameterLen == 0);
        assert_eq!(pkcs.mechanism, 0x40);
        // Three and five words of eight bytes.
        for (kind, number, length) in [
            (Mechanism::RsaPss, 0x0d, 24),
            (Mechanism::Sha256RsaPss, 0x43, 24),
            (Mechanism::RsaOaepSha256, 0x09, 40),
        ] {
            let asked = kind.asked();
            let mechanism = CK_MECHANISM::from(&asked);
            assert_eq!(
                (mechanism.mechanism, mechanism.ulParameterLen),
                (number, length)
            );
            assert!(!mechanism.pParameter.is_null());
        }
    }
}
