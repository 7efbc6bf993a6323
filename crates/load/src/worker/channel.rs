//! A connection that transactions speak over: TLS, or plain TCP.

use std::io::{self, Read, Write};

use mio::net::TcpStream;

use crate::failure::{Failure, Phase};
use crate::tls::{Session, Stop};

#[derive(Debug)]
pub(super) enum Channel {
    Tls(Box<Session>),
    Plain {
        socket: TcpStream,
        /// Bytes of the request that have gone out.
        sent: usize,
    },
}

impl Channel {
    /// Sends all of `bytes`; after a block the same bytes are handed in again, from the start.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        match self {
            Self::Tls(session) => session.send(bytes),
            Self::Plain { socket, sent } => {
                while *sent < bytes.len() {
                    let written = socket.write(&bytes[*sent..]);
                    *sent += written.map_err(|error| stop(&error, Phase::FirstByte))?;
                }
                Ok(())
            }
        }
    }

    /// Receives some bytes of the answer; none when there are no more.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, Stop> {
        match self {
            Self::Tls(session) => session.receive(buffer),
            Self::Plain { socket, .. } => {
                let read = socket.read(buffer);
                read.map_err(|error| stop(&error, Phase::Whole))
            }
        }
    }
}

fn stop(error: &io::Error, phase: Phase) -> Stop {
    if error.kind() == io::ErrorKind::WouldBlock {
        return Stop::Blocked;
    }
    Failure::of_socket(error, phase).into()
}
