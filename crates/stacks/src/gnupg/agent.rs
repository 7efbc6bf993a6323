//! The stack `agent`: gpg-agent asked for one private-key operation over its socket, as gpg asks.

use std::sync::Arc;

use keymark_bench::workload::{
    Calculates, Crew, Input, KeyHandle, Performed, Stack, Verifiable, Verifier, Workload,
    copy_answer,
};
use keymark_bench::{Algorithm, Case, Digest, Error, Family, Operation};
use keymark_native::gcrypt::sexp::{Sexp, list};
use keymark_stores::challenge::{Challenge, INPUTS};
use keymark_stores::public_key::{PublicKey, verdict};
use keymark_stores::software::libgcrypt::answer;
use keymark_stores::store::KeyStore;
use keymark_stores::user::Pin;
use zeroize::Zeroizing;

use super::assuan::{Assuan, data_lines};
use super::homes::GnupgHomes;
use super::key_home::{KeyHome, metered};
use super::process::Task;

/// Octets that a wrapped AES-256 session key has (RFC 6637 §8, RFC 3394).
const WRAPPED: usize = 48;

/// The stack.
#[derive(Debug, derive_more::Constructor)]
pub struct AgentStack {
    homes: Arc<GnupgHomes>,
    store: Arc<dyn KeyStore>,
    seed: u64,
}

impl Stack for AgentStack {
    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        let capability = case.capability();
        let task = Task::of(case, "gpg-agent")?;
        let public = self.store.public_key(&self.store.key(capability)?)?;
        let (inputs, verifier) = match task {
            Task::Sign => signing(case, public, self.seed)?,
            Task::Decrypt => decryption(case.algorithm, &public)?,
        };
        let home = self.homes.home_of(case, self.store.as_ref())?;
        home.check_workers(case)?;
        let keygrip = home.key(case.operation)?.keygrip.clone();
        let handle = |_| -> Result<Box<dyn KeyHandle>, Error> {
            let mut connection = home.home.connect()?;
            if home.pin_for(case.operation)?.is_some() {
                connection.command("OPTION pinentry-mode=loopback")?;
            }
            let asking = Asking {
                connection,
                pin: None,
                select: match task {
                    Task::Sign => format!("SIGKEY {keygrip}\n"),
                    Task::Decrypt => format!("SETKEY {keygrip}\n"),
                },
                task,
                operation: case.operation,
                answer: Vec::with_capacity(4096),
                home: Arc::clone(&home),
            };
            Ok(metered(Box::new(asking), case, &home))
        };
        Ok(Workload {
            crew: Crew::threads(case.workers(), handle)?,
            inputs: inputs.into(),
            verifier,
            output_capacity: 2048,
        })
    }
}

type Asked = (Vec<Input>, Arc<dyn Verifier>);

fn signing(case: &Case, public: PublicKey, seed: u64) -> Result<Asked, Error> {
    let challenge = Challenge::new(&public, case.operation, None, case.input_bytes, seed)?;
    let hash = hash_number(case.algorithm);
    let line = |input: &Input| Input {
        bytes: format!("SETHASH {hash} {}\n", hex::encode_upper(&input.bytes)).into_bytes(),
    };
    let inputs = challenge.inputs.iter().map(line).collect();
    let (algorithm, digests) = (case.algorithm, challenge.inputs);
    // `(sig-val …)`, verified with OpenSSL.
    let verifier = move |result: &Verifiable<'_>| {
        let signature = answer::signature(algorithm, result.output)
            .ok_or("gpg-agent's answer is not a signature")?;
        verdict(public.verify(None, &digests[result.input].bytes, &signature))
    };
    Ok((inputs, Arc::new(verifier)))
}

/// Makes ciphertexts here, as gpg encrypts a session key: the private half of a key on a real card is not available,
/// and every key should be asked in the same way.
fn decryption(algorithm: Algorithm, public: &PublicKey) -> Result<Asked, Error> {
    let (mut inputs, mut expected) = (Vec::new(), Vec::new());
    for _ in 0..INPUTS {
        let (ciphertext, secret) = public.encrypt(None)?;
        inputs.push(Input {
            bytes: data_lines(&question(algorithm, ciphertext)),
        });
        expected.push(secret);
    }
    // `(value …)`, compared with what has to come out.
    let verifier = move |result: &Verifiable<'_>| {
        let answer = Sexp::parse(result.output).map_err(|error| error.to_string())?;
        let value = answer
            .value("value")
            .ok_or("gpg-agent's answer has no value")?;
        if is_secret(algorithm, value, &expected[result.input]) {
            Ok(())
        } else {
            Err("the decrypted secret is not the encrypted one".to_owned())
        }
    };
    Ok((inputs, Arc::new(verifier)))
}

