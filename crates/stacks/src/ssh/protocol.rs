//! The requests of the agent protocol that keymark makes (draft-ietf-sshm-ssh-agent), and what
//! ssh has signed when it logs in (RFC 4252 §7).
//!
//! Written out here, with the encodings of `ssh-encoding`: `ssh-agent-lib` brings the arithmetic of
//! every kind of key along, and its client takes the answer apart within the call that is timed.

use std::io::{self, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use keymark_bench::{During as _, Error};
use ssh_encoding::{Decode, Encode, Reader};
use ssh_key::Mpint;
use zeroize::Zeroizing;

use super::key::Scheme;
use crate::programs::{PATIENCE, broken, connect};

/// Length and number, in front of every message.
pub const HEADER: usize = 5;
/// `SSH_AGENT_FAILURE`.
pub const FAILURE: u8 = 5;
/// Longest answer of OpenSSH's agent, with its length (`AGENT_MAX_LEN` of its ssh-agent.c).
pub const LONGEST_ANSWER: usize = 4 + 256 * 1024;

/// Request to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentRequest {
    /// Name in the specification.
    pub name: &'static str,
    number: u8,
    /// The number of the answer of an agent that does it.
    pub answer: u8,
    /// Advice when it is refused.
    pub advice: &'static str,
}

impl AgentRequest {
    /// Request for the list of keys.
    pub const IDENTITIES: Self = Self {
        name: "SSH_AGENTC_REQUEST_IDENTITIES",
        number: 11,
        answer: 12,
        advice: "",
    };
    /// A signature.
    pub const SIGN: Self = Self {
        name: "SSH_AGENTC_SIGN_REQUEST",
        number: 13,
        answer: 14,
        advice: "does the agent still have the key, and its passphrase or PIN?",
    };
    /// To take a key.
    pub const ADD: Self = Self {
        name: "SSH_AGENTC_ADD_IDENTITY",
        number: 17,
        answer: 6,
        advice: "does this agent accept keys of this kind?",
    };
    /// To take the keys of a PKCS#11 module's tokens, as `ssh-add -s` has it done.
    pub const ADD_TOKEN: Self = Self {
        name: "SSH_AGENTC_ADD_SMARTCARD_KEY",
        number: 20,
        answer: 6,
        advice: "the agent gives no reason; 'ssh-keygen -D MODULE' shows whether OpenSSH accepts the module, and \
                 /usr/lib/openssh/ssh-pkcs11-helper must exist",
    };

    /// The message, from its length on, in the room for it.
    fn message(
        self,
        mut message: Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>) -> ssh_encoding::Result<()>,
    ) -> Result<Vec<u8>, Error> {
        message.extend([0, 0, 0, 0, self.number]);
        write(&mut message).during(self.name)?;
        let length = (message.len() - 4) as u32;
        message[..4].copy_from_slice(&length.to_be_bytes());
        Ok(message)
    }
}

/// Asks which keys there are.
pub fn request_identities() -> Result<Vec<u8>, Error> {
    AgentRequest::IDENTITIES.message(Vec::new(), |_| Ok(()))
}

/// Gives the agent a key.
pub fn add_identity(key: &ssh_key::PrivateKey) -> Result<Vec<u8>, Error> {
    AgentRequest::ADD.message(Vec::new(), |message| {
        key.key_data().encode(message)?;
        key.comment().encode(message)
    })
}

/// Has the agent load a PKCS#11 module and log in to its tokens with the PIN (draft-ietf-sshm-ssh-agent §5.3, where the
/// reader's name is the module's file: PROTOCOL.agent of OpenSSH).
pub fn add_token(module: &str, pin: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    // Large enough from the start: what is moved leaves a copy of the PIN behind.
    let room = HEADER + 8 + module.len() + pin.len();
    AgentRequest::ADD_TOKEN
        .message(Vec::with_capacity(room), |message| {
            module.encode(message)?;
            pin.encode(message)
        })
        .map(Zeroizing::new)
}

/// Asks for a signature with the key of that public blob.
pub fn sign(scheme: Scheme, key: &[u8], data: &[u8]) -> Result<Vec<u8>, Error> {
    AgentRequest::SIGN.message(Vec::new(), |message| {
        key.encode(message)?;
        data.encode(message)?;
        scheme.flags().encode(message)
    })
}

/// The public blobs of an answer to [`request_identities`].
pub fn identities(answer: &[u8]) -> ssh_encoding::Result<Vec<Vec<u8>>> {
    let mut rest = payload(answer)?;
    let count = u32::decode(&mut rest)?;
    let mut keys = Vec::new();
    for _ in 0..count {
        keys.push(Vec::decode(&mut rest)?);
        let _comment = Vec::<u8>::decode(&mut rest)?;
    }
    rest.finish(keys)
}

