//! A card served at a Unix socket. One request and one response at a time, each a frame: the length
//! of what follows (four octets, little-endian), a kind or status octet, and its content. Responses
//! carry what the card's own work took, in nanoseconds (eight octets, little-endian).

use std::io::{self, Read, Write};
use std::time::Duration;

/// Longer than any APDU with its frame.
const LONGEST: usize = 70_000;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Switch the card off and on; yields its answer to reset.
    PowerOn,
    /// A command APDU; yields the response APDU.
    Transmit(Vec<u8>),
    /// Whether a card is there; yields its answer to reset.
    Status,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// Answer to reset, or response APDU with status word.
    Done {
        /// The card's own time.
        work: Duration,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// No card is in the reader.
    Removed,
    /// The card was reset since this client's last request.
    Reset,
    /// The card does not answer.
    Mute,
}

const POWER_ON: u8 = 1;
const TRANSMIT: u8 = 2;
const STATUS: u8 = 3;

impl Request {
    /// Sends it, in one write.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::PowerOn => frame(to, &[POWER_ON], &[]),
            Self::Transmit(command) => frame(to, &[TRANSMIT], command),
            Self::Status => frame(to, &[STATUS], &[]),
        }
    }

    /// The next request; `None` when the client has gone.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let Some(content) = content(from)? else {
            return Ok(None);
        };
        Ok(Some(match content.split_first() {
            Some((&POWER_ON, [])) => Self::PowerOn,
            Some((&TRANSMIT, command)) => Self::Transmit(command.to_vec()),
            Some((&STATUS, [])) => Self::Status,
            _ => return Err(malformed()),
        }))
    }
}

impl Response {
    /// Sends it, in one write.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let (status, work, bytes): (u8, Duration, &[u8]) = match self {
            Self::Done { work, bytes } => (0, *work, bytes),
            Self::Removed => (1, Duration::ZERO, &[]),
            Self::Reset => (2, Duration::ZERO, &[]),
            Self::Mute => (3, Duration::ZERO, &[]),
        };
        let nanoseconds = u64::try_from(work.as_nanos()).unwrap_or(u64::MAX);
        let mut head = vec![status];
        head.extend(nanoseconds.to_le_bytes());
        frame(to, &head, bytes)
    }

    /// The next response.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let content = content(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let (&status, rest) = content.split_first().ok_or_else(malformed)?;
        let (nanoseconds, bytes) = rest.split_first_chunk().ok_or_else(malformed)?;
        match status {
            0 => Ok(Self::Done {
                work: Duration::from_nanos(u64::from_le_bytes(*nanoseconds)),
                bytes: bytes.to_vec(),
            }),
            1 => Ok(Self::Removed),
            2 => Ok(Self::Reset),
            3 => Ok(Self::Mute),
            _ => Err(malformed()),
        }
    }
}

fn frame(to: &mut impl Write, head: &[u8], body: &[u8]) -> io::Result<()> {
    let length = head.len() + body.len();
    if length > LONGEST {
        return Err(malformed());
    }
    let mut frame = Vec::with_capacity(4 + length);
    frame.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    frame.extend(head);
    frame.extend(body);
    to.write_all(&frame)
}

fn content(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(malformed());
    }
    let mut content = vec![0; length];
    from.read_exact(&mut content)?;
    Ok(Some(content))
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a malformed frame")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn requests_survive(command in proptest::collection::vec(any::<u8>(), 0..600)) {
            for request in [Request::PowerOn, Request::Status, Request::Transmit(command)] {
                let mut sent = Vec::new();
                request.write(&mut sent).unwrap();
                let mut sent = sent.as_slice();
                prop_assert_eq!(Request::read(&mut sent).unwrap(), Some(request));
                prop_assert_eq!(Request::read(&mut sent).unwrap(), None);
            }
        }

        #[test]
        fn responses_survive(bytes in proptest::collection::vec(any::<u8>(), 0..600), work in any::<u32>()) {
            let work = Duration::from_nanos(work.into());
            for response in [Response::Done { work, bytes }, Response::Removed, Response::Reset, Response::Mute] {
                let mut sent = Vec::new();
                response.write(&mut sent).unwrap();
                prop_assert_eq!(Response::read(&mut sent.as_slice()).unwrap(), response);
            }
        }

        #[test]
        fn garbage_is_refused_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Request::read(&mut bytes.as_slice());
            let _ = Response::read(&mut bytes.as_slice());
        }
    }

    #[test]
    fn a_frame_that_claims_to_be_huge_is_refused() {
        let error = Request::read(&mut [0xFF; 8].as_slice()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
