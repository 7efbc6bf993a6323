//! A login's signature, asked of an agent: inputs, one connection a worker, and the check.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use keymark_bench::workload::{
    Calculates, Crew, Input, KeyHandle, Performed, Verifiable, Workload,
};
use keymark_bench::{During as _, Error, Family};
use keymark_stores::challenge::INPUTS;
use keymark_stores::public_key::{PublicKey, der_signature, verdict};
use openssl::hash::hash;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::key::{self, Scheme};
use super::protocol::AgentConnection;
use super::protocol::{self, AgentRequest, SessionId, Signature};

/// Room for the answer with the longest signature, RSA's of 4096 bits.
const OUTPUT_CAPACITY: usize = 1024;

const MAKING: &str = "making a login's request";

/// Makes logins ready to be signed by the agent at `socket`, which lives as long as `agent`.
pub fn workload(
    socket: &Path,
    agent: &Arc<dyn Any + Send + Sync>,
    public: &PublicKey,
    workers: u32,
    seed: u64,
) -> Result<Workload, Error> {
    let scheme = key::scheme(public.algorithm())?;
    let key = key::public(public)?;
    let blob = key.to_bytes().during(MAKING)?;
    let (inputs, signed) = logins(scheme, &blob, seed)?;
    check_held(socket, &key, &blob)?;
    let handle = |_| -> Result<Box<dyn KeyHandle>, Error> {
        Ok(Box::new(SshHandle {
            connection: AgentConnection::open(socket)?,
            _agent: Arc::clone(agent),
        }))
    };
    let signatures = Signatures {
        scheme,
        public: public.clone(),
        signed,
    };
    Ok(Workload {
        crew: Crew::threads(workers, handle)?,
        inputs: inputs.into(),
        verifier: Arc::new(move |result: &Verifiable<'_>| signatures.check(result)),
        output_capacity: OUTPUT_CAPACITY,
    })
}

/// Requests to sign, each for another session, and what is signed: a digest of the login, or the login.
fn logins(scheme: Scheme, blob: &[u8], seed: u64) -> Result<(Vec<Input>, Vec<Vec<u8>>), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut inputs, mut signed) = (Vec::new(), Vec::new());
    for _ in 0..INPUTS {
        let mut session = SessionId::default();
        rng.fill_bytes(&mut session);
        let login = protocol::login(&session, scheme, blob).during(MAKING)?;
        inputs.push(Input {
            bytes: protocol::sign(scheme, blob, &login)?,
        });
        signed.push(match scheme.digest() {
            Some(digest) => hash(digest, &login).during(MAKING)?.to_vec(),
            None => login,
        });
    }
    Ok((inputs, signed))
}

/// An agent refuses an unknown key with the code for everything: better said beforehand.
fn check_held(socket: &Path, key: &ssh_key::PublicKey, blob: &[u8]) -> Result<(), Error> {
    let held = AgentConnection::open(socket)?.identities()?;
    if held.iter().any(|held| held == blob) {
        return Ok(());
    }
    let fingerprint = key.fingerprint(ssh_key::HashAlg::Sha256);
    Err(Error::call(
        AgentRequest::IDENTITIES.name,
        format!(
            "the agent at {} has {} keys, but not {fingerprint}",
            socket.display(),
            held.len()
        ),
        "ssh-add gives an agent a key; gpg-agent offers those that its sshcontrol names, and a card's \
         authentication key while the card is there",
    ))
}

/// Connection of one worker.
#[derive(Debug)]
struct SshHandle {
    connection: AgentConnection,
    /// Agent, which has to outlive its connections.
    _agent: Arc<dyn Any + Send + Sync>,
}

impl KeyHandle for SshHandle {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let length = self
            .connection
            .exchange(AgentRequest::SIGN, &input.bytes, output)?;
        Ok(Performed { length, cpu: None })
    }

    fn calculates(&self) -> Calculates {
        Calculates::Others
    }
}

/// Verified with OpenSSL.
struct Signatures {
    scheme: Scheme,
    public: PublicKey,
    /// The digest of each login, or the login.
    signed: Vec<Vec<u8>>,
}

impl Signatures {
    fn check(&self, result: &Verifiable<'_>) -> Result<(), String> {
        let signature = Signature::parse(result.output)
            .map_err(|error| format!("the agent's answer is not a signature: {error}"))?;
        let wanted = self.scheme.name();
        if signature.algorithm != wanted {
            let made = &signature.algorithm;
            return Err(format!("the agent signed with {made}, not with {wanted}"));
        }
        let signature = self.openssl_form(signature)?;
        verdict(
            self.public
                .verify(None, &self.signed[result.input], &signature),
        )
    }

    /// DER for ECDSA. RSA's may come without its leading zeros, and OpenSSH's server takes it so
    /// (ssh-rsa.c).
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the other families are alike in this"
    )]
    fn openssl_form(&self, signature: Signature) -> Result<Vec<u8>, String> {
        match self.public.algorithm().family() {
            Family::Rsa(bits) => {
                let missing = (bits as usize / 8).saturating_sub(signature.octets.len());
                Ok([vec![0; missing], signature.octets].concat())
            }
            Family::Weierstrass(_) => {
                let [r, s] = signature
                    .ecdsa()
                    .map_err(|error| format!("the agent's answer is not a signature: {error}"))?;
                der_signature(&r, &s)
                    .map_err(|error| format!("cannot verify the signature: {error}"))
            }
            _ => Ok(signature.octets),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keymark_stores::test_key::TestKey;
    use openssl::hash::MessageDigest;
    use openssl::pkey::PKey;
    use openssl::sign::Signer;
    use ssh_encoding::Encode;

    fn answer(algorithm: &str, signature: &[u8]) -> Vec<u8> {
        let mut blob = Vec::new();
        algorithm.encode(&mut blob).unwrap();
        signature.encode(&mut blob).unwrap();
        let mut answer = vec![0; protocol::HEADER];
        blob.encode(&mut answer).unwrap();
        answer
    }

    #[test]
    fn an_rsa_signature_may_come_without_its_leading_zeros() {
        let key = TestKey::generate("rsa1024".parse().unwrap()).unwrap();
        let private = PKey::private_key_from_pkcs8(&key.pkcs8_der().unwrap()).unwrap();
        let sign = |number: u32| {
            let message = number.to_be_bytes();
            let mut signer = Signer::new(MessageDigest::sha256(), &private).unwrap();
            let signature = signer.sign_oneshot_to_vec(&message).unwrap();
            (
                hash(MessageDigest::sha256(), &message).unwrap().to_vec(),
                signature,
            )
        };
        let (digest, signature) = (0..)
            .map(sign)
            .find(|(_, signature)| signature[0] == 0)
            .unwrap();
        let signatures = Signatures {
            scheme: Scheme::RsaSha2_256,
            public: PublicKey::of(&key).unwrap(),
            signed: vec![digest],
        };
        let verify = |octets: &[u8]| {
            let output = &answer("rsa-sha2-256", octets);
            signatures.check(&Verifiable { input: 0, output })
        };
        assert_eq!(verify(&signature), Ok(()));
        assert_eq!(verify(&signature[1..]), Ok(()));
        assert!(verify(&signature[..signature.len() - 1]).is_err());
    }
}
