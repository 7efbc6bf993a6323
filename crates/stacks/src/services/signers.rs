//! Signers of a service's answers by PKCS #7; OpenSSL verifies signature and chain.

use keymark_bench::{Algorithm, Error};
use keymark_load::Expectation;
use openssl::error::ErrorStack;
use openssl::pkcs7::{Pkcs7, Pkcs7Flags};
use openssl::pkey::{PKey, Public};
use openssl::stack::Stack;
use openssl::x509::store::{X509Store, X509StoreBuilder};
use openssl::x509::{X509, X509PurposeId};

use crate::tls::servers::{Authority, Purpose};

/// `PKCS7_R_CERTIFICATE_VERIFY_ERROR` of pkcs7err.h.
const CHAIN: i32 = 117;

/// Expected signer.
pub(crate) struct Signers {
    /// The key; unknown before the first answer of a running service.
    pub(crate) key: Option<PKey<Public>>,
    /// Authorities that certified it; none where it is accepted as presented.
    pub(crate) authorities: Option<X509Store>,
}

/// Creates a store of authorities for that purpose.
pub(super) fn trusted(authorities: Vec<X509>, purpose: Purpose) -> Result<X509Store, ErrorStack> {
    let mut store = X509StoreBuilder::new()?;
    store.set_purpose(match purpose {
        Purpose::Timestamping => X509PurposeId::TIMESTAMP_SIGN,
        Purpose::Server | Purpose::Client | Purpose::CodeSigning => X509PurposeId::ANY,
    })?;
    for authority in authorities {
        store.add_cert(authority)?;
    }
    Ok(store.build())
}

/// The signer's certificate.
pub(super) fn signer(signed: &Pkcs7) -> Result<X509, Expectation> {
    let none = Stack::new().map_err(|_| Expectation::Form)?;
    let signers = signed.signers(&none, Pkcs7Flags::empty());
    let signers = signers.map_err(|_| Expectation::Certificate)?;
    let mut signers = signers.iter().map(|signer| signer.to_owned());
    signers.next().ok_or(Expectation::Signer)
}

/// A key with new certificates.
pub(super) struct Certified {
    pub(super) signers: Signers,
    /// Its own certificate and the authority's, in PEM.
    pub(super) chain: Vec<u8>,
    pub(super) authority: X509,
}

impl Certified {
    pub(super) fn by_new_authority(
        algorithm: Algorithm,
        key: PKey<Public>,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        let authority = Authority::signing_for(algorithm)?;
        let own = authority.issue(&key, purpose)?;
        let authority = authority.certificate().clone();
        let made = || -> Result<_, ErrorStack> {
            let chain = [own.to_pem()?, authority.to_pem()?].concat();
            Ok((chain, trusted(vec![authority.clone()], purpose)?))
        };
        let (chain, trusted) = made().map_err(failed)?;
        Ok(Self {
            signers: Signers {
                key: Some(key),
                authorities: Some(trusted),
            },
            chain,
            authority,
        })
    }
}

pub(super) fn failed(error: ErrorStack) -> Error {
    Error::call("certifying a key that signs", error, "")
}

impl Signers {
    /// Returns the content signed by that key; `content` where it is not in an octet string.
    pub(super) fn verified(
        &self,
        signed: &Pkcs7,
        content: Option<&[u8]>,
    ) -> Result<Vec<u8>, Expectation> {
        let signer = signer(signed)?.public_key();
        let signer = signer.map_err(|_| Expectation::Signer)?;
        if self.key.as_ref().is_some_and(|key| !signer.public_eq(key)) {
            return Err(Expectation::Signer);
        }
        let mut found = Vec::new();
        let mut verify = |store: &X509Store, flags| {
            signed.verify(&*Stack::new()?, store, content, Some(&mut found), flags)
        };
        let verified = match &self.authorities {
            Some(store) => verify(store, Pkcs7Flags::empty()),
            None => {
                X509StoreBuilder::new().and_then(|none| verify(&none.build(), Pkcs7Flags::NOVERIFY))
            }
        };
        verified.map(|()| found).map_err(|stack| {
            let mut errors = stack.errors().iter();
            if errors.any(|error| error.reason_code() == CHAIN) {
                Expectation::Certificate
            } else {
                Expectation::Signature
            }
        })
    }
}
