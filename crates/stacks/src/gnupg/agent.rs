//! The stack `agent`: gpg-agent asked for one private-key operation over its socket, as gpg asks.

use std::sync::Arc;
use std::time::Duration;

use keymark_bench::algorithm::{Algorithm, Curve, Family};
use keymark_bench::case::{Case, Protection, StackName};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::parts::PartSums;
use keymark_bench::store::{
    Input, KeyHandle, Performed, Stack, Verifiable, Verifier, Workload, verify_each,
};
use keymark_stores::challenge::{Challenge, PublicKey};
use openssl::bn::BigNum;
use openssl::ecdsa::EcdsaSig;

use super::assuan::{Assuan, data_lines};
use super::keys::{GnupgKeys, KeyHome, peer};
use super::meter::Meter;
use super::openpgp::EncryptedSessionKey;
use super::sexp::{Sexp, list};

/// The stack.
#[derive(Debug)]
pub struct AgentStack {
    keys: Arc<GnupgKeys>,
}

impl AgentStack {
    /// Asks the agents of these keys' homes.
    #[must_use]
    pub const fn new(keys: Arc<GnupgKeys>) -> Self {
        Self { keys }
    }

    fn signing(
        &self,
        case: &Case,
        public: PublicKey,
    ) -> Result<(Vec<Input>, Arc<dyn Verifier>), Error> {
        let challenge = Challenge::of_public(&public, case.operation, case.input_bytes, 0)?;
        let hash = hash_number(case.algorithm);
        let inputs = challenge.inputs.iter().map(|input| {
            let hex: String = input
                .bytes
                .iter()
                .map(|octet| format!("{octet:02X}"))
                .collect();
            Input {
                bytes: format!("SETHASH {hash} {hex}\n").into_bytes(),
            }
        });
        let digests = challenge
            .inputs
            .iter()
            .map(|input| input.bytes.clone())
            .collect();
        Ok((
            inputs.collect(),
            Arc::new(Signatures {
                algorithm: case.algorithm,
                public,
                digests,
            }),
        ))
    }

    fn decryption(&self, case: &Case) -> Result<(Vec<Input>, Arc<dyn Verifier>), Error> {
        let session_keys = self.keys.session_keys_of(case)?;
        let inputs = session_keys.iter().map(|(session, _)| Input {
            bytes: data_lines(&question(session)),
        });
        let inputs = inputs.collect();
        let expected = session_keys
            .iter()
            .map(|(_, secret)| secret.clone())
            .collect();
        Ok((
            inputs,
            Arc::new(Secrets {
                algorithm: case.algorithm,
                expected,
            }),
        ))
    }
}

impl Stack for AgentStack {
    fn name(&self) -> StackName {
        StackName::Agent
    }

    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        let home = self.keys.home_of(case)?;
        let (inputs, verifier) = match case.operation {
            Operation::Sign => self.signing(case, self.keys.public_key(case)?)?,
            _ => self.decryption(case)?,
        };
        let keygrip = home.key(case.operation)?.keygrip.clone();
        let handle = |_| -> Result<Box<dyn KeyHandle>, Error> {
            let connection = home.home.connect()?;
            let asking = Asking {
                connection,
                select: match case.operation {
                    Operation::Sign => format!("SIGKEY {keygrip}\n"),
                    _ => format!("SETKEY {keygrip}\n"),
                },
                operation: case.operation,
                answer: Vec::with_capacity(4096),
                meter: home.meter(case),
                home: Arc::clone(&home),
            };
            Ok(Box::new(asking))
        };
        Ok(Workload {
            handles: (0..case.concurrency())
                .map(handle)
                .collect::<Result<_, _>>()?,
            inputs: inputs.into(),
            verifier,
            output_capacity: 2048,
        })
    }
}

/// What protection makes a difference to.
pub const PROTECTIONS: [Protection; 2] = [Protection::None, Protection::Cached];

