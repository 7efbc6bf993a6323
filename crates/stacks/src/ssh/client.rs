//! A client of an agent's socket: blocking, one connection a worker.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use keymark_bench::error::Error;

use super::protocol::{self, FAILURE, HEADER, LONGEST_ANSWER, Request};
use crate::programs::{PATIENCE, broken, connect};

const AGENT: &str = "the SSH agent";

/// A connection.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
}

impl Connection {
    /// Connects.
    pub fn open(socket: &Path) -> Result<Self, Error> {
        Self::patient(socket, PATIENCE)
    }

    fn patient(socket: &Path, patience: Duration) -> Result<Self, Error> {
        let stream = connect(AGENT, socket, patience)?;
        Ok(Self { stream })
    }

    /// Makes a request; the answer goes to `answer`, header and all. Returns its length.
    pub fn exchange(
        &mut self,
        request: Request,
        message: &[u8],
        answer: &mut [u8],
    ) -> Result<usize, Error> {
        let length = self
            .stream
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

    /// One message, whole.
    fn read(&mut self, answer: &mut [u8]) -> io::Result<usize> {
        let (mut filled, mut length) = (0, HEADER);
        while filled < length {
            match self.stream.read(&mut answer[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if let Some(octets) = answer[..filled].first_chunk() {
                length = (u32::from_be_bytes(*octets) as usize).saturating_add(4);
            }
            if !(HEADER..=answer.len()).contains(&length) || filled > length {
                let reason = format!("an answer of {length} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
        }
        Ok(length)
    }

    /// The public blobs of the keys that the agent has.
    pub fn identities(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let mut answer = vec![0; LONGEST_ANSWER];
        let message = protocol::request_identities()?;
        let length = self.exchange(Request::IDENTITIES, &message, &mut answer)?;
        protocol::identities(&answer[..length])
            .map_err(|error| Error::call(Request::IDENTITIES.name, error, ""))
    }

    /// Gives the agent a key, as [`protocol::add_identity`] has encoded it.
    pub fn add_identity(&mut self, message: &[u8]) -> Result<(), Error> {
        self.exchange(Request::ADD, message, &mut [0; HEADER])
            .map(|_| ())
    }

    /// Has the agent take a module's keys, as [`protocol::add_token`] has asked it.
    pub fn add_token(&mut self, message: &[u8]) -> Result<(), Error> {
        self.exchange(Request::ADD_TOKEN, message, &mut [0; HEADER])
            .map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;
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
            let mut connection = Connection::patient(&socket, Duration::from_millis(50)).unwrap();
            let message = protocol::request_identities().unwrap();
            let asked = connection.exchange(Request::SIGN, &message, &mut vec![0; room]);
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

    #[test]
    fn an_answer_that_cannot_be_is_an_error() {
        const CASES: [(&[&[u8]], usize, &str); 7] = [
            (&[b"\0\0\0\x01\x06"], 64, "message 6, not 14"),
            (&[b"\0\0\0\0\x0e"], 64, "an answer of 4 bytes"),
            (&[b"\0\0\0\x03\x0eab"], 6, "an answer of 7 bytes"),
            (&[b"\xff\xff\xff\xff\x0e"], 64, "an answer of"),
            (&[b"\0\0\0\x01\x0eab"], 64, "an answer of 5 bytes"),
            (&[b"\0\0\0\x03"], 64, "does not answer"),
            (&[], 64, "does not answer"),
        ];
        for (answer, room, expected) in CASES {
            let error = asked(answer, room).unwrap_err();
            assert_says(&error, [expected]);
        }
    }

    #[test]
    fn where_nobody_listens_is_an_error() {
        let error = Connection::open(Path::new("/nonexistent")).unwrap_err();
        assert!(error.to_string().starts_with("connect /nonexistent"));
    }
}
