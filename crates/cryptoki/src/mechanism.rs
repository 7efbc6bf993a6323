//! Mechanisms, with the parameters that some of them take.

use std::ptr;

use cryptoki_sys::{
    CK_MECHANISM, CK_MECHANISM_TYPE, CK_RSA_PKCS_MGF_TYPE, CK_RSA_PKCS_OAEP_PARAMS,
    CK_RSA_PKCS_PSS_PARAMS, CK_ULONG, CKG_MGF1_SHA1, CKG_MGF1_SHA256, CKM_ECDSA, CKM_ECDSA_SHA256,
    CKM_ECDSA_SHA384, CKM_ECDSA_SHA512, CKM_EDDSA, CKM_ML_DSA, CKM_RSA_PKCS, CKM_RSA_PKCS_OAEP,
    CKM_RSA_PKCS_PSS, CKM_SHA_1, CKM_SHA256, CKM_SHA256_RSA_PKCS, CKM_SHA256_RSA_PKCS_PSS,
    CKZ_DATA_SPECIFIED,
};

/// As long as the digest (RFC 8017 §9.1).
const SALT: CK_ULONG = 32;

/// What a key signs, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    /// `CKM_RSA_PKCS`, of a DigestInfo.
    RsaPkcs,
    /// `CKM_RSA_PKCS_PSS`, of a SHA-256 digest, with 32 bytes of salt.
    RsaPss,
    /// `CKM_SHA256_RSA_PKCS`, of a message.
    Sha256RsaPkcs,
    /// `CKM_SHA256_RSA_PKCS_PSS`, of a message.
    Sha256RsaPss,
    /// `CKM_ECDSA`, of a digest.
    Ecdsa,
    /// `CKM_ECDSA_SHA256`, of a message.
    EcdsaSha256,
    /// `CKM_ECDSA_SHA384`, of a message.
    EcdsaSha384,
    /// `CKM_ECDSA_SHA512`, of a message.
    EcdsaSha512,
    /// `CKM_EDDSA`, of a message.
    Eddsa,
    /// `CKM_ML_DSA`, of a message, hedged or not as the token likes (3.2 §6.67).
    MlDsa,
}

/// How a key decrypts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decrypts {
    /// `CKM_RSA_PKCS`
    RsaPkcs,
    /// `CKM_RSA_PKCS_OAEP` with SHA-256 and MGF1 with it.
    RsaOaepSha256,
    /// The same with SHA-1.
    RsaOaepSha1,
}

/// A mechanism and its parameter.
pub(crate) struct Chosen {
    kind: CK_MECHANISM_TYPE,
    parameter: Parameter,
}

enum Parameter {
    None,
    Pss(CK_RSA_PKCS_PSS_PARAMS),
    Oaep(CK_RSA_PKCS_OAEP_PARAMS),
}

impl Chosen {
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
            mechanism: self.kind,
            pParameter: parameter,
            ulParameterLen: length as CK_ULONG,
        }
    }
}

impl Signs {
    pub(crate) const fn chosen(self) -> Chosen {
        let kind = match self {
            Self::RsaPkcs => CKM_RSA_PKCS,
            Self::RsaPss => CKM_RSA_PKCS_PSS,
            Self::Sha256RsaPkcs => CKM_SHA256_RSA_PKCS,
            Self::Sha256RsaPss => CKM_SHA256_RSA_PKCS_PSS,
            Self::Ecdsa => CKM_ECDSA,
            Self::EcdsaSha256 => CKM_ECDSA_SHA256,
            Self::EcdsaSha384 => CKM_ECDSA_SHA384,
            Self::EcdsaSha512 => CKM_ECDSA_SHA512,
            Self::Eddsa => CKM_EDDSA,
            Self::MlDsa => CKM_ML_DSA,
        };
        let parameter = match self {
            // 3.1 §6.1.9, §6.1.14: the digest and the salt are said even where the mechanism's name has them.
            Self::RsaPss | Self::Sha256RsaPss => Parameter::Pss(CK_RSA_PKCS_PSS_PARAMS {
                hashAlg: CKM_SHA256,
                mgf: CKG_MGF1_SHA256,
                sLen: SALT,
            }),
            Self::RsaPkcs
            | Self::Sha256RsaPkcs
            | Self::Ecdsa
            | Self::EcdsaSha256
            | Self::EcdsaSha384
            | Self::EcdsaSha512
            | Self::Eddsa
            | Self::MlDsa => Parameter::None,
        };
        Chosen { kind, parameter }
    }
}

impl Decrypts {
    pub(crate) const fn chosen(self) -> Chosen {
        match self {
            Self::RsaPkcs => Chosen {
                kind: CKM_RSA_PKCS,
                parameter: Parameter::None,
            },
            Self::RsaOaepSha256 => oaep(CKM_SHA256, CKG_MGF1_SHA256),
            Self::RsaOaepSha1 => oaep(CKM_SHA_1, CKG_MGF1_SHA1),
        }
    }
}

/// Without a label (3.1 §6.1.7, §6.1.8).
const fn oaep(digest: CK_MECHANISM_TYPE, mgf: CK_RSA_PKCS_MGF_TYPE) -> Chosen {
    Chosen {
        kind: CKM_RSA_PKCS_OAEP,
        parameter: Parameter::Oaep(CK_RSA_PKCS_OAEP_PARAMS {
            hashAlg: digest,
            mgf,
            source: CKZ_DATA_SPECIFIED,
            pSourceData: ptr::null_mut(),
            ulSourceDataLen: 0,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_as_long_as_they_are_said_to_be() {
        let mut pkcs = Signs::Sha256RsaPkcs.chosen();
        let mechanism = pkcs.mechanism();
        assert!(mechanism.pParameter.is_null() && mechanism.ulParameterLen == 0);
        assert_eq!(mechanism.mechanism, 0x40);
        // Three and five words of eight bytes.
        for (mut chosen, number, length) in [
            (Signs::RsaPss.chosen(), 0x0d, 24),
            (Signs::Sha256RsaPss.chosen(), 0x43, 24),
            (Decrypts::RsaOaepSha256.chosen(), 0x09, 40),
        ] {
            let mechanism = chosen.mechanism();
            assert_eq!(
                (mechanism.mechanism, mechanism.ulParameterLen),
                (number, length)
            );
            assert!(!mechanism.pParameter.is_null());
        }
    }
}