/// One worker's connection.
struct Asking {
    connection: Assuan,
    select: String,
    operation: Operation,
    answer: Vec<u8>,
    meter: Option<Arc<Meter>>,
    /// The agent has to outlive its connections.
    home: Arc<KeyHome>,
}

impl KeyHandle for Asking {
    fn arm(&mut self, _: &Input) -> Result<(), Error> {
        self.home.ask_for_touch(self.operation);
        if let Some(meter) = &self.meter {
            meter.begin();
        }
        Ok(())
    }

    fn parts(&mut self, latency: Duration, into: &mut PartSums) {
        if let Some(meter) = &self.meter {
            meter.end(latency, None, into);
        }
    }

    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        self.answer.clear();
        self.connection
            .transact(&self.select, None, &mut self.answer)?;
        if self.operation == Operation::Sign {
            // Made by `signing`: ASCII.
            let hash = std::str::from_utf8(&input.bytes).unwrap_or_default();
            self.connection.transact(hash, None, &mut self.answer)?;
            self.connection
                .transact("PKSIGN\n", None, &mut self.answer)?;
        } else {
            self.connection
                .transact("PKDECRYPT\n", Some(&input.bytes), &mut self.answer)?;
        }
        let Some(room) = output.get_mut(..self.answer.len()) else {
            return Err(Error::call(
                "gpg-agent",
                "its answer is longer than any key's",
                "",
            ));
        };
        room.copy_from_slice(&self.answer);
        Ok(Performed {
            length: self.answer.len(),
            cpu: None,
        })
    }
}

/// `(enc-val (…))` as gpg sends it (g10/pkglue.c, agent/call-agent.c).
fn question(session: &EncryptedSessionKey) -> Vec<u8> {
    let number = |name: &str, octets: &[u8]| list(name, [Sexp::Atom(octets.to_vec())]);
    let inner = match session {
        EncryptedSessionKey::Rsa(a) => list("rsa", [number("a", a)]),
        EncryptedSessionKey::Elgamal(a, b) => list("elg", [number("a", a), number("b", b)]),
        EncryptedSessionKey::Ecdh { ephemeral, wrapped } => {
            let mut counted = vec![wrapped.len() as u8];
            counted.extend(wrapped);
            list("ecdh", [number("s", &counted), number("e", ephemeral)])
        }
    };
    list("enc-val", [inner]).canonical()
}

/// OpenPGP's number of the digest that is signed (RFC 4880 §9.4).
fn hash_number(algorithm: Algorithm) -> u8 {
    match algorithm.family() {
        Family::Weierstrass(Curve::NistP384 | Curve::BrainpoolP384r1) => 9,
        Family::Weierstrass(Curve::NistP521 | Curve::BrainpoolP512r1) | Family::Ed448 => 10,
        _ => 8,
    }
}

/// `(sig-val …)`, verified with OpenSSL.
struct Signatures {
    algorithm: Algorithm,
    public: PublicKey,
    digests: Vec<Vec<u8>>,
}

impl Verifier for Signatures {
    fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        let check = |result: &Verifiable<'_>| {
            let signature = signature(self.algorithm, result.output)
                .ok_or("gpg-agent's answer is no signature")?;
            match self.public.verify(&self.digests[result.input], &signature) {
                Ok(true) => Ok(()),
                Ok(false) => Err("the signature does not verify".to_owned()),
                Err(error) => Err(format!("the signature cannot be verified: {error}")),
            }
        };
        verify_each(results, check)
    }
}

