//! A worker's way to a key: a connection of its own, and the timed call in it.

use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed, copy_answer};
use keymark_bench::{Error, Family, Operation};
use tss_esapi::constants::tss::{TPM2_RH_NULL, TPM2_ST_HASHCHECK};
use tss_esapi::handles::KeyHandle as Loaded;
use tss_esapi::structures::{
    Data, Digest, EccParameter, EccPoint, HashcheckTicket, PublicKeyRsa, RsaDecryptionScheme,
    Signature, SignatureScheme,
};
use tss_esapi::tss2_esys::{TPM2B_DIGEST, TPMT_TK_HASHCHECK};
use tss_esapi::utils::TpmsContext;
use tss_esapi::{Context, Result as TssResult};

use super::connection::{Way, refused};
use super::keys::{coordinate, hash_scheme, padded};
use crate::store::unsupported;

/// An operation with everything that it takes.
#[derive(Debug)]
enum Armed {
    Sign(Digest, SignatureScheme, HashcheckTicket),
    Decrypt(PublicKeyRsa),
    Derive(EccPoint),
}

#[derive(Debug)]
enum TpmAnswer {
    Signature(Signature),
    Plain(PublicKeyRsa),
    Shared(EccPoint),
}

/// The handle.
#[derive(Debug)]
struct TpmHandle {
    context: Context,
    saved: TpmsContext,
    capability: Capability,
    loaded: Option<Loaded>,
    armed: Option<Armed>,
    answer: Option<TpmAnswer>,
}

/// A key that was saved, ready for use.
pub(crate) fn open(
    way: Way,
    capability: Capability,
    saved: TpmsContext,
) -> Result<Box<dyn KeyHandle>, Error> {
    let (family, operation) = (capability.algorithm.family(), capability.operation);
    let is_key = matches!(family, Family::Rsa(_) | Family::Weierstrass(_));
    if !is_key || !matches!(operation, Operation::Sign | Operation::Decrypt) {
        return Err(unsupported("a TPM", capability));
    }
    Ok(Box::new(TpmHandle {
        context: way.connect()?,
        capability,
        saved,
        loaded: None,
        armed: None,
        answer: None,
    }))
}

fn no_ticket() -> TssResult<HashcheckTicket> {
    TPMT_TK_HASHCHECK {
        tag: TPM2_ST_HASHCHECK,
        hierarchy: TPM2_RH_NULL,
        digest: TPM2B_DIGEST::default(),
    }
    .try_into()
}

/// A point as it is sent: 4, x and y.
fn point(octets: &[u8]) -> TssResult<EccPoint> {
    let coordinates = octets.get(1..).unwrap_or_default();
    let (x, y) = coordinates.split_at(coordinates.len() / 2);
    Ok(EccPoint::new(
        EccParameter::try_from(x.to_vec())?,
        EccParameter::try_from(y.to_vec())?,
    ))
}

impl KeyHandle for TpmHandle {
    fn enter(&mut self) -> Result<(), Error> {
        let loaded = self.context.context_load(self.saved.clone());
        self.loaded = Some(loaded.map_err(refused("TPM2_ContextLoad"))?.into());
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Error> {
        let Some(loaded) = self.loaded.take() else {
            return Ok(());
        };
        let flushed = self.context.flush_context(loaded.into());
        flushed.map_err(refused("TPM2_FlushContext"))
    }

    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        let (algorithm, bytes) = (self.capability.algorithm, input.bytes.clone());
        let hash_scheme = hash_scheme(algorithm);
        let is_rsa = matches!(algorithm.family(), Family::Rsa(_));
        let armed = match (self.capability.operation.signs(), is_rsa) {
            (true, is_rsa) => Digest::try_from(bytes).and_then(|digest| {
                let scheme = if is_rsa {
                    SignatureScheme::RsaSsa { hash_scheme }
                } else {
                    SignatureScheme::EcDsa { hash_scheme }
                };
                Ok(Armed::Sign(digest, scheme, no_ticket()?))
            }),
            (false, true) => PublicKeyRsa::try_from(bytes).map(Armed::Decrypt),
            (false, false) => point(&bytes).map(Armed::Derive),
        };
        self.armed = Some(armed.map_err(refused("preparing a TPM command"))?);
        Ok(())
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        let (Some(key), Some(armed)) = (self.loaded, self.armed.take()) else {
            return Err(Error::call("asking a TPM", "its key is not loaded", ""));
        };
        let context = &mut self.context;
        let answer = match armed {
            Armed::Sign(digest, scheme, ticket) => context
                .sign(key, digest, scheme, ticket)
                .map(TpmAnswer::Signature)
                .map_err(refused("TPM2_Sign")),
            Armed::Decrypt(ciphertext) => context
                .rsa_decrypt(key, ciphertext, RsaDecryptionScheme::RsaEs, Data::default())
                .map(TpmAnswer::Plain)
                .map_err(refused("TPM2_RSA_Decrypt")),
            Armed::Derive(peer) => context
                .ecdh_z_gen(key, peer)
                .map(TpmAnswer::Shared)
                .map_err(refused("TPM2_ECDH_ZGen")),
        };
        self.answer = Some(answer?);
        Ok(Performed::default())
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        let lacking = |reason: &str| Error::call("fetching a TPM's answer", reason, "");
        let answer = self.answer.take().ok_or_else(|| lacking("there is none"))?;
        let coordinate = coordinate(self.capability.algorithm.family());
        #[allow(clippy::wildcard_enum_match_arm, reason = "no others are asked for")]
        let octets = match answer {
            TpmAnswer::Signature(Signature::RsaSsa(signature)) => {
                signature.signature().value().to_vec()
            }
            TpmAnswer::Signature(Signature::EcDsa(signature)) => {
                let (r, s) = (signature.signature_r(), signature.signature_s());
                let [r, s] = [r, s].map(|number| padded(number.value(), coordinate));
                [r, s].concat()
            }
            TpmAnswer::Signature(_) => return Err(lacking("it is a signature of another kind")),
            TpmAnswer::Plain(plain) => plain.value().to_vec(),
            TpmAnswer::Shared(point) => padded(point.x().value(), coordinate),
        };
        copy_answer("fetching a TPM's answer", &octets, output)
    }
}