/// Connection of one worker.
struct Asking {
    connection: Assuan,
    /// PIN for this operation.
    pin: Option<Pin>,
    select: String,
    task: Task,
    operation: Operation,
    answer: Vec<u8>,
    /// The agent has to outlive its connections.
    home: Arc<KeyHome>,
}

impl KeyHandle for Asking {
    fn arm(&mut self, _: &Input) -> Result<(), Error> {
        self.pin = self.home.pin_for(self.operation)?;
        Ok(())
    }

    fn calculates(&self) -> Calculates {
        Calculates::Others
    }

    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        self.answer.clear();
        self.connection
            .transact(&self.select, None, &mut self.answer)?;
        match self.task {
            Task::Sign => {
                // Made by `signing`: ASCII.
                let hash = std::str::from_utf8(&input.bytes).unwrap_or_default();
                self.connection.transact(hash, None, &mut self.answer)?;
                let told = self.pin.as_ref();
                let told = told.map(|pin| Zeroizing::new(data_lines(pin.expose().as_bytes())));
                let told = told.as_ref().map(|lines| lines.as_slice());
                self.connection
                    .transact("PKSIGN\n", told, &mut self.answer)
                    .inspect_err(|_| self.home.pin_was_refused(self.pin.as_ref()))?;
            }
            Task::Decrypt => {
                self.connection
                    .transact("PKDECRYPT\n", Some(&input.bytes), &mut self.answer)?;
            }
        }
        Ok(Performed {
            length: copy_answer("gpg-agent", &self.answer, output)?,
            cpu: None,
        })
    }
}

/// `(enc-val (…))` as gpg sends it (g10/pkglue.c, agent/call-agent.c).
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other families are alike in this"
)]
fn question(algorithm: Algorithm, mut ciphertext: Vec<u8>) -> Vec<u8> {
    let number = |name: &str, octets: Vec<u8>| list(name, [Sexp::Atom(octets)]);
    let inner = match algorithm.family() {
        Family::Rsa(_) => list("rsa", [number("a", ciphertext)]),
        Family::Elgamal(_) => {
            let b = ciphertext.split_off(ciphertext.len() / 2);
            list("elg", [number("a", ciphertext), number("b", b)])
        }
        family => {
            if let Family::Cv25519 = family {
                // OpenPGP's mark of a point in its curve's own form (RFC 9580 §11.2.2).
                ciphertext.insert(0, 0x40);
            }
            // gpg unwraps it, not the agent, which hands out the shared secret.
            let wrapped = [vec![WRAPPED as u8], vec![0; WRAPPED]].concat();
            list("ecdh", [number("s", wrapped), number("e", ciphertext)])
        }
    };
    list("enc-val", [inner]).canonical()
}

/// OpenPGP's number of the digest that is signed (RFC 4880 §9.4).
fn hash_number(algorithm: Algorithm) -> u8 {
    match algorithm.digest() {
        Some(Digest::Sha384) => 9,
        Some(Digest::Sha512) => 10,
        Some(Digest::Sha256) | None => 8,
    }
}

/// RSA and Elgamal values end with the frame, behind 02, padding and 00 (RFC 8017 §7.2.1; the
/// leading 00 is dropped); ECDH values are points, of which OpenSSL has the x coordinate. A card
/// gives the frame or the coordinate alone, before which scdaemon of GnuPG 2.4 puts 41
/// (`agent_card_ecc_kem` of its agent/divert-scd.c takes 02 and 03 too, a compressed point's).
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other families are alike in this"
)]
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
        // OpenPGP puts 0x40 before Curve25519's.
        Family::Cv25519 => value.strip_prefix(&[0x40]) == Some(expected),
        _ => false,
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
}
