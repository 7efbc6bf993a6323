//! Test keys on their way to a card.

use keymark_bench::store::Capability;
use keymark_bench::{During as _, Error, Family};
use openpgp_card::ocard::crypto::{CardUploadableKey, EccKey, EccType, PrivateKeyMaterial, RSAKey};
use openpgp_card::ocard::data::{Fingerprint, KeyGenerationTime};
use openpgp_card::state::Transaction;
use openpgp_card::{Card, Error as CardError};
use openssl::error::ErrorStack;
use openssl::pkey::{PKey, Private};

use super::session::failed;
use crate::card::Slot;
use crate::public_key::PublicKey;
use crate::store::unsupported;
use crate::test_key::{Numbers, Secret, TestKey};

/// A key for one slot.
struct Upload<'a> {
    key: &'a TestKey,
    slot: Slot,
    fingerprint: [u8; 20],
}

impl Upload<'_> {
    fn material(&self) -> Result<PrivateKeyMaterial, Error> {
        if let (Secret::Evp(pkey), Family::Rsa(_)) = (&self.key.secret, self.key.algorithm.family())
        {
            let numbers = RsaNumbers::of(pkey).during("EVP_PKEY_todata")?;
            return Ok(PrivateKeyMaterial::R(Box::new(numbers)));
        }
        let scalar = Scalar::of(self.key, self.slot)?;
        Ok(PrivateKeyMaterial::E(Box::new(scalar)))
    }
}

impl CardUploadableKey for Upload<'_> {
    fn private_key(&self) -> Result<PrivateKeyMaterial, CardError> {
        self.material()
            .map_err(|error| CardError::UnsupportedAlgo(error.to_string()))
    }

    fn timestamp(&self) -> KeyGenerationTime {
        // Any time but zero: the fingerprint that hangs on it is not computed here.
        KeyGenerationTime::from(1)
    }

    fn fingerprint(&self) -> Result<Fingerprint, CardError> {
        Ok(Fingerprint::from(self.fingerprint))
    }
}

/// Sends a key to a slot: attributes, key, fingerprint and time. The admin PIN has been verified.
pub(super) fn upload(
    card: &mut Card<Transaction<'_>>,
    key: &TestKey,
    slot: Slot,
    fingerprint: [u8; 20],
) -> Result<(), Error> {
    let upload = Upload {
        key,
        slot,
        fingerprint,
    };
    let imported = card.card().key_import(&upload, slot.key_type());
    imported.map_err(|error| failed("PUT DATA (key import)", &error))
}

/// Bytes to tell test keys apart by, where no OpenPGP key exists to have a fingerprint.
pub(super) fn stand_in_fingerprint(key: &TestKey) -> Result<[u8; 20], Error> {
    let der = PublicKey::of(key)?.spki_der().during("i2d_PUBKEY")?;
    Ok(openssl::sha::sha1(&der))
}

/// §4.4.3.12: e, p, q, and what the card may want in addition to them.
struct RsaNumbers {
    e: Vec<u8>,
    p: Vec<u8>,
    q: Vec<u8>,
    pq: Vec<u8>,
    dp1: Vec<u8>,
    dq1: Vec<u8>,
    n: Vec<u8>,
}

impl RsaNumbers {
    fn of(pkey: &PKey<Private>) -> Result<Self, ErrorStack> {
        let rsa = pkey.rsa()?;
        let half = rsa.n().num_bytes() / 2;
        let factor = |number: Option<&openssl::bn::BigNumRef>| {
            number.ok_or_else(ErrorStack::get)?.to_vec_padded(half)
        };
        Ok(Self {
            e: rsa.e().to_vec(),
            p: factor(rsa.p())?,
            q: factor(rsa.q())?,
            pq: factor(rsa.iqmp())?,
            dp1: factor(rsa.dmp1())?,
            dq1: factor(rsa.dmq1())?,
            n: rsa.n().to_vec(),
        })
    }
}

/// Functions that hand out a field's octets.
macro_rules! octets {
    ($($field:ident)*) => {
        $(fn $field(&self) -> &[u8] {
            &self.$field
        })*
    };
}

impl RSAKey for RsaNumbers {
    octets!(e p q pq dp1 dq1 n);
}

struct Scalar {
    oid: &'static [u8],
    private: Vec<u8>,
    public: Vec<u8>,
    kind: EccType,
}

impl Scalar {
    fn of(key: &TestKey, slot: Slot) -> Result<Self, Error> {
        let family = key.algorithm.family();
        let lacking = || unsupported("a card", Capability::new(key.algorithm, slot.operation()));
        // OpenPGP's mark of a point in its curve's own form (RFC 9580 §11.2.2).
        let marked = |public| [vec![0x40], public].concat();
        let (kind, private, public) = match (key.numbers()?, slot, family) {
            (Numbers::Weierstrass { point, d }, Slot::Decryption, _) => (EccType::ECDH, d, point),
            (Numbers::Weierstrass { point, d }, ..) => (EccType::ECDSA, d, point),
            // An MPI in OpenPGP, big-endian, where RFC 7748 has little-endian octets.
            (Numbers::Raw { public, mut secret }, _, Family::Cv25519) => {
                secret.reverse();
                (EccType::ECDH, secret, marked(public))
            }
            (Numbers::Raw { public, secret }, ..) => (EccType::EdDSA, secret, marked(public)),
            _ => return Err(lacking()),
        };
        Ok(Self {
            oid: family.oids().first().ok_or_else(lacking)?,
            private,
            public,
            kind,
        })
    }
}

impl EccKey for Scalar {
    octets!(oid private public);

    fn ecc_type(&self) -> EccType {
        self.kind
    }
}