/// The signature as OpenSSL takes it. GnuPG drops leading zeros.
fn signature(algorithm: Algorithm, answer: &[u8]) -> Option<Vec<u8>> {
    let answer = Sexp::parse(answer).ok()?;
    let sig_val = Sexp::List(answer.find("sig-val")?.to_vec());
    let number = |name: &str| sig_val.value(name);
    let padded = |octets: &[u8], length: usize| -> Option<Vec<u8>> {
        let octets = octets.get(octets.len().saturating_sub(length)..)?;
        Some([vec![0; length - octets.len()], octets.to_vec()].concat())
    };
    match algorithm.family() {
        Family::Rsa(bits) => padded(number("s")?, bits as usize / 8),
        Family::Ed25519 => Some([padded(number("r")?, 32)?, padded(number("s")?, 32)?].concat()),
        Family::Ed448 => Some([padded(number("r")?, 57)?, padded(number("s")?, 57)?].concat()),
        _ => {
            let big = |name: &str| BigNum::from_slice(number(name)?).ok();
            EcdsaSig::from_private_components(big("r")?, big("s")?)
                .ok()?
                .to_der()
                .ok()
        }
    }
}

/// `(value …)`, compared with what has to come out.
struct Secrets {
    algorithm: Algorithm,
    expected: Vec<Vec<u8>>,
}

impl Verifier for Secrets {
    fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        let check = |result: &Verifiable<'_>| {
            let answer = Sexp::parse(result.output).map_err(|error| error.to_string())?;
            let value = answer
                .value("value")
                .ok_or("gpg-agent's answer holds no value")?;
            if is_secret(self.algorithm, value, &self.expected[result.input]) {
                Ok(())
            } else {
                Err("the secret that came out is not the one that went in".to_owned())
            }
        };
        results.iter().map(check).collect()
    }
}

/// RSA and Elgamal values end with the frame, behind 02, padding and 00 (RFC 8017 §7.2.1; the
/// leading 00 is dropped); ECDH values are points, of which OpenSSL has the x coordinate. A card
/// gives the frame or the coordinate alone, before which scdaemon of GnuPG 2.4 puts 41
/// (`agent_card_ecc_kem` of its agent/divert-scd.c takes 02 and 03 too, a compressed point's).
fn is_secret(algorithm: Algorithm, value: &[u8], expected: &[u8]) -> bool {
    if value == expected {
        return true;
    }
    match algorithm.family() {
        Family::Rsa(_) | Family::Elgamal(_) => value
            .strip_suffix(expected)
            .is_some_and(|padding| matches!(padding, [2, .., 0] | [0, 2, .., 0])),
        Family::Weierstrass(_) => match value {
            [4, point @ ..] => point.starts_with(expected),
            [0x41 | 2 | 3, x @ ..] => x == expected,
            _ => false,
        },
        _ => peer(algorithm, value) == expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognised_behind_their_padding() {
        let rsa = "rsa2048".parse().unwrap();
        assert!(is_secret(rsa, &[2, 7, 7, 0, 9, 1], &[9, 1]));
        assert!(!is_secret(rsa, &[2, 7, 7, 0, 9, 2], &[9, 1]));
        assert!(!is_secret(rsa, &[1, 7, 7, 0, 9, 1], &[9, 1]));
        let nistp256 = "nistp256".parse().unwrap();
        assert!(is_secret(nistp256, &[4, 1, 2, 3, 4], &[1, 2]));
        assert!(is_secret(nistp256, &[0x41, 1, 2], &[1, 2]));
        assert!(is_secret(nistp256, &[1, 2], &[1, 2]));
        assert!(!is_secret(nistp256, &[0x41, 1, 3], &[1, 2]));
        assert!(!is_secret(nistp256, &[0x40, 1, 2], &[1, 2]));
        assert!(is_secret("cv448".parse().unwrap(), &[1, 2], &[1, 2]));
    }

    #[test]
    fn short_numbers_are_filled() {
        let answer = list(
            "sig-val",
            [list(
                "eddsa",
                [
                    list("r", [Sexp::Atom(vec![1; 31])]),
                    list("s", [Sexp::Atom(vec![2; 32])]),
                ],
            )],
        );
        let signature = signature("ed25519".parse().unwrap(), &answer.canonical()).unwrap();
        assert_eq!((signature.len(), signature[0], signature[1]), (64, 0, 1));
    }
}
