//! Test keys: made under a primary key, and saved.

use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Curve, During as _, Error, Family, Operation};
use tss_esapi::attributes::{ObjectAttributes, ObjectAttributesBuilder};
use tss_esapi::interface_types::algorithm::HashingAlgorithm;
use tss_esapi::interface_types::ecc::EccCurve;
use tss_esapi::interface_types::key_bits::RsaKeyBits;
use tss_esapi::interface_types::resource_handles::Hierarchy;
use tss_esapi::structures::{
    Digest, EccPoint, EccScheme, HashScheme, KeyDerivationFunctionScheme, Public,
    PublicEccParameters, PublicKeyRsa, PublicParameters, PublicRsaParameters, RsaExponent,
    RsaScheme, SymmetricDefinitionObject,
};
use tss_esapi::utils::TpmsContext;
use tss_esapi::{Context, Result as TssResult};

use super::connection::refused;
use crate::public_key::PublicKey;
use crate::store::unsupported;

const ALGORITHMS: [&str; 5] = ["rsa1024", "rsa2048", "rsa3072", "nistp256", "nistp384"];
/// The exponent that a TPM writes as 0.
const EXPONENT: [u8; 3] = [1, 0, 1];

/// A key that was made.
#[derive(Debug, Clone)]
pub(super) struct SavedKey {
    pub(super) public: PublicKey,
    /// The key itself, for this TPM alone.
    pub(super) saved: TpmsContext,
}

pub(super) fn offered(context: &mut Context) -> Vec<Capability> {
    let known = Algorithm::all().filter(|algorithm| ALGORITHMS.contains(&algorithm.name()));
    let capabilities = known.flat_map(|algorithm| {
        [Operation::Decrypt, Operation::Sign].map(|operation| Capability::new(algorithm, operation))
    });
    let sessions = context.sessions();
    context.set_sessions((None, None, None));
    #[allow(clippy::wildcard_enum_match_arm, reason = "no other kind is made")]
    let has = |capability: &Capability| {
        let parameters = match template(*capability) {
            Some(Ok(Public::Rsa { parameters, .. })) => PublicParameters::Rsa(parameters),
            Some(Ok(Public::Ecc { parameters, .. })) => PublicParameters::Ecc(parameters),
            _ => return false,
        };
        context.test_parms(parameters).is_ok()
    };
    let offered = capabilities.filter(has).collect();
    context.set_sessions(sessions);
    offered
}

/// Makes a key; what is left in the TPM is nothing.
pub(super) fn make(context: &mut Context, capability: Capability) -> Result<SavedKey, Error> {
    let lacking = || unsupported("the TPM", capability);
    let template = template(capability)
        .ok_or_else(lacking)?
        .map_err(refused("TPM2_Create"))?;
    let parent = parent().map_err(refused("TPM2_CreatePrimary"))?;
    let parent = context.create_primary(Hierarchy::Owner, parent, None, None, None, None);
    let parent = parent.map_err(refused("TPM2_CreatePrimary"))?.key_handle;
    let made = context
        .create(parent, template, None, None, None, None)
        .map_err(refused("TPM2_Create"))
        .and_then(|made| {
            let public = made.out_public.clone();
            let key = context.load(parent, made.out_private, made.out_public);
            let key = key.map_err(refused("TPM2_Load"))?;
            let saved = context.context_save(key.into());
            let flushed = context.flush_context(key.into());
            flushed.map_err(refused("TPM2_FlushContext"))?;
            Ok((public, saved.map_err(refused("TPM2_ContextSave"))?))
        });
    let flushed = context.flush_context(parent.into());
    let (public, saved) = made?;
    flushed.map_err(refused("TPM2_FlushContext"))?;
    Ok(SavedKey {
        public: public_key(capability.algorithm, &public)?,
        saved,
    })
}

fn public_key(algorithm: Algorithm, public: &Public) -> Result<PublicKey, Error> {
    #[allow(clippy::wildcard_enum_match_arm, reason = "no other kind is made")]
    let key = match public {
        Public::Rsa { unique, .. } => PublicKey::rsa(algorithm, unique.value(), &EXPONENT),
        Public::Ecc { unique, .. } => {
            let length = coordinate(algorithm.family());
            let (x, y) = (unique.x().value(), unique.y().value());
            let point = [&[4][..], &padded(x, length), &padded(y, length)].concat();
            PublicKey::point(algorithm, &point)
        }
        _ => {
            let reason = "it made a key of another kind";
            return Err(Error::call("TPM2_Create", reason, ""));
        }
    };
    key.during("reading a public key")
}

