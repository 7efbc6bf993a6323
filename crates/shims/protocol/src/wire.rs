//! A card served at a Unix socket. One request and one response at a time, each a frame: the length
//! of what follows (four octets, little-endian), and the message in postcard's form. Responses carry
//! what the card's own work took.

use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Longer than any APDU with its frame.
const LONGEST: usize = 70_000;

/// Request to a card's server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CardRequest {
    /// Switch the card off and on; yields its answer to reset.
    PowerOn,
    /// A command APDU; yields the response APDU.
    Transmit(Vec<u8>),
    /// Reads the answer to reset, if a card is there.
    Status,
}

/// Answer of a card's server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CardResponse {
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

/// Sends a message, in one write.
pub fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = postcard::to_extend(message, vec![0; 4]).map_err(malformed)?;
    let length = frame.len() - 4;
    if length > LONGEST {
        return Err(malformed("it is too long"));
    }
    frame[..4].copy_from_slice(&(length as u32).to_le_bytes());
    to.write_all(&frame)
}

/// The next message; `None` when the other side has gone.
pub fn read<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<M>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(malformed("it is too long"));
    }
    let mut content = vec![0; length];
    from.read_exact(&mut content)?;
    match postcard::take_from_bytes(&content) {
        Ok((message, [])) => Ok(Some(message)),
        Ok(_) => Err(malformed("it has more in it")),
        Err(error) => Err(malformed(error)),
    }
}

fn malformed(reason: impl std::fmt::Display) -> io::Error {
    let reason = format!("a malformed frame: {reason}");
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn requests_survive(command in proptest::collection::vec(any::<u8>(), 0..600)) {
            for request in [CardRequest::PowerOn, CardRequest::Status, CardRequest::Transmit(command)] {
                let mut sent = Vec::new();
                write(&mut sent, &request).unwrap();
                let mut sent = sent.as_slice();
                prop_assert_eq!(read(&mut sent).unwrap(), Some(request));
                prop_assert_eq!(read::<CardRequest>(&mut sent).unwrap(), None);
            }
        }

        #[test]
        fn responses_survive(bytes in proptest::collection::vec(any::<u8>(), 0..600), work in any::<u32>()) {
            let work = Duration::from_nanos(work.into());
            for response in [CardResponse::Done { work, bytes }, CardResponse::Removed, CardResponse::Reset, CardResponse::Mute] {
                let mut sent = Vec::new();
                write(&mut sent, &response).unwrap();
                prop_assert_eq!(read(&mut sent.as_slice()).unwrap(), Some(response));
            }
        }

        #[test]
        fn garbage_is_refused_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = read::<CardRequest>(&mut bytes.as_slice());
            let _ = read::<CardResponse>(&mut bytes.as_slice());
        }
    }

    #[test]
    fn a_frame_that_claims_to_be_huge_is_refused() {
        let error = read::<CardRequest>(&mut [0xFF; 8].as_slice()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
