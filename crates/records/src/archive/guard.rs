//! Limits for the messages of any server that answers: no message is longer than an archive needs, and only a known server gets the
//! password in clear text.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use postgres_openssl::{TlsConnector, TlsStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{self, ChannelBinding, TlsConnect};

/// Octets of the longest message. A row with a load of several hours has fewer.
const LONGEST: u64 = 256 << 20;
/// Kind of the message that asks for a password (postgresql.org/docs/15/protocol-message-formats.html).
const AUTHENTICATION: u8 = b'R';
const CLEAR_TEXT: [u8; 4] = [0, 0, 0, 3];

/// A connection whose messages are checked.
#[derive(Debug)]
pub(super) struct Guarded<S> {
    stream: S,
    seen: Seen,
}

/// Content that the server sends next.
#[derive(Debug)]
pub(super) enum Seen {
    /// The octet that accepts or refuses TLS.
    Answer(Messages),
    Messages(Messages),
    /// TLS. A `Guarded` on top of it checks the content.
    Encrypted,
}

/// Position in a message.
#[derive(Debug)]
pub(super) struct Messages {
    is_known: bool,
    /// Kind, length and the first four octets, as far as received.
    begin: Vec<u8>,
    /// Octets of the message after its length.
    left: u64,
}

impl Messages {
    /// Expects messages of a server whose identity is known or not.
    pub(super) const fn of(is_known: bool) -> Self {
        Self {
            is_known,
            begin: Vec::new(),
            left: 0,
        }
    }

    fn go_on(&mut self, mut octets: &[u8]) -> io::Result<()> {
        while let [first, rest @ ..] = octets {
            if self.begin.len() >= 5 + CLEAR_TEXT.len() {
                let skipped = octets
                    .len()
                    .min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= skipped as u64;
                octets = &octets[skipped..];
            } else {
                self.begin.push(*first);
                octets = rest;
                self.begun()?;
            }
            if self.begin.len() >= 5 && self.left == 0 {
                self.begin.clear();
            }
        }
        Ok(())
    }

    /// Checks a message after each octet of its beginning.
    fn begun(&mut self) -> io::Result<()> {
        match *self.begin {
            [_, a, b, c, d] => {
                // The length counts itself.
                self.left = u64::from(u32::from_be_bytes([a, b, c, d])).saturating_sub(4);
            }
            [_, _, _, _, _, ..] => self.left -= 1,
            _ => return Ok(()),
        }
        if self.left > LONGEST {
            return Err(refused("it announces a message that is too long"));
        }
        if self.begin.first() == Some(&AUTHENTICATION)
            && self.begin.get(5..) == Some(&CLEAR_TEXT)
            && !self.is_known
        {
            return Err(refused(
                "it asks for the password in clear text (docs/archive.md)",
            ));
        }
        Ok(())
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

impl<S> Guarded<S> {
    pub(super) const fn new(stream: S, seen: Seen) -> Self {
        Self { stream, seen }
    }

    fn look(&mut self, octets: &[u8]) -> io::Result<()> {
        match &mut self.seen {
            Seen::Answer(messages) => match octets {
                [] => Ok(()),
                [b'N', rest @ ..] => {
                    let messages = std::mem::replace(messages, Messages::of(false));
                    self.seen = Seen::Messages(messages);
                    self.look(rest)
                }
                _ => {
                    self.seen = Seen::Encrypted;
                    Ok(())
                }
            },
            Seen::Messages(messages) => messages.go_on(octets),
            Seen::Encrypted => Ok(()),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let known = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, into))?;
        Poll::Ready(self.look(&into.filled()[known..]))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, octets)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: tls::TlsStream + Unpin> tls::TlsStream for Guarded<S> {
    fn channel_binding(&self) -> ChannelBinding {
        self.stream.channel_binding()
    }
}

/// Makes TLS connections whose content is checked.
pub(super) struct GuardedTls {
    pub(super) tls: TlsConnector,
    /// True if the server's certificate is checked.
    pub(super) is_known: bool,
}

/// A handshake that failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct TlsFailure(Box<dyn Error + Send + Sync>);

type Connecting<S> = Pin<Box<dyn Future<Output = Result<S, TlsFailure>> + Send>>;

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for GuardedTls {
    type Stream = Guarded<TlsStream<S>>;
    type Error = TlsFailure;
    type Future = Connecting<Self::Stream>;

    fn connect(self, stream: S) -> Self::Future {
        let connecting = self.tls.connect(stream);
        let seen = Seen::Messages(Messages::of(self.is_known));
        Box::pin(async move {
            let stream = connecting.await.map_err(TlsFailure)?;
            Ok(Guarded::new(stream, seen))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind], &length[..], body].concat()
    }

    /// Sends pieces of that length.
    fn is_refused(is_known: bool, octets: &[u8], pieces: usize) -> bool {
        let mut messages = Messages::of(is_known);
        let mut pieces = octets.chunks(pieces);
        pieces.any(|piece| messages.go_on(piece).is_err())
    }

    proptest! {
        #[test]
        fn what_is_asked_is_found_among_other_messages_in_any_pieces(
            before in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..20)), 0..5),
            pieces in 1_usize..30,
        ) {
            let harmless = before.iter().filter(|(kind, _)| *kind != AUTHENTICATION);
            let before: Vec<u8> = harmless.flat_map(|(kind, body)| message(*kind, body)).collect();
            let asked = [&before[..], &message(AUTHENTICATION, &CLEAR_TEXT)].concat();
            let scram = [&before[..], &message(AUTHENTICATION, b"\0\0\0\x0aSCRAM-SHA-256\0\0")].concat();
            let long = [&before[..], b"D\x7f\xff\xff\xff"].concat();
            prop_assert!(is_refused(false, &asked, pieces));
            prop_assert!(!is_refused(true, &asked, pieces));
            prop_assert!(!is_refused(false, &scram, pieces));
            prop_assert!(is_refused(true, &long, pieces));
        }
    }
}