/// A number in that many octets: a TPM leaves out zeros in front.
pub(super) fn padded(number: &[u8], length: usize) -> Vec<u8> {
    let mut octets = vec![0; length.saturating_sub(number.len())];
    octets.extend(number);
    octets
}

/// Octets of a coordinate on the curve.
pub(super) fn coordinate(family: Family) -> usize {
    curve(family).map_or(0, |(_, length)| length)
}

pub(super) fn hash_scheme(algorithm: Algorithm) -> HashScheme {
    HashScheme::new(match curve(algorithm.family()) {
        Some((EccCurve::NistP384, _)) => HashingAlgorithm::Sha384,
        Some(_) | None => HashingAlgorithm::Sha256,
    })
}

#[allow(clippy::wildcard_enum_match_arm, reason = "a TPM has no others")]
const fn curve(family: Family) -> Option<(EccCurve, usize)> {
    match family {
        Family::Weierstrass(Curve::NistP256) => Some((EccCurve::NistP256, 32)),
        Family::Weierstrass(Curve::NistP384) => Some((EccCurve::NistP384, 48)),
        _ => None,
    }
}

/// A storage key on P-256: a primary key of RSA would be looked for by a real TPM for seconds.
fn parent() -> TssResult<Public> {
    let attributes = attributes().with_decrypt(true).with_restricted(true);
    let cipher = SymmetricDefinitionObject::AES_128_CFB;
    let on_curve = |attributes| ecc(EccCurve::NistP256, EccScheme::Null, cipher, attributes);
    attributes.build().map(on_curve)
}

/// The test key that is to be made; none where no TPM has it.
fn template(capability: Capability) -> Option<TssResult<Public>> {
    let family = capability.algorithm.family();
    let signs = capability.operation == Operation::Sign;
    let attributes = attributes().with_sign_encrypt(signs).with_decrypt(!signs);
    let attributes = attributes.build();
    if let Family::Rsa(bits) = family {
        let bits = RsaKeyBits::try_from(u16::try_from(bits).ok()?).ok()?;
        return Some(attributes.map(|attributes| rsa(bits, attributes)));
    }
    let (curve, _) = curve(family)?;
    // A key that signs is bound to ECDSA.
    let scheme = if signs {
        EccScheme::EcDsa(hash_scheme(capability.algorithm))
    } else {
        EccScheme::Null
    };
    let none = SymmetricDefinitionObject::Null;
    Some(attributes.map(|attributes| ecc(curve, scheme, none, attributes)))
}

fn attributes() -> ObjectAttributesBuilder {
    ObjectAttributesBuilder::new()
        .with_fixed_tpm(true)
        .with_fixed_parent(true)
        .with_sensitive_data_origin(true)
        .with_user_with_auth(true)
}

/// A key of RSA, not bound to a scheme: the operation names it.
fn rsa(bits: RsaKeyBits, object_attributes: ObjectAttributes) -> Public {
    let (cipher, exponent) = (SymmetricDefinitionObject::Null, RsaExponent::default());
    Public::Rsa {
        object_attributes,
        name_hashing_algorithm: HashingAlgorithm::Sha256,
        auth_policy: Digest::default(),
        parameters: PublicRsaParameters::new(cipher, RsaScheme::Null, bits, exponent),
        unique: PublicKeyRsa::default(),
    }
}

fn ecc(
    curve: EccCurve,
    scheme: EccScheme,
    cipher: SymmetricDefinitionObject,
    object_attributes: ObjectAttributes,
) -> Public {
    let derivation = KeyDerivationFunctionScheme::Null;
    Public::Ecc {
        object_attributes,
        name_hashing_algorithm: HashingAlgorithm::Sha256,
        auth_policy: Digest::default(),
        parameters: PublicEccParameters::new(cipher, scheme, curve, derivation),
        unique: EccPoint::default(),
    }
}