/// The answer to [`sign`]: the algorithm's name, and the signature in that algorithm's form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Algorithm of the signature.
    pub algorithm: String,
    /// Signature in the form of the algorithm's RFC.
    pub octets: Vec<u8>,
}

impl Signature {
    /// Takes an answer apart.
    pub fn parse(answer: &[u8]) -> ssh_encoding::Result<Self> {
        let mut rest = payload(answer)?;
        let blob = Vec::decode(&mut rest)?;
        rest.finish(())?;
        let mut rest = blob.as_slice();
        let algorithm = String::decode(&mut rest)?;
        let octets = Vec::decode(&mut rest)?;
        rest.finish(Self { algorithm, octets })
    }

    /// r and s of an ECDSA signature, big-endian.
    pub fn ecdsa(&self) -> ssh_key::Result<[Vec<u8>; 2]> {
        let mut rest = self.octets.as_slice();
        let (r, s) = (Mpint::decode(&mut rest)?, Mpint::decode(&mut rest)?);
        let positive = |number: &Mpint| {
            let octets = number.as_positive_bytes();
            octets
                .map(<[u8]>::to_vec)
                .ok_or(ssh_key::Error::FormatEncoding)
        };
        Ok(rest.finish([positive(&r)?, positive(&s)?])?)
    }
}

fn payload(answer: &[u8]) -> ssh_encoding::Result<&[u8]> {
    answer.get(HEADER..).ok_or(ssh_encoding::Error::Length)
}

/// Session identifier, which the server sends and the client signs: a hash of the key exchange, as long as SHA-256's,
/// which `curve25519-sha256` and most others have (RFC 4253 §7.2).
pub type SessionId = [u8; 32];

/// The request by which a user logs in with a key: this is what is signed (RFC 4252 §7).
pub fn login(session: &SessionId, scheme: Scheme, key: &[u8]) -> ssh_encoding::Result<Vec<u8>> {
    /// `SSH_MSG_USERAUTH_REQUEST` (RFC 4250 §4.1.2).
    const USERAUTH_REQUEST: u8 = 50;
    /// A signature is there.
    const TRUE: u8 = 1;
    let mut data = Vec::new();
    session.as_slice().encode(&mut data)?;
    USERAUTH_REQUEST.encode(&mut data)?;
    "keymark".encode(&mut data)?;
    "ssh-connection".encode(&mut data)?;
    "publickey".encode(&mut data)?;
    TRUE.encode(&mut data)?;
    scheme.name().encode(&mut data)?;
    key.encode(&mut data)?;
    Ok(data)
}

const AGENT: &str = "the SSH agent";

/// A connection.
#[derive(Debug)]
pub struct AgentConnection {
    stream: BufReader<UnixStream>,
}

impl AgentConnection {
    /// Connects.
    pub fn open(socket: &Path) -> Result<Self, Error> {
        Self::patient(socket, PATIENCE)
    }

    fn patient(socket: &Path, patience: Duration) -> Result<Self, Error> {
        let stream = connect(AGENT, socket, patience)?;
        let stream = BufReader::new(stream);
        Ok(Self { stream })
    }

    /// Makes a request; the answer goes to `answer`, header and all. Returns its length.
    pub fn exchange(
        &mut self,
        request: AgentRequest,
        message: &[u8],
        answer: &mut [u8],
    ) -> Result<usize, Error> {
        let length = self
            .stream
            .get_mut()
            .write_all(message)
            .and_then(|()| self.read(answer))
            .map_err(|error| broken(AGENT, request.name, &error))?;
        match answer.get(HEADER - 1) {
            Some(&number) if number == request.answer => Ok(length),
            Some(&FAILURE) => Err(Error::call(
                request.name,
                format!("SSH_AGENT_FAILURE ({FAILURE})"),
                request.advice,
            )),
            number => {
                let number = number.copied().unwrap_or_default();
                let expected = request.answer;
                let reason = format!("the agent answered with message {number}, not {expected}");
                Err(Error::call(request.name, reason, ""))
            }
        }
    }

    /// Reads one whole message.
    fn read(&mut self, answer: &mut [u8]) -> io::Result<usize> {
        let mut octets = [0; 4];
        self.stream.read_exact(&mut octets)?;
        let length = (u32::from_be_bytes(octets) as usize).saturating_add(4);
        let impossible = || {
            let reason = format!("an answer of {length} bytes");
            io::Error::new(io::ErrorKind::InvalidData, reason)
        };
        if !(HEADER..=answer.len()).contains(&length) {
            return Err(impossible());
        }
        answer[..4].copy_from_slice(&octets);
        self.stream.read_exact(&mut answer[4..length])?;
        let is_all = self.stream.buffer().is_empty();
        is_all.then_some(length).ok_or_else(impossible)
    }

