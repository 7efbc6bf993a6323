//! X.509 certificates for a measurement: a leaf for the server's key, issued by an authority that is made for it and has
//! its private key in memory alone. So a key on a token signs nothing to get its certificate.

use keymark_bench::{Algorithm, Curve, During as _, Error, Family};
use keymark_stores::certificate::{begun, name};
use keymark_stores::test_key::TestKey;
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, PKeyRef, Private, Public};
use openssl::x509::X509;
use openssl::x509::extension::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectAlternativeName,
    SubjectKeyIdentifier,
};

use crate::tls::servers::impossible;

const SIGNING: &str = "X509_sign";

/// Purpose of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A TLS server.
    Server,
    /// A client of a TLS server.
    Client,
    /// A timestamping authority (RFC 3161 §2.3).
    Timestamping,
    /// A signer of programs.
    CodeSigning,
}

/// A certification authority for one measurement.
#[derive(Clone, derive_more::Debug)]
pub struct Authority {
    #[debug(skip)]
    key: PKey<Private>,
    certificate: X509,
    #[debug(skip)]
    digest: MessageDigest,
}

impl Authority {
    /// Creates an authority that signs as is usual for such keys: a client that supports RSA only can check an RSA
    /// certificate's signature.
    ///
    /// # Errors
    /// When no certificate for TLS can have such a key, or OpenSSL fails.
    pub fn signing_for(algorithm: Algorithm) -> Result<Self, Error> {
        let (signer, digest) = signer(algorithm)?;
        let key = private_key(&TestKey::generate(signer)?)?;
        let certificate = own_certificate(&key, digest).during(SIGNING)?;
        Ok(Self {
            key,
            certificate,
            digest,
        })
    }

    /// Certificate that a client has to trust.
    pub const fn certificate(&self) -> &X509 {
        &self.certificate
    }

    /// A certificate for `localhost`, 127.0.0.1 and ::1.
    ///
    /// # Errors
    /// When OpenSSL fails.
    pub fn issue(&self, public: &PKeyRef<Public>, purpose: Purpose) -> Result<X509, Error> {
        self.issued(public, purpose).during(SIGNING)
    }

    fn issued(&self, public: &PKeyRef<Public>, purpose: Purpose) -> Result<X509, ErrorStack> {
        let issuer = self.certificate.subject_name();
        let mut builder = begun(&*name("localhost")?, public)?;
        builder.set_issuer_name(issuer)?;
        builder.append_extension(BasicConstraints::new().critical().build()?)?;
        let mut usage = KeyUsage::new();
        usage.critical().digital_signature();
        if public.rsa().is_ok() && purpose == Purpose::Server {
            // RSA key exchange (RFC 5280 §4.2.1.3).
            usage.key_encipherment();
        }
        builder.append_extension(usage.build()?)?;
        let mut extended = ExtendedKeyUsage::new();
        match purpose {
            Purpose::Server => extended.server_auth(),
            Purpose::Client => extended.client_auth(),
            Purpose::Timestamping => extended.critical().time_stamping(),
            Purpose::CodeSigning => extended.code_signing(),
        };
        builder.append_extension(extended.build()?)?;
        let extensions = {
            let context = builder.x509v3_context(Some(&self.certificate), None);
            [
                SubjectAlternativeName::new()
                    .dns("localhost")
                    .ip("127.0.0.1")
                    .ip("::1")
                    .build(&context)?,
                SubjectKeyIdentifier::new().build(&context)?,
                AuthorityKeyIdentifier::new().keyid(true).build(&context)?,
            ]
        };
        for extension in extensions {
            builder.append_extension(extension)?;
        }
        builder.sign(&self.key, self.digest)?;
        Ok(builder.build())
    }
}

/// Checks whether a certificate for TLS can have such a key.
pub(crate) fn check(algorithm: Algorithm) -> Result<(), Error> {
    signer(algorithm).map(drop)
}

/// The algorithm of an authority for such a key, and its digest. TLS 1.3 also knows P-521, Ed448 and Brainpool; nobody
/// has certificates of these for servers.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "no certificates of others are known"
)]
fn signer(algorithm: Algorithm) -> Result<(Algorithm, MessageDigest), Error> {
    let none = || {
        impossible(format!(
            "a certificate for {algorithm} is impossible: TLS servers sign with RSA, ECDSA, EdDSA or ML-DSA"
        ))
    };
    match algorithm.family() {
        Family::Rsa(_) => {
            let usual = Algorithm::of(Family::Rsa(2048)).ok_or_else(none)?;
            Ok((usual, MessageDigest::sha256()))
        }
        Family::Weierstrass(Curve::NistP256) => Ok((algorithm, MessageDigest::sha256())),
        Family::Weierstrass(Curve::NistP384) => Ok((algorithm, MessageDigest::sha384())),
        // They hash themselves.
        Family::Ed25519 | Family::MlDsa(_) => Ok((algorithm, MessageDigest::null())),
        _ => Err(none()),
    }
}

/// The key for OpenSSL.
pub(crate) fn private_key(key: &TestKey) -> Result<PKey<Private>, Error> {
    PKey::private_key_from_pkcs8(&key.pkcs8_der()?).during("d2i_PKCS8_PRIV_KEY_INFO")
}

fn own_certificate(key: &PKeyRef<Private>, digest: MessageDigest) -> Result<X509, ErrorStack> {
    let name = name("keymark test authority")?;
    let public = PKey::public_key_from_der(&key.public_key_to_der()?)?;
    let mut builder = begun(&name, &public)?;
    builder.set_issuer_name(&name)?;
    builder.append_extension(BasicConstraints::new().critical().ca().pathlen(0).build()?)?;
    let usage = KeyUsage::new().critical().key_cert_sign().build()?;
    builder.append_extension(usage)?;
    let identifier = SubjectKeyIdentifier::new().build(&builder.x509v3_context(None, None))?;
    builder.append_extension(identifier)?;
    builder.sign(key, digest)?;
    Ok(builder.build())
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn what_no_server_has_is_refused() {
        let error = Authority::signing_for("cv25519".parse().unwrap()).unwrap_err();
        assert_says(&error, ["a certificate for cv25519 is impossible"]);
    }
}