    /// The public blobs of the keys that the agent has.
    pub fn identities(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let mut answer = vec![0; LONGEST_ANSWER];
        let message = request_identities()?;
        let length = self.exchange(AgentRequest::IDENTITIES, &message, &mut answer)?;
        identities(&answer[..length]).during(AgentRequest::IDENTITIES.name)
    }

    /// Gives the agent keys, by a message of [`add_identity`] or [`add_token`].
    pub fn add(&mut self, request: AgentRequest, message: &[u8]) -> Result<(), Error> {
        let added = self.exchange(request, message, &mut [0; HEADER]);
        added.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_to_sign_has_the_form_of_the_specification() {
        let request = sign(Scheme::RsaSha2_256, b"key", b"data").unwrap();
        assert_eq!(
            request,
            b"\0\0\0\x14\x0d\0\0\0\x03key\0\0\0\x04data\0\0\0\x02"
        );
        assert_eq!(request_identities().unwrap(), b"\0\0\0\x01\x0b");
    }

    #[test]
    fn a_login_names_session_user_service_method_algorithm_and_key() {
        let data = login(&[7; 32], Scheme::Ed25519, b"key").unwrap();
        let expected = [
            &b"\0\0\0\x20"[..],
            &[7; 32],
            b"\x32\0\0\0\x07keymark\0\0\0\x0essh-connection\0\0\0\x09publickey\x01",
            b"\0\0\0\x0bssh-ed25519\0\0\0\x03key",
        ];
        assert_eq!(data, expected.concat());
    }

    #[test]
    fn answers_are_taken_apart() {
        let listed = b"\0\0\0\0\x0c\0\0\0\x02\0\0\0\x01a\0\0\0\0\0\0\0\x02bb\0\0\0\x01c";
        assert_eq!(identities(listed).unwrap(), [b"a".to_vec(), b"bb".to_vec()]);
        let signed = b"\0\0\0\0\x0e\0\0\0\x0f\0\0\0\x01x\0\0\0\x06\0\0\0\x02\0\xff";
        let signature = Signature::parse(signed).unwrap();
        assert_eq!(signature.algorithm, "x");
        assert_eq!(signature.octets, b"\0\0\0\x02\0\xff");
    }

    #[test]
    fn numbers_of_an_ecdsa_signature_lose_their_zero_and_have_no_sign() {
        let ecdsa = |octets: &[u8]| {
            Signature {
                algorithm: String::new(),
                octets: octets.to_vec(),
            }
            .ecdsa()
        };
        assert_eq!(
            ecdsa(b"\0\0\0\x02\0\xff\0\0\0\x01\x05").unwrap(),
            [vec![0xff], vec![5]]
        );
        assert!(ecdsa(b"\0\0\0\x01\xff\0\0\0\x01\x05").is_err(), "negative");
        assert!(ecdsa(b"\0\0\0\x01\x05").is_err(), "s is missing");
        assert!(
            ecdsa(b"\0\0\0\x01\x05\0\0\0\x01\x05\0").is_err(),
            "more follows"
        );
    }

    proptest! {
        #[test]
        fn no_answer_panics(answer in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = identities(&answer);
            if let Ok(signature) = Signature::parse(&answer) {
                let _ = signature.ecdsa();
            }
        }

        #[test]
        fn a_cut_answer_is_refused(cut in 0_usize..24) {
            let signed = b"\0\0\0\0\x0e\0\0\0\x0f\0\0\0\x01x\0\0\0\x06\0\0\0\x02\0\xff";
            prop_assert!(Signature::parse(&signed[..cut]).is_err());
        }
    }

    use std::os::unix::net::UnixListener;

    /// What a connection makes of an agent that says this, in as many writes, and then is silent.
    fn asked(answer: &'static [&'static [u8]], room: usize) -> Result<usize, String> {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("S")).unwrap();
        let socket = dir.path().join("S");
        std::thread::scope(|scope| {
            let (done, until_done) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                stream.read_exact(&mut [0; 5]).unwrap();
                for part in answer {
                    stream.write_all(part).unwrap();
                }
                let _ = until_done.recv();
            });
            let mut connection =
                AgentConnection::patient(&socket, Duration::from_millis(50)).unwrap();
            let message = request_identities().unwrap();
            let asked = connection.exchange(AgentRequest::SIGN, &message, &mut vec![0; room]);
            drop(done);
            asked.map_err(|error| error.to_string())
        })
    }

    #[test]
    fn an_answer_may_come_in_pieces() {
        assert_eq!(asked(&[b"\0\0", b"\0\x03\x0e", b"a", b"b"], 64), Ok(7));
    }

    #[test]
    fn a_refusal_carries_its_code() {
        let error = asked(&[b"\0\0\0\x01\x05"], 64).unwrap_err();
        assert!(
            error.starts_with("SSH_AGENTC_SIGN_REQUEST failed: SSH_AGENT_FAILURE (5); does"),
            "{error}"
        );
    }
}
